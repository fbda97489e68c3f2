//! What is known about a value.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ir::{Const, Expr, Function, Span};
use super::scope::Scope;

/// Kinds of harm, as bits: a sanitiser prevents some of them.
pub(super) type Harms = u64;

/// Every harm at once.
pub(super) const ALL_HARMS: Harms = u64::MAX;

const HARMS: &[&str] = &[
    "sql",
    "command",
    "code",
    "path",
    "html",
    "ssrf",
    "redirect",
    "ldap",
    "xpath",
    "header",
    "log",
    "template",
    "deserialize",
    "xml",
    "regex",
    "nosql",
    "format",
    "trust",
    "file",
    "type",
    "proto",
    "mass",
    "dos",
    "email",
    "disclosure",
    "csv",
    "narrow",
    "narrow16",
    "narrow8",
    "signed64",
    "signed32",
    "signed16",
    "signed8",
    "predictable",
    "address",
    "prompt",
    "intent",
];

/// The bit of a harm; names that are not in the list share the last one.
pub(super) fn harm(name: &str) -> Harms {
    let at = HARMS.iter().position(|known| *known == name).unwrap_or(63);
    1 << at
}

/// The bits of several harms; `*` is all.
pub(super) fn harms<S: AsRef<str>>(names: &[S]) -> Harms {
    names.iter().fold(0, |bits, name| match name.as_ref() {
        "*" => ALL_HARMS,
        name => bits | harm(name),
    })
}

/// What a number can do whose size nobody checked: lose its upper bits, or become negative.
pub(super) fn narrowing() -> Harms {
    harms(&["narrow", "narrow16", "narrow8", "signed64", "signed32", "signed16", "signed8"])
}

/// What was done to a value that makes a difference later, as bits.
pub(super) type Marks = u16;

const MARKS: &[&str] = &[
    "xml-safe",
    "xml-general-off",
    "xml-parameter-off",
    "cookie-secure",
    "cookie-http-only",
    "types-limited",
    "chosen",
];

/// The mark of what was looked up under a name that somebody outside chose.
pub(super) fn chosen() -> Marks {
    mark("chosen").unwrap_or_default()
}

/// The bit of a mark, where there is one of this name.
pub(super) fn mark(name: &str) -> Option<Marks> {
    MARKS.iter().position(|known| *known == name).map(|at| 1 << at)
}

/// The path of values that are numbers or flags: nobody's text.
pub(super) const NUMBER: &str = "number";

/// Stands at the start of a prefix for text that is not known and that nobody outside chose.
pub(super) const UNKNOWN_START: char = '\u{1}';

/// What is known about a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Value {
    /// The value itself.
    pub(super) constant: Option<Const>,
    /// Whether it is one of several constants, depending on the way that led here.
    pub(super) settled: bool,
    /// The text with which it starts, where only that is known.
    pub(super) prefix: Option<Rc<str>>,
    /// That it comes from outside.
    pub(super) taint: Option<Rc<Taint>>,
    /// What it is called: the import, type or call that it comes from, with dots.
    pub(super) path: Option<Rc<str>>,
    /// Its elements or fields, as far as they are known.
    pub(super) items: Option<Rc<Items>>,
    /// The function that it is.
    pub(super) function: Option<Rc<Closure>>,
    /// What was done to it.
    pub(super) marks: Marks,
    /// The test whose outcome it is.
    pub(super) test: Option<Rc<Expr>>,
    /// Which object it is, where several names may stand for one.
    pub(super) identity: Option<u32>,
}

/// A function with the variables around it.
#[derive(Debug)]
pub(super) struct Closure {
    pub(super) function: Rc<Function>,
    pub(super) scope: Rc<Scope>,
    pub(super) this: Option<Value>,
}

/// Elements with keys that are known. What is stored under other keys is in the container's taint.
#[derive(Clone, Debug, Default)]
pub(super) struct Items {
    pub(super) known: BTreeMap<Key, Value>,
    /// Whether it is a list whose length is known.
    pub(super) list: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Int(i64),
    Text(Rc<str>),
}

