//! Bringing the index up to date with a tree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice as _};
use quorum_model::SCHEMA_VERSION;
use quorum_model::symbol::{IndexReport, SkippedFile};
use quorum_syntax::Limits;
use quorum_syntax::outline::Reader;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use crate::analyze::{Analyzed, analyze};
use crate::catalog::{Catalog, shown};
use crate::counter::Counter;
use crate::error::IndexError;
use crate::source::{self, LARGEST_FILE, Read, Stamp, Tree};
use crate::store::{Blob, FileRow, Key, NewBlob, Store};

/// What is read is written when it takes about this much memory.
const BATCH_BYTES: usize = 48 * 1024 * 1024;

/// How an update is made.
pub struct Update<'a> {
    /// Where the index is.
    pub folder: &'a Path,
    /// The files.
    pub tree: &'a dyn Tree,
    /// How tokens are counted.
    pub counter: Counter,
    /// The files to look at; all of them where it is not set.
    pub only: Option<&'a (dyn Fn(&BStr) -> bool + Sync)>,
    /// The present time: what changed just before it may change again without a trace.
    pub now: SystemTime,
    /// Is told what happens.
    pub watch: &'a (dyn Fn(Step) + Sync),
}

impl std::fmt::Debug for Update<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Update").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// What happens during an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another process is at it; this one waits.
    Waiting,
    /// So many files will be looked at.
    Files(usize),
    /// One of them was.
    File,
    /// So many contents will be embedded.
    Embedding(usize),
    /// One of them was.
    Embedded,
}

/// A file that was looked at.
enum Seen {
    Unchanged,
    Gone,
    Changed { row: FileRow, key: Option<Key>, parsed: bool },
}

/// Brings the index up to date and says what was done.
pub fn update(update: &Update<'_>) -> Result<IndexReport, IndexError> {
    let _lock = lock(update.folder, update.watch)?;
    let mut store = Store::open_or_create(update.folder)?;
    let files = update.tree.files()?;
    let policy = blake3::hash(&update.tree.policy()).as_bytes().to_vec();
    let known = store.files()?;
    let same_policy = store.state("policy")?.as_deref() == Some(&policy[..]);
    let wanted = |path: &BStr| update.only.is_none_or(|only| only(path));
    let listed: Vec<BString> =
        files.iter().filter(|path| wanted(path.as_bstr())).cloned().collect();
    (update.watch)(Step::Files(listed.len()));
    let look = Look {
        update,
        known: &known,
        trust_stamps: same_policy,
        now: source::nanoseconds(update.now),
        claimed: Mutex::new(store.blobs()?.into_keys().collect()),
    };
    let (seen, contents) = read_all(&mut store, &look, listed)?;
    let mut changed: Vec<(BString, Option<FileRow>)> = Vec::new();
    let mut counts = Counts::default();
    let present: HashSet<&BString> = files.iter().collect();
    for path in known.keys() {
        if wanted(path.as_bstr()) && !present.contains(path) {
            changed.push((path.clone(), None));
            counts.removed += 1;
        }
    }
    for (path, seen) in seen {
        match seen {
            Seen::Unchanged => counts.unchanged += 1,
            Seen::Gone => {
                if known.contains_key(&path) {
                    counts.removed += 1;
                    changed.push((path, None));
                }
            }
            Seen::Changed { mut row, key, parsed } => {
                row.blob = key.and_then(|key| contents.get(&key)).map(|blob| blob.id);
                let before = known.get(&path);
                let same = before.is_some_and(|before| before.blob == row.blob);
                match (parsed, same, row.blob) {
                    (true, ..) => counts.parsed += 1,
                    (false, true, _) => counts.unchanged += 1,
                    (false, false, Some(_)) => counts.reused += 1,
                    (false, false, None) => counts.by_name += 1,
                }
                if before != Some(&row) {
                    changed.push((path, Some(row)));
                }
            }
        }
    }
    let mut catalog = Catalog {
        branch: update.tree.branch(),
        revision: update.tree.revision(),
        ..Catalog::default()
    };
    let whole = update.only.is_none();
    let folders = whole.then(|| folders(update.tree.root(), &files, look.now));
    let policy = (whole || same_policy).then_some(&policy[..]);
    store.finish(&changed, folders.as_deref(), policy, &mut catalog)?;
    store.tidy(&mut catalog)?;
    report(&store, &catalog, &counts)
}

