//! Where values do harm.

use std::rc::Rc;

use super::call::Given;
use super::ir::{Expr, Function, Span};
use super::machine::Machine;
use super::tables::{ArgSelector, CallRule, CompiledTest};
use super::value::{Key, Taint, UNKNOWN_START, Value, harm};

/// Something that a rule speaks about.
#[derive(Debug)]
pub(super) struct Hit {
    /// The number of the call rule.
    pub(super) call: usize,
    pub(super) span: Span,
    pub(super) confidence: f64,
    pub(super) taint: Option<Rc<Taint>>,
}

impl Machine<'_> {
    /// Looks whether rules speak about a call.
    pub(super) fn check_call(&mut self, path: &str, given: &Given<'_>, span: Span) {
        let numbers: Vec<usize> = self.tables.by_callee.find(path).copied().collect();
        for number in numbers {
            self.judge(number, given, span);
        }
    }

    /// Looks whether rules speak about an assignment to a field.
    pub(super) fn check_target(
        &mut self,
        object: &Expr,
        name: &Rc<str>,
        value: &Value,
        span: Span,
    ) {
        let holder = self.eval(object);
        let path = super::eval::joined_path(&holder, name);
        self.mark_assigned(&path, object, &holder, value);
        self.judge_assigned(&path, value, span);
    }

    /// The same for an element, such as `headers["X"]`.
    pub(super) fn check_index_target(
        &mut self,
        object: &Expr,
        key: &Value,
        value: &Value,
        span: Span,
    ) {
        if key.taint.is_some() {
            let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
            let args = vec![(None, key.clone())];
            let given = Given { this: Value::default(), args, texts: vec![text] };
            self.check_call("[]=", &given, span);
        }
        let object = self.eval(object);
        let name = key.as_text().unwrap_or("[]").to_owned();
        let path = super::eval::joined_path(&object, &name);
        self.judge_assigned(&path, value, span);
        if key.as_text().is_some() {
            let path = super::eval::joined_path(&object, "[]");
            self.judge_assigned(&path, value, span);
        }
    }

    /// The same for a plain name.
    pub(super) fn check_name_target(&mut self, name: &Rc<str>, value: &Value, span: Span) {
        self.judge_assigned(name, value, span);
    }

    fn judge_assigned(&mut self, path: &str, value: &Value, span: Span) {
        let numbers: Vec<usize> = self.tables.by_target.find(path).copied().collect();
        for number in numbers {
            let given = Given {
                this: Value::default(),
                args: vec![(None, value.clone())],
                texts: vec![
                    self.text.get(span.start as usize..span.end as usize).unwrap_or_default(),
                ],
            };
            self.judge(number, &given, span);
        }
    }

    /// What a handler returns is sent to whoever asked.
    pub(super) fn returned_from(&mut self, function: &Function) {
        let numbers: Vec<usize> = self.tables.by_callee.find("return").copied().collect();
        if numbers.is_empty() || function.annotations.is_empty() {
            return;
        }
        let values = self.returned.clone();
        for value in values {
            let Some(taint) = value.any_taint() else { continue };
            let span = taint.last.as_ref().map_or(taint.source.span, |last| last.span);
            let mut text = function.annotations.join(" ");
            if let Some(returns) = &function.returns {
                text.push_str(" -> ");
                text.push_str(returns);
            }
            for &number in &numbers {
                let given = Given {
                    this: Value::text(&text),
                    args: vec![(None, value.clone())],
                    texts: vec![""],
                };
                self.judge(number, &given, span);
            }
        }
    }

    fn judge(&mut self, number: usize, given: &Given<'_>, span: Span) {
        let tables = self.tables;
        let rule = &tables.calls[number];
        if !self.file_fits(number)
            || !rule.values.iter().all(|test| holds(test, given, true))
            || rule.unless.iter().any(|test| holds(test, given, false))
            || !self.used_well(rule)
            || !self.stands_well(number)
        {
            return;
        }
        let confidence = rule.shape().confidence.unwrap_or(rule.rule.confidence);
        let span = self.field_span(rule).unwrap_or(span);
        if rule.tainted.is_empty() {
            self.hit(number, span, confidence, None);
            return;
        }
        if rule.harm == harm("command") && program_is_fixed(given) {
            return;
        }
        let worst = rule
            .tainted
            .iter()
            .flat_map(|selector| select(selector, given))
            .filter(|value| !(rule.positional && host_is_fixed(value)))
            .filter_map(|value| value.harmful(rule.harm))
            .reduce(|a, b| Taint::worse(Some(&a), Some(&b)).unwrap_or(a));
        if let Some(taint) = worst
            && self.is_slow_enough(rule, given)
        {
            let confidence = confidence * taint.source.strength * taint.certainty;
            self.hit(number, span, confidence, Some(taint));
        }
    }

    /// Whether the expressions that a rule asks about can take long. Asked last, as it takes long too.
    fn is_slow_enough(&mut self, rule: &CallRule, given: &Given<'_>) -> bool {
        rule.values.iter().all(|test| {
            let Some(matching) = test.test.slow else { return true };
            select(&test.arg, given).into_iter().any(|value| match &value.constant {
                Some(super::ir::Const::Pattern(text) | super::ir::Const::Text(text)) => {
                    let known = self.slow.get(&(Rc::clone(text), matching));
                    known.copied().unwrap_or_else(|| {
                        let slow = crate::checks::is_polynomial(text, matching);
                        self.slow.insert((Rc::clone(text), matching), slow);
                        slow
                    })
                }
                _ => false,
            })
        })
    }

    /// Where the field stands that a rule speaks about: a struct literal can have many lines.
    fn field_span(&self, rule: &CallRule) -> Option<Span> {
        let named = rule.values.iter().find_map(|test| match &test.arg {
            ArgSelector::Name(name) if test.test.present != Some(false) => Some(name.as_str()),
            _ => None,
        })?;
        let field = self.field_spans.iter().find(|(name, _)| **name == *named);
        field.map(|(_, span)| *span)
    }

    /// What else the function around a call does.
    fn stands_well(&mut self, number: usize) -> bool {
        let tables = self.tables;
        let rule = &tables.calls[number];
        if rule.near_has.is_none() && rule.near_lacks.is_none() {
            return true;
        }
        let place = (number, self.stack.last().map(|function| function.id));
        if let Some(&known) = self.stands.get(&place) {
            return known;
        }
        let near = self.stack.last().map_or(self.text, |function| {
            let (start, end) = (function.span.start as usize, function.span.end as usize);
            self.text.get(start..end).unwrap_or(self.text)
        });
        let well = rule.near_has.as_ref().is_none_or(|regex| regex.is_match(near))
            && rule.near_lacks.as_ref().is_none_or(|regex| !regex.is_match(near));
        self.stands.insert(place, well);
        well
    }

    /// Whether the file as a whole is one that a rule speaks about.
    fn file_fits(&mut self, number: usize) -> bool {
        let tables = self.tables;
        let rule = &tables.calls[number];
        if rule.file_has.is_none() && rule.file_lacks.is_none() {
            return true;
        }
        let text = self.text;
        *self.concerns.entry(number).or_insert_with(|| {
            rule.file_has.as_ref().is_none_or(|regex| regex.is_match(text))
                && rule.file_lacks.as_ref().is_none_or(|regex| !regex.is_match(text))
        })
    }

    /// What the result is called, or the function around it, can tell what it is for.
    fn used_well(&self, rule: &CallRule) -> bool {
        if rule.used_as.is_none() && rule.not_used_as.is_none() {
            return true;
        }
        let mut names = String::new();
        if let Some(wanted) = &self.wanted {
            names.push_str(wanted);
        }
        if let Some(function) = self.stack.last() {
            names.push(' ');
            names.push_str(&function.name);
        }
        rule.used_as.as_ref().is_none_or(|regex| regex.is_match(&names))
            && rule.not_used_as.as_ref().is_none_or(|regex| !regex.is_match(&names))
    }

    fn hit(&mut self, call: usize, span: Span, confidence: f64, taint: Option<Rc<Taint>>) {
        let rule = std::sync::Arc::as_ptr(&self.tables.calls[call].rule) as usize;
        let next = self.hits.len();
        let at = *self.hits_at.entry((span.row, rule)).or_insert(next);
        match self.hits.get_mut(at) {
            Some(known) if known.confidence >= confidence => {}
            Some(known) => *known = Hit { call, span, confidence, taint },
            None => self.hits.push(Hit { call, span, confidence, taint }),
        }
    }
}

