//! Functions, classes, variables.

use std::rc::Rc;

use quorum_syntax::{Lang, Node};

use super::{Lowerer, child_of_kind, children, fields};
use crate::flow::ir::{Class, Expr, ExprKind, Function, Param, Stmt, Target};

impl Lowerer<'_> {
    /// Lowers a declaration; false when it is none.
    pub(super) fn declare(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) -> bool {
        match node.kind() {
            "function_definition"
            | "function_declaration"
            | "method_declaration"
            | "method"
            | "method_definition"
            | "function_item"
            | "constructor_declaration"
            | "singleton_method"
            | "generator_function_declaration"
            | "local_function_statement"
            | "function_signature"
            | "property_declaration"
            | "accessor_declaration" => {
                if node.kind() == "property_declaration" && self.lang != Lang::CSharp {
                    self.fields(node, out);
                    return true;
                }
                let function = self.function(node);
                self.place(function, out);
            }
            "decorated_definition" => {
                if let Some(inner) = node.child_by_field_name("definition") {
                    self.declare(inner, out);
                }
            }
            "class_definition"
            | "class_declaration"
            | "class"
            | "module"
            | "impl_item"
            | "abstract_class_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "struct_declaration"
            | "class_specifier"
            | "struct_specifier"
            | "trait_declaration"
            | "object_declaration"
            | "mod_item"
            | "trait_item"
            | "singleton_class"
            | "interface_declaration"
                if is_class(node) =>
            {
                self.declare_class(node);
            }
            "lexical_declaration"
            | "variable_declaration"
            | "local_variable_declaration"
            | "var_declaration"
            | "const_declaration"
            | "local_declaration_statement"
            | "let_declaration"
            | "short_var_declaration"
            | "assignment_statement"
            | "declaration"
            | "field_declaration"
            | "var_spec"
            | "const_spec"
            | "const_item"
            | "static_item"
            | "var_spec_list"
            | "public_field_definition"
            | "field_definition" => {
                self.fields(node, out);
            }
            _ => return false,
        }
        true
    }

    /// A function belongs to the class around it, or to the file.
    fn place(&mut self, function: Rc<Function>, out: &mut Vec<Stmt>) {
        if let Some(class) = &mut self.class {
            class.methods.push(function);
        } else {
            out.push(Stmt::Function(Rc::clone(&function)));
            self.module.functions.push(function);
        }
    }

    fn function(&mut self, node: Node<'_>) -> Rc<Function> {
        let name = node
            .child_by_field_name("name")
            .or_else(|| innermost_declarator(node))
            .map_or(Rc::from(""), |name| self.name(name));
        let name: Rc<str> = name.rsplit("::").next().map_or(Rc::clone(&name), Rc::from);
        let class = self.class.as_ref().map(|class| Rc::clone(&class.name));
        let mut params = self.params(node);
        let class = match node.child_by_field_name("receiver") {
            Some(receiver) if self.lang == Lang::Go => {
                let own = self.go_params(receiver);
                let ty = own.first().and_then(|param| param.ty.clone());
                if let Some(own) = own.into_iter().next() {
                    params.insert(0, own);
                }
                ty
            }
            _ => class,
        };
        let annotations = self.annotations(node);
        let outer = self.class.take();
        let around = std::mem::take(&mut self.locals);
        let body = self.body(node);
        let locals = std::mem::replace(&mut self.locals, around);
        self.class = outer;
        let span = Self::span(node);
        let returns = match self.lang {
            Lang::Java => node.child_by_field_name("type").map(|ty| self.short(ty)),
            _ => None,
        };
        let hidden = child_of_kind(node, &["modifiers"]).is_some_and(|modifiers| {
            self.text(modifiers).split_whitespace().any(|w| w == "private")
        });
        self.register(Function {
            name,
            class,
            params,
            body,
            annotations,
            locals,
            span,
            returns,
            hidden,
            id: 0,
        })
    }

    fn body(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let body = node.child_by_field_name("body").or_else(|| {
            child_of_kind(
                node,
                &[
                    "block",
                    "function_body",
                    "body_statement",
                    "accessor_list",
                    "arrow_expression_clause",
                ],
            )
        });
        let Some(body) = body else { return Vec::new() };
        let depth = std::mem::take(&mut self.depth);
        self.depth = depth + 4;
        let out = if is_value(body.kind()) {
            vec![Stmt::Return(Some(self.expr(body)))]
        } else {
            let mut block = self.block(body);
            if matches!(self.lang, Lang::Rust | Lang::Ruby)
                && let Some(Stmt::Expr(_)) = block.last()
                && let Some(Stmt::Expr(last)) = block.pop()
            {
                block.push(Stmt::Return(Some(last)));
            }
            block
        };
        self.depth = depth;
        out
    }

    /// A function without a name of its own.
    pub(super) fn lambda(&mut self, node: Node<'_>) -> Rc<Function> {
        let name = node
            .child_by_field_name("name")
            .or_else(|| given_name(node).filter(|_| self.is_script()))
            .map_or(Rc::from(""), |name| self.name(name));
        let params = self.params(node);
        let outer = self.class.take();
        let around = std::mem::take(&mut self.locals);
        let mut body = self.body(node);
        if matches!(node.kind(), "do_block" | "block") && body.is_empty() {
            let depth = self.depth;
            self.depth += 4;
            for child in children(node) {
                if child.kind() != "block_parameters" {
                    self.statement(child, &mut body);
                }
            }
            self.depth = depth;
        }
        let locals = std::mem::replace(&mut self.locals, around);
        self.class = outer;
        let span = Self::span(node);
        self.register(Function {
            name,
            class: None,
            params,
            body,
            annotations: Vec::new(),
            locals,
            span,
            returns: None,
            hidden: true,
            id: 0,
        })
    }

    fn params(&mut self, node: Node<'_>) -> Vec<Param> {
        let list = node
            .child_by_field_name("parameters")
            .or_else(|| node.child_by_field_name("parameter"))
            .or_else(|| innermost_parameters(node))
            .or_else(|| {
                child_of_kind(node, &["block_parameters", "lambda_parameters", "parameter_list"])
            });
        let Some(list) = list else { return Vec::new() };
        if self.lang == Lang::Go {
            return self.go_params(list);
        }
        if matches!(list.kind(), "identifier" | "implicit_parameter") {
            return self.param(list).into_iter().collect();
        }
        children(list).into_iter().filter_map(|part| self.param(part)).collect()
    }

    fn go_params(&mut self, list: Node<'_>) -> Vec<Param> {
        let mut out = Vec::new();
        for part in children(list) {
            let ty = part.child_by_field_name("type").map(|ty| self.type_name(ty));
            for name in fields(part, "name") {
                out.push(Param {
                    target: Target::Name(self.name(name)),
                    name: self.name(name),
                    ty: ty.clone(),
                    annotations: Vec::new(),
                    default: None,
                    rest: part.kind() == "variadic_parameter_declaration",
                    span: Self::span(name),
                });
            }
        }
        out
    }

    fn param(&mut self, node: Node<'_>) -> Option<Param> {
        let ty = node.child_by_field_name("type").map(|ty| self.type_name(ty));
        let name = match node.kind() {
            "spread_parameter" => child_of_kind(node, &["variable_declarator"])
                .and_then(|declared| declared.child_by_field_name("name")),
            "rest_pattern" | "typed_parameter" => children(node).first().copied(),
            "identifier" | "object_pattern" | "array_pattern" => Some(node),
            "self_parameter" => return None,
            _ => ["name", "pattern", "left", "declarator"]
                .into_iter()
                .find_map(|field| node.child_by_field_name(field))
                .or_else(|| children(node).last().copied()),
        };
        let mut name = name.unwrap_or(node);
        while let Some(inner) = name.child_by_field_name("declarator") {
            name = inner;
        }
        if matches!(name.kind(), "pointer_declarator" | "reference_declarator")
            && let Some(inner) = children(name).last()
        {
            name = *inner;
        }
        let target = self.target(name);
        let text = match &target {
            Target::Name(name) => Rc::clone(name),
            _ => Rc::from(""),
        };
        if self.lang == Lang::Python && matches!(&*text, "self" | "cls") {
            return Some(Param {
                target: Target::Name(Rc::from("self")),
                name: Rc::from("self"),
                ty: None,
                annotations: Vec::new(),
                default: None,
                rest: false,
                span: Self::span(node),
            });
        }
        let annotations = self.annotations(node);
        let default = node
            .child_by_field_name("value")
            .or_else(|| node.child_by_field_name("right"))
            .map(|value| self.expr(value));
        let rest = matches!(node.kind(), "spread_parameter" | "rest_pattern");
        Some(Param { target, name: text, ty, annotations, default, rest, span: Self::span(node) })
    }

    /// Annotations, attributes and decorators, as their text.
    fn annotations(&self, node: Node<'_>) -> Vec<Rc<str>> {
        let mut out = Vec::new();
        for child in children(node) {
            match child.kind() {
                "modifiers" | "attribute_list" => {
                    out.extend(children(child).into_iter().map(|part| self.short(part)));
                }
                "decorator" => out.push(self.short(child)),
                _ => {}
            }
        }
        if let Some(parent) = node.parent()
            && matches!(parent.kind(), "decorated_definition" | "class_body")
        {
            let mut sibling = node.prev_named_sibling();
            while let Some(found) = sibling.filter(|found| found.kind() == "decorator") {
                out.push(self.short(found));
                sibling = found.prev_named_sibling();
            }
        }
        out
    }

    fn short(&self, node: Node<'_>) -> Rc<str> {
        const LONG: usize = 200;
        Rc::from(self.text(node).get(..LONG).unwrap_or_else(|| self.text(node)))
    }

    /// A class with its methods and fields.
    pub(super) fn declare_class(&mut self, node: Node<'_>) {
        let name = node
            .child_by_field_name("name")
            .or_else(|| node.child_by_field_name("type"))
            .map_or(Rc::from(""), |name| self.name(name));
        let mut bases = Vec::new();
        for field in ["superclasses", "superclass", "interfaces", "bases"] {
            if let Some(base) = node.child_by_field_name(field) {
                bases.push(self.short(base));
            }
        }
        if let Some(base) = child_of_kind(
            node,
            &["class_heritage", "base_list", "base_clause", "extends_interfaces"],
        ) {
            bases.push(self.short(base));
        }
        let annotations = self.annotations(node);
        let components = match node.kind() {
            "record_declaration" => self.params(node).into_iter().map(|part| part.name).collect(),
            _ => Vec::new(),
        };
        let class = Class { name, bases, annotations, components, ..Class::default() };
        let body = node.child_by_field_name("body").or_else(|| {
            child_of_kind(node, &["class_body", "declaration_list", "body_statement", "enum_body"])
        });
        self.class_body(class, body);
    }

    /// `new X() { … }`: a class of its own.
    /// Its methods see the variables around it, so they are handed on as functions too.
    pub(super) fn anonymous_class(&mut self, body: Node<'_>, of: &Expr) -> Vec<Rc<Function>> {
        let base = match &of.kind {
            ExprKind::Name(name) => Rc::clone(name),
            _ => Rc::from(""),
        };
        let class = Class { name: Rc::clone(&base), bases: vec![base], ..Class::default() };
        self.class_body(class, Some(body));
        self.module.classes.last().map(|class| class.methods.clone()).unwrap_or_default()
    }

    fn class_body(&mut self, class: Class, body: Option<Node<'_>>) {
        let outer = self.class.replace(class);
        let depth = std::mem::take(&mut self.depth);
        let mut statements = Vec::new();
        if let Some(body) = body {
            for child in children(body) {
                if child.kind() == "static_initializer" {
                    for part in children(child) {
                        statements.extend(self.block(part));
                    }
                } else {
                    self.statement(child, &mut statements);
                }
            }
        }
        self.depth = depth;
        if let Some(mut class) = std::mem::replace(&mut self.class, outer) {
            if let Some(body) = body.filter(|_| self.is_script()) {
                self.parameter_properties(body, &mut statements);
            }
            class.fields = statements;
            class.span = body.map(Self::span).unwrap_or_default();
            self.module.classes.push(class);
        }
    }

    /// `constructor(private db: DataSource)` declares a field.
    fn parameter_properties(&mut self, body: Node<'_>, out: &mut Vec<Stmt>) {
        for method in children(body).into_iter().filter(|part| part.kind() == "method_definition") {
            let Some(list) = method.child_by_field_name("parameters") else { continue };
            for param in children(list) {
                let is_field = child_of_kind(param, &["accessibility_modifier"]).is_some()
                    || self.text(param).starts_with("readonly ");
                let named = param.child_by_field_name("pattern").filter(|_| is_field);
                if let (Some(name), Some(ty)) = (named, param.child_by_field_name("type")) {
                    let ty = self.type_name(ty);
                    let value = Self::make(param, ExprKind::Typed(ty, None));
                    let target = Box::new(Target::Name(self.name(name)));
                    let kind = ExprKind::Assign(target, Box::new(value));
                    out.push(Stmt::Expr(Self::make(param, kind)));
                }
            }
        }
    }

    /// Declared variables and fields, as assignments.
    fn fields(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let ty = node.child_by_field_name("type").map(|ty| self.type_name(ty));
        if let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        {
            self.assign_lists(node, left, right, out);
            return;
        }
        if matches!(node.kind(), "var_spec" | "const_spec") {
            self.spec(node, ty.as_ref(), out);
            return;
        }
        let own = node
            .child_by_field_name("pattern")
            .or_else(|| node.child_by_field_name("name"))
            .or_else(|| node.child_by_field_name("property"));
        if let Some(name) = own {
            let value = node.child_by_field_name("value");
            self.assign_one(node, name, ty, value, out);
            return;
        }
        for child in children(node) {
            match child.kind() {
                "variable_declarator" | "init_declarator" => {
                    let name = child
                        .child_by_field_name("name")
                        .or_else(|| child.child_by_field_name("declarator"))
                        .or_else(|| children(child).first().copied());
                    let value = child.child_by_field_name("value").or_else(|| {
                        children(child).last().copied().filter(|last| Some(*last) != name)
                    });
                    let value = value.map(|value| {
                        if value.kind() == "equals_value_clause" {
                            children(value).first().copied().unwrap_or(value)
                        } else {
                            value
                        }
                    });
                    let annotated = child.child_by_field_name("type").map(|ty| self.type_name(ty));
                    if let Some(name) = name {
                        self.note_local(name);
                        self.assign_one(child, name, annotated.or_else(|| ty.clone()), value, out);
                    }
                }
                "variable_declaration" | "var_spec" | "const_spec" | "var_spec_list" => {
                    self.fields(child, out);
                }
                "identifier" | "pointer_declarator" | "array_declarator"
                    if matches!(self.lang, Lang::C | Lang::Cpp) && ty.is_some() =>
                {
                    self.assign_one(node, child, ty.clone(), None, out);
                }
                _ => {}
            }
        }
    }

    /// Remembers what a declaration binds, where an assignment could mean a variable further out.
    pub(super) fn note_local(&mut self, name: Node<'_>) {
        if !self.is_script() {
            return;
        }
        let mut nodes = vec![name];
        while let Some(node) = nodes.pop() {
            match node.kind() {
                "identifier" | "shorthand_property_identifier_pattern" => {
                    let name = self.name(node);
                    self.locals.push(name);
                }
                // The value is bound, the key is not.
                "pair_pattern" => nodes.extend(node.child_by_field_name("value")),
                "assignment_pattern" | "object_assignment_pattern" => {
                    nodes.extend(node.child_by_field_name("left"));
                }
                kind if kind.ends_with("_pattern") => nodes.extend(children(node)),
                _ => {}
            }
        }
    }

    fn spec(&mut self, node: Node<'_>, ty: Option<&Rc<str>>, out: &mut Vec<Stmt>) {
        let names = fields(node, "name");
        let values: Vec<Node<'_>> =
            node.child_by_field_name("value").map(children).unwrap_or_default();
        if let [only] = values.as_slice()
            && names.len() > 1
        {
            let targets = names.iter().map(|name| self.target(*name)).collect();
            let value = self.expr(*only);
            let kind = ExprKind::Assign(Box::new(Target::Tuple(targets)), Box::new(value));
            out.push(Stmt::Expr(Self::make(node, kind)));
            return;
        }
        for (index, name) in names.iter().enumerate() {
            self.assign_one(node, *name, ty.cloned(), values.get(index).copied(), out);
        }
    }

    fn assign_one(
        &mut self,
        node: Node<'_>,
        name: Node<'_>,
        ty: Option<Rc<str>>,
        value: Option<Node<'_>>,
        out: &mut Vec<Stmt>,
    ) {
        let mut name = name;
        while let Some(inner) = name.child_by_field_name("declarator") {
            name = inner;
        }
        let target = self.target(name);
        let value = value.map(|value| self.expr(value));
        let value = match (ty, value) {
            (Some(ty), value)
                if !matches!(&*ty, "var" | "auto" | "let" | "dynamic" | "any" | "") =>
            {
                Self::make(node, ExprKind::Typed(ty, value.map(Box::new)))
            }
            (_, Some(value)) => value,
            (_, None) => return,
        };
        let kind = ExprKind::Assign(Box::new(target), Box::new(value));
        out.push(Stmt::Expr(Self::make(node, kind)));
    }

    /// `a, b := f()` and `a, b = c, d`.
    fn assign_lists(
        &mut self,
        node: Node<'_>,
        left: Node<'_>,
        right: Node<'_>,
        out: &mut Vec<Stmt>,
    ) {
        let lefts = if left.kind() == "expression_list" { children(left) } else { vec![left] };
        let rights = if right.kind() == "expression_list" { children(right) } else { vec![right] };
        let between = self.text.get(left.end_byte()..right.start_byte()).unwrap_or_default().trim();
        if lefts.len() == rights.len() {
            for (left, right) in lefts.into_iter().zip(rights) {
                let target = self.target(left);
                let mut value = self.expr(right);
                if between.len() == 2 && between.ends_with('=') && !between.starts_with(':') {
                    let before = self.expr(left);
                    value = Self::make(node, ExprKind::Join(vec![before, value]));
                }
                let kind = ExprKind::Assign(Box::new(target), Box::new(value));
                out.push(Stmt::Expr(Self::make(node, kind)));
            }
        } else if let Some(right) = rights.first() {
            let targets = lefts.into_iter().map(|left| self.target(left)).collect();
            let value = self.expr(*right);
            let kind = ExprKind::Assign(Box::new(Target::Tuple(targets)), Box::new(value));
            out.push(Stmt::Expr(Self::make(node, kind)));
        }
    }
}

