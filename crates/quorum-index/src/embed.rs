//! Search by meaning, where a model is configured.
//!
//! A model turns text into a vector; texts that mean the same have vectors that point the same way.
//! It is an endpoint that speaks the protocol of `/v1/embeddings`, or a folder with a static model,
//! which needs no network. Vectors are kept by content, like everything else, in a byte a dimension.

mod endpoint;
mod model;
mod wordpiece;

use std::path::Path;

use bstr::ByteSlice as _;
use quorum_model::config::EmbeddingsConfig;
use quorum_syntax::outline::Reader;

use crate::chunk::Text;
use crate::error::IndexError;
use crate::index::Index;
use crate::rank::{Found, Query};
use crate::record::Record;
use crate::source::{self, LARGEST_FILE, Read};
use crate::store::Store;
use crate::update::{Step, content_key, lock, to_path};

use endpoint::Endpoint;
use model::StaticModel;

/// Texts of one request.
const BATCH: usize = 64;
/// As much of a doc as is sent to an endpoint.
const LONGEST_TEXT: usize = 4000;
/// As much of a symbol as a static model averages: its head. The mean of a whole body says little.
const LONGEST_HEAD: usize = 160;

/// Turns text into vectors.
#[derive(Debug)]
pub struct Embedder {
    kind: Kind,
    /// What vectors are kept under: another model has other ones.
    id: String,
}

#[derive(Debug)]
enum Kind {
    Endpoint(Box<Endpoint>),
    Static(Box<StaticModel>),
}

/// What is sent to an endpoint, and what is not.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    /// The key, which goes to the configured address alone.
    pub key: Option<&'a str>,
    /// Takes secrets out of a text before it is sent.
    pub redact: fn(&str) -> String,
}

impl Embedder {
    /// The model that is configured; absent where none is.
    pub fn open(
        config: &EmbeddingsConfig,
        sending: Option<Sending<'_>>,
    ) -> Result<Option<Self>, IndexError> {
        if let Some(folder) = &config.model_dir {
            let model = StaticModel::open(Path::new(folder))?;
            let id = model.id();
            return Ok(Some(Self { kind: Kind::Static(Box::new(model)), id }));
        }
        let (Some(url), Some(sending)) = (&config.url, sending) else { return Ok(None) };
        let model = config.model.as_deref().unwrap_or("text-embedding-3-small");
        let endpoint = Endpoint::new(url, model, sending)?;
        let id = format!("{url} {model}");
        Ok(Some(Self { kind: Kind::Endpoint(Box::new(endpoint)), id }))
    }

    fn longest_symbol(&self) -> usize {
        match self.kind {
            Kind::Endpoint(_) => LONGEST_TEXT,
            Kind::Static(_) => LONGEST_HEAD,
        }
    }

    /// A vector of length one for each text, in order.
    fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, IndexError> {
        let mut vectors = match &self.kind {
            Kind::Endpoint(endpoint) => endpoint.embed(texts)?,
            Kind::Static(model) => texts.iter().map(|text| model.embed(text)).collect(),
        };
        for vector in &mut vectors {
            normalize(vector);
        }
        Ok(vectors)
    }
}

fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        for value in vector {
            *value /= length;
        }
    }
}

/// A file's content without secrets, by its path.
pub type Mask<'a> = dyn Fn(&str, &[u8]) -> Vec<u8> + 'a;

/// Gives every doc of the present tree a vector that has none yet; returns how many have one. What is
/// embedded went through `mask` as a whole file: a part of one does not show what is a secret in it.
pub fn embed(
    folder: &Path,
    root: &Path,
    embedder: &Embedder,
    mask: &Mask<'_>,
    watch: &(dyn Fn(Step) + Sync),
) -> Result<u64, IndexError> {
    let _lock = lock(folder, watch)?;
    let mut store = Store::open_or_create(folder)?;
    let index = Index::open(folder, root)?;
    let missing = store.without_vectors(&embedder.id)?;
    watch(Step::Embedding(missing.len()));
    let mut batch: Vec<(i64, usize)> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for (blob, path) in missing {
        let longest = embedder.longest_symbol();
        let found = texts_of(&index, &store, blob, path.as_bstr(), longest, mask)?;
        batch.push((blob, found.len()));
        texts.extend(found);
        watch(Step::Embedded);
        if texts.len() >= BATCH {
            flush(&mut store, embedder, &mut batch, &mut texts)?;
        }
    }
    flush(&mut store, embedder, &mut batch, &mut texts)?;
    let docs = index.catalog.live_docs() as u64;
    Ok(docs)
}

