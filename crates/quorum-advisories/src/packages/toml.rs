//! TOML with lines.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ReadError;
use super::tree::{Lines, Node, Value};

pub(super) fn parse(text: &str) -> Result<Node, ReadError> {
    let table = DeTable::parse(text)
        .map_err(|error| ReadError { format: "TOML", cause: error.message().to_owned() })?;
    let lines = Lines::of(text);
    Ok(Node { line: 1, value: Value::Map(entries(table.get_ref(), &lines)) })
}

fn entries(table: &DeTable<'_>, lines: &Lines) -> Vec<(String, Node)> {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let value = convert(value.get_ref(), lines);
        let line = lines.line(key.span().start);
        (key.get_ref().to_string(), Node { line, value })
    };
    let mut entries: Vec<(String, Node)> = table.iter().map(entry).collect();
    // The parser sorts by name.
    entries.sort_by_key(|(_, node)| node.line);
    entries
}

fn convert(value: &DeValue<'_>, lines: &Lines) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(value) => Value::Scalar(value.to_string()),
        DeValue::Integer(value) => Value::Scalar(value.as_str().to_owned()),
        DeValue::Float(value) => Value::Scalar(value.as_str().to_owned()),
        DeValue::Datetime(value) => Value::Scalar(value.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    line: lines.line(item.span().start),
                    value: convert(item.get_ref(), lines),
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Map(entries(table, lines)),
    }
}
