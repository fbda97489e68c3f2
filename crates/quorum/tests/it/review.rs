//! The whole way: from a change to a verdict, offline.

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

const CONFLICT: &str = "fn a() {}\n<<<<<<< ours\nfn b() {}\n=======\nfn c() {}\n>>>>>>> theirs\n";

fn review(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    let mut all = vec!["review", "--format", "json"];
    all.extend(arguments);
    let output = sandbox.quorum(&all);
    let code = output.status.code().expect("it was not killed");
    let result = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no result: {}", text(&output.stderr)));
    (code, result)
}

fn conflicts(findings: &Value) -> usize {
    let findings = findings.as_array().expect("a list");
    findings.iter().filter(|finding| finding["rule"] == "generic.merge-conflict").count()
}

#[test]
fn a_sound_change_is_approved_and_every_file_is_covered() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "/// One.\npub fn one() -> u32 {\n    1\n}\n");
    let (code, result) = review(&sandbox, &[]);
    assert_eq!((code, &result["verdict"]), (0, &Value::from("APPROVED")), "{result:#}");
    assert_eq!(result["exit_code"], 0);
    assert_eq!(result["coverage"]["uncovered"], Value::Array(Vec::new()));
    let files = result["coverage"]["files"].as_array().expect("a list");
    assert_eq!(files.len(), 1);
}

#[test]
fn a_defect_is_reported_with_its_lines_and_fails() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    let (code, result) = review(&sandbox, &[]);
    assert_eq!(code, 1, "{result:#}");
    let findings = result["findings"].as_array().expect("a list");
    let is_conflict = |finding: &&Value| finding["rule"] == "generic.merge-conflict";
    let finding = findings.iter().find(is_conflict).expect("it is found");
    assert_eq!((&finding["line"], &finding["end_line"]), (&Value::from(2), &Value::from(6)));
    assert_eq!(finding["agents"][0], "code-quality-reviewer");
}

#[test]
fn what_the_change_does_not_touch_is_not_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", format!("{CONFLICT}\n\n\n\n\n\n\n\nfn z() {{}}\n"));
    sandbox.commit("a conflict from long ago");
    sandbox.write("src/lib.rs", format!("{CONFLICT}\n\n\n\n\n\n\n\nfn z() {{ a() }}\n"));
    let (code, result) = review(&sandbox, &["--unstaged"]);
    assert_eq!((code, &result["findings"]), (0, &Value::Array(Vec::new())), "{result:#}");
}

#[test]
fn a_veto_is_ignored_only_with_a_reason_and_stays_in_the_report() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    let (code, result) = review(&sandbox, &["--ignore-vetos", "demonstration branch"]);
    assert_eq!((code, &result["verdict"]), (0, &Value::from("ADVISORY")), "{result:#}");
    assert_eq!(conflicts(&result["findings"]), 1);
    let refused = sandbox.quorum(&["review", "--ignore-vetos", ""]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_run_is_on_disk_when_the_command_ends() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    let (_, result) = review(&sandbox, &[]);
    let run = sandbox.root().join(".quorum/runs").join(result["run"].as_str().expect("an id"));
    for name in ["plan.json", "journal.jsonl", "result.json", "findings.json", "coverage.json"] {
        assert!(run.join(name).is_file(), "{name}");
    }
    let written = std::fs::read(run.join("result.json")).expect("it is there");
    let written: Value = serde_json::from_slice(&written).expect("it is JSON");
    assert_eq!(written, result);
    assert_eq!(sandbox.git(&["status", "--porcelain"]).trim(), "M src/lib.rs");
}

#[test]
fn a_diff_is_reviewed_without_a_repository() {
    let sandbox = Sandbox::bare_folder();
    let header = "--- a/x.rs\n+++ b/x.rs\n@@ -1,1 +1,6 @@\n fn a() {}\n";
    let added: String = CONFLICT.lines().skip(1).map(|line| ["+", line, "\n"].concat()).collect();
    sandbox.write("change.patch", [header, &added].concat());
    let (code, result) = review(&sandbox, &["--diff", "change.patch"]);
    assert_eq!(code, 1, "{result:#}");
    assert_eq!(result["findings"][0]["line"], 2);
    assert!(!sandbox.root().join(".quorum").exists());
}

