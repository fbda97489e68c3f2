//! What a file is: its language, its kind, and what is special about it, each with a reason.

mod generated;
mod language;
mod role;
mod sensitive;
mod vendored;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use bstr::{BString, ByteSlice};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use quorum_model::config::ScopeConfig;
use quorum_model::scope::{Change, FileKind, Flag};

use crate::attributes::Attributes;
use crate::content::Content;
use crate::error::ScopeError;
use crate::files::{RawFile, SUBMODULE, SYMLINK};

pub(crate) use words::words;

/// Git looks for a NUL in this many bytes to tell binary from text.
const BINARY_PROBE: usize = 8000;

/// As much of a file as is looked at to name its language.
const LANGUAGE_PROBE: usize = 64 * 1024;

/// Says what files are.
#[derive(Debug)]
pub struct Classifier {
    attributes: HashMap<BString, Attributes>,
    sensitive: GlobSet,
    generated: GlobSet,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The language, by GitHub Linguist's names.
    pub language: Option<String>,
    /// What sort of content it has.
    pub kind: FileKind,
    /// What is special about it, and why.
    pub flags: BTreeMap<Flag, String>,
}

impl Classified {
    /// Whether `flag` is set.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains_key(&flag)
    }

    /// Whether a reviewer is shown the name alone.
    pub fn is_name_only(&self) -> bool {
        self.has(Flag::Generated) || self.has(Flag::Binary)
    }

    fn set(&mut self, flag: Flag, reason: impl Into<String>) {
        self.flags.entry(flag).or_insert_with(|| reason.into());
    }
}

impl Classifier {
    /// With what a team says in `.gitattributes` and in `quorum.toml`.
    pub fn new(
        attributes: HashMap<BString, Attributes>,
        config: &ScopeConfig,
    ) -> Result<Self, ScopeError> {
        Ok(Self {
            attributes,
            sensitive: globs(&config.security_sensitive)?,
            generated: globs(&config.generated)?,
        })
    }

    /// What `file` is, by its path, its mode, what git says of it, and its content.
    pub fn classify(&self, file: &RawFile, content: &Content) -> Classified {
        let path = file.path.to_str_lossy();
        let text = visible(file, content);
        let text: &[u8] = &text;
        let probe = &text[..text.len().min(LANGUAGE_PROBE)];
        let mut found = Classified { language: None, kind: FileKind::Text, flags: BTreeMap::new() };
        mode_flags(&mut found, file);
        binary_flags(&mut found, file, content, text);
        if !found.has(Flag::Submodule) && !found.has(Flag::Symlink) {
            let language = language::detect(&path, &probe.to_str_lossy());
            found.kind = language::kind(&path, language.as_ref());
            found.language = language.map(|language| language.name.to_owned());
        }
        if found.has(Flag::Binary) {
            found.kind = FileKind::Binary;
            found.language = None;
        } else if std::str::from_utf8(probe).is_err_and(|error| error.error_len().is_some()) {
            found.set(Flag::NonUtf8, "holds bytes that are not UTF-8");
        }
        role::set_flags(&mut found, &path);
        self.written_by(&mut found, file, &path, text);
        sensitive::set_flag(&mut found, &path);
        if self.sensitive.is_match(path.as_ref()) {
            found.set(Flag::SecuritySensitive, "named in scope.security_sensitive");
        }
        found
    }

    /// Generated, vendored, minified, and what `.gitattributes` says of it, which wins.
    fn written_by(&self, found: &mut Classified, file: &RawFile, path: &str, text: &[u8]) {
        let said = self.attributes.get(&file.path).copied().unwrap_or_default();
        match said.generated {
            Some(true) => found.set(Flag::Generated, "linguist-generated in .gitattributes"),
            Some(false) => {}
            None if self.generated.is_match(path) => {
                found.set(Flag::Generated, "named in scope.generated");
            }
            None => generated::set_flags(found, path, text),
        }
        match said.vendored {
            Some(true) => found.set(Flag::Vendored, "linguist-vendored in .gitattributes"),
            Some(false) => {}
            None => vendored::set_flag(found, path),
        }
        if said.documentation == Some(true) {
            found.set(Flag::Docs, "linguist-documentation in .gitattributes");
        }
    }
}

/// What can be seen of a file: its content, or the diff where that is all there is.
fn visible<'a>(file: &RawFile, content: &'a Content) -> Cow<'a, [u8]> {
    match content {
        Content::Whole(content) => Cow::Borrowed(content),
        Content::DiffOnly | Content::Absent | Content::Unreadable(_) => {
            let body = file.hunks.first().and_then(|(_, body)| file.patch.get(body.clone()));
            let gone = if file.change == Change::Deleted { b'+' } else { b'-' };
            let lines = body.unwrap_or_default().lines_with_terminator();
            let lines = lines.filter(|line| !line.starts_with(&[gone]));
            Cow::Owned(lines.filter_map(|line| line.get(1..)).flatten().copied().collect())
        }
    }
}

fn mode_flags(found: &mut Classified, file: &RawFile) {
    if file.new_mode == SYMLINK || (file.change == Change::Deleted && file.old_mode == SYMLINK) {
        found.set(Flag::Symlink, "a symbolic link; its target is its content");
    }
    if file.new_mode == SUBMODULE || file.old_mode == SUBMODULE {
        found.set(Flag::Submodule, "another repository, pinned at a commit");
    }
    let both = file.old_mode != 0 && file.new_mode != 0;
    if both && file.old_mode != file.new_mode && file.change == Change::Modified {
        let reason = format!("mode {:06o} became {:06o}", file.old_mode, file.new_mode);
        found.set(Flag::ModeChange, reason);
    }
}

fn binary_flags(found: &mut Classified, file: &RawFile, content: &Content, text: &[u8]) {
    if let Content::Unreadable(reason) = content {
        found.set(Flag::Binary, format!("cannot be shown: {reason}"));
    } else if file.binary {
        found.set(Flag::Binary, "git calls it binary");
    } else if text[..text.len().min(BINARY_PROBE)].contains(&0) {
        found.set(Flag::Binary, "a NUL byte in its first 8000 bytes");
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, ScopeError> {
    let bad = |pattern: &str, error: &globset::Error| ScopeError::BadPattern {
        pattern: pattern.to_owned(),
        message: error.kind().to_string(),
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| bad(pattern, &error))?);
    }
    set.build().map_err(|error| bad("scope", &error))
}

#[cfg(test)]
mod tests;
