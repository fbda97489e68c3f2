//! The content of files: blobs, the work tree, or what a diff shows of them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::Mutex;

use bstr::ByteSlice;
use quorum_model::scope::{Change, Hunk};

use crate::classify;
use crate::error::ScopeError;
use crate::files::{ContentSource, RawFile};
use crate::git::Git;
use crate::hunks::{self, Hunks};
use crate::repository::{Repository, to_path};
use crate::text::{self, Readable};

/// Larger files are not read: nobody can look at them, and the review is incomplete for it.
///
/// A review takes some thirteen times the size of its largest file: 25 MB took 344 MB, 250 MB took
/// 2.5 GB. With this a review stays below 500 MB. Git is told the same limit (`core.bigFileThreshold`),
/// so that it prints no patch of what is not read.
pub const LARGEST_TEXT: u64 = 32 * 1024 * 1024;

/// The content of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// All of it, as UTF-8.
    Whole(Vec<u8>),
    /// An image, a font, sound or video: nothing to read.
    Media(&'static str),
    /// Only what the diff shows is known.
    DiffOnly,
    /// Nothing to read: deleted, or another repository.
    Absent,
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
}

/// A state of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revision {
    /// The files on disk.
    WorkTree,
    /// What is staged.
    Index,
    /// A commit or a tree.
    Commit(String),
}

/// Reads contents; shared by all threads.
#[derive(Debug)]
pub struct Contents {
    git: Option<Git>,
    root: Option<PathBuf>,
    /// Running `git cat-file --batch` processes that nobody uses at the moment.
    idle: Mutex<Vec<CatFile>>,
}

impl Contents {
    /// Reads from `repository`, or from diffs alone.
    pub fn new(repository: Option<&Repository>) -> Self {
        Self {
            git: repository.map(|repository| repository.git().clone()),
            root: repository.and_then(|repository| repository.work_tree().map(Path::to_owned)),
            idle: Mutex::default(),
        }
    }

    /// The content of `file`, as text. One file that cannot be read does not stop the others.
    pub fn read(&self, file: &RawFile) -> Result<Content, ScopeError> {
        Ok(self.read_how(file)?.0)
    }

    /// The content of `file`, whose hunks become those of its text.
    ///
    /// What git calls binary, because of an attribute or of its bytes, has no hunks; and what git
    /// compares may not be what is on disk. Where that is so, the hunks are made here.
    pub fn open(&self, file: &mut RawFile) -> Result<Content, ScopeError> {
        let (content, how) = self.read_how(file)?;
        let decoded = how.is_some();
        file.decoded = how;
        match &content {
            Content::Whole(text) => {
                let whole = matches!(file.change, Change::Unchanged | Change::Unmerged);
                let on_disk = file.content == ContentSource::WorkTree;
                let shown = !decoded && !file.binary && !file.untracked;
                if !whole && !(shown && (!on_disk || is_applied(text, file))) {
                    let old = if file.untracked { None } else { self.old_text(file)? };
                    show(file, hunks::between(&old.unwrap_or_default(), text));
                }
            }
            Content::DiffOnly => read_hunks(file),
            // Which commit is pinned is all that there is to see of another repository.
            Content::Unreadable(_) if file.pins_anew() => {}
            Content::Media(_) | Content::Unreadable(_) => show(file, Hunks::default()),
            Content::Absent => {
                let unread = file.binary || text::read_hunk(&file.patch).is_some();
                if file.change == Change::Deleted && unread {
                    let old = self.old_text(file)?.unwrap_or_default();
                    show(file, hunks::between(&old, b""));
                }
            }
        }
        Ok(content)
    }

    /// The text that git had at the path of `file` before the change; absent for a new file, and
    /// where only a diff says what was there.
    pub fn before(&self, file: &RawFile) -> Result<Option<Vec<u8>>, ScopeError> {
        if file.change == Change::Modified { self.old_text(file) } else { Ok(None) }
    }

    fn old_text(&self, file: &RawFile) -> Result<Option<Vec<u8>>, ScopeError> {
        let Some(id) = &file.old_id else { return Ok(None) };
        let Blob::Whole(bytes) = self.read_blob(id)? else { return Ok(None) };
        let path = file.old_path.as_ref().unwrap_or(&file.path).to_str_lossy();
        Ok(match text::read(&path, bytes, classify::is_named_as_text(&path)) {
            Readable::Plain(text) | Readable::Decoded { text, .. } => Some(text),
            Readable::Media(_)
            | Readable::Elsewhere
            | Readable::Undecoded(_)
            | Readable::Binary => None,
        })
    }

