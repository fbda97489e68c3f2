//! Where the user's own file is.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use quorum_engine::config::FILE_NAME;

/// The user's own `quorum.toml`, whether it exists or not; absent without a home.
pub(crate) fn user_file() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("quorum").join(FILE_NAME))
}

/// The database of advisories that the user imported, whether it exists or not; absent without a
/// home. It is the user's own: a repository could bring one that hides what it should show.
pub(crate) fn advisories_file() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.cache_dir().join("quorum").join("advisories.db"))
}

/// The key that marks the runs which the user starts, whether it exists or not; absent without a home.
pub(crate) fn key_file() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(folder.join("quorum").join("key"))
}

/// What the user trusts repositories with, whether it exists or not; absent without a home.
pub(crate) fn trust_file() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("quorum").join("trusted.toml"))
}
