//! One review: every file once, all rules and checks, then what only the whole change shows.

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::checks;
use crate::finding::{RuleFinding, SHOWN};
use crate::flow;
use crate::parts;
use crate::quoted;
use crate::rule::{self, InTests, RuleSet};
use crate::source::{ParsedFile, Side, SourceFile, Sources};
use crate::suppress::{Suppressed, Suppressions};

/// What the embedded reviewers found, in an order that depends on nothing but the input.
#[derive(Debug, Default)]
pub struct Review {
    /// What is shown to people.
    pub findings: Vec<RuleFinding>,
    /// What is too uncertain to show, and worth a look by another reviewer.
    pub hints: Vec<RuleFinding>,
    /// Files that could not be read as what they are, with the cause.
    pub notes: Vec<Note>,
    /// Lines that were looked at less closely than the others of their files.
    pub limited: Vec<Limited>,
    /// What comments in the files suppress.
    pub suppressed: Vec<Suppressed>,
    /// Why dependencies were not compared with known vulnerabilities, where they were not.
    pub not_compared: Option<String>,
}

/// Lines of a file that were looked at less closely than the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limited {
    /// The file.
    pub file: String,
    /// First and last lines, in the head version.
    pub lines: Vec<(u64, u64)>,
    /// How closely.
    pub limit: Limit,
    /// What happened, for people.
    pub cause: String,
}

/// What kept rules from looking at lines closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// No parser could read them: they were searched as text, for secrets and hidden characters.
    Unparsed,
    /// They met a bound on work: what rules would say about all of them is not known.
    Bound,
}

/// Something about a file that a reader of the report should know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The file.
    pub file: String,
    /// The reviewer whose work it is about; all that look at the file where it is absent.
    pub agent: Option<&'static str>,
    /// What happened.
    pub cause: String,
}

/// The stack of a worker. Trees, and the code that is read from them, are followed by recursion as
/// deep as the limits allow; memory is only taken where it is used.
const STACK: usize = 64 * 1024 * 1024;

/// Loads one file of the change when its turn comes; absent when there is nothing to read.
pub type Load<'a> = dyn Fn(usize) -> Option<SourceFile> + Sync + 'a;

/// Reviews `count` files that `load` gives, by the embedded rules, with the repository around them.
pub fn review(count: usize, load: &Load<'_>, sources: &dyn Sources) -> Review {
    review_with(RuleSet::embedded(), count, load, sources)
}

/// Reviews `count` files that `load` gives, with the repository around them.
///
/// A file is read, parsed and dropped by one worker, so memory does not grow with the change.
pub fn review_with(
    rules: &RuleSet,
    count: usize,
    load: &Load<'_>,
    sources: &dyn Sources,
) -> Review {
    let numbers: Vec<usize> = (0..count).collect();
    let read = || -> Vec<FileReview> {
        numbers
            .par_iter()
            .filter_map(|&number| load(number))
            .map(|source| review_file(rules, &ParsedFile::new(source), sources))
            .collect()
    };
    let workers = rayon::ThreadPoolBuilder::new()
        .num_threads(rayon::current_num_threads())
        .stack_size(STACK)
        .build();
    // Without threads of its own a review is as good on those of the process, down to their depth.
    let read = match workers {
        Ok(workers) => workers.install(read),
        Err(_) => read(),
    };
    let mut review = Review::default();
    let mut facts = Vec::with_capacity(read.len());
    let whole = read.iter().all(|file| file.whole);
    let mut comments: BTreeMap<String, Suppressions> = BTreeMap::new();
    for file in read {
        review.take(file.findings);
        review.set_aside(file.suppressed);
        review.notes.extend(file.notes);
        review.limited.extend(file.limited);
        comments.insert(file.facts.path().to_owned(), file.comments);
        review.not_compared = review.not_compared.take().or(file.not_compared);
        facts.push(file.facts);
    }
    // The same files in another order are the same change.
    facts.sort_by(|a, b| a.path().cmp(b.path()));
    let mut findings = Vec::new();
    for check in checks::CHANGE {
        check(&facts, sources, &mut findings);
    }
    let (open, suppressed) = heed_comments(findings, sources, whole, &mut comments);
    review.take(open);
    review.set_aside(suppressed);
    for (path, comments) in &comments {
        let known = |rule: &str| rules.get(rule).is_some() || checks::reports(rule);
        for cause in comments.warnings(&known, whole) {
            review.notes.push(Note { file: path.clone(), agent: None, cause });
        }
    }
    sort(&mut review.findings);
    sort(&mut review.hints);
    review.notes.sort();
    review.limited.sort();
    review.suppressed.sort_by(|a, b| {
        let key = |one: &Suppressed| (one.finding.line, one.line);
        (&a.finding.file, key(a), &a.finding.rule).cmp(&(&b.finding.file, key(b), &b.finding.rule))
    });
    review
}

