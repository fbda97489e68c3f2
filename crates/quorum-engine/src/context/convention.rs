//! How a team writes code, from the files in which it says so to people and to other tools.
//!
//! Each kind of file has its own rule about what it is for: a folder and what is below it, globs, or
//! whoever asks for it by name.

use quorum_plan::glob::Globs;

use crate::context::lenient::Page;

/// A document that says how code is written.
#[derive(Clone, Debug)]
pub struct Convention {
    /// Its file.
    pub path: String,
    /// What it says.
    pub text: String,
    reach: Reach,
}

/// What a convention is for.
#[derive(Clone, Debug)]
enum Reach {
    /// A folder and all below it; the root's name is empty.
    Folder(String),
    /// The files below a folder that match.
    Globs(String, Globs),
    /// Nothing that a reviewer is shown, for this reason.
    Nothing(String),
}

/// A convention that reviewers are not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Its file.
    pub path: String,
    /// Why not.
    pub reason: String,
}

/// Files that are for a folder and what is below it.
const BY_FOLDER: [&str; 5] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "REVIEW.md", ".cursorrules"];

/// Names, without ending, of what people write for people.
const FOR_PEOPLE: [&str; 9] = [
    "contributing",
    "conventions",
    "coding_conventions",
    "style",
    "styleguide",
    "style_guide",
    "coding_style",
    "code_style",
    "coding_standards",
];

/// Folders that speak for the folder that they are in.
const SPEAKERS: [&str; 3] = [".github", "docs", ".claude"];

/// Where accepted conventions are kept.
const ACCEPTED: &str = ".quorum/conventions/";

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ByFolder,
    Cursor,
    Copilot,
    CopilotInstructions,
    Accepted,
}

fn kind(path: &str) -> Option<Kind> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let inside = |wanted: &str| format!("/{folder}/").contains(&format!("/{wanted}/"));
    if BY_FOLDER.contains(&name) {
        return Some(Kind::ByFolder);
    }
    if inside(".cursor/rules") && has_ending(name, &["mdc", "md"]) {
        return Some(Kind::Cursor);
    }
    if path == ".github/copilot-instructions.md" {
        return Some(Kind::Copilot);
    }
    if inside(".github/instructions") && name.ends_with(".instructions.md") {
        return Some(Kind::CopilotInstructions);
    }
    if path.starts_with(ACCEPTED) && has_ending(name, &["md"]) {
        return Some(Kind::Accepted);
    }
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let stem = stem.to_lowercase().replace('-', "_");
    let text = ["", "md", "rst", "txt", "adoc"].contains(&ending.to_lowercase().as_str());
    // A folder of styles is for browsers.
    let shouts = name.starts_with(|letter: char| letter.is_uppercase());
    (text && FOR_PEOPLE.contains(&stem.as_str()) && (shouts || ending == "md"))
        .then_some(Kind::ByFolder)
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

/// Whether the file at `path` is a convention.
pub fn is_convention(path: &str) -> bool {
    kind(path).is_some()
}

impl Convention {
    /// Reads the file at `path`; absent where it is no convention.
    pub fn read(path: &str, text: &str) -> Option<Self> {
        let page = Page::of(text);
        let reach = match kind(path)? {
            Kind::ByFolder => Reach::Folder(speaks_for(path)),
            Kind::Copilot => Reach::Folder(String::new()),
            Kind::Cursor => {
                let root = path.split(".cursor/rules/").next().unwrap_or_default();
                let root = root.trim_end_matches('/').to_owned();
                if page.is_true("alwaysApply") {
                    Reach::Folder(root)
                } else {
                    matching(root, page.all("globs"), "it is for whoever asks for it by name")
                }
            }
            Kind::CopilotInstructions => {
                if page.all("excludeAgent").iter().any(|agent| agent.contains("code-review")) {
                    Reach::Nothing("it says that it is not for code review".to_owned())
                } else {
                    matching(String::new(), page.all("applyTo"), "it has no `applyTo`")
                }
            }
            Kind::Accepted if page.all("applies_to").is_empty() => Reach::Folder(String::new()),
            Kind::Accepted => matching(String::new(), page.all("applies_to"), ""),
        };
        let text = page.body.trim().to_owned();
        Some(Self { path: path.to_owned(), text, reach })
    }

