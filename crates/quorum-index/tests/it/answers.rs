//! What an index answers.

use quorum_index::{
    ContentMode, Counter, GrepQuery, IndexError, Pattern, Presentation, Query, grep,
};
use quorum_model::config::Tokenizer;
use quorum_model::search::{SearchKind, SearchMethod};
use quorum_model::symbol::Certainty;

use crate::folder::{Folder, presentation};

fn sample() -> Folder {
    let folder = Folder::new();
    folder.write(
        "src/config.rs",
        "//! Configuration.\nuse crate::file::read_whole;\n\n/// Where values come from.\npub struct Config {\n    /// How often to try again.\n    pub retries: u32,\n}\n\nimpl Config {\n    /// Loads the configuration from a file on disk.\n    pub fn load(path: &str) -> Self {\n        let text = read_whole(path);\n        Self::parse(&text)\n    }\n\n    fn parse(text: &str) -> Self {\n        Config { retries: text.len() as u32 }\n    }\n}\n",
    );
    folder.write(
        "src/file.rs",
        "/// Reads a whole file.\npub fn read_whole(path: &str) -> String {\n    std::fs::read_to_string(path).unwrap_or_default()\n}\n\npub fn parse(text: &str) {}\n",
    );
    folder.write("src/main.rs", "mod config;\nmod file;\n\nfn main() {\n    config::Config::load(\"x\");\n    file::read_whole(\"y\");\n}\n");
    folder.write("docs/guide.md", "# Guide\n\nHow to set it up.\n\n## Configuration file\n\nWhere it is.\n\n```sh\n# Configuration file\nquorum config\n```\n\n## Retries\n\nHow often.\n");
    folder.update();
    folder
}

fn first(folder: &Folder, query: &str) -> String {
    let found = folder.search(query);
    let first = found.results.first().expect("something matches");
    format!("{}:{} {}", first.path, first.start_line, first.symbol.as_deref().unwrap_or("-"))
}

#[test]
fn names_come_first_whole_or_in_parts_or_begun() {
    let folder = sample();
    assert_eq!(first(&folder, "Config"), "src/config.rs:4 Config");
    assert_eq!(first(&folder, "readWhole"), "src/file.rs:1 read_whole");
    assert_eq!(first(&folder, "read whole"), "src/file.rs:1 read_whole");
    assert_eq!(first(&folder, "read_wh"), "src/file.rs:1 read_whole");
    assert_eq!(first(&folder, "Config::parse"), "src/config.rs:17 Config.parse");
    assert_eq!(first(&folder, "config.load()"), "src/config.rs:11 Config.load");
}

#[test]
fn words_find_what_they_describe() {
    let folder = sample();
    assert_eq!(first(&folder, "loading configurations from disk"), "src/config.rs:11 Config.load");
    assert_eq!(first(&folder, "how often to retry"), "docs/guide.md:14 Guide.Retries");
}

#[test]
fn filters_narrow_and_wrong_ones_are_named() {
    let folder = sample();
    let index = folder.open();
    let find = |change: &dyn Fn(&mut Query)| {
        let mut query =
            Query { text: "configuration file".to_owned(), limit: 20, ..Query::default() };
        change(&mut query);
        index.find(&query)
    };
    let found = find(&|query| query.paths = vec!["docs/".to_owned()]).expect("it answers");
    assert!(!found.hits.is_empty() && found.hits.iter().all(|hit| hit.path == "docs/guide.md"));
    let found = find(&|query| query.languages = vec!["rs".to_owned()]).expect("it answers");
    assert!(!found.hits.is_empty() && found.hits.iter().all(|hit| hit.path.ends_with(".rs")));
    let found = find(&|query| query.kind = Some(SearchKind::Chunk)).expect("it answers");
    assert!(!found.hits.is_empty() && found.hits.iter().all(|hit| hit.kind == SearchKind::Chunk));
    let error = find(&|query| query.languages = vec!["cobol".to_owned()]).expect_err("no such");
    assert_eq!(error.hint().as_deref(), Some("there are Markdown, Rust"));
    let error = find(&|query| query.paths = vec!["[".to_owned()]).expect_err("no pattern");
    assert!(matches!(error, IndexError::BadPattern { .. }));
}

#[test]
fn answers_fit_the_budget_by_saying_less_of_each() {
    let folder = sample();
    let index = folder.open();
    let query = Query { text: "configuration".to_owned(), limit: 10, ..Query::default() };
    let counter = Counter::new(Tokenizer::Chars4);
    for budget in [0, 5, 20, 50, 100, 1000] {
        let how = Presentation { budget: Some(budget), counter, ..presentation(ContentMode::Full) };
        let found = index.find(&query).expect("it answers");
        let (all, more) = (found.hits.len() as u64, found.more);
        let (results, _) = index.present("configuration", found, &how, SearchMethod::Words);
        assert!(results.tokens <= budget);
        assert_eq!(results.tokens, results.results.iter().map(|found| found.tokens).sum::<u64>());
        assert_eq!(results.results.len() as u64 + results.left_out, all + more);
    }
}

#[test]
fn one_content_under_two_names_is_one_result() {
    let folder = sample();
    folder.write("old/file.rs", std::fs::read(folder.root().join("src/file.rs")).expect("text"));
    folder.update();
    let found = folder.search("reads a whole file");
    let places: Vec<_> = found.results.iter().filter(|r| r.path.ends_with("file.rs")).collect();
    assert_eq!(places[0].path, "old/file.rs");
    assert_eq!(places[0].also_in, ["src/file.rs"]);
    let mut spans: Vec<_> =
        found.results.iter().map(|r| (r.path.clone(), r.start_line, r.end_line)).collect();
    spans.sort();
    spans.dedup();
    assert_eq!(spans.len(), found.results.len());
}

