//! Which host is asked, about which repository, and with which token.

use quorum_model::config::{ForgeConfig, ForgeKind};

use super::support::{TOKEN, told, variables};
use crate::connect::Target;
use crate::{Access, ForgeError, connect};

const TOKENS: [(&str, &str); 2] = [("GITHUB_TOKEN", TOKEN), ("GITLAB_TOKEN", TOKEN)];

fn resolve(
    config: &ForgeConfig,
    remote: Option<&str>,
    env: &[(&str, &str)],
) -> Result<Target, ForgeError> {
    let env: Vec<_> = env.iter().copied().chain(TOKENS).collect();
    Target::resolve(config, remote, &variables(&env))
}

/// Checks address and repository, and that the token goes there.
#[track_caller]
fn check(remote: Option<&str>, env: &[(&str, &str)], base: &str, repository: &str) {
    let target = resolve(&ForgeConfig::default(), remote, env).unwrap();
    assert_eq!((target.base.as_str(), target.repository.as_str()), (base, repository));
    assert!(target.credential.is_some());
}

#[test]
fn public_hosts_are_known() {
    let github = "https://api.github.com/";
    check(Some("git@github.com:o/r.git"), &[], github, "o/r");
    check(Some("ssh://git@ssh.github.com:443/o/r.git"), &[], github, "o/r");
    check(Some("https://gitlab.com/a/b/c.git"), &[], "https://gitlab.com/api/v4", "a/b/c");
}

#[test]
fn the_environment_names_further_hosts() {
    let remote = Some("git@git.corp:o/r.git");
    check(remote, &[("GH_HOST", "git.corp")], "https://git.corp/api/v3", "o/r");
    let server = [("GITHUB_SERVER_URL", "https://git.corp:8443")];
    check(remote, &server, "https://git.corp:8443/api/v3", "o/r");
    let server = [("CI_SERVER_URL", "https://GIT.corp")];
    check(remote, &server, "https://git.corp/api/v4", "o/r");
    let remote = Some("https://acme.ghe.com/o/r");
    check(remote, &[("GH_HOST", "acme.ghe.com")], "https://api.acme.ghe.com/", "o/r");
}

#[test]
fn the_variables_of_ci_come_before_the_remote() {
    let env = [("GITHUB_API_URL", "https://h/api/v3"), ("GITHUB_REPOSITORY", "ci/repo")];
    check(None, &env, "https://h/api/v3", "ci/repo");
    check(Some("git@mirror:x/y"), &env, "https://h/api/v3", "ci/repo");
    check(Some("git@mirror:x/y"), &env[..1], "https://h/api/v3", "x/y");
    let env = [("CI_API_V4_URL", "https://h/api/v4"), ("CI_PROJECT_PATH", "a/b/c")];
    check(None, &env, "https://h/api/v4", "a/b/c");
    let env = [env[0], ("GITLAB_API_URL", "https://own/api/v4"), env[1]];
    check(None, &env, "https://own/api/v4", "a/b/c");
}

#[test]
fn settings_come_first() {
    let config = ForgeConfig {
        kind: Some(ForgeKind::GitLab),
        api_url: Some("https://own/api/v4/".to_owned()),
        repository: Some("x/y".to_owned()),
        remote: None,
        account: None,
    };
    let env = [("GITHUB_API_URL", "https://h"), ("CI_PROJECT_PATH", "a/b")];
    let target = resolve(&config, Some("git@github.com:o/r"), &env).unwrap();
    assert_eq!(target.kind, ForgeKind::GitLab);
    assert_eq!(target.base.as_str(), "https://own/api/v4/");
    assert_eq!(target.repository.as_str(), "x/y");
    assert_eq!(target.peer.access, Access::Token("GITLAB_TOKEN"));
}

#[test]
fn a_kind_without_a_remote_means_the_public_host() {
    let config = ForgeConfig {
        kind: Some(ForgeKind::GitHub),
        repository: Some("o/r".to_owned()),
        ..ForgeConfig::default()
    };
    assert_eq!(resolve(&config, None, &[]).unwrap().base.as_str(), "https://api.github.com/");
    let env = [("GH_HOST", "git.corp"), ("CI_SERVER_URL", "https://gl.corp")];
    assert_eq!(resolve(&config, None, &env).unwrap().base.as_str(), "https://git.corp/api/v3");
}

