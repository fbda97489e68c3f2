//! The last commits of repositories, reviewed one by one by rules alone: who looked, what was
//! decided and why, and the CPU time, beside another build of Quorum if one is named.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::readers::{target, text};
use crate::{cargo, command, output, root, run};

/// Endings of files with code, by which commits are told apart. The list is this chore's own: what
/// is measured shall not say what counts.
const CODE: &[&str] = &[
    "c", "cc", "cjs", "cpp", "cs", "cshtml", "cts", "cxx", "ejs", "erb", "ex", "exs", "go",
    "gohtml", "gradle", "h", "haml", "hbs", "hpp", "html", "ipynb", "java", "jinja", "js", "jsp",
    "jsx", "kt", "kts", "lua", "mjs", "mts", "php", "phtml", "pl", "ps1", "py", "pyi", "razor",
    "rb", "rs", "scala", "sh", "sql", "svelte", "swift", "tf", "ts", "tsx", "twig", "vue",
];

const SECURITY: &str = "security-reviewer";

const USAGE: &str = "cargo xtask commits [--last N] [--quorum PROGRAM] [--against PROGRAM] REPO…";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    /// How many commits of each repository.
    last: u32,
    /// A build to measure; the release build of this tree without one.
    quorum: Option<PathBuf>,
    /// A build to compare with.
    against: Option<PathBuf>,
    repositories: Vec<PathBuf>,
}

impl Asked {
    fn of(words: &[String]) -> Result<Self> {
        let mut asked = Self { last: 40, quorum: None, against: None, repositories: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value =
                || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
            match word.as_str() {
                "--last" => asked.last = value()?.parse().context("how many commits?")?,
                "--quorum" => asked.quorum = Some(PathBuf::from(value()?)),
                "--against" => asked.against = Some(PathBuf::from(value()?)),
                option if option.starts_with('-') => bail!("there is no {option}\n{USAGE}"),
                repository => asked.repositories.push(PathBuf::from(repository)),
            }
        }
        if asked.repositories.is_empty() {
            bail!("which repositories?\n{USAGE}");
        }
        Ok(asked)
    }
}

/// What one review says, of what is measured here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    verdict: String,
    reasons: Vec<String>,
    agents: Vec<String>,
    /// There is a file with code.
    code: bool,
    /// Files with code that the security reviewer did not look at.
    unseen: Vec<String>,
    /// Files with code that it only read, or reviewed in part.
    less: Vec<String>,
    /// Severity, and a line to read, of each finding.
    findings: Vec<(String, String)>,
}

impl Seen {
    fn of(result: &Value) -> Result<Self> {
        let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        let mut seen = Self {
            verdict: result["verdict"].as_str().context("a result without a verdict")?.to_owned(),
            reasons: result["reasons"].as_array().into_iter().flatten().map(word).collect(),
            ..Self::default()
        };
        // A scope without files has no reviewers and no coverage.
        for agent in result["execution"]["agents"].as_array().into_iter().flatten() {
            seen.agents.push(word(&agent["name"]));
        }
        for file in result["coverage"]["files"].as_array().into_iter().flatten() {
            let path = word(&file["path"]);
            if !is_code(&path) {
                continue;
            }
            seen.code = true;
            match file["agents"][SECURITY].as_str() {
                Some("reviewed") => {}
                Some(kind @ ("read" | "partial")) => seen.less.push(format!("{path} ({kind})")),
                other => seen.unseen.push(format!("{path} ({})", other.unwrap_or("nobody"))),
            }
        }
        for finding in result["findings"].as_array().into_iter().flatten() {
            let place = &finding["locations"][0];
            let line = format!(
                "{}:{} {}",
                word(&place["file"]),
                place["start_line"],
                word(&finding["issue"]),
            );
            seen.findings.push((word(&finding["severity"]), line));
        }
        Ok(seen)
    }
}

fn is_code(path: &str) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| CODE.contains(&ending.to_ascii_lowercase().as_str()))
}

/// What was seen of one repository, or of all.
#[derive(Debug, Default)]
struct Tally {
    commits: u32,
    code: u32,
    looked: u32,
    /// With a security review of all code, whole.
    whole: u32,
    verdicts: BTreeMap<String, u32>,
    severities: BTreeMap<String, u32>,
    /// CPU time in clock ticks.
    ticks: u64,
    against: u64,
}

impl Tally {
    fn add(&mut self, seen: &Seen) {
        self.commits += 1;
        if seen.code {
            self.code += 1;
            self.looked += u32::from(seen.unseen.is_empty());
            self.whole += u32::from(seen.unseen.is_empty() && seen.less.is_empty());
        }
        *self.verdicts.entry(seen.verdict.clone()).or_default() += 1;
        for (severity, _) in &seen.findings {
            *self.severities.entry(severity.clone()).or_default() += 1;
        }
    }

