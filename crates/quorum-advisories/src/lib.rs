//! Packages of manifests and lock files, matched against advisories.
//!
//! [`packages::read`] turns a file into the packages that it names, each with its line.
//! [`Database`] keeps advisories in OSV form that the user imported once, and answers which of
//! them affect a package, by the version order of the package's own ecosystem.

pub mod database;
mod ecosystem;
mod error;
mod matching;
pub mod osv;
pub mod packages;
mod rating;
pub mod version;

pub use database::{Database, Imported, Status};
pub use ecosystem::Ecosystem;
pub use error::AdvisoryError;
pub use matching::{Match, matches};
pub use packages::{Document, Origin, Package, Relation};
pub use rating::{Rating, rate};
