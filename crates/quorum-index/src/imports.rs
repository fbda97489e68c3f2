//! Which files of the repository an import stands for.
//!
//! Names are matched against paths: no build is configured and no package manager is asked. What
//! matches nothing is taken for a dependency from elsewhere.

use std::collections::HashMap;

use quorum_model::path::joined;

use crate::catalog::{Catalog, CatalogFile};

/// Files that one import may stand for; more say nothing.
const MOST: usize = 32;

/// The paths of a tree, by the last parts of their names.
#[derive(Debug)]
pub struct Paths {
    names: Vec<String>,
    /// By the name without its ending, and by the name of the folder.
    by_stem: HashMap<String, Vec<usize>>,
    by_folder: HashMap<String, Vec<usize>>,
}

impl Paths {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        Self::of(catalog.files.iter().map(CatalogFile::shown).collect())
    }

    /// Of these files.
    pub fn of(names: Vec<String>) -> Self {
        let mut by_stem: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_folder: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, path) in names.iter().enumerate() {
            by_stem.entry(stem(path).to_owned()).or_default().push(index);
            let folder = path.rsplit('/').nth(1).unwrap_or_default();
            by_folder.entry(folder.to_owned()).or_default().push(index);
        }
        Self { names, by_stem, by_folder }
    }

    /// The files that `module` stands for in the file `from`.
    pub fn resolve(&self, module: &str, from: &str, language: Option<&str>) -> Vec<usize> {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut found = match language.unwrap_or_default() {
            "Rust" => self.rust(module, from),
            "Go" => self.go(module),
            "Python" => self.python(module, folder),
            "Java" | "Kotlin" | "C#" => self.dotted(module, language),
            "PHP" => self.suffix(&module.replace('\\', "/")),
            _ if module.starts_with('.') => self.relative(folder, module),
            "C" | "C++" | "Objective-C" => self.include(folder, module),
            "Ruby" | "Shell" => self.suffix(module),
            _ => Vec::new(),
        };
        found.retain(|index| self.names[*index] != from);
        found.truncate(MOST);
        found
    }

    /// The name of a file.
    pub fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("", String::as_str)
    }

    /// Files whose path without its ending is, or ends with, `path`.
    fn suffix(&self, path: &str) -> Vec<usize> {
        let path = path.trim_matches('/');
        let wanted = without_ending(path);
        let candidates = self.by_stem.get(stem(path)).into_iter().flatten().copied();
        let with_ending = wanted.len() < path.len();
        candidates
            .filter(|index| {
                let found = &self.names[*index];
                let found = if with_ending && found.ends_with(path) {
                    found
                } else {
                    without_ending(found)
                };
                ends_with_parts(found, wanted) || ends_with_parts(found, path)
            })
            .collect()
    }

    /// Files that a path from a folder names: itself, with an ending, or the entry of a folder.
    fn relative(&self, folder: &str, module: &str) -> Vec<usize> {
        let Some(wanted) = joined(folder, module) else { return Vec::new() };
        let exact = |index: &usize| {
            let found = &self.names[*index];
            *found == wanted
                || without_ending(found) == wanted
                || without_ending(found) == without_ending(&wanted)
        };
        let candidates = self.by_stem.get(stem(&wanted)).into_iter().flatten().copied();
        let found: Vec<usize> = candidates.filter(exact).collect();
        if !found.is_empty() {
            return found;
        }
        let last = wanted.rsplit('/').next().unwrap_or_default();
        let inside = self.by_folder.get(last).into_iter().flatten().copied();
        inside
            .filter(|index| {
                let found = without_ending(&self.names[*index]);
                let entry = ["index", "__init__", "mod"].iter().any(|name| stem(found) == *name);
                entry && found.rsplit_once('/').is_some_and(|(folder, _)| folder == wanted)
            })
            .collect()
    }

    fn include(&self, folder: &str, module: &str) -> Vec<usize> {
        let beside = self.relative(folder, &format!("./{module}"));
        let exact: Vec<usize> =
            beside.into_iter().filter(|index| self.names[*index].ends_with(module)).collect();
        if !exact.is_empty() {
            return exact;
        }
        let candidates = self.by_stem.get(stem(module)).into_iter().flatten().copied();
        candidates.filter(|index| ends_with_parts(&self.names[*index], module)).collect()
    }

    /// A package of Go is a folder: what follows the name of the repository.
    fn go(&self, module: &str) -> Vec<usize> {
        let mut parts = module.split('/');
        if !parts.next().is_some_and(|host| host.contains('.')) {
            return Vec::new();
        }
        let rest: Vec<&str> = parts.skip(2).collect();
        // `v2` names a version, not a folder.
        let rest: Vec<&str> = rest
            .into_iter()
            .skip_while(|part| part.strip_prefix('v').is_some_and(|n| n.parse::<u32>().is_ok()))
            .collect();
        let wanted = rest.join("/");
        let last = rest.last().copied().unwrap_or_default();
        let inside = self.by_folder.get(last).into_iter().flatten().copied();
        inside
            .filter(|index| {
                let path = &self.names[*index];
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                path.ends_with(".go") && ends_with_parts(folder, &wanted)
            })
            .collect()
    }

    fn python(&self, module: &str, folder: &str) -> Vec<usize> {
        let dots = module.len() - module.trim_start_matches('.').len();
        let rest = module.trim_start_matches('.').replace('.', "/");
        if dots > 0 {
            let up = "../".repeat(dots - 1);
            return self.relative(folder, &format!("./{up}{rest}"));
        }
        let found = self.suffix(&rest);
        if !found.is_empty() {
            return found.into_iter().filter(|index| self.names[*index].contains(".py")).collect();
        }
        self.suffix(&format!("{rest}/__init__"))
    }

    /// `a.b.C` is a file `a/b/C`, `a.b.*` a folder.
    fn dotted(&self, module: &str, language: Option<&str>) -> Vec<usize> {
        let whole = module.strip_suffix(".*");
        let path = whole.unwrap_or(module).replace('.', "/");
        if whole.is_none() && language != Some("C#") {
            let found = self.suffix(&path);
            // A nested type stands in the file of the type around it.
            let around =
                || path.rsplit_once('/').map_or(Vec::new(), |(above, _)| self.suffix(above));
            return if found.is_empty() { around() } else { found };
        }
        let last = path.rsplit('/').next().unwrap_or_default();
        let inside = self.by_folder.get(last).into_iter().flatten().copied();
        inside
            .filter(|index| {
                let folder = self.names[*index].rsplit_once('/').map_or("", |(folder, _)| folder);
                ends_with_parts(folder, &path)
            })
            .collect()
    }

    /// `crate::a::B` stands in this crate, `other_crate::a::B` in a folder `other-crate`.
    fn rust(&self, module: &str, from: &str) -> Vec<usize> {
        let mut parts: Vec<&str> = module.split("::").collect();
        let own = from.rfind("/src/").map(|at| &from[..at]).unwrap_or_default();
        let first = parts.first().copied().unwrap_or_default();
        let root = match first {
            "crate" => {
                parts.remove(0);
                Some(own.to_owned())
            }
            "self" | "super" => {
                parts.retain(|part| !matches!(*part, "self" | "super"));
                Some(own.to_owned())
            }
            _ => None,
        };
        let crate_name = first.replace('_', "-");
        if root.is_none() {
            parts.remove(0);
        }
        // The last part may be an item of the module before it.
        for length in (1..=parts.len()).rev() {
            let path = parts[..length].join("/");
            let mut found = self.suffix(&path);
            found.extend(self.suffix(&format!("{path}/mod")));
            found.retain(|index| {
                let path = &self.names[*index];
                path.ends_with(".rs")
                    && match &root {
                        Some(root) => path.starts_with(root.as_str()),
                        None => in_crate(path, &crate_name),
                    }
            });
            if !found.is_empty() {
                return found;
            }
        }
        let entry = self.suffix("src/lib");
        let of_crate = |index: &usize| match &root {
            Some(root) => self.names[*index] == format!("{root}/src/lib.rs"),
            None => in_crate(&self.names[*index], &crate_name),
        };
        entry.into_iter().filter(of_crate).collect()
    }
}

