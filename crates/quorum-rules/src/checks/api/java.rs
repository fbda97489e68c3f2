//! Public and protected members of public Java types.

use quorum_syntax::Node;

use super::item::{Item, Kind, Parameter, Shape, headline, squeeze};
use crate::checks::syntax::{field, line, parts, text};

pub(super) fn items(root: Node<'_>, source: &str) -> Vec<Item> {
    let package = parts(root)
        .into_iter()
        .find(|part| part.kind() == "package_declaration")
        .map(|package| text(package, source))
        .unwrap_or_default();
    if package.split(['.', ';', ' ']).any(|part| matches!(part, "internal" | "impl" | "test")) {
        return Vec::new();
    }
    let mut items = Vec::new();
    for node in parts(root) {
        types(node, "", false, source, &mut items);
    }
    items
}

fn modifiers<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    parts(node)
        .first()
        .filter(|first| first.kind() == "modifiers")
        .map(|first| text(*first, source))
        .unwrap_or_default()
}

fn has(modifiers: &str, word: &str) -> bool {
    modifiers.split_whitespace().any(|found| found == word)
}

fn item(name: String, kind: Kind, shape: Shape, node: Node<'_>, source: &str) -> Item {
    let doc = node
        .prev_sibling()
        .filter(|before| before.kind() == "block_comment")
        .map(|before| text(before, source))
        .filter(|doc| doc.starts_with("/**"));
    let words = modifiers(node, source);
    // The declaration itself, below its annotations.
    let name_line = node
        .child_by_field_name("name")
        .or_else(|| node.child_by_field_name("declarator"))
        .map_or(line(node), line);
    let row = usize::try_from(name_line - line(node)).unwrap_or_default();
    let quote = text(node, source).lines().nth(row).unwrap_or_default();
    Item {
        name,
        kind,
        shape,
        line: name_line,
        quote: headline(quote),
        deprecated: words.contains("@Deprecated")
            || doc.is_some_and(|doc| doc.contains("@deprecated")),
        documented: doc.is_some() || words.contains("@Override"),
    }
}

fn types(node: Node<'_>, prefix: &str, in_interface: bool, source: &str, items: &mut Vec<Item>) {
    let is_type = matches!(
        node.kind(),
        "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
    );
    let words = modifiers(node, source);
    if !is_type || !(has(words, "public") || in_interface) {
        return;
    }
    let Some(own) = field(node, "name", source) else { return };
    let name = format!("{prefix}{own}");
    let is_interface = node.kind() == "interface_declaration";
    let mut shape = Shape { ty: node.kind().to_owned(), ..Shape::default() };
    if has(words, "final") {
        shape.words.push("final");
    }
    if has(words, "abstract") {
        shape.words.push("abstract");
    }
    if node.child_by_field_name("superclass").is_some()
        || node.child_by_field_name("interfaces").is_some()
    {
        shape.words.push("inherits");
    }
    items.push(item(name.clone(), Kind::Type, shape, node, source));
    let Some(body) = node.child_by_field_name("body") else { return };
    let mut members = parts(body);
    // An enum keeps its members behind its constants.
    if let Some(at) = members.iter().position(|part| part.kind() == "enum_body_declarations") {
        let inner = parts(members[at]);
        members.extend(inner);
    }
    let is_final = has(words, "final");
    for member in members {
        let words = modifiers(member, source);
        let visible = has(words, "public")
            || is_interface && !has(words, "private")
            || has(words, "protected") && !is_final;
        match member.kind() {
            "enum_constant" => items.push(item(
                format!("{name}.{}", field(member, "name", source).unwrap_or_default()),
                Kind::Variant,
                Shape::default(),
                member,
                source,
            )),
            "method_declaration" | "constructor_declaration" if visible => {
                let own = field(member, "name", source).unwrap_or_default();
                let shape = signature(member, words, source);
                let types: Vec<&str> =
                    shape.parameters.iter().map(|parameter| parameter.ty.as_str()).collect();
                let must_write = is_interface && member.child_by_field_name("body").is_none()
                    || has(words, "abstract");
                let kind = if must_write { Kind::Required } else { Kind::Method };
                // Overloads are told apart by their parameters.
                items.push(item(
                    format!("{name}.{own}({})", types.join(", ")),
                    kind,
                    shape,
                    member,
                    source,
                ));
            }
            "field_declaration" | "constant_declaration" if visible => {
                let ty = squeeze(field(member, "type", source).unwrap_or_default());
                let own = member
                    .child_by_field_name("declarator")
                    .and_then(|declarator| field(declarator, "name", source))
                    .unwrap_or_default();
                items.push(item(
                    format!("{name}.{own}"),
                    Kind::Field,
                    Shape { ty, ..Shape::default() },
                    member,
                    source,
                ));
            }
            _ => types(member, &format!("{name}."), is_interface, source, items),
        }
    }
}

fn signature(node: Node<'_>, words: &str, source: &str) -> Shape {
    let mut shape =
        Shape { ty: squeeze(field(node, "type", source).unwrap_or_default()), ..Shape::default() };
    for word in ["static", "final", "abstract"] {
        if has(words, word) {
            shape.words.push(word);
        }
    }
    for part in node.child_by_field_name("parameters").map(parts).unwrap_or_default() {
        let ty = squeeze(field(part, "type", source).unwrap_or_else(|| text(part, source)));
        let ty = ty.split('<').next().unwrap_or_default().to_owned();
        let name = field(part, "name", source).unwrap_or_default().to_owned();
        shape.parameters.push(Parameter { name, ty, optional: false, named: false });
    }
    shape
}