#[derive(Default)]
struct Counts {
    parsed: u64,
    reused: u64,
    unchanged: u64,
    removed: u64,
    by_name: u64,
}

/// One process at a time writes. The system lets go of the lock when a process ends, however it ends.
pub(crate) fn lock(folder: &Path, watch: &(dyn Fn(Step) + Sync)) -> Result<File, IndexError> {
    let path = folder.join("lock");
    let failed = |cause: std::io::Error| IndexError::Folder { path: path.clone(), cause };
    fs::create_dir_all(folder).map_err(failed)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            watch(Step::Waiting);
            file.lock().map_err(failed)?;
        }
        Err(TryLockError::Error(cause)) => return Err(failed(cause)),
    }
    Ok(file)
}

/// What looking at one file takes; shared by all threads.
struct Look<'a> {
    update: &'a Update<'a>,
    known: &'a HashMap<BString, FileRow>,
    trust_stamps: bool,
    now: i64,
    /// Contents that are stored, or that a thread is reading.
    claimed: Mutex<HashSet<Key>>,
}

type Contents = HashMap<Key, Blob>;

/// Looks at every file; contents that are new are stored as they come.
fn read_all(
    store: &mut Store,
    look: &Look<'_>,
    listed: Vec<BString>,
) -> Result<(Vec<(BString, Seen)>, Contents), IndexError> {
    let (sender, receiver) = sync_channel::<NewBlob>(64);
    let mut stored = Ok(());
    let seen = std::thread::scope(|scope| {
        let readers = scope.spawn(move || {
            let seen = listed.into_par_iter().map(|path| {
                let (seen, new) = look.file(path.as_bstr());
                if let Some(new) = new {
                    // The writer goes away only when it failed, which it says itself.
                    drop(sender.send(new));
                }
                (look.update.watch)(Step::File);
                (path, seen)
            });
            seen.collect::<Vec<_>>()
        });
        stored = store_all(store, &receiver);
        drop(receiver);
        readers.join().unwrap_or_default()
    });
    stored?;
    Ok((seen, store.blobs()?))
}

fn store_all(
    store: &mut Store,
    receiver: &std::sync::mpsc::Receiver<NewBlob>,
) -> Result<(), IndexError> {
    let mut batch = Vec::new();
    let mut size = 0;
    for new in receiver {
        size +=
            new.terms.iter().map(|(term, docs)| term.len() + 48 + docs.len() * 8).sum::<usize>();
        size += new.record.references.len() * 64 + new.record.symbols.len() * 256;
        batch.push(new);
        if size > BATCH_BYTES {
            store.add(std::mem::take(&mut batch))?;
            size = 0;
        }
    }
    if !batch.is_empty() {
        store.add(batch)?;
    }
    Ok(())
}

impl Look<'_> {
    fn file(&self, path: &BStr) -> (Seen, Option<NewBlob>) {
        let on_disk = self.update.tree.root().join(to_path(path));
        let before = self.known.get(path).and_then(|row| row.stamp);
        if self.trust_stamps
            && let Some(before) = before
            && on_disk.symlink_metadata().is_ok_and(|found| Stamp::of(&found) == before)
        {
            return (Seen::Unchanged, None);
        }
        let settled = |stamp: Option<Stamp>| stamp.filter(|stamp| stamp.is_settled(self.now));
        match source::read(&on_disk, LARGEST_FILE) {
            Read::Gone => (Seen::Gone, None),
            Read::NameOnly(reason, stamp) => {
                let (class, _) = self.update.tree.classify(path, Vec::new());
                let row = FileRow {
                    language: class.language,
                    vendored: class.vendored,
                    aside: class.aside,
                    reason: Some(reason),
                    stamp: settled(stamp),
                    blob: None,
                };
                (Seen::Changed { row, key: None, parsed: false }, None)
            }
            Read::Whole(content, stamp) => self.content(path, content, settled(stamp)),
        }
    }

    fn content(
        &self,
        path: &BStr,
        content: Vec<u8>,
        stamp: Option<Stamp>,
    ) -> (Seen, Option<NewBlob>) {
        let (class, content) = self.update.tree.classify(path, content);
        let mut row = FileRow {
            blob: None,
            language: class.language,
            vendored: class.vendored,
            aside: class.aside,
            reason: class.name_only,
            stamp,
        };
        if row.reason.is_some() || content.is_empty() {
            return (Seen::Changed { row, key: None, parsed: false }, None);
        }
        let reader = Reader::of(row.language.as_deref(), &path.to_str_lossy());
        let key = content_key(&content, reader);
        let new = self.claimed.lock().is_ok_and(|mut claimed| claimed.insert(key));
        if !new {
            return (Seen::Changed { row, key: Some(key), parsed: false }, None);
        }
        let content = self.update.tree.mask(path, &content);
        let analyzed = analyze(&content, reader, Limits::default(), self.update.counter);
        let Analyzed { record, lengths, terms } = analyzed;
        row.reason = None;
        let new = NewBlob { key, record, lengths, terms };
        (Seen::Changed { row, key: Some(key), parsed: true }, Some(new))
    }
}

