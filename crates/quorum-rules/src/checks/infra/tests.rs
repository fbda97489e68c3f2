//! Files as people write them.

use std::collections::BTreeMap;

use quorum_model::scope::{Change, FileEntry, FileKind};

use super::*;
use crate::source::{LineSet, SourceFile};

fn found(path: &str, text: &str) -> Vec<String> {
    let file = ParsedFile::new(SourceFile {
        entry: FileEntry {
            path: path.into(),
            old_path: None,
            change: Change::Added,
            language: None,
            kind: FileKind::Config,
            tokens: 0,
            flags: Vec::new(),
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        },
        head: Some(text.into()),
        base: None,
        added: None,
        removed: LineSet::default(),
    });
    let mut findings = Vec::new();
    check(&file, &mut findings);
    findings
        .iter()
        .map(|found| format!("{}:{} {}", found.rule, found.line, found.severity.as_str()))
        .collect()
}

#[test]
fn a_commit_in_quotes_is_a_commit() {
    let pinned = "jobs:\n  a:\n    steps:\n      - uses: \"o/x@ed0c53931b1dc9bd32cbe73a98c7f6766f8a527e\" # v1\n";
    assert!(found(".github/workflows/ci.yml", pinned).is_empty());
    assert_eq!(
        found(
            ".github/workflows/ci.yml",
            &pinned.replace("ed0c53931b1dc9bd32cbe73a98c7f6766f8a527e", "v1")
        ),
        ["workflow.unpinned-action:4 LOW"]
    );
}

#[test]
fn workflows() {
    let path = ".github/workflows/ci.yml";
    let bad = "on:\n  pull_request_target:\npermissions: write-all\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{ github.event.pull_request.head.sha }}\n      - uses: other/thing@v1\n      - run: |\n          echo \"${{ github.event.pull_request.title }}\"\n          make\n      - run: echo ${{ secrets.KEY }}\n";
    assert_eq!(
        found(path, bad),
        [
            "workflow.broad-permissions:3 MEDIUM",
            "workflow.untrusted-checkout:9 HIGH",
            "workflow.script-injection:12 HIGH",
            "workflow.secret-printed:14 MEDIUM",
            "workflow.unpinned-action:10 LOW",
        ]
    );
    let good = "on:\n  pull_request:\npermissions:\n  contents: read\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - uses: other/thing@0123456789012345678901234567890123456789 # v1\n      - env:\n          TITLE: ${{ github.event.pull_request.title }}\n        run: echo \"$TITLE\" ${{ github.sha }} ${{ github.event.pull_request.number }}\n";
    assert_eq!(found(path, good), [""; 0]);
}

#[test]
fn images() {
    let bad = "FROM node\nENV API_TOKEN=q8Zr2LxK9vTf\nADD https://h/x /x\nRUN curl -sSL https://h/i \\\n  | bash\nUSER root\nCMD [\"x\"]\n";
    assert_eq!(
        found("Dockerfile", bad),
        [
            "docker.floating-base-image:1 LOW",
            "docker.secret-in-image:2 HIGH",
            "docker.add-from-network:3 LOW",
            "docker.script-from-network:4 MEDIUM",
            "docker.runs-as-root:6 MEDIUM",
        ]
    );
    let good = "ARG V=1\nFROM node:20 AS build\nENV API_TOKEN=$TOKEN PATH=/x\nRUN curl -o x https://h/i && sha256sum -c x\nFROM build\nUSER app\nCMD [\"x\"]\n";
    assert_eq!(found("docker/app.Dockerfile", good), [""; 0]);
}

#[test]
fn clusters() {
    let bad = "apiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: true\n  containers:\n    - name: a\n      securityContext:\n        privileged: true\n        runAsUser: 0\n        capabilities:\n          add: [\"SYS_ADMIN\"]\n  volumes:\n    - name: v\n      hostPath:\n        path: /var/run/docker.sock\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nroleRef:\n  name: cluster-admin\n";
    assert_eq!(
        found("k8s/pod.yaml", bad),
        [
            "kubernetes.host-access:4 MEDIUM",
            "kubernetes.privileged:8 HIGH",
            "kubernetes.runs-as-root:9 MEDIUM",
            "kubernetes.capability:11 HIGH",
            "kubernetes.host-access:15 HIGH",
            "kubernetes.broad-role:20 HIGH",
        ]
    );
    let good = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: cluster-admin\n      securityContext:\n        privileged: false\n        capabilities:\n          drop: [\"ALL\"]\n          add: [\"NET_BIND_SERVICE\"]\n";
    assert_eq!(found("k8s/pod.yaml", good), [""; 0]);
    assert_eq!(found("values.yaml", "privileged: true\n"), [""; 0]);
    let compose = "services:\n  a:\n    privileged: true\n    volumes:\n      - /var/run/docker.sock:/var/run/docker.sock\n";
    assert_eq!(
        found("docker-compose.yml", compose),
        ["compose.privileged:3 HIGH", "compose.host-access:5 MEDIUM"]
    );
}

#[test]
fn resources() {
    let bad = "resource \"aws_s3_bucket\" \"b\" {\n  acl = \"public-read\"\n}\nresource \"aws_security_group\" \"g\" {\n  ingress {\n    from_port = 22\n    cidr_blocks = [\n      \"0.0.0.0/0\",\n    ]\n  }\n  egress {\n    from_port = 0\n    cidr_blocks = [\"0.0.0.0/0\"]\n  }\n}\nresource \"aws_db_instance\" \"d\" {\n  publicly_accessible = true\n  storage_encrypted   = false\n}\ndata \"aws_iam_policy_document\" \"p\" {\n  statement {\n    actions   = [\"*\"]\n    resources = [\"*\"]\n  }\n}\n";
    let mut all = found("main.tf", bad);
    all.sort();
    assert_eq!(
        all,
        [
            "terraform.open-to-everybody:7 HIGH",
            "terraform.public-database:17 HIGH",
            "terraform.public-storage:2 HIGH",
            "terraform.unencrypted:18 MEDIUM",
            "terraform.wildcard-policy:22 HIGH",
        ]
    );
    let good = "resource \"aws_security_group\" \"g\" {\n  ingress {\n    from_port = 443\n    cidr_blocks = [\"0.0.0.0/0\"]\n  }\n  ingress {\n    from_port = 22\n    cidr_blocks = [\"10.0.0.0/8\"]\n  }\n}\ndata \"aws_iam_policy_document\" \"p\" {\n  statement {\n    actions   = [\"s3:GetObject\"]\n    resources = [\"*\"]\n  }\n}\n";
    assert_eq!(found("main.tf", good), [""; 0]);
}
