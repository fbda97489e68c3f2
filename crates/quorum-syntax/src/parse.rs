//! Parsing with a limit on size, work and depth.

use std::ops::ControlFlow;

use thiserror::Error;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::shallow::{self, Rows};
use crate::{Lang, bear, php};

/// How much one parse may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes.
    pub bytes: usize,
    /// Levels of the tree. What lies deeper is left out of it.
    pub depth: usize,
    /// How often the parser may report its progress for each 100 bytes, and once more for every
    /// parse. It reports after a fixed number of operations, so that the limit is met at the same
    /// place on every machine.
    pub reports: usize,
}

/// Reports that every parse may make, however short the source is.
const FREE_REPORTS: usize = 2_000;

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 8 * 1024 * 1024, depth: 500, reports: 20 }
    }
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// More bytes than the limit.
    #[error("{bytes} bytes of source are more than are parsed ({limit})")]
    TooLarge {
        /// What there is.
        bytes: usize,
        /// What is allowed.
        limit: usize,
    },
    /// The parser needed more steps than source of this size may take.
    #[error("parsing {bytes} bytes takes more steps than are allowed")]
    TooInvolved {
        /// What there is.
        bytes: usize,
    },
    /// The tree is deeper than the limit, also without what is deepest in it.
    #[error("the code is nested more than {limit} levels deep")]
    TooDeep {
        /// What is allowed.
        limit: usize,
    },
    /// The grammar cannot be used.
    #[error("the grammar for {0} cannot be loaded")]
    Grammar(Lang),
}

/// A tree, and the lines that it says nothing about.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree. Its positions are those of the source.
    pub tree: Tree,
    /// Lines with code that is nested too deep and is left out of the tree.
    pub too_deep: Rows,
    /// Lines that the grammar does not understand.
    pub unread: Rows,
}

impl Parsed {
    /// Adds lines of which something was left out before they were parsed.
    fn name_too_deep(&mut self, rows: Rows) {
        self.too_deep = shallow::merged(rows.into_iter().chain(self.too_deep.drain(..)).collect());
        let too_deep = &self.too_deep;
        self.unread.retain(|rows| !shallow::meets(too_deep, *rows));
    }
}

/// Parses within the default limits.
pub fn parse(source: &[u8], lang: Lang) -> Result<Tree, ParseError> {
    parse_within(source, lang, Limits::default())
}

/// Parses within the given limits.
pub fn parse_within(source: &[u8], lang: Lang, limits: Limits) -> Result<Tree, ParseError> {
    Ok(read_within(source, lang, limits)?.tree)
}

/// Parses within the given limits, and says what is not in the tree.
pub fn read_within(source: &[u8], lang: Lang, limits: Limits) -> Result<Parsed, ParseError> {
    if source.len() > limits.bytes {
        return Err(ParseError::TooLarge { bytes: source.len(), limit: limits.bytes });
    }
    let mut parser = Parser::new();
    parser.set_language(&lang.grammar()).map_err(|_| ParseError::Grammar(lang))?;
    let page = (lang == Lang::Php).then(|| php::without_html(source)).flatten();
    let source = page.as_deref().unwrap_or(source);
    let filler = if lang == Lang::Json { b'0' } else { b'a' };
    if bear::is_endless(source, lang) {
        return Err(ParseError::TooInvolved { bytes: source.len() });
    }
    let out = bear::unbearable(source, lang);
    let parse = |source: &[u8]| tree(&mut parser, source, limits);
    if out.is_empty() {
        return shallow::read(source, limits.depth, filler, parse);
    }
    // A name is one token, where blanks are looked at one by one wherever a grammar is at a loss.
    let name = matches!(lang, Lang::Hcl | Lang::Java | Lang::CSharp);
    let (source, rows) = shallow::without(source, &out, if name { b'a' } else { b' ' });
    let mut parsed = shallow::read(&source, limits.depth, filler, parse)?;
    parsed.name_too_deep(rows);
    Ok(parsed)
}

fn tree(parser: &mut Parser, source: &[u8], limits: Limits) -> Result<Tree, ParseError> {
    let mut left = FREE_REPORTS.saturating_add((source.len() / 100).saturating_mul(limits.reports));
    let mut watch = |_: &ParseState| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let mut read = |offset: usize, _| source.get(offset..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree.ok_or(ParseError::TooInvolved { bytes: source.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_becomes_a_tree() {
        let tree = parse(b"package p\nfunc f() {}\n", Lang::Go).expect("it parses");
        assert!(!tree.root_node().has_error());
        assert_eq!(
            tree.root_node().named_child(1).expect("a function").kind(),
            "function_declaration"
        );
    }

    #[test]
    fn limits_are_kept() {
        let limits = Limits { bytes: 10, ..Limits::default() };
        let refused = parse_within(b"package main", Lang::Go, limits);
        assert_eq!(refused.err(), Some(ParseError::TooLarge { bytes: 12, limit: 10 }));
        let limits = Limits { reports: 0, ..Limits::default() };
        let deep = "(".repeat(2_000_000);
        let refused = parse_within(deep.as_bytes(), Lang::Python, limits);
        assert!(matches!(refused, Err(ParseError::TooInvolved { .. })));
    }
}
