//! Reading the files of a target: what they are, what they cost, and the units they fall into.
//!
//! Git's answer comes in one file at a time; reading, classifying, counting and cutting is spread
//! over the cores; and only what the plan needs is kept of a file, never its text.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use bstr::{BStr, BString, ByteSlice};
use quorum_index::cut::{Numbering, Piece, cut};
use quorum_index::{Counter, TokenCache};
use quorum_model::scope::{Change, FileEntry, FileFacts, Flag, IgnoredFile, Scope};
use quorum_model::unit::{Unit, UnitKind};
use quorum_plan::sizing::NAME_ONLY;
use quorum_scope::attributes;
use quorum_scope::classify::{Classified, Classifier};
use quorum_scope::content::{Content, Contents, show_as_new};
use quorum_scope::error::ScopeError;
use quorum_scope::files::{self, ContentSource, Files, RawFile};
use quorum_scope::ignored::IgnoreRules;
use quorum_scope::signals;
use quorum_store::Folder;
use rayon::iter::{ParallelBridge as _, ParallelIterator as _};

use crate::error::EngineError;
use crate::observer::{Observer, Progress, Stage};
use crate::workspace::Workspace;

/// What was read: one entry of each list for every file.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) scope: Scope,
    pub(crate) facts: Vec<FileFacts>,
    pub(crate) units: Vec<Vec<Unit>>,
    /// The files themselves, with their patches, where they are reviewed and not only planned.
    pub(crate) raw: Vec<RawFile>,
    /// What could not be read and is planned by name alone, each with its cause.
    pub(crate) unreadable: Vec<String>,
}

/// What happens to the files after they are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Plan,
    /// Their text is read again; still nothing is written.
    Prompts,
    Review,
}

/// Reads what is under review: its files, and what each of them is.
pub fn read_scope(workspace: &Workspace, observer: &dyn Observer) -> Result<Scope, EngineError> {
    Ok(gather(workspace, u64::MAX, Purpose::Plan, observer)?.scope)
}

/// Reads every file of the workspace's target.
pub(crate) fn gather(
    workspace: &Workspace,
    unit_limit: u64,
    purpose: Purpose,
    observer: &dyn Observer,
) -> Result<Gathered, EngineError> {
    let repository = workspace.repository.as_ref();
    let target = &workspace.target;
    let config = &workspace.loaded.config;
    // Loading a vocabulary takes as long as git takes to answer.
    let counter = Counter::new(config.tokenizer);
    rayon::spawn(move || {
        counter.count(b"");
    });
    let files = match repository {
        Some(repository) => files::open(repository, target)?,
        None => files::open_bare(target)?,
    };
    let attributes = match repository {
        Some(repository) => attributes::of_paths(repository, &target.exclusions(), &files.paths)?,
        None => HashMap::new(),
    };
    let rewritten = match repository {
        Some(repository) => attributes::rewritten(repository, target, &files.paths)?,
        None => HashMap::new(),
    };
    let cache = open_cache(workspace, config.tokenizer, purpose);
    let reader = Reader {
        classifier: Classifier::new(attributes, &workspace.exclusions)?,
        contents: Contents::new(repository),
        counter,
        cache,
        unit_limit,
        purpose,
        unreadable: Mutex::default(),
        withheld: workspace.withheld.clone(),
        rewritten,
    };
    let rules = workspace.exclusion_policy().ignore_rules()?;
    let rules = IgnoreRules::new(&rules, &workspace.exclusions.ignore)?;
    let total = files.paths.len() as u64;
    observer.observe(Progress::StageStarted { stage: Stage::Reading, total });
    let (mut read, mut ignored) = read_all(files, &reader, &rules, observer)?;
    observer.observe(Progress::StageEnded { stage: Stage::Reading });
    let mut unreadable = reader.unreadable.into_inner().unwrap_or_default();
    unreadable.sort();
    reader.cache.save();
    read.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
    ignored.sort_by(|a, b| a.path.cmp(&b.path));
    let mut gathered = Gathered {
        scope: Scope {
            kind: target.kind,
            label: target.label.clone(),
            base: target.base.clone(),
            head: target.head.clone(),
            files: Vec::with_capacity(read.len()),
            ignored,
        },
        facts: Vec::with_capacity(read.len()),
        units: Vec::with_capacity(read.len()),
        raw: Vec::new(),
        unreadable,
    };
    for file in read {
        gathered.scope.files.push(file.entry);
        gathered.facts.push(file.facts);
        gathered.units.push(file.units);
        gathered.raw.extend(file.raw);
    }
    Ok(gathered)
}

