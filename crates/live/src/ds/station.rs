use std::net::IpAddr;
use std::sync::Arc;

use logpose_core::Time;
use logpose_driverstation::HELLO;
use logpose_driverstation::script::{Action, Script};
use logpose_driverstation::session::{Command, Event, Refused, Station, StationOptions, StationView};

use super::agenda::{Agenda, Begins};
use super::directed::{Actor, Directed, News};
use super::{DsError, Move, Ports, STATION_RUNS};
use crate::links::Candidate;
use crate::links::paired::Caller;
use crate::shared::Shared;
use crate::{Clock, Host, Source};

/// A station over sockets: it seeks its robot, and seeks it again when it is lost.
pub struct StationRunner {
    source: Source,
    handle: StationHandle,
}

/// What a station is, and what it is to do.
#[derive(Debug)]
pub struct StationSetup {
    /// Where the robot is.
    pub robot: Host,
    /// The ports.
    pub ports: Ports,
    /// The address of this machine to use, if not the one that comes by itself.
    pub bind: Option<IpAddr>,
    /// The settings of the session.
    pub options: StationOptions,
    /// What happens when, counted from the first answer of the robot.
    pub scripts: Vec<Script>,
    /// How sticks move, counted from the first answer of the robot; from the moment of enabling where that is permitted.
    pub moves: Vec<Move>,
}

/// For a robot on this machine, which it never enables.
impl Default for StationSetup {
    fn default() -> Self {
        Self {
            robot: Host::Unsaid,
            ports: Ports::default(),
            bind: None,
            options: StationOptions::default(),
            scripts: Vec::new(),
            moves: Vec::new(),
        }
    }
}

/// Tells a station what to do while it runs, from any thread.
#[derive(Clone)]
pub struct StationHandle {
    shared: Shared<Directed<Station>>,
    clock: Clock,
}

impl StationRunner {
    /// Takes the port to which robots answer. Nothing is sent before the runner's source runs.
    pub fn new(clock: Clock, setup: StationSetup) -> Result<Self, DsError> {
        let host = setup.robot;
        DsError::check(&host)?;
        let mut hello = HELLO.to_vec();
        if let Some(station) = hello.last_mut() {
            *station = setup.options.station.0;
        }
        let mut caller = Caller { host, ports: setup.ports, hello: hello.into(), bind: setup.bind, socket: None };
        let address = (caller.local(), setup.ports.answers).into();
        caller.socket = Some(Arc::new(caller.bind().map_err(DsError::bind("UDP", address, STATION_RUNS))?));
        let begins = if setup.options.may_enable { Begins::Enabled } else { Begins::Heard };
        let mut agendas: Vec<Agenda> = setup.scripts.into_iter().map(Agenda::script).collect();
        if !setup.moves.is_empty() {
            agendas.push(Agenda::moves(setup.moves, begins));
        }
        let shared = Shared::new(Directed::new(Station::new(setup.options), agendas));
        let source = Source::shared(&shared, Candidate::Called(caller));
        Ok(Self { source, handle: StationHandle { shared, clock } })
    }

    /// The handle that commands it.
    #[must_use]
    pub fn handle(&self) -> StationHandle {
        self.handle.clone()
    }

    /// What runs it. When it ends, the robot is disabled.
    #[must_use]
    pub fn into_source(self) -> Source {
        self.source
    }
}

impl StationHandle {
    /// Tells the station to do something, with its next packet.
    pub fn command(&self, command: Command) -> Result<(), Refused> {
        let now = self.clock.micros();
        self.shared.lock().actor.command(now, command)
    }

    /// How things are.
    #[must_use]
    pub fn view(&self) -> StationView {
        self.shared.lock().actor.view()
    }

    /// The next thing that happened; call until `None`.
    pub fn poll_news(&self) -> Option<News> {
        self.shared.lock().poll_news()
    }

    /// Whether the script has said that this is the end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.lock().is_over()
    }
}

impl Actor for Station {
    fn is_heard(&self) -> bool {
        self.view().connected
    }

    fn is_enabled(&self) -> bool {
        self.view().enabled
    }

    fn act(&mut self, now: Time, action: Action) -> Result<(), Refused> {
        match action {
            Action::Station(command) => self.command(now, command),
            Action::Robot(_) | Action::End => Ok(()),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        Self::poll_event(self)
    }
}
