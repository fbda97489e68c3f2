//! Finding the name of a declaration where a field alone does not say it.

use quorum_model::symbol::SymbolKind;
use tree_sitter::Node;

use super::spec::{Inside, Named};

/// Longer names are not names that anybody looks for.
const LONGEST: usize = 200;

pub(super) fn text<'a>(node: Node<'_>, source: &'a [u8]) -> &'a str {
    let bytes = source.get(node.byte_range()).unwrap_or_default();
    std::str::from_utf8(bytes).unwrap_or_default()
}

pub(super) fn named(node: Node<'_>, source: &[u8], kind: SymbolKind) -> Option<Named> {
    let name = text(node, source);
    let fits = !name.is_empty() && name.len() <= LONGEST && !name.contains('\n');
    let row = node.start_position().row;
    fits.then(|| Named { name: name.to_owned(), row, kind, scope: None })
}

pub(super) fn child_of_kind<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| kinds.contains(&child.kind()))
}

/// Whether one of the node's own words (not only its named children) is `word`.
pub(super) fn has_word(node: Node<'_>, word: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).take(16).any(|child| child.kind() == word)
}

/// Upper-case names are constants by convention where a language has no constants.
fn is_constant_name(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}

pub(super) fn go_type(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    let kind = match node.child_by_field_name("type").map(|node| node.kind()) {
        Some("struct_type") => SymbolKind::Struct,
        Some("interface_type") => SymbolKind::Interface,
        _ => SymbolKind::Type,
    };
    named(node.child_by_field_name("name")?, source, kind)
}

pub(super) fn go_method(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    let mut found = named(node.child_by_field_name("name")?, source, SymbolKind::Method)?;
    let receiver = text(node.child_by_field_name("receiver")?, source);
    let receiver = receiver.split('[').next().unwrap_or(receiver);
    let name = receiver.rsplit([' ', '*', '(']).find(|part| !part.trim_matches(')').is_empty())?;
    found.scope = Some(name.trim_matches([')', ' ']).to_owned());
    Some(found)
}

/// A value in Go: top-level only.
pub(super) fn go_constant(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    named(node.child_by_field_name("name")?, source, SymbolKind::Constant)
}

pub(super) fn go_variable(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    named(node.child_by_field_name("name")?, source, SymbolKind::Variable)
}

fn outside_function(inside: Inside) -> Option<()> {
    (!inside.function).then_some(())
}

/// The type that an `impl` block is for, without its parameters.
pub(super) fn rust_impl(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    let name = text(node.child_by_field_name("type")?, source);
    let name = name.trim_start_matches(['&', '\'', '*']);
    let name = name.split(['<', '(']).next().unwrap_or(name);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    let row = node.start_position().row;
    let fits = !name.is_empty() && name.len() <= LONGEST;
    fits.then(|| Named { name: name.to_owned(), row, kind: SymbolKind::Type, scope: None })
}

pub(super) fn rust_value(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    named(node.child_by_field_name("name")?, source, SymbolKind::Constant)
}

pub(super) fn python_assignment(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    let name = node.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
    let function = node.child_by_field_name("right").is_some_and(|right| right.kind() == "lambda");
    let kind = if function {
        SymbolKind::Function
    } else if is_constant_name(text(name, source)) {
        SymbolKind::Constant
    } else if inside.depth == 0 {
        SymbolKind::Variable
    } else {
        return None;
    };
    named(name, source, kind)
}

/// `const f = () => …` is a function; any other value counts outside functions only.
pub(super) fn script_variable(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    let name = node.child_by_field_name("name").filter(|name| name.kind() == "identifier")?;
    let kind = match node.child_by_field_name("value").map(|value| value.kind()) {
        Some("arrow_function" | "function_expression" | "generator_function") => {
            SymbolKind::Function
        }
        Some("class") => SymbolKind::Class,
        _ if inside.function => return None,
        _ => SymbolKind::Constant,
    };
    named(name, source, kind)
}

