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
