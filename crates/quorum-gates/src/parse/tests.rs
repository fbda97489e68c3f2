//! What real tools printed, with the place that a reader would look at.

use super::*;

fn read(output: &str, category: GateCategory, files: &[&str], folder: &str) -> Parsed {
    let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
    super::output(output, category, &Paths::new(&files), folder)
}

/// The places of the errors in `output`.
fn errors(output: &str, files: &[&str]) -> Vec<(String, u64, String)> {
    let parsed = read(output, GateCategory::Build, files, "");
    let errors = parsed.findings.into_iter().filter(|finding| finding.level == GateLevel::Error);
    errors.map(|finding| (finding.file, finding.line, finding.message)).collect()
}

fn one(output: &str, files: &[&str], file: &str, line: u64, message: &str) {
    let expected = vec![(file.to_owned(), line, message.to_owned())];
    assert_eq!(errors(output, files), expected, "{output}");
}

#[test]
fn rustc_and_clippy() {
    let output = "   Compiling a v0.1.0 (/x)\nerror[E0425]: cannot find value `y` in this scope\n  \
                  --> src/main.rs:2:20\n   |\n2  |     println!(\"{}\", y);\n   |   ^\n\n\
                  error: could not compile `a` (bin \"a\") due to 1 previous error\n";
    one(output, &["src/main.rs"], "src/main.rs", 2, "cannot find value `y` in this scope");
    let parsed = read(output, GateCategory::Build, &["src/main.rs"], "");
    assert_eq!(parsed.findings[0].rule.as_deref(), Some("E0425"));
    assert_eq!(parsed.first_error, Some(1));
    let warned = "warning: unused variable: `x`\n --> src/main.rs:3:9\n";
    let parsed = read(warned, GateCategory::Lint, &["src/main.rs"], "");
    assert_eq!(parsed.findings[0].level, GateLevel::Warning);
}

#[test]
fn tests_of_rust() {
    let output = "running 1 test\ntest tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout \
                  ----\n\nthread 'tests::adds' (17) panicked at src/lib.rs:9:9:\nassertion `left == \
                  right` failed\n  left: 2\n right: 3\nnote: run with `RUST_BACKTRACE=1`\n";
    let message = "tests::adds: assertion `left == right` failed";
    one(output, &["src/lib.rs"], "src/lib.rs", 9, message);
}

#[test]
fn go_builds_and_tests() {
    let build = "# example.com/m\n./main.go:4:2: undefined: missing\n";
    one(build, &["main.go"], "main.go", 4, "undefined: missing");
    let vet = "# example.com/m\nvet: ./main.go:5:14: undefined: x\n";
    one(vet, &["main.go"], "main.go", 5, "undefined: x");
    let test = "--- FAIL: TestAdd (0.00s)\n    add_test.go:7: got 3, want 4\nFAIL\nFAIL\t\
                example.com/m/calc\t0.002s\nFAIL\n";
    one(test, &["calc/add_test.go", "main.go"], "calc/add_test.go", 7, "got 3, want 4");
    let panic = "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\tmain.go:6 +0x1d\n";
    one(panic, &["main.go"], "main.go", 6, "panic: boom");
}

#[test]
fn compilers_of_c() {
    let output = "gcc -Wall -o app main.c\nmain.c: In function ‘main’:\nmain.c:2:10: error: ‘x’ \
                  undeclared (first use in this function)\n    2 |   return x;\nmain.c:2:10: note: \
                  each undeclared identifier is reported only once\nmake: *** [Makefile:2: all] \
                  Error 1\n";
    let files = ["main.c", "Makefile"];
    one(output, &files, "main.c", 2, "‘x’ undeclared (first use in this function)");
    let recipe = "./run-tests\nmake: *** [Makefile:5: test] Error 3\n";
    one(recipe, &files, "Makefile", 5, "the target `test` failed: Error 3");
    let assertion = "app: main.c:9: main: Assertion `a == b' failed.\nAborted\n";
    one(assertion, &files, "main.c", 9, "main: Assertion `a == b' failed.");
    let cmake = "CMake Error at CMakeLists.txt:3 (add_executable):\n  Cannot find source file:\n\n    \
                 missing.c\n";
    one(cmake, &["CMakeLists.txt"], "CMakeLists.txt", 3, "Cannot find source file:");
    let warning = "main.c:3:7: warning: unused variable ‘i’ [-Wunused-variable]\n";
    let parsed = read(warning, GateCategory::Build, &files, "");
    assert_eq!(parsed.findings[0].rule.as_deref(), Some("-Wunused-variable"));
    assert_eq!(parsed.findings[0].level, GateLevel::Warning);
}

#[test]
fn typescript_and_eslint() {
    let plain = "src/a.ts(3,5): error TS2304: Cannot find name 'y'.\n";
    let pretty = "src/a.ts:3:5 - error TS2304: Cannot find name 'y'.\n\n3     y();\n";
    for output in [plain, pretty] {
        one(output, &["src/a.ts"], "src/a.ts", 3, "Cannot find name 'y'.");
        let parsed = read(output, GateCategory::Typecheck, &["src/a.ts"], "");
        assert_eq!(parsed.findings[0].rule.as_deref(), Some("TS2304"));
    }
    let eslint = "\nsrc/a.js\n  1:7  error  'x' is assigned a value but never used  no-unused-vars\n\n\
                  ✖ 1 problem (1 error, 0 warnings)\n";
    one(eslint, &["src/a.js"], "src/a.js", 1, "'x' is assigned a value but never used");
}

