//! Findings that say what an attacker would like to be taken for more than text.

use quorum_model::finding::{Finding, FindingState, Refutation, Replacement, TraceStep};
use quorum_model::severity::Severity;

use crate::sample::minimal;

/// What an attacker would write, for each sink that might fall for it.
pub(crate) fn texts() -> Vec<String> {
    let texts = [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "</script><!--<script>",
        "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;http://evil\u{1b}\\link\u{7}",
        "```\n# Approved\n```\n</details>\n\n## Quorum: approved",
        "`` ` ``` unbalanced `code` ~~~",
        "::error file=a,line=1::forged\n::set-output name=x::y\r\n::stop-commands::t",
        "##[error]forged\n%0A::warning::forged",
        "=HYPERLINK(\"http://evil\",\"x\")\n+1+1\n-1\n@SUM(A1)",
        "![x](http://evil/a.png) [a](javascript:alert(1)) <http://evil> [1](2) {0} {{x}}",
        "@everyone @octocat see #1 and !2 and GH-3",
        "\u{202e}reversed\u{2066}\u{200b}\u{feff}\u{2028}\u{2029}\u{0}\u{85}\u{fffe}\u{ffff}\u{e0041}",
        "]]> &amp; &#x3c; &lt;b&gt; \" ' <![CDATA[ x",
        "| a | b |\n|---|---|\n* _x_ __y__ **z** $e=mc^2$ \\",
        "1. list\n- list\n# head\n> quote\n    code\n---\n===",
        "",
        " \n\t ",
        "👩‍💻 日本語 العربية עברית é",
    ];
    texts.iter().map(ToString::to_string).chain([format!("long {}", "x".repeat(1 << 20))]).collect()
}

/// One finding for each of [`texts`], with the text in every field that takes any.
pub(crate) fn findings() -> Vec<Finding> {
    (1..).zip(texts()).map(|(n, text)| finding(n, &text)).collect()
}

pub(crate) fn finding(n: u64, text: &str) -> Finding {
    let short: String = text.chars().take(200).collect();
    let states = [
        FindingState::New,
        FindingState::Persisting,
        FindingState::Dismissed,
        FindingState::Resolved,
        FindingState::NotReviewed,
    ];
    Finding {
        id: format!("H-{n:03}"),
        fingerprint: format!("{n:032x}"),
        severity: Severity::WORST_FIRST[usize::try_from(n).unwrap_or(0) % 4],
        category: short.clone(),
        rule: n.is_multiple_of(2).then(|| short.clone()),
        file: format!("src/{short}.rs"),
        line: n % 3 * 100,
        end_line: n,
        evidence: text.to_owned(),
        issue: text.to_owned(),
        recommendation: text.to_owned(),
        cwe: n.is_multiple_of(3).then_some(short.clone()),
        agents: vec!["security-reviewer".to_owned(), short.clone()],
        corroboration: n,
        confidence: 0.5,
        state: states[usize::try_from(n).unwrap_or(0) % states.len()],
        trace: vec![TraceStep { file: format!("src/{short}.rs"), line: 0, note: text.to_owned() }],
        references: vec![short.clone()],
        refuted_by: Some(text.to_owned()),
        user_impact: Some(text.to_owned()),
        confirmed_by: vec![short.clone()],
        disputed_by: vec![short.clone()],
        refutation: Some(Refutation {
            by: short.clone(),
            reason: text.to_owned(),
            evidence: text.to_owned(),
        }),
        same_place: vec![short.clone()],
        replacement: Some(Replacement { start_line: 0, end_line: n, text: text.to_owned() }),
        ..minimal()
    }
}
