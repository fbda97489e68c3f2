//! Ctrl-C, for reviews that can be stopped and resumed.

use std::thread;

use quorum_engine::CancellationToken;

use crate::output;

/// The exit code of what the user interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// A token that the first Ctrl-C cancels; the second ends the process at once.
pub(crate) fn token() -> CancellationToken {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // Without a runtime Ctrl-C ends the process, as it does without this.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_err() {
                return;
            }
            cancelled.cancel();
            output::notice("stopping; Ctrl-C once more ends at once");
            if tokio::signal::ctrl_c().await.is_ok() {
                exit();
            }
        });
    });
    token
}

#[expect(clippy::exit, reason = "the user does not want to wait for what is under way")]
fn exit() {
    std::process::exit(i32::from(INTERRUPTED));
}
