//! What answers requests.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::pin::Pin;

use crate::error::LlmError;
use crate::message::{Answer, Request};

/// An answer that is under way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, LlmError>> + Send + 'a>>;

/// Something that answers requests: a server, a program, a recording.
pub trait Provider: Debug + Send + Sync {
    /// What kind it is, such as `anthropic`.
    fn name(&self) -> &str;

    /// Where it is, for people and to tell servers apart; never with a key in it.
    fn endpoint(&self) -> &str;

    /// Answers once: no second try, no other model.
    fn answer<'a>(&'a self, request: &'a Request, progress: &'a dyn Progress) -> Answering<'a>;
}

/// Is told what a model writes while it writes it, and may stop it.
pub trait Progress: Sync {
    /// The model wrote `text`. On a break the call is cancelled, and what came so far is its answer.
    fn wrote(&self, text: &str) -> ControlFlow<()>;

    /// The answer so far is void: the request is made again.
    fn restarted(&self) {}
}

/// Lets a model write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn wrote(&self, _text: &str) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
