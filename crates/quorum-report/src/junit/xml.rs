//! As much XML as a file of test results takes.

use crate::text;

/// An element with its attributes, and either text or children.
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: String,
    children: Vec<Self>,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), text: String::new(), children: Vec::new() }
    }

    pub(super) fn attribute(mut self, name: &'static str, value: &str) -> Self {
        self.attributes.push((name, value.to_owned()));
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    pub(super) fn children(mut self, children: Vec<Self>) -> Self {
        self.children.extend(children);
        self
    }

    pub(super) fn has_child(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.name == name)
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(attribute, _)| *attribute == name);
        found.map(|(_, value)| value.as_str())
    }

    fn write(&self, depth: usize, out: &mut String) {
        let indent = "  ".repeat(depth);
        out.push_str(&indent);
        out.push('<');
        out.push_str(self.name);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
        if self.text.is_empty() && self.children.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push('>');
        escape(&self.text, out);
        if !self.children.is_empty() {
            out.push('\n');
            for child in &self.children {
                child.write(depth + 1, out);
            }
            out.push_str(&indent);
        }
        out.push_str("</");
        out.push_str(self.name);
        out.push_str(">\n");
    }
}

/// The document with `root`.
pub(super) fn document(root: &Element) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    root.write(0, &mut text);
    text
}

/// Good for text and for attributes in double quotes. [`text::visible`] leaves no character that
/// XML forbids.
fn escape(value: &str, out: &mut String) {
    for c in text::visible(value).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}
