//! One shard of one agent: shown, asked about, answered.

mod take;

use std::collections::BTreeMap;

use quorum_llm::{Answer, Message, Request, Text, ToolChoice};
use quorum_model::agent::Agent;
use quorum_model::budget::Mode;
use quorum_model::gate::{GateResult, GateStatus};
use quorum_model::plan::{Isolation, PlannedAgent, Protocol, Shard};
use quorum_model::report::CutoffReason;
use quorum_model::unit::Unit;

use super::ask::{Stopped, ask};
use super::branch::BranchId;
use super::canary::Canary;
use super::context::{Context, Region, Turn};
use super::contract;
use super::desk::{AgentEngine, Desk};
use super::line::Line;
use super::prompt::{BudgetNote, ShownSop, Style};
use super::tally::Tally;

/// The longest answer; budgets end it sooner.
const LONGEST_ANSWER: u64 = 6_400;

/// Less room than this holds no answer.
pub(crate) const SHORTEST_ANSWER: u64 = 512;

/// With less room than this nothing more is asked.
const LEAST_ANSWER: u64 = 64;

/// Answers in a row that cannot be used, after which a shard is given up.
pub(crate) const MOST_UNUSABLE: u32 = 3;

/// More of an answer that could not be used is not shown to the model again.
const LONGEST_ECHO: usize = 2_000;

/// The share of a window from which on a conversation is made smaller, in percent.
const COMPACT_AT: u64 = 60;

/// One agent at work.
pub(crate) struct Worker<'a> {
    pub(crate) desk: &'a Desk<'a>,
    pub(crate) agent: &'a Agent,
    pub(crate) planned: &'a PlannedAgent,
    pub(crate) engine: &'a AgentEngine,
    /// All units of each of its files, in order.
    pub(crate) units: BTreeMap<&'a str, Vec<&'a Unit>>,
}

/// One shard of a branch.
pub(crate) struct Session<'a> {
    line: Line<'a>,
    context: Context,
    /// The conversation as it began.
    first: Context,
    /// The mode that the model was last told.
    told: Mode,
    /// Tokens in the conversation that were not charged yet.
    pending: u64,
    unusable: u32,
    /// Answers for standing orders that other shards gave, and whether missing ones were asked for.
    sops_before: usize,
    asked_for_sops: bool,
    /// Whether the request under way offers to look things up.
    offered: bool,
    /// What was planted in the code that it shows.
    canary: Option<Canary>,
    /// Whether it reported anything that is in the code.
    reported: bool,
}

/// How a shard ended.
pub(crate) enum End {
    /// Everything that was shown was answered for.
    Done,
    /// It was shown, and the answer was cut: what was reported by then stands.
    CutShort(CutoffReason, String),
    /// It was not answered for.
    Lost(CutoffReason, String),
}

/// What came of one answer.
enum Step {
    Finished,
    /// What tools gave, in tokens, enters with the next request.
    Continue(u64),
    CutShort,
    Unusable(String),
}

impl<'a> Session<'a> {
    pub(crate) fn new(worker: &'a Worker<'a>, branch: BranchId, label: String) -> Self {
        Self {
            line: Line::new(worker, branch, label),
            context: Context::default(),
            first: Context::default(),
            told: Mode::FullAnalysis,
            pending: 0,
            unusable: 0,
            sops_before: 0,
            asked_for_sops: false,
            offered: false,
            canary: None,
            reported: false,
        }
    }

    fn desk(&self) -> &'a Desk<'a> {
        self.line.desk()
    }

    /// The mode that the branch is in.
    pub(crate) fn mode(&self) -> Mode {
        self.line.mode()
    }

