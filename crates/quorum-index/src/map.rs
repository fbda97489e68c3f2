//! The most central symbols of a repository, and the signatures of one file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use quorum_model::SCHEMA_VERSION;
use quorum_model::symbol::{FileSummary, RankedSymbol, RepositoryMap, Symbol, Visibility};
use quorum_syntax::outline::ReferenceKind;

use crate::catalog::CatalogFile;
use crate::counter::Counter;
use crate::error::IndexError;
use crate::imports::Paths;
use crate::index::Index;
use crate::record::Record;

/// How much of a file's rank goes along its references.
const DAMPING: f64 = 0.85;
/// Rounds after which ranks hardly move.
const ROUNDS: usize = 30;
/// A name with more declarations than this says nothing about which is meant.
const MOST_DECLARATIONS: usize = 6;
/// What a name counts for that is declared in a file which is not imported: it may be another's.
const UNRELATED: f64 = 0.02;
/// More symbols than any budget has room for.
const MOST_SYMBOLS: usize = 20_000;

/// A symbol that may be on the map.
struct Candidate {
    file: usize,
    symbol: Symbol,
    rank: f64,
}

impl Index {
    /// The most central symbols, as many as fit `budget` tokens.
    ///
    /// Files that refer to a name vote for the files that declare it, each with its own rank; a
    /// symbol has the votes that came in for its name.
    pub fn map(&self, budget: u64, counter: Counter) -> Result<RepositoryMap, IndexError> {
        let files: Vec<&CatalogFile> =
            self.catalog.files.iter().filter(|file| !file.aside && !file.vendored).collect();
        let mut records: Vec<Record> = Vec::with_capacity(files.len());
        for file in &files {
            let record = match file.blob {
                Some(blob) => self.store.record(blob)?.unwrap_or_default(),
                None => Record::default(),
            };
            records.push(record);
        }
        let related = self.related(&files, &records);
        let families: Vec<&str> =
            files.iter().map(|file| family(self.catalog.language(file))).collect();
        let mut candidates = rank(&records, &families, &related);
        candidates.sort_by(|a, b| {
            let place = |found: &Candidate| (&files[found.file].path, found.symbol.line);
            b.rank.total_cmp(&a.rank).then_with(|| place(a).cmp(&place(b)))
        });
        let all = candidates.len();
        candidates.truncate(MOST_SYMBOLS);
        // The text grows with the number of symbols: the largest number that fits is searched for.
        let fits = |count: usize| {
            let text = render(&candidates[..count], &files);
            let tokens = counter.count(text.as_bytes());
            (tokens <= budget).then_some((text, tokens))
        };
        let (mut low, mut high) = (0, candidates.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle).is_some() {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let (text, tokens) = fits(low).unwrap_or_default();
        let symbols = candidates[..low].iter().map(|found| RankedSymbol {
            path: files[found.file].shown(),
            name: found.symbol.qualified(),
            kind: found.symbol.kind,
            line: found.symbol.line,
            rank: found.rank,
        });
        let symbols: Vec<RankedSymbol> = symbols.collect();
        let left_out = (all - symbols.len()) as u64;
        Ok(RepositoryMap {
            schema_version: SCHEMA_VERSION,
            budget,
            tokens,
            text,
            symbols,
            left_out,
        })
    }

    /// For every file the ones that it imports, and those beside it, which many languages need no
    /// import for.
    fn related(&self, files: &[&CatalogFile], records: &[Record]) -> Vec<HashSet<usize>> {
        let paths = Paths::new(&self.catalog);
        let names: Vec<String> = files.iter().map(|file| file.shown()).collect();
        let numbers: HashMap<&str, usize> =
            names.iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
        let mut folders: HashMap<&str, Vec<usize>> = HashMap::new();
        let folder = |name: &'_ str| name.rfind('/').unwrap_or(0);
        for (number, name) in names.iter().enumerate() {
            folders.entry(&name[..folder(name)]).or_default().push(number);
        }
        let mut related = Vec::with_capacity(files.len());
        for ((file, name), record) in files.iter().zip(&names).zip(records) {
            let language = self.catalog.language(file);
            let mut to: HashSet<usize> = HashSet::new();
            for import in &record.references {
                if import.kind() == ReferenceKind::Import {
                    let found = paths.resolve(&import.name, name, language);
                    to.extend(found.into_iter().filter_map(|i| numbers.get(paths.name(i))));
                }
            }
            if matches!(language, Some("Go" | "Java" | "Kotlin" | "C#" | "HCL")) {
                to.extend(&folders[&name[..folder(name)]]);
            }
            related.push(to);
        }
        related
    }

    /// The signatures of a file, within `budget` tokens where one is given: what is private and what
    /// is nested goes first.
    pub fn summary(
        &self,
        path: &str,
        budget: Option<u64>,
        counter: Counter,
    ) -> Result<FileSummary, IndexError> {
        let (file, record) = self.file(path)?;
        let symbols: Vec<Symbol> =
            record.symbols.iter().map(|found| record.symbol(found)).collect();
        let depth =
            |symbol: &Symbol| symbol.container.as_ref().map_or(0, |c| c.matches('.').count() + 1);
        let hidden = |symbol: &Symbol| symbol.visibility == Visibility::Private;
        let levels: [&dyn Fn(&Symbol) -> bool; 4] = [
            &|_| true,
            &|symbol| !hidden(symbol),
            &|symbol| !hidden(symbol) && (symbol.kind.is_callable() || symbol.kind.is_type()),
            &|symbol| !hidden(symbol) && depth(symbol) == 0,
        ];
        let mut summary = FileSummary {
            schema_version: SCHEMA_VERSION,
            path: file.shown(),
            language: self.catalog.language(file).map(str::to_owned),
            file_tokens: record.tokens,
            tokens: 0,
            text: String::new(),
            left_out: 0,
        };
        let mut shown: Vec<&Symbol> = Vec::new();
        for level in levels {
            shown = symbols.iter().filter(|symbol| level(symbol)).collect();
            summary.text = signatures(&shown);
            summary.tokens = counter.count(summary.text.as_bytes());
            if budget.is_none_or(|budget| summary.tokens <= budget) {
                break;
            }
        }
        while budget.is_some_and(|budget| summary.tokens > budget) && !shown.is_empty() {
            shown.truncate(shown.len() * 3 / 4);
            summary.text = signatures(&shown);
            summary.tokens = counter.count(summary.text.as_bytes());
        }
        summary.left_out = (symbols.len() - shown.len()) as u64;
        Ok(summary)
    }
}

/// Languages whose files use each other's names.
fn family(language: Option<&str>) -> &str {
    match language.unwrap_or_default() {
        "JavaScript" | "TypeScript" | "TSX" | "JSX" | "Vue" | "Svelte" => "TypeScript",
        "C" | "C++" | "Objective-C" | "Objective-C++" => "C",
        "Java" | "Kotlin" | "Groovy" | "Scala" => "Java",
        other => other,
    }
}

fn signatures(symbols: &[&Symbol]) -> String {
    let mut text = String::new();
    for symbol in symbols {
        let depth = symbol.container.as_ref().map_or(0, |above| above.matches('.').count() + 1);
        // Writing to a string cannot fail.
        _ = writeln!(text, "{:>5} {}{}", symbol.line, "  ".repeat(depth.min(8)), symbol.signature);
    }
    text
}

/// Every symbol of the files with its rank.
fn rank(records: &[Record], families: &[&str], related: &[HashSet<usize>]) -> Vec<Candidate> {
    let mut declared: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (file, record) in records.iter().enumerate() {
        for (index, symbol) in record.symbols.iter().enumerate() {
            let kind = symbol.kind();
            if kind.is_callable() || kind.is_type() {
                declared.entry(&symbol.name).or_default().push((file, index));
            }
        }
    }
    // Votes of a file: for which symbols, with which weight.
    let mut votes: Vec<Vec<((usize, usize), f64)>> = Vec::with_capacity(records.len());
    for (file, record) in records.iter().enumerate() {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for reference in &record.references {
            if reference.kind() != ReferenceKind::Import {
                *counts.entry(&reference.name).or_default() += 1;
            }
        }
        let mut cast = Vec::new();
        for (name, count) in counts {
            let Some(places) = declared.get(name) else { continue };
            let own = places.iter().any(|(of, _)| *of == file);
            let usable = |(of, index): &&(usize, usize)| {
                families[*of] == families[file]
                    && records[*of].symbols[*index].visibility() != Visibility::Private
            };
            let places: Vec<(usize, usize)> = places.iter().filter(usable).copied().collect();
            if own || places.len() > MOST_DECLARATIONS {
                continue;
            }
            for place in &places {
                let weight = if related[file].contains(&place.0) { 1.0 } else { UNRELATED };
                #[expect(clippy::cast_precision_loss, reason = "at most a handful")]
                let share = f64::from(count).sqrt() * weight / places.len() as f64;
                cast.push((*place, share));
            }
        }
        votes.push(cast);
    }
    let ranks = file_ranks(&votes);
    let mut received: HashMap<(usize, usize), f64> = HashMap::new();
    for (file, cast) in votes.iter().enumerate() {
        let total: f64 = cast.iter().map(|(_, weight)| weight).sum();
        for (place, weight) in cast {
            *received.entry(*place).or_default() += ranks[file] * weight / total;
        }
    }
    let mut candidates = Vec::new();
    for (file, record) in records.iter().enumerate() {
        for (index, found) in record.symbols.iter().enumerate() {
            let kind = found.kind();
            let symbol = record.symbol(found);
            let container = symbol.container.as_deref().unwrap_or_default();
            let test = container.split('.').any(|part| matches!(part, "test" | "tests"));
            if test || (!kind.is_callable() && !kind.is_type()) {
                continue;
            }
            let votes = received.get(&(file, index)).copied().unwrap_or_default();
            // Nobody's choice: by the rank of its file, and only what others could use.
            let idle =
                ranks[file] * if symbol.visibility == Visibility::Public { 1e-4 } else { 1e-6 };
            candidates.push(Candidate { file, symbol, rank: votes + idle });
        }
    }
    candidates
}

/// The share of attention that each file gets, along the votes.
#[expect(clippy::cast_precision_loss, reason = "a share of all files")]
fn file_ranks(votes: &[Vec<((usize, usize), f64)>]) -> Vec<f64> {
    let count = votes.len();
    let even = 1.0 / count.max(1) as f64;
    let mut ranks = vec![even; count];
    for _ in 0..ROUNDS {
        let mut next = vec![(1.0 - DAMPING) * even; count];
        let mut spare = 0.0;
        for (file, cast) in votes.iter().enumerate() {
            let total: f64 = cast.iter().map(|(_, weight)| weight).sum();
            if total <= 0.0 {
                spare += ranks[file];
                continue;
            }
            for ((to, _), weight) in cast {
                next[*to] += DAMPING * ranks[file] * weight / total;
            }
        }
        let share = DAMPING * spare * even;
        for rank in &mut next {
            *rank += share;
        }
        ranks = next;
    }
    ranks
}

/// Files in the order of their best symbol, each with its symbols in the order of the file.
fn render(candidates: &[Candidate], files: &[&CatalogFile]) -> String {
    let mut order: Vec<usize> = Vec::new();
    let mut by_file: HashMap<usize, Vec<&Candidate>> = HashMap::new();
    for found in candidates {
        let list = by_file.entry(found.file).or_default();
        if list.is_empty() {
            order.push(found.file);
        }
        list.push(found);
    }
    let mut text = String::new();
    for file in order {
        let Some(mut list) = by_file.remove(&file) else { continue };
        list.sort_by_key(|found| found.symbol.line);
        // Writing to a string cannot fail.
        _ = writeln!(text, "{}:", files[file].shown());
        for found in list {
            let container = found.symbol.container.as_ref();
            let last = container.and_then(|container| container.rsplit('.').next());
            let within = last.map(|last| format!("{last}: ")).unwrap_or_default();
            _ = writeln!(text, "  {} {within}{}", found.symbol.line, found.symbol.signature);
        }
    }
    text
}
