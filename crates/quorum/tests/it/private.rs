//! Secrets: generated while the test runs, in every kind of file, and looked for in every byte that is
//! written, printed or sent.

mod everywhere;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use quorum_testkit::{Reply, Server, Turn};
use serde_json::json;

use crate::sandbox::{Sandbox, text};

/// A small generator of its own, so that the same secrets are made everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).expect("it is small")
    }

    /// `length` characters of `alphabet`; letters and digits are always among them.
    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        loop {
            let made: String = (0..length).map(|_| letters[self.below(letters.len())]).collect();
            let digits = made.chars().filter(char::is_ascii_digit).count();
            let mixed = digits > 0 && digits < length && made.chars().any(char::is_alphabetic);
            if mixed && !made.starts_with(['-', '$', '%', '#', '@', '.']) {
                return made;
            }
        }
    }
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const BASE32: &str = "abcdefghijklmnopqrstuvwxyz234567";
const UPPER32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const MARKS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789!@#%^&*+=?~_-.";

/// What a secret is used as: under a neutral name, a password's, or within something.
enum Use {
    Token(String),
    Password(String),
    Within(String, String),
}

fn secret(chance: &mut Chance, number: usize) -> Use {
    let c = chance;
    match number % 30 {
        0 => Use::Token(format!("ghp_{}", c.of(ALNUM, 36))),
        1 => Use::Token(format!("glpat-{}", c.of(ALNUM, 20))),
        2 => Use::Token(format!(
            "xoxb-{}-{}-{}",
            c.of("0123456789a", 12),
            c.of("0123456789b", 12),
            c.of(ALNUM, 24)
        )),
        3 => Use::Token(format!("AKIA{}", c.of(UPPER32, 16))),
        4 => Use::Token(format!("sk_live_{}", c.of(ALNUM, 24))),
        5 => Use::Token(format!("npm_{}", c.of(ALNUM, 36))),
        6 => Use::Token(format!("glc_{}", c.of(ALNUM, 60))),
        7 => Use::Token(format!("ATATT3{}", c.of(ALNUM, 80))),
        8 => Use::Token(format!("SG.{}.{}", c.of(ALNUM, 22), c.of(ALNUM, 43))),
        9 => Use::Token(format!("AIza{}", c.of(ALNUM, 35))),
        10 => Use::Token(format!("hf_{}", c.of(ALNUM, 34))),
        11 => Use::Token(format!("dop_v1_{}", c.of(HEX, 64))),
        12 => Use::Token(c.of(BASE32, 52)),
        13 => Use::Token(format!("0/12345678901{}:{}", 10_000 + c.below(80_000), c.of(HEX, 32))),
        14 => Use::Token(format!("hcaik_{}", c.of(LOWER, 58))),
        15 => Use::Token(format!("ya29.{}", c.of(ALNUM, 64))),
        16 => {
            let password = c.of(ALNUM, 9);
            Use::Within(format!("root:{password}@tcp(db.corp.net:3306)/app"), password)
        }
        17 => {
            let password = c.of(ALNUM, 10);
            Use::Within(format!("postgres://app:{password}@db.corp.net:5432/app"), password)
        }
        18 => {
            let signature = c.of(ALNUM, 43);
            let address = "https://a.blob.core.windows.net/c/f?sv=2024-01-01&sp=r&sig=";
            Use::Within(format!("{address}{signature}%3D"), signature)
        }
        19 => {
            let password = c.of(ALNUM, 9);
            Use::Within(format!("sshpass -p {password} ssh deploy@host"), password)
        }
        20 => {
            let token = c.of(ALNUM, 32);
            Use::Within(format!("Authorization: Bearer {token}"), token)
        }
        21 => Use::Password(format!("hunter{}", c.below(90) + 10) + &c.of(LOWER, 3)),
        22 => Use::Password(c.of(MARKS, 12)),
        23 => Use::Password(format!("{} {} {}", c.of(LOWER, 6), c.of(LOWER, 5), c.of(LOWER, 7))),
        24 => Use::Password(format!("Winter-{}-some-test", c.of(ALNUM, 5))),
        25 => Use::Password(c.of(MARKS, 50)),
        26 => Use::Password(c.of(ALNUM, 8)),
        27 => Use::Password(format!("{}!", c.of(ALNUM, 7))),
        28 => Use::Password(c.of(HEX, 32)),
        _ => Use::Password(format!("Passw0rd{}", c.of(ALNUM, 4))),
    }
}

