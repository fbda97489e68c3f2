//! What is opened in a function, kept in it, and never closed.

use quorum_model::finding::TraceStep;
use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::{agent, rule};
use crate::checks::functions::functions;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{enclosing, field, line, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const GO: CodeRule =
    rule("go.not-closed", "go-reviewer", "resources", Severity::High, 0.75);
pub(crate) const PYTHON: CodeRule =
    rule("python.not-closed", "python-reviewer", "resources", Severity::Medium, 0.7);
pub(crate) const JAVA: CodeRule =
    rule("java.not-closed", "java-reviewer", "resources", Severity::High, 0.7);

/// A step of a finding's explanation.
pub(super) fn step(file: &ParsedFile, node: Node<'_>, note: &str) -> TraceStep {
    TraceStep { file: file.path().to_owned(), line: line(node), note: note.to_owned() }
}

/// Something that is opened and has to be closed.
struct Opened<'s, 't> {
    name: &'s str,
    node: Node<'t>,
    what: &'static str,
    /// How closing it is spelt after its name.
    closers: &'static [&'static str],
    fix: &'static str,
}

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    let rule = match lang {
        Lang::Go => &GO,
        Lang::Python => &PYTHON,
        Lang::Java => &JAVA,
        _ => return,
    };
    debug_assert_eq!(rule.agent, agent(lang));
    if file.source.entry.has(Flag::Test) {
        return;
    }
    let source = file.text();
    for function in functions(root, lang, source) {
        walk(function.body, |node| {
            if let Some(opened) = opened(node, lang, source)
                && !is_released(function.body, &opened, source)
            {
                let issue = format!(
                    "{} `{}` is never closed in this function, and nothing else gets it.",
                    opened.what, opened.name
                );
                findings.push(rule.at(file, opened.node, issue, opened.fix));
            }
            true
        });
    }
}

fn opened<'s, 't>(node: Node<'t>, lang: Lang, source: &'s str) -> Option<Opened<'s, 't>> {
    match (lang, node.kind()) {
        (Lang::Go, "short_var_declaration") => go(node, source),
        (Lang::Python, "assignment") => python(node, source),
        (Lang::Java, "local_variable_declaration") => java(node, source),
        _ => None,
    }
}

fn go<'s, 't>(node: Node<'t>, source: &'s str) -> Option<Opened<'s, 't>> {
    let right = node
        .child_by_field_name("right")
        .and_then(|list| list.named_child(0))
        .filter(|call| call.kind() == "call_expression")?;
    let function = field(right, "function", source)?;
    let name = node
        .child_by_field_name("left")
        .and_then(|list| list.named_child(0))
        .map(|first| text(first, source))
        .filter(|name| *name != "_")?;
    let method = function.rsplit('.').next().unwrap_or_default();
    let client = function.rsplit('.').nth(1).unwrap_or_default().to_ascii_lowercase();
    let (what, closers, fix): (_, &'static [&'static str], _) = match function {
        "http.Get" | "http.Post" | "http.Head" | "http.PostForm" => (
            "The body of",
            &[".Body.Close", ".Body"],
            "Add `defer resp.Body.Close()` after the check of the error.",
        ),
        "os.Open" | "os.Create" | "os.OpenFile" | "os.CreateTemp" => (
            "The file",
            &[".Close"],
            "Add `defer f.Close()` after the check of the error; where it was written to, look at the error of `Close`.",
        ),
        "net.Dial" | "net.Listen" | "net.DialTimeout" | "gzip.NewReader" | "zip.OpenReader" => (
            "The connection or reader",
            &[".Close"],
            "Close it with `defer` after the check of the error.",
        ),
        _ if method == "Do" && client.ends_with("client") => (
            "The body of",
            &[".Body.Close", ".Body"],
            "Add `defer resp.Body.Close()` after the check of the error.",
        ),
        _ if matches!(method, "Query" | "QueryContext" | "Queryx")
            && matches!(client.as_str(), "db" | "tx" | "conn" | "stmt") =>
        {
            (
                "The rows",
                &[".Close"],
                "Add `defer rows.Close()` after the check of the error, and look at `rows.Err()`.",
            )
        }
        "time.NewTicker" => ("The ticker", &[".Stop"], "Stop it with `defer`."),
        _ => return None,
    };
    Some(Opened { name, node, what, closers, fix })
}

