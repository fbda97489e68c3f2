//! The files of a target, with the text of their hunks, one at a time.

use std::collections::{HashMap, HashSet, VecDeque};

use bstr::{BStr, BString, ByteSlice};
use quorum_model::scope::{Change, Hunk};

use crate::diff::{DiffError, PatchFile, PatchReader, unquote};
use crate::error::ScopeError;
use crate::git::GitStream;
use crate::paths::PathFilter;
use crate::repository::Repository;
use crate::request::{Sides, Target};

/// A symbolic link, in git's modes.
pub const SYMLINK: u32 = 0o120_000;
/// Another repository, in git's modes.
pub const SUBMODULE: u32 = 0o160_000;

/// A file of a target, as git or a diff describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFile {
    /// The path, from the root of the repository.
    pub path: BString,
    /// Where it was before.
    pub old_path: Option<BString>,
    /// What happened to it.
    pub change: Change,
    /// Git's mode before; 0 where it did not exist or is not known.
    pub old_mode: u32,
    /// Git's mode after.
    pub new_mode: u32,
    /// Where its content is.
    pub content: ContentSource,
    /// Whether git calls it binary.
    pub binary: bool,
    /// Whether git does not know it, so that its one hunk is its content.
    pub untracked: bool,
    /// The section of the diff that is about it.
    pub patch: Vec<u8>,
    /// The hunks, with their lines in `patch`.
    pub hunks: Vec<(Hunk, std::ops::Range<usize>)>,
}

/// Where the content of a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentSource {
    /// A blob of the repository.
    Blob(String),
    /// The work tree.
    WorkTree,
    /// A file of the work tree that git has as this blob, unchanged.
    CleanWorkTree(String),
    /// Perhaps a blob with this short id, perhaps the work tree, perhaps only the diff.
    Patch(Option<String>),
    /// It has none: deleted, or a submodule.
    None,
}

/// The files of a target, opened.
#[derive(Debug)]
pub struct Files {
    /// Every path that will come, for what is looked up by path beforehand.
    pub paths: Vec<BString>,
    /// The files that the user named one by one, whole.
    pub named: Vec<String>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    List(VecDeque<RawFile>),
    Stream(Box<Stream>),
    Done,
}

/// Git's patches, to be matched with the entries of its raw list.
#[derive(Debug)]
struct Stream {
    reader: PatchReader<GitStream>,
    entries: VecDeque<RawEntry>,
    held: Option<PatchFile>,
    untracked: VecDeque<RawFile>,
    filter: PathFilter,
}

impl Stream {
    fn step(&mut self) -> Result<Option<RawFile>, ScopeError> {
        while let Some(entry) = self.entries.pop_front() {
            let file = attach_patch(&mut self.reader, &mut self.held, entry)?;
            if admitted(&self.filter, &file) {
                return Ok(Some(file));
            }
        }
        Ok(self.untracked.pop_front())
    }
}

/// A line of `git diff --raw`.
#[derive(Clone, Debug)]
struct RawEntry {
    file: RawFile,
    /// The `diff --git` line that its patch has.
    header: BString,
}

/// Opens the files of `target`.
pub fn open(repository: &Repository, target: &Target) -> Result<Files, ScopeError> {
    let filter = PathFilter::new(repository, &target.paths)?;
    match &target.sides {
        Sides::WholeWorkTree => {
            let files = whole_work_tree(repository, &filter)?;
            filter.check_used(&paths_of(&files), true)?;
            let named = filter.literals().map(str::to_owned).collect();
            Ok(Files { named, ..Files::listed(files) })
        }
        Sides::WholeTree(commit) => {
            let files = whole_tree(repository, commit, &filter)?;
            filter.check_used(&paths_of(&files), true)?;
            Ok(Files::listed(files))
        }
        Sides::Patch(text) => of_patch(text, &filter),
        sides => changed(repository, sides, target.untracked, filter),
    }
}

/// Opens the files of a diff that is reviewed without a repository.
pub fn open_bare(target: &Target) -> Result<Files, ScopeError> {
    let filter = PathFilter::without_repository(&target.paths)?;
    match &target.sides {
        Sides::Patch(text) => of_patch(text, &filter),
        _ => Ok(Files::listed(Vec::new())),
    }
}

impl Files {
    fn listed(files: Vec<RawFile>) -> Self {
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { paths, named: Vec::new(), source: Source::List(files.into()) }
    }

