//! The pipeline as a caller in Rust uses it, on repositories that the tests make.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use quorum_engine::{
    CancellationToken, Environment, ErrorCode, Observer, Progress, Review, ReviewRequest,
    ReviewSelection, SharedObserver, silent,
};
use quorum_model::verdict::Verdict;
use quorum_store::Clock;
use tempfile::TempDir;

const INJECTION: &str = "import sqlite3\nfrom flask import Flask, request\n\napp = Flask(__name__)\n\n\n\
    @app.route(\"/users\")\ndef users():\n    name = request.args[\"name\"]\n    db = sqlite3.connect(\"a.db\")\n\
    \x20   return str(db.execute(\"SELECT * FROM users WHERE name = '\" + name + \"'\").fetchall())\n";

const HARMLESS: &str = "def add(a, b):\n    \"\"\"Add two numbers.\"\"\"\n    return a + b\n";

#[expect(clippy::disallowed_methods, reason = "tests make repositories with git itself")]
fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
    let status = command.current_dir(folder).args(identity).args(arguments).output();
    assert!(status.expect("git runs").status.success(), "git {arguments:?}");
}

/// A repository with one commit of these files.
fn repository(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    git(folder.path(), &["init", "-q", "-b", "main"]);
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    folder
}

fn environment(home: &Path) -> Environment {
    Environment {
        key_file: Some(home.join("key")),
        ..Environment::bare(home.to_owned(), Clock::new(jiff::Timestamp::now))
    }
}

fn all_of(folder: &Path) -> ReviewRequest {
    ReviewRequest::new(folder, ReviewSelection::All)
}

fn reviewed(folder: &Path, home: &Path, observer: &SharedObserver) -> Review {
    let (request, environment) = (all_of(folder), environment(home));
    let prepared = quorum_engine::prepare(&request, &environment, &**observer).expect("a plan");
    quorum_engine::review(&prepared, observer, &CancellationToken::new()).expect("a review")
}

/// Everything but what is of one run: its id, and how long things took.
fn comparable(review: &Review) -> (Verdict, Vec<String>) {
    let findings = review.result.findings.iter();
    let lines =
        findings.map(|found| format!("{} {}:{}", found.fingerprint, found.file, found.line));
    (review.result.verdict, lines.collect())
}

#[test]
fn reviews_of_two_repositories_run_at_once_and_share_nothing() {
    let home = tempfile::tempdir().expect("a home");
    let bad = repository(&[("app.py", INJECTION)]);
    let good = repository(&[("add.py", HARMLESS)]);
    let alone =
        [&bad, &good].map(|folder| comparable(&reviewed(folder.path(), home.path(), &silent())));
    assert_eq!(alone[0].0, Verdict::Blocked);
    assert_eq!(alone[1].0, Verdict::Approved);
    for _ in 0..3 {
        let together = thread::scope(|scope| {
            let started = [&bad, &good].map(|folder| {
                let home = home.path();
                scope.spawn(move || comparable(&reviewed(folder.path(), home, &silent())))
            });
            started.map(|one| one.join().expect("it does not panic"))
        });
        assert_eq!(together, alone);
    }
}

/// Remembers what it is told, in words.
#[derive(Default)]
struct Remembering(Mutex<Vec<String>>);

impl Observer for Remembering {
    fn observe(&self, progress: Progress<'_>) {
        let word = match progress {
            Progress::StageStarted { stage, total } => format!("{stage:?} {total}"),
            Progress::FileDone { stage } => format!("{stage:?} file"),
            Progress::StageEnded { stage } => format!("{stage:?} ended"),
            Progress::RunStarted { .. } => "run".to_owned(),
            Progress::Event(event) => format!("event {}", event.sequence),
            _ => return,
        };
        self.0.lock().expect("no test panics in here").push(word);
    }

    fn wants_events(&self) -> bool {
        true
    }
}

#[test]
fn an_observer_is_told_of_stages_files_and_events_in_their_order() {
    let home = tempfile::tempdir().expect("a home");
    let folder = repository(&[("app.py", INJECTION)]);
    let remembering = Arc::new(Remembering::default());
    let observer: SharedObserver = remembering.clone();
    reviewed(folder.path(), home.path(), &observer);
    let told = remembering.0.lock().expect("it is over").clone();
    let stages: Vec<&str> =
        told.iter().map(String::as_str).filter(|word| !word.starts_with("event")).collect();
    let expected = [
        "Reading 1",
        "Reading file",
        "Reading ended",
        "run",
        "Reviewing 1",
        "Reviewing file",
        "Reviewing ended",
    ];
    assert_eq!(stages, expected);
    let events: Vec<&String> = told.iter().filter(|word| word.starts_with("event")).collect();
    let numbered: Vec<String> =
        (1..=events.len()).map(|number| format!("event {number}")).collect();
    assert!(events.iter().zip(&numbered).all(|(told, expected)| *told == expected), "{events:?}");
    assert!(
        events.len() >= 4,
        "a run starts, reviewers start and end, and it is decided: {told:?}"
    );
}

