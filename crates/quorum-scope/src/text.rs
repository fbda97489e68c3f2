//! From bytes to text that people and rules can read, whatever a change does to its bytes.
//!
//! Git calls a file binary for one zero byte, or because an attribute says so, and shows nothing of
//! it. Programs run such files all the same, so that is decided here, from the content alone.

mod declared;
mod escapes;
mod media;
mod wide;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use declared::Meaning;

/// As many bytes as tell an old encoding.
const DETECTED: usize = 256 * 1024;

/// What stands for a zero byte: U+2400, the symbol for it.
const NUL: &str = "\u{2400}";

/// What a file's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readable {
    /// UTF-8 with line ends that git counts, as it stands.
    Plain(Vec<u8>),
    /// Text that was made readable.
    Decoded {
        /// As UTF-8.
        text: Vec<u8>,
        /// What was done, for people.
        how: String,
    },
    /// An image, a font, sound or video, as its ending says too.
    Media(&'static str),
    /// A pointer to content that another server keeps.
    Elsewhere,
    /// Text in an encoding that it names itself, and that cannot be decoded here.
    Undecoded(String),
    /// Nothing that can be read.
    Binary,
}

/// Reads `bytes` of the file at `path`. `is_code` says that its name is that of a text.
pub fn read(path: &str, bytes: Vec<u8>, is_code: bool) -> Readable {
    if is_pointer(&bytes) {
        return Readable::Elsewhere;
    }
    let is_code = is_code || bytes.starts_with(b"#!") || bytes.starts_with(b"<?");
    if let Some((name, meaning)) = declared::find(path, &bytes) {
        match meaning {
            Meaning::AsciiKept => {}
            Meaning::Table(encoding) if declared::is_plain_in(encoding, &bytes) => {}
            Meaning::Table(encoding) => {
                return declared::decode(encoding, &bytes).map_or(
                    Readable::Undecoded(name),
                    |text| {
                        let text = text.replace('\0', NUL);
                        let how = format!("{}, as it says itself", encoding.name());
                        decoded(own(line_ends(text.as_bytes())), &how)
                    },
                );
            }
            Meaning::Unknown => return Readable::Undecoded(name),
        }
    }
    let is_utf8 = std::str::from_utf8(&bytes).is_ok();
    let has_nul = bytes.contains(&0);
    if is_utf8
        && !has_nul
        && let Some(text) = escapes::resolve(path, &bytes)
    {
        return decoded(own(line_ends(text.as_bytes())), "escapes that stand for code");
    }
    if is_utf8 && !has_nul {
        return match line_ends(&bytes) {
            Cow::Borrowed(_) => Readable::Plain(bytes),
            Cow::Owned(text) => decoded(text, "carriage returns are its line ends"),
        };
    }
    if !is_code && let Some(what) = media::recognise(path, &bytes) {
        return Readable::Media(what);
    }
    if let Some((text, encoding)) = wide::decode(&bytes) {
        return decoded(own(line_ends(text.as_bytes())), encoding);
    }
    if !is_code && !is_mostly_text(&bytes) {
        return Readable::Binary;
    }
    let (text, how) = match (is_utf8, has_nul) {
        (true, _) => (String::from_utf8_lossy(&bytes).into_owned(), "zero bytes".to_owned()),
        (false, true) => (legacy(&bytes).0, "zero bytes and bytes that are not UTF-8".to_owned()),
        (false, false) => {
            let (text, encoding) = legacy(&bytes);
            (text, format!("bytes that are not UTF-8, read as {encoding}"))
        }
    };
    let text = text.replace('\0', NUL);
    decoded(own(line_ends(text.as_bytes())), &how)
}

/// The encoding that the first lines of a file name, where text in it cannot be told from a diff.
pub fn names_another_encoding(path: &str, head: &[u8]) -> Option<String> {
    match declared::find(path, head)? {
        (_, Meaning::AsciiKept) => None,
        (_, Meaning::Table(encoding)) if declared::is_plain_in(encoding, head) => None,
        (name, _) => Some(name),
    }
}

