//! Lists, maps, and what is built from other collections.

use super::{Lowerer, child_of_kind, children};
use crate::flow::ir::{Arg, Call, Const, Expr, ExprKind};
use quorum_syntax::{Lang, Node};
use std::rc::Rc;

impl Lowerer<'_> {
    pub(super) fn list(&mut self, node: Node<'_>) -> ExprKind {
        if node.kind() == "array" && self.lang == Lang::Php {
            return self.map(node);
        }
        ExprKind::List(children(node).into_iter().map(|part| self.expr(part)).collect())
    }

    pub(super) fn array_creation(&mut self, node: Node<'_>) -> ExprKind {
        if self.lang == Lang::Php {
            return self.map(node);
        }
        let value = node
            .child_by_field_name("value")
            .or_else(|| child_of_kind(node, &["array_initializer", "initializer_expression"]));
        if let Some(value) = value {
            return self.expr(value).kind;
        }
        let ty = node.child_by_field_name("type").map_or(Rc::from("array"), |t| self.type_name(t));
        ExprKind::Typed(ty, None)
    }

    pub(super) fn map(&mut self, node: Node<'_>) -> ExprKind {
        let mut pairs = Vec::new();
        for (position, part) in children(node).into_iter().enumerate() {
            let key = part.child_by_field_name("key").or_else(|| part.child_by_field_name("name"));
            let value = part.child_by_field_name("value");
            let two = children(part);
            match (part.kind(), key, value) {
                ("method_definition", Some(key), _) => {
                    let key = self.key(key);
                    let function = self.lambda(part);
                    pairs.push((key, Self::make(part, ExprKind::Lambda(function))));
                }
                (_, Some(key), Some(value)) => {
                    let key = self.key(key);
                    let value = self.expr(value);
                    pairs.push((key, value));
                }
                ("keyed_element" | "array_element_initializer", _, _) if two.len() == 2 => {
                    let key = self.key(two[0]);
                    let value = self.expr(two[1]);
                    pairs.push((key, value));
                }
                ("shorthand_property_identifier", _, _) => {
                    let key = Self::make(part, ExprKind::Const(Const::Text(self.name(part))));
                    let value = self.expr(part);
                    pairs.push((key, value));
                }
                _ => {
                    let at = i64::try_from(position).unwrap_or_default();
                    let spread = part.kind().contains("spread") || part.kind().contains("splat");
                    let key = if spread {
                        ExprKind::Opaque(Vec::new())
                    } else {
                        ExprKind::Const(Const::Int(at))
                    };
                    let value = self.expr(part);
                    pairs.push((Self::make(part, key), value));
                }
            }
        }
        ExprKind::Map(pairs)
    }

    /// A key: a bare word is its own text.
    pub(super) fn key(&mut self, node: Node<'_>) -> Expr {
        match node.kind() {
            "property_identifier" | "identifier" | "field_identifier"
                if self.lang != Lang::Python =>
            {
                Self::make(node, ExprKind::Const(Const::Text(self.name(node))))
            }
            "literal_element" => match children(node).first() {
                Some(inner) => self.key(*inner),
                None => self.expr(node),
            },
            _ => self.expr(node),
        }
    }

    pub(super) fn composite(&mut self, node: Node<'_>) -> ExprKind {
        let ty = node.child_by_field_name("type").map(|ty| self.type_name(ty));
        let body = node.child_by_field_name("body").map(|body| Box::new(self.expr(body)));
        match ty {
            Some(ty) => {
                // A literal of a type is seen by rules as a call of the type.
                let callee = Self::make(node, ExprKind::Name(ty));
                let args = match body.map(|body| body.kind) {
                    Some(ExprKind::Map(pairs)) => pairs
                        .into_iter()
                        .map(|(key, value)| Arg {
                            name: match &key.kind {
                                ExprKind::Const(Const::Text(name)) => Some(Rc::clone(name)),
                                _ => None,
                            },
                            value,
                        })
                        .collect(),
                    _ => Vec::new(),
                };
                ExprKind::Call(Box::new(Call { callee, args, new: true }))
            }
            None => body.map_or(ExprKind::Opaque(Vec::new()), |body| body.kind),
        }
    }

    pub(super) fn cast(&mut self, node: Node<'_>) -> ExprKind {
        let value = ["value", "operand", "expression"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field))
            .or_else(|| match self.lang {
                Lang::TypeScript | Lang::Tsx => children(node).first().copied(),
                _ => children(node).last().copied(),
            });
        let Some(value) = value else { return ExprKind::Opaque(Vec::new()) };
        let ty = node.child_by_field_name("type").map(|ty| self.type_name(ty));
        let value = self.boxed(value);
        match ty {
            Some(ty) => ExprKind::Typed(ty, Some(value)),
            None => ExprKind::Pass(value),
        }
    }

    pub(super) fn comprehension(&mut self, node: Node<'_>) -> ExprKind {
        use crate::flow::ir::Stmt;
        let Some(body) = node.child_by_field_name("body") else { return self.wrapped(node) };
        let mut inner = vec![Stmt::Expr(self.expr(body))];
        for clause in children(node).into_iter().rev() {
            if clause.kind() == "if_clause"
                && let Some(condition) = children(clause).first()
            {
                let condition = self.expr(*condition);
                inner = vec![Stmt::If(condition, inner, Vec::new())];
            } else if clause.kind() == "for_in_clause"
                && let (Some(left), Some(right)) =
                    (clause.child_by_field_name("left"), clause.child_by_field_name("right"))
            {
                let target = self.target(left);
                let over = self.expr(right);
                inner = vec![Stmt::ForEach { target, keyed: false, over, body: inner }];
            }
        }
        ExprKind::Block(inner)
    }
}
