//! Links within documents that lead nowhere.

use std::collections::HashSet;

use quorum_model::path::joined;
use quorum_model::scope::Change;
use quorum_model::severity::Severity;

use super::AGENT;
use crate::checks::facts::FileFacts;
use crate::checks::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::{ParsedFile, Side, Sources};

pub(crate) const ANCHOR: CodeRule = CodeRule {
    id: "docs.broken-anchor",
    agent: AGENT,
    category: "accuracy",
    severity: Severity::Low,
    confidence: 0.75,
};
pub(crate) const FILE: CodeRule = CodeRule {
    id: "docs.broken-link",
    agent: AGENT,
    category: "accuracy",
    severity: Severity::Medium,
    confidence: 0.8,
};

/// A link to another file of the repository.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The path from the root of the repository.
    path: String,
    /// The heading within it.
    anchor: Option<String>,
    line: u64,
    quote: String,
}

/// Anchors within the same document.
pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let text = file.text();
    let anchors = anchors(text);
    let before = file.source.base.as_deref().map(self::anchors).unwrap_or_default();
    for (line, target, quote) in targets(text) {
        let Some(anchor) = target.strip_prefix('#').filter(|anchor| !anchor.is_empty()) else {
            continue;
        };
        let exists = anchors.contains(&anchor.to_ascii_lowercase()) || anchor == "top";
        // The link is new, or the heading went away.
        let caused = file.source.is_added(line) || before.contains(&anchor.to_ascii_lowercase());
        if !exists && caused && !anchors.is_empty() {
            let issue = format!(
                "The link `#{anchor}` leads nowhere: no heading of this page has that name."
            );
            let mut found = ANCHOR.on(
                file.path(),
                (line, line),
                quote,
                issue,
                "Use the name of the heading in lower case with dashes.",
            );
            found.caused = true;
            findings.push(found);
        }
    }
}

/// Links on added lines to other files.
pub(super) fn outgoing(file: &ParsedFile) -> Vec<Link> {
    let folder = file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    targets(file.text())
        .into_iter()
        .filter(|(line, _, _)| file.source.is_added(*line))
        .filter_map(|(line, target, quote)| {
            // A bare word is a name in the code for some tools, not a file.
            let is_word = !target.contains(['.', '/']);
            let is_elsewhere = is_word
                || target.contains("://")
                || target.starts_with(['#', '/', '<', '{', '$', '?', '@'])
                || target.contains(':')
                || target.contains("{{")
                || target.is_empty();
            if is_elsewhere {
                return None;
            }
            let (path, anchor) = match target.split_once('#') {
                Some((path, anchor)) => (path, Some(anchor.to_owned())),
                None => (target, None),
            };
            let path = path.split('?').next().unwrap_or_default().replace("%20", " ");
            Some(Link { path: joined(folder, &path)?, anchor, line, quote: quote.to_owned() })
        })
        .collect()
}

pub(super) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    let paths = sources.paths();
    if paths.is_empty() {
        return;
    }
    for file in files {
        for link in &file.docs.links {
            let folder = format!("{}/", link.path);
            let is_file = paths.binary_search(&link.path).is_ok();
            let is_folder = link.path.is_empty()
                || paths
                    .get(paths.partition_point(|path| *path < folder))
                    .is_some_and(|path| path.starts_with(&folder));
            // Sites leave the ending out, or put another one.
            let has_page = ["md", "mdx", "markdown", "html", "rst"].iter().any(|ending| {
                let stem = link.path.trim_end_matches(".html").trim_end_matches(".htm");
                paths.binary_search(&format!("{stem}.{ending}")).is_ok()
            });
            if !is_file && !is_folder && !has_page {
                let (issue, fix) = (
                    format!(
                        "The link leads nowhere: there is no `{}` in the repository.",
                        link.path
                    ),
                    "Link to where the file is now, or remove the link.",
                );
                findings.push(FILE.on(
                    file.path(),
                    (link.line, link.line),
                    link.quote.clone(),
                    issue,
                    fix,
                ));
            } else if let Some(anchor) = link
                .anchor
                .as_deref()
                .filter(|anchor| is_file && super::is_markdown(&link.path) && !anchor.is_empty())
                && let Some(text) = sources.read(&link.path, Side::Head)
                && !anchors(&text).contains(&anchor.to_ascii_lowercase())
            {
                let issue = format!(
                    "The link leads to no heading: `{}` has none named `#{anchor}`.",
                    link.path
                );
                findings.push(ANCHOR.on(
                    file.path(),
                    (link.line, link.line),
                    link.quote.clone(),
                    issue,
                    "Use the name of the heading in lower case with dashes.",
                ));
            }
        }
    }
    gone(files, sources, findings);
}

