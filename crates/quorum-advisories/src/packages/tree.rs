//! Structured text with the line of every value.

/// A value with its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// The line on which it, or its key, stands.
    pub(super) line: u64,
    pub(super) value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A text.
    Text(String),
    /// Anything else without parts: a number, a truth value, nothing.
    Scalar(String),
    /// Values in sequence.
    List(Vec<Node>),
    /// Values by name, in the order of the file.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The value at the end of a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text, where it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a key.
    pub(super) fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Whether the key is set to true.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|node| node.value == Value::Scalar("true".to_owned()))
    }

    /// The values by name; none where it is no map.
    pub(super) fn entries(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The values of a list; none where it is no list.
    pub(super) fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The entries of a key's map.
    pub(super) fn entries_at(&self, key: &str) -> &[(String, Self)] {
        self.get(key).map(Self::entries).unwrap_or_default()
    }

    /// The items of a key's list.
    pub(super) fn items_at(&self, key: &str) -> &[Self] {
        self.get(key).map(Self::items).unwrap_or_default()
    }
}

/// Turns places in a text into lines.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> u64 {
        self.0.partition_point(|&newline| newline < at) as u64 + 1
    }
}
