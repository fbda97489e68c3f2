//! The formats by name.

use crate::report::Report;
use crate::{github, gitlab, html, json, junit, markdown, rdjsonl, sarif};

/// A format for a file, a program or a code host. The terminal's is apart: it depends on a width
/// and on colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The result document.
    Json,
    /// A comment on a pull request.
    Markdown,
    /// Code scanning.
    Sarif,
    /// A page for a browser.
    Html,
    /// GitLab's Code Quality report.
    Gitlab,
    /// Test results.
    Junit,
    /// reviewdog.
    Rdjsonl,
    /// Annotations in a GitHub workflow.
    Github,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Json,
        Self::Markdown,
        Self::Sarif,
        Self::Html,
        Self::Gitlab,
        Self::Junit,
        Self::Rdjsonl,
        Self::Github,
    ];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Sarif => "sarif",
            Self::Html => "html",
            Self::Gitlab => "gitlab",
            Self::Junit => "junit",
            Self::Rdjsonl => "rdjsonl",
            Self::Github => "github",
        }
    }

    /// The name of the file in a run's folder.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Json => "result.json",
            Self::Markdown => "report.md",
            Self::Sarif => "report.sarif",
            Self::Html => "report.html",
            Self::Gitlab => "gl-code-quality-report.json",
            Self::Junit => "report.junit.xml",
            Self::Rdjsonl => "report.rdjsonl",
            Self::Github => "report.github.txt",
        }
    }
}

/// The report in `format`.
pub fn render(report: &Report<'_>, format: Format) -> String {
    match format {
        Format::Json => json::render(report),
        Format::Markdown => markdown::render(report),
        Format::Sarif => sarif::render(report),
        Format::Html => html::render(report),
        Format::Gitlab => gitlab::render(report),
        Format::Junit => junit::render(report),
        Format::Rdjsonl => rdjsonl::render(report),
        Format::Github => github::render(report),
    }
}
