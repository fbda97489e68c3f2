//! From flags to settings, and from configuration to the planner's settings.

use std::thread;

use quorum_model::config::Config;
use quorum_plan::Settings;
use serde::Serialize;

use crate::config::Setting;
use crate::error::EngineError;
use crate::request::ReviewOptions;

/// A value of the configuration language.
type Value = crate::config::Value;

const UNSANDBOXED: &str = "--allow-unsandboxed-gates";

/// The keys that the options of a request set, each named as the flag that users know it by.
pub(crate) fn of(options: &ReviewOptions) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut set = |flag: &str, key: &str, value: Option<Value>| {
        if let Some(value) = value {
            settings.push(Setting { flag: flag.to_owned(), key: key.to_owned(), value });
        }
    };
    let text = |value: &Option<String>| value.clone().map(Value::String);
    let truth = |value: bool| value.then_some(Value::Boolean(true));
    let whole = |value: Option<u64>| {
        // A limit beyond what the language can hold limits nothing.
        value.map(|value| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
    };
    set("--tier", "tier", options.tier.map(word));
    set("--protocol", "protocol", options.protocol.map(word));
    set("--provider", "provider", text(&options.provider));
    set("--model", "model", text(&options.model));
    set("--fail-on", "fail_on", options.fail_on.map(word));
    set("--tokenizer", "tokenizer", options.tokenizer.map(word));
    set("--complete", "complete", truth(options.complete));
    set("--verify", "verify", truth(options.verify));
    let canary = options.canary.map(Value::Boolean);
    set(if options.canary == Some(false) { "--no-canary" } else { "--canary" }, "canary", canary);
    set("--strict", "strict", truth(options.strict));
    set("--time-pressure", "time_pressure", truth(options.time_pressure));
    set(UNSANDBOXED, "gates.allow_unsandboxed", truth(options.allow_unsandboxed_gates));
    set("--max-tokens", "limits.max_tokens", whole(options.max_tokens));
    set("--max-seconds", "limits.max_seconds", whole(options.max_seconds));
    set("--max-usd", "limits.max_usd", options.max_usd.map(Value::Float));
    set("--jobs", "limits.jobs", whole(options.jobs.map(u64::from)));
    let names = options.agents.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    let names: Vec<Value> = names.map(|name| Value::String(name.to_owned())).collect();
    if !names.is_empty() {
        set("--agents", "agents", Some(Value::Array(names)));
    }
    settings
}

/// The spelling of a value in `quorum.toml`.
fn word(value: impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Value::String(word),
        // These enums have words alone; anything else would be refused by the key's own check.
        other => Value::String(format!("{other:?}")),
    }
}

/// What the planner needs of the configuration.
pub(crate) fn for_plan(config: &Config) -> Result<Settings, EngineError> {
    let thresholds = config
        .progressive_summarization
        .thresholds()
        .map_err(|problem| EngineError::invalid(format!("{}: {}", problem.key, problem.message)))?;
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(Settings {
        tier: config.tier.map(Into::into),
        agents: config.agents.clone(),
        protocol: config.effective_protocol(),
        provider: config.provider.clone(),
        model: config.model.clone(),
        complete: config.complete,
        verify: config.verify,
        time_pressure: config.time_pressure,
        tokenizer: config.tokenizer.as_str().to_owned(),
        thresholds,
        limits: config.limits,
        jobs: config.limits.jobs.map_or(cores as u64, u64::from),
    })
}
