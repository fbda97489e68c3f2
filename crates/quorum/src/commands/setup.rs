//! `quorum setup`, and the hidden command that writes the plugin.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use quorum_plan::roster::Roster;
use quorum_scope::repository::Repository;

use crate::assistants::{self, Page};
use crate::cli::{Cli, SetupArgs};
use crate::failure::Failure;
use crate::{output, process};

/// Shows what an assistant would be given in this repository, and writes it with `--yes`.
pub(super) fn run(cli: &Cli, arguments: &SetupArgs) -> Result<u8, Failure> {
    let folder = process::folder(cli)?;
    let root = Repository::find(&folder)?.and_then(|found| found.work_tree().map(Path::to_owned));
    let root = root.unwrap_or(folder);
    let roster = Roster::load(&[], &std::collections::BTreeMap::new())?;
    let agents: Vec<_> = roster.members().iter().map(|member| member.agent.clone()).collect();
    let read = |path: &str| read(&root, path);
    let files = assistants::files(arguments.assistant, &agents, &read)?;
    let mut shown = String::new();
    let mut written = 0;
    for (page, before) in &files {
        if before.as_deref() == Some(&page.text) {
            continue;
        }
        written += 1;
        let what = if before.is_some() { "change" } else { "new" };
        // Writing to a string cannot fail.
        _ = writeln!(shown, "{} ({what})", page.path);
        for line in changed(before.as_deref().unwrap_or_default(), &page.text) {
            _ = writeln!(shown, "  {line}");
        }
        if arguments.yes {
            write(&root, page)?;
        }
    }
    shown.push_str(match (written, arguments.yes) {
        (0, _) => "everything is as it should be\n",
        (_, true) => "written\n",
        (_, false) => "nothing is written yet: `--yes` writes it\n",
    });
    output::text(&shown, None)?;
    Ok(0)
}

/// Writes the plugin to a folder.
pub(super) fn plugin(folder: &Path) -> Result<u8, Failure> {
    let roster = Roster::load(&[], &std::collections::BTreeMap::new())?;
    let agents: Vec<_> = roster.members().iter().map(|member| member.agent.clone()).collect();
    for page in assistants::plugin(&agents) {
        write(folder, &page)?;
    }
    Ok(0)
}

/// Lines that come and go, without those that stay.
fn changed(before: &str, after: &str) -> Vec<String> {
    let gone = before.lines().filter(|line| !after.lines().any(|other| other == *line));
    let new = after.lines().filter(|line| !before.lines().any(|other| other == *line));
    gone.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect()
}

fn read(root: &Path, path: &str) -> Result<Option<String>, Failure> {
    let path = root.join(path);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("{}: {error}", path.display()))),
    }
}

fn write(root: &Path, page: &Page) -> Result<(), Failure> {
    let path = root.join(&page.path);
    let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(&path, &page.text).map_err(failed)?;
    #[cfg(unix)]
    if page.executable {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    Ok(())
}
