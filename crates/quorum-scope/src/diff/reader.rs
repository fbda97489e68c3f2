//! The reader itself.

use std::io::BufRead;
use std::ops::Range;

use bstr::{BString, ByteSlice};
use quorum_model::scope::{Change, Hunk};
use thiserror::Error;

use super::header::{self, HunkHeader};
use super::quote::unquote;

/// Why a diff cannot be read.
#[derive(Debug, Error)]
pub enum DiffError {
    /// Reading failed.
    #[error("the diff could not be read: {0}")]
    Io(#[from] std::io::Error),
    /// The text breaks the format.
    #[error("line {line} of the diff: {message}")]
    Syntax {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// There is text, and no diff in it.
    #[error("the input has {lines} lines and no diff in them")]
    NoDiff {
        /// How many lines there are.
        lines: u64,
    },
}

/// The section of a diff that is about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchFile {
    /// What follows `diff --git `, where there is such a line.
    pub git_header: Option<BString>,
    /// The name before, where the file existed.
    pub old_path: Option<BString>,
    /// The name after, where the file still exists.
    pub new_path: Option<BString>,
    /// What happened to the file.
    pub change: Option<Change>,
    /// The permission bits before, in octal.
    pub old_mode: Option<u32>,
    /// The permission bits after, in octal.
    pub new_mode: Option<u32>,
    /// The blob after, perhaps abbreviated.
    pub new_id: Option<BString>,
    /// Whether the content is not text.
    pub binary: bool,
    /// The hunks, in order.
    pub hunks: Vec<PatchHunk>,
    /// The text of the whole section.
    pub text: Vec<u8>,
}

/// One hunk of a [`PatchFile`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchHunk {
    /// Its numbers; the old side of a merge is that of the first parent.
    pub hunk: Hunk,
    /// Its lines within [`PatchFile::text`], without the `@@` line.
    pub body: Range<usize>,
}

impl PatchFile {
    /// The name to report: the new one, or the old one of a deleted file.
    pub fn path(&self) -> Option<&BString> {
        self.new_path.as_ref().or(self.old_path.as_ref())
    }

    /// Settles names and the kind of change once the whole section is read.
    fn finish(mut self) -> Self {
        if let Some(git_header) = &self.git_header
            && self.old_path.is_none()
            && self.new_path.is_none()
            && let Some((old, new)) = header::git_names(git_header)
        {
            let (old, new) = header::strip_prefixes(&old, &new);
            self.old_path = (self.change != Some(Change::Added)).then(|| BString::from(old));
            self.new_path = (self.change != Some(Change::Deleted)).then(|| BString::from(new));
        }
        // Without git's words, a file that comes from nothing or becomes nothing shows in its hunk.
        if self.git_header.is_none()
            && let [only] = self.hunks.as_slice()
            && self.old_path.is_some()
            && self.new_path.is_some()
        {
            match only.hunk {
                Hunk { old_start: 0, old_lines: 0, .. } => self.old_path = None,
                Hunk { new_start: 0, new_lines: 0, .. } => self.new_path = None,
                _ => {}
            }
        }
        if self.change.is_none() {
            self.change = Some(match (&self.old_path, &self.new_path) {
                (None, Some(_)) => Change::Added,
                (Some(_), None) => Change::Deleted,
                (Some(old), Some(new)) if old != new && self.git_header.is_some() => {
                    Change::Renamed
                }
                _ => Change::Modified,
            });
        }
        self
    }
}

/// Reads a diff file by file.
#[derive(Debug)]
pub struct PatchReader<R> {
    input: R,
    line: Vec<u8>,
    /// Whether `line` holds a line that is not used yet.
    held: bool,
    number: u64,
    found: bool,
    seen_text: bool,
}

