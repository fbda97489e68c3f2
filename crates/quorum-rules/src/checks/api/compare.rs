//! What a change does to the public items of a file.

use std::collections::HashMap;

use quorum_syntax::Lang;

use super::ApiFacts;
use super::item::{Break, Group, Item, Kind, Parameter};
use crate::source::ParsedFile;

/// Items by name and by what they are: a field and a method may have the same name.
type Items<'i> = HashMap<(&'i str, Group), &'i Item>;

pub(super) fn compare(
    file: &ParsedFile,
    lang: Lang,
    before: &[Item],
    after: &[Item],
    facts: &mut ApiFacts,
) {
    let now: Items<'_> = after.iter().map(|item| (item.key(), item)).collect();
    let was: Items<'_> = before.iter().map(|item| (item.key(), item)).collect();
    let bound = match (lang, &file.tree) {
        (Lang::Python, Some(tree)) => super::python::bound_names(tree.root_node(), file.text()),
        _ => Vec::new(),
    };
    for item in after {
        match was.get(&item.key()) {
            None => {
                if let Some(broken) = addition(item, lang, &was, &now) {
                    facts.broken.push((item.clone(), broken));
                }
                facts.added.push(item.clone());
            }
            Some(old) => {
                if let Some(broken) = change(old, item, lang) {
                    facts.broken.push((item.clone(), broken));
                }
            }
        }
    }
    for item in before {
        if now.contains_key(&item.key()) {
            continue;
        }
        // What holds it is gone and is reported for all its members; a base class may still have it.
        let holder_gone = item
            .holder()
            .map(|holder| (holder, Group::Type))
            .is_some_and(|holder| was.contains_key(&holder) && !now.contains_key(&holder));
        let still_bound = bound.iter().any(|name| name == "*" || *name == item.name);
        if holder_gone || still_bound || may_be_inherited(item, &now) {
            continue;
        }
        let mut item = item.clone();
        item.line = crate::checks::place_of_removed(file, item.line, &item.quote);
        item.quote = crate::checks::quoted_as_removed(&item.quote);
        facts.removed.push(item);
    }
}

/// A class with parents may get the method from one of them.
fn may_be_inherited(item: &Item, now: &Items<'_>) -> bool {
    item.kind == Kind::Method
        && item
            .holder()
            .and_then(|holder| now.get(&(holder, Group::Type)))
            .is_some_and(|holder| holder.shape.words.contains(&"inherits"))
}

/// A new item that breaks those who implement or match on what holds it.
fn addition(item: &Item, lang: Lang, was: &Items<'_>, now: &Items<'_>) -> Option<Break> {
    let holder = item.holder()?;
    let holder_key = (holder, Group::Type);
    let (old, new) = (was.get(&holder_key)?, now.get(&holder_key)?);
    let own = item.own_name();
    match (lang, item.kind) {
        (Lang::Rust, Kind::Field)
            if old.shape.words.contains(&"constructible") && !new.shape.open =>
        {
            Some(Break {
                what: format!("is a new field of `{holder}`, all of whose fields were public"),
                impact: format!("Code that makes a `{holder}` field by field no longer compiles."),
            })
        }
        (Lang::Go | Lang::Java | Lang::Rust, Kind::Required) => Some(Break {
            what: format!(
                "is new and has no default, so that every implementation of `{holder}` has to add it"
            ),
            impact: "Implementations outside this repository no longer compile.".to_owned(),
        }),
        (Lang::Rust, Kind::Variant) if !old.shape.open && !new.shape.open => Some(Break {
            what: format!("is a new variant of `{holder}`, which is not `#[non_exhaustive]`"),
            impact: format!(
                "A `match` over `{holder}` without a wildcard no longer compiles; `{own}` is not handled there."
            ),
        }),
        _ => None,
    }
}

