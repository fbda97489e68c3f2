//! Branches: isolated contexts with budgets that are really charged.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a branch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchState {
    /// Made, and not yet at work.
    Created,
    /// At work.
    Active,
    /// Done with what it was given.
    Completed,
    /// Out of time.
    Timeout,
    /// Its engine failed.
    Failed,
    /// Stopped at its budget, a ceiling, or by the user.
    Cut,
}

impl BranchState {
    fn is_final(self) -> bool {
        !matches!(self, Self::Created | Self::Active)
    }

    /// Whether a branch may go from here to `next`.
    fn may_become(self, next: Self) -> bool {
        match self {
            Self::Created => matches!(next, Self::Active | Self::Failed | Self::Cut),
            Self::Active => next.is_final(),
            _ => false,
        }
    }
}

/// A branch of a [`Branches`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BranchId(usize);

/// Why something cannot be done with a branch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BranchError {
    /// There is no such branch.
    #[error("there is no such branch")]
    Unknown,
    /// It is nested too deeply.
    #[error("a branch may be nested {0} deep at most")]
    TooDeep(usize),
    /// Too many are at work.
    #[error("{0} branches may be at work at most")]
    TooMany(usize),
    /// It cannot go from where it is to there.
    #[error("a branch that is {from:?} cannot become {to:?}")]
    Transition {
        /// Where it is.
        from: BranchState,
        /// Where it was to go.
        to: BranchState,
    },
    /// Its children are still at work.
    #[error("a branch ends after its children")]
    ActiveChildren,
    /// What is asked for does not fit its budget.
    #[error("{wanted} tokens do not fit the {left} that are left")]
    Exhausted {
        /// What was asked for.
        wanted: u64,
        /// What is left.
        left: u64,
    },
}

/// What branches must keep to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BranchLimits {
    /// How deeply they may be nested; the first has depth 1.
    pub(crate) depth: usize,
    /// How many may be at work.
    pub(crate) active: usize,
}

/// Tokens of one branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// What it was given.
    pub(crate) budget: u64,
    /// What it was charged.
    pub(crate) used: u64,
    /// What is set aside for calls under way.
    pub(crate) reserved: u64,
}

#[derive(Debug)]
struct Node {
    parent: Option<BranchId>,
    depth: usize,
    state: BranchState,
    account: Account,
}

/// All branches of a run. What is done to one is done at once: no other task sees half of it.
#[derive(Debug)]
pub(crate) struct Branches {
    limits: BranchLimits,
    nodes: Mutex<Vec<Node>>,
}

impl Branches {
    pub(crate) fn new(limits: BranchLimits) -> Self {
        Self { limits, nodes: Mutex::default() }
    }

    /// Makes a branch under `parent`. Two branches with the same parent are siblings, and neither
    /// sees the other.
    pub(crate) fn create(
        &self,
        parent: Option<BranchId>,
        budget: u64,
    ) -> Result<BranchId, BranchError> {
        let mut nodes = self.nodes();
        let depth = match parent {
            None => 1,
            Some(BranchId(parent)) => {
                let parent = nodes.get(parent).ok_or(BranchError::Unknown)?;
                if parent.state.is_final() {
                    let (from, to) = (parent.state, BranchState::Active);
                    return Err(BranchError::Transition { from, to });
                }
                parent.depth + 1
            }
        };
        if depth > self.limits.depth {
            return Err(BranchError::TooDeep(self.limits.depth));
        }
        let account = Account { budget, ..Account::default() };
        nodes.push(Node { parent, depth, state: BranchState::Created, account });
        Ok(BranchId(nodes.len() - 1))
    }

    /// Takes a branch from where it is to `next`.
    pub(crate) fn become_(&self, branch: BranchId, next: BranchState) -> Result<(), BranchError> {
        let mut nodes = self.nodes();
        let from = nodes.get(branch.0).ok_or(BranchError::Unknown)?.state;
        if !from.may_become(next) {
            return Err(BranchError::Transition { from, to: next });
        }
        let open = |node: &Node| node.parent == Some(branch) && !node.state.is_final();
        if next.is_final() && nodes.iter().any(open) {
            return Err(BranchError::ActiveChildren);
        }
        let at_work = nodes.iter().filter(|node| node.state == BranchState::Active).count();
        if next == BranchState::Active && at_work >= self.limits.active {
            return Err(BranchError::TooMany(self.limits.active));
        }
        nodes[branch.0].state = next;
        Ok(())
    }

