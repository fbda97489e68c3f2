//! Checks that commands make before any reviewer is asked: what they are and how they end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a check is about. The order is the order in which checks run.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum GateCategory {
    /// It prepares what the others need.
    Setup,
    /// It compiles.
    Build,
    /// It checks types without building.
    Typecheck,
    /// It looks for suspicious code.
    Lint,
    /// It compares the code with how a formatter would write it.
    Format,
    /// It runs tests.
    #[default]
    Test,
    /// It measures how much of the code the tests run.
    Coverage,
}

impl GateCategory {
    /// The spelling used in configuration and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Build => "build",
            Self::Typecheck => "typecheck",
            Self::Lint => "lint",
            Self::Format => "format",
            Self::Test => "test",
            Self::Coverage => "coverage",
        }
    }
}

/// One check: a command, and when and how it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateCheck {
    /// Its name, unique among the checks of a repository.
    pub name: String,
    /// What a shell is given to run.
    pub command: String,
    /// What it is about.
    pub category: GateCategory,
    /// The preset that it comes from; absent for a team's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Where it runs, from the root of the repository; empty for the root.
    pub working_dir: String,
    /// Whether no reviewer is asked when it fails.
    pub required: bool,
    /// Seconds after which it is ended.
    pub timeout: u64,
    /// It runs only if a changed file below its folder matches one of these; empty means always. A
    /// pattern that begins with `!` takes files out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<String>,
    /// Files that it writes about its tests or findings: `JUnit` or SARIF, as paths or globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// The least coverage, in percent, where it measures coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Why it is there, such as the file that it was detected by.
    pub reason: String,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateStatus {
    /// It succeeded.
    Passed,
    /// It failed.
    Failed,
    /// It took too long.
    TimedOut,
    /// Its tool is missing. A required check that did not run counts as failed.
    NotRun,
    /// Nothing that it looks at changed, or what it builds on failed before it.
    Skipped,
}

impl GateStatus {
    /// How it reads in a sentence.
    pub fn as_words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::TimedOut => "took too long",
            Self::NotRun => "did not run",
            Self::Skipped => "was skipped",
        }
    }
}

/// The outcome of one check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    /// The check's name.
    pub name: String,
    /// The command.
    pub command: String,
    /// Whether the review stops when it fails.
    pub required: bool,
    /// How it ended.
    pub status: GateStatus,
    /// The exit code, where the command ran to its end.
    pub exit_code: Option<i32>,
    /// The part of its output that matters.
    pub output: String,
    /// What it is about.
    #[serde(default)]
    pub category: GateCategory,
    /// The preset that it comes from; absent for a team's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Where it ran, from the root of the repository; empty for the root.
    #[serde(default)]
    pub working_dir: String,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
    /// Why it did not pass, where the exit code does not say it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What its output says about places in the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<GateFinding>,
    /// How much of the code its tests ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<GateCoverage>,
}

impl GateResult {
    /// Whether it stops the review.
    pub fn blocks(&self) -> bool {
        let failed = [GateStatus::Failed, GateStatus::TimedOut, GateStatus::NotRun];
        self.required && failed.contains(&self.status)
    }

    /// How it ended, in words that follow its name.
    pub fn outcome(&self) -> String {
        match (&self.reason, self.exit_code) {
            (Some(reason), _) if self.status == GateStatus::Failed => format!("failed: {reason}"),
            (Some(reason), _) => format!("{}: {reason}", self.status.as_words()),
            (None, Some(code)) if self.status == GateStatus::Failed => {
                format!("failed with exit code {code}")
            }
            (None, _) => self.status.as_words().to_owned(),
        }
    }
}

/// What a check's output says about a place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateFinding {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line; 0 where only the file is known.
    pub line: u64,
    /// The column, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// Whether it is what made the check fail.
    pub level: GateLevel,
    /// What the tool says.
    pub message: String,
    /// The tool's name for it, such as `E0425`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// How much a tool makes of what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateLevel {
    /// An error or a failed test.
    Error,
    /// A warning.
    Warning,
}

/// How much of the code the tests ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateCoverage {
    /// In percent.
    pub percent: f64,
    /// The least that is enough, where one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// What all checks of a repository came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateReport {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// Whether no required check failed.
    pub passed: bool,
    /// One entry for each check, in the order in which they ran.
    pub gates: Vec<GateResult>,
    /// What kept them apart from the rest of the machine.
    pub isolation: Isolation,
}

/// What keeps commands apart from the rest of the machine, and what does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// What the kernel enforces, a sentence each.
    pub holds: Vec<String>,
    /// What nothing on this machine enforces, a sentence each.
    pub missing: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(status: GateStatus, required: bool) -> GateResult {
        serde_json::from_value(serde_json::json!({
            "name": "test", "command": "make test", "required": required, "status": status,
            "exit_code": 2, "output": "",
        }))
        .expect("a result of an earlier version parses")
    }

    #[test]
    fn only_a_required_check_that_was_due_and_did_not_pass_blocks() {
        for (status, blocks) in [
            (GateStatus::Passed, false),
            (GateStatus::Failed, true),
            (GateStatus::TimedOut, true),
            (GateStatus::NotRun, true),
            (GateStatus::Skipped, false),
        ] {
            assert_eq!(gate(status, true).blocks(), blocks, "{status:?}");
            assert!(!gate(status, false).blocks(), "{status:?}");
        }
    }

    #[test]
    fn an_outcome_names_its_cause() {
        assert_eq!(gate(GateStatus::Failed, true).outcome(), "failed with exit code 2");
        let mut missing = gate(GateStatus::NotRun, true);
        missing.reason = Some("`go` is not installed".to_owned());
        assert_eq!(missing.outcome(), "did not run: `go` is not installed");
    }
}
