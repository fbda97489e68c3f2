//! What a condition says about the values that it tests.

use std::rc::Rc;

use quorum_syntax::Lang;

use super::ir::{Call, Const, Expr, ExprKind, Op};
use super::machine::Machine;
use super::scope::join_scopes;
use super::value::{ALL_HARMS, Harms, Value, harms, narrowing};

/// How many conditions inside one another may leave open which of their sides holds.
const DOUBTS: usize = 8;

/// What a number can do no more that is at most this.
fn held_by(bound: &Value) -> Harms {
    let bits = match (&bound.constant, bound.path.as_deref()) {
        (Some(Const::Int(number)), _) => 64 - number.max(&0).leading_zeros(),
        (None, Some(path)) => match path.rsplit('.').next() {
            Some("MaxInt16" | "MaxUint16") => 16,
            Some("MaxInt32" | "MaxUint32") => 32,
            Some("MaxInt64" | "MaxUint64" | "MaxInt" | "MaxUint") => 63,
            // Whoever compares with a bound of their own knows how large the number can be.
            _ => 0,
        },
        _ => 0,
    };
    match bits {
        0..=8 => narrowing(),
        9..=16 => narrowing() & !harms(&["narrow8", "signed8"]),
        17..=32 => harms(&["narrow", "signed64", "signed32"]),
        _ => harms(&["signed64"]),
    }
}

