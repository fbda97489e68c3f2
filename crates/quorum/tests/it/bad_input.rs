//! Bad input costs nothing: one line with the cause, one with the way out, exit 2.

use crate::sandbox::Sandbox;

/// What is said on standard error: the cause and the hint.
fn check(sandbox: &Sandbox, arguments: &[&str], cause: &str, hint: &str) {
    let said = sandbox.fails(arguments);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{arguments:?}: {said}");
    assert!(lines[0].starts_with("error: ") && lines[0].contains(cause), "{arguments:?}: {said}");
    assert!(lines[1].starts_with("hint: ") && lines[1].contains(hint), "{arguments:?}: {said}");
}

#[test]
fn revisions_paths_and_names() {
    let sandbox = Sandbox::new();
    check(&sandbox, &["plan", "--base", "nowhere"], "`nowhere` names no commit", "git log");
    check(&sandbox, &["plan", "--commit=--upload-pack=x"], "names no commit", "git log");
    check(&sandbox, &["plan", "--range", "HEAD"], "`HEAD` is not a range", "A...B");
    check(&sandbox, &["plan", "../other"], "outside the repository", "repository");
    check(&sandbox, &["plan", "/etc/passwd"], "outside the repository", "repository");
    check(&sandbox, &["plan", "missing.rs"], "`missing.rs` matches no file", "spelling");
    check(&sandbox, &["plan", "*.zig"], "`*.zig` matches no file", "spelling");
    check(&sandbox, &["plan", "--agents", "sekurity"], "no agent `sekurity`", "`security`");
    check(&sandbox, &["plan", "--provider", "opnai"], "no provider `opnai`", "`openai`");
    check(&sandbox, &["plan", "--provider", "command"], "no model is set", "--model");
}

#[test]
fn ways_out_of_the_repository() {
    let sandbox = Sandbox::new();
    std::os::unix::fs::symlink("/etc", sandbox.root().join("etc")).expect("a link");
    check(&sandbox, &["plan", "etc/passwd"], "outside the repository", "repository");
    check(&sandbox, &["plan", "-C", "README.md"], "it is not a folder", "folder");
    check(&sandbox, &["plan", "-C", "absent"], "No such file", "folder");
    check(&sandbox, &["plan", "-", "--staged"], "a scope of its own", "alone");
    check(&sandbox, &["plan", ""], "`` matches no file", "spelling");
    std::os::unix::fs::symlink("absent", sandbox.root().join("quorum.toml")).expect("a link");
    check(&sandbox, &["plan"], "quorum.toml: No such file", "readable");
}

#[test]
fn diffs_that_do_not_parse() {
    let sandbox = Sandbox::bare_folder();
    sandbox.write("prose.txt", "this is\nnot a diff\n");
    check(&sandbox, &["plan", "--diff", "prose.txt"], "no diff in them", "git diff");
    sandbox.write("cut.patch", "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n");
    check(&sandbox, &["plan", "--diff", "cut.patch"], "line 4 of the diff", "git diff");
    check(&sandbox, &["plan", "--diff", "absent.patch"], "absent.patch", "--diff");
}

#[test]
fn no_repository() {
    let sandbox = Sandbox::bare_folder();
    check(&sandbox, &["plan"], "is not inside a git repository", "--diff FILE");
    check(&sandbox, &["review"], "is not inside a git repository", "--diff FILE");
}

#[test]
fn configuration() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", "# x\nprotocoll = \"veto\"\n");
    check(&sandbox, &["plan"], "quorum.toml:2: there is no key `protocoll`", "`protocol`");
    sandbox.write("quorum.toml", "[progressive_summarization]\nhigh_severity_threshold = 0.5\n");
    check(&sandbox, &["plan"], "quorum.toml:2", "config show");
    sandbox.write("quorum.toml", "tier = [\n");
    check(&sandbox, &["plan"], "quorum.toml:", "config init");
    sandbox.write("quorum.toml", "agents = [\"nobody\"]\n");
    check(&sandbox, &["plan"], "no agent `nobody`", "there are:");
    sandbox.write("quorum.toml", b"\xff\xfe");
    check(&sandbox, &["plan"], "quorum.toml: it is not UTF-8", "UTF-8");
    sandbox.remove("quorum.toml");
    sandbox.write(".quorum/agents/x.md", "no front matter");
    check(&sandbox, &["plan"], ".quorum/agents/x.md: it does not start", "agents");
}

#[test]
fn usage() {
    let sandbox = Sandbox::new();
    for arguments in [
        &["plan", "--tier", "huge"][..],
        &["plan", "--staged", "--base", "main"],
        &["plan", "--frmat", "json"],
        &["pln"],
        &["plan", "-j", "0"],
        &["plan", "--ignore-vetos", ""],
    ] {
        let said = sandbox.fails(arguments);
        assert!(said.starts_with("error: "), "{said}");
    }
}
