//! Whether a value looks like a secret that someone uses, or like something that stands for one.

/// Shannon entropy in bits per character.
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a token is a few hundred characters")]
    let total = value.len() as f64;
    let share = |count: u32| f64::from(count) / total;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| -share(count) * share(count).log2())
        .sum()
}

/// Words that no random token has by chance, and that people put where one belongs.
const STAND_INS: &[&str] = &[
    "example",
    "sample",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "xxxx",
    "****",
    "....",
    "redacted",
    "dummy",
    "your-",
    "your_",
    "yourkey",
    "yourtoken",
    "yoursecret",
    "insert-",
    "insert_",
    "replace-",
    "replace_",
    "replaceme",
    "todo",
    "testkey",
    "fakekey",
    "<",
    ">",
    "${",
    "{{",
    "$(",
    "#{",
    "%{",
];

/// Words that say the same, and that are too short or too common to count against a known format.
const WEAK_STAND_INS: &[&str] = &[
    "test",
    "fake",
    "mock",
    "foobar",
    "demo",
    "temp",
    "deadbeef",
    "cafebabe",
    "secret",
    "password",
    "passwd",
    "token",
    "credential",
    "apikey",
    "api_key",
    "api-key",
    "my-",
    "my_",
    "none",
    "null",
    "undefined",
    "process.env",
    "environ",
    "getenv",
    "secrets.",
    "op://",
    "vault:",
    "arn:",
    "ref+",
    "default",
    "not-",
    "no-",
    "some",
    "any",
    "invalid",
    "wrong",
    "correct",
    "random",
    "unused",
    "unknown",
    "{}",
    "lorem",
    "hello",
    "world",
    "value",
    "string",
    "foo",
    "bar",
    "baz",
];

/// Whether the value stands for a token rather than being one, by signs strong enough to set aside
/// what otherwise has a provider's format.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    STAND_INS.iter().any(|word| contains(&lower, word.as_bytes()))
        // Zeros in base 64 are `A`s, ones are slashes.
        || longest_run(value, |a, b| a == b && !matches!(a, b'A' | b'/')) >= 8
        || is_mostly_counting(&lower)
}

/// Whether a good part of it is the alphabet, or counting.
fn is_mostly_counting(lower: &[u8]) -> bool {
    let run = longest_run(lower, |a, b| a.checked_add(1) == Some(b));
    run >= 12 && run * 3 >= lower.len()
}

/// Whether a value of no known format stands for a secret rather than being one.
pub(super) fn is_weak_stand_in(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    is_stand_in(value)
        || WEAK_STAND_INS.iter().any(|word| contains(&lower, word.as_bytes()))
        || longest_run(value, |a, b| a == b) >= 5
        || longest_run(&lower, |a, b| a.checked_add(1) == Some(b)) >= 6
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// The length of the longest stretch in which each byte and the next have the relation.
fn longest_run(value: &[u8], related: impl Fn(u8, u8) -> bool) -> usize {
    let (mut longest, mut current) = (usize::from(!value.is_empty()), 1);
    for pair in value.windows(2) {
        current = if related(pair[0], pair[1]) { current + 1 } else { 1 };
        longest = longest.max(current);
    }
    longest
}

/// Whether there are both digits and letters.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Whether it is a UUID.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether the characters follow each other as chance would have it: no words, no path, no number.
pub(super) fn is_random(value: &[u8]) -> bool {
    let length = value.len();
    if !(16..=1024).contains(&length) {
        return false;
    }
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_.~-@!%^&*".contains(byte);
    if !value.iter().all(allowed) || !is_mixed(value) {
        return false;
    }
    let bits = entropy(value);
    if value.iter().all(u8::is_ascii_hexdigit) {
        return length >= 20 && bits >= 3.0;
    }
    let needed = match length {
        16..=19 => 3.4,
        20..=31 => 3.7,
        32..=47 => 4.0,
        _ => 4.2,
    };
    bits >= needed
        && changes_of_class(value) * 5 >= length
        && letters_in_words(value) * 2 < length
        && !is_dotted(value)
        && !is_pieces(value)
}

/// How many letters stand in stretches of five and more, with or without a capital before them.
fn letters_in_words(value: &[u8]) -> usize {
    let (mut total, mut run) = (0, 0);
    let mut close = |run: &mut usize| {
        total += if *run >= 5 { *run } else { 0 };
        *run = 0;
    };
    for &byte in value {
        match byte {
            b'a'..=b'z' => run += 1,
            b'A'..=b'Z' => {
                close(&mut run);
                run = 1;
            }
            _ => close(&mut run),
        }
    }
    close(&mut run);
    total
}

/// How often a lower-case letter, capital, digit or mark is followed by one of another class.
///
/// Random text does it at every second character, words and identifiers once a word.
fn changes_of_class(value: &[u8]) -> usize {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    value.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count()
}

/// Whether marks cut it into words and numbers, as in names of releases and machines.
fn is_pieces(value: &[u8]) -> bool {
    let mut pieces = value.split(|byte| b"-_.".contains(byte));
    let plain = |piece: &[u8]| {
        piece.iter().all(u8::is_ascii_alphabetic)
            || piece.iter().all(u8::is_ascii_digit)
            || piece.len() <= 4
    };
    value.iter().filter(|byte| b"-_.".contains(byte)).count() >= 2 && pieces.all(plain)
}

/// Whether dots or slashes cut it into short pieces, as in paths, versions and qualified names.
fn is_dotted(value: &[u8]) -> bool {
    let pieces = value.split(|byte| b"./".contains(byte)).filter(|piece| !piece.is_empty());
    let (mut count, mut short) = (0, 0);
    for piece in pieces {
        count += 1;
        short += usize::from(piece.len() < 12);
    }
    count >= 3 && short * 2 > count && value.len() < 40
}

/// How much a password that someone wrote down looks like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Password {
    /// It is no password, or stands for one.
    No,
    /// A word; half of all such values are labels.
    Word,
    /// Digits or marks among letters.
    Chosen,
    /// Long and random.
    Random,
}

