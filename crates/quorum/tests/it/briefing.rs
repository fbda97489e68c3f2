//! What reviewers are told beside the code.

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

fn context(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let mut all = vec!["context", "--format", "json"];
    all.extend(arguments);
    let output = sandbox.quorum(&all);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(".quorum/sops/errors.md", "---\napplies_to: \"*.py\"\n---\nName what failed.\n");
    sandbox.write("AGENTS.md", "Be brief.\n");
    sandbox.write("app/AGENTS.md", "Views return templates.\n");
    sandbox.write(
        "app/views.py",
        "from app.util import helper\n\ndef index(request):\n    return helper()\n",
    );
    sandbox.write("app/util.py", "def helper(times: int = 1) -> str:\n    return 'x' * times\n");
    sandbox.write("tests/test_views.py", "def test_index_is_shown():\n    pass\n");
    sandbox.write(".cursor/rules/py.mdc", "---\nglobs: *.py\n---\nType everything.\n");
    sandbox.write(
        "CONTRIBUTING.md",
        format!("# First\n\nShort.\n\n# Second\n\n{}", "long ".repeat(9_000)),
    );
    sandbox.commit("start");
    sandbox
}

#[test]
fn a_page_says_what_goes_in_what_does_not_and_why() {
    let output = project().quorum(&["context", "app/views.py", "--agent", "python"]);
    insta::assert_snapshot!("context_page", text(&output.stdout));
}

#[test]
fn an_agent_is_told_only_of_files_in_its_domain() {
    let sandbox = project();
    let told = context(&sandbox, &["app", "CONTRIBUTING.md", "--agent", "python"]);
    let files = &told[0]["manifest"]["files"];
    assert_eq!(files, &serde_json::json!(["app/util.py", "app/views.py"]), "{files}");
    let said = sandbox.fails(&["context", "CONTRIBUTING.md", "--agent", "go"]);
    assert!(said.contains("no file for go-reviewer"), "{said}");
}

#[test]
fn what_was_dismissed_is_told_with_its_reason() {
    let sandbox = project();
    sandbox.write(
        "app/views.py",
        "import os\n\ndef index(request):\n    os.system('ls ' + request.args['x'])\n",
    );
    sandbox.quorum(&["review", "app/views.py", "--agents", "security"]);
    let verdict = sandbox.quorum(&["dismiss", "SEC-001", "--reason", "only we can reach it"]);
    assert!(verdict.status.success(), "{}", text(&verdict.stderr));
    let told = context(&sandbox, &["app/views.py"]);
    let said = told[0]["text"].as_str().expect("a text");
    assert!(said.contains("Set aside by") && said.contains("only we can reach it"), "{said}");
}

#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    let sandbox = project();
    let secret = sandbox.root().parent().expect("a folder").join("secret");
    std::fs::write(&secret, "the private key").expect("it is written");
    sandbox.remove("AGENTS.md");
    std::os::unix::fs::symlink(&secret, sandbox.root().join("AGENTS.md")).expect("a link");
    let told = context(&sandbox, &["app/views.py"]);
    assert!(!told.to_string().contains("the private key"), "{told}");
}
