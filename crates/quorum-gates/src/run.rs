//! Running the checks of a repository, one after the other, in one scratch copy.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use quorum_model::SCHEMA_VERSION;
use quorum_model::config::GatesConfig;
use quorum_model::gate::{GateCheck, GateReport, GateResult, GateStatus, Isolation};

use crate::error::GateError;
use crate::outcome::{Done, Reading, clean, outcome, without_run};
use crate::remove::remove;
use crate::sandbox::{self, End, Spec};
use crate::select::{builds_on, report_path};
use crate::surroundings::{self, Scratch, Variable};
use crate::tree::Paths;
use crate::{missing, trigger};

/// Reports that are larger than this are not read.
const LARGEST_REPORT: u64 = 16 << 20;
/// Of so many reports none tells anything new.
const MOST_REPORTS: usize = 500;

/// What the checks of one repository need.
pub struct Gates<'a> {
    /// The checks, in the order in which they run.
    pub checks: &'a [GateCheck],
    /// What the user and the team decided about them.
    pub config: &'a GatesConfig,
    /// The changed files; absent where everything is looked at.
    pub changed: Option<&'a [String]>,
    /// The files of the repository.
    pub paths: &'a [String],
    /// This program, which is its own helper.
    pub helper: &'a Path,
    /// Where the copy of the repository is.
    pub scratch: &'a Scratch,
    /// Folders outside the copy that it refers to, such as installed packages.
    pub linked: &'a [PathBuf],
    /// The environment.
    pub variable: &'a Variable<'a>,
    /// Counts tokens.
    pub count: &'a dyn Fn(&str) -> u64,
}

impl std::fmt::Debug for Gates<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gates").field("checks", &self.checks).finish_non_exhaustive()
    }
}

/// Is told before and after each check.
pub trait Observer {
    /// A check begins.
    fn started(&self, check: &GateCheck);

    /// A check ended.
    fn ended(&self, result: &GateResult);
}

/// Runs the checks.
pub fn run(gates: &Gates<'_>, observer: &dyn Observer) -> Result<GateReport, GateError> {
    let mut runner = Runner::new(gates);
    let mut results: Vec<GateResult> = Vec::new();
    for check in gates.checks {
        let result = if let Some(result) = runner.reason_not_to(check, &results)? {
            result
        } else {
            observer.started(check);
            runner.check(check)?
        };
        observer.ended(&result);
        results.push(result);
    }
    Ok(GateReport {
        schema_version: SCHEMA_VERSION,
        passed: !results.iter().any(GateResult::blocks),
        gates: results,
        isolation: runner.isolation,
    })
}

struct Runner<'a> {
    gates: &'a Gates<'a>,
    paths: Paths,
    variables: Vec<(OsString, OsString)>,
    readable: Vec<PathBuf>,
    /// How paths in the copy are printed.
    prefixes: Vec<String>,
    isolation: Isolation,
}

impl<'a> Runner<'a> {
    fn new(gates: &'a Gates<'a>) -> Self {
        let tree = gates.scratch.tree.display().to_string();
        Self {
            gates,
            paths: Paths::new(gates.paths),
            variables: surroundings::variables(
                gates.variable,
                gates.scratch,
                &gates.config.pass_env,
                gates.config.network,
            ),
            readable: surroundings::readable(gates.variable, gates.linked),
            prefixes: vec![tree],
            isolation: Isolation::default(),
        }
    }

    /// The outcome of a check that need not run, or cannot.
    fn reason_not_to(
        &self,
        check: &GateCheck,
        before: &[GateResult],
    ) -> Result<Option<GateResult>, GateError> {
        let skipped = |reason: String| without_run(check, GateStatus::Skipped, Some(reason));
        if !trigger::is_due(check, self.gates.changed)? {
            return Ok(Some(skipped("nothing that it looks at changed".to_owned())));
        }
        let broken = self
            .gates
            .checks
            .iter()
            .zip(before)
            .find(|(first, result)| result.blocks() && builds_on(first, check));
        if let Some((first, _)) = broken {
            return Ok(Some(skipped(format!("{} did not pass before it", first.name))));
        }
        if let Some(program) = missing::program(&check.command)
            && !self.is_installed(program)
        {
            let reason = format!("`{program}` is not installed");
            return Ok(Some(without_run(check, GateStatus::NotRun, Some(reason))));
        }
        Ok(None)
    }

