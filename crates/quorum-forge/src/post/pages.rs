//! The summary, and what it remembers, cut to what a host takes.

use quorum_model::record::PullRequestState;

use super::Dialect;
use super::marker::{PAGE_MARKER, SUMMARY_MARKER, of_state};

/// Characters of one comment: GitHub takes 65,536, GitLab a million.
fn longest(dialect: Dialect) -> usize {
    match dialect {
        Dialect::GitHub => 65_000,
        Dialect::GitLab => 900_000,
    }
}

/// Comments that continue the summary; what does not fit them is given a new id when it is seen again.
const MOST_PAGES: usize = 10;

/// The summary and the comments that continue its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// The summary.
    pub summary: String,
    /// The comments that continue it.
    pub more: Vec<String>,
    /// How many findings are not remembered.
    pub forgotten: usize,
}

/// Puts a summary and its memory together. `render` makes the summary in at most so many bytes.
pub fn paginate(
    state: &PullRequestState,
    dialect: Dialect,
    render: impl Fn(usize) -> String,
) -> Pages {
    let longest = longest(dialect);
    // People read the summary, so half of it is theirs whatever there is to remember.
    let own = longest / 2;
    let mut left = state.clone();
    let first = take(&mut left, own);
    let marker = of_state(&first);
    let room = longest.saturating_sub(marker.len() + SUMMARY_MARKER.len() + 8);
    let summary = format!("{}\n\n{marker}\n{SUMMARY_MARKER}", render(room).trim_end());
    let mut more = Vec::new();
    while !left.records.is_empty() && more.len() < MOST_PAGES {
        let page = take(&mut left, longest - 500);
        let text = "Quorum keeps its notes on further findings here; the summary lists them.";
        more.push(format!("{text}\n\n{}\n{PAGE_MARKER}", of_state(&page)));
    }
    Pages { summary, more, forgotten: left.records.len() }
}

/// Takes as many records out of `state` as a marker of that size holds.
fn take(state: &mut PullRequestState, most: usize) -> PullRequestState {
    let mut count = state.records.len();
    loop {
        let records = state.records[..count].to_vec();
        let taken = PullRequestState { records, last: state.last.clone() };
        let size = of_state(&taken).len();
        if size <= most || count == 0 {
            state.records.drain(..count);
            return taken;
        }
        // Records are alike, so that the share that fits is known at once; a tenth less is sure.
        count = (count * most / size * 9 / 10).min(count - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::post::state_in;
    use crate::tests::support::record;

    fn state(count: usize) -> PullRequestState {
        let records = (0..count).map(|number| {
            let mut one = record(&format!("SEC-{number:03}"), &format!("src/{number}.go"));
            one.fingerprints = vec![blurred(number)];
            one
        });
        PullRequestState { records: records.collect(), ..PullRequestState::default() }
    }

    /// Something that does not compress, as fingerprints do not.
    fn blurred(number: usize) -> String {
        let mut x = number as u64 + 1;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            x >> 32
        };
        let parts = [next(), next(), next(), next()];
        parts.map(|part| format!("{part:08x}")).concat()
    }

    #[test]
    fn what_fits_no_comment_goes_on_in_the_next() {
        for count in [0, 1, 100, 2_000] {
            let state = state(count);
            let pages = paginate(&state, Dialect::GitHub, |room| "x".repeat(room));
            let all = std::iter::once(&pages.summary).chain(&pages.more);
            let read: Vec<String> = all
                .flat_map(|page| {
                    assert!(page.chars().count() <= 65_536, "{}", page.len());
                    state_in(page).expect("a state").records
                })
                .map(|record| record.id)
                .collect();
            assert_eq!(read.len() + pages.forgotten, count);
            assert_eq!(pages.forgotten, 0);
            assert!(pages.summary.contains(SUMMARY_MARKER));
        }
    }
}
