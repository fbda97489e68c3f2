//! Who started a run, and where; and who set a finding aside.
//!
//! A run's files say what goes on when it is resumed: what is sent to whom, what is paid for, which
//! programs run. A ledger says which findings count no more. A folder that somebody else made can bring
//! both along. So whoever starts a run, or sets a finding aside, marks it with a key of their own, and
//! what lacks the mark counts for nothing.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::error::StoreError;
use crate::layout::Layout;
use crate::run::{RunId, RunSummary};
use crate::{private, whole};

/// The bytes of a key.
const LENGTH: usize = 32;

/// The files that say what a run may do, beside its plan: what was asked for, a diff that came from
/// elsewhere, and what decides.
const FILES: [&str; 3] = ["request.json", "request.diff", "policy.json"];

/// What one user marks runs with in one folder, and dismissals with anywhere: those are of exactly one
/// finding, and a clone that is moved takes them along.
#[derive(Clone)]
pub struct Seal {
    key: [u8; LENGTH],
    folder: Vec<u8>,
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

/// A run that the user started here. Only [`Seal::own`] makes one.
#[derive(Clone, Debug)]
pub struct OwnRun(RunSummary);

impl OwnRun {
    /// The run.
    pub fn summary(&self) -> &RunSummary {
        &self.0
    }
}

impl Seal {
    /// The seal for runs below `root`, with the key in `file`, which is made where it is missing.
    pub fn make(file: &Path, root: &Path) -> Result<Self, StoreError> {
        if let Some(seal) = Self::find(file, root)? {
            return Ok(seal);
        }
        let folder = file.parent().unwrap_or(Path::new("."));
        private::folder(folder).map_err(StoreError::io("making", folder))?;
        let put = || -> io::Result<()> {
            let mut aside = tempfile::NamedTempFile::new_in(folder)?;
            aside.write_all(&fresh())?;
            aside.as_file().sync_all()?;
            match aside.persist_noclobber(file) {
                // Another process was faster: its key is the user's, too.
                Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                other => other.map(drop).map_err(|failed| failed.error),
            }
        };
        put().map_err(StoreError::io("writing", file))?;
        Self::find(file, root)?.ok_or_else(|| StoreError::Key(file.to_owned()))
    }

    /// The seal for runs below `root`; absent where the user has no key, and so started no run.
    pub fn find(file: &Path, root: &Path) -> Result<Option<Self>, StoreError> {
        let Some(bytes) = read(file)? else { return Ok(None) };
        let unfit = || StoreError::Key(file.to_owned());
        let key = <[u8; LENGTH]>::try_from(bytes.as_slice()).map_err(|_| unfit())?;
        if private::is_open(file).map_err(StoreError::io("reading", file))? {
            return Err(unfit());
        }
        let folder = root.canonicalize().map_err(StoreError::io("finding", root))?;
        Ok(Some(Self { key, folder: folder.as_os_str().as_encoded_bytes().to_vec() }))
    }

    /// `run`, where it has this seal; an error for any other.
    pub fn own(&self, run: RunSummary) -> Result<OwnRun, StoreError> {
        let layout = Layout::new(run.directory().to_owned());
        let path = layout.seal();
        let foreign = || StoreError::Foreign(run.id().to_owned());
        let kept = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(foreign()),
            other => other.map_err(StoreError::io("reading", &path))?,
        };
        let plan = read(&layout.plan())?;
        let mark = self.mark(run.id(), &layout, plan.as_deref())?;
        // Written while the plan is replaced, it has a line for the plan before and one for the next.
        let fits = kept.lines().any(|line| blake3::Hash::from_hex(line).is_ok_and(|it| it == mark));
        if fits { Ok(OwnRun(run)) } else { Err(foreign()) }
    }

    /// Marks a run whose plan is `plan`, and may still be the one on disk.
    pub(crate) fn put(&self, id: &RunId, layout: &Layout, plan: &[u8]) -> Result<(), StoreError> {
        let next = self.mark(id.as_str(), layout, Some(plan))?;
        let mut text = format!("{}\n", next.to_hex());
        if let Some(present) = read(&layout.plan())? {
            let present = self.mark(id.as_str(), layout, Some(&present))?;
            text.extend([present.to_hex().as_str(), "\n"]);
        }
        whole::write(&layout.seal(), text.as_bytes())
    }

    fn mark(
        &self,
        id: &str,
        layout: &Layout,
        plan: Option<&[u8]>,
    ) -> Result<blake3::Hash, StoreError> {
        let mut files = Vec::new();
        for name in FILES {
            files.push(read(&layout.root().join(name))?);
        }
        let about = [Some(id.as_bytes()), Some(&self.folder), plan];
        let files = files.iter().map(Option::as_deref);
        Ok(self.digest(b"quorum run 1", about.into_iter().chain(files)))
    }

