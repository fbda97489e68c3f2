//! What a file declares, and what it refers to.
//!
//! Languages with a grammar are read from their syntax tree by a table of node kinds
//! (`languages`); four more are read line by line (`text`), because a grammar would cost more bytes
//! in the binary than it would find. Nothing recurses, so that deeply nested source costs memory in
//! proportion to its length and nothing else.

mod doc;
mod imports;
mod languages;
mod names;
mod spec;
mod text;
mod visibility;
mod walk;

#[cfg(test)]
mod tests;

use std::ops::Range;

use quorum_model::symbol::{SymbolKind, Visibility};

use crate::{Lang, Limits, ParseError, parse_within};

/// How the structure of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    /// By its syntax tree.
    Tree(Lang),
    /// Markdown, by headings.
    Markdown,
    /// TOML, by tables and keys.
    Toml,
    /// Dockerfiles, by stages.
    Dockerfile,
    /// SQL, by statements that create something.
    Sql,
    /// Anything else, as text.
    Text,
}

impl Reader {
    /// How a file is read, by the name that Linguist has for its language and by its path.
    pub fn of(language: Option<&str>, path: &str) -> Self {
        match language.map(str::to_ascii_lowercase).as_deref() {
            Some("markdown" | "mdx" | "rmarkdown") => Self::Markdown,
            Some("toml") => Self::Toml,
            Some("dockerfile" | "containerfile") => Self::Dockerfile,
            Some("sql" | "plpgsql" | "plsql" | "tsql" | "sqlpl") => Self::Sql,
            Some(name) => Lang::from_name(name).map_or(Self::Text, Self::Tree),
            None => Lang::from_path(path).map_or(Self::Text, Self::Tree),
        }
    }
}

/// What a file declares, and what it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In the order in which they start.
    pub declarations: Vec<Declaration>,
    /// In the order of the file.
    pub references: Vec<Reference>,
}

/// One declaration. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Its own name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The declaration that it stands in, as an index into the list.
    pub parent: Option<usize>,
    /// What it stands in where that is no declaration of this file: the type of an `impl` block or
    /// of a receiver.
    pub scope: Option<String>,
    /// The declaration without its body, on one line.
    pub signature: String,
    /// The comment that documents it, without comment marks.
    pub doc: Option<String>,
    /// The lines of that comment.
    pub doc_lines: Option<Range<u32>>,
    /// Who can use it.
    pub visibility: Visibility,
    /// The line of the name.
    pub line: u32,
    /// First line, with attributes and the comment above.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
}

/// One use of a name that is declared elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name; of an import, the module as it is written.
    pub name: String,
    /// What stands before the name, where that is one plain name.
    pub qualifier: Option<String>,
    /// What sort of use it is.
    pub kind: ReferenceKind,
    /// The line.
    pub line: u32,
    /// The declaration that it stands in.
    pub within: Option<usize>,
}

/// What sort of use a reference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// A call, or the making of a value of a type.
    Call,
    /// A type that is named.
    Type,
    /// A module, package or file that is imported.
    Import,
}

/// The outline of `source`.
pub fn outline(source: &[u8], reader: Reader, limits: Limits) -> Result<Outline, ParseError> {
    match reader {
        Reader::Tree(lang) => {
            let tree = parse_within(source, lang, limits)?;
            Ok(walk::walk(&tree, source, lang))
        }
        Reader::Markdown => Ok(text::markdown(source)),
        Reader::Toml => Ok(text::toml(source)),
        Reader::Dockerfile => Ok(text::dockerfile(source)),
        Reader::Sql => Ok(text::sql(source)),
        Reader::Text => Ok(Outline::default()),
    }
}
