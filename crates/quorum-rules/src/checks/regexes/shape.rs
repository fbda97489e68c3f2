//! Expressions that let through more than they say.

use std::sync::LazyLock;

use regex::Regex;

use super::parse::Expr;

/// A host name of two labels or more that ends in a well-known domain and has a dot without a
/// backslash before it. What stands before is the start of the expression, an anchor, a slash, or a
/// group.
static OPEN_DOT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:^|[/^(|@]|\(\?:)(?:\((?:\?:)?[\w|-]+\\\.\)\??)?(?:\(?[\w|-]+\)?\\?\.)*?(?:\(?[\w|-]+\)?|\((?:\?:)?\.[+*]\??\)|\.[+*]\??|\[[^\]]+\][+*])\??\.",
        r"(?:[\w-]+\\?\.)*(?:com|org|net|io|dev|edu|gov|co\.uk|app)(?:$|[/:?$)|#]|\\[/b])"
    ))
    .expect("a constant pattern is well formed")
});

/// Whether a host name in an expression has a dot that stands for any character.
pub(super) fn host_with_open_dot(pattern: &str) -> bool {
    let about_hosts = pattern.contains("://")
        || pattern.contains(r":\/\/")
        || pattern.starts_with('^')
        || pattern.ends_with(['/', '$']);
    about_hosts && OPEN_DOT.is_match(pattern)
}

/// A host name with its dots escaped.
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\w-]+(?:\\\.[\w-]+)*\\\.(?:com|org|net|io|dev|edu|gov|app|cloud|tv|me)(?:\W|$)")
        .expect("a constant pattern is well formed")
});

/// Whether a check for a host lets anything stand before it, or after it.
pub(super) fn host_without_anchor(pattern: &str) -> bool {
    let Some(host) = HOST.find(pattern) else { return false };
    let end = host.end() - usize::from(!host.as_str().ends_with(char::is_alphanumeric));
    let (before, after) = (&pattern[..host.start()], &pattern[end..]);
    if pattern.starts_with('^') || before.contains("(^") || before.contains("(?:^") {
        // `^https://good\.com` goes on with `.evil.com`.
        return pattern.starts_with('^') && after.is_empty();
    }
    !pattern.ends_with('$') && !pattern.ends_with("$)")
}

/// Whether an anchor binds to the first or the last of several alternatives alone.
pub(super) fn is_half_anchored(expr: &Expr) -> bool {
    let Expr::Sequence(outer) = expr else { return ways_are_half_anchored(expr) };
    matches!(outer.as_slice(), [only] if ways_are_half_anchored(only))
}

fn ways_are_half_anchored(expr: &Expr) -> bool {
    let Expr::Choice(ways) = expr else { return false };
    let starts: Vec<bool> = ways.iter().map(|way| edge(way, false) == Some(&Expr::Start)).collect();
    let ends: Vec<bool> = ways.iter().map(|way| edge(way, true) == Some(&Expr::End)).collect();
    let words = ways.iter().all(has_letter);
    let (Some((first, starts)), Some((last, ends))) = (starts.split_first(), ends.split_last())
    else {
        return false;
    };
    let only_first = *first && !starts.contains(&true) && !last && !ends.contains(&true);
    let only_last = *last && !ends.contains(&true) && !first && !starts.contains(&true);
    let both_ends =
        ways.len() > 2 && *first && *last && !starts.contains(&true) && !ends.contains(&true);
    words && (only_first || only_last || both_ends)
}

/// Whether a letter has to stand in the text, so that it is about words and not about blanks.
fn has_letter(expr: &Expr) -> bool {
    match expr {
        Expr::Set(chars) => chars.is_letter(),
        Expr::Sequence(parts) | Expr::Choice(parts) => parts.iter().any(has_letter),
        _ => false,
    }
}

fn edge(expr: &Expr, last: bool) -> Option<&Expr> {
    match expr {
        Expr::Sequence(parts) => {
            if last {
                parts.last()
            } else {
                parts.first()
            }
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    #[test]
    fn open_dots_in_hosts_are_seen() {
        for pattern in [
            r"^https?://www.example.com/",
            r"^http:\/\/test.example.com/",
            r"^(www|beta).example.com/",
            r"^https://api.example\.com$",
            r"^http:\/\/(.+).example.com\/",
            r"^https:\/\/[a-z]*.example.com$",
        ] {
            assert!(host_with_open_dot(pattern), "{pattern}");
        }
        for pattern in [
            r"^https?://www\.example\.com/",
            r"^https?://[^/]+\.example\.com/",
            r"example.com",
            r"^.*\.com$",
            r"^\w+.txt$",
        ] {
            assert!(!host_with_open_dot(pattern), "{pattern}");
        }
    }

    #[test]
    fn hosts_that_may_stand_anywhere_are_seen() {
        for pattern in [r"good\.com", r"https?:\/\/www\.good\.com\/x", r"^https:\/\/good\.com"] {
            assert!(host_without_anchor(pattern), "{pattern}");
        }
        for pattern in [
            r"^https:\/\/good\.com\/",
            r"^good\.com$",
            r"(^|\.)good\.com$",
            r"\.good\.com$",
            r"\.js",
        ] {
            assert!(!host_without_anchor(pattern), "{pattern}");
        }
    }

    #[test]
    fn anchors_of_one_alternative_are_seen() {
        let half = |text: &str| parse(text).is_some_and(|expr| is_half_anchored(&expr));
        assert!(half(r"^good\.com|better\.com"));
        assert!(half(r"good\.com|better\.com$"));
        assert!(!half(r"^(good\.com|better\.com)$"));
        assert!(!half(r"^\s+|\s+$"));
        assert!(!half("^-|:"));
        assert!(half("^foo|bar|baz$"));
        assert!(!half("^foo|bar$"));
    }
}
