//! What is masked although it is too uncertain to be reported: hiding too much costs little.
//!
//! Names, commands, calls and addresses say where a credential stands; here its value is hardly
//! judged. What stands for a value (a variable, a template, a label) stays readable.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::Regex;

use super::assign::{self, Assigned};
use super::names::{self, Promise};
use super::settings::{self, Syntax};
use super::{judge, starts_free};

/// Shapes of which the group is secret; none of them can match in more than linear time.
///
/// Each is tried, and compiled, only where one of its words occurs, which costs a fraction of the
/// expression.
static SHAPES: LazyLock<Vec<WideShape>> = LazyLock::new(|| {
    let quoted = r#"(?:"(?P<a>[^"\n]{3,200})"|'(?P<b>[^'\n]{3,200})'|(?P<c>[^\s"'|;&$]{3,200}))"#;
    let flagged = |commands: &str, flag: &str| {
        format!(r"(?-u)\b(?:{commands})\b[^\n|;&]{{0,200}}?\s(?:{flag})\s*{quoted}")
    };
    let shapes: [(&'static [&'static str], String); 13] = [
        // A data source as Go's drivers read it.
        (&["@tcp(", "@udp(", "@unix(", "@cloudsql", "@("], r#"(?-u)\b[A-Za-z0-9_.-]{1,64}:(?P<a>[^\s"'`]{1,128})@(?:tcp|udp|unix|cloudsql[a-z-]{0,10})?\("#.to_owned()),
        // Signed addresses.
        (&["sig=", "ignature=", "hmac=", "SIG="], r"(?-u)(?i)\b(?:sig|signature|x-amz-signature|x-goog-signature|hmac)=(?P<a>[A-Za-z0-9%+/_-]{16,512}={0,2})".to_owned()),
        // A password in an address.
        (&["://"], r#"(?-u)[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s"'`/:@<>]{0,64}:(?P<a>[^\s"'`/<>]{2,256})@[A-Za-z0-9\[_-]"#.to_owned()),
        (&["sshpass"], flagged("sshpass", "-p")),
        (&["login ", "7z"], flagged("docker login|podman login|az login|oc login|helm registry login|7z|7za", "-p")),
        (&["zip ", "sqlcmd", "bcp "], flagged("zip|unzip|sqlcmd|bcp", "-P")),
        (&["redis-cli"], flagged("redis-cli", "-a")),
        (&["ldap"], flagged("ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami", "-w")),
        (&["pass:", "/p:", "-storepass", "-keypass", "--passphrase"], flagged("openssl|keytool|gpg|xfreerdp|rdesktop", r"-pass(?:in|out)?\s+pass:|/p:|-storepass|-keypass|--passphrase")),
        (&["mysql", "mariadb"], r#"(?-u)\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|mysqlimport)\b[^\n|;]{0,200}?\s-p["']?(?P<a>[^\s"'$-][^\s"']{2,100})"#.to_owned()),
        // A credential's scheme and what follows it.
        (&["uthorization", "AUTHORIZATION"], r#"(?-u)(?i)authorization["'\\]{0,4}[:=,\s(]{1,4}["'\\]{0,4}\s*(?:basic|bearer|token|apikey|bot|ssws)\s+(?P<a>[A-Za-z0-9+/=_.~:-]{8,2000})"#.to_owned()),
        // Tokens whose start says what they are, of whatever length.
        (&["glc_", "ATATT3", "hc", "xox", "gh", "glpat-", "sk-", "_live_", "shp", "dop_v1_", "lin_api_", "npm_", "pypi-", "AKIA", "ASIA"], r"(?-u)\b(?P<a>(?:glc_|ATATT3|hc[a-z]{1,3}k_|xox[a-z]-|gh[a-z]_|glpat-|sk-|sk_live_|rk_live_|shp[a-z]{2}_|dop_v1_|lin_api_|npm_|pypi-|AKIA|ASIA)[A-Za-z0-9_=+/.-]{16,512})".to_owned()),
        // Numbers and a hash, as Asana has them.
        (&["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"], r"(?-u)\b(?P<a>[0-9]{1,2}/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32})\b".to_owned()),
    ];
    let shape = |(words, pattern)| WideShape { words, pattern, compiled: OnceLock::new() };
    shapes.into_iter().map(shape).collect()
});

struct WideShape {
    words: &'static [&'static str],
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
}

impl WideShape {
    /// The expression, where one of its words occurs.
    fn in_text(&self, text: &[u8]) -> Option<&Regex> {
        let occurs = |word: &&str| memchr::memmem::find(text, word.as_bytes()).is_some();
        if !self.words.iter().any(occurs) {
            return None;
        }
        self.compiled.get_or_init(|| Regex::new(&self.pattern).ok()).as_ref()
    }
}

/// A call that is given a credential, up to its opening bracket.
static CALLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)(?i)(?P<n>log_?in|sign_?in|auth|authenticate\w{0,16}|password\w{0,20}|passwd|passphrase|credentials?|secret\w{0,12}|get_?connection|connect|basic_?auth|plainauth|setbasicauth|pbekeyspec|sequelize|bind|equals)\s{0,4}\(",
    )
    .ok()
});

