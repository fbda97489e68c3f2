//! From syntax trees of any language to the common form.
//!
//! Grammars name like things alike, so one reading of node kinds serves all languages; what is
//! special about one of them is in its branch of the match.

mod collection;
mod declare;
mod expression;
mod import;
mod invocation;
mod literal;
mod members;
mod statement;

use std::rc::Rc;

use quorum_syntax::{Lang, Node, Tree};

use super::ir::{Class, Expr, ExprKind, Function, Module, Span, Stmt};

/// How deep trees are followed. Trees are no deeper than that; see [`quorum_syntax::Limits`].
const DEPTH: usize = 2_000;

/// Lowers a whole file.
pub(super) fn lower(tree: &Tree, text: &str, lang: Lang) -> Module {
    let mut lowerer = Lowerer {
        text,
        lang,
        module: Module::default(),
        class: None,
        locals: Vec::new(),
        next: 0,
        depth: 0,
    };
    lowerer.members(tree.root_node());
    let top = lowerer.block(tree.root_node());
    lowerer.module.top = top;
    lowerer.module
}

/// The state of lowering one file.
struct Lowerer<'s> {
    text: &'s str,
    lang: Lang,
    module: Module,
    class: Option<Class>,
    /// What the function that is being read declares.
    locals: Vec<Rc<str>>,
    next: usize,
    depth: usize,
}

impl<'s> Lowerer<'s> {
    fn text(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn name(&self, node: Node<'_>) -> Rc<str> {
        let text = self.text(node);
        Rc::from(if self.lang == Lang::Php { text.trim_start_matches('$') } else { text })
    }

    fn span(node: Node<'_>) -> Span {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Span {
            row: small(node.start_position().row),
            end_row: small(node.end_position().row),
            start: small(node.start_byte()),
            end: small(node.end_byte()),
        }
    }

    fn make(node: Node<'_>, kind: ExprKind) -> Expr {
        Expr { kind, span: Self::span(node) }
    }

    fn is_script(&self) -> bool {
        matches!(self.lang, Lang::JavaScript | Lang::TypeScript | Lang::Tsx)
    }

    /// Registers a function and gives it its number.
    fn register(&mut self, mut function: Function) -> Rc<Function> {
        function.id = self.next;
        self.next += 1;
        Rc::new(function)
    }

    /// The statements of a node that holds statements.
    fn block(&mut self, node: Node<'_>) -> Vec<Stmt> {
        if self.depth > DEPTH {
            return Vec::new();
        }
        self.depth += 1;
        let mut out = Vec::new();
        if is_block(node.kind()) {
            for child in children(node) {
                self.statement(child, &mut out);
            }
        } else {
            self.statement(node, &mut out);
        }
        self.depth -= 1;
        out
    }

    fn block_of(&mut self, node: Node<'_>, field: &str) -> Vec<Stmt> {
        node.child_by_field_name(field).map(|body| self.block(body)).unwrap_or_default()
    }
}

/// Nodes that are nothing but their statements.
fn is_block(kind: &str) -> bool {
    matches!(
        kind,
        "module"
            | "program"
            | "source_file"
            | "translation_unit"
            | "compilation_unit"
            | "block"
            | "statement_block"
            | "statement_list"
            | "compound_statement"
            | "body_statement"
            | "then"
            | "do"
            | "block_body"
            | "else"
            | "constructor_body"
            | "enum_body_declarations"
            | "declaration_list"
            | "namespace_declaration"
            | "file_scoped_namespace_declaration"
            | "namespace_definition"
            | "global_statement"
            | "switch_body"
            | "else_clause"
            | "begin_block"
            | "ensure"
            | "colon_block"
    )
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect()
}

fn child_of_kind<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    children(node).into_iter().find(|child| kinds.contains(&child.kind()))
}

fn fields<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor).filter(Node::is_named).collect()
}
