//! Calls.

use std::rc::Rc;

use quorum_syntax::Lang;

use super::builtin::{self, Effect};
use super::eval::joined_path;
use super::follow::mapped;
use super::ir::{Call, Const, Expr, ExprKind, Span};
use super::machine::{Machine, origin};
use super::names::{
    cleaned_by_pattern, cleans_by_name, converts, gives_no_text, looks_up, maps, passes_by_name,
    returns_element, returns_itself, wraps_function,
};
use super::sink::text_of;
use super::value::{ALL_HARMS, Harms, Items, Key, NUMBER, Taint, Value, chosen, harm, harms};

/// What a call is given.
#[derive(Debug)]
pub(super) struct Given<'t> {
    pub(super) this: Value,
    pub(super) args: Vec<(Option<Rc<str>>, Value)>,
    pub(super) texts: Vec<&'t str>,
}

impl<'a> Machine<'a> {
    pub(super) fn call(&mut self, call: &Call, span: Span) -> Value {
        if let Some(value) = self.name_of_file(call) {
            return value;
        }
        let (this, callee, name) = self.callee(call);
        let given = self.given(call, this);
        if let ExprKind::Index(_, key) = &call.callee.kind {
            self.check_chosen(key, span);
        }
        let path = callee.path.clone().unwrap_or_else(|| Rc::from("?"));
        if callee.marks & chosen() != 0 && matches!(call.callee.kind, ExprKind::Name(_)) {
            // `const f = functions[name]; f()`
            self.check_call("[chosen]", &given, span);
        }
        self.check_call(&path, &given, span);
        if let Some(other) = named_receiver(call)
            && *other != *path
        {
            self.check_call(&other, &given, span);
        }
        self.fills(&path, call, &given, span);
        self.mark(&path, call, &given);
        if let Some(value) = self.follow(call, &callee, &given, &name) {
            return self.named(value, &path, call);
        }
        if let Some(value) = self.handed_on(&path, &given, &name, span) {
            return value;
        }
        self.check_handed(&given, &name, span);
        let returned = self.callbacks(&path, &given, &name);
        if let Some(value) = mapped(&name, returned) {
            return self.named(value, &path, call);
        }
        let effect = builtin::apply(&name, call, &given);
        if let Some(Effect { result, receiver }) = effect {
            if let (Some(receiver), ExprKind::Field(object, _)) = (receiver, &call.callee.kind) {
                self.write_back(object, receiver);
            }
            if let Some(result) = result {
                return result;
            }
        }
        let value = match self.literal(call, &given) {
            Some(value) => value,
            None => self.result(&callee, &given, &name, call, span),
        };
        self.named(value, &path, call)
    }

    /// `new File(path).getName()`: no file is touched, and what is left of the path has no folders.
    fn name_of_file(&mut self, call: &Call) -> Option<Value> {
        let ExprKind::Field(object, method) = &call.callee.kind else { return None };
        let ExprKind::Call(inner) = &object.kind else { return None };
        let ExprKind::Name(class) = &inner.callee.kind else { return None };
        let [only] = inner.args.as_slice() else { return None };
        let is_file = inner.new && class.rsplit('.').next() == Some("File");
        if !(is_file && &**method == "getName" && self.lang == Lang::Java) {
            return None;
        }
        let value = self.eval(&only.value);
        let clean = |taint: Rc<Taint>| taint.cleaned(harms(&["path", "file"]));
        Some(Value::tainted(value.any_taint().map(clean)))
    }

    /// A literal of a Go type keeps its fields or elements apart.
    fn literal(&self, call: &Call, given: &Given<'_>) -> Option<Value> {
        const MANY: usize = 64;
        if !call.new || self.lang != Lang::Go || given.args.is_empty() || given.args.len() > MANY {
            return None;
        }
        let list = given.args.iter().all(|(name, _)| name.is_none());
        let mut items = Items { list, ..Items::default() };
        for (at, (name, value)) in (0..).zip(&given.args) {
            let key = match name {
                Some(name) => Key::Text(Rc::clone(name)),
                None if list => Key::Int(at),
                None => return None,
            };
            items.known.insert(key, value.clone());
        }
        Some(Value { items: Some(Rc::new(items)), ..Value::default() })
    }