    /// Reviews `units`, which are a part of `shard`.
    pub(crate) async fn run(
        &mut self,
        shard: &Shard,
        units: &[Unit],
        part: (usize, usize),
        tally: &mut Tally,
    ) -> End {
        self.sops_before = tally.sops.len();
        self.begin(shard, units, part);
        loop {
            let request = self.request();
            let asked = match ask(&mut self.line, request, self.pending, tally).await {
                Ok(asked) => asked,
                Err(Stopped::Unsupported) => {
                    // The server does not know this way of answering.
                    self.line.style = self.line.style.weaker().unwrap_or(Style::Plain);
                    self.begin(shard, units, part);
                    continue;
                }
                Err(Stopped::By(reason, cause)) => return End::Lost(reason, cause),
            };
            self.line.answered += 1;
            let step = match self.take(&asked.answer, tally) {
                Ok(step) => step,
                Err(cause) => return End::Lost(CutoffReason::Error, cause),
            };
            // What cannot be used was sent and written all the same.
            self.line.charge(&asked, self.pending);
            self.pending = 0;
            // Whoever was shown a part of it has not reviewed it; what it found in that part stands.
            if let Some(cause) = asked.prompt_cut.as_ref().filter(|_| self.line.answered == 1) {
                return End::Lost(CutoffReason::Error, cause.clone());
            }
            match step {
                Step::Finished => {
                    let missing = self.unanswered(shard, tally);
                    if missing.is_empty() {
                        return End::Done;
                    }
                    if let Some(end) = self.ask_for_sops(&missing) {
                        return end;
                    }
                }
                Step::CutShort => {
                    return End::CutShort(CutoffReason::Budget, "its answer was cut".to_owned());
                }
                Step::Unusable(wrong) => {
                    tally.note(format!("an answer could not be used: {wrong}"));
                    self.unusable += 1;
                    let limit = self.desk().review.limits.calls_per_shard;
                    let spent = self.room() < LEAST_ANSWER;
                    if self.unusable >= MOST_UNUSABLE || self.line.answered >= limit || spent {
                        let cause =
                            format!("no usable answer in {} calls: {wrong}", self.line.answered);
                        return End::Lost(CutoffReason::Error, cause);
                    }
                    self.repair(&asked.answer, &wrong);
                }
                Step::Continue(new_content) => {
                    self.pending = new_content;
                    if let Some(end) = self.go_on() {
                        return end;
                    }
                }
            }
        }
    }

    /// The standing orders of `shard` that this session has no answer with evidence for.
    pub(crate) fn unanswered(&self, shard: &Shard, tally: &Tally) -> Vec<String> {
        let given = tally.sops.get(self.sops_before..).unwrap_or_default();
        let missing = |name: &&String| !given.iter().any(|answer| answer.counts_for(name));
        shard.sops.iter().filter(missing).cloned().collect()
    }

    /// Asks for missing answers, once.
    fn ask_for_sops(&mut self, missing: &[String]) -> Option<End> {
        let spent = self.line.answered >= self.desk().review.limits.calls_per_shard
            || self.room() < LEAST_ANSWER;
        if self.asked_for_sops || spent || self.mode() == Mode::Cut {
            let cause = format!("it gave no answer for the SOP {}", missing.join(", "));
            return Some(End::CutShort(CutoffReason::Error, cause));
        }
        self.asked_for_sops = true;
        self.pending = 0;
        if self.mode() == Mode::ForceReturn {
            self.context.withhold_code();
        }
        let ask = Text::new(self.desk().prompts.missing_sops(missing));
        self.context.push(Turn::User(vec![(Region::Plan, ask)]));
        None
    }

    /// Decides what comes after the results of tools.
    fn go_on(&mut self) -> Option<End> {
        let mode = self.mode().max(self.told);
        if mode == Mode::Cut || self.room() < LEAST_ANSWER {
            // Silence is no answer: who only looked things up has not said what it saw.
            if !self.reported {
                let cause = "its budget is used up, and it has reported nothing".to_owned();
                return Some(End::Lost(CutoffReason::Error, cause));
            }
            let cause = "its budget is used up".to_owned();
            return Some(End::CutShort(CutoffReason::Budget, cause));
        }
        if self.line.answered >= self.desk().review.limits.calls_per_shard {
            // What it reported by then stands; that it has seen the rest, it never said.
            let cause = format!("still calling tools after {} calls", self.line.answered);
            return Some(End::Lost(CutoffReason::Error, cause));
        }
        if mode == Mode::ForceReturn {
            self.context.withhold_code();
            self.pending = 0;
        }
        if mode != self.told || self.turns_left() <= 1 {
            self.told = mode;
            let note = Text::new(self.desk().prompts.budget(&self.note()));
            self.context.push(Turn::User(vec![(Region::Plan, note)]));
        }
        None
    }

    /// What would be sent first about all of `shard`.
    pub(crate) fn first_request(&mut self, shard: &Shard) -> Request {
        self.begin(shard, &shard.units, (1, 1));
        let mut request = self.request();
        let library = self.desk().library;
        // What cannot be searched for secrets is not shown at all.
        let shown =
            |text: &str| Ok::<_, std::convert::Infallible>(library.clean(text).unwrap_or_default());
        match request.clean(shown) {
            Ok(()) => request,
        }
    }

    fn turns_left(&self) -> u64 {
        self.desk().review.limits.calls_per_shard.saturating_sub(self.line.answered)
    }

