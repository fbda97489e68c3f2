//! What tools really printed, in `recorded/`, and the places that a reader would look at.

use quorum_model::gate::{GateCategory, GateLevel};

use crate::outcome::clean;
use crate::tree::Paths;

const GO: [&str; 4] = ["go.mod", "main.go", "calc/calc.go", "calc/calc_test.go"];
const CMAKE: [&str; 3] = ["CMakeLists.txt", "src/calc.c", "test/calc_test.c"];
const TASK: [&str; 3] = ["Taskfile.yml", "main.c", "check.sh"];
const JAVA: [&str; 3] = ["pom.xml", "src/main/java/p/Calc.java", "src/test/java/p/CalcTest.java"];

/// The findings in `output`: level, file, line and message.
fn found(output: &str, category: GateCategory, files: &[&str]) -> Vec<(GateLevel, String)> {
    let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
    let output = clean(output, &["/project".to_owned()]);
    let parsed = super::output(&output, category, &Paths::new(&files), "");
    let short = |found: quorum_model::gate::GateFinding| {
        (found.level, format!("{}:{} {}", found.file, found.line, found.message))
    };
    parsed.findings.into_iter().map(short).collect()
}

/// The errors of a recorded output.
macro_rules! assert_errors {
    ($name:literal, $category:ident, $files:expr, $expected:expr) => {
        let output = include_str!(concat!("recorded/", $name, ".txt"));
        let found = found(output, GateCategory::$category, &$files);
        let errors = found.into_iter().filter(|(level, _)| *level == GateLevel::Error);
        let errors: Vec<String> = errors.map(|(_, text)| text).collect();
        assert_eq!(errors, $expected, "{}", $name);
    };
}

#[test]
fn go() {
    assert_errors!("go-build-error", Build, GO, ["calc/calc.go:5 undefined: c"]);
    let syntax = ["calc/calc.go:6 syntax error: unexpected EOF, expected }"];
    assert_errors!("go-syntax", Build, GO, syntax);
    let missing =
        ["calc/calc.go:3 no required module provides package example.org/none; to add it:"];
    assert_errors!("go-missing-module", Build, GO, missing);
    let vet = "(*testing.common).Errorf format %s has arg got of wrong type int";
    assert_errors!("go-vet-error", Lint, GO, [format!("calc/calc_test.go:7 {vet}")]);
    assert_errors!("go-test-fail", Test, GO, ["calc/calc_test.go:7 got -1, want 3"]);
    assert_errors!("go-test-build-error", Test, GO, ["calc/calc.go:5 undefined: c"]);
    // The function that panics was inlined, and is named all the same.
    let panic = "panic: runtime error: invalid memory address or nil pointer dereference \
                 [recovered, repanicked]";
    assert_errors!("go-test-panic", Test, GO, [format!("calc/calc.go:6 {panic}")]);
    let format = ["calc/calc.go:0 the formatter would write it otherwise"];
    assert_errors!("gofmt", Format, GO, format);
}

#[test]
fn cmake_and_ctest() {
    let undeclared = ["src/calc.c:2 ‘c’ undeclared (first use in this function)"];
    assert_errors!("cmake-build-error", Build, CMAKE, undeclared);
    assert_errors!("ninja-build-error", Build, CMAKE, undeclared);
    assert_errors!("cmake-link", Build, CMAKE, ["src/calc.c:3 undefined reference to `gone'"]);
    let lists = [
        "CMakeLists.txt:4 Cannot find source file:",
        "CMakeLists.txt:4 No SOURCES given to target: calc",
    ];
    assert_errors!("cmake-configure-error", Setup, CMAKE, lists);
    let package = "By not providing \"FindNoSuchThing.cmake\" in CMAKE_MODULE_PATH this project";
    assert_errors!("cmake-package", Setup, CMAKE, [format!("CMakeLists.txt:4 {package}")]);
    let assertion = ["test/calc_test.c:6 main: Assertion `add(1, 2) == 3' failed."];
    assert_errors!("ctest-fail", Test, CMAKE, assertion);
    assert_errors!("ctest-plain", Test, CMAKE, ["test/calc_test.c:6 Failure"]);
    let warning = found(include_str!("recorded/cmake-warning.txt"), GateCategory::Build, &CMAKE);
    let expected = "src/calc.c:2 unused variable ‘unused’".to_owned();
    assert_eq!(warning, [(GateLevel::Warning, expected)]);
}

#[test]
fn task() {
    let undeclared = ["main.c:2 ‘x’ undeclared (first use in this function)"];
    assert_errors!("task-build", Build, TASK, undeclared);
    assert_errors!("task-lint", Lint, TASK, ["main.c:2 unused variable ‘x’"]);
    assert_errors!("task-test", Test, TASK, [] as [&str; 0]);
}

#[test]
fn maven_and_gradle() {
    let symbol = ["src/main/java/p/Calc.java:5 cannot find symbol"];
    assert_errors!("mvn-compile", Build, JAVA, symbol);
    assert_errors!("gradle-compile", Build, JAVA, symbol);
    let test = "src/test/java/p/CalcTest.java:10";
    let surefire = [format!("{test} CalcTest.adds: expected:<3> but was:<-1>")];
    assert_errors!("mvn-test", Test, JAVA, surefire);
    let gradle = [format!("{test} p.CalcTest > adds: java.lang.AssertionError")];
    assert_errors!("gradle-test", Test, JAVA, gradle);
}