/// Passwords that everybody uses for a database on their own machine, or in a manual.
const EVERYBODY: &[&str] = &[
    "admin",
    "root",
    "user",
    "guest",
    "postgres",
    "mysql",
    "mongo",
    "redis",
    "rabbitmq",
    "pass",
    "pw",
    "pwd",
    "username",
    "userpass",
    "qwerty",
    "letmein",
    "12345",
    "123456",
    "1234",
    "sa",
    "elastic",
    "minio",
    "minioadmin",
    "yyy",
    "abc",
    "abc123",
    "pass123",
    "pass1234",
    "p4ssw0rd",
    "hunter2",
];

/// Judges what is assigned to a password.
pub(super) fn password(value: &[u8]) -> Password {
    let lower = value.to_ascii_lowercase();
    let marks = b"!@#$%^&*+=?~_-.";
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || marks.contains(byte);
    if !(4..=128).contains(&value.len())
        || !value.iter().all(fits)
        || is_weak_stand_in(value)
        || EVERYBODY.iter().any(|word| word.as_bytes() == lower.as_slice())
        || matches!(value[0], b'$' | b'%' | b'#' | b'.' | b'-' | b'@' | b'_')
        || is_uuid(value)
        || value.iter().all(|byte| byte.is_ascii_digit() || b".-_".contains(byte))
    {
        return Password::No;
    }
    if is_random(value) {
        return Password::Random;
    }
    let strong_marks = value.iter().any(|byte| b"!@#$%^&*+=?~".contains(byte));
    let digits = value.iter().any(u8::is_ascii_digit);
    let dashed = value.iter().filter(|byte| b"_-.".contains(byte)).count() >= 2;
    if value.len() >= 6 && !dashed && (digits || strong_marks) && is_letters_too(value) {
        Password::Chosen
    } else {
        Password::Word
    }
}

fn is_letters_too(value: &[u8]) -> bool {
    value.iter().filter(|byte| byte.is_ascii_alphabetic()).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_bits_per_character() {
        assert!(entropy(b"aaaa").abs() < 1e-9);
        assert!((entropy(b"abab") - 1.0).abs() < 1e-9);
        assert!((entropy(b"abcd") - 2.0).abs() < 1e-9);
        assert!(entropy(b"").abs() < 1e-9);
    }

    #[test]
    fn identifiers_paths_and_versions_are_not_random() {
        for value in [
            "AbstractSingletonProxyFactoryBean2",
            "com.example.app.Main2",
            "v1.2.3-beta.4+build.5",
            "org.slf4j.slf4j-api",
            "2024-01-02T03:04:05Z",
            "https-proxy-agent-v5",
            "00000000000000000000",
        ] {
            assert!(!is_random(value.as_bytes()), "{value}");
        }
        assert!(is_random(b"q8Zr2LxK9vTf4WmB"));
        assert!(is_random(b"9f86d081884c7d659a2feaa0c55ad015"));
    }

    #[test]
    fn a_password_is_not_a_label() {
        assert_eq!(password(b"Password"), Password::No);
        assert_eq!(password(b"Mot de passe"), Password::No);
        assert_eq!(password(b"Passwort"), Password::Word);
        assert_eq!(password(b"Sommer2019!"), Password::Chosen);
        assert_eq!(password(b"q8Zr2LxK9vTf4WmB"), Password::Random);
        assert_eq!(password(b"${DB_PASS}"), Password::No);
        assert_eq!(password(b"postgres"), Password::No);
    }
}
