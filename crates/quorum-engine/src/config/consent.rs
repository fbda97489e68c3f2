//! What a repository's file may say by itself, and what needs the user's word.
//!
//! A repository says what is reviewed, by which reviewers, and how it is decided. Who is sent code,
//! who is paid, how much, and what runs on the machine is the user's to say.

use std::fmt::Write as _;

use quorum_model::config::{Config, MAX_BASE_BUDGET};
use serde_json::json;
use toml::{Table, Value};

use crate::config::keys::{Node, join};

/// What a repository's file may say about a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    /// Anything.
    Free,
    /// A number up to the user's own, else the default; where there is neither, up to this, if it is
    /// a number.
    Lower(Option<u64>),
    /// These values, which ask for less than all others.
    Only(&'static [&'static str]),
    /// Nothing.
    Consent,
}

use Standing::{Consent, Free, Lower, Only};

const REVIEW: &str = "it says what is reviewed and how it is decided";
const SENDS: &str = "it decides who is sent code and who is paid";
const MORE: &str = "it makes a review cost more";
const COUNTS: &str = "it weakens how tokens and money are counted";
const LIMIT: &str = "a repository can lower a limit, not raise it";
const WATCH: &str = "it turns off what watches models";
const PLACE: &str = "it decides where code, results or a token are sent";
const READS: &str = "it decides which folder outside of the repository is read";
const RUNS: &str = "it lets programs of the repository run";
const DOORS: &str = "it lets programs of the repository reach more of the machine or the network";
/// `--gates` and `gates.run` are the user's word for running a repository's checks, and these say
/// which those are.
const CHECKS: &str = "checks run only after the user's own word";

/// As many conversations as there are where nobody says anything.
const MOST_JOBS: u64 = 8;

/// Every key: what a repository may say about it, and why. `*` stands for any name.
const KEYS: &[(&str, Standing, &str)] = &[
    ("provider", Only(&["builtin"]), SENDS),
    ("model", Consent, SENDS),
    ("tier", Free, REVIEW),
    ("agents", Free, REVIEW),
    ("protocol", Free, REVIEW),
    ("review_type", Free, REVIEW),
    ("fail_on", Free, REVIEW),
    ("strict", Free, REVIEW),
    ("quorum_share", Free, REVIEW),
    ("complete", Only(&["false"]), MORE),
    ("verify", Only(&["false"]), MORE),
    ("canary", Only(&["true"]), WATCH),
    ("tokenizer", Only(&["o200k", "cl100k"]), COUNTS),
    ("time_pressure", Free, REVIEW),
    ("progressive_summarization.full_analysis_threshold", Free, REVIEW),
    ("progressive_summarization.high_severity_threshold", Free, REVIEW),
    ("progressive_summarization.force_return_threshold", Free, REVIEW),
    ("limits.max_tokens", Lower(None), LIMIT),
    ("limits.max_usd", Lower(None), LIMIT),
    ("limits.max_seconds", Lower(None), LIMIT),
    ("limits.jobs", Lower(Some(MOST_JOBS)), LIMIT),
    ("limits.calls_per_shard", Lower(None), LIMIT),
    ("limits.seconds_per_call", Lower(None), LIMIT),
    ("scope.ignore", Free, REVIEW),
    ("scope.security_sensitive", Free, REVIEW),
    ("scope.generated", Free, REVIEW),
    ("coverage.require", Free, REVIEW),
    ("agent.*.enabled", Free, REVIEW),
    ("agent.*.base_budget", Lower(Some(MAX_BASE_BUDGET)), LIMIT),
    ("agent.*.veto", Free, REVIEW),
    ("agent.*.provider", Only(&["builtin"]), SENDS),
    ("agent.*.model", Consent, SENDS),
    ("models.*.provider", Consent, SENDS),
    ("models.*.model", Consent, SENDS),
    ("models.*.max_tokens", Consent, COUNTS),
    ("models.*.sweet_spot", Consent, COUNTS),
    ("models.*.usd_per_million_input", Consent, COUNTS),
    ("models.*.usd_per_million_output", Consent, COUNTS),
    ("capabilities.*.preferred", Consent, SENDS),
    ("capabilities.*.fallback", Consent, SENDS),
    ("gates.run", Only(&["false"]), RUNS),
    ("gates.preset", Free, CHECKS),
    ("gates.overrides", Free, CHECKS),
    ("gates.additional", Free, CHECKS),
    ("gates.pass_env", Consent, DOORS),
    ("gates.network", Only(&["false"]), DOORS),
    ("gates.allow_unsandboxed", Only(&["false"]), DOORS),
    ("gates.limits.memory_mb", Lower(None), LIMIT),
    ("gates.limits.processes", Lower(None), LIMIT),
    ("gates.limits.file_mb", Lower(None), LIMIT),
    ("gates.limits.disk_mb", Lower(None), LIMIT),
    ("gates.limits.output_tokens", Lower(None), LIMIT),
    ("suppressions.allow_new_vetoes", Free, REVIEW),
    ("forge.kind", Consent, PLACE),
    ("forge.api_url", Consent, PLACE),
    ("forge.repository", Consent, PLACE),
    ("forge.remote", Consent, PLACE),
    ("forge.account", Consent, PLACE),
    ("advisories.url", Consent, PLACE),
    ("embeddings.model_dir", Consent, READS),
    ("embeddings.url", Consent, PLACE),
    ("embeddings.model", Consent, SENDS),
];

