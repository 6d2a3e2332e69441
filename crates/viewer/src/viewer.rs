use std::sync::Arc;

use crate::Session;
use crate::states::ChangeCache;

/// Answers the viewer's requests about the logs of a session. Each request is a method, from a type of [`api`](crate::api) to an answer: a
/// type of `api` that is sent as JSON, or the bytes of an Arrow stream.
///
/// All methods read on the thread that calls them; any number of threads may call at once.
pub struct Viewer {
    session: Arc<Session>,
    changes: ChangeCache,
}

impl Viewer {
    /// A viewer of what is open.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { session: Arc::new(session), changes: ChangeCache::default() }
    }

    /// Works out facts and events of every log before anybody asks.
    pub fn prepare(&self) {
        self.session.prepare();
    }

    /// New samples of live logs, for one client that listens.
    #[must_use]
    pub fn updates(&self) -> crate::LiveUpdates {
        crate::LiveUpdates::new(Arc::clone(&self.session))
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn changes(&self) -> &ChangeCache {
        &self.changes
    }
}

impl std::fmt::Debug for Viewer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Viewer").field("session", &self.session).finish_non_exhaustive()
    }
}
