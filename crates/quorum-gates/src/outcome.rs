//! From what a command did to the outcome of its check.

use quorum_model::gate::{GateCheck, GateCoverage, GateResult, GateStatus};

use crate::cut::cut;
use crate::sandbox::End;
use crate::tree::Paths;
use crate::{coverage, missing, parse, ran};

/// What a command did.
#[derive(Clone, Debug)]
pub struct Done<'a> {
    /// How it ended.
    pub end: &'a End,
    /// What it printed, cleaned.
    pub output: &'a str,
    /// How long it took.
    pub duration_ms: u64,
    /// The texts of the reports that it wrote.
    pub reports: &'a [String],
}

/// How outputs are read and shortened.
pub struct Reading<'a> {
    /// The files of the repository.
    pub paths: &'a Paths,
    /// The most tokens of an output.
    pub limit: u64,
    /// Counts tokens.
    pub count: &'a dyn Fn(&str) -> u64,
    /// Whether the command could reach the network.
    pub network: bool,
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Why a command failed that had to fetch something.
const NEEDS_NETWORK: &str = "it needs the network; install packages beforehand, or set `gates.network = true` \
                             in your own configuration";

/// Why a command was not started.
const REFUSED: &str = "nothing would keep it from this user's files";

/// Why a command that ended well proves nothing.
const NO_TESTS: &str = "it ran no tests";

/// What pytest, and unittest of newer Pythons, end with when they found no test.
const FOUND_NO_TESTS: i32 = 5;

/// Whether a test command ran to its end without a single test.
fn ran_nothing(check: &GateCheck, done: &Done<'_>) -> bool {
    let ended = matches!(done.end, End::Exited(0 | FOUND_NO_TESTS));
    ended && check.category == quorum_model::gate::GateCategory::Test && ran::none(done.output)
}

/// The outcome of `check`.
pub fn outcome(check: &GateCheck, done: &Done<'_>, reading: &Reading<'_>) -> GateResult {
    let folder = &check.working_dir;
    let mut result = without_run(check, GateStatus::Passed, None);
    result.duration_ms = done.duration_ms;
    (result.status, result.exit_code, result.reason) = match done.end {
        End::Exited(0) => (GateStatus::Passed, Some(0), None),
        End::Exited(code) => {
            let (status, reason) = failure(*code, done.output, reading.network);
            (status, Some(*code), reason)
        }
        End::Killed(signal) => {
            (GateStatus::Failed, None, Some(format!("it was ended by signal {signal}")))
        }
        End::TimedOut => {
            let reason = format!("it did not end within {} s", check.timeout);
            (GateStatus::TimedOut, None, Some(reason))
        }
        End::OverLimit(what) => (GateStatus::Failed, None, Some(format!("it used {what}"))),
        End::Lost(why) => (GateStatus::Failed, None, Some(why.clone())),
        End::Refused => (GateStatus::NotRun, None, Some(REFUSED.to_owned())),
    };
    if result.reason.is_none() && ran_nothing(check, done) {
        (result.status, result.reason) = (GateStatus::NotRun, Some(NO_TESTS.to_owned()));
    }
    measure(check, done, &mut result);
    let parsed = parse::output(done.output, check.category, reading.paths, folder);
    if result.status != GateStatus::Passed {
        let texts = done.reports.iter().map(String::as_str).chain([done.output]);
        let reported = texts.flat_map(|text| {
            let junit = parse::junit(text, reading.paths, folder);
            junit.or_else(|| parse::sarif(text, reading.paths, folder)).unwrap_or_default()
        });
        // What a tool prints and reports as well is one thing.
        let known: Vec<(String, u64)> =
            parsed.findings.iter().map(|found| (found.file.clone(), found.line)).collect();
        let reported = reported.filter(|found| {
            !known
                .iter()
                .any(|(file, line)| *file == found.file && (*line == found.line || found.line == 0))
        });
        result.findings = parse::tidy(parsed.findings.into_iter().chain(reported));
        result.output =
            cut(done.output.trim_end(), parsed.first_error, reading.limit, reading.count);
    } else if check.category != quorum_model::gate::GateCategory::Test {
        // Warnings of a build that passed are worth a reviewer's look; what tests print is not.
        result.findings = parsed.findings;
    }
    result
}

