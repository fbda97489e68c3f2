//! Gates on real projects, with the toolchains that every machine of ours has: Rust, Node, Python,
//! Make, a C compiler and a Java compiler. A test whose toolchain is missing fails. Other toolchains are
//! in `toolchains.rs`; what more tools print is in the tests of `quorum-gates`.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::gates_safety::alive;
use crate::sandbox::{Sandbox, text};

/// Lets toolchains be found that live in the real home folder, which a sandbox replaces.
pub(crate) fn with_toolchains(command: &mut Command) {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    for (name, usual) in
        [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"), ("PYENV_ROOT", ".pyenv")]
    {
        let place = std::env::var_os(name).map_or_else(|| home.join(usual), PathBuf::from);
        if place.is_dir() {
            command.env(name, place);
        }
    }
}

pub(crate) fn run(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json", "--quiet"]);
    let output = sandbox.quorum_with(&all, with_toolchains);
    (output.status.code().unwrap_or(-1), json(&output))
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

pub(crate) fn gate<'a>(report: &'a Value, name: &str) -> &'a Value {
    let gates = report["gates"].as_array().expect("gates");
    let found = gates.iter().find(|gate| gate["name"] == name);
    found.unwrap_or_else(|| panic!("no gate {name} in {report:#}"))
}

/// That the gate failed, and where its first error is.
pub(crate) fn assert_fails(report: &Value, name: &str, place: (&str, u64)) {
    let gate = gate(report, name);
    assert_eq!(gate["status"], "failed", "{report:#}");
    let first = &gate["findings"][0];
    assert_eq!((first["file"].as_str(), first["line"].as_u64()), (Some(place.0), Some(place.1)));
    assert!(!gate["output"].as_str().unwrap_or_default().is_empty());
}

pub(crate) fn assert_passes(sandbox: &Sandbox, names: &[&str]) {
    let (code, report) = run(sandbox, &["gates"]);
    for name in names {
        assert_eq!(gate(&report, name)["status"], "passed", "{report:#}");
    }
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["isolation"]["missing"], serde_json::json!([]), "this machine can do it all");
}

const SOUND: &str = "pub fn one() -> u32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn \
                     it_is() {\n        assert_eq!(super::one(), 1);\n    }\n}\n";

