//! Who was shown what, and what to run for the rest.

use std::fmt::Write as _;

use quorum_model::coverage::{Coverage, CoverageState, FileCoverage, Gap};
use quorum_model::result::ReviewResult;

use super::table::{self, Align, Cell};
use super::{BOLD, DIM, GOOD, HINT, Page, WARN, text};

/// Files in the matrix; beyond that those without a gap are folded.
const FILES: usize = 20;
/// Files in one command.
const FILES_IN_COMMAND: usize = 20;

/// For each agent the files that it was not shown, and the command that shows them to it.
pub(super) fn write_gaps(page: &mut Page, result: &ReviewResult) {
    let folder = common_folder(result.coverage.files.iter().map(|file| file.path.as_str()));
    for agent in &result.execution.agents {
        let gaps: Vec<&Gap> =
            result.coverage.gaps.iter().filter(|gap| gap.agent == agent.name).collect();
        if gaps.is_empty() {
            continue;
        }
        page.gap();
        let names: Vec<&str> =
            gaps.iter().map(|gap| gap.path.strip_prefix(folder).unwrap_or(&gap.path)).collect();
        page.paragraph(
            "",
            &format!("Files not reviewed by {}: {}", agent.name, names.join(", ")),
            4,
        );
        let closable: Vec<&Gap> = gaps.into_iter().filter(|gap| !gap.command.is_empty()).collect();
        if !closable.is_empty() {
            consider(page, &closable);
        }
    }
}

