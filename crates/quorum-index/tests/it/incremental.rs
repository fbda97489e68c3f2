//! An index that was kept up to date equals one that was made from scratch.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use quorum_index::{Counter, Index, Query};
use quorum_model::config::Tokenizer;

use crate::folder::Folder;

/// Everything that an index answers, as text.
#[expect(clippy::format_push_string, reason = "a test reads better so")]
fn answers(index: &Index) -> String {
    let paths: Vec<String> = index.paths().collect();
    let mut said = format!("{paths:#?}\n");
    for path in &paths {
        said += &format!("{:#?}\n", index.symbols(path).expect("symbols"));
        said += &format!("{:#?}\n", index.references(path).expect("references"));
    }
    for text in ["alpha", "beta gamma value", "Thing", "helper", "loads the first file", "a.rs"] {
        let query = Query { text: text.to_owned(), limit: 25, ..Query::default() };
        let found = index.find(&query).expect("it answers");
        said += &format!("{text}: {:#?} {}\n", found.hits, found.more);
    }
    for name in ["alpha", "helper", "Thing"] {
        said += &format!("{:#?}\n", index.callers(name));
    }
    let map = index.map(500, Counter::new(Tokenizer::Chars4)).expect("a map");
    said + &map.text
}

fn check(folder: &Folder) {
    let scratch = tempfile::tempdir().expect("a folder");
    folder.update_into(scratch.path(), SystemTime::now());
    let made = Index::open(scratch.path(), folder.root()).expect("it opens");
    assert_eq!(answers(&folder.open()), answers(&made));
}

const NAMES: [&str; 6] = ["a.rs", "b.rs", "deep/c.py", "deep/er/d.go", "README.md", "e.toml"];

