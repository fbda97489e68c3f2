//! A change, agents, and a reviewer that finds what is marked.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quorum_dispatch::llm::{
    AgentEngine, Briefing, Cancel, Changed, Journal, LlmReview, Material, Panel, Recording,
    Redactor, Style, Unobserved,
};
use quorum_index::Counter;
use quorum_llm::{Client, ClientSettings, Endpoint, Timeouts, connect};
use quorum_model::agent::{Agent, AgentOrigin, Domain};
use quorum_model::budget::Thresholds;
use quorum_model::config::{Limits, Tokenizer};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, Usage};
use quorum_model::plan::{Ceilings, Isolation, Plan, PlannedAgent, Protocol, Shard};
use quorum_model::scope::{Change, FileEntry, FileKind, Hunk, Scope, ScopeKind};
use quorum_model::tier::{Tier, TierAssessment};
use quorum_model::unit::{Unit, UnitKind};
use quorum_plan::sop::Sop;
use quorum_testkit::{Asked, Server, Turn};
use serde_json::{Value, json};

/// A change of added files with one marked line each, and how it is reviewed.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(crate) struct Bench {
    pub(crate) files: usize,
    pub(crate) lines: usize,
    pub(crate) agents: usize,
    pub(crate) shards: usize,
    pub(crate) waves: bool,
    pub(crate) complete: bool,
    pub(crate) canary: bool,
    pub(crate) budget: u64,
    pub(crate) ceiling_tokens: u64,
    pub(crate) style: Style,
    pub(crate) seconds_per_call: u64,
    pub(crate) replay: bool,
    pub(crate) stop_after: Option<Duration>,
    /// A line that every file has beside its own.
    pub(crate) extra: Option<String>,
    /// The text of a standing order with the name `errors`.
    pub(crate) order: Option<String>,
    /// What is told beside the code.
    pub(crate) around: String,
}

impl Bench {
    pub(crate) fn of_files(files: usize, lines: usize) -> Self {
        Self {
            files,
            lines,
            agents: 1,
            shards: 1,
            waves: false,
            complete: false,
            canary: false,
            budget: 30_000,
            ceiling_tokens: 2_000_000,
            style: Style::Tools,
            seconds_per_call: 20,
            replay: false,
            stop_after: None,
            extra: None,
            order: None,
            around: String::new(),
        }
    }

    fn text(&self, number: usize) -> String {
        let mut lines: Vec<String> =
            (1..=self.lines).map(|line| format!("let value_{line} = compute({number});")).collect();
        lines[9] = format!("let marker_{number} = bug();");
        lines.extend(self.extra.clone());
        lines.join("\n") + "\n"
    }

    fn plan(&self) -> Plan {
        let counter = Counter::new(Tokenizer::Chars4);
        let mut files = Vec::new();
        let mut units = Vec::new();
        for number in 0..self.files {
            let text = self.text(number);
            let lines = text.lines().count() as u64;
            let hunk = Hunk { old_start: 0, old_lines: 0, new_start: 1, new_lines: lines };
            let path: Arc<str> = format!("src/f{number}.rs").into();
            let tokens = counter.count(text.as_bytes());
            files.push(FileEntry {
                path: path.clone(),
                old_path: None,
                change: Change::Added,
                language: Some("Rust".to_owned()),
                kind: FileKind::Code,
                tokens,
                flags: Vec::new(),
                flag_reasons: BTreeMap::new(),
                hunks: vec![hunk],
                digest: None,
            });
            let (start_line, end_line) = (1, lines);
            units.push(Unit {
                path,
                kind: UnitKind::Hunk,
                start_line,
                end_line,
                bytes: None,
                tokens,
            });
        }
        let size = self.files.div_ceil(self.shards);
        let shards: Vec<Shard> = (1..)
            .zip(units.chunks(size))
            .map(|(wave, units)| Shard {
                wave: if self.waves { wave } else { 1 },
                tokens: units.iter().map(|unit| unit.tokens).sum(),
                sops: self.order.iter().map(|_| "errors".to_owned()).collect(),
                notes: Vec::new(),
                units: units.to_vec(),
            })
            .collect();
        let agents = (0..self.agents)
            .map(|number| PlannedAgent {
                name: format!("agent-{number}"),
                budget: self.budget,
                base_budget: self.budget,
                veto: true,
                engine: "openai".to_owned(),
                model: Some("m".to_owned()),
                reason: String::new(),
                files: files.iter().map(|file| file.path.to_string()).collect(),
                shard_limit: self.budget,
                shards: shards.clone(),
                depth: quorum_model::outcome::Depth::Reviewed,
                beside_models: false,
            })
            .collect();
        Plan {
            schema_version: 1,
            total_tokens: files.iter().map(|file| file.tokens).sum(),
            scope: Scope {
                kind: ScopeKind::Worktree,
                label: "test".to_owned(),
                base: None,
                head: None,
                files,
                ignored: Vec::new(),
            },
            tokenizer: "chars4".to_owned(),
            tier: TierAssessment {
                name: Tier::Simple,
                base_score: 7,
                adjusted_score: 7.0,
                overridden: None,
                dimensions: BTreeMap::new(),
                multipliers: Vec::new(),
            },
            isolation: Isolation::Branch,
            protocol: Protocol::Veto,
            agents,
            unassigned: Vec::new(),
            ceilings: Ceilings {
                calls: (self.agents * self.shards * 4) as u64,
                tokens: self.ceiling_tokens,
                seconds: 120,
                usd: None,
                first_wave: None,
            },
            warnings: Vec::new(),
        }
    }