#[test]
fn a_host_that_nothing_names_is_an_error() {
    let config = ForgeConfig::default();
    let error = resolve(&config, Some("https://me:hunter2@git.corp/o/r"), &[]).unwrap_err();
    assert_eq!(error, ForgeError::UnknownHost { host: Some("git.corp".to_owned()) });
    let (message, hint) = told(&error);
    assert_eq!(message, "cannot tell whether `git.corp` is GitHub or GitLab");
    assert_eq!(hint, "set `kind` and `api_url` under `[forge]` in quorum.toml");
    for remote in [None, Some("/srv/repo.git")] {
        let error = resolve(&config, remote, &[("GH_HOST", "git.corp")]).unwrap_err();
        assert_eq!(error, ForgeError::UnknownHost { host: None });
    }
}

#[test]
fn names_that_only_look_known_get_no_token() {
    for remote in [
        "https://github.com.evil.example/o/r",
        "https://github.com@evil.example/o/r",
        "https://evil.example/github.com/r",
        "git@evil.example:github.com/r",
        "https://notgithub.com/o/r",
        "https://gitlab.com.evil.example/o/r",
    ] {
        let error = resolve(&ForgeConfig::default(), Some(remote), &[]).unwrap_err();
        assert!(matches!(error, ForgeError::UnknownHost { .. }), "{remote}: {error}");
    }
}

#[test]
fn a_host_that_is_only_guessed_gets_no_token() {
    for (kind, remote, base) in [
        (ForgeKind::GitHub, "git@git.corp:o/r", "https://git.corp/api/v3"),
        (ForgeKind::GitLab, "https://git.corp:8443/o/r", "https://git.corp:8443/api/v4"),
        (ForgeKind::GitLab, "https://github.com/o/r", "https://github.com/api/v4"),
        (ForgeKind::GitHub, "https://gitlab.com/o/r", "https://gitlab.com/api/v3"),
    ] {
        let config = ForgeConfig { kind: Some(kind), ..ForgeConfig::default() };
        let target = resolve(&config, Some(remote), &[]).unwrap();
        assert_eq!(target.base.as_str(), base);
        assert!(target.credential.is_none());
        assert!(matches!(target.peer.access, Access::Withheld(_)));
        let error = ForgeError::Unauthorized { peer: target.peer };
        let (message, hint) = told(&error);
        assert!(message.contains("was not sent there"), "{message}");
        assert!(hint.starts_with("set `api_url`"), "{hint}");
    }
}

#[test]
fn a_repository_must_be_named() {
    let env = [("GITHUB_API_URL", "https://h")];
    let error = resolve(&ForgeConfig::default(), None, &env).unwrap_err();
    assert_eq!(error, ForgeError::NoRepository { kind: ForgeKind::GitHub });
    assert!(told(&error).1.contains("repository = \"owner/name\""));
    let error = resolve(&ForgeConfig::default(), Some("git@github.com:a/b/c"), &[]).unwrap_err();
    assert_eq!(told(&error).0, "`a/b/c` is not the name of a repository on GitHub");
}

#[test]
fn an_address_without_encryption_is_refused() {
    let config = ForgeConfig {
        kind: Some(ForgeKind::GitHub),
        api_url: Some("http://git.corp/api/v3".to_owned()),
        ..ForgeConfig::default()
    };
    let error = resolve(&config, Some("git@git.corp:o/r"), &[]).unwrap_err();
    let (message, _) = told(&error);
    assert!(message.starts_with("the address in `[forge] api_url` is not encrypted"), "{message}");
    let env = [("CI_API_V4_URL", "http://git.corp/api/v4")];
    let error = resolve(&ForgeConfig::default(), Some("git@x:o/r"), &env).unwrap_err();
    assert!(told(&error).0.contains("CI_API_V4_URL"));
}

#[test]
fn connecting_sends_nothing() {
    let env = variables(&TOKENS);
    let forge = connect(&ForgeConfig::default(), Some("git@github.com:o/r"), &env).unwrap();
    let debug = format!("{forge:?}");
    assert!(debug.contains("api.github.com") && !debug.contains(TOKEN), "{debug}");
}
