//! Progress on standard error, on a terminal and only when there is something to wait for.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `total` files; invisible where nobody watches.
pub(crate) fn files(total: usize, quiet: bool) -> ProgressBar {
    let watched = std::io::stderr().is_terminal() && !quiet;
    let target =
        if watched { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} files {eta}") {
        bar.set_style(style);
    }
    bar.set_message("Reading");
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
