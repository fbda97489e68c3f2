//! Whether the code imports a package: a cheap look for the words by which its language would.

use quorum_advisories::{Ecosystem, Package};

use crate::source::{Side, Sources};

/// How many files are read at most, and how many bytes of each.
const FILES: usize = 400;
const BYTES: usize = 64 * 1024;

/// Whether the code imports a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// In this file.
    Found(String),
    /// In none of the files that were read.
    NotFound,
    /// Its language's imports do not name packages, or there is nothing to read.
    Unknown,
}

impl Use {
    /// What a finding says about it.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Found(path) => format!(" {path} imports it."),
            Self::NotFound => " No import of it was found in the code.".to_owned(),
            Self::Unknown => String::new(),
        }
    }
}

pub(super) fn find(package: &Package, sources: &dyn Sources) -> Use {
    let Some((endings, words)) = signs(package) else { return Use::Unknown };
    let is_code = |path: &&String| {
        let ending = path.rsplit('.').next().unwrap_or_default();
        endings.contains(&ending) && !path.contains("node_modules/") && !path.contains("vendor/")
    };
    let files: Vec<&String> = sources.paths().iter().filter(is_code).take(FILES + 1).collect();
    for path in files.iter().take(FILES) {
        let Some(text) = sources.read(path, Side::Head) else { continue };
        let mut end = text.len().min(BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if words.iter().any(|word| text[..end].contains(word.as_str())) {
            return Use::Found((*path).clone());
        }
    }
    if files.is_empty() || files.len() > FILES { Use::Unknown } else { Use::NotFound }
}

/// Endings of the language's files, and what an import of the package looks like in them.
fn signs(package: &Package) -> Option<(&'static [&'static str], Vec<String>)> {
    let name = &package.name;
    Some(match package.ecosystem {
        Ecosystem::Npm => (
            &["js", "ts", "jsx", "tsx", "mjs", "cjs", "vue", "svelte"],
            ["'", "\"", "`"]
                .iter()
                .flat_map(|q| [format!("{q}{name}{q}"), format!("{q}{name}/")])
                .collect(),
        ),
        Ecosystem::Go => (&["go"], vec![format!("\"{name}\""), format!("\"{name}/")]),
        Ecosystem::Cargo => {
            let name = name.replace('-', "_");
            (
                &["rs"],
                vec![format!("{name}::"), format!("use {name}"), format!("extern crate {name}")],
            )
        }
        Ecosystem::PyPi => {
            let name = name.to_ascii_lowercase().replace('-', "_");
            (&["py"], vec![format!("import {name}"), format!("from {name}")])
        }
        Ecosystem::RubyGems => {
            (&["rb"], vec![format!("require '{name}'"), format!("require \"{name}\"")])
        }
        Ecosystem::Maven | Ecosystem::NuGet | Ecosystem::Packagist => return None,
    })
}
