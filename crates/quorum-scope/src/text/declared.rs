//! The encoding that a file names itself, where the program that reads it goes by that name.
//!
//! Python decodes a file by a comment in its first two lines, a browser by a `meta` element, and so
//! on. A change could write its code in an encoding that turns into a program only there, so what
//! is reviewed is the text that the program sees, or nothing.

use std::sync::LazyLock;

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_16BE, UTF_16LE};
use regex::bytes::Regex;

use crate::classify;

/// As much of a page as is searched for its encoding. Browsers stop at 1 KiB, servers do not.
const HEAD: usize = 8 * 1024;

/// What a name means for the bytes of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The signs of ASCII are what they are; letters beyond them are not code.
    AsciiKept,
    /// Bytes make other characters than in UTF-8.
    Table(&'static Encoding),
    /// Nothing here can decode it.
    Unknown,
}

/// Who reads the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// It refuses a name that it does not know.
    Strict,
    /// It goes on without a name that it does not know.
    Lenient,
}

/// The encoding that the file at `path` names, and what that means for its bytes.
pub(super) fn find(path: &str, bytes: &[u8]) -> Option<(String, Meaning)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (name, reader) = comment(path, bytes).or_else(|| declaration(path, bytes))?;
    let meaning = meaning(&name);
    // A browser passes over words that name nothing; one program knows what another does not.
    if reader == Reader::Lenient && meaning == Meaning::Unknown && !is_known_elsewhere(&name) {
        return None;
    }
    Some((name, meaning))
}

/// PEP 263 and Ruby's magic comment, which editors' comments fit too: in the first line, or in the
/// second where the first is blank or a comment. It counts exactly where the interpreter takes it:
/// a name that the interpreter passes over would make us read another text than it does.
fn comment(path: &str, bytes: &[u8]) -> Option<(String, Reader)> {
    static NAME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?-u)coding[:=][ \t]*([-_.a-zA-Z0-9]+)").ok());
    static ANY_CASE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i-u)coding[:=][ \t]*([-_.a-z0-9]+)").ok());
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let first = bytes.iter().position(ends).unwrap_or(bytes.len());
    let rest = bytes.get(first..).unwrap_or_default();
    let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
    let second = rest.iter().position(ends).map_or(rest, |end| &rest[..end]);
    let (first, second) = (bytes[..first].trim_ascii_start(), second.trim_ascii_start());
    let hint = |line: &[u8]| ANY_CASE.as_ref().is_some_and(|name| name.is_match(line));
    if !hint(first) && !hint(second) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let (name, mark, second) = match classify::language_of(path, &text)?.as_str() {
        "Python" | "Cython" => {
            let goes_on = first.is_empty() || first.starts_with(b"#");
            (&NAME, b'#', goes_on.then_some(second))
        }
        "Ruby" => (&ANY_CASE, b'#', first.starts_with(b"#!").then_some(second)),
        "Emacs Lisp" => (&ANY_CASE, b';', first.starts_with(b"#!").then_some(second)),
        _ => return None,
    };
    let named = |line: &[u8]| {
        let found = name.as_ref()?.captures(line).filter(|_| line.starts_with(&[mark]))?;
        Some(String::from_utf8_lossy(found.get(1)?.as_bytes()).into_owned())
    };
    let found = named(first).or_else(|| named(second?))?;
    Some((found, Reader::Strict))
}