/// What a function is called that is assigned to something: `exports.handler = () => …`.
fn given_name(function: Node<'_>) -> Option<Node<'_>> {
    let parent = function.parent()?;
    match parent.kind() {
        "variable_declarator" => parent.child_by_field_name("name"),
        "pair" => parent.child_by_field_name("key"),
        "assignment_expression" => {
            let left = parent.child_by_field_name("left")?;
            left.child_by_field_name("property").or(Some(left))
        }
        _ => None,
    }
}

fn is_class(node: Node<'_>) -> bool {
    node.child_by_field_name("body").is_some()
        || child_of_kind(node, &["class_body", "declaration_list", "body_statement"]).is_some()
}

fn is_value(kind: &str) -> bool {
    !matches!(
        kind,
        "block"
            | "statement_block"
            | "compound_statement"
            | "constructor_body"
            | "body_statement"
            | "block_body"
            | "accessor_list"
            | "do_block"
            | "function_body"
    )
}

/// The name of a C function, which stands inside its declarator.
fn innermost_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    while let Some(inner) = at.child_by_field_name("declarator") {
        at = inner;
    }
    Some(at)
}

fn innermost_parameters(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    loop {
        if let Some(parameters) = at.child_by_field_name("parameters") {
            return Some(parameters);
        }
        at = at.child_by_field_name("declarator")?;
    }
}
