//! Ranges of lines.

/// First and last line.
pub(crate) type Lines = (u64, u64);

/// Whether one of the ranges, which are merged, holds all of these lines.
pub(crate) fn contains(merged: &[Lines], (first, last): Lines) -> bool {
    merged.iter().any(|&(start, end)| start <= first && last <= end)
}

/// The ranges sorted, with those that touch or overlap made one.
pub(crate) fn merge(ranges: impl Iterator<Item = Lines>) -> Vec<Lines> {
    let mut sorted: Vec<Lines> = ranges.collect();
    sorted.sort_unstable();
    let mut merged: Vec<Lines> = Vec::new();
    for (start, end) in sorted {
        match merged.last_mut() {
            Some(last) if start <= last.1.saturating_add(1) => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// What is left of a range without others, which are merged.
pub(crate) fn without((first, last): Lines, others: &[Lines]) -> Vec<Lines> {
    let mut left = Vec::new();
    let mut from = first;
    for &(start, end) in others.iter().filter(|(start, end)| *start <= last && first <= *end) {
        if start > from {
            left.push((from, start - 1));
        }
        from = from.max(end.saturating_add(1));
    }
    if from <= last {
        left.push((from, last));
    }
    left
}

/// Whether it is a single line.
pub(crate) fn is_one(lines: &[Lines]) -> bool {
    matches!(lines, [(first, last)] if first == last)
}

/// `lines 3–9, 20` for people.
pub(crate) fn describe(lines: &[Lines]) -> String {
    let parts: Vec<String> = lines
        .iter()
        .map(
            |&(start, end)| {
                if start == end { start.to_string() } else { format!("{start}–{end}") }
            },
        )
        .collect();
    let one = is_one(lines);
    format!("{} {}", if one { "line" } else { "lines" }, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_others_is_what_is_left_of_it() {
        assert_eq!(without((1, 10), &[]), [(1, 10)]);
        assert_eq!(without((1, 10), &[(1, 10)]), []);
        assert_eq!(without((1, 10), &[(3, 4), (8, 20)]), [(1, 2), (5, 7)]);
        assert_eq!(without((5, 6), &[(1, 2), (9, 9)]), [(5, 6)]);
        assert_eq!(without((5, 8), &[(1, 5), (8, 9)]), [(6, 7)]);
    }
}
