//! What the engine knows about values, told through one rule: a query must not be a stranger's.

use std::sync::Arc;

use quorum_model::scope::{Change, FileEntry, FileKind};
use quorum_syntax::Lang;

use super::Unfinished;
use crate::finding::RuleFinding;
use crate::review::examine;
use crate::rule::RuleSet;
use crate::source::{LineSet, ParsedFile, SourceFile};

fn findings(lang: Lang, code: &str) -> Vec<RuleFinding> {
    findings_of(lang, code, "sql-injection")
}

fn findings_of(lang: Lang, code: &str, rule: &str) -> Vec<RuleFinding> {
    let mut found = examined(lang, code).0;
    found.retain(|finding| finding.rule == rule && finding.confidence >= 0.5);
    found
}

fn examined(lang: Lang, code: &str) -> (Vec<RuleFinding>, Unfinished) {
    let entry = FileEntry {
        path: Arc::from("src/app"),
        old_path: None,
        change: Change::Added,
        language: Some(lang.name().to_owned()),
        kind: FileKind::Code,
        tokens: 0,
        flags: Vec::new(),
        flag_reasons: std::collections::BTreeMap::default(),
        hunks: Vec::new(),
        digest: None,
    };
    let source = SourceFile {
        entry,
        head: Some(Arc::from(code)),
        base: None,
        added: None,
        removed: LineSet::default(),
    };
    examine(RuleSet::embedded(), &ParsedFile::new(source))
}

fn java(body: &str) -> bool {
    let code = format!(
        "class A extends HttpServlet {{\n  void doPost(HttpServletRequest request) throws Exception {{\n    \
         String given = request.getParameter(\"p\");\n    String piece = \"\";\n    {body}\n    \
         connection.createStatement().executeQuery(\"SELECT \" + piece);\n  }}\n  \
         static String echo(String x) {{ return x; }}\n  \
         static String fixed(String x) {{ return \"fixed\"; }}\n}}\n"
    );
    !findings(Lang::Java, &code).is_empty()
}

fn python(body: &str) -> bool {
    let lines: String = body.lines().flat_map(|line| ["    ", line, "\n"]).collect();
    let code = format!(
        "from flask import request\nimport sqlite3\n\n\
         def echo(x):\n    return x\n\ndef fixed(x):\n    return 'fixed'\n\n\
         def f():\n    given = request.args.get('p')\n    piece = ''\n{lines}    \
         sqlite3.connect('x').cursor().execute('SELECT ' + piece)\n"
    );
    !findings(Lang::Python, &code).is_empty()
}

#[test]
fn assignments_carry_and_kill() {
    assert!(java("piece = given;"));
    assert!(!java("piece = given; piece = \"x\";"));
    assert!(java("piece = given.trim().toLowerCase();"));
    assert!(python("piece = given"));
    assert!(python("piece = f'{given}x'"));
    assert!(!python("piece = given\npiece = 'x'"));
}

#[test]
fn constant_conditions_cut_dead_branches() {
    assert!(!java("final int retries = 3; if (retries < 1) piece = given;"));
    assert!(java("final int retries = 3; if (retries * 2 == 6) piece = given;"));
    assert!(!java("boolean legacy = false; piece = legacy ? given : \"name\";"));
    assert!(java("boolean legacy = !false; piece = legacy ? given : \"name\";"));
    assert!(java("if (given.isEmpty()) piece = \"name\"; else piece = given;"));
    assert!(!python("page_size = 25\npiece = given if page_size % 2 == 0 else 'name'"));
    assert!(python("page_size = 25\nif page_size // 5 == 5:\n    piece = given"));
    assert!(!python("debug = False\nif debug and given:\n    piece = given"));
}

