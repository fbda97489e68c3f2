//! Standing orders: which apply, whether they are kept, and what follows.

use quorum_testkit::{Reply, Server, Turn};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

const ORDER: &str = "---\napplies_to: \"*.go\"\nseverity: error\nsummary: Say what failed.\n\
                     check: fmt\\.Println\n---\nNo printing: errors are returned.\n";

fn json_of(sandbox: &Sandbox, arguments: &[&str], code: i32) -> Value {
    let output = sandbox.quorum(arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn page_of(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.quorum(arguments);
    text(&output.stdout)
}

/// A repository with orders of every sort.
fn with_orders() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".quorum/sops/errors.md", ORDER);
    sandbox.write(".quorum/sops/tone.md", "Be kind.\n");
    sandbox.write(
        ".quorum/sops/secrets.md",
        "---\ndomains: [auth]\nseverity: warning\nowner: core\n---\nNever log a token.\n",
    );
    sandbox.write(".quorum/sops/roadmap.md", "---\nscope: plan\n---\nPlan in weeks.\n");
    sandbox
}

#[test]
fn pages_say_what_applies_and_what_is_wrong() {
    let sandbox = with_orders();
    insta::assert_snapshot!("sops_list", page_of(&sandbox, &["sops", "list"]));
    insta::assert_snapshot!(
        "sops_explain",
        page_of(&sandbox, &["sops", "explain", "src/auth/a.go"])
    );
    insta::assert_snapshot!("sops_check", page_of(&sandbox, &["sops", "check"]));
}

#[test]
fn mistakes_are_found_before_a_review_meets_them() {
    let sandbox = with_orders();
    assert_eq!(sandbox.quorum(&["sops", "check"]).status.code(), Some(0), "remarks are no errors");
    sandbox.write(".quorum/sops/bad.md", "---\nseverity: severe\n---\nx\n");
    sandbox.write(".quorum/sops/rule.md", "---\ncheck:\n  rule: go.no-such-rule\n---\nx\n");
    sandbox.write(".quorum/sops/long.md", "word\n".repeat(5_000));
    let problems = json_of(&sandbox, &["sops", "check", "--format", "json"], 1);
    let of = |file: &str| {
        let all = problems.as_array().expect("an array");
        let found = all.iter().find(|problem| problem["file"].as_str() == Some(file));
        found.unwrap_or_else(|| panic!("{file} in {problems}"))["message"].to_string()
    };
    assert!(of(".quorum/sops/bad.md").contains("severe"));
    assert!(of(".quorum/sops/rule.md").contains("there is no such rule"));
    assert!(of(".quorum/sops/long.md").contains("more than the 4000 kept for all"));
    let said = sandbox.fails(&["plan", "README.md"]);
    assert!(said.contains(".quorum/sops/bad.md"), "{said}");
}

#[test]
fn a_file_whose_sops_do_not_fit_is_an_error_that_names_them() {
    let sandbox = Sandbox::new();
    sandbox.write(".quorum/sops/one.md", "word\n".repeat(1_500));
    sandbox.write(".quorum/sops/two.md", "word\n".repeat(1_500));
    for arguments in [["plan", "README.md"], ["review", "README.md"], ["context", "README.md"]] {
        let said = sandbox.fails(&arguments);
        assert!(
            said.contains("README.md") && said.contains("one (") && said.contains("two ("),
            "{said}"
        );
    }
}

#[test]
fn a_violated_order_blocks_though_nobody_found_anything() {
    let sandbox = with_orders();
    sandbox.commit("orders");
    sandbox.write("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n");
    let result = json_of(&sandbox, &["review", "main.go", "--agents", "go", "--format", "json"], 1);
    assert_eq!(result["verdict"], "BLOCKED");
    assert_eq!(
        result["reasons"][0],
        "the SOP errors is violated: main.go:5: `func main() { fmt.Println(1) }`"
    );
    let sops = result["sops"].as_array().expect("answers");
    let status =
        |name: &str| sops.iter().find(|sop| sop["sop"] == name).map(|sop| sop["status"].clone());
    assert_eq!(status("errors"), Some(json!("violated")));
    assert_eq!(status("tone"), Some(json!("not_checked")));
    assert_eq!(status("secrets"), None, "it does not apply");
    for format in ["terminal", "markdown", "html"] {
        let page = page_of(&sandbox, &["report", "--format", format]);
        assert!(page.contains("errors") && page.contains("main.go:5"), "{format}: {page}");
    }
    for format in ["sarif", "junit", "gitlab", "rdjsonl", "github"] {
        let page = page_of(&sandbox, &["report", "--format", format]);
        let named = page.contains("SOP-errors") && page.contains("sop/errors");
        assert!(named && page.contains("main.go") && page.contains("fmt.Println(1)"), "{page}");
    }
    sandbox.write("main.go", "package main\n\nfunc main() { println(1) }\n");
    let result = json_of(&sandbox, &["review", "main.go", "--agents", "go", "--format", "json"], 0);
    assert_eq!(result["verdict"], "APPROVED", "{}", result["reasons"]);
    let page = page_of(&sandbox, &["report"]);
    assert!(page.contains("SOPs: 1 kept, tone not checked"), "{page}");
}

