//! The checks that are written in code, one module for each subject.

mod conflict;
pub(crate) mod secrets;

use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// Looks at one file and adds what it finds.
pub(crate) type Check = fn(&ParsedFile, &mut Vec<RuleFinding>);

/// Every check; each decides for itself whether a file is its business.
pub(crate) const ALL: &[Check] = &[conflict::check, secrets::check];
