//! `quorum mcp`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quorum_mcp::{
    Consent, HttpSettings, Operations, Roots, Server, ToolError, serve_http, serve_stdio,
};
use quorum_scope::repository::Repository;

use crate::cli::{Cli, McpArgs};
use crate::failure::Failure;
use crate::{output, process};

/// How long a session may be without use where nobody says otherwise.
const IDLE: Duration = Duration::from_mins(15);

/// The variable that may hold the token.
const TOKEN: &str = "MCP_SERVER_TOKEN";

pub(super) fn run(cli: &Cli, arguments: &McpArgs) -> Result<u8, Failure> {
    let consent = match (arguments.trust_gates, arguments.allow_gates) {
        (true, _) => Consent::Anything,
        (false, true) => Consent::WorkTree,
        (false, false) => Consent::Nothing,
    };
    let operations = Operations::new(process::environment(), consent);
    let server = Server::new(Arc::new(operations), roots(cli, arguments)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("no runtime: {error}")))?;
    let served = match arguments.http {
        None => runtime.block_on(serve_stdio(server)),
        Some(address) => {
            let (token, made) = token(arguments)?;
            let settings = HttpSettings {
                address,
                token: token.clone(),
                origins: arguments.allow_origin.clone(),
                idle: arguments.idle.map_or(IDLE, Duration::from_secs),
            };
            runtime.block_on(serve_http(server, settings, |address| {
                output::notice(&format!("listening on http://{address}/mcp"));
                if made {
                    output::notice(&format!("token for this time: {token}"));
                }
            }))
        }
    };
    // A review in the background is not waited for: its run can be resumed.
    runtime.shutdown_background();
    served.map(|()| 0).map_err(failure)
}

fn failure(error: ToolError) -> Failure {
    let failure = Failure::new(error.message);
    match error.hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Folders that are named hold; else the repository that the server is started in, which a client
/// on standard input may replace by its own roots, and one over HTTP may not.
fn roots(cli: &Cli, arguments: &McpArgs) -> Result<Roots, Failure> {
    let folder = process::folder(cli)?;
    if !arguments.root.is_empty() {
        let named: Vec<PathBuf> = arguments.root.iter().map(|root| folder.join(root)).collect();
        if let Some(missing) = named.iter().find(|root| !root.is_dir()) {
            return Err(Failure::new(format!("--root {}: it is not a folder", missing.display()))
                .with_hint("name folders that exist"));
        }
        return Ok(Roots::fixed(&named));
    }
    let root = around(&folder)?.unwrap_or(folder);
    Ok(if arguments.http.is_some() { Roots::fixed(&[root]) } else { Roots::usual(&root) })
}

fn around(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let found = Repository::find(folder)?;
    Ok(found.and_then(|found| found.work_tree().map(Path::to_owned)))
}

/// The token, and whether it was made just now.
fn token(arguments: &McpArgs) -> Result<(String, bool), Failure> {
    if let Some(file) = &arguments.token_file {
        refuse_open(file)?;
        let text = fs::read_to_string(file)
            .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        return named(text.trim(), &file.display().to_string());
    }
    if let Ok(text) = std::env::var(TOKEN) {
        return named(text.trim(), TOKEN);
    }
    let parts = [uuid::Uuid::now_v7(), uuid::Uuid::now_v7()];
    Ok((parts.map(|part| part.simple().to_string()).concat(), true))
}

/// Refuses a file that others can read, who would have the token, or write, who would choose it.
#[cfg(unix)]
fn refuse_open(file: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt as _;

    let name = file.display();
    let metadata = fs::metadata(file).map_err(|error| Failure::new(format!("{name}: {error}")))?;
    if metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o777;
        let text = format!("{name}: others can read or write the token (its mode is {mode:03o})");
        return Err(Failure::new(text).with_hint(format!(
            "`chmod 600 {name}`, and take a new token if others have been here"
        )));
    }
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user && metadata.uid() != 0 {
        let text = format!("{name}: the token's file belongs to another user");
        return Err(Failure::new(text).with_hint("take a file of your own"));
    }
    Ok(())
}

/// Elsewhere who may read a file is not said by a mode.
#[cfg(not(unix))]
fn refuse_open(_: &Path) -> Result<(), Failure> {
    Ok(())
}

fn named(token: &str, place: &str) -> Result<(String, bool), Failure> {
    const SHORTEST: usize = 16;
    if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let text = format!("{place}: a token has {SHORTEST} visible characters or more");
        return Err(Failure::new(text).with_hint("`openssl rand -hex 32` makes one"));
    }
    Ok((token.to_owned(), false))
}
