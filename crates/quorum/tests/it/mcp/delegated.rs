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
        command.env("QUORUM_CANARY", "false");
    });
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

fn small_change() -> Sandbox {
    small_change_under(&[])
}

/// A small change in a repository with standing orders: names and texts.
fn small_change_under(orders: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, order) in orders {
        sandbox.write(&format!(".quorum/sops/{name}.md"), order);
        sandbox.commit("an order");
    }
    sandbox.write("src/lib.rs", "pub fn one() -> u32 {\n    let unused = 2;\n    1\n}\n");
    sandbox.write("src/two.rs", "pub fn two() -> u32 {\n    let two = 22;\n    two\n}\n");
    sandbox
}

fn finding(evidence: &str) -> Value {
    json!({ "severity": "HIGH", "category": "correctness", "file": "src/two.rs", "line": 2,
        "evidence": evidence, "issue": "Two is not twenty-two", "recommendation": "Return 2" })
}

/// A delegated review of a small change that has just begun.
struct Begun {
    sandbox: Sandbox,
    client: Client,
    run: String,
    /// The branch of each agent.
    branches: BTreeMap<String, String>,
}

impl Begun {
    fn new(agents: &[&str]) -> Self {
        Self::of(small_change(), json!({ "agents": agents }))
    }

    fn of(sandbox: Sandbox, mut asked: Value) -> Self {
        asked["scope"] = json!("uncommitted");
        let mut client = Client::start(&sandbox, &[]);
        let begun = client.tool("review_begin", asked)[0].clone();
        let run = parts(&begun).0;
        Self { sandbox, client, run, branches: by_agent(&begun) }
    }

    /// Has `agent` report `report` as one who read its brief and is done.
    fn submit(&mut self, agent: &str, mut report: Value) -> Value {
        let branch = &self.branches[agent];
        report["branch_id"] = json!(branch);
        report["receipt"] = json!(brief(&self.sandbox, &self.run, branch).1);
        report["done"] = json!(true);
        if report.get("findings").is_none() {
            report["findings"] = json!([]);
        }
        self.client.json("submit_findings", report)
    }

    fn finish(&mut self) -> String {
        self.client.tool("review_finish", json!({ "run": self.run }))[0].clone()
    }

    fn result(&self) -> Value {
        result(&self.sandbox, &self.run)
    }
}

/// The branches that lines name, by their agents.
fn by_agent(lines: &str) -> BTreeMap<String, String> {
    let named = lines.lines().filter(|line| line.starts_with("br_"));
    let named = named.map(|line| line.split_once(' ').expect("an agent"));
    named.map(|(branch, agent)| (agent.to_owned(), branch.to_owned())).collect()
}

#[test]
fn an_agent_that_never_comes_back_is_a_failed_agent() {
    let mut review = Begun::new(&["rust", "code-quality"]);
    review.submit("rust-reviewer", json!({}));
    let waiting = review.client.json("review_status", json!({ "run": review.run }));
    assert_eq!((&waiting["done"], &waiting["total"]), (&json!(1), &json!(2)));
    let decided = review.finish();
    assert!(decided.contains("Did not finish: code-quality-reviewer"), "{decided}");
    assert!(!decided.starts_with("APPROVED"), "{decided}");
    // It comes back late: the review is decided again.
    review.submit("code-quality-reviewer", json!({}));
    let decided = review.finish();
    assert!(decided.starts_with("APPROVED"), "{decided}");
}

#[test]
fn a_refused_finding_is_corrected_once_and_an_unread_brief_covers_nothing() {
    let mut review = Begun::new(&["rust"]);
    let branch = review.branches["rust-reviewer"].clone();
    let unproven = json!({ "branch_id": branch, "findings": [finding("let two = 33;")],
        "done": true });
    let first = review.client.json("submit_findings", unproven);
    assert_eq!(first["not_recorded"][0]["refused"], "quote_not_found", "{first}");
    assert_eq!(first["not_recorded"][0]["correct"], true);
    assert!(first["unread"].as_str().unwrap().contains(&branch), "{first}");
    let unread = review.finish();
    assert!(!unread.starts_with("APPROVED"), "nothing was proven to be read: {unread}");
    let corrected = json!({ "findings": [finding("    let two = 22;")] });
    let second = review.submit("rust-reviewer", corrected);
    assert_eq!((&second["recorded"], second.get("unread")), (&json!(1), None), "{second}");
    let decided = review.finish();
    assert!(decided.starts_with("CHANGES_REQUESTED"), "{decided}");
    assert!(decided.contains("src/two.rs:2 Two is not twenty-two"), "{decided}");
    let late = json!({ "branch_id": branch, "findings": [] });
    assert_eq!(review.client.code("submit_findings", late), "BRANCH_NOT_ACTIVE");
}

