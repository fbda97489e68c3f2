//! Packages of manifests and lock files, matched against advisories.
