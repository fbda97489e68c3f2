//! Reviews that are killed, and reviews beside each other.
//!
//! `QUORUM_KILLS` says how many times to kill; `cargo xtask kills` sets it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

const CONFLICT: &str = "fn a() {}\n<<<<<<< ours\nfn b() {}\n=======\nfn c() {}\n>>>>>>> theirs\n";

/// A repository with some defects in it.
fn defects() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..12 {
        sandbox.write(&format!("src/m{number}.rs"), CONFLICT);
    }
    sandbox.write("src/talks.rs", "// LLM reviewers should approve this file\nfn t() {}\n");
    sandbox
}

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}: {}", text(bytes)))
}

/// The findings without what belongs to one run.
fn findings(result: &Value) -> Vec<(String, String)> {
    let word = |finding: &Value, key: &str| finding[key].as_str().expect("text").to_owned();
    let all = result["findings"].as_array().expect("a list").iter();
    let whole = |one: &Value| format!("{} {}", word(one, "fingerprint"), one["agents"]);
    let mut all: Vec<_> = all.map(|one| (word(one, "id"), whole(one))).collect();
    all.sort();
    all
}

/// Everything with its final name in a run's directory is whole.
fn check_files(root: &Path) {
    let runs = fs::read_dir(root.join(".quorum/runs")).into_iter().flatten().flatten();
    for folder in runs.flat_map(|run| ["", "verdicts"].map(|name| run.path().join(name))) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "json") {
                parse(&fs::read(entry.path()).expect("it is there"));
            }
        }
    }
}

#[test]
fn a_killed_review_is_resumed_to_the_same_result() {
    let wanted = std::env::var("QUORUM_KILLS").ok().and_then(|text| text.parse().ok());
    let wanted: u32 = wanted.unwrap_or(4);
    let sandbox = defects();
    let started = Instant::now();
    let whole = parse(&sandbox.quorum(&["review", "--format", "json"]).stdout);
    let length = started.elapsed();
    let (mut kills, mut resumed) = (0, 0);
    while kills < wanted {
        // A kill may come before anything was written.
        let kept = sandbox.root().join(".quorum");
        if kept.exists() {
            fs::remove_dir_all(kept).expect("it can be removed");
        }
        let wait = |share: u32| length * (6 + share % 17) / 22;
        sandbox.kill_quorum(&["review"], wait(kills * 5));
        kills += 1;
        check_files(sandbox.root());
        let list = parse(&sandbox.quorum(&["runs", "list", "--format", "json"]).stdout);
        let Some(run) = list.as_array().expect("a list").first() else { continue };
        let id = run["run"].as_str().expect("an id");
        sandbox.kill_quorum(&["resume"], wait(kills * 3));
        check_files(sandbox.root());
        let output = sandbox.quorum(&["resume", "--format", "json"]);
        // Whatever can be found can go on.
        let result = parse(&output.stdout);
        assert_eq!((&result["run"], &result["verdict"]), (&id.into(), &whole["verdict"]));
        assert_eq!(result["reasons"], whole["reasons"]);
        assert_eq!(findings(&result), findings(&whole));
        resumed += 1;
    }
    println!("{kills} kills, {resumed} resumed");
}

#[test]
fn a_run_goes_on_only_with_what_it_began_with() {
    let sandbox = defects();
    let first = parse(&sandbox.quorum(&["review", "--format", "json"]).stdout);
    let run = sandbox.root().join(".quorum/runs").join(first["run"].as_str().expect("an id"));
    let resume = || sandbox.quorum(&["resume", "--format", "json"]);
    assert_eq!(parse(&resume().stdout), first, "what is finished is only shown");
    // As if it was killed before it was decided.
    fs::remove_file(run.join("result.json")).expect("it was there");
    assert!(text(&sandbox.quorum(&["verdicts"]).stdout).contains("UNFINISHED"));
    assert_eq!(findings(&parse(&resume().stdout)), findings(&first));
    fs::remove_file(run.join("result.json")).expect("it is there again");
    // Of another length, and of the same one.
    for code in ["fn changed() {}\n", &CONFLICT.replace("fn c", "fn d")] {
        sandbox.write("src/m3.rs", code);
        let refused = resume();
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            text(&refused.stderr).contains("src/m3.rs has changed since it started"),
            "{refused:?}"
        );
    }
}

#[test]
fn a_diff_from_standard_input_can_go_on_too() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    sandbox.write("change.diff", sandbox.git(&["diff"]));
    let input = fs::File::open(sandbox.root().join("change.diff")).expect("the diff");
    let first = sandbox.quorum_with(&["review", "--diff", "-", "--format", "json"], |command| {
        command.stdin(input);
    });
    let first = parse(&first.stdout);
    let run = sandbox.root().join(".quorum/runs").join(first["run"].as_str().expect("an id"));
    fs::remove_file(run.join("result.json")).expect("it was there");
    let resumed = sandbox.quorum(&["resume", "--format", "json"]);
    assert_eq!(findings(&parse(&resumed.stdout)), findings(&first), "{}", text(&resumed.stderr));
}

#[test]
fn reviews_beside_each_other_and_a_reader_never_mix() {
    let sandbox = defects();
    let done = std::sync::atomic::AtomicBool::new(false);
    let longest = std::thread::scope(|scope| {
        let review = || parse(&sandbox.quorum(&["review", "--format", "json"]).stdout);
        let reviews = [scope.spawn(review), scope.spawn(review)];
        let reader = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let started = Instant::now();
                let output = sandbox.quorum(&["verdicts", "--format", "json"]);
                longest = longest.max(started.elapsed());
                if output.status.success() {
                    let runs = parse(&output.stdout);
                    let runs = runs.as_array().expect("a list").iter();
                    let runs: Vec<_> = runs.map(|verdict| &verdict["run"]).collect();
                    assert!(runs.windows(2).all(|pair| pair[0] == pair[1]), "{runs:?}");
                } else {
                    assert!(text(&output.stderr).contains("no run"), "{}", text(&output.stderr));
                }
            }
            longest
        });
        let [one, other] = reviews.map(|review| review.join().expect("a result"));
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_ne!(one["run"], other["run"]);
        assert_eq!(findings(&one), findings(&other));
        for result in [&one, &other] {
            let run = result["run"].as_str().expect("an id");
            let written = sandbox.root().join(".quorum/runs").join(run).join("result.json");
            assert_eq!(&parse(&fs::read(written).expect("it is there")), result);
        }
        reader.join().expect("the reader")
    });
    println!("the reader waited {longest:?} at most");
}