#[test]
fn an_engine_that_is_not_there_is_not_replaced_in_silence() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    let output = sandbox.quorum(&["review", "--provider", "carrier-pigeon", "--model", "m"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).is_empty());
}

#[test]
fn a_team_reviewer_without_rules_is_no_approval() {
    let sandbox = Sandbox::new();
    let agent = "---\nname: schema-reviewer\nfocus: our schema rules\nbase_budget: 2048\nveto: true\n\
                 domain:\n  kinds: [code]\ncategories: [schema]\n---\nLook.\n";
    sandbox.write(".quorum/agents/schema-reviewer.md", agent);
    sandbox.commit("a reviewer of our own");
    sandbox.write("src/lib.rs", "pub fn two() {}\n");
    let (code, result) = review(&sandbox, &["--agents", "schema", "--unstaged"]);
    assert_eq!((code, &result["verdict"]), (2, &Value::from("INCOMPLETE")), "{result:#}");
}

#[test]
fn the_same_change_gives_the_same_bytes_with_any_number_of_threads() {
    let sandbox = Sandbox::new();
    for number in 0..40 {
        sandbox.write(&format!("src/f{number}.rs"), CONFLICT);
    }
    let run = |threads: &str| {
        let output = sandbox.quorum_with(&["review", "--format", "json"], |command| {
            command.env("RAYON_NUM_THREADS", threads);
        });
        let mut result: Value = serde_json::from_slice(&output.stdout).expect("a result");
        result["run"] = Value::Null;
        // The second review is to know as little of a past as the first.
        std::fs::remove_dir_all(sandbox.root().join(".quorum")).expect("it was made");
        result.to_string()
    };
    assert!(run("1") == run("4"), "the results differ");
}

#[test]
fn a_recorded_run_is_decided_again_to_the_same_result() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    let (code, result) = review(&sandbox, &[]);
    let output = sandbox.quorum(&["replay", "latest", "--format", "json"]);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    let again: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!((&again["verdict"], &again["reasons"]), (&result["verdict"], &result["reasons"]));
    let runs = sandbox.root().join(".quorum/runs");
    assert_eq!(std::fs::read_dir(runs).expect("it is there").count(), 1, "a replay is no run");
}

#[test]
fn a_replay_decides_by_what_the_run_was_decided_by() {
    let sandbox = Sandbox::new();
    sandbox.write("app.py", "def add(item, to=[]):\n    to.append(item)\n    return to\n");
    let (code, _) = review(&sandbox, &["--fail-on", "low"]);
    let replay = |arguments: &[&str]| {
        let mut all = vec!["replay", "latest", "--format", "json"];
        all.extend(arguments);
        sandbox.quorum(&all).status.code().expect("it was not killed")
    };
    assert_eq!((code, replay(&[])), (1, 1), "what failed it then fails it now");
    assert_eq!(replay(&["--fail-on", "high"]), 0, "unless another word is given");
    assert_eq!(replay(&["--fail-on", "high", "--strict"]), 1);
}

#[test]
fn every_protocol_runs_offline_and_a_lone_veto_is_never_outvoted() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    for protocol in ["veto", "aad", "ci", "vote"] {
        let (code, result) = review(&sandbox, &["--protocol", protocol]);
        assert_eq!(result["protocol"], protocol);
        assert_ne!(code, 2, "{protocol}: {result:#}");
        let listed = conflicts(&result["findings"]) + conflicts(&result["not_agreed"]);
        assert_eq!(listed, 1, "{protocol} lost a finding");
    }
}

#[test]
fn what_cannot_be_done_is_not_passed_over() {
    let sandbox = Sandbox::new();
    assert!(sandbox.fails(&["review", "--verify"]).contains("--verify"));
}

