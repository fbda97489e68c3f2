//! Any text is a configuration or an error, as a file and as a variable.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorum_engine::config::{Layers, Origin, TextLayer, load};

fuzz_target!(|text: &str| {
    let origin = Origin::Repository("quorum.toml".to_owned());
    let layer = TextLayer { origin, text: text.to_owned() };
    if let Ok(loaded) = load(&Layers { repository: Some(layer), ..Layers::default() }) {
        assert!(loaded.config.problems().is_empty());
        assert!(!loaded.entries().is_empty());
    }
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let variables = vec![(format!("QUORUM_{}", name.to_uppercase()), value.to_owned())];
    drop(load(&Layers { variables, ..Layers::default() }));
});
