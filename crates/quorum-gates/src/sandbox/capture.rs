//! What a command prints, as much of it as is worth keeping.

use std::fmt::Write as _;
use std::io::Read;

/// Bytes that are kept from the beginning.
const HEAD: usize = 4 << 20;
/// Bytes that are kept from the end.
const TAIL: usize = 1 << 20;
/// Bytes that are kept around the first error between them.
const MIDDLE: usize = 64 << 10;

/// The output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    /// What follows the first error, where that stands in neither of the others.
    middle: Vec<u8>,
    tail: Vec<u8>,
    /// How many bytes are missing between them.
    missing: u64,
}

impl Captured {
    /// As text, with a line where something is missing.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.missing > 0 {
            _ = write!(text, "\n[{} bytes are missing here]\n", self.missing);
        }
        if !self.middle.is_empty() {
            text.push_str(&String::from_utf8_lossy(&self.middle));
            text.push_str("\n[and here]\n");
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }

    #[cfg(test)]
    fn of(text: &[u8]) -> Self {
        read(text)
    }
}

/// Reads to the end, whatever the length.
pub(super) fn read(mut source: impl Read) -> Captured {
    let mut keeper = Keeper::default();
    let mut piece = vec![0; 64 << 10];
    loop {
        match source.read(&mut piece) {
            Ok(0) => break,
            Ok(size) => keeper.take(&piece[..size]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    keeper.finish()
}

#[derive(Default)]
struct Keeper {
    head: Vec<u8>,
    middle: Vec<u8>,
    tail: Vec<u8>,
    missing: u64,
    /// Whether an error was seen, so that another one is not the first.
    alarmed: bool,
}

impl Keeper {
    fn take(&mut self, piece: &[u8]) {
        let room = HEAD - self.head.len();
        let (head, rest) = piece.split_at(piece.len().min(room));
        if !head.is_empty() {
            self.head.extend_from_slice(head);
            if rest.is_empty() {
                return;
            }
        }
        if self.tail.is_empty() {
            self.alarmed = is_alarming(&self.head);
        }
        if !self.middle.is_empty() {
            let room = MIDDLE - self.middle.len();
            self.middle.extend_from_slice(&rest[..rest.len().min(room)]);
        } else if !self.alarmed && is_alarming(rest) {
            self.alarmed = true;
            self.middle.extend_from_slice(&rest[..rest.len().min(MIDDLE)]);
        }
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * TAIL {
            let drop = self.tail.len() - TAIL;
            self.tail.drain(..drop);
            self.missing += drop as u64;
        }
    }

    fn finish(mut self) -> Captured {
        if self.missing == 0 {
            // Nothing is missing, so what was set aside is there already.
            self.middle.clear();
        }
        let Self { head, middle, tail, missing, .. } = self;
        Captured { head, middle, tail, missing }
    }
}

fn is_alarming(text: &[u8]) -> bool {
    let words: [&[u8]; 6] = [b"error", b"Error", b"ERROR", b"FAIL", b"panic", b"fatal"];
    words.iter().any(|word| text.windows(word.len()).any(|window| window == *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let text = "a line\n".repeat(1000);
        assert_eq!(Captured::of(text.as_bytes()).text(), text);
        let long = "b\n".repeat(usize::midpoint(HEAD, TAIL));
        assert_eq!(Captured::of(long.as_bytes()).text(), long);
    }

    #[test]
    fn of_a_flood_the_ends_and_the_first_error_are_kept() {
        let calm = "nothing here\n".repeat(HEAD / 13 + 100_000);
        let flood = format!("{calm}main.c:3: error: first\n{calm}{calm}the end\n");
        let text = Captured::of(flood.as_bytes()).text();
        assert!(text.len() < HEAD + 2 * TAIL + 2 * MIDDLE);
        assert!(text.contains("main.c:3: error: first") && text.ends_with("the end\n"));
        assert!(text.contains("bytes are missing here"));
    }
}
