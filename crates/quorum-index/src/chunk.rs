//! Chunks that follow the structure of a text.
//!
//! A function or a type stays whole where it fits; a type that does not is cut between its members,
//! a function between its lines. Headings each have a chunk of their own, and a cut never falls
//! into a code fence. What stands between declarations is cut by lines.

use std::ops::Range;

use bstr::ByteSlice as _;
use quorum_model::symbol::SymbolKind;

use crate::counter::Counter;
use crate::cut::{Numbering, cut};
use crate::record::{Chunk, Doc, SymbolRecord};

/// The most tokens of a chunk.
pub(crate) const LARGEST: u64 = 1024;

/// A value that takes this many lines is a chunk of its own.
const LONG_VALUE: u32 = 4;

/// The docs and chunks of one text.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) docs: Vec<Doc>,
    pub(crate) chunks: Vec<Chunk>,
    /// What each doc counts: its own lines, without those of the docs in it.
    pub(crate) own: Vec<Own>,
}

/// The part of a text that a doc counts.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) lines: Vec<Range<u32>>,
    /// A part of one line, where that is too long for a chunk.
    pub(crate) bytes: Option<Range<usize>>,
}

/// The text with its lines.
pub(crate) struct Text<'a> {
    bytes: &'a [u8],
    /// Where each line starts, and the end.
    starts: Vec<usize>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', bytes).map(|feed| feed + 1));
        if starts.last() != Some(&bytes.len()) {
            starts.push(bytes.len());
        }
        Self { bytes, starts }
    }

    /// What a doc counts, in pieces.
    pub(crate) fn own<'b>(&'b self, own: &'b Own) -> impl Iterator<Item = &'a [u8]> + 'b {
        let part = own.bytes.clone().and_then(|bytes| self.bytes.get(bytes));
        own.lines.iter().map(|lines| self.slice(lines)).chain(part)
    }

    pub(crate) fn lines(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }

    /// The bytes of the lines from `range.start` up to and without `range.end`, counted from 1.
    pub(crate) fn slice(&self, range: &Range<u32>) -> &'a [u8] {
        let at = |line: u32| {
            let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
            self.starts.get(index).copied().unwrap_or(self.bytes.len())
        };
        self.bytes.get(at(range.start)..at(range.end)).unwrap_or_default()
    }

    /// A part of the text.
    pub(crate) fn bytes_at(&self, range: Range<usize>) -> &'a [u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// The line that a byte stands in.
    pub(crate) fn line_of(&self, at: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= at);
        u32::try_from(line.min(self.starts.len() - 1).max(1)).unwrap_or(u32::MAX)
    }

    fn start_of(&self, line: u32) -> usize {
        let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        self.starts.get(index).copied().unwrap_or(self.bytes.len())
    }
}

/// A declaration that has a doc of its own, with those in it.
struct Node {
    symbol: u32,
    kind: SymbolKind,
    span: Range<u32>,
    children: Vec<Self>,
}

/// Cuts `text` into docs and chunks by its symbols.
pub(crate) fn pieces(text: &Text<'_>, symbols: &[SymbolRecord], counter: Counter) -> Pieces {
    let mut cutter = Cutter { text, counter, pieces: Pieces::default() };
    let nodes = nest(symbols, text.lines());
    cutter.between(&(1..text.lines() + 1), &nodes, None);
    for node in &nodes {
        cutter.node(node);
    }
    cutter.finish()
}

fn has_own_doc(symbol: &SymbolRecord) -> bool {
    let kind = symbol.kind();
    let value = matches!(
        kind,
        SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Property | SymbolKind::Key
    );
    !value || symbol.end_line - symbol.start_line.min(symbol.end_line) + 1 >= LONG_VALUE
}

/// The declarations as a forest, by their lines. One that shares a line with another beside it or
/// around it has no doc of its own.
fn nest(symbols: &[SymbolRecord], lines: u32) -> Vec<Node> {
    let mut open: Vec<Node> = Vec::new();
    let mut roots: Vec<Node> = Vec::new();
    let mut last_line = 0;
    let close = |open: &mut Vec<Node>, roots: &mut Vec<Node>, before: u32| {
        while open.last().is_some_and(|node| node.span.end <= before) {
            let Some(done) = open.pop() else { break };
            open.last_mut().map_or(&mut *roots, |above| &mut above.children).push(done);
        }
    };
    let mut order: Vec<(usize, &SymbolRecord)> = symbols.iter().enumerate().collect();
    order.sort_by_key(|(_, symbol)| (symbol.start_line, std::cmp::Reverse(symbol.end_line)));
    for (index, symbol) in order {
        let span = symbol.start_line..symbol.end_line.min(lines) + 1;
        if span.is_empty() || span.start <= last_line || !has_own_doc(symbol) {
            continue;
        }
        close(&mut open, &mut roots, span.start);
        let fits = open
            .last()
            .is_none_or(|above| span.start > above.span.start && span.end <= above.span.end);
        // Nested functions are part of the function around them.
        let local = open.last().is_some_and(|above| above.kind.is_callable());
        if !fits || local {
            continue;
        }
        let Ok(symbol_index) = u32::try_from(index) else { break };
        last_line = span.start;
        open.push(Node { symbol: symbol_index, kind: symbol.kind(), span, children: Vec::new() });
    }
    close(&mut open, &mut roots, u32::MAX);
    // Two declarations that end and start on one line: the second has no doc of its own.
    separate(&mut roots);
    roots
}

