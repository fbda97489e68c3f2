//! `quorum config trust`: what a repository sets is used after the user's word, and only exactly that.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

const SETTINGS: &str = "provider = \"openai\"\nmodel = \"m\"\n[limits]\nseconds_per_call = 600\n";

/// The provider in force in `folder`, and how many settings are refused.
fn in_force(sandbox: &Sandbox, folder: &str) -> (String, usize) {
    let arguments = ["-C", folder, "config", "show", "--origin", "--format", "json"];
    let output = sandbox.quorum(&arguments);
    let shown: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let refused = shown.as_object().expect("keys").values();
    let refused = refused.filter(|entry| entry.get("refused").is_some()).count();
    (shown["provider"]["value"].as_str().expect("a value").trim_matches('"').to_owned(), refused)
}

fn prints(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.quorum(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn offline() -> (String, usize) {
    ("builtin".to_owned(), 3)
}

fn trusted() -> (String, usize) {
    ("openai".to_owned(), 0)
}

#[test]
fn trust_is_for_one_clone_and_exactly_these_settings() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", SETTINGS);
    sandbox.commit("settings");
    sandbox.git(&["worktree", "add", "--quiet", "../linked"]);
    sandbox.git(&["clone", "--quiet", ".", "../clone"]);
    let all = |expected: [(String, usize); 3]| {
        for (folder, expected) in [".", "../linked", "../clone"].iter().zip(expected) {
            assert_eq!(in_force(&sandbox, folder), expected, "{folder}");
        }
    };
    all([offline(), offline(), offline()]);
    // Nobody answers, so nothing is trusted.
    let said = sandbox.fails(&["config", "trust"]);
    assert!(said.contains("nobody is there to ask") && said.contains("--yes"), "{said}");
    all([offline(), offline(), offline()]);

    let said = prints(&sandbox, &["config", "trust", "--yes"]);
    for line in
        ["provider = \"openai\"", "quorum.toml:1: ", "limits.seconds_per_call = 600", "it is 120"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    all([trusted(), trusted(), offline()]);
    let file = sandbox.root().join("../home/.config/quorum/trusted.toml");
    let mode = file.metadata().expect("it is kept").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = prints(&sandbox, &["config", "trust", "--list"]);
    assert!(listed.contains("model = \"m\"") && listed.contains("work tree/.git"), "{listed}");
    assert!(prints(&sandbox, &["config", "trust"]).contains("already"));

    // What does not need consent may change; anything else asks again.
    sandbox.write("quorum.toml", format!("strict = true\n{SETTINGS}max_usd = 3\n"));
    assert_eq!(in_force(&sandbox, "."), trusted());
    sandbox.write("quorum.toml", SETTINGS.replace("\"m\"", "\"dearer\""));
    assert_eq!(in_force(&sandbox, "."), offline());
    sandbox.write("quorum.toml", SETTINGS);
    assert_eq!(in_force(&sandbox, "."), trusted());

    prints(&sandbox, &["-C", "../linked", "config", "untrust"]);
    all([offline(), offline(), offline()]);
    assert!(prints(&sandbox, &["config", "untrust"]).contains("did not trust"));
}

#[test]
fn a_folder_that_claims_to_be_a_trusted_clone_is_not_one() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", SETTINGS);
    sandbox.commit("settings");
    prints(&sandbox, &["config", "trust", "--yes"]);
    let common = sandbox.root().join(".git").display().to_string();
    // A link to the clone's folder, and a folder that says it shares the clone's.
    sandbox.write("../claims/.git", format!("gitdir: {common}\n"));
    sandbox.write("../shares/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("../shares/.git/commondir", format!("{common}\n"));
    std::fs::create_dir_all(sandbox.root().join("../symbolic")).expect("a folder");
    std::os::unix::fs::symlink(&common, sandbox.root().join("../symbolic/.git")).expect("a link");
    for folder in ["../claims", "../shares", "../symbolic"] {
        sandbox.write(&format!("{folder}/quorum.toml"), SETTINGS);
        assert_eq!(in_force(&sandbox, folder), offline(), "{folder}");
    }
    assert_eq!(in_force(&sandbox, "."), trusted());
}

#[test]
fn a_review_of_commits_follows_what_the_base_is_trusted_with() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", SETTINGS);
    sandbox.commit("settings");
    sandbox.git(&["checkout", "--quiet", "-b", "change"]);
    sandbox.write("quorum.toml", SETTINGS.replace("openai", "anthropic"));
    sandbox.write("src/lib.rs", "pub fn two() -> u32 {\n    2\n}\n");
    sandbox.commit("change");
    let engine = || {
        let plan = sandbox.plan(&["--base", "main"]);
        (plan["agents"][0]["engine"].clone(), plan["warnings"].to_string())
    };
    let (first, warned) = engine();
    assert_eq!(first, "builtin");
    assert!(
        warned.contains("not used without your consent: provider = \\\"openai\\\""),
        "{warned}"
    );
    // Trust in what the change brings is no trust in the base.
    prints(&sandbox, &["config", "trust", "--yes"]);
    assert_eq!(engine().0, "builtin");
    prints(&sandbox, &["config", "trust", "--yes", "--at", "main"]);
    let (now, warned) = engine();
    assert_eq!(now, "openai");
    assert!(!warned.contains("consent"), "{warned}");
    assert!(sandbox.fails(&["config", "trust", "--at", "nowhere"]).contains("nowhere"));
}

#[test]
fn a_record_of_trust_that_cannot_be_read_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", SETTINGS);
    for broken in ["[[trusted]]\nrepository = 1\n", "\u{0}"] {
        sandbox.write("../home/.config/quorum/trusted.toml", broken);
        let said = sandbox.fails(&["plan"]);
        assert!(said.contains("trusted.toml: "), "{said}");
    }
    sandbox.write("quorum.toml", "strict = true\n");
    sandbox.plan(&[]);
}
