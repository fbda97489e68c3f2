//! How much of the code the tests ran, from the reports that coverage tools write.

use serde_json::Value;

/// The coverage in percent that a report states; absent where it is no report that is known.
pub fn percent(text: &str) -> Option<f64> {
    let trimmed = text.trim_start();
    let found = if trimmed.starts_with("mode:") {
        go(trimmed)
    } else if trimmed.starts_with('{') {
        json(trimmed)
    } else if trimmed.starts_with('<') {
        xml(trimmed)
    } else {
        lcov(trimmed)
    };
    found.filter(|percent| (0.0..=100.0).contains(percent))
}

/// The share that a runner's own closing line states, where it wrote no report.
pub fn percent_printed(output: &str) -> Option<f64> {
    let total = output.lines().rev().find(|line| {
        let line = line.trim_start();
        line.starts_with("TOTAL ") || line.starts_with("All files ") || line.starts_with("total:")
    })?;
    let fields = total.split(|c: char| c.is_whitespace() || c == '|');
    let mut numbers = fields.filter_map(|field| {
        let number = field.strip_suffix('%').or_else(|| {
            total.starts_with("All files").then_some(field).filter(|field| field.contains('.'))
        });
        number?.parse::<f64>().ok()
    });
    numbers.next().filter(|percent| (0.0..=100.0).contains(percent))
}

fn share(covered: u64, all: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
    (all > 0).then(|| 100.0 * covered as f64 / all as f64)
}

/// `file.go:1.2,3.4 STATEMENTS COUNT`; a block may stand there once for each package that ran it.
fn go(text: &str) -> Option<f64> {
    let mut blocks: std::collections::BTreeMap<&str, (u64, bool)> =
        std::collections::BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut fields = line.rsplitn(3, ' ');
        let count: u64 = fields.next()?.parse().ok()?;
        let statements: u64 = fields.next()?.parse().ok()?;
        let block = blocks.entry(fields.next()?).or_insert((statements, false));
        block.1 |= count > 0;
    }
    let all = blocks.values().map(|(statements, _)| statements).sum();
    let run = blocks.values().filter(|(_, run)| *run).map(|(statements, _)| statements).sum();
    share(run, all)
}

fn lcov(text: &str) -> Option<f64> {
    let sum = |prefix: &str| -> u64 {
        let counts = text.lines().filter_map(|line| line.strip_prefix(prefix));
        counts.filter_map(|count| count.trim().parse::<u64>().ok()).sum()
    };
    share(sum("LH:"), sum("LF:"))
}

/// Istanbul's summary, coverage.py's report, and the export of llvm-cov.
fn json(text: &str) -> Option<f64> {
    let report: Value = serde_json::from_str(text).ok()?;
    let places = ["/total/lines/pct", "/totals/percent_covered", "/data/0/totals/lines/percent"];
    places.iter().find_map(|place| report.pointer(place)?.as_f64())
}

/// Cobertura and `JaCoCo`.
fn xml(text: &str) -> Option<f64> {
    // JaCoCo names a definition of its form, which is not looked up.
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(text, options).ok()?;
    let root = document.root_element();
    if let Some(rate) = root.attribute("line-rate") {
        return rate.parse::<f64>().ok().map(|rate| rate * 100.0);
    }
    let counters = root.children().filter(|node| node.has_tag_name("counter"));
    let lines = counters.into_iter().find(|node| node.attribute("type") == Some("LINE"))?;
    let number = |name: &str| lines.attribute(name)?.parse::<u64>().ok();
    let (missed, covered) = (number("missed")?, number("covered")?);
    share(covered, missed + covered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_states_its_share() {
        let jacoco = "<?xml version=\"1.0\"?><!DOCTYPE report PUBLIC \"-//JACOCO//DTD\" \"report.dtd\">\
                      <report name=\"x\"><counter type=\"INSTRUCTION\" missed=\"1\" covered=\"1\"/>\
                      <counter type=\"LINE\" missed=\"1\" covered=\"3\"/></report>";
        for (text, wanted) in [
            ("mode: set\na.go:1.1,2.2 3 1\na.go:3.1,4.2 1 0\nb.go:1.1,2.2 4 0\n", Some(37.5)),
            ("mode: set\na.go:1.1,2.2 1 0\na.go:1.1,2.2 1 7\n", Some(100.0)),
            ("TN:\nSF:a.rs\nLF:10\nLH:9\nend_of_record\nSF:b\nLF:10\nLH:1\n", Some(50.0)),
            (r#"{"total": {"lines": {"total": 4, "pct": 75}}}"#, Some(75.0)),
            (r#"{"meta": {}, "totals": {"percent_covered": 81.25}}"#, Some(81.25)),
            (r#"{"data": [{"totals": {"lines": {"percent": 66.5}}}]}"#, Some(66.5)),
            (r#"<coverage line-rate="0.5" version="1"/>"#, Some(50.0)),
            (jacoco, Some(75.0)),
            ("mode: set\n", None),
            ("", None),
            ("{}", None),
            (r#"<coverage line-rate="7"/>"#, None),
        ] {
            assert_eq!(percent(text), wanted, "{text}");
        }
    }

    #[test]
    fn closing_lines_state_it_too() {
        let pytest = "a.py   10   2   80%\nTOTAL  20   3   85%\n";
        assert_eq!(percent_printed(pytest), Some(85.0));
        let istanbul = "File      | % Stmts |\nAll files |   83.33 |   50 |\n a.js | 1.0 |\n";
        assert_eq!(percent_printed(istanbul), Some(83.33));
        let go = "total:\t(statements)\t61.5%\n";
        assert_eq!(percent_printed(go), Some(61.5));
        assert_eq!(percent_printed("ok"), None);
    }
}
