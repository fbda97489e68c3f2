//! What a branch may still be shown. Pure: tokens in, a decision out.

use quorum_dispatch::branch::Account;
use quorum_model::budget::{Mode, Thresholds};

use crate::error::{Code, ToolError};

/// What is shown, and what the branch is told with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What is charged: the answer and the note.
    pub(crate) tokens: u64,
    /// The mode that the branch is in after it.
    pub(crate) mode: Mode,
    /// What it is told, from the first threshold on.
    pub(crate) note: Option<&'static str>,
}

/// Decides about an answer of `tokens` tokens. The note about a threshold is charged as well, so that
/// a branch is charged exactly what it is sent.
pub(crate) fn weigh(
    account: Account,
    thresholds: Thresholds,
    tokens: u64,
    count: impl Fn(&str) -> u64,
) -> Result<Shown, ToolError> {
    let before = thresholds.mode(account.used, account.budget);
    if before >= Mode::ForceReturn {
        let text = format!("{} of {} tokens are used", account.used, account.budget);
        let code =
            if before == Mode::Cut { Code::BudgetExhausted } else { Code::BudgetForceReturn };
        return Err(ToolError::new(code, text)
            .with_hint("nothing new is shown; report what you have and return"));
    }
    let mut shown = Shown { tokens, mode: before, note: None };
    loop {
        let after = account.used.saturating_add(shown.tokens);
        // A shorter note may lead back below the threshold that it tells of: the branch is told.
        let mode = thresholds.mode(after, account.budget).max(shown.mode);
        if mode == Mode::Cut {
            let left = thresholds.force_return.floor_of(account.budget);
            let left = left.saturating_sub(account.used);
            let text = format!("the answer takes {} tokens, and {left} are left", shown.tokens);
            return Err(ToolError::new(Code::BudgetExhausted, text)
                .with_hint("ask for less (limit, budget, content_mode), or return"));
        }
        if mode == shown.mode {
            return Ok(shown);
        }
        let note = note(mode);
        shown = Shown { tokens: tokens + note.map_or(0, &count), mode, note };
    }
}

fn note(mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::FullAnalysis => None,
        Mode::HighSeverityOnly => Some(
            "[budget: over 80 % used. Report CRITICAL and HIGH only; count the others in \
             skipped_medium and skipped_low.]",
        ),
        Mode::ForceReturn | Mode::Cut => {
            Some("[budget: over 95 % used. Nothing more is shown. Report and return now.]")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn account(used: u64) -> Account {
        Account { budget: 1_000, used, reserved: 0 }
    }

    fn weigh_at(used: u64, tokens: u64) -> Result<Shown, Code> {
        let counted = |text: &str| text.len() as u64 / 10;
        weigh(account(used), Thresholds::default(), tokens, counted).map_err(|error| error.code)
    }

    #[test]
    fn thresholds_are_told_and_then_enforced() {
        assert_eq!(weigh_at(0, 700).unwrap().note, None);
        let high = weigh_at(700, 110).unwrap();
        assert_eq!(high.mode, Mode::HighSeverityOnly);
        assert!(high.note.unwrap().contains("80 %") && high.tokens > 110);
        let last = weigh_at(850, 101).unwrap();
        assert_eq!(last.mode, Mode::ForceReturn);
        assert_eq!(weigh_at(950, 1).unwrap_err(), Code::BudgetForceReturn);
        assert_eq!(weigh_at(980, 1).unwrap_err(), Code::BudgetExhausted);
        assert_eq!(weigh_at(0, 980).unwrap_err(), Code::BudgetExhausted);
    }

    /// The note about a branch that is over 80 % is repeated only when the mode changes again: the
    /// branch was told once.
    #[test]
    fn a_mode_is_told_when_it_begins() {
        let second = weigh_at(820, 10).unwrap();
        assert_eq!((second.note, second.tokens), (None, 10));
    }

    proptest! {
        #[test]
        fn no_answer_takes_a_branch_to_the_cut(used in 0u64..1_200, tokens in 0u64..1_200) {
            if let Ok(shown) = weigh_at(used, tokens) {
                prop_assert!(used + shown.tokens < 980);
                prop_assert!(shown.tokens >= tokens);
            }
        }
    }
}
