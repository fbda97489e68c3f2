//! The arguments, and the help that teaches them.

mod code;
mod context;
mod mcp;
mod report;
mod rules;
mod runs;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use quorum_model::config::{FailOn, TierName, Tokenizer};
use quorum_model::plan::Protocol;
use serde::de::DeserializeOwned;

pub(crate) use code::{
    CallersArgs, ContentName, IndexArgs, KindName, MapArgs, SearchArgs, SizeArgs, SummaryArgs,
    SymbolsArgs,
};
pub(crate) use context::{ContextArgs, ConventionsAction, ConventionsArgs, SopsAction, SopsArgs};
pub(crate) use mcp::{Assistant, McpArgs, SetupArgs};
pub(crate) use report::{LiveArgs, ReportArgs, ResultArgs, ResultFormat};
pub(crate) use rules::{
    AdvisoriesAction, AdvisoriesArgs, EvalArgs, EvalList, RulesAction, RulesArgs,
};
pub(crate) use runs::{
    DismissArgs, IngestArgs, MemoryAction, MemoryArgs, RunsAction, RunsArgs, ShowArgs, VerdictsArgs,
};

/// Code review by several reviewers at once, with budgets, coverage and a verdict decided in code
#[derive(Debug, Parser)]
#[command(name = "quorum", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "\
Start here:
  quorum review                     what differs from the default branch, else uncommitted work
  quorum review --all               every file
  quorum review --base origin/main  what this branch adds
  quorum report --open              the last review in the browser
  quorum plan                       what would be reviewed, by whom, and what it could cost
  quorum agents --explain FILE      who would review a file, and why
  quorum config init                a quorum.toml to start from

Exit codes: 0 approved, 1 changes requested or blocked, 2 incomplete, or an error that says why.")]
pub(crate) struct Cli {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = "Everywhere")]
    pub(crate) directory: Option<PathBuf>,
    /// When to colour the output; `auto` is on a terminal, unless `NO_COLOR` is set
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        help_heading = "Everywhere"
    )]
    pub(crate) color: Color,
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Review a change: scope, plan, reviewers, verdict
    #[command(after_help = SCOPE_HELP)]
    Review(ReviewArgs),
    /// Say what a review would look at, who would do it, and what it could cost; send nothing
    #[command(after_help = SCOPE_HELP)]
    Plan(PlanArgs),
    /// Run the build, test and lint commands of a change, apart from the rest of the machine
    #[command(after_help = "\
Which checks there are follows from the repository's files (Go, Rust, Node, Python, Maven, Gradle, CMake,
Make, Taskfile) and from [gates] in quorum.toml. They run in a scratch copy, without network, keys or
your home folder, as far as this system can enforce that; the report says what it cannot.

Examples:
  quorum gates --list                       which checks there are; nothing runs
  quorum gates                              for what is in the work tree
  quorum gates --base origin/main --trust-gates   for commits, which may be somebody else's

Exit codes: 0 every required check passed, 1 one did not, 2 an error that says why.")]
    Gates(GatesArgs),
    /// Let a coding agent work until gates and reviewers are content, three rounds at most
    #[command(after_help = "\
The command runs in the repository as you would run it. It is given a prompt as its standard input and
as the file that QUORUM_PROMPT names: the task, and from the second round on what gates and reviewers
said. Gates run in every round, by rules as they stood when the loop began. Every round leaves a run.

Examples:
  quorum loop --develop 'claude -p' --task task.md
  quorum loop --develop ./fix.sh --rounds 2 --format json

