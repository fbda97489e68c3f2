//! Cutting a text into pieces that fit.

use crate::counter::{Counter, char_boundary_before};
use quorum_model::unit::ByteRange;

/// A piece of a text: whole lines, or a part of one line that is too long for any piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First line, as the reader numbers them.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// The bytes of the text, where lines alone do not say which piece it is: a part of one line, or
    /// removed lines, which have no number in the new file.
    pub bytes: Option<ByteRange>,
    /// Its tokens.
    pub tokens: u64,
}

/// How the lines of a text are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Every line counts.
    File,
    /// The text of a diff's hunk, by the new file: removed lines and remarks have no number there.
    Hunk,
    /// The text of a diff's hunk, by the old file: for a file that is gone.
    OldHunk,
}

impl Numbering {
    fn counts(self, line: &[u8]) -> bool {
        match self {
            Self::File => true,
            Self::Hunk => !matches!(line.first(), Some(b'-' | b'\\')),
            Self::OldHunk => !matches!(line.first(), Some(b'+' | b'\\')),
        }
    }
}

/// Cuts `text` into pieces of at most `limit` tokens that cover every byte of it, in order.
///
/// `first_line` is the number of the first line that counts. `known` is the count of the whole
/// text where the caller has it already. An empty text has no pieces.
pub fn cut(
    counter: &Counter,
    text: &[u8],
    first_line: u64,
    numbering: Numbering,
    limit: u64,
    known: Option<u64>,
) -> Vec<Piece> {
    if text.is_empty() {
        return Vec::new();
    }
    let limit = limit.max(1);
    let total = known.unwrap_or_else(|| counter.count(text));
    if total <= limit {
        let lines = lines(text).filter(|line| numbering.counts(line)).count() as u64;
        return vec![Piece {
            start_line: first_line,
            end_line: first_line + lines.saturating_sub(1),
            bytes: None,
            tokens: total,
        }];
    }
    let mut cutter = Cutter {
        counter,
        limit,
        pieces: Vec::new(),
        pending: Vec::new(),
        pending_tokens: 0,
        next_line: first_line,
        offset: 0,
    };
    for line in lines(text) {
        cutter.push(line, numbering.counts(line));
    }
    cutter.flush(cutter.pending.len());
    cutter.pieces
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

/// A line that waits for its piece to be full.
struct Pending {
    length: usize,
    tokens: u64,
    counts: bool,
    blank: bool,
    indented: bool,
}

struct Cutter<'a> {
    counter: &'a Counter,
    limit: u64,
    pieces: Vec<Piece>,
    pending: Vec<Pending>,
    pending_tokens: u64,
    next_line: u64,
    /// Where the first pending line starts.
    offset: usize,
}

