//! Who calls what, and what depends on what.

use std::collections::{BTreeMap, HashMap, HashSet};

use quorum_model::SCHEMA_VERSION;
use quorum_model::symbol::{
    CallSite, Callers, Certainty, FileReferences, Import, Place, Symbol, Use,
};
use quorum_syntax::outline::ReferenceKind;

use crate::analyze::{CALL, NAME};
use crate::catalog::CatalogFile;
use crate::error::IndexError;
use crate::imports::Paths;
use crate::index::Index;
use crate::names::Wanted;
use crate::record::Record;
use crate::terms;

/// A name with more declarations than this says nothing about which is meant.
const MOST_DECLARATIONS: usize = 8;

/// As many places of one name are looked at.
const MOST_PLACES: usize = 2000;

/// A declaration and the file that it stands in.
struct Declared<'a> {
    file: &'a CatalogFile,
    symbol: Symbol,
}

impl Declared<'_> {
    /// The type or module that it stands in directly.
    fn owner(&self) -> Option<&str> {
        self.symbol.container.as_deref().and_then(|container| container.rsplit('.').next())
    }
}

/// Whether a call means one of the declarations that were asked for.
struct Question<'a> {
    /// Every declaration of the name.
    all: &'a [Declared<'a>],
    /// Those that were asked for.
    meant: &'a [&'a Declared<'a>],
    /// What stands before the name in the call.
    qualifier: Option<&'a str>,
    /// What the caller stands in.
    within: Option<&'a str>,
    path: &'a [u8],
    imports: &'a HashSet<String>,
}

impl Question<'_> {
    /// How sure it is; absent where the call means something else.
    fn certainty(&self) -> Option<Certainty> {
        let own = self.within.and_then(|within| within.rsplit('.').next());
        let owner = match self.qualifier {
            Some("self" | "Self" | "this" | "super" | "cls" | "$this") => own,
            other => other,
        };
        if let Some(owner) = owner {
            let is_owner = |found: &Declared<'_>| found.owner() == Some(owner);
            if self.meant.iter().any(|found| is_owner(found)) {
                return Some(Certainty::Likely);
            }
            // A type that has such a member itself, or one from elsewhere.
            let type_name = owner.chars().next().is_some_and(char::is_uppercase);
            let of_types = self.meant.iter().all(|found| found.owner().is_some());
            if self.all.iter().any(is_owner) || (type_name && of_types && !self.meant.is_empty()) {
                return None;
            }
        }
        let near = self.meant.iter().any(|found| {
            let free = found.owner().is_none() || self.qualifier.is_none();
            let here = found.file.path == self.path || self.imports.contains(&found.file.shown());
            free && here
        });
        let sure = near || self.all.len() == 1;
        Some(if sure { Certainty::Likely } else { Certainty::Possible })
    }
}

