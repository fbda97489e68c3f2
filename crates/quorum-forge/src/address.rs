//! Addresses that are safe to send a token to.

use std::net::IpAddr;

use reqwest::Url;

use crate::error::ForgeError;

/// Checks the address of an interface. The error does not repeat it.
pub(crate) fn parse(address: &str, setting: &'static str) -> Result<Url, ForgeError> {
    let invalid = |problem| ForgeError::InvalidAddress { setting, problem };
    let url = Url::parse(address.trim()).map_err(|_| invalid("cannot be read"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("does not begin with `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("holds a user name or a password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("holds a query"));
    }
    if !is_protected(&url) {
        return Err(invalid("is not encrypted: only this machine may be asked over `http://`"));
    }
    Ok(url)
}

/// Whether nobody on the way can read what is sent: encrypted, or it stays on this machine.
pub(crate) fn is_protected(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

/// Whether an address names this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Host and port, as people read them.
pub(crate) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_asked_without_encryption() {
        for address in [
            "https://git.corp/api/v4",
            "http://localhost:80/x",
            "http://127.0.0.1:8080",
            "http://[::1]/",
        ] {
            assert!(parse(address, "X").is_ok(), "{address}");
        }
        for address in [
            "http://git.corp/api/v4",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://0.0.0.0/",
            "http://[::2]/",
        ] {
            let error = parse(address, "X").unwrap_err().to_string();
            assert!(error.contains("is not encrypted"), "{address}: {error}");
        }
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_not_repeated() {
        let error = parse("https://me:hunter2@git.corp/", "GITHUB_API_URL").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the address in GITHUB_API_URL holds a user name or a password"
        );
        assert!(!format!("{error:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for address in ["git.corp", "", "ftp://git.corp", "file:///etc", "https://h/?a=b"] {
            assert!(parse(address, "X").is_err(), "{address}");
        }
    }
}
