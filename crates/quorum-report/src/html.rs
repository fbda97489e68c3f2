//! A page for a browser: one file that asks nobody for anything.
//!
//! The verdict and its reasons are in the page itself; the rest is data that the page's own script
//! shows. The data is JSON in a block that no browser runs, the script builds the page with text
//! nodes alone, and the policy in the page's head allows this one script, this one style sheet, and
//! no request at all.

mod data;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quorum_model::gate::GateLevel;
use quorum_model::result::ReviewResult;
use quorum_model::verdict::Verdict;
use sha2::{Digest as _, Sha256};

use crate::report::{self, Report, is_gated};
use crate::text;

const STYLE: &str = include_str!("html/report.css");
/// In this order: what comes later uses what comes before.
const SCRIPTS: [&str; 6] = [
    include_str!("html/dom.js"),
    include_str!("html/highlight.js"),
    include_str!("html/findings.js"),
    include_str!("html/coverage.js"),
    include_str!("html/run.js"),
    include_str!("html/main.js"),
];

/// Reasons that are shown at once.
const REASONS: usize = 4;
/// Reasons behind the first ones; a page with more is no help to anybody.
const MOST_REASONS: usize = 200;

/// The report as a page.
pub fn render(report: &Report<'_>) -> String {
    // One function around all parts keeps their names out of the page's global scope.
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPTS.concat());
    let result = report.result;
    let words = in_words(result.verdict);
    let by = match result.reviewed_by.as_str() {
        "" => String::new(),
        who => format!(" by {}", escape(&text::line(who, 200))),
    };
    let label = escape(&text::line(&report.plan.scope.label, 300));
    let reasons = if is_gated(result) { reasons(&gated(result)) } else { reasons(&result.reasons) };
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{words}: {label} · Quorum</title>
<style>{STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header class="top">
<span class="brand">Quorum</span>
<span class="scope" title="{label}">{label}</span>
<span class="tools" id="tools"></span>
</header>
<main id="main">
<section class="verdict" data-verdict="{verdict}" aria-label="Verdict">
<div class="call">
<h1>{words}{by}</h1>
{reasons}</div>
<div class="tiles" id="tiles"></div>
</section>
<noscript><p class="note">The rest of this report is shown by its own script, which is switched off here.</p></noscript>
<div id="app"></div>
</main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"##,
        policy = policy(&script),
        verdict = text::verdict(result.verdict),
        data = inert(&data::json(report)),
    )
}

/// Why nobody was asked: the gates that failed, the places that they name, and a word on reviewers.
fn gated(result: &ReviewResult) -> Vec<String> {
    let failed = result.gates.iter().filter(|gate| gate.blocks());
    let places = failed.flat_map(|gate| {
        let errors = gate.findings.iter().filter(|finding| finding.level == GateLevel::Error);
        errors.map(|finding| format!("{}:{} {}", finding.file, finding.line, finding.message))
    });
    let mut all = result.reasons.clone();
    all.extend(places);
    all.push(report::NOT_ASKED.to_owned());
    all
}

/// The first reasons, and the rest behind a line that opens them.
fn reasons(reasons: &[String]) -> String {
    let list = |reasons: &[String]| {
        let items: Vec<String> = reasons
            .iter()
            .map(|reason| format!("<li>{}</li>\n", escape(&text::line(reason, 1_000))))
            .collect();
        format!("<ul class=\"reasons\">\n{}</ul>\n", items.concat())
    };
    let (first, rest) = reasons.split_at(reasons.len().min(REASONS));
    if rest.is_empty() {
        return list(first);
    }
    let more = text::count(rest.len(), "more reason", "more reasons");
    let rest = list(&rest[..rest.len().min(MOST_REASONS)]);
    format!("{}<details class=\"more\"><summary>{more}</summary>\n{rest}</details>\n", list(first))
}

fn in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "Approved",
        Verdict::Advisory => "Advisory",
        Verdict::ChangesRequested => "Changes requested",
        Verdict::Blocked => "Blocked",
        Verdict::Incomplete => "Incomplete",
        Verdict::NothingToReview => "Nothing to review",
    }
}

/// What the page may do: run this script, use this style sheet, and nothing else.
fn policy(script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

/// JSON that cannot end the block that it stands in. Only strings have such characters.
fn inert(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            c => text.push(c),
        }
    }
    text
}

fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_block() {
        let json = serde_json::to_string("</script><!--<script>&\u{2028}").expect("a string");
        let inert = inert(&json);
        assert!(!inert.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(
            serde_json::from_str::<String>(&inert).expect("still JSON"),
            "</script><!--<script>&\u{2028}"
        );
    }

    #[test]
    fn the_style_and_script_cannot_leave_theirs() {
        assert!(!STYLE.contains("</"));
        assert!(SCRIPTS.iter().all(|script| !script.contains("</") && !script.contains("<!--")));
    }
}
