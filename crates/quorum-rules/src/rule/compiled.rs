//! The rules for one language, grouped so that a file is walked once.

use std::collections::HashMap;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use quorum_syntax::Lang;

use super::{Match, Rule};
use crate::pattern::{CompiledShape, Expression};

/// The rules for one language.
#[derive(Debug)]
pub(super) struct Compiled {
    /// Every shape of every rule.
    pub(super) shapes: Vec<RuleShape>,
    /// Which shapes can start at a kind of node.
    pub(super) by_kind: HashMap<u16, Vec<usize>>,
    /// Shapes that can start anywhere.
    pub(super) anywhere: Vec<usize>,
    keywords: Option<AhoCorasick>,
    keyword_rules: Vec<Vec<usize>>,
}

/// One shape of a rule.
#[derive(Debug)]
pub(super) struct RuleShape {
    pub(super) rule: Arc<Rule>,
    pub(super) index: usize,
    pub(super) shape: CompiledShape,
    pub(super) path: Option<Expression>,
    pub(super) not_path: Option<Expression>,
    pub(super) file_has: Option<Expression>,
    pub(super) file_lacks: Option<Expression>,
}

impl RuleShape {
    fn new(rule: &Arc<Rule>, index: usize, lang: Lang) -> Result<Self, (String, String)> {
        let found = &rule.matches[index];
        let expression = Expression::of;
        Ok(Self {
            rule: Arc::clone(rule),
            index,
            shape: CompiledShape::new(found, lang)?,
            path: expression("path", found.path.as_deref())?,
            not_path: expression("not-path", found.not_path.as_deref())?,
            file_has: expression("file-has", found.file_has.as_deref())?,
            file_lacks: expression("file-lacks", found.file_lacks.as_deref())?,
        })
    }

    /// What the rule file says about it.
    pub(super) fn found(&self) -> &Match {
        &self.rule.matches[self.index]
    }

    /// Whether the file as a whole is one that the shape speaks about.
    pub(super) fn concerns(&self, path: &str, text: &str) -> bool {
        self.path.as_ref().is_none_or(|regex| regex.is_match(path))
            && self.not_path.as_ref().is_none_or(|regex| !regex.is_match(path))
            && self.file_has.as_ref().is_none_or(|regex| regex.is_match(text))
            && self.file_lacks.as_ref().is_none_or(|regex| !regex.is_match(text))
    }
}

fn speaks_of(rule: &Rule, found: &Match, lang: Lang) -> bool {
    let listed = if found.languages.is_empty() { &rule.languages } else { &found.languages };
    super::applies(listed, lang)
}

impl Compiled {
    pub(super) fn new<'a>(rules: impl Iterator<Item = &'a Arc<Rule>>, lang: Lang) -> Self {
        let mut shapes = Vec::new();
        for rule in rules {
            for (index, found) in rule.matches.iter().enumerate() {
                if speaks_of(rule, found, lang)
                    && let Ok(shape) = RuleShape::new(rule, index, lang)
                {
                    shapes.push(shape);
                }
            }
        }
        let mut by_kind: HashMap<u16, Vec<usize>> = HashMap::new();
        let mut anywhere = Vec::new();
        for (index, shape) in shapes.iter().enumerate() {
            match shape.shape.start_kinds() {
                Some(mut kinds) => {
                    kinds.sort_unstable();
                    kinds.dedup();
                    for kind in kinds {
                        by_kind.entry(kind).or_default().push(index);
                    }
                }
                None => anywhere.push(index),
            }
        }
        let (keywords, keyword_rules) = keywords(&shapes);
        Self { shapes, by_kind, anywhere, keywords, keyword_rules }
    }

    /// Whether every shape of a rule can be compiled for the languages that it names.
    pub(super) fn check(rule: &Rule) -> Result<(), (String, String)> {
        let rule = Arc::new(rule.clone());
        for (index, found) in rule.matches.iter().enumerate() {
            for &lang in Lang::ALL {
                if speaks_of(&rule, found, lang) {
                    RuleShape::new(&rule, index, lang)?;
                }
            }
        }
        Ok(())
    }

    /// For each shape whether a keyword of its rule occurs in the text.
    pub(super) fn awake(&self, path: &str, text: &str) -> Vec<bool> {
        let mut awake: Vec<bool> =
            self.shapes.iter().map(|shape| shape.rule.keywords.is_empty()).collect();
        if let Some(keywords) = &self.keywords {
            let mut left = self.keyword_rules.len();
            let mut seen = vec![false; left];
            for found in keywords.find_overlapping_iter(text) {
                let pattern = found.pattern().as_usize();
                if !seen[pattern] {
                    seen[pattern] = true;
                    left -= 1;
                    for &shape in &self.keyword_rules[pattern] {
                        awake[shape] = true;
                    }
                    if left == 0 {
                        break;
                    }
                }
            }
        }
        for (awake, shape) in awake.iter_mut().zip(&self.shapes) {
            *awake = *awake && shape.concerns(path, text);
        }
        awake
    }
}

fn keywords(shapes: &[RuleShape]) -> (Option<AhoCorasick>, Vec<Vec<usize>>) {
    let mut words: Vec<&str> = Vec::new();
    let mut users: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (index, shape) in shapes.iter().enumerate() {
        for word in &shape.rule.keywords {
            let at = *known.entry(word).or_insert_with(|| {
                words.push(word);
                users.push(Vec::new());
                words.len() - 1
            });
            users[at].push(index);
        }
    }
    (AhoCorasick::new(&words).ok().filter(|_| !words.is_empty()), users)
}
