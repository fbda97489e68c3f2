//! Goroutines that wait for a receiver that has gone.

use std::collections::HashSet;

use quorum_model::severity::Severity;
use quorum_syntax::Node;

use super::AGENT;
use crate::checks::language::{leaks::step, rule};
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, enclosing, field, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const RULE: CodeRule =
    rule("go.goroutine-leak", AGENT, "goroutine-leak", Severity::High, 0.8);

pub(super) fn check(file: &ParsedFile, body: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let mut unbuffered: HashSet<&str> = HashSet::new();
    walk(body, |node| {
        if node.kind() == "short_var_declaration"
            && let (Some(left), Some(right)) =
                (field(node, "left", source), field(node, "right", source))
            && right.starts_with("make(chan ")
            && !right.contains(',')
        {
            unbuffered.insert(left);
        }
        true
    });
    for channel in sorted(unbuffered) {
        let Some(send) = lone_send(body, channel, source) else { continue };
        let Some(select) = other_way_out(body, channel, source) else { continue };
        let issue = format!(
            "This goroutine never ends when the `select` takes another case: nobody receives from `{channel}` any more."
        );
        let fix = "Give the channel room for one: `make(chan …, 1)`, or send in a `select` with the same way out.";
        let mut found = RULE.at(file, send, issue, fix);
        found.trace.push(step(file, select, "this may return without receiving"));
        findings.push(found);
    }
}

fn sorted(names: HashSet<&str>) -> Vec<&str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names
}

/// A send outside of `select` and of loops, in a goroutine that is started here.
fn lone_send<'t>(body: Node<'t>, channel: &str, source: &str) -> Option<Node<'t>> {
    let mut found = None;
    walk(body, |node| {
        if found.is_none()
            && node.kind() == "send_statement"
            && field(node, "channel", source) == Some(channel)
            && enclosing(node, &["go_statement"])
                .is_some_and(|go| go.start_byte() >= body.start_byte())
            && enclosing(node, &["communication_case", "func_literal"])
                .is_some_and(|above| above.kind() == "func_literal")
        {
            found = Some(node);
        }
        true
    });
    found
}

/// A `select` outside of loops and goroutines that may leave without receiving from the channel.
fn other_way_out<'t>(body: Node<'t>, channel: &str, source: &str) -> Option<Node<'t>> {
    let mut found = None;
    walk(body, |node| {
        if node.kind() == "func_literal" || node.kind() == "for_statement" {
            return false;
        }
        if node.kind() == "select_statement" {
            let cases = parts(node);
            let receives = cases.iter().any(|case| {
                case.child_by_field_name("communication").is_some_and(|communication| {
                    text(communication, source).ends_with(&format!("<-{channel}"))
                })
            });
            let leaves = cases.iter().any(|case| {
                case.child_by_field_name("communication").is_some_and(|communication| {
                    let spelt = text(communication, source);
                    spelt.contains("Done()")
                        || spelt.contains("time.After(")
                        || spelt.contains(".C")
                }) && any(*case, |inner| inner.kind() == "return_statement")
            });
            let received_elsewhere = count_receives(body, channel, source) > 1;
            if receives && leaves && !received_elsewhere {
                found = found.or(Some(node));
            }
        }
        true
    });
    found
}

fn count_receives(body: Node<'_>, channel: &str, source: &str) -> usize {
    let mut count = 0;
    walk(body, |node| {
        if node.kind() == "unary_expression" && text(node, source) == format!("<-{channel}") {
            count += 1;
        }
        if node.kind() == "range_clause" && field(node, "right", source) == Some(channel) {
            count += 2;
        }
        true
    });
    count
}
