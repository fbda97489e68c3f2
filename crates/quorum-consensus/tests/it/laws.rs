//! What holds whatever the agents do: enumerated for up to four agents, and by random cases beyond.
//!
//! The enumeration gives every choice of behaviours to the agents in two orders, and asks the
//! protocols other than veto about three agents. `cargo xtask laws` does all orders of four agents
//! under every protocol, which takes minutes.

use proptest::prelude::*;
use quorum_model::finding::Finding;
use quorum_model::outcome::{OutcomeStatus, Reaction, Stance};
use quorum_model::plan::Protocol;
use quorum_model::report::CutoffReason;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;
use quorum_model::verdict::{AgentVerdict, Verdict};

use crate::fixture::{Review, finding};

const PROTOCOLS: [Protocol; 4] = [Protocol::Veto, Protocol::Aad, Protocol::Ci, Protocol::Vote];
/// The last one has no veto.
const NAMES: [&str; 4] =
    ["security-reviewer", "go-reviewer", "code-quality-reviewer", "user-persona-reviewer"];

/// What one agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Behaviour {
    found: Option<Severity>,
    ends: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    SeesAll,
    SkipsOne,
    SeesNothing,
    Fails,
    Missing,
    /// It could only read the second file.
    ReadsOne,
    /// Lines of the second file met a bound.
    MeetsBound,
    /// It could not read the second file, and nobody can.
    CannotReadOne,
}

impl Behaviour {
    fn all() -> Vec<Self> {
        let found = [
            None,
            Some(Severity::Low),
            Some(Severity::Medium),
            Some(Severity::High),
            Some(Severity::Critical),
        ];
        let ends = [
            End::SeesAll,
            End::SkipsOne,
            End::SeesNothing,
            End::Fails,
            End::Missing,
            End::ReadsOne,
            End::MeetsBound,
            End::CannotReadOne,
        ];
        ends.iter().flat_map(|&ends| found.map(|found| Self { found, ends })).collect()
    }

    /// Those in which an agent sees all, some or nothing of its files, fails, or is missing.
    const COMMON: usize = 25;

    fn finished(self) -> bool {
        !matches!(self.ends, End::SeesNothing | End::Fails | End::Missing)
    }
}

fn review(behaviours: &[Behaviour], protocol: Protocol, sensitive: bool) -> Review {
    let mut review = Review::of(&["a.go", "b.go"]).protocol(protocol);
    if sensitive {
        review = review.sensitive("b.go");
    }
    for (name, behaviour) in NAMES.iter().zip(behaviours) {
        review = if *name == NAMES[3] { review.adviser(name) } else { review.agent(name) };
        if let Some(severity) = behaviour.found {
            review = review.finds(name, finding(severity, "a.go", 7, "The handle is never closed"));
        }
        match behaviour.ends {
            End::SeesAll => {}
            End::SkipsOne => review = review.skips(name, "b.go"),
            End::SeesNothing => review = review.skips(name, "a.go").skips(name, "b.go"),
            End::Fails => review = review.fails(name),
            End::Missing => review.outcomes.retain(|outcome| outcome.agent != *name),
            End::ReadsOne => review = review.reads(name, "b.go"),
            End::MeetsBound => review = review.bounds(name, "b.go"),
            End::CannotReadOne => review = review.cannot_read(name, "b.go"),
        }
    }
    review
}

/// What the table of verdicts says, written a second time and as plainly as it can be.
fn expected(behaviours: &[Behaviour], sensitive: bool) -> Verdict {
    let reported = |b: &&Behaviour| b.ends != End::Missing;
    let vetoing = &behaviours[..behaviours.len().min(3)];
    // What an agent did about the second file; all looked at the first one who finished.
    let looked = |b: &Behaviour| matches!(b.ends, End::SeesAll | End::ReadsOne | End::MeetsBound);
    let guards = |b: &Behaviour| matches!(b.ends, End::SeesAll | End::ReadsOne);
    // A model that was shown the lines on which rules met a bound has looked at them.
    let bound = behaviours.iter().any(|b| b.ends == End::MeetsBound)
        && behaviours.iter().all(|b| b.ends != End::SeesAll);
    let capped = |(index, b): (usize, &Behaviour)| match (index, b.found) {
        (3, found) => found.min(Some(Severity::Medium)),
        (_, found) => found,
    };
    let worst = behaviours.iter().enumerate().filter(|(_, b)| reported(b)).filter_map(capped).max();
    if vetoing.iter().filter(reported).any(|b| b.found == Some(Severity::Critical)) {
        Verdict::Blocked
    } else if behaviours.iter().any(|b| !b.finished()) {
        Verdict::Incomplete
    } else if sensitive && !guards(&behaviours[0]) {
        Verdict::Blocked
    } else if !behaviours.iter().any(looked) || bound {
        Verdict::Incomplete
    } else if worst >= Some(Severity::High) {
        Verdict::ChangesRequested
    } else {
        Verdict::Approved
    }
}

