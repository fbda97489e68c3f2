//! Secrets are taken out before a byte of a file goes anywhere.

use std::ops::Range;

/// Finds secrets. The embedded reviewers' detectors stand behind it.
pub trait Redactor: Sync {
    /// The bytes of `text` that are secret; on an error nothing of the text may be sent.
    fn secrets(&self, text: &str) -> Result<Vec<Range<usize>>, String>;

    /// The same for the text of a file, whose name may tell how values are written in it.
    fn secrets_of(&self, path: &str, text: &str) -> Result<Vec<Range<usize>>, String> {
        let _ = path;
        self.secrets(text)
    }
}

/// A redactor that knows which file it reads.
pub(crate) struct OfFile<'a> {
    pub(crate) redactor: &'a dyn Redactor,
    pub(crate) path: &'a str,
}

impl Redactor for OfFile<'_> {
    fn secrets(&self, text: &str) -> Result<Vec<Range<usize>>, String> {
        self.redactor.secrets_of(self.path, text)
    }
}

/// Finds nothing; for texts that are known to be harmless.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecrets;

impl Redactor for NoSecrets {
    fn secrets(&self, _text: &str) -> Result<Vec<Range<usize>>, String> {
        Ok(Vec::new())
    }
}

/// `text` with its secrets replaced. Lines and columns stay: what stands in a secret's place has as
/// many bytes, and its line ends.
pub(crate) fn redact(redactor: &dyn Redactor, text: &str) -> Result<String, String> {
    let mut bytes = text.as_bytes().to_vec();
    for range in redactor.secrets(text)? {
        let end = range.end.min(bytes.len());
        let start = range.start.min(end);
        let secret = &mut bytes[start..end];
        for (index, byte) in secret.iter_mut().enumerate() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = WORD.get(index).copied().unwrap_or(b'*');
            }
        }
    }
    // A range that cuts a character in two leaves half of it behind.
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| {
        error
            .into_bytes()
            .iter()
            .map(|byte| if byte.is_ascii() { char::from(*byte) } else { '*' })
            .collect()
    }))
}

/// How a placeholder begins; the rest of it is asterisks.
const WORD: &[u8] = b"REDACTED";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Fixed(Range<usize>);

    impl Redactor for Fixed {
        fn secrets(&self, _text: &str) -> Result<Vec<Range<usize>>, String> {
            Ok(std::iter::once(self.0.clone()).collect())
        }
    }

    #[test]
    fn lines_and_columns_stay() {
        let text = "key = \"abcdefghijkl\"\r\nnext";
        let redacted = redact(&Fixed(7..19), text).unwrap();
        assert_eq!(redacted, "key = \"REDACTED****\"\r\nnext");
        let redacted = redact(&Fixed(7..25), text).unwrap();
        assert_eq!(redacted, "key = \"REDACTED*****\r\n***t");
    }

    proptest! {
        #[test]
        fn any_range_of_any_text_is_survived(text: String, start in 0usize..40, length in 0usize..40) {
            let range = start..start.saturating_add(length);
            let redacted = redact(&Fixed(range), &text).unwrap();
            prop_assert_eq!(redacted.len(), text.len());
            prop_assert_eq!(redacted.matches('\n').count(), text.matches('\n').count());
        }
    }
}
