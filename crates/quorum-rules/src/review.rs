//! One review: every file once, all checks, then what only the whole change shows.

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::checks;
use crate::finding::{RuleFinding, SHOWN};
use crate::source::{ParsedFile, SourceFile, Sources};

/// What the embedded reviewers found, in an order that depends on nothing but the input.
#[derive(Debug, Default)]
pub struct Review {
    /// What is shown to people.
    pub findings: Vec<RuleFinding>,
    /// What is too uncertain to show, and worth a look by another reviewer.
    pub hints: Vec<RuleFinding>,
    /// Files that could not be read as what they are, with the cause.
    pub notes: Vec<Note>,
}

/// Something about a file that a reader of the report should know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The file.
    pub file: String,
    /// What happened.
    pub cause: String,
}

/// Loads one file of the change when its turn comes; absent when there is nothing to read.
pub type Load<'a> = dyn Fn(usize) -> Option<SourceFile> + Sync + 'a;

/// Reviews `count` files that `load` gives, with the repository around them.
///
/// A file is read, parsed and dropped by one worker, so memory does not grow with the change.
pub fn review(count: usize, load: &Load<'_>, sources: &dyn Sources) -> Review {
    let numbers: Vec<usize> = (0..count).collect();
    let read: Vec<FileReview> = numbers
        .par_iter()
        .filter_map(|&number| load(number))
        .map(|source| review_file(&ParsedFile::new(source), sources))
        .collect();
    let mut review = Review::default();
    let mut facts = Vec::with_capacity(read.len());
    for file in read {
        review.take(file.findings);
        review.notes.extend(file.notes);
        facts.push(file.facts);
    }
    let mut findings = Vec::new();
    for check in checks::CHANGE {
        check(&facts, sources, &mut findings);
    }
    review.take(findings);
    sort(&mut review.findings);
    sort(&mut review.hints);
    review.notes.sort();
    review
}

impl Review {
    /// Keeps what is sure enough apart from what is not.
    fn take(&mut self, findings: Vec<RuleFinding>) {
        for found in findings {
            if found.confidence >= SHOWN {
                self.findings.push(found);
            } else {
                self.hints.push(found);
            }
        }
    }
}

/// What looking at one file gave.
struct FileReview {
    findings: Vec<RuleFinding>,
    facts: checks::FileFacts,
    notes: Vec<Note>,
}

fn review_file(file: &ParsedFile, _sources: &dyn Sources) -> FileReview {
    let mut findings = Vec::new();
    for check in checks::ALL {
        check(file, &mut findings);
    }
    findings.retain(|found| found.caused || file.source.touches(found.line, found.end_line));
    let notes = file.failure.iter().map(|failure| Note {
        file: file.path().to_owned(),
        cause: format!("searched as text only: {failure}"),
    });
    FileReview { notes: notes.collect(), findings, facts: checks::FileFacts::of(file) }
}

fn sort(findings: &mut [RuleFinding]) {
    findings.sort_by(|a, b| {
        let key = |f: &RuleFinding| (f.line, f.end_line);
        (&a.file, key(a), &a.rule, &a.issue).cmp(&(&b.file, key(b), &b.rule, &b.issue))
    });
}
