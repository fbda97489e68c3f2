//! Variables that set keys: `limits.max_usd` is `QUORUM_LIMITS_MAX_USD`.

use toml::Value;

use crate::config::error::ConfigError;
use crate::config::keys::{Kind, Node, nearest};

const PREFIX: &str = "QUORUM_";

/// Short names for what has a flag of that name.
const SHORT: [(&str, &str); 4] = [
    ("QUORUM_MAX_TOKENS", "limits.max_tokens"),
    ("QUORUM_MAX_USD", "limits.max_usd"),
    ("QUORUM_MAX_SECONDS", "limits.max_seconds"),
    ("QUORUM_JOBS", "limits.jobs"),
];

/// A key that a variable sets.
pub(crate) struct FromVariable {
    pub(crate) variable: String,
    pub(crate) key: String,
    pub(crate) value: Value,
}

/// The keys that `variables` set. Those that do not start with `QUORUM_` are somebody else's.
pub(crate) fn read(
    root: &Node,
    variables: &[(String, String)],
) -> Result<Vec<FromVariable>, ConfigError> {
    let mine = variables.iter().filter(|(name, _)| name.starts_with(PREFIX));
    let mut mine = mine.peekable();
    if mine.peek().is_none() {
        return Ok(Vec::new());
    }
    let leaves = root.leaves();
    let mut names: Vec<(String, &str, Kind)> =
        leaves.iter().map(|(key, kind)| (variable(key), key.as_str(), *kind)).collect();
    for (short, key) in SHORT {
        if let Some((_, kind)) = leaves.iter().find(|(leaf, _)| leaf == key) {
            names.push((short.to_owned(), key, *kind));
        }
    }
    mine.map(|(name, text)| {
        let Some((_, key, kind)) = names.iter().find(|(known, _, _)| known == name) else {
            let known = names.iter().map(|(known, _, _)| known.as_str());
            let nearest = nearest(name, known).map(str::to_owned);
            return Err(ConfigError::UnknownVariable { name: name.clone(), nearest });
        };
        let value = value(text, *kind).map_err(|message| ConfigError::Value {
            place: name.clone(),
            key: (*key).to_owned(),
            message,
        })?;
        Ok(FromVariable { variable: name.clone(), key: (*key).to_owned(), value })
    })
    .collect()
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace(['.', '-'], "_").to_uppercase())
}

fn value(text: &str, kind: Kind) -> Result<Value, String> {
    let text = text.trim();
    let refuse = |what: &str| format!("`{text}` is not {what}");
    match kind {
        Kind::Text => Ok(Value::String(text.to_owned())),
        Kind::Integer => text.parse().map(Value::Integer).map_err(|_| refuse("a whole number")),
        Kind::Number => text.parse().map(Value::Float).map_err(|_| refuse("a number")),
        Kind::Truth => match text {
            "true" | "1" | "yes" => Ok(Value::Boolean(true)),
            "false" | "0" | "no" | "" => Ok(Value::Boolean(false)),
            _ => Err(refuse("true or false")),
        },
        Kind::List => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Ok(Value::Array(items.map(|item| Value::String(item.to_owned())).collect()))
        }
    }
}
