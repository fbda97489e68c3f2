//! What a reviewer may look at: the repository at the reviewed revision, and nothing else.

use std::fmt::Write as _;

use serde_json::Value;

use super::contract::{CALLERS, READ, SEARCH, SYMBOL};
use super::shown::Library;

/// Finds things in the repository. An index stands behind it where there is one.
pub trait Lookup: Sync {
    /// Lines that hold a text.
    fn search(&self, query: &str, most: usize) -> Vec<Hit>;

    /// Where a name is defined.
    fn symbol(&self, name: &str, most: usize) -> Vec<Hit>;

    /// Where a name is used.
    fn callers(&self, name: &str, most: usize) -> Vec<Hit>;
}

/// A place in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The file.
    pub path: String,
    /// First line.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
}

/// The most lines that one call shows.
const MOST_LINES: u64 = 200;

/// The most bytes that one call shows.
const MOST_BYTES: usize = 24 * 1024;

/// The most places that one call names.
const MOST_HITS: usize = 12;

/// The most lines that are shown of one place.
const MOST_OF_HIT: u64 = 12;

/// Does what a call asks for; an error is for the reviewer to read.
pub(crate) fn look(
    library: &Library<'_>,
    lookup: Option<&dyn Lookup>,
    name: &str,
    arguments: &Value,
) -> Result<String, String> {
    let text = |name: &str| {
        let text = arguments.get(name).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).ok_or(format!("`{name}` is missing"))
    };
    match name {
        READ => {
            let line = |name: &str| arguments.get(name).and_then(Value::as_u64);
            read(library, text("path")?, line("start_line"), line("end_line"))
        }
        SEARCH => {
            let query = text("query")?;
            let hits = lookup.map(|lookup| lookup.search(query, MOST_HITS));
            Ok(shown_or_searched(library, &hits.unwrap_or_default(), query))
        }
        SYMBOL | CALLERS => {
            let word = text("name")?;
            let hits = lookup.map(|lookup| match name {
                SYMBOL => lookup.symbol(word, MOST_HITS),
                _ => lookup.callers(word, MOST_HITS),
            });
            Ok(shown_or_searched(library, &hits.unwrap_or_default(), word))
        }
        other => Err(format!(
            "there is no tool `{other}`; there are report_finding, done, read, search, symbol, callers"
        )),
    }
}

fn read(
    library: &Library<'_>,
    path: &str,
    start: Option<u64>,
    end: Option<u64>,
) -> Result<String, String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    // The material knows nothing outside of the repository; this says so in words.
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(
            "only files of the repository can be read, by their path from its root".to_owned()
        );
    }
    let text = library.around(path).ok_or(format!("there is no text file `{path}`"))?;
    let start = start.unwrap_or(1).max(1);
    let end = end.unwrap_or(u64::MAX).min(start.saturating_add(MOST_LINES - 1)).min(text.len());
    if start > text.len() {
        return Err(format!("`{path}` has {} lines", text.len()));
    }
    let mut shown = format!("{path}, lines {start} to {end} of {}:\n", text.len());
    for number in start..=end {
        let Some(line) = text.line(number) else { break };
        // Writing to a string cannot fail.
        _ = writeln!(shown, "{number}  {line}");
        if shown.len() > MOST_BYTES {
            shown.truncate(
                (0..=MOST_BYTES).rev().find(|&at| shown.is_char_boundary(at)).unwrap_or(0),
            );
            shown.push_str("\n(cut: too long)\n");
            break;
        }
    }
    Ok(shown)
}

/// What an index found; where there is none, or it found nothing, the lines that hold the text.
fn shown_or_searched(library: &Library<'_>, hits: &[Hit], text: &str) -> String {
    if hits.is_empty() { plain_search(library, text) } else { show(library, hits) }
}

fn show(library: &Library<'_>, hits: &[Hit]) -> String {
    if hits.is_empty() {
        return "nothing found".to_owned();
    }
    let mut shown = String::new();
    for hit in hits.iter().take(MOST_HITS) {
        let Some(text) = library.around(&hit.path) else { continue };
        let last = hit.end_line.min(hit.start_line.saturating_add(MOST_OF_HIT - 1));
        _ = writeln!(shown, "{}:{}", hit.path, hit.start_line);
        for number in hit.start_line..=last {
            let line: String = text.line(number).unwrap_or_default().chars().take(300).collect();
            _ = writeln!(shown, "{number}  {line}");
        }
        if shown.len() > MOST_BYTES {
            break;
        }
    }
    shown
}

/// Files that a search without an index looks through.
const MOST_FILES: usize = 4_000;

/// Looks for a text line by line, where there is no index.
fn plain_search(library: &Library<'_>, query: &str) -> String {
    let mut hits = Vec::new();
    for path in library.material().paths().iter().take(MOST_FILES) {
        let Some(text) = library.material().head(path) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            if line.contains(query) {
                hits.push(Hit { path: path.clone(), start_line: number, end_line: number });
            }
        }
        if hits.len() >= MOST_HITS {
            break;
        }
    }
    show(library, &hits)
}

#[cfg(test)]
mod tests {
    use super::super::redact::NoSecrets;
    use super::super::shown::{Changed, Material};
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    struct Files(Vec<String>);

    impl Material for Files {
        fn changed(&self, _path: &str) -> Option<Changed> {
            None
        }

        fn head(&self, path: &str) -> Option<Arc<str>> {
            (path == "src/a.rs").then(|| "one\ntwo\nthree\n".into())
        }

        fn paths(&self) -> &[String] {
            &self.0
        }
    }

    fn call(name: &str, arguments: &Value) -> Result<String, String> {
        let files = Files(vec!["src/a.rs".to_owned()]);
        look(&Library::new(&files, &NoSecrets), None, name, arguments)
    }

    #[test]
    fn a_span_is_read_with_its_numbers() {
        let shown = call(READ, &json!({ "path": "./src/a.rs", "start_line": 2, "end_line": 99 }));
        assert_eq!(shown.unwrap(), "src/a.rs, lines 2 to 3 of 3:\n2  two\n3  three\n");
        assert!(call(READ, &json!({ "path": "src/a.rs", "start_line": 9 })).is_err());
    }

    #[test]
    fn nothing_outside_of_the_repository_is_read() {
        for path in ["/etc/passwd", "../x", "src/../../x", "none.rs", ".git/../../x", ""] {
            assert!(call(READ, &json!({ "path": path })).is_err(), "{path}");
        }
    }

    #[test]
    fn a_search_names_places() {
        assert_eq!(call(SEARCH, &json!({ "query": "two" })).unwrap(), "src/a.rs:2\n2  two\n");
        assert_eq!(call(CALLERS, &json!({ "name": "four" })).unwrap(), "nothing found");
        assert_eq!(call(SEARCH, &json!({})).unwrap_err(), "`query` is missing");
    }

    #[test]
    fn an_unknown_tool_is_told_what_there_is() {
        let wrong = call("shell", &json!({ "cmd": "rm" })).unwrap_err();
        assert!(wrong.contains("no tool `shell`") && wrong.contains("report_finding"), "{wrong}");
    }
}
