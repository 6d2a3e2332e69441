use std::ops::ControlFlow;
use std::time::Duration;

use logpose_refloat::session::{Client, ClientOptions, ClientView, Event, Job, LiveOptions, Refused};
use logpose_refloat::wire::Control;

use super::error::LinkError;
use super::talk::talk;
use crate::links::Candidate;
use crate::shared::Shared;
use crate::{Address, Clock, LinkFigures, Place, Source, Speech};

/// The link to a board: what is asked of it is done when the call returns.
#[derive(Clone, Debug)]
pub struct BoardLink {
    pub(super) address: Address,
    pub(super) candidate: Candidate,
    pub(super) options: LinkOptions,
}

/// How a board is talked to.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// The settings of the session.
    pub client: ClientOptions,
    /// How long to wait for a board that is not there in the beginning.
    pub wait: Duration,
    /// How long to wait for one that was there and is lost.
    pub patience: Duration,
    /// How long all of it may take from the first connection on; each piece of a recording that comes begins it anew. It
    /// ends what an ill board, or something else at its address, would keep going for ever: connections that break again
    /// and again.
    pub limit: Duration,
}

/// One that is not there in the beginning is not waited for.
impl Default for LinkOptions {
    fn default() -> Self {
        let (patience, limit) = (Duration::from_secs(15), Duration::from_mins(2));
        Self { client: ClientOptions::default(), wait: Duration::ZERO, patience, limit }
    }
}

/// How it goes with a board.
#[derive(Clone, Debug)]
pub struct LinkView {
    /// Since the start.
    pub elapsed: Duration,
    /// The session.
    pub client: ClientView,
    /// The link.
    pub link: LinkFigures,
    /// What happened since the last time, without the samples.
    pub news: Vec<Event>,
}

/// Looks how it goes, every 50 ms or so, and can have enough.
pub type Watch<'w> = dyn FnMut(&LinkView) -> ControlFlow<()> + 'w;

/// Tells a session with a board what to do while it runs, from any thread.
#[derive(Clone)]
pub struct LinkHandle {
    shared: Shared<Client>,
    clock: Clock,
}

impl BoardLink {
    /// A link to a board at an address. Nothing is sent before something is asked.
    pub fn new(address: &Address, mut options: LinkOptions) -> Result<Self, LinkError> {
        let no_board = || LinkError::NoBoard(address.to_string());
        let reach = match address.speech {
            Speech::Dialect(_, reach) if address.is_board() => reach,
            _ => return Err(no_board()),
        };
        let candidate = match &address.place {
            Place::Network { host, port } => {
                Candidate::Network { host: host.clone(), port: *port, transport: reach.transport, name: String::new() }
            }
            Place::Serial(port) => Candidate::Serial(port.clone()),
            Place::Bluetooth(name) => {
                // What does not fit into the queues of a radio module is lost, a whole reply at a time.
                options.client.window = options.client.window.or(Some(1));
                Candidate::Bluetooth(name.clone())
            }
        };
        Ok(Self { address: address.clone(), candidate, options })
    }

    /// Where the board is.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Identifies the board: the firmware, the package, and whether it can record.
    pub fn identify(&self, watch: &mut Watch<'_>) -> Result<ClientView, LinkError> {
        talk(self, Job::Identify, &mut |_, _| Ok(()), watch)
    }

    /// Asks for the state of the recorder.
    pub fn status(&self, watch: &mut Watch<'_>) -> Result<ClientView, LinkError> {
        talk(self, Job::Status, &mut |_, _| Ok(()), watch)
    }

    /// Changes something at the recorder, and sees that it was taken. Starting erases what was recorded before.
    pub fn control(&self, control: Control, watch: &mut Watch<'_>) -> Result<ClientView, LinkError> {
        talk(self, Job::Control(control), &mut |_, _| Ok(()), watch)
    }

    /// Asks for the ids of live values: those that are always there, and those of a board that is running.
    pub fn ids(&self, watch: &mut Watch<'_>) -> Result<(Vec<String>, Vec<String>), LinkError> {
        let mut found = Default::default();
        let mut heed = |_: &Client, event| {
            if let Event::Ids { always, running } = event {
                found = (always, running);
            }
            Ok(())
        };
        talk::<LinkError>(self, Job::Ids, &mut heed, watch)?;
        Ok(found)
    }

    /// A source that polls live values, and the handle that commands it.
    #[must_use]
    pub fn into_source(self, clock: Clock, live: LiveOptions) -> (Source, LinkHandle) {
        let options = ClientOptions { live: Some(live), ..self.options.client };
        let shared = Shared::new(Client::new(options));
        (Source::shared(&shared, self.candidate), LinkHandle { shared, clock })
    }
}

impl LinkHandle {
    /// Tells the session to do something, at once if it has nothing else to do.
    pub fn command(&self, job: Job) -> Result<(), Refused> {
        let now = self.clock.micros();
        let taken = self.shared.lock().command(now, job);
        self.shared.ring();
        taken
    }

    /// How things are.
    #[must_use]
    pub fn view(&self) -> ClientView {
        self.shared.lock().view()
    }

    /// The next thing that happened; call until `None`.
    #[must_use]
    pub fn poll_event(&self) -> Option<Event> {
        self.shared.lock().poll_event()
    }
}
