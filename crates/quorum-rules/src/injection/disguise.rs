//! Text that is written so that people do not read it and models do, made plain again.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// What takes no room, or turns the order of other characters around.
pub(super) fn is_invisible(character: char) -> bool {
    is_bidirectional(character)
        || is_tag(character)
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}'
            | '\u{feff}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
        )
}

/// What shows other characters in another order.
pub fn is_bidirectional(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// What spells text that nobody sees.
pub fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e007f}')
}

/// The text without what cannot be seen.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|&c| !is_invisible(c)).collect()
}

/// The text in plain letters: without what cannot be seen, without accents, and with letters that
/// look like Latin ones as these.
pub(super) fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars().filter(|&c| !is_invisible(c)) {
        match letter(character) {
            Some(letters) => out.push_str(letters),
            None => match alphabet(character) {
                Some(latin) => out.push(latin),
                None if is_combining(character) => {}
                None => out.push(character),
            },
        }
    }
    out
}

fn is_combining(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}')
}

/// Letters with accents, and letters of other scripts, beside what they look like.
const ALIKE: &[(&str, &str)] = &[
    ("àáâãäåāăąǎǻạảấầẩẫậắằẳẵặаαɑᴀ", "a"),
    ("ÀÁÂÃÄÅĀĂĄǍẠẢАΑᎪ", "A"),
    ("ВΒᏴ", "B"),
    ("Ьƅʙ", "b"),
    ("çćĉċčсϲᴄⅽ", "c"),
    ("ÇĆĈĊČСϹᏟⅭ", "C"),
    ("ďđԁⅾᴅ", "d"),
    ("ĎĐᎠⅮ", "D"),
    ("èéêëēĕėęěẹẻẽếềểễệеєҽᴇ", "e"),
    ("ÈÉÊËĒĔĖĘĚЕΕᎬ", "E"),
    ("ĝğġģɡցɢ", "g"),
    ("ĜĞĠĢԌᏀ", "G"),
    ("ĥħһհʜ", "h"),
    ("ĤĦНΗᎻ", "H"),
    ("ìíîïĩīĭįıịỉіɩιⅰɪ", "i"),
    ("ÌÍÎÏĨĪĬĮİІΙ", "I"),
    ("ĵјϳᴊ", "j"),
    ("ĴЈᎫ", "J"),
    ("ķκкᴋ", "k"),
    ("ĶКΚᏦ", "K"),
    ("ĺļľłℓⅼʟ", "l"),
    ("ĹĻĽŁⅬᏞ", "L"),
    ("МΜᎷⅯ", "M"),
    ("мᴍⅿ", "m"),
    ("ñńņňոпɴ", "n"),
    ("ÑŃŅŇΝ", "N"),
    ("òóôõöøōŏőơọỏốồổỗộớờởỡợоοσօᴏ", "o"),
    ("ÒÓÔÕÖØŌŎŐƠОΟՕ", "O"),
    ("рρᴘ", "p"),
    ("РΡᏢ", "P"),
    ("ԛզ", "q"),
    ("ŕŗřгᴦʀ", "r"),
    ("ŔŖŘᎡ", "R"),
    ("śŝşšșѕꜱ", "s"),
    ("ŚŜŞŠȘЅᏚ", "S"),
    ("ţťŧțтτᴛ", "t"),
    ("ŢŤŦȚТΤᎢ", "T"),
    ("ùúûüũūŭůűųưụủứừửữựυսᴜ", "u"),
    ("ÙÚÛÜŨŪŬŮŰŲƯՍ", "U"),
    ("νѵⅴᴠ", "v"),
    ("ѴⅤᏙ", "V"),
    ("ŵԝѡᴡ", "w"),
    ("ŴԜᎳ", "W"),
    ("хχⅹ", "x"),
    ("ХΧⅩ", "X"),
    ("ýÿŷуγүʏ", "y"),
    ("ÝŸŶУΥҮ", "Y"),
    ("źżžᴢ", "z"),
    ("ŹŻŽΖᏃ", "Z"),
    ("ß", "ss"),
    ("æ", "ae"),
    ("œ", "oe"),
    ("’‘ʼ′", "'"),
    ("“”„«»", "\""),
    ("–—‐‑−", "-"),
    ("\u{a0}\u{2002}\u{2003}\u{2009}\u{202f}\u{3000}", " "),
];

