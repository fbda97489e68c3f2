//! How well search finds a function by the comment that documents it.
//!
//! Of every function with a comment, the comment is taken out of the text before that is indexed,
//! and is then the query. What counts is whether the function is among the first ten results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use bstr::{BStr, BString};
use quorum_index::{Class, Counter, Embedder, Index, IndexError, Query, Sending, Tree, Update};
use quorum_model::config::{EmbeddingsConfig, Tokenizer};
use quorum_syntax::outline::{Reader, outline};
use quorum_syntax::{Lang, Limits};

/// Shorter comments say too little to find anything by.
const FEWEST_WORDS: usize = 4;
/// As many words of a comment are asked.
const MOST_WORDS: usize = 64;
/// As many functions of one repository are asked for, spread over all of them.
const MOST_QUESTIONS: usize = 2000;

/// A function and the comment that was above it.
struct Question {
    path: String,
    name: String,
    line: u32,
    comment: String,
}

/// Measures every repository and prints the shares.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut repositories = Vec::new();
    let mut config = EmbeddingsConfig::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--model" => {
                config.model_dir = Some(arguments.next().context("--model FOLDER")?.clone());
            }
            "--url" => config.url = Some(arguments.next().context("--url ADDRESS")?.clone()),
            other => repositories.push(PathBuf::from(other)),
        }
    }
    if repositories.is_empty() {
        bail!(
            "name one repository or more: cargo xtask retrieval [--model FOLDER | --url ADDRESS] REPO…"
        );
    }
    // The repositories are public, and the address is the caller's.
    let sending = Sending { key: None, redact: str::to_owned };
    let embedder = Embedder::open(&config, Some(sending))?;
    println!(
        "{:24} {:>9} {:>9} {:>7} {:>7} {:>7} {:>9}",
        "", "questions", "chunks", "first", "ten", "fused", "p95"
    );
    let (mut asked, mut found_ten, mut found_fused) = (0, 0, 0);
    for repository in &repositories {
        let result = measure(repository, embedder.as_ref())?;
        asked += result.asked;
        found_ten += result.ten;
        found_fused += result.fused;
        println!("{}", result.line(&repository.display().to_string(), embedder.is_some()));
    }
    let share = |found: usize| crate::percent(found, asked);
    println!("all: {:.1} % of {asked} in the first ten by words alone", share(found_ten));
    if embedder.is_some() {
        println!("all: {:.1} % with embeddings", share(found_fused));
    }
    if share(found_ten) < 60.0 {
        bail!("at least 60 % are wanted");
    }
    Ok(())
}

#[derive(Default)]
struct Measured {
    asked: usize,
    chunks: usize,
    first: usize,
    ten: usize,
    fused: usize,
    times: Vec<Duration>,
}

impl Measured {
    fn line(mut self, name: &str, fused: bool) -> String {
        let share = |found: usize| format!("{:.1} %", crate::percent(found, self.asked));
        self.times.sort();
        let p95 = self.times.get(self.times.len() * 95 / 100).copied().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or(name);
        let fused = if fused { share(self.fused) } else { "-".to_owned() };
        let time = format!("{:.1} ms", p95.as_secs_f64() * 1000.0);
        format!(
            "{name:24} {:>9} {:>9} {:>7} {:>7} {fused:>7} {time:>9}",
            self.asked,
            self.chunks,
            share(self.first),
            share(self.ten)
        )
    }
}

