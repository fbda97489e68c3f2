//! Whether a test command ran any test: runners that find none often call that a success.

use std::sync::LazyLock;

use regex::Regex;

/// A line in which a runner says how many tests there were, with the number in `n`; `skipped` of
/// them did not run.
struct Count {
    line: LazyLock<Regex>,
}

macro_rules! counts {
    ($($pattern:literal),* $(,)?) => {
        [$(Count { line: LazyLock::new(|| {
            Regex::new($pattern).expect("a fixed pattern")
        }) }),*]
    };
}

/// Each in its runner's own words.
static COUNTS: [Count; 21] = counts![
    // unittest; its next line says how many of them were skipped
    r"^Ran (?P<n>\d+) tests? in ",
    // pytest, with and without `-q`
    r"^(?:=+ )?(?:.*, )?(?P<n>\d+) (?:passed|failed|errors?|xfailed|xpassed)\b.* in [\d.]+ ?s",
    // cargo test, and cargo nextest
    r"^running (?P<n>\d+) tests?$",
    r"^\s*Summary \[[^\]]*\]\s+(?P<n>\d+) tests? run:",
    // jest, and vitest
    r"^Tests:\s.*?(?P<n>\d+) (?:passed|failed)",
    r"^\s*Tests\s+(?:.*\| )?(?P<n>\d+) (?:passed|failed)",
    // mocha
    r"^\s*(?P<n>\d+) (?:passing|failing)\b",
    // node --test, in both of its forms
    r"^(?:# |ℹ )tests (?P<n>\d+)$",
    // bun
    r"^Ran (?P<n>\d+) tests? across ",
    // ava, and tap
    r"^\s*(?P<n>\d+) tests? passed$",
    r"^# pass\s+(?P<n>\d+)",
    // jasmine, and karma
    r"^(?P<n>\d+) specs?, \d+ failures?",
    r"Executed (?P<n>\d+) of \d+",
    // Surefire
    r"Tests run: (?P<n>\d+), Failures: ",
    // ctest
    r"tests failed out of (?P<n>\d+)$",
    // PHPUnit
    r"^OK \((?P<n>\d+) tests?,",
    r"^Tests: (?P<n>\d+), Assertions: ",
    // RSpec, minitest, test-unit and ExUnit
    r"^(?P<n>\d+) examples?, \d+ failures?",
    r"^(?P<n>\d+) (?:runs|tests), \d+ (?:assertions|failures)",
    // dotnet
    r"Passed:\s+(?P<n>\d+),",
    // Swift
    r"^\s*Executed (?P<n>\d+) tests?, with ",
];

/// What a runner says that found nothing, as a part of a line.
const NONE: [&str; 19] = [
    "no tests ran",
    "no tests collected",
    "collected 0 items",
    "[no test files]",
    "[no tests to run]",
    "No tests found",
    "No test files found",
    "No test suite found",
    "No specs found",
    "No tests were found",
    "No tests to run",
    "No tests executed",
    "No test is available in",
    "No test matches",
    "No tests match",
    "No tests ran",
    "No test modules found",
    "There are no tests to run",
    ":test NO-SOURCE",
];

/// Whether the output says that no test ran: it says so in words or as a count of zero, and nowhere
/// that one did.
pub(crate) fn none(output: &str) -> bool {
    let mut said_none = false;
    let mut ran = 0_u64;
    let mut last = 0;
    for line in output.lines() {
        let line = line.trim_end();
        if NONE.iter().any(|words| line.contains(words)) {
            said_none = true;
            continue;
        }
        if ran_in_go(line) || ran_in_gradle(line) {
            return false;
        }
        if let Some(skipped) = skipped_of_unittest(line) {
            ran = ran.saturating_sub(skipped.min(last));
            said_none |= skipped > 0;
        }
        if let Some(count) = counted(line) {
            said_none |= count == 0;
            ran = ran.saturating_add(count);
            last = count;
        } else if only_skipped(line) {
            said_none = true;
        }
    }
    said_none && ran == 0
}

fn counted(line: &str) -> Option<u64> {
    let found = COUNTS.iter().find_map(|count| count.line.captures(line))?;
    found.name("n")?.as_str().parse().ok()
}

/// `ok`, the package and a time, with tabs between them: a package's tests ran.
fn ran_in_go(line: &str) -> bool {
    let mut fields = line.split('\t');
    fields.next().is_some_and(|first| matches!(first.trim_end(), "ok" | "FAIL" | "--- FAIL"))
        && fields.next().is_some()
}

