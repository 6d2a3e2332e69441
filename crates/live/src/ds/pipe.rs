use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::proxy::{Counts, LOOK, Shared, is_late};
use super::tap::What;

/// Lets stations in, one at a time, and joins each with the robot.
pub(super) fn accept(shared: &Arc<Shared>, listener: &TcpListener, port: u16, local: IpAddr) {
    while !shared.is_over() {
        let Ok((station, _)) = listener.accept() else {
            thread::sleep(ACCEPT);
            continue;
        };
        // One at a time, and only with a robot that is there: others are closed at once.
        let robot = shared.robot().filter(|_| shared.streams.load(Ordering::Acquire) == 0);
        let joined = robot.and_then(|ip| connect(SocketAddr::new(ip, port), local).ok());
        match joined {
            Some(robot) => {
                // What cannot be joined is closed.
                let _ = join(shared, station, robot);
            }
            None => {
                shared.turned_away.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    // Those who pass streams on look at the same flag.
    while shared.streams.load(Ordering::Acquire) > 0 {
        thread::sleep(ACCEPT);
    }
}

/// Connects from the address that the robot's answers come to, where one was given.
fn connect(to: SocketAddr, local: IpAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    if !local.is_unspecified() {
        socket.bind(&SocketAddr::new(local, 0).into())?;
    }
    socket.connect_timeout(&to.into(), PATIENCE)?;
    Ok(socket.into())
}

/// Passes on in both directions, each on a thread of its own.
fn join(shared: &Arc<Shared>, station: TcpStream, robot: TcpStream) -> io::Result<()> {
    for stream in [&station, &robot] {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK))?;
        stream.set_write_timeout(Some(PATIENCE))?;
    }
    shared.tap(Instant::now(), What::Opened, &[]);
    let ways = [(station.try_clone()?, robot.try_clone()?, true), (robot, station, false)];
    for (from, to, to_robot) in ways {
        shared.streams.fetch_add(1, Ordering::AcqRel);
        let theirs = Arc::clone(shared);
        let work = move || {
            pass(&theirs, &from, &to, to_robot);
            // Neither makes sense without the other.
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            theirs.streams.fetch_sub(1, Ordering::AcqRel);
        };
        if let Err(error) = thread::Builder::new().name("stream".to_owned()).spawn(work) {
            shared.streams.fetch_sub(1, Ordering::AcqRel);
            return Err(error);
        }
    }
    Ok(())
}

fn pass(shared: &Shared, mut from: &TcpStream, mut to: &TcpStream, to_robot: bool) {
    let counts: &Counts = if to_robot { &shared.to_robot } else { &shared.to_station };
    let mut buffer = vec![0; PIECE];
    // Whether all pieces before this one went to whoever records.
    let mut whole = true;
    while !shared.is_over() {
        let n = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => n,
            Err(error) if is_late(&error) => continue,
            Err(_) => return,
        };
        let received = Instant::now();
        let piece = buffer.get(..n).unwrap_or_default();
        // Nobody waits for a stream to the microsecond, so it is tapped before anybody can answer it.
        whole = shared.tap(received, What::Stream { to_robot, whole }, piece);
        if to.write_all(piece).is_err() {
            return;
        }
        counts.stream_bytes.fetch_add(n as u64, Ordering::Relaxed);
    }
}

/// How often it is looked whether a station wants to connect.
const ACCEPT: Duration = Duration::from_millis(10);
/// How long a robot may take to be connected to, or a side to take what is sent to it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes that are passed on at once.
const PIECE: usize = 64 << 10;
