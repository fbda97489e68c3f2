//! Whether a value is written out in the code.

use quorum_syntax::Node;

/// Whether a node is a literal, or made of nothing but literals.
pub(crate) fn is_constant(node: Node<'_>) -> bool {
    let kind = node.kind();
    if is_literal(kind) {
        return true;
    }
    let composed = kind.contains("string")
        || kind.contains("template")
        || kind.contains("binary")
        || kind.contains("unary")
        || kind.contains("parenthesized")
        || kind.contains("concat")
        || matches!(kind, "list" | "tuple" | "array" | "pair" | "argument" | "literal_element");
    let mut cursor = node.walk();
    composed && node.named_children(&mut cursor).all(|child| child.is_extra() || is_constant(child))
}

fn is_literal(kind: &str) -> bool {
    matches!(
        kind,
        "true"
            | "false"
            | "null"
            | "nil"
            | "none"
            | "undefined"
            | "integer"
            | "float"
            | "number"
            | "escape_sequence"
            | "string_start"
            | "string_end"
            | "string_content"
            | "string_fragment"
            | "boolean"
            | "symbol"
            | "simple_symbol"
            | "encapsed_string_content"
    ) || kind.ends_with("_literal")
        && !kind.contains("string")
        && !kind.contains("composite")
        && !kind.contains("class")
        || kind.ends_with("_content")
        || matches!(
            kind,
            "raw_string_literal" | "interpreted_string_literal" | "verbatim_string_literal"
        )
}
