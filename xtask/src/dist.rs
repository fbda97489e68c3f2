//! What gets shipped: the binary with its manual pages and completions, as one archive.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{cargo, command, root, run};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds an archive for `target`, or for this machine, in `target/dist`.
pub(crate) fn dist(target: Option<&String>) -> Result<()> {
    let host = host()?;
    let target = target.unwrap_or(&host);
    let package = ["build", "--locked", "--profile", "dist", "-p", "quorum"];
    cargo(package, &["--target".to_owned(), target.clone()])?;
    let binary = root().join("target").join(target).join("dist/quorum");

    let name = format!("quorum-{}-{target}", env!("CARGO_PKG_VERSION"));
    let out = root().join("target/dist-archives");
    let folder = out.join(&name);
    fs::create_dir_all(folder.join("completions")).context("making the folder of the archive")?;
    fs::copy(&binary, folder.join("quorum")).context("copying the binary")?;
    for text in TEXTS {
        fs::copy(root().join(text), folder.join(text))
            .with_context(|| format!("copying {text}"))?;
    }
    // Only a binary for this machine can be asked for its pages.
    if *target == host {
        extras(&binary, &folder)?;
    }
    let archive = format!("{name}.tar.gz");
    run(command("tar").arg("-czf").arg(out.join(&archive)).arg("-C").arg(&out).arg(&name))?;
    println!("wrote target/dist-archives/{archive}");
    Ok(())
}

/// Manual pages and completions, which the binary writes itself.
fn extras(binary: &Path, folder: &Path) -> Result<()> {
    let binary = binary.to_string_lossy();
    run(command(&binary).arg("man").arg(folder.join("man/man1")))?;
    for shell in SHELLS {
        let output = command(&binary).args(["completions", shell]).output()?;
        fs::write(folder.join("completions").join(format!("quorum.{shell}")), output.stdout)?;
    }
    Ok(())
}

/// The target that the compiler builds for by itself.
fn host() -> Result<String> {
    let output = command("rustc").arg("-vV").output().context("asking rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what it builds for")?.to_owned())
}
