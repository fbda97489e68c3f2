//! Markdown in parts that can stand alone.

/// The parts of `text`, each from a heading to the next; together they are the text. A line that looks
/// like a heading inside a fenced block is none.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut offset = 0;
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if is_heading(line) && offset > start => {
                parts.push(&text[start..offset]);
                start = offset;
            }
            _ => {}
        }
        offset += line.len();
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

fn is_heading(line: &str) -> bool {
    let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
    (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headings_part_a_text_but_not_in_code() {
        let text = "intro\n# One\na\n```sh\n# no heading\n```\n## Two\n#hash\n";
        assert_eq!(
            split(text),
            ["intro\n", "# One\na\n```sh\n# no heading\n```\n", "## Two\n#hash\n"]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "(#{0,7} ?[a-zé`~\n]{0,8}\n?){0,20}") {
            prop_assert_eq!(split(&text).concat(), text);
        }
    }
}
