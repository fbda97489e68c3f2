//! A defect that is planted in the prompt's copy of a file, to see whether the reviewer reads.
//!
//! Nothing of it is in the change or in a result. A reviewer that does not report it has shown that its
//! silence about the rest means nothing.

use std::fmt::Write as _;

use quorum_model::agent::Agent;
use quorum_model::scope::{Change, FileEntry};
use quorum_model::unit::{Unit, UnitKind};

use super::contract::Reported;

/// A planted defect.
#[derive(Clone, Debug)]
pub(crate) struct Canary {
    pub(crate) path: String,
    lines: Vec<String>,
    /// The number that its first line is shown with.
    first_line: u64,
    /// A word that stands in it and nowhere else.
    word: String,
    found: bool,
}

impl Canary {
    /// A defect for one of `units`, in the language of its file and within the agent's concern;
    /// absent where no file of them can hold one. `seed` chooses its names.
    pub(crate) fn plant(
        agent: &Agent,
        files: &[FileEntry],
        units: &[Unit],
        seed: &str,
    ) -> Option<Self> {
        let word = format!("q{}", &blake3::hash(seed.as_bytes()).to_hex()[..8]);
        let security = agent.categories.iter().any(|category| category == "injection");
        units.iter().rev().filter(|unit| unit.kind != UnitKind::Name).find_map(|unit| {
            let entry = files.iter().find(|file| file.path == unit.path)?;
            if entry.change == Change::Deleted {
                return None;
            }
            let lines = defect(entry.language.as_deref()?, security, &word)?;
            // It follows on the last line of the file that is shown.
            let shown = units.iter().filter(|other| other.path == unit.path);
            let first_line = shown.map(|other| other.end_line).max()? + 1;
            let path = entry.path.to_string();
            Some(Self { path, lines, first_line, word: word.clone(), found: false })
        })
    }

    /// The lines as a reviewer is shown them.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (number, line) in (self.first_line..).zip(&self.lines) {
            // Writing to a string cannot fail.
            _ = writeln!(text, "{number} +{line}");
        }
        text
    }

    /// Whether `reported` is about it; it is then found.
    pub(crate) fn is_meant_by(&mut self, reported: &Reported) -> bool {
        let words = [reported.evidence.as_deref(), Some(&reported.issue)];
        let named = words.into_iter().flatten().any(|text| text.contains(&self.word));
        let quotes = |evidence: &str| {
            let mut quoted = evidence.lines().map(str::trim).filter(|line| !line.is_empty());
            quoted.any(|quoted| self.lines.iter().any(|line| line.trim() == quoted))
        };
        let same_file = reported.file.ends_with(self.path.as_str());
        let meant = named || (same_file && reported.evidence.as_deref().is_some_and(quotes));
        self.found |= meant;
        meant
    }

    pub(crate) fn is_found(&self) -> bool {
        self.found
    }
}