/// A field of a class or of an object counts when it holds a function.
pub(super) fn script_field(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    let value = node.child_by_field_name("value")?;
    let function = matches!(
        value.kind(),
        "arrow_function" | "function_expression" | "generator_function" | "function"
    );
    let name = ["name", "key", "property"].iter().find_map(|field| node.child_by_field_name(field));
    let name = name.filter(|name| name.kind().ends_with("identifier"));
    named(name.filter(|_| function)?, source, SymbolKind::Method)
}

/// `exports.f = function () …` and `A.prototype.f = function () …`.
pub(super) fn script_assignment(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    let right = node.child_by_field_name("right")?;
    let kind = match right.kind() {
        "arrow_function" | "function_expression" | "generator_function" => SymbolKind::Function,
        "class" => SymbolKind::Class,
        _ => return None,
    };
    let left =
        node.child_by_field_name("left").filter(|left| left.kind() == "member_expression")?;
    outside_function(inside)?;
    named(left.child_by_field_name("property")?, source, kind)
}

/// Only what is `static final` is a constant.
pub(super) fn java_field(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    let modifiers = child_of_kind(node, &["modifiers"]).map(|node| text(node, source));
    let constant = node.kind() == "constant_declaration"
        || modifiers.is_some_and(|text| text.contains("static") && text.contains("final"));
    let declarator = node.child_by_field_name("declarator").filter(|_| constant)?;
    named(declarator.child_by_field_name("name")?, source, SymbolKind::Constant)
}

pub(super) fn csharp_field(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    let head = text(node, source).get(..160.min(node.byte_range().len())).unwrap_or_default();
    let constant = head.contains("const ") || head.contains("static readonly ");
    let list = child_of_kind(node, &["variable_declaration"]).filter(|_| constant)?;
    let declarator = child_of_kind(list, &["variable_declarator"])?;
    let name = declarator
        .child_by_field_name("name")
        .or_else(|| child_of_kind(declarator, &["identifier"]))?;
    named(name, source, SymbolKind::Constant)
}

/// The name at the bottom of a C declarator: pointers, arrays, parameters and parentheses off.
fn declared(mut node: Node<'_>) -> Option<(Node<'_>, bool)> {
    let mut function = false;
    // A declarator is as deep as it has stars and brackets; no sane one has more.
    for _ in 0..32 {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "operator_name"
            | "destructor_name" | "operator_cast" => return Some((node, function)),
            "qualified_identifier" | "template_function" => {
                node = node.child_by_field_name("name")?;
            }
            "function_declarator" => {
                function = true;
                node = node.child_by_field_name("declarator")?;
            }
            "parenthesized_declarator" | "attributed_declarator" => node = node.named_child(0)?,
            _ => {
                node = node.child_by_field_name("declarator").or_else(|| {
                    child_of_kind(node, &["function_declarator", "identifier", "field_identifier"])
                })?;
            }
        }
    }
    None
}

/// The scope of `A::B::f`, where a declarator has one.
fn declared_scope(node: Node<'_>, source: &[u8]) -> Option<String> {
    let mut node = node;
    for _ in 0..32 {
        if node.kind() == "qualified_identifier" {
            let name = node.child_by_field_name("name")?;
            let before = source.get(node.start_byte()..name.start_byte())?;
            let before = std::str::from_utf8(before).ok()?.trim_end_matches(':').trim();
            let last = before.rsplit("::").next().unwrap_or(before);
            return (!last.is_empty()).then(|| last.to_owned());
        }
        node = node.child_by_field_name("declarator").or_else(|| {
            node.kind().starts_with("parenthesized").then(|| node.named_child(0)).flatten()
        })?;
    }
    None
}

pub(super) fn c_function(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    let declarator = node.child_by_field_name("declarator")?;
    let (name, _) = declared(declarator)?;
    let scope = declared_scope(declarator, source);
    let method = inside.in_type || scope.is_some();
    let kind = if method { SymbolKind::Method } else { SymbolKind::Function };
    Some(Named { scope, ..named(name, source, kind)? })
}

