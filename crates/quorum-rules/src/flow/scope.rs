//! Variables and their values, in a map that is copied in one step.
//!
//! Every branch, closure and call keeps what was known before it. A map that is copied whole would
//! cost the number of variables each time, so versions share what they have in common: a balanced
//! tree whose nodes are never changed while somebody else holds them. Its shape depends on the names
//! alone, so that two versions differ only where their values do.

use std::cmp::Ordering;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::rc::Rc;
use std::sync::LazyLock;

use super::fuel::Fuel;
use super::value::Value;

/// Nobody can choose names that make the tree deep, because nobody knows the keys of the hash.
static ORDER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

type Link = Option<Rc<Node>>;

/// Variables and their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope(Link);

#[derive(Clone, Debug)]
struct Node {
    name: Rc<str>,
    value: Value,
    /// Above those below it.
    rank: u64,
    count: usize,
    /// How many values below are objects that may have several names.
    objects: usize,
    left: Link,
    right: Link,
}

impl Scope {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn len(&self) -> usize {
        count(&self.0)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let mut at = self.0.as_deref();
        while let Some(node) = at {
            at = match name.cmp(&node.name) {
                Ordering::Less => node.left.as_deref(),
                Ordering::Greater => node.right.as_deref(),
                Ordering::Equal => return Some(&node.value),
            };
        }
        None
    }

    pub(super) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn insert(&mut self, name: &Rc<str>, value: Value) {
        let rank = ORDER.hash_one(&**name);
        let mut value = Some(value);
        insert(&mut self.0, name, &mut value, rank);
    }

    /// Every variable, by name.
    pub(super) fn each<'s>(&'s self, visit: &mut impl FnMut(&'s Rc<str>, &'s Value)) {
        each(&self.0, visit);
    }

    /// The other names of an object.
    pub(super) fn names_of(&self, identity: u32) -> Vec<Rc<str>> {
        let mut found = Vec::new();
        names_of(&self.0, identity, &mut found);
        found
    }

    /// Variables of this scope that another version has too, where one of them was set since.
    pub(super) fn differing<'s>(
        &'s self,
        other: &'s Self,
        visit: &mut impl FnMut(&'s Rc<str>, &'s Value, &'s Value),
    ) {
        differing(&self.0, &other.0, other, visit);
    }

    /// What is known at a place that two ways lead to, and how many values had to be joined.
    pub(super) fn join(&self, other: &Self) -> (Self, usize) {
        let mut work = 0;
        (Self(join(&self.0, &other.0, &mut work)), work)
    }
}

/// What is known at a place that two ways lead to.
pub(super) fn join_scopes(fuel: &mut Fuel, a: &Rc<Scope>, b: &Rc<Scope>) -> Rc<Scope> {
    if Rc::ptr_eq(a, b) {
        return Rc::clone(a);
    }
    let (joined, work) = a.join(b);
    fuel.take(work as u64 / 8);
    Rc::new(joined)
}

fn count(link: &Link) -> usize {
    link.as_ref().map_or(0, |node| node.count)
}

fn objects(link: &Link) -> usize {
    link.as_ref().map_or(0, |node| node.objects)
}

fn tally(node: &mut Node) {
    node.count = 1 + count(&node.left) + count(&node.right);
    let own = usize::from(node.value.identity.is_some());
    node.objects = own + objects(&node.left) + objects(&node.right);
}

fn insert(link: &mut Link, name: &Rc<str>, value: &mut Option<Value>, rank: u64) {
    let Some(known) = link else {
        *link = Some(made(name, value, rank, None, None));
        return;
    };
    let order = name.cmp(&known.name);
    if order == Ordering::Equal {
        let node = Rc::make_mut(known);
        node.value = value.take().unwrap_or_default();
        tally(node);
        return;
    }
    if (rank, &**name) > (known.rank, &*known.name) {
        // It is not below: what has a lower rank cannot be above it.
        let (left, right) = split(link.take(), name);
        *link = Some(made(name, value, rank, left, right));
        return;
    }
    let node = Rc::make_mut(known);
    let side = if order == Ordering::Less { &mut node.left } else { &mut node.right };
    insert(side, name, value, rank);
    tally(node);
}

fn made(name: &Rc<str>, value: &mut Option<Value>, rank: u64, left: Link, right: Link) -> Rc<Node> {
    let value = value.take().unwrap_or_default();
    let name = Rc::clone(name);
    let mut node = Node { name, value, rank, count: 0, objects: 0, left, right };
    tally(&mut node);
    Rc::new(node)
}

/// What stands before a name, and what stands after it; the name itself is dropped.
fn split(link: Link, name: &str) -> (Link, Link) {
    let Some(mut known) = link else { return (None, None) };
    match name.cmp(&known.name) {
        Ordering::Equal => (known.left.clone(), known.right.clone()),
        Ordering::Less => {
            let (left, right) = split(known.left.clone(), name);
            let node = Rc::make_mut(&mut known);
            node.left = right;
            tally(node);
            (left, Some(known))
        }
        Ordering::Greater => {
            let (left, right) = split(known.right.clone(), name);
            let node = Rc::make_mut(&mut known);
            node.right = left;
            tally(node);
            (Some(known), right)
        }
    }
}

fn each<'s>(link: &'s Link, visit: &mut impl FnMut(&'s Rc<str>, &'s Value)) {
    if let Some(node) = link {
        each(&node.left, visit);
        visit(&node.name, &node.value);
        each(&node.right, visit);
    }
}

