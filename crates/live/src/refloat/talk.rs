//! One job at a board, from the connection to its end.

use std::mem::take;
use std::pin::pin;
use std::time::Duration;

use logpose_core::{Link, Session as _};
use logpose_refloat::session::{Client, ClientView, Event, Job, Task};
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep_until};

use super::error::LinkError;
use super::link::{BoardLink, LinkView, Watch};
use crate::driver::Driver;
use crate::links::{Connection, connect};
use crate::stats::LinkStats;
use crate::{Batch, Clock};

/// Heeds what happens.
pub(super) type Heed<'h, E> = dyn FnMut(&Client, Event) -> Result<(), E> + 'h;

/// Does a job, with as many connections as that takes.
pub(super) fn talk<E: From<LinkError>>(
    link: &BoardLink,
    job: Job,
    heed: &mut Heed<'_, E>,
    watch: &mut Watch<'_>,
) -> Result<ClientView, E> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(LinkError::Io)?;
    let (clock, task) = (Clock::new(), job.task());
    let (mut client, stats) = (Client::new(link.options.client.clone()), LinkStats::default());
    client.command(clock.micros(), job).map_err(LinkError::Refused)?;
    let now = Instant::now();
    runtime.block_on(async {
        let driver = Driver::new(&mut client, clock, QUEUE_BYTES, &stats);
        let news = Vec::new();
        Talk {
            link,
            task,
            driver,
            stats: &stats,
            heed,
            watch,
            start: now,
            look: now,
            news,
            progress: None,
            leaving: None,
        }
        .run()
        .await
    })
}

struct Talk<'t, 'f, E> {
    link: &'t BoardLink,
    task: Task,
    driver: Driver<'t, Client>,
    stats: &'t LinkStats,
    heed: &'t mut Heed<'f, E>,
    watch: &'t mut Watch<'f>,
    start: Instant,
    /// When somebody looks next.
    look: Instant,
    news: Vec<Event>,
    /// When the first connection was made, or the last piece of a recording came.
    progress: Option<Instant>,
    /// Why it ends before its time, and until when the board is informed.
    leaving: Option<(E, Instant)>,
}

impl<E: From<LinkError>> Talk<'_, '_, E> {
    async fn run(mut self) -> Result<ClientView, E> {
        // Since when nothing was heard.
        let mut since = Instant::now();
        let end = loop {
            let connection = match self.connect(since).await {
                Ok(connection) => connection,
                Err(error) => break Err(error),
            };
            self.stats.connected_to(connection.peer);
            let (first, before) = (self.progress.is_none(), self.driver.session.view().frames);
            self.progress = self.progress.or(Some(Instant::now()));
            let link = self.driver.open(connection.wire);
            if let Some(end) = self.converse(link).await {
                break end;
            }
            if let Some(error) = self.endless() {
                break Err(error.into());
            }
            // Anybody can send bytes; a board sends frames.
            if first || self.driver.session.view().frames > before {
                since = Instant::now();
            } else if since.elapsed() >= self.patience() {
                // One that only opens and closes is of no more use than one that is not there.
                break Err(self.unreachable(since.elapsed(), self.trouble()).into());
            }
        };
        let view = self.driver.session.view();
        // What is still owed to the board goes out with the last bytes.
        self.driver.session.handle_end(self.driver.clock.micros());
        self.driver.finish().await;
        end.map(|()| view)
    }

