//! What `.gitattributes` says about files.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::thread;

use bstr::BString;

use crate::error::ScopeError;
use crate::git::Git;
use crate::repository::Repository;
use crate::request::{PolicySource, Sides, Target};

/// What a team says about a file in `.gitattributes`, where it says anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// `linguist-generated`.
    pub generated: Option<bool>,
    /// `linguist-vendored`.
    pub vendored: Option<bool>,
    /// `linguist-documentation`.
    pub documentation: Option<bool>,
}

const NAMES: [&str; 3] = ["linguist-generated", "linguist-vendored", "linguist-documentation"];

/// The attributes of `paths`; files about which nothing is said are left out.
///
/// They decide what a reviewer is shown, so they are policy and come from where policy comes from.
pub fn of_paths(
    repository: &Repository,
    policy: &PolicySource,
    paths: &[BString],
) -> Result<HashMap<BString, Attributes>, ScopeError> {
    match policy {
        PolicySource::Commit(commit) => Ok(said(ask_commit(repository, commit, &NAMES, paths)?)),
        PolicySource::WorkTree if repository.work_tree().is_some() => {
            Ok(said(ask(repository.git(), None, &NAMES, paths)?))
        }
        PolicySource::WorkTree | PolicySource::Nowhere => Ok(HashMap::new()),
    }
}

/// The encodings in which git writes `paths` to disk because of what the change says, each with its
/// file. What is there already counts as it is; what the change brings would give programs another
/// text than the one that is reviewed.
pub fn rewritten(
    repository: &Repository,
    target: &Target,
    paths: &[BString],
) -> Result<HashMap<BString, String>, ScopeError> {
    let brings = paths.iter().any(|path| path.ends_with(b".gitattributes"));
    let (base, head) = match (&target.sides, target.exclusions()) {
        _ if !brings => return Ok(HashMap::new()),
        (Sides::Trees { new, .. }, base) => (base, encodings_at(repository, new, paths)?),
        (Sides::TreeToIndex(_), base) => {
            (base, encodings(ask(repository.git(), Some("--cached"), &ENCODING, paths)?))
        }
        (Sides::IndexToWorkTree | Sides::TreeToWorkTree(_), base) => {
            (base, encodings(ask(repository.git(), None, &ENCODING, paths)?))
        }
        _ => return Ok(HashMap::new()),
    };
    let before = match base {
        PolicySource::Commit(commit) => encodings_at(repository, &commit, paths)?,
        PolicySource::WorkTree | PolicySource::Nowhere => HashMap::new(),
    };
    Ok(head.into_iter().filter(|(path, name)| before.get(path) != Some(name)).collect())
}

const ENCODING: [&str; 1] = ["working-tree-encoding"];

fn encodings_at(
    repository: &Repository,
    commit: &str,
    paths: &[BString],
) -> Result<HashMap<BString, String>, ScopeError> {
    Ok(encodings(ask_commit(repository, commit, &ENCODING, paths)?))
}

/// Git takes UTF-8 and words that are no name for no encoding at all.
fn encodings(answers: Vec<Answer>) -> HashMap<BString, String> {
    let plain = ["unspecified", "set", "unset", "utf-8", "utf8", ""];
    let named = answers.into_iter().map(|answer| (answer.path, answer.value.to_string()));
    named.filter(|(_, value)| !plain.contains(&value.to_ascii_lowercase().as_str())).collect()
}

/// What git answers about one attribute of one file.
struct Answer {
    path: BString,
    name: BString,
    value: BString,
}

fn ask_commit(
    repository: &Repository,
    commit: &str,
    names: &[&str],
    paths: &[BString],
) -> Result<Vec<Answer>, ScopeError> {
    match ask(repository.git(), Some(&format!("--source={commit}")), names, paths) {
        // Git before 2.40 knows no `--source`.
        Err(ScopeError::Git { .. }) => ask_index_of(repository, commit, names, paths),
        answers => answers,
    }
}

/// The attributes that an index with the files of `commit` has.
fn ask_index_of(
    repository: &Repository,
    commit: &str,
    names: &[&str],
    paths: &[BString],
) -> Result<Vec<Answer>, ScopeError> {
    let failed = |error: std::io::Error| ScopeError::Git {
        command: "check-attr".to_owned(),
        message: format!("no place for an index of its own: {error}"),
        code: None,
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let git = repository.git().clone().with_index(folder.path().join("index"));
    git.output(["read-tree", commit])?;
    ask(&git, Some("--cached"), names, paths)
}

fn ask(
    git: &Git,
    source: Option<&str>,
    names: &[&str],
    paths: &[BString],
) -> Result<Vec<Answer>, ScopeError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut arguments = vec!["check-attr", "-z", "--stdin"];
    arguments.extend(source);
    arguments.extend(names);
    let mut child = git.converse(arguments)?;
    let mut requests = Vec::new();
    for path in paths {
        requests.extend_from_slice(path);
        requests.push(0);
    }
    let mut answers = Vec::new();
    let read = thread::scope(|scope| {
        if let Some(mut stdin) = child.stdin.take() {
            // Git stops reading when it fails, which its status says.
            scope.spawn(move || drop(stdin.write_all(&requests)));
        }
        child.stdout.take().map(|mut stdout| stdout.read_to_end(&mut answers))
    });
    let status = child.wait().map_err(ScopeError::NoGit)?;
    if !status.success() || !matches!(read, Some(Ok(_))) {
        let message = "it did not say which attributes files have".to_owned();
        let (command, code) = ("check-attr".to_owned(), status.code());
        return Err(ScopeError::Git { command, message, code });
    }
    Ok(parse(&answers))
}

fn parse(answers: &[u8]) -> Vec<Answer> {
    let mut found = Vec::new();
    let mut fields = answers.split(|&byte| byte == 0);
    while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next())
    {
        found.push(Answer { path: path.into(), name: name.into(), value: value.into() });
    }
    found
}

fn said(answers: Vec<Answer>) -> HashMap<BString, Attributes> {
    let mut found: HashMap<BString, Attributes> = HashMap::new();
    for answer in answers {
        let value = match answer.value.as_slice() {
            b"set" | b"true" => true,
            b"unset" | b"false" => false,
            _ => continue,
        };
        let attributes = found.entry(answer.path).or_default();
        match answer.name.as_slice() {
            b"linguist-generated" => attributes.generated = Some(value),
            b"linguist-vendored" => attributes.vendored = Some(value),
            b"linguist-documentation" => attributes.documentation = Some(value),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--source` is not known to git before 2.40, where an index of its own takes its place.
    #[test]
    fn both_ways_to_ask_about_a_commit_agree() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = Git::new(folder.path());
        git.output(["init", "-q"]).expect("a repository");
        std::fs::write(folder.path().join(".gitattributes"), "gen/* linguist-generated\n")
            .expect("written");
        git.output(["add", "."]).expect("added");
        let tree = git.line(["write-tree"]).expect("a tree");
        std::fs::write(folder.path().join(".gitattributes"), "* linguist-generated\n")
            .expect("written");
        let repository = Repository::discover(folder.path()).expect("found");
        let paths = [BString::from("gen/a.py"), BString::from("src/a.py")];
        let by_source =
            of_paths(&repository, &PolicySource::Commit(tree.clone()), &paths).expect("answers");
        let by_index = said(ask_index_of(&repository, &tree, &NAMES, &paths).expect("answers"));
        assert_eq!(by_source, by_index);
        assert_eq!(by_source.keys().collect::<Vec<_>>(), ["gen/a.py"]);
    }
}
