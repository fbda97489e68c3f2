//! What calls came to, so that one with the same values is not followed again.
//!
//! Methods of one class call each other on every way through them. Without this the work grows with
//! the number of ways, not with the number of methods.

use std::collections::HashMap;
use std::rc::Rc;

use super::machine::CALLS;
use super::value::{Items, Value};

/// How many calls of one function are kept.
const KEPT: usize = 8;

/// How far into containers values are compared.
pub(super) const DEEP: usize = 3;

/// What a call came to.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) value: Value,
    /// The object of the method, and the parameters, as the function left them.
    pub(super) left: Option<Value>,
    pub(super) left_args: Vec<Value>,
    pub(super) left_at_end: bool,
}

/// A call that is to be followed, and what is going on around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed<'c> {
    pub(super) function: usize,
    pub(super) this: Option<&'c Value>,
    pub(super) args: &'c [Value],
    /// The functions that are running.
    pub(super) stack: &'c [usize],
    /// Whether a loop is running: then loops take one turn.
    pub(super) in_loop: bool,
}

#[derive(Debug)]
struct Entry {
    this: Option<Value>,
    args: Vec<Value>,
    depth: usize,
    in_loop: bool,
    /// Functions that were not followed because they were running.
    cut: Vec<usize>,
    /// Whether calls were not followed because they were too deep.
    shallow: bool,
    outcome: Outcome,
}

/// Calls that were followed.
#[derive(Debug, Default)]
pub(super) struct Memo {
    entries: HashMap<usize, Vec<Entry>>,
    /// What was not followed since a call began, innermost last.
    cut: Vec<usize>,
    shallow: bool,
}

/// Where a call began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    cut: usize,
    shallow: bool,
}

impl Memo {
    /// What a call with these values came to, if nothing was left out of it that would be followed
    /// now, and how many values were compared.
    pub(super) fn recall(&mut self, call: Followed<'_>) -> (Option<Outcome>, usize) {
        let mut work = 0;
        let known = self.entries.get(&call.function).into_iter().flatten().find(|entry| {
            (call.in_loop || !entry.in_loop)
                && (!entry.shallow || entry.depth <= call.stack.len())
                && entry.cut.iter().all(|id| call.stack.contains(id))
                && entry.args.len() == call.args.len()
                && same_option(entry.this.as_ref(), call.this, &mut work)
                && entry.args.iter().zip(call.args).all(|(a, b)| same(a, b, DEEP, &mut work))
        });
        // What this call was cut off by, the calls around it are too.
        if let Some(entry) = known {
            self.cut.extend(&entry.cut);
            self.shallow |= entry.shallow;
        }
        (known.map(|entry| entry.outcome.clone()), work)
    }

    pub(super) fn begin(&mut self) -> Begun {
        Begun { cut: self.cut.len(), shallow: std::mem::take(&mut self.shallow) }
    }

    /// A call is not followed: it is too deep, or its function is running.
    pub(super) fn is_cut(&mut self, function: usize, depth: usize) {
        if depth >= CALLS {
            self.shallow = true;
        } else {
            self.cut.push(function);
        }
    }

    /// A call that was begun is over, and with `outcome` it is kept.
    pub(super) fn end(&mut self, begun: Begun, call: Followed<'_>, outcome: Option<Outcome>) {
        let mut cut = self.cut.split_off(begun.cut.min(self.cut.len()));
        cut.retain(|id| *id != call.function);
        cut.sort_unstable();
        cut.dedup();
        self.cut.extend(&cut);
        let shallow = self.shallow;
        self.shallow |= begun.shallow;
        let Some(outcome) = outcome else { return };
        let left = outcome.left.iter().chain(&outcome.left_args).chain([&outcome.value]);
        let given = |identity: u32| {
            call.this.into_iter().chain(call.args).any(|value| value.identity == Some(identity))
        };
        // Every call makes objects of its own.
        let makes = left.filter_map(|value| value.identity).any(|identity| !given(identity));
        let entries = self.entries.entry(call.function).or_default();
        if !makes && entries.len() < KEPT {
            entries.push(Entry {
                this: call.this.cloned(),
                args: call.args.to_vec(),
                depth: call.stack.len(),
                in_loop: call.in_loop,
                cut,
                shallow,
                outcome,
            });
        }
    }

    /// Nothing is running: what was cut off before concerns nobody.
    pub(super) fn restart(&mut self) {
        self.cut.clear();
        self.shallow = false;
    }

    /// What is known about the classes of the file has changed.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
    }
}