/// Embeds what was collected, and stores it content by content.
fn flush(
    store: &mut Store,
    embedder: &Embedder,
    batch: &mut Vec<(i64, usize)>,
    texts: &mut Vec<String>,
) -> Result<(), IndexError> {
    let mut vectors = Vec::with_capacity(texts.len());
    for texts in texts.chunks(BATCH) {
        vectors.extend(embedder.vectors(texts)?);
    }
    let mut vectors = vectors.into_iter();
    let mut rows = Vec::with_capacity(batch.len());
    for (blob, count) in batch.drain(..) {
        let bytes = vectors.by_ref().take(count).flat_map(|vector| pack(&vector)).collect();
        rows.push((blob, bytes));
    }
    texts.clear();
    store.add_vectors(&embedder.id, &rows)
}

/// The texts of a content's docs; none where the file is not the one that was indexed any more.
fn texts_of(
    index: &Index,
    store: &Store,
    blob: i64,
    path: &bstr::BStr,
    longest_symbol: usize,
    mask: &Mask<'_>,
) -> Result<Vec<String>, IndexError> {
    let Some(record) = store.record(blob)? else { return Ok(Vec::new()) };
    let Read::Whole(content, _) = source::read(&index.root.join(to_path(path)), LARGEST_FILE)
    else {
        return Ok(Vec::new());
    };
    let language = index.catalog.find(&path.to_str_lossy());
    let language = language.and_then(|file| index.catalog.language(file));
    let reader = Reader::of(language, &path.to_str_lossy());
    if store.key(blob)? != Some(content_key(&content, reader)) {
        return Ok(Vec::new());
    }
    let content = mask(&path.to_str_lossy(), &content);
    let text = Text::new(&content);
    Ok(record.docs.iter().map(|doc| doc_text(&record, doc, &text, longest_symbol)).collect())
}

fn doc_text(
    record: &Record,
    doc: &crate::record::Doc,
    text: &Text<'_>,
    longest_symbol: usize,
) -> String {
    let symbol = doc.symbol.and_then(|index| record.symbol_at(index));
    let name = symbol.map(|symbol| record.symbol(symbol).qualified()).unwrap_or_default();
    let chunk = record.chunks.get(doc.chunk as usize).and_then(|chunk| chunk.bytes);
    let body = match (symbol, chunk) {
        (None, Some((start, end))) => text.bytes_at(start as usize..end as usize),
        _ => text.slice(&(doc.start_line..doc.end_line + 1)),
    };
    let most = if symbol.is_some() { longest_symbol } else { LONGEST_TEXT };
    let body = body[..body.len().min(most)].to_str_lossy();
    format!("{name}\n{body}")
}

/// A scale and a byte for each dimension: a quarter of the room, and ranks hardly move.
fn pack(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let mut bytes = Vec::with_capacity(vector.len() + 4);
    bytes.extend(scale.to_le_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "it is scaled to a byte")]
    bytes.extend(vector.iter().map(|value| ((value / scale).round() as i8).cast_unsigned()));
    bytes
}

/// How much a packed vector points the way of `query`.
fn likeness(packed: &[u8], query: &[f32]) -> f32 {
    let Some((scale, values)) = packed.split_first_chunk::<4>() else { return 0.0 };
    let sum: f32 = values
        .iter()
        .zip(query)
        .map(|(value, wanted)| f32::from(value.cast_signed()) * wanted)
        .sum();
    sum * f32::from_le_bytes(*scale)
}

impl Index {
    /// Finds what `query` asks for by words and by meaning, the two fused.
    pub fn find_by_meaning(&self, query: &Query, embedder: &Embedder) -> Result<Found, IndexError> {
        let vectors = embedder.vectors(std::slice::from_ref(&query.text))?;
        let Some(wanted) = vectors.into_iter().next() else { return self.find(query) };
        let size = wanted.len() + 4;
        let mut alike: Vec<Option<f32>> = vec![None; self.catalog.lengths.len()];
        self.store.each_vectors(&embedder.id, |first, bytes| {
            for (doc, packed) in (first..).zip(bytes.chunks_exact(size)) {
                if self.length(doc) > 0
                    && let Some(place) = alike.get_mut(doc as usize)
                {
                    *place = Some(likeness(packed, &wanted));
                }
            }
        })?;
        self.find_with(query, &alike)
    }
}
