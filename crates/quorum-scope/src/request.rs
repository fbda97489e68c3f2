//! From what the user named to two sides that can be compared.

use quorum_model::scope::ScopeKind;

use crate::error::ScopeError;
use crate::repository::Repository;

/// What the user wants reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which change.
    pub selection: Selection,
    /// Paths, directories and globs that narrow it; alone they mean whole files.
    pub paths: Vec<String>,
}

/// Which change the user wants reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// What differs from the default branch, else the work tree; everything where nothing is committed.
    Default,
    /// Every file.
    All,
    /// Parts of what is not committed.
    Uncommitted {
        /// The index against the last commit.
        staged: bool,
        /// The work tree against the index.
        unstaged: bool,
        /// Files that git does not track.
        untracked: bool,
    },
    /// One commit against its first parent.
    Commit(String),
    /// `A..B` or `A...B`.
    Range(String),
    /// The present commit against its merge base with a revision.
    Base(String),
    /// What differs from a tree, committed or not, by the tree's id.
    Since(String),
    /// A pull request whose two ends are in this clone.
    PullRequest {
        /// Its number.
        number: u64,
        /// The tip of the branch that it goes to.
        base: String,
        /// Its own tip.
        head: String,
    },
    /// A diff from elsewhere.
    Diff {
        /// [`ScopeKind::Diff`], or [`ScopeKind::Pr`] for one that a code host sent.
        kind: ScopeKind,
        /// Where it comes from.
        label: String,
        /// The commit that it is measured against, where that is known.
        base: Option<String>,
        /// Its text.
        text: Vec<u8>,
    },
}

/// What is compared with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Two trees.
    Trees {
        /// Commit or tree before.
        old: String,
        /// Commit after.
        new: String,
    },
    /// A tree with the index.
    TreeToIndex(String),
    /// The index with the work tree.
    IndexToWorkTree,
    /// A tree with the work tree.
    TreeToWorkTree(String),
    /// Nothing that git tracks; only untracked files.
    Nothing,
    /// No comparison: whole files of the work tree.
    WholeWorkTree,
    /// No comparison: whole files of a commit.
    WholeTree(String),
    /// A diff from elsewhere.
    Patch(Vec<u8>),
}

/// A request whose revisions are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// How the scope was named.
    pub kind: ScopeKind,
    /// For people.
    pub label: String,
    /// The full id of the commit before, where there is one.
    pub base: Option<String>,
    /// The full id of the commit after, where there is one.
    pub head: Option<String>,
    /// What is compared.
    pub sides: Sides,
    /// Whether untracked files belong to it.
    pub untracked: bool,
    /// Paths, directories and globs that narrow it.
    pub paths: Vec<String>,
}

/// Where policy (configuration, agents, SOPs, ignore rules) is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicySource {
    /// The files on disk.
    WorkTree,
    /// A commit.
    Commit(String),
    /// Nowhere: there is no trusted revision.
    Nowhere,
}

impl Target {
    /// Where policy is read from: a change must not bring the rules that it is judged by.
    pub fn policy(&self) -> PolicySource {
        match (self.kind, &self.base) {
            (
                ScopeKind::Commit | ScopeKind::Range | ScopeKind::Base | ScopeKind::Pr,
                Some(base),
            ) => PolicySource::Commit(base.clone()),
            (ScopeKind::Commit | ScopeKind::Range | ScopeKind::Base | ScopeKind::Pr, None) => {
                PolicySource::Nowhere
            }
            _ => match &self.sides {
                Sides::WholeTree(commit) => PolicySource::Commit(commit.clone()),
                _ => PolicySource::WorkTree,
            },
        }
    }

    /// Where it is read from what a review leaves out or does not show to models: ignore rules,
    /// attributes, and the scope's settings.
    ///
    /// Other policy may be the user's own work in progress. This must not be: what hides code would
    /// come with the code.
    pub fn exclusions(&self) -> PolicySource {
        match (&self.sides, &self.base) {
            (Sides::WholeWorkTree | Sides::WholeTree(_), _) => self.policy(),
            // A diff may be applied to the work tree already.
            (Sides::Patch(text), None) if self.kind == ScopeKind::Diff => {
                if names_exclusions(text) { PolicySource::Nowhere } else { self.policy() }
            }
            (_, Some(base)) => PolicySource::Commit(base.clone()),
            (_, None) => PolicySource::Nowhere,
        }
    }

