//! Whether an expression can be matched in exponentially many ways.
//!
//! A backtracking engine tries every way in which a text can be read before it gives up. It takes
//! exponential time when one place of the expression can come back to itself in two ways on the same
//! text, and what follows can still fail. The places are the characters of the expression; an edge
//! leads from one to each that can follow it.

use std::collections::{HashMap, HashSet};

use super::parse::{Chars, Expr};
use crate::rule::Matching;

/// More places, edges or steps than these are not looked at.
const PLACES: usize = 300;
const PAIRS: usize = 40_000;
const STEPS: usize = 3000;

/// How often a bounded repeat is written out.
const COPIES: u32 = 4;

/// Whether matching can take exponential time. `whole` is true where the text has to match to its
/// end even without an anchor.
pub(super) fn is_exponential(expr: &Expr, whole: bool) -> bool {
    let mut graph = Graph::default();
    let start = graph.node();
    let Some(end) = graph.build(expr, start) else { return false };
    let end = if whole { graph.after(end, Edge::Test) } else { end };
    graph.accept = Some(end);
    let exponential = graph.search().unwrap_or(false);
    exponential || looks(expr).iter().any(|inner| is_exponential(inner, true))
}

/// Whether matching can take polynomial time, as where two loops after one another can share the
/// same text in many ways. Where a match may begin anywhere, the text before it is such a loop.
pub(super) fn is_polynomial(expr: &Expr, matching: Matching) -> bool {
    let mut graph = Graph::default();
    let start = graph.node();
    let from = match matching {
        Matching::Search => graph.repeat(&Expr::Set(Chars::ALL), 0, None, start),
        Matching::Start | Matching::Whole => Some(start),
    };
    let Some(end) = from.and_then(|from| graph.build(expr, from)) else { return false };
    let end = if matching == Matching::Whole { graph.after(end, Edge::Test) } else { end };
    graph.accept = Some(end);
    graph.shared_loops(start).unwrap_or(false)
}

/// The expressions that only look ahead or behind.
fn looks(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Look(inner) => vec![inner],
        Expr::Sequence(parts) | Expr::Choice(parts) => parts.iter().flat_map(looks).collect(),
        Expr::Repeat { inner, .. } => looks(inner),
        _ => Vec::new(),
    }
}

/// A step that takes no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Free,
    /// Into the body of a loop: without taking text, once is enough.
    Body(usize),
    /// Only where an anchor or a look allows it.
    Test,
}

#[derive(Debug, Default)]
struct Graph {
    edges: Vec<Vec<(Edge, usize)>>,
    /// The node before each character, the characters, the node after.
    places: Vec<(Chars, usize)>,
    /// The place that a node stands before.
    before: HashMap<usize, usize>,
    loops: usize,
    accept: Option<usize>,
}

impl Graph {
    fn node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    fn link(&mut self, from: usize, edge: Edge, to: usize) {
        self.edges[from].push((edge, to));
    }

    fn after(&mut self, from: usize, edge: Edge) -> usize {
        let node = self.node();
        self.link(from, edge, node);
        node
    }

    /// Adds an expression after a node and gives the node after it. None when it is too large.
    fn build(&mut self, expr: &Expr, from: usize) -> Option<usize> {
        match expr {
            Expr::Set(chars) => {
                if self.places.len() >= PLACES {
                    return None;
                }
                let before = self.after(from, Edge::Free);
                let after = self.node();
                self.before.insert(before, self.places.len());
                self.places.push((*chars, after));
                Some(after)
            }
            Expr::Sequence(parts) => parts.iter().try_fold(from, |at, part| self.build(part, at)),
            Expr::Choice(ways) => {
                let end = self.node();
                for way in ways {
                    let start = self.after(from, Edge::Free);
                    let last = self.build(way, start)?;
                    self.link(last, Edge::Free, end);
                }
                Some(end)
            }
            Expr::Start | Expr::End | Expr::Boundary | Expr::Look(_) => {
                Some(self.after(from, Edge::Test))
            }
            Expr::Repeat { inner, min, max } => self.repeat(inner, *min, *max, from),
        }
    }

    fn repeat(&mut self, inner: &Expr, min: u32, max: Option<u32>, from: usize) -> Option<usize> {
        let mut at = from;
        // `x+` is a loop whose body comes first.
        let needed = if max.is_none() { min.saturating_sub(1) } else { min };
        for _ in 0..needed.min(COPIES) {
            at = self.build(inner, at)?;
        }
        let Some(max) = max else {
            let body = self.node();
            let decision = self.node();
            let end = self.node();
            let number = self.loops;
            self.loops += 1;
            if min == 0 {
                self.link(at, Edge::Free, decision);
            } else {
                self.link(at, Edge::Free, body);
            }
            let last = self.build(inner, body)?;
            self.link(last, Edge::Free, decision);
            self.link(decision, Edge::Body(number), body);
            self.link(decision, Edge::Free, end);
            return Some(end);
        };
        let end = self.node();
        for _ in 0..(max - min.min(max)).min(COPIES) {
            self.link(at, Edge::Free, end);
            let start = self.after(at, Edge::Free);
            at = self.build(inner, start)?;
        }
        self.link(at, Edge::Free, end);
        Some(end)
    }