Ends with approved (exit code 0), rejected (1: misscoped, architectural or too_big, which another round
would not mend) or escalated (1, or 2 where no verdict was reached).")]
    Loop(LoopArgs),
    /// Runs one check; the program's own helper
    #[command(name = quorum_gates::HELPER, hide = true)]
    Gate {
        /// The stage and its specification
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Say whether files fit one request to a model, and split them where not
    #[command(after_help = "\
Of the model's window, 2,000 tokens go to the system prompt, 1,500 to the plan, 4,000 to SOPs, 6,400 to
the answer and 15 % to a margin. Files may take 40 % of the rest, or the model's sweet_spot.

A task is a JSON file with `description`, `acceptance_criteria` and `files` (or globs); for one, the answer
is JSON, and the exit code is 0 if it fits and 1 if it is too large.

Examples:
  quorum size src/auth/*.go
  quorum size src --model claude-haiku-4-5 --format json
  quorum size --task task.json")]
    Size(SizeArgs),
    /// Bring the index of this repository up to date: symbols, chunks, references
    #[command(after_help = "\
Only contents that are new are parsed: a second run, a rename or another branch costs a look at the
files. The index is in .quorum/index, which is safe to delete. `search` and its like keep it up to date
by themselves. What git ignores and what .quorumignore names is left out; binary, generated and very
large files are known by name alone.

Examples:
  quorum index
  quorum index src/auth
  quorum index --changed --quiet        for a hook: only what git calls changed")]
    Index(IndexArgs),
    /// Find code by words, by name, by exact text or by a regular expression
    #[command(after_help = "\
Words are matched whole and by their parts (camelCase, snake_case, paths), names of symbols first.
`--exact` and `--regex` search the files themselves and need no index.

Examples:
  quorum search parse config file
  quorum search Config::load --content full
  quorum search 'retry with backoff' --lang go --path 'internal/**' --budget 2000
  quorum search --regex 'TODO|FIXME' --path src --limit 100")]
    Search(SearchArgs),
    /// List what a file declares, or what it refers to
    Symbols(SymbolsArgs),
    /// Print the signatures of a file, for a reader who has no room for all of it
    Summary(SummaryArgs),
    /// Find out who calls a function, or who uses a type
    #[command(after_help = "\
Names are compared; types are not inferred. Where a name is declared more than once, calls that could
mean another declaration are listed apart.

Examples:
  quorum callers parse_config
  quorum callers Config.load --format json")]
    Callers(CallersArgs),
    /// Print the most central symbols of the repository, within a token budget
    #[command(after_help = "\
Every file votes for the symbols that it refers to; the votes of files that are themselves referred to
count more. Tests and vendored code do not vote.

Examples:
  quorum map --budget 2000
  quorum map --budget 500 --format json")]
    Map(MapArgs),
    /// List the reviewers, or show one, or say who would review a file
    Agents(AgentsArgs),
    /// List the rules of the embedded reviewers, show one, or run the cases inside them
    Rules(RulesArgs),
    /// List the team's standing orders, look for mistakes in them, or say which apply to a file
    #[command(after_help = "\
SOPs are Markdown files in .quorum/sops/. Reviewers are shown those that apply, whole, and answer for each.

Examples:
  quorum sops list
  quorum sops explain src/auth/login.go
  quorum sops check                     exit code 1 where a review would fail for them")]
    Sops(SopsArgs),
    /// List how the team says that it writes code, and accept or reject what reviewers offer
    #[command(after_help = "\
Read are AGENTS.md, CLAUDE.md, GEMINI.md and REVIEW.md (each for its folder), .cursorrules and
.cursor/rules, .github/copilot-instructions.md and instructions, CONTRIBUTING, STYLE and CONVENTIONS
files, and .quorum/conventions/. After a review that approves, reviewers may offer what they saw.

Examples:
  quorum conventions list
  quorum conventions accept c-1a2b3c4d")]
    Conventions(ConventionsArgs),
    /// Print what a reviewer of these files would be told beside their code
    #[command(after_help = "\
Standing orders go in whole; then, in 4,000 tokens together with them, what was decided before,
signatures, tests and conventions. The manifest says what went in, what did not, and why.

Examples:
  quorum context src/auth/login.go
  quorum context src/auth --agent security --format json")]
    Context(ContextArgs),
    /// Show, check or start the configuration
    Config(ConfigArgs),
    /// Keep the advisories that dependencies are compared with
    #[command(after_help = "\
The vulnerability reviewer compares manifests and lock files with these, offline. They are kept once for
all repositories, in the user's cache folder.

Examples:
  quorum advisories import ~/Downloads/all.zip     an ecosystem's archive of OSV records, or a folder
  quorum advisories update                         from advisories.url of your own quorum.toml
  quorum advisories status")]
    Advisories(AdvisoriesArgs),
    /// Measure the embedded reviewers on labelled code, or their noise on a repository's commits
    #[command(after_help = "\
Labels, as they stand in public corpora:
  comments             $ Alert, BAD/GOOD, NOT OK/OK on the line; ruleid:/ok: above it; want, //~ lint
  --labels FILE        a table: file, category, expected[, cwe]
  folders              positive and negative, bad and good, vulnerable and safe

Examples:
  quorum eval corpus/python --agents security
  quorum eval corpus/python --against bandit=bandit.json --against ruff=ruff.json
  quorum eval --commits . 200")]
    Eval(EvalArgs),
    /// Say in one line per agent how the last review went
    #[command(after_help = "\
Everything that reviewers write is on disk. An agent that orchestrates reviews reads these lines, and
opens only what needs a look:

  quorum verdicts --attention
  quorum show security --index
  quorum show SEC-001")]
    Verdicts(VerdictsArgs),
    /// Show what an agent found, or one finding, in full
    Show(ShowArgs),
    /// List, show or remove the runs that are kept in .quorum/runs
    Runs(RunsArgs),
    /// Print the result of a finished run, in any format
    #[command(after_help = "\
Examples:
  quorum report --open                        the last review in the browser
  quorum report --format sarif -o out.sarif   for code scanning
  quorum report 20260302 --format markdown    an earlier run, for a comment

The exit code is the run's own: 0 approved, 1 changes requested or blocked, 2 incomplete.")]
    Report(ReportArgs),
    /// Go on with a review that was killed or interrupted
    Resume {
        /// The run: an id, the beginning of one, or `latest`
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        output: ResultArgs,
        #[command(flatten)]
        live: LiveArgs,
    },
    /// Take findings of other tools and agents into a run
    #[command(after_help = "\
A page begins with an index of its findings and the verdict that follows from them:

  ### Findings Index
  - HIGH | SEC-001 | \"src/auth.go:41\" | Token is logged
  Verdict: needs-changes

Severities are CRITICAL, HIGH, MEDIUM, LOW, or P0 to P3; verdicts are safe, needs-changes, risky and
error. A section under a heading with the id may quote the code in a fenced block. JSON follows
schemas/agent-report.json. A finding whose quote is not in the code under review is not taken.")]
    Ingest(IngestArgs),
    /// Decide a recorded run again, perhaps by another protocol; no model is asked
    #[command(after_help = "\
Examples:
  quorum replay latest --protocol vote
  quorum replay latest --calls        from what models answered, instead of from what agents returned
  quorum replay 0199 --fail-on medium --format json")]
    Replay(ReplayArgs),
    /// Write a review to its pull or merge request: comments, one summary, a status
    #[command(after_help = "\
What is there already is recognised: posting twice changes nothing, findings that are gone are marked,
and a posting that broke off is finished by the next. Without a token that may write, the text is kept
as a file in the run's folder.

Examples:
  quorum review --pr 17 && quorum post --pr 17
  quorum post --pr 17 --dry-run")]
    Post(PostArgs),
    /// Record, find and forget what reviews taught
    Memory(MemoryArgs),
    /// Set a finding aside, with a reason
    Dismiss(DismissArgs),
    /// Check what a review depends on, and say what to do
    Doctor,
    /// Serve coding agents: an MCP server on standard input and output, or over HTTP
    #[command(after_help = "\
The client starts it; `quorum setup claude` and its like write that down for one. Paths stay within the
roots that the client names, else within the repository that it is started in. Over HTTP it listens on
this machine alone, wants a token, and answers no page in a browser.

Examples:
  quorum mcp
  MCP_SERVER_TOKEN=$(cat token) quorum mcp --http 127.0.0.1:8931")]
    Mcp(McpArgs),
    /// Tell a coding assistant about Quorum in this repository: shows the files, `--yes` writes them
    Setup(SetupArgs),
    /// Write the plugin for Claude Code to a folder
    #[command(hide = true)]
    Plugin {
        /// The folder
        folder: PathBuf,
    },
    /// Write the manual pages to a folder
    #[command(hide = true)]
    Man {
        /// The folder, such as `man/man1`
        folder: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const SCOPE_HELP: &str = "\
What is looked at, the first that applies:
  PATHS without a scope flag     whole files, directories (what git ignores left out) and 'globs'
  --staged --unstaged --untracked   parts of what is not committed; they can be combined
  --commit, --range, --base      committed changes; configuration then comes from the base revision
  --diff FILE or -               a diff from anywhere, also without a repository
  --pr N                         a pull or merge request on GitHub or GitLab
  --all                          every file
  nothing                        what differs from the default branch, else what is not committed
PATHS beside a scope flag narrow it down.

Examples:
  quorum plan
  quorum plan --base origin/main --format json
  quorum plan 'src/**/*.go' --agents security,go
  git diff | quorum plan --diff -";

#[derive(Args, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ScopeArgs {
    /// Files, directories and globs; `-` reads a diff from standard input
    pub(crate) paths: Vec<String>,
    /// What is staged, against the last commit
    #[arg(long, help_heading = "Scope")]
    pub(crate) staged: bool,
    /// What is changed and not staged
    #[arg(long, help_heading = "Scope")]
    pub(crate) unstaged: bool,
    /// Files that git does not track yet
    #[arg(long, help_heading = "Scope")]
    pub(crate) untracked: bool,
    /// One commit, against its first parent
    #[arg(long, value_name = "REV", help_heading = "Scope", conflicts_with_all = UNCOMMITTED)]
    pub(crate) commit: Option<String>,
    /// Two ends (A..B), or what B added since it left A (A...B)
    #[arg(long, value_name = "A..B", help_heading = "Scope", conflicts_with_all = UNCOMMITTED, conflicts_with = "commit")]
    pub(crate) range: Option<String>,
    /// What HEAD added since it left this revision
    #[arg(long, value_name = "REV", help_heading = "Scope", conflicts_with_all = UNCOMMITTED, conflicts_with_all = ["commit", "range"])]
    pub(crate) base: Option<String>,
    /// A unified or git diff; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = "Scope", conflicts_with_all = UNCOMMITTED, conflicts_with_all = ["commit", "range", "base"])]
    pub(crate) diff: Option<String>,
    /// A pull or merge request, by its number
    #[arg(long, value_name = "N", help_heading = "Scope", conflicts_with_all = UNCOMMITTED, conflicts_with_all = ["commit", "range", "base", "diff"])]
    pub(crate) pr: Option<u64>,
    /// Every file, changed or not
    #[arg(long, help_heading = "Scope", conflicts_with_all = UNCOMMITTED, conflicts_with_all = ["commit", "range", "base", "diff", "pr"])]
    pub(crate) all: bool,
}

