//! What reviewers are told, as a page.

use std::fmt::Write as _;

use quorum_engine::told::ToldContext;
use quorum_model::context::ContextItem;

use super::style::{dim, heading, number, title};

/// Everything, part by part: the manifest, then the text.
pub(crate) fn page(parts: &[ToldContext]) -> String {
    let mut page = String::new();
    for told in parts {
        // Writing to a string cannot fail.
        _ = write(&mut page, told);
    }
    page
}

fn write(page: &mut String, told: &ToldContext) -> std::fmt::Result {
    let manifest = &told.manifest;
    let files = manifest.files.join(", ");
    let who = manifest.agent.as_deref().map(|agent| format!("{agent}: ")).unwrap_or_default();
    page.push_str(&title(&format!("{who}{files}")));
    let (tokens, limit) = (number(manifest.tokens), number(manifest.limit));
    writeln!(page, "{tokens} of {limit} tokens\n")?;
    items(page, "Included", &manifest.included)?;
    items(page, "Left out", &manifest.left_out)?;
    for sop in &told.sops {
        writeln!(page, "{}\n{}\n", heading(&format!("# SOP {}", sop.name)), quoted(&sop.text))?;
    }
    if !told.text.is_empty() {
        writeln!(page, "{}", quoted(&told.text))?;
    }
    Ok(())
}

fn items(page: &mut String, name: &str, items: &[ContextItem]) -> std::fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(page, "{}", heading(name))?;
    for item in items {
        let cut = item.cut.as_deref().map(|cut| format!("; {cut}")).unwrap_or_default();
        writeln!(
            page,
            "  {:10} {:>6}  {}  {}",
            item.kind.as_str(),
            number(item.tokens),
            quorum_report::visible(&item.source),
            dim(&format!("{}{cut}", item.reason))
        )?;
    }
    writeln!(page)
}

/// A text of somebody else, line by line, as it can be shown on a terminal.
fn quoted(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(quorum_report::visible).collect();
    lines.join("\n")
}
