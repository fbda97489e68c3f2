//! The way out of each error.

use quorum_model::config::ForgeKind;

use crate::error::{Access, ForgeError, Peer, Reset};

impl ForgeError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownHost { .. } => {
                "set `kind` and `api_url` under `[forge]` in quorum.toml".to_owned()
            }
            Self::NoRepository { .. } | Self::InvalidRepository { .. } => {
                "set `repository = \"owner/name\"` under `[forge]` in quorum.toml".to_owned()
            }
            Self::InvalidAddress { .. } => {
                "use an address like `https://HOST/api/v3` for GitHub and `https://HOST/api/v4` \
                 for GitLab"
                    .to_owned()
            }
            Self::InvalidToken { variable } => format!("set {variable} to the token alone"),
            Self::Client { .. } => {
                "install the system's certificates, often a package called `ca-certificates`"
                    .to_owned()
            }
            Self::RateLimited { peer, reset } => rate_limit(peer, *reset),
            Self::Unauthorized { peer } | Self::Forbidden { peer, .. } => token(peer),
            Self::NotFound { peer, .. } => {
                format!("check the number and the repository; if it is private, {}", token(peer))
            }
            Self::Server { .. } | Self::Interrupted { .. } | Self::NotReady { .. } => {
                "try again in a minute".to_owned()
            }
            Self::Rejected { .. } | Self::Malformed { .. } => {
                "check `api_url` and `kind` under `[forge]` in quorum.toml".to_owned()
            }
            Self::Redirected { to, .. } => format!(
                "if {to} may see the token, set `api_url` under `[forge]` in quorum.toml to \
                 its address"
            ),
            Self::Unreachable { .. } | Self::TimedOut { .. } => {
                "check the network, the proxy, and `api_url` under `[forge]` in quorum.toml"
                    .to_owned()
            }
            Self::TooLarge { .. } | Self::Truncated { .. } => {
                "fetch the branch and review it with `--base` instead of `--pr`".to_owned()
            }
        };
        Some(hint)
    }
}

/// What would make the host trust the request.
fn token(peer: &Peer) -> String {
    match (peer.access, peer.kind) {
        (Access::Anonymous, ForgeKind::GitHub) => {
            "set GITHUB_TOKEN or GH_TOKEN to a token that may read pull requests".to_owned()
        }
        (Access::Anonymous, ForgeKind::GitLab) => {
            "set GITLAB_TOKEN to a token with the scope `read_api`".to_owned()
        }
        // GitLab answers job tokens with 404 on merge requests (gitlab-org/gitlab#545150).
        (Access::Token("CI_JOB_TOKEN"), _) => {
            "set GITLAB_TOKEN to a token with the scope `read_api`, because most versions of \
             GitLab let no CI_JOB_TOKEN read merge requests"
                .to_owned()
        }
        (Access::Token(variable), ForgeKind::GitHub) => {
            format!("set {variable} to a token that may read pull requests of this repository")
        }
        (Access::Token(variable), ForgeKind::GitLab) => {
            format!("set {variable} to a token of a member with the scope `read_api`")
        }
        (Access::Withheld(variable), _) => format!(
            "set `api_url` under `[forge]` in quorum.toml: only then {variable} is sent to {peer}"
        ),
    }
}

fn rate_limit(peer: &Peer, reset: Reset) -> String {
    let wait = match reset {
        Reset::Unknown => "wait a few minutes".to_owned(),
        Reset::At(_) | Reset::After(_) => "wait that long".to_owned(),
    };
    match peer.access {
        // Without a token a whole network shares one small allowance.
        Access::Anonymous | Access::Withheld(_) => format!("{wait}, or {}", token(peer)),
        Access::Token(_) => wait,
    }
}
