//! What the engine knows about one language: models and the calls that rules speak about.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use quorum_syntax::Lang;

use super::model::{ModelFile, Models};
use super::path::PathTable;
use super::value::{Harms, Marks, harm, mark};
use crate::pattern::Expression;
use crate::rule::{CallShape, Rule, ValueTest};

include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// What the engine knows about one language.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(super) models: Models,
    pub(super) calls: Vec<CallRule>,
    pub(super) by_callee: PathTable<usize>,
    pub(super) by_target: PathTable<usize>,
    words: Option<AhoCorasick>,
}

/// A call that a rule speaks about.
#[derive(Debug)]
pub(super) struct CallRule {
    pub(super) rule: Arc<Rule>,
    pub(super) index: usize,
    pub(super) tainted: Vec<ArgSelector>,
    pub(super) harm: Harms,
    pub(super) positional: bool,
    pub(super) values: Vec<CompiledTest>,
    pub(super) unless: Vec<CompiledTest>,
    pub(super) file_has: Option<Expression>,
    pub(super) file_lacks: Option<Expression>,
    pub(super) near_has: Option<Expression>,
    pub(super) near_lacks: Option<Expression>,
    pub(super) used_as: Option<Expression>,
    pub(super) not_used_as: Option<Expression>,
}

/// Which argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArgSelector {
    Position(usize),
    Name(String),
    Either(usize, String),
    From(usize),
    This,
    Any,
}

/// A test of one value, compiled.
#[derive(Debug)]
pub(super) struct CompiledTest {
    pub(super) arg: ArgSelector,
    pub(super) matches: Option<Expression>,
    pub(super) not_matches: Option<Expression>,
    pub(super) text: Option<Expression>,
    pub(super) from: Option<Expression>,
    pub(super) begins: Option<Expression>,
    pub(super) mark: Option<Marks>,
    pub(super) test: ValueTest,
}

impl ArgSelector {
    fn new(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<usize>().ok();
        let text = text.trim();
        if text == "this" {
            return Ok(Self::This);
        }
        if text == "any" {
            return Ok(Self::Any);
        }
        if let Some(from) = text.strip_prefix("rest:").and_then(number) {
            return Ok(Self::From(from));
        }
        if let Some((position, name)) = text.split_once('|')
            && let Some(position) = number(position)
        {
            return Ok(Self::Either(position, name.trim_end_matches('=').to_owned()));
        }
        if let Some(position) = number(text) {
            return Ok(Self::Position(position));
        }
        match text.strip_suffix('=') {
            Some(name) => Ok(Self::Name(name.to_owned())),
            None => Err(format!(
                "`{text}` names no argument: a position, `name=`, `0|name=`, `rest:1`, `any` or `this`"
            )),
        }
    }
}

type KeyError = (String, String);

impl CallRule {
    fn new(rule: &Arc<Rule>, index: usize) -> Result<Self, KeyError> {
        let call: &CallShape = &rule.calls[index];
        let expression = Expression::of;
        let select =
            |text: &String| ArgSelector::new(text).map_err(|why| ("call.tainted".to_owned(), why));
        let test = |key: &'static str| {
            move |test: &ValueTest| CompiledTest::new(test).map_err(|why| (key.to_owned(), why.1))
        };
        let name = call.harm.as_deref().unwrap_or("other");
        Ok(Self {
            rule: Arc::clone(rule),
            index,
            tainted: call.tainted.iter().map(select).collect::<Result<_, _>>()?,
            harm: harm(name),
            positional: matches!(name, "ssrf" | "redirect"),
            values: call.values.iter().map(test("call.where")).collect::<Result<_, _>>()?,
            unless: call.unless.iter().map(test("call.unless")).collect::<Result<_, _>>()?,
            file_has: expression("call.file-has", call.file_has.as_deref())?,
            file_lacks: expression("call.file-lacks", call.file_lacks.as_deref())?,
            near_has: expression("call.near-has", call.near_has.as_deref())?,
            near_lacks: expression("call.near-lacks", call.near_lacks.as_deref())?,
            used_as: expression("call.used-as", call.used_as.as_deref())?,
            not_used_as: expression("call.not-used-as", call.not_used_as.as_deref())?,
        })
    }

    pub(super) fn shape(&self) -> &CallShape {
        &self.rule.calls[self.index]
    }
}

