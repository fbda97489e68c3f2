//! What reviewers are told beside the code: read here, chosen in `quorum-context`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use quorum_dispatch::llm::Briefing;
use quorum_index::{Counter, ImportPaths};
use quorum_model::context::{ContextItem, ContextKind, ContextManifest};
use quorum_model::plan::{Plan, Shard};
use quorum_model::scope::{Change, FileEntry};
use quorum_plan::related::is_test_of;
use quorum_plan::sizing::SOPS;
use quorum_plan::sop::Sop;
use quorum_scope::snapshot::Snapshot;
use quorum_store::ledger::Ledger;
use quorum_store::ledger::dismissal::Dismissals;
use quorum_store::memory::Memories;
use quorum_store::{Run, StoreError};
use serde::{Deserialize, Serialize};

use crate::context::convention::{self, Convention};
use crate::context::decision::{self, Ending};
use crate::context::summary::{Declaring, Summary};
use crate::context::{Assembled, Candidate, ContextRequest, Cut, assemble};
use crate::error::EngineError;
use crate::kept;
use crate::record::Recorder;
use crate::workspace::Workspace;

/// Files around the ones under review whose signatures are shown, at most.
const MOST_IMPORTED: usize = 8;
/// Test files that are shown, at most.
const MOST_TESTS: usize = 8;
/// Lessons that are shown, at most.
const MOST_LESSONS: usize = 3;
/// Findings of earlier reviews that are shown, at most.
const MOST_FINDINGS: usize = 20;

/// What there is to tell about any part of a change.
pub(crate) struct Surroundings<'a> {
    workspace: &'a Workspace,
    files: &'a [FileEntry],
    label: &'a str,
    counter: Counter,
    conventions: Vec<Convention>,
    unused: Vec<ContextItem>,
    snapshot: &'a Snapshot,
    imports: OnceLock<ImportPaths>,
    /// What was read of each file: every reviewer asks about the same ones.
    summaries: Mutex<HashMap<String, Option<Arc<Summary>>>>,
    /// Whether reviewers may be told what was decided before.
    shares_the_past: bool,
    /// Files that are reviewed whole are seen whole, and need no signatures.
    skips_whole_files: bool,
}

/// What a command knows of the change that it asks about.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) files: &'a [FileEntry],
    pub(crate) label: &'a str,
    pub(crate) shares_the_past: bool,
    pub(crate) skips_whole_files: bool,
}

impl<'a> About<'a> {
    /// The change of a plan, as its reviewers are told about it.
    fn plan(plan: &'a Plan) -> Self {
        Self {
            files: &plan.scope.files,
            label: &plan.scope.label,
            shares_the_past: plan.protocol.requirements().shares_hints,
            skips_whole_files: true,
        }
    }
}

impl<'a> Surroundings<'a> {
    /// Reads the conventions of the repository, from where policy is read.
    pub(crate) fn open(workspace: &'a Workspace, about: About<'a>) -> Result<Self, EngineError> {
        let (conventions, unused) = convention::distinct(workspace.policy().conventions()?);
        let unused = unused.into_iter().map(|unused| ContextItem {
            kind: ContextKind::Convention,
            source: unused.path,
            tokens: 0,
            reason: unused.reason,
            cut: None,
        });
        Ok(Self {
            workspace,
            files: about.files,
            label: about.label,
            counter: Counter::new(workspace.loaded.config.tokenizer),
            conventions,
            unused: unused.collect(),
            snapshot: workspace.snapshot(),
            imports: OnceLock::new(),
            summaries: Mutex::default(),
            shares_the_past: about.shares_the_past,
            skips_whole_files: about.skips_whole_files,
        })
    }

    /// What `agent` is told beside `shard`.
    pub(crate) fn assemble(&self, agent: Option<&str>, shard: &Shard, sops: &[Sop]) -> Assembled {
        let paths: BTreeSet<&str> = shard.units.iter().map(|unit| &*unit.path).collect();
        let mut left_out = self.unused.clone();
        let mut candidates = Vec::new();
        if self.shares_the_past {
            // A past that cannot be read is none.
            candidates.extend(self.decisions(&paths).unwrap_or_default());
        } else {
            left_out.push(ContextItem {
                kind: ContextKind::Decision,
                source: "earlier reviews".to_owned(),
                tokens: 0,
                reason: "under this protocol reviewers draft without a past".to_owned(),
                cut: None,
            });
        }
        self.summaries(&paths, &mut candidates, &mut left_out);
        candidates.extend(self.tests(&paths));
        candidates.extend(self.conventions(&paths));
        let request = ContextRequest {
            agent,
            files: paths.iter().map(|&path| path.to_owned()).collect(),
            sops: sops.iter().filter(|sop| shard.sops.contains(&sop.name)).collect(),
            candidates,
            left_out,
            limit: SOPS,
        };
        let mut assembled = assemble(request, |text| self.counter.count(text.as_bytes()));
        // It is kept, shown and sent; and orders, memories and signatures can hold secrets.
        assembled.text = quorum_rules::secrets::redact(&assembled.text);
        assembled
    }

