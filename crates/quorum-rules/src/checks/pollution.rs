//! Functions that copy or set properties under names that somebody else chooses, and so can be led
//! to the prototype of all objects.

use std::sync::LazyLock;

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};
use regex::Regex;

use super::rule::CodeRule;
use super::syntax::{any, field, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

const MERGE: CodeRule = CodeRule {
    id: "prototype-pollution-merge",
    agent: "security-reviewer",
    category: "injection",
    severity: Severity::Medium,
    confidence: 0.65,
};

/// What shows that the names are looked at, or that the objects have no prototype.
static GUARD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"__proto__|\bprototype\b|Object\.create\(null\)|new Map\b|(?i)(poison|pollut|(un|is)safe)",
    )
    .expect("a constant pattern is well formed")
});

/// Names of what is followed step by step: `a.b.c`.
static STEPS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\.split\(|(?i)\b(path|keys?|segments?|parts|props?|fields?)\b")
        .expect("a constant pattern is well formed")
});

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let (Some(Lang::JavaScript | Lang::TypeScript | Lang::Tsx), Some(tree)) =
        (file.lang, &file.tree)
    else {
        return;
    };
    if file.source.entry.has(Flag::Test) || !file.text().contains("] =") {
        return;
    }
    walk(tree.root_node(), |node| {
        if node.kind() == "assignment_expression"
            && let Some(store) = Store::read(node, file.text())
            && store.can_reach_prototype()
        {
            let mut finding = MERGE.at(
                file,
                node,
                "Properties are set under names that come from outside, and nothing keeps `__proto__` and `constructor` out: an object that JSON can bring changes the prototype of every object in the program.",
                "Leave out `__proto__`, `constructor` and `prototype`, or write only to what the target has as its own.",
            );
            finding.cwe = Some("CWE-1321".to_owned());
            findings.push(finding);
        }
        true
    });
}

/// `object[key] = value` in a function with a name.
struct Store<'t> {
    object: &'t str,
    key: Node<'t>,
    value: Node<'t>,
    function: Node<'t>,
    name: &'t str,
    source: &'t str,
}

impl<'t> Store<'t> {
    fn read(node: Node<'t>, source: &'t str) -> Option<Self> {
        let left = node.child_by_field_name("left")?;
        let value = node.child_by_field_name("right")?;
        if left.kind() != "subscript_expression" {
            return None;
        }
        let key = left.child_by_field_name("index")?;
        if !matches!(key.kind(), "identifier" | "subscript_expression" | "member_expression") {
            return None;
        }
        let (function, name) = named_function(node, source)?;
        let object = field(left, "object", source)?;
        Some(Self { object, key, value, function, name, source })
    }

    fn can_reach_prototype(&self) -> bool {
        let body = text(self.function, self.source);
        let key = text(self.key, self.source);
        if GUARD.is_match(body) || self.is_own(body) || is_counter(key, body) {
            return false;
        }
        self.merges(body, key) || self.follows_path(body) || self.follows_two_steps(key)
    }

    /// Whether only properties that the target has itself are written.
    fn is_own(&self, body: &str) -> bool {
        let object = self.object;
        [
            format!("{object}.hasOwnProperty("),
            format!("hasOwnProperty.call({object},"),
            format!("hasOwn({object},"),
        ]
        .iter()
        .any(|test| body.contains(test.as_str()))
    }

    /// Whether the function calls itself with what stands under the same name: a deep copy.
    fn merges(&self, body: &str, key: &str) -> bool {
        let inner = format!("{}[{key}]", self.object);
        let aliased = body.find(&format!("= {inner}")).and_then(|at| {
            let before = body[..at].trim_end();
            before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next()
        });
        any(self.function, |node| {
            let recursive = node.kind() == "call_expression"
                && field(node, "function", self.source)
                    .is_some_and(|callee| callee.rsplit('.').next() == Some(self.name));
            recursive
                && node.child_by_field_name("arguments").is_some_and(|list| {
                    parts(list).into_iter().any(|argument| {
                        let given = text(argument, self.source);
                        given.contains(&inner) || aliased.is_some_and(|alias| alias == given)
                    })
                })
        })
    }

    /// `object[path[0]][path[1]]`
    fn follows_two_steps(&self, key: &str) -> bool {
        let first = key.strip_suffix("[1]").map(|path| format!("[{path}[0]]"));
        first.is_some_and(|first| self.object.ends_with(&first))
    }

    /// Whether the target is found by one name after another: `o = o[name]`.
    fn follows_path(&self, body: &str) -> bool {
        let plain = matches!(
            self.value.kind(),
            "identifier" | "call_expression" | "subscript_expression" | "ternary_expression"
        );
        if !plain || !self.object.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            return false;
        }
        let object = self.object;
        let steps = [format!("{object} = {object}["), format!("{object} = ({object}[")];
        steps.iter().any(|step| body.contains(step.as_str())) && STEPS.is_match(body)
    }
}

/// The nearest function around a node that has a name, and the name.
fn named_function<'t>(node: Node<'t>, source: &'t str) -> Option<(Node<'t>, &'t str)> {
    let mut at = node.parent();
    while let Some(around) = at {
        let parent = around.parent();
        let name = match around.kind() {
            "function_declaration" | "method_definition" | "generator_function_declaration" => {
                field(around, "name", source)
            }
            "function_expression" | "arrow_function" => {
                field(around, "name", source).or_else(|| {
                    let parent = parent?;
                    match parent.kind() {
                        "variable_declarator" => field(parent, "name", source),
                        "assignment_expression" => {
                            field(parent, "left", source)?.rsplit('.').next()
                        }
                        "pair" => field(parent, "key", source),
                        _ => None,
                    }
                })
            }
            _ => None,
        };
        if let Some(name) = name {
            return Some((around, name));
        }
        at = parent;
    }
    None
}

/// Whether a key counts: `i = 0`, `i++`.
fn is_counter(key: &str, body: &str) -> bool {
    let starts = |text: &str| {
        body.match_indices(text).any(|(at, _)| {
            body[at + text.len()..].trim_start().starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let steps = [format!("{key}++"), format!("++{key}"), format!("{key} += "), format!("{key}--")];
    starts(&format!("{key} ="))
        || starts(&format!("{key}="))
        || steps.iter().any(|step| body.contains(step.as_str()))
}
