use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

use logpose_core::Time;
use logpose_driverstation::script::{Action, Script};
use logpose_driverstation::session::{Change, Event, Refused, Robot, RobotOptions, RobotView};

use super::agenda::Agenda;
use super::directed::{Actor, Directed};
use super::{DsError, Ports, ROBOT_RUNS};
use crate::links::Candidate;
use crate::links::paired::Callee;
use crate::shared::Shared;
use crate::{Clock, Source};

/// A simulated robot over sockets. It serves one station at a time.
pub struct RobotRunner {
    source: Source,
    handle: RobotHandle,
    address: SocketAddr,
}

/// What a simulated robot is, and what happens to it.
#[derive(Debug)]
pub struct RobotSetup {
    /// The address of this machine at which it is found.
    pub bind: IpAddr,
    /// The ports.
    pub ports: Ports,
    /// The settings of the session.
    pub options: RobotOptions,
    /// What happens when, counted from the first packet of a station.
    pub script: Option<Script>,
    /// Tell the Driver Station of this machine ten times a second that a simulator is here.
    pub beacon: bool,
}

/// On loopback, without a script.
impl Default for RobotSetup {
    fn default() -> Self {
        Self {
            bind: Ipv4Addr::LOCALHOST.into(),
            ports: Ports::default(),
            options: RobotOptions::default(),
            script: None,
            beacon: false,
        }
    }
}

/// Tells a simulated robot what happens to it while it runs, from any thread.
#[derive(Clone)]
pub struct RobotHandle {
    shared: Shared<Directed<Robot>>,
    clock: Clock,
}

impl RobotRunner {
    /// Takes the ports of a robot.
    pub fn new(clock: Clock, setup: RobotSetup) -> Result<Self, DsError> {
        let address = SocketAddr::new(setup.bind, setup.ports.datagrams);
        let bound = UdpSocket::bind(address).and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
        let socket = bound.map_err(DsError::bind("UDP", address, ROBOT_RUNS))?;
        let stream = SocketAddr::new(setup.bind, setup.ports.stream);
        let bound = TcpListener::bind(stream).and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        let listener = bound.map_err(DsError::bind("TCP", stream, ROBOT_RUNS))?;
        let agendas = setup.script.map(Agenda::script).into_iter().collect();
        let shared = Shared::new(Directed::new(Robot::new(setup.options), agendas));
        let socket = Arc::new(socket);
        if setup.beacon {
            let (socket, life) = (Arc::clone(&socket), shared.watch());
            // Without it a station needs the robot's address.
            let _ = thread::Builder::new().name("beacon".to_owned()).spawn(move || beacon(&socket, &life));
        }
        let callee = Callee { socket, listener: Arc::new(listener), answers: setup.ports.answers };
        let source = Source::shared(&shared, Candidate::Calling(callee));
        Ok(Self { source, handle: RobotHandle { shared, clock }, address })
    }

    /// Where it is found.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The handle that controls what happens to it.
    #[must_use]
    pub fn handle(&self) -> RobotHandle {
        self.handle.clone()
    }

    /// What runs it.
    #[must_use]
    pub fn into_source(self) -> Source {
        self.source
    }
}

impl RobotHandle {
    /// Makes something happen.
    pub fn set(&self, change: Change) {
        let now = self.clock.micros();
        self.shared.lock().actor.set(now, change);
    }

    /// How things are.
    #[must_use]
    pub fn view(&self) -> RobotView {
        self.shared.lock().actor.view()
    }

    /// Whether the script has said that this is the end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.lock().is_over()
    }
}

impl Actor for Robot {
    fn is_heard(&self) -> bool {
        self.view().connected
    }

    fn is_enabled(&self) -> bool {
        self.view().enabled
    }

    fn act(&mut self, now: Time, action: Action) -> Result<(), Refused> {
        if let Action::Robot(change) = action {
            self.set(now, change);
        }
        Ok(())
    }

    fn poll_event(&mut self) -> Option<Event> {
        None
    }
}

/// Tells the Driver Station of this machine that a simulator is here, as WPILib's does, while there is one.
fn beacon(socket: &UdpSocket, life: &Weak<Mutex<Directed<Robot>>>) {
    while life.strong_count() > 0 {
        let _ = socket.send_to(&[BEACON], (Ipv4Addr::LOCALHOST, BEACON_PORT));
        thread::sleep(BEACON_EVERY);
    }
}

const BEACON: u8 = 0x30;
const BEACON_PORT: u16 = 1135;
const BEACON_EVERY: Duration = Duration::from_millis(100);
