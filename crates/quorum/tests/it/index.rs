//! The index by hand: `index`, `search`, `symbols`, `callers`, `summary` and `map`.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::{body_string_contains, header, method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::sandbox::{Sandbox, text};

fn ask(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    let output = sandbox.quorum(&all);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn sample() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/shop.py", "from .money import price\n\n\nclass Shop:\n    \"\"\"Sells things.\"\"\"\n\n    def sell(self, thing):\n        return price(thing)\n");
    sandbox.write(
        "src/money.py",
        "def price(thing):\n    \"\"\"What a thing costs.\"\"\"\n    return 1\n",
    );
    sandbox.write("target/out.py", "def ignored_by_git(): pass\n");
    sandbox.write("skip/me.py", "def ignored_by_quorum(): pass\n");
    sandbox.write(".gitignore", "target/\n");
    sandbox.write(".quorumignore", "skip/\n");
    sandbox.write("go.sum", "x v1 h1:abc=\n");
    sandbox.commit("a shop");
    sandbox
}

#[test]
fn a_second_run_parses_only_what_changed() {
    let sandbox = sample();
    let first = ask(&sandbox, &["index"]);
    assert_eq!((&first["parsed"], &first["branch"]), (&json!(6), &json!("main")));
    assert_eq!(first["revision"], sandbox.git(&["rev-parse", "HEAD"]).trim());
    sandbox.write("src/money.py", "def price(thing):\n    return 2\n");
    let second = ask(&sandbox, &["index"]);
    assert_eq!((&second["parsed"], &second["removed"]), (&json!(1), &json!(0)));
    sandbox.git(&["checkout", "--quiet", "--force", "-b", "other"]);
    sandbox.git(&["mv", "src/shop.py", "src/store.py"]);
    sandbox.git(&["checkout", "--", "src/money.py"]);
    let third = ask(&sandbox, &["index"]);
    assert_eq!((&third["parsed"], &third["reused"]), (&json!(0), &json!(2)));
    assert_eq!((&third["removed"], &third["branch"]), (&json!(1), &json!("other")));
    assert_eq!(sandbox.git(&["status", "--porcelain", "--", ".quorum"]), "");
}

#[test]
fn what_scope_leaves_out_is_left_out_here() {
    let sandbox = sample();
    let report = ask(&sandbox, &["index"]);
    let skipped: Vec<&str> = report["skipped"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|f| f["path"].as_str())
        .collect();
    assert_eq!(skipped, ["go.sum"]);
    for word in ["ignored_by_git", "ignored_by_quorum"] {
        assert_eq!(ask(&sandbox, &["search", word])["results"], json!([]), "{word}");
        assert_eq!(ask(&sandbox, &["search", "--exact", word])["results"], json!([]), "{word}");
    }
}