/// A prototype is a function; any other declaration counts where it is `const`.
pub(super) fn c_declaration(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    let declarator = node.child_by_field_name("declarator")?;
    let (name, function) = declared(declarator)?;
    let kind = match (function, inside.in_type) {
        (true, true) => SymbolKind::Method,
        (true, false) => SymbolKind::Function,
        (false, true) => return None,
        (false, false) => {
            let head = source.get(node.start_byte()..name.start_byte()).unwrap_or_default();
            let head = std::str::from_utf8(head).unwrap_or_default();
            let constant = head.contains("const ") || head.contains("constexpr ");
            if constant { SymbolKind::Constant } else { SymbolKind::Variable }
        }
    };
    named(name, source, kind)
}

pub(super) fn c_typedef(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    let (name, _) = declared(node.child_by_field_name("declarator")?)?;
    named(name, source, SymbolKind::Type)
}

/// A structure counts where it has a body, not where it is only named.
pub(super) fn c_struct(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    node.child_by_field_name("body")?;
    let kind = match node.kind() {
        "class_specifier" => SymbolKind::Class,
        "enum_specifier" => SymbolKind::Enum,
        _ => SymbolKind::Struct,
    };
    let name = node.child_by_field_name("name")?;
    let name =
        if name.kind() == "template_type" { name.child_by_field_name("name")? } else { name };
    named(name, source, kind)
}

pub(super) fn ruby_assignment(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    let left = node.child_by_field_name("left").filter(|left| left.kind() == "constant")?;
    named(left, source, SymbolKind::Constant)
}

pub(super) fn php_constant(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    let element = child_of_kind(node, &["const_element"])?;
    named(child_of_kind(element, &["name"])?, source, SymbolKind::Constant)
}

pub(super) fn kotlin_class(node: Node<'_>, source: &[u8], _: Inside) -> Option<Named> {
    let kind = if has_word(node, "interface") {
        SymbolKind::Interface
    } else if has_word(node, "enum") {
        SymbolKind::Enum
    } else {
        SymbolKind::Class
    };
    named(child_of_kind(node, &["type_identifier"])?, source, kind)
}

pub(super) fn kotlin_property(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    outside_function(inside)?;
    let variable = child_of_kind(node, &["variable_declaration"])?;
    let modifiers = child_of_kind(node, &["modifiers"]).map(|node| text(node, source));
    let constant = modifiers.is_some_and(|text| text.contains("const"));
    let kind = if constant { SymbolKind::Constant } else { SymbolKind::Property };
    named(child_of_kind(variable, &["simple_identifier"])?, source, kind)
}

/// A key of a data file counts at the first two levels.
pub(super) fn data_key(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    if inside.depth > 1 {
        return None;
    }
    let key = node.child_by_field_name("key")?;
    let found = named(key, source, SymbolKind::Key)?;
    let name = found.name.trim_matches(['"', '\'']).to_owned();
    (!name.is_empty()).then_some(Named { name, ..found })
}

/// `resource "aws_s3_bucket" "logs"` is `resource.aws_s3_bucket.logs`.
pub(super) fn hcl_block(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    if inside.depth > 0 {
        return None;
    }
    let mut cursor = node.walk();
    let labels = node.named_children(&mut cursor).take_while(|child| child.kind() != "body");
    let labels: Vec<&str> = labels
        .filter(|child| matches!(child.kind(), "identifier" | "string_lit"))
        .map(|child| text(child, source).trim_matches('"'))
        .collect();
    let row = node.start_position().row;
    let name = labels.join(".");
    let fits = !name.is_empty() && name.len() <= LONGEST;
    fits.then_some(Named { name, row, kind: SymbolKind::Block, scope: None })
}

pub(super) fn hcl_attribute(node: Node<'_>, source: &[u8], inside: Inside) -> Option<Named> {
    if inside.depth > 0 {
        return None;
    }
    named(child_of_kind(node, &["identifier"])?, source, SymbolKind::Key)
}
