//! Clustering, protocols, coverage and the verdict, as pure functions.
