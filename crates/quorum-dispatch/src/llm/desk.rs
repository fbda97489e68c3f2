//! What a run of reviewers works with.

use std::collections::BTreeMap;

use quorum_index::Counter;
use quorum_llm::{Answer, Client, Prices};
use quorum_model::agent::Agent;
use quorum_model::budget::{Mode, Thresholds};
use quorum_model::config::Limits;
use quorum_model::finding::AgentFinding;
use quorum_model::gate::GateResult;
use quorum_model::outcome::{AgentOutcome, Usage};
use quorum_model::plan::{Plan, Shard};
use quorum_plan::sop::Sop;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::branch::Branches;
use super::contract::SopAnswer;
use super::ground::Ground;
use super::ledger::Ledger;
use super::prompt::{Prompts, Style};
use super::redact::Redactor;
use super::seats::Seats;
use super::shown::{Library, Material};
use super::tools::Lookup;

/// A review by language models: what is reviewed, by whom, with what.
#[derive(Clone, Copy)]
pub struct LlmReview<'a> {
    /// The run's id.
    pub run: &'a str,
    /// What the fences around the code follow from: the same for a run that goes on, and nothing that
    /// somebody who wrote the change can know.
    pub fence: &'a str,
    /// What was decided before.
    pub plan: &'a Plan,
    /// The agents' definitions.
    pub agents: &'a [Agent],
    /// What answers for each agent; an agent without one is not run.
    pub engines: &'a BTreeMap<String, AgentEngine>,
    /// The repository.
    pub material: &'a dyn Material,
    /// What must not be sent.
    pub redactor: &'a dyn Redactor,
    /// Where things are, where there is an index.
    pub lookup: Option<&'a dyn Lookup>,
    /// The team's standing orders.
    pub sops: &'a [Sop],
    /// What else reviewers are told beside the code.
    pub briefing: &'a dyn Briefing,
    /// What the embedded reviewers found, by agent: it stands beside what a model finds.
    pub builtin: &'a BTreeMap<String, Vec<AgentFinding>>,
    /// What the checks before the review came to.
    pub gates: &'a [GateResult],
    /// How tokens are counted.
    pub counter: Counter,
    /// When a reviewer does less.
    pub thresholds: Thresholds,
    /// Calls for each shard.
    pub limits: Limits,
    /// Follow up on what the budget left out.
    pub complete: bool,
    /// Plant a defect in what is shown, and take nobody's silence for a review who misses it.
    pub canary: bool,
    /// The agent of the whole plan that reports where the change talks to its reviewers; see
    /// [`super::reporter`].
    pub reporter: Option<&'a str>,
    /// What agents of the run cost that ended before it went on.
    pub spent: Usage,
    /// Where everything is recorded.
    pub journal: &'a dyn Journal,
    /// Who is told how it goes.
    pub observer: &'a dyn Observer,
}

impl std::fmt::Debug for LlmReview<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LlmReview").field("run", &self.run).finish_non_exhaustive()
    }
}

/// What answers for one agent.
#[derive(Clone, Debug)]
pub struct AgentEngine {
    /// Asks the model, and its fallbacks. Absent where only what is recorded is played again.
    pub client: Option<Client>,
    /// The model's window.
    pub window: u64,
    /// The model's prices.
    pub prices: Option<Prices>,
    /// How it answers.
    pub style: Style,
}

/// A call that was answered, as it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The request, without secrets.
    pub request: quorum_llm::Request,
    /// The answer, without secrets.
    pub answer: Answer,
    /// The provider that gave it.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// Attempts that it took.
    pub attempts: u64,
    /// Tokens that went into attempts that failed.
    pub wasted: u64,
}

/// What reviewers are told beside the code and the standing orders.
pub trait Briefing: Sync {
    /// What goes with `shard` of `agent`; empty where there is nothing to say. The same for a run that
    /// goes on. It is redacted and fenced before it is sent.
    fn around(&self, agent: &str, shard: &Shard) -> String;
}

/// Has nothing to say.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBriefing;

