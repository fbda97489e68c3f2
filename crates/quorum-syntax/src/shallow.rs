//! Trees of a bounded depth, without errors of a thousand parts.
//!
//! Looking upwards in a tree costs its depth, and code that follows a tree downwards needs stack
//! for it. So what is nested deeper than a limit is taken out of the source before it is parsed
//! again: everything around it is still read, and the lines are named.
//!
//! What is never closed becomes one error with all its tokens side by side, and looking sideways
//! costs their number. So the tokens of such an error are taken out, too.

use tree_sitter::{Node, Tree, TreeCursor};

use crate::parse::{ParseError, Parsed};

/// First and last row of each stretch of lines, counted from 0, sorted, none meeting the next.
pub type Rows = Vec<(usize, usize)>;

/// How often a source is shortened before it is given up.
const ROUNDS: usize = 4;

/// Parts of one error. Lists that a grammar knows are kept as balanced trees; errors are not.
const WIDEST: u32 = 1_000;

/// Reads `source` by `parse`, so that the tree has no more than `limit` levels. What is taken out
/// becomes `filler`, which can stand for a value and for a type.
pub(crate) fn read(
    source: &[u8],
    limit: usize,
    filler: u8,
    mut parse: impl FnMut(&[u8]) -> Result<Tree, ParseError>,
) -> Result<Parsed, ParseError> {
    let mut tree = parse(source)?;
    let mut too_deep = Rows::new();
    let mut shortened: Option<Vec<u8>> = None;
    for round in 0..=ROUNDS {
        // A part that was taken out may be read another way; each round leaves more room.
        let deepest = limit.saturating_sub(limit / 8 * round);
        let mut cuts = cuts(&tree, limit, deepest.max(1));
        // Tokens alone first, so that what stands between them is still read.
        cuts.extend(wide(&tree, round < ROUNDS / 2));
        if cuts.is_empty() {
            let mut unread = errors(&tree);
            unread.retain(|rows| !meets(&too_deep, *rows));
            return Ok(Parsed { tree, too_deep, unread });
        }
        if round == ROUNDS {
            break;
        }
        let bytes = shortened.get_or_insert_with(|| source.to_vec());
        for cut in &cuts {
            too_deep.push(cut.rows);
            take_out(&mut bytes[cut.start..cut.end], if cut.blank { b' ' } else { filler });
        }
        too_deep = merged(too_deep);
        tree = parse(bytes)?;
    }
    Err(ParseError::TooDeep { limit })
}

/// A source with `filler` in the place of some ranges of bytes, which are in order, and the rows
/// that they are on.
pub(crate) fn without(source: &[u8], ranges: &[(usize, usize)], filler: u8) -> (Vec<u8>, Rows) {
    let mut bytes = source.to_vec();
    let mut rows = Rows::new();
    let (mut row, mut from) = (0, 0);
    for &(start, end) in ranges {
        let ends = |from, to| memchr::memchr_iter(b'\n', &source[from..to]).count();
        let first = row + ends(from, start);
        row = first + ends(start, end.saturating_sub(1).max(start));
        rows.push((first, row));
        from = end.saturating_sub(1).max(start);
        let kept = |byte: &u8| matches!(byte, b'\n' | b'\r');
        bytes[start..end].iter_mut().filter(|byte| !kept(byte)).for_each(|byte| *byte = filler);
    }
    (bytes, merged(rows))
}

/// What is taken out of a source.
struct Cut {
    start: usize,
    end: usize,
    rows: (usize, usize),
    /// Whether nothing is left in its place.
    blank: bool,
}

impl Cut {
    fn of(node: Node<'_>, blank: bool) -> Self {
        let rows = (node.start_position().row, last_row(node));
        Self { start: node.start_byte(), end: node.end_byte(), rows, blank }
    }
}

