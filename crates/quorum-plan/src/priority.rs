//! Which files come first when the budget is short.

use quorum_model::scope::{FileEntry, FileKind, Flag};

/// How urgent a file is; lower comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Authentication, cryptography, secrets.
    SecuritySensitive,
    /// Handlers, routes, `main`.
    EntryPoint,
    /// What the program is for.
    BusinessLogic,
    /// Helpers, tests, texts, and what programs wrote.
    Utility,
}

/// How urgent `file` is.
pub fn of(file: &FileEntry) -> Priority {
    let supporting = [Flag::Test, Flag::Docs, Flag::Generated, Flag::Vendored, Flag::Binary];
    if file.has(Flag::SecuritySensitive) {
        Priority::SecuritySensitive
    } else if supporting.iter().any(|flag| file.has(*flag)) {
        Priority::Utility
    } else if file.has(Flag::EntryPoint) {
        Priority::EntryPoint
    } else if is_helper(&file.path) || matches!(file.kind, FileKind::Data | FileKind::Text) {
        Priority::Utility
    } else {
        Priority::BusinessLogic
    }
}

fn is_helper(path: &str) -> bool {
    let words = ["util", "utils", "helper", "helpers", "common", "misc", "shared", "tools"];
    let lower = path.to_ascii_lowercase();
    lower.split(['/', '.', '_', '-']).any(|part| words.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorum_model::scope::Change;

    #[test]
    fn urgent_files_come_first() {
        let file = |path: &str, flags: &[Flag]| FileEntry {
            path: path.into(),
            old_path: None,
            change: Change::Modified,
            language: None,
            kind: FileKind::Code,
            tokens: 0,
            flags: flags.to_vec(),
            flag_reasons: std::collections::BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        };
        let cases = [
            (
                "src/auth.go",
                &[Flag::SecuritySensitive, Flag::EntryPoint][..],
                Priority::SecuritySensitive,
            ),
            ("src/handlers/a.go", &[Flag::EntryPoint][..], Priority::EntryPoint),
            ("src/order.go", &[][..], Priority::BusinessLogic),
            ("src/utils/a.go", &[][..], Priority::Utility),
            ("src/handlers/a_test.go", &[Flag::Test, Flag::EntryPoint][..], Priority::Utility),
        ];
        for (path, flags, expected) in cases {
            assert_eq!(of(&file(path, flags)), expected, "{path}");
        }
    }
}
