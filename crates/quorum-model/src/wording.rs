//! What a reader of JSON, TOML or YAML complains about, in words for the people who wrote the text.
//!
//! The libraries that read documents speak of variants, fields and types of this program. Nobody who
//! writes a file has seen those: they are told which key is wrong, what stands there, and what can.

use std::sync::OnceLock;

use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// What `message`, of a library that reads documents, says.
pub fn plain(message: &str) -> String {
    let said = message.lines().map(str::trim).find_map(translate);
    let said = said.unwrap_or_else(|| fallback(message));
    match line(message) {
        Some(line) => format!("line {line}: {said}"),
        None => said,
    }
}

/// The same, with the keys that there are.
pub fn with_keys(message: &str, keys: &str) -> String {
    format!("{}; the keys are {keys}", plain(message))
}

/// The same, with the keys of `T`.
pub fn with_keys_of<T: JsonSchema>(message: &str) -> String {
    let keys = keys(&schemars::schema_for!(T));
    if keys.is_empty() { plain(message) } else { with_keys(message, &keys) }
}

/// What stands between backquotes first.
fn quoted(text: &str) -> Option<&str> {
    text.split('`').nth(1)
}

fn all_quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn translate(line: &str) -> Option<String> {
    let after = |words: &str| line.find(words).map(|at| line[at + words.len()..].trim_start());
    if let Some(rest) = after("missing field ") {
        return Some(format!("`{}` is missing", quoted(rest)?));
    }
    if let Some(rest) = after("duplicate field ").or_else(|| after("duplicate mapping key")) {
        return Some(match quoted(rest) {
            Some(key) => format!("`{key}` stands there twice"),
            None => "a key stands there twice".to_owned(),
        });
    }
    if let Some(rest) = after("unknown field ") {
        let names = all_quoted(rest);
        let (key, known) = names.split_first()?;
        return Some(if known.is_empty() {
            format!("there is no key `{key}`")
        } else {
            format!("there is no key `{key}`, only {}", known.join(", "))
        });
    }
    if let Some(rest) = after("unknown variant ") {
        let names = all_quoted(rest);
        let (value, known) = names.split_first()?;
        return Some(format!("`{value}` is not one of {}", known.join(", ")));
    }
    for words in ["invalid type: ", "invalid value: ", "invalid length "] {
        if let Some(rest) = after(words) {
            let rest = rest.split(" at line ").next().unwrap_or(rest);
            let (found, wanted) = rest.split_once(", expected ")?;
            let (found, wanted) = (kind(found), wish(wanted));
            return Some(format!("{wanted} is wanted, and there is {found}"));
        }
    }
    if line.contains("untagged enum") {
        return Some("it has none of the forms that it can have".to_owned());
    }
    if line.contains("EOF while parsing") {
        return Some("it ends before it is complete".to_owned());
    }
    let broken = ["expected value", "expected `", "key must be", "trailing ", "control character"];
    let json = line.contains(" at line ") && line.contains(" column ");
    (json && broken.iter().any(|words| line.contains(words)))
        .then(|| "it is not well-formed there".to_owned())
}

/// Words of libraries and of this program's types.
const THEIRS: [&str; 12] = [
    "untagged",
    "variant",
    "missing field",
    "unknown field",
    "invalid type",
    "invalid value",
    "expected",
    "serde",
    "struct ",
    "enum ",
    "saphyr",
    "deserial",
];

fn fallback(message: &str) -> String {
    let lines = message.lines().map(without_place).filter(|line| !line.is_empty());
    // An excerpt is no sentence, and neither is the headline above it.
    let mut own = lines.filter(|line| {
        let headline = line.starts_with("TOML parse error") || line.starts_with("error:");
        let excerpt = line.starts_with('|') || line.contains(" | ") || line.starts_with("-->");
        !headline && !excerpt && line.contains(' ')
    });
    let found = own.find(|line| !THEIRS.iter().any(|word| line.contains(word)));
    let found = found.map(|line| line.split(" at line ").next().unwrap_or(line).to_owned());
    found.unwrap_or_else(|| "it cannot be read".to_owned())
}

