//! Every quote is checked against the code, and lines are computed from it.

use std::collections::BTreeMap;

use quorum_model::agent::Agent;
use quorum_model::budget::Mode;
use quorum_model::finding::{AgentFinding, TraceStep};
use quorum_model::plan::Plan;
use quorum_model::result::SopStatus;
use quorum_model::scope::{Change, FileEntry};

use super::contract::{Reported, SopAnswer};
use super::shown::{Library, Mark, Shown, ShownFile};
use super::visible::visible;

/// Why a finding is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// There is no such file in the repository.
    NoSuchFile,
    /// It quotes nothing.
    NoEvidence,
    /// What it quotes is not in the file.
    QuoteNotFound,
    /// What it quotes is there several times, and none of them is where it says.
    AmbiguousQuote,
    /// The code is not under review.
    OutOfScope,
}

impl Rejection {
    /// The spelling in results.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::NoSuchFile => "no_such_file",
            Self::NoEvidence => "no_evidence",
            Self::QuoteNotFound => "quote_not_found",
            Self::AmbiguousQuote => "ambiguous_quote",
            Self::OutOfScope => "out_of_scope",
        }
    }

    /// What its author can do about it.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::NoSuchFile => "name a file of the repository by its path from the root",
            Self::NoEvidence => "quote the code in `evidence`",
            Self::QuoteNotFound => "copy the code exactly as it is shown, without line numbers",
            Self::AmbiguousQuote => "quote more lines, or name the line",
            Self::OutOfScope => {
                "quote a changed line, or name in `cause_file` and `cause_quote` what in the change \
                 causes it"
            }
        }
    }
}

/// How far from the line that it names a quote may be, where it is there more than once.
const NEARBY: u64 = 30;

/// Fewer letters and digits than this prove nothing.
const LEAST_QUOTED: usize = 3;

/// More lines of evidence than this are cut.
const MOST_EVIDENCE: u64 = 20;

/// Checks findings against the files of a plan.
pub(crate) struct Ground<'a> {
    library: &'a Library<'a>,
    files: BTreeMap<&'a str, &'a FileEntry>,
}

/// First and last line.
pub(crate) type Lines = (u64, u64);

impl<'a> Ground<'a> {
    pub(crate) fn new(plan: &'a Plan, library: &'a Library<'a>) -> Self {
        let files = plan.scope.files.iter().map(|file| (&*file.path, file)).collect();
        Self { library, files }
    }

    /// The finding as `agent` may report it, or why not. Without a quote the line itself is taken
    /// where `mode` asks for no more than that.
    pub(crate) fn check(
        &self,
        agent: &Agent,
        reported: Reported,
        mode: Mode,
    ) -> Result<AgentFinding, Rejection> {
        let (path, (first, last), evidence) = self.anchor(&reported, mode)?;
        let severity =
            agent.max_severity.map_or(reported.severity, |most| reported.severity.min(most));
        let trace = reported.cause.as_ref().and_then(|cause| {
            let (path, (line, _)) = self.in_scope(&cause.file, &cause.quote, None).ok()?;
            Some(TraceStep { file: path, line, note: "the change that causes it".to_owned() })
        });
        Ok(AgentFinding {
            severity,
            category: category(agent, &reported.category),
            file: Some(path),
            line: Some(first),
            end_line: Some(last),
            location: None,
            evidence: Some(evidence),
            issue: reported.issue,
            recommendation: reported.recommendation,
            replacement: None,
            cwe: reported.cwe.map(|cwe| cwe.to_uppercase()),
            references: Vec::new(),
            rule: None,
            effort: None,
            confidence: reported.confidence,
            dependency: None,
            user_impact: None,
            trace: trace.into_iter().collect(),
        })
    }

    /// The code that `quote` is, where it stands in a file under review at or near `line`.
    pub(crate) fn quoted(&self, file: &str, quote: &str, line: u64) -> Option<String> {
        if !significant(quote) {
            return None;
        }
        let (path, lines) = self.in_scope(file, quote, Some(line)).ok()?;
        self.evidence(&path, lines)
    }

