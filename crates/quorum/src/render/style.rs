//! How pages look: numbers, headings, tables.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
pub(crate) use quorum_report::{count, number};

/// The title bar of a page.
pub(crate) fn title(text: &str) -> String {
    let bold = Style::new().bold();
    format!("{bold}═══ {text} ═══{bold:#}\n")
}

/// The name of a section or of a line.
pub(crate) fn heading(text: &str) -> String {
    let bold = Style::new().bold();
    format!("{bold}{text}{bold:#}")
}

/// What matters less.
pub(crate) fn dim(text: &str) -> String {
    let dim = Style::new().dimmed();
    format!("{dim}{text}{dim:#}")
}

/// What the user should not miss.
pub(crate) fn warning(text: &str) -> String {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    format!("{yellow}!{yellow:#} {text}")
}

/// Seconds as people say them.
pub(crate) fn seconds(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", number(seconds.div_ceil(3600))),
    }
}

/// A table with a line under its head, wrapped to `width`; `right` names the columns of numbers.
pub(crate) fn table(
    head: &[&str],
    rows: Vec<Vec<String>>,
    right: &[usize],
    width: usize,
) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(head);
    for row in rows {
        table.add_row(row);
    }
    for &index in right {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

/// `text` cut to `width` characters from its middle, so that both ends of a path stay readable.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width || width < 8 {
        return text.to_owned();
    }
    let head = (width - 1) / 3;
    let tail = width - 1 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn long_paths_keep_both_ends() {
        assert_eq!(shorten("src/a.rs", 20), "src/a.rs");
        let short = shorten("crates/quorum-scope/src/classify/language.rs", 24);
        assert_eq!(short, "crates/…sify/language.rs");
        assert_eq!(short.chars().count(), 24);
    }
}
