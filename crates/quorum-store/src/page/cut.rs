//! Taking a part of a page.

use super::HEAD_LINES;
use crate::fence::{Fence, heading};

/// The head of a page: its index, verdict and summary.
pub fn head(page: &str) -> &str {
    let end = page.split_inclusive('\n').take(HEAD_LINES).map(str::len).sum();
    let head = page.get(..end).unwrap_or(page);
    // Where there is little to index, the head ends with the summary.
    match head.find("\n### Summary\n").and_then(|at| Some(at + head[at + 1..].find("\n\n")?)) {
        Some(end) => &page[..end + 2],
        None => head,
    }
}

/// The section of a page that is about the finding `id`.
pub fn section<'a>(page: &'a str, id: &str) -> Option<&'a str> {
    let own = |section: &&str| {
        heading(section.lines().next().unwrap_or_default())
            .is_some_and(|text| text.split(' ').next() == Some(id))
    };
    sections(page).into_iter().skip(1).find(own)
}

/// A page cut into what comes before its findings, and each finding.
fn sections(page: &str) -> Vec<&str> {
    let mut fence = Fence::default();
    let mut starts = vec![0];
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        if !fence.holds(line) && line.starts_with("#### ") {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(page.len());
    starts.windows(2).filter_map(|pair| page.get(pair[0]..pair[1])).collect()
}

/// As much of a page as fits into `budget` tokens: its head first, then whole findings, and a line
/// that says what is left out. `count` counts tokens.
pub fn within(page: &str, budget: u64, count: impl Fn(&str) -> u64) -> String {
    if count(page) <= budget {
        return page.to_owned();
    }
    let sections = sections(page);
    let findings = sections.len().saturating_sub(1);
    let mut parts = sections.into_iter();
    let first = parts.next().unwrap_or_default();
    let ending = |left: usize| match left {
        0 => "(cut)\n".to_owned(),
        _ => format!("({left} findings left out; `quorum show ID` shows one)\n"),
    };
    let mut kept = String::new();
    if count(&format!("{first}{}", ending(findings))) > budget {
        for line in first.split_inclusive('\n') {
            if count(&format!("{kept}{line}{}", ending(findings))) > budget {
                break;
            }
            kept.push_str(line);
        }
        let ended = format!("{kept}{}", ending(findings));
        return if count(&ended) <= budget { ended } else { kept };
    }
    kept.push_str(first);
    let mut left = findings;
    for part in parts {
        if count(&format!("{kept}{part}{}", ending(left - 1))) <= budget {
            kept.push_str(part);
            left -= 1;
        }
    }
    format!("{kept}{}", ending(left))
}