/// Whether minutes are to be spent.
fn at_length() -> bool {
    std::env::var_os("QUORUM_EVERY_ORDER").is_some()
}

/// Every choice of `size` behaviours, whatever their order; in every order at length.
fn choices(size: usize, behaviours: usize) -> Vec<Vec<usize>> {
    let mut choices = vec![Vec::new()];
    for _ in 0..size {
        let extend = |choice: Vec<usize>| {
            let least = choice.last().copied().filter(|_| !at_length()).unwrap_or(0);
            (least..behaviours).map(move |next| [choice.as_slice(), &[next]].concat())
        };
        choices = choices.into_iter().flat_map(extend).collect();
    }
    choices
}

/// Calls `check` with every choice of behaviours for the given numbers of agents, given out from
/// the first agent to the last and the other way round; on all processors.
fn for_all(sizes: std::ops::RangeInclusive<usize>, check: impl Fn(&[Behaviour], bool) + Sync) {
    let behaviours = Behaviour::all();
    // Four agents with everything that they can do take a minute: three are enough for the rarer.
    let ways = |size| if size < 4 || at_length() { behaviours.len() } else { Behaviour::COMMON };
    let choices: Vec<Vec<usize>> = sizes.flat_map(|size| choices(size, ways(size))).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for part in choices.chunks(choices.len().div_ceil(workers)) {
            let (behaviours, check) = (&behaviours, &check);
            scope.spawn(move || {
                for choice in part {
                    let mut panel: Vec<Behaviour> =
                        choice.iter().map(|&index| behaviours[index]).collect();
                    for sensitive in [false, true, false, true] {
                        check(&panel, sensitive);
                        if sensitive {
                            panel.reverse();
                        }
                    }
                }
            });
        }
    });
}

fn check_laws(behaviours: &[Behaviour], result: &ReviewResult) {
    assert_eq!(result.exit_code, result.verdict.exit_code());
    assert!(!result.reasons.is_empty(), "{behaviours:?}");
    let missing = behaviours.iter().any(|behaviour| !behaviour.finished());
    assert!(!missing || result.exit_code != 0, "a missing agent approved: {behaviours:?}");
    for (agent, behaviour) in result.execution.agents.iter().zip(behaviours) {
        let may_fail = matches!(agent.verdict, AgentVerdict::Error | AgentVerdict::Veto);
        assert!(behaviour.finished() || may_fail, "{behaviours:?}");
    }
    for finding in result.findings.iter().chain(&result.not_agreed) {
        assert!(finding.corroboration <= finding.agents.len() as u64);
        assert!(finding.corroboration <= finding.covered_by);
        let first = &finding.positions[0];
        assert_eq!(finding.severity, first.severity);
        assert!(finding.positions.iter().all(|position| position.severity <= finding.severity));
    }
}

fn check_table(protocol: Protocol, behaviours: &[Behaviour], sensitive: bool) {
    let result = review(behaviours, protocol, sensitive).decide();
    check_laws(behaviours, &result);
    if protocol != Protocol::Vote {
        let expected = expected(behaviours, sensitive);
        assert_eq!(result.verdict, expected, "{protocol:?} {behaviours:?} {sensitive}");
    } else if behaviours
        .iter()
        .take(3)
        .any(|b| b.found == Some(Severity::Critical) && b.ends != End::Missing)
    {
        assert_eq!(result.verdict, Verdict::Blocked, "a veto was outvoted: {behaviours:?}");
    }
}

/// Up to four agents with every severity, coverage and failure that there is.
#[test]
fn the_table_holds_for_every_combination() {
    for_all(1..=4, |behaviours, sensitive| check_table(Protocol::Veto, behaviours, sensitive));
}

