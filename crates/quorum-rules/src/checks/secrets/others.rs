//! Secrets that no table of formats describes: keys in armour, web tokens, addresses with a
//! password, headers and commands.

use std::ops::Range;
use std::sync::LazyLock;

use quorum_model::severity::Severity;
use regex::bytes::Regex;

use super::judge::{self, Password};
use super::{Hit, Kind};

/// The longest armoured key that is looked for.
const ARMOUR: usize = 64 * 1024;

/// A private key from its first line to its last.
pub(super) fn private_key(text: &[u8], at: usize) -> Option<Hit> {
    static BEGIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?-u)\A-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----").ok()
    });
    let window = &text[at..text.len().min(at + ARMOUR)];
    if window.starts_with(b"PuTTY") {
        return putty_key(text, at);
    }
    let begin = BEGIN.as_ref()?.find(window)?;
    let body_end = find(window, b"-----END").unwrap_or(window.len().min(begin.end() + 4096));
    let body = &window[begin.end()..body_end];
    let letters = body.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let spaced = body.split(|byte| *byte == b'\n').any(|line| line.len() > 400);
    if letters < 40 || (spaced && find(window, b"-----END").is_none()) || is_cut_short(body) {
        return None;
    }
    let sealed =
        find(begin.as_bytes(), b"ENCRYPTED").is_some() || find(body, b"ENCRYPTED").is_some();
    let severity = if sealed { Severity::Medium } else { Severity::Critical };
    Some(Hit {
        span: at + begin.end()..at + body_end,
        shown: 0,
        line_at: at,
        bare: false,
        kind: Kind::PrivateKey { sealed },
        severity,
        confidence: 0.95,
    })
}

fn putty_key(text: &[u8], at: usize) -> Option<Hit> {
    let window = &text[at..text.len().min(at + ARMOUR)];
    let start = find(window, b"Private-Lines:")?;
    let end = find(window, b"Private-MAC:").unwrap_or(window.len());
    (end > start).then(|| Hit {
        span: at + start + b"Private-Lines:".len()..at + end,
        shown: 0,
        line_at: at,
        bare: false,
        kind: Kind::PrivateKey { sealed: find(&window[..start], b"Encryption: none").is_none() },
        severity: Severity::High,
        confidence: 0.95,
    })
}

/// Whether a key's body is only hinted at: dots, a word, or one character again and again.
fn is_cut_short(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    let kept: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    [
        "...",
        "…",
        "EXAMPLE",
        "xxxx",
        "XXXX",
        "PLACEHOLDER",
        "REDACTED",
        "YOUR",
        "<",
        "${",
        "{{",
        "***",
    ]
    .iter()
    .any(|mark| text.contains(mark))
        || judge::entropy(kept.as_bytes()) < 3.5
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// A JSON web token whose header can be read.
pub(super) fn web_token(text: &[u8], at: usize) -> Option<Hit> {
    static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?-u)\A(eyJ[A-Za-z0-9_/\\-]{14,2000})\.(eyJ[A-Za-z0-9_/\\-]{14,8000})\.([A-Za-z0-9_/\\-]{10,2000})={0,2}")
            .ok()
    });
    if at > 0 && (text[at - 1].is_ascii_alphanumeric() || b"_-".contains(&text[at - 1])) {
        return None;
    }
    let window = &text[at..text.len().min(at + 12 * 1024)];
    let found = SHAPE.as_ref()?.captures(window)?;
    let header = base64(found.get(1)?.as_bytes());
    let payload = base64(found.get(2)?.as_bytes());
    // The token on the front page of every introduction to the format.
    let in_every_manual = find(&payload, b"1516239022").is_some();
    if !header.starts_with(b"{\"") || in_every_manual || judge::is_stand_in(found[3].as_ref()) {
        return None;
    }
    let end = at + found.get(0)?.end();
    // A service role, or no end of validity: somebody can use it for years.
    let lasting = find(&payload, b"service_role").is_some() || find(&payload, b"\"exp\"").is_none();
    let severity = if lasting { Severity::High } else { Severity::Medium };
    Some(Hit::new(at..end, 4, Kind::WebToken, severity, 0.8))
}