impl Review {
    /// Keeps what is suppressed; what is too uncertain to show needs no suppression.
    fn set_aside(&mut self, suppressed: Vec<Suppressed>) {
        self.suppressed
            .extend(suppressed.into_iter().filter(|one| one.finding.confidence >= SHOWN));
    }

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

/// Takes out what a comment in its file suppresses.
fn heed_comments(
    findings: Vec<RuleFinding>,
    sources: &dyn Sources,
    whole: bool,
    comments: &mut BTreeMap<String, Suppressions>,
) -> (Vec<RuleFinding>, Vec<Suppressed>) {
    let mut by_file: BTreeMap<String, Vec<RuleFinding>> = BTreeMap::new();
    for found in findings {
        by_file.entry(found.file.clone()).or_default().push(found);
    }
    let (mut open, mut suppressed) = (Vec::new(), Vec::new());
    for (path, mut found) in by_file {
        let head = sources.read(&path, Side::Head).unwrap_or_default();
        quoted::mask(&path, &head, &mut found);
        let read = || {
            let base = sources.read(&path, Side::Base);
            Suppressions::read(&head, None, base.as_deref(), whole)
        };
        let comments = comments.entry(path.clone()).or_insert_with(read);
        let (more_open, mut more_suppressed) = comments.apply(found, &path);
        quoted::mask_reasons(&path, &head, &mut more_suppressed);
        open.extend(more_open);
        suppressed.extend(more_suppressed);
    }
    (open, suppressed)
}

/// What looking at one file gave.
struct FileReview {
    findings: Vec<RuleFinding>,
    suppressed: Vec<Suppressed>,
    comments: Suppressions,
    facts: checks::FileFacts,
    notes: Vec<Note>,
    limited: Vec<Limited>,
    /// Whether no change is reviewed, but the file as it is.
    whole: bool,
    not_compared: Option<String>,
}

fn review_file(rules: &RuleSet, file: &ParsedFile, sources: &dyn Sources) -> FileReview {
    let (mut findings, unfinished) = examine(rules, file);
    let mut checked = Vec::new();
    for check in checks::ALL {
        check(file, &mut checked);
    }
    // What is secret stays secret in a test; the security checks weigh the place themselves.
    checked.retain_mut(|found| {
        found.agent == "security-reviewer" || mild_in_tests(rules, file, found)
    });
    findings.append(&mut checked);
    for check in checks::AROUND {
        check(file, sources, &mut findings);
    }
    let whole = file.source.added.is_none() && file.source.base.is_none();
    let base = file.source.base.as_deref();
    let mut comments = Suppressions::read(file.text(), file.tree.as_ref(), base, whole);
    comments.see(&findings);
    findings.retain(|found| found.caused || concerns_change(file, found));
    let mut limited = limited(file, &unfinished);
    limited.extend(parts::not_understood(&file.source));
    for part in parts::of(&file.source) {
        limited.extend(review_part(rules, &part, &mut findings));
    }
    let mut findings = quoted::one_for_each_secret(most_specific(rules, findings));
    quoted::mask(file.path(), file.text(), &mut findings);
    let (findings, mut suppressed) = comments.apply(findings, file.path());
    quoted::mask_reasons(file.path(), file.text(), &mut suppressed);
    let note = |cause: String| Note { file: file.path().to_owned(), agent: None, cause };
    let mut notes = checks::dependencies::notes(file, sources);
    let compared = |note: &Note| note.cause != checks::dependencies::NOT_COMPARED;
    let not_compared =
        (!notes.iter().all(compared)).then(|| checks::dependencies::NOT_COMPARED.to_owned());
    if let Some(failure) = &file.failure {
        notes.push(note(format!("searched as text only: {failure}")));
    }
    for gap in limited.iter().filter(|gap| gap.limit == Limit::Bound && file.failure.is_none()) {
        notes.push(note(format!("{}: {}", gap.cause, gap.named())));
    }
    let facts = checks::FileFacts::of(file);
    FileReview { findings, suppressed, comments, facts, notes, limited, whole, not_compared }
}

impl Limited {
    /// The lines, for people.
    pub fn named(&self) -> String {
        const SHOWN: usize = 5;
        let one = |&(first, last): &(u64, u64)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        let mut named: Vec<String> = self.lines.iter().take(SHOWN).map(one).collect();
        if self.lines.len() > SHOWN {
            named.push(format!("and {} more places", self.lines.len() - SHOWN));
        }
        let single = matches!(self.lines.as_slice(), [(first, last)] if first == last);
        format!("{} {}", if single { "line" } else { "lines" }, named.join(", "))
    }
}

/// The lines of the change that met a limit, or that no parser understands.
fn limited(file: &ParsedFile, unfinished: &[(u32, u32)]) -> Vec<Limited> {
    let mut gaps = Vec::new();
    let mut add = |limit, cause: String, rows: &mut dyn Iterator<Item = (u64, u64)>| {
        let lines: Vec<(u64, u64)> = rows
            .map(|(first, last)| (first + 1, last.max(first) + 1))
            .filter(|&(first, last)| file.source.touches(first, last))
            .collect();
        if !lines.is_empty() {
            gaps.push(Limited { file: file.path().to_owned(), lines, limit, cause });
        }
    };
    let wide = |&(first, last): &(usize, usize)| (first as u64, last as u64);
    let depth = quorum_syntax::Limits::default().depth;
    let cause = format!("nested more than {depth} levels deep, or never closed");
    add(Limit::Bound, cause, &mut file.too_deep.iter().map(wide));
    let cause = "values were followed only in part, because the code is too involved";
    let mut rows = unfinished.iter().map(|&(first, last)| (u64::from(first), u64::from(last)));
    add(Limit::Bound, cause.to_owned(), &mut rows);
    if let Some(failure) = &file.failure {
        let whole = (0, (file.line_count() as u64).saturating_sub(1));
        let cause = format!("searched as text only: {failure}");
        add(Limit::Bound, cause, &mut std::iter::once(whole));
    }
    let cause = "not understood by the parser, searched as text only";
    add(Limit::Unparsed, cause.to_owned(), &mut file.unparsed.iter().map(wide));
    gaps
}

/// Adds what is found in code inside a file, at its place in the file; gives the lines of the file
/// that met a limit.
fn review_part(
    rules: &RuleSet,
    part: &parts::Part,
    findings: &mut Vec<RuleFinding>,
) -> Vec<Limited> {
    let (mut found, unfinished) = examine(rules, &part.file);
    let mut checked = Vec::new();
    for check in checks::INSIDE {
        check(&part.file, &mut checked);
    }
    checked.retain_mut(|found| {
        found.agent == "security-reviewer" || mild_in_tests(rules, &part.file, found)
    });
    found.append(&mut checked);
    found.retain(|found| concerns_change(&part.file, found));
    // The text of the whole file was searched for secrets already.
    let is_secret = |found: &&RuleFinding| found.category == "secrets";
    let secrets = findings.iter().filter(is_secret);
    let mut known: HashSet<(u64, &'static str)> =
        secrets.map(|found| (found.line, found.agent)).collect();
    for found in found.into_iter().filter_map(|found| part.place(found)) {
        if !is_secret(&&found) || known.insert((found.line, found.agent)) {
            findings.push(found);
        }
    }
    let mut gaps = limited(&part.file, &unfinished);
    for gap in &mut gaps {
        gap.lines = gap.lines.iter().map(|&lines| part.lines(lines)).collect();
    }
    gaps
}

/// What the rules find in one file, whether or not the change touches it.
///
/// Also says in which rows flows were followed only in part, because a limit of work was met.
pub(crate) fn examine(rules: &RuleSet, file: &ParsedFile) -> (Vec<RuleFinding>, flow::Unfinished) {
    let mut findings = Vec::new();
    rule::scan(rules, file, &mut findings);
    let unfinished = flow::scan(rules, file, &mut findings);
    findings.retain_mut(|found| mild_in_tests(rules, file, found));
    (findings, unfinished)
}

/// A test or an example runs with nobody's data: what is found there weighs less, or nothing.
fn mild_in_tests(rules: &RuleSet, file: &ParsedFile, found: &mut RuleFinding) -> bool {
    let place = if file.source.entry.has(Flag::Test) {
        "test code"
    } else if looks_like_example(file.path()) {
        "an example"
    } else {
        return true;
    };
    match rules.get(&found.rule).map_or(InTests::Same, |rule| rule.in_tests) {
        InTests::Same => return true,
        InTests::Skip => return false,
        InTests::Lower => {}
    }
    let lowered = match found.severity {
        Severity::Critical => Severity::Medium,
        _ => Severity::Low,
    };
    if lowered != found.severity {
        found.severity = lowered;
        found.issue.push_str(" It weighs less here because this is ");
        found.issue.push_str(place);
        found.issue.push('.');
    }
    true
}

pub(crate) fn looks_like_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec" | "testdata"))
        || name.contains("_test.")
        || name.contains(".test.")
        || name.contains(".spec.")
        || name.starts_with("test_")
}

fn looks_like_example(path: &str) -> bool {
    path.split('/')
        .any(|part| matches!(part, "example" | "examples" | "samples" | "demo" | "demos"))
}

/// One defect is one finding: where several rules speak of one weakness on one line, the most
/// specific says it and names the others.
fn most_specific(rules: &RuleSet, findings: Vec<RuleFinding>) -> Vec<RuleFinding> {
    let mut kept: Vec<RuleFinding> = Vec::with_capacity(findings.len());
    let mut at_line: HashMap<(u64, &'static str), Vec<usize>> = HashMap::new();
    for found in findings {
        let same = at_line.entry((found.line, found.agent)).or_default();
        let rival = same.iter().copied().find(|&at| {
            let known = &kept[at];
            supersedes(rules, known, &found)
                || supersedes(rules, &found, known)
                || (known.cwe.is_some() && known.cwe == found.cwe && known.rule != found.rule)
                || one_secret(known, &found)
        });
        match rival {
            None => {
                // Those of one rule are alike: the first of them stands for all, or a line with
                // thousands of findings would be compared with itself.
                if !same.iter().any(|&at| kept[at].rule == found.rule) {
                    same.push(kept.len());
                }
                kept.push(found);
            }
            Some(at) if one_secret(&kept[at], &found) => merge_secret(&mut kept[at], found),
            Some(at) => {
                let known = &mut kept[at];
                let better = supersedes(rules, &found, known)
                    || (!supersedes(rules, known, &found)
                        && (found.severity, found.confidence) > (known.severity, known.confidence));
                let other = if better { std::mem::replace(known, found) } else { found };
                known.references.push(format!("rule:{}", other.rule));
            }
        }
    }
    kept
}

/// Whether the search for secrets and a rule about code speak of the same value.
fn one_secret(a: &RuleFinding, b: &RuleFinding) -> bool {
    let searched = |found: &RuleFinding| found.rule.starts_with("secrets.");
    a.category == "secrets" && b.category == "secrets" && searched(a) != searched(b)
}

/// The search quotes without the value; how bad it is, the surer of the two says.
fn merge_secret(known: &mut RuleFinding, found: RuleFinding) {
    let is_search = found.rule.starts_with("secrets.");
    let other = if is_search { std::mem::replace(known, found) } else { found };
    known.severity = known.severity.max(other.severity);
    known.confidence = known.confidence.max(other.confidence);
    known.references.push(format!("rule:{}", other.rule));
}

fn supersedes(rules: &RuleSet, one: &RuleFinding, other: &RuleFinding) -> bool {
    rules.get(&one.rule).is_some_and(|rule| rule.supersedes.contains(&other.rule))
}

/// A finding is about the change when its place or a step on the way there is on an added line.
fn concerns_change(file: &ParsedFile, found: &RuleFinding) -> bool {
    file.source.touches(found.line, found.end_line)
        || found.trace.iter().any(|step| step.file == found.file && file.source.is_added(step.line))
}

fn sort(findings: &mut [RuleFinding]) {
    findings.sort_by(|a, b| {
        let key = |f: &RuleFinding| (f.line, f.end_line);
        (&a.file, key(a), &a.rule, &a.issue).cmp(&(&b.file, key(b), &b.rule, &b.issue))
    });
}