    /// Connects, again and again until that is of no use.
    async fn connect(&mut self, since: Instant) -> Result<Connection, E> {
        let candidate = self.link.candidate.clone();
        let mut pause = FIRST_PAUSE;
        loop {
            // One that was closed at once is not called again at once.
            if self.stats.figures().opened > 0 || pause > FIRST_PAUSE {
                self.pause(pause).await?;
            }
            let mut attempt = pin!(connect(&candidate));
            let attempted = loop {
                tokio::select! {
                    attempted = &mut attempt => break attempted,
                    () = sleep_until(self.look) => self.look_unconnected()?,
                }
            };
            let error = match attempted {
                Ok(connection) => return Ok(connection),
                Err(error) => error.to_string(),
            };
            self.stats.trouble(error.clone());
            if since.elapsed() >= self.patience() {
                return Err(self.unreachable(since.elapsed(), error).into());
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn patience(&self) -> Duration {
        let options = &self.link.options;
        if self.stats.figures().opened == 0 { options.wait } else { options.patience }
    }

    async fn pause(&mut self, pause: Duration) -> Result<(), E> {
        let until = Instant::now() + pause;
        while Instant::now() < until {
            sleep_until(self.look.min(until)).await;
            self.look_unconnected()?;
        }
        Ok(())
    }

    fn unreachable(&self, after: Duration, trouble: String) -> LinkError {
        let address = self.link.address.to_string();
        match self.stats.figures().opened {
            0 => LinkError::Unreachable { address, trouble },
            _ => LinkError::Lost { address, after, trouble },
        }
    }

    /// Why it has taken too long, if it has.
    fn endless(&self) -> Option<LinkError> {
        let after = self.progress?.elapsed();
        let address = || self.link.address.to_string();
        (after >= self.link.options.limit).then(|| LinkError::Endless {
            address: address(),
            after,
            trouble: self.trouble(),
        })
    }

    /// Why the last connection ended.
    fn trouble(&self) -> String {
        self.stats.figures().trouble.unwrap_or_else(|| "the answers lead nowhere".to_owned())
    }

    /// Does the job until the link closes, or returns how it has ended.
    async fn converse(&mut self, link: Link) -> Option<Result<(), E>> {
        while self.driver.is_open(link) {
            let due = self.leaving.as_ref().map_or(self.look, |(_, until)| self.look.min(*until));
            tokio::select! {
                event = self.driver.wait() => {
                    let mut batch = Batch::new(self.driver.clock.now());
                    // What only takes does not fail.
                    let _ = self.driver.handle(event, &mut batch);
                }
                () = sleep_until(due) => {}
            }
            if let Some(end) = self.heed() {
                return Some(end);
            }
            if self.look().is_err() {
                self.leave(LinkError::Stopped.into());
            }
            if let Some(error) = self.endless() {
                self.leave(error.into());
            }
            if self.leaving.as_ref().is_some_and(|(_, until)| Instant::now() >= *until) {
                return self.left();
            }
        }
        self.heed().or_else(|| self.left())
    }

    /// Handles events. When the job has ended it returns how.
    fn heed(&mut self) -> Option<Result<(), E>> {
        while let Some(event) = self.driver.session.poll_event() {
            match event {
                Event::Done(task) if task == self.task => return Some(self.left().unwrap_or(Ok(()))),
                Event::Failed { task, failure } if task == self.task => {
                    return Some(self.left().unwrap_or(Err(LinkError::Failed(failure).into())));
                }
                event => {
                    if matches!(event, Event::Samples { .. }) {
                        self.progress = Some(Instant::now());
                    }
                    if !matches!(event, Event::Samples { .. } | Event::Header { .. }) {
                        self.news.push(event.clone());
                    }
                    // Whoever leaves only wants to know what is left behind.
                    let heeded = self.leaving.is_none() || matches!(event, Event::Restored | Event::NotRestored);
                    if heeded && let Err(error) = (self.heed)(self.driver.session, event) {
                        self.leave(error);
                    }
                }
            }
        }
        None
    }

    /// Ends it before its time: what was changed at the board for the time of the job is put back before.
    fn leave(&mut self, why: E) {
        if self.leaving.is_none() {
            self.leaving = Some((why, Instant::now() + FAREWELL));
            self.driver.session.abort(self.driver.clock.micros());
            self.driver.carry();
        }
    }

    fn left(&mut self) -> Option<Result<(), E>> {
        self.leaving.take().map(|(why, _)| Err(why))
    }

    fn look_unconnected(&mut self) -> Result<(), E> {
        self.look().map_err(E::from)
    }

    /// Has somebody look, if it is time.
    fn look(&mut self) -> Result<(), LinkError> {
        let now = Instant::now();
        if now < self.look {
            return Ok(());
        }
        self.look = now + LOOK;
        let view = LinkView {
            elapsed: self.start.elapsed(),
            client: self.driver.session.view(),
            link: self.stats.figures(),
            news: take(&mut self.news),
        };
        if (self.watch)(&view).is_break() { Err(LinkError::Stopped) } else { Ok(()) }
    }
}

const LOOK: Duration = Duration::from_millis(50);
/// How long a board may take to hear that the job is over.
const FAREWELL: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// What may wait to be sent to a board.
const QUEUE_BYTES: usize = 1 << 20;