    fn join(&mut self, other: &Self) {
        self.commits += other.commits;
        self.code += other.code;
        self.looked += other.looked;
        self.whole += other.whole;
        self.ticks += other.ticks;
        self.against += other.against;
        for (verdict, count) in &other.verdicts {
            *self.verdicts.entry(verdict.clone()).or_default() += count;
        }
        for (severity, count) in &other.severities {
            *self.severities.entry(severity.clone()).or_default() += count;
        }
    }

    fn row(&self, name: &str) -> String {
        let listed = |counts: &BTreeMap<String, u32>| {
            let listed: Vec<String> =
                counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            listed.join(", ")
        };
        let mut row = format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {:.1} |",
            self.commits,
            self.code,
            self.looked,
            self.whole,
            listed(&self.verdicts),
            listed(&self.severities),
            seconds(self.ticks),
        );
        if let Some(percent) = (self.ticks * 100).checked_div(self.against) {
            let _ = write!(row, " {:.1} | {percent} % |", seconds(self.against));
        }
        row
    }
}

/// Linux counts the CPU time of processes in hundredths of a second, whatever the kernel's own clock.
fn seconds(ticks: u64) -> f64 {
    f64::from(u32::try_from(ticks).unwrap_or(u32::MAX)) / 100.0
}

/// Reviews the last commits of each repository, in a clone of its own below `target/`.
pub(crate) fn measure(words: &[String]) -> Result<()> {
    let asked = Asked::of(words)?;
    let folder = target("commits");
    fs::create_dir_all(&folder).context("making a folder for the clones")?;
    let quorum = if let Some(program) = &asked.quorum {
        program.canonicalize().context("no such program")?
    } else {
        cargo(["build", "--release", "--quiet", "--locked", "-p", "quorum"], &[])?;
        root().canonicalize()?.join("target/release/quorum")
    };
    let against = match &asked.against {
        Some(program) => Some(program.canonicalize().context("no such program to compare with")?),
        None => None,
    };
    let (mut all, mut rows, mut notes) = (Tally::default(), Vec::new(), String::new());
    for repository in &asked.repositories {
        let name = repository
            .file_name()
            .map_or_else(|| text(repository), |name| name.to_string_lossy().into_owned());
        let clone = cloned(repository, &folder.join(&name))?;
        let mut tally = Tally::default();
        let _ = writeln!(notes, "\n{name}");
        // A clone that lacks an object of one commit has other commits.
        for (position, commit) in commits(&clone, asked.last.saturating_mul(2))?.iter().enumerate()
        {
            if tally.commits == asked.last {
                break;
            }
            // The first look at a commit reads what no cache has yet.
            let (seen, first) = match review(&quorum, &clone, commit, &[]) {
                Ok(reviewed) => reviewed,
                Err(error) => {
                    let _ = writeln!(notes, "  {commit} cannot be reviewed: {error:#}");
                    continue;
                }
            };
            tally.add(&seen);
            note(&mut notes, commit, &seen);
            let Some(against) = &against else {
                tally.ticks += first;
                continue;
            };
            let mut both = [(&quorum, &mut tally.ticks), (against, &mut tally.against)];
            if position % 2 == 1 {
                both.reverse();
            }
            for (program, ticks) in both {
                *ticks += review(program, &clone, commit, &seen.agents)?.1;
            }
        }
        println!("{}", tally.row(&name));
        rows.push(tally.row(&name));
        all.join(&tally);
    }
    let beside = if against.is_some() { " other build, s | share |" } else { "" };
    println!(
        "\n| | commits | with code | security looked | whole | verdicts | findings | CPU, s |{beside}"
    );
    println!(
        "|---|---|---|---|---|---|---|---|{}",
        if against.is_some() { "---|---|" } else { "" }
    );
    for row in rows {
        println!("{row}");
    }
    println!("{}\n{notes}", all.row("all"));
    if all.looked < all.code {
        bail!("{} commits with code had no security look", all.code - all.looked);
    }
    Ok(())
}

/// What a reader wants to know of a commit: verdicts that are not clean, findings that weigh, and code
/// that nobody looked at for security.
fn note(notes: &mut String, commit: &str, seen: &Seen) {
    if seen.verdict == "INCOMPLETE" {
        let _ = writeln!(notes, "  {commit} INCOMPLETE: {}", seen.reasons.join("; "));
    }
    for unseen in &seen.unseen {
        let _ = writeln!(notes, "  {commit} no security look: {unseen}");
    }
    for less in &seen.less {
        let _ = writeln!(notes, "  {commit} not reviewed whole: {less}");
    }
    for (severity, line) in &seen.findings {
        if matches!(severity.as_str(), "CRITICAL" | "HIGH") {
            let _ = writeln!(notes, "  {commit} {severity} {line}");
        }
    }
}

