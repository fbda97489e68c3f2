//! Dockerfiles: build stages, and the images that they start from.

use quorum_model::symbol::SymbolKind;

use super::{count, declaration, lines, reach_to_next};
use crate::outline::{Outline, Reference, ReferenceKind};

/// Build stages, by their name or by the image that they start from.
pub(crate) fn dockerfile(source: &[u8]) -> Outline {
    let mut outline = Outline::default();
    for (number, line) in lines(source) {
        let mut words = line.split_whitespace();
        if !words.next().is_some_and(|word| word.eq_ignore_ascii_case("from")) {
            continue;
        }
        let mut words = words.skip_while(|word| word.starts_with("--"));
        let Some(image) = words.next() else { continue };
        let named = words.next().is_some_and(|word| word.eq_ignore_ascii_case("as"));
        let name = words.next().filter(|_| named).unwrap_or(image);
        outline.declarations.push(declaration(name, SymbolKind::Block, number, &line));
        outline.references.push(Reference {
            name: image.to_owned(),
            qualifier: None,
            kind: ReferenceKind::Import,
            line: number,
            within: Some(outline.declarations.len() - 1),
        });
    }
    reach_to_next(&mut outline.declarations, count(source));
    outline
}
