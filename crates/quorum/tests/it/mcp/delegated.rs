//! A review that a host's own agents carry out, by a host that follows a script.

use std::collections::BTreeMap;

use quorum_testkit::{Reply, Server, Turn};
use serde_json::{Value, json};

use super::client::{Client, tokens};
use crate::sandbox::{Sandbox, text};

const AGENTS: [&str; 6] =
    ["security", "code-quality", "rust", "documentation", "user-persona", "vulnerability"];

/// A repository and a change of 400 files, every twentieth with a defect that only a reader sees.
fn with_400_files() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..380 {
        let word = if number % 20 == 7 { "wrong" } else { "right" };
        let code = format!(
            "//! Module {number}.\n\n/// Says whether it is {word}.\npub fn answer_{number}(input: u32) -> u32 {{\n    \
             let doubled = input * 2;\n    doubled + {number} // it is {word}_{number}\n}}\n"
        );
        sandbox.write(&format!("src/part{}/m{number}.rs", number % 9), code);
    }
    for number in 0..19 {
        sandbox
            .write(&format!("docs/page{number}.md"), format!("# Page {number}\n\nSome words.\n"));
    }
    sandbox
        .write("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    sandbox
}

/// What the scripted reviewer finds in what it is shown, whoever shows it.
fn findings(shown: &str) -> Vec<Value> {
    let agent = shown
        .split("You are ")
        .find_map(|rest| rest.split_once("-reviewer ("))
        .map(|(name, _)| name);
    let (severity, category) = match agent {
        Some("security") => ("HIGH", "auth"),
        Some("rust") => ("MEDIUM", "correctness"),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut file = String::new();
    for line in shown.lines() {
        if let Some(rest) = line.split_once(" path=\"").filter(|_| line.starts_with("<file-")) {
            rest.1.split('"').next().unwrap_or_default().clone_into(&mut file);
        }
        if let Some((_, code)) =
            line.split_once(" +").filter(|(_, code)| code.contains("// it is wrong_"))
        {
            found.push(json!({
                "severity": severity, "category": category, "file": file, "line": null,
                "evidence": code, "issue": "The answer is wrong for every input",
                "recommendation": "Make it right", "cwe": null, "confidence": 0.9,
                "cause_file": null, "cause_quote": null,
            }));
        }
    }
    found
}

/// The lines of `review_begin` that name parts, and the run.
fn parts(answer: &str) -> (String, Vec<String>) {
    let run = answer.strip_prefix("Run ").and_then(|rest| rest.split(':').next());
    let lines = answer.lines().filter(|line| line.starts_with("br_"));
    let branches = lines.map(|line| line.split(' ').next().expect("a branch").to_owned());
    (run.expect("a run").to_owned(), branches.collect())
}

fn brief(sandbox: &Sandbox, run: &str, branch: &str) -> (String, String) {
    let path = sandbox.root().join(format!(".quorum/runs/{run}/tasks/{branch}.md"));
    let text = std::fs::read_to_string(path).expect("a brief");
    let receipt = text.lines().last().and_then(|line| line.strip_prefix("Receipt: "));
    let receipt = receipt.expect("a receipt").to_owned();
    (text, receipt)
}

fn result(sandbox: &Sandbox, run: &str) -> Value {
    let path = sandbox.root().join(format!(".quorum/runs/{run}/result.json"));
    serde_json::from_slice(&std::fs::read(path).expect("a result")).expect("JSON")
}

/// What must be the same whoever carried the review out.
fn essence(result: &Value) -> Value {
    let findings = result["findings"].as_array().expect("findings").iter().map(|finding| {
        json!([
            finding["fingerprint"],
            finding["severity"],
            finding["file"],
            finding["line"],
            finding["agents"],
            finding["evidence"]
        ])
    });
    json!({
        "verdict": result["verdict"],
        "exit_code": result["exit_code"],
        "reasons": result["reasons"],
        "findings": findings.collect::<Vec<_>>(),
        "uncovered": result["coverage"]["uncovered"],
        "rejected": result["rejected"],
    })
}

#[test]
fn six_agents_review_400_files_and_the_host_reads_little() {
    let sandbox = with_400_files();
    let mut client = Client::start(&sandbox, &[]);
    let mut entered = 0;
    let asked = json!({ "scope": "uncommitted", "agents": AGENTS });
    let begun = client.tool("review_begin", asked.clone())[0].clone();
    entered += tokens(&begun) + tokens(&asked.to_string());
    let (run, branches) = parts(&begun);
    assert!(begun.starts_with(&format!("Run {run}: 400 files")), "{begun}");
    for (number, branch) in branches.iter().enumerate() {
        if number == branches.len() / 2 {
            // In the middle of it the server is killed and started again.
            client = Client::start(&sandbox, &[]);
        }
        let (text, receipt) = brief(&sandbox, &run, branch);
        let submitted = client.json(
            "submit_findings",
            json!({ "branch_id": branch,
            "receipt": receipt, "findings": findings(&text), "done": true }),
        );
        assert_eq!(submitted["done"], true, "{submitted}");
        assert!(submitted.get("not_recorded").is_none(), "{submitted}");
        let said = format!("done {branch}");
        entered += tokens(&said);
    }
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    entered += tokens(&decided) + tokens(&run);
    println!("{} parts, {entered} tokens enter the host's context", branches.len());
    assert!(entered < 2_000, "{entered} tokens enter the host's context");
    assert!(decided.lines().count() <= 15, "{decided}");
    let delegated = result(&sandbox, &run);
    let covered = delegated["coverage"]["files"].as_array().expect("files");
    assert_eq!(covered.len(), 400);
    for file in covered {
        let agents = file["agents"].as_object().expect("agents");
        assert!(agents.values().any(|state| state == "reviewed"), "{file}");
        assert!(agents.values().all(|state| state != "skipped" && state != "partial"), "{file}");
    }
    assert_eq!(essence(&delegated), essence(&by_a_model()));
    let replayed = sandbox.quorum(&["replay", &run, "--format", "json"]);
    let replayed: Value = serde_json::from_slice(&replayed.stdout).expect("JSON");
    assert_eq!(replayed["verdict"], delegated["verdict"]);
}

/// The same findings, through `quorum review` and a model.
fn by_a_model() -> Value {
    let server = Server::start(|asked| {
        let mut turn = Turn::default();
        for finding in findings(asked.text) {
            turn = turn.call("report_finding", &finding);
        }
        Reply::Say(turn.call("done", &json!({ "skipped_medium": 0, "skipped_low": 0, "sops": [] })))
    })
    .expect("a server");
    let sandbox = with_400_files();
    let agents = format!("--agents={}", AGENTS.join(","));
    let arguments = [
        "review",
        "--staged",
        "--unstaged",
        "--untracked",
        "--provider=openai",
        "--model=gpt-5",
        "--complete",
        &agents,
        "--format=json",
    ];
    let output = sandbox.quorum_with(&arguments, |command| {
        command.env("OPENAI_BASE_URL", server.openai_url()).env("OPENAI_API_KEY", "k");
    });
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

fn small_change() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "pub fn one() -> u32 {\n    let unused = 2;\n    1\n}\n");
    sandbox.write("src/two.rs", "pub fn two() -> u32 {\n    let two = 22;\n    two\n}\n");
    sandbox
}