#[test]
fn switches_on_constants_take_one_case() {
    let sorted_by = |position: usize| {
        format!(
            "String order = \"asc,desc\"; switch (order.charAt({position})) {{ \
             case 'a': piece = given; break; case 's': piece = \"name\"; break; \
             case 'd': case 'e': piece = given; break; default: piece = \"id\"; }}"
        )
    };
    assert!(java(&sorted_by(0)));
    assert!(!java(&sorted_by(1)));
    assert!(!java(&sorted_by(2)));
    assert!(java(&sorted_by(4)));
}

#[test]
fn elements_are_kept_apart() {
    let column = |key: &str| {
        format!(
            "Map<String, String> columns = new TreeMap<>(); columns.put(\"sort\", given); \
             columns.put(\"table\", \"orders\"); piece = columns.get(\"{key}\");"
        )
    };
    assert!(java(&column("sort")));
    assert!(!java(&column("table")));
    let queue = |at: usize| {
        format!(
            "List<String> words = new LinkedList<>(); words.add(given); words.add(\"orders\"); \
             words.remove(0); words.add(given); piece = words.get({at});"
        )
    };
    assert!(!java(&queue(0)));
    assert!(java(&queue(1)));
    // After an insertion, nobody knows where an element stands; it is still there.
    assert!(java(
        "List<String> words = new LinkedList<>(); words.add(given); words.add(0, \"id\"); piece = words.get(1);"
    ));
    assert!(python("row = {'sort': given, 'table': 'orders'}\npiece = row['sort']"));
    assert!(!python("row = {'sort': given, 'table': 'orders'}\npiece = row['table']"));
    assert!(python("words = ['id']\nwords.append(given)\npiece = words[-1]"));
    assert!(!python("words = ['id']\nwords.append(given)\npiece = words[0]"));
    assert!(!python("words = [given, 'id', 'name']\nwords.pop(0)\npiece = words[0]"));
}

#[test]
fn functions_of_the_file_are_followed() {
    assert!(java("piece = echo(given);"));
    assert!(!java("piece = fixed(given);"));
    assert!(java("piece = new Inner().same(given);"));
    assert!(python("piece = echo(given)"));
    assert!(!python("piece = fixed(given)"));
}

#[test]
fn text_is_built_in_many_ways() {
    assert!(java(
        "StringBuilder b = new StringBuilder(\"x\"); b.append(given); piece = b.toString();"
    ));
    assert!(java("piece = new StringBuilder(given).append(\" DESC\").reverse().toString();"));
    assert!(java("piece = String.format(\"%s\", given);"));
    assert!(java("piece = new String(java.util.Base64.getUrlDecoder().decode(given), UTF_8);"));
    assert!(java("byte[] raw = given.getBytes(); piece = new String(raw);"));
    assert!(java("String[] parts = given.split(\",\"); piece = parts[0];"));
    assert!(java("String[] a = { \"x\", given }; piece = a[1];"));
    assert!(!java("String[] a = { \"x\", given }; piece = a[0];"));
    assert!(python("piece = '%s' % given"));
    assert!(python("piece = 'a{}'.format(given)"));
    assert!(python("piece = ''.join([given, 'x'])"));
    assert!(python(
        "import base64\npiece = base64.b64decode(base64.b64encode(given.encode())).decode()"
    ));
    assert!(python("piece += given"));
}

#[test]
fn guards_acquit_what_they_test() {
    assert!(!python("if given not in ('a', 'b'):\n    return\npiece = given"));
    assert!(python("if given:\n    piece = given"));
    assert!(!java("if (!ALLOWED.contains(given)) { return; } piece = given;"));
    assert!(!java("piece = String.valueOf(Integer.parseInt(given));"));
}

#[test]
fn loops_and_errors_are_followed() {
    assert!(python("for x in request.args.getlist('p'):\n    piece = x"));
    assert!(python("while True:\n    piece = given\n    break"));
    assert!(python("try:\n    piece = given\nexcept ValueError:\n    piece = ''"));
    assert!(java("for (String s : request.getParameterValues(\"x\")) { piece = s; }"));
    assert!(java(
        "for (Cookie sent : request.getCookies()) { if (\"theme\".equals(sent.getName())) piece = sent.getValue(); }"
    ));
    assert!(java("try { piece = given; } finally { close(); }"));
}