impl Index {
    /// Who calls `name`, which may be qualified: `Type.method`, `Type::method`.
    pub fn callers(&self, name: &str) -> Result<Callers, IndexError> {
        let unknown = |nearest| IndexError::NoSuchSymbol { name: name.to_owned(), nearest };
        let wanted = Wanted::word(name.trim(), true).ok_or_else(|| unknown(Vec::new()))?;
        let mut records = HashMap::new();
        let all = self.declared(wanted.name, &mut records)?;
        let meant = |found: &&Declared<'_>| {
            wanted.container.is_none_or(|container| {
                let within = found.symbol.container.as_deref().unwrap_or_default();
                within.split('.').any(|part| part.eq_ignore_ascii_case(container))
            })
        };
        let definitions: Vec<&Declared<'_>> = all.iter().filter(meant).collect();
        let is_type = definitions.iter().any(|found| found.symbol.kind.is_type());
        let paths = Paths::new(&self.catalog);
        let mut callers: Vec<CallSite> = Vec::new();
        let mut imported: HashMap<String, HashSet<String>> = HashMap::new();
        for (file, doc) in self.docs_with(&format!("{CALL}{}", wanted.name))? {
            let Some(blob) = file.blob else { continue };
            let record = self.record(blob, &mut records)?;
            let path = file.shown();
            let imports = imported
                .entry(path.clone())
                .or_insert_with(|| self.imported_files(&paths, file, &path, record));
            let Some(span) = record.docs.get((doc - file.first_doc) as usize) else { continue };
            for call in &record.references {
                let of_kind = match call.kind() {
                    ReferenceKind::Call => true,
                    ReferenceKind::Type => is_type,
                    ReferenceKind::Import => false,
                };
                let here = (span.start_line..=span.end_line).contains(&call.line);
                if !of_kind || !here || call.name != wanted.name {
                    continue;
                }
                let caller = call.within.and_then(|index| record.symbol_at(index));
                let within = caller.and_then(|symbol| record.container(symbol));
                let question = Question {
                    all: &all,
                    meant: &definitions,
                    qualifier: call.qualifier.as_deref(),
                    within: within.as_deref(),
                    path: &file.path,
                    imports,
                };
                let Some(certainty) = question.certainty() else { continue };
                callers.push(CallSite {
                    path: path.clone(),
                    line: u64::from(call.line),
                    caller: caller.map(|symbol| record.symbol(symbol).qualified()),
                    qualifier: call.qualifier.clone(),
                    certainty,
                });
            }
        }
        if definitions.is_empty() && callers.is_empty() {
            return Err(unknown(self.nearest(wanted.name)?));
        }
        let order =
            |call: &CallSite| (call.certainty, call.path.clone(), call.line, call.caller.clone());
        callers.sort_by_key(order);
        callers.dedup_by(|a, b| a.path == b.path && a.line == b.line && a.caller == b.caller);
        let places = definitions
            .into_iter()
            .map(|found| Place { path: found.file.shown(), symbol: found.symbol.clone() });
        Ok(Callers {
            schema_version: SCHEMA_VERSION,
            symbol: name.to_owned(),
            definitions: places.collect(),
            callers,
        })
    }

    /// What a file imports and which symbols of the repository it uses.
    pub fn references(&self, path: &str) -> Result<FileReferences, IndexError> {
        let (file, record) = self.file(path)?;
        let path = file.shown();
        let paths = Paths::new(&self.catalog);
        let language = self.catalog.language(file);
        let mut imports: Vec<Import> = Vec::new();
        let mut imported: HashSet<String> = HashSet::new();
        let mut used: BTreeMap<&str, u32> = BTreeMap::new();
        for reference in &record.references {
            if reference.kind() == ReferenceKind::Import {
                let files = paths.resolve(&reference.name, &path, language);
                let files: Vec<String> =
                    files.into_iter().map(|index| paths.name(index).to_owned()).collect();
                imported.extend(files.iter().cloned());
                imports.push(Import {
                    module: reference.name.clone(),
                    line: u64::from(reference.line),
                    files,
                });
            } else {
                let line = used.entry(&reference.name).or_insert(reference.line);
                *line = reference.line.min(*line);
            }
        }
        imports.dedup();
        let mut records = HashMap::new();
        let mut uses = Vec::new();
        for (name, line) in used {
            let declared = self.declared(name, &mut records)?;
            let own = declared.iter().any(|found| found.file.path == file.path);
            let mut files: Vec<String> = declared.iter().map(|found| found.file.shown()).collect();
            files.sort();
            files.dedup();
            let known: Vec<String> =
                files.iter().filter(|f| imported.contains(*f)).cloned().collect();
            let (declared_in, certainty) = match (known.is_empty(), files.len()) {
                (false, _) => (known, Certainty::Likely),
                (true, 1) => (files, Certainty::Likely),
                _ => (files, Certainty::Possible),
            };
            if !own && (1..=MOST_DECLARATIONS).contains(&declared_in.len()) {
                uses.push(Use {
                    name: name.to_owned(),
                    line: u64::from(line),
                    declared_in,
                    certainty,
                });
            }
        }
        uses.sort_by_key(|found| found.line);
        Ok(FileReferences { schema_version: SCHEMA_VERSION, path, imports, uses })
    }

    /// Every declaration of exactly this name.
    fn declared<'a>(
        &'a self,
        name: &str,
        records: &mut HashMap<i64, Record>,
    ) -> Result<Vec<Declared<'a>>, IndexError> {
        let mut found = Vec::new();
        for (file, doc) in self.docs_with(&format!("{NAME}{}", terms::folded(name)))? {
            let Some(blob) = file.blob else { continue };
            let record = self.record(blob, records)?;
            let Some(span) = record.docs.get((doc - file.first_doc) as usize) else { continue };
            let here = record.symbols.iter().filter(|symbol| {
                (span.start_line..=span.end_line).contains(&symbol.line) && symbol.name == name
            });
            found.extend(here.map(|symbol| Declared { file, symbol: record.symbol(symbol) }));
        }
        found.sort_by(|a, b| (&a.file.path, a.symbol.line).cmp(&(&b.file.path, b.symbol.line)));
        // A doc around another holds the lines of both.
        found.dedup_by(|a, b| a.file.path == b.file.path && a.symbol == b.symbol);
        Ok(found)
    }

    /// The docs that a term is in, once for every file that has them.
    fn docs_with(&self, term: &str) -> Result<Vec<(&CatalogFile, u32)>, IndexError> {
        let docs = self.store.postings(term)?;
        let docs = docs.into_iter().filter(|(doc, _)| self.length(*doc) > 0).take(MOST_PLACES);
        Ok(docs
            .flat_map(|(doc, _)| self.catalog.files_of(doc).map(move |file| (file, doc)))
            .collect())
    }

    fn imported_files(
        &self,
        paths: &Paths,
        file: &CatalogFile,
        path: &str,
        record: &Record,
    ) -> HashSet<String> {
        let imports =
            record.references.iter().filter(|found| found.kind() == ReferenceKind::Import);
        let language = self.catalog.language(file);
        let files = imports.flat_map(|import| paths.resolve(&import.name, path, language));
        files.map(|index| paths.name(index).to_owned()).collect()
    }

    /// Names that begin as `name` does.
    fn nearest(&self, name: &str) -> Result<Vec<String>, IndexError> {
        let folded = terms::folded(name);
        let mut records = HashMap::new();
        let lengths = (3..=folded.chars().count()).rev();
        for length in lengths {
            let prefix: String = folded.chars().take(length).collect();
            let mut found = Vec::new();
            for term in self.store.terms(&format!("{NAME}{prefix}"), 5)? {
                let Some((file, doc)) = self.docs_with(&term)?.into_iter().next() else { continue };
                let Some(blob) = file.blob else { continue };
                let record = self.record(blob, &mut records)?;
                let Some(span) = record.docs.get((doc - file.first_doc) as usize) else { continue };
                let symbol = record.symbols.iter().find(|symbol| {
                    (span.start_line..=span.end_line).contains(&symbol.line)
                        && terms::folded(&symbol.name) == term[NAME.len_utf8()..]
                });
                found.extend(symbol.map(|symbol| format!("`{}`", symbol.name)));
            }
            if !found.is_empty() {
                found.dedup();
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }
}
