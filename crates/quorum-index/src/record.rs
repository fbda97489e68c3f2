//! What is kept of one content: chunks, symbols and references.
//!
//! A record belongs to a content, not to a path: it is found again under any name and on any branch.

use quorum_model::symbol::{Symbol, SymbolKind, Visibility};
use quorum_syntax::outline::{Declaration, Reference, ReferenceKind};
use serde::{Deserialize, Serialize};

/// Everything that is known of one content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) lines: u32,
    pub(crate) tokens: u64,
    /// Why it was read as text, where it has a grammar.
    pub(crate) note: Option<String>,
    pub(crate) docs: Vec<Doc>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) symbols: Vec<SymbolRecord>,
    pub(crate) references: Vec<ReferenceRecord>,
}

/// What a search scores: a symbol, or the lines between symbols. Every line counts in one doc only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doc {
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    pub(crate) symbol: Option<u32>,
    /// The chunk that it begins in.
    pub(crate) chunk: u32,
}

/// A piece of the text, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chunk {
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    pub(crate) tokens: u64,
    pub(crate) symbol: Option<u32>,
    /// Which bytes of its lines it is, where one line is too long for a chunk.
    pub(crate) bytes: Option<(u32, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SymbolRecord {
    pub(crate) name: String,
    kind: u8,
    pub(crate) parent: Option<u32>,
    scope: Option<String>,
    signature: String,
    doc: Option<String>,
    visibility: u8,
    pub(crate) line: u32,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReferenceRecord {
    pub(crate) name: String,
    pub(crate) qualifier: Option<String>,
    kind: u8,
    pub(crate) line: u32,
    pub(crate) within: Option<u32>,
}

/// Numbers are kept in place of names; the order is part of the format.
const KINDS: [SymbolKind; 17] = [
    SymbolKind::Function,
    SymbolKind::Method,
    SymbolKind::Class,
    SymbolKind::Struct,
    SymbolKind::Enum,
    SymbolKind::Interface,
    SymbolKind::Trait,
    SymbolKind::Type,
    SymbolKind::Constant,
    SymbolKind::Variable,
    SymbolKind::Property,
    SymbolKind::Module,
    SymbolKind::Macro,
    SymbolKind::Heading,
    SymbolKind::Key,
    SymbolKind::Block,
    SymbolKind::Table,
];

const VISIBILITIES: [Visibility; 4] =
    [Visibility::Public, Visibility::Protected, Visibility::Internal, Visibility::Private];

fn number<T: PartialEq>(list: &[T], value: &T) -> u8 {
    let found = list.iter().position(|known| known == value).unwrap_or_default();
    u8::try_from(found).unwrap_or_default()
}

impl From<Declaration> for SymbolRecord {
    fn from(found: Declaration) -> Self {
        Self {
            name: found.name,
            kind: number(&KINDS, &found.kind),
            parent: found.parent.and_then(|parent| u32::try_from(parent).ok()),
            scope: found.scope,
            signature: found.signature,
            doc: found.doc,
            visibility: number(&VISIBILITIES, &found.visibility),
            line: found.line,
            start_line: found.start_line,
            end_line: found.end_line,
        }
    }
}

impl SymbolRecord {
    pub(crate) fn visibility(&self) -> Visibility {
        VISIBILITIES.get(usize::from(self.visibility)).copied().unwrap_or(Visibility::Public)
    }

    pub(crate) fn kind(&self) -> SymbolKind {
        KINDS.get(usize::from(self.kind)).copied().unwrap_or(SymbolKind::Function)
    }
}

impl From<Reference> for ReferenceRecord {
    fn from(found: Reference) -> Self {
        let kind = match found.kind {
            ReferenceKind::Call => 0,
            ReferenceKind::Type => 1,
            ReferenceKind::Import => 2,
        };
        Self {
            name: found.name,
            qualifier: found.qualifier,
            kind,
            line: found.line,
            within: found.within.and_then(|within| u32::try_from(within).ok()),
        }
    }
}

impl ReferenceRecord {
    pub(crate) fn kind(&self) -> ReferenceKind {
        match self.kind {
            0 => ReferenceKind::Call,
            1 => ReferenceKind::Type,
            _ => ReferenceKind::Import,
        }
    }
}

impl Record {
    pub(crate) fn symbol_at(&self, index: u32) -> Option<&SymbolRecord> {
        self.symbols.get(usize::try_from(index).ok()?)
    }

    /// What a symbol stands in, outermost first.
    pub(crate) fn container(&self, symbol: &SymbolRecord) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        names.extend(symbol.scope.as_deref());
        let mut above = symbol.parent;
        // The walk that made the list keeps it shallow; a damaged one must not hang.
        for _ in 0..128 {
            let Some(parent) = above.and_then(|index| self.symbol_at(index)) else { break };
            names.push(&parent.name);
            names.extend(parent.scope.as_deref());
            above = parent.parent;
        }
        names.reverse();
        (!names.is_empty()).then(|| names.join("."))
    }

    /// A symbol as documents show it.
    pub(crate) fn symbol(&self, found: &SymbolRecord) -> Symbol {
        Symbol {
            name: found.name.clone(),
            kind: found.kind(),
            container: self.container(found),
            signature: found.signature.clone(),
            doc: found.doc.clone(),
            visibility: found.visibility(),
            line: u64::from(found.line),
            start_line: u64::from(found.start_line),
            end_line: u64::from(found.end_line),
        }
    }
}
