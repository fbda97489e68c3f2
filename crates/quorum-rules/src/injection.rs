//! Words in a change that are meant for the programs that review it.
//!
//! This is the one place that knows them: the rules search every reviewed file, and prompts are
//! checked for what file names and titles say. A line counts once, however many signs it has.

mod disguise;
mod needed;
mod said;
mod signs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use quorum_syntax::{Rows, Tree};

use disguise::{Disguise, plain};
pub use disguise::{is_bidirectional, is_tag};
use signs::{SIGNS, Sign};

/// A place where text talks to the programs that review it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The line.
    pub line: u64,
    /// What gives it away, as the end of a sentence: "asks to ignore instructions".
    pub what: &'static str,
    /// Whether nobody says this to people. What is not strong, programs for models say as well.
    pub strong: bool,
    /// Whether it speaks of reviewing, and not to any model there is.
    pub aimed: bool,
    /// How it is written so that people do not read it, such as `base64`.
    pub disguise: Option<&'static str>,
    /// Where it is said.
    pub place: Place,
}

/// Where something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a comment, to whoever reads the code.
    Comment,
    /// In a string or in text of its own, which may be what the program works with.
    Text,
}

/// No longer line is looked at: nobody reads it, and a model is shown a part of it at most.
const LONGEST: usize = 20_000;

/// Parts of words without which no sign can match, so that most lines cost one pass.
const STEMS: &[&str] = &[
    // English
    "instruction",
    "guideline",
    "prompt",
    "directive",
    "checklist",
    "review",
    "approve",
    "lgtm",
    "<|",
    "[inst",
    "[/inst",
    "<<sys",
    "<</sys",
    "finding",
    "verdict",
    "budget",
    "vulnerabilit",
    "jailbreak",
    "ignore",
    "disregard",
    "you are",
    "re now",
    "act as",
    "assistant",
    "untrusted",
    "system",
    "human:",
    "end of",
    "out of scope",
    "exempt",
    "excluded",
    "do not report",
    "don't report",
    "never report",
    "not flag",
    "don't flag",
    "never flag",
    "not mention",
    "don't mention",
    "any issue",
    "no issue",
    "no problem",
    "zero issue",
    "your limit",
    "your budget",
    "your task",
    "your role",
    "your rules",
    "your answer",
    "pretend",
    "from now on",
    "severity",
    "tokens left",
    "tokens remaining",
    "calls left",
    "calls remaining",
    "turns left",
    "turns remaining",
    "ookups left",
    "look-ups left",
    "language model",
    "\"decision",
    "done(",
    "\"done",
    "'done",
    "done tool",
    "report_finding",
    "tool_",
    "tool result",
    "tool output",
    "</file",
    "</diff",
    "</doc",
    "</context",
    "api key",
    "credential",
    "rubber",
    "bypass",
    "override",
    "forget ",
    "force-return",
    "wrap-up mode",
    "quota",
    "security team",
    "appsec",
    "infosec",
    "audited",
    "read tool",
    "search tool",
    "callers tool",
    "coderabbit",
    "copilot",
    "claude",
    "empty list",
    "gpt",
    "mark this",
    "mark it",
    "as safe",
    "empty array",
    "code reviewer",
    "antml",
    "criteria",
    "10/10",
    "ing tokens",
    "<system>",
    "no concern",
    "no objection",
    "reads this",
    "sees this",
    "audits",
    "ai agent",
    "analysis is",
    "false positive",
    "diff ",
    // Other languages, without accents
    "anweisung",
    "instruktion",
    "vorgabe",
    "befund",
    "keine fund",
    "schwachstell",
    "sicherheitsluck",
    "keine problem",
    "keine fehler",
    "genehmig",
    "freigeb",
    "akzeptier",
    "bestatig",
    "prufer",
    "gutachter",
    "consigne",
    "signale",
    "rapporte",
    "approuve",
    "valide",
    "accepte",
    "relecteur",
    "reviseur",
    "instruccion",
    "indicacion",
    "directriz",
    "directrice",
    "vulnerabilidad",
    "hallazgo",
    "aprueb",
    "aprobar",
    "revisor",
    "instruc",
    "diretriz",
    "aprov",
    "aceit",
    "istruzioni",
    "direttive",
    "segnala",
    "riporta",
    "approva",
    "accetta",
    "instructies",
    "aanwijzing",
    "bevinding",
    "kwetsbaar",
    "keur ",
    "beoordelaar",
    "instrukcj",
    "polece",
    "wytyczn",
    "podatnos",
    "zatwierd",
    "zaakceptuj",
    "recenzen",
    "talimat",
    "yonerge",
    "bulgu",
    "guvenlik acig",
    "onayla",
    "kabul et",
    "yapay zeka",
    "mencion",
    "informe",
    "reporte",
    "senale",
    "relat",
    "sinaliz",
    "prompts",
    "regel",
    "opdracht",
    "fallo",
    "vulnerabilita",
    // English, turned by thirteen letters and written from the end
    "vtaber",
    "qvfertneq",
    "vafgehpgvba",
    "nccebir",
    "svaqvatf",
    "snoitcurtsni",
    "dragersid",
    "sgnidnif",
    "evorppa",
];

