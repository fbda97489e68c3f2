//! Names of runs.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The name of a run: the moment in UTC, to the millisecond, and four digits that tell runs of the
/// same moment apart. Sorted as text, runs are sorted by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// The name of a run that starts `at` a moment.
    pub(crate) fn new(at: Timestamp, random: Uuid) -> Self {
        let at = at.to_zoned(TimeZone::UTC);
        let salt = u16::from_be_bytes([random.as_bytes()[14], random.as_bytes()[15]]);
        Self(format!("{}-{:03}-{salt:04x}", at.strftime("%Y%m%d-%H%M%S"), at.millisecond()))
    }

    /// The name, if `text` is one.
    pub fn parse(text: &str) -> Option<Self> {
        let shape: String = text
            .chars()
            .map(|character| if character.is_ascii_hexdigit() { '0' } else { character })
            .collect();
        (shape == "00000000-000000-000-0000").then(|| Self(text.to_owned()))
    }

    /// When the run started.
    pub fn started(&self) -> Option<Timestamp> {
        let (moment, _salt) = self.0.rsplit_once('-')?;
        let (seconds, millis) = moment.rsplit_once('-')?;
        let at = DateTime::strptime("%Y%m%d-%H%M%S", seconds).ok()?;
        let at = at.to_zoned(TimeZone::UTC).ok()?.timestamp();
        at.checked_add(SignedDuration::from_millis(millis.parse().ok()?)).ok()
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time() {
        let at = |text: &str| RunId::new(text.parse().unwrap(), Uuid::now_v7());
        let early = at("2026-11-16T05:21:11.009Z");
        let late = at("2026-11-16T05:21:11.010Z");
        assert!(early < late, "{early} {late}");
        assert!(early.as_str().starts_with("20261116-052111-009-"), "{early}");
        assert_eq!(early.started(), Some("2026-11-16T05:21:11.009Z".parse().unwrap()));
        assert_eq!(RunId::parse(early.as_str()), Some(early));
        assert_eq!(RunId::parse("../../etc"), None);
    }
}