/// One command for all of an agent's gaps, in lines that a shell reads as one.
fn consider(page: &mut Page, gaps: &[&Gap]) {
    let arrow = page.sign("→ Consider:", "-> Consider:");
    let (some, more) = gaps.split_at(gaps.len().min(FILES_IN_COMMAND));
    let words: Option<Vec<&str>> = some.iter().map(|gap| path_in(gap)).collect();
    let agents = some.first().and_then(|gap| gap.command.rsplit_once(" --agents "));
    let (Some(words), Some((_, agents))) = (words, agents) else {
        for gap in some {
            page.line(&format!("{arrow} {}", gap.command));
        }
        return;
    };
    let mut lines = vec!["quorum review".to_owned()];
    let agents = format!("--agents {agents}");
    for word in words.into_iter().chain(options(&agents)) {
        let room = page.width - text::width(arrow) - 3;
        match lines.last_mut() {
            Some(last) if text::width(last) + 1 + text::width(word) <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let last = lines.len() - 1;
    for (number, line) in lines.iter().enumerate() {
        let lead = if number == 0 { arrow.to_owned() } else { " ".repeat(text::width(arrow)) };
        let end = if number == last { "" } else { " \\" };
        let line = page.paint(HINT, line);
        page.line(&format!("{lead} {line}{end}"));
    }
    if !more.is_empty() {
        page.line(&format!("  and {} more files", more.len()));
    }
}

/// The path as it stands in a gap's command, quoted.
fn path_in(gap: &Gap) -> Option<&str> {
    let (start, _) = gap.command.rsplit_once(" --agents ")?;
    start.strip_prefix("quorum review ")
}

/// The folder that all paths are in, with its slash; empty where there is none.
fn common_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> &'a str {
    let folder = |path: &'a str| path.rfind('/').map_or("", |end| &path[..=end]);
    let Some(first) = paths.next() else { return "" };
    paths.fold(folder(first), |mut common, path| {
        while !path.starts_with(common) {
            common = folder(common.trim_end_matches('/'));
        }
        common
    })
}

/// The matrix of files and agents with its totals.
pub(super) fn write_matrix(page: &mut Page, result: &ReviewResult) {
    let files = &result.coverage.files;
    if files.is_empty() || result.execution.agents.is_empty() {
        return;
    }
    page.gap();
    page.line(&page.paint(BOLD, "Coverage"));
    let mut shown: Vec<&FileCoverage> = files.iter().collect();
    if shown.len() > FILES {
        // Those with a gap first; the sort is stable, so each part stays in the order of paths.
        shown.sort_by_key(|file| is_whole(file));
        shown.truncate(FILES);
    }
    let folded = files.len() - shown.len();
    let folder = common_folder(files.iter().map(|file| file.path.as_str()));
    let name = |file: &&FileCoverage| text::width(&file.path) - text::width(folder);
    let (head, room) = columns(page, result, shown.iter().map(name).max().unwrap_or(0));
    let rows: Vec<Vec<Cell>> = shown
        .iter()
        .map(|file| {
            let name = file.path.strip_prefix(folder).unwrap_or(&file.path);
            let mut row = vec![Cell::plain(text::path(name, room, page.ellipsis()))];
            for agent in &result.execution.agents {
                let state = file.agents.get(&agent.name).copied();
                row.push(cell(page, state.unwrap_or(CoverageState::OutOfDomain)));
            }
            row
        })
        .collect();
    table::write(page, &head, &rows);
    let whole = files.iter().filter(|file| is_whole(file)).count();
    if folded > 0 {
        let with_gaps = files.len() - whole;
        let folded_gaps = with_gaps.saturating_sub(FILES);
        page.line(&format!("{folded} more files are folded, {folded_gaps} of them with gaps"));
    }
    page.line(&format!("Coverage: {}", totals(&result.coverage, whole)));
    legend(page, files);
    for gap in result.coverage.gaps.iter().take(FILES) {
        let why = gap.reason.as_deref().unwrap_or("skipped");
        let short = gap.agent.strip_suffix("-reviewer").unwrap_or(&gap.agent);
        page.paragraph("  Gap: ", &format!("{} lacks {short} coverage ({why})", gap.path), 2);
    }
    if let Some(more) = result.coverage.gaps.len().checked_sub(FILES + 1) {
        page.line(&format!("  and {} more gaps", more + 1));
    }
}

/// How many files were looked at, and how.
fn totals(coverage: &Coverage, whole: usize) -> String {
    let files = &coverage.files;
    let has = |file: &FileCoverage, state| file.agents.values().any(|other| *other == state);
    let read = files.iter().filter(|file| {
        let unreviewed = [CoverageState::Reviewed, CoverageState::Partial, CoverageState::Skipped];
        has(file, CoverageState::Read) && unreviewed.iter().all(|state| !has(file, *state))
    });
    let unreadable = files.iter().filter(|file| has(file, CoverageState::Unreadable));
    // What is in nobody's domain and still not uncovered is nobody's to look at.
    let media = files.iter().filter(|file| {
        let mut states = file.agents.values();
        states.all(|state| *state == CoverageState::OutOfDomain)
            && !coverage.uncovered.contains(&file.path)
    });
    let media = media.count();
    let mut totals = format!("{whole}/{} files reviewed whole", files.len() - media);
    let counts = [
        (read.count(), "only read"),
        (unreadable.count(), "unreadable"),
        (media, "images, fonts or media"),
    ];
    for (count, how) in counts {
        if count > 0 {
            _ = write!(totals, ", {count} {how}");
        }
    }
    totals
}

/// What the words in the cells mean, those that there are.
fn legend(page: &mut Page, files: &[FileCoverage]) {
    let has = |state: CoverageState| {
        files.iter().any(|file| file.agents.values().any(|other| *other == state))
    };
    let words = [
        (CoverageState::Partial, "PART = some lines"),
        (
            CoverageState::Read,
            "read = searched for secrets, hidden characters and injections alone",
        ),
        (CoverageState::Skipped, "SKIP = not shown"),
        (CoverageState::Unreadable, "UNRD = nobody can read it"),
    ];
    let shown = words.into_iter().filter(|(state, _)| has(*state)).map(|(_, words)| words);
    let shown: Vec<&str> = std::iter::once("Y = reviewed").chain(shown).collect();
    if shown.len() > 1 {
        page.paragraph("  ", &shown.join("; "), 3);
    }
}

/// The head of the matrix, and what is left for the files: half of the width, or what they need.
fn columns(page: &Page, result: &ReviewResult, names: usize) -> (Vec<(String, Align)>, usize) {
    let agents = &result.execution.agents;
    let free = page.width - 4 - names.clamp(4, page.width / 2);
    let each = (free / agents.len()).saturating_sub(3).max(4);
    let mut head = vec![("File".to_owned(), Align::Left)];
    for agent in agents {
        let heading = heading(&agent.name);
        let fits = text::width(&heading) <= each;
        let heading = if fits { heading } else { text::line(abbreviated(&heading), 4, "") };
        head.push((heading, Align::Center));
    }
    let taken: usize = head[1..].iter().map(|(name, _)| text::width(name).max(4) + 3).sum();
    (head, page.width.saturating_sub(taken + 4).max(8))
}

/// The options of a command, each with its value. What is quoted stays in one piece.
fn options(text: &str) -> Vec<&str> {
    let is_outside = |at: usize| text[..at].matches('\'').count().is_multiple_of(2);
    let mut starts: Vec<usize> =
        text.match_indices(" --").map(|(at, _)| at).filter(|at| is_outside(*at)).collect();
    starts.push(text.len());
    let mut from = 0;
    let mut options = Vec::new();
    for to in starts {
        options.push(text[from..to].trim());
        from = to;
    }
    options
}

/// What a reviewer is called above its column: the last word of its name, in the short form that
/// people use where there is one.
fn heading(agent: &str) -> String {
    let name = agent.strip_suffix("-reviewer").unwrap_or(agent);
    match name.rsplit('-').next().unwrap_or(name) {
        "vulnerability" => "Vuln".to_owned(),
        "documentation" => "Docs".to_owned(),
        "typescript" => "TS/JS".to_owned(),
        last => {
            let mut letters = last.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
        }
    }
}

/// Four letters or fewer where a heading's first four would not tell much.
fn abbreviated(heading: &str) -> &str {
    match heading {
        "Security" => "Sec",
        "Python" => "Py",
        "TS/JS" => "TS",
        "Persona" => "User",
        other => other,
    }
}

fn cell(page: &Page, state: CoverageState) -> Cell {
    match state {
        CoverageState::Reviewed => Cell::styled("Y", GOOD),
        CoverageState::Partial => Cell::styled("PART", WARN),
        CoverageState::Read => Cell::plain("read"),
        CoverageState::Skipped => Cell::styled("SKIP", WARN),
        CoverageState::Unreadable => Cell::styled("UNRD", WARN),
        CoverageState::OutOfDomain => Cell::styled(page.sign("–", "-"), DIM),
    }
}

/// Whether every agent that answers for the file was shown all of it, and there is one.
fn is_whole(file: &FileCoverage) -> bool {
    let mut states = file.agents.values().filter(|state| {
        // Whoever searches all files for secrets has no part in this.
        !matches!(state, CoverageState::OutOfDomain | CoverageState::Read)
    });
    let mut any = false;
    states.all(|state| {
        any = true;
        *state == CoverageState::Reviewed
    }) && any
}
