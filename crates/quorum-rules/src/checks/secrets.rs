//! Secrets in text: one pass for keywords, then linear-time patterns, then the structure.
//!
//! A finding never prints the secret. Its evidence is a quote of [`redact`] of the file, where the
//! secret is masked and everything else, line and column included, is as it was. What is masked is
//! more than what is reported: see [`Known`].

mod assign;
mod catalog;
mod checksum;
mod judge;
mod known;
mod names;
mod others;
mod report;
mod settings;
#[cfg(test)]
mod tests;
mod wide;

use std::ops::Range;

use quorum_model::severity::Severity;

use catalog::{Catalog, Form, Format, Trigger, catalog};
pub use known::Known;
pub(crate) use report::check;

/// The text with every secret masked by `*`, character by character, also those that are too
/// uncertain to report: hiding too much costs nothing.
///
/// Lines and columns stay where they are; what tells the kind of a token, its prefix, mostly too.
pub fn redact(text: &str) -> String {
    Known::of(None, text).mask(text)
}

/// The same for a file, whose name tells how values are written in it.
pub fn redact_file(path: &str, text: &str) -> String {
    Known::of(Some(path), text).mask(text)
}

/// What sort of secret it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The format with this number; `checked` where its checksum holds.
    Provider { format: usize, checked: bool },
    /// A private key; `sealed` where a passphrase protects it.
    PrivateKey { sealed: bool },
    /// A JSON web token.
    WebToken,
    /// A password in an address.
    Address,
    /// A credential in a header.
    Header,
    /// A password on a command line.
    Command,
    /// Something assigned to a password.
    Password,
    /// Something random assigned to a key, token or secret.
    Generic,
}

impl Kind {
    fn id(self) -> &'static str {
        match self {
            Self::Provider { format, .. } => {
                catalog().formats.get(format).map_or("secret", |format| format.id.as_str())
            }
            Self::PrivateKey { .. } => "private-key",
            Self::WebToken => "json-web-token",
            Self::Address => "address-password",
            Self::Header => "authorization-header",
            Self::Command => "command-password",
            Self::Password => "password",
            Self::Generic => "generic-secret",
        }
    }

    /// Which of two overlapping hits tells more; higher is better.
    fn rank(self) -> u8 {
        match self {
            Self::PrivateKey { .. } => 5,
            Self::Provider { checked: true, .. } => 4,
            Self::Provider { .. } => 3,
            Self::WebToken => 2,
            Self::Address | Self::Header | Self::Command | Self::Password | Self::Generic => 1,
        }
    }
}

/// A secret with what is known about it.
#[derive(Clone, Debug, PartialEq)]
struct Hit {
    span: Range<usize>,
    /// How many bytes of it say what it is, and are not secret.
    shown: usize,
    /// A byte of the line to quote.
    line_at: usize,
    /// Neither quotes nor a known prefix set it apart: in code, it may be an expression.
    bare: bool,
    kind: Kind,
    severity: Severity,
    confidence: f64,
}

impl Hit {
    fn new(
        span: Range<usize>,
        shown: usize,
        kind: Kind,
        severity: Severity,
        confidence: f64,
    ) -> Self {
        Self { line_at: span.start, span, shown, bare: false, kind, severity, confidence }
    }

    fn tells_more_than(&self, other: &Self) -> bool {
        let by_confidence = self.confidence.total_cmp(&other.confidence);
        let by_rank = self.kind.rank().cmp(&other.kind.rank());
        by_rank.then(by_confidence).then(self.span.len().cmp(&other.span.len())).is_gt()
    }
}

/// All secrets in the order of the text, none of them overlapping.
fn hits(text: &str) -> Vec<Hit> {
    without_overlaps(raw_hits(text))
}

/// All secrets, in no order; one may be found as several kinds.
fn raw_hits(text: &str) -> Vec<Hit> {
    let bytes = text.as_bytes();
    let catalog = catalog();
    let mut hits = Vec::new();
    let mut named_until = 0;
    for found in catalog.keywords.find_overlapping_iter(bytes) {
        let Some(&trigger) = catalog.triggers.get(found.pattern().as_usize()) else { continue };
        let at = found.start();
        match trigger {
            Trigger::Format(number) => {
                hits.extend(provider(bytes, found.range(), number, catalog));
            }
            // One long name has many telling words; its value is judged once.
            Trigger::Name if at >= named_until => {
                if let Some(hit) = names::assigned(bytes, found.range(), catalog) {
                    named_until = hit.span.start;
                    hits.push(hit);
                }
            }
            Trigger::Name | Trigger::MaskedName => {}
            Trigger::Address => hits.extend(others::address(bytes, at)),
            Trigger::Key => hits.extend(others::private_key(bytes, at)),
            Trigger::Jwt => hits.extend(others::web_token(bytes, at)),
            Trigger::Header => hits.extend(others::header(bytes, at)),
            Trigger::Curl => hits.extend(others::curl(bytes, at)),
        }
    }
    hits.retain(|hit| text.is_char_boundary(hit.span.start) && text.is_char_boundary(hit.span.end));
    pairs(bytes, &mut hits, catalog);
    hits
}