fn finding(evidence: &str) -> Value {
    json!({ "severity": "HIGH", "category": "correctness", "file": "src/two.rs", "line": 2,
        "evidence": evidence, "issue": "Two is not twenty-two", "recommendation": "Return 2" })
}

fn begin(client: &mut Client, agents: &[&str]) -> (String, BTreeMap<String, String>) {
    let begun = client.tool("review_begin", json!({ "scope": "uncommitted", "agents": agents }));
    let (run, _) = parts(&begun[0]);
    let named = begun[0].lines().filter(|line| line.starts_with("br_")).map(|line| {
        let (branch, agent) = line.split_once(' ').expect("an agent");
        (agent.to_owned(), branch.to_owned())
    });
    (run, named.collect())
}

#[test]
fn an_agent_that_never_comes_back_is_a_failed_agent() {
    let sandbox = small_change();
    let mut client = Client::start(&sandbox, &[]);
    let (run, branches) = begin(&mut client, &["rust", "code-quality"]);
    let branch = &branches["rust-reviewer"];
    let (_, receipt) = brief(&sandbox, &run, branch);
    client.tool(
        "submit_findings",
        json!({ "branch_id": branch, "receipt": receipt,
        "findings": [], "done": true }),
    );
    let waiting = client.json("review_status", json!({ "run": run }));
    assert_eq!((&waiting["done"], &waiting["total"]), (&json!(1), &json!(2)));
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    assert!(decided.contains("Did not finish: code-quality-reviewer"), "{decided}");
    assert!(!decided.starts_with("APPROVED"), "{decided}");
    // It comes back late: the review is decided again.
    let branch = &branches["code-quality-reviewer"];
    let (_, receipt) = brief(&sandbox, &run, branch);
    client.tool(
        "submit_findings",
        json!({ "branch_id": branch, "receipt": receipt,
        "findings": [], "done": true }),
    );
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    assert!(decided.starts_with("APPROVED"), "{decided}");
}