impl Cutter<'_> {
    fn push(&mut self, line: &[u8], counts: bool) {
        let tokens = self.counter.count(line);
        if tokens > self.limit {
            self.flush(self.pending.len());
            self.cut_line(line, counts);
            return;
        }
        while self.pending_tokens + tokens > self.limit {
            self.flush(self.best_break());
        }
        self.pending_tokens += tokens;
        self.pending.push(Pending {
            length: line.len(),
            tokens,
            counts,
            blank: line.trim_ascii().is_empty(),
            indented: line.first().is_some_and(u8::is_ascii_whitespace),
        });
    }

    /// How many of the pending lines to put into a piece: up to the last gap between top-level
    /// blocks in the second half, so that a function stays whole where it can; else all.
    fn best_break(&self) -> usize {
        let all = self.pending.len();
        let gap = (all.div_ceil(2).max(1)..all)
            .rev()
            .find(|&index| self.pending[index - 1].blank && !self.pending[index].indented);
        gap.unwrap_or(all)
    }

    fn flush(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let lines: Vec<Pending> = self.pending.drain(..count).collect();
        let tokens: u64 = lines.iter().map(|line| line.tokens).sum();
        let numbered = lines.iter().filter(|line| line.counts).count() as u64;
        self.pending_tokens -= tokens;
        let start = self.offset;
        self.offset += lines.iter().map(|line| line.length).sum::<usize>();
        let bytes = ByteRange { start: start as u64, end: self.offset as u64 };
        self.pieces.push(Piece {
            start_line: self.next_line,
            // Only removed lines: they stand before the next line that is left.
            end_line: self.next_line + numbered.saturating_sub(1),
            bytes: (numbered == 0).then_some(bytes),
            tokens,
        });
        self.next_line += numbered;
    }

    /// Cuts one line that is too long for any piece.
    fn cut_line(&mut self, line: &[u8], counts: bool) {
        let offset = self.offset;
        let mut start = 0;
        // Four bytes are a token more often than not; what is still too large is halved.
        let mut step = usize::try_from(self.limit.saturating_mul(4)).unwrap_or(usize::MAX);
        let mut last: (&[u8], u64) = (&[], 0);
        while start < line.len() {
            let rest = &line[start..];
            let length = char_boundary_before(rest, step.max(1));
            // As in counting: pieces of one character are slow, and all the same.
            if rest[..length] != *last.0 {
                last = (&rest[..length], self.counter.count(&rest[..length]));
            }
            let tokens = last.1;
            if tokens > self.limit && length > 1 {
                step = length / 2;
                continue;
            }
            let bytes =
                ByteRange { start: (offset + start) as u64, end: (offset + start + length) as u64 };
            let line_number = self.next_line;
            self.pieces.push(Piece {
                start_line: line_number,
                end_line: line_number,
                bytes: Some(bytes),
                tokens: tokens.min(self.limit),
            });
            start += length;
        }
        self.next_line += u64::from(counts);
        self.offset += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quorum_model::config::Tokenizer;

    fn counter() -> Counter {
        Counter::new(Tokenizer::Chars4)
    }

    fn cut_file(text: &str, limit: u64) -> Vec<Piece> {
        cut(&counter(), text.as_bytes(), 1, Numbering::File, limit, None)
    }

    #[test]
    fn what_fits_is_one_piece() {
        let pieces = cut_file("one\ntwo\nthree", 100);
        assert_eq!(pieces, [Piece { start_line: 1, end_line: 3, bytes: None, tokens: 4 }]);
    }

    #[test]
    fn nothing_gives_no_piece() {
        assert_eq!(cut_file("", 100), []);
    }

    #[test]
    fn a_cut_falls_between_functions_where_it_can() {
        let function = "fn f() {\n    body();\n    body();\n}\n\n";
        let pieces = cut_file(&function.repeat(3), 25);
        let spans: Vec<_> = pieces.iter().map(|p| (p.start_line, p.end_line)).collect();
        assert_eq!(spans, [(1, 10), (11, 15)]);
    }

    #[test]
    fn removed_lines_have_no_number() {
        let hunk = " context\n-removed one\n-removed two\n+added\n context\n";
        let pieces = cut(&counter(), hunk.as_bytes(), 10, Numbering::Hunk, 4, None);
        let spans: Vec<_> = pieces.iter().map(|p| (p.start_line, p.end_line)).collect();
        assert_eq!(spans, [(10, 10), (11, 11), (11, 11), (11, 11), (12, 12)]);
        let removed: Vec<_> = pieces.iter().filter_map(|piece| piece.bytes).collect();
        assert_eq!(removed, [ByteRange { start: 9, end: 22 }, ByteRange { start: 22, end: 35 }]);
        let gone = "-one and one\n-two and two\n";
        let pieces = cut(&counter(), gone.as_bytes(), 1, Numbering::OldHunk, 4, None);
        let spans: Vec<_> = pieces.iter().map(|p| (p.start_line, p.end_line, p.bytes)).collect();
        assert_eq!(spans, [(1, 1, None), (2, 2, None)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_by_bytes() {
        let text = format!("short\n{}\nshort\n", "é".repeat(1000));
        let pieces = cut_file(&text, 50);
        let parts: Vec<_> = pieces.iter().filter_map(|piece| piece.bytes).collect();
        assert_eq!(parts.first().map(|part| part.start), Some(6));
        assert_eq!(parts.last().map(|part| part.end), Some(6 + 2001));
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(pieces.iter().all(|piece| piece.tokens <= 50));
        assert_eq!(pieces.last().map(|piece| (piece.start_line, piece.end_line)), Some((3, 3)));
    }

    proptest! {
        #[test]
        fn pieces_fit_and_cover_every_line(
            text in "([a-z ]{0,30}\n){0,60}[a-z]{0,200}",
            limit in 1u64..60,
        ) {
            let pieces = cut_file(&text, limit);
            let lines = text.split_inclusive('\n').count() as u64;
            prop_assert!(pieces.iter().all(|piece| piece.tokens <= limit));
            let mut next = 1;
            for piece in &pieces {
                prop_assert!(piece.start_line == next || piece.bytes.is_some());
                next = piece.end_line + 1;
            }
            prop_assert_eq!(next, lines + 1);
        }
    }
}