impl ScopeArgs {
    /// Whether a flag says which change is meant.
    pub(crate) fn names_a_change(&self) -> bool {
        let revisions = [&self.commit, &self.range, &self.base, &self.diff];
        let uncommitted = self.staged || self.unstaged || self.untracked;
        uncommitted
            || self.all
            || self.pr.is_some()
            || revisions.iter().any(|named| named.is_some())
    }
}

const PROTOCOLS: &[&str] = &["veto", "aad", "ci", "vote"];
const SEVERITIES: &[&str] = &["critical", "high", "medium", "low", "none"];
const TOKENIZERS: &[&str] = &["o200k", "cl100k", "chars4"];

/// Takes one of these words for the value that documents spell so.
fn words<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words)
        .try_map(|word| serde_json::from_value::<T>(serde_json::Value::String(word)))
}

const UNCOMMITTED: [&str; 3] = ["staged", "unstaged", "untracked"];

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct RunArgs {
    /// Use this tier instead of the one that the change scores
    #[arg(long, value_name = "TIER", value_parser = words::<TierName>(&["simple", "standard", "complex"]))]
    pub(crate) tier: Option<TierName>,
    /// Use these reviewers instead of the ones that the change calls for
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) agents: Vec<String>,
    /// How findings become a verdict
    #[arg(long, value_name = "PROTOCOL", value_parser = words::<Protocol>(PROTOCOLS))]
    pub(crate) protocol: Option<Protocol>,
    /// What does the reviewers' work; `builtin` is offline and needs nothing
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// The provider's model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Follow up on what the budget leaves out, until everything is covered
    #[arg(long)]
    pub(crate) complete: bool,
    /// Have every blocking finding looked at a second time, by another model or context
    #[arg(long)]
    pub(crate) verify: bool,
    /// Plant a defect in what models are shown; one that does not report it has not finished (the default)
    #[arg(long, overrides_with = "no_canary")]
    pub(crate) canary: bool,
    /// Plant no defect in what models are shown
    #[arg(long)]
    pub(crate) no_canary: bool,
    /// Report vetoes without blocking; the reason is recorded
    #[arg(long, value_name = "REASON", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) ignore_vetos: Option<String>,
    /// The least severity that fails a review; `none` also lifts vetoes, not what is incomplete
    #[arg(long, value_name = "SEVERITY", value_parser = words::<FailOn>(SEVERITIES))]
    pub(crate) fail_on: Option<FailOn>,
    /// Any finding fails a review, and so does a file that was only read
    #[arg(long)]
    pub(crate) strict: bool,
    /// The most tokens of all calls together
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_tokens: Option<u64>,
    /// The most US dollars
    #[arg(long, value_name = "X", help_heading = "Limits")]
    pub(crate) max_usd: Option<f64>,
    /// The most seconds
    #[arg(long, value_name = "S", help_heading = "Limits")]
    pub(crate) max_seconds: Option<u64>,
    /// Reviewers that run at once [default: one per core]
    #[arg(short, long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Run the repository's build, test and lint commands before the reviewers
    #[arg(long)]
    pub(crate) gates: bool,
    /// Run gates for a change that may be somebody else's: its code runs on this machine
    #[arg(long)]
    pub(crate) trust_gates: bool,
    /// Run gates even where nothing keeps them from your files: no namespaces and no Landlock here
    #[arg(long)]
    pub(crate) allow_unsandboxed_gates: bool,
    /// How tokens are counted
    #[arg(long, value_name = "NAME", value_parser = words::<Tokenizer>(TOKENIZERS))]
    pub(crate) tokenizer: Option<Tokenizer>,
    /// The work is wanted quickly: counts a tenth more towards the tier
    #[arg(long)]
    pub(crate) time_pressure: bool,
}

