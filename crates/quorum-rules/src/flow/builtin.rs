//! Methods of text, lists, maps and builders that every language has under some name.

use std::rc::Rc;

use super::call::Given;
use super::eval::joined;
use super::exec::insert;
use super::ir::{Call, Const, ExprKind};
use super::value::{Items, Key, Taint, UNKNOWN_START, Value};

/// The place of what is known about the keys of a map.
const KEYS: &str = "\u{0}keys";

/// What a method does: its result, where it is known, and the receiver afterwards, where it changes.
#[derive(Debug, Default)]
pub(super) struct Effect {
    pub(super) result: Option<Value>,
    pub(super) receiver: Option<Value>,
}

/// The effect of a method, when it is one that is known.
pub(super) fn apply(name: &str, call: &Call, given: &Given<'_>) -> Option<Effect> {
    if !matches!(call.callee.kind, ExprKind::Field(..)) {
        return function(name, given);
    }
    if let Some(text) = given.this.as_text()
        && !(is_builder(&given.this) && grows(name))
    {
        return text_method(name, text, given)
            .map(|result| Effect { result: Some(result), receiver: None });
    }
    container_method(name, given)
}

/// Functions that are no methods.
fn function(name: &str, given: &Given<'_>) -> Option<Effect> {
    if name == "dict" && given.args.iter().all(|(name, _)| name.is_some()) {
        let mut map = Value { items: Some(Rc::default()), ..Value::default() };
        for (name, value) in &given.args {
            insert(&mut map, name.clone().map(Key::Text), value.clone());
        }
        return Some(Effect { result: Some(map), receiver: None });
    }
    let first = &given.args.first()?.1;
    let result = match name {
        "append" => {
            // Go: the new slice.
            let mut list = first.clone();
            for (_, value) in &given.args[1..] {
                push(&mut list, value.clone());
            }
            list
        }
        "str" | "String" | "string" if first.constant.is_some() => Value::text(&first.printed()?),
        "list" | "tuple" | "sorted" | "iter" if first.items.is_some() => first.clone(),
        _ => return None,
    };
    Some(Effect { result: Some(result), receiver: None })
}

fn text_method(name: &str, text: &str, given: &Given<'_>) -> Option<Value> {
    let arg = given.args.first().map(|(_, value)| value);
    let number = |value: &Value| match value.constant {
        Some(Const::Int(number)) => usize::try_from(number).ok(),
        _ => None,
    };
    Some(match name {
        "charAt" | "char_at" => {
            let at = arg.and_then(number)?;
            Value::text(&text.chars().nth(at)?.to_string())
        }
        "length" | "size" | "count" if given.args.is_empty() => {
            Value::constant(Const::Int(i64::try_from(text.chars().count()).ok()?))
        }
        "toLowerCase" | "lower" | "downcase" | "ToLower" => Value::text(&text.to_lowercase()),
        "toUpperCase" | "upper" | "upcase" | "ToUpper" => Value::text(&text.to_uppercase()),
        "trim" | "strip" | "toString" | "String" | "ToString" | "to_s" | "intern" | "encode"
        | "to_string" | "to_owned" | "getBytes" | "Trim" => Value::text(text.trim()),
        "equals" | "Equals" => Value::constant(Const::Bool(arg?.as_text()? == text)),
        "startswith" | "startsWith" => {
            Value::constant(Const::Bool(text.starts_with(arg?.as_text()?)))
        }
        "contains" | "includes" => Value::constant(Const::Bool(text.contains(arg?.as_text()?))),
        "substring" | "substr" => {
            let from = arg.and_then(number)?;
            let to = given.args.get(1).and_then(|(_, value)| number(value));
            let chars: Vec<char> = text.chars().collect();
            let end = to.unwrap_or(chars.len()).min(chars.len());
            Value::text(&chars.get(from..end)?.iter().collect::<String>())
        }
        "format" | "concat" | "join" => {
            let mut taint = None;
            for (_, value) in &given.args {
                taint = Taint::worse(Option::as_ref(&taint), value.any_taint().as_ref());
            }
            if name == "join" && text.is_empty() && taint.is_none() {
                return None;
            }
            let end = text.find('{').unwrap_or(text.len());
            let prefix = if name == "format" || name == "concat" { &text[..end] } else { "" };
            let prefix = (!prefix.is_empty()).then(|| Rc::from(prefix));
            let all_known = given.args.iter().all(|(_, value)| value.constant.is_some());
            if all_known && name == "concat" {
                let rest = given.args.iter().filter_map(|(_, value)| value.printed());
                return Some(Value::text(&(text.to_owned() + &rest.collect::<String>())));
            }
            if all_known && name == "format" && given.args.is_empty() {
                return Some(Value::text(text));
            }
            Value { prefix, taint, ..Value::default() }
        }
        _ => return None,
    })
}

