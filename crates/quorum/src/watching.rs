//! What the user sees on standard error while the engine works, and the stream of events.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use quorum_engine::{Observer, Progress, SharedObserver, Stage, Standing};
use quorum_model::budget::Mode;
use quorum_model::event::Event;
use quorum_model::gate::{GateCheck, GateResult};
use quorum_report::events;

use crate::failure::Failure;
use crate::output;

/// What stands for standard output.
pub(crate) const STANDARD_OUTPUT: &str = "-";

/// Bars that move on a terminal; elsewhere plain lines, and nothing where nobody wants to know.
pub(crate) struct Terminal {
    /// Whether bars are drawn.
    drawn: bool,
    quiet: bool,
    files: Mutex<Option<ProgressBar>>,
    reviewers: Mutex<Reviewers>,
    events: Option<Mutex<Box<dyn Write + Send>>>,
}

/// One line for each reviewer that is a model.
#[derive(Default)]
struct Reviewers {
    all: MultiProgress,
    bars: BTreeMap<String, ProgressBar>,
}

/// An observer for the terminal.
pub(crate) fn terminal(quiet: bool) -> SharedObserver {
    Arc::new(Terminal::new(quiet, None))
}

/// The same, with events as lines of JSON in a file or on standard output.
pub(crate) fn with_events(quiet: bool, to: Option<&Path>) -> Result<SharedObserver, Failure> {
    let events: Option<Box<dyn Write + Send>> = match to {
        None => None,
        Some(path) if path.as_os_str() == STANDARD_OUTPUT => Some(Box::new(io::stdout())),
        Some(path) => {
            let made = File::create(path);
            Some(Box::new(
                made.map_err(|error| Failure::new(format!("{}: {error}", path.display())))?,
            ))
        }
    };
    Ok(Arc::new(Terminal::new(quiet, events)))
}

impl Terminal {
    fn new(quiet: bool, events: Option<Box<dyn Write + Send>>) -> Self {
        Self {
            drawn: io::stderr().is_terminal() && !quiet,
            quiet,
            files: Mutex::default(),
            reviewers: Mutex::default(),
            events: events.map(Mutex::new),
        }
    }

    fn started(&self, stage: Stage, total: u64) {
        let target = if self.drawn {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let unit = if stage == Stage::ReviewingCommits { "commits" } else { "files" };
        let template = format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {unit} {{eta}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.set_message(match stage {
            Stage::Reading => "Reading",
            Stage::Reviewing => "Reviewing",
            Stage::ReviewingCommits => "Reviewing commits",
            Stage::Waiting => "Waiting for another quorum",
            Stage::Indexing => "Indexing",
            Stage::Embedding => "Embedding",
        });
        if self.drawn {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = files.replace(bar) {
            before.finish_and_clear();
        }
    }

    fn ended(&self) {
        let bar = self.files.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    fn reviewer(&self, agent: &str, standing: &Standing) {
        let Standing { used, budget, shown, units, findings, usd, .. } = standing;
        let mode = match standing.mode {
            Mode::FullAnalysis => "full analysis",
            Mode::HighSeverityOnly => "high severity only",
            Mode::ForceReturn => "force return",
            Mode::Cut => "cut",
        };
        let text = format!("{mode}, {shown}/{units} units, {findings} findings, ${usd:.4}");
        if self.drawn {
            let mut reviewers = self.reviewers.lock().unwrap_or_else(PoisonError::into_inner);
            let bar = reviewers.bar(agent);
            bar.set_position(used.saturating_mul(100) / (*budget).max(1));
            bar.set_message(text);
        } else if !self.quiet && standing.ended {
            output::notice(&format!("{agent}: {text}, {used} of {budget} tokens"));
        }
    }

    fn gate_started(&self, check: &GateCheck) {
        if self.drawn {
            output::notice(&format!("gate {}: {}", check.name, check.command));
        }
    }

    fn gate_ended(&self, result: &GateResult) {
        if !self.quiet {
            let (seconds, tenths) = (result.duration_ms / 1000, result.duration_ms / 100 % 10);
            let outcome = result.outcome();
            output::notice(&format!("gate {} {outcome} ({seconds}.{tenths} s)", result.name));
        }
    }

    fn event(&self, event: &Event) {
        if let Some(out) = &self.events {
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            // Who reads them may go away; the review goes on.
            drop(out.write_all(events::line(event).as_bytes()));
            drop(out.flush());
        }
    }
}

impl Reviewers {
    fn bar(&mut self, agent: &str) -> &ProgressBar {
        let all = &self.all;
        self.bars.entry(agent.to_owned()).or_insert_with(|| {
            let bar = all.add(ProgressBar::new(100));
            if let Ok(style) = ProgressStyle::with_template("{prefix:24} [{bar:20}] {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(agent.to_owned());
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        })
    }
}

impl Observer for Terminal {
    fn observe(&self, progress: Progress<'_>) {
        match progress {
            Progress::StageStarted { stage, total } => self.started(stage, total),
            Progress::FileDone { .. } => {
                let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(bar) = &*files {
                    bar.inc(1);
                }
            }
            Progress::StageEnded { .. } => self.ended(),
            Progress::Reviewer { agent, standing } => self.reviewer(agent, standing),
            Progress::ReviewersEnded => {
                let reviewers = self.reviewers.lock().unwrap_or_else(PoisonError::into_inner);
                for bar in reviewers.bars.values() {
                    bar.finish_and_clear();
                }
            }
            Progress::GateStarted(check) => self.gate_started(check),
            Progress::GateEnded(result) => self.gate_ended(result),
            Progress::Event(event) => self.event(event),
            Progress::Notice(text) if !self.quiet => output::notice(text),
            _ => {}
        }
    }

    fn wants_events(&self) -> bool {
        self.events.is_some()
    }
}
