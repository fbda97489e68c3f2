//! `quorum config`.

mod trust;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use quorum_engine::config::{FILE_NAME, Loaded, template::TEMPLATE};
use quorum_engine::policy::Policy;
use quorum_engine::{sops, workspace};
use quorum_index::Counter;
use quorum_model::schema;
use quorum_plan::models::Registry;
use quorum_plan::roster::Roster;
use quorum_scope::ignored::IgnoreRules;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;

use crate::cli::{Cli, ConfigAction, ConfigArgs, Format};
use crate::failure::Failure;
use crate::{output, process};

pub(super) fn run(cli: &Cli, arguments: &ConfigArgs) -> Result<u8, Failure> {
    let cwd = process::folder(cli)?;
    let repository = Repository::find(&cwd)?;
    let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
    match &arguments.action {
        ConfigAction::Show { origin, output: out } => {
            let loaded = workspace::load(&policy, &process::environment(), Vec::new())?;
            let file = out.output.as_deref();
            match out.format {
                Format::Json => output::json(&as_json(&loaded, *origin), file)?,
                Format::Terminal => output::text(&as_text(&loaded, *origin), file)?,
            }
        }
        ConfigAction::Validate => output::text(&validate(&policy)?, None)?,
        ConfigAction::Trust(arguments) => trust::trust(repository.as_ref(), arguments)?,
        ConfigAction::Untrust => trust::untrust(repository.as_ref())?,
        ConfigAction::Init => {
            let root = repository.as_ref().and_then(|repository| repository.work_tree());
            init(root.unwrap_or(&cwd))?;
        }
        ConfigAction::Schema => {
            let documents = schema::documents();
            let found = documents.iter().find(|(name, _)| *name == "config.json");
            output::text(
                &found.map(|(_, schema)| schema::render(schema)).unwrap_or_default(),
                None,
            )?;
        }
    }
    Ok(0)
}

fn as_text(loaded: &Loaded, origin: bool) -> String {
    let entries = loaded.entries();
    let width = entries.iter().map(|(key, _, _)| key.len()).max().unwrap_or_default();
    let values = entries.iter().filter_map(|(_, value, _)| value.as_ref().map(String::len));
    let value_width = values.max().unwrap_or_default().min(40);
    let mut text = String::new();
    for (key, value, from) in entries {
        let value = value.unwrap_or_else(|| "(not set)".to_owned());
        // Writing to a string cannot fail.
        _ = if origin {
            writeln!(text, "{key:width$} = {value:value_width$}  # {from}")
        } else {
            writeln!(text, "{key:width$} = {value}")
        };
    }
    if origin && !loaded.refused().is_empty() {
        _ = writeln!(
            text,
            "\n# The repository sets these as well. They are not used without your consent:"
        );
        for held in loaded.refused() {
            _ = writeln!(text, "# {} = {}  # {}: {}", held.key, held.value, held.place, held.why);
        }
        _ = writeln!(text, "# `quorum config trust` accepts exactly these.");
    }
    text
}

fn as_json(loaded: &Loaded, origin: bool) -> serde_json::Value {
    if !origin {
        return serde_json::json!(loaded.config);
    }
    let entries = loaded.entries().into_iter().map(|(key, value, from)| {
        let entry = serde_json::json!({ "value": value, "origin": from.to_string() });
        (key, entry)
    });
    let mut entries: serde_json::Map<String, serde_json::Value> = entries.collect();
    for held in loaded.refused() {
        let refused = serde_json::json!({
            "value": held.value, "origin": held.place, "why": held.why,
            "accept": "quorum config trust",
        });
        let unset = || serde_json::json!({ "value": null, "origin": "default" });
        entries.entry(&held.key).or_insert_with(unset)["refused"] = refused;
    }
    serde_json::Value::Object(entries)
}

/// Reads everything that configures a review, and says what was found.
pub(super) fn validate(policy: &Policy<'_>) -> Result<String, Failure> {
    let (loaded, agents) =
        workspace::load_with_agents(policy, &process::environment(), Vec::new())?;
    let roster = Roster::load(&agents, &loaded.config.agent)?;
    for name in &loaded.config.agents {
        roster.find(name)?;
    }
    let registry = Registry::load(&loaded.config)?;
    registry.check_provider(&loaded.config.provider)?;
    IgnoreRules::new(&policy.ignore_rules()?, &loaded.config.scope.ignore)?;
    let sops = sops::validate(policy, Counter::new(loaded.config.tokenizer))?;
    let has_file = if policy.config()?.is_some() { FILE_NAME } else { "no quorum.toml" };
    let refused = loaded.warning("").map(|text| format!("Note: {text}.\n")).unwrap_or_default();
    Ok(format!(
        "The configuration is valid: {has_file}, {} agents ({} of the team's own), {} SOPs.\n{refused}",
        roster.members().len(),
        agents.len(),
        sops
    ))
}

fn init(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(FILE_NAME);
    let mut file = fs::File::create_new(&path).map_err(|error| {
        let failure = Failure::new(format!("{}: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                failure.with_hint("edit it, or move it away first")
            }
            _ => failure,
        }
    })?;
    file.write_all(TEMPLATE.as_bytes())
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    output::text(&format!("Wrote {}.\n", path.display()), None)
}
