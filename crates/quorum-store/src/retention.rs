//! Which runs are kept.

use std::fs;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::error::StoreError;
use crate::run::{Run, RunSummary};

/// Which runs are kept: those that either rule keeps are not touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// The newest ones, this many.
    pub keep: Option<usize>,
    /// All that are younger than this.
    pub older_than: Option<SignedDuration>,
}

impl Retention {
    /// The runs to remove, of `started`, oldest first. Without any rule, none.
    pub fn expired(&self, started: &[Timestamp], now: Timestamp) -> Vec<usize> {
        if *self == Self::default() {
            return Vec::new();
        }
        let newest = self.keep.unwrap_or(0);
        let is_expired = |index: usize| {
            let kept = started.len() - index <= newest;
            let age = now.duration_since(started[index]);
            let young = self.older_than.is_some_and(|limit| age < limit);
            !kept && !young
        };
        (0..started.len()).filter(|index| is_expired(*index)).collect()
    }
}

/// What was removed and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Runs that are gone.
    pub removed: Vec<String>,
    /// Runs that a process works on right now.
    pub active: Vec<String>,
}

impl Run {
    /// Removes the runs of the repository at `root` that `retention` does not keep.
    pub fn clean(root: &Path, retention: Retention, now: Timestamp) -> Result<Cleaned, StoreError> {
        let runs = Self::list(root)?;
        let started: Vec<Timestamp> = runs.iter().map(|run| run.started().unwrap_or(now)).collect();
        let mut cleaned = Cleaned::default();
        for index in retention.expired(&started, now) {
            let run = &runs[index];
            let list = if remove(run)? { &mut cleaned.removed } else { &mut cleaned.active };
            list.push(run.id().to_owned());
        }
        Ok(cleaned)
    }
}

/// Removes a run, unless a process works on it.
fn remove(run: &RunSummary) -> Result<bool, StoreError> {
    let Some(_lock) = run.try_lock()? else { return Ok(false) };
    // Without its journal it is no run any more, also if this process is killed half way.
    let directory = run.directory();
    let journal = directory.join("journal.jsonl");
    fs::remove_file(&journal).map_err(StoreError::io("removing", &journal))?;
    fs::remove_dir_all(directory).map_err(StoreError::io("removing", directory))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;
    use crate::testing::plan;

    fn day(day: i8) -> Timestamp {
        format!("2026-11-{day:02}T00:00:00Z").parse().unwrap()
    }

    #[test]
    fn what_either_rule_keeps_is_kept() {
        let started = [day(1), day(5), day(9), day(10)];
        let week = Some(SignedDuration::from_hours(7 * 24));
        let cases = [
            (None, None, vec![]),
            (Some(2), None, vec![0, 1]),
            (Some(9), None, vec![]),
            (Some(0), None, vec![0, 1, 2, 3]),
            (None, week, vec![0, 1]),
            (Some(3), week, vec![0]),
            (Some(1), week, vec![0, 1]),
        ];
        for (keep, older_than, expired) in cases {
            let retention = Retention { keep, older_than };
            assert_eq!(retention.expired(&started, day(12)), expired, "{retention:?}");
        }
    }

    #[test]
    fn a_run_that_is_worked_on_stays() {
        let root = tempfile::tempdir().unwrap();
        let create = |at| Run::create(root.path(), &plan(), Clock::fixed(at)).unwrap();
        let old = create(day(1)).id().to_owned();
        let active = create(day(2));
        let retention = Retention { keep: Some(0), older_than: None };
        let cleaned = Run::clean(root.path(), retention, day(12)).unwrap();
        assert_eq!((cleaned.removed, cleaned.active), (vec![old], vec![active.id().to_owned()]));
        let left: Vec<_> = Run::list(root.path()).unwrap();
        assert_eq!((left.len(), left[0].id()), (1, active.id()));
        drop(active);
        Run::clean(root.path(), retention, day(12)).unwrap();
        assert!(Run::list(root.path()).unwrap().is_empty());
    }
}