/// What an exit code that is not zero means: often that something the check needs is not there.
fn failure(code: i32, output: &str, network: bool) -> (GateStatus, Option<String>) {
    if let Some(tool) = missing::tool(code, output) {
        return (GateStatus::NotRun, Some(format!("`{tool}` is not installed")));
    }
    let cut_off = !network && missing::network(output);
    (GateStatus::Failed, cut_off.then(|| NEEDS_NETWORK.to_owned()))
}

/// Coverage, and whether it is enough.
fn measure(check: &GateCheck, done: &Done<'_>, result: &mut GateResult) {
    let measures = check.category == quorum_model::gate::GateCategory::Coverage;
    if !measures && check.threshold.is_none() {
        return;
    }
    let reported = done.reports.iter().find_map(|text| coverage::percent(text));
    let percent = reported.or_else(|| coverage::percent_printed(done.output));
    let threshold = check.threshold;
    result.coverage = percent.map(|percent| GateCoverage { percent, threshold });
    if result.status != GateStatus::Passed {
        return;
    }
    match (percent, threshold) {
        (Some(percent), Some(threshold)) if percent < threshold => {
            result.status = GateStatus::Failed;
            let reason = format!("coverage is {percent:.1} %, and {threshold:.1} % is asked for");
            result.reason = Some(reason);
        }
        (None, Some(_)) => {
            result.status = GateStatus::Failed;
            let reason = "it left no coverage report that can be read";
            result.reason = Some(reason.to_owned());
        }
        _ => {}
    }
}

/// The outcome of a check that did not run.
pub fn without_run(check: &GateCheck, status: GateStatus, reason: Option<String>) -> GateResult {
    GateResult {
        name: check.name.clone(),
        command: check.command.clone(),
        required: check.required,
        status,
        exit_code: None,
        output: String::new(),
        category: check.category,
        preset: check.preset.clone(),
        working_dir: check.working_dir.clone(),
        duration_ms: 0,
        reason,
        findings: Vec::new(),
        coverage: None,
    }
}