    /// The room that an answer has before the branch is cut; a last one may use the budget up.
    fn room(&self) -> u64 {
        let account = self.line.account();
        let taken = account.used.saturating_add(self.pending);
        let cut = self.desk().review.thresholds.force_return.floor_of(account.budget);
        let before_cut = cut.saturating_sub(taken);
        let in_all = account.budget.saturating_sub(taken);
        let window = self.line.worker.engine.window / 4;
        let room = before_cut.max(in_all.min(SHORTEST_ANSWER));
        room.min(LONGEST_ANSWER).min(window.max(SHORTEST_ANSWER))
    }

    fn note(&self) -> BudgetNote {
        let account = self.line.account();
        BudgetNote {
            used: account.used,
            budget: account.budget,
            room: self.room(),
            mode: self.mode().max(self.told),
            thresholds: self.desk().review.thresholds,
            style: self.line.style,
            may_look: self.may_look(),
            turns: self.turns_left().saturating_sub(1),
        }
    }

    /// What the budget has left over after its first wave is for what is bad alone.
    fn least_mode(&self, shard: &Shard) -> Mode {
        let beyond = shard.wave > 1 && !self.desk().review.complete;
        if beyond { Mode::HighSeverityOnly } else { Mode::FullAnalysis }
    }

    fn may_look(&self) -> bool {
        self.mode() < Mode::ForceReturn && self.turns_left() > 1
    }

    /// The first turn: orders, code, budget.
    fn begin(&mut self, shard: &Shard, units: &[Unit], part: (usize, usize)) {
        let desk = self.desk();
        self.told = self.mode().max(self.least_mode(shard));
        self.canary = self.plant(units);
        let planted = self.canary.as_ref().map_or(0, |canary| desk.count(&canary.text()));
        self.pending = units.iter().map(|unit| unit.tokens).sum::<u64>() + planted;
        let plan = desk.review.plan;
        let label = desk.library.name(&plan.scope.label);
        let task =
            desk.prompts.task((plan, &label), shard, part, &self.sops(shard), &self.hints(units));
        let around = self.around(shard);
        let code = Text::cached(self.code(units));
        let budget = Text::new(desk.prompts.budget(&self.note()));
        let task = Text::new(task);
        let parts = if desk.review.plan.isolation == Isolation::Shared {
            // What reviewers share comes first, so that a provider reads it once for all of them.
            let role = Text::new(desk.prompts.role(self.line.worker.agent));
            vec![
                (Region::Files, code),
                (Region::System, role),
                (Region::Sops, task),
                (Region::SearchResults, around),
                (Region::Plan, budget),
            ]
        } else {
            vec![
                (Region::Sops, task),
                (Region::SearchResults, around),
                (Region::Files, code),
                (Region::Plan, budget),
            ]
        };
        let parts = parts.into_iter().filter(|(_, text)| !text.text.is_empty()).collect();
        let mut context = Context::default();
        context.push(Turn::User(parts));
        self.first = context.clone();
        self.context = context;
    }

    /// What is known around the change, without secrets. What cannot be said without them is not.
    fn around(&self, shard: &Shard) -> Text {
        let desk = self.desk();
        let around = desk.review.briefing.around(&self.line.worker.agent.name, shard);
        let clean = desk.library.clean(&around).unwrap_or_default();
        if clean.is_empty() {
            return Text::new(String::new());
        }
        Text::new(desk.prompts.around(&clean))
    }

    /// The same defect for the same shard of the same run, so that a run that goes on shows it again.
    fn plant(&self, units: &[Unit]) -> Option<Canary> {
        let review = &self.desk().review;
        let seed = format!("{} {}", review.fence, self.line.label);
        let files = &review.plan.scope.files;
        review.canary.then(|| Canary::plant(self.line.worker.agent, files, units, &seed))?
    }

    /// The file with a planted defect that was not reported.
    pub(crate) fn missed_canary(&self) -> Option<&str> {
        let canary = self.canary.as_ref().filter(|canary| !canary.is_found())?;
        Some(&canary.path)
    }

    fn sops(&self, shard: &Shard) -> Vec<ShownSop> {
        let sops = self.desk().review.sops.iter().filter(|sop| shard.sops.contains(&sop.name));
        let clean = |text: &str| {
            let clean = self.desk().library.clean(text);
            clean.unwrap_or_else(|_| "(It cannot be shown without its secrets.)".to_owned())
        };
        sops.map(|sop| ShownSop { name: clean(&sop.name), text: clean(&sop.text) }).collect()
    }

