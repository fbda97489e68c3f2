//! Patterns over dotted paths, such as `flask.request.args` or `*.innerHTML`.
//!
//! A pattern matches the end of a path. `*` as a whole part is any part; `*` within a part is any
//! text; a leading `^` ties it to the start; `()` marks the result of a call. A pattern of one part
//! that starts with a small letter is the name of a function, so it is always tied to the start.

use std::collections::HashMap;

/// A pattern over dotted paths.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    parts: Vec<Part>,
    anchored: bool,
}

#[derive(Clone, Debug)]
enum Part {
    Any,
    Exact(Box<str>),
    /// Text before and after a star.
    Around(Box<str>, Box<str>),
}

impl PathPattern {
    pub(super) fn new(text: &str) -> Self {
        let plain = |c: char| c.is_ascii_lowercase() || c == '_' || c == '$';
        let anchored =
            text.starts_with('^') || (!text.contains(['.', '*']) && text.starts_with(plain));
        let parts = text
            .trim_start_matches('^')
            .split('.')
            .map(|part| match part.split_once('*') {
                Some(("", "")) => Part::Any,
                Some((before, after)) => Part::Around(before.into(), after.into()),
                None => Part::Exact(part.into()),
            })
            .collect();
        Self { parts, anchored }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let mut rest = Some(path);
        for wanted in self.parts.iter().rev() {
            let Some(path) = rest else { return false };
            let dot = path.bytes().rposition(|byte| byte == b'.');
            let part = dot.map_or(path, |dot| &path[dot + 1..]);
            rest = dot.map(|dot| &path[..dot]);
            let fits = match wanted {
                Part::Any => true,
                Part::Exact(text) => **text == *part,
                Part::Around(before, after) => {
                    part.len() >= before.len() + after.len()
                        && part.starts_with(&**before)
                        && part.ends_with(&**after)
                }
            };
            if !fits {
                return false;
            }
        }
        !self.anchored || rest.is_none()
    }

    /// The last part, where it is a plain word.
    fn last(&self) -> Option<&str> {
        match self.parts.last() {
            Some(Part::Exact(text)) => Some(text),
            _ => None,
        }
    }
}

/// Values by pattern, found by the last part of a path.
#[derive(Clone, Debug)]
pub(super) struct PathTable<T> {
    by_last: HashMap<Box<str>, Vec<(PathPattern, T)>>,
    others: Vec<(PathPattern, T)>,
}

impl<T> Default for PathTable<T> {
    fn default() -> Self {
        Self { by_last: HashMap::new(), others: Vec::new() }
    }
}

impl<T> PathTable<T> {
    pub(super) fn insert(&mut self, pattern: &str, value: T) {
        let pattern = PathPattern::new(pattern);
        match pattern.last() {
            Some(last) => {
                self.by_last.entry(last.into()).or_default().push((pattern, value));
            }
            None => self.others.push((pattern, value)),
        }
    }

    /// All values whose pattern matches.
    pub(super) fn find<'t>(&'t self, path: &'t str) -> impl Iterator<Item = &'t T> + 't {
        let last = path.rsplit('.').next().unwrap_or(path);
        let known = self.by_last.get(last).map_or(&[][..], Vec::as_slice);
        known
            .iter()
            .chain(&self.others)
            .filter(move |(pattern, _)| pattern.matches(path))
            .map(|(_, value)| value)
    }

    pub(super) fn first<'t>(&'t self, path: &'t str) -> Option<&'t T> {
        self.find(path).next()
    }

    /// The last parts of all patterns: a file with none of them has nothing to find.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.by_last.keys().map(|word| &**word)
    }

    pub(super) fn has_wild(&self) -> bool {
        !self.others.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_the_end_of_a_path() {
        let matches = |pattern: &str, path: &str| PathPattern::new(pattern).matches(path);
        assert!(matches("request.args", "flask.request.args"));
        assert!(matches("*.innerHTML", "a.b.innerHTML"));
        assert!(!matches("*.innerHTML", "innerHTML"));
        assert!(matches("*Cursor.execute", "MyCursor.execute"));
        assert!(!matches("request.args", "myrequest.args"));
        assert!(matches("^open", "open"));
        assert!(!matches("^open", "gzip.open"));
        assert!(matches("connect().cursor().execute", "sqlite3.connect().cursor().execute"));
    }

    #[test]
    fn tables_find_by_the_last_part() {
        let mut table = PathTable::default();
        table.insert("os.system", 1);
        table.insert("*.get*", 2);
        assert_eq!(table.find("os.system").collect::<Vec<_>>(), [&1]);
        assert_eq!(table.first("a.getX"), Some(&2));
        assert_eq!(table.first("system"), None);
    }
}
