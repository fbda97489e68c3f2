//! Runs that are killed at random points, and runs on a disk that is full: after they are resumed,
//! nothing is missing, nothing is doubled, and nothing that was paid for is paid for again.
//!
//! `QUORUM_KILLS` says how many times to kill; `cargo xtask kills` sets it.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, OutcomeStatus, Usage};
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_store::{CallOutcome, Clock, Event, Run, RunSummary, SettledCall, StoreError, ingest};
use serde_json::{Value, json};

const AGENTS: [&str; 4] = ["security-reviewer", "go-reviewer", "code-quality-reviewer", "other"];
const SHARDS: usize = 5;
const FINDINGS: u8 = 3;

/// Where the child works; set for the child alone.
const ROOT: &str = "QUORUM_KILLS_ROOT";
/// Where it notes the calls that it makes, on a disk that has room.
const CALLS: &str = "QUORUM_KILLS_CALLS";

/// The scripted review. It is a test so that the test program can start itself as a child.
#[test]
#[ignore = "no test of its own: the tests below start it as the child that they kill"]
fn scripted_run() {
    let (Some(root), Some(calls)) = (std::env::var_os(ROOT), std::env::var_os(CALLS)) else {
        return;
    };
    if let Err(error) = review(Path::new(&root), Path::new(&calls)) {
        eprintln!("{error}");
        std::process::abort();
    }
}

fn review(root: &Path, calls: &Path) -> Result<(), StoreError> {
    let clock = || Clock::new(jiff::Timestamp::now);
    let run = match Run::list(root)?.last() {
        Some(run) => Run::resume(root, run.id(), clock(), None)?,
        None => Run::create(root, &plan(), clock())?,
    };
    let outcomes = std::thread::scope(|scope| {
        let work = |agent: &'static str| {
            let run = &run;
            scope.spawn(move || match run.before().finished(agent) {
                Some(outcome) => Ok(outcome.clone()),
                None => run.write_agent(act(run, calls, agent)?),
            })
        };
        let threads: Vec<_> = AGENTS.map(work).into();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no agent panics"))
            .collect::<Result<Vec<AgentOutcome>, StoreError>>()
    })?;
    run.finish(&result(run.id(), &outcomes), &outcomes)
}

/// One agent: every shard is a call, whose findings are reported one by one before it is settled.
fn act(run: &Run, calls: &Path, agent: &str) -> Result<AgentOutcome, StoreError> {
    let mut findings = Vec::new();
    for shard in 0..SHARDS {
        let key = format!("{agent}/{shard}");
        let journal = run.journal();
        journal.append(&Event::AgentStarted { agent: agent.to_owned(), shard })?;
        if let Some(call) = run.before().settled(agent, &key) {
            let CallOutcome::Answered(answer) = &call.outcome else { continue };
            let known: Vec<AgentFinding> = serde_json::from_value(answer.clone()).expect("ours");
            findings.extend(known);
            continue;
        }
        log(calls, &key);
        let found: Vec<AgentFinding> = (0..FINDINGS).map(|n| finding(agent, shard, n)).collect();
        for finding in &found {
            let finding = Box::new(finding.clone());
            journal.append(&Event::Finding { agent: agent.to_owned(), finding })?;
        }
        let answer = serde_json::to_value(&found).expect("findings are JSON");
        journal.append(&Event::CallSettled(Box::new(SettledCall {
            agent: agent.to_owned(),
            key,
            usage: Usage { tokens: 100, ..Usage::default() },
            outcome: CallOutcome::Answered(answer),
        })))?;
        findings.extend(found);
    }
    Ok(outcome(run.id(), agent, findings))
}

/// What the outside world saw; a kill does not take it back.
fn log(calls: &Path, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(calls);
    let mut file = file.expect("there is room for the log");
    file.write_all(format!("{line}\n").as_bytes()).expect("the log takes a line");
}

fn finding(agent: &str, shard: usize, number: u8) -> AgentFinding {
    serde_json::from_value(json!({
        "severity": "HIGH", "category": "errors", "file": format!("src/{shard}.go"),
        "line": number + 1, "evidence": "_ = f()", "issue": format!("{agent} {shard} {number}"),
        "recommendation": "A sentence that fills the page. ".repeat(20), "confidence": 0.7,
    }))
    .expect("a finding")
}

fn outcome(run: &str, agent: &str, findings: Vec<AgentFinding>) -> AgentOutcome {
    let value = json!({
        "run": run, "agent": agent, "engine": "replay", "model": null, "status": "completed",
        "cutoff_reason": null, "error": null, "mode": "full_analysis",
        "usage": Usage::default(), "covered": [], "findings": [],
    });
    let outcome: AgentOutcome = serde_json::from_value(value).expect("an outcome");
    assert_eq!(outcome.status, OutcomeStatus::Completed);
    AgentOutcome { findings, ..outcome }
}

