//! Host and repository out of the address of a Git remote.

use reqwest::Url;

/// Where a remote points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    /// The host's name in lower case.
    pub(crate) host: String,
    /// The port of its pages, where that is not the usual one.
    pub(crate) port: Option<u16>,
    /// The path of the repository, without `.git`.
    pub(crate) path: String,
}

impl Remote {
    /// Reads an address as Git does. A path on this machine is no remote, and neither is anything
    /// that cannot be read: the caller must not print it, as it may hold a password.
    pub(crate) fn parse(address: &str) -> Option<Self> {
        let address = address.trim();
        if address.contains("://") { Self::parse_url(address) } else { Self::parse_scp(address) }
    }

    fn parse_url(address: &str) -> Option<Self> {
        let url = Url::parse(address).ok()?;
        if url.scheme() == "file" {
            return None;
        }
        // The port of an ssh or git address says nothing about where the interface listens.
        let port = if url.scheme() == "https" { url.port() } else { None };
        Self::new(url.host_str()?, port, url.path())
    }

    /// The short form `[user@]host:path`, which is one only if no slash precedes the colon.
    fn parse_scp(address: &str) -> Option<Self> {
        let (has_user, rest) = match address.split_once('@') {
            Some((user, rest)) if !user.contains(['/', ':']) => (true, rest),
            _ => (false, address),
        };
        let (host, path) = if rest.starts_with('[') {
            let end = rest.find("]:")? + 1;
            (&rest[..end], &rest[end + 1..])
        } else {
            rest.split_once(':')?
        };
        // A single letter alone is a drive of Windows.
        let is_drive = host.len() == 1 && !has_user;
        if is_drive || host.contains('/') {
            return None;
        }
        Self::new(host, None, path)
    }

    fn new(host: &str, port: Option<u16>, path: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if host.is_empty() || !host.chars().all(plain) {
            return None;
        }
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
        Some(Self { host: host.to_ascii_lowercase(), port, path: path.to_owned() })
    }

    /// Host and port as an address has them.
    pub(crate) fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Option<(&str, &str)>) {
        let remote = Remote::parse(address);
        let found = remote.as_ref().map(|remote| (remote.authority(), remote.path.as_str()));
        assert_eq!(found, expected.map(|(host, path)| (host.to_owned(), path)), "{address}");
    }

    #[test]
    fn all_forms_of_an_address_name_the_same_repository() {
        for address in [
            "https://github.com/octo/repo",
            "https://github.com/octo/repo.git",
            "https://github.com/octo/repo/",
            "https://user:password@GitHub.com/octo/repo.git/",
            "ssh://git@github.com/octo/repo.git",
            "ssh://git@github.com:2222/octo/repo",
            "git@github.com:octo/repo.git",
            "github.com:octo/repo",
            "git@github.com:/octo/repo.git",
            "git://github.com/octo/repo.git",
            " https://github.com/octo/repo\n",
        ] {
            check(address, Some(("github.com", "octo/repo")));
        }
    }

    #[test]
    fn sub_groups_and_ports_are_kept() {
        check("git@gitlab.com:a/b/c/d.git", Some(("gitlab.com", "a/b/c/d")));
        check("https://git.corp:8443/a/b.git", Some(("git.corp:8443", "a/b")));
        check("git@x:a/b.git", Some(("x", "a/b")));
        check("git@[::1]:a/b.git", Some(("[::1]", "a/b")));
    }

    #[test]
    fn a_name_in_the_wrong_place_is_not_the_host() {
        check("https://github.com@evil.example/o/r", Some(("evil.example", "o/r")));
        check("https://github.com:x@evil.example/o/r", Some(("evil.example", "o/r")));
        check("https://github.com.evil.example/o/r", Some(("github.com.evil.example", "o/r")));
        check("github.com@evil.example:o/r", Some(("evil.example", "o/r")));
        check("https://evil.example/github.com/r", Some(("evil.example", "github.com/r")));
    }

    #[test]
    fn a_path_is_no_remote() {
        for address in
            ["/srv/repo.git", "../repo", "file:///srv/repo.git", "C:\\repo", "C:/repo", "./a:b", ""]
        {
            check(address, None);
        }
    }

    #[test]
    fn a_host_with_odd_characters_is_refused() {
        check("git@evil\u{1b}[31m:o/r", None);
        check("git@a b:o/r", None);
    }
}