/// A line without `error: line 3 column 1: ` before what it says.
fn without_place(line: &str) -> &str {
    let line = line.trim();
    let rest = line.strip_prefix("error: ").unwrap_or(line);
    match rest.split_once(": ") {
        Some((place, said)) if place.starts_with("line ") => said,
        _ => line,
    }
}

fn line(message: &str) -> Option<u64> {
    let at = message.find("line ")?;
    let digits = message[at + 5..].split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|line| *line > 0)
}

/// What is there.
fn kind(found: &str) -> String {
    let kinds = [
        ("string", "a text"),
        ("character", "a text"),
        ("integer", "a whole number"),
        ("floating point", "a number"),
        ("number", "a number"),
        ("boolean", "`true` or `false`"),
        ("null", "nothing"),
        ("unit", "nothing"),
        ("Option", "nothing"),
        ("sequence", "a list"),
        ("map", "a table"),
        ("table", "a table"),
        ("datetime", "a date"),
    ];
    if found.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("a list of {found}");
    }
    let known = kinds.iter().find(|(word, _)| found.starts_with(word));
    let name = known.map_or("something else", |(_, name)| *name);
    match quoted(found).or_else(|| found.split('"').nth(1)) {
        Some(value) if value.len() <= 40 && !value.is_empty() => format!("{name}, `{value}`"),
        _ => name.to_owned(),
    }
}

/// What could be there.
fn wish(wanted: &str) -> String {
    let wanted = wanted.trim();
    let whole = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];
    if whole.contains(&wanted) {
        let natural = wanted.starts_with('u');
        return if natural { "a whole number from 0 on" } else { "a whole number" }.to_owned();
    }
    let names = [
        ("f32", "a number"),
        ("f64", "a number"),
        ("a string or table", "a text or a table"),
        ("string or map", "a text or a table"),
        ("a string", "a text"),
        ("a borrowed string", "a text"),
        ("a boolean", "`true` or `false`"),
        ("a sequence", "a list"),
        ("an array", "a list"),
        ("a map", "a table"),
        ("struct ", "a table with keys"),
        ("a char", "a single character"),
        ("a nonzero ", "a whole number from 1 on"),
        ("unit", "nothing"),
        ("enum ", "one of the allowed words"),
        ("internally tagged", "a table with keys"),
        ("adjacently tagged", "a table with keys"),
        ("tuple", "a list"),
    ];
    if let Some((_, name)) = names.iter().find(|(word, _)| wanted.starts_with(word)) {
        return (*name).to_owned();
    }
    // What this program says of its own kinds of values is written for people.
    if THEIRS.iter().any(|word| wanted.contains(word)) {
        return "something else".to_owned();
    }
    wanted.to_owned()
}

