//! Secrets of no known provider, by the name that they are given.

use std::ops::Range;

use quorum_model::severity::Severity;

use super::assign::{self, Assigned};
use super::catalog::{Catalog, Form};
use super::judge::{self, Password};
use super::{Hit, Kind};

/// What a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// A password.
    Password,
    /// A key, token or secret; `strong` where hardly anything else is called so.
    Key { strong: bool },
    /// Only an identifier of something.
    Id,
}

/// What is assigned to the name that the word at `word` is part of, where that is a secret.
pub(super) fn assigned(text: &[u8], word: Range<usize>, catalog: &Catalog) -> Option<Hit> {
    let found = assign::assigned(text, word)?;
    let name = &text[found.name.clone()];
    let value = &text[found.value.clone()];
    if value.len() < 4 || judge::is_stand_in(value) {
        return None;
    }
    if matches!(name, b"_auth" | b"_authToken" | b"_password") && is_registry_secret(value) {
        let hit = Hit::new(found.value, 0, Kind::Password, Severity::High, 0.75);
        return Some(hit);
    }
    let words = assign::words(name);
    let promise = promise(&words);
    provider(&words, promise, value, &found, catalog)
        .or_else(|| generic(promise?, value, &found, text))
}

/// Whether it can be what npm's settings keep for a registry.
fn is_registry_secret(value: &[u8]) -> bool {
    value.len() >= 8
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-.".contains(byte))
}

/// A value that has the format of the provider that its name speaks of.
fn provider(
    words: &[String],
    promise: Option<Promise>,
    value: &[u8],
    found: &Assigned,
    catalog: &Catalog,
) -> Option<Hit> {
    let mut formats = catalog.formats.iter().enumerate().filter(|(_, format)| match &format.form {
        Form::Named { names, id } => {
            names.iter().any(|name| speaks_of(words, name))
                && (*id || matches!(promise, Some(Promise::Password | Promise::Key { .. })))
        }
        Form::Prefix(_) | Form::Inside(_) => false,
    });
    let (number, format) = formats.find(|(_, format)| {
        format.regex().is_some_and(|regex| regex.is_match(value))
            && judge::entropy(value) >= format.entropy
    })?;
    let kind = Kind::Provider { format: number, checked: false };
    let confidence = if found.quoted { 0.8 } else { 0.75 };
    let hit = Hit::new(found.value.clone(), 0, kind, format.severity, confidence);
    Some(Hit { bare: !found.quoted, ..hit })
}

/// Whether a provider's name is made of whole words of this name, or starts a long one.
fn speaks_of(words: &[String], provider: &str) -> bool {
    (0..words.len()).any(|first| {
        let mut rest = provider;
        for word in &words[first..] {
            match rest.strip_prefix(word.as_str()) {
                Some("") => return true,
                Some(left) => rest = left,
                None => return rest.len() >= 5 && word.starts_with(rest),
            }
        }
        false
    })
}

fn generic(promise: Promise, value: &[u8], found: &Assigned, text: &[u8]) -> Option<Hit> {
    let hit = |severity, confidence| {
        let kind = match promise {
            Promise::Password => Kind::Password,
            Promise::Key { .. } | Promise::Id => Kind::Generic,
        };
        let hit = Hit::new(found.value.clone(), 0, kind, severity, confidence);
        Some(Hit { bare: !found.quoted, ..hit })
    };
    match promise {
        Promise::Password => match judge::password(value) {
            Password::Random => hit(Severity::High, 0.8),
            Password::Chosen if found.quoted || in_connection(text, &found.value) => {
                hit(Severity::High, 0.65)
            }
            Password::Chosen => hit(Severity::Medium, 0.5),
            Password::Word if found.quoted => hit(Severity::Low, 0.3),
            Password::Word | Password::No => None,
        },
        Promise::Key { strong } => {
            let random = judge::is_random(value) || (strong && judge::is_uuid(value));
            if !random || judge::is_weak_stand_in(value) || (judge::is_uuid(value) && !strong) {
                return None;
            }
            match (strong, found.quoted) {
                (true, true) => hit(Severity::High, 0.75),
                (true, false) => hit(Severity::High, 0.6),
                (false, true) if judge::entropy(value) >= 3.8 => hit(Severity::Medium, 0.5),
                (false, _) => hit(Severity::Medium, 0.4),
            }
        }
        Promise::Id => None,
    }
}

/// Whether the line around a value reads like a database's connection string.
fn in_connection(text: &[u8], value: &Range<usize>) -> bool {
    let start = text[..value.start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = text[start..value.start].to_ascii_lowercase();
    ["server=", "data source=", "host=", "user id=", "uid=", "username=", "dbname="]
        .iter()
        .any(|part| line.windows(part.len()).any(|window| window == part.as_bytes()))
}

const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "pwd", "pass", "passwort", "pw"];

/// Words that make a key a secret one.
const KEY_KINDS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "auth",
    "master",
    "account",
    "storage",
    "shared",
    "service",
    "client",
    "app",
    "deploy",
    "admin",
    "crypto",
    "hmac",
    "jwt",
    "session",
    "cookie",
    "license",
    "licence",
    "aes",
    "webhook",
    "consumer",
    "subscription",
    "rest",
    "server",
    "write",
    "instrumentation",
];

