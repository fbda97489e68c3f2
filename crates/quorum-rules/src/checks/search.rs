//! Looking for a name in the rest of the repository, within limits.

use quorum_syntax::Lang;

use super::facts::FileFacts;
use crate::source::{Side, Sources};

/// No more files than this are read for one question.
const MOST_FILES: usize = 400;

/// Whether a name still occurs in code of the same language that the change leaves alone.
pub(crate) fn in_code(
    sources: &dyn Sources,
    lang: Option<Lang>,
    name: &str,
    change: &[FileFacts],
) -> bool {
    sources
        .paths()
        .iter()
        .filter(|path| Lang::from_path(path) == lang && lang.is_some())
        .filter(|path| !change.iter().any(|file| file.path() == path.as_str()))
        .take(MOST_FILES)
        .any(|path| sources.read(path, Side::Head).is_some_and(|text| contains_word(&text, name)))
}

/// Whether `name` stands in the text and not within a longer name.
pub(crate) fn contains_word(text: &str, name: &str) -> bool {
    find_word(text, name).is_some()
}

/// Where `name` stands in the text and not within a longer name.
pub(crate) fn find_word(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
