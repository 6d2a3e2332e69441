//! Serves logs on a port of this machine: `cargo run -p logpose-server --example serve -- 7200 FILE…`

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use logpose::{Align, Browse, ClockMap, Log, Names, OpenOptions, Quiet, Timeline};
use logpose_server::{Options, Server, Session};

#[expect(clippy::print_stdout, reason = "the address is what the example is for")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let port: u16 = words.next().ok_or("usage: serve PORT FILE…")?.parse()?;
    let options = OpenOptions { light_from: u64::MAX, ..OpenOptions::default() };
    let logs: Vec<Log> =
        words.map(|file| Log::open_with(Path::new(&file), &options, &Quiet)).collect::<Result<_, logpose::Error>>()?;
    let shifts = Timeline::new(&logs, Vec::new(), Align::Auto, &Names::Auto)?.shifts().to_vec();
    let mut session = Session::new();
    for (log, shift) in logs.into_iter().zip(shifts) {
        session.add(Browse::new(Arc::new(log), &Quiet)?, ClockMap::shifted(shift));
    }
    let bind = SocketAddr::from(([127, 0, 0, 1], port));
    let mut server = Server::start(session, &Options { bind, ..Options::default() })?;
    println!("{}", server.url());
    server.wait();
    Ok(())
}