static FILTER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(STEMS).ok());

/// Compiles the signs ahead of the first scan.
pub fn prepare() {
    LazyLock::force(&SIGNS);
    LazyLock::force(&FILTER);
}

/// Where `text` of no known language talks to reviewers, by its lines.
pub fn scan_text(text: &str) -> Vec<Attempt> {
    let mut found = scan((1..).zip(text.lines()), None);
    if found.iter().any(|attempt| attempt.place == Place::Text) {
        let lines: Vec<&str> = text.lines().collect();
        for attempt in &mut found {
            if is_in_comment(&lines, attempt.line) {
                attempt.place = Place::Comment;
            }
        }
    }
    found
}

/// Whether a comment that was begun on an earlier line, not many lines above, goes on.
fn is_in_comment(lines: &[&str], line: u64) -> bool {
    const FARTHEST: usize = 60;
    let end = usize::try_from(line).unwrap_or(usize::MAX).min(lines.len());
    let above = lines.get(end.saturating_sub(FARTHEST)..end).unwrap_or_default();
    [("<!--", "-->"), ("/*", "*/"), ("{-", "-}"), ("{#", "#}")].iter().any(|(open, close)| {
        let opened = above.iter().rev().position(|line| line.contains(open));
        let closed = above.iter().rev().skip(1).position(|line| line.contains(close));
        opened.is_some_and(|opened| closed.is_none_or(|closed| opened <= closed + 1))
    })
}

/// Where code talks to reviewers: only its comments and strings say anything. Rows that the grammar
/// did not understand are judged by their marks.
pub fn scan_code(text: &str, tree: &Tree, unread: &Rows) -> Vec<Attempt> {
    let suspects = scan((1..).zip(text.lines()), Some(Place::Text));
    if suspects.is_empty() {
        return suspects;
    }
    let row = |attempt: &Attempt| usize::try_from(attempt.line - 1).unwrap_or(usize::MAX);
    let rows: Vec<usize> = suspects.iter().map(row).collect();
    let mut found = BTreeMap::new();
    for utterance in said::utterances(tree, text, &rows) {
        let lines = utterance.lines(text);
        let lines = lines.iter().map(|(number, line)| (*number, line.as_str()));
        for attempt in scan(lines, Some(utterance.place)) {
            take(&mut found, attempt);
        }
    }
    let is_unread = |row: usize| unread.iter().any(|&(first, last)| first <= row && row <= last);
    if suspects.iter().any(|attempt| is_unread(row(attempt))) {
        let by_marks = scan_text(text);
        for attempt in by_marks.into_iter().filter(|attempt| is_unread(row(attempt))) {
            take(&mut found, attempt);
        }
    }
    found.into_values().collect()
}

fn take(found: &mut BTreeMap<u64, Attempt>, attempt: Attempt) {
    let known = found.entry(attempt.line).or_insert_with(|| attempt.clone());
    let weight = |attempt: &Attempt| (attempt.strong, attempt.aimed);
    if weight(&attempt) > weight(known) {
        *known = attempt;
    }
}

/// Where `lines`, each with its number, talk to reviewers; a sentence may run over two of them.
/// Where it is not known in which place they stand, their marks say so.
fn scan<'a>(lines: impl IntoIterator<Item = (u64, &'a str)>, place: Option<Place>) -> Vec<Attempt> {
    let lines: Vec<(u64, &str)> = lines.into_iter().collect();
    let mut found: BTreeMap<u64, Attempt> = BTreeMap::new();
    for (at, &(number, line)) in lines.iter().enumerate() {
        if line.len() > LONGEST || !deserves_a_look(line) {
            continue;
        }
        let readable = plain(line);
        if may_speak(&readable) {
            let mut around: Vec<(u64, &str)> = Vec::with_capacity(3);
            around.extend(at.checked_sub(1).and_then(|before| lines.get(before)));
            around.push((number, line));
            around.extend(lines.get(at + 1));
            around.retain(|(_, line)| line.len() <= LONGEST);
            for attempt in spoken(&around, place) {
                take(&mut found, attempt);
            }
        }
        for (disguise, text) in Disguise::all_of(line, &readable) {
            // What is hidden on purpose is hidden from people: only orders count.
            if let Some(sign) = SIGNS.first(&text, |sign| sign.strong || disguise.is_deliberate()) {
                let disguise = Some(disguise.name());
                let place = place.unwrap_or_else(|| marked(line));
                let (what, aimed) = (sign.what, sign.aimed || is_about_reviews(&text));
                let attempt = Attempt { line: number, what, strong: true, aimed, disguise, place };
                take(&mut found, attempt);
            }
        }
    }
    found.into_values().collect()
}

