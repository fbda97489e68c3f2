//! The files of a diff from elsewhere.

use std::collections::HashMap;

use bstr::BString;
use quorum_model::scope::Change;

use super::{ContentSource, Files, RawFile, SUBMODULE, admitted, paths_of, take_patch};
use crate::diff::{PatchFile, PatchReader};
use crate::error::ScopeError;
use crate::paths::PathFilter;

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
        _ => {
            // Whoever wrote the diff wrote the id: it names a blob and nothing else.
            let id = patch.new_id.as_ref().filter(|id| id.iter().all(u8::is_ascii_hexdigit));
            ContentSource::Patch(id.filter(|id| !id.is_empty()).map(ToString::to_string))
        }
    }
}

/// Opens the files of a diff from elsewhere.
pub(super) fn open(text: &[u8], filter: &PathFilter) -> Result<Files, ScopeError> {
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
            old_id: None,
            binary: false,
            decoded: None,
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
