//! Builds the text of a diff from what hosts tell about single files.

use std::borrow::Cow;

use crate::{PullRequestDiff, quote::quote};

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Deleted,
    Modified,
    Renamed,
    Copied,
}

/// What is known of a change's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    /// All of it.
    Hunks(&'a str),
    /// A part of it, and nothing says how much is missing.
    Partial(&'a str),
    /// The file is no text.
    Binary,
    /// No line changed: an empty file, a new name, or another mode.
    Empty,
    /// The host left it out, or may have.
    Withheld,
}

/// One file of a diff.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) old_path: &'a str,
    pub(crate) new_path: &'a str,
    pub(crate) change: Change,
    /// The modes before and after, where the host tells them.
    pub(crate) modes: Option<(&'a str, &'a str)>,
    pub(crate) body: Body<'a>,
}

impl PullRequestDiff {
    /// Adds one file.
    pub(crate) fn push(&mut self, section: &Section<'_>) {
        section.write_header(self);
        match section.body {
            Body::Hunks(hunks) | Body::Partial(hunks) => section.write_hunks(hunks, self),
            Body::Binary => {
                let (old, new) = section.sides();
                self.line(&format!("Binary files {} and {} differ", quote(&old), quote(&new)));
            }
            Body::Empty | Body::Withheld => {}
        }
        if matches!(section.body, Body::Partial(_) | Body::Withheld) {
            self.withheld.push(section.path().to_owned());
        }
    }

    fn line(&mut self, line: &str) {
        self.text.extend_from_slice(line.as_bytes());
        self.text.push(b'\n');
    }
}

impl Section<'_> {
    fn path(&self) -> &str {
        if self.change == Change::Deleted { self.old_path } else { self.new_path }
    }

    fn write_header(&self, diff: &mut PullRequestDiff) {
        let (old, new) = (self.old_path, self.new_path);
        diff.line(&format!(
            "diff --git {} {}",
            quote(&format!("a/{old}")),
            quote(&format!("b/{new}"))
        ));
        match self.change {
            Change::Added => diff.line(&format!("new file mode {}", self.mode(|(_, new)| new))),
            Change::Deleted => {
                diff.line(&format!("deleted file mode {}", self.mode(|(old, _)| old)));
            }
            Change::Modified | Change::Renamed | Change::Copied => self.write_modes(diff),
        }
        let moved = match self.change {
            Change::Renamed => "rename",
            Change::Copied => "copy",
            Change::Added | Change::Deleted | Change::Modified => return,
        };
        // Git would also say how similar the two are, which no host tells.
        diff.line(&format!("{moved} from {}", quote(old)));
        diff.line(&format!("{moved} to {}", quote(new)));
    }

    fn write_modes(&self, diff: &mut PullRequestDiff) {
        if let Some((old, new)) = self.modes
            && old != new
            && is_mode(old)
            && is_mode(new)
        {
            diff.line(&format!("old mode {old}"));
            diff.line(&format!("new mode {new}"));
        }
    }

    /// A diff must name a mode here, so a plain file stands for one that is not known.
    fn mode<'a>(&'a self, side: impl Fn((&'a str, &'a str)) -> &'a str) -> &'a str {
        self.modes.map(side).filter(|mode| is_mode(mode)).unwrap_or("100644")
    }

    fn write_hunks(&self, hunks: &str, diff: &mut PullRequestDiff) {
        let (old, new) = self.sides();
        diff.line(&format!("--- {}", with_tab(&old)));
        diff.line(&format!("+++ {}", with_tab(&new)));
        diff.text.extend_from_slice(hunks.as_bytes());
        if !hunks.ends_with('\n') {
            diff.text.push(b'\n');
        }
    }

    /// Both names with their prefix, or `/dev/null`.
    fn sides(&self) -> (Cow<'static, str>, Cow<'static, str>) {
        let absent = Cow::Borrowed("/dev/null");
        let old = || Cow::Owned(format!("a/{}", self.old_path));
        let new = || Cow::Owned(format!("b/{}", self.new_path));
        match self.change {
            Change::Added => (absent, new()),
            Change::Deleted => (old(), absent),
            Change::Modified | Change::Renamed | Change::Copied => (old(), new()),
        }
    }
}

/// The hunks in a text that may have `---` and `+++` before them, as old versions of GitLab do.
pub(crate) fn hunks(text: &str) -> Option<&str> {
    if text.starts_with("@@ ") {
        return Some(text);
    }
    let start = text.starts_with("--- ").then(|| text.find("\n@@ "))??;
    Some(&text[start + 1..])
}

