//! What a reviewer is told. The words are in `prompts/`.

use std::borrow::Cow;

use minijinja::{Environment, Value, context};
use quorum_model::agent::Agent;
use quorum_model::budget::{Mode, Thresholds};
use quorum_model::plan::{Plan, Shard};
use quorum_model::scope::{Change, FileEntry};
use quorum_model::unit::Unit;

use super::fence::Fence;
use super::shown::Library;
use super::units;

/// How a reviewer answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// By calling tools.
    Tools,
    /// By a document whose form the server enforces.
    Schema,
    /// By a document whose form it is asked for.
    Plain,
}

impl Style {
    /// What to try where a server does not know this.
    pub(crate) fn weaker(self) -> Option<Self> {
        match self {
            Self::Tools => Some(Self::Schema),
            Self::Schema => Some(Self::Plain),
            Self::Plain => None,
        }
    }
}

/// A standing order as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownSop {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// How much a reviewer may still say and see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BudgetNote {
    pub(crate) used: u64,
    pub(crate) budget: u64,
    pub(crate) room: u64,
    pub(crate) mode: Mode,
    pub(crate) thresholds: Thresholds,
    pub(crate) style: Style,
    pub(crate) may_look: bool,
    pub(crate) turns: u64,
}

/// Renders the texts of a run; all of them carry its nonce.
pub(crate) struct Prompts {
    environment: Environment<'static>,
    pub(crate) fence: Fence,
}

impl Prompts {
    /// The prompts of a run, whose fences follow from `fence`.
    pub(crate) fn new(fence: &str) -> Self {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        let templates = [
            ("common", include_str!("../../prompts/common.md")),
            ("role", include_str!("../../prompts/role.md")),
            ("task", include_str!("../../prompts/task.md")),
            ("budget", include_str!("../../prompts/budget.md")),
            ("repair", include_str!("../../prompts/repair.md")),
            ("sops", include_str!("../../prompts/sops.md")),
            ("context", include_str!("../../prompts/context.md")),
            ("exchange", include_str!("../../prompts/exchange.md")),
            ("verify", include_str!("../../prompts/verify.md")),
        ];
        for (name, source) in templates {
            // A template that does not parse is found by the tests, which render all of them.
            drop(environment.add_template(name, source));
        }
        Self { environment, fence: Fence::new(fence) }
    }

    fn render(&self, name: &str, values: Value) -> String {
        let template = self.environment.get_template(name);
        template.and_then(|template| template.render(values)).unwrap_or_default()
    }

    /// What all reviewers of the run are told.
    pub(crate) fn common(&self) -> String {
        self.render("common", context! { nonce => self.fence.nonce() })
    }

    /// Who one reviewer is.
    pub(crate) fn role(&self, agent: &Agent) -> String {
        self.render(
            "role",
            context! {
                instructions => agent.instructions.clone(),
                name => agent.name.clone(),
                focus => agent.focus.clone(),
                categories => agent.categories.clone(),
                max_severity => agent.max_severity.map(quorum_model::severity::Severity::as_str),
            },
        )
    }

    /// What is reviewed, by which orders; `label` and `hints` hold no secrets.
    pub(crate) fn task(
        &self,
        (plan, label): (&Plan, &str),
        shard: &Shard,
        part: (usize, usize),
        sops: &[ShownSop],
        hints: &[String],
    ) -> String {
        let mut files: Vec<&str> = shard.units.iter().map(|unit| &*unit.path).collect();
        files.dedup();
        self.render(
            "task",
            context! {
                label => self.fence.around(&[("about", "change")], label),
                files => plan.scope.files.len(),
                shown => files.len(),
                part => part.0,
                parts => part.1,
                tier => plan.tier.name.as_str(),
                sops => sops.iter().map(|sop| context! { name => sop.name.clone(), text => sop.text.clone() }).collect::<Vec<Value>>(),
                hints => (!hints.is_empty()).then(|| self.fence.list("hints", hints)),
            },
        )
    }

