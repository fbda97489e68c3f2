//! From a content to its record and its terms.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use quorum_syntax::Limits;
use quorum_syntax::outline::{Outline, Reader, ReferenceKind, outline};

use crate::catalog::SYMBOL;
use crate::chunk::{self, Text};
use crate::counter::Counter;
use crate::postings::Terms;
use crate::record::Record;
use crate::terms;

/// Marks a term that is the name of a declaration.
pub(crate) const NAME: char = '\u{1}';
/// Marks a term that is the name in a call.
pub(crate) const CALL: char = '\u{2}';

/// How much more a word counts in a declaration's own name than in its body.
const NAME_WEIGHT: u32 = 10;
/// How much more a word counts in the name of what a declaration stands in.
const CONTAINER_WEIGHT: u32 = 2;

/// A shorter doc counts as long as this: three lines that hold a word are not about it.
const SHORTEST_DOC: u32 = 16;

/// A content, read.
#[derive(Debug)]
pub(crate) struct Analyzed {
    pub(crate) record: Record,
    /// Words in each doc.
    pub(crate) lengths: Vec<u16>,
    /// Every term with the docs that it is in and how often.
    pub(crate) terms: Terms,
}

/// Reads `content`. A text that cannot be parsed within the limits is read as text, and the record
/// says so.
pub(crate) fn analyze(
    content: &[u8],
    reader: Reader,
    limits: Limits,
    counter: Counter,
) -> Analyzed {
    let (found, note) = match outline(content, reader, limits) {
        Ok(found) => (found, None),
        Err(error) => (Outline::default(), Some(error.to_string())),
    };
    let text = Text::new(content);
    let mut record = Record {
        lines: text.lines(),
        note,
        symbols: found.declarations.into_iter().map(Into::into).collect(),
        references: found.references.into_iter().map(Into::into).collect(),
        ..Record::default()
    };
    let pieces = chunk::pieces(&text, &record.symbols, counter);
    record.tokens = counter.count(content);
    record.docs = pieces.docs;
    record.chunks = pieces.chunks;
    let mut bag = Bag::default();
    let mut lengths = Vec::with_capacity(record.docs.len());
    for (index, own) in pieces.own.iter().enumerate() {
        let Ok(doc) = u32::try_from(index) else { break };
        let length: u32 = text.own(own).map(|part| bag.add_text(doc, part)).sum();
        bag.add_symbol(doc, &record);
        let length = u16::try_from(length.max(SHORTEST_DOC)).unwrap_or(u16::MAX).min(SYMBOL - 1);
        let symbol = record.docs.get(index).is_some_and(|doc| doc.symbol.is_some());
        lengths.push(if symbol { length | SYMBOL } else { length });
    }
    bag.add_names(&record);
    Analyzed { record, lengths, terms: bag.terms() }
}

/// Terms with the docs that they are in.
#[derive(Default)]
struct Bag {
    numbers: HashMap<Box<str>, u32, RandomState>,
    postings: Vec<Vec<(u32, u8)>>,
    /// The terms of words already seen: most words of a file come again.
    words: HashMap<Box<str>, Vec<u32>, RandomState>,
    buffer: String,
}

impl Bag {
    fn number(&mut self, term: &str) -> u32 {
        if let Some(&number) = self.numbers.get(term) {
            return number;
        }
        let number = u32::try_from(self.postings.len()).unwrap_or(u32::MAX);
        self.numbers.insert(term.into(), number);
        self.postings.push(Vec::new());
        number
    }

    fn count(&mut self, doc: u32, number: u32, times: u32) {
        let Some(list) = self.postings.get_mut(number as usize) else { return };
        let times = u8::try_from(times).unwrap_or(u8::MAX);
        match list.last_mut() {
            Some((last, count)) if *last == doc => *count = count.saturating_add(times),
            _ => list.push((doc, times)),
        }
    }

    fn add_word(&mut self, doc: u32, word: &str, times: u32) {
        if !self.words.contains_key(word) {
            let mut buffer = std::mem::take(&mut self.buffer);
            let mut numbers = Vec::new();
            terms::each_term_of_word(word, &mut buffer, &mut |term: &str| {
                numbers.push(self.number(term));
            });
            self.buffer = buffer;
            self.words.insert(word.into(), numbers);
        }
        let numbers = self.words.get(word).map_or(&[][..], Vec::as_slice);
        for number in numbers {
            let Some(list) = self.postings.get_mut(*number as usize) else { continue };
            let times = u8::try_from(times).unwrap_or(u8::MAX);
            match list.last_mut() {
                Some((last, count)) if *last == doc => *count = count.saturating_add(times),
                _ => list.push((doc, times)),
            }
        }
    }

    /// Counts the words of `text` and returns how many there are.
    fn add_text(&mut self, doc: u32, text: &[u8]) -> u32 {
        let mut count = 0;
        for word in terms::words(text) {
            self.add_word(doc, word, 1);
            count += 1;
        }
        count
    }

    /// The name of a doc's symbol, and the names that it stands in, count more.
    fn add_symbol(&mut self, doc: u32, record: &Record) {
        let symbol = record.docs.get(doc as usize).and_then(|doc| doc.symbol);
        let Some(symbol) = symbol.and_then(|index| record.symbol_at(index)) else { return };
        for word in terms::words(symbol.name.as_bytes()) {
            self.add_word(doc, word, NAME_WEIGHT);
        }
        for word in terms::words(record.container(symbol).unwrap_or_default().as_bytes()) {
            self.add_word(doc, word, CONTAINER_WEIGHT);
        }
    }

    /// Names of declarations and of calls, each in the doc that they stand in.
    fn add_names(&mut self, record: &Record) {
        let doc_of = |line: u32| {
            // Docs are sorted by their start and nested: the last one that holds the line is it.
            let after = record.docs.partition_point(|doc| doc.start_line <= line);
            let holds = |doc: &crate::record::Doc| doc.end_line >= line;
            record.docs[..after].iter().rposition(holds).and_then(|index| u32::try_from(index).ok())
        };
        let mut found: Vec<(String, u32)> = Vec::new();
        for symbol in &record.symbols {
            if let Some(doc) = doc_of(symbol.line) {
                found.push((format!("{NAME}{}", terms::folded(&symbol.name)), doc));
            }
        }
        for reference in &record.references {
            if reference.kind() != ReferenceKind::Import
                && let Some(doc) = doc_of(reference.line)
            {
                found.push((format!("{CALL}{}", reference.name), doc));
            }
        }
        found.sort();
        found.dedup();
        for (term, doc) in found {
            let number = self.number(&term);
            self.count(doc, number, 1);
        }
    }

    fn terms(self) -> Terms {
        let mut postings = self.postings;
        let terms = self.numbers.into_iter().map(|(term, number)| {
            let list = postings.get_mut(number as usize).map(std::mem::take);
            (term, list.unwrap_or_default())
        });
        terms.collect()
    }
}