#[test]
fn the_way_is_told() {
    let code = "from flask import request\nimport sqlite3\ndef f():\n    a = request.args['x']\n    \
                b = 'SELECT ' + a\n    sqlite3.connect('x').execute(b)\n";
    let found = findings(Lang::Python, code);
    let lines: Vec<u64> = found[0].trace.iter().map(|step| step.line).collect();
    assert_eq!(lines, [4, 5, 6]);
    assert_eq!(found[0].trace[0].note, "the request brings it");
}

#[test]
fn scripts_and_go_carry_too() {
    let script = "const express = require('express');\nconst app = express();\n\
                  app.post('/x', async (request, response) => {\n  const { name: n } = request.body;\n  \
                  const sql = ['SELECT', n].join(' ');\n  const run = (q) => db.query(q);\n  run(sql);\n});\n";
    assert_eq!(findings(Lang::JavaScript, script).len(), 1);
    let go = "package p\nimport (\"net/http\"; \"database/sql\")\ntype s struct{ db *sql.DB }\n\
              func (s *s) h(w http.ResponseWriter, r *http.Request) {\n\tvar q struct{ Name string }\n\t\
              json.NewDecoder(r.Body).Decode(&q)\n\ts.run(q.Name)\n}\n\
              func (s *s) run(name string) {\n\ts.db.Query(\"SELECT \" + name)\n}\n";
    assert_eq!(findings(Lang::Go, go).len(), 1);
}

#[test]
fn what_is_known_where_a_loop_is_left_is_known_after_it() {
    assert!(java(
        "for (String c : given.split(\"-\")) { if (c.equals(\"a\")) { piece = given; break; } }"
    ));
    assert!(!java(
        "for (String c : given.split(\"-\")) { if (c.equals(\"a\")) { piece = \"x\"; break; } }"
    ));
    assert!(python("for c in given:\n    if c == 'a':\n        piece = given\n        break"));
    assert!(python(
        "while True:\n    piece = given\n    if len(piece) > 3:\n        continue\n    piece = ''"
    ));
}

#[test]
fn constants_of_several_ways_are_constants() {
    let code = "import os\ndef f(x):\n    c = 'sh'\n    if x:\n        c = 'bash'\n    os.system(c + ' -v')\n";
    let source = findings_of(Lang::Python, code, "dynamic-command");
    assert!(source.is_empty(), "{source:?}");
}

#[test]
fn what_a_function_puts_into_its_arguments_stays_there() {
    let code = "class A { void f(HttpServletRequest q) throws Exception {\n\
                List<String> l = new ArrayList<>(); fill(q, l);\n\
                connection.createStatement().executeQuery(\"SELECT \" + l.get(0)); }\n\
                void fill(HttpServletRequest q, List<String> out) { out.add(q.getParameter(\"p\")); } }\n";
    assert!(!findings(Lang::Java, code).is_empty());
    let harmless = code.replace("q.getParameter(\"p\")", "\"x\"");
    assert!(findings(Lang::Java, &harmless).is_empty());
}

fn go(body: &str) -> bool {
    let code = format!(
        "package a\nimport (\"net/http\"; \"database/sql\")\n\
         func f(w http.ResponseWriter, r *http.Request, db *sql.DB) {{\n\
         x := r.FormValue(\"x\")\n{body}\ndb.Query(\"SELECT \" + x)\n}}\n"
    );
    !findings(Lang::Go, &code).is_empty()
}