/// The values that a selector names.
pub(super) fn select<'v>(selector: &ArgSelector, given: &'v Given<'_>) -> Vec<&'v Value> {
    let plain = || given.args.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value);
    let named = |wanted: &str| {
        given
            .args
            .iter()
            .filter(|(name, _)| name.as_deref() == Some(wanted))
            .map(|(_, value)| value)
            .next()
            .or_else(|| in_options(given, wanted))
    };
    match selector {
        ArgSelector::Position(at) => plain().nth(*at).into_iter().collect(),
        ArgSelector::Name(name) => named(name).into_iter().collect(),
        ArgSelector::Either(at, name) => {
            named(name).or_else(|| plain().nth(*at)).into_iter().collect()
        }
        ArgSelector::From(at) => plain().skip(*at).collect(),
        ArgSelector::This => vec![&given.this],
        ArgSelector::Any => given.args.iter().map(|(_, value)| value).collect(),
    }
}

/// Scripts pass named arguments as fields of an object.
fn in_options<'v>(given: &'v Given<'_>, wanted: &str) -> Option<&'v Value> {
    let key = Key::Text(Rc::from(wanted));
    given.args.iter().find_map(|(_, value)| {
        value.items.as_ref().filter(|items| !items.list).and_then(|items| items.known.get(&key))
    })
}

