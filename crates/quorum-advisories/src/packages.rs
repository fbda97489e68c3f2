//! Which packages a manifest or lock file names, and on which line.

mod cargo;
mod go;
mod gradle;
mod json;
mod maven;
mod npm;
mod nuget;
mod php;
mod python;
mod ruby;
mod source;
mod toml;
mod tree;
mod xml;
mod yarn;

use thiserror::Error;

use crate::Ecosystem;

/// What a file says about packages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The packages, in the order of the file.
    pub packages: Vec<Package>,
    /// Commands that run when the package is installed.
    pub scripts: Vec<Script>,
    /// The licence of the package that the manifest describes.
    pub license: Option<Located>,
}

/// One package that a file names.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// Where it comes from.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// The version that is used; absent where the file only has a requirement.
    pub version: Option<String>,
    /// What the manifest asks for.
    pub requirement: Option<String>,
    /// The line that names it.
    pub line: u64,
    /// Whether the project asks for it itself.
    pub relation: Relation,
    /// Only for development and tests.
    pub dev: bool,
    /// Where its code is fetched from.
    pub origin: Origin,
    /// The lock file says that it runs a program when it is installed.
    pub has_install_script: bool,
    /// Where a lock file says that it is fetched from: the address of a registry or repository, or
    /// the host of an archive. Absent where the file does not say.
    pub source: Option<String>,
    /// The hashes that a lock file holds its archives to; absent where the file has no place for
    /// them.
    pub hashes: Option<Vec<String>>,
}

/// Whether the project asks for a package itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It does.
    Direct,
    /// Another package does.
    Transitive,
    /// The file does not say.
    Unknown,
}

/// Where a package's code is fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The ecosystem's registry.
    Registry,
    /// A git repository; `pinned` where a commit is named.
    Git {
        /// As written.
        url: String,
        /// Whether it is a commit and not a branch or tag.
        pinned: bool,
    },
    /// An address; `verified` where a hash goes with it.
    Url {
        /// As written.
        url: String,
        /// Whether a hash goes with it.
        verified: bool,
    },
    /// A folder or file of this repository.
    Path,
}

/// A command that runs when a package is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// When it runs, such as `postinstall`.
    pub name: String,
    /// What runs.
    pub command: String,
    /// Its line.
    pub line: u64,
}

/// A text with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The text.
    pub text: String,
    /// Its line.
    pub line: u64,
}

impl Package {
    /// A package of a registry whose relation is not known.
    fn new(ecosystem: Ecosystem, name: impl Into<String>, line: u64) -> Self {
        Self {
            ecosystem,
            name: name.into(),
            version: None,
            requirement: None,
            line,
            relation: Relation::Unknown,
            dev: false,
            origin: Origin::Registry,
            has_install_script: false,
            source: None,
            hashes: None,
        }
    }

    fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    fn requirement(mut self, requirement: impl Into<String>) -> Self {
        self.requirement = Some(requirement.into());
        self
    }

    fn direct(mut self) -> Self {
        self.relation = Relation::Direct;
        self
    }

    fn relation(mut self, relation: Relation) -> Self {
        self.relation = relation;
        self
    }

    fn dev(mut self, dev: bool) -> Self {
        self.dev = dev;
        self
    }

    fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    fn source(mut self, source: Option<String>) -> Self {
        self.source = source;
        self
    }

    fn hashes<T: Into<String>>(mut self, hashes: impl IntoIterator<Item = T>) -> Self {
        self.hashes = Some(hashes.into_iter().map(Into::into).collect());
        self
    }
}

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not readable as {format}: {cause}")]
pub struct ReadError {
    /// What it should be.
    pub format: &'static str,
    /// What is wrong with it.
    pub cause: String,
}

