//! Files that images are built from.

use quorum_model::severity::Severity;

use super::Report;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// One instruction with the line that it starts on.
struct Instruction {
    line: u64,
    name: String,
    rest: String,
}

pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let all = instructions(file.text());
    let stages: Vec<String> =
        all.iter().filter(|one| one.name == "FROM").filter_map(stage).collect();
    for one in &all {
        let report = match one.name.as_str() {
            "FROM" => base(one, &stages),
            "ADD" if one.rest.split_whitespace().any(|word| word.starts_with("http")) => Some((
                "docker.add-from-network",
                Severity::Low,
                "`ADD` fetches a file at build time, without a check of what comes.",
                "Fetch it with a tool that verifies a checksum (`ADD --checksum=…` does), or copy it from the context.",
            ))
            .filter(|_| !one.rest.contains("--checksum")),
            "RUN" => run(one),
            "ENV" | "ARG" => secret(one),
            _ => None,
        };
        if let Some((id, severity, issue, advice)) = report {
            let category = if id == "docker.secret-in-image" { "secrets" } else { "supply-chain" };
            findings.push(
                Report {
                    id,
                    category,
                    severity,
                    confidence: 0.65,
                    cwe: if category == "secrets" { "CWE-798" } else { "CWE-829" },
                    issue: issue.to_owned(),
                    advice,
                }
                .on(file, one.line),
            );
        }
    }
    user(file, &all, findings);
}

type Found = (&'static str, Severity, &'static str, &'static str);

fn instructions(text: &str) -> Vec<Instruction> {
    let mut all: Vec<Instruction> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with('#') || trimmed.is_empty() {
            continue;
        }
        let (body, continues) =
            trimmed.strip_suffix('\\').map_or((trimmed, false), |body| (body, true));
        if goes_on {
            if let Some(last) = all.last_mut() {
                last.rest.push(' ');
                last.rest.push_str(body);
            }
        } else {
            let (name, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
            let name = name.to_ascii_uppercase();
            all.push(Instruction { line: number, name, rest: rest.trim().to_owned() });
        }
        goes_on = continues;
    }
    all
}

/// The name that a stage gives itself.
fn stage(from: &Instruction) -> Option<String> {
    let words: Vec<&str> = from.rest.split_whitespace().collect();
    let named = words.iter().position(|word| word.eq_ignore_ascii_case("as"))?;
    words.get(named + 1).map(|name| name.to_ascii_lowercase())
}

fn base(from: &Instruction, stages: &[String]) -> Option<Found> {
    let image = from.rest.split_whitespace().find(|word| !word.starts_with("--"))?;
    let own = stages.iter().any(|stage| *stage == image.to_ascii_lowercase());
    if own || image == "scratch" || image.contains('$') || image.contains('@') {
        return None;
    }
    let name = image.rsplit('/').next().unwrap_or(image);
    let floating = !name.contains(':') || name.ends_with(":latest");
    floating.then_some((
        "docker.floating-base-image",
        Severity::Low,
        "The base image has no fixed version. Two builds of the same commit can give different images.",
        "Name a version, and the digest where builds must be repeatable.",
    ))
}

fn run(one: &Instruction) -> Option<Found> {
    let script = one.rest.to_ascii_lowercase();
    let fetches = script.contains("curl ") || script.contains("wget ");
    let piped =
        ["| sh", "|sh", "| bash", "|bash", "| sudo", "| python", "| node", "bash <(", "| zsh"]
            .iter()
            .any(|end| script.contains(end));
    let unverified = [
        "--no-check-certificate",
        "curl -k ",
        "--insecure",
        "--allow-unauthenticated",
        "--trusted-host",
    ]
    .iter()
    .any(|flag| script.contains(flag));
    if fetches && piped {
        Some((
            "docker.script-from-network",
            Severity::Medium,
            "A script from the network is run as it comes. Whoever controls the address controls the image.",
            "Fetch the script to a file, verify its checksum or signature, then run it; or install a package.",
        ))
    } else if unverified {
        Some((
            "docker.unverified-download",
            Severity::Medium,
            "Something is fetched with verification switched off. Anyone on the way can replace it.",
            "Leave verification on; install the missing certificate or key instead.",
        ))
    } else if script.contains("chmod 777")
        || script.contains("chmod -r 777")
        || script.contains("chmod a+rwx")
    {
        Some((
            "docker.world-writable",
            Severity::Low,
            "Files of the image can be changed by every user in it.",
            "Give write access to the one user that needs it (`chown`, `chmod u+w`).",
        ))
    } else {
        None
    }
}

/// A secret that becomes part of the image, whoever can pull it.
fn secret(one: &Instruction) -> Option<Found> {
    let pair = one.rest.split_once('=').or_else(|| one.rest.split_once(char::is_whitespace));
    let (name, value) = pair?;
    let upper = name.trim().to_ascii_uppercase();
    let telling =
        ["PASSWORD", "PASSWD", "SECRET", "TOKEN", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY"];
    let value = value.trim().trim_matches(['"', '\'']);
    let stands_for = value.len() < 6
        || value.contains('$')
        || value.starts_with('/')
        || ["change", "example", "your", "xxx", "placeholder", "dummy", "test", "none"]
            .iter()
            .any(|word| value.to_ascii_lowercase().contains(word));
    (telling.iter().any(|word| upper.ends_with(word)) && !stands_for).then_some((
        "docker.secret-in-image",
        Severity::High,
        "A secret is written into the image. Everybody who can pull the image can read it, also from earlier layers.",
        "Hand it to the container when it starts, or to the build with `RUN --mount=type=secret`.",
    ))
}

/// Whether the last stage ends as root, where it runs something.
fn user(file: &ParsedFile, all: &[Instruction], findings: &mut Vec<RuleFinding>) {
    let last = all.iter().rposition(|one| one.name == "FROM").unwrap_or(0);
    let stage = &all[last.min(all.len())..];
    let Some(user) = stage.iter().rev().find(|one| one.name == "USER") else { return };
    let runs = stage.iter().any(|one| one.name == "CMD" || one.name == "ENTRYPOINT");
    let name = user.rest.split(':').next().unwrap_or_default();
    if runs && matches!(name, "root" | "0") {
        findings.push(
            Report {
                id: "docker.runs-as-root",
                category: "misconfig",
                severity: Severity::Medium,
                confidence: 0.75,
                cwe: "CWE-250",
                issue: "The container runs as root. A flaw in the program gives an attacker everything in it, and \
                        the way out is shorter."
                    .to_owned(),
                advice: "Switch to a user of its own (`USER app`) after the steps that need root.",
            }
            .on(file, user.line),
        );
    }
}