impl CompiledTest {
    fn new(test: &ValueTest) -> Result<Self, KeyError> {
        let expression = Expression::of;
        Ok(Self {
            arg: ArgSelector::new(&test.arg).map_err(|why| ("arg".to_owned(), why))?,
            matches: expression("matches", test.matches.as_deref())?,
            not_matches: expression("not-matches", test.not_matches.as_deref())?,
            text: expression("text", test.text.as_deref())?,
            from: expression("from", test.from.as_deref())?,
            begins: expression("begins", test.begins.as_deref())?,
            mark: test.mark.as_deref().map(known_mark).transpose()?,
            test: test.clone(),
        })
    }
}

/// The bits of marks that are joined by `+`.
fn known_mark(name: &str) -> Result<Marks, KeyError> {
    let one =
        |name: &str| mark(name).ok_or_else(|| ("mark".to_owned(), format!("`{name}` is no mark")));
    name.split('+').try_fold(0, |all, name| Ok(all | one(name)?))
}

fn speaks_of(rule: &Rule, call: &CallShape, lang: Lang) -> bool {
    let listed = if call.languages.is_empty() { &rule.languages } else { &call.languages };
    crate::rule::applies(listed, lang)
}

impl Tables {
    /// Collects what rules and models say about a language.
    pub(crate) fn new<'a>(rules: impl Iterator<Item = &'a Arc<Rule>>, lang: Lang) -> Self {
        let mut models = Models::default();
        for (_, text) in MODELS {
            if let Ok(file) = ModelFile::parse(text)
                && file.speaks_of(lang)
            {
                // A test reads every file, so that nothing is lost here.
                drop(file.fill(&mut models));
            }
        }
        let mut tables = Self {
            models,
            calls: Vec::new(),
            by_callee: PathTable::default(),
            by_target: PathTable::default(),
            words: None,
        };
        for rule in rules {
            for (index, call) in rule.calls.iter().enumerate() {
                if speaks_of(rule, call, lang)
                    && let Ok(compiled) = CallRule::new(rule, index)
                {
                    let number = tables.calls.len();
                    for callee in &call.callee {
                        tables.by_callee.insert(callee, number);
                    }
                    for target in &call.assign {
                        tables.by_target.insert(target, number);
                    }
                    tables.calls.push(compiled);
                }
            }
        }
        // What is chosen by a key is spelt with a bracket, whatever stands in it.
        let spelt = |word| if str::starts_with(word, '[') { "[" } else { word };
        let words = tables.by_callee.words().chain(tables.by_target.words());
        let words: Vec<&str> = words.map(spelt).collect();
        if !tables.by_callee.has_wild() && !tables.by_target.has_wild() {
            tables.words = AhoCorasick::new(&words).ok();
        }
        tables
    }

    /// Whether a rule's calls can be read.
    pub(crate) fn check(rule: &Rule) -> Result<(), KeyError> {
        let rule = Arc::new(rule.clone());
        (0..rule.calls.len()).try_for_each(|index| CallRule::new(&rule, index).map(|_| ()))
    }

    /// Whether a file can have anything to find.
    pub(crate) fn concerns(&self, text: &str) -> bool {
        !self.calls.is_empty() && self.words.as_ref().is_none_or(|words| words.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_can_be_read() {
        assert!(!MODELS.is_empty());
        for (file, text) in MODELS {
            let read = ModelFile::parse(text).unwrap_or_else(|error| panic!("{file}: {error}"));
            let mut models = Models::default();
            read.fill(&mut models).unwrap_or_else(|error| panic!("{file}: {error}"));
        }
    }
}
