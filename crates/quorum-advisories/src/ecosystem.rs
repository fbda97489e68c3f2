//! Where packages come from.

/// A registry of packages with its own names and its own order of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    /// Rust crates.
    Cargo,
    /// Go modules.
    Go,
    /// Java and its kin.
    Maven,
    /// JavaScript.
    Npm,
    /// .NET.
    NuGet,
    /// PHP.
    Packagist,
    /// Python.
    PyPi,
    /// Ruby.
    RubyGems,
}

impl Ecosystem {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Cargo,
        Self::Go,
        Self::Maven,
        Self::Npm,
        Self::NuGet,
        Self::Packagist,
        Self::PyPi,
        Self::RubyGems,
    ];

    /// The name that advisories use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cargo => concat!("crates", ".io"),
            Self::Go => "Go",
            Self::Maven => "Maven",
            Self::Npm => "npm",
            Self::NuGet => "NuGet",
            Self::Packagist => "Packagist",
            Self::PyPi => "PyPI",
            Self::RubyGems => "RubyGems",
        }
    }

    /// From the name that advisories use, with or without a registry behind it.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.split(':').next().unwrap_or(name);
        Self::ALL.iter().copied().find(|ecosystem| ecosystem.name() == name)
    }

    /// The one spelling of a package's name that all its spellings share.
    pub fn normalize(self, name: &str) -> String {
        match self {
            Self::PyPi => {
                let lower = name.to_ascii_lowercase();
                let words: Vec<&str> =
                    lower.split(['-', '_', '.']).filter(|word| !word.is_empty()).collect();
                words.join("-")
            }
            Self::NuGet | Self::Packagist => name.to_ascii_lowercase(),
            // Rust's registry takes `-` and `_` for the same name.
            Self::Cargo => name.replace('_', "-"),
            Self::Go | Self::Maven | Self::Npm | Self::RubyGems => name.to_owned(),
        }
    }
}

impl std::fmt::Display for Ecosystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_spelling() {
        assert_eq!(Ecosystem::PyPi.normalize("Flask_SQL.Alchemy"), "flask-sql-alchemy");
        assert_eq!(Ecosystem::NuGet.normalize("Newtonsoft.Json"), "newtonsoft.json");
        assert_eq!(Ecosystem::Npm.normalize("@Scope/Name"), "@Scope/Name");
        assert_eq!(Ecosystem::from_name("Maven:https://repo.example"), Some(Ecosystem::Maven));
        assert_eq!(Ecosystem::from_name("Debian:11"), None);
        for ecosystem in Ecosystem::ALL {
            assert_eq!(Ecosystem::from_name(ecosystem.name()), Some(*ecosystem));
        }
    }
}
