//! The files of a repository at one revision, as far as gates look at them.

use std::collections::{BTreeSet, HashMap};

use quorum_model::path::joined;

/// The files of a repository at one revision.
pub trait Tree {
    /// All paths from the root, with `/`.
    fn paths(&self) -> &[String];

    /// The text of a file; absent where it is not there or not text.
    fn text(&self, path: &str) -> Option<String>;
}

/// Folders in which nothing is a project of the repository's own.
const FOREIGN: [&str; 13] = [
    "node_modules",
    "vendor",
    "third_party",
    "testdata",
    "fixtures",
    "__fixtures__",
    "test-fixtures",
    "examples",
    "example",
    "templates",
    ".venv",
    "venv",
    "target",
];

/// The folders that hold one of `markers`, outermost first; `""` is the root.
pub(crate) fn folders_with(tree: &dyn Tree, markers: &[&str]) -> Vec<String> {
    let mut folders = BTreeSet::new();
    for path in tree.paths() {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let own = !folder.split('/').any(|part| FOREIGN.contains(&part));
        if own && markers.contains(&name) {
            folders.insert(folder.to_owned());
        }
    }
    folders.into_iter().collect()
}

/// Leaves out folders that lie below another one of the list.
pub(crate) fn outermost(folders: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for folder in folders {
        if !kept.iter().any(|above| is_below(&folder, above)) {
            kept.push(folder);
        }
    }
    kept
}

/// Whether `path` lies in `folder`, at any depth.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// `name` in `folder`.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Whether `folder` itself holds a file with one of these names; the first that it does.
pub(crate) fn first_of<'a>(tree: &dyn Tree, folder: &str, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| contains(tree, &join(folder, name)))
}

fn contains(tree: &dyn Tree, path: &str) -> bool {
    // Paths come sorted from git and from tests; a linear look is for those that do not.
    tree.paths().binary_search_by(|known| known.as_str().cmp(path)).is_ok()
        || tree.paths().iter().any(|known| known == path)
}

/// From what tools print to paths of the repository.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    known: BTreeSet<String>,
    by_name: HashMap<String, Vec<String>>,
}

impl Paths {
    /// Knows `paths`.
    pub fn new(paths: &[String]) -> Self {
        let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
        for path in paths {
            let name = path.rsplit('/').next().unwrap_or(path);
            by_name.entry(name.to_owned()).or_default().push(path.clone());
        }
        Self { known: paths.iter().cloned().collect(), by_name }
    }

    /// The file that `printed` means, when it was printed by a tool that ran in `folder`.
    ///
    /// A path from the folder or the root comes first. Test runners print the bare name of a file;
    /// that is taken where only one file of the folder has it.
    pub fn resolve(&self, printed: &str, folder: &str) -> Option<String> {
        let printed = printed.strip_prefix("file://").unwrap_or(printed);
        let printed = printed.replace('\\', "/");
        let plain = joined(folder, &printed);
        if let Some(plain) = plain.filter(|path| self.known.contains(path)) {
            return Some(plain);
        }
        let from_root = joined("", &printed)?;
        if self.known.contains(&from_root) {
            return Some(from_root);
        }
        let name = from_root.rsplit('/').next()?;
        let ending = format!("/{from_root}");
        let candidates = self.by_name.get(name)?;
        let mut fitting =
            candidates.iter().filter(|path| is_below(path, folder) && (path.ends_with(&ending)));
        let first = fitting.next()?;
        fitting.next().is_none().then(|| first.clone())
    }
}

/// A tree that is a list of files; for tests.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct Listed {
    paths: Vec<String>,
    texts: HashMap<String, String>,
}

#[cfg(test)]
impl Listed {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        paths.sort();
        let texts = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self { paths, texts: texts.collect() }
    }
}

#[cfg(test)]
impl Tree for Listed {
    fn paths(&self) -> &[String] {
        &self.paths
    }

    fn text(&self, path: &str) -> Option<String> {
        self.texts.get(path).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_paths_mean_files_of_the_repository() {
        let paths: Vec<String> =
            ["main.go", "api/a_test.go", "api/b.go", "web/src/b.ts", "lib/b.go"]
                .map(str::to_owned)
                .to_vec();
        let paths = Paths::new(&paths);
        for (printed, folder, meant) in [
            ("./main.go", "", Some("main.go")),
            ("b.go", "api", Some("api/b.go")),
            ("a_test.go", "", Some("api/a_test.go")),
            ("b.go", "", None),
            ("src/b.ts", "web", Some("web/src/b.ts")),
            ("web/src/b.ts", "web", Some("web/src/b.ts")),
            ("file://web/src/b.ts", "", Some("web/src/b.ts")),
            ("../../etc/passwd", "", None),
            ("12", "", None),
            ("go", "", None),
        ] {
            assert_eq!(paths.resolve(printed, folder).as_deref(), meant, "{printed} in {folder:?}");
        }
    }

    #[test]
    fn projects_inside_projects_and_foreign_ones_are_left_out() {
        let tree = Listed::of(&[
            ("a/Cargo.toml", ""),
            ("a/inner/Cargo.toml", ""),
            ("ab/Cargo.toml", ""),
            ("vendor/x/Cargo.toml", ""),
        ]);
        assert_eq!(outermost(folders_with(&tree, &["Cargo.toml"])), ["a", "ab"]);
    }
}