fn plan() -> Plan {
    let agent = |name: &str| {
        json!({
            "name": name, "budget": 1, "base_budget": 1, "veto": true, "engine": "replay",
            "model": null, "reason": "", "files": [], "shard_limit": 1, "shards": [],
        })
    };
    serde_json::from_value(json!({
        "scope": { "kind": "all", "label": "all", "base": null, "head": null, "files": [] },
        "tokenizer": "o200k", "total_tokens": 0,
        "tier": {
            "name": "SIMPLE", "base_score": 7, "adjusted_score": 7.0, "dimensions": {},
            "multipliers": [],
        },
        "isolation": "branch", "protocol": "veto", "agents": AGENTS.map(agent),
        "unassigned": [], "warnings": [],
        "ceilings": { "calls": 1, "tokens": 1, "seconds": 1, "usd": null },
    }))
    .expect("a plan")
}

fn result(run: &str, outcomes: &[AgentOutcome]) -> ReviewResult {
    let count: usize = outcomes.iter().map(|outcome| outcome.findings.len()).sum();
    serde_json::from_value(json!({
        "run": run, "verdict": "APPROVED", "exit_code": 0, "reasons": [count.to_string()],
        "execution": { "agents": [] }, "findings": [],
        "coverage": { "files": [], "uncovered": [], "gaps": [] },
    }))
    .expect("a result")
}

/// A scripted review and what the outside world saw of it.
struct Scripted {
    root: PathBuf,
    calls: PathBuf,
    /// The calls that the journal had as settled, and how often each was made.
    paid: BTreeMap<String, usize>,
    _folder: tempfile::TempDir,
}

impl Scripted {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("root");
        fs::create_dir(&root).expect("the root");
        let calls = folder.path().join("calls");
        Self { root, calls, paid: BTreeMap::new(), _folder: folder }
    }

    fn on(root: PathBuf) -> Self {
        fs::create_dir_all(&root).expect("the root");
        Self { root, ..Self::new() }
    }

    /// A new process for it; `limit` is the size, in blocks, beyond which no file grows.
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    fn child(&self, limit: Option<u32>) -> Command {
        let program = std::env::current_exe().expect("this program");
        let mut command = match limit {
            Some(blocks) => {
                let mut shell = Command::new("sh");
                let script = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$@\"");
                shell.args(["-c", &script, "sh"]).arg(program);
                shell
            }
            None => Command::new(program),
        };
        command.args(["--exact", "scripted_run", "--ignored", "--test-threads=1"]);
        command.env(ROOT, &self.root).env(CALLS, &self.calls);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn calls(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in fs::read_to_string(&self.calls).unwrap_or_default().lines() {
            *counts.entry(line.to_owned()).or_default() += 1;
        }
        counts
    }

    /// What is true after a process ended, however it did.
    fn check(&mut self) {
        check_files(&self.root);
        let calls = self.calls();
        for (key, count) in &self.paid {
            assert_eq!(calls.get(key), Some(count), "{key} was settled, and made again");
        }
        let settled = settled(&self.root).into_iter();
        self.paid = settled.map(|key| (key.clone(), calls[&key])).collect();
    }
}

/// What is true at any moment, whoever was killed: what has its final name is whole.
fn check_files(root: &Path) {
    for run in runs(root) {
        let directory = run.directory();
        for folder in ["", "agents", "verdicts"] {
            let entries = fs::read_dir(directory.join(folder)).into_iter().flatten().flatten();
            for path in entries.map(|entry| entry.path()).filter(|path| path.is_file()) {
                check_file(&path, run.id());
            }
        }
        assert!(run.state().expect("the journal").damage.is_empty());
    }
}

fn check_file(path: &Path, run: &str) {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    if name.starts_with(".partial-") {
        return;
    }
    let bytes = fs::read(path).expect("it is there");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => {
            serde_json::from_slice::<Value>(&bytes)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        Some("md") => {
            let page = ingest::read("x", Some(&bytes), Some(run));
            let found = page.report().map(|report| report.findings.len());
            assert_eq!(found, Some(SHARDS * usize::from(FINDINGS)), "{name}: {}", page.word());
        }
        _ => {}
    }
}

fn runs(root: &Path) -> Vec<RunSummary> {
    Run::list(root).expect("the runs")
}

/// What is true at the end: everything once.
fn check_end(root: &Path) {
    let runs = runs(root);
    assert_eq!(runs.len(), 1, "one run, however often it was resumed");
    let result = runs[0].result().expect("a result").expect("it is finished");
    let all = AGENTS.len() * SHARDS * usize::from(FINDINGS);
    assert_eq!(result.reasons, [all.to_string()]);
    for outcome in runs[0].outcomes().expect("outcomes") {
        let mut issues: Vec<_> = outcome.findings.iter().map(|finding| &finding.issue).collect();
        issues.sort();
        issues.dedup();
        assert_eq!(issues.len(), outcome.findings.len(), "none is doubled");
        assert_eq!(issues.len(), SHARDS * usize::from(FINDINGS), "none is missing");
    }
    assert_eq!(runs[0].verdicts().expect("verdicts").len(), AGENTS.len());
    check_files(root);
}

