//! The branches of hosts, kept on disk: a server that is started again knows them, and two servers
//! of one repository charge the same accounts.
//!
//! A session is one file, changed under a lock. Branches of a delegated review are kept in its run;
//! others in `.quorum/branches`.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quorum_dispatch::branch::{BranchId, BranchLimits, BranchState, Forest, Node};
use quorum_dispatch::llm::delegate::SecondRound;
use quorum_model::budget::Mode;
use quorum_store::{Folder, Run, write_whole};
use serde::{Deserialize, Serialize};

use crate::error::{Code, ToolError};
use crate::meter;
use crate::operations::Metering;

/// What hosts' branches must keep to. A delegated review has one for each part, side by side.
pub(crate) const LIMITS: BranchLimits = BranchLimits { depth: 3, active: 4_096 };
/// Branches of one session that may be at work.
pub(crate) const MOST_OF_SESSION: usize = 100;
/// The file of a run's branches.
const OF_RUN: &str = "branches.json";
/// The folder of all others.
const FOLDER: &str = "branches";
/// Sessions that nobody touched for so long are removed.
const KEPT: jiff::SignedDuration = jiff::SignedDuration::from_hours(72);

/// The branches of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "callers know it by this name")]
pub(crate) struct Session {
    /// Its name: the run's id for a delegated review.
    pub(crate) session_id: String,
    pub(crate) forest: Forest,
    pub(crate) branches: Vec<Branch>,
}

/// One branch, beside what the forest knows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub(crate) id: String,
    pub(crate) node: BranchId,
    pub(crate) description: String,
    /// The mode that it was last told.
    pub(crate) told: Mode,
    /// When it is out of time, in seconds since 1970.
    #[serde(default)]
    pub(crate) deadline: Option<i64>,
    /// What it reads and how that is proven, where it is a part of a review.
    #[serde(default)]
    pub(crate) task: Option<Task>,
    /// What it returned.
    #[serde(default)]
    pub(crate) message: Option<String>,
    #[serde(default)]
    pub(crate) findings: Vec<serde_json::Value>,
}

/// A part of a delegated review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) agent: String,
    pub(crate) wave: u32,
    pub(crate) waves: u32,
    pub(crate) receipt: String,
    /// The standing orders that it answers for.
    #[serde(default)]
    pub(crate) sops: Vec<String>,
    /// What it is asked about others' findings, where that is what it is for.
    #[serde(default)]
    pub(crate) second: Option<SecondRound>,
}

/// A branch that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct NewBranch<'a> {
    pub(crate) description: &'a str,
    pub(crate) parent: Option<&'a str>,
    pub(crate) budget: u64,
    pub(crate) deadline: Option<Timestamp>,
    pub(crate) task: Option<Task>,
}

impl Session {
    /// Makes a branch and sets it to work.
    pub(crate) fn create(&mut self, new: NewBranch<'_>) -> Result<&mut Branch, ToolError> {
        let parent = match new.parent {
            Some(id) => Some(self.branch(id).ok_or_else(|| unknown(id))?.node),
            None => None,
        };
        let node = self.forest.create(LIMITS, parent, new.budget)?;
        self.forest.become_(LIMITS, node, BranchState::Active)?;
        self.branches.push(Branch {
            id: fresh_id(),
            node,
            description: new.description.to_owned(),
            told: Mode::FullAnalysis,
            deadline: new.deadline.map(Timestamp::as_second),
            task: new.task,
            message: None,
            findings: Vec::new(),
        });
        // It was pushed just now.
        self.branches.last_mut().ok_or_else(|| unknown("a new one"))
    }

    pub(crate) fn branch(&self, id: &str) -> Option<&Branch> {
        self.branches.iter().find(|branch| branch.id == id)
    }

    pub(crate) fn branch_mut(&mut self, id: &str) -> Option<&mut Branch> {
        self.branches.iter_mut().find(|branch| branch.id == id)
    }

    pub(crate) fn node(&self, branch: &Branch) -> Result<&Node, ToolError> {
        self.forest.node(branch.node).ok_or_else(|| unknown(&branch.id))
    }

    /// Branches at work.
    pub(crate) fn active(&self) -> usize {
        let state = |branch: &Branch| self.forest.node(branch.node).map(|node| node.state);
        self.branches.iter().filter(|branch| state(branch) == Some(BranchState::Active)).count()
    }