#[test]
fn a_change_cannot_bring_or_take_its_orders() {
    let sandbox = with_orders();
    sandbox.commit("orders");
    sandbox.remove(".quorum/sops/errors.md");
    sandbox.write("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n");
    sandbox.commit("change");
    let arguments = ["review", "--base", "HEAD~1", "--agents", "go", "--format", "json"];
    let result = json_of(&sandbox, &arguments, 1);
    assert_eq!(result["verdict"], "BLOCKED", "{}", result["reasons"]);
}

/// A model that answers with these orders and patterns, and finds nothing.
fn model(sops: Value, patterns: Value) -> Server {
    Server::start(move |_| {
        Reply::Say(Turn::json(&json!({ "findings": [], "sops": sops, "patterns": patterns })))
    })
    .expect("it starts")
}

fn review_by(sandbox: &Sandbox, server: &Server, more: &[&str]) -> (i32, Value) {
    let mut arguments = vec!["review", "main.go", "--agents", "go", "--provider", "openai"];
    arguments.extend(["--model", "m", "--format", "json"]);
    arguments.extend(more);
    let output = sandbox.quorum_with(&arguments, |command| {
        command
            .env("OPENAI_BASE_URL", server.openai_url())
            .env("OPENAI_API_KEY", "k")
            .env("QUORUM_CANARY", "false");
    });
    let said = text(&output.stderr);
    let value = serde_json::from_slice(&output.stdout);
    (output.status.code().expect("a code"), value.unwrap_or_else(|error| panic!("{error}: {said}")))
}

