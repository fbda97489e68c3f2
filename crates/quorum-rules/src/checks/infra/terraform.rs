//! Cloud resources in Terraform's language.

use quorum_model::severity::Severity;

use super::Report;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// A block with its own attributes.
#[derive(Default)]
struct Block {
    /// Such as `resource aws_s3_bucket`, or `ingress` within one.
    header: String,
    attributes: Vec<(u64, String, String)>,
}

impl Block {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(_, key, _)| key == name).map(|(_, _, value)| value.as_str())
    }
}

pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    for block in blocks(file.text()) {
        for (line, key, value) in &block.attributes {
            if let Some((id, severity, issue, advice)) = judge(&block, key, value) {
                let cwe = if id == "terraform.unencrypted" { "CWE-311" } else { "CWE-284" };
                let report = Report {
                    id,
                    category: "misconfig",
                    severity,
                    confidence: 0.75,
                    cwe,
                    issue: issue.to_owned(),
                    advice,
                };
                findings.push(report.on(file, *line));
            }
        }
    }
}

/// Blocks by their braces; lists that go over several lines are joined.
fn blocks(text: &str) -> Vec<Block> {
    let (mut done, mut open): (Vec<Block>, Vec<Block>) = (Vec::new(), Vec::new());
    let mut list: Option<(u64, String, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split(" #").next().unwrap_or(line).trim();
        if code.is_empty() || code.starts_with('#') || code.starts_with("//") {
            continue;
        }
        if let Some((first, key, mut value)) = list.take() {
            value.push_str(code);
            if code.contains(']') {
                if let Some(block) = open.last_mut() {
                    block.attributes.push((first, key, value));
                }
            } else {
                list = Some((first, key, value));
            }
            continue;
        }
        let assigned = code.split_once('=').filter(|(key, _)| {
            key.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_\"-".contains(&byte))
        });
        if let Some((key, value)) =
            assigned.filter(|_| !code.ends_with('{') || code.contains("= {"))
        {
            let (key, value) = (key.trim().trim_matches('"').to_owned(), value.trim().to_owned());
            if value.starts_with('[') && !value.contains(']') {
                list = Some((number, key, value));
            } else if value.ends_with('{') || value.ends_with("({") {
                open.push(Block { header: key, attributes: Vec::new() });
            } else if let Some(block) = open.last_mut() {
                block.attributes.push((number, key, value));
            }
        } else if code.ends_with('{') {
            let header = code.trim_end_matches(['{', ' ']).replace('"', "");
            open.push(Block { header, attributes: Vec::new() });
        } else if code.starts_with('}')
            && let Some(block) = open.pop()
        {
            done.push(block);
        }
    }
    done.extend(open);
    done
}

type Found = (&'static str, Severity, &'static str, &'static str);

fn judge(block: &Block, key: &str, value: &str) -> Option<Found> {
    let bare = value.trim_matches('"');
    match key {
        "acl" if bare.starts_with("public-read") => Some((
            "terraform.public-storage",
            Severity::High,
            "Everybody on the internet can read what is stored here.",
            "Use a private bucket, and hand out single objects by signed address or through a distribution.",
        )),
        "block_public_acls"
        | "block_public_policy"
        | "ignore_public_acls"
        | "restrict_public_buckets"
            if bare == "false" =>
        {
            Some((
                "terraform.public-storage",
                Severity::Medium,
                "The bucket's protection against being made public is switched off.",
                "Leave it on; buckets that must be public deserve a file of their own and a comment.",
            ))
        }
        "publicly_accessible" if bare == "true" => Some((
            "terraform.public-database",
            Severity::High,
            "The database has an address on the internet.",
            "Keep it in a private network, and reach it through that.",
        )),
        "cidr_blocks"
        | "ipv6_cidr_blocks"
        | "cidr_ipv4"
        | "cidr_ipv6"
        | "source_ranges"
        | "source_address_prefix"
            if is_everybody(value) =>
        {
            ingress(block, key)
        }
        "encrypted"
        | "storage_encrypted"
        | "encrypt_at_rest"
        | "at_rest_encryption_enabled"
        | "transit_encryption_enabled"
        | "enable_https_traffic_only"
            if bare == "false" =>
        {
            Some((
                "terraform.unencrypted",
                Severity::Medium,
                "Encryption is switched off for this resource.",
                "Switch it on; for most resources this can only be done when they are made.",
            ))
        }
        "Action" | "actions" | "NotAction" if is_star(value) && allows(block) => {
            let everything =
                block.get("Resource").or_else(|| block.get("resources")).is_some_and(is_star);
            everything.then_some((
                "terraform.wildcard-policy",
                Severity::High,
                "The policy allows every action on every resource.",
                "Name the actions and resources that are needed.",
            ))
        }
        "min_tls_version" | "minimum_tls_version" | "minimum_protocol_version"
            if ["TLS1_0", "1.0", "TLSv1", "TLS1_1", "1.1", "SSLv3", "TLSv1_2016"]
                .contains(&bare) =>
        {
            Some((
                "terraform.old-tls",
                Severity::Medium,
                "Connections with outdated versions of TLS are accepted.",
                "Require TLS 1.2 or later.",
            ))
        }
        _ => None,
    }
}

fn is_everybody(value: &str) -> bool {
    value.contains("\"0.0.0.0/0\"")
        || value.contains("\"::/0\"")
        || value == "\"*\""
        || value == "\"Internet\""
}

fn is_star(value: &str) -> bool {
    matches!(value.trim_matches(['[', ']', ' ', ',']), "\"*\"" | "\"*:*\"")
}

fn allows(block: &Block) -> bool {
    let effect = block.get("Effect").or_else(|| block.get("effect"));
    effect.is_none_or(|effect| effect.trim_matches('"') == "Allow")
}

/// Ports that are meant for everybody are left alone.
fn ingress(block: &Block, key: &str) -> Option<Found> {
    let header = block.header.as_str();
    let inbound = header.ends_with("ingress")
        || header.contains("ingress_rule")
        || block.get("type") == Some("\"ingress\"")
        || key == "source_ranges"
        || (key == "source_address_prefix"
            && block.get("access") != Some("\"Deny\"")
            && block.get("direction") != Some("\"Outbound\""));
    let port = block.get("from_port").or_else(|| block.get("destination_port_range"));
    let port = port.map(|port| port.trim_matches('"'));
    if !inbound || matches!(port, Some("80" | "443" | "8080" | "8443")) {
        return None;
    }
    let sensitive = ["0", "22", "3389", "3306", "5432", "6379", "27017", "9200", "1433", "*", "-1"];
    let severity = match port {
        Some(port) if sensitive.contains(&port) => Severity::High,
        _ => Severity::Medium,
    };
    Some((
        "terraform.open-to-everybody",
        severity,
        "The port is open to the whole internet.",
        "Allow the addresses that need it, or go through a gateway.",
    ))
}
