//! Prints the page about the keys of `quorum.toml`; `cargo xtask reference` keeps it in `docs/`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(quorum_engine::config::reference::page().as_bytes())
}