fn is_mode(mode: &str) -> bool {
    mode.len() == 6 && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) && mode != "000000"
}

/// Git ends a name with a space in it with a tab, so that `patch` finds its end.
fn with_tab(name: &str) -> String {
    quote(name) + if name.contains(' ') { "\t" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUNK: &str = "@@ -1 +1 @@\n-a\n+b";

    #[track_caller]
    fn check(section: &Section<'_>, text: &str, withheld: &[&str]) {
        let mut diff = PullRequestDiff::default();
        diff.push(section);
        assert_eq!(String::from_utf8_lossy(&diff.text), text);
        assert_eq!(diff.withheld, withheld);
    }

    fn section<'a>(old: &'a str, new: &'a str, change: Change, body: Body<'a>) -> Section<'a> {
        Section { old_path: old, new_path: new, change, modes: None, body }
    }

    #[test]
    fn a_modified_file() {
        check(
            &section("x.rs", "x.rs", Change::Modified, Body::Hunks(HUNK)),
            "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n",
            &[],
        );
    }

    #[test]
    fn added_and_deleted_files_have_one_side() {
        check(
            &section("x", "x", Change::Added, Body::Hunks(HUNK)),
            "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n\
             @@ -1 +1 @@\n-a\n+b\n",
            &[],
        );
        let deleted = Section {
            modes: Some(("100755", "0")),
            ..section("x", "x", Change::Deleted, Body::Binary)
        };
        check(
            &deleted,
            "diff --git a/x b/x\ndeleted file mode 100755\nBinary files a/x and /dev/null differ\n",
            &[],
        );
    }

    #[test]
    fn a_renamed_file_with_another_mode() {
        let renamed = Section {
            modes: Some(("100644", "100755")),
            ..section("old", "new", Change::Renamed, Body::Empty)
        };
        check(
            &renamed,
            "diff --git a/old b/new\nold mode 100644\nnew mode 100755\n\
             rename from old\nrename to new\n",
            &[],
        );
    }

    #[test]
    fn names_are_quoted_everywhere() {
        check(
            &section("\u{f6}", "a\"b", Change::Copied, Body::Hunks(HUNK)),
            "diff --git \"a/\\303\\266\" \"b/a\\\"b\"\ncopy from \"\\303\\266\"\n\
             copy to \"a\\\"b\"\n--- \"a/\\303\\266\"\n+++ \"b/a\\\"b\"\n@@ -1 +1 @@\n-a\n+b\n",
            &[],
        );
        check(
            &section("\u{f6}", "\u{f6}", Change::Modified, Body::Binary),
            "diff --git \"a/\\303\\266\" \"b/\\303\\266\"\n\
             Binary files \"a/\\303\\266\" and \"b/\\303\\266\" differ\n",
            &[],
        );
    }

    #[test]
    fn a_name_with_a_line_break_cannot_add_a_line() {
        let mut diff = PullRequestDiff::default();
        let name = "x\ndiff --git a/y b/y";
        diff.push(&section(name, name, Change::Modified, Body::Hunks(HUNK)));
        let text = String::from_utf8(diff.text).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("diff --git")).count(), 1);
    }

    #[test]
    fn a_name_with_a_space_ends_with_a_tab() {
        check(
            &section("a b", "a b", Change::Modified, Body::Hunks(HUNK)),
            "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n",
            &[],
        );
        check(
            &section("\u{f6} b", "\u{f6} b", Change::Deleted, Body::Hunks(HUNK)),
            "diff --git \"a/\\303\\266 b\" \"b/\\303\\266 b\"\ndeleted file mode 100644\n\
             --- \"a/\\303\\266 b\"\t\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
            &[],
        );
    }

    #[test]
    fn a_withheld_file_keeps_its_header() {
        check(&section("x", "x", Change::Modified, Body::Withheld), "diff --git a/x b/x\n", &["x"]);
        check(
            &section("x", "x", Change::Modified, Body::Partial(HUNK)),
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            &["x"],
        );
    }

    #[test]
    fn hunks_are_found_behind_old_headers() {
        assert_eq!(hunks("@@ -1 +1 @@\n"), Some("@@ -1 +1 @@\n"));
        assert_eq!(hunks("--- a/x\n+++ b/x\n@@ -1 +1 @@\n"), Some("@@ -1 +1 @@\n"));
        assert_eq!(hunks(""), None);
        assert_eq!(hunks("Binary files a/x and b/x differ\n"), None);
    }
}
