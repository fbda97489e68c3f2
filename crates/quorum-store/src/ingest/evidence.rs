//! Holding a finding from elsewhere against the code.

use quorum_model::finding::AgentFinding;

use super::Rejection;
use crate::ledger::region::{Anchors, Lines, Place, locate};

/// The finding with the lines of its quote in `text`, which is what the file holds; absent where the
/// file is not under review. A finding that gives a line and no quote quotes that line.
pub fn check(finding: &AgentFinding, text: Option<&str>) -> Result<AgentFinding, Rejection> {
    let (file, line) = finding.place().ok_or(Rejection::NoPlace)?;
    let text = text.ok_or(Rejection::OutOfScope)?;
    let mut checked = finding.clone();
    checked.file = Some(file.to_owned());
    checked.location = None;
    let quote = finding.evidence.as_deref().map(str::trim).filter(|quote| !quote.is_empty());
    let Some(quote) = quote else {
        let line = line.ok_or(Rejection::EvidenceNotFound)?;
        let index = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let there = index.and_then(|index| text.lines().nth(index)).map(str::trim);
        let there = there.filter(|there| !there.is_empty()).ok_or(Rejection::EvidenceNotFound)?;
        checked.line = Some(line);
        checked.end_line = None;
        checked.evidence = Some(there.to_owned());
        return Ok(checked);
    };
    let near = line.unwrap_or(1);
    match locate(&Lines::of(text), quote, near, near, &Anchors::default()) {
        Place::Same(start, end) => {
            checked.line = Some(start);
            checked.end_line = (end > start).then_some(end);
            checked.evidence = Some(quote.to_owned());
            Ok(checked)
        }
        Place::Changed(..) => Err(Rejection::EvidenceNotFound),
    }
}
