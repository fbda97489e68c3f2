//! The MCP server in the hands of clients that are not ours.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, Result};

use crate::readers::{python_with, ready, target, text};
use crate::{command, output, root, run};

/// Where the scripts and what they need are.
const TESTS: &str = "crates/quorum-mcp/tests/clients";
const TOKEN: &str = "a-token-for-this-test-alone";

/// Lists and calls every tool with the official Python and TypeScript clients and the inspector.
pub(crate) fn check(required: bool) -> Result<()> {
    let set_up = || -> Result<(PathBuf, PathBuf)> {
        Ok((python_with("clients", &root().join(TESTS).join("requirements.txt"))?, node()?))
    };
    let Some((python, node)) = ready(set_up(), required)? else { return Ok(()) };
    crate::cargo(["build", "--quiet", "--locked", "-p", "quorum"], &[])?;
    let quorum = target("debug").join("quorum");
    let calls = fs::canonicalize(root().join(TESTS).join("calls.json"))?;
    for (name, program, script) in
        [("python", text(&python), "check.py"), ("node", "node".to_owned(), "check.mjs")]
    {
        let repository = repository(name)?;
        let server = Listening::start(&quorum, &repository)?;
        let script =
            if name == "node" { node.join(script) } else { root().join(TESTS).join(script) };
        let script = fs::canonicalize(script)?;
        let mut check = command(&program);
        check.arg(script).args([&quorum, &repository, &calls]).args([&server.url, TOKEN]);
        run(&mut check)?;
    }
    inspect(&node, &quorum)
}

/// The inspector's command line lists the tools and calls one.
fn inspect(node: &Path, quorum: &Path) -> Result<()> {
    let repository = repository("inspector")?;
    let inspector = node.join("node_modules/.bin/mcp-inspector");
    let call =
        ["--method", "tools/call", "--tool-name", "semantic_search", "--tool-arg", "query=one"];
    for arguments in [&["--method", "tools/list"] as &[&str], &call] {
        let mut inspector = command(&text(&inspector));
        inspector.arg("--cli").arg(quorum).arg("mcp").args(arguments).current_dir(&repository);
        let said = String::from_utf8_lossy(&output(&mut inspector)?).into_owned();
        anyhow::ensure!(said.contains("semantic_search") || said.contains("src/lib.rs"), "{said}");
    }
    println!("inspector: tools listed and called");
    Ok(())
}

/// A folder with the packages of the Node registry.
fn node() -> Result<PathBuf> {
    let folder = target("clients-node");
    fs::create_dir_all(&folder).context("making a folder for packages")?;
    for name in ["package.json", "check.mjs"] {
        fs::copy(root().join(TESTS).join(name), folder.join(name))
            .with_context(|| format!("copying {name}"))?;
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
