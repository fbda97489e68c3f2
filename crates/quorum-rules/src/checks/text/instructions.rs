//! Text that speaks to programs that review code, rather than to people.

use quorum_model::severity::Severity;

use super::{AGENT, is_prose, is_test};
use crate::checks::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::injection::{Attempt, scan_text};
use crate::source::ParsedFile;

pub(crate) const RULE: CodeRule = CodeRule {
    id: "text.addresses-ai-reviewer",
    agent: AGENT,
    category: "agentic",
    severity: Severity::High,
    confidence: 0.8,
};

pub(super) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let text = file.text();
    // A suppression names this program to say where it belongs; the words after it are still read.
    let attempts = if text.contains("quorum:ignore") {
        scan_text(&text.replace("quorum:ignore", "       ignore"))
    } else {
        scan_text(text)
    };
    if attempts.is_empty() {
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    // A sentence does not say what the file around it is about.
    let spoken: Vec<u64> = attempts.iter().map(|attempt| attempt.line).collect();
    let about = About::of(&lines, &spoken);
    for attempt in attempts {
        let at = usize::try_from(attempt.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let line = lines.get(at).copied().unwrap_or_default();
        findings.push(found(file, &attempt, line, about));
    }
}

/// What the file around a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// Attacks on models, as documentation and defences are.
    Attacks,
    /// Models: such files hold prompts.
    Models,
    /// Something else.
    Other,
}

impl About {
    fn of(lines: &[&str], without: &[u64]) -> Self {
        let others = (1..).zip(lines).filter(|(number, _)| without.binary_search(number).is_err());
        let lower =
            others.map(|(_, line)| *line).collect::<Vec<_>>().join("\n").to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if has(&[
            "prompt injection",
            "prompt-injection",
            "prompt_injection",
            "promptinjection",
            "red team",
            "red-team",
        ]) {
            Self::Attacks
        } else if has(&[
            "prompt",
            "llm",
            "openai",
            "anthropic",
            "langchain",
            "tokenizer",
            "chatml",
            "chat_template",
            "language model",
            "huggingface",
            "ollama",
            "gemini",
        ]) {
            Self::Models
        } else {
            Self::Other
        }
    }
}

fn found(file: &ParsedFile, attempt: &Attempt, line: &str, about: About) -> RuleFinding {
    let quote: String = line.trim().chars().take(240).collect();
    let what = attempt.what;
    let mut issue = format!(
        "This line talks to programs that review code: it {what}. A reviewing model may obey it \
         instead of reporting what it sees."
    );
    if let Some(disguise) = attempt.disguise {
        issue.push_str(" It is written in ");
        issue.push_str(disguise);
        issue.push_str(", so that people do not read it.");
    }
    // Nobody hides a harmless sentence: what is disguised counts in full wherever it stands.
    let reason = if attempt.disguise.is_some() {
        ""
    } else if about == About::Attacks {
        " The file speaks about such attacks, so this is probably an example."
    } else if is_test(file) {
        " It stands in a test, where it is probably input."
    } else if is_prose(file) && !line.contains("<!--") {
        " It stands in documentation for everybody to see, which makes an attack less likely."
    } else if !attempt.strong && about == About::Models {
        " The file works with models, so this is probably a prompt of its own."
    } else {
        ""
    };
    let (severity, confidence) = match (attempt.strong, reason.is_empty()) {
        (true, true) => (RULE.severity, RULE.confidence),
        (true, false) => (Severity::Low, 0.55),
        (false, true) => (Severity::Medium, 0.6),
        (false, false) => (Severity::Low, 0.4),
    };
    issue.push_str(reason);
    let advice =
        "Remove it, or rephrase it so that it speaks about the text and not to its reader.";
    let place = (attempt.line, attempt.line);
    let found = RULE.on(file.path(), place, quote, issue, advice);
    RuleFinding { severity, confidence, cwe: Some("CWE-1427".to_owned()), ..found }
}
