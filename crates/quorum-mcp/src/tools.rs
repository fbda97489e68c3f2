//! The tools, by what they are about. Each is thin: it reads arguments, asks, and says the answer.

pub(crate) mod branch;
pub(crate) mod code;
pub(crate) mod memory;
pub(crate) mod review;
pub(crate) mod runs;

use serde_json::Value;

/// Compact JSON: an answer is read by a model, which pays for every space.
pub(crate) fn text(value: &Value) -> String {
    value.to_string()
}

/// Removes secrets from every string in `value`.
pub(crate) fn scrub(value: &mut Value) {
    match value {
        Value::String(text) => *text = quorum_rules::secrets::redact(text),
        Value::Array(items) => items.iter_mut().for_each(scrub),
        Value::Object(fields) => fields.values_mut().for_each(scrub),
        _ => {}
    }
}
