//! Symbols beside those that universal-ctags finds.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use quorum_syntax::outline::{Reader, outline};
use quorum_syntax::{Lang, Limits};
use serde_json::Value;

/// As many differences of a language and kind are shown.
const SHOWN: usize = 12;

/// What is compared, in the words of ctags: functions, methods, types and classes.
fn kinds(language: &str) -> Option<(&'static [Lang], &'static [&'static str])> {
    Some(match language {
        "Go" => (&[Lang::Go], &["func", "struct", "interface", "type", "methodSpec"]),
        "Rust" => {
            (&[Lang::Rust], &["function", "method", "struct", "enum", "interface", "typedef"])
        }
        "Python" => (&[Lang::Python], &["class", "function", "member"]),
        "TypeScript" => (
            &[Lang::TypeScript, Lang::Tsx],
            &["function", "class", "interface", "enum", "method", "alias", "generator"],
        ),
        "Java" => (&[Lang::Java], &["class", "interface", "enum", "method", "annotation"]),
        _ => return None,
    })
}

/// Functions and methods with a body, in the words of ctags, for every language in which rules
/// follow values.
fn functions(language: &str) -> Option<(&'static [Lang], &'static [&'static str])> {
    Some(match language {
        "Go" => (&[Lang::Go], &["func"]),
        "Rust" => (&[Lang::Rust], &["function", "method"]),
        "Python" => (&[Lang::Python], &["function", "member"]),
        "JavaScript" => (&[Lang::JavaScript], &["function", "method", "generator"]),
        "TypeScript" => (&[Lang::TypeScript, Lang::Tsx], &["function", "method", "generator"]),
        "Java" => (&[Lang::Java], &["method"]),
        "PHP" => (&[Lang::Php], &["function"]),
        "Ruby" => (&[Lang::Ruby], &["method", "singletonMethod"]),
        "C" => (&[Lang::C], &["function"]),
        "C++" => (&[Lang::Cpp], &["function"]),
        "C#" => (&[Lang::CSharp], &["method"]),
        "Kotlin" => (&[Lang::Kotlin], &["method"]),
        "Sh" => (&[Lang::Bash], &["function"]),
        _ => return None,
    })
}

/// What of ctags' list is compared.
type Kinds = fn(&str) -> Option<(&'static [Lang], &'static [&'static str])>;

/// Compares the symbols of every file of the repositories, and lists where they differ.
pub(crate) fn run(repositories: &[String]) -> Result<()> {
    differences(repositories, kinds, false)
}

/// Counts the functions that a parser sees against those that ctags finds by reading lines.
pub(crate) fn count_functions(repositories: &[String]) -> Result<()> {
    differences(repositories, functions, true)
}

fn differences(repositories: &[String], kinds: Kinds, by_node: bool) -> Result<()> {
    if repositories.is_empty() {
        bail!("name one repository or more: cargo xtask ctags REPO…");
    }
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut misses: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for repository in repositories {
        compare(Path::new(repository), (kinds, by_node), &mut counts, &mut misses)?;
    }
    for ((language, kind), places) in &misses {
        println!("{language}: {} of kind {kind} are in ctags' list alone", places.len());
        for place in places.iter().take(SHOWN) {
            println!("    {place}");
        }
    }
    let mut enough = true;
    for (language, (all, same)) in &counts {
        let share = crate::percent(*same, *all);
        println!("{language:12} {same:>7} of {all:>7} on the same line: {share:.2} %");
        enough &= share >= 95.0;
    }
    if !enough {
        bail!("at least 95 % are wanted for each language");
    }
    Ok(())
}

/// Whether what ctags calls a function is none: parameters of lambdas in Kotlin, arrays in shells.
fn is_none(language: &str, name: &str, tag: &Value) -> bool {
    let line = tag["pattern"].as_str().unwrap_or_default();
    match language {
        "Kotlin" => !line.split_whitespace().any(|word| word.trim_start_matches("/^") == "fun"),
        "Sh" => name.ends_with('='),
        _ => false,
    }
}

fn compare(
    root: &Path,
    (kinds, by_node): (Kinds, bool),
    counts: &mut BTreeMap<String, (usize, usize)>,
    misses: &mut BTreeMap<(String, String), Vec<String>>,
) -> Result<()> {
    let listed = crate::output(crate::command("git").arg("-C").arg(root).args(["ls-files", "-z"]))?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let compared = |path: &&str| {
        let data = [Lang::Json, Lang::Yaml, Lang::Hcl];
        Lang::from_path(path).is_some_and(|lang| !data.contains(&lang))
            && root.join(path).symlink_metadata().is_ok_and(|found| found.is_file())
    };
    let files: Vec<&str> =
        listed.split('\0').filter(|path| !path.is_empty()).filter(compared).collect();
    let mut own: HashMap<String, Own> = HashMap::new();
    let mut imported = 0;
    for tag in ctags(root, &files)? {
        let text = |key: &str| tag[key].as_str().unwrap_or_default().to_owned();
        let (language, kind, path, name) =
            (text("language"), text("kind"), text("path"), text("name"));
        let Some((languages, wanted)) = kinds(&language) else { continue };
        let Some(lang) = Lang::from_path(&path).filter(|lang| languages.contains(lang)) else {
            continue;
        };
        // Names that ctags makes up for what has none.
        let anonymous = ["__anon", "anonymous", "AnonymousFunction", "<"]
            .iter()
            .any(|own| name.starts_with(own));
        if !wanted.contains(&kind.as_str()) || anonymous || is_none(&language, &name, &tag) {
            continue;
        }
        if !own.contains_key(&path) {
            own.insert(path.clone(), symbols(&root.join(&path), lang)?);
        }
        let line = tag["line"].as_u64().unwrap_or_default();
        // `import { type X }` is no declaration, whatever ctags takes it for.
        if own[&path].imports.iter().any(|lines| lines.contains(&line)) {
            imported += 1;
            continue;
        }
        // A function need not be a symbol: what counts is that the parser sees it.
        let named = own[&path].symbols.contains(&(name.clone(), line));
        let same = named || (by_node && own[&path].functions.contains(&line));
        let count = counts.entry(language.clone()).or_default();
        count.0 += 1;
        count.1 += usize::from(same);
        if !same {
            misses.entry((language, kind)).or_default().push(format!("{path}:{line} {name}"));
        }
    }
    if imported > 0 {
        println!(
            "{}: {imported} left out: ctags takes names in import lists for types",
            root.display()
        );
    }
    Ok(())
}

/// What Quorum finds in a file.
struct Own {
    symbols: BTreeSet<(String, u64)>,
    /// The lines on which functions begin, or have their names.
    functions: BTreeSet<u64>,
    /// The lines of import and export lists.
    imports: Vec<std::ops::RangeInclusive<u64>>,
}

fn symbols(path: &Path, lang: Lang) -> Result<Own> {
    let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let found = outline(&text, Reader::Tree(lang), Limits::default()).unwrap_or_default();
    let symbols =
        found.declarations.into_iter().map(|found| (found.name, u64::from(found.line))).collect();
    let mut imports = Vec::new();
    if matches!(lang, Lang::TypeScript | Lang::Tsx)
        && let Ok(tree) = quorum_syntax::parse(&text, lang)
    {
        let mut cursor = tree.walk();
        for node in tree.root_node().named_children(&mut cursor) {
            let list = node.kind() == "import_statement"
                || (node.kind() == "export_statement"
                    && node.named_child(0).is_some_and(|child| child.kind() == "export_clause"));
            if list {
                let line = |row: usize| row as u64 + 1;
                imports.push(line(node.start_position().row)..=line(node.end_position().row));
            }
        }
    }
    Ok(Own { symbols, functions: function_lines(&text, lang), imports })
}

fn function_lines(text: &[u8], lang: Lang) -> BTreeSet<u64> {
    let mut lines = BTreeSet::new();
    let Ok(tree) = quorum_syntax::parse(text, lang) else { return lines };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let kind = node.kind();
        if node.is_named() && ["function", "method", "arrow"].iter().any(|own| kind.contains(own)) {
            lines.insert(node.start_position().row as u64 + 1);
            if let Some(name) = node.child_by_field_name("name") {
                lines.insert(name.start_position().row as u64 + 1);
            }
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return lines;
            }
        }
    }
}

fn ctags(root: &Path, files: &[&str]) -> Result<Vec<Value>> {
    let mut child = crate::command("ctags")
        .current_dir(root)
        .args(["--options=NONE", "--output-format=json", "--fields=NFnKlP", "-L", "-", "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting ctags: install the package universal-ctags")?;
    let input = files.join("\n");
    let mut stdin = child.stdin.take().context("a pipe")?;
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().context("reading ctags' answer")?;
    drop(writer.join());
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