    /// The mark of a dismissal, from its form in the ledger.
    pub(crate) fn dismissal(&self, text: &str) -> String {
        self.digest(b"quorum dismissal 1", [Some(text.as_bytes())]).to_hex().to_string()
    }

    /// Whether a dismissal has this user's mark.
    pub(crate) fn is_own_dismissal(&self, text: &str, mark: &str) -> bool {
        let own = self.digest(b"quorum dismissal 1", [Some(text.as_bytes())]);
        blake3::Hash::from_hex(mark).is_ok_and(|mark| mark == own)
    }

    fn digest<'a>(
        &self,
        kind: &'static [u8],
        parts: impl IntoIterator<Item = Option<&'a [u8]>>,
    ) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in std::iter::once(Some(kind)).chain(parts) {
            // With its length before it, no part can be taken for the end of another.
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            hasher.update(&length.to_le_bytes());
            hasher.update(part.unwrap_or_default());
        }
        hasher.finalize()
    }
}

/// A key that nobody can guess: 74 random bits at least in the first of these, 32 in each other one.
fn fresh() -> [u8; LENGTH] {
    let random: Vec<u8> = (0..4).flat_map(|_| uuid::Uuid::now_v7().into_bytes()).collect();
    blake3::derive_key("quorum 2026 seal of runs", &random)
}

/// What is in a file; absent where there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("reading", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::run::Run;
    use crate::testing::plan;

    const FILES: &[(&str, &[u8])] = &[("request.json", b"{\"arguments\": []}")];

    fn sealed(root: &Path, key: &Path) -> (Seal, RunSummary) {
        let seal = Seal::make(&key.join("state/key"), root).expect("a seal");
        let clock = Clock::new(jiff::Timestamp::now);
        let run = Run::create_with(root, &plan(), clock, FILES, Some(seal.clone())).expect("a run");
        let id = run.id().to_owned();
        drop(run);
        (seal, Run::find(root, &id).expect("it is there"))
    }

    fn refused(seal: &Seal, run: &RunSummary) -> bool {
        matches!(seal.own(run.clone()), Err(StoreError::Foreign(_)))
    }

    #[test]
    fn a_run_is_its_owners_in_its_folder_and_with_what_it_was_asked_for() {
        let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (seal, run) = sealed(root.path(), home.path());
        assert!(seal.own(run.clone()).is_ok());
        let again = Seal::make(&home.path().join("state/key"), root.path()).unwrap();
        assert!(again.own(run.clone()).is_ok(), "the key is kept");
        let stranger = tempfile::tempdir().unwrap();
        let other = Seal::make(&stranger.path().join("key"), root.path()).unwrap();
        assert!(refused(&other, &run), "another user's");
        let elsewhere = Seal::make(&home.path().join("state/key"), stranger.path()).unwrap();
        assert!(refused(&elsewhere, &run), "another folder's");
        for name in ["request.json", "plan.json", "policy.json", "request.diff"] {
            let path = run.directory().join(name);
            let before = fs::read(&path).ok();
            fs::write(&path, "{}").unwrap();
            assert!(refused(&seal, &run), "{name} is another one");
            match before {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            assert!(seal.own(run.clone()).is_ok(), "{name} is as it was");
        }
        fs::remove_file(run.directory().join("seal")).unwrap();
        assert!(refused(&seal, &run), "without a seal");
    }

    #[test]
    fn a_plan_that_is_replaced_keeps_its_seal_at_every_moment() {
        let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (seal, found) = sealed(root.path(), home.path());
        let before = fs::read(found.directory().join("plan.json")).unwrap();
        let clock = Clock::new(jiff::Timestamp::now);
        let run = Run::resume(root.path(), found.id(), clock, Some(seal.clone())).unwrap();
        let mut next = plan();
        next.warnings.push("another one".to_owned());
        run.replan(&next).unwrap();
        assert!(seal.own(found.clone()).is_ok());
        // As if it was killed before the plan was written.
        fs::write(found.directory().join("plan.json"), before).unwrap();
        assert!(seal.own(found).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_none() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let key = home.path().join("key");
        assert!(Seal::find(&key, home.path()).unwrap().is_none());
        Seal::make(&key, home.path()).unwrap();
        let set = |mode| fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        set(0o644);
        assert!(matches!(Seal::find(&key, home.path()), Err(StoreError::Key(_))));
        set(0o600);
        assert!(Seal::find(&key, home.path()).unwrap().is_some());
        fs::write(&key, "short").unwrap();
        assert!(matches!(Seal::make(&key, home.path()), Err(StoreError::Key(_))));
    }
}