/// Counts are kept in `.quorum/index`; without a place for it they are counted again. A plan writes
/// nothing into the repository.
fn open_cache(
    workspace: &Workspace,
    tokenizer: quorum_model::config::Tokenizer,
    purpose: Purpose,
) -> TokenCache {
    let root = workspace.repository.as_ref().and_then(|repository| repository.work_tree());
    if purpose != Purpose::Review {
        let folder = root.and_then(|root| Folder::at(root).ok()?.entry("index").ok());
        return folder
            .map_or_else(TokenCache::disabled, |folder| TokenCache::read_only(&folder, tokenizer));
    }
    let folder = root.and_then(|root| Folder::prepare(root).ok()?.make("index").ok());
    folder.map_or_else(TokenCache::disabled, |folder| TokenCache::open(&folder, tokenizer))
}

/// What is kept of one file.
struct Read {
    entry: FileEntry,
    facts: FileFacts,
    units: Vec<Unit>,
    raw: Option<RawFile>,
}

fn read_all(
    files: Files,
    reader: &Reader,
    rules: &IgnoreRules,
    observer: &dyn Observer,
) -> Result<(Vec<Read>, Vec<IgnoredFile>), ScopeError> {
    let ignored = Mutex::new(Vec::new());
    // Files that the user named one by one are reviewed whatever the ignore rules say.
    let named = files.named.clone();
    let wanted = files.filter(|file| {
        let Ok(file) = file else { return true };
        let by_name = named.iter().any(|name| file.path == name.as_bytes());
        match rules.reason(file.path.as_bstr()).filter(|_| !by_name) {
            Some(reason) => {
                let path = shown(file.path.as_bstr());
                if let Ok(mut ignored) = ignored.lock() {
                    ignored.push(IgnoredFile { path, reason });
                }
                false
            }
            None => true,
        }
    });
    let read = wanted
        .par_bridge()
        .map(|file| {
            let read = reader.read(file?);
            observer.observe(Progress::FileDone { stage: Stage::Reading });
            read
        })
        .collect::<Result<Vec<Read>, ScopeError>>()?;
    Ok((read, ignored.into_inner().unwrap_or_default()))
}

/// What reading one file takes; shared by all threads.
struct Reader {
    classifier: Classifier,
    contents: Contents,
    counter: Counter,
    cache: TokenCache,
    unit_limit: u64,
    purpose: Purpose,
    unreadable: Mutex<Vec<String>>,
    /// What a code host did not send, or not all of.
    withheld: BTreeSet<String>,
    /// What the change has git write to disk in another encoding.
    rewritten: HashMap<BString, String>,
}

impl Reader {
    fn read(&self, mut file: RawFile) -> Result<Read, ScopeError> {
        let content = self.contents.open(&mut file)?;
        if let Content::Unreadable(cause) = &content
            && let Ok(mut unreadable) = self.unreadable.lock()
        {
            unreadable.push(format!("{}: {cause}", shown(file.path.as_bstr())));
        }
        let before = self.before(&file, &content)?;
        let mut classified = self.classifier.classify(&file, &content, before.as_deref());
        if self.classifier.becomes_another(&file, &content, &classified) {
            if content == Content::DiffOnly {
                let reason =
                    "another name makes another file of it, and the diff has not all of it";
                classified.flags.insert(Flag::Unreadable, reason.to_owned());
            }
            show_as_new(&mut file, &content);
        }
        if self.withheld.contains(&*shown(file.path.as_bstr())) {
            let reason = "the host did not send all of it".to_owned();
            classified.flags.insert(Flag::Unreadable, reason);
        }
        if let Some(encoding) = self.rewritten.get(&file.path) {
            let reason = format!(
                "the change's .gitattributes has git write it in {encoding}, so programs read other text"
            );
            classified.flags.insert(Flag::Unreadable, reason);
        }
        let facts = signals::read(&file, &content, &mut classified);
        let path: Arc<str> = shown(file.path.as_bstr());
        let tokens = self.tokens(&file, &content, &classified);
        let units = self.units(&path, &file, &content, &classified, tokens);
        let entry = FileEntry {
            path,
            old_path: file.old_path.as_ref().map(|old| shown(old.as_bstr())),
            change: file.change,
            language: classified.language,
            kind: classified.kind,
            tokens,
            flags: classified.flags.keys().copied().collect(),
            flag_reasons: classified.flags,
            hunks: file.hunks.iter().map(|(hunk, _)| *hunk).collect(),
            digest: Some(digest(&file, &content)),
        };
        let raw = (self.purpose != Purpose::Plan).then_some(file);
        Ok(Read { entry, facts, units, raw })
    }

