//! The built-in checks, and which of them a repository's files call for.

mod c;
mod go;
mod java;
mod make;
mod node;
mod python;
mod rust;

use quorum_model::gate::GateCategory;

use crate::tree::Tree;

/// A preset: what it is called, where it applies, and what it checks there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    /// The folders where it applies.
    pub(crate) folders: fn(&dyn Tree) -> Vec<String>,
    /// Its checks in one folder.
    pub(crate) checks: fn(&dyn Tree, &str) -> Vec<Draft>,
    /// Whether it stands back where another preset knows the same folder.
    pub(crate) stands_back: bool,
}

/// All presets, those that know a language first.
pub(crate) const PRESETS: [Preset; 9] = [
    Preset { name: "go", folders: go::folders, checks: go::checks, stands_back: false },
    Preset { name: "rust", folders: rust::folders, checks: rust::checks, stands_back: false },
    Preset { name: "node", folders: node::folders, checks: node::checks, stands_back: false },
    Preset { name: "python", folders: python::folders, checks: python::checks, stands_back: false },
    Preset { name: "maven", folders: java::maven, checks: java::maven_checks, stands_back: false },
    Preset {
        name: "gradle",
        folders: java::gradle,
        checks: java::gradle_checks,
        stands_back: false,
    },
    Preset { name: "cmake", folders: c::folders, checks: c::checks, stands_back: false },
    Preset { name: "make", folders: make::makefiles, checks: make::make_checks, stands_back: true },
    Preset { name: "task", folders: make::taskfiles, checks: make::task_checks, stands_back: true },
];

/// The names that a configuration may use for presets that have another one.
pub(crate) const ALIASES: [(&str, &[&str]); 6] = [
    ("typescript", &["node"]),
    ("javascript", &["node"]),
    ("java", &["maven", "gradle"]),
    ("c", &["cmake", "make"]),
    ("cpp", &["cmake", "make"]),
    ("taskfile", &["task"]),
];

/// A check of a preset in one folder.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) category: GateCategory,
    pub(crate) required: bool,
    pub(crate) timeout: u64,
    pub(crate) triggers: Vec<String>,
    pub(crate) reports: Vec<String>,
    pub(crate) threshold: Option<f64>,
    /// Whether it runs without being asked for by name.
    pub(crate) enabled: bool,
    pub(crate) reason: String,
}

/// A required check.
fn required(name: &str, category: GateCategory, command: impl Into<String>, timeout: u64) -> Draft {
    Draft {
        name: name.to_owned(),
        command: command.into(),
        category,
        required: true,
        timeout,
        triggers: Vec::new(),
        reports: Vec::new(),
        threshold: None,
        enabled: true,
        reason: String::new(),
    }
}

/// A check whose failure is a warning.
fn optional(name: &str, category: GateCategory, command: impl Into<String>, timeout: u64) -> Draft {
    Draft { required: false, ..required(name, category, command, timeout) }
}

/// A check of coverage, which repeats the tests and so runs only where the team asks for it.
fn coverage(command: impl Into<String>, timeout: u64, reports: &[&str]) -> Draft {
    Draft {
        threshold: Some(80.0),
        enabled: false,
        ..optional("coverage", GateCategory::Coverage, command, timeout)
    }
    .reporting(reports)
}

impl Draft {
    fn on(mut self, triggers: &[&str]) -> Self {
        self.triggers = triggers.iter().map(|&trigger| trigger.to_owned()).collect();
        self
    }

    fn reporting(mut self, reports: &[&str]) -> Self {
        self.reports = reports.iter().map(|&report| report.to_owned()).collect();
        self
    }

    fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }
}

/// Everything but prose: tests read files that no extension tells.
const NOT_PROSE: [&str; 5] = ["*", "!*.md", "!docs/**", "!LICENSE*", "!.github/**"];