fn holds(test: &CompiledTest, given: &Given<'_>, all: bool) -> bool {
    let values = select(&test.arg, given);
    if let Some(present) = test.test.present
        && values.is_empty() == present
    {
        return false;
    }
    if values.is_empty() {
        return test.test.present == Some(false)
            || (all && test.not_matches.is_some() && test.matches.is_none());
    }
    let spelled = |regex: &crate::pattern::Expression| match &test.arg {
        ArgSelector::Position(at) | ArgSelector::Either(at, _) => {
            regex.is_match(given.texts.get(*at).copied().unwrap_or_default())
        }
        _ => {
            given.texts.iter().any(|text| regex.is_match(text))
                || regex.is_match(&given.texts.join(", "))
        }
    };
    if test.text.as_ref().is_some_and(|regex| !spelled(regex)) {
        return false;
    }
    let one = |value: &&Value| {
        let printed = value.printed();
        test.matches
            .as_ref()
            .is_none_or(|regex| printed.as_deref().is_some_and(|text| regex.is_match(text)))
            && test
                .not_matches
                .as_ref()
                .is_none_or(|regex| printed.as_deref().is_none_or(|text| !regex.is_match(text)))
            && test.test.constant.is_none_or(|wanted| {
                if wanted { is_known(value) } else { !is_known(value) && !value.is_plain() }
            })
            && test.test.tainted.is_none_or(|wanted| value.any_taint().is_some() == wanted)
            && test.test.below.is_none_or(|limit| match &value.constant {
                Some(super::ir::Const::Int(number)) => *number < limit,
                _ => false,
            })
            && test.mark.is_none_or(|wanted| value.marks & wanted == wanted)
            && test.begins.as_ref().is_none_or(|regex| {
                value.constant.is_none()
                    && !is_checked(value)
                    && value.prefix.as_deref().is_some_and(|text| regex.is_match(text))
            })
            && test
                .from
                .as_ref()
                .is_none_or(|regex| value.path.as_deref().is_some_and(|path| regex.is_match(path)))
    };
    values.iter().any(one)
}

/// Whether it came from outside and was found to be harmless.
fn is_checked(value: &Value) -> bool {
    value.any_taint().is_some_and(|taint| taint.is_harmless())
}

/// Whether a value is known as a whole.
fn is_known(value: &Value) -> bool {
    value.is_spelt_out()
        || is_checked(value)
        || value.items.as_ref().is_some_and(|items| {
            value.taint.is_none() && !items.known.is_empty() && items.known.values().all(is_known)
        })
}

/// Whether the program is constant, runs no commands of its own, and gets no shell: then what comes
/// from outside is one argument among others.
fn program_is_fixed(given: &Given<'_>) -> bool {
    let Some((_, first)) = given.args.iter().find(|(name, _)| name.is_none()) else { return false };
    let inner = first
        .items
        .as_ref()
        .filter(|items| items.list)
        .and_then(|items| items.known.get(&Key::Int(0)));
    let Some(program) = inner.unwrap_or(first).as_text() else { return false };
    let shell = given.texts.iter().any(|text| text.contains("shell"))
        || given.args.iter().any(|(name, value)| {
            name.as_deref() == Some("shell")
                && value.constant != Some(super::ir::Const::Bool(false))
        });
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).trim_end_matches(".exe");
    let runs_others = matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "cmd"
            | "powershell"
            | "pwsh"
            | "env"
            | "sudo"
            | "su"
            | "ssh"
            | "xargs"
            | "python"
            | "python3"
            | "perl"
            | "ruby"
            | "node"
            | "php"
            | "find"
            | "awk"
            | "sed"
            | "nohup"
            | "eval"
            | "docker"
            | "kubectl"
            | "git"
            | "tar"
            | "rsync"
            | "curl"
            | "wget"
            | "busybox"
            | "nice"
            | "timeout"
            | "ps"
            | "/bin/sh"
    );
    !shell && !runs_others && !program.contains(' ')
}

/// Whether an address begins with a host that the code itself names, or is a path on this one.
fn host_is_fixed(value: &Value) -> bool {
    let Some(prefix) = value.prefix.as_deref() else { return false };
    let prefix = prefix.trim_start_matches("redirect:").trim_start_matches("forward:");
    if let Some(rest) = prefix.strip_prefix(UNKNOWN_START) {
        // `base + "/path/" + …`
        return rest.contains(['/', '?', '#']);
    }
    if let Some((_, rest)) = prefix.split_once("://") {
        return rest.contains(['/', '?', '#']);
    }
    prefix.starts_with('/')
        && prefix.len() > 1
        && !prefix.starts_with("//")
        && !prefix.starts_with("/\\")
}

/// The text of an argument.
pub(super) fn text_of<'t>(text: &'t str, expr: &Expr) -> &'t str {
    text.get(expr.span.start as usize..expr.span.end as usize).unwrap_or_default()
}
