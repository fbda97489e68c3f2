//! Making an output short without losing what it is about.

use std::fmt::Write as _;

/// `text` in at most `limit` tokens, as `count` counts them: all of it where it fits, else its first
/// error with what follows, its beginning and its end. `first_error` is a line, from 0.
///
/// What is left out is said where it stood. The line of the first error is always there, shortened
/// only where it alone is too long.
pub fn cut(
    text: &str,
    first_error: Option<usize>,
    limit: u64,
    count: &dyn Fn(&str) -> u64,
) -> String {
    if count(text) <= limit {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let anchor = first_error.unwrap_or(0).min(lines.len().saturating_sub(1));
    // A mark takes its tokens, and pieces that are put together may count a little more than apart.
    let room = limit.saturating_sub(3 * MARK).max(limit / 2);
    let mut keep = vec![false; lines.len()];
    let cost = |line: &str| count(line) + 1;
    let Some(first) = lines.get(anchor) else { return String::new() };
    if cost(first) > room {
        return shorten(first, room, count);
    }
    keep[anchor] = true;
    let mut left = room - cost(first);
    // What follows the first error explains it; the end sums up; the beginning says what ran.
    let shares = [
        (Box::new(anchor + 1..lines.len()) as Box<dyn Iterator<Item = usize>>, room / 2),
        (Box::new((0..lines.len()).rev()), room / 4),
        (Box::new(0..anchor), u64::MAX),
        (Box::new(anchor + 1..lines.len()), u64::MAX),
    ];
    for (numbers, share) in shares {
        let mut share = share.min(left);
        for number in numbers {
            if keep[number] {
                continue;
            }
            let cost = cost(lines[number]);
            if cost > share {
                break;
            }
            keep[number] = true;
            share -= cost;
            left -= cost;
        }
    }
    let mut kept = put_together(&lines, &keep);
    // Marks may stand at more places than were provided for; then the end goes, line by line.
    while count(&kept) > limit {
        let Some(last) = (0..lines.len()).rev().find(|&number| keep[number] && number != anchor)
        else {
            return shorten(first, limit, count);
        };
        keep[last] = false;
        kept = put_together(&lines, &keep);
    }
    kept
}

/// Tokens that a mark may take.
const MARK: u64 = 12;

fn put_together(lines: &[&str], keep: &[bool]) -> String {
    let mut text = String::new();
    let mut gap = 0;
    for (line, keep) in lines.iter().zip(keep) {
        if !keep {
            gap += 1;
            continue;
        }
        mark(&mut text, gap);
        gap = 0;
        text.push_str(line);
        text.push('\n');
    }
    mark(&mut text, gap);
    text
}

fn mark(text: &mut String, gap: usize) {
    if gap > 0 {
        _ = writeln!(text, "[… {gap} lines left out …]");
    }
}

/// A line without its middle.
fn shorten(line: &str, limit: u64, count: &dyn Fn(&str) -> u64) -> String {
    let characters: Vec<char> = line.chars().collect();
    let halves = |keep: usize| {
        let start: String = characters[..keep - keep / 3].iter().collect();
        let end: String = characters[characters.len() - keep / 3..].iter().collect();
        format!("{start} […] {end}\n")
    };
    let (mut low, mut high) = (0, characters.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if count(&halves(middle)) <= limit { low = middle } else { high = middle - 1 }
    }
    halves(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    fn characters(text: &str) -> u64 {
        (text.chars().count() as u64).div_ceil(4)
    }

    #[test]
    fn the_first_error_its_explanation_the_end_and_the_beginning_stay() {
        let mut lines: Vec<String> = (0..1000).map(|n| format!("line {n}")).collect();
        lines[500] = "main.c:3: error: first".to_owned();
        lines[501] = "  a = b".to_owned();
        let cut = cut(&lines.join("\n"), Some(500), 100, &words);
        assert!(words(&cut) <= 100, "{cut}");
        for wanted in ["line 0\n", "error: first\n  a = b\n", "line 999\n", "lines left out"] {
            assert!(cut.contains(wanted), "{wanted} is missing in\n{cut}");
        }
    }

    #[test]
    fn one_endless_line_is_cut_in_its_middle() {
        let text = format!("error: {} the end", "x".repeat(100_000));
        let cut = cut(&text, Some(0), 100, &characters);
        assert!(cut.starts_with("error: x") && cut.trim_end().ends_with("the end"), "{cut}");
        assert!(characters(&cut) <= 100);
    }

    proptest! {
        #[test]
        fn an_output_never_loses_its_first_error_or_its_limit(
            lines in prop::collection::vec("[a-z ]{0,40}", 1..200),
            anchor in 0_usize..200,
            limit in 40_u64..400,
        ) {
            let anchor = anchor % lines.len();
            let text = lines.join("\n");
            let cut = cut(&text, Some(anchor), limit, &characters);
            prop_assert!(characters(&cut) <= limit, "{} tokens", characters(&cut));
            prop_assert!(cut.contains(lines[anchor].as_str()), "{cut:?}");
            // What is there stands in its order.
            let kept = cut.lines().filter(|line| !line.contains("left out"));
            let mut rest = text.lines();
            for line in kept {
                prop_assert!(rest.any(|other| other == line), "{line:?}");
            }
        }
    }
}
