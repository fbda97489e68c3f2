//! The text of a comment.

use quorum_model::finding::Finding;
use quorum_model::record::RecordStatus;

use super::{Dialect, title};

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
    text.extend(["\n\n<sub>", &plain(&finding.id), " · ", &plain(&by), "</sub>"]);
    text
}

/// What a comment begins with that is not open any more, by the finding's state.
const STATES: [(RecordStatus, &str); 3] = [
    (RecordStatus::Resolved, "**Resolved.**"),
    (RecordStatus::Dismissed, "**Dismissed.**"),
    (RecordStatus::Suppressed, "**Suppressed.**"),
];

/// A comment's text in another state of its finding; `finding` says who set it aside.
pub(crate) fn in_state(core: &str, status: RecordStatus, finding: Option<&Finding>) -> String {
    let Some((_, word)) = STATES.iter().find(|(state, _)| *state == status) else {
        return core.to_owned();
    };
    let why = match status {
        RecordStatus::Resolved => {
            "The last review of this place does not find it any more.".to_owned()
        }
        _ => finding.and_then(|finding| finding.suppression.as_ref()).map_or_else(
            || "It was set aside.".to_owned(),
            |by| {
                let author = by.author.as_deref().map(|who| format!(", {who}"));
                let reason = if by.reason.is_empty() { "No reason is given" } else { &by.reason };
                plain(&format!("{reason} ({}{})", by.place, author.unwrap_or_default()))
            },
        ),
    };
    format!("{word} {why}\n\n{core}")
}

/// A comment's text without its marker and without the word on its state.
pub(crate) fn core(body: &str) -> &str {
    let body = body.rsplit_once("\n\n<!-- quorum:finding ").map_or(body, |(text, _)| text);
    if STATES.iter().any(|(_, word)| body.starts_with(word)) {
        return body.split_once("\n\n").map_or(body, |(_, core)| core);
    }
    body
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
    fn nobody_is_called_and_no_tag_is_opened() {
        assert_eq!(plain("ask @bob, see #12"), "ask @<!-- -->bob, see #<!-- -->12");
        assert_eq!(plain("<img src=x> a@b.c"), "&lt;img src=x> a@b.c");
        assert_eq!(plain("a\u{202e}b\u{1b}[1m"), "a\u{fffd}b\u{fffd}[1m");
    }

    #[test]
    fn states_come_and_go_and_the_text_stays() {
        let core_text = "**HIGH** x\n\ny";
        for status in [RecordStatus::Resolved, RecordStatus::Dismissed, RecordStatus::Suppressed] {
            let told = in_state(core_text, status, None);
            assert_ne!(told, core_text);
            assert_eq!(core(&format!("{told}\n\n<!-- quorum:finding v1 x y -->")), core_text);
        }
        assert_eq!(in_state(core_text, RecordStatus::Open, None), core_text);
    }

    #[test]
    fn fences_in_a_suggestion_do_not_end_it() {
        assert_eq!(fence_for("a ``` b"), "````");
        assert_eq!(fence_for("a"), "```");
    }
}
