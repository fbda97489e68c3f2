//! Files in which a value needs no quotes: what stands after a name is the value, to the line's end.

use std::ops::Range;

/// How values are written in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Not known, or a programming language: a value without quotes may be an expression.
    #[default]
    Code,
    /// `name=value` or `name: value`, to the end of the line.
    Settings,
    /// Assignments of a shell: a value ends with a space.
    Shell,
    /// YAML, where a manifest may hold secrets under any name.
    Yaml,
    /// `machine … login … password …`.
    Netrc,
    /// `host:port:database:user:password`.
    Pgpass,
}

impl Syntax {
    /// By the file's name.
    pub(super) fn of(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if name.contains("pgpass") {
            return Self::Pgpass;
        }
        if matches!(name.as_str(), ".netrc" | "_netrc" | "netrc" | ".authinfo") {
            return Self::Netrc;
        }
        if name.starts_with("dockerfile") || name.starts_with("containerfile") {
            return Self::Shell;
        }
        match ending {
            "yaml" | "yml" => Self::Yaml,
            "sh" | "bash" | "zsh" | "ksh" | "fish" | "bat" | "cmd" | "dockerfile" => Self::Shell,
            "env" | "properties" | "ini" | "cfg" | "conf" | "cnf" | "npmrc" | "pypirc"
            | "config" | "credentials" | "tfvars" | "service" | "envrc" => Self::Settings,
            _ if name.starts_with(".env") || name.starts_with(".aws") => Self::Settings,
            _ if matches!(name.as_str(), "credentials" | ".npmrc" | ".my.cnf" | ".s3cfg") => {
                Self::Settings
            }
            _ => Self::Code,
        }
    }

    /// Whether a value without quotes is the value itself.
    pub(super) fn is_literal(self) -> bool {
        self != Self::Code
    }
}

/// Whether only what introduces a name stands before it on its line.
pub(super) fn begins_line(text: &[u8], name: usize) -> bool {
    let start = text[..name].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let before = text[start..name].trim_ascii();
    let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
    matches!(
        before.to_ascii_lowercase().as_slice(),
        b"" | b"export"
            | b"set"
            | b"env"
            | b"arg"
            | b"-"
            | b"- "
            | b"-e"
            | b"--env"
            | b"declare"
            | b"local"
            | b"readonly"
            | b"environment="
    )
}

/// How many bytes of the rest of a line are the value.
pub(super) fn value_of(line: &[u8], syntax: Syntax) -> usize {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let end = match syntax {
        Syntax::Shell => line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len()),
        _ => line.windows(2).position(|pair| pair == b" #").unwrap_or(line.len()),
    };
    line[..end].trim_ascii_end().len()
}

/// What the file's own form says is a secret.
pub(super) fn spans(text: &[u8], syntax: Syntax, spans: &mut Vec<Range<usize>>) {
    match syntax {
        Syntax::Yaml => manifest(text, spans),
        Syntax::Netrc => after_words(text, b"password", spans),
        Syntax::Pgpass => last_fields(text, spans),
        Syntax::Code | Syntax::Settings | Syntax::Shell => {}
    }
}

/// Each line with where it begins.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    text.split(|&byte| byte == b'\n').map(move |line| {
        let at = start;
        start += line.len() + 1;
        (at, line)
    })
}

/// The values below `data` and `stringData` of a manifest of kind `Secret`.
fn manifest(text: &[u8], spans: &mut Vec<Range<usize>>) {
    let is_kind = |line: &[u8]| {
        let line = line.trim_ascii();
        line == b"kind: Secret" || line == b"kind: \"Secret\""
    };
    if !lines(text).any(|(_, line)| is_kind(line)) {
        return;
    }
    let mut inside: Option<usize> = None;
    let mut block: Option<usize> = None;
    for (at, line) in lines(text) {
        let indent = line.iter().take_while(|&&byte| byte == b' ').count();
        let words = line.trim_ascii();
        if words.is_empty() {
            continue;
        }
        if block.is_some_and(|outer| indent > outer) {
            spans.push(at + indent..at + line.len());
            continue;
        }
        block = None;
        if inside.is_some_and(|outer| indent > outer) {
            let colon = line.windows(2).position(|pair| pair == b": ");
            if let Some(colon) = colon {
                let value = line[colon + 2..].trim_ascii();
                if value.starts_with(b"|") || value.starts_with(b">") {
                    block = Some(indent);
                } else if value.len() >= 3 && !super::wide::stands_for_another(value) {
                    let start = at + line.len() - line[colon + 2..].trim_ascii_start().len();
                    spans.push(start..start + value.len());
                }
            }
            continue;
        }
        inside = (words == b"data:" || words == b"stringData:").then_some(indent);
    }
}

fn after_words(text: &[u8], word: &[u8], spans: &mut Vec<Range<usize>>) {
    let mut next = false;
    let mut at = 0;
    for piece in text.split(u8::is_ascii_whitespace) {
        if next && !piece.is_empty() {
            spans.push(at..at + piece.len());
            next = false;
        }
        next = next || piece == word;
        at += piece.len() + 1;
    }
}

fn last_fields(text: &[u8], spans: &mut Vec<Range<usize>>) {
    for (at, line) in lines(text) {
        let fields = line.split(|&byte| byte == b':').count();
        if fields >= 5 && !line.starts_with(b"#") {
            let colon = line.iter().rposition(|byte| *byte == b':').unwrap_or(0);
            spans.push(at + colon + 1..at + line.len());
        }
    }
}
