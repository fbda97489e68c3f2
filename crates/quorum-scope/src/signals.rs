//! Named traits of a change, read from its lines; the tier is scored from them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use bstr::ByteSlice;
use quorum_model::scope::{Change, FileFacts, FileKind, Flag, Signal};

use crate::classify::{Classified, words};
use crate::content::Content;
use crate::files::RawFile;

mod exports;
mod imports;

/// As much of one file's changed text as is searched; more of it says nothing new.
const SEARCHED: usize = 2 * 1024 * 1024;

/// As many imports of one file as are kept.
const MOST_IMPORTS: usize = 200;

/// Words in changed code, whole and in any case, and what they are a sign of.
const KEYWORDS: [(&str, Signal); 62] = [
    ("encrypt", Signal::SecurityKnowledge),
    ("decrypt", Signal::SecurityKnowledge),
    ("bcrypt", Signal::SecurityKnowledge),
    ("argon2", Signal::SecurityKnowledge),
    ("pbkdf2", Signal::SecurityKnowledge),
    ("hmac", Signal::SecurityKnowledge),
    ("ecdsa", Signal::SecurityKnowledge),
    ("ed25519", Signal::SecurityKnowledge),
    ("rsa", Signal::SecurityKnowledge),
    ("aes", Signal::SecurityKnowledge),
    ("jwt", Signal::SecurityKnowledge),
    ("oauth", Signal::SecurityKnowledge),
    ("csrf", Signal::SecurityKnowledge),
    ("password", Signal::SecurityKnowledge),
    ("private_key", Signal::SecurityKnowledge),
    ("secret_key", Signal::SecurityKnowledge),
    ("api_key", Signal::SecurityKnowledge),
    ("InsecureSkipVerify", Signal::SecurityKnowledge),
    ("setuid", Signal::SecurityKnowledge),
    ("mutex", Signal::ConcurrencyKnowledge),
    ("rwlock", Signal::ConcurrencyKnowledge),
    ("goroutine", Signal::ConcurrencyKnowledge),
    ("sync.WaitGroup", Signal::ConcurrencyKnowledge),
    ("atomic", Signal::ConcurrencyKnowledge),
    ("semaphore", Signal::ConcurrencyKnowledge),
    ("deadlock", Signal::ConcurrencyKnowledge),
    ("synchronized", Signal::ConcurrencyKnowledge),
    ("tokio::spawn", Signal::ConcurrencyKnowledge),
    ("thread::spawn", Signal::ConcurrencyKnowledge),
    ("asyncio.create_task", Signal::ConcurrencyKnowledge),
    ("simd", Signal::PerformanceKnowledge),
    ("memoize", Signal::PerformanceKnowledge),
    ("lru_cache", Signal::PerformanceKnowledge),
    ("zero-copy", Signal::PerformanceKnowledge),
    ("mmap", Signal::PerformanceKnowledge),
    ("prefetch", Signal::PerformanceKnowledge),
    ("benchmark", Signal::PerformanceKnowledge),
    ("unsafe", Signal::LowLevelKnowledge),
    ("asm!", Signal::LowLevelKnowledge),
    ("transmute", Signal::LowLevelKnowledge),
    ("dlopen", Signal::LowLevelKnowledge),
    ("ctypes", Signal::LowLevelKnowledge),
    ("memcpy", Signal::LowLevelKnowledge),
    ("gdpr", Signal::ComplianceKnowledge),
    ("hipaa", Signal::ComplianceKnowledge),
    ("pci-dss", Signal::ComplianceKnowledge),
    ("personal data", Signal::ComplianceKnowledge),
    ("audit_log", Signal::ComplianceKnowledge),
    ("payment", Signal::Payments),
    ("invoice", Signal::Payments),
    ("refund", Signal::Payments),
    ("checkout_session", Signal::Payments),
    ("stripe", Signal::Payments),
    ("drop table", Signal::DataIntegrity),
    ("drop column", Signal::DataIntegrity),
    ("delete from", Signal::DataIntegrity),
    ("truncate table", Signal::DataIntegrity),
    ("alter table", Signal::DataIntegrity),
    ("todo", Signal::TechnicalDebt),
    ("fixme", Signal::TechnicalDebt),
    ("hack", Signal::TechnicalDebt),
    ("xxx", Signal::TechnicalDebt),
];

static MATCHER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(KEYWORDS.map(|(word, _)| word))
        .ok()
});

/// The lines that a change adds and removes, or the whole file as added.
struct ChangedText {
    added: Vec<u8>,
    removed: Vec<u8>,
    whole: bool,
}

