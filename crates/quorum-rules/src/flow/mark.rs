//! What was done to an object, such as a parser that was told to refuse entities.

use std::fmt::Write as _;
use std::rc::Rc;

use super::call::Given;
use super::ir::{Call, Expr, ExprKind};
use super::machine::Machine;
use super::value::{Marks, Value};

impl Machine<'_> {
    /// Remembers what a call does to its receiver, and what its result inherits.
    pub(super) fn mark(&mut self, path: &str, call: &Call, given: &Given<'_>) {
        let mut inherited = given.this.marks;
        if call.new {
            inherited |= given.args.iter().fold(0, |all, (_, value)| all | value.marks);
        }
        let said = described(given);
        let own = self.tables.models.marks.find(path).fold(0, |all, model| {
            let fits = model.args.as_ref().is_none_or(|regex| regex.is_match(&said));
            if fits { all | model.is } else { all }
        });
        if own != 0
            && let ExprKind::Field(object, _) = &call.callee.kind
        {
            let marks = given.this.marks | own;
            self.write_back(object, Value { marks, ..given.this.clone() });
        }
        self.marks |= inherited | own;
    }

    /// The same for an assignment to a field.
    pub(super) fn mark_assigned(
        &mut self,
        path: &str,
        object: &Expr,
        holder: &Value,
        value: &Value,
    ) {
        let said = value.printed().unwrap_or_default();
        let own = self.tables.models.assigned_marks.find(path).fold(0, |all, model| {
            let fits = model.args.as_ref().is_none_or(|regex| regex.is_match(&said));
            if fits { all | model.is } else { all }
        });
        if own != 0 {
            let marks = holder.marks | own;
            self.write_back(object, Value { marks, ..holder.clone() });
        }
    }
}

/// The arguments of a call as text.
fn described(given: &Given<'_>) -> String {
    let mut said = String::new();
    for ((name, value), text) in given.args.iter().zip(&given.texts) {
        if !said.is_empty() {
            said.push_str(", ");
        }
        if let Some(name) = name {
            let _ = write!(said, "{name}=");
        }
        match value.printed() {
            Some(printed) => said.push_str(&printed),
            None => said.push_str(text),
        }
    }
    said
}

/// What is known about an object after one of its methods: any method may have set its fields up.
pub(super) fn joined(before: &Value, now: &Value) -> Value {
    let mut joined = before.join(now);
    let marks = |value: &Value, key| {
        value.items.as_ref().and_then(|items| items.known.get(key)).map_or(0, |own| own.marks)
    };
    if let Some(items) = &mut joined.items {
        let all: Vec<(super::value::Key, Marks)> = items
            .known
            .keys()
            .map(|key| (key.clone(), marks(before, key) | marks(now, key)))
            .filter(|(_, marks)| *marks != 0)
            .collect();
        for (key, marks) in all {
            if let Some(own) = Rc::make_mut(items).known.get_mut(&key) {
                own.marks |= marks;
            }
        }
    }
    joined
}
