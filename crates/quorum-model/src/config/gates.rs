//! Which commands check a change before reviewers do, and what they may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use crate::gate::GateCategory;

/// The commands that check a change before any reviewer is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatesConfig {
    /// Run them in every review of the work tree, as `--gates` does. Only a user can say so: they
    /// run what the repository brings.
    pub run: bool,
    /// Which built-in checks to take: names of presets, `auto` for those that the repository's files
    /// call for, `none` for none.
    pub preset: Presets,
    /// Changes to single checks of presets.
    pub overrides: Vec<GateOverride>,
    /// The team's own checks.
    pub additional: Vec<AdditionalGate>,
    /// Variables that they get besides the ones that toolchains need. Only a user can say so: what
    /// stands in a variable may be a key.
    pub pass_env: Vec<String>,
    /// Let them reach the network. Only a user can say so.
    pub network: bool,
    /// Run them also where neither namespaces nor Landlock keep them from this user's files. Only a
    /// user can say so, here or by `--allow-unsandboxed-gates`.
    pub allow_unsandboxed: bool,
    /// The most that they may use.
    pub limits: GateLimits,
}

/// One preset or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the name of a preset, or a list of names")]
pub enum Presets {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for Presets {
    fn default() -> Self {
        Self::One("auto".to_owned())
    }
}

impl Presets {
    /// Their names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// Changes to one check of a preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateOverride {
    /// The check: `test`, `go:test`, or `go:test@backend` where there are several.
    pub name: String,
    /// Whether no reviewer is asked when it fails.
    pub required: Option<bool>,
    /// The least coverage, in percent.
    pub threshold: Option<f64>,
    /// Seconds after which it is ended.
    pub timeout: Option<u64>,
    /// Another command.
    pub command: Option<String>,
    /// Whether it runs at all.
    pub enabled: Option<bool>,
}

/// A check of the team's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdditionalGate {
    /// Its name.
    pub name: String,
    /// What a shell is given to run.
    pub command: String,
    /// What it is about.
    pub category: GateCategory,
    /// Whether no reviewer is asked when it fails.
    pub required: bool,
    /// Seconds after which it is ended; 120 where it is not set.
    pub timeout: Option<u64>,
    /// It runs only if a changed file matches one of these globs; empty means always.
    pub triggers: Vec<String>,
    /// Where it runs, from the root of the repository.
    pub working_dir: String,
    /// Files that it writes: `JUnit` or SARIF about its tests or findings, or a coverage report.
    pub reports: Vec<String>,
    /// The least coverage, in percent.
    pub threshold: Option<f64>,
}

/// The most that checks may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateLimits {
    /// MiB of memory, of all processes of a check together.
    pub memory_mb: u64,
    /// Processes and threads of a check.
    pub processes: u64,
    /// MiB of one file.
    pub file_mb: u64,
    /// MiB that all checks together may write.
    pub disk_mb: u64,
    /// Tokens of output that are kept of a check.
    pub output_tokens: u64,
}

impl Default for GateLimits {
    fn default() -> Self {
        Self {
            memory_mb: 8 * 1024,
            processes: 4096,
            file_mb: 4 * 1024,
            disk_mb: 20 * 1024,
            output_tokens: 2000,
        }
    }
}

/// Fewer tokens than this hold no error message.
const MIN_OUTPUT_TOKENS: u64 = 100;

impl GatesConfig {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let problem = |key: &str, message: String| Problem { key: format!("gates.{key}"), message };
        let mut problems = Vec::new();
        for change in &self.overrides {
            if change.name.is_empty() {
                problems.push(problem("overrides", "an override names no check".to_owned()));
            }
            if change.timeout == Some(0) {
                let message = format!("`{}` cannot run in 0 seconds", change.name);
                problems.push(problem("overrides", message));
            }
        }
        for own in &self.additional {
            if own.name.is_empty() || own.command.trim().is_empty() {
                let message = "a check needs a name and a command".to_owned();
                problems.push(problem("additional", message));
            }
            if own.timeout == Some(0) {
                let message = format!("`{}` cannot run in 0 seconds", own.name);
                problems.push(problem("additional", message));
            }
            let parts = std::path::Path::new(&own.working_dir).components();
            if !parts.into_iter().all(|part| matches!(part, std::path::Component::Normal(_))) {
                let message = format!("`{}` is not below the repository", own.working_dir);
                problems.push(problem("additional", message));
            }
        }
        let thresholds = self.overrides.iter().map(|change| ("overrides", change.threshold));
        let own = self.additional.iter().map(|own| ("additional", own.threshold));
        for (key, threshold) in thresholds.chain(own) {
            if let Some(value) = threshold
                && !(0.0..=100.0).contains(&value)
            {
                problems.push(problem(key, format!("{value} is not a percentage")));
            }
        }
        let limits = self.limits;
        for (key, value, least) in [
            ("memory_mb", limits.memory_mb, 64),
            ("processes", limits.processes, 16),
            ("file_mb", limits.file_mb, 1),
            ("disk_mb", limits.disk_mb, 1),
            ("output_tokens", limits.output_tokens, MIN_OUTPUT_TOKENS),
        ] {
            if value < least {
                let message = format!("with less than {least} no check could run");
                problems.push(problem(&format!("limits.{key}"), message));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        let wrong = |text: &str| {
            let config: GatesConfig = serde_json::from_str(text).expect("it parses");
            config.problems().into_iter().map(|problem| problem.message).collect::<Vec<_>>()
        };
        assert_eq!(GatesConfig::default().problems(), []);
        let outside = r#"{"additional": [{"name": "x", "command": "y", "working_dir": "../z"}]}"#;
        assert_eq!(wrong(outside), ["`../z` is not below the repository"]);
        let nameless = r#"{"additional": [{"name": "x", "command": " "}]}"#;
        assert_eq!(wrong(nameless), ["a check needs a name and a command"]);
        let share = r#"{"overrides": [{"name": "coverage", "threshold": 101}]}"#;
        assert_eq!(wrong(share), ["101 is not a percentage"]);
        let small = r#"{"limits": {"output_tokens": 5}}"#;
        assert_eq!(wrong(small), ["with less than 100 no check could run"]);
    }

    #[test]
    fn a_preset_is_a_name_or_a_list() {
        for text in [r#"{"preset": "go"}"#, r#"{"preset": ["go"]}"#] {
            let config: GatesConfig = serde_json::from_str(text).expect("it parses");
            assert_eq!(config.preset.names(), ["go"]);
        }
    }
}
