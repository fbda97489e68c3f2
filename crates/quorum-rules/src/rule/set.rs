//! All rules together.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use quorum_model::wording;
use quorum_syntax::Lang;

use super::compiled::Compiled;
use super::{Rule, RuleError};
use crate::flow::Tables;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The rules of one review: the embedded ones and a team's own.
#[derive(Debug)]
pub struct RuleSet {
    rules: BTreeMap<String, Entry>,
    compiled: Vec<(Lang, OnceLock<Compiled>)>,
    tables: Vec<(Lang, OnceLock<Tables>)>,
}

#[derive(Clone, Debug)]
struct Entry {
    rule: Arc<Rule>,
    team: bool,
}

impl RuleSet {
    /// The embedded rules. They are read once; a test makes sure that all of them can be.
    pub fn embedded() -> &'static Self {
        static SET: OnceLock<RuleSet> = OnceLock::new();
        SET.get_or_init(|| {
            let mut rules = BTreeMap::new();
            for (file, text) in RULES {
                if let Ok(rule) = Rule::parse(file, text) {
                    rules.insert(rule.id.clone(), Entry { rule: Arc::new(rule), team: false });
                }
            }
            Self::of(rules)
        })
    }

    /// The embedded rules and a team's own, given as path and text.
    ///
    /// A team may replace an embedded rule by one with the same id.
    pub fn with_team(files: &[(String, String)]) -> Result<Self, RuleError> {
        let mut rules = Self::embedded().rules.clone();
        for (file, text) in files {
            let rule = Rule::parse(file, text)?;
            Compiled::check(&rule)
                .and_then(|()| Tables::check(&rule))
                .map_err(|(key, message)| RuleError::Key { file: file.clone(), key, message })?;
            if rules.get(&rule.id).is_some_and(|entry| entry.team) {
                return Err(RuleError::Duplicate { file: file.clone(), id: rule.id });
            }
            rules.insert(rule.id.clone(), Entry { rule: Arc::new(rule), team: true });
        }
        Ok(Self::of(rules))
    }

    /// These rules alone, for their tests.
    pub(super) fn single(rule: &Rule) -> Self {
        let entry = Entry { rule: Arc::new(rule.clone()), team: false };
        Self::of(BTreeMap::from([(rule.id.clone(), entry)]))
    }

    fn of(rules: BTreeMap<String, Entry>) -> Self {
        Self {
            rules,
            compiled: Lang::ALL.iter().map(|&lang| (lang, OnceLock::new())).collect(),
            tables: Lang::ALL.iter().map(|&lang| (lang, OnceLock::new())).collect(),
        }
    }

    /// All rules, by their ids.
    pub fn rules(&self) -> impl Iterator<Item = &Arc<Rule>> {
        self.rules.values().map(|entry| &entry.rule)
    }

    /// The rule with an id.
    pub fn get(&self, id: &str) -> Option<&Arc<Rule>> {
        self.rules.get(id).map(|entry| &entry.rule)
    }

    /// Whether a rule is a team's own.
    pub fn is_team(&self, id: &str) -> bool {
        self.rules.get(id).is_some_and(|entry| entry.team)
    }

    /// The rules for one language, compiled when the first file of it is met.
    pub(super) fn compiled(&self, lang: Lang) -> Option<&Compiled> {
        let (_, cell) = self.compiled.iter().find(|(known, _)| *known == lang)?;
        Some(cell.get_or_init(|| Compiled::new(self.rules(), lang)))
    }
}

impl RuleSet {
    /// What flows are followed by in one language.
    pub(crate) fn tables(&self, lang: Lang) -> Option<&Tables> {
        let (_, cell) = self.tables.iter().find(|(known, _)| *known == lang)?;
        Some(cell.get_or_init(|| Tables::new(self.rules(), lang)))
    }
}

impl Rule {
    /// Reads one rule file.
    pub fn parse(file: &str, text: &str) -> Result<Self, RuleError> {
        let rule: Self = toml::from_str(text).map_err(|error| RuleError::Format {
            file: file.to_owned(),
            message: with_needed(wording::plain(&error.to_string())),
        })?;
        rule.validate().map_err(|(key, message)| RuleError::Key {
            file: file.to_owned(),
            key: key.to_owned(),
            message,
        })?;
        Ok(rule)
    }

    fn validate(&self) -> Result<(), (&'static str, String)> {
        if self.languages.is_empty() && !self.code {
            return Err(("languages", "names no language".to_owned()));
        }
        if !(0.0..=1.0).contains(&self.confidence) {
            return Err(("confidence", format!("{} is not between 0 and 1", self.confidence)));
        }
        let ok = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if self.id.is_empty() || !self.id.chars().all(ok) {
            return Err(("id", "use letters, digits, `.`, `-` and `_`".to_owned()));
        }
        if self.matches.is_empty() && self.calls.is_empty() && !self.code {
            return Err(("match", "there is no `[[match]]` and no `[[call]]`".to_owned()));
        }
        for found in &self.matches {
            if found.pattern.is_empty() && found.kind.is_empty() {
                return Err(("match", "it needs a `pattern` or a `kind`".to_owned()));
            }
        }
        for call in &self.calls {
            if call.callee.is_empty() && call.assign.is_empty() {
                return Err(("call", "it needs a `callee` or an `assign`".to_owned()));
            }
        }
        if let Some(case) = self.tests.iter().find(|c| c.find.is_none() == c.pass.is_none()) {
            let lang = case.language.map_or("", Lang::name);
            return Err(("test", format!("a test has either `find` or `pass` ({lang})")));
        }
        Ok(())
    }
}

/// What is missing is named with all that must be there; an unknown key with all that may be.
fn with_needed(message: String) -> String {
    if message.ends_with("is missing") {
        format!("{message}; a rule needs id, agent, severity, category, title and fix")
    } else {
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_is_a_good_rule_named_by_its_id() {
        for (file, text) in RULES {
            let rule = Rule::parse(file, text).unwrap_or_else(|error| panic!("{error}"));
            assert!(file.ends_with(&format!("/{}.toml", rule.id)), "{file} has id {}", rule.id);
            if let Err((key, why)) = Compiled::check(&rule).and_then(|()| Tables::check(&rule)) {
                panic!("{file}: {key}: {why}");
            }
            assert!(rule.tests.iter().any(|case| case.find.is_some()), "{file} finds nothing");
            assert!(rule.tests.iter().any(|case| case.pass.is_some()), "{file} passes nothing");
        }
        assert_eq!(RULES.len(), RuleSet::embedded().rules().count());
    }

    #[test]
    fn a_bad_rule_is_named_with_its_key() {
        let text = "id = 'team.x'\nagent = 'security-reviewer'\nseverity = 'high'\n\
                    category = 'injection'\nlanguages = ['go']\ntitle = 'T.'\nfix = 'F.'\n\
                    [[match]]\npattern = 'f($X)'\nwhere.X.regex = '('\n";
        let file = ".quorum/rules/team.x.toml".to_owned();
        let error = RuleSet::with_team(&[(file.clone(), text.to_owned())]).expect_err("bad");
        assert!(error.to_string().starts_with(".quorum/rules/team.x.toml: `where.X.regex`: "));
        let error = RuleSet::with_team(&[(file, text.replace("severity", "seveerity"))]);
        assert!(error.expect_err("bad").to_string().contains("seveerity"));
    }
}