impl Machine<'_> {
    /// Takes a condition for true or false.
    pub(super) fn assume(&mut self, condition: &Expr, holds: bool) {
        match &condition.kind {
            ExprKind::Not(inner) => self.assume(inner, !holds),
            ExprKind::Pass(inner) | ExprKind::Typed(_, Some(inner)) => self.assume(inner, holds),
            ExprKind::Binary(Op::And, left, right) if holds => {
                self.assume(left, true);
                self.assume(right, true);
            }
            ExprKind::Binary(Op::Or | Op::Else, left, right) if !holds => {
                self.assume(left, false);
                self.assume(right, false);
            }
            ExprKind::Binary(Op::Or | Op::Else | Op::And, left, right) => {
                // One of them, nobody knows which: what both say is known. Every level reads its
                // left side twice, so deep ones are left alone.
                if self.doubts >= DOUBTS {
                    return;
                }
                self.doubts += 1;
                let before = Rc::clone(&self.scope);
                self.assume(left, holds);
                let first = std::mem::replace(&mut self.scope, before);
                self.assume(left, !holds);
                self.assume(right, holds);
                self.scope = join_scopes(&mut self.fuel, &first, &self.scope);
                self.doubts -= 1;
            }
            ExprKind::Binary(op @ (Op::Eq | Op::Ne), left, right) => {
                self.assume_equal(left, right, (*op == Op::Eq) == holds);
            }
            ExprKind::Binary(op @ (Op::Gt | Op::Ge | Op::Lt | Op::Le), left, right) => {
                let less = matches!(op, Op::Lt | Op::Le) == holds;
                let (small, bound) = if less { (left, right) } else { (right, left) };
                if is_place(small) {
                    let bound = self.eval(bound);
                    self.clean_name(small, held_by(&bound));
                }
                // Whoever compares a number with a bound knows how large it can be.
                for side in [left, right] {
                    if is_place(side) {
                        self.clean_name(side, harms(&["dos"]));
                    }
                    if let Some(measured) = measured(side) {
                        self.clean_name(measured, harms(&["dos"]));
                    }
                }
                // `x.indexOf("..") >= 0`
                let found = matches!(op, Op::Gt | Op::Ge) == holds;
                if let ExprKind::Call(call) = &left.kind
                    && matches!(&right.kind, ExprKind::Const(Const::Int(_)) | ExprKind::Binary(..))
                {
                    self.assume_call(call, found);
                }
            }
            ExprKind::Binary(op @ (Op::In | Op::NotIn), left, right) => {
                let inside = (*op == Op::In) == holds;
                if let ExprKind::Const(Const::Text(text)) = &left.kind {
                    if !inside && dangerous(text) {
                        self.clean_name(right, path_harms());
                    }
                } else if inside {
                    self.clean_host_of(left);
                    let set = self.eval(right);
                    if set.any_taint().is_none() {
                        self.clean_name(left, ALL_HARMS);
                    }
                }
            }
            ExprKind::Call(call) => self.assume_call(call, holds),
            ExprKind::Assign(_, value) => self.assume(value, holds),
            ExprKind::Index(set, key) if holds => {
                // `if allowed[x] { … }`
                let set = self.eval(set);
                if set.any_taint().is_none() {
                    self.clean_name(key, ALL_HARMS);
                }
            }
            ExprKind::Name(name) => {
                // `ok := allowed(x); if ok { … }`
                if let Some(test) = self.take_test(name) {
                    self.assume(&test, holds);
                }
            }
            // `if not urlparse(x).netloc`
            _ if !holds => self.clean_host_of(condition),
            _ => {}
        }
    }

    /// The host of an address was compared: the address leads where it may.
    fn clean_host_of(&mut self, tested: &Expr) {
        let part = match &tested.kind {
            ExprKind::Field(object, name) => Some((object, name)),
            ExprKind::Call(call) => match &call.callee.kind {
                ExprKind::Field(object, name) => Some((object, name)),
                _ => None,
            },
            _ => None,
        };
        if let Some((address, name)) = part
            && matches!(
                &**name,
                "netloc"
                    | "hostname"
                    | "host"
                    | "origin"
                    | "domain"
                    | "authority"
                    | "getHost"
                    | "Host"
                    | "Hostname"
                    | "getAuthority"
                    | "is_absolute"
            )
        {
            self.clean_kin(address, harms(&["redirect", "ssrf", "address"]));
        }
    }

    /// Marks everything that comes from where a value comes from as harmless.
    fn clean_kin(&mut self, expr: &Expr, harms: Harms) {
        let Some(taint) = self.eval(expr).any_taint() else { return };
        let mut kin = Vec::new();
        self.scope.each(&mut |name, value| {
            if let Some(own) = &value.taint
                && Rc::ptr_eq(&own.source, &taint.source)
            {
                let taint = Some(own.cleaned(harms));
                kin.push((Rc::clone(name), Value { taint, ..value.clone() }));
            }
        });
        self.charge(self.scope.len() / 8);
        for (name, value) in kin {
            self.set(&name, value);
        }
    }

    /// The test that a variable holds the outcome of. It is taken away, as `ok = ok && f(x)` would
    /// lead back to itself.
    fn take_test(&mut self, name: &Rc<str>) -> Option<Rc<Expr>> {
        let mut value = self.scope.get(name)?.clone();
        let test = value.test.take()?;
        self.set(name, value);
        Some(test)
    }

    fn assume_equal(&mut self, left: &Expr, right: &Expr, equal: bool) {
        for (one, other) in [(left, right), (right, left)] {
            if self.lang == Lang::Go && matches!(other.kind, ExprKind::Const(Const::Null)) {
                // `err := check(x); if err == nil { … }`
                let test = match &one.kind {
                    ExprKind::Name(name) => self.take_test(name),
                    ExprKind::Call(_) => Some(Rc::new(one.clone())),
                    _ => None,
                };
                if let Some(ExprKind::Call(call)) = test.as_deref().map(|test| &test.kind)
                    && callee_name(call).is_some_and(|name| promises(&name))
                {
                    self.assume_call(call, equal);
                    return;
                }
            }
            if let ExprKind::Call(call) = &one.kind {
                if let ExprKind::Const(Const::Bool(yes)) = &other.kind {
                    self.assume_call(call, *yes == equal);
                    return;
                }
                if matches!(other.kind, ExprKind::Const(Const::Int(0)))
                    && callee_name(call).is_some_and(|name| &*name == "indexOf")
                {
                    // `x.indexOf("/folder/") === 0`
                    if equal && let ExprKind::Field(receiver, _) = &call.callee.kind {
                        self.assume_begins(call, Some(receiver));
                    }
                    return;
                }
                if let ExprKind::Const(Const::Int(_)) | ExprKind::Binary(..) = &other.kind
                    && let Some(name) = callee_name(call)
                    && matches!(&*name, "indexOf" | "search" | "find" | "IndexOf" | "Index")
                {
                    // `x.indexOf("..") == -1`
                    self.assume_call(call, !equal);
                    return;
                }
            }
        }
        if !equal {
            return;
        }
        for (one, other) in [(left, right), (right, left)] {
            if let ExprKind::Call(call) = &one.kind
                && callee_name(call).is_some_and(|name| {
                    matches!(&*name, "commonprefix" | "commonpath" | "dirname" | "relative")
                })
            {
                self.clean_kin(one, path_harms());
            }
            if self.eval(other).any_taint().is_none() {
                self.clean_host_of(one);
            }
            let known = self.eval(other);
            if known.any_taint().is_some() {
                continue;
            }
            if let ExprKind::Name(name) = &one.kind
                && known.constant.is_some()
            {
                self.update(name, Value { taint: None, items: None, ..known });
            } else if !matches!(known.constant, Some(Const::Null | Const::Bool(_))) && is_place(one)
            {
                self.clean_name(one, ALL_HARMS);
            }
        }
    }

    fn assume_call(&mut self, call: &Call, holds: bool) {
        let Some(name) = callee_name(call) else { return };
        let lower = name.to_ascii_lowercase();
        let receiver = match &call.callee.kind {
            ExprKind::Field(object, _) => Some(&**object),
            _ => None,
        };
        let first_text = call.args.iter().find_map(|arg| match &arg.value.kind {
            ExprKind::Const(Const::Text(text)) => Some(Rc::clone(text)),
            _ => None,
        });
        let searches = matches!(
            lower.as_str(),
            "contains"
                | "includes"
                | "indexof"
                | "index"
                | "search"
                | "find"
                | "has"
                | "containskey"
                | "include?"
                | "in_array"
                | "any"
                | "containsany"
                | "strpos"
                | "str_contains"
                | "some"
                | "key?"
                | "member?"
                | "hasownproperty"
                | "array_key_exists"
                | "isin"
        );
        if searches {
            if let (Some(text), false) = (&first_text, holds)
                && dangerous(text)
            {
                self.clean_call(call, receiver, path_harms());
            } else if holds && first_text.is_none() {
                let set = receiver.map(|receiver| self.eval(receiver)).unwrap_or_default();
                if set.any_taint().is_none() {
                    for arg in &call.args {
                        self.clean_host_of(&arg.value);
                        self.clean_name(&arg.value, ALL_HARMS);
                    }
                }
            }
            return;
        }
        let begins = lower.starts_with("startswith")
            || lower.starts_with("starts_with")
            || lower.contains("hasprefix")
            || lower == "start_with?"
            || lower == "str_starts_with"
            || lower.contains("isrelativeto")
            || lower.contains("is_relative_to");
        if begins {
            if holds {
                self.assume_begins(call, receiver);
            } else if first_text.as_deref().is_some_and(dangerous) {
                self.clean_call(call, receiver, path_harms());
            }
            return;
        }
        if lower == "isabsolute" && !holds {
            // An address without a host leads nowhere else.
            if let Some(receiver) = receiver {
                self.clean_kin(receiver, harms(&["redirect", "ssrf", "address"]));
            }
            return;
        }
        if tests(&lower) && holds {
            if lower == "equals" || lower == "equalsignorecase" {
                let constant = first_text.is_some()
                    || matches!(receiver.map(|r| &r.kind), Some(ExprKind::Const(_)));
                // `"x".equals(cookie.name())` tests the name and not the cookie.
                let tested = match receiver.map(|receiver| &receiver.kind) {
                    Some(ExprKind::Const(_)) => call.args.first().map(|arg| &arg.value),
                    _ => receiver,
                };
                let places = tested.is_none_or(is_place);
                if !constant || !places {
                    return;
                }
            }
            self.clean_call(call, receiver, ALL_HARMS);
        }
    }

    /// A value begins with what it should.
    fn assume_begins(&mut self, call: &Call, receiver: Option<&Expr>) {
        let mut kept = harms(&["redirect", "ssrf"]);
        if self.is_resolved(receiver) {
            kept |= path_harms();
        }
        self.clean_call(call, receiver, kept);
        let Some(receiver) = receiver else { return };
        if !is_place(receiver) {
            self.clean_kin(receiver, kept);
        } else if self.lang == Lang::Java {
            // The canonical form of a path was tested; the file that is opened is the same.
            self.clean_kin(receiver, path_harms());
        }
    }

    /// Whether a path has no `..` left in it that would lead out of the folder it starts with.
    /// In scripts paths are plain text, so something has to have taken them away.
    fn is_resolved(&mut self, receiver: Option<&Expr>) -> bool {
        if !matches!(self.lang, Lang::JavaScript | Lang::TypeScript | Lang::Tsx) {
            return true;
        }
        let Some(receiver) = receiver else { return true };
        let value = self.eval(receiver);
        let Some(taint) = value.any_taint() else { return true };
        let resolves = |text: &str| {
            ["resolve", "normalize", "join", "realpath", "relative"]
                .iter()
                .any(|name| text.contains(name))
        };
        let mut steps = std::iter::successors(taint.last.as_ref(), |step| step.before.as_ref());
        value.path.as_deref().is_some_and(resolves) || steps.any(|step| resolves(&step.note))
    }

    fn clean_call(&mut self, call: &Call, receiver: Option<&Expr>, harms: Harms) {
        if let Some(receiver) = receiver {
            self.clean_name(receiver, harms);
        }
        for arg in &call.args {
            self.clean_name(&arg.value, harms);
        }
    }

    /// Marks the variable at the root of an expression as harmless.
    pub(super) fn clean_name(&mut self, expr: &Expr, harms: Harms) {
        if let ExprKind::Pass(inner) = &expr.kind {
            self.clean_name(inner, harms);
            return;
        }
        let Some(name) = root(expr) else { return };
        if let ExprKind::Field(object, field) = &expr.kind
            && is_place(expr)
        {
            // Only this field was tested.
            let mut own = self.eval(expr);
            if own.taint.is_some() {
                own.taint = own.taint.map(|taint| taint.cleaned(harms));
                let key = Some(super::value::Key::Text(Rc::clone(field)));
                self.store(object, key, own, expr.span);
            }
            return;
        }
        let mut value = self.lookup(&name);
        if value.any_taint().is_none() {
            if harms == ALL_HARMS && value.constant.is_none() && self.scope.contains_key(&name) {
                // It is one of those that are allowed.
                self.update(&name, Value { settled: true, ..value });
            }
            return;
        }
        value.taint = value.taint.map(|taint| taint.cleaned(harms));
        if let Some(items) = &value.items {
            let mut items = (**items).clone();
            for item in items.known.values_mut() {
                item.taint = item.taint.as_ref().map(|taint| taint.cleaned(harms));
            }
            value.items = Some(Rc::new(items));
        }
        self.update(&name, value);
    }
}

