//! Walking a syntax tree by the table of its language.

use std::collections::HashSet;

use quorum_model::symbol::SymbolKind;
use tree_sitter::{Node, Tree};

use super::doc::{self, Lead};
use super::spec::{Act, Inside, Named, Naming, Spec};
use super::{Declaration, Outline, Reference, ReferenceKind};
use super::{imports, languages, names, visibility};
use crate::Lang;

/// Declarations that are nested deeper than this belong to the last one that is not.
const DEEPEST: usize = 64;

/// The outline of a tree. It never recurses: trees can be as deep as their source is long.
pub(super) fn walk(tree: &Tree, source: &[u8], lang: Lang) -> Outline {
    let mut walker = Walker {
        source,
        lang,
        spec: languages::spec(lang),
        outline: Outline::default(),
        frames: Vec::new(),
        types: HashSet::new(),
    };
    let mut levels = vec![Level::default()];
    let mut cursor = tree.walk();
    loop {
        let frames = walker.frames.len();
        let passed_on = levels.last_mut().and_then(|level| walker.visit(cursor.node(), level));
        if cursor.goto_first_child() {
            levels.push(Level { frames, around: passed_on, ..Level::default() });
            continue;
        }
        walker.frames.truncate(frames);
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return walker.outline;
            }
            let frames = levels.pop().map_or(0, |level| level.frames);
            walker.frames.truncate(frames);
        }
    }
}

/// What is known about the children of one node while they are walked.
#[derive(Default)]
struct Level {
    /// How many frames there were before the node.
    frames: usize,
    /// The comments and attributes just passed.
    lead: Option<Lead>,
    /// The row on which the last child that is no comment ended.
    last_row: Option<usize>,
    /// The node, where it stands around one declaration.
    around: Option<Around>,
}

/// What stands around a declaration.
#[derive(Clone)]
struct Around {
    lead: Option<Lead>,
    start_byte: usize,
    start_row: usize,
    /// It belongs to the declaration wherever that begins.
    always: bool,
    exported: bool,
    /// A signature begins with it: `type`, `const`.
    keyword: bool,
}

/// A declaration or scope that the walk is inside of.
struct Frame {
    symbol: Option<usize>,
    /// Its name where it is no declaration of this file.
    scope: Option<String>,
    function: bool,
    is_type: bool,
    /// Whether it is an interface, whose members are as visible as itself.
    open: bool,
}

struct Walker<'a> {
    source: &'a [u8],
    lang: Lang,
    spec: &'static Spec,
    outline: Outline,
    frames: Vec<Frame>,
    /// Types already noted, by the declaration that names them.
    types: HashSet<(Option<usize>, String)>,
}

