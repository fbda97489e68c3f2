//! Public names of a Python module.

use quorum_syntax::Node;

use super::item::{Item, Kind, Parameter, Shape, headline, squeeze};
use crate::checks::syntax::{field, line, parts, text};

pub(super) fn items(root: Node<'_>, source: &str, path: &str) -> Vec<Item> {
    // A module that is named private, or that is run rather than imported.
    let is_private =
        path.split('/').any(|part| part.starts_with('_') && !part.starts_with("__init__"));
    if is_private || source.starts_with("#!") {
        return Vec::new();
    }
    let listed = all_list(root, source);
    let mut items = Vec::new();
    members(root, None, source, &mut items);
    items.retain(|item| {
        let top = item.name.split('.').next().unwrap_or_default();
        listed.as_ref().is_none_or(|listed| listed.contains(&top))
    });
    items
}

/// The names in `__all__`.
fn all_list<'s>(root: Node<'_>, source: &'s str) -> Option<Vec<&'s str>> {
    parts(root).into_iter().find_map(|node| {
        let assignment = node.named_child(0).filter(|inner| inner.kind() == "assignment")?;
        (field(assignment, "left", source) == Some("__all__")).then(|| {
            let list = assignment.child_by_field_name("right").map(parts).unwrap_or_default();
            list.into_iter().map(|name| text(name, source).trim_matches(['"', '\''])).collect()
        })
    })
}

/// Every name that the top of the module binds: what is imported here can be imported from here.
pub(super) fn bound_names(root: Node<'_>, source: &str) -> Vec<String> {
    let mut names = Vec::new();
    crate::checks::syntax::walk(root, |node| {
        match node.kind() {
            "import_from_statement" | "import_statement" => {
                let mut cursor = node.walk();
                for name in node.children_by_field_name("name", &mut cursor) {
                    let bound = field(name, "alias", source).unwrap_or_else(|| text(name, source));
                    names.push(bound.to_owned());
                }
            }
            "assignment" => names.extend(field(node, "left", source).map(str::to_owned)),
            "function_definition" | "class_definition" => {
                names.extend(field(node, "name", source).map(str::to_owned));
                return false;
            }
            _ => {}
        }
        true
    });
    // A module may answer for names that it does not bind.
    if names.iter().any(|name| name == "__getattr__") {
        names.push("*".to_owned());
    }
    names
}

fn is_public(name: &str) -> bool {
    !name.starts_with('_') || matches!(name, "__init__" | "__call__")
}

fn members(list: Node<'_>, holder: Option<&str>, source: &str, items: &mut Vec<Item>) {
    for node in parts(list) {
        let (decorators, node) = match node.kind() {
            "decorated_definition" => {
                let inner = node.child_by_field_name("definition").unwrap_or(node);
                (source.get(node.start_byte()..inner.start_byte()).unwrap_or_default(), inner)
            }
            // Definitions under a condition are there on some platforms.
            "if_statement" | "try_statement" if holder.is_none() => continue,
            _ => ("", node),
        };
        let Some(own) = field(node, "name", source).filter(|name| is_public(name)) else {
            continue;
        };
        let name = holder.map_or_else(|| own.to_owned(), |holder| format!("{holder}.{own}"));
        let body = node.child_by_field_name("body");
        let doc = body.and_then(|body| docstring(body, source));
        let deprecated = doc.is_some_and(|doc| doc.to_ascii_lowercase().contains("deprecated"))
            || decorators.contains("deprecat")
            || body.is_some_and(|body| text(body, source).contains("DeprecationWarning"));
        let item = |kind, shape| Item {
            name: name.clone(),
            kind,
            shape,
            line: line(node),
            quote: headline(text(node, source)),
            deprecated,
            documented: doc.is_some(),
        };
        match node.kind() {
            "function_definition" => {
                let is_hidden = decorators.contains("overload")
                    || decorators.contains(".setter")
                    || decorators.contains(".deleter");
                if is_hidden {
                    continue;
                }
                let is_static = decorators.contains("staticmethod");
                let mut shape = signature(node, source, holder.is_some() && !is_static);
                if decorators.contains("@property") || decorators.contains("cached_property") {
                    shape.words.push("property");
                }
                items.push(item(
                    if holder.is_some() { Kind::Method } else { Kind::Function },
                    shape,
                ));
            }
            "class_definition" => {
                let mut shape = Shape::default();
                let parents = field(node, "superclasses", source).unwrap_or("()");
                if !matches!(parents, "()" | "(object)") {
                    shape.words.push("inherits");
                }
                items.push(item(Kind::Type, shape));
                if let Some(body) = body {
                    members(body, Some(&name), source, items);
                }
            }
            _ => {}
        }
    }
}

/// The docstring of a body.
pub(crate) fn docstring<'s>(body: Node<'_>, source: &'s str) -> Option<&'s str> {
    let first = body.named_child(0).filter(|first| first.kind() == "expression_statement")?;
    let string = first.named_child(0).filter(|string| string.kind() == "string")?;
    Some(text(string, source))
}

fn signature(node: Node<'_>, source: &str, is_method: bool) -> Shape {
    let mut shape = Shape::default();
    let mut named = false;
    let list = node.child_by_field_name("parameters").map(parts).unwrap_or_default();
    for (at, part) in list.into_iter().enumerate() {
        if at == 0 && is_method {
            continue;
        }
        let (name, optional) = match part.kind() {
            "identifier" => (text(part, source), false),
            "typed_parameter" => {
                let name = part.named_child(0).map(|name| text(name, source)).unwrap_or_default();
                if name.starts_with('*') {
                    shape.open = true;
                    named = true;
                    continue;
                }
                (name, false)
            }
            "default_parameter" | "typed_default_parameter" => {
                (field(part, "name", source).unwrap_or_default(), true)
            }
            "list_splat_pattern" | "dictionary_splat_pattern" => {
                shape.open = true;
                named = true;
                continue;
            }
            "keyword_separator" => {
                named = true;
                continue;
            }
            _ => continue,
        };
        shape.parameters.push(Parameter {
            name: name.to_owned(),
            ty: String::new(),
            optional,
            named,
        });
    }
    if squeeze(text(node, source)).starts_with("async") {
        shape.words.push("async");
    }
    shape
}
