//! Small readings of syntax trees that many checks share.

use quorum_syntax::Node;

/// Calls `visit` for every node in the order of the text; where it answers `false`, the node's
/// children are left out. Deep trees cost no stack.
pub(crate) fn walk<'t>(root: Node<'t>, mut visit: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The text of a node.
pub(crate) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The line on which a node starts, from 1.
pub(crate) fn line(node: Node<'_>) -> u64 {
    node.start_position().row as u64 + 1
}

/// The line on which a node ends, from 1.
pub(crate) fn end_line(node: Node<'_>) -> u64 {
    let end = node.end_position();
    let row =
        if end.column == 0 && end.row > node.start_position().row { end.row } else { end.row + 1 };
    row as u64
}

/// The text of the field `name`.
pub(crate) fn field<'s>(node: Node<'_>, name: &str, source: &'s str) -> Option<&'s str> {
    node.child_by_field_name(name).map(|child| text(child, source))
}

/// The named children that are not comments.
pub(crate) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !is_comment(*child)).collect()
}

/// Whether the node is a comment.
pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment")
}

/// Whether a comment stands anywhere below the node.
pub(crate) fn has_comment(node: Node<'_>) -> bool {
    any(node, is_comment)
}

/// Whether any node from `root` down satisfies `test`.
pub(crate) fn any<'t>(root: Node<'t>, mut test: impl FnMut(Node<'t>) -> bool) -> bool {
    let mut found = false;
    walk(root, |node| {
        found = found || test(node);
        !found
    });
    found
}

/// The nearest node above that has one of these kinds.
pub(crate) fn enclosing<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    std::iter::successors(node.parent(), Node::parent).find(|above| kinds.contains(&above.kind()))
}

/// Without parentheses around it.
pub(crate) fn bare(mut node: Node<'_>) -> Node<'_> {
    while node.kind() == "parenthesized_expression" {
        match parts(node).first().copied() {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// Whether two nodes are spelt the same, however they are spaced.
pub(crate) fn same(a: Node<'_>, b: Node<'_>, source: &str) -> bool {
    let (mut left, mut right) = (leaves(a), leaves(b));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(x), Some(y))
                if x.kind_id() == y.kind_id() && text(x, source) == text(y, source) => {}
            _ => return false,
        }
    }
}

/// The leaves below a node that are not comments, in the order of the text. String contents that
/// a grammar splits into quotes and fragments come as it splits them.
pub(crate) fn leaves(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut stack = vec![root];
    std::iter::from_fn(move || {
        while let Some(node) = stack.pop() {
            if is_comment(node) {
                continue;
            }
            let count = node.child_count();
            if count == 0 {
                return Some(node);
            }
            let mut cursor = node.walk();
            let children: Vec<_> = node.children(&mut cursor).collect();
            stack.extend(children.into_iter().rev());
        }
        None
    })
}

/// Whether the expression gives the same value each time it is read: names, fields and literals.
pub(crate) fn is_stable(root: Node<'_>) -> bool {
    !any(root, |node| {
        let kind = node.kind();
        kind.contains("call")
            || kind.contains("invocation")
            || kind.contains("creation")
            || kind.contains("await")
            || kind.contains("macro")
            || kind.contains("assignment")
            || kind.contains("update")
            || kind.contains("closure")
            || kind.contains("function")
            || kind == "new_expression"
            || kind == "receive_expression"
            || (kind == "unary_expression" && node.child(0).is_some_and(|op| op.kind() == "<-"))
            || kind == "yield"
            || kind == "ERROR"
    })
}

/// What a finding quotes of a node: its first lines, as they stand in the file.
pub(crate) fn quote(node: Node<'_>, source: &str) -> String {
    const LINES: usize = 4;
    const BYTES: usize = 400;
    let whole = text(node, source);
    let end = whole.match_indices('\n').nth(LINES - 1).map_or(whole.len(), |(at, _)| at);
    let mut end = end.min(whole.len());
    if end > BYTES {
        end = whole[..floor_boundary(whole, BYTES)]
            .rfind('\n')
            .unwrap_or(floor_boundary(whole, BYTES));
    }
    // The first line begins where the node does; the others, where the line of the node does.
    let before = source.get(..node.start_byte()).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let indentation = &line[..line.len() - line.trim_start().len()];
    crate::finding::dedent(&[indentation, &whole[..end]].concat())
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