fn names_of(link: &Link, identity: u32, found: &mut Vec<Rc<str>>) {
    if let Some(node) = link.as_ref().filter(|node| node.objects > 0) {
        names_of(&node.left, identity, found);
        if node.value.identity == Some(identity) {
            found.push(Rc::clone(&node.name));
        }
        names_of(&node.right, identity, found);
    }
}

fn same(a: &Link, b: &Link) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn differing<'s>(
    own: &'s Link,
    beside: &'s Link,
    other: &'s Scope,
    visit: &mut impl FnMut(&'s Rc<str>, &'s Value, &'s Value),
) {
    let Some(node) = own else { return };
    if same(own, beside) {
        return;
    }
    // A name of the other version alone can stand above; below it the trees are alike again.
    let mut beside = beside.as_ref();
    while let Some(above) = beside.filter(|above| above.name != node.name) {
        let below = if node.name < above.name { above.left.as_ref() } else { above.right.as_ref() };
        beside = below;
    }
    if let Some(beside) = beside {
        differing(&node.left, &beside.left, other, visit);
        visit(&node.name, &node.value, &beside.value);
        differing(&node.right, &beside.right, other, visit);
    } else {
        differing(&node.left, &None, other, visit);
        if let Some(value) = other.get(&node.name) {
            visit(&node.name, &node.value, value);
        }
        differing(&node.right, &None, other, visit);
    }
}

fn join(a: &Link, b: &Link, work: &mut usize) -> Link {
    if same(a, b) {
        return a.clone();
    }
    let (Some(first), Some(second)) = (a, b) else { return a.clone().or_else(|| b.clone()) };
    *work += 1;
    let upper = (first.rank, &*first.name) >= (second.rank, &*second.name);
    let top = if upper { first } else { second };
    let other = if upper { b } else { a };
    let (left, right, beside) = if first.name == second.name {
        let below = if upper { second } else { first };
        (below.left.clone(), below.right.clone(), Some(below))
    } else {
        let (left, right) = split(other.clone(), &top.name);
        (left, right, None)
    };
    let (value, left, right) = if upper {
        let value = beside.map_or_else(|| top.value.clone(), |b| top.value.join(&b.value));
        (value, join(&top.left, &left, work), join(&top.right, &right, work))
    } else {
        (top.value.clone(), join(&left, &top.left, work), join(&right, &top.right, work))
    };
    let mut node = Node {
        name: Rc::clone(&top.name),
        value,
        rank: top.rank,
        count: 0,
        objects: 0,
        left,
        right,
    };
    tally(&mut node);
    Some(Rc::new(node))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::flow::ir::Const;

    fn numbers(scope: &Scope) -> BTreeMap<String, Option<i64>> {
        let mut all = BTreeMap::new();
        scope.each(&mut |name, value| {
            let number = match value.constant {
                Some(Const::Int(number)) => Some(number),
                _ => None,
            };
            all.insert(name.to_string(), number);
        });
        all
    }

    fn filled(scope: &Scope, sets: &[(u8, i64)]) -> Scope {
        let mut scope = scope.clone();
        for (name, number) in sets {
            let value = Value::constant(Const::Int(*number));
            scope.insert(&Rc::from(format!("v{name}")), value);
        }
        scope
    }

    proptest! {
        #[test]
        fn it_is_a_map_and_versions_are_joined_by_name(
            first in prop::collection::vec((0_u8..60, 0_i64..3), 0..80),
            one in prop::collection::vec((0_u8..80, 0_i64..3), 0..20),
            other in prop::collection::vec((0_u8..80, 0_i64..3), 0..20),
        ) {
            let before = filled(&Scope::default(), &first);
            let (a, b) = (filled(&before, &one), filled(&before, &other));
            let known = |sets: &[&[(u8, i64)]]| -> BTreeMap<String, Option<i64>> {
                sets.iter().flat_map(|s| s.iter()).map(|(n, v)| (format!("v{n}"), Some(*v))).collect()
            };
            let (left, right) = (known(&[&first, &one]), known(&[&first, &other]));
            prop_assert_eq!(numbers(&a), left.clone());
            prop_assert_eq!(a.len(), left.len());
            prop_assert!(left.keys().all(|name| a.contains_key(name)));
            let mut joined = left.clone();
            for (name, number) in &right {
                let own = *joined.entry(name.clone()).or_insert(*number);
                joined.insert(name.clone(), own.filter(|own| Some(*own) == *number));
            }
            prop_assert_eq!(numbers(&a.join(&b).0), joined);
            let mut changed = BTreeSet::new();
            a.differing(&b, &mut |name, own, beside| {
                if own.constant != beside.constant {
                    changed.insert(name.to_string());
                }
            });
            let expected: BTreeSet<String> = left
                .iter()
                .filter(|(name, own)| right.get(*name).is_some_and(|beside| beside != *own))
                .map(|(name, _)| name.clone())
                .collect();
            prop_assert_eq!(changed, expected);
        }
    }

    #[test]
    fn what_versions_share_is_not_joined_again() {
        let sets: Vec<(u8, i64)> = (0..=255).map(|name| (name, 1)).collect();
        let before = filled(&Scope::default(), &sets);
        let (a, b) = (filled(&before, &[(7, 2)]), filled(&before, &[(9, 3)]));
        let (_, work) = a.join(&b);
        assert!(work < 60, "{work} values were joined for two that differ");
    }
}
