//! Token counts that are remembered between runs.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use quorum_model::config::Tokenizer;

/// Beyond this many entries only those of the present run are kept.
const MOST_ENTRIES: usize = 200_000;

/// Token counts by blob id, in one file that is safe to delete.
///
/// A blob id names its content, so an entry is never stale. Two processes may write at once: the
/// file appears whole, the later one wins, and what the other learnt is counted again some day.
#[derive(Debug)]
pub struct TokenCache {
    path: Option<PathBuf>,
    known: HashMap<String, u64>,
    learnt: Mutex<HashMap<String, u64>>,
}

impl TokenCache {
    /// Reads the cache for `tokenizer` in `folder`; an unreadable file is an empty cache.
    pub fn open(folder: &Path, tokenizer: Tokenizer) -> Self {
        let path = folder.join(format!("tokens-{}.v1", tokenizer.as_str()));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let known = text.lines().filter_map(parse_entry).collect();
        Self { path: Some(path), known, learnt: Mutex::default() }
    }

    /// Like [`Self::open`], and nothing is written.
    pub fn read_only(folder: &Path, tokenizer: Tokenizer) -> Self {
        Self { path: None, ..Self::open(folder, tokenizer) }
    }

    /// A cache that remembers nothing.
    pub fn disabled() -> Self {
        Self { path: None, known: HashMap::new(), learnt: Mutex::default() }
    }

    /// The tokens of blob `id`, counted by `count` unless they are known.
    pub fn count(&self, id: &str, count: impl FnOnce() -> u64) -> u64 {
        if let Some(&tokens) = self.known.get(id) {
            return tokens;
        }
        let tokens = count();
        if self.path.is_some()
            && let Ok(mut learnt) = self.learnt.lock()
        {
            learnt.insert(id.to_owned(), tokens);
        }
        tokens
    }

    /// Writes what was learnt. A cache that cannot be written is not an error.
    pub fn save(self) {
        let Some(path) = self.path else { return };
        let learnt = self.learnt.into_inner().unwrap_or_default();
        if learnt.is_empty() {
            return;
        }
        let known = if self.known.len() + learnt.len() > MOST_ENTRIES {
            HashMap::new()
        } else {
            self.known
        };
        let mut text = Vec::new();
        for (id, tokens) in known.iter().chain(&learnt) {
            text.extend_from_slice(format!("{id} {tokens}\n").as_bytes());
        }
        drop(write_whole(&path, &text));
    }
}

fn parse_entry(line: &str) -> Option<(String, u64)> {
    let (id, tokens) = line.split_once(' ')?;
    Some((id.to_owned(), tokens.parse().ok()?))
}

fn write_whole(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = TokenCache::open(folder.path(), Tokenizer::O200k);
        assert_eq!(cache.count("aa", || 7), 7);
        cache.save();
        let cache = TokenCache::open(folder.path(), Tokenizer::O200k);
        assert_eq!(cache.count("aa", || unreachable!("it is known")), 7);
        assert_eq!(cache.count("bb", || 9), 9);
    }

    #[test]
    fn tokenizers_do_not_share_counts() {
        let folder = tempfile::tempdir().unwrap();
        let cache = TokenCache::open(folder.path(), Tokenizer::O200k);
        cache.count("aa", || 7);
        cache.save();
        let cache = TokenCache::open(folder.path(), Tokenizer::Cl100k);
        assert_eq!(cache.count("aa", || 8), 8);
    }

    #[test]
    fn a_damaged_file_loses_entries_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tokens-o200k.v1"), "aa 7\nbb\ncc x\n\u{fffd}").unwrap();
        let cache = TokenCache::open(folder.path(), Tokenizer::O200k);
        assert_eq!(cache.count("aa", || 0), 7);
        assert_eq!(cache.count("bb", || 1), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_error() {
        let cache = TokenCache::open(Path::new("/nonexistent/folder"), Tokenizer::O200k);
        assert_eq!(cache.count("aa", || 7), 7);
        cache.save();
    }
}
