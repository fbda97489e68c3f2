//! SARIF, the form in which analysers give their findings to others.

use quorum_model::gate::{GateFinding, GateLevel};
use serde_json::Value;

use crate::tree::Paths;

/// The results of a log; absent where the text is none.
pub fn sarif(text: &str, paths: &Paths, folder: &str) -> Option<Vec<GateFinding>> {
    let log: Value = serde_json::from_str(text.trim()).ok()?;
    let runs = log.get("runs")?.as_array()?;
    let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
    Some(results.filter_map(|result| finding(result, paths, folder)).collect())
}

fn finding(result: &Value, paths: &Paths, folder: &str) -> Option<GateFinding> {
    let text = |pointer: &str| result.pointer(pointer).and_then(Value::as_str);
    let number = |pointer: &str| result.pointer(pointer).and_then(Value::as_u64);
    let uri = text("/locations/0/physicalLocation/artifactLocation/uri")?;
    let level = match text("/level") {
        Some("note" | "none" | "warning") => GateLevel::Warning,
        _ => GateLevel::Error,
    };
    Some(GateFinding {
        file: paths.resolve(uri, folder)?,
        line: number("/locations/0/physicalLocation/region/startLine").unwrap_or_default(),
        column: number("/locations/0/physicalLocation/region/startColumn"),
        level,
        message: super::shorten(text("/message/text").unwrap_or_default()),
        rule: text("/ruleId").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_a_log() {
        let paths = Paths::new(&["src/a.c".to_owned()]);
        let log = serde_json::json!({"runs": [{"results": [
            {"ruleId": "R1", "level": "warning", "message": {"text": "m"}, "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": "file:///src/a.c"},
                 "region": {"startLine": 3, "startColumn": 2}}}]},
            {"message": {"text": "elsewhere"}, "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": "b.c"}}}]},
        ]}]});
        let found = sarif(&log.to_string(), &paths, "").expect("it is a log");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].level), (3, GateLevel::Warning));
        assert_eq!(sarif("{}", &paths, ""), None);
    }
}
