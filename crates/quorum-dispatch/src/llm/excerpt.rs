//! Claims about places, each with the code around its place, as many as fit.

use std::fmt::Write as _;
use std::sync::Arc;

use quorum_model::scope::Change;

use super::desk::Desk;
use super::shown::{Shown, ShownFile};

/// A claim about a place.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) file: String,
    /// The first line; 0 for the file as a whole.
    pub(crate) line: u64,
    pub(crate) end_line: u64,
    /// More attributes of its fence.
    pub(crate) attributes: Vec<(&'static str, &'static str)>,
    /// What is claimed: a stranger's words.
    pub(crate) words: String,
}

/// Claims as they are shown.
#[derive(Debug, Default)]
pub(crate) struct Excerpts {
    pub(crate) text: String,
    pub(crate) tokens: u64,
    /// Which of the claims are in it; the first of them is number 1.
    pub(crate) shown: Vec<usize>,
}

/// Shows `claims` in their order, each with `around` lines on either side of its place, as long as
/// they fit into `room` tokens.
pub(crate) fn excerpts(desk: &Desk<'_>, claims: &[Claim], around: u64, room: u64) -> Excerpts {
    let mut all = Excerpts::default();
    for (index, claim) in claims.iter().enumerate() {
        let Some(code) = code(desk, claim, around) else { continue };
        let (number, line) = ((all.shown.len() + 1).to_string(), claim.line.to_string());
        let name = desk.library.name(&claim.file);
        let mut attributes = vec![("finding", &*number), ("path", &*name), ("line", &*line)];
        attributes.extend(claim.attributes.iter().map(|(name, value)| (*name, *value)));
        let words = super::visible::visible(&claim.words).into_owned();
        let block = desk.prompts.fence.around(&attributes, &format!("Claim: {words}\n{code}"));
        let tokens = desk.count(&block);
        if all.tokens + tokens > room {
            continue;
        }
        all.tokens += tokens;
        all.text.push_str(&block);
        all.text.push('\n');
        all.shown.push(index);
    }
    all
}

/// The lines around a place, with their numbers.
fn code(desk: &Desk<'_>, claim: &Claim, around: u64) -> Option<String> {
    let first = claim.line.saturating_sub(around).max(1);
    let last = claim.end_line.max(claim.line).saturating_add(around);
    let numbered = |text: &Shown| {
        let mut code = String::new();
        for number in first..=last {
            let Some(line) = text.line(number) else { break };
            // Writing to a string cannot fail.
            _ = writeln!(code, "{number}  {line}");
        }
        code
    };
    let entry = desk.review.plan.scope.files.iter().find(|file| *file.path == claim.file);
    let deleted = entry.is_some_and(|entry| entry.change == Change::Deleted);
    let changed: Option<Arc<ShownFile>> = desk.library.changed(&claim.file);
    let side =
        changed.as_ref().and_then(|file| if deleted { &file.base } else { &file.head }.as_ref());
    match side {
        Some(text) => Some(numbered(text)),
        None => desk.library.around(&claim.file).map(|text| numbered(&text)),
    }
}
