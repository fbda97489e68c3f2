//! A repository of its own for each test, and the binary under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// A folder with a git repository in it that nothing outside can influence.
pub(crate) struct Sandbox {
    _folder: tempfile::TempDir,
    root: PathBuf,
    home: PathBuf,
}

impl Sandbox {
    /// An empty folder without a repository.
    pub(crate) fn bare_folder() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("it exists").join("work tree");
        let home = folder.path().join("home");
        fs::create_dir_all(&root).expect("a work tree");
        fs::create_dir_all(&home).expect("a home");
        Self { _folder: folder, root, home }
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let sandbox = Self::bare_folder();
        sandbox.git(&["init", "--quiet", "--initial-branch=main"]);
        sandbox
    }

    /// A repository with one commit.
    pub(crate) fn new() -> Self {
        let sandbox = Self::empty();
        sandbox.write("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n");
        sandbox.write("README.md", "# Sandbox\n");
        sandbox.commit("start");
        sandbox
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder");
        fs::write(path, text).expect("the file");
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).expect("it was there");
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Runs git and returns what it printed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.git_output(arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs git, whatever comes of it.
    #[expect(clippy::disallowed_methods, reason = "tests make repositories with the real git")]
    pub(crate) fn git_output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]).args(arguments);
        self.surround(&mut command);
        command.output().expect("git runs")
    }

    /// Runs quorum in the repository.
    pub(crate) fn quorum(&self, arguments: &[&str]) -> Output {
        self.quorum_with(arguments, |_| {})
    }

    /// Runs quorum with changes to its environment or input.
    pub(crate) fn quorum_with(
        &self,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Output {
        let mut command = self.command(arguments);
        change(&mut command);
        command.output().expect("quorum runs")
    }

    /// Runs quorum as the last arguments of another program.
    #[expect(clippy::disallowed_methods, reason = "the binary under test")]
    pub(crate) fn enclosed(
        &self,
        enclosure: &[&str],
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Output {
        let mut command = Command::new(enclosure[0]);
        command.args(&enclosure[1..]).arg(env!("CARGO_BIN_EXE_quorum")).args(arguments);
        self.surround(&mut command);
        change(&mut command);
        command.output().expect("it runs")
    }

    /// Quorum, ready to be started.
    #[expect(clippy::disallowed_methods, reason = "the binary under test")]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
        command.args(arguments);
        self.surround(&mut command);
        command
    }

    /// Runs quorum and kills it after a while, unless it ends before.
    pub(crate) fn kill_quorum(&self, arguments: &[&str], after: std::time::Duration) {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("quorum runs");
        std::thread::sleep(after);
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
    }

    /// Starts quorum with its input and output in the test's hands.
    #[expect(clippy::disallowed_methods, reason = "the binary under test")]
    pub(crate) fn spawn_quorum(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.surround(&mut command);
        command.spawn().expect("quorum runs")
    }

    /// Gives `command` the environment of the repository and no other.
    pub(crate) fn surround(&self, command: &mut Command) {
        let kept: Vec<(String, String)> =
            std::env::vars().filter(|(name, _)| name == "PATH" || name == "TMPDIR").collect();
        command
            .env_clear()
            .envs(kept)
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("COLUMNS", "100")
            .current_dir(&self.root);
    }

    /// The plan, as JSON.
    pub(crate) fn plan(&self, arguments: &[&str]) -> Value {
        let mut all = vec!["plan", "--format", "json"];
        all.extend(arguments);
        let output = self.quorum(&all);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("the plan is JSON")
    }

    /// Runs quorum, which must fail, and returns what it said.
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let output = self.quorum(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        said
    }
}

/// Output as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The paths of a plan's files.
pub(crate) fn paths(plan: &Value) -> Vec<&str> {
    let files = plan["scope"]["files"].as_array().expect("files");
    files.iter().map(|file| file["path"].as_str().expect("a path")).collect()
}

/// The names of a plan's agents.
pub(crate) fn agents(plan: &Value) -> Vec<&str> {
    let agents = plan["agents"].as_array().expect("agents");
    agents.iter().map(|agent| agent["name"].as_str().expect("a name")).collect()
}