/// What a content is known by: its bytes, and how they are read.
pub(crate) fn content_key(content: &[u8], reader: Reader) -> Key {
    let mut hasher = blake3::Hasher::new();
    let reader = match reader {
        Reader::Tree(lang) => lang.name(),
        Reader::Markdown => "markdown",
        Reader::Toml => "toml",
        Reader::Dockerfile => "dockerfile",
        Reader::Sql => "sql",
        Reader::Text => "text",
    };
    hasher.update(reader.as_bytes());
    hasher.update(&[0]);
    hasher.update(content);
    *hasher.finalize().as_bytes()
}

/// The folders that hold files, with the times at which their lists of files changed.
fn folders(root: &Path, files: &[BString], now: i64) -> Vec<(BString, i64, i64)> {
    let mut names: HashSet<&[u8]> = HashSet::new();
    names.insert(b"");
    for file in files {
        let mut path: &[u8] = file;
        while let Some(at) = path.rfind_byte(b'/') {
            path = &path[..at];
            if !names.insert(path) {
                break;
            }
        }
    }
    let found = names.into_iter().filter_map(|name| {
        let found = root.join(to_path(name.as_bstr())).symlink_metadata().ok()?;
        let stamp = Stamp::of(&found);
        // A folder that just changed may change again without a trace: it never counts as known.
        let settled = stamp.is_settled(now);
        let times = if settled { (stamp.modified, stamp.changed) } else { (0, 0) };
        Some((BString::from(name), times.0, times.1))
    });
    found.collect()
}

/// Whether nothing changed since the last update, by a look at the times of files and folders.
///
/// It misses what git alone would notice: an ignored file that was added by force.
pub fn is_current(folder: &Path, root: &Path) -> Result<bool, IndexError> {
    let Some(store) = Store::open(folder)? else { return Ok(false) };
    if store.state("catalog")?.is_none() {
        return Ok(false);
    }
    let folders = store.folders()?;
    let same = folders.into_par_iter().all(|(path, modified, changed)| {
        let found = root.join(to_path(path.as_bstr())).symlink_metadata();
        found.is_ok_and(|found| {
            let stamp = Stamp::of(&found);
            (stamp.modified, stamp.changed) == (modified, changed)
        })
    });
    if !same {
        return Ok(false);
    }
    let files = store.files()?;
    Ok(files.into_par_iter().all(|(path, row)| {
        let found = root.join(to_path(path.as_bstr())).symlink_metadata();
        row.stamp.is_some_and(|stamp| found.is_ok_and(|found| Stamp::of(&found) == stamp))
    }))
}

pub(crate) fn to_path(path: &BStr) -> std::path::PathBuf {
    path.to_path().map_or_else(|_| path.to_str_lossy().into_owned().into(), Path::to_owned)
}

fn report(store: &Store, catalog: &Catalog, counts: &Counts) -> Result<IndexReport, IndexError> {
    let mut report = IndexReport {
        schema_version: SCHEMA_VERSION,
        branch: catalog.branch.clone(),
        revision: catalog.revision.clone(),
        files: catalog.files.len() as u64,
        parsed: counts.parsed,
        reused: counts.reused,
        unchanged: counts.unchanged,
        removed: counts.removed,
        by_name: counts.by_name,
        chunks: catalog.chunks,
        symbols: 0,
        lines: 0,
        tokens: 0,
        embedded: 0,
        languages: BTreeMap::new(),
        skipped: Vec::new(),
        warnings: Vec::new(),
    };
    for file in &catalog.files {
        if let Some(language) = catalog.language(file) {
            *report.languages.entry(language.to_owned()).or_default() += 1;
        }
    }
    for (path, row) in store.files()? {
        if let Some(reason) = row.reason {
            report.skipped.push(SkippedFile { path: shown(&path), reason });
        }
    }
    store.totals(&mut report)?;
    report.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(report)
}