/// Decodes base 64 of either alphabet up to the first byte that is in neither.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    let (mut bits, mut count, mut decoded) = (0_u32, 0, Vec::with_capacity(text.len()));
    for &byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
        }
    }
    decoded
}

/// The password in an address such as `postgres://user:password@host/db`; `at` is at its `://`.
pub(super) fn address(text: &[u8], at: usize) -> Option<Hit> {
    let scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
    let scheme_length = text[..at].iter().rev().take(24).take_while(scheme).count();
    let start = at + 3;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>/?#".contains(byte);
    let length = text[start..].iter().take(512).take_while(|&byte| !ends(byte)).count();
    let authority = &text[start..start + length];
    let host_at = authority.iter().rposition(|&byte| byte == b'@')?;
    let colon = authority[..host_at].iter().position(|&byte| byte == b':')?;
    let (user, password) = (&authority[..colon], &authority[colon + 1..host_at]);
    let host = authority[host_at + 1..].split(|&byte| byte == b':' || byte == b',').next()?;
    if scheme_length == 0 || password.is_empty() || host.is_empty() || is_template(password) {
        return None;
    }
    if is_template(host) || user == password || is_stand_in_pair(user, password) {
        return None;
    }
    let span = start + colon + 1..start + host_at;
    let near = is_near(host);
    let judged = judge::password(password);
    let judged =
        if judged == Password::No && is_chosen(password) { Password::Chosen } else { judged };
    let (severity, confidence) = match (judged, near) {
        (Password::Random, _) => (Severity::High, 0.85),
        (Password::Chosen, false) => (Severity::High, 0.75),
        (Password::Chosen, true) => (Severity::Low, 0.4),
        (Password::Word, false) => (Severity::Medium, 0.6),
        _ => (Severity::Low, 0.3),
    };
    Some(Hit::new(span, 0, Kind::Address, severity, confidence))
}

/// Whether letters, digits and a mark or a second case are in it: nobody writes a stand-in so.
fn is_chosen(password: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| password.iter().any(test);
    let cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    judge::is_mixed(password)
        && password.len() >= 8
        && (cases || has(u8::is_ascii_punctuation))
        && !judge::is_stand_in(password)
}

fn is_template(value: &[u8]) -> bool {
    value.iter().any(|byte| b"${}<>()[]\\".contains(byte))
        || value.starts_with(b"%")
        || value.iter().all(|byte| *byte == b'*')
}

fn is_near(host: &[u8]) -> bool {
    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
    let name = host.as_str();
    matches!(name, "localhost" | "127.0.0.1" | "0.0.0.0" | "host" | "hostname" | "server" | "[")
        || name.ends_with(".example")
        || name.ends_with(".test")
        || name.ends_with(".invalid")
        || name.ends_with(".localhost")
        || name.contains("example.")
        || !name.contains('.')
}

fn is_stand_in_pair(user: &[u8], password: &[u8]) -> bool {
    let word = |value: &[u8]| {
        let lower = value.to_ascii_lowercase();
        [
            &b"user"[..],
            b"username",
            b"password",
            b"pass",
            b"passwd",
            b"pwd",
            b"token",
            b"xxx",
            b"yyy",
            b"foo",
            b"bar",
            b"pw",
            b"secret",
            b"test",
            b"login",
            b"api_key",
            b"key",
            b"...",
        ]
        .contains(&lower.as_slice())
    };
    word(password) || (word(user) && password.len() < 8)
}

/// The credential of an `Authorization` header, or of one that a key is sent in.
pub(super) fn header(text: &[u8], at: usize) -> Option<Hit> {
    static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?-u)(?i)\A(?:authorization|x-api-key|bearer)["'\\]{0,4}[:=,\s(]{0,4}["'\\]{0,4}\s*(?P<scheme>(?:basic|bearer|token|api-token|apikey|bot|ssws)\s+)?(?P<value>[A-Za-z0-9+/=_.~@:-]{8,2000})"#,
        )
        .ok()
    });
    let window = &text[at..text.len().min(at + 2200)];
    let found = SHAPE.as_ref()?.captures(window)?;
    let value = found.name("value")?;
    let scheme =
        found.name("scheme").map(|scheme| scheme.as_bytes().trim_ascii().to_ascii_lowercase());
    let span = at + value.start()..at + value.end();
    let value = value.as_bytes();
    let bare = scheme.is_none() && !window[..6].eq_ignore_ascii_case(b"bearer");
    let delimited = text.get(span.end).is_none_or(|byte| b"\"'`\\ \t\r\n,;".contains(byte));
    if !delimited || judge::is_stand_in(value) {
        return None;
    }
    if scheme.as_deref() == Some(b"basic") {
        return basic(span, value);
    }
    let random = judge::is_random(value) || judge::is_uuid(value);
    let usable = random && !(bare && value.contains(&b'.')) && !judge::is_weak_stand_in(value);
    usable.then(|| Hit::new(span, 0, Kind::Header, Severity::High, 0.75))
}

