//! What a review is asked for: a value that can be kept, sent and compared.

use std::path::{Path, PathBuf};

use quorum_model::config::{FailOn, TierName, Tokenizer};
use quorum_model::plan::Protocol;
use quorum_model::scope::ScopeKind;
use quorum_rules::secrets::redact;
use quorum_scope::request::{Selection, Sides, Target};
use quorum_store::OwnRun;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::EngineError;

/// The version of the documents that [`ReviewRequest`] becomes.
pub const REQUEST_VERSION: u32 = 1;

const FILE: &str = "request.json";
/// A diff that came from elsewhere, which may not be there any more.
const DIFF: &str = "request.diff";

/// What to review, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    /// See [`REQUEST_VERSION`].
    pub version: u32,
    /// The folder that paths are relative to: the repository around it is reviewed.
    pub root: PathBuf,
    /// Which change.
    pub selection: ReviewSelection,
    /// Files, folders and globs. Without another selection they are reviewed whole; else they narrow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// How.
    #[serde(default)]
    pub options: ReviewOptions,
}

impl ReviewRequest {
    /// A review of `selection` in the repository around `root`, as configured.
    pub fn new(root: impl Into<PathBuf>, selection: ReviewSelection) -> Self {
        Self {
            version: REQUEST_VERSION,
            root: root.into(),
            selection,
            paths: Vec::new(),
            options: ReviewOptions::default(),
        }
    }
}

/// Which change is reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ReviewSelection {
    /// What differs from the default branch, else uncommitted work.
    #[default]
    Default,
    /// Every file.
    All,
    /// Parts of what is not committed.
    Uncommitted {
        /// The index against the last commit.
        staged: bool,
        /// The work tree against the index.
        unstaged: bool,
        /// Files that git does not track.
        untracked: bool,
    },
    /// One commit against its first parent.
    Commit {
        /// The commit.
        revision: String,
    },
    /// `A..B` or `A...B`.
    Range {
        /// The two ends.
        range: String,
    },
    /// What HEAD added since it left a revision.
    Base {
        /// The revision.
        revision: String,
    },
    /// What differs from a tree, committed or not; policy comes from that tree.
    Since {
        /// The tree's id.
        tree: String,
    },
    /// A pull or merge request on the repository's code host.
    PullRequest {
        /// Its number.
        number: u64,
    },
    /// A diff from elsewhere.
    Diff {
        /// Where it comes from, for people.
        label: String,
        /// [`ScopeKind::Diff`], or [`ScopeKind::Pr`] for one that a code host sent.
        origin: ScopeKind,
        /// The commit that it is measured against, where that is known.
        base: Option<String>,
        /// The diff. It is kept beside the request, not in it.
        #[serde(skip)]
        text: Vec<u8>,
    },
}

/// How a change is reviewed. What is absent is as configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ReviewOptions {
    /// This tier instead of the one that the change scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierName>,
    /// These reviewers instead of the ones that the change calls for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// How findings become a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// What does the reviewers' work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Follow up on what the budget leaves out.
    pub complete: bool,
    /// Look at blocking findings a second time.
    pub verify: bool,
    /// Whether a defect is planted in what models are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary: Option<bool>,
    /// Why vetoes do not block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_vetos: Option<String>,
    /// The least severity that fails a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// Any finding fails a review, and so does a file that was only read.
    pub strict: bool,
    /// The most tokens of all calls together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The most US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_usd: Option<f64>,
    /// The most seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<u64>,
    /// Reviewers that run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Run gates before the reviewers.
    pub gates: bool,
    /// Run gates for a change that may be somebody else's.
    pub trust_gates: bool,
    /// Run gates even where nothing keeps them from the user's files.
    pub allow_unsandboxed_gates: bool,
    /// How tokens are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<Tokenizer>,
    /// The work is wanted quickly: counts a tenth more towards the tier.
    pub time_pressure: bool,
}

impl ReviewSelection {
    /// What a scope is resolved from; absent for a pull request, whose host has to be asked first.
    pub(crate) fn resolved(&self) -> Option<Selection> {
        Some(match self {
            Self::Default => Selection::Default,
            Self::All => Selection::All,
            Self::Uncommitted { staged, unstaged, untracked } => Selection::Uncommitted {
                staged: *staged,
                unstaged: *unstaged,
                untracked: *untracked,
            },
            Self::Commit { revision } => Selection::Commit(revision.clone()),
            Self::Range { range } => Selection::Range(range.clone()),
            Self::Base { revision } => Selection::Base(revision.clone()),
            Self::Since { tree } => Selection::Since(tree.clone()),
            Self::PullRequest { .. } => return None,
            Self::Diff { label, origin, base, text } => Selection::Diff {
                kind: *origin,
                label: label.clone(),
                base: base.clone(),
                text: text.clone(),
            },
        })
    }

    /// The number of the pull request that is meant.
    pub(crate) fn pull_request(&self) -> Option<u64> {
        match self {
            Self::PullRequest { number } => Some(*number),
            _ => None,
        }
    }

    /// Whether it needs no repository.
    pub(crate) fn stands_alone(&self) -> bool {
        matches!(self, Self::Diff { .. } | Self::PullRequest { .. })
    }
}

/// The request as it may be written down. Without a secret, the words of a reason are still a reason;
/// anything else, such as the command line of a program with a token in it, would be another request,
/// and is not kept.
fn without_secrets(request: &ReviewRequest) -> Option<Value> {
    let mut request = request.clone();
    request.options.ignore_vetos = request.options.ignore_vetos.map(|reason| redact(&reason));
    let reason = request.options.ignore_vetos.take();
    let mut value = serde_json::to_value(&request).ok()?;
    if has_secrets(&value) {
        return None;
    }
    if let Some(reason) = reason {
        value["options"]["ignore_vetos"] = Value::String(reason);
    }
    Some(value)
}

