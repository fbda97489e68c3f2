//! The keys that exist, taken from the schema of the configuration itself.

use std::collections::BTreeMap;

use quorum_model::config::Config;
use serde_json::Value;

/// What stands at a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// Keys with fixed names.
    Table(BTreeMap<String, Self>),
    /// Any names, each with the same below it.
    Map(Box<Self>),
    /// A value of this kind.
    Leaf(Kind),
}

/// What a value is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    Truth,
    List,
}

impl Node {
    /// The whole configuration.
    pub(crate) fn root() -> Self {
        let schema = schemars::schema_for!(Config);
        let schema = schema.as_value();
        node(schema, schema)
    }

    /// The keys with fixed names below this one.
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Table(keys) => keys.keys().map(String::as_str).collect(),
            Self::Map(_) | Self::Leaf(_) => Vec::new(),
        }
    }

    /// What stands at `name`; the names that do exist where nothing does.
    pub(crate) fn child(&self, name: &str) -> Result<&Self, Vec<&str>> {
        match self {
            Self::Table(keys) => keys.get(name).ok_or_else(|| self.names()),
            Self::Map(below) => Ok(below),
            Self::Leaf(_) => Err(Vec::new()),
        }
    }

    /// Every value whose key has no free names in it, with its path.
    pub(crate) fn leaves(&self) -> Vec<(String, Kind)> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect(&self, path: &str, found: &mut Vec<(String, Kind)>) {
        match self {
            Self::Leaf(kind) => found.push((path.to_owned(), *kind)),
            Self::Map(_) => {}
            Self::Table(keys) => {
                for (name, below) in keys {
                    below.collect(&join(path, name), found);
                }
            }
        }
    }
}

/// `path` with `name` below it.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn node(schema: &Value, root: &Value) -> Node {
    let schema = resolve(schema, root);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let keys = properties.iter().map(|(name, below)| (name.clone(), node(below, root)));
        return Node::Table(keys.collect());
    }
    if let Some(below) = schema.get("additionalProperties").filter(|below| below.is_object()) {
        return Node::Map(Box::new(node(below, root)));
    }
    Node::Leaf(kind(schema))
}

/// Follows references, and takes the other choice where one is "not set".
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let found = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return found.map_or(schema, |found| resolve(found, root));
    }
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let is_null = |choice: &&Value| choice.get("type").and_then(Value::as_str) != Some("null");
    match choices.and_then(|choices| choices.iter().find(is_null)) {
        Some(choice) => resolve(choice, root),
        None => schema,
    }
}

fn kind(schema: &Value) -> Kind {
    let named = match schema.get("type") {
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null")
        }
        Some(Value::String(name)) => Some(name.as_str()),
        _ => None,
    };
    match named {
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Truth,
        Some("array") => Kind::List,
        _ => Kind::Text,
    }
}

/// The name that is most like `wanted`, where one is like it at all.
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let scored = names.into_iter().map(|name| (strsim::jaro_winkler(wanted, name), name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.7).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_key_is_found() {
        let leaves: BTreeMap<String, Kind> = Node::root().leaves().into_iter().collect();
        let expected = [
            ("provider", Kind::Text),
            ("tier", Kind::Text),
            ("agents", Kind::List),
            ("strict", Kind::Truth),
            ("limits.max_tokens", Kind::Integer),
            ("limits.max_usd", Kind::Number),
            ("progressive_summarization.full_analysis_threshold", Kind::Number),
            ("forge.kind", Kind::Text),
        ];
        for (key, kind) in expected {
            assert_eq!(leaves.get(key), Some(&kind), "{key}");
        }
        assert!(matches!(Node::root().child("models"), Ok(Node::Map(_))));
    }

    #[test]
    fn the_nearest_name() {
        assert_eq!(nearest("protocoll", ["provider", "protocol", "tier"]), Some("protocol"));
        assert_eq!(nearest("zzz", ["provider", "protocol", "tier"]), None);
    }
}
