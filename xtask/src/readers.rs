//! Reports, read by programs that are not ours: other readers of the formats, and a browser.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{command, root, run};

/// The published schema of SARIF comes with this package.
const SARIF_PACKAGE: &str = "@microsoft/jest-sarif@1.0.0-beta.0";
const SARIF_SCHEMA: &str = "package/lib/schemas/sarif-2.1.0-rtm.5.json";
/// Where the tests and what they need are.
const TESTS: &str = "crates/quorum-report/tests";

/// Reads sample reports with other programs' readers.
pub(crate) fn readers(required: bool) -> Result<()> {
    let set_up = || -> Result<(PathBuf, PathBuf)> { Ok((python("readers")?, sarif_schema()?)) };
    let Some((python, schema)) = ready(set_up(), required)? else { return Ok(()) };
    let samples = samples()?;
    let script = root().join(TESTS).join("readers/check.py");
    run(command(&text(&python)).arg(script).args([&samples, &schema, &root().join("schemas")]))
}

/// Drives sample reports in a browser; pictures go to `target/screenshots`.
pub(crate) fn browser(required: bool) -> Result<()> {
    let set_up = || -> Result<(PathBuf, String)> { Ok((python("browser")?, chromium()?)) };
    let Some((python, chromium)) = ready(set_up(), required)? else { return Ok(()) };
    let samples = samples()?;
    let script = root().join(TESTS).join("browser/check.py");
    let pictures = target("screenshots");
    run(command(&text(&python)).arg(script).arg(samples).arg(chromium).arg(pictures))
}

/// What was set up, or a loud word on why nothing is tested: a machine without these programs can
/// still work on everything else.
pub(crate) fn ready<T>(set_up: Result<T>, required: bool) -> Result<Option<T>> {
    match set_up {
        Ok(tools) => Ok(Some(tools)),
        Err(error) if required => Err(error),
        Err(error) => {
            println!("SKIPPED, NOT TESTED: {error:#}");
            Ok(None)
        }
    }
}

/// Sample reports in every format.
fn samples() -> Result<PathBuf> {
    let folder = target("samples");
    crate::cargo(
        ["run", "--quiet", "--locked", "-p", "quorum-report", "--example", "samples", "--"],
        &[text(&folder)],
    )?;
    Ok(folder)
}

/// A Python with the packages that `tests/NAME/requirements.txt` lists.
fn python(name: &str) -> Result<PathBuf> {
    python_with(name, &root().join(TESTS).join(name).join("requirements.txt"))
}

/// A Python with the packages that a file lists, kept under `name`.
pub(crate) fn python_with(name: &str, requirements: &Path) -> Result<PathBuf> {
    let environment = target("python").join(name);
    let python = environment.join("bin/python");
    if !python.is_file() {
        run(command("python3").args(["-m", "venv"]).arg(&environment))
            .context("python3 is needed")?;
    }
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    run(command(&text(&python)).args(quiet).arg(requirements)).context("installing packages")?;
    Ok(python)
}

/// The published schema of SARIF, out of a package of the Node registry.
fn sarif_schema() -> Result<PathBuf> {
    let folder = target("sarif-schema");
    let schema = folder.join(SARIF_SCHEMA);
    if schema.is_file() {
        return Ok(schema);
    }
    fs::create_dir_all(&folder).context("making a folder for the schema")?;
    run(command("npm").args(["pack", "--silent", SARIF_PACKAGE]).current_dir(&folder))
        .context("npm is needed")?;
    let archives = fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let archive = archives
        .into_iter()
        .find(|path| path.extension() == Some(OsStr::new("tgz")))
        .context("npm wrote no package")?;
    run(command("tar").arg("-xzf").arg(archive).current_dir(&folder))?;
    if !schema.is_file() {
        bail!("{SARIF_PACKAGE} has no {SARIF_SCHEMA}");
    }
    Ok(schema)
}

/// A Chromium: the one that the environment names, one on the path, or the system's package.
fn chromium() -> Result<String> {
    if let Ok(named) = std::env::var("QUORUM_CHROMIUM") {
        return Ok(named);
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let find = || {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&paths).collect();
        let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        all.into_iter().find(|path| path.is_file())
    };
    if let Some(path) = find() {
        return Ok(text(&path));
    }
    println!("installing chromium");
    run(command("apt-get").args(["install", "-y", "-qq", "chromium"]))
        .context("no Chromium: install it, or name one in QUORUM_CHROMIUM")?;
    find().map(|path| text(&path)).context("the package has no chromium")
}

pub(crate) fn target(name: &str) -> PathBuf {
    // The tools below change folders, so the path has to be absolute.
    let root = fs::canonicalize(root()).unwrap_or_else(|_| root());
    root.join("target").join(name)
}

pub(crate) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
