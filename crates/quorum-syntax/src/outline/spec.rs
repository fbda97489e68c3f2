//! The table that says what the nodes of a language mean.

use std::collections::HashMap;

use quorum_model::symbol::SymbolKind;
use tree_sitter::Node;

use crate::Lang;

/// What a node of some kind means.
#[derive(Clone, Copy)]
pub(super) enum Act {
    /// A declaration.
    Define(SymbolKind, Naming),
    /// A place that declarations stand in without being one: an `impl` block.
    Scope(Naming),
    /// It stands around one declaration, which begins where it does.
    Wrap,
    /// A comment.
    Comment,
    /// It belongs to the declaration that comes next: an attribute.
    Lead,
    /// A call of what the field holds.
    Call(&'static str),
    /// A call of what the first child of one of these kinds holds.
    CallChild(&'static [&'static str]),
    /// An import.
    Import,
    /// A type that is named.
    Type,
    /// A function without a name: what stands in it is local.
    Body,
}

/// How a declaration is named.
#[derive(Clone, Copy)]
pub(super) enum Naming {
    /// A field holds the name.
    Field(&'static str),
    /// The first child of one of these kinds is the name.
    Child(&'static [&'static str]),
    /// Only code can tell.
    Special(fn(Node<'_>, &[u8], Inside) -> Option<Named>),
}

/// Where a declaration stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inside {
    /// In the body of a function, where values are local.
    pub(super) function: bool,
    /// Directly in a type.
    pub(super) in_type: bool,
    /// How many declarations and scopes are around it.
    pub(super) depth: usize,
}

/// The name that code found.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) row: usize,
    pub(super) kind: SymbolKind,
    /// The type that it belongs to, where that is written elsewhere than around it.
    pub(super) scope: Option<String>,
}

/// What the nodes of a language mean, by the number of their kind.
pub(super) struct Spec {
    acts: Vec<Option<Act>>,
    /// How a documenting comment is told from any other, where that matters.
    pub(super) doc_marks: &'static [&'static str],
}

impl Spec {
    pub(super) fn new(
        lang: Lang,
        table: &[(&'static str, Act)],
        doc_marks: &'static [&'static str],
    ) -> Self {
        let table: HashMap<&str, Act> = table.iter().copied().collect();
        let grammar = lang.grammar();
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let act = |id: u16| {
            let kind = grammar.node_kind_for_id(id).filter(|_| grammar.node_kind_is_named(id))?;
            table.get(kind).copied()
        };
        Self { acts: (0..count).map(act).collect(), doc_marks }
    }

    pub(super) fn act(&self, node: Node<'_>) -> Option<Act> {
        self.acts.get(usize::from(node.kind_id())).copied().flatten()
    }
}
