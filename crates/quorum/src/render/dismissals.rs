//! What was set aside, as a page.

use std::fmt::Write as _;

use jiff::Timestamp;
use quorum_store::ledger::dismissal::Dismissals;

use super::style::dim;

const UNSEALED: &str = " (does not count: it lacks the mark of your key)";

/// What was set aside, one line each; of `foreign` that it does not count.
pub(crate) fn list(dismissals: &Dismissals, foreign: &Dismissals, now: Timestamp) -> String {
    let mut page = String::new();
    let own = dismissals.iter().map(|dismissal| (dismissal, ""));
    let foreign = foreign.iter().map(|dismissal| (dismissal, UNSEALED));
    for (dismissal, note) in own.chain(foreign) {
        let end = match &dismissal.expires {
            Some(day) if dismissal.holds(now) => format!(" until {day}"),
            Some(day) => format!(" until {day}, which is over"),
            None => String::new(),
        };
        let fingerprint = dismissal.fingerprint.get(..12).unwrap_or(&dismissal.fingerprint);
        let file = dismissal.file.as_deref().unwrap_or("?");
        let title = dismissal.title.as_deref().unwrap_or_default();
        let by = format!("{}{end}: {}{note}", dismissal.author, dismissal.reason);
        // Writing to a string cannot fail.
        _ = writeln!(page, "{fingerprint} {file} {title} {}", dim(&by));
    }
    if page.is_empty() { "nothing is set aside\n".to_owned() } else { page }
}
