//! TOML: tables, and the keys above the first of them.

use quorum_model::symbol::SymbolKind;

use super::{count, declaration, lines, reach_to_next};
use crate::outline::Outline;

/// Tables and top-level keys. What stands in a string of several lines is neither.
pub(crate) fn toml(source: &[u8]) -> Outline {
    let mut outline = Outline::default();
    let mut string: Option<&str> = None;
    let mut brackets = 0_i64;
    let mut in_table = false;
    for (number, line) in lines(source) {
        let line = line.trim();
        if let Some(mark) = string {
            if line.contains(mark) {
                string = None;
            }
            continue;
        }
        let continues = brackets > 0;
        let opened = ["\"\"\"", "'''"].into_iter().find(|mark| line.matches(mark).count() == 1);
        string = opened;
        let balance = |open: char, close: char| {
            let count = |wanted: char| line.chars().filter(|&c| c == wanted).count();
            i64::try_from(count(open)).unwrap_or(0) - i64::try_from(count(close)).unwrap_or(0)
        };
        let header = !continues && line.starts_with('[');
        if !header {
            brackets = (brackets + balance('[', ']')).max(0);
        }
        if continues || line.is_empty() || line.starts_with('#') {
            continue;
        }
        if header {
            let name = line.split('#').next().unwrap_or(line).trim().trim_matches(['[', ']']);
            if !name.trim().is_empty() {
                let kind = SymbolKind::Block;
                outline.declarations.push(declaration(name.trim(), kind, number, line));
                in_table = true;
            }
        } else if !in_table && let Some((key, _)) = line.split_once('=') {
            let key = key.trim().trim_matches(['"', '\'']);
            outline.declarations.push(declaration(key, SymbolKind::Key, number, line));
        }
    }
    reach_to_next(&mut outline.declarations, count(source));
    outline
}
