//! Compilers, type checkers and linters: one message, one place.

use super::{Reader, Remark, captures, group, level, pattern, remark};

// rustc, and what prints as it does.
pattern!(ARROW, r"^\s*--> (?P<path>.+?):(?P<line>\d+):(?P<column>\d+)$");
pattern!(RUSTC, r"^(?P<level>error|warning)(?:\[(?P<rule>[\w:]+)\])?: (?P<message>.+)$");
pattern!(RUFF, r"^(?P<rule>[A-Z]{1,6}\d{2,4}|[a-z]+(?:-[a-z]+)+):? (?:\[\*\] )?(?P<message>.+)$");
// `file:line:column: message`, with whatever compilers put around it. Gradle 4 does not end the line
// that names the task.
pattern!(
    COLON,
    r"^(?:\[(?:ERROR|WARNING)\] |vet: |:(?:\w+:)*compile(?:Test)?(?:Java|Kotlin|Groovy|Scala))?\s*(?P<path>[^:]+?):(?P<line>\d+)(?::(?P<column>\d+))?(?:[:,-]\d+)*(?: -|:)\s+(?P<rest>\S.*)$"
);
pattern!(
    LEVEL,
    r"^(?i:(?P<level>fatal error|error|warning|note|info|help))\b(?: (?P<code>TS\d+))?:?\s*(?P<message>.*)$"
);
pattern!(CODE, r"^(?P<rule>[A-Z]{1,5}\d{2,5}):? (?:\[\*\] )?(?P<message>.+)$");
pattern!(BRACKET, r"^(?P<message>.+?)\s+[\[(](?P<rule>[\w@/.=-]+)[\])]$");
pattern!(
    TSC,
    r"^(?P<path>.+?)\((?P<line>\d+),(?P<column>\d+)\): (?P<level>error|warning) (?P<rule>[A-Z]+\d+): (?P<message>.+)$"
);
pattern!(
    MAVEN,
    r"^\[(?P<level>ERROR|WARNING)\] (?P<path>.+?):\[(?P<line>\d+)(?:,(?P<column>\d+))?\] (?P<message>.+)$"
);
// ESLint: the file on a line of its own, then its messages.
pattern!(
    STYLISH,
    r"^\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<level>error|warning)\s+(?P<message>.+?)(?:\s{2,}(?P<rule>\S+))?$"
);
pattern!(
    CMAKE,
    r"^CMake (?P<level>Error|Warning)(?: \(dev\))? at (?P<path>.+?):(?P<line>\d+)(?: \(.+\))?:$"
);
pattern!(
    MAKE,
    r"^\S*make(?:\[\d+\])?: \*\*\* \[(?P<path>[^:]+):(?P<line>\d+): (?P<target>.+?)\] (?P<how>Error \d+|.+)$"
);

pub(super) fn read(reader: &mut Reader<'_>) {
    let lines = reader.lines;
    let mut stylish: Option<&str> = None;
    for (number, line) in lines.iter().enumerate() {
        if let Some(found) = captures(&ARROW, line) {
            arrow(reader, number, &found);
        } else if let Some(found) = captures(&TSC, line).or_else(|| captures(&MAVEN, line)) {
            let message = group(&found, "message").unwrap_or_default();
            reader.take(number, &remark(&found, message));
        } else if let Some(found) = captures(&CMAKE, line) {
            let message = reader.next_said(number + 1).unwrap_or_default();
            reader.take(number, &remark(&found, message));
        } else if let (Some(path), Some(found)) = (stylish, captures(&STYLISH, line)) {
            let message = group(&found, "message").unwrap_or_default();
            reader.take(number, &Remark { path, ..remark(&found, message) });
        } else if let Some(found) = captures(&COLON, line) {
            colon(reader, number, &found);
        } else if !line.starts_with(char::is_whitespace) {
            stylish = reader.resolve(line).is_some().then_some(*line);
        }
    }
}

/// The recipe that failed, which is worth telling only where nothing else is.
pub(super) fn read_make(reader: &mut Reader<'_>) {
    for (number, line) in reader.lines.iter().enumerate() {
        if let Some(found) = captures(&MAKE, line) {
            let target = group(&found, "target").unwrap_or_default();
            let how = group(&found, "how").unwrap_or_default();
            reader.take(number, &remark(&found, &format!("the target `{target}` failed: {how}")));
        }
    }
}

/// The place stands below what is said of it; notes and help have places too, and no code.
fn arrow(reader: &mut Reader<'_>, number: usize, found: &regex::Captures<'_>) {
    let Some((above, text)) = reader.said_before(number) else { return };
    let (head, number) = match captures(&RUSTC, text).or_else(|| captures(&RUFF, text)) {
        Some(head) => (head, above),
        None => return,
    };
    let place = remark(found, "");
    let remark = Remark {
        level: level(group(&head, "level").unwrap_or("error")),
        rule: group(&head, "rule"),
        message: group(&head, "message").unwrap_or_default(),
        ..place
    };
    reader.take(number, &remark);
}

fn colon(reader: &mut Reader<'_>, number: usize, found: &regex::Captures<'_>) {
    let rest = group(found, "rest").unwrap_or_default();
    let leveled = captures(&LEVEL, rest);
    let word = leveled.as_ref().and_then(|found| group(found, "level"));
    if word.is_some_and(|word| ["note", "help"].contains(&word.to_ascii_lowercase().as_str())) {
        return;
    }
    let code = leveled.as_ref().and_then(|found| group(found, "code"));
    let said = leveled.as_ref().and_then(|found| group(found, "message"));
    let text = said.filter(|text| !text.is_empty()).unwrap_or(rest);
    let coded = captures(&CODE, text).or_else(|| captures(&BRACKET, text));
    let (rule, message) = match &coded {
        Some(coded) => (group(coded, "rule"), group(coded, "message").unwrap_or(text)),
        None => (code, text.trim_start_matches([':', ' '])),
    };
    let place = remark(found, message);
    reader.take(
        number,
        &Remark { level: level(word.unwrap_or("error")), rule: code.or(rule), ..place },
    );
}