#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// For people, or for programs
    #[arg(long, value_name = "FORMAT", default_value = "terminal")]
    pub(crate) format: Format,
    /// Write the output to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Terminal,
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// Write every request that a provider's reviewers would send first into this folder, to read
    #[arg(long, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) output: ResultArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

#[derive(Args, Debug)]
pub(crate) struct GatesArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// List the checks and run nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Run them for a change that may be somebody else's: its code runs on this machine
    #[arg(long)]
    pub(crate) trust_gates: bool,
    /// Run gates even where nothing keeps them from your files: no namespaces and no Landlock here
    #[arg(long)]
    pub(crate) allow_unsandboxed_gates: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct LoopArgs {
    /// The command that does the work, as a shell reads it
    #[arg(long, value_name = "CMD", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) develop: String,
    /// What is to be done: a text, or JSON with description, `acceptance_criteria` and files
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,
    /// The most rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=10))]
    pub(crate) rounds: u64,
    /// Seconds that the command may take in one round
    #[arg(long, value_name = "S", default_value_t = 600)]
    pub(crate) develop_seconds: u64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct AgentsArgs {
    /// A reviewer to show in full
    pub(crate) name: Option<String>,
    /// Say which reviewers a file belongs to, and why
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    pub(crate) explain: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The run: an id, the beginning of one, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// How findings become a verdict [default: as the run had it]
    #[arg(long, value_name = "PROTOCOL", value_parser = words::<Protocol>(PROTOCOLS))]
    pub(crate) protocol: Option<Protocol>,
    /// The least severity that fails a review [default: as the run had it]
    #[arg(long, value_name = "SEVERITY", value_parser = words::<FailOn>(SEVERITIES))]
    pub(crate) fail_on: Option<FailOn>,
    /// Any finding fails a review
    #[arg(long)]
    pub(crate) strict: bool,
    /// Report vetoes without blocking; the reason is recorded
    #[arg(long, value_name = "REASON", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) ignore_vetos: Option<String>,
    /// Begin with the recorded answers of models: review, check quotes and exchange findings again.
    /// The code has to be as it was
    #[arg(long)]
    pub(crate) calls: bool,
    #[command(flatten)]
    pub(crate) output: ResultArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PostArgs {
    /// The run: an id, the beginning of one, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// The pull or merge request, by its number
    #[arg(long, value_name = "N")]
    pub(crate) pr: u64,
    /// Print what would be sent, exactly, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Args, Debug)]
pub(crate) struct TrustArgs {
    /// Agree without being asked, in a script
    #[arg(long)]
    pub(crate) yes: bool,
    /// What the files set at this revision, instead of in the work tree. A review of commits follows
    /// those of its base
    #[arg(long, value_name = "REVISION")]
    pub(crate) at: Option<String>,
    /// List all repositories that you trust, and what with
    #[arg(long, conflicts_with_all = ["yes", "at"])]
    pub(crate) list: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print every key with the value in force
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Check the configuration, the team's agents and its SOPs
    Validate,
    /// Show what the repository's files set that sends code, costs money or runs programs, and ask
    /// whether to use it
    Trust(TrustArgs),
    /// Use nothing of that any more
    Untrust,
    /// Write a quorum.toml to start from
    Init,
    /// Print the JSON schema of quorum.toml, for editors
    Schema,
}