#[test]
fn callers_are_told_from_namesakes() {
    let folder = sample();
    let index = folder.open();
    let callers = index.callers("read_whole").expect("it is known");
    let shown: Vec<String> = callers
        .callers
        .iter()
        .map(|call| {
            format!("{}:{} {}", call.path, call.line, call.caller.clone().unwrap_or_default())
        })
        .collect();
    assert_eq!(shown, ["src/config.rs:13 Config.load", "src/main.rs:6 main"]);
    assert!(callers.callers.iter().all(|call| call.certainty == Certainty::Likely));
    let callers = index.callers("Config::parse").expect("it is known");
    assert_eq!(callers.definitions.len(), 1);
    assert_eq!(callers.callers.len(), 1);
    let error = index.callers("read_hole").expect_err("it is not known");
    assert_eq!(error.hint().as_deref(), Some("did you mean `read_whole`?"));
}

#[test]
fn what_a_file_depends_on_is_found_in_the_tree() {
    let folder = sample();
    let references = folder.open().references("src/config.rs").expect("it is known");
    assert_eq!(references.imports[0].module, "crate::file::read_whole");
    assert_eq!(references.imports[0].files, ["src/file.rs"]);
    let used: Vec<_> = references.uses.iter().map(|used| used.name.as_str()).collect();
    assert_eq!(used, ["read_whole"]);
}

#[test]
fn a_summary_and_a_map_fit_their_budget() {
    let folder = sample();
    let index = folder.open();
    let counter = Counter::new(Tokenizer::Chars4);
    let summary = index.summary("src/config.rs", None, counter).expect("it is known");
    assert_eq!(
        summary.text,
        "    5 pub struct Config\n   12   pub fn load(path: &str) -> Self\n   17   fn parse(text: &str) -> Self\n"
    );
    let short = index.summary("src/config.rs", Some(20), counter).expect("it is known");
    assert!(short.tokens <= 20 && short.left_out > 0 && !short.text.contains("parse"));
    for budget in [0, 10, 40, 400] {
        let map = index.map(budget, counter).expect("a map");
        assert!(map.tokens <= budget, "{} > {budget}", map.tokens);
    }
    let map = index.map(400, counter).expect("a map");
    assert_eq!(map.symbols[0].name, "read_whole");
}

#[test]
fn text_and_expressions_are_found_without_an_index() {
    let folder = Folder::new();
    folder.write("a.rs", "fn a() {}\nfn b(x: &str) {}\n// f(x.y)\n");
    folder.write("b.bin", b"fn\0a");
    folder.write("c.py", "# f(x.y) F(X.Y)\n");
    let how = presentation(ContentMode::Minimal);
    let run = |pattern: Pattern, query: &GrepQuery| {
        let results = grep(&folder, &pattern, query, &how).expect("it answers");
        let shown = results.results.iter().map(|r| format!("{}:{}", r.path, r.start_line));
        (shown.collect::<Vec<_>>(), results.left_out)
    };
    let all = GrepQuery { limit: 10, ..GrepQuery::default() };
    let exact = Pattern::exact("f(x.y)", false).expect("a pattern");
    assert_eq!(run(exact.clone(), &all), (vec!["a.rs:3".to_owned(), "c.py:1".to_owned()], 0));
    assert_eq!(run(exact, &GrepQuery { limit: 1, ..all.clone() }).1, 1);
    let regex = Pattern::regex(r"^fn \w+\(", false).expect("a pattern");
    assert_eq!(run(regex, &all).0, ["a.rs:1", "a.rs:2"]);
    let python = GrepQuery { languages: vec!["python".to_owned()], ..all.clone() };
    assert_eq!(run(Pattern::exact("F(x.Y)", true).expect("a pattern"), &python).0, ["c.py:1"]);
    assert!(Pattern::regex("(", false).is_err() && Pattern::exact("", false).is_err());
}

#[test]
fn chunks_follow_the_structure_of_a_text() {
    let folder = Folder::new();
    let method =
        |name: &str| format!("    def {name}(self):\n{}", "        value = compute()\n".repeat(60));
    let large = format!(
        "class Large:\n    \"\"\"Doc.\"\"\"\n\n{}\n{}\n{}",
        method("one"),
        method("two"),
        method("three")
    );
    folder.write("large.py", &large);
    folder.write(
        "small.py",
        "import os\n\nclass Small:\n    def one(self): pass\n\n    def two(self): pass\n",
    );
    let fence =
        format!("# Title\n\ntext\n\n```\n{}```\n\nend\n", "# line in a fence\n\n".repeat(600));
    folder.write("fence.md", &fence);
    folder.update();
    let index = folder.open();
    let spans = |path: &str| index.chunk_spans(path).expect("chunks");
    assert_eq!(spans("small.py"), [(1, 1), (3, 6)]);
    let spans_of_large = spans("large.py");
    let methods: Vec<(u32, u32)> = index
        .symbols("large.py")
        .expect("symbols")
        .symbols
        .iter()
        .filter(|symbol| symbol.container.is_some())
        .map(|symbol| {
            (
                u32::try_from(symbol.start_line).expect("small"),
                u32::try_from(symbol.end_line).expect("small"),
            )
        })
        .collect();
    assert_eq!(methods.len(), 3);
    assert!(methods.iter().all(|span| spans_of_large.contains(span)), "{spans_of_large:?}");
    let inside = |at: u32| (6..=1205).contains(&at);
    assert!(spans("fence.md").iter().all(|(start, _)| !inside(*start)), "{:?}", spans("fence.md"));
}