impl<R: BufRead> PatchReader<R> {
    /// A reader over `input`.
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new(), held: false, number: 0, found: false, seen_text: false }
    }

    /// The input, after as much of it as was read.
    pub fn into_input(self) -> R {
        self.input
    }

    /// The lines of `git diff --raw` that stand before the patches.
    pub fn raw_lines(&mut self) -> Result<Vec<BString>, DiffError> {
        let mut lines = Vec::new();
        while self.advance()? {
            if !self.line.starts_with(b":") {
                self.held = true;
                break;
            }
            lines.push(BString::from(trimmed(&self.line)));
        }
        Ok(lines)
    }

    /// The next file, or nothing at the end of the input.
    pub fn next_file(&mut self) -> Result<Option<PatchFile>, DiffError> {
        while self.advance()? {
            let line = trimmed(&self.line);
            if let Some(names) = line.strip_prefix(b"diff --git ") {
                let git_header = Some(BString::from(names));
                return self.file(PatchFile { git_header, ..PatchFile::default() }).map(Some);
            }
            if let Some(name) =
                line.strip_prefix(b"diff --cc ").or_else(|| line.strip_prefix(b"diff --combined "))
            {
                let name = unquote(name).map_or_else(|| BString::from(name), |(name, _)| name);
                let file = PatchFile {
                    old_path: Some(name.clone()),
                    new_path: Some(name),
                    ..PatchFile::default()
                };
                return self.file(file).map(Some);
            }
            if let Some(old) = line.strip_prefix(b"--- ") {
                let old = old.to_vec();
                let start = std::mem::take(&mut self.line);
                if self.advance()? {
                    self.held = true;
                    if self.line.starts_with(b"+++ ") {
                        let mut file = PatchFile { text: start, ..PatchFile::default() };
                        self.names(&mut file, &old)?;
                        return self.hunks(file).map(Some);
                    }
                }
                continue;
            }
            if let Some((old, new)) = header::binary_names(line) {
                self.found = true;
                let file = PatchFile {
                    old_path: old,
                    new_path: new,
                    binary: true,
                    text: self.line.clone(),
                    ..PatchFile::default()
                };
                return Ok(Some(file.finish()));
            }
            if line.starts_with(b"@@ ") && header::hunk_header(line).is_some() {
                return Err(self.syntax("a hunk stands before any file name"));
            }
            self.seen_text |= !line.trim_ascii().is_empty();
        }
        if !self.found && self.seen_text {
            return Err(DiffError::NoDiff { lines: self.number });
        }
        Ok(None)
    }

    /// Reads a section from its `diff` line on, which is the present line.
    fn file(&mut self, mut file: PatchFile) -> Result<PatchFile, DiffError> {
        self.found = true;
        file.text.extend_from_slice(&self.line);
        while self.advance()? {
            let line = trimmed(&self.line);
            if let Some(old) = line.strip_prefix(b"--- ") {
                let old = old.to_vec();
                file.text.extend_from_slice(&self.line);
                if !self.advance()? || !self.line.starts_with(b"+++ ") {
                    return Err(self.syntax("`---` is not followed by `+++`"));
                }
                self.held = true;
                self.names(&mut file, &old)?;
                return self.hunks(file);
            }
            if line.starts_with(b"diff --") || line.starts_with(b"@@") {
                self.held = true;
                return self.hunks(file);
            }
            if line == b"GIT binary patch" {
                file.binary = true;
                file.text.extend_from_slice(&self.line);
                self.skip_binary()?;
                return Ok(file.finish());
            }
            if !extended_header(&mut file, line) {
                self.held = true;
                return Ok(file.finish());
            }
            file.text.extend_from_slice(&self.line);
        }
        Ok(file.finish())
    }

    /// Takes the names from the `---` line's `old` and the `+++` line, which is held.
    fn names(&mut self, file: &mut PatchFile, old: &[u8]) -> Result<(), DiffError> {
        self.found = true;
        self.advance()?;
        let new = trimmed(&self.line).strip_prefix(b"+++ ").unwrap_or_default().to_vec();
        file.text.extend_from_slice(&self.line);
        let (old, new) = (header::file_name(old), header::file_name(&new));
        // `rename from` and its like are exact already, and the combined form has them as well.
        if file.old_path.is_some() && file.new_path.is_some() {
            return Ok(());
        }
        // The `diff --git` line has both names even where one of these is /dev/null.
        if let Some((a, b)) = file.git_header.as_ref().and_then(|text| header::git_names(text)) {
            let (a, b) = header::strip_prefixes(&a, &b);
            file.old_path = old.map(|_| BString::from(a));
            file.new_path = new.map(|_| BString::from(b));
            return Ok(());
        }
        (file.old_path, file.new_path) = match (old, new) {
            (Some(old), Some(new)) => {
                let (old, new) = header::strip_prefixes(&old, &new);
                (Some(BString::from(old)), Some(BString::from(new)))
            }
            (Some(old), None) => (Some(BString::from(header::strip_one(&old))), None),
            (None, Some(new)) => (None, Some(BString::from(header::strip_one(&new)))),
            (None, None) => return Err(self.syntax("both names are /dev/null")),
        };
        Ok(())
    }

    fn hunks(&mut self, mut file: PatchFile) -> Result<PatchFile, DiffError> {
        while self.advance()? {
            let line = trimmed(&self.line);
            if !line.starts_with(b"@@") {
                self.held = true;
                break;
            }
            let Some(header) = header::hunk_header(line) else {
                return Err(self.syntax("the `@@` line is malformed"));
            };
            file.text.extend_from_slice(&self.line);
            let body = self.body(&header, &mut file.text)?;
            let old = header.old[0];
            let hunk = Hunk {
                old_start: old.start,
                old_lines: old.lines,
                new_start: header.new.start,
                new_lines: header.new.lines,
            };
            file.hunks.push(PatchHunk { hunk, body });
        }
        Ok(file.finish())
    }

    /// Reads the lines of one hunk, as many as its header says.
    fn body(&mut self, header: &HunkHeader, text: &mut Vec<u8>) -> Result<Range<usize>, DiffError> {
        let start = text.len();
        let parents = header.old.len();
        let mut old: Vec<u64> = header.old.iter().map(|span| span.lines).collect();
        let mut new = header.new.lines;
        while new > 0 || old.iter().any(|&lines| lines > 0) {
            if !self.advance()? {
                return Err(self.syntax("the diff ends inside a hunk"));
            }
            if self.line.starts_with(b"\\") {
                text.extend_from_slice(&self.line);
                continue;
            }
            let blank = trimmed(&self.line).is_empty();
            let columns: &[u8] = if blank { b"" } else { self.line.get(..parents).unwrap_or(b"") };
            if !blank && (columns.len() < parents || !columns.iter().all(|c| b" +-".contains(c))) {
                return Err(self.syntax("a line of a hunk starts with none of ` `, `+` and `-`"));
            }
            let removed = columns.contains(&b'-');
            let added = columns.contains(&b'+');
            let mut short = !removed && new == 0;
            new = new.saturating_sub(u64::from(!removed));
            for (index, lines) in old.iter_mut().enumerate() {
                let column = columns.get(index).copied().unwrap_or(b' ');
                // In a merge's line with a `-`, a blank column means that this parent lacks it.
                let present = if removed { column == b'-' } else { column == b' ' };
                short |= present && *lines == 0;
                *lines = lines.saturating_sub(u64::from(present));
            }
            if short || (removed && added) {
                return Err(self.syntax("a hunk has other lines than its `@@` line says"));
            }
            text.extend_from_slice(&self.line);
        }
        if self.advance()? {
            if self.line.starts_with(b"\\") {
                text.extend_from_slice(&self.line);
            } else {
                let added = self.line.starts_with(b"+") && !self.line.starts_with(b"+++");
                let removed = self.line.starts_with(b"-") && !self.line.starts_with(b"--");
                if added || removed {
                    return Err(self.syntax("a hunk has more lines than its `@@` line says"));
                }
                self.held = true;
            }
        }
        Ok(start..text.len())
    }

    /// Skips the encoded content of a binary patch: blocks that end with an empty line.
    fn skip_binary(&mut self) -> Result<(), DiffError> {
        while self.advance()? {
            let line = trimmed(&self.line);
            if line.starts_with(b"diff --") {
                self.held = true;
                break;
            }
        }
        Ok(())
    }

    /// Makes the next line the present one; a held line is presented again.
    fn advance(&mut self) -> Result<bool, DiffError> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        self.line.clear();
        let read = self.input.read_until(b'\n', &mut self.line)?;
        self.number += u64::from(read > 0);
        Ok(read > 0)
    }

    fn syntax(&self, message: &str) -> DiffError {
        DiffError::Syntax { line: self.number, message: message.to_owned() }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Takes one line between `diff --git` and the hunks; false when it is none of those lines.
fn extended_header(file: &mut PatchFile, line: &[u8]) -> bool {
    let name = |text: &[u8]| unquote(text).map_or_else(|| BString::from(text), |(name, _)| name);
    let mode = |text: &[u8]| {
        text.to_str().ok().and_then(|text| u32::from_str_radix(text.trim_end(), 8).ok())
    };
    if let Some(text) = line.strip_prefix(b"old mode ") {
        file.old_mode = mode(text);
    } else if let Some(text) = line.strip_prefix(b"new mode ") {
        file.new_mode = mode(text);
    } else if let Some(text) = line.strip_prefix(b"deleted file mode ") {
        file.old_mode = mode(text);
        file.change = Some(Change::Deleted);
    } else if let Some(text) = line.strip_prefix(b"new file mode ") {
        file.new_mode = mode(text);
        file.change = Some(Change::Added);
    } else if let Some(text) = line.strip_prefix(b"rename from ") {
        file.old_path = Some(name(text));
        file.change = Some(Change::Renamed);
    } else if let Some(text) = line.strip_prefix(b"rename to ") {
        file.new_path = Some(name(text));
    } else if let Some(text) = line.strip_prefix(b"copy from ") {
        file.old_path = Some(name(text));
        file.change = Some(Change::Copied);
    } else if let Some(text) = line.strip_prefix(b"copy to ") {
        file.new_path = Some(name(text));
    } else if let Some(text) = line.strip_prefix(b"index ") {
        let mut fields = text.split(|&byte| byte == b' ');
        let ids = fields.next().unwrap_or_default();
        file.new_id = ids.split_once_str("..").map(|(_, new)| BString::from(new));
        if let Some(both) = fields.next().and_then(mode) {
            file.old_mode = Some(both);
            file.new_mode = Some(both);
        }
    } else if line.starts_with(b"Binary files ") && line.ends_with(b" differ") {
        file.binary = true;
    } else {
        return line.starts_with(b"similarity index ")
            || line.starts_with(b"dissimilarity index ")
            || line.starts_with(b"mode ");
    }
    true
}

#[cfg(test)]
mod tests;
