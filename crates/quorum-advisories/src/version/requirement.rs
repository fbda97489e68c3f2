//! Whether a version is one that a manifest asks for, by each ecosystem's notation.

use std::cmp::Ordering;

use super::compare;
use crate::Ecosystem;

/// Whether `version` fulfils `requirement`; absent where the requirement cannot be read: a tag, a
/// branch, or a notation that is not known.
///
/// Where ecosystems leave pre-releases out of a range, this does not: it says no only where no
/// package manager would choose the version.
pub fn satisfies(ecosystem: Ecosystem, requirement: &str, version: &str) -> Option<bool> {
    let requirement = requirement.trim();
    if matches!(requirement, "" | "*" | "x" | "X") {
        return Some(true);
    }
    let version = without_local(ecosystem, requirement, version);
    let mut any = false;
    for alternative in alternatives(ecosystem, requirement) {
        let mut all = true;
        for (operator, wanted) in comparators(ecosystem, &alternative)? {
            all &= holds(ecosystem, &operator, &wanted, version)?;
        }
        any |= all;
    }
    Some(any)
}

/// `1.0+cpu` is a build of `1.0`, and fulfils what asks for that.
fn without_local<'a>(ecosystem: Ecosystem, requirement: &str, version: &'a str) -> &'a str {
    if ecosystem == Ecosystem::PyPi && !requirement.contains('+') {
        version.split('+').next().unwrap_or(version)
    } else {
        version
    }
}

fn alternatives(ecosystem: Ecosystem, requirement: &str) -> Vec<String> {
    let single = ecosystem == Ecosystem::Packagist;
    let text = requirement.replace("||", "|");
    if single || requirement.contains("||") {
        text.split('|').map(|part| part.trim().to_owned()).collect()
    } else {
        vec![requirement.to_owned()]
    }
}

/// The operators with their versions, all of which must hold.
fn comparators(ecosystem: Ecosystem, text: &str) -> Option<Vec<(String, String)>> {
    if let Some((from, to)) = text.split_once(" - ") {
        let (from, to) = (from.trim().to_owned(), to.trim().to_owned());
        return Some(vec![(">=".to_owned(), from), ("<=".to_owned(), to)]);
    }
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let operator_end = rest.find(|c: char| !"<>=!~^".contains(c)).unwrap_or(rest.len());
        let (operator, after) = rest.split_at(operator_end);
        let after = after.trim_start();
        let end = after.find([',', ' ', '\t']).unwrap_or(after.len());
        let (version, left) = after.split_at(end);
        if version.is_empty() {
            return None;
        }
        // Composer writes the least stability behind the version.
        let version = version.split('@').next().filter(|version| !version.is_empty());
        let version = match (ecosystem, version) {
            (Ecosystem::Packagist, Some(version)) => version,
            (Ecosystem::Packagist, None) => return None,
            _ => &after[..end],
        };
        found.push((operator.to_owned(), version.to_owned()));
        rest = left.trim_start_matches([',', ' ', '\t']);
    }
    (!found.is_empty()).then_some(found)
}

fn holds(ecosystem: Ecosystem, operator: &str, wanted: &str, version: &str) -> Option<bool> {
    let wanted = wanted.strip_prefix(['v', 'V']).unwrap_or(wanted);
    if matches!(wanted, "*" | "x" | "X") {
        return Some(true);
    }
    let numbers = Numbers::of(wanted)?;
    let semantic = matches!(ecosystem, Ecosystem::Cargo | Ecosystem::Npm);
    let order = compare(ecosystem, version, &numbers.least(wanted));
    let below = |end: &str| compare(ecosystem, version, end).is_lt();
    let within = |end: Option<String>| order.is_ge() && end.as_deref().is_none_or(below);
    Some(match operator {
        "" if ecosystem == Ecosystem::Cargo => within(numbers.caret()),
        "" | "=" | "==" | "===" if numbers.open => within(numbers.bumped(numbers.parts.len())),
        "" | "=" if semantic && numbers.partial() => within(numbers.bumped(numbers.parts.len())),
        "" | "=" | "==" | "===" => order.is_eq(),
        "!=" | "<>" if numbers.open => !within(numbers.bumped(numbers.parts.len())),
        "!=" | "<>" => order.is_ne(),
        ">" if semantic && numbers.partial() => {
            numbers.bumped(numbers.parts.len()).is_some_and(|end| !below(&end))
        }
        "<=" if semantic && numbers.partial() => {
            numbers.bumped(numbers.parts.len()).is_none_or(|end| below(&end))
        }
        ">" => order == Ordering::Greater,
        ">=" | "=>" => order.is_ge(),
        "<" => order.is_lt(),
        "<=" | "=<" => order.is_le(),
        "^" => within(numbers.caret()),
        "~=" | "~>" if !semantic => within(numbers.bumped(numbers.parts.len().max(2) - 1)),
        "~" if ecosystem == Ecosystem::Packagist => {
            within(numbers.bumped(numbers.parts.len().max(2) - 1))
        }
        "~" | "~>" => within(numbers.bumped(numbers.parts.len().min(2))),
        _ => return None,
    })
}

/// The numbers that a version begins with.
struct Numbers {
    parts: Vec<u64>,
    /// It ends with a star: the rest is open.
    open: bool,
}

