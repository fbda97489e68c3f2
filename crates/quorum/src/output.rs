//! Where results go: standard output, or a file that appears whole.

use std::fs;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;

use anstream::ColorChoice;
use serde::Serialize;

use crate::cli::Color;
use crate::failure::Failure;

/// Lines are wrapped to this where the width is not known.
const USUAL_WIDTH: u16 = 100;

/// Decides about colours once, for everything that is printed.
pub(crate) fn choose_color(color: Color) {
    let choice = match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// The width to lay text out for.
pub(crate) fn width() -> usize {
    let from_environment = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let of_terminal = || io::stdout().is_terminal().then(terminal_width).flatten();
    let width: u16 = from_environment.or_else(of_terminal).unwrap_or(USUAL_WIDTH);
    usize::from(width.clamp(60, 160))
}

/// Whether the reader's locale can show more than ASCII; what is not a terminal can.
pub(crate) fn is_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(std::env::var_os);
    let plain = locale.is_some_and(|locale| matches!(locale.to_str(), Some("C" | "POSIX")));
    !(plain && io::stdout().is_terminal())
}

fn terminal_width() -> Option<u16> {
    comfy_table::Table::new().width()
}

/// Writes `text`, which may have colours, to standard output or to `file`.
pub(crate) fn text(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = file {
        return to_file(path, |out| out.write_all(strip(text).as_bytes()));
    }
    let mut stdout = anstream::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| printing(&error))
}

/// Writes `text` as it is to standard output or to `file`.
pub(crate) fn raw(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = file {
        return to_file(path, |out| out.write_all(text.as_bytes()));
    }
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| printing(&error))
}

/// Writes `value` as JSON to standard output or to `file`.
pub(crate) fn json(value: &impl Serialize, file: Option<&Path>) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        serde_json::to_writer_pretty(&mut out, value)?;
        out.write_all(b"\n")?;
        out.flush()
    };
    match file {
        Some(path) => to_file(path, write),
        None => write(&mut io::stdout().lock()).map_err(|error| printing(&error)),
    }
}

/// Says something on standard error; where nobody can hear it, nothing is lost.
pub(crate) fn notice(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let hint = "name a file in a folder that exists and can be written";
        Failure::new(format!("{}: {error}", path.display())).with_hint(hint)
    };
    // A device or a pipe is written to: a file in its place would be something else.
    if fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir()) {
        let mut device = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        return write(&mut device).map_err(failed);
    }
    let aside = path.with_extension("quorum-partial");
    let mut file = fs::File::create(&aside).map_err(failed)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    written.and_then(|()| fs::rename(&aside, path)).map_err(|error| {
        drop(fs::remove_file(&aside));
        failed(error)
    })
}

fn strip(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn printing(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::broken_pipe();
    }
    Failure::new(format!("writing the output: {error}"))
}
