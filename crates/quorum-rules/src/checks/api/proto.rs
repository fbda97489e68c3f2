//! Protocol buffers: what old clients and stored messages still need.

use std::collections::BTreeMap;

use super::item::{Break, Item, Kind, Shape};
use crate::source::ParsedFile;

/// One thing that a `.proto` file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    /// A field: its type and name.
    Field { ty: String, name: String, line: u64 },
    /// A method of a service: its whole signature.
    Method { signature: String, line: u64 },
    /// A message, enum or service.
    Holder { line: u64 },
}

/// The declarations of a file by holder and number, or by name.
#[derive(Debug, Default)]
struct Schema {
    entries: BTreeMap<(String, String), Entry>,
    reserved: BTreeMap<String, Vec<String>>,
}

pub(super) fn breaks(file: &ParsedFile) -> Vec<(Item, Break)> {
    let before = read(file.source.base.as_deref().unwrap_or_default());
    let after = read(file.text());
    let mut found = Vec::new();
    for ((holder, key), old) in &before.entries {
        let new = after.entries.get(&(holder.clone(), key.clone()));
        let holder_gone =
            key.as_str() != "" && !after.entries.contains_key(&(holder.clone(), String::new()));
        if holder_gone {
            continue;
        }
        if let Some((name, line, what, impact)) = broken(holder, key, old, new, &after) {
            let is_removed = new.is_none();
            let line = if is_removed { crate::checks::head_line(file, line) } else { line };
            let text = if is_removed {
                file.source.base.as_deref().unwrap_or_default()
            } else {
                file.text()
            };
            let at = if is_removed { line_of(old) } else { line };
            let quote = text
                .lines()
                .nth(usize::try_from(at.saturating_sub(1)).unwrap_or_default())
                .unwrap_or_default()
                .trim()
                .to_owned();
            let quote = if is_removed { crate::checks::quoted_as_removed(&quote) } else { quote };
            let item = Item {
                name,
                kind: Kind::Field,
                shape: Shape::default(),
                line,
                quote,
                deprecated: false,
                documented: true,
            };
            found.push((item, Break { what, impact: impact.to_owned() }));
        }
    }
    found
}

fn line_of(entry: &Entry) -> u64 {
    match entry {
        Entry::Field { line, .. } | Entry::Method { line, .. } | Entry::Holder { line } => *line,
    }
}

fn broken(
    holder: &str,
    key: &str,
    old: &Entry,
    new: Option<&Entry>,
    after: &Schema,
) -> Option<(String, u64, String, &'static str)> {
    match (old, new) {
        (Entry::Field { name, line, .. }, None) => {
            let reserved = after
                .reserved
                .get(holder)
                .is_some_and(|reserved| reserved.iter().any(|word| word == key || word == name));
            (!reserved).then(|| {
                (
                    format!("{holder}.{name}"),
                    *line,
                    format!("is removed and its number {key} is not reserved"),
                    "A later field with that number is read by old clients as this one.",
                )
            })
        }
        (
            Entry::Field { ty, name, .. },
            Some(Entry::Field { ty: new_ty, name: new_name, line }),
        ) => {
            if ty != new_ty {
                Some((
                    format!("{holder}.{new_name}"),
                    *line,
                    format!("has type `{new_ty}` in place of `{ty}` under the same number {key}"),
                    "Old clients and stored messages are read wrongly.",
                ))
            } else if name != new_name {
                Some((
                    format!("{holder}.{new_name}"),
                    *line,
                    format!("was named `{name}`"),
                    "Generated code and the JSON form have another name; the binary form stays the same.",
                ))
            } else {
                None
            }
        }
        (Entry::Method { line, .. }, None) => Some((
            format!("{holder}.{key}"),
            *line,
            "is removed".to_owned(),
            "Clients that call it get an error.",
        )),
        (Entry::Method { signature, .. }, Some(Entry::Method { signature: new, line }))
            if signature != new =>
        {
            Some((
                format!("{holder}.{key}"),
                *line,
                format!("is `{new}` now and was `{signature}`"),
                "Clients that were generated from the former version no longer understand the server.",
            ))
        }
        (Entry::Holder { line }, None) => Some((
            holder.to_owned(),
            *line,
            "is removed".to_owned(),
            "Clients that were generated with it no longer understand the server.",
        )),
        _ => None,
    }
}

