//! Public items of a Rust module.

use quorum_syntax::Node;

use super::item::{Item, Kind, Parameter, Shape, headline, squeeze};
use crate::checks::syntax::{field, line, parts, text};

pub(super) fn items(root: Node<'_>, source: &str) -> Vec<Item> {
    let mut items = Vec::new();
    module(root, "", source, &mut items);
    items
}

fn is_public(node: Node<'_>, source: &str) -> bool {
    parts(node)
        .first()
        .is_some_and(|first| first.kind() == "visibility_modifier" && text(*first, source) == "pub")
}

/// Attributes and doc comments above an item.
fn above(node: Node<'_>, source: &str) -> (bool, String) {
    let mut documented = false;
    let mut attributes = String::new();
    let mut at = node.prev_sibling();
    while let Some(before) = at {
        match before.kind() {
            "line_comment" | "block_comment" => {
                let spelt = text(before, source);
                documented = documented || spelt.starts_with("///") || spelt.starts_with("/**");
            }
            "attribute_item" => attributes.push_str(text(before, source)),
            _ => break,
        }
        at = before.prev_sibling();
    }
    documented =
        documented || attributes.contains("#[doc =") || attributes.contains("#[doc(inline");
    (documented, attributes)
}

fn item(name: String, kind: Kind, shape: Shape, node: Node<'_>, source: &str) -> Option<Item> {
    let (documented, attributes) = above(node, source);
    let is_test = attributes.contains("cfg(") && attributes.contains("test");
    if attributes.contains("doc(hidden)") || is_test {
        return None;
    }
    Some(Item {
        name,
        kind,
        shape,
        line: line(node),
        quote: headline(text(node, source)),
        deprecated: attributes.contains("deprecated"),
        documented,
    })
}

fn module(list: Node<'_>, prefix: &str, source: &str, items: &mut Vec<Item>) {
    for node in parts(list) {
        if node.kind() == "macro_definition" && above(node, source).1.contains("macro_export") {
            let name = format!("{}!", field(node, "name", source).unwrap_or_default());
            items.extend(item(name, Kind::Function, Shape::default(), node, source));
        }
        if node.kind() == "impl_item" {
            implementation(node, prefix, source, items);
            continue;
        }
        if !is_public(node, source) {
            continue;
        }
        let Some(own) = field(node, "name", source) else { continue };
        let name = format!("{prefix}{own}");
        match node.kind() {
            "function_item" => {
                items.extend(item(name, Kind::Function, signature(node, source), node, source));
            }
            "struct_item" | "enum_item" | "trait_item" => {
                members(node, &name, source, items);
                items.extend(item(name, Kind::Type, type_shape(node, source), node, source));
            }
            "union_item" | "type_item" => {
                items.extend(item(name, Kind::Type, Shape::default(), node, source));
            }
            "const_item" | "static_item" => {
                let ty = squeeze(field(node, "type", source).unwrap_or_default());
                items.extend(item(
                    name,
                    Kind::Value,
                    Shape { ty, ..Shape::default() },
                    node,
                    source,
                ));
            }
            "mod_item" => {
                if let Some(body) = node.child_by_field_name("body") {
                    module(body, &format!("{name}::"), source, items);
                }
                let shape = Shape { ty: "mod".to_owned(), ..Shape::default() };
                items.extend(item(name, Kind::Type, shape, node, source));
            }
            _ => {}
        }
    }
}

/// Traits whose loss callers notice.
const DERIVED: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "PartialEq", "Eq", "Hash", "PartialOrd", "Ord"];

fn type_shape(node: Node<'_>, source: &str) -> Shape {
    let (_, attributes) = above(node, source);
    let body = node.child_by_field_name("body");
    let ty = match (node.kind(), body.map(|body| body.kind())) {
        ("enum_item", _) => "enum".to_owned(),
        ("trait_item", _) => {
            format!("trait{}", squeeze(field(node, "bounds", source).unwrap_or_default()))
        }
        (_, Some("field_declaration_list")) => "struct".to_owned(),
        (_, Some(_)) => "tuple struct".to_owned(),
        _ => "unit struct".to_owned(),
    };
    let mut shape = Shape {
        ty,
        open: attributes.contains("non_exhaustive"),
        generics: generics(node, source),
        ..Shape::default()
    };
    let fields =
        body.filter(|body| body.kind() == "field_declaration_list").map(parts).unwrap_or_default();
    let named: Vec<_> =
        fields.into_iter().filter(|field| field.kind() == "field_declaration").collect();
    if !named.is_empty() && named.iter().all(|field| is_public(*field, source)) && !shape.open {
        shape.words.push("constructible");
    }
    let derives: Vec<&str> = attributes
        .split("derive(")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .flat_map(|list| list.split([',', ' ']))
        .map(str::trim)
        .collect();
    shape.words.extend(DERIVED.iter().filter(|name| derives.contains(name)));
    shape
}