    /// How much it may still say, and how.
    pub(crate) fn budget(&self, note: &BudgetNote) -> String {
        let percent = note.used.saturating_mul(100) / note.budget.max(1);
        let mode = match note.mode {
            Mode::FullAnalysis => "full_analysis",
            Mode::HighSeverityOnly => "high_severity_only",
            Mode::ForceReturn | Mode::Cut => "force_return",
        };
        let share = |share: quorum_model::budget::Share| share.floor_of(100);
        self.render(
            "budget",
            context! {
                used => note.used,
                budget => note.budget,
                percent => percent,
                room => note.room,
                mode => mode,
                full => share(note.thresholds.full_analysis),
                high => share(note.thresholds.high_severity),
                cut => share(note.thresholds.force_return),
                style => if note.style == Style::Tools { "tools" } else { "json" },
                may_look => note.may_look,
                turns => note.turns,
            },
        )
    }

    /// Why an answer could not be used.
    pub(crate) fn repair(&self, wrong: &str) -> String {
        self.render("repair", context! { wrong => wrong })
    }

    /// Which standing orders an answer is missing for.
    pub(crate) fn missing_sops(&self, names: &[String]) -> String {
        self.render("sops", context! { names => names.to_vec() })
    }

    /// What is known around the change.
    pub(crate) fn around(&self, text: &str) -> String {
        self.render(
            "context",
            context! { context => self.fence.around(&[("context", "around")], text) },
        )
    }

    /// What others found, and what is asked about it; how to answer a `host` is told elsewhere.
    pub(crate) fn exchange(&self, claims: &str, ballot: bool, host: bool) -> String {
        self.render("exchange", context! { claims => claims, ballot => ballot, host => host })
    }

    /// Findings to be refuted.
    pub(crate) fn verify(&self, claims: &str) -> String {
        self.render("verify", context! { claims => claims })
    }

    /// One file's units, and what is `planted` after them, in fences. Absent where nothing of the
    /// file may be shown.
    pub(crate) fn file(
        &self,
        entry: &FileEntry,
        library: &Library<'_>,
        all: &[&Unit],
        wanted: &[&Unit],
        planted: &str,
    ) -> Option<String> {
        let mut text = String::new();
        let named_only = wanted.iter().all(|unit| unit.kind == quorum_model::unit::UnitKind::Name);
        if named_only {
            text.push_str("(the name alone: generated, binary, or nothing to show)\n");
        } else {
            let file = library.changed(&entry.path)?;
            for (unit, shown) in all.iter().zip(units::texts(&file, entry.change, all)) {
                if wanted.contains(unit) {
                    text.push_str(&shown);
                }
            }
        }
        text.push_str(planted);
        Some(self.fence.around(&borrowed(&attributes(entry, library)), &text))
    }
}

/// Attributes as a fence takes them.
fn borrowed<'a>(attributes: &'a [(&'a str, Cow<'a, str>)]) -> Vec<(&'a str, &'a str)> {
    attributes.iter().map(|(name, value)| (*name, &**value)).collect()
}