    fn read_how(&self, file: &RawFile) -> Result<(Content, Option<String>), ScopeError> {
        Ok(match self.read_bytes(file)? {
            Content::Whole(bytes) if file.is_link() => (Content::Whole(bytes), None),
            Content::Whole(bytes) => readable(&file.path.to_str_lossy(), bytes),
            Content::DiffOnly if file.binary => {
                (Content::Unreadable("the diff does not contain it".to_owned()), None)
            }
            Content::DiffOnly if points_elsewhere(file) => {
                (Content::Unreadable(ELSEWHERE.to_owned()), None)
            }
            Content::DiffOnly => match shown_encoding(file) {
                Some(name) => (Content::Unreadable(undecoded(&name)), None),
                None => (Content::DiffOnly, None),
            },
            other => (other, None),
        })
    }

    fn read_bytes(&self, file: &RawFile) -> Result<Content, ScopeError> {
        match &file.content {
            ContentSource::None if file.pins_anew() => Ok(Content::Unreadable(
                "another repository, pinned anew: its code is not here".to_owned(),
            )),
            ContentSource::None => Ok(Content::Absent),
            ContentSource::WorkTree | ContentSource::CleanWorkTree(_) => {
                Ok(self.read_work_tree(&to_path(&file.path)))
            }
            ContentSource::Blob(id) => Ok(match self.read_blob(id)? {
                Blob::Whole(content) => Content::Whole(content),
                Blob::TooLarge(size) => Content::Unreadable(too_large(size)),
                Blob::Missing => {
                    Content::Unreadable("the blob is missing from this clone".to_owned())
                }
            }),
            ContentSource::Patch(_) if file.patch.len() as u64 > LARGEST_TEXT => {
                Ok(Content::Unreadable(too_large(file.patch.len() as u64)))
            }
            ContentSource::Patch(id) => self.read_patched(file, id.as_deref()),
        }
    }

    /// The file at `path` in a revision; absent when it is not there or the path leads elsewhere.
    pub fn read_at(&self, revision: &Revision, path: &str) -> Result<Content, ScopeError> {
        let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        // A request to git is a line.
        if !inside || path.contains('\n') {
            return Ok(Content::Absent);
        }
        let name = match revision {
            Revision::WorkTree if self.leads_nowhere_else(Path::new(path)) => {
                return Ok(self.read_work_tree(Path::new(path)));
            }
            Revision::WorkTree => return Ok(Content::Absent),
            Revision::Index => format!(":{path}"),
            Revision::Commit(commit) => format!("{commit}:{path}"),
        };
        Ok(match self.read_blob(&name)? {
            Blob::Whole(content) => Content::Whole(content),
            Blob::TooLarge(size) => Content::Unreadable(too_large(size)),
            Blob::Missing => Content::Absent,
        })
    }

    fn read_work_tree(&self, path: &Path) -> Content {
        let Some(root) = &self.root else { return Content::Absent };
        let path = root.join(path);
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) => return Content::Unreadable(error.to_string()),
        };
        if metadata.is_symlink() {
            return match fs::read_link(&path) {
                Ok(target) => Content::Whole(target.to_string_lossy().into_owned().into_bytes()),
                Err(error) => Content::Unreadable(error.to_string()),
            };
        }
        if !metadata.is_file() {
            return Content::Unreadable("neither a file nor a link".to_owned());
        }
        if metadata.len() > LARGEST_TEXT {
            return Content::Unreadable(too_large(metadata.len()));
        }
        match fs::read(&path) {
            Ok(content) => Content::Whole(content),
            Err(error) => Content::Unreadable(error.to_string()),
        }
    }

    /// The file after a diff from elsewhere, where this repository has it: as the blob that the
    /// diff names, or in the work tree when the diff is applied there.
    fn read_patched(&self, file: &RawFile, id: Option<&str>) -> Result<Content, ScopeError> {
        if let Some(id) = id
            && self.git.is_some()
            && let Blob::Whole(content) = self.read_blob(id)?
            && is_applied(&content, file)
        {
            return Ok(Content::Whole(content));
        }
        let path = to_path(&file.path);
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if inside
            && self.leads_nowhere_else(&path)
            && let Content::Whole(content) = self.read_work_tree(&path)
            && !file.hunks.is_empty()
            && is_applied(&content, file)
        {
            return Ok(Content::Whole(content));
        }
        Ok(Content::DiffOnly)
    }

    /// Whether no directory on the way is a link out of the work tree.
    fn leads_nowhere_else(&self, path: &Path) -> bool {
        let Some(root) = &self.root else { return false };
        let parent = root.join(path).parent().and_then(|parent| parent.canonicalize().ok());
        parent.is_some_and(|parent| parent.starts_with(root))
    }

    fn read_blob(&self, id: &str) -> Result<Blob, ScopeError> {
        let Some(git) = &self.git else { return Ok(Blob::Missing) };
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut process = match idle {
            Some(process) => process,
            None => CatFile::start(git)?,
        };
        let blob = process.read(id).map_err(|error| ScopeError::Git {
            command: "cat-file".to_owned(),
            message: error.to_string(),
            code: None,
        })?;
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(process);
        }
        Ok(blob)
    }
}