fn same_option(a: Option<&Value>, b: Option<&Value>, work: &mut usize) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b, DEEP, work),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Whether the same is known about two values.
pub(super) fn same(a: &Value, b: &Value, depth: usize, work: &mut usize) -> bool {
    *work += 1;
    a.constant == b.constant
        && a.settled == b.settled
        && a.marks == b.marks
        && a.identity == b.identity
        && a.prefix == b.prefix
        && a.path == b.path
        && same_rc(a.taint.as_ref(), b.taint.as_ref())
        && same_rc(a.function.as_ref(), b.function.as_ref())
        && same_rc(a.test.as_ref(), b.test.as_ref())
        && (same_rc(a.items.as_ref(), b.items.as_ref())
            || match (&a.items, &b.items) {
                (Some(a), Some(b)) => depth > 0 && same_items(a, b, depth - 1, work),
                _ => false,
            })
}

fn same_items(a: &Items, b: &Items, depth: usize, work: &mut usize) -> bool {
    a.list == b.list
        && a.known.len() == b.known.len()
        && a.known
            .iter()
            .zip(&b.known)
            .all(|((key, value), (other, beside))| key == other && same(value, beside, depth, work))
}

fn same_rc<T>(a: Option<&Rc<T>>, b: Option<&Rc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::ir::Const;

    fn number(number: i64) -> Value {
        Value::constant(Const::Int(number))
    }

    fn call<'c>(args: &'c [Value], stack: &'c [usize]) -> Followed<'c> {
        Followed { function: 1, this: None, args, stack, in_loop: false }
    }

    fn outcome(value: Value) -> Outcome {
        Outcome { value, left: None, left_args: Vec::new(), left_at_end: true }
    }

    fn recalled(memo: &mut Memo, call: Followed<'_>) -> bool {
        memo.recall(call).0.is_some()
    }

    #[test]
    fn a_call_is_recalled_with_the_same_values_alone() {
        let (mut memo, args) = (Memo::default(), [number(1)]);
        let begun = memo.begin();
        memo.end(begun, call(&args, &[9]), Some(outcome(number(2))));
        assert!(recalled(&mut memo, call(&args, &[])));
        assert!(!recalled(&mut memo, call(&[number(3)], &[])));
        assert!(!recalled(&mut memo, Followed { this: Some(&args[0]), ..call(&args, &[]) }));
        assert!(!recalled(&mut memo, Followed { function: 2, ..call(&args, &[]) }));
        memo.forget();
        assert!(!recalled(&mut memo, call(&args, &[])));
    }

    #[test]
    fn what_was_left_out_is_not_left_out_where_it_could_be_followed() {
        // Function 5 was running, so the call of it was not followed.
        let (mut memo, args) = (Memo::default(), [number(1)]);
        let begun = memo.begin();
        memo.is_cut(5, 2);
        memo.end(begun, call(&args, &[5, 9]), Some(outcome(number(2))));
        assert!(!recalled(&mut memo, call(&args, &[9])));
        let outer = memo.begin();
        assert!(recalled(&mut memo, call(&args, &[5])));
        // Nor was it where that call is recalled.
        memo.end(outer, Followed { function: 2, ..call(&args, &[5]) }, Some(outcome(number(2))));
        assert!(!recalled(&mut memo, Followed { function: 2, ..call(&args, &[]) }));

        // A call was too deep.
        let mut memo = Memo::default();
        let begun = memo.begin();
        memo.is_cut(5, CALLS);
        memo.end(begun, call(&args, &[7, 8, 9]), Some(outcome(number(2))));
        assert!(!recalled(&mut memo, call(&args, &[9])));
        assert!(recalled(&mut memo, call(&args, &[6, 7, 8, 9])));
    }

    #[test]
    fn every_call_makes_objects_of_its_own() {
        let (mut memo, args) = (Memo::default(), [number(1)]);
        let object = Value { identity: Some(3), ..Value::default() };
        let begun = memo.begin();
        memo.end(begun, call(&args, &[]), Some(outcome(object.clone())));
        assert!(!recalled(&mut memo, call(&args, &[])));
        let given = [object.clone()];
        let begun = memo.begin();
        memo.end(begun, call(&given, &[]), Some(outcome(object)));
        assert!(recalled(&mut memo, call(&given, &[])), "it was given, not made");
    }

    #[test]
    fn loops_turn_twice_outside_loops() {
        let (mut memo, args) = (Memo::default(), [number(1)]);
        let inside = Followed { in_loop: true, ..call(&args, &[]) };
        let begun = memo.begin();
        memo.end(begun, inside, Some(outcome(number(2))));
        assert!(recalled(&mut memo, inside));
        assert!(!recalled(&mut memo, call(&args, &[])));
    }
}