    /// A diff that is reviewed without a repository.
    pub fn of_bare_diff(request: Request) -> Option<Self> {
        let Selection::Diff { kind, label, base, text } = request.selection else { return None };
        let sides = Sides::Patch(text);
        let paths = request.paths;
        Some(Self { kind, label, base, head: None, sides, untracked: false, paths })
    }
}

/// Whether a diff is about files that say what is left out.
fn names_exclusions(diff: &[u8]) -> bool {
    let files: [&[u8]; 3] = [b".quorumignore", b".gitattributes", b"quorum.toml"];
    let headers: [&[u8]; 5] = [b"+++ ", b"--- ", b"diff --", b"rename to ", b"copy to "];
    diff.split(|&byte| byte == b'\n')
        .filter(|line| headers.iter().any(|header| line.starts_with(header)))
        .any(|line| files.iter().any(|file| line.windows(file.len()).any(|part| part == *file)))
}

/// Resolves the revisions of `request`.
pub fn resolve(repository: &Repository, request: Request) -> Result<Target, ScopeError> {
    let paths = request.paths;
    let mut target = match request.selection {
        Selection::Default if paths.is_empty() => default_target(repository)?,
        Selection::Default => whole(repository, ScopeKind::Paths, paths.join(" "))?,
        Selection::All => all(repository)?,
        Selection::Uncommitted { staged, unstaged, untracked } => {
            uncommitted(repository, repository.head()?, (staged, unstaged, untracked))?
        }
        Selection::Commit(revision) => {
            let head = repository.commit(&revision)?;
            let base = repository.parent(&head)?;
            between(repository, ScopeKind::Commit, revision, base, head)?
        }
        Selection::Range(range) => range_target(repository, range)?,
        Selection::Base(revision) => {
            let head = repository.head()?.ok_or(ScopeError::NoCommit)?;
            let tip = repository.commit(&revision)?;
            let base = merge_base(repository, (&revision, &tip), ("HEAD", &head))?;
            between(repository, ScopeKind::Base, format!("{revision}...HEAD"), Some(base), head)?
        }
        Selection::Since(tree) => {
            repository.require_work_tree()?;
            let label = "what was done since the start".to_owned();
            let sides = Sides::TreeToWorkTree(tree.clone());
            let mut target = target(ScopeKind::Base, label, Some(tree), None, sides);
            target.untracked = true;
            target
        }
        Selection::PullRequest { number, base, head } => {
            let tip = repository.commit(&base)?;
            let head = repository.commit(&head)?;
            let base = merge_base(repository, (&base, &tip), ("the head", &head))?;
            between(repository, ScopeKind::Pr, format!("pull request {number}"), Some(base), head)?
        }
        Selection::Diff { kind, label, base, text } => {
            let base = match base {
                Some(base) if repository.has_commit(&base)? => Some(base),
                _ => None,
            };
            target(kind, label, base, None, Sides::Patch(text))
        }
    };
    target.paths = paths;
    Ok(target)
}

fn default_target(repository: &Repository) -> Result<Target, ScopeError> {
    let Some(head) = repository.head()? else { return all(repository) };
    if repository.work_tree().is_none() {
        return all(repository);
    }
    if let Some((tip, branch)) = repository.default_branch()?
        && tip != head
        && let Ok(base) = repository.merge_base(&tip, &head)
        && base != head
    {
        let label = format!("what differs from {branch}");
        let sides = Sides::TreeToWorkTree(base.clone());
        let mut target = target(ScopeKind::Branch, label, Some(base), None, sides);
        target.untracked = true;
        return Ok(target);
    }
    // Where nothing is uncommitted either, there is nothing to review, and that is the answer.
    let mut target = uncommitted(repository, Some(head), (true, true, true))?;
    if is_clean_but_for_dismissals(repository)? {
        (target.sides, target.untracked) = (Sides::Nothing, false);
    }
    Ok(target)
}

