//! Statements.

use std::rc::Rc;

use super::ir::{Const, Expr, ExprKind, Span, Stmt, SwitchCase, Target};
use super::machine::Machine;
use super::scope::{Scope, join_scopes};
use super::value::{Closure, Items, Key, Taint, Value};

/// How a statement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    /// The function is left, by a return or an error.
    Leave,
}

/// The case of a switch that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    Case(usize),
    /// No case fits, and there is no default.
    Nothing,
    Unknown,
}

impl Machine<'_> {
    pub(super) fn exec_block(&mut self, block: &[Stmt]) -> Flow {
        if !self.descend() {
            return Flow::Next;
        }
        let flow = self.exec_all(block);
        self.ascend();
        flow
    }

    fn exec_all(&mut self, block: &[Stmt]) -> Flow {
        for statement in block {
            if let Stmt::Function(function) = statement
                && !self.stack.is_empty()
            {
                let scope = Rc::clone(&self.scope);
                let closure = Closure { function: Rc::clone(function), scope, this: None };
                let value = Value { function: Some(Rc::new(closure)), ..Value::default() };
                self.set(&function.name, value);
            }
        }
        for statement in block {
            if !self.tick() {
                return Flow::Next;
            }
            let flow = self.exec(statement);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    pub(super) fn exec(&mut self, statement: &Stmt) -> Flow {
        match statement {
            Stmt::Expr(expr) => {
                self.eval(expr);
                if Self::never_returns(expr) { Flow::Leave } else { Flow::Next }
            }
            Stmt::If(condition, yes, no) => self.branch(condition, yes, no),
            Stmt::Loop { condition, body, step, first } => {
                self.with_exits(|machine| machine.turn(condition.as_ref(), body, step, *first))
            }
            Stmt::ForEach { target, keyed, over, body } => {
                self.with_exits(|machine| machine.each(target, *keyed, over, body))
            }
            Stmt::Switch { subject, cases } => {
                self.with_exits(|machine| machine.switch(subject.as_ref(), cases))
            }
            Stmt::Return(value) => {
                let mut known = value.as_ref().map(|value| self.eval(value)).unwrap_or_default();
                if let (Some(taint), Some(value)) = (&known.taint, value) {
                    known.taint = Some(taint.step(value.span, "returned"));
                }
                self.returned.push(known);
                Flow::Leave
            }
            Stmt::Throw(value) => {
                if let Some(value) = value {
                    self.eval(value);
                }
                Flow::Leave
            }
            Stmt::Break => {
                self.leave_early();
                Flow::Break
            }
            Stmt::Continue => {
                self.leave_early();
                Flow::Continue
            }
            Stmt::Block(block) => self.exec_block(block),
            Stmt::Try { body, handlers, last } => self.attempt(body, handlers, last),
            Stmt::Function(_) => Flow::Next,
        }
    }

    /// Keeps what is known where a turn of a loop or a case ends before its last statement.
    fn leave_early(&mut self) {
        let now = Rc::clone(&self.scope);
        self.exits = Some(
            self.exits.take().map_or(now, |known| join_scopes(&mut self.fuel, &known, &self.scope)),
        );
    }

    /// Runs a loop or a switch; what is known after it may come from any of its ends.
    fn with_exits(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let outer = self.exits.take();
        let flow = run(self);
        if let Some(exits) = std::mem::replace(&mut self.exits, outer) {
            self.scope = join_scopes(&mut self.fuel, &self.scope, &exits);
        }
        flow
    }

    /// `panic`, `exit` and their like.
    fn never_returns(expr: &Expr) -> bool {
        let ExprKind::Call(call) = &expr.kind else { return false };
        match &call.callee.kind {
            ExprKind::Name(name) => {
                matches!(&**name, "panic" | "exit" | "die" | "abort" | "halt" | "raise")
            }
            ExprKind::Field(object, name) => {
                let os = matches!(&object.kind, ExprKind::Name(root) if matches!(&**root, "os" | "sys" | "process" | "System" | "log"));
                os && matches!(&**name, "Exit" | "exit" | "Fatal" | "Fatalf" | "Fatalln")
            }
            _ => false,
        }
    }

    fn branch(&mut self, condition: &Expr, yes: &[Stmt], no: &[Stmt]) -> Flow {
        let known = self.eval(condition);
        match truth(&known) {
            Some(true) => return self.exec_block(yes),
            Some(false) => return self.exec_block(no),
            None => {}
        }
        let before = Rc::clone(&self.scope);
        self.assume(condition, true);
        let first = self.exec_block(yes);
        let after = std::mem::replace(&mut self.scope, before);
        self.assume(condition, false);
        let second = self.exec_block(no);
        match (first, second) {
            (Flow::Next, Flow::Next) => {
                self.scope = join_scopes(&mut self.fuel, &after, &self.scope);
            }
            (Flow::Next, _) => self.scope = after,
            (_, Flow::Next) => {}
            (first, second) if first == second => {
                self.scope = join_scopes(&mut self.fuel, &after, &self.scope);
                return first;
            }
            _ => {
                self.scope = join_scopes(&mut self.fuel, &after, &self.scope);
                return Flow::Continue;
            }
        }
        Flow::Next
    }

    fn turn(
        &mut self,
        condition: Option<&Expr>,
        body: &[Stmt],
        step: &[Stmt],
        first: bool,
    ) -> Flow {
        if let Some(condition) = condition {
            let known = self.eval(condition);
            if !first && truth(&known) == Some(false) {
                return Flow::Next;
            }
        }
        for _ in 0..self.turns() {
            let before = Rc::clone(&self.scope);
            if let Some(condition) = condition {
                self.assume(condition, true);
            }
            self.loops += 1;
            let flow = self.exec_block(body);
            self.loops -= 1;
            if flow != Flow::Leave {
                self.exec_block(step);
            }
            if let Some(condition) = condition {
                self.eval(condition);
            }
            self.scope = match flow {
                Flow::Leave => before,
                _ if first => Rc::clone(&self.scope),
                _ => join_scopes(&mut self.fuel, &before, &self.scope),
            };
            if flow == Flow::Leave || !self.tick() {
                break;
            }
        }
        if let Some(condition) = condition {
            self.assume(condition, false);
        }
        Flow::Next
    }

    fn each(&mut self, target: &Target, keyed: bool, over: &Expr, body: &[Stmt]) -> Flow {
        let container = self.eval(over);
        let element = element(&container);
        for _ in 0..self.turns() {
            let before = Rc::clone(&self.scope);
            match target {
                Target::Tuple(parts) if keyed => {
                    if let [key, ..] = parts.as_slice() {
                        let from_outside = container.taint.clone();
                        self.assign(key, Value::tainted(from_outside), over.span);
                    }
                    if let [_, value, ..] = parts.as_slice() {
                        self.assign(value, element.clone(), over.span);
                    }
                }
                _ => self.assign(target, element.clone(), over.span),
            }
            self.loops += 1;
            let flow = self.exec_block(body);
            self.loops -= 1;
            self.scope = join_scopes(&mut self.fuel, &before, &self.scope);
            if flow == Flow::Leave || !self.tick() {
                break;
            }
        }
        Flow::Next
    }

    /// How often a body is run: twice, so that what one turn leaves reaches the next; inside
    /// another loop once, or the work would double with every level.
    fn turns(&self) -> usize {
        if self.loops == 0 { 2 } else { 1 }
    }

    fn switch(&mut self, subject: Option<&Expr>, cases: &[SwitchCase]) -> Flow {
        let value = subject.map(|subject| self.eval(subject));
        let chosen = value.map_or(Chosen::Unknown, |value| self.chosen(&value, cases));
        let before = Rc::clone(&self.scope);
        let mut after: Option<Rc<Scope>> = None;
        let mut leaves = true;
        let mut has_default = false;
        let start = match chosen {
            Chosen::Case(index) => index..index + 1,
            Chosen::Nothing => 0..0,
            Chosen::Unknown => 0..cases.len(),
        };
        for index in start {
            has_default |= cases[index].labels.is_empty();
            self.scope = Rc::clone(&before);
            if let (Some(subject), [_, ..]) = (subject, cases[index].labels.as_slice())
                && cases[index].labels.iter().all(|label| matches!(label.kind, ExprKind::Const(_)))
            {
                self.clean_name(subject, super::value::ALL_HARMS);
            }
            let mut flow = Flow::Next;
            for (offset, case) in cases[index..].iter().enumerate() {
                flow = self.exec_block(&case.body);
                if flow != Flow::Next || !case.falls || offset > 8 {
                    break;
                }
            }
            if flow != Flow::Leave {
                leaves = false;
                let now = Rc::clone(&self.scope);
                after = Some(
                    after.map_or(now, |known| join_scopes(&mut self.fuel, &known, &self.scope)),
                );
            }
        }
        let certain = matches!(chosen, Chosen::Case(_)) || has_default;
        if !certain {
            leaves = false;
            after = Some(after.map_or_else(
                || Rc::clone(&before),
                |known| join_scopes(&mut self.fuel, &known, &before),
            ));
        }
        self.scope = after.unwrap_or(before);
        if leaves { Flow::Leave } else { Flow::Next }
    }

    /// The case that a constant selects.
    fn chosen(&mut self, value: &Value, cases: &[SwitchCase]) -> Chosen {
        let Some(wanted) = value.constant.clone() else { return Chosen::Unknown };
        let mut default = Chosen::Nothing;
        for (index, case) in cases.iter().enumerate() {
            if case.labels.is_empty() {
                default = Chosen::Case(index);
            }
            for label in &case.labels {
                let Some(label) = self.eval(label).constant else { return Chosen::Unknown };
                if label == wanted {
                    return Chosen::Case(index);
                }
            }
        }
        default
    }

    fn attempt(
        &mut self,
        body: &[Stmt],
        handlers: &[(Option<Rc<str>>, Vec<Stmt>)],
        last: &[Stmt],
    ) -> Flow {
        let before = Rc::clone(&self.scope);
        let mut flow = self.exec_block(body);
        let done = Rc::clone(&self.scope);
        let mut after = if flow == Flow::Next { Some(Rc::clone(&done)) } else { None };
        for (name, handler) in handlers {
            self.scope = join_scopes(&mut self.fuel, &before, &done);
            if let Some(name) = name {
                self.set(name, Value::at("exception"));
            }
            let ended = self.exec_block(handler);
            if ended == Flow::Next {
                let now = Rc::clone(&self.scope);
                after = Some(
                    after.map_or(now, |known| join_scopes(&mut self.fuel, &known, &self.scope)),
                );
                flow = Flow::Next;
            }
        }
        self.scope = after.unwrap_or(done);
        let ended = self.exec_block(last);
        if ended == Flow::Next { flow } else { ended }
    }

    /// Gives a name a value.
    pub(super) fn set(&mut self, name: &Rc<str>, value: Value) {
        Rc::make_mut(&mut self.scope).insert(name, value);
    }

    /// Assigns to anything that can be assigned to.
    pub(super) fn assign(&mut self, target: &Target, value: Value, span: Span) {
        match target {
            Target::Name(name) => self.assign_name(name, value, span),
            Target::Field(object, name) => {
                self.check_target(object, name, &value, span);
                let key = Key::Text(Rc::clone(name));
                self.store(object, Some(key), value, span);
            }
            Target::Index(object, index) => {
                let known = self.eval(index);
                self.check_index_target(object, &known, &value, span);
                let key = known.constant.as_ref().and_then(Key::of);
                self.store(object, key, value, span);
            }
            Target::Tuple(parts) => {
                for (position, part) in parts.iter().enumerate() {
                    let value = self.tuple_part(&value, position);
                    self.assign(part, value, span);
                }
            }
            Target::Object(parts) => {
                for (key, part) in parts {
                    let value = self.member(&value, key, span);
                    self.assign(part, value, span);
                }
            }
            Target::Nothing => {}
        }
    }

    fn tuple_part(&self, value: &Value, position: usize) -> Value {
        let at = i64::try_from(position).ok();
        let known =
            value.items.as_ref().zip(at).and_then(|(items, at)| items.known.get(&Key::Int(at)));
        match known {
            Some(known) => known.clone(),
            // Of several results the first is the value; the others are errors and flags.
            None if position == 0 => Value { items: None, ..value.clone() },
            None if self.lang == quorum_syntax::Lang::Go => {
                let path = value.path.as_ref().map(|path| Rc::from(format!("{path}[{position}]")));
                Value { path, ..Value::default() }
            }
            None => Value { taint: value.taint.clone(), ..Value::default() },
        }
    }

    fn assign_name(&mut self, name: &Rc<str>, mut value: Value, span: Span) {
        if &**name == "_" {
            return;
        }
        self.check_name_target(name, &value, span);
        if let Some(taint) = &value.taint {
            value.taint = Some(taint.step(span, &format!("kept in `{name}`")));
        }
        let is_field = !self.scope.contains_key(name)
            && self
                .scope
                .get("this")
                .and_then(|this| this.items.as_ref())
                .is_some_and(|items| items.known.contains_key(&Key::Text(Rc::clone(name))));
        if is_field {
            let key = Key::Text(Rc::clone(name));
            self.store_in_this(key, value);
        } else {
            self.set(name, value);
        }
    }

    /// Puts a value into a container that a name or a field of a name stands for.
    pub(super) fn store(&mut self, object: &Expr, key: Option<Key>, mut value: Value, span: Span) {
        if let Some(taint) = &value.taint {
            value.taint = Some(taint.step(span, "stored"));
        }
        match &object.kind {
            ExprKind::Name(name) => {
                let mut container = self.lookup(name);
                insert(&mut container, key, value);
                self.update_others(name, &container);
                self.update(name, container);
            }
            ExprKind::Field(outer, field) => {
                let mut container = self.eval(object);
                insert(&mut container, key, value);
                let key = Some(Key::Text(Rc::clone(field)));
                if let ExprKind::Name(name) = &outer.kind {
                    let mut holder = self.lookup(name);
                    insert(&mut holder, key, container);
                    self.update(name, holder);
                }
            }
            ExprKind::Pass(inner) => self.store(inner, key, value, span),
            _ => {}
        }
    }

    /// Other names of an object that is changed under one of them.
    pub(super) fn update_others(&mut self, name: &Rc<str>, value: &Value) {
        let Some(identity) = value.identity else { return };
        for other in self.scope.names_of(identity) {
            if other == *name {
                continue;
            }
            let path = self.scope.get(&other).and_then(|known| known.path.clone());
            self.set(&other, Value { path, ..value.clone() });
        }
    }

    /// Changes a variable or a field of the object that the method belongs to.
    pub(super) fn update(&mut self, name: &Rc<str>, value: Value) {
        if !self.scope.contains_key(name)
            && let Some(this) = self.scope.get("this")
            && this
                .items
                .as_ref()
                .is_some_and(|i| i.known.contains_key(&Key::Text(Rc::clone(name))))
        {
            self.store_in_this(Key::Text(Rc::clone(name)), value);
            return;
        }
        self.set(name, value);
    }

    fn store_in_this(&mut self, key: Key, value: Value) {
        if let Some(mut this) = self.scope.get("this").cloned() {
            insert(&mut this, Some(key), value);
            self.set(&Rc::from("this"), this);
        }
    }
}

/// How many elements are kept apart; of the others only their taint is.
pub(super) const MANY: usize = 1_000;

/// Puts a value under a key; without one, anything in the container may be it.
pub(super) fn insert(container: &mut Value, key: Option<Key>, value: Value) {
    container.constant = None;
    container.settled = false;
    let Some(key) = key else {
        container.taint = Taint::worse(container.taint.as_ref(), value.any_taint().as_ref());
        return;
    };
    let mut items = container.items.as_ref().map_or_else(Items::default, |items| (**items).clone());
    if items.known.len() >= MANY && !items.known.contains_key(&key) {
        container.taint = Taint::worse(container.taint.as_ref(), value.any_taint().as_ref());
        return;
    }
    items.known.insert(key, value);
    container.items = Some(Rc::new(items));
}

/// Whether a condition is known.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value.constant.as_ref()? {
        Const::Bool(yes) => Some(*yes),
        Const::Null => Some(false),
        Const::Int(number) => Some(*number != 0),
        Const::Text(_) => None,
        Const::Pattern(_) => Some(true),
    }
}

/// Any element of a container.
pub(super) fn element(container: &Value) -> Value {
    if let Some(items) = &container.items
        && let Some(joined) = items.known.values().cloned().reduce(|a, b| a.join(&b))
    {
        let taint = Taint::worse(joined.taint.as_ref(), container.taint.as_ref());
        return Value { taint, ..joined };
    }
    Value { taint: container.taint.clone(), path: container.path.clone(), ..Value::default() }
}