fn content(name: &str, variant: u8) -> String {
    let number = variant % 5;
    match name.rsplit('.').next().unwrap_or_default() {
        "rs" => format!(
            "//! Loads the first file.\nuse crate::b::helper;\n\n/// Alpha {number}.\npub fn alpha() -> u32 {{\n    helper({number})\n}}\n\npub struct Thing{number};\n"
        ),
        "py" => format!(
            "import os\n\nclass Thing:\n    def alpha(self):\n        return helper({number})\n\ndef helper(value):\n    return beta + {number}\n"
        ),
        "go" => format!("package d\n\nfunc Alpha{number}() {{ helper() }}\n\nfunc helper() {{}}\n"),
        "md" => format!("# Title {number}\n\nbeta gamma\n\n## Second\n\nvalue\n"),
        _ => format!("[section{number}]\nvalue = \"alpha\"\n"),
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, u8),
    Delete(usize),
    Rename(usize, usize),
    Copy(usize, usize),
    Switch(u8),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let name = 0..NAMES.len();
    let edit = prop_oneof![
        4 => (name.clone(), any::<u8>()).prop_map(|(name, variant)| Edit::Write(name, variant)),
        1 => name.clone().prop_map(Edit::Delete),
        1 => (name.clone(), name.clone()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (name.clone(), name).prop_map(|(from, to)| Edit::Copy(from, to)),
        1 => (0..3_u8).prop_map(Edit::Switch),
    ];
    proptest::collection::vec(edit, 1..6)
}

/// The files of a branch, as they were when it was left.
type Branch = BTreeMap<&'static str, Vec<u8>>;

fn snapshot(folder: &Folder) -> Branch {
    let read = |name: &&'static str| Some((*name, fs::read(folder.root().join(name)).ok()?));
    NAMES.iter().filter_map(read).collect()
}

fn restore(folder: &Folder, branch: &Branch) {
    for name in NAMES {
        match branch.get(name) {
            Some(text) => folder.write(name, text),
            None => drop(fs::remove_file(folder.root().join(name))),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_edits_lead_to_the_index_that_a_fresh_start_makes(
        rounds in proptest::collection::vec(edits(), 1..5),
    ) {
        let folder = Folder::new();
        let mut branches: BTreeMap<u8, Branch> = BTreeMap::new();
        let mut current = 0;
        for name in NAMES {
            folder.write(name, content(name, 0));
        }
        folder.update();
        for round in rounds {
            for edit in round {
                match edit {
                    Edit::Write(name, variant) => {
                        folder.write(NAMES[name], content(NAMES[name], variant));
                    }
                    Edit::Delete(name) => drop(fs::remove_file(folder.root().join(NAMES[name]))),
                    Edit::Rename(from, to) => {
                        fs::create_dir_all(folder.root().join("deep/er")).expect("a folder");
                        let (from, to) = (folder.root().join(NAMES[from]), folder.root().join(NAMES[to]));
                        drop(fs::rename(from, to));
                    }
                    Edit::Copy(from, to) => {
                        if let Ok(text) = fs::read(folder.root().join(NAMES[from])) {
                            folder.write(NAMES[to], text);
                        }
                    }
                    Edit::Switch(branch) => {
                        branches.insert(current, snapshot(&folder));
                        if let Some(files) = branches.get(&branch) {
                            restore(&folder, files);
                        }
                        current = branch;
                    }
                }
            }
            folder.update();
            check(&folder);
        }
    }
}

#[test]
fn only_the_changed_file_is_parsed_again() {
    let folder = Folder::new();
    for number in 0..20 {
        folder.write(&format!("f{number}.rs"), format!("pub fn f{number}() {{}}\n"));
    }
    let first = folder.update();
    assert_eq!((first.parsed, first.files), (20, 20));
    folder.write("f7.rs", "pub fn changed() {}\n");
    let second = folder.update();
    assert_eq!((second.parsed, second.unchanged, second.removed), (1, 19, 0));
    check(&folder);
    let third = folder.update();
    assert_eq!((third.parsed, third.reused, third.unchanged), (0, 0, 20));
}

#[test]
fn a_content_that_was_seen_before_is_not_parsed_again() {
    let folder = Folder::new();
    folder.write("a.rs", "pub fn one() {}\n");
    folder.update();
    folder.write("a.rs", "pub fn two() {}\n");
    folder.write("copy.rs", "pub fn one() {}\n");
    let report = folder.update();
    assert_eq!((report.parsed, report.reused), (1, 1));
    folder.write("a.rs", "pub fn one() {}\n");
    let report = folder.update();
    assert_eq!((report.parsed, report.reused, report.unchanged), (0, 1, 1));
    check(&folder);
}

#[test]
fn times_are_trusted_once_they_are_old_enough() {
    let folder = Folder::new();
    folder.write("a.rs", "pub fn one() {}\n");
    folder.write("b.rs", "pub fn other() {}\n");
    let later = SystemTime::now() + Duration::from_hours(1);
    folder.update_at(later);
    assert!(quorum_index::is_current(folder.index_folder(), folder.root()).expect("it opens"));
    folder.write("a.rs", "pub fn changed_and_longer() {}\n");
    assert!(!quorum_index::is_current(folder.index_folder(), folder.root()).expect("it opens"));
    let report = folder.update_at(later);
    assert_eq!((report.parsed, report.unchanged), (1, 1));
    check(&folder);
    folder.write("new/c.rs", "pub fn third() {}\n");
    assert!(!quorum_index::is_current(folder.index_folder(), folder.root()).expect("it opens"));
}

#[test]
fn what_just_changed_is_read_again() {
    let folder = Folder::new();
    folder.write("a.rs", "pub fn one() {}\n");
    folder.update();
    // The same length, perhaps within one tick of the clock.
    folder.write("a.rs", "pub fn two() {}\n");
    folder.update();
    assert_eq!(folder.open().symbols("a.rs").expect("symbols").symbols[0].name, "two");
}

#[test]
fn many_small_changes_keep_the_index_small_and_right() {
    let folder = Folder::new();
    for number in 0..40_u8 {
        folder.write("a.rs", format!("pub fn alpha() {{ helper({number}) }}\n"));
        folder.update();
    }
    check(&folder);
}

#[test]
fn an_index_that_is_damaged_is_made_anew() {
    let folder = Folder::new();
    folder.write("a.rs", "pub fn one() {}\n");
    folder.update();
    for damage in [&b"not a database"[..], b""] {
        fs::write(folder.index_folder().join("index.db"), damage).expect("it is written");
        drop(fs::remove_file(folder.index_folder().join("index.db-wal")));
        let report = folder.update();
        assert_eq!(report.parsed, 1);
        check(&folder);
    }
}

#[test]
fn two_at_once_do_each_file_once() {
    let folder = Folder::new();
    for number in 0..200 {
        folder.write(&format!("f{number}.rs"), format!("pub fn f{number}() {{}}\n"));
    }
    let parsed: u64 = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| folder.update().parsed)).collect();
        runs.into_iter().map(|run| run.join().expect("it ends well")).sum()
    });
    assert_eq!(parsed, 200);
    check(&folder);
}