    fn sops(&self) -> Vec<Sop> {
        let parse = |text: &String| {
            let text = format!("---\nseverity: error\n---\n{text}");
            quorum_plan::sop::parse(".quorum/sops/errors.md", &text, |_| 1).expect("it parses")
        };
        self.order.iter().map(parse).collect()
    }

    pub(crate) fn review(&self, server: &Server) -> Vec<AgentOutcome> {
        self.review_with(server, &Journaled::default())
    }

    pub(crate) fn review_with(&self, server: &Server, journal: &Journaled) -> Vec<AgentOutcome> {
        let plan = self.plan();
        let agents: Vec<Agent> = plan.agents.iter().map(agent).collect();
        let timeouts = Timeouts::within(Duration::from_secs(self.seconds_per_call));
        let provider = connect("openai", "m", timeouts, |name| {
            (name == "OPENAI_BASE_URL").then(|| server.openai_url())
        });
        let endpoint = Arc::new(Endpoint::new(provider.expect("it can be set up"), 16));
        let settings = ClientSettings {
            first_wait: Duration::from_millis(20),
            longest_wait: Duration::from_millis(200),
            ..ClientSettings::default()
        };
        let client = Client::new(vec![(endpoint, "m".to_owned())], settings);
        let engine = AgentEngine {
            client: (!self.replay).then_some(client),
            window: 128_000,
            prices: None,
            style: self.style,
        };
        let engines: BTreeMap<String, AgentEngine> =
            agents.iter().map(|agent| (agent.name.clone(), engine.clone())).collect();
        let paths = vec!["around.rs".to_owned()];
        let review = LlmReview {
            run: "run-1",
            fence: "fence-1",
            plan: &plan,
            agents: &agents,
            engines: &engines,
            material: &Files { bench: self, paths },
            redactor: &Word,
            lookup: None,
            sops: &self.sops(),
            briefing: self,
            builtin: &BTreeMap::new(),
            gates: &[],
            counter: Counter::new(Tokenizer::Chars4),
            thresholds: Thresholds::default(),
            limits: Limits::default(),
            complete: self.complete,
            canary: self.canary,
            reporter: quorum_dispatch::llm::reporter(&plan),
            spent: quorum_model::outcome::Usage::default(),
            journal,
            observer: &Unobserved,
        };
        let (stop, cancel) = Cancel::new();
        let panel = Panel::new(review, cancel);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("it can be built");
        runtime.block_on(async {
            let stopping = async {
                match self.stop_after {
                    Some(after) => {
                        tokio::time::sleep(after).await;
                        stop.send(true).expect("somebody listens");
                    }
                    None => std::future::pending::<()>().await,
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                outcomes = panel.review() => outcomes,
                () = stopping => unreachable!(),
            }
        })
    }
}

impl Briefing for Bench {
    fn around(&self, _agent: &str, _shard: &Shard) -> String {
        self.around.clone()
    }
}

fn agent(planned: &PlannedAgent) -> Agent {
    Agent {
        name: planned.name.clone(),
        title: planned.name.clone(),
        focus: "bugs".to_owned(),
        base_budget: planned.base_budget,
        veto: true,
        max_severity: None,
        domain: Domain::default(),
        catch_all: false,
        categories: vec!["logic".to_owned()],
        veto_criteria: Vec::new(),
        model: None,
        instructions: "# Reviewer\nFind what is marked.".to_owned(),
        origin: AgentOrigin::Embedded,
    }
}

struct Files<'a> {
    bench: &'a Bench,
    paths: Vec<String>,
}