    fn step(&mut self) -> Result<Option<RawFile>, ScopeError> {
        let file = match &mut self.source {
            Source::List(files) => files.pop_front(),
            Source::Stream(stream) => stream.step()?,
            Source::Done => None,
        };
        if file.is_none()
            && let Source::Stream(stream) = std::mem::replace(&mut self.source, Source::Done)
        {
            stream.reader.into_input().finish()?;
        }
        Ok(file)
    }
}

impl Iterator for Files {
    type Item = Result<RawFile, ScopeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.source = Source::Done;
        }
        step.transpose()
    }
}

fn paths_of(files: &[RawFile]) -> Vec<&BStr> {
    files.iter().map(|file| file.path.as_bstr()).collect()
}

fn admitted(filter: &PathFilter, file: &RawFile) -> bool {
    filter.admits(file.path.as_bstr())
        || file.old_path.as_ref().is_some_and(|old| filter.admits(old.as_bstr()))
}

fn changed(
    repository: &Repository,
    sides: &Sides,
    untracked: bool,
    filter: PathFilter,
) -> Result<Files, ScopeError> {
    let untracked = if untracked { untracked_files(repository, &filter)? } else { Vec::new() };
    let mut arguments: Vec<&str> = vec![
        "diff",
        "--raw",
        "--patch",
        "--no-abbrev",
        "--unified=3",
        "--inter-hunk-context=0",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-relative",
        "--submodule=short",
        // To see whether a submodule is dirty, git would run with the submodule's configuration.
        "--ignore-submodules=dirty",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ];
    match sides {
        Sides::Trees { old, new } => arguments.extend([old.as_str(), new.as_str()]),
        Sides::TreeToIndex(old) => arguments.extend(["--cached", old.as_str()]),
        Sides::TreeToWorkTree(old) => arguments.push(old.as_str()),
        Sides::IndexToWorkTree => {}
        Sides::Nothing | Sides::WholeWorkTree | Sides::WholeTree(_) | Sides::Patch(_) => {
            filter.check_used(&paths_of(&untracked), false)?;
            return Ok(Files::listed(untracked));
        }
    }
    arguments.push("--");
    let mut reader = PatchReader::new(repository.git().stream(arguments)?);
    let mut entries = VecDeque::new();
    let mut seen = HashSet::new();
    for line in reader.raw_lines()? {
        if let Some(entry) = raw_entry(&line)
            && seen.insert(entry.file.path.clone())
        {
            entries.push_back(entry);
        }
    }
    let all = entries.iter().map(|entry: &RawEntry| &entry.file).chain(&untracked);
    let paths: Vec<BString> =
        all.clone().filter(|file| admitted(&filter, file)).map(|file| file.path.clone()).collect();
    let named = all.flat_map(|file| std::iter::once(&file.path).chain(&file.old_path));
    filter.check_used(&named.map(|path| path.as_bstr()).collect::<Vec<_>>(), false)?;
    let stream = Stream { reader, entries, held: None, untracked: untracked.into(), filter };
    let source = Source::Stream(Box::new(stream));
    Ok(Files { paths, named: Vec::new(), source })
}

/// Reads a line of `git diff --raw`: modes, ids, what happened, and one or two names.
fn raw_entry(line: &[u8]) -> Option<RawEntry> {
    let (facts, names) = line.strip_prefix(b":")?.split_once_str("\t")?;
    if facts.starts_with(b":") {
        // A merge in conflict: as many colons, modes and ids as there are sides.
        let path = names.split(|&byte| byte == b'\t').next()?;
        let file = whole_file(plain_name(path), 0, ContentSource::WorkTree);
        let file = RawFile { change: Change::Unmerged, ..file };
        return Some(RawEntry { file, header: BString::default() });
    }
    let mut facts = facts.split(|&byte| byte == b' ');
    let old_mode = octal(facts.next()?)?;
    let new_mode = octal(facts.next()?)?;
    let _old_id = facts.next()?;
    let new_id = facts.next()?.to_str().ok()?;
    let status = *facts.next()?.first()?;
    let mut names = names.split(|&byte| byte == b'\t');
    let first = names.next()?;
    let second = names.next().unwrap_or(first);
    let header =
        BString::from([prefixed(b"a/", first), b" ".to_vec(), prefixed(b"b/", second)].concat());
    let change = match status {
        b'A' => Change::Added,
        b'C' => Change::Copied,
        b'D' => Change::Deleted,
        b'R' => Change::Renamed,
        b'T' => Change::TypeChanged,
        b'U' => Change::Unmerged,
        _ => Change::Modified,
    };
    let content = if change == Change::Deleted || new_mode == SUBMODULE {
        ContentSource::None
    } else if new_id.bytes().all(|digit| digit == b'0') {
        ContentSource::WorkTree
    } else {
        ContentSource::Blob(new_id.to_owned())
    };
    let moved = matches!(change, Change::Copied | Change::Renamed);
    let file = RawFile {
        path: plain_name(second),
        old_path: moved.then(|| plain_name(first)),
        change,
        old_mode,
        new_mode,
        content,
        binary: false,
        untracked: false,
        patch: Vec::new(),
        hunks: Vec::new(),
    };
    Some(RawEntry { file, header })
}