#[test]
fn events_tell_what_happens_in_order_and_name_findings_as_the_result_does() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    let output = sandbox.quorum(&["review", "--events"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let events: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"run_started"), Some(&"decided")));
    let place = |kind: &str| kinds.iter().position(|other| *other == kind);
    assert!(place("agent_started") < place("finding"), "{kinds:?}");
    assert!(place("finding") < place("agent_finished"), "{kinds:?}");
    assert!((1..).zip(&events).all(|(number, event)| event["sequence"] == number));

    let kept = sandbox.quorum(&["report", "--format", "json"]);
    let result: Value = serde_json::from_slice(&kept.stdout).expect("a result");
    let published = result["findings"].as_array().expect("a list").iter();
    let published: Vec<&Value> = published.map(|finding| &finding["fingerprint"]).collect();
    let told = events.iter().filter(|event| event["event"] == "finding");
    let told: Vec<&Value> = told.map(|event| &event["fingerprint"]).collect();
    assert!(!told.is_empty());
    assert!(told.iter().all(|fingerprint| published.contains(fingerprint)), "{told:?}");
}

#[test]
fn events_in_a_file_leave_standard_output_to_the_report() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "/// One.\npub fn one() -> u32 {\n    1\n}\n");
    let (code, result) = review(&sandbox, &["--events=events.jsonl"]);
    assert_eq!((code, &result["verdict"]), (0, &Value::from("APPROVED")));
    let events = std::fs::read_to_string(sandbox.root().join("events.jsonl")).expect("a file");
    assert!(events.lines().last().is_some_and(|line| line.contains("\"decided\"")), "{events}");
}

#[test]
fn a_function_is_quoted_with_its_name() {
    let sandbox = Sandbox::new();
    let wide = "export const wide = (a, b, c, d, e, f, g, h) => {\n  return [a, b, c, d, e, f, g, h];\n};\n";
    sandbox.write("src/wide.ts", wide);
    let output = sandbox.quorum(&["review", "--format", "json", "--agents", "code-quality"]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
    let finding = result["findings"].as_array().expect("findings").first().expect("one");
    assert_eq!(finding["rule"], "quality.function-size", "{result:#}");
    assert_eq!(finding["evidence"], "export const wide = (a, b, c, d, e, f, g, h) =>");
}

/// A handler that asks its database with a parameter; the other way is an injection.
fn handler(query: &str) -> String {
    format!(
        "from flask import Flask, request\nimport db\n\napp = Flask(__name__)\n\n\n\
         @app.route(\"/u\")\ndef users():\n    rows = db.execute({query})\n    return str(rows)\n"
    )
}

const SAFE: &str = "\"SELECT * FROM u WHERE n = ?\", (request.args[\"n\"],)";
const UNSAFE: &str = "\"SELECT * FROM u WHERE n = '\" + request.args[\"n\"] + \"'\"";

fn injected() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("app.py", handler(SAFE));
    sandbox.commit("sound");
    sandbox.write("app.py", handler(UNSAFE));
    sandbox
}

#[test]
fn a_small_change_has_a_security_look() {
    let sandbox = injected();
    let (code, result) = review(&sandbox, &["--tier", "simple"]);
    assert_eq!((code, &result["verdict"]), (1, &Value::from("BLOCKED")), "{result:#}");
    assert_eq!(result["reviewed_by"], "rules alone");
    let row = &result["coverage"]["files"][0];
    assert_eq!(row["agents"]["security-reviewer"], "reviewed");
    assert_eq!(row["engines"]["security-reviewer"], "rules");
    let page = sandbox.quorum(&["review", "--tier", "simple"]);
    assert!(text(&page.stdout).contains("BLOCKED (1 veto) by rules alone"));
}

#[test]
fn fail_on_none_lets_a_veto_pass_and_says_so() {
    let (code, result) = review(&injected(), &["--fail-on", "none"]);
    assert_eq!((code, &result["verdict"]), (0, &Value::from("ADVISORY")), "{result:#}");
    assert_eq!(result["findings"][0]["severity"], "CRITICAL");
}

#[test]
fn secrets_are_searched_for_whoever_is_asked() {
    let sandbox = Sandbox::new();
    // Put together here, so that this file has none.
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5");
    sandbox.write("deploy.go", format!("package main\n\nconst token = \"{token}\"\n"));
    for arguments in [&[][..], &["--agents", "go"], &["--tier", "simple"]] {
        let (code, result) = review(&sandbox, arguments);
        assert_ne!(code, 0, "{arguments:?} {result:#}");
        let findings = result["findings"].as_array().expect("a list");
        assert!(findings.iter().any(|finding| finding["category"] == "secrets"), "{arguments:?}");
    }
}

