//! Declarations that others can use.

use std::collections::BTreeMap;

use bstr::ByteSlice;

/// Whether what is declared under `path` is for this repository alone.
pub(super) fn is_internal(path: &str) -> bool {
    path.split('/').any(|folder| matches!(folder, "internal" | "examples" | "benches" | "xtask"))
}

/// The exported declarations in the lines of `text`, each with its line.
pub(super) fn of(language: &str, text: &[u8]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let Ok(line) = line.to_str() else { continue };
        if line.len() > 400 {
            continue;
        }
        let name = match language {
            "Rust" => rust(line),
            "Go" => go(line),
            "TypeScript" | "TSX" | "JavaScript" => typescript(line),
            "Python" => python(line),
            "Java" | "C#" | "PHP" => public_member(line),
            "Protocol Buffer" | "GraphQL" => schema(line),
            _ => None,
        };
        if let Some(name) = name {
            found.insert(name.to_owned(), line.trim().to_owned());
        }
    }
    found
}

fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    let name = &text[..end.unwrap_or(text.len())];
    (!name.is_empty()).then_some(name)
}

fn rust(line: &str) -> Option<&str> {
    let mut rest = line.trim_start().strip_prefix("pub ")?;
    for modifier in ["default ", "const ", "async ", "unsafe ", "extern \"C\" "] {
        // `pub const NAME` is a declaration of its own, `pub const fn` is a function.
        if modifier == "const " && !rest.contains("fn ") {
            continue;
        }
        rest = rest.strip_prefix(modifier).unwrap_or(rest);
    }
    let keywords =
        ["fn ", "struct ", "enum ", "trait ", "type ", "const ", "static ", "mod ", "union "];
    let rest = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    identifier(rest)
}

fn go(line: &str) -> Option<&str> {
    let rest = if let Some(rest) = line.strip_prefix("func ") {
        // Behind the receiver, where there is one.
        rest.strip_prefix('(').map_or(Some(rest), |rest| rest.split_once(") ").map(|(_, r)| r))?
    } else {
        ["type ", "var ", "const "].iter().find_map(|keyword| line.strip_prefix(keyword))?
    };
    identifier(rest).filter(|name| name.starts_with(char::is_uppercase))
}

fn typescript(line: &str) -> Option<&str> {
    let mut rest = line.strip_prefix("export ")?;
    for modifier in ["default ", "declare ", "abstract ", "async "] {
        rest = rest.strip_prefix(modifier).unwrap_or(rest);
    }
    let keywords =
        ["function ", "class ", "interface ", "type ", "enum ", "const ", "let ", "namespace "];
    let rest = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    identifier(rest)
}

fn python(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("async ").unwrap_or(line);
    let rest = rest.strip_prefix("def ").or_else(|| rest.strip_prefix("class "))?;
    identifier(rest).filter(|name| !name.starts_with('_'))
}

fn public_member(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("public ")?;
    let head = rest.split(['(', '{', '=', ';']).next()?.trim();
    let name = head.rsplit([' ', '>']).next()?;
    identifier(name)
}

fn schema(line: &str) -> Option<&str> {
    let rest = ["message ", "service ", "enum ", "type ", "input ", "interface ", "rpc "]
        .iter()
        .find_map(|keyword| line.trim_start().strip_prefix(keyword))?;
    identifier(rest)
}