fn too_large(size: u64) -> String {
    format!(
        "its {} MiB are more than the {} MiB that are read; where that is meant, list it in \
         `.quorumignore` on the base branch",
        size >> 20,
        LARGEST_TEXT >> 20
    )
}

/// Whether the lines that the diff's hunks leave behind stand in `content` where they should.
fn is_applied(content: &[u8], file: &RawFile) -> bool {
    if file.hunks.is_empty() {
        return true;
    }
    let lines: Vec<&[u8]> = ByteSlice::lines(content).collect();
    file.hunks.iter().all(|(hunk, body)| {
        hunk_is_applied(&lines, hunk, file.patch.get(body.clone()).unwrap_or_default())
    })
}

fn hunk_is_applied(lines: &[&[u8]], hunk: &Hunk, body: &[u8]) -> bool {
    let mut index = usize::try_from(hunk.new_start.saturating_sub(1)).unwrap_or(usize::MAX);
    for line in ByteSlice::lines(body) {
        if matches!(line.first(), Some(b'-' | b'\\')) {
            continue;
        }
        if lines.get(index).copied() != Some(line.get(1..).unwrap_or_default()) {
            return false;
        }
        index += 1;
    }
    true
}

/// A file's bytes as text, and what was done to read them.
pub fn readable(path: &str, bytes: Vec<u8>) -> (Content, Option<String>) {
    match text::read(path, bytes, classify::is_named_as_text(path)) {
        Readable::Plain(text) => (Content::Whole(text), None),
        Readable::Decoded { text, how } => (Content::Whole(text), Some(how)),
        Readable::Media(what) => (Content::Media(what), None),
        Readable::Elsewhere => (Content::Unreadable(ELSEWHERE.to_owned()), None),
        Readable::Undecoded(name) => (Content::Unreadable(undecoded(&name)), None),
        Readable::Binary => (Content::Unreadable(unreadable_kind(path)), None),
    }
}

/// Why bytes that are no text cannot be reviewed, and what a team can do about it.
fn unreadable_kind(path: &str) -> String {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let what = match ending.as_deref() {
        Some("pdf") => "a PDF",
        Some(
            "zip" | "jar" | "war" | "ear" | "aar" | "whl" | "nupkg" | "gz" | "tgz" | "xz" | "bz2"
            | "zst" | "7z" | "rar" | "tar",
        ) => "an archive",
        Some(
            "exe" | "dll" | "so" | "dylib" | "o" | "a" | "lib" | "class" | "pyc" | "wasm" | "node",
        ) => "compiled code",
        Some(
            "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "ico" | "woff" | "woff2" | "ttf"
            | "otf" | "mp3" | "mp4" | "wav" | "ogg" | "webm" | "avif" | "tiff",
        ) => {
            return "its bytes are not what its ending says, and no text; rename it to what it is"
                .to_owned();
        }
        _ => "binary",
    };
    format!(
        "it is {what}, which no reviewer can look into; where that is meant, list it in `.quorumignore` on the base branch"
    )
}

/// Gives `file` all lines of `content` as new ones.
pub fn show_as_new(file: &mut RawFile, content: &Content) {
    if let Content::Whole(text) = content {
        show(file, hunks::between(b"", text));
    }
}

/// Gives `file` these hunks.
fn show(file: &mut RawFile, found: Hunks) {
    file.patch = found.text;
    file.hunks = found.hunks;
}

