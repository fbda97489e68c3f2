//! Python's versions, after PEP 440.

use super::number;
use std::cmp::Ordering;

pub(super) fn compare(left: &str, right: &str) -> Ordering {
    match (Version::parse(left), Version::parse(right)) {
        (Some(left), Some(right)) => left.compare(&right),
        // What the standard does not know sorts before all that it knows.
        (None, None) => left.cmp(right),
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
    }
}

struct Version {
    epoch: String,
    release: Vec<String>,
    /// `a`, `b` or `rc`, with a number.
    pre: Option<(char, String)>,
    post: Option<String>,
    dev: Option<String>,
    local: Option<Vec<String>>,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let text = text.strip_prefix('v').unwrap_or(&text);
        let (public, local) = match text.split_once('+') {
            Some((public, local)) => (public, Some(segments(local)?)),
            None => (text, None),
        };
        let (epoch, rest) = match public.split_once('!') {
            Some((epoch, rest)) if number::is_number(epoch) => (epoch, rest),
            Some(_) => return None,
            None => ("0", public),
        };
        let mut reader = Reader(rest);
        let mut release = vec![reader.number()?];
        while let Some(rest) = reader.0.strip_prefix('.')
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            reader.0 = rest;
            release.push(reader.number()?);
        }
        while release.len() > 1 && release.last().is_some_and(String::is_empty) {
            release.pop();
        }
        let pre = reader.labelled(&[
            ("alpha", 'a'),
            ("beta", 'b'),
            ("preview", 'r'),
            ("pre", 'r'),
            ("rc", 'r'),
            ("a", 'a'),
            ("b", 'b'),
            ("c", 'r'),
        ]);
        let post = match reader.0.strip_prefix('-') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                reader.0 = rest;
                reader.number()
            }
            _ => reader.labelled(&[("post", 'p'), ("rev", 'p'), ("r", 'p')]).map(|(_, n)| n),
        };
        let dev = reader.labelled(&[("dev", 'd')]).map(|(_, number)| number);
        reader.0.is_empty().then(|| Self { epoch: trimmed(epoch), release, pre, post, dev, local })
    }

    fn compare(&self, other: &Self) -> Ordering {
        number::compare(&self.epoch, &other.epoch)
            .then_with(|| releases(&self.release, &other.release))
            .then_with(|| self.pre_key().compare(&other.pre_key()))
            .then_with(|| options(self.post.as_deref(), other.post.as_deref(), Ordering::Less))
            .then_with(|| options(self.dev.as_deref(), other.dev.as_deref(), Ordering::Greater))
            .then_with(|| locals(self.local.as_deref(), other.local.as_deref()))
    }

    /// A development release of no other kind comes before all pre-releases, a final one after.
    fn pre_key(&self) -> Pre<'_> {
        match &self.pre {
            Some((kind, number)) => Pre::Kind(*kind, number),
            None if self.post.is_none() && self.dev.is_some() => Pre::Before,
            None => Pre::After,
        }
    }
}

enum Pre<'a> {
    Before,
    Kind(char, &'a str),
    After,
}

impl Pre<'_> {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Kind(left, a), Self::Kind(right, b)) => {
                left.cmp(right).then_with(|| number::compare(a, b))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Before => 0,
            Self::Kind(..) => 1,
            Self::After => 2,
        }
    }
}

fn trimmed(number: &str) -> String {
    number.trim_start_matches('0').to_owned()
}

fn releases(left: &[String], right: &[String]) -> Ordering {
    for at in 0..left.len().max(right.len()) {
        let part = |parts: &[String]| parts.get(at).cloned().unwrap_or_default();
        let order = number::compare(&part(left), &part(right));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Compares what one side may lack; `absent` is how the lack of it compares with its presence.
fn options(left: Option<&str>, right: Option<&str>, absent: Ordering) -> Ordering {
    match (left, right) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => absent,
        (Some(_), None) => absent.reverse(),
        (Some(left), Some(right)) => number::compare(left, right),
    }
}

fn locals(left: Option<&[String]>, right: Option<&[String]>) -> Ordering {
    let (left, right) = match (left, right) {
        (None, None) => return Ordering::Equal,
        (None, Some(_)) => return Ordering::Less,
        (Some(_), None) => return Ordering::Greater,
        (Some(left), Some(right)) => (left, right),
    };
    for (left, right) in left.iter().zip(right) {
        let order = match (number::is_number(left), number::is_number(right)) {
            (true, true) => number::compare(left, right),
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => left.cmp(right),
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

fn segments(local: &str) -> Option<Vec<String>> {
    let segments: Vec<String> = local.split(['.', '-', '_']).map(str::to_owned).collect();
    let valid = |segment: &String| {
        !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    segments.iter().all(valid).then_some(segments)
}

/// What is left of a version.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    /// A run of digits, without its leading zeros.
    fn number(&mut self) -> Option<String> {
        let length = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        (length > 0).then(|| trimmed(digits))
    }

    /// A separator, one of the words, a separator and a number, of which only the word is needed.
    fn labelled(&mut self, words: &[(&str, char)]) -> Option<(char, String)> {
        let separators = ['.', '-', '_'];
        let start = self.0.strip_prefix(separators).unwrap_or(self.0);
        let (rest, kind) = words
            .iter()
            .find_map(|(word, kind)| start.strip_prefix(word).map(|rest| (rest, *kind)))?;
        let numbered = rest.strip_prefix(separators).unwrap_or(rest);
        let mut reader = Reader(numbered);
        if let Some(number) = reader.number() {
            self.0 = &numbered[numbered.len() - reader.0.len()..];
            Some((kind, number))
        } else {
            self.0 = rest;
            Some((kind, String::new()))
        }
    }
}
