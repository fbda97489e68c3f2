//! Code in documents that no longer parses.

use quorum_model::severity::Severity;
use quorum_syntax::Lang;

use super::AGENT;
use crate::checks::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const BROKEN: CodeRule = CodeRule {
    id: "docs.broken-example",
    agent: AGENT,
    category: "examples",
    severity: Severity::Medium,
    confidence: 0.7,
};
pub(crate) const UNCLOSED: CodeRule = CodeRule {
    id: "docs.unclosed-fence",
    agent: AGENT,
    category: "formatting",
    severity: Severity::Medium,
    confidence: 0.85,
};

/// A fenced piece of code.
struct Fence<'s> {
    lang: Option<Lang>,
    code: &'s str,
    /// The line of its first line of code.
    line: u64,
    last: u64,
    closed: bool,
}

pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let now = fences(file.text());
    let before = fences(file.source.base.as_deref().unwrap_or_default());
    let was_closed = before.iter().all(|fence| fence.closed);
    if let Some(open) = now.iter().find(|fence| !fence.closed)
        && was_closed
        && file.source.touches(open.line - 1, open.last)
    {
        let row = usize::try_from(open.line.saturating_sub(2)).unwrap_or_default();
        let quote = file.line(row).unwrap_or_default();
        let issue = "This code block is never closed, so the rest of the page is shown as code.";
        let mut found = UNCLOSED.on(
            file.path(),
            (open.line - 1, open.line - 1),
            quote,
            issue,
            "Close it with the same fence.",
        );
        found.caused = true;
        findings.push(found);
    }
    for fence in
        now.iter().filter(|fence| fence.closed && file.source.touches(fence.line, fence.last))
    {
        let Some(lang) = fence.lang else { continue };
        if is_sketch(fence.code) {
            continue;
        }
        let Some((row, quote)) = first_error(fence.code, lang) else { continue };
        // The version before parsed, or it is new and its language is strict about whole documents.
        let same_start = |old: &&Fence<'_>| {
            old.lang == fence.lang && old.code.lines().next() == fence.code.lines().next()
        };
        let old = before.iter().find(same_start);
        let counts = match old {
            Some(old) => first_error(old.code, lang).is_none(),
            None => lang == Lang::Json && file.source.added.is_some(),
        };
        if counts {
            let line = fence.line + row;
            let issue = format!(
                "This {lang} example does not parse, so a reader who copies it gets an error."
            );
            let mut found = BROKEN.on(
                file.path(),
                (line, line),
                quote,
                issue,
                "Mend the example, or mark what is left out with a comment.",
            );
            found.caused = true;
            findings.push(found);
        }
    }
}

/// Dots and placeholders say that something is left out.
fn is_sketch(code: &str) -> bool {
    code.contains("...")
        || code.contains('…')
        || code.contains("<your")
        || code.contains("{{")
        || code
            .lines()
            .any(|line| line.starts_with(['+', '-']) || line.trim_start().starts_with(">>>"))
}

fn first_error(code: &str, lang: Lang) -> Option<(u64, String)> {
    let tree = quorum_syntax::parse(code.as_bytes(), lang).ok()?;
    if !tree.root_node().has_error() {
        return None;
    }
    let mut found = None;
    crate::checks::syntax::walk(tree.root_node(), |node| {
        if found.is_none() && (node.is_error() || node.is_missing()) {
            found = Some(node.start_position().row);
        }
        found.is_none() && node.has_error()
    });
    let row = found?;
    Some((row as u64, code.lines().nth(row).unwrap_or_default().trim().to_owned()))
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, u64, &str, Option<Lang>, usize)> = None;
    let mut offset = 0;
    let mut number = 0;
    for line in text.split_inclusive('\n') {
        number += 1;
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let marks = trimmed
            .chars()
            .take_while(|c| *c == '`')
            .count()
            .max(trimmed.chars().take_while(|c| *c == '~').count());
        if marks >= 3 {
            let info = trimmed[marks..].trim();
            match open {
                None => {
                    let name = info.split([' ', ',', '{', ':', '=']).next().unwrap_or_default();
                    // Indented fences have indented code.
                    let lang = Lang::from_name(name).filter(|_| indent == 0 && is_checked(name));
                    open = Some((offset + line.len(), number + 1, "", lang, marks));
                }
                Some((start, first, _, lang, opening)) if marks >= opening && info.is_empty() => {
                    found.push(Fence {
                        lang,
                        code: &text[start..offset],
                        line: first,
                        last: number,
                        closed: true,
                    });
                    open = None;
                }
                Some(_) => {}
            }
        }
        offset += line.len();
    }
    if let Some((start, first, _, lang, _)) = open {
        found.push(Fence {
            lang,
            code: text.get(start..).unwrap_or_default(),
            line: first,
            last: number,
            closed: false,
        });
    }
    found
}

/// Languages whose examples are whole enough to parse.
fn is_checked(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "json"
            | "python"
            | "py"
            | "js"
            | "javascript"
            | "ts"
            | "typescript"
            | "go"
            | "java"
            | "rust"
    )
}
