//! Runs the functions of a file with what is known about their values.

use std::collections::HashMap;
use std::rc::Rc;

use quorum_syntax::Lang;

use super::exec::Flow;
use super::fuel::Fuel;
use super::ir::{Function, Module, Param, Span};
use super::memo::{self, Followed, Memo, Outcome};
use super::model::{ParamModel, SourceModel};
use super::scope::Scope;
use super::sink::Hit;
use super::tables::Tables;
use super::value::{Closure, Items, Marks, NUMBER, Origin, Taint, Value};
use crate::rule::Matching;

/// How deep calls are followed.
pub(super) const CALLS: usize = 6;

/// The state of running one file.
pub(super) struct Machine<'a> {
    pub(super) module: &'a Module,
    pub(super) tables: &'a Tables,
    pub(super) text: &'a str,
    pub(super) lang: Lang,
    pub(super) functions: HashMap<Rc<str>, Rc<Function>>,
    pub(super) methods: HashMap<Rc<str>, Vec<Rc<Function>>>,
    pub(super) globals: Rc<Scope>,
    pub(super) scope: Rc<Scope>,
    pub(super) returned: Vec<Value>,
    /// What is known where the loop or switch that is running was left early.
    pub(super) exits: Option<Rc<Scope>>,
    pub(super) stack: Vec<Rc<Function>>,
    /// What the value that is being computed is going to be called.
    pub(super) wanted: Option<Rc<str>>,
    /// How many loops stand around what is running.
    pub(super) loops: usize,
    /// Marks of the result of the call that is running.
    pub(super) marks: Marks,
    /// The object of the method that was run last, as the method left it.
    pub(super) left: Option<Value>,
    /// Its parameters, as it left them.
    pub(super) left_args: Vec<Value>,
    /// Whether it can only have gone on to its end: it returned nothing before.
    pub(super) left_at_end: bool,
    /// Where the fields of the struct that is being made stand.
    pub(super) field_spans: Vec<(Rc<str>, Span)>,
    fields: HashMap<Rc<str>, Value>,
    /// How many conditions around the one that is assumed leave open which side of them holds.
    pub(super) doubts: usize,
    /// How many objects were made.
    objects: u32,
    /// Regular expressions that were looked at, and whether they can take long.
    pub(super) slow: HashMap<(Rc<str>, Matching), bool>,
    pub(super) fuel: Fuel,
    pub(super) hits: Vec<Hit>,
    /// Where hits of a rule on a row are in the list.
    pub(super) hits_at: HashMap<(u32, usize), usize>,
    /// Whether the file as a whole is one that a call rule speaks about.
    pub(super) concerns: HashMap<usize, bool>,
    /// Whether a function is one that a call rule speaks about, by rule and function.
    pub(super) stands: HashMap<(usize, Option<usize>), bool>,
    /// Where each class of the file is in the list of them.
    pub(super) classes: HashMap<Rc<str>, Vec<usize>>,
    /// What functions return when nothing is known about their arguments, and what they leave in
    /// them.
    plain: HashMap<usize, (Value, Vec<Value>)>,
    /// What other calls came to.
    memo: Memo,
}

impl<'a> Machine<'a> {
    pub(super) fn new(module: &'a Module, tables: &'a Tables, text: &'a str, lang: Lang) -> Self {
        let mut functions = HashMap::new();
        let mut methods: HashMap<Rc<str>, Vec<Rc<Function>>> = HashMap::new();
        for function in &module.functions {
            if function.class.is_some() {
                methods.entry(Rc::clone(&function.name)).or_default().push(Rc::clone(function));
                continue;
            }
            functions.entry(Rc::clone(&function.name)).or_insert_with(|| Rc::clone(function));
        }
        for class in &module.classes {
            for method in &class.methods {
                methods.entry(Rc::clone(&method.name)).or_default().push(Rc::clone(method));
            }
        }
        let mut classes: HashMap<Rc<str>, Vec<usize>> = HashMap::new();
        for (at, class) in module.classes.iter().enumerate() {
            classes.entry(Rc::clone(&class.name)).or_default().push(at);
        }
        Self {
            module,
            tables,
            text,
            lang,
            functions,
            methods,
            globals: Rc::default(),
            scope: Rc::default(),
            returned: Vec::new(),
            exits: None,
            stack: Vec::new(),
            wanted: None,
            loops: 0,
            marks: 0,
            left: None,
            left_args: Vec::new(),
            left_at_end: false,
            field_spans: Vec::new(),
            fields: HashMap::new(),
            doubts: 0,
            objects: 0,
            slow: HashMap::new(),
            fuel: Fuel::new(text.len()),
            hits: Vec::new(),
            hits_at: HashMap::new(),
            concerns: HashMap::new(),
            stands: HashMap::new(),
            classes,
            plain: HashMap::new(),
            memo: Memo::default(),
        }
    }