/// What `quorum dismiss --shared` writes: alone it is no work to review.
const DISMISSALS: &[u8] = b".quorum/dismissed.toml";

fn is_clean_but_for_dismissals(repository: &Repository) -> Result<bool, ScopeError> {
    let arguments = [
        "status",
        "--porcelain",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=dirty",
    ];
    let told = repository.git().output(arguments)?;
    // Two letters and a blank stand before each path.
    let mut paths = told.split(|&byte| byte == 0).filter_map(|entry| entry.get(3..));
    Ok(paths.all(|path| path == DISMISSALS))
}

fn uncommitted(
    repository: &Repository,
    head: Option<String>,
    (staged, unstaged, untracked): (bool, bool, bool),
) -> Result<Target, ScopeError> {
    repository.require_work_tree()?;
    let old = match &head {
        Some(head) => head.clone(),
        None => repository.empty_tree()?,
    };
    let (kind, label, sides) = match (staged, unstaged) {
        (true, true) => (ScopeKind::Worktree, "uncommitted changes", Sides::TreeToWorkTree(old)),
        (true, false) => (ScopeKind::Staged, "staged changes", Sides::TreeToIndex(old)),
        (false, true) => (ScopeKind::Unstaged, "unstaged changes", Sides::IndexToWorkTree),
        (false, false) => (ScopeKind::Untracked, "untracked files", Sides::Nothing),
    };
    let mut target = target(kind, label.to_owned(), head, None, sides);
    target.untracked = untracked;
    Ok(target)
}

fn range_target(repository: &Repository, range: String) -> Result<Target, ScopeError> {
    let (from, to, symmetric) = match range.split_once("...") {
        Some((from, to)) => (from, to, true),
        None => match range.split_once("..") {
            Some((from, to)) => (from, to, false),
            None => return Err(ScopeError::BadRange(range)),
        },
    };
    let name = |side: &str| if side.is_empty() { "HEAD".to_owned() } else { side.to_owned() };
    let (from, to) = (name(from), name(to));
    let head = repository.commit(&to)?;
    let tip = repository.commit(&from)?;
    let base = if symmetric { merge_base(repository, (&from, &tip), (&to, &head))? } else { tip };
    between(repository, ScopeKind::Range, range, Some(base), head)
}

/// A merge base, with the names that the user gave in the error.
fn merge_base(
    repository: &Repository,
    (name_a, a): (&str, &str),
    (name_b, b): (&str, &str),
) -> Result<String, ScopeError> {
    repository.merge_base(a, b).map_err(|error| match error {
        ScopeError::NoMergeBase(..) => {
            ScopeError::NoMergeBase(name_a.to_owned(), name_b.to_owned())
        }
        other => other,
    })
}

fn between(
    repository: &Repository,
    kind: ScopeKind,
    label: String,
    base: Option<String>,
    head: String,
) -> Result<Target, ScopeError> {
    let old = match &base {
        Some(base) => base.clone(),
        None => repository.empty_tree()?,
    };
    let sides = Sides::Trees { old, new: head.clone() };
    Ok(target(kind, label, base, Some(head), sides))
}

fn all(repository: &Repository) -> Result<Target, ScopeError> {
    whole(repository, ScopeKind::All, "the whole repository".to_owned())
}

fn whole(repository: &Repository, kind: ScopeKind, label: String) -> Result<Target, ScopeError> {
    if repository.work_tree().is_some() {
        return Ok(target(kind, label, None, None, Sides::WholeWorkTree));
    }
    let commit = repository.head()?.ok_or(ScopeError::NoCommit)?;
    Ok(target(kind, label, None, Some(commit.clone()), Sides::WholeTree(commit)))
}

fn target(
    kind: ScopeKind,
    label: String,
    base: Option<String>,
    head: Option<String>,
    sides: Sides,
) -> Target {
    Target { kind, label, base, head, sides, untracked: false, paths: Vec::new() }
}
