//! What a grammar cannot bear, taken out before it is parsed.
//!
//! The scanners of some grammars keep a stack of 1,024 bytes and end the process where it
//! overflows; others take quadratic time and memory for a chain that is never closed. Each of these is found by one
//! pass over the bytes. No code that people write comes near the limits here.

use memchr::memchr_iter;

use crate::Lang;

/// Links of a chain, or levels of strings inside strings, that are still parsed.
const LONGEST: usize = 200;

/// The parts of `source` that are left out, each a range of bytes, in order.
pub(crate) fn unbearable(source: &[u8], lang: Lang) -> Vec<(usize, usize)> {
    match lang {
        Lang::Yaml => levels(source),
        Lang::Kotlin => templates(source),
        Lang::Bash => here_documents(source),
        Lang::Hcl => chain(source, b'!', u8::is_ascii_whitespace),
        Lang::Java | Lang::CSharp => chain(source, b'<', |byte| {
            byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"_.,?@[]$".contains(byte)
        }),
        _ => Vec::new(),
    }
}

/// White space in HCL that is looked at once for each of its bytes after an error.
const LONGEST_BLANK: usize = 2_000;

/// Whether parsing would take quadratic time, and there is nothing to take out.
pub(crate) fn is_endless(source: &[u8], lang: Lang) -> bool {
    let blank = |run: &[u8]| run.len() > LONGEST_BLANK && run[0].is_ascii_whitespace();
    let alike = |a: &u8, b: &u8| a.is_ascii_whitespace() == b.is_ascii_whitespace();
    lang == Lang::Hcl && source.chunk_by(alike).any(blank)
}

/// What follows the first links of a chain of `link` with nothing but `between` in the middle.
fn chain(source: &[u8], link: u8, between: fn(&u8) -> bool) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let (mut links, mut last) = (0, 0);
    for at in memchr_iter(link, source) {
        let joined = source.get(last..at).is_some_and(|text| text.iter().all(between));
        links = if joined { links + 1 } else { 1 };
        last = at + 1;
        if links > LONGEST {
            match found.last_mut() {
                Some((_, end)) if links > LONGEST + 1 => *end = last,
                _ => found.push((at, last)),
            }
        }
    }
    found
}

/// Lines of YAML below which more levels are open than its scanner can keep. Each of `-`, `?` and
/// `:` may open one.
fn levels(source: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut start = 0;
    for line in source.split_inclusive(|&byte| byte == b'\n') {
        let indent = line.iter().take_while(|&&byte| byte == b' ').count();
        let text = line.trim_ascii();
        if !text.is_empty() && !text.starts_with(b"#") {
            while open.last().is_some_and(|&column| column >= indent) {
                open.pop();
            }
            open.push(indent);
            for (column, pair) in line.windows(2).enumerate() {
                if b"-?:".contains(&pair[0]) && pair[1].is_ascii_whitespace() {
                    open.push(column + 1);
                }
            }
            if open.len() > LONGEST {
                found.push((start, start + line.len()));
                open.retain(|&column| column < indent);
            }
        }
        start += line.len();
    }
    found
}

/// Lines of a shell script that announce more here-documents than its scanner can keep.
fn here_documents(source: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in source.split_inclusive(|&byte| byte == b'\n') {
        if memchr::memmem::find_iter(line, b"<<").count() > LONGEST {
            found.push((start, start + line.len()));
        }
        start += line.len();
    }
    found
}

/// What Kotlin's scanner is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Text,
    LongText,
    Braces,
}