#[test]
fn search_keeps_itself_up_to_date() {
    let sandbox = sample();
    let first = |query: &str| {
        let found = ask(&sandbox, &["search", query]);
        found["results"][0]["symbol"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(first("price"), "price");
    sandbox.write("src/new.py", "def haggle(price):\n    return price - 1\n");
    assert_eq!(first("haggle"), "haggle");
    sandbox.remove("src/new.py");
    assert_eq!(ask(&sandbox, &["search", "haggle"])["results"], json!([]));
    let said = sandbox.fails(&["search", "price", "--no-update", "-C", "/"]);
    assert!(said.contains("there is no index"), "{said}");
}

#[test]
fn results_follow_the_schema_and_the_budget() {
    let sandbox = sample();
    let found =
        ask(&sandbox, &["search", "what a thing costs", "--content", "full", "--budget", "60"]);
    let schema: Value =
        serde_json::from_str(include_str!("../../../../schemas/search.json")).expect("a schema");
    let valid = jsonschema::validator_for(&schema).expect("it compiles");
    assert!(valid.is_valid(&found), "{found:#}");
    assert_eq!(found["results"][0]["symbol"], "price");
    assert!(found["tokens"].as_u64().expect("a number") <= 60);
    for field in ["path", "start_line", "end_line", "symbol", "kind", "score", "tokens", "content"]
    {
        assert!(found["results"][0].get(field).is_some(), "{field}");
    }
}

#[test]
fn symbols_callers_summary_and_map() {
    let sandbox = sample();
    let symbols = ask(&sandbox, &["symbols", "src/shop.py"]);
    assert_eq!(symbols["symbols"][1]["signature"], "def sell(self, thing)");
    let from_inside = ask(&sandbox, &["symbols", "shop.py", "-C", "src"]);
    assert_eq!(from_inside, symbols);
    let callers = ask(&sandbox, &["callers", "price"]);
    assert_eq!(callers["callers"][0]["caller"], "Shop.sell");
    let references = ask(&sandbox, &["symbols", "--references", "src/shop.py"]);
    assert_eq!(references["imports"][0]["files"], json!(["src/money.py"]));
    let summary = ask(&sandbox, &["summary", "src/shop.py"]);
    assert!(summary["text"].as_str().expect("text").contains("def sell"));
    let map = ask(&sandbox, &["map", "--budget", "100"]);
    assert!(map["tokens"].as_u64().expect("a number") <= 100);
    assert_eq!(map["symbols"][0]["name"], "price");
    let said = sandbox.fails(&["symbols", "src/nothing.py"]);
    assert!(said.contains("`src/nothing.py` is not in the index"), "{said}");
}

#[test]
fn text_is_found_without_a_repository_and_without_an_index() {
    let sandbox = Sandbox::bare_folder();
    sandbox.write("notes/a.txt", "one\nneedle (here)\n");
    let found = ask(&sandbox, &["search", "--exact", "needle (here)"]);
    assert_eq!(found["results"][0]["start_line"], 2);
    let found = ask(&sandbox, &["search", "--regex", "^n\\w+e "]);
    assert_eq!(found["method"], "regex");
    assert!(!sandbox.root().join(".quorum").exists());
    let said = sandbox.fails(&["search", "--regex", "("]);
    assert!(said.contains("is not a pattern"), "{said}");
}

#[expect(clippy::disallowed_methods, reason = "the binary under test, to be killed")]
fn start_index(sandbox: &Sandbox) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
    command.args(["index", "--quiet"]).current_dir(sandbox.root());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

#[test]
fn a_run_that_is_killed_at_any_moment_leaves_nothing_wrong() {
    let sandbox = Sandbox::empty();
    for file in 0..300 {
        let function = |n| format!("def work_{file}_{n}(value):\n    return helper_{n}(value)\n\n");
        let functions = (0..30).map(function).collect::<Vec<_>>().concat();
        sandbox.write(&format!("pkg{}/m{file}.py", file % 7), functions);
    }
    let answers = || {
        let mut report = ask(&sandbox, &["index"]);
        for count in ["parsed", "reused", "unchanged"] {
            report[count] = Value::Null;
        }
        let map = ask(&sandbox, &["map", "--budget", "3000"]);
        let found = ask(&sandbox, &["search", "work value", "--limit", "50"]);
        (report, map, found)
    };
    for round in 0..14_u64 {
        let mut child = start_index(&sandbox);
        std::thread::sleep(Duration::from_millis(round * round * 3));
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        // Each time a little more is new.
        sandbox.write(&format!("pkg0/late{round}.py"), format!("def late_{round}(): pass\n"));
    }
    let kept = answers();
    std::fs::remove_dir_all(sandbox.root().join(".quorum")).expect("it is safe to delete");
    assert_eq!(kept, answers());
}

/// A stand-in for an embeddings endpoint: texts about prices point one way, all others another.
async fn stand_in() -> MockServer {
    let server = MockServer::start().await;
    let answer = |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        let inputs = body["input"].as_array().expect("texts");
        let vector = |text: &Value| {
            let about = text.as_str().unwrap_or_default();
            if about.contains("price") || about.contains("invoice") {
                [1.0, 0.0]
            } else {
                [0.0, 1.0]
            }
        };
        let data: Vec<Value> = inputs
            .iter()
            .enumerate()
            .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
            .collect();
        ResponseTemplate::new(200).set_body_json(json!({ "data": data }))
    };
    Mock::given(method("POST"))
        .and(path("/v1/embeddings"))
        .and(header("authorization", "Bearer key-of-the-user"))
        .and(body_string_contains("small-model"))
        .respond_with(answer)
        .mount(&server)
        .await;
    server
}

#[test]
fn a_stand_in_endpoint_finds_by_meaning_and_is_sent_no_secret() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let server = runtime.block_on(stand_in());
    let sandbox = sample();
    sandbox.write("src/key.py", "aws_key = \"AKIAQYLPMN5HHHFPZAM2\"\n");
    let url = format!("{}/v1", server.uri());
    let search = |arguments: &[&str]| {
        let output = sandbox.quorum_with(arguments, |command| {
            command.env("QUORUM_EMBEDDINGS_URL", &url);
            command.env("QUORUM_EMBEDDINGS_MODEL", "small-model");
            command.env("OPENAI_API_KEY", "key-of-the-user");
        });
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let found = search(&["search", "an invoice", "--format", "json"]);
    assert_eq!(
        (&found["method"], &found["results"][0]["symbol"]),
        (&json!("fused"), &json!("price"))
    );
    let sent = runtime.block_on(server.received_requests()).expect("it records");
    assert!(sent.iter().any(|request| text(&request.body).contains("aws_key")));
    assert!(sent.iter().all(|request| !text(&request.body).contains("AKIAQYLPMN5HHHFPZAM2")));
    let requests = sent.len();
    search(&["search", "an invoice", "--format", "json"]);
    let sent = runtime.block_on(server.received_requests()).expect("it records");
    // Nothing is embedded twice: the query alone was sent.
    assert_eq!(sent.len(), requests + 1);
}

#[test]
fn an_endpoint_that_fails_leaves_search_by_words() {
    let sandbox = sample();
    let output = sandbox.quorum_with(&["search", "price", "--format", "json"], |command| {
        command.env("QUORUM_EMBEDDINGS_URL", "http://example.org/v1");
    });
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("would carry code and a key in the open"));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&found["method"], &found["results"][0]["symbol"]),
        (&json!("words"), &json!("price"))
    );
    sandbox.write("quorum.toml", "[embeddings]\nurl = \"https://example.org\"\n");
    let output = sandbox.quorum(&["search", "price"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("not used without your consent: embeddings.url"), "{said}");
}
