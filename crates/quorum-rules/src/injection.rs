//! Words in a change that are meant for the programs that review it.
//!
//! This is the one place that knows them: the rules search every reviewed file, and prompts are
//! checked for what file names and titles say. A line counts once, however many signs it has.

mod disguise;
mod needed;
mod signs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

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
    /// How it is written so that people do not read it, such as `base64`.
    pub disguise: Option<&'static str>,
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
    "vafgehpgvba",
    "nccebir",
    "svaqvatf",
    "snoitcurtsni",
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

/// Where `text` talks to reviewers, by its lines.
pub fn scan_text(text: &str) -> Vec<Attempt> {
    scan((1..).zip(text.lines()))
}

/// Where `lines`, each with its number, talk to reviewers; a sentence may run over two of them.
pub fn scan<'a>(lines: impl IntoIterator<Item = (u64, &'a str)>) -> Vec<Attempt> {
    let lines: Vec<(u64, &str)> = lines.into_iter().collect();
    let mut found: BTreeMap<u64, Attempt> = BTreeMap::new();
    let mut take = |attempt: Attempt| {
        let known = found.entry(attempt.line).or_insert_with(|| attempt.clone());
        if attempt.strong && !known.strong {
            *known = attempt;
        }
    };
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
            for attempt in spoken(&around) {
                take(attempt);
            }
        }
        for (disguise, text) in Disguise::all_of(line, &readable) {
            // What is hidden on purpose is hidden from people: only orders count.
            if let Some(sign) = SIGNS.first(&text, |sign| sign.strong || disguise.is_deliberate()) {
                let disguise = Some(disguise.name());
                take(Attempt { line: number, what: sign.what, strong: true, disguise });
            }
        }
    }
    found.into_values().collect()
}

/// What lines in sequence say, as one text: in plain letters, and in those of other scripts.
fn spoken(lines: &[(u64, &str)]) -> Vec<Attempt> {
    let latin = joined(lines, plain);
    let mut found = located(&latin, SIGNS.in_latin(&latin.0));
    if lines.iter().any(|(_, line)| !line.is_ascii()) {
        let scripts = joined(lines, disguise::visible);
        found.extend(located(&scripts, SIGNS.in_scripts(&scripts.0)));
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

fn located((text, starts): &Joined<'_>, signs: Vec<(Sign, usize)>) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    for (sign, start) in signs {
        let at = starts.partition_point(|(first, ..)| *first <= start);
        let Some(&(first, number, line)) = at.checked_sub(1).and_then(|at| starts.get(at)) else {
            continue;
        };
        if sign.said && !is_said(line, text.get(start..).unwrap_or_default(), start - first) {
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
        attempts.push(Attempt { line: number, what: sign.what, strong, disguise });
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
    spoken.iter().find_map(|text| scan([(1, *text)]).first().map(|attempt| attempt.what))
}