/// The lines of a diff as text: what is known of a file that is not at hand.
pub fn read_hunk(body: &[u8]) -> Option<Vec<u8>> {
    let nuls = memchr::memchr_iter(0, body).count();
    if nuls == 0 && std::str::from_utf8(body).is_ok() {
        return None;
    }
    // Of wide characters a line of a diff has the halves, and the first half may be the last line's.
    let text = if nuls * 5 > body.len() {
        body.iter().copied().filter(|&byte| byte != 0).collect()
    } else {
        body.to_vec()
    };
    let text = match String::from_utf8(text) {
        Ok(text) => text,
        Err(error) => legacy(error.as_bytes()).0,
    };
    Some(text.replace('\0', NUL).into_bytes())
}

/// Whether a carriage return stands in `text` that no line feed follows.
pub fn has_lone_returns(text: &[u8]) -> bool {
    matches!(line_ends(text), Cow::Owned(_))
}

/// The lines of a hunk, with a line of its own after each lone carriage return; and how many lines
/// more there are on the old and on the new side.
pub fn split_returns(body: &[u8]) -> (Vec<u8>, u64, u64) {
    let mut split = Vec::with_capacity(body.len());
    let (mut old, mut new) = (0, 0);
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        let mark = line.first().copied().unwrap_or(b' ');
        for (index, &byte) in line.iter().enumerate() {
            let lone = byte == b'\r' && line.get(index + 1).is_some_and(|next| *next != b'\n');
            if lone {
                split.extend_from_slice(&[b'\n', mark]);
                old += u64::from(mark != b'+');
                new += u64::from(mark != b'-');
            } else {
                split.push(byte);
            }
        }
    }
    (split, old, new)
}

fn decoded(text: Vec<u8>, how: &str) -> Readable {
    Readable::Decoded { text, how: how.to_owned() }
}

fn own(text: Cow<'_, [u8]>) -> Vec<u8> {
    text.into_owned()
}

/// A carriage return alone ends a line for compilers and interpreters, but not for git.
fn line_ends(text: &[u8]) -> Cow<'_, [u8]> {
    let lone = |index: usize| text.get(index + 1) != Some(&b'\n');
    let mut returns = memchr::memchr_iter(b'\r', text);
    if !returns.any(lone) {
        return Cow::Borrowed(text);
    }
    let mut clean = text.to_vec();
    for index in memchr::memchr_iter(b'\r', text).filter(|&index| lone(index)) {
        clean[index] = b'\n';
    }
    Cow::Owned(clean)
}

/// Text in an encoding of one or two bytes a letter, and the encoding's name.
fn legacy(bytes: &[u8]) -> (String, &'static str) {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(DETECTED)], true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    (text.into_owned(), encoding.name())
}

/// Whether nearly all bytes are those of a text.
fn is_mostly_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(DETECTED)];
    let control = |byte: &&u8| {
        **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b) || **byte == 0x7f
    };
    let odd = head.iter().filter(control).count();
    let foreign = head.iter().filter(|byte| **byte >= 0x80).count();
    let valid = std::str::from_utf8(head).map_or_else(|error| error.valid_up_to(), str::len);
    // A single zero byte in a note is a slip; compressed data has control characters all over.
    odd * 20 <= head.len() && (foreign * 2 <= head.len() || valid * 2 >= head.len() || odd == 0)
}

/// A file of large-file storage that was not fetched.
pub(crate) fn is_pointer(bytes: &[u8]) -> bool {
    const SPEC: &[u8] = b"version https://git-lfs.github.com/spec/";
    bytes.len() < 1024
        && bytes.starts_with(SPEC)
        && bytes.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"oid sha256:"))
}

#[cfg(test)]
mod tests;
