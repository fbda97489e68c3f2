//! `JUnit`'s XML, which nearly every test runner can write.

use quorum_model::gate::{GateFinding, GateLevel};
use roxmltree::{Document, Node};

use crate::tree::Paths;

/// The failed tests of a report, where it names a file of the repository or a class of that name.
/// Absent where the text is no such report.
pub fn junit(text: &str, paths: &Paths, folder: &str) -> Option<Vec<GateFinding>> {
    let document = Document::parse(text).ok()?;
    let root = document.root_element();
    if !["testsuites", "testsuite"].contains(&root.tag_name().name()) {
        return None;
    }
    let cases = root.descendants().filter(|node| node.has_tag_name("testcase"));
    let mut findings = Vec::new();
    for case in cases {
        let failed =
            |node: &Node<'_, '_>| node.has_tag_name("failure") || node.has_tag_name("error");
        let Some(failure) = case.children().find(failed) else { continue };
        let Some((file, line)) = place(case, failure, paths, folder) else { continue };
        let said = failure.attribute("message").or_else(|| failure.text()).unwrap_or_default();
        let said = said.trim().lines().next().unwrap_or_default();
        let name = case.attribute("name").unwrap_or_default();
        findings.push(GateFinding {
            file,
            line,
            column: None,
            level: GateLevel::Error,
            message: super::shorten(&format!("{name}: {said}")),
            rule: failure.attribute("type").map(str::to_owned),
        });
    }
    Some(findings)
}

/// What the case names, else the first frame of its stack that is in its class or the repository.
fn place(
    case: Node<'_, '_>,
    failure: Node<'_, '_>,
    paths: &Paths,
    folder: &str,
) -> Option<(String, u64)> {
    if let Some(file) = case.attribute("file")
        && let Some(file) = paths.resolve(file, folder)
    {
        let line = case.attribute("line").and_then(|line| line.parse().ok());
        return Some((file, line.unwrap_or_default()));
    }
    let stack = failure.text().unwrap_or_default();
    for line in stack.lines() {
        let inner = line.rsplit_once('(').map_or(line, |(_, inner)| inner);
        let inner = inner.trim().trim_end_matches(')');
        let mut parts = inner.splitn(3, ':');
        if let (Some(path), Some(number)) = (parts.next(), parts.next())
            && let Ok(number) = number.trim().parse()
            && let Some(file) = paths.resolve(path.trim(), folder)
        {
            return Some((file, number));
        }
    }
    let class = case.attribute("classname")?;
    let folders = class.replace('.', "/");
    let endings = ["java", "kt", "py", "cs"];
    let file = endings.iter().find_map(|ending| {
        let named = paths.resolve(&format!("{folders}.{ending}"), folder);
        // Python's class is the last part of a module's name.
        let module = folders.rsplit_once('/').map(|(module, _)| format!("{module}.{ending}"));
        named.or_else(|| paths.resolve(&module?, folder))
    })?;
    Some((file, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_have_places() {
        let paths = ["src/test/java/p/CalcTest.java", "tests/test_a.py", "web/a.test.ts"];
        let paths = Paths::new(&paths.map(str::to_owned));
        let text = r#"<?xml version="1.0"?>
<testsuites><testsuite name="s">
  <testcase classname="p.CalcTest" name="adds"><failure message="expected: 3" type="E">org.E: expected: 3
	at org.junit.Assert.fail(Assert.java:9)
	at p.CalcTest.adds(CalcTest.java:12)</failure></testcase>
  <testcase classname="p.CalcTest" name="fine"/>
  <testcase classname="tests.test_a.TestA" name="t"><error message="boom">no stack</error></testcase>
  <testcase name="w" file="web/a.test.ts" line="7"><failure>first
second</failure></testcase>
</testsuite></testsuites>"#;
        let found = junit(text, &paths, "").expect("it is a report");
        let short: Vec<(&str, u64, &str)> = found
            .iter()
            .map(|found| (found.file.as_str(), found.line, found.message.as_str()))
            .collect();
        assert_eq!(
            short,
            [
                ("src/test/java/p/CalcTest.java", 12, "adds: expected: 3"),
                ("tests/test_a.py", 0, "t: boom"),
                ("web/a.test.ts", 7, "w: first"),
            ]
        );
        assert_eq!(junit("<coverage/>", &paths, ""), None);
        assert_eq!(junit("no xml", &paths, ""), None);
    }
}
