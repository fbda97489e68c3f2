//! What the MCP server can do with a repository, in terms of what the commands do.

mod delegated;

use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_dispatch::llm::delegate::{Brief, Checked, Part, Submitted};
use quorum_index::{ContentMode, Counter};
use quorum_mcp::{
    Begun, Code, GatesRequest, IndexRequest, Metering, Operations, ReviewRequest, SearchMode,
    SearchRequest, SizeRequest, SymbolRequest, ToolError, Watch,
};
use quorum_model::agent::Agent;
use quorum_model::gate::GateReport;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::search::SearchResults;
use quorum_model::size::SizeReport;
use quorum_model::symbol::{IndexReport, RepositoryMap};
use quorum_plan::roster::Roster;
use quorum_plan::sop;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;
use quorum_store::Seal;
use serde_json::Value;

use crate::cli::{
    Cli, Color, Command, ContentName, Format, OutputArgs, ReviewArgs, SearchArgs, SizeArgs,
};
use crate::commands::review::{How, Performed, Work};
use crate::commands::{dismiss, plan, review, search, size};
use crate::failure::Failure;
use crate::gates::{self, Watcher};
use crate::gather::{Purpose, gather};
use crate::indexing::{Place, Which};
use crate::policy::Policy;
use crate::record::Recorder;
use crate::request::Request;
use crate::workspace::Workspace;
use crate::{kept, models, progress, settings, workspace};

/// How often somebody who watches is told how far a review is.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// What the user lets clients run: nobody else can say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// No command of any repository.
    Nothing,
    /// The gates of what is in the work tree.
    WorkTree,
    /// Also those of a change that may be somebody else's.
    Anything,
}

/// The operations of this program.
#[derive(Debug)]
pub(crate) struct Program {
    delegated: delegated::Delegated,
    consent: Consent,
}

impl Program {
    pub(crate) fn new(consent: Consent) -> Self {
        Self { delegated: delegated::Delegated::default(), consent }
    }

    /// Refuses to run gates that the user did not speak for.
    fn may_run(&self, workspace: &Workspace) -> Result<(), ToolError> {
        let refuse = |what: &str, flag: &str| {
            ToolError::new(Code::NotAllowed, what)
                .with_hint(format!("the user may start the server with `quorum mcp {flag}`"))
        };
        match self.consent {
            Consent::Nothing => {
                let text =
                    "gates run commands on this machine, which this server was not started for";
                Err(refuse(text, "--allow-gates"))
            }
            Consent::WorkTree if gates::needs_trust(&workspace.target) => {
                let text = "gates would run code of this change, which may be somebody else's";
                Err(refuse(text, "--trust-gates"))
            }
            Consent::WorkTree | Consent::Anything => Ok(()),
        }
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let error = Self::new(Code::Failed, failure.message());
        match failure.hint() {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// A command line that works in `root` and says nothing.
fn quiet(root: &Path) -> Cli {
    Cli {
        directory: Some(root.to_owned()),
        color: Color::Never,
        quiet: true,
        command: Command::Doctor,
    }
}

fn output() -> OutputArgs {
    OutputArgs { format: Format::Json, output: None }
}

/// What a caller asks for, as it would be typed, and what that means.
fn asked(
    root: &Path,
    request: &ReviewRequest,
    flags: &[&str],
) -> Result<(Request, Cli, ReviewArgs), ToolError> {
    let mut arguments = vec!["--quiet".to_owned(), "review".to_owned()];
    arguments.extend(flags.iter().map(|&flag| flag.to_owned()));
    arguments.extend(request.arguments.iter().cloned());
    let request = Request::new(root.to_owned(), arguments);
    let (cli, review) = request.parse().map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        ToolError::new(Code::InvalidArgument, first)
    })?;
    Ok((request, cli, review))
}

impl Operations for Program {
    fn root(&self, folder: &Path) -> Result<PathBuf, ToolError> {
        let found = Repository::find(folder).map_err(Failure::from)?;
        let Some(repository) = found else { return Ok(folder.to_owned()) };
        kept::refuse_committed(&repository)?;
        let root = repository.require_work_tree().map_err(Failure::from)?;
        Ok(root.canonicalize().unwrap_or_else(|_| root.to_owned()))
    }