    /// Sets tokens aside for a call.
    pub(crate) fn reserve(&self, branch: BranchId, wanted: u64) -> Result<(), BranchError> {
        let mut nodes = self.nodes();
        let node = nodes.get_mut(branch.0).ok_or(BranchError::Unknown)?;
        let account = &mut node.account;
        let taken = account.used.saturating_add(account.reserved);
        let left = account.budget.saturating_sub(taken);
        if wanted > left {
            return Err(BranchError::Exhausted { wanted, left });
        }
        account.reserved += wanted;
        Ok(())
    }

    /// Charges a call and gives back what was set aside for it.
    pub(crate) fn settle(&self, branch: BranchId, reserved: u64, charged: u64) {
        let mut nodes = self.nodes();
        if let Some(node) = nodes.get_mut(branch.0) {
            node.account.reserved = node.account.reserved.saturating_sub(reserved);
            node.account.used = node.account.used.saturating_add(charged);
        }
    }

    pub(crate) fn account(&self, branch: BranchId) -> Account {
        self.nodes().get(branch.0).map(|node| node.account).unwrap_or_default()
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STATES: [BranchState; 6] = [
        BranchState::Created,
        BranchState::Active,
        BranchState::Completed,
        BranchState::Timeout,
        BranchState::Failed,
        BranchState::Cut,
    ];

    fn branches(depth: usize, active: usize) -> Branches {
        Branches::new(BranchLimits { depth, active })
    }

    #[test]
    fn every_transition_is_as_written() {
        use BranchState::{Active, Completed, Created, Cut, Failed, Timeout};
        for from in STATES {
            for to in STATES {
                let allowed = match from {
                    Created => [Active, Failed, Cut].contains(&to),
                    Active => [Completed, Timeout, Failed, Cut].contains(&to),
                    _ => false,
                };
                assert_eq!(from.may_become(to), allowed, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn siblings_do_not_nest_however_many_there_are() {
        let branches = branches(3, 100);
        let run = branches.create(None, 0).unwrap();
        for _ in 0..20 {
            let agent = branches.create(Some(run), 10).unwrap();
            let shard = branches.create(Some(agent), 10).unwrap();
            assert_eq!(branches.create(Some(shard), 10), Err(BranchError::TooDeep(3)));
        }
    }

    #[test]
    fn a_parent_ends_after_its_children_and_takes_none_afterwards() {
        let branches = branches(3, 100);
        let parent = branches.create(None, 0).unwrap();
        branches.become_(parent, BranchState::Active).unwrap();
        let child = branches.create(Some(parent), 0).unwrap();
        branches.become_(child, BranchState::Active).unwrap();
        let ended = branches.become_(parent, BranchState::Completed);
        assert_eq!(ended, Err(BranchError::ActiveChildren));
        branches.become_(child, BranchState::Cut).unwrap();
        branches.become_(parent, BranchState::Completed).unwrap();
        assert!(branches.create(Some(parent), 0).is_err());
    }

    #[test]
    fn no_more_are_at_work_than_allowed() {
        let branches = branches(1, 1);
        let one = branches.create(None, 0).unwrap();
        let two = branches.create(None, 0).unwrap();
        branches.become_(one, BranchState::Active).unwrap();
        let second = branches.become_(two, BranchState::Active);
        assert_eq!(second, Err(BranchError::TooMany(1)));
    }

    #[test]
    fn what_is_set_aside_cannot_be_set_aside_again() {
        let branches = branches(1, 1);
        let branch = branches.create(None, 100).unwrap();
        branches.reserve(branch, 60).unwrap();
        let second = branches.reserve(branch, 60);
        assert_eq!(second, Err(BranchError::Exhausted { wanted: 60, left: 40 }));
        branches.settle(branch, 60, 10);
        assert_eq!(branches.account(branch), Account { budget: 100, used: 10, reserved: 0 });
        branches.reserve(branch, 90).unwrap();
    }

    proptest! {
        #[test]
        fn no_order_of_calls_reserves_more_than_there_is(
            calls in proptest::collection::vec((0u64..50, any::<bool>()), 0..60),
        ) {
            let branches = branches(1, 1);
            let branch = branches.create(None, 200).unwrap();
            let mut open = Vec::new();
            for (tokens, settles) in calls {
                if settles {
                    if let Some(reserved) = open.pop() {
                        branches.settle(branch, reserved, reserved.min(tokens));
                    }
                } else if branches.reserve(branch, tokens).is_ok() {
                    open.push(tokens);
                }
                let account = branches.account(branch);
                prop_assert!(account.used + account.reserved <= account.budget);
            }
        }
    }
}