    /// `functions[name]()`: the name chooses what is called.
    fn check_chosen(&mut self, key: &Expr, span: Span) {
        let chosen = self.eval(key);
        if chosen.taint.is_some() {
            let texts = vec![text_of(self.text, key)];
            let given = Given { this: Value::default(), args: vec![(None, chosen)], texts };
            self.check_call("[]", &given, span);
        }
    }

    /// `promisify(f)` and `f.bind(x)` are `f`; `f.call(x, y)` calls it.
    fn handed_on(
        &mut self,
        path: &str,
        given: &Given<'_>,
        name: &str,
        span: Span,
    ) -> Option<Value> {
        let is_known = |value: &Value| {
            value.function.is_some() || value.path.as_deref().is_some_and(|path| path != NUMBER)
        };
        match name {
            "bind" if is_known(&given.this) && given.this.taint.is_none() => {
                Some(given.this.clone())
            }
            "call" | "apply" => {
                let path = given.this.path.clone().filter(|_| given.this.taint.is_none())?;
                let rest = given.args.get(1..).unwrap_or_default();
                let args = match rest {
                    [(None, list)] if name == "apply" => match &list.items {
                        Some(items) => {
                            items.known.values().map(|value| (None, value.clone())).collect()
                        }
                        None => rest.to_vec(),
                    },
                    _ => rest.to_vec(),
                };
                let texts = given.texts.get(1..).unwrap_or_default().to_vec();
                let inner = Given { this: Value::default(), args, texts };
                self.check_call(&path, &inner, span);
                let closure = given.this.function.clone()?;
                let values: Vec<Value> = inner.args.into_iter().map(|(_, value)| value).collect();
                Some(self.enter(&closure, &values))
            }
            _ if wraps_function(name) || path.rsplit('.').next().is_some_and(wraps_function) => {
                let (_, first) = given.args.first()?;
                (is_known(first) && first.taint.is_none()).then(|| first.clone())
            }
            _ => None,
        }
    }

    /// What the result of a call is called.
    fn named(&self, mut value: Value, path: &Rc<str>, call: &Call) -> Value {
        if value.path.is_none() && value.constant.is_none() {
            let ty = self.tables.models.types.first(path);
            value.path = Some(match ty {
                Some(ty) => Rc::from(ty.as_str()),
                None if call.new || is_class_name(path, self.lang) => Rc::clone(path),
                None if &**path == "require" => {
                    match call.args.first().map(|arg| &arg.value.kind) {
                        Some(ExprKind::Const(Const::Text(module))) => Rc::from(
                            module.trim_start_matches("node:").replace(['/', '\\'], ".").as_str(),
                        ),
                        _ => Rc::from("require()"),
                    }
                }
                None if path.len() > 200 => Rc::from("?"),
                None => Rc::from(format!("{path}()")),
            });
        }
        value
    }

    /// The receiver, what is called, and the last part of its name.
    fn callee(&mut self, call: &Call) -> (Value, Value, Rc<str>) {
        match &call.callee.kind {
            ExprKind::Field(object, name) => {
                let this = self.eval(object);
                let mut callee = self.member(&this, name, call.callee.span);
                // `response.status` is a number, `response.status(404)` is not.
                if callee.path.as_deref().is_none_or(|path| path == NUMBER) {
                    callee.path = Some(joined_path(&this, name));
                }
                (this, callee, Rc::clone(name))
            }
            ExprKind::Name(name) => {
                let mut callee = self.lookup(name);
                if callee.path.is_none() {
                    callee.path = Some(Rc::clone(name));
                }
                if call.new && &**name != "Function" {
                    callee.path = Some(self.resolve_type(name));
                }
                let last = name.rsplit('.').next().map_or_else(|| Rc::clone(name), Rc::from);
                (Value::default(), callee, last)
            }
            _ => {
                let callee = self.eval(&call.callee);
                // `require("pify")(f)`
                let last = callee.path.as_deref().and_then(|path| path.rsplit('.').next());
                let name = last.filter(|name| !name.contains('(')).map_or(Rc::from(""), Rc::from);
                (Value::default(), callee, name)
            }
        }
    }

