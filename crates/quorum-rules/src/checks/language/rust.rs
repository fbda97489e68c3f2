//! Rust: guards, unsafe code, secrets and casts.

use std::collections::HashMap;

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::{leaks::step, rule};
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, enclosing, field, line, parts, text, walk};
use crate::checks::tests_in_code::is_test_code;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

const AGENT: &str = "rust-reviewer";

pub(crate) const LOCK_ACROSS_AWAIT: CodeRule =
    rule("rust.lock-across-await", AGENT, "async", Severity::High, 0.85);
pub(crate) const LOCK_TWICE: CodeRule =
    rule("rust.lock-taken-twice", AGENT, "deadlock", Severity::High, 0.75);
pub(crate) const UNSAFE: CodeRule =
    rule("rust.unsafe-without-reason", AGENT, "unsafe", Severity::Medium, 0.7);
pub(crate) const SECRET_DEBUG: CodeRule =
    rule("rust.secret-in-debug", AGENT, "api", Severity::Medium, 0.65);
pub(crate) const LOSSY: CodeRule = rule("rust.lossy-cast", AGENT, "numeric", Severity::Medium, 0.6);

pub(super) fn check(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    if file.source.entry.has(Flag::Test) {
        return;
    }
    walk(root, |node| {
        match node.kind() {
            "mod_item" if is_test_code(node, Lang::Rust, source) => return false,
            "block" => lock_across_await(file, node, findings),
            "match_expression" | "if_expression" | "while_expression" => {
                lock_taken_twice(file, node, findings);
            }
            "unsafe_block" => unsafe_without_reason(file, node, findings),
            "struct_item" => secret_in_debug(file, node, findings),
            "function_item" => lossy_casts(file, node, findings),
            _ => {}
        }
        true
    });
}

/// `let guard = x.lock().unwrap();` of a blocking lock, alive at an `.await`.
fn lock_across_await(file: &ParsedFile, block: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let statements = parts(block);
    for (at, statement) in statements.iter().enumerate() {
        if statement.kind() != "let_declaration" {
            continue;
        }
        let value = field(*statement, "value", source).unwrap_or_default();
        let is_guard =
            [".lock().unwrap()", ".lock().expect(", ".write().unwrap()", ".read().unwrap()"]
                .iter()
                .any(|taken| {
                    value.rfind(taken).is_some_and(|at| {
                        let rest = &value[at + taken.len()..];
                        rest.is_empty()
                            || (taken.ends_with('(') && rest.find(')') == Some(rest.len() - 1))
                    })
                });
        let Some(guard) = field(*statement, "pattern", source).filter(|_| is_guard) else {
            continue;
        };
        let guard = guard.trim_start_matches("mut ");
        if guard == "_" {
            continue;
        }
        for later in &statements[at + 1..] {
            let spelt = text(*later, source);
            if spelt.contains(&format!("drop({guard})")) {
                break;
            }
            let mut awaited = None;
            walk(*later, |inner| {
                if inner.kind() == "await_expression" {
                    awaited = awaited.or(Some(inner));
                }
                !matches!(inner.kind(), "closure_expression" | "async_block" | "function_item")
            });
            if let Some(awaited) = awaited {
                let issue = format!(
                    "`{guard}` is held across an `.await`: while this task waits, every thread that needs the lock is blocked, the one that should wake it included."
                );
                let mut found = LOCK_ACROSS_AWAIT.at(
                    file,
                    awaited,
                    issue,
                    "End the guard's scope before the `.await`, or use the runtime's own mutex.",
                );
                found.trace.push(step(file, *statement, "taken here"));
                findings.push(found);
                break;
            }
        }
    }
}

/// The guard in a scrutinee lives to the end of the `match` or `if let`.
fn lock_taken_twice(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let scrutinee = match node.kind() {
        "match_expression" => node.child_by_field_name("value"),
        _ => node
            .child_by_field_name("condition")
            .filter(|condition| condition.kind() == "let_condition")
            .and_then(|condition| condition.child_by_field_name("value")),
    };
    let body = node.child_by_field_name("body").or_else(|| node.child_by_field_name("consequence"));
    let (Some(scrutinee), Some(body)) = (scrutinee, body) else { return };
    let Some(lock) = taken_in(scrutinee, source) else { return };
    let mut again = None;
    walk(body, |inner| {
        if again.is_none()
            && inner.kind() == "call_expression"
            && takes(inner, source) == Some(lock)
        {
            again = Some(inner);
        }
        !matches!(inner.kind(), "closure_expression" | "async_block")
    });
    if let Some(again) = again {
        let issue = format!(
            "`{lock}` is locked again while the guard from the condition still lives, so this waits for itself."
        );
        let mut found = LOCK_TWICE.at(file, again, issue, "Bind what is needed from the first guard in a statement of its own, so that it is dropped before.");
        found.trace.push(step(
            file,
            scrutinee,
            "the guard that is made here lives to the end of this expression",
        ));
        findings.push(found);
    }
}

fn taken_in<'s>(scrutinee: Node<'_>, source: &'s str) -> Option<&'s str> {
    let mut found = None;
    walk(scrutinee, |node| {
        if found.is_none() && node.kind() == "call_expression" {
            found = takes(node, source);
        }
        !matches!(node.kind(), "closure_expression" | "block")
    });
    // What is cloned or copied out of the guard does not keep it, except to the end of the expression.
    found
}

fn takes<'s>(call: Node<'_>, source: &'s str) -> Option<&'s str> {
    let function = call
        .child_by_field_name("function")
        .filter(|function| function.kind() == "field_expression")?;
    let no_arguments = field(call, "arguments", source) == Some("()");
    (no_arguments && field(function, "field", source) == Some("lock"))
        .then(|| field(function, "value", source))?
}