#[expect(clippy::too_many_lines, reason = "one table of what methods are called")]
fn container_method(name: &str, given: &Given<'_>) -> Option<Effect> {
    let first = given.args.first().map(|(_, value)| value);
    let second = given.args.get(1).map(|(_, value)| value);
    let mut receiver = given.this.clone();
    let key = |value: &Value| value.constant.as_ref().and_then(Key::of);
    match name {
        "append" | "add" | "push" | "addElement" | "addLast" | "offer" | "push_back" | "Add"
        | "Append" | "AppendLine" | "WriteString" | "write" | "push_str" | "<<" | "concat"
        | "addAll" | "extend" | "add_all" | "insert" | "unshift" | "Write" | "AddRange"
        | "addFirst" | "enqueue" | "emplace_back" | "insertElementAt" | "offerLast"
        | "offerFirst" | "putLast" => {
            let at = matches!(name, "insert" | "add");
            let value = second.filter(|_| at).or(first)?.clone();
            let text_like = receiver.constant.is_some()
                || receiver.prefix.is_some()
                || receiver.path.as_deref().is_some_and(holds_text);
            if text_like {
                let fresh = receiver.as_text().is_none()
                    && receiver.prefix.is_none()
                    && receiver.taint.is_none();
                let text = if fresh {
                    value
                } else {
                    joined(&[Value { items: None, ..receiver.clone() }, value])
                };
                let taint = Taint::worse(receiver.taint.as_ref(), text.any_taint().as_ref());
                let result = Value {
                    constant: text.constant,
                    settled: text.settled,
                    prefix: text.prefix,
                    taint,
                    ..receiver
                };
                return Some(Effect { result: Some(result.clone()), receiver: Some(result) });
            }
            let length = receiver.items.as_ref().map_or(0, |items| items.known.len());
            let last = first.and_then(|first| match first.constant {
                Some(Const::Int(at)) => usize::try_from(at).ok(),
                _ => None,
            }) == Some(length);
            if at && second.is_some() && !last
                || value.items.is_some() && name.starts_with("add") && name != "add"
                || name == "extend"
            {
                // Which place has what is not known any more; what is in it is.
                receiver.taint =
                    Taint::worse(receiver.any_taint().as_ref(), value.any_taint().as_ref());
                receiver.items = None;
            } else {
                push(&mut receiver, value);
            }
            Some(Effect { result: Some(receiver.clone()), receiver: Some(receiver) })
        }
        "writeObject" | "writeUTF" | "writeBytes" | "writeChars" | "print" | "println"
        | "printf" | "writeUnshared"
            if receiver.path.as_deref().is_some_and(writes) =>
        {
            for (_, value) in &given.args {
                receiver.taint = Taint::worse(receiver.taint.as_ref(), value.any_taint().as_ref());
            }
            Some(Effect { result: None, receiver: Some(receiver) })
        }
        "String" | "toString" | "ToString" | "to_s" | "Bytes" | "getvalue"
            if is_builder(&receiver) && (receiver.prefix.is_some() || receiver.settled) =>
        {
            Some(Effect { result: Some(Value { path: None, ..receiver }), receiver: None })
        }
        "substring" | "substr" => Some(Effect { result: part(&receiver, given), receiver: None }),
        "put" | "set" | "setAttribute" | "setProperty" | "Set" | "setdefault" | "putIfAbsent"
        | "store" => {
            if let (Some(only), None, "set") = (first, second, name) {
                // `ThreadLocal`, `AtomicReference` and their like hold one value.
                receiver.taint = only.any_taint();
                receiver.items = None;
                return Some(Effect { result: None, receiver: Some(receiver) });
            }
            let (Some(at), Some(value)) = (first, second) else { return None };
            // `config.set(section, name, value)`
            let (place, value) = match given.args.get(2) {
                Some((None, third)) if name == "set" => (nested(at, value), third),
                _ => (key(at), value),
            };
            if place.is_none() {
                receiver.taint = Taint::worse(receiver.taint.as_ref(), value.any_taint().as_ref());
            }
            insert(&mut receiver, place, value.clone());
            if let (Some(taint), "put" | "putIfAbsent") = (at.any_taint(), name) {
                // Whoever walks over the keys meets it.
                let keys = Key::Text(Rc::from(KEYS));
                insert(&mut receiver, Some(keys), Value::tainted(Some(taint)));
            }
            Some(Effect { result: None, receiver: Some(receiver) })
        }
        "get" | "getProperty" | "getAttribute" | "getOrDefault" | "at" | "elementAt" | "fetch"
        | "dig" | "Get" | "__getitem__" => {
            let items = receiver.items.as_ref()?;
            let section = second.and_then(|second| nested(first?, second));
            if let Some(value) = section.and_then(|place| items.known.get(&place)) {
                return Some(Effect { result: Some(value.clone()), receiver: None });
            }
            let wanted = key(first?)?;
            let value = items.known.get(&wanted).cloned();
            let value = match (value, &receiver.taint) {
                (Some(value), _) => value,
                (None, None) => second.cloned().unwrap_or_default(),
                (None, Some(_)) => return None,
            };
            Some(Effect { result: Some(value), receiver: None })
        }
        "pop" | "remove" if receiver.items.as_ref().is_some_and(|items| !items.list) => {
            let mut items = (**receiver.items.as_ref()?).clone();
            let taken = items.known.remove(&key(first?)?)?;
            receiver.items = Some(Rc::new(items));
            Some(Effect { result: Some(taken), receiver: Some(receiver) })
        }
        "remove" | "removeAt" | "pop" | "delete_at" | "RemoveAt" | "shift" | "removeFirst"
        | "poll" => {
            let items = receiver.items.clone()?;
            if !items.list {
                return None;
            }
            let length = i64::try_from(items.known.len()).ok()?;
            let at = match first.and_then(|first| first.constant.clone()) {
                Some(Const::Int(at)) if at < 0 => at + length,
                Some(Const::Int(at)) => at,
                None if name == "pop" && first.is_none() => length - 1,
                None if matches!(name, "shift" | "removeFirst" | "poll") => 0,
                _ => return None,
            };
            let mut known = std::collections::BTreeMap::new();
            let mut taken = Value::default();
            for (old, value) in &items.known {
                let Key::Int(old) = old else { return None };
                match (*old).cmp(&at) {
                    std::cmp::Ordering::Less => known.insert(Key::Int(*old), value.clone()),
                    std::cmp::Ordering::Equal => {
                        taken = value.clone();
                        None
                    }
                    std::cmp::Ordering::Greater => known.insert(Key::Int(*old - 1), value.clone()),
                };
            }
            receiver.items = Some(Rc::new(Items { known, list: true }));
            Some(Effect { result: Some(taken), receiver: Some(receiver) })
        }
        "update" | "putAll" | "merge"
            if given
                .args
                .iter()
                .any(|(_, value)| value.items.is_some() || value.taint.is_some()) =>
        {
            for (name, value) in &given.args {
                match (name, &value.items) {
                    (Some(name), _) => {
                        let place = Key::Text(Rc::clone(name));
                        insert(&mut receiver, Some(place), value.clone());
                    }
                    (None, Some(items)) if !items.list => {
                        for (place, value) in &items.known {
                            insert(&mut receiver, Some(place.clone()), value.clone());
                        }
                    }
                    (None, _) => insert(&mut receiver, None, value.clone()),
                }
            }
            Some(Effect { result: None, receiver: Some(receiver) })
        }
        "load" if first.is_some_and(|first| first.any_taint().is_some()) => {
            // Settings that are read from somewhere.
            receiver.taint = first.and_then(Value::any_taint);
            Some(Effect { result: None, receiver: Some(receiver) })
        }
        "clear" | "Clear" => {
            receiver.items = Some(Rc::new(Items { list: true, ..Items::default() }));
            receiver.taint = None;
            Some(Effect { result: None, receiver: Some(receiver) })
        }
        _ => None,
    }
}

