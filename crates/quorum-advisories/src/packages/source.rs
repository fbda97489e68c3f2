//! What a lock file says about where a package comes from, in one spelling.

/// The address of a registry or repository without scheme, user, revision and `.git`.
pub(super) fn address(url: &str) -> Option<String> {
    let url = without_kind(url);
    let url = url.split(['#', '?']).next().unwrap_or(url);
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        // `git@host:owner/name`
        None => url.split_once(':').filter(|(host, _)| host.contains('@'))?,
    };
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    match (host.is_empty(), path.is_empty()) {
        (true, _) => None,
        (false, true) => Some(host),
        (false, false) => Some(format!("{host}/{path}")),
    }
}

/// The host of an archive's address. Registries keep each package below a path of its own.
pub(super) fn host(url: &str) -> Option<String> {
    let url = without_kind(url);
    let rest = url.split_once("://")?.1;
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

fn without_kind(url: &str) -> &str {
    let kinds = ["git+", "registry+", "sparse+"];
    kinds.iter().find_map(|kind| url.strip_prefix(kind)).unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_for_one_place() {
        for url in [
            "git+https://Example.org/team/tool.git?branch=main#0123456789",
            "git+ssh://git@example.org/team/tool.git",
            "git@example.org:team/tool.git",
            "https://user:word@example.org/team/tool/",
        ] {
            assert_eq!(address(url).as_deref(), Some("example.org/team/tool"), "{url}");
        }
        assert_eq!(address("registry+https://example.org/").as_deref(), Some("example.org"));
        assert_eq!(address("../folder"), None);
        assert_eq!(address("1.2.3"), None);
        assert_eq!(
            host("https://example.org:8443/a/-/a-1.tgz").as_deref(),
            Some("example.org:8443")
        );
        assert_eq!(host("file:../a"), None);
    }
}
