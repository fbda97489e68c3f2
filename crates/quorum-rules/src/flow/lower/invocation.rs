//! Calls: what is called, and with what.

use super::{Lowerer, child_of_kind, children};
use crate::flow::ir::{Arg, Call, Expr, ExprKind};
use quorum_syntax::Node;
use std::rc::Rc;

impl Lowerer<'_> {
    pub(super) fn call(&mut self, node: Node<'_>) -> ExprKind {
        let callee = self.callee(node);
        if let ExprKind::Name(name) | ExprKind::Field(_, name) = &callee.kind {
            self.module.called.insert(Rc::clone(name));
        }
        let mut args = Vec::new();
        let list = node.child_by_field_name("arguments").or_else(|| {
            child_of_kind(node, &["argument_list", "arguments", "token_tree", "call_suffix"])
        });
        if let Some(list) = list {
            self.arguments(list, &mut args);
        }
        if let Some(block) = node.child_by_field_name("block") {
            let function = self.lambda(block);
            args.push(Arg { name: None, value: Self::make(block, ExprKind::Lambda(function)) });
        }
        if let Some(initializer) = node.child_by_field_name("initializer") {
            self.initializer(initializer, &mut args);
        }
        let new = matches!(
            node.kind(),
            "new_expression" | "object_creation_expression" | "implicit_object_creation_expression"
        );
        if let Some(body) = child_of_kind(node, &["class_body"]) {
            for function in self.anonymous_class(body, &callee) {
                let value = Self::make(body, ExprKind::Lambda(function));
                args.push(Arg { name: None, value });
            }
        }
        ExprKind::Call(Box::new(Call { callee, args, new }))
    }

    /// `new X { A = 1 }`: what is assigned is seen as named arguments.
    pub(super) fn initializer(&mut self, node: Node<'_>, args: &mut Vec<Arg>) {
        for part in children(node) {
            if let (Some(left), Some(right)) =
                (part.child_by_field_name("left"), part.child_by_field_name("right"))
            {
                let name = self.name(left);
                args.push(Arg { name: Some(name), value: self.expr(right) });
            }
        }
    }

    pub(super) fn callee(&mut self, node: Node<'_>) -> Expr {
        let named = |field: &str| node.child_by_field_name(field);
        if let Some(function) =
            named("function").or_else(|| named("constructor")).or_else(|| named("macro"))
        {
            return self.expr(function);
        }
        let method = named("name").or_else(|| named("method"));
        let receiver = named("object").or_else(|| named("receiver")).or_else(|| named("scope"));
        match (receiver, method) {
            (Some(receiver), Some(method)) => {
                let name = self.name(method);
                let receiver = self.boxed(receiver);
                Self::make(node, ExprKind::Field(receiver, name))
            }
            (None, Some(method)) => Self::make(method, ExprKind::Name(self.name(method))),
            (Some(receiver), None) => self.expr(receiver),
            (None, None) => match named("type").or_else(|| children(node).first().copied()) {
                Some(ty) if ty.kind() != "argument_list" => {
                    Self::make(ty, ExprKind::Name(self.type_name(ty)))
                }
                _ => Self::make(node, ExprKind::Opaque(Vec::new())),
            },
        }
    }

    pub(super) fn arguments(&mut self, list: Node<'_>, args: &mut Vec<Arg>) {
        if list.kind() == "token_tree" {
            self.tokens(list, args);
            return;
        }
        if !matches!(
            list.kind(),
            "argument_list"
                | "arguments"
                | "call_suffix"
                | "value_arguments"
                | "argument_list_with_parens"
        ) {
            // `f(x for x in y)` and tagged templates
            args.push(Arg { name: None, value: self.expr(list) });
            return;
        }
        for part in children(list) {
            match part.kind() {
                "keyword_argument" | "pair" => {
                    let name = part
                        .child_by_field_name("name")
                        .or_else(|| part.child_by_field_name("key"));
                    let value = part.child_by_field_name("value");
                    if let (Some(name), Some(value)) = (name, value) {
                        let name = Rc::from(self.text(name).trim_matches(['"', '\'', ':']));
                        args.push(Arg { name: Some(name), value: self.expr(value) });
                    }
                }
                "argument" => {
                    let name = part.child_by_field_name("name").map(|name| self.name(name));
                    let value = children(part).last().copied().unwrap_or(part);
                    args.push(Arg { name, value: self.expr(value) });
                }
                "value_arguments" => self.arguments(part, args),
                _ => args.push(Arg { name: None, value: self.expr(part) }),
            }
        }
    }

    /// Arguments of a Rust macro: its tokens are not parsed, so names and strings are taken as they come.
    pub(super) fn tokens(&mut self, list: Node<'_>, args: &mut Vec<Arg>) {
        let mut group: Vec<Expr> = Vec::new();
        let mut cursor = list.walk();
        for part in list.children(&mut cursor) {
            match part.kind() {
                "," => {
                    if let Some(last) = group.pop() {
                        args.push(Arg { name: None, value: last });
                    }
                    group.clear();
                }
                "identifier" => {
                    let value = match group.pop() {
                        Some(object) => ExprKind::Field(Box::new(object), self.name(part)),
                        None => ExprKind::Name(self.name(part)),
                    };
                    group.push(Self::make(part, value));
                }
                "string_literal" | "integer_literal" => group.push(self.expr(part)),
                "token_tree" => {
                    if let Some(callee) = group.pop() {
                        let mut inner = Vec::new();
                        self.tokens(part, &mut inner);
                        let call = Call { callee, args: inner, new: false };
                        group.push(Self::make(part, ExprKind::Call(Box::new(call))));
                    }
                }
                _ => {}
            }
        }
        if let Some(last) = group.pop() {
            args.push(Arg { name: None, value: last });
        }
    }
}
