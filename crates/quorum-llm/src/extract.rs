//! Finds the JSON in what a model wrote.
//!
//! What parses is taken as it is and never mended. What does not is mended only where it is whole:
//! an object that broke off is no answer, and closing its brackets would make it look like one.

use serde_json::Value;

/// Why a text holds no JSON object that could be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoJson {
    /// There is no object in it.
    #[error("there is no JSON object in the answer")]
    Absent,
    /// It broke off.
    #[error("the JSON object breaks off before its end")]
    Truncated,
    /// It cannot be read.
    #[error("the JSON does not parse: {0}")]
    Invalid(String),
}

/// Longer texts are no answers; looking through them would take too long.
const LONGEST: usize = 1024 * 1024;

/// How many beginnings of objects are looked at.
const MOST_STARTS: usize = 64;

/// The JSON object in `text`: all of it, else the last fenced block that is one, else the longest
/// object in it. What a model thought is left out first.
pub fn object(text: &str) -> Result<Value, NoJson> {
    let text = without_thoughts(text);
    let text = text.trim();
    if text.len() > LONGEST {
        return Err(NoJson::Invalid(format!("it is longer than {LONGEST} bytes")));
    }
    if let Some(value) = parsed(text) {
        return Ok(value);
    }
    let fenced = fenced_blocks(text);
    if let Some(value) = fenced.iter().rev().find_map(|block| parsed(block)) {
        return Ok(value);
    }
    let found = objects(text);
    let mut whole: Vec<&str> = found.whole.clone();
    whole.sort_by_key(|object| std::cmp::Reverse(object.len()));
    if let Some(value) = whole.iter().find_map(|object| parsed(object)) {
        return Ok(value);
    }
    if let Some(object) = whole.first() {
        return mended(object);
    }
    Err(if found.unclosed { NoJson::Truncated } else { NoJson::Absent })
}

/// The whole objects of the first array in `text`, which may break off anywhere.
pub fn whole_items(text: &str) -> Vec<Value> {
    let text = without_thoughts(text);
    let Some(start) = text.find('[') else { return Vec::new() };
    if text.len() > LONGEST {
        return Vec::new();
    }
    objects(&text[start..]).whole.into_iter().filter_map(parsed).collect()
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text.trim()).ok().filter(Value::is_object)
}

fn mended(object: &str) -> Result<Value, NoJson> {
    let strict = match serde_json::from_str::<Value>(object) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let mended = jsonrepair_rs::jsonrepair(object).ok();
    mended.and_then(|text| parsed(&text)).ok_or(NoJson::Invalid(strict))
}

fn without_thoughts(text: &str) -> String {
    let mut kept = text.to_owned();
    for tag in ["think", "thinking", "reasoning"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(end) = kept.find(&close) {
            // Some models begin to think before they say so.
            let start = kept[..end].find(&open).unwrap_or(0);
            kept.replace_range(start..end + close.len(), "");
        }
        if let Some(start) = kept.find(&open) {
            kept.truncate(start);
        }
    }
    kept
}

fn fenced_blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("```") {
        let inside = &rest[start + 3..];
        let Some(line) = inside.find('\n') else { break };
        // The first line names the language.
        let body = &inside[line + 1..];
        let Some(end) = body.find("```") else { break };
        blocks.push(&body[..end]);
        rest = &body[end + 3..];
    }
    blocks
}

#[derive(Default)]
struct Objects<'a> {
    /// Objects that end, outermost first in the text.
    whole: Vec<&'a str>,
    /// Whether one begins and does not end.
    unclosed: bool,
}

/// The objects in a text, each from its brace to the one that closes it; braces in strings do not
/// count.
fn objects(text: &str) -> Objects<'_> {
    let mut found = Objects::default();
    let mut at = 0;
    for _ in 0..MOST_STARTS {
        let Some(start) = text[at..].find('{').map(|offset| at + offset) else { break };
        if let Some(length) = balanced(&text[start..]) {
            found.whole.push(&text[start..start + length]);
            at = start + length;
        } else if text[start + 1..].trim_start().starts_with(['"', '\'']) {
            // What is inside an object that broke off is a part of it, not an answer.
            found.unclosed = true;
            break;
        } else {
            at = start + 1;
        }
    }
    found
}

/// The bytes up to the brace that closes the one at the beginning.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn answers_as_models_write_them() {
        let cases = [
            (r#"{"a":1}"#, json!({ "a": 1 })),
            ("Sure!\n```json\n{\"a\":1}\n```\nDone.", json!({ "a": 1 })),
            ("```\n{\"old\":1}\n```\nbetter:\n```json\n{\"a\":1}\n```", json!({ "a": 1 })),
            ("<think>maybe {\"b\":2}</think>{\"a\":1}", json!({ "a": 1 })),
            ("hm, {\"b\":2}</think> so: {\"a\":1}", json!({ "a": 1 })),
            (r#"The {brace} is fine: {"a":1}"#, json!({ "a": 1 })),
            (r#"x {"a":"}{\"","b":[1]} y {"c":1}"#, json!({ "a": "}{\"", "b": [1] })),
            (r"{'a': 1, 'b': True,}", json!({ "a": 1, "b": true })),
        ];
        for (text, value) in cases {
            assert_eq!(object(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_broke_off_is_never_closed() {
        let cut = r#"{"findings":[{"issue":"one"},{"issue":"tw"#;
        assert_eq!(object(cut), Err(NoJson::Truncated));
        assert_eq!(whole_items(cut), [json!({ "issue": "one" })]);
    }

    #[test]
    fn prose_is_no_answer() {
        assert_eq!(object("Looks good to me!"), Err(NoJson::Absent));
        assert_eq!(object("<think>{\"a\":1}"), Err(NoJson::Absent));
        assert_eq!(object("[1, 2]"), Err(NoJson::Absent));
        assert_eq!(object("\"text\""), Err(NoJson::Absent));
    }

    #[test]
    fn valid_json_is_never_changed() {
        let text = r#"{"evidence":"```\n{ 'x': 1, }\n```","regex":"\\d+"}"#;
        assert_eq!(object(text), Ok(serde_json::from_str(text).unwrap()));
    }

    #[test]
    fn hostile_texts_are_survived_quickly() {
        for text in ["{".repeat(200_000), "[".repeat(200_000), "{\"a\":".repeat(100_000)] {
            assert!(object(&text).is_err());
            assert!(whole_items(&text).is_empty());
        }
        assert!(object(&"x".repeat(2 * LONGEST)).is_err());
    }

    proptest! {
        #[test]
        fn any_object_in_any_prose_is_found(
            before in "[a-z .]{0,20}", after in "[a-z .]{0,20}", value in "[^\\p{C}]{0,20}",
        ) {
            let value = json!({ "key": value });
            prop_assert_eq!(object(&format!("{before}{value}{after}")), Ok(value));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\{\\}\\[\\]\"\\\\`<>/think:,a\n]{0,80}") {
            drop(object(&text));
            whole_items(&text);
        }
    }
}