#[test]
fn nothing_in_scope_is_nothing_to_review() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "x = 1\n");
    sandbox.commit("clean");
    for scope in [&["--staged"][..], &[], &["--base", "main"]] {
        let (code, result) = review(&sandbox, scope);
        let verdict = (code, &result["verdict"]);
        assert_eq!(verdict, (0, &Value::from("NOTHING_TO_REVIEW")), "{scope:?} {result:#}");
    }
    let page = sandbox.quorum(&["review"]);
    assert!(text(&page.stdout).contains("quorum review --all"), "{}", text(&page.stdout));
    let (code, result) = review(&sandbox, &["--all"]);
    assert_eq!((code, &result["verdict"]), (0, &Value::from("APPROVED")), "{result:#}");
    assert_eq!(result["scope"], "the whole repository");
}

#[test]
fn what_no_rule_knows_is_read_and_what_is_no_text_is_unreadable() {
    let sandbox = Sandbox::new();
    sandbox.write("view.swift", "let a = 1\n");
    let (code, result) = review(&sandbox, &[]);
    assert_eq!((code, &result["verdict"]), (0, &Value::from("APPROVED")), "{result:#}");
    assert_eq!(result["coverage"]["files"][0]["agents"]["security-reviewer"], "read");
    let agents = result["execution"]["agents"].as_array().expect("agents");
    for agent in agents {
        assert_eq!(agent["files_reviewed"], 0, "{agent}");
    }
    // Whatever is read, it says that nothing was reviewed.
    assert!(result["reasons"][0].as_str().is_some_and(|reason| reason.contains("1 only read")));
    for format in ["terminal", "markdown", "html", "sarif", "junit"] {
        let page = text(&sandbox.quorum(&["report", "--format", format]).stdout);
        assert!(page.contains("1 only read"), "{format}: {page}");
        assert!(!page.contains("100 %") && !page.contains("100%</"), "{format}: {page}");
    }
    let verdicts = text(&sandbox.quorum(&["verdicts"]).stdout);
    assert!(verdicts.contains("security-reviewer: no findings; 1 file only read"), "{verdicts}");
    let (code, result) = review(&sandbox, &["--strict"]);
    assert_eq!((code, &result["verdict"]), (2, &Value::from("INCOMPLETE")), "{result:#}");
    sandbox.write("quorum.toml", "[coverage]\nrequire = \"reviewed\"\n");
    assert_eq!(review(&sandbox, &[]).0, 2);
    sandbox.write("quorum.toml", "");
    sandbox.write("tool.bin", [0_u8, 159, 146, 150, 0, 1, 2, 3, 255, 254, 0, 7]);
    let (code, result) = review(&sandbox, &["--fail-on", "none"]);
    assert_eq!((code, &result["verdict"]), (2, &Value::from("INCOMPLETE")), "{result:#}");
    let reasons = result["reasons"].to_string();
    assert!(reasons.contains("tool.bin is unreadable"), "{reasons}");
}