impl Key {
    pub(super) fn of(constant: &Const) -> Option<Self> {
        match constant {
            Const::Int(number) => Some(Self::Int(*number)),
            Const::Text(text) => Some(Self::Text(Rc::clone(text))),
            _ => None,
        }
    }
}

/// Where a value comes from and how it got here.
#[derive(Debug)]
pub(super) struct Taint {
    pub(super) source: Rc<Origin>,
    /// What it can do no more.
    pub(super) clean: Harms,
    /// How sure it is that it still carries what came in.
    pub(super) certainty: f64,
    pub(super) last: Option<Rc<Step>>,
}

/// Where a value comes in.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) span: Span,
    pub(super) note: Rc<str>,
    /// 1 is a request of a stranger; less is weaker.
    pub(super) strength: f64,
}

/// One step of the way.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) span: Span,
    pub(super) note: Rc<str>,
    pub(super) before: Option<Rc<Self>>,
    pub(super) length: usize,
}

/// How many steps are kept.
const STEPS: usize = 12;

impl Taint {
    fn weight(&self) -> (u32, u64) {
        let worth = (self.source.strength * self.certainty * 1000.0).clamp(0.0, 1000.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let worth = worth as u64;
        (64 - self.clean.count_ones(), worth)
    }

    /// The more dangerous of two.
    pub(super) fn worse(a: Option<&Rc<Self>>, b: Option<&Rc<Self>>) -> Option<Rc<Self>> {
        match (a, b) {
            (Some(a), Some(b)) => Some(Rc::clone(if b.weight() > a.weight() { b } else { a })),
            (Some(one), None) | (None, Some(one)) => Some(Rc::clone(one)),
            (None, None) => None,
        }
    }

    pub(super) fn step(self: &Rc<Self>, span: Span, note: &str) -> Rc<Self> {
        let length = self.last.as_ref().map_or(0, |last| last.length);
        let same_row = self.last.as_ref().is_some_and(|last| last.span.row == span.row)
            || (self.last.is_none() && self.source.span.row == span.row);
        if length >= STEPS || same_row {
            return Rc::clone(self);
        }
        let before = self.last.clone();
        let last = Some(Rc::new(Step { span, note: Rc::from(note), before, length: length + 1 }));
        Rc::new(Self { last, source: Rc::clone(&self.source), ..**self })
    }

    /// Whether it can do nothing any more that needs text: a number may still be large.
    pub(super) fn is_harmless(&self) -> bool {
        self.clean | narrowing() | harms(&["predictable", "dos"]) == ALL_HARMS
    }

    pub(super) fn cleaned(self: &Rc<Self>, harms: Harms) -> Rc<Self> {
        let (source, last) = (Rc::clone(&self.source), self.last.clone());
        Rc::new(Self { clean: self.clean | harms, source, last, certainty: self.certainty })
    }

    pub(super) fn doubted(self: &Rc<Self>, factor: f64) -> Rc<Self> {
        let (source, last) = (Rc::clone(&self.source), self.last.clone());
        Rc::new(Self { certainty: self.certainty * factor, source, last, clean: self.clean })
    }
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::constant(Const::Text(Rc::from(text)))
    }

    pub(super) fn constant(constant: Const) -> Self {
        Self { constant: Some(constant), ..Self::default() }
    }

    pub(super) fn at(path: &str) -> Self {
        Self { path: Some(Rc::from(path)), ..Self::default() }
    }

    pub(super) fn tainted(taint: Option<Rc<Taint>>) -> Self {
        Self { taint, ..Self::default() }
    }

    /// The taint of the value or of anything in it.
    pub(super) fn any_taint(&self) -> Option<Rc<Taint>> {
        let mut worst = self.taint.clone();
        if let Some(items) = &self.items {
            for value in items.known.values() {
                worst = Taint::worse(worst.as_ref(), value.any_taint().as_ref());
            }
        }
        worst
    }

