//! Paths stay within the roots that the client gave, whatever they look like.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::{Code, ToolError};

/// The folders that calls are confined to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    roots: Vec<Root>,
    /// Whether a client may name others, or only narrow these down.
    fixed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Root {
    /// As it was named.
    named: PathBuf,
    /// Where it really is.
    real: PathBuf,
}

impl Root {
    fn new(named: &Path) -> Option<Self> {
        let real = named.canonicalize().ok().filter(|real| real.is_dir())?;
        Some(Self { named: named.to_owned(), real })
    }
}

impl Roots {
    /// Folders that the user named: a client may narrow them down and not leave them.
    pub fn fixed(folders: &[PathBuf]) -> Self {
        Self { roots: folders.iter().filter_map(|folder| Root::new(folder)).collect(), fixed: true }
    }

    /// The folder that the server was started in: what a client that names no roots gets.
    pub fn usual(folder: &Path) -> Self {
        Self { roots: Root::new(folder).into_iter().collect(), fixed: false }
    }

    /// These roots with what the client says about them.
    pub(crate) fn of_client(&self, uris: &[String]) -> Self {
        // One that can name roots and has none says nothing about them.
        if uris.is_empty() {
            return self.clone();
        }
        let named: Vec<PathBuf> = uris.iter().filter_map(|uri| of_uri(uri)).collect();
        let mut roots: Vec<Root> = named.iter().filter_map(|folder| Root::new(folder)).collect();
        if self.fixed {
            roots.retain(|root| self.holds(&root.real));
        }
        Self { roots, fixed: self.fixed }
    }

    fn holds(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| real.starts_with(&root.real))
    }

    /// The folder that a call is about; the first root where it names none.
    pub(crate) fn folder(&self, path: Option<&str>) -> Result<PathBuf, ToolError> {
        let first = self.roots.first().ok_or_else(|| {
            ToolError::new(Code::OutsideRoots, "the client gave no root that is a folder")
        })?;
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return Ok(first.real.clone());
        };
        let outside = || outside(path);
        let wanted = first.named.join(checked(path)?);
        let lexical = normal(&wanted).ok_or_else(outside)?;
        let inside =
            |root: &Root| lexical.starts_with(&root.named) || lexical.starts_with(&root.real);
        if !self.roots.iter().any(inside) {
            return Err(outside());
        }
        let real = lexical.canonicalize().map_err(|_| {
            ToolError::new(Code::NotFound, format!("there is no folder `{}`", shown(path)))
        })?;
        if !self.holds(&real) {
            return Err(outside());
        }
        if !real.is_dir() {
            let text = format!("`{}` is not a folder", shown(path));
            return Err(ToolError::new(Code::InvalidArgument, text));
        }
        Ok(real)
    }

    /// `repository`, where all of it is within a root.
    pub(crate) fn whole(&self, repository: PathBuf) -> Result<PathBuf, ToolError> {
        if self.holds(&repository) {
            return Ok(repository);
        }
        let text = format!("the repository {} is larger than the root", repository.display());
        Err(ToolError::new(Code::OutsideRoots, text)
            .with_hint("start the server with `quorum mcp --root` and the repository"))
    }
}

/// A path or a glob of a call, from the root of its repository.
pub(crate) fn path_in(root: &Path, path: &str) -> Result<String, ToolError> {
    let outside = || outside(path);
    let lexical = normal(&root.join(checked(path)?)).ok_or_else(outside)?;
    let relative = lexical.strip_prefix(root).map_err(|_| outside())?;
    // What is there already must not lead elsewhere; a glob is followed as far as it is a path.
    let mut reached = root.to_owned();
    for part in relative.components() {
        let name = part.as_os_str().to_string_lossy();
        if name.contains(['*', '?', '[', '{']) {
            break;
        }
        reached.push(part);
        if fs::symlink_metadata(&reached).is_err() {
            break;
        }
        let real = reached.canonicalize().map_err(|_| outside())?;
        if !real.starts_with(root) {
            return Err(outside());
        }
    }
    let text = relative.to_str().ok_or_else(outside)?;
    Ok(if text.is_empty() { ".".to_owned() } else { text.to_owned() })
}

/// The longest path that is taken.
const LONGEST: usize = 4_096;

fn checked(path: &str) -> Result<&str, ToolError> {
    if path.len() > LONGEST {
        return Err(ToolError::new(Code::TooLarge, "a path has 4,096 bytes at most"));
    }
    if path.contains('\0') {
        return Err(ToolError::new(Code::InvalidArgument, "a path holds no NUL"));
    }
    Ok(path)
}

