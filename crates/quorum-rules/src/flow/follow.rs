//! Calls into functions of the same file, and of functions that are handed on.

use std::rc::Rc;

use quorum_syntax::Lang;

use super::call::Given;
use super::exec::{element, insert};
use super::ir::{Call, ExprKind, Function, Span};
use super::machine::Machine;
use super::names;
use super::value::{Closure, Harms, Key, Value};

impl Machine<'_> {
    pub(super) fn closure(&self, function: &Rc<Function>) -> Value {
        let closure =
            Closure { function: Rc::clone(function), scope: Rc::clone(&self.scope), this: None };
        Value { function: Some(Rc::new(closure)), ..Value::default() }
    }

    /// Follows a call into a function of this file.
    pub(super) fn follow(
        &mut self,
        call: &Call,
        callee: &Value,
        given: &Given<'_>,
        name: &Rc<str>,
    ) -> Option<Value> {
        let values: Vec<Value> = given.args.iter().map(|(_, value)| value.clone()).collect();
        if let Some(closure) = &callee.function {
            let closure = Rc::clone(closure);
            let values = self.by_name(&closure.function, given, 0).unwrap_or(values);
            let result = self.enter(&closure, &values);
            self.take_back(call, given, &closure.function, 0);
            return Some(result);
        }
        if let (Some(closure), true) = (&given.this.function, names::calls_function(name)) {
            let closure = Rc::clone(closure);
            return Some(self.enter(&closure, &values));
        }
        if call.new || (self.lang == Lang::Python && given.this.path.is_none()) {
            let made = self.construct(name, given, values.clone());
            if made.is_some() || call.new {
                return made;
            }
        }
        if let Some(value) = self.component(given, name) {
            return Some(value);
        }
        let methods = self.methods.get(name)?;
        let own = matches!(&call.callee.kind, ExprKind::Name(_))
            || given
                .this
                .path
                .as_deref()
                .is_some_and(|path| matches!(path, "this" | "self" | "cls"))
            || matches!(&call.callee.kind, ExprKind::Field(object, _)
                if matches!(&object.kind, ExprKind::Name(n) if matches!(&**n, "this" | "self" | "cls")));
        let class = given.this.path.as_deref().map(|path| path.rsplit('.').next().unwrap_or(path));
        let class = class.map(|class| class.trim_end_matches("()").to_owned());
        let takes = |m: &Rc<Function>| {
            m.params.len() >= given.args.len() || m.params.last().is_some_and(|last| last.rest)
        };
        // A method without a body is one of an interface; what it does, its classes say.
        let typed = matches!(self.lang, Lang::Java | Lang::Kotlin | Lang::CSharp);
        let mut fitting: Vec<&Rc<Function>> =
            methods.iter().filter(|m| takes(m) && !(typed && m.body.is_empty())).collect();
        if typed && fitting.iter().any(|m| m.params.len() == given.args.len()) {
            // Of those with the same name, the one with as many parameters is meant.
            fitting.retain(|m| m.params.len() == given.args.len());
        }
        let current = self.stack.last().and_then(|running| running.class.clone());
        let chosen = fitting
            .iter()
            .find(|m| m.class.as_deref() == class.as_deref())
            .or_else(|| fitting.iter().find(|m| own && m.class == current))
            .or_else(|| fitting.first().filter(|_| own && fitting.len() == 1))
            .or_else(|| {
                let class = class.as_deref().filter(|_| typed && !own)?;
                fitting.iter().find(|m| self.derives(m.class.as_deref(), class))
            })?;
        let function = Rc::clone(chosen);
        let takes_self = takes_self(&function, self.lang);
        let skip = usize::from(takes_self || self.lang == Lang::Go);
        let mut values = self.by_name(&function, given, skip).unwrap_or(values);
        if skip == 1 {
            values.insert(0, given.this.clone());
        }
        let this =
            if own { self.scope.get(self.own_name()).cloned() } else { Some(given.this.clone()) };
        let closure = Closure { function, scope: Rc::default(), this };
        let result = self.enter(&closure, &values);
        if let (Some(left), ExprKind::Field(object, _)) = (self.left.take(), &call.callee.kind)
            && left.items.is_some()
        {
            // What a setter stores, a getter finds.
            self.write_back(object, left);
        }
        self.take_back(call, given, &closure.function, skip);
        Some(result)
    }

    /// Whether a class of this file says that it is one of another kind.
    fn derives(&self, class: Option<&str>, base: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let known = class.and_then(|class| self.classes.get(class)).into_iter().flatten();
        known.map(|&at| &self.module.classes[at]).any(|known| {
            known.bases.iter().any(|text| text.split(|c| !is_word(c)).any(|w| w == base))
        })
    }

    /// What a record has under a name: `point.x()`.
    fn component(&self, given: &Given<'_>, name: &Rc<str>) -> Option<Value> {
        let class = given.this.path.as_deref()?;
        let known = &self.module.classes[*self.classes.get(class)?.first()?];
        if !given.args.is_empty() || !known.components.contains(name) {
            return None;
        }
        given.this.items.as_ref()?.known.get(&Key::Text(Rc::clone(name))).cloned()
    }

    /// What a function puts into the containers that it is given stays in them.
    fn take_back(&mut self, call: &Call, given: &Given<'_>, function: &Function, skip: usize) {
        let left = std::mem::take(&mut self.left_args);
        let at_end = self.left_at_end && self.lang == Lang::Java;
        let params = function.params.iter().zip(left).skip(skip);
        for ((arg, (_, before)), (param, after)) in call.args.iter().zip(&given.args).zip(params) {
            // Another value under the name of a parameter says nothing about the argument.
            let checks = at_end && !self.module.assigned.contains(&param.name);
            let holds = after.items.is_some()
                || after.path.as_deref().is_some_and(|path| {
                    ["Builder", "Buffer", "List", "Map", "Set"]
                        .iter()
                        .any(|kind| path.contains(kind))
                });
            let filled = holds && before.any_taint().is_none() && after.any_taint().is_some();
            if let Some(clean) = checked(before, &after).filter(|_| checks) {
                // The function left the others behind, by a return or an error.
                self.clean_name(&arg.value, clean);
                continue;
            }
            if filled || after.marks & !before.marks != 0 {
                let path = before.path.clone().or_else(|| after.path.clone());
                self.write_back(&arg.value, Value { path, ..after });
            }
        }
    }

    /// Arguments that are given by name, in the order of the parameters after the first `skip`.
    fn by_name(
        &mut self,
        function: &Function,
        given: &Given<'_>,
        skip: usize,
    ) -> Option<Vec<Value>> {
        if self.lang != Lang::Python || given.args.iter().all(|(name, _)| name.is_none()) {
            return None;
        }
        let mut plain =
            given.args.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value);
        let mut values = Vec::new();
        for param in function.params.iter().skip(skip) {
            let named = given.args.iter().find(|(name, _)| name.as_ref() == Some(&param.name));
            let value = named.map(|(_, value)| value).or_else(|| plain.next()).cloned();
            values.push(match (value, &param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.eval(default),
                (None, None) => Value::default(),
            });
        }
        Some(values)
    }

    /// An object of a class of this file, with what its constructor stores in it.
    fn construct(
        &mut self,
        name: &Rc<str>,
        given: &Given<'_>,
        mut values: Vec<Value>,
    ) -> Option<Value> {
        let module = self.module;
        let class = &module.classes[*self.classes.get(name)?.first()?];
        let constructors = class.methods.iter().filter(|method| {
            matches!(&*method.name, "constructor" | "__init__") || method.name == *name
        });
        let fits = |method: &&Rc<Function>| method.params.len() == values.len();
        let constructor = constructors.clone().find(fits).or_else(|| constructors.clone().next());
        let empty = Value { path: Some(Rc::clone(name)), ..Value::default() };
        let mut this = self.fields_of_class(name).unwrap_or(empty);
        this.identity = Some(self.new_identity());
        for (component, value) in class.components.iter().zip(&values) {
            insert(&mut this, Some(Key::Text(Rc::clone(component))), value.clone());
        }
        let Some(constructor) = constructor else {
            // The methods of a class without a name come as arguments, and are run as such.
            let nameless = given.args.iter().any(|(_, value)| value.function.is_some());
            let plain = matches!(self.lang, Lang::Java | Lang::Kotlin) && !nameless;
            return plain.then_some(this);
        };
        let function = Rc::clone(constructor);
        if takes_self(&function, self.lang) {
            values = self.by_name(&function, given, 1).unwrap_or(values);
            values.insert(0, this.clone());
        }
        let closure = Closure { function, scope: Rc::default(), this: Some(this.clone()) };
        self.enter(&closure, &values);
        let path = this.path.clone();
        Some(Value { path, ..self.left.take().unwrap_or(this) })
    }

    /// Functions that are given to others are called by them. What they return together.
    pub(super) fn callbacks(&mut self, path: &str, given: &Given<'_>, name: &str) -> Option<Value> {
        if !given.args.iter().any(|(_, value)| value.function.is_some()) {
            return None;
        }
        let params = self.tables.models.callbacks.first(path).cloned();
        let mut returned: Option<Value> = None;
        for (at, (_, value)) in given.args.iter().enumerate() {
            let Some(closure) = &value.function else { continue };
            if closure.function.params.is_empty() && closure.function.body.is_empty() {
                continue;
            }
            let args: Vec<Value> = match &params {
                Some(paths) => paths.iter().map(|path| Value::at(path)).collect(),
                None if names::iterates(name)
                    && (given.this.path.is_some() || given.this.items.is_some()) =>
                {
                    vec![element(&given.this)]
                }
                // `submit(f, x)`, `setTimeout(f, 10, x)`, `map(f, xs)`
                None => given.args[at + 1..]
                    .iter()
                    .skip(usize::from(matches!(name, "setTimeout" | "setInterval")))
                    .map(|(_, value)| match value.any_taint() {
                        Some(_) => element(value),
                        None => Value::default(),
                    })
                    .collect(),
            };
            let args = self.with_sources(&args, closure.function.span);
            let result = self.run_closure(&Rc::clone(closure), &args);
            returned = Some(match returned {
                Some(known) => known.join(&result),
                None => result,
            });
        }
        returned
    }

    /// `submit(os.system, x)` and `Thread(target=os.system, args=(x,))` call what they are given.
    pub(super) fn check_handed(&mut self, given: &Given<'_>, name: &str, span: Span) {
        if !names::runs_later(name) {
            return;
        }
        let named = |wanted: &str| {
            given.args.iter().find(|(name, _)| name.as_deref() == Some(wanted)).map(|(_, v)| v)
        };
        let mut calls: Vec<(Rc<str>, Vec<Value>)> = Vec::new();
        if let Some(path) = named("target").and_then(|target| target.path.clone()) {
            let list = named("args").and_then(|args| args.items.as_ref());
            calls.push((path, list.map_or_else(Vec::new, |l| l.known.values().cloned().collect())));
        }
        for (at, (_, value)) in given.args.iter().enumerate() {
            if let (Some(path), None, None) = (&value.path, &value.taint, &value.function) {
                let rest = given.args[at + 1..].iter().map(|(_, value)| value.clone()).collect();
                calls.push((Rc::clone(path), rest));
            }
        }
        for (path, values) in calls {
            if values.iter().any(|value| value.any_taint().is_some()) {
                let texts = vec![""; values.len()];
                let args = values.into_iter().map(|value| (None, value)).collect();
                self.check_call(&path, &Given { this: Value::default(), args, texts }, span);
            }
        }
    }

    fn with_sources(&self, args: &[Value], span: Span) -> Vec<Value> {
        args.iter()
            .map(|value| {
                let taint = value
                    .taint
                    .clone()
                    .or_else(|| value.path.as_ref().and_then(|path| self.source_at(path, span)));
                Value { taint, ..value.clone() }
            })
            .collect()
    }
}

/// What an argument can do no more after a function looked at it and went on.
fn checked(before: &Value, after: &Value) -> Option<Harms> {
    let (before, after) = (before.taint.as_ref()?, after.taint.as_ref()?);
    let clean = after.clean & !before.clean;
    (clean != 0 && Rc::ptr_eq(&before.source, &after.source)).then_some(clean)
}

/// Whether the object is the first parameter of its methods.
fn takes_self(function: &Function, lang: Lang) -> bool {
    lang == Lang::Python && function.params.first().is_some_and(|first| &*first.name == "self")
}

/// The value of a call that hands on what a callback returns.
pub(super) fn mapped(name: &str, returned: Option<Value>) -> Option<Value> {
    let value = returned.filter(|_| names::maps(name))?;
    if name == "then" {
        return Some(value);
    }
    Some(Value::tainted(value.any_taint()))
}
