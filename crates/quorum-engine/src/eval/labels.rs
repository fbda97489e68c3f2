//! What the authors of a corpus say about its lines.

use std::sync::LazyLock;

use regex::Regex;

/// What a label says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// A defect is here.
    Defect,
    /// No defect is here, though it may look like one.
    Sound,
}

/// What a corpus says about one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// The line; absent where the label is about the whole file.
    pub line: Option<u64>,
    /// What is said.
    pub expected: Expected,
    /// The rule or category that is named, as it is written.
    pub category: Option<String>,
}

/// How a label is attached to the code that it is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The comment's own line, or the next line of code when the comment stands alone.
    LineOrNext,
    /// The line of the comment, always.
    Line,
    /// The next line of code.
    Next,
}

struct Style {
    pattern: &'static LazyLock<Regex>,
    place: Place,
    expected: fn(&str) -> Expected,
}

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("a constant pattern is well formed"));
    };
}

// The comment's text comes without the characters that open it.
pattern!(ALERT, r"\$(?P<what>[^$]*\bAlert\b(?:\[(?P<rule>[^\]]*)\])?.*)$");
pattern!(RULE, r"(?:^|[\s,])(?P<what>(?:todo)?(?:ruleid|ok)|deepruleid)\s*:\s*(?P<rule>[\w./-]*)");
pattern!(VERDICT, r"^\W*(?P<what>BAD|NOT OK|NOT GOOD|NOK|GOOD|OK|SAFE|UNSAFE|VULNERABLE)\b");
pattern!(WANT, r"^\s*(?P<what>want)\s+[`\x22]|^\s*@\s*(?P<diag>diag)\(");
pattern!(CARET, r"^~(?P<up>\^*)(?P<down>v*)\|?\s*(?:ERROR|WARN)?:?\s*(?P<rule>[\w:-]*)");
pattern!(COMMENT, r"(?://|#|--|/\*|<!--|%|;)(?P<text>.*)$");

const STYLES: &[Style] = &[
    Style { pattern: &ALERT, place: Place::Line, expected: alert },
    Style { pattern: &RULE, place: Place::Next, expected: rule },
    Style { pattern: &VERDICT, place: Place::LineOrNext, expected: verdict },
    Style { pattern: &WANT, place: Place::Line, expected: |_| Expected::Defect },
];

fn alert(what: &str) -> Expected {
    let before = what.split("Alert").next().unwrap_or_default();
    if before.contains("SPURIOUS:") { Expected::Sound } else { Expected::Defect }
}

fn rule(what: &str) -> Expected {
    if what.ends_with("ruleid") { Expected::Defect } else { Expected::Sound }
}

fn verdict(what: &str) -> Expected {
    match what {
        "GOOD" | "OK" | "SAFE" => Expected::Sound,
        _ => Expected::Defect,
    }
}

/// The labels in a file's comments, in the order of their lines.
pub(crate) fn read(text: &str) -> Vec<Label> {
    let lines: Vec<&str> = text.lines().collect();
    let mut labels = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(comment) = COMMENT.captures(line) else { continue };
        let start = comment.get(0).map_or(0, |found| found.start());
        let text = comment.name("text").map_or("", |found| found.as_str()).trim_end();
        let text = text.trim_end_matches("*/").trim_end_matches("-->").trim_end();
        // What opens a comment may occur in a string before it: every tail is tried.
        if let Some(label) = read_comment(&lines, index, line[..start].trim().is_empty(), text) {
            labels.push(label);
        }
    }
    labels.sort();
    // A comment above a line and one at its end speak of one defect.
    labels.dedup_by(|b, a| {
        let same = (a.line, a.expected) == (b.line, b.expected);
        if same && a.category.is_none() {
            a.category = b.category.take();
        }
        same
    });
    labels
}

fn read_comment(lines: &[&str], index: usize, alone: bool, text: &str) -> Option<Label> {
    let mut tail = text;
    loop {
        let comment = tail.trim_start_matches(['/', '#', '*', '-', '!']).trim_start();
        if let Some(label) = read_tail(lines, index, alone, comment, tail) {
            return Some(label);
        }
        let next = COMMENT.captures(tail)?;
        tail = next.name("text").map_or("", |found| found.as_str());
    }
}

fn read_tail(lines: &[&str], index: usize, alone: bool, text: &str, raw: &str) -> Option<Label> {
    if let Some(found) = CARET.captures(raw.trim_start_matches('/')) {
        let up = found.name("up").map_or(0, |carets| carets.len());
        let down = found.name("down").map_or(0, |carets| carets.len());
        let category = found.name("rule").map(|rule| rule.as_str().to_owned());
        let line = (number(index) + number(down)).checked_sub(number(up))?;
        return Some(Label { line: Some(line + 1), expected: Expected::Defect, category });
    }
    for style in STYLES {
        let Some(found) = style.pattern.captures(text) else { continue };
        let what = found.name("what").or_else(|| found.name("diag"))?.as_str();
        let expected = (style.expected)(what);
        let category = found.name("rule").map(|rule| rule.as_str().to_owned());
        let on_next = match style.place {
            Place::Line => false,
            Place::Next => true,
            Place::LineOrNext => alone,
        };
        let line = if on_next { next_code(lines, index)? } else { index };
        return Some(Label { line: Some(number(line) + 1), expected, category });
    }
    None
}

/// The next line that is neither empty nor a comment alone.
fn next_code(lines: &[&str], index: usize) -> Option<usize> {
    let comment = |line: &str| {
        let line = line.trim_start();
        ["//", "#", "--", "/*", "*", "<!--", "{/*"].iter().any(|open| line.starts_with(open))
    };
    let mut rest = lines.iter().enumerate().skip(index + 1);
    rest.find(|(_, line)| !line.trim().is_empty() && !comment(line)).map(|(at, _)| at)
}