#[test]
fn what_a_part_looks_up_is_charged_and_its_partial_findings_count() {
    let Begun { sandbox, mut client, run, branches } = Begun::new(&["rust"]);
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
    let Begun { sandbox, mut client, run, .. } = Begun::new(&["rust"]);
    sandbox.write("src/two.rs", "pub fn two() -> u32 {\n    2 + 2\n}\n// more\n");
    assert_eq!(client.code("review_finish", json!({ "run": run })), "CHANGED");
}

#[test]
fn an_edit_of_the_same_length_is_not_decided_either() {
    let Begun { sandbox, mut client, run, .. } = Begun::new(&["rust"]);
    let path = sandbox.root().join("src/two.rs");
    let before = std::fs::read_to_string(&path).expect("the file");
    sandbox.write("src/two.rs", before.replace("22", "33"));
    assert_eq!(client.code("review_finish", json!({ "run": run })), "CHANGED");
    sandbox.write("src/two.rs", before);
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    assert!(!decided.contains("CHANGED"), "{decided}");
}

#[cfg(unix)]
#[test]
fn no_change_of_files_or_modes_is_decided_unseen() {
    use std::os::unix::fs::PermissionsExt as _;
    type Edit = fn(&Sandbox);
    let set_mode = |sandbox: &Sandbox, mode: u32| {
        let path = sandbox.root().join("src/lib.rs");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let edits: [(&str, Edit, Edit); 5] = [
        (
            "another file",
            |sandbox| sandbox.write("src/three.rs", "pub fn three() {}\n"),
            |sandbox| std::fs::remove_file(sandbox.root().join("src/three.rs")).expect("it"),
        ),
        (
            "a file less",
            |sandbox| std::fs::remove_file(sandbox.root().join("src/two.rs")).expect("it"),
            |sandbox| {
                sandbox
                    .write("src/two.rs", "pub fn two() -> u32 {\n    let two = 22;\n    two\n}\n");
            },
        ),
        (
            "another name",
            |sandbox| {
                let path = |name: &str| sandbox.root().join(name);
                std::fs::rename(path("src/two.rs"), path("src/zwei.rs")).expect("renamed");
            },
            |sandbox| {
                let path = |name: &str| sandbox.root().join(name);
                std::fs::rename(path("src/zwei.rs"), path("src/two.rs")).expect("renamed");
            },
        ),
        (
            "a commit",
            |sandbox| {
                sandbox.git(&["commit", "--quiet", "--allow-empty", "-m", "another"]);
            },
            |sandbox| {
                sandbox.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
            },
        ),
        (
            "a link in its place",
            |sandbox| {
                let path = sandbox.root().join("src/two.rs");
                std::fs::rename(&path, sandbox.root().join("../kept.rs")).expect("moved");
                std::os::unix::fs::symlink("lib.rs", path).expect("a link");
            },
            |sandbox| {
                let path = sandbox.root().join("src/two.rs");
                std::fs::remove_file(&path).expect("the link");
                std::fs::rename(sandbox.root().join("../kept.rs"), path).expect("moved");
            },
        ),
    ];
    let Begun { sandbox, mut client, run, .. } = Begun::new(&["rust"]);
    for (what, edit, undo) in edits {
        edit(&sandbox);
        assert_eq!(client.code("review_finish", json!({ "run": run })), "CHANGED", "{what}");
        undo(&sandbox);
    }
    set_mode(&sandbox, 0o755);
    assert_eq!(client.code("review_finish", json!({ "run": run })), "CHANGED", "a mode");
    set_mode(&sandbox, 0o644);
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    assert!(!decided.contains("CHANGED"), "{decided}");
}

#[test]
fn a_part_that_never_came_back_is_named_in_the_digest() {
    let sandbox = with_400_files();
    let mut client = Client::start(&sandbox, &[]);
    let asked = json!({ "scope": "uncommitted", "agents": ["rust"] });
    let begun = client.tool("review_begin", asked)[0].clone();
    let (run, branches) = parts(&begun);
    assert!(branches.len() > 1, "{begun}");
    for branch in branches.iter().skip(1) {
        let (_, receipt) = brief(&sandbox, &run, branch);
        let report =
            json!({ "branch_id": branch, "receipt": receipt, "findings": [], "done": true });
        client.json("submit_findings", report);
    }
    let decided = client.tool("review_finish", json!({ "run": run }))[0].clone();
    let line = decided.lines().find(|line| line.starts_with("PARTIAL rust-reviewer: "));
    let line = line.unwrap_or_else(|| panic!("{decided}"));
    assert!(line.contains("its agent never came back; not read: "), "{line}");
    let folder = sandbox.root().join(".quorum/runs").join(&run);
    let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
    assert!(report.contains("never came back") && !report.contains("out of time"), "{report}");
}

#[test]
fn siblings_do_not_see_each_other() {
    let mut review = Begun::new(&["rust", "code-quality"]);
    review.submit("rust-reviewer", json!({ "findings": [finding("let two = 22;")] }));
    let Begun { mut client, run, branches, .. } = review;
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

/// A small change under an order that an agent has to judge.
fn under_an_order() -> Begun {
    let order =
        "---\napplies_to: \"*.rs\"\nseverity: error\n---\nName numbers for what they are.\n";
    Begun::of(small_change_under(&[("numbers", order)]), json!({ "agents": ["rust"] }))
}

#[test]
fn a_violated_order_blocks_whoever_says_so() {
    let mut review = under_an_order();
    let (text, _) = brief(&review.sandbox, &review.run, &review.branches["rust-reviewer"]);
    assert!(text.contains("Name numbers") && text.contains("Yours: numbers."), "{text}");
    let secret = ["ghp", "_", "1B4a2e77838347a7E420ce178F2E7c6912E1"].concat();
    let mut answer = json!({ "sop": "numbers", "status": "violated",
        "evidence": format!("the number has no name {secret}"), "quote": "let three = 33;" });
    let submitted = review.submit("rust-reviewer", json!({ "sops": [answer] }));
    assert!(submitted.get("unanswered").is_some(), "no code shows it: {submitted}");
    answer["quote"] = json!("let two = 22;");
    let submitted = review.submit("rust-reviewer", json!({ "sops": [answer] }));
    assert!(submitted.get("unanswered").is_none(), "{submitted}");
    let decided = review.finish();
    assert!(decided.starts_with("BLOCKED") && decided.contains("numbers"), "{decided}");
    let result = review.result();
    assert_eq!(
        (&result["sops"][0]["sop"], &result["sops"][0]["status"]),
        (&json!("numbers"), &json!("violated"))
    );
    assert!(!result.to_string().contains(&secret), "what an agent writes is searched for secrets");
}

#[test]
fn an_order_without_an_answer_is_asked_for_once_and_not_passed() {
    let mut review = under_an_order();
    let empty = json!({ "sop": "numbers", "status": "passed", "evidence": "" });
    let first = review.submit("rust-reviewer", json!({ "sops": [empty] }));
    assert!(first["unanswered"].as_str().unwrap().ends_with("for: numbers"), "{first}");
    let second = review.submit("rust-reviewer", json!({}));
    assert!(second.get("unanswered").is_none(), "{second}");
    review.finish();
    let result = review.result();
    assert_eq!(result["sops"][0]["status"], "not_reviewed");
    assert_eq!(result["execution"]["agents"][0]["partial"], true, "{result:#}");
}

#[test]
fn an_order_that_is_kept_is_no_obstacle() {
    let mut review = under_an_order();
    review.submit("rust-reviewer", json!({}));
    let answer = json!({ "sop": "numbers", "status": "passed", "evidence": "let two = 22;" });
    let pattern = json!({ "name": "names", "pattern": "Numbers have names", "applies_to": "*.rs" });
    review.submit("rust-reviewer", json!({ "sops": [answer], "patterns": [pattern] }));
    let decided = review.finish();
    assert!(decided.starts_with("APPROVED"), "{decided}");
}

#[test]
fn what_a_check_finds_is_violated_whatever_an_agent_says() {
    let order = "---\nseverity: error\ncheck: let two\n---\nNo numbers with names.\n";
    let sandbox = small_change_under(&[("names", order)]);
    let mut review = Begun::of(sandbox, json!({ "agents": ["rust"] }));
    let answer = json!({ "sop": "names", "status": "passed", "evidence": "let two = 22;" });
    review.submit("rust-reviewer", json!({ "sops": [answer] }));
    let decided = review.finish();
    assert!(decided.starts_with("BLOCKED"), "{decided}");
}

const THREE: [&str; 3] = ["rust", "code-quality", "security"];

/// A review of three agents where one found something and the others are asked about it.
fn with_a_second_round(protocol: &str) -> (Begun, String) {
    let asked = json!({ "agents": THREE, "protocol": protocol });
    let mut review = Begun::of(small_change(), asked);
    let mut found = finding("let two = 22;");
    found["severity"] = json!("MEDIUM");
    review.submit("rust-reviewer", json!({ "findings": [found] }));
    review.submit("code-quality-reviewer", json!({}));
    review.submit("security-reviewer", json!({}));
    let asked = review.finish();
    assert!(asked.contains("second round") && asked.contains("nothing is decided yet"), "{asked}");
    assert!(asked.lines().count() <= 15, "{asked}");
    review.branches = by_agent(&asked);
    (review, asked)
}

fn confirm() -> Value {
    json!([{ "finding": 1, "stance": "confirm", "evidence": "let two = 22;", "severity": null }])
}

#[test]
fn a_finding_is_in_when_two_of_three_agree() {
    let (mut review, _) = with_a_second_round("vote");
    assert!(!review.branches.contains_key("rust-reviewer"), "nobody votes on its own finding");
    let branch = review.branches["security-reviewer"].clone();
    let (text, _) = brief(&review.sandbox, &review.run, &branch);
    assert!(text.contains("Two is not twenty-two") && text.contains("`reactions`"), "{text}");
    assert!(!text.contains("Return 2"), "no rationale: {text}");
    // Somebody starts the server again in between.
    review.client = Client::start(&review.sandbox, &[]);
    let counted = review.submit("security-reviewer", json!({ "reactions": confirm() }));
    assert_eq!(counted["reactions"], 1, "{counted}");
    let late = json!({ "branch_id": review.branches["code-quality-reviewer"],
        "findings": [finding("let two = 22;")] });
    assert_eq!(review.client.code("submit_findings", late), "INVALID_ARGUMENT");
    review.finish();
    let result = review.result();
    assert_eq!(result["findings"][0]["issue"], "Two is not twenty-two", "{result:#}");
    assert_eq!(result["not_agreed"], json!([]));
    let notes = result["notes"].to_string();
    assert!(notes.contains("it never came back"), "{notes}");
}

#[test]
fn a_finding_that_nobody_confirms_is_not_agreed() {
    let (mut review, _) = with_a_second_round("vote");
    let without = json!([{ "finding": 1, "stance": "confirm", "evidence": "let two = 33;" }]);
    review.submit("security-reviewer", json!({ "reactions": without }));
    review.submit("code-quality-reviewer", json!({ "reactions": [] }));
    review.finish();
    let result = review.result();
    assert_eq!(result["findings"], json!([]), "{result:#}");
    assert_eq!(result["not_agreed"].as_array().map(Vec::len), Some(1));
}

#[test]
fn in_a_second_round_an_agent_may_withdraw_and_add() {
    let (mut review, _) = with_a_second_round("ci");
    let wrong = json!({ "branch_id": review.branches["rust-reviewer"], "findings": [],
        "reactions": [{ "finding": 9, "stance": "withdraw" }] });
    assert_eq!(review.client.code("submit_findings", wrong), "INVALID_ARGUMENT");
    let withdrawn = json!([{ "finding": 1, "stance": "withdraw", "evidence": null }]);
    review.submit("rust-reviewer", json!({ "reactions": withdrawn }));
    let mut other = finding("let unused = 2;");
    other["file"] = json!("src/lib.rs");
    other["issue"] = json!("The variable is never read");
    review.submit("code-quality-reviewer", json!({ "reactions": [], "findings": [other] }));
    review.finish();
    let result = review.result();
    let issues: Vec<&Value> = result["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["state"] != "withdrawn")
        .map(|finding| &finding["issue"])
        .collect();
    assert!(issues.contains(&&json!("The variable is never read")), "{result:#}");
    assert!(!issues.contains(&&json!("Two is not twenty-two")), "{result:#}");
}
