use std::collections::BTreeSet;

use super::*;
use crate::config::{Layers, Loaded, Origin, TextLayer, load};

fn user(text: &str) -> TextLayer {
    TextLayer { origin: Origin::User("own.toml".to_owned()), text: text.to_owned() }
}

fn repository(text: &str) -> TextLayer {
    TextLayer { origin: Origin::Repository("quorum.toml".to_owned()), text: text.to_owned() }
}

fn loaded(own: &str, theirs: &str) -> Loaded {
    let layers =
        Layers { user: Some(user(own)), repository: Some(repository(theirs)), ..Layers::default() };
    load(&layers).unwrap_or_else(|error| panic!("{theirs}: {error}"))
}

fn refused(loaded: &Loaded) -> Vec<&str> {
    loaded.refused().iter().map(|held| held.key.as_str()).collect()
}

/// Every key of the schema, with `*` for free names.
fn patterns(node: &Node, path: &str, found: &mut BTreeSet<String>) {
    match node {
        Node::Leaf(_) => {
            found.insert(path.to_owned());
        }
        Node::Map(below) => patterns(below, &join(path, "*"), found),
        Node::Table(keys) => {
            for (name, below) in keys {
                patterns(below, &join(path, name), found);
            }
        }
    }
}

#[test]
fn every_key_is_classified_once() {
    let mut exist = BTreeSet::new();
    patterns(&Node::root(), "", &mut exist);
    let classified: BTreeSet<String> = KEYS.iter().map(|(key, _, _)| (*key).to_owned()).collect();
    assert_eq!(classified, exist, "classify every key in KEYS, and no other");
    assert_eq!(KEYS.len(), classified.len(), "a key is classified twice");
}

#[test]
fn what_sends_pays_or_runs_is_taken_out() {
    // Every key that needs consent, with a value of its kind.
    let theirs = "provider = \"anthropic\"\nmodel = \"m\"\ncomplete = true\nverify = true\n\
        canary = false\ntokenizer = \"chars4\"\n\
        [agent.security]\nprovider = \"openai\"\nmodel = \"o\"\nveto = false\n\
        [models.\"a.b\"]\nprovider = \"openai\"\nmodel = \"x\"\nmax_tokens = 9\nsweet_spot = 5\n\
        usd_per_million_input = 0.0\nusd_per_million_output = 0.0\n\
        [capabilities.reviewing]\npreferred = [\"m\"]\nfallback = [\"m\"]\n\
        [gates]\nrun = true\npass_env = [\"HOME\"]\nnetwork = true\nallow_unsandboxed = true\n\
        [forge]\napi_url = \"https://e.org\"\nrepository = \"a/b\"\nremote = \"r\"\nkind = \"gitlab\"\naccount = \"a\"\n\
        [advisories]\nurl = \"https://e.org\"\n\
        [embeddings]\nurl = \"https://e.org\"\nmodel_dir = \"/etc\"\nmodel = \"m\"\n";
    let loaded = loaded("", theirs);
    let with_names = |pattern: &str| {
        pattern
            .replace("agent.*", "agent.security")
            .replace("models.*", "models.a.b")
            .replace("capabilities.*", "capabilities.reviewing")
    };
    let expected: BTreeSet<String> = KEYS
        .iter()
        .filter(|(_, standing, _)| matches!(standing, Consent | Only(_)))
        .map(|(key, _, _)| with_names(key))
        .collect();
    let found: BTreeSet<String> = refused(&loaded).into_iter().map(str::to_owned).collect();
    assert_eq!(found, expected);
    let mut config = loaded.config.clone();
    assert_eq!(config.agent.remove("security").and_then(|agent| agent.veto), Some(false));
    config.models.clear();
    config.capabilities.clear();
    config.forge.kind = None;
    assert_eq!(config, Config::default(), "nothing of it is in force");
    assert_eq!(loaded.held[0].place, "quorum.toml:1");
    let warning = loaded.warning("").expect("a warning");
    assert!(warning.contains("provider = \"anthropic\" (quorum.toml:1)"), "{warning}");
    assert!(warning.contains("quorum config trust") && warning.contains("more"), "{warning}");
}

#[test]
fn what_asks_for_less_is_free() {
    let theirs = "provider = \"builtin\"\ncomplete = false\nverify = false\ncanary = true\n\
        tokenizer = \"cl100k\"\n[gates]\nrun = false\nnetwork = false\nallow_unsandboxed = false\n\
        [agent.security]\nprovider = \"builtin\"\n";
    let loaded = loaded("provider = \"anthropic\"\ncomplete = true\n[gates]\nrun = true\n", theirs);
    assert_eq!(refused(&loaded), [""; 0]);
    assert_eq!(loaded.config.provider, "builtin");
    assert!(!loaded.config.complete && !loaded.config.gates.run);
}

