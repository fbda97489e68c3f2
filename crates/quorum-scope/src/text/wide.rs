//! UTF-16 and UTF-32, with or without a mark at the beginning.

/// The text and the name of its encoding, where `bytes` are one of them.
pub(super) fn decode(bytes: &[u8]) -> Option<(String, &'static str)> {
    // Both marks of little-endian text begin alike.
    let marked: [(&[u8], Form, &str); 4] = [
        (&[0xff, 0xfe, 0, 0], Form::Four(u32::from_le_bytes), "UTF-32"),
        (&[0, 0, 0xfe, 0xff], Form::Four(u32::from_be_bytes), "UTF-32"),
        (&[0xff, 0xfe], Form::Two(u16::from_le_bytes), "UTF-16"),
        (&[0xfe, 0xff], Form::Two(u16::from_be_bytes), "UTF-16"),
    ];
    for (mark, form, name) in marked {
        let Some(rest) = bytes.strip_prefix(mark) else { continue };
        let text = form.text(rest);
        // A mark before plain text makes no other text of it: programs read on behind it.
        if is_plausible(&text) || !is_narrow(rest) {
            return Some((text.text, name));
        }
    }
    if !bytes.contains(&0) {
        return None;
    }
    let unmarked = [
        (Form::Four(u32::from_le_bytes), "UTF-32 without a byte order mark"),
        (Form::Four(u32::from_be_bytes), "UTF-32 without a byte order mark"),
        (Form::Two(u16::from_le_bytes), "UTF-16 without a byte order mark"),
        (Form::Two(u16::from_be_bytes), "UTF-16 without a byte order mark"),
    ];
    let read = unmarked.into_iter().map(|(form, name)| (form.text(bytes), name));
    let likely = read.filter(|(text, _)| is_plausible(text));
    likely.max_by_key(|(text, _)| text.plain).map(|(text, name)| (text.text, name))
}

#[derive(Clone, Copy)]
enum Form {
    Two(fn([u8; 2]) -> u16),
    Four(fn([u8; 4]) -> u32),
}

struct Wide {
    text: String,
    characters: usize,
    /// Letters, digits, spaces and signs of ASCII.
    plain: usize,
    /// What no text has.
    wrong: usize,
}

impl Form {
    fn text(self, bytes: &[u8]) -> Wide {
        let mut wide = Wide { text: String::new(), characters: 0, plain: 0, wrong: 0 };
        match self {
            Self::Two(number) => {
                let (units, rest) = bytes.as_chunks();
                wide.wrong += usize::from(!rest.is_empty());
                for found in char::decode_utf16(units.iter().map(|unit| number(*unit))) {
                    wide.push(found.ok());
                }
            }
            Self::Four(number) => {
                let (units, rest) = bytes.as_chunks();
                wide.wrong += usize::from(!rest.is_empty());
                for unit in units {
                    wide.push(char::from_u32(number(*unit)));
                }
            }
        }
        wide
    }
}

impl Wide {
    fn push(&mut self, found: Option<char>) {
        self.characters += 1;
        match found {
            Some('\0') => {
                self.wrong += 1;
                self.text.push('\u{2400}');
            }
            Some(character) => {
                let plain = character.is_ascii_graphic() || character.is_ascii_whitespace();
                self.plain += usize::from(plain);
                self.text.push(character);
            }
            None => {
                self.wrong += 1;
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
}

/// Code and prose have spaces, line ends and signs of ASCII in every script; other data does not
/// read as characters throughout.
fn is_plausible(text: &Wide) -> bool {
    text.plain * 10 >= text.characters && text.wrong * 50 <= text.characters
}

/// Whether the bytes read as text of one byte a letter.
fn is_narrow(bytes: &[u8]) -> bool {
    let plain = bytes.iter().filter(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    !bytes.contains(&0) && plain.count() * 10 >= bytes.len() * 7
}
