//! Files that touch authentication, cryptography, secrets or permissions.

use quorum_model::scope::{FileKind, Flag};

use super::{Classified, words};

/// Whole words in a path that make a file security-sensitive.
const WORDS: [&str; 66] = [
    "auth",
    "authn",
    "authz",
    "authentication",
    "authenticator",
    "authenticate",
    "authorization",
    "authorisation",
    "authorize",
    "login",
    "logout",
    "signin",
    "signup",
    "session",
    "sessions",
    "oauth",
    "oauth2",
    "oidc",
    "openid",
    "saml",
    "sso",
    "mfa",
    "totp",
    "webauthn",
    "jwt",
    "jwks",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
    "secret",
    "secrets",
    "crypto",
    "cryptography",
    "encrypt",
    "encryption",
    "decrypt",
    "decryption",
    "cipher",
    "ciphers",
    "hmac",
    "tls",
    "ssl",
    "x509",
    "pki",
    "cert",
    "certs",
    "certificate",
    "certificates",
    "keystore",
    "keyring",
    "vault",
    "kms",
    "rbac",
    "acl",
    "permission",
    "permissions",
    "security",
    "sandbox",
    "csrf",
    "cors",
    "sudo",
    "sudoers",
    "apikey",
];

/// Pairs of words that do so only together.
const PAIRS: [(&str, &str); 8] = [
    ("access", "token"),
    ("auth", "token"),
    ("refresh", "token"),
    ("api", "token"),
    ("api", "key"),
    ("private", "key"),
    ("signing", "key"),
    ("access", "control"),
];

/// Endings of files that hold keys and credentials.
const ENDINGS: [&str; 12] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".asc",
    ".gpg",
    ".ovpn",
    ".ppk",
    ".htpasswd",
];

/// Names of files that hold keys and credentials.
const NAMES: [&str; 9] = [
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".pgpass",
    "authorized_keys",
    ".git-credentials",
];

/// Sets `SecuritySensitive` where the path says so.
pub(super) fn set_flag(found: &mut Classified, path: &str) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    if NAMES.contains(&lower.as_str()) || lower == ".env" || lower.starts_with(".env.") {
        found.set(Flag::SecuritySensitive, format!("`{name}` holds credentials"));
        return;
    }
    if let Some(ending) = ENDINGS.iter().find(|ending| lower.ends_with(*ending)) {
        found.set(Flag::SecuritySensitive, format!("`{ending}` files hold keys"));
        return;
    }
    // A text about passwords, a test of a login or a lock file changes nobody's rights.
    let about_it = matches!(found.kind, FileKind::Prose | FileKind::Binary | FileKind::Markup);
    let beside_it = [Flag::Docs, Flag::Generated, Flag::Test].iter().any(|flag| found.has(*flag));
    if about_it || beside_it {
        return;
    }
    let words = words(path);
    if let Some(word) = words.iter().find(|word| WORDS.contains(&word.as_str())) {
        found.set(Flag::SecuritySensitive, format!("`{word}` in the path"));
        return;
    }
    let neighbours = words.iter().zip(words.iter().skip(1));
    let mut pairs = neighbours
        .filter(|(first, second)| PAIRS.contains(&(first.as_str(), second.trim_end_matches('s'))));
    if let Some((first, second)) = pairs.next() {
        found.set(Flag::SecuritySensitive, format!("`{first} {second}` in the path"));
    }
}
