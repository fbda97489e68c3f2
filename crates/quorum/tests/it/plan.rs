//! The numbers of a plan, and how it reads.

use serde_json::Value;

use crate::sandbox::{Sandbox, agents, text};

/// A file of exactly `tokens` tokens: each line is one word and a line feed.
fn words(tokens: usize) -> String {
    "a\n".repeat(tokens / 2) + if tokens % 2 == 1 { "a" } else { "" }
}

fn budget(plan: &Value, agent: &str) -> u64 {
    let agents = plan["agents"].as_array().expect("agents");
    let found = agents.iter().find(|found| found["name"] == agent).expect(agent);
    found["budget"].as_u64().expect("a number")
}

#[test]
fn the_budget_table() {
    let sandbox = Sandbox::empty();
    let table = [
        (4_096, [7_680, 10_240, 15_360]),
        (16_384, [12_288, 16_384, 24_576]),
        (49_152, [24_576, 32_768, 49_152]),
    ];
    for (tokens, budgets) in table {
        sandbox.write("a.go", words(tokens));
        for (tier, expected) in ["simple", "standard", "complex"].into_iter().zip(budgets) {
            let plan = sandbox.plan(&["a.go", "--tier", tier, "--agents", "security"]);
            assert_eq!(plan["total_tokens"], tokens);
            assert_eq!(budget(&plan, "security-reviewer"), expected, "{tokens} {tier}");
        }
    }
}

#[test]
fn isolation_switches_above_16384_tokens() {
    let sandbox = Sandbox::empty();
    sandbox.write("a.go", words(16_384));
    assert_eq!(sandbox.plan(&["a.go"])["isolation"], "shared");
    sandbox.write("a.go", words(16_385));
    assert_eq!(sandbox.plan(&["a.go"])["isolation"], "branch");
}

#[test]
fn a_plan_is_valid_by_its_schema_and_the_same_each_time() {
    let sandbox = Sandbox::new();
    sandbox.write("src/auth/login.go", "package auth\n\nfunc Login() {}\n");
    sandbox.write("Dockerfile", "FROM scratch\n");
    let plan = sandbox.plan(&[]);
    let schemas = quorum_model::schema::documents();
    let (_, schema) = schemas.iter().find(|(name, _)| *name == "plan.json").expect("it exists");
    let validator = jsonschema::validator_for(schema.as_value()).expect("a valid schema");
    let errors: Vec<String> = validator.iter_errors(&plan).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(plan, sandbox.plan(&[]));
    let output = sandbox.quorum_with(&["plan", "--format", "json"], |command| {
        command.env("RAYON_NUM_THREADS", "1");
    });
    let alone: Value = serde_json::from_slice(&output.stdout).expect("the plan is JSON");
    assert_eq!(plan, alone);
}

#[test]
fn a_large_file_is_cut_and_fully_assigned() {
    let sandbox = Sandbox::empty();
    let line = "{\"id\": 12345, \"name\": \"some value\", \"tags\": [\"a\", \"b\"]}\n";
    sandbox.write("events.jsonl", line.repeat(40_000));
    sandbox.write("one-line.txt", "lorem ipsum ".repeat(100_000));
    sandbox.write("spaces.txt", " ".repeat(1_000_000));
    let plan = sandbox.plan(&[]);
    assert_eq!(plan["unassigned"], serde_json::json!([]));
    let is_for_it = |agent: &&Value| {
        agent["files"].as_array().expect("files").iter().any(|file| file == "events.jsonl")
    };
    let agents = plan["agents"].as_array().expect("agents");
    assert!(agents.iter().any(|agent| is_for_it(&agent)));
    for agent in agents.iter().filter(is_for_it) {
        let limit = agent["shard_limit"].as_u64().expect("a number");
        let mut covered = 0;
        for shard in agent["shards"].as_array().expect("shards") {
            assert!(shard["tokens"].as_u64().expect("a number") <= limit);
            for unit in shard["units"].as_array().expect("units") {
                if unit["path"] == "events.jsonl" {
                    let line = |key: &str| unit[key].as_u64().expect("a number");
                    covered += line("end_line") - line("start_line") + 1;
                }
            }
        }
        assert_eq!(covered, 40_000, "{}", agent["name"]);
    }
}

