//! Versions with known flaws.

use quorum_advisories::packages::Format;
use quorum_advisories::{Match, Origin, Package, Relation, version};
use quorum_model::finding::{DependencyFacts, Effort};
use quorum_model::severity::Severity;

use super::{AGENT, Change, relation, usage};
use crate::finding::RuleFinding;
use crate::source::Sources;

pub(super) fn check(change: &Change<'_>, sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    let Some(database) = sources.advisories() else { return };
    // Sums name versions that are not built, and a lock file says better than its manifest what is.
    let elsewhere = change.format == Format::GoSum
        || (!change.format.is_lock()
            && change.format != Format::GoMod
            && change.beside(change.format.locks(), sources).is_some());
    if elsewhere {
        return;
    }
    for package in change.changed() {
        let Some(version) = package.version.as_deref() else { continue };
        if package.origin != Origin::Registry {
            continue;
        }
        let found =
            database.affecting(package.ecosystem, &package.name, version).unwrap_or_default();
        let (flaws, notices): (Vec<Match>, Vec<Match>) =
            found.into_iter().partition(|one| one.rating.informational.is_none());
        if !flaws.is_empty() {
            findings.push(vulnerable(change, package, version, &flaws, sources));
        }
        findings.extend(notices.first().map(|one| notice(change, package, version, one)));
    }
}

/// One finding for a package, however many flaws it has: they have one fix.
fn vulnerable(
    change: &Change<'_>,
    package: &Package,
    version: &str,
    flaws: &[Match],
    sources: &dyn Sources,
) -> RuleFinding {
    let worst = &flaws[0];
    let fixed = enough(package, flaws);
    let used = usage::find(package, sources);
    let unreached = package.relation == Relation::Direct && used == usage::Use::NotFound;
    let minor = package.dev || package.relation == Relation::Transitive;
    let severity = if minor && (unreached || package.dev) {
        lower(worst.rating.severity)
    } else {
        worst.rating.severity
    };
    let summary = if worst.advisory.summary.is_empty() {
        worst.advisory.known_as().to_owned()
    } else {
        format!("{} ({})", worst.advisory.summary.trim_end_matches('.'), worst.advisory.known_as())
    };
    let score = worst.rating.score.map_or_else(
        || " No score is published; it is rated by what the advisory describes.".to_owned(),
        |score| format!(" CVSS {score:.1}."),
    );
    let others = match flaws.len() {
        1 => String::new(),
        count => {
            let names: Vec<&str> =
                flaws[1..].iter().take(6).map(|one| one.advisory.known_as()).collect();
            format!(" {} more advisories affect it: {}.", count - 1, names.join(", "))
        }
    };
    let issue = format!(
        "{} {version} has a known vulnerability: {summary}.{score} Affected: {}. It is {}.{}{others}",
        package.name,
        worst.range,
        relation(package),
        used.sentence()
    );
    let recommendation = match &fixed {
        Some(fixed) if package.relation == Relation::Transitive => format!(
            "Update to {} {fixed} or later: update what brings it in, or override its version, and \
             commit the lock file.",
            package.name
        ),
        Some(fixed) => format!("Update to {} {fixed} or later.", package.name),
        None => format!(
            "No fixed version is published. Replace {}, or state why the flaw does not apply here.",
            package.name
        ),
    };
    let category = if package.relation == Relation::Transitive { "transitive" } else { "cve" };
    RuleFinding {
        severity,
        confidence: 0.9,
        category: category.to_owned(),
        cwe: Some("CWE-1395".to_owned()),
        references: vec![format!("https://osv.dev/{}", worst.advisory.id)],
        dependency: Some(DependencyFacts {
            name: package.name.clone(),
            cve: Some(worst.advisory.known_as().to_owned()),
            cvss: worst.rating.score,
            affected_versions: Some(worst.range.clone()),
            patched_version: fixed,
            workaround: None,
        }),
        ..finding(change, package, "dependencies.known-vulnerability", issue, recommendation)
    }
}

/// Unmaintained, unsound and their like: worth knowing, and no vulnerability.
fn notice(change: &Change<'_>, package: &Package, version: &str, one: &Match) -> RuleFinding {
    let kind = one.rating.informational.as_deref().unwrap_or("notable");
    let issue = format!(
        "{} {version} is reported as {kind}: {} ({}). It is {}.",
        package.name,
        one.advisory.summary.trim_end_matches('.'),
        one.advisory.id,
        relation(package)
    );
    let recommendation = one.fixed.as_ref().map_or_else(
        || format!("Plan to replace {}; no later version changes this.", package.name),
        |fixed| format!("Update to {} {fixed} or later.", package.name),
    );
    RuleFinding {
        severity: Severity::Low,
        confidence: 0.8,
        category: "outdated".to_owned(),
        references: vec![format!("https://osv.dev/{}", one.advisory.id)],
        ..finding(change, package, "dependencies.advisory-notice", issue, recommendation)
    }
}

/// The least version in which every flaw that has a fix is fixed.
fn enough(package: &Package, flaws: &[Match]) -> Option<String> {
    let fixes = flaws.iter().filter_map(|one| one.fixed.as_ref());
    fixes.max_by(|a, b| version::compare(package.ecosystem, a, b)).cloned()
}

fn lower(severity: Severity) -> Severity {
    match severity {
        Severity::Critical => Severity::High,
        Severity::High => Severity::Medium,
        Severity::Medium | Severity::Low => Severity::Low,
    }
}

pub(super) fn finding(
    change: &Change<'_>,
    package: &Package,
    rule: &str,
    issue: String,
    recommendation: String,
) -> RuleFinding {
    RuleFinding {
        rule: rule.to_owned(),
        agent: AGENT,
        severity: Severity::Low,
        confidence: 0.6,
        category: "integrity".to_owned(),
        cwe: None,
        file: change.file.path().to_owned(),
        line: package.line,
        end_line: package.line,
        evidence: change.quote(package.line).to_owned(),
        issue,
        recommendation,
        references: Vec::new(),
        effort: Some(Effort::Small),
        trace: Vec::new(),
        dependency: None,
        replacement: None,
        // A version can change by reference: the line that names the package stays as it was.
        caused: change.base.is_some(),
    }
}
