//! Whether an advisory affects a version.

use crate::osv::{Advisory, Affected, Event, Range};
use crate::rating::{Rating, rate};
use crate::{Ecosystem, version};

/// An advisory that affects a version of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The advisory.
    pub advisory: Advisory,
    /// How bad it is.
    pub rating: Rating,
    /// The least version above this one that is not affected.
    pub fixed: Option<String>,
    /// The affected versions, in words.
    pub range: String,
}

/// The advisories that affect this version of this package, each flaw once, worst first.
pub fn matches(
    advisories: Vec<Advisory>,
    ecosystem: Ecosystem,
    name: &str,
    version: &str,
) -> Vec<Match> {
    let name = ecosystem.normalize(name);
    let mut found: Vec<Match> = Vec::new();
    for advisory in advisories {
        if advisory.withdrawn.is_some() {
            continue;
        }
        let here = |affected: &&Affected| {
            affected.package.as_ref().is_some_and(|package| {
                Ecosystem::from_name(&package.ecosystem) == Some(ecosystem)
                    && ecosystem.normalize(&package.name) == name
            })
        };
        let hit = advisory.affected.iter().filter(here).find_map(|affected| {
            is_affected(affected, ecosystem, version).then(|| {
                let fixed = first_fix(affected, ecosystem, version);
                (rate(&advisory, affected), fixed, words(affected))
            })
        });
        if let Some((rating, fixed, range)) = hit {
            found.push(Match { advisory, rating, fixed, range });
        }
    }
    found.sort_by(|a, b| {
        let score = |m: &Match| m.rating.score.unwrap_or(0.0);
        b.rating
            .severity
            .cmp(&a.rating.severity)
            .then_with(|| score(b).total_cmp(&score(a)))
            .then_with(|| a.advisory.id.cmp(&b.advisory.id))
    });
    without_aliases(found)
}

/// Databases publish the same flaw under their own names; the first, which is the worst, stays and
/// takes over what the others know.
fn without_aliases(found: Vec<Match>) -> Vec<Match> {
    let mut kept: Vec<Match> = Vec::new();
    for one in found {
        let same = kept.iter_mut().find(|other| {
            one.advisory.names().any(|name| other.advisory.names().any(|known| known == name))
        });
        match same {
            Some(other) => {
                other.fixed = other.fixed.take().or(one.fixed);
                let known: Vec<String> = other.advisory.names().map(str::to_owned).collect();
                let new = one.advisory.names().filter(|name| !known.iter().any(|k| k == name));
                other.advisory.aliases.extend(new.map(str::to_owned));
            }
            None => kept.push(one),
        }
    }
    kept
}

fn is_affected(affected: &Affected, ecosystem: Ecosystem, version: &str) -> bool {
    let equal = |other: &String| version::compare(ecosystem, other, version).is_eq();
    affected.versions.iter().any(equal)
        || affected.ranges.iter().any(|range| in_range(range, ecosystem, version))
}

/// The evaluation that the OSV schema defines.
fn in_range(range: &Range, ecosystem: Ecosystem, version: &str) -> bool {
    if !is_before_limits(range, ecosystem, version) {
        return false;
    }
    let mut events: Vec<&Event> = range.events.iter().filter(|event| at(event).is_some()).collect();
    events.sort_by(|a, b| {
        let (left, right) = (at(a).unwrap_or("0"), at(b).unwrap_or("0"));
        order(ecosystem, left, right)
    });
    let mut affected = false;
    for event in events {
        if let Some(introduced) = &event.introduced
            && order(ecosystem, version, introduced).is_ge()
        {
            affected = true;
        } else if let Some(fixed) = &event.fixed
            && order(ecosystem, version, fixed).is_ge()
        {
            affected = false;
        } else if let Some(last) = &event.last_affected
            && order(ecosystem, version, last).is_gt()
        {
            affected = false;
        }
    }
    affected
}

fn is_before_limits(range: &Range, ecosystem: Ecosystem, version: &str) -> bool {
    let mut limits = range.events.iter().filter_map(|event| event.limit.as_deref()).peekable();
    limits.peek().is_none()
        || limits.any(|limit| limit == "*" || order(ecosystem, version, limit).is_lt())
}

fn at(event: &Event) -> Option<&str> {
    event.introduced.as_deref().or(event.fixed.as_deref()).or(event.last_affected.as_deref())
}

/// `0` stands before every version, also those that an ecosystem sorts before its zero.
fn order(ecosystem: Ecosystem, left: &str, right: &str) -> std::cmp::Ordering {
    match (left == "0", right == "0") {
        (true, true) => std::cmp::Ordering::Equal,
        (true, false) => std::cmp::Ordering::Less,
        (false, true) => std::cmp::Ordering::Greater,
        (false, false) => version::compare(ecosystem, left, right),
    }
}

