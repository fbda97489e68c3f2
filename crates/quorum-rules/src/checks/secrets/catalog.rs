//! The table of formats, read once.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use quorum_model::severity::Severity;
use regex::bytes::Regex;
use serde::Deserialize;

use super::checksum::Checksum;

/// One provider's format.
#[derive(Debug)]
pub(super) struct Format {
    /// Such as `github-token`.
    pub(super) id: String,
    /// What people call it.
    pub(super) name: String,
    /// How the token is recognised.
    pub(super) form: Form,
    /// The checksum within the token.
    pub(super) check: Option<Checksum>,
    /// Least entropy of what follows the prefix.
    pub(super) entropy: f64,
    /// Whether there must be digits and letters.
    pub(super) mixed: bool,
    /// Words of which one must stand on the same line.
    pub(super) near: Vec<String>,
    /// How bad it is to find one.
    pub(super) severity: Severity,
    /// The pattern as the table has it; examples are generated from it.
    pub(super) pattern: String,
    /// Lines with a `<token>` that must be found.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    pub(super) yes: Vec<String>,
    /// Lines with a `<token>` that must not be found.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    pub(super) no: Vec<String>,
    regex: OnceLock<Option<Regex>>,
}

/// How a token is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It starts with one of these.
    Prefix(Vec<String>),
    /// This is somewhere within it.
    Inside(String),
    /// A name beside it has one of these words; `id` where an identifier is meant as well.
    Named {
        /// Lower case, without separators.
        names: Vec<String>,
        /// Whether a name that ends in "id" counts.
        id: bool,
    },
}

impl Format {
    /// The pattern, compiled when it is first needed, and anchored at both ends for named values.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let anchored = match self.form {
                Form::Prefix(_) => format!(r"\A(?:{})", self.pattern),
                Form::Inside(_) => self.pattern.clone(),
                Form::Named { .. } => format!(r"\A(?:{})\z", self.pattern),
            };
            Regex::new(&format!("(?-u){anchored}")).ok()
        };
        self.regex.get_or_init(compile).as_ref()
    }

    /// How many bytes of `token` say what it is; the rest is the secret.
    pub(super) fn open_part(&self, token: &[u8]) -> usize {
        match &self.form {
            Form::Prefix(prefixes) => {
                let fits = prefixes.iter().filter(|prefix| token.starts_with(prefix.as_bytes()));
                fits.map(String::len).max().unwrap_or(0)
            }
            Form::Inside(_) | Form::Named { .. } => 0,
        }
    }
}

/// What a keyword in the text makes worth trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The format with this number.
    Format(usize),
    /// A name that may hold a secret of no known provider.
    Name,
    /// One that is too short to report what it holds, which is masked.
    MaskedName,
    /// An address that may have a password.
    Address,
    /// A private key.
    Key,
    /// A JSON web token.
    Jwt,
    /// An `Authorization` header.
    Header,
    /// A command with a user and password.
    Curl,
}

/// All formats and the automaton that finds their keywords in one pass.
#[derive(Debug)]
pub(super) struct Catalog {
    /// The formats, in the order of the table.
    pub(super) formats: Vec<Format>,
    /// Finds all keywords.
    pub(super) keywords: AhoCorasick,
    /// What each keyword triggers.
    pub(super) triggers: Vec<Trigger>,
}

/// The table, compiled.
pub(super) fn catalog() -> &'static Catalog {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
        #[expect(clippy::expect_used, reason = "the table is part of the program, and tested")]
        Catalog::parse(include_str!("formats.toml")).expect("the table of formats is valid")
    });
    &CATALOG
}

/// Words in names of variables, keys and fields that hold secrets.
const NAMES: &[&str] =
    &["password", "passwd", "passphrase", "pwd", "pass", "secret", "token", "key", "auth", "cred"];

