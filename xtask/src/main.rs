//! Developer chores. `cargo xtask` lists them.

#![expect(clippy::print_stdout, reason = "a developer's tool talks to the terminal")]

mod clients;
mod clusters;
mod commits;
mod compare;
mod dist;
mod gits;
mod local_model;
mod readers;
mod toolchains;

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
  toolchains      the tests of gates with Go, CMake, Task, pytest and flake8, which it installs below
                  target/; `test` does it too, and goes on without them where they cannot be had
  gits            try hostile repositories with git 2.30, which must be refused, 2.39 and the git at hand;
                  downloads the first two with apt-get
  lint            check the format and the lints, as CI does
  schemas         write schemas/ anew from the types
  context         measure what an orchestrator reads of a review, against what is on disk
  laws            decide every combination of four reviewers in every order, under every protocol
  kills [N]       kill N scripted runs, N reviews by rules and N by a model's stand-in, and resume them
                  (default 300, some 20 minutes); every resumed review is killed as well
  rounds [N]      N pull requests over ten random reviews each (default 20), on stand-ins for both hosts
  dispatch        what a review by models costs beside the models, with an optimised build
  reference       write docs/configuration.md anew from the schema
  dist [TARGET]   build an archive to ship, for this machine or for TARGET
  readers         read sample reports with other programs' readers; needs python3 and npm
  browser         drive sample reports in Chromium; needs python3, and Chromium or apt-get
                  (both say so and go on where they cannot be set up; `--required` makes that an error)
  clients         call the MCP server with the official Python and TypeScript clients and the inspector,
                  and run the protocol's conformance suite; needs python3 and npm (skipped as above)
  plugin          write plugin/ anew from the roster
  ctags REPO…     compare symbols with those of universal-ctags; at least 95 % must agree
  functions REPO… count the functions that are seen against those of universal-ctags, in every language
  retrieval [--model DIR] REPO…
                  how often search finds a function by its comment; 60 % in the first ten are wanted
  bench [ARGS…]   run the benchmarks; ARGS go to `cargo bench`
  compare DIR [SEMGREP-RULES]
                  detection and time on labelled code, beside bandit, ruff and semgrep, which it installs
  commits [--last N] [--quorum PROGRAM] [--against PROGRAM] REPO…
                  review the last commits of repositories by rules: who looked, verdicts, and CPU time
                  beside that of another build
  clusters FILE   how well agreement finds known issues, on labelled comments of review tools
  fuzz [SECONDS]  run every fuzz target for that long (default 60); needs nightly and cargo-fuzz
  local-model     review a small change with a real model on loopback; downloads 150 MB the first time
";

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let chore = arguments.next();
    let rest: Vec<String> = arguments.collect();
    match chore.as_deref() {
        Some("test") => test(&rest),
        Some("lint") => lint(),
        Some(part @ ("ctags" | "functions" | "retrieval")) => {
            cargo(["run", "--quiet", "--locked", "-p", "measure", "--", part], &rest)
        }
        Some("schemas") => schemas(),
        Some("context") => cargo(
            ["test", "-q", "-p", "quorum", "--test", "it", "context::", "--", "--nocapture"],
            &[],
        ),
        Some("laws") => {
            let mut test = command(&cargo_program());
            test.args([
                "test",
                "--release",
                "-p",
                "quorum-consensus",
                "--test",
                "it",
                "laws::the_",
            ]);
            run(test.env("QUORUM_EVERY_ORDER", "1"))
        }
        Some("kills") => kills(rest.first().map_or("300", String::as_str)),
        Some("rounds") => rounds(rest.first().map_or("20", String::as_str)),
        Some("dispatch") => cargo(
            [
                "test",
                "-q",
                "--release",
                "-p",
                "quorum",
                "--test",
                "it",
                "models::measure",
                "--",
                "--ignored",
                "--nocapture",
            ],
            &[],
        ),
        Some("reference") => reference(),
        Some("dist") => dist::dist(rest.first()),
        Some("readers") => readers::readers(rest.iter().any(|argument| argument == "--required")),
        Some("browser") => readers::browser(rest.iter().any(|argument| argument == "--required")),
        Some("toolchains") => toolchains::test(),
        Some("gits") => gits::test(),
        Some("clients") => clients::check(rest.iter().any(|argument| argument == "--required")),
        Some("plugin") => cargo(
            ["run", "--quiet", "--locked", "-p", "quorum", "--", "plugin"],
            &["plugin".to_owned()],
        ),
        Some("bench") => cargo(["bench", "--workspace"], &rest),
        Some("compare") => compare::compare(&rest),
        Some("commits") => commits::measure(&rest),
        Some("clusters") => clusters::measure(rest.first().context("which file?")?),
        Some("fuzz") => fuzz(rest.first().map_or("60", String::as_str)),
        Some("local-model") => local_model::test(true),
        Some("help" | "--help" | "-h") | None => {
            println!("{HELP}");
            Ok(())
        }
        Some(other) => bail!("there is no chore `{other}`\n\n{HELP}"),
    }
}

