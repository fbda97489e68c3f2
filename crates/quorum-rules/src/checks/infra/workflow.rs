//! GitHub workflows and actions.

use std::sync::LazyLock;

use quorum_model::severity::Severity;
use regex::Regex;

use super::Report;
use super::outline::{self, Entry};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// Values that whoever opens an issue or a pull request chooses.
static CHOSEN_BY_STRANGERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\$\{\{[^}]*\bgithub\.(?:head_ref\b|event\.(?:issue|pull_request|comment|review|review_comment|discussion|discussion_comment|workflow_run|head_commit|commits|pages)\b[^}]*\.?(?:title|body|name|email|message|ref|label|head_branch|default_branch|page_name|display_title|login)\b)[^}]*\}\}",
    )
    .ok()
});

pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let entries = outline::entries(file.text());
    let for_strangers = runs_with_secrets_for_strangers(&entries);
    for entry in &entries {
        match entry.key.as_str() {
            "run" | "script" => script(file, entry, findings),
            "ref" | "repository" if for_strangers => checkout(file, entry, findings),
            "permissions" if entry.value == "write-all" => findings.push(
                Report {
                    id: "workflow.broad-permissions",
                    category: "auth",
                    severity: Severity::Medium,
                    confidence: 0.85,
                    cwe: "CWE-250",
                    issue: "The workflow's token may write everything in the repository. Any action or script in it \
                            can use that."
                        .to_owned(),
                    advice: "Name the permissions that the jobs need, and no others.",
                }
                .on(file, entry.line),
            ),
            _ => {}
        }
    }
    unpinned(file, &entries, findings);
}

/// Whether the workflow runs with the repository's secrets on pull requests of strangers.
fn runs_with_secrets_for_strangers(entries: &[Entry]) -> bool {
    let names = |text: &str| text.contains("pull_request_target") || text.contains("workflow_run");
    entries.iter().any(|entry| {
        let on = entry.key == "on" || entry.is_in("on");
        on && (names(&entry.key) || names(&entry.value))
    })
}

fn script(file: &ParsedFile, entry: &Entry, findings: &mut Vec<RuleFinding>) {
    let Some(pattern) = CHOSEN_BY_STRANGERS.as_ref() else { return };
    for (line, text) in entry.lines() {
        if let Some(found) = pattern.find(text) {
            findings.push(
                Report {
                    id: "workflow.script-injection",
                    category: "injection",
                    severity: Severity::High,
                    confidence: 0.85,
                    cwe: "CWE-78",
                    issue: format!(
                        "`{}` is pasted into a script. Whoever opens the issue or pull request chooses that \
                         text, and with it what the script runs, with the workflow's token.",
                        found.as_str()
                    ),
                    advice: "Put the value into an environment variable (`env:`) and use it as \"$NAME\" in the script.",
                }
                .on(file, line),
            );
        }
        let prints =
            ["echo ", "printf ", "console.log", "print("].iter().any(|word| text.contains(word));
        if prints && text.contains("${{ secrets.") && !text.contains('>') && !text.contains('|') {
            findings.push(
                Report {
                    id: "workflow.secret-printed",
                    category: "secrets",
                    severity: Severity::Medium,
                    confidence: 0.6,
                    cwe: "CWE-532",
                    issue: "A secret is printed to the log. Masking hides it only in the exact form in which it is \
                            stored."
                        .to_owned(),
                    advice: "Do not print it; hand it to the program that needs it through `env:`.",
                }
                .on(file, line),
            );
        }
    }
}

fn checkout(file: &ParsedFile, entry: &Entry, findings: &mut Vec<RuleFinding>) {
    let head =
        ["github.event.pull_request.head", "github.head_ref", "github.event.workflow_run.head"];
    if !head.iter().any(|word| entry.value.contains(word)) || entry.key == "repository" {
        return;
    }
    findings.push(
        Report {
            id: "workflow.untrusted-checkout",
            category: "supply-chain",
            severity: Severity::High,
            confidence: 0.8,
            cwe: "CWE-829",
            issue: "The workflow runs with the repository's secrets and checks out the code of the pull request. \
                    Any build step or script of that code can take the secrets."
                .to_owned(),
            advice: "Use `pull_request`, which has no secrets, for what runs the code, and keep the part that needs \
                     them in a workflow that does not check it out.",
        }
        .on(file, entry.line),
    );
}

/// Actions of others whose code can change under the same name: one finding for the file.
fn unpinned(file: &ParsedFile, entries: &[Entry], findings: &mut Vec<RuleFinding>) {
    let loose: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.key == "uses" && file.source.is_added(entry.line))
        .filter(|entry| is_loose(&entry.value))
        .collect();
    let Some(first) = loose.first() else { return };
    let mut names: Vec<&str> = loose.iter().map(|entry| entry.value.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let branch = names.iter().any(|name| name.ends_with("@main") || name.ends_with("@master"));
    let more = if names.len() > 6 { ", …" } else { "" };
    findings.push(
        Report {
            id: "workflow.unpinned-action",
            category: "supply-chain",
            severity: if branch { Severity::Medium } else { Severity::Low },
            confidence: 0.6,
            cwe: "CWE-829",
            issue: format!(
                "Actions of other owners are used by a name that they can move: {}{more}. Whoever takes over such a \
                 repository runs code in this workflow.",
                names.iter().take(6).copied().collect::<Vec<_>>().join(", ")
            ),
            advice: "Name the full commit, with the version in a comment, and let a bot keep it up to date.",
        }
        .on(file, first.line),
    );
}

fn is_loose(uses: &str) -> bool {
    // The value as it is written, perhaps in quotes and with a comment after it.
    let uses = uses.split(" #").next().unwrap_or(uses).trim().trim_matches(['"', '\'']);
    let Some((name, reference)) = uses.rsplit_once('@') else { return false };
    let known = ["actions/", "github/", "./", "docker://"].iter().any(|own| name.starts_with(own));
    let commit = reference.len() == 40 && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.contains('/') && !known && !commit && !reference.contains("${{")
}
