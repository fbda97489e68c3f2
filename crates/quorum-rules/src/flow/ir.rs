//! The small common form to which every language is lowered.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Where something stands, in lines counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) row: u32,
    pub(super) end_row: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A value that the code spells out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Const {
    Text(Rc<str>),
    Int(i64),
    Bool(bool),
    Null,
    /// A regular expression, between slashes and with its flags.
    Pattern(Rc<str>),
}

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Const(Const),
    Name(Rc<str>),
    Field(Box<Expr>, Rc<str>),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Call>),
    /// Text put together from parts.
    Join(Vec<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The value is what is assigned.
    Assign(Box<Target>, Box<Expr>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Lambda(Rc<Function>),
    /// Casts, waits and other wraps: the value is what is inside.
    Pass(Box<Expr>),
    /// A value of a named type.
    Typed(Rc<str>, Option<Box<Expr>>),
    /// Something whose value nobody knows, though its parts are evaluated.
    Opaque(Vec<Expr>),
    /// Statements that stand where a value is expected; the last one is the value.
    Block(Vec<Stmt>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    In,
    NotIn,
    /// The left side, or where it is absent the right one.
    Else,
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) callee: Expr,
    pub(super) args: Vec<Arg>,
    pub(super) new: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub(super) name: Option<Rc<str>>,
    pub(super) value: Expr,
}

/// What can be assigned to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Name(Rc<str>),
    Field(Expr, Rc<str>),
    Index(Expr, Expr),
    /// By position.
    Tuple(Vec<Self>),
    /// By name.
    Object(Vec<(Rc<str>, Self)>),
    Nothing,
}

impl Target {
    /// Whether a variable of this name is assigned to.
    pub(super) fn binds(&self, wanted: &str) -> bool {
        match self {
            Self::Name(name) => **name == *wanted,
            Self::Tuple(parts) => parts.iter().any(|part| part.binds(wanted)),
            Self::Object(parts) => parts.iter().any(|(_, part)| part.binds(wanted)),
            Self::Field(..) | Self::Index(..) | Self::Nothing => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Stmt {
    Expr(Expr),
    /// Both branches of a condition.
    If(Expr, Vec<Self>, Vec<Self>),
    /// Condition, body, and what comes after each turn; whether the body runs before the condition.
    Loop {
        condition: Option<Expr>,
        body: Vec<Self>,
        step: Vec<Self>,
        first: bool,
    },
    ForEach {
        target: Target,
        keyed: bool,
        over: Expr,
        body: Vec<Self>,
    },
    Switch {
        subject: Option<Expr>,
        cases: Vec<SwitchCase>,
    },
    Return(Option<Expr>),
    Break,
    Continue,
    Throw(Option<Expr>),
    Try {
        body: Vec<Self>,
        handlers: Vec<(Option<Rc<str>>, Vec<Self>)>,
        last: Vec<Self>,
    },
    Block(Vec<Self>),
    Function(Rc<Function>),
}

impl Stmt {
    /// Where its first part stands, as far as it has one; its statements count with it.
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Expr(value) | Self::Return(Some(value)) | Self::Throw(Some(value)) => value.span,
            Self::If(condition, yes, no) => around(Some(condition.span), yes.iter().chain(no)),
            Self::Loop { condition, body, step, .. } => {
                around(condition.as_ref().map(|value| value.span), body.iter().chain(step))
            }
            Self::ForEach { over, body, .. } => around(Some(over.span), body.iter()),
            Self::Switch { subject, cases } => around(
                subject.as_ref().map(|value| value.span),
                cases.iter().flat_map(|case| &case.body),
            ),
            Self::Try { body, handlers, last } => around(
                None,
                body.iter().chain(handlers.iter().flat_map(|(_, block)| block)).chain(last),
            ),
            Self::Block(block) => around(None, block.iter()),
            Self::Function(function) => function.span,
            Self::Return(None) | Self::Throw(None) | Self::Break | Self::Continue => {
                Span::default()
            }
        }
    }
}

fn around<'s>(first: Option<Span>, rest: impl Iterator<Item = &'s Stmt>) -> Span {
    let spans = first.into_iter().chain(rest.map(Stmt::span)).filter(|span| span.end > 0);
    spans
        .reduce(|a, b| Span {
            row: a.row.min(b.row),
            end_row: a.end_row.max(b.end_row),
            start: a.start.min(b.start),
            end: a.end.max(b.end),
        })
        .unwrap_or_default()
}

#[derive(Clone, Debug)]
pub(super) struct SwitchCase {
    /// None of them: the default.
    pub(super) labels: Vec<Expr>,
    pub(super) body: Vec<Stmt>,
    /// Whether it goes on into the next case.
    pub(super) falls: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) target: Target,
    pub(super) name: Rc<str>,
    pub(super) ty: Option<Rc<str>>,
    pub(super) annotations: Vec<Rc<str>>,
    /// Its value where the caller gives none.
    pub(super) default: Option<Expr>,
    /// Whether it takes all arguments that are left.
    pub(super) rest: bool,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Rc<str>,
    pub(super) class: Option<Rc<str>>,
    pub(super) params: Vec<Param>,
    pub(super) body: Vec<Stmt>,
    pub(super) annotations: Vec<Rc<str>>,
    /// The variables that it declares itself, in languages where another may be meant.
    pub(super) locals: Vec<Rc<str>>,
    pub(super) span: Span,
    /// The type of what it returns, as it is written, where it stands before the name.
    pub(super) returns: Option<Rc<str>>,
    /// Whether nothing outside its class can call it, as far as its declaration says.
    pub(super) hidden: bool,
    /// Its number within the file.
    pub(super) id: usize,
}

#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) name: Rc<str>,
    pub(super) bases: Vec<Rc<str>>,
    pub(super) annotations: Vec<Rc<str>>,
    pub(super) methods: Vec<Rc<Function>>,
    /// The fields that a record is made of, in their order.
    pub(super) components: Vec<Rc<str>>,
    /// What is assigned to fields where they are declared.
    pub(super) fields: Vec<Stmt>,
    pub(super) span: Span,
}

/// One file.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// What a name that is imported stands for.
    pub(super) imports: HashMap<Rc<str>, Rc<str>>,
    pub(super) functions: Vec<Rc<Function>>,
    /// The names of all that is assigned to after its declaration.
    pub(super) assigned: HashSet<Rc<str>>,
    /// The names of all that is called.
    pub(super) called: HashSet<Rc<str>>,
    pub(super) classes: Vec<Class>,
    /// The types of the fields that each type declares.
    pub(super) members: HashMap<Rc<str>, HashMap<Rc<str>, Rc<str>>>,
    pub(super) top: Vec<Stmt>,
}

/// Stands for the name of a field that has none: its type lends it its own.
pub(super) const EMBEDDED: &str = "";
