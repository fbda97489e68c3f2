//! The configuration commands.

use crate::sandbox::{Sandbox, text};

#[test]
fn show_names_the_origin_of_every_value() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", "fail_on = \"medium\"\n[limits]\nmax_usd = 2\n");
    let output = sandbox.quorum_with(&["config", "show", "--origin"], |command| {
        command.env("QUORUM_STRICT", "true");
    });
    let shown = text(&output.stdout);
    let line = |key: &str| {
        let found = shown.lines().find(|line| line.split_whitespace().next() == Some(key));
        found.expect(key).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("fail_on"), "fail_on = \"medium\" # quorum.toml:1");
    assert_eq!(line("limits.max_usd"), "limits.max_usd = 2.0 # quorum.toml:3");
    assert_eq!(line("strict"), "strict = true # variable QUORUM_STRICT");
    assert_eq!(line("tokenizer"), "tokenizer = \"o200k\" # default");
}

#[test]
fn a_refused_value_is_named_with_its_place_and_the_reason() {
    let sandbox = Sandbox::new();
    sandbox.write("../home/.config/quorum/quorum.toml", "[limits]\nmax_usd = 0.01\n");
    sandbox.write("quorum.toml", "provider = \"anthropic\"\n[limits]\nmax_usd = 500.0\n");
    let own = "---\nname: api-reviewer\nfocus: x\nbase_budget: 2048\nveto: true\nmodel: dear\n---\nLook.\n";
    sandbox.write(".quorum/agents/api.md", own);
    let shown = text(&sandbox.quorum(&["config", "show", "--origin"]).stdout);
    for line in [
        "# provider = \"anthropic\"  # quorum.toml:1: it decides who is sent code and who is paid",
        "# limits.max_usd = 500.0  # quorum.toml:3: a repository can lower a limit, not raise it: \
         without it, it is 0.01",
        "# agent.api-reviewer.model = \"dear\"  # .quorum/agents/api.md: it decides who",
        "# `quorum config trust` accepts exactly these.",
    ] {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
    let output = sandbox.quorum(&["config", "show", "--origin", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(shown["provider"]["value"], "\"builtin\"");
    assert_eq!(shown["provider"]["refused"]["origin"], "quorum.toml:1");
    assert_eq!(shown["limits.max_usd"]["value"], "0.01");
    let agents = sandbox.quorum(&["agents", "--format", "json"]);
    assert!(!text(&agents.stdout).contains("dear"), "{}", text(&agents.stdout));
    let said = text(&sandbox.quorum(&["config", "validate"]).stdout);
    assert!(said.contains("not used without your consent"), "{said}");
}

#[test]
fn init_writes_a_valid_file_once() {
    let sandbox = Sandbox::new();
    assert!(sandbox.quorum(&["config", "init"]).status.success());
    let said = text(&sandbox.quorum(&["config", "validate"]).stdout);
    assert!(said.starts_with("The configuration is valid: quorum.toml, 10 agents"), "{said}");
    assert!(sandbox.fails(&["config", "init"]).contains("edit it, or move it away"));
}

#[test]
fn the_schema_is_the_kept_one() {
    let sandbox = Sandbox::bare_folder();
    let printed = text(&sandbox.quorum(&["config", "schema"]).stdout);
    assert_eq!(printed, include_str!("../../../../schemas/config.json"));
}