#[test]
fn a_refused_finding_is_corrected_once_and_an_unread_brief_covers_nothing() {
    let sandbox = small_change();
    let mut client = Client::start(&sandbox, &[]);
    let (run, branches) = begin(&mut client, &["rust"]);
    let branch = &branches["rust-reviewer"];
    let (_, receipt) = brief(&sandbox, &run, branch);
    let submit = |client: &mut Client, finding: Value, receipt: Option<&str>| {
        client.json(
            "submit_findings",
            json!({ "branch_id": branch, "receipt": receipt,
            "findings": [finding], "done": true }),
        )
    };
    let first = submit(&mut client, finding("let two = 33;"), None);
    assert_eq!(first["not_recorded"][0]["refused"], "quote_not_found", "{first}");
    assert_eq!(first["not_recorded"][0]["correct"], true);
    assert!(first["unread"].as_str().unwrap().contains(branch), "{first}");
    let unread = client.tool("review_finish", json!({ "run": run }))[0].clone();
    assert!(!unread.starts_with("APPROVED"), "nothing was proven to be read: {unread}");
    let second = submit(&mut client, finding("    let two = 22;"), Some(&receipt));
    assert_eq!((&second["recorded"], second.get("unread")), (&json!(1), None), "{second}");
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    assert!(decided.starts_with("CHANGES_REQUESTED"), "{decided}");
    assert!(decided.contains("src/two.rs:2 Two is not twenty-two"), "{decided}");
    let ended = client.code("submit_findings", json!({ "branch_id": branch, "findings": [] }));
    assert_eq!(ended, "BRANCH_NOT_ACTIVE");
}

#[test]
fn what_a_part_looks_up_is_charged_and_its_partial_findings_count() {
    let sandbox = small_change();
    let mut client = Client::start(&sandbox, &[]);
    let (run, branches) = begin(&mut client, &["rust"]);
    let branch = &branches["rust-reviewer"];
    let before = client.json("branch_status", json!({ "branch_id": branch }));
    let mut used = before["budget_used"].as_u64().unwrap();
    assert!(used > 0, "the code in its brief is charged: {before}");
    let (_, receipt) = brief(&sandbox, &run, branch);
    client.tool(
        "submit_findings",
        json!({ "branch_id": branch, "receipt": receipt,
        "findings": [finding("let two = 22;")] }),
    );
    let refused = loop {
        let answer = client.call("plan", json!({ "scope": "uncommitted", "branch_id": branch }));
        let blocks = answer["result"]["content"].as_array().unwrap().clone();
        let texts: Vec<&str> = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
        if answer["result"]["isError"] == true {
            break texts[0].to_owned();
        }
        used += texts.iter().map(|text| tokens(text)).sum::<u64>();
    };
    assert!(refused.contains("BUDGET_"), "{refused}");
    let after = client.json("branch_status", json!({ "branch_id": branch }));
    assert_eq!(after["budget_used"], used);
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    assert!(decided.contains("Two is not twenty-two"), "{decided}");
    let result = result(&sandbox, &run);
    assert_eq!(result["execution"]["agents"][0]["partial"], true);
}

#[test]
fn what_changed_since_the_review_began_is_not_decided() {
    let sandbox = small_change();
    let mut client = Client::start(&sandbox, &[]);
    let (run, _) = begin(&mut client, &["rust"]);
    sandbox.write("src/two.rs", "pub fn two() -> u32 {\n    2 + 2\n}\n// more\n");
    assert_eq!(client.code("review_finish", json!({ "run": run })), "CHANGED");
}

#[test]
fn siblings_do_not_see_each_other() {
    let sandbox = small_change();
    let mut client = Client::start(&sandbox, &[]);
    let (run, branches) = begin(&mut client, &["rust", "code-quality"]);
    let branch = &branches["rust-reviewer"];
    let (_, receipt) = brief(&sandbox, &run, branch);
    client.tool(
        "submit_findings",
        json!({ "branch_id": branch, "receipt": receipt,
        "findings": [finding("let two = 22;")], "done": true }),
    );
    let other = &branches["code-quality-reviewer"];
    let seen = [
        client.tool("verdicts", json!({ "branch_id": other })).concat(),
        client.tool("branch_status", json!({ "session_id": run })).concat(),
        client.tool("review_status", json!({ "run": run })).concat(),
    ];
    for text in seen {
        assert!(!text.contains("twenty-two"), "{text}");
    }
    let early = client.code("finding", json!({ "id": "RUST-001", "branch_id": other }));
    assert_eq!(early, "RUN_UNDECIDED");
}
