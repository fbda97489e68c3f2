//! Files that nobody would write by hand.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::folder::Folder;

fn reason<'a>(report: &'a quorum_model::symbol::IndexReport, path: &str) -> &'a str {
    let found = report.skipped.iter().find(|file| file.path == path);
    found.map_or("", |file| file.reason.as_str())
}

#[test]
fn the_rest_is_indexed_and_the_cause_is_said() {
    let folder = Folder::new();
    let root = folder.root();
    folder.write("good.rs", "/// Finds the needle.\npub fn needle() {}\n");
    folder.write("deep.json", format!("{}{}", "[".repeat(300_000), "]".repeat(300_000)));
    folder.write("deep.py", format!("{}1{}", "(".repeat(200_000), ")".repeat(200_000)));
    folder.write("deep.js", "function f(){".repeat(50_000));
    folder.write("long.js", "x=1;".repeat(50 << 18));
    folder.write("latin.py", b"def caf\xe9(): pass\ndef plain(): pass\n# \xff\xfe\n");
    folder.write("empty.rs", "");
    folder.write("nul.rs", b"fn a() {}\0\0\0");
    symlink(".", root.join("loop")).expect("a link");
    symlink("/etc/passwd", root.join("outside.rs")).expect("a link");
    symlink("gone", root.join("dangling.rs")).expect("a link");
    let pipe = root.join("pipe.rs");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a pipe");
    let report = folder.update();
    assert_eq!(report.files, 12);
    assert!(reason(&report, "long.js").contains("50.0 MiB is more than"), "{:?}", report.skipped);
    assert!(reason(&report, "pipe.rs").contains("neither a file nor a link"));
    for link in ["loop", "outside.rs", "dangling.rs"] {
        assert!(reason(&report, link).contains("symbolic link"), "{link}: {:?}", report.skipped);
    }
    let index = folder.open();
    assert_eq!(folder.search("finds needle").results[0].path, "good.rs");
    let latin = index.symbols("latin.py").expect("symbols").symbols;
    assert!(latin.iter().any(|symbol| symbol.name == "plain"), "{latin:?}");
    assert!(folder.search("root").results.iter().all(|found| found.path != "outside.rs"));
}

#[test]
fn a_line_that_is_too_long_for_a_chunk_is_found_in_pieces() {
    let folder = Folder::new();
    let words: Vec<String> = (0..20_000).map(|number| format!("word{number}")).collect();
    folder.write("data.txt", words.join(","));
    folder.update();
    let found = folder.search("word19000");
    assert!(found.results[0].content.contains("word19000"), "{}", found.results[0].content);
    assert!(found.results[0].tokens < 2_000);
}

#[test]
fn files_that_change_while_they_are_read_end_up_right() {
    let folder = Folder::new();
    for number in 0..50 {
        folder.write(&format!("f{number}.rs"), "pub fn start() {}\n".repeat(200));
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !done.load(Ordering::Relaxed) {
                round += 1;
                let text = format!("pub fn round{round}() {{}}\n").repeat(1 + round % 300);
                folder.write(&format!("f{}.rs", round % 50), text);
                drop(std::fs::remove_file(folder.root().join(format!("f{}.rs", (round + 7) % 50))));
            }
        });
        for _ in 0..5 {
            folder.update();
        }
        done.store(true, Ordering::Relaxed);
    });
    folder.update();
    let index = folder.open();
    for path in index.paths() {
        let text = std::fs::read_to_string(folder.root().join(&path)).expect("it is there");
        let symbols = index.symbols(&path).expect("symbols").symbols.len();
        assert_eq!(symbols, text.lines().count(), "{path}");
    }
}
