//! Any bytes are a diff or an error, and every hunk of a file lies within its text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorum_scope::diff::PatchReader;

fuzz_target!(|bytes: &[u8]| {
    let mut reader = PatchReader::new(bytes);
    while let Ok(Some(file)) = reader.next_file() {
        assert!(file.text.len() <= bytes.len());
        for hunk in &file.hunks {
            assert!(file.text.get(hunk.body.clone()).is_some());
        }
    }
});
