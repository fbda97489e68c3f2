//! Counting tokens, beside the cheapest count there is on the same text.
//!
//! The goal is 50 MB/s on one core for source code with the exact vocabularies.

use quorum_index::Counter;
use quorum_model::config::Tokenizer;

fn main() {
    divan::main();
}

/// The sources of this workspace, over and over, to 4 MB.
fn source() -> Vec<u8> {
    let own = [
        include_bytes!("../src/cut.rs").as_slice(),
        include_bytes!("../src/counter.rs").as_slice(),
        include_bytes!("../../quorum-scope/src/files.rs").as_slice(),
        include_bytes!("../../quorum-scope/src/diff/reader.rs").as_slice(),
        include_bytes!("../../quorum-plan/src/planner.rs").as_slice(),
    ]
    .concat();
    own.iter().copied().cycle().take(4 << 20).collect()
}

#[divan::bench(args = [Tokenizer::O200k, Tokenizer::Cl100k, Tokenizer::Chars4])]
fn source_code(bencher: divan::Bencher<'_, '_>, tokenizer: Tokenizer) {
    let text = source();
    let counter = Counter::new(tokenizer);
    bencher
        .counter(divan::counter::BytesCount::new(text.len()))
        .bench(|| counter.count(divan::black_box(&text)));
}

#[divan::bench]
fn one_endless_line(bencher: divan::Bencher<'_, '_>) {
    let text = b"lorem ipsum dolor sit amet ".repeat(40_000);
    let counter = Counter::new(Tokenizer::O200k);
    bencher
        .counter(divan::counter::BytesCount::new(text.len()))
        .bench(|| counter.count(divan::black_box(&text)));
}

#[divan::bench]
fn cutting_into_units(bencher: divan::Bencher<'_, '_>) {
    let text = source();
    let counter = Counter::new(Tokenizer::O200k);
    bencher.counter(divan::counter::BytesCount::new(text.len())).bench(|| {
        quorum_index::cut::cut(
            &counter,
            divan::black_box(&text),
            1,
            quorum_index::cut::Numbering::File,
            2_048,
            None,
        )
    });
}
