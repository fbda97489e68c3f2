//! Exported names of a Go package.

use quorum_syntax::Node;

use super::item::{Item, Kind, Parameter, Shape, headline, squeeze};
use crate::checks::syntax::{field, line, parts, text};

pub(super) fn items(root: Node<'_>, source: &str) -> Vec<Item> {
    let mut items = Vec::new();
    for node in parts(root) {
        match node.kind() {
            "package_clause" if text(node, source).trim_end().ends_with(" main") => {
                return Vec::new();
            }
            "function_declaration" => items.extend(function(node, source, None, node)),
            "method_declaration" => {
                let receiver = field(node, "receiver", source).unwrap_or_default();
                let holder =
                    receiver.trim_matches(['(', ')']).rsplit([' ', '*']).next().unwrap_or_default();
                let holder = holder.split('[').next().unwrap_or_default();
                if is_exported(holder) {
                    items.extend(function(node, source, Some(holder), node));
                }
            }
            "type_declaration" => {
                for spec in parts(node) {
                    types(spec, source, node, &mut items);
                }
            }
            "const_declaration" | "var_declaration" => values(node, source, &mut items),
            _ => {}
        }
    }
    items
}

fn is_exported(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

/// The comment right above.
fn doc<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    let mut first = None;
    let mut at = node;
    while let Some(before) = at.prev_sibling().filter(|before| {
        before.kind() == "comment" && before.end_position().row + 1 == at.start_position().row
    }) {
        first = Some(before);
        at = before;
    }
    first.and_then(|first| source.get(first.start_byte()..node.start_byte()))
}

fn item(
    name: String,
    kind: Kind,
    shape: Shape,
    node: Node<'_>,
    doc_of: Node<'_>,
    source: &str,
) -> Item {
    let doc = doc(doc_of, source);
    Item {
        name,
        kind,
        shape,
        line: line(node),
        quote: headline(text(node, source)),
        deprecated: doc.is_some_and(|doc| doc.contains("Deprecated:")),
        documented: doc.is_some(),
    }
}

fn function(node: Node<'_>, source: &str, holder: Option<&str>, doc_of: Node<'_>) -> Option<Item> {
    let own = field(node, "name", source).filter(|name| is_exported(name))?;
    let name = holder.map_or_else(|| own.to_owned(), |holder| format!("{holder}.{own}"));
    let mut shape = Shape { ty: result(node, source), ..Shape::default() };
    parameters(node, source, &mut shape);
    if let Some(generics) = field(node, "type_parameters", source) {
        shape.ty.push_str(&squeeze(generics));
    }
    let kind = match (holder, node.kind()) {
        (_, "method_elem" | "method_spec") => Kind::Required,
        (Some(_), _) => Kind::Method,
        _ => Kind::Function,
    };
    Some(item(name, kind, shape, node, doc_of, source))
}

fn result(node: Node<'_>, source: &str) -> String {
    let Some(result) = node.child_by_field_name("result") else { return String::new() };
    if result.kind() != "parameter_list" {
        return squeeze(text(result, source));
    }
    let mut types = Vec::new();
    for part in parts(result) {
        let ty = squeeze(field(part, "type", source).unwrap_or_default());
        let mut cursor = part.walk();
        let names = part.children_by_field_name("name", &mut cursor).count().max(1);
        types.extend(std::iter::repeat_n(ty, names));
    }
    types.join(", ")
}

fn parameters(node: Node<'_>, source: &str, shape: &mut Shape) {
    for part in node.child_by_field_name("parameters").map(parts).unwrap_or_default() {
        let ty = squeeze(field(part, "type", source).unwrap_or_default());
        let variadic = part.kind() == "variadic_parameter_declaration";
        let ty = if variadic { format!("...{ty}") } else { ty };
        let mut cursor = part.walk();
        let names: Vec<String> = part
            .children_by_field_name("name", &mut cursor)
            .map(|name| text(name, source).to_owned())
            .collect();
        let names = if names.is_empty() { vec![String::new()] } else { names };
        for name in names {
            shape.parameters.push(Parameter {
                name,
                ty: ty.clone(),
                optional: variadic,
                named: false,
            });
        }
    }
}

fn types(spec: Node<'_>, source: &str, declaration: Node<'_>, items: &mut Vec<Item>) {
    let Some(name) = field(spec, "name", source).filter(|name| is_exported(name)) else { return };
    let doc_of = if parts(declaration).len() == 1 { declaration } else { spec };
    let Some(ty) = spec.child_by_field_name("type") else { return };
    let mut shape = Shape::default();
    match ty.kind() {
        "struct_type" => {
            "struct".clone_into(&mut shape.ty);
            fields(name, ty, source, items);
        }
        "interface_type" => {
            "interface".clone_into(&mut shape.ty);
            let methods: Vec<Node<'_>> = parts(ty)
                .into_iter()
                .filter(|part| matches!(part.kind(), "method_elem" | "method_spec"))
                .collect();
            // Nobody outside can implement an interface with a method that they cannot name.
            let sealed = methods.iter().any(|method| {
                field(*method, "name", source).is_some_and(|name| !is_exported(name))
            });
            for method in methods {
                if let Some(mut found) = function(method, source, Some(name), method) {
                    if sealed {
                        found.kind = Kind::Method;
                    }
                    items.push(found);
                }
            }
        }
        _ => shape.ty = squeeze(text(ty, source)),
    }
    if let Some(generics) = field(spec, "type_parameters", source) {
        shape.ty.push_str(&squeeze(generics));
    }
    items.push(item(name.to_owned(), Kind::Type, shape, spec, doc_of, source));
}

fn fields(holder: &str, ty: Node<'_>, source: &str, items: &mut Vec<Item>) {
    let Some(list) = parts(ty).into_iter().next() else { return };
    for part in parts(list) {
        let shape = Shape {
            ty: squeeze(field(part, "type", source).unwrap_or_default()),
            ..Shape::default()
        };
        let mut cursor = part.walk();
        let names: Vec<&str> = part
            .children_by_field_name("name", &mut cursor)
            .map(|name| text(name, source))
            .collect();
        for name in names.into_iter().filter(|name| is_exported(name)) {
            items.push(item(
                format!("{holder}.{name}"),
                Kind::Field,
                shape.clone(),
                part,
                part,
                source,
            ));
        }
    }
}

fn values(node: Node<'_>, source: &str, items: &mut Vec<Item>) {
    let mut specs = Vec::new();
    for part in parts(node) {
        match part.kind() {
            "var_spec_list" => specs.extend(parts(part)),
            _ => specs.push(part),
        }
    }
    for spec in specs {
        let shape = Shape {
            ty: squeeze(field(spec, "type", source).unwrap_or_default()),
            ..Shape::default()
        };
        let mut cursor = spec.walk();
        let names: Vec<&str> = spec
            .children_by_field_name("name", &mut cursor)
            .map(|name| text(name, source))
            .collect();
        for name in names.into_iter().filter(|name| is_exported(name)) {
            items.push(item(name.to_owned(), Kind::Value, shape.clone(), spec, spec, source));
        }
    }
}