fn python<'s, 't>(node: Node<'t>, source: &'s str) -> Option<Opened<'s, 't>> {
    let name = node
        .child_by_field_name("left")
        .filter(|left| left.kind() == "identifier")
        .map(|left| text(left, source))?;
    let call = node.child_by_field_name("right").filter(|right| right.kind() == "call")?;
    let function = field(call, "function", source)?;
    let what = match function {
        "open" | "io.open" | "codecs.open" | "gzip.open" => "The file",
        "socket.socket" | "socket.create_connection" => "The socket",
        "sqlite3.connect" | "psycopg2.connect" | "pymysql.connect" => "The connection",
        "zipfile.ZipFile" | "tarfile.open" => "The archive",
        _ => return None,
    };
    Some(Opened {
        name,
        node,
        what,
        closers: &[".close", ".__exit__", ".detach"],
        fix: "Open it in a `with` statement.",
    })
}

fn java<'s, 't>(node: Node<'t>, source: &'s str) -> Option<Opened<'s, 't>> {
    let declarator = node.child_by_field_name("declarator")?;
    let name = field(declarator, "name", source)?;
    let value = declarator.child_by_field_name("value")?;
    let is_resource = match value.kind() {
        "object_creation_expression" => {
            let ty = field(value, "type", source)?;
            let spelt = text(value, source);
            let wraps_memory = spelt.contains("ByteArray")
                || spelt.contains("StringReader")
                || spelt.contains("StringWriter")
                || spelt.contains("System.in")
                || spelt.contains("System.out");
            let on_file = matches!(
                ty,
                "FileInputStream"
                    | "FileOutputStream"
                    | "FileReader"
                    | "FileWriter"
                    | "RandomAccessFile"
                    | "Socket"
                    | "ServerSocket"
                    | "ZipFile"
                    | "JarFile"
            ) || (matches!(
                ty,
                "BufferedReader"
                    | "BufferedWriter"
                    | "PrintWriter"
                    | "Scanner"
                    | "InputStreamReader"
                    | "ObjectInputStream"
                    | "BufferedInputStream"
                    | "ObjectOutputStream"
            ) && (spelt.contains("new File") || spelt.contains("Files.")));
            on_file && !wraps_memory
        }
        "method_invocation" => {
            let method = field(value, "name", source)?;
            let object = field(value, "object", source).unwrap_or_default();
            (matches!(object, "Files")
                && matches!(
                    method,
                    "newBufferedReader"
                        | "newBufferedWriter"
                        | "newInputStream"
                        | "newOutputStream"
                        | "lines"
                        | "list"
                        | "walk"
                        | "newDirectoryStream"
                ))
                || (object == "DriverManager" && method == "getConnection")
                || (matches!(method, "prepareStatement" | "createStatement")
                    && object.to_ascii_lowercase().contains("conn"))
        }
        _ => false,
    };
    is_resource.then_some(Opened {
        name,
        node,
        what: "The resource",
        closers: &[".close"],
        fix: "Open it in a `try` with resources.",
    })
}

/// Whether it is closed, returned, stored, or handed to somebody who may close it.
fn is_released(body: Node<'_>, opened: &Opened<'_, '_>, source: &str) -> bool {
    let mut released = false;
    walk(body, |node| {
        if released || node.byte_range() == opened.node.byte_range() {
            return false;
        }
        if !matches!(node.kind(), "identifier") || text(node, source) != opened.name {
            return true;
        }
        let Some(parent) = node.parent() else { return true };
        released = match parent.kind() {
            // `f.Close()`; `f.Read()` alone keeps it open.
            "selector_expression" | "attribute" | "field_access" | "method_invocation" => {
                let is_object = parent.start_byte() == node.start_byte();
                let after = source.get(node.end_byte()..).unwrap_or_default();
                !is_object
                    || opened.closers.iter().any(|closer| after.starts_with(closer))
                    || (parent.kind() == "selector_expression"
                        && after.starts_with(".Body")
                        && opened.closers.len() > 1)
            }
            // A comparison or a condition does not take it.
            "binary_expression"
            | "comparison_operator"
            | "not_operator"
            | "if_statement"
            | "unary_expression"
            | "parenthesized_expression"
            | "for_statement"
            | "range_clause"
            | "for_in_clause"
            | "enhanced_for_statement" => text(parent, source).starts_with('&'),
            // A second `x, err := …` declares another or assigns anew.
            "expression_list"
                if enclosing(parent, &["short_var_declaration", "assignment_statement"])
                    .is_some_and(|above| above.child_by_field_name("left") == Some(parent)) =>
            {
                false
            }
            "assignment" | "assignment_expression" | "variable_declarator" => {
                parent.child_by_field_name("left") != Some(node)
                    && parent.child_by_field_name("name") != Some(node)
            }
            // An argument, a return value, an element, a closure's variable: somebody else has it.
            _ => true,
        };
        true
    });
    released || parts(body).is_empty()
}