/// One file of each kind: its name, what comes first, a line for a name and a value, and what ends it.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("src/app.py", "import os\n", "NAME = \"VALUE\"\n", ""),
    ("src/app.ts", "", "export const NAME = \"VALUE\";\n", ""),
    ("src/app.go", "package app\n\n", "var NAME = \"VALUE\"\n", ""),
    ("src/App.java", "class App {\n", "    static final String NAME = \"VALUE\";\n", "}\n"),
    ("src/app.rb", "", "NAME = \"VALUE\"\n", ""),
    ("src/app.php", "<?php\n", "$NAME = \"VALUE\";\n", ""),
    ("src/App.cs", "class App {\n", "    const string NAME = \"VALUE\";\n", "}\n"),
    ("src/app.rs", "", "pub const NAME: &str = \"VALUE\";\n", ""),
    ("deploy/app.yaml", "app:\n", "  NAME: \"VALUE\"\n", ""),
    ("deploy/plain.yml", "app:\n", "  NAME: VALUE\n", ""),
    ("deploy/app.toml", "[app]\n", "NAME = \"VALUE\"\n", ""),
    (".env.production", "", "NAME=VALUE\n", ""),
    ("Dockerfile", "FROM debian:12\n", "ENV NAME=\"VALUE\"\n", ""),
    ("deploy/app.json", "{\n", "  \"NAME\": \"VALUE\",\n", "  \"end\": 1\n}\n"),
    ("deploy/run.sh", "#!/bin/sh\n", "export NAME='VALUE'\n", ""),
    (
        "lab/app.ipynb",
        "{\"cells\": [{\"cell_type\": \"code\", \"metadata\": {}, \"outputs\": [], \"source\": [\n",
        "\"NAME = \\\"VALUE\\\"\\n\",\n",
        "\"x = 1\"]}], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n",
    ),
    ("deploy/app.properties", "", "NAME=VALUE\n", ""),
    ("deploy/main.tf", "locals {\n", "  NAME = \"VALUE\"\n", "}\n"),
];

/// Writes 500 secrets into files of all kinds; returns them.
fn plant(sandbox: &Sandbox, count: usize) -> Vec<String> {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut planted = Vec::new();
    for number in 0..count {
        // 18 kinds and 30 uses have a common divisor: shift one against the other.
        let (path, head, line, _) = KINDS[(number + number / 30) % KINDS.len()];
        let (name, value, secret) = match secret(&mut chance, number) {
            Use::Token(token) => (format!("value_{number}"), token.clone(), token),
            Use::Password(password) => {
                (format!("db_{number}_password"), password.clone(), password)
            }
            Use::Within(value, secret) => (format!("setting_{number}"), value, secret),
        };
        let file = files.entry(path).or_insert_with(|| head.to_owned());
        file.push_str(&line.replace("NAME", &name).replace("VALUE", &value));
        planted.push(secret);
    }
    for (path, _, _, tail) in KINDS {
        let file = files.get(path).cloned().unwrap_or_default();
        sandbox.write(path, format!("{file}{tail}"));
    }
    planted
}

/// Everything below a folder, by path.
fn bytes_below(folder: &Path, into: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            bytes_below(&path, into);
        } else {
            let bytes = std::fs::read(&path).expect("it can be read");
            into.push((path.display().to_string(), bytes));
        }
    }
}

