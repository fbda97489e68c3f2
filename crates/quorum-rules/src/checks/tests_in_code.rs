//! Which code is test code, and what the tests of a file are.

use quorum_syntax::{Lang, Node};

use super::syntax::{text, walk};

/// Whether the node stands in test code within a file that is not one: Rust's inline test modules.
pub(crate) fn is_test_code(node: Node<'_>, lang: Lang, source: &str) -> bool {
    lang == Lang::Rust
        && std::iter::successors(Some(node), Node::parent).any(|node| {
            matches!(node.kind(), "mod_item" | "function_item") && has_test_attribute(node, source)
        })
}

fn has_test_attribute(item: Node<'_>, source: &str) -> bool {
    let mut before = item.prev_named_sibling();
    while let Some(node) = before {
        match node.kind() {
            "attribute_item" => {
                let spelt = text(node, source);
                if spelt.contains("test") || spelt.contains("bench") {
                    return true;
                }
            }
            "line_comment" | "block_comment" => {}
            _ => return false,
        }
        before = node.prev_named_sibling();
    }
    false
}

/// The names of the tests below `root`, with their nodes.
pub(crate) fn tests<'t>(root: Node<'t>, lang: Lang, source: &str) -> Vec<(String, Node<'t>)> {
    let mut found = Vec::new();
    walk(root, |node| {
        if let Some(name) = test_name(node, lang, source) {
            found.push((name, node));
        }
        true
    });
    found
}

fn test_name(node: Node<'_>, lang: Lang, source: &str) -> Option<String> {
    let name = || node.child_by_field_name("name").map(|name| text(name, source).to_owned());
    match (lang, node.kind()) {
        (Lang::Go, "function_declaration") => {
            name().filter(|name| name.starts_with("Test") || name.starts_with("Fuzz"))
        }
        (Lang::Rust, "function_item") => name().filter(|_| has_test_attribute(node, source)),
        (Lang::Python, "function_definition") => name().filter(|name| name.starts_with("test")),
        (Lang::Java, "method_declaration") => {
            let modifiers = node.named_child(0).filter(|child| child.kind() == "modifiers")?;
            let spelt = text(modifiers, source);
            let is_test = spelt.contains("@Test") || spelt.contains("@ParameterizedTest");
            name().filter(|_| is_test)
        }
        (Lang::JavaScript | Lang::TypeScript | Lang::Tsx, "call_expression") => {
            let function = text(node.child_by_field_name("function")?, source);
            let arguments = node.child_by_field_name("arguments")?;
            let title = arguments.named_child(0).filter(|first| first.kind() == "string")?;
            matches!(
                function,
                "it" | "test" | "it.skip" | "test.skip" | "xit" | "it.only" | "test.only"
            )
            .then(|| text(title, source).trim_matches(['"', '\'', '`']).to_owned())
        }
        _ => None,
    }
}
