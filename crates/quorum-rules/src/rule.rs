//! Rules as data: one readable TOML file for each, with its tests inside.
//!
//! `docs/rules.md` describes the format for people who write rules.

mod agent;
mod cases;
mod compiled;
mod error;
mod scan;
mod set;

use std::collections::BTreeMap;

use quorum_model::finding::Effort;
use quorum_model::severity::Severity;
use quorum_syntax::Lang;
use serde::{Deserialize, Deserializer, Serialize};

#[cfg(test)]
pub(crate) use cases::case_files;
pub use cases::{CaseFailure, CaseReport, run_cases};
pub use error::RuleError;
pub(crate) use scan::{report, scan};
pub use set::RuleSet;

/// One rule, as its file spells it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// The file's name without its ending, such as `go.defer-in-loop`.
    pub id: String,
    /// The reviewer that reports it.
    pub agent: String,
    /// How bad it is.
    #[serde(deserialize_with = "severity")]
    pub severity: Severity,
    /// Other severities that it reports, where the place decides.
    #[serde(default, deserialize_with = "severities", skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Severity>,
    /// How sure the rule is, 0 to 1.
    #[serde(default = "usual_confidence")]
    pub confidence: f64,
    /// One of the reviewer's categories.
    pub category: String,
    /// The weakness class, such as `CWE-89`.
    pub cwe: Option<String>,
    /// The languages that it looks at.
    #[serde(default, deserialize_with = "languages", serialize_with = "names")]
    pub languages: Vec<Lang>,
    /// One sentence that says what is wrong. `$NAME` stands for the text of a metavariable.
    pub title: String,
    /// Why it is wrong, for somebody who has not met it yet.
    #[serde(default)]
    pub why: String,
    /// What to do instead.
    pub fix: String,
    /// How much work the fix is.
    pub effort: Option<Effort>,
    /// Where to read more.
    #[serde(default)]
    pub references: Vec<String>,
    /// A file in which none of these words occurs is not looked at.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// What the rule says about tests and examples.
    #[serde(default)]
    pub in_tests: InTests,
    /// Rules that say less about the same place: where this one reports, they are its references.
    #[serde(default)]
    pub supersedes: Vec<String>,
    /// Shapes of the tree; each is enough.
    #[serde(default, rename = "match")]
    pub matches: Vec<Match>,
    /// What it finds is found by code, and this file describes and tests it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub code: bool,
    /// Calls, seen with the values that their arguments have there; each is enough.
    #[serde(default, rename = "call")]
    pub calls: Vec<CallShape>,
    /// What it must find and must leave alone.
    #[serde(default, rename = "test")]
    pub tests: Vec<Case>,
}

impl Rule {
    /// Every severity that it reports outside of tests, the least first.
    pub fn severities(&self) -> Vec<Severity> {
        let mut all = self.also.clone();
        all.push(self.severity);
        for call in &self.calls {
            let severity = call.severity.unwrap_or(self.severity);
            all.push(severity);
            if !call.tainted.is_empty() {
                all.push(at_home(severity));
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Its severities for people, such as `LOW to HIGH`.
    pub fn severity_range(&self) -> String {
        match self.severities().as_slice() {
            [least, .., most] => format!("{} to {}", least.as_str(), most.as_str()),
            _ => self.severity.as_str().to_owned(),
        }
    }
}

/// How bad it is where whoever starts the program brings the value: they may do with it what they
/// can do anyway.
pub(crate) fn at_home(severity: Severity) -> Severity {
    match severity {
        Severity::Critical => Severity::Medium,
        _ => Severity::Low,
    }
}

/// Whether a list of languages names this one; TSX is TypeScript.
pub(crate) fn applies(listed: &[Lang], lang: Lang) -> bool {
    listed.contains(&lang) || (lang == Lang::Tsx && listed.contains(&Lang::TypeScript))
}

fn usual_confidence() -> f64 {
    0.8
}

/// What a rule says about tests and examples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InTests {
    /// Two severities less, and says why.
    #[default]
    Lower,
    /// Nothing.
    Skip,
    /// The same as elsewhere.
    Same,
}

/// A shape of the tree with what is reported about it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Match {
    /// Languages, where not all of the rule's.
    #[serde(default, deserialize_with = "languages", serialize_with = "names")]
    pub languages: Vec<Lang>,
    /// Code with metavariables; any of them.
    #[serde(default, deserialize_with = "one_or_many")]
    pub pattern: Vec<String>,
    /// Kinds of node, by the grammar's names; any of them.
    #[serde(default, deserialize_with = "one_or_many")]
    pub kind: Vec<String>,
    /// What the node's text must match.
    pub regex: Option<String>,
    /// What the metavariables must be.
    #[serde(default, rename = "where")]
    pub constraints: BTreeMap<String, Constraint>,
    /// Shapes, one of which must enclose the node.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub inside: Vec<Shape>,
    /// Shapes, none of which may enclose the node.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub not_inside: Vec<Shape>,
    /// Shapes, each of which must be somewhere in the node.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub has: Vec<Shape>,
    /// Shapes, none of which may be in the node.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub not_has: Vec<Shape>,
    /// Shapes that the node itself must not have.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub not: Vec<Shape>,
    /// Shapes, none of which may follow in the same block.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub not_followed: Vec<Shape>,
    /// What the path of the file must match.
    pub path: Option<String>,
    /// What the path of the file must not match.
    pub not_path: Option<String>,
    /// What the text of the whole file must match.
    pub file_has: Option<String>,
    /// What the text of the whole file must not match.
    pub file_lacks: Option<String>,
    /// The metavariable whose lines are reported, where not the whole node's.
    pub report: Option<String>,
    /// Text to put in the node's place, with metavariables.
    pub autofix: Option<String>,
}

/// A shape that a condition names: a pattern alone, or a table.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a pattern, or a table of what must hold (docs/rules.md lists its keys)"
)]
pub enum Shape {
    /// Code with metavariables.
    Pattern(String),
    /// All that is said must hold.
    Detailed(DetailedShape),
}

