//! Every scope form says what git says.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, paths, text};

/// The hunks that git prints, by file, as `[old_start, old_lines, new_start, new_lines]`.
fn hunks_of_git(sandbox: &Sandbox, arguments: &[&str]) -> Vec<(String, Vec<[u64; 4]>)> {
    let mut all = vec!["-c", "core.quotePath=false", "diff", "--no-color"];
    all.extend(arguments);
    let mut found: Vec<(String, Vec<[u64; 4]>)> = Vec::new();
    for line in sandbox.git(&all).lines() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let name = names.rsplit(" b/").next().expect("two names").trim_matches('"');
            found.push((name.to_owned(), Vec::new()));
        } else if let Some(header) = line.strip_prefix("@@ -") {
            let sides: Vec<&str> =
                header.split(" @@").next().expect("an end").split(" +").collect();
            let side = |text: &str| {
                let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
                (start.parse().expect("a number"), lines.parse().expect("a number"))
            };
            let ((a, b), (c, d)) = (side(sides[0]), side(sides[1]));
            found.last_mut().expect("a file comes first").1.push([a, b, c, d]);
        }
    }
    found.sort();
    found
}

fn hunks_of_plan(plan: &Value) -> Vec<(String, Vec<[u64; 4]>)> {
    let files = plan["scope"]["files"].as_array().expect("files");
    let number = |hunk: &Value, key: &str| hunk[key].as_u64().expect("a number");
    let mut found: Vec<(String, Vec<[u64; 4]>)> = files
        .iter()
        .map(|file| {
            let hunks = file["hunks"].as_array().expect("hunks");
            let keys = ["old_start", "old_lines", "new_start", "new_lines"];
            let hunks = hunks.iter().map(|hunk| keys.map(|key| number(hunk, key)));
            (file["path"].as_str().expect("a path").to_owned(), hunks.collect())
        })
        .collect();
    found.sort();
    found
}

fn agrees(sandbox: &Sandbox, quorum: &[&str], git: &[&str]) -> Value {
    let plan = sandbox.plan(quorum);
    assert_eq!(hunks_of_plan(&plan), hunks_of_git(sandbox, git), "{quorum:?} against {git:?}");
    plan
}

/// A history with edits, a rename, a deletion, odd names, CRLF and a binary file.
fn history() -> Sandbox {
    let sandbox = Sandbox::new();
    let long: Vec<String> = (1..=60).map(|line| format!("line {line}\n")).collect();
    let long = long.concat();
    sandbox.write("src/long.txt", &long);
    sandbox.write("src/with space.txt", "a\nb\nc\n");
    sandbox.write("src/ünï.txt", "eins\nzwei\n");
    sandbox.write("dos.txt", "one\r\ntwo\r\nthree\r\n");
    sandbox.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    sandbox.write("gone.rs", "fn gone() {}\n");
    sandbox.commit("material");
    sandbox.write("src/long.txt", long.replace("line 5\n", "").replace("line 40\n", "forty\n"));
    sandbox.write("src/with space.txt", "a\nB\nc\n");
    sandbox.write("src/ünï.txt", "eins\nzwei\ndrei");
    sandbox.write("dos.txt", "one\r\n2\r\nthree\r\n");
    sandbox.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\x01");
    sandbox.remove("gone.rs");
    sandbox.git(&["mv", "src/lib.rs", "src/moved.rs"]);
    sandbox.commit("change everything");
    sandbox
}

