//! The MCP server in the hands of clients that are not ours.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::readers::{python_with, ready, target, text};
use crate::{command, root, run};

/// Where the scripts and what they need are.
const TESTS: &str = "crates/quorum-mcp/tests/clients";
const TOKEN: &str = "a-token-for-this-test-alone";

/// Lists and calls every tool with the official Python and TypeScript clients and the inspector, and
/// runs the protocol's conformance suite.
pub(crate) fn check(required: bool) -> Result<()> {
    let set_up = || -> Result<(PathBuf, PathBuf)> {
        Ok((python_with("clients", &root().join(TESTS).join("requirements.txt"))?, packages()?))
    };
    let Some((python, packages)) = ready(set_up(), required)? else { return Ok(()) };
    crate::cargo(["build", "--quiet", "--locked", "-p", "quorum"], &[])?;
    let quorum = target("debug").join("quorum");
    let node = packages.join("node_modules/.bin/node");
    let script = |name: &str| packages.join(name);
    for (name, program) in [("check.py", &python), ("check.mjs", &node)] {
        let repository = repository(name)?;
        let server = Listening::start(&quorum, &repository)?;
        let mut check = command(&text(program));
        check.arg(script(name)).args([&quorum, &repository, &script("calls.json")]);
        run(check.args([&server.url, TOKEN]))?;
    }
    inspect(&packages, &quorum)?;
    let mut suite = command(&text(&node));
    let program = packages.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let repository = repository("conformance")?;
    suite.args([&script("conformance.mjs"), &quorum, &repository, &program]);
    run(suite.arg(script("baseline.yml")).arg(TOKEN))
}

/// The inspector's command line lists the tools and calls each of them, over both transports at once.
fn inspect(packages: &Path, quorum: &Path) -> Result<()> {
    let over_stdio = repository("inspector-stdio")?;
    let over_http = repository("inspector-http")?;
    let server = Listening::start(quorum, &over_http)?;
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let stdio = [text(quorum), "mcp".to_owned()];
    let http = [server.url.as_str(), "--transport", "http", "--header", &bearer].map(str::to_owned);
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| inspect_over(packages, &stdio, &over_stdio));
        (inspect_over(packages, &http, &over_http), first.join())
    });
    first?;
    second.map_err(|_| anyhow::anyhow!("the inspector's thread ended"))??;
    println!("inspector: every tool listed and called over stdio and HTTP");
    Ok(())
}

fn inspect_over(packages: &Path, server: &[String], repository: &Path) -> Result<()> {
    let inspect = |arguments: &[&str]| -> Result<Value> {
        let mut inspector = command(&text(&packages.join("node_modules/.bin/node")));
        inspector.arg(packages.join("node_modules/.bin/mcp-inspector")).arg("--cli").args(server);
        inspector.args(["--format", "json"]).args(arguments);
        // It keeps notes of its own at home.
        let said = inspector.current_dir(repository).env("HOME", packages).output()?;
        let text = String::from_utf8_lossy(&said.stderr);
        serde_json::from_slice(&said.stdout).with_context(|| format!("{arguments:?}: {text}"))
    };
    let listed = inspect(&["--method", "tools/list"])?;
    let listed: Option<BTreeSet<&str>> = listed["result"]["tools"]
        .as_array()
        .and_then(|tools| tools.iter().map(|tool| tool["name"].as_str()).collect());
    let calls: Vec<(String, Value, Option<String>)> = calls(packages)?;
    let wanted = calls.iter().map(|(name, ..)| name.as_str()).collect();
    ensure!(listed.as_ref() == Some(&wanted), "it lists {listed:?}");
    for (name, arguments, wanted) in &calls {
        let arguments = arguments.to_string();
        let answer = inspect(&[
            "--method",
            "tools/call",
            "--tool-name",
            name,
            "--tool-args-json",
            &arguments,
        ])?;
        let is_error = answer["result"]["isError"] == true;
        let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let right = match wanted {
            Some(code) => is_error && said.contains(code.as_str()),
            None => !is_error && !said.is_empty(),
        };
        ensure!(right, "{name}: {answer}");
    }
    Ok(())
}

/// Every call of the list: a tool, its arguments, and the code of the error where one is right.
fn calls(packages: &Path) -> Result<Vec<(String, Value, Option<String>)>> {
    let listed: Vec<Vec<Value>> = serde_json::from_slice(&fs::read(packages.join("calls.json"))?)?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let one = |call: Vec<Value>| {
        let arguments = call.get(1).context("a call has arguments")?;
        let name = text(call.first()).context("a call has a name")?;
        Ok((name, arguments.clone(), text(call.get(2))))
    };
    listed.into_iter().map(one).collect()
}

/// A folder with the scripts and the packages of the Node registry, a Node that is new enough for
/// them included.
fn packages() -> Result<PathBuf> {
    let folder = target("clients-node");
    fs::create_dir_all(&folder).context("making a folder for packages")?;
    for file in fs::read_dir(root().join(TESTS))? {
        let file = file?;
        fs::copy(file.path(), folder.join(file.file_name())).context("copying the scripts")?;
    }
    let quiet = ["install", "--silent", "--no-audit", "--no-fund"];
    run(command("npm").args(quiet).current_dir(&folder)).context("npm is needed")?;
    Ok(folder)
}

/// A small repository with a change in it.
fn repository(name: &str) -> Result<PathBuf> {
    let folder = target("clients-repositories").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).context("removing the last repository")?;
    }
    fs::create_dir_all(folder.join("src")).context("making a repository")?;
    fs::write(folder.join("src/lib.rs"), "pub fn one() -> u32 {\n    1\n}\n")?;
    let git = |arguments: &[&str]| {
        let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        run(command("git").args(who).args(arguments).current_dir(&folder))
    };
    git(&["init", "--quiet"])?;
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "-m", "start"])?;
    fs::write(folder.join("src/two.rs"), "pub fn two() -> u32 {\n    2\n}\n")?;
    Ok(folder)
}

/// A server on HTTP that ends with the test.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    fn start(quorum: &Path, repository: &Path) -> Result<Self> {
        let mut server = command(&text(quorum));
        server.args(["mcp", "--http", "127.0.0.1:0"]).env("MCP_SERVER_TOKEN", TOKEN);
        server.current_dir(repository).stderr(Stdio::piped());
        let mut child = server.spawn().context("starting the server")?;
        let notices = child.stderr.take().context("it says where it listens")?;
        let said = BufReader::new(notices).lines().next().context("it says nothing")??;
        let url = said.split_whitespace().last().unwrap_or_default().to_owned();
        Ok(Self { child, url })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
