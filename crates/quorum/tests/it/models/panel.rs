//! Reviewers that talk about each other's findings, second looks, planted defects, and runs that are
//! played again.

use quorum_testkit::{Asked, Reply, Server, Turn};
use serde_json::{Value, json};

use super::{finder, nothing, review, run, write_files};
use crate::sandbox::{Sandbox, text};

fn agent_of<'v>(result: &'v Value, name: &str) -> &'v Value {
    let agents = result["execution"]["agents"].as_array().expect("agents");
    agents.iter().find(|agent| agent["name"] == name).expect("it was planned")
}

fn findings(result: &Value) -> Vec<&Value> {
    let marked = |f: &&Value| f["issue"].as_str().is_some_and(|i| i.contains("is marked"));
    result["findings"].as_array().expect("findings").iter().filter(marked).collect()
}

/// Whether the role in a request is this agent's.
fn is_for(asked: &Asked<'_>, agent: &str) -> bool {
    asked.text.contains(&format!("You are {agent} ("))
}

/// One agent finds what is marked, and the others nothing; asked about it, they answer by `stance`.
fn divided(asked: &Asked<'_>, stance: &Value) -> Turn {
    if asked.text.contains("finding=\"1\"") {
        return Turn::json(&json!({ "reactions": [stance], "findings": [] }));
    }
    if is_for(asked, "code-quality-reviewer") { finder(asked) } else { nothing() }
}

const PAIR: [&str; 2] = ["--agents", "code-quality,python"];

#[test]
fn a_ballot_is_held_among_models() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 1);
    let evidence = "    marker_0_end = value";
    let confirms =
        json!({ "finding": 1, "stance": "confirm", "evidence": evidence, "severity": null });
    let invents =
        json!({ "finding": 1, "stance": "confirm", "evidence": "not there", "severity": null });
    let disputes = json!({ "finding": 1, "stance": "dispute", "evidence": null, "severity": null });
    for (stance, agreed) in [(confirms, true), (invents, false), (disputes, false)] {
        let answer = stance.clone();
        let server =
            Server::start(move |asked| Reply::Say(divided(asked, &answer))).expect("it starts");
        let (_, result) = review(&sandbox, &server, &[&PAIR[..], &["--protocol", "vote"]].concat());
        assert_eq!(findings(&result).len(), usize::from(agreed), "{stance}");
        assert_eq!(server.recorded().len(), 3, "one ballot: the author is not asked");
        if agreed {
            assert_eq!(findings(&result)[0]["confirmed_by"], json!(["python-reviewer"]));
        }
        let ballot = server.recorded().pop().expect("the ballot");
        assert!(!ballot.text.contains("Remove it."), "no rationale is passed on");
    }
}

#[test]
fn in_a_second_round_an_author_may_withdraw_and_others_confirm() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 1);
    let server = Server::start(|asked| {
        if !asked.text.contains("finding=\"1\"") {
            let found = is_for(asked, "code-quality-reviewer");
            return Reply::Say(if found { finder(asked) } else { nothing() });
        }
        let stance = if asked.text.contains("own=\"yes\"") { "withdraw" } else { "dispute" };
        let reaction =
            json!({ "finding": 1, "stance": stance, "evidence": null, "severity": null });
        Reply::Say(Turn::json(&json!({ "reactions": [reaction], "findings": [] })))
    })
    .expect("it starts");
    let (_, result) = review(&sandbox, &server, &[&PAIR[..], &["--protocol", "ci"]].concat());
    assert_eq!(server.recorded().len(), 4, "two rounds of two");
    assert_eq!(findings(&result).len(), 0, "{result:#}");
    assert_eq!(result["rejected"]["withdrawn by its author"], 1);
    for name in ["code-quality-reviewer", "python-reviewer"] {
        let agent = agent_of(&result, name);
        assert_eq!(agent["calls"], 2);
        assert!(agent["budget_used"].as_u64() <= agent["budget"].as_u64());
    }
}

/// Finds what is marked at HIGH; a second look answers by `verdict`.
fn doubted(asked: &Asked<'_>, verdict: &Value) -> Turn {
    if asked.text.contains("## A second look") {
        return Turn::json(&json!({ "verdicts": [verdict] }));
    }
    let turn = if is_for(asked, "code-quality-reviewer") { finder(asked) } else { nothing() };
    Turn { text: turn.text.replace("MEDIUM", "HIGH"), ..turn }
}

