use proptest::prelude::*;
use quorum_model::config::{FailOn, Tokenizer};

use super::*;

fn user(text: &str) -> TextLayer {
    TextLayer { origin: Origin::User("~/quorum.toml".to_owned()), text: text.to_owned() }
}

fn repository(text: &str) -> TextLayer {
    TextLayer { origin: Origin::Repository("quorum.toml".to_owned()), text: text.to_owned() }
}

fn error(text: &str) -> ConfigError {
    let layers = Layers { repository: Some(repository(text)), ..Layers::default() };
    load(&layers).expect_err(text)
}

#[test]
fn nothing_at_all_is_the_default() {
    assert_eq!(load(&Layers::default()).expect("it loads").config, Config::default());
}

#[test]
fn each_layer_wins_over_the_one_below() {
    let mut layers = Layers {
        user: Some(user(
            "fail_on = \"low\"\ntokenizer = \"cl100k\"\n[limits]\nmax_usd = 1\njobs = 3\n",
        )),
        repository: Some(repository("# ours\nfail_on = \"medium\"\n[limits]\nmax_usd = 0.75\n")),
        ..Layers::default()
    };
    let loaded = load(&layers).expect("it loads");
    assert_eq!(loaded.config.fail_on, FailOn::Medium);
    assert_eq!(loaded.config.tokenizer, Tokenizer::Cl100k);
    assert_eq!(loaded.config.limits.max_usd, Some(0.75));
    assert_eq!(loaded.config.limits.jobs, Some(3));
    assert_eq!(loaded.origin("fail_on").to_string(), "quorum.toml:2");
    assert_eq!(loaded.origin("limits.jobs").to_string(), "~/quorum.toml:5");
    assert_eq!(loaded.origin("strict").to_string(), "default");

    layers.variables = vec![
        ("QUORUM_FAIL_ON".to_owned(), "critical".to_owned()),
        ("QUORUM_MAX_USD".to_owned(), "0.5".to_owned()),
        ("HOME".to_owned(), "/root".to_owned()),
    ];
    let loaded = load(&layers).expect("it loads");
    assert_eq!(loaded.config.fail_on, FailOn::Critical);
    assert_eq!(loaded.config.limits.max_usd, Some(0.5));
    assert_eq!(loaded.origin("fail_on").to_string(), "variable QUORUM_FAIL_ON");

    layers.flags = vec![Setting {
        flag: "--fail-on".to_owned(),
        key: "fail_on".to_owned(),
        value: Value::String("none".to_owned()),
    }];
    let loaded = load(&layers).expect("it loads");
    assert_eq!(loaded.config.fail_on, FailOn::None);
    assert_eq!(loaded.origin("fail_on").to_string(), "flag --fail-on");
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest() {
    let found = error("fail_on = \"low\"\n\nfail_onn = \"low\"\n");
    let said = found.to_string();
    assert!(said.starts_with("quorum.toml:3: there is no key `fail_onn`, only "), "{said}");
    assert!(said.contains(", fail_on, "), "{said}");
    assert_eq!(found.hint().as_deref(), Some("did you mean `fail_on`?"));
    let found = error("[limits]\nmax_token = 5\n");
    assert_eq!(
        found.to_string(),
        "quorum.toml:2: there is no key `limits.max_token`, only calls_per_shard, jobs, max_seconds, \
         max_tokens, max_usd, seconds_per_call"
    );
    assert_eq!(found.hint().as_deref(), Some("did you mean `limits.max_tokens`?"));
    let found = error("[agent.security]\nvetoo = true\n");
    assert_eq!(found.hint().as_deref(), Some("did you mean `agent.security.veto`?"));
}

#[test]
fn a_wrong_value_names_its_line() {
    let found = error("strict = true\nfail_on = \"hihg\"\n").to_string();
    assert!(found.starts_with("quorum.toml:2: fail_on: `hihg` is not one of"), "{found}");
    let found = error("[limits]\nmax_tokens = \"many\"\n").to_string();
    assert!(found.starts_with("quorum.toml:2: limits.max_tokens: a whole number"), "{found}");
    let found = error("tier = \n").to_string();
    assert!(found.starts_with("quorum.toml:1: "), "{found}");
}

#[test]
fn thresholds_out_of_order_name_the_place() {
    let found = error("[progressive_summarization]\nfull_analysis_threshold = 0.99\n").to_string();
    assert!(
        found.starts_with("quorum.toml:2: progressive_summarization: the thresholds must be"),
        "{found}"
    );
}

#[test]
fn variables_are_checked_like_keys() {
    let with = |name: &str, value: &str| {
        let variables = vec![(name.to_owned(), value.to_owned())];
        load(&Layers { variables, ..Layers::default() })
    };
    let found = with("QUORUM_FAILON", "low").expect_err("a typo");
    assert_eq!(found.to_string(), "the variable QUORUM_FAILON sets no key");
    assert_eq!(found.hint().as_deref(), Some("did you mean `QUORUM_FAIL_ON`?"));
    let found = with("QUORUM_STRICT", "perhaps").expect_err("not a truth value").to_string();
    assert_eq!(found, "QUORUM_STRICT: strict: `perhaps` is not true or false");
    let found = with("QUORUM_TIER", "huge").expect_err("no tier").to_string();
    assert!(found.starts_with("variable QUORUM_TIER: tier: `huge` is not one of"), "{found}");
    let loaded = with("QUORUM_AGENTS", "security, go").expect("a list");
    assert_eq!(loaded.config.agents, ["security", "go"]);
}

#[test]
fn every_key_is_listed_with_its_origin() {
    let layers = Layers { user: Some(user("[models.own]\nmax_tokens = 9\n")), ..Layers::default() };
    let entries = load(&layers).expect("it loads").entries();
    let find = |key: &str| entries.iter().find(|entry| entry.0 == key).cloned();
    let (_, value, origin) = find("models.own.max_tokens").expect("it is listed");
    assert_eq!((value.as_deref(), origin.to_string().as_str()), (Some("9"), "~/quorum.toml:2"));
    let (_, value, origin) = find("limits.max_usd").expect("an unset key is listed");
    assert_eq!((value, origin), (None, Origin::Default));
}

proptest! {
    #[test]
    fn any_text_is_refused_or_loaded_without_a_panic(
        text in "([a-z_.\\[\\]=\"' 0-9\n]{0,40}|(fail_on|limits|agent|models)[.=\\[\\]\"a-z0-9\n ]{0,30}){0,4}",
    ) {
        drop(load(&Layers { repository: Some(repository(&text)), ..Layers::default() }));
    }
}
