//! What a reviewer may say, and how it is held to it.

use quorum_llm::{Schema, Tool};
use quorum_model::report::{Pattern, SkippedFindings};
use quorum_model::result::SopStatus;
use quorum_model::severity::Severity;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A finding as a reviewer reports it, before it is checked against the code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reported {
    pub(crate) severity: Severity,
    pub(crate) category: String,
    pub(crate) file: String,
    pub(crate) line: Option<u64>,
    pub(crate) evidence: Option<String>,
    pub(crate) issue: String,
    pub(crate) recommendation: String,
    pub(crate) cwe: Option<String>,
    pub(crate) confidence: Option<f64>,
    /// The other end of a defect outside of the change: what in the change causes it.
    pub(crate) cause: Option<Cause>,
}

/// What in the change causes a defect elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cause {
    pub(crate) file: String,
    pub(crate) quote: String,
}

/// All that a reviewer says about what it was shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Reported>,
    pub(crate) skipped: SkippedFindings,
    pub(crate) sops: Vec<SopAnswer>,
    pub(crate) patterns: Vec<Pattern>,
}

/// How the change stands against an SOP, by a reviewer's word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SopAnswer {
    pub(crate) sop: String,
    pub(crate) status: String,
    pub(crate) evidence: String,
    /// The file and the code in it that shows a violation, by the reviewer's word.
    pub(crate) file: Option<String>,
    pub(crate) quote: Option<String>,
    /// Where the quote stands, once it was found there.
    pub(crate) place: Option<(String, u64)>,
}

impl SopAnswer {
    /// Whether it answers for the standing order `name`, with a word that is known and evidence. A
    /// violation counts only where the code shows it.
    pub(crate) fn counts_for(&self, name: &str) -> bool {
        let shown = self.status() != Some(SopStatus::Violated) || self.place.is_some();
        self.is_for(name) && self.status().is_some() && !self.evidence.trim().is_empty() && shown
    }

    /// Reviewers are lax about case and endings.
    pub(crate) fn is_for(&self, name: &str) -> bool {
        let said = self.sop.trim();
        let said = said.strip_suffix(".md").unwrap_or(said);
        said.eq_ignore_ascii_case(name)
    }

    /// What it says, where that is one of the words that it was asked for.
    pub(crate) fn status(&self) -> Option<SopStatus> {
        match self.status.trim().to_lowercase().replace([' ', '-'], "_").as_str() {
            "violated" => Some(SopStatus::Violated),
            "passed" => Some(SopStatus::Passed),
            "not_applicable" => Some(SopStatus::NotApplicable),
            _ => None,
        }
    }
}

pub(crate) const REPORT_FINDING: &str = "report_finding";
pub(crate) const DONE: &str = "done";
pub(crate) const READ: &str = "read";
pub(crate) const SEARCH: &str = "search";
pub(crate) const SYMBOL: &str = "symbol";
pub(crate) const CALLERS: &str = "callers";

/// Longer texts of a finding are cut: they are read by people.
const LONGEST_TEXT: usize = 4_000;

/// The longest text of a convention, in bytes, and the most conventions of one answer.
const LONGEST_PATTERN: usize = 400;
const MOST_PATTERNS: usize = 10;

/// The tools of a reviewer; those that bring new content only where that is still allowed.
pub(crate) fn tools(categories: &[String], may_look: bool) -> Vec<Tool> {
    let tool = |name: &str, description: &str, parameters: Value| Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    };
    let mut tools = vec![
        tool(
            REPORT_FINDING,
            "Reports one defect. Call it once for each, as soon as you are sure.",
            finding_schema(categories),
        ),
        tool(
            DONE,
            "Ends the review of what you were shown. Call it in the same turn as your last report.",
            done_schema(),
        ),
    ];
    if may_look {
        let path = json!({ "type": "string", "description": "Path from the repository's root." });
        tools.push(tool(
            READ,
            "Shows lines of a file of the repository at the reviewed revision.",
            object(&json!({ "path": path, "start_line": { "type": "integer" },
                "end_line": { "type": "integer" } })),
        ));
        let word = |what: &str| object(&json!({ what: { "type": "string" } }));
        tools.push(tool(SEARCH, "Finds lines that hold a text.", word("query")));
        tools.push(tool(SYMBOL, "Shows where a name is defined.", word("name")));
        tools.push(tool(CALLERS, "Shows where a name is used.", word("name")));
    }
    tools
}

/// The form of a report that is written and not called.
pub(crate) fn schema(categories: &[String]) -> Schema {
    let mut schema = done_schema();
    schema["properties"]["findings"] =
        json!({ "type": "array", "items": finding_schema(categories) });
    close(&mut schema);
    Schema { name: "review".to_owned(), schema }
}

