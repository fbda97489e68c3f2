//! Statements.

use std::rc::Rc;

use quorum_syntax::{Lang, Node};

use super::{Lowerer, child_of_kind, children, fields, is_block};
use crate::flow::ir::{Expr, ExprKind, Stmt, SwitchCase, Target};

impl Lowerer<'_> {
    /// Lowers a statement of any language.
    #[expect(clippy::too_many_lines, reason = "one flat table of node kinds")]
    pub(super) fn statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if self.declare(node, out) || self.import(node) {
            return;
        }
        match node.kind() {
            kind if is_block(kind) => {
                let block = self.block(node);
                out.push(Stmt::Block(block));
            }
            "if_statement" | "if" | "unless" | "elif_clause" | "elsif" | "else_if_clause"
            | "if_expression" => self.if_statement(node, out),
            "if_modifier" | "unless_modifier" => {
                let condition = self.condition(node);
                let body = self.block_of(node, "body");
                out.push(branch(condition, body, Vec::new(), node.kind() == "unless_modifier"));
            }
            "while_statement" | "while_expression" | "loop_expression" | "while" | "until"
            | "while_modifier" | "until_modifier" => {
                let condition = node.child_by_field_name("condition").map(|c| self.expr(c));
                let condition = if node.kind() == "until" { None } else { condition };
                let body = self.block_of(node, "body");
                out.push(Stmt::Loop { condition, body, step: Vec::new(), first: false });
            }
            "do_statement" => {
                let condition = node.child_by_field_name("condition").map(|c| self.expr(c));
                let body = self.block_of(node, "body");
                out.push(Stmt::Loop { condition, body, step: Vec::new(), first: true });
            }
            "for_statement" | "for_expression" | "for" => self.for_statement(node, out),
            "for_in_statement"
            | "enhanced_for_statement"
            | "foreach_statement"
            | "for_range_loop" => {
                self.for_each(node, out);
            }
            "switch_statement"
            | "switch_expression"
            | "expression_switch_statement"
            | "type_switch_statement"
            | "match_statement"
            | "match_expression"
            | "case"
            | "select_statement"
            | "case_match" => self.switch(node, out),
            "try_statement" | "try_with_resources_statement" | "begin" | "try_block" => {
                self.try_statement(node, out);
            }
            "send_statement" => {
                // What is sent may come out at any receive.
                let named = |field: &str| node.child_by_field_name(field);
                if let (Some(channel), Some(value)) = (named("channel"), named("value")) {
                    let any = Self::make(node, ExprKind::Opaque(Vec::new()));
                    let target = Target::Index(self.expr(channel), any);
                    let assign = ExprKind::Assign(Box::new(target), Box::new(self.expr(value)));
                    out.push(Stmt::Expr(Self::make(node, assign)));
                }
            }
            "with_statement" => self.with_statement(node, out),
            "using_statement"
            | "lock_statement"
            | "synchronized_statement"
            | "fixed_statement"
            | "labeled_statement"
            | "unsafe_block"
            | "async_block"
            | "checked_statement" => {
                for child in children(node) {
                    self.statement(child, out);
                }
            }
            "return_statement" | "return_expression" | "return" => {
                let value = children(node).first().copied();
                let value = value.map(|value| {
                    if value.kind() == "argument_list" || value.kind() == "expression_list" {
                        match children(value).as_slice() {
                            [only] => self.expr(*only),
                            _ => self.expr_list(value),
                        }
                    } else {
                        self.expr(value)
                    }
                });
                out.push(Stmt::Return(value));
            }
            "throw_statement" | "raise_statement" | "throw_expression" => {
                let value = children(node).first().copied().map(|value| self.expr(value));
                out.push(Stmt::Throw(value));
            }
            "break_statement" | "break_expression" | "break" => out.push(Stmt::Break),
            "continue_statement" | "continue_expression" | "next" => out.push(Stmt::Continue),
            "echo_statement" => {
                let call = self.statement_call(node, "echo");
                out.push(Stmt::Expr(call));
            }
            "unset_statement"
            | "comment"
            | "pass_statement"
            | "empty_statement"
            | "package_clause"
            | "package_declaration"
            | "global_declaration"
            | "type_declaration"
            | "php_tag"
            | "interface_declaration"
            | "type_alias_declaration"
            | "preproc_include"
            | "attribute_item"
            | "interface_definition"
            | "type_item"
            | "struct_item"
            | "inner_attribute_item" => {}
            "go_statement"
            | "defer_statement"
            | "expression_statement"
            | "await_statement"
            | "export_statement"
            | "yield_statement"
            | "local_function_statement"
            | "delete_statement"
            | "assert_statement"
            | "preproc_if"
            | "preproc_ifdef"
            | "linkage_specification"
            | "template_declaration"
            | "preproc_else" => {
                for child in children(node) {
                    if is_statement(child.kind()) {
                        self.statement(child, out);
                    } else {
                        let value = self.expr(child);
                        out.push(Stmt::Expr(value));
                    }
                }
            }
            "inc_statement"
            | "dec_statement"
            | "update_expression"
            | "postfix_unary_expression" => {
                if let Some(inner) = children(node).first() {
                    let target = self.target(*inner);
                    let value = Self::make(node, ExprKind::Opaque(Vec::new()));
                    let kind = ExprKind::Assign(Box::new(target), Box::new(value));
                    out.push(Stmt::Expr(Self::make(node, kind)));
                }
            }
            _ => {
                let value = self.expr(node);
                out.push(Stmt::Expr(value));
            }
        }
    }

    fn expr_list(&mut self, node: Node<'_>) -> Expr {
        let parts = children(node).into_iter().map(|part| self.expr(part)).collect();
        Self::make(node, ExprKind::List(parts))
    }

    fn if_statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if let Some(before) = node.child_by_field_name("initializer") {
            self.statement(before, out);
        }
        let condition = self.condition(node);
        let yes = node
            .child_by_field_name("consequence")
            .or_else(|| node.child_by_field_name("body"))
            .or_else(|| child_of_kind(node, &["then", "block"]))
            .map(|body| self.block(body))
            .unwrap_or_default();
        // Python and PHP list all their `elif` beside one another.
        let mut no = Vec::new();
        for alternative in fields(node, "alternative").into_iter().rev() {
            if matches!(alternative.kind(), "elif_clause" | "else_if_clause" | "elsif") {
                let mut chain = Vec::new();
                self.if_statement(alternative, &mut chain);
                if let Some(Stmt::If(_, _, last)) = chain.last_mut()
                    && last.is_empty()
                {
                    *last = std::mem::take(&mut no);
                }
                no = chain;
            } else {
                no = self.block(alternative);
            }
        }
        out.push(branch(condition, yes, no, node.kind() == "unless"));
    }

    fn for_statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if let Some(clause) = child_of_kind(node, &["range_clause"]) {
            let body = self.block_of(node, "body");
            let over = clause.child_by_field_name("right").map(|right| self.expr(right));
            let target = clause.child_by_field_name("left").map(|left| self.target(left));
            if let Some(over) = over {
                let target = target.unwrap_or(Target::Nothing);
                out.push(Stmt::ForEach { target, keyed: true, over, body });
            }
            return;
        }
        if node.child_by_field_name("left").is_some()
            || node.child_by_field_name("pattern").is_some()
        {
            self.for_each(node, out);
            return;
        }
        let holder = child_of_kind(node, &["for_clause"]).unwrap_or(node);
        for field in ["initializer", "init", "initialize"] {
            for first in fields(holder, field) {
                self.statement(first, out);
            }
        }
        let condition = holder.child_by_field_name("condition").map(|c| self.expr(c));
        let mut step = Vec::new();
        for field in ["update", "increment"] {
            for next in fields(holder, field) {
                self.statement(next, &mut step);
            }
        }
        let body = self.block_of(node, "body");
        out.push(Stmt::Loop { condition, body, step, first: false });
    }

    fn for_each(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let left = ["left", "name", "pattern", "declarator"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field));
        let right =
            ["right", "value"].into_iter().find_map(|field| node.child_by_field_name(field));
        let body = self.block_of(node, "body");
        let parts = children(node);
        if self.lang == Lang::Php && parts.len() >= 2 {
            let over = self.expr(parts[0]);
            let (target, keyed) = if parts[1].kind() == "pair" {
                let pair: Vec<Target> =
                    children(parts[1]).into_iter().map(|part| self.target(part)).collect();
                (Target::Tuple(pair), true)
            } else {
                (self.target(parts[1]), false)
            };
            out.push(Stmt::ForEach { target, keyed, over, body });
            return;
        }
        let (Some(left), Some(right)) = (left, right) else {
            out.push(Stmt::Block(body));
            return;
        };
        let left = children(left)
            .first()
            .copied()
            .filter(|_| left.kind().contains("declaration"))
            .unwrap_or(left);
        let keyed = node.kind() == "for_in_statement"
            && self.is_script()
            && node.child_by_field_name("operator").is_some_and(|op| self.text(op) == "in");
        if node.child_by_field_name("kind").is_some() {
            self.note_local(left);
        }
        let target = self.target(left);
        let target = if keyed { Target::Tuple(vec![target]) } else { target };
        let over = self.expr(right);
        out.push(Stmt::ForEach { target, keyed, over, body });
    }

    fn switch(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if let Some(before) = node.child_by_field_name("initializer") {
            self.statement(before, out);
        }
        let subject = ["value", "subject", "condition"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field))
            .map(|subject| self.expr(subject));
        if let (Some(alias), Some(subject)) = (node.child_by_field_name("alias"), &subject) {
            // `switch v := x.(type)`
            let target = Box::new(Target::Name(self.name(alias)));
            let assign = ExprKind::Assign(target, Box::new(subject.clone()));
            out.push(Stmt::Expr(Self::make(alias, assign)));
        }
        let body = node
            .child_by_field_name("body")
            .or_else(|| child_of_kind(node, &["switch_body", "switch_block", "match_block"]))
            .unwrap_or(node);
        let mut cases = Vec::new();
        for case in children(body) {
            if let Some(case) = self.switch_case(case) {
                cases.push(case);
            }
        }
        out.push(Stmt::Switch { subject, cases });
    }

    fn switch_case(&mut self, case: Node<'_>) -> Option<SwitchCase> {
        let falls = matches!(
            case.kind(),
            "switch_case"
                | "switch_default"
                | "switch_block_statement_group"
                | "case_statement"
                | "default_statement"
                | "switch_section"
        );
        let labels: Vec<Node<'_>> = match case.kind() {
            "expression_case" => fields(case, "value").into_iter().flat_map(children).collect(),
            "switch_case" | "case_statement" => fields(case, "value"),
            "switch_block_statement_group" | "switch_rule" => children(case)
                .into_iter()
                .filter(|child| child.kind() == "switch_label")
                .flat_map(children)
                .collect(),
            "case_clause" if self.lang == Lang::Python => {
                children(case).into_iter().filter(|child| child.kind() == "case_pattern").collect()
            }
            "case_clause" | "when" | "match_arm" | "in_clause" => fields(case, "pattern"),
            "switch_section" => children(case)
                .into_iter()
                .filter(|child| {
                    child.kind().ends_with("_pattern") || child.kind().ends_with("switch_label")
                })
                .collect(),
            "switch_default" | "default_case" | "default_statement" | "else" | "type_case"
            | "communication_case" => Vec::new(),
            _ => return None,
        };
        let ids: Vec<usize> = labels.iter().map(Node::id).collect();
        let mut body = Vec::new();
        for child in children(case) {
            let label = matches!(child.kind(), "switch_label" | "expression_list");
            if !label && !ids.contains(&child.id()) {
                self.statement(child, &mut body);
            }
        }
        let wild = |label: &Node<'_>| matches!(self.text(*label).trim(), "_" | "default");
        let labels: Vec<Node<'_>> = if labels.iter().any(wild) { Vec::new() } else { labels };
        let labels = labels
            .into_iter()
            .map(|label| {
                let inner = children(label);
                match inner.as_slice() {
                    [only] if label.kind().contains("pattern") => self.expr(*only),
                    _ => self.expr(label),
                }
            })
            .collect();
        Some(SwitchCase { labels, body, falls })
    }

    fn try_statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut body = Vec::new();
        if let Some(resources) = node.child_by_field_name("resources") {
            for resource in children(resources) {
                let name = resource.child_by_field_name("name");
                let value = resource.child_by_field_name("value");
                if let (Some(name), Some(value)) = (name, value) {
                    let ty = resource.child_by_field_name("type").map(|ty| self.type_name(ty));
                    let mut value = self.expr(value);
                    if let Some(ty) = ty {
                        value = Self::make(resource, ExprKind::Typed(ty, Some(Box::new(value))));
                    }
                    let target = Target::Name(self.name(name));
                    let kind = ExprKind::Assign(Box::new(target), Box::new(value));
                    body.push(Stmt::Expr(Self::make(resource, kind)));
                } else {
                    let value = self.expr(resource);
                    body.push(Stmt::Expr(value));
                }
            }
        }
        let mut handlers = Vec::new();
        let mut last = Vec::new();
        for child in children(node) {
            match child.kind() {
                "except_clause" | "catch_clause" | "rescue" | "except_group_clause" => {
                    let name = child
                        .child_by_field_name("parameter")
                        .or_else(|| child_of_kind(child, &["catch_formal_parameter", "as_pattern"]))
                        .and_then(|parameter| {
                            let name = parameter.child_by_field_name("name");
                            name.or_else(|| children(parameter).last().copied()).or(Some(parameter))
                        })
                        .map(|name| self.name(name));
                    let body = child
                        .child_by_field_name("body")
                        .or_else(|| children(child).last().copied())
                        .map(|body| self.block(body))
                        .unwrap_or_default();
                    handlers.push((name, body));
                }
                "finally_clause" | "ensure" => {
                    for part in children(child) {
                        last.extend(self.block(part));
                    }
                }
                "resource_specification" => {}
                _ => body.extend(self.block(child)),
            }
        }
        out.push(Stmt::Try { body, handlers, last });
    }

    fn with_statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        for clause in children(node).into_iter().filter(|child| child.kind() == "with_clause") {
            for item in children(clause) {
                let Some(value) =
                    item.child_by_field_name("value").or_else(|| children(item).first().copied())
                else {
                    continue;
                };
                if value.kind() == "as_pattern" {
                    let parts = children(value);
                    if let [inner, .., alias] = parts.as_slice() {
                        let inner = self.expr(*inner);
                        let name = children(*alias).first().copied().unwrap_or(*alias);
                        let target = self.target(name);
                        let kind = ExprKind::Assign(Box::new(target), Box::new(inner));
                        out.push(Stmt::Expr(Self::make(value, kind)));
                        continue;
                    }
                }
                let value = self.expr(value);
                out.push(Stmt::Expr(value));
            }
        }
        let body = self.block_of(node, "body");
        out.push(Stmt::Block(body));
    }

    /// The name of a type, without its arguments and pointers; `[]` at the end marks an array.
    pub(super) fn type_name(&self, node: Node<'_>) -> Rc<str> {
        let whole = self.text(node).trim();
        let text = whole.trim_start_matches(['*', '&', ':', ' ', '?', '\\']);
        let text = text.strip_prefix("mut ").unwrap_or(text);
        let text = text
            .strip_prefix("const ")
            .unwrap_or(text)
            .trim_start_matches("[]*")
            .trim_start_matches("[]");
        let end = text.find(['<', '[', ' ', '?', '|', '(', '{', '*']).unwrap_or(text.len());
        let name = text[..end].replace("::", ".").replace('\\', ".");
        let array = whole.contains("[]") && !whole.contains('<');
        Rc::from(if array { format!("{name}[]") } else { name })
    }
}

fn branch(condition: Expr, yes: Vec<Stmt>, no: Vec<Stmt>, negated: bool) -> Stmt {
    if negated { Stmt::If(condition, no, yes) } else { Stmt::If(condition, yes, no) }
}

/// Kinds that are not expressions.
fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement")
        || kind.ends_with("_declaration")
        || kind.ends_with("_definition")
        || kind.ends_with("_item")
        || matches!(
            kind,
            "match_expression" | "loop_expression" | "while_expression" | "for_expression"
        )
        || matches!(
            kind,
            "if_expression" | "return_expression" | "update_expression" | "declaration"
        )
        || matches!(kind, "switch_expression" | "unsafe_block" | "preproc_else" | "preproc_include")
}
