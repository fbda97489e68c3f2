//! Pages that begin with a findings index.

use quorum_model::finding::AgentFinding;
use quorum_model::report::AgentReport;
use quorum_model::severity::Severity;

use super::{Ingested, malformed};
use crate::fence::{Fence, heading};

/// Lines in which a page may say which run it belongs to.
const HEAD: usize = 40;

/// One line of the index.
#[derive(Debug)]
struct Entry {
    severity: Severity,
    id: String,
    section: String,
    title: String,
}

/// Reads a page.
pub(super) fn read(stem: &str, text: &str, run: Option<&str>) -> Ingested {
    let marker = marker(text);
    if let (Some(marker), Some(run)) = (&marker, run)
        && marker.run != run
    {
        return Ingested::Foreign { run: marker.run.clone() };
    }
    let mut in_index = false;
    let mut indexed = false;
    let mut entries: Vec<Entry> = Vec::new();
    let mut verdict = None;
    for line in outside_fences(text) {
        if let Some(heading) = heading(line) {
            in_index = heading.to_lowercase().starts_with("findings index");
            indexed |= in_index;
        } else if in_index && let Some(item) = line.trim().strip_prefix("- ") {
            match entry(item) {
                Ok(entry) => entries.push(entry),
                Err(cause) => return malformed(format!("`{}`: {cause}", line.trim())),
            }
        } else if let Some(word) = verdict_word(line) {
            verdict.get_or_insert(word);
        }
    }
    if !indexed {
        return malformed("it has no findings index");
    }
    let Some(verdict) = verdict else {
        return malformed("it has no verdict line after its index");
    };
    let failed = match verdict.as_str() {
        "safe" | "needs-changes" | "risky" => false,
        "error" => true,
        other => return malformed(format!("`{other}` is no verdict")),
    };
    let findings = entries.iter().map(|entry| finding(entry, text)).collect();
    let agent = marker.and_then(|marker| marker.agent).unwrap_or_else(|| stem.to_owned());
    let report = Box::new(AgentReport { agent, findings, ..AgentReport::default() });
    if failed { Ingested::Error(report) } else { Ingested::Valid(report) }
}

/// Which run and agent a page says it is of.
struct Marker {
    run: String,
    agent: Option<String>,
}

fn marker(text: &str) -> Option<Marker> {
    let comments = text
        .lines()
        .take(HEAD)
        .filter_map(|line| line.trim().strip_prefix("<!--")?.strip_suffix("-->").map(str::trim));
    comments.into_iter().find_map(|comment| {
        let mut words = comment.split([' ', ':', '=']).filter(|word| !word.is_empty());
        let is_run = |word: &str| matches!(word, "run" | "run-uuid" | "run_uuid" | "RUN_UUID");
        words.find(|word| is_run(word))?;
        let run = words.next()?.to_owned();
        let agent = words.next().filter(|word| *word == "agent").and_then(|_| words.next());
        Some(Marker { run, agent: agent.map(str::to_owned) })
    })
}

/// The lines that are not code.
fn outside_fences(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = Fence::default();
    text.lines().filter(move |line| !fence.holds(line))
}

fn verdict_word(line: &str) -> Option<String> {
    let line = line.trim().trim_matches('*');
    let (name, word) = line.split_once(':')?;
    let is_verdict = name.trim_matches('*').eq_ignore_ascii_case("verdict");
    is_verdict.then(|| word.trim_matches(|c: char| c == '*' || c.is_whitespace()).to_lowercase())
}

/// `SEVERITY | ID | "Section" | Title`, and perhaps more.
fn entry(item: &str) -> Result<Entry, &'static str> {
    let mut fields = item.split('|').map(str::trim);
    let severity = fields.next().and_then(severity).ok_or("it begins with no severity")?;
    let id = fields.next().filter(|id| !id.is_empty()).ok_or("it has no id")?;
    let section = fields.next().ok_or("it has no section")?;
    let title = fields.next().filter(|title| !title.is_empty()).ok_or("it has no title")?;
    let section = section.trim_matches(['"', '“', '”']).to_owned();
    Ok(Entry { severity, id: id.to_owned(), section, title: title.to_owned() })
}

fn severity(word: &str) -> Option<Severity> {
    match word.trim_matches('*').to_ascii_uppercase().as_str() {
        "CRITICAL" | "P0" => Some(Severity::Critical),
        "HIGH" | "P1" => Some(Severity::High),
        "MEDIUM" | "P2" => Some(Severity::Medium),
        "LOW" | "P3" => Some(Severity::Low),
        _ => None,
    }
}