    /// The code that `quote` is, where it stands at a place of a file that `bears`, which is given the
    /// file's path, its text and the lines.
    pub(crate) fn bearing(
        &self,
        file: &str,
        quote: &str,
        bears: impl Fn(&str, &Shown, Lines) -> bool,
    ) -> Option<String> {
        if !significant(quote) {
            return None;
        }
        let path = self.path(file);
        let changed = self.library.changed(path);
        let place = |text: &Shown| {
            let found = occurrences(text, quote);
            let lines = *found.iter().find(|lines| bears(path, text, **lines))?;
            Some(evidence_of(text, lines))
        };
        match changed.as_ref().and_then(|file| file.head.as_ref()) {
            Some(head) => place(head),
            None => place(self.library.around(path)?.as_ref()),
        }
    }

    /// Finds the code that shows the violation of a standing order that `applies` to some files. The
    /// evidence of one that the code shows begins with the place; one that it does not show gets none.
    pub(crate) fn settle(
        &self,
        mut answer: SopAnswer,
        applies: impl Fn(&str) -> bool,
    ) -> SopAnswer {
        if answer.status() != Some(SopStatus::Violated) {
            return answer;
        }
        let quotes: Vec<&str> = match &answer.quote {
            Some(quote) => vec![quote],
            // Between back quotes stands what is copied.
            None => answer.evidence.split('`').skip(1).step_by(2).collect(),
        };
        let files: Vec<&str> = match &answer.file {
            Some(file) => vec![self.path(file)],
            None => self.files.keys().copied().collect(),
        };
        let files = files.into_iter().filter(|file| applies(file));
        let mut pairs = files.flat_map(|file| quotes.iter().map(move |quote| (file, *quote)));
        let found = pairs.find_map(|(file, quote)| self.first_place(file, quote));
        if let Some((file, line, code)) = found {
            let code = code.trim().lines().next().unwrap_or_default();
            let said = answer.evidence.trim();
            let evidence = format!("{file}:{line}: `{code}` {said}");
            evidence.trim_end().clone_into(&mut answer.evidence);
            answer.place = Some((file, line));
        }
        answer
    }

    /// The first place under review where `quote` stands, and the code there.
    fn first_place(&self, file: &str, quote: &str) -> Option<(String, u64, String)> {
        if !significant(quote) {
            return None;
        }
        let (path, found) = self.candidates(file, quote).ok()?;
        let entry = self.files.get(path)?;
        let deleted = entry.change == Change::Deleted;
        let lines = *found.iter().find(|lines| deleted || is_reviewed(entry, **lines))?;
        let code = self.evidence(path, lines).unwrap_or_else(|| quote.to_owned());
        Some((path.to_owned(), lines.0, code))
    }

    fn anchor(
        &self,
        reported: &Reported,
        mode: Mode,
    ) -> Result<(String, Lines, String), Rejection> {
        let quote = reported.evidence.as_deref().filter(|quote| significant(quote));
        let Some(quote) = quote else {
            return if mode == Mode::FullAnalysis || reported.evidence.is_some() {
                Err(Rejection::NoEvidence)
            } else {
                self.line_itself(&reported.file, reported.line)
            };
        };
        match self.in_scope(&reported.file, quote, reported.line) {
            Ok((path, lines)) => {
                let evidence = self.evidence(&path, lines).unwrap_or_else(|| quote.to_owned());
                Ok((path, lines, evidence))
            }
            // Elsewhere it counts only where the change causes it, and both ends are quoted.
            Err(rejection) => {
                let cause = reported.cause.as_ref().ok_or(rejection)?;
                self.in_scope(&cause.file, &cause.quote, None).map_err(|_| rejection)?;
                let path = normal_path(&reported.file);
                let text = self.library.around(path).ok_or(Rejection::NoSuchFile)?;
                let lines = choose(&occurrences(&text, quote), reported.line, &|_| true)?;
                let evidence = evidence_of(&text, lines);
                Ok((path.to_owned(), lines, evidence))
            }
        }
    }

    /// A path as it is, else without what models put around it.
    fn path<'p>(&'p self, path: &'p str) -> &'p str {
        if self.files.contains_key(path) {
            return path;
        }
        let path = normal_path(path);
        if self.files.contains_key(path) {
            return path;
        }
        // A name that was shown without its secrets or its hidden characters is named that way.
        let shown = |known: &&&str| {
            visible(&self.library.name(known)) == path
                || self.library.clean(known).is_ok_and(|shown| shown == path)
        };
        self.files.keys().find(shown).copied().unwrap_or(path)
    }