    fn root(&self) -> Option<&Path> {
        self.workspace.repository.as_ref()?.work_tree()
    }

    /// What became of earlier findings in these files, and lessons whose words fit.
    fn decisions(&self, paths: &BTreeSet<&str>) -> Result<Vec<Candidate>, StoreError> {
        let Some(root) = self.root() else { return Ok(Vec::new()) };
        if !root.join(".quorum/memory.db").is_file() {
            return Ok(Vec::new());
        }
        let now = self.workspace.environment.clock.now();
        let ledger = Ledger::look(root, kept::present_seal(root, &self.workspace.environment)?)?;
        let mut dismissals: Dismissals = ledger.dismissals()?;
        dismissals.add(self.workspace.policy().dismissals().unwrap_or_default());
        let files: Vec<&str> = paths.iter().copied().collect();
        let entries = ledger.about(&files)?;
        let mut found: Vec<(u8, Candidate)> = entries
            .iter()
            .map(|entry| {
                let names = entry.fingerprints.iter().map(String::as_str);
                let (rank, ending) = match dismissals.of(names, now) {
                    Some(dismissal) => {
                        let (reason, author) = (&dismissal.reason, &dismissal.author);
                        (0, Ending::Dismissed { reason, author })
                    }
                    None if entry.resolved_run.is_some() => (1, Ending::Resolved),
                    None => (2, Ending::Open),
                };
                (rank, decision::finding(&entry.finding, ending))
            })
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.truncate(MOST_FINDINGS);
        let words = files.iter().flat_map(|path| path.split(['/', '.', '_', '-']));
        let words: Vec<&str> = words.chain([self.label]).collect();
        let lessons = Memories::look(root)?.search(&words.join(" "), MOST_LESSONS, now)?;
        let lessons = lessons.iter();
        let lessons =
            lessons.map(|memory| decision::lesson(&memory.id, &memory.title, &memory.content));
        Ok(found.into_iter().map(|(_, candidate)| candidate).chain(lessons).collect())
    }

