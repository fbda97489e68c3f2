use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Result<Vec<PatchFile>, DiffError> {
    let mut reader = PatchReader::new(text.as_bytes());
    let mut files = Vec::new();
    while let Some(file) = reader.next_file()? {
        files.push(file);
    }
    Ok(files)
}

fn one(text: &str) -> PatchFile {
    let files = read(text).expect("the diff parses");
    assert_eq!(files.len(), 1, "{files:#?}");
    files.into_iter().next().expect("there is one")
}

fn names(file: &PatchFile) -> (Option<&str>, Option<&str>) {
    (
        file.old_path.as_ref().and_then(|name| name.to_str().ok()),
        file.new_path.as_ref().and_then(|name| name.to_str().ok()),
    )
}

const MODIFIED: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 1234567..89abcde 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@ fn main
 one
-two
+2
 three
@@ -10 +10,2 @@
 ten
+eleven
";

#[test]
fn a_modified_file() {
    let file = one(MODIFIED);
    assert_eq!(names(&file), (Some("src/a.rs"), Some("src/a.rs")));
    assert_eq!(file.change, Some(Change::Modified));
    assert_eq!(file.new_id.as_ref().map(ToString::to_string), Some("89abcde".to_owned()));
    let hunks: Vec<Hunk> = file.hunks.iter().map(|hunk| hunk.hunk).collect();
    assert_eq!(
        hunks,
        [
            Hunk { old_start: 1, old_lines: 3, new_start: 1, new_lines: 3 },
            Hunk { old_start: 10, old_lines: 1, new_start: 10, new_lines: 2 },
        ]
    );
    assert_eq!(&file.text[file.hunks[1].body.clone()], b" ten\n+eleven\n");
    assert_eq!(file.text, MODIFIED.as_bytes());
}

#[test]
fn a_removed_line_may_look_like_a_header() {
    let file =
        one("--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+++ b comment\n keep\n");
    assert_eq!(file.hunks.len(), 1);
    assert_eq!(names(&file), (Some("x.sql"), Some("x.sql")));
}

#[test]
fn added_deleted_renamed_copied_and_mode() {
    let text = "\
diff --git a/new b/new
new file mode 100644
index 0000000..e69de29
diff --git a/gone b/gone
deleted file mode 100755
index e69de29..0000000
diff --git a/old name b/new name
similarity index 100%
rename from old name
rename to new name
diff --git a/src b/dst
similarity index 90%
copy from src
copy to dst
index 1..2 100644
--- a/src
+++ b/dst
@@ -1 +1 @@
-a
+b
diff --git a/tool b/tool
old mode 100644
new mode 100755
";
    let files = read(text).expect("the diff parses");
    let seen: Vec<_> = files.iter().map(|f| (names(f), f.change.expect("settled"))).collect();
    assert_eq!(
        seen,
        [
            ((None, Some("new")), Change::Added),
            ((Some("gone"), None), Change::Deleted),
            ((Some("old name"), Some("new name")), Change::Renamed),
            ((Some("src"), Some("dst")), Change::Copied),
            ((Some("tool"), Some("tool")), Change::Modified),
        ]
    );
    assert_eq!((files[4].old_mode, files[4].new_mode), (Some(0o100_644), Some(0o100_755)));
}

#[test]
fn text_around_the_diff_is_skipped() {
    let text = format!("From 123\nSubject: x\n\n---\n a | 2 +-\n\n{MODIFIED}-- \n2.47.0\n");
    assert_eq!(one(&text).hunks.len(), 2);
}

#[test]
fn plain_unified_diffs() {
    let text = "\
diff -u old/a.c new/a.c
--- old/a.c\t2024-01-01 00:00:00.0 +0000
+++ new/a.c\t2024-01-02 00:00:00.0 +0000
@@ -1 +1 @@
-a
+b
\\ No newline at end of file
Binary files old/b.png and new/b.png differ
Only in new: b.c
Index: svn.txt
===================================================================
--- svn.txt\t(revision 1)
+++ svn.txt\t(working copy)
@@ -0,0 +1 @@
+x
";
    let files = read(text).expect("the diff parses");
    assert_eq!(names(&files[0]), (Some("a.c"), Some("a.c")));
    assert_eq!(files[0].change, Some(Change::Modified));
    assert_eq!((names(&files[1]).1, files[1].binary), (Some("b.png"), true));
    assert_eq!(names(&files[2]), (None, Some("svn.txt")));
    assert_eq!(files[2].change, Some(Change::Added));
    assert!(files[0].text.ends_with(b"\\ No newline at end of file\n"));
}

