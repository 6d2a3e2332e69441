use std::sync::{Arc, PoisonError, RwLock};

use crate::Session;
use crate::error::RequestError;
use crate::states::ChangeCache;

/// Answers the viewer's requests about the logs of a session. Each request is a method, from a type of [`api`](crate::api) to an answer: a
/// type of `api` that is sent as JSON, or the bytes of an Arrow stream.
///
/// All methods read on the thread that calls them; any number of threads may call at once.
pub struct Viewer {
    session: RwLock<Arc<Session>>,
    changes: ChangeCache,
}

impl Viewer {
    /// A viewer of what is open.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { session: RwLock::new(Arc::new(session)), changes: ChangeCache::default() }
    }

    /// Works out facts and events of every log before anybody asks.
    pub fn prepare(&self) {
        self.session().prepare();
    }

    /// New samples of live logs, for one client that listens.
    #[must_use]
    pub fn updates(self: &Arc<Self>) -> crate::LiveUpdates {
        crate::LiveUpdates::new(Arc::clone(self))
    }

    /// The session as it is now.
    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts a changed copy of the session in its place.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Session) -> Result<T, RequestError>,
    ) -> Result<T, RequestError> {
        let mut session = self.session.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Session::clone(&session);
        let done = change(&mut changed)?;
        *session = Arc::new(changed);
        Ok(done)
    }

    pub(crate) fn changes(&self) -> &ChangeCache {
        &self.changes
    }
}

impl std::fmt::Debug for Viewer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Viewer").field("session", &self.session()).finish_non_exhaustive()
    }
}
