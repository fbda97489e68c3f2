//! From what tools print to places in the code.
//!
//! All forms are tried on every line: a Makefile calls a compiler, a task calls a linter. What keeps
//! that sound is that a place counts only where the file is one of the repository's.

mod compilers;
mod format;
mod junit;
mod sarif;
mod scripts;
mod tests_run;

use std::collections::HashSet;

use quorum_model::gate::{GateCategory, GateFinding, GateLevel};

pub use junit::junit;
pub use sarif::sarif;

use crate::tree::Paths;

/// The most findings that are kept of one check.
const MOST: usize = 50;
/// The most characters of a message.
const LONGEST: usize = 400;

/// What a check's output says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Places in the code, errors first, in the order of the output.
    pub findings: Vec<GateFinding>,
    /// The line of the output, from 0, on which the first error stands.
    pub first_error: Option<usize>,
}

/// Reads the output of a check about `category` that ran in `folder`.
pub fn output(text: &str, category: GateCategory, paths: &Paths, folder: &str) -> Parsed {
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader { lines: &lines, paths, folder, found: Vec::new() };
    compilers::read(&mut reader);
    scripts::read(&mut reader);
    tests_run::read(&mut reader);
    if category == GateCategory::Format {
        format::read(&mut reader);
    }
    if !reader.found.iter().any(|(_, finding)| finding.level == GateLevel::Error) {
        compilers::read_make(&mut reader);
    }
    let mut found = reader.found;
    found.sort_by_key(|(number, _)| *number);
    let errors = found.iter().filter(|(_, finding)| finding.level == GateLevel::Error);
    let first = errors.map(|(number, _)| *number).next();
    let first_error = first.or_else(|| loud_line(&lines));
    Parsed { findings: tidy(found.into_iter().map(|(_, finding)| finding)), first_error }
}

/// Each place once, errors first, not too many.
pub(crate) fn tidy(findings: impl IntoIterator<Item = GateFinding>) -> Vec<GateFinding> {
    let mut seen = HashSet::new();
    let mut findings: Vec<GateFinding> = findings
        .into_iter()
        .filter(|finding| {
            seen.insert((finding.file.clone(), finding.line, finding.message.clone()))
        })
        .collect();
    findings.sort_by_key(|finding| finding.level == GateLevel::Warning);
    findings.truncate(MOST);
    findings
}

/// The first line that says that something is wrong; where none does, the last that says anything.
fn loud_line(lines: &[&str]) -> Option<usize> {
    const LOUD: [&str; 12] = [
        "error",
        "fail",
        "fatal",
        "panic",
        "exception",
        "traceback",
        "undefined",
        "not found",
        "no such",
        "denied",
        "cannot",
        "killed",
    ];
    let loud = |line: &&str| {
        let line = line.to_lowercase();
        // "0 failed" and "no errors" are what success says.
        let calm = ["0 fail", "0 error", "no error", "without error"];
        LOUD.iter().any(|word| line.contains(word)) && !calm.iter().any(|word| line.contains(word))
    };
    let said = |line: &&str| !line.trim().is_empty();
    lines.iter().position(loud).or_else(|| lines.iter().rposition(said))
}

/// The lines of an output, and what was found in them.
struct Reader<'a> {
    lines: &'a [&'a str],
    paths: &'a Paths,
    folder: &'a str,
    /// With the line on which each stands.
    found: Vec<(usize, GateFinding)>,
}

/// A place that was printed and what was said of it.
struct Remark<'a> {
    path: &'a str,
    line: &'a str,
    column: Option<&'a str>,
    level: GateLevel,
    rule: Option<&'a str>,
    message: &'a str,
}

/// What the groups of a pattern name; without a level it is an error.
fn remark<'l>(found: &regex::Captures<'l>, message: &'l str) -> Remark<'l> {
    Remark {
        path: group(found, "path").unwrap_or_default(),
        line: group(found, "line").unwrap_or_default(),
        column: group(found, "column"),
        level: group(found, "level").map_or(GateLevel::Error, level),
        rule: group(found, "rule"),
        message,
    }
}

fn level(word: &str) -> GateLevel {
    match word.to_ascii_lowercase().as_str() {
        "warning" | "info" => GateLevel::Warning,
        _ => GateLevel::Error,
    }
}

impl<'a> Reader<'a> {
    /// Takes what stands on line `number`, where it is about a file of the repository.
    fn take(&mut self, number: usize, remark: &Remark<'_>) -> bool {
        let Some(file) = self.resolve(remark.path) else { return false };
        let Ok(line) = remark.line.parse() else { return false };
        let finding = GateFinding {
            file,
            line,
            column: remark.column.and_then(|column| column.parse().ok()),
            level: remark.level,
            message: shorten(remark.message),
            rule: remark.rule.map(str::to_owned),
        };
        self.found.push((number, finding));
        true
    }

    /// The file that is meant, also where other words stand before it on its line.
    fn resolve(&self, printed: &str) -> Option<String> {
        let printed = printed.trim();
        self.paths.resolve(printed, self.folder).or_else(|| {
            let last = printed.rsplit_once(char::is_whitespace)?.1;
            self.paths.resolve(last, self.folder)
        })
    }

    /// The next line from `number` on that says anything.
    fn next_said(&self, number: usize) -> Option<&'a str> {
        self.lines.iter().skip(number).map(|line| line.trim()).find(|line| !line.is_empty())
    }

    /// The line before `number` that says anything.
    fn said_before(&self, number: usize) -> Option<(usize, &'a str)> {
        let before = self.lines.iter().enumerate().take(number).rev();
        before.map(|(number, line)| (number, *line)).find(|(_, line)| !line.trim().is_empty())
    }

    /// Whether something was said of that place already.
    fn knows(&self, remark: &Remark<'_>) -> bool {
        let (file, line) = (self.resolve(remark.path), remark.line.parse().ok());
        self.found
            .iter()
            .any(|(_, known)| Some(&known.file) == file.as_ref() && Some(known.line) == line)
    }

    fn is_taken(&self, number: usize) -> bool {
        self.found.iter().any(|(taken, _)| *taken == number)
    }
}

fn shorten(message: &str) -> String {
    let message = message.trim();
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

/// A pattern of ours; one that does not compile matches nothing, and the tests of its form fail.
macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: std::sync::LazyLock<Option<regex::Regex>> =
            std::sync::LazyLock::new(|| regex::Regex::new($text).ok());
    };
}
use pattern;

/// The groups of `pattern` in `line`.
fn captures<'l>(
    pattern: &std::sync::LazyLock<Option<regex::Regex>>,
    line: &'l str,
) -> Option<regex::Captures<'l>> {
    pattern.as_ref()?.captures(line)
}

fn group<'l>(captures: &regex::Captures<'l>, name: &str) -> Option<&'l str> {
    captures.name(name).map(|found| found.as_str())
}

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
