//! The checks that are written in code, one module for each subject.

mod api;
mod conflict;
pub(crate) mod dependencies;
mod docs;
mod facts;
mod functions;
mod infra;
mod language;
mod pollution;
mod quality;
mod regexes;
mod rule;
mod search;
pub(crate) mod secrets;
mod syntax;
pub(crate) mod templates;
mod tests_in_code;
mod text;

use quorum_model::scope::Flag;

pub(crate) use facts::FileFacts;
pub(crate) use regexes::is_polynomial;

use crate::finding::RuleFinding;
use crate::looks::Look;
use crate::source::{LineSet, ParsedFile, Sources};

/// Looks at one file and adds what it finds.
pub(crate) type Check = fn(&ParsedFile, &mut Vec<RuleFinding>);

/// Every check; each decides for itself whether a file is its business.
pub(crate) const ALL: &[Check] = &[
    conflict::check,
    quality::check,
    language::check,
    docs::check,
    secrets::check,
    text::check,
    infra::check,
    regexes::check,
    pollution::check,
    templates::check,
];

/// The checks that look at code inside files of another kind.
pub(crate) const INSIDE: &[Check] =
    &[quality::check, language::check, secrets::check, regexes::check, pollution::check];

/// The files that are the business of checks which no rule file gives languages to.
pub(crate) const LOOKS: &[Look] = &[
    Look { agent: infra::AGENT, takes: infra::takes },
    Look { agent: dependencies::AGENT, takes: dependencies::takes },
    Look { agent: docs::AGENT, takes: docs::takes },
    Look { agent: api::AGENT, takes: api::takes },
    Look { agent: templates::AGENT, takes: templates::takes },
];

/// Looks at one file with the repository around it.
pub(crate) type AroundCheck = fn(&ParsedFile, &dyn Sources, &mut Vec<RuleFinding>);

/// Every check that reads more than the file itself.
pub(crate) const AROUND: &[AroundCheck] = &[dependencies::check];

/// Looks at what was kept of all files and adds what only the whole change shows.
pub(crate) type ChangeCheck = fn(&[FileFacts], &dyn Sources, &mut Vec<RuleFinding>);

/// Every check of the whole change. The files come in the order of their paths.
pub(crate) const CHANGE: &[ChangeCheck] =
    &[quality::tests_touched::conclude, quality::clones::conclude, api::conclude, docs::conclude];

/// Whether nobody here wrote the file: generated, copied in, or compressed.
///
/// Nobody is asked to write such a file better, so what judges the writing (size, repetition,
/// documentation, a changed interface) leaves it out. What looks for defects does not: a name or a
/// folder is all that it takes to look like one.
fn is_foreign(file: &ParsedFile) -> bool {
    [Flag::Generated, Flag::Vendored, Flag::Minified]
        .iter()
        .any(|flag| file.source.entry.has(*flag))
}

/// Where in the head version a line of the base version stood: itself, less what was removed
/// before it, plus what was added before that. For a removed line, the first line of what stands in
/// its place, or the line after it.
fn head_line(file: &ParsedFile, base_line: u64) -> u64 {
    let is_removed = file.source.removed.contains(base_line);
    let removed_before: u64 = count_before(file.source.removed.ranges(), base_line);
    let mut line = base_line - removed_before;
    for &(first, last) in file.source.added.as_ref().map(LineSet::ranges).unwrap_or_default() {
        if first > line || (is_removed && first == line) {
            break;
        }
        line += last - first + 1;
    }
    line.clamp(1, (file.line_count() as u64).max(1))
}

/// The line of the head version that a removed piece of code is best shown at: of the lines that
/// stand in its place, the one that has most words of it.
fn place_of_removed(file: &ParsedFile, base_line: u64, code: &str) -> u64 {
    let first = head_line(file, base_line);
    let ranges = file.source.added.as_ref().map(LineSet::ranges).unwrap_or_default();
    let Some(&(_, last)) = ranges.iter().find(|(start, _)| *start == first) else { return first };
    let words = |line: &str| -> Vec<String> {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| word.len() > 1).map(str::to_owned).collect()
    };
    let known = words(code.lines().next().unwrap_or_default());
    let shared = |line: &str| words(line).iter().filter(|word| known.contains(word)).count();
    let lines = (1..).zip(file.text().lines());
    let inside = lines.filter(|(number, _)| (first..=last).contains(number));
    let best = inside.max_by_key(|(number, line)| (shared(line), std::cmp::Reverse(*number)));
    best.map_or(first, |(number, _)| number)
}

/// A quote of code that is not there any more, so that nobody looks for it in the new file.
fn quoted_as_removed(code: &str) -> String {
    code.lines().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

fn count_before(ranges: &[(u64, u64)], line: u64) -> u64 {
    ranges
        .iter()
        .take_while(|(first, _)| *first < line)
        .map(|(first, last)| last.min(&(line - 1)) - first + 1)
        .sum()
}

/// Whether a rule that is no file may be reported by a check in code, by the first word of its id.
pub(crate) fn reports(rule: &str) -> bool {
    const FAMILIES: [&str; 6] =
        ["dependencies", "docker", "generic", "secrets", "text", "workflow"];
    rule.split_once('.').is_some_and(|(family, _)| FAMILIES.contains(&family))
}