/// A token that the format with this number describes, where its keyword stands at `keyword`.
fn provider(text: &[u8], keyword: Range<usize>, number: usize, catalog: &Catalog) -> Option<Hit> {
    let format = catalog.formats.get(number)?;
    let span = match &format.form {
        Form::Prefix(_) => starting(text, keyword.start, format)?,
        Form::Inside(_) => around(text, keyword, format)?,
        Form::Named { .. } => return None,
    };
    let token = &text[span.clone()];
    let open = format.open_part(token);
    let secret = &token[open..];
    if judge::is_stand_in(token)
        || judge::entropy(secret) < format.entropy
        || (format.mixed && !judge::is_mixed(secret))
        || !is_near(text, &span, &format.near)
    {
        return None;
    }
    let checked = format.check.map(|check| check.holds(secret));
    // A checksum that does not hold: an older form, or made up by hand.
    let (severity, confidence) = match checked {
        Some(true) => (format.severity, 0.99),
        Some(false) => (format.severity.min(Severity::High), 0.7),
        None => (format.severity, 0.85),
    };
    let kind = Kind::Provider { format: number, checked: checked == Some(true) };
    Some(Hit::new(span, open.min(12), kind, severity, confidence))
}

/// The longest token of a prefix form that is looked at.
const TOKEN: usize = 4096;

/// How far a token can reach to either side of what tells it.
const AROUND: usize = 1024;

fn starting(text: &[u8], at: usize, format: &Format) -> Option<Range<usize>> {
    if !starts_free(text, at) {
        return None;
    }
    let window = &text[at..text.len().min(at + TOKEN)];
    let found = format.regex()?.find(window)?;
    let end = at + found.end();
    ends_free(text, end).then_some(at..end)
}

fn around(text: &[u8], keyword: Range<usize>, format: &Format) -> Option<Range<usize>> {
    let part = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`<>,;(){}[]\\".contains(byte);
    let before = text[..keyword.start].iter().rev().take(AROUND).take_while(part).count();
    let after = text[keyword.end..].iter().take(AROUND).take_while(part).count();
    let start = keyword.start - before;
    let window = &text[start..keyword.end + after];
    let found = format.regex()?.find_iter(window).find(|found| {
        start + found.start() <= keyword.start && start + found.end() >= keyword.end
    })?;
    let span = start + found.start()..start + found.end();
    (starts_free(text, span.start) && ends_free(text, span.end)).then_some(span)
}

/// Whether a token can start here: no letter or digit of a longer word before it.
fn starts_free(text: &[u8], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|at| text.get(at)) else { return true };
    let earlier = at.checked_sub(2).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    let joins = earlier.is_ascii_alphanumeric();
    match before {
        b'n' | b't' | b'r' if earlier == b'\\' => true,
        b'_' | b'+' => false,
        b'-' | b'.' => !joins,
        b'/' => !(joins && is_path(text, at)),
        _ => !before.is_ascii_alphanumeric(),
    }
}

/// Whether what stands before a slash is a long run of base 64 rather than a path.
fn is_path(text: &[u8], at: usize) -> bool {
    let run = text[..at].iter().rev().take(80);
    run.take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).count() > 40
}

/// Whether a token can end here.
fn ends_free(text: &[u8], end: usize) -> bool {
    text.get(end).is_none_or(|byte| !(byte.is_ascii_alphanumeric() || b"_=".contains(byte)))
}

fn is_near(text: &[u8], span: &Range<usize>, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let line = &text[line_of(text, span.start)];
    let line = line.to_ascii_lowercase();
    words.iter().any(|word| line.windows(word.len()).any(|window| window == word.as_bytes()))
}

fn line_of(text: &[u8], at: usize) -> Range<usize> {
    let start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |end| at + end);
    start..end
}

/// AWS keys come in pairs: beside an id, forty characters of base 64 are its secret, whatever they
/// are called.
fn pairs(text: &[u8], hits: &mut Vec<Hit>, catalog: &Catalog) {
    let number = |id: &str| catalog.formats.iter().position(|format| format.id == id);
    let (Some(id), Some(secret)) = (number("aws-access-key-id"), number("aws-secret-access-key"))
    else {
        return;
    };
    let is_id = |hit: &&Hit| matches!(hit.kind, Kind::Provider { format, .. } if format == id);
    let ids: Vec<usize> = hits.iter().filter(is_id).map(|hit| hit.span.end).collect();
    for at in ids {
        let window = &text[at..text.len().min(at + 200)];
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b"/+".contains(&byte);
        let mut start = 0;
        while start < window.len() {
            let length = window[start..].iter().take_while(|&&byte| part(byte)).count();
            let value = &window[start..start + length];
            if length == 40 && judge::is_mixed(value) && judge::entropy(value) > 4.0 {
                let span = at + start..at + start + length;
                let kind = Kind::Provider { format: secret, checked: false };
                if !judge::is_stand_in(value) {
                    hits.push(Hit::new(span, 0, kind, Severity::Critical, 0.9));
                }
                break;
            }
            start += length + 1;
        }
    }
}

/// Of hits that overlap, the one that tells most stays.
fn without_overlaps(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.span.start, hit.span.end));
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match kept.last_mut() {
            Some(last) if hit.span.start < last.span.end => {
                if hit.tells_more_than(last) {
                    *last = hit;
                }
            }
            _ => kept.push(hit),
        }
    }
    kept
}
