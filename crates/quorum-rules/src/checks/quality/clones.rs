//! Added code that the repository already has.

use std::collections::{HashMap, HashSet};

use quorum_model::scope::{FileKind, Flag};
use quorum_model::severity::Severity;
use quorum_syntax::Lang;

use super::AGENT;
use crate::checks::facts::FileFacts;
use crate::checks::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::{ParsedFile, Side, Sources};

pub(crate) const RULE: CodeRule = CodeRule {
    id: "quality.clone",
    agent: AGENT,
    category: "duplication",
    severity: Severity::Low,
    confidence: 0.65,
};

/// Tokens that are compared at once.
const WINDOW: usize = 50;
/// Fewer tokens or lines in a row are alike by chance.
const TOKENS: usize = 70;
const LINES: u64 = 10;
/// From here on it is a passage that will be changed in one place and forgotten in the other.
const MANY_LINES: u64 = 25;
/// Limits on what is read and kept for one change.
const MOST_FILES: usize = 300;
const MOST_BYTES: usize = 3 * 1024 * 1024;
const MOST_WINDOWS: usize = 4000;

/// The windows of added code of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct CloneFacts {
    windows: Vec<Window>,
}

/// Tokens in a row.
#[derive(Clone, Copy, Debug)]
struct Window {
    hash: u64,
    /// The number of its first token in the file.
    token: usize,
    first: u64,
    last: u64,
}

impl CloneFacts {
    pub(crate) fn of(file: &ParsedFile) -> Self {
        let entry = &file.source.entry;
        let Some(added) = file.source.added.as_ref().filter(|added| !added.is_empty()) else {
            return Self::default();
        };
        let is_code = entry.kind == FileKind::Code && file.lang.is_some_and(is_compared);
        if !is_code
            || entry.has(Flag::Test)
            || crate::checks::is_foreign(file)
            || is_left_out(file.path())
        {
            return Self::default();
        }
        let Some(lang) = file.lang else { return Self::default() };
        let all = windows(file.text(), lang, |first, last, tokens| {
            (first..=last).all(|line| added.contains(line)) && is_telling(tokens)
        });
        Self { windows: all.into_iter().take(MOST_WINDOWS).collect() }
    }
}

fn is_compared(lang: Lang) -> bool {
    crate::checks::functions::shape(lang).is_some()
        || matches!(
            lang,
            Lang::CSharp | Lang::Kotlin | Lang::Php | Lang::Ruby | Lang::C | Lang::Cpp
        )
}

/// Repetition in tests, examples and generated tables is meant to be there.
fn is_left_out(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.split('/').any(|part| {
        part.contains("test")
            || part.contains("example")
            || matches!(
                part,
                "benches"
                    | "benchmarks"
                    | "fixtures"
                    | "vendor"
                    | "node_modules"
                    | "spec"
                    | "docs"
                    | "generated"
                    | "dist"
            )
    }) || lower.contains(".min.")
        || lower.contains(".spec.")
        || lower.contains("_generated")
}

/// What the whole change shows.
pub(crate) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    let mut known: HashMap<u64, (usize, usize)> = HashMap::new();
    let mut langs: HashSet<Lang> = HashSet::new();
    for (number, file) in files.iter().enumerate() {
        for (at, window) in file.clones.windows.iter().enumerate() {
            known.entry(window.hash).or_insert((number, at));
        }
        langs.extend(file.lang.filter(|_| !file.clones.windows.is_empty()));
    }
    if known.is_empty() {
        return;
    }
    let mut best: HashMap<usize, Match> = HashMap::new();
    let mut bytes = 0;
    for path in candidates(files, &langs, sources) {
        let Some(text) = sources.read(path, Side::Head) else { continue };
        bytes += text.len();
        if bytes > MOST_BYTES {
            break;
        }
        search(path, &text, files, &known, &mut best);
    }
    let mut numbers: Vec<usize> = best.keys().copied().collect();
    numbers.sort_unstable();
    for number in numbers {
        findings.extend(report(&files[number], &best[&number], sources));
    }
}

/// Where to look: the folders of the change first, then the rest.
fn candidates<'s>(
    files: &[FileFacts],
    langs: &HashSet<Lang>,
    sources: &'s dyn Sources,
) -> Vec<&'s str> {
    let folder =
        |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let near: HashSet<String> = files
        .iter()
        .filter(|file| !file.clones.windows.is_empty())
        .map(|file| folder(file.path()))
        .collect();
    let fits = |path: &&String| {
        Lang::from_path(path).is_some_and(|lang| langs.contains(&lang)) && !is_left_out(path)
    };
    let (mut first, rest): (Vec<&str>, Vec<&str>) = sources
        .paths()
        .iter()
        .filter(fits)
        .map(String::as_str)
        .partition(|path| near.contains(&folder(path)));
    first.extend(rest);
    first.truncate(MOST_FILES);
    first
}

/// The longest passage of a file that is found elsewhere.
#[derive(Debug)]
struct Match {
    tokens: usize,
    first: u64,
    last: u64,
    path: String,
    there: (u64, u64),
}

