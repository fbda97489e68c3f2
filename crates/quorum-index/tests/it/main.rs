//! The index on folders that the tests make: what it finds, and that it stays right.

mod answers;
mod folder;
mod hostile;
mod incremental;