/// An output as people read it: no colours, no overwritten lines, no scratch folder in its paths.
pub fn clean(output: &str, scratch: &[String]) -> String {
    let mut text = without_escapes(output);
    for folder in scratch {
        // `file:///scratch/tree/a` and `/scratch/tree/a` both become `a`.
        text = text.replace(&format!("file://{folder}/"), "");
        text = text.replace(&format!("{folder}/"), "");
        text = text.replace(folder.as_str(), ".");
    }
    let lines = text.split('\n').map(|line| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => match characters.next() {
                Some('[') => while characters.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']') => {
                    while characters.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {}
                }
                _ => {}
            },
            '\n' | '\t' | '\r' => plain.push(character),
            character if character.is_control() => {}
            character => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::select;
    use crate::tree::Listed;
    use quorum_model::config::GatesConfig;

    fn words(text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    fn decided(check: &GateCheck, end: &End, output: &str, reports: &[String]) -> GateResult {
        let paths = Paths::new(&["main.go".to_owned()]);
        let reading = Reading { paths: &paths, limit: 50, count: &words, network: false };
        outcome(check, &Done { end, output, duration_ms: 7, reports }, &reading)
    }

    fn go(name: &str) -> GateCheck {
        let text = r#"{"overrides": [{"name": "coverage", "threshold": 80}]}"#;
        let config: GatesConfig = serde_json::from_str(text).unwrap();
        let checks = select(&config, &[&Listed::of(&[("go.mod", ""), ("a_test.go", "")])]).unwrap();
        checks.into_iter().find(|check| check.name == name).unwrap()
    }

    #[test]
    fn an_end_becomes_a_status_with_its_reason() {
        let build = go("build");
        let said = |end: End, output: &str| {
            let result = decided(&build, &end, output, &[]);
            (result.status, result.outcome())
        };
        assert_eq!(said(End::Exited(0), "").0, GateStatus::Passed);
        let failed = said(End::Exited(2), "./main.go:3:1: undefined: x");
        assert_eq!(failed, (GateStatus::Failed, "failed with exit code 2".to_owned()));
        let missing = said(End::Exited(127), "/bin/sh: 1: go: not found");
        assert_eq!(missing.0, GateStatus::NotRun);
        assert_eq!(missing.1, "did not run: `go` is not installed");
        let cut_off = said(End::Exited(1), "m@v1: module lookup disabled by GOPROXY=off");
        assert_eq!(cut_off.0, GateStatus::Failed);
        assert!(cut_off.1.starts_with("failed: it needs the network;"), "{}", cut_off.1);
        assert_eq!(said(End::TimedOut, "").1, "took too long: it did not end within 300 s");
        let over = said(End::OverLimit("9 MiB of memory, of 8".to_owned()), "");
        assert_eq!(over, (GateStatus::Failed, "failed: it used 9 MiB of memory, of 8".to_owned()));
    }

    #[test]
    fn a_failure_has_its_places_and_what_was_said_first() {
        let noise = "noise\n".repeat(100);
        let output = format!("{noise}./main.go:3:1: undefined: x\n{noise}");
        let result = decided(&go("build"), &End::Exited(1), &output, &[]);
        assert_eq!((result.findings[0].file.as_str(), result.findings[0].line), ("main.go", 3));
        assert!(result.output.contains("undefined: x") && words(&result.output) <= 50);
        let passed = decided(&go("build"), &End::Exited(0), &output, &[]);
        assert_eq!(passed.output, "");
    }

    #[test]
    fn coverage_below_its_threshold_fails() {
        let coverage = go("coverage");
        let report =
            |run: u64| vec![format!("mode: set\na.go:1.1,2.2 4 1\nb.go:1.1,2.2 1 {run}\n")];
        let low = decided(&coverage, &End::Exited(0), "", &report(0));
        assert_eq!(low.status, GateStatus::Passed, "80 % is not below 80 %");
        let config = GateCheck { threshold: Some(90.0), ..coverage };
        let low = decided(&config, &End::Exited(0), "", &report(0));
        assert_eq!(low.outcome(), "failed: coverage is 80.0 %, and 90.0 % is asked for");
        let full = decided(&config, &End::Exited(0), "", &report(1));
        assert_eq!(full.coverage.map(|coverage| coverage.percent), Some(100.0));
        let none = decided(&config, &End::Exited(0), "", &[]);
        assert_eq!(none.status, GateStatus::Failed);
    }

    #[test]
    fn a_test_command_that_ran_no_test_did_not_pass() {
        let none = "?   \tm\t[no test files]\n";
        let result = decided(&go("test"), &End::Exited(0), none, &[]);
        assert_eq!((result.status, result.blocks()), (GateStatus::NotRun, true));
        assert_eq!(result.outcome(), "did not run: it ran no tests");
        let optional = GateCheck { required: false, ..go("test") };
        assert!(!decided(&optional, &End::Exited(0), none, &[]).blocks());
        let pytest = decided(&go("test"), &End::Exited(5), "no tests ran in 0.01s\n", &[]);
        assert_eq!(pytest.outcome(), "did not run: it ran no tests");
        let failed = decided(&go("test"), &End::Exited(1), none, &[]);
        assert_eq!(failed.status, GateStatus::Failed);
        // A build says nothing about tests.
        assert_eq!(decided(&go("build"), &End::Exited(0), none, &[]).status, GateStatus::Passed);
    }

    #[test]
    fn an_output_reads_as_if_it_ran_in_the_repository() {
        let text = "\u{1b}[31merror\u{1b}[0m: /s/tree/src/a.rs:1\r\n10%\r100%\nin /s/tree\u{7}\n";
        let clean = clean(text, &["/s/tree".to_owned()]);
        assert_eq!(clean, "error: src/a.rs:1\n100%\nin .\n");
    }
}