fn separate(nodes: &mut Vec<Node>) {
    let mut end = 0;
    nodes.retain(|node| {
        let apart = node.span.start >= end;
        if apart {
            end = node.span.end;
        }
        apart
    });
    for node in nodes {
        separate(&mut node.children);
    }
}

struct Cutter<'a> {
    text: &'a Text<'a>,
    counter: Counter,
    pieces: Pieces,
}

impl Cutter<'_> {
    /// A declaration: whole where it fits.
    fn node(&mut self, node: &Node) {
        let opens = matches!(node.kind, SymbolKind::Heading | SymbolKind::Module);
        let tokens = self.counter.count(self.text.slice(&node.span));
        if tokens <= LARGEST && (!opens || node.children.is_empty()) {
            self.chunk(&node.span, tokens, Some(node.symbol));
            self.docs_within(node);
            return;
        }
        if node.children.is_empty() || node.kind.is_callable() {
            self.cut(&node.span, Some(node.symbol), node.kind == SymbolKind::Heading);
            self.docs_within(node);
            return;
        }
        self.doc(node.span.clone(), Some(node.symbol), own_lines(&node.span, &node.children));
        self.between(&node.span, &node.children, Some(node));
        for child in &node.children {
            self.node(child);
        }
    }

    /// What stands between declarations: chunks, and docs where it is nobody's.
    fn between(&mut self, span: &Range<u32>, nodes: &[Node], around: Option<&Node>) {
        for gap in own_lines(span, nodes) {
            let Some(gap) = self.trimmed(gap) else { continue };
            let first = around.filter(|around| around.span.start == gap.start);
            let heading = around.is_some_and(|around| around.kind == SymbolKind::Heading);
            self.cut(&gap, first.map(|around| around.symbol), heading || around.is_none());
        }
    }

    /// `gap` without blank lines at its ends; absent where nothing in it can be searched.
    fn trimmed(&self, gap: Range<u32>) -> Option<Range<u32>> {
        let blank = |line: u32| self.text.slice(&(line..line + 1)).trim_ascii().is_empty();
        let start = gap.clone().find(|&line| !blank(line))?;
        let end = gap.clone().rev().find(|&line| !blank(line))? + 1;
        let words = self.text.slice(&(start..end)).iter();
        let mut words = words.filter(|byte| byte.is_ascii_alphanumeric() || **byte >= 0x80);
        words.next().map(|_| start..end)
    }

    /// Docs for a declaration that is shown whole, and for those in it.
    fn docs_within(&mut self, node: &Node) {
        self.doc(node.span.clone(), Some(node.symbol), own_lines(&node.span, &node.children));
        for child in &node.children {
            self.docs_within(child);
        }
    }

    fn doc(&mut self, span: Range<u32>, symbol: Option<u32>, lines: Vec<Range<u32>>) {
        self.pieces.docs.push(Doc {
            start_line: span.start,
            end_line: span.end - 1,
            symbol,
            chunk: 0,
        });
        self.pieces.own.push(Own { lines, bytes: None });
    }

    fn chunk(&mut self, span: &Range<u32>, tokens: u64, symbol: Option<u32>) {
        let (start_line, end_line) = (span.start, span.end - 1);
        self.pieces.chunks.push(Chunk { start_line, end_line, tokens, symbol, bytes: None });
    }

    /// Cuts lines into chunks; `fences` keeps code fences whole. Lines of nobody become docs.
    fn cut(&mut self, span: &Range<u32>, symbol: Option<u32>, fences: bool) {
        let text = self.text.slice(span);
        let base = self.text.start_of(span.start);
        let whole = symbol.is_some();
        let mut spans: Vec<Range<u32>> = Vec::new();
        if fences && text.find(b"```").or_else(|| text.find(b"~~~")).is_some() {
            spans = self.paragraphs(span);
        }
        if spans.is_empty() {
            for piece in
                cut(&self.counter, text, u64::from(span.start), Numbering::File, LARGEST, None)
            {
                let line = |line: u64| u32::try_from(line).unwrap_or(u32::MAX);
                let bytes = piece.bytes.map(|bytes| {
                    let at = |at: u64| u32::try_from(base as u64 + at).unwrap_or(u32::MAX);
                    (at(bytes.start), at(bytes.end))
                });
                let first = self.pieces.chunks.last().is_none_or(|last| last.end_line < span.start);
                let symbol = symbol.filter(|_| first || line(piece.start_line) == span.start);
                let range = line(piece.start_line)..line(piece.end_line) + 1;
                self.chunk(&range, piece.tokens, symbol);
                if let Some(last) = self.pieces.chunks.last_mut() {
                    last.bytes = bytes;
                }
                if !whole {
                    self.doc(range.clone(), None, vec![range]);
                    if let (Some((start, end)), Some(own)) = (bytes, self.pieces.own.last_mut()) {
                        *own = Own { lines: Vec::new(), bytes: Some(start as usize..end as usize) };
                    }
                }
            }
            return;
        }
        for range in spans {
            let tokens = self.counter.count(self.text.slice(&range));
            let symbol = symbol.filter(|_| range.start == span.start);
            self.chunk(&range, tokens, symbol);
            if !whole {
                self.doc(range.clone(), None, vec![range]);
            }
        }
    }

    /// Groups of paragraphs that fit together, with every code fence in one piece.
    fn paragraphs(&self, span: &Range<u32>) -> Vec<Range<u32>> {
        let mut found: Vec<Range<u32>> = Vec::new();
        let mut fence: Option<&[u8]> = None;
        let mut tokens = 0;
        let mut start = span.start;
        let mut block = span.start;
        let mut end_block = |from: u32, to: u32, start: &mut u32| {
            let size = self.counter.count(self.text.slice(&(from..to)));
            if tokens > 0 && tokens + size > LARGEST {
                found.push(*start..from);
                *start = from;
                tokens = 0;
            }
            tokens += size;
        };
        for line in span.clone() {
            let text = self.text.slice(&(line..line + 1)).trim_ascii();
            let mark = [&b"```"[..], b"~~~"].into_iter().find(|mark| text.starts_with(mark));
            match (fence, mark) {
                (None, Some(_)) => fence = mark,
                (Some(open), Some(mark)) if open == mark => fence = None,
                _ => {}
            }
            if fence.is_none() && text.is_empty() {
                end_block(block, line + 1, &mut start);
                block = line + 1;
            }
        }
        if block < span.end {
            end_block(block, span.end, &mut start);
        }
        if start < span.end {
            found.push(start..span.end);
        }
        found
    }

    fn finish(mut self) -> Pieces {
        let pieces = &mut self.pieces;
        pieces.chunks.sort_by_key(|chunk| (chunk.start_line, chunk.bytes));
        let mut order: Vec<usize> = (0..pieces.docs.len()).collect();
        order.sort_by_key(|&index| {
            let doc = &pieces.docs[index];
            let part = pieces.own[index].bytes.as_ref().map(|bytes| bytes.start);
            (doc.start_line, std::cmp::Reverse(doc.end_line), doc.symbol, part)
        });
        let docs: Vec<Doc> = order.iter().map(|&index| pieces.docs[index].clone()).collect();
        let own: Vec<Own> =
            order.iter().map(|&index| std::mem::take(&mut pieces.own[index])).collect();
        pieces.docs = docs;
        pieces.own = own;
        for (doc, own) in pieces.docs.iter_mut().zip(&pieces.own) {
            if let Some(bytes) = &own.bytes {
                let start = u32::try_from(bytes.start).ok();
                let found =
                    pieces.chunks.iter().position(|chunk| chunk.bytes.map(|part| part.0) == start);
                doc.chunk = found.and_then(|found| u32::try_from(found).ok()).unwrap_or(0);
                continue;
            }
            let after = pieces.chunks.partition_point(|chunk| chunk.start_line <= doc.start_line);
            // Of a line in several pieces, the first.
            let found = pieces.chunks[..after]
                .iter()
                .rposition(|chunk| chunk.bytes.is_none() || chunk.start_line < doc.start_line);
            let found = found.unwrap_or_else(|| {
                pieces.chunks.partition_point(|chunk| chunk.start_line < doc.start_line)
            });
            doc.chunk =
                u32::try_from(found.min(pieces.chunks.len().saturating_sub(1))).unwrap_or(0);
        }
        self.pieces
    }
}

/// The lines of `span` that are in none of `nodes`.
fn own_lines(span: &Range<u32>, nodes: &[Node]) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    let mut at = span.start;
    for node in nodes {
        if node.span.start > at {
            found.push(at..node.span.start);
        }
        at = at.max(node.span.end);
    }
    if at < span.end {
        found.push(at..span.end);
    }
    found
}
