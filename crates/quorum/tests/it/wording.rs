//! Documents with mistakes in them: whoever wrote one is told about keys and values, in no words of the
//! libraries that read it.

use quorum_model::wording::has_words_of_libraries;

use crate::sandbox::{Sandbox, text};

/// A sort of document: where it is, a sound one with a key on each line, how a key and its value are
/// written, and the command that reads it.
struct Kind {
    path: &'static str,
    lines: &'static [&'static str],
    before: &'static str,
    after: &'static str,
    between: &'static str,
    command: &'static [&'static str],
}

const KINDS: [Kind; 8] = [
    Kind {
        path: "../home/.config/quorum/trusted.toml",
        lines: &[
            "repository = '/a/.git'",
            "digest = 'b'",
            "settings = ['provider = \"openai\"']",
            "since = 'now'",
        ],
        before: "[[trusted]]\n",
        after: "",
        between: " = ",
        command: &["config", "trust", "--list"],
    },
    Kind {
        path: "quorum.toml",
        lines: &[
            "tier = 'simple'",
            "agents = ['security']",
            "strict = true",
            "quorum_share = 0.5",
            "limits.max_tokens = 7",
            "gates.preset = 'go'",
            "gates.additional = [{ name = 'a', command = 'b' }]",
            "scope.ignore = ['a']",
            "models.x.max_tokens = 5",
            "capabilities.reviewing.preferred = ['a']",
            "agent.security.veto = true",
        ],
        before: "",
        after: "",
        between: " = ",
        command: &["config", "show"],
    },
    Kind {
        path: ".quorum/agents/own.md",
        lines: &[
            "name: own",
            "focus: x",
            "base_budget: 4096",
            "veto: false",
            "title: Own",
            "max_severity: HIGH",
            "domain: { kinds: [code] }",
            "catch_all: false",
            "categories: [a]",
            "veto_criteria: [{ id: a, min_severity: HIGH, when: b }]",
        ],
        before: "---\n",
        after: "---\n# Own\n",
        between: ": ",
        command: &["agents"],
    },
    Kind {
        path: ".quorum/sops/own.md",
        lines: &[
            "applies_to: ['*.rs']",
            "severity: error",
            "category: a",
            "scope: code",
            "summary: a",
            "requirements: [a]",
            "domains: [a]",
            "check: [{ forbid: a }]",
        ],
        before: "---\n",
        after: "---\nDo it.\n",
        between: ": ",
        command: &["sops", "list"],
    },
    Kind {
        path: ".quorum/rules/own.toml",
        lines: &[
            "id = 'own.rule'",
            "agent = 'security'",
            "category = 'injection'",
            "severity = 'HIGH'",
            "confidence = 0.5",
            "title = 'a'",
            "fix = 'b'",
            "languages = ['python']",
            "match = [{ pattern = 'f()' }]",
        ],
        before: "",
        after: "",
        between: " = ",
        command: &["rules", "list"],
    },
    Kind {
        path: ".quorum/dismissed.toml",
        lines: &[
            "fingerprint = 'a'",
            "reason = 'b'",
            "author = 'c'",
            "expires = '2099-01-01'",
            "file = 'd'",
            "title = 'e'",
            "refuted = false",
        ],
        before: "[[dismissed]]\n",
        after: "",
        between: " = ",
        command: &["review", "--quiet"],
    },
    Kind {
        path: "task.json",
        lines: &["\"description\": \"a\",", "\"acceptance_criteria\": [],", "\"files\": [\"src\"]"],
        before: "{\n",
        after: "}\n",
        between: ": ",
        command: &["size", "--task", "task.json"],
    },
    Kind {
        path: "task.json",
        lines: &["\"description\": \"a\",", "\"acceptance_criteria\": [],", "\"files\": [\"src\"]"],
        before: "{\n",
        after: "}\n",
        between: ": ",
        command: &["loop", "--develop", "true", "--task", "task.json", "--rounds", "1"],
    },
];

impl Kind {
    fn document(&self, lines: &[String]) -> String {
        format!("{}{}\n{}", self.before, lines.join("\n"), self.after)
    }

