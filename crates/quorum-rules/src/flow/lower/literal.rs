//! Literals.

use std::rc::Rc;

use quorum_syntax::Node;

use super::{Lowerer, children};
use crate::flow::ir::{Const, Expr, ExprKind};

impl Lowerer<'_> {
    /// A string: constant, or put together where something is interpolated.
    pub(super) fn string(&mut self, node: Node<'_>) -> Expr {
        let parts = children(node);
        let interpolated = parts.iter().any(|part| is_hole(part.kind()));
        if !interpolated {
            return Self::make(node, ExprKind::Const(Const::Text(unquote(self.text(node)))));
        }
        let mut out = Vec::new();
        for part in parts {
            if is_hole(part.kind()) {
                let inner = part.child_by_field_name("expression").or_else(|| {
                    children(part).into_iter().find(|inner| {
                        !matches!(
                            inner.kind(),
                            "format_specifier" | "type_conversion" | "interpolation_brace"
                        )
                    })
                });
                if let Some(inner) = inner {
                    out.push(self.expr(inner));
                } else if part.kind() == "variable_name" {
                    out.push(self.expr(part));
                }
            } else if matches!(part.kind(), "string_start" | "string_end") {
            } else {
                let text = Const::Text(Rc::from(self.text(part)));
                out.push(Self::make(part, ExprKind::Const(text)));
            }
        }
        Self::make(node, ExprKind::Join(out))
    }

    pub(super) fn number(&self, node: Node<'_>) -> Expr {
        let text: String = self.text(node).chars().filter(|c| *c != '_').collect();
        let digits = text.trim_end_matches(['L', 'l', 'u', 'U', 'n']);
        let value = if let Some(hex) =
            digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))
        {
            i64::from_str_radix(hex, 16).ok()
        } else if let Some(octal) = digits.strip_prefix("0o").or_else(|| digits.strip_prefix("0O"))
        {
            i64::from_str_radix(octal, 8).ok()
        } else if digits.len() > 1
            && digits.starts_with('0')
            && digits.chars().all(|c| c.is_digit(8))
        {
            i64::from_str_radix(digits, 8).ok()
        } else {
            digits.parse().ok()
        };
        let kind = value.map_or_else(
            || ExprKind::Const(Const::Text(Rc::from(text.as_str()))),
            |value| ExprKind::Const(Const::Int(value)),
        );
        Self::make(node, kind)
    }
}

fn is_hole(kind: &str) -> bool {
    matches!(
        kind,
        "interpolation"
            | "template_substitution"
            | "variable_name"
            | "member_access_expression"
            | "subscript_expression"
            | "simple_expansion"
            | "dynamic_variable_name"
    )
}

/// The text of a literal without its quotes; escapes of the simple kind are resolved.
pub(super) fn unquote(text: &str) -> Rc<str> {
    let start = text.find(['"', '\'', '`']);
    let Some(start) = start.filter(|at| *at <= 4) else { return Rc::from(text) };
    let mut inner = &text[start..];
    for quote in ["\"\"\"", "'''", "\"", "'", "`"] {
        if inner.len() >= 2 * quote.len() && inner.starts_with(quote) && inner.ends_with(quote) {
            inner = &inner[quote.len()..inner.len() - quote.len()];
            break;
        }
    }
    let inner = inner.trim_end_matches('#');
    if !inner.contains('\\') {
        return Rc::from(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(quote @ ('"' | '\'' | '`')) => out.push(quote),
                Some(other) => {
                    out.push('\\');
                    if other != '\\' {
                        out.push(other);
                    }
                }
                None => out.push('\\'),
            }
        } else {
            out.push(c);
        }
    }
    Rc::from(out)
}