#[test]
fn the_laws_hold_under_the_other_protocols() {
    let most = if at_length() { 4 } else { 3 };
    for protocol in [Protocol::Aad, Protocol::Ci, Protocol::Vote] {
        for_all(1..=most, |behaviours, sensitive| check_table(protocol, behaviours, sensitive));
    }
}

/// Worse or the same: how far a verdict is from letting a change pass.
fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Approved | Verdict::Advisory | Verdict::NothingToReview => 0,
        Verdict::ChangesRequested => 1,
        Verdict::Incomplete => 2,
        Verdict::Blocked => 3,
    }
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    prop::sample::select(Behaviour::all())
}

fn case() -> impl Strategy<Value = Review> {
    let behaviours = prop::collection::vec(behaviour(), 1..=4);
    let protocol = prop::sample::select(PROTOCOLS.to_vec());
    (behaviours, protocol, any::<bool>())
        .prop_map(|(behaviours, protocol, sensitive)| review(&behaviours, protocol, sensitive))
}

const ISSUES: [&str; 4] = [
    "The handle is never closed",
    "Handle not closed on the error path",
    "SQL is built from user input",
    "A misleading name",
];

/// Adds findings and reactions at random.
fn noise() -> impl Strategy<Value = Vec<(usize, usize, u64, usize, u8)>> {
    prop::collection::vec((0..4usize, 0..ISSUES.len(), 1..20u64, 0..4usize, 0..4u8), 0..24)
}

fn add_noise(review: &mut Review, noise: &[(usize, usize, u64, usize, u8)]) {
    for &(agent, issue, line, severity, reaction) in noise {
        let count = review.outcomes.len();
        if count == 0 {
            return;
        }
        let found = finding(Severity::WORST_FIRST[severity], "a.go", line, ISSUES[issue]);
        let stance = [Stance::Confirm, Stance::Dispute, Stance::Withdraw, Stance::ReRate];
        review.outcomes[(agent + 1) % count].reactions.push(Reaction {
            fingerprint: quorum_consensus::fingerprint(&found, 0),
            stance: stance[usize::from(reaction)],
            evidence: (line % 2 == 0).then(|| "line".to_owned()),
            severity: Some(Severity::WORST_FIRST[severity]),
            reason: None,
        });
        review.outcomes[agent % count].findings.push(found);
    }
}