/// What is known of a file, as a tag carries it.
fn attributes<'e>(
    entry: &'e FileEntry,
    library: &Library<'_>,
) -> Vec<(&'static str, Cow<'e, str>)> {
    let change = match entry.change {
        Change::Added => "added",
        Change::Modified => "modified",
        Change::Deleted => "deleted",
        Change::Renamed => "renamed",
        Change::Copied => "copied",
        Change::TypeChanged => "type changed",
        Change::Unmerged => "unmerged",
        Change::Unchanged => "whole file",
    };
    let mut attributes =
        vec![("path", library.name(&entry.path)), ("change", Cow::Borrowed(change))];
    attributes.extend(entry.old_path.as_ref().map(|old| ("from", library.name(old))));
    let language = entry.language.as_deref();
    attributes.extend(language.map(|language| ("language", Cow::Borrowed(language))));
    attributes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::llm::fence::tests::{hostile, outside};
    use crate::llm::redact::NoSecrets;
    use crate::llm::shown::{Changed, Material};
    use crate::llm::testing;

    #[test]
    fn every_template_says_something() {
        let prompts = Prompts::new("run");
        assert!(prompts.common().contains(prompts.fence.nonce()));
        let note = BudgetNote {
            used: 10,
            budget: 100,
            room: 7,
            mode: Mode::FullAnalysis,
            thresholds: Thresholds::default(),
            style: Style::Tools,
            may_look: true,
            turns: 3,
        };
        let full = prompts.budget(&note);
        assert!(full.contains("10 of 100 tokens") && full.contains("80 %"), "{full}");
        assert!(full.contains("`report_finding`") && full.contains("`callers`"), "{full}");
        let high = BudgetNote { mode: Mode::HighSeverityOnly, style: Style::Plain, ..note };
        let high = prompts.budget(&high);
        assert!(high.contains("high severity only") && high.contains("\"findings\""), "{high}");
        let forced = prompts.budget(&BudgetNote { mode: Mode::ForceReturn, ..note });
        assert!(forced.contains("force return"), "{forced}");
        assert!(prompts.repair("no JSON").contains("no JSON"));
        let names = ["errors".to_owned(), "tests".to_owned()];
        assert!(prompts.missing_sops(&names).contains("change: errors, tests."));
        assert!(
            prompts.around("fn f()").contains(&format!(
                "context=\"around\">\nfn f()\n</file-{}>",
                prompts.fence.nonce()
            ))
        );
        let shard =
            Shard { wave: 1, tokens: 0, sops: Vec::new(), notes: Vec::new(), units: Vec::new() };
        let sop = ShownSop { name: "errors".to_owned(), text: "Wrap them.".to_owned() };
        let task = prompts.task(
            (&testing::empty_plan(), "main"),
            &shard,
            (1, 2),
            &[sop],
            &["look".to_owned()],
        );
        assert!(task.contains("part 1 of 2") && task.contains("Wrap them."), "{task}");
        assert!(task.contains("- look"), "{task}");
        let ballot = prompts.exchange("CLAIMS", true, false);
        assert!(ballot.contains("CLAIMS") && !ballot.contains("withdraw"), "{ballot}");
        assert!(prompts.exchange("CLAIMS", false, false).contains("`withdraw`"));
        let told = prompts.exchange("CLAIMS", true, true);
        assert!(told.contains("CLAIMS") && !told.contains("How to answer"), "{told}");
        assert!(prompts.verify("CLAIMS").contains("CLAIMS"));
    }

    struct Files(String, String);

    impl Material for Files {
        fn changed(&self, _path: &str) -> Option<Changed> {
            Some(Changed { head: Some(self.1.as_str().into()), base: None, hunks: Vec::new() })
        }

        fn head(&self, _path: &str) -> Option<Arc<str>> {
            None
        }

        fn paths(&self) -> &[String] {
            &[]
        }
    }

    /// A whole request's words about a change that is called `label` and has a file `path`.
    fn rendered(label: &str, path: &str, text: &str) -> String {
        let prompts = Prompts::new("run");
        let files = Files(path.to_owned(), text.to_owned());
        let library = Library::new(&files, &NoSecrets);
        let entry = json!({ "path": files.0, "old_path": path, "change": "modified",
            "language": "Rust", "kind": "code", "tokens": 1, "flags": [], "hunks": [] });
        let entry: FileEntry = serde_json::from_value(entry).unwrap();
        let unit = json!({ "path": path, "kind": "span", "start_line": 1, "end_line": 3,
            "tokens": 1 });
        let unit: Unit = serde_json::from_value(unit).unwrap();
        let shard =
            Shard { wave: 1, tokens: 0, sops: Vec::new(), notes: Vec::new(), units: Vec::new() };
        let hints = [format!("{path}:3: rule"), format!("the gate {label} failed")];
        let plan = testing::empty_plan();
        [
            prompts.task((&plan, label), &shard, (1, 1), &[], &hints),
            prompts.file(&entry, &library, &[&unit], &[&unit], "").unwrap_or_default(),
            prompts.around(label),
        ]
        .join("\n")
    }

    proptest! {
        /// Whatever a change is called and holds, the words around the fences are the same.
        #[test]
        fn nothing_of_a_change_stands_outside_of_a_fence(
            label in hostile(Fence::new("run").nonce().to_owned()),
            path in hostile(Fence::new("run").nonce().to_owned()),
            text in hostile(Fence::new("run").nonce().to_owned()),
        ) {
            let nonce = Fence::new("run").nonce().to_owned();
            let plain = outside(&rendered("main", "a.rs", "x"), &nonce);
            prop_assert_eq!(plain.1, 4);
            prop_assert_eq!(outside(&rendered(&label, &path, &text), &nonce), plain);
        }
    }
}
