//! Running git, without running what the repository asks git to run.

mod version;

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::thread::{self, JoinHandle};

use bstr::{BString, ByteSlice};

use crate::error::ScopeError;

pub use version::{OLDEST, Version};

/// Variables that would point git somewhere else than where the user stands.
const REDIRECTING: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
];

/// Settings under which git starts no program that a repository chose, and prints no endless patch.
const HARMLESS: [(&str, &str); 8] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.quotePath", "true"),
    // What is larger is not read (`content::LARGEST_TEXT`), and its patch would fill the memory.
    ("core.bigFileThreshold", "32m"),
    ("diff.external", ""),
    // With signatures, `git log` starts what checks them.
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("protocol.ext.allow", "never"),
];

/// Git's own variable that keeps it from fetching what a partial clone lacks. Here that is the rule;
/// the user may say otherwise with it.
const LAZY: &str = "GIT_NO_LAZY_FETCH";

/// A way to run git in one folder.
#[derive(Clone, Debug)]
pub struct Git {
    folder: PathBuf,
    /// Settings of the repository's own configuration that start programs, and what they become.
    overrides: Vec<(OsString, &'static str)>,
    /// Whether an object that a partial clone lacks may be fetched: that contacts a host of the
    /// repository's choice, and starts programs.
    fetches: bool,
    /// The index that git itself works with while a hook runs.
    index: Option<PathBuf>,
}

impl Git {
    /// Runs git in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let fetches = std::env::var(LAZY).is_ok_and(|value| is_false(&value));
        Self { folder: folder.into(), overrides: Vec::new(), fetches, index: None }
    }

    /// The release of git that is at hand; an error where it is too old to be told to start no
    /// program, or says nothing that can be read.
    pub fn version(&self) -> Result<Version, ScopeError> {
        // Asked once: it is the same program all the time.
        static CHECKED: OnceLock<Version> = OnceLock::new();
        if let Some(version) = CHECKED.get() {
            return Ok(*version);
        }
        let printed = self.line(["--version"])?;
        let version = Version::parse(&printed);
        let version = version.ok_or_else(|| ScopeError::UnknownGit(printed.clone()))?;
        if version < OLDEST {
            return Err(ScopeError::OldGit(version));
        }
        Ok(*CHECKED.get_or_init(|| version))
    }

    /// The same, with the programs that the repository's own configuration names turned off; an
    /// error where git does not say which those are, or does not take the settings that turn them
    /// off.
    ///
    /// The user's own configuration stays in force, so a large-file filter that is installed for
    /// the user still works; one that came with an unpacked archive does not.
    pub fn without_local_programs(mut self) -> Result<Self, ScopeError> {
        self.version()?;
        let listed = self.output(["config", "--list", "--show-scope", "--name-only", "-z"])?;
        let settings = settings(&listed).ok_or(ScopeError::UnguardedGit)?;
        let taken = |wanted: &str| {
            settings.iter().any(|(scope, name)| {
                *scope == b"command" && name.eq_ignore_ascii_case(wanted.as_bytes())
            })
        };
        if !HARMLESS.iter().all(|(name, _)| taken(name)) {
            return Err(ScopeError::UnguardedGit);
        }
        for (scope, name) in settings {
            if scope != b"local" && scope != b"worktree" {
                continue;
            }
            match started_by(name) {
                Program::None => {}
                Program::Setting(harmless) => {
                    let name = crate::repository::to_path(name).into_os_string();
                    self.overrides.push((name, harmless));
                }
                // It can be set twice, and the repository's comes first.
                Program::Transport => self.fetches = false,
            }
        }
        Ok(self)
    }