/// Words after the last telling one that turn a name into that of something else.
const NOT_THE_SECRET: &[&str] = &[
    "name",
    "names",
    "id",
    "ids",
    "url",
    "uri",
    "path",
    "file",
    "field",
    "label",
    "type",
    "length",
    "len",
    "size",
    "count",
    "prefix",
    "suffix",
    "header",
    "param",
    "parameter",
    "pattern",
    "regex",
    "message",
    "error",
    "hash",
    "expiry",
    "expires",
    "expiration",
    "ttl",
    "timeout",
    "policy",
    "format",
    "hint",
    "placeholder",
    "algorithm",
    "alg",
    "provider",
    "version",
    "date",
    "time",
    "at",
    "env",
    "var",
    "ref",
    "selector",
    "endpoint",
    "host",
    "domain",
    "arn",
    "title",
    "text",
    "description",
    "desc",
    "icon",
    "class",
    "input",
    "form",
    "page",
    "screen",
    "view",
    "store",
    "manager",
    "service",
    "handler",
    "helper",
    "factory",
    "generator",
    "limit",
    "usage",
    "checksum",
    "digest",
    "md5",
    "sha1",
    "sha256",
    "fingerprint",
    "index",
    "column",
    "table",
    "scope",
    "scopes",
    "kind",
    "mode",
    "status",
    "state",
    "code",
    "codes",
    "space",
    "spec",
    "map",
    "list",
    "source",
    "location",
    "vault",
    "ring",
    "board",
    "word",
    "words",
    "frame",
    "pair",
    "stone",
    "accessor",
    "url2",
    "str",
    "chars",
    "alphabet",
    "salt",
    "tab",
    "uid",
    "guid",
    "uuid",
    "link",
    "address",
    "account",
    "user",
    "username",
    "login",
    "reset",
    "confirmation",
    "strength",
    "revision",
    "rev",
    "schema",
    "comment",
    "example",
    "rule",
    "kid",
    "x",
    "y",
    "press",
    "pressed",
    "down",
    "up",
    "code2",
    "event",
];

/// Words before it that do the same.
const PUBLIC: &[&str] = &[
    "public",
    "pub",
    "publishable",
    "csrf",
    "xsrf",
    "foreign",
    "primary",
    "sort",
    "partition",
    "cache",
    "idempotency",
    "page",
    "pagination",
    "next",
    "continuation",
    "sync",
    "i18n",
    "translation",
    "locale",
    "site",
    "sitekey",
    "captcha",
    "recaptcha",
    "anti",
    "forgery",
    "nonce",
    "etag",
    "object",
    "s3",
    "bucket",
    "row",
    "ssh",
    "host",
    "gpg",
    "pgp",
    "verification",
    "authenticity",
    "syntax",
    "lexer",
    "parser",
    "unique",
    "hash",
    "map",
    "dict",
    "checksum",
    "integrity",
    "keyboard",
];

/// What a name of these words promises, if anything.
pub(super) fn promise(words: &[String]) -> Option<Promise> {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let telling = |(at, word): (usize, &String)| -> Option<(usize, Promise)> {
        if is(word, PASSWORDS) || word.ends_with("password") || word.ends_with("passwd") {
            return Some((at, Promise::Password));
        }
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let strong_before = before.is_some_and(|before| is(before, KEY_KINDS));
        match word.as_str() {
            "secret" | "secrets" | "apikey" | "secretkey" | "accesskey" | "privatekey"
            | "authtoken" | "accesstoken" | "apitoken" | "clientsecret" | "apisecret"
            | "appsecret" | "authkey" => Some((at, Promise::Key { strong: true })),
            "key" if strong_before => Some((at, Promise::Key { strong: true })),
            "token" | "pat" => {
                Some((at, Promise::Key { strong: strong_before || words.len() > 1 }))
            }
            "auth" | "credential" | "credentials" | "creds" | "authorization" => {
                Some((at, Promise::Key { strong: false }))
            }
            "key" if words.len() <= 2 => Some((at, Promise::Key { strong: false })),
            _ => None,
        }
    };
    let (at, promise) = words.iter().enumerate().filter_map(telling).next_back()?;
    let after = words.get(at + 1..).unwrap_or_default();
    if after.iter().any(|word| is(word, &["id", "ids"])) {
        return Some(Promise::Id);
    }
    let before = words.get(..at).unwrap_or_default();
    let other = after.iter().any(|word| is(word, NOT_THE_SECRET))
        || before.iter().rev().take(2).any(|word| is(word, PUBLIC));
    (!other).then_some(promise)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<Promise> {
        promise(&assign::words(name.as_bytes()))
    }

    #[test]
    fn names_promise_secrets_by_their_last_telling_word() {
        assert_eq!(of("dbPassword"), Some(Promise::Password));
        assert_eq!(of("API_KEY"), Some(Promise::Key { strong: true }));
        assert_eq!(of("client_secret"), Some(Promise::Key { strong: true }));
        assert_eq!(of("github-token"), Some(Promise::Key { strong: true }));
        assert_eq!(of("key"), Some(Promise::Key { strong: false }));
        assert_eq!(of("access_key_id"), Some(Promise::Id));
        for name in [
            "tokenType",
            "password_field",
            "public_key",
            "secretName",
            "csrf-token",
            "monkey",
            "keyboard",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