    /// The places that can follow a node, each with the number of ways to it, up to two; and whether
    /// the end can. None when there are too many ways.
    fn following(&self, from: usize) -> Option<(HashMap<usize, usize>, bool)> {
        let mut ways: HashMap<usize, usize> = HashMap::new();
        let mut ends = false;
        let mut steps = 0;
        let mut stack: Vec<(usize, Vec<usize>)> = vec![(from, Vec::new())];
        while let Some((node, used)) = stack.pop() {
            steps += 1;
            if steps > STEPS {
                return None;
            }
            ends |= self.accept == Some(node);
            if let Some(&place) = self.before.get(&node) {
                let count = ways.entry(place).or_default();
                *count = (*count + 1).min(2);
            }
            for &(edge, to) in &self.edges[node] {
                match edge {
                    Edge::Free => stack.push((to, used.clone())),
                    Edge::Body(number) if !used.contains(&number) => {
                        let mut used = used.clone();
                        used.push(number);
                        stack.push((to, used));
                    }
                    Edge::Body(_) | Edge::Test => {}
                }
            }
        }
        Some((ways, ends))
    }

    fn search(&self) -> Option<bool> {
        let mut next: Vec<Vec<(usize, usize)>> = Vec::with_capacity(self.places.len());
        let mut can_stop = Vec::with_capacity(self.places.len());
        for &(_, after) in &self.places {
            let (ways, ends) = self.following(after)?;
            let mut ways: Vec<(usize, usize)> = ways.into_iter().collect();
            ways.sort_unstable();
            next.push(ways);
            can_stop.push(ends);
        }
        let plain: Vec<Vec<usize>> =
            next.iter().map(|ways| ways.iter().map(|(to, _)| *to).collect()).collect();
        let component = components(&plain);
        let double = next.iter().enumerate().any(|(from, ways)| {
            let again =
                |&(to, count): &(usize, usize)| count > 1 && component[from] == component[to];
            !can_stop[from] && ways.iter().any(again)
        });
        if double {
            return Some(true);
        }
        self.pairs(&plain, &component, &can_stop)
    }

