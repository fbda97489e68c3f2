//! Pages: the scripts in them, on the lines on which they stand.

use std::ops::Range;

use quorum_syntax::Lang;

use super::{ByLanguage, Code, Origin};

/// The scripts of a page, by language: the lines on which they stand, with everything else on them
/// blank, so that columns hold.
pub(super) fn split(path: &str, text: &str) -> ByLanguage {
    let is_component = path.ends_with(".vue") || path.ends_with(".svelte");
    let mut all: Vec<(Lang, Vec<u8>, Vec<Range<usize>>)> = Vec::new();
    for (lang, range) in scripts(text) {
        let known = all.iter().position(|(known, ..)| *known == lang);
        let at = known.unwrap_or_else(|| {
            all.push((lang, blank(text), Vec::new()));
            all.len() - 1
        });
        let Some(code) = text.get(range.clone()) else { continue };
        let code = if is_component { code.to_owned() } else { without_template(code) };
        all[at].1[range.clone()].copy_from_slice(code.as_bytes());
        all[at].2.push(range);
    }
    let finish = |(lang, bytes, ranges): (Lang, Vec<u8>, Vec<Range<usize>>)| {
        (lang, lines_of(&String::from_utf8_lossy(&bytes), ranges))
    };
    all.into_iter().map(finish).collect()
}

/// The lines on which something of `ranges` stands, which come in their order.
fn lines_of(text: &str, ranges: Vec<Range<usize>>) -> Code {
    let mut code = Code::default();
    let mut ranges = ranges.into_iter().peekable();
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let end = start + line.len();
        while ranges.next_if(|range| range.end <= start || range.is_empty()).is_some() {}
        if ranges.peek().is_some_and(|range| range.start < end) {
            code.push(line.trim_end_matches(['\n', '\r']), Origin { line: number, cell: None });
        }
        start = end;
    }
    code
}

/// As many bytes, with nothing but line ends.
fn blank(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { byte } else { b' ' }).collect()
}

/// The bytes of each script that is one, with its language.
fn scripts(text: &str) -> Vec<(Lang, Range<usize>)> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = lower.get(from..).and_then(|rest| rest.find("<script")) {
        let tag = from + at + "<script".len();
        let Some(open) = lower.get(tag..).and_then(|rest| rest.find('>')) else { break };
        let attributes = &lower[tag..tag + open];
        let start = tag + open + 1;
        let end = lower.get(start..).and_then(|rest| rest.find("</script")).map(|at| start + at);
        let Some(end) = end else { break };
        if let Some(lang) = language(attributes) {
            found.push((lang, start..end));
        }
        from = end;
    }
    found
}

fn language(attributes: &str) -> Option<Lang> {
    let value = |name: &str| {
        let at = attributes.find(&format!(" {name}="))?;
        let rest = attributes.get(at + name.len() + 2..)?;
        rest.trim_start_matches(['"', '\'']).split(['"', '\'', ' ', '\t', '\n']).next()
    };
    match value("lang").or_else(|| value("type")).unwrap_or_default() {
        "ts" | "typescript" | "text/typescript" => Some(Lang::TypeScript),
        "tsx" => Some(Lang::Tsx),
        "" | "module" | "js" | "jsx" => Some(Lang::JavaScript),
        kind if kind.contains("javascript") || kind.contains("babel") => Some(Lang::JavaScript),
        _ => None,
    }
}

/// The script with what a template engine puts into it as a number, and its statements as blanks.
fn without_template(code: &str) -> String {
    const MARKS: [(&str, &str, bool); 6] = [
        ("{{", "}}", true),
        ("{!!", "!!}", true),
        ("<%=", "%>", true),
        ("<%-", "%>", true),
        ("{%", "%}", false),
        ("<%", "%>", false),
    ];
    let mut out = code.as_bytes().to_vec();
    for (open, close, is_value) in MARKS {
        let mut from = 0;
        while let Some(at) = code.get(from..).and_then(|rest| rest.find(open)) {
            let start = from + at;
            let Some(length) = code[start..].find(close) else { break };
            let end = start + length + close.len();
            from = end;
            // A longer mark that begins the same way was here first.
            if out.get(start) != open.as_bytes().first() {
                continue;
            }
            for byte in &mut out[start..end] {
                if !matches!(*byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
            if is_value {
                out[start] = b'0';
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_scripts_is_not_read_with_them() {
        let between = "<p>text</p>\n".repeat(500);
        let page = format!(
            "<script src=\"a.js\"></script>\n{between}<p><script>one();\n\ntwo();</script></p>\r\n\
             {between}<script>three();</script>"
        );
        let parts = split("a.html", &page);
        let [(Lang::JavaScript, code)] = parts.as_slice() else { panic!("{parts:?}") };
        let lines: Vec<(u64, &str)> =
            code.origins.iter().map(|origin| origin.line).zip(code.text.lines()).collect();
        let expected = [
            (502, "           one();"),
            (503, ""),
            (504, "two();             "),
            (1005, "        three();         "),
        ];
        assert_eq!(lines, expected);
    }
}