const OTHERS: &[(&str, Trigger)] = &[
    ("://", Trigger::Address),
    ("-----BEGIN", Trigger::Key),
    ("PuTTY-User-Key-File", Trigger::Key),
    ("eyJ", Trigger::Jwt),
    ("authorization", Trigger::Header),
    ("bearer ", Trigger::Header),
    ("x-api-key", Trigger::Header),
    ("curl ", Trigger::Curl),
    ("pw", Trigger::MaskedName),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    token: BTreeMap<String, TokenRow>,
    named: BTreeMap<String, NamedRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRow {
    name: String,
    #[serde(default)]
    prefix: Vec<String>,
    #[serde(default)]
    rest: String,
    inside: Option<String>,
    #[serde(default)]
    shape: String,
    check: Option<Checksum>,
    #[serde(default = "least_entropy")]
    entropy: f64,
    #[serde(default)]
    mixed: bool,
    #[serde(default)]
    near: Vec<String>,
    #[serde(default)]
    severity: Level,
    #[serde(default)]
    yes: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedRow {
    name: String,
    names: Vec<String>,
    value: String,
    #[serde(default)]
    id: bool,
    #[serde(default = "least_entropy")]
    entropy: f64,
    #[serde(default)]
    severity: Level,
    #[serde(default)]
    yes: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    Medium,
    #[default]
    High,
    Critical,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Low => Self::Low,
            Level::Medium => Self::Medium,
            Level::High => Self::High,
            Level::Critical => Self::Critical,
        }
    }
}

fn least_entropy() -> f64 {
    2.5
}

const UUID: &str = "(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})";

impl Catalog {
    fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let table: Table = toml::from_str(text)?;
        let tokens = table.token.into_iter().map(|(id, row)| token(id, row));
        let named = table.named.into_iter().map(|(id, row)| value(id, row));
        let formats: Vec<Format> = tokens.chain(named).collect();
        let mut words: Vec<String> = Vec::new();
        let mut triggers = Vec::new();
        for (number, format) in formats.iter().enumerate() {
            let keywords = match &format.form {
                Form::Prefix(prefixes) => prefixes.clone(),
                Form::Inside(part) => vec![part.clone()],
                Form::Named { names, .. } => {
                    words.extend(names.iter().cloned());
                    triggers.extend(names.iter().map(|_| Trigger::Name));
                    continue;
                }
            };
            triggers.extend(keywords.iter().map(|_| Trigger::Format(number)));
            words.extend(keywords);
        }
        words.extend(NAMES.iter().map(|&name| name.to_owned()));
        triggers.extend(NAMES.iter().map(|_| Trigger::Name));
        words.extend(OTHERS.iter().map(|&(word, _)| word.to_owned()));
        triggers.extend(OTHERS.iter().map(|&(_, trigger)| trigger));
        let keywords = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&words)?;
        Ok(Self { formats, keywords, triggers })
    }
}

fn token(id: String, row: TokenRow) -> Format {
    let (form, pattern) = if let Some(inside) = row.inside {
        (Form::Inside(inside), row.shape)
    } else {
        let prefixes: Vec<String> = row.prefix.iter().map(|p| regex::escape(p)).collect();
        let pattern = format!("(?:{})(?:{})", prefixes.join("|"), row.rest);
        (Form::Prefix(row.prefix), pattern)
    };
    Format {
        id,
        name: row.name,
        form,
        check: row.check,
        entropy: row.entropy,
        mixed: row.mixed,
        near: row.near,
        severity: row.severity.into(),
        pattern,
        yes: row.yes,
        no: row.no,
        regex: OnceLock::new(),
    }
}

fn value(id: String, row: NamedRow) -> Format {
    Format {
        id,
        name: row.name,
        form: Form::Named { names: row.names, id: row.id },
        check: None,
        entropy: row.entropy,
        mixed: false,
        near: Vec::new(),
        severity: row.severity.into(),
        pattern: row.value.replace("UUID", UUID),
        yes: row.yes,
        no: row.no,
        regex: OnceLock::new(),
    }
}