    /// Documents with one mistake each: a key of another kind, without a key, with one that there is not.
    fn broken(&self) -> Vec<String> {
        let sound: Vec<String> = self.lines.iter().map(|line| (*line).to_owned()).collect();
        let mut all = Vec::new();
        for (number, line) in sound.iter().enumerate() {
            let (key, rest) = line.split_once(self.between).expect("a key and its value");
            let end = if rest.ends_with(',') { "," } else { "" };
            for wrong in ["-7", "\"nonsense\"", "true", "[[1]]", "{}"] {
                let mut lines = sound.clone();
                lines[number] = format!("{key}{}{wrong}{end}", self.between);
                all.push(self.document(&lines));
            }
            let mut lines = sound.clone();
            lines.remove(number);
            all.push(self.document(&lines));
        }
        let comma = if self.path.ends_with(".json") { "," } else { "" };
        let quote = if comma.is_empty() { "" } else { "\"" };
        let unknown = format!("{quote}nobody_knows{quote}{}\"x\"{comma}", self.between);
        all.push(self.document(&[vec![unknown], sound.clone()].concat()));
        let text = self.document(&sound);
        all.push(text[..text.len() * 2 / 3].to_owned());
        all.push(format!("{}][{{", self.before));
        all
    }
}

#[test]
fn no_mistake_in_a_document_is_answered_in_words_of_a_library() {
    for kind in KINDS {
        let sandbox = Sandbox::new();
        let mut failed = 0;
        for document in kind.broken() {
            sandbox.write(kind.path, &document);
            let output = sandbox.quorum(kind.command);
            let said = text(&output.stderr);
            failed += u32::from(output.status.code() == Some(2));
            assert!(!has_words_of_libraries(&said), "{}\n{document}\n{said}", kind.path);
        }
        assert!(failed > 3, "{}: mistakes are not noticed", kind.path);
    }
}

#[test]
fn a_mistake_in_front_matter_is_answered_with_the_keys() {
    let sandbox = Sandbox::new();
    sandbox
        .write(".quorum/agents/own.md", "---\nname: own\nfocus: x\nbase_budget: 4096\n---\n# A\n");
    let said = sandbox.fails(&["agents"]);
    assert!(said.contains("`veto` is missing; the keys are name (text, needed)"), "{said}");
    assert!(said.contains("catch_all (true or false, default false)"), "{said}");
    sandbox.remove(".quorum/agents/own.md");
    sandbox.write(".quorum/sops/own.md", "---\napplies_to: { a: 1 }\n---\nDo it.\n");
    let said = sandbox.fails(&["sops", "list"]);
    assert!(said.contains("one value or a list of them"), "{said}");
    assert!(said.contains("applies_to (glob or list of globs, default: everything)"), "{said}");
}

#[test]
fn a_key_that_there_is_not_is_answered_with_those_that_there_are() {
    let sandbox = Sandbox::new();
    for (path, text, command, words) in [
        (
            "quorum.toml",
            "zzz = 1\n",
            &["config", "show"][..],
            "`zzz`, only advisories, agent, agents, ",
        ),
        (
            "quorum.toml",
            "[limits]\nzzz = 1\n",
            &["plan"],
            "`limits.zzz`, only calls_per_shard, jobs, ",
        ),
        (
            "quorum.toml",
            "[agent.security]\nzzz = 1\n",
            &["plan"],
            "only base_budget, enabled, model, ",
        ),
        (
            ".quorum/rules/own.toml",
            "id = 'own'\n",
            &["rules", "list"],
            "needs id, agent, severity, category",
        ),
        (
            "../home/.config/quorum/trusted.toml",
            "[[trusted]]\nzzz = 1\n",
            &["config", "trust", "--list"],
            "the keys are [[trusted]] with repository (text, needed), digest",
        ),
    ] {
        sandbox.write(path, text);
        let said = sandbox.fails(command);
        assert!(said.contains(words), "{path}: {said}");
        sandbox.remove(path);
    }
}