#[test]
fn a_repository_lowers_limits_and_raises_none() {
    let own = "[limits]\nmax_usd = 1\nmax_tokens = 1000\n[agent.security]\nbase_budget = 2000\n";
    let lower = "[limits]\nmax_usd = 0.5\nmax_tokens = 1000\nmax_seconds = 99999\njobs = 8\n\
        calls_per_shard = 3\n[agent.security-reviewer]\nbase_budget = 1999\n\
        [gates.limits]\nmemory_mb = 100\n";
    let found = loaded(own, lower);
    assert_eq!(refused(&found), [""; 0]);
    assert_eq!(found.config.limits.max_usd, Some(0.5));
    assert_eq!(found.config.limits.max_seconds, Some(99_999), "there was no limit before");
    assert_eq!((found.config.limits.calls_per_shard, found.config.limits.jobs), (3, Some(8)));
    let higher = "[limits]\nmax_usd = 1.01\nmax_tokens = 1001\njobs = 9\ncalls_per_shard = 5\n\
        seconds_per_call = 121\n[agent.security-reviewer]\nbase_budget = 2001\n\
        [agent.go]\nbase_budget = 8193\n[gates.limits]\nmemory_mb = 8193\ndisk_mb = 99999\n\
        processes = 4097\nfile_mb = 4097\noutput_tokens = 2001\n";
    let found = loaded(own, higher);
    assert_eq!(refused(&found).len(), 12, "{:?}", refused(&found));
    assert_eq!(found.config.limits.max_usd, Some(1.0));
    assert_eq!((found.config.limits.max_tokens, found.config.limits.jobs), (Some(1000), None));
    assert_eq!(found.config.limits.calls_per_shard, 4);
    assert_eq!(found.config.gates, Config::default().gates);
    assert!(found.held.iter().any(|held| held.why.ends_with("without it, it is 1")));
    assert_eq!(found.origin("limits.max_usd").to_string(), "own.toml:2");
}

#[test]
fn what_is_no_number_raises_a_limit() {
    let found = loaded("[limits]\nmax_usd = 1\n", "[limits]\nmax_usd = nan\n");
    assert_eq!(found.config.limits.max_usd, Some(1.0));
    let found = loaded("[limits]\nmax_usd = 1\n", "[limits]\nmax_usd = inf\n");
    assert_eq!(found.config.limits.max_usd, Some(1.0));
}

#[test]
fn trust_is_in_exactly_these_settings() {
    let theirs = "provider = \"openai\"\nfail_on = \"low\"\n[limits]\nmax_usd = 2\n";
    let mut layers = Layers { repository: Some(repository(theirs)), ..Layers::default() };
    let first = load(&layers).expect("it loads");
    assert!(!first.trusted && first.config.provider == "builtin");
    layers.trusted = vec!["other".to_owned(), first.digest()];
    let trusted = load(&layers).expect("it loads");
    assert!(trusted.trusted && trusted.config.provider == "openai");
    assert_eq!(trusted.warning(""), None);
    assert_eq!(trusted.origin("provider").to_string(), "quorum.toml:1");
    assert_ne!(first.terms(), trusted.terms());
    // Another order, another comment or another free value changes nothing.
    let same = "# x\nfail_on = \"high\"\nprovider = 'openai'\n[limits]\nmax_usd = 1\n";
    layers.repository = Some(repository(same));
    assert!(load(&layers).expect("it loads").trusted);
    for other in [
        "provider = \"anthropic\"\n",
        "provider = \"openai\"\nmodel = \"dear\"\n",
        "model = \"openai\"\n",
        "provider = \"openai\"\n[agent.security]\nprovider = \"openai\"\n",
    ] {
        layers.repository = Some(repository(other));
        let loaded = load(&layers).expect("it loads");
        assert!(!loaded.trusted && loaded.config.provider == "builtin", "{other}");
    }
}

#[test]
fn other_files_of_the_repository_ask_for_consent_too() {
    let claim = |key: &str, value: Value| Claim {
        path: vec!["agent".to_owned(), "api".to_owned(), key.to_owned()],
        value,
        place: ".quorum/agents/api.md".to_owned(),
    };
    let mut layers = Layers {
        claims: vec![
            claim("model", Value::String("dear".to_owned())),
            claim("base_budget", Value::Integer(8192)),
        ],
        ..Layers::default()
    };
    let found = load(&layers).expect("it loads");
    assert_eq!(refused(&found), ["agent.api.model"]);
    assert_eq!(found.held[0].place, ".quorum/agents/api.md");
    layers.trusted = vec![found.digest()];
    assert!(load(&layers).expect("it loads").trusted);
    layers.claims.push(claim("base_budget", Value::Integer(8193)));
    assert!(!load(&layers).expect("it loads").trusted);
}

#[test]
fn the_users_word_wins_and_silences_the_warning() {
    let mut layers =
        Layers { repository: Some(repository("provider = \"anthropic\"\n")), ..Layers::default() };
    layers.variables = vec![("QUORUM_PROVIDER".to_owned(), "openai".to_owned())];
    let found = load(&layers).expect("it loads");
    assert_eq!((found.config.provider.as_str(), found.warning("")), ("openai", None));
    assert_eq!(refused(&found), ["provider"], "it is still named");
}

#[test]
fn a_value_is_shown_as_it_is() {
    let text = "model = \"a\\u001b[2J\\nb\\u202e\\\"c\"\n";
    let found = loaded("", text);
    assert_eq!(found.held[0].value, "\"a\\u{1b}[2J\\u{a}b\\u{202e}\\\"c\"");
}
