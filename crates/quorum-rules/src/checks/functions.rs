//! The functions of a file, and how large and branched they are.

use std::collections::HashMap;

use quorum_syntax::{Lang, Node};

use super::syntax::{end_line, field, is_comment, line, parts, text, walk};

/// How a language spells what is measured.
pub(crate) struct Shape {
    /// Kinds of nodes that are functions with a name of their own.
    pub(crate) functions: &'static [&'static str],
    /// Kinds of nodes that are functions without one.
    pub(crate) lambdas: &'static [&'static str],
    /// Kinds of nodes that take one of two ways.
    branches: &'static [&'static str],
    /// Kinds of nodes that are one way of several.
    cases: &'static [&'static str],
    /// Kinds of nodes that indent what they hold.
    nesting: &'static [&'static str],
    /// Kinds of nodes that hold functions and name them.
    pub(crate) containers: &'static [&'static str],
    /// Kinds of nodes of parameters that are not chosen by the caller.
    receivers: &'static [&'static str],
}

const GO: Shape = Shape {
    functions: &["function_declaration", "method_declaration"],
    lambdas: &["func_literal"],
    branches: &["if_statement", "for_statement"],
    cases: &["expression_case", "type_case", "communication_case"],
    nesting: &[
        "if_statement",
        "for_statement",
        "expression_switch_statement",
        "type_switch_statement",
        "select_statement",
    ],
    containers: &[],
    receivers: &[],
};

const RUST: Shape = Shape {
    functions: &["function_item"],
    lambdas: &["closure_expression"],
    branches: &["if_expression", "while_expression", "for_expression", "loop_expression"],
    cases: &["match_arm"],
    nesting: &[
        "if_expression",
        "while_expression",
        "for_expression",
        "loop_expression",
        "match_expression",
    ],
    containers: &["impl_item", "trait_item", "mod_item"],
    receivers: &["self_parameter"],
};

const PYTHON: Shape = Shape {
    functions: &["function_definition"],
    lambdas: &["lambda"],
    branches: &[
        "if_statement",
        "elif_clause",
        "for_statement",
        "while_statement",
        "except_clause",
        "conditional_expression",
        "if_clause",
        "for_in_clause",
    ],
    cases: &["case_clause"],
    nesting: &[
        "if_statement",
        "for_statement",
        "while_statement",
        "try_statement",
        "with_statement",
        "match_statement",
    ],
    containers: &["class_definition"],
    receivers: &["keyword_separator", "positional_separator"],
};

const SCRIPT: Shape = Shape {
    functions: &[
        "function_declaration",
        "generator_function_declaration",
        "method_definition",
        "function_expression",
        "arrow_function",
    ],
    lambdas: &["function_expression", "arrow_function"],
    branches: &[
        "if_statement",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "catch_clause",
        "ternary_expression",
    ],
    cases: &["switch_case"],
    nesting: &[
        "if_statement",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
        "try_statement",
    ],
    containers: &["class_declaration", "class"],
    receivers: &[],
};

const JAVA: Shape = Shape {
    functions: &["method_declaration", "constructor_declaration"],
    lambdas: &["lambda_expression"],
    branches: &[
        "if_statement",
        "for_statement",
        "enhanced_for_statement",
        "while_statement",
        "do_statement",
        "catch_clause",
        "ternary_expression",
    ],
    cases: &["switch_label"],
    nesting: &[
        "if_statement",
        "for_statement",
        "enhanced_for_statement",
        "while_statement",
        "do_statement",
        "switch_expression",
        "try_statement",
        "try_with_resources_statement",
        "synchronized_statement",
    ],
    containers: &[
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
    ],
    receivers: &["receiver_parameter"],
};

/// How `lang` spells functions; absent where they are not measured.
pub(crate) fn shape(lang: Lang) -> Option<&'static Shape> {
    Some(match lang {
        Lang::Go => &GO,
        Lang::Rust => &RUST,
        Lang::Python => &PYTHON,
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => &SCRIPT,
        Lang::Java => &JAVA,
        _ => return None,
    })
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Function<'t> {
    /// Its name with the names of what holds it, such as `Server.Close`.
    pub(crate) name: String,
    /// All of it.
    pub(crate) node: Node<'t>,
    /// Its statements.
    pub(crate) body: Node<'t>,
}