#[test]
fn the_outcome_of_a_test_can_be_kept_in_a_variable() {
    assert!(go(""));
    assert!(!go("ok := allowed[x]\nif !valid(x) { return }\n_ = ok"));
    assert!(!go("ok, _ := regexp.MatchString(\"^[a-z]+$\", x)\nif !ok { return }"));
    assert!(!go("if err := checkName(x); err != nil { return }"));
    assert!(go("if _, err := fetch(x); err != nil { return }"));
    // A test that leads to itself ends.
    assert!(go("ok := true\nfor i := range y { ok = ok && valid(i) }\nif ok { log() }"));
}

#[test]
fn values_go_through_channels_switches_and_second_results() {
    assert!(go("c := make(chan string)\nc <- x\nx = \"\"\nx = <-c"));
    assert!(!go("switch x {\ncase \"a\", \"b\":\ndefault: x = \"c\"\n}"));
    assert!(go("var y any = x\nx = \"\"\nswitch v := y.(type) {\ncase string: x = v\n}"));
    assert!(!go("x = fmt.Sprintf(\"%d\", x)"));
    assert!(go("x = fmt.Sprintf(\"%s\", x)"));
}

fn script(body: &str) -> bool {
    let code = format!(
        "const db = require(\"mysql\").createConnection({{}});\n\
         app.get(\"/\", (req, res) => {{\n  const given = req.query.p;\n  let piece = \"\";\n  {body}\n  \
         db.query(\"SELECT \" + piece);\n}});\n"
    );
    !findings(Lang::JavaScript, &code).is_empty()
}

#[test]
fn callbacks_leave_what_they_store_in_variables_around_them() {
    assert!(script("req.on(\"data\", (part) => { piece += part; });"));
    assert!(script("[given].forEach((one) => { piece = piece + one; });"));
    assert!(!script("[given].forEach((one) => { const piece = one; use(piece); });"));
    assert!(!script("[given].forEach((piece) => { piece = piece.trim(); });"));
    assert!(!script("[given].forEach(({ piece }) => { piece = piece.trim(); });"));
}

#[test]
fn comparisons_with_several_constants_acquit() {
    assert!(!script("if (given === \"a\" || given === \"b\") { piece = given; }"));
    assert!(!script("if (given !== \"a\" && given !== \"b\") { return; } piece = given;"));
    assert!(script("if (given === \"a\" || req.user) { piece = given; }"));
    assert!(script("if (given === \"a\" || req.query.q === \"b\") { piece = given; }"));
}

#[test]
fn elements_that_are_turned_into_numbers_carry_no_text() {
    assert!(!script("piece = given.split(\",\").map(Number).join(\",\");"));
    assert!(!script("piece = (Math.max(1, parseInt(given)) - 1) * 10;"));
    assert!(script("piece = given.split(\",\").map((x) => x.trim()).join(\",\");"));
}

#[test]
fn fields_of_a_request_that_are_called_like_a_number_are_text() {
    assert!(script("piece = req.query.size;"));
    assert!(!script("piece = given.length;"));
}

#[test]
fn replacements_by_a_pattern_in_a_variable_clean() {
    assert!(!script("const rest = /[^a-z]/g; piece = given.replace(rest, \"\");"));
    assert!(script("const rest = /[^a-z]/; piece = given.replace(rest, \"\");"));
}

#[test]
fn constructor_parameters_with_a_modifier_are_fields() {
    let code = "class A {\n  constructor(private readonly store: DataSource) {}\n  \
                find(@Query(\"q\") q: string) { return this.store.query(`SELECT ${q}`); }\n}\n";
    assert_eq!(findings(Lang::TypeScript, code).len(), 1);
}