/// What a repository's file may say about a key, in words; `*` stands for any name. Absent where there
/// is no such key.
pub fn in_repository(pattern: &str) -> Option<String> {
    let (_, standing, _) = KEYS.iter().find(|(key, _, _)| *key == pattern)?;
    Some(match standing {
        Free => "yes".to_owned(),
        Lower(None) => "lower".to_owned(),
        Lower(Some(most)) => format!("lower, or up to {most}"),
        Consent => "consent".to_owned(),
        Only(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            format!("{}, else consent", values.join(", "))
        }
    })
}

/// A setting of another file of the repository than `quorum.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The names of its key.
    pub path: Vec<String>,
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: String,
}

/// A setting of a repository that needs the user's word.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The key, with dots.
    pub key: String,
    /// The value on one line, with nothing in it that a terminal would act on.
    pub value: String,
    /// File and line.
    pub place: String,
    /// Why it needs consent.
    pub why: String,
    pub(crate) path: Vec<String>,
    raw: Value,
    /// Its key's place among all keys: the ones that matter most come first.
    pub(crate) rank: usize,
}

/// What a repository's settings come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screened {
    /// What needs the user's word.
    pub(crate) held: Vec<Held>,
    /// Limits that the repository lowers by itself.
    pub(crate) lowered: Vec<Held>,
}

/// Takes out of `repository` what needs the user's word.
pub(crate) fn screen(
    root: &Node,
    user: &Table,
    repository: &mut Table,
    place: &dyn Fn(&str) -> String,
) -> Screened {
    let defaults = Value::try_from(Config::default()).ok();
    let defaults = defaults.and_then(|value| value.as_table().cloned()).unwrap_or_default();
    let mut screen = Screen { user, defaults: &defaults, place, found: Screened::default() };
    screen.table(root, &[], "", repository);
    screen.found
}

/// What of `claims` needs the user's word.
pub(crate) fn of_claims(claims: &[Claim]) -> Vec<Held> {
    let none = Table::new();
    let mut screen = Screen {
        user: &none,
        defaults: &none,
        place: &|_| String::new(),
        found: Screened::default(),
    };
    for claim in claims {
        let pattern = match claim.path.as_slice() {
            [first, _, last] => format!("{first}.*.{last}"),
            other => other.join("."),
        };
        if screen.takes(&claim.path, &pattern, &claim.value)
            && let Some(held) = screen.found.held.last_mut()
        {
            held.place.clone_from(&claim.place);
        }
    }
    screen.found.held
}

struct Screen<'a> {
    user: &'a Table,
    defaults: &'a Table,
    place: &'a dyn Fn(&str) -> String,
    found: Screened,
}