/// A clone, so that what reviews leave behind is not in somebody's repository.
fn cloned(repository: &Path, clone: &Path) -> Result<PathBuf> {
    if clone.exists() {
        fs::remove_dir_all(clone).context("removing the last clone")?;
    }
    let repository = repository
        .canonicalize()
        .with_context(|| format!("no repository {}", repository.display()))?;
    run(command("git").args(["clone", "--quiet", "--shared"]).arg(repository).arg(clone))?;
    Ok(clone.to_owned())
}

fn commits(clone: &Path, last: u32) -> Result<Vec<String>> {
    let mut git = command("git");
    git.arg("-C").arg(clone).args(["rev-list", "--no-merges", "HEAD"]);
    let listed = output(git.arg(format!("--max-count={last}")))?;
    Ok(String::from_utf8(listed)?.lines().map(str::to_owned).collect())
}

/// One review by rules, of a repository that was never reviewed by a user without a configuration,
/// and the CPU time that it took.
fn review(quorum: &Path, clone: &Path, commit: &str, agents: &[String]) -> Result<(Seen, u64)> {
    let state = clone.join(".quorum");
    if state.exists() {
        fs::remove_dir_all(&state).context("removing what the last review left")?;
    }
    let home = target("commits").join(".home");
    fs::create_dir_all(&home)?;
    let mut review = command(&text(quorum));
    review.arg("-C").arg(clone).args(["--quiet", "review", "--format", "json"]);
    review.args(["--commit", commit]);
    if !agents.is_empty() {
        review.args(["--agents", &agents.join(",")]);
    }
    review.env("HOME", &home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
    let before = children()?;
    let said = review.output().with_context(|| format!("starting {review:?}"))?;
    let ticks = children()? - before;
    let result = serde_json::from_slice(&said.stdout)
        .with_context(|| String::from_utf8_lossy(&said.stderr).into_owned())?;
    Ok((Seen::of(&result)?, ticks))
}

/// The CPU time of all children so far, and of theirs.
fn children() -> Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat").context("CPU time is read from /proc")?;
    spent(&stat).context("/proc/self/stat is not as it was")
}

/// The times that Linux lists as `cutime` and `cstime`. The program's name, which may have spaces,
/// stands before them in parentheses.
fn spent(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_asked_is_read() -> Result<()> {
        let asked = Asked::of(&words("--last 7 --against old/quorum one two"))?;
        assert_eq!(asked.last, 7);
        assert_eq!(asked.against, Some(PathBuf::from("old/quorum")));
        assert_eq!(asked.repositories, [PathBuf::from("one"), PathBuf::from("two")]);
        assert!(Asked::of(&[]).is_err(), "nothing to review");
        assert!(Asked::of(&words("--agianst x one")).is_err(), "a misspelt option");
        Ok(())
    }

    #[test]
    fn a_security_look_is_one_at_every_file_with_code() -> Result<()> {
        let result = |agents: Value| {
            json!({
                "verdict": "APPROVED",
                "reasons": [],
                "execution": { "agents": [{ "name": SECURITY }] },
                "coverage": { "files": [
                    { "path": "src/A.PY", "agents": { SECURITY: "reviewed" } },
                    { "path": "b.rb", "agents": agents },
                    { "path": "notes.txt", "agents": {} },
                ] },
                "findings": [],
            })
        };
        let whole = Seen::of(&result(json!({ SECURITY: "reviewed" })))?;
        assert_eq!((whole.code, whole.unseen.len()), (true, 0));
        let read = Seen::of(&result(json!({ SECURITY: "read" })))?;
        assert_eq!((read.unseen.len(), read.less.as_slice()), (0, &["b.rb (read)".to_owned()][..]));
        let unreadable = Seen::of(&result(json!({ SECURITY: "unreadable" })))?;
        assert_eq!(unreadable.unseen, ["b.rb (unreadable)"]);
        let other = Seen::of(&result(json!({ "quality": "reviewed" })))?;
        assert_eq!(other.unseen, ["b.rb (nobody)"]);

        let mut tally = Tally::default();
        for seen in [&whole, &read, &other] {
            tally.add(seen);
        }
        assert_eq!((tally.commits, tally.code, tally.looked, tally.whole), (3, 3, 2, 1));
        Ok(())
    }

    #[test]
    fn a_result_without_a_verdict_is_none() {
        assert!(Seen::of(&json!({ "error": "no such commit" })).is_err());
    }

    #[test]
    fn the_times_of_children_are_found_behind_any_name() {
        let stat = "1 (a b) 2) S 1 1 1 0 -1 4194560 10 20 0 0 3 4 500 60 20 0 1 0 9";
        assert_eq!(spent(stat), Some(560));
        assert_eq!(spent("1 (short) S 1"), None);
    }
}