#[test]
fn a_second_look_needs_code_to_refute_a_finding() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 1);
    let path = sandbox.root().join("src/part00/file0.py");
    let mut code = std::fs::read_to_string(path).expect("the file");
    code.push_str("\ndef elsewhere(value):\n    raise ValueError(\"funds\")\n");
    sandbox.write("src/part00/file0.py", code);
    let verdict = |verdict: &str, evidence: &str| {
        json!({ "finding": 1, "verdict": verdict, "reason": "it is handled", "file": null,
            "evidence": evidence })
    };
    let cases = [
        (verdict("stands", ""), "CHANGES_REQUESTED"),
        (verdict("refuted", "nowhere in the file"), "CHANGES_REQUESTED"),
        // It is in the file, and says nothing about the claim.
        (verdict("refuted", "raise ValueError(\"funds\")"), "CHANGES_REQUESTED"),
        (verdict("refuted", "def handle_0(value):"), "APPROVED"),
    ];
    for (said, expected) in cases {
        let answer = said.clone();
        let server =
            Server::start(move |asked| Reply::Say(doubted(asked, &answer))).expect("it starts");
        let (_, result) = review(&sandbox, &server, &[&PAIR[..], &["--verify"]].concat());
        assert_eq!(result["verdict"], expected, "{said}: {:#}", result["reasons"]);
        assert_eq!(server.recorded().len(), 3);
        let calls = agent_of(&result, "python-reviewer")["calls"].as_u64();
        assert_eq!(calls, Some(2), "whoever did not report it looks");
        if expected == "APPROVED" {
            let refuted = &result["not_agreed"][0]["refutation"];
            assert_eq!(refuted["by"], "python-reviewer");
            assert_eq!(refuted["evidence"], "def handle_0(value):");
        }
    }
    // An opinion holds for its run: the next one decides for itself.
    let server = Server::start(|asked| Reply::Say(doubted(asked, &json!({})))).expect("it starts");
    let (_, result) = review(&sandbox, &server, &PAIR);
    assert_eq!(result["verdict"], "CHANGES_REQUESTED");
    assert_eq!(result["rejected"].get("dismissed"), None, "{result:#}");
}

#[test]
fn a_second_look_needs_a_model() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 1);
    let said = sandbox.fails(&["review", "--verify"]);
    assert!(said.contains("--provider"), "{said}");
}

#[test]
fn who_misses_a_planted_defect_has_not_finished() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 2);
    let arguments = ["--agents", "code-quality", "--canary"];
    let server = Server::start(|_| Reply::Say(nothing())).expect("it starts");
    let (code, result) = review(&sandbox, &server, &arguments);
    assert_eq!((code, &result["verdict"]), (2, &json!("INCOMPLETE")), "{result:#}");
    let agent = &result["execution"]["agents"][0];
    assert_eq!((&agent["partial"], &agent["cutoff_reason"]), (&json!(true), &json!("canary")));

    let server = Server::start(|asked| {
        let planted = asked.text.lines().find(|line| line.contains("def mean_q"));
        let (_, code) = planted.and_then(|line| line.split_once(" +")).expect("it is planted");
        let finding = json!({ "severity": "HIGH", "category": "logic", "file": "src/part00/file1.py",
            "line": 1, "evidence": code, "issue": "It divides by zero", "recommendation": "r",
            "cwe": null, "confidence": 0.9, "cause_file": null, "cause_quote": null });
        Reply::Say(Turn::json(&json!({ "findings": [finding], "skipped_medium": 0,
            "skipped_low": 0, "sops": [] })))
    })
    .expect("it starts");
    let (code, result) = review(&sandbox, &server, &arguments);
    assert_eq!((code, &result["verdict"]), (0, &json!("APPROVED")), "{result:#}");
    assert!(!result.to_string().contains("divides by zero"), "it is no finding of the change");
}

