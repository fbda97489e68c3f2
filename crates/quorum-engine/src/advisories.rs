//! The advisories that dependencies are compared with.

use quorum_advisories::Database;

use crate::environment::Environment;
use crate::error::EngineError;

/// The user's database; absent when nothing was imported. A broken one is a failure, not an
/// absence: the review would claim less than the user prepared for.
pub fn open(environment: &Environment) -> Result<Option<Database>, EngineError> {
    match &environment.advisories_file {
        Some(file) => Ok(Database::open(file)?),
        None => Ok(None),
    }
}
