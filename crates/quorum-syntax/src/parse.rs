//! Parsing with a limit on size and time.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use thiserror::Error;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::Lang;

/// How much one parse may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes.
    pub bytes: usize,
    /// Time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 2 * 1024 * 1024, time: Duration::from_secs(2) }
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
    /// The time was up.
    #[error("parsing took more than {} ms", .limit.as_millis())]
    TooSlow {
        /// What is allowed.
        limit: Duration,
    },
    /// The grammar cannot be used.
    #[error("the grammar for {0} cannot be loaded")]
    Grammar(Lang),
}

/// Parses within the default limits.
pub fn parse(source: &[u8], lang: Lang) -> Result<Tree, ParseError> {
    parse_within(source, lang, Limits::default())
}

/// Parses within the given limits.
pub fn parse_within(source: &[u8], lang: Lang, limits: Limits) -> Result<Tree, ParseError> {
    if source.len() > limits.bytes {
        return Err(ParseError::TooLarge { bytes: source.len(), limit: limits.bytes });
    }
    let mut parser = Parser::new();
    parser.set_language(&lang.grammar()).map_err(|_| ParseError::Grammar(lang))?;
    let start = Instant::now();
    let mut watch = |_: &ParseState| {
        if start.elapsed() > limits.time {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let mut read = |offset: usize, _| source.get(offset..).unwrap_or_default();
    parser
        .parse_with_options(&mut read, None, Some(options))
        .ok_or(ParseError::TooSlow { limit: limits.time })
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
        let limits = Limits { bytes: 10, time: Duration::from_secs(1) };
        let refused = parse_within(b"package main", Lang::Go, limits);
        assert_eq!(refused.err(), Some(ParseError::TooLarge { bytes: 12, limit: 10 }));
        let limits = Limits { bytes: usize::MAX, time: Duration::ZERO };
        let deep = "(".repeat(2_000_000);
        let refused = parse_within(deep.as_bytes(), Lang::Python, limits);
        assert!(matches!(refused, Err(ParseError::TooSlow { .. })));
    }
}
