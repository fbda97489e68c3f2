//! Packages of Node, in JavaScript or TypeScript.

use quorum_model::gate::GateCategory;
use serde_json::Value;

use super::{Draft, NOT_PROSE, coverage, optional, required};
use crate::tree::{Tree, first_of, folders_with, is_below, join, outermost};

const SOURCES: [&str; 14] = [
    "*.ts", "*.tsx", "*.mts", "*.cts", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue", "*.svelte",
    "*.json", "*.yaml", "*lock*", ".*rc*",
];

pub(super) fn folders(tree: &dyn Tree) -> Vec<String> {
    outermost(folders_with(tree, &["package.json"]))
}

pub(super) fn checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let text = tree.text(&join(folder, "package.json")).unwrap_or_default();
    let package = Package(serde_json::from_str(&text).unwrap_or_default());
    let manager = Manager::of(tree, folder);
    let run = |script: &str| manager.run(script);
    let tool = |line: &str| manager.tool(line);
    let has = |names: &[&str]| first_of(tree, folder, names).is_some();
    let mut checks = Vec::new();
    if package.has_dependencies() {
        checks.push(
            // What is installed in the work tree is shown to the checks; then there is nothing to do.
            required(
                "install",
                GateCategory::Setup,
                format!("test -e node_modules || {}", manager.install),
                600,
            ),
        );
    }
    if package.script("build").is_some() {
        checks.push(required("build", GateCategory::Build, run("build"), 600).on(&SOURCES));
    }
    if let Some(name) = package.first_script(&["typecheck", "type-check", "check-types"]) {
        checks.push(required("typecheck", GateCategory::Typecheck, run(name), 300).on(&SOURCES));
    } else if has(&["tsconfig.json"]) {
        let line = tool("tsc --noEmit");
        checks.push(required("typecheck", GateCategory::Typecheck, line, 300).on(&SOURCES));
    }
    if has(&["svelte.config.js", "svelte.config.ts"]) && package.depends_on("svelte-check") {
        let line = tool("svelte-check");
        checks.push(required("svelte-check", GateCategory::Typecheck, line, 300).on(&SOURCES));
    }
    let biome = has(&["biome.json", "biome.jsonc"]);
    if package.script("lint").is_some() {
        checks.push(optional("lint", GateCategory::Lint, run("lint"), 300).on(&SOURCES));
    } else if biome {
        let line = tool("biome check .");
        checks.push(optional("biome", GateCategory::Lint, line, 120).on(&SOURCES));
    } else if has(&ESLINT) {
        let line = tool("eslint .");
        checks.push(optional("eslint", GateCategory::Lint, line, 300).on(&SOURCES));
    }
    if !biome && has(&PRETTIER) {
        let line = tool("prettier --check .");
        checks.push(optional("format", GateCategory::Format, line, 120));
    }
    checks.extend(test(tree, folder, &package, &manager));
    if let Some(name) = package.first_script(&["coverage", "test:coverage"]) {
        let reports = ["coverage/coverage-summary.json", "coverage/lcov.info"];
        checks.push(coverage(run(name), 600, &reports).on(&NOT_PROSE));
    }
    checks
}

const ESLINT: [&str; 10] = [
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".eslintrc.yaml",
];

const PRETTIER: [&str; 7] = [
    ".prettierrc",
    ".prettierrc.json",
    ".prettierrc.yml",
    ".prettierrc.yaml",
    ".prettierrc.js",
    "prettier.config.js",
    "prettier.config.mjs",
];

fn test(tree: &dyn Tree, folder: &str, package: &Package, manager: &Manager) -> Option<Draft> {
    // What `npm init` writes is no test.
    let placeholder = |script: &&str| !script.contains("no test specified");
    let line = if package.script("test").as_ref().is_some_and(placeholder) {
        manager.run("test")
    } else if package.depends_on("vitest") {
        manager.tool("vitest run")
    } else if package.depends_on("jest") {
        manager.tool("jest")
    } else if tree.paths().iter().any(|path| is_below(path, folder) && is_node_test(path)) {
        "node --test".to_owned()
    } else {
        return None;
    };
    Some(required("test", GateCategory::Test, line, 600).on(&NOT_PROSE))
}

fn is_node_test(path: &str) -> bool {
    [".test.js", ".test.mjs", ".test.cjs"].iter().any(|ending| path.ends_with(ending))
}

struct Package(Value);

impl Package {
    fn script(&self, name: &str) -> Option<&str> {
        self.0.get("scripts")?.get(name)?.as_str()
    }

    fn first_script<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().copied().find(|name| self.script(name).is_some())
    }

    fn dependencies(&self) -> impl Iterator<Item = &String> {
        let kinds = ["dependencies", "devDependencies", "peerDependencies"];
        kinds
            .into_iter()
            .filter_map(|kind| self.0.get(kind)?.as_object())
            .flat_map(|all| all.keys())
    }

    fn has_dependencies(&self) -> bool {
        self.dependencies().next().is_some()
    }

    fn depends_on(&self, name: &str) -> bool {
        self.dependencies().any(|other| other == name)
    }
}

/// What installs packages and runs scripts.
struct Manager {
    name: &'static str,
    install: &'static str,
    execute: &'static str,
}

impl Manager {
    fn of(tree: &dyn Tree, folder: &str) -> Self {
        let file =
            first_of(tree, folder, &["pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"]);
        let (name, install, execute) = match file {
            Some("pnpm-lock.yaml") => {
                ("pnpm", "pnpm install --frozen-lockfile --offline --ignore-scripts", "pnpm exec")
            }
            Some("yarn.lock") => ("yarn", "yarn install --frozen-lockfile --offline", "yarn run"),
            Some(_) => {
                ("bun", "bun install --frozen-lockfile --ignore-scripts", "bunx --no-install")
            }
            None => {
                let locks = ["package-lock.json", "npm-shrinkwrap.json"];
                let install = if first_of(tree, folder, &locks).is_some() {
                    "npm ci --offline --ignore-scripts --no-audit --no-fund"
                } else {
                    "npm install --no-package-lock --offline --ignore-scripts --no-audit --no-fund"
                };
                ("npm", install, "npx --no-install")
            }
        };
        Self { name, install, execute }
    }

    fn run(&self, script: &str) -> String {
        match script {
            "test" if self.name == "npm" => "npm test".to_owned(),
            _ => format!("{} run {script}", self.name),
        }
    }

    fn tool(&self, line: &str) -> String {
        format!("{} {line}", self.execute)
    }
}
