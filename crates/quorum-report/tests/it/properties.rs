//! The two promises: no finding is lost, and whatever a finding says is text.

use proptest::prelude::*;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::result::{ReviewResult, SopStatus};
use quorum_report::{Format, Report, render};

use crate::hostile;
use crate::readback::{self, annotations, ids, markdown};
use crate::sample::Sample;

/// Formats that annotate code: they carry what stands in it, and nothing that has gone.
const ANNOTATIONS: [Format; 3] = [Format::Gitlab, Format::Rdjsonl, Format::Github];

/// Formats that know nothing but findings.
const FINDINGS_ALONE: [Format; 5] =
    [Format::Gitlab, Format::Rdjsonl, Format::Github, Format::Sarif, Format::Junit];

fn some_findings() -> impl Strategy<Value = Vec<Finding>> {
    let short: Vec<String> = hostile::texts().into_iter().filter(|t| t.len() < 1_000).collect();
    let text = prop_oneof![
        proptest::sample::select(short.clone()),
        proptest::collection::vec(proptest::sample::select(short), 2..4)
            .prop_map(|all| all.concat()),
        "\\PC{0,60}",
        any::<String>(),
    ];
    proptest::collection::vec(text, 0..12)
        .prop_map(|texts| (1..).zip(texts).map(|(n, text)| hostile::finding(n, &text)).collect())
}

fn all(result: &ReviewResult) -> impl Iterator<Item = &Finding> {
    result.findings.iter().chain(&result.history)
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

fn expected(format: Format, result: &ReviewResult) -> Vec<String> {
    let open = |finding: &&Finding| {
        // A comment lists the others by state, without a block for each.
        let all = !ANNOTATIONS.contains(&format) && format != Format::Markdown;
        all || matches!(finding.state, FindingState::New | FindingState::Persisting)
    };
    let findings = all(result).filter(open).map(|finding| finding.id.clone());
    let orders = result.sops.iter().filter(|sop| sop.status == SopStatus::Violated);
    // Where there is nothing but findings, violated orders are among them.
    let orders = orders.filter(|_| FINDINGS_ALONE.contains(&format));
    sorted(findings.chain(orders.map(|sop| format!("SOP-{}", sop.sop))).collect())
}

/// Nothing in a report acts on a terminal or hides from a reader.
fn assert_inert(format: Format, text: &str) {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!text.contains(acts), "{format:?} has a control character");
    let hides =
        |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}');
    assert!(!text.contains(hides), "{format:?} has hidden characters");
}

fn assert_markdown_is_text(report: &Report<'_>, page: &str) {
    assert!(page.chars().count() < 60_000);
    let shown = markdown(page);
    assert_eq!(shown.links, 0, "nothing in a finding makes a link or loads an image");
    let tags = ["details", "summary", "b", "code", "sub"];
    for html in &shown.html {
        for piece in html.split('<').skip(1) {
            let piece = piece.trim_start_matches('/');
            let name = piece.split(['>', ' ']).next().unwrap_or_default();
            assert!(tags.contains(&name) || piece.starts_with("!-- -->"), "{html}");
        }
    }
    let html = shown.html.concat();
    assert_eq!(html.matches("<details").count(), html.matches("</details>").count());
    let findings = ids(Format::Markdown, page).len();
    assert_eq!(findings, report.result.findings.len(), "all that are open fit");
    let states = [
        ("Open, not reviewed this time", FindingState::NotReviewed),
        ("Resolved", FindingState::Resolved),
        ("Dismissed", FindingState::Dismissed),
    ];
    for (name, state) in states {
        let count = all(report.result).filter(|finding| finding.state == state).count();
        let heading = format!("<summary>{name}: {count}</summary>");
        assert!(count == 0 || page.contains(&heading), "{heading}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_format_carries_the_same_findings(findings in some_findings()) {
        let sample = Sample::of(findings);
        for format in Format::ALL {
            let text = render(&sample.report(), format);
            let expected = expected(format, &sample.result);
            prop_assert_eq!(sorted(ids(format, &text)), expected, "{:?}", format);
        }
    }

    #[test]
    fn whatever_a_finding_says_is_text(findings in some_findings()) {
        let sample = Sample::of(findings);
        let report = sample.report();
        for format in Format::ALL {
            assert_inert(format, &render(&report, format));
        }
        assert_markdown_is_text(&report, &render(&report, Format::Markdown));
    }
}

#[test]
fn hostile_findings_are_text_in_every_format() {
    let sample = Sample::of(hostile::findings());
    let report = sample.report();
    for format in Format::ALL {
        let text = render(&report, format);
        assert_inert(format, &text);
        assert_eq!(sorted(ids(format, &text)), expected(format, &sample.result));
        if format != Format::Json {
            assert!(text.len() < 300_000, "{format:?}: a line of 1 MB is cut");
        }
    }
    assert_markdown_is_text(&report, &render(&report, Format::Markdown));
}

#[test]
fn a_reader_sees_what_the_finding_says() {
    let issue = "<b>*a*</b> `x<y` [l](u) | _z_ & \\ \"q\" ::error:: %0A $1 ~s~ @me #1";
    let mut finding = hostile::finding(1, issue);
    finding.state = FindingState::New;
    let sample = Sample::of(vec![finding]);
    let report = sample.report();
    let see = |format| render(&report, format);

    let page = see(Format::Markdown);
    let without_ticks = issue.replace('`', "");
    assert!(markdown(&page).text.contains(&without_ticks), "{page}");
    let junit = see(Format::Junit);
    let document = roxmltree::Document::parse(&junit).expect("XML");
    let texts = document.descendants().filter_map(|node| node.text());
    assert!(texts.into_iter().any(|text| text.contains(issue)));
    assert!(annotations(&see(Format::Github))[0].1.contains(issue));
    let data = readback::page_data(&see(Format::Html));
    assert_eq!(data["findings"][0]["issue"], issue);
    let sarif = readback::json(&see(Format::Sarif));
    let message = sarif["runs"][0]["results"][0]["message"]["text"].as_str().expect("text");
    assert!(message.contains(&issue.replace("](", "] (")));
}

#[test]
fn a_long_comment_keeps_the_worst_and_counts_the_rest() {
    let sample = Sample::large(5_000, 2_000);
    let report = sample.report();
    let page = render(&report, Format::Markdown);
    assert!(page.len() < 60_000);
    let shown = ids(Format::Markdown, &page);
    let worst: Vec<String> =
        report.findings().iter().take(shown.len()).map(|finding| finding.id.clone()).collect();
    assert_eq!(shown, worst);
    let rest = report.result.findings.len() - shown.len();
    let note = format!("{},{:03} findings are not on this page", rest / 1_000, rest % 1_000);
    assert!(page.contains(&note), "{note}");
}

#[test]
fn a_page_asks_nobody_for_anything() {
    let page = render(&Sample::checkout().report(), Format::Html);
    let markup = page.split("<script").next().expect("there is markup before the data");
    for word in ["http:", "https:", "url(", "@import", " src=", "<link"] {
        assert!(!markup.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
}