/// A defect that nobody who reads it misses: an injection for those who look for them, else a loop
/// that runs one past the end and a division by zero.
fn defect(language: &str, security: bool, word: &str) -> Option<Vec<String>> {
    let template: &[&str] = match (language, security) {
        ("Python", true) => &[
            "def find_WORD(connection, request):",
            "    name = request.args[\"name\"]",
            "    return connection.execute(\"SELECT * FROM WORD WHERE name = '\" + name + \"'\")",
        ],
        ("Python", false) => &[
            "def mean_WORD(values):",
            "    total = 0",
            "    for index in range(len(values) + 1):",
            "        total += values[index]",
            "    return total / 0",
        ],
        ("Go", true) => &[
            "func findWORD(db *sql.DB, r *http.Request) (*sql.Rows, error) {",
            "\tname := r.URL.Query().Get(\"name\")",
            "\treturn db.Query(\"SELECT * FROM WORD WHERE name = '\" + name + \"'\")",
            "}",
        ],
        ("Go", false) => &[
            "func meanWORD(values []int) int {",
            "\ttotal, count := 0, 0",
            "\tfor index := 0; index <= len(values); index++ {",
            "\t\ttotal += values[index]",
            "\t}",
            "\treturn total / count",
            "}",
        ],
        ("Rust", true) => &[
            "fn run_WORD(input: &str) -> std::io::Result<std::process::Output> {",
            "    std::process::Command::new(\"sh\").arg(\"-c\").arg(format!(\"ls {input}\")).output()",
            "}",
        ],
        ("Rust", false) => &[
            "fn mean_WORD(values: &[u32]) -> u32 {",
            "    let mut total = 0;",
            "    for index in 0..=values.len() {",
            "        total += values[index];",
            "    }",
            "    total / 0",
            "}",
        ],
        ("JavaScript" | "TypeScript" | "TSX" | "JSX" | "Vue", true) => &[
            "export function findWORD(connection, request) {",
            "  const name = request.query.name;",
            "  return connection.query(\"SELECT * FROM WORD WHERE name = '\" + name + \"'\");",
            "}",
        ],
        ("JavaScript" | "TypeScript" | "TSX" | "JSX" | "Vue", false) => &[
            "export function meanWORD(values) {",
            "  let total = 0;",
            "  for (let index = 0; index <= values.length; index++) {",
            "    total += values[index].amount;",
            "  }",
            "  return total / 0;",
            "}",
        ],
        ("Java" | "C#" | "Kotlin" | "Scala", true) => &[
            "ResultSet findWORD(Statement statement, HttpServletRequest request) throws SQLException {",
            "    String name = request.getParameter(\"name\");",
            "    return statement.executeQuery(\"SELECT * FROM WORD WHERE name = '\" + name + \"'\");",
            "}",
        ],
        ("C" | "C++" | "Java" | "C#" | "Kotlin" | "Scala", _) => &[
            "int mean_WORD(int[] values, int length) {",
            "    int total = 0;",
            "    for (int index = 0; index <= length; index++) {",
            "        total += values[index];",
            "    }",
            "    return total / 0;",
            "}",
        ],
        ("Ruby", _) => {
            &["def run_WORD(input)", "  system(\"ls #{input}\")", "  [1, 2, 3].sum / 0", "end"]
        }
        ("PHP", _) => &[
            "function find_WORD($connection) {",
            "    return $connection->query(\"SELECT * FROM WORD WHERE name = '\" . $_GET['name'] . \"'\");",
            "}",
        ],
        ("Shell", _) => {
            &["run_WORD() {", "    rm -rf \"/$undefined_WORD/\"*", "    eval \"$1\"", "}"]
        }
        ("Markdown" | "reStructuredText" | "AsciiDoc", _) => &[
            "## WORD",
            "",
            "`WORD` takes a path and defaults to 30 seconds. `WORD` takes no value and defaults to 45 seconds.",
        ],
        _ => return None,
    };
    Some(template.iter().map(|line| line.replace("WORD", word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorum_model::severity::Severity;

    fn reported(file: &str, evidence: Option<&str>, issue: &str) -> Reported {
        Reported {
            severity: Severity::Low,
            category: "logic".to_owned(),
            file: file.to_owned(),
            line: None,
            evidence: evidence.map(str::to_owned),
            issue: issue.to_owned(),
            recommendation: String::new(),
            cwe: None,
            confidence: None,
            cause: None,
        }
    }

    fn canary() -> Canary {
        let lines = defect("Python", false, "q123").unwrap();
        let path = "src/a.py".to_owned();
        Canary { path, lines, first_line: 7, word: "q123".to_owned(), found: false }
    }

    #[test]
    fn it_is_found_by_its_name_or_by_a_quote() {
        let mut quoted = canary();
        let last = Some("    return total / 0\n");
        assert!(!quoted.is_meant_by(&reported("src/b.py", last, "elsewhere")));
        assert!(!quoted.is_meant_by(&reported("src/a.py", Some("x = 1"), "another")));
        assert!(!quoted.is_found());
        assert!(quoted.is_meant_by(&reported("./src/a.py", last, "it divides by zero")));
        assert!(quoted.is_found());
        assert!(canary().is_meant_by(&reported("a.py", None, "`mean_q123` divides by zero")));
    }

    #[test]
    fn it_is_numbered_like_the_code_before_it() {
        assert!(canary().text().starts_with("7 +def mean_q123(values):\n8 +    total = 0\n"));
    }

    #[test]
    fn every_language_names_the_defect() {
        for language in ["Python", "Go", "Rust", "TypeScript", "Java", "C", "Ruby", "PHP", "Shell"]
        {
            for security in [false, true] {
                let lines = defect(language, security, "q123").unwrap();
                assert!(lines.iter().any(|line| line.contains("q123")), "{language}");
                assert!(lines.iter().all(|line| !line.contains("WORD")), "{language}");
            }
        }
        assert_eq!(defect("Binary", true, "q123"), None);
    }
}
