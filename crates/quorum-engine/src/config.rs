//! `quorum.toml` in layers: strict, with the origin of every value.
//!
//! A flag wins over the environment, the environment over the repository's file, that over the
//! user's, and that over the defaults. A repository's file says by itself what is reviewed and how it
//! is decided; it can lower limits, and what sends, pays or runs needs the user's word. Texts and variables come in as values: where they are read
//! from, and from which revision, is the caller's business. Nothing is taken that is not
//! understood: an unknown key names the nearest one, and a value of the wrong kind its line.

mod consent;
mod environment;
mod error;
mod keys;
mod layers;
pub mod reference;
pub mod template;
pub mod trust;

pub use consent::{Claim, Held, in_repository};
pub use error::ConfigError;
pub use layers::{Layers, Loaded, Origin, Setting, TextLayer, load};
pub use toml::Value;

/// The name of the file in a repository and in the user's configuration folder.
pub const FILE_NAME: &str = "quorum.toml";