/// A part of the tests that is left out, with a word, where what it needs cannot be had.
const IF_IT_CAN_BE: bool = false;

/// Runs all tests: those of the crates, which need git and nothing else, and then those with other
/// people's programs, each of which says so where it cannot be set up.
fn test(rest: &[String]) -> Result<()> {
    let git = command("git").arg("--version").output();
    if !git.is_ok_and(|output| output.status.success()) {
        bail!("the tests make real repositories: install git first");
    }
    // A package that is named stands for itself.
    let named = rest.iter().any(|argument| argument == "-p" || argument == "--package");
    if named {
        return cargo(["test", "--locked"], rest);
    }
    cargo(["test", "--locked", "--workspace"], rest)?;
    if !rest.is_empty() {
        return Ok(());
    }
    readers::readers(IF_IT_CAN_BE)?;
    readers::browser(IF_IT_CAN_BE)?;
    local_model::test(IF_IT_CAN_BE)
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

/// Writes `docs/configuration.md` anew.
fn reference() -> Result<()> {
    const PAGE: &str = "docs/configuration.md";
    let example = ["run", "--quiet", "-p", "quorum-engine", "--example", "reference"];
    let page = output(command(&cargo_program()).args(example))?;
    fs::write(root().join(PAGE), page).with_context(|| format!("writing {PAGE}"))?;
    println!("wrote {PAGE}");
    Ok(())
}

/// The cargo that runs this.
fn cargo_program() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Pull requests over ten random reviews each, on stand-ins for both hosts.
fn rounds(count: &str) -> Result<()> {
    let arguments =
        ["test", "-p", "quorum", "--test", "it", "rounds::any", "--", "--ignored", "--nocapture"];
    run(command(&cargo_program()).args(arguments).env("QUORUM_STORIES", count))
}

/// Kills runs at random points; the tests say what must hold after that.
fn kills(count: &str) -> Result<()> {
    let count: u32 = count.parse().context("how many?")?;
    let suites: [(&[&str], u32); 3] = [
        (&["-p", "quorum-store", "--test", "kills"], count),
        (&["-p", "quorum", "--test", "it", "crashes::a_killed_review"], count),
        (&["-p", "quorum", "--test", "it", "models::a_killed_review"], count),
    ];
    let program = cargo_program();
    for (suite, count) in suites {
        let mut test = command(&program);
        test.args(["test", "--quiet"]).args(suite).args(["--", "--nocapture"]);
        run(test.env("QUORUM_KILLS", count.to_string()))?;
    }
    Ok(())
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
    let program = cargo_program();
    run(command(&program).args(arguments).args(rest))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
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
    // quorum:ignore command-injection the developer's own cargo
    let mut command = Command::new(program);
    command.current_dir(root());
    // What cargo says about this package is not for others: build scripts that look at it would
    // make their crates, and all that stand on them, compile once more.
    for (name, _) in env::vars_os() {
        let of_package = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if of_package {
            command.env_remove(name);
        }
    }
    command
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