/// Whether an expression is a variable or a part of one, not something computed from it.
fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..) => true,
        ExprKind::Pass(inner) => is_place(inner),
        _ => false,
    }
}

/// The text or list whose length an expression is: `x.length`, `len(x)`, `x.length()`.
fn measured(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Pass(inner) => measured(inner),
        ExprKind::Field(object, name) if &**name == "length" => Some(&**object),
        ExprKind::Call(call) => match (&call.callee.kind, call.args.as_slice()) {
            (ExprKind::Name(name), [only]) if &**name == "len" => Some(&only.value),
            (ExprKind::Field(object, name), []) if &**name == "length" => Some(&**object),
            _ => None,
        },
        _ => None,
    }
}

fn path_harms() -> Harms {
    harms(&["path", "file"])
}

/// Text whose absence makes a path or an address harmless.
fn dangerous(text: &str) -> bool {
    matches!(text, ".." | "../" | "/.." | "/" | "\\" | "..\\" | "./" | "//" | "..%2f" | "%2e%2e")
}

/// The variable that an expression is made from.
fn root(expr: &Expr) -> Option<Rc<str>> {
    match &expr.kind {
        ExprKind::Name(name) => Some(Rc::clone(name)),
        ExprKind::Field(inner, _)
        | ExprKind::Pass(inner)
        | ExprKind::Index(inner, _)
        | ExprKind::Typed(_, Some(inner)) => root(inner),
        ExprKind::Call(call) => match &call.callee.kind {
            ExprKind::Field(object, _) if !matches!(object.kind, ExprKind::Name(_)) => root(object),
            ExprKind::Field(object, _) => match call.args.first() {
                Some(first) if matches!(first.value.kind, ExprKind::Name(_)) => root(&first.value),
                _ => root(object),
            },
            _ => call.args.first().and_then(|arg| root(&arg.value)),
        },
        _ => None,
    }
}

