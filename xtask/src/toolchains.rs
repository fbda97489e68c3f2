//! Toolchains that the tests of gates run, installed from packages below `target/`.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::readers::{python_with, text};
use crate::{cargo_program, command, output, root, run};

const REQUIREMENTS: &str = "crates/quorum/tests/toolchains/requirements.txt";

/// Runs the tests that need these toolchains.
pub(crate) fn test() -> Result<()> {
    let path = set_up()?;
    let mut test = command(&cargo_program());
    test.args(["test", "--quiet", "--locked", "-p", "quorum", "--test", "it", "toolchains::"]);
    run(test.args(["--", "--ignored"]).env("PATH", path))
}

/// A search path that begins with the toolchains.
fn set_up() -> Result<OsString> {
    let python = python_with("toolchains", &root().join(REQUIREMENTS))?;
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let packages = output(command(&text(&python)).args(["-c", ask]))?;
    let packages = PathBuf::from(String::from_utf8(packages)?.trim());
    let programs = python.parent().context("a program is in a folder")?;
    // The programs themselves, and not the scripts that packages put before them: a toolchain's
    // libraries are beside its programs.
    let mut folders = vec![packages.join("go/bin"), packages.join("cmake/data/bin")];
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        bail!("the packages have no {}", missing.display());
    }
    folders.push(programs.to_owned());
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    env::join_paths(folders).context("a folder's name cannot be in a search path")
}
