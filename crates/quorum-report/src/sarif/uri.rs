//! Paths as relative URIs.

use std::fmt::Write as _;

/// `path` as a URI relative to the root of the repository.
///
/// All but the plainest characters are encoded, the colon too: `a:b` would have a scheme.
pub(super) fn relative(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for (index, byte) in path.bytes().enumerate() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            // A leading slash would leave the root, two of them the machine.
            b'/' if index > 0 => uri.push('/'),
            // Writing to a string cannot fail.
            byte => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris_that_mean_the_same_file() {
        let cases = [
            ("src/a-b_c.rs", "src/a-b_c.rs"),
            ("with space/ü#?%.go", "with%20space/%C3%BC%23%3F%25.go"),
            ("a:b/c", "a%3Ab/c"),
            ("/etc/passwd", "%2Fetc/passwd"),
            ("back\\slash", "back%5Cslash"),
        ];
        for (path, uri) in cases {
            assert_eq!(relative(path), uri);
        }
    }
}
