//! The language of a file, by GitHub Linguist's data.

use linguist::DetectedLanguage;
use quorum_model::scope::FileKind;

use super::words::words;

/// Programs that run scripts, and the language that they run.
const INTERPRETERS: [(&str, &str); 19] = [
    ("sh", "x.sh"),
    ("bash", "x.sh"),
    ("dash", "x.sh"),
    ("zsh", "x.zsh"),
    ("ksh", "x.ksh"),
    ("fish", "x.fish"),
    ("python", "x.py"),
    ("pypy", "x.py"),
    ("uv", "x.py"),
    ("node", "x.js"),
    ("deno", "x.tsx"),
    ("bun", "x.tsx"),
    ("ruby", "x.rb"),
    ("perl", "x.pm"),
    ("php", "x.php"),
    ("lua", "x.lua"),
    ("awk", "x.awk"),
    ("make", "x.mk"),
    ("pwsh", "x.ps1"),
];

/// As much text as tells two languages of one extension apart.
const DISAMBIGUATION_PROBE: usize = 8 * 1024;

/// Extensions whose other languages are so rare that a look at the first character is enough:
/// Linguist's patterns would take most of the time that a file takes.
const PLAIN: [&str; 10] = ["rs", "ts", "md", "cs", "php", "sql", "txt", "html", "yml", "yaml"];

/// Where an extension stays ambiguous, the language that nearly every such file is in.
const LIKELY: [&str; 14] = [
    "C",
    "C++",
    "C#",
    "Go",
    "Rust",
    "Python",
    "TypeScript",
    "JavaScript",
    "SQL",
    "Markdown",
    "YAML",
    "PHP",
    "HTML",
    "Text",
];

/// The language of the file at `path`, whose content starts with `text`.
pub(super) fn detect(path: &str, text: &str) -> Option<DetectedLanguage> {
    if names_its_language(text)
        && let Ok(found) = linguist::detect_language_by_modeline(text)
        && let Some(language) = found.into_iter().next()
    {
        return Some(language);
    }
    let mut candidates = linguist::detect_language_by_filename(path).unwrap_or_default();
    if candidates.len() != 1 {
        let by_extension = linguist::detect_language_by_extension(path).unwrap_or_default();
        if candidates.is_empty() {
            candidates = by_extension;
        }
    }
    match candidates.len() {
        0 => by_shebang(text),
        1 => candidates.pop(),
        _ if is_plain(path, text) => likely(candidates),
        _ => {
            let head = &text[..text.floor_char_boundary(DISAMBIGUATION_PROBE)];
            let by_content = linguist::disambiguate(path, head).unwrap_or_default();
            if by_content.is_empty() { likely(candidates) } else { likely(by_content) }
        }
    }
}

/// Whether an editor's mode line may be in the first or the last lines.
///
/// Linguist's own search for one takes longer than everything else about a file.
fn names_its_language(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = [&bytes[..bytes.len().min(512)], &bytes[bytes.len().saturating_sub(512)..]];
    let hints: [&[u8]; 3] = [b"-*-", b"vim:", b"vi:"];
    ends.iter()
        .any(|end| hints.iter().any(|hint| end.windows(hint.len()).any(|window| window == *hint)))
}

/// Whether the likely language of the extension is the one, without a closer look.
fn is_plain(path: &str, text: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default();
    // Translations of one toolkit are `.ts` files as well, and XML.
    let is_markup = extension == "ts" && text.trim_start().starts_with('<');
    PLAIN.contains(&extension) && !is_markup
}

fn by_shebang(text: &str) -> Option<DetectedLanguage> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut program = words.next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let program = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    let (_, example) = INTERPRETERS.iter().find(|(name, _)| *name == program)?;
    likely(linguist::detect_language_by_extension(example).ok()?)
}

fn likely(mut candidates: Vec<DetectedLanguage>) -> Option<DetectedLanguage> {
    let rank = |language: &DetectedLanguage| {
        LIKELY.iter().position(|name| *name == language.name).unwrap_or(LIKELY.len())
    };
    candidates.sort_by_key(|language| (rank(language), language.name));
    candidates.into_iter().next()
}

/// What sort of content a file of `language` has.
pub(super) fn kind(path: &str, language: Option<&DetectedLanguage>) -> FileKind {
    use linguist_types::LanguageType;
    let Some(language) = language else { return unknown_kind(path) };
    match language.name {
        "Shell" | "PowerShell" | "Batchfile" | "Makefile" | "Just" | "fish" | "Awk" => {
            FileKind::Script
        }
        "JSON" | "YAML" | "TOML" | "INI" | "XML" | "Java Properties" | "Dotenv" | "JSON5"
        | "JSON with Comments" | "HCL" | "Nginx" | "ApacheConf" | "Git Config" | "EditorConfig"
        | "Ignore List" | "Git Attributes" | "Maven POM" | "Go Module" | "Go Checksums"
        | "XML Property List" | "Dockerfile" | "NPM Config" | "CODEOWNERS" => FileKind::Config,
        _ => match language.definition.language_type {
            LanguageType::Programming => FileKind::Code,
            LanguageType::Prose => FileKind::Prose,
            LanguageType::Markup if is_page_text(language.name) => FileKind::Prose,
            LanguageType::Markup => FileKind::Markup,
            LanguageType::Data => FileKind::Data,
        },
    }
}

fn is_page_text(language: &str) -> bool {
    matches!(language, "Markdown" | "reStructuredText" | "AsciiDoc" | "Org" | "MDX" | "Roff")
}

fn unknown_kind(path: &str) -> FileKind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let has = |word: &str| words(name).iter().any(|found| found == word);
    if name.starts_with(".env") || has("conf") || has("config") || has("cfg") {
        FileKind::Config
    } else if has("license") || has("readme") || has("copying") || has("notice") || has("authors") {
        FileKind::Prose
    } else {
        FileKind::Text
    }
}
