//! Runs reviewers under budgets and returns what they found and saw.
