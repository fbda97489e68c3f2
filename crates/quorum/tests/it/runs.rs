//! What reviews leave on disk, and the commands that read it.

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

const CONFLICT: &str = "fn a() {}\n<<<<<<< ours\nfn b() {}\n=======\nfn c() {}\n>>>>>>> theirs\n";

/// A repository with one review in it, which blocks.
fn reviewed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", CONFLICT);
    let output = sandbox.quorum(&["review", "--agents", "code-quality,security"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    sandbox
}

fn prints(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.quorum(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    serde_json::from_str(&prints(sandbox, arguments)).expect("it is JSON")
}

/// The page without what differs from run to run.
fn stable(sandbox: &Sandbox, page: &str) -> String {
    let run = json(sandbox, &["runs", "show", "--format", "json"]);
    let id = run["run"].as_str().expect("an id");
    let started = run["started"].as_str().expect("a moment");
    let root = sandbox.root().display().to_string();
    page.replace(id, "<run>").replace(started, "<started>").replace(&root, "<root>")
}

#[test]
fn an_orchestrator_reads_one_line_per_agent_and_opens_what_needs_a_look() {
    let sandbox = reviewed();
    let mut page = String::new();
    for arguments in [
        &["verdicts"][..],
        &["verdicts", "--count"],
        &["verdicts", "--attention"],
        &["verdicts", "--tokens"],
        &["show", "code-quality", "--index"],
        &["show", "cq-001"],
        &["runs", "show"],
    ] {
        let printed = prints(&sandbox, arguments);
        page.extend(["$ quorum ", &arguments.join(" "), "\n", &printed, "\n"]);
    }
    insta::assert_snapshot!("drill_down", stable(&sandbox, &page));
}

#[test]
fn verdict_files_are_what_programs_read() {
    let sandbox = reviewed();
    let all = json(&sandbox, &["verdicts", "--format", "json"]);
    let all = all.as_array().expect("a list");
    let blocked: Vec<&Value> = all.iter().filter(|one| one["status"] == "BLOCKED").collect();
    assert_eq!(blocked.len(), 1, "{all:#?}");
    let verdict = blocked[0];
    for key in ["type", "model", "tokens_spent", "files_changed", "timestamp", "run", "summary"] {
        assert!(verdict.get(key).is_some(), "{key}");
    }
    assert_eq!((&verdict["type"], &verdict["findings_count"]), (&"verdict".into(), &1.into()));
    let path = verdict["detail_path"].as_str().expect("a path");
    assert!(sandbox.root().join(path).is_file(), "{path}");
    let attention = json(&sandbox, &["verdicts", "--attention", "--format", "json"]);
    assert_eq!(attention.as_array().map(Vec::len), Some(1));
    let shown = json(&sandbox, &["show", "code-quality", "--format", "json"]);
    assert_eq!(shown["outcome"]["findings"].as_array().map(Vec::len), Some(1));
    let finding = json(&sandbox, &["show", "CQ-001", "--format", "json"]);
    let fingerprint = finding["fingerprint"].as_str().expect("one");
    assert_eq!(json(&sandbox, &["show", &fingerprint[..8], "--format", "json"]), finding);
}

#[test]
fn a_budget_cuts_what_is_shown() {
    let sandbox = reviewed();
    let all = prints(&sandbox, &["show", "code-quality"]);
    let some = prints(&sandbox, &["show", "code-quality", "--budget", "120"]);
    assert!(some.starts_with("### Findings Index\n- CRITICAL | CQ-001 | "), "{some}");
    assert!(some.len() < all.len() && some.contains("1 findings left out"), "{some}");
}

#[test]
fn runs_are_listed_and_cleaned() {
    let sandbox = reviewed();
    for _ in 0..2 {
        sandbox.quorum(&["review"]);
    }
    let runs = json(&sandbox, &["runs", "list", "--format", "json"]);
    let ids: Vec<&str> =
        runs.as_array().expect("a list").iter().filter_map(|run| run["run"].as_str()).collect();
    assert!(ids.len() == 3 && ids.is_sorted(), "{ids:?}");
    assert_eq!(prints(&sandbox, &["runs", "clean", "--older-than", "7d"]), "removed 0 runs\n");
    assert_eq!(prints(&sandbox, &["runs", "clean", "--keep", "1"]), "removed 2 runs\n");
    let left = json(&sandbox, &["runs", "list", "--format", "json"]);
    assert_eq!(left[0]["run"], ids[2]);
    assert!(prints(&sandbox, &["runs", "list"]).contains("BLOCKED"));
    assert!(prints(&sandbox, &["verdicts", "--run", &ids[2][..20]]).contains(ids[2]));
}

#[test]
fn mistakes_get_a_way_out() {
    let sandbox = Sandbox::new();
    let cases: [(&[&str], &str); 5] = [
        (&["verdicts"], "quorum review"),
        (&["resume"], "quorum review"),
        (&["runs", "clean"], "--keep"),
        (&["runs", "clean", "--older-than", "soon"], "7d"),
        (&["memory", "forget", "m-0"], "quorum memory list"),
    ];
    for (arguments, expected) in cases {
        let said = sandbox.fails(arguments);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    sandbox.write("src/lib.rs", CONFLICT);
    sandbox.quorum(&["review"]);
    assert!(sandbox.fails(&["show", "nobody"]).contains("quorum verdicts"));
    assert!(sandbox.fails(&["dismiss", "X-1", "--reason", "r"]).contains("X-1"));
    assert!(sandbox.fails(&["verdicts", "--run", "1999"]).contains("runs list"));
}

#[test]
fn a_past_that_the_repository_brings_is_refused() {
    let sandbox = reviewed();
    sandbox.git(&["add", "--force", ".quorum/memory.db"]);
    for arguments in [&["review"][..], &["verdicts"], &["memory", "list"]] {
        let said = sandbox.fails(arguments);
        assert!(said.contains("version control") && said.contains("git rm"), "{said}");
    }
}

#[test]
fn lessons_are_recorded_found_and_forgotten() {
    let sandbox = Sandbox::new();
    let record = ["memory", "record", "Retries are in client.go", "Look there.", "--tags", "http"];
    let id = prints(&sandbox, &record).trim().to_owned();
    assert!(prints(&sandbox, &["memory", "search", "where are retries"]).contains(&id));
    assert_eq!(prints(&sandbox, &["memory", "search", "colours"]), "no memories\n");
    prints(&sandbox, &["memory", "helpful", &id]);
    let listed = json(&sandbox, &["memory", "list", "--format", "json"]);
    let confidence = listed[0]["confidence"].as_f64().expect("a number");
    assert!(confidence > 0.8, "{confidence}");
    prints(&sandbox, &["memory", "forget", &id]);
    assert_eq!(prints(&sandbox, &["memory", "list"]), "no memories\n");
    sandbox.write("src/lib.rs", CONFLICT);
    sandbox.quorum(&["review"]);
    let listed = json(&sandbox, &["memory", "list", "--format", "json"]);
    let title = listed[0]["title"].as_str().expect("a title");
    assert!(title.starts_with("Consensus Review: "), "{title}");
    assert!(listed[0]["tags"].as_array().expect("tags").contains(&"blocked".into()));
}

const PAGE: &str = "### Findings Index
- P1 | SF-001 | \"src/lib.rs\" | b is wrong
- P0 | SF-002 | \"src/other.rs:1\" | not in the change
Verdict: risky

### Issues Found
#### SF-001
```rust
fn b() {}
```
";

#[test]
fn findings_of_other_tools_take_part() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n\nfn b() {}\n");
    let before = sandbox.quorum(&["review"]);
    assert_eq!(before.status.code(), Some(0), "{}", text(&before.stdout));
    sandbox.write("fd-safety.md", PAGE);
    sandbox.write("prose.md", "Looks good to me.\n");
    sandbox.write("old.md", "<!-- run x -->\n### Findings Index\nVerdict: safe\n");
    sandbox.write("failed.md", "### Findings Index\nVerdict: error\n");
    sandbox.write("agent.json", r#"{"agent":"other","findings":[]}"#);
    let files = ["fd-safety.md", "prose.md", "old.md", "failed.md", "agent.json", "missing.md"];
    let mut check = vec!["ingest", "--check", "--format", "json"];
    check.extend(files);
    let output = sandbox.quorum(&check);
    assert_eq!(output.status.code(), Some(2));
    let states: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
    let states: Vec<&str> = states.iter().filter_map(|file| file["state"].as_str()).collect();
    assert_eq!(states, ["valid", "malformed", "foreign", "error", "valid", "missing"]);
    assert!(prints(&sandbox, &["verdicts", "--count"]).contains("CLEAN"), "nothing was taken in");

    let output = sandbox.quorum(&["ingest", "fd-safety.md"]);
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 finding, 1 not backed by the code"), "{output:?}");
    assert!(
        prints(&sandbox, &["verdicts"]).contains("NEEDS_ATTENTION fd-safety: 1 finding, 1 high")
    );
    let finding = json(&sandbox, &["show", "FS-001", "--format", "json"]);
    assert_eq!((&finding["line"], &finding["agents"][0]), (&5.into(), &"fd-safety".into()));

    let clean = sandbox.quorum(&["ingest", "agent.json", "missing.md"]);
    assert_eq!(clean.status.code(), Some(1), "what was taken in before stays");
    assert!(prints(&sandbox, &["verdicts"]).contains("CLEAN other: no findings"));
}