#[test]
fn committed_forms() {
    let sandbox = history();
    agrees(&sandbox, &["--commit", "HEAD"], &["HEAD~1", "HEAD"]);
    agrees(&sandbox, &["--range", "HEAD~2..HEAD"], &["HEAD~2", "HEAD"]);
    agrees(&sandbox, &["--range", "HEAD~1...HEAD"], &["HEAD~1...HEAD"]);
    agrees(&sandbox, &["--base", "HEAD~2"], &["HEAD~2...HEAD"]);
    let plan = sandbox.plan(&["--commit", "HEAD"]);
    let file = |path: &str| {
        let files = plan["scope"]["files"].as_array().expect("files");
        files.iter().find(|file| file["path"] == path).expect(path).clone()
    };
    assert_eq!(file("src/moved.rs")["change"], "renamed");
    assert_eq!(file("src/moved.rs")["old_path"], "src/lib.rs");
    assert_eq!(file("gone.rs")["change"], "deleted");
    assert_eq!(file("image.png")["flags"], json!(["binary", "media"]));
    assert_eq!(file("image.png")["tokens"], 100);
}

#[test]
fn the_first_commit_and_a_merge() {
    let sandbox = history();
    let first = sandbox.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let plan = sandbox.plan(&["--commit", first.trim()]);
    assert_eq!(paths(&plan), ["README.md", "src/lib.rs"]);
    assert_eq!(plan["scope"]["base"], Value::Null);
    sandbox.git(&["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    sandbox.write("side.txt", "side\n");
    sandbox.commit("side");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.git(&["merge", "--quiet", "--no-edit", "side"]);
    agrees(&sandbox, &["--commit", "HEAD"], &["HEAD^1", "HEAD"]);
}

#[test]
fn uncommitted_forms() {
    let sandbox = history();
    sandbox.write("README.md", "# Sandbox\n\nstaged\n");
    sandbox.git(&["add", "README.md"]);
    sandbox.write("README.md", "# Sandbox\n\nstaged\n\nand more\n");
    sandbox.write("src/with space.txt", "changed\n");
    sandbox.write("new dir/new.rs", "fn new() {}\nfn last() {}");
    agrees(&sandbox, &["--staged"], &["--cached"]);
    agrees(&sandbox, &["--unstaged"], &[]);
    agrees(&sandbox, &["--staged", "--unstaged"], &["HEAD"]);
    let plan = sandbox.plan(&["--untracked"]);
    let hunk = json!({"old_start": 0, "old_lines": 0, "new_start": 1, "new_lines": 2});
    assert_eq!(plan["scope"]["files"][0]["path"], "new dir/new.rs");
    assert_eq!(plan["scope"]["files"][0]["hunks"], json!([hunk]));
    assert_eq!(plan["scope"]["files"][0]["change"], "added");
    let plan = sandbox.plan(&["--unstaged"]);
    assert_eq!(plan["warnings"], json!(["1 untracked file is left out; add `--untracked`"]));
}

#[test]
fn the_default_is_the_branch_then_the_work_tree_and_all_is_asked_for() {
    let sandbox = history();
    assert_eq!(paths(&sandbox.plan(&[])), [""; 0]);
    let plan = sandbox.plan(&["--all"]);
    assert_eq!(plan["scope"]["kind"], "all");
    assert_eq!(paths(&plan).len(), 7);
    sandbox.write("README.md", "# changed\n");
    sandbox.write("new.rs", "fn new() {}\n");
    let plan = sandbox.plan(&[]);
    assert_eq!(plan["scope"]["kind"], "worktree");
    assert_eq!(paths(&plan), ["README.md", "new.rs"]);
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    sandbox.git(&["add", "README.md"]);
    sandbox.git(&["commit", "--quiet", "-m", "on the branch"]);
    let plan = sandbox.plan(&[]);
    assert_eq!(plan["scope"]["kind"], "branch");
    assert_eq!(plan["scope"]["label"], "what differs from main");
    assert_eq!(paths(&plan), ["README.md", "new.rs"]);
}

#[test]
fn paths_directories_and_globs() {
    let sandbox = history();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write("src/debug.log", "ignored\n");
    assert_eq!(paths(&sandbox.plan(&["src/moved.rs"])), ["src/moved.rs"]);
    let text = ["src/long.txt", "src/with space.txt", "src/ünï.txt"];
    assert_eq!(paths(&sandbox.plan(&["src/*.txt"])), text);
    assert_eq!(paths(&sandbox.plan(&["src/"])).len(), 4);
    assert_eq!(paths(&sandbox.plan(&["-C", "src", "*.rs"])), ["src/moved.rs"]);
    assert_eq!(paths(&sandbox.plan(&["-C", "src", "../README.md"])), ["README.md"]);
    assert_eq!(paths(&sandbox.plan(&["src/debug.log"])), ["src/debug.log"]);
    assert_eq!(paths(&sandbox.plan(&["src/", "--commit", "HEAD"])).len(), 4);
    assert_eq!(paths(&sandbox.plan(&["README.md", "--commit", "HEAD"])), [""; 0]);
}

#[test]
fn a_diff_from_anywhere() {
    let sandbox = history();
    let patch = sandbox.git(&["diff", "HEAD~1", "HEAD"]);
    sandbox.write("../change.patch", &patch);
    agrees(&sandbox, &["--diff", "../change.patch"], &["HEAD~1", "HEAD"]);
    let elsewhere = Sandbox::bare_folder();
    elsewhere.write("change.patch", &patch);
    let plan = elsewhere.plan(&["--diff", "change.patch"]);
    assert_eq!(hunks_of_plan(&plan), hunks_of_git(&sandbox, &["HEAD~1", "HEAD"]));
    let output = elsewhere.quorum_with(&["plan", "-", "--format", "json"], |command| {
        let file = std::fs::File::open(elsewhere.root().join("change.patch")).expect("the patch");
        command.stdin(Stdio::from(file));
    });
    assert!(output.status.success(), "{}", text(&output.stderr));
    let piped: Value = serde_json::from_slice(&output.stdout).expect("the plan is JSON");
    assert_eq!(piped["total_tokens"], plan["total_tokens"]);
    assert_eq!(piped["scope"]["label"], "standard input");
}

#[test]
fn a_diff_is_counted_as_whole_files_where_the_repository_has_them() {
    let sandbox = history();
    let patch = sandbox.git(&["diff", "HEAD~1", "HEAD", "--", "src/long.txt"]);
    sandbox.write("../change.patch", &patch);
    let with = sandbox.plan(&["--diff", "../change.patch"]);
    let whole = sandbox.plan(&["src/long.txt"]);
    assert_eq!(with["total_tokens"], whole["total_tokens"]);
}

#[test]
fn kinds_of_entries() {
    let sandbox = Sandbox::new();
    std::os::unix::fs::symlink("README.md", sandbox.root().join("link")).expect("a link");
    sandbox.write("tool.sh", "#!/bin/sh\necho\n");
    sandbox.git(&["add", "--all"]);
    let id = sandbox.git(&["rev-parse", "HEAD"]);
    let info = format!("160000,{},sub", id.trim());
    sandbox.git(&["update-index", "--add", "--cacheinfo", &info]);
    sandbox.git(&["commit", "--quiet", "-m", "kinds"]);
    sandbox.git(&["update-index", "--chmod=+x", "tool.sh"]);
    sandbox.git(&["commit", "--quiet", "-m", "mode"]);
    let plan = sandbox.plan(&["--commit", "HEAD~1"]);
    let flags = |plan: &Value, path: &str| {
        let files = plan["scope"]["files"].as_array().expect("files").clone();
        files.iter().find(|file| file["path"] == path).expect(path)["flags"].clone()
    };
    assert_eq!(flags(&plan, "link"), json!(["symlink"]));
    assert_eq!(flags(&plan, "sub"), json!(["unreadable", "submodule"]));
    let plan = sandbox.plan(&["--commit", "HEAD"]);
    assert_eq!(flags(&plan, "tool.sh"), json!(["mode_change"]));
    assert_eq!(plan["scope"]["files"][0]["hunks"], json!([]));
}

#[test]
fn an_empty_repository_and_a_bare_one() {
    let empty = Sandbox::empty();
    assert_eq!(paths(&empty.plan(&[])), [""; 0]);
    empty.write("a.rs", "fn a() {}\n");
    assert_eq!(paths(&empty.plan(&[])), ["a.rs"]);
    empty.git(&["add", "a.rs"]);
    assert_eq!(paths(&empty.plan(&["--staged"])), ["a.rs"]);
    assert!(empty.fails(&["plan", "--base", "main"]).contains("no commit yet"));

    let sandbox = history();
    sandbox.git(&["clone", "--quiet", "--bare", ".", "../bare.git"]);
    let plan = sandbox.plan(&["-C", "../bare.git", "--range", "HEAD~1..HEAD"]);
    assert_eq!(hunks_of_plan(&plan), hunks_of_git(&sandbox, &["HEAD~1", "HEAD"]));
    assert_eq!(sandbox.plan(&["-C", "../bare.git"])["scope"]["kind"], "all");
    let said = sandbox.fails(&["plan", "-C", "../bare.git", "--staged"]);
    assert!(said.contains("a bare repository has no work tree"), "{said}");
}

#[test]
fn ignored_files_are_listed_not_lost() {
    let sandbox = Sandbox::new();
    sandbox.write(".quorumignore", "*.snap\n");
    sandbox.commit("rules");
    sandbox.write("a.snap", "x\n");
    sandbox.write("a.rs", "fn a() {}\n");
    let plan = sandbox.plan(&[]);
    assert_eq!(paths(&plan), ["a.rs"]);
    let ignored = json!([{"path": "a.snap", "reason": "ignored by `*.snap`"}]);
    assert_eq!(plan["scope"]["ignored"], ignored);
}

#[test]
fn a_change_cannot_bring_the_rules_that_it_is_judged_by() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", "tier = \"complex\"\n");
    sandbox.commit("policy");
    sandbox.write("quorum.toml", "tier = \"simple\"\n");
    sandbox.write(".quorumignore", "*\n");
    sandbox.write(".gitattributes", "* linguist-generated\n");
    sandbox.write("evil.rs", "fn evil() {}\n");
    sandbox.commit("the change");
    let plan = sandbox.plan(&["--commit", "HEAD"]);
    assert_eq!(plan["tier"]["name"], "COMPLEX");
    assert!(paths(&plan).contains(&"evil.rs"));
    let files = plan["scope"]["files"].as_array().expect("files");
    let evil = files.iter().find(|file| file["path"] == "evil.rs").expect("it is there");
    assert_eq!(evil["flags"], json!([]));
    let said = sandbox.fails(&["plan", "--commit", "HEAD", "--agents", "nobody"]);
    assert!(said.contains("there is no agent `nobody`"), "{said}");
}