impl Screen<'_> {
    fn table(&mut self, node: &Node, path: &[String], pattern: &str, table: &mut Table) {
        let names: Vec<String> = table.keys().cloned().collect();
        for name in names {
            let path: Vec<String> = path.iter().chain([&name]).cloned().collect();
            let below = match node {
                Node::Map(_) => join(pattern, "*"),
                _ => join(pattern, &name),
            };
            let child = node.child(&name).ok();
            let taken = match (child, table.get_mut(&name)) {
                (Some(child @ (Node::Table(_) | Node::Map(_))), Some(Value::Table(inner))) => {
                    self.table(child, &path, &below, inner);
                    false
                }
                (_, Some(value)) => {
                    let value = value.clone();
                    self.takes(&path, &below, &value)
                }
                (_, None) => false,
            };
            if taken {
                table.remove(&name);
            }
        }
    }

    /// Whether a value is held; what nobody classified is.
    fn takes(&mut self, path: &[String], pattern: &str, value: &Value) -> bool {
        let rank = KEYS.iter().position(|(key, _, _)| *key == pattern);
        let (standing, why) = rank.map_or((Consent, SENDS), |rank| (KEYS[rank].1, KEYS[rank].2));
        let (held, why) = match standing {
            Free => return false,
            Consent => (true, why.to_owned()),
            Only(values) => (!values.contains(&plain(value).as_str()), why.to_owned()),
            Lower(most) => {
                let fallback = most.and_then(|most| number(&Value::Integer(most.try_into().ok()?)));
                let most = self.most(path).or(fallback);
                // What is no number is no lower one either.
                let fits = most.is_none_or(|most| number(value).is_some_and(|value| value <= most));
                let above = most.map(|most| format!("{why}: without it, it is {most}"));
                (!fits, above.unwrap_or_default())
            }
        };
        let key = path.iter().map(|name| visible(name)).collect::<Vec<_>>().join(".");
        let entry = Held {
            place: (self.place)(&path.join(".")),
            key,
            value: shown(value),
            why,
            path: path.to_vec(),
            raw: value.clone(),
            rank: rank.unwrap_or(0),
        };
        match (held, standing) {
            (true, _) => self.found.held.push(entry),
            (false, Lower(_)) => self.found.lowered.push(entry),
            (false, _) => {}
        }
        held
    }

    /// The user's own limit, else the default one.
    fn most(&self, path: &[String]) -> Option<f64> {
        let own = spellings(path);
        let own = own.iter().filter_map(|path| number(find(self.user, path)?));
        let own = own.min_by(f64::total_cmp);
        own.or_else(|| number(find(self.defaults, path)?))
    }
}

/// A reviewer answers to its name with and without `-reviewer`.
fn spellings(path: &[String]) -> Vec<Vec<String>> {
    let [agent, name, key] = path else { return vec![path.to_vec()] };
    let short = name.strip_suffix("-reviewer").unwrap_or(name);
    let named = |name: String| vec![agent.clone(), name, key.clone()];
    vec![named(short.to_owned()), named(format!("{short}-reviewer"))]
}

fn find<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    let (last, above) = path.split_last()?;
    let mut table = table;
    for name in above {
        table = table.get(name)?.as_table()?;
    }
    table.get(last)
}

#[expect(clippy::cast_precision_loss, reason = "limits are compared, not added up")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// A value as [`Only`] lists it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value on one line; what is not plainly visible is written as its number.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => {
            format!("\"{}\"", visible(&text.replace('\\', "\\\\").replace('"', "\\\"")))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        Value::Table(table) => {
            let items =
                table.iter().map(|(key, value)| format!("{} = {}", visible(key), shown(value)));
            format!("{{ {} }}", items.collect::<Vec<_>>().join(", "))
        }
        other => visible(&other.to_string()),
    }
}

fn visible(text: &str) -> String {
    let mut written = String::new();
    for c in text.chars() {
        if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() {
            written.push(c);
        } else {
            // Writing to a string cannot fail.
            _ = write!(written, "\\u{{{:x}}}", u32::from(c));
        }
    }
    written
}

/// One digest of exactly these settings, in whatever order they stand.
pub(crate) fn digest<'a>(settings: impl IntoIterator<Item = &'a Held>) -> String {
    let mut lines: Vec<String> = settings
        .into_iter()
        .map(|held| json!([held.path, held.raw.type_str(), held.raw.to_string()]).to_string())
        .collect();
    lines.sort_unstable();
    let text = format!("quorum consent 1\n{}\n", lines.join("\n"));
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests;
