//! Which files belong together.

use std::collections::HashMap;

use quorum_model::scope::{FileEntry, FileFacts};

/// A name that more files than this share says nothing about who imports whom.
const MOST_NAMESAKES: usize = 4;

/// The files of a scope in groups that hang together, by what they import and test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The group of each file: the smallest index in it.
    group: Vec<usize>,
    sizes: HashMap<usize, usize>,
}

impl Groups {
    /// Groups `files`.
    pub fn of(files: &[FileEntry], facts: &[FileFacts]) -> Self {
        let mut union = Union::new(files.len());
        let mut by_stem: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_package: HashMap<&str, usize> = HashMap::new();
        for (index, file) in files.iter().enumerate() {
            by_stem.entry(stem(&file.path)).or_default().push(index);
            // The files of a Go package are one unit of code.
            if file.language.as_deref() == Some("Go") {
                let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                union.join(*by_package.entry(folder).or_insert(index), index);
            }
        }
        for namesakes in by_stem.values().filter(|found| found.len() <= MOST_NAMESAKES) {
            for pair in namesakes.windows(2) {
                union.join(pair[0], pair[1]);
            }
        }
        for (index, facts) in facts.iter().enumerate().take(files.len()) {
            for import in &facts.imports {
                for name in last_names(import) {
                    let Some(found) = by_stem.get(&name) else { continue };
                    if found.len() <= MOST_NAMESAKES {
                        for &other in found {
                            union.join(index, other);
                        }
                    }
                }
            }
        }
        union.into_groups()
    }

    /// The group of the file at `index`.
    pub fn group(&self, index: usize) -> usize {
        self.group.get(index).copied().unwrap_or(index)
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// How many files the largest has.
    pub fn largest(&self) -> usize {
        self.sizes.values().copied().max().unwrap_or_default()
    }
}

/// The name that others import a file by, and that its tests share.
fn stem(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    let stem = ["_test", "_tests", "_spec", "Test", "Tests"]
        .iter()
        .find_map(|suffix| stem.strip_suffix(suffix))
        .unwrap_or(stem);
    let stem = match stem {
        "mod" | "lib" | "index" | "__init__" | "main" if !folder.is_empty() => {
            folder.rsplit('/').next().unwrap_or(stem)
        }
        other => other,
    };
    stem.to_ascii_lowercase()
}

/// The last two names of an import: the module, or the module and an item of it.
fn last_names(import: &str) -> Vec<String> {
    let separators = ['/', '.', ':', '{', '}', ',', ' ', ';'];
    let names = import.split(separators).filter(|name| !name.is_empty());
    let mut names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
    let keep = names.len().saturating_sub(2);
    names.split_off(keep)
}

/// Whether the file at `test` tests the file at `path`, by its name.
pub fn is_test_of(test: &str, path: &str) -> bool {
    let (folder, name) = test.rsplit_once('/').unwrap_or(("", test));
    let named = [".test.", ".spec.", "_test.", "_spec.", "Test.", "Tests."];
    let by_name = name.starts_with("test_") || named.iter().any(|part| name.contains(part));
    let by_folder = folder
        .split('/')
        .any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec" | "specs"));
    test != path && (by_name || by_folder) && stem(test) == stem(path)
}

struct Union {
    parent: Vec<usize>,
}

impl Union {
    fn new(size: usize) -> Self {
        Self { parent: (0..size).collect() }
    }

    fn root(&mut self, mut index: usize) -> usize {
        while self.parent[index] != index {
            self.parent[index] = self.parent[self.parent[index]];
            index = self.parent[index];
        }
        index
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn into_groups(mut self) -> Groups {
        let group: Vec<usize> = (0..self.parent.len()).map(|index| self.root(index)).collect();
        let mut sizes = HashMap::new();
        for root in &group {
            *sizes.entry(*root).or_default() += 1;
        }
        Groups { group, sizes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorum_model::scope::{Change, FileKind};

    fn groups(files: &[(&str, &[&str])]) -> Groups {
        let entries: Vec<FileEntry> = files
            .iter()
            .map(|(path, _)| FileEntry {
                path: (*path).into(),
                old_path: None,
                change: Change::Modified,
                language: path.ends_with(".go").then(|| "Go".to_owned()),
                kind: FileKind::Code,
                tokens: 0,
                flags: Vec::new(),
                flag_reasons: std::collections::BTreeMap::new(),
                hunks: Vec::new(),
                digest: None,
            })
            .collect();
        let facts: Vec<FileFacts> = files
            .iter()
            .map(|(_, imports)| FileFacts {
                imports: imports.iter().map(|&import| import.to_owned()).collect(),
                ..FileFacts::default()
            })
            .collect();
        Groups::of(&entries, &facts)
    }

    #[test]
    fn imports_and_tests_tie_files_together() {
        let found = groups(&[
            ("src/a.ts", &["./b", "react"]),
            ("src/b.ts", &[]),
            ("src/a.test.ts", &[]),
            ("src/c.rs", &["crate::d::Thing"]),
            ("src/d/mod.rs", &[]),
            ("README.md", &[]),
        ]);
        assert_eq!(found.count(), 3);
        assert_eq!(found.group(0), found.group(1));
        assert_eq!(found.group(0), found.group(2));
        assert_eq!(found.group(3), found.group(4));
        assert_eq!(found.largest(), 3);
    }

    #[test]
    fn a_test_is_known_by_its_name() {
        for (test, path) in [
            ("auth/token_test.go", "auth/token.go"),
            ("main_test.go", "main.go"),
            ("cmd/main_test.go", "cmd/main.go"),
            ("src/a.test.ts", "src/a.ts"),
            ("tests/test_views.py", "app/views.py"),
            ("src/test/java/UserTest.java", "src/main/java/User.java"),
            ("tests/parse.rs", "src/parse/mod.rs"),
        ] {
            assert!(is_test_of(test, path), "{test} {path}");
            assert!(!is_test_of(path, test), "{path} {test}");
        }
        assert!(!is_test_of("auth/other_test.go", "auth/token.go"));
        assert!(!is_test_of("a/token.go", "b/token.go"));
    }

    #[test]
    fn a_go_package_is_one_group() {
        let found = groups(&[("p/a.go", &[]), ("p/b.go", &[]), ("q/c.go", &[])]);
        assert_eq!(found.count(), 2);
    }

    #[test]
    fn a_name_that_everybody_has_ties_nobody() {
        let paths: Vec<String> = (0..9).map(|i| format!("d{i}/util.py")).collect();
        let files: Vec<(&str, &[&str])> = paths.iter().map(|p| (p.as_str(), &[][..])).collect();
        assert_eq!(groups(&files).count(), 9);
    }
}
