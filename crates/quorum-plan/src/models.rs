//! What is known about models: windows, prices, and which to take for which work.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::config::{Capability, Config, ModelConfig};
use serde::Deserialize;

use crate::error::PlanError;

/// The window that a task is sized for where no model is named.
pub const DEFAULT_WINDOW: u64 = 200_000;

/// The window of a model that nobody described; small enough for most.
const UNKNOWN_WINDOW: u64 = 128_000;

/// The engine that needs no provider.
pub const BUILTIN: &str = "builtin";

/// The engine of reviews that somebody else's agents carry out.
pub const HOST: &str = "host";

/// Providers that Quorum can speak to.
const PROVIDERS: [&str; 10] = [
    BUILTIN,
    HOST,
    "anthropic",
    "openai",
    "openai-responses",
    "gemini",
    "azure",
    "ollama",
    "openrouter",
    "command",
];

const EMBEDDED: &str = include_str!("../models.toml");

#[derive(Debug, Deserialize)]
struct Table {
    as_of: String,
    models: BTreeMap<String, ModelConfig>,
    capabilities: BTreeMap<String, Capability>,
}

/// The models and capabilities that are known.
#[derive(Clone, Debug)]
pub struct Registry {
    /// When the embedded prices were taken.
    pub as_of: String,
    models: BTreeMap<String, ModelConfig>,
    capabilities: BTreeMap<String, Capability>,
}

/// What is known about one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name in the registry and in plans.
    pub name: String,
    /// The name that the provider knows it by.
    pub served_as: String,
    /// The context window.
    pub window: u64,
    /// File tokens with which it works best, where that is known.
    pub sweet_spot: Option<u64>,
    /// US dollars for a million tokens sent and received, where that is known.
    pub prices: Option<(f64, f64)>,
    /// Whether anybody described it.
    pub known: bool,
}

impl Model {
    /// A model of that window, about which nothing else is known.
    pub fn of_window(name: &str, window: u64) -> Self {
        Self {
            name: name.to_owned(),
            served_as: name.to_owned(),
            window,
            sweet_spot: None,
            prices: None,
            known: true,
        }
    }
}

impl Registry {
    /// The embedded table with what configuration adds and changes.
    pub fn load(config: &Config) -> Result<Self, PlanError> {
        let table: Table = toml::from_str(EMBEDDED).map_err(|error| PlanError::FrontMatter {
            path: "models.toml".to_owned(),
            message: error.message().to_owned(),
        })?;
        let mut registry =
            Self { as_of: table.as_of, models: table.models, capabilities: table.capabilities };
        for (name, changes) in &config.models {
            let entry = registry.models.entry(name.clone()).or_default();
            let changes = changes.clone();
            entry.provider = changes.provider.or(entry.provider.take());
            entry.model = changes.model.or(entry.model.take());
            entry.max_tokens = changes.max_tokens.or(entry.max_tokens);
            entry.sweet_spot = changes.sweet_spot.or(entry.sweet_spot);
            entry.usd_per_million_input =
                changes.usd_per_million_input.or(entry.usd_per_million_input);
            entry.usd_per_million_output =
                changes.usd_per_million_output.or(entry.usd_per_million_output);
        }
        registry.capabilities.extend(config.capabilities.clone());
        Ok(registry)
    }

    /// The model called `name`; one that nobody described has a small window and no price.
    pub fn model(&self, name: &str) -> Model {
        let Some(entry) = self.models.get(name) else {
            return Model { known: false, ..Model::of_window(name, UNKNOWN_WINDOW) };
        };
        Model {
            name: name.to_owned(),
            served_as: entry.model.clone().unwrap_or_else(|| name.to_owned()),
            window: entry.max_tokens.unwrap_or(UNKNOWN_WINDOW),
            sweet_spot: entry.sweet_spot,
            prices: entry.usd_per_million_input.zip(entry.usd_per_million_output),
            known: true,
        }
    }

    /// The models for `capability` in the order in which they are tried: preferred, then fallback.
    pub fn chain(&self, capability: &str) -> impl Iterator<Item = &str> {
        let found = self.capabilities.get(capability);
        let names = found.into_iter().flat_map(|c| c.preferred.iter().chain(&c.fallback));
        names.map(String::as_str)
    }

    /// The model that `provider` reviews with where none is named.
    pub fn preferred(&self, provider: &str) -> Option<&str> {
        self.chain("reviewing").find(|name| {
            self.models.get(*name).and_then(|model| model.provider.as_deref()) == Some(provider)
        })
    }

    /// An error unless `provider` is one that Quorum or the configuration knows.
    pub fn check_provider(&self, provider: &str) -> Result<(), PlanError> {
        let configured = self.models.values().filter_map(|model| model.provider.as_deref());
        let known: BTreeSet<&str> = PROVIDERS.into_iter().chain(configured).collect();
        if known.contains(provider) {
            return Ok(());
        }
        Err(PlanError::UnknownProvider {
            name: provider.to_owned(),
            known: known.into_iter().map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(config: &str) -> Registry {
        let config: Config = toml::from_str(config).expect("the configuration parses");
        Registry::load(&config).expect("the table parses")
    }

    #[test]
    fn every_capability_names_models_that_are_known() {
        let registry = registry("");
        for capability in ["reviewing", "fast"] {
            assert!(registry.chain(capability).count() > 2);
            for name in registry.chain(capability) {
                let model = registry.model(name);
                assert!(model.known && model.prices.is_some(), "{name}");
            }
        }
    }

    #[test]
    fn configuration_overrides_single_figures() {
        let registry = registry(
            "[models.claude-sonnet-5]\nsweet_spot = 100000\nusd_per_million_input = 9.0\n\
             [models.own]\nprovider = \"openai\"\nmax_tokens = 32768\n\
             [capabilities.reviewing]\npreferred = [\"own\"]\n",
        );
        let sonnet = registry.model("claude-sonnet-5");
        assert_eq!((sonnet.window, sonnet.sweet_spot), (1_000_000, Some(100_000)));
        assert_eq!(sonnet.prices, Some((9.0, 10.0)));
        assert_eq!(registry.preferred("openai"), Some("own"));
        assert_eq!(registry.model("own").prices, None);
    }

    #[test]
    fn an_unknown_model_is_small_and_has_no_price() {
        let model = registry("").model("mystery");
        assert!(!model.known && model.prices.is_none());
        assert_eq!(model.window, 128_000);
    }

    #[test]
    fn unknown_providers_name_the_nearest() {
        let error = registry("").check_provider("antropic").expect_err("a typo");
        assert!(error.hint().is_some_and(|hint| hint.contains("`anthropic`")));
    }
}
