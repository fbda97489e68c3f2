//! What a review costs where a change is made to cost much.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Functions of which each runs what a request says.
fn vulnerable(functions: usize) -> String {
    let mut text = String::from("import os\nfrom flask import request\n\n");
    for number in 0..functions {
        let _ = writeln!(text, "def f{number}():\n    os.system(request.args.get('n{number}'))\n");
    }
    text
}

/// Reviews the work tree; gives the time that it took and the result.
fn review(sandbox: &Sandbox) -> (Duration, Value) {
    let start = Instant::now();
    let output = sandbox.quorum(&["review", "--format", "json"]);
    (start.elapsed(), serde_json::from_slice(&output.stdout).expect("a result"))
}

#[test]
fn findings_cost_in_proportion_and_none_is_lost() {
    let mut took = Vec::new();
    for functions in [400, 4_000] {
        let sandbox = Sandbox::new();
        sandbox.write("app.py", vulnerable(functions));
        let (first, result) = review(&sandbox);
        let found = |result: &Value, list: &str| result[list].as_array().map_or(0, Vec::len);
        assert_eq!(found(&result, "findings"), functions, "none is lost");
        // Each of them is found again.
        let (again, result) = review(&sandbox);
        let findings = result["findings"].as_array().expect("findings");
        assert!(findings.iter().all(|one| one["state"] == "persisting"), "all are known");
        // Each of them is looked for again where it was, and is gone.
        sandbox.write("app.py", vulnerable(functions).replace("os.system", "print"));
        let (second, result) = review(&sandbox);
        let resolved = result["history"].as_array().expect("a history");
        let resolved = resolved.iter().filter(|one| one["state"] == "resolved").count();
        assert_eq!(resolved, functions, "all are resolved");
        took.push((first, again, second));
    }
    // Ten times as many; what is quadratic takes a hundred times as long.
    let (few, many) = (took[0], took[1]);
    assert!(many.0 < few.0 * 25, "{took:?}");
    assert!(many.1 < few.1 * 25, "{took:?}");
    assert!(many.2 < few.2 * 25, "{took:?}");
}

#[test]
fn a_file_that_is_too_large_to_read_is_named_and_leaves_the_review_incomplete() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let harmful = vulnerable(1);
    sandbox.write("app.py", format!("{harmful}{}", "x = 1\n".repeat(6_000_000)));
    let reviewed = |arguments: &[&str]| {
        let mut all = vec!["review", "--format", "json"];
        all.extend(arguments);
        let output = sandbox.quorum(&all);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
        assert_eq!(result["verdict"], "INCOMPLETE", "{arguments:?}");
        let said = result.to_string();
        assert!(said.contains("more than the 32 MiB that are read"), "{arguments:?}: {said}");
    };
    reviewed(&[]);
    sandbox.git(&["add", "--all"]);
    reviewed(&["--staged"]);
    sandbox.commit("large");
    reviewed(&["--base", "main"]);
    let diff = sandbox.git(&["diff", "main", "feature"]);
    sandbox.write("large.diff", diff);
    reviewed(&["--diff", "large.diff"]);
    sandbox.remove("large.diff");
    // A small edit of it is as unreadable: nobody knows what is around it.
    sandbox.write("app.py", format!("{harmful}{}", "x = 2\n".repeat(6_000_000)));
    reviewed(&["--unstaged"]);
}
