//! The shape of the repository, held against what ARCHITECTURE.md says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose modules still use each other in a circle. A crate leaves this list when it is mended, and
/// none may join it.
const STILL_CIRCULAR: [&str; 12] = [
    "quorum",
    "quorum-consensus",
    "quorum-gates",
    "quorum-index",
    "quorum-llm",
    "quorum-mcp",
    "quorum-model",
    "quorum-rules",
    "quorum-scope",
    "quorum-store",
    "quorum-syntax",
    "quorum-testkit",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).expect("the crates' folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    names
}

/// What a crate depends on of ours, outside of its tests.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
    let section = manifest.split("\n[").find(|part| part.starts_with("dependencies]"));
    let lines = section.expect("every crate depends on something").lines();
    let named = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    named.filter(|word| word.starts_with("quorum-")).map(str::to_owned).collect()
}

/// The rows of the table of crates: what each may depend on.
fn table() -> Vec<(String, BTreeSet<String>)> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let mut rows: Vec<(String, BTreeSet<String>)> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| `quorum")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, _, allowed] = cells.as_slice() else { continue };
        let name = name.trim_start_matches("| ").trim_matches('`').to_owned();
        let allowed = allowed.trim_end_matches(" |");
        let allowed = match allowed {
            "nothing of ours" => BTreeSet::new(),
            "all above" => rows.iter().map(|(name, _)| name.clone()).collect(),
            list => list.split(", ").map(|short| format!("quorum-{short}")).collect(),
        };
        if !rows.iter().any(|(known, _)| *known == name) {
            rows.push((name, allowed));
        }
    }
    rows
}

#[test]
fn every_crate_depends_on_what_the_table_says() {
    let table = table();
    let named: BTreeSet<&str> = table.iter().map(|(name, _)| name.as_str()).collect();
    let there = crates();
    assert_eq!(named, there.iter().map(String::as_str).collect(), "ARCHITECTURE.md's table");
    assert!(there.len() <= 20, "{} crates are more than twenty", there.len());
    for (name, allowed) in &table {
        let used = dependencies(name);
        let more: Vec<_> = used.difference(allowed).collect();
        assert!(more.is_empty(), "{name} depends on {more:?}, which ARCHITECTURE.md does not say");
        let is_list = name != "quorum" && name != "quorum-engine";
        let fewer: Vec<_> = allowed.difference(&used).collect();
        assert!(!is_list || fewer.is_empty(), "{name} does not depend on {fewer:?}");
    }
}

/// The Rust files below `folder`, without those of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// A file's code: without comments, and without the tests at its end.
fn code(path: &Path) -> String {
    let text = read(path);
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_engine_knows_no_terminal_no_process_and_no_signals() {
    let mut files = Vec::new();
    sources(&root().join("crates/quorum-engine/src"), &mut files);
    assert!(files.len() > 30, "the engine is not there");
    for file in files {
        let code = code(&file);
        for word in [
            "clap",
            "indicatif",
            "println!",
            "eprint",
            "std::env",
            "env::var",
            "ctrl_c",
            "stderr()",
            "stdout()",
        ] {
            // The developer's command writes where the user sees it.
            let is_developer = file.ends_with("looping/developer.rs") && word == "stderr()";
            assert!(!code.contains(word) || is_developer, "{}: {word}", file.display());
        }
    }
}

/// Which top modules of a crate each of them uses.
fn modules(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = root().join("crates").join(name).join("src");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let top = |file: &Path| {
        let inside = file.strip_prefix(&folder).expect("inside of the folder");
        let first = inside.components().next().expect("a file");
        first.as_os_str().to_str().expect("UTF-8").trim_end_matches(".rs").to_owned()
    };
    let known: BTreeSet<String> = files.iter().map(|file| top(file)).collect();
    let entrance =
        ["lib.rs", "main.rs"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file());
    let exported = exported(&code(&entrance.expect("a crate has an entrance")), &known);
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in &files {
        let from = top(file);
        if from == "lib" || from == "main" {
            continue;
        }
        let used = graph.entry(from.clone()).or_default();
        for word in words_after(&code(file), "crate::") {
            let module = if known.contains(&word) { Some(&word) } else { exported.get(&word) };
            used.extend(module.filter(|module| **module != from).cloned());
        }
    }
    graph
}

/// The modules that the names come from which a crate's entrance hands on.
fn exported(text: &str, known: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    for statement in text.split("use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let Some((module, names)) = statement.split_once("::") else { continue };
        let module = module.trim().to_owned();
        if known.contains(&module) {
            let names = names.split(|c: char| !c.is_alphanumeric() && c != '_');
            exported.extend(
                names.filter(|name| !name.is_empty()).map(|name| (name.to_owned(), module.clone())),
            );
        }
    }
    exported
}

/// The first names of paths that begin with `prefix`, also of those in braces.
fn words_after(text: &str, prefix: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (start, _) in text.match_indices(prefix) {
        let rest = &text[start + prefix.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut word, mut fresh) = (0_usize, String::new(), true);
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => fresh = true,
                    c if depth == 0 && fresh && (c.is_alphanumeric() || c == '_') => word.push(c),
                    c if depth == 0 && fresh && !c.is_whitespace() => fresh = false,
                    _ => {}
                }
                if !fresh || c == ',' {
                    words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                }
            }
            words.extend((!word.is_empty()).then_some(word));
        } else {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
        }
    }
    words
}

/// What is left when modules that use none of the rest are taken away again and again: the circles, and
/// what uses them.
fn circles(mut graph: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let left: BTreeSet<String> = graph.keys().cloned().collect();
        let before = graph.len();
        graph.retain(|_, used| used.iter().any(|module| left.contains(module)));
        if graph.len() == before {
            return graph;
        }
    }
}

#[test]
fn modules_use_each_other_in_one_direction() {
    for name in crates() {
        let circles = circles(modules(&name));
        let listed = STILL_CIRCULAR.contains(&name.as_str());
        assert!(circles.is_empty() || listed, "{name}: {circles:?}");
        assert!(!circles.is_empty() || !listed, "{name} is mended: take it off the list");
    }
}

#[test]
fn circles_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            graph.entry((*to).to_owned()).or_default();
        }
        graph
    };
    assert!(circles(graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    assert_eq!(circles(graph(&[("a", "b"), ("b", "a"), ("c", "d")])).len(), 2);
    let text = "use crate::{alpha, beta::{x, y}, gamma};\nlet a = crate::delta::f();";
    assert_eq!(words_after(text, "crate::"), ["alpha", "beta", "gamma", "delta"]);
}