    /// Why it is of interest to whoever reads `file`; absent where it is not.
    pub fn reaches(&self, file: &str) -> Option<String> {
        match &self.reach {
            Reach::Nothing(_) => None,
            Reach::Folder(folder) => {
                let below = below(folder, file)?;
                let whole = folder.is_empty() || below.is_empty();
                Some(if whole { "for everything".to_owned() } else { format!("for {folder}/") })
            }
            Reach::Globs(folder, globs) => {
                let pattern = globs.first(below(folder, file)?)?;
                Some(format!("for `{pattern}`"))
            }
        }
    }

    /// How near it is to what it is for: the deeper, the nearer.
    pub fn depth(&self) -> usize {
        match &self.reach {
            Reach::Nothing(_) => 0,
            Reach::Folder(folder) if folder.is_empty() => 0,
            Reach::Folder(folder) => 1 + folder.matches('/').count(),
            // What names its files speaks of them.
            Reach::Globs(folder, _) => 100 + folder.matches('/').count(),
        }
    }

    /// What it is for, for people.
    pub fn scope(&self) -> String {
        match &self.reach {
            Reach::Nothing(reason) => format!("nothing: {reason}"),
            Reach::Folder(folder) if folder.is_empty() => "everything".to_owned(),
            Reach::Folder(folder) => format!("{folder}/"),
            Reach::Globs(folder, globs) => {
                let globs = globs.patterns().join(", ");
                if folder.is_empty() { globs } else { format!("{globs} in {folder}/") }
            }
        }
    }
}

fn matching(folder: String, patterns: &[String], none: &str) -> Reach {
    if patterns.is_empty() {
        return Reach::Nothing(none.to_owned());
    }
    match Globs::new(patterns) {
        Ok(globs) => Reach::Globs(folder, globs),
        Err(error) => Reach::Nothing(error.to_string()),
    }
}

/// The folder that a file speaks for: its own, or the one around `.github`, `docs` and their like.
fn speaks_for(path: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (around, last) = folder.rsplit_once('/').unwrap_or(("", folder));
    let for_folder = path.ends_with("/AGENTS.md") && last == "docs";
    if SPEAKERS.contains(&last) && !for_folder { around.to_owned() } else { folder.to_owned() }
}

/// The path of `file` below `folder`; absent where it is not there.
fn below<'f>(folder: &str, file: &'f str) -> Option<&'f str> {
    if folder.is_empty() {
        return Some(file);
    }
    file.strip_prefix(folder)?.strip_prefix('/')
}

/// Those that say something of their own, and why the others are left out: a copy, or a page that only
/// points at another.
pub fn distinct(conventions: Vec<Convention>) -> (Vec<Convention>, Vec<Unused>) {
    let mut kept: Vec<Convention> = Vec::new();
    let mut unused = Vec::new();
    for convention in conventions {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let own = words(&convention.text);
        let same = kept
            .iter()
            .find(|known| known.scope() == convention.scope() && words(&known.text) == own);
        let reason = match (&convention.reach, same) {
            (Reach::Nothing(reason), _) => reason.clone(),
            _ if own.is_empty() => "it is empty".to_owned(),
            (_, Some(known)) => format!("the same as {}", known.path),
            _ => {
                if let Some(target) = pointer(&convention) {
                    format!("it only points at {target}")
                } else {
                    kept.push(convention);
                    continue;
                }
            }
        };
        unused.push(Unused { path: convention.path, reason });
    }
    (kept, unused)
}

