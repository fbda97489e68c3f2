//! Histories of pushes: what is reviewed each time, and where every finding then stands.

use std::collections::BTreeMap;

use quorum_model::budget::Mode;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::outcome::{AgentOutcome, Covered, OutcomeStatus};
use quorum_model::scope::Scope;
use serde_json::json;

use super::*;
use crate::testing::{outcome, published};
use FindingState::{Dismissed, New, NotReviewed, Persisting, Resolved};

const AGENT: &str = "go-reviewer";

/// A repository under a reviewer that reports every line with `bad` in it.
struct History {
    root: tempfile::TempDir,
    home: tempfile::TempDir,
    files: BTreeMap<String, String>,
    renamed: Vec<(String, String)>,
    deleted: Vec<String>,
    day: u32,
}

/// What a review is shown.
#[derive(Clone, Copy)]
enum Shown<'a> {
    /// All lines of these files.
    Whole(&'a [&'a str]),
    /// Only these lines, all of which are in the change.
    Hunk(&'a str, u64, u64),
    /// The first lines, of a change that has these.
    Part(&'a str, (u64, u64), (u64, u64)),
}

impl History {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut history = Self {
            root: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
            files: BTreeMap::new(),
            renamed: Vec::new(),
            deleted: Vec::new(),
            day: 1,
        };
        for (path, text) in files {
            history.push(path, text);
        }
        history
    }

    fn push(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
    }

    fn rename(&mut self, old: &str, new: &str) {
        let text = self.files.remove(old).unwrap();
        self.push(new, &text);
        self.renamed.push((old.to_owned(), new.to_owned()));
    }

    fn delete(&mut self, path: &str) {
        self.files.remove(path).unwrap();
        self.deleted.push(path.to_owned());
    }

    fn ledger(&self) -> Ledger {
        let seal = Seal::make(&self.home.path().join("key"), self.root.path()).unwrap();
        Ledger::open(self.root.path(), Some(seal)).unwrap()
    }

    fn review(&mut self, shown: Shown<'_>) -> Vec<(String, FindingState)> {
        self.review_with(shown, |_| {})
    }

    /// Reviews twice under one run, as after a crash between recording and the end of the run.
    fn review_with(
        &mut self,
        shown: Shown<'_>,
        change: impl Fn(&mut AgentOutcome),
    ) -> Vec<(String, FindingState)> {
        let (scope, covered) = self.scope(shown);
        let run = format!("202611{:02}-000000-000-0000", self.day);
        let mut ended = outcome(&run, AGENT, Vec::new());
        ended.covered = covered;
        change(&mut ended);
        let findings = self.findings(&ended);
        let files = self.files.clone();
        let text = move |path: &str| files.get(path).cloned();
        let review = Review {
            run: &run,
            at: format!("2026-11-{:02}T00:00:00Z", self.day).parse().unwrap(),
            scope: &scope,
            findings: &findings,
            outcomes: &[ended],
            text: &text,
            outside: &|_| judge::Outside::Unknown,
        };
        let mut ledger = self.ledger();
        let judgement = ledger.judge(&review, Vec::new()).unwrap();
        ledger.record(&review, &judgement).unwrap();
        let again = ledger.judge(&review, Vec::new()).unwrap();
        assert_eq!(states(&review, &again), states(&review, &judgement), "recording is idempotent");
        ledger.record(&review, &again).unwrap();
        self.day += 1;
        states(&review, &judgement)
    }

    fn scope(&self, shown: Shown<'_>) -> (Scope, Vec<Covered>) {
        let lines = |path: &str| self.files.get(path).map_or(0, |text| text.lines().count() as u64);
        let (paths, hunk, seen) = match shown {
            Shown::Whole(paths) => (paths.to_vec(), None, None),
            Shown::Hunk(path, first, last) => {
                (vec![path], Some((first, last)), Some((first, last)))
            }
            Shown::Part(path, hunk, seen) => (vec![path], Some(hunk), Some(seen)),
        };
        let file = |path: &str| {
            let old = self.renamed.iter().find(|(_, new)| new == path).map(|(old, _)| old);
            let gone = self.deleted.iter().any(|one| one == path);
            let change = match old {
                _ if gone => "deleted",
                Some(_) => "renamed",
                None => "modified",
            };
            let hunks: Vec<_> = hunk
                .iter()
                .map(|(first, last)| {
                    let count = last - first + 1;
                    json!({ "old_start": first, "old_lines": count, "new_start": first, "new_lines": count })
                })
                .collect();
            json!({
                "path": path, "old_path": old, "change": change, "language": "Go",
                "kind": "code", "tokens": 10, "flags": [], "hunks": hunks,
            })
        };
        let files: Vec<_> = paths.iter().map(|path| file(path)).collect();
        let scope = json!({ "kind": "pr", "label": "17", "base": "0", "head": self.day.to_string(), "files": files });
        let covered = paths.iter().map(|path| {
            let (start_line, end_line) = seen.unwrap_or((1, lines(path).max(1)));
            Covered::reviewed(*path, start_line, end_line)
        });
        (serde_json::from_value(scope).unwrap(), covered.collect())
    }

    fn findings(&self, ended: &AgentOutcome) -> Vec<Finding> {
        let mut findings = Vec::new();
        for covered in &ended.covered {
            let Some(text) = self.files.get(&covered.path) else { continue };
            for (number, line) in (1..).zip(text.lines()) {
                let seen = (covered.start_line..=covered.end_line).contains(&number);
                let squeezed: String = line.chars().filter(|c| !c.is_whitespace()).collect();
                if seen && squeezed.contains("bad") && ended.status != OutcomeStatus::Failed {
                    let fingerprint =
                        blake3::hash(format!("{} {squeezed}", covered.path).as_bytes());
                    let name = fingerprint.to_hex().to_string();
                    let mut finding = published(&name, &covered.path, number);
                    finding.evidence = line.to_owned();
                    findings.push(finding);
                }
            }
        }
        findings
    }
}

