//! Reads regular expressions as far as looking at how they backtrack needs.

/// Characters: each ASCII one by itself, all others together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chars {
    ascii: u128,
    others: bool,
}

impl Chars {
    pub(super) const ALL: Self = Self { ascii: u128::MAX, others: true };

    fn one(c: char) -> Self {
        Self::range(c, c)
    }

    fn range(first: char, last: char) -> Self {
        let mut ascii = 0;
        for code in u32::from(first)..=u32::from(last).min(127) {
            ascii |= 1 << code;
        }
        Self { ascii, others: !last.is_ascii() }
    }

    fn with(self, other: Self) -> Self {
        Self { ascii: self.ascii | other.ascii, others: self.others || other.others }
    }

    fn without(self) -> Self {
        Self { ascii: !self.ascii, others: !self.others }
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.ascii & other.ascii != 0 || (self.others && other.others)
    }

    /// What is in both.
    pub(super) fn common(self, other: Self) -> Self {
        Self { ascii: self.ascii & other.ascii, others: self.others && other.others }
    }

    /// The first and the last member, each by itself.
    pub(super) fn ends(self) -> [Self; 2] {
        if self.ascii == 0 {
            return [Self { ascii: 0, others: self.others }; 2];
        }
        let one = |bit: u32| Self { ascii: 1 << bit, others: false };
        [one(self.ascii.trailing_zeros()), one(self.ascii.ilog2())]
    }

    /// Whether it is one letter.
    pub(super) fn is_letter(self) -> bool {
        let letters = Self::range('a', 'z').with(Self::range('A', 'Z'));
        !self.others && self.ascii.is_power_of_two() && self.meets(letters)
    }

    fn digits() -> Self {
        Self::range('0', '9')
    }

    fn words() -> Self {
        Self::range('a', 'z').with(Self::range('A', 'Z')).with(Self::digits()).with(Self::one('_'))
    }

    fn spaces() -> Self {
        Self { others: true, ..Self::range('\t', '\r').with(Self::one(' ')) }
    }
}

/// A regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    Set(Chars),
    Sequence(Vec<Self>),
    Choice(Vec<Self>),
    Repeat {
        inner: Box<Self>,
        min: u32,
        max: Option<u32>,
    },
    /// Something that takes no text: an anchor, a boundary.
    Start,
    End,
    Boundary,
    /// What has to stand here, or must not, without being taken.
    Look(Box<Self>),
}

/// Longer ones are not looked at.
const LONGEST: usize = 2000;

/// How deep groups are read.
const DEEPEST: usize = 40;