    /// The same, with the index that git names while it runs a hook, such as before a commit.
    ///
    /// Only an index inside the repository's own folder is taken: a variable must not lead
    /// somewhere else than where the user stands.
    #[must_use]
    pub fn with_index_of_hook(mut self, git_dir: &Path) -> Self {
        let named = std::env::var_os("GIT_INDEX_FILE").map(|name| self.folder.join(name));
        let folder = named.as_ref().and_then(|index| index.parent()?.canonicalize().ok());
        let own = git_dir.canonicalize().ok();
        if folder.is_some_and(|folder| own.is_some_and(|own| folder.starts_with(own))) {
            self.index = named;
        }
        self
    }

    /// The same, with an index of its own at `index`, which need not be there yet.
    #[must_use]
    pub fn with_index(mut self, index: PathBuf) -> Self {
        self.index = Some(index);
        self
    }

    /// What git prints. A failure carries the first line that it printed on standard error.
    pub fn output<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Vec<u8>, ScopeError> {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null());
        let output = command.output().map_err(ScopeError::NoGit)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(failure(&command, output.status.code(), &output.stderr))
    }

    /// What git prints, as one line of text.
    pub fn line<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, ScopeError> {
        let output = self.output(arguments)?;
        Ok(output.to_str_lossy().trim_end_matches(['\n', '\r']).to_owned())
    }

    /// What git prints, while it prints it.
    pub fn stream<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<GitStream, ScopeError> {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(ScopeError::NoGit)?;
        let stdout = child.stdout.take().map(|stdout| BufReader::with_capacity(1 << 16, stdout));
        let complaints = child.stderr.take().map(|stderr| thread::spawn(move || drain(stderr)));
        Ok(GitStream { child, stdout, complaints, command: describe(&command) })
    }

    /// Git with standard input and output connected, for a conversation.
    pub fn converse<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Child, ScopeError> {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map_err(ScopeError::NoGit)
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts git")]
    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.folder);
        for name in REDIRECTING {
            command.env_remove(name);
        }
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            // Not LC_ALL, which would change how names are encoded.
            .env("LC_MESSAGES", "C")
            .env("LANGUAGE", "C");
        // As variables and not as `-c name=value`, because a name may have a `=` of its own.
        let fixed = HARMLESS.iter().map(|(name, value)| (OsStr::new(name), *value));
        let found = self.overrides.iter().map(|(name, value)| (name.as_os_str(), *value));
        // What the user's environment sets in this way stays, and ours comes after it.
        let before = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse().ok());
        let mut count: usize = before.unwrap_or_default();
        for (name, value) in fixed.chain(found) {
            command.env(format!("GIT_CONFIG_KEY_{count}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        if !self.fetches {
            command.env(LAZY, "1");
            // Git below 2.39.4 does not know that variable: with no protocol it fetches nothing.
            command.env("GIT_ALLOW_PROTOCOL", "none");
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command
    }
}

/// Whether a variable's value is git's word for no.
fn is_false(value: &str) -> bool {
    ["0", "false", "no", "off"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// What a setting makes git start, among the commands that are used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// Nothing.
    None,
    /// A program, unless it has this value.
    Setting(&'static str),
    /// A program that a fetch talks to.
    Transport,
}

fn started_by(name: &[u8]) -> Program {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    match (name.split(|&byte| byte == b'.').next().unwrap_or_default(), last) {
        (b"filter", b"clean" | b"smudge" | b"process")
        | (b"diff", b"command" | b"textconv")
        | (b"core", b"sshcommand" | b"askpass")
        | (b"credential", b"helper") => Program::Setting(""),
        // A filter that must succeed cannot, once its program is gone.
        (b"filter", b"required") => Program::Setting("false"),
        // Of several the first one counts, so that none after it can replace it.
        (b"remote", b"uploadpack" | b"vcs") | (b"core", b"gitproxy") => Program::Transport,
        _ => Program::None,
    }
}

/// A running git whose output is read while it is printed.
#[derive(Debug)]
pub struct GitStream {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    /// Reads what git complains about all the while: a warning for each of 5,000 files would fill
    /// the pipe, and git would wait for a reader forever.
    complaints: Option<JoinHandle<Vec<u8>>>,
    command: String,
}

impl GitStream {
    /// Waits for git to end; an error when it failed.
    pub fn finish(mut self) -> Result<(), ScopeError> {
        drop(self.stdout.take());
        let status = self.child.wait().map_err(ScopeError::NoGit)?;
        if status.success() {
            return Ok(());
        }
        let complaints = self.complaints.take().and_then(|reader| reader.join().ok());
        let message = first_line(&complaints.unwrap_or_default());
        Err(ScopeError::Git { command: self.command.clone(), message, code: status.code() })
    }
}

impl Drop for GitStream {
    fn drop(&mut self) {
        // After `finish` both do nothing; after an error nobody wants the rest.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads `stderr` to its end and keeps its beginning.
fn drain(mut stderr: ChildStderr) -> Vec<u8> {
    let mut kept = Vec::new();
    drop(stderr.by_ref().take(1 << 14).read_to_end(&mut kept));
    drop(std::io::copy(&mut stderr, &mut std::io::sink()));
    kept
}

impl Read for GitStream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.stdout.as_mut().map_or(Ok(0), |stdout| stdout.read(buffer))
    }
}

impl BufRead for GitStream {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.stdout.as_mut().map_or(Ok(&[]), BufRead::fill_buf)
    }

    fn consume(&mut self, amount: usize) {
        if let Some(stdout) = &mut self.stdout {
            stdout.consume(amount);
        }
    }
}

fn failure(command: &Command, code: Option<i32>, stderr: &[u8]) -> ScopeError {
    ScopeError::Git { command: describe(command), message: first_line(stderr), code }
}

/// The scopes and names that `git config --list --show-scope --name-only -z` prints; absent where
/// it is not that.
fn settings(listed: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let listed = listed.strip_suffix(&[0])?;
    let mut fields = listed.split(|&byte| byte == 0);
    let mut found = Vec::new();
    while let Some(scope) = fields.next() {
        // Git knows these, and a listing without scopes has names with a dot here.
        if scope.is_empty() || !scope.iter().all(u8::is_ascii_lowercase) {
            return None;
        }
        found.push((scope, fields.next()?));
    }
    Some(found)
}

/// The subcommand, for messages.
fn describe(command: &Command) -> String {
    let subcommand = command.get_args().next();
    subcommand.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn first_line(text: &[u8]) -> String {
    let mut lines = ByteSlice::lines(text);
    let line = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or(b"no message");
    let line = BString::from(line).to_string();
    line.strip_prefix("fatal: ").map_or(line.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_a_repository_are_recognised() {
        for name in ["filter.lfs.clean", "filter.a=b.process", "diff.x.textconv", "core.sshCommand"]
        {
            assert_eq!(started_by(name.as_bytes()), Program::Setting(""), "{name}");
        }
        assert_eq!(started_by(b"filter.lfs.required"), Program::Setting("false"));
        assert_eq!(started_by(b"remote.origin.uploadpack"), Program::Transport);
        for name in ["core.bare", "user.name", "remote.origin.url"] {
            assert_eq!(started_by(name.as_bytes()), Program::None, "{name}");
        }
    }

    #[test]
    fn a_listing_of_another_form_is_not_taken() {
        let listed = b"command\0core.hookspath\0local\0filter.x.clean\0";
        let wanted: Vec<(&[u8], &[u8])> =
            vec![(b"command", b"core.hookspath"), (b"local", b"filter.x.clean")];
        assert_eq!(settings(listed), Some(wanted));
        for other in [&b""[..], b"core.bare\0filter.x.clean\0", b"local\0", b"local\0core.bare"] {
            assert_eq!(settings(other), None, "{:?}", other.as_bstr());
        }
    }

    #[test]
    fn a_failure_names_the_subcommand_and_the_cause() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Git::new(folder.path()).output(["rev-parse", "HEAD"]).expect_err("no repo");
        let text = error.to_string();
        assert!(text.starts_with("`git rev-parse` failed: not a git repository"), "{text}");
    }
}
