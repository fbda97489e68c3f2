//! Shapes with their conditions, compiled for one language.

use std::borrow::Cow;
use std::collections::BTreeMap;

use quorum_syntax::Lang;
use quorum_syntax::grep::Matcher as _;
use quorum_syntax::grep::language::Language as _;
use quorum_syntax::grep::matcher::Pattern;

use super::expression::Expression;
use super::{Bindings, SyntaxNode, compile, is_constant, start_kinds, variants};
use crate::rule::{Constraint, DetailedShape, Match, Shape};

/// A key of the rule file with what is wrong with its value.
pub(crate) type KeyError = (String, String);

/// A node that has the shape, with what the metavariables stand for.
type Bound<'t> = Bindings<'t>;

/// A shape, compiled for one language.
#[derive(Debug, Default)]
pub(crate) struct CompiledShape {
    patterns: Vec<Pattern>,
    kinds: Vec<u16>,
    regex: Option<Expression>,
    constraints: BTreeMap<String, CompiledConstraint>,
    inside: Vec<Self>,
    not_inside: Vec<Self>,
    has: Vec<Self>,
    not_has: Vec<Self>,
    not: Vec<Self>,
    not_followed: Vec<Self>,
    until: Vec<u16>,
}

#[derive(Debug, Default)]
struct CompiledConstraint {
    regex: Option<Expression>,
    not_regex: Option<Expression>,
    kinds: Vec<u16>,
    not_kinds: Vec<u16>,
    constant: Option<bool>,
    pattern: Vec<CompiledShape>,
    not_pattern: Vec<CompiledShape>,
    has: Vec<CompiledShape>,
    not_has: Vec<CompiledShape>,
}

impl CompiledShape {
    /// Compiles what a rule says for one of its languages.
    pub(crate) fn new(found: &Match, lang: Lang) -> Result<Self, KeyError> {
        let constraint = |(name, constraint): (&String, &Constraint)| {
            Ok((name.clone(), CompiledConstraint::new(name, constraint, lang)?))
        };
        Ok(Self {
            patterns: patterns("pattern", &found.pattern, lang)?,
            kinds: kinds("kind", &found.kind, lang)?,
            regex: Expression::of("regex", found.regex.as_deref())?,
            constraints: found
                .constraints
                .iter()
                .map(constraint)
                .collect::<Result<_, KeyError>>()?,
            inside: shapes("inside", &found.inside, lang)?,
            not_inside: shapes("not-inside", &found.not_inside, lang)?,
            has: shapes("has", &found.has, lang)?,
            not_has: shapes("not-has", &found.not_has, lang)?,
            not: shapes("not", &found.not, lang)?,
            not_followed: shapes("not-followed", &found.not_followed, lang)?,
            until: Vec::new(),
        })
    }

    fn nested(key: &str, shape: &Shape, lang: Lang) -> Result<Self, KeyError> {
        match shape {
            Shape::Pattern(pattern) => Ok(Self {
                patterns: patterns(key, std::slice::from_ref(pattern), lang)?,
                ..Self::default()
            }),
            Shape::Detailed(shape) => Self::detailed(key, shape, lang),
        }
    }

    fn detailed(key: &str, shape: &DetailedShape, lang: Lang) -> Result<Self, KeyError> {
        Ok(Self {
            patterns: patterns(key, &shape.pattern, lang)?,
            kinds: kinds(key, &shape.kind, lang)?,
            regex: Expression::of(key, shape.regex.as_deref())?,
            has: shapes(key, &shape.has, lang)?,
            not_has: shapes(key, &shape.not_has, lang)?,
            until: kinds(key, &shape.until, lang)?,
            ..Self::default()
        })
    }

    /// The kinds of node at which the shape can start; none stands for any.
    pub(crate) fn start_kinds(&self) -> Option<Vec<u16>> {
        if self.patterns.is_empty() {
            return if self.kinds.is_empty() { None } else { Some(self.kinds.clone()) };
        }
        let mut all = Vec::new();
        for pattern in &self.patterns {
            all.extend(start_kinds(pattern)?);
        }
        Some(all)
    }