/// A name as the `diff --git` line has it: the prefix goes inside the quotes.
fn prefixed(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    match name.strip_prefix(b"\"") {
        Some(rest) => [b"\"", prefix, rest].concat(),
        None => [prefix, name].concat(),
    }
}

fn plain_name(name: &[u8]) -> BString {
    unquote(name).map_or_else(|| BString::from(name), |(name, _)| name)
}

fn octal(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(text.to_str().ok()?, 8).ok()
}

/// Gives an entry the patches that git printed for it: none for an unmerged file, two when a file
/// became something else.
fn attach_patch(
    reader: &mut PatchReader<GitStream>,
    held: &mut Option<PatchFile>,
    entry: RawEntry,
) -> Result<RawFile, ScopeError> {
    let RawEntry { mut file, header } = entry;
    loop {
        let patch = match held.take() {
            Some(patch) => patch,
            None => match reader.next_file() {
                Ok(Some(patch)) => patch,
                // Only remarks about paths in conflict.
                Ok(None) | Err(DiffError::NoDiff { .. }) => return Ok(file),
                Err(error) => return Err(error.into()),
            },
        };
        match &patch.git_header {
            Some(found) if *found == header => take_patch(&mut file, patch),
            // A merge's combined form belongs to no entry; its file is reviewed whole.
            None => {}
            Some(_) => {
                *held = Some(patch);
                return Ok(file);
            }
        }
    }
}

fn take_patch(file: &mut RawFile, patch: PatchFile) {
    let offset = file.patch.len();
    file.binary |= patch.binary;
    file.patch.extend_from_slice(&patch.text);
    file.hunks.extend(patch.hunks.into_iter().map(|hunk| {
        let body = hunk.body;
        (hunk.hunk, body.start + offset..body.end + offset)
    }));
}

/// Adds a later section about the same file: what it is in the end, and all hunks.
fn add_section(file: &mut RawFile, patch: PatchFile) {
    let later = patch.change.unwrap_or(Change::Modified);
    file.change = match (file.change, later) {
        (Change::Deleted, Change::Added) => Change::TypeChanged,
        (_, Change::Deleted) => Change::Deleted,
        (earlier, _) => earlier,
    };
    file.new_mode = patch.new_mode.unwrap_or(file.new_mode);
    file.content = patched_content(file.change, &patch);
    take_patch(file, patch);
}

/// Where the content of a file is after a patch.
fn patched_content(change: Change, patch: &PatchFile) -> ContentSource {
    match change {
        Change::Deleted => ContentSource::None,
        _ if patch.new_mode == Some(SUBMODULE) => ContentSource::None,
        _ => ContentSource::Patch(patch.new_id.as_ref().map(ToString::to_string)),
    }
}

