//! Whether a line bears on a claim: what refutes it must lie in the code that the claim is about.

use std::collections::BTreeSet;

use quorum_model::finding::Finding;
use quorum_model::symbol::SymbolKind;
use quorum_syntax::Limits;
use quorum_syntax::outline::{Declaration, Reader, outline};

use super::ground::Lines;
use super::shown::Shown;

/// How far from the claim a line may be in a file whose functions are not known.
const NEARBY: u64 = 12;

/// Whether `lines` of `path`, whose text is `text`, bear on `finding`: they lie in the function of its
/// place, they are a step of its trace, or they are in the definition of something that it names.
pub(crate) fn bears(finding: &Finding, path: &str, text: &Shown, lines: Lines) -> bool {
    let within = |(first, last): Lines| first <= lines.1 && lines.0 <= last;
    if finding.trace.iter().any(|step| step.file == path && within((step.line, step.line))) {
        return true;
    }
    let source: Vec<&str> = text.lines().map(|(_, line)| line).collect();
    let declared = outline(source.join("\n").as_bytes(), Reader::of(None, path), Limits::default());
    let declared = declared.map(|outline| outline.declarations).unwrap_or_default();
    if path == finding.file {
        let place = (finding.line, finding.end_line.max(finding.line));
        let around = function_around(&declared, place);
        let around = around.unwrap_or((place.0.saturating_sub(NEARBY), place.1 + NEARBY));
        if within(around) {
            return true;
        }
    }
    let named = words(&[&finding.evidence, &finding.issue]);
    let defines = |one: &&Declaration| named.contains(one.name.as_str()) && within(span(one));
    // A type that is named is not all of its methods.
    declared.iter().filter(|one| !holds_others(one.kind)).any(|one| defines(&one))
}

/// The innermost function that holds a place.
fn function_around(declared: &[Declaration], place: Lines) -> Option<Lines> {
    let holds = |one: &&Declaration| {
        let (first, last) = span(one);
        is_function(one.kind) && first <= place.0 && place.1 <= last
    };
    let spans = declared.iter().filter(holds).map(span);
    spans.min_by_key(|(first, last)| last - first)
}

fn span(one: &Declaration) -> Lines {
    (u64::from(one.start_line), u64::from(one.end_line))
}

fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Function | SymbolKind::Method)
}

fn holds_others(kind: SymbolKind) -> bool {
    let one = [SymbolKind::Constant, SymbolKind::Variable, SymbolKind::Property, SymbolKind::Macro];
    !is_function(kind) && !one.contains(&kind)
}

/// The names in some texts.
fn words<'t>(texts: &[&'t str]) -> BTreeSet<&'t str> {
    let parts =
        texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    parts.filter(|word| word.len() > 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::redact::NoSecrets;
    use quorum_model::finding::TraceStep;
    use serde_json::json;

    const CODE: &str = "LIMIT = 10\n\ndef check(value):\n    if value > LIMIT:\n        raise ValueError\n\n\
                        def take(items):\n    value = check(items)\n    return items[len(items)]\n\n\
                        def other():\n    raise ValueError(\"funds\")\n";

    fn finding() -> Finding {
        let value = json!({ "id": "F-001", "fingerprint": "f", "severity": "HIGH",
            "category": "logic", "rule": null, "file": "a.py", "line": 9, "end_line": 9,
            "evidence": "return items[len(items)]", "issue": "`check` does not look at the length",
            "recommendation": "r", "cwe": null, "agents": ["a"], "corroboration": 1,
            "confidence": 0.9, "state": "new" });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_refutes_a_claim_lies_where_the_claim_is() {
        let text = Shown::of(CODE, &NoSecrets).unwrap();
        let bears =
            |finding: &Finding, path: &str, line: u64| bears(finding, path, &text, (line, line));
        let claim = finding();
        assert!(bears(&claim, "a.py", 8), "the same function");
        assert!(bears(&claim, "a.py", 5), "the definition of what the claim names");
        assert!(!bears(&claim, "a.py", 12), "another function");
        assert!(!bears(&claim, "a.py", 1), "a constant that the claim does not name");
        assert!(!bears(&claim, "b.py", 8), "another file");
        let step = TraceStep { file: "b.py".to_owned(), line: 12, note: String::new() };
        let traced = Finding { trace: vec![step], ..claim };
        assert!(bears(&traced, "b.py", 12), "a step of its trace");
        let plain = Shown::of("a\nb\nc\n", &NoSecrets).unwrap();
        let near = Finding { file: "notes.xyz".to_owned(), line: 1, end_line: 1, ..finding() };
        assert!(super::bears(&near, "notes.xyz", &plain, (3, 3)), "no functions are known");
        assert!(!super::bears(&near, "notes.xyz", &plain, (40, 40)));
    }
}