/// The quoted code of each finding with its state, what was found first.
fn states(review: &Review<'_>, judgement: &Judgement) -> Vec<(String, FindingState)> {
    let name = |finding: &Finding| {
        finding.evidence.chars().filter(|c| c.is_alphanumeric()).collect::<String>()
    };
    let found = review.findings.iter().zip(&judgement.findings);
    let found = found.map(|(finding, judged)| (name(finding), judged.state));
    let gone = judgement.gone.iter().map(|gone| (name(&gone.finding), gone.finding.state));
    found.chain(gone).collect()
}

fn of(pairs: &[(&str, FindingState)]) -> Vec<(String, FindingState)> {
    pairs.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect()
}

const TEXT: &str = "func a() {\n\tone()\n\tbad1()\n\ttwo()\n}\n\nfunc b() {\n\tbad2()\n}\n";
const ALL: Shown<'static> = Shown::Whole(&["a.go"]);

#[test]
fn a_fix_resolves_what_it_fixes_and_nothing_else() {
    let mut history = History::new(&[("a.go", TEXT)]);
    assert_eq!(history.review(ALL), of(&[("bad1", New), ("bad2", New)]));
    history.push("a.go", &TEXT.replace("bad1", "good"));
    assert_eq!(history.review(ALL), of(&[("bad2", Persisting), ("bad1", Resolved)]));
    assert_eq!(history.review(ALL), of(&[("bad2", Persisting)]), "what is resolved is told once");
}

#[test]
fn a_fix_that_is_seen_in_its_hunk_resolves_also_where_lines_moved() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    history.push("a.go", &format!("{}{}", "// new\n".repeat(50), TEXT.replace("bad1", "good")));
    let seen = history.review(Shown::Hunk("a.go", 51, 56));
    assert_eq!(seen, of(&[("bad1", Resolved), ("bad2", NotReviewed)]));
}

