//! Token counts and the cutting of text into units.
