//! Putting the layers on top of each other.

use std::collections::BTreeMap;
use std::fmt;

use quorum_model::config::Config;
use quorum_model::wording;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use crate::config::consent::{self, Claim, Held};
use crate::config::environment;
use crate::config::error::ConfigError;
use crate::config::keys::{Node, join, nearest};

/// Refused settings that a warning names; `quorum config show --origin` has them all.
const MOST_NAMED: usize = 5;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Quorum itself.
    Default,
    /// The user's own file.
    User(String),
    /// The repository's file, perhaps at a revision.
    Repository(String),
    /// A variable.
    Environment(String),
    /// A flag on the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(place) | Self::Repository(place) => f.write_str(place),
            Self::Environment(name) => write!(f, "variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A file's text and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLayer {
    /// [`Origin::User`] or [`Origin::Repository`], with the path for messages.
    pub origin: Origin,
    /// The text.
    pub text: String,
}

/// One value that a flag sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The flag, such as `--tier`.
    pub flag: String,
    /// The key, with dots.
    pub key: String,
    /// The value.
    pub value: Value,
}

/// Everything that a configuration is made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layers {
    /// The user's own file.
    pub user: Option<TextLayer>,
    /// The repository's file.
    pub repository: Option<TextLayer>,
    /// What other files of the repository set.
    pub claims: Vec<Claim>,
    /// Digests of the settings that the user trusts this repository with.
    pub trusted: Vec<String>,
    /// The environment.
    pub variables: Vec<(String, String)>,
    /// The command line.
    pub flags: Vec<Setting>,
}

/// A configuration with the origin of every value that is not a default.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The values in force.
    pub config: Config,
    /// What the repository sets that needs the user's word.
    pub held: Vec<Held>,
    /// Whether the user trusts the repository with all of that.
    pub trusted: bool,
    lowered: Vec<Held>,
    origins: BTreeMap<String, Origin>,
}

impl Loaded {
    /// Where the value of `key` comes from.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// What the repository sets and is not used.
    pub fn refused(&self) -> &[Held] {
        if self.trusted { &[] } else { &self.held }
    }

    /// The digest of exactly the settings that need the user's word.
    pub fn digest(&self) -> String {
        consent::digest(&self.held)
    }

    /// The digest of what the repository has a say in about money, sending and running.
    pub fn terms(&self) -> String {
        let held = self.held.iter().filter(|_| self.trusted);
        consent::digest(held.chain(&self.lowered))
    }

    /// What to tell the user about settings below `key` that are not used, unless the command line or
    /// a variable decides them all. Everything is below an empty key.
    pub fn warning(&self, key: &str) -> Option<String> {
        let decided = |held: &&Held| {
            !matches!(self.origin(&held.key), Origin::Environment(_) | Origin::Flag(_))
        };
        let named: Vec<String> = self
            .refused()
            .iter()
            .filter(|held| held.key.starts_with(key))
            .filter(decided)
            .map(|held| format!("{} = {} ({})", held.key, held.value, held.place))
            .collect();
        let (first, more) = named.split_at(named.len().min(MOST_NAMED));
        if first.is_empty() {
            return None;
        }
        let more =
            if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        Some(format!(
            "not used without your consent: {}{more}; `quorum config trust` shows what the repository \
             sets and asks you",
            first.join(", ")
        ))
    }

    /// Every key with its value as TOML writes it and its origin; an unset key has no value.
    pub fn entries(&self) -> Vec<(String, Option<String>, Origin)> {
        let value = Value::try_from(&self.config).unwrap_or(Value::Table(Table::new()));
        let mut written = BTreeMap::new();
        flatten("", &value, &mut written);
        for (key, _) in Node::root().leaves() {
            written.entry(key).or_insert(None);
        }
        written
            .into_iter()
            .map(|(key, value)| {
                let origin = self.origin(&key);
                (key, value, origin)
            })
            .collect()
    }
}

/// Puts the layers on top of each other, the strongest last. What the repository sets and needs the
/// user's word for is taken out before, unless the user trusts it with exactly that.
pub fn load(layers: &Layers) -> Result<Loaded, ConfigError> {
    let root = Node::root();
    let mut merged = Table::new();
    let mut origins = BTreeMap::new();
    if let Some(layer) = &layers.user {
        origins.extend(check(&root, layer)?);
        merged = parse(layer)?;
    }
    let mut held = consent::of_claims(&layers.claims);
    let mut lowered = Vec::new();
    let mut trusted = true;
    if let Some(layer) = &layers.repository {
        let mut places = check(&root, layer)?;
        let whole = parse(layer)?;
        let mut rest = whole.clone();
        let place = |key: &str| places.get(key).unwrap_or(&layer.origin).to_string();
        let screened = consent::screen(&root, &merged, &mut rest, &place);
        held.extend(screened.held);
        held.sort_by_key(|held| held.rank);
        lowered = screened.lowered;
        trusted = is_trusted(&held, layers);
        if !trusted {
            for held in &held {
                places.remove(&held.path.join("."));
            }
        }
        overlay(&mut merged, if trusted { whole } else { rest });
        origins.extend(places);
    } else if !held.is_empty() {
        trusted = is_trusted(&held, layers);
    }
    for found in environment::read(&root, &layers.variables)? {
        set(&mut merged, &found.key, found.value);
        origins.insert(found.key, Origin::Environment(found.variable));
    }
    for flag in &layers.flags {
        set(&mut merged, &flag.key, flag.value.clone());
        origins.insert(flag.key.clone(), Origin::Flag(flag.flag.clone()));
    }
    let config = decode(merged, &origins)?;
    Ok(Loaded { config, held, trusted, lowered, origins })
}

