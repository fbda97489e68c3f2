//! The language of a file, by GitHub Linguist's data.

use linguist::DetectedLanguage;
use quorum_model::scope::FileKind;

use super::words::words;

/// Programs that run scripts, and the language that they run.
const INTERPRETERS: [(&str, &str); 27] = [
    ("sh", "x.sh"),
    ("bash", "x.sh"),
    ("dash", "x.sh"),
    ("zsh", "x.zsh"),
    ("ksh", "x.ksh"),
    ("fish", "x.fish"),
    ("python", "x.py"),
    ("pypy", "x.py"),
    ("uv", "x.py"),
    ("ipython", "x.py"),
    ("node", "x.js"),
    ("nodejs", "x.js"),
    ("zx", "x.js"),
    ("ts-node", "x.tsx"),
    ("tsx", "x.tsx"),
    ("ash", "x.sh"),
    ("jruby", "x.rb"),
    ("groovy", "x.groovy"),
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

/// Endings that run as another language than the one that is named after them, with a name that
/// has this language.
const OTHER_ENDINGS: [(&str, &str); 14] = [
    (".phtml", "x.php"),
    (".phtm", "x.php"),
    (".pht", "x.php"),
    (".phps", "x.php"),
    (".php3", "x.php"),
    (".php4", "x.php"),
    (".php5", "x.php"),
    (".php6", "x.php"),
    (".php7", "x.php"),
    (".php8", "x.php"),
    (".phar.php", "x.php"),
    (".py3", "x.py"),
    (".jspf", "x.jsp"),
    (".jspx", "x.jsp"),
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
    let mut candidates = by_name(path);
    match candidates.len() {
        0 => by_shebang(text).or_else(|| by_mode_line(text)),
        // Whoever starts it goes by its first line, unless the name is that of a program too.
        _ if !candidates.iter().any(is_program) && by_shebang(text).is_some() => by_shebang(text),
        1 => candidates.pop(),
        _ if is_plain(path, text) => likely(candidates),
        _ => {
            let head = &text[..text.floor_char_boundary(DISAMBIGUATION_PROBE)];
            let by_content = linguist::disambiguate(path, head).unwrap_or_default();
            if by_content.is_empty() { likely(candidates) } else { likely(by_content) }
        }
    }
}

/// What names say, whatever their case: programs and file systems do not care about it either.
fn by_name(path: &str) -> Vec<DetectedLanguage> {
    let exact = by_exact_name(path);
    if !exact.is_empty() {
        return exact;
    }
    let lower = path.to_ascii_lowercase();
    // Some systems drop dots and spaces at the end of a name.
    let lower = lower.trim_end_matches(['.', ' ']);
    let other = OTHER_ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending));
    let found = by_exact_name(other.map_or(lower, |(_, example)| example));
    if !found.is_empty() {
        return found;
    }
    // Names such as `Dockerfile` begin with a capital.
    let (folder, name) = lower.rsplit_once('/').unwrap_or(("", lower));
    let mut letters = name.chars();
    let capital = letters.next().map(|first| first.to_ascii_uppercase());
    by_exact_name(&format!("{folder}/{}{}", capital.unwrap_or_default(), letters.as_str()))
}

fn by_exact_name(path: &str) -> Vec<DetectedLanguage> {
    let found = linguist::detect_language_by_filename(path).unwrap_or_default();
    if !found.is_empty() {
        return found;
    }
    if OTHER_ENDINGS.iter().any(|(ending, _)| path.ends_with(ending)) {
        return Vec::new();
    }
    linguist::detect_language_by_extension(path).unwrap_or_default()
}

/// Whether the name is that of a text in some language, whatever the bytes are.
pub fn is_named_as_text(path: &str) -> bool {
    use linguist_types::LanguageType;
    let found = by_name(path);
    // What Python pickles has the ending of a language too.
    let data = found.iter().any(|language| language.name == "Pickle");
    !data && found.iter().any(|language| language.definition.language_type != LanguageType::Data)
}

/// Whether the name is that of something a browser shows.
pub(crate) fn is_page(path: &str) -> bool {
    kind(path, detect(path, "").as_ref()) == FileKind::Template
}

fn is_program(language: &DetectedLanguage) -> bool {
    language.definition.language_type == linguist_types::LanguageType::Programming
}

/// Whether the name is that of a program's source.
pub(super) fn is_named_as_code(path: &str) -> bool {
    by_name(path).iter().any(is_program)
}

/// What an editor is told. It decides where the name does not: a change could call its code prose.
fn by_mode_line(text: &str) -> Option<DetectedLanguage> {
    if !names_its_language(text) {
        return None;
    }
    linguist::detect_language_by_modeline(text).ok()?.into_iter().next()
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
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let extension = extension.as_str();
    // Translations of one toolkit are `.ts` files as well, and XML: no code begins like this.
    let start = text.trim_start();
    let is_markup =
        extension == "ts" && (start.starts_with("<?xml") || start.starts_with("<!DOCTYPE"));
    PLAIN.contains(&extension) && !is_markup
}

fn by_shebang(text: &str) -> Option<DetectedLanguage> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut program = words.next()?;
    if matches!(program, "env" | "sudo" | "busybox" | "exec") {
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
        // A picture that carries scripts.
        "SVG" => FileKind::Template,
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
            LanguageType::Markup if !is_style(language.name) => FileKind::Template,
            LanguageType::Markup => FileKind::Markup,
            LanguageType::Data => FileKind::Data,
        },
    }
}

fn is_page_text(language: &str) -> bool {
    matches!(language, "Markdown" | "reStructuredText" | "AsciiDoc" | "Org" | "MDX" | "Roff")
}

/// How pages look, and how they are set: there is nothing to inject into and nothing runs.
fn is_style(language: &str) -> bool {
    let styles =
        ["CSS", "SCSS", "Sass", "Less", "Stylus", "PostCSS", "TeX", "BibTeX", "BibTeX Style"];
    styles.contains(&language)
}

/// Endings of templates that Linguist does not know.
const TEMPLATES: [&str; 12] = [
    ".tmpl",
    ".tpl",
    ".template",
    ".j2",
    ".jinja",
    ".jinja2",
    ".html.in",
    ".gohtml",
    ".vm",
    ".ftlh",
    ".thtml",
    ".xhtml",
];

fn unknown_kind(path: &str) -> FileKind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    if TEMPLATES.iter().any(|ending| lower.ends_with(ending)) {
        return FileKind::Template;
    }
    let has = |word: &str| words(name).iter().any(|found| found == word);
    if name.starts_with(".env") || has("conf") || has("config") || has("cfg") {
        FileKind::Config
    } else if has("license") || has("readme") || has("copying") || has("notice") || has("authors") {
        FileKind::Prose
    } else {
        FileKind::Text
    }
}