/// The ways in which a secret can be written down: as it is, and as formats escape it.
fn spellings(secret: &str) -> Vec<String> {
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let json = serde_json::to_string(secret).expect("a string");
    let percent = |keep: &str| -> String {
        let kept = |byte: u8| byte.is_ascii_alphanumeric() || keep.as_bytes().contains(&byte);
        let spell =
            |byte| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
        secret.bytes().map(spell).collect()
    };
    let markdown = |marks: &str| -> String {
        let spell = |c: char| if marks.contains(c) { format!("\\{c}") } else { c.to_string() };
        secret.chars().map(spell).collect()
    };
    let mut all = vec![
        secret.to_owned(),
        html,
        json.trim_matches('"').to_owned(),
        percent("-._~"),
        percent("-._~/:"),
        markdown("*_`[]<>#!|~&"),
        secret.chars().rev().collect(),
    ];
    all.sort();
    all.dedup();
    all
}

/// Which secrets stand where, in whatever case.
fn leaks(places: &[(String, Vec<u8>)], secrets: &[String]) -> Vec<String> {
    let spelled: Vec<String> = secrets.iter().flat_map(|secret| spellings(secret)).collect();
    let finder = aho_corasick::AhoCorasick::builder().ascii_case_insensitive(true).build(spelled);
    let finder = finder.expect("an automaton");
    let mut found = Vec::new();
    for (place, bytes) in places {
        for hit in finder.find_iter(bytes) {
            let from = hit.start().saturating_sub(40);
            let around = String::from_utf8_lossy(&bytes[from..bytes.len().min(hit.end() + 10)]);
            found.push(format!("{place}: {around:?}"));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// None of these places has one of the secrets.
fn assert_none(places: impl IntoIterator<Item = (String, Vec<u8>)>, secrets: &[String]) {
    let places: Vec<(String, Vec<u8>)> = places.into_iter().collect();
    let found = leaks(&places, secrets);
    let mut message = String::new();
    for leak in found.iter().take(60) {
        _ = writeln!(message, "{leak}");
    }
    assert!(found.is_empty(), "{} leaks\n{message}", found.len());
}

#[test]
fn five_hundred_secrets_are_in_no_byte_written_printed_or_sent() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".quorum/sops/orders.md",
        "---\nname: orders\nseverity: warning\n---\nNo secrets.\n",
    );
    sandbox.commit("orders");
    let mut secrets = plant(&sandbox, 500);
    let ordered = "ghp_Zq8Rw3Lx9KvTf4WmBy7HdQ2sN6pJ1cVgUeXa";
    sandbox.write(
        ".quorum/sops/orders.md",
        format!("---\nname: orders\nseverity: warning\n---\nUse {ordered} for calls.\n"),
    );
    secrets.push(ordered.to_owned());

    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    let mut run = |arguments: &[&str], server: Option<&Server>| {
        let output = sandbox.quorum_with(arguments, |command| {
            if let Some(server) = server {
                command
                    .env("OPENAI_BASE_URL", server.openai_url())
                    .env("OPENAI_API_KEY", "never-shown");
            }
        });
        let name = arguments.join(" ");
        places.push((format!("{name}: standard output"), output.stdout.clone()));
        places.push((format!("{name}: standard error"), output.stderr.clone()));
        output
    };
    let reviewed = run(&["review"], None);
    assert_eq!(reviewed.status.code(), Some(1), "{}", text(&reviewed.stderr));
    for format in ["json", "markdown", "sarif", "html", "gitlab", "junit", "rdjsonl", "github"] {
        let report = run(&["report", "--format", format], None);
        assert!(report.stdout.len() > 100, "{format}: {}", text(&report.stderr));
    }
    run(&["show", "security"], None);
    run(&["show", "SEC-001", "--format", "json"], None);
    run(&["verdicts"], None);
    run(&["map", "--budget", "4000"], None);
    run(&["search", "db", "password", "value", "setting", "--content", "full"], None);
    run(&["search", "--regex", "password", "--limit", "200"], None);
    for (path, ..) in KINDS {
        run(&["symbols", path], None);
        run(&["summary", path], None);
    }
    run(&["context", "src", "--agent", "security"], None);
    run(&["sops", "list"], None);
    run(&["plan", "--provider", "openai", "--model", "m", "--prompts", "out"], None);
    let taught = format!("the token {} and db_password = \"{}\"", secrets[0], secrets[26]);
    let recorded = run(&["memory", "record", &taught, &taught], None);
    assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    run(&["memory", "list"], None);

    let nothing = json!({ "findings": [], "skipped_medium": 0, "skipped_low": 0, "sops": [] });
    let server = Server::start(move |_| Reply::Say(Turn::json(&nothing))).expect("it starts");
    let arguments =
        ["review", "--provider", "openai", "--model", "m", "--complete", "--format", "json"];
    run(&arguments, Some(&server));
    for (number, request) in server.recorded().iter().enumerate() {
        places.push((format!("request {number}"), request.text.clone().into_bytes()));
    }
    assert!(server.recorded().len() > 3, "the model was asked");
    bytes_below(&sandbox.root().join(".quorum"), &mut places);
    bytes_below(&sandbox.root().join("out"), &mut places);
    // What the team wrote itself is there as it wrote it.
    places.retain(|(place, _)| !place.ends_with("sops/orders.md"));
    // The arguments of a command are not what it printed.
    for (place, _) in &mut places {
        if place.starts_with("memory record") {
            *place = place.rsplit(": ").next().unwrap_or_default().to_owned();
        }
    }
    assert_none(places, &secrets);
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_nobody_elses_to_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let sandbox = Sandbox::new();
    sandbox.write("app.py", "print(eval(input()))\n");
    sandbox.quorum(&["review"]);
    sandbox.quorum(&["symbols", "app.py"]);
    // As an earlier version left them.
    let runs = sandbox.root().join(".quorum/runs");
    let memory = sandbox.root().join(".quorum/memory.db");
    std::fs::set_permissions(&runs, std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::set_permissions(&memory, std::fs::Permissions::from_mode(0o644)).expect("set");
    sandbox.quorum(&["review"]);
    let mut open = Vec::new();
    let mut folders = vec![sandbox.root().join(".quorum")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let mode = entry.metadata().expect("it is there").permissions().mode() & 0o777;
            let is_folder = entry.path().is_dir();
            let most = if is_folder { 0o700 } else { 0o600 };
            let ours = entry.file_name() != ".gitignore";
            if ours && mode & !most != 0 {
                open.push(format!("{} {mode:o}", entry.path().display()));
            }
            if is_folder {
                folders.push(entry.path());
            }
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn one_secret_is_one_finding_that_can_be_revealed_on_the_untouched_file() {
    for (path, code) in [
        ("app.py", "DB_PASSWORD = \"Tr0ub4dor&3-prod\"\n"),
        (
            "app.ts",
            "export const pool = new Pool({ host: \"db\", password: \"Tr0ub4dor&3-prod\" });\n",
        ),
        (
            "app.ts",
            "export const pool = new Pool({\n  host: \"db\",\n  password: \"Tr0ub4dor&3-prod\",\n});\n",
        ),
        ("Dockerfile", "FROM debian:12\nENV DB_PASSWORD=Tr0ub4dor-3-prod\n"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(path, code);
        let output = sandbox.quorum(&["review", "--format", "json"]);
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let about: Vec<&serde_json::Value> = result["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .filter(|finding| finding["category"] == "secrets")
            .collect();
        assert_eq!(about.len(), 1, "{path}: {about:#?}");
        assert!(!text(&output.stdout).contains("Tr0ub4dor"), "{path}");
        let id = about[0]["id"].as_str().expect("an id");
        let shown = sandbox.quorum(&["show", id, "--reveal"]);
        assert!(text(&shown.stdout).contains("Tr0ub4dor"), "{path}: {}", text(&shown.stderr));
    }
}
