//! Reads each format back with a reader that knows nothing of how it was written.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use quorum_report::Format;
use serde_json::Value;

/// The ids of the findings in a report.
pub(crate) fn ids(format: Format, text: &str) -> Vec<String> {
    match format {
        Format::Json => {
            let result = json(text);
            let past = result.get("history").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
            let ids = |list: &Value| strings(list, |finding| finding["id"].as_str());
            [ids(&result["findings"]), ids(&past)].concat()
        }
        Format::Sarif => {
            strings(&json(text)["runs"][0]["results"], |result| result["properties"]["id"].as_str())
        }
        Format::Html => strings(&page_data(text)["findings"], |finding| finding["id"].as_str()),
        Format::Gitlab => {
            strings(&json(text), |violation| violation["description"].as_str()?.split(':').next())
        }
        Format::Rdjsonl => text.lines().map(|line| first_word(&json(line)["message"])).collect(),
        Format::Github => annotations(text).into_iter().map(|(title, _)| word(&title)).collect(),
        Format::Junit => cases(text),
        Format::Markdown => summaries(text),
    }
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The data that the page's script shows.
pub(crate) fn page_data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let at = page.find(start).expect("the page has data") + start.len();
    let end = page[at..].find('<').expect("the block ends") + at;
    json(&page[at..end])
}

/// Title and message of each workflow command, decoded as the runner does.
pub(crate) fn annotations(text: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        let plain = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":");
        plain.replace("%2C", ",").replace("%25", "%")
    };
    let command = |line: &str| {
        let rest = line.strip_prefix("::").expect("every line is a command");
        let (head, message) = rest.split_once("::").expect("a command has a message");
        let (_, properties) = head.split_once(' ').expect("a command has properties");
        let title = properties.split(',').find_map(|property| property.strip_prefix("title="));
        (decode(title.expect("a title")), decode(message))
    };
    text.lines().map(command).collect()
}

/// What a reader of the rendered comment sees, and the HTML in it.
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) html: Vec<String>,
    pub(crate) links: usize,
}

pub(crate) fn markdown(text: &str) -> Rendered {
    let mut rendered = Rendered { text: String::new(), html: Vec::new(), links: 0 };
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Text(text) | Event::Code(text) => rendered.text.push_str(&text),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => {
                rendered.text.push('\n');
            }
            Event::Html(html) | Event::InlineHtml(html) => rendered.html.push(html.into_string()),
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => rendered.links += 1,
            _ => {}
        }
    }
    rendered
}

fn summaries(text: &str) -> Vec<String> {
    let html = markdown(text).html.concat();
    let ids = html.split("<summary><b>").skip(1).filter_map(|summary| {
        let (_, rest) = summary.split_once("</b> <code>")?;
        rest.split_once("</code>").map(|(id, _)| id.to_owned())
    });
    ids.collect()
}

fn cases(text: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let names = cases.filter_map(|case| case.attribute("name"));
    names.filter(|name| *name != "verdict" && *name != "no findings").map(word).collect()
}

fn strings<'a>(list: &'a Value, of: impl Fn(&'a Value) -> Option<&'a str>) -> Vec<String> {
    let list = list.as_array().expect("a list");
    list.iter().map(|item| of(item).expect("an id").to_owned()).collect()
}

fn first_word(value: &Value) -> String {
    word(value.as_str().expect("text"))
}

fn word(text: &str) -> String {
    text.split([' ', ':']).next().unwrap_or_default().to_owned()
}