/// Makes the lines that a diff shows readable where they are not.
fn read_hunks(file: &mut RawFile) {
    let bodies: Vec<&[u8]> = file
        .hunks
        .iter()
        .map(|(_, body)| file.patch.get(body.clone()).unwrap_or_default())
        .collect();
    if bodies.iter().all(|body| text::read_hunk(body).is_none() && !text::has_lone_returns(body)) {
        return;
    }
    // A new file is all there, and can be read as a whole.
    if let ([(hunk, _)], [body]) = (file.hunks.as_slice(), bodies.as_slice())
        && (hunk.old_lines, hunk.new_start) == (0, 1)
        && let (Content::Whole(text), Some(how)) = readable(&file.path.to_str_lossy(), added(body))
    {
        show(file, hunks::between(b"", &text));
        file.decoded = Some(how);
        return;
    }
    let mut readable = Hunks::default();
    let (mut more_old, mut more_new) = (0, 0);
    for ((hunk, _), body) in file.hunks.iter().zip(bodies) {
        let body = text::read_hunk(body).unwrap_or_else(|| body.to_vec());
        let (body, old, new) = text::split_returns(&body);
        let start = readable.text.len();
        readable.text.extend(body);
        let shifted = Hunk {
            old_start: hunk.old_start + more_old,
            old_lines: hunk.old_lines + old,
            new_start: hunk.new_start + more_new,
            new_lines: hunk.new_lines + new,
        };
        readable.hunks.push((shifted, start..readable.text.len()));
        more_old += old;
        more_new += new;
    }
    show(file, readable);
    file.decoded = Some("bytes that are not UTF-8, or carriage returns as line ends".to_owned());
}

const ELSEWHERE: &str = "a pointer to large-file storage: its content is not here";

fn undecoded(name: &str) -> String {
    format!("it names {name} as its encoding, and its bytes are not decoded here")
}

/// The encoding that the lines of a diff name, where they are in another one than they seem.
///
/// A new file is all there, so it is read like any other; of others only some lines are known.
fn shown_encoding(file: &RawFile) -> Option<String> {
    let (hunk, body) = file.hunks.first().filter(|(hunk, _)| hunk.new_start <= 2)?;
    let lines = file.patch.get(body.clone())?;
    let kept = lines.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"-"));
    let mut head: Vec<u8> = if hunk.new_start == 2 { b"\n".to_vec() } else { Vec::new() };
    head.extend(kept.filter_map(|line| line.get(1..)).flatten());
    text::names_another_encoding(&file.path.to_str_lossy(), &head)
}

/// Whether what a diff shows of a file is a pointer to large-file storage.
fn points_elsewhere(file: &RawFile) -> bool {
    let [(_, body)] = file.hunks.as_slice() else { return false };
    let lines = file.patch.get(body.clone()).unwrap_or_default();
    let kept = lines.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"-"));
    let text: Vec<u8> = kept.filter_map(|line| line.get(1..)).flatten().copied().collect();
    text::is_pointer(&text)
}

/// The bytes that a hunk of a new file adds.
fn added(body: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        match line.split_first() {
            Some((b'+', line)) => bytes.extend_from_slice(line),
            // The line before it has no end.
            Some((b'\\', _)) => {
                bytes.pop();
            }
            _ => {}
        }
    }
    bytes
}

enum Blob {
    Whole(Vec<u8>),
    TooLarge(u64),
    Missing,
}

/// A running `git cat-file --batch`.
#[derive(Debug)]
struct CatFile {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl CatFile {
    fn start(git: &Git) -> Result<Self, ScopeError> {
        let mut child = git.converse(["cat-file", "--batch"])?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(requests), Some(answers)) = pipes else {
            return Err(ScopeError::NoGit(std::io::ErrorKind::BrokenPipe.into()));
        };
        Ok(Self { child, requests, answers: BufReader::with_capacity(1 << 16, answers) })
    }

    fn read(&mut self, id: &str) -> std::io::Result<Blob> {
        self.requests.write_all(format!("{id}\n").as_bytes())?;
        self.requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        // "<id> blob <size>", or the request followed by "missing" or "ambiguous".
        if [" missing\n", " ambiguous\n"].iter().any(|end| answer.ends_with(end)) {
            return Ok(Blob::Missing);
        }
        let mut fields = answer.split_ascii_whitespace().skip(1);
        let kind = fields.next();
        let Some(size) = fields.next().and_then(|size| size.parse::<u64>().ok()) else {
            return Err(std::io::Error::other("an answer that git does not give"));
        };
        if size > LARGEST_TEXT || kind != Some("blob") {
            std::io::copy(&mut self.answers.by_ref().take(size + 1), &mut std::io::sink())?;
            return Ok(if kind == Some("blob") { Blob::TooLarge(size) } else { Blob::Missing });
        }
        let mut content = vec![0; usize::try_from(size).unwrap_or_default()];
        self.answers.read_exact(&mut content)?;
        let mut feed = [0];
        self.answers.read_exact(&mut feed)?;
        Ok(Blob::Whole(content))
    }
}

impl Drop for CatFile {
    fn drop(&mut self) {
        // It only ever waits for a request; without one it has nothing to lose.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
