//! Every way out of the machine is on a list that docs/privacy.md speaks of.

use std::path::{Path, PathBuf};

/// What opens a connection, listens for one, or starts a program.
const WAYS: &[&str] = &[
    "Client::builder(",
    "reqwest::Client::new(",
    "reqwest::get(",
    "TcpStream::",
    "TcpListener::",
    "UdpSocket::",
    "UnixStream::",
    "UnixListener::",
    "Command::new(",
    "axum::serve(",
    // Asking for the address of a name tells somebody that name.
    "lookup_host(",
    "to_socket_addrs(",
    "getaddrinfo",
    "posix_spawn",
    "execve(",
    "CommandExt",
];

/// Each place that does, with what docs/privacy.md says about it.
const KNOWN: &[(&str, &str)] = &[
    ("quorum-dispatch/src/llm/canary.rs", "nothing"), // A planted defect: text, never run.
    ("quorum-forge/src/download.rs", "`quorum advisories update`"),
    ("quorum-forge/src/http.rs", "`--pr N`"),
    ("quorum-gates/src/missing.rs", "nothing"), // Words of programs that had no network.
    ("quorum-gates/src/sandbox.rs", "gates, with `gates.network`"),
    ("quorum-gates/src/sandbox/linux.rs", "gates, with `gates.network`"),
    ("quorum-gates/src/sandbox/linux/wrapped.rs", "gates, with `gates.network`"),
    ("quorum-gates/src/sandbox/other.rs", "gates, with `gates.network`"),
    ("quorum-index/src/embed/endpoint.rs", "`embeddings.url`"),
    ("quorum-llm/src/command.rs", "`--provider command`"),
    ("quorum-llm/src/http.rs", "`--provider anthropic`"),
    ("quorum-mcp/src/http.rs", "`quorum mcp --http`"),
    ("quorum-scope/src/git.rs", "| git"),
    ("quorum/src/browser.rs", "`quorum report --open`"),
    ("quorum-engine/src/looping/developer.rs", "`quorum loop --develop PROGRAM`"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_test = name == "tests" || name == "tests.rs" || name == "benches";
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !is_test {
            found.push(path);
        }
    }
}

/// The part of a module that is not its tests.
fn without_tests(text: &str) -> &str {
    text.split_once("\n#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code)
}

#[test]
fn every_way_out_is_in_the_document_about_privacy() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates' folder");
    let document = crates.parent().expect("the root").join("docs/privacy.md");
    let document = std::fs::read_to_string(document).expect("the document");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).expect("a folder").flatten() {
        // A server for tests alone is no part of the program.
        if entry.file_name() != "quorum-testkit" && entry.path().join("src").is_dir() {
            sources(&entry.path().join("src"), &mut files);
        }
    }
    let mut unknown = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        if !WAYS.iter().any(|way| without_tests(&text).contains(way)) {
            continue;
        }
        let name = file.strip_prefix(crates).expect("inside").display().to_string();
        match KNOWN.iter().find(|(known, _)| *known == name) {
            None => unknown.push(name),
            Some((known, said)) => {
                assert!(document.contains(said), "docs/privacy.md does not speak of {said}");
                seen.insert(*known);
            }
        }
    }
    assert_eq!(unknown, [""; 0], "name them in docs/privacy.md, and here");
    let gone: Vec<_> = KNOWN.iter().filter(|(known, _)| !seen.contains(known)).collect();
    assert!(gone.is_empty(), "{gone:?} is on the list and not there");
}
