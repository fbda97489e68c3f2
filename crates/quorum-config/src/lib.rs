//! quorum.toml in layers: strict, with the origin of every value.