    fn given(&mut self, call: &Call, this: Value) -> Given<'a> {
        let outer = self.wanted.take();
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            self.wanted = arg.name.clone().or_else(|| outer.clone());
            let value = match &arg.value.kind {
                ExprKind::Lambda(function) => self.closure(function),
                _ => self.eval(&arg.value),
            };
            args.push((arg.name.clone(), value));
        }
        self.wanted = outer;
        let text = self.text;
        let texts = call.args.iter().map(|arg| text_of(text, &arg.value)).collect();
        let named = |arg: &super::ir::Arg| Some((arg.name.clone()?, arg.value.span));
        self.field_spans = match self.lang {
            Lang::Go => call.args.iter().filter_map(named).collect(),
            _ => Vec::new(),
        };
        Given { this, args, texts }
    }

    /// Calls that put values into their arguments.
    fn fills(&mut self, path: &str, call: &Call, given: &Given<'_>, span: Span) {
        let Some(fill) = self.tables.models.fills.first(path).cloned() else { return };
        let mut taint = fill.source.as_ref().map(|source| origin(source, span));
        for &from in &fill.from {
            if let Some((_, value)) = given.args.get(from) {
                taint = Taint::worse(Option::as_ref(&taint), value.any_taint().as_ref());
            }
        }
        if fill.from.is_empty() && fill.source.is_none() {
            taint = given.this.any_taint();
        }
        if taint.is_none() {
            return;
        }
        for &to in &fill.to {
            let leaves = |path: &Rc<str>| path.ends_with("ResponseWriter");
            let sent = given.args.get(to).is_some_and(|(_, v)| v.path.as_ref().is_some_and(leaves));
            if !sent && let Some(arg) = call.args.get(to) {
                self.write_taint(&arg.value, taint.clone());
            }
        }
    }

    fn write_taint(&mut self, expr: &Expr, taint: Option<Rc<Taint>>) {
        match &expr.kind {
            ExprKind::Name(name) => {
                let mut value = self.lookup(name);
                value.taint = Taint::worse(value.taint.as_ref(), Option::as_ref(&taint));
                value.constant = None;
                self.update(name, value);
            }
            ExprKind::Pass(inner) | ExprKind::Index(inner, _) | ExprKind::Field(inner, _) => {
                self.write_taint(inner, taint);
            }
            ExprKind::Opaque(parts) => {
                if let Some(last) = parts.last() {
                    self.write_taint(last, taint);
                }
            }
            _ => {}
        }
    }

    pub(super) fn write_back(&mut self, object: &Expr, value: Value) {
        match &object.kind {
            ExprKind::Name(name) => {
                self.update_others(name, &value);
                self.update(name, value);
            }
            ExprKind::Field(outer, field) => {
                let key = Some(super::value::Key::Text(Rc::clone(field)));
                self.store(outer, key, value, object.span);
            }
            // `b.append(x).append(y)`, but not `response.getWriter().write(x)`
            ExprKind::Call(call) => {
                if let ExprKind::Field(inner, name) = &call.callee.kind {
                    if returns_itself(name) {
                        self.write_back(inner, value);
                    } else if returns_element(name) && value.any_taint().is_some() {
                        // `m.get(key).add(x)`
                        let key = call.args.first().map(|key| self.eval(&key.value));
                        let key = key.and_then(|key| key.constant.as_ref().and_then(Key::of));
                        self.store(inner, key, value, object.span);
                    }
                }
            }
            ExprKind::Pass(inner) => self.write_back(inner, value),
            _ => {}
        }
    }

    /// What a call outside the file returns.
    fn result(
        &self,
        callee: &Value,
        given: &Given<'_>,
        name: &str,
        call: &Call,
        span: Span,
    ) -> Value {
        let path = callee.path.as_deref().unwrap_or("?");
        // `ParseInt(64)` is a call whose last argument is 64.
        let last = given.args.last().and_then(|(_, value)| value.printed()).unwrap_or_default();
        let source = self
            .source_at(&format!("{path}()"), span)
            .or_else(|| self.source_at(&format!("{path}({last})"), span));
        if let Some(taint) = source {
            let path = taint.is_harmless().then(|| Rc::from(NUMBER));
            return Value { path, ..Value::tainted(Some(taint)) };
        }
        if let Some(pattern) = compiled(path, given) {
            let path = if call.new { path.to_owned() } else { format!("{path}()") };
            return Value { path: Some(Rc::from(path)), ..Value::constant(pattern) };
        }
        let from_args = given.args.iter().fold(None, |worst, (_, value)| {
            Taint::worse(Option::as_ref(&worst), value.any_taint().as_ref())
        });
        if self.lang == Lang::Java && makes_enum(path) {
            return Value::at(NUMBER);
        }
        if let Some(&harms) = self.tables.models.cleans.first(path) {
            if harms == ALL_HARMS {
                return Value::at(NUMBER);
            }
            let taint = Taint::worse(Option::as_ref(&from_args), given.this.any_taint().as_ref());
            let taint = taint.map(|taint| taint.cleaned(harms));
            let number = harms | harm("dos") == ALL_HARMS;
            return Value { path: number.then(|| Rc::from(NUMBER)), ..Value::tainted(taint) };
        }
        if let Some(&harms) = maps(name)
            .then(|| given.args.first()?.1.path.as_deref())
            .flatten()
            .and_then(|with| self.tables.models.cleans.first(with))
        {
            // `xs.map(Number)`
            let taint = given.this.any_taint().map(|taint| taint.cleaned(harms));
            return Value { settled: taint.is_none(), ..Value::tainted(taint) };
        }
        let spelt: Vec<&str> = given.args.iter().zip(&given.texts).map(spelt).collect();
        if let Some(harms) = cleaned_by_pattern(name, &spelt) {
            let taint = Taint::worse(Option::as_ref(&from_args), given.this.any_taint().as_ref());
            return Value::tainted(taint.map(|taint| taint.cleaned(harms)));
        }
        if converts_to_number(given) {
            return Value::at(NUMBER);
        }
        let lower = name.to_ascii_lowercase();
        let passes = self.tables.models.passes.first(path).is_some();
        if !call.new && !passes && gives_no_text(&lower) {
            return Value::at(NUMBER);
        }
        if let Some(harms) = removed(&lower, given) {
            let taint = Taint::worse(Option::as_ref(&from_args), given.this.any_taint().as_ref());
            return Value::tainted(taint.map(|taint| taint.cleaned(harms)));
        }
        if let Some(taint) = &callee.taint {
            // A method of something that came from outside, or a source itself.
            return Value::tainted(Some(Rc::clone(taint)));
        }
        let from_this = given.this.any_taint();
        if from_this.is_some() && !call.new {
            return Value::tainted(from_this);
        }
        if let Some(text) = formatted(&lower, given) {
            return text;
        }
        let plain = |(_, value): &(Option<Rc<str>>, Value)| value.is_plain();
        if !given.args.is_empty() && given.args.iter().all(plain) && converts(&lower) {
            return Value { taint: from_args, ..Value::at(NUMBER) };
        }
        let spelt_out = |(_, value): &(Option<Rc<str>>, Value)| value.is_spelt_out();
        if passes && !given.args.is_empty() && given.args.iter().all(spelt_out) {
            return Value { settled: true, ..Value::default() };
        }
        let Some(taint) = from_args else { return Value::default() };
        // What stands in a file is not what its name says.
        if cleans_by_name(&lower) || (lower.contains("read") && lower.contains("file")) {
            return Value::default();
        }
        if call.new || passes || passes_by_name(&lower) {
            let prefix = given.args.first().and_then(|(_, first)| match first.as_text() {
                Some(text) if given.args.len() > 1 && !text.contains('%') => Some(Rc::from(text)),
                _ => first.prefix.clone(),
            });
            let taint = Some(taint.step(span, &format!("through `{name}`")));
            return Value { prefix, taint, ..Value::default() };
        }
        Value::tainted(Some(taint.doubted(if looks_up(&lower) { 0.35 } else { 0.65 })))
    }
}

