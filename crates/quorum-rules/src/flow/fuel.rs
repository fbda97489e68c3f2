//! How much work running a file may take.
//!
//! Work is counted in steps, not in time, so that the result is the same everywhere. Every function
//! has steps of its own by its size: whatever else a file holds, nothing takes them away. What it
//! needs beyond them comes from a pool for the whole file, so that functions that call each other
//! cannot make the work grow faster than the file. A function that met a limit is named.

use super::ir::Span;

/// Steps of its own that every function has, however short it is.
const LEAST: u64 = 2_000;

/// Steps of its own for each byte of a function.
const PER_BYTE: u64 = 16;

/// The most that one function takes from the pool.
const MOST: u64 = 300_000;

/// The pool of a file, and what each byte adds to it.
const POOL: u64 = 300_000;
const POOL_PER_BYTE: u64 = 16;

/// How deep expressions, blocks and calls may be in one another.
const LEVELS: u32 = 1_500;

#[derive(Debug)]
pub(super) struct Fuel {
    pool: u64,
    /// What the function that runs may still take from its own steps, and from the pool.
    own: u64,
    lent: u64,
    level: u32,
    dry: bool,
    running: Span,
    unfinished: Vec<(u32, u32)>,
}

impl Fuel {
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            pool: POOL + POOL_PER_BYTE * bytes as u64,
            own: 0,
            lent: 0,
            level: 0,
            dry: false,
            running: Span::default(),
            unfinished: Vec::new(),
        }
    }

    /// Something of its own is run: a function, or a statement outside functions.
    pub(super) fn begin(&mut self, span: Span) {
        self.own = LEAST + PER_BYTE * u64::from(span.end.saturating_sub(span.start));
        self.lent = self.pool.min(MOST);
        self.level = 0;
        self.dry = false;
        self.running = span;
    }

    pub(super) fn end(&mut self) {
        if self.dry {
            self.unfinished.push((self.running.row, self.running.end_row));
        }
    }

    /// Takes steps; false when there are not enough.
    pub(super) fn take(&mut self, steps: u64) -> bool {
        let own = self.own.min(steps);
        self.own -= own;
        let rest = steps - own;
        if rest > self.lent {
            self.pool -= self.lent.min(self.pool);
            self.lent = 0;
            self.dry = true;
        } else {
            self.lent -= rest;
            self.pool -= rest.min(self.pool);
        }
        !self.dry
    }

    pub(super) fn descend(&mut self) -> bool {
        if self.level >= LEVELS {
            self.dry = true;
            return false;
        }
        self.level += 1;
        true
    }

    pub(super) fn ascend(&mut self) {
        self.level = self.level.saturating_sub(1);
    }

    /// Whether what runs now met a limit.
    pub(super) fn is_dry(&self) -> bool {
        self.dry
    }

    /// Where a limit was met: first and last row of each, sorted, without repetitions.
    pub(super) fn unfinished(&self) -> Vec<(u32, u32)> {
        let mut rows = self.unfinished.clone();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}