fn change(old: &Item, new: &Item, lang: Lang) -> Option<Break> {
    if old.shape == new.shape && old.kind == new.kind {
        return None;
    }
    match lang {
        Lang::Go => go(old, new),
        Lang::Rust => rust(old, new),
        Lang::Python => python(old, new),
        Lang::Java => java(old, new),
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => script(old, new),
        _ => None,
    }
}

fn broken(what: impl Into<String>, impact: impl Into<String>) -> Break {
    Break { what: what.into(), impact: impact.into() }
}

const COMPILE: &str = "Code that uses it no longer compiles.";

fn types(parameters: &[Parameter]) -> Vec<&str> {
    parameters.iter().map(|parameter| parameter.ty.as_str()).collect()
}

fn describe(old: &Item, new: &Item) -> String {
    let (a, b) = (old.shape.parameters.len(), new.shape.parameters.len());
    match a.cmp(&b) {
        std::cmp::Ordering::Less => format!("takes {} more parameter{}", b - a, plural(b - a)),
        std::cmp::Ordering::Greater => format!("takes {} parameter{} less", a - b, plural(a - b)),
        std::cmp::Ordering::Equal => "takes other types of parameters".to_owned(),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn go(old: &Item, new: &Item) -> Option<Break> {
    match new.kind {
        Kind::Function | Kind::Method | Kind::Required => {
            // `any` is another name of the empty interface.
            let normal =
                |item: &Item| types(&item.shape.parameters).join(",").replace("interface{}", "any");
            let result = |item: &Item| item.shape.ty.replace("interface{}", "any");
            let only_variadic_more = new.shape.parameters.len() == old.shape.parameters.len() + 1
                && new.shape.parameters.last().is_some_and(|last| last.optional)
                && types(&new.shape.parameters).starts_with(&types(&old.shape.parameters))
                && new.kind != Kind::Required;
            if normal(old) != normal(new) && !only_variadic_more {
                return Some(broken(describe(old, new), COMPILE));
            }
            (result(old) != result(new)).then(|| {
                broken(
                    format!(
                        "returns `{}` in place of `{}`",
                        shown(&new.shape.ty),
                        shown(&old.shape.ty)
                    ),
                    COMPILE,
                )
            })
        }
        Kind::Field | Kind::Type | Kind::Value
            if !old.shape.ty.is_empty() && !new.shape.ty.is_empty() =>
        {
            (old.shape.ty.replace("interface{}", "any")
                != new.shape.ty.replace("interface{}", "any"))
            .then(|| {
                broken(
                    format!(
                        "is now `{}` in place of `{}`",
                        shown(&new.shape.ty),
                        shown(&old.shape.ty)
                    ),
                    COMPILE,
                )
            })
        }
        _ => None,
    }
}

fn shown(ty: &str) -> &str {
    if ty.is_empty() { "nothing" } else { ty }
}

fn rust(old: &Item, new: &Item) -> Option<Break> {
    if new.kind == Kind::Required && old.kind == Kind::Method {
        return Some(broken(
            "has no default any more",
            "Implementations that rely on it no longer compile.",
        ));
    }
    if old.shape.generics != new.shape.generics && new.kind == Kind::Type {
        return Some(broken("takes another number of type parameters", COMPILE));
    }
    if new.kind == Kind::Type
        && let Some(lost) = rust_type(old, new)
    {
        return Some(lost);
    }
    match new.kind {
        Kind::Function | Kind::Method | Kind::Required => {
            if types(&old.shape.parameters).len() != types(&new.shape.parameters).len() {
                return Some(broken(describe(old, new), COMPILE));
            }
            let receiver = |item: &Item| {
                item.shape
                    .parameters
                    .first()
                    .filter(|first| first.ty.ends_with("self"))
                    .map(|first| first.ty.clone())
            };
            if let (Some(a), Some(b)) = (receiver(old), receiver(new))
                && rank(&b) > rank(&a)
            {
                return Some(broken(format!("takes `{b}` in place of `{a}`"), COMPILE));
            }
            for word in ["async", "unsafe"] {
                if new.shape.words.contains(&word) && !old.shape.words.contains(&word) {
                    return Some(broken(format!("became `{word}`"), COMPILE));
                }
            }
            if old.shape.words.contains(&"const") && !new.shape.words.contains(&"const") {
                return Some(broken(
                    "is no longer `const`",
                    "Constants that call it no longer compile.",
                ));
            }
            if old.shape.words.contains(&"async") && !new.shape.words.contains(&"async") {
                return Some(broken("is no longer `async`", COMPILE));
            }
            // Generic parameters may accept more than before; only plain types are compared.
            let plain = |ty: &str| {
                !ty.contains("impl ")
                    && !ty.contains('<')
                    && !ty.contains('\'')
                    && ty.chars().filter(|c| c.is_alphanumeric()).count() > 1
            };
            let differs = old.shape.parameters.iter().zip(&new.shape.parameters).find(|(a, b)| {
                a.ty != b.ty && plain(&a.ty) && plain(&b.ty) && !a.ty.ends_with("self")
            });
            if let Some((a, b)) = differs {
                return Some(broken(format!("takes `{}` where it took `{}`", b.ty, a.ty), COMPILE));
            }
            (old.shape.ty != new.shape.ty
                && (plain(&old.shape.ty) || old.shape.ty.is_empty())
                && (plain(&new.shape.ty) || new.shape.ty.is_empty())
                && old.shape.ty.split("::").last() != new.shape.ty.split("::").last())
            .then(|| {
                broken(
                    format!(
                        "returns `{}` in place of `{}`",
                        shown(&new.shape.ty),
                        shown(&old.shape.ty)
                    ),
                    COMPILE,
                )
            })
        }
        Kind::Field => (old.shape.ty != new.shape.ty).then(|| {
            broken(format!("is now `{}` in place of `{}`", new.shape.ty, old.shape.ty), COMPILE)
        }),
        Kind::Variant => (old.shape.ty != new.shape.ty).then(|| {
            broken(
                "holds other data than before",
                "Code that makes or matches it no longer compiles.",
            )
        }),
        Kind::Type if old.shape.ty != new.shape.ty => Some(broken(
            format!("is now a {} in place of a {}", new.shape.ty, old.shape.ty),
            COMPILE,
        )),
        Kind::Type if !old.shape.open && new.shape.open => Some(broken(
            "became `#[non_exhaustive]`",
            "A `match` without a wildcard, and code that makes a value field by field, no longer compile.",
        )),
        _ => None,
    }
}

fn rust_type(old: &Item, new: &Item) -> Option<Break> {
    let (before, after) = (&old.shape, &new.shape);
    let lost = |word: &&&str| **word != "constructible" && !after.words.contains(word);
    if let Some(lost) = before.words.iter().find(lost) {
        return Some(broken(
            format!("no longer derives `{lost}`"),
            "Code that relies on it no longer compiles.",
        ));
    }
    if before.words.contains(&"constructible")
        && !after.words.contains(&"constructible")
        && !after.open
        && before.ty == after.ty
    {
        return Some(broken(
            "has a private field now",
            "Code that makes one field by field no longer compiles.",
        ));
    }
    (before.ty.starts_with("trait") && before.ty != after.ty && after.ty.len() > before.ty.len())
        .then(|| {
            broken(
                "requires other traits of its implementations",
                "Implementations without them no longer compile.",
            )
        })
}

fn rank(receiver: &str) -> u8 {
    match receiver {
        "&self" => 0,
        "&mut self" => 1,
        _ => 2,
    }
}

fn python(old: &Item, new: &Item) -> Option<Break> {
    const CALL: &str = "Calls that worked raise `TypeError`.";
    let (before, after) = (&old.shape, &new.shape);
    if before.words.contains(&"property") != after.words.contains(&"property") {
        return Some(broken(
            if after.words.contains(&"property") {
                "became a property"
            } else {
                "is no longer a property"
            },
            "Code that calls it, or reads it, no longer works.",
        ));
    }
    if after.words.contains(&"async") && !before.words.contains(&"async") {
        return Some(broken(
            "became asynchronous",
            "Callers get a coroutine in place of the result.",
        ));
    }
    let find = |list: &[Parameter], name: &str| list.iter().any(|parameter| parameter.name == name);
    if let Some(gone) =
        before.parameters.iter().find(|parameter| !find(&after.parameters, &parameter.name))
        && !after.open
    {
        let renamed = before.parameters.len() == after.parameters.len();
        let what = if renamed {
            format!("no longer has a parameter named `{}`", gone.name)
        } else {
            format!("lost the parameter `{}`", gone.name)
        };
        return Some(broken(what, CALL));
    }
    if let Some(needed) = after
        .parameters
        .iter()
        .find(|parameter| !parameter.optional && !find(&before.parameters, &parameter.name))
    {
        return Some(broken(format!("needs a new argument `{}`", needed.name), CALL));
    }
    if let Some(strict) = after.parameters.iter().find(|parameter| {
        !parameter.optional
            && before.parameters.iter().any(|old| old.name == parameter.name && old.optional)
    }) {
        return Some(broken(format!("no longer has a default for `{}`", strict.name), CALL));
    }
    let positional = |list: &[Parameter]| {
        list.iter()
            .filter(|parameter| !parameter.named)
            .map(|parameter| parameter.name.clone())
            .collect::<Vec<_>>()
    };
    let (a, b) = (positional(&before.parameters), positional(&after.parameters));
    let kept = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    (kept < a.len() && !after.open).then(|| {
        broken(
            "takes its positional arguments in another order, or fewer of them",
            "Calls by position pass values to other parameters, or raise `TypeError`.",
        )
    })
}

fn java(old: &Item, new: &Item) -> Option<Break> {
    let (before, after) = (&old.shape, &new.shape);
    if before.ty != after.ty {
        return Some(broken(
            format!("is now `{}` in place of `{}`", after.ty, before.ty),
            "Compiled code fails with `NoSuchMethodError` or its like, and source may no longer compile.",
        ));
    }
    if before.words.contains(&"static") != after.words.contains(&"static") {
        return Some(broken("changed between static and not", COMPILE));
    }
    if after.words.contains(&"final")
        && !before.words.contains(&"final")
        && new.kind != Kind::Field
        && !after.words.contains(&"static")
    {
        return Some(broken(
            "became final",
            "Classes that extend or override it no longer compile.",
        ));
    }
    if new.kind == Kind::Required && old.kind != Kind::Required {
        return Some(broken(
            "has to be written by every implementation now",
            "Implementations outside this repository no longer compile.",
        ));
    }
    None
}

fn script(old: &Item, new: &Item) -> Option<Break> {
    let (before, after) = (&old.shape, &new.shape);
    match new.kind {
        Kind::Function | Kind::Method => {
            let needed =
                |list: &[Parameter]| list.iter().filter(|parameter| !parameter.optional).count();
            if needed(&after.parameters) > needed(&before.parameters) {
                return Some(broken(
                    format!(
                        "needs {} argument{} in place of {}",
                        needed(&after.parameters),
                        plural(needed(&after.parameters)),
                        needed(&before.parameters)
                    ),
                    "Calls with the former arguments pass `undefined`, or no longer compile.",
                ));
            }
            if after.parameters.len() < before.parameters.len() && !after.open {
                return Some(broken(
                    "takes fewer arguments",
                    "The arguments that callers still pass are ignored, or no longer compile.",
                ));
            }
            (after.words.contains(&"async") && !before.words.contains(&"async")).then(|| {
                broken("became asynchronous", "Callers get a promise in place of the result.")
            })
        }
        Kind::Field => (before.open && !after.open)
            .then(|| broken("is now required", "Objects without it no longer have the type.")),
        _ => None,
    }
}
