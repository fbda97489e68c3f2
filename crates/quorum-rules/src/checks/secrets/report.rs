//! Findings about secrets: how bad each is where it stands, and a quote that does not repeat it.

use std::collections::BTreeSet;

use quorum_model::finding::Effort;
use quorum_model::scope::{FileKind, Flag};
use quorum_model::severity::Severity;
use quorum_syntax::Lang;

use super::{Hit, Kind, Known, catalog, hits};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// Finds secrets in a file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let place = Place::of(file);
    let text = file.text();
    let hits: Vec<Hit> = hits(text);
    if hits.is_empty() {
        return;
    }
    let masked = Known::of(Some(file.path()), text).mask(text);
    let lines: Vec<&str> = masked.lines().collect();
    let mut seen = BTreeSet::new();
    let mut line = 1;
    let mut counted = 0;
    for hit in &hits {
        line += newlines(text, counted, hit.line_at);
        counted = counted.max(hit.line_at);
        let end_line = line + newlines(text, hit.line_at, hit.span.end);
        // What the review will drop must not stand for what it will keep.
        if !file.source.touches(line, end_line) || !seen.insert(&text[hit.span.clone()]) {
            continue;
        }
        if is_picture(text, hit) {
            continue;
        }
        if let Some((severity, confidence, reason)) = place.rate(hit, is_described(file, hit)) {
            let quoted = usize::try_from(line - 1).ok().and_then(|at| lines.get(at).copied());
            findings.push(RuleFinding {
                rule: format!("secrets.{}", hit.kind.id()),
                agent: "security-reviewer",
                severity,
                confidence,
                category: "secrets".to_owned(),
                cwe: Some(cwe(hit.kind).to_owned()),
                file: file.path().to_owned(),
                line,
                end_line,
                evidence: quote(quoted.unwrap_or_default(), column(text, hit.span.start)),
                issue: issue(hit.kind, &reason),
                recommendation: recommendation(hit.kind).to_owned(),
                references: Vec::new(),
                effort: Some(Effort::Small),
                trace: Vec::new(),
                dependency: None,
                replacement: None,
                caused: false,
            });
        }
    }
}

fn newlines(text: &str, from: usize, to: usize) -> u64 {
    let part = text.get(from..to).unwrap_or_default();
    u64::try_from(part.matches('\n').count()).unwrap_or(u64::MAX)
}

fn column(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().chars().count()
}

/// The longest quote, in characters; minified files have lines of megabytes.
const QUOTE: usize = 240;

/// The part of a masked line around a column.
fn quote(line: &str, column: usize) -> String {
    let length = line.chars().count();
    if length <= QUOTE {
        return line.trim().to_owned();
    }
    let first = column.saturating_sub(QUOTE / 3);
    line.chars().skip(first).take(QUOTE).collect::<String>().trim().to_owned()
}

/// What sort of file a secret stands in.
struct Place {
    /// Why values in it are often made up.
    made_up: Option<&'static str>,
    /// A lock file or compressed code: full of hashes that nobody chose.
    machine: bool,
    /// Generated or third-party code, with names that are not the team's.
    foreign: bool,
    /// A programming language, where a value without quotes is an expression.
    code: bool,
}

impl Place {
    fn of(file: &ParsedFile) -> Self {
        let entry = &file.source.entry;
        let path = entry.path.to_ascii_lowercase();
        let in_folder = |names: &[&str]| path.split('/').any(|part| names.contains(&part));
        let test = entry.has(Flag::Test)
            || in_folder(&["testdata", "fixtures", "mocks", "__mocks__", "examples", "example"])
            || in_folder(&["samples", "sample", "demo", "spec"])
            || path
                .rsplit_once('/')
                .is_some_and(|(folders, _)| folders.split('/').any(is_for_tests))
            || path.contains(".example");
        let prose = entry.kind == FileKind::Prose || entry.has(Flag::Docs);
        Self {
            made_up: if test {
                Some("among tests or examples")
            } else if prose {
                Some("in documentation")
            } else {
                None
            },
            machine: entry.has(Flag::LockFile) || entry.has(Flag::Minified),
            foreign: entry.has(Flag::Generated) || entry.has(Flag::Vendored),
            code: file.lang.is_some_and(|lang| {
                !matches!(lang, Lang::Yaml | Lang::Json | Lang::Bash | Lang::Hcl)
            }),
        }
    }

