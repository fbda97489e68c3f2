//! The secrets of one text, and quotes of it without them.
//!
//! This is the one place that masks. A secret that is known from one line is masked wherever the
//! same value is quoted: a value handed to a function by its position says nothing by itself.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use quorum_model::finding::AgentFinding;

use super::catalog::{Trigger, catalog};
use super::settings::Syntax;
use super::{Hit, raw_hits, wide};

/// The secrets of a file: their places in it, and their values wherever those are quoted.
#[derive(Debug, Default)]
pub struct Known {
    spans: Vec<Range<usize>>,
    values: Option<AhoCorasick>,
}

impl Known {
    /// The secrets of `text`. `path` tells how values are written in it; a name alone is enough.
    pub fn of(path: Option<&str>, text: &str) -> Self {
        let hits = raw_hits(text);
        Self::from_hits(path, text, &hits)
    }

    fn from_hits(path: Option<&str>, text: &str, hits: &[Hit]) -> Self {
        let bytes = text.as_bytes();
        let syntax = path.map(Syntax::of).unwrap_or_default();
        let mut spans: Vec<Range<usize>> =
            hits.iter().map(|hit| hit.span.start + hit.shown..hit.span.end).collect();
        let mut wider = wide::spans(bytes, syntax);
        let catalog = catalog();
        for found in catalog.keywords.find_overlapping_iter(bytes) {
            let trigger = catalog.triggers.get(found.pattern().as_usize());
            if matches!(trigger, Some(Trigger::Name | Trigger::MaskedName)) {
                wider.extend(wide::assigned(bytes, found.range(), syntax));
            }
        }
        spans.extend(wider.into_iter().map(|span| whole_characters(text, span)));
        let values = values(text, &spans);
        if let Some(values) = &values {
            spans.extend(values.find_overlapping_iter(text).map(|found| found.range()));
        }
        Self { spans: merged(spans), values }
    }

    /// The bytes of the text that are secret, in order, none of them overlapping.
    pub fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    /// The text that this was made of, with its secrets masked by `*`, character by character.
    pub fn mask(&self, text: &str) -> String {
        masked(text, &self.spans)
    }

    /// Takes secrets out of all that a finding about the text says.
    pub fn clean_finding(&self, found: &mut AgentFinding) {
        found.issue = self.clean(&found.issue);
        found.recommendation = self.clean(&found.recommendation);
        found.evidence = found.evidence.take().map(|evidence| self.clean(&evidence));
        for step in &mut found.trace {
            step.note = self.clean(&step.note);
        }
        // What would put stars in the place of a value is no fix.
        found.replacement.take_if(|new| self.clean(&new.text) != new.text);
    }

    /// Something that quotes or speaks of the text, without its secrets and without its own.
    pub fn clean(&self, quote: &str) -> String {
        let mut spans = Self::of(None, quote).spans;
        if let Some(values) = &self.values {
            spans.extend(values.find_overlapping_iter(quote).map(|found| found.range()));
        }
        masked(quote, &merged(spans))
    }
}

/// `text` with the bytes of `spans`, which are in order, masked. Lines and columns stay.
fn masked(text: &str, spans: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        masked.push_str(text.get(done..span.start).unwrap_or_default());
        let secret = text.get(span.clone()).unwrap_or_default();
        masked.extend(secret.chars().map(|c| if matches!(c, '\n' | '\r') { c } else { '*' }));
        done = span.end;
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    masked
}

/// In order, with what overlaps or touches put together.
fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

fn whole_characters(text: &str, span: Range<usize>) -> Range<usize> {
    let start = (0..=span.start.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    let end = (span.end.min(text.len())..=text.len()).find(|&at| text.is_char_boundary(at));
    start.unwrap_or(0)..end.unwrap_or(text.len())
}

/// Finds the values again that no other text has by accident; of long ones, each line.
fn values(text: &str, spans: &[Range<usize>]) -> Option<AhoCorasick> {
    let secrets = spans.iter().filter_map(|span| text.get(span.clone()));
    let lines: BTreeSet<&str> = secrets
        .flat_map(|secret| {
            let several = secret.contains('\n');
            secret.lines().map(str::trim).filter(move |line| !several || line.len() >= 16)
        })
        .filter(|line| is_unmistakable(line))
        .collect();
    if lines.is_empty() {
        return None;
    }
    AhoCorasick::builder().match_kind(MatchKind::Standard).build(lines).ok()
}

/// Whether the value, met elsewhere, is no common word.
fn is_unmistakable(value: &str) -> bool {
    let has = |test: fn(char) -> bool| value.chars().any(test);
    let letters = has(char::is_alphabetic);
    let digits = has(|c| c.is_ascii_digit());
    let marks = has(|c| c.is_ascii_punctuation() && !matches!(c, '_' | '-' | '.' | '/' | '*'));
    let cases = has(char::is_lowercase) && has(char::is_uppercase);
    match value.chars().count() {
        0..=5 => false,
        6..=11 => letters && (digits || marks),
        12..=19 => letters && (digits || marks || cases || value.contains(' ')),
        _ => letters,
    }
}