#[test]
fn moved_and_reformatted_code_persists() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    history.push("a.go", &format!("// a\n// b\n{TEXT}"));
    assert_eq!(history.review(ALL), of(&[("bad1", Persisting), ("bad2", Persisting)]));
    history.push("a.go", &TEXT.replace('\t', "        ").replace("bad1()", "bad1( )"));
    assert_eq!(history.review(ALL), of(&[("bad1", Persisting), ("bad2", Persisting)]));
}

#[test]
fn a_renamed_file_keeps_its_findings_and_what_was_dismissed() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    let first = history.findings(&outcome("r", AGENT, Vec::new())).remove(0);
    dismiss(&history, &first.fingerprint, None);
    history.rename("a.go", "b.go");
    let there = Shown::Whole(&["b.go"]);
    assert_eq!(history.review(there), of(&[("bad1", Dismissed), ("bad2", Persisting)]));
    // The rename is history: the next review only knows the new name.
    history.renamed.clear();
    assert_eq!(history.review(there), of(&[("bad1", Dismissed), ("bad2", Persisting)]));
    history.push("b.go", &TEXT.replace("bad2", "good"));
    assert_eq!(history.review(there), of(&[("bad1", Dismissed), ("bad2", Resolved)]));
}

#[test]
fn a_rename_with_a_fix_in_it_resolves() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    history.rename("a.go", "b.go");
    history.push("b.go", &TEXT.replace("bad1", "good"));
    let there = Shown::Whole(&["b.go"]);
    assert_eq!(history.review(there), of(&[("bad2", Persisting), ("bad1", Resolved)]));
}

#[test]
fn a_fix_that_is_reverted_makes_the_finding_new_again() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    history.push("a.go", &TEXT.replace("bad1", "good"));
    history.review(ALL);
    history.push("a.go", TEXT);
    assert_eq!(history.review(ALL), of(&[("bad1", New), ("bad2", Persisting)]));
    assert_eq!(history.review(ALL), of(&[("bad1", Persisting), ("bad2", Persisting)]));
}

#[test]
fn a_change_that_is_taken_back_takes_its_findings_along() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    // The first function is as it was at the base again, so the change does not reach it.
    history.push("a.go", &TEXT.replace("\tbad1()\n", ""));
    let seen = history.review(Shown::Hunk("a.go", 6, 8));
    assert_eq!(seen, of(&[("bad2", Persisting), ("bad1", Resolved)]));
}

#[test]
fn a_deleted_file_resolves_what_was_in_it() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    history.delete("a.go");
    assert_eq!(history.review(ALL), of(&[("bad1", Resolved), ("bad2", Resolved)]));
}

#[test]
fn what_was_not_shown_is_not_resolved() {
    let mut history = History::new(&[("a.go", TEXT), ("b.go", "bad3()\n")]);
    history.review(Shown::Whole(&["a.go", "b.go"]));
    history.push("a.go", &TEXT.replace("bad1", "good").replace("bad2", "fine"));
    history.push("b.go", "good\n");
    let seen = history.review(Shown::Part("a.go", (1, 9), (1, 5)));
    assert_eq!(seen, of(&[("bad1", Resolved), ("bad2", NotReviewed)]), "b.go is another matter");
    assert_eq!(history.review(ALL), of(&[("bad2", Resolved)]));
    assert_eq!(history.review(Shown::Whole(&["b.go"])), of(&[("bad3", Resolved)]));
}

#[test]
fn silence_of_somebody_who_could_not_speak_resolves_nothing() {
    let silences: [fn(&mut AgentOutcome); 3] = [
        |ended| ended.status = OutcomeStatus::Failed,
        |ended| ended.agent = "documentation-reviewer".to_owned(),
        |ended| ended.covered.iter_mut().for_each(|covered| covered.start_line = 0),
    ];
    for silence in silences {
        let mut history = History::new(&[("a.go", TEXT)]);
        history.review(ALL);
        history.push("a.go", "package a\n");
        let seen = history.review_with(ALL, silence);
        assert_eq!(seen, of(&[("bad1", NotReviewed), ("bad2", NotReviewed)]));
        assert_eq!(history.review(ALL), of(&[("bad1", Resolved), ("bad2", Resolved)]));
    }
}

