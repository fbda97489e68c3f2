//! What stays the same about a defect when code moves, is reformatted, or is described anew.

use quorum_model::finding::AgentFinding;

/// The fingerprint of a finding: of its path, the code that it quotes, and what sort of defect it
/// is; not of the line, and not of the wording.
///
/// `occurrence` tells apart defects of one sort whose code reads the same: 0 for the first of them
/// in the file.
pub fn fingerprint(finding: &AgentFinding, occurrence: u64) -> String {
    let path = finding.place().map_or("", |(path, _)| path);
    let snippet = normalise(finding.evidence.as_deref().unwrap_or_default());
    let mut hasher = blake3::Hasher::new();
    for part in [path, &snippet, &class(finding)] {
        // The length keeps the parts apart, whatever is in them.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.update(&occurrence.to_le_bytes());
    short(hasher.finalize())
}

/// Another fingerprint for a defect whose own is taken by another one.
pub(crate) fn next(taken: &str) -> String {
    short(blake3::hash(taken.as_bytes()))
}

/// 128 bits are more than enough to tell the findings of one repository apart.
fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

/// What sort of defect it is: the rule that found it, else the weakness, else the category.
pub(crate) fn class(finding: &AgentFinding) -> String {
    let (kind, class) = match (&finding.rule, &finding.cwe) {
        (Some(rule), _) => ("rule", rule),
        (None, Some(cwe)) => ("cwe", cwe),
        (None, None) => ("category", &finding.category),
    };
    format!("{kind}:{}", class.trim().to_lowercase())
}

/// Code without what a formatter may change: white space, kinds of quotes, optional commas and
/// semicolons.
pub(crate) fn normalise(code: &str) -> String {
    let mut normal = String::with_capacity(code.len());
    for c in code.chars().filter(|c| !c.is_whitespace()) {
        match c {
            ')' | ']' | '}' => {
                if normal.ends_with([',', ';']) {
                    normal.pop();
                }
                normal.push(c);
            }
            '\'' | '`' => normal.push('"'),
            c => normal.push(c),
        }
    }
    let end = normal.trim_end_matches([',', ';']).len();
    normal.truncate(end);
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sighting::tests::finding;

    #[test]
    fn lines_wording_and_formatting_do_not_matter() {
        let one = finding("a.go", 10, "injection", "SQL text is built from input.");
        let mut other = finding("a.go", 99, "injection", "A query is concatenated");
        other.evidence = Some(one.evidence.clone().expect("a quote").replace('(', "(\n    "));
        assert_eq!(fingerprint(&one, 0), fingerprint(&other, 0));
    }

    #[test]
    fn path_code_and_class_matter() {
        let one = finding("a.go", 10, "injection", "x");
        let mut path = one.clone();
        path.file = Some("b.go".to_owned());
        let mut code = one.clone();
        code.evidence = Some("something else".to_owned());
        let mut class = one.clone();
        class.category = "error-handling".to_owned();
        let all = [&one, &path, &code, &class].map(|finding| fingerprint(finding, 0));
        for (index, a) in all.iter().enumerate() {
            assert!(all[index + 1..].iter().all(|b| a != b));
        }
        assert_ne!(fingerprint(&one, 0), fingerprint(&one, 1));
    }

    #[test]
    fn formatters_leave_the_normal_form_alone() {
        let short = "foo(a, b);";
        let long = "foo(\n    a,\n    b,\n)";
        assert_eq!(normalise(short), normalise(long));
        assert_eq!(normalise("x = 'a'"), normalise("x=\"a\";"));
    }
}