    fn is_installed(&self, program: &str) -> bool {
        let path = self.variables.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| value.clone()).unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    }

    fn check(&mut self, check: &GateCheck) -> Result<GateResult, GateError> {
        let spec = self.spec(check);
        if !spec.working_dir.is_dir() {
            let reason = format!("there is no folder `{}`", check.working_dir);
            return Ok(without_run(check, GateStatus::NotRun, Some(reason)));
        }
        empty(&spec.tmp)?;
        let ran = sandbox::run(self.gates.helper, &spec, &self.variables)?;
        if ran.end == End::Refused {
            return Err(GateError::Unsandboxed);
        }
        self.isolation = ran.isolation;
        let output = clean(&ran.output.text(), &self.prefixes);
        let done = Done {
            end: &ran.end,
            output: &output,
            duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
            reports: &self.reports(check),
        };
        let reading = Reading {
            paths: &self.paths,
            limit: self.gates.config.limits.output_tokens,
            count: self.gates.count,
            network: self.gates.config.network,
        };
        Ok(outcome(check, &done, &reading))
    }

    fn spec(&self, check: &GateCheck) -> Spec {
        let scratch = self.gates.scratch;
        let limits = &self.gates.config.limits;
        let mebibytes = |count: u64| count.saturating_mul(1 << 20);
        Spec {
            command: check.command.clone(),
            working_dir: scratch.tree.join(&check.working_dir),
            scratch: scratch.folder.clone(),
            readable: self.readable.clone(),
            writable: scratch.writable(),
            tmp: scratch.tmp.clone(),
            root: scratch.root.clone(),
            network: self.gates.config.network,
            unsandboxed: self.gates.config.allow_unsandboxed,
            timeout_ms: check.timeout.saturating_mul(1000),
            memory: mebibytes(limits.memory_mb),
            processes: limits.processes,
            file: mebibytes(limits.file_mb),
            disk: mebibytes(limits.disk_mb),
        }
    }

    /// The texts of the reports that a check wrote. A link is not followed: it could lead anywhere.
    fn reports(&self, check: &GateCheck) -> Vec<String> {
        let scratch = self.gates.scratch;
        let mut texts = Vec::new();
        for report in &check.reports {
            let named = report_path(check, report, &scratch.reports.display().to_string());
            if named.contains(['*', '?', '[']) {
                texts.extend(matching(&scratch.tree, &named));
            } else {
                texts.extend(read_plain(&scratch.tree.join(named)));
            }
        }
        texts
    }
}

/// The files below `root` that match `pattern`, as texts.
fn matching(root: &Path, pattern: &str) -> Vec<String> {
    let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() else {
        return Vec::new();
    };
    let glob = glob.compile_matcher();
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && entry.file_name() != "node_modules" {
                folders.push(path);
            } else if kind.is_file()
                && path.strip_prefix(root).is_ok_and(|path| glob.is_match(path))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found.iter().take(MOST_REPORTS).filter_map(|path| read_plain(path)).collect()
}

fn read_plain(path: &Path) -> Option<String> {
    // The check is over and nothing of it runs any more: what is no link now stays none.
    let metadata = path.symlink_metadata().ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST_REPORT {
        return None;
    }
    String::from_utf8(fs::read(path).ok()?).ok()
}

/// Empties a folder. Places are made below `/tmp` before a check is locked in: a link that the check
/// before it left there would lead them astray.
fn empty(folder: &Path) -> Result<(), GateError> {
    let aside = folder.with_extension("old");
    // What cannot be removed, because a check took the rights to it away, can be put aside.
    let gone = remove(folder).or_else(|_| {
        drop(remove(&aside));
        fs::rename(folder, &aside)
    });
    let emptied = gone.and_then(|()| fs::create_dir_all(folder));
    emptied.map_err(|source| GateError::Io { path: folder.to_owned(), source })
}

/// Makes the folders of a run below `folder`.
pub fn prepare(folder: &Path) -> Result<Scratch, GateError> {
    let scratch = Scratch::below(folder);
    for place in [&scratch.tree, &scratch.home, &scratch.tmp, &scratch.reports, &scratch.root] {
        fs::create_dir_all(place)
            .map_err(|source| GateError::Io { path: place.clone(), source })?;
    }
    Ok(scratch)
}
