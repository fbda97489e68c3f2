//! The form of a record, and reading it back.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::event::Event;

/// What every line begins with, up to the checksum.
const OPENING: &[u8] = b"{\"crc32\":\"";
/// What stands between the checksum and the part that it covers.
const CLOSING: &[u8] = b"\",";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// One event as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number, from 0.
    pub seq: u64,
    /// When, in UTC, RFC 3339.
    pub at: String,
    /// What happened.
    pub event: Event,
}

/// Everything that a journal holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The whole records, in order.
    pub records: Vec<Record>,
    /// What was changed after it was written.
    pub damage: Vec<Damage>,
    /// Bytes up to the end of the last line.
    pub end: u64,
    /// Bytes after that, cut off by a crash.
    pub torn: u64,
    /// The number of the next record.
    pub next: u64,
}

/// A record that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, from 1.
    pub line: u64,
    /// The byte at which the line begins.
    pub offset: u64,
    /// What is wrong.
    pub kind: DamageKind,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageKind {
    /// It does not have the form of a record.
    Frame,
    /// Its checksum does not fit.
    Checksum,
    /// Its checksum fits, and this version cannot read it.
    Unreadable(String),
    /// Its number does not follow the one before it.
    Sequence {
        /// The number that should be there.
        expected: u64,
        /// The number that is.
        found: u64,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {} (byte {}): ", self.line, self.offset)?;
        match &self.kind {
            DamageKind::Frame => formatter.write_str("not a record"),
            DamageKind::Checksum => formatter.write_str("the checksum does not fit"),
            DamageKind::Unreadable(cause) => write!(formatter, "not readable: {cause}"),
            DamageKind::Sequence { expected, found } => {
                write!(formatter, "record {found} where record {expected} should be")
            }
        }
    }
}

/// What the checksum covers.
#[derive(Serialize)]
struct Body<'a> {
    seq: u64,
    at: &'a str,
    event: &'a Event,
}

#[derive(Deserialize)]
struct OwnedBody {
    seq: u64,
    at: String,
    event: Event,
}

/// The line for an event.
pub(super) fn line(seq: u64, at: &str, event: &Event) -> serde_json::Result<Vec<u8>> {
    let body = serde_json::to_vec(&Body { seq, at, event })?;
    // The body's own opening brace is the line's.
    let covered = body.get(1..).unwrap_or_default();
    let mut line = Vec::with_capacity(covered.len() + 32);
    line.extend_from_slice(OPENING);
    line.extend_from_slice(checksum(covered).as_bytes());
    line.extend_from_slice(CLOSING);
    line.extend_from_slice(covered);
    line.push(b'\n');
    Ok(line)
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Reads a journal: every whole record, and what is wrong with the rest.
pub fn read(bytes: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut after_damage = false;
    let mut number = 0;
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let (text, following) = (&rest[..end], &rest[end + 1..]);
        number += 1;
        let offset = reading.end;
        let mut name = |kind| reading.damage.push(Damage { line: number, offset, kind });
        match record(text) {
            Ok(record) => {
                if record.seq != reading.next && !(after_damage && record.seq > reading.next) {
                    name(DamageKind::Sequence { expected: reading.next, found: record.seq });
                }
                reading.next = reading.next.max(record.seq.saturating_add(1));
                after_damage = false;
                reading.records.push(record);
            }
            Err(kind) => {
                name(kind);
                after_damage = true;
            }
        }
        reading.end += end as u64 + 1;
        rest = following;
    }
    // A whole record with another byte in the place of its line end was not cut off by a crash.
    if rest.split_last().is_some_and(|(_, text)| record(text).is_ok()) {
        let damage = Damage { line: number + 1, offset: reading.end, kind: DamageKind::Frame };
        reading.damage.push(damage);
        after_damage = true;
    } else {
        reading.torn = rest.len() as u64;
    }
    if after_damage {
        // The number of the record that cannot be read is taken.
        reading.next += 1;
    }
    reading
}

fn record(text: &[u8]) -> Result<Record, DamageKind> {
    let (stated, covered) = text
        .strip_prefix(OPENING)
        .and_then(|text| text.split_at_checked(DIGITS))
        .and_then(|(stated, text)| Some((stated, text.strip_prefix(CLOSING)?)))
        .ok_or(DamageKind::Frame)?;
    if checksum(covered).as_bytes() != stated {
        return Err(DamageKind::Checksum);
    }
    let body = [b"{", covered].concat();
    let body: OwnedBody = serde_json::from_slice(&body).map_err(|cause| {
        DamageKind::Unreadable(quorum_model::wording::plain(&cause.to_string()))
    })?;
    Ok(Record { seq: body.seq, at: body.at, event: body.event })
}
