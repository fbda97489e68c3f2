//! What is known about languages and frameworks, as tables.

use std::collections::HashSet;

use quorum_syntax::Lang;
use serde::Deserialize;

use super::path::PathTable;
use super::value::{Harms, Marks, harms, mark};
use crate::pattern::Expression;

/// One file of `models/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ModelFile {
    pub(super) languages: Vec<String>,
    #[serde(default)]
    source: Vec<SourceEntry>,
    #[serde(default)]
    param: Vec<ParamEntry>,
    #[serde(default)]
    callback: Vec<CallbackEntry>,
    #[serde(default, rename = "type")]
    types: Vec<TypeEntry>,
    #[serde(default)]
    clean: Vec<CleanEntry>,
    #[serde(default)]
    pass: Vec<PassEntry>,
    #[serde(default)]
    fill: Vec<FillEntry>,
    #[serde(default)]
    mark: Vec<MarkEntry>,
}

/// Where strangers' values come in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceEntry {
    path: Vec<String>,
    note: String,
    #[serde(default = "full")]
    strength: f64,
    /// The harms that it can do; all, where none is named.
    #[serde(default)]
    only: Vec<String>,
    /// Harms that it cannot do.
    #[serde(default)]
    except: Vec<String>,
}

fn full() -> f64 {
    1.0
}

/// Parameters of functions that are special.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ParamEntry {
    name: Option<String>,
    #[serde(rename = "type")]
    ty: Option<String>,
    not_type: Option<String>,
    not_name: Option<String>,
    annotation: Option<String>,
    function: Option<String>,
    function_annotation: Option<String>,
    class_annotation: Option<String>,
    base: Option<String>,
    position: Option<usize>,
    /// The function is public and nothing in the file calls it: its callers are elsewhere.
    #[serde(default)]
    offered: bool,
    /// It is a stranger's value; this says which.
    source: Option<String>,
    /// It is this.
    is: Option<String>,
    #[serde(default = "full")]
    strength: f64,
    #[serde(default)]
    only: Vec<String>,
}

/// What a framework hands to the functions that it is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallbackEntry {
    call: Vec<String>,
    params: Vec<String>,
}

/// What a call returns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeEntry {
    call: Vec<String>,
    is: String,
}

/// Calls whose result can do some harms no more.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CleanEntry {
    call: Vec<String>,
    harms: Vec<String>,
    /// Harms that are left all the same.
    #[serde(default)]
    keeps: Vec<String>,
}

/// Calls whose result carries what their arguments carry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PassEntry {
    call: Vec<String>,
}

/// Calls that put what some arguments carry into others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FillEntry {
    call: Vec<String>,
    #[serde(default)]
    from: Vec<usize>,
    to: Vec<usize>,
    /// The call itself is a source.
    source: Option<String>,
}

/// Calls and assignments that make a difference to an object: a parser that was made safe.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkEntry {
    #[serde(default)]
    call: Vec<String>,
    #[serde(default)]
    assign: Vec<String>,
    /// What the arguments must be: their values where they are known, else their text, with commas.
    args: Option<String>,
    is: String,
}

/// A mark and what sets it.
#[derive(Debug)]
pub(super) struct MarkModel {
    pub(super) args: Option<Expression>,
    pub(super) is: Marks,
}

/// Where strangers' values come in.
#[derive(Clone, Debug)]
pub(super) struct SourceModel {
    pub(super) note: std::sync::Arc<str>,
    pub(super) strength: f64,
    /// What it cannot do from the start.
    pub(super) clean: Harms,
}

/// A parameter that is special.
#[derive(Debug)]
pub(super) struct ParamModel {
    pub(super) name: Option<Expression>,
    pub(super) not_name: Option<Expression>,
    pub(super) ty: Option<Expression>,
    pub(super) not_type: Option<Expression>,
    pub(super) annotation: Option<Expression>,
    pub(super) function: Option<Expression>,
    pub(super) function_annotation: Option<Expression>,
    pub(super) class_annotation: Option<Expression>,
    pub(super) base: Option<Expression>,
    pub(super) position: Option<usize>,
    pub(super) offered: bool,
    pub(super) source: Option<SourceModel>,
    pub(super) is: Option<String>,
}