fn unsafe_without_reason(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let first = line(node);
    let row = usize::try_from(first).unwrap_or_default();
    let before: Vec<&str> = source.lines().take(row).collect();
    // The comment stands in the block, on its line, or above the statement that holds it.
    let mut start = node;
    while let Some(parent) = start.parent() {
        if matches!(parent.kind(), "block" | "declaration_list" | "source_file" | "match_block") {
            break;
        }
        start = parent;
    }
    let statement_row = start.start_position().row;
    let explains = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower.contains("safety")
            || lower.contains("unsafe because")
            || lower.contains("safe because")
            || lower.contains("sound")
    };
    let above = before[..statement_row.min(before.len())]
        .iter()
        .rev()
        .take_while(|line| {
            let line = line.trim();
            line.starts_with("//")
                || line.starts_with('#')
                || line.starts_with('*')
                || line.starts_with("/*")
        })
        .any(|line| explains(line));
    let within = any(node, |inner| {
        matches!(inner.kind(), "line_comment" | "block_comment") && explains(text(inner, source))
    });
    let on_way = before[statement_row.min(before.len())..]
        .iter()
        .any(|line| line.contains("//") && explains(line));
    let function_explains = enclosing(node, &["function_item"]).is_some_and(|function| {
        let name = text(function, source);
        name.starts_with("unsafe fn") || name.starts_with("pub unsafe fn")
    });
    if !above && !within && !on_way && !function_explains {
        let issue = "This `unsafe` block does not say why it is sound.";
        let fix = "Add a `// SAFETY:` comment that names what has to hold and why it does.";
        findings.push(UNSAFE.at(file, node, issue, fix));
    }
}

const SECRETS: [&str; 8] = [
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "private_key",
    "access_token",
    "auth_token",
];

fn secret_in_debug(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let mut before = node.prev_named_sibling();
    let mut derives = false;
    while let Some(attribute) =
        before.filter(|node| matches!(node.kind(), "attribute_item" | "line_comment"))
    {
        let spelt = text(attribute, source);
        derives = derives
            || (spelt.starts_with("#[derive")
                && spelt.split(|c: char| !c.is_alphanumeric()).any(|word| word == "Debug"));
        before = attribute.prev_named_sibling();
    }
    let Some(fields) = node.child_by_field_name("body").filter(|_| derives) else { return };
    for item in parts(fields).into_iter().filter(|part| part.kind() == "field_declaration") {
        let name = field(item, "name", source).unwrap_or_default();
        let ty = field(item, "type", source).unwrap_or_default();
        let is_plain = ty.contains("String") || ty.contains("str") || ty.contains("u8");
        if SECRETS.contains(&name) && is_plain {
            let holder = field(node, "name", source).unwrap_or_default();
            let issue = format!(
                "`{holder}` derives `Debug`, which prints `{name}` wherever a value of it is logged."
            );
            findings.push(SECRET_DEBUG.at(
                file,
                item,
                issue,
                "Write `Debug` by hand without it, or give it a type that hides its value.",
            ));
        }
    }
}

/// Parameters of a known, wider type that are cut with `as`.
fn lossy_casts(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let Some(body) = node.child_by_field_name("body") else { return };
    if is_test_code(node, Lang::Rust, source) {
        return;
    }
    let mut types: HashMap<&str, &str> = HashMap::new();
    for parameter in node.child_by_field_name("parameters").map(parts).unwrap_or_default() {
        if let (Some(name), Some(ty)) =
            (field(parameter, "pattern", source), field(parameter, "type", source))
        {
            types.insert(name.trim_start_matches("mut "), ty);
        }
    }
    walk(body, |cast| {
        if cast.kind() == "type_cast_expression"
            && let Some(value) =
                cast.child_by_field_name("value").filter(|value| value.kind() == "identifier")
            && let Some(from) = types.get(text(value, source)).copied()
            && let Some(to) = field(cast, "type", source)
            && loses(from, to)
            && !is_guarded(body, text(value, source), source)
        {
            let name = text(value, source);
            let issue = format!(
                "`{name}` is a `{from}`, and `as {to}` changes values that do not fit without a word."
            );
            findings.push(LOSSY.at(
                file,
                cast,
                issue,
                format!("Use `{to}::try_from({name})`, and say what happens when it does not fit."),
            ));
        }
        true
    });
}

/// A comparison, a mask or a clamp says that somebody thought of the range.
fn is_guarded(body: Node<'_>, name: &str, source: &str) -> bool {
    any(body, |node| {
        let speaks =
            || any(node, |inner| inner.kind() == "identifier" && text(inner, source) == name);
        match node.kind() {
            "binary_expression" => {
                let operator = field(node, "operator", source).unwrap_or_default();
                matches!(operator, "<" | "<=" | ">" | ">=" | "&" | "%" | ">>" | "==" | "!=")
                    && speaks()
            }
            "macro_invocation" => {
                text(node, source).contains("assert") && text(node, source).contains(name)
            }
            "match_expression" => field(node, "value", source) == Some(name),
            _ => false,
        }
    })
}

fn loses(from: &str, to: &str) -> bool {
    let width = |ty: &str| -> Option<(bool, u32)> {
        let signed = ty.starts_with('i');
        match ty {
            "u8" | "i8" => Some((signed, 8)),
            "u16" | "i16" => Some((signed, 16)),
            "u32" | "i32" => Some((signed, 32)),
            "u64" | "i64" | "usize" | "isize" => Some((signed, 64)),
            "u128" | "i128" => Some((signed, 128)),
            _ => None,
        }
    };
    match (width(from), width(to)) {
        // `usize` and `u64` are the same on the machines that most code runs on.
        (Some((_, a)), Some((_, b))) => a > b,
        _ => matches!((from, to), ("f64", "f32")),
    }
}