#[test]
fn objects_keep_what_their_methods_store() {
    let classes = "  static class Query { private final StringBuilder q = new StringBuilder(); \
                   Query add(String s) { q.append(s); return this; } String text() { return q.toString(); } }\n  \
                   record Pair(String first, String second) {}\n  \
                   enum Kind { A, B }\n  \
                   interface Step { String go(String s); }\n  \
                   static class Same implements Step { public String go(String s) { return s; } }\n  \
                   static class Fixed implements Step { public String go(String s) { return \"x\"; } }\n  \
                   static String second(String... all) { return all[1]; }\n";
    let java = |body: &str| {
        let code = format!(
            "class A extends HttpServlet {{\n{classes}  void doPost(HttpServletRequest request) throws Exception {{\n    \
             String given = request.getParameter(\"p\");\n    String piece = \"\";\n    {body}\n    \
             connection.createStatement().executeQuery(\"SELECT \" + piece);\n  }}\n}}\n"
        );
        !findings(Lang::Java, &code).is_empty()
    };
    assert!(java("piece = new Query().add(\"a\").add(given).text();"));
    assert!(java("Query q = new Query(); q.add(given); piece = q.text();"));
    assert!(!java("Query q = new Query(); q.add(\"a\"); piece = q.text();"));
    assert!(java("Pair p = new Pair(given, \"x\"); piece = p.first();"));
    assert!(!java("Pair p = new Pair(given, \"x\"); piece = p.second();"));
    assert!(!java("piece = Kind.valueOf(given).name();"));
    assert!(java("Step s = new Same(); piece = s.go(given);"));
    assert!(!java("Step s = new Fixed(); piece = s.go(given);"));
    assert!(java("piece = second(\"x\", given);"));
    assert!(!java("piece = second(given, \"x\");"));
}

#[test]
fn two_names_of_one_object_see_the_same() {
    assert!(java(
        "java.util.List<String> l = new java.util.ArrayList<>(); java.util.List<String> m = l; m.add(given); piece = l.get(0);"
    ));
    assert!(!java(
        "java.util.List<String> l = new java.util.ArrayList<>(); java.util.List<String> m = new java.util.ArrayList<>(); \
         l.add(\"x\"); m.add(given); piece = l.get(0);"
    ));
    assert!(python("l = []\nm = l\nm.append(given)\npiece = l[0]"));
    assert!(java(
        "java.util.Map<String, java.util.List<String>> m = new java.util.HashMap<>(); \
         m.computeIfAbsent(\"k\", k -> new java.util.ArrayList<>()).add(given); piece = m.get(\"k\").get(0);"
    ));
    assert!(java(
        "java.util.Map<String, String> m = new java.util.HashMap<>(); m.put(given, \"x\"); \
         for (String k : m.keySet()) { piece = k; }"
    ));
}

#[test]
fn functions_are_values_that_can_be_called() {
    assert!(java("Supplier<String> s = () -> given; piece = s.get();"));
    assert!(!java("Supplier<String> s = () -> \"x\"; piece = s.get();"));
    assert!(java("Function<String, String> f = A::echo; piece = f.apply(given);"));
    assert!(!java("Function<String, String> f = A::fixed; piece = f.apply(given);"));
    assert!(java("piece = Stream.of(given).map(String::trim).collect(joining());"));
    assert!(java("piece = CompletableFuture.supplyAsync(() -> given).join();"));
    assert!(java("ThreadLocal<String> t = new ThreadLocal<>(); t.set(given); piece = t.get();"));
}

#[test]
fn either_of_two_tests_acquits_what_both_test() {
    assert!(!java("if (given.equals(\"a\") || given.equals(\"b\")) { piece = given; }"));
    assert!(java("if (given.equals(\"a\") || other.equals(\"b\")) { piece = given; }"));
    assert!(!java("if (given != null && !ALLOWED.contains(given)) { return; } piece = given;"));
}

#[test]
fn a_check_that_throws_acquits_what_it_was_given() {
    let java = |check: &str| {
        let code = format!(
            "class A {{ void f(HttpServletRequest q) throws Exception {{\n\
             String p = q.getParameter(\"p\"); check(p);\n\
             connection.createStatement().executeQuery(\"SELECT \" + p); }}\n{check} }}\n"
        );
        !findings(Lang::Java, &code).is_empty()
    };
    assert!(!java(
        "void check(String s) { if (!s.matches(\"[a-z]+\")) throw new IllegalArgumentException(); }"
    ));
    assert!(java(
        "boolean check(String s) { if (!s.matches(\"[a-z]+\")) return false; return true; }"
    ));
    assert!(java("void check(String s) { s = s.replaceAll(\"[^a-z]\", \"\"); log(s); }"));
}