    /// The taint that can do this harm.
    pub(super) fn harmful(&self, harm: Harms) -> Option<Rc<Taint>> {
        self.any_taint().filter(|taint| taint.clean & harm == 0)
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.constant {
            Some(Const::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The constant as code would print it.
    pub(super) fn printed(&self) -> Option<String> {
        Some(match self.constant.as_ref()? {
            Const::Text(text) | Const::Pattern(text) => text.to_string(),
            Const::Int(number) => number.to_string(),
            Const::Bool(yes) => yes.to_string(),
            Const::Null => "null".to_owned(),
        })
    }

    /// Whether the code itself spells it out, once or once for each way.
    pub(super) fn is_spelt_out(&self) -> bool {
        self.constant.is_some() || (self.settled && self.taint.is_none())
    }

    /// Whether it is constant, or at least nothing that anybody could choose: a number, or a name
    /// that is spelt like a constant.
    pub(super) fn is_plain(&self) -> bool {
        let shouted = |path: &str| {
            let last = path.rsplit('.').next().unwrap_or(path);
            last.len() > 1 && !last.contains(|c: char| c.is_lowercase() || c == '(')
        };
        self.taint.as_ref().is_none_or(|taint| taint.is_harmless())
            && (self.is_spelt_out()
                || self.path.as_deref().is_some_and(|path| path == NUMBER || shouted(path)))
    }

    /// What is known at a place that two ways lead to.
    pub(super) fn join(&self, other: &Self) -> Self {
        if super::memo::same(self, other, 0, &mut 0) {
            return self.clone();
        }
        let null = |value: &Self| value.constant == Some(Const::Null);
        if null(self) && other.constant.is_none() {
            return other.clone();
        }
        if null(other) && self.constant.is_none() {
            return self.clone();
        }
        let constant = if self.constant == other.constant { self.constant.clone() } else { None };
        let items = match (&self.items, &other.items) {
            (Some(a), Some(b)) if Rc::ptr_eq(a, b) => Some(Rc::clone(a)),
            (Some(a), Some(b)) if a.known.len() == b.known.len() || !(a.list || b.list) => {
                Some(Rc::new(a.join(b)))
            }
            (Some(a), None) if other.is_blank() => Some(Rc::clone(a)),
            (None, Some(b)) if self.is_blank() => Some(Rc::clone(b)),
            _ => None,
        };
        let taint = if items.is_some() {
            Taint::worse(self.taint.as_ref(), other.taint.as_ref())
        } else {
            Taint::worse(self.any_taint().as_ref(), other.any_taint().as_ref())
        };
        let settled = constant.is_none() && self.is_spelt_out() && other.is_spelt_out();
        Self {
            settled,
            prefix: if settled || constant.is_some() { None } else { self.common_start(other) },
            path: match (&self.path, &other.path) {
                (Some(a), Some(b)) if a != b => None,
                (a, b) => a.clone().or_else(|| b.clone()),
            },
            function: self.function.clone().or_else(|| other.function.clone()),
            marks: self.marks & other.marks,
            test: match (&self.test, &other.test) {
                (Some(a), Some(b)) if Rc::ptr_eq(a, b) => Some(Rc::clone(a)),
                _ => None,
            },
            identity: if self.identity == other.identity { self.identity } else { None },
            constant,
            taint,
            items,
        }
    }

    /// The text with which both of two values start.
    fn common_start(&self, other: &Self) -> Option<Rc<str>> {
        let start = |value: &Self| match &value.constant {
            Some(Const::Text(text)) => Some(Rc::clone(text)),
            _ => value.prefix.clone(),
        };
        let (a, b) = (start(self)?, start(other)?);
        if a == b {
            return Some(a);
        }
        let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
        let length: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
        (length > 0).then(|| Rc::from(&a[..length]))
    }

    /// Whether nothing was stored in it since the other one was copied from it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let taints = match (&self.taint, &other.taint) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let items = match (&self.items, &other.items) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        taints && items
    }

    pub(super) fn is_blank(&self) -> bool {
        self.constant.is_none() && self.taint.is_none() && self.items.is_none()
    }
}

impl Items {
    fn join(&self, other: &Self) -> Self {
        let mut known = self.known.clone();
        for (key, value) in &other.known {
            match known.get_mut(key) {
                Some(own) if super::memo::same(own, value, 0, &mut 0) => {}
                Some(own) => *own = own.join(value),
                None => {
                    known.insert(key.clone(), value.clone());
                }
            }
        }
        Self { known, list: self.list && other.list }
    }
}
