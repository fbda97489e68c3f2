//! Advisories in OSV form, reduced to what decides and explains a match.

use serde::{Deserialize, Deserializer, Serialize};

/// One advisory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advisory {
    /// Such as `GHSA-xxxx-xxxx-xxxx`.
    pub id: String,
    /// Other names of the same flaw, such as a CVE number.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// One sentence.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The whole text; only its start is kept.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
    /// When it last changed.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub modified: String,
    /// Scores.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub severity: Vec<Score>,
    /// What it affects.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub affected: Vec<Affected>,
    /// What the database that published it adds.
    #[serde(default, deserialize_with = "nullable")]
    pub database_specific: Specific,
}

/// A score in the form that `type` names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// `CVSS_V2`, `CVSS_V3` or `CVSS_V4`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// The vector.
    #[serde(default)]
    pub score: String,
}

/// One affected package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Affected {
    /// Which package.
    #[serde(default)]
    pub package: Option<Name>,
    /// Scores of this package alone.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub severity: Vec<Score>,
    /// Ranges of versions.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<Range>,
    /// Versions, one by one.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// What the database adds.
    #[serde(default, deserialize_with = "nullable")]
    pub database_specific: Specific,
}

/// A package's name within its ecosystem.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Name {
    /// The ecosystem, as advisories spell it.
    #[serde(default)]
    pub ecosystem: String,
    /// The name.
    #[serde(default)]
    pub name: String,
}

/// A range of versions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// `SEMVER`, `ECOSYSTEM` or `GIT`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Where it begins and ends.
    #[serde(default, deserialize_with = "nullable")]
    pub events: Vec<Event>,
}

/// A version at which something changes; exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The first affected version; `0` is before all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introduced: Option<String>,
    /// The first version that is not affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
    /// The last affected version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_affected: Option<String>,
    /// Versions from here on are not spoken of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// The few fields of the databases' own that are read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Specific {
    /// GitHub's word: `LOW`, `MODERATE`, `HIGH` or `CRITICAL`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The Rust database's kind of advisory that is no vulnerability, such as `unmaintained`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub informational: Option<String>,
}

/// `null` where there is nothing to say.
fn nullable<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Other databases use the same field for something else.
fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(value.as_str().map(str::to_owned))
}

/// How much of an advisory's text is kept, in characters.
const DETAILS: usize = 400;

impl Advisory {
    /// Reads a record and drops what is not needed of it.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        let mut advisory: Self = serde_json::from_str(json)?;
        advisory.details = advisory.details.chars().take(DETAILS).collect();
        for affected in &mut advisory.affected {
            affected.ranges.retain(|range| range.kind != "GIT");
        }
        Ok(advisory)
    }

    /// The name that people know it by: a CVE number where it has one.
    pub fn known_as(&self) -> &str {
        let cve = self.aliases.iter().find(|alias| alias.starts_with("CVE-"));
        cve.unwrap_or(&self.id)
    }

    /// Its own name and all others.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.id).chain(&self.aliases).map(String::as_str)
    }
}