pub(crate) fn finding_schema(categories: &[String]) -> Value {
    let text = json!({ "type": "string" });
    let category = if categories.is_empty() {
        text.clone()
    } else {
        json!({ "type": "string", "enum": categories })
    };
    object(&json!({
        "severity": { "type": "string", "enum": ["CRITICAL", "HIGH", "MEDIUM", "LOW"] },
        "category": category,
        "file": text,
        "line": { "type": "integer" },
        "evidence": { "type": "string", "description": "The code, copied exactly, without line numbers." },
        "issue": text,
        "recommendation": text,
        "cwe": { "type": ["string", "null"] },
        "confidence": { "type": "number" },
        "cause_file": { "type": ["string", "null"] },
        "cause_quote": { "type": ["string", "null"], "description": "For a defect outside of the change: the changed code that causes it." },
    }))
}

fn done_schema() -> Value {
    object(&json!({
        "skipped_medium": { "type": "integer" },
        "skipped_low": { "type": "integer" },
        "sops": { "type": "array", "items": object(&json!({
            "sop": { "type": "string" },
            "status": { "type": "string", "enum": ["passed", "violated", "not_applicable"] },
            "evidence": { "type": "string" },
            "file": { "type": ["string", "null"] },
            "quote": { "type": ["string", "null"], "description": "For a violation: a changed line of that file that shows it, copied exactly." },
        })) },
        "patterns": { "type": "array", "items": object(&json!({
            "name": { "type": "string" },
            "pattern": { "type": "string", "description": "A convention that the code follows, in one sentence." },
            "applies_to": { "type": "string", "description": "A glob of the files that follow it." },
        })) },
    }))
}

/// A closed object with all of its properties required, as strict servers want it.
pub(crate) fn object(properties: &Value) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties });
    close(&mut schema);
    schema
}

fn close(schema: &mut Value) {
    let names: Vec<String> = schema["properties"]
        .as_object()
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    schema["required"] = json!(names);
    schema["additionalProperties"] = json!(false);
}

/// Reads a report; an error says what is wrong, for the reviewer.
pub(crate) fn report(value: &Value) -> Result<Report, String> {
    let findings = value.get("findings").ok_or("there is no `findings` array")?;
    let findings = findings.as_array().ok_or("`findings` is not an array")?;
    let findings = findings.iter().enumerate().map(|(index, value)| {
        finding(value).map_err(|wrong| format!("findings[{index}]: {wrong}"))
    });
    Ok(Report { findings: findings.collect::<Result<_, String>>()?, ..done(value) })
}

/// Reads what ends a review.
pub(crate) fn done(value: &Value) -> Report {
    let count = |name: &str, nested: &str| {
        let found = value.get(name).or_else(|| value.get("skipped")?.get(nested));
        found.and_then(Value::as_u64).unwrap_or_default()
    };
    let skipped = SkippedFindings {
        medium_count: count("skipped_medium", "medium_count"),
        low_count: count("skipped_low", "low_count"),
    };
    let sops = value.get("sops").or_else(|| value.get("sop_review")).and_then(Value::as_array);
    let sops = sops.into_iter().flatten().filter_map(|value| {
        let text = |name: &str| text(value, name);
        let sop = text("sop").or_else(|| text("sop_id"))?;
        let evidence = text("evidence").unwrap_or_default();
        let (file, quote) = (text("file"), text("quote"));
        Some(SopAnswer { sop, status: text("status")?, evidence, file, quote, place: None })
    });
    Report { findings: Vec::new(), skipped, sops: sops.collect(), patterns: patterns(value) }
}

/// Conventions that a reviewer saw the code follow, each in one line.
fn patterns(value: &Value) -> Vec<Pattern> {
    let all = value.get("patterns").and_then(Value::as_array);
    let one = |value: &Value| {
        let line = |name: &str| {
            let words: Vec<String> =
                text(value, name)?.split_whitespace().map(str::to_owned).collect();
            let line = words.join(" ");
            Some(line[..line.floor_char_boundary(LONGEST_PATTERN)].to_owned())
        };
        let applies_to = line("applies_to").unwrap_or_else(|| "**".to_owned());
        Some(Pattern { name: line("name")?, pattern: line("pattern")?, applies_to })
    };
    all.into_iter().flatten().filter_map(one).take(MOST_PATTERNS).collect()
}

