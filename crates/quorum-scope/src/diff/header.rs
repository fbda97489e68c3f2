//! The lines that name the files of a diff.

use bstr::{BString, ByteSlice};

use super::quote::unquote;

/// The numbers of a hunk's `@@` line, with one old side for each parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkHeader {
    pub(super) old: Vec<Span>,
    pub(super) new: Span,
}

/// A start line and a number of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) lines: u64,
}

/// Reads `@@ -1,2 +3,4 @@`, or the form with more `@` that a merge has.
pub(super) fn hunk_header(line: &[u8]) -> Option<HunkHeader> {
    let ats = line.iter().take_while(|&&byte| byte == b'@').count();
    if ats < 2 {
        return None;
    }
    let marker = &line[..ats];
    let body = line[ats..].strip_prefix(b" ")?;
    let end = body.find(marker)?;
    let mut fields = body[..end].strip_suffix(b" ")?.split(|&byte| byte == b' ');
    let mut old = Vec::new();
    for _ in 0..ats - 1 {
        old.push(span(fields.next()?.strip_prefix(b"-")?)?);
    }
    let new = span(fields.next()?.strip_prefix(b"+")?)?;
    fields.next().is_none().then_some(HunkHeader { old, new })
}

fn span(text: &[u8]) -> Option<Span> {
    let (start, lines) = match text.split_once_str(",") {
        Some((start, lines)) => (number(start)?, number(lines)?),
        None => (number(text)?, 1),
    };
    // No file has so many lines; a sum of two such numbers must not overflow.
    let possible = |number: u64| u32::try_from(number).is_ok();
    (possible(start) && possible(lines)).then_some(Span { start, lines })
}

fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    text.to_str().ok()?.parse().ok()
}

/// The name after `--- ` or `+++ `, without a time stamp; absent for `/dev/null`.
pub(super) fn file_name(text: &[u8]) -> Option<BString> {
    let name = match unquote(text) {
        Some((name, _)) => name,
        None => BString::from(text.split(|&byte| byte == b'\t').next().unwrap_or(text)),
    };
    (name != "/dev/null" && !name.is_empty()).then_some(name)
}

/// The names in `Binary files old/x and new/x differ`, where no `diff --git` line comes first.
pub(super) fn binary_names(line: &[u8]) -> Option<(Option<BString>, Option<BString>)> {
    let names = line.strip_prefix(b"Binary files ")?.strip_suffix(b" differ")?;
    let (old, new) = names.split_once_str(" and ")?;
    let (old, new) = (file_name(old), file_name(new));
    let strip = |name: &BString| BString::from(strip_one(name));
    match (&old, &new) {
        (Some(a), Some(b)) => {
            let (a, b) = strip_prefixes(a, b);
            Some((Some(BString::from(a)), Some(BString::from(b))))
        }
        _ => Some((old.as_ref().map(strip), new.as_ref().map(strip))),
    }
}

/// The two names of a `diff --git` line, as they stand there.
///
/// Names with spaces make the line ambiguous; git omits other name lines only when both names are
/// the same, so the split that makes them the same is the right one.
pub(super) fn git_names(text: &[u8]) -> Option<(BString, BString)> {
    if let Some((old, rest)) = unquote(text) {
        let rest = rest.strip_prefix(b" ")?;
        let new = unquote(rest).map_or_else(|| BString::from(rest), |(new, _)| new);
        return Some((old, new));
    }
    if let Some(quote) = text.find(b" \"")
        && let Some((new, _)) = unquote(&text[quote + 1..])
    {
        return Some((BString::from(&text[..quote]), new));
    }
    let spaces = text.find_iter(" ").collect::<Vec<_>>();
    let same = spaces.iter().copied().find(|&space| {
        let (old, new) = strip_prefixes(&text[..space], &text[space + 1..]);
        old == new
    });
    let split = same.or_else(|| (spaces.len() == 1).then(|| spaces[0]))?;
    Some((BString::from(&text[..split]), BString::from(&text[split + 1..])))
}

/// The prefixes that git puts before the old and the new name.
const PREFIXES: [(&[u8], &[u8]); 9] = [
    (b"a/", b"b/"),
    (b"b/", b"a/"),
    (b"i/", b"w/"),
    (b"c/", b"i/"),
    (b"c/", b"w/"),
    (b"o/", b"w/"),
    (b"w/", b"i/"),
    (b"1/", b"2/"),
    (b"2/", b"1/"),
];

/// Both names without the prefixes that tell the old from the new.
pub(super) fn strip_prefixes<'a>(old: &'a [u8], new: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    for (before, after) in PREFIXES {
        if let (Some(old), Some(new)) = (old.strip_prefix(before), new.strip_prefix(after)) {
            return (old, new);
        }
    }
    // Any other prefix, such as the two folders that `diff -r` compares: what follows is the same.
    match (after_first(old), after_first(new)) {
        (Some(a), Some(b)) if a == b && old != new => (a, b),
        _ => (old, new),
    }
}

/// What follows the first folder of a path.
fn after_first(name: &[u8]) -> Option<&[u8]> {
    let (_, rest) = name.split_once_str("/")?;
    (!rest.is_empty()).then_some(rest)
}

/// One name without git's prefix, where the other side is `/dev/null`.
pub(super) fn strip_one(name: &[u8]) -> &[u8] {
    let prefixed = PREFIXES.iter().any(|(old, new)| name.starts_with(old) || name.starts_with(new));
    if prefixed { &name[2..] } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunk_headers() {
        let one = |start, lines| Span { start, lines };
        let header = hunk_header(b"@@ -1,2 +3,4 @@ fn main() {").expect("ordinary");
        assert_eq!((header.old, header.new), (vec![one(1, 2)], one(3, 4)));
        let header = hunk_header(b"@@ -1 +0,0 @@").expect("short form");
        assert_eq!((header.old, header.new), (vec![one(1, 1)], one(0, 0)));
        let header = hunk_header(b"@@@ -1,2 -3,4 +5,6 @@@").expect("merge");
        assert_eq!((header.old, header.new), (vec![one(1, 2), one(3, 4)], one(5, 6)));
        for bad in
            ["@@", "@@ -1 @@", "@@ +1 -1 @@", "@@ -x +1 @@", "@@ -1,2 +3,4", "@@ -1 +1 +1 @@"]
        {
            assert_eq!(hunk_header(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn git_names_with_spaces_and_quotes() {
        let cases = [
            ("a/x b/x", ("a/x", "b/x")),
            ("a/with space.txt b/with space.txt", ("a/with space.txt", "b/with space.txt")),
            ("x x", ("x", "x")),
            ("a/old b/new", ("a/old", "b/new")),
            (r#""a/\303\251" "b/\303\251""#, ("a/é", "b/é")),
            (r#"a/e "b/\303\251""#, ("a/e", "b/é")),
        ];
        for (line, (old, new)) in cases {
            let names = git_names(line.as_bytes()).expect(line);
            assert_eq!(names, (BString::from(old), BString::from(new)), "{line}");
        }
        assert_eq!(git_names(b"a/two words b/other words here"), None);
    }

    #[test]
    fn time_stamps_are_no_part_of_a_name() {
        assert_eq!(file_name(b"a.c\t2024-01-01 00:00:00 +0000"), Some(BString::from("a.c")));
        assert_eq!(file_name(b"/dev/null\t1970-01-01"), None);
    }
}
