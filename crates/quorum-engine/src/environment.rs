//! What the engine may know of the process and the user that it works for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use quorum_store::Clock;

/// Variables, files of the user's own, and helpers. The engine asks the process for none of these: whoever
/// calls it decides what a review may see.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Environment variables: keys and addresses of providers and code hosts, and `QUORUM_…` settings.
    pub variables: BTreeMap<OsString, OsString>,
    /// The user's `quorum.toml`, whether it exists or not.
    pub user_file: Option<PathBuf>,
    /// What the user trusts repositories with, whether it exists or not.
    pub trust_file: Option<PathBuf>,
    /// The key that seals the user's runs, whether it exists or not.
    pub key_file: Option<PathBuf>,
    /// The user's database of advisories, whether it exists or not.
    pub advisories_file: Option<PathBuf>,
    /// The program that sets up the sandbox of gates: one that calls [`quorum_gates::helper`] when it is
    /// started under the name [`quorum_gates::HELPER`]. Without it gates cannot run.
    pub sandbox_helper: Option<PathBuf>,
    /// Where temporary folders are made.
    pub temporary: PathBuf,
    /// What time it is.
    pub clock: Clock,
}

impl Environment {
    /// An environment without variables, user files or helpers: configuration is the repository's alone,
    /// no provider has a key, and runs cannot be resumed.
    pub fn bare(temporary: PathBuf, clock: Clock) -> Self {
        Self {
            variables: BTreeMap::new(),
            user_file: None,
            trust_file: None,
            key_file: None,
            advisories_file: None,
            sandbox_helper: None,
            temporary,
            clock,
        }
    }

    /// The value of a variable.
    pub fn variable_os(&self, name: impl AsRef<OsStr>) -> Option<OsString> {
        self.variables.get(name.as_ref()).cloned()
    }

    /// The value of a variable, where it is UTF-8.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(OsStr::new(name))?.to_str().map(str::to_owned)
    }

    /// All variables whose names and values are UTF-8.
    pub(crate) fn text_variables(&self) -> Vec<(String, String)> {
        let text = |(name, value): (&OsString, &OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        self.variables.iter().filter_map(text).collect()
    }
}
