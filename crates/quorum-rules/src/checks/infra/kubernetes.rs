//! Manifests of Kubernetes.

use quorum_model::severity::Severity;

use super::Report;
use super::outline::{self, Entry};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let entries = outline::entries(file.text());
    for (at, entry) in entries.iter().enumerate() {
        if let Some((severity, issue, advice)) = judge(entry, &entries, at) {
            findings.push(
                Report {
                    id: rule(entry),
                    category: "misconfig",
                    severity,
                    confidence: 0.75,
                    cwe: "CWE-250",
                    issue: issue.to_owned(),
                    advice,
                }
                .on(file, entry.line),
            );
        }
    }
}

fn rule(entry: &Entry) -> &'static str {
    match entry.key.as_str() {
        "privileged" | "allowPrivilegeEscalation" => "kubernetes.privileged",
        "hostNetwork" | "hostPID" | "hostIPC" | "path" => "kubernetes.host-access",
        "runAsUser" | "runAsNonRoot" => "kubernetes.runs-as-root",
        "name" | "verbs" | "resources" => "kubernetes.broad-role",
        _ => "kubernetes.capability",
    }
}

type Found = (Severity, &'static str, &'static str);

fn judge(entry: &Entry, entries: &[Entry], at: usize) -> Option<Found> {
    let advice = "Remove it, or say in a comment why this workload needs it.";
    match (entry.key.as_str(), entry.value.as_str()) {
        ("privileged", "true") => Some((
            Severity::High,
            "The container is privileged: it can do on the node whatever root can.",
            "Drop `privileged`, and add the single capability that is needed.",
        )),
        ("allowPrivilegeEscalation", "true") => Some((
            Severity::Low,
            "A process in the container may gain more rights than its parent.",
            "Set `allowPrivilegeEscalation: false`.",
        )),
        ("hostNetwork" | "hostPID" | "hostIPC", "true") => Some((
            Severity::Medium,
            "The pod shares a namespace with its node. It sees what other pods and the node do.",
            advice,
        )),
        ("path", path) if entry.path.last().is_some_and(|above| above == "hostPath") => {
            let all = matches!(
                path,
                "/" | "/etc" | "/root" | "/var/run/docker.sock" | "/var/run" | "/proc"
            ) || path.contains("docker.sock")
                || path.contains("containerd.sock");
            Some(if all {
                (
                    Severity::High,
                    "The pod mounts a part of the node that gives control over it.",
                    "Use a volume of the cluster's instead of the node's files.",
                )
            } else {
                (
                    Severity::Low,
                    "The pod mounts a folder of its node: its data depends on where it runs, and it can change files \
                     of the node.",
                    "Use a volume of the cluster's instead of the node's files.",
                )
            })
        }
        ("runAsUser", "0") | ("runAsNonRoot", "false") => Some((
            Severity::Medium,
            "The container is made to run as root.",
            "Run it as a user of its own, with `runAsNonRoot: true`.",
        )),
        ("" | "add", value) if entry.is_in("capabilities") || entry.key == "add" => {
            let added = entry.key == "add" || entry.path.last().is_some_and(|above| above == "add");
            let broad = ["ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE"]
                .iter()
                .any(|name| value.split([',', '[', ']', ' ', '"', '\'']).any(|word| word == *name));
            (added && broad && entry.is_in("capabilities")).then_some((
                Severity::High,
                "The container gets capabilities that are as good as root on the node.",
                "Drop all capabilities, and add only the one that is needed.",
            ))
        }
        ("name", "cluster-admin") if entry.path.last().is_some_and(|above| above == "roleRef") => {
            Some((
                Severity::High,
                "The account may do everything in the whole cluster.",
                "Bind a role that names the verbs and resources that it needs.",
            ))
        }
        ("verbs", value) if value.contains('*') => {
            let rule = entries[at.saturating_sub(4)..entries.len().min(at + 4)].iter();
            let all =
                rule.filter(|near| near.key == "resources").any(|near| near.value.contains('*'));
            all.then_some((
                Severity::High,
                "The role allows every verb on every resource.",
                "Name the verbs and resources that are needed.",
            ))
        }
        _ => None,
    }
}
