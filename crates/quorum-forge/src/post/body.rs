//! The text of a comment.

use quorum_model::finding::Finding;

use super::{Dialect, title};

/// Opens the hidden marker of a comment on a finding.
pub const FINDING_MARKER: &str = "<!-- quorum:finding ";
/// The hidden marker of the summary.
pub const SUMMARY_MARKER: &str = "<!-- quorum:summary -->";
const RESOLVED: &str = "**Resolved.**";

/// The fingerprint in a comment's marker, where it is one of ours.
pub fn fingerprint_in(body: &str) -> Option<&str> {
    let rest = body.rsplit_once(FINDING_MARKER)?.1;
    let (fingerprint, _) = rest.split_once(" -->")?;
    let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == ':';
    (!fingerprint.is_empty() && fingerprint.chars().all(known)).then_some(fingerprint)
}

/// The comment on a finding; with a block that the reader can apply where `suggestion` holds.
pub(crate) fn comment(finding: &Finding, suggestion: Option<Dialect>) -> String {
    let mut text = format!("**{}** {}", finding.severity.as_str(), plain(&title(finding)));
    let rest = finding.issue.trim().strip_prefix(title(finding).as_str()).unwrap_or_default();
    let rest = rest.trim_start_matches('.').trim();
    for part in [rest, finding.recommendation.trim()] {
        if !part.is_empty() {
            text.extend(["\n\n", &plain(part)]);
        }
    }
    if let (Some(dialect), Some(replacement)) = (suggestion, &finding.replacement) {
        let fence = fence_for(&replacement.text);
        let word = match dialect {
            Dialect::GitHub => "suggestion".to_owned(),
            // A note on GitLab stands on the last line and says how many lines above it belong.
            Dialect::GitLab => {
                let above = replacement.end_line.saturating_sub(replacement.start_line);
                format!("suggestion:-{above}+0")
            }
        };
        text.extend(["\n\n", &fence, &word, "\n", &replacement.text, "\n", &fence]);
    }
    let mut by = finding.agents.join(", ");
    for word in [finding.cwe.as_deref(), finding.rule.as_deref()].into_iter().flatten() {
        by.extend([" · ", word]);
    }
    text.extend(["\n\n<sub>", &plain(&finding.id), " · ", &plain(&by), "</sub>\n\n"]);
    text.extend([FINDING_MARKER, &finding.fingerprint, " -->"]);
    text
}

/// The comment on a finding that is gone; absent when it already says so.
pub(crate) fn resolved(body: &str) -> Option<String> {
    if body.starts_with(RESOLVED) {
        return None;
    }
    Some(format!("{RESOLVED} The last review of this place does not find it any more.\n\n{body}"))
}

/// The comment on a finding that was gone and is back; absent when it never was gone.
pub(crate) fn reopened(body: &str) -> Option<String> {
    let rest = body.strip_prefix(RESOLVED)?;
    Some(rest.split_once("\n\n").map_or(rest, |(_, body)| body).to_owned())
}

/// Text that may come from anybody, as Markdown that shows it: no HTML, nobody is called.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '<' => shown.push_str("&lt;"),
            // A word that begins with it would call the person or the issue of that name.
            '@' | '#' if !before.is_alphanumeric() => {
                shown.push(c);
                shown.push_str("<!-- -->");
            }
            '\n' | '\t' => shown.push(c),
            c if c.is_control() || is_invisible(c) => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
        before = c;
    }
    shown
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A fence that is longer than any in the text.
fn fence_for(text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_again() {
        let body = format!("text\n\n{FINDING_MARKER}qf1:ab12 -->");
        assert_eq!(fingerprint_in(&body), Some("qf1:ab12"));
        assert_eq!(fingerprint_in("<!-- quorum:finding a b -->"), None);
        assert_eq!(fingerprint_in("nothing"), None);
    }

    #[test]
    fn nobody_is_called_and_no_tag_is_opened() {
        assert_eq!(plain("ask @bob, see #12"), "ask @<!-- -->bob, see #<!-- -->12");
        assert_eq!(plain("<img src=x> a@b.c"), "&lt;img src=x> a@b.c");
        assert_eq!(plain("a\u{202e}b\u{1b}[1m"), "a\u{fffd}b\u{fffd}[1m");
    }

    #[test]
    fn resolving_and_reopening_undo_each_other() {
        let body = "**HIGH** x\n\ny";
        let gone = resolved(body).expect("it was open");
        assert_eq!(resolved(&gone), None);
        assert_eq!(reopened(&gone).as_deref(), Some(body));
        assert_eq!(reopened(body), None);
    }

    #[test]
    fn fences_in_a_suggestion_do_not_end_it() {
        assert_eq!(fence_for("a ``` b"), "````");
        assert_eq!(fence_for("a"), "```");
    }
}
