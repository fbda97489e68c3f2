//! Units as text: what a reviewer reads of a file.

use std::fmt::Write as _;
use std::ops::Range;

use quorum_model::scope::Change;
use quorum_model::unit::{Unit, UnitKind};

use super::shown::{Cell, HunkLine, Mark, Shown, ShownFile, ShownHunk, part};

/// The texts of all units of one file, in their order, each exactly once and nothing left out.
///
/// `change` says on which side the units' lines are counted.
pub(crate) fn texts(file: &ShownFile, change: Change, units: &[&Unit]) -> Vec<String> {
    let hunk_units: Vec<&Unit> =
        units.iter().copied().filter(|unit| unit.kind == UnitKind::Hunk).collect();
    let mut places = partition(&file.hunks, change, &hunk_units).into_iter();
    units
        .iter()
        .map(|unit| match unit.kind {
            UnitKind::Hunk => match places.next().flatten() {
                Some(place) => hunk_text(file, &place),
                None => String::new(),
            },
            UnitKind::Span => {
                file.head.as_ref().map(|head| span_text(head, unit)).unwrap_or_default()
            }
            UnitKind::Name => String::new(),
        })
        .collect()
}

/// A part of a hunk's text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    hunk: usize,
    bytes: Range<usize>,
}

/// Which part of which hunk each unit is. The parts of a hunk follow on each other and cover it.
fn partition(hunks: &[ShownHunk], change: Change, units: &[&Unit]) -> Vec<Option<Place>> {
    let counts = |line: &HunkLine| match change {
        Change::Deleted => matches!(line.mark, Mark::Same | Mark::Removed),
        _ => matches!(line.mark, Mark::Same | Mark::Added),
    };
    let mut places: Vec<Option<Place>> = Vec::with_capacity(units.len());
    let mut current = 0;
    let mut position = 0;
    for (index, unit) in units.iter().enumerate() {
        while current < hunks.len() && position >= length(&hunks[current]) {
            current += 1;
            position = 0;
        }
        let Some(hunk) = hunks.get(current) else {
            places.push(None);
            continue;
        };
        let mut end = match unit.bytes {
            Some(bytes) => usize::try_from(bytes.end).unwrap_or(usize::MAX),
            None => after_lines(hunk, position, unit.end_line + 1 - unit.start_line, counts),
        };
        let more = hunk.lines.iter().any(|line| line.start >= end && counts(line));
        let next = units.get(index + 1).and_then(|next| next.bytes).map(|bytes| bytes.start);
        let next = next.and_then(|start| usize::try_from(start).ok());
        match next {
            // The next unit says where it begins, in this hunk or in the one after it.
            Some(start) if start >= end && start < length(hunk) && (more || start > 0) => {
                end = start;
            }
            Some(start) if start > 0 && more => {}
            // What is left of the hunk has no number, and belongs to what it follows on.
            _ if !more && unit.bytes.is_none() => end = length(hunk),
            _ => {}
        }
        let end = end.clamp(position, length(hunk));
        places.push(Some(Place { hunk: current, bytes: position..end }));
        position = end;
    }
    cover_ends(hunks, &mut places);
    places
}

/// The last unit of each hunk reaches to its end.
fn cover_ends(hunks: &[ShownHunk], places: &mut [Option<Place>]) {
    for (index, hunk) in hunks.iter().enumerate() {
        let last = places.iter_mut().flatten().rfind(|place| place.hunk == index);
        if let Some(place) = last {
            place.bytes.end = length(hunk);
        }
    }
}

fn length(hunk: &ShownHunk) -> usize {
    hunk.lines.last().map_or(0, |line| line.end)
}

/// The end of the line with which `wanted` lines that count have gone by.
fn after_lines(
    hunk: &ShownHunk,
    from: usize,
    wanted: u64,
    counts: impl Fn(&HunkLine) -> bool,
) -> usize {
    let mut seen = 0;
    for line in hunk.lines.iter().filter(|line| line.end > from) {
        seen += u64::from(counts(line));
        if seen >= wanted {
            return line.end;
        }
    }
    length(hunk)
}