/// Whether a path is one of an object that collects text.
fn holds_text(path: &str) -> bool {
    path.contains("Builder") || path.contains("Buffer") || writes(path)
}

/// Whether a path is one of an object that collects what is written to it, in memory or elsewhere.
pub(super) fn writes(path: &str) -> bool {
    ["Writer", "OutputStream", "PrintStream", "ObjectOutput", "DataOutput"]
        .iter()
        .any(|kind| path.ends_with(kind))
}

/// The part of a text or a list between two numbers, where it is known.
fn part(whole: &Value, given: &Given<'_>) -> Option<Value> {
    let number = |at: usize| match given.args.get(at)?.1.constant {
        Some(Const::Int(number)) => Some(number),
        _ => None,
    };
    let (from, to) = (number(0)?, number(1)?);
    if let Some(items) = whole.items.as_ref().filter(|items| items.list) {
        let known = items.known.iter().filter_map(|(key, value)| match key {
            Key::Int(at) if (from..to).contains(at) => Some((Key::Int(at - from), value.clone())),
            _ => None,
        });
        let items = Items { known: known.collect(), list: true };
        return Some(Value { items: Some(Rc::new(items)), ..whole.clone() });
    }
    let start = whole.prefix.as_deref().filter(|start| !start.starts_with(UNKNOWN_START))?;
    let length = usize::try_from(to - from).ok()?;
    let part: String = start.chars().skip(usize::try_from(from).ok()?).take(length).collect();
    (part.chars().count() == length).then(|| Value::text(&part))
}

/// Whether text is collected in it.
fn is_builder(value: &Value) -> bool {
    value.path.as_deref().is_some_and(|path| path.contains("Builder") || path.contains("Buffer"))
}

/// Whether a method adds text to a builder.
fn grows(name: &str) -> bool {
    matches!(name, "append" | "Append" | "AppendLine" | "WriteString" | "write" | "Write")
}

/// The place of a value in a section, where both have names.
fn nested(section: &Value, name: &Value) -> Option<Key> {
    Some(Key::Text(Rc::from(format!("{}\u{0}{}", section.as_text()?, name.as_text()?))))
}

/// Adds an element at the end of a list.
fn push(list: &mut Value, value: Value) {
    let mut items = match &list.items {
        Some(items) => (**items).clone(),
        None if list.taint.is_none() => Items { list: true, ..Items::default() },
        None => {
            list.taint = Taint::worse(list.taint.as_ref(), value.any_taint().as_ref());
            return;
        }
    };
    let at = i64::try_from(items.known.len()).unwrap_or(i64::MAX);
    items.known.insert(Key::Int(at), value);
    list.items = Some(Rc::new(items));
    list.constant = None;
    list.settled = false;
}