/// What sort of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `Cargo.toml`
    CargoToml,
    /// `Cargo.lock`
    CargoLock,
    /// `go.mod`
    GoMod,
    /// `go.sum`
    GoSum,
    /// `package.json`
    PackageJson,
    /// `package-lock.json`, `npm-shrinkwrap.json`
    PackageLock,
    /// `yarn.lock`
    YarnLock,
    /// `pnpm-lock.yaml`
    PnpmLock,
    /// `bun.lock`
    BunLock,
    /// `requirements.txt` and its like
    Requirements,
    /// `pyproject.toml`
    Pyproject,
    /// `poetry.lock`, `uv.lock`, `pdm.lock`, `pylock.toml`
    PythonLock,
    /// `Pipfile`
    Pipfile,
    /// `Pipfile.lock`
    PipfileLock,
    /// `Gemfile`
    Gemfile,
    /// `Gemfile.lock`
    GemfileLock,
    /// `composer.json`
    ComposerJson,
    /// `composer.lock`
    ComposerLock,
    /// `pom.xml`
    Pom,
    /// `gradle.lockfile`
    GradleLock,
    /// `build.gradle`, `build.gradle.kts`
    GradleBuild,
    /// `libs.versions.toml`
    GradleCatalog,
    /// `verification-metadata.xml`
    GradleVerification,
    /// `packages.lock.json`
    NuGetLock,
    /// `packages.config`
    NuGetConfig,
    /// `*.csproj` and its like, `Directory.Packages.props`
    NuGetProject,
}

impl Format {
    /// From a path.
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        Some(match name {
            "Cargo.toml" => Self::CargoToml,
            "Cargo.lock" => Self::CargoLock,
            "go.mod" => Self::GoMod,
            "go.sum" => Self::GoSum,
            "package.json" => Self::PackageJson,
            "package-lock.json" | "npm-shrinkwrap.json" => Self::PackageLock,
            "yarn.lock" => Self::YarnLock,
            "pnpm-lock.yaml" => Self::PnpmLock,
            "bun.lock" => Self::BunLock,
            "pyproject.toml" => Self::Pyproject,
            "poetry.lock" | "uv.lock" | "pdm.lock" | "pylock.toml" => Self::PythonLock,
            "Pipfile" => Self::Pipfile,
            "Pipfile.lock" => Self::PipfileLock,
            "Gemfile" | "gems.rb" => Self::Gemfile,
            "Gemfile.lock" | "gems.locked" => Self::GemfileLock,
            "composer.json" => Self::ComposerJson,
            "composer.lock" => Self::ComposerLock,
            "pom.xml" => Self::Pom,
            "gradle.lockfile" | "buildscript-gradle.lockfile" => Self::GradleLock,
            "build.gradle" | "build.gradle.kts" => Self::GradleBuild,
            "libs.versions.toml" => Self::GradleCatalog,
            "verification-metadata.xml" => Self::GradleVerification,
            "packages.lock.json" => Self::NuGetLock,
            "packages.config" => Self::NuGetConfig,
            "Directory.Packages.props" => Self::NuGetProject,
            name if is_requirements(name, path) => Self::Requirements,
            name if [".csproj", ".fsproj", ".vbproj"].iter().any(|end| name.ends_with(end)) => {
                Self::NuGetProject
            }
            _ => return None,
        })
    }

    /// Whether it pins what other files ask for.
    pub fn is_lock(self) -> bool {
        matches!(
            self,
            Self::CargoLock
                | Self::GoSum
                | Self::PackageLock
                | Self::YarnLock
                | Self::PnpmLock
                | Self::BunLock
                | Self::PythonLock
                | Self::PipfileLock
                | Self::GemfileLock
                | Self::ComposerLock
                | Self::GradleLock
                | Self::NuGetLock
        )
    }

    /// The names of lock files that pin what this manifest asks for, in its own folder or above.
    pub fn locks(self) -> &'static [&'static str] {
        match self {
            Self::CargoToml => &["Cargo.lock"],
            Self::GoMod => &["go.sum"],
            Self::PackageJson => &[
                "package-lock.json",
                "npm-shrinkwrap.json",
                "yarn.lock",
                "pnpm-lock.yaml",
                "bun.lock",
            ],
            Self::Pyproject => &["uv.lock", "poetry.lock", "pdm.lock"],
            Self::Pipfile => &["Pipfile.lock"],
            Self::Gemfile => &["Gemfile.lock"],
            Self::ComposerJson => &["composer.lock"],
            _ => &[],
        }
    }

    /// The name of the manifest that this lock file pins, in its own folder.
    pub fn manifest(self) -> Option<&'static str> {
        Some(match self {
            Self::CargoLock => "Cargo.toml",
            Self::GoSum => "go.mod",
            Self::PackageLock | Self::YarnLock | Self::PnpmLock | Self::BunLock => "package.json",
            Self::PythonLock => "pyproject.toml",
            Self::PipfileLock => "Pipfile",
            Self::GemfileLock => "Gemfile",
            Self::ComposerLock => "composer.json",
            _ => return None,
        })
    }
}