    /// What the repository had in the place of `file` before the change, where that decides what
    /// the file is.
    fn before(&self, file: &RawFile, content: &Content) -> Result<Option<Vec<u8>>, ScopeError> {
        let Content::Whole(text) = content else { return Ok(None) };
        match (file.change, &file.content) {
            // Whole files that are committed say themselves what they are.
            (Change::Unchanged, ContentSource::Blob(_) | ContentSource::CleanWorkTree(_)) => {
                Ok(Some(text.clone()))
            }
            _ => self.contents.before(file),
        }
    }

    /// What the file counts for: all of it at the reviewed revision, or its name.
    fn tokens(&self, file: &RawFile, content: &Content, classified: &Classified) -> u64 {
        if file.change == Change::Deleted {
            return 0;
        }
        if classified.is_name_only() || classified.has(Flag::Submodule) {
            return NAME_ONLY;
        }
        match content {
            Content::Whole(text) => match &file.content {
                // The same bytes are another text under a name of another kind.
                _ if file.decoded.is_some() => self.counter.count(text),
                ContentSource::Blob(id) => self.cache.count(id, || self.counter.count(text)),
                // On disk a blob may have other line ends, or another content behind a filter.
                ContentSource::CleanWorkTree(id) => {
                    self.cache.count(&format!("disk:{id}"), || self.counter.count(text))
                }
                _ => self.counter.count(text),
            },
            Content::DiffOnly => self.counter.count(&file.patch),
            Content::Absent | Content::Media(_) | Content::Unreadable(_) => NAME_ONLY,
        }
    }

    fn units(
        &self,
        path: &Arc<str>,
        file: &RawFile,
        content: &Content,
        classified: &Classified,
        tokens: u64,
    ) -> Vec<Unit> {
        let limit = self.unit_limit;
        let mut units = Vec::new();
        if !classified.is_name_only() {
            for (hunk, body) in &file.hunks {
                let text = file.patch.get(body.clone()).unwrap_or_default();
                let (first_line, numbering) = match file.change {
                    Change::Deleted => (hunk.old_start, Numbering::OldHunk),
                    _ => (hunk.new_start, Numbering::Hunk),
                };
                let pieces = cut(&self.counter, text, first_line, numbering, limit, None);
                units.extend(pieces.into_iter().map(|piece| unit(path, UnitKind::Hunk, &piece)));
            }
            let whole = matches!(file.change, Change::Unchanged | Change::Unmerged);
            if let Content::Whole(text) = content
                && whole
            {
                let pieces = cut(&self.counter, text, 1, Numbering::File, limit, Some(tokens));
                units.extend(pieces.into_iter().map(|piece| unit(path, UnitKind::Span, &piece)));
            }
        }
        if units.is_empty() {
            units.push(Unit {
                path: path.clone(),
                kind: UnitKind::Name,
                start_line: 0,
                end_line: 0,
                bytes: None,
                tokens: NAME_ONLY.min(limit),
            });
        }
        units
    }
}

/// What tells a file, its modes and its patch from any other: a token count does not.
pub(crate) fn digest(file: &RawFile, content: &Content) -> String {
    let mut hasher = blake3::Hasher::new();
    let text: &[u8] = match content {
        Content::Whole(text) => text,
        Content::Media(kind) => kind.as_bytes(),
        Content::DiffOnly => b"diff",
        Content::Absent => b"absent",
        Content::Unreadable(_) => b"unreadable",
    };
    // The length keeps the end of one from being taken for the beginning of the other.
    hasher.update(&text.len().to_le_bytes());
    hasher.update(text);
    hasher.update(&file.old_mode.to_le_bytes());
    hasher.update(&file.new_mode.to_le_bytes());
    hasher.update(&file.patch);
    hasher.finalize().to_hex().to_string()
}

fn unit(path: &Arc<str>, kind: UnitKind, piece: &Piece) -> Unit {
    Unit {
        path: path.clone(),
        kind,
        start_line: piece.start_line,
        end_line: piece.end_line,
        bytes: piece.bytes,
        tokens: piece.tokens,
    }
}

/// A path for documents and people: bytes that are not UTF-8 read `\xNN`.
fn shown(path: &BStr) -> Arc<str> {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            _ = write!(text, "\\x{byte:02x}");
        }
    }
    text.into()
}
