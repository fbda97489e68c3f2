//! What findings quote: without secrets, and one finding for one secret.

use std::collections::HashMap;

use crate::checks::secrets::Known;
use crate::finding::RuleFinding;
use crate::suppress::Suppressed;

/// The category of findings about secrets.
const SECRETS: &str = "secrets";

/// Masks the secrets of a file in all that its findings say. Nothing is stored, shown or sent
/// before this.
pub(crate) fn mask(path: &str, text: &str, findings: &mut [RuleFinding]) {
    if findings.is_empty() {
        return;
    }
    let known = Known::of(Some(path), text);
    // A rule says the same wherever it finds something.
    let mut said: HashMap<String, String> = HashMap::new();
    let mut clean = |text: &mut String| {
        let clean = match said.get(text) {
            Some(clean) => clean.clone(),
            None => said.entry(text.clone()).or_insert(known.clean(text)).clone(),
        };
        *text = clean;
    };
    for found in findings {
        clean(&mut found.evidence);
        // A rule that says that a credential stands here knows what the text does not show.
        if found.category == SECRETS && !is_detected(found) {
            found.evidence = without_strings(&found.evidence);
        }
        clean(&mut found.issue);
        clean(&mut found.recommendation);
        for step in &mut found.trace {
            clean(&mut step.note);
        }
        // What would put stars in the place of a value is no fix.
        found.replacement.take_if(|new| known.clean(&new.text) != new.text);
    }
}

/// Masks the secrets of a file in what its comments say about what they suppress.
pub(crate) fn mask_reasons(path: &str, text: &str, suppressed: &mut [Suppressed]) {
    if suppressed.iter().all(|held| held.reason.is_empty()) {
        return;
    }
    let known = Known::of(Some(path), text);
    for held in suppressed {
        held.reason = known.clean(&held.reason);
    }
}

/// Strings that can be secrets, masked: the whole line is evidence that one of them is.
fn without_strings(line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, from) = rest.split_at(at);
        masked.push_str(before);
        let quote = &from[..1];
        let Some(length) = from[1..].find(quote) else {
            rest = from;
            break;
        };
        let value = &from[1..=length];
        masked.push_str(quote);
        if is_plain(value) {
            masked.push_str(value);
        } else {
            masked.extend(value.chars().map(|_| '*'));
        }
        masked.push_str(quote);
        rest = &from[length + 2..];
    }
    masked.push_str(rest);
    masked
}

/// Whether a string is too short to be a secret, masked already, or a name of something.
fn is_plain(value: &str) -> bool {
    let name = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '-' | '.');
    value.chars().count() < 4
        || value.contains('*')
        || value.contains("://")
        || (value.len() < 8 && value.chars().all(name) && !value.contains('-'))
}

/// Whether a detector of secrets found it, and not a rule about calls and names.
fn is_detected(found: &RuleFinding) -> bool {
    found.rule.starts_with("secrets.")
}

/// One secret is one finding: what a detector of secrets reports stands for what a rule about
/// credentials reports of the same lines, at the higher severity.
pub(crate) fn one_for_each_secret(findings: Vec<RuleFinding>) -> Vec<RuleFinding> {
    let is_about = |found: &RuleFinding| found.category == SECRETS;
    let (mut kept, others): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|found| !is_about(found) || is_detected(found));
    for found in others {
        let overlaps = |known: &&mut RuleFinding| {
            is_about(known)
                && known.agent == found.agent
                && known.line <= found.end_line.max(found.line)
                && found.line <= known.end_line.max(known.line)
        };
        let Some(known) = kept.iter_mut().find(overlaps) else {
            kept.push(found);
            continue;
        };
        let better = (found.severity, found.confidence) > (known.severity, known.confidence);
        if better {
            known.severity = known.severity.max(found.severity);
            known.confidence = known.confidence.max(found.confidence);
        }
        let reference = format!("rule:{}", found.rule);
        if known.rule != found.rule && !known.references.contains(&reference) {
            known.references.push(reference);
        }
    }
    kept
}