/// The calls that the journal has as settled.
fn settled(root: &Path) -> BTreeSet<String> {
    let states = runs(root).into_iter().filter_map(|run| run.state().ok());
    states
        .flat_map(|state| state.settled_calls().map(|call| call.key.clone()).collect::<Vec<_>>())
        .collect()
}

/// A random number below `end`. It need not be a good one; it only must not be the same each time.
fn below(end: u64) -> u64 {
    u64::from(uuid::Uuid::now_v7().as_fields().2) * 7919 % end.max(1)
        + u64::from(std::process::id()) % 2
}

/// How many records the journal has.
fn records(root: &Path) -> usize {
    let journals = runs(root).into_iter().map(|run| run.directory().join("journal.jsonl"));
    let texts = journals.filter_map(|journal| fs::read_to_string(journal).ok());
    texts.map(|text| text.lines().count()).sum()
}

#[test]
fn after_kills_nothing_is_missing_doubled_or_paid_for_twice() {
    let wanted = std::env::var("QUORUM_KILLS").ok().and_then(|text| text.parse().ok());
    let wanted: usize = wanted.unwrap_or(12);
    // Kills that hit a process after it had begun to write; those before that prove nothing.
    let (mut hits, mut misses, mut finished) = (0, 0, 0);
    let started = std::time::Instant::now();
    let scripted = Scripted::new();
    assert!(scripted.child(None).status().expect("it ends").success());
    let mut length = started.elapsed();
    while hits < wanted {
        let mut scripted = Scripted::new();
        for patience in 0.. {
            let started = std::time::Instant::now();
            let before = records(&scripted.root);
            let mut process = scripted.child(None).spawn().expect("it starts");
            let most = u64::try_from(length.as_micros()).unwrap_or(u64::MAX);
            let wait = Duration::from_micros(below(most));
            let mut ended = None;
            while patience < 12 && ended.is_none() && started.elapsed() < wait {
                std::thread::sleep(Duration::from_micros(200));
                ended = process.try_wait().expect("it can be asked");
            }
            if patience < 12 && ended.is_none() {
                process.kill().expect("it is ours");
            }
            let status = process.wait().expect("it ends");
            scripted.check();
            if status.success() {
                // The machine is not as busy all the time.
                length = (length * 3 + started.elapsed()) / 4;
                break;
            }
            let hit = records(&scripted.root) > before;
            *(if hit { &mut hits } else { &mut misses }) += 1;
        }
        check_end(&scripted.root);
        finished += 1;
    }
    println!("{hits} kills of a run under way, {misses} before it began, {finished} runs finished");
}

#[test]
fn files_that_cannot_grow_cost_nothing_but_time() {
    let mut stopped = 0;
    for blocks in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
        let mut scripted = Scripted::new();
        let status = scripted.child(Some(blocks)).status().expect("it ends");
        stopped += usize::from(!status.success());
        scripted.check();
        let status = scripted.child(None).status().expect("it ends");
        assert!(status.success(), "after {blocks} blocks there is room again");
        scripted.check();
        check_end(&scripted.root);
    }
    assert!(stopped > 3, "the limits stopped {stopped} runs");
}

/// `QUORUM_SMALL_DISK` names an empty folder on a disk of about a megabyte, such as a tmpfs.
#[test]
fn a_full_disk_costs_nothing_but_time() {
    let Some(disk) = std::env::var_os("QUORUM_SMALL_DISK").map(PathBuf::from) else { return };
    let filler = disk.join("filler");
    let mut stopped = 0;
    for spare in 0..48 {
        fs::write(&filler, [0; 4096].repeat(8)).expect("the disk is empty");
        let mut file = OpenOptions::new().append(true).open(&filler).expect("the filler");
        while file.write_all(&[0; 4096]).is_ok() {}
        let size = file.metadata().expect("its size").len();
        file.set_len(size.saturating_sub(spare * 4096)).expect("it can shrink");
        // An open file keeps its room after it is removed.
        drop(file);
        let mut scripted = Scripted::on(disk.join("root"));
        let status = scripted.child(None).status().expect("it ends");
        stopped += usize::from(!status.success());
        scripted.check();
        fs::remove_file(&filler).expect("there is room again");
        let status = scripted.child(None).status().expect("it ends");
        assert!(status.success(), "with {spare} pages to spare");
        scripted.check();
        check_end(&scripted.root);
        fs::remove_dir_all(disk.join("root")).expect("the next one begins anew");
    }
    println!("{stopped} of 48 runs met a full disk");
    assert!(stopped > 5, "the disk stopped {stopped} runs");
}