#[test]
fn a_test_of_the_canonical_path_is_one_of_the_file() {
    let java = |body: &str| {
        let code = format!(
            "class A {{ void f(HttpServletRequest q, File dir) throws Exception {{\n\
             File file = new File(dir.getParent());\nString name = q.getParameter(\"p\");\n\
             Path target = dir.toPath().resolve(name);\n{body}\n\
             Files.newInputStream(target); }} }}\n"
        );
        let found = findings_of(Lang::Java, &code, "path-traversal");
        found.iter().any(|finding| finding.evidence.contains("newInputStream"))
    };
    assert!(java(""));
    assert!(!java(
        "String real = target.toFile().getCanonicalPath(); \
         if (!real.startsWith(dir.getCanonicalPath() + File.separator)) throw new IOException();"
    ));
}

#[test]
fn literals_of_go_keep_their_fields_apart() {
    assert!(go("v := row{name: x, note: \"n\"}\nx = v.name"));
    assert!(!go("v := row{name: x, note: \"n\"}\nx = v.note"));
    assert!(go("m := map[string]string{\"a\": x, \"b\": \"x\"}\nx = m[\"a\"]"));
    assert!(!go("m := map[string]string{\"a\": x, \"b\": \"x\"}\nx = m[\"b\"]"));
    assert!(go("l := []string{\"a\", x}\nx = strings.Join(l, \" \")"));
    assert!(!go("l := []string{\"a\", x}\nx = l[0]"));
}

#[test]
fn a_set_that_lets_only_some_pass_is_a_check() {
    let set = "ok := map[string]bool{\"a\": true}\n";
    assert!(!go(&format!("{set}if !ok[x] {{ return }}")));
    assert!(go(&format!("{set}if ok[x] {{ return }}")));
}

#[test]
fn a_builder_holds_what_is_written_to_it() {
    assert!(go("var b strings.Builder\nb.WriteString(\"x\")\nb.WriteString(x)\nx = b.String()"));
    assert!(!go(
        "var b strings.Builder\nb.WriteString(\"x\")\nb.WriteString(\"y\")\nx = b.String()"
    ));
    let query = "var b strings.Builder\nb.WriteString(\"DELETE FROM t WHERE a=\")\nb.WriteString(name)\ndb.Exec(b.String())";
    let code = format!("package p\nfunc f(db *sql.DB, name string) {{\n{query}\n}}\n");
    assert_eq!(findings_of(Lang::Go, &code, "dynamic-sql").len(), 1);
}

#[test]
fn what_two_ways_have_in_common_stays_known() {
    let code = |more: &str| {
        format!(
            "package p\nfunc f(db *sql.DB, name string) {{\n\tq := \"SELECT * FROM t WHERE 1=1\"\n\t\
             if name != \"\" {{\n\t\tq += {more}\n\t}}\n\tdb.Query(q)\n}}\n"
        )
    };
    let found = |more| findings_of(Lang::Go, &code(more), "dynamic-sql").len();
    assert_eq!(found("\" AND n='\" + name + \"'\""), 1);
    assert_eq!(found("\" AND n IS NULL\""), 0);
}

#[test]
fn a_part_of_a_text_is_what_stands_there() {
    assert!(!python("piece = ('keep' + given)[0:4]"));
    assert!(python("piece = ('keep' + given)[0:9]"));
    assert!(python("piece = ('keep' + given)[4:]"));
    assert!(!python("piece = ['a', given, 'c'][0:1][0]"));
    assert!(python("piece = ['a', given, 'c'][1:3][0]"));
}

