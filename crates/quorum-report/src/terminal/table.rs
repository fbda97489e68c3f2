//! Tables with lines around their cells.

use super::{Page, text};

/// How a column is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    Center,
}

/// A cell with what it looks like.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) style: anstyle::Style,
}

impl Cell {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: anstyle::Style::new() }
    }

    pub(super) fn styled(text: impl Into<String>, style: anstyle::Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// Writes a table; the cells are trusted to fit.
pub(super) fn write(page: &mut Page, head: &[(String, Align)], rows: &[Vec<Cell>]) {
    let widths: Vec<usize> = head
        .iter()
        .enumerate()
        .map(|(column, (name, _))| {
            let cells = rows.iter().map(|row| text::width(&row[column].text));
            cells.chain([text::width(name)]).max().unwrap_or(0)
        })
        .collect();
    let [bar, rule] = if page.unicode { ["│", "─"] } else { ["|", "-"] };
    let [top, middle, bottom] = if page.unicode {
        [["┌", "┬", "┐"], ["├", "┼", "┤"], ["└", "┴", "┘"]]
    } else {
        [["+", "+", "+"]; 3]
    };
    let edge = |[left, cross, right]: [&str; 3]| {
        let parts: Vec<String> = widths.iter().map(|width| rule.repeat(width + 2)).collect();
        format!("{left}{}{right}", parts.join(cross))
    };
    page.line(&edge(top));
    let names: Vec<Cell> =
        head.iter().map(|(name, _)| Cell::styled(name.clone(), super::BOLD)).collect();
    for (number, row) in std::iter::once(&names).chain(rows).enumerate() {
        let cells = row.iter().zip(&widths).zip(head).map(|((cell, width), (_, align))| {
            let free = width - text::width(&cell.text);
            let left = match align {
                Align::Left => 0,
                Align::Right => free,
                Align::Center => free / 2,
            };
            let painted = page.paint(cell.style, &cell.text);
            format!(" {}{painted}{} ", " ".repeat(left), " ".repeat(free - left))
        });
        let cells: Vec<String> = cells.collect();
        page.line(&format!("{bar}{}{bar}", cells.join(bar)));
        if number == 0 {
            page.line(&edge(middle));
        }
    }
    page.line(&edge(bottom));
}