/// The keys of a table, each with what it takes: `limit (whole number, default 10)`.
fn keys(schema: &Schema) -> String {
    let root = schema.as_value();
    let Some(Value::Object(properties)) = root.get("properties") else { return String::new() };
    let needed = |name: &str| {
        let all = root.get("required").and_then(Value::as_array);
        all.is_some_and(|all| all.iter().any(|other| other == name))
    };
    let parts = properties.iter().map(|(name, property)| {
        let mut about = vec![takes(property, root)];
        if needed(name) {
            about.push("needed".to_owned());
        } else if let Some(default) = property.get("default").filter(|value| !value.is_null()) {
            about.push(format!("default {default}"));
        }
        format!("{name} ({})", about.join(", "))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// What a key takes.
fn takes(property: &Value, root: &Value) -> String {
    if let Some(reference) = property.get("$ref").and_then(Value::as_str)
        && let Some(target) = root.pointer(reference.trim_start_matches('#'))
    {
        return takes(target, root);
    }
    let words = |all: &Vec<Value>| {
        let texts: Vec<String> = all.iter().filter_map(Value::as_str).map(quote).collect();
        texts.join(" or ")
    };
    if let Some(all) = property.get("enum").and_then(Value::as_array) {
        return words(all);
    }
    if let Some(one) = property.get("const").and_then(Value::as_str) {
        return quote(one);
    }
    for any in ["oneOf", "anyOf"] {
        if let Some(all) = property.get(any).and_then(Value::as_array) {
            let mut forms: Vec<String> = all.iter().map(|form| takes(form, root)).collect();
            forms.retain(|form| form != "nothing");
            forms.dedup();
            return forms.join(" or ");
        }
    }
    let named = |kind: &str| match kind {
        "string" => "text",
        "integer" => "whole number",
        "number" => "number",
        "boolean" => "true or false",
        "array" => "list",
        "object" => "table",
        _ => "nothing",
    };
    match property.get("type") {
        Some(Value::String(kind)) => named(kind).to_owned(),
        Some(Value::Array(kinds)) => {
            let names = kinds.iter().filter_map(Value::as_str).map(named);
            names.filter(|name| *name != "nothing").collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn quote(text: &str) -> String {
    format!("`{text}`")
}

/// Whether `text` has words in it that only those know who read this program's code. For tests of
/// messages.
pub fn has_words_of_libraries(text: &str) -> bool {
    static WORDS: OnceLock<[&str; 9]> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        [
            "untagged",
            "variant",
            "missing field",
            "unknown field",
            "expected a",
            "invalid type",
            "serde",
            "struct ",
            "saphyr",
        ]
    });
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[test]
    fn messages_of_libraries_are_said_plainly() {
        for (message, wanted) in [
            ("missing field `veto`", "`veto` is missing"),
            ("error: line 3 column 1: missing field `veto`", "line 3: `veto` is missing"),
            (
                "unknown field `vetoes`, expected one of `name`, `veto` at line 2 column 9",
                "line 2: there is no key `vetoes`, only name, veto",
            ),
            ("unknown field `x`, there are no fields", "there is no key `x`"),
            ("unknown variant `huge`, expected `low` or `high`", "`huge` is not one of low, high"),
            (
                "invalid type: string \"much\", expected u64",
                "a whole number from 0 on is wanted, and there is a text, `much`",
            ),
            (
                "invalid type: sequence, expected a string at line 1 column 12",
                "line 1: a text is wanted, and there is a list",
            ),
            (
                "invalid value: integer `-1`, expected u32",
                "a whole number from 0 on is wanted, and there is a whole number, `-1`",
            ),
            (
                "TOML parse error at line 2, column 5\n  |\n2 | a = 7\n  |     ^\ninvalid type: integer \
                 `7`, expected a boolean\n",
                "line 2: `true` or `false` is wanted, and there is a whole number, `7`",
            ),
            (
                "data did not match any variant of untagged enum OneOrMany",
                "it has none of the forms that it can have",
            ),
            (
                "EOF while parsing an object at line 1 column 1",
                "line 1: it ends before it is complete",
            ),
            ("expected value at line 1 column 1", "line 1: it is not well-formed there"),
            (
                "error: line 2 column 5: a text, or a table with text and check",
                "line 2: a text, or a table with text and check",
            ),
            ("something of serde", "it cannot be read"),
        ] {
            assert_eq!(plain(message), wanted, "{message}");
        }
    }

    #[test]
    fn keys_are_named_with_what_they_take() {
        #[derive(Debug, Deserialize, JsonSchema)]
        struct Example {
            #[expect(dead_code, reason = "for its schema")]
            name: String,
            #[serde(default)]
            #[expect(dead_code, reason = "for its schema")]
            limit: u64,
            #[expect(dead_code, reason = "for its schema")]
            note: Option<String>,
        }
        let said = with_keys_of::<Example>("missing field `name`");
        assert_eq!(
            said,
            "`name` is missing; the keys are limit (whole number, default 0), name (text, needed), note \
             (text)"
        );
    }

    proptest! {
        #[test]
        fn no_word_of_a_library_is_left(
            start in "[a-z ]{0,12}",
            words in prop::sample::select(vec!["untagged enum X", "variant", "missing field `a`",
                "invalid type: map, expected struct Foo", "unknown field `b`, expected one of `c`",
                "invalid type: null, expected any valid variant", "serde"]),
            end in "[a-z ]{0,12}",
        ) {
            let said = plain(&format!("{start}{words}{end}"));
            prop_assert!(!has_words_of_libraries(&said), "{said}");
        }
    }
}
