//! The repository that the user stands in.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use crate::error::ScopeError;
use crate::git::Git;

/// A repository, found from a folder inside it.
#[derive(Clone, Debug)]
pub struct Repository {
    git: Git,
    work_tree: Option<PathBuf>,
    /// The folder that the user stands in, from the root of the work tree, with `/` at the end.
    prefix: String,
    cwd: PathBuf,
}

impl Repository {
    /// Who wrote a line of a file, as far as git can say; of the work tree where no commit is given.
    pub fn line_author(&self, commit: Option<&str>, path: &str, line: u64) -> Option<String> {
        let range = format!("{line},{line}");
        let mut arguments = vec!["blame", "--porcelain", "-L", &range];
        arguments.extend(commit);
        arguments.extend(["--", path]);
        let told = self.git().output(arguments).ok()?;
        let told = String::from_utf8_lossy(&told);
        let author = told.lines().find_map(|line| line.strip_prefix("author "))?;
        Some(author.trim().to_owned()).filter(|author| !author.is_empty())
    }

    /// The repository that `cwd` is in.
    pub fn discover(cwd: &Path) -> Result<Self, ScopeError> {
        Git::new(cwd).version()?;
        let arguments = [
            "rev-parse",
            "--is-inside-work-tree",
            "--show-toplevel",
            "--absolute-git-dir",
            "--show-prefix",
        ];
        let Ok(answer) = Git::new(cwd).output(arguments) else { return Self::bare(cwd) };
        let mut lines = answer.lines();
        if lines.next() != Some(&b"true"[..]) {
            return Self::bare(cwd);
        }
        let root = to_path(lines.next().unwrap_or_default());
        let git_dir = to_path(lines.next().unwrap_or_default());
        let prefix = lines.next().unwrap_or_default().to_str_lossy().into_owned();
        if !is_work_tree_of(&root, &git_dir) {
            return Err(ScopeError::WorkTreeElsewhere { found: root, from: cwd.to_owned() });
        }
        let git = Git::new(&root).without_local_programs()?.with_index_of_hook(&git_dir);
        Ok(Self { git, work_tree: Some(root), prefix, cwd: cwd.to_owned() })
    }

