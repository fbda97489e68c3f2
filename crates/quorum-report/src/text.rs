//! Text from strangers, made fit to be looked at.

use std::borrow::Cow;
use std::fmt::Write as _;

use quorum_model::finding::{Effort, Finding, FindingState, Replacement};
use quorum_model::report::CutoffReason;
use quorum_model::result::AgentExecution;
use quorum_model::verdict::{AgentVerdict, Verdict};

/// `text` with everything visible that would act on a terminal or hide from a reader: control
/// characters, those that change the direction of writing, and those without any width.
///
/// Line ends and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        if is_hidden(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // The last two are no characters at all, and XML forbids them.
        '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{feff}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{e0000}'..='\u{e007f}'
        | '\u{fffe}'
        | '\u{ffff}' => true,
        _ => c.is_control(),
    }
}

/// `text` on one line, visible, with at most `limit` characters.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clip(&visible(&words.join(" ")), limit).into_owned()
}

/// `text` visible, with its lines, with at most `limit` characters and a note on what was cut.
pub(crate) fn block(text: &str, limit: usize) -> String {
    clip(&visible(text), limit).into_owned()
}

/// `text` with at most `limit` characters, and a note on how many were cut.
pub(crate) fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let length = text.chars().count();
    if length <= limit {
        return Cow::Borrowed(text);
    }
    let note = |cut: usize| format!(" … ({cut} more characters)");
    // The note takes room too: the limit is a promise to whoever reads the text.
    let keep = limit.saturating_sub(note(length).chars().count());
    if keep == 0 {
        return Cow::Owned(text.chars().take(limit).collect());
    }
    let kept: String = text.chars().take(keep).collect();
    Cow::Owned(kept + &note(length - keep))
}

/// `file:line`, or `file:first-last`.
pub(crate) fn place(finding: &Finding) -> String {
    let file = line(&finding.file, 300);
    match (finding.line, finding.end_line) {
        (0, _) => file,
        (first, last) if last > first => format!("{file}:{first}-{last}"),
        (first, _) => format!("{file}:{first}"),
    }
}

/// The finding's lines as editors count them: from 1 on, the last not before the first.
pub(crate) fn lines(finding: &Finding) -> (u64, u64) {
    let first = finding.line.max(1);
    (first, finding.end_line.max(first))
}

/// What mends the finding without any thought. Half of a replacement would do harm, so a huge one
/// is left out.
pub(crate) fn replacement(finding: &Finding) -> Option<&Replacement> {
    finding.replacement.as_ref().filter(|replacement| replacement.text.len() <= 20_000)
}

/// The lines that a replacement takes the place of, in order and from 1 on.
pub(crate) fn replaced(replacement: &Replacement) -> (u64, u64) {
    let first = replacement.start_line.max(1);
    (first, replacement.end_line.max(first))
}

/// What is put in place of whole lines; nothing in place of them is no line at all.
pub(crate) fn with_line_end(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

/// How much work a fix is, in words.
pub(crate) fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Trivial => "minutes",
        Effort::Small => "an hour or so",
        Effort::Medium => "a day or so",
        Effort::Large => "more than a day",
    }
}

/// The rule that found it, or the sort of defect where no rule did.
pub(crate) fn rule(finding: &Finding) -> String {
    let rule = finding.rule.as_deref().filter(|rule| !rule.trim().is_empty());
    let rule = rule.unwrap_or(&finding.category);
    let rule = line(rule, 200);
    if rule.is_empty() { "finding".to_owned() } else { rule }
}

/// The verdict, as documents spell it.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "APPROVED",
        Verdict::Advisory => "ADVISORY",
        Verdict::ChangesRequested => "CHANGES_REQUESTED",
        Verdict::Blocked => "BLOCKED",
        Verdict::Incomplete => "INCOMPLETE",
        Verdict::NothingToReview => "NOTHING_TO_REVIEW",
    }
}

/// The findings that an agent saw and left out for lack of budget, where there are any.
pub(crate) fn left_out(agent: &AgentExecution) -> Option<String> {
    let skipped = agent.skipped;
    let all = skipped.medium + skipped.low;
    (all > 0).then(|| {
        format!("{} MEDIUM and {} LOW findings (budget limit)", skipped.medium, skipped.low)
    })
}

/// An agent's verdict, as documents spell it.
pub(crate) fn agent_verdict(verdict: AgentVerdict) -> &'static str {
    match verdict {
        AgentVerdict::Ok => "OK",
        AgentVerdict::Warn => "WARN",
        AgentVerdict::Veto => "VETO",
        AgentVerdict::Error => "ERROR",
    }
}

/// Who set a finding aside, where and why, in one line.
pub(crate) fn set_aside(finding: &Finding) -> String {
    let Some(by) = &finding.suppression else { return "no reason is kept".to_owned() };
    let reason = if by.reason.is_empty() { "without a reason" } else { &by.reason };
    let author = by.author.as_deref().map(|author| format!(", {author}")).unwrap_or_default();
    let brought = if by.by_change { ", brought by this change" } else { "" };
    format!("{reason} ({}{author}{brought})", by.place)
}

/// Where a finding stands, in words.
pub(crate) fn state(state: FindingState) -> &'static str {
    match state {
        FindingState::New => "new",
        FindingState::Persisting => "persisting",
        FindingState::Resolved => "resolved",
        FindingState::Dismissed => "dismissed",
        FindingState::Suppressed => "suppressed",
        FindingState::NotReviewed => "not reviewed",
    }
}

/// Why an agent stopped, in words.
pub(crate) fn cutoff(reason: CutoffReason) -> &'static str {
    match reason {
        CutoffReason::Budget => "its budget was used up",
        CutoffReason::Ceiling => "a ceiling of the run was met",
        CutoffReason::Timeout => "it ran out of time",
        CutoffReason::Absent => "an agent of the coding assistant never came back",
        CutoffReason::Interrupt => "the run was interrupted",
        CutoffReason::Error => "its engine failed",
        CutoffReason::Canary => "it missed a planted defect",
    }
}

/// A number with commas between thousands.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `count` things, in words.
pub fn count(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", number(count as u64), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_hides_or_acts_is_shown() {
        assert_eq!(visible("plain, ünïcödé 👩‍💻\n\tx"), "plain, ünïcödé 👩‍💻\n\tx");
        assert_eq!(visible("\x1b[31mred"), "\\u{1b}[31mred");
        assert_eq!(visible("a\u{202e}b\u{200b}c\u{85}d"), "a\\u{202e}b\\u{200b}c\\u{85}d");
        assert_eq!(visible("dos\r\nunix\nmac\r"), "dos\nunix\nmac\\u{d}");
        assert_eq!(line("  a\n b\t\x07c ", 80), "a b \\u{7}c");
    }

    #[test]
    fn a_cut_says_how_much_is_gone() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip(&"x".repeat(99), 40), format!("{} … (82 more characters)", "x".repeat(17)));
        assert_eq!(clip("abcdef", 3), "abc");
    }

    proptest! {
        #[test]
        fn a_limit_holds(text in "\\PC{0,200}|[\u{1b}\u{202e}x\n]{0,300}", limit in 0usize..120) {
            prop_assert!(clip(&text, limit).chars().count() <= limit);
            prop_assert!(line(&text, limit).chars().count() <= limit);
            prop_assert!(block(&text, limit).chars().count() <= limit);
            prop_assert!(!line(&text, limit).contains(is_hidden));
        }
    }
}