fn hunk_text(file: &ShownFile, place: &Place) -> String {
    let Some(hunk) = file.hunks.get(place.hunk) else { return String::new() };
    let mut text = String::new();
    let first = hunk.lines.iter().find(|line| line.end > place.bytes.start);
    let side = if file.head.is_some() { &file.head } else { &file.base };
    if let Some((side, first)) = side.as_ref().zip(first)
        && let Some(around) = enclosing(side, first.number)
    {
        // Writing to a string cannot fail.
        _ = writeln!(text, "@@ {around}");
    }
    let inside = |line: &&HunkLine| line.end > place.bytes.start && line.start < place.bytes.end;
    let mut cell = None;
    for line in hunk.lines.iter().filter(inside) {
        let whole = place.bytes.start <= line.start && line.end <= place.bytes.end;
        let words = match &line.code {
            Some((of, code)) if whole => {
                name_cell(&mut text, &mut cell, *of);
                code.clone()
            }
            // The mark is a byte of the line, and its text begins after it.
            _ => part(&line.text, line.start + 1, &place.bytes),
        };
        for words in words.split('\n') {
            _ = match line.mark {
                Mark::Added => writeln!(text, "{} +{words}", line.number),
                Mark::Same => writeln!(text, "{}  {words}", line.number),
                Mark::Removed => writeln!(text, "  -{words}"),
                Mark::Remark => Ok(()),
            };
        }
    }
    text
}

/// Says which cell of a notebook the lines that follow are in, where it is another one.
fn name_cell(text: &mut String, last: &mut Option<Cell>, cell: Cell) {
    if *last != Some(cell) {
        let kind = if cell.is_code { "code" } else { "text" };
        _ = writeln!(text, "@@ cell {} ({kind})", cell.number);
        *last = Some(cell);
    }
}

fn span_text(head: &Shown, unit: &Unit) -> String {
    let mut text = String::new();
    if let Some(around) = enclosing(head, unit.start_line) {
        _ = writeln!(text, "@@ {around}");
    }
    if let Some(bytes) = unit.bytes {
        let range = usize::try_from(bytes.start).ok().zip(usize::try_from(bytes.end).ok());
        let words = range.and_then(|(start, end)| head.part(unit.start_line, &(start..end)));
        _ = writeln!(text, "{}  {}", unit.start_line, words.unwrap_or_default());
        return text;
    }
    let mut cell = None;
    for number in unit.start_line..=unit.end_line {
        let Some(words) = head.line(number) else { break };
        if let Some(of) = head.cell(number) {
            name_cell(&mut text, &mut cell, of);
        }
        for words in words.split('\n') {
            _ = writeln!(text, "{number}  {words}");
        }
    }
    text
}

/// Longer first lines of functions are cut.
const LONGEST_AROUND: usize = 120;

/// How far up the beginning of a function is looked for.
const FARTHEST: u64 = 400;

/// The line that begins the function, class or section around line `number`: the nearest line above
/// with less indentation that looks like a beginning.
fn enclosing(text: &Shown, number: u64) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    // The indentation of the first line from here on that has one.
    let below = (number..number.saturating_add(20)).filter_map(|n| text.line(n));
    let mut limit = below.filter(|line| !line.trim().is_empty()).map(indent).next()?;
    for at in (number.saturating_sub(FARTHEST).max(1)..number).rev() {
        let line = text.line(at)?;
        if line.trim().is_empty() || indent(line) >= limit {
            continue;
        }
        limit = indent(line);
        let trimmed = line.trim();
        if begins_something(trimmed) {
            let cut: String = trimmed.chars().take(LONGEST_AROUND).collect();
            return Some(format!("{at}  {cut}"));
        }
        if limit == 0 {
            return None;
        }
    }
    None
}

fn begins_something(line: &str) -> bool {
    const WORDS: [&str; 22] = [
        "fn ",
        "func ",
        "def ",
        "class ",
        "impl",
        "function ",
        "struct ",
        "enum ",
        "trait ",
        "interface ",
        "type ",
        "module ",
        "mod ",
        "namespace ",
        "async ",
        "pub ",
        "public ",
        "private ",
        "protected ",
        "static ",
        "export ",
        "const ",
    ];
    WORDS.iter().any(|word| line.starts_with(word))
        || (line.contains('(') && (line.ends_with('{') || line.ends_with("):")))
}

#[cfg(test)]
mod tests;