/// A shape in full.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DetailedShape {
    /// Code with metavariables; any of them.
    #[serde(default, deserialize_with = "one_or_many")]
    pub pattern: Vec<String>,
    /// Kinds of node; any of them.
    #[serde(default, deserialize_with = "one_or_many")]
    pub kind: Vec<String>,
    /// What the node's text must match.
    pub regex: Option<String>,
    /// Shapes, each of which must be somewhere in the node.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub has: Vec<Shape>,
    /// Shapes, none of which may be in the node.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub not_has: Vec<Shape>,
    /// For `inside` and `not-inside`: kinds of node at which the search upwards stops.
    #[serde(default, deserialize_with = "one_or_many")]
    pub until: Vec<String>,
}

/// What a metavariable must be.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Constraint {
    /// What its text must match.
    pub regex: Option<String>,
    /// What its text must not match.
    pub not_regex: Option<String>,
    /// Kinds of node that it may be.
    #[serde(default, deserialize_with = "one_or_many")]
    pub kind: Vec<String>,
    /// Kinds of node that it may not be.
    #[serde(default, deserialize_with = "one_or_many")]
    pub not_kind: Vec<String>,
    /// Whether it is written out in the code, as a literal or made of literals.
    pub constant: Option<bool>,
    /// Shapes, one of which it must have.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub pattern: Vec<Shape>,
    /// Shapes, none of which it may have.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub not_pattern: Vec<Shape>,
    /// Shapes, one of which must be somewhere in it.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub has: Vec<Shape>,
    /// Shapes, none of which may be in it.
    #[serde(default, deserialize_with = "one_or_many_shapes")]
    pub not_has: Vec<Shape>,
}

/// A call with the values that its arguments have where it stands.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CallShape {
    /// Languages, where not all of the rule's.
    #[serde(default, deserialize_with = "languages", serialize_with = "names")]
    pub languages: Vec<Lang>,
    /// What is called, with imports and types resolved; any of them.
    #[serde(default, deserialize_with = "one_or_many")]
    pub callee: Vec<String>,
    /// What is assigned to, such as `*.innerHTML`; any of them.
    #[serde(default, deserialize_with = "one_or_many")]
    pub assign: Vec<String>,
    /// Arguments into which no outsider's text may flow: positions, `name=`, `this`, `rest:N`.
    #[serde(default, deserialize_with = "one_or_many")]
    pub tainted: Vec<String>,
    /// What the harm is called, for sanitisers that prevent it.
    pub harm: Option<String>,
    /// What the values must be; all of them.
    #[serde(default, rename = "where")]
    pub values: Vec<ValueTest>,
    /// What the values must not be; any of them acquits.
    #[serde(default)]
    pub unless: Vec<ValueTest>,
    /// What the text of the whole file must match.
    pub file_has: Option<String>,
    /// What the text of the whole file must not match.
    pub file_lacks: Option<String>,
    /// What the text of the enclosing function must match.
    pub near_has: Option<String>,
    /// What the text of the enclosing function must not match.
    pub near_lacks: Option<String>,
    /// What the name of the enclosing function, or of what the result is called, must match.
    pub used_as: Option<String>,
    /// What neither of them may match.
    pub not_used_as: Option<String>,
    /// How sure, where not as sure as the rule.
    pub confidence: Option<f64>,
    /// How bad, where not as bad as the rule.
    #[serde(default, deserialize_with = "maybe_severity")]
    pub severity: Option<Severity>,
    /// What is wrong, where the rule's title does not fit.
    pub title: Option<String>,
}

