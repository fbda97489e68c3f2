//! Telling a page's own lines from the code that it quotes.

/// Keeps track of blocks of code. A block ends with at least as many ticks as it began with.
#[derive(Debug, Default)]
pub(crate) struct Fence(Option<usize>);

impl Fence {
    /// Whether the next line is code, or one of the lines around it.
    pub(crate) fn holds(&mut self, line: &str) -> bool {
        let ticks = line.trim_start().chars().take_while(|&c| c == '`').count();
        match self.0 {
            Some(opened) => {
                if ticks >= opened && line.trim().chars().all(|c| c == '`') {
                    self.0 = None;
                }
                true
            }
            None if ticks >= 3 => {
                self.0 = Some(ticks);
                true
            }
            None => false,
        }
    }
}

/// The text of a heading.
pub(crate) fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}
