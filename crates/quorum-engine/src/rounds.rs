//! A pull request over its reviews: what it remembers, and what people say to it.

use std::collections::BTreeMap;

use quorum_forge::post::{Command, Person, Posted, Remark, commands};
use quorum_forge::{Forge, ForgeError};
use quorum_model::config::ForgeConfig;
use quorum_model::record::PullRequestState;
use quorum_scope::repository::Repository;
use quorum_store::ledger::dismissal::Dismissal;

use crate::environment::Environment;
use crate::error::EngineError;

/// What the reviews before this one left on the pull request.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// What it remembers of its findings.
    pub(crate) state: PullRequestState,
    /// What people with the right to write set aside, by id.
    pub(crate) dismissed: BTreeMap<String, Dismissal>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Connects to the host of a repository.
pub(crate) fn connect(
    repository: Option<&Repository>,
    config: &ForgeConfig,
    environment: &Environment,
) -> Result<Box<dyn Forge>, ForgeError> {
    let remote = config.remote.as_deref().unwrap_or("origin");
    let url = repository.and_then(|repository| repository.remote_url(remote));
    let variable = |name: &str| environment.variable(name);
    quorum_forge::connect(config, url.as_deref(), &variable)
}

/// The account that posts.
pub(crate) fn account(forge: &dyn Forge, config: &ForgeConfig) -> Result<String, ForgeError> {
    match &config.account {
        Some(account) => Ok(account.clone()),
        None => forge.account(),
    }
}

/// What is posted, with what people say to it.
pub(crate) fn read(forge: &dyn Forge, posted: &Posted) -> Round {
    let state = posted.state();
    let mut asked: BTreeMap<Person, Result<bool, String>> = BTreeMap::new();
    let mut may_write = |person: &Person| {
        let known = asked.entry(person.clone());
        known.or_insert_with(|| forge.may_write(person).map_err(|error| error.to_string())).clone()
    };
    let (dismissed, notes) = heed(&posted.remarks, &state, &mut may_write);
    Round { state, dismissed, notes }
}

/// What people set aside, by id, and what does not count, in words. A later word on a finding replaces
/// an earlier one.
fn heed(
    remarks: &[Remark],
    state: &PullRequestState,
    may_write: &mut dyn FnMut(&Person) -> Result<bool, String>,
) -> (BTreeMap<String, Dismissal>, Vec<String>) {
    let mut dismissed = BTreeMap::new();
    let mut notes = Vec::new();
    for remark in remarks {
        let Person { login, is_program, .. } = &remark.author;
        for command in commands(&remark.text) {
            let refused = match &command {
                Err(problem) => Some(problem.clone()),
                Ok(_) if *is_program => Some("a program cannot set findings aside".to_owned()),
                Ok(command) => refusal(command, state, || may_write(&remark.author)),
            };
            match (command, refused) {
                (_, Some(why)) => {
                    notes.push(format!("{} by {login} has no effect: {why}", remark.place));
                }
                (Ok(Command::Undo { id }), None) => {
                    dismissed.remove(&id);
                }
                (Ok(Command::Dismiss { id, reason }), None) => {
                    let record = state.records.iter().find(|record| record.id == id);
                    let fingerprints = record.map(|record| record.fingerprints.clone());
                    let dismissal = Dismissal {
                        fingerprint: fingerprints
                            .unwrap_or_default()
                            .into_iter()
                            .next()
                            .unwrap_or_default(),
                        reason: quorum_rules::secrets::redact(&reason),
                        author: login.clone(),
                        expires: None,
                        file: record.map(|record| record.file.clone()),
                        title: record.map(|record| record.title.clone()),
                        refuted: false,
                        place: Some(remark.place.clone()),
                    };
                    dismissed.insert(id, dismissal);
                }
                (Err(_), None) => {}
            }
        }
    }
    (dismissed, notes)
}

/// Why a command does not count. Where nobody can say whether its author may write, it does not.
fn refusal(
    command: &Command,
    state: &PullRequestState,
    may_write: impl FnOnce() -> Result<bool, String>,
) -> Option<String> {
    let (Command::Dismiss { id, .. } | Command::Undo { id }) = command;
    if state.records.iter().all(|record| record.id != *id) {
        return Some(format!("this pull request has no finding {id}"));
    }
    match may_write() {
        Ok(true) => None,
        Ok(false) => Some("it takes write access to the repository".to_owned()),
        Err(error) => Some(format!("whether its author may write is not known: {error}")),
    }
}

/// The failure to name the account that posts.
pub(crate) fn no_account(error: &ForgeError) -> EngineError {
    let text = format!("nobody says which account posts: {error}");
    EngineError::failed(text).with_hint(
        "set `account` under `[forge]` in your own quorum.toml, or QUORUM_FORGE_ACCOUNT, to the \
         name of the token's account",
    )
}

#[cfg(test)]
mod tests {
    use quorum_model::record::{FindingRecord, RecordStatus};
    use quorum_model::severity::Severity;

    use super::*;

    fn state() -> PullRequestState {
        let record = FindingRecord {
            id: "SEC-001".to_owned(),
            status: RecordStatus::Open,
            fingerprints: vec!["f".to_owned()],
            severity: Severity::High,
            category: "injection".to_owned(),
            rule: None,
            agents: Vec::new(),
            file: "a.py".to_owned(),
            line: 1,
            end_line: 1,
            title: String::new(),
            code: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
        };
        PullRequestState { records: vec![record], ..PullRequestState::default() }
    }

    fn said(login: &str, text: &str) -> Remark {
        let author =
            Person { login: login.to_owned(), id: 1, is_program: login.ends_with("[bot]") };
        let (text, place) = (text.to_owned(), "a comment".to_owned());
        Remark { author, text, place, at: String::new() }
    }

    fn heard(remarks: &[Remark]) -> (Vec<String>, Vec<String>) {
        let mut may_write = |person: &Person| match person.login.as_str() {
            "ann" | "bot[bot]" => Ok(true),
            "eve" => Ok(false),
            _ => Err("the host does not answer".to_owned()),
        };
        let (dismissed, notes) = heed(remarks, &state(), &mut may_write);
        (dismissed.into_keys().collect(), notes)
    }

    #[test]
    fn only_a_person_who_may_write_sets_a_finding_aside() {
        let command = "/quorum dismiss SEC-001 it is a test";
        assert_eq!(heard(&[said("ann", command)]).0, ["SEC-001"]);
        for who in ["eve", "unknown", "bot[bot]"] {
            let (dismissed, notes) = heard(&[said(who, command)]);
            assert!(dismissed.is_empty() && notes.len() == 1, "{who}: {notes:?}");
        }
    }

    #[test]
    fn the_last_word_counts_and_unknown_ids_are_named() {
        let dismiss = said("ann", "/quorum dismiss SEC-001 no");
        let undo = said("ann", "/quorum dismiss --undo SEC-001");
        assert!(heard(&[dismiss.clone(), undo.clone()]).0.is_empty());
        assert_eq!(heard(&[undo, dismiss]).0, ["SEC-001"]);
        let (dismissed, notes) = heard(&[said("ann", "/quorum dismiss SEC-009 no")]);
        assert!(dismissed.is_empty() && notes[0].contains("no finding SEC-009"), "{notes:?}");
    }
}
