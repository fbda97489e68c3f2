//! Finding declarations by their name.

use std::collections::HashMap;

use crate::analyze::NAME;
use crate::error::IndexError;
use crate::index::Index;
use crate::rank::Filter;
use crate::record::Record;
use crate::terms;

/// As many declarations of one name are looked at.
const MOST_NAMED: usize = 200;

/// As many longer names that begin with a name are looked at.
const MOST_LONGER: u32 = 24;

impl Index {
    /// Docs that declare what the query names, the best first, each with the symbol.
    pub(crate) fn by_name(
        &self,
        text: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<(u32, u32)>, IndexError> {
        let mut finder = Finder { index: self, filter, records: HashMap::new(), found: Vec::new() };
        for wanted in Wanted::of(text) {
            let folded = terms::folded(wanted.name);
            if folded.is_empty() {
                continue;
            }
            finder.declarations(&folded, false, &wanted)?;
            if wanted.alone && folded.len() > 2 {
                for term in self.store.terms(&format!("{NAME}{folded}"), MOST_LONGER)? {
                    let longer = &term[NAME.len_utf8()..];
                    if longer != folded && finder.found.len() < MOST_NAMED {
                        finder.declarations(longer, true, &wanted)?;
                    }
                }
            }
        }
        let mut found = finder.found;
        found.sort();
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, doc, symbol)| (doc, symbol)).collect())
    }
}

struct Finder<'a> {
    index: &'a Index,
    filter: &'a Filter,
    records: HashMap<i64, Record>,
    found: Vec<(NameRank, u32, u32)>,
}

impl Finder<'_> {
    /// Notes every declaration whose folded name is `folded`.
    fn declarations(
        &mut self,
        folded: &str,
        longer: bool,
        wanted: &Wanted<'_>,
    ) -> Result<(), IndexError> {
        let index = self.index;
        let docs = index.store.postings(&format!("{NAME}{folded}"))?;
        let docs = docs.into_iter().filter(|(doc, _)| index.length(*doc) > 0).take(MOST_NAMED);
        for (doc, _) in docs {
            let mut files = index.catalog.files_of(doc);
            let Some(file) = files.find(|file| self.filter.admits(file)) else { continue };
            let Some(blob) = file.blob else { continue };
            let record = index.record(blob, &mut self.records)?;
            let Some(span) = record.docs.get((doc - file.first_doc) as usize) else { continue };
            for (number, symbol) in (0..).zip(&record.symbols) {
                let here = (span.start_line..=span.end_line).contains(&symbol.line);
                if !here || terms::folded(&symbol.name) != folded {
                    continue;
                }
                let container = record.container(symbol).unwrap_or_default();
                let within = wanted.container.is_none_or(|wanted| {
                    container.split('.').any(|part| part.eq_ignore_ascii_case(wanted))
                });
                let kind = symbol.kind();
                let rank = NameRank {
                    longer,
                    elsewhere: !within,
                    other_case: symbol.name != wanted.name,
                    minor: !kind.is_callable() && !kind.is_type(),
                    aside: file.aside || file.vendored,
                    path: file.shown(),
                    line: symbol.line,
                };
                if within {
                    self.found.push((rank, doc, number));
                }
            }
        }
        Ok(())
    }
}

/// How well a declaration answers to a name; the least is the best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, in this order")]
struct NameRank {
    longer: bool,
    elsewhere: bool,
    other_case: bool,
    minor: bool,
    aside: bool,
    path: String,
    line: u32,
}

/// A name in a query.
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    pub(crate) container: Option<&'a str>,
    /// Whether it is the whole query, so that it may be the beginning of a name.
    alone: bool,
}

impl<'a> Wanted<'a> {
    /// The names in a query: all of it, and every word that looks like an identifier.
    fn of(text: &'a str) -> Vec<Self> {
        let text = text.trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() == 1 {
            return Self::word(text, true).into_iter().collect();
        }
        let mut found = Vec::new();
        if words.len() <= 4 {
            found.push(Self { name: text, container: None, alone: false });
        }
        let identifiers = words.iter().filter(|word| is_identifier(word)).take(8);
        found.extend(identifiers.filter_map(|word| Self::word(word, false)));
        found
    }

    pub(crate) fn word(word: &'a str, alone: bool) -> Option<Self> {
        let word = word.trim_end_matches("()").trim_matches(['`', '"', '\'', ',', ';', ':', '.']);
        let separators = ["::", "->", ".", "#"];
        let last = separators.iter().filter_map(|s| word.rfind(s).map(|at| (at, s.len()))).max();
        let Some((at, length)) = last else {
            return (!word.is_empty()).then_some(Self { name: word, container: None, alone });
        };
        let (before, name) = (&word[..at], &word[at + length..]);
        let container = before.rsplit(['.', ':', '#', '>', '-', '/']).next();
        let container = container.filter(|container| !container.is_empty());
        (!name.is_empty()).then_some(Self { name, container, alone })
    }
}

/// Whether a word of a query is code rather than English.
fn is_identifier(word: &str) -> bool {
    let inner_capital =
        word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
    let call = word.ends_with("()");
    word.contains('_') || word.contains("::") || inner_capital || call
}
