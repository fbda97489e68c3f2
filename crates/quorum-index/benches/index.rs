//! The index at the sizes that it is made for, each beside its goal, and search beside FTS5.
//!
//! The goals, on two cores: a cold index of 1,000 files in 1.5 s and of 1,000,000 lines in 40 s, a
//! run over 10,000 files in which nothing changed in 1 s, the 95th percentile of five-word searches
//! over 100,000 chunks under 25 ms, and never more than 500 MB of memory.
//!
//! `cargo bench -p quorum-index --bench index`, with `quick` for a tenth of the size.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use bstr::{BStr, BString};
use quorum_index::{Class, Counter, Index, IndexError, Query, Tree, Update, update};
use quorum_model::config::Tokenizer;
use rusqlite::Connection;

const WORDS: [&str; 48] = [
    "account", "address", "alpha", "batch", "block", "branch", "buffer", "cache", "chunk",
    "client", "config", "count", "cursor", "delta", "entry", "error", "event", "field", "file",
    "filter", "frame", "graph", "group", "handle", "header", "index", "item", "label", "layer",
    "limit", "line", "merge", "node", "offset", "order", "packet", "parse", "path", "query",
    "queue", "range", "record", "scope", "server", "stream", "symbol", "token", "worker",
];

fn main() {
    let scale = if std::env::args().any(|argument| argument == "quick") { 10 } else { 1 };
    let folder = std::env::temp_dir().join(format!("quorum-index-bench-{}", std::process::id()));
    let later = SystemTime::now() + Duration::from_hours(1);
    cold_and_unchanged(&folder.join("small"), 1000 / scale, 60, "cold, 1,000 files", 1.5, later);
    cold_and_unchanged(&folder.join("many"), 10_000 / scale, 8, "10,000 files", 60.0, later);
    let large = Files::make(&folder.join("large"), 5000 / scale, 200);
    let (time, report) = large.index(later);
    let lines = report.lines;
    row(&format!("cold, {lines} lines"), time, 40.0);
    search(&large, report.chunks);
    let peak = peak_memory();
    println!("{:44} {peak:>9} MB   goal 500 MB", "most memory of all of it");
    drop(fs::remove_dir_all(&folder));
}

fn cold_and_unchanged(
    folder: &Path,
    files: usize,
    lines: usize,
    name: &str,
    goal: f64,
    later: SystemTime,
) {
    let files = Files::make(folder, files, lines);
    row(name, files.index(later).0, goal);
    let (time, report) = files.index(later);
    assert_eq!(report.parsed, 0);
    row(&format!("nothing changed, {} files", report.files), time, 1.0);
}

fn search(files: &Files, chunks: u64) {
    let index = Index::open(&files.index, &files.root).expect("an index");
    let queries: Vec<String> = (0..200).map(five_words).collect();
    let time = |ask: &mut dyn FnMut(&str)| {
        let mut times: Vec<Duration> = queries
            .iter()
            .map(|query| {
                let start = Instant::now();
                ask(query);
                start.elapsed()
            })
            .collect();
        times.sort();
        times[times.len() * 95 / 100]
    };
    let p95 = time(&mut |text| {
        let query = Query { text: text.to_owned(), limit: 10, ..Query::default() };
        assert!(!index.find(&query).expect("it answers").hits.is_empty());
    });
    row(&format!("search, p95 over {chunks} chunks"), p95, 0.025);
    let peer = full_text_search(files);
    let p95 = time(&mut |text| {
        let any = text.split(' ').collect::<Vec<_>>().join(" OR ");
        let sql = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10";
        let mut statement = peer.prepare_cached(sql).expect("a statement");
        let found = statement.query_map([any], |row| row.get::<_, i64>(0)).expect("it answers");
        assert!(found.count() > 0);
    });
    row("the same by FTS5", p95, 0.025);
}

/// The peer: the functions of the same files in the full-text index of `SQLite`.
fn full_text_search(files: &Files) -> Connection {
    let mut connection = Connection::open_in_memory().expect("a database");
    connection.execute_batch("CREATE VIRTUAL TABLE t USING fts5(x, content='')").expect("a table");
    let transaction = connection.transaction().expect("a transaction");
    for path in &files.paths {
        let text = fs::read_to_string(files.root.join(path.to_string())).expect("text");
        for function in text.split("\n\n") {
            let words = function.replace('_', " ");
            transaction.execute("INSERT INTO t(x) VALUES (?)", [words]).expect("a row");
        }
    }
    transaction.commit().expect("it is kept");
    connection
}

fn five_words(seed: usize) -> String {
    (0..5).map(|number| word(seed * 5 + number)).collect::<Vec<_>>().join(" ")
}

/// One of the words, by a number that is stirred first: words in a fixed step leave some out.
fn word(number: usize) -> &'static str {
    WORDS[(number.wrapping_mul(0x9E37_79B9) >> 13) % WORDS.len()]
}

fn row(name: &str, time: Duration, goal: f64) {
    let seconds = time.as_secs_f64();
    println!("{name:44} {:>9.1} ms   goal {:.0} ms", seconds * 1000.0, goal * 1000.0);
}

/// The most memory that this process ever had, in MB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or_default();
    kilobytes / 1024
}

/// Files of Rust with functions of ten lines.
struct Files {
    root: PathBuf,
    index: PathBuf,
    paths: Vec<BString>,
}

impl Files {
    fn make(folder: &Path, count: usize, lines: usize) -> Self {
        let root = folder.join("tree");
        let mut paths = Vec::with_capacity(count);
        for number in 0..count {
            let path = format!("part{}/file{number}.rs", number % 50);
            let target = root.join(&path);
            fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
            fs::write(target, source(number, lines)).expect("a file");
            paths.push(BString::from(path));
        }
        Self { root, index: folder.join("index"), paths }
    }

    fn index(&self, now: SystemTime) -> (Duration, quorum_model::symbol::IndexReport) {
        let counter = Counter::new(Tokenizer::O200k);
        let update_of =
            Update { folder: &self.index, tree: self, counter, only: None, now, watch: &|_| {} };
        let start = Instant::now();
        let report = update(&update_of).expect("it is indexed");
        (start.elapsed(), report)
    }
}

fn source(file: usize, lines: usize) -> String {
    let mut text = String::new();
    for function in 0..lines.div_ceil(10) {
        let seed = file * 97 + function * 13;
        let [a, b, c, d] = [1, 2, 3, 4].map(|number| word(seed * 4 + number));
        _ = write!(
            text,
            "/// Makes the {a} of a {b} ready for the {c}.\npub fn {a}_{b}_{seed}({c}: &str, {d}: usize) -> usize {{\n    let {b} = {c}.len() + {d};\n    if {b} > {seed} {{\n        return {d}_{c}({b}, \"{a}\");\n    }}\n    let {a} = {b} * {d};\n    {a} + {b}\n}}\n\n"
        );
    }
    text
}

impl Tree for Files {
    fn root(&self) -> &Path {
        &self.root
    }

    fn files(&self) -> Result<Vec<BString>, IndexError> {
        Ok(self.paths.clone())
    }

    fn policy(&self) -> Vec<u8> {
        Vec::new()
    }

    fn classify(&self, _: &BStr, content: Vec<u8>) -> (Class, Vec<u8>) {
        (Class { language: Some("Rust".to_owned()), ..Class::default() }, content)
    }

    fn mask(&self, _: &BStr, content: &[u8]) -> Vec<u8> {
        content.to_vec()
    }

    fn branch(&self) -> Option<String> {
        None
    }

    fn revision(&self) -> Option<String> {
        None
    }
}
