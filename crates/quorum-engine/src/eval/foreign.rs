//! What other tools found, from the formats that they write.

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::eval::Hit;
use crate::eval::labels::cwe_in;

/// Why a tool's output is not taken.
#[derive(Debug, Error)]
pub(crate) enum ForeignError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON of another sort.
    #[error("it is neither SARIF nor the JSON of bandit, ruff, semgrep or eslint")]
    Unknown,
}

/// Reads SARIF, or the JSON that bandit, ruff, semgrep and eslint write.
///
/// Files are named as the tool names them; [`relative`] makes them comparable.
pub(crate) fn read(text: &str) -> Result<Vec<Hit>, ForeignError> {
    let value: Value = serde_json::from_str(text)?;
    if value.get("runs").is_some() {
        return Ok(sarif(&value));
    }
    if let Some(results) = value.get("results").and_then(Value::as_array) {
        return Ok(results.iter().filter_map(semgrep_or_bandit).collect());
    }
    let Some(entries) = value.as_array() else { return Err(ForeignError::Unknown) };
    if entries.iter().any(|entry| entry.get("messages").is_some()) {
        return Ok(entries.iter().flat_map(eslint).collect());
    }
    Ok(entries.iter().filter_map(ruff).collect())
}

/// The path of `file` below `root`, where it lies there.
pub(crate) fn relative(file: &str, root: &str) -> String {
    let file = file.strip_prefix("file://").unwrap_or(file);
    let file = file.strip_prefix("./").unwrap_or(file);
    let root = root.trim_end_matches('/');
    match file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !root.is_empty() => rest.to_owned(),
        _ => file.to_owned(),
    }
}

fn sarif(value: &Value) -> Vec<Hit> {
    let runs = value.get("runs").and_then(Value::as_array).into_iter().flatten();
    let mut hits = Vec::new();
    for run in runs {
        let rules = run.pointer("/tool/driver/rules").and_then(Value::as_array);
        for result in run.get("results").and_then(Value::as_array).into_iter().flatten() {
            let rule = text(result, "/ruleId");
            let described = rules.into_iter().flatten().find(|known| text(known, "/id") == rule);
            let cwe = described.and_then(|described| cwe_in(&described.to_string()));
            let place = "/locations/0/physicalLocation";
            let line = whole(result, &format!("{place}/region/startLine"));
            let end = whole(result, &format!("{place}/region/endLine")).or(line);
            hits.push(Hit {
                file: text(result, &format!("{place}/artifactLocation/uri")),
                line: line.unwrap_or(1),
                end_line: end.unwrap_or(1),
                cwe: cwe.or_else(|| cwe_in(&rule)),
                rule,
                agent: String::new(),
            });
        }
    }
    hits
}

fn semgrep_or_bandit(result: &Value) -> Option<Hit> {
    if result.get("check_id").is_some() {
        let metadata = result.pointer("/extra/metadata/cwe").map(Value::to_string);
        return Some(Hit {
            file: text(result, "/path"),
            line: whole(result, "/start/line")?,
            end_line: whole(result, "/end/line")?,
            rule: text(result, "/check_id"),
            agent: String::new(),
            cwe: metadata.as_deref().and_then(cwe_in),
        });
    }
    let line = whole(result, "/line_number")?;
    Some(Hit {
        file: text(result, "/filename"),
        line,
        end_line: line,
        rule: text(result, "/test_id"),
        agent: String::new(),
        cwe: whole(result, "/issue_cwe/id").and_then(|cwe| u32::try_from(cwe).ok()),
    })
}

fn ruff(entry: &Value) -> Option<Hit> {
    Some(Hit {
        file: text(entry, "/filename"),
        line: whole(entry, "/location/row")?,
        end_line: whole(entry, "/end_location/row")?,
        rule: text(entry, "/code"),
        agent: String::new(),
        cwe: None,
    })
}

fn eslint(entry: &Value) -> Vec<Hit> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Message {
        rule_id: Option<String>,
        line: u64,
        end_line: Option<u64>,
    }
    let messages = entry.get("messages").cloned().unwrap_or_default();
    let messages: Vec<Message> = serde_json::from_value(messages).unwrap_or_default();
    let hit = |message: Message| {
        Some(Hit {
            file: text(entry, "/filePath"),
            line: message.line,
            end_line: message.end_line.unwrap_or(message.line),
            // A message without a rule is about a file that does not parse.
            rule: message.rule_id?,
            agent: String::new(),
            cwe: None,
        })
    };
    messages.into_iter().filter_map(hit).collect()
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn whole(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_gives_file_line_and_rule() {
        let documents = [
            r#"{"runs":[{"tool":{"driver":{"rules":[{"id":"r","properties":{"tags":["CWE-89"]}}]}},
              "results":[{"ruleId":"r","locations":[{"physicalLocation":{
              "artifactLocation":{"uri":"a.py"},"region":{"startLine":3}}}]}]}]}"#,
            r#"{"results":[{"check_id":"r","path":"a.py","start":{"line":3},"end":{"line":3},
              "extra":{"metadata":{"cwe":["CWE-89: SQL"]}}}]}"#,
            r#"{"results":[{"filename":"a.py","line_number":3,"test_id":"r","issue_cwe":{"id":89}}]}"#,
            r#"[{"filename":"a.py","location":{"row":3},"end_location":{"row":3},"code":"r"}]"#,
            r#"[{"filePath":"a.py","messages":[{"ruleId":"r","line":3},{"ruleId":null,"line":1}]}]"#,
        ];
        for document in documents {
            let hits = read(document).expect("the format is known");
            assert_eq!(hits.len(), 1, "{document}");
            assert_eq!(
                (hits[0].file.as_str(), hits[0].line, hits[0].rule.as_str()),
                ("a.py", 3, "r")
            );
        }
        assert!(matches!(read("{}"), Err(ForeignError::Unknown)));
    }

    #[test]
    fn paths_are_taken_relative_to_the_corpus() {
        assert_eq!(relative("/c/x/a.py", "/c/x"), "a.py");
        assert_eq!(relative("./a.py", "/c/x"), "a.py");
        assert_eq!(relative("/c/xy/a.py", "/c/x"), "/c/xy/a.py");
    }
}