/// The tokens of errors with too many parts; where there are none left, or `tokens` is not asked
/// for, all of such errors. What is left of an error may be read another way than it is meant, so
/// that all its rows are named.
fn wide(tree: &Tree, tokens: bool) -> Vec<Cut> {
    let (mut single, mut whole) = (Vec::new(), Vec::new());
    if !tree.root_node().has_error() {
        return whole;
    }
    // The rows of the node around each level, where it is such an error.
    let mut around = vec![None];
    walk(tree, |node, level, _| {
        around.truncate(level + 1);
        let cut = Cut::of(node, true);
        let is_wide = node.is_error() && node.child_count() > WIDEST;
        around.push(is_wide.then_some(cut.rows));
        let rows = around[level].filter(|_| is_token(node) && cut.start < cut.end);
        if let Some(rows) = rows {
            single.push(Cut { rows, ..cut });
        } else if is_wide {
            whole.push(cut);
        }
        node.has_error() && rows.is_none()
    });
    if tokens && !single.is_empty() { single } else { whole }
}

/// A token, or a node that is nothing else.
fn is_token(node: Node<'_>) -> bool {
    match node.child_count() {
        0 => true,
        1 => node.child(0).is_none_or(|child| child.child_count() == 0),
        _ => false,
    }
}

/// The parts at level `at`, where they reach below the level `limit`.
fn cuts(tree: &Tree, limit: usize, at: usize) -> Vec<Cut> {
    let mut found = Vec::new();
    let mut open: Option<Cut> = None;
    let mut deep = false;
    walk(tree, |node, level, _| {
        if level == at {
            if deep {
                found.extend(open.take());
            }
            deep = false;
            open = Some(Cut::of(node, false));
        }
        deep |= level > limit;
        true
    });
    if deep {
        found.extend(open);
    }
    found.retain(|cut| cut.start < cut.end);
    found
}

/// Leaves the filler or an empty block in the place of what is taken out; lines stay where they are.
fn take_out(bytes: &mut [u8], filler: u8) {
    let block = bytes.first() == Some(&b'{') && bytes.last() == Some(&b'}') && bytes.len() > 1;
    let last = bytes.len() - 1;
    for (at, byte) in bytes.iter_mut().enumerate() {
        let kept = block && (at == 0 || at == last);
        if !kept && *byte != b'\n' {
            *byte = if at == 0 { filler } else { b' ' };
        }
    }
}

/// The lines of code that a grammar does not understand.
fn errors(tree: &Tree) -> Rows {
    let mut rows = Rows::new();
    if tree.root_node().has_error() {
        walk(tree, |node, _, _| {
            if node.is_error() {
                rows.push((node.start_position().row, last_row(node)));
            }
            node.has_error() && !node.is_error()
        });
    }
    merged(rows)
}

fn last_row(node: Node<'_>) -> usize {
    let (start, end) = (node.start_position(), node.end_position());
    if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row }
}

pub(crate) fn meets(known: &[(usize, usize)], (first, last): (usize, usize)) -> bool {
    let at = known.partition_point(|&(_, end)| end < first);
    known.get(at).is_some_and(|&(start, _)| start <= last)
}

/// Sorted, with what meets put together.
pub(crate) fn merged(mut rows: Rows) -> Rows {
    rows.sort_unstable();
    let mut out = Rows::with_capacity(rows.len());
    for (first, last) in rows {
        match out.last_mut() {
            Some((_, end)) if first <= *end + 1 => *end = last.max(*end),
            _ => out.push((first, last)),
        }
    }
    out
}