impl Function<'_> {
    /// How large and branched it is; counted when it is asked for.
    pub(crate) fn size(&self, lang: Lang, source: &str) -> Size {
        shape(lang).map(|shape| measure(self.node, self.body, shape, source)).unwrap_or_default()
    }
}

/// How large and branched a function is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Ways through it: one, and one more for each branch, case and short-circuit operator.
    pub(crate) cyclomatic: usize,
    /// The same, where the cases of a flat choice count as one: a table is easy to read.
    pub(crate) branching: usize,
    /// Lines with code.
    pub(crate) lines: usize,
    /// The deepest level of control flow.
    pub(crate) nesting: usize,
    /// What a caller passes.
    pub(crate) parameters: usize,
}

/// The named functions below `root`, in the order of the text.
pub(crate) fn functions<'t>(root: Node<'t>, lang: Lang, source: &str) -> Vec<Function<'t>> {
    let Some(shape) = shape(lang) else { return Vec::new() };
    let mut found = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    walk(root, |node| {
        if shape.functions.contains(&node.kind())
            && let Some(body) = node.child_by_field_name("body")
            && let Some(mut name) = name(node, shape, source)
        {
            let number = seen.entry(name.clone()).or_insert(0);
            *number += 1;
            if *number > 1 {
                name = format!("{name}#{number}");
            }
            found.push(Function { name, node, body });
        }
        true
    });
    found
}

/// The name of a function, with what holds it; absent for one that has none.
fn name(node: Node<'_>, shape: &Shape, source: &str) -> Option<String> {
    let own = match field(node, "name", source) {
        Some(name) => name,
        None => assigned_name(node, source)?,
    };
    let mut full = own.to_owned();
    if let Some(receiver) = field(node, "receiver", source) {
        let holder =
            receiver.trim_matches(['(', ')']).rsplit([' ', '*']).next().unwrap_or_default();
        full = format!("{}.{full}", holder.split('[').next().unwrap_or_default());
    }
    let mut above = node.parent();
    while let Some(node) = above {
        let holder = match node.kind() {
            "impl_item" => field(node, "type", source),
            kind if shape.containers.contains(&kind) => field(node, "name", source),
            kind if shape.functions.contains(&kind) => field(node, "name", source),
            _ => None,
        };
        if let Some(holder) = holder {
            full = format!("{}.{full}", holder.split('<').next().unwrap_or_default());
        }
        above = node.parent();
    }
    Some(full)
}

/// `name = () => …` and `{ name: function … }`.
fn assigned_name<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    let parent = node.parent()?;
    match parent.kind() {
        "variable_declarator" | "public_field_definition" | "field_definition" => {
            field(parent, "name", source).or_else(|| field(parent, "property", source))
        }
        "assignment_expression" => field(parent, "left", source),
        "pair" => field(parent, "key", source),
        _ => None,
    }
}

fn measure(node: Node<'_>, body: Node<'_>, shape: &Shape, source: &str) -> Size {
    let (cyclomatic, branching, nesting) = ways(body, shape, source);
    Size {
        cyclomatic,
        branching,
        lines: code_lines(body, source),
        nesting,
        parameters: parameters(node, shape),
    }
}

fn ways(body: Node<'_>, shape: &Shape, source: &str) -> (usize, usize, usize) {
    let (mut branches, mut busy_cases, mut choices, mut cases) = (0, 0, 0, 0);
    let mut deepest = 0;
    walk(body, |node| {
        let kind = node.kind();
        // A function within this one is counted where it stands, unless it has no name.
        if node != body && is_named_inside(node, shape, source) {
            return false;
        }
        if shape.branches.contains(&kind) || is_short_circuit(node, source) {
            branches += 1;
        }
        if shape.cases.contains(&kind) {
            cases += 1;
            if is_busy(node, shape) {
                busy_cases += 1;
            }
        }
        if shape.nesting.contains(&kind) {
            deepest = deepest.max(depth(node, body, shape));
            if holds_cases(node, shape) {
                choices += 1;
            }
        }
        true
    });
    (1 + branches + cases, 1 + branches + busy_cases + choices, deepest)
}

fn is_named_inside(node: Node<'_>, shape: &Shape, source: &str) -> bool {
    shape.functions.contains(&node.kind())
        && !shape.lambdas.contains(&node.kind())
        && node.child_by_field_name("body").is_some()
        && field(node, "name", source).is_some()
}

