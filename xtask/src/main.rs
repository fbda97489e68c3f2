//! Developer chores. `cargo xtask` lists them.

#![expect(clippy::print_stdout, reason = "a developer's tool talks to the terminal")]

mod clusters;
mod dist;
mod readers;
mod reference;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use quorum_model::schema;

const HELP: &str = "\
cargo xtask <chore>

  test [ARGS…]    install what the tests need and run all of them; ARGS go to `cargo test`
  lint            check the format and the lints, as CI does
  schemas         write schemas/ anew from the types
  reference       write docs/configuration.md anew from the schema
  dist [TARGET]   build an archive to ship, for this machine or for TARGET
  readers         read sample reports with other programs' readers; needs python3 and npm
  browser         drive sample reports in Chromium; needs python3, and Chromium or apt-get
                  (both say so and go on where they cannot be set up; `--required` makes that an error)
  bench [ARGS…]   run the benchmarks; ARGS go to `cargo bench`
  clusters FILE   how well agreement finds known issues, on labelled comments of review tools
  fuzz [SECONDS]  run every fuzz target for that long (default 60); needs nightly and cargo-fuzz
";

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let chore = arguments.next();
    let rest: Vec<String> = arguments.collect();
    match chore.as_deref() {
        Some("test") => test(&rest),
        Some("lint") => lint(),
        Some("schemas") => schemas(),
        Some("reference") => reference(),
        Some("dist") => dist::dist(rest.first()),
        Some("readers") => readers::readers(rest.iter().any(|argument| argument == "--required")),
        Some("browser") => readers::browser(rest.iter().any(|argument| argument == "--required")),
        Some("bench") => cargo(["bench", "--workspace"], &rest),
        Some("clusters") => clusters::measure(rest.first().context("which file?")?),
        Some("fuzz") => fuzz(rest.first().map_or("60", String::as_str)),
        Some("help" | "--help" | "-h") | None => {
            println!("{HELP}");
            Ok(())
        }
        Some(other) => bail!("there is no chore `{other}`\n\n{HELP}"),
    }
}

/// Runs all tests. They need git and nothing else that is not a crate: no package to install yet.
fn test(rest: &[String]) -> Result<()> {
    let git = command("git").arg("--version").output();
    if !git.is_ok_and(|output| output.status.success()) {
        bail!("the tests make real repositories: install git first");
    }
    // A package that is named stands for itself.
    let named = rest.iter().any(|argument| argument == "-p" || argument == "--package");
    if named {
        cargo(["test", "--locked"], rest)
    } else {
        cargo(["test", "--locked", "--workspace"], rest)
    }
}

fn lint() -> Result<()> {
    cargo(["fmt", "--all", "--check"], &[])?;
    cargo(["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"], &[])
}

fn schemas() -> Result<()> {
    let folder = root().join("schemas");
    fs::create_dir_all(&folder).context("creating schemas/")?;
    for (name, document) in schema::documents() {
        let path = folder.join(name);
        fs::write(&path, schema::render(&document))
            .with_context(|| format!("writing {}", path.display()))?;
        println!("wrote schemas/{name}");
    }
    Ok(())
}

/// Where the reference of the configuration is kept.
const REFERENCE: &str = "docs/configuration.md";

fn reference() -> Result<()> {
    let page = reference::configuration(configuration_schema().as_value());
    fs::write(root().join(REFERENCE), page).with_context(|| format!("writing {REFERENCE}"))?;
    println!("wrote {REFERENCE}");
    Ok(())
}

/// The schema of `quorum.toml`.
fn configuration_schema() -> schemars::Schema {
    let documents = schema::documents();
    let found = documents.into_iter().find(|(name, _)| *name == "config.json");
    found.map(|(_, schema)| schema).unwrap_or_default()
}

fn fuzz(seconds: &str) -> Result<()> {
    let seconds: u32 = seconds.parse().context("how many seconds?")?;
    let targets = fs::read_dir(root().join("fuzz/fuzz_targets")).context("listing the targets")?;
    for target in targets {
        let path = target?.path();
        let name = path.file_stem().and_then(OsStr::to_str).context("a target has a name")?;
        println!("fuzzing {name} for {seconds} s");
        let limit = format!("-max_total_time={seconds}");
        run(command("cargo").args(["+nightly", "fuzz", "run", name, "--", &limit]))?;
    }
    Ok(())
}

fn cargo<const N: usize>(arguments: [&str; N], rest: &[String]) -> Result<()> {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    run(command(&program).args(arguments).args(rest))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the one place here that starts programs")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
