//! Lock files: pinned by a tool, never by hand.
//!
//! Models are not shown them, so a name alone makes none: the text must have the form that the tool
//! writes. And whatever has that form as a whole is one under any name.

/// How a lock file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON, perhaps with commas at the end of lists.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// A module, a version and a hash on each line.
    GoSum,
    /// Yarn's own form, or YAML.
    Yarn,
    /// Sections in capitals.
    Gems,
    /// A package and where it is used, on each line.
    Gradle,
    /// A map of Elixir.
    Mix,
    /// Blocks of HCL about providers.
    Terraform,
    /// Not text.
    Bytes,
}

/// Names of lock files, in lower case.
const NAMES: [(&str, Form); 29] = [
    ("cargo.lock", Form::Toml),
    ("package-lock.json", Form::Json),
    ("npm-shrinkwrap.json", Form::Json),
    ("yarn.lock", Form::Yarn),
    ("pnpm-lock.yaml", Form::Yaml),
    ("bun.lock", Form::Json),
    ("bun.lockb", Form::Bytes),
    ("deno.lock", Form::Json),
    ("go.sum", Form::GoSum),
    ("go.work.sum", Form::GoSum),
    ("pipfile.lock", Form::Json),
    ("poetry.lock", Form::Toml),
    ("pdm.lock", Form::Toml),
    ("uv.lock", Form::Toml),
    ("pylock.toml", Form::Toml),
    ("pixi.lock", Form::Yaml),
    ("conda-lock.yml", Form::Yaml),
    ("gemfile.lock", Form::Gems),
    ("gems.locked", Form::Gems),
    ("composer.lock", Form::Json),
    ("packages.lock.json", Form::Json),
    ("gradle.lockfile", Form::Gradle),
    ("podfile.lock", Form::Yaml),
    ("package.resolved", Form::Json),
    ("pubspec.lock", Form::Yaml),
    ("mix.lock", Form::Mix),
    ("flake.lock", Form::Json),
    (".terraform.lock.hcl", Form::Terraform),
    ("chart.lock", Form::Yaml),
];

/// Names of sections that lock files in YAML have. A list, because `class a:` is YAML too.
const SECTIONS: [&str; 44] = [
    "aliases",
    "catalogs",
    "checkout options",
    "cocoapods",
    "dependencies",
    "dependencies_meta",
    "dependenciesmeta",
    "dependency_overrides",
    "dependency-overrides",
    "devdependencies",
    "digest",
    "environments",
    "external sources",
    "generated",
    "ignoredoptionaldependencies",
    "importers",
    "lockfileversion",
    "metadata",
    "neverbuiltdependencies",
    "onlybuiltdependencies",
    "optionaldependencies",
    "overrides",
    "package",
    "packageextensionschecksum",
    "packages",
    "patcheddependencies",
    "platforms",
    "pnpmfilechecksum",
    "podfile checksum",
    "pods",
    "publishdirectory",
    "sdks",
    "settings",
    "snapshots",
    "spec checksums",
    "spec repos",
    "specifiers",
    "time",
    "version",
    "options",
    "platform",
    "channels",
    "sources",
    "content_hash",
];

/// The form that a file of this name has, where it is a lock file's.
pub(super) fn named(name: &str) -> Option<Form> {
    let name = name.to_ascii_lowercase();
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
}