/// What a call puts where.
#[derive(Clone, Debug)]
pub(super) struct FillModel {
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<usize>,
    pub(super) source: Option<SourceModel>,
}

/// The tables for one language.
#[derive(Debug, Default)]
pub(super) struct Models {
    pub(super) sources: PathTable<SourceModel>,
    pub(super) params: Vec<ParamModel>,
    pub(super) callbacks: PathTable<Vec<String>>,
    pub(super) types: PathTable<String>,
    pub(super) cleans: PathTable<Harms>,
    pub(super) passes: PathTable<()>,
    pub(super) fills: PathTable<FillModel>,
    pub(super) marks: PathTable<MarkModel>,
    pub(super) assigned_marks: PathTable<MarkModel>,
    /// The types that calls are known to return.
    pub(super) returned_types: HashSet<String>,
}

impl ModelFile {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    pub(super) fn speaks_of(&self, lang: Lang) -> bool {
        let name = match lang {
            Lang::Tsx | Lang::TypeScript => "javascript",
            Lang::Cpp => "c",
            Lang::Kotlin => "java",
            other => other.name(),
        };
        self.languages.iter().any(|known| known == name || known == lang.name())
    }

    /// Adds the entries of this file.
    pub(super) fn fill(self, models: &mut Models) -> Result<(), String> {
        for entry in self.source {
            let clean = all_but(&entry.only) | harms(&entry.except);
            let source = SourceModel { note: entry.note.into(), strength: entry.strength, clean };
            for path in &entry.path {
                models.sources.insert(path, source.clone());
            }
        }
        for entry in self.param {
            models.params.push(ParamModel::new(entry)?);
        }
        for entry in self.callback {
            for path in &entry.call {
                models.callbacks.insert(path, entry.params.clone());
            }
        }
        for entry in self.types {
            models.returned_types.insert(entry.is.clone());
            for path in &entry.call {
                models.types.insert(path, entry.is.clone());
            }
        }
        for entry in self.clean {
            for path in &entry.call {
                models.cleans.insert(path, harms(&entry.harms) & !harms(&entry.keeps));
            }
        }
        for entry in self.pass {
            for path in &entry.call {
                models.passes.insert(path, ());
            }
        }
        for entry in self.fill {
            let source = entry.source.map(|note| SourceModel {
                note: note.into(),
                strength: 1.0,
                clean: all_but(&[]),
            });
            let fill = FillModel { from: entry.from, to: entry.to, source };
            for path in &entry.call {
                models.fills.insert(path, fill.clone());
            }
        }
        for entry in &self.mark {
            for path in &entry.call {
                models.marks.insert(path, entry.compiled()?);
            }
            for path in &entry.assign {
                models.assigned_marks.insert(path, entry.compiled()?);
            }
        }
        Ok(())
    }
}

impl MarkEntry {
    fn compiled(&self) -> Result<MarkModel, String> {
        let is = mark(&self.is).ok_or_else(|| format!("`{}` is no mark", self.is))?;
        Ok(MarkModel { args: self.args.as_deref().map(Expression::new).transpose()?, is })
    }
}

/// What a source cannot do: all but what is named. Where nothing is, it can do everything except
/// tell a stranger what the stranger did not know, or be guessed.
fn all_but(named: &[String]) -> Harms {
    if named.is_empty() { harms(&["disclosure", "predictable"]) } else { !harms(named) }
}

impl ParamModel {
    fn new(entry: ParamEntry) -> Result<Self, String> {
        let regex = |text: Option<String>| text.as_deref().map(Expression::new).transpose();
        let strength = entry.strength;
        let own = all_but(&entry.only);
        Ok(Self {
            name: regex(entry.name)?,
            not_name: regex(entry.not_name)?,
            ty: regex(entry.ty)?,
            not_type: regex(entry.not_type)?,
            annotation: regex(entry.annotation)?,
            function: regex(entry.function)?,
            function_annotation: regex(entry.function_annotation)?,
            class_annotation: regex(entry.class_annotation)?,
            base: regex(entry.base)?,
            position: entry.position,
            offered: entry.offered,
            source: entry.source.map(|note| SourceModel {
                note: note.into(),
                strength,
                clean: own,
            }),
            is: entry.is,
        })
    }
}