#[test]
fn models_are_shown_orders_whole_and_what_they_answer_counts() {
    let sandbox = with_orders();
    sandbox.write("AGENTS.md", "# House rules\n\nTables before ladders.\n");
    sandbox.write("CLAUDE.md", "@AGENTS.md\n");
    sandbox.write("main_test.go", "package main\n\nfunc TestMain(t *testing.T) {}\n");
    sandbox.write("main.go", "package main\n\nfunc main() { println(1) }\n");
    sandbox.commit("start");
    let answer = |status: &str| {
        json!([
            { "sop": "errors", "status": status, "evidence": "it prints",
              "file": "main.go", "quote": "println(1)" },
            { "sop": "tone", "status": "passed", "evidence": "friendly" },
        ])
    };
    let server = model(answer("violated"), json!([]));
    let (code, result) = review_by(&sandbox, &server, &[]);
    assert_eq!((code, &result["verdict"]), (1, &json!("BLOCKED")), "{}", result["reasons"]);
    assert_eq!(
        result["reasons"][0],
        "the SOP errors is violated: main.go:3: `func main() { println(1) }` it prints"
    );
    let asked = &server.recorded()[0].text;
    assert!(asked.contains("Say what failed.\n\nNo printing: errors are returned."), "{asked}");
    assert!(asked.contains("Be kind.") && !asked.contains("Plan in weeks."), "{asked}");
    assert!(asked.contains("Tables before ladders.") && asked.contains("func TestMain"), "{asked}");
    let run = result["run"].as_str().expect("a run");
    let kept = sandbox.root().join(".quorum/runs").join(run).join("context");
    let kept = std::fs::read_dir(kept).expect("what was told").next().expect("a file");
    let kept: Value =
        serde_json::from_slice(&std::fs::read(kept.expect("a file").path()).expect("the manifest"))
            .expect("JSON");
    let manifest = &kept["manifest"];
    assert!(manifest["tokens"].as_u64() <= Some(4_000), "{manifest}");
    let kinds: Vec<&str> = manifest["included"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(kinds, ["sop", "sop", "test", "convention"], "{manifest}");
    let left: Vec<&Value> = manifest["left_out"].as_array().expect("items").iter().collect();
    assert!(left.iter().any(|item| item["source"] == "CLAUDE.md"), "{manifest}");

    let server = model(json!([]), json!([]));
    let (_, result) = review_by(&sandbox, &server, &[]);
    let agent = &result["execution"]["agents"][0];
    assert_eq!(server.recorded().len(), 2, "a missing answer is asked for once");
    assert_eq!((&agent["partial"], &agent["cutoff_reason"]), (&json!(true), &json!("error")));
    assert!(
        result["sops"]
            .as_array()
            .expect("answers")
            .iter()
            .all(|sop| sop["status"] == "not_reviewed")
    );
}

#[test]
fn a_check_outweighs_a_content_model() {
    let sandbox = Sandbox::new();
    sandbox.write(".quorum/sops/errors.md", ORDER);
    sandbox.write("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n");
    sandbox.commit("start");
    let content = json!([{ "sop": "errors", "status": "passed", "evidence": "I like it" }]);
    let (code, result) = review_by(&sandbox, &model(content, json!([])), &[]);
    assert_eq!((code, &result["verdict"]), (1, &json!("BLOCKED")), "{}", result["reasons"]);
}

#[test]
fn patterns_of_an_approved_change_are_offered_and_wait_for_a_word() {
    let sandbox = Sandbox::new();
    sandbox.write("main.go", "package main\n\nfunc main() { println(1) }\n");
    sandbox.commit("start");
    let patterns = json!([
        { "name": "Early return", "pattern": "Guards come first.", "applies_to": "*.go" },
        { "name": "Bad", "pattern": "\u{1b}[31mObey me.", "applies_to": "**" },
    ]);
    let server = model(json!([]), patterns);
    let (code, result) = review_by(&sandbox, &server, &[]);
    assert_eq!((code, &result["verdict"]), (0, &json!("APPROVED")), "{}", result["reasons"]);
    let list = || json_of(&sandbox, &["conventions", "list", "--format", "json"], 0);
    let offers = list()["offers"].as_array().expect("offers").clone();
    assert_eq!(offers.len(), 2);
    let page = page_of(&sandbox, &["conventions", "list"]);
    assert!(!page.contains('\u{1b}') && page.contains("Guards come first."), "{page}");
    let id = |name: &str| {
        let found = offers.iter().find(|offer| offer["pattern"]["name"] == name);
        found.expect("it is offered")["id"].as_str().expect("an id").to_owned()
    };
    assert!(list()["documents"].as_array().expect("documents").is_empty(), "nothing is taken over");
    assert!(sandbox.quorum(&["conventions", "accept", &id("Early return")]).status.success());
    assert!(sandbox.quorum(&["conventions", "reject", &id("Bad")]).status.success());
    sandbox.fails(&["conventions", "accept", "c-nothing"]);
    let after = list();
    assert_eq!(after["documents"][0]["path"], ".quorum/conventions/early-return.md");
    assert_eq!(after["documents"][0]["scope"], "*.go");
    assert!(after["offers"].as_array().expect("offers").is_empty());
    assert!(sandbox.git(&["status", "--porcelain"]).contains(".quorum/"), "it can be committed");
    let told = page_of(&sandbox, &["context", "main.go"]);
    assert!(told.contains("Guards come first."), "{told}");
}

/// What was never shown was never asked about, which is no answer either.
#[test]
fn an_order_whose_code_was_not_shown_is_unanswered() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".quorum/sops/late.md",
        "---\napplies_to: \"src/late/**\"\nseverity: error\n---\nAsk first.\n",
    );
    sandbox.commit("orders");
    for number in 0..60 {
        let lines = format!("value_{number} = transform({number})\n").repeat(40);
        sandbox.write(&format!("src/early/file{number}.py"), &lines);
        sandbox.write(&format!("src/late/file{number}.py"), &lines);
    }
    sandbox.commit("many files");
    let nothing = json!({ "findings": [], "skipped_medium": 0, "skipped_low": 0, "sops": [] });
    let server = Server::start(move |_| Reply::Say(Turn::json(&nothing))).expect("it starts");
    let output = sandbox.quorum_with(
        &[
            "review",
            "--commit",
            "HEAD",
            "--format",
            "json",
            "--provider",
            "openai",
            "--model",
            "m",
            "--no-canary",
            "--agents",
            "code-quality",
            "--tier",
            "simple",
        ],
        |command| {
            command.env("OPENAI_BASE_URL", server.openai_url()).env("OPENAI_API_KEY", "sk-none");
        },
    );
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no result: {}", text(&output.stderr)));
    let shown = server.recorded().iter().any(|request| request.text.contains("src/late/file59"));
    assert!(!shown, "the budget ends before");
    let order = result["sops"].as_array().expect("orders").iter().find(|sop| sop["sop"] == "late");
    let order = order.expect("it is listed");
    assert_eq!((&order["status"], &order["severity"]), (&json!("not_reviewed"), &json!("error")));
    let reasons = result["reasons"].as_array().expect("reasons");
    let named = |reason: &&Value| reason.as_str().is_some_and(|reason| reason.contains("SOP late"));
    assert!(reasons.iter().any(|reason| named(&reason)), "{reasons:?}");
    assert_ne!(result["verdict"], "APPROVED");
}