impl Form {
    /// Whether all of `text` has this form.
    pub(super) fn fits(self, text: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return true;
        }
        match self {
            Self::Json => json(text).is_some(),
            Self::Toml => toml::from_str::<toml::Table>(text).is_ok(),
            Self::Bytes => false,
            _ => self.fits_lines(text.lines()),
        }
    }

    /// Whether each of these lines could stand in such a file: all that a diff lets one see.
    pub(super) fn fits_lines<'a>(self, lines: impl Iterator<Item = &'a str>) -> bool {
        let mut lines = lines.map(str::trim_end).filter(|line| !line.trim().is_empty());
        match self {
            Self::Json => {
                lines.all(|line| starts_with(line.trim_start(), r#""{}[],-0123456789tfn"#))
            }
            Self::Toml => lines.all(toml_line),
            Self::Yaml => lines.all(yaml_line),
            Self::GoSum => lines.all(sum_line),
            Self::Yarn => lines.all(|line| yarn_line(line) || yaml_line(line)),
            Self::Gems => lines.all(|line| {
                line.starts_with(' ') || line.chars().all(|c| c.is_ascii_uppercase() || c == ' ')
            }),
            Self::Gradle => lines.all(|line| {
                let (package, _) = line.split_once('=').unwrap_or_default();
                line.starts_with('#') || package == "empty" || package.split(':').count() == 3
            }),
            Self::Mix => lines.all(|line| {
                let line = line.trim();
                line == "%{" || line == "}" || (line.starts_with('"') && !line.contains('('))
            }),
            Self::Terraform => lines.all(terraform_line),
            Self::Bytes => false,
        }
    }
}

/// Whether all of `text` is a lock file's, whatever its name.
pub(super) fn is_one(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let head = &text[..text.floor_char_boundary(4096)];
    if text.contains("\n[[package]]\n") || text.starts_with("[[package]]\n") {
        return toml::from_str(text).is_ok_and(|table| is_package_table(&table));
    }
    if head.trim_start().starts_with('{') {
        return json(text).is_some_and(|value| is_package_object(&value));
    }
    let mut lines = text.lines().filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some_and(|line| sum_line(line)) && lines.all(sum_line)
}

fn is_package_table(table: &toml::Table) -> bool {
    let known = [
        "version",
        "package",
        "metadata",
        "extras",
        "root",
        "patch",
        "manifest",
        "options",
        "conflicts",
        "revision",
        "resolution-markers",
        "requires-python",
        "supported-markers",
        "required-markers",
        "content-hash",
    ];
    let packages = table.get("package").and_then(toml::Value::as_array);
    table.keys().all(|key| known.contains(&key.as_str()))
        && packages.is_some_and(|packages| {
            packages.iter().all(|package| package.get("name").is_some_and(toml::Value::is_str))
        })
}

fn is_package_object(value: &serde_json::Value) -> bool {
    let forms: [(&[&str], &[&str]); 3] = [
        (
            &["lockfileVersion", "packages"],
            &["name", "version", "requires", "dependencies", "workspaces", "configVersion"],
        ),
        (
            &["content-hash", "packages"],
            &[
                "_readme",
                "packages-dev",
                "aliases",
                "minimum-stability",
                "stability-flags",
                "prefer-stable",
                "prefer-lowest",
                "platform",
                "platform-dev",
                "platform-overrides",
                "plugin-api-version",
            ],
        ),
        (&["_meta", "default"], &["develop"]),
    ];
    let Some(object) = value.as_object() else { return false };
    forms.iter().any(|(needed, allowed)| {
        let is_known =
            |key: &String| needed.contains(&key.as_str()) || allowed.contains(&key.as_str());
        needed.iter().all(|key| object.contains_key(*key)) && object.keys().all(is_known)
    })
}

/// An object of JSON; one tool leaves commas at the ends of lists.
fn json(text: &str) -> Option<serde_json::Value> {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let value = parse(text).or_else(|| {
        let mut clean: Vec<&str> = text.lines().collect();
        for index in 1..clean.len() {
            if starts_with(clean[index].trim_start(), "}]") {
                clean[index - 1] = clean[index - 1].trim_end().trim_end_matches(',');
            }
        }
        parse(&clean.join("\n"))
    });
    value.filter(serde_json::Value::is_object)
}

fn starts_with(line: &str, any: &str) -> bool {
    line.is_empty() || line.starts_with(|first| any.contains(first))
}

fn toml_line(line: &str) -> bool {
    let line = line.trim_start();
    let value = line.split_once('=').map(|(_, value)| value.trim_start());
    starts_with(line, "#[]{}\"',")
        || value.is_some_and(|value| {
            let plain = value == "true" || value == "false";
            plain || starts_with(value, "\"'[{0123456789")
        })
}

fn yaml_line(line: &str) -> bool {
    if starts_with(line, " #-\"'") {
        return true;
    }
    let Some((key, value)) = line.split_once(':') else { return false };
    let section = key.to_ascii_lowercase();
    let known = SECTIONS.contains(&section.as_str()) || key == "__metadata";
    known && !value.contains('(')
}

fn sum_line(line: &str) -> bool {
    let fields: Vec<&str> = line.split(' ').collect();
    matches!(fields.as_slice(), [_, version, hash]
        if version.starts_with('v') && hash.starts_with("h1:") && hash.ends_with('='))
}

fn yarn_line(line: &str) -> bool {
    let header = line.ends_with(':') && line.contains('@') && !line.contains('(');
    line.starts_with('#') || line.starts_with("  ") || header
}

fn terraform_line(line: &str) -> bool {
    let line = line.trim_start();
    let starts = ["provider \"", "version", "constraints", "hashes"];
    starts_with(line, "#}]\"") || starts.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: [&str; 4] = [
        "import os\nos.system(input())\n",
        "class A:\n  import os\n  os.system('id')\n",
        "const a = require('child_process');\na.exec(process.argv[2]);\n",
        "x = __import__('os').system('id')\n",
    ];

    #[test]
    fn code_under_a_lock_file_s_name_is_none() {
        for (name, form) in NAMES {
            for code in CODE {
                assert!(!form.fits(code.as_bytes()), "{name}: {code}");
                assert!(!form.fits_lines(code.lines()), "{name}: {code}");
            }
        }
    }

    #[test]
    fn what_tools_write_fits() {
        let cases = [
            ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n"),
            ("package-lock.json", "{\n  \"lockfileVersion\": 3,\n  \"packages\": {}\n}\n"),
            (
                "bun.lock",
                "{\n  \"lockfileVersion\": 1,\n  \"packages\": {\n    \"a\": [\"a@1\", {}],\n  }\n}\n",
            ),
            ("go.sum", "example.org/a v1.0.0 h1:abc=\nexample.org/a v1.0.0/go.mod h1:def=\n"),
            (
                "yarn.lock",
                "# yarn lockfile v1\n\n\"@a/b@^1.0.0\":\n  version \"1.0.0\"\n  dependencies:\n    c \"^1\"\n",
            ),
            ("yarn.lock", "__metadata:\n  version: 6\n\n\"a@npm:^1.0.0\":\n  version: 1.0.0\n"),
            (
                "pnpm-lock.yaml",
                "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies: {}\n",
            ),
            (
                "Gemfile.lock",
                "GEM\n  remote: https://rubygems.org/\n  specs:\n    a (1.0)\n\nPLATFORMS\n  ruby\n\nBUNDLED WITH\n   2.5.0\n",
            ),
            ("gradle.lockfile", "# note\norg.a:b:1.0=compileClasspath\nempty=\n"),
            (
                "mix.lock",
                "%{\n  \"a\": {:hex, :a, \"1.0.0\", \"abc\", [:mix], [], \"hexpm\"},\n}\n",
            ),
            (
                "Podfile.lock",
                "PODS:\n  - A (1.0)\n\nSPEC CHECKSUMS:\n  A: abc\n\nCOCOAPODS: 1.15.2\n",
            ),
            (
                "pubspec.lock",
                "packages:\n  a:\n    version: \"1.0.0\"\nsdks:\n  dart: \">=3.0.0\"\n",
            ),
            (
                "Chart.lock",
                "dependencies:\n- name: a\n  version: 1.0.0\ndigest: sha256:abc\ngenerated: \"2024-01-01T00:00:00Z\"\n",
            ),
            (
                ".terraform.lock.hcl",
                "provider \"registry.terraform.io/a/b\" {\n  version = \"1\"\n  hashes = [\n    \"h1:a=\",\n  ]\n}\n",
            ),
            ("Cargo.lock", ""),
        ];
        for (name, text) in cases {
            let form = named(name).expect("a lock file");
            assert!(form.fits(text.as_bytes()), "{name}");
            assert!(form.fits_lines(text.lines()), "{name}, by lines");
        }
    }

    #[test]
    fn the_whole_text_makes_one_under_any_name() {
        let cargo = "# It is not intended for manual editing.\nversion = 3\n\n[[package]]\nname = \"a\"\nversion = \"1\"\n";
        assert!(is_one(cargo.as_bytes()));
        assert!(!is_one(format!("{cargo}\n[tool.x]\nrun = \"sh\"\n").as_bytes()));
        assert!(is_one(b"{\"lockfileVersion\": 3, \"packages\": {}}"));
        assert!(!is_one(b"{\"lockfileVersion\": 3, \"packages\": {}, \"scripts\": {}}"));
        assert!(is_one(b"a v1 h1:x=\n") && !is_one(b"a v1 h1:x=\nimport os\n"));
        assert!(!is_one(b"# This file is automatically @generated by Cargo.\nimport os\n"));
        assert!(!is_one(b""));
    }
}
