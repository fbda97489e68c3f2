//! What users type or set: command-line flags, environment variables, routes, configuration keys, exit codes.

use std::sync::LazyLock;

use quorum_syntax::{Lang, Node};
use regex::Regex;

use crate::checks::syntax::{field, line, parts, text, walk};
use crate::checks::tests_in_code::is_test_code;

/// Something that users type or set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    /// What it is.
    pub(crate) kind: SurfaceKind,
    /// How users spell it.
    pub(crate) name: String,
    /// Its line.
    pub(crate) line: u64,
    /// The line of code.
    pub(crate) quote: String,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SurfaceKind {
    Flag,
    Variable,
    Route,
    Key,
    ExitCode,
    Feature,
}

impl Surface {
    /// Whether both name the same thing.
    pub(crate) fn names(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name
    }
}

static FLAG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"--[a-z][a-z0-9]*(?:-[a-z0-9]+)*").ok());

/// All of them in a file.
pub(crate) fn surfaces(root: Node<'_>, lang: Lang, source: &str) -> Vec<Surface> {
    let mut found: Vec<Surface> = Vec::new();
    walk(root, |node| {
        if node.kind() == "mod_item" && is_test_code(node, lang, source) {
            return false;
        }
        for (kind, name) in at(node, lang, source) {
            let start = source[..node.start_byte()].rfind('\n').map_or(0, |at| at + 1);
            let end = source[node.start_byte()..]
                .find('\n')
                .map_or(source.len(), |at| node.start_byte() + at);
            if kind == SurfaceKind::Variable && !is_variable(&name) {
                continue;
            }
            let surface = Surface {
                kind,
                name,
                line: line(node),
                quote: source[start..end].trim().to_owned(),
            };
            if !found.iter().any(|known| known.names(&surface)) {
                found.push(surface);
            }
        }
        true
    });
    found
}

/// The features of a Cargo package.
pub(crate) fn features(manifest: &str) -> Vec<Surface> {
    let Ok(table) = manifest.parse::<toml::Table>() else { return Vec::new() };
    let Some(features) = table.get("features").and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    let place = |name: &str| {
        (1u64..).zip(manifest.lines()).find(|(_, line)| {
            line.split('=').next().is_some_and(|key| key.trim().trim_matches('"') == name)
        })
    };
    features
        .keys()
        .filter(|name| *name != "default" && !name.starts_with('_'))
        .map(|name| {
            let (line, quote) = place(name).unwrap_or((1, ""));
            Surface {
                kind: SurfaceKind::Feature,
                name: name.clone(),
                line,
                quote: quote.trim().to_owned(),
            }
        })
        .collect()
}

/// The text of a string literal without its quotes; absent when it is put together.
fn literal<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    let is_string = matches!(
        node.kind(),
        "string" | "string_literal" | "interpreted_string_literal" | "raw_string_literal"
    );
    let is_joined = crate::checks::syntax::any(node, |inner| {
        matches!(inner.kind(), "interpolation" | "template_substitution")
    });
    (is_string && !is_joined).then(|| text(node, source).trim_matches(['"', '\'', '`']))
}

fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    call.child_by_field_name("arguments").map(parts).unwrap_or_default()
}

fn at(node: Node<'_>, lang: Lang, source: &str) -> Vec<(SurfaceKind, String)> {
    match node.kind() {
        "call" | "call_expression" | "method_invocation" => call(node, lang, source),
        "member_expression" => {
            let name =
                text(node, source).strip_prefix("process.env.").filter(|name| is_variable(name));
            name.map(|name| (SurfaceKind::Variable, name.to_owned())).into_iter().collect()
        }
        "subscript" => {
            let is_environment =
                field(node, "value", source).is_some_and(|value| value.ends_with("environ"));
            let name = node
                .child_by_field_name("subscript")
                .filter(|_| is_environment)
                .and_then(|key| literal(key, source));
            name.map(|name| (SurfaceKind::Variable, name.to_owned())).into_iter().collect()
        }
        "attribute_item" if lang == Lang::Rust => clap_attribute(node, source),
        "annotation" if lang == Lang::Java => annotation(node, source),
        "field_declaration" if lang == Lang::Go => tags(node, source),
        _ => Vec::new(),
    }
}

