//! `OpenAPI` documents: what clients of an HTTP interface rely on.

use std::collections::BTreeSet;

use serde_json::Value;

use super::item::{Break, Item, Kind, Shape};
use crate::source::ParsedFile;

const VERBS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

pub(super) fn breaks(file: &ParsedFile) -> Vec<(Item, Break)> {
    let (Some(before), Some(after)) = (
        document(file.source.base.as_deref().unwrap_or_default(), file.path()),
        document(file.text(), file.path()),
    ) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    operations(&before, &after, &mut found);
    schemas(&before, &after, &mut found);
    found
        .into_iter()
        .map(|(name, what, impact)| {
            let (line, quote) = place(file, &name);
            let item = Item {
                name,
                kind: Kind::Value,
                shape: Shape::default(),
                line,
                quote,
                deprecated: false,
                documented: true,
            };
            (item, Break { what, impact })
        })
        .collect()
}

/// The document, if the text is one.
fn document(text: &str, path: &str) -> Option<Value> {
    let head: String = text.chars().take(2000).collect();
    if !head.contains("openapi") && !head.contains("swagger") {
        return None;
    }
    let value: Value = if path.ends_with(".json") {
        serde_json::from_str(text).ok()?
    } else {
        serde_saphyr::from_str(text).ok()?
    };
    (value.get("openapi").is_some() || value.get("swagger").is_some()).then_some(value)
}

/// The line that names the last word, in the head version or where it stood in the base version.
fn place(file: &ParsedFile, name: &str) -> (u64, String) {
    let word =
        name.split(' ').next_back().unwrap_or_default().rsplit('.').next().unwrap_or_default();
    let find = |text: &str| {
        (1u64..)
            .zip(text.lines())
            .find(|(_, line)| line.contains(word))
            .map(|(number, line)| (number, line.trim().to_owned()))
    };
    let base = || {
        find(file.source.base.as_deref().unwrap_or_default()).map(|(number, line)| {
            let place = crate::checks::place_of_removed(file, number, &line);
            (place, crate::checks::quoted_as_removed(&line))
        })
    };
    find(file.text()).or_else(base).unwrap_or((1, String::new()))
}

fn keys(value: Option<&Value>) -> BTreeSet<String> {
    value.and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
}

fn operations(before: &Value, after: &Value, found: &mut Vec<(String, String, String)>) {
    let paths = |document: &Value| keys(document.get("paths"));
    let kept = paths(after);
    for path in paths(before) {
        if !kept.contains(&path) {
            found.push((path, "is removed".to_owned(), "Clients that call it get 404.".to_owned()));
            continue;
        }
        let (old, new) = (&before["paths"][&path], &after["paths"][&path]);
        for verb in VERBS {
            let Some(operation) = old.get(verb) else { continue };
            let name = format!("{} {path}", verb.to_ascii_uppercase());
            let Some(now) = new.get(verb) else {
                found.push((
                    name,
                    "is removed".to_owned(),
                    "Clients that call it get 405.".to_owned(),
                ));
                continue;
            };
            for needed in required_parameters(now).difference(&required_parameters(operation)) {
                found.push((
                    name.clone(),
                    format!("needs the parameter `{needed}` now"),
                    "Requests without it are refused.".to_owned(),
                ));
            }
            for gone in keys(operation.get("responses")).difference(&keys(now.get("responses"))) {
                if gone.starts_with('2') {
                    found.push((
                        name.clone(),
                        format!("no longer answers with {gone}"),
                        "Clients that wait for that answer do not get it.".to_owned(),
                    ));
                }
            }
        }
    }
}

fn required_parameters(operation: &Value) -> BTreeSet<String> {
    let list = operation.get("parameters").and_then(Value::as_array);
    let required = list
        .into_iter()
        .flatten()
        .filter(|parameter| parameter.get("required").and_then(Value::as_bool) == Some(true));
    required.filter_map(|parameter| Some(parameter.get("name")?.as_str()?.to_owned())).collect()
}

fn schemas(before: &Value, after: &Value, found: &mut Vec<(String, String, String)>) {
    let of = |document: &Value| {
        document
            .pointer("/components/schemas")
            .or_else(|| document.get("definitions"))
            .cloned()
            .unwrap_or_default()
    };
    let (old, new) = (of(before), of(after));
    for name in keys(Some(&old)) {
        let Some(now) = new.get(&name) else { continue };
        let was = &old[&name];
        let properties = keys(now.get("properties"));
        for gone in keys(was.get("properties")).difference(&properties) {
            found.push((
                format!("{name}.{gone}"),
                "is removed".to_owned(),
                "Clients that read it find nothing.".to_owned(),
            ));
        }
        let required = |schema: &Value| -> BTreeSet<String> {
            schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect()
        };
        for needed in required(now).difference(&required(was)) {
            found.push((
                format!("{name}.{needed}"),
                "is required now".to_owned(),
                "Requests without it are refused.".to_owned(),
            ));
        }
        for property in keys(was.get("properties")).intersection(&properties) {
            let ty = |schema: &Value| {
                schema
                    .pointer(&format!("/properties/{property}/type"))
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            };
            if let (Some(a), Some(b)) = (ty(was), ty(now))
                && a != b
            {
                found.push((
                    format!("{name}.{property}"),
                    format!("is a {b} in place of a {a}"),
                    "Clients read or send the former type.".to_owned(),
                ));
            }
        }
    }
}
