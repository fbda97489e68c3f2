//! Functions that a change makes too large or too branched.

use std::collections::HashMap;

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::functions::{Function, Size, functions};
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{end_line, line};
use crate::checks::tests_in_code::is_test_code;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const RULE: CodeRule = CodeRule {
    id: "quality.function-size",
    agent: AGENT,
    category: "complexity",
    severity: Severity::Low,
    confidence: 0.6,
};

/// A measure with the values from which it is a warning, and above which it is too much.
struct Measure {
    name: &'static str,
    warning: usize,
    limit: usize,
    of: fn(&Size) -> usize,
    advice: &'static str,
}

const MEASURES: [Measure; 4] = [
    Measure {
        name: "cyclomatic complexity",
        warning: 10,
        limit: 20,
        of: |size| size.cyclomatic,
        advice: "Give the separate decisions functions of their own, so that each can be read and tested alone.",
    },
    Measure {
        name: "lines of code",
        warning: 50,
        limit: 100,
        of: |size| size.lines,
        advice: "Split it where its steps can be named.",
    },
    Measure {
        name: "levels of nesting",
        warning: 4,
        limit: 6,
        of: |size| size.nesting,
        advice: "Return early for the exceptional cases, or move the inner levels into a function.",
    },
    Measure {
        name: "parameters",
        warning: 5,
        limit: 7,
        of: |size| size.parameters,
        advice: "Group parameters that belong together into a type with names.",
    },
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Ok,
    Warning,
    TooMuch,
}

impl Measure {
    fn grade(&self, size: &Size) -> Grade {
        let value = (self.of)(size);
        // A table is long and has many cases, and is easy to read all the same.
        let flat = match self.name {
            "cyclomatic complexity" => size.branching,
            "lines of code" if size.branching < 6 => 0,
            _ => value,
        };
        match value.min(flat) {
            value if value > self.limit => Grade::TooMuch,
            value if value >= self.warning => Grade::Warning,
            _ => Grade::Ok,
        }
    }

    /// What to report, if the change crossed a limit or made an exceeded one clearly worse.
    fn worsened(&self, now: &Size, before: Option<&Size>) -> Option<Grade> {
        let grade = self.grade(now);
        if grade == Grade::Ok {
            return None;
        }
        let Some(before) = before else { return Some(grade) };
        let (new, old) = ((self.of)(now), (self.of)(before));
        let crossed = grade > self.grade(before) && new > old;
        let clearly_worse = grade == Grade::TooMuch && new * 4 >= old * 5;
        (crossed || clearly_worse).then_some(grade)
    }
}

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    if file.source.entry.has(Flag::Test) {
        return;
    }
    let source = file.text();
    let now = functions(root, lang, source);
    let touched: Vec<&Function<'_>> = now
        .iter()
        .filter(|function| file.source.touches(line(function.node), end_line(function.node)))
        .filter(|function| !is_test_code(function.node, lang, source))
        .collect();
    if touched.is_empty() {
        return;
    }
    let base_text = file.source.base.as_deref().unwrap_or_default();
    let base = file.base_tree.as_ref().map(|tree| functions(tree.root_node(), lang, base_text));
    let base = base.unwrap_or_default();
    let before: HashMap<&str, &Function<'_>> = base.iter().map(|f| (f.name.as_str(), f)).collect();
    for function in touched {
        let size = function.size(lang, source);
        let known = before.get(function.name.as_str()).map(|old| old.size(lang, base_text));
        let known = known.or_else(|| {
            let kept = |name: &str| now.iter().any(|new| new.name == name);
            let gone = base.iter().filter(|old| !kept(&old.name));
            renamed_from(&size, gone.map(|old| old.size(lang, base_text)))
        });
        if let Some((measure, grade)) = worst(&size, known.as_ref()) {
            findings.push(found(file, function, &size, known.as_ref(), (measure, grade)));
        }
    }
}

/// A function that went away and is as branched and about as long: probably this one, renamed.
fn renamed_from(size: &Size, mut gone: impl Iterator<Item = Size>) -> Option<Size> {
    gone.find(|old| {
        old.cyclomatic.abs_diff(size.cyclomatic) <= 2
            && old.lines.abs_diff(size.lines) * 5 <= size.lines
    })
}

fn worst(now: &Size, before: Option<&Size>) -> Option<(&'static Measure, Grade)> {
    let worsened = MEASURES.iter().filter_map(|m| Some((m, m.worsened(now, before)?)));
    // Of equal grades, the first measure in the list.
    worsened.fold(None, |worst, next| match worst {
        Some((_, grade)) if grade >= next.1 => worst,
        _ => Some(next),
    })
}

fn found(
    file: &ParsedFile,
    function: &Function<'_>,
    size: &Size,
    before: Option<&Size>,
    (measure, grade): (&Measure, Grade),
) -> RuleFinding {
    let value = (measure.of)(size);
    let name = function.name.rsplit('.').next().unwrap_or_default();
    let name = name.split('#').next().unwrap_or_default();
    let (limit, word) = match grade {
        Grade::TooMuch => (measure.limit + 1, "too much"),
        _ => (measure.warning, "a warning"),
    };
    let was = match before.map(|size| (measure.of)(size)) {
        Some(old) if old != value => format!(", {old} before the change"),
        _ => String::new(),
    };
    let unit = match measure.name {
        "cyclomatic complexity" => format!("a cyclomatic complexity of {value}"),
        other => format!("{value} {other}"),
    };
    let issue = format!("`{name}` has {unit}{was}. From {limit} on that is {word}.");
    let start = function.node.start_byte();
    let preceding = file.text().get(..start).unwrap_or_default();
    // With what stands before it: of `export const f = (` the function itself is `(`.
    let start = preceding.rfind('\n').map_or(0, |feed| feed + 1);
    let signature = file.text().get(start..function.body.start_byte()).unwrap_or_default();
    let evidence = signature.lines().next().unwrap_or_default().trim();
    let first = line(function.node);
    let mut found = RULE.on(file.path(), (first, first), evidence, issue, measure.advice);
    if grade == Grade::TooMuch {
        found.severity = Severity::Medium;
        found.confidence = 0.8;
    }
    // In a whole file a warning is one of many, and nobody asked about this function.
    if grade == Grade::Warning && file.source.added.is_none() {
        found.confidence = 0.4;
    }
    // The change is somewhere in the function, not always in its first line.
    found.caused = true;
    found
}