/// Documents that still link to a file that the change removes or moves.
fn gone(files: &[FileFacts], sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    let gone: Vec<&str> = files
        .iter()
        .filter_map(|file| match file.entry.change {
            Change::Deleted => Some(file.path()),
            Change::Renamed => file.entry.old_path.as_deref(),
            _ => None,
        })
        .take(50)
        .collect();
    if gone.is_empty() {
        return;
    }
    for path in sources
        .paths()
        .iter()
        .filter(|path| super::is_markdown(path) && super::is_guide(path))
        .take(200)
    {
        let Some(text) = sources.read(path, Side::Head) else { continue };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target, quote) in targets(&text) {
            let target = target.split(['#', '?']).next().unwrap_or_default();
            if !target.is_empty()
                && !target.contains(':')
                && let Some(linked) = joined(folder, target)
                && gone.contains(&linked.as_str())
                && !findings.iter().any(|found| found.file == *path && found.line == line)
            {
                let issue = format!("This links to `{linked}`, which the change removes or moves.");
                let mut found = FILE.on(
                    path,
                    (line, line),
                    quote,
                    issue,
                    "Link to where the file is now, or remove the link.",
                );
                found.caused = true;
                findings.push(found);
            }
        }
    }
}

/// Targets of links with their lines, code left out.
fn targets(text: &str) -> Vec<(u64, &str, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in (1u64..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced || line.starts_with("    ") && !trimmed.starts_with(['-', '*', '[']) {
            continue;
        }
        if trimmed.starts_with('[')
            && !trimmed.starts_with("[^")
            && let Some((_, target)) = trimmed.split_once("]: ")
        {
            let target = target.split_whitespace().next().unwrap_or_default();
            found.push((number, target.trim_matches(['<', '>']), line.trim()));
            continue;
        }
        for (at, _) in line.match_indices("](") {
            // Inside a code span it is no link.
            if line[..at].matches('`').count() % 2 == 1 {
                continue;
            }
            let rest = &line[at + 2..];
            let mut depth = 0;
            let end = rest.find(|c| {
                match c {
                    '(' => depth += 1,
                    ')' if depth == 0 => return true,
                    ')' => depth -= 1,
                    _ => {}
                }
                false
            });
            if let Some(end) = end {
                let target = rest[..end].split_whitespace().next().unwrap_or_default();
                found.push((number, target.trim_matches(['<', '>']), line.trim()));
            }
        }
    }
    found
}

/// The names that headings get, as code hosts make them, and explicit ones.
fn anchors(text: &str) -> HashSet<String> {
    let mut found: HashSet<String> = HashSet::new();
    let mut fenced = false;
    let mut previous = "";
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let underlined = !line.is_empty()
            && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-'))
            && !previous.trim().is_empty();
        let heading = if underlined {
            Some(previous)
        } else {
            trimmed.strip_prefix('#').map(|rest| rest.trim_start_matches('#'))
        };
        if let Some(heading) = heading {
            let (heading, explicit) = match heading.split_once("{#") {
                Some((heading, id)) => (heading, id.split('}').next()),
                None => (heading, None),
            };
            found.extend(explicit.map(str::to_ascii_lowercase));
            // A heading may start with a mark that leaves its space behind.
            found.insert(format!("-{}", slug(without_tags(heading).trim())));
            let name = slug(&without_tags(heading));
            let mut unique = name.clone();
            let mut number = 0;
            while found.contains(&unique) {
                number += 1;
                unique = format!("{name}-{number}");
            }
            found.insert(unique);
        }
        for mark in ["id=\"", "name=\"", "id='", "name='"] {
            found.extend(
                line.split(mark)
                    .skip(1)
                    .filter_map(|rest| rest.split(['"', '\'']).next())
                    .map(str::to_ascii_lowercase),
            );
        }
        previous = line;
    }
    found
}

/// A heading without markup.
fn without_tags(heading: &str) -> String {
    let mut plain = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        rest = after.split_once('>').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

/// A heading's name: lower case, dashes for spaces, other punctuation dropped.
fn slug(heading: &str) -> String {
    // Of a link only its text counts, of an image nothing.
    let mut plain = String::new();
    let mut rest = heading.trim();
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    let mut slug = String::new();
    for c in plain.trim().chars() {
        match c {
            ' ' => slug.push('-'),
            '-' | '_' => slug.push(c),
            c if c.is_alphanumeric() => slug.extend(c.to_lowercase()),
            _ => {}
        }
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_get_the_names_that_code_hosts_give_them() {
        let found = anchors(
            "# How it works\n## `quorum plan`\n## How it works\nSetext title\n===\n## [A link](x.md) & more {#own}\n",
        );
        for name in
            ["how-it-works", "quorum-plan", "how-it-works-1", "setext-title", "own", "a-link--more"]
        {
            assert!(found.contains(name), "{name} in {found:?}");
        }
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let text =
            "See [a](a.md#x) and [b](b(1).md).\n`[c](c.md)`\n```\n[d](d.md)\n```\n[e]: e.md\n";
        let found: Vec<&str> = targets(text).into_iter().map(|(_, target, _)| target).collect();
        assert_eq!(found, ["a.md#x", "b(1).md", "e.md"]);
    }
}
