//! What git says differs, with its patches.

use std::collections::{HashSet, VecDeque};

use bstr::{BString, ByteSlice};
use quorum_model::scope::Change;

use super::{
    ContentSource, Files, RawFile, SUBMODULE, Source, admitted, octal, paths_of, take_patch, whole,
    whole_file,
};
use crate::diff::{DiffError, PatchFile, PatchReader, unquote};
use crate::error::ScopeError;
use crate::git::GitStream;
use crate::paths::PathFilter;
use crate::repository::Repository;
use crate::request::Sides;

/// Git's patches, to be matched with the entries of its raw list.
#[derive(Debug)]
pub(super) struct Stream {
    reader: PatchReader<GitStream>,
    entries: VecDeque<RawEntry>,
    held: Option<PatchFile>,
    untracked: VecDeque<RawFile>,
    filter: PathFilter,
}

impl Stream {
    pub(super) fn step(&mut self) -> Result<Option<RawFile>, ScopeError> {
        while let Some(entry) = self.entries.pop_front() {
            let file = attach_patch(&mut self.reader, &mut self.held, entry)?;
            if admitted(&self.filter, &file) {
                return Ok(Some(file));
            }
        }
        Ok(self.untracked.pop_front())
    }

    /// Waits for git to end; an error when it failed.
    pub(super) fn finish(self) -> Result<(), ScopeError> {
        self.reader.into_input().finish()
    }
}

/// A line of `git diff --raw`.
#[derive(Clone, Debug)]
struct RawEntry {
    file: RawFile,
    /// The `diff --git` line that its patch has.
    header: BString,
}

/// Opens what git says differs between two sides, and the untracked files where they belong to it.
pub(super) fn open(
    repository: &Repository,
    sides: &Sides,
    untracked: bool,
    filter: PathFilter,
) -> Result<Files, ScopeError> {
    let untracked = if untracked { whole::untracked(repository, &filter)? } else { Vec::new() };
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
    let old_id = facts.next()?.to_str().ok()?;
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
        old_id: old_id.bytes().any(|digit| digit != b'0').then(|| old_id.to_owned()),
        binary: false,
        decoded: None,
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
