//! Formatters: which files they would write otherwise.

use quorum_model::gate::GateLevel;

use super::{Reader, Remark, captures, group, pattern};

pattern!(DIFF, r"^Diff in (?P<path>.+?)(?::| at line )(?P<line>\d+):?$");
pattern!(NAMED, r"^(?:\[warn\] |would reformat |Would reformat: |error: )(?P<path>\S.*)$");

pub(super) fn read(reader: &mut Reader<'_>) {
    for (number, line) in reader.lines.iter().enumerate() {
        let found = captures(&DIFF, line).or_else(|| captures(&NAMED, line));
        let (path, at) = match &found {
            Some(found) => (group(found, "path"), group(found, "line")),
            // Gofmt prints names and nothing else.
            None => (Some(*line), None),
        };
        let remark = Remark {
            path: path.unwrap_or_default(),
            line: at.unwrap_or("0"),
            column: None,
            level: GateLevel::Error,
            rule: None,
            message: "the formatter would write it otherwise",
        };
        if !reader.is_taken(number) && !remark.path.trim().is_empty() {
            reader.take(number, &remark);
        }
    }
}