/// Bytes to hide beside those of what can be reported, in no order; they may overlap.
pub(super) fn spans(text: &[u8], syntax: Syntax) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for shape in SHAPES.iter().filter_map(|shape| shape.in_text(text)) {
        for found in shape.captures_iter(text) {
            let value = ["a", "b", "c"].iter().find_map(|group| found.name(group));
            if let Some(value) = value
                && !stands_for_another(value.as_bytes())
                && is_worth_it(value.as_bytes())
            {
                spans.push(value.range());
            }
        }
    }
    calls(text, &mut spans);
    random_words(text, &mut spans);
    settings::spans(text, syntax, &mut spans);
    spans
}

/// What is assigned to a telling name, however it is written.
pub(super) fn assigned(text: &[u8], word: Range<usize>, syntax: Syntax) -> Option<Range<usize>> {
    let found = assign::assigned(text, word)?;
    let promise = names::promise(&assign::words(&text[found.name.clone()]))?;
    let reach = reach(text, &found, syntax);
    let value = &text[reach.clone()];
    let literal = found.quoted || syntax.is_literal();
    is_secret(promise, value, literal).then_some(reach)
}

/// How far a value goes: in settings, one without quotes ends with its line.
fn reach(text: &[u8], found: &Assigned, syntax: Syntax) -> Range<usize> {
    if found.quoted || !syntax.is_literal() || !settings::begins_line(text, found.name.start) {
        return found.value.clone();
    }
    let start = found.value.start;
    let line = text[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    start..start + settings::value_of(line, syntax)
}

/// Whether a value under such a name is hidden. `literal` where it cannot be an expression.
fn is_secret(promise: Promise, value: &[u8], literal: bool) -> bool {
    if value.len() < 3 || !literal || stands_for_another(value) {
        return false;
    }
    let chosen = is_chosen(value);
    match promise {
        Promise::Password => chosen || (value.len() >= 4 && !is_label(value)),
        Promise::Key { strong: true } => {
            let spaced = value.iter().any(u8::is_ascii_whitespace);
            !spaced && ((chosen && value.len() >= 6) || (value.len() >= 16 && !is_words(value)))
        }
        Promise::Key { strong: false } => {
            value.len() >= 12 && judge::is_mixed(value) && judge::entropy(value) >= 3.0
        }
        Promise::Id => false,
    }
}

/// Whether letters go with digits or with marks that words do not have.
fn is_chosen(value: &[u8]) -> bool {
    let marks = b"!@#$%^&*+=?~|;,'\"(){}[]";
    let letter = value.iter().any(u8::is_ascii_alphabetic);
    let other = value.iter().any(|byte| byte.is_ascii_digit() || marks.contains(byte));
    letter && other && !is_place(value)
}

/// An address without a password, or a path.
fn is_place(value: &[u8]) -> bool {
    value.starts_with(b"/")
        || value.starts_with(b"./")
        || (value.windows(3).any(|part| part == b"://") && !value.contains(&b'@'))
}

/// Whether the value is a variable, a template or a row of one mark: something else is used.
pub(super) fn stands_for_another(value: &[u8]) -> bool {
    let trimmed = value.trim_ascii();
    let has = |part: &[u8]| trimmed.windows(part.len()).any(|window| window == part);
    let whole =
        |open: u8, close: u8| trimmed.first() == Some(&open) && trimmed.last() == Some(&close);
    let first = trimmed.first().copied().unwrap_or_default();
    let variable = first == b'$'
        && trimmed[1..].iter().all(|byte| byte.is_ascii_alphanumeric() || b"_:{}".contains(byte));
    trimmed.is_empty()
        || variable
        || has(b"${")
        || has(b"{{")
        || has(b"$(")
        || has(b"#{")
        || has(b"<%")
        || whole(b'<', b'>')
        || whole(b'{', b'}')
        || (whole(b'%', b'%') && trimmed.len() > 2)
        || trimmed == b"%s"
        || has(b"process.env")
        || has(b"os.environ")
        || trimmed.iter().all(|byte| *byte == first)
}

/// Whether a value without digits and marks names or describes a password rather than being one.
fn is_label(value: &[u8]) -> bool {
    const LABELS: &[&str] = &[
        "text",
        "string",
        "str",
        "hidden",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "required",
        "optional",
        "input",
        "plain",
        "basic",
        "bearer",
        "prompt",
        "ask",
        "default",
        "varchar",
        "email",
        "username",
        "user",
        "name",
        "label",
        "field",
        "value",
        "yes",
        "no",
        "type",
        "object",
        "array",
        "number",
        "bool",
        "boolean",
        "any",
        "self",
        "this",
        "md5",
    ];
    const SPEAKS: &[&str] = &[
        "passw",
        "kennwort",
        "contrase",
        "mot de passe",
        "secret",
        "token",
        "credential",
        "changeme",
        "example",
        "placeholder",
        "redacted",
        "enter ",
        "your ",
        "your-",
        "your_",
        "must ",
        "please",
        "invalid",
        "required",
        "forgot",
        "reset",
        "cannot",
        "missing",
    ];
    let lower = String::from_utf8_lossy(value).trim().to_lowercase();
    LABELS.contains(&lower.as_str())
        || SPEAKS.iter().any(|word| lower.contains(word))
        || lower.starts_with("x-")
        || is_reference(value)
}

/// A qualified name such as `config.password` or `settings::PASSWORD`.
fn is_reference(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| b".:".contains(byte)).filter(|part| !part.is_empty());
    let name = |part: &[u8]| {
        part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            && part.first().is_some_and(u8::is_ascii_alphabetic)
    };
    value.contains(&b'.') && parts.all(name)
}