#[test]
fn programs_of_a_repository_are_not_started() {
    let sandbox = Sandbox::new();
    let marker = sandbox.root().join("../marker");
    let touch = format!("sh -c 'touch \"{}\"; cat'", marker.display());
    let attributes = "*.rs filter=evil diff=evil\n*.md filter=a=b\n";
    sandbox.write(".gitattributes", attributes);
    sandbox.commit("attributes");
    for key in ["filter.evil.clean", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor"] {
        sandbox.git(&["config", key, &touch]);
    }
    sandbox.git(&["config", "filter.evil.required", "true"]);
    let odd = format!("[filter \"a=b\"]\n\tclean = {}\n", touch.replace('"', "\\\""));
    let config = sandbox.root().join(".git/config");
    let before = std::fs::read_to_string(&config).expect("git's configuration");
    std::fs::write(&config, before + &odd).expect("git's configuration");
    sandbox.write("src/lib.rs", "pub fn two() {}\n");
    sandbox.write("README.md", "# Other\n");
    for form in [&[][..], &["--unstaged"], &["src"], &["--base", "HEAD~1"]] {
        sandbox.plan(form);
        assert!(!marker.exists(), "{form:?}: a program of the repository was started");
    }
}

#[test]
fn paths_in_conflict_are_shown_whole() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "side"]);
    sandbox.write("README.md", "# Side\n");
    sandbox.commit("side");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("README.md", "# Main\n");
    sandbox.commit("main");
    assert!(!sandbox.git_output(&["merge", "side"]).status.success());
    for form in ["--unstaged", "--staged"] {
        let plan = sandbox.plan(&[form]);
        assert_eq!(paths(&plan), ["README.md"], "{form}");
        assert_eq!(plan["scope"]["files"][0]["change"], "unmerged");
        assert_eq!(plan["agents"][0]["shards"][0]["units"][0]["kind"], "span");
    }
    assert_eq!(paths(&sandbox.plan(&[])), ["README.md"]);
}