fn is_short_circuit(node: Node<'_>, source: &str) -> bool {
    match node.kind() {
        "binary_expression" | "boolean_operator" => node
            .child_by_field_name("operator")
            .is_some_and(|op| matches!(text(op, source), "&&" | "||" | "??" | "and" | "or")),
        _ => false,
    }
}

/// Whether a case decides anything itself.
fn is_busy(case: Node<'_>, shape: &Shape) -> bool {
    super::syntax::any(case, |node| node != case && shape.branches.contains(&node.kind()))
}

fn holds_cases(node: Node<'_>, shape: &Shape) -> bool {
    let mut found = false;
    walk(node, |child| {
        found = found || shape.cases.contains(&child.kind());
        !found && (child == node || !shape.nesting.contains(&child.kind()))
    });
    found
}

/// Levels of control flow around and including `node`, an `else if` being on the level of its `if`.
fn depth(node: Node<'_>, body: Node<'_>, shape: &Shape) -> usize {
    let mut depth = 0;
    let mut at = Some(node);
    while let Some(node) = at {
        if node == body {
            break;
        }
        let parent = node.parent();
        let chained = node.kind().starts_with("if_")
            && parent.is_some_and(|parent| {
                parent.kind() == "else_clause"
                    || (parent.kind() == node.kind()
                        && parent.child_by_field_name("alternative") == Some(node))
            });
        if shape.nesting.contains(&node.kind()) && !chained {
            depth += 1;
        }
        at = parent;
    }
    depth
}

fn code_lines(body: Node<'_>, source: &str) -> usize {
    let mut commented = std::collections::HashSet::new();
    walk(body, |node| {
        let starts_line = || {
            let start = node.start_byte();
            source[..start].rfind('\n').is_none_or(|at| source[at..start].trim().is_empty())
        };
        if is_comment(node) && starts_line() {
            commented.extend(line(node)..=end_line(node));
        }
        !is_comment(node)
    });
    (line(body)..)
        .zip(text(body, source).lines())
        .filter(|(number, line)| !line.trim().is_empty() && !commented.contains(number))
        .count()
}

fn parameters(node: Node<'_>, shape: &Shape) -> usize {
    let Some(list) = node.child_by_field_name("parameters") else { return 0 };
    let counted = parts(list).into_iter().filter(|part| !shape.receivers.contains(&part.kind()));
    counted
        .map(|part| {
            // Go: `a, b int` declares two.
            let mut cursor = part.walk();
            part.children_by_field_name("name", &mut cursor).count().max(1)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(source: &str, lang: Lang) -> Vec<(String, Size)> {
        let tree = quorum_syntax::parse(source.as_bytes(), lang).expect("it parses");
        functions(tree.root_node(), lang, source)
            .into_iter()
            .map(|f| (f.name.clone(), f.size(lang, source)))
            .collect()
    }

    #[test]
    fn ways_levels_lines_and_parameters_are_counted() {
        let go = "package p\nfunc (s *Server) Run(a, b int, c string) {\n\tif a > 0 && b > 0 {\n\t\tfor {\n\t\t\t// why\n\n\t\t\twork()\n\t\t}\n\t} else if c == \"\" {\n\t}\n}\n";
        let expected = Size { cyclomatic: 5, branching: 5, lines: 8, nesting: 2, parameters: 3 };
        assert_eq!(sizes(go, Lang::Go), [("Server.Run".to_owned(), expected)]);
    }

    #[test]
    fn a_flat_choice_is_one_branch() {
        let rust =
            "impl A { fn f(&self, x: u8) -> u8 { match x { 0 => 1, 1 => 2, 2 => 3, _ => 4 } } }";
        let found = sizes(rust, Lang::Rust);
        assert_eq!(found[0].0, "A.f");
        assert_eq!((found[0].1.cyclomatic, found[0].1.branching), (5, 2));
        assert_eq!(found[0].1.parameters, 1);
    }

    #[test]
    fn functions_are_named_after_what_holds_them() {
        let names = |source, lang| -> Vec<String> {
            sizes(source, lang).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names("class A:\n    def f(self): pass\n", Lang::Python), ["A.f"]);
        assert_eq!(
            names("class A { m() {} }\nconst f = () => { };\nlist.map(x => x);", Lang::TypeScript),
            ["A.m", "f"]
        );
        assert_eq!(
            names("class A { A() {} void f() {} void f(int x) {} }", Lang::Java),
            ["A.A", "A.f", "A.f#2"]
        );
    }
}
