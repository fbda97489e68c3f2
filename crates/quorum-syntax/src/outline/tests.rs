use super::*;

fn read(source: &str, path: &str, language: Option<&str>) -> Outline {
    outline(source.as_bytes(), Reader::of(language, path), Limits::default()).expect("it parses")
}

/// One line for each declaration: kind, name with what it stands in, lines, visibility.
fn shown(outline: &Outline) -> Vec<String> {
    let qualified = |found: &Declaration| {
        let mut name = found.name.clone();
        if let Some(scope) = &found.scope {
            name = format!("{scope}.{name}");
        }
        let mut parent = found.parent;
        while let Some(above) = parent.map(|index| &outline.declarations[index]) {
            name = format!("{}.{name}", above.name);
            parent = above.parent;
        }
        name
    };
    let shown = outline.declarations.iter().map(|found| {
        format!(
            "{} {} {}-{} {}",
            found.kind.as_str(),
            qualified(found),
            found.start_line,
            found.end_line,
            found.visibility.as_str()
        )
    });
    shown.collect()
}

fn calls(outline: &Outline) -> Vec<&str> {
    let calls = outline.references.iter().filter(|found| found.kind == ReferenceKind::Call);
    calls.map(|found| found.name.as_str()).collect()
}

fn imports(outline: &Outline) -> Vec<&str> {
    let imports = outline.references.iter().filter(|found| found.kind == ReferenceKind::Import);
    imports.map(|found| found.name.as_str()).collect()
}

#[test]
fn go() {
    let source = "package p\n\nimport \"fmt\"\n\n// Limit is the most.\nconst Limit = 3\n\n// T is a thing.\ntype T struct{}\n\n// Run runs.\nfunc (t *T) Run(n int) error {\n\tx := 1\n\tfmt.Println(x)\n\treturn nil\n}\n\ntype I interface {\n\tRun(int) error\n}\n\nfunc helper() { New[int]() }\n";
    let found = read(source, "a.go", Some("Go"));
    assert_eq!(
        shown(&found),
        [
            "constant Limit 5-6 public",
            "struct T 8-9 public",
            "method T.Run 11-16 public",
            "interface I 18-20 public",
            "method I.Run 19-19 public",
            "function helper 22-22 internal",
        ]
    );
    assert_eq!(calls(&found), ["Println"]);
    assert_eq!(imports(&found), ["fmt"]);
    assert_eq!(found.declarations[2].doc.as_deref(), Some("Run runs."));
    assert_eq!(found.declarations[2].signature, "func (t *T) Run(n int) error");
    assert_eq!(found.declarations[1].signature, "type T struct");
}

#[test]
fn rust() {
    let source = "use std::fs;\n\n/// Makes.\n#[must_use]\npub fn make() -> T {\n    T::new(read(1))\n}\n\nimpl<T> Foo<T> {\n    fn hidden(&self) {}\n}\n\nimpl Show for Foo {\n    fn show(&self) {}\n}\n\npub(crate) struct Foo;\nmod inner {\n    pub const MAX: u32 = 1;\n}\nmacro_rules! go { () => {} }\n";
    let found = read(source, "a.rs", Some("Rust"));
    assert_eq!(
        shown(&found),
        [
            "function make 3-7 public",
            "method Foo.hidden 10-10 private",
            "method Foo.show 14-14 public",
            "struct Foo 17-17 internal",
            "module inner 18-20 private",
            "constant inner.MAX 19-19 public",
            "macro go 21-21 public",
        ]
    );
    assert_eq!(calls(&found), ["new", "read"]);
    let new = found.references.iter().find(|found| found.name == "new").expect("it is called");
    assert_eq!(new.qualifier.as_deref(), Some("T"));
    assert_eq!(imports(&found), ["std::fs"]);
    assert_eq!(found.declarations[0].doc.as_deref(), Some("Makes."));
    assert_eq!(found.declarations[0].signature, "pub fn make() -> T");
}

#[test]
fn python() {
    let source = "from . import util\nimport os.path as p\n\nMAX = 3\n\n@decorated\nclass A(B):\n    \"\"\"A thing.\n\n    More.\n    \"\"\"\n\n    def run(self, x: int) -> int:\n        def inner():\n            y = 1\n        return util.go(x)\n\n    def _hidden(self): ...\n";
    let found = read(source, "a.py", Some("Python"));
    assert_eq!(
        shown(&found),
        [
            "constant MAX 4-4 public",
            "class A 6-18 public",
            "method A.run 13-16 public",
            "function A.run.inner 14-15 private",
            "method A._hidden 18-18 private",
        ]
    );
    assert_eq!(imports(&found), [".", ".util", "os.path"]);
    assert_eq!(found.declarations[1].doc.as_deref(), Some("A thing.\n\nMore."));
    assert_eq!(found.declarations[1].doc_lines, Some(8..12));
    assert_eq!(found.declarations[2].signature, "def run(self, x: int) -> int");
}

