//! Any text is a manifest or lock file of each kind or an error, and every line lies within it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorum_advisories::packages::{Format, read_as};

const NAMES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "go.mod",
    "go.sum",
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "requirements.txt",
    "pyproject.toml",
    "poetry.lock",
    "Pipfile",
    "Pipfile.lock",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "composer.lock",
    "pom.xml",
    "gradle.lockfile",
    "build.gradle",
    "libs.versions.toml",
    "verification-metadata.xml",
    "packages.lock.json",
    "packages.config",
    "a.csproj",
];

fuzz_target!(|text: &str| {
    let lines = text.lines().count() as u64 + 1;
    for name in NAMES {
        let format = Format::of(name).expect("a known name");
        if let Ok(document) = read_as(format, text) {
            for package in &document.packages {
                assert!((1..=lines).contains(&package.line), "{name}");
            }
        }
    }
});
