//! Writes sample reports in every format to a folder, for readers that are not ours:
//! `cargo run -p quorum-report --example samples -- FOLDER`.

#[path = "../tests/it/hostile.rs"]
mod hostile;
#[path = "../tests/it/sample.rs"]
mod sample;

use std::path::PathBuf;
use std::{env, fs, io};

use quorum_report::{Format, Report, events, markdown, render};
use sample::Sample;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "target/samples".to_owned()));
    let samples = [
        ("checkout", Sample::checkout()),
        ("empty", Sample::of(Vec::new())),
        ("hostile", Sample::of(hostile::findings())),
        ("large", Sample::large(5_000, 2_000)),
    ];
    for (name, sample) in &samples {
        write(&folder.join(name), &sample.report())?;
    }
    Ok(())
}

fn write(folder: &PathBuf, report: &Report<'_>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for format in Format::ALL {
        fs::write(folder.join(format.file_name()), render(report, format))?;
    }
    fs::write(folder.join("summary.md"), markdown::step_summary(report))?;
    fs::write(folder.join("events.jsonl"), events::render(&report.events))
}