/// Whether a file is of a crate: in a folder of its name, or of its name without a first part that
/// all crates of a workspace share.
fn in_crate(path: &str, name: &str) -> bool {
    let folder = path.find("/src/").map_or("", |at| &path[..at]);
    let folder = folder.rsplit('/').next().unwrap_or_default().replace('_', "-");
    !folder.is_empty()
        && (folder == name || name.split_once('-').is_some_and(|(_, rest)| rest == folder))
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    without_ending(name)
}

fn without_ending(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => &path[..path.len() - name.len() + stem.len()],
        _ => path,
    }
}

/// Whether the last parts of `path` are those of `end`.
fn ends_with_parts(path: &str, end: &str) -> bool {
    let Some(before) = path.strip_suffix(end) else { return false };
    before.is_empty() || before.ends_with('/') || end.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(module: &str, from: &str, language: &str) -> Vec<String> {
        let files = [
            "crates/quorum-model/src/lib.rs",
            "crates/quorum-model/src/config.rs",
            "crates/app/src/main.rs",
            "crates/app/src/render/mod.rs",
            "crates/app/src/render/page.rs",
            "go/internal/auth/token.go",
            "go/main.go",
            "py/pkg/__init__.py",
            "py/pkg/util.py",
            "py/pkg/sub/run.py",
            "web/src/a.ts",
            "web/src/lib/index.ts",
            "java/src/com/x/Foo.java",
            "c/include/z/a.h",
            "c/src/a.c",
        ];
        let file = |path: &&str| CatalogFile {
            path: path.as_bytes().to_vec(),
            language: None,
            vendored: false,
            aside: false,
            blob: None,
            first_doc: 0,
            docs: 0,
        };
        let catalog = Catalog { files: files.iter().map(file).collect(), ..Catalog::default() };
        let paths = Paths::new(&catalog);
        let found = paths.resolve(module, from, Some(language));
        found.into_iter().map(|index| paths.name(index).to_owned()).collect()
    }

    #[test]
    fn imports_are_found_in_the_tree() {
        let cases = [
            (
                "crate::render::page::Page",
                "crates/app/src/main.rs",
                "Rust",
                "crates/app/src/render/page.rs",
            ),
            ("crate::render", "crates/app/src/main.rs", "Rust", "crates/app/src/render/mod.rs"),
            (
                "quorum_model::config::Config",
                "crates/app/src/main.rs",
                "Rust",
                "crates/quorum-model/src/config.rs",
            ),
            (
                "quorum_model::Thing",
                "crates/app/src/main.rs",
                "Rust",
                "crates/quorum-model/src/lib.rs",
            ),
            ("github.com/o/r/internal/auth", "go/main.go", "Go", "go/internal/auth/token.go"),
            ("..util", "py/pkg/sub/run.py", "Python", "py/pkg/util.py"),
            ("pkg.util", "py/pkg/sub/run.py", "Python", "py/pkg/util.py"),
            ("pkg", "py/pkg/sub/run.py", "Python", "py/pkg/__init__.py"),
            ("./lib", "web/src/a.ts", "TypeScript", "web/src/lib/index.ts"),
            ("./a.js", "web/src/b.ts", "TypeScript", "web/src/a.ts"),
            ("com.x.Foo", "java/src/com/y/Bar.java", "Java", "java/src/com/x/Foo.java"),
            ("com.x.*", "java/src/com/y/Bar.java", "Java", "java/src/com/x/Foo.java"),
            ("z/a.h", "c/src/a.c", "C", "c/include/z/a.h"),
        ];
        for (module, from, language, expected) in cases {
            assert_eq!(resolve(module, from, language), [expected], "{module} in {from}");
        }
    }

    #[test]
    fn what_is_from_elsewhere_stands_for_nothing_here() {
        for (module, from, language) in [
            ("std::fs", "crates/app/src/main.rs", "Rust"),
            ("fmt", "go/main.go", "Go"),
            ("github.com/o/other/pkg", "go/main.go", "Go"),
            ("os.path", "py/pkg/util.py", "Python"),
            ("react", "web/src/a.ts", "TypeScript"),
            ("../../../../x", "web/src/a.ts", "TypeScript"),
        ] {
            assert_eq!(resolve(module, from, language), [""; 0], "{module}");
        }
    }
}
