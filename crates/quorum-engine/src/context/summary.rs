//! What a file declares, in few words.

use std::fmt::Write as _;

use quorum_model::context::ContextKind;
use quorum_model::symbol::SymbolKind;
use quorum_syntax::Limits;
use quorum_syntax::outline::{Declaration, Reader, ReferenceKind, outline};

use crate::context::assemble::{Candidate, Cut};

/// Longer signatures are cut, in bytes.
const LONGEST_SIGNATURE: usize = 160;

/// A file whose declarations are of interest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declaring<'a> {
    /// The file.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its language by Linguist's name, where it is known.
    pub language: Option<&'a str>,
}

/// What a file declares and what it imports, read once for all that ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    signatures: String,
    tests: String,
    /// The names that it imports, as they are written.
    pub imports: Vec<String>,
}

impl Summary {
    /// Reads `file`; a file that cannot be read as code declares nothing.
    pub(crate) fn of(file: Declaring<'_>) -> Self {
        let reader = Reader::of(file.language, file.path);
        let Ok(found) = outline(file.text.as_bytes(), reader, Limits::default()) else {
            return Self::default();
        };
        let imports = found.references.iter();
        let imports = imports
            .filter(|reference| reference.kind == ReferenceKind::Import)
            .map(|import| import.name.clone())
            .collect();
        // Headings of prose and keys of settings are no signatures.
        if !matches!(reader, Reader::Tree(_) | Reader::Sql) {
            return Self { imports, ..Self::default() };
        }
        let all = &found.declarations;
        let tests = told(all, |kind| kind.is_callable() || kind.is_type());
        Self { signatures: told(all, |_| true), tests, imports }
    }

    /// The signatures of the file at `path`, for `reason`; absent where it declares nothing.
    pub(crate) fn signatures(&self, path: &str, reason: &str) -> Option<Candidate> {
        candidate(&self.signatures, path, reason, ContextKind::Summary)
    }

    /// The tests of the file at `path`, for `reason`; absent where it has none.
    pub(crate) fn tests(&self, path: &str, reason: &str) -> Option<Candidate> {
        candidate(&self.tests, path, reason, ContextKind::Test)
    }
}

fn candidate(text: &str, path: &str, reason: &str, kind: ContextKind) -> Option<Candidate> {
    let (source, reason, text) = (path.to_owned(), reason.to_owned(), text.to_owned());
    (!text.is_empty()).then_some(Candidate { kind, source, reason, text, cut: Cut::Lines })
}

/// A line for each declaration of a wanted kind, with where it stands.
fn told(all: &[Declaration], wanted: impl Fn(SymbolKind) -> bool) -> String {
    let mut text = String::new();
    for declaration in all.iter().filter(|one| wanted(one.kind) && is_signature(one.kind)) {
        // What stands in a function is its own affair.
        if inside_function(declaration, all) {
            continue;
        }
        let depth = depth(declaration, all);
        let signature = &declaration.signature;
        let cut = signature.floor_char_boundary(LONGEST_SIGNATURE);
        let more = if cut < signature.len() { " …" } else { "" };
        // Writing to a string cannot fail.
        _ = writeln!(
            text,
            "{:>5} {}{}{more}",
            declaration.line,
            "  ".repeat(depth),
            &signature[..cut]
        );
    }
    text
}

fn is_signature(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Heading | SymbolKind::Key | SymbolKind::Block)
}

fn parents<'d>(
    declaration: &'d Declaration,
    all: &'d [Declaration],
) -> impl Iterator<Item = &'d Declaration> {
    let parent = |one: &&'d Declaration| one.parent.and_then(|index| all.get(index));
    std::iter::successors(parent(&declaration), move |one| parent(one)).take(16)
}

fn depth(declaration: &Declaration, all: &[Declaration]) -> usize {
    parents(declaration, all).count()
}

fn inside_function(declaration: &Declaration, all: &[Declaration]) -> bool {
    parents(declaration, all).any(|parent| parent.kind.is_callable())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &'static str, text: &'static str) -> Option<String> {
        let file = Declaring { path, text, language: None };
        Summary::of(file).signatures(path, "changed").map(|candidate| candidate.text)
    }

    #[test]
    fn a_file_is_told_by_its_signatures() {
        let text = "pub struct A {\n    x: u32,\n}\n\nimpl A {\n    pub fn f(&self) -> u32 {\n        fn inner() {}\n        1\n    }\n}\n";
        let told = of("a.rs", text).expect("it declares something");
        assert!(told.contains("    1 pub struct A"), "{told}");
        assert!(told.contains("pub fn f(&self) -> u32"), "{told}");
        assert!(!told.contains("inner"), "{told}");
        assert_eq!(of("a.md", "# Heading\n"), None);
        assert_eq!(of("a.toml", "[a]\nb = 1\n"), None);
        assert_eq!(of("empty.rs", ""), None);
    }
}
