//! Data flow: where values come from, what becomes of them, and where they do harm.
//!
//! Every function is lowered to one small form and run with what is known about its values:
//! constants, elements of containers, and whether a stranger chose them. Conditions that are
//! constant cut dead branches; functions of the same file are followed with their arguments.

mod builtin;
mod call;
mod eval;
mod exec;
mod follow;
mod fuel;
mod guard;
mod ir;
mod lower;
mod machine;
mod mark;
mod memo;
mod model;
mod names;
mod path;
mod scope;
mod sink;
mod tables;
#[cfg(test)]
mod tests;
mod value;

use quorum_model::finding::TraceStep;

use crate::finding::RuleFinding;
use crate::rule::{RuleSet, at_home, report};
use crate::source::ParsedFile;

use machine::Machine;
use sink::Hit;
pub(crate) use tables::Tables;

/// Sources of this strength are strangers on a network.
const REMOTE: f64 = 0.85;

/// First and last row of each function in which a limit of work was met.
pub(crate) type Unfinished = Vec<(u32, u32)>;

/// Adds what flows find in a file, and says where values were followed only in part.
pub(crate) fn scan(
    rules: &RuleSet,
    file: &ParsedFile,
    findings: &mut Vec<RuleFinding>,
) -> Unfinished {
    let (Some(lang), Some(tree)) = (file.lang, &file.tree) else { return Vec::new() };
    let Some(tables) = rules.tables(lang) else { return Vec::new() };
    if !tables.concerns(file.text()) {
        return Vec::new();
    }
    let module = lower::lower(tree, file.text(), lang);
    let mut machine = Machine::new(&module, tables, file.text(), lang);
    machine.run();
    let unfinished = machine.fuel.unfinished();
    for hit in machine.into_hits() {
        findings.push(finding(tables, file, &hit));
    }
    unfinished
}

fn finding(tables: &Tables, file: &ParsedFile, hit: &Hit) -> RuleFinding {
    let call = &tables.calls[hit.call];
    let rule = &call.rule;
    let title = call.shape().title.as_ref().unwrap_or(&rule.title);
    let (first, last) = (hit.span.row as usize, hit.span.end_row as usize);
    let mut found = report(rule, file, first, last, title, rule.fix.clone());
    found.severity = call.shape().severity.unwrap_or(rule.severity);
    found.confidence = hit.confidence;
    if let Some(taint) = &hit.taint {
        if taint.source.strength < REMOTE {
            found.severity = at_home(found.severity);
        }
        let step = |row: u32, note: &str| TraceStep {
            file: file.path().to_owned(),
            line: u64::from(row) + 1,
            note: note.to_owned(),
        };
        let mut steps = vec![step(hit.span.row, "it does its harm here")];
        let mut at = taint.last.as_ref();
        while let Some(now) = at {
            steps.push(step(now.span.row, &now.note));
            at = now.before.as_ref();
        }
        steps.push(step(taint.source.span.row, &taint.source.note));
        steps.reverse();
        found.trace = steps;
    }
    found
}
