use quorum_model::verdict::AgentStatus;

use super::*;
use crate::testing::{clock, finding, outcome, plan, result};

const AGENT: &str = "go-reviewer";

fn reported(line: u64) -> Event {
    Event::Finding { agent: AGENT.to_owned(), finding: Box::new(finding("a.go", line)) }
}

#[test]
fn a_run_leaves_everything_that_readers_need() {
    let root = tempfile::tempdir().unwrap();
    let run = Run::create(root.path(), &plan(), clock()).unwrap();
    run.journal().append(&reported(3)).unwrap();
    let ended = outcome(run.id(), AGENT, vec![finding("a.go", 3)]);
    run.write_agent(ended.clone()).unwrap();
    run.finish(&result(run.id()), &[]).unwrap();
    let found = Run::find(root.path(), "latest").unwrap();
    assert_eq!(found.id(), run.id());
    assert_eq!(found.plan().unwrap(), plan());
    assert_eq!(found.outcomes().unwrap(), [ended]);
    assert_eq!(found.result().unwrap(), Some(result(run.id())));
    let verdicts = found.verdicts().unwrap();
    assert_eq!(verdicts[0].status, AgentStatus::NeedsAttention);
    assert_eq!(verdicts[0].summary, "1 finding, 1 high");
    assert!(root.path().join(&verdicts[0].detail_path).is_file(), "{}", verdicts[0].detail_path);
    assert!(found.page(AGENT).unwrap().unwrap().starts_with("### Findings Index\n- HIGH | "));
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let root = tempfile::tempdir().unwrap();
    let run = Run::create(root.path(), &plan(), clock()).unwrap();
    let id = run.id().to_owned();
    run.journal().append(&reported(3)).unwrap();
    run.journal().append(&reported(5)).unwrap();
    assert!(matches!(Run::resume(root.path(), &id, clock(), None), Err(StoreError::Locked(_))));
    fs::write(run.directory().join("agents/.partial-x"), "half").unwrap();
    drop(run);
    let run = Run::resume(root.path(), "latest", clock(), None).unwrap();
    assert_eq!((run.id(), run.plan()), (id.as_str(), &plan()));
    assert!(!run.directory().join("agents/.partial-x").exists());
    assert!(run.before().finished(AGENT).is_none());
    // It reports one of them again, and a new one.
    run.journal().append(&reported(5)).unwrap();
    let ended = outcome(&id, AGENT, vec![finding("a.go", 5), finding("a.go", 9)]);
    let stored = run.write_agent(ended).unwrap();
    let lines: Vec<_> = stored.findings.iter().filter_map(|finding| finding.line).collect();
    assert_eq!(lines, [5, 9, 3], "none missing, none doubled");
    drop(run);
    let run = Run::resume(root.path(), "latest", clock(), None).unwrap();
    assert_eq!(run.before().finished(AGENT), Some(&stored));
    assert_eq!(run.before().resumed, 1);
}

#[test]
fn a_verdict_of_another_run_is_not_taken_for_one_of_this() {
    let root = tempfile::tempdir().unwrap();
    let run = Run::create(root.path(), &plan(), clock()).unwrap();
    run.write_agent(outcome("20250101-000000-000-0000", AGENT, vec![])).unwrap();
    assert_eq!(Run::find(root.path(), run.id()).unwrap().verdicts().unwrap(), []);
}

#[test]
fn runs_of_the_same_moment_have_their_own_directories() {
    let root = tempfile::tempdir().unwrap();
    let ids = std::thread::scope(|scope| {
        let start = || Run::create(root.path(), &plan(), clock()).unwrap().id().to_owned();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let mut distinct = ids.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len());
    assert_eq!(Run::list(root.path()).unwrap().len(), ids.len());
    assert!(matches!(Run::find(root.path(), "2026"), Err(StoreError::AmbiguousRun { .. })));
    assert!(matches!(Run::find(root.path(), "x"), Err(StoreError::NoSuchRun(_))));
}

#[test]
fn no_run_is_an_answer_with_a_way_out() {
    let root = tempfile::tempdir().unwrap();
    let error = Run::find(root.path(), "latest").unwrap_err();
    assert!(matches!(error, StoreError::NoRuns(_)));
    assert!(error.hint().unwrap().contains("quorum review"));
}

#[test]
fn what_is_held_for_a_moment_after_a_kill_is_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let run = Run::create(root.path(), &plan(), clock()).unwrap();
    let id = run.id().to_owned();
    let held = std::thread::spawn(move || {
        thread::sleep(PATIENCE / 4);
        drop(run);
    });
    let resumed = Run::resume(root.path(), &id, clock(), None);
    held.join().unwrap();
    assert!(resumed.is_ok(), "{resumed:?}");
}