fn letter(character: char) -> Option<&'static str> {
    if character.is_ascii() {
        return None;
    }
    ALIKE.iter().find(|(alike, _)| alike.contains(character)).map(|(_, latin)| *latin)
}

/// A letter or digit of one of the alphabets that Unicode has for print: wide, bold, in circles.
fn alphabet(character: char) -> Option<char> {
    let code = u32::from(character);
    let of = |first: u32, begin: u8| u8::try_from(code - first).ok().map(|n| char::from(begin + n));
    match code {
        0xff01..=0xff5e => of(0xff01, b'!'),
        0x24b6..=0x24cf => of(0x24b6, b'A'),
        0x24d0..=0x24e9 => of(0x24d0, b'a'),
        0x1f130..=0x1f149 => of(0x1f130, b'A'),
        0x1f150..=0x1f169 => of(0x1f150, b'A'),
        0x1f170..=0x1f189 => of(0x1f170, b'A'),
        0x1d400..=0x1d6a3 => {
            let place = (code - 0x1d400) % 52;
            let place = u8::try_from(place).ok()?;
            Some(char::from(if place < 26 { b'A' + place } else { b'a' + place - 26 }))
        }
        0x1d7ce..=0x1d7ff => u8::try_from((code - 0x1d7ce) % 10).ok().map(|n| char::from(b'0' + n)),
        _ => None,
    }
}

/// Whether a line has words of plain letters and letters that only look like them.
pub(super) fn is_mixed(line: &str) -> bool {
    if line.is_ascii() {
        return false;
    }
    let printed = line.chars().filter(|&c| alphabet(c).is_some_and(|c| c.is_ascii_alphabetic()));
    let words = line.split(|c: char| !c.is_alphabetic());
    printed.count() > 3
        || words.into_iter().any(|word| {
            let foreign = |c: char| matches!(c, '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}');
            word.chars().any(|c| c.is_ascii_alphabetic())
                && word.chars().any(|c| foreign(c) && letter(c).is_some())
        })
}

/// A way to write text that people skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disguise {
    Base64,
    Hex,
    Numbers,
    Percent,
    Escapes,
    Entities,
    Rot13,
    Reversed,
    Leet,
    Spaced,
    Tags,
}

impl Disguise {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Base64 => "base64",
            Self::Hex => "hexadecimal digits",
            Self::Numbers => "numbers for letters",
            Self::Percent => "percent signs",
            Self::Escapes => "escapes",
            Self::Entities => "entities",
            Self::Rot13 => "letters turned by thirteen places",
            Self::Reversed => "letters in reverse order",
            Self::Leet => "digits for letters",
            Self::Spaced => "letters set apart",
            Self::Tags => "characters that cannot be seen",
        }
    }

    /// Whether programs hardly ever write text this way by themselves.
    pub(super) fn is_deliberate(self) -> bool {
        matches!(self, Self::Base64 | Self::Hex | Self::Numbers | Self::Tags)
    }

    /// Whether an ASCII line could be written in such a way: a pass over its bytes.
    pub(super) fn is_possible(line: &str) -> bool {
        let bytes = line.as_bytes();
        let (mut run, mut numbers) = (0, 0);
        for (at, &byte) in bytes.iter().enumerate() {
            run = if is_base64(byte) { run + 1 } else { 0 };
            let next = bytes.get(at + 1).copied().unwrap_or_default();
            let before =
                at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
            let in_word = before.is_ascii_alphabetic() && next.is_ascii_alphabetic();
            numbers += usize::from(byte.is_ascii_digit() && !next.is_ascii_digit());
            if run >= SHORTEST
                || numbers >= FEWEST
                || (byte == b'%' && next.is_ascii_hexdigit())
                || (byte == b'\\' && matches!(next, b'x' | b'u'))
                || (byte == b'&' && next == b'#')
                || (in_word && from_leet(byte).is_some())
                || is_apart(bytes.get(at..at + 10).unwrap_or_default())
            {
                return true;
            }
        }
        false
    }

    /// The texts that a line may hide.
    pub(super) fn all_of(line: &str, readable: &str) -> Vec<(Self, String)> {
        let mut found: Vec<(Self, String)> = Vec::new();
        for run in runs(line) {
            if let Some(text) = from_base64(run) {
                // Encoded twice is hidden twice.
                let inner = (text.len() >= SHORTEST && text.bytes().all(is_padded))
                    .then(|| from_base64(text.trim_end_matches('=')))
                    .flatten();
                found.push((Self::Base64, inner.unwrap_or(text)));
            }
            if let Some(text) = from_hex(run) {
                found.push((Self::Hex, text));
            }
        }
        let mut add = |disguise: Self, text: Option<String>| {
            found.extend(text.map(|text| (disguise, text)));
        };
        add(Self::Numbers, numbers(line));
        add(Self::Percent, decoded(line, "%", 2));
        let escapes = decoded(line, "\\x", 2).or_else(|| braced(line));
        add(Self::Escapes, escapes.or_else(|| decoded(line, "\\u", 4)));
        add(Self::Entities, entities(line));
        add(Self::Tags, tags(line));
        let lower = readable.to_ascii_lowercase();
        let has = |stems: &[&str]| stems.iter().any(|stem| lower.contains(stem));
        let turned = has(&["vtaber", "qvfertneq", "vafgehpgvba", "nccebir", "svaqvatf"]);
        add(Self::Rot13, turned.then(|| readable.chars().map(rot13).collect()));
        let reversed = has(&["snoitcurtsni", "dragersid", "sgnidnif", "evorppa"]);
        add(Self::Reversed, reversed.then(|| readable.chars().rev().collect()));
        add(Self::Leet, leet(readable));
        add(Self::Spaced, together(readable));
        found
    }
}