#[test]
fn node() {
    let tap = "TAP version 13\n# Subtest: adds\nnot ok 1 - adds\n  ---\n  location: \
               'a.test.js:2:1'\n  error: |-\n    Expected values to be strictly equal:\n    \n    2 !== \
               3\n  stack: |-\n    TestContext.<anonymous> (a.test.js:3:10)\n    Test.run \
               (node:internal/test_runner/test:796:25)\n  ...\n# fail 1\n";
    one(tap, &["a.test.js"], "a.test.js", 3, "not ok 1 - adds");
    let syntax = "bad.js:2\n\n\n\nSyntaxError: Unexpected end of input\n    at wrapSafe \
                  (node:internal/modules/cjs/loader:1464:18)\n";
    one(syntax, &["bad.js"], "bad.js", 2, "SyntaxError: Unexpected end of input");
    let jest = "FAIL src/a.test.ts\n  ● adds\n\n    expect(received).toBe(expected)\n\n      at \
                Object.<anonymous> (src/a.test.ts:5:10)\n";
    one(jest, &["src/a.test.ts"], "src/a.test.ts", 5, "● adds");
}

#[test]
fn python() {
    let unittest = "F\n====\nFAIL: test_a (test_a.T.test_a)\n----\nTraceback (most recent call \
                    last):\n  File \"test_a.py\", line 4, in test_a\n    self.assertEqual(1, 2)\n\
                    AssertionError: 1 != 2\n\nFAILED (failures=1)\n";
    one(unittest, &["test_a.py"], "test_a.py", 4, "AssertionError: 1 != 2");
    let syntax = "*** Error compiling './bad.py'...\n  File \"./bad.py\", line 1\n    def f(:\n          \
                  ^\nSyntaxError: invalid syntax\n\n";
    one(syntax, &["bad.py"], "bad.py", 1, "SyntaxError: invalid syntax");
    let pytest = "F    [100%]\n==== FAILURES ====\n____ test_a ____\n\n    def test_a():\n>       assert \
                  1 == 2\nE       assert 1 == 2\n\ntests/test_a.py:2: AssertionError\n==== short test \
                  summary info ====\nFAILED tests/test_a.py::test_a - assert 1 == 2\n";
    one(pytest, &["tests/test_a.py"], "tests/test_a.py", 2, "assert 1 == 2");
    let ruff = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n";
    one(ruff, &["a.py"], "a.py", 1, "`os` imported but unused");
    let concise = "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n";
    one(concise, &["a.py"], "a.py", 1, "`os` imported but unused");
    let mypy = "a.py:3: error: Incompatible return value type (got \"str\", expected \"int\")  \
                [return-value]\n";
    let message = "Incompatible return value type (got \"str\", expected \"int\")";
    one(mypy, &["a.py"], "a.py", 3, message);
}

#[test]
fn java() {
    let javac = "src/M.java:1: error: incompatible types: String cannot be converted to int\nclass M \
                 { int f() { return \"x\"; } }\n1 error\n";
    let message = "incompatible types: String cannot be converted to int";
    one(javac, &["src/M.java"], "src/M.java", 1, message);
    let maven = "[INFO] Compiling 1 source file\n[ERROR] COMPILATION ERROR : \n[ERROR] \
                 src/main/java/p/App.java:[5,20] cannot find symbol\n  symbol:   variable x\n";
    let file = "src/main/java/p/App.java";
    one(maven, &[file], file, 5, "cannot find symbol");
    let surefire = "[ERROR] Failures: \n[ERROR]   CalcTest.adds:12 expected: <3> but was: <4>\n[ERROR] \
                    Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n";
    let test = "src/test/java/p/CalcTest.java";
    one(surefire, &[test], test, 12, "CalcTest.adds: expected: <3> but was: <4>");
    let gradle = "> Task :test FAILED\n\nCalcTest > adds() FAILED\n    \
                  org.opentest4j.AssertionFailedError at CalcTest.java:12\n\n1 test completed, 1 \
                  failed\n";
    let message = "CalcTest > adds(): org.opentest4j.AssertionFailedError";
    one(gradle, &[test], test, 12, message);
}

#[test]
fn formatters() {
    for (output, line) in [
        ("Diff in src/main.rs:3:\n-    x\n+x\n", 3),
        ("Diff in src/main.rs at line 3:\n", 3),
        ("src/main.rs\n", 0),
        ("would reformat src/main.rs\n", 0),
        ("Checking formatting...\n[warn] src/main.rs\n[warn] Code style issues found\n", 0),
    ] {
        let parsed = read(output, GateCategory::Format, &["src/main.rs"], "");
        assert_eq!(parsed.findings.len(), 1, "{output}");
        assert_eq!(
            (parsed.findings[0].file.as_str(), parsed.findings[0].line),
            ("src/main.rs", line)
        );
    }
}

#[test]
fn places_outside_the_repository_and_times_are_none() {
    let output =
        "12:30:45: error: late\n/usr/include/stdio.h:3:4: error: theirs\nhttp://x:80: up\n";
    let parsed = read(output, GateCategory::Build, &["main.c"], "");
    assert_eq!(parsed.findings, []);
    assert_eq!(parsed.first_error, Some(0));
}

#[test]
fn a_quiet_failure_points_at_its_last_word() {
    let parsed = read("starting\n0 errors so far\nbye\n\n", GateCategory::Test, &[], "");
    assert_eq!(parsed.first_error, Some(2));
    assert_eq!(read("", GateCategory::Test, &[], "").first_error, None);
}

#[test]
fn a_monorepo_names_files_from_its_root() {
    let output = "src/a.ts(3,5): error TS1: m\n";
    let parsed = read(output, GateCategory::Typecheck, &["web/src/a.ts"], "web");
    assert_eq!(parsed.findings[0].file, "web/src/a.ts");
}
