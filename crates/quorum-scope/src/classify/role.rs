//! What a file is for, by where it stands.

use quorum_model::scope::{FileKind, Flag};

use super::{Classified, words};

const MANIFESTS: [&str; 33] = [
    "cargo.toml",
    "package.json",
    "go.mod",
    "go.work",
    "requirements.txt",
    "requirements.in",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pipfile",
    "environment.yml",
    "gemfile",
    "composer.json",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "libs.versions.toml",
    "packages.config",
    "directory.packages.props",
    "podfile",
    "package.swift",
    "pubspec.yaml",
    "mix.exs",
    "deno.json",
    "deno.jsonc",
    "conanfile.txt",
    "conanfile.py",
    "vcpkg.json",
    "meson.build",
    "module.bazel",
    "flake.nix",
];

const CI_NAMES: [&str; 12] = [
    ".gitlab-ci.yml",
    ".travis.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "buildspec.yml",
    ".woodpecker.yml",
    "codecov.yml",
];

const CI_FOLDERS: [&str; 7] = [
    ".github/workflows/",
    ".github/actions/",
    ".circleci/",
    ".buildkite/",
    ".gitlab/ci/",
    ".ci/",
    ".azure-pipelines/",
];

const INFRASTRUCTURE_ENDINGS: [&str; 6] =
    [".tf", ".tfvars", ".hcl", ".bicep", ".nomad", ".dockerfile"];

const INFRASTRUCTURE_NAMES: [&str; 11] = [
    "dockerfile",
    "containerfile",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yml",
    "compose.yaml",
    "chart.yaml",
    "kustomization.yaml",
    "vagrantfile",
    "procfile",
    "serverless.yml",
];

const INFRASTRUCTURE_FOLDERS: [&str; 11] = [
    "terraform",
    "k8s",
    "kubernetes",
    "helm",
    "ansible",
    "pulumi",
    "cloudformation",
    "infra",
    "infrastructure",
    "docker",
    "systemd",
];

const ENTRY_WORDS: [&str; 24] = [
    "handler",
    "handlers",
    "controller",
    "controllers",
    "route",
    "routes",
    "router",
    "routers",
    "endpoint",
    "endpoints",
    "api",
    "apis",
    "server",
    "main",
    "cmd",
    "view",
    "views",
    "resolver",
    "resolvers",
    "middleware",
    "webhook",
    "webhooks",
    "servlet",
    "lambda",
];

const CLI_WORDS: [&str; 6] = ["cli", "cmd", "commands", "args", "flags", "options"];

const MESSAGE_WORDS: [&str; 9] =
    ["locale", "locales", "i18n", "l10n", "translations", "messages", "lang", "strings", "intl"];

const API_ENDINGS: [&str; 5] = [".proto", ".graphql", ".graphqls", ".thrift", ".avsc"];

const API_NAMES: [&str; 8] = [
    "lib.rs",
    "index.d.ts",
    "__init__.py",
    "openapi.yaml",
    "openapi.yml",
    "openapi.json",
    "swagger.json",
    "swagger.yaml",
];

/// Sets the flags that follow from the path.
pub(super) fn set_flags(found: &mut Classified, path: &str) {
    let lower = path.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let folder_words: Vec<&str> = folders.split('/').collect();
    let name_words = words(path.rsplit('/').next().unwrap_or(path));
    test(found, &folder_words, name, &name_words);
    docs(found, &folder_words, name, &name_words);
    if MANIFESTS.contains(&name) || is_requirements(name) || name.ends_with(".csproj") {
        found.set(Flag::Manifest, format!("`{name}` names dependencies"));
    }
    if CI_NAMES.contains(&name) {
        found.set(Flag::Ci, format!("`{name}` configures continuous integration"));
    } else if let Some(folder) = CI_FOLDERS.iter().find(|folder| lower.starts_with(*folder)) {
        found.set(Flag::Ci, format!("under `{folder}`"));
    }
    infrastructure(found, &folder_words, name);
    migration(found, &folder_words, name);
    let textual = !matches!(found.kind, FileKind::Binary | FileKind::Prose);
    let code = matches!(found.kind, FileKind::Code | FileKind::Script);
    if code && !found.has(Flag::Test) {
        if let Some(word) = first_of(&ENTRY_WORDS, &folder_words, &name_words) {
            found.set(Flag::EntryPoint, format!("`{word}` in the path"));
        }
        if let Some(word) = first_of(&CLI_WORDS, &folder_words, &name_words) {
            found.set(Flag::Cli, format!("`{word}` in the path"));
        }
    }
    let translated = name.ends_with(".po") || name.ends_with(".pot") || name.ends_with(".ftl");
    if textual && !found.has(Flag::Test) {
        if translated {
            found.set(Flag::Messages, "a catalogue of translations");
        } else if let Some(word) =
            first_of(&MESSAGE_WORDS, &folder_words, &name_words[..1.min(name_words.len())])
        {
            found.set(Flag::Messages, format!("`{word}` in the path"));
        }
        public_api(found, &folder_words, name);
    }
}

