//! Languages that say what went wrong below the way that led there.

use quorum_model::gate::GateLevel;

use super::{Reader, Remark, captures, group, pattern};

pattern!(PYTHON_FRAME, r#"^\s*File "(?P<path>.+?)", line (?P<line>\d+)"#);
pattern!(
    PYTHON_ERROR,
    r"^(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure|Warning)\w*)(?:: (?P<message>.*))?$"
);
// Node before it runs: a place by itself, the code, then the error.
pattern!(NODE_PLACE, r"^(?:file://)?(?P<path>\S.*?):(?P<line>\d+)$");
pattern!(NODE_ERROR, r"^(?P<kind>\w*Error)(?: \[\w+\])?: (?P<message>.+)$");

pub(super) fn read(reader: &mut Reader<'_>) {
    python(reader);
    node(reader);
}

/// The last frame that is the repository's own is where to look.
fn python(reader: &mut Reader<'_>) {
    let mut frame: Option<(&str, &str)> = None;
    for (number, line) in reader.lines.iter().enumerate() {
        if let Some(found) = captures(&PYTHON_FRAME, line) {
            let path = group(&found, "path").unwrap_or_default();
            if reader.resolve(path).is_some() {
                frame = Some((path, group(&found, "line").unwrap_or_default()));
            }
        } else if let (Some((path, place)), Some(found)) = (frame, captures(&PYTHON_ERROR, line)) {
            frame = None;
            let kind = group(&found, "kind").unwrap_or_default();
            reader.take(number, &error(path, place, Some(kind), line));
        }
    }
}

fn node(reader: &mut Reader<'_>) {
    let mut place: Option<(usize, &str, &str)> = None;
    for (number, line) in reader.lines.iter().enumerate() {
        if let Some(found) = captures(&NODE_PLACE, line) {
            let path = group(&found, "path").unwrap_or_default();
            if reader.resolve(path).is_some() {
                place = Some((number, path, group(&found, "line").unwrap_or_default()));
            }
        } else if let (Some((from, path, at)), Some(found)) = (place, captures(&NODE_ERROR, line)) {
            place = None;
            // The error follows its place closely: the code and a mark stand between.
            if number - from <= 8 {
                let kind = group(&found, "kind").unwrap_or_default();
                reader.take(from, &error(path, at, Some(kind), line));
            }
        }
    }
}

fn error<'l>(path: &'l str, line: &'l str, rule: Option<&'l str>, message: &'l str) -> Remark<'l> {
    Remark { path, line, column: None, level: GateLevel::Error, rule, message }
}
