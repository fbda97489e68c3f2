//! Findings that were set aside, with the reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use quorum_model::finding::{Finding, Suppression, SuppressionKind, SuppressionStatus};
use quorum_model::wording;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::Folder;
use crate::whole;

/// The committed file, in `.quorum`.
pub const FILE: &str = "dismissed.toml";

/// A finding that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dismissal {
    /// The finding.
    pub fingerprint: String,
    /// Why.
    pub reason: String,
    /// By whom.
    pub author: String,
    /// The last day on which it holds, in UTC, such as `2027-01-31`; for good where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// Where the finding was, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What it was, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether a second look refuted it, rather than a person setting it aside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuted: bool,
    /// Where it is written, for people; it goes without saying where it is kept.
    #[serde(skip)]
    pub place: Option<String>,
}

impl Dismissal {
    /// What a report says about it.
    pub fn suppression(&self) -> Suppression {
        Suppression {
            kind: SuppressionKind::External,
            status: SuppressionStatus::Accepted,
            reason: self.reason.clone(),
            author: Some(self.author.clone()),
            place: self.place.clone().unwrap_or_else(|| "this clone's ledger".to_owned()),
            by_change: false,
        }
    }

    /// A person sets `finding` aside.
    pub fn of(finding: &Finding, reason: String, author: String, expires: Option<String>) -> Self {
        let title = finding.issue.lines().next().and_then(|line| line.split(". ").next());
        Self {
            fingerprint: finding.fingerprint.clone(),
            reason,
            author,
            expires,
            file: Some(finding.file.clone()),
            title: title.map(str::to_owned),
            refuted: false,
            place: None,
        }
    }

    /// Whether it still holds. One whose day cannot be read does not: what was to end must not go on
    /// for a slip of the pen.
    pub fn holds(&self, now: Timestamp) -> bool {
        match &self.expires {
            None => true,
            Some(day) => {
                let today = now.to_zoned(TimeZone::UTC).date();
                day.parse::<Date>().is_ok_and(|last| today <= last)
            }
        }
    }
}

/// All dismissals that are known, by fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dismissals(BTreeMap<String, Dismissal>);

impl Dismissals {
    /// Adds some; of two for one finding, the one that lasts longer holds.
    pub fn add(&mut self, dismissals: impl IntoIterator<Item = Dismissal>) {
        for dismissal in dismissals {
            let lasts = |dismissal: &Dismissal| {
                dismissal.expires.clone().map_or((1, String::new()), |day| (0, day))
            };
            let known = self.0.get(&dismissal.fingerprint);
            if known.is_none_or(|known| lasts(known) < lasts(&dismissal)) {
                self.0.insert(dismissal.fingerprint.clone(), dismissal);
            }
        }
    }

    /// The dismissal of a finding that has one of these fingerprints, where one holds.
    pub fn of<'a>(
        &self,
        fingerprints: impl IntoIterator<Item = &'a str>,
        now: Timestamp,
    ) -> Option<&Dismissal> {
        let mut known = fingerprints.into_iter().filter_map(|one| self.0.get(one));
        known.find(|dismissal| dismissal.holds(now))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Dismissal> {
        self.0.values()
    }
}

/// The keys of the file, for whoever made a mistake in it.
const KEYS: &str = "[[dismissed]] with fingerprint (text, needed), reason (text, needed), author (text, \
                    needed), expires (text such as 2027-01-31, default: never), file (text), title (text), \
                    refuted (true or false, default false)";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    dismissed: Vec<Dismissal>,
}

/// Reads the text of the committed file; `name` is what messages call it.
pub fn parse(name: &str, text: &str) -> Result<Vec<Dismissal>, StoreError> {
    let malformed =
        |cause: String| StoreError::Malformed { path: name.into(), cause: cause.trim().to_owned() };
    let file: File = toml::from_str(text)
        .map_err(|cause| malformed(wording::with_keys(&cause.to_string(), KEYS)))?;
    for dismissal in &file.dismissed {
        let fingerprint = &dismissal.fingerprint;
        if fingerprint.is_empty() || dismissal.reason.trim().is_empty() {
            return Err(malformed(format!("`{fingerprint}` has no fingerprint or no reason")));
        }
        if let Some(day) = &dismissal.expires
            && day.parse::<Date>().is_err()
        {
            let text = format!("`{fingerprint}` expires on `{day}`, which is not a day");
            return Err(malformed(text));
        }
    }
    Ok(file.dismissed)
}

/// `text` with one more dismissal at its end; what people wrote in it stays as it is.
pub fn append(text: &str, dismissal: &Dismissal) -> String {
    let mut grown = text.trim_end().to_owned();
    if grown.is_empty() {
        grown.push_str(
            "# Findings that were set aside. Fingerprints survive moved and reformatted code.\n",
        );
    } else {
        grown.push('\n');
    }
    grown.push_str("\n[[dismissed]]\n");
    let mut field = |name: &str, value: &str| {
        let value = toml::Value::String(value.to_owned());
        // Writing to a string cannot fail.
        _ = writeln!(grown, "{name} = {value}");
    };
    field("fingerprint", &dismissal.fingerprint);
    field("reason", &dismissal.reason);
    field("author", &dismissal.author);
    for (name, value) in
        [("expires", &dismissal.expires), ("file", &dismissal.file), ("title", &dismissal.title)]
    {
        if let Some(value) = value {
            field(name, value);
        }
    }
    grown
}