/// Encoded text of fewer characters says nothing.
const SHORTEST: usize = 24;

/// Fewer numbers in a row spell nothing.
const FEWEST: usize = 16;

fn is_padded(byte: u8) -> bool {
    is_base64(byte) || byte == b'='
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The first stretches of a line that could be encoded text.
fn runs(line: &str) -> impl Iterator<Item = &str> {
    const MOST: usize = 16;
    let runs = line.split(|c: char| !u8::try_from(c).is_ok_and(is_base64));
    runs.filter(|run| run.len() >= SHORTEST).take(MOST)
}

fn from_base64(run: &str) -> Option<String> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true);
    let engine = GeneralPurpose::new(&STANDARD, config);
    let run = run.replace('-', "+").replace('_', "/");
    let whole = if run.len() % 4 == 1 { &run[..run.len() - 1] } else { &run };
    readable(engine.decode(whole).ok()?)
}

fn from_hex(run: &str) -> Option<String> {
    if !run.len().is_multiple_of(2) || !run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..run.len()).step_by(2).map(|at| u8::from_str_radix(&run[at..at + 2], 16));
    readable(pairs.collect::<Result<Vec<u8>, _>>().ok()?)
}

/// The longest row of numbers in a line, decimal or hexadecimal, as the letters that they count.
fn numbers(line: &str) -> Option<String> {
    let (mut longest, mut row) = (Vec::new(), Vec::new());
    let words = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.chain(["end"]) {
        let number = match word.strip_prefix("0x") {
            Some(digits) if digits.len() == 2 => u8::from_str_radix(digits, 16).ok(),
            _ => word.parse().ok(),
        };
        match number {
            Some(byte) if byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r') => row.push(byte),
            _ if row.len() > longest.len() => longest = std::mem::take(&mut row),
            _ => row.clear(),
        }
    }
    if longest.len() < FEWEST { None } else { readable(longest) }
}

/// The line with `\u{…}` as the characters that they stand for.
fn braced(line: &str) -> Option<String> {
    if line.matches("\\u{").count() < 3 {
        return None;
    }
    let mut parts = line.split("\\u{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.split_once('}');
        let character = code.and_then(|(code, rest)| {
            Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest))
        });
        match character {
            Some((character, rest)) => {
                out.push(character);
                out.push_str(rest);
            }
            None => out.push_str(part),
        }
    }
    Some(out)
}

