//! The same tree gives the same findings, however it is named. The host is a stand-in: the real one
//! needs a network and an account.

use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::sandbox::{Sandbox, text};

const INJECTED: &str = "import subprocess\n\nfrom flask import request\n\n\ndef run():\n    \
                        subprocess.run(request.args[\"c\"], shell=True)\n";

/// A branch with a defect in every place that could make two scopes differ.
fn branch() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/old_name.py", format!("# A file that moves.\n\n{INJECTED}"));
    sandbox.write("src/accepted.py", INJECTED.replace("run():", "accepted():"));
    sandbox.write("src/gone.py", "def gone():\n    return 1\n");
    sandbox.write("quorum.toml", "fail_on = \"medium\"\n");
    sandbox.commit("the base");
    // A defect that the team accepted, by its word at the base.
    let found = review(&sandbox, &["src/accepted.py", "--agents", "security"]).1;
    let id = found["findings"][0]["id"].as_str().expect("a finding").to_owned();
    let told = sandbox.quorum(&["dismiss", &id, "--reason", "internal", "--shared"]);
    assert!(told.status.success(), "{}", text(&told.stderr));
    sandbox.git(&["add", "--force", ".quorum/dismissed.toml"]);
    sandbox.commit("the team's word");
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    sandbox.git(&["mv", "src/old_name.py", "src/new_name.py"]);
    sandbox.git(&["rm", "--quiet", "src/gone.py"]);
    let moved = format!("# A file that moved.\n\n{INJECTED}    print(request.args)\n");
    sandbox.write("src/new_name.py", moved);
    let touched = INJECTED.replace("run():", "accepted():");
    sandbox.write("src/accepted.py", format!("{touched}    print(1)\n"));
    sandbox.write("src/app_pb2.py", format!("# @generated\n{INJECTED}"));
    let ignored = "  # quorum:ignore[command-injection] of our own";
    sandbox
        .write("src/ignored.py", INJECTED.replace("shell=True)", &format!("shell=True){ignored}")));
    sandbox.write("data.bin", [0_u8, 159, 146, 150, 0, 1, 2, 3, 255, 254, 0, 7]);
    sandbox.write("quorum.toml", "fail_on = \"critical\"\nagents = [\"documentation\"]\n");
    let many: Vec<String> = (0..3_000).map(|line| format!("x{line} = {line}\n")).collect();
    sandbox.write("src/large.py", format!("{}{INJECTED}", many.concat()));
    sandbox.commit("the change");
    sandbox
}

fn review(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    parsed(&sandbox.quorum(&[&["review", "--format", "json"], arguments].concat()))
}

fn parsed(output: &std::process::Output) -> (i32, Value) {
    let code = output.status.code().expect("it was not killed");
    let result = serde_json::from_slice(&output.stdout);
    (code, result.unwrap_or_else(|_| panic!("{}", text(&output.stderr))))
}

/// Everything that a reader or a program concludes from, without what names the run and the scope.
fn essence((code, result): &(i32, Value)) -> Value {
    let mut kept = json!({ "code": code });
    for key in ["verdict", "reasons", "findings", "suppressed", "not_agreed", "coverage", "sops"] {
        kept[key] = result[key].clone();
    }
    // The commands name the scope, and states the reviews before this one.
    let coverage = kept["coverage"]["gaps"].as_array_mut();
    for gap in coverage.into_iter().flatten() {
        gap["command"] = Value::Null;
    }
    for key in ["findings", "suppressed"] {
        for finding in kept[key].as_array_mut().into_iter().flatten() {
            finding["state"] = Value::Null;
        }
    }
    kept
}

#[tokio::test]
async fn a_pull_request_and_its_branch_have_the_same_findings() {
    let sandbox = branch();
    let rev = |name: &str| sandbox.git(&["rev-parse", name]).trim().to_owned();
    let (base, head) = (rev("main"), rev("feature"));
    let server = MockServer::start().await;
    let repository = json!({ "id": 1, "full_name": "team/app" });
    let about = json!({
        "number": 7, "title": "Add it", "body": "", "state": "open", "html_url": "https://example.org/7",
        "user": { "login": "dev" }, "labels": [], "changed_files": 8,
        "base": { "ref": "main", "sha": base, "repo": repository },
        "head": { "ref": "feature", "sha": head, "repo": repository },
    });
    Mock::given(method("GET"))
        .and(path("/repos/team/app/pulls/7"))
        .respond_with(ResponseTemplate::new(200).set_body_json(about))
        .mount(&server)
        .await;
    let scopes: [&[&str]; 3] =
        [&["--base", "main"], &["--range", "main...feature"], &["--pr", "7"]];
    let reviews = scopes.map(|scope| {
        let arguments = [&["review", "--format", "json"], scope].concat();
        let output = sandbox.quorum_with(&arguments, |command| {
            command.env("GITHUB_API_URL", server.uri()).env("GITHUB_REPOSITORY", "team/app");
        });
        essence(&parsed(&output))
    });
    let [by_base, by_range, by_request] = &reviews;
    let found = by_base["findings"].to_string();
    for file in ["new_name.py", "app_pb2.py", "ignored.py", "large.py"] {
        assert!(found.contains(file), "{file}: {by_base:#}");
    }
    assert!(!found.contains("accepted.py"), "{by_base:#}");
    assert!(by_base["reasons"].to_string().contains("data.bin is unreadable"), "{by_base:#}");
    assert_eq!(by_base["code"], 1);
    assert_eq!(by_base, by_range);
    assert_eq!(by_base, by_request);
}

#[test]
fn no_format_and_no_length_changes_what_is_decided() {
    const FINDINGS: usize = 120;
    let sandbox = Sandbox::new();
    let lines: Vec<String> = (0..FINDINGS)
        .map(|line| format!("    subprocess.run(request.args[\"c{line}\"], shell=True)\n"))
        .collect();
    let start = "import subprocess\n\nfrom flask import request\n\n\ndef run():\n";
    sandbox.write("src/run.py", format!("{start}{}", lines.concat()));
    let (code, result) = review(&sandbox, &["--agents", "security"]);
    let count = |value: &Value| value.as_array().map(Vec::len);
    assert_eq!((code, count(&result["findings"])), (1, Some(FINDINGS)));
    for format in ["terminal", "markdown", "html", "sarif", "junit", "gitlab", "rdjsonl", "github"]
    {
        let output = sandbox.quorum(&["review", "--agents", "security", "--format", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        let page = text(&output.stdout);
        let named = match format {
            "sarif" => {
                let document: Value = serde_json::from_str(&page).expect("JSON");
                count(&document["runs"][0]["results"])
            }
            "gitlab" => count(&serde_json::from_str(&page).expect("JSON")),
            "rdjsonl" => Some(page.lines().count()),
            // The verdict is a case of its own.
            "junit" => Some(page.matches("<failure").count() - 1),
            _ => continue,
        };
        assert_eq!(named, Some(FINDINGS), "{format}");
    }
}