    /// Where a quote stands in a file that is under review.
    fn in_scope(
        &self,
        file: &str,
        quote: &str,
        line: Option<u64>,
    ) -> Result<(String, Lines), Rejection> {
        let (path, found) = self.candidates(file, quote)?;
        let entry = self.files.get(path).ok_or(Rejection::OutOfScope)?;
        let deleted = entry.change == Change::Deleted;
        let within = |lines: Lines| deleted || is_reviewed(entry, lines);
        Ok((path.to_owned(), choose(&found, line, &within)?))
    }

    /// A file under review by its proper name, and all places in it where a quote stands.
    fn candidates<'p>(
        &'p self,
        file: &'p str,
        quote: &str,
    ) -> Result<(&'p str, Vec<Lines>), Rejection> {
        let path = self.path(file);
        let Some(entry) = self.files.get(path) else {
            let exists = self.library.around(path).is_some();
            return Err(if exists { Rejection::OutOfScope } else { Rejection::NoSuchFile });
        };
        let shown = self.library.changed(path).ok_or(Rejection::QuoteNotFound)?;
        if entry.change == Change::Deleted {
            let base = shown.base.as_ref().ok_or(Rejection::QuoteNotFound)?;
            return Ok((path, occurrences(base, quote)));
        }
        let mut found =
            shown.head.as_ref().map(|head| occurrences(head, quote)).unwrap_or_default();
        if found.is_empty() {
            found.extend(removed(&shown, quote));
        }
        Ok((path, found))
    }

    /// A line that is named and not quoted.
    fn line_itself(
        &self,
        file: &str,
        line: Option<u64>,
    ) -> Result<(String, Lines, String), Rejection> {
        let path = self.path(file);
        let entry = self.files.get(path).ok_or(Rejection::OutOfScope)?;
        let line = line.ok_or(Rejection::NoEvidence)?;
        if !is_reviewed(entry, (line, line)) {
            return Err(Rejection::OutOfScope);
        }
        let shown = self.library.changed(path).ok_or(Rejection::QuoteNotFound)?;
        let text = shown.head.as_ref().and_then(|head| head.line(line)).map(str::trim);
        let text = text.filter(|text| significant(text)).ok_or(Rejection::NoEvidence)?;
        Ok((path.to_owned(), (line, line), text.to_owned()))
    }

    fn evidence(&self, path: &str, lines: Lines) -> Option<String> {
        let shown = self.library.changed(path)?;
        let entry = self.files.get(path)?;
        let side = if entry.change == Change::Deleted { &shown.base } else { &shown.head };
        let evidence = evidence_of(side.as_ref()?, lines);
        (!evidence.trim().is_empty()).then_some(evidence)
    }
}

fn evidence_of(text: &Shown, (first, last): Lines) -> String {
    let last = last.min(first.saturating_add(MOST_EVIDENCE - 1));
    let lines: Vec<&str> = (first..=last).filter_map(|number| text.line(number)).collect();
    lines.join("\n")
}

/// Whether any of the lines is in a hunk; all of a file is, that is reviewed as a whole.
fn is_reviewed(entry: &FileEntry, (first, last): Lines) -> bool {
    let inside = |start: u64, count: u64| {
        let start = start.max(1);
        let end = start.saturating_add(count.max(1)).saturating_sub(1);
        first <= end && last >= start
    };
    entry.hunks.is_empty() || entry.hunks.iter().any(|h| inside(h.new_start, h.new_lines))
}