    /// What the metavariables stand for, when a node has the shape.
    pub(crate) fn matches<'t>(
        &self,
        node: &SyntaxNode<'t>,
        bound: &Bindings<'t>,
    ) -> Option<Bound<'t>> {
        if !self.kinds.is_empty() && !self.kinds.contains(&node.kind_id()) {
            return None;
        }
        if self.patterns.is_empty() {
            return self.holds(node, bound).then(|| bound.clone());
        }
        self.patterns.iter().find_map(|pattern| {
            let mut env = Cow::Borrowed(bound);
            pattern.match_node_with_env(node.clone(), &mut env)?;
            let env = env.into_owned();
            self.holds(node, &env).then_some(env)
        })
    }

    fn holds<'t>(&self, node: &SyntaxNode<'t>, bound: &Bindings<'t>) -> bool {
        self.regex.as_ref().is_none_or(|regex| regex.is_match(&node.text()))
            && self.constraints.iter().all(|(name, constraint)| constraint.holds(name, bound))
            && !self.not.iter().any(|shape| shape.matches(node, bound).is_some())
            && self.has.iter().all(|shape| shape.within(node, bound))
            && !self.not_has.iter().any(|shape| shape.within(node, bound))
            && (self.inside.is_empty()
                || self.inside.iter().any(|shape| shape.encloses(node, bound)))
            && !self.not_inside.iter().any(|shape| shape.encloses(node, bound))
            && !self.not_followed.iter().any(|shape| shape.follows(node, bound))
    }

    fn within<'t>(&self, node: &SyntaxNode<'t>, bound: &Bindings<'t>) -> bool {
        node.dfs().any(|inner| self.matches(&inner, bound).is_some())
    }

    fn encloses<'t>(&self, node: &SyntaxNode<'t>, bound: &Bindings<'t>) -> bool {
        for outer in node.ancestors() {
            if self.matches(&outer, bound).is_some() {
                return true;
            }
            if self.until.contains(&outer.kind_id()) {
                return false;
            }
        }
        false
    }

    /// Whether it stands after the node, in the statements that come after it.
    fn follows<'t>(&self, node: &SyntaxNode<'t>, bound: &Bindings<'t>) -> bool {
        let mut at = node.clone();
        loop {
            if at.next_all().any(|after| self.within(&after, bound)) {
                return true;
            }
            let Some(parent) = at.parent() else { return false };
            let kind = parent.kind();
            if kind.contains("function") || kind.contains("method") || kind.contains("lambda") {
                return false;
            }
            at = parent;
        }
    }
}

impl CompiledConstraint {
    fn new(name: &str, constraint: &Constraint, lang: Lang) -> Result<Self, KeyError> {
        let key = |part: &str| format!("where.{name}.{part}");
        Ok(Self {
            regex: Expression::of(&key("regex"), constraint.regex.as_deref())?,
            not_regex: Expression::of(&key("not-regex"), constraint.not_regex.as_deref())?,
            kinds: kinds(&key("kind"), &constraint.kind, lang)?,
            not_kinds: kinds(&key("not-kind"), &constraint.not_kind, lang)?,
            constant: constraint.constant,
            pattern: shapes(&key("pattern"), &constraint.pattern, lang)?,
            not_pattern: shapes(&key("not-pattern"), &constraint.not_pattern, lang)?,
            has: shapes(&key("has"), &constraint.has, lang)?,
            not_has: shapes(&key("not-has"), &constraint.not_has, lang)?,
        })
    }

    /// A metavariable that stands for several nodes, or for none, is judged by its text alone.
    fn holds(&self, name: &str, bound: &Bindings<'_>) -> bool {
        let Some(node) = bound.get_match(name) else {
            let many = bound.get_multiple_matches(name);
            let text: String = many.iter().map(SyntaxNode::text).collect();
            return self.regex.as_ref().is_none_or(|regex| regex.is_match(&text))
                && self.not_regex.as_ref().is_none_or(|regex| !regex.is_match(&text));
        };
        let text = node.text();
        let any =
            |shapes: &[CompiledShape]| shapes.iter().any(|s| s.matches(node, bound).is_some());
        self.regex.as_ref().is_none_or(|regex| regex.is_match(&text))
            && self.not_regex.as_ref().is_none_or(|regex| !regex.is_match(&text))
            && (self.kinds.is_empty() || self.kinds.contains(&node.kind_id()))
            && !self.not_kinds.contains(&node.kind_id())
            && self.constant.is_none_or(|wanted| is_constant(node.get_inner_node()) == wanted)
            && (self.pattern.is_empty() || any(&self.pattern))
            && !any(&self.not_pattern)
            && (self.has.is_empty() || self.has.iter().any(|shape| shape.within(node, bound)))
            && !self.not_has.iter().any(|shape| shape.within(node, bound))
    }
}

fn patterns(key: &str, texts: &[String], lang: Lang) -> Result<Vec<Pattern>, KeyError> {
    let mut compiled = Vec::new();
    for text in texts {
        for variant in variants(text) {
            compiled.push(compile(&variant, lang).map_err(|why| (key.to_owned(), why))?);
        }
    }
    Ok(compiled)
}

/// A rule for several languages names kinds of all of them; each grammar knows some.
fn kinds(key: &str, names: &[String], lang: Lang) -> Result<Vec<u16>, KeyError> {
    let known: Vec<u16> =
        names.iter().map(|name| lang.kind_to_id(name)).filter(|&kind| kind != 0).collect();
    if known.is_empty() && !names.is_empty() {
        let why = format!("the grammar of {lang} has no kind {}", names.join(", "));
        return Err((key.to_owned(), why));
    }
    Ok(known)
}

fn shapes(key: &str, texts: &[Shape], lang: Lang) -> Result<Vec<CompiledShape>, KeyError> {
    texts.iter().map(|shape| CompiledShape::nested(key, shape, lang)).collect()
}
