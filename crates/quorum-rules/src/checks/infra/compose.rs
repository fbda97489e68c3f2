//! Compose files.

use quorum_model::severity::Severity;

use super::Report;
use super::outline;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    for entry in outline::entries(file.text()) {
        if !entry.is_in("services") {
            continue;
        }
        let in_list =
            |name: &str| entry.key == name || entry.path.last().is_some_and(|above| above == name);
        let text = format!("{}:{}", entry.key, entry.value);
        let found = match entry.key.as_str() {
            "privileged" if entry.value == "true" => Some((
                "compose.privileged",
                Severity::High,
                "The container is privileged: it can do on the host whatever root can.",
            )),
            "network_mode" | "pid" | "ipc" if entry.value == "host" => Some((
                "compose.host-access",
                Severity::Medium,
                "The container shares a namespace with the host, and sees what runs there.",
            )),
            _ if in_list("volumes") && text.contains("docker.sock") => Some((
                "compose.host-access",
                Severity::Medium,
                "The container can talk to the container engine, which is as good as root on the host.",
            )),
            _ if in_list("cap_add") && (entry.value == "ALL" || entry.value == "SYS_ADMIN") => {
                Some((
                    "compose.privileged",
                    Severity::High,
                    "The container gets capabilities that are as good as root on the host.",
                ))
            }
            _ => None,
        };
        if let Some((id, severity, issue)) = found {
            findings.push(
                Report {
                    id,
                    category: "misconfig",
                    severity,
                    confidence: 0.7,
                    cwe: "CWE-250",
                    issue: issue.to_owned(),
                    advice: "Remove it, or say in a comment why this service needs it.",
                }
                .on(file, entry.line),
            );
        }
    }
}