    /// Takes one step; false when there is no more fuel.
    pub(super) fn tick(&mut self) -> bool {
        self.fuel.take(1)
    }

    /// Pays for work that is more than a step.
    pub(super) fn charge(&mut self, steps: usize) {
        self.fuel.take(steps as u64);
    }

    /// Goes one level down; false where that is too deep. Every level needs stack.
    pub(super) fn descend(&mut self) -> bool {
        self.fuel.descend()
    }

    pub(super) fn ascend(&mut self) {
        self.fuel.ascend();
    }

    /// A name for an object that is made here.
    pub(super) fn new_identity(&mut self) -> u32 {
        self.objects = self.objects.wrapping_add(1);
        self.objects
    }

    /// Runs everything: what stands outside functions first, then each function by itself.
    pub(super) fn run(&mut self) {
        let module = self.module;
        for statement in &module.top {
            self.fuel.begin(statement.span());
            let flow = if self.tick() { self.exec(statement) } else { Flow::Next };
            self.fuel.end();
            if flow != Flow::Next {
                break;
            }
        }
        self.globals = std::mem::take(&mut self.scope);
        self.returned.clear();
        for class in &module.classes {
            self.fields_of(class);
        }
        for function in &module.functions {
            self.run_alone(function, None);
        }
        for class in &module.classes {
            for method in &class.methods {
                self.run_alone(method, Some(class));
            }
            // What one method stores, another may use.
            if self.fields.get(&class.name).is_some_and(|own| own.any_taint().is_some()) {
                for method in &class.methods {
                    self.run_alone(method, Some(class));
                }
            }
        }
    }

    fn fields_of(&mut self, class: &super::ir::Class) {
        self.scope = Rc::default();
        self.fuel.begin(class.span);
        self.exec_block(&class.fields);
        self.fuel.end();
        let scope = std::mem::take(&mut self.scope);
        self.returned.clear();
        let mut items = Items::default();
        scope.each(&mut |name, value| {
            let mut value = value.clone();
            if self.module.assigned.contains(name) && self.lang == Lang::Java {
                // It starts as a constant, but does not stay one.
                value.constant = None;
            }
            items.known.insert(super::value::Key::Text(Rc::clone(name)), value);
        });
        let own = Value {
            path: Some(self.class_path(class)),
            items: Some(Rc::new(items)),
            ..Value::default()
        };
        self.fields.insert(Rc::clone(&class.name), own);
    }

    /// What objects of a class are called: with the class that it is derived from, whose methods
    /// they have as well.
    fn class_path(&self, class: &super::ir::Class) -> Rc<str> {
        if self.lang != Lang::Python {
            return Rc::clone(&class.name);
        }
        let base = class.bases.first().and_then(|bases| {
            let first = bases.trim_start_matches('(').split([',', ')', '(', '[', '=']).next()?;
            first.trim().rsplit('.').next().filter(|base| !base.is_empty())
        });
        match base {
            Some(base) if base != "object" => Rc::from(format!("{base}.{}", class.name)),
            _ => Rc::clone(&class.name),
        }
    }

