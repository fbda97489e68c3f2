//! How many agents must finish.

use quorum_model::budget::Share;

/// How many of the selected agents must finish for a verdict to mean anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quorum {
    /// Every agent with a veto, and two thirds of the others.
    #[default]
    VetoingAndTwoThirds,
    /// This share of all.
    Share(Share),
}

/// How many agents there are of a kind, and how many of them finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turnout {
    pub(crate) selected: u64,
    pub(crate) finished: u64,
}

impl Turnout {
    pub(crate) fn of(finished: impl Iterator<Item = bool>) -> Self {
        finished.fold(Self::default(), |turnout, finished| Self {
            selected: turnout.selected + 1,
            finished: turnout.finished + u64::from(finished),
        })
    }
}

impl Quorum {
    /// Whether enough finished.
    pub(crate) fn met(self, vetoing: Turnout, others: Turnout) -> bool {
        match self {
            Self::VetoingAndTwoThirds => {
                vetoing.finished == vetoing.selected && 3 * others.finished >= 2 * others.selected
            }
            Self::Share(share) => share
                .reached(vetoing.finished + others.finished, vetoing.selected + others.selected),
        }
    }

    /// What it asks for, for people.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::VetoingAndTwoThirds => "every vetoing agent and two thirds of the others",
            Self::Share(_) => "the configured share of all agents",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turnout(finished: u64, selected: u64) -> Turnout {
        Turnout { selected, finished }
    }

    #[test]
    fn every_vetoing_agent_and_exactly_two_thirds_of_the_others() {
        let quorum = Quorum::default();
        let all = turnout(2, 2);
        for (finished, selected, met) in
            [(0, 0, true), (2, 3, true), (1, 2, false), (3, 5, false), (4, 6, true), (0, 1, false)]
        {
            assert_eq!(quorum.met(all, turnout(finished, selected)), met, "{finished}/{selected}");
        }
        assert!(!quorum.met(turnout(1, 2), turnout(3, 3)), "a vetoing agent is missing");
    }

    #[test]
    fn a_share_counts_all_agents_alike() {
        let half = Quorum::Share(Share::percent(50));
        assert!(half.met(turnout(0, 2), turnout(2, 2)));
        assert!(!half.met(turnout(0, 2), turnout(1, 2)));
    }
}