#[test]
fn a_hook_sees_the_index_that_is_being_committed() {
    let sandbox = Sandbox::new();
    let output = sandbox.root().join("../plan.json");
    let quorum = env!("CARGO_BIN_EXE_quorum");
    let hook = format!(
        "#!/bin/sh\nexec '{quorum}' plan --staged --format json -o '{}'\n",
        output.display()
    );
    sandbox.write(".git/hooks/pre-commit", hook);
    let path = sandbox.root().join(".git/hooks/pre-commit");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).expect("an executable hook");
    sandbox.write("src/lib.rs", "pub fn two() {}\n");
    sandbox.git(&["commit", "--quiet", "-a", "-m", "through the hook"]);
    let plan = std::fs::read(output).expect("the hook ran");
    let plan: Value = serde_json::from_slice(&plan).expect("the plan is JSON");
    assert_eq!(paths(&plan), ["src/lib.rs"]);
}

#[test]
fn counts_of_files_that_git_does_not_check_are_not_remembered() {
    let sandbox = Sandbox::new();
    let tokens = || sandbox.plan(&["src/lib.rs"])["total_tokens"].clone();
    let before = tokens();
    sandbox.git(&["update-index", "--assume-unchanged", "src/lib.rs"]);
    sandbox.write("src/lib.rs", "pub fn much_longer_than_before() -> &'static str { \"x\" }\n");
    // A review remembers counts; a plan only reads them.
    sandbox.quorum(&["review", "src/lib.rs"]);
    assert_ne!(tokens(), before);
    sandbox.git(&["update-index", "--no-assume-unchanged", "src/lib.rs"]);
    sandbox.git(&["checkout", "--quiet", "src/lib.rs"]);
    assert_eq!(tokens(), before);
}

