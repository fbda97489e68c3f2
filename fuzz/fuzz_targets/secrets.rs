//! Any text can be redacted, and keeps its lines and columns.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorum_rules::secrets::{redact, scan};

fuzz_target!(|text: &str| {
    let redacted = redact(text);
    assert_eq!(redacted.chars().count(), text.chars().count());
    assert_eq!(redacted.lines().count(), text.lines().count());
    assert!(scan(text).windows(2).all(|pair| pair[0].end <= pair[1].start));
});
