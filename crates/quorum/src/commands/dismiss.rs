//! `quorum dismiss`.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use quorum_engine::kept::{self, Kept};
use quorum_engine::policy::Policy;
use quorum_model::finding::Finding;
use quorum_rules::secrets::redact;
use quorum_scope::request::PolicySource;
use quorum_store::Run;
use quorum_store::ledger::Ledger;
use quorum_store::ledger::dismissal::{self, Dismissal, Dismissals};

use super::{runs, show};
use crate::cli::{Cli, DismissArgs};
use crate::failure::Failure;
use crate::{output, process, render};

/// The committed file, from the root of the repository.
const FILE: &str = ".quorum/dismissed.toml";

pub(super) fn run(cli: &Cli, arguments: &DismissArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    let environment = process::environment();
    if arguments.list {
        let ledger = Ledger::look(&kept.root, kept::present_seal(&kept.root, &environment)?)?;
        let policy = Policy::new(Some(&kept.repository), PolicySource::WorkTree);
        let mut all: Dismissals = ledger.dismissals()?;
        all.add(policy.dismissals()?);
        let foreign = ledger.foreign_dismissals()?;
        output::text(&render::dismissals::list(&all, &foreign, Timestamp::now()), None)?;
        return Ok(0);
    }
    let mut ledger = Ledger::open(&kept.root, kept::new_seal(&kept.root, &environment)?)?;
    let name = arguments.finding.as_deref().unwrap_or_default();
    let finding = named(&kept, arguments, name)?;
    let fingerprint = finding.as_ref().map_or(name, |finding| &finding.fingerprint);
    if arguments.undo {
        let here = ledger.restore(fingerprint)?;
        let shared = dismissal::unshare(&kept.root, fingerprint)?;
        if !here && !shared {
            let text = format!("`{name}` is not set aside, in this clone's ledger or in {FILE}");
            return Err(Failure::new(text).with_hint("`quorum dismiss --list` shows what is"));
        }
        if here {
            let text = format!("{name} is taken up again: it is out of this clone's ledger\n");
            output::text(&text, None)?;
        }
        if shared {
            let text = format!(
                "{name} is taken up again: it is out of {FILE}; commit it, reviews of a branch read \
                 the file from the base\n"
            );
            output::text(&text, None)?;
        }
        return Ok(0);
    }
    let Some(finding) = finding else {
        let run = Run::find(&kept.root, &arguments.run.run)?;
        return Err(show::nothing(&run, name));
    };
    let dismissal = Dismissal::of(
        &finding,
        redact(arguments.reason.as_deref().unwrap_or_default()),
        arguments.author.clone().unwrap_or_else(|| kept::author(&kept.root)),
        arguments.expires.as_deref().map(last_day).transpose()?,
    );
    if arguments.shared {
        dismissal::share(&kept.root, &dismissal)?;
        let text = format!(
            "{} is set aside in {FILE}; commit it. Reviews of a branch or a pull request read the file \
             from the base, so it takes effect there after the merge\n",
            finding.id
        );
        output::text(&text, None)?;
    } else {
        ledger.dismiss(&dismissal)?;
        output::text(&format!("{} is set aside\n", finding.id), None)?;
    }
    Ok(0)
}

/// The finding that is meant, where a run has it.
fn named(kept: &Kept, arguments: &DismissArgs, name: &str) -> Result<Option<Finding>, Failure> {
    match Run::find(&kept.root, &arguments.run.run) {
        Ok(run) => Ok(run.finding(name)?),
        Err(_) if arguments.undo => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The last day: as it is given, or so many days from now.
fn last_day(text: &str) -> Result<String, Failure> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let day = if let Ok(day) = text.parse::<Date>() {
        day
    } else {
        let failed = || {
            Failure::new(format!("`{text}` is neither a day nor a length of time"))
                .with_hint("such as `2027-01-31` or `30d`")
        };
        let age = runs::age(text).map_err(|_| failed())?;
        today.checked_add(age).map_err(|_| failed())?
    };
    if day < today {
        return Err(Failure::new(format!("{day} is over"))
            .with_hint("name the last day on which it is to hold"));
    }
    Ok(day.to_string())
}
