//! The comments that suppress a finding, in any language.

use quorum_syntax::Tree;

use crate::finding::RuleFinding;

const MARK: &str = "quorum:ignore";

const FORM: &str = "write `quorum:ignore RULE reason` or `quorum:ignore[RULE] reason`";

/// What a comment can begin with, in the languages of which there is no syntax tree.
const OPENERS: [&str; 31] = [
    "//",
    "#",
    "<!--",
    "--",
    "/*",
    ";",
    "%",
    "*",
    "{-",
    "(*",
    "'",
    "{#",
    "<%--",
    "<%#",
    "@*",
    "{{!--",
    "{{!",
    "{{/*",
    "{{--",
    "<#",
    "#=",
    "//-",
    "-#",
    "{% comment %}",
    "\"",
    "!",
    "..",
    "rem",
    "REM",
    "dnl",
    "@",
];

/// More of them, which mean something else where there is a tree to tell: Pascal's braces and the slash
/// of Slim.
const BARE_OPENERS: [&str; 3] = ["{", "/", "/!"];

/// Comments that may go on over several lines: how they begin and how they end.
const BLOCKS: [(&str, &str); 14] = [
    ("/*", "*/"),
    ("<!--", "-->"),
    ("{-", "-}"),
    ("(*", "*)"),
    ("{#", "#}"),
    ("<%--", "--%>"),
    ("<%#", "%>"),
    ("@*", "*@"),
    ("{{!--", "--}}"),
    ("{{--", "--}}"),
    ("{{/*", "*/}}"),
    ("<#", "#>"),
    ("#=", "=#"),
    ("{% comment %}", "{% endcomment %}"),
];

/// Comments that end with their line.
const LINES: [&str; 9] = ["//", "#", "--", ";", "%", "'", "REM", "rem", "-#"];

/// What a comment can end with on its line, and a line of a notebook.
const CLOSERS: [&str; 20] = [
    "\",",
    "\"",
    "\\n",
    "*/}}",
    "--}}",
    "--%>",
    "-->",
    "*/",
    "*)",
    "-}",
    "#}",
    "%>",
    "*@",
    "}}",
    "#>",
    "=#",
    "{% endcomment %}",
    "###",
    "\"\"\"",
    "}",
];

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    pub(super) line: u64,
    /// The line that it speaks about.
    pub(super) target: u64,
    pub(super) rules: Vec<String>,
    pub(super) reason: String,
    /// The line as it stands, for people.
    pub(super) text: String,
    /// The comment with the code that it speaks about, without white space: the same key is the
    /// same suppression.
    pub(super) key: String,
    /// Why it cannot have an effect.
    pub(super) problem: Option<&'static str>,
}

impl Comment {
    pub(super) fn silences(&self, found: &RuleFinding) -> bool {
        let last = found.end_line.max(found.line);
        found.line <= self.target
            && self.target <= last
            && self.problem.is_none()
            && self.rules.contains(&found.rule)
    }
}

/// The comments of a text; `tree` tells comments from strings where there is one.
pub(super) fn read(text: &str, tree: Option<&Tree>) -> Vec<Comment> {
    if !mentions(text) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut comments: Vec<Comment> = Vec::new();
    let mut offset = 0;
    // `lines` drops the ends, which may be one byte or two.
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let code = line.trim_end_matches(['\n', '\r']);
        if let Some((at, length, problem)) = mark(code)
            && let Some(before) = before_comment(code, at, offset, tree).or_else(|| {
                (bare(&code[..at]).is_empty() && open_block(&lines, index).is_some()).then_some("")
            })
        {
            comments.push(comment(&lines, index, (at, length), before, problem));
        }
        offset += line.len();
    }
    comments
}

/// The index of the line that a comment alone on line `index` speaks about: the first below the
/// comment, which may go on for several lines.
///
/// The text alone says so, not a tree: the base is read without one, and both must agree.
fn below(lines: &[&str], index: usize) -> usize {
    let content = |at: usize| lines.get(at).map_or("", |line| bare(line));
    let mut at = index;
    let first = content(at);
    if let Some(end) = open_block(lines, index) {
        while let Some(line) = lines.get(at) {
            if let Some((_, after)) = line.split_once(end) {
                // Code may go on behind the comment.
                return if bare(after).is_empty() { at + 1 } else { at };
            }
            at += 1;
        }
        return index + 1;
    }
    let opener = LINES.into_iter().find(|opener| first.starts_with(opener));
    at += 1;
    // Comments one below the other all speak about the code below them.
    while opener.is_some_and(|opener| content(at).starts_with(opener)) {
        at += 1;
    }
    at
}

