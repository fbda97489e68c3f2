//! Expressions.

use std::rc::Rc;

use quorum_syntax::{Lang, Node};

use super::{DEPTH, Lowerer, children, fields};
use crate::flow::ir::{Arg, Call, Const, Expr, ExprKind, Function, Op, Param, Stmt, Target};

impl Lowerer<'_> {
    /// Lowers an expression of any language.
    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        if self.depth > DEPTH {
            return Self::make(node, ExprKind::Opaque(Vec::new()));
        }
        self.depth += 1;
        let kind = self.kind(node);
        self.depth -= 1;
        Self::make(node, kind)
    }

    pub(super) fn boxed(&mut self, node: Node<'_>) -> Box<Expr> {
        Box::new(self.expr(node))
    }

    pub(super) fn boxed_field(&mut self, node: Node<'_>, field: &str) -> Box<Expr> {
        match node.child_by_field_name(field) {
            Some(child) => self.boxed(child),
            None => Box::new(Self::make(node, ExprKind::Opaque(Vec::new()))),
        }
    }

    #[expect(clippy::too_many_lines, reason = "one flat table of node kinds")]
    pub(super) fn kind(&mut self, node: Node<'_>) -> ExprKind {
        match node.kind() {
            "identifier"
            | "constant"
            | "this"
            | "self"
            | "super"
            | "variable_name"
            | "name"
            | "instance_variable"
            | "global_variable"
            | "class_variable"
            | "base"
            | "type_identifier"
            | "field_identifier"
            | "package_identifier"
            | "shorthand_property_identifier"
            | "property_identifier"
            | "this_expression"
            | "qualified_name"
            | "simple_identifier"
            | "blank_identifier"
            | "dotted_name"
            | "predefined_type"
            | "base_expression"
            | "generic_name"
            | "import"
            | "namespace_identifier" => ExprKind::Name(self.name(node)),
            "string"
            | "template_string"
            | "encapsed_string"
            | "heredoc_body"
            | "heredoc"
            | "interpolated_string_expression"
            | "string_literal"
            | "shell_command_expression"
            | "interpreted_string_literal"
            | "raw_string_literal"
            | "verbatim_string_literal"
            | "char_literal"
            | "character_literal"
            | "rune_literal"
            | "nowdoc"
            | "bare_string"
            | "simple_symbol"
            | "hash_key_symbol"
            | "delimited_symbol"
            | "raw_string" => {
                let text = self.string(node);
                match (node.kind(), text.kind) {
                    ("simple_symbol" | "hash_key_symbol", ExprKind::Const(Const::Text(text))) => {
                        ExprKind::Const(Const::Text(Rc::from(text.trim_matches(':'))))
                    }
                    ("shell_command_expression", kind) => {
                        let value = Self::make(node, kind);
                        Self::named_call(node, "shell_exec", vec![value])
                    }
                    (_, kind) => kind,
                }
            }
            "subshell" => {
                let value = self.string(node);
                Self::named_call(node, "Kernel.`", vec![value])
            }
            "concatenated_string" | "chained_string" => {
                let parts = children(node).into_iter().map(|part| self.expr(part)).collect();
                ExprKind::Join(parts)
            }
            "integer"
            | "number"
            | "int_literal"
            | "decimal_integer_literal"
            | "integer_literal"
            | "hex_integer_literal"
            | "octal_integer_literal"
            | "number_literal"
            | "float"
            | "float_literal"
            | "decimal_floating_point_literal"
            | "real_literal" => self.number(node).kind,
            "true" | "True" => ExprKind::Const(Const::Bool(true)),
            "false" | "False" => ExprKind::Const(Const::Bool(false)),
            "boolean_literal" | "boolean" => {
                ExprKind::Const(Const::Bool(self.text(node).eq_ignore_ascii_case("true")))
            }
            "null" | "nil" | "none" | "null_literal" | "undefined" => ExprKind::Const(Const::Null),
            "call"
            | "call_expression"
            | "method_invocation"
            | "invocation_expression"
            | "new_expression"
            | "object_creation_expression"
            | "function_call_expression"
            | "member_call_expression"
            | "scoped_call_expression"
            | "macro_invocation"
            | "nullsafe_member_call_expression"
            | "implicit_object_creation_expression"
            | "method_call"
            | "command"
            | "super_method_call" => self.call(node),
            "attribute"
            | "member_expression"
            | "selector_expression"
            | "field_access"
            | "field_expression"
            | "member_access_expression"
            | "scoped_identifier"
            | "scope_resolution"
            | "class_constant_access_expression"
            | "qualified_identifier"
            | "nullsafe_member_access_expression"
            | "scoped_property_access_expression"
            | "scoped_type_identifier"
            | "nested_identifier" => self.field(node),
            "conditional_access_expression" => self.conditional_access(node),
            "subscript"
            | "subscript_expression"
            | "index_expression"
            | "array_access"
            | "element_reference"
            | "element_access_expression" => self.index(node),
            "slice_expression" => {
                let inner = node.child_by_field_name("operand");
                inner
                    .map_or(ExprKind::Opaque(Vec::new()), |inner| ExprKind::Pass(self.boxed(inner)))
            }
            "instanceof_expression" if node.child_by_field_name("name").is_some() => {
                let bound = node.child_by_field_name("name").map(|name| self.name(name));
                let left = node.child_by_field_name("left").map(|left| self.expr(left));
                match (bound, left) {
                    (Some(bound), Some(left)) => {
                        let target = Box::new(Target::Name(bound));
                        let assign = ExprKind::Assign(target, Box::new(left));
                        ExprKind::Opaque(vec![Self::make(node, assign)])
                    }
                    _ => ExprKind::Opaque(Vec::new()),
                }
            }
            "binary_expression"
            | "binary_operator"
            | "boolean_operator"
            | "binary"
            | "comparison_operator" => self.binary(node),
            "not_operator" => ExprKind::Not(self.boxed_field(node, "argument")),
            "unary_expression"
            | "unary"
            | "prefix_unary_expression"
            | "unary_op_expression"
            | "unary_operator" => self.unary(node),
            "conditional_expression" | "ternary_expression" | "conditional" => self.choice(node),
            "if_expression" if self.lang == Lang::Rust => {
                let mut out = Vec::new();
                self.statement(node, &mut out);
                ExprKind::Block(out)
            }
            "block" | "unsafe_block" | "match_expression" | "async_block" | "loop_expression"
            | "switch_expression" | "case" | "begin" | "if" | "unless" => {
                let mut out = Vec::new();
                if node.kind() == "block" {
                    out = self.block(node);
                } else {
                    self.statement(node, &mut out);
                }
                ExprKind::Block(out)
            }
            "assignment"
            | "assignment_expression"
            | "augmented_assignment"
            | "named_expression"
            | "augmented_assignment_expression"
            | "operator_assignment"
            | "compound_assignment_expr"
            | "reference_assignment_expression" => self.assign(node),
            "list"
            | "tuple"
            | "set"
            | "array"
            | "expression_list"
            | "array_initializer"
            | "initializer_list"
            | "array_expression"
            | "tuple_expression"
            | "right_assignment_list"
            | "initializer_expression"
            | "collection_expression"
            | "string_array"
            | "list_splat"
            | "splat_argument" => self.list(node),
            "array_creation_expression" | "implicit_array_creation_expression" => {
                self.array_creation(node)
            }
            "dictionary"
            | "object"
            | "hash"
            | "literal_value"
            | "anonymous_object_creation_expression" => self.map(node),
            "composite_literal" => self.composite(node),
            "lambda"
            | "arrow_function"
            | "function_expression"
            | "func_literal"
            | "function"
            | "lambda_expression"
            | "closure_expression"
            | "anonymous_function"
            | "anonymous_function_creation_expression"
            | "anonymous_method_expression"
            | "generator_function"
            | "do_block"
            | "lambda_literal" => ExprKind::Lambda(self.lambda(node)),
            "method_reference" => self.method_reference(node),
            "list_comprehension"
            | "generator_expression"
            | "set_comprehension"
            | "dictionary_comprehension" => self.comprehension(node),
            "cast_expression"
            | "as_expression"
            | "type_conversion_expression"
            | "type_cast_expression"
            | "satisfies_expression"
            | "type_assertion" => self.cast(node),
            "type_assertion_expression" => ExprKind::Pass(self.boxed_field(node, "operand")),
            "regex" if self.is_script() => {
                ExprKind::Const(crate::flow::ir::Const::Pattern(Rc::from(self.text(node))))
            }
            "jsx_attribute" => self.jsx_attribute(node),
            "print_intrinsic"
            | "include_expression"
            | "include_once_expression"
            | "require_expression"
            | "require_once_expression"
            | "exit_statement" => {
                let name =
                    node.kind().trim_end_matches("_expression").trim_end_matches("_intrinsic");
                let parts = children(node).into_iter().map(|part| self.expr(part)).collect();
                Self::named_call(node, name, parts)
            }
            "class_declaration" | "class" => {
                self.declare_class(node);
                ExprKind::Opaque(Vec::new())
            }
            "comment" => ExprKind::Opaque(Vec::new()),
            "sequence_expression" | "comma_expression" => {
                let mut parts: Vec<Expr> =
                    children(node).into_iter().map(|c| self.expr(c)).collect();
                match parts.pop() {
                    Some(last) => {
                        let mut all: Vec<_> =
                            parts.into_iter().map(crate::flow::ir::Stmt::Expr).collect();
                        all.push(crate::flow::ir::Stmt::Expr(last));
                        ExprKind::Block(all)
                    }
                    None => ExprKind::Opaque(Vec::new()),
                }
            }
            _ => self.wrapped(node),
        }
    }

    /// `x::m` is a function that calls `m`. Of a class, names that speak of an object's own value
    /// are methods of what is given, others are static.
    fn method_reference(&mut self, node: Node<'_>) -> ExprKind {
        let parts = children(node);
        let Some(object) = parts.first().copied() else { return self.wrapped(node) };
        let text = self.text(node);
        let method: Rc<str> = Rc::from(text.rsplit("::").next().unwrap_or_default().trim());
        let given = Rc::from("given");
        let argument = Self::make(node, ExprKind::Name(Rc::clone(&given)));
        let of_class = self.text(object).starts_with(|c: char| c.is_ascii_uppercase());
        let own = of_class
            && (["get", "is", "as"].iter().any(|start| method.starts_with(start))
                || matches!(&*method, "trim" | "strip" | "name" | "intern" | "stream"));
        let new = &*method == "new";
        let (callee, args) = if new {
            (ExprKind::Name(self.type_name(object)), vec![argument])
        } else if own {
            (ExprKind::Field(Box::new(argument), method), Vec::new())
        } else {
            (ExprKind::Field(self.boxed(object), method), vec![argument])
        };
        let args = args.into_iter().map(|value| Arg { name: None, value }).collect();
        let callee = Self::make(node, callee);
        let call = Self::make(node, ExprKind::Call(Box::new(Call { callee, args, new })));
        let param = Param {
            target: Target::Name(Rc::clone(&given)),
            name: given,
            ty: None,
            annotations: Vec::new(),
            default: None,
            rest: false,
            span: Self::span(node),
        };
        let function = self.register(Function {
            name: Rc::from(""),
            class: None,
            params: vec![param],
            body: vec![Stmt::Return(Some(call))],
            annotations: Vec::new(),
            locals: Vec::new(),
            span: Self::span(node),
            returns: None,
            public: false,
            id: 0,
        });
        ExprKind::Lambda(function)
    }

    /// Anything else: one part inside is a wrap, several are parts of something unknown.
    pub(super) fn wrapped(&mut self, node: Node<'_>) -> ExprKind {
        let mut parts: Vec<Expr> = children(node).into_iter().map(|part| self.expr(part)).collect();
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return ExprKind::Pass(Box::new(only));
        }
        ExprKind::Opaque(parts)
    }

    pub(super) fn named_call(node: Node<'_>, name: &str, args: Vec<Expr>) -> ExprKind {
        let callee = Self::make(node, ExprKind::Name(Rc::from(name)));
        let args = args.into_iter().map(|value| Arg { name: None, value }).collect();
        ExprKind::Call(Box::new(Call { callee, args, new: false }))
    }

    /// A call of something that the language has a sign for, such as `echo`.
    pub(super) fn statement_call(&mut self, node: Node<'_>, name: &str) -> Expr {
        let parts = children(node).into_iter().map(|part| self.expr(part)).collect();
        let kind = Self::named_call(node, name, parts);
        Self::make(node, kind)
    }

    pub(super) fn field(&mut self, node: Node<'_>) -> ExprKind {
        let object = ["object", "operand", "value", "argument", "expression", "path", "scope"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field));
        let member = ["attribute", "property", "field", "name"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field));
        match (object, member) {
            (Some(object), Some(member)) => {
                let name = self.name(member);
                ExprKind::Field(self.boxed(object), name)
            }
            (None, Some(member)) => ExprKind::Name(self.name(member)),
            _ => match children(node).as_slice() {
                [object, .., member] => {
                    let name = self.name(*member);
                    ExprKind::Field(self.boxed(*object), name)
                }
                _ => ExprKind::Name(self.name(node)),
            },
        }
    }

    pub(super) fn conditional_access(&mut self, node: Node<'_>) -> ExprKind {
        let parts = children(node);
        let (Some(object), Some(binding)) = (parts.first(), parts.last()) else {
            return ExprKind::Opaque(Vec::new());
        };
        let member = binding.child_by_field_name("name").unwrap_or(*binding);
        let name = Rc::from(self.text(member).trim_start_matches('.'));
        ExprKind::Field(self.boxed(*object), name)
    }

    pub(super) fn index(&mut self, node: Node<'_>) -> ExprKind {
        let object = ["value", "object", "operand", "array", "argument", "expression"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field));
        let index = ["subscript", "index", "indices"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field));
        let parts = children(node);
        let object = object.or_else(|| parts.first().copied());
        let index = index.or_else(|| parts.get(1).copied());
        match (object, index) {
            (Some(object), Some(index)) => {
                let index = if index.kind() == "slice" {
                    return self.slice(object, index);
                } else if matches!(
                    index.kind(),
                    "bracketed_argument_list" | "subscript_argument_list" | "argument"
                ) {
                    children(index).first().copied().unwrap_or(index)
                } else {
                    index
                };
                ExprKind::Index(self.boxed(object), self.boxed(index))
            }
            (Some(object), None) => ExprKind::Pass(self.boxed(object)),
            _ => ExprKind::Opaque(Vec::new()),
        }
    }

    /// `a[0:4]` is a part of `a`; with other limits it may be all of it.
    fn slice(&mut self, object: Node<'_>, limits: Node<'_>) -> ExprKind {
        let spelt = self.text(limits);
        let Some((from, to)) = spelt.split_once(':') else {
            return ExprKind::Pass(self.boxed(object));
        };
        let from = if from.trim().is_empty() { Some(0) } else { from.trim().parse::<u32>().ok() };
        let (Some(from), Ok(to)) = (from, to.trim().parse::<u32>()) else {
            return ExprKind::Pass(self.boxed(object));
        };
        let limit = |number: u32| Arg {
            name: None,
            value: Self::make(limits, ExprKind::Const(Const::Int(i64::from(number)))),
        };
        let text = self.boxed(object);
        let callee = Self::make(object, ExprKind::Field(text, Rc::from("substring")));
        let args = vec![limit(from), limit(to)];
        ExprKind::Call(Box::new(Call { callee, args, new: false }))
    }

    pub(super) fn binary(&mut self, node: Node<'_>) -> ExprKind {
        let left = node.child_by_field_name("left").or_else(|| children(node).first().copied());
        let right = node.child_by_field_name("right").or_else(|| children(node).last().copied());
        let (Some(left), Some(right)) = (left, right) else { return ExprKind::Opaque(Vec::new()) };
        let operator = node
            .child_by_field_name("operator")
            .or_else(|| node.child_by_field_name("operators"))
            .map_or_else(
                || self.text.get(left.end_byte()..right.start_byte()).unwrap_or_default().trim(),
                |operator| self.text(operator),
            );
        let op = operator_of(operator.trim(), self.lang);
        if op == Op::Rem && self.lang == Lang::Python {
            let text = self.expr(left);
            let args = self.expr(right);
            let known_number = matches!(text.kind, ExprKind::Const(Const::Int(_)));
            if !known_number
                && matches!(text.kind, ExprKind::Const(Const::Text(_)) | ExprKind::Join(_))
            {
                return ExprKind::Join(vec![text, args]);
            }
            return ExprKind::Binary(op, Box::new(text), Box::new(args));
        }
        ExprKind::Binary(op, self.boxed(left), self.boxed(right))
    }

    pub(super) fn unary(&mut self, node: Node<'_>) -> ExprKind {
        let inner = ["operand", "argument"]
            .into_iter()
            .find_map(|field| node.child_by_field_name(field))
            .or_else(|| children(node).last().copied());
        let Some(inner) = inner else { return ExprKind::Opaque(Vec::new()) };
        let text = self.text(node);
        if text.starts_with('!') || text.starts_with("not ") {
            return ExprKind::Not(self.boxed(inner));
        }
        if text.starts_with('-') {
            let zero = Self::make(node, ExprKind::Const(Const::Int(0)));
            return ExprKind::Binary(Op::Sub, Box::new(zero), self.boxed(inner));
        }
        if text.starts_with("typeof") || text.starts_with("delete") || text.starts_with("defined") {
            return ExprKind::Opaque(vec![self.expr(inner)]);
        }
        ExprKind::Pass(self.boxed(inner))
    }

    pub(super) fn choice(&mut self, node: Node<'_>) -> ExprKind {
        let named = |field: &str| node.child_by_field_name(field);
        if let (Some(condition), Some(alternative)) = (named("condition"), named("alternative")) {
            let condition = self.boxed(condition);
            let yes = match named("consequence").or_else(|| named("body")) {
                Some(yes) => self.boxed(yes),
                None => condition.clone(),
            };
            return ExprKind::Choice(condition, yes, self.boxed(alternative));
        }
        match children(node).as_slice() {
            [yes, condition, no] if self.lang == Lang::Python => {
                let condition = self.boxed(*condition);
                ExprKind::Choice(condition, self.boxed(*yes), self.boxed(*no))
            }
            [condition, yes, no] => {
                let condition = self.boxed(*condition);
                ExprKind::Choice(condition, self.boxed(*yes), self.boxed(*no))
            }
            [condition, no] => {
                let condition = self.boxed(*condition);
                ExprKind::Choice(condition.clone(), condition, self.boxed(*no))
            }
            _ => ExprKind::Opaque(Vec::new()),
        }
    }

    pub(super) fn assign(&mut self, node: Node<'_>) -> ExprKind {
        let left = node.child_by_field_name("left").or_else(|| node.child_by_field_name("name"));
        let right = node.child_by_field_name("right").or_else(|| node.child_by_field_name("value"));
        let (Some(left), Some(right)) = (left, right) else { return self.wrapped(node) };
        let between = self.text.get(left.end_byte()..right.start_byte()).unwrap_or_default();
        let target = self.target(left);
        if let Target::Name(name) | Target::Field(_, name) = &target {
            self.module.assigned.insert(Rc::clone(name));
        }
        let mut value = self.expr(right);
        let operator: String = between.chars().filter(|c| !c.is_whitespace()).collect();
        let operator = operator.rsplit(':').next().unwrap_or_default();
        let compound = operator.trim_end_matches('=');
        if !compound.is_empty() && operator.ends_with('=') && operator.len() > 1 {
            let before = self.boxed(left);
            let op = operator_of(compound, self.lang);
            value = Self::make(node, ExprKind::Binary(op, before, Box::new(value)));
        }
        if let Some(ty) = node.child_by_field_name("type") {
            value = Self::make(node, ExprKind::Typed(self.type_name(ty), Some(Box::new(value))));
        }
        ExprKind::Assign(Box::new(target), Box::new(value))
    }

    /// What is assigned to.
    pub(super) fn target(&mut self, node: Node<'_>) -> Target {
        match node.kind() {
            "identifier"
            | "variable_name"
            | "instance_variable"
            | "global_variable"
            | "constant"
            | "shorthand_property_identifier_pattern"
            | "field_identifier"
            | "simple_identifier"
            | "class_variable"
            | "name"
            | "shorthand_property_identifier" => Target::Name(self.name(node)),
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "expression_list"
            | "array_pattern"
            | "left_assignment_list"
            | "tuple"
            | "list_literal"
            | "tuple_expression"
            | "destructured_left_assignment" => {
                Target::Tuple(children(node).into_iter().map(|part| self.target(part)).collect())
            }
            "list" | "array" => {
                Target::Tuple(children(node).into_iter().map(|part| self.target(part)).collect())
            }
            "object_pattern" => {
                let mut parts = Vec::new();
                for part in children(node) {
                    if let (Some(key), Some(value)) =
                        (part.child_by_field_name("key"), part.child_by_field_name("value"))
                    {
                        parts.push((self.name(key), self.target(value)));
                    } else if let Some(left) = part.child_by_field_name("left") {
                        parts.push((self.name(left), self.target(left)));
                    } else {
                        parts.push((self.name(part), self.target(part)));
                    }
                }
                Target::Object(parts)
            }
            _ => match self.expr(node).kind {
                ExprKind::Name(name) => Target::Name(name),
                ExprKind::Field(object, name) => Target::Field(*object, name),
                ExprKind::Index(object, index) => Target::Index(*object, *index),
                ExprKind::Pass(inner) => match inner.kind {
                    ExprKind::Name(name) => Target::Name(name),
                    ExprKind::Field(object, name) => Target::Field(*object, name),
                    ExprKind::Index(object, index) => Target::Index(*object, *index),
                    _ => Target::Nothing,
                },
                _ => Target::Nothing,
            },
        }
    }

    pub(super) fn jsx_attribute(&mut self, node: Node<'_>) -> ExprKind {
        let parts = children(node);
        let (Some(name), Some(value)) = (parts.first(), parts.get(1)) else {
            return self.wrapped(node);
        };
        let path = format!("jsx.{}", self.text(*name));
        let value = self.expr(*value);
        Self::named_call(node, &path, vec![value])
    }

    /// The named parts of a comparison chain and its like are not needed; the first two are.
    pub(super) fn condition(&mut self, node: Node<'_>) -> Expr {
        match fields(node, "condition").first() {
            Some(condition) => self.expr(*condition),
            None => Self::make(node, ExprKind::Opaque(Vec::new())),
        }
    }
}

fn operator_of(text: &str, lang: Lang) -> Op {
    match text {
        "." if lang == Lang::Php => Op::Add,
        "+" | "<<" if text == "+" || lang == Lang::Ruby => Op::Add,
        "-" => Op::Sub,
        "*" => Op::Mul,
        "/" | "//" => Op::Div,
        "%" => Op::Rem,
        "==" | "===" | "is" => Op::Eq,
        "!=" | "!==" | "is not" | "<>" => Op::Ne,
        "<" => Op::Lt,
        "<=" => Op::Le,
        ">" => Op::Gt,
        ">=" => Op::Ge,
        "&&" | "and" => Op::And,
        "||" | "or" => {
            if matches!(
                lang,
                Lang::JavaScript | Lang::TypeScript | Lang::Tsx | Lang::Python | Lang::Ruby
            ) {
                Op::Else
            } else {
                Op::Or
            }
        }
        "??" | "?:" => Op::Else,
        "in" => Op::In,
        "not in" => Op::NotIn,
        _ => Op::Other,
    }
}