/// Type and constant parameters without a default.
fn generics(node: Node<'_>, source: &str) -> usize {
    let list = node.child_by_field_name("type_parameters").map(parts).unwrap_or_default();
    list.iter()
        .filter(|part| {
            part.kind() != "lifetime_parameter"
                && !text(**part, source).starts_with('\'')
                && !text(**part, source).contains('=')
        })
        .count()
}

fn implementation(node: Node<'_>, prefix: &str, source: &str, items: &mut Vec<Item>) {
    if node.child_by_field_name("trait").is_some() {
        return;
    }
    let holder =
        field(node, "type", source).unwrap_or_default().split('<').next().unwrap_or_default();
    for member in node.child_by_field_name("body").map(parts).unwrap_or_default() {
        if member.kind() == "function_item"
            && is_public(member, source)
            && let Some(own) = field(member, "name", source)
        {
            items.extend(item(
                format!("{prefix}{holder}::{own}"),
                Kind::Method,
                signature(member, source),
                member,
                source,
            ));
        }
    }
}

fn members(node: Node<'_>, holder: &str, source: &str, items: &mut Vec<Item>) {
    for member in node.child_by_field_name("body").map(parts).unwrap_or_default() {
        let own = field(member, "name", source).unwrap_or_default();
        let name = format!("{holder}::{own}");
        match member.kind() {
            "field_declaration" if is_public(member, source) => {
                let ty = squeeze(field(member, "type", source).unwrap_or_default());
                items.extend(item(
                    name,
                    Kind::Field,
                    Shape { ty, ..Shape::default() },
                    member,
                    source,
                ));
            }
            "enum_variant" => {
                let ty = squeeze(field(member, "body", source).unwrap_or_default());
                items.extend(item(
                    name,
                    Kind::Variant,
                    Shape { ty, ..Shape::default() },
                    member,
                    source,
                ));
            }
            "function_signature_item" => {
                items.extend(item(name, Kind::Required, signature(member, source), member, source));
            }
            "associated_type" | "const_item" => {
                let kind =
                    if text(member, source).contains('=') { Kind::Method } else { Kind::Required };
                items.extend(item(name, kind, Shape::default(), member, source));
            }
            "function_item" => {
                items.extend(item(name, Kind::Method, signature(member, source), member, source));
            }
            _ => {}
        }
    }
}

fn signature(node: Node<'_>, source: &str) -> Shape {
    let mut shape = Shape {
        ty: squeeze(field(node, "return_type", source).unwrap_or_default()),
        generics: generics(node, source),
        ..Shape::default()
    };
    for part in node.child_by_field_name("parameters").map(parts).unwrap_or_default() {
        let ty = match part.kind() {
            "self_parameter" if text(part, source).contains("&mut") => "&mut self".to_owned(),
            "self_parameter" if text(part, source).contains('&') => "&self".to_owned(),
            "self_parameter" => "self".to_owned(),
            "attribute_item" => continue,
            _ => squeeze(field(part, "type", source).unwrap_or_default()),
        };
        let name = field(part, "pattern", source).unwrap_or("self").to_owned();
        shape.parameters.push(Parameter { name, ty, optional: false, named: false });
    }
    let head = source
        .get(
            node.start_byte()
                ..node
                    .child_by_field_name("name")
                    .map_or(node.end_byte(), |name| name.start_byte()),
        )
        .unwrap_or_default();
    for word in ["async", "unsafe", "const"] {
        if head.split_whitespace().any(|found| found == word) {
            shape.words.push(word);
        }
    }
    shape
}
