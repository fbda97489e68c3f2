//! The keys of a YAML file with their lines, read by indentation.
//!
//! Enough for files that people write for tools, and it keeps what a parser drops: the line of every
//! key, and scripts as they stand.

/// One key with its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// From 1.
    pub(super) line: u64,
    /// The keys above it, from the outermost.
    pub(super) path: Vec<String>,
    /// Its own; empty for an item of a list without one.
    pub(super) key: String,
    /// What stands behind it on the line, without quotes.
    pub(super) value: String,
    /// The lines of a text that follows, each with its number.
    pub(super) block: Vec<(u64, String)>,
}

impl Entry {
    /// Whether the innermost key above it is `key`.
    pub(super) fn is_in(&self, key: &str) -> bool {
        self.path.iter().any(|above| above == key)
    }

    /// Its own text, or that of the block that follows.
    pub(super) fn lines(&self) -> Vec<(u64, &str)> {
        let own = std::iter::once((self.line, self.value.as_str()));
        own.chain(self.block.iter().map(|(line, text)| (*line, text.as_str()))).collect()
    }
}

/// All keys of a file, in order.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut block: Option<usize> = None;
    for (number, raw) in (1..).zip(text.lines()) {
        let indent = raw.len() - raw.trim_start().len();
        let trimmed = raw.trim();
        if let Some(least) = block {
            if trimmed.is_empty() || indent > least {
                if let Some(entry) = entries.last_mut() {
                    entry.block.push((number, trimmed.to_owned()));
                }
                continue;
            }
            block = None;
        }
        if trimmed.is_empty() || trimmed.starts_with('#') || trimmed == "---" {
            if trimmed == "---" {
                open.clear();
            }
            continue;
        }
        let (mut indent, mut rest) = (indent, trimmed);
        while let Some(item) = rest.strip_prefix("- ").or_else(|| (rest == "-").then_some("")) {
            open.retain(|(above, _)| *above < indent);
            indent += rest.len() - item.trim_start().len();
            rest = item.trim_start();
        }
        open.retain(|(above, _)| *above < indent);
        let (key, value) = split(rest);
        let path = open.iter().map(|(_, key)| key.clone()).collect();
        if value.starts_with(['|', '>']) && value.len() <= 3 {
            block = Some(indent);
        }
        let value = value.trim_matches(['"', '\'']).to_owned();
        entries.push(Entry { line: number, path, key: key.clone(), value, block: Vec::new() });
        if !key.is_empty() {
            open.push((indent, key));
        }
    }
    entries
}

/// `key: value # comment`; an item of a list has no key.
fn split(text: &str) -> (String, &str) {
    let found = text.find(": ").or_else(|| text.ends_with(':').then(|| text.len() - 1));
    let (key, value) = match found {
        Some(at) if !text[..at].contains('"') || text.starts_with('"') => {
            (&text[..at], &text[at + 1..])
        }
        _ => ("", text),
    };
    let value = value.trim();
    let value = match value.find(" #") {
        Some(at) if !value.starts_with(['"', '\'']) => value[..at].trim_end(),
        _ => value,
    };
    (key.trim().trim_matches(['"', '\'']).to_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_know_what_is_above_them() {
        let text = "on: push\njobs:\n  a:\n    steps:\n      - uses: x/y@v1 # c\n      - name: n\n        run: |\n          echo 1\n          echo 2\n    b: [1]\n";
        let all = entries(text);
        let run = all.iter().find(|entry| entry.key == "run").expect("run");
        assert_eq!(run.path, ["jobs", "a", "steps"]);
        assert_eq!(run.block, [(8, "echo 1".to_owned()), (9, "echo 2".to_owned())]);
        let uses = all.iter().find(|entry| entry.key == "uses").expect("uses");
        assert_eq!((uses.value.as_str(), uses.line), ("x/y@v1", 5));
        assert_eq!(
            all.last().map(|entry| entry.path.clone()),
            Some(vec!["jobs".to_owned(), "a".to_owned()])
        );
    }
}