/// The first of `wanted` among the folders or the words of the name.
fn first_of<'a>(wanted: &[&'a str], folders: &[&str], name: &[String]) -> Option<&'a str> {
    let there = |word: &&&str| folders.contains(*word) || name.iter().any(|found| found == **word);
    wanted.iter().find(there).copied()
}

fn test(found: &mut Classified, folders: &[&str], name: &str, name_words: &[String]) {
    let folder = folders.iter().find(|folder| {
        matches!(
            **folder,
            "test"
                | "tests"
                | "testing"
                | "__tests__"
                | "spec"
                | "specs"
                | "testdata"
                | "e2e"
                | "fixtures"
                | "__fixtures__"
                | "__mocks__"
                | "test_data"
                | "integration-tests"
        )
    });
    if let Some(folder) = folder {
        found.set(Flag::Test, format!("under `{folder}/`"));
        return;
    }
    let stem = name.split('.').next().unwrap_or(name);
    let dotted = name.contains(".test.") || name.contains(".spec.") || name.contains(".cy.");
    let java = name_words.len() > 2
        && matches!(name_words[name_words.len() - 2].as_str(), "test" | "tests" | "spec" | "it")
        && ["java", "kt", "cs", "scala", "groovy"]
            .contains(&name_words[name_words.len() - 1].as_str());
    let prefixed = stem.starts_with("test_") && name_words.len() > 2;
    let suffixed = ["_test", "_tests", "_spec"].iter().any(|suffix| stem.ends_with(suffix));
    if dotted || java || prefixed || suffixed || stem == "tests" || stem == "conftest" {
        found.set(Flag::Test, "a test by its name");
    }
}

fn docs(found: &mut Classified, folders: &[&str], name: &str, name_words: &[String]) {
    let first = name_words.first().map_or("", String::as_str);
    let log_words = ["changelog", "changes", "history", "news", "releases"];
    let prose = matches!(found.kind, FileKind::Prose | FileKind::Text | FileKind::Markup);
    if prose && log_words.contains(&first) {
        found.set(Flag::Changelog, format!("`{name}` lists changes for users"));
    }
    let in_docs =
        folders.iter().find(|folder| matches!(**folder, "doc" | "docs" | "documentation"));
    if found.kind == FileKind::Prose {
        let legal = ["license", "licence", "copying", "notice"].contains(&first);
        let reason = if legal { "a legal text" } else { "text for people" };
        found.set(Flag::Docs, reason);
    } else if let Some(folder) = in_docs
        && !matches!(found.kind, FileKind::Code | FileKind::Script | FileKind::Binary)
    {
        found.set(Flag::Docs, format!("under `{folder}/`"));
    }
}

fn is_requirements(name: &str) -> bool {
    name.starts_with("requirements") && (name.ends_with(".txt") || name.ends_with(".in"))
}

fn infrastructure(found: &mut Classified, folders: &[&str], name: &str) {
    let by_name = INFRASTRUCTURE_NAMES.contains(&name) || name.starts_with("dockerfile.");
    if by_name {
        found.set(Flag::Infrastructure, format!("`{name}` describes machines or containers"));
    } else if let Some(ending) =
        INFRASTRUCTURE_ENDINGS.iter().find(|ending| name.ends_with(*ending))
    {
        found.set(Flag::Infrastructure, format!("`{ending}` files describe infrastructure"));
    } else if matches!(found.kind, FileKind::Config | FileKind::Data | FileKind::Script)
        && let Some(folder) = folders.iter().find(|folder| INFRASTRUCTURE_FOLDERS.contains(*folder))
    {
        found.set(Flag::Infrastructure, format!("under `{folder}/`"));
    }
}

fn migration(found: &mut Classified, folders: &[&str], name: &str) {
    let folder = folders.iter().find(|folder| {
        matches!(**folder, "migrations" | "migration" | "migrate" | "alembic" | "flyway")
    });
    let written =
        matches!(found.kind, FileKind::Code | FileKind::Data | FileKind::Config | FileKind::Script);
    let sql = name.ends_with(".sql");
    if let Some(folder) = folder
        && (written || sql)
        && !found.has(Flag::Test)
        && name != "__init__.py"
    {
        found.set(Flag::Migration, format!("under `{folder}/`"));
    } else if sql
        && (name.starts_with('v') && name.contains("__")
            || name.ends_with(".up.sql")
            || name.ends_with(".down.sql"))
    {
        found.set(Flag::Migration, "a schema migration by its name");
    } else if matches!(name, "schema.prisma" | "schema.rb" | "structure.sql") {
        found.set(Flag::Migration, format!("`{name}` is the schema of stored data"));
    }
}

fn public_api(found: &mut Classified, folders: &[&str], name: &str) {
    if let Some(ending) = API_ENDINGS.iter().find(|ending| name.ends_with(*ending)) {
        found.set(Flag::PublicApi, format!("`{ending}` files define an interface"));
    } else if API_NAMES.contains(&name) && !folders.contains(&"internal") {
        found.set(Flag::PublicApi, format!("`{name}` is what others import"));
    } else if folders.contains(&"include") && (name.ends_with(".h") || name.ends_with(".hpp")) {
        found.set(Flag::PublicApi, "a header under `include/`");
    }
}