fn callee_name(call: &Call) -> Option<Rc<str>> {
    match &call.callee.kind {
        ExprKind::Name(name) | ExprKind::Field(_, name) => Some(Rc::clone(name)),
        _ => None,
    }
}

/// Whether a name, in small letters, is one of a test whose outcome says that a value is harmless.
fn tests(name: &str) -> bool {
    [
        "valid",
        "allowed",
        "safe",
        "whitelist",
        "allowlist",
        "permitted",
        "trusted",
        "sanitiz",
        "matches",
        "ismatch",
        "fullmatch",
        "islocal",
        "issubset",
        "authorized",
        "check",
        "verify",
        "match",
        "isdigit",
        "isalnum",
        "isnumeric",
        "isnan",
        "isinteger",
        "is_numeric",
        "ctype",
        "isalpha",
        "equals",
        "has_allowed",
        "islocalurl",
        "url_has_allowed_host_and_scheme",
        "is_safe",
    ]
    .iter()
    .any(|word| name.contains(word))
        || matches!(name, "test" | "exec")
}

/// Whether a function that returns an error returns none only when it finds nothing wrong.
fn promises(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["valid", "check", "verify", "ensure", "safe", "allow", "sanitiz", "assert"]
        .iter()
        .any(|word| name.contains(word))
}

/// Whether the outcome of an expression says something about the values in it.
pub(super) fn is_test(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Pass(inner) | ExprKind::Not(inner) | ExprKind::Typed(_, Some(inner)) => {
            is_test(inner)
        }
        ExprKind::Binary(Op::And | Op::Or, left, right) => is_test(left) || is_test(right),
        ExprKind::Call(call) => callee_name(call).is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            tests(&name)
                || ["startswith", "hasprefix", "contains", "includes", "ensure"]
                    .iter()
                    .any(|word| name.contains(word))
        }),
        _ => false,
    }
}
