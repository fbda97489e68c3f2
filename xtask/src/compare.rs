//! The embedded reviewers beside the tools that people use: what they find on the same labelled
//! files, and how long they take for it on the same machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::readers::{python_with, target, text};
use crate::{cargo, command, root, run};

/// What is measured against, from the Python registry.
const TOOLS: &str = "bandit==1.9.4\nruff==0.17.4\nsemgrep==1.182.0\n";

/// Runs the other tools on a folder of labelled code, and `quorum eval` with what they found.
///
/// The second word is a checkout of public semgrep rules; without one semgrep is left out.
pub(crate) fn compare(rest: &[String]) -> Result<()> {
    let (folder, rules) = match rest {
        [folder] => (Path::new(folder), None),
        [folder, rules] => (Path::new(folder), Some(Path::new(rules))),
        _ => bail!("which folder of labelled code?"),
    };
    let folder =
        folder.canonicalize().with_context(|| format!("no folder {}", folder.display()))?;
    let out = target("compare");
    fs::create_dir_all(&out).context("making a folder for the findings")?;
    cargo(["build", "--release", "--quiet", "--locked", "-p", "quorum"], &[])?;
    let programs = install(&out)?;
    let tool = |name: &str| command(&text(&programs.join(name)));

    let mut took = Vec::new();
    let mut against = Vec::new();
    let mut measure = |name: &str, file: &str, command: &mut Command| -> Result<()> {
        took.push((name.to_owned(), timed(command)?));
        against.push(format!("{name}={}", out.join(file).display()));
        Ok(())
    };
    let mut bandit = tool("bandit");
    bandit.args(["-q", "-f", "json", "-o"]).arg(out.join("bandit.json")).arg("-r").arg(&folder);
    measure("bandit", "bandit.json", &mut bandit)?;
    let mut ruff = tool("ruff");
    ruff.args(["check", "--isolated", "--no-cache", "--select", "S", "--output-format", "json"]);
    measure("ruff", "ruff.json", ruff.arg("-o").arg(out.join("ruff.json")).arg(&folder))?;
    if let Some(rules) = rules {
        let mut semgrep = tool("semgrep");
        semgrep.args(["scan", "-q", "--metrics", "off", "--disable-version-check"]);
        // It would pass over every folder that is named `test`.
        semgrep.args(["--no-git-ignore", "--x-ignore-semgrepignore-files"]);
        semgrep.args(["--sarif", "--config"]).arg(rules);
        semgrep.arg("-o").arg(out.join("semgrep.sarif")).arg(&folder);
        measure("semgrep", "semgrep.sarif", &mut semgrep)?;
    }

    let quorum = || command(&text(&root().join("target/release/quorum")));
    let own = timed(quorum().arg("-C").arg(repository(&folder, &out)?).args([
        "--quiet",
        "review",
        "--agents",
        "security",
        "--output",
        &text(&out.join("quorum.txt")),
    ]))?;
    let mut eval = quorum();
    eval.arg("eval").arg(&folder).args(["--agents", "security"]);
    for tool in &against {
        eval.args(["--against", tool]);
    }
    run(&mut eval)?;
    println!("\nquorum took {:.2} s", own.as_secs_f64());
    for (name, time) in took {
        let ratio = time.as_secs_f64() / own.as_secs_f64();
        println!("{name} took {:.2} s, {ratio:.1} times as long", time.as_secs_f64());
    }
    Ok(())
}

/// A repository of its own with what is in `folder`: a review is about one.
fn repository(folder: &Path, out: &Path) -> Result<PathBuf> {
    let copy = out.join("repository");
    if copy.exists() {
        fs::remove_dir_all(&copy).context("removing the last copy")?;
    }
    run(command("cp").arg("-r").arg(folder).arg(&copy))?;
    let git = || {
        let mut git = command("git");
        git.arg("-C").arg(&copy).args(["-c", "user.name=compare", "-c", "user.email=c@localhost"]);
        git
    };
    run(git().args(["init", "--quiet"]))?;
    run(git().args(["add", "--all"]))?;
    run(git().args(["commit", "--quiet", "--message", "all"]))?;
    Ok(copy)
}

/// A folder with the programs.
fn install(out: &Path) -> Result<PathBuf> {
    let requirements = out.join("requirements.txt");
    fs::write(&requirements, TOOLS).context("naming the tools")?;
    let python = python_with("compare", &requirements)?;
    Ok(python.parent().context("a program is in a folder")?.to_owned())
}

/// How long a tool takes that ends with 1 when it has found something.
fn timed(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    match status.code() {
        Some(0 | 1) => Ok(start.elapsed()),
        _ => bail!("{command:?} ended with {status}"),
    }
}
