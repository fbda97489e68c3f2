//! Server-sent events, read piece by piece.

/// One event: its name where it has one, and its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// Puts events together from pieces of a stream, wherever those were cut.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pending: Vec<u8>,
    name: String,
    data: String,
    has_data: bool,
}

impl Reader {
    /// Takes the next piece; the events that it completes are appended to `events`.
    pub(crate) fn push(&mut self, piece: &[u8], events: &mut Vec<Event>) {
        self.pending.extend_from_slice(piece);
        let mut start = 0;
        while let Some(length) = self.pending[start..].iter().position(|&byte| byte == b'\n') {
            let line = self.pending[start..start + length].to_vec();
            self.line(line.strip_suffix(b"\r").unwrap_or(&line), events);
            start += length + 1;
        }
        self.pending.drain(..start);
    }

    /// The stream is over: what it left without an empty line after it is an event too.
    pub(crate) fn finish(&mut self, events: &mut Vec<Event>) {
        let rest = std::mem::take(&mut self.pending);
        self.line(&rest, events);
        self.line(b"", events);
    }

    fn line(&mut self, line: &[u8], events: &mut Vec<Event>) {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = std::mem::take(&mut self.data);
            if std::mem::take(&mut self.has_data) {
                events.push(Event { name, data });
            }
            return;
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            // A comment, an id, or something that nobody defined.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut reader = Reader::default();
        let mut events = Vec::new();
        for piece in pieces {
            reader.push(piece, &mut events);
        }
        reader.finish(&mut events);
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn names_data_comments_and_line_ends() {
        let text = b": hi\nevent: a\ndata: 1\ndata: 2\n\r\n\ndata:x\r\n\r\nid: 4\n\ndata: [DONE]";
        assert_eq!(read(&[text]), [event("a", "1\n2"), event("", "x"), event("", "[DONE]")]);
    }

    proptest! {
        #[test]
        fn where_a_stream_is_cut_does_not_matter(text in "(data: ?[a-zü]{0,4}\n|\n|event: b\n){0,9}", at: usize) {
            let bytes = text.as_bytes();
            let at = at % (bytes.len() + 1);
            prop_assert_eq!(read(&[&bytes[..at], &bytes[at..]]), read(&[bytes]));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&[&bytes]);
        }
    }
}
