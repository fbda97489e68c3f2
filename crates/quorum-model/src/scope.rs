//! What is under review: files, each with its changed hunks, at one revision.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is under review, at one revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// How the scope was named.
    pub kind: ScopeKind,
    /// A short description for people, such as `main...HEAD`.
    pub label: String,
    /// The full id of the revision that the change is measured against, where there is one.
    pub base: Option<String>,
    /// The full id of the reviewed revision; absent for a work tree, the index or a bare diff.
    pub head: Option<String>,
    /// The files, sorted by path.
    pub files: Vec<FileEntry>,
    /// Files that the change touches but that `.quorumignore` leaves out of the review.
    #[serde(default)]
    pub ignored: Vec<IgnoredFile>,
}

/// How a scope was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    /// Whole files named by path, directory or glob.
    Paths,
    /// Every file of the repository.
    All,
    /// The work tree against the last commit, untracked files included.
    Worktree,
    /// The index against the last commit.
    Staged,
    /// The work tree against the index.
    Unstaged,
    /// Files that git does not track yet.
    Untracked,
    /// One commit against its first parent.
    Commit,
    /// Two named revisions.
    Range,
    /// The head against its merge base with another revision.
    Base,
    /// What differs from the default branch, uncommitted work included.
    Branch,
    /// A diff from a file or from standard input.
    Diff,
    /// A pull or merge request on a code host.
    Pr,
}

/// One file under review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileEntry {
    /// Path from the root of the repository, with `/`. Bytes that are not UTF-8 read `\xNN`.
    pub path: Arc<str>,
    /// Where the file was before a rename or copy.
    pub old_path: Option<Arc<str>>,
    /// What happened to the file.
    pub change: Change,
    /// The language, by GitHub Linguist's names.
    pub language: Option<String>,
    /// What sort of content the file has.
    pub kind: FileKind,
    /// Tokens of the whole file at the reviewed revision, as budgets count them.
    pub tokens: u64,
    /// What is special about the file.
    pub flags: Vec<Flag>,
    /// Why each flag is set.
    #[serde(default)]
    pub flag_reasons: BTreeMap<Flag, String>,
    /// The changed hunks; empty when the whole file is under review.
    pub hunks: Vec<Hunk>,
    /// What tells this content from any other: BLAKE3 of the file at the reviewed revision and of its
    /// patch. Absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl FileEntry {
    /// Whether `flag` is set.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// Whether rules alone read it: models are shown its name, because a generator wrote it.
    pub fn is_for_rules_alone(&self) -> bool {
        let text = !self.has(Flag::Binary) && !self.has(Flag::Unreadable);
        text && self.has(Flag::Generated)
    }
}

/// A file that the change touches but the review leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnoredFile {
    /// Path from the root of the repository.
    pub path: Arc<str>,
    /// The rule that leaves it out.
    pub reason: String,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// New in this change.
    Added,
    /// Content or mode changed.
    Modified,
    /// Gone in this change.
    Deleted,
    /// Moved, perhaps with edits.
    Renamed,
    /// Copied from another file, perhaps with edits.
    Copied,
    /// Turned from one kind into another, such as a file into a symbolic link.
    TypeChanged,
    /// In conflict: the merge is not resolved.
    Unmerged,
    /// Not a change: the whole file is under review.
    Unchanged,
}

/// A run of changed lines with their context, numbered as git numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hunk {
    /// First line in the old file.
    pub old_start: u64,
    /// Number of lines in the old file.
    pub old_lines: u64,
    /// First line in the new file.
    pub new_start: u64,
    /// Number of lines in the new file.
    pub new_lines: u64,
}

/// What sort of content a file has.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A programming language.
    Code,
    /// A programming language run by a shell or a task runner.
    Script,
    /// Settings.
    Config,
    /// Text for people.
    Prose,
    /// Markup and styles.
    Markup,
    /// What pages are made from: HTML, templates, components.
    Template,
    /// Data that no program is configured by.
    Data,
    /// Neither text nor anything that can be shown to a reviewer.
    Binary,
    /// Text of no known language.
    Text,
}