    fn metering(&self, root: &Path) -> Result<Metering, ToolError> {
        let config = Place::open(&quiet(root))?.config;
        let thresholds = settings::for_plan(&config)?.thresholds;
        Ok(Metering { counter: Counter::new(config.tokenizer), thresholds })
    }

    fn index(&self, root: &Path, request: &IndexRequest) -> Result<IndexReport, ToolError> {
        let place = Place::open(&quiet(root))?;
        let which = match request.paths.as_slice() {
            [] => Which::All,
            paths => Which::Named(paths),
        };
        Ok(place.update(which)?)
    }

    fn search(&self, root: &Path, request: &SearchRequest) -> Result<SearchResults, ToolError> {
        let arguments = SearchArgs {
            query: vec![request.query.clone()],
            path: request.paths.clone(),
            lang: Vec::new(),
            kind: None,
            exact: request.mode == SearchMode::Exact,
            regex: request.mode == SearchMode::Regex,
            ignore_case: false,
            no_update: false,
            limit: Some(request.limit),
            content: match request.content {
                ContentMode::Minimal => ContentName::Minimal,
                ContentMode::Preview => ContentName::Preview,
                ContentMode::Full => ContentName::Full,
            },
            budget: request.budget,
            output: output(),
        };
        Ok(search::results(&quiet(root), &arguments)?)
    }

    fn symbol(&self, root: &Path, request: &SymbolRequest) -> Result<Value, ToolError> {
        let place = Place::open(&quiet(root))?;
        let index = place.index(true)?;
        let answer = match request {
            SymbolRequest::Name(name) => {
                serde_json::to_value(index.callers(name).map_err(Failure::from)?)
            }
            SymbolRequest::File(path, budget) => {
                let summary = index.summary(path, *budget, place.counter());
                serde_json::to_value(summary.map_err(Failure::from)?)
            }
        };
        answer.map_err(|cause| ToolError::new(Code::Failed, cause.to_string()))
    }

    fn map(&self, root: &Path, budget: u64) -> Result<RepositoryMap, ToolError> {
        let place = Place::open(&quiet(root))?;
        let index = place.index(true)?;
        Ok(index.map(budget, place.counter()).map_err(Failure::from)?)
    }

    fn plan(&self, root: &Path, request: &ReviewRequest) -> Result<Plan, ToolError> {
        let (_, cli, arguments) = asked(root, request, &[])?;
        Ok(plan::make(&cli, &arguments.scope, &arguments.run, Purpose::Plan)?.plan)
    }

    fn size(&self, root: &Path, request: &SizeRequest) -> Result<SizeReport, ToolError> {
        let arguments = SizeArgs {
            paths: request.paths.clone(),
            model: request.model.clone(),
            window: request.window,
            task: None,
            description: request.task.clone(),
            tokenizer: None,
            format: None,
            output: None,
        };
        Ok(size::measure(&quiet(root), &arguments)?)
    }

    fn gates(&self, root: &Path, request: &GatesRequest) -> Result<GateReport, ToolError> {
        let (_, cli, arguments) = asked(root, &request.change, &[])?;
        let workspace = Workspace::open(&cli, &arguments.scope, Vec::new())?;
        self.may_run(&workspace)?;
        let prepared = gates::prepare(&workspace)?.only(&request.only)?;
        let scope = gather(&workspace, u64::MAX, Purpose::Plan, true)?.scope;
        Ok(prepared.run(&workspace, &scope, &Watcher { quiet: true, run: None })?)
    }

