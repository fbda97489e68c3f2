//! `quorum review`.

use std::path::Path;

use quorum_engine::{CancellationToken, FULL_REPORT, Review, SharedObserver, UNRECORDED};
use quorum_model::result::ReviewResult;
use quorum_report::{Report, terminal};

use super::report;
use crate::cli::{Cli, LiveArgs, ResultArgs, ReviewArgs};
use crate::failure::Failure;
use crate::{asked, interrupt, output, process, watching};

pub(super) fn run(cli: &Cli, arguments: &ReviewArgs) -> Result<u8, Failure> {
    let ReviewArgs { scope, run, output, live } = arguments;
    let request = asked::request(cli, scope, run)?;
    let environment = process::environment();
    let observer = watching::with_events(cli.quiet, live.events.as_deref())?;
    let prepared = quorum_engine::prepare(&request, &environment, &*observer)?;
    let review = quorum_engine::review(&prepared, &observer, &stopped_by_user(&prepared.plan))?;
    shown(&review, output, live, &observer)
}

/// Ctrl-C stops reviewers that are models, so that what they said is kept. Rules are done in moments, and
/// a review by them alone is simply ended.
pub(super) fn stopped_by_user(plan: &quorum_model::plan::Plan) -> CancellationToken {
    let by_models = plan.agents.iter().any(|agent| agent.engine != quorum_engine::BUILTIN);
    if by_models { interrupt::token() } else { CancellationToken::new() }
}

/// Prints what came of a review; returns the exit code.
pub(super) fn shown(
    review: &Review,
    output: &ResultArgs,
    live: &LiveArgs,
    observer: &SharedObserver,
) -> Result<u8, Failure> {
    // Events may have standard output for themselves.
    let to_events = live.events.as_deref() == Some(Path::new(watching::STANDARD_OUTPUT));
    let mut code = review.result.exit_code;
    if !to_events || output.output.is_some() {
        let with_timeline = !review.interrupted && report::tells_when(output.format);
        code = print(&review.report(with_timeline), output)?;
    }
    if review.interrupted {
        if review.is_recorded() {
            let text = format!("interrupted; `quorum resume {}` goes on", review.result.run);
            observer.observe(quorum_engine::Progress::Notice(&text));
        }
        code = interrupt::INTERRUPTED;
    }
    Ok(code)
}

/// Prints a report and returns the exit code of its result.
pub(super) fn print(report: &Report<'_>, output: &ResultArgs) -> Result<u8, Failure> {
    let file = output.output.as_deref();
    if let Some(written) = report::write(report, output.format, file) {
        written?;
    } else {
        let full = full_report(report.result);
        let options = terminal::Options {
            width: output::width(),
            // What cannot show colours gets the text without them.
            color: true,
            unicode: output::is_unicode(),
            full_report: full.as_deref(),
        };
        output::text(&terminal::render(report, &options), file)?;
    }
    Ok(report.result.exit_code)
}

/// Where the report is in full, for people; absent where the run is not kept.
fn full_report(result: &ReviewResult) -> Option<String> {
    let kept = result.run != UNRECORDED;
    kept.then(|| format!(".quorum/runs/{}/{FULL_REPORT}", result.run))
}