/// `> Task :app:test`, without a word of why it was not done.
fn ran_in_gradle(line: &str) -> bool {
    line.strip_prefix("> Task :").is_some_and(|task| {
        let name = task.rsplit(':').next().unwrap_or(task);
        name == "test" || name == "test FAILED" || name == "test UP-TO-DATE"
    })
}

/// `OK (skipped=3)`, after unittest said how many there were.
fn skipped_of_unittest(line: &str) -> Option<u64> {
    let inside = line.strip_prefix("OK (")?.strip_suffix(')')?;
    inside.split(", ").find_map(|part| part.strip_prefix("skipped=")?.parse().ok())
}

/// Pytest's last line where all that it found was skipped or left out.
fn only_skipped(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    let Some((counts, time)) = line.rsplit_once(" in ") else { return false };
    let is_time = time.trim_end().ends_with('s') && time.starts_with(|c: char| c.is_ascii_digit());
    let mut words = counts.split(", ").map(|part| part.split_once(' '));
    is_time
        && words.all(|part| {
            part.is_some_and(|(number, what)| {
                number.bytes().all(|byte| byte.is_ascii_digit())
                    && matches!(what, "skipped" | "deselected" | "warning" | "warnings")
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for count in &COUNTS {
            assert!(count.line.capture_names().flatten().any(|name| name == "n"));
        }
    }

    #[test]
    fn no_test_is_told_from_some() {
        for (output, wanted) in [
            ("\n----\nRan 0 tests in 0.000s\n\nOK\n", true),
            ("NO TESTS RAN\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", true),
            (".\n----\nRan 1 test in 0.001s\n\nOK\n", false),
            ("Ran 0 tests in 0.0s\n\nOK\n..\nRan 2 tests in 0.0s\n\nOK\n", false),
            ("sss\nRan 3 tests in 0.0s\n\nOK (skipped=3)\n", true),
            ("s..\nRan 3 tests in 0.0s\n\nOK (skipped=1)\n", false),
            ("\nno tests ran in 0.01s\n", true),
            ("collected 0 items\n\n==== no tests ran in 0.02s ====\n", true),
            ("..  [100%]\n2 passed in 0.03s\n", false),
            ("=== 1 failed, 2 passed, 1 warning in 0.12s ===\n", false),
            ("ss [100%]\n2 skipped in 0.01s\n", true),
            ("=== 2 skipped, 3 deselected in 0.01s ===\n", true),
            ("=== 1 passed, 2 skipped in 0.01s ===\n", false),
            (
                "?   \texample.com/m\t[no test files]\n?   \texample.com/m/a\t[no test files]\n",
                true,
            ),
            ("?   \texample.com/m\t[no test files]\nok  \texample.com/m/a\t0.002s\n", false),
            ("ok  \texample.com/m/a\t(cached)\n", false),
            ("ok  \texample.com/m/a\t0.002s [no tests to run]\n", true),
            (
                "     Running unittests src/lib.rs\n\nrunning 0 tests\n\ntest result: ok. 0 passed\n\n   \
              Doc-tests a\n\nrunning 0 tests\n",
                true,
            ),
            ("running 0 tests\n\nrunning 1 test\ntest a ... ok\n", false),
            ("     Summary [   0.012s] 3 tests run: 3 passed, 0 skipped\n", false),
            ("No tests found, exiting with code 0\n", true),
            ("Tests:       3 passed, 3 total\nTime: 1 s\n", false),
            ("Tests:       2 skipped, 1 passed, 3 total\n", false),
            ("No test files found, exiting with code 0\n", true),
            (" Test Files  1 passed (1)\n      Tests  3 passed (3)\n", false),
            ("\n  0 passing (1ms)\n", true),
            ("\n  4 passing (1ms)\n", false),
            ("# tests 0\n# suites 0\n# pass 0\n", true),
            ("ℹ tests 2\nℹ pass 2\n", false),
            ("[INFO] No tests to run.\n", true),
            ("Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n", true),
            ("[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n", false),
            ("> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n", true),
            ("> Task :a:test NO-SOURCE\n> Task :b:test\n\nBUILD SUCCESSFUL in 1s\n", false),
            ("100% tests passed, 0 tests failed out of 4\n", false),
            ("No tests were found!!!\n", true),
            ("No tests executed!\n", true),
            ("OK (3 tests, 4 assertions)\n", false),
            ("0 examples, 0 failures\n", true),
            ("7 examples, 0 failures\n", false),
            ("0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n", true),
            ("3 runs, 3 assertions, 0 failures, 0 errors, 0 skips\n", false),
            // A runner that says nothing is believed.
            ("all good\n", false),
            ("", false),
        ] {
            assert_eq!(none(output), wanted, "{output}");
        }
    }
}
