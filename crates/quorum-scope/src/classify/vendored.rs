//! Third-party code that is kept in the repository.
//!
//! Linguist has a list of its own, for statistics: it takes `cache/`, `testdata/` and every `.d.ts`
//! file out of them. A reviewer must not think less of a team's own `cache/` for that.

use quorum_model::scope::Flag;

use super::Classified;

/// Folders that hold other people's code, wherever they stand.
const FOLDERS: [&str; 17] = [
    "vendor",
    "vendors",
    "vendored",
    "node_modules",
    "bower_components",
    "third_party",
    "third-party",
    "thirdparty",
    "3rdparty",
    "3rd-party",
    "extern",
    "external",
    "externals",
    "godeps",
    "pods",
    "carthage",
    "site-packages",
];

/// Libraries that are copied into repositories one file at a time.
const LIBRARIES: [&str; 6] =
    ["jquery", "bootstrap", "normalize.css", "modernizr", "font-awesome", "fontawesome"];

/// Sets `Vendored` where the path says so.
pub(super) fn set_flag(found: &mut Classified, path: &str) {
    let lower = path.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let folder = folders.split('/').find(|folder| FOLDERS.contains(folder));
    if let Some(folder) = folder {
        found.set(Flag::Vendored, format!("under `{folder}/`"));
    } else if lower.starts_with(".yarn/") || lower.contains("/.yarn/") {
        found.set(Flag::Vendored, "under `.yarn/`");
    } else if (name.ends_with(".js") || name.ends_with(".css"))
        && let Some(library) = LIBRARIES.iter().find(|library| name.starts_with(*library))
    {
        found.set(Flag::Vendored, format!("a copy of {library}"));
    }
}