/// Reads what matters of a `.proto` file, line by line after comments are blanked.
fn read(text: &str) -> Schema {
    let mut schema = Schema::default();
    let mut stack: Vec<String> = Vec::new();
    let mut statement = String::new();
    let mut start = 1;
    let mut in_comment = false;
    for (number, line) in (1u64..).zip(text.lines()) {
        let mut rest = line;
        while !rest.is_empty() {
            if in_comment {
                match rest.find("*/") {
                    Some(at) => {
                        rest = &rest[at + 2..];
                        in_comment = false;
                    }
                    None => break,
                }
                continue;
            }
            let end = rest.find(['{', '}', ';']).unwrap_or(rest.len());
            let comment = [rest.find("//"), rest.find("/*")]
                .into_iter()
                .flatten()
                .min()
                .unwrap_or(rest.len());
            if comment < end {
                statement.push_str(&rest[..comment]);
                if rest[comment..].starts_with("//") {
                    break;
                }
                in_comment = true;
                rest = &rest[comment + 2..];
                continue;
            }
            if statement.trim().is_empty() {
                start = number;
                statement.clear();
            }
            statement.push_str(&rest[..end]);
            statement.push(' ');
            match rest.as_bytes().get(end) {
                Some(b'{') => {
                    open(&mut schema, &mut stack, statement.trim(), start);
                    statement.clear();
                }
                Some(b'}') => {
                    stack.pop();
                    statement.clear();
                }
                Some(b';') => {
                    declare(&mut schema, &stack, statement.trim(), start);
                    statement.clear();
                }
                _ => {}
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
    schema
}

fn full_name(stack: &[String]) -> String {
    stack.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(".")
}

fn open(schema: &mut Schema, stack: &mut Vec<String>, statement: &str, line: u64) {
    let mut words = statement.split_whitespace();
    match (words.next(), words.next()) {
        (Some("message" | "enum" | "service"), Some(name)) => {
            stack.push(name.to_owned());
            schema.entries.insert((full_name(stack), String::new()), Entry::Holder { line });
        }
        (Some("rpc"), Some(_)) => {
            declare(schema, stack, statement, line);
            stack.push(String::new());
        }
        _ => stack.push(String::new()),
    }
}

fn declare(schema: &mut Schema, stack: &[String], statement: &str, line: u64) {
    let holder = full_name(stack);
    if holder.is_empty() || statement.starts_with("option ") || statement.starts_with("extensions ")
    {
        return;
    }
    if let Some(list) = statement.strip_prefix("reserved ") {
        let words = list.split(',').flat_map(|word| range(word.trim().trim_matches('"')));
        schema.reserved.entry(holder).or_default().extend(words);
        return;
    }
    if let Some(rest) = statement.strip_prefix("rpc ") {
        let name = rest.split(['(', ' ']).next().unwrap_or_default();
        let signature = rest[name.len()..].split_whitespace().collect::<Vec<_>>().join(" ");
        schema.entries.insert((holder, name.to_owned()), Entry::Method { signature, line });
        return;
    }
    let Some((left, right)) = statement.split_once('=') else { return };
    let number = right.trim().split(['[', ' ']).next().unwrap_or_default().trim();
    let mut words: Vec<&str> = left.split_whitespace().collect();
    let Some(name) = words.pop() else { return };
    words.retain(|word| *word != "optional");
    if number.parse::<i64>().is_ok() {
        schema.entries.insert(
            (holder, number.to_owned()),
            Entry::Field { ty: words.join(" "), name: name.to_owned(), line },
        );
    }
}

/// `4 to 6` are three numbers.
fn range(word: &str) -> Vec<String> {
    match word.split_once(" to ") {
        Some((from, to)) => match (from.trim().parse::<u32>(), to.trim().parse::<u32>()) {
            (Ok(from), Ok(to)) if to >= from && to - from < 10_000 => {
                (from..=to).map(|number| number.to_string()).collect()
            }
            _ => vec![word.to_owned()],
        },
        None => vec![word.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (read(before), read(after));
        let mut found = Vec::new();
        for ((holder, key), old) in &before.entries {
            if let Some((name, _, what, _)) =
                broken(holder, key, old, after.entries.get(&(holder.clone(), key.clone())), &after)
            {
                found.push(format!("{name} {what}"));
            }
        }
        found
    }

    const USER: &str = "message User {\n  string name = 1; // the name\n  int32 age = 2;\n}\nservice Users {\n  rpc Get(Id) returns (User) {}\n}\n";

    #[test]
    fn removed_fields_need_their_numbers_reserved() {
        let dropped = USER.replace("  int32 age = 2;\n", "");
        assert_eq!(
            compare(USER, &dropped),
            ["User.age is removed and its number 2 is not reserved"]
        );
        let reserved = USER.replace("int32 age = 2;", "reserved 2;");
        assert!(compare(USER, &reserved).is_empty());
    }

    #[test]
    fn types_methods_and_messages_are_compared() {
        let changed = USER.replace("int32 age", "string age").replace("(User)", "(stream User)");
        assert_eq!(
            compare(USER, &changed),
            [
                "User.age has type `string` in place of `int32` under the same number 2",
                "Users.Get is `(Id) returns (stream User)` now and was `(Id) returns (User)`",
            ]
        );
        assert!(compare(USER, USER).is_empty());
    }
}