#[test]
fn a_type_change_in_a_diff() {
    let sandbox = Sandbox::new();
    sandbox.remove("README.md");
    std::os::unix::fs::symlink("src/lib.rs", sandbox.root().join("README.md")).expect("a link");
    sandbox.write("../type.patch", sandbox.git(&["diff"]));
    let plan = sandbox.plan(&["--diff", "../type.patch"]);
    assert_eq!(plan["scope"]["files"][0]["change"], "type_changed");
    assert_eq!(sandbox.plan(&["--unstaged"])["scope"]["files"][0]["change"], "type_changed");
}

#[test]
fn a_git_that_warns_about_every_file_does_not_block() {
    let sandbox = Sandbox::new();
    let name =
        |index: u32| format!("a rather long folder name to fill the pipe sooner/{index}.txt");
    for index in 0..900 {
        sandbox.write(&name(index), "one\n");
    }
    sandbox.commit("many");
    sandbox.git(&["config", "core.autocrlf", "true"]);
    for index in 0..900 {
        sandbox.write(&name(index), "one\ntwo\n");
    }
    assert_eq!(paths(&sandbox.plan(&["--unstaged", "--tokenizer", "chars4"])).len(), 900);
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let sandbox = Sandbox::new();
    let output = sandbox.quorum_with(&["plan", "--format", "json"], |command| {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        command.stdout(Stdio::from(writer));
    });
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "");
}