/// What pages, documents and other sources say in their own words.
fn declaration(path: &str, bytes: &[u8]) -> Option<(String, Reader)> {
    static XML: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?i-u)^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([-_.:a-z0-9]+)"#).ok()
    });
    static STYLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i-u)^@charset\s+["']([-_.:a-z0-9]+)"#).ok());
    // A page of Java's servers, and sources of PHP and Perl.
    static SERVER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r#"(?i-u)<(?:%@\s*|jsp:directive\.)(?:page|tag)\b[^>]*?pageEncoding\s*=\s*["']\s*([-_.:a-z0-9]+)"#,
            r#"|\bdeclare\s*\(\s*encoding\s*=\s*["']([-_.:a-z0-9]+)"#,
            r#"|(?m:^)\s*use\s+encoding\s+["']([-_.:a-z0-9]+)"#,
        ))
        .ok()
    });
    static ANSWER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let directive = r"(?i-u)<(?:%@\s*|jsp:directive\.)page\b[^>]*?charset\s*=\s*";
        Regex::new(&format!("{directive}([-_.:a-z0-9]+)")).ok()
    });
    static PAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?i-u)<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([-_.:a-z0-9]+)"#).ok()
    });
    let head = &bytes[..bytes.len().min(HEAD)];
    let mut rules = vec![(&XML, Reader::Strict), (&STYLE, Reader::Lenient)];
    let names_one = has(head, b"ncoding") || has(head, b"NCODING") || has(head, b"charset");
    if names_one && goes_by_its_words(path, head) {
        rules.extend([(&SERVER, Reader::Strict), (&ANSWER, Reader::Strict)]);
    }
    let found = rules.into_iter().find_map(|(rule, reader)| {
        let found = rule.as_ref()?.captures(head)?;
        let name = found.iter().skip(1).flatten().next()?;
        Some((String::from_utf8_lossy(name.as_bytes()).into_owned(), reader))
    });
    if found.is_some() {
        return found;
    }
    let name = PAGE.as_ref()?.captures(head)?.get(1)?;
    classify::is_page(path)
        .then(|| (String::from_utf8_lossy(name.as_bytes()).into_owned(), Reader::Lenient))
}

