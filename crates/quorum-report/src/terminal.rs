//! The report that people read in a terminal.
//!
//! It fits 80 columns and uses up to 120. Whatever stands in a finding is shown as text: control
//! characters and those that change the direction of reading are written out, and long lines are
//! cut.

mod coverage;
mod findings;
mod summary;
mod table;
mod text;

use anstyle::{AnsiColor, Style};
use quorum_model::severity::Severity;

use crate::report::{Report, is_gated};

/// How to render.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Columns of the terminal; less than 40 is taken for 40, more than 120 for 120.
    pub width: usize,
    /// With colours.
    pub color: bool,
    /// With box characters, arrows and signs; otherwise in ASCII.
    pub unicode: bool,
    /// Where the report is in full.
    pub full_report: Option<&'a str>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { width: 80, color: false, unicode: true, full_report: None }
    }
}

/// The report for a terminal. It ends with a line break.
pub fn render(report: &Report<'_>, options: &Options<'_>) -> String {
    let result = report.result;
    let mut page = Page::new(options);
    summary::write(&mut page, result);
    if !is_gated(result) {
        coverage::write_gaps(&mut page, result);
        findings::write(&mut page, result);
        coverage::write_matrix(&mut page, result);
    }
    summary::write_footer(&mut page, result, options.full_report);
    page.text
}

/// What is written to, with what is known about the terminal.
struct Page {
    width: usize,
    color: bool,
    unicode: bool,
    text: String,
}

impl Page {
    fn new(options: &Options<'_>) -> Self {
        Self {
            width: options.width.clamp(40, 120),
            color: options.color,
            unicode: options.unicode,
            text: String::new(),
        }
    }

    /// Adds a line; it is trusted to fit.
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Adds an empty line, unless there is one.
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds a text in as many lines as it takes, but no more than `most`: the first after `lead`,
    /// the others below its end.
    fn paragraph(&mut self, lead: &str, body: &str, most: usize) {
        let indent = text::width(lead);
        let lines =
            text::wrap(body, self.width.saturating_sub(indent).max(10), most, self.ellipsis());
        for (number, line) in lines.iter().enumerate() {
            let lead = if number == 0 { lead.to_owned() } else { " ".repeat(indent) };
            self.line(&format!("{lead}{line}"));
        }
    }

    /// `unicode`, or `ascii` where the terminal cannot show it.
    fn sign(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    fn ellipsis(&self) -> &'static str {
        self.sign("…", "...")
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const WARN: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Critical | Severity::High => BAD,
        Severity::Medium => WARN,
        Severity::Low => HINT,
    }
}

#[cfg(test)]
mod tests;
