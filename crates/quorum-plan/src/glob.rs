//! Globs over paths, as agents, SOPs and conventions write them.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::PlanError;

/// Globs, each tried on the whole path and, where it has no `/`, on the file's name.
#[derive(Clone, Debug)]
pub struct Globs {
    patterns: Vec<String>,
    paths: GlobSet,
    /// Of the patterns without a `/`, with their places in `patterns`.
    names: GlobSet,
    name_places: Vec<usize>,
}

impl Globs {
    /// Compiles `patterns`. A folder (`docs/`) stands for everything in it.
    pub fn new(patterns: &[String]) -> Result<Self, PlanError> {
        let anchored = patterns.iter().map(|text| from_root(text));
        let paths = set(anchored)?;
        let is_name = |place: &usize| !patterns[*place].contains('/');
        let name_places: Vec<usize> = (0..patterns.len()).filter(is_name).collect();
        let names = set(name_places.iter().map(|&place| patterns[place].clone()))?;
        Ok(Self { patterns: patterns.to_vec(), paths, names, name_places })
    }

    /// Whether any of them matches.
    pub fn matches(&self, path: &str) -> bool {
        self.paths.is_match(path) || self.names.is_match(name(path))
    }

    /// The first that matches, as it was written.
    pub fn first(&self, path: &str) -> Option<&str> {
        let by_path = self.paths.matches(path).into_iter().min();
        let by_name = self.names.matches(name(path)).into_iter().min();
        let by_name = by_name.and_then(|found| self.name_places.get(found).copied());
        let place = [by_path, by_name].into_iter().flatten().min()?;
        self.patterns.get(place).map(String::as_str)
    }

    /// The globs as they were written.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The pattern from the root of the repository, with all that is in a folder that it names.
fn from_root(pattern: &str) -> String {
    let text = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')).unwrap_or(pattern);
    if text.ends_with('/') { format!("{text}**") } else { text.to_owned() }
}

fn set(patterns: impl Iterator<Item = String>) -> Result<GlobSet, PlanError> {
    let bad = |pattern: &str, error: &globset::Error| PlanError::BadGlob {
        pattern: pattern.to_owned(),
        message: error.kind().to_string(),
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| bad(&pattern, &error))?);
    }
    set.build().map_err(|error| bad("the set", &error))
}

/// The globs of a list in one text, as other tools write them: between commas that are in no braces.
pub fn split_list(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let parts = text.split(|letter: char| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    let parts = parts.map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Globs {
        let patterns: Vec<String> = patterns.iter().map(|&text| text.to_owned()).collect();
        Globs::new(&patterns).expect("they parse")
    }

    #[test]
    fn a_glob_without_a_folder_matches_in_any_folder() {
        let globs = globs(&["*.go", "docs/*.md"]);
        assert!(globs.matches("a.go") && globs.matches("deep/er/a.go"));
        assert!(globs.matches("docs/a.md") && !globs.matches("docs/deep/a.md"));
        assert!(!globs.matches("a.md"));
    }

    #[test]
    fn a_folder_stands_for_all_that_is_in_it() {
        let globs = globs(&["src/auth/", "./web/", "/Makefile"]);
        assert!(globs.matches("src/auth/deep/a.go") && globs.matches("web/a.ts"));
        assert!(globs.matches("Makefile") && !globs.matches("deep/Makefile"));
    }

    #[test]
    fn the_first_that_matches_is_named_as_written() {
        let globs = globs(&["docs/", "*.md", "**/a.md"]);
        assert_eq!(globs.first("docs/a.md"), Some("docs/"));
        assert_eq!(globs.first("deep/a.md"), Some("*.md"));
        assert_eq!(globs.first("a.rs"), None);
    }

    #[test]
    fn commas_in_braces_part_nothing() {
        assert_eq!(split_list("*.ts, src/*.{js,jsx} ,"), ["*.ts", "src/*.{js,jsx}"]);
    }
}