/// Strings inside of the templates of too many others.
fn templates(source: &[u8]) -> Vec<(usize, usize)> {
    if memchr::memmem::find_iter(source, b"${").nth(LONGEST).is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut inside: Vec<Inside> = Vec::new();
    let mut texts = 0;
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        let step = match inside.last() {
            Some(Inside::Text) if rest[0] == b'\\' => 2,
            Some(Inside::Text | Inside::LongText) if rest.starts_with(b"${") => {
                inside.push(Inside::Braces);
                2
            }
            Some(Inside::Text) if matches!(rest[0], b'"' | b'\n') => {
                inside.pop();
                texts -= 1;
                1
            }
            Some(Inside::LongText) if rest.starts_with(b"\"\"\"") => {
                inside.pop();
                texts -= 1;
                3
            }
            Some(Inside::Text | Inside::LongText) => 1,
            Some(Inside::Braces) | None if rest[0] == b'"' => {
                let long = rest.starts_with(b"\"\"\"");
                let step = if long { 3 } else { 1 };
                if texts == LONGEST {
                    found.push((at, at + step));
                } else {
                    inside.push(if long { Inside::LongText } else { Inside::Text });
                    texts += 1;
                }
                step
            }
            Some(Inside::Braces) | None => {
                match rest[0] {
                    b'{' if !inside.is_empty() => inside.push(Inside::Braces),
                    b'}' => {
                        inside.pop();
                    }
                    _ => {}
                }
                1
            }
        };
        at += step;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, read_within};

    /// Each of these ended the process, or took minutes and gigabytes.
    #[test]
    fn what_scanners_cannot_bear_is_left_out_and_named() {
        let indented = |mark: &str| -> String {
            let lines = (0..600).map(|level| " ".repeat(level) + mark);
            lines.collect::<Vec<_>>().join("\n")
        };
        let cases = [
            (Lang::Yaml, indented("a:")),
            (Lang::Yaml, indented("-")),
            (Lang::Yaml, "- ".repeat(20_000) + "a\n"),
            (Lang::Yaml, "? ".repeat(20_000) + "a\n"),
            (Lang::Kotlin, "val x = ".to_owned() + &"\"${".repeat(20_000) + "\n"),
            (Lang::Kotlin, "val x = ".to_owned() + &"\"\"\"${".repeat(20_000) + "\n"),
            (Lang::Kotlin, "$\"a${".repeat(20_000) + "\n"),
            (Lang::Bash, "cat ".to_owned() + &"<<A <<B ".repeat(20_000) + "\n"),
            (Lang::Hcl, "a = ".to_owned() + &"!".repeat(50_000) + "b\n"),
            (
                Lang::Java,
                "class A { Object f() { return ".to_owned() + &"A<".repeat(50_000) + "; } }\n",
            ),
            (
                Lang::CSharp,
                "class A { int F() { return ".to_owned() + &"A<".repeat(50_000) + "; } }\n",
            ),
        ];
        for (lang, source) in cases {
            let parsed = read_within(source.as_bytes(), lang, Limits::default());
            let parsed = parsed.unwrap_or_else(|error| panic!("{lang}: {error}"));
            assert!(!parsed.too_deep.is_empty(), "{lang}: {}", &source[..40]);
        }
    }

    #[test]
    fn endless_white_space_is_not_parsed_as_hcl() {
        let source = format!("x = ( ! {}\nb = 1\n", " ".repeat(50_000));
        let read = read_within(source.as_bytes(), Lang::Hcl, Limits::default());
        assert!(matches!(read, Err(crate::ParseError::TooInvolved { .. })));
    }

    #[test]
    fn what_people_write_is_parsed_as_it_is() {
        let yaml = "jobs:\n  - name: a - b: c\n    run: |\n      x - y\n".repeat(2_000);
        let kotlin = "val a = \"${m[\"k\"]} ${if (b) { \"x\" } else \"y\"}\"\n".repeat(2_000);
        let bash = "cat <<A > b\ntext\nA\n".repeat(2_000);
        let java = "Map<String, List<A>> m = f(a < b, c < d);\n".repeat(2_000);
        for (lang, source) in
            [(Lang::Yaml, yaml), (Lang::Kotlin, kotlin), (Lang::Bash, bash), (Lang::Java, java)]
        {
            assert_eq!(unbearable(source.as_bytes(), lang), [], "{lang}");
        }
    }
}