    /// Runs a function as somebody outside the file would call it.
    fn run_alone(&mut self, function: &Rc<Function>, class: Option<&super::ir::Class>) {
        self.fuel.begin(function.span);
        self.memo.restart();
        let mut scope = Scope::default();
        for (position, param) in function.params.iter().enumerate() {
            let value = self.outside_value(function, class, position, param);
            self.scope = Rc::new(std::mem::take(&mut scope));
            self.assign(&param.target, value, param.span);
            scope = Rc::unwrap_or_clone(std::mem::take(&mut self.scope));
        }
        if let Some(class) = class {
            let this = self.fields.get(&class.name).cloned().unwrap_or_default();
            scope.insert(&Rc::from("this"), this.clone());
            scope.insert(&Rc::from("self"), this);
        }
        self.scope = Rc::new(scope);
        self.stack.push(Rc::clone(function));
        self.exec_block(&function.body);
        self.returned_from(function);
        self.stack.pop();
        self.fuel.end();
        let scope = std::mem::take(&mut self.scope);
        self.returned.clear();
        if let Some(class) = class {
            for name in ["this", "self"] {
                if let (Some(now), Some(before)) = (scope.get(name), self.fields.get(&class.name)) {
                    let joined = super::mark::joined(before, now);
                    if !memo::same(before, &joined, memo::DEEP, &mut 0) {
                        self.memo.forget();
                    }
                    self.fields.insert(Rc::clone(&class.name), joined);
                }
            }
        }
    }

    /// What a parameter is when the caller is not known.
    pub(super) fn outside_value(
        &self,
        function: &Function,
        class: Option<&super::ir::Class>,
        position: usize,
        param: &Param,
    ) -> Value {
        let path = match &param.ty {
            Some(ty) if self.is_number(ty) => Rc::from(NUMBER),
            // An array that is made here has its type as its path; this one is somebody's.
            Some(ty) if &**ty == "byte[]" => Rc::clone(&param.name),
            Some(ty) if !matches!(&**ty, "char" | "int" | "wchar_t" | "unsigned") => {
                self.resolve_type(ty)
            }
            _ => Rc::clone(&param.name),
        };
        let mut value = Value { path: Some(path), ..Value::default() };
        let skip = usize::from(function.params.first().is_some_and(|first| &*first.name == "self"));
        let position = position.wrapping_sub(skip);
        let resolved = param.ty.as_ref().map(|ty| self.resolve_type(ty)).unwrap_or_default();
        for model in &self.tables.models.params {
            if fits(model, function, class, position, param, &resolved)
                && (!model.offered || self.is_offered(function))
            {
                if let Some(is) = &model.is {
                    value.path = Some(Rc::from(is.as_str()));
                }
                if let Some(source) = &model.source
                    && !route_makes_number(function, &param.name)
                {
                    value.taint = Some(origin(source, param.span));
                }
                return value;
            }
        }
        value
    }

    /// Whether a method is there for others to call.
    fn is_offered(&self, function: &Function) -> bool {
        // What a setter is given is a setting.
        !function.hidden
            && !function.name.starts_with("set")
            && !self.module.called.contains(&function.name)
            && function.class.as_ref().is_some_and(|class| *class != function.name)
    }

    /// Whether values of a type are numbers or flags.
    fn is_number(&self, ty: &str) -> bool {
        !matches!(self.lang, Lang::C | Lang::Cpp) && super::names::is_number_type(ty)
    }

    /// Whether a path is what a call is known to return: that says more than a declared type.
    pub(super) fn is_exact(&self, path: &str) -> bool {
        self.tables.models.returned_types.contains(path)
    }

    /// Whether a path is a class of this file: an object of it has its methods, whatever
    /// interface the variable is declared as.
    pub(super) fn is_own_class(&self, path: &str) -> bool {
        self.classes.contains_key(path)
    }

    /// The full path of a type that is written in this file.
    pub(super) fn resolve_type(&self, ty: &Rc<str>) -> Rc<str> {
        if &**ty == "Function" && self.lang != Lang::Java {
            // Any function at all, not the constructor of that name.
            return Rc::from("function");
        }
        let (first, rest) = ty.split_once('.').map_or((&**ty, None), |(a, b)| (a, Some(b)));
        match (self.module.imports.get(first), rest) {
            (Some(path), Some(rest)) => Rc::from(format!("{path}.{rest}")),
            (Some(path), None) => Rc::clone(path),
            (None, _) => Rc::clone(ty),
        }
    }