/// A place among all where a quote stands: the one that is named, else the only one.
fn choose(
    found: &[Lines],
    line: Option<u64>,
    within: &dyn Fn(Lines) -> bool,
) -> Result<Lines, Rejection> {
    if found.is_empty() {
        return Err(Rejection::QuoteNotFound);
    }
    let reviewed: Vec<Lines> = found.iter().copied().filter(|lines| within(*lines)).collect();
    let only = |places: &[Lines]| match places {
        [place] => Some(*place),
        _ => None,
    };
    let at = |line: u64| reviewed.iter().copied().find(|place| place.0 <= line && line <= place.1);
    let nearby = |line: u64| {
        let near: Vec<Lines> =
            reviewed.iter().copied().filter(|place| place.0.abs_diff(line) <= NEARBY).collect();
        only(&near)
    };
    match reviewed.as_slice() {
        [] => Err(Rejection::OutOfScope),
        [place] => Ok(*place),
        _ => {
            line.and_then(|line| at(line).or_else(|| nearby(line))).ok_or(Rejection::AmbiguousQuote)
        }
    }
}

/// Where `quote` stands in `text`: first and last line of each place. White space counts as one
/// space, and none at the ends of lines; our own marks and numbers are no part of a quote.
fn occurrences(text: &Shown, quote: &str) -> Vec<Lines> {
    let lines: Vec<(u64, String)> = text
        .lines()
        .map(|(number, line)| (number, squeezed(line)))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    for quote in readings(quote) {
        let found = places(&lines, &quote);
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn places(lines: &[(u64, String)], quote: &[String]) -> Vec<Lines> {
    let (Some(first), Some(last)) = (quote.first(), quote.last()) else { return Vec::new() };
    if quote.len() == 1 {
        let holds = lines.iter().filter(|(_, line)| line.contains(first.as_str()));
        return holds.map(|(number, _)| (*number, *number)).collect();
    }
    let matches = |window: &&[(u64, String)]| {
        window.iter().zip(quote).enumerate().all(|(index, ((_, line), quoted))| {
            if index == 0 {
                line.ends_with(first.as_str())
            } else if index + 1 == quote.len() {
                line.starts_with(last.as_str())
            } else {
                line == quoted
            }
        })
    };
    let windows = lines.windows(quote.len()).filter(matches);
    windows.filter_map(|window| Some((window.first()?.0, window.last()?.0))).collect()
}

/// A quote as it stands, and as it reads without the numbers and marks that we showed it with.
fn readings(quote: &str) -> Vec<Vec<String>> {
    let lines = || quote.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    let squeezed_lines = |strip: fn(&str) -> &str| -> Vec<String> {
        lines().map(|line| squeezed(strip(line))).filter(|line| !line.is_empty()).collect()
    };
    let as_is = squeezed_lines(|line| line);
    let unnumbered = squeezed_lines(without_number);
    let unmarked = squeezed_lines(|line| line.strip_prefix(['+', '-']).unwrap_or(line));
    vec![as_is, unnumbered, unmarked]
}

fn without_number(line: &str) -> &str {
    let rest = line.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start_matches([':', '|', ' ']);
    rest.strip_prefix(['+', '-']).unwrap_or(rest)
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn significant(quote: &str) -> bool {
    quote.chars().filter(|c| c.is_alphanumeric()).take(LEAST_QUOTED).count() >= LEAST_QUOTED
}

/// A quote of lines that the change takes away stands where they stood.
fn removed(file: &ShownFile, quote: &str) -> Option<Lines> {
    let readings = readings(quote);
    for hunk in &file.hunks {
        let gone: Vec<(u64, String)> = hunk
            .lines
            .iter()
            .filter(|line| line.mark == Mark::Removed)
            .flat_map(|line| {
                let shown = line.code.as_ref().map_or(&line.text, |(_, code)| code);
                shown.split('\n').map(|text| (line.number, squeezed(text)))
            })
            .filter(|(_, line)| !line.is_empty())
            .collect();
        if readings.iter().any(|quote| !places(&gone, quote).is_empty()) {
            let line = hunk.hunk.new_start.max(1);
            return Some((line, line));
        }
    }
    None
}

/// Paths as models write them.
fn normal_path(path: &str) -> &str {
    let path = path.trim().trim_matches(['`', '"', '\'']);
    let path = path.strip_prefix("./").unwrap_or(path);
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

/// One of the agent's categories; what it names otherwise is kept where it is a word.
fn category(agent: &Agent, said: &str) -> String {
    let said = said.trim().to_lowercase();
    if agent.categories.contains(&said) {
        return said;
    }
    let word =
        said.len() <= 40 && said.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    if word { said } else { "other".to_owned() }
}

#[cfg(test)]
mod tests;