#[test]
fn prefixes_of_any_kind() {
    let body = "@@ -1 +1 @@\n-a\n+b\n";
    for (old, new) in [("a/", "b/"), ("", ""), ("i/", "w/"), ("OLD/", "NEW/"), ("c/", "i/")] {
        let changed =
            format!("diff --git {old}a/x y {new}a/x y\n--- {old}a/x y\t\n+++ {new}a/x y\t\n{body}");
        assert_eq!(names(&one(&changed)), (Some("a/x y"), Some("a/x y")), "{changed}");
        let added = format!(
            "diff --git {old}a/x {new}a/x\nnew file mode 100644\n--- /dev/null\n+++ {new}a/x\n\
             @@ -0,0 +1 @@\n+b\n"
        );
        assert_eq!(names(&one(&added)), (None, Some("a/x")), "{added}");
    }
}

#[test]
fn binary_files() {
    let text = "\
diff --git a/x.png b/x.png
index 1..2 100644
Binary files a/x.png and b/x.png differ
diff --git a/y.bin b/y.bin
index 1..2 100644
GIT binary patch
literal 3
KcmZQzWMT#Y01f~L

literal 0
HcmV?d00001

diff --git a/z b/z
--- a/z
+++ b/z
@@ -1 +1 @@
-a
+b
";
    let files = read(text).expect("the diff parses");
    let seen: Vec<_> = files.iter().map(|f| (names(f).1, f.binary)).collect();
    assert_eq!(seen, [(Some("x.png"), true), (Some("y.bin"), true), (Some("z"), false)]);
}

#[test]
fn a_merge_is_counted_against_its_first_parent() {
    let text = "\
diff --cc a.txt
index 1,2..3
--- a/a.txt
+++ b/a.txt
@@@ -1,3 -1,2 +1,3 @@@
  both
 -ours
- theirs
++merged
 +more
";
    let file = one(text);
    assert_eq!(names(&file), (Some("a.txt"), Some("a.txt")));
    let hunk = Hunk { old_start: 1, old_lines: 3, new_start: 1, new_lines: 3 };
    assert_eq!(file.hunks[0].hunk, hunk);
}

#[test]
fn carriage_returns_and_stripped_blank_context() {
    let file = one("--- a/x\r\n+++ b/x\r\n@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+c\r\n");
    assert_eq!(names(&file), (Some("x"), Some("x")));
    assert_eq!(file.hunks.len(), 1);
}

#[test]
fn what_does_not_parse_names_the_line() {
    let cases = [
        ("hello\nworld\n", "2 lines and no diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1 of the diff: a hunk stands before any file name"),
        ("--- a/x\n+++ b/x\n@@ nonsense @@\n", "line 3 of the diff: the `@@` line is malformed"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", "ends inside a hunk"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n*b\n", "line 5 of the diff: a line of a hunk"),
        ("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n-b\n", "other lines than"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n", "line 6 of the diff: a hunk has more"),
        ("--- /dev/null\n+++ /dev/null\n", "both names"),
    ];
    for (text, message) in cases {
        let error = read(text).expect_err(text).to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn an_empty_input_is_an_empty_diff() {
    assert_eq!(read("").expect("empty"), []);
    assert_eq!(read("\n \n").expect("blank"), []);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut reader = PatchReader::new(bytes.as_slice());
        while let Ok(Some(_)) = reader.next_file() {}
    }

    #[test]
    fn any_lines_of_a_diff_are_read_without_a_panic(
        lines in proptest::collection::vec(
            prop_oneof![
                Just("diff --git a/x b/x"), Just("--- a/x"), Just("+++ b/x"), Just("@@ -1,2 +1 @@"),
                Just("@@@ -1 -1 +1 @@@"), Just(" a"), Just("-a"), Just("+a"), Just("\\ No newline"),
                Just(""), Just("rename from \"q"), Just("GIT binary patch"), Just("index 1..2 1"),
            ],
            0..30,
        )
    ) {
        let text = lines.join("\n");
        let mut reader = PatchReader::new(text.as_bytes());
        while let Ok(Some(file)) = reader.next_file() {
            for hunk in &file.hunks {
                prop_assert!(file.text.get(hunk.body.clone()).is_some());
            }
        }
    }
}
