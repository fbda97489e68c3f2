//! A static model: a vector for each piece of a word, averaged over a text.
//!
//! The folder has the files of `Model2Vec`: `tokenizer.json` with a `WordPiece` vocabulary,
//! `model.safetensors` with a table of vectors, and `config.json`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::wordpiece::WordPiece;
use crate::error::IndexError;

/// No vocabulary is larger.
const LARGEST_FILE: u64 = 1 << 30;

pub(super) struct StaticModel {
    pieces: WordPiece,
    table: Vec<f32>,
    size: usize,
    id: String,
}

impl std::fmt::Debug for StaticModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StaticModel").field("id", &self.id).finish_non_exhaustive()
    }
}

impl StaticModel {
    pub(super) fn open(folder: &Path) -> Result<Self, IndexError> {
        let read = |name: &str| {
            let path = folder.join(name);
            let size = fs::metadata(&path).map(|found| found.len()).unwrap_or_default();
            if size > LARGEST_FILE {
                return Err(IndexError::Embeddings(format!("{}: too large", path.display())));
            }
            fs::read(&path)
                .map_err(|error| IndexError::Embeddings(format!("{}: {error}", path.display())))
        };
        let bad = |what: &str| IndexError::Embeddings(format!("{}: {what}", folder.display()));
        let tokenizer = read("tokenizer.json")?;
        let weights = read("model.safetensors")?;
        let parsed: Value = serde_json::from_slice(&tokenizer)
            .map_err(|error| bad(&format!("tokenizer.json: {error}")))?;
        let pieces = WordPiece::new(&parsed).map_err(|what| bad(&what))?;
        let (table, size) = table(&weights).map_err(|what| bad(&what))?;
        if table.len() / size < pieces.len() {
            return Err(bad("the table has fewer vectors than the vocabulary has words"));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&tokenizer).update(&weights);
        let id = format!("static {}", &hasher.finalize().to_hex().as_str()[..16]);
        Ok(Self { pieces, table, size, id })
    }

    pub(super) fn id(&self) -> String {
        self.id.clone()
    }

    /// The mean of the vectors of the text's pieces.
    pub(super) fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.size];
        let mut count = 0.0_f32;
        self.pieces.each(text, |piece| {
            let start = piece as usize * self.size;
            if let Some(vector) = self.table.get(start..start + self.size) {
                count += 1.0;
                for (sum, value) in sum.iter_mut().zip(vector) {
                    *sum += value;
                }
            }
        });
        for value in &mut sum {
            *value /= count.max(1.0);
        }
        sum
    }
}

/// The table in a safetensors file: the length of a header, the header in JSON, the numbers.
fn table(bytes: &[u8]) -> Result<(Vec<f32>, usize), String> {
    let broken = || "model.safetensors is not one".to_owned();
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(broken)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| broken())?;
    let header = rest.get(..length).ok_or_else(broken)?;
    let data = rest.get(length..).ok_or_else(broken)?;
    let header: Value = serde_json::from_slice(header).map_err(|_| broken())?;
    let tensor = header
        .get("embeddings")
        .or_else(|| header.get("embedding.weight"))
        .or_else(|| {
            header.as_object()?.iter().find(|(name, _)| *name != "__metadata__").map(|(_, t)| t)
        })
        .ok_or_else(|| "model.safetensors has no table of vectors".to_owned())?;
    if header.get("mapping").is_some() || header.get("weights").is_some() {
        return Err("models with a mapping or weights of their own are not read".to_owned());
    }
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let shape: Vec<usize> =
        tensor["shape"].as_array().into_iter().flatten().filter_map(number).collect();
    let offsets: Vec<usize> =
        tensor["data_offsets"].as_array().into_iter().flatten().filter_map(number).collect();
    let (&[rows, size], &[start, end]) = (&shape[..], &offsets[..]) else { return Err(broken()) };
    let data = data.get(start..end).ok_or_else(broken)?;
    let numbers: Vec<f32> = match tensor["dtype"].as_str() {
        Some("F32") => {
            data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        }
        Some("F16") => {
            data.as_chunks::<2>().0.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect()
        }
        other => return Err(format!("numbers of type {} are not read", other.unwrap_or("?"))),
    };
    if size == 0 || rows.checked_mul(size) != Some(numbers.len()) {
        return Err(broken());
    }
    Ok((numbers, size))
}

/// A number in half precision.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 => 0.0,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_25),
            (0x0001, 5.960_464_5e-8),
        ] {
            assert!((half(bits) - value).abs() <= value.abs() * 1e-4, "{bits:x}");
        }
    }

    #[test]
    fn a_file_that_is_no_table_is_refused() {
        for bytes in [&b""[..], b"12345678", &[0xff; 64], b"\x02\0\0\0\0\0\0\0{}"] {
            assert!(table(bytes).is_err());
        }
    }
}
