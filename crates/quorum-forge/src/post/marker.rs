//! Hidden markers: what a pull request remembers, in comments of the posting account.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use quorum_model::record::{FindingRecord, PullRequestState};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The hidden marker of the summary.
pub const SUMMARY_MARKER: &str = "<!-- quorum:summary -->";
/// The hidden marker of a comment that continues the summary's memory.
pub const PAGE_MARKER: &str = "<!-- quorum:page -->";

const FINDING: &str = "<!-- quorum:finding v1 ";
const STATE: &str = "<!-- quorum:state v1 ";
const END: &str = " -->";

/// No memory of one comment is larger, unpacked; a marker that claims more is not read.
const UNPACKED: u64 = 8 * 1024 * 1024;

/// The marker of a comment on a finding.
pub(crate) fn of_finding(record: &FindingRecord) -> String {
    format!("{FINDING}{}{END}", pack(record))
}

/// The finding that a comment is about, where its marker is whole.
pub fn finding_in(body: &str) -> Option<FindingRecord> {
    unpack(last(body, FINDING)?)
}

/// The marker of what a pull request remembers beside its comments on lines.
pub(crate) fn of_state(state: &PullRequestState) -> String {
    format!("{STATE}{}{END}", pack(state))
}

/// What a comment remembers of findings without a comment of their own.
pub fn state_in(body: &str) -> Option<PullRequestState> {
    unpack(last(body, STATE)?)
}

/// Markers stand at the end, so that nothing that was quoted before them counts.
fn last<'a>(body: &'a str, opening: &str) -> Option<&'a str> {
    let (packed, _) = body.rsplit_once(opening)?.1.split_once(END)?;
    Some(packed)
}

/// JSON, deflated, as letters, and a checksum: an edited or cut marker is none.
fn pack(value: &impl Serialize) -> String {
    // Plain values of strings and numbers have a JSON form, and writing to memory does not fail.
    let json = serde_json::to_vec(value).unwrap_or_default();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(&json).and_then(|()| encoder.finish()).unwrap_or_default();
    let text = BASE64.encode(&packed);
    format!("{text} {:08x}", crc32fast::hash(text.as_bytes()))
}

fn unpack<T: DeserializeOwned>(text: &str) -> Option<T> {
    let (packed, sum) = text.split_once(' ')?;
    if format!("{:08x}", crc32fast::hash(packed.as_bytes())) != sum {
        return None;
    }
    let packed = BASE64.decode(packed).ok()?;
    let mut json = Vec::new();
    DeflateDecoder::new(packed.as_slice()).take(UNPACKED).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::support::record;

    #[test]
    fn what_is_packed_is_read_again() {
        let one = record("SEC-001", "a.go");
        let body = format!("text -->\n\n{}", of_finding(&one));
        assert_eq!(finding_in(&body), Some(one.clone()));
        let state = PullRequestState { records: vec![one], ..PullRequestState::default() };
        assert_eq!(state_in(&of_state(&state)), Some(state));
        assert_eq!(finding_in("nothing"), None);
    }

    #[test]
    fn an_edited_or_cut_marker_is_none() {
        let body = of_finding(&record("SEC-001", "a.go"));
        assert_eq!(finding_in(&body[..body.len() - 6]), None);
        let edited = body.replacen('A', "B", 1);
        assert!(edited == body || finding_in(&edited).is_none());
        assert_eq!(finding_in("<!-- quorum:finding v1 e30 00000000 -->"), None);
    }

    #[test]
    fn a_hundred_records_take_little_room() {
        let records = (0..100).map(|number| record(&format!("SEC-{number:03}"), "src/a.go"));
        let state = PullRequestState { records: records.collect(), ..Default::default() };
        assert!(of_state(&state).len() < 20_000, "{}", of_state(&state).len());
    }
}
