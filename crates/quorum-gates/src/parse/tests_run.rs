//! Test runners: which test failed, what it said, and where.

use super::{Reader, Remark, captures, group, pattern, remark};

pattern!(
    RUST_PANIC,
    r"^thread '(?P<test>.+?)'(?: \(\d+\))? panicked at (?P<path>.+?):(?P<line>\d+):(?P<column>\d+):$"
);
// A function that was inlined has no offset.
pattern!(GO_FRAME, r"^\s+(?P<path>\S+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$");
pattern!(PYTEST_SAID, r"^E\s+(?P<message>\S.*)$");
pattern!(
    SUREFIRE,
    r"^\[ERROR\]\s+(?:[\w.]+\.)?(?P<class>\w+)\.(?P<test>\w+):(?P<line>\d+)(?:->\S+)? (?P<message>.+)$"
);
pattern!(
    GRADLE,
    r"^\s+(?P<message>\S*(?:Error|Exception|Failure)\S*.*?) at (?P<path>\w+\.(?:java|kt|groovy|scala)):(?P<line>\d+)$"
);
pattern!(JAVA_FRAME, r"^\s+at .*\((?P<path>\w+\.(?:java|kt|groovy|scala)):(?P<line>\d+)\)$");
pattern!(
    SCRIPT_FRAME,
    r"^\s+(?:at )?(?:.*[ (])?(?:file://)?(?P<path>/?[^\s():]+\.[cm]?[jt]sx?):(?P<line>\d+):(?P<column>\d+)\)?$"
);
pattern!(
    ASSERTION,
    r"(?:^|\s)(?P<path>[^\s:]+\.\w+):(?P<line>\d+): (?P<message>.*Assertion .+ failed.*)$"
);

/// What heads the report of one failure, in the words of runners that print stacks.
const HEADINGS: [&str; 12] = [
    "not ok ",
    "✖ ",
    "✕ ",
    "● ",
    "× ",
    "FAIL ",
    "Error:",
    "AssertionError",
    "error:",
    "Exception",
    "expected",
    "panic: ",
];

pub(super) fn read(reader: &mut Reader<'_>) {
    rust(reader);
    pytest(reader);
    java(reader);
    stacks(reader);
}

fn rust(reader: &mut Reader<'_>) {
    for (number, line) in reader.lines.iter().enumerate() {
        if let Some(found) = captures(&RUST_PANIC, line) {
            let test = group(&found, "test").unwrap_or_default();
            let said = reader.next_said(number + 1).unwrap_or_default();
            reader.take(number, &remark(&found, &format!("{test}: {said}")));
        } else if let Some(found) = captures(&ASSERTION, line)
            && !reader.is_taken(number)
        {
            let message = group(&found, "message").unwrap_or_default();
            reader.take(number, &remark(&found, message));
        }
    }
}

/// Pytest says `E   assert 1 == 2` and then `test_a.py:3: AssertionError`, which is taken already.
fn pytest(reader: &mut Reader<'_>) {
    let mut said: Option<(usize, String)> = None;
    for (number, line) in reader.lines.iter().enumerate() {
        if let Some(found) = captures(&PYTEST_SAID, line) {
            let message = group(&found, "message").unwrap_or_default();
            said.get_or_insert_with(|| (number, message.to_owned()));
        } else if let Some(index) = reader.found.iter().position(|(taken, _)| *taken == number)
            && let Some((first, message)) = said.take()
        {
            let (taken, finding) = &mut reader.found[index];
            finding.rule = Some(std::mem::replace(&mut finding.message, message));
            *taken = first;
        }
    }
}

fn java(reader: &mut Reader<'_>) {
    for (number, line) in reader.lines.iter().enumerate() {
        if let Some(found) = captures(&SUREFIRE, line) {
            let class = group(&found, "class").unwrap_or_default();
            let test = group(&found, "test").unwrap_or_default();
            let said = group(&found, "message").unwrap_or_default();
            let message = format!("{class}.{test}: {said}");
            for ending in ["java", "kt"] {
                let path = format!("{class}.{ending}");
                if reader.take(number, &Remark { path: &path, ..remark(&found, &message) }) {
                    break;
                }
            }
        } else if let Some(found) = captures(&GRADLE, line) {
            let said = group(&found, "message").unwrap_or_default();
            let test = reader.said_before(number).map(|(_, line)| line.trim()).unwrap_or_default();
            let test = test.trim_end_matches(" FAILED");
            reader.take(number, &remark(&found, &format!("{test}: {said}")));
        }
    }
}

/// The first frame of the repository's own below a heading.
fn stacks(reader: &mut Reader<'_>) {
    let mut heading: Option<(usize, &str)> = None;
    for (number, line) in reader.lines.iter().enumerate() {
        let frame = captures(&SCRIPT_FRAME, line)
            .or_else(|| captures(&JAVA_FRAME, line))
            .or_else(|| captures(&GO_FRAME, line));
        match (frame, heading) {
            (Some(found), Some((from, text))) => {
                let place = remark(&found, text.trim());
                // A runner that sums up has named it with the test.
                let known = reader.knows(&place);
                if known || (!reader.is_taken(from) && reader.take(from, &place)) {
                    heading = None;
                }
            }
            (None, _) => {
                let trimmed = line.trim_start();
                // A test's name says more than the assertion in it, so the first heading stays
                // until a place was found for it or another test begins.
                let starts = HEADINGS.iter().any(|word| trimmed.contains(word));
                let another = ["not ok ", "✖ ", "✕ ", "● ", "× "];
                let another = another.iter().any(|mark| trimmed.starts_with(mark));
                if starts && (heading.is_none() || another) {
                    heading = Some((number, line));
                }
            }
            (Some(_), None) => {}
        }
    }
}
