//! The MCP server: what the protocol asks for, in terms of tools, resources and prompts.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::sync::{RwLock, Semaphore};
use tokio::time::Instant;

use crate::arguments::Review;
use crate::call::{self, Answer, Desk};
use crate::confine::Roots;
use crate::error::{Code, ToolError};
use crate::jobs::{Job, Jobs, Standing};
use crate::operations::Operations;
use crate::tools::review;
use crate::{catalog, digest, prompts, resources};

/// Calls that work at once; others wait.
const AT_ONCE: usize = 8;
/// How long a client has to say which roots it has.
const ROOTS_WAIT: Duration = Duration::from_secs(5);
/// How long a review is waited for where the caller watches it and says nothing else: less than
/// clients usually wait for an answer.
const USUAL_WAIT: Duration = Duration::from_secs(50);
/// The longest that one call waits for a review.
const LONGEST_WAIT: u64 = 600;

/// The server, as one client sees it.
#[derive(Clone)]
pub struct Server {
    operations: Arc<Operations>,
    jobs: Arc<Jobs>,
    working: Arc<Semaphore>,
    roots: Roots,
    /// The roots of this client, once it was asked.
    of_client: Arc<RwLock<Option<Roots>>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("roots", &self.roots).finish_non_exhaustive()
    }
}

impl Server {
    /// A server for `operations` that is confined to `roots`.
    pub fn new(operations: Arc<Operations>, roots: Roots) -> Self {
        Self {
            operations,
            jobs: Arc::default(),
            working: Arc::new(Semaphore::new(AT_ONCE)),
            roots,
            of_client: Arc::default(),
        }
    }

    /// The same server for another client.
    pub(crate) fn for_another_client(&self) -> Self {
        Self { of_client: Arc::default(), ..self.clone() }
    }

    /// What a call works with: confined to what this client gave.
    async fn desk(&self, context: &RequestContext<RoleServer>) -> Desk {
        let known = self.of_client.read().await.clone();
        let roots = match known {
            Some(roots) => roots,
            None => self.ask_for_roots(context).await,
        };
        Desk { operations: self.operations.clone(), roots, jobs: self.jobs.clone() }
    }

    /// Asks the client for its roots. One that has none, or may not be asked, gets the server's own.
    #[expect(deprecated, reason = "clients of earlier versions of the protocol have roots")]
    async fn ask_for_roots(&self, context: &RequestContext<RoleServer>) -> Roots {
        let has_roots = context.client_capabilities().is_some_and(|client| client.roots.is_some());
        let mut roots = self.roots.clone();
        if has_roots
            && let Ok(Ok(listed)) =
                tokio::time::timeout(ROOTS_WAIT, context.peer.list_roots()).await
        {
            let uris: Vec<String> = listed.roots.into_iter().map(|root| root.uri).collect();
            roots = roots.of_client(&uris);
        }
        *self.of_client.write().await = Some(roots.clone());
        roots
    }

    /// Does something that blocks, when it is its turn.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let failed =
            |cause: &dyn std::fmt::Display| ToolError::new(Code::Failed, cause.to_string());
        let turn = self.working.clone().acquire_owned().await.map_err(|cause| failed(&cause))?;
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(turn);
            result
        });
        done.await.map_err(|cause| failed(&cause))?
    }

    async fn answer(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Answer, ToolError> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        call::check_size(&arguments)?;
        let desk = self.desk(&context).await;
        if request.name == "review" {
            return self.review(desk, arguments, context).await;
        }
        self.blocking(move || call::answer(&desk, &request.name, arguments)).await
    }

    /// Starts a review and, where the caller wants to wait, waits for it.
    async fn review(
        &self,
        desk: Desk,
        arguments: Value,
        context: RequestContext<RoleServer>,
    ) -> Result<Answer, ToolError> {
        let arguments: Review = call::parse(arguments)?;
        let watcher = context.meta.get_progress_token();
        let wait = match (arguments.wait, &watcher) {
            (Some(seconds), _) => Duration::from_secs(seconds.min(LONGEST_WAIT)),
            (None, Some(_)) => USUAL_WAIT,
            (None, None) => Duration::ZERO,
        };
        let starting = desk.clone();
        let (root, job) = self
            .blocking(move || {
                let root = starting.root(arguments.project_path.as_deref())?;
                let request = review::request(&root, &arguments)?;
                let job = starting.jobs.start(starting.operations.clone(), request)?;
                Ok((root, job))
            })
            .await?;
        let deadline = Instant::now() + wait;
        let mut told = -1.0;
        let mut standing = job.standing.clone();
        loop {
            let now = standing.borrow_and_update().clone();
            if let Some(run) = &now.run {
                desk.jobs.keep(&root, run, &job);
            }
            if let Some(token) = &watcher {
                tell(&context, token, &now, &mut told).await;
            }
            match (&now.end, &now.run) {
                (Some(Ok(result)), _) => return Ok(vec![digest::of(result)]),
                (Some(Err(error)), _) => return Err(error.clone()),
                (None, Some(run)) if Instant::now() >= deadline => return Ok(vec![running(run)]),
                _ => {}
            }
            next(&mut standing, deadline, now.run.is_some(), &context, &job).await?;
        }
    }
}