    /// Severity and confidence of a hit in this place, with a word on why it is rated lower.
    ///
    /// `described` says that it stands in text about the code.
    fn rate(&self, hit: &Hit, described: bool) -> Option<(Severity, f64, String)> {
        let guessed = matches!(hit.kind, Kind::Password | Kind::Generic | Kind::Address);
        let named = matches!(hit.kind, Kind::Provider { .. }) && hit.shown == 0;
        let noise = self.foreign && matches!(hit.kind, Kind::Generic);
        if noise || (self.machine && (guessed || named)) || (self.code && hit.bare) {
            return None;
        }
        // A checksum that holds is no accident, wherever it stands.
        let certain = matches!(hit.kind, Kind::Provider { checked: true, .. });
        let described = (guessed && described).then_some("in the description of code");
        let Some(place) = self.made_up.or(described).filter(|_| !certain) else {
            return Some((hit.severity, hit.confidence, String::new()));
        };
        let doubt = if guessed { 0.3 } else { 0.1 };
        let reason = format!(
            " It stands {place}, where such values are often made up; if this one was ever in use, \
             it is as bad as anywhere else."
        );
        Some((Severity::Low, hit.confidence - doubt, reason))
    }
}

/// Whether a hit lies in a long stretch of base 64, as pictures in notebooks and data URLs are: any
/// format of plain letters is met there by chance.
fn is_picture(text: &str, hit: &Hit) -> bool {
    const LONG: usize = 2_000;
    let encoded = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=\\".contains(byte);
    let bytes = text.as_bytes();
    let before = bytes[..hit.span.start].iter().rev().take(LONG).take_while(encoded).count();
    let after = bytes[hit.span.end..].iter().take(LONG).take_while(encoded).count();
    before + after >= LONG
}

/// Whether a folder's name says that it is for tests: `tests`, `test-data`, `servertest`.
fn is_for_tests(folder: &str) -> bool {
    const OTHERS: [&str; 6] = ["latest", "contest", "attest", "protest", "greatest", "fastest"];
    let mut words = folder.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        matches!(word, "test" | "tests" | "testing" | "testdata" | "e2e" | "fixture" | "mock")
            || (word.ends_with("test") && !OTHERS.contains(&word))
            || word.ends_with("tests")
    })
}

/// Whether a hit stands in a docstring or in a comment for a documentation generator.
fn is_described(file: &ParsedFile, hit: &Hit) -> bool {
    let Some(tree) = &file.tree else { return false };
    let root = tree.root_node();
    let Some(node) = root.descendant_for_byte_range(hit.span.start, hit.span.end) else {
        return false;
    };
    std::iter::successors(Some(node), quorum_syntax::Node::parent).any(|node| {
        let text = file.text().get(node.byte_range()).unwrap_or_default();
        let parent = node.parent().map_or("", |parent| parent.kind());
        match node.kind() {
            "string" => parent == "expression_statement",
            "comment" | "line_comment" | "block_comment" => {
                ["/**", "///", "//!", "/*!"].iter().any(|mark| text.starts_with(mark))
            }
            _ => false,
        }
    })
}

fn cwe(kind: Kind) -> &'static str {
    match kind {
        Kind::PrivateKey { .. } => "CWE-321",
        Kind::Password | Kind::Address | Kind::Command => "CWE-259",
        _ => "CWE-798",
    }
}

fn issue(kind: Kind, reason: &str) -> String {
    let what = match kind {
        Kind::Provider { format, checked } => {
            let name = catalog().formats.get(format).map_or("secret", |format| &format.name);
            let sum = if checked { " Its checksum holds, so it is not made up." } else { "" };
            format!(
                "A value with the format of {} {name} is written in the file.{sum}",
                article(name)
            )
        }
        Kind::PrivateKey { sealed: false } => {
            "A private key is written in the file, without a passphrase.".to_owned()
        }
        Kind::PrivateKey { sealed: true } => {
            "A private key is written in the file; only its passphrase protects it.".to_owned()
        }
        Kind::WebToken => "A signed JSON web token is written in the file.".to_owned(),
        Kind::Address => "An address in the file carries a password.".to_owned(),
        Kind::Header => "A request header in the file carries a credential.".to_owned(),
        Kind::Command => "A command in the file carries a password.".to_owned(),
        Kind::Password => "A password is written in the file.".to_owned(),
        Kind::Generic => "A random value is written in the file under the name of a key, token or \
                          secret."
            .to_owned(),
    };
    format!(
        "{what} Whoever can read the repository, or any copy of its history, can use it.{reason}"
    )
}

fn article(name: &str) -> &'static str {
    let vowel = name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
    let spelt = name.starts_with("npm") || name.starts_with("xAI") || name.starts_with("NVIDIA");
    if vowel || spelt { "an" } else { "a" }
}

fn recommendation(kind: Kind) -> &'static str {
    match kind {
        Kind::PrivateKey { .. } => {
            "Replace the key pair, take the key from a secret store when the program starts, and \
             remove the file from the history."
        }
        Kind::Password | Kind::Address | Kind::Command => {
            "Change the password, and take it from the environment or a secret store when the \
             program starts."
        }
        _ => {
            "Revoke it where it was issued; removing the line leaves it in the history. Take the new \
             one from the environment or a secret store when the program starts."
        }
    }
}