fn search(
    path: &str,
    text: &str,
    files: &[FileFacts],
    known: &HashMap<u64, (usize, usize)>,
    best: &mut HashMap<usize, Match>,
) {
    // The passage that the last windows belong to: file, its last window, and the match so far.
    let mut run: Option<(usize, usize, usize, Match)> = None;
    // What was added is telling, so what is equal to it is too.
    let Some(lang) = Lang::from_path(path) else { return };
    for window in windows(text, lang, |_, _, _| true) {
        let hit = known.get(&window.hash).copied().filter(|&(number, at)| {
            let added = &files[number].clones.windows[at];
            !(files[number].path() == path
                && added.first <= window.last
                && window.first <= added.last)
        });
        let Some((number, at)) = hit else {
            run = None;
            continue;
        };
        let added = files[number].clones.windows[at];
        run = match run.take() {
            Some((last_number, last_at, last_token, mut passage))
                if last_number == number && at == last_at + 1 && added.token == last_token + 1 =>
            {
                passage.tokens += 1;
                passage.last = added.last;
                passage.there.1 = window.last;
                Some((number, at, added.token, passage))
            }
            _ => Some((
                number,
                at,
                added.token,
                Match {
                    tokens: WINDOW,
                    first: added.first,
                    last: added.last,
                    path: path.to_owned(),
                    there: (window.first, window.last),
                },
            )),
        };
        if let Some((_, _, _, passage)) = &run
            && passage.tokens >= TOKENS
            && passage.last - passage.first + 1 >= LINES
            && !meets_itself(files[number].path(), passage)
            && best.get(&number).is_none_or(|longest| longest.tokens < passage.tokens)
        {
            let copy = Match { path: passage.path.clone(), ..*passage };
            best.insert(number, copy);
        }
    }
}

/// A pattern that repeats is found one step further in itself.
fn meets_itself(path: &str, passage: &Match) -> bool {
    passage.path == path && passage.first <= passage.there.1 && passage.there.0 <= passage.last
}

fn report(file: &FileFacts, found: &Match, sources: &dyn Sources) -> Option<RuleFinding> {
    let text = sources.read(file.path(), Side::Head)?;
    let row = usize::try_from(found.first - 1).unwrap_or_default();
    let quote: Vec<&str> = text.lines().skip(row).take(3).collect();
    let lines = found.last - found.first + 1;
    let issue = format!(
        "{lines} lines are the same as `{}` from line {} to {}. What is mended in one place will be forgotten in the other.",
        found.path, found.there.0, found.there.1
    );
    let mut finding = RULE.on(
        file.path(),
        (found.first, found.first + quote.len() as u64 - 1),
        quote.join("\n"),
        issue,
        "Call the code that exists, or move what both need into a function.",
    );
    if lines >= MANY_LINES {
        finding.severity = Severity::Medium;
    }
    Some(finding)
}

/// The windows of a text that satisfy `keep`, by their first and last line and their tokens.
fn windows(text: &str, lang: Lang, keep: impl Fn(u64, u64, &[Token]) -> bool) -> Vec<Window> {
    let tokens = tokens(without_tests(text, lang));
    let mut found = Vec::new();
    for (at, window) in tokens.windows(WINDOW).enumerate() {
        let (first, last) = (window[0].line, window[WINDOW - 1].line);
        if keep(first, last, window) {
            let hash = window.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, token| {
                (hash.rotate_left(5) ^ token.hash).wrapping_mul(0x0100_0000_01b3)
            });
            found.push(Window { hash, token: at, first, last });
        }
    }
    found
}

/// Rust keeps tests at the end of the file that they test.
fn without_tests(text: &str, lang: Lang) -> &str {
    let end = (lang == Lang::Rust).then(|| text.find("\n#[cfg(test)]")).flatten();
    end.map_or(text, |end| &text[..end])
}

/// Data and lists of imports are not code that somebody would move into a function.
fn is_telling(window: &[Token]) -> bool {
    let calls = window.iter().filter(|token| token.opens).count();
    let names: HashSet<u64> =
        window.iter().filter(|token| token.is_name).map(|token| token.hash).collect();
    calls >= 4 && names.len() >= 9
}

#[derive(Clone, Copy, Debug)]
struct Token {
    hash: u64,
    line: u64,
    is_name: bool,
    opens: bool,
}

/// Names, numbers, strings and punctuation; comments left out; all numbers and all strings alike.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut in_comment = false;
    for (number, line) in (1u64..).zip(text.lines()) {
        let mut rest = line.trim_start();
        if rest.starts_with('#') && !rest.starts_with("#[") && !rest.starts_with("#!")
            || rest.starts_with("import ")
            || rest.starts_with("use ")
            || rest.starts_with("from ")
        {
            continue;
        }
        while let Some(c) = rest.chars().next() {
            if in_comment {
                match rest.split_once("*/") {
                    Some((_, after)) => {
                        rest = after;
                        in_comment = false;
                        continue;
                    }
                    None => break,
                }
            }
            if rest.starts_with("//") {
                break;
            }
            if let Some(after) = rest.strip_prefix("/*") {
                in_comment = true;
                rest = after;
                continue;
            }
            let length = match c {
                c if c.is_alphabetic() || c == '_' || c == '$' => rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
                    .unwrap_or(rest.len()),
                c if c.is_numeric() => {
                    rest.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(rest.len())
                }
                '"' | '\'' | '`' => rest[1..].find(c).map_or(rest.len(), |at| at + 2),
                c => c.len_utf8(),
            };
            let (spelt, after) = rest.split_at(length);
            rest = after;
            if c.is_whitespace() {
                continue;
            }
            let is_name = c.is_alphabetic() || c == '_' || c == '$';
            let normal = match c {
                c if c.is_numeric() => "0",
                '"' | '\'' | '`' => "\"",
                _ => spelt,
            };
            let hash = normal.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            found.push(Token { hash, line: number, is_name, opens: c == '(' });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_do_not_count() {
        let spelt = |text| tokens(text).iter().map(|token| token.hash).collect::<Vec<_>>();
        assert_eq!(spelt("f(1, \"a\") // why\n"), spelt("f( 2, \"b\" ) /* not */\n"));
        assert_ne!(spelt("f(a)"), spelt("g(a)"));
    }
}
