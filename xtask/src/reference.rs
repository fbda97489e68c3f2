//! `docs/configuration.md`, from the schema of `quorum.toml`.

use std::fmt::Write as _;

use serde_json::{Map, Value};

const HEAD: &str = "\
# Configuration

<!-- Written by `cargo xtask reference` from the schema; change the types instead. -->

Keys of `quorum.toml`. The repository's file, the user's (`~/.config/quorum/quorum.toml`), variables (`limits.max_usd` is
`QUORUM_LIMITS_MAX_USD`) and flags: each wins over the one before it. An unknown key is an error that names the nearest one.

`quorum config init` writes a file to start from, `quorum config show --origin` says where each value comes from,
`quorum config validate` checks the file, and `quorum config schema` prints the schema for editors.
";

/// The page for the schema of the configuration.
pub(crate) fn configuration(schema: &Value) -> String {
    let mut page = HEAD.to_owned();
    let properties = object(&schema["properties"]);
    let (tables, keys): (Vec<_>, Vec<_>) =
        properties.iter().partition(|(_, property)| table_of(schema, property).is_some());
    section(&mut page, schema, "Top level", None, keys);
    for (name, property) in tables {
        let Some((definition, named)) = table_of(schema, property) else { continue };
        let heading = if named { format!("`[{name}.NAME]`") } else { format!("`[{name}]`") };
        let about = property["description"].as_str();
        section(
            &mut page,
            schema,
            &heading,
            about,
            object(&definition["properties"]).iter().collect(),
        );
    }
    page
}

fn section(
    page: &mut String,
    schema: &Value,
    heading: &str,
    about: Option<&str>,
    keys: Vec<(&String, &Value)>,
) {
    // Writing to a string cannot fail.
    let _ = write!(page, "\n## {heading}\n\n");
    if let Some(about) = about {
        let _ = write!(page, "{about}\n\n");
    }
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for (key, property) in keys {
        let _ = writeln!(
            page,
            "| `{key}` | {} | {} | {} |",
            value(schema, property),
            default(property),
            property["description"].as_str().unwrap_or_default().replace('|', "\\|")
        );
    }
}

/// The definition behind a property that is a table, and whether its entries have names of their own.
fn table_of<'a>(schema: &'a Value, property: &'a Value) -> Option<(&'a Value, bool)> {
    let (reference, named) = match property["additionalProperties"]["$ref"].as_str() {
        Some(reference) => (reference, true),
        None => (property["$ref"].as_str()?, false),
    };
    let definition = resolve(schema, reference)?;
    definition.get("properties").is_some().then_some((definition, named))
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
            .filter_map(|choice| Some(format!("`{}`", choice["const"].as_str()?)))
            .collect();
        return words.join(", ");
    }
    let kind = match &property["type"] {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        _ => "",
    };
    match kind {
        "array" => "list of texts",
        "integer" => "whole number",
        "boolean" => "`true` or `false`",
        "string" => "text",
        other => other,
    }
    .to_owned()
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
    #[test]
    fn the_kept_page_is_fresh() {
        let kept =
            std::fs::read_to_string(crate::root().join(crate::REFERENCE)).unwrap_or_default();
        let fresh = super::configuration(crate::configuration_schema().as_value());
        assert!(kept == fresh, "{} is stale: run `cargo xtask reference`", crate::REFERENCE);
    }
}