/// How the comment ends that line `index` begins and does not end, or is in the middle of.
fn open_block(lines: &[&str], index: usize) -> Option<&'static str> {
    /// A comment is not longer than this above the mark.
    const MOST: usize = 50;
    let line = bare(lines.get(index)?);
    let begins = |text: &str| {
        let of = BLOCKS.iter().filter(|(begin, _)| text.starts_with(begin));
        of.max_by_key(|(begin, _)| begin.len()).copied()
    };
    if let Some((begin, end)) = begins(line) {
        return (!line[begin.len()..].contains(end)).then_some(end);
    }
    if LINES.iter().any(|opener| line.starts_with(opener)) {
        return None;
    }
    for above in lines[..index].iter().rev().take(MOST).map(|line| bare(line)) {
        if let Some((begin, end)) = begins(above) {
            return (!above[begin.len()..].contains(end)).then_some(end);
        }
        if BLOCKS.iter().any(|(_, end)| above.contains(end)) {
            return None;
        }
    }
    None
}

/// A line without white space, and without the quotes of a notebook around it.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let quoted = line.strip_suffix("\\n\",").or_else(|| line.strip_suffix("\\n\""));
    quoted.and_then(|line| line.strip_prefix('"')).unwrap_or(line).trim()
}

/// A cheap look whether there is anything to read.
fn mentions(text: &str) -> bool {
    text.contains(MARK) || text.lines().any(|line| mark(line).is_some())
}

/// Where a line has the mark, how long it is, and what is wrong with it.
fn mark(code: &str) -> Option<(usize, usize, Option<&'static str>)> {
    if let Some(at) = code.find(MARK) {
        return Some((at, MARK.len(), None));
    }
    // Another case, or blanks around the colon.
    let lower = code.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = lower.get(from..)?.find("quorum") {
        let at = from + found;
        let rest = lower[at + "quorum".len()..].trim_start();
        if let Some(rest) = rest.strip_prefix(':') {
            let rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix("ignore")
                && !after.starts_with(|c: char| c.is_alphanumeric())
            {
                return Some((at, lower.len() - after.len() - at, Some(FORM)));
            }
        }
        from = at + "quorum".len();
    }
    None
}

/// What stands on the line before the comment; absent where the mark is in no comment.
fn before_comment<'a>(
    code: &'a str,
    at: usize,
    offset: usize,
    tree: Option<&Tree>,
) -> Option<&'a str> {
    if let Some(tree) = tree {
        let byte = offset + at;
        let mut node = tree.root_node().descendant_for_byte_range(byte, byte + 1);
        // What is farther up says nothing about the mark, and finding it costs the depth of the tree.
        for _ in 0..4 {
            let Some(one) = node else { break };
            let kind = one.kind();
            if kind.contains("comment") {
                let start = one.start_byte().saturating_sub(offset).min(at);
                return Some(code.get(..start).unwrap_or_default());
            }
            if kind.contains("string") || kind.contains("heredoc") || kind.contains("char") {
                return None;
            }
            node = one.parent();
        }
    }
    let before = code[..at].trim_end();
    let bare = BARE_OPENERS.into_iter().filter(|_| tree.is_none());
    let opener = OPENERS.into_iter().chain(bare).filter(|opener| before.ends_with(opener));
    let opener = opener.max_by_key(|opener| opener.len())?;
    Some(&before[..before.len() - opener.len()])
}

