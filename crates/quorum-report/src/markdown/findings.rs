//! The findings on a Markdown page.

use std::fmt::Write as _;

use quorum_model::finding::Finding;
use quorum_model::severity::{Counts, Severity};

use super::escape::{code, fence, html, html_prose, prose};
use crate::report::{Excerpt, Report, is_current};
use crate::text;

/// Room for the word on what was left out.
const NOTE: usize = 400;

/// The findings, worst first, in at most `limit` bytes.
pub(super) fn section(report: &Report<'_>, limit: usize) -> String {
    let mut findings = report.findings();
    let nothing = if findings.is_empty() { "No findings.\n\n" } else { "No open findings.\n\n" };
    findings.retain(|finding| is_current(finding));
    if findings.is_empty() {
        return nothing.to_owned();
    }
    let counts = Counts::of(findings.iter().map(|finding| finding.severity));
    let mut page = format!("### Findings: {}\n\n", in_words(counts));
    let room = limit.saturating_sub(NOTE);
    for (index, finding) in findings.iter().enumerate() {
        let block = block(report, finding);
        if page.len() + block.len() > room {
            page.push_str(&left_out(report, &findings[index..]));
            break;
        }
        page.push_str(&block);
    }
    page
}

fn left_out(report: &Report<'_>, rest: &[&Finding]) -> String {
    let counts = Counts::of(rest.iter().map(|finding| finding.severity));
    let count = text::count(rest.len(), "finding is", "findings are");
    let run = text::line(&report.result.run, 80);
    format!(
        "**{count} not on this page** ({}): {} shows all.\n\n",
        in_words(counts),
        code(&format!("quorum report {run} --format html --open"), 200)
    )
}

fn in_words(counts: Counts) -> String {
    let all = [
        (counts.critical, Severity::Critical),
        (counts.high, Severity::High),
        (counts.medium, Severity::Medium),
        (counts.low, Severity::Low),
    ];
    let some = all.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = some
        .map(|(count, severity)| format!("{} {}", text::number(*count), severity.as_str()))
        .collect();
    words.join(", ")
}

fn block(report: &Report<'_>, finding: &Finding) -> String {
    let open = if finding.severity == Severity::Critical { " open" } else { "" };
    let id = text::line(&finding.id, 60);
    let mut block = format!(
        "<details{open}><summary><b>{}</b> <code>{}</code> {} · <code>{}</code></summary>\n\n",
        finding.severity.as_str(),
        html(&id),
        html_prose(&finding.issue, 160),
        html(&text::place(finding))
    );
    let issue = text::line(&finding.issue, usize::MAX);
    if issue.chars().count() > 160 {
        add(&mut block, format_args!("**Issue:** {}\n\n", prose(&issue, 2_000)));
    }
    if let Some(shown) = code_block(report, finding) {
        add(&mut block, format_args!("{shown}\n"));
    }
    if !finding.recommendation.trim().is_empty() {
        let recommendation = prose(&finding.recommendation, 2_000);
        add(&mut block, format_args!("**Fix:** {recommendation}\n\n"));
    }
    if let Some(fix) = text::replacement(finding) {
        let instead = numbered(fix.start_line, &text::block(&fix.text, 2_000));
        add(&mut block, format_args!("**Put in place:**\n\n{}\n", fence(&instead)));
    }
    for (index, step) in finding.trace.iter().take(12).enumerate() {
        let place = code(&format!("{}:{}", step.file, step.line), 300);
        add(&mut block, format_args!("{}. {place} {}\n", index + 1, prose(&step.note, 200)));
    }
    if !finding.trace.is_empty() {
        block.push('\n');
    }
    add(&mut block, format_args!("{}\n\n</details>\n\n", facts(report, finding)));
    block
}

fn add(block: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = block.write_fmt(text);
}

/// A `<sub>` does not keep Markdown out, so what stands in it is escaped as Markdown.
fn facts(report: &Report<'_>, finding: &Finding) -> String {
    let titles: Vec<&str> = finding.agents.iter().map(|agent| report.title(agent)).collect();
    let mut facts = vec![format!("seen by {}", prose(&titles.join(", "), 300))];
    if finding.corroboration > 1 {
        facts.push(format!("{} independently", finding.corroboration));
    }
    facts.push(format!("rule {}", code(&text::rule(finding), 200)));
    if let Some(cwe) = &finding.cwe {
        facts.push(prose(cwe, 40));
    }
    facts.push(format!("confidence {:.0} %", finding.confidence * 100.0));
    facts.push(text::state(finding.state).to_owned());
    for (label, agents) in
        [("confirmed by", &finding.confirmed_by), ("disputed by", &finding.disputed_by)]
    {
        if !agents.is_empty() {
            let titles: Vec<&str> = agents.iter().map(|agent| report.title(agent)).collect();
            facts.push(format!("{label} {}", prose(&titles.join(", "), 300)));
        }
    }
    if let Some(gate) = &finding.refuted_by {
        facts.push(format!("the gate {} passed, which speaks against it", prose(gate, 100)));
    }
    if let Some(refutation) = &finding.refutation {
        let by = prose(report.title(&refutation.by), 100);
        facts.push(format!("refuted by {by}: {}", prose(&refutation.reason, 300)));
    }
    if finding.suppression.is_some() {
        let by = prose(&text::set_aside(finding), 300);
        facts.push(format!("suppressed after the merge: {by}"));
    }
    if let Some(effort) = finding.effort {
        facts.push(format!("fix takes {}", text::effort(effort)));
    }
    facts.extend(finding.references.iter().take(3).map(|url| prose(url, 200)));
    format!("<sub>{}</sub>", facts.join(" · "))
}

/// The code with its line numbers: the excerpt where there is one, else what the finding quotes.
///
/// No line starts with the code itself, so a log that a CI server reads for commands has none.
fn code_block(report: &Report<'_>, finding: &Finding) -> Option<String> {
    let shown = match report.excerpts.get(&finding.id) {
        Some(Excerpt { start_line, lines }) => numbered(*start_line, &lines.join("\n")),
        None if finding.evidence.trim().is_empty() => return None,
        None => numbered(finding.line.max(1), &finding.evidence),
    };
    Some(fence(&text::block(&shown, 3_000)))
}

fn numbered(first: u64, text: &str) -> String {
    let text = text::visible(text);
    let last = first.saturating_add(text.lines().count() as u64);
    let width = last.to_string().len();
    let mut shown = String::with_capacity(text.len() + 64);
    for (index, line) in (0u64..).zip(text.lines()) {
        add(&mut shown, format_args!("{:>width$} │ {line}\n", first.saturating_add(index)));
    }
    shown
}
