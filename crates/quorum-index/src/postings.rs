//! Which docs a term is in, and how often, in few bytes.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Appends `value` in seven bits a byte, the lowest first.
fn push_number(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}

/// Reads what [`push_number`] wrote; absent at the end and where the bytes are damaged.
fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Terms, each with the docs that it is in and how often.
pub(crate) type Terms = Vec<(Box<str>, Vec<(u32, u8)>)>;

/// A list of docs, in increasing order, each with a count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    bytes: Vec<u8>,
    last: u32,
}

impl Postings {
    pub(crate) fn push(&mut self, doc: u32, count: u8) {
        // A count of one is so common that it rides along.
        let delta = doc.wrapping_sub(self.last);
        let one = u32::from(count == 1);
        push_number(&mut self.bytes, (delta << 1) | one);
        if count != 1 {
            self.bytes.push(count);
        }
        self.last = doc;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The docs and counts in `bytes`.
pub(crate) fn read(bytes: &[u8]) -> impl Iterator<Item = (u32, u8)> {
    let mut rest = bytes;
    let mut last = 0_u32;
    std::iter::from_fn(move || {
        let value = take_number(&mut rest)?;
        last = last.wrapping_add(value >> 1);
        if value & 1 == 1 {
            return Some((last, 1));
        }
        let (&count, tail) = rest.split_first()?;
        rest = tail;
        Some((last, count))
    })
}

/// Terms with their postings, before they are written.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    terms: HashMap<Box<str>, Postings, RandomState>,
}

impl Builder {
    /// Adds the terms of one content, whose docs are numbered from `first`.
    pub(crate) fn add(&mut self, first: u32, terms: Terms) {
        for (term, docs) in terms {
            let postings = self.terms.entry(term).or_default();
            for (doc, count) in docs {
                postings.push(first + doc, count);
            }
        }
    }

    /// The terms in order.
    pub(crate) fn sorted(self) -> Vec<(Box<str>, Postings)> {
        let mut terms: Vec<_> = self.terms.into_iter().collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            docs in proptest::collection::btree_map(0_u32..1 << 30, 1_u8.., 0..50),
        ) {
            let mut postings = Postings::default();
            for (&doc, &count) in &docs {
                postings.push(doc, count);
            }
            let found: Vec<_> = read(postings.bytes()).collect();
            prop_assert_eq!(found, docs.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn damaged_bytes_end_the_list(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(read(&bytes).count() <= bytes.len());
        }
    }
}
