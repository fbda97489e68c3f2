//! What a review by models costs beside the models: `cargo xtask dispatch`.

use std::fs;
use std::time::{Duration, Instant};

use quorum_testkit::{Reply, Server};

use super::{nothing, spawn, write_files};
use crate::sandbox::Sandbox;

/// What a process took.
struct Took {
    wall: Duration,
    /// Of all cores, its children aside.
    processor: Duration,
    /// Resident memory at its highest.
    memory_mb: u64,
    calls: usize,
}

/// Runs a review against a server that takes a second for each call.
fn measure(sandbox: &Sandbox, arguments: &[&str]) -> Took {
    let server = Server::with_latency(Duration::from_secs(1), |_| Reply::Say(nothing()));
    let server = server.expect("it starts");
    let started = Instant::now();
    let mut child = spawn(sandbox, &server, arguments);
    let (mut ticks, mut kilobytes) = (0, 0);
    while child.try_wait().expect("it can be asked").is_none() {
        let read = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", child.id()));
        let stat = read("stat").unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
        let spent = fields.get(12..14).unwrap_or_default().iter();
        ticks = ticks.max(spent.filter_map(|text| text.parse::<u64>().ok()).sum());
        let status = read("status").unwrap_or_default();
        let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let high = high.and_then(|text| text.split_whitespace().next()?.parse().ok());
        kilobytes = kilobytes.max(high.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(10));
    }
    let wall = started.elapsed();
    let calls = server.recorded().len();
    // Linux counts a process's time in hundredths of a second.
    Took { wall, processor: Duration::from_millis(ticks * 10), memory_mb: kilobytes / 1024, calls }
}

#[test]
#[ignore = "measures an optimised build on an idle machine: `cargo xtask dispatch`"]
fn a_run_is_spent_waiting_for_models() {
    let small = Sandbox::new();
    write_files(&small, 2);
    let six = "security,code-quality,python,documentation,user-persona,vulnerability";
    let took = measure(&small, &["--agents", six]);
    println!(
        "six agents, one shard each, 1 s a call: {:.2} s, {} calls",
        took.wall.as_secs_f64(),
        took.calls
    );
    assert!(took.wall < Duration::from_millis(1_300), "{:?}", took.wall);

    let large = Sandbox::new();
    write_files(&large, 400);
    let took = measure(&large, &["--complete"]);
    let share = took.processor.as_secs_f64() / took.wall.as_secs_f64() * 100.0;
    println!(
        "400 files, 1 s a call: {:.1} s, {} calls, own work {:.2} s ({share:.1} %), {} MB",
        took.wall.as_secs_f64(),
        took.calls,
        took.processor.as_secs_f64(),
        took.memory_mb
    );
    assert!(took.memory_mb < 100, "{} MB", took.memory_mb);
    // Two percent of a run are wanted. A second is little for a model: what counts is what each of
    // its calls costs here, and most of that is the embedded reviewers' work before the first one.
    let calls = u32::try_from(took.calls).expect("few calls");
    let each = (took.processor / calls).as_secs_f64();
    println!("{:.0} ms for each call: 2 % where it takes {:.1} s", each * 1e3, each * 8.0 / 0.02);
    assert!(each < 0.04, "{each} s");
}
