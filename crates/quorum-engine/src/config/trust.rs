//! What a user trusts repositories with: the text of a file of the user's own.

use quorum_model::wording;
use serde::{Deserialize, Serialize};

use crate::config::Loaded;

/// What the file can say, for messages.
const KEYS: &str = "[[trusted]] with repository (text, needed), digest (text, needed), settings (list of texts, \
                    needed), since (text, needed)";

/// Everything that a user trusts repositories with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// One for each set of settings.
    #[serde(default)]
    pub trusted: Vec<Trusted>,
}

/// Settings that a user trusts one repository with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// The repository, by the folder that its work trees share.
    pub repository: String,
    /// The digest of exactly these settings. It decides, and not what is shown beside it.
    pub digest: String,
    /// The settings as they were shown, for people.
    pub settings: Vec<String>,
    /// When.
    pub since: String,
}

impl Trust {
    /// Reads the file's text; an error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| wording::with_keys(&error.to_string(), KEYS))
    }

    /// The file's text.
    pub fn render(&self) -> Result<String, toml::ser::Error> {
        let text = toml::to_string_pretty(self)?;
        Ok(format!(
            "# Written by `quorum config trust`; `quorum config untrust` takes back.\n{text}"
        ))
    }

    /// The digests of what `repository` is trusted with.
    pub fn digests(&self, repository: &str) -> Vec<String> {
        let of = self.trusted.iter().filter(|trusted| trusted.repository == repository);
        of.map(|trusted| trusted.digest.clone()).collect()
    }

    /// Trusts `repository` with what `loaded` holds back.
    pub fn add(&mut self, repository: &str, loaded: &Loaded, since: String) {
        let digest = loaded.digest();
        self.trusted.retain(|known| known.repository != repository || known.digest != digest);
        let settings = loaded.held.iter().map(|held| format!("{} = {}", held.key, held.value));
        let settings = settings.collect();
        self.trusted.push(Trusted { repository: repository.to_owned(), digest, settings, since });
    }

    /// Takes back everything that `repository` was trusted with; says how much that was.
    pub fn remove(&mut self, repository: &str) -> usize {
        let before = self.trusted.len();
        self.trusted.retain(|trusted| trusted.repository != repository);
        before - self.trusted.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Origin, TextLayer, load};

    #[test]
    fn trust_is_kept_by_repository_and_taken_back_by_repository() {
        let origin = Origin::Repository("quorum.toml".to_owned());
        let text = "provider = \"openai\"\n".to_owned();
        let layers = Layers { repository: Some(TextLayer { origin, text }), ..Layers::default() };
        let loaded = load(&layers).expect("it loads");
        let mut trust = Trust::default();
        trust.add("/a/.git", &loaded, "now".to_owned());
        trust.add("/a/.git", &loaded, "later".to_owned());
        trust.add("/b/.git", &loaded, "later".to_owned());
        assert_eq!(trust.trusted.len(), 2, "the same settings are one");
        let read = Trust::parse(&trust.render().expect("text")).expect("it is read");
        assert_eq!(read, trust);
        assert_eq!(read.digests("/a/.git"), [loaded.digest()]);
        assert_eq!(read.digests("/a"), [""; 0]);
        assert_eq!((trust.remove("/a/.git"), trust.remove("/a/.git")), (1, 0));
        assert_eq!(trust.digests("/b/.git").len(), 1);
        assert!(Trust::parse("[[trusted]]\nrepository = 1\n").is_err());
    }
}
