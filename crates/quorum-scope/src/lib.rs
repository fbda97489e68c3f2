//! From what the user named to files, hunks and their revision.
