//! A change that users notice, and a changelog that does not mention it.

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;

use super::AGENT;
use crate::checks::facts::FileFacts;
use crate::checks::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::{Side, Sources};

pub(crate) const RULE: CodeRule = CodeRule {
    id: "docs.changelog-untouched",
    agent: AGENT,
    category: "changelog",
    severity: Severity::Low,
    confidence: 0.6,
};

pub(super) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    let touched = files.iter().any(|file| {
        file.entry.has(Flag::Changelog) || is_changelog(file.path()) || is_fragment(file.path())
    });
    if touched {
        return;
    }
    let Some(changelog) =
        sources.paths().iter().find(|path| !path.contains('/') && is_changelog(path))
    else {
        return;
    };
    // Written as the work goes, not at a release: there is a place for what is not released.
    let keeps_open = sources.read(changelog, Side::Head).is_some_and(|text| {
        text.lines().take(30).any(|line| {
            let line = line.to_ascii_lowercase();
            line.contains("unreleased")
                || line.trim() == "tbd"
                || line.contains("(tbd)")
                || line.trim_start_matches('#').trim() == "next"
        })
    });
    if !keeps_open {
        return;
    }
    let notice = files.iter().filter(|file| !file.entry.has(Flag::Test)).find_map(|file| {
        let gained =
            file.api.gained.first().map(|gained| {
                (file, gained.line, gained.quote.clone(), format!("`{}`", gained.name))
            });
        let lost = file
            .api
            .lost
            .first()
            .map(|lost| (file, lost.line, lost.quote.clone(), format!("`{}`", lost.name)));
        gained.or(lost)
    });
    if let Some((file, line, quote, name)) = notice {
        let issue = format!("Users will notice {name}, and `{changelog}` does not mention it.");
        let mut found = RULE.on(
            file.path(),
            (line, line),
            quote,
            issue,
            format!("Add an entry to `{changelog}`."),
        );
        found.caused = true;
        findings.push(found);
    }
}

fn is_changelog(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    matches!(stem, "changelog" | "changes" | "history" | "news" | "release-notes" | "releases")
}

/// Projects that collect entries in a folder.
fn is_fragment(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(
            part,
            ".changeset"
                | "changelog.d"
                | "newsfragments"
                | "changes"
                | ".changes"
                | "changelogs"
                | "releasenotes"
        )
    })
}
