//! Java: collections that change under an iterator.

use quorum_model::severity::Severity;
use quorum_syntax::Node;

use super::rule;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, field, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const CHANGED: CodeRule =
    rule("java.changed-while-iterated", "java-reviewer", "contract", Severity::High, 0.8);

pub(super) fn check(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    if source.contains("CopyOnWrite") || source.contains("Concurrent") {
        return;
    }
    walk(root, |node| {
        if node.kind() == "enhanced_for_statement"
            && let Some(list) =
                node.child_by_field_name("value").filter(|value| value.kind() == "identifier")
            && let Some(body) = node.child_by_field_name("body")
        {
            let name = crate::checks::syntax::text(list, source);
            let changes = any(body, |inner| {
                inner.kind() == "method_invocation"
                    && field(inner, "object", source) == Some(name)
                    && matches!(field(inner, "name", source), Some("remove" | "add"))
            });
            let stops = any(body, |inner| {
                matches!(inner.kind(), "break_statement" | "return_statement" | "throw_statement")
            });
            if changes && !stops {
                let issue = format!(
                    "`{name}` is changed while it is iterated over; the next step throws `ConcurrentModificationException`."
                );
                findings.push(CHANGED.at(
                    file,
                    node,
                    issue,
                    "Use an iterator's `remove`, or `removeIf`.",
                ));
            }
        }
        true
    });
}
