//! Every way in which a change gets its code to run, and everything that such code tries: one row of a
//! table each. Without the user's word none runs. With it each does, which its gate's output shows,
//! and what it tries is refused.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::gates::with_toolchains;
use crate::gates_safety::{Victim, alive};
use crate::sandbox::{Sandbox, text};

/// One way in which a change does harm, in a folder of its own that has its name.
pub(crate) struct Vector {
    pub(crate) name: &'static str,
    /// The check that runs it.
    gate: &'static str,
    files: Vec<(&'static str, String)>,
    /// What its output has to hold beside the word that it ran.
    says: &'static str,
    /// Why its check was ended, where it was.
    ended: &'static str,
    /// Whether it takes a tool that `cargo xtask toolchains` installs.
    needs_tool: bool,
}

impl Vector {
    fn new(name: &'static str, gate: &'static str, files: &[(&'static str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
        Self { name, gate, files, says: ": refused", ended: "", needs_tool: false }
    }

    fn with_tool(self) -> Self {
        Self { needs_tool: true, ..self }
    }

    /// A test in Python that does `deeds`.
    fn test(name: &'static str, deeds: &str) -> Self {
        let deeds = format!("        {}\n", deeds.trim_end().replace('\n', "\n        "));
        let files = [
            ("setup.cfg", "[metadata]\nname = a\n"),
            ("test_harm.py", &(TEST.to_owned() + &deeds)),
        ];
        Self::new(name, "test", &files)
    }

    /// Whether `check` is the one that runs it. Of several it is called `rust:build@folder`.
    fn runs_in(&self, check: &Value) -> bool {
        let name = check["name"].as_str().unwrap_or_default();
        let name = name.split_once(':').map_or(name, |(_, rest)| rest);
        let name = name.split_once('@').map_or(name, |(first, _)| first);
        check["working_dir"] == self.name && name == self.gate
    }

    fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    fn ended(self, ended: &'static str) -> Self {
        Self { ended, ..self }
    }
}

/// What those run that can start a program. A row's name is in `$1`.
const HARM: &str = r#"
echo "$1 ran"
try() {
    what=$1
    shift
    if "$@" 2> /dev/null; then echo "$what: done"; else echo "$what: refused"; fi
}
try "write outside" touch "@VICTIM@/$1"
try "write to the work tree" touch "@TREE@/$1"
try "write to the home folder" touch "@HOME@/$1"
try "read a key" sh -c 'env | grep -q of-the-user'
exit 1
"#;

/// How tests begin that do harm.
const TEST: &str = r#"
import glob
import os
import socket
import time
import unittest


def say(text):
    print(text, flush=True)


def attempt(what, deed):
    try:
        deed()
    except OSError as error:
        say(f"{what}: refused: {error}")
    else:
        say(f"{what}: done")


def connect(family, address):
    with socket.socket(family) as connection:
        connection.settimeout(5)
        connection.connect(address)


def contents(pattern):
    for path in glob.glob(pattern):
        try:
            with open(path, "rb") as file:
                yield file.read()
        except OSError:
            pass


class Harm(unittest.TestCase):
    def test_harm(self):
        self.addCleanup(self.fail, "so that the output is shown")
        say("@NAME@ ran")
        attempt("write outside", lambda: open("@VICTIM@/@NAME@", "w").close())
"#;

/// Files that a tool picks up by itself, and that are code.
fn entries() -> Vec<Vector> {
    let package = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let python = "import subprocess\nsubprocess.run([\"sh\", \"../harm.sh\", \"@NAME@\"])\nraise SystemExit(1)\n";
    let wrapper = "#!/bin/sh\nexec sh \"$(dirname \"$0\")/../harm.sh\" @NAME@\n";
    let script = "fn main() {\n    let harm = std::process::Command::new(\"sh\").args([\"../harm.sh\", \
                  \"@NAME@\"]).status();\n    std::process::exit(harm.unwrap().code().unwrap());\n}\n";
    let eslint = "require('child_process').spawnSync('sh', ['../harm.sh', '@NAME@'], { stdio: 'inherit' });\n\
                  process.exit(1);\n";
    vec![
        Vector::new(
            "build.rs",
            "build",
            &[("Cargo.toml", package), ("build.rs", script), ("src/lib.rs", "")],
        ),
        Vector::new(
            "cargo-config",
            "build",
            &[
                ("Cargo.toml", package),
                ("src/lib.rs", ""),
                (".cargo/config.toml", "[build]\nrustc-wrapper = \"./wrapper.sh\"\n"),
                ("wrapper.sh", wrapper),
            ],
        ),
        Vector::new("makefile", "build", &[("Makefile", "build:\n\t@sh ../harm.sh @NAME@\n")]),
        Vector::new(
            "make-function",
            "build",
            &[("Makefile", "X := $(shell sh ../harm.sh @NAME@ >&2)\nbuild:\n\t@false\n")],
        ),
        Vector::new(
            "npm-pretest",
            "test",
            &[(
                "package.json",
                r#"{"scripts": {"pretest": "sh ../harm.sh @NAME@", "test": "true"}}"#,
            )],
        ),
        Vector::new(
            "npm-postlint",
            "lint",
            &[(
                "package.json",
                r#"{"scripts": {"lint": "true", "postlint": "sh ../harm.sh @NAME@"}}"#,
            )],
        ),
        Vector::new(
            "test-module",
            "test",
            &[("setup.cfg", "[metadata]\nname = a\n"), ("test_a.py", python)],
        ),
        Vector::new(
            "conftest",
            "test",
            &[
                ("pyproject.toml", "[tool.pytest.ini_options]\n"),
                ("conftest.py", python),
                ("test_a.py", "def test_a():\n    pass\n"),
            ],
        )
        .with_tool(),
        Vector::new(
            "flake8-plugin",
            "flake8",
            &[
                ("a.py", "X = 1\n"),
                ("plugin.py", python),
                ("setup.cfg", "[metadata]\nname = a\n"),
                (
                    ".flake8",
                    "[flake8]\n[flake8:local-plugins]\nextension =\n    X = plugin:Plugin\npaths =\n    .\n",
                ),
            ],
        )
        .with_tool(),
        Vector::new(
            "eslint-config",
            "eslint",
            &[("package.json", "{}"), ("a.js", "1;\n"), ("eslint.config.js", eslint)],
        )
        .with_tool(),
    ]
}

/// What code tries once it runs.
fn deeds() -> Vec<Vector> {
    vec![
        Vector::test(
            "environment",
            "seen = str(os.environ).encode() + b\"\".join(contents(\"/proc/*/environ\"))\n\
             say(\"read a key: \" + (\"done\" if b\"of-the-user\" in seen else \"refused\"))\n",
        )
        .says("read a key: refused"),
        Vector::test(
            "files",
            "attempt(\"write to the work tree\", lambda: open(\"@TREE@/new\", \"w\").close())\n\
             attempt(\"write to the home folder\", lambda: open(\"@HOME@/new\", \"w\").close())\n\
             attempt(\"read what is mine\", lambda: open(\"@VICTIM@/diary.txt\").close())\n",
        )
        .says("read what is mine: refused"),
        // Twice removed from its parent, in a session of its own, with nothing of its parent's open.
        Vector::test(
            "daemon",
            "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        null = \
             os.open(\"/dev/null\", os.O_RDWR)\n        for number in range(3):\n            \
             os.dup2(null, number)\n        os.closerange(3, 256)\n        os.execvp(\"sleep\", \
             [\"sleep\", \"@MARK@\"])\n    os._exit(0)\nos.wait()\nwhile \
             b\"sleep\\x00@MARK@\\x00\" not in contents(\"/proc/*/cmdline\"):\n    time.sleep(0.02)\n\
             say(\"the daemon is up\")\n",
        )
        .says("the daemon is up"),
        Vector::test(
            "large-file",
            "attempt(\"a large file\", lambda: open(\"big\", \"wb\").write(bytes(30_000_000)))\n\
             os.remove(\"big\")\n",
        )
        .says("a large file: refused"),
        Vector::test(
            "disk",
            "for number in range(40):\n    with open(f\"fill{number}\", \"wb\") as file:\n        \
             file.write(bytes(10_000_000))\n    time.sleep(0.1)\ntime.sleep(30)\nsay(\"fill the disk: done\")\n",
        )
        .says("ran")
        .ended("of disk, of 100"),
        // Where it can see what is not its own it does nothing: then it would do real harm.
        Vector::test(
            "kill",
            "try:\n    os.kill(@OUTSIDER@, 0)\nexcept ProcessLookupError:\n    say(\"see an outsider: \
             refused\")\nelse:\n    say(\"see an outsider: done\")\n    return\nfor target in \
             (os.getppid(), 1, -1):\n    try:\n        os.kill(target, 9)\n    except OSError:\n        \
             pass\n",
        )
        .says("see an outsider: refused"),
        Vector::test(
            "sockets",
            "attempt(\"TCP\", lambda: connect(socket.AF_INET, (\"127.0.0.1\", @PORT@)))\n\
             attempt(\"a Unix socket\", lambda: connect(socket.AF_UNIX, \"@SOCKET@\"))\n\
             attempt(\"an abstract socket\", lambda: connect(socket.AF_UNIX, \"\\0@ABSTRACT@\"))\n",
        )
        .says("an abstract socket: refused"),
    ]
}

/// A repository with a change that does harm, and everything around it that could come to harm.
pub(crate) struct Stage {
    sandbox: Sandbox,
    victim: Victim,
    vectors: Vec<Vector>,
    /// A process that has nothing to do with it.
    outsider: Child,
    tcp: TcpListener,
    unix: Vec<UnixListener>,
    _sockets: tempfile::TempDir,
    /// An argument that tells processes of this change from everybody else's.
    mark: String,
}

impl Stage {
    pub(crate) fn new(number: u32, vectors: Vec<Vector>) -> Self {
        let sockets = tempfile::tempdir().expect("a folder");
        let path = sockets.path().canonicalize().expect("it exists").join("s");
        let mark = format!("{number}.{}", std::process::id());
        let name = format!("quorum-{mark}");
        let abstract_one = SocketAddr::from_abstract_name(&name).expect("a name");
        let stage = Self {
            sandbox: Sandbox::new(),
            victim: Victim::new(),
            vectors,
            outsider: outsider(),
            tcp: TcpListener::bind("127.0.0.1:0").expect("a port"),
            unix: vec![
                UnixListener::bind(&path).expect("a socket"),
                UnixListener::bind_addr(&abstract_one).expect("a socket"),
            ],
            _sockets: sockets,
            mark,
        };
        let filled_in = |text: &str, vector: &str| {
            let port = stage.tcp.local_addr().expect("it is bound").port();
            text.replace("@NAME@", vector)
                .replace("@VICTIM@", &stage.victim.path().display().to_string())
                .replace("@TREE@", &stage.sandbox.root().display().to_string())
                .replace("@HOME@", &stage.home().display().to_string())
                .replace("@MARK@", &stage.mark)
                .replace("@OUTSIDER@", &stage.outsider.id().to_string())
                .replace("@PORT@", &port.to_string())
                .replace("@SOCKET@", &path.display().to_string())
                .replace("@ABSTRACT@", &name)
        };
        let sandbox = &stage.sandbox;
        let limits = "[gates.limits]\ndisk_mb = 100\nfile_mb = 20\nprocesses = 500\n";
        let overrides = ["build", "lint", "test"]
            .map(|name| format!("[[gates.overrides]]\nname = \"{name}\"\ntimeout = 300\n"));
        sandbox.write("quorum.toml", format!("{limits}{}", overrides.concat()));
        sandbox.write(".gitignore", "target\n");
        sandbox.commit("policy");
        sandbox.git(&["checkout", "--quiet", "-b", "change"]);
        sandbox.write("harm.sh", filled_in(HARM, ""));
        for vector in &stage.vectors {
            for (path, text) in &vector.files {
                let path = format!("{}/{path}", vector.name);
                sandbox.write(&path, filled_in(text, vector.name));
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(sandbox.root().join(path), mode).expect("it is ours");
            }
        }
        sandbox.commit("harmless");
        stage
    }

    fn home(&self) -> PathBuf {
        self.sandbox.root().with_file_name("home")
    }

    fn quorum(&self, arguments: &[&str]) -> Output {
        self.sandbox.quorum_with(arguments, |command| {
            with_toolchains(command);
            command
                .env("ANTHROPIC_API_KEY", "sk-of-the-user")
                .env("GITHUB_TOKEN", "ghp-of-the-user");
        })
    }

    /// That nothing of the change left a trace; a mark has the name of the row that left it.
    fn assert_unharmed(&mut self, when: &str) {
        self.victim.assert_untouched(when);
        assert_eq!(self.sandbox.git(&["status", "--porcelain"]), "", "the work tree, {when}");
        assert_eq!(alive(&self.mark), 0, "a process survived, {when}");
        let gone = self.outsider.try_wait().expect("it can be asked");
        assert_eq!(gone, None, "the outsider was killed, {when}");
        self.tcp.set_nonblocking(true).expect("it can be set");
        assert!(self.tcp.accept().is_err(), "the port was reached, {when}");
        for socket in &self.unix {
            socket.set_nonblocking(true).expect("it can be set");
            assert!(socket.accept().is_err(), "{socket:?} was reached, {when}");
        }
    }

    /// Runs the gates with consent: each row runs, is refused, and leaves no trace.
    pub(crate) fn assert_kept_in(&mut self) {
        let arguments = ["gates", "--base", "main", "--trust-gates", "--format", "json", "--quiet"];
        let output = self.quorum(&arguments);
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        assert_eq!(report["isolation"]["missing"], serde_json::json!([]));
        let gates = report["gates"].as_array().expect("gates");
        for vector in &self.vectors {
            let Vector { name, says, ended, .. } = vector;
            let gate = gates
                .iter()
                .find(|gate| vector.runs_in(gate))
                .unwrap_or_else(|| panic!("{name}: no {} in {gates:#?}", vector.gate));
            assert_eq!(gate["status"], "failed", "{name}: {gate:#}");
            let output = gate["output"].as_str().unwrap_or_default();
            assert!(output.contains(&format!("{name} ran")), "{name} did not run: {gate:#}");
            assert!(output.contains("write outside: refused"), "{name} wrote outside: {gate:#}");
            assert!(output.contains(says), "{name} does not say `{says}`: {gate:#}");
            assert!(!output.contains(": done"), "{name} got its way: {gate:#}");
            let reason = gate["reason"].as_str().unwrap_or_default();
            assert!(reason.contains(ended), "{name} was not ended for `{ended}`: {gate:#}");
        }
        self.assert_unharmed("with consent");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.outsider.kill());
        drop(self.outsider.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "a process that has nothing to do with Quorum")]
fn outsider() -> Child {
    Command::new("sleep").arg("600").spawn().expect("it starts")
}

pub(crate) fn vectors(wanted: impl Fn(&Vector) -> bool) -> Vec<Vector> {
    entries().into_iter().chain(deeds()).filter(|vector| wanted(vector)).collect()
}

#[test]
fn nothing_of_a_change_runs_without_the_users_word() {
    let mut stage = Stage::new(421, vectors(|_| true));
    for arguments in [
        &["review"][..],
        &["review", "--base", "main"],
        &["plan"],
        &["gates", "--list"],
        &["gates", "--list", "--base", "main"],
    ] {
        stage.quorum(arguments);
        stage.assert_unharmed(&format!("{arguments:?}"));
    }
    for arguments in [
        &["review", "--base", "main", "--gates"][..],
        &["review", "--range", "main..change", "--gates"],
        &["review", "--commit", "HEAD", "--gates"],
        &["gates", "--base", "main"],
        &["gates", "--range", "main..HEAD"],
    ] {
        let output = stage.quorum(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("--trust-gates"), "{arguments:?}: {said}");
        stage.assert_unharmed(&format!("{arguments:?}"));
    }
    let result = stage.quorum(&["report", "--format", "json"]);
    let result: Value = serde_json::from_slice(&result.stdout).expect("a result");
    assert_eq!(result["gates"], serde_json::json!([]), "no gate ran in any of them");
}

#[test]
fn with_consent_each_runs_and_gets_nowhere() {
    Stage::new(422, vectors(|vector| !vector.needs_tool)).assert_kept_in();
}

/// What proves that the marks mean something: the same commands, let loose, leave every one.
#[test]
#[expect(clippy::disallowed_methods, reason = "commands of checks, without Quorum around them")]
fn let_loose_each_leaves_its_mark() {
    let mut loose = entries();
    loose.retain(|vector| !vector.needs_tool);
    let stage = Stage::new(423, loose);
    let listed = stage.quorum(&["gates", "--list", "--format", "json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("a list");
    for vector in &stage.vectors {
        let mut checks = listed.as_array().expect("checks").iter();
        let check = checks
            .find(|check| vector.runs_in(check))
            .unwrap_or_else(|| panic!("{}: not in {listed:#}", vector.name));
        let mut command = Command::new("sh");
        command.args(["-c", check["command"].as_str().expect("a command")]);
        command.env("HOME", stage.home()).current_dir(stage.sandbox.root().join(vector.name));
        with_toolchains(&mut command);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(!status.expect("it starts").success(), "{}", vector.name);
    }
    let left = fs::read_dir(stage.victim.path()).expect("it is there").flatten();
    let left: BTreeSet<_> = left.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let names = stage.vectors.iter().map(|vector| vector.name.to_owned());
    assert_eq!(left, names.chain(["diary.txt".to_owned()]).collect());
}