#[test]
fn agents_follow_the_change() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "fn one() -> u32 {\n    2\n}\n");
    let plan = sandbox.plan(&[]);
    assert!(agents(&plan).contains(&"rust-reviewer"));
    assert!(agents(&plan).contains(&"code-quality-reviewer"));
    let plan = sandbox.plan(&["--agents", "security,go-reviewer"]);
    assert_eq!(agents(&plan), ["security-reviewer", "go-reviewer"]);
}

#[test]
fn a_teams_agents_sops_and_settings_are_used() {
    let sandbox = Sandbox::new();
    let agent = "---\nname: schema-reviewer\nfocus: our schema rules\nbase_budget: 2048\nveto: false\n\
                 domain:\n  paths: [\"*.sql\"]\n---\n# Checklist\n- keys\n";
    sandbox.write(".quorum/agents/schema.md", agent);
    sandbox
        .write(".quorum/sops/sql.md", "---\napplies_to: \"*.sql\"\n---\nName every constraint.\n");
    sandbox.write("quorum.toml", "[agent.security]\nbase_budget = 1000\n");
    sandbox.write("db/a.sql", "select 1;\n");
    let plan = sandbox.plan(&["db/a.sql", "--tier", "standard"]);
    let found = plan["agents"].as_array().expect("agents");
    let schema = found.iter().find(|agent| agent["name"] == "schema-reviewer").expect("it is used");
    assert_eq!(schema["shards"][0]["sops"], serde_json::json!(["sql"]));
    let plan = sandbox.plan(&["src", "--tier", "standard"]);
    assert!(budget(&plan, "security-reviewer") < 1_100);
}

#[test]
fn the_page_for_people() {
    let sandbox = Sandbox::new();
    sandbox.write("src/auth/login.go", "package auth\n\nfunc Login() {}\n");
    sandbox.write("README.md", "# Sandbox\n\nLog in first.\n");
    // The number of jobs is part of the page, and would differ from machine to machine.
    let output = sandbox.quorum(&["plan", "--jobs", "2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = text(&output.stdout);
    let base = sandbox.git(&["rev-parse", "HEAD"]);
    insta::assert_snapshot!("plan", page.replace(&base[..12], "[BASE]"));
}

#[test]
fn what_models_are_not_shown_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("api.pb.go", "package api\n");
    let plan = sandbox.plan(&["--provider", "anthropic"]);
    assert_eq!(plan["total_tokens"], 100);
    let warning = "generated, so read by rules and not shown to models: api.pb.go";
    let warnings = plan["warnings"].as_array().expect("warnings");
    assert!(warnings.contains(&warning.into()), "{warnings:?}");
    // A file that only says so itself is no such file.
    sandbox.write("api.pb.go", "");
    sandbox.write("evil.go", "// Code generated by nobody. DO NOT EDIT.\npackage evil\n");
    let plan = sandbox.plan(&["--provider", "anthropic"]);
    assert!(!plan["warnings"].to_string().contains("evil.go"), "{}", plan["warnings"]);
}

#[test]
fn nothing_to_review_is_said() {
    let sandbox = Sandbox::new();
    let output = sandbox.quorum(&["plan", "--staged"]);
    assert!(text(&output.stdout).contains("There is nothing to review."));
    let output = sandbox.quorum(&["plan"]);
    assert!(text(&output.stdout).contains("`--all` looks at every file"));
}

#[test]
fn counts_are_remembered_outside_version_control() {
    let sandbox = Sandbox::new();
    let first = sandbox.plan(&["--commit", "HEAD"]);
    sandbox.quorum(&["review", "--commit", "HEAD"]);
    assert!(sandbox.root().join(".quorum/index/tokens-o200k.v1").exists());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.plan(&["--commit", "HEAD"]), first);
}
