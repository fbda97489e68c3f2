//! Markdown files that start with YAML between two `---` lines.

use quorum_model::wording;
use serde::de::DeserializeOwned;

use crate::error::PlanError;

/// Front matter larger than this is not somebody's description of a reviewer.
const LARGEST: usize = 64 * 1024;

/// Splits `text` into its front matter and its body.
pub fn split(text: &str) -> Result<(&str, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err("it does not start with a `---` line".to_owned());
    }
    let start = text.find('\n').map_or(text.len(), |feed| feed + 1);
    let mut offset = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&text[start..offset], &text[offset + line.len()..]));
        }
        offset += line.len();
    }
    Err("the `---` line that ends the front matter is missing".to_owned())
}

/// Reads the front matter of the file at `path`, and returns it with the body. `keys` are those that it
/// can have, each with what it takes: whoever made a mistake is told them.
pub fn read<T: DeserializeOwned>(
    path: &str,
    text: &str,
    keys: &str,
) -> Result<(T, String), PlanError> {
    let error = |message: String| PlanError::FrontMatter { path: path.to_owned(), message };
    let (yaml, body) = split(text).map_err(error)?;
    if yaml.len() > LARGEST {
        return Err(error(format!("the front matter is larger than {LARGEST} bytes")));
    }
    let value = serde_saphyr::from_str(yaml)
        .map_err(|cause| error(wording::with_keys(&cause.to_string(), keys)))?;
    Ok((value, body.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splits_at_the_second_line_of_dashes() {
        assert_eq!(split("---\na: 1\n---\n# body\n"), Ok(("a: 1\n", "# body\n")));
        assert_eq!(split("---\r\na: 1\r\n---\r\nbody"), Ok(("a: 1\r\n", "body")));
        assert_eq!(split("\u{feff}---\n---"), Ok(("", "")));
    }

    #[test]
    fn says_what_is_missing() {
        assert!(split("# title").is_err_and(|message| message.contains("start with")));
        assert!(split("---\na: 1\n").is_err_and(|message| message.contains("ends")));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(---\n)?[ -~\n]{0,200}(---\n)?[a-z:\\[{&*!|>' \n]{0,100}") {
            drop(read::<std::collections::BTreeMap<String, String>>("x.md", &text, ""));
        }
    }
}