/// What lines in sequence say, as one text: in plain letters, and in those of other scripts.
fn spoken(lines: &[(u64, &str)], place: Option<Place>) -> Vec<Attempt> {
    let latin = joined(lines, plain);
    let mut found = located(&latin, SIGNS.in_latin(&latin.0), place);
    if lines.iter().any(|(_, line)| !line.is_ascii()) {
        let scripts = joined(lines, disguise::visible);
        found.extend(located(&scripts, SIGNS.in_scripts(&scripts.0), place));
    }
    found
}

/// Lines as one text, and where each begins in it.
type Joined<'a> = (String, Vec<(usize, u64, &'a str)>);

fn joined<'a>(lines: &[(u64, &'a str)], clean: fn(&str) -> String) -> Joined<'a> {
    let mut text = String::new();
    let mut starts = Vec::new();
    for &(number, line) in lines {
        starts.push((text.len(), number, line));
        let readable = clean(line);
        // The marks of comments stand between the words of a sentence.
        let bare = readable.trim_start().trim_start_matches(['/', '*', ';', '!', '-', '"', '\'']);
        let bare = bare.trim_start();
        let unmarked = bare.strip_prefix("# ").unwrap_or(bare);
        text.push_str(unmarked.trim_start());
        text.push('\n');
    }
    (text, starts)
}

fn located(
    (text, starts): &Joined<'_>,
    signs: Vec<(Sign, usize)>,
    place: Option<Place>,
) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    for (sign, start) in signs {
        let at = starts.partition_point(|(first, ..)| *first <= start);
        let Some(&(first, number, line)) = at.checked_sub(1).and_then(|at| starts.get(at)) else {
            continue;
        };
        if sign.said
            && place.is_none()
            && !is_said(line, text.get(start..).unwrap_or_default(), start - first)
        {
            continue;
        }
        let disguise = if line.chars().any(disguise::is_invisible) {
            Some("characters that cannot be seen")
        } else if disguise::is_mixed(line) {
            Some("letters that look like others")
        } else {
            None
        };
        let strong = sign.strong || disguise.is_some();
        let place = place.unwrap_or_else(|| marked(line));
        // What it asks for may stand on the next line.
        let end = starts.get(at + 1).map_or(text.len(), |(next, ..)| *next);
        let around = text.get(first..end).unwrap_or(line);
        let aimed = sign.aimed || is_about_reviews(around);
        attempts.push(Attempt { line: number, what: sign.what, strong, aimed, disguise, place });
    }
    attempts
}

/// Whether what is said stands in a comment, in a string or in prose, and not in code.
fn is_said(line: &str, rest: &str, offset: usize) -> bool {
    const MARKS: [&str; 10] = ["#", "//", "/*", "<!--", "--", "\"", "'", "`", "{-", "(*"];
    let begin: String = rest.chars().take_while(|c| *c != '\n').take(12).collect();
    let before = line.find(&begin).map_or(line, |at| &line[..at]);
    let trimmed = line.trim_start();
    let opens =
        [";", "%", "*", "#", "//", "--", "<!--"].iter().any(|mark| trimmed.starts_with(mark));
    // Inside a comment or a string of several lines nothing marks a line.
    let is_prose =
        offset < 4 && !line.contains(['=', ';', '{', '}']) && line.split_whitespace().count() > 2;
    opens
        || MARKS.iter().any(|mark| before.contains(mark))
        || is_prose
        || begin.starts_with(['#', '"', '\''])
}

/// Whether a line has a word for what reviewers look at or write.
fn is_about_reviews(line: &str) -> bool {
    const WORDS: [&str; 16] = [
        "review",
        "approv",
        "finding",
        "lgtm",
        "pull request",
        "merge request",
        "vulnerab",
        "verdict",
        "severity",
        "this change",
        "this file",
        "this code",
        "this diff",
        "this commit",
        "this patch",
        "this pr",
    ];
    let lower = plain(line).to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// Where a line of no known language stands, by its mark.
fn marked(line: &str) -> Place {
    const MARKS: [&str; 8] = ["#", "//", "/*", "<!--", "--", ";", "%", "{-"];
    let bare = line.trim_start();
    let is_comment = MARKS.iter().any(|mark| bare.starts_with(mark));
    if is_comment { Place::Comment } else { Place::Text }
}

/// One cheap pass: a stem in plain letters, or anything that could hide one.
fn deserves_a_look(line: &str) -> bool {
    !line.is_ascii() || may_speak(line) || Disguise::is_possible(line)
}

fn may_speak(line: &str) -> bool {
    !line.is_ascii() || FILTER.as_ref().is_none_or(|filter| filter.is_match(line))
}

/// Whether a file's name or a title talks to reviewers; what gives it away.
pub fn scan_name(name: &str) -> Option<&'static str> {
    if name.chars().any(|c| is_bidirectional(c) || is_tag(c)) {
        return Some("holds characters that hide or reorder text");
    }
    let words = name.replace(['_', '-', '.', '/', '\\'], " ");
    let as_comment = format!("# {name}");
    let as_words = format!("# {words}");
    let spoken = [as_comment.as_str(), as_words.as_str()];
    spoken.iter().find_map(|text| scan([(1, *text)], None).first().map(|attempt| attempt.what))
}
