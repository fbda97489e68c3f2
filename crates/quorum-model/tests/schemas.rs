//! The schemas in `schemas/` are the ones that the types give.

use std::path::Path;

use quorum_model::schema::{documents, render};

#[test]
fn the_kept_schemas_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for (name, schema) in documents() {
        let kept = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(kept == render(&schema), "schemas/{name} is stale: run `cargo xtask schemas`");
    }
}

#[test]
fn every_schema_is_valid_and_describes_every_property() {
    for (name, schema) in documents() {
        jsonschema::meta::validate(schema.as_value()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let undescribed = undescribed(schema.as_value());
        assert!(undescribed.is_empty(), "{name}: no description for {undescribed:?}");
    }
}

fn undescribed(schema: &serde_json::Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) {
        for (key, property) in properties {
            if property.get("description").is_none() {
                found.push(key.clone());
            }
            found.extend(undescribed(property));
        }
    }
    if let Some(definitions) = schema.get("$defs").and_then(|d| d.as_object()) {
        found.extend(definitions.values().flat_map(undescribed));
    }
    found
}