    fn review(
        &self,
        root: &Path,
        request: &ReviewRequest,
        watch: &Watch,
    ) -> Result<ReviewResult, ToolError> {
        let (request, cli, arguments) = asked(root, request, &[])?;
        let made = plan::make(&cli, &arguments.scope, &arguments.run, Purpose::Review)?;
        let engines = models::engines(&made.plan, &made.workspace)?;
        // As on the command line they come first where the user's own configuration says so.
        let trusted =
            self.consent == Consent::Anything || !gates::needs_trust(&made.workspace.target);
        let wanted = made.workspace.loaded.config.gates.run && trusted;
        let gates = wanted.then(|| gates::prepare(&made.workspace)).transpose()?;
        let recorder = Recorder::start(&made.workspace, &made.plan, Some(&request))?;
        watch.started(recorder.id());
        let bar = progress::files(made.files.len(), true);
        let how = How { bar: bar.clone(), stop: &|| watch.is_cancelled() };
        let performed = std::thread::scope(|scope| {
            let gates = gates.as_ref();
            let work = Work { cli: &cli, made: &made, engines: &engines, gates };
            let (recorder, run, how) = (&recorder, &arguments.run, &how);
            let working = scope.spawn(move || review::perform(&work, recorder, run, how));
            while !working.is_finished() {
                let message = if bar.is_finished() { "deciding" } else { "reviewing" };
                watch.progress(bar.position(), made.files.len() as u64, message);
                std::thread::sleep(TOLD_EVERY);
            }
            working.join()
        });
        let failed = || ToolError::new(Code::Failed, "the review ended without a result");
        match performed.map_err(|_| failed())?? {
            Performed::Decided(result) => Ok(*result),
            Performed::Stopped(_) => {
                let text = format!("run {} was cancelled", recorder.id());
                Err(ToolError::new(Code::Cancelled, text)
                    .with_hint(format!("`quorum resume {}` goes on", recorder.id())))
            }
        }
    }

    fn begin(&self, root: &Path, request: &ReviewRequest) -> Result<Begun, ToolError> {
        let (request, cli, arguments) = asked(root, request, &["--provider=host", "--complete"])?;
        self.delegated.begin(&request, &cli, &arguments)
    }

    fn take(&self, root: &Path, run: &str, submitted: Submitted<'_>) -> Result<Checked, ToolError> {
        self.delegated.take(root, run, submitted)
    }

    fn second_round(
        &self,
        root: &Path,
        run: &str,
        parts: &[Part],
    ) -> Result<Vec<Brief>, ToolError> {
        delegated::Delegated::second_round(root, run, parts)
    }

    fn finish(&self, root: &Path, run: &str, parts: &[Part]) -> Result<ReviewResult, ToolError> {
        delegated::Delegated::finish(root, run, parts)
    }

    fn agents(&self, root: &Path) -> Result<Vec<Agent>, ToolError> {
        let repository = Repository::find(root).map_err(Failure::from)?;
        let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
        let (loaded, agents) = workspace::load_with_agents(&policy, Vec::new())?;
        let roster = Roster::load(&agents, &loaded.config.agent);
        let roster = roster.map_err(Failure::from)?;
        Ok(roster.members().iter().map(|member| member.agent.clone()).collect())
    }

    fn sops(&self, root: &Path) -> Result<Vec<(String, String)>, ToolError> {
        let repository = Repository::find(root).map_err(Failure::from)?;
        let files = Policy::new(repository.as_ref(), PolicySource::WorkTree).markdown("sops")?;
        let named = files.iter().map(|file| {
            let sop = sop::parse(&file.path, &file.text, |_| 0).map_err(Failure::from)?;
            Ok((sop.name, sop.text))
        });
        named.collect()
    }

    fn author(&self, root: &Path) -> String {
        let repository = Repository::discover(root);
        repository.map_or_else(|_| "unknown".to_owned(), |found| dismiss::author_in(&found))
    }

    fn seal(&self, root: &Path) -> Result<Option<Seal>, ToolError> {
        Ok(kept::new_seal(root)?)
    }
}
