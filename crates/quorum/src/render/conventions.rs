//! Conventions as a page.

use std::fmt::Write as _;

use quorum_report::visible;

use super::style::{dim, heading, number, table};
use crate::commands::conventions::Conventions;

/// What there is, what is not used, and what is offered.
pub(crate) fn page(all: &Conventions, width: usize) -> String {
    let mut page = String::new();
    if all.documents.is_empty() {
        page.push_str("no documents that say how code is written here\n");
    } else {
        let rows = all.documents.iter().map(|document| {
            vec![document.path.clone(), document.scope.clone(), number(document.tokens)]
        });
        page.push_str(&table(&["Document", "For", "Tokens"], rows.collect(), &[2], width));
    }
    for unused in &all.unused {
        // Writing to a string cannot fail.
        _ = writeln!(page, "  {}  {}", unused.path, dim(&format!("not used: {}", unused.reason)));
    }
    if !all.offers.is_empty() {
        _ = writeln!(page, "\n{}", heading("Offered by reviewers"));
    }
    for offer in &all.offers {
        let pattern = &offer.pattern;
        let agents: Vec<&str> = offer.agents.iter().map(String::as_str).collect();
        let facts = format!("{}; {} in run {}", pattern.applies_to, agents.join(", "), offer.run);
        _ = writeln!(page, "  {} {} {}", offer.id, visible(&pattern.name), dim(&visible(&facts)));
        _ = writeln!(page, "    {}", visible(&pattern.pattern));
    }
    page
}