/// The finding of an index entry, with what its section of the page says about it.
fn finding(entry: &Entry, text: &str) -> AgentFinding {
    let body = body(text, &entry.id);
    let place = path_and_line(&entry.section).or_else(|| body.iter().find_map(|line| named(line)));
    let (file, line) = match place {
        Some((file, line)) => (Some(file), line),
        None => (None, None),
    };
    let field = |name: &str| {
        let found = body.iter().find_map(|line| {
            let line = line.trim().trim_start_matches("- ").replace("**", "");
            let (key, value) = line.split_once(':')?;
            key.trim().eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        });
        found.filter(|value| !value.is_empty())
    };
    let recommendation = ["Recommendation", "Fix", "Suggestion"]
        .iter()
        .find_map(|name| paragraph(&body, name).or_else(|| field(name)));
    AgentFinding {
        severity: entry.severity,
        category: field("Category").unwrap_or_else(|| "general".to_owned()),
        file,
        line,
        end_line: None,
        location: None,
        evidence: quoted(&body),
        issue: paragraph(&body, "Issue").unwrap_or_else(|| entry.title.clone()),
        recommendation: recommendation.unwrap_or_default(),
        cwe: field("CWE"),
        references: Vec::new(),
        rule: field("Rule"),
        effort: None,
        confidence: field("Confidence").and_then(|share| share.parse().ok()),
        dependency: None,
        user_impact: field("User impact"),
        trace: Vec::new(),
        replacement: None,
    }
}

/// The lines under the heading that names the finding.
fn body<'a>(text: &'a str, id: &str) -> Vec<&'a str> {
    let names = |line: &str| {
        let words = heading(line)
            .into_iter()
            .flat_map(|text| text.split(|c: char| c.is_whitespace() || ":[](),*".contains(c)));
        words.into_iter().any(|word| word == id)
    };
    let mut fence = Fence::default();
    let mut body = Vec::new();
    let mut found = false;
    for line in text.lines() {
        let is_heading = !fence.holds(line) && heading(line).is_some();
        if is_heading && found {
            break;
        } else if found {
            body.push(line);
        }
        found |= is_heading && names(line);
    }
    body
}

/// The first block of code.
fn quoted(body: &[&str]) -> Option<String> {
    let start = body.iter().position(|line| line.trim_start().starts_with("```"))?;
    let fence: String = body[start].trim_start().chars().take_while(|&c| c == '`').collect();
    let closes = |line: &str| line.len() >= fence.len() && line.chars().all(|c| c == '`');
    let code = body[start + 1..].iter().take_while(|line| !closes(line.trim()));
    let code = code.copied().collect::<Vec<_>>().join("\n");
    (!code.trim().is_empty()).then_some(code)
}

/// The quotation or the text under a line that says `name:` and nothing else.
fn paragraph(body: &[&str], name: &str) -> Option<String> {
    let says = |line: &&str| {
        let line = line.trim().trim_start_matches("- ").replace("**", "");
        line.strip_suffix(':').is_some_and(|key| key.eq_ignore_ascii_case(name))
    };
    let start = body.iter().position(says)?;
    let lines = body[start + 1..].iter().map(|line| line.trim());
    let lines = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let lines = lines.map(|line| line.strip_prefix('>').map_or(line, str::trim_start));
    let text = lines.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then_some(text)
}

/// The place in a line such as `File: src/a.go:12` or one with a code span of that form.
fn named(line: &str) -> Option<(String, Option<u64>)> {
    let line = line.replace("**", "");
    let spans = line.split('`').skip(1).step_by(2).find_map(path_and_line);
    spans.or_else(|| {
        let (name, place) = line.trim().trim_start_matches("- ").split_once(':')?;
        let is_place =
            ["file", "location", "where"].iter().any(|key| name.eq_ignore_ascii_case(key));
        if is_place { path_and_line(place.trim()) } else { None }
    })
}

/// `path:line` or `path:line-line`; a path alone needs a dot or a slash in it.
fn path_and_line(text: &str) -> Option<(String, Option<u64>)> {
    let text = text.trim();
    let is_word = |path: &str| !path.is_empty() && !path.contains(char::is_whitespace);
    let is_path = |path: &str| path.contains(['.', '/']) && !path.contains(": ");
    if let Some((path, lines)) = text.rsplit_once(':') {
        let first = lines.split(['-', '–']).next().unwrap_or(lines).trim_start_matches('L');
        if let Ok(line) = first.parse() {
            let named = is_word(path) || is_path(path);
            return named.then(|| (path.to_owned(), Some(line)));
        }
    }
    (is_path(text) && is_word(text)).then(|| (text.to_owned(), None))
}