#[test]
fn a_rust_project() {
    let sandbox = Sandbox::empty();
    sandbox
        .write("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    sandbox.write("src/lib.rs", SOUND);
    sandbox.write(".gitignore", "target\n");
    assert_passes(&sandbox, &["build", "clippy", "format", "test"]);

    sandbox.write("src/lib.rs", SOUND.replace("    1\n", "    missing\n"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "build", ("src/lib.rs", 2));
    assert_eq!(gate(&report, "test")["status"], "skipped", "nothing is learnt from its tests");

    sandbox.write("src/lib.rs", SOUND.replace("(), 1)", "(), 2)"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "test", ("src/lib.rs", 9));

    sandbox.write("src/lib.rs", SOUND.replace("    1\n", "    return 1;\n"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_fails(&report, "clippy", ("src/lib.rs", 2));
    assert_eq!(code, 0, "a lint is a warning unless the team says otherwise: {report:#}");
}

#[test]
fn a_node_project() {
    let sandbox = Sandbox::empty();
    let package = r#"{"scripts": {"test": "node --test", "lint": "node lint.js", "build": "node --check a.js"}}"#;
    sandbox.write("package.json", package);
    sandbox.write("a.js", "module.exports = () => 1;\n");
    sandbox.write("lint.js", "");
    let test = "const test = require('node:test');\nconst assert = require('node:assert');\n\
                test('one', () => {\n  assert.strictEqual(require('./a.js')(), 1);\n});\n";
    sandbox.write("a.test.js", test);
    assert_passes(&sandbox, &["build", "lint", "test"]);

    sandbox.write("a.js", "module.exports = () => 2;\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "test", ("a.test.js", 4));

    sandbox.write("a.js", "module.exports = ( => 1;\n");
    let lint =
        "console.log('\\na.js\\n  1:20  error  Unexpected token  parse\\n'); process.exit(1);\n";
    sandbox.write("lint.js", lint);
    sandbox.write("quorum.toml", "[[gates.overrides]]\nname = \"build\"\nrequired = false\n");
    let (_, report) = run(&sandbox, &["gates"]);
    assert_fails(&report, "build", ("a.js", 1));
    assert_fails(&report, "lint", ("a.js", 1));
}

#[test]
fn a_python_project() {
    let sandbox = Sandbox::empty();
    sandbox.write("setup.cfg", "[metadata]\nname = a\n");
    sandbox.write("a.py", "def one():\n    return 1\n");
    let test = "import unittest\nimport a\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        \
                self.assertEqual(a.one(), 1)\n";
    sandbox.write("test_a.py", test);
    assert_passes(&sandbox, &["syntax", "test"]);
    sandbox.write("a.py", "def one():\n    return 2\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "test", ("test_a.py", 7));
    sandbox.write("a.py", "def one(:\n    return 1\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "syntax", ("a.py", 1));
}

#[test]
fn a_make_project_in_c_and_java() {
    let sandbox = Sandbox::empty();
    let makefile = "app: main.c\n\tcc -Wall -Werror -o app main.c\ntest: app\n\t./app\nlint:\n\tjavac -d \
                    out M.java\n";
    sandbox.write("Makefile", makefile);
    sandbox.write("main.c", "int main(void) {\n  return 0;\n}\n");
    sandbox.write("M.java", "class M {\n  int one() { return 1; }\n}\n");
    assert_passes(&sandbox, &["build", "lint", "test"]);
    sandbox.write("M.java", "class M {\n  int one() { return \"1\"; }\n}\n");
    let assertion = "#include <assert.h>\nint main(void) {\n  assert(1 == 2);\n}\n";
    sandbox.write("main.c", assertion);
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "lint", ("M.java", 2));
    assert_fails(&report, "test", ("main.c", 3));
    sandbox.write("main.c", "int main(void) {\n  return x;\n}\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "build", ("main.c", 2));
}

#[test]
fn a_review_is_blocked_by_a_required_gate_and_asks_nobody() {
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "build:\n\tcc -c main.c\n");
    sandbox.write("main.c", "int main(void) {\n  return missing;\n}\n");
    let (code, result) = run(&sandbox, &["review", "--gates"]);
    assert_eq!((code, &result["verdict"]), (1, &Value::from("BLOCKED")), "{result:#}");
    let reasons = result["reasons"].as_array().expect("reasons");
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].as_str().is_some_and(|text| text.contains("required gate build failed")));
    assert_fails(&result, "build", ("main.c", 2));
    assert_eq!(result["findings"], serde_json::json!([]));
    let agents = result["execution"]["agents"].as_array().expect("agents");
    assert!(agents.iter().all(|agent| agent["verdict"] == "ERROR"), "{agents:?}");
    for format in ["terminal", "markdown", "html"] {
        let page = text(&sandbox.quorum(&["report", "--format", format]).stdout);
        let place = page.find("main.c:2").unwrap_or_else(|| panic!("{format}: {page}"));
        let word = page.find("Reviewers did not run").unwrap_or_else(|| panic!("{format}: {page}"));
        assert!(place < word, "the failure comes first: {page}");
        let noise = ["Consider:", "--agents", "No result", "did not look at", "No findings"];
        assert!(format == "html" || !noise.iter().any(|noise| page.contains(noise)), "{page}");
    }
    let again = sandbox.quorum(&["replay", "latest", "--format", "json"]);
    assert_eq!(again.status.code(), Some(1), "a gate that failed then fails it now");

    sandbox.write("main.c", "int main(void) {\n  return 0;\n}\n");
    let (code, result) = run(&sandbox, &["review", "--gates"]);
    assert_ne!(code, 2, "{result:#}");
    assert_eq!(gate(&result, "build")["status"], "passed");
    let agents = result["execution"]["agents"].as_array().expect("agents");
    assert!(agents.iter().all(|agent| agent["verdict"] != "ERROR"), "{agents:?}");
}

#[test]
fn a_tool_that_is_missing_is_said_and_fails_only_what_requires_it() {
    let sandbox = Sandbox::new();
    let config = |required: bool| {
        format!(
            "[[gates.additional]]\nname = \"own\"\ncommand = \"no-such-tool x\"\nrequired = {required}\n"
        )
    };
    for (required, verdict) in [(true, 1), (false, 0)] {
        sandbox.write("quorum.toml", config(required));
        let (code, report) = run(&sandbox, &["gates"]);
        assert_eq!(code, verdict, "{report:#}");
        assert_eq!(gate(&report, "own")["status"], "not_run");
        assert_eq!(gate(&report, "own")["reason"], "`no-such-tool` is not installed");
    }
}

#[test]
fn what_nothing_changed_for_is_skipped_and_lists_run_nothing() {
    let sandbox = Sandbox::empty();
    let marker = sandbox.root().join("ran");
    sandbox.write("go.mod", "module m\n");
    sandbox.write("a_test.go", "package m\n");
    sandbox.write("README.md", "# A\n");
    sandbox.commit("start");
    sandbox.write("README.md", "# B\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(gate(&report, "build")["status"], "skipped");
    let own =
        format!("[[gates.additional]]\nname = \"own\"\ncommand = \"touch {}\"\n", marker.display());
    sandbox.write("quorum.toml", own);
    let (code, checks) = run(&sandbox, &["gates", "--list"]);
    assert_eq!(code, 0);
    let names: Vec<&str> =
        checks.as_array().expect("checks").iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["build", "vet", "format", "test", "own"]);
    assert!(!marker.exists());
}

#[test]
fn a_page_shows_the_beginning_and_the_end_of_a_long_output() {
    let sandbox = Sandbox::new();
    let own = "[[gates.additional]]\nname = \"own\"\ncommand = \"seq 1001 1100; false\"\n";
    sandbox.write("quorum.toml", own);
    let page = text(&sandbox.quorum(&["gates", "--quiet"]).stdout);
    assert!(page.contains("60 lines left out"), "{page}");
    let shown = |number: u32| page.contains(&number.to_string());
    assert!(shown(1001) && shown(1030) && shown(1091) && shown(1100), "{page}");
    assert!(!shown(1031) && !shown(1090), "{page}");
}

#[test]
fn a_repository_without_checks_is_an_error_and_not_a_pass() {
    let sandbox = Sandbox::empty();
    sandbox.write("notes.txt", "x\n");
    assert!(sandbox.fails(&["gates"]).contains("there is no gate"));
}

#[test]
fn a_loop_ends_approved_when_the_second_round_mends_it() {
    let sandbox = looped(
        "if [ $QUORUM_ROUND = 1 ]; then echo 'int main(void) { return oops; }' > main.c; \
                          else grep -q oops \"$QUORUM_PROMPT\" && grep -q oops - && echo 'int main(void) \
                          { return 0; }' > main.c; fi",
    );
    let (code, report) = run(&sandbox, &["loop", "--develop", "sh ./dev.sh"]);
    assert_eq!((code, &report["outcome"]), (0, &Value::from("approved")), "{report:#}");
    let rounds = report["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 2);
    assert_eq!(rounds[0]["failed_gates"], serde_json::json!(["build"]));
    assert_eq!(rounds[1]["verdict"], "APPROVED");
    let runs = sandbox.root().join(".quorum/runs");
    for round in rounds {
        assert!(runs.join(round["run"].as_str().expect("a run")).join("result.json").is_file());
    }
}

#[test]
fn a_loop_that_mends_nothing_is_escalated_after_three_rounds() {
    // Rules that the developer writes do not judge it.
    let sandbox = looped(
        "echo 'int main(void) { return oops; }' > main.c; printf \
                          '[gates]\\npreset = \"none\"\\n' > quorum.toml",
    );
    let (code, report) = run(&sandbox, &["loop", "--develop", "sh ./dev.sh"]);
    assert_eq!((code, &report["outcome"]), (1, &Value::from("escalated")), "{report:#}");
    assert_eq!(report["rejection"], "fixable");
    let rounds = report["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 3);
    for round in &rounds[..2] {
        let feedback = std::fs::read_to_string(round["feedback"].as_str().expect("feedback"));
        let feedback = feedback.expect("it is there");
        // How the compiler quotes depends on the locale.
        let is_first = |line: &str| line.contains("main.c:1") && line.contains("undeclared");
        assert!(feedback.lines().any(is_first), "{feedback}");
    }
}

#[test]
fn a_loop_that_strays_from_its_task_is_rejected_at_once() {
    let sandbox = looped("echo 'int main(void) { return 0; }' > main.c; echo x > elsewhere.txt");
    sandbox.write("task.json", r#"{"description": "Make it build", "files": ["*.c"]}"#);
    sandbox.commit("task");
    let arguments = ["loop", "--develop", "sh ./dev.sh", "--task", "task.json"];
    let (code, report) = run(&sandbox, &arguments);
    assert_eq!((code, &report["rejection"]), (1, &Value::from("misscoped")), "{report:#}");
    assert_eq!(report["rounds"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_developer_that_takes_too_long_ends_with_all_that_it_started() {
    let mark = format!("419.{}", std::process::id());
    let sandbox = looped(&format!(
        "(setsid sleep {mark} > /dev/null 2>&1 &); sleep {mark} & echo 'int main(void) {{ return 0; \
         }}' > main.c; sleep {mark}"
    ));
    let arguments = ["loop", "--develop", "sh ./dev.sh", "--develop-seconds", "2", "--rounds", "1"];
    let (code, report) = run(&sandbox, &arguments);
    assert_eq!((code, &report["outcome"]), (0, &Value::from("approved")), "{report:#}");
    assert_eq!(report["rounds"][0]["developer_exit_code"], Value::Null);
    assert_eq!(alive(&mark), 0, "something survived");
}

/// A project with a developer that does `script`.
fn looped(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "build:\n\tcc -c main.c\n");
    sandbox.write("main.c", "int main(void) { return 1; }\n");
    sandbox.write("dev.sh", format!("{script}\n"));
    sandbox.commit("project");
    sandbox
}

#[test]
fn python_tests_that_ran_none_did_not_pass() {
    let sandbox = Sandbox::empty();
    sandbox.write("setup.py", "");
    sandbox
        .write("tests/test_a.py", "import unittest\n\n\nclass T(unittest.TestCase):\n    pass\n");
    sandbox.commit("no test in it");
    let (code, report) = run(&sandbox, &["gates"]);
    let test = gate(&report, "test");
    assert_eq!((code, &test["status"]), (1, &Value::from("not_run")), "{report:#}");
    assert_eq!(test["reason"], "it ran no tests");
    // A folder that is no package is looked into.
    let case = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        \
                self.assertEqual(1, 2)\n";
    sandbox.write("tests/test_a.py", case);
    let (_, report) = run(&sandbox, &["gates"]);
    assert_eq!(gate(&report, "test")["status"], "failed", "{report:#}");
    sandbox.write("tests/test_a.py", case.replace("1, 2", "1, 1"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!((code, &gate(&report, "test")["status"]), (0, &Value::from("passed")));
}
