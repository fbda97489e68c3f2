//! The page about the keys of `quorum.toml`, from its schema.

use std::fmt::Write as _;

use quorum_model::schema;
use serde_json::{Map, Value};

use crate::config::in_repository;

const HEAD: &str = "\
# Configuration

<!-- Written by `cargo xtask reference` from the schema; change the types instead. -->

Keys of `quorum.toml`. Precedence, highest first: flags, environment variables (`limits.max_usd` is `QUORUM_LIMITS_MAX_USD`), the
repository's `quorum.toml`, your own (`~/.config/quorum/quorum.toml`), defaults. An unknown key is an error that names the nearest one.

The repository's file does not have a say in everything. The column *repository* says what it may set by itself: *yes*, anything;
*lower*, a limit up to your own or the default; *consent*, nothing: the value sends, pays or runs something, or decides where it goes.
Give your word by a flag, a variable, your own file, or `quorum config trust`, which shows the repository's settings and asks. It records
the clone and a digest of exactly these settings; when one of them changes, none of them is used until you agree again. Linked work trees
share your consent, another clone does not. A model or a larger budget in `.quorum/agents/*.md` needs it as well. A review of commits
reads all of this from its base: `quorum config trust --at main`. `quorum config trust --list` shows what you trust, `quorum config
untrust` takes it back, and `quorum config show --origin` names what is refused, and why.

`quorum config init` writes a file to start from, `quorum config show --origin` says where each value comes from,
`quorum config validate` checks the file, and `quorum config schema` prints the schema for editors.
";

/// The schema of `quorum.toml`.
fn of_configuration() -> Value {
    let found = schema::documents().into_iter().find(|(name, _)| *name == "config.json");
    found.map(|(_, schema)| schema.to_value()).unwrap_or_default()
}

/// The page, as `docs/configuration.md` keeps it.
pub fn page() -> String {
    let schema = of_configuration();
    let mut page = HEAD.to_owned();
    table(&mut page, &schema, "", "Top level", &schema, None);
    page
}

/// Writes one table of the file, and then the tables inside it.
fn table(
    page: &mut String,
    schema: &Value,
    path: &str,
    heading: &str,
    definition: &Value,
    about: Option<&str>,
) {
    let properties = object(&definition["properties"]);
    let (tables, keys): (Vec<_>, Vec<_>) =
        properties.iter().partition(|(_, property)| inner_table(schema, property).is_some());
    // Writing to a string cannot fail.
    _ = write!(page, "\n## {heading}\n\n");
    if let Some(about) = about {
        _ = write!(page, "{}\n\n", one_line(about));
    }
    page.push_str("| key | value | default | repository | meaning |\n|---|---|---|---|---|\n");
    for (key, property) in keys {
        _ = writeln!(
            page,
            "| `{key}` | {} | {} | {} | {} |",
            value(schema, property),
            default(property),
            repository(path, key),
            one_line(property["description"].as_str().unwrap_or_default())
        );
    }
    for (name, property) in tables {
        let Some((definition, shape)) = inner_table(schema, property) else { continue };
        let path = format!("{path}{name}");
        let heading = match shape {
            Shape::One => format!("`[{path}]`"),
            Shape::Named => format!("`[{path}.NAME]`"),
            Shape::List => format!("`[[{path}]]`"),
        };
        let about = property["description"].as_str();
        let below = match shape {
            Shape::Named => format!("{path}.*."),
            Shape::One | Shape::List => format!("{path}."),
        };
        table(page, schema, &below, &heading, definition, about);
    }
}

/// How often a table may stand in the file.
enum Shape {
    One,
    Named,
    List,
}

/// The definition behind a property that is a table or several.
fn inner_table<'a>(schema: &'a Value, property: &'a Value) -> Option<(&'a Value, Shape)> {
    let places = [
        (&property["$ref"], Shape::One),
        (&property["additionalProperties"]["$ref"], Shape::Named),
        (&property["items"]["$ref"], Shape::List),
    ];
    let (reference, shape) = places.into_iter().find(|(reference, _)| reference.is_string())?;
    let definition = resolve(schema, reference.as_str()?)?;
    definition.get("properties").is_some().then_some((definition, shape))
}

/// What a repository's file may say about a key; about a list of tables it is said once.
fn repository(path: &str, key: &str) -> String {
    let of_key = in_repository(&format!("{path}{key}"));
    of_key.or_else(|| in_repository(path.trim_end_matches('.'))).unwrap_or_default()
}

/// A text as a cell of a table takes it.
fn one_line(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// What may stand there, in words.
fn value(schema: &Value, property: &Value) -> String {
    let reference = property["$ref"].as_str().or_else(|| {
        let choices = property["anyOf"].as_array()?;
        choices.iter().find_map(|choice| choice["$ref"].as_str())
    });
    if let Some(definition) = reference.and_then(|reference| resolve(schema, reference)) {
        let choices = definition["oneOf"].as_array().or_else(|| definition["anyOf"].as_array());
        let words: Vec<String> = choices
            .into_iter()
            .flatten()
            .map(|choice| match choice["const"].as_str() {
                Some(word) => format!("`{word}`"),
                None => kind(choice).to_owned(),
            })
            .collect();
        return words.join(", ");
    }
    kind(property).to_owned()
}

/// The name of a simple type.
fn kind(property: &Value) -> &str {
    let name = match &property["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default()
        }
        _ => "",
    };
    match name {
        "array" => "list of texts",
        "integer" => "whole number",
        "boolean" => "`true` or `false`",
        "string" => "text",
        other => other,
    }
}

fn default(property: &Value) -> String {
    match property.get("default") {
        None | Some(Value::Null) => String::new(),
        Some(value) => format!("`{value}`"),
    }
}

fn resolve<'a>(schema: &'a Value, reference: &str) -> Option<&'a Value> {
    schema["$defs"].get(reference.strip_prefix("#/$defs/")?)
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn the_kept_page_is_fresh() {
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let kept = std::fs::read_to_string(kept).unwrap_or_default();
        assert!(kept == page(), "docs/configuration.md is stale: run `cargo xtask reference`");
    }
}
