//! Expressions.

use std::rc::Rc;

use quorum_syntax::Lang;

use super::exec::{MANY, element, truth};
use super::guard::is_test;
use super::ir::{Call, Const, EMBEDDED, Expr, ExprKind, Op, Span, Stmt};
use super::machine::Machine;
use super::names::is_number_type;
use super::scope::join_scopes;
use super::value::{Closure, Items, Key, Taint, UNKNOWN_START, Value, chosen, harm};

/// Text that is longer is not kept as a constant.
const LONG: usize = 4096;

impl Machine<'_> {
    /// What is known about an expression's value.
    pub(super) fn eval(&mut self, expr: &Expr) -> Value {
        if !self.tick() || !self.descend() {
            return Value::default();
        }
        let value = self.eval_kind(expr);
        self.ascend();
        value
    }

    fn eval_kind(&mut self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Const(constant) => Value::constant(constant.clone()),
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Field(object, name) => {
                let object = self.eval(object);
                self.member(&object, name, expr.span)
            }
            ExprKind::Index(object, key) => {
                let mut value = self.index(object, key, expr.span);
                let plain = matches!(key.kind, ExprKind::Name(_) | ExprKind::Field(..));
                if plain && value.is_blank() {
                    let named = self.eval(key).harmful(harm("code")).is_some();
                    value.marks |= if named { chosen() } else { 0 };
                }
                value
            }
            ExprKind::Call(call) => {
                let outer = std::mem::take(&mut self.marks);
                let mut value = self.call(call, expr.span);
                value.marks |= std::mem::replace(&mut self.marks, outer);
                if call.new && value.identity.is_none() && value.constant.is_none() {
                    value.identity = Some(self.identity_of(call, &value));
                }
                value
            }
            ExprKind::Join(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.eval(part)).collect();
                joined(&parts)
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Not(inner) => {
                let inner = self.eval(inner);
                truth(&inner).map_or_else(Value::default, |yes| Value::constant(Const::Bool(!yes)))
            }
            ExprKind::Choice(condition, yes, no) => self.choose(condition, yes, no),
            ExprKind::Assign(target, value) => {
                let outer = self.wanted.take();
                self.wanted = match &**target {
                    super::ir::Target::Name(name) | super::ir::Target::Field(_, name) => {
                        Some(Rc::clone(name))
                    }
                    super::ir::Target::Tuple(parts) => match parts.first() {
                        Some(super::ir::Target::Name(name)) => Some(Rc::clone(name)),
                        _ => None,
                    },
                    _ => None,
                };
                let mut known = self.eval(value);
                if is_test(value) {
                    known.test = Some(Rc::new((**value).clone()));
                }
                self.wanted = outer;
                self.assign(target, known.clone(), expr.span);
                known
            }
            ExprKind::List(parts) => {
                let mut items = Items { list: true, ..Items::default() };
                let mut taint = None;
                for (at, part) in (0..).zip(parts) {
                    let value = self.eval(part);
                    if items.known.len() < MANY {
                        items.known.insert(Key::Int(at), value);
                    } else {
                        taint = Taint::worse(Option::as_ref(&taint), value.any_taint().as_ref());
                    }
                }
                let identity = Some(self.new_identity());
                Value { items: Some(Rc::new(items)), identity, taint, ..Value::default() }
            }
            ExprKind::Map(pairs) => {
                let identity = Some(self.new_identity());
                Value { identity, ..self.map(pairs) }
            }
            ExprKind::Lambda(function) => {
                let closure = Rc::new(Closure {
                    function: Rc::clone(function),
                    scope: Rc::clone(&self.scope),
                    this: None,
                });
                self.run_closure(&closure, &[]);
                Value { function: Some(closure), ..Value::default() }
            }
            ExprKind::Pass(inner) => self.eval(inner),
            ExprKind::Typed(ty, inner) => self.typed(ty, inner.as_deref()),
            ExprKind::Opaque(parts) => {
                let mut taint = None;
                for part in parts {
                    let value = self.eval(part);
                    taint = Taint::worse(Option::as_ref(&taint), value.any_taint().as_ref());
                }
                Value::tainted(taint.map(|taint| taint.doubted(0.5)))
            }
            ExprKind::Block(block) => self.block_value(block),
        }
    }

    /// The identity of a new object. What is written to `new PrintWriter(out)` is in `out`.
    fn identity_of(&mut self, call: &Call, value: &Value) -> u32 {
        let wraps = value.path.as_deref().is_some_and(super::builtin::writes);
        let inner = call.args.first().filter(|_| wraps).map(|arg| &arg.value.kind);
        let inner = match inner {
            Some(ExprKind::Name(name)) => self.scope.get(name).and_then(|inner| inner.identity),
            _ => None,
        };
        inner.unwrap_or_else(|| self.new_identity())
    }

    /// Runs a function that somebody outside is going to call.
    pub(super) fn run_closure(&mut self, closure: &Closure, args: &[Value]) -> Value {
        let function = Rc::clone(&closure.function);
        let mut values = Vec::new();
        for (position, param) in function.params.iter().enumerate() {
            let given =
                args.get(position).filter(|value| value.path.is_some() || value.taint.is_some());
            values.push(match given {
                Some(value) => value.clone(),
                None => self.outside_value(&function, None, position, param),
            });
        }
        self.enter(closure, &values)
    }

    fn block_value(&mut self, block: &[Stmt]) -> Value {
        let Some((last, before)) = block.split_last() else { return Value::default() };
        self.exec_block(before);
        match last {
            Stmt::Expr(expr) => self.eval(expr),
            Stmt::If(condition, yes, no) => {
                let known = self.eval(condition);
                if let Some(known) = truth(&known) {
                    return self.block_value(if known { yes } else { no });
                }
                let scope = Rc::clone(&self.scope);
                self.assume(condition, true);
                let first = self.block_value(yes);
                let after = std::mem::replace(&mut self.scope, scope);
                self.assume(condition, false);
                let second = self.block_value(no);
                self.scope = join_scopes(&mut self.fuel, &after, &self.scope);
                first.join(&second)
            }
            Stmt::Block(inner) => self.block_value(inner),
            Stmt::ForEach { target, over, body, .. } => {
                let container = self.eval(over);
                let element = element(&container);
                self.assign(target, element, over.span);
                let value = self.block_value(body);
                Value { taint: value.any_taint(), ..Value::default() }
            }
            Stmt::Switch { subject, cases } => {
                if let Some(subject) = subject {
                    self.eval(subject);
                }
                let scope = Rc::clone(&self.scope);
                let mut all: Option<Value> = None;
                for case in cases {
                    self.scope = Rc::clone(&scope);
                    let value = self.block_value(&case.body);
                    all = Some(all.map_or(value.clone(), |known| known.join(&value)));
                }
                all.unwrap_or_default()
            }
            other => {
                self.exec_block(std::slice::from_ref(other));
                Value::default()
            }
        }
    }

    fn typed(&mut self, ty: &Rc<str>, inner: Option<&Expr>) -> Value {
        let mut value = inner.map(|inner| self.eval(inner)).unwrap_or_default();
        if is_number_type(ty) {
            value.taint = value.taint.filter(|taint| taint.is_harmless());
            value.path = Some(Rc::from(super::value::NUMBER));
        } else if matches!(value.constant, None | Some(Const::Null)) && value.function.is_none() {
            let plain =
                matches!(&**ty, "String" | "string" | "str" | "Object" | "object" | "unknown");
            // What a call is known to return says more than what the variable is declared as.
            let exact = value
                .path
                .as_ref()
                .is_some_and(|path| self.is_exact(path) || self.is_own_class(path));
            if (!plain && !exact) || value.path.is_none() {
                value.path = Some(self.resolve_type(ty));
            }
        }
        value
    }

    /// The value of a name, wherever it is defined.
    pub(super) fn lookup(&mut self, name: &Rc<str>) -> Value {
        if let Some(value) = self.scope.get(name) {
            return value.clone();
        }
        if let Some(this) = self.scope.get("this")
            && let Some(items) = &this.items
            && let Some(value) = items.known.get(&Key::Text(Rc::clone(name)))
        {
            return value.clone();
        }
        if let Some(value) = self.globals.get(name) {
            return value.clone();
        }
        if let Some(path) = self.module.imports.get(name) {
            return Value { path: Some(Rc::clone(path)), ..Value::default() };
        }
        if let Some(function) = self.functions.get(name) {
            let closure =
                Closure { function: Rc::clone(function), scope: Rc::default(), this: None };
            let path = Some(Rc::clone(name));
            return Value { function: Some(Rc::new(closure)), path, ..Value::default() };
        }
        Value { path: Some(Rc::clone(name)), ..Value::default() }
    }

    fn name(&mut self, name: &Rc<str>, span: Span) -> Value {
        let mut value = self.lookup(name);
        if value.path.is_none() && value.constant.is_none() {
            value.path = Some(Rc::clone(name));
        }
        if value.taint.is_none()
            && value.constant.is_none()
            && let Some(path) = &value.path
            && let Some(taint) = self.source_at(path, span)
        {
            value.taint = Some(taint);
        }
        value
    }

    /// A field of a value.
    pub(super) fn member(&mut self, object: &Value, name: &Rc<str>, span: Span) -> Value {
        if let Some(items) = &object.items
            && let Some(value) = items.known.get(&Key::Text(Rc::clone(name)))
        {
            let mut value = value.clone();
            if value.path.is_none() {
                value.path = Some(joined_path(object, name));
            }
            return value;
        }
        let path = joined_path(object, name);
        // `query.size` is what somebody asks for; `list.size` is how many there are.
        let asked = object.items.is_none() && object.taint.is_some();
        let count = matches!(&**name, "length" | "Length" | "Count" | "statusCode")
            || (!asked && matches!(&**name, "size" | "status"));
        if count {
            return Value::at(super::value::NUMBER);
        }
        let path = match self.member_type(object, name) {
            Some(ty) if is_number_type(&ty) => return Value::at(super::value::NUMBER),
            Some(ty) => self.resolve_type(&ty),
            None => path,
        };
        // A line that is read from a connection is what the connection brought.
        let taint = match (self.source_at(&path, span), &object.taint) {
            (Some(new), Some(own)) if own.source.strength > new.source.strength => {
                Some(Rc::clone(own))
            }
            (new, own) => new.or_else(|| own.clone()),
        };
        Value { taint, path: Some(path), ..Value::default() }
    }

    /// The type that a type of this file declares for a field; what is embedded lends its own.
    fn member_type(&self, object: &Value, name: &Rc<str>) -> Option<Rc<str>> {
        let known = &self.module.members;
        let own = object.path.as_deref()?.trim_end_matches("()").rsplit('.').next()?;
        let members = known.get(own)?;
        if let Some(ty) = members.get(name) {
            let tells = ty.contains('.') || is_number_type(ty) || known.contains_key(ty);
            return tells.then(|| Rc::clone(ty));
        }
        let lent = members.get(EMBEDDED).filter(|_| !self.methods.contains_key(name))?;
        Some(Rc::from(format!("{lent}.{name}")))
    }

    fn index(&mut self, object: &Expr, index: &Expr, span: Span) -> Value {
        let container = self.eval(object);
        let key = self.eval(index);
        if let (Some(text), Some(Const::Int(at))) = (container.as_text(), &key.constant) {
            let letter = usize::try_from(*at).ok().and_then(|at| text.chars().nth(at));
            return letter.map_or_else(Value::default, |c| Value::text(c.encode_utf8(&mut [0; 4])));
        }
        if let Some(items) = &container.items {
            if let Some(key) = key.constant.as_ref().and_then(Key::of) {
                let from_end = match key {
                    Key::Int(at) if at < 0 && items.list => {
                        Some(Key::Int(at + i64::try_from(items.known.len()).unwrap_or_default()))
                    }
                    _ => None,
                };
                let key = from_end.unwrap_or(key);
                if let Some(value) = items.known.get(&key) {
                    return value.clone();
                }
                if items.list || container.taint.is_none() {
                    let path = match &key {
                        Key::Text(name) => Some(joined_path(&container, name)),
                        Key::Int(_) => container.path.clone(),
                    };
                    let taint = container.taint.clone();
                    return Value { taint, path, ..Value::default() };
                }
            } else {
                let found = element(&container);
                // A map need not have the key.
                let settled = found.is_spelt_out();
                return if items.list { found } else { Value { constant: None, settled, ..found } };
            }
        }
        let path = match key.as_text() {
            Some(name) => Some(joined_path(&container, name)),
            None => container.path.clone(),
        };
        let taint = container
            .taint
            .clone()
            .or_else(|| path.as_ref().and_then(|path| self.source_at(path, span)));
        Value { taint, path, ..Value::default() }
    }

    fn map(&mut self, pairs: &[(Expr, Expr)]) -> Value {
        let mut items = Items::default();
        let mut taint = None;
        for (key, value) in pairs {
            let key = self.eval(key);
            let outer = self.wanted.take();
            self.wanted = key.as_text().map(Rc::from);
            let value = self.eval(value);
            self.wanted = outer;
            if let Some(key) = key.constant.as_ref().and_then(Key::of) {
                items.known.insert(key, value);
                continue;
            }
            taint = Taint::worse(Option::as_ref(&taint), value.any_taint().as_ref());
            if let Some(inner) = &value.items {
                items.known.extend(inner.known.clone());
            }
        }
        Value { items: Some(Rc::new(items)), taint, ..Value::default() }
    }

    fn choose(&mut self, condition: &Expr, yes: &Expr, no: &Expr) -> Value {
        let known = self.eval(condition);
        match truth(&known) {
            Some(true) => self.eval(yes),
            Some(false) => self.eval(no),
            None => {
                let before = Rc::clone(&self.scope);
                self.assume(condition, true);
                let first = self.eval(yes);
                let after = std::mem::replace(&mut self.scope, before);
                self.assume(condition, false);
                let second = self.eval(no);
                self.scope = join_scopes(&mut self.fuel, &after, &self.scope);
                first.join(&second)
            }
        }
    }

    fn binary(&mut self, op: Op, left: &Expr, right: &Expr) -> Value {
        let first = self.eval(left);
        if op == Op::And && truth(&first) == Some(false) {
            return first;
        }
        if matches!(op, Op::Or) && truth(&first) == Some(true) {
            return first;
        }
        let before = Rc::clone(&self.scope);
        if op == Op::And {
            self.assume(left, true);
        }
        let second = self.eval(right);
        if op == Op::And {
            self.scope = join_scopes(&mut self.fuel, &before, &self.scope);
        }
        match op {
            Op::Else => match (&first.constant, truth(&first)) {
                (_, Some(true)) => first,
                (Some(Const::Null), _) => second,
                _ => first.join(&second),
            },
            Op::Add => match (&first.constant, &second.constant) {
                (Some(Const::Int(a)), Some(Const::Int(b))) => a
                    .checked_add(*b)
                    .map_or_else(Value::default, |n| Value::constant(Const::Int(n))),
                _ => joined(&[first, second]),
            },
            // `folder / name`
            Op::Div if first.path.as_deref().is_some_and(is_folder) => {
                let path = first.path.clone();
                Value { path, ..joined(&[first, second]) }
            }
            Op::And | Op::Or => match (truth(&first), truth(&second)) {
                (Some(a), Some(b)) => {
                    Value::constant(Const::Bool(if op == Op::And { a && b } else { a || b }))
                }
                _ => Value::default(),
            },
            Op::Other => Value::default(),
            Op::Sub | Op::Mul | Op::Div if self.lang != Lang::Python => fold(op, &first, &second)
                .map_or_else(|| Value::at(super::value::NUMBER), Value::constant),
            _ => fold(op, &first, &second).map_or_else(Value::default, Value::constant),
        }
    }
}

