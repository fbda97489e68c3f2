//! Gates with toolchains that not every machine has. `cargo xtask toolchains` installs them below
//! `target/` and runs these tests, which fail where one is missing.

use serde_json::Value;

use crate::gates::{assert_fails, assert_passes, gate, run};
use crate::sandbox::Sandbox;

#[test]
#[ignore = "needs Go: cargo xtask toolchains"]
fn a_go_module() {
    let sandbox = Sandbox::empty();
    let add =
        |body: &str| format!("package calc\n\n// Add adds.\nfunc Add(a, b int) int {{\n{body}}}\n");
    sandbox.write("go.mod", "module example.com/m\n\ngo 1.21\n");
    sandbox.write("calc/calc.go", add("\treturn a + b\n"));
    let test = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := \
                Add(1, 2); got != 3 {\n\t\tt.Fatal(\"it is\", got)\n\t}\n}\n";
    sandbox.write("calc/calc_test.go", test);
    assert_passes(&sandbox, &["build", "vet", "format", "test"]);

    sandbox.write("calc/calc.go", add("\treturn a + c\n"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "build", ("calc/calc.go", 5));
    assert_eq!(gate(&report, "test")["status"], "skipped");

    // What `go test` does not look for, `go vet` finds; and the second line is not indented.
    sandbox.write("calc/calc.go", add("\ta = a\nreturn a - b\n"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "vet", ("calc/calc.go", 5));
    assert_fails(&report, "format", ("calc/calc.go", 0));

    sandbox.write("calc/calc.go", add("\treturn a - b\n"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1);
    assert_fails(&report, "test", ("calc/calc_test.go", 7));
    assert_eq!(gate(&report, "vet")["status"], "passed");
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

/// A test set-up and a linter's configuration are code: both run here, and both are kept in.
#[test]
#[ignore = "needs pytest and flake8: cargo xtask toolchains"]
fn what_python_tools_load_by_themselves_runs_and_gets_nowhere() {
    let victim = tempfile::tempdir().expect("a folder");
    let mark = victim.path().canonicalize().expect("it exists").join("mark");
    let harm = |name: &str| {
        format!(
            "print(\"{name} ran\", flush=True)\nopen({:?}, \"w\")\n",
            mark.display().to_string()
        )
    };
    let sandbox = Sandbox::empty();
    sandbox.write("pyproject.toml", "[tool.pytest.ini_options]\n");
    sandbox.write("conftest.py", harm("conftest"));
    sandbox.write("test_a.py", "def test_a():\n    pass\n");
    sandbox.write("plugin.py", harm("plugin"));
    let local = "[flake8:local-plugins]\nextension =\n    X = plugin:Plugin\npaths =\n    .\n";
    sandbox.write(".flake8", format!("[flake8]\nmax-line-length = 99\n{local}"));
    let (code, report) = run(&sandbox, &["gates"]);
    assert_eq!(code, 1, "{report:#}");
    for (name, said) in [("test", "conftest ran"), ("flake8", "plugin ran")] {
        let gate = gate(&report, name);
        let output = gate["output"].as_str().unwrap_or_default();
        assert_eq!(gate["status"], Value::from("failed"), "{report:#}");
        assert!(output.contains(said), "{output}");
    }
    assert!(!mark.exists());
}