/// Reads one finding, in the long form or with a `location`.
pub(crate) fn finding(value: &Value) -> Result<Reported, String> {
    if !value.is_object() {
        return Err("it is not an object".to_owned());
    }
    let required = |name: &str| text(value, name).ok_or(format!("`{name}` is missing"));
    let severity = severity(&required("severity")?)?;
    let (file, line) = place(value).ok_or("`file` is missing")?;
    let cause = text(value, "cause_file").zip(text(value, "cause_quote"));
    Ok(Reported {
        severity,
        category: required("category")?,
        file,
        line,
        evidence: text(value, "evidence"),
        issue: required("issue")?,
        recommendation: required("recommendation")?,
        cwe: text(value, "cwe").filter(|cwe| cwe.to_uppercase().starts_with("CWE-")),
        confidence: value
            .get("confidence")
            .and_then(Value::as_f64)
            .filter(|confidence| (0.0..=1.0).contains(confidence)),
        cause: cause.map(|(file, quote)| Cause { file, quote }),
    })
}

/// Reads a severity, however it is written.
pub(crate) fn severity(word: &str) -> Result<Severity, String> {
    match word.to_uppercase().as_str() {
        "CRITICAL" => Ok(Severity::Critical),
        "HIGH" => Ok(Severity::High),
        "MEDIUM" => Ok(Severity::Medium),
        "LOW" => Ok(Severity::Low),
        _ => Err(format!("`{word}` is none of CRITICAL, HIGH, MEDIUM, LOW")),
    }
}

fn place(value: &Value) -> Option<(String, Option<u64>)> {
    if let Some(file) = text(value, "file") {
        let line = value.get("line");
        let line = line.and_then(|line| line.as_u64().or_else(|| line.as_str()?.parse().ok()));
        return Some((file, line));
    }
    let location = text(value, "location")?;
    Some(match location.rsplit_once(':') {
        Some((file, line)) => match line.split('-').next().and_then(|line| line.parse().ok()) {
            Some(line) => (file.to_owned(), Some(line)),
            None => (location, None),
        },
        None => (location, None),
    })
}

/// A text that says something, not longer than anybody reads.
pub(crate) fn text(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?.trim_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return None;
    }
    Some(text.chars().take(LONGEST_TEXT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_finding_are_read() {
        let long = json!({ "severity": "high", "category": "auth", "file": "a.go", "line": "12",
            "evidence": "\tx()\n", "issue": "i", "recommendation": "r", "cwe": "none" });
        let read = finding(&long).unwrap();
        assert_eq!(
            (read.file.as_str(), read.line, read.severity),
            ("a.go", Some(12), Severity::High)
        );
        assert_eq!((read.evidence.as_deref(), read.cwe), (Some("\tx()"), None));
        let compact = json!({ "severity": "HIGH", "category": "auth", "location": "a.go:12-14",
            "issue": "i", "recommendation": "r" });
        assert_eq!(finding(&compact).unwrap().line, Some(12));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            (json!({ "issues": [] }), "there is no `findings` array"),
            (json!({ "findings": {} }), "`findings` is not an array"),
            (json!({ "findings": ["x"] }), "findings[0]: it is not an object"),
            (
                json!({ "findings": [{ "severity": "major" }] }),
                "findings[0]: `major` is none of CRITICAL, HIGH, MEDIUM, LOW",
            ),
            (json!({ "findings": [{ "severity": "LOW" }] }), "findings[0]: `file` is missing"),
        ];
        for (value, wrong) in cases {
            assert_eq!(report(&value).unwrap_err(), wrong);
        }
    }

    #[test]
    fn counts_and_sops_are_read() {
        let report = report(&json!({ "findings": [], "skipped": { "medium_count": 3 },
            "skipped_low": 2, "sops": [{ "sop": "errors", "status": "passed", "evidence": "e" }] }));
        let report = report.unwrap();
        assert_eq!((report.skipped.medium_count, report.skipped.low_count), (3, 2));
        assert_eq!(report.sops[0].sop, "errors");
    }

    /// Servers refuse a schema that leaves anything open.
    #[test]
    fn schemas_are_closed_all_the_way_down() {
        fn check(value: &Value) {
            if value.get("type") == Some(&json!("object")) {
                assert_eq!(value["additionalProperties"], json!(false));
                let properties = value["properties"].as_object().unwrap();
                assert_eq!(value["required"].as_array().unwrap().len(), properties.len());
            }
            match value {
                Value::Object(fields) => fields.values().for_each(check),
                Value::Array(items) => items.iter().for_each(check),
                _ => {}
            }
        }
        check(&schema(&["auth".to_owned()]).schema);
        for tool in tools(&[], true) {
            check(&tool.parameters);
        }
    }
}