/// Reads an expression. None where it has parts that change how it backtracks (atomic
/// groups, possessive repeats), or where it cannot be read.
pub(super) fn parse(text: &str) -> Option<Expr> {
    if text.len() > LONGEST || text.contains('\n') {
        return None;
    }
    let mut reader = Reader { rest: text, depth: 0 };
    let expr = reader.choice()?;
    reader.rest.is_empty().then_some(expr)
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn choice(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut ways = vec![self.sequence()?];
        while self.take("|") {
            ways.push(self.sequence()?);
        }
        self.depth -= 1;
        Some(if ways.len() == 1 { ways.swap_remove(0) } else { Expr::Choice(ways) })
    }

    fn sequence(&mut self) -> Option<Expr> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            let part = self.atom()?;
            let part = self.repeated(part)?;
            parts.push(part);
        }
        Some(Expr::Sequence(parts))
    }

    fn repeated(&mut self, mut inner: Expr) -> Option<Expr> {
        loop {
            let (min, max) = if self.take("*") {
                (0, None)
            } else if self.take("+") {
                (1, None)
            } else if self.take("?") {
                (0, Some(1))
            } else if let Some(bounds) = self.bounds() {
                bounds
            } else {
                return Some(inner);
            };
            // Lazy ones backtrack like others; possessive ones never do.
            if self.take("+") {
                return None;
            }
            self.take("?");
            inner = Expr::Repeat { inner: Box::new(inner), min, max };
        }
    }

    /// `{2}`, `{2,}`, `{2,5}`; anything else in braces is plain text.
    fn bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let (inside, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
        let bounds = match inside.split_once(',') {
            Some((min, "")) => (min.trim().parse().ok()?, None),
            Some((min, max)) => (min.trim().parse().ok()?, Some(max.trim().parse().ok()?)),
            None => {
                let exact = inside.parse().ok()?;
                (exact, Some(exact))
            }
        };
        self.rest = rest;
        Some(bounds)
    }

    fn atom(&mut self) -> Option<Expr> {
        match self.next()? {
            '(' => self.group(),
            '[' => self.class().map(Expr::Set),
            '.' => Some(Expr::Set(Chars::one('\n').without())),
            '^' => Some(Expr::Start),
            '$' => Some(Expr::End),
            '\\' => self.escape(),
            '*' | '+' | '?' => None,
            c => Some(Expr::Set(Chars::one(c))),
        }
    }

    fn group(&mut self) -> Option<Expr> {
        let mut looks = false;
        if self.take("?") {
            if self.take("#") {
                let (_, rest) = self.rest.split_once(')')?;
                self.rest = rest;
                return Some(Expr::Sequence(Vec::new()));
            }
            if ["=", "!", "<=", "<!"].iter().any(|mark| self.take(mark)) {
                looks = true;
            } else if self.take("P<") || self.take("<") {
                let (_, rest) = self.rest.split_once('>')?;
                self.rest = rest;
            } else if !self.take(":") {
                let flags = self.rest.find(|c: char| !c.is_ascii_alphabetic() && c != '-')?;
                self.rest = &self.rest[flags..];
                if self.take(")") {
                    return Some(Expr::Sequence(Vec::new()));
                }
                if flags == 0 || !self.take(":") {
                    return None;
                }
            }
        }
        let inner = self.choice()?;
        if !self.take(")") {
            return None;
        }
        Some(if looks { Expr::Look(Box::new(inner)) } else { inner })
    }

    fn escape(&mut self) -> Option<Expr> {
        match self.peek()? {
            // What a back reference stands for is not known, so nothing is read past it.
            'b' | 'B' | 'G' | '1'..='9' => {
                self.next();
                Some(Expr::Boundary)
            }
            'A' => {
                self.next();
                Some(Expr::Start)
            }
            'z' | 'Z' => {
                self.next();
                Some(Expr::End)
            }
            'k' => None,
            _ => self.escaped_set().map(Expr::Set),
        }
    }

    fn escaped_set(&mut self) -> Option<Chars> {
        Some(match self.next()? {
            'd' => Chars::digits(),
            'D' => Chars::digits().without(),
            'w' => Chars::words(),
            'W' => Chars::words().without(),
            's' => Chars::spaces(),
            'S' => Chars { others: true, ..Chars::spaces().without() },
            'n' => Chars::one('\n'),
            't' => Chars::one('\t'),
            'r' => Chars::one('\r'),
            'f' => Chars::one('\u{c}'),
            'v' => Chars::one('\u{b}'),
            '0' => Chars::one('\0'),
            'x' => self.code(2)?,
            'u' if self.peek() == Some('{') => {
                let (code, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
                self.rest = rest;
                Chars::one(char::from_u32(u32::from_str_radix(code, 16).ok()?)?)
            }
            'u' => self.code(4)?,
            'p' | 'P' => {
                let (name, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
                self.rest = rest;
                let digits = matches!(name, "Digit" | "Nd" | "N" | "IsDigit");
                let known = if digits { Chars::digits() } else { Chars::words() };
                Chars { others: true, ..known }
            }
            c if c.is_ascii_alphabetic() => return None,
            c => Chars::one(c),
        })
    }

    fn code(&mut self, digits: usize) -> Option<Chars> {
        let (code, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        let code = u32::from_str_radix(code, 16).ok()?;
        Some(char::from_u32(code).map_or(Chars { ascii: 0, others: true }, Chars::one))
    }

    /// What follows `[`.
    fn class(&mut self) -> Option<Chars> {
        let negated = self.take("^");
        let mut all = Chars::default();
        let mut first = true;
        loop {
            let c = self.peek()?;
            if c == ']' && !(first && self.rest[1..].contains(']')) {
                self.next();
                break;
            }
            // In scripts `[]` is empty and `[^]` is anything.
            if c == ']'
                && first
                && negated
                && self.rest.len() > 1
                && !self.rest[1..].starts_with(']')
            {
                self.next();
                return Some(Chars::ALL);
            }
            first = false;
            if self.rest.starts_with("[:") || self.rest.starts_with("&&") {
                // Named classes, and Java's intersections. Elsewhere a bracket stands for itself.
                return None;
            }
            let (start, single) = self.class_item()?;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.next();
                let (_, end) = self.class_item()?;
                match (single, end) {
                    (Some(a), Some(b)) => {
                        all = all.with(Chars::range(a, b));
                        continue;
                    }
                    _ => all = all.with(Chars::one('-')),
                }
            }
            all = all.with(start);
        }
        Some(if negated { all.without() } else { all })
    }

    /// One member of a class, and the character that it is where it is one.
    fn class_item(&mut self) -> Option<(Chars, Option<char>)> {
        match self.next()? {
            '\\' if self.peek() == Some('b') => {
                self.next();
                Some((Chars::one('\u{8}'), Some('\u{8}')))
            }
            '\\' => {
                let plain = self.peek().filter(|c| !c.is_ascii_alphanumeric());
                let set = self.escaped_set()?;
                Some((set, plain))
            }
            c => Some((Chars::one(c), Some(c))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_backtracking_is_left_alone() {
        assert!(parse("(?>a+)b").is_none());
        assert!(parse("a++b").is_none());
        assert!(parse("(a").is_none());
        assert!(parse("a)").is_none());
    }

    #[test]
    fn braces_that_are_no_bounds_are_text() {
        assert!(parse("a{x}").is_some());
        assert!(matches!(parse("a{2,3}"), Some(Expr::Sequence(parts)) if parts.len() == 1));
    }

    #[test]
    fn classes_hold_what_they_name() {
        let set = |text: &str| match parse(text) {
            Some(Expr::Sequence(parts)) => match parts.as_slice() {
                [Expr::Set(set)] => *set,
                other => panic!("{text}: {other:?}"),
            },
            other => panic!("{text}: {other:?}"),
        };
        assert!(set(r"[a-c\d]").meets(Chars::one('b')));
        assert!(!set("[^a-z]").meets(Chars::range('a', 'z')));
        assert!(set(r"[\w-]").meets(Chars::one('-')));
        assert!(!set(r"\s").meets(set(r"\w")));
    }
}