#[test]
fn a_defect_is_planted_unless_the_user_says_otherwise() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 1);
    let review = |more: &[&str]| {
        let server = Server::start(|_| Reply::Say(nothing())).expect("it starts");
        let mut all = vec!["review", "--format=json", "--provider=openai", "--model=m"];
        all.extend(["--agents=code-quality"].iter().chain(more));
        let output = sandbox.quorum_with(&all, |command| {
            super::with_server(&server)(command);
            command.env_remove("QUORUM_CANARY");
        });
        let planted = server.recorded().iter().any(|asked| asked.text.contains("def mean_q"));
        (output.status.code(), planted, text(&output.stderr))
    };
    assert_eq!(review(&[]).0, Some(2), "whoever misses it has not finished");
    assert!(review(&[]).1);
    let (code, planted, said) = review(&["--no-canary"]);
    assert_eq!((code, planted), (Some(0), false), "{said}");
    // A change must not bring the end of what watches its readers.
    sandbox.write("quorum.toml", "canary = false\n");
    let (code, planted, said) = review(&[]);
    assert_eq!((code, planted), (Some(2), true), "{said}");
}

#[test]
fn a_recorded_run_is_played_again_byte_for_byte_without_a_server() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 3);
    let server = Server::start(|asked| Reply::Say(finder(asked))).expect("it starts");
    // The second review has a past, which its replay must show as well.
    run(&sandbox, &server, &PAIR);
    let first = run(&sandbox, &server, &[&PAIR[..], &["--fail-on", "medium"]].concat());
    drop(server);
    let again = sandbox.quorum(&["replay", "latest", "--format", "json"]);
    assert_eq!(text(&again.stdout), text(&first.stdout));
    assert_eq!(again.status.code(), first.status.code());
    let voted = sandbox.quorum(&["replay", "latest", "--protocol", "vote", "--format", "json"]);
    let voted: Value = serde_json::from_slice(&voted.stdout).expect("a result");
    assert_eq!(voted["protocol"], "vote");
}

#[test]
fn recorded_answers_are_gone_through_again_without_a_server() {
    let sandbox = Sandbox::new();
    write_files(&sandbox, 3);
    sandbox.git(&["add", "--all"]);
    let server = Server::start(|asked| Reply::Say(finder(asked))).expect("it starts");
    let (_, first) = review(&sandbox, &server, &["--protocol", "ci", "--verify"]);
    drop(server);

    let replay = |arguments: &[&str]| {
        let mut all = vec!["replay", "latest", "--format", "json"];
        all.extend(arguments);
        sandbox.quorum(&all)
    };
    let again = replay(&["--calls"]);
    assert_eq!(text(&again.stderr), "", "it is as it was");
    assert_eq!(text(&again.stdout), text(&replay(&[]).stdout));
    let result: Value = serde_json::from_slice(&again.stdout).expect("a result");
    assert_eq!(result, first);

    sandbox.write("src/part00/file1.py", "other = 1\n");
    let refused = replay(&["--calls"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("src/part00/file1.py has changed since it started"));
}

#[test]
fn reviewers_look_things_up_in_the_index() {
    let sandbox = Sandbox::new();
    sandbox.write("lib/store.py", "def save_row(row):\n    return row\n");
    sandbox.write("app.py", "from lib.store import save_row\n\n\ndef main():\n    save_row(1)\n");
    sandbox.commit("before");
    sandbox.write("lib/new.py", "VALUE = 1\n");
    sandbox.commit("after");
    let server = Server::start(|asked| {
        if asked.number > 0 {
            return Reply::Say(nothing());
        }
        let turn = Turn::default()
            .call("symbol", &json!({ "name": "save_row" }))
            .call("callers", &json!({ "name": "save_row" }))
            .call("search", &json!({ "query": "save row" }));
        Reply::Say(turn)
    })
    .expect("it starts");
    let arguments = ["--commit", "HEAD", "--agents", "code-quality"];
    let (_, result) = review(&sandbox, &server, &arguments);
    assert_eq!(result["verdict"], "APPROVED", "{result:#}");
    let second = &server.recorded()[1];
    let results: Vec<&str> = second.body["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|message| message["role"] == "tool")
        .filter_map(|message| message["content"].as_str())
        .collect();
    assert!(results[0].contains("lib/store.py:1"), "{results:#?}");
    assert!(!results[0].contains("app.py"), "a declaration is no use: {results:#?}");
    assert!(results[1].contains("app.py:5"), "{results:#?}");
    assert!(results[2].contains("lib/store.py"), "by words: {results:#?}");
}
