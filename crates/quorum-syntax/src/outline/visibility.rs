//! Who can use a declaration.

use quorum_model::symbol::{SymbolKind, Visibility};
use tree_sitter::Node;

use super::names::{child_of_kind, text};
use super::spec::Inside;
use crate::Lang;

/// What the answer depends on.
pub(super) struct Query<'a, 't> {
    pub(super) lang: Lang,
    pub(super) node: Node<'t>,
    pub(super) source: &'a [u8],
    pub(super) name: &'a str,
    pub(super) kind: SymbolKind,
    pub(super) inside: Inside,
    pub(super) exported: bool,
    /// It stands in an interface, whose members everybody can use.
    pub(super) open: bool,
}

/// Whether an `impl` block is for a trait, whose methods are as visible as the trait.
pub(super) fn is_trait_impl(node: Node<'_>) -> bool {
    node.kind() == "impl_item" && node.child_by_field_name("trait").is_some()
}

/// Who can use it.
pub(super) fn of(query: &Query<'_, '_>) -> Visibility {
    if query.inside.function {
        return Visibility::Private;
    }
    match query.lang {
        Lang::Go => by_case(query.name),
        Lang::Python => by_underscore(query.name),
        Lang::Rust => rust(query),
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => script(query),
        Lang::Java => written(query).unwrap_or(if query.open {
            Visibility::Public
        } else {
            Visibility::Internal
        }),
        Lang::CSharp => written(query).unwrap_or(match (query.open, query.inside.in_type) {
            (true, _) => Visibility::Public,
            (false, true) => Visibility::Private,
            (false, false) => Visibility::Internal,
        }),
        Lang::Kotlin | Lang::Php => written(query).unwrap_or(Visibility::Public),
        Lang::C | Lang::Cpp => c(query),
        Lang::Ruby if query.name.starts_with('_') => Visibility::Private,
        _ => Visibility::Public,
    }
}

fn by_case(name: &str) -> Visibility {
    if name.chars().next().is_some_and(char::is_uppercase) {
        Visibility::Public
    } else {
        Visibility::Internal
    }
}

fn by_underscore(name: &str) -> Visibility {
    let special = name.starts_with("__") && name.ends_with("__");
    if name.starts_with('_') && !special { Visibility::Private } else { Visibility::Public }
}

fn rust(query: &Query<'_, '_>) -> Visibility {
    let exported_macro = query.kind == SymbolKind::Macro;
    match child_of_kind(query.node, &["visibility_modifier"]) {
        Some(modifier) if text(modifier, query.source) == "pub" => Visibility::Public,
        Some(_) => Visibility::Internal,
        None if query.open || exported_macro => Visibility::Public,
        None => Visibility::Private,
    }
}

fn script(query: &Query<'_, '_>) -> Visibility {
    if query.name.starts_with('#') {
        return Visibility::Private;
    }
    if query.inside.in_type || query.kind == SymbolKind::Method {
        let modifier = child_of_kind(query.node, &["accessibility_modifier"]);
        return match modifier.map(|modifier| text(modifier, query.source)) {
            Some("private") => Visibility::Private,
            Some("protected") => Visibility::Protected,
            _ => Visibility::Public,
        };
    }
    if query.exported { Visibility::Public } else { Visibility::Private }
}

/// What a modifier says.
fn written(query: &Query<'_, '_>) -> Option<Visibility> {
    let mut cursor = query.node.walk();
    let modifiers = query.node.children(&mut cursor).take(8);
    let modifiers = modifiers.filter(|child| child.kind().contains("modifier"));
    for modifier in modifiers {
        for word in text(modifier, query.source).split_whitespace() {
            match word {
                "public" => return Some(Visibility::Public),
                "protected" => return Some(Visibility::Protected),
                "internal" => return Some(Visibility::Internal),
                "private" => return Some(Visibility::Private),
                _ => {}
            }
        }
    }
    None
}

fn c(query: &Query<'_, '_>) -> Visibility {
    let head = text(query.node, query.source);
    if query.inside.in_type {
        return c_section(query);
    }
    if head.starts_with("static ") { Visibility::Private } else { Visibility::Public }
}

/// The access specifier that a member of a C++ class stands below.
fn c_section(query: &Query<'_, '_>) -> Visibility {
    let mut node = query.node;
    // Long classes are not searched to their beginning: looking back is slow in a deep tree.
    for _ in 0..64 {
        let Some(before) = node.prev_named_sibling() else { break };
        if before.kind() == "access_specifier" {
            return match text(before, query.source) {
                "private" => Visibility::Private,
                "protected" => Visibility::Protected,
                _ => Visibility::Public,
            };
        }
        node = before;
    }
    let class = node.parent().and_then(|body| body.parent());
    match class.map(|class| class.kind()) {
        Some("class_specifier") => Visibility::Private,
        _ => Visibility::Public,
    }
}