fn is_trusted(held: &[Held], layers: &Layers) -> bool {
    held.is_empty() || layers.trusted.contains(&consent::digest(held))
}

/// Checks one file by itself, so that an error names its line; returns the place of every value.
fn check(root: &Node, layer: &TextLayer) -> Result<BTreeMap<String, Origin>, ConfigError> {
    let document = DeTable::parse(&layer.text).map_err(|error| syntax(layer, &error))?;
    let mut places = BTreeMap::new();
    walk(root, "", document.get_ref(), layer, &mut places)?;
    let typed: Result<Config, _> = toml::from_str(&layer.text);
    typed.map_err(|error| {
        let span = error.span().unwrap_or_default();
        let of_place = |origin: &Origin| origin.to_string() == place(layer, span.start);
        let key = places.iter().find(|(_, origin)| of_place(origin)).map(|(key, _)| key.clone());
        ConfigError::Value {
            place: place(layer, span.start),
            key: key.unwrap_or_else(|| "value".to_owned()),
            message: first_line(error.message()),
        }
    })?;
    Ok(places)
}

fn walk(
    node: &Node,
    path: &str,
    table: &DeTable<'_>,
    layer: &TextLayer,
    places: &mut BTreeMap<String, Origin>,
) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = join(path, name.get_ref());
        let place = place(layer, name.span().start);
        let below = node.child(name.get_ref()).map_err(|known| ConfigError::UnknownKey {
            place: place.clone(),
            key: key.clone(),
            known: known.iter().map(|&known| known.to_owned()).collect(),
            nearest: nearest(name.get_ref(), known).map(|nearest| join(path, nearest)),
        })?;
        match (below, value.get_ref()) {
            (Node::Table(_) | Node::Map(_), DeValue::Table(table)) => {
                walk(below, &key, table, layer, places)?;
            }
            _ => {
                places.insert(key, place_origin(layer, name));
            }
        }
    }
    Ok(())
}

fn place_origin(layer: &TextLayer, name: &Spanned<std::borrow::Cow<'_, str>>) -> Origin {
    let place = place(layer, name.span().start);
    match &layer.origin {
        Origin::User(_) => Origin::User(place),
        _ => Origin::Repository(place),
    }
}

/// `file:line` of a byte in a layer's text.
fn place(layer: &TextLayer, offset: usize) -> String {
    let before = layer.text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("{}:{line}", layer.origin)
}

fn syntax(layer: &TextLayer, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map_or(0, |span| span.start);
    ConfigError::Syntax { place: place(layer, start), message: first_line(error.message()) }
}

/// The place is named already; what is left is what is wrong.
fn first_line(message: &str) -> String {
    wording::plain(message.lines().next().unwrap_or_default())
}

fn parse(layer: &TextLayer) -> Result<Table, ConfigError> {
    toml::from_str(&layer.text).map_err(|error| syntax(layer, &error))
}

fn overlay(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => overlay(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

fn set(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((first, rest)) => {
            let below = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(below) = below {
                set(below, rest, value);
            }
        }
    }
}

fn decode(merged: Table, origins: &BTreeMap<String, Origin>) -> Result<Config, ConfigError> {
    let place_of = |key: &str| {
        let below = format!("{key}.");
        let exact = origins.get(key);
        let found = exact.or_else(|| {
            let mut inside = origins.iter().filter(|(name, _)| name.starts_with(&below));
            inside.next().map(|(_, origin)| origin)
        });
        found.map_or_else(|| "the configuration".to_owned(), ToString::to_string)
    };
    // Files were checked one by one, so what is wrong here came from a variable or a flag.
    let config: Config = Value::Table(merged).try_into().map_err(|error: toml::de::Error| {
        let message = first_line(error.message());
        let loud = origins
            .iter()
            .filter(|(_, origin)| matches!(origin, Origin::Environment(_) | Origin::Flag(_)));
        let named = loud.clone().find(|(key, _)| error.to_string().contains(last(key)));
        let key = named.or_else(|| loud.clone().next()).map_or("value", |(key, _)| key.as_str());
        ConfigError::Value { place: place_of(key), key: key.to_owned(), message }
    })?;
    if let Some(problem) = config.problems().into_iter().next() {
        return Err(ConfigError::Value {
            place: place_of(&problem.key),
            key: problem.key,
            message: problem.message,
        });
    }
    Ok(config)
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

fn flatten(path: &str, value: &Value, found: &mut BTreeMap<String, Option<String>>) {
    match value {
        Value::Table(table) => {
            for (key, below) in table {
                flatten(&join(path, key), below, found);
            }
        }
        other => {
            found.insert(path.to_owned(), Some(other.to_string()));
        }
    }
}

#[cfg(test)]
mod tests;