fn comment(
    lines: &[&str],
    index: usize,
    (at, length): (usize, usize),
    before: &str,
    problem: Option<&'static str>,
) -> Comment {
    let code = lines[index];
    let line = index as u64 + 1;
    // More of the signs that it begins with, or the quote of a notebook's line, are no code.
    let signs: &[char] = &['/', ';', '#', '-', '*', '!', '%', '"', '{', '('];
    let trailing = !before.trim().trim_matches(signs).is_empty();
    let (rules, reason) = words(&code[at + length..]);
    let target = if trailing { index } else { below(lines, index) };
    let code_below = if trailing { "" } else { lines.get(target).copied().unwrap_or_default() };
    let key = [code, "\n", code_below].concat();
    Comment {
        line,
        target: target as u64 + 1,
        problem: problem.or_else(|| rules.is_empty().then_some(FORM)),
        rules,
        reason,
        text: code.trim().to_owned(),
        key: key.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The rules and the reason after the mark.
fn words(rest: &str) -> (Vec<String>, String) {
    let mut rest = rest.trim();
    for closer in CLOSERS {
        rest = rest.strip_suffix(closer).unwrap_or(rest).trim_end();
    }
    let rest = rest.trim_start_matches(':').trim_start();
    let (ids, reason) = match rest.strip_prefix('[') {
        Some(inner) => match inner.split_once(']') {
            Some((ids, reason)) => (ids, reason),
            None => return (Vec::new(), String::new()),
        },
        None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
    };
    let is_id = |id: &&str| {
        !id.is_empty()
            && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/'))
    };
    let ids = ids.split(',').map(|id| id.trim().trim_end_matches(':'));
    let rules: Vec<String> = ids.filter(is_id).map(str::to_owned).collect();
    let reason = reason.trim_start_matches([':', '-', ' ', '\t']).trim();
    let says = reason.chars().any(char::is_alphanumeric);
    (rules, if says { reason.to_owned() } else { String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Option<(bool, String, String)> {
        let found = read(line, None).into_iter().find(|comment| comment.problem.is_none())?;
        Some((found.target == found.line, found.rules.join("+"), found.reason))
    }

    fn says(trailing: bool, rules: &str, reason: &str) -> (bool, String, String) {
        (trailing, rules.to_owned(), reason.to_owned())
    }

    #[test]
    fn any_comment_can_hold_it() {
        for line in [
            "// quorum:ignore go.x it is a fixture",
            "# quorum:ignore go.x it is a fixture",
            "<!-- quorum:ignore go.x it is a fixture -->",
            "-- quorum:ignore go.x: it is a fixture",
            "/* quorum:ignore[go.x] it is a fixture */",
            "{# quorum:ignore[go.x]: it is a fixture #}",
            "<%# quorum:ignore go.x it is a fixture %>",
            "{{!-- quorum:ignore go.x it is a fixture --}}",
            "@* quorum:ignore go.x it is a fixture *@",
            "(* quorum:ignore go.x it is a fixture *)",
            "REM quorum:ignore go.x it is a fixture",
            "/// quorum:ignore go.x it is a fixture",
            ";; quorum:ignore go.x it is a fixture",
            "{{-- quorum:ignore go.x it is a fixture --}}",
            "<# quorum:ignore go.x it is a fixture #>",
            "//- quorum:ignore go.x it is a fixture",
            "-# quorum:ignore go.x it is a fixture",
            "{% comment %} quorum:ignore go.x it is a fixture {% endcomment %}",
            "   \"# quorum:ignore go.x it is a fixture\\n\",",
            "{ quorum:ignore go.x it is a fixture }",
            "  / quorum:ignore go.x it is a fixture",
            "/! quorum:ignore[go.x] it is a fixture",
        ] {
            assert_eq!(one(line), Some(says(false, "go.x", "it is a fixture")), "{line}");
        }
        assert_eq!(one("f() /* quorum:ignore go.x */"), Some(says(true, "go.x", "")));
        assert_eq!(one("f() # quorum:ignore[a.x, b.y] both"), Some(says(true, "a.x+b.y", "both")));
        assert_eq!(one("f; { quorum:ignore go.x why }"), Some(says(true, "go.x", "why")));
        assert_eq!(one("x = \"say quorum:ignore go.x why\""), None);
        assert_eq!(one("// quorum:ignore"), None);
        assert_eq!(one("the quorum ignores it"), None);
    }

    #[test]
    fn a_tree_tells_a_string_from_a_comment() {
        let text = "x = \"# quorum:ignore py.x why\"\ny = 1 # see above, quorum:ignore py.x why\n";
        let tree = quorum_syntax::parse(
            text.as_bytes(),
            quorum_syntax::Lang::from_name("Python").unwrap(),
        )
        .unwrap();
        let found = read(text, Some(&tree));
        assert_eq!(found.iter().map(|one| (one.line, one.target)).collect::<Vec<_>>(), [(2, 2)]);
    }

    #[test]
    fn a_comment_of_several_lines_speaks_about_the_code_below_it() {
        let cases = [
            ("/*\n * quorum:ignore a.x it is\n * a fixture\n */\ncode()\n", 5),
            ("/* quorum:ignore a.x why\n */ code()\n", 2),
            ("/** quorum:ignore a.x why\n */\ncode()\n", 3),
            ("<!--\n  quorum:ignore a.x why\n-->\n<p>\n", 4),
            ("# quorum:ignore a.x a reason\n# that goes on\ncode()\n", 3),
            ("// quorum:ignore a.x why\n\ncode()\n", 2),
            ("glob(\"**/*.js\")\n// quorum:ignore a.x why\ncode() /* b */\n", 3),
            (" \"# quorum:ignore a.x why\\n\",\n \"code()\\n\"\n", 2),
        ];
        for (text, target) in cases {
            let found = read(text, None);
            assert_eq!(found.iter().map(|one| one.target).collect::<Vec<_>>(), [target], "{text}");
            assert_eq!(found[0].problem, None, "{text}");
        }
    }

    #[test]
    fn comments_above_each_other_speak_about_the_code_below() {
        let found = read("# quorum:ignore a.x one\n# quorum:ignore b.x two\ncode()\n", None);
        assert_eq!(found.iter().map(|one| one.target).collect::<Vec<_>>(), [3, 3]);
    }
}