fn has_secrets(value: &Value) -> bool {
    match value {
        Value::String(text) => redact(text) != *text,
        Value::Array(all) => all.iter().any(has_secrets),
        Value::Object(all) => all.values().any(has_secrets),
        _ => false,
    }
}

/// What is kept of a request with its run, by file name. A run whose request cannot be written down is
/// complete without it; it only cannot be resumed.
pub(crate) fn files(
    target: &Target,
    request: Option<&ReviewRequest>,
) -> Vec<(&'static str, Vec<u8>)> {
    let Some(request) = request else { return Vec::new() };
    let mut request = request.clone();
    let mut diff = None;
    if let Sides::Patch(text) = &target.sides {
        diff = Some((DIFF, text.clone()));
        // A pull request's diff came from its host, which may have another one by then.
        request.selection = ReviewSelection::Diff {
            label: redact(&target.label),
            origin: target.kind,
            base: target.base.clone(),
            text: Vec::new(),
        };
    }
    let text = without_secrets(&request);
    let Some(text) = text.and_then(|request| serde_json::to_vec_pretty(&request).ok()) else {
        return Vec::new();
    };
    diff.into_iter().chain([(FILE, text)]).collect()
}

/// What a run was asked for; its diff is read from the run's directory. Anybody else's request would
/// send, pay and run what they like.
pub(crate) fn load(run: &OwnRun) -> Result<ReviewRequest, EngineError> {
    let run = run.summary();
    let text = std::fs::read(run.directory().join(FILE))
        .map_err(|_| unusable(run.id(), "it does not say what it was asked for"))?;
    let mut request = parse(run.id(), &text)?;
    if let ReviewSelection::Diff { text, .. } = &mut request.selection {
        *text = read_diff(run.id(), &run.directory().join(DIFF))?;
    }
    Ok(request)
}

fn read_diff(run: &str, path: &Path) -> Result<Vec<u8>, EngineError> {
    std::fs::read(path).map_err(|error| unusable(run, &format!("its diff cannot be read: {error}")))
}

/// Reads a kept request. One of another version is refused by name, never guessed at.
fn parse(run: &str, text: &[u8]) -> Result<ReviewRequest, EngineError> {
    let damaged = || unusable(run, "what it was asked for is damaged");
    let value: Value = serde_json::from_slice(text).map_err(|_| damaged())?;
    if value.get("arguments").is_some() {
        let text = "an earlier version of Quorum started it and recorded a command line";
        return Err(unusable(run, text));
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(version) if version == u64::from(REQUEST_VERSION) => {
            serde_json::from_value(value).map_err(|_| damaged())
        }
        Some(version) => {
            let text = format!(
                "its request has version {version}, and this Quorum reads version {REQUEST_VERSION}"
            );
            Err(unusable(run, &text))
        }
        None => Err(damaged()),
    }
}

fn unusable(run: &str, why: &str) -> EngineError {
    EngineError::unavailable(format!("cannot resume run {run}: {why}"))
        .with_hint("`quorum review` starts a new one")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn full() -> ReviewRequest {
        ReviewRequest {
            version: REQUEST_VERSION,
            root: "/work".into(),
            selection: ReviewSelection::Range { range: "a..b".to_owned() },
            paths: vec!["src/**".to_owned()],
            options: ReviewOptions {
                tier: Some(TierName::Complex),
                agents: vec!["security".to_owned()],
                protocol: Some(Protocol::Vote),
                provider: Some("anthropic".to_owned()),
                fail_on: Some(FailOn::Low),
                max_usd: Some(0.5),
                jobs: Some(2),
                canary: Some(false),
                strict: true,
                ..ReviewOptions::default()
            },
        }
    }

    #[test]
    fn what_is_kept_is_read_back() {
        let kept = without_secrets(&full()).expect("there is no secret in it");
        let text = serde_json::to_vec(&kept).expect("it serialises");
        assert_eq!(parse("r", &text).expect("it parses"), full());
    }

    /// What version 1 writes, as it was recorded when version 1 was made: a later one must read it, or
    /// refuse it by its version.
    #[test]
    fn a_recorded_request_of_version_1_is_read() {
        let recorded = include_bytes!("../tests/recorded/request-1.json");
        assert_eq!(parse("r", recorded).expect("it parses"), full());
    }

    #[test]
    fn requests_of_other_versions_are_refused_by_name() {
        let argv = include_bytes!("../tests/recorded/request-argv.json");
        let error = parse("r1", argv).expect_err("an argv is no request");
        assert!(error.to_string().contains("an earlier version of Quorum"), "{error}");
        assert!(error.hint().is_some());
        let newer = json!({ "version": 2, "root": "/w", "selection": { "kind": "new" } });
        let error = parse("r1", newer.to_string().as_bytes()).expect_err("it is newer");
        assert!(error.to_string().contains("has version 2"), "{error}");
        for damaged in ["", "{}", "[1]", r#"{"version": 1}"#] {
            let error = parse("r1", damaged.as_bytes()).expect_err("it is damaged");
            assert!(error.to_string().contains("damaged"), "{damaged}: {error}");
        }
    }

    #[test]
    fn a_request_with_a_secret_is_not_kept_and_a_reason_is_kept_without() {
        let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let mut request = full();
        request.options.model = Some(format!("tool --token {secret}"));
        assert_eq!(without_secrets(&request), None);
        let mut request = full();
        request.options.ignore_vetos = Some(format!("we know {secret}"));
        let kept = without_secrets(&request).expect("a reason is words").to_string();
        assert!(kept.contains("we know") && !kept.contains(&secret), "{kept}");
    }
}