/// Waits for something to happen to a review; a caller who goes away stops it.
async fn next(
    standing: &mut tokio::sync::watch::Receiver<Standing>,
    deadline: Instant,
    started: bool,
    context: &RequestContext<RoleServer>,
    job: &Job,
) -> Result<(), ToolError> {
    tokio::select! {
        changed = standing.changed() => changed.map_err(|_| {
            ToolError::new(Code::Failed, "the review ended without a result")
        }),
        () = tokio::time::sleep_until(deadline), if started => Ok(()),
        () = context.ct.cancelled() => {
            job.cancel();
            Err(ToolError::new(Code::Cancelled, "the review was cancelled"))
        }
    }
}

/// Tells a watcher how far a review is; what is told never goes back.
async fn tell(
    context: &RequestContext<RoleServer>,
    token: &rmcp::model::ProgressToken,
    now: &Standing,
    told: &mut f64,
) {
    #[expect(clippy::cast_precision_loss, reason = "a count of files for people")]
    let (done, total) = (now.done as f64, now.total as f64);
    if total == 0.0 || done <= *told {
        return;
    }
    *told = done;
    let progress = ProgressNotificationParam::new(token.clone(), done)
        .with_total(total)
        .with_message(now.message.clone());
    // A watcher who went away is not told.
    drop(context.peer.notify_progress(progress).await);
}

fn running(run: &str) -> String {
    json!({ "run": run, "status": "running", "next": "review_status" }).to_string()
}

/// An error as a tool's answer, which its caller can read and act on.
fn refused(error: &ToolError) -> CallToolResult {
    let document = error.document();
    let mut result = CallToolResult::error(vec![ContentBlock::text(document.to_string())]);
    result.structured_content = Some(document);
    result
}

fn protocol_error(error: &ToolError) -> ErrorData {
    let data = Some(error.document()["error"].clone());
    match error.code {
        Code::NotFound | Code::RunNotFound => {
            ErrorData::resource_not_found(error.message.clone(), data)
        }
        Code::Failed => ErrorData::internal_error(error.message.clone(), data),
        _ => ErrorData::invalid_params(error.message.clone(), data),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("quorum", env!("CARGO_PKG_VERSION")))
            .with_instructions(catalog::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalog::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !call::is_known(&request.name) {
            let name: String = request.name.chars().take(60).collect();
            let data = Some(json!({ "code": "UNKNOWN_TOOL" }));
            return Err(ErrorData::invalid_params(format!("unknown tool `{name}`"), data));
        }
        let result = match self.answer(request, context).await {
            Ok(texts) => {
                CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect())
            }
            Err(error) => refused(&error),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let desk = self.desk(&context).await;
        let listed = self.blocking(move || resources::list(&desk)).await;
        Ok(ListResourcesResult::with_all_items(listed.map_err(|error| protocol_error(&error))?))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let desk = self.desk(&context).await;
        let uri = request.uri.clone();
        let read = self.blocking(move || resources::read(&desk, &uri)).await;
        let (text, kind) = read.map_err(|error| protocol_error(&error))?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type(kind);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let desk = self.desk(&context).await;
        let agents = self.blocking(move || desk.operations.agents(&desk.root(None)?)).await;
        // Without a repository there are no reviewers of a team, and the review itself is offered.
        Ok(ListPromptsResult::with_all_items(prompts::list(&agents.unwrap_or_default())))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let desk = self.desk(&context).await;
        let agents = self.blocking(move || desk.operations.agents(&desk.root(None)?)).await;
        let arguments = request.arguments.unwrap_or_default();
        let got = prompts::get(&agents.unwrap_or_default(), &request.name, &arguments);
        Ok(got.map_err(|error| protocol_error(&error))?.into())
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        *self.of_client.write().await = None;
    }
}

/// Serves one client on standard input and output, until it goes away.
pub async fn serve_stdio(server: Server) -> Result<(), ToolError> {
    use rmcp::service::ServerInitializeError;
    let failed = |cause: &dyn std::fmt::Display| ToolError::new(Code::Failed, cause.to_string());
    let running = match server.serve(rmcp::transport::stdio()).await {
        Ok(running) => running,
        // It went away before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    running.waiting().await.map(drop).map_err(|cause| failed(&cause))
}