fn first_fix(affected: &Affected, ecosystem: Ecosystem, version: &str) -> Option<String> {
    let fixes = affected.ranges.iter().flat_map(|range| &range.events);
    let later = fixes
        .filter_map(|event| event.fixed.as_ref())
        .filter(|fixed| order(ecosystem, fixed, version).is_gt());
    later.min_by(|a, b| order(ecosystem, a, b)).cloned()
}

/// Whether a range begins with the first version of all.
fn is_start(version: &str) -> bool {
    matches!(version, "0" | "0.0.0" | "0.0.0-0")
}

/// `>= 1.0, < 1.4.2 or >= 2.0, <= 2.1`.
fn words(affected: &Affected) -> String {
    let mut parts = Vec::new();
    for range in &affected.ranges {
        let mut open: Option<String> = None;
        for event in &range.events {
            let end = match event {
                Event { introduced: Some(version), .. } => {
                    let start =
                        if is_start(version) { String::new() } else { format!(">= {version}") };
                    parts.extend(open.replace(start).filter(|part| !part.is_empty()));
                    continue;
                }
                Event { fixed: Some(version), .. } => format!("< {version}"),
                Event { last_affected: Some(version), .. } => format!("<= {version}"),
                _ => continue,
            };
            let start = open.take().filter(|start| !start.is_empty());
            parts.push(start.map_or(end.clone(), |start| format!("{start}, {end}")));
        }
        if let Some(start) = open {
            parts.push(if start.is_empty() { "all versions".to_owned() } else { start });
        }
    }
    if parts.is_empty() {
        format!("{} listed versions", affected.versions.len())
    } else {
        parts.join(" or ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, affected: &str) -> Advisory {
        let json = format!(
            r#"{{"id":"{id}","aliases":["CVE-2024-1"],"affected":[{{"package":{{"ecosystem":"npm","name":"left"}},{affected}}}]}}"#
        );
        Advisory::parse(&json).expect("a record")
    }

    fn hits(affected: &str, version: &str) -> bool {
        !matches(vec![record("X-1", affected)], Ecosystem::Npm, "left", version).is_empty()
    }

    #[test]
    fn ranges_have_two_ends_or_one() {
        let fixed = r#""ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"fixed":"1.2.0"},{"introduced":"2.0.0"},{"fixed":"2.1.0"}]}]"#;
        for (version, expected) in [
            ("0.9.0", false),
            ("1.0.0", true),
            ("1.1.9", true),
            ("1.2.0", false),
            ("2.0.0-rc.1", false),
            ("2.0.5", true),
            ("2.1.0", false),
        ] {
            assert_eq!(hits(fixed, version), expected, "{version}");
        }
        let last = r#""ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"last_affected":"1.5.0"}]}]"#;
        assert!(hits(last, "1.5.0") && !hits(last, "1.5.1") && hits(last, "0.0.0-alpha"));
        let open = r#""ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}]"#;
        assert!(hits(open, "99.0.0"));
        let limit =
            r#""ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"limit":"1.3.0"}]}]"#;
        assert!(hits(limit, "1.2.9") && !hits(limit, "1.3.0"));
    }

    #[test]
    fn versions_can_be_listed() {
        let listed = r#""versions":["1.0.0","1.0.1"]"#;
        assert!(hits(listed, "1.0.1") && !hits(listed, "1.0.2"));
    }

    #[test]
    fn events_can_come_in_any_order() {
        let mixed = r#""ranges":[{"type":"SEMVER","events":[{"fixed":"1.2.0"},{"introduced":"2.0.0"},{"introduced":"0"}]}]"#;
        assert!(hits(mixed, "1.1.0") && !hits(mixed, "1.5.0") && hits(mixed, "2.0.0"));
    }

    #[test]
    fn the_same_flaw_counts_once_and_says_where_it_is_fixed() {
        let open = r#""ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}]"#;
        let fixed =
            r#""ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"3.0.0"}]}]"#;
        let records = vec![record("A-1", open), record("B-2", fixed)];
        let found = matches(records, Ecosystem::Npm, "left", "1.0.0");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].fixed.as_deref(), Some("3.0.0"));
        assert!(found[0].advisory.names().any(|name| name == "B-2"));
    }

    #[test]
    fn withdrawn_advisories_and_other_packages_do_not_count() {
        let mut record = record("X-1", r#""versions":["1.0.0"]"#);
        assert!(matches(vec![record.clone()], Ecosystem::Npm, "right", "1.0.0").is_empty());
        assert!(matches(vec![record.clone()], Ecosystem::PyPi, "left", "1.0.0").is_empty());
        record.withdrawn = Some("2024-01-01T00:00:00Z".to_owned());
        assert!(matches(vec![record], Ecosystem::Npm, "left", "1.0.0").is_empty());
    }

    #[test]
    fn ranges_read_like_sentences() {
        let affected = record(
            "X",
            r#""ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.2.0"},{"introduced":"2.0.0"}]}]"#,
        );
        assert_eq!(words(&affected.affected[0]), "< 1.2.0 or >= 2.0.0");
    }
}