/// What a page points at, where it says nothing else: imports of other pages, or a link that git
/// shows as the path of its target.
fn pointer(convention: &Convention) -> Option<String> {
    let lines: Vec<&str> =
        convention.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let path = |line: &&str| !line.contains(char::is_whitespace);
    if lines.iter().all(|line| line.starts_with('@') && path(line)) {
        let targets: Vec<&str> = lines.iter().map(|line| &line[1..]).collect();
        return Some(targets.join(", "));
    }
    let [line] = lines.as_slice() else { return None };
    let target = line.trim_start_matches("./").trim_start_matches("../");
    (path(line) && is_convention(target)).then(|| (*line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, text: &str) -> Convention {
        Convention::read(path, text).unwrap_or_else(|| panic!("{path} is a convention"))
    }

    #[test]
    fn every_kind_has_its_own_rule_of_scope() {
        let cases: &[(&str, &str, &[&str], &[&str])] = &[
            ("AGENTS.md", "x", &["a.go", "deep/a.go"], &[]),
            ("web/AGENTS.md", "x", &["web/a.ts"], &["a.go", "website/a.ts"]),
            (".claude/CLAUDE.md", "x", &["a.go"], &[]),
            ("pkg/GEMINI.md", "x", &["pkg/x/a.go"], &["b.go"]),
            ("REVIEW.md", "x", &["a.go"], &[]),
            (".cursorrules", "x", &["a.go"], &[]),
            (".cursor/rules/ts.mdc", "---\nglobs: *.ts,*.tsx\n---\nx", &["a/b.tsx"], &["a.js"]),
            (".cursor/rules/all.mdc", "---\nalwaysApply: true\n---\nx", &["a.js"], &[]),
            (".cursor/rules/ask.mdc", "---\ndescription: ask\n---\nx", &[], &["a.js"]),
            (
                "web/.cursor/rules/deep/css.mdc",
                "---\nglobs: [\"src/**\"]\n---\nx",
                &["web/src/a.css"],
                &["src/a.css"],
            ),
            (".github/copilot-instructions.md", "x", &["a.go"], &[]),
            (
                ".github/instructions/go.instructions.md",
                "---\napplyTo: \"**/*.go\"\n---\nx",
                &["a.go", "b/a.go"],
                &["a.rs"],
            ),
            (
                ".github/instructions/no.instructions.md",
                "---\napplyTo: \"**\"\nexcludeAgent: \"code-review\"\n---\nx",
                &[],
                &["a.rs"],
            ),
            ("CONTRIBUTING.md", "x", &["a.go"], &[]),
            (".github/CONTRIBUTING.md", "x", &["a.go"], &[]),
            ("docs/STYLE_GUIDE.md", "x", &["a.go"], &[]),
            ("packages/a/CONTRIBUTING.md", "x", &["packages/a/b.js"], &["packages/b/b.js"]),
            ("CONVENTIONS", "x", &["a.go"], &[]),
            (
                ".quorum/conventions/timeouts.md",
                "---\napplies_to: \"handlers/*.go\"\n---\nx",
                &["handlers/a.go"],
                &["a.go"],
            ),
        ];
        for (path, text, reached, others) in cases {
            let convention = read(path, text);
            assert_eq!(convention.text, "x", "{path}");
            for file in *reached {
                assert!(convention.reaches(file).is_some(), "{path} is for {file}");
            }
            for file in *others {
                assert!(convention.reaches(file).is_none(), "{path} is not for {file}");
            }
        }
    }

    #[test]
    fn what_only_looks_like_a_convention_is_none() {
        for path in ["src/style.css", "web/style.rs", "style.txt", "rules/a.mdc", "agents.md.txt"] {
            assert!(!is_convention(path), "{path}");
        }
    }

    #[test]
    fn copies_and_pointers_say_nothing_of_their_own() {
        let all = vec![
            read("AGENTS.md", "Wrap errors.\n"),
            read("CLAUDE.md", "Wrap\nerrors.  "),
            read("GEMINI.md", "@AGENTS.md\n"),
            read(".github/copilot-instructions.md", "../AGENTS.md"),
            read("web/AGENTS.md", "Wrap errors."),
            read("REVIEW.md", " \n"),
            read(".cursor/rules/ask.mdc", "---\ndescription: d\n---\nOn request."),
        ];
        let (kept, unused) = distinct(all);
        let kept: Vec<&str> = kept.iter().map(|convention| convention.path.as_str()).collect();
        assert_eq!(kept, ["AGENTS.md", "web/AGENTS.md"]);
        let unused: Vec<String> =
            unused.iter().map(|unused| format!("{}: {}", unused.path, unused.reason)).collect();
        assert_eq!(
            unused,
            [
                "CLAUDE.md: the same as AGENTS.md",
                "GEMINI.md: it only points at AGENTS.md",
                ".github/copilot-instructions.md: it only points at ../AGENTS.md",
                "REVIEW.md: it is empty",
                ".cursor/rules/ask.mdc: it is for whoever asks for it by name",
            ]
        );
    }
}