/// Visits every node with its level; where `visit` answers `false`, what is below is left out.
fn walk<'t>(tree: &'t Tree, mut visit: impl FnMut(Node<'t>, usize, &TreeCursor<'t>) -> bool) {
    let mut cursor = tree.walk();
    let mut level = 0;
    loop {
        if visit(cursor.node(), level, &cursor) && cursor.goto_first_child() {
            level += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            level -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lang, Limits, parse::read_within};

    /// What can be nested in each language: before it, its opening, its middle, its closing, after.
    const NESTED: &[(Lang, &str, &str, &str, &str, &str)] = &[
        (Lang::Bash, "echo ", "$(", "a", ")", "\nafter() { :; }\n"),
        (Lang::C, "int f(int a) { return ", "(", "a", ")", "; }\nint after(void) { return 1; }\n"),
        (Lang::C, "int f(int a) {", "{", "a = 1;", "}", "}\nint after(void) { return 1; }\n"),
        (Lang::Cpp, "int f(int a) { return ", "-(", "a", ")", "; }\nint after() { return 1; }\n"),
        (Lang::Cpp, "int f() { ", "A<", "int", ">", " x; }\nint after() { return 1; }\n"),
        (
            Lang::CSharp,
            "class A { int F(int a) { return ",
            "(",
            "a",
            ")",
            "; }\nvoid After() {} }\n",
        ),
        (Lang::Go, "package p\nfunc f() int { return ", "1 + ", "1", "", " }\nfunc after() {}\n"),
        (
            Lang::Go,
            "package p\nfunc f(a int) { ",
            "if a == 1 { g() } else ",
            "{ h() }",
            "",
            " }\nfunc after() {}\n",
        ),
        (Lang::Hcl, "a = ", "[", "1", "]", "\nafter = 1\n"),
        (Lang::Java, "class A { int f() { return ", "1 + ", "1", "", "; }\nvoid after() {} }\n"),
        (Lang::Java, "class A { ", "List<", "String", ">", " x;\nvoid after() {} }\n"),
        (Lang::JavaScript, "const x = ", "[", "a", "]", ";\nfunction after() {}\n"),
        (Lang::JavaScript, "const x = ", "() => ", "a", "", ";\nfunction after() {}\n"),
        (Lang::JavaScript, "const x = ", "`${", "a", "}`", ";\nfunction after() {}\n"),
        (Lang::JavaScript, "x = a", ".b()", "", "", ";\nfunction after() {}\n"),
        (Lang::Json, "", "[", "1", "]", ""),
        (Lang::Kotlin, "val x = ", "(", "a", ")", "\nfun after() {}\n"),
        (Lang::Php, "<?php $x = ", "!", "$a", "", ";\nfunction after() {}\n"),
        (Lang::Php, "<p><?php $x = ", "[", "$a", "]", ";\nfunction after() {} ?><p>\n"),
        (Lang::Python, "x = ", "(", "a", ")", "\ndef after(): pass\n"),
        (Lang::Python, "x = ", "not ", "a", "", "\ndef after(): pass\n"),
        (Lang::Ruby, "x = ", "[", "a", "]", "\ndef after; end\n"),
        (Lang::Rust, "const X: i8 = ", "-", "1", "", ";\nfn after() {}\n"),
        (Lang::Rust, "fn f() { ", "{", "", "}", " }\nfn after() {}\n"),
        (Lang::Tsx, "const x = ", "<a>", "a", "</a>", ";\nfunction after() {}\n"),
        (Lang::TypeScript, "let x: ", "Array<", "string", ">", ";\nfunction after() {}\n"),
        (Lang::Yaml, "a: ", "[", "1", "]", "\nafter: 1\n"),
    ];

    #[test]
    fn trees_are_as_deep_as_the_limit_allows_and_the_rest_is_named() {
        let limits = Limits::default();
        for &(lang, before, open, middle, close, after) in NESTED {
            let source =
                [before, &open.repeat(20_000), middle, &close.repeat(20_000), after].concat();
            let parsed = read_within(source.as_bytes(), lang, limits)
                .unwrap_or_else(|error| panic!("{lang} {open}: {error}"));
            let mut deepest = 0;
            walk(&parsed.tree, |_, level, _| {
                deepest = deepest.max(level);
                true
            });
            assert!(deepest <= limits.depth, "{lang} {open}: {deepest} levels");
            let deep_row = before.matches('\n').count();
            assert!(meets(&parsed.too_deep, (deep_row, deep_row)), "{lang} {open}: not named");
            let last = after.trim().lines().last().unwrap_or_default();
            let seen = walk_kinds(&parsed.tree, deep_row + 1);
            assert!(last.is_empty() || seen, "{lang} {open}: what comes after is not seen");
        }
    }

    /// Whether something other than an error is read from a row.
    fn walk_kinds(tree: &Tree, row: usize) -> bool {
        let mut seen = false;
        walk(tree, |node, _, _| {
            let here = node.start_position().row == row;
            seen |= here && node.is_named() && !node.is_error() && node.child_count() > 0;
            !node.is_error()
        });
        seen
    }

    /// What is never closed, in each language: before it, its opening, after.
    const UNCLOSED: &[(Lang, &str, &str)] = &[
        (Lang::Bash, "f() { echo ", "; }\nafter() { :; }\n"),
        (Lang::C, "int f() { x = ", "; }\nint after(void) { return 1; }\n"),
        (Lang::Cpp, "int f() { x = ", "; }\nint after() { return 1; }\n"),
        (Lang::CSharp, "class A { int F() { return ", "; }\nvoid After() {} }\n"),
        (Lang::Go, "package p\nfunc f() { x := ", " }\nfunc after() {}\n"),
        (Lang::Hcl, "a = ", "\nb = 1\n"),
        (Lang::Java, "class A { int f() { return ", "; }\nvoid after() {} }\n"),
        (Lang::JavaScript, "x = ", ";\nfunction after() {}\n"),
        (Lang::Json, "[", "]\n"),
        (Lang::Kotlin, "fun f() { val x = ", " }\nfun after() {}\n"),
        (Lang::Php, "<?php function f() { $x = ", "; }\nfunction after() {}\n"),
        (Lang::Python, "x = ", "\ndef after(): pass\n"),
        (Lang::Ruby, "def f\n x = ", "\nend\ndef after; end\n"),
        (Lang::Rust, "fn f() { let x = ", "; }\nfn after() {}\n"),
        (Lang::Tsx, "let x = ", ";\nfunction after() {}\n"),
        (Lang::TypeScript, "let x = ", ";\nfunction after() {}\n"),
        (Lang::Yaml, "a: ", "\nb: 1\n"),
    ];

    #[test]
    fn no_error_has_thousands_of_parts() {
        assert!(Lang::ALL.iter().all(|lang| UNCLOSED.iter().any(|case| case.0 == *lang)));
        for &(lang, before, after) in UNCLOSED {
            for open in ["(", "[", "{", "([{", "f(a, ", "(\n", "\"", "'", "`", "<a>", "${", "\"${"]
            {
                let source = [before, &open.repeat(8_000 / open.len()), after].concat();
                let parsed = match read_within(source.as_bytes(), lang, Limits::default()) {
                    Ok(parsed) => parsed,
                    Err(error) => panic!("{lang} {open}: {error}"),
                };
                let mut widest = 0;
                walk(&parsed.tree, |node, _, _| {
                    widest = widest.max(if node.is_error() { node.child_count() } else { 0 });
                    true
                });
                assert!(widest <= WIDEST, "{lang} {open}: {widest} parts");
            }
        }
    }

    #[test]
    fn what_comes_after_unclosed_brackets_is_read() {
        let source = format!("x = {}\n\ndef after():\n    run()\n", "(".repeat(100_000));
        let read = read_within(source.as_bytes(), Lang::Python, Limits::default()).expect("a tree");
        assert_eq!(read.too_deep.first().map(|rows| rows.0), Some(0));
        assert!(walk_kinds(&read.tree, 2), "{}", read.tree.root_node().to_sexp());
    }

    #[test]
    fn shallow_code_is_parsed_once() {
        let mut count = 0;
        let source = b"def f(a):\n    return (a + 1) * 2\n";
        let read = read(source, 500, b'a', |bytes| {
            count += 1;
            crate::parse(bytes, Lang::Python)
        });
        let read = read.expect("it parses");
        assert!(count == 1 && read.too_deep.is_empty() && read.unread.is_empty());
    }

    #[test]
    fn lines_that_the_grammar_does_not_understand_are_named() {
        let source = b"def f(a):\n    return a\n\n)) %% ((\n\ndef g(b):\n    return b\n";
        let read = read_within(source, Lang::Python, Limits::default()).expect("it parses");
        assert_eq!(read.unread, [(3, 3)]);
    }
}
