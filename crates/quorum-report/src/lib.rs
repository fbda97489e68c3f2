//! Every output format, from one result.