/// Whether a server may read the file by what it says in the words of PHP, Perl or Java's pages. In
/// the source of another language these are a string at most.
fn goes_by_its_words(path: &str, head: &[u8]) -> bool {
    const OTHERS: [&str; 14] = [
        "Rust",
        "Go",
        "Python",
        "JavaScript",
        "TypeScript",
        "TSX",
        "JSX",
        "Java",
        "Kotlin",
        "C#",
        "Ruby",
        "Swift",
        "Scala",
        "Markdown",
    ];
    let language = classify::language_of(path, &String::from_utf8_lossy(head));
    !language.is_some_and(|language| OTHERS.contains(&language.as_str()))
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// What the encoding of this name does.
fn meaning(name: &str) -> Meaning {
    let name = name.to_ascii_lowercase().replace('_', "-");
    // Editors add how lines end.
    let name =
        ["-unix", "-dos", "-mac"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    // A file whose name can be read byte by byte is not in an encoding of wide characters.
    let wide = ["utf-16", "utf16", "utf-32", "utf32", "ucs-2", "ucs2", "ucs-4", "ucs4", "unicode"];
    let is_wide = |wide: &str| {
        let rest = name.strip_prefix(wide);
        rest.is_some_and(|rest| matches!(rest, "" | "-le" | "-be" | "le" | "be"))
    };
    if is_ascii_kept(name) || wide.iter().any(|wide| is_wide(wide)) {
        return Meaning::AsciiKept;
    }
    let label = match name {
        "cp932" | "ms932" | "mskanji" | "ms-kanji" | "windows-31j" | "s-jis" | "shiftjis"
        | "shift-jisx0213" | "shift-jis-2004" | "sjis-2004" | "sjisx0213" => "shift-jis",
        "eucjp" | "ujis" | "u-jis" | "euc-jis-2004" | "euc-jisx0213" => "euc-jp",
        "cp936" | "ms936" | "eucgb2312-cn" | "euc-cn" | "euccn" | "gb2312-80" => "gbk",
        "gb18030-2000" => "gb18030",
        "cp949" | "ms949" | "uhc" | "euckr" | "ksc5601" | "ks-c-5601" => "euc-kr",
        "cp950" | "ms950" | "big5-tw" | "big5hkscs" => "big5",
        "iso2022-jp" | "iso2022jp" => "iso-2022-jp",
        other => other,
    };
    let spelled = [label.to_owned(), label.replace('-', "_")];
    match spelled.iter().find_map(|label| Encoding::for_label_no_replacement(label.as_bytes())) {
        Some(encoding)
            if encoding == UTF_16LE || encoding == UTF_16BE || encoding == REPLACEMENT =>
        {
            Meaning::Unknown
        }
        Some(encoding) if encoding.is_single_byte() || encoding == encoding_rs::UTF_8 => {
            Meaning::AsciiKept
        }
        Some(encoding) => Meaning::Table(encoding),
        None => Meaning::Unknown,
    }
}

/// Encodings of a byte a letter, and UTF-8, in the spellings of programs that are not browsers.
fn is_ascii_kept(name: &str) -> bool {
    let exact = [
        "utf-8",
        "utf8",
        "utf-8-sig",
        "u8",
        "utf",
        "cp65001",
        "ascii",
        "us-ascii",
        "646",
        "latin",
        "l1",
        "l2",
        "l3",
        "l4",
        "l5",
        "l6",
        "l7",
        "l8",
        "l9",
        "l10",
        "8859",
        "binary",
        "ascii-8bit",
        "tis-620",
        "tis620",
        "kz1048",
        "kz-1048",
        "ptcp154",
        "cp154",
        "hp-roman8",
        "roman8",
        "r8",
        "utf8-mac",
        "utf-8-mac",
        "utf8mb4",
        "any",
        "locale",
        "prefer-utf-8",
    ];
    // Pages of IBM that were made for its large machines have ASCII's signs elsewhere.
    let dos = [
        "437", "720", "737", "775", "850", "852", "853", "855", "856", "857", "858", "860", "861",
        "862", "863", "864", "865", "866", "869", "874", "1250", "1251", "1252", "1253", "1254",
        "1255", "1256", "1257", "1258", "1125", "1131",
    ];
    let number = ["cp", "ibm", "ibm-", "cp-", "windows-", "windows", "dos-", "x-cp", "x-ibm"]
        .iter()
        .find_map(|start| name.strip_prefix(start));
    let families = [
        "utf-8-",
        "latin-1-",
        "iso-8859-",
        "iso8859-",
        "iso8859",
        "8859-",
        "latin-",
        "latin",
        "iso-latin-",
        "koi8-",
        "koi8",
        "mac-",
        "mac",
        "x-mac-",
    ];
    exact.contains(&name)
        || number.is_some_and(|number| dos.contains(&number))
        || families.iter().any(|family| {
            let rest = name.strip_prefix(family);
            rest.is_some_and(|rest| !rest.is_empty() && rest.len() <= 12)
        })
}

/// Encodings that hide code, and that some programs know.
fn is_known_elsewhere(name: &str) -> bool {
    let name: String =
        name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let known = [
        "utf7",
        "unicode11utf7",
        "xunicode20utf7",
        "unicode10utf7",
        "rot13",
        "hzgb2312",
        "hz",
        "scsu",
        "bocu1",
    ];
    known.contains(&name.as_str())
        || ["iso2022", "ebcdic", "cp037", "ibm037", "xebcdic", "cesu"]
            .iter()
            .any(|start| name.starts_with(start))
}

/// The text of `bytes` in `encoding`; absent where they are not in it.
pub(super) fn decode(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let (text, failed) = encoding.decode_without_bom_handling(bytes);
    (!failed).then(|| text.into_owned())
}

/// Whether the bytes read the same in `encoding` as in ASCII.
pub(super) fn is_plain_in(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    let shifts =
        encoding == ISO_2022_JP && bytes.iter().any(|byte| matches!(byte, 0x0e | 0x0f | 0x1b));
    bytes.is_ascii() && !shifts
}