#[test]
fn a_cancelled_review_concludes_nothing_and_can_be_resumed() {
    let home = tempfile::tempdir().expect("a home");
    let folder = repository(&[("app.py", INJECTION)]);
    let environment = environment(home.path());
    let observer = silent();
    let prepared =
        quorum_engine::prepare(&all_of(folder.path()), &environment, &*observer).expect("a plan");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let review = quorum_engine::review(&prepared, &observer, &cancel).expect("it ends in order");
    assert!(review.interrupted);
    let run = review.result.run.clone();
    drop(review);
    let root = folder.path().canonicalize().expect("it is there");
    let going = CancellationToken::new();
    let resumed = quorum_engine::resume(&root, &run, &environment, &observer, &going);
    let resumed = resumed.expect("it goes on");
    assert!(!resumed.interrupted);
    assert_eq!(resumed.result.run, run);
    assert_eq!(resumed.result.verdict, Verdict::Blocked);
}

#[test]
fn a_run_whose_code_changed_is_refused_with_a_code() {
    let home = tempfile::tempdir().expect("a home");
    let folder = repository(&[("app.py", INJECTION)]);
    let environment = environment(home.path());
    let observer = silent();
    let prepared =
        quorum_engine::prepare(&all_of(folder.path()), &environment, &*observer).expect("a plan");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let run = quorum_engine::review(&prepared, &observer, &cancel).expect("it ends").result.run;
    fs::write(folder.path().join("app.py"), HARMLESS).expect("it is writable");
    let root = folder.path().canonicalize().expect("it is there");
    let going = CancellationToken::new();
    let error = quorum_engine::resume(&root, &run, &environment, &observer, &going);
    let error = error.expect_err("the code changed");
    assert_eq!(error.code(), ErrorCode::Changed, "{error}");
    assert!(error.to_string().contains("app.py has changed"), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn a_caller_is_refused_with_the_error_of_the_library_below() {
    let home = tempfile::tempdir().expect("a home");
    let nowhere = tempfile::tempdir().expect("a folder without a repository");
    let (request, environment) = (all_of(nowhere.path()), environment(home.path()));
    let error = quorum_engine::prepare(&request, &environment, &*silent()).expect_err("no git");
    assert_eq!(error.code(), ErrorCode::Unavailable, "{error}");
    let folder = repository(&[("add.py", HARMLESS)]);
    let mut request = all_of(folder.path());
    request.options.agents = vec!["nobody".to_owned()];
    let error = quorum_engine::prepare(&request, &environment, &*silent()).expect_err("no agent");
    assert_eq!(error.code(), ErrorCode::InvalidRequest, "{error}");
    // Without a key the user has no runs, so none can be resumed.
    let bare = Environment::bare(home.path().to_owned(), Clock::new(jiff::Timestamp::now));
    let run = reviewed(folder.path(), home.path(), &silent()).result.run;
    let root = folder.path().canonicalize().expect("it is there");
    let going = CancellationToken::new();
    let error = quorum_engine::resume(&root, &run, &bare, &silent(), &going);
    assert_eq!(error.expect_err("no key").code(), ErrorCode::Unavailable);
}

#[test]
fn the_environment_handed_in_is_all_that_configures_a_review() {
    let home = tempfile::tempdir().expect("a home");
    let folder = repository(&[("app.py", INJECTION)]);
    let mut environment = environment(home.path());
    let variables = [("QUORUM_FAIL_ON", "none")];
    environment.variables =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let observer = silent();
    let prepared =
        quorum_engine::prepare(&all_of(folder.path()), &environment, &*observer).expect("a plan");
    let review = quorum_engine::review(&prepared, &observer, &CancellationToken::new());
    assert_eq!(review.expect("a review").result.verdict, Verdict::Advisory);
    let user = home.path().join("quorum.toml");
    fs::write(&user, "fail_on = \"none\"\n").expect("a user's file");
    environment.variables.clear();
    environment.user_file = Some(user);
    let prepared =
        quorum_engine::prepare(&all_of(folder.path()), &environment, &*observer).expect("a plan");
    assert_eq!(prepared.workspace.loaded.config.fail_on, quorum_model::config::FailOn::None);
}
