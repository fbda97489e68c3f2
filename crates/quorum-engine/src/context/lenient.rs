//! The front matter of other tools' files, which is often no YAML: `globs: *.ts,*.tsx` is an alias
//! there, and what its tool takes for a list of globs.

use quorum_plan::glob::split_list;

/// Front matter and body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page<'a> {
    keys: Vec<(&'a str, Vec<String>)>,
    pub(crate) body: &'a str,
}

impl<'a> Page<'a> {
    /// Reads `text`. Without front matter, or with one that does not end, all of it is body.
    pub(crate) fn of(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Ok((front, body)) = quorum_plan::front_matter::split(text) else {
            return Self { keys: Vec::new(), body: text };
        };
        let mut keys: Vec<(&str, Vec<String>)> = Vec::new();
        for line in front.lines() {
            let item = line.trim_start();
            if let Some(item) = item.strip_prefix("- ") {
                if let Some((_, values)) = keys.last_mut() {
                    values.push(unquoted(item).to_owned());
                }
            } else if let Some((key, value)) = line.split_once(':')
                && !key.starts_with([' ', '\t', '#'])
            {
                keys.push((key.trim(), list(value)));
            }
        }
        Self { keys, body }
    }

    /// The values of a key; none where it is absent or empty.
    pub(crate) fn all(&self, key: &str) -> &[String] {
        let found = self.keys.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, values)| values.as_slice()).unwrap_or_default()
    }

    /// Whether a key says `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.all(key).first().is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

/// `a,b`, `"a,b"` or `["a", "b"]`.
fn list(value: &str) -> Vec<String> {
    let value = value.trim();
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let items = split_list(inner.unwrap_or_else(|| unquoted(value)));
    items.iter().map(|item| unquoted(item).to_owned()).filter(|item| !item.is_empty()).collect()
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_every_form_that_tools_write() {
        for front in [
            "globs: *.ts,src/**/*.{js,jsx}",
            "globs: \"*.ts, src/**/*.{js,jsx}\"",
            "globs: [\"*.ts\", 'src/**/*.{js,jsx}']",
            "globs:\n  - *.ts\n  - \"src/**/*.{js,jsx}\"",
        ] {
            let text = format!("---\ndescription: a: b\n{front}\nalwaysApply: false\n---\nBody\n");
            let page = Page::of(&text);
            assert_eq!(page.all("globs"), ["*.ts", "src/**/*.{js,jsx}"], "{front}");
            assert!(!page.is_true("alwaysApply"));
            assert_eq!(page.body, "Body\n");
        }
        assert!(Page::of("---\nalwaysApply: true\nglobs:\n---\n").is_true("alwaysapply"));
        assert_eq!(Page::of("---\nglobs:\n---\n").all("globs"), [] as [&str; 0]);
        assert_eq!(Page::of("# No front matter").body, "# No front matter");
    }
}