impl FileKind {
    /// The spelling used in documents and in the domains of agents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Script => "script",
            Self::Config => "config",
            Self::Prose => "prose",
            Self::Markup => "markup",
            Self::Template => "template",
            Self::Data => "data",
            Self::Binary => "binary",
            Self::Text => "text",
        }
    }
}

/// What is special about a file. Every flag carries its reason in `flag_reasons`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// Touches authentication, cryptography, secrets or permissions.
    SecuritySensitive,
    /// Where the outside reaches the program: handlers, routes, `main`.
    EntryPoint,
    /// Others depend on what it exports.
    PublicApi,
    /// The command line that users type.
    Cli,
    /// Texts that users read, such as translations.
    Messages,
    /// Changes stored data or its schema.
    Migration,
    /// Machines, containers, clusters, networks.
    Infrastructure,
    /// Continuous integration.
    Ci,
    /// Names dependencies.
    Manifest,
    /// Pins dependencies.
    LockFile,
    /// Documentation.
    Docs,
    /// The list of changes for users.
    Changelog,
    /// Tests and their fixtures.
    Test,
    /// Written by a program, not by people.
    Generated,
    /// Third-party code kept in the repository.
    Vendored,
    /// Compressed for delivery.
    Minified,
    /// Not text.
    Binary,
    /// An image, a font, sound or video, by its bytes and by its file ending: listed, and nobody
    /// needs to look at it.
    Media,
    /// It is there and nobody can look at it: a binary, another repository's code, or what a diff
    /// does not contain.
    Unreadable,
    /// Text in another encoding than UTF-8, or with bytes that are no text; shown decoded.
    NonUtf8,
    /// A symbolic link; its target is its content.
    Symlink,
    /// Another repository, pinned at a commit.
    Submodule,
    /// Only the permission bits changed.
    ModeChange,
}

impl Flag {
    /// The spelling used in documents and in the domains of agents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SecuritySensitive => "security_sensitive",
            Self::EntryPoint => "entry_point",
            Self::PublicApi => "public_api",
            Self::Cli => "cli",
            Self::Messages => "messages",
            Self::Migration => "migration",
            Self::Infrastructure => "infrastructure",
            Self::Ci => "ci",
            Self::Manifest => "manifest",
            Self::LockFile => "lock_file",
            Self::Docs => "docs",
            Self::Changelog => "changelog",
            Self::Test => "test",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
            Self::Minified => "minified",
            Self::Binary => "binary",
            Self::Media => "media",
            Self::Unreadable => "unreadable",
            Self::NonUtf8 => "non_utf8",
            Self::Symlink => "symlink",
            Self::Submodule => "submodule",
            Self::ModeChange => "mode_change",
        }
    }
}

/// A named trait of the change that the tier is scored from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// A library or protocol that talks to another service; one per service.
    ExternalService,
    /// Cryptography, authentication or sandboxing.
    SecurityKnowledge,
    /// Threads, locks, async tasks, atomics.
    ConcurrencyKnowledge,
    /// Measured speed: caches, SIMD, allocation, profiling.
    PerformanceKnowledge,
    /// Code below the type system: `unsafe`, assembly, foreign functions.
    LowLevelKnowledge,
    /// Law and audit: personal data, retention, licences.
    ComplianceKnowledge,
    /// Money.
    Payments,
    /// Deletes or rewrites stored data.
    DataIntegrity,
    /// An exported declaration was removed or its signature changed.
    RemovedPublicItem,
    /// An exported declaration was added or changed.
    PublicItem,
    /// TODO, FIXME, HACK and the like in what the change adds.
    TechnicalDebt,
    /// Integration tests or fixtures.
    IntegrationTest,
    /// End-to-end, load or security tests.
    EndToEndTest,
}

/// What was learnt about one file beside its entry; planning needs it, reports do not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileFacts {
    /// Traits of the change in this file, each with its evidence.
    pub signals: BTreeMap<(Signal, String), String>,
    /// What the file imports, as written.
    pub imports: Vec<String>,
}