    /// Ends what is out of time.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        let late: Vec<BranchId> = self
            .branches
            .iter()
            .filter(|branch| branch.deadline.is_some_and(|deadline| deadline < now.as_second()))
            .map(|branch| branch.node)
            .collect();
        for node in late {
            if self.forest.node(node).is_some_and(|node| !node.state.is_final()) {
                // It is at work, so that it can end.
                drop(self.forest.fold(node, BranchState::Timeout));
            }
        }
    }

    /// A branch that is at work, or why it is not.
    pub(crate) fn working(&self, id: &str) -> Result<(&Branch, &Node), ToolError> {
        let branch = self.branch(id).ok_or_else(|| unknown(id))?;
        let node = self.node(branch)?;
        match node.state {
            BranchState::Active => Ok((branch, node)),
            BranchState::Timeout => {
                Err(ToolError::new(Code::BranchTimeout, format!("branch {id} is out of time")))
            }
            state => {
                let text = format!("branch {id} is {}", state.as_str());
                Err(ToolError::new(Code::BranchNotActive, text))
            }
        }
    }

    /// Charges an answer to a branch, or refuses it; returns the note that goes with it.
    pub(crate) fn charge(
        &mut self,
        id: &str,
        text: &str,
        metering: Metering,
    ) -> Result<Option<&'static str>, ToolError> {
        let count = |text: &str| metering.counter.count(text.as_bytes());
        let (branch, node) = self.working(id)?;
        let (account, node) = (node.account, branch.node);
        let shown = meter::weigh(account, metering.thresholds, count(text), count)?;
        self.forest.reserve(node, shown.tokens)?;
        self.forest.settle(node, shown.tokens, shown.tokens);
        if let Some(branch) = self.branch_mut(id)
            && shown.note.is_some()
        {
            branch.told = shown.mode;
        }
        Ok(shown.note)
    }
}

fn unknown(id: &str) -> ToolError {
    let id: String = id.chars().take(40).collect();
    ToolError::new(Code::BranchNotFound, format!("there is no branch `{id}`"))
        .with_hint("`branch_create` makes one; `review_begin` names those of a review")
}

fn fresh_id() -> String {
    // The end of such an id is random.
    let random = uuid::Uuid::now_v7().simple().to_string();
    format!("br_{}", &random[24..])
}

/// Where a session is kept.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    file: PathBuf,
}

impl Shelf {
    /// The session of a delegated review.
    pub(crate) fn of_run(directory: &Path) -> Self {
        Self { file: directory.join(OF_RUN) }
    }

    /// A session of the host's own.
    pub(crate) fn of_session(root: &Path, session: &str) -> Result<Self, ToolError> {
        let folder = Folder::prepare(root)?.make(FOLDER)?;
        sweep(&folder, Timestamp::now());
        // The name is a caller's, and no name of a file.
        let name = blake3::hash(session.as_bytes()).to_hex();
        Ok(Self { file: folder.join(format!("{}.json", &name[..16])) })
    }

    /// The session that has a branch of this id.
    pub(crate) fn of_branch(root: &Path, id: &str) -> Result<Self, ToolError> {
        let holds = |file: &Path| {
            fs::read(file).ok().and_then(|text| serde_json::from_slice::<Session>(&text).ok())
        };
        let folder = Folder::at(root)?.entry(FOLDER)?;
        let sessions = fs::read_dir(folder).into_iter().flatten().flatten();
        let sessions = sessions
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        let runs = Run::list(root)?.into_iter().rev();
        let runs = runs.map(|run| run.directory().join(OF_RUN));
        sessions
            .chain(runs)
            .find(|file| holds(file).is_some_and(|session| session.branch(id).is_some()))
            .map(|file| Self { file })
            .ok_or_else(|| unknown(id))
    }

    pub(crate) fn exists(&self) -> bool {
        self.file.is_file()
    }

    /// The directory of the run that the session belongs to.
    pub(crate) fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// The session as it is.
    pub(crate) fn read(&self) -> Result<Session, ToolError> {
        let Ok(text) = fs::read(&self.file) else { return Ok(Session::default()) };
        serde_json::from_slice(&text).map_err(|cause| {
            let cause = quorum_model::wording::plain(&cause.to_string());
            ToolError::new(Code::Failed, format!("{}: {cause}", self.file.display()))
                .with_hint("remove it; its branches are lost")
        })
    }