impl Walker<'_> {
    /// Notes what `node` means; returns what it passes on to its children.
    fn visit(&mut self, node: Node<'_>, level: &mut Level) -> Option<Around> {
        if !node.is_named() {
            return None;
        }
        let act = self.spec.act(node);
        let (start, end) = rows(node);
        match act {
            Some(Act::Comment) => {
                let trails = level.last_row == Some(start);
                if !trails {
                    Lead::add_comment(&mut level.lead, node.byte_range(), start, end);
                }
                return None;
            }
            Some(Act::Lead) => {
                Lead::add_attribute(&mut level.lead, start, end);
                return None;
            }
            _ => {}
        }
        level.last_row = Some(end);
        let lead = level.lead.take().filter(|lead| start <= lead.end_row + 1);
        let Some(act) = act else {
            // A node without a meaning of its own may begin with the declaration that is documented.
            let start_byte = node.start_byte();
            return lead.map(|lead| Around {
                lead: Some(lead),
                start_byte,
                start_row: start,
                always: false,
                exported: false,
                keyword: false,
            });
        };
        match act {
            Act::Wrap => Some(wrap(node, lead, level.around.as_ref())),
            Act::Define(kind, naming) => {
                match self.name(node, kind, naming) {
                    Some(found) => self.define(node, found, lead, level.around.as_ref()),
                    // What stands in a function without a name is local all the same.
                    None if node.kind() == "function_expression" => self.push_body(),
                    None => {}
                }
                None
            }
            Act::Scope(naming) => {
                let name = self.name(node, SymbolKind::Type, naming).map(|found| found.name);
                self.push(Frame {
                    symbol: None,
                    scope: name,
                    function: false,
                    is_type: true,
                    open: visibility::is_trait_impl(node),
                });
                None
            }
            Act::Body => {
                self.push_body();
                None
            }
            Act::Call(field) => {
                self.call(node, node.child_by_field_name(field)?);
                None
            }
            Act::CallChild(kinds) => {
                self.call(node, names::child_of_kind(node, kinds)?);
                None
            }
            Act::Import => {
                self.import(node);
                None
            }
            Act::Type => {
                self.type_name(node);
                None
            }
            Act::Comment | Act::Lead => None,
        }
    }

    fn inside(&self) -> Inside {
        let last = self.frames.last();
        Inside {
            function: last.is_some_and(|frame| frame.function),
            in_type: last.is_some_and(|frame| frame.is_type),
            depth: self.frames.len(),
        }
    }

    fn within(&self) -> Option<usize> {
        self.frames.last().and_then(|frame| frame.symbol)
    }

    fn push_body(&mut self) {
        let symbol = self.within();
        self.push(Frame { symbol, scope: None, function: true, is_type: false, open: false });
    }

    fn push(&mut self, frame: Frame) {
        if self.frames.len() < DEEPEST {
            self.frames.push(frame);
        }
    }

    fn name(&self, node: Node<'_>, kind: SymbolKind, naming: Naming) -> Option<Named> {
        match naming {
            Naming::Field(field) => {
                names::named(node.child_by_field_name(field)?, self.source, kind)
            }
            Naming::Child(kinds) => {
                names::named(names::child_of_kind(node, kinds)?, self.source, kind)
            }
            Naming::Special(find) => find(node, self.source, self.inside()),
        }
    }

    fn define(
        &mut self,
        node: Node<'_>,
        found: Named,
        lead: Option<Lead>,
        around: Option<&Around>,
    ) {
        if self.frames.len() >= DEEPEST {
            return;
        }
        let inside = self.inside();
        let (start_row, end_row) = rows(node);
        let around = around.filter(|around| around.always || around.start_row == start_row);
        let lead = lead.or_else(|| around.and_then(|around| around.lead.clone()));
        let kind = match found.kind {
            SymbolKind::Function if inside.in_type || found.scope.is_some() => SymbolKind::Method,
            kind => kind,
        };
        let first_row = around.map_or(start_row, |around| around.start_row.min(start_row));
        let docstring =
            (self.lang == Lang::Python).then(|| doc::docstring(node, self.source)).flatten();
        let (doc, doc_rows) = match docstring {
            Some((doc, rows)) => (Some(doc), Some(rows)),
            None => lead
                .as_ref()
                .map_or((None, None), |lead| lead.documentation(self.source, self.spec.doc_marks)),
        };
        let signature_start = around
            .filter(|around| around.start_row == start_row && around.keyword)
            .map_or(node.start_byte(), |around| around.start_byte);
        let visibility = visibility::of(&visibility::Query {
            lang: self.lang,
            node,
            source: self.source,
            name: &found.name,
            kind,
            inside,
            exported: around.is_some_and(|around| around.exported),
            open: self.frames.last().is_some_and(|frame| frame.open),
        });
        let start = lead.as_ref().map_or(first_row, |lead| lead.start_row.min(first_row));
        let parent = self.within();
        let scope =
            found.scope.or_else(|| self.frames.last().and_then(|frame| frame.scope.clone()));
        let index = self.outline.declarations.len();
        self.outline.declarations.push(Declaration {
            name: found.name,
            kind,
            parent,
            scope: scope.clone(),
            signature: doc::signature(node, signature_start, self.source, kind),
            doc,
            doc_lines: doc_rows.map(|rows| line(rows.start)..line(rows.end)),
            visibility,
            line: line(found.row),
            start_line: line(start),
            end_line: line(end_row),
        });
        self.push(Frame {
            symbol: Some(index),
            scope: None,
            function: kind.is_callable(),
            is_type: kind.is_type(),
            open: matches!(kind, SymbolKind::Interface | SymbolKind::Trait),
        });
    }

    fn call(&mut self, node: Node<'_>, callee: Node<'_>) {
        let bytes = self.source.get(callee.byte_range()).unwrap_or_default();
        let Some((name, mut qualifier)) = imports::last_name(bytes) else { return };
        if qualifier.is_none() {
            let before = ["object", "receiver", "scope"];
            let before = before.iter().find_map(|field| node.child_by_field_name(field));
            let bytes = before.and_then(|before| self.source.get(before.byte_range()));
            qualifier = bytes.and_then(imports::last_name).map(|(name, _)| name);
        }
        let row = callee.end_position().row;
        if let Some(module) = imports::of_call(self.lang, &name, node, self.source) {
            self.refer(module, None, ReferenceKind::Import, row);
            return;
        }
        self.refer(name, qualifier, ReferenceKind::Call, row);
    }

    fn import(&mut self, node: Node<'_>) {
        let row = node.start_position().row;
        for module in imports::of(self.lang, node, self.source) {
            self.refer(module, None, ReferenceKind::Import, row);
        }
    }

    fn type_name(&mut self, node: Node<'_>) {
        let name = names::text(node, self.source);
        let within = self.within();
        let row = node.start_position().row;
        let declares = within.and_then(|index| self.outline.declarations.get(index));
        let own = declares.is_some_and(|found| found.name == name && found.line == line(row));
        if !own && name.len() > 1 && self.types.insert((within, name.to_owned())) {
            self.refer(name.to_owned(), None, ReferenceKind::Type, row);
        }
    }

    fn refer(&mut self, name: String, qualifier: Option<String>, kind: ReferenceKind, row: usize) {
        let within = self.within();
        self.outline.references.push(Reference { name, qualifier, kind, line: line(row), within });
    }
}

/// What a node that stands around a declaration passes on to it.
fn wrap(node: Node<'_>, lead: Option<Lead>, around: Option<&Around>) -> Around {
    let (start_row, _) = rows(node);
    let exported = node.kind() == "export_statement";
    let outer = around.filter(|around| around.always || around.start_row == start_row);
    let always =
        matches!(node.kind(), "decorated_definition" | "template_declaration" | "export_statement");
    if exported {
        // What is exported again from elsewhere is a dependency of this file.
        let start_byte = node.start_byte();
        return Around { lead, start_byte, start_row, always, exported, keyword: false };
    }
    match outer {
        Some(outer) if lead.is_none() => Around {
            always: outer.always || always,
            start_byte: node.start_byte(),
            keyword: true,
            ..outer.clone()
        },
        _ => Around {
            lead,
            start_byte: node.start_byte(),
            start_row,
            always,
            exported: false,
            keyword: true,
        },
    }
}

/// First and last row of a node; one that ends with its line feed ends on the line before.
fn rows(node: Node<'_>) -> (usize, usize) {
    let (start, end) = (node.start_position(), node.end_position());
    let last = if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row };
    (start.row, last)
}

fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}