/// `text` without the dismissals of a finding, and how many there were; comments stay.
pub fn without(text: &str, fingerprint: &str) -> (String, usize) {
    let (mut kept, mut block, mut removed) = (String::new(), String::new(), 0);
    let mut in_block = false;
    let mut settle = |block: &mut String, in_block: bool, kept: &mut String| {
        let named = in_block
            && toml::from_str::<File>(block)
                .is_ok_and(|file| file.dismissed.iter().any(|one| one.fingerprint == fingerprint));
        if named {
            removed += 1;
            // A comment between two entries is not the entry's.
            let comments = block
                .lines()
                .rev()
                .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
            let comments: Vec<&str> = comments.collect();
            for line in comments.iter().rev() {
                kept.extend([*line, "\n"]);
            }
        } else {
            kept.push_str(block);
        }
        block.clear();
    };
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("[[") {
            settle(&mut block, in_block, &mut kept);
            in_block = true;
        }
        block.push_str(line);
    }
    settle(&mut block, in_block, &mut kept);
    (kept, removed)
}

/// Takes a finding out of the committed file of the repository at `root`; false if it is not there.
pub fn unshare(root: &Path, fingerprint: &str) -> Result<bool, StoreError> {
    let path = Folder::at(root)?.entry(FILE)?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io("reading", &path)(error)),
    };
    parse(&path.display().to_string(), &text)?;
    let (kept, removed) = without(&text, fingerprint);
    if removed > 0 {
        whole::write(&path, kept.as_bytes())?;
    }
    Ok(removed > 0)
}

/// Adds a dismissal to the committed file of the repository at `root`.
pub fn share(root: &Path, dismissal: &Dismissal) -> Result<(), StoreError> {
    let path = Folder::prepare(root)?.entry(FILE)?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(StoreError::io("reading", &path)(error)),
    };
    // A file with a mistake in it is not made longer.
    parse(&path.display().to_string(), &text)?;
    whole::write(&path, append(&text, dismissal).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dismissal(fingerprint: &str, expires: Option<&str>) -> Dismissal {
        Dismissal {
            fingerprint: fingerprint.to_owned(),
            reason: "a \"test\"\nkey".to_owned(),
            author: "ann".to_owned(),
            expires: expires.map(str::to_owned),
            file: Some("a.go".to_owned()),
            title: None,
            refuted: false,
            place: None,
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_appended_is_read_and_comments_stay() {
        let one = append("", &dismissal("f1", None));
        let two = append(&format!("{one}# ours\n"), &dismissal("f2", Some("2027-01-31")));
        let read = parse("dismissed.toml", &two).unwrap();
        assert_eq!(read, [dismissal("f1", None), dismissal("f2", Some("2027-01-31"))]);
        assert!(two.contains("# ours"), "{two}");
    }

    #[test]
    fn what_is_taken_out_leaves_the_rest_as_it_is() {
        let one = append("# ours\n", &dismissal("f1", None));
        let two = append(&format!("{one}# about the next\n"), &dismissal("f2", None));
        let (kept, removed) = without(&two, "f1");
        assert_eq!(removed, 1);
        assert_eq!(parse("dismissed.toml", &kept).unwrap(), [dismissal("f2", None)]);
        assert!(kept.contains("# ours") && kept.contains("# about the next"), "{kept}");
        assert_eq!(without(&two, "f3"), (two.clone(), 0));
    }

    #[test]
    fn mistakes_in_the_file_are_named() {
        let cases = [
            ("[[dismissed]]\nfingerprint = \"f\"\nauthor = \"a\"", "reason"),
            ("[[dismissed]]\nfingerprint = \"f\"\nreason = \" \"\nauthor = \"a\"", "no reason"),
            (
                "[[dismissed]]\nfingerprint=\"f\"\nreason=\"r\"\nauthor=\"a\"\nexpires=\"soon\"",
                "not a day",
            ),
            ("[[dissmissed]]", "dissmissed"),
        ];
        for (text, expected) in cases {
            let error = parse("dismissed.toml", text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_dismissal_holds_up_to_and_on_its_last_day() {
        let one = dismissal("f", Some("2026-11-16"));
        assert!(one.holds(at("2026-11-16T23:59:59Z")));
        assert!(!one.holds(at("2026-11-17T00:00:00Z")));
        assert!(!dismissal("f", Some("soon")).holds(at("2026-11-16T00:00:00Z")));
    }

    #[test]
    fn the_dismissal_that_lasts_longer_holds() {
        let mut all = Dismissals::default();
        all.add([dismissal("f", Some("2020-01-01")), dismissal("f", None)]);
        all.add([dismissal("f", Some("2021-01-01"))]);
        assert!(all.of(["x", "f"], at("2026-11-16T00:00:00Z")).is_some());
        assert!(all.of(["x"], at("2026-11-16T00:00:00Z")).is_none());
    }
}