#[test]
fn typescript() {
    let source = "import { a } from './a';\n\n/** Adds. */\nexport const add = (x: number) => {\n  const y = 1;\n  return go(x);\n};\n\nexport abstract class C<T> extends D {\n  private run(): void { this.walk(); }\n  abstract stop(): void;\n  held = () => new E();\n}\n\ninterface I { m(): void }\ntype N = string;\nenum K { A }\nnamespace S { export function f() {} }\n";
    let found = read(source, "a.ts", Some("TypeScript"));
    assert_eq!(
        shown(&found),
        [
            "function add 3-7 public",
            "class C 9-13 public",
            "method C.run 10-10 private",
            "method C.stop 11-11 public",
            "method C.held 12-12 public",
            "interface I 15-15 private",
            "method I.m 15-15 public",
            "type N 16-16 private",
            "enum K 17-17 private",
            "module S 18-18 private",
            "function S.f 18-18 public",
        ]
    );
    assert_eq!(calls(&found), ["go", "walk", "E"]);
    assert_eq!(imports(&found), ["./a"]);
    assert_eq!(found.declarations[0].doc.as_deref(), Some("Adds."));
}

#[test]
fn java() {
    let source = "package p;\nimport java.util.List;\n/** Doc. */\npublic class A {\n  static final int MAX = 1;\n  /** Runs. */\n  @Override\n  public void run() { list.add(new B()); }\n  A() {}\n}\ninterface I { int size(); }\nrecord R(int x) {}\n";
    let found = read(source, "A.java", Some("Java"));
    assert_eq!(
        shown(&found),
        [
            "class A 3-10 public",
            "constant A.MAX 5-5 internal",
            "method A.run 6-8 public",
            "method A.A 9-9 internal",
            "interface I 11-11 internal",
            "method I.size 11-11 public",
            "class R 12-12 internal",
        ]
    );
    assert_eq!(calls(&found), ["add", "B"]);
    assert_eq!(imports(&found), ["java.util.List"]);
    assert_eq!(found.declarations[2].line, 8);
}

#[test]
fn c_and_cpp() {
    let source = "#include \"a.h\"\n#define MAX 3\n\n/* Runs. */\nstatic int *run(int n) { return go(n); }\nint declared(void);\nstruct s { int x; };\ntypedef struct { int y; } t;\n";
    let found = read(source, "a.c", Some("C"));
    assert_eq!(
        shown(&found),
        [
            "constant MAX 2-2 public",
            "function run 4-5 private",
            "function declared 6-6 public",
            "struct s 7-7 public",
            "type t 8-8 public",
        ]
    );
    assert_eq!((calls(&found), imports(&found)), (vec!["go"], vec!["a.h"]));
    let source = "namespace n {\ntemplate <typename T>\nclass A : B {\n  int x;\npublic:\n  void f() const;\n  A() = default;\n};\nvoid A::f() const { new C(); }\n}\n";
    let found = read(source, "a.cpp", Some("C++"));
    assert_eq!(
        shown(&found),
        [
            "module n 1-10 public",
            "class n.A 2-8 public",
            "method n.A.f 6-6 public",
            "method n.A.A 7-7 public",
            "method n.A.f 9-9 public",
        ]
    );
}