/// Whether a path is that of a value that names a file.
fn is_folder(path: &str) -> bool {
    let last = path.trim_end_matches("()").rsplit('.').next().unwrap_or(path);
    last.ends_with("Path") || matches!(last, "parent" | "resolve" | "absolute" | "expanduser")
}

/// The path of a field.
pub(super) fn joined_path(object: &Value, name: &str) -> Rc<str> {
    const DEEP: usize = 200;
    match &object.path {
        Some(path) if path.len() < DEEP => Rc::from(format!("{path}.{name}")),
        _ => Rc::from(format!("?.{name}")),
    }
}

/// Text put together from parts.
pub(super) fn joined(parts: &[Value]) -> Value {
    let mut text = String::new();
    let mut known = true;
    let mut whole = true;
    let mut taint = None;
    for part in parts {
        taint = Taint::worse(Option::as_ref(&taint), part.any_taint().as_ref());
        match part.printed() {
            Some(printed) if known && text.len() + printed.len() < LONG => text.push_str(&printed),
            None if known && part.is_plain() => text.push('0'),
            _ => {
                // A part that nobody outside chose fixes what stands before the next one.
                let ours = known && text.is_empty() && part.any_taint().is_none();
                if known && let Some(prefix) = &part.prefix {
                    text.push_str(prefix);
                } else if ours {
                    text.push(UNKNOWN_START);
                    whole = false;
                    continue;
                }
                known = false;
            }
        }
    }
    if known && whole {
        return Value { taint, ..Value::text(&text) };
    }
    let prefix = if text.is_empty() { None } else { Some(Rc::from(text)) };
    Value { prefix, taint, ..Value::default() }
}

fn fold(op: Op, left: &Value, right: &Value) -> Option<Const> {
    let (left, right) = (left.constant.as_ref()?, right.constant.as_ref()?);
    if let (Const::Int(a), Const::Int(b)) = (left, right) {
        return Some(match op {
            Op::Sub => Const::Int(a.checked_sub(*b)?),
            Op::Mul => Const::Int(a.checked_mul(*b)?),
            Op::Div => Const::Int(a.checked_div(*b)?),
            Op::Rem => Const::Int(a.checked_rem(*b)?),
            Op::Eq => Const::Bool(a == b),
            Op::Ne => Const::Bool(a != b),
            Op::Lt => Const::Bool(a < b),
            Op::Le => Const::Bool(a <= b),
            Op::Gt => Const::Bool(a > b),
            Op::Ge => Const::Bool(a >= b),
            _ => return None,
        });
    }
    match (op, left, right) {
        (Op::Eq, a, b) => Some(Const::Bool(a == b)),
        (Op::Ne, a, b) => Some(Const::Bool(a != b)),
        (Op::In, Const::Text(a), Const::Text(b)) => Some(Const::Bool(b.contains(&**a))),
        _ => None,
    }
}
