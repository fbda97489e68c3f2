use super::*;
use crate::testing::{published, result};

fn now() -> Timestamp {
    "2026-11-16T00:00:00Z".parse().unwrap()
}

fn lesson(title: &str, content: &str, tags: &[&str]) -> Lesson {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    let (title, content) = (title.to_owned(), content.to_owned());
    Lesson { title, content, tags, outcome: Outcome::Success }
}

fn memories() -> (tempfile::TempDir, Memories) {
    let root = tempfile::tempdir().unwrap();
    let memories = Memories::open(root.path()).unwrap();
    (root, memories)
}

fn ids(found: &[Memory]) -> Vec<&str> {
    found.iter().map(|memory| memory.id.as_str()).collect()
}

#[test]
fn lessons_are_found_by_their_words_the_best_fit_first() {
    let (_root, mut memories) = memories();
    let sql = lesson("SQL is built in repo/query.go", "Use the builder there.", &["sql"]);
    let sql = memories.record(&sql, now()).unwrap();
    let other = lesson("Retries", "The client retries; sql errors are not retried.", &[]);
    let other = memories.record(&other, now()).unwrap();
    memories.record(&lesson("Colours", "Nothing about it.", &[]), now()).unwrap();
    assert_eq!(ids(&memories.search("sql queries", 5, now()).unwrap()), [&sql, &other]);
    assert_eq!(ids(&memories.search("retry", 5, now()).unwrap()), [&other]);
    assert_eq!(memories.search("sql", 1, now()).unwrap().len(), 1);
    let odd = ["", "\"", "AND OR NOT", "title:x*", "\u{0}'; DROP TABLE memories; --", "(", "🦀"];
    for query in odd {
        memories.search(query, 5, now()).unwrap_or_else(|error| panic!("{query}: {error}"));
    }
    assert_eq!(memories.list(now()).unwrap().len(), 3);
}

#[test]
fn readers_move_trust_and_being_shown_does_not() {
    let (_root, mut memories) = memories();
    let id = memories.record(&lesson("One", "lesson", &[]), now()).unwrap();
    let trust = |memories: &Memories| memories.get(&id, now()).unwrap().unwrap().confidence;
    let start = trust(&memories);
    for _ in 0..20 {
        memories.search("lesson", 5, now()).unwrap();
        memories.list(now()).unwrap();
    }
    assert!((trust(&memories) - start).abs() < f64::EPSILON);
    assert!(memories.signal(&id, true, now()).unwrap());
    let praised = trust(&memories);
    assert!(praised > start);
    assert_eq!(memories.search("lesson", 5, now()).unwrap().len(), 1, "praise does not hide it");
    for _ in 0..20 {
        memories.signal(&id, false, now()).unwrap();
    }
    assert!(trust(&memories) < FLOOR);
    assert_eq!(memories.search("lesson", 5, now()).unwrap(), []);
    assert_eq!(memories.list(now()).unwrap().len(), 1, "it is still there for people");
    assert!(!memories.signal("m-0", true, now()).unwrap());
}

#[test]
fn the_same_lesson_twice_is_one_and_what_is_forgotten_is_gone() {
    let (_root, mut memories) = memories();
    let one = lesson(" A\n title ", "content", &["B", "a", "b", ""]);
    let id = memories.record(&one, now()).unwrap();
    assert_eq!(memories.record(&one, now()).unwrap(), id);
    let listed = memories.list(now()).unwrap();
    assert_eq!((listed.len(), listed[0].title.as_str()), (1, "A title"));
    assert_eq!(listed[0].tags, ["a", "b"]);
    assert!(memories.forget(&id).unwrap());
    assert!(!memories.forget(&id).unwrap());
    assert_eq!(memories.search("content", 5, now()).unwrap(), []);
}

#[test]
fn a_review_records_itself_once() {
    let (_root, mut memories) = memories();
    let mut result = result("20261116-000000-000-0000");
    result.verdict = Verdict::ChangesRequested;
    result.findings = vec![published("f", "a.go", 3)];
    let id = memories.record_review("main...HEAD", &result, now()).unwrap();
    assert_eq!(memories.record_review("main...HEAD", &result, now()).unwrap(), id);
    let memory = memories.get(&id, now()).unwrap().unwrap();
    assert_eq!(memory.title, "Consensus Review: main...HEAD");
    assert_eq!(memory.tags, ["changes-requested", "consensus-review"]);
    assert!(memory.content.contains("- HIGH a.go:3 The error is dropped."), "{}", memory.content);
    result.findings.clear();
    let again = memories.record_review("main...HEAD", &result, now()).unwrap();
    assert_eq!(memories.list(now()).unwrap().len(), 1, "its last decision is the one that counts");
    assert_ne!(again, id);
}

#[test]
fn only_what_fits_the_budget_is_offered() {
    let (_root, mut memories) = memories();
    for (title, content) in [("a", "long ".repeat(50)), ("b", "short".to_owned())] {
        memories.record(&lesson(title, &content, &["x"]), now()).unwrap();
    }
    let found = memories.search("x", 5, now()).unwrap();
    assert_eq!(found.len(), 2);
    let offered = within_budget(found, 20, |memory| memory.content.len() as u64);
    assert_eq!(offered.iter().map(|memory| memory.title.as_str()).collect::<Vec<_>>(), ["b"]);
}
