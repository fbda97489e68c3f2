//! Sessions of clients: they expire, and there are so many at most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// So many sessions are kept; for one more, the one that was used longest ago is closed.
pub(super) const MOST: usize = 64;

/// The sessions, and when each was used last.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    used: Mutex<HashMap<String, Instant>>,
}

impl Sessions {
    /// A session that nobody uses for as long as `idle` is closed.
    pub(super) fn new(idle: Duration) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(idle);
        Self { manager: Arc::new(manager), used: Mutex::default() }
    }

    /// A request came for the session `id`.
    pub(super) fn touch(&self, id: &str) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        // Only ids that there are: anything can stand in a header.
        if let Some(at) = used.get_mut(id) {
            *at = Instant::now();
        }
    }

    /// Makes room for one more session.
    pub(super) async fn make_room(&self) {
        loop {
            let ids: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
            let Some(oldest) = self.one_too_many(&ids) else { return };
            if self.manager.close_session(&oldest).await.is_err() {
                return;
            }
        }
    }

    /// The session to close, where there are too many; and what is known of others is forgotten.
    fn one_too_many(&self, ids: &[Arc<str>]) -> Option<Arc<str>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|id, _| ids.iter().any(|other| **other == **id));
        let now = Instant::now();
        for id in ids {
            used.entry(id.to_string()).or_insert(now);
        }
        if ids.len() < MOST {
            return None;
        }
        ids.iter().min_by_key(|id| used.get(&***id).copied()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_that_was_used_longest_ago_goes() {
        let sessions = Sessions::new(Duration::from_mins(15));
        let ids: Vec<Arc<str>> = (0..MOST).map(|id| Arc::from(format!("s{id}"))).collect();
        assert_eq!(sessions.one_too_many(&ids[..MOST - 1]), None);
        assert!(sessions.one_too_many(&ids).is_some());
        for id in ids.iter().filter(|id| &***id != "s7") {
            sessions.touch(id);
        }
        assert_eq!(sessions.one_too_many(&ids).as_deref(), Some("s7"));
        sessions.touch("made up");
        assert!(!sessions.used.lock().unwrap().contains_key("made up"));
    }
}