fn measure(repository: &Path, embedder: Option<&Embedder>) -> Result<Measured> {
    let folder = tempfile::tempdir().context("a folder for the copy")?;
    let (tree, questions) = copy(repository, &folder.path().join("tree"))?;
    let at = folder.path().join("index");
    let update = Update {
        folder: &at,
        tree: &tree,
        counter: Counter::new(Tokenizer::Chars4),
        only: None,
        now: SystemTime::now(),
        watch: &|_| {},
    };
    let report = quorum_index::update(&update)?;
    if let Some(embedder) = embedder {
        quorum_index::embed(&at, &tree.root, embedder, &|_, content| content.to_vec(), &|_| {})?;
    }
    let index = Index::open(&at, &tree.root)?;
    let mut result = Measured {
        asked: questions.len(),
        chunks: usize::try_from(report.chunks)?,
        ..Measured::default()
    };
    for question in &questions {
        let query = Query { text: question.comment.clone(), limit: 10, ..Query::default() };
        let start = Instant::now();
        let found = index.find(&query)?;
        result.times.push(start.elapsed());
        let is_it = |hit: &quorum_index::Hit| {
            let named = hit.symbol.as_ref().is_some_and(|symbol| symbol.name == question.name);
            hit.path == question.path
                && named
                && (hit.start_line..=hit.end_line).contains(&question.line)
        };
        let place = found.hits.iter().position(is_it);
        result.first += usize::from(place == Some(0));
        result.ten += usize::from(place.is_some());
        if let Some(embedder) = embedder {
            let found = index.find_by_meaning(&query, embedder)?;
            result.fused += usize::from(found.hits.iter().any(is_it));
        }
    }
    Ok(result)
}

/// Copies the code of a repository without the comments that become questions.
fn copy(repository: &Path, to: &Path) -> Result<(Copied, Vec<Question>)> {
    let listed =
        crate::output(crate::command("git").arg("-C").arg(repository).args(["ls-files", "-z"]))?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut files = Vec::new();
    let mut all: Vec<Question> = Vec::new();
    for path in listed.split('\0').filter(|path| !path.is_empty()) {
        let Some(lang) = Lang::from_path(path) else { continue };
        let Ok(text) = fs::read(repository.join(path)) else { continue };
        if text.len() > 1 << 20 {
            continue;
        }
        let (text, questions) = without_comments(path, &text, lang);
        all.extend(questions);
        let target = to.join(path);
        fs::create_dir_all(target.parent().context("a folder")?)?;
        fs::write(&target, text)?;
        files.push(BString::from(path));
    }
    let step = all.len().div_ceil(MOST_QUESTIONS).max(1);
    let questions = all.into_iter().step_by(step).collect();
    Ok((Copied { root: to.to_owned(), files }, questions))
}

fn without_comments(path: &str, text: &[u8], lang: Lang) -> (Vec<u8>, Vec<Question>) {
    let Ok(found) = outline(text, Reader::Tree(lang), Limits::default()) else {
        return (text.to_vec(), Vec::new());
    };
    let mut blank: BTreeMap<u32, bool> = BTreeMap::new();
    let mut questions = Vec::new();
    for declared in found.declarations {
        let (Some(doc), Some(lines)) = (declared.doc, declared.doc_lines) else { continue };
        let words: Vec<&str> = doc.split_whitespace().take(MOST_WORDS).collect();
        // A comment on the line of the code cannot be taken out by lines.
        let apart = declared.line < lines.start || declared.line >= lines.end;
        if !declared.kind.is_callable() || words.len() < FEWEST_WORDS || !apart {
            continue;
        }
        blank.extend(lines.map(|line| (line, true)));
        questions.push(Question {
            path: path.to_owned(),
            name: declared.name,
            line: declared.line,
            comment: words.join(" "),
        });
    }
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let kept = (1_u32..)
        .zip(lines)
        .map(|(number, line)| if blank.contains_key(&number) { &b"\n"[..] } else { line });
    (kept.collect::<Vec<_>>().concat(), questions)
}

/// A copy of a repository's code.
struct Copied {
    root: PathBuf,
    files: Vec<BString>,
}

impl Tree for Copied {
    fn root(&self) -> &Path {
        &self.root
    }

    fn files(&self) -> Result<Vec<BString>, IndexError> {
        Ok(self.files.clone())
    }

    fn policy(&self) -> Vec<u8> {
        Vec::new()
    }

    fn classify(&self, path: &BStr, content: Vec<u8>) -> (Class, Vec<u8>) {
        let path = path.to_string();
        let language = Lang::from_path(&path).map(|lang| lang.name().to_owned());
        let aside = path.contains("test") || path.contains("example") || path.contains("bench");
        (Class { language, aside, ..Class::default() }, content)
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
