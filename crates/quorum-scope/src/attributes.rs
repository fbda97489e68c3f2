//! What `.gitattributes` says about files.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::thread;

use bstr::BString;

use crate::error::ScopeError;
use crate::repository::Repository;
use crate::request::PolicySource;

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
    let mut arguments = vec!["check-attr".to_owned(), "-z".to_owned(), "--stdin".to_owned()];
    match policy {
        PolicySource::Commit(commit) => arguments.push(format!("--source={commit}")),
        PolicySource::WorkTree if repository.work_tree().is_some() => {}
        PolicySource::WorkTree | PolicySource::Nowhere => return Ok(HashMap::new()),
    }
    arguments.extend(NAMES.map(str::to_owned));
    let mut child = repository.git().converse(arguments)?;
    let mut requests = Vec::new();
    for path in paths {
        requests.extend_from_slice(path);
        requests.push(0);
    }
    let mut answers = Vec::new();
    thread::scope(|scope| {
        if let Some(mut stdin) = child.stdin.take() {
            // Git stops reading when it fails; what it did answer is used.
            scope.spawn(move || drop(stdin.write_all(&requests)));
        }
        if let Some(mut stdout) = child.stdout.take() {
            drop(stdout.read_to_end(&mut answers));
        }
    });
    drop(child.wait());
    Ok(parse(&answers))
}

fn parse(answers: &[u8]) -> HashMap<BString, Attributes> {
    let mut found: HashMap<BString, Attributes> = HashMap::new();
    let mut fields = answers.split(|&byte| byte == 0);
    while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next())
    {
        let value = match value {
            b"set" | b"true" => true,
            b"unset" | b"false" => false,
            _ => continue,
        };
        let attributes = found.entry(BString::from(path)).or_default();
        match name {
            b"linguist-generated" => attributes.generated = Some(value),
            b"linguist-vendored" => attributes.vendored = Some(value),
            b"linguist-documentation" => attributes.documentation = Some(value),
            _ => {}
        }
    }
    found
}
