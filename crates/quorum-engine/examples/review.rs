//! Reviews a repository, or one commit of it: `cargo run -p quorum-engine --example review -- PATH [REVISION]`.
//! A line on standard input cancels the review.

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quorum_engine::{CancellationToken, Environment, Observer, Progress, SharedObserver};
use quorum_engine::{ReviewRequest, ReviewSelection};
use quorum_store::Clock;

/// Shows how far the review is.
#[derive(Default)]
struct Files(AtomicU64);

impl Observer for Files {
    fn observe(&self, progress: Progress<'_>) {
        let mut out = std::io::stderr().lock();
        let written = match progress {
            Progress::StageStarted { stage, total } => {
                self.0.store(0, Ordering::Relaxed);
                writeln!(out, "{stage:?}: {total} files")
            }
            Progress::FileDone { .. } => {
                write!(out, "\r{}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
            }
            Progress::StageEnded { .. } => writeln!(out),
            Progress::Notice(text) => writeln!(out, "{text}"),
            _ => Ok(()),
        };
        // Where nobody can see it, nothing is lost.
        drop(written);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder")?;
    let selection = match arguments.next() {
        Some(revision) => ReviewSelection::Commit { revision },
        None => ReviewSelection::All,
    };
    let request = ReviewRequest::new(folder, selection);
    let environment = Environment::bare(std::env::temp_dir(), Clock::new(jiff::Timestamp::now));
    let observer: SharedObserver = Arc::new(Files::default());
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    std::thread::spawn(move || {
        let read = std::io::stdin().read_line(&mut String::new());
        if read.is_ok_and(|bytes| bytes > 0) {
            cancelled.cancel();
        }
    });
    let prepared = quorum_engine::prepare(&request, &environment, &*observer)?;
    let review = quorum_engine::review(&prepared, &observer, &cancel)?;
    let (verdict, findings) = (review.result.verdict.as_str(), review.result.findings.len());
    Ok(writeln!(std::io::stdout(), "{verdict}: {findings} findings")?)
}
