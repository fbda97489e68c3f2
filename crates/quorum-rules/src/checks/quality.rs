//! What the code quality reviewer sees in one file: logic, size, tests that are switched off.

mod bounds;
pub(crate) mod clones;
mod copies;
mod logic;
mod reach;
mod size;
pub(crate) mod tests_touched;

use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// The agent that reports what this module finds.
const AGENT: &str = "code-quality-reviewer";

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let (Some(lang), Some(tree)) = (file.lang, &file.tree) else { return };
    logic::check(file, lang, tree.root_node(), findings);
    reach::check(file, lang, tree.root_node(), findings);
    bounds::check(file, lang, tree.root_node(), findings);
    copies::check(file, lang, tree.root_node(), findings);
    if !super::is_foreign(file) {
        size::check(file, lang, tree.root_node(), findings);
    }
}
