//! Hostile repositories under several releases of git, downloaded as Debian packages below `target/`.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{cargo_program, command, output, root, run};

/// The suites that have the releases that matter, and whether Quorum must refuse them.
const SUITES: [(&str, bool); 2] = [("bullseye", true), ("bookworm", false)];

/// Tests that try to have a repository's program run.
const HOSTILE: [&str; 3] = ["gits::", "hostile", "programs_of_a_repository"];

/// Tests with a git that must be refused.
const OLD: [&str; 2] = [
    "gits::an_old_git_is_refused",
    "hostile::with_an_old_git_every_command_that_needs_git_is_refused",
];

/// Runs the tests with each git.
pub(crate) fn test() -> Result<()> {
    for (suite, refused) in SUITES {
        let folder = installed(suite)?;
        let mut path = vec![folder.clone()];
        path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        let path = env::join_paths(path).context("a folder's name cannot be in a search path")?;
        let version = output(command(&folder.join("git").to_string_lossy()).arg("--version"))?;
        println!("== {}", String::from_utf8_lossy(&version).trim());
        if refused {
            run(tests().args(["--ignored", "--exact", OLD[0]]).env("PATH", path))?;
            // The repository is made with the git at hand.
            run(tests().args(["--ignored", "--exact", OLD[1]]).env("QUORUM_OLD_GIT", folder))?;
        } else {
            run(tests().args(HOSTILE).env("PATH", path))?;
        }
    }
    println!("== the git at hand");
    run(tests().args(HOSTILE))
}

fn tests() -> std::process::Command {
    let mut test = command(&cargo_program());
    test.args(["test", "--quiet", "--locked", "-p", "quorum", "--test", "it", "--"]);
    test
}

/// A folder with nothing but the `git` of a suite.
fn installed(suite: &str) -> Result<PathBuf> {
    let folder = root().join("target/gits").join(suite);
    let programs = folder.join("bin");
    if programs.join("git").is_file() {
        return Ok(programs);
    }
    for name in ["lists/partial", "cache/archives/partial", "root", "bin"] {
        fs::create_dir_all(folder.join(name))?;
    }
    let sources = folder.join("suite.sources");
    fs::write(&sources, of_suite(suite)?)?;
    let apt = |arguments: &[&str]| {
        let mut apt = command("apt-get");
        let at = |name: &str| folder.join(name).display().to_string();
        for (option, value) in [
            ("Dir::Etc::SourceList", sources.display().to_string()),
            ("Dir::Etc::SourceParts", "/dev/null".to_owned()),
            ("Dir::State::Lists", at("lists")),
            ("Dir::State::Status", "/dev/null".to_owned()),
            ("Dir::Cache", at("cache")),
        ] {
            apt.args(["-o", &format!("{option}={value}")]);
        }
        run(apt.args(arguments).current_dir(&folder))
    };
    apt(&["--quiet", "update"])?;
    apt(&["--quiet", "download", "git"])?;
    for entry in fs::read_dir(&folder)? {
        let package = entry?.path();
        if package.extension().is_some_and(|ending| ending == "deb") {
            run(command("dpkg-deb").arg("-x").arg(&package).arg(folder.join("root")))?;
        }
    }
    let script = format!(
        "#!/bin/sh\nGIT_EXEC_PATH='{0}/usr/lib/git-core' GIT_TEMPLATE_DIR='{0}/usr/share/git-core/templates' \
         exec '{0}/usr/bin/git' \"$@\"\n",
        folder.join("root").display()
    );
    let program = programs.join("git");
    fs::write(&program, script)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok(programs)
}

/// The machine's own sources, with another suite: from where packages come is the machine's choice.
fn of_suite(suite: &str) -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").context("this is no Debian")?;
    let own = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let own = own.context("/etc/os-release names no suite")?;
    let mut found = String::new();
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    if let Ok(entries) = fs::read_dir("/etc/apt/sources.list.d") {
        files.extend(entries.flatten().map(|entry| entry.path()));
    }
    for file in files.iter().filter(|file| is_source(file)) {
        let Ok(text) = fs::read_to_string(file) else { continue };
        for paragraph in text.split("\n\n").filter(|paragraph| paragraph.contains(own)) {
            // Updates of the suite are not there for every one; its security fixes are.
            let words = format!("{own}-updates");
            found += &paragraph.replace(&words, "").replace(own, suite);
            found += "\n\n";
        }
    }
    if found.is_empty() {
        bail!("apt has no source for {own}");
    }
    Ok(found)
}

fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "sources" || ending == "list")
}
