//! Characters that cannot be seen, that turn the text around, or that look like others.

use quorum_model::scope::FileKind;
use quorum_model::severity::Severity;

use super::{AGENT, is_prose, is_test};
use crate::checks::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

const BIDIRECTIONAL: CodeRule = CodeRule {
    id: "text.bidirectional-control",
    agent: AGENT,
    category: "supply-chain",
    severity: Severity::High,
    confidence: 0.9,
};

const INVISIBLE: CodeRule = CodeRule {
    id: "text.invisible-character",
    agent: AGENT,
    category: "supply-chain",
    severity: Severity::Medium,
    confidence: 0.75,
};

const LOOK_ALIKE: CodeRule = CodeRule {
    id: "text.look-alike-letter",
    agent: AGENT,
    category: "supply-chain",
    severity: Severity::Medium,
    confidence: 0.75,
};

/// Looks at the lines that are not in `told`, which is sorted.
pub(super) fn check(file: &ParsedFile, told: &[u64], findings: &mut Vec<RuleFinding>) {
    let text = file.text();
    if text.is_ascii() {
        return;
    }
    let code = matches!(
        file.source.entry.kind,
        FileKind::Code | FileKind::Script | FileKind::Config | FileKind::Markup
    ) && !is_prose(file);
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_ascii() || told.binary_search(&number).is_ok() {
            continue;
        }
        if let Some(seen) = first_of(line, number == 1) {
            findings.extend(hidden(file, number, line, seen, code));
        } else if code && let Some(word) = mixed_word(line) {
            let issue = format!(
                "`{word}` mixes Latin letters with letters of another script that look the same. It is not \
                 the name that it seems to be."
            );
            let advice = "Write the whole name in one script, or say in a comment why it is mixed.";
            let found = LOOK_ALIKE.on(file.path(), (number, number), quote(line), issue, advice);
            findings.push(RuleFinding { cwe: Some("CWE-1007".to_owned()), ..rated(file, found) });
        }
    }
}

/// What sort of hidden character stands on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    /// Shows the text after it in another order.
    Bidirectional(char),
    /// Spells text that only programs read.
    Tag(char),
    /// Cannot be seen.
    Invisible(char),
}

fn first_of(line: &str, first_line: bool) -> Option<Hidden> {
    let characters: Vec<char> = line.chars().collect();
    (0..characters.len()).find_map(|at| {
        let before = at.checked_sub(1).and_then(|at| characters.get(at)).copied();
        let after = characters.get(at + 1).copied();
        let character = characters[at];
        match character {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                Some(Hidden::Bidirectional(character))
            }
            // Flags of regions are spelt with these after a black flag.
            '\u{e0020}'..='\u{e007f}' if !characters[..at].contains(&'\u{1f3f4}') => {
                Some(Hidden::Tag(character))
            }
            '\u{feff}' if at == 0 && first_line => None,
            // Joins emoji, and letters of scripts that need it.
            '\u{200c}' | '\u{200d}' if joins(before) && joins(after) => None,
            '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{180e}'
            | '\u{3164}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{ffa0}' => Some(Hidden::Invisible(character)),
            _ => None,
        }
    })
}

fn joins(character: Option<char>) -> bool {
    character.is_some_and(|c| !c.is_ascii() && !c.is_whitespace())
}

fn hidden(
    file: &ParsedFile,
    number: u64,
    line: &str,
    seen: Hidden,
    code: bool,
) -> Option<RuleFinding> {
    let (rule, character, issue) = match seen {
        Hidden::Bidirectional(character) => (
            BIDIRECTIONAL,
            character,
            "turns the order of the text around. What reviewers read is not what the compiler reads.",
        ),
        Hidden::Tag(character) => (
            CodeRule { severity: Severity::High, ..INVISIBLE },
            character,
            "spells text that people do not see and language models read.",
        ),
        Hidden::Invisible(character) => (
            INVISIBLE,
            character,
            "cannot be seen. It makes two names or texts that look the same different.",
        ),
    };
    // Prose in Arabic or Hebrew is written with some of these.
    if !code && !matches!(seen, Hidden::Tag(_)) {
        return None;
    }
    let issue = format!("The character U+{:04X} on this line {issue}", u32::from(character));
    let advice = "Remove the character, or write it as an escape where the program needs it.";
    let found = rule.on(file.path(), (number, number), quote(line), issue, advice);
    Some(RuleFinding { cwe: Some("CWE-1007".to_owned()), ..rated(file, found) })
}

/// Tests of text handling are full of such characters.
fn rated(file: &ParsedFile, mut found: RuleFinding) -> RuleFinding {
    if is_test(file) {
        found.severity = Severity::Low;
        found.confidence -= 0.2;
        found.issue.push_str(" It stands in a test, where it may be on purpose.");
    }
    found
}

/// A word of Latin letters and others that look like them.
fn mixed_word(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).find(|word| {
        let latin = word.chars().filter(char::is_ascii_alphabetic).count();
        let alike = word.chars().filter(|c| is_alike(*c)).count();
        let others = word.chars().filter(|c| !c.is_ascii() && !is_alike(*c)).count();
        latin > 0 && alike > 0 && others == 0 && word.chars().count() >= 3
    })
}

/// Cyrillic and Greek letters that look like Latin ones; those of formulas left out.
fn is_alike(character: char) -> bool {
    "асеорхуіјѕһԁԛԝАВЕКМНОРСТХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ".contains(character)
}

fn quote(line: &str) -> String {
    line.trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen() {
        assert_eq!(first_of("if x {\u{202e} }", false), Some(Hidden::Bidirectional('\u{202e}')));
        assert_eq!(first_of("a\u{200b}b", false), Some(Hidden::Invisible('\u{200b}')));
        assert_eq!(first_of("hi\u{e0041}", false), Some(Hidden::Tag('\u{e0041}')));
        assert_eq!(first_of("\u{feff}using System;", true), None);
        assert_eq!(first_of("👩\u{200d}💻 und نمی\u{200c}خواهم", false), None);
        assert_eq!(first_of("größer → ≤ 日本語", false), None);
    }

    #[test]
    fn letters_that_look_like_others() {
        assert_eq!(mixed_word("let pаyload = 1;"), Some("pаyload"));
        assert_eq!(mixed_word("// привет hello Δx µs π"), None);
        assert_eq!(mixed_word("naïve größe"), None);
    }
}