    fn entry(&self, path: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| &*file.path == path)
    }

    /// The signatures of the files under review, and of those that they import.
    fn summaries(
        &self,
        paths: &BTreeSet<&str>,
        candidates: &mut Vec<Candidate>,
        left_out: &mut Vec<ContextItem>,
    ) {
        let mut imported: BTreeMap<String, &str> = BTreeMap::new();
        for path in paths {
            let Some(summary) = self.summary(path) else { continue };
            let entry = self.entry(path);
            let whole = entry
                .is_some_and(|entry| matches!(entry.change, Change::Added | Change::Unchanged));
            let told = summary.signatures(path, "under review");
            if whole && self.skips_whole_files {
                left_out.extend(told.map(|told| ContextItem {
                    kind: told.kind,
                    tokens: self.counter.count(told.text.as_bytes()),
                    source: told.source,
                    reason: "all of it is under review".to_owned(),
                    cut: None,
                }));
            } else {
                candidates.extend(told);
            }
            for target in self.imported_by(path, &summary) {
                if !paths.contains(target.as_str()) {
                    imported.entry(target).or_insert(path);
                }
            }
        }
        for (path, by) in imported.into_iter().take(MOST_IMPORTED) {
            let summary = self.summary(&path);
            let told = summary.and_then(|one| one.signatures(&path, &format!("imported by {by}")));
            candidates.extend(told);
        }
    }

    /// What the file at `path` declares, where it is text.
    fn summary(&self, path: &str) -> Option<Arc<Summary>> {
        let read = || {
            let text = self.snapshot.head(path)?;
            let language = self.entry(path).and_then(|entry| entry.language.as_deref());
            Some(Arc::new(Summary::of(Declaring { path, text: &text, language })))
        };
        let Ok(mut known) = self.summaries.lock() else { return read() };
        known.entry(path.to_owned()).or_insert_with(read).clone()
    }

    /// The files that the file at `path` imports.
    fn imported_by(&self, path: &str, summary: &Summary) -> Vec<String> {
        let language = self.entry(path).and_then(|entry| entry.language.as_deref());
        let tree = self.imports.get_or_init(|| ImportPaths::of(self.snapshot.paths().to_vec()));
        let imports = summary.imports.iter();
        let found = imports.flat_map(|import| tree.resolve(import, path, language));
        found.map(|index| tree.name(index).to_owned()).collect()
    }

    fn tests(&self, paths: &BTreeSet<&str>) -> Vec<Candidate> {
        let tested = |test: &String| {
            let path = paths.iter().find(|path| is_test_of(test, path))?;
            (!paths.contains(test.as_str())).then_some((test.clone(), *path))
        };
        let tests = self.snapshot.paths().iter().filter_map(tested).take(MOST_TESTS);
        tests
            .filter_map(|(test, path)| self.summary(&test)?.tests(&test, &format!("tests {path}")))
            .collect()
    }

    /// Those that are for any of the files, the nearest first.
    fn conventions(&self, paths: &BTreeSet<&str>) -> Vec<Candidate> {
        let mut reaching: Vec<(&Convention, String)> = self
            .conventions
            .iter()
            .filter_map(|one| Some((one, paths.iter().find_map(|path| one.reaches(path))?)))
            .collect();
        reaching.sort_by_key(|(one, _)| std::cmp::Reverse(one.depth()));
        let candidate = |(one, reason): (&Convention, String)| Candidate {
            kind: ContextKind::Convention,
            source: one.path.clone(),
            reason,
            text: one.text.clone(),
            cut: Cut::Sections,
        };
        reaching.into_iter().map(candidate).collect()
    }
}

/// What the reviewers of a run are told, kept in the run's folder: a run that goes on tells them the
/// same, though the past may have grown since.
pub(crate) struct Briefings<'a> {
    around: Surroundings<'a>,
    sops: &'a [Sop],
    run: Option<&'a Run>,
    told: Mutex<Vec<Told>>,
}

/// The folder of a run that says what reviewers were told, one file for each time.
const FOLDER: &str = "context";

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Told {
    /// The part of the change that it goes with, from its first line to its last.
    part: String,
    manifest: ContextManifest,
    text: String,
}

impl<'a> Briefings<'a> {
    pub(crate) fn new(
        workspace: &'a Workspace,
        plan: &'a Plan,
        sops: &'a [Sop],
        recorder: Option<&'a Recorder>,
    ) -> Result<Self, EngineError> {
        let around = Surroundings::open(workspace, About::plan(plan))?;
        let folder = recorder.and_then(Recorder::directory);
        let told = folder.map(|folder| kept(&folder.join(FOLDER))).unwrap_or_default();
        let run = recorder.and_then(Recorder::run);
        Ok(Self { around, sops, run, told: Mutex::new(told) })
    }
}

impl Briefing for Briefings<'_> {
    fn around(&self, agent: &str, shard: &Shard) -> String {
        let part = part_of(shard);
        let Ok(mut told) = self.told.lock() else { return String::new() };
        let is_it = |one: &&Told| one.part == part && one.manifest.agent.as_deref() == Some(agent);
        if let Some(known) = told.iter().find(is_it) {
            return known.text.clone();
        }
        let Assembled { manifest, text } = self.around.assemble(Some(agent), shard, self.sops);
        let one = Told { part, manifest, text: text.clone() };
        if let Some(run) = self.run
            && let Ok(bytes) = serde_json::to_vec_pretty(&one)
        {
            let name = format!("{FOLDER}/{:03}-{agent}.json", told.len() + 1);
            // What cannot be kept is told all the same: the request itself is in the journal.
            drop(run.write(&name, &bytes));
        }
        told.push(one);
        text
    }
}

/// What was kept in `folder`, in the order in which it was told.
fn kept(folder: &Path) -> Vec<Told> {
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.sort_unstable();
    let texts = files.iter().filter_map(|file| std::fs::read(file).ok());
    texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect()
}

fn part_of(shard: &Shard) -> String {
    let ends = shard.units.first().zip(shard.units.last());
    ends.map_or_else(String::new, |(first, last)| {
        format!("{}:{} to {}:{}", first.path, first.start_line, last.path, last.end_line)
    })
}
