//! Listing and explaining reviewers.

use crate::sandbox::{Sandbox, text};

#[test]
fn the_list_and_one_in_full() {
    let sandbox = Sandbox::bare_folder();
    let list = text(&sandbox.quorum(&["agents"]).stdout);
    for name in ["security", "vulnerability", "go", "code-quality", "user-persona"] {
        assert!(list.contains(name), "{list}");
    }
    let one = text(&sandbox.quorum(&["agents", "go"]).stdout);
    assert!(one.contains("## Checklist") && one.contains("8,192 before scaling"), "{one}");
}

#[test]
fn who_reviews_a_file_and_why() {
    let sandbox = Sandbox::new();
    sandbox.write("src/auth/token.go", "package auth\n");
    let output = sandbox.quorum(&["agents", "--explain", "src/auth/token.go"]);
    insta::assert_snapshot!("explain", text(&output.stdout));
}
