//! Branches: isolated contexts with budgets that are really charged.
//!
//! A [`Forest`] holds the rules and no lock, so that it can be kept on disk between two calls of a
//! coding agent; [`Branches`] is the same for tasks of one process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Where a branch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchState {
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
    /// Whether nothing comes after it.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Created | Self::Active)
    }

    /// The spelling in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Timeout => "timeout",
            Self::Failed => "failed",
            Self::Cut => "cut",
        }
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

/// A branch of a [`Forest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchId(usize);

/// Why something cannot be done with a branch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
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
    #[error("a branch that is {} cannot become {}", from.as_str(), to.as_str())]
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
pub struct BranchLimits {
    /// How deeply they may be nested; the first has depth 1.
    pub depth: usize,
    /// How many may be at work.
    pub active: usize,
}

/// Tokens of one branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// What it was given.
    pub budget: u64,
    /// What it was charged.
    pub used: u64,
    /// What is set aside for calls under way.
    #[serde(default)]
    pub reserved: u64,
}

/// One branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The branch that it belongs to.
    pub parent: Option<BranchId>,
    /// How deeply it is nested; the first has depth 1.
    pub depth: usize,
    /// Where it stands.
    pub state: BranchState,
    /// Its tokens.
    pub account: Account,
}

/// All branches of a run or a session, and the rules that they follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Forest {
    nodes: Vec<Node>,
}

impl Forest {
    /// Makes a branch under `parent`. Two branches with the same parent are siblings, and neither
    /// sees the other.
    pub fn create(
        &mut self,
        limits: BranchLimits,
        parent: Option<BranchId>,
        budget: u64,
    ) -> Result<BranchId, BranchError> {
        let depth = match parent {
            None => 1,
            Some(parent) => {
                let parent = self.node(parent).ok_or(BranchError::Unknown)?;
                if parent.state.is_final() {
                    let (from, to) = (parent.state, BranchState::Active);
                    return Err(BranchError::Transition { from, to });
                }
                parent.depth + 1
            }
        };
        if depth > limits.depth {
            return Err(BranchError::TooDeep(limits.depth));
        }
        let account = Account { budget, ..Account::default() };
        self.nodes.push(Node { parent, depth, state: BranchState::Created, account });
        Ok(BranchId(self.nodes.len() - 1))
    }

    /// Takes a branch from where it is to `next`.
    pub fn become_(
        &mut self,
        limits: BranchLimits,
        branch: BranchId,
        next: BranchState,
    ) -> Result<(), BranchError> {
        let from = self.node(branch).ok_or(BranchError::Unknown)?.state;
        if !from.may_become(next) {
            return Err(BranchError::Transition { from, to: next });
        }
        if next.is_final() && self.open_children(branch).next().is_some() {
            return Err(BranchError::ActiveChildren);
        }
        let at_work = self.nodes.iter().filter(|node| node.state == BranchState::Active).count();
        if next == BranchState::Active && at_work >= limits.active {
            return Err(BranchError::TooMany(limits.active));
        }
        self.nodes[branch.0].state = next;
        Ok(())
    }

    /// Ends a branch; what is still open below it is cut first, the deepest before the others.
    pub fn fold(&mut self, branch: BranchId, last: BranchState) -> Result<(), BranchError> {
        let unlimited = BranchLimits { depth: usize::MAX, active: usize::MAX };
        let children: Vec<BranchId> = self.open_children(branch).collect();
        for child in children {
            self.fold(child, BranchState::Cut)?;
        }
        self.become_(unlimited, branch, last)
    }

    fn open_children(&self, parent: BranchId) -> impl Iterator<Item = BranchId> {
        let open =
            move |(_, node): &(usize, &Node)| node.parent == Some(parent) && !node.state.is_final();
        self.nodes.iter().enumerate().filter(open).map(|(index, _)| BranchId(index))
    }

    /// Sets tokens aside for a call.
    pub fn reserve(&mut self, branch: BranchId, wanted: u64) -> Result<(), BranchError> {
        let node = self.nodes.get_mut(branch.0).ok_or(BranchError::Unknown)?;
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
    pub fn settle(&mut self, branch: BranchId, reserved: u64, charged: u64) {
        if let Some(node) = self.nodes.get_mut(branch.0) {
            node.account.reserved = node.account.reserved.saturating_sub(reserved);
            node.account.used = node.account.used.saturating_add(charged);
        }
    }

    /// A branch, where there is one.
    pub fn node(&self, branch: BranchId) -> Option<&Node> {
        self.nodes.get(branch.0)
    }
}

/// All branches of a run. What is done to one is done at once: no other task sees half of it.
#[derive(Debug)]
pub(crate) struct Branches {
    limits: BranchLimits,
    forest: Mutex<Forest>,
}

impl Branches {
    pub(crate) fn new(limits: BranchLimits) -> Self {
        Self { limits, forest: Mutex::default() }
    }

    /// Makes a branch under `parent`.
    pub(crate) fn create(
        &self,
        parent: Option<BranchId>,
        budget: u64,
    ) -> Result<BranchId, BranchError> {
        self.forest().create(self.limits, parent, budget)
    }

    /// Takes a branch from where it is to `next`.
    pub(crate) fn become_(&self, branch: BranchId, next: BranchState) -> Result<(), BranchError> {
        self.forest().become_(self.limits, branch, next)
    }

    /// Sets tokens aside for a call.
    pub(crate) fn reserve(&self, branch: BranchId, wanted: u64) -> Result<(), BranchError> {
        self.forest().reserve(branch, wanted)
    }

    /// Charges a call and gives back what was set aside for it.
    pub(crate) fn settle(&self, branch: BranchId, reserved: u64, charged: u64) {
        self.forest().settle(branch, reserved, charged);
    }

    pub(crate) fn account(&self, branch: BranchId) -> Account {
        self.forest().node(branch).map(|node| node.account).unwrap_or_default()
    }

    fn forest(&self) -> MutexGuard<'_, Forest> {
        self.forest.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn folding_cuts_what_is_open_below_and_leaves_siblings_alone() {
        let limits = BranchLimits { depth: 3, active: 10 };
        let mut forest = Forest::default();
        let top = forest.create(limits, None, 0).unwrap();
        let child = forest.create(limits, Some(top), 0).unwrap();
        let below = forest.create(limits, Some(child), 0).unwrap();
        let sibling = forest.create(limits, Some(top), 0).unwrap();
        for branch in [top, child, below, sibling] {
            forest.become_(limits, branch, BranchState::Active).unwrap();
        }
        forest.fold(child, BranchState::Completed).unwrap();
        let state = |branch| forest.node(branch).unwrap().state;
        assert_eq!(
            [state(top), state(child), state(below), state(sibling)],
            [BranchState::Active, BranchState::Completed, BranchState::Cut, BranchState::Active]
        );
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
