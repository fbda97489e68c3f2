//! What can go wrong, with the way out.

use thiserror::Error;

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// An agent that nobody defined.
    #[error("there is no agent `{name}`")]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// The agents that there are.
        known: Vec<String>,
    },
    /// An agent that is switched off.
    #[error("the agent `{0}` is disabled in the configuration")]
    DisabledAgent(String),
    /// A provider that nobody defined.
    #[error("there is no provider `{name}`")]
    UnknownProvider {
        /// What was asked for.
        name: String,
        /// The providers that there are.
        known: Vec<String>,
    },
    /// A provider without a model.
    #[error("no model is set for the provider `{0}`")]
    NoModel(String),
    /// A window that holds nothing beside what is always sent.
    #[error("the window of `{model}` ({window} tokens) is too small for a review")]
    WindowTooSmall {
        /// The model.
        model: String,
        /// Its window.
        window: u64,
    },
    /// A Markdown file whose front matter cannot be read.
    #[error("{path}: {message}")]
    FrontMatter {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// A file to which more SOPs apply than a request has room for. They are never cut.
    #[error(
        "the SOPs that apply to {path} take {} tokens, more than the {reserve} kept for them: {}",
        sops.iter().map(|(_, tokens)| tokens).sum::<u64>(),
        sops.iter().map(|(name, tokens)| format!("{name} ({tokens})")).collect::<Vec<_>>().join(", ")
    )]
    SopsOverReserve {
        /// The file.
        path: String,
        /// The SOPs with their tokens.
        sops: Vec<(String, u64)>,
        /// What is kept for them.
        reserve: u64,
    },
    /// A glob that cannot be read.
    #[error("`{pattern}` is not a glob: {message}")]
    BadGlob {
        /// The glob.
        pattern: String,
        /// What is wrong.
        message: String,
    },
}

impl PlanError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownAgent { name, known } | Self::UnknownProvider { name, known } => {
                let score = |known: &String| strsim::jaro_winkler(known, name);
                let nearest = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
                let all = known.join(", ");
                if score(nearest) > 0.7 {
                    return Some(format!("did you mean `{nearest}`? There are: {all}"));
                }
                Some(format!("there are: {all}"))
            }
            Self::DisabledAgent(name) => Some(format!("remove `agent.{name}.enabled = false`")),
            Self::NoModel(_) => {
                Some("name one with `--model`, or set `model` in quorum.toml".into())
            }
            Self::WindowTooSmall { .. } => {
                Some("take a model with a window of 20,000 tokens or more".into())
            }
            Self::FrontMatter { path, .. } if path.contains("sops/") => {
                Some("`quorum sops check` looks at all SOPs".into())
            }
            Self::FrontMatter { .. } => {
                Some("`quorum agents --explain` shows a valid agent".into())
            }
            Self::SopsOverReserve { .. } => Some(
                "shorten them, or narrow their `applies_to`: reviewers are shown SOPs whole".into(),
            ),
            Self::BadGlob { .. } => Some("`*` stays in one folder, `**` crosses folders".into()),
        }
    }
}
