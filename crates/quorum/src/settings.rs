//! From flags to settings, and from configuration to the planner's settings.

use quorum_config::Setting;
use quorum_model::config::Config;
use quorum_plan::Settings;
use std::thread;

use crate::cli::RunArgs;
use crate::failure::Failure;

/// A value of the configuration language.
type Value = quorum_config::Value;

const UNSANDBOXED: &str = "--allow-unsandboxed-gates";

/// The key that the flag of `quorum gates` sets.
pub(crate) fn unsandboxed(accepted: bool) -> Vec<Setting> {
    let value = Value::Boolean(true);
    let (flag, key) = (UNSANDBOXED.to_owned(), "gates.allow_unsandboxed".to_owned());
    if accepted { vec![Setting { flag, key, value }] } else { Vec::new() }
}

/// The keys that the flags set.
pub(crate) fn flags(run: &RunArgs) -> Vec<Setting> {
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
    set("--tier", "tier", text(&run.tier));
    set("--protocol", "protocol", text(&run.protocol));
    set("--provider", "provider", text(&run.provider));
    set("--model", "model", text(&run.model));
    set("--fail-on", "fail_on", text(&run.fail_on));
    set("--tokenizer", "tokenizer", text(&run.tokenizer));
    set("--complete", "complete", truth(run.complete));
    set("--verify", "verify", truth(run.verify));
    set("--canary", "canary", truth(run.canary));
    set("--no-canary", "canary", run.no_canary.then_some(Value::Boolean(false)));
    set("--strict", "strict", truth(run.strict));
    set("--time-pressure", "time_pressure", truth(run.time_pressure));
    set(UNSANDBOXED, "gates.allow_unsandboxed", truth(run.allow_unsandboxed_gates));
    set("--max-tokens", "limits.max_tokens", whole(run.max_tokens));
    set("--max-seconds", "limits.max_seconds", whole(run.max_seconds));
    set("--max-usd", "limits.max_usd", run.max_usd.map(Value::Float));
    set("--jobs", "limits.jobs", whole(run.jobs.map(u64::from)));
    let names = run.agents.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    let names: Vec<Value> = names.map(|name| Value::String(name.to_owned())).collect();
    if !names.is_empty() {
        set("--agents", "agents", Some(Value::Array(names)));
    }
    settings
}

/// What the planner needs of the configuration.
pub(crate) fn for_plan(config: &Config) -> Result<Settings, Failure> {
    let thresholds = config
        .progressive_summarization
        .thresholds()
        .map_err(|problem| Failure::new(format!("{}: {}", problem.key, problem.message)))?;
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
