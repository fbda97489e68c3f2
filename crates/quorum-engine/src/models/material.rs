//! The change and the repository around it, for reviewers that are models.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use quorum_dispatch::llm::{Changed, Material, Redactor};
use quorum_model::scope::Flag;
use quorum_rules::secrets::Known;
use quorum_scope::content::Contents;
use quorum_scope::snapshot::Snapshot;
use quorum_scope::versions;

use crate::gather::digest;
use crate::plan::Prepared;

/// The files of a plan and everything around them.
pub(crate) struct Change<'a> {
    prepared: &'a Prepared,
    numbers: HashMap<&'a str, usize>,
    contents: Contents,
    around: &'a Snapshot,
}

impl<'a> Change<'a> {
    pub(crate) fn new(prepared: &'a Prepared) -> Self {
        let repository = prepared.workspace.repository.as_ref();
        let files = prepared.plan.scope.files.iter().enumerate();
        Self {
            prepared,
            numbers: files.map(|(number, file)| (&*file.path, number)).collect(),
            contents: Contents::new(repository),
            around: prepared.workspace.snapshot(),
        }
    }
}

impl Material for Change<'_> {
    fn changed(&self, path: &str) -> Option<Changed> {
        let number = *self.numbers.get(path)?;
        let entry = self.prepared.plan.scope.files.get(number)?;
        let raw = self.prepared.files.get(number)?;
        if entry.has(Flag::Binary) || entry.has(Flag::Submodule) {
            return None;
        }
        let content = self.contents.read(raw).ok()?;
        // What is shown is what was planned; what changed meanwhile would be decided unseen.
        if entry.digest.as_ref().is_some_and(|planned| *planned != digest(raw, &content)) {
            return None;
        }
        let hunks = raw.hunks.iter().map(|(hunk, body)| {
            let text = raw.patch.get(body.clone()).unwrap_or_default();
            (*hunk, String::from_utf8_lossy(text).into_owned())
        });
        let hunks = hunks.collect();
        let versions = versions::of(raw, content);
        let text = |bytes: Vec<u8>| Arc::<str>::from(String::from_utf8_lossy(&bytes));
        Some(Changed { head: versions.head.map(text), base: versions.base.map(text), hunks })
    }

    fn head(&self, path: &str) -> Option<Arc<str>> {
        self.around.head(path).or_else(|| self.changed(path)?.head)
    }

    fn paths(&self) -> &[String] {
        self.around.paths()
    }
}

/// What the embedded detectors call a secret.
pub(crate) struct Secrets;

impl Redactor for Secrets {
    fn secrets(&self, text: &str) -> Result<Vec<Range<usize>>, String> {
        Ok(Known::of(None, text).spans().to_vec())
    }

    fn secrets_of(&self, path: &str, text: &str) -> Result<Vec<Range<usize>>, String> {
        Ok(Known::of(Some(path), text).spans().to_vec())
    }
}
