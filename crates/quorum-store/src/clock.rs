//! Where the time comes from.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Tells the time. The shell passes the system's; tests pass one that stands still.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// A clock that asks `now` each time.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// A clock that stands still.
    pub fn fixed(at: Timestamp) -> Self {
        Self::new(move || at)
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clock")
    }
}
