//! What needs a repository's policy, and is therefore done by the program around this crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quorum_dispatch::llm::delegate::{Brief, Checked, Part, Submitted};
use quorum_index::Counter;
use quorum_model::agent::Agent;
use quorum_model::budget::Thresholds;
use quorum_model::gate::GateReport;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::search::SearchResults;
use quorum_model::size::SizeReport;
use quorum_model::symbol::{IndexReport, RepositoryMap};
use quorum_store::Seal;
use serde_json::Value;
use tokio::sync::watch;

use crate::error::ToolError;
use crate::jobs::Standing;

/// What the server can do with a repository. Every path is the root of its work tree, confined to
/// the client's roots before it comes here; so are the paths in requests.
pub trait Operations: Send + Sync + 'static {
    /// The root of the repository around `folder`, or the folder itself.
    fn root(&self, folder: &Path) -> Result<PathBuf, ToolError>;

    /// How tokens are counted and when branches do less.
    fn metering(&self, root: &Path) -> Result<Metering, ToolError>;

    /// Brings the index up to date.
    fn index(&self, root: &Path, request: &IndexRequest) -> Result<IndexReport, ToolError>;

    /// Finds code.
    fn search(&self, root: &Path, request: &SearchRequest) -> Result<SearchResults, ToolError>;

    /// Tells about a name or a file.
    fn symbol(&self, root: &Path, request: &SymbolRequest) -> Result<Value, ToolError>;

    /// The most central symbols, in so many tokens.
    fn map(&self, root: &Path, budget: u64) -> Result<RepositoryMap, ToolError>;

    /// What a review would do.
    fn plan(&self, root: &Path, request: &ReviewRequest) -> Result<Plan, ToolError>;

    /// Whether files fit one request to a model.
    fn size(&self, root: &Path, request: &SizeRequest) -> Result<SizeReport, ToolError>;

    /// Runs the repository's build, test and lint commands, where the user lets it.
    fn gates(&self, root: &Path, request: &GatesRequest) -> Result<GateReport, ToolError>;

    /// Reviews, telling `watch` how it goes.
    fn review(
        &self,
        root: &Path,
        request: &ReviewRequest,
        watch: &Watch,
    ) -> Result<ReviewResult, ToolError>;

    /// Starts a review that the host's own agents carry out.
    fn begin(&self, root: &Path, request: &ReviewRequest) -> Result<Begun, ToolError>;

    /// Checks what one of the host's agents reports.
    fn take(&self, root: &Path, run: &str, submitted: Submitted<'_>) -> Result<Checked, ToolError>;

    /// What the host's agents are asked about each other's findings; nothing where the protocol has
    /// no second round, or nobody has anything to judge.
    fn second_round(&self, root: &Path, run: &str, parts: &[Part])
    -> Result<Vec<Brief>, ToolError>;

    /// Decides a review that the host's own agents carried out.
    fn finish(&self, root: &Path, run: &str, parts: &[Part]) -> Result<ReviewResult, ToolError>;

    /// The reviewers that there are.
    fn agents(&self, root: &Path) -> Result<Vec<Agent>, ToolError>;

    /// The team's standing orders: names and texts.
    fn sops(&self, root: &Path) -> Result<Vec<(String, String)>, ToolError>;

    /// Who sets findings aside here.
    fn author(&self, root: &Path) -> String;

    /// What they mark it with; absent where there is no place for their key.
    fn seal(&self, root: &Path) -> Result<Option<Seal>, ToolError>;
}

/// How tokens are counted and when branches do less.
#[derive(Clone, Copy, Debug)]
pub struct Metering {
    /// Counts tokens.
    pub counter: Counter,
    /// When a branch does less.
    pub thresholds: Thresholds,
}

/// What to index.
#[derive(Clone, Debug, Default)]
pub struct IndexRequest {
    /// Files, folders and globs; everything where there are none.
    pub paths: Vec<String>,
}

/// How a search looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchMode {
    /// By words and names, and by meaning where a model is set up.
    #[default]
    Ranked,
    /// By exact text.
    Exact,
    /// By a regular expression.
    Regex,
}

/// What to look for.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Words, a name, a text or an expression.
    pub query: String,
    /// How.
    pub mode: SearchMode,
    /// Only in these files, folders or globs.
    pub paths: Vec<String>,
    /// The most results.
    pub limit: usize,
    /// How much of each is shown.
    pub content: quorum_index::ContentMode,
    /// The most tokens of content.
    pub budget: Option<u64>,
}

/// What to tell.
#[derive(Clone, Debug)]
pub enum SymbolRequest {
    /// Where a name is declared and who uses it.
    Name(String),
    /// The signatures of a file, in so many tokens.
    File(String, Option<u64>),
}

/// What to review, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewRequest {
    /// What `quorum review` is given on its command line.
    pub arguments: Vec<String>,
}

/// What to size.
#[derive(Clone, Debug, Default)]
pub struct SizeRequest {
    /// Files, folders and globs.
    pub paths: Vec<String>,
    /// The task's own text.
    pub task: String,
    /// The model to size for.
    pub model: Option<String>,
    /// A window to size for.
    pub window: Option<u64>,
}

/// Which gates to run.
#[derive(Clone, Debug, Default)]
pub struct GatesRequest {
    /// The change whose gates are run.
    pub change: ReviewRequest,
    /// Only these; all where there are none.
    pub only: Vec<String>,
}

/// A review that the host's own agents carry out.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The run.
    pub run: String,
    /// Its directory.
    pub directory: PathBuf,
    /// Files under review.
    pub files: usize,
    /// Files that no agent is planned for.
    pub unassigned: usize,
    /// The tier.
    pub tier: String,
    /// What each agent reads.
    pub briefs: Vec<Brief>,
}

/// How a background review tells how it goes, and learns that it is to stop.
#[derive(Clone, Debug)]
pub struct Watch {
    pub(crate) sender: Arc<watch::Sender<Standing>>,
    pub(crate) cancel: Arc<AtomicBool>,
}

impl Watch {
    /// The run has begun.
    pub fn started(&self, run: &str) {
        self.sender.send_modify(|standing| standing.run = Some(run.to_owned()));
    }

    /// So much of it is done.
    pub fn progress(&self, done: u64, total: u64, message: &str) {
        self.sender.send_modify(|standing| {
            standing.done = done;
            standing.total = total;
            message.clone_into(&mut standing.message);
        });
    }

    /// Whether it is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}