impl Material for Files<'_> {
    fn changed(&self, path: &str) -> Option<Changed> {
        let number = path.strip_prefix("src/f")?.strip_suffix(".rs")?.parse().ok()?;
        let text = self.bench.text(number);
        let lines = text.lines().count() as u64;
        let hunk = Hunk { old_start: 0, old_lines: 0, new_start: 1, new_lines: lines };
        let body: String = text.lines().flat_map(|line| ["+", line, "\n"]).collect();
        Some(Changed { head: Some(text.into()), base: None, hunks: vec![(hunk, body)] })
    }

    fn head(&self, path: &str) -> Option<Arc<str>> {
        match path {
            "around.rs" => Some("fn around() { needle() }\n".into()),
            path => self.changed(path)?.head,
        }
    }

    fn paths(&self) -> &[String] {
        &self.paths
    }
}

/// One word is the secret.
struct Word;

impl Redactor for Word {
    fn secrets(&self, text: &str) -> Result<Vec<Range<usize>>, String> {
        Ok(text.match_indices("SECRET-VALUE-1").map(|(at, word)| at..at + word.len()).collect())
    }
}

/// Reports every line with a marker, as a model would: with a quote, and with a line that is wrong.
pub(crate) fn reviewer(asked: &Asked<'_>) -> Turn {
    let mut findings = Vec::new();
    let mut path = String::new();
    for line in asked.text.lines() {
        if let Some(rest) = line.strip_prefix("<file-")
            && let Some((_, rest)) = rest.split_once("path=\"")
        {
            rest.split('"').next().unwrap_or_default().clone_into(&mut path);
        }
        if let Some((_, code)) = line.split_once(" +")
            && code.starts_with("let marker_")
        {
            findings.push(json!({
                "severity": "HIGH", "category": "logic", "file": path, "line": 3,
                "evidence": code, "issue": format!("{code} is marked"), "recommendation": "fix it",
                "cwe": null, "confidence": 0.9, "cause_file": null, "cause_quote": null,
            }));
        }
    }
    Turn::json(&json!({ "findings": findings, "skipped_medium": 0, "skipped_low": 0, "sops": [] }))
}

/// The same answer by tool calls.
pub(crate) fn as_calls(turn: &Turn) -> Turn {
    let report: Value = serde_json::from_str(&turn.text).expect("it is a report");
    let mut calls = Turn::default();
    for finding in report["findings"].as_array().into_iter().flatten() {
        calls = calls.call("report_finding", finding);
    }
    calls.call("done", &json!({ "skipped_medium": 0, "skipped_low": 0, "sops": [] }))
}

/// Remembers calls, in memory.
#[derive(Debug, Default)]
pub(crate) struct Journaled {
    calls: Mutex<BTreeMap<(String, String), Recording>>,
}

impl Journal for Journaled {
    fn started(&self, _agent: &str, _shard: usize) -> Result<(), String> {
        Ok(())
    }

    fn settled(
        &self,
        agent: &str,
        key: &str,
        _: Usage,
        recording: &Recording,
    ) -> Result<(), String> {
        let key = (agent.to_owned(), key.to_owned());
        self.calls.lock().expect("nobody panicked").insert(key, recording.clone());
        Ok(())
    }

    fn found(&self, _agent: &str, _finding: &AgentFinding) -> Result<(), String> {
        Ok(())
    }

    fn recall(&self, agent: &str, key: &str) -> Option<Recording> {
        self.calls
            .lock()
            .expect("nobody panicked")
            .get(&(agent.to_owned(), key.to_owned()))
            .cloned()
    }
}