    /// Changes the session while nobody else does. What is out of time ends first; what changed is
    /// written down whatever `change` returns.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Session) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let _lock = self.lock()?;
        let before = self.read()?;
        let mut session = before.clone();
        session.expire(Timestamp::now());
        let result = change(&mut session);
        if session != before {
            let text = serde_json::to_vec(&session)
                .map_err(|cause| ToolError::new(Code::Failed, cause.to_string()))?;
            write_whole(&self.file, &text)?;
        }
        result
    }

    fn lock(&self) -> Result<File, ToolError> {
        let path = self.file.with_extension("lock");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let opened = quorum_store::private::owned(&mut options).open(&path);
        opened.and_then(|file| file.lock().map(|()| file)).map_err(|error| {
            ToolError::new(Code::Failed, format!("locking {}: {error}", path.display()))
        })
    }
}

/// Removes sessions that nobody will come back to.
fn sweep(folder: &Path, now: Timestamp) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "json")) {
        let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let changed = changed.and_then(|changed| Timestamp::try_from(changed).ok());
        if changed.is_some_and(|changed| now.duration_since(changed) > KEPT) {
            // It is in nobody's way; the next sweep tries again.
            drop(fs::remove_file(entry.path()));
            drop(fs::remove_file(entry.path().with_extension("lock")));
        }
    }
}

#[cfg(test)]
mod tests {
    use quorum_index::Counter;
    use quorum_model::budget::Thresholds;
    use quorum_model::config::Tokenizer;

    use super::*;

    fn metering() -> Metering {
        let counter = Counter::new(Tokenizer::Chars4);
        Metering { counter, thresholds: Thresholds::default() }
    }

    fn new(parent: Option<&str>, budget: u64) -> NewBranch<'_> {
        NewBranch { description: "d", parent, budget, deadline: None, task: None }
    }

    #[test]
    fn a_session_survives_a_restart_and_charges_exactly_what_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::of_session(folder.path(), "s").unwrap();
        let id = shelf
            .change(|session| session.create(new(None, 100)).map(|branch| branch.id.clone()))
            .unwrap();
        let text = "x".repeat(160);
        shelf.change(|session| session.charge(&id, &text, metering())).unwrap();
        // As another process would find it.
        let again = Shelf::of_branch(folder.path(), &id).unwrap();
        let session = again.read().unwrap();
        let node = session.node(session.branch(&id).unwrap()).unwrap();
        assert_eq!((node.account.used, node.account.reserved), (40, 0));
        let refused = again.change(|session| session.charge(&id, &"y".repeat(240), metering()));
        assert_eq!(refused.unwrap_err().code, Code::BudgetExhausted);
        let after = again.read().unwrap();
        assert_eq!(after.forest, session.forest, "what is refused is not charged");
    }

    #[test]
    fn charges_of_many_at_once_are_all_counted() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::of_session(folder.path(), "s").unwrap();
        let id = shelf
            .change(|session| session.create(new(None, 10_000)).map(|branch| branch.id.clone()))
            .unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        shelf.change(|s| s.charge(&id, &"x".repeat(40), metering())).unwrap();
                    }
                });
            }
        });
        let session = shelf.read().unwrap();
        assert_eq!(session.node(session.branch(&id).unwrap()).unwrap().account.used, 400);
    }

    #[test]
    fn what_is_out_of_time_ends_with_what_is_below_it() {
        let mut session = Session::default();
        let now = Timestamp::now();
        let late = NewBranch { deadline: Some(now), ..new(None, 100) };
        let top = session.create(late).unwrap().id.clone();
        let below = session.create(new(Some(&top), 100)).unwrap().id.clone();
        let other = session.create(new(None, 100)).unwrap().id.clone();
        session.expire(now + jiff::SignedDuration::from_secs(2));
        assert_eq!(session.working(&top).unwrap_err().code, Code::BranchTimeout);
        assert_eq!(session.working(&below).unwrap_err().code, Code::BranchNotActive);
        assert!(session.working(&other).is_ok());
        assert_eq!(session.active(), 1);
    }

    #[test]
    fn siblings_do_not_nest_and_parents_are_named() {
        let mut session = Session::default();
        let ids: Vec<String> =
            (0..6).map(|_| session.create(new(None, 10)).unwrap().id.clone()).collect();
        for id in &ids {
            assert_eq!(session.working(id).unwrap().1.depth, 1);
        }
        let second = session.create(new(Some(&ids[0]), 10)).unwrap().id.clone();
        let third = session.create(new(Some(&second), 10)).unwrap().id.clone();
        assert_eq!(session.create(new(Some(&third), 10)).unwrap_err().code, Code::BranchLimit);
        assert_eq!(session.create(new(Some("br_0"), 10)).unwrap_err().code, Code::BranchNotFound);
    }
}