#[test]
fn an_agent_that_is_short_of_budget_does_not_resolve_what_it_leaves_out() {
    let (scope, covered) = History::new(&[("a.go", "good()\n")]).scope(ALL);
    let mut ended = outcome("r2", AGENT, Vec::new());
    ended.covered = covered;
    let text = |_: &str| Some("good()\n".to_owned());
    let mut finding = published("f", "a.go", 1);
    let mut check = |change: fn(&mut AgentOutcome, &mut Finding), expected| {
        let mut ended = ended.clone();
        change(&mut ended, &mut finding);
        let entry = Entry {
            id: 1,
            fingerprints: ["f".to_owned()].into(),
            finding: finding.clone(),
            anchors: Anchors::default(),
            first_run: "r1".to_owned(),
            resolved_run: None,
            digested: false,
            dismissal: None,
        };
        let review = Review {
            run: "r2",
            at: "2026-11-16T00:00:00Z".parse().unwrap(),
            scope: &scope,
            findings: &[],
            outcomes: &[ended],
            text: &text,
            outside: &|_| judge::Outside::Unknown,
        };
        let judgement = judge::judge(&review, &[entry], &Dismissals::default());
        assert_eq!(judgement.gone[0].finding.state, expected);
    };
    check(|_, _| {}, Resolved);
    check(|ended, _| ended.mode = Mode::HighSeverityOnly, Resolved);
    let medium = |ended: &mut AgentOutcome, finding: &mut Finding| {
        ended.mode = Mode::HighSeverityOnly;
        finding.severity = quorum_model::severity::Severity::Medium;
    };
    check(medium, NotReviewed);
    // What a model found is not resolved by rules alone.
    check(|_, finding| finding.rule = None, NotReviewed);
    check(|ended, _| ended.engine = "anthropic".to_owned(), Resolved);
}

fn dismiss(history: &History, fingerprint: &str, expires: Option<&str>) {
    let dismissal = Dismissal {
        fingerprint: fingerprint.to_owned(),
        reason: "known".to_owned(),
        author: "ann".to_owned(),
        expires: expires.map(str::to_owned),
        file: None,
        title: None,
        refuted: false,
        place: None,
    };
    history.ledger().dismiss(&dismissal).unwrap();
}

#[test]
fn what_is_dismissed_stays_away_until_it_expires_or_is_taken_up_again() {
    let mut history = History::new(&[("a.go", TEXT)]);
    history.review(ALL);
    let (_, covered) = history.scope(ALL);
    let mut ended = outcome("r", AGENT, Vec::new());
    ended.covered = covered;
    let found = history.findings(&ended);
    dismiss(&history, &found[0].fingerprint, None);
    dismiss(&history, &found[1].fingerprint, Some("2026-11-03"));
    assert_eq!(history.review(ALL), of(&[("bad1", Dismissed), ("bad2", Dismissed)]));
    assert_eq!(history.review(ALL), of(&[("bad1", Dismissed), ("bad2", Dismissed)]));
    assert_eq!(history.review(ALL), of(&[("bad1", Dismissed), ("bad2", Persisting)]));
    assert!(history.ledger().restore(&found[0].fingerprint).unwrap());
    assert!(!history.ledger().restore(&found[0].fingerprint).unwrap());
    assert_eq!(history.review(ALL), of(&[("bad1", Persisting), ("bad2", Persisting)]));
}

#[test]
fn reviews_beside_each_other_record_a_finding_once() {
    let history = History::new(&[("a.go", TEXT)]);
    let (scope, covered) = history.scope(ALL);
    let mut ended = outcome("r", AGENT, Vec::new());
    ended.covered = covered;
    let findings = history.findings(&ended);
    std::thread::scope(|threads| {
        for run in ["r1", "r2", "r3", "r4"] {
            let (scope, findings, ended) = (&scope, &findings, &ended);
            let root = history.root.path();
            threads.spawn(move || {
                let text = |_: &str| None;
                let review = Review {
                    run,
                    at: "2026-11-16T00:00:00Z".parse().unwrap(),
                    scope,
                    findings,
                    outcomes: std::slice::from_ref(ended),
                    text: &text,
                    outside: &|_| judge::Outside::Unknown,
                };
                let mut ledger = Ledger::open(root, None).unwrap();
                let judgement = ledger.judge(&review, Vec::new()).unwrap();
                ledger.record(&review, &judgement).unwrap();
            });
        }
    });
    let count: i64 = history
        .ledger()
        .database
        .read(|connection| {
            connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))
        })
        .unwrap();
    assert_eq!(count, 2);
}