/// Reads the traits of one file of a change, and flags it where its lines decide that.
pub fn read(file: &RawFile, content: &Content, classified: &mut Classified) -> FileFacts {
    let mut facts = FileFacts::default();
    let language = classified.language.clone().unwrap_or_default();
    if classified.is_name_only() {
        return facts;
    }
    let changed = changed_text(file, content);
    let whole: &[u8] = match content {
        Content::Whole(content) => content,
        _ => &changed.added,
    };
    if matches!(classified.kind, FileKind::Code | FileKind::Script) {
        facts.imports = imports::of(&language, &whole[..whole.len().min(SEARCHED)]);
        facts.imports.truncate(MOST_IMPORTS);
        for import in imports::of(&language, &changed.added) {
            if let Some(service) = imports::service(&import) {
                note(&mut facts, Signal::ExternalService, service, format!("imports `{import}`"));
            }
        }
    }
    let tested = classified.has(Flag::Test);
    if classified.kind != FileKind::Prose {
        keywords(&mut facts, &changed, tested);
    }
    if tested {
        test_kind(&mut facts, &file.path.to_str_lossy());
    } else if !changed.whole {
        exported(&mut facts, classified, &language, file, &changed);
    }
    touches_security(&mut facts, classified);
    facts
}

fn note(facts: &mut FileFacts, signal: Signal, label: &str, evidence: String) {
    facts.signals.entry((signal, label.to_owned())).or_insert(evidence);
}

fn changed_text(file: &RawFile, content: &Content) -> ChangedText {
    let mut changed = ChangedText { added: Vec::new(), removed: Vec::new(), whole: false };
    if file.hunks.is_empty() {
        changed.whole = true;
        if let Content::Whole(content) = content
            && matches!(file.change, Change::Unchanged | Change::Unmerged | Change::Added)
        {
            changed.added = content[..content.len().min(SEARCHED)].to_vec();
        }
        return changed;
    }
    for (_, body) in &file.hunks {
        for line in file.patch.get(body.clone()).unwrap_or_default().lines_with_terminator() {
            match line.first() {
                Some(b'+') => changed.added.extend_from_slice(&line[1..]),
                Some(b'-') => changed.removed.extend_from_slice(&line[1..]),
                _ => {}
            }
        }
        if changed.added.len() + changed.removed.len() > SEARCHED {
            break;
        }
    }
    changed
}

fn keywords(facts: &mut FileFacts, changed: &ChangedText, tested: bool) {
    let Some(matcher) = MATCHER.as_ref() else { return };
    let text = &changed.added;
    let place = if changed.whole { "in the file" } else { "in a changed line" };
    for found in matcher.find_iter(text) {
        let (word, signal) = KEYWORDS[found.pattern()];
        // Tests mention everything; what they do is not at risk.
        let counts = !tested || signal == Signal::TechnicalDebt;
        if counts && is_whole_word(text, found.start(), found.end()) {
            note(facts, signal, word, format!("`{word}` {place}"));
        }
    }
}

fn is_whole_word(text: &[u8], start: usize, end: usize) -> bool {
    let joins = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let before = start.checked_sub(1).and_then(|index| text.get(index));
    !joins(before) && !joins(text.get(end))
}

fn test_kind(facts: &mut FileFacts, path: &str) {
    let words = words(path);
    let has = |wanted: &[&str]| {
        words.iter().find(|word| wanted.contains(&word.as_str())).map(String::as_str)
    };
    let end_to_end = ["e2e", "acceptance", "cypress", "playwright", "load", "perf", "fuzz"];
    let integration = ["integration", "fixtures", "fixture", "testdata", "it"];
    if let Some(word) = has(&end_to_end) {
        note(facts, Signal::EndToEndTest, word, format!("`{word}` in {path}"));
    } else if let Some(word) = has(&integration) {
        note(facts, Signal::IntegrationTest, word, format!("`{word}` in {path}"));
    }
}

/// Exported declarations in changed lines make a file part of the public interface.
fn exported(
    facts: &mut FileFacts,
    classified: &mut Classified,
    language: &str,
    file: &RawFile,
    changed: &ChangedText,
) {
    let path = file.path.to_str_lossy();
    if exports::is_internal(&path) {
        return;
    }
    let added = exports::of(language, &changed.added);
    let removed = exports::of(language, &changed.removed);
    if let Some(name) = added.keys().find(|name| removed.get(*name) != added.get(*name)) {
        note(facts, Signal::PublicItem, name, format!("declares `{name}`"));
    }
    let gone = removed.iter().find(|(name, signature)| added.get(*name) != Some(signature));
    if let Some((name, _)) = gone {
        let what = if added.contains_key(name) { "changes" } else { "removes" };
        note(facts, Signal::RemovedPublicItem, name, format!("{what} `{name}`"));
    }
    let item = facts
        .signals
        .iter()
        .find(|((signal, _), _)| matches!(signal, Signal::PublicItem | Signal::RemovedPublicItem));
    if let Some((_, evidence)) = item {
        classified.flags.entry(Flag::PublicApi).or_insert_with(|| evidence.clone());
    }
}

/// Changed lines that deal with keys, passwords or tokens make a file security-sensitive.
fn touches_security(facts: &mut FileFacts, classified: &mut Classified) {
    let found: BTreeMap<_, _> = facts
        .signals
        .iter()
        .filter(|((signal, _), _)| *signal == Signal::SecurityKnowledge)
        .collect();
    let Some((_, evidence)) = found.first_key_value() else { return };
    let live = matches!(classified.kind, FileKind::Code | FileKind::Script | FileKind::Config);
    if live && !classified.has(Flag::Test) {
        classified.flags.entry(Flag::SecuritySensitive).or_insert_with(|| (*evidence).clone());
    }
}

#[cfg(test)]
mod tests;
