//! Coverage that is reported is what was really sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;
use quorum_testkit::{Recorded, Reply, Server};
use serde_json::Value;

use super::{agent, nothing, review};
use crate::sandbox::{Sandbox, text};

/// How a file of a random change looks.
#[derive(Clone, Debug)]
struct File {
    /// Lines that are there before, none where it is new.
    before: usize,
    /// Lines that the change adds at the end, each with a mark of its own.
    added: usize,
    /// Words on a line.
    words: usize,
    /// The extension.
    kind: &'static str,
    crlf: bool,
}

fn file() -> impl Strategy<Value = File> {
    let kind = prop::sample::select(vec!["py", "go", "md", "txt"]);
    (prop_oneof![Just(0), 1usize..60], 1usize..120, 1usize..30, kind, any::<bool>())
        .prop_map(|(before, added, words, kind, crlf)| File { before, added, words, kind, crlf })
}

fn name(number: usize, file: &File) -> String {
    format!("src/file{number}.{}", file.kind)
}

fn line(number: usize, line: usize, file: &File) -> String {
    let mut text = format!("mark_{number}_{line}_end");
    for word in 0..file.words {
        _ = write!(text, " word{word}");
    }
    text + if file.crlf { "\r\n" } else { "\n" }
}

fn before(file: &File) -> String {
    "before\n".repeat(file.before)
}

/// The marks of each file in a request.
fn marks(request: &Recorded) -> BTreeSet<(usize, usize)> {
    let parts = request.text.split("mark_").skip(1);
    let read = parts.filter_map(|part| {
        let (file, line) = part.split_once("_end")?.0.split_once('_')?;
        Some((file.parse().ok()?, line.parse().ok()?))
    });
    read.collect()
}

/// What each agent was sent.
fn sent(server: &Server) -> BTreeMap<String, BTreeSet<(usize, usize)>> {
    let mut sent: BTreeMap<String, BTreeSet<(usize, usize)>> = BTreeMap::new();
    for request in server.recorded() {
        sent.entry(agent(&request)).or_default().extend(marks(&request));
    }
    sent
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn reported_coverage_is_what_was_recorded(
        files in prop::collection::vec(file(), 1..14),
        budget in 600u64..4_000,
        complete: bool,
    ) {
        let sandbox = Sandbox::new();
        let mut config = String::new();
        for agent in ["code-quality", "security", "python", "go", "documentation"] {
            _ = writeln!(config, "[agent.{agent}-reviewer]\nbase_budget = {budget}");
        }
        sandbox.write("quorum.toml", config);
        for (number, file) in files.iter().enumerate().filter(|(_, file)| file.before > 0) {
            sandbox.write(&name(number, file), before(file));
        }
        sandbox.commit("before");
        for (number, file) in files.iter().enumerate() {
            let added = (0..file.added).map(|n| line(number, n, file));
            sandbox.write(&name(number, file), before(file) + &added.collect::<String>());
        }
        sandbox.commit("after");
        let server = Server::start(|_| Reply::Say(nothing())).expect("it starts");
        let mut arguments = vec!["--commit", "HEAD"];
        arguments.extend(complete.then_some("--complete"));
        let (_, result) = review(&sandbox, &server, &arguments);
        let sent = sent(&server);
        let rows = result["coverage"]["files"].as_array().expect("files");
        for (number, file) in files.iter().enumerate() {
            let path = name(number, file);
            let row = rows.iter().find(|row| row["path"] == path.as_str()).expect("its row");
            for (agent, state) in row["agents"].as_object().expect("agents") {
                let lines = sent.get(agent).map_or(0, |marks| {
                    marks.iter().filter(|(file, _)| *file == number).count()
                });
                let by_rules = row["engines"][agent] == "rules";
                let expected: &[&str] = match lines {
                    // Nothing of it was sent: its rules looked, and the row says so.
                    0 if by_rules => &["reviewed", "partial", "read"],
                    0 => &["skipped", "out_of_domain"],
                    n if n == file.added => &["reviewed"],
                    _ => &["partial"],
                };
                let state = state.as_str().expect("a state");
                prop_assert!(
                    expected.contains(&state),
                    "{agent} was sent {lines} of {} lines of {path}, and {state} is reported",
                    file.added
                );
                prop_assert!(!complete || state != "skipped", "{agent}: {path}");
            }
        }
    }
}

/// Parts of one line have the same first and last line, and each of them was sent.
#[test]
fn a_long_line_that_was_sent_in_parts_is_reviewed() {
    let sandbox = Sandbox::new();
    let words: String = (0..6_000).fold(String::new(), |mut words, number| {
        _ = write!(words, "word{number}, ");
        words
    });
    sandbox.write("table.py", format!("TABLE = [{words}]\n"));
    sandbox.commit("a long line");
    let server = Server::start(|_| Reply::Say(nothing())).expect("it starts");
    let (_, result) =
        review(&sandbox, &server, &["--commit", "HEAD", "--agents", "code-quality", "--complete"]);
    let sent: String = server.recorded().iter().map(|request| request.text.as_str()).collect();
    let missing = (0..6_000).filter(|number| !sent.contains(&format!("word{number},"))).count();
    // A cut may go through a word.
    assert!(missing < 60, "all of it was sent: {missing}");
    let row = &result["coverage"]["files"][0];
    assert_eq!(row["agents"]["code-quality-reviewer"], "reviewed", "{}", result["reasons"]);
}

#[test]
fn the_suggested_commands_cover_exactly_what_was_left_out() {
    let sandbox = Sandbox::new();
    super::write_files(&sandbox, 60);
    sandbox.commit("many files");
    let arguments = ["--commit", "HEAD", "--tier", "simple", "--agents", "code-quality"];
    let server = Server::start(|_| Reply::Say(nothing())).expect("it starts");
    let (_, result) = review(&sandbox, &server, &arguments);
    let gaps = result["coverage"]["gaps"].as_array().expect("gaps");
    let left: BTreeSet<&str> = gaps.iter().filter_map(|gap| gap["path"].as_str()).collect();
    let agent = &result["execution"]["agents"][0];
    assert_eq!(agent["partial"], true, "the budget does not cover 60 files");
    let skipped: BTreeSet<&str> = agent["skipped_files"]
        .as_array()
        .expect("names")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(left, skipped);
    // One of the commands, as a shell would run it.
    let command = gaps[0]["command"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--format", "json"]).collect();
    let server = Server::start(|_| Reply::Say(nothing())).expect("it starts");
    let output = sandbox.quorum_with(&words, super::with_server(&server));
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{command}: {}", text(&output.stderr)));
    let rows = result["coverage"]["files"].as_array().expect("files");
    assert_eq!(rows.len(), 1, "{command}");
    assert_eq!(rows[0]["path"], gaps[0]["path"]);
    assert_eq!(rows[0]["agents"]["code-quality-reviewer"], "reviewed");
    assert_eq!(server.recorded().len(), 1);
}
