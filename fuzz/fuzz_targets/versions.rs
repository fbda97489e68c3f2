//! Any two texts can be compared as versions, and the order is the same from both sides.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorum_advisories::{Ecosystem, version::compare};

fuzz_target!(|text: &str| {
    let (left, right) = text.split_once('\n').unwrap_or((text, ""));
    for &ecosystem in Ecosystem::ALL {
        assert_eq!(compare(ecosystem, left, right), compare(ecosystem, right, left).reverse());
        assert!(compare(ecosystem, left, left).is_eq());
    }
});