#[test]
fn a_file_below_a_folder_has_the_name_that_is_put_behind_it() {
    let code = |name: &str| {
        format!(
            "import pathlib\nfrom flask import request\ndef f():\n    \
             p = pathlib.Path('/srv') / {name}\n    return p.read_text()\n"
        )
    };
    let found = |name| findings_of(Lang::Python, &code(name), "path-traversal").len();
    assert_eq!(found("request.args['n']"), 1);
    assert_eq!(found("'index.html'"), 0);
}

#[test]
fn fields_are_what_their_type_declares() {
    let code = |field: &str| {
        format!(
            "package p\nimport \"net/http\"\ntype s struct {{ {field} }}\n\
             func (s *s) f(w http.ResponseWriter, r *http.Request) {{ s.c.Get(r.FormValue(\"u\")) }}\n"
        )
    };
    assert_eq!(findings_of(Lang::Go, &code("c *http.Client"), "ssrf").len(), 1);
    assert_eq!(findings_of(Lang::Go, &code("c *cache"), "ssrf").len(), 0);

    let lent = "package p\nimport (\"os\"; \"github.com/beego/beego/v2/server/web\")\n\
                type page struct { web.Controller }\n\
                func (p *page) Get() { os.Remove(\"/d/\" + p.GetString(\"f\")) }\n";
    assert_eq!(findings_of(Lang::Go, lent, "path-traversal").len(), 1);

    let model = |ty: &str| {
        format!(
            "from fastapi import FastAPI\nfrom pydantic import BaseModel\nimport os\napp = FastAPI()\n\
             class Item(BaseModel):\n    n: {ty}\n\
             @app.post(\"/x\")\ndef f(item: Item):\n    os.system(\"x \" + str(item.n))\n"
        )
    };
    assert_eq!(findings_of(Lang::Python, &model("str"), "command-injection").len(), 1);
    assert_eq!(findings_of(Lang::Python, &model("int"), "command-injection").len(), 0);
}

/// Ten ways through each of six methods are sixty calls, not a million.
#[test]
fn ways_through_methods_do_not_multiply() {
    use std::fmt::Write as _;

    let mut code = String::from(
        "class A extends HttpServlet {\n  int kept;\n  \
         void doPost(HttpServletRequest request) throws Exception {\n    \
         int size = this.step0(7);\n    \
         connection.createStatement().executeQuery(\"SELECT \" + request.getParameter(\"p\"));\n  }\n",
    );
    for level in 0..5 {
        let call = format!("    if (this.kept > x) this.kept = this.step{}(x);\n", level + 1);
        let calls = call.repeat(10);
        let _ = write!(code, "  int step{level}(int x) {{\n{calls}    return x;\n  }}\n");
    }
    code.push_str("  int step5(int x) { return x; }\n}\n");
    let (found, unfinished) = examined(Lang::Java, &code);
    assert!(unfinished.is_empty(), "followed only in part: {unfinished:?}");
    assert!(found.iter().any(|finding| finding.rule == "sql-injection"), "{found:?}");
}

/// What a method does to its object is done by every call, known or not.
#[test]
fn a_call_that_was_followed_before_still_changes_its_object() {
    let body = |last: &str| {
        format!(
            "class A extends HttpServlet {{\n  String kept = \"\";\n  \
             void keep(String x) {{ kept = x; }}\n  void drop() {{ kept = \"none\"; }}\n  \
             void doPost(HttpServletRequest request) throws Exception {{\n    \
             String given = request.getParameter(\"p\");\n    \
             this.keep(given); this.drop(); this.keep(given); {last}\n    \
             connection.createStatement().executeQuery(\"SELECT \" + kept);\n  }}\n}}\n"
        )
    };
    assert!(!findings(Lang::Java, &body("")).is_empty());
    assert!(findings(Lang::Java, &body("this.drop();")).is_empty());
}