/// `path` without `.` and `..`, by its words alone; absent where it climbs over its beginning.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            other => normal.push(other),
        }
    }
    Some(normal)
}

fn outside(path: &str) -> ToolError {
    ToolError::new(Code::OutsideRoots, format!("`{}` is outside of the roots", shown(path)))
        .with_hint("name paths from the root of the repository")
}

/// A path as an error may repeat it.
fn shown(path: &str) -> String {
    path.chars().filter(|character| !character.is_control()).take(200).collect()
}

/// The path that a `file:` URI names.
fn of_uri(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code<T: std::fmt::Debug>(result: Result<T, ToolError>) -> Code {
        result.unwrap_err().code
    }

    #[test]
    fn folders_stay_in_their_roots() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("root/sub")).unwrap();
        fs::create_dir_all(base.join("root-too")).unwrap();
        let roots = Roots::fixed(&[base.join("root")]);
        assert_eq!(roots.folder(None).unwrap(), base.join("root"));
        assert_eq!(roots.folder(Some("sub")).unwrap(), base.join("root/sub"));
        assert_eq!(roots.folder(Some("sub/../sub/.")).unwrap(), base.join("root/sub"));
        let absolute = base.join("root-too");
        for bad in ["..", "../root-too", "sub/../../root-too", "/", "/proc/self/cwd", "/etc"] {
            assert_eq!(code(roots.folder(Some(bad))), Code::OutsideRoots, "{bad}");
        }
        assert_eq!(code(roots.folder(absolute.to_str())), Code::OutsideRoots);
        assert_eq!(code(roots.folder(Some("a\0b"))), Code::InvalidArgument);
        assert_eq!(code(roots.folder(Some(&"a/".repeat(3_000)))), Code::TooLarge);
        assert_eq!(code(roots.folder(Some("missing"))), Code::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("root/inside")).unwrap();
        fs::create_dir_all(base.join("elsewhere")).unwrap();
        fs::write(base.join("elsewhere/secret"), "s").unwrap();
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(base.join(to), base.join("root").join(name)).unwrap();
        };
        link("elsewhere", "out");
        link("root/inside", "in");
        let root = base.join("root");
        let roots = Roots::fixed(std::slice::from_ref(&root));
        assert_eq!(code(roots.folder(Some("out"))), Code::OutsideRoots);
        assert_eq!(roots.folder(Some("in")).unwrap(), base.join("root/inside"));
        assert_eq!(code(path_in(&root, "out/secret")), Code::OutsideRoots);
        assert_eq!(code(path_in(&root, "out/*")), Code::OutsideRoots);
        assert_eq!(path_in(&root, "in/a.rs").unwrap(), "in/a.rs");
    }

    #[test]
    fn files_are_named_from_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(path_in(&root, "./src/../a.rs").unwrap(), "a.rs");
        assert_eq!(path_in(&root, root.join("b/c.rs").to_str().unwrap()).unwrap(), "b/c.rs");
        assert_eq!(path_in(&root, "src/**/*.go").unwrap(), "src/**/*.go");
        assert_eq!(path_in(&root, ".").unwrap(), ".");
        for bad in ["../a", "a/../../b", "/etc/passwd", "/proc/self/environ", "**/../../.."] {
            assert_eq!(code(path_in(&root, bad)), Code::OutsideRoots, "{bad}");
        }
    }

    #[test]
    fn a_client_narrows_fixed_roots_and_names_usual_ones() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("a b/sub")).unwrap();
        fs::create_dir_all(base.join("other")).unwrap();
        let uri = |path: &str| format!("file://{}/{}", base.display(), path.replace(' ', "%20"));
        let fixed = Roots::fixed(&[base.join("a b")]);
        let narrowed = fixed.of_client(&[uri("a b/sub"), uri("other")]);
        assert_eq!(narrowed.folder(None).unwrap(), base.join("a b/sub"));
        assert_eq!(code(narrowed.folder(base.join("other").to_str())), Code::OutsideRoots);
        assert_eq!(code(fixed.of_client(&[uri("other")]).folder(None)), Code::OutsideRoots);
        let usual = Roots::usual(&base.join("a b"));
        assert_eq!(usual.of_client(&[uri("other")]).folder(None).unwrap(), base.join("other"));
        assert_eq!(usual.of_client(&[]), usual);
        assert_eq!(fixed.of_client(&[]), fixed);
        assert_eq!(of_uri("http://x/y"), None);
        assert_eq!(of_uri("file:///a%2"), None);
    }
}
