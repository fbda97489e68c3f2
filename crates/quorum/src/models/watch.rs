//! One line for each reviewer while it works.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use quorum_dispatch::BUILTIN;
use quorum_dispatch::llm::{Observer, Standing};
use quorum_model::budget::Mode;
use quorum_model::plan::Plan;

use crate::output;

/// Lines that move on a terminal; elsewhere one plain line when a reviewer ends.
pub(super) struct Lines {
    bars: BTreeMap<String, ProgressBar>,
    plain: bool,
}

impl Lines {
    pub(super) fn new(plan: &Plan, quiet: bool) -> Self {
        let watched = std::io::stderr().is_terminal();
        let all = MultiProgress::new();
        let style = ProgressStyle::with_template("{prefix:24} [{bar:20}] {msg}");
        let bar = |name: &str| {
            let bar = all.add(ProgressBar::new(100));
            if let Ok(style) = &style {
                bar.set_style(style.clone());
            }
            bar.set_prefix(name.to_owned());
            bar.set_message("waiting");
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        };
        let named = plan.agents.iter().filter(|agent| agent.engine != BUILTIN);
        let bars = named
            .filter(|_| watched && !quiet)
            .map(|agent| (agent.name.clone(), bar(&agent.name)))
            .collect();
        Self { bars, plain: !watched && !quiet }
    }

    pub(super) fn finish(&self) {
        for bar in self.bars.values() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Lines {
    fn standing(&self, agent: &str, standing: Standing) {
        let Standing { used, budget, shown, units, findings, usd, .. } = standing;
        let mode = match standing.mode {
            Mode::FullAnalysis => "full analysis",
            Mode::HighSeverityOnly => "high severity only",
            Mode::ForceReturn => "force return",
            Mode::Cut => "cut",
        };
        let text = format!("{mode}, {shown}/{units} units, {findings} findings, ${usd:.4}");
        if let Some(bar) = self.bars.get(agent) {
            bar.set_position(used.saturating_mul(100) / budget.max(1));
            bar.set_message(text);
        } else if self.plain && standing.ended {
            output::notice(&format!("{agent}: {text}, {used} of {budget} tokens"));
        }
    }
}
