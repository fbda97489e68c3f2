//! What a file is about, by the folders that it is in.

/// A domain, and the names of folders that stand for it.
///
/// Names are compared whole, so that `storage/` does not pass for `store/`, nor `foci/` for `ci/`.
const FOLDERS: &[(&str, &[&str])] = &[
    (
        "auth",
        &[
            "auth",
            "authentication",
            "authn",
            "authorization",
            "authz",
            "login",
            "session",
            "sessions",
            "oauth",
            "jwt",
            "token",
            "tokens",
        ],
    ),
    (
        "security",
        &["security", "crypto", "secret", "secrets", "encrypt", "encryption", "ssl", "tls"],
    ),
    (
        "database",
        &[
            "db",
            "database",
            "databases",
            "migration",
            "migrations",
            "model",
            "models",
            "sql",
            "store",
            "repository",
            "repositories",
        ],
    ),
    (
        "api",
        &[
            "api",
            "apis",
            "handler",
            "handlers",
            "route",
            "routes",
            "endpoint",
            "endpoints",
            "controller",
            "controllers",
            "rest",
            "grpc",
        ],
    ),
    (
        "messaging",
        &["messaging", "messages", "queue", "queues", "events", "kafka", "nats", "amqp", "pubsub"],
    ),
    ("testing", &["test", "tests", "testing", "testdata", "spec", "specs", "__tests__", "e2e"]),
    ("logging", &["log", "logs", "logging", "logger", "telemetry", "tracing", "metrics"]),
    (
        "deployment",
        &["deploy", "deployment", "ci", ".github", "docker", "k8s", "kubernetes", "helm"],
    ),
    ("config", &["config", "configs", "configuration", "settings"]),
    ("performance", &["performance", "perf", "cache", "caching", "bench", "benches", "benchmarks"]),
    ("error-handling", &["error", "errors", "exceptions"]),
    ("validation", &["validation", "validate", "validator", "validators", "schema", "schemas"]),
];

/// What work in one domain usually touches besides.
const RELATED: &[(&str, &[&str])] = &[
    ("auth", &["security", "validation"]),
    ("database", &["error-handling", "performance"]),
    ("api", &["security", "validation", "error-handling"]),
    ("security", &["validation", "error-handling"]),
    ("messaging", &["error-handling", "logging"]),
    ("deployment", &["config", "logging"]),
];

/// The domains of the file at `path`, in the order of the table.
pub fn of(path: &str) -> Vec<&'static str> {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders).to_lowercase();
    let has = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
    FOLDERS.iter().filter(|(_, names)| has(names)).map(|(domain, _)| *domain).collect()
}

/// The domains that are related to `domain`.
pub fn related(domain: &str) -> &'static [&'static str] {
    RELATED.iter().find(|(name, _)| *name == domain).map_or(&[], |(_, related)| *related)
}

/// All domains.
pub fn names() -> impl Iterator<Item = &'static str> {
    FOLDERS.iter().map(|(domain, _)| *domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_domains() {
        let cases: &[(&str, &[&str])] = &[
            ("src/auth/login.go", &["auth"]),
            ("SRC/Auth/x.go", &["auth"]),
            ("services/api/handlers/user.go", &["api"]),
            ("api/db/query.sql", &["database", "api"]),
            (".github/workflows/a.yml", &["deployment"]),
            ("src/storage/a.go", &[]),
            ("foci/a.go", &[]),
            ("auth.go", &[]),
            ("", &[]),
        ];
        for (path, domains) in cases {
            assert_eq!(of(path), *domains, "{path}");
        }
    }

    #[test]
    fn what_is_related_is_a_domain() {
        for (domain, related) in RELATED {
            for name in std::iter::once(domain).chain(*related) {
                assert!(names().any(|known| known == *name), "{name}");
            }
        }
    }
}
