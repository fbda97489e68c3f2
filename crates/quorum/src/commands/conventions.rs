//! `quorum conventions`.

use quorum_engine::context::convention;
use quorum_engine::kept::Kept;
use quorum_engine::policy::Policy;
use quorum_engine::workspace;
use quorum_index::Counter;
use quorum_scope::request::PolicySource;
use quorum_store::offers::{Offer, OfferState, Offers};
use serde::Serialize;

use crate::cli::{Cli, ConventionsAction, ConventionsArgs, Format, OutputArgs};
use crate::failure::Failure;
use crate::{output, process, render};

/// What there is, and what is offered.
#[derive(Debug, Serialize)]
pub(crate) struct Conventions {
    pub(crate) documents: Vec<Document>,
    pub(crate) unused: Vec<Unused>,
    pub(crate) offers: Vec<Offer>,
}

/// A document that says how the team writes code.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) scope: String,
    pub(crate) tokens: u64,
}

/// One that reviewers are not shown.
#[derive(Debug, Serialize)]
pub(crate) struct Unused {
    pub(crate) path: String,
    pub(crate) reason: String,
}

pub(super) fn run(cli: &Cli, arguments: &ConventionsArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    match &arguments.action {
        ConventionsAction::List { output } => list(&kept, output)?,
        ConventionsAction::Accept { offers } => {
            let mut store = Offers::open(&kept.root)?;
            for id in offers {
                let path = store.accept(id)?.ok_or_else(|| unknown(id))?;
                let path = path.strip_prefix(&kept.root).unwrap_or(&path).display();
                output::text(&format!("Wrote {path}; commit it to share it.\n"), None)?;
            }
        }
        ConventionsAction::Reject { offers } => {
            let mut store = Offers::open(&kept.root)?;
            for id in offers {
                if !store.reject(id)? {
                    return Err(unknown(id));
                }
            }
        }
    }
    Ok(0)
}

fn unknown(id: &str) -> Failure {
    Failure::new(format!("there is no offer `{id}`"))
        .with_hint("`quorum conventions list` names them")
}

fn list(kept: &Kept, arguments: &OutputArgs) -> Result<(), Failure> {
    let policy = Policy::new(Some(&kept.repository), PolicySource::WorkTree);
    let counter = Counter::new(
        workspace::load(&policy, &process::environment(), Vec::new())?.config.tokenizer,
    );
    let (documents, unused) = convention::distinct(policy.conventions()?);
    let documents = documents.iter().map(|document| Document {
        path: document.path.clone(),
        scope: document.scope(),
        tokens: counter.count(document.text.as_bytes()),
    });
    let unused = unused.into_iter().map(|one| Unused { path: one.path, reason: one.reason });
    let mut offers = Offers::look(&kept.root)?.list()?;
    offers.retain(|offer| offer.state == OfferState::Offered);
    let all = Conventions { documents: documents.collect(), unused: unused.collect(), offers };
    let file = arguments.output.as_deref();
    match arguments.format {
        Format::Json => output::json(&all, file),
        Format::Terminal => output::text(&render::conventions::page(&all, output::width()), file),
    }
}