    /// Runs a function with these arguments and returns its value.
    pub(super) fn enter(&mut self, closure: &Closure, args: &[Value]) -> Value {
        let function = &closure.function;
        self.left = None;
        self.left_args.clear();
        self.left_at_end = false;
        let runs = self.stack.iter().any(|running| running.id == function.id);
        let too_deep = self.stack.len() >= CALLS;
        if too_deep || runs || !self.tick() {
            self.memo.is_cut(function.id, self.stack.len());
            let taint = args.iter().fold(None, |worst, arg| {
                Taint::worse(Option::as_ref(&worst), arg.any_taint().as_ref())
            });
            return Value::tainted(taint.map(|taint| taint.doubted(0.5)));
        }
        let dull = closure.scope.is_empty()
            && closure.this.is_none()
            && args.iter().all(|arg| {
                arg.constant.is_none()
                    && arg.items.is_none()
                    && arg.function.is_none()
                    && arg.any_taint().is_none()
                    && arg.marks == 0
            });
        if dull && let Some((known, left)) = self.plain.get(&function.id) {
            self.left_args.clone_from(left);
            return known.clone();
        }
        let stack: Vec<usize> = self.stack.iter().map(|running| running.id).collect();
        let (this, in_loop) = (closure.this.as_ref(), self.loops > 0);
        let followed = Followed { function: function.id, this, args, stack: &stack, in_loop };
        // A function that sees variables of another one depends on them too.
        let own = closure.scope.is_empty();
        if own {
            let (known, work) = self.memo.recall(followed);
            self.charge(work / 8);
            if let Some(outcome) = known {
                self.left = outcome.left;
                self.left_args = outcome.left_args;
                self.left_at_end = outcome.left_at_end;
                return outcome.value;
            }
        }
        let begun = self.memo.begin();
        let outer = std::mem::replace(&mut self.scope, Rc::clone(&closure.scope));
        let returned = std::mem::take(&mut self.returned);
        let wanted = self.wanted.take();
        self.bind(function, args);
        if let Some(this) = &closure.this {
            let scope = Rc::make_mut(&mut self.scope);
            scope.insert(&Rc::from("this"), this.clone());
            scope.insert(&Rc::from("self"), this.clone());
        }
        self.stack.push(Rc::clone(function));
        self.exec_block(&function.body);
        self.stack.pop();
        self.left = closure.this.as_ref().and_then(|_| self.scope.get(self.own_name()).cloned());
        let left = function.params.iter().map(|param| self.scope.get(&param.name).cloned());
        self.left_args = left.map(Option::unwrap_or_default).collect();
        let inner = std::mem::replace(&mut self.scope, outer);
        self.keep_captured(closure, &inner);
        self.wanted = wanted;
        let all = std::mem::replace(&mut self.returned, returned);
        self.left_at_end = all.is_empty();
        let value = all.into_iter().reduce(|a, b| a.join(&b)).unwrap_or_default();
        // What was cut short for lack of fuel says nothing about other calls.
        let whole = !self.fuel.is_dry();
        if dull && whole {
            self.plain.insert(function.id, (value.clone(), self.left_args.clone()));
        }
        let outcome = (own && whole).then(|| Outcome {
            value: value.clone(),
            left: self.left.clone(),
            left_args: self.left_args.clone(),
            left_at_end: self.left_at_end,
        });
        self.memo.end(begun, followed, outcome);
        value
    }

    /// Gives the parameters of a function the values of a call.
    fn bind(&mut self, function: &Function, args: &[Value]) {
        for (position, param) in function.params.iter().enumerate() {
            if param.rest && self.takes_rest(args, position) {
                let rest = args.get(position..).unwrap_or_default();
                self.assign(&param.target, list_of(rest), param.span);
                continue;
            }
            let mut value = match (args.get(position), &param.default) {
                (Some(given), _) => given.clone(),
                (None, Some(default)) => self.eval(default),
                (None, None) => Value::at(&param.name),
            };
            if value.path.is_none() || param.ty.is_some() {
                value.path = Some(match &param.ty {
                    Some(ty) if self.is_number(ty) && value.taint.is_none() => Rc::from(NUMBER),
                    Some(ty)
                        if value.path.as_ref().is_some_and(|path| {
                            self.is_exact(path) || super::names::says_little(ty)
                        }) =>
                    {
                        value.path.take().unwrap_or_default()
                    }
                    Some(ty) => self.resolve_type(ty),
                    None => Rc::clone(&param.name),
                });
            }
            if let Some(taint) = &value.taint {
                let note = format!("passed to `{}` as `{}`", function.name, param.name);
                value.taint = Some(taint.step(param.span, &note));
            }
            self.assign(&param.target, value, param.span);
        }
    }

