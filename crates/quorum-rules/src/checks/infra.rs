//! How software is built and run: workflows, images, clusters, cloud resources.

mod compose;
mod dockerfile;
mod kubernetes;
mod outline;
mod terraform;
mod workflow;

use quorum_model::scope::FileEntry;
use quorum_model::severity::Severity;

use super::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// The agent that reports what this module finds.
pub(super) const AGENT: &str = "security-reviewer";

type Infra = fn(&ParsedFile, &mut Vec<RuleFinding>);

/// Looks at one file, by what its name and content say that it is.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    if let Some(check) = check_for(file.path(), Some(file.text())) {
        check(file, findings);
    }
}

/// Whether the file says how software is built or run.
pub(super) fn takes(entry: &FileEntry, text: Option<&str>) -> bool {
    check_for(&entry.path, text).is_some()
}

fn check_for(path: &str, text: Option<&str>) -> Option<Infra> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    if yaml
        && (path.contains(".github/workflows/") || name == "action.yml" || name == "action.yaml")
    {
        Some(workflow::check)
    } else if yaml && is_compose(name) {
        Some(compose::check)
    } else if yaml && text.is_some_and(is_manifest) {
        Some(kubernetes::check)
    } else if is_dockerfile(name) {
        Some(dockerfile::check)
    } else if name.ends_with(".tf") {
        Some(terraform::check)
    } else {
        None
    }
}

fn is_compose(name: &str) -> bool {
    name.starts_with("docker-compose") || name.starts_with("compose.")
}

fn is_dockerfile(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("dockerfile")
        || lower.starts_with("containerfile")
        || lower.ends_with(".dockerfile")
}

fn is_manifest(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    has("apiVersion:") && has("kind:")
}

/// What a check says about one line.
struct Report<'a> {
    id: &'static str,
    category: &'static str,
    severity: Severity,
    confidence: f64,
    cwe: &'static str,
    issue: String,
    advice: &'a str,
}

impl Report<'_> {
    fn on(self, file: &ParsedFile, line: u64) -> RuleFinding {
        let rule = CodeRule {
            id: self.id,
            agent: AGENT,
            category: self.category,
            severity: self.severity,
            confidence: self.confidence,
        };
        let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let quote = file.line(at).unwrap_or_default().trim();
        let quote: String = quote.chars().take(240).collect();
        let found = rule.on(file.path(), (line, line), quote, self.issue, self.advice);
        RuleFinding { cwe: Some(self.cwe.to_owned()), ..found }
    }
}

#[cfg(test)]
mod tests;
