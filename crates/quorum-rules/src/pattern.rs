//! Code with metavariables, as a shape of the tree.

mod expression;
mod literal;
mod shape;

use std::borrow::Cow;

use quorum_syntax::Lang;
use quorum_syntax::grep::language::Language as _;
use quorum_syntax::grep::matcher::Pattern;
use quorum_syntax::grep::meta_var::MetaVarEnv;
use quorum_syntax::grep::tree_sitter::StrDoc;
use quorum_syntax::grep::{AstGrep, Matcher as _, Node};

pub(crate) use expression::Expression;
pub(crate) use literal::is_constant;
pub(crate) use shape::CompiledShape;

/// A document with its tree.
pub(crate) type Document = StrDoc<Lang>;
/// A node of it.
pub(crate) type SyntaxNode<'t> = Node<'t, Document>;
/// What the metavariables of a pattern stand for.
pub(crate) type Bindings<'t> = MetaVarEnv<'t, Document>;

/// What has to stand around a statement or an expression for it to be one.
fn surroundings(lang: Lang) -> (&'static str, &'static str) {
    match lang {
        Lang::Go => ("package p\nfunc _() {\n", "\n}\n"),
        Lang::Java | Lang::CSharp => ("class A { void f() {\n", "\n} }\n"),
        Lang::C | Lang::Cpp => ("void f() {\n", "\n}\n"),
        Lang::Rust => ("fn f() {\n", "\n}\n"),
        Lang::Kotlin => ("fun f() {\n", "\n}\n"),
        Lang::Php => ("<?php\n", "\n"),
        _ => ("", ""),
    }
}

/// Reads a pattern as what it would be inside a function, or else as what stands alone.
pub(crate) fn compile(text: &str, lang: Lang) -> Result<Pattern, String> {
    let (before, after) = surroundings(lang);
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    let end = if before.is_empty() || trimmed.ends_with([';', '}']) || lang == Lang::Go {
        after.to_owned()
    } else {
        format!(";{after}")
    };
    within(before, trimmed, &end, lang)
        .or_else(|| within(before, trimmed, after, lang))
        .or_else(|| within(if lang == Lang::Php { before } else { "" }, trimmed, "\n", lang))
        .or_else(|| within("class A {\n", trimmed, "\n}\n", lang))
        .ok_or_else(|| format!("`{trimmed}` cannot be read as {lang}"))
}

fn within(before: &str, text: &str, after: &str, lang: Lang) -> Option<Pattern> {
    let processed: Cow<'_, str> = lang.pre_process_pattern(text);
    let source = format!("{before}{processed}{after}");
    let grep = AstGrep::doc(StrDoc::try_new(&source, lang).ok()?);
    let (start, end) = (before.len(), before.len() + processed.len());
    let root = grep.root();
    if is_broken(root.get_inner_node()) {
        return None;
    }
    let mut node = root.get_inner_node().descendant_for_byte_range(start, end)?;
    while let Some(only) = only_child(node) {
        if (only.start_byte(), only.end_byte()) != (node.start_byte(), node.end_byte()) {
            break;
        }
        node = only;
    }
    if node.start_byte() < start || node.end_byte() > end {
        return None;
    }
    Some(Pattern::from(grep.adopt(node)))
}

/// A terminator that is missing is no harm: `$$$` may stand for statements.
fn is_broken(node: quorum_syntax::Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.is_error() || node.has_error() && node.children(&mut cursor).any(|child| is_broken(child))
}

/// `$$$` stands for no argument as well, and then its comma is not there either.
pub(crate) fn variants(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    for (with, without) in [(", $$$)", ")"), ("($$$, ", "(")] {
        for index in 0..all.len() {
            if all[index].contains(with) {
                all.push(all[index].replace(with, without));
            }
        }
    }
    all
}

fn only_child(node: quorum_syntax::Node<'_>) -> Option<quorum_syntax::Node<'_>> {
    if node.child_count() == 1 { node.child(0) } else { None }
}

/// The kinds of node that a pattern can match; none stands for any.
pub(crate) fn start_kinds(pattern: &Pattern) -> Option<Vec<u16>> {
    let kinds = pattern.potential_kinds()?;
    Some(kinds.iter().filter_map(|kind| u16::try_from(kind).ok()).collect())
}

#[cfg(test)]
mod tests {
    use quorum_syntax::grep::matcher::MatcherExt as _;

    use super::*;

    fn found(pattern: &str, lang: Lang, source: &str) -> bool {
        let pattern = compile(pattern, lang).expect("the pattern is good");
        let grep = AstGrep::doc(StrDoc::try_new(source, lang).expect("it parses"));
        grep.root().dfs().any(|node| pattern.match_node(node).is_some())
    }

    #[test]
    fn a_call_is_a_call_in_every_language() {
        for (lang, source) in [
            (Lang::Go, "package p\nfunc g() { a.Query(x, 1) }"),
            (Lang::Java, "class B { int g() { return a.Query(x, 1); } }"),
            (Lang::CSharp, "class B { int g() { return a.Query(x, 1); } }"),
            (Lang::Python, "y = a.Query(x, 1)"),
            (Lang::JavaScript, "let y = a.Query(x, 1)"),
            (Lang::TypeScript, "let y: any = a.Query(x, 1)"),
            (Lang::Tsx, "let y = a.Query(x, 1)"),
            (Lang::Rust, "fn g() { let y = a.Query(x, 1); }"),
            (Lang::Ruby, "y = a.Query(x, 1)"),
            (Lang::C, "int g() { return a.Query(x, 1); }"),
            (Lang::Cpp, "int g() { return a.Query(x, 1); }"),
            (Lang::Kotlin, "fun g() { val y = a.Query(x, 1) }"),
        ] {
            assert!(found("$A.Query($$$ARGS)", lang, source), "{lang}");
            assert!(!found("$A.Exec($$$ARGS)", lang, source), "{lang}");
        }
        assert!(found("$A->query($X)", Lang::Php, "<?php $y = $db->query($x);"));
    }

    #[test]
    fn statements_and_declarations_are_read() {
        assert!(found("defer $X()", Lang::Go, "package p\nfunc g() { defer f() }"));
        let source = "class B { void finalize() { } }";
        assert!(found("void finalize() { }", Lang::Java, source));
        assert!(compile("if (", Lang::Java).is_err());
    }
}
