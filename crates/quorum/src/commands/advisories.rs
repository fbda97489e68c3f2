//! `quorum advisories`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quorum_advisories::{Database, Ecosystem, Imported, Status};
use quorum_engine::advisories;
use quorum_engine::policy::Policy;
use quorum_engine::workspace;
use quorum_forge::DownloadError;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;

use crate::cli::{AdvisoriesAction, AdvisoriesArgs, Cli, Format};
use crate::failure::Failure;
use crate::{output, process};

pub(super) fn run(cli: &Cli, arguments: &AdvisoriesArgs) -> Result<u8, Failure> {
    match &arguments.action {
        AdvisoriesAction::Import { from } => import(cli, from)?,
        AdvisoriesAction::Update { url, ecosystems } => update(cli, url.as_deref(), ecosystems)?,
        AdvisoriesAction::Status { output: out } => {
            let status = status()?;
            let file = out.output.as_deref();
            match out.format {
                Format::Json => output::json(&as_json(status.as_ref())?, file)?,
                Format::Terminal => output::text(&as_text(status.as_ref())?, file)?,
            }
        }
    }
    Ok(0)
}

fn location() -> Result<PathBuf, Failure> {
    process::environment().advisories_file.ok_or_else(|| {
        Failure::new("there is no home folder to keep advisories in").with_hint("set HOME")
    })
}

fn status() -> Result<Option<Status>, Failure> {
    advisories::open(&process::environment())?
        .map(|database| database.status())
        .transpose()
        .map_err(Failure::from)
}

fn import(cli: &Cli, from: &[PathBuf]) -> Result<(), Failure> {
    let folder = process::folder(cli)?;
    let database = Database::create(&location()?)?;
    for path in from {
        let path = folder.join(path);
        let imported = database.import(&path)?;
        output::text(&summary(&path.display().to_string(), &imported), None)?;
    }
    output::text(&as_text(Some(&database.status()?))?, None)
}

/// The largest archive that is fetched.
const LARGEST: u64 = 2 * 1024 * 1024 * 1024;

fn update(cli: &Cli, url: Option<&str>, names: &[String]) -> Result<(), Failure> {
    let ecosystems = chosen(names)?;
    let base = match url {
        Some(url) => url.to_owned(),
        None => configured(cli)?,
    };
    let database = Database::create(&location()?)?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("no room for a temporary file: {error}")))?;
    for ecosystem in ecosystems {
        let file = folder.path().join("all.zip");
        let address = format!("{}/{}/all.zip", base.trim_end_matches('/'), ecosystem.name());
        quorum_forge::download(&address, "advisories.url", &file, LARGEST)
            .map_err(|error| unfetched(&error))?;
        let imported = database.import(&file)?;
        output::text(&summary(ecosystem.name(), &imported), None)?;
    }
    output::text(&as_text(Some(&database.status()?))?, None)
}

fn unfetched(error: &DownloadError) -> Failure {
    let hint = match error {
        DownloadError::Refused { .. } => {
            "is advisories.url the address above the ecosystems' folders?"
        }
        _ => "without a network, `quorum advisories import` takes an archive from anywhere else",
    };
    Failure::new(error.to_string()).with_hint(hint)
}

fn configured(cli: &Cli) -> Result<String, Failure> {
    let folder = process::folder(cli)?;
    let repository = Repository::find(&folder)?;
    let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
    let loaded = workspace::load(&policy, &process::environment(), Vec::new())?;
    if let Some(refused) = loaded.warning("advisories.") {
        output::notice(&refused);
    }
    loaded.config.advisories.url.ok_or_else(|| {
        Failure::new("nothing says where advisories come from").with_hint(
            "give --url, or set advisories.url in your own quorum.toml, to the address below which each \
             ecosystem has its all.zip",
        )
    })
}

fn chosen(names: &[String]) -> Result<Vec<Ecosystem>, Failure> {
    if names.is_empty() {
        return Ok(Ecosystem::ALL.to_vec());
    }
    let find = |name: &String| {
        let known = Ecosystem::ALL.iter().find(|one| one.name().eq_ignore_ascii_case(name));
        known.copied().ok_or_else(|| {
            let all: Vec<&str> = Ecosystem::ALL.iter().map(|one| one.name()).collect();
            Failure::new(format!("`{name}` is no known ecosystem"))
                .with_hint(format!("known are {}", all.join(", ")))
        })
    };
    names.iter().map(find).collect()
}

fn summary(from: &str, imported: &Imported) -> String {
    let mut line = format!("{from}: {} advisories", imported.taken);
    if imported.withdrawn > 0 {
        _ = write!(line, ", {} withdrawn", imported.withdrawn);
    }
    if imported.unread > 0 {
        _ = write!(line, ", {} files that are none", imported.unread);
    }
    if !imported.elsewhere.is_empty() {
        let names: Vec<&str> = imported.elsewhere.keys().take(4).map(String::as_str).collect();
        let more = if imported.elsewhere.len() > names.len() { ", …" } else { "" };
        _ = write!(line, "; left out, of other ecosystems: {}{more}", names.join(", "));
    }
    line.push('\n');
    line
}

fn as_text(status: Option<&Status>) -> Result<String, Failure> {
    let Some(status) = status else {
        return Ok(format!(
            "No advisories yet: dependencies are not compared with known vulnerabilities.\n\
             `quorum advisories import DIR|ZIP` takes in OSV records, into {}\n",
            location()?.display()
        ));
    };
    let mut page = String::new();
    for (ecosystem, count) in &status.counts {
        _ = writeln!(page, "{ecosystem:<10} {count:>8} advisories");
    }
    let latest = status.latest.as_deref().unwrap_or("unknown");
    _ = writeln!(page, "latest change {latest}, in {}", status.path.display());
    Ok(page)
}

fn as_json(status: Option<&Status>) -> Result<serde_json::Value, Failure> {
    let path = |path: &Path| path.display().to_string();
    Ok(match status {
        Some(status) => serde_json::json!({
            "path": path(&status.path), "ecosystems": status.counts, "latest": status.latest,
        }),
        None => serde_json::json!({
            "path": path(&location()?), "ecosystems": {}, "latest": null,
        }),
    })
}
