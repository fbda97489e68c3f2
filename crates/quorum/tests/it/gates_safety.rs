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
    for setting in
        ["run = true", "network = true", "pass_env = [\"HOME\"]", "allow_unsandboxed = true"]
    {
        let sandbox = Sandbox::new();
        sandbox.write("quorum.toml", format!("[gates]\n{setting}\n"));
        let shown = text(&sandbox.quorum(&["config", "show", "--origin"]).stdout);
        let key = setting.split(' ').next().expect("a key");
        assert!(shown.contains(&format!("\n# gates.{key} = ")), "{setting}: {shown}");
        let planned = sandbox.plan(&[]);
        assert!(planned["warnings"].to_string().contains(key), "{setting}: {planned:#}");
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

/// How many processes run `sleep mark`. One that was ended needs a moment to be gone where the machine is
/// busy.
pub(crate) fn alive(mark: &str) -> usize {
    for _ in 0..50 {
        if running(mark) == 0 {
            return 0;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    running(mark)
}

fn running(mark: &str) -> usize {
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

/// In a namespace that allows no further one, as in many containers.
const NO_NAMESPACES: [&str; 7] = [
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_mnt_namespaces && \
     exec \"$@\"",
    "sh",
];

/// A filter under which the kernel has no Landlock: its first call, 444 everywhere, is unknown.
const NO_LANDLOCK: &str = r#"
import ctypes, os, struct, sys
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7fff0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn without_namespaces_and_landlock_nothing_runs_unless_just_that_is_accepted() {
    let victim = Victim::new();
    let sandbox = Sandbox::new();
    let deed = format!("touch {}/was-here", victim.path().display());
    let config = format!(
        "[gates]\npreset = \"none\"\n[[gates.additional]]\nname = \"own\"\ncommand = {}\n",
        toml_string(&deed)
    );
    sandbox.write("quorum.toml", &config);
    sandbox.commit("gates");
    sandbox.write("src/lib.rs", "pub fn two() {}\n");
    sandbox.commit("a change");
    sandbox.write("src/lib.rs", "pub fn three() {}\n");
    let run = |arguments: &[&str]| {
        let mut enclosure = NO_NAMESPACES.to_vec();
        enclosure.extend(["python3", "-c", NO_LANDLOCK]);
        sandbox.enclosed(&enclosure, arguments, with_toolchains)
    };
    for arguments in [
        &["gates"][..],
        &["gates", "--commit", "HEAD", "--trust-gates"],
        &["review", "--gates"],
        &["review", "--commit", "HEAD", "--trust-gates"],
    ] {
        let output = run(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("neither namespaces nor Landlock"), "{arguments:?}: {said}");
        assert!(said.contains("--allow-unsandboxed-gates"), "{arguments:?}: {said}");
        victim.assert_untouched("refused");
    }
    // A repository cannot accept it.
    sandbox
        .write("quorum.toml", config.replace("[gates]\n", "[gates]\nallow_unsandboxed = true\n"));
    let said = text(&run(&["gates"]).stderr);
    assert!(said.contains("neither namespaces nor Landlock"), "{said}");
    victim.assert_untouched("a repository's setting");
    sandbox.write("quorum.toml", &config);
    let accepted = run(&["gates", "--allow-unsandboxed-gates", "--format", "json", "--quiet"]);
    let report: Value = serde_json::from_slice(&accepted.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&accepted.stderr)));
    assert_eq!(report["gates"][0]["status"], "passed", "{report:#}");
    let missing = report["isolation"]["missing"].to_string();
    assert!(missing.contains("nothing keeps a check from reading and writing"), "{missing}");
    assert!(victim.path().join("was-here").exists(), "the user accepted that it could");
}

/// `cargo xtask toolchains` does not install bubblewrap: it belongs to the system.
#[test]
#[ignore = "needs bubblewrap in /usr/bin or /usr/local/bin"]
fn bubblewrap_is_used_where_namespaces_cannot_be_had_directly() {
    let victim = Victim::new();
    let sandbox = Sandbox::new();
    let out = victim.path().display().to_string();
    let deeds = format!(
        "cat {out}/diary.txt; touch {out}/x; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ls /; ls -a ~; false"
    );
    let command = toml_string(&deeds);
    let own = format!("[[gates.additional]]\nname = \"own\"\ncommand = {command}\n");
    let write = "[[gates.additional]]\nname = \"write\"\ncommand = \"echo x > made && test -s made && echo y > /tmp/made\"\n";
    sandbox.write("quorum.toml", format!("[gates]\npreset = \"none\"\n{own}{write}"));
    let enclosed = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let output = sandbox.enclosed(
        &["unshare", "--user", "--map-root-user", "sh", "-c", enclosed, "sh"],
        &["gates", "--format", "json", "--quiet"],
        with_toolchains,
    );
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let holds = report["isolation"]["holds"].to_string();
    assert!(holds.contains("a mount namespace of its own"), "{report:#}");
    assert!(holds.contains("a PID namespace of its own"), "{report:#}");
    let said = report["gates"][0]["output"].as_str().expect("its output");
    assert!(!said.contains("mine") && !said.contains("max_user_namespaces"), "{said}");
    assert_eq!(report["gates"][1]["status"], "passed", "{report:#}");
    victim.assert_untouched("in bubblewrap");
}

#[test]
fn no_scratch_folder_is_left_behind() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.root().join("../temporary");
    fs::create_dir(&temporary).expect("a folder");
    let commands = [
        "mkdir -p a/b/c && touch a/b/c/d && chmod 000 a/b/c a/b a; mkdir -p ~/h && chmod 000 ~/h ~",
        "python3 -c 'import os\nfor _ in range(3000): os.mkdir(\"d\" * 100); os.chdir(\"d\" * 100)'",
        "chmod 000 . ..; mv ../tree ../moved; ln -s / ../tree; true",
        "mkdir -p /tmp/x && chmod 000 /tmp/x /tmp; true",
    ];
    let mut config = "[gates]\npreset = \"none\"\n".to_owned();
    for (number, command) in commands.iter().enumerate() {
        let command = toml_string(command);
        _ = write!(config, "[[gates.additional]]\nname = \"g{number}\"\ncommand = {command}\n");
    }
    sandbox.write("quorum.toml", config);
    // What a killed process left goes with the next run; what another one works in stays.
    let left = temporary.join("quorum-gates-left");
    fs::create_dir_all(left.join("tree/a")).expect("folders");
    fs::write(left.join("lock"), "").expect("a lock");
    let busy = temporary.join("quorum-gates-busy");
    fs::create_dir(&busy).expect("a folder");
    let held = fs::File::create(busy.join("lock")).expect("a lock");
    held.lock().expect("the lock");
    let output = sandbox.quorum_with(&["gates", "--quiet", "--format", "json"], |command| {
        with_toolchains(command);
        command.env("TMPDIR", &temporary);
    });
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    assert_eq!(report["gates"].as_array().map(Vec::len), Some(4), "{report:#}");
    let names: Vec<_> = fs::read_dir(&temporary)
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name().into_string().expect("a name"))
        .collect();
    assert_eq!(names, ["quorum-gates-busy"], "{report:#}");
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
        // Other processes' command lines are nobody's business; the machine's size is.
        "test -r /proc/meminfo && ! cat /proc/[0-9]*/cmdline".to_owned(),
    ];
    let mut config = "[gates]\npreset = \"none\"\n".to_owned();
    for (number, command) in commands.iter().enumerate() {
        let command = toml_string(command);
        _ = write!(config, "[[gates.additional]]\nname = \"g{number}\"\ncommand = {command}\n");
    }
    sandbox.write("quorum.toml", config);
    let output = sandbox.enclosed(
        &NO_NAMESPACES,
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
    assert_eq!(status, ["failed", "passed", "failed", "passed"], "{report:#}");
    let missing = report["isolation"]["missing"].to_string();
    assert!(
        missing.contains("no PID namespace") && missing.contains("no mount namespace"),
        "{missing}"
    );
    assert_eq!(alive(&mark), 0, "something survived");
    victim.assert_untouched("without namespaces");
}
