//! Regular expressions of rules.

use std::sync::OnceLock;

use regex::Regex;
use regex_syntax::ast::parse::Parser;

use super::shape::KeyError;

/// Longer ones are compiled at once: only these, and those that count, can grow too large.
const LONGEST_LAZY: usize = 512;

/// A regular expression that is compiled when it is first asked.
///
/// There are more than a thousand of them, and one review needs few: compiling them all would take
/// longer than reviewing a small change.
#[derive(Debug)]
pub(crate) struct Expression {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Expression {
    /// Checks an expression; the error says what is wrong with it.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let compiled = OnceLock::new();
        if text.contains('{') || text.len() > LONGEST_LAZY {
            let regex = Regex::new(text).map_err(|error| error.to_string())?;
            compiled.get_or_init(|| Some(regex));
        } else {
            Parser::new().parse(text).map_err(|error| error.to_string())?;
        }
        Ok(Self { text: text.to_owned(), compiled })
    }

    /// The expression of a key, where it has one.
    pub(crate) fn of(key: &str, text: Option<&str>) -> Result<Option<Self>, KeyError> {
        text.map(|text| Self::new(text).map_err(|why| (key.to_owned(), why))).transpose()
    }

    /// Whether it occurs in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| Regex::new(&self.text).ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_expression_is_an_error_at_once() {
        for wrong in ["(", "a{2", r"\p{Nothing}", "[b-a]", "*", "(?:a{1000}){1000}{1000}"] {
            assert!(Expression::new(wrong).is_err(), "{wrong}");
        }
        for right in ["", "(?i)^a+$", r"\bx{2,3}\b", r"[\w.-]+", r"\d\s\W"] {
            let expression = Expression::new(right).expect(right);
            let reference = Regex::new(right).expect(right);
            for text in ["", "A", "xx", "a.b", "1 -"] {
                assert_eq!(expression.is_match(text), reference.is_match(text), "{right} {text}");
            }
        }
    }
}