fn basic(span: Range<usize>, value: &[u8]) -> Option<Hit> {
    let decoded = base64(value);
    let colon = decoded.iter().position(|&byte| byte == b':')?;
    let printable = decoded.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    let (user, password) = (&decoded[..colon], &decoded[colon + 1..]);
    // One of the two may be empty: some services take a key as user or as password.
    let secret = if password.is_empty() { user } else { password };
    let known =
        is_stand_in_pair(user, secret) || user == password || judge::is_weak_stand_in(secret);
    (printable && secret.len() >= 4 && !known)
        .then(|| Hit::new(span, 0, Kind::Header, Severity::High, 0.75))
}

/// User and password that are given to `curl` on the command line, and keys in its headers.
pub(super) fn curl(text: &[u8], at: usize) -> Vec<Hit> {
    static USER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?-u)\s(?:-u|--user|-U|--proxy-user)[ \t=]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"']+))(?::?"([^"\n]*)"|'([^'\n]*)')?"#).ok()
    });
    static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?-u)(?i)(?:-H|--header)[ \t=]*["'](?:[a-z-]*(?:api-?key|token|auth|secret)[a-z-]*)\s*:\s*(?:[a-z-]+\s+)?([A-Za-z0-9+/=_.~@:-]{8,500})["']"#).ok()
    });
    let command = command(text, at);
    let mut hits = Vec::new();
    for found in USER.iter().flat_map(|shape| shape.captures_iter(command)) {
        let parts: Vec<_> = found.iter().skip(1).flatten().collect();
        let Some((first, last)) = parts.first().zip(parts.last()) else { continue };
        let whole = &command[first.start()..last.end()];
        let Some(colon) = whole.iter().position(|&byte| byte == b':') else { continue };
        let (user, password) = (&whole[..colon], &whole[colon + 1..]);
        let secret = if password.is_empty() { user } else { password };
        if is_unusable(user, secret) {
            continue;
        }
        let start = at + first.start() + if password.is_empty() { 0 } else { colon + 1 };
        hits.push(Hit::new(start..start + secret.len(), 0, Kind::Command, Severity::High, 0.7));
    }
    for found in KEY.iter().flat_map(|shape| shape.captures_iter(command)) {
        if let Some(value) = found.get(1)
            && judge::is_mixed(value.as_bytes())
            && !judge::is_weak_stand_in(value.as_bytes())
            && judge::entropy(value.as_bytes()) >= 2.8
        {
            let span = at + value.start()..at + value.end();
            hits.push(Hit::new(span, 0, Kind::Header, Severity::High, 0.65));
        }
    }
    hits
}

/// From `at` to the end of the command: its line and those that it goes on in.
fn command(text: &[u8], at: usize) -> &[u8] {
    let window = &text[at..text.len().min(at + 2048)];
    let mut previous = b' ';
    for (offset, &byte) in window.iter().enumerate() {
        if byte == b'\n' && previous != b'\\' {
            return &window[..offset];
        }
        if byte != b'\r' {
            previous = byte;
        }
    }
    window
}

fn is_unusable(user: &[u8], secret: &[u8]) -> bool {
    let secret = secret.strip_prefix(b"\"").unwrap_or(secret);
    secret.len() < 5
        || secret.starts_with(b"$")
        || secret.iter().any(|byte| b"<[(*".contains(byte))
        || (secret.contains(&b'{') && !judge::is_mixed(secret))
        || is_stand_in_pair(user, secret)
        || (user == secret && user.len() < 8)
        || judge::is_weak_stand_in(secret)
        || secret.windows(2).any(|pair| pair == b"${" || pair == b"{{" || pair == b"$(")
}
