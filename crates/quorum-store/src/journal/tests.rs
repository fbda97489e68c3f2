use std::collections::BTreeSet;

use quorum_model::outcome::Usage;
use serde_json::json;

use super::*;
use crate::testing::{clock, finding, outcome};

fn events() -> Vec<Event> {
    let call = SettledCall {
        agent: "go-reviewer".to_owned(),
        key: "k1".to_owned(),
        usage: Usage { tokens: 7, usd: 0.1 + 0.2, ..Usage::default() },
        outcome: CallOutcome::Answered(json!({ "text": "two\nlines, \u{1F980}" })),
    };
    vec![
        Event::RunStarted { run: "r".to_owned(), label: "main...HEAD".to_owned() },
        Event::AgentStarted { agent: "go-reviewer".to_owned(), shard: 0 },
        Event::Finding { agent: "go-reviewer".to_owned(), finding: Box::new(finding("a.go", 3)) },
        Event::CallSettled(Box::new(call)),
        Event::AgentFinished(Box::new(outcome("r", "go-reviewer", vec![finding("a.go", 3)]))),
        Event::Interrupted { reason: "Ctrl-C".to_owned() },
    ]
}

fn written() -> (tempfile::TempDir, std::path::PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let journal = Journal::create(&path, clock()).unwrap();
    for event in &events() {
        journal.append(event).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    (folder, path, bytes)
}

fn of(reading: &Reading) -> Vec<Event> {
    reading.records.iter().map(|record| record.event.clone()).collect()
}

#[test]
fn what_was_written_is_read() {
    let (_folder, _, bytes) = written();
    let reading = read(&bytes);
    assert_eq!(of(&reading), events());
    assert_eq!((reading.damage.len(), reading.torn, reading.next), (0, 0, 6));
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok(), "each line is JSON");
    }
}

#[test]
fn a_journal_cut_at_any_byte_is_read_up_to_its_last_whole_record() {
    let (_folder, path, bytes) = written();
    let ends: Vec<usize> = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    for cut in 0..=bytes.len() {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let reading = read(&bytes[..cut]);
        assert_eq!(of(&reading), events()[..whole], "cut at {cut}");
        assert!(reading.damage.is_empty(), "a cut is no damage: {cut}");
        if cut % 13 != 0 {
            continue; // going on waits for the disk
        }
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (journal, _) = Journal::reopen(&path, clock()).unwrap();
        journal.append(&Event::RunResumed).unwrap();
        let reading = read(&std::fs::read(&path).unwrap());
        assert_eq!(reading.records.len(), whole + 1, "goes on after a cut at {cut}");
        assert_eq!((reading.damage.len(), reading.torn), (0, 0), "cut at {cut}");
    }
}

#[test]
fn every_flipped_bit_is_named_and_costs_at_most_the_records_that_it_touches() {
    let (_folder, path, bytes) = written();
    let starts: Vec<u64> = std::iter::once(0)
        .chain(
            bytes
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n')
                .map(|(at, _)| at as u64 + 1),
        )
        .collect();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let reading = read(&changed);
        let hit = starts.iter().rev().find(|&&start| start <= (bit / 8) as u64).copied();
        let named = reading.damage.first().map(|damage| damage.offset);
        assert_eq!(named, hit, "bit {bit}: {:?}", reading.damage);
        assert_eq!(reading.torn, 0, "bit {bit}");
        let lost = events().len() - reading.records.len();
        assert!((1..=2).contains(&lost), "bit {bit} costs {lost} records");
        let kept: BTreeSet<u64> = reading.records.iter().map(|record| record.seq).collect();
        assert_eq!(kept.len(), reading.records.len());
        for record in &reading.records {
            assert_eq!(record.event, events()[usize::try_from(record.seq).unwrap()], "bit {bit}");
        }
        if bit % 499 == 0 || bit / 8 == bytes.len() - 1 {
            std::fs::write(&path, &changed).unwrap();
            let (journal, _) = Journal::reopen(&path, clock()).unwrap();
            journal.append(&Event::RunResumed).unwrap();
            let after = read(&std::fs::read(&path).unwrap());
            assert_eq!(after.records.len(), reading.records.len() + 1, "bit {bit}");
            let last = after.records.last().unwrap();
            assert!(!kept.contains(&last.seq), "a number is never used twice: bit {bit}");
        }
    }
}

#[test]
fn lines_that_are_missing_or_doubled_are_named() {
    let (_folder, _, bytes) = written();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let missing = read(&[&lines[..2], &lines[3..]].concat().concat());
    assert_eq!(missing.damage[0].kind, DamageKind::Sequence { expected: 2, found: 3 });
    assert_eq!(
        missing.damage[0].to_string().split(": ").nth(1),
        Some("record 3 where record 2 should be")
    );
    let doubled = read(&[&lines[..3], &lines[2..]].concat().concat());
    assert_eq!(doubled.damage[0].kind, DamageKind::Sequence { expected: 3, found: 2 });
}

#[test]
fn threads_never_mix_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let journal = Journal::create(&path, clock()).unwrap();
    std::thread::scope(|scope| {
        for agent in ["a", "b", "c", "d"] {
            let journal = &journal;
            scope.spawn(move || {
                for line in 0..25 {
                    let finding = Box::new(finding("a.go", line));
                    journal.append(&Event::Finding { agent: agent.to_owned(), finding }).unwrap();
                }
            });
        }
    });
    let reading = read(&std::fs::read(&path).unwrap());
    assert_eq!((reading.records.len(), reading.damage.len(), reading.next), (100, 0, 100));
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
        let reading = read(&bytes);
        proptest::prop_assert_eq!(reading.end + reading.torn <= bytes.len() as u64, true);
    }
}
