//! As much of XML as project files use, with lines.

use super::ReadError;
use super::tree::Lines;

/// An element with what is in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Element {
    /// Without its prefix.
    pub(super) name: String,
    pub(super) line: u64,
    pub(super) attributes: Vec<(String, String)>,
    /// The text directly in it, trimmed.
    pub(super) text: String,
    pub(super) children: Vec<Self>,
}

impl Element {
    /// The first child of this name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first child of this name.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    /// The value of an attribute, whatever its case.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// All elements below it of this name.
    pub(super) fn all<'a>(&'a self, name: &str, found: &mut Vec<&'a Self>) {
        for child in &self.children {
            if child.name == name {
                found.push(child);
            }
            child.all(name, found);
        }
    }
}

/// How deep elements may be nested.
const DEEPEST: usize = 200;

pub(super) fn parse(text: &str) -> Result<Element, ReadError> {
    let lines = Lines::of(text);
    let mut open = vec![Element::default()];
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let error = |cause: &str| ReadError {
            format: "XML",
            cause: format!("line {}: {cause}", lines.line(start)),
        };
        let before = text[at..start].trim();
        if let Some(parent) = open.last_mut()
            && !before.is_empty()
        {
            parent.text.push_str(&unescape(before));
        }
        let rest = &text[start..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
        if let Some((opens, ends)) = skipped.iter().find(|(opens, _)| rest.starts_with(opens)) {
            let length = rest.find(ends).ok_or_else(|| error("a part does not end"))? + ends.len();
            if *opens == "<![CDATA["
                && let Some(parent) = open.last_mut()
            {
                parent.text.push_str(&rest[opens.len()..length - ends.len()]);
            }
            at = start + length;
            continue;
        }
        let end = tag_end(rest).ok_or_else(|| error("a tag does not end"))?;
        let tag = &rest[1..end];
        at = start + end + 1;
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().ok_or_else(|| error("an element ends that never began"))?;
            let parent =
                open.last_mut().ok_or_else(|| error("an element ends that never began"))?;
            if closed.name != local(name.trim()) {
                return Err(error("an element ends inside another"));
            }
            parent.children.push(closed);
            continue;
        }
        let (tag, alone) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let element = element(tag, lines.line(start));
        if element.name.is_empty() || open.len() > DEEPEST {
            return Err(error("not an element"));
        }
        match open.last_mut() {
            Some(parent) if alone => parent.children.push(element),
            _ => open.push(element),
        }
    }
    match open.as_mut_slice() {
        [root] => {
            let mut children = std::mem::take(&mut root.children);
            match children.len() {
                1 => Ok(children.remove(0)),
                _ => Err(ReadError { format: "XML", cause: "there is no root element".to_owned() }),
            }
        }
        _ => Err(ReadError { format: "XML", cause: "an element does not end".to_owned() }),
    }
}

/// The `>` that ends a tag, not one within quotes.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            (None, b'>') => return Some(at),
            _ => {}
        }
    }
    None
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn element(tag: &str, line: u64) -> Element {
    let name_end = tag.find(char::is_whitespace).unwrap_or(tag.len());
    let (name, mut rest) = tag.split_at(name_end);
    let mut attributes = Vec::new();
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|quote| "\"'".contains(*quote)) else {
            break;
        };
        let Some((value, left)) = after[1..].split_once(quote) else { break };
        attributes.push((local(key.trim()).to_owned(), unescape(value)));
        rest = left;
    }
    Element { name: local(name).to_owned(), line, attributes, ..Element::default() }
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_know_their_lines() {
        let text = "<?xml version=\"1.0\"?>\n<!-- c > -->\n<p:a>\n <b x='1 > 0' y=\"2\"/>\n <c>t &amp; u</c>\n</p:a>\n";
        let root = parse(text).expect("it parses");
        assert_eq!((root.name.as_str(), root.line), ("a", 3));
        assert_eq!(root.child("b").and_then(|b| b.attribute("X")), Some("1 > 0"));
        assert_eq!(root.text_of("c"), Some("t & u"));
        assert_eq!(root.child("c").map(|c| c.line), Some(5));
    }

    #[test]
    fn what_is_no_xml_is_an_error() {
        for text in ["", "this is not xml", "<a>", "<a></b>", "</a>", "<a", "<a/><b/>", "<>"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
