use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use logpose_viewer::{CancelToken, RequestError};
use tokio::sync::Semaphore;

use crate::error::Refusal;

/// Work that reads logs: on threads of its own, some at a time, given up when nobody waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    /// What draws: short.
    quick: Arc<Semaphore>,
    /// What looks at every sample: statistics, consoles, events.
    slow: Arc<Semaphore>,
    /// What may take minutes: SQL.
    long: Arc<Semaphore>,
    /// Exports have places of their own: they do not wait for SQL, nor SQL for them.
    export: Arc<Semaphore>,
    /// So have logs that are opened.
    open: Arc<Semaphore>,
    /// How many more may wait for a place.
    queue: Arc<Semaphore>,
}

/// Stops the job when the future that waits for it is dropped.
struct Waiting(CancelToken);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Jobs {
    pub(crate) fn new(processors: usize) -> Self {
        let processors = processors.max(1);
        let places = |count| Arc::new(Semaphore::new(count));
        Self {
            quick: places(processors.max(2)),
            slow: places(2),
            long: places(2),
            export: places(2),
            open: places(2),
            queue: places(QUEUE),
        }
    }

    /// Runs what takes about as long as a frame.
    pub(crate) async fn quick<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancelToken) -> Result<T, RequestError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.run(&self.quick, QUICK, work).await
    }

    /// Runs what may take seconds.
    pub(crate) async fn slow<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancelToken) -> Result<T, RequestError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.run(&self.slow, SLOW, work).await
    }

    /// Runs what may take minutes.
    pub(crate) async fn long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancelToken) -> Result<T, RequestError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.run(&self.long, LONG, work).await
    }

    /// Runs what opens a log.
    pub(crate) async fn open<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancelToken) -> Result<T, RequestError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.run(&self.open, LONG, work).await
    }

    /// Runs what writes a file.
    pub(crate) async fn export<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancelToken) -> Result<T, RequestError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.run(&self.export, LONG, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        places: &Arc<Semaphore>,
        most: Duration,
        work: impl FnOnce(&CancelToken) -> Result<T, RequestError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(Ok(_queued)) = tokio::time::timeout(BRIEFLY, self.queue.acquire()).await else {
            let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many pending requests");
            return Err(refusal.with_help("try again when others have finished"));
        };
        let Ok(place) = Arc::clone(places).acquire_owned().await else { return Err(RequestError::cancelled().into()) };
        let stop = CancelToken::default();
        let waiting = Waiting(stop.clone());
        let job = tokio::task::spawn_blocking(move || {
            // The place is kept until the work is over, also if nobody waits any more.
            let _place = place;
            if stop.is_cancelled() { Err(RequestError::cancelled()) } else { work(&stop) }
        });
        let done = tokio::time::timeout(most, job).await;
        drop(waiting);
        match done {
            Ok(Ok(done)) => done.map_err(Refusal::from),
            Ok(Err(_)) => Err(Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal-error",
                "internal error in this request; other requests still work",
            )),
            Err(_) => {
                Err(Refusal::from(RequestError::cancelled()).with_help("request a shorter time range or fewer series"))
            }
        }
    }
}

/// The most requests that are worked on or wait.
const QUEUE: usize = 256;
/// How long a request beyond those waits for its turn.
const BRIEFLY: Duration = Duration::from_secs(10);
const QUICK: Duration = Duration::from_secs(60);
const SLOW: Duration = Duration::from_secs(120);
const LONG: Duration = Duration::from_secs(1800);

#[cfg(test)]
mod tests {
    use super::{Jobs, QUEUE};

    #[test]
    fn a_burst_of_requests_is_answered_and_not_refused() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let jobs = Jobs::new(2);
        let answered = runtime.block_on(async {
            let ask = |_| {
                let jobs = jobs.clone();
                tokio::spawn(async move { jobs.quick(|_| Ok(())).await.is_ok() })
            };
            let asked: Vec<_> = (0..2 * QUEUE).map(ask).collect();
            let mut answered = 0;
            for one in asked {
                answered += usize::from(one.await.unwrap());
            }
            answered
        });
        assert_eq!(answered, 2 * QUEUE);
    }
}
