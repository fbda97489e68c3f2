//! What code imports.

use bstr::ByteSlice;

use crate::classify::words;

/// Libraries and protocols that talk to another service, by a word of their name.
const SERVICES: [(&str, &str); 56] = [
    ("reqwest", "http"),
    ("requests", "http"),
    ("httpx", "http"),
    ("aiohttp", "http"),
    ("urllib", "http"),
    ("urllib3", "http"),
    ("axios", "http"),
    ("okhttp", "http"),
    ("okhttp3", "http"),
    ("feign", "http"),
    ("grpc", "grpc"),
    ("grpcio", "grpc"),
    ("tonic", "grpc"),
    ("websocket", "websocket"),
    ("websockets", "websocket"),
    ("tungstenite", "websocket"),
    ("psycopg", "postgres"),
    ("psycopg2", "postgres"),
    ("asyncpg", "postgres"),
    ("pgx", "postgres"),
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("pg", "postgres"),
    ("mysql", "mysql"),
    ("mysql2", "mysql"),
    ("pymysql", "mysql"),
    ("sqlx", "sql"),
    ("sqlalchemy", "sql"),
    ("jdbc", "sql"),
    ("gorm", "sql"),
    ("prisma", "sql"),
    ("mongodb", "mongodb"),
    ("pymongo", "mongodb"),
    ("mongoose", "mongodb"),
    ("redis", "redis"),
    ("ioredis", "redis"),
    ("memcached", "memcached"),
    ("kafka", "kafka"),
    ("kafkajs", "kafka"),
    ("rdkafka", "kafka"),
    ("amqp", "amqp"),
    ("pika", "amqp"),
    ("nats", "nats"),
    ("elasticsearch", "elasticsearch"),
    ("boto3", "aws"),
    ("botocore", "aws"),
    ("aws", "aws"),
    ("azure", "azure"),
    ("gcloud", "google-cloud"),
    ("stripe", "stripe"),
    ("twilio", "twilio"),
    ("sendgrid", "sendgrid"),
    ("smtplib", "mail"),
    ("nodemailer", "mail"),
    ("ldap", "ldap"),
    ("kubernetes", "kubernetes"),
];

/// What the lines of `text` import, as written.
pub(super) fn of(language: &str, text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_go_block = false;
    for line in text.lines() {
        let line = line.trim_ascii();
        if line.is_empty() || line.len() > 400 {
            continue;
        }
        let Ok(line) = line.to_str() else { continue };
        let import = match language {
            "Rust" => rust(line),
            "Python" => python(line),
            "Go" => go(line, &mut in_go_block),
            "JavaScript" | "TypeScript" | "TSX" | "Vue" | "Svelte" => javascript(line),
            "Java" | "Kotlin" | "Scala" => statement(line, "import "),
            "C#" => statement(line, "using "),
            "PHP" => statement(line, "use "),
            "C" | "C++" | "Objective-C" => include(line),
            "Ruby" => ruby(line),
            _ => None,
        };
        found.extend(import.map(str::to_owned));
    }
    found
}

/// The service that an import talks to, where it is known.
pub(super) fn service(import: &str) -> Option<&'static str> {
    let words = words(import);
    let known = SERVICES.iter().find(|(name, _)| words.iter().any(|word| word == name));
    known.map(|(_, service)| *service)
}

fn rust(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let rest = line.strip_prefix("use ").or_else(|| line.strip_prefix("mod "))?;
    Some(rest.trim_end_matches([';', '{']).trim())
}

fn python(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("from ") {
        return rest.split_once(" import").map(|(module, _)| module.trim());
    }
    let rest = line.strip_prefix("import ")?;
    rest.split([',', ' ']).next()
}

fn go<'a>(line: &'a str, in_block: &mut bool) -> Option<&'a str> {
    if line == "import (" {
        *in_block = true;
        return None;
    }
    if line == ")" {
        *in_block = false;
        return None;
    }
    let single = line.starts_with("import ");
    // A changed line of an import block stands alone in a diff: a quoted path and nothing else.
    let alone = line.ends_with('"') && line.contains('/') && !line.contains([' ', '(', ':', '=']);
    if single || *in_block || alone { quoted(line) } else { None }
}

fn javascript(line: &str) -> Option<&str> {
    let opens = line.starts_with(['i', 'e', '}']);
    let from = opens.then(|| line.rfind(" from ")).flatten().map(|at| &line[at + 6..]);
    let required = line.find("require(").map(|at| &line[at + 8..]);
    let bare = line.strip_prefix("import ").filter(|rest| rest.starts_with(['"', '\'']));
    quoted(from.or(required).or(bare)?)
}

fn statement<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(keyword)?;
    let rest = rest.strip_prefix("static ").unwrap_or(rest);
    let rest = rest.trim_end_matches(';').trim();
    (!rest.contains([' ', '(', '='])).then_some(rest)
}

fn include(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
    Some(rest.trim_matches(['"', '<', '>']))
}

fn ruby(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("require_relative ").or_else(|| line.strip_prefix("require "))?;
    quoted(rest)
}

fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\'', '`'])?;
    let quote = text[start..].chars().next()?;
    let rest = &text[start + 1..];
    rest.split(quote).next()
}