impl Numbers {
    /// Absent where it begins with no number, or has an epoch.
    fn of(version: &str) -> Option<Self> {
        if version.contains('!') {
            return None;
        }
        let core = version.split(['-', '+']).next().unwrap_or(version);
        let mut parts = Vec::new();
        for part in core.split('.') {
            if matches!(part, "*" | "x" | "X") {
                return (!parts.is_empty()).then_some(Self { parts, open: true });
            }
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            match digits.parse() {
                Ok(number) => parts.push(number),
                Err(_) if parts.is_empty() => return None,
                Err(_) => break,
            }
            // `1.0rc1` names a pre-release; its numbers end here.
            if digits.len() < part.len() {
                break;
            }
        }
        Some(Self { parts, open: false })
    }

    fn partial(&self) -> bool {
        self.open || self.parts.len() < 3
    }

    /// The least version that is meant.
    fn least(&self, written: &str) -> String {
        if self.open { join(&self.parts) } else { written.to_owned() }
    }

    /// The first version after all that share the first `kept` numbers; absent where none ends.
    fn bumped(&self, kept: usize) -> Option<String> {
        let mut parts = self.parts.get(..kept)?.to_vec();
        let last = parts.last_mut()?;
        *last = last.checked_add(1)?;
        Some(join(&parts))
    }

    /// The first version that may break what used this one.
    fn caret(&self) -> Option<String> {
        let first = self.parts.iter().position(|part| *part != 0);
        self.bumped(first.map_or(self.parts.len(), |at| at + 1))
    }
}

fn join(parts: &[u64]) -> String {
    let parts: Vec<String> = parts.iter().map(u64::to_string).collect();
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use Ecosystem::{Cargo, Npm, Packagist, PyPi, RubyGems};

    #[test]
    fn requirements_as_each_ecosystem_writes_them() {
        for (ecosystem, requirement, yes, no) in [
            (Cargo, "1.2", "1.2.0 1.9.4", "1.1.9 2.0.0"),
            (Cargo, "0.3.1", "0.3.1 0.3.9", "0.4.0 0.3.0"),
            (Cargo, "0.0.3", "0.0.3", "0.0.4"),
            (Cargo, "=1.2", "1.2.7", "1.3.0"),
            (Cargo, ">=1.2, <1.5", "1.2.0 1.4.9", "1.5.0 1.1.0"),
            (Cargo, "~1.2.3", "1.2.3 1.2.9", "1.3.0"),
            (Cargo, "1.*", "1.0.0 1.99.0", "2.0.0"),
            (Npm, "^1.2.3", "1.2.3 1.10.0", "2.0.0 1.2.2"),
            (Npm, "1.2.3", "1.2.3", "1.2.4"),
            (Npm, "1.2", "1.2.9", "1.3.0"),
            (Npm, "1.x || >=2.5.0 <3", "1.4.0 2.6.1", "2.4.0 3.0.0"),
            (Npm, "1.2 - 2.3", "1.2.0 2.3.9", "2.4.0 1.1.0"),
            (Npm, ">1.2", "1.3.0", "1.2.9"),
            (Npm, "*", "0.0.1", ""),
            (PyPi, "==1.2.*", "1.2.7", "1.3"),
            (PyPi, "~=1.4.2", "1.4.5", "1.5.0"),
            (PyPi, "~=1.4", "1.9", "2.0"),
            (PyPi, ">=1.0,!=1.5,<2", "1.4 1.6", "1.5 2.0"),
            (PyPi, "^2.1", "2.9", "3.0"),
            (PyPi, "==1.0", "1.0.0 1.0+cpu", "1.0.1"),
            (RubyGems, "~> 1.2", "1.9", "2.0 1.1"),
            (RubyGems, "~> 1.2.3", "1.2.9", "1.3.0"),
            (RubyGems, ">= 1.0, < 2", "1.5", "2.0"),
            (RubyGems, "1.0", "1.0.0", "1.1"),
            (Packagist, "~1.2", "1.9.0", "2.0.0"),
            (Packagist, "~1.2.3", "1.2.9", "1.3.0"),
            (Packagist, "^1.0|^2.0", "1.5.0 2.5.0", "3.0.0"),
            (Packagist, "^5.0@dev", "5.1.0", "6.0.0"),
            (Packagist, ">=1.0 <2.0", "1.5.0", "2.0.0"),
            (Packagist, "1.0.*", "1.0.7", "1.1.0"),
        ] {
            for version in yes.split_whitespace() {
                let held = satisfies(ecosystem, requirement, version);
                assert_eq!(held, Some(true), "{ecosystem}: {requirement} {version}");
            }
            for version in no.split_whitespace() {
                let held = satisfies(ecosystem, requirement, version);
                assert_eq!(held, Some(false), "{ecosystem}: {requirement} {version}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_judged() {
        for (ecosystem, requirement) in
            [(Npm, "latest"), (Npm, "next"), (Packagist, "dev-main"), (PyPi, ">=1!2.0"), (Npm, "^")]
        {
            assert_eq!(satisfies(ecosystem, requirement, "1.0.0"), None, "{requirement}");
        }
    }

    proptest! {
        #[test]
        fn any_requirement_is_read_or_left_alone(
            ecosystem in prop::sample::select(Ecosystem::ALL), requirement in ".{0,16}", version in ".{0,10}"
        ) {
            let _: Option<bool> = satisfies(ecosystem, &requirement, &version);
        }

        #[test]
        fn a_version_fulfils_its_own_caret(major in 0u64..40, minor in 0u64..40, patch in 0u64..40) {
            let version = format!("{major}.{minor}.{patch}");
            for ecosystem in [Cargo, Npm, Packagist] {
                prop_assert_eq!(satisfies(ecosystem, &format!("^{version}"), &version), Some(true));
            }
        }
    }
}