    /// Whether the last arguments have to be put into a list: one list alone is it already.
    fn takes_rest(&self, args: &[Value], position: usize) -> bool {
        let only = args.len() == position + 1;
        let is_list = |value: &Value| {
            value.items.is_some() || value.path.as_deref().is_some_and(|path| path.ends_with("[]"))
        };
        let spread = matches!(self.lang, Lang::Java | Lang::Kotlin | Lang::Go);
        !(spread && only && args.get(position).is_some_and(is_list))
    }

    /// What a function stores in variables of the function around it stays there:
    /// `let all = ""; stream.on("data", part => { all += part; })`
    fn keep_captured(&mut self, closure: &Closure, inner: &Scope) {
        if !matches!(self.lang, Lang::JavaScript | Lang::TypeScript | Lang::Tsx | Lang::Java) {
            return;
        }
        let own = &closure.function;
        let mut stored = Vec::new();
        closure.scope.differing(inner, &mut |name, before, after| {
            if after.is_same(before)
                || after.any_taint().is_none()
                || before.any_taint().is_some()
                || own.locals.contains(name)
                || own.params.iter().any(|param| param.target.binds(name))
            {
                return;
            }
            if let Some(now) = self.scope.get(name) {
                stored.push((Rc::clone(name), Value { path: now.path.clone(), ..now.join(after) }));
            }
        });
        for (name, value) in stored {
            self.set(&name, value);
        }
    }

    /// What methods call the object that they belong to.
    pub(super) fn own_name(&self) -> &'static str {
        if self.lang == Lang::Python { "self" } else { "this" }
    }

    /// What is known about every object of a class of this file.
    pub(super) fn fields_of_class(&self, name: &str) -> Option<Value> {
        self.fields.get(name).cloned()
    }

    /// The taint of a source.
    pub(super) fn source_at(&self, path: &str, span: Span) -> Option<Rc<Taint>> {
        self.tables.models.sources.first(path).map(|source| origin(source, span))
    }

    pub(super) fn into_hits(mut self) -> Vec<Hit> {
        self.hits.sort_by_key(|hit| (hit.span, hit.call));
        self.hits
    }
}

fn list_of(values: &[Value]) -> Value {
    let known = (0..).map(super::value::Key::Int).zip(values.iter().cloned()).collect();
    Value { items: Some(Rc::new(Items { known, list: true })), ..Value::default() }
}

/// Whether the route says that a part of it is a number: `<int:id>`.
fn route_makes_number(function: &Function, name: &str) -> bool {
    function.annotations.iter().any(|route| {
        ["int", "float", "uuid"].iter().any(|kind| route.contains(&format!("<{kind}:{name}>")))
    })
}

/// A value that comes in here.
pub(super) fn origin(source: &SourceModel, span: Span) -> Rc<Taint> {
    Rc::new(Taint {
        source: Rc::new(Origin { span, note: Rc::from(&*source.note), strength: source.strength }),
        clean: source.clean,
        certainty: 1.0,
        last: None,
    })
}

fn fits(
    model: &ParamModel,
    function: &Function,
    class: Option<&super::ir::Class>,
    position: usize,
    param: &Param,
    resolved: &str,
) -> bool {
    let any = |regex: &crate::pattern::Expression, texts: &[Rc<str>]| {
        texts.iter().any(|text| regex.is_match(text))
    };
    let none: &[Rc<str>] = &[];
    let ty = param.ty.as_deref().unwrap_or_default();
    model.position.is_none_or(|wanted| wanted == position)
        && model.name.as_ref().is_none_or(|regex| regex.is_match(&param.name))
        && model.not_name.as_ref().is_none_or(|regex| !regex.is_match(&param.name))
        && model.ty.as_ref().is_none_or(|regex| regex.is_match(ty) || regex.is_match(resolved))
        && model.not_type.as_ref().is_none_or(|regex| !regex.is_match(ty))
        && model.annotation.as_ref().is_none_or(|regex| any(regex, &param.annotations))
        && model.function.as_ref().is_none_or(|regex| regex.is_match(&function.name))
        && model.function_annotation.as_ref().is_none_or(|regex| any(regex, &function.annotations))
        && model
            .class_annotation
            .as_ref()
            .is_none_or(|regex| any(regex, class.map_or(none, |class| &class.annotations)))
        && model
            .base
            .as_ref()
            .is_none_or(|regex| any(regex, class.map_or(none, |class| &class.bases)))
}