#[test]
fn other_languages_with_a_grammar() {
    let cases: [(&str, &str, &str, &[&str]); 8] = [
        (
            "a.cs",
            "C#",
            "namespace N {\n  /// <summary>Doc</summary>\n  public class A {\n    const int Max = 1;\n    public int P { get; set; }\n    void Run() { Go(); }\n  }\n}\n",
            &[
                "module N 1-8 internal",
                "class N.A 2-7 public",
                "constant N.A.Max 4-4 private",
                "property N.A.P 5-5 public",
                "method N.A.Run 6-6 private",
            ],
        ),
        (
            "a.rb",
            "Ruby",
            "module M\n  # Doc\n  class A\n    MAX = 1\n    def run\n      go\n    end\n    def self.make; end\n  end\nend\n",
            &[
                "module M 1-10 public",
                "class M.A 2-9 public",
                "constant M.A.MAX 4-4 public",
                "method M.A.run 5-7 public",
                "method M.A.make 8-8 public",
            ],
        ),
        (
            "a.php",
            "PHP",
            "<?php\nclass A {\n  const MAX = 1;\n  private function run() { $this->go(); }\n}\nfunction f() {}\ninterface I {}\n",
            &[
                "class A 2-5 public",
                "constant A.MAX 3-3 public",
                "method A.run 4-4 private",
                "function f 6-6 public",
                "interface I 7-7 public",
            ],
        ),
        (
            "a.kt",
            "Kotlin",
            "package p\nclass A(val x: Int) {\n  private fun run() { go() }\n}\ninterface I\nobject O\nfun f() = 1\nconst val MAX = 1\n",
            &[
                "class A 2-4 public",
                "method A.run 3-3 private",
                "interface I 5-5 public",
                "class O 6-6 public",
                "function f 7-7 public",
                "constant MAX 8-8 public",
            ],
        ),
        ("a.sh", "Shell", "# Doc\nrun() {\n  go\n}\n", &["function run 1-4 public"]),
        (
            "a.yaml",
            "YAML",
            "on:\n  push:\n    branches: [a]\njobs: {}\n",
            &["key on 1-3 public", "key on.push 2-3 public", "key jobs 4-4 public"],
        ),
        (
            "a.json",
            "JSON",
            "{\n  \"name\": \"x\",\n  \"scripts\": {\"test\": {\"deep\": 1}}\n}\n",
            &["key name 2-2 public", "key scripts 3-3 public", "key scripts.test 3-3 public"],
        ),
        (
            "a.tf",
            "HCL",
            "# Doc\nresource \"aws_s3_bucket\" \"logs\" {\n  acl = \"private\"\n}\n",
            &["block resource.aws_s3_bucket.logs 1-4 public"],
        ),
    ];
    for (path, language, source, expected) in cases {
        assert_eq!(shown(&read(source, path, Some(language))), expected, "{path}");
    }
}

#[test]
fn markdown_headings_are_never_inside_a_fence() {
    let source = "---\ntitle: x\n---\n# One\ntext\n\n```sh\n# not a heading\n```\n\n## Two\n\n~~~\n## nor this\n```\n~~~\nThree\n=====\ntext\n";
    let found = read(source, "a.md", Some("Markdown"));
    assert_eq!(
        shown(&found),
        ["heading One 4-16 public", "heading One.Two 11-16 public", "heading Three 17-19 public"]
    );
}

#[test]
fn toml_tables_and_keys() {
    let source = "name = \"x\"\nlist = [\n  \"[a]\",\n]\ntext = \"\"\"\n[not.a.table]\n\"\"\"\n\n[package] # note\nversion = 1\n[[bin]]\nname = \"y\"\n";
    let found = read(source, "a.toml", Some("TOML"));
    assert_eq!(
        shown(&found),
        [
            "key name 1-1 public",
            "key list 2-4 public",
            "key text 5-8 public",
            "block package 9-10 public",
            "block bin 11-12 public",
        ]
    );
}

#[test]
fn dockerfile_stages() {
    let source = "ARG V=1\nFROM --platform=x rust:1 AS build\nRUN cargo build\nFROM debian\n";
    let found = read(source, "Dockerfile", Some("Dockerfile"));
    assert_eq!(shown(&found), ["block build 2-3 public", "block debian 4-4 public"]);
    assert_eq!(imports(&found), ["rust:1", "debian"]);
}

#[test]
fn sql_statements() {
    let source = "-- create table no (\nCREATE TABLE IF NOT EXISTS app.\"users\" (\n  id int, note text default ';'\n);\ncreate or replace function f() returns int as $$\n  select 1; create table inner_one();\n$$ language sql;\nSELECT 1;\nCREATE VIEW v AS SELECT 1";
    let found = read(source, "a.sql", Some("SQL"));
    assert_eq!(
        shown(&found),
        ["table users 2-4 public", "function f 5-7 public", "table v 9-9 public"]
    );
}

#[test]
fn nesting_of_any_depth_is_walked_without_recursion() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(read(&deep, "a.json", Some("JSON")), Outline::default());
    let classes = "class A:\n class B:\n".to_owned() + &"  def f():\n   pass\n".repeat(10);
    assert_eq!(read(&classes, "a.py", Some("Python")).declarations.len(), 12);
    let functions = format!("{}x{}", "function f(){".repeat(20_000), "}".repeat(20_000));
    assert_eq!(read(&functions, "a.js", Some("JavaScript")).declarations.len(), 64);
}

#[test]
fn bytes_that_are_not_utf8_are_no_obstacle() {
    let source = b"def caf\xe9(): pass\ndef plain(): pass\n# \xff\xfe\n";
    let found = outline(source, Reader::Tree(Lang::Python), Limits::default()).expect("it parses");
    assert!(found.declarations.iter().any(|found| found.name == "plain"));
}
