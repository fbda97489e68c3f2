//! Finds out which host to ask, and about which repository.

use quorum_model::config::{ForgeConfig, ForgeKind};
use reqwest::Url;

use crate::Forge;
use crate::address::{self, authority};
use crate::credential::Credential;
use crate::error::{Access, ForgeError, Peer};
use crate::github::GitHub;
use crate::gitlab::GitLab;
use crate::http::{Http, Limits};
use crate::remote::Remote;
use crate::repository::Repository;

/// Connects to the code host that the settings, the environment or the remote names.
///
/// Settings come first, then the variables that CI systems set, then the remote. Nothing is sent
/// yet. A token goes only to a host that is named by `api_url`, by the environment, or that is
/// github.com or gitlab.com: the host of a remote that a setting merely calls GitHub or GitLab is
/// asked without one.
pub fn connect(
    config: &ForgeConfig,
    remote_url: Option<&str>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Box<dyn Forge>, ForgeError> {
    connect_with(config, remote_url, env, Limits::default())
}

/// [`connect`] with other limits.
pub(crate) fn connect_with(
    config: &ForgeConfig,
    remote_url: Option<&str>,
    env: &dyn Fn(&str) -> Option<String>,
    limits: Limits,
) -> Result<Box<dyn Forge>, ForgeError> {
    let Target { kind, repository, base, peer, credential } =
        Target::resolve(config, remote_url, env)?;
    let http = Http::new(base, peer, credential, limits)?;
    Ok(match kind {
        ForgeKind::GitHub => Box::new(GitHub::new(http, repository)),
        ForgeKind::GitLab => Box::new(GitLab::new(http, repository)),
    })
}

/// All that is decided before anything is sent.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) kind: ForgeKind,
    pub(crate) repository: Repository,
    pub(crate) base: Url,
    pub(crate) peer: Peer,
    /// The token to send; none where nothing vouches for the host.
    pub(crate) credential: Option<Credential>,
}

impl Target {
    /// Decides from settings, environment and remote.
    pub(crate) fn resolve(
        config: &ForgeConfig,
        remote_url: Option<&str>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ForgeError> {
        let sources = Sources { config, remote: remote_url.and_then(Remote::parse), env };
        let kind = sources.kind()?;
        let repository = sources.repository(kind)?;
        let (base, vouched) = sources.base(kind)?;
        let credential = Credential::find(kind, |name| sources.variable(name))?;
        let access = match &credential {
            None => Access::Anonymous,
            Some(credential) if vouched => Access::Token(credential.variable),
            Some(credential) => Access::Withheld(credential.variable),
        };
        let peer = Peer { host: authority(&base), kind, access };
        let credential = credential.filter(|_| vouched);
        Ok(Self { kind, repository, base, peer, credential })
    }
}

/// Where answers come from, in this order.
struct Sources<'a> {
    config: &'a ForgeConfig,
    remote: Option<Remote>,
    env: &'a dyn Fn(&str) -> Option<String>,
}

impl Sources<'_> {
    /// CI systems set variables to nothing as often as they leave them out.
    fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.trim().is_empty())
    }

    fn kind(&self) -> Result<ForgeKind, ForgeError> {
        let is_set = |name| self.variable(name).is_some();
        if let Some(kind) = self.config.kind {
            return Ok(kind);
        }
        if let Some((kind, _)) = self.known_host() {
            return Ok(kind);
        }
        if is_set("GITHUB_API_URL") {
            return Ok(ForgeKind::GitHub);
        }
        if is_set("CI_API_V4_URL") || is_set("GITLAB_API_URL") {
            return Ok(ForgeKind::GitLab);
        }
        Err(ForgeError::UnknownHost { host: self.remote.as_ref().map(|it| it.host.clone()) })
    }

    fn repository(&self, kind: ForgeKind) -> Result<Repository, ForgeError> {
        let variable = match kind {
            ForgeKind::GitHub => "GITHUB_REPOSITORY",
            ForgeKind::GitLab => "CI_PROJECT_PATH",
        };
        let name = (self.config.repository.clone())
            .or_else(|| self.variable(variable))
            .or_else(|| self.remote.as_ref().map(|remote| remote.path.clone()))
            .ok_or(ForgeError::NoRepository { kind })?;
        Repository::new(name.trim(), kind)
    }

    /// The address of the interface, and whether anything but the remote vouches for it.
    fn base(&self, kind: ForgeKind) -> Result<(Url, bool), ForgeError> {
        if let Some(address) = &self.config.api_url {
            return Ok((address::parse(address, "`[forge] api_url`")?, true));
        }
        let variables: &[&'static str] = match kind {
            ForgeKind::GitHub => &["GITHUB_API_URL"],
            ForgeKind::GitLab => &["GITLAB_API_URL", "CI_API_V4_URL"],
        };
        for name in variables {
            if let Some(address) = self.variable(name) {
                return Ok((address::parse(&address, name)?, true));
            }
        }
        let (server, vouched) = match (self.known_host(), &self.remote) {
            (Some((known, server)), _) if known == kind => (server, true),
            (_, Some(remote)) => (remote.authority(), false),
            (_, None) => (self.default_server(kind), true),
        };
        Ok((address::parse(&interface(kind, &server), "the remote")?, vouched))
    }

    /// Which interface the remote's host is known to speak, and the address of its pages.
    fn known_host(&self) -> Option<(ForgeKind, String)> {
        let host = self.remote.as_ref()?.host.as_str();
        match host {
            // The second names serve ssh where only port 443 is open.
            "github.com" | "ssh.github.com" => {
                return Some((ForgeKind::GitHub, "github.com".to_owned()));
            }
            "gitlab.com" | "altssh.gitlab.com" => {
                return Some((ForgeKind::GitLab, "gitlab.com".to_owned()));
            }
            _ => {}
        }
        let named = |(name, kind)| {
            let url = self.server(name).filter(|url| url.host_str() == Some(host))?;
            Some((kind, authority(&url)))
        };
        SERVERS.into_iter().find_map(named)
    }

    fn default_server(&self, kind: ForgeKind) -> String {
        let public = match kind {
            ForgeKind::GitHub => "github.com",
            ForgeKind::GitLab => "gitlab.com",
        };
        let named = SERVERS
            .into_iter()
            .filter(|(_, of)| *of == kind)
            .find_map(|(name, _)| self.server(name));
        named.map_or_else(|| public.to_owned(), |url| authority(&url))
    }

    /// A server that a variable names by its address or by its host alone.
    fn server(&self, name: &str) -> Option<Url> {
        let value = self.variable(name)?;
        let value = value.trim();
        let url = if value.contains("://") {
            Url::parse(value)
        } else {
            Url::parse(&format!("https://{value}"))
        };
        url.ok().filter(|url| matches!(url.scheme(), "http" | "https"))
    }
}

/// The variables that name a server, and its interface.
const SERVERS: [(&str, ForgeKind); 3] = [
    ("GH_HOST", ForgeKind::GitHub),
    ("GITHUB_SERVER_URL", ForgeKind::GitHub),
    ("CI_SERVER_URL", ForgeKind::GitLab),
];

/// The address of the interface of a server.
fn interface(kind: ForgeKind, server: &str) -> String {
    match kind {
        // Hosts under ghe.com are GitHub's own, one for each customer.
        ForgeKind::GitHub if server == "github.com" || server.ends_with(".ghe.com") => {
            format!("https://api.{server}")
        }
        ForgeKind::GitHub => format!("https://{server}/api/v3"),
        ForgeKind::GitLab => format!("https://{server}/api/v4"),
    }
}