impl Briefing for NoBriefing {
    fn around(&self, _agent: &str, _shard: &Shard) -> String {
        String::new()
    }
}

/// Where everything is recorded. What it takes is on disk when it returns; what it does not define,
/// it neither takes nor remembers.
#[expect(unused_variables, reason = "the names say what an implementation is given")]
pub trait Journal: Sync {
    /// An agent begins with a shard.
    fn started(&self, agent: &str, shard: usize) -> Result<(), String> {
        Ok(())
    }

    /// A call was answered.
    fn settled(
        &self,
        agent: &str,
        key: &str,
        usage: Usage,
        recording: &Recording,
    ) -> Result<(), String> {
        Ok(())
    }

    /// An agent found something.
    fn found(&self, agent: &str, finding: &AgentFinding) -> Result<(), String> {
        Ok(())
    }

    /// An agent has ended, and this is what came of it.
    fn ended(&self, outcome: &AgentOutcome) -> Result<(), String> {
        Ok(())
    }

    /// The answer to a call that was made before; it is not made again.
    fn recall(&self, agent: &str, key: &str) -> Option<Recording> {
        None
    }
}

/// Records nothing, and remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {}

/// How an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Its mode.
    pub mode: Mode,
    /// Tokens charged to the branch at work.
    pub used: u64,
    /// The branch's budget.
    pub budget: u64,
    /// Units that it was shown.
    pub shown: usize,
    /// Units that it has.
    pub units: usize,
    /// Findings so far.
    pub findings: usize,
    /// US dollars so far.
    pub usd: f64,
    /// Whether it has ended.
    pub ended: bool,
}

/// Is told how agents are doing.
pub trait Observer: Sync {
    /// `agent` has got so far.
    fn standing(&self, agent: &str, standing: Standing);
}

/// Does not want to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn standing(&self, _agent: &str, _standing: Standing) {}
}

/// Stops a review; what was found by then is returned.
#[derive(Clone, Debug)]
pub struct Cancel(watch::Receiver<bool>);

impl Cancel {
    /// A way to stop, and what listens to it.
    pub fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Waits until somebody wants it to stop; for ever, where nobody can.
    pub(crate) async fn wanted(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        *self.0.borrow()
    }
}

/// The review with what is made ready for it once.
pub(crate) struct Desk<'a> {
    pub(crate) review: LlmReview<'a>,
    pub(crate) library: &'a Library<'a>,
    pub(crate) ground: Ground<'a>,
    pub(crate) prompts: &'a Prompts,
    pub(crate) ledger: &'a Ledger,
    pub(crate) branches: &'a Branches,
    /// Who has none waits with a conversation.
    pub(crate) seats: &'a Seats,
    pub(crate) cancel: &'a Cancel,
    /// Where the change talks to its reviewers.
    pub(crate) attempts: &'a [AgentFinding],
}

impl Desk<'_> {
    /// Whether `agent` is the one that reports where the change talks to its reviewers.
    pub(crate) fn reports_attempts(&self, agent: &str) -> bool {
        self.review.reporter == Some(agent)
    }

    pub(crate) fn count(&self, text: &str) -> u64 {
        self.review.counter.count(text.as_bytes())
    }

    /// An answer for a standing order with the place that shows a violation, and without secrets.
    pub(crate) fn settle(&self, answer: SopAnswer) -> Result<SopAnswer, String> {
        settle(self.review.sops, &self.ground, self.library, answer)
    }
}

/// An answer for one of the standing orders `sops` with the place that shows a violation, and
/// without secrets.
pub(crate) fn settle(
    sops: &[Sop],
    ground: &Ground<'_>,
    library: &Library<'_>,
    answer: SopAnswer,
) -> Result<SopAnswer, String> {
    let sop = sops.iter().find(|sop| answer.is_for(&sop.name));
    let mut answer = ground.settle(answer, |path| sop.is_some_and(|sop| sop.applies(path)));
    answer.evidence = library.clean(&answer.evidence)?;
    Ok(answer)
}
