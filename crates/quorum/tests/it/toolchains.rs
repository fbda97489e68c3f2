//! Gates with toolchains that not every machine has. `cargo xtask toolchains` installs them below
//! `target/` and runs these tests, which fail where one is missing.

use crate::gates::{assert_fails, assert_passes, gate, run};
#[cfg(target_os = "linux")]
use crate::gates_vectors::{Stage, vectors};
use crate::sandbox::Sandbox;

/// The states of a module stand in folders of one repository: whatever runs in one scratch copy
/// compiles Go's own library once, and that takes longer than all the rest.
#[test]
#[ignore = "needs Go: cargo xtask toolchains"]
fn go_modules() {
    let sandbox = Sandbox::empty();
    let module = |name: &str, body: &str| {
        sandbox.write(&format!("{name}/go.mod"), "module example.com/m\n\ngo 1.21\n");
        let add = format!("package calc\n\n// Add adds.\nfunc Add(a, b int) int {{\n{body}}}\n");
        sandbox.write(&format!("{name}/calc/calc.go"), add);
        let test = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := \
                    Add(1, 2); got != 3 {\n\t\tt.Fatal(\"it is\", got)\n\t}\n}\n";
        sandbox.write(&format!("{name}/calc/calc_test.go"), test);
    };
    module("sound", "\treturn a + b\n");
    module("broken", "\treturn a + c\n");
    // What `go test` does not look for, `go vet` finds; and the second line is not indented.
    module("careless", "\ta = a\nreturn a + b\n");
    module("wrong", "\treturn a - b\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    for (folder, check, status) in [
        ("sound", "build", "passed"),
        ("sound", "vet", "passed"),
        ("sound", "format", "passed"),
        ("sound", "test", "passed"),
        ("broken", "test", "skipped"),
        ("wrong", "build", "passed"),
        ("wrong", "vet", "passed"),
    ] {
        let gate = gate(&report, &format!("go:{check}@{folder}"));
        assert_eq!(gate["status"], status, "{folder} {check}: {report:#}");
    }
    assert_fails(&report, "go:build@broken", ("broken/calc/calc.go", 5));
    assert_fails(&report, "go:vet@careless", ("careless/calc/calc.go", 5));
    assert_fails(&report, "go:format@careless", ("careless/calc/calc.go", 0));
    assert_fails(&report, "go:test@wrong", ("wrong/calc/calc_test.go", 7));
}

#[test]
#[ignore = "needs CMake: cargo xtask toolchains"]
fn a_cmake_project() {
    let sandbox = Sandbox::empty();
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(calc C)\nset(CMAKE_C_FLAGS \"-Wall\")\n\
                 enable_testing()\nadd_executable(calc_test src/calc.c test/calc_test.c)\n\
                 add_test(NAME adds COMMAND calc_test)\n";
    let add = |body: &str| format!("int add(int a, int b) {{\n{body}}}\n");
    sandbox.write("CMakeLists.txt", lists);
    sandbox.write("src/calc.c", add("  return a + b;\n"));
    let test = "#include <assert.h>\n\nint add(int, int);\n\nint main(void) {\n  assert(add(1, 2) == \
                3);\n}\n";
    sandbox.write("test/calc_test.c", test);
    assert_passes(&sandbox, &["configure", "build", "test"]);

    sandbox.write("src/calc.c", add("  return a + c;\n"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "build", ("src/calc.c", 2));
    assert_eq!(gate(&report, "test")["status"], "skipped");

    sandbox.write("src/calc.c", add("  int unused;\n  return a - b;\n"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    let build = gate(&report, "build");
    let warning = &build["findings"][0];
    assert_eq!((&build["status"], &warning["level"]), (&"passed".into(), &"warning".into()));
    assert_eq!((&warning["file"], &warning["line"]), (&"src/calc.c".into(), &2.into()));
    assert_fails(&report, "test", ("test/calc_test.c", 6));

    sandbox.write("CMakeLists.txt", lists.replace("src/calc.c", "src/lost.c"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "configure", ("CMakeLists.txt", 5));
}

#[test]
#[ignore = "needs Task: cargo xtask toolchains"]
fn a_taskfile() {
    let sandbox = Sandbox::empty();
    let tasks = "version: '3'\n\ntasks:\n  build:\n    cmds:\n      - cc -Wall -o app main.c\n  lint:\n    \
                 cmds:\n      - cc -Wall -Werror -fsyntax-only main.c\n  test:\n    cmds:\n      - ./app\n";
    sandbox.write("Taskfile.yml", tasks);
    sandbox.write("main.c", "int main(void) {\n  return 0;\n}\n");
    assert_passes(&sandbox, &["build", "lint", "test"]);

    sandbox.write("main.c", "int main(void) {\n  return x;\n}\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "build", ("main.c", 2));

    let assertion = "#include <assert.h>\nint main(void) {\n  int x;\n  assert(1 == 2);\n}\n";
    sandbox.write("main.c", assertion);
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "lint", ("main.c", 3));
    assert_fails(&report, "test", ("main.c", 4));
}

#[test]
#[ignore = "needs flake8: cargo xtask toolchains"]
fn a_python_project_with_a_linter() {
    let sandbox = Sandbox::empty();
    sandbox.write("setup.cfg", "[metadata]\nname = a\n\n[flake8]\nmax-line-length = 99\n");
    sandbox.write("a.py", "ONE = 1\n");
    assert_passes(&sandbox, &["syntax", "flake8"]);

    sandbox.write("a.py", "import os\n\nONE = 1\n");
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 0, "a lint is a warning unless the team says otherwise: {report:#}");
    assert_fails(&report, "flake8", ("a.py", 1));
}

/// A test set-up and a linter's configuration are code: both run here, and both are kept in.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs pytest and flake8: cargo xtask toolchains"]
fn what_python_tools_load_by_themselves_runs_and_gets_nowhere() {
    let installed = ["conftest", "flake8-plugin"];
    Stage::new(424, vectors(|vector| installed.contains(&vector.name))).assert_kept_in();
}
