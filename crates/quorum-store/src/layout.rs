//! Where things are in a run's directory.

use std::path::{Path, PathBuf};

/// The paths of one run.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    pub(crate) fn plan(&self) -> PathBuf {
        self.root.join("plan.json")
    }

    pub(crate) fn seal(&self) -> PathBuf {
        self.root.join("seal")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.root.join("journal.jsonl")
    }

    pub(crate) fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    pub(crate) fn agent(&self, agent: &str) -> PathBuf {
        self.agents().join(format!("{}.md", file_stem(agent)))
    }

    pub(crate) fn verdicts(&self) -> PathBuf {
        self.root.join("verdicts")
    }

    pub(crate) fn verdict(&self, agent: &str) -> PathBuf {
        self.verdicts().join(format!("{}.json", file_stem(agent)))
    }

    pub(crate) fn findings(&self) -> PathBuf {
        self.root.join("findings.json")
    }

    pub(crate) fn coverage(&self) -> PathBuf {
        self.root.join("coverage.json")
    }

    pub(crate) fn result(&self) -> PathBuf {
        self.root.join("result.json")
    }
}

/// A name for an agent's files. What cannot be in a file name gives way to a digest of the whole, so
/// that two agents never share a file.
fn file_stem(agent: &str) -> String {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let plain = !agent.is_empty() && agent.len() <= 100 && !agent.starts_with('.');
    if plain && agent.chars().all(fits) {
        return agent.to_owned();
    }
    let kept: String = agent.chars().filter(|&character| fits(character)).take(40).collect();
    let digest = blake3::hash(agent.as_bytes()).to_hex();
    format!("{}-{}", kept.trim_start_matches('.'), &digest[..12])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_agents_stay_in_their_folder() {
        assert_eq!(file_stem("security-reviewer"), "security-reviewer");
        let odd = ["../../etc/passwd", "", ".hidden", "a/b", "a b", "c:\\d", &"x".repeat(300)];
        let mut stems: Vec<String> = odd.iter().map(|name| file_stem(name)).collect();
        for stem in &stems {
            assert!(!stem.contains(['/', '\\', ' ']) && !stem.starts_with('.'), "{stem}");
            assert!(stem.len() < 100, "{stem}");
        }
        stems.sort();
        stems.dedup();
        assert_eq!(stems.len(), odd.len());
    }
}
