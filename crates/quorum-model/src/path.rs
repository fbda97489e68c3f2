//! Paths inside a repository: text with `/` between its parts, from the root.

/// `path` from `folder`, without `.` and `..`; absent where it leads out of the repository.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn dots_are_followed_and_never_lead_out() {
        let cases = [
            ("a/b", "../c.md", Some("a/c.md")),
            ("a/b", "./c//d", Some("a/b/c/d")),
            ("", "a/../b", Some("b")),
            ("a", "..", Some("")),
            ("a", "../../b", None),
        ];
        for (folder, path, expected) in cases {
            assert_eq!(joined(folder, path).as_deref(), expected, "{path} from {folder}");
        }
    }
}
