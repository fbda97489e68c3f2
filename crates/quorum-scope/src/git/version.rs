//! Which git is at hand, and whether it can be told to start no program.

use std::fmt;

/// The oldest git that takes settings from variables (`GIT_CONFIG_COUNT`). An older one ignores
/// them, and starts whatever the repository's configuration names.
pub const OLDEST: Version = Version { major: 2, minor: 31 };

/// A release of git, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl Version {
    /// Reads what `git --version` prints, such as `git version 2.39.5 (Apple Git-154)`.
    pub fn parse(printed: &str) -> Option<Self> {
        let number = printed.trim_start().strip_prefix("git version ")?;
        let mut parts = number.split(|c: char| !c.is_ascii_digit());
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        Some(Self { major, minor })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        for (printed, wanted) in [
            ("git version 2.30.2\n", Some((2, 30))),
            ("git version 2.31.0", Some((2, 31))),
            ("git version 2.39.5 (Apple Git-154)\n", Some((2, 39))),
            ("git version 2.47.1.windows.2\n", Some((2, 47))),
            ("git version 2.100.0-rc1", Some((2, 100))),
            ("git version 3.0", Some((3, 0))),
            ("git version next", None),
            ("git version 2", None),
            ("hub version 2.14.2", None),
            ("", None),
        ] {
            let wanted = wanted.map(|(major, minor)| Version { major, minor });
            assert_eq!(Version::parse(printed), wanted, "{printed:?}");
        }
        let old = Version { major: 2, minor: 9 };
        assert!(old < OLDEST && Version { major: 1, minor: 99 } < OLDEST);
        assert!(
            Version { major: 2, minor: 31 } >= OLDEST && Version { major: 3, minor: 0 } > OLDEST
        );
    }
}
