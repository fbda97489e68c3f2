//! `quorum man`: the manual pages, from the arguments' own help.

use std::path::Path;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::failure::Failure;

pub(super) fn run(folder: &Path) -> Result<u8, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("{}: {error}", folder.display()))
            .with_hint("name a folder that can be written")
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    Ok(0)
}