/// Bytes as text, where they are words or encoded once more.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    if text.len() >= SHORTEST && text.bytes().all(is_padded) {
        return Some(text);
    }
    let odd = text.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')).count();
    let is_words =
        text.contains(' ') || text.chars().any(|c| c > '\u{2fff}') || text.contains("[]");
    (odd == 0 && is_words).then_some(text)
}

/// The line with `MARK` and hexadecimal digits as the characters that they stand for.
fn decoded(line: &str, mark: &str, digits: usize) -> Option<String> {
    if line.matches(mark).count() < 3 {
        return None;
    }
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(mark) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let after = &rest[at + mark.len()..];
        let code = after.get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        match code {
            Some(code) if digits == 2 => bytes.extend(u8::try_from(code)),
            Some(code) => {
                let mut room = [0; 4];
                let character = char::from_u32(code).unwrap_or('\u{fffd}');
                bytes.extend_from_slice(character.encode_utf8(&mut room).as_bytes());
            }
            None => bytes.extend_from_slice(mark.as_bytes()),
        }
        rest = if code.is_some() { &after[digits..] } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(String::from_utf8_lossy(&bytes).replace('+', " "))
}

fn entities(line: &str) -> Option<String> {
    if line.matches("&#").count() < 3 {
        return None;
    }
    let mut parts = line.split("&#");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits: String = part.chars().take_while(char::is_ascii_alphanumeric).take(8).collect();
        let code = match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        };
        out.extend(code.and_then(char::from_u32));
        let rest = &part[digits.len()..];
        out.push_str(rest.strip_prefix(';').unwrap_or(rest));
    }
    Some(out)
}

fn tags(line: &str) -> Option<String> {
    let said: String = line
        .chars()
        .filter(|&c| is_tag(c))
        .filter_map(|c| char::from_u32(u32::from(c) - 0xe0000))
        .filter(|c| !c.is_control())
        .collect();
    (said.len() > 2).then_some(said)
}

fn rot13(character: char) -> char {
    let turn = |byte: u8, first: u8| char::from(first + (byte - first + 13) % 26);
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii_lowercase() => turn(byte, b'a'),
        Ok(byte) if byte.is_ascii_uppercase() => turn(byte, b'A'),
        _ => character,
    }
}

fn from_leet(byte: u8) -> Option<u8> {
    match byte {
        b'0' => Some(b'o'),
        b'1' | b'!' => Some(b'i'),
        b'3' => Some(b'e'),
        b'4' | b'@' => Some(b'a'),
        b'5' | b'$' => Some(b's'),
        b'7' => Some(b't'),
        b'8' => Some(b'b'),
        _ => None,
    }
}

/// The line with digits that stand for letters as these, where words are written so.
fn leet(line: &str) -> Option<String> {
    let mut changed = 0;
    let mut out = String::with_capacity(line.len());
    for word in line.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || "@$!".contains(c))) {
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        let alike = word.bytes().filter(|&byte| from_leet(byte).is_some()).count();
        if letters > 0 && alike > 0 && word.len() > 2 {
            changed += usize::from(alike > 1 || letters > 3);
            out.extend(
                word.chars()
                    .map(|c| u8::try_from(c).ok().and_then(from_leet).map_or(c, char::from)),
            );
        } else {
            out.push_str(word);
        }
    }
    (changed > 1).then_some(out)
}

/// Whether single letters stand apart from each other by one and the same character.
fn is_apart(bytes: &[u8]) -> bool {
    bytes.len() == 10
        && matches!(bytes[1], b' ' | b'.' | b'-' | b'_' | b'*')
        && bytes.chunks(2).all(|pair| pair[0].is_ascii_alphabetic() && pair[1] == bytes[1])
}

/// The line with letters that stand apart as words. Two separators in a row end a word.
fn together(line: &str) -> Option<String> {
    let bytes = line.as_bytes();
    let at = (0..bytes.len()).find(|&at| is_apart(bytes.get(at..at + 10).unwrap_or_default()))?;
    let separator = char::from(bytes[at + 1]);
    let double: String = [separator, separator].iter().collect();
    let rest = line.get(at..)?;
    let words = rest.replace(&double, "\u{1}").replace(separator, "").replace('\u{1}', " ");
    Some(words.split_whitespace().collect::<Vec<_>>().join(" "))
}
