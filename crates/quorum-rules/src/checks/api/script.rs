//! What a JavaScript or TypeScript module exports.

use quorum_syntax::Node;

use super::item::{Item, Kind, Parameter, Shape, headline, squeeze};
use crate::checks::syntax::{field, line, parts, text};

pub(super) fn items(root: Node<'_>, source: &str) -> Vec<Item> {
    let mut items = Vec::new();
    for node in parts(root) {
        if node.kind() == "export_statement" {
            exported(node, source, &mut items);
        }
    }
    items
}

/// Whether a comment right above documents the node, and what it says.
fn doc<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    node.prev_sibling()
        .filter(|before| before.kind() == "comment")
        .map(|before| text(before, source))
        .filter(|doc| doc.starts_with("/**"))
}

fn exported(node: Node<'_>, source: &str, items: &mut Vec<Item>) {
    let doc = doc(node, source);
    let deprecated = doc.is_some_and(|doc| doc.contains("@deprecated"));
    if doc.is_some_and(|doc| doc.contains("@internal") || doc.contains("@private")) {
        return;
    }
    let item = |name: &str, kind, shape, at: Node<'_>| Item {
        name: name.to_owned(),
        kind,
        shape,
        line: line(at),
        quote: headline(text(at, source)),
        deprecated,
        documented: doc.is_some(),
    };
    let is_default = text(node, source).starts_with("export default");
    if let Some(declaration) = node.child_by_field_name("declaration") {
        let name = if is_default {
            "default"
        } else {
            field(declaration, "name", source).unwrap_or_default()
        };
        match declaration.kind() {
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                // Of overloads, the last signature is the implementation's.
                items.retain(|earlier: &Item| {
                    earlier.name != name || earlier.kind != Kind::Function
                });
                items.push(item(name, Kind::Function, signature(declaration, source), node));
            }
            "class_declaration" | "abstract_class_declaration" => {
                let mut shape = Shape { ty: "class".to_owned(), ..Shape::default() };
                if parts(declaration).iter().any(|part| part.kind() == "class_heritage") {
                    shape.words.push("inherits");
                }
                items.push(item(name, Kind::Type, shape, node));
                class(declaration, name, source, items);
            }
            "interface_declaration" => {
                items.push(item(
                    name,
                    Kind::Type,
                    Shape { ty: "interface".to_owned(), ..Shape::default() },
                    node,
                ));
                interface(declaration, name, source, items);
            }
            "type_alias_declaration" | "enum_declaration" => {
                items.push(item(name, Kind::Type, Shape::default(), node));
            }
            "lexical_declaration" | "variable_declaration" => {
                for declarator in parts(declaration)
                    .into_iter()
                    .filter(|part| part.kind() == "variable_declarator")
                {
                    let Some(name) = field(declarator, "name", source) else { continue };
                    let value = declarator.child_by_field_name("value").filter(|value| {
                        matches!(value.kind(), "arrow_function" | "function_expression")
                    });
                    match value {
                        Some(function) => items.push(item(
                            name,
                            Kind::Function,
                            signature(function, source),
                            node,
                        )),
                        None => items.push(item(name, Kind::Value, Shape::default(), node)),
                    }
                }
            }
            _ => {}
        }
        return;
    }
    // `export { a, b as c } from './x'`.
    for clause in parts(node).into_iter().filter(|part| part.kind() == "export_clause") {
        for specifier in parts(clause) {
            let name = field(specifier, "alias", source)
                .or_else(|| field(specifier, "name", source))
                .unwrap_or_default();
            items.push(item(name, Kind::Value, Shape::default(), specifier));
        }
    }
    if is_default {
        items.push(item("default", Kind::Value, Shape::default(), node));
    }
}

fn is_private(node: Node<'_>, source: &str) -> bool {
    let spelt = text(node, source);
    spelt.starts_with("private ")
        || spelt.starts_with('#')
        || spelt.starts_with("protected ")
        || field(node, "name", source).is_some_and(|name| name.starts_with(['_', '#']))
}

fn member(holder: &str, node: Node<'_>, kind: Kind, shape: Shape, source: &str) -> Option<Item> {
    let spelt = text(node, source);
    // What is read and set like a field has no arguments of a caller.
    if spelt.starts_with("get ") || spelt.starts_with("set ") {
        return None;
    }
    let own = field(node, "name", source).filter(|_| !is_private(node, source))?;
    let doc = doc(node, source);
    if doc.is_some_and(|doc| doc.contains("@internal") || doc.contains("@private")) {
        return None;
    }
    Some(Item {
        name: format!("{holder}.{own}"),
        kind,
        shape,
        line: line(node),
        quote: headline(text(node, source)),
        deprecated: doc.is_some_and(|doc| doc.contains("@deprecated")),
        documented: doc.is_some(),
    })
}

fn class(node: Node<'_>, holder: &str, source: &str, items: &mut Vec<Item>) {
    for part in node.child_by_field_name("body").map(parts).unwrap_or_default() {
        if part.kind() == "method_definition" {
            items.extend(member(holder, part, Kind::Method, signature(part, source), source));
        }
    }
}

fn interface(node: Node<'_>, holder: &str, source: &str, items: &mut Vec<Item>) {
    for part in node.child_by_field_name("body").map(parts).unwrap_or_default() {
        let optional = text(part, source).contains("?:") || text(part, source).contains("?(");
        match part.kind() {
            "property_signature" => {
                let ty = squeeze(field(part, "type", source).unwrap_or_default());
                items.extend(member(
                    holder,
                    part,
                    Kind::Field,
                    Shape { ty, open: optional, ..Shape::default() },
                    source,
                ));
            }
            "method_signature" => {
                items.extend(member(holder, part, Kind::Method, signature(part, source), source));
            }
            _ => {}
        }
    }
}

fn signature(node: Node<'_>, source: &str) -> Shape {
    let mut shape = Shape::default();
    if text(node, source).starts_with("async") {
        shape.words.push("async");
    }
    let list = node
        .child_by_field_name("parameters")
        .map(parts)
        .or_else(|| node.child_by_field_name("parameter").map(|one| vec![one]));
    for part in list.unwrap_or_default() {
        let spelt = text(part, source);
        if spelt.starts_with("...") || part.kind() == "rest_pattern" {
            shape.open = true;
            continue;
        }
        let pattern =
            field(part, "pattern", source).or_else(|| field(part, "left", source)).unwrap_or(spelt);
        if pattern == "this" {
            continue;
        }
        let optional = part.kind() == "optional_parameter"
            || part.kind() == "assignment_pattern"
            || part.child_by_field_name("value").is_some();
        let ty = squeeze(field(part, "type", source).unwrap_or_default().trim_start_matches(':'));
        shape.parameters.push(Parameter { name: pattern.to_owned(), ty, optional, named: false });
    }
    shape
}