    /// The repository that `cwd` is in; absent where it is in none, an error where it cannot be
    /// read.
    pub fn find(cwd: &Path) -> Result<Option<Self>, ScopeError> {
        match Self::discover(cwd) {
            Ok(found) => Ok(Some(found)),
            Err(ScopeError::NoRepository(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The repository that `cwd` is in, where it is in no work tree.
    fn bare(cwd: &Path) -> Result<Self, ScopeError> {
        let answer = Git::new(cwd).line(["rev-parse", "--is-bare-repository"]);
        if answer.map_err(|error| explain(error, cwd))? != "true" {
            // Inside `.git` itself, where nothing can be reviewed.
            return Err(ScopeError::NoRepository(cwd.to_owned()));
        }
        let git = Git::new(cwd).without_local_programs()?;
        Ok(Self { git, work_tree: None, prefix: String::new(), cwd: cwd.to_owned() })
    }

    /// Git, run at the root of the work tree, or in the bare repository.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The root of the work tree, unless the repository is bare.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// The root of the work tree; an error in a bare repository.
    pub fn require_work_tree(&self) -> Result<&Path, ScopeError> {
        self.work_tree().ok_or(ScopeError::Bare)
    }

    /// The folder that the user stands in, from the root.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The folder that the user stands in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The full id of the commit that `revision` names.
    pub fn commit(&self, revision: &str) -> Result<String, ScopeError> {
        let spec = format!("{revision}^{{commit}}");
        self.git.line(["rev-parse", "--verify", "--quiet", "--end-of-options", &spec]).map_err(
            |error| match error {
                // A name that means nothing is 1; more than that is a failure of git's own.
                ScopeError::Git { code: Some(1), .. } => {
                    ScopeError::UnknownRevision(revision.to_owned())
                }
                other => other,
            },
        )
    }

    /// The full id of the commit that `revision` names; absent where it names none.
    pub fn known_commit(&self, revision: &str) -> Result<Option<String>, ScopeError> {
        match self.commit(revision) {
            Ok(id) => Ok(Some(id)),
            Err(ScopeError::UnknownRevision(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The full id of the present commit; absent in a repository without one.
    pub fn head(&self) -> Result<Option<String>, ScopeError> {
        self.known_commit("HEAD")
    }

    /// The first parent of `commit`; absent for a first commit, and where a shallow clone ends.
    pub fn parent(&self, commit: &str) -> Result<Option<String>, ScopeError> {
        self.known_commit(&format!("{commit}^1"))
    }

    /// The best common ancestor.
    pub fn merge_base(&self, a: &str, b: &str) -> Result<String, ScopeError> {
        self.git.line(["merge-base", "--end-of-options", a, b]).map_err(|error| match error {
            ScopeError::Git { code: Some(1), .. } => {
                ScopeError::NoMergeBase(a.to_owned(), b.to_owned())
            }
            other => other,
        })
    }

    /// The id of the tree without files, in this repository's hash.
    pub fn empty_tree(&self) -> Result<String, ScopeError> {
        self.git.line(["hash-object", "-t", "tree", "/dev/null"])
    }

    /// The branch that others are measured against, the remote's where there is one: the commit
    /// that it points to, and the name that people know it by.
    pub fn default_branch(&self) -> Result<Option<(String, String)>, ScopeError> {
        let mut refs = vec!["refs/remotes/origin/HEAD".to_owned()];
        for folder in ["refs/remotes/origin/", "refs/heads/"] {
            let names = ["main", "master", "trunk", "develop"];
            refs.extend(names.map(|name| format!("{folder}{name}")));
        }
        let format = "--format=%(refname) %(objectname) %(symref:short)".to_owned();
        let mut arguments = vec!["for-each-ref".to_owned(), format];
        arguments.extend(refs.iter().cloned());
        let known = self.git.line(arguments)?;
        // A branch points to a commit, whatever a tag of the same name does.
        let known = known.lines().filter_map(|line| {
            let (name, rest) = line.split_once(' ')?;
            let (commit, points_to) = rest.split_once(' ')?;
            Some((name, commit, points_to))
        });
        let known: Vec<(&str, &str, &str)> = known.collect();
        let mut found =
            refs.iter().filter_map(|wanted| known.iter().find(|(name, ..)| name == wanted));
        let Some((name, commit, points_to)) = found.next().copied() else { return Ok(None) };
        let short = name.strip_prefix("refs/remotes/").or(name.strip_prefix("refs/heads/"));
        let short = if points_to.is_empty() { short.unwrap_or(name) } else { points_to };
        Ok(Some((commit.to_owned(), short.to_owned())))
    }

    /// Whether history was cut off when the repository was cloned.
    pub fn is_shallow(&self) -> bool {
        self.git.line(["rev-parse", "--is-shallow-repository"]).is_ok_and(|answer| answer == "true")
    }

    /// The text of `path` at `revision`; absent when no file is there.
    pub fn text_at(&self, revision: &str, path: &str) -> Result<Option<Vec<u8>>, ScopeError> {
        match self.git.output(["cat-file", "blob", &format!("{revision}:{path}")]) {
            Ok(text) => Ok(Some(text)),
            // Git exits alike whether the file is not there or the repository cannot be read.
            Err(ScopeError::Git { message, .. }) if is_absence(&message) => Ok(None),
            // It says the same of a folder and of a file that a partial clone lacks.
            Err(error @ ScopeError::Git { .. }) if is_no_file(&error) => {
                let listed = self.git.output(["ls-tree", "-z", revision, "--", path])?;
                let is_file = listed.split(|&byte| byte == b' ').nth(1) == Some(&b"blob"[..]);
                if is_file { Err(ScopeError::Lacking(path.to_owned())) } else { Ok(None) }
            }
            Err(error) => Err(error),
        }
    }

    /// The files directly or indirectly in `folder` at `revision`.
    pub fn list_at(&self, revision: &str, folder: &str) -> Result<Vec<String>, ScopeError> {
        let arguments = ["ls-tree", "-r", "-z", "--name-only", revision, "--", folder];
        let listed = self.git.output(arguments)?;
        let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| name.to_str_lossy().into_owned()).collect())
    }

    /// The address of a remote.
    pub fn remote_url(&self, remote: &str) -> Option<String> {
        self.git.line(["remote", "get-url", "--", remote]).ok()
    }

    /// Whether the commit is in this clone.
    pub fn has_commit(&self, id: &str) -> Result<bool, ScopeError> {
        Ok(self.known_commit(id)?.is_some())
    }
}

fn explain(error: ScopeError, cwd: &Path) -> ScopeError {
    match error {
        ScopeError::Git { message, .. }
            if message.contains("dubious ownership")
                || message.starts_with("unsafe repository") =>
        {
            ScopeError::UnsafeRepository(cwd.to_owned())
        }
        ScopeError::Git { message, .. } if message.contains("not a git repository") => {
            ScopeError::NoRepository(cwd.to_owned())
        }
        other => other,
    }
}

/// Whether git says that there is no such file.
fn is_absence(message: &str) -> bool {
    let gone = ["does not exist in '", "exists on disk, but not in '"];
    gone.iter().any(|words| message.contains(words))
}

/// Whether git says that something is not a file.
fn is_no_file(error: &ScopeError) -> bool {
    matches!(error, ScopeError::Git { message, .. } if message.ends_with(": bad file"))
}

/// Whether `root` says that it is a work tree of `git_dir`. A repository's own configuration can claim
/// any folder for one, and what is there would be read, and sent where the user sends reviews.
fn is_work_tree_of(root: &Path, git_dir: &Path) -> bool {
    let link = root.join(".git");
    let Ok(found) = link.metadata() else { return false };
    let leads_to = if found.is_dir() {
        link
    } else {
        let text = std::fs::read(&link).unwrap_or_default();
        let Some(path) = text.strip_prefix(b"gitdir: ") else { return false };
        root.join(to_path(path.trim_end_with(|end| end == '\n' || end == '\r')))
    };
    match (leads_to.canonicalize(), git_dir.canonicalize()) {
        (Ok(leads_to), Ok(git_dir)) => leads_to == git_dir,
        _ => false,
    }
}

/// A path that git printed.
pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    bytes.to_path().map_or_else(|_| PathBuf::from(bytes.to_str_lossy().as_ref()), Path::to_owned)
}
