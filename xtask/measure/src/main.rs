//! The index, measured on repositories. It stands apart from `xtask` because it is made of most of
//! Quorum, and whoever only wants to lint should not wait for that.

#![expect(clippy::print_stdout, reason = "a developer's tool talks to the terminal")]

mod ctags;
mod retrieval;

use std::env;
use std::process::Command;

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let what = arguments.next();
    let rest: Vec<String> = arguments.collect();
    match what.as_deref() {
        Some("ctags") => ctags::run(&rest),
        Some("functions") => ctags::count_functions(&rest),
        Some("retrieval") => retrieval::run(&rest),
        _ => bail!("this is a part of `cargo xtask`: ctags, functions or retrieval"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn percent(part: usize, all: usize) -> f64 {
    part as f64 * 100.0 / all.max(1) as f64
}

/// What a command prints.
fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("starting {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

#[expect(clippy::disallowed_methods, reason = "the one place here that starts programs")]
fn command(program: &str) -> Command {
    Command::new(program)
}
