//! Answers from a recording.

use std::collections::BTreeMap;

use crate::error::LlmError;
use crate::message::{Answer, Request};
use crate::provider::{Answering, Progress, Provider};

/// Gives the answers that were recorded, each to the request that it was the answer to.
#[derive(Debug, Default)]
pub struct ReplayProvider {
    answers: BTreeMap<String, Answer>,
}

impl ReplayProvider {
    /// A recording: the digest of each request with its answer.
    pub fn new(answers: impl IntoIterator<Item = (String, Answer)>) -> Self {
        Self { answers: answers.into_iter().collect() }
    }
}

impl Provider for ReplayProvider {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn endpoint(&self) -> &'static str {
        "the recording"
    }

    fn answer<'a>(&'a self, request: &'a Request, _progress: &'a dyn Progress) -> Answering<'a> {
        let found = self.answers.get(&request.digest()).cloned();
        Box::pin(async move { found.ok_or(LlmError::NotRecorded) })
    }
}