fn of_patch(text: &[u8], filter: &PathFilter) -> Result<Files, ScopeError> {
    let mut reader = PatchReader::new(text);
    let mut files: Vec<RawFile> = Vec::new();
    let mut known: HashMap<BString, usize> = HashMap::new();
    while let Some(patch) = reader.next_file()? {
        let Some(path) = patch.path().cloned() else { continue };
        // One file may have several sections, as in a series of patches.
        if let Some(&index) = known.get(&path) {
            add_section(&mut files[index], patch);
            continue;
        }
        let change = patch.change.unwrap_or(Change::Modified);
        let moved = matches!(change, Change::Copied | Change::Renamed);
        let content = patched_content(change, &patch);
        let mut file = RawFile {
            path,
            old_path: patch.old_path.clone().filter(|_| moved),
            change,
            old_mode: patch.old_mode.unwrap_or_default(),
            new_mode: patch.new_mode.unwrap_or_default(),
            content,
            binary: false,
            untracked: false,
            patch: Vec::new(),
            hunks: Vec::new(),
        };
        take_patch(&mut file, patch);
        if admitted(filter, &file) {
            known.insert(file.path.clone(), files.len());
            files.push(file);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    filter.check_used(&paths_of(&files), false)?;
    Ok(Files::listed(files))
}

fn untracked_files(
    repository: &Repository,
    filter: &PathFilter,
) -> Result<Vec<RawFile>, ScopeError> {
    let arguments = ["ls-files", "--others", "--exclude-standard", "-z"];
    let listed = repository.git().output(arguments)?;
    let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    // A repository inside this one is listed as a directory; it is not this repository's to review.
    let names = names.filter(|name| !name.ends_with(b"/"));
    let files = names.map(|name| RawFile {
        change: Change::Added,
        untracked: true,
        ..whole_file(BString::from(name), 0, ContentSource::WorkTree)
    });
    Ok(files.filter(|file| filter.admits(file.path.as_bstr())).collect())
}

fn whole_work_tree(
    repository: &Repository,
    filter: &PathFilter,
) -> Result<Vec<RawFile>, ScopeError> {
    let root = repository.require_work_tree()?;
    let git = repository.git();
    let dirty = git.output(["diff-files", "-z", "--name-only"])?;
    let dirty: HashSet<&[u8]> = dirty.split(|&byte| byte == 0).collect();
    let staged = git.output(["ls-files", "--stage", "-v", "-z"])?;
    let mut files: Vec<RawFile> = Vec::new();
    for line in staged.split(|&byte| byte == 0) {
        let Some((facts, name)) = line.split_once_str("\t") else { continue };
        let mut facts = facts.split(|&byte| byte == b' ');
        let tag = facts.next().unwrap_or_default();
        let (mode, id) = (facts.next().and_then(octal), facts.next());
        let (Some(mode), Some(Ok(id))) = (mode, id.map(|id| id.to_str())) else { continue };
        // Of a file with any other tag git does not look whether it is changed.
        let content = if mode == SUBMODULE {
            ContentSource::None
        } else if dirty.contains(name) || tag != b"H" {
            ContentSource::WorkTree
        } else {
            ContentSource::CleanWorkTree(id.to_owned())
        };
        files.push(whole_file(BString::from(name), mode, content));
    }
    let others = untracked_files(repository, &PathFilter::default())?;
    files.extend(others.into_iter().map(|file| RawFile {
        change: Change::Unchanged,
        untracked: false,
        ..file
    }));
    // A file that is named one by one is reviewed even when git ignores it.
    for name in filter.literals() {
        let known = files.iter().any(|file| file.path == name);
        if !known && root.join(name).symlink_metadata().is_ok_and(|data| !data.is_dir()) {
            files.push(whole_file(BString::from(name), 0, ContentSource::WorkTree));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    files.retain(|file| {
        let on_disk =
            || root.join(crate::repository::to_path(&file.path)).symlink_metadata().is_ok();
        filter.admits(file.path.as_bstr()) && on_disk()
    });
    Ok(files)
}

fn whole_tree(
    repository: &Repository,
    commit: &str,
    filter: &PathFilter,
) -> Result<Vec<RawFile>, ScopeError> {
    let listed = repository.git().output(["ls-tree", "-r", "-z", commit])?;
    let mut files = Vec::new();
    for line in listed.split(|&byte| byte == 0) {
        let Some((facts, name)) = line.split_once_str("\t") else { continue };
        let mut facts = facts.split(|&byte| byte == b' ');
        let (mode, _, id) = (facts.next().and_then(octal), facts.next(), facts.next());
        let (Some(mode), Some(Ok(id))) = (mode, id.map(|id| id.to_str())) else { continue };
        let content = match mode {
            SUBMODULE => ContentSource::None,
            _ => ContentSource::Blob(id.to_owned()),
        };
        files.push(whole_file(BString::from(name), mode, content));
    }
    files.retain(|file| filter.admits(file.path.as_bstr()));
    Ok(files)
}

fn whole_file(path: BString, mode: u32, content: ContentSource) -> RawFile {
    RawFile {
        path,
        old_path: None,
        change: Change::Unchanged,
        old_mode: mode,
        new_mode: mode,
        content,
        binary: false,
        untracked: false,
        patch: Vec::new(),
        hunks: Vec::new(),
    }
}
