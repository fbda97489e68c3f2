//! What a file is: its language, its kind, and what is special about it, each with a reason.

mod generated;
mod language;
mod lock;
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

pub use language::is_named_as_text;
pub(crate) use language::is_page;
pub(crate) use words::words;

/// As much of a file as is looked at to name its language.
const LANGUAGE_PROBE: usize = 64 * 1024;

/// The language of the file at `path`, whose content starts with `text`.
pub(crate) fn language_of(path: &str, text: &str) -> Option<String> {
    language::detect(path, text).map(|language| language.name.to_owned())
}

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

impl Classified {
    /// Whether reviewers look at it as they look at a file that is `other`.
    fn is_judged_like(&self, other: &Self) -> bool {
        let flags = [Flag::Test, Flag::Docs, Flag::Vendored, Flag::Generated, Flag::Minified];
        let language = self.language == other.language && self.kind == other.kind;
        language && flags.iter().all(|flag| self.has(*flag) == other.has(*flag))
    }
}

impl Classifier {
    /// Whether a new name makes another file of it: notes become code, or a test the product. Its
    /// lines were never looked at as what they are now.
    pub fn becomes_another(&self, file: &RawFile, content: &Content, found: &Classified) -> bool {
        let Some(old) = &file.old_path else { return false };
        let is_example = |path: &BString| {
            let path = path.to_str_lossy().to_ascii_lowercase();
            let names = ["example", "examples", "sample", "samples", "demo", "demos"];
            path.split('/').any(|part| names.contains(&part))
        };
        let before = RawFile { path: old.clone(), old_path: None, ..file.clone() };
        let before = self.classify(&before, content, None);
        !before.is_judged_like(found) || is_example(old) && !is_example(&file.path)
    }

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
    ///
    /// `before` is the text that the repository had there already. What a file says of itself, that
    /// a program wrote it, counts only where that text says so too: a change could bring such words
    /// to keep its code from reviewers.
    pub fn classify(&self, file: &RawFile, content: &Content, before: Option<&[u8]>) -> Classified {
        let path = file.path.to_str_lossy();
        let text = visible(file, content);
        let text: &[u8] = &text;
        let probe = &text[..text.len().min(LANGUAGE_PROBE)];
        let mut found = Classified { language: None, kind: FileKind::Text, flags: BTreeMap::new() };
        mode_flags(&mut found, file);
        if found.has(Flag::Symlink) && file.change != Change::Deleted {
            link_flags(&mut found, &path, &probe.to_str_lossy());
        }
        unread_flags(&mut found, content);
        if !found.has(Flag::Submodule) && !found.has(Flag::Symlink) {
            let language = language::detect(&path, &probe.to_str_lossy());
            found.kind = language::kind(&path, language.as_ref());
            found.language = language.map(|language| language.name.to_owned());
        }
        if found.has(Flag::Binary) {
            found.kind = FileKind::Binary;
            found.language = None;
        } else if let Some(how) = &file.decoded {
            found.set(Flag::NonUtf8, how.clone());
        }
        role::set_flags(&mut found, &path);
        if !found.has(Flag::Binary) || found.has(Flag::Unreadable) {
            let shown = match content {
                Content::Whole(_) => generated::Shown::Whole(text),
                _ => generated::Shown::Part(text),
            };
            self.written_by(&mut found, file, &path, (shown, before));
        }
        sensitive::set_flag(&mut found, &path);
        if self.sensitive.is_match(path.as_ref()) {
            found.set(Flag::SecuritySensitive, "named in scope.security_sensitive");
        }
        found
    }

    /// Generated, vendored, minified, and what `.gitattributes` says of it, which wins.
    fn written_by(
        &self,
        found: &mut Classified,
        file: &RawFile,
        path: &str,
        (text, before): (generated::Shown<'_>, Option<&[u8]>),
    ) {
        let said = self.attributes.get(&file.path).copied().unwrap_or_default();
        match said.generated {
            Some(true) => found.set(Flag::Generated, "linguist-generated in .gitattributes"),
            Some(false) => {}
            None if self.generated.is_match(path) => {
                found.set(Flag::Generated, "named in scope.generated");
            }
            None => generated::set_flags(found, path, text, before),
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
        Content::Media(_) => Cow::Borrowed(&[]),
        Content::DiffOnly | Content::Absent | Content::Unreadable(_) => {
            let gone = if file.change == Change::Deleted { b'+' } else { b'-' };
            let bodies = file.hunks.iter().filter_map(|(_, body)| file.patch.get(body.clone()));
            let lines = bodies.flat_map(ByteSlice::lines_with_terminator);
            let lines = lines.filter(|line| !line.starts_with(&[gone]) && !line.starts_with(b"\\"));
            Cow::Owned(lines.filter_map(|line| line.get(1..)).flatten().copied().collect())
        }
    }
}

/// A link gives what it points to another name, and programs go by that name.
fn link_flags(found: &mut Classified, path: &str, target: &str) {
    if !language::is_named_as_code(path) {
        return;
    }
    let mut depth = path.matches('/').count();
    let mut outside = target.starts_with('/') || target.contains('\\');
    for part in target.split('/') {
        match part {
            ".." if depth == 0 => outside = true,
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
    }
    if outside {
        found.set(Flag::Unreadable, "a link to code outside of the repository");
    } else if !language::is_named_as_code(target) {
        found.set(Flag::Unreadable, "a link that makes code of a file with another ending");
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

fn unread_flags(found: &mut Classified, content: &Content) {
    match content {
        Content::Unreadable(reason) => {
            found.set(Flag::Unreadable, reason.clone());
            if found.has(Flag::Submodule) {
                return;
            }
            found.set(Flag::Binary, format!("cannot be shown: {reason}"));
        }
        Content::Media(what) => {
            found.set(Flag::Media, format!("{what}, by its bytes and its ending"));
            found.set(Flag::Binary, format!("{what}, by its bytes and its ending"));
        }
        Content::Whole(_) | Content::DiffOnly | Content::Absent => {}
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