#[test]
fn what_somebody_else_set_aside_does_not_count() {
    let mut history = History::new(&[]);
    let found = [published("f1", "a.go", 1), published("f2", "a.go", 3)];
    dismiss(&history, &found[0].fingerprint, None);
    let own = std::mem::replace(&mut history.home, tempfile::tempdir().unwrap());
    assert_eq!(history.ledger().dismissals().unwrap(), Dismissals::default(), "a stranger's view");
    dismiss(&history, &found[1].fingerprint, None);
    history.home = own;
    let marked = |history: &History| {
        let (own, foreign) = (
            history.ledger().dismissals().unwrap(),
            history.ledger().foreign_dismissals().unwrap(),
        );
        let names = |all: &Dismissals| all.iter().map(|one| one.fingerprint.clone()).collect();
        let both: (Vec<String>, Vec<String>) = (names(&own), names(&foreign));
        both
    };
    let (first, second) = (found[0].fingerprint.clone(), found[1].fingerprint.clone());
    assert_eq!(marked(&history), (vec![first.clone()], vec![second.clone()]));
    // A mark is of one text: moved to another dismissal, or after an edit, it is none.
    let change = |sql: &str| {
        history.ledger().database.write(|transaction| transaction.execute(sql, [])).unwrap();
    };
    change("UPDATE dismissals SET seal = (SELECT max(seal) FROM dismissals)");
    change("UPDATE dismissals SET dismissal = replace(dismissal, 'known', 'other')");
    let mut both = vec![first.clone(), second.clone()];
    both.sort();
    assert_eq!(marked(&history), (Vec::new(), both));
    // Whoever agrees says so again.
    dismiss(&history, &second, None);
    assert_eq!(marked(&history), (vec![second], vec![first]));
}

#[test]
fn a_ledger_of_an_earlier_version_is_read_and_its_dismissals_have_no_mark() {
    let history = History::new(&[]);
    drop(history.ledger());
    let path = history.root.path().join(".quorum/memory.db");
    let connection = rusqlite::Connection::open(path).unwrap();
    let before = "ALTER TABLE dismissals DROP COLUMN seal;
        INSERT INTO dismissals VALUES ('f', '{\"fingerprint\":\"f\",\"reason\":\"r\",\"author\":\"a\"}');
        PRAGMA user_version = 2;";
    connection.execute_batch(before).unwrap();
    drop(connection);
    assert!(history.ledger().dismissals().unwrap().is_empty());
    assert_eq!(history.ledger().foreign_dismissals().unwrap().iter().count(), 1);
}

#[test]
fn nothing_is_set_aside_without_a_key() {
    let history = History::new(&[]);
    let mut ledger = Ledger::open(history.root.path(), None).unwrap();
    let finding = published("f", "a.go", 1);
    let dismissal = Dismissal::of(&finding, "r".to_owned(), "a".to_owned(), None);
    let error = ledger.dismiss(&dismissal).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("--shared")), "{error}");
}

#[test]
fn a_file_that_is_no_ledger_is_named_with_a_way_out() {
    let history = History::new(&[]);
    crate::Folder::prepare(history.root.path()).unwrap();
    std::fs::write(
        history.root.path().join(".quorum/memory.db"),
        "not a database, sorry\n".repeat(99),
    )
    .unwrap();
    let error = Ledger::open(history.root.path(), None).unwrap_err();
    assert!(error.to_string().contains("memory.db"), "{error}");
    assert!(error.hint().unwrap().contains("starts anew"));
}