/// A test of one value of a call.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ValueTest {
    /// The argument: a position, `name=`, `0|name=` for either, `any`, or `this`.
    pub arg: String,
    /// What a value that is known must match; a value that is not known does not match.
    pub matches: Option<String>,
    /// What a value that is known must not match; a value that is not known passes.
    pub not_matches: Option<String>,
    /// What the constant text at the start of a value must match, where the rest is not constant.
    pub begins: Option<String>,
    /// What the argument's own text must match.
    pub text: Option<String>,
    /// Whether the value is known.
    pub constant: Option<bool>,
    /// Whether the argument is there.
    pub present: Option<bool>,
    /// A number that a known value must be below.
    pub below: Option<i64>,
    /// Whether it comes from outside.
    pub tainted: Option<bool>,
    /// What the value's path must match, such as the call that made it.
    pub from: Option<String>,
    /// What must have been done to it, as a model calls it, such as `cookie-secure`; several
    /// with `+`.
    pub mark: Option<String>,
    /// The value is a regular expression that can take polynomial time when it is matched so.
    pub slow: Option<Matching>,
}

/// Where in a text a regular expression has to match.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Matching {
    /// Anywhere.
    Search,
    /// From its start.
    Start,
    /// From its start to its end.
    Whole,
}

/// What a rule must find or must leave alone.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    /// The language, where the rule has several.
    #[serde(default, deserialize_with = "maybe_language", serialize_with = "maybe_name")]
    pub language: Option<Lang>,
    /// The path that the code is said to stand at.
    pub path: Option<String>,
    /// What stood there before the change; without it the whole file is reviewed.
    #[serde(default)]
    pub before: Option<String>,
    /// Other files of the repository, which the change leaves alone.
    #[serde(default)]
    pub around: BTreeMap<String, String>,
    /// Code in which something is found: on the lines that say `FIND`, or anywhere.
    #[serde(default)]
    pub find: Option<String>,
    /// Code in which nothing is found.
    #[serde(default)]
    pub pass: Option<String>,
}

fn severity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Severity, D::Error> {
    let word = String::deserialize(deserializer)?;
    match word.to_ascii_lowercase().as_str() {
        "critical" => Ok(Severity::Critical),
        "high" => Ok(Severity::High),
        "medium" => Ok(Severity::Medium),
        "low" => Ok(Severity::Low),
        _ => Err(serde::de::Error::custom(format!(
            "`{word}` is no severity: critical, high, medium or low"
        ))),
    }
}

fn severities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Severity>, D::Error> {
    use serde::de::IntoDeserializer as _;
    let words = one_or_many(deserializer)?;
    words.into_iter().map(|word| severity(word.into_deserializer())).collect()
}

fn maybe_severity<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Severity>, D::Error> {
    severity(d).map(Some)
}

fn language<E: serde::de::Error>(name: &str) -> Result<Lang, E> {
    Lang::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Lang::ALL.iter().map(|lang| lang.name()).collect();
        E::custom(format!("`{name}` is no language with a grammar: {}", known.join(", ")))
    })
}

fn languages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Lang>, D::Error> {
    let names = one_or_many(deserializer)?;
    names.iter().map(|name| language(name)).collect()
}

fn maybe_language<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Lang>, D::Error> {
    let name = String::deserialize(deserializer)?;
    language(&name).map(Some)
}

fn names<S: serde::Serializer>(langs: &[Lang], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(langs.iter().map(|lang| lang.name()))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    clippy::ref_option,
    reason = "serde calls it with a reference to the field"
)]
fn maybe_name<S: serde::Serializer>(lang: &Option<Lang>, serializer: S) -> Result<S::Ok, S::Error> {
    lang.map(Lang::name).serialize(serializer)
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "one value or a list of them, each of the kind that the key takes")]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> From<OneOrMany<T>> for Vec<T> {
    fn from(value: OneOrMany<T>) -> Self {
        match value {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    OneOrMany::deserialize(deserializer).map(Into::into)
}

fn one_or_many_shapes<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Shape>, D::Error> {
    OneOrMany::deserialize(d).map(Into::into)
}