fn json(result: &ReviewResult) -> String {
    serde_json::to_string_pretty(result).expect("a result serialises")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_order_of_reports_and_findings_does_not_matter(
        mut review in case(), noise in noise(), turn in 0..4usize,
    ) {
        add_noise(&mut review, &noise);
        let before = json(&review.decide());
        let count = review.outcomes.len().max(1);
        review.outcomes.rotate_left(turn % count);
        for outcome in &mut review.outcomes {
            outcome.findings.reverse();
            outcome.covered.reverse();
            outcome.reactions.reverse();
        }
        prop_assert_eq!(before, json(&review.decide()));
    }

    /// Whatever others say about it, and under whatever protocol: an added veto that its author
    /// stands by blocks.
    #[test]
    fn an_added_veto_always_blocks(
        mut review in case(), noise in noise(), line in 1..20u64,
    ) {
        add_noise(&mut review, &noise);
        let name = review.outcomes.iter().map(|outcome| outcome.agent.clone());
        let name = name.into_iter().find(|name| name != NAMES[3]);
        prop_assume!(name.is_some());
        let name = name.unwrap_or_default();
        let own = &mut review.outcome_of(&name).reactions;
        own.retain(|r| !matches!(r.stance, Stance::Withdraw | Stance::ReRate));
        let veto = finding(Severity::Critical, "a.go", line, "Data is lost");
        prop_assert_eq!(review.finds(&name, veto).decide().verdict, Verdict::Blocked);
    }

    /// With reactions and votes: a security reviewer's veto that it stands by still blocks,
    /// whatever another agent adds.
    #[test]
    fn nobody_elses_veto_weakens_a_security_veto(
        mut review in case(), noise in noise(), line in 1..20u64, which in 0..4usize,
    ) {
        add_noise(&mut review, &noise);
        for outcome in review.outcomes.iter_mut().filter(|outcome| outcome.agent == NAMES[0]) {
            let own = &mut outcome.reactions;
            own.retain(|r| !matches!(r.stance, Stance::Withdraw | Stance::ReRate));
        }
        let vetoes = |result: &ReviewResult| {
            let mut agents = result.execution.agents.iter();
            agents.any(|agent| agent.name == NAMES[0] && agent.verdict == AgentVerdict::Veto)
        };
        prop_assume!(vetoes(&review.decide()));
        let name = review.outcomes[which % review.outcomes.len()].agent.clone();
        prop_assume!(name != NAMES[0]);
        let veto = finding(Severity::Critical, "a.go", line, "Data is lost");
        let after = review.finds(&name, veto).decide();
        prop_assert!(vetoes(&after));
        prop_assert_eq!(after.verdict, Verdict::Blocked);
    }

    #[test]
    fn a_failure_never_lets_a_change_pass(
        mut review in case(), noise in noise(), which in 0..4usize, missing: bool,
    ) {
        add_noise(&mut review, &noise);
        prop_assume!(!review.outcomes.is_empty());
        let index = which % review.outcomes.len();
        if missing {
            review.outcomes.remove(index);
        } else {
            review.outcomes[index].status = OutcomeStatus::Failed;
        }
        let result = review.decide();
        prop_assert_ne!(result.verdict, Verdict::Approved);
        prop_assert_ne!(result.exit_code, 0);
    }

    #[test]
    fn an_interrupted_agent_never_lets_a_change_pass(mut review in case(), which in 0..4usize) {
        prop_assume!(!review.outcomes.is_empty());
        let index = which % review.outcomes.len();
        review.outcomes[index].cutoff_reason = Some(CutoffReason::Interrupt);
        prop_assert_ne!(review.decide().exit_code, 0);
    }

    #[test]
    fn severity_and_confidence_come_from_one_finding(mut review in case(), noise in noise()) {
        add_noise(&mut review, &noise);
        for (index, outcome) in review.outcomes.iter_mut().enumerate() {
            for (number, finding) in outcome.findings.iter_mut().enumerate() {
                // Every finding is as sure as no other one.
                #[expect(clippy::cast_precision_loss, reason = "a handful")]
                let sure = (index * 50 + number) as f64 / 400.0;
                finding.confidence = Some(sure);
            }
        }
        let result = review.decide();
        for finding in result.findings.iter().chain(&result.not_agreed) {
            let leader = &finding.positions[0];
            prop_assert_eq!(finding.severity, leader.severity);
            prop_assert!(finding.confidence <= leader.confidence + 1e-9);
            prop_assert!(finding.corroboration <= finding.covered_by);
            let names = finding.agents.len() + finding.confirmed_by.len();
            prop_assert!(finding.corroboration <= names as u64);
        }
    }

    #[test]
    fn a_reaction_never_raises_anothers_severity(mut review in case(), noise in noise()) {
        add_noise(&mut review, &noise);
        review.policy.protocol = Protocol::Ci;
        let worst = |review: &Review| {
            let result = review.decide();
            result.findings.iter().map(|finding| finding.severity).max()
        };
        // Reactions to others' findings alone: all own ones are taken out.
        for outcome in &mut review.outcomes {
            outcome.reactions.retain(|r| matches!(r.stance, Stance::Confirm | Stance::Dispute));
        }
        let with = worst(&review);
        for outcome in &mut review.outcomes {
            outcome.reactions.clear();
        }
        prop_assert_eq!(with, worst(&review));
    }

    #[test]
    fn ids_and_fingerprints_are_unique(mut review in case(), noise in noise()) {
        add_noise(&mut review, &noise);
        let result = review.decide();
        let all: Vec<_> = result.findings.iter().chain(&result.not_agreed).collect();
        let id = |finding: &&Finding| finding.id.clone();
        let fingerprint = |finding: &&Finding| finding.fingerprint.clone();
        for of in [id as fn(&&Finding) -> String, fingerprint] {
            let mut values: Vec<String> = all.iter().map(of).collect();
            values.sort();
            values.dedup();
            prop_assert_eq!(values.len(), all.len());
        }
    }

    #[test]
    fn seeing_less_never_helps(review in case(), which in 0..4usize) {
        prop_assume!(!review.outcomes.is_empty() && review.policy.protocol != Protocol::Vote);
        let name = review.outcomes[which % review.outcomes.len()].agent.clone();
        let before = review.decide().verdict;
        let after = review.clone().skips(&name, "b.go").decide().verdict;
        prop_assert!(strictness(after) > 0 || strictness(before) == 0);
    }
}