    /// What the embedded reviewers point at; drafts of one's own are made without.
    fn hints(&self, units: &[Unit]) -> Vec<String> {
        let review = &self.desk().review;
        if review.plan.protocol == Protocol::Aad {
            return Vec::new();
        }
        let found = review.builtin.get(&self.line.worker.agent.name);
        let here = found.into_iter().flatten().filter(|finding| {
            let line = finding.line.unwrap_or_default();
            let holds = |unit: &&Unit| {
                finding.file.as_deref() == Some(&*unit.path)
                    && unit.start_line <= line
                    && line <= unit.end_line
            };
            units.iter().any(|unit| holds(&unit))
        });
        let hints = here.take(10).map(|finding| {
            let file = finding.file.as_deref().unwrap_or_default();
            let line = finding.line.unwrap_or_default();
            let rule = finding.rule.as_deref().unwrap_or(&finding.category);
            format!("{file}:{line}: {rule}")
        });
        let said = gates(review.gates).into_iter().chain(hints);
        // What cannot be said without secrets is not said.
        said.filter_map(|hint| self.desk().library.clean(&hint).ok()).collect()
    }

    fn code(&self, units: &[Unit]) -> String {
        let desk = self.desk();
        let mut files: Vec<String> = Vec::new();
        let mut rest = units;
        while let Some(first) = rest.first() {
            let count = rest.iter().take_while(|unit| unit.path == first.path).count();
            let (here, later) = rest.split_at(count);
            rest = later;
            let entry = desk.review.plan.scope.files.iter().find(|file| file.path == first.path);
            let all = self.line.worker.units.get(&*first.path);
            if let Some((entry, all)) = entry.zip(all) {
                let wanted: Vec<&Unit> = here.iter().collect();
                let planted = self.canary.as_ref().filter(|canary| *canary.path == *first.path);
                let planted = planted.map(Canary::text).unwrap_or_default();
                files.extend(desk.prompts.file(entry, desk.library, all, &wanted, &planted));
            }
        }
        files.join("\n")
    }

    fn request(&mut self) -> Request {
        let desk = self.desk();
        self.offered = self.may_look();
        let mut system = vec![Text::cached(desk.prompts.common())];
        if desk.review.plan.isolation == Isolation::Branch {
            system.push(Text::cached(desk.prompts.role(self.line.worker.agent)));
        }
        let fixed: u64 = system.iter().map(|text| desk.count(&text.text)).sum();
        let limit = (self.line.worker.engine.window * COMPACT_AT / 100).saturating_sub(fixed);
        self.context.compact(desk.review.counter, limit);
        let categories = &self.line.worker.agent.categories;
        let tools = match self.line.style {
            Style::Tools => contract::tools(categories, self.offered),
            Style::Schema | Style::Plain => Vec::new(),
        };
        let schema = (self.line.style == Style::Schema).then(|| contract::schema(categories));
        Request {
            model: String::new(),
            system,
            messages: self.context.messages(),
            tools,
            tool_choice: ToolChoice::Required,
            schema,
            max_output: self.room(),
        }
    }

    /// Asks again: once with what was wrong, then from the beginning.
    fn repair(&mut self, answer: &Answer, wrong: &str) {
        let weaker = if self.line.style == Style::Tools { Style::Schema } else { self.line.style };
        self.line.style = weaker;
        self.context = self.first.clone();
        if self.unusable == 1 && self.line.answered == 1 {
            let said: String = answer.written().chars().take(LONGEST_ECHO).collect();
            let said = Message::Assistant { text: said, calls: Vec::new(), echo: Vec::new() };
            self.context.push(Turn::Assistant(said));
        }
        let repair = Text::new(self.desk().prompts.repair(wrong));
        self.context.push(Turn::User(vec![(Region::Plan, repair)]));
    }
}

/// What the checks before the review proved, a line each, and where those point that failed.
fn gates(results: &[GateResult]) -> Vec<String> {
    const PLACES: usize = 5;
    let mut lines = Vec::new();
    for gate in results.iter().filter(|gate| gate.status != GateStatus::Skipped) {
        let line = format!("the gate {} (`{}`) {}", gate.name, gate.command, gate.outcome());
        lines.push(line);
        let places = gate.findings.iter().filter(|_| gate.status != GateStatus::Passed);
        for finding in places.take(PLACES) {
            lines.push(format!("{}:{}: {}", finding.file, finding.line, finding.message));
        }
    }
    lines
}