#[test]
fn media_are_nobodys_and_what_cannot_be_read_has_a_reason_and_no_useless_command() {
    let sandbox = Sandbox::new();
    sandbox.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0");
    sandbox.write("a.py", "x = 1\n");
    let (code, result) = review(&sandbox, &["--strict"]);
    assert_eq!((code, &result["verdict"]), (0, &Value::from("APPROVED")), "{result:#}");
    let row = result["coverage"]["files"].as_array().expect("files").iter();
    let row = row.into_iter().find(|row| row["path"] == "logo.png").expect("it is listed");
    let states = row["agents"].as_object().expect("agents").values();
    assert!(states.into_iter().all(|state| state == "out_of_domain"), "{row}");
    let page = text(&sandbox.quorum(&["review"]).stdout);
    assert!(page.contains("1/1 files reviewed whole, 1 images, fonts or media"), "{page}");
    assert!(page.contains("not looked at: logo.png") && !page.contains("unreadable"), "{page}");
    let bytes = [0_u8, 159, 146, 150, 0, 1, 2, 3, 255, 254, 0, 7];
    sandbox.write("lib.jar", [&b"PK\x03\x04"[..], &bytes].concat());
    sandbox.write("photo.jpg", bytes);
    let (code, result) = review(&sandbox, &[]);
    assert_eq!((code, &result["verdict"]), (2, &Value::from("INCOMPLETE")), "{result:#}");
    let reasons = result["reasons"].to_string();
    assert!(reasons.contains("lib.jar is unreadable: it is an archive"), "{reasons}");
    assert!(reasons.contains("`.quorumignore` on the base branch"), "{reasons}");
    assert!(reasons.contains("photo.jpg is unreadable: its bytes are not what"), "{reasons}");
    for format in ["terminal", "markdown", "html", "sarif", "junit"] {
        let page = text(&sandbox.quorum(&["report", "--format", format]).stdout);
        assert!(page.contains("lib.jar") && page.contains("an archive"), "{format}: {page}");
        assert!(!page.contains("quorum review lib.jar"), "{format}: {page}");
    }
    // The way out holds: at the base, not in the change.
    sandbox.write(".quorumignore", "*.jar\nphoto.jpg\n");
    assert_eq!(review(&sandbox, &[]).0, 2);
    sandbox.git(&["add", ".quorumignore"]);
    sandbox.git(&["commit", "--quiet", "-m", "archives are not reviewed"]);
    assert_eq!(review(&sandbox, &[]).0, 0);
}

#[test]
fn what_was_compared_with_nothing_was_not_reviewed() {
    let sandbox = Sandbox::new();
    sandbox.write("go.mod", "module x\n\nrequire github.com/pkg/errors v0.9.0\n");
    let (code, result) = review(&sandbox, &[]);
    assert_eq!(code, 0, "{result:#}");
    let row = &result["coverage"]["files"][0];
    assert_eq!(row["agents"]["vulnerability-reviewer"], "read", "{result:#}");
    let page = text(&sandbox.quorum(&["review"]).stdout);
    assert!(page.contains("not compared"), "{page}");
    let (code, result) = review(&sandbox, &["--strict"]);
    assert_eq!((code, &result["verdict"]), (2, &Value::from("INCOMPLETE")), "{result:#}");
}

#[test]
fn lines_that_no_parser_understands_are_named_and_nothing_useless_is_advised() {
    let sandbox = Sandbox::new();
    let broken = "def broken(:\n    x = = 3 ]]] (((\n    return x\n";
    sandbox.write("a.py", format!("def ok():\n    return 1\n\n\n{broken}"));
    let (code, result) = review(&sandbox, &["--agents", "python"]);
    assert_eq!(code, 0, "{result:#}");
    let gap = &result["coverage"]["gaps"][0];
    let reason = gap["reason"].as_str().expect("a reason");
    assert!(reason.contains("lines 5–7 only read: no parser understands them"), "{reason}");
    assert_eq!(gap["command"], "", "rules see the same the next time");
    for format in ["terminal", "markdown", "html", "sarif"] {
        let page = text(&sandbox.quorum(&["report", "--format", format]).stdout);
        assert!(page.contains("5–7 only read"), "{format}: {page}");
    }
    let (code, result) = review(&sandbox, &["--agents", "python", "--strict"]);
    assert_eq!(code, 2, "{result:#}");
}

#[test]
fn what_is_staged_and_not_in_the_work_tree_is_named() {
    let sandbox = injected();
    sandbox.git(&["add", "app.py"]);
    sandbox.write("app.py", handler(SAFE).replace("\"n\"", "\"m\""));
    let (_, result) = review(&sandbox, &[]);
    let notes = result["notes"].to_string();
    assert!(notes.contains("what is staged differs from the work tree"), "{result:#}");
    assert!(notes.contains("app.py"), "{notes}");
    assert_eq!(review(&sandbox, &["--staged"]).0, 1);
    sandbox.git(&["add", "app.py"]);
    let (_, result) = review(&sandbox, &[]);
    assert!(!result["notes"].to_string().contains("what is staged differs"), "{result:#}");
}