/// `requirements.txt`, `requirements-dev.txt`, `dev-requirements.in`, `requirements/base.txt`, …
fn is_requirements(name: &str, path: &str) -> bool {
    let text = name.ends_with(".txt") || name.ends_with(".in");
    let named = name.contains("requirements") || name.contains("constraints");
    let in_folder = path.rsplit('/').nth(1) == Some("requirements");
    text && (named || in_folder)
}

/// Reads a file by its name; absent where the name says that it is none of these.
pub fn read(path: &str, text: &str) -> Option<Result<Document, ReadError>> {
    Format::of(path).map(|format| read_as(format, text))
}

/// Reads a file of a known format.
pub fn read_as(format: Format, text: &str) -> Result<Document, ReadError> {
    match format {
        Format::CargoToml => Ok(cargo::manifest(&toml::parse(text)?)),
        Format::CargoLock => Ok(cargo::lock(&toml::parse(text)?)),
        Format::GoMod => go::module(text),
        Format::GoSum => go::sums(text),
        Format::PackageJson => Ok(npm::manifest(&json::parse(text)?)),
        Format::PackageLock => Ok(npm::lock(&json::parse(text)?)),
        Format::BunLock => Ok(npm::bun(&json::parse(text)?)),
        Format::YarnLock => yarn::yarn(text),
        Format::PnpmLock => yarn::pnpm(text),
        Format::Requirements => Ok(python::requirements(text)),
        Format::Pyproject => Ok(python::project(&toml::parse(text)?)),
        Format::PythonLock => Ok(python::lock(&toml::parse(text)?)),
        Format::Pipfile => Ok(python::pipfile(&toml::parse(text)?)),
        Format::PipfileLock => Ok(python::pipfile_lock(&json::parse(text)?)),
        Format::Gemfile => Ok(ruby::gemfile(text)),
        Format::GemfileLock => ruby::lock(text),
        Format::ComposerJson => Ok(php::manifest(&json::parse(text)?)),
        Format::ComposerLock => Ok(php::lock(&json::parse(text)?)),
        Format::Pom => maven::pom(&xml::parse(text)?),
        Format::GradleVerification => Ok(maven::verification(&xml::parse(text)?)),
        Format::GradleLock => Ok(gradle::lock(text)),
        Format::GradleBuild => Ok(gradle::build(text)),
        Format::GradleCatalog => Ok(gradle::catalog(&toml::parse(text)?)),
        Format::NuGetLock => Ok(nuget::lock(&json::parse(text)?)),
        Format::NuGetConfig => Ok(nuget::config(&xml::parse(text)?)),
        Format::NuGetProject => Ok(nuget::project(&xml::parse(text)?)),
    }
}

/// Whether a requirement allows exactly one version.
fn exact(requirement: &str) -> Option<&str> {
    let version = requirement.trim().trim_start_matches('=').trim_start_matches('v');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+_".contains(&byte);
    let starts = version.starts_with(|c: char| c.is_ascii_digit());
    (starts && version.bytes().all(plain) && !version.ends_with(".x")).then_some(version)
}

/// Whether a git reference is a commit and not the name of a branch or tag.
fn is_commit(reference: &str) -> bool {
    reference.len() >= 7 && reference.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