/// Whether marks cut it into words of letters.
fn is_words(value: &[u8]) -> bool {
    value
        .split(|byte| b"-_./: ".contains(byte))
        .all(|part| part.iter().all(u8::is_ascii_alphabetic) && part.len() < 14)
}

/// What a shape found is hidden unless it is plainly a word that stands for a value.
fn is_worth_it(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let word = [&b"password"[..], b"passwd", b"pass", b"pwd", b"secret", b"token", b"xxx", b"..."];
    !word.contains(&lower.as_slice())
}

/// The strings that a call with a telling name is given, its first aside where there are several.
fn calls(text: &[u8], spans: &mut Vec<Range<usize>>) {
    let Some(calls) = CALLS.as_ref() else { return };
    for found in calls.captures_iter(text) {
        let (Some(whole), Some(name)) = (found.get(0), found.name("n")) else { continue };
        let name = name.as_bytes().to_ascii_lowercase();
        let compares = name == b"equals";
        let telling = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
        let sole = telling(b"pass") || telling(b"secret") || telling(b"keyspec");
        let strings = strings(text, whole.end());
        let skipped = usize::from(!sole);
        if compares {
            continue;
        }
        for value in strings.into_iter().skip(skipped) {
            let content = &text[value.clone()];
            if content.len() >= 4 && is_chosen(content) && is_argument(content) {
                spans.push(value);
            }
        }
    }
}

/// Whether an argument can be a credential: no host, no encoding, no date, no sentence of SQL.
fn is_argument(value: &[u8]) -> bool {
    let spaces = value.iter().filter(|byte| byte.is_ascii_whitespace()).count();
    let host = value.contains(&b'.')
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(byte))
        && !value.iter().any(u8::is_ascii_uppercase);
    let lower = value.to_ascii_lowercase();
    let known = [&b"utf-8"[..], b"utf8", b"sha256", b"sha-256", b"oauth2", b"base64", b"latin1"];
    spaces < 4 && !host && !known.contains(&lower.as_slice()) && !stands_for_another(value)
}

/// The strings within the brackets that open before `at`, on at most a few lines.
fn strings(text: &[u8], at: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut depth, mut position) = (1_usize, at);
    let end = text.len().min(at + 400);
    while position < end && depth > 0 {
        match text[position] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            quote @ (b'"' | b'\'' | b'`') => {
                let rest = &text[position + 1..end];
                let Some(length) = assign::closing(rest, quote) else { break };
                found.push(position + 1..position + 1 + length);
                position += length + 1;
            }
            _ => {}
        }
        position += 1;
    }
    found
}

/// Long words that chance made, hashes in hexadecimal aside.
fn random_words(text: &[u8], spans: &mut Vec<Range<usize>>) {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/~".contains(&byte);
    let mut start = 0;
    while start < text.len() {
        if !part(text[start]) {
            start += 1;
            continue;
        }
        let length = text[start..].iter().take_while(|&&byte| part(byte)).count();
        let span = start..start + length;
        start += length;
        if !(24..=512).contains(&length) {
            continue;
        }
        let word = &text[span.clone()];
        let hex = word.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
        let pieces = word.split(|&byte| byte == b'/').count();
        let hash = word.starts_with(b"sha") || word.starts_with(b"h1");
        // One case and no digit above seven: access tokens of Azure DevOps.
        let base32 = length == 52
            && judge::is_mixed(word)
            && word.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
        let random = !hex
            && !hash
            && pieces.saturating_sub(1) * 12 < length
            && judge::is_random(word)
            && starts_free(text, span.start);
        if base32 || random {
            spans.push(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that does not compile would hide nothing, and nobody would notice.
    #[test]
    fn every_shape_compiles() {
        for shape in SHAPES.iter() {
            for word in shape.words {
                assert!(shape.in_text(word.as_bytes()).is_some(), "{}", shape.pattern);
            }
            assert!(shape.in_text(b"").is_none());
        }
        assert!(CALLS.is_some());
    }
}