    /// Whether a loop over single characters leads to another one through text that both can read,
    /// and what follows can still fail.
    fn shared_loops(&self, start: usize) -> Option<bool> {
        let mut next: Vec<Vec<usize>> = Vec::with_capacity(self.places.len());
        let mut can_stop = Vec::with_capacity(self.places.len());
        for &(_, after) in &self.places {
            let (ways, ends) = self.following(after)?;
            let mut ways: Vec<usize> = ways.into_keys().collect();
            ways.sort_unstable();
            next.push(ways);
            can_stop.push(ends);
        }
        let (first, ends) = self.following(start)?;
        if ends {
            return Some(false);
        }
        let first: Vec<usize> = first.into_keys().collect();
        let loops: Vec<usize> =
            (0..next.len()).filter(|&place| next[place].contains(&place)).collect();
        let mut pairs = 0;
        for &one in &loops {
            for &other in loops.iter().filter(|&&other| other != one && !can_stop[other]) {
                pairs += 1;
                if pairs > STEPS {
                    return None;
                }
                let shared = self.places[one].0.common(self.places[other].0);
                let Some(way) = self.way(&next, one, other, shared) else { continue };
                let stuck = [0, 1].into_iter().any(|end| {
                    let word: Vec<Chars> = way.iter().map(|set| set.ends()[end]).collect();
                    !self.accepts(&next, &can_stop, &first, &word)
                });
                if stuck {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// The shortest text that leads from one place to another and that `shared` can read.
    fn way(
        &self,
        next: &[Vec<usize>],
        from: usize,
        to: usize,
        shared: Chars,
    ) -> Option<Vec<Chars>> {
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(place) = queue.pop_front() {
            for &step in &next[place] {
                if step == from || before.contains_key(&step) || !self.places[step].0.meets(shared)
                {
                    continue;
                }
                before.insert(step, place);
                if step == to {
                    let mut way = Vec::new();
                    let mut at = to;
                    while at != from {
                        way.push(self.places[at].0.common(shared));
                        at = *before.get(&at)?;
                    }
                    way.reverse();
                    return Some(way);
                }
                queue.push_back(step);
            }
        }
        None
    }

    /// Whether a word, several times after itself, holds a match: then nothing is tried again.
    fn accepts(
        &self,
        next: &[Vec<usize>],
        can_stop: &[bool],
        first: &[usize],
        word: &[Chars],
    ) -> bool {
        const TIMES: usize = 4;
        let mut now: HashSet<usize> = first.iter().copied().collect();
        for _ in 0..TIMES {
            for letter in word {
                let read: Vec<usize> = now
                    .iter()
                    .copied()
                    .filter(|&place| self.places[place].0.meets(*letter))
                    .collect();
                if read.iter().any(|&place| can_stop[place]) {
                    return true;
                }
                now = read.iter().flat_map(|&place| next[place].iter().copied()).collect();
            }
        }
        false
    }

    /// Whether two ways on the same text leave a place and come back to it.
    fn pairs(&self, next: &[Vec<usize>], component: &[usize], can_stop: &[bool]) -> Option<bool> {
        let mut numbers: HashMap<(usize, usize), usize> = HashMap::new();
        let mut all: Vec<(usize, usize)> = Vec::new();
        let mut edges: Vec<Vec<usize>> = Vec::new();
        let mut number = |pair: (usize, usize), all: &mut Vec<(usize, usize)>| {
            *numbers.entry(pair).or_insert_with(|| {
                all.push(pair);
                all.len() - 1
            })
        };
        for place in 0..next.len() {
            number((place, place), &mut all);
        }
        while edges.len() < all.len() {
            if all.len() > PAIRS {
                return None;
            }
            let (a, b) = all[edges.len()];
            let mut out = Vec::new();
            for &to_a in next[a].iter().filter(|to| component[**to] == component[a]) {
                for &to_b in next[b].iter().filter(|to| component[**to] == component[b]) {
                    if self.places[to_a].0.meets(self.places[to_b].0) {
                        out.push(number((to_a, to_b), &mut all));
                    }
                }
            }
            out.sort_unstable();
            edges.push(out);
        }
        let of = components(&edges);
        let apart: HashSet<usize> =
            all.iter().zip(&of).filter(|((a, b), _)| a != b).map(|(_, group)| *group).collect();
        let together = all.iter().zip(&of).filter(|((a, b), _)| a == b && !can_stop[*a]);
        Some(together.into_iter().any(|(_, group)| apart.contains(group)))
    }
}

/// The strongly connected component of each node, by Tarjan's algorithm without recursion. A node
/// alone that does not lead to itself has a component of its own.
fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = edges.len();
    let (mut index, mut low, mut of) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut clock, mut groups) = (Vec::new(), 0, 0);
    for root in 0..count {
        if index[root] != NONE {
            continue;
        }
        let mut work: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some(&mut (node, ref mut at)) = work.last_mut() {
            if *at == 0 {
                index[node] = clock;
                low[node] = clock;
                clock += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&to) = edges[node].get(*at) {
                *at += 1;
                if index[to] == NONE {
                    work.push((to, 0));
                } else if on_stack[to] {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            work.pop();
            if let Some(&(above, _)) = work.last() {
                low[above] = low[above].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    of[member] = groups;
                    if member == node {
                        break;
                    }
                }
                groups += 1;
            }
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn exponential(text: &str) -> bool {
        is_exponential(&parse(text).expect(text), false)
    }

    #[test]
    fn loops_that_read_the_same_text_in_two_ways_are_exponential() {
        for text in [
            "(a+)+b",
            "(a*)*b",
            "(a|a)*b",
            "(a|aa)+$",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
            r"(\w|G)*!",
            "(a?b?)*c",
            r"^(\d+|\w+)*$",
            "(.*a){3}.*(x+x+)+y",
            r"(?=(a+)+$)b",
            r"([\w-]*)+bar",
            "(b|a?b)*c",
        ] {
            assert!(exponential(text), "{text}");
        }
    }

    #[test]
    fn loops_that_share_text_are_polynomial() {
        let slow = |text: &str, matching| is_polynomial(&parse(text).expect(text), matching);
        for text in [r"\s+$", "a*b", r"^\s*\w*\s*;\s*\s*x$", "x=(.*);", r"<.*?>$", r"(\d+)(\s+)?$"]
        {
            assert!(slow(text, Matching::Search), "{text}");
        }
        for text in
            ["a*", "^a*b", r"^\w+@\w+$", "\".*\"", r"^\s+", r"\d+", "^[^,]*,[^,]*$", r"^(a|b)*$"]
        {
            assert!(!slow(text, Matching::Search), "{text}");
        }
        assert!(!slow("a*b", Matching::Start));
        assert!(slow(r"\d*\d*", Matching::Whole));
        assert!(!slow(r"\d*\d*", Matching::Start));
    }

    #[test]
    fn loops_with_one_way_are_not() {
        for text in [
            "a*b",
            "(a|b)*c",
            "(ab?)*c",
            r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
            r"^(\d+,)*\d+$",
            r"(\w+\s)*end",
            r"([^,]*,)*x",
            "(a?)*b",
            r#""(?:[^"\\]|\\.)*""#,
            r"^\s+|\s+$",
            "(a+)+",
            "(a*)*",
            r"(\b\w+\b)*;",
            "(a{2,3}b)*c",
        ] {
            assert!(!exponential(text), "{text}");
        }
    }
}
