//! What a file imports, and the names in calls.

use tree_sitter::Node;

use super::names::{child_of_kind, text};
use crate::Lang;

/// As much of an expression as can hold the name that is called.
const CALLEE_TAIL: usize = 160;

/// The name that an expression ends with, and the plain name before it.
///
/// `a.b::<T>` gives `b` with `a`; `f()` and `x[0]` end with no name.
pub(super) fn last_name(expression: &[u8]) -> Option<(String, Option<String>)> {
    let tail = &expression[expression.len().saturating_sub(CALLEE_TAIL)..];
    let tail = String::from_utf8_lossy(tail);
    let tail = without_parameters(tail.trim_end())?;
    let (before, name) = split_name(tail)?;
    let before = before.trim_end();
    let separators = ["?.", "::", "->", "!.", ".", "\\"];
    let qualifier = separators.iter().find_map(|separator| before.strip_suffix(separator));
    let qualifier = qualifier.and_then(|before| without_parameters(before.trim_end()));
    let qualifier = qualifier.and_then(split_name).map(|(_, name)| name.to_owned());
    Some((name.to_owned(), qualifier))
}

/// Takes type parameters off the end: `f<T>`, `f::<T>`, `f[T]` stays as it is.
fn without_parameters(text: &str) -> Option<&str> {
    if !text.ends_with('>') || text.ends_with("->") {
        return Some(text);
    }
    let mut depth = 0_usize;
    for (index, byte) in text.bytes().enumerate().rev() {
        match byte {
            b'>' => depth += 1,
            b'<' => {
                depth -= 1;
                if depth == 0 {
                    return Some(text[..index].trim_end().trim_end_matches("::"));
                }
            }
            _ => {}
        }
    }
    None
}

fn split_name(text: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let end = text.trim_end_matches(['?', '!']);
    let start = end
        .rfind(|c| !is_part(c))
        .map_or(0, |index| index + end[index..].chars().next().map_or(1, char::len_utf8));
    let name = &end[start..];
    let starts_well = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    starts_well.then_some((&end[..start], name))
}

/// The module that a call imports: `require("x")`, `source x`.
pub(super) fn of_call(lang: Lang, name: &str, node: Node<'_>, source: &[u8]) -> Option<String> {
    let imports = match lang {
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => matches!(name, "require" | "import"),
        Lang::Ruby => matches!(name, "require" | "require_relative" | "load"),
        Lang::Bash => matches!(name, "source"),
        _ => false,
    };
    if !imports {
        return None;
    }
    let argument = node.child_by_field_name("argument").or_else(|| {
        let arguments = node.child_by_field_name("arguments")?;
        child_of_kind(arguments, &["string"])
    })?;
    let module = unquoted(text(argument, source));
    (!module.is_empty()).then(|| {
        let relative = lang == Lang::Ruby && name == "require_relative";
        if relative && !module.starts_with('.') { format!("./{module}") } else { module.to_owned() }
    })
}

/// The modules that an import names.
pub(super) fn of(lang: Lang, node: Node<'_>, source: &[u8]) -> Vec<String> {
    let written = text(node, source);
    if written.len() > 16 * 1024 {
        return Vec::new();
    }
    let field = |name: &str| node.child_by_field_name(name).map(|node| text(node, source));
    match lang {
        Lang::Go | Lang::C | Lang::Cpp => one(field("path")),
        Lang::Rust => rust(written),
        Lang::Python => python(node, source),
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => one(field("source")),
        Lang::Java | Lang::Kotlin | Lang::CSharp => {
            let words = written.trim_end_matches(';').split_whitespace();
            let mut words = words.filter(|word| {
                !matches!(*word, "import" | "static" | "using" | "global" | "as" | "=")
            });
            one(words.next_back().filter(|_| lang != Lang::Kotlin).or_else(|| words.next()))
        }
        Lang::Php => {
            let written = written.trim_end_matches(';');
            let module = written.split_whitespace().filter(|word| *word != "function").nth(1);
            one(module.map(|module| module.trim_start_matches('\\')))
        }
        _ => Vec::new(),
    }
}

fn one(module: Option<&str>) -> Vec<String> {
    module.map(|module| unquoted(module).to_owned()).filter(|m| !m.is_empty()).into_iter().collect()
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\'', '`', '<', '>', '(', ')'])
}

fn python(node: Node<'_>, source: &[u8]) -> Vec<String> {
    let mut cursor = node.walk();
    if let Some(module) = node.child_by_field_name("module_name") {
        let module = text(module, source);
        let mut found = vec![module.to_owned()];
        // `from . import name` and `from package import module`: the name may be a file.
        let names = node.children_by_field_name("name", &mut cursor);
        let joint = if module.ends_with('.') { "" } else { "." };
        found.extend(names.map(|name| {
            let name = name.child_by_field_name("name").unwrap_or(name);
            format!("{module}{joint}{}", text(name, source))
        }));
        return found;
    }
    let names = node.children_by_field_name("name", &mut cursor);
    names
        .map(|name| text(name.child_by_field_name("name").unwrap_or(name), source).to_owned())
        .collect()
}

/// The paths of a `use` declaration, with groups written out.
fn rust(written: &str) -> Vec<String> {
    let Some((_, tree)) = written.split_once("use ").or_else(|| written.split_once("crate "))
    else {
        return Vec::new();
    };
    let tree: String = tree.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    let mut prefixes: Vec<usize> = Vec::new();
    let mut path = String::new();
    let mut end = |path: &str| {
        let path = path.split(" as ").next().unwrap_or(path).trim();
        let path = path.trim_end_matches("::*").trim_end_matches("::self").trim_end_matches("::");
        if !path.is_empty() && found.len() < 256 {
            found.push(path.to_owned());
        }
    };
    let mut open = false;
    for c in tree.chars() {
        match c {
            '{' => {
                prefixes.push(path.len());
                open = true;
            }
            ',' | '}' => {
                if open {
                    end(&path);
                }
                let prefix = prefixes.last().copied().unwrap_or_default();
                path.truncate(prefix);
                open = c == ',';
                if c == '}' {
                    prefixes.pop();
                }
            }
            ' ' if path.ends_with("::") => {}
            _ => {
                path.push(c);
                open = true;
            }
        }
        if path.len() > 1024 {
            return found;
        }
    }
    if open {
        end(&path);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_of_an_expression_is_what_is_called() {
        let cases = [
            ("f", Some(("f", None))),
            ("a.b.c", Some(("c", Some("b")))),
            ("Vec::<u8>::new", Some(("new", Some("Vec")))),
            ("foo::<T>", Some(("foo", None))),
            ("this?.run", Some(("run", Some("this")))),
            ("p->next", Some(("next", Some("p")))),
            ("make()", None),
            ("table[0]", None),
            ("make().run", Some(("run", None))),
            ("名.前", Some(("前", Some("名")))),
        ];
        for (expression, expected) in cases {
            let found = last_name(expression.as_bytes());
            let found = found.as_ref().map(|(name, before)| (name.as_str(), before.as_deref()));
            assert_eq!(found, expected, "{expression}");
        }
    }

    #[test]
    fn groups_of_a_use_declaration_are_written_out() {
        assert_eq!(rust("use a::b;"), ["a::b"]);
        assert_eq!(
            rust("pub use a::{self, b::{c, d as e}, f::*};"),
            ["a", "a::b::c", "a::b::d", "a::f"]
        );
        assert_eq!(rust("use {a, b::c};"), ["a", "b::c"]);
    }
}