fn is_variable(name: &str) -> bool {
    name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn flags(text: &str) -> impl Iterator<Item = (SurfaceKind, String)> {
    FLAG.iter()
        .flat_map(|flag| flag.find_iter(text))
        .map(|found| (SurfaceKind::Flag, found.as_str().to_owned()))
        .collect::<Vec<_>>()
        .into_iter()
}

fn call(node: Node<'_>, lang: Lang, source: &str) -> Vec<(SurfaceKind, String)> {
    let function =
        field(node, "function", source).or_else(|| field(node, "name", source)).unwrap_or_default();
    let method = function.rsplit(['.', ':']).next().unwrap_or_default();
    let arguments = arguments(node);
    let first = arguments.first().and_then(|first| literal(*first, source));
    let one = |kind, name: Option<&str>| {
        name.map(|name| (kind, name.to_owned())).into_iter().collect::<Vec<_>>()
    };
    match (lang, method) {
        (Lang::Go, "Getenv" | "LookupEnv") | (Lang::Java | Lang::Python, "getenv") => {
            one(SurfaceKind::Variable, first)
        }
        (Lang::Python, "get" | "pop" | "setdefault") if function.contains("environ") => {
            one(SurfaceKind::Variable, first)
        }
        (Lang::Rust, "var" | "var_os") if function.contains("env::") => {
            one(SurfaceKind::Variable, first)
        }
        (Lang::Python, "add_argument" | "option") => arguments
            .iter()
            .filter_map(|argument| literal(*argument, source))
            .flat_map(flags)
            .collect(),
        (
            Lang::JavaScript | Lang::TypeScript | Lang::Tsx,
            "option" | "requiredOption" | "addOption",
        ) => first.map(|first| flags(first).collect()).unwrap_or_default(),
        (Lang::Rust, "long") => one(SurfaceKind::Flag, first)
            .into_iter()
            .map(|(kind, name)| (kind, format!("--{name}")))
            .collect(),
        (Lang::Go, _) if is_go_flag(function, method) => {
            let name = arguments.iter().find_map(|argument| literal(*argument, source));
            one(SurfaceKind::Flag, name.filter(|name| !name.is_empty() && !name.contains(' ')))
                .into_iter()
                .map(|(kind, name)| (kind, format!("--{name}")))
                .collect()
        }
        (Lang::Go, "Exit")
        | (Lang::JavaScript | Lang::TypeScript | Lang::Python | Lang::Java | Lang::Rust, "exit")
            if matches!(
                function,
                "os.Exit"
                    | "process.exit"
                    | "sys.exit"
                    | "System.exit"
                    | "exit"
                    | "std::process::exit"
                    | "process::exit"
            ) =>
        {
            let code = arguments
                .first()
                .map(|first| text(*first, source))
                .filter(|code| code.parse::<u8>().is_ok_and(|code| code > 1));
            one(SurfaceKind::ExitCode, code)
        }
        _ if is_route(lang, function, method, arguments.len()) => {
            one(SurfaceKind::Route, first.filter(|path| path.starts_with('/')))
                .into_iter()
                .map(|(kind, path)| {
                    (
                        kind,
                        if is_verb(method) {
                            format!("{} {path}", method.to_ascii_uppercase())
                        } else {
                            path
                        },
                    )
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn is_verb(method: &str) -> bool {
    matches!(
        method.to_ascii_lowercase().as_str(),
        "get" | "post" | "put" | "delete" | "patch" | "head" | "options"
    )
}

fn is_go_flag(function: &str, method: &str) -> bool {
    let kind = method.trim_end_matches('P').trim_end_matches("Var");
    let is_kind = matches!(
        kind,
        "String"
            | "Bool"
            | "Int"
            | "Int64"
            | "Uint"
            | "Uint64"
            | "Float64"
            | "Duration"
            | "StringSlice"
            | "StringArray"
            | "Count"
            | "IntSlice"
            | "StringToString"
    );
    let on_flags = function.starts_with("flag.")
        || function.starts_with("pflag.")
        || function.contains("Flags()")
        || function.contains("flags.")
        || function.contains("fs.");
    is_kind && on_flags
}

fn is_route(lang: Lang, function: &str, method: &str, count: usize) -> bool {
    let object = function
        .strip_suffix(method)
        .unwrap_or_default()
        .trim_end_matches(['.', ':'])
        .rsplit(['.', ':'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let on_router = matches!(
        object.as_str(),
        "app"
            | "router"
            | "r"
            | "e"
            | "mux"
            | "api"
            | "server"
            | "engine"
            | "blueprint"
            | "bp"
            | "group"
            | "http"
            | "g"
            | "v1"
    );
    match lang {
        Lang::Go => {
            on_router
                && (matches!(method, "HandleFunc" | "Handle" | "Any")
                    || (is_verb(method) && method.chars().all(char::is_uppercase))
                    || matches!(method, "Get" | "Post" | "Put" | "Delete" | "Patch"))
                && count >= 2
        }
        Lang::Python => on_router && (method == "route" || is_verb(method)),
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => {
            on_router && is_verb(method) && count >= 2
        }
        Lang::Rust => method == "route" && count == 2,
        _ => false,
    }
}

/// `#[arg(long = "name")]` and `#[arg(long)]` above a field.
fn clap_attribute(node: Node<'_>, source: &str) -> Vec<(SurfaceKind, String)> {
    let spelt = text(node, source);
    if !(spelt.starts_with("#[arg(") || spelt.starts_with("#[clap(")) || !spelt.contains("long") {
        return Vec::new();
    }
    let named = spelt
        .split("long")
        .nth(1)
        .map(str::trim_start)
        .and_then(|rest| rest.strip_prefix('='))
        .and_then(|rest| rest.split('"').nth(1));
    let own = || {
        let mut next = node.next_named_sibling();
        while next
            .is_some_and(|next| next.kind() == "attribute_item" || next.kind() == "line_comment")
        {
            next = next.and_then(|next| next.next_named_sibling());
        }
        next.and_then(|next| field(next, "name", source)).map(|name| name.replace('_', "-"))
    };
    let name = named.map(str::to_owned).or_else(own);
    name.map(|name| (SurfaceKind::Flag, format!("--{name}"))).into_iter().collect()
}

fn annotation(node: Node<'_>, source: &str) -> Vec<(SurfaceKind, String)> {
    let name = field(node, "name", source).unwrap_or_default();
    let spelt = field(node, "arguments", source).unwrap_or_default();
    let quoted = || spelt.split('"').nth(1).map(str::to_owned);
    match name {
        "GetMapping" | "PostMapping" | "PutMapping" | "DeleteMapping" | "PatchMapping"
        | "RequestMapping" | "Path" => quoted()
            .filter(|path| !path.is_empty())
            .map(|path| {
                (
                    SurfaceKind::Route,
                    format!("{} {path}", name.trim_end_matches("Mapping").to_ascii_uppercase()),
                )
            })
            .into_iter()
            .collect(),
        "Value" => quoted()
            .and_then(|value| {
                value
                    .strip_prefix("${")
                    .map(|key| key.split([':', '}']).next().unwrap_or_default().to_owned())
            })
            .map(|key| (SurfaceKind::Key, key))
            .into_iter()
            .collect(),
        "JsonProperty" => quoted().map(|key| (SurfaceKind::Key, key)).into_iter().collect(),
        "Option" | "Parameter" => flags(spelt).collect(),
        _ => Vec::new(),
    }
}

/// Keys of configuration and wire formats in the tags of exported fields.
fn tags(node: Node<'_>, source: &str) -> Vec<(SurfaceKind, String)> {
    let exported = field(node, "name", source)
        .is_some_and(|name| name.chars().next().is_some_and(char::is_uppercase));
    let Some(tag) = field(node, "tag", source).filter(|_| exported) else { return Vec::new() };
    let mut found = Vec::new();
    for format in ["json", "yaml", "toml", "mapstructure", "env"] {
        let value = tag
            .split(&format!("{format}:\""))
            .nth(1)
            .and_then(|rest| rest.split(['"', ',']).next());
        if let Some(key) = value.filter(|key| !key.is_empty() && *key != "-") {
            let kind = if format == "env" { SurfaceKind::Variable } else { SurfaceKind::Key };
            if !found.contains(&(kind, key.to_owned())) {
                found.push((kind, key.to_owned()));
            }
        }
    }
    found
}
