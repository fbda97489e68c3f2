//! How long a decision takes: what `quorum replay` waits for.

#[path = "../tests/it/fixture.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod fixture;

use divan::Bencher;
use quorum_model::plan::Protocol;
use quorum_model::severity::Severity;

use fixture::{Review, finding};

fn main() {
    divan::main();
}

const AGENTS: [&str; 6] = [
    "security-reviewer",
    "vulnerability-reviewer",
    "go-reviewer",
    "code-quality-reviewer",
    "documentation-reviewer",
    "user-persona-reviewer",
];

/// Six agents with as many findings together, over a hundred files.
fn review(findings: usize, protocol: Protocol) -> Review {
    let files: Vec<String> = (0..100).map(|number| format!("src/file{number}.go")).collect();
    let paths: Vec<&str> = files.iter().map(String::as_str).collect();
    let mut review = Review::of(&paths).protocol(protocol);
    for name in AGENTS {
        review = review.agent(name);
    }
    let verbs = ["leaks", "drops", "repeats", "ignores", "exposes", "forgets", "blocks"];
    let nouns = ["the handle", "an error", "a request", "the lock", "user input", "a secret"];
    for number in 0..findings {
        let issue = format!(
            "The call to readConfigPart{} {} {} when the {} branch is taken",
            number % 37,
            verbs[number % verbs.len()],
            nouns[number % nouns.len()],
            ["first", "last", "error", "default"][number % 4],
        );
        let severity = Severity::WORST_FIRST[number % 4];
        let line = 1 + (number / 100 * 7 % 97) as u64;
        let found = finding(severity, &files[number % files.len()], line, &issue);
        review = review.finds(AGENTS[number % AGENTS.len()], found);
    }
    review
}

#[divan::bench(args = [200, 2_000])]
fn veto(bencher: Bencher<'_, '_>, findings: usize) {
    let review = review(findings, Protocol::Veto);
    bencher.bench(|| review.decide());
}

#[divan::bench(args = [200, 2_000])]
fn vote(bencher: Bencher<'_, '_>, findings: usize) {
    let review = review(findings, Protocol::Vote);
    bencher.bench(|| review.decide());
}
