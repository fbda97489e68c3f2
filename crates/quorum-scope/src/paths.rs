//! Paths, directories and globs that the user names.

use std::path::{Component, Path, PathBuf};

use bstr::{BStr, ByteSlice};
use globset::{GlobBuilder, GlobMatcher};

use crate::error::ScopeError;
use crate::repository::Repository;

/// The paths that a user named, from the root of the repository.
#[derive(Debug, Default)]
pub struct PathFilter {
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    written: String,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    /// A file, or a directory with everything in it; empty for the root.
    Literal {
        path: String,
        exists: bool,
    },
    Glob(Box<GlobMatcher>),
}

impl PathFilter {
    /// Reads what the user wrote, from the folder that the user stands in.
    pub fn new(repository: &Repository, written: &[String]) -> Result<Self, ScopeError> {
        let patterns = written.iter().map(|text| pattern(repository, text));
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// Reads what the user wrote where there is no repository: names in a diff.
    pub fn without_repository(written: &[String]) -> Result<Self, ScopeError> {
        let patterns = written.iter().map(|text| {
            let matcher = if is_glob(text) {
                Matcher::Glob(Box::new(glob(text, text)?))
            } else {
                let path = text.trim_start_matches("./").trim_end_matches('/').to_owned();
                Matcher::Literal { path, exists: false }
            };
            Ok(Pattern { written: text.clone(), matcher })
        });
        Ok(Self { patterns: patterns.collect::<Result<_, ScopeError>>()? })
    }

    /// Whether `path` was named; everything was when nothing was.
    pub fn admits(&self, path: &BStr) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(path))
    }

    /// The plain files on disk that the user named one by one.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().filter_map(|pattern| match &pattern.matcher {
            Matcher::Literal { path, exists: true } => Some(path.as_str()),
            _ => None,
        })
    }

    /// An error for the first pattern that matches none of `paths`, where it should.
    ///
    /// With `whole_files`, everything that was named must be there. In a change, a name that is on
    /// disk may simply be unchanged.
    pub fn check_used(&self, paths: &[&BStr], whole_files: bool) -> Result<(), ScopeError> {
        for pattern in &self.patterns {
            let unchanged = matches!(pattern.matcher, Matcher::Literal { exists: true, .. });
            if (whole_files || !unchanged) && !paths.iter().any(|path| pattern.matches(path)) {
                return Err(ScopeError::NoSuchPath(pattern.written.clone()));
            }
        }
        Ok(())
    }
}

impl Pattern {
    fn matches(&self, path: &BStr) -> bool {
        match &self.matcher {
            Matcher::Literal { path: literal, .. } => {
                let rest = path.strip_prefix(literal.as_bytes());
                literal.is_empty()
                    || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            }
            Matcher::Glob(glob) => path.to_path().is_ok_and(|path| glob.is_match(path)),
        }
    }
}

fn pattern(repository: &Repository, written: &str) -> Result<Pattern, ScopeError> {
    if written.is_empty() {
        return Err(ScopeError::NoSuchPath(String::new()));
    }
    let on_disk = repository.cwd().join(written);
    let exists = on_disk.symlink_metadata().is_ok();
    let matcher = if exists || !is_glob(written) {
        let path = inside(repository, &on_disk, written)?;
        Matcher::Literal { path, exists }
    } else {
        if Path::new(written).is_absolute() || climbs_out(repository.prefix(), written) {
            return Err(ScopeError::OutsideRepository(written.to_owned()));
        }
        let from_root = normal(&format!("{}{written}", escape(repository.prefix())));
        Matcher::Glob(Box::new(glob(&from_root, written)?))
    };
    Ok(Pattern { written: written.to_owned(), matcher })
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn glob(pattern: &str, written: &str) -> Result<GlobMatcher, ScopeError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.map_err(|error| ScopeError::BadPattern {
        pattern: written.to_owned(),
        message: error.kind().to_string(),
    })?;
    Ok(glob.compile_matcher())
}

/// Glob characters in the name of the present folder stand for themselves.
fn escape(prefix: &str) -> String {
    globset::escape(prefix)
}

/// The path from the root of the repository, or an error when it leads out of it.
fn inside(repository: &Repository, path: &Path, written: &str) -> Result<String, ScopeError> {
    let outside = || ScopeError::OutsideRepository(written.to_owned());
    let Some(root) = repository.work_tree() else {
        let path = lexical(Path::new(written)).ok_or_else(outside)?;
        return Ok(path.to_string_lossy().into_owned());
    };
    let lexical = lexical(path).ok_or_else(outside)?;
    // Git names the root without symbolic links; the user may have come through one.
    let resolved = match (lexical.parent().and_then(|p| p.canonicalize().ok()), lexical.file_name())
    {
        (Some(parent), Some(name)) => parent.join(name),
        _ => lexical.clone(),
    };
    let relative = resolved.strip_prefix(root).map_err(|_| outside())?;
    relative.to_str().map(str::to_owned).ok_or_else(|| ScopeError::NoSuchPath(written.to_owned()))
}

/// `path` without `.` and `..`, by its text alone; absent when it climbs above its start.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            other => out.push(other),
        }
    }
    Some(out)
}

fn climbs_out(prefix: &str, written: &str) -> bool {
    lexical(&Path::new(prefix).join(written)).is_none()
}

fn normal(path: &str) -> String {
    lexical(Path::new(path)).map_or_else(|| path.to_owned(), |p| p.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(written: &[&str], path: &str) -> bool {
        let written: Vec<String> = written.iter().map(|&text| text.to_owned()).collect();
        PathFilter::without_repository(&written).expect("they parse").admits(path.into())
    }

    #[test]
    fn nothing_named_means_everything() {
        assert!(admits(&[], "a/b.c"));
    }

    #[test]
    fn directories_hold_their_files_and_no_others() {
        assert!(admits(&["src/"], "src/a.rs"));
        assert!(admits(&["./src"], "src/deep/a.rs"));
        assert!(!admits(&["src"], "srcs/a.rs"));
    }

    #[test]
    fn a_star_stays_in_one_folder() {
        assert!(admits(&["src/*.rs"], "src/a.rs"));
        assert!(!admits(&["src/*.rs"], "src/deep/a.rs"));
        assert!(admits(&["src/**/*.rs"], "src/deep/a.rs"));
        assert!(admits(&["*.{go,rs}"], "a.go"));
    }

    #[test]
    fn a_path_that_climbs_out_has_no_normal_form() {
        assert_eq!(lexical(Path::new("a/../../b")), None);
        assert_eq!(lexical(Path::new("a/./b/../c")), Some(PathBuf::from("a/c")));
    }
}
