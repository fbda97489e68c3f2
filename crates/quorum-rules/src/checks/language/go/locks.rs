//! Locks that are held too long, released the wrong way, or copied.

use std::collections::HashSet;

use quorum_model::severity::Severity;
use quorum_syntax::Node;

use super::AGENT;
use crate::checks::language::rule;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, field, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const KEPT: CodeRule =
    rule("go.lock-kept-on-return", AGENT, "concurrency", Severity::High, 0.8);
pub(crate) const MISMATCH: CodeRule =
    rule("go.lock-mismatch", AGENT, "concurrency", Severity::High, 0.85);
pub(crate) const EMPTY: CodeRule =
    rule("go.empty-critical-section", AGENT, "concurrency", Severity::Medium, 0.7);
pub(crate) const COPIED: CodeRule =
    rule("go.lock-in-value-receiver", AGENT, "concurrency", Severity::High, 0.85);

/// `mu.Lock()` as a statement: the lock, and the method.
fn lock_call<'s>(node: Node<'_>, source: &'s str) -> Option<(&'s str, &'s str)> {
    let call = match node.kind() {
        "expression_statement" | "defer_statement" => node.named_child(0)?,
        _ => return None,
    };
    let function =
        call.child_by_field_name("function").filter(|f| f.kind() == "selector_expression")?;
    let method = field(function, "field", source)?;
    matches!(method, "Lock" | "RLock" | "Unlock" | "RUnlock")
        .then(|| Some((field(function, "operand", source)?, method)))?
}

pub(super) fn check(
    file: &ParsedFile,
    _function: Node<'_>,
    body: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    walk(body, |node| {
        if matches!(node.kind(), "block" | "statement_list") {
            in_block(file, node, findings);
        }
        true
    });
}

fn in_block(file: &ParsedFile, block: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let statements = parts(block);
    for (at, statement) in statements.iter().enumerate() {
        let Some((lock, method @ ("Lock" | "RLock"))) = lock_call(*statement, source) else {
            continue;
        };
        if statement.kind() == "defer_statement" {
            continue;
        }
        let release = if method == "Lock" { "Unlock" } else { "RUnlock" };
        let wrong = if method == "Lock" { "RUnlock" } else { "Unlock" };
        let rest = &statements[at + 1..];
        if let Some(next) = rest.first()
            && let Some((other, released)) = lock_call(*next, source)
            && other == lock
        {
            if released == wrong {
                let issue = format!(
                    "`{lock}` is taken with `{method}` and given back with `{wrong}`, which panics or frees another's lock."
                );
                findings.push(MISMATCH.at(file, *next, issue, format!("Use `{release}`.")));
            } else if released == release && next.kind() != "defer_statement" {
                let issue = format!("Nothing stands between taking and giving back `{lock}`.");
                findings.push(EMPTY.at(file, *statement, issue, "Use `defer` if the rest of the function was meant; say so in a comment if waiting for the lock is the purpose."));
            }
            continue;
        }
        kept_on_return(file, *statement, lock, release, rest, findings);
    }
}

fn kept_on_return(
    file: &ParsedFile,
    taken: Node<'_>,
    lock: &str,
    release: &str,
    rest: &[Node<'_>],
    findings: &mut Vec<RuleFinding>,
) {
    let source = file.text();
    let releases = |node: Node<'_>| {
        any(node, |inner| {
            lock_call(inner, source)
                .is_some_and(|(other, method)| other == lock && method == release)
        }) || text(node, source).contains(&format!("{lock}.{release}"))
    };
    let Some(end) = rest.iter().position(|statement| {
        lock_call(*statement, source)
            .is_some_and(|(other, method)| other == lock && method == release)
    }) else {
        return;
    };
    // Released on all ways by a deferred call.
    if rest[..=end]
        .iter()
        .any(|statement| statement.kind() == "defer_statement" && releases(*statement))
    {
        return;
    }
    let leaving = rest[..end].iter().find_map(|statement| {
        if releases(*statement) {
            return None;
        }
        let mut found = None;
        walk(*statement, |inner| {
            if inner.kind() == "return_statement" {
                found = found.or(Some(inner));
            }
            inner.kind() != "func_literal"
        });
        found
    });
    if let Some(leaving) = leaving {
        let issue =
            format!("This `return` leaves `{lock}` locked; the next caller waits for good.");
        let mut found = KEPT.at(
            file,
            leaving,
            issue,
            format!("Use `defer {lock}.{release}()` right after taking it."),
        );
        found.trace.push(crate::checks::language::leaks::step(file, taken, "taken here"));
        findings.push(found);
    }
}

/// Methods with a value receiver of a struct that holds a lock.
pub(super) fn copied(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let mut holders: HashSet<&str> = HashSet::new();
    walk(root, |node| {
        if node.kind() == "type_spec"
            && let Some(fields) =
                node.child_by_field_name("type").filter(|ty| ty.kind() == "struct_type")
            && any(fields, |inner| {
                inner.kind() == "field_declaration"
                    && field(inner, "type", source).is_some_and(|ty| {
                        matches!(ty, "sync.Mutex" | "sync.RWMutex" | "sync.WaitGroup" | "sync.Once")
                    })
            })
            && let Some(name) = field(node, "name", source)
        {
            holders.insert(name);
        }
        !matches!(node.kind(), "block" | "struct_type")
    });
    walk(root, |node| {
        if node.kind() == "method_declaration"
            && let Some(receiver) = field(node, "receiver", source)
        {
            let spelt = receiver.trim_matches(['(', ')']);
            let ty = spelt.rsplit(' ').next().unwrap_or_default();
            let ty = ty.split('[').next().unwrap_or_default();
            if holders.contains(ty)
                && let Some(at) = node.child_by_field_name("receiver")
            {
                let issue = format!(
                    "Each call of this method works on a copy of `{ty}`, its lock included."
                );
                findings.push(COPIED.at(
                    file,
                    at,
                    issue,
                    format!("Use a pointer receiver: `*{ty}`."),
                ));
            }
        }
        node.kind() != "block"
    });
}
