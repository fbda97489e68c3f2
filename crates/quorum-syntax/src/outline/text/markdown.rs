//! Markdown: headings, each with the text below it.

use quorum_model::symbol::SymbolKind;

use super::{count, declaration, lines};
use crate::outline::Outline;

/// The fence that an open code block ends with.
struct Fence {
    mark: char,
    length: usize,
}

/// The headings of a text. A line in a code block is never one.
pub(crate) fn markdown(source: &[u8]) -> Outline {
    let mut outline = Outline::default();
    let mut levels: Vec<usize> = Vec::new();
    let mut fence: Option<Fence> = None;
    let mut front_matter = source.starts_with(b"---\n") || source.starts_with(b"---\r\n");
    let mut before: Option<String> = None;
    for (number, line) in lines(source) {
        if front_matter {
            front_matter = number == 1 || line.trim_end() != "---";
            continue;
        }
        if let Some(open) = &fence {
            if closes(&line, open) {
                fence = None;
            }
            continue;
        }
        if let Some(open) = opens(&line) {
            fence = Some(open);
            before = None;
            continue;
        }
        let paragraph = before.take();
        let found = match (hashes(&line), underline(&line), paragraph) {
            (Some((level, title)), ..) => Some((level, title.to_owned(), number)),
            (None, Some(level), Some(title)) => Some((level, title, number - 1)),
            _ => None,
        };
        if let Some((level, title, start)) = found {
            let mut heading = declaration(&title, SymbolKind::Heading, start, &title);
            heading.signature = format!("{} {}", "#".repeat(level), heading.signature);
            heading.parent =
                (0..outline.declarations.len()).rev().find(|&index| levels[index] < level);
            for (index, open) in levels.iter().enumerate() {
                let above = &mut outline.declarations[index];
                if *open >= level && above.end_line == u32::MAX {
                    above.end_line = start - 1;
                }
            }
            heading.end_line = u32::MAX;
            outline.declarations.push(heading);
            levels.push(level);
        } else if !line.trim().is_empty() && !line.starts_with([' ', '\t', '>', '-', '*', '|']) {
            before = Some(line.trim().to_owned());
        }
    }
    let last = count(source);
    for heading in &mut outline.declarations {
        heading.end_line = heading.end_line.min(last).max(heading.start_line);
    }
    outline
}

fn indented(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() < 4).then_some(rest)
}

fn opens(line: &str) -> Option<Fence> {
    // A fence in a list item is indented with the item.
    let rest = line.trim_start_matches([' ', '\t', '>', '-', '*']);
    let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = rest.chars().take_while(|&c| c == mark).count();
    let inline = mark == '`' && rest[length..].contains('`');
    (length >= 3 && !inline).then_some(Fence { mark, length })
}

fn closes(line: &str, open: &Fence) -> bool {
    let rest = line.trim_matches([' ', '\t', '>']);
    !rest.is_empty() && rest.len() >= open.length && rest.chars().all(|c| c == open.mark)
}

fn hashes(line: &str) -> Option<(usize, &str)> {
    let rest = indented(line)?;
    let level = rest.bytes().take_while(|&byte| byte == b'#').count();
    let title = rest.get(level..)?;
    let heading = (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    let title = title.trim().trim_end_matches('#').trim();
    (heading && !title.is_empty()).then_some((level, title))
}

fn underline(line: &str) -> Option<usize> {
    let rest = indented(line)?.trim();
    if rest.len() < 2 {
        return None;
    }
    match rest.chars().next()? {
        '=' if rest.bytes().all(|byte| byte == b'=') => Some(1),
        '-' if rest.bytes().all(|byte| byte == b'-') => Some(2),
        _ => None,
    }
}
