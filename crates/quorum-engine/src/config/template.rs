//! The file that `quorum config init` writes.

/// A `quorum.toml` in which every line is a comment that shows a default.
pub const TEMPLATE: &str = r#"# What Quorum does in this repository. Every key is optional; the values shown are the defaults.
# What sends code, costs money or runs programs is used once the user agrees: `quorum config trust`.
# `quorum config show --origin` prints what is in force, `quorum config validate` checks this file,
# and `quorum config schema` prints a JSON schema for editors.

# provider = "builtin"          # builtin (offline), anthropic, openai, gemini, command
# model = "claude-sonnet-5"     # the provider's preferred model where it is not set
# agents = []                   # always these reviewers, such as ["security", "go"]
# tier = "standard"             # simple, standard or complex, instead of the scored one
# protocol = "veto"             # veto, aad, ci or vote
# review_type = "code"          # code, research, architecture or improvement
# fail_on = "high"              # critical, high, medium, low or none
# strict = false                # any finding fails the review, and so does what was only read
# quorum_share = 0.75           # of all reviewers that must finish; else the vetoing and 2/3 of the rest
# complete = false              # follow up on what the budget left out
# verify = false                # have blocking findings looked at a second time, by a model
# tokenizer = "o200k"           # o200k, cl100k or chars4

# [progressive_summarization]   # shares of a budget; they must be increasing
# full_analysis_threshold = 0.80
# high_severity_threshold = 0.95
# force_return_threshold = 0.98

# [limits]
# max_tokens = 500000           # of all calls together
# max_usd = 2.0
# max_seconds = 600
# jobs = 4                      # reviewers at once

# [scope]
# ignore = ["*.snap"]           # never reviewed, as in .quorumignore
# security_sensitive = ["billing/**"]
# generated = ["*.gen.ts"]

# [suppressions]
# allow_new_vetoes = false      # a `quorum:ignore` in a change lifts a veto on that change

# [coverage]
# require = "read"              # or "reviewed": what no rule knows and no model saw is incomplete

# [agent.security]              # changes to one reviewer
# base_budget = 8192
# veto = true
# enabled = true
# provider = "anthropic"
# model = "claude-opus-5"

# [models."claude-sonnet-5"]    # figures that differ from the embedded ones, or a model of yours
# max_tokens = 1000000
# sweet_spot = 100000
# usd_per_million_input = 2.0
# usd_per_million_output = 10.0

# [capabilities.reviewing]
# preferred = ["claude-sonnet-5"]
# fallback = ["gpt-5"]

# [gates]                       # commands that run before reviewers, with `--gates`
# preset = "auto"               # or go, rust, node, python, maven, gradle, cmake, make, task, none

# [[gates.overrides]]
# name = "coverage"
# required = true
# threshold = 80.0

# [[gates.additional]]
# name = "migrations"
# command = "./scripts/check-migrations.sh"
# required = true

# [embeddings]                  # search by meaning; where the model is, only your own file can say
# model = "text-embedding-3-small"
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Origin, TextLayer, load};

    /// The template is right as it stands, and also with every comment taken away.
    #[test]
    fn every_line_of_the_template_is_a_valid_setting() {
        let settings = TEMPLATE.lines().skip_while(|line| !line.is_empty());
        let settings = settings.map(|line| line.strip_prefix("# ").unwrap_or(line));
        let set = settings.collect::<Vec<_>>().join("\n");
        for text in [TEMPLATE.to_owned(), set] {
            let origin = Origin::Repository("quorum.toml".to_owned());
            let layers =
                Layers { repository: Some(TextLayer { origin, text }), ..Layers::default() };
            load(&layers).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