fn number(index: usize) -> u64 {
    index as u64
}

/// What the names of the folders say about a whole file: `positive` or `negative`, and their like.
pub(crate) fn of_path(path: &str) -> Option<Label> {
    const DEFECT: [&str; 8] =
        ["positive", "positives", "bad", "insecure", "vulnerable", "unsafe", "invalid", "tp"];
    const SOUND: [&str; 8] =
        ["negative", "negatives", "good", "secure", "safe", "fixed", "valid", "fp"];
    let folders: Vec<String> = path.split('/').map(str::to_ascii_lowercase).collect();
    let (_, folders) = folders.split_last()?;
    let expected = folders.iter().rev().find_map(|folder| {
        if DEFECT.contains(&folder.as_str()) {
            Some(Expected::Defect)
        } else {
            SOUND.contains(&folder.as_str()).then_some(Expected::Sound)
        }
    })?;
    Some(Label { line: None, expected, category: None })
}

/// A row of a table of files: name, category, expected, and perhaps a weakness class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The file's name, with or without its ending.
    pub file: String,
    /// The label.
    pub label: Label,
}

/// The rows of a CSV table `file, category, expected[, cwe]`; a line that starts with `#` and a
/// heading are skipped.
pub(crate) fn read_table(text: &str) -> Result<Vec<Row>, TableError> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> =
            line.split(',').map(|field| field.trim().trim_matches('"')).collect();
        let [file, category, expected, rest @ ..] = fields.as_slice() else {
            if line.trim().is_empty() {
                continue;
            }
            return Err(TableError { line: number, text: line.to_owned() });
        };
        let expected = match expected.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "bad" | "positive" | "defect" => Expected::Defect,
            "false" | "0" | "no" | "good" | "negative" | "sound" => Expected::Sound,
            _ if number == 1 || line.starts_with('#') => continue,
            _ => return Err(TableError { line: number, text: line.to_owned() }),
        };
        let cwe = rest.first().and_then(|cwe| cwe.parse::<u32>().ok());
        let category = cwe.map_or_else(|| (*category).to_owned(), |cwe| format!("CWE-{cwe}"));
        let label = Label { line: None, expected, category: Some(category) };
        rows.push(Row { file: (*file).to_owned(), label });
    }
    Ok(rows)
}

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not `file, category, expected`: {text}")]
pub(crate) struct TableError {
    /// Its number.
    pub line: u64,
    /// Its text.
    pub text: String,
}

/// A weakness class that is named in a path or a rule, such as `CWE-089` or `cwe_79`.
pub(crate) fn cwe_in(text: &str) -> Option<u32> {
    pattern!(CWE, r"(?i)cwe[-_]?0*(\d{1,4})\b");
    CWE.captures(text)?.get(1)?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u64, Expected)> {
        read(text).into_iter().filter_map(|l| Some((l.line?, l.expected))).collect()
    }

    #[test]
    fn alerts_stand_on_their_line() {
        let text =
            "a(x); // $ Alert[go/sql]\nb(x); // $ MISSING: Alert\nc(); // $ SPURIOUS: Alert\n";
        let expected = [(1, Expected::Defect), (2, Expected::Defect), (3, Expected::Sound)];
        assert_eq!(lines(text), expected);
        assert_eq!(read(text)[0].category.as_deref(), Some("go/sql"));
    }

    #[test]
    fn verdicts_stand_on_their_line_or_above_it() {
        let text = "run(x) # BAD: taint\n# GOOD\n\nrun(1)\nok(2)  // NOT OK\n";
        assert_eq!(
            lines(text),
            [(1, Expected::Defect), (4, Expected::Sound), (5, Expected::Defect)]
        );
    }

    #[test]
    fn two_comments_about_one_line_are_one_label() {
        let text = "// BAD: anybody chooses it\nrun(x) // $ Alert[go/sql]\n";
        assert_eq!(lines(text), [(2, Expected::Defect)]);
        assert_eq!(read(text)[0].category.as_deref(), Some("go/sql"));
    }

    #[test]
    fn rule_ids_stand_above() {
        let text = "# ruleid: a-b\n# a note\nrun(x)\n# ok: a-b\nrun(1)\n";
        assert_eq!(lines(text), [(3, Expected::Defect), (5, Expected::Sound)]);
    }

    #[test]
    fn wants_and_carets() {
        let text = "f() // want `x`\nlet a = 1;\n//~^ lint_name\ng(); //~ other\n";
        assert_eq!(
            lines(text),
            [(1, Expected::Defect), (2, Expected::Defect), (4, Expected::Defect)]
        );
    }

    #[test]
    fn a_slash_in_a_string_does_not_hide_the_comment() {
        assert_eq!(lines("get(\"http://a\") // BAD\n"), [(1, Expected::Defect)]);
    }

    #[test]
    fn words_in_prose_are_no_labels() {
        assert_eq!(lines("// it is OK to do so\nx()\n# a BAD idea\n"), []);
    }

    #[test]
    fn tables_name_files() {
        let text = "# test name, category, real vulnerability, cwe\nBenchmarkTest1,sqli,true,89\n";
        let rows = read_table(text).expect("it is a table");
        assert_eq!(rows[0].file, "BenchmarkTest1");
        assert_eq!(rows[0].label.category.as_deref(), Some("CWE-89"));
        assert!(read_table("a,b,c\nd,e,perhaps\n").is_err());
    }

    #[test]
    fn weakness_classes_are_found_in_paths() {
        assert_eq!(cwe_in("Security/CWE-089/a.py"), Some(89));
        assert_eq!(cwe_in("a/b.py"), None);
    }
}
