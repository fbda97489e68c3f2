//! Globs over paths, as agents and SOPs write them.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::PlanError;

/// Globs, each tried on the whole path and, where it has no `/`, on the file's name.
#[derive(Clone, Debug)]
pub struct Globs {
    paths: GlobSet,
    names: GlobSet,
}

impl Globs {
    /// Compiles `patterns`.
    pub fn new(patterns: &[String]) -> Result<Self, PlanError> {
        let names: Vec<&String> = patterns.iter().filter(|text| !text.contains('/')).collect();
        Ok(Self { paths: set(patterns.iter())?, names: set(names.into_iter())? })
    }

    /// Whether any of them matches.
    pub fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.paths.is_match(path) || self.names.is_match(name)
    }
}

fn set<'a>(patterns: impl Iterator<Item = &'a String>) -> Result<GlobSet, PlanError> {
    let bad = |pattern: &str, error: &globset::Error| PlanError::BadGlob {
        pattern: pattern.to_owned(),
        message: error.kind().to_string(),
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| bad(pattern, &error))?);
    }
    set.build().map_err(|error| bad("the set", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_without_a_folder_matches_in_any_folder() {
        let globs = Globs::new(&["*.go".to_owned(), "docs/*.md".to_owned()]).expect("they parse");
        assert!(globs.matches("a.go") && globs.matches("deep/er/a.go"));
        assert!(globs.matches("docs/a.md") && !globs.matches("docs/deep/a.md"));
        assert!(!globs.matches("a.md"));
    }
}