/// `Kind.valueOf(x)`: one of the constants of a class, or a number.
fn makes_enum(path: &str) -> bool {
    let Some(class) = path.strip_suffix(".valueOf") else { return false };
    let last = class.rsplit('.').next().unwrap_or(class);
    last.starts_with(|c: char| c.is_ascii_uppercase()) && !matches!(last, "String" | "Objects")
}

/// The regular expression that a call makes from text.
fn compiled(path: &str, given: &Given<'_>) -> Option<Const> {
    let makes = matches!(path, "RegExp" | "re.compile" | "regex.compile")
        || path == "Pattern.compile"
        || path.ends_with("regex.Pattern.compile");
    let (_, first) = given.args.first().filter(|_| makes)?;
    let flags = match given.args.get(1) {
        Some((None, flags)) if path == "RegExp" => flags.as_text()?,
        _ => "",
    };
    match first.constant.as_ref()? {
        Const::Text(text) => Some(Const::Pattern(Rc::from(format!("/{text}/{flags}")))),
        pattern @ Const::Pattern(_) => Some(pattern.clone()),
        _ => None,
    }
}

/// An argument as it is written, or the regular expression that it names.
fn spelt<'v>(((_, value), text): (&'v (Option<Rc<str>>, Value), &'v &'v str)) -> &'v str {
    match &value.constant {
        Some(Const::Pattern(pattern)) => pattern,
        _ => text,
    }
}

