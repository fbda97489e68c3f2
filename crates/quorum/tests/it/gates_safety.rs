//! Changes that mean harm: nothing of them runs without the user's word, and with it nothing gets out.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::gates::{run, with_toolchains};
use crate::sandbox::{Sandbox, text};

/// A folder outside the repository, as a user's own files are.
pub(crate) struct Victim {
    folder: tempfile::TempDir,
}

impl Victim {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("diary.txt"), "mine\n").expect("a file");
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }

    /// That nobody wrote here.
    pub(crate) fn assert_untouched(&self, what: &str) {
        let names: Vec<_> = fs::read_dir(self.path())
            .expect("it is there")
            .flatten()
            .map(|e| e.file_name())
            .collect();
        assert_eq!(names, ["diary.txt"], "{what}");
        assert_eq!(fs::read_to_string(self.path().join("diary.txt")).expect("it is"), "mine\n");
    }
}

#[test]
fn a_repository_cannot_turn_gates_on_or_open_doors() {
    for setting in ["run = true", "network = true", "pass_env = [\"HOME\"]"] {
        let sandbox = Sandbox::new();
        sandbox.write("quorum.toml", format!("[gates]\n{setting}\n"));
        let said = sandbox.fails(&["review"]);
        assert!(said.contains("cannot be set by a repository"), "{setting}: {said}");
    }
}

#[test]
fn policy_comes_from_the_base_revision() {
    let sandbox = Sandbox::new();
    let gate = |command: &str| {
        format!("[[gates.additional]]\nname = \"own\"\ncommand = \"{command}\"\nrequired = true\n")
    };
    sandbox.write("quorum.toml", gate("false"));
    sandbox.commit("policy");
    sandbox.git(&["checkout", "--quiet", "-b", "change"]);
    sandbox.write("quorum.toml", gate("true"));
    sandbox.commit("bribe");
    let (code, report) = run(&sandbox, &["gates", "--base", "main", "--trust-gates"]);
    assert_eq!((code, &report["gates"][0]["command"]), (1, &Value::from("false")), "{report:#}");
}

/// Runs `commands` as gates and returns their results in order.
fn gates_of(sandbox: &Sandbox, commands: &[&str], more: &str) -> Vec<Value> {
    let mut config = format!("[gates]\npreset = \"none\"\n{more}\n");
    for (number, command) in commands.iter().enumerate() {
        let quoted = toml_string(command);
        _ = write!(
            config,
            "[[gates.additional]]\nname = \"g{number}\"\ncommand = {quoted}\ntimeout = 20\n"
        );
    }
    sandbox.write("quorum.toml", config);
    let arguments = ["gates", "--format", "json", "--quiet"];
    let output = sandbox.quorum_with(&arguments, |command| {
        with_toolchains(command);
        command.env("ANTHROPIC_API_KEY", "sk-of-the-user").env("GITHUB_TOKEN", "ghp-of-the-user");
    });
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    report["gates"].as_array().expect("gates").clone()
}

fn toml_string(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON, and TOML")
}

#[test]
fn no_key_is_visible() {
    let victim = Victim::new();
    let sandbox = Sandbox::new();
    let read = format!("cat {}; false", victim.path().join("diary.txt").display());
    let root = format!("cat {}/README.md; false", sandbox.root().display());
    let all = ["env; cat /proc/*/environ; false", &read, &root, "cat /etc/shadow; ls ~; false"];
    for gate in gates_of(&sandbox, &all, "") {
        let output = gate["output"].as_str().expect("output");
        for secret in ["of-the-user", "mine", "# Sandbox", "root:"] {
            assert!(!output.contains(secret), "{output}");
        }
    }
}

#[test]
fn a_check_that_does_not_end_is_ended_with_all_that_it_started() {
    let sandbox = Sandbox::new();
    // An argument that tells these from everybody else's.
    let mark = format!("417.{}", std::process::id());
    let stuck = format!("sleep {mark} & (setsid sleep {mark} > /dev/null 2>&1 &); sleep {mark}");
    let results = gates_of(&sandbox, &[&stuck], "overrides = [{ name = \"g0\", timeout = 2 }]");
    assert_eq!(results[0]["status"], "timed_out", "{results:#?}");
    assert_eq!(alive(&mark), 0, "something survived");
}

/// How many processes run `sleep mark`.
pub(crate) fn alive(mark: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let lines = processes.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
    let wanted = format!("sleep\0{mark}");
    lines.filter(|line| line.starts_with(wanted.as_bytes())).count()
}

#[test]
fn a_link_that_a_check_leaves_behind_leads_the_next_one_nowhere() {
    let victim = Victim::new();
    let sandbox = Sandbox::new();
    // The scratch folders are below /tmp, where a check may move them about.
    let link = format!(
        "for d in /tmp/*; do mv \"$d\" \"$d.old\" && ln -s {} \"$d\"; done; true",
        victim.path().display()
    );
    let results = gates_of(&sandbox, &[&link, "true"], "");
    assert_eq!(results[1]["status"], "passed", "{results:#?}");
    victim.assert_untouched("a link");
}

#[test]
fn more_processes_than_are_allowed_are_counted_and_ended() {
    let sandbox = Sandbox::new();
    let mark = format!("420.{}", std::process::id());
    // They only sleep: what matters is how many there are.
    let flood =
        format!("i=0; while [ $i -lt 300 ]; do sleep {mark} & i=$((i+1)); done; sleep {mark}");
    let results = gates_of(&sandbox, &[&flood], "limits = { processes = 200 }");
    let reason = results[0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("processes and threads, of 200"), "{results:#?}");
    assert_eq!(alive(&mark), 0, "something survived");
}

#[test]
fn without_namespaces_the_rest_still_holds_and_what_does_not_is_said() {
    let victim = Victim::new();
    let sandbox = Sandbox::new();
    let mark = format!("418.{}", std::process::id());
    let out = victim.path().display().to_string();
    let commands = [
        format!("echo x > {out}/x; cat {out}/diary.txt"),
        format!("(setsid sleep {mark} > /dev/null 2>&1 &) ; true"),
        "python3 -c 'import socket; socket.socket()'".to_owned(),
    ];
    let mut config = "[gates]\npreset = \"none\"\n".to_owned();
    for (number, command) in commands.iter().enumerate() {
        let command = toml_string(command);
        _ = write!(config, "[[gates.additional]]\nname = \"g{number}\"\ncommand = {command}\n");
    }
    sandbox.write("quorum.toml", config);
    // In a namespace that allows no further one, as in many containers.
    let enclosed = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let output = sandbox.enclosed(
        &["unshare", "--user", "--map-root-user", "sh", "-c", enclosed, "sh"],
        &["gates", "--format", "json", "--quiet"],
        with_toolchains,
    );
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let status: Vec<&str> = report["gates"]
        .as_array()
        .expect("gates")
        .iter()
        .filter_map(|g| g["status"].as_str())
        .collect();
    assert_eq!(status, ["failed", "passed", "failed"], "{report:#}");
    let missing = report["isolation"]["missing"].to_string();
    assert!(
        missing.contains("no PID namespace") && missing.contains("no mount namespace"),
        "{missing}"
    );
    assert_eq!(alive(&mark), 0, "something survived");
    victim.assert_untouched("without namespaces");
}