/// `get("n", type=int)`
fn converts_to_number(given: &Given<'_>) -> bool {
    given.args.iter().any(|(name, value)| {
        name.as_deref() == Some("type")
            && value.path.as_deref().is_some_and(|path| {
                matches!(path, "int" | "float" | "bool" | "uuid.UUID" | "decimal.Decimal")
            })
    })
}

/// Text made by a format: its constant start, or all of it where nothing unknown is put in.
fn formatted(name: &str, given: &Given<'_>) -> Option<Value> {
    if !(name.contains("format") || name.contains("sprint")) {
        return None;
    }
    let (_, first) = given.args.first()?;
    let format = first.as_text()?;
    let end = format.find(['%', '{']).unwrap_or(format.len());
    let verbs = if format.contains('{') { Vec::new() } else { verbs(format) };
    let mut taint = first.any_taint();
    let mut plain = true;
    for (at, (_, value)) in given.args.iter().skip(1).enumerate() {
        // A number is nobody's text, whoever chose it.
        if verbs.get(at).is_some_and(|verb| matches!(verb, 'd' | 't' | 'f' | 'e' | 'g' | 'b')) {
            continue;
        }
        plain &= value.is_plain();
        taint = Taint::worse(taint.as_ref(), value.any_taint().as_ref());
    }
    if plain {
        return Some(Value { taint, ..Value::text(format) });
    }
    let prefix = (end > 0).then(|| Rc::from(&format[..end]));
    Some(Value { prefix, taint, ..Value::default() })
}

/// The letters of the places in a format, in their order.
fn verbs(format: &str) -> Vec<char> {
    let mut verbs = Vec::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            continue;
        }
        let verb = rest.find(|c| !matches!(c, '0'..='9' | '.' | '-' | '+' | '#' | ' ' | ','));
        verbs.extend(verb.filter(|verb| !matches!(verb, '%' | 'n')));
    }
    verbs
}

/// The harms that cannot be done after a replacement, or after a path is cleaned from its root.
fn removed(name: &str, given: &Given<'_>) -> Option<Harms> {
    if name == "clean" {
        // Above the root there is nothing.
        let (_, first) = given.args.first()?;
        let rooted = first.prefix.as_deref().is_some_and(|prefix| prefix.starts_with('/'));
        return rooted.then(|| harms(&["path", "file"]));
    }
    if !name.contains("replace") || name == "replacefirst" {
        return None;
    }
    let texts: Vec<&str> = given.args.iter().filter_map(|(_, value)| value.as_text()).collect();
    let [what, ..] = texts.as_slice() else { return None };
    match *what {
        ".." | "../" | "..\\" if name != "replace" || texts.get(1) == Some(&"") => {
            Some(harms(&["path", "file"]))
        }
        text if text.contains(['\n', '\r']) || text.contains("\\n") || text.contains("\\r") => {
            Some(harms(&["log", "header"]))
        }
        _ => None,
    }
}

/// `name.method` for a variable whose value has another path.
fn named_receiver(call: &Call) -> Option<Rc<str>> {
    let ExprKind::Field(object, method) = &call.callee.kind else { return None };
    match &object.kind {
        ExprKind::Name(name) | ExprKind::Field(_, name) => {
            Some(Rc::from(format!("{name}.{method}")))
        }
        _ => None,
    }
}

fn is_class_name(path: &str, lang: Lang) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    lang == Lang::Python && last.starts_with(|c: char| c.is_ascii_uppercase())
}
