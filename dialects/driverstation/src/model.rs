//! What packets and messages mean as channels and samples.

use logpose_core::{Sink, SinkError, Time};

/// The packets of one link, both directions, to samples.
#[derive(Debug, Default)]
pub struct Mapper {}

impl Mapper {
    /// A link of which nothing was seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A control datagram that was sent at `now`. `at` is its place in whatever it was read from, for problems.
    pub fn control(&mut self, now: Time, at: u64, datagram: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = (now, at, datagram, sink);
        Ok(())
    }

    /// A status datagram that came at `now`.
    pub fn status(&mut self, now: Time, at: u64, datagram: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = (now, at, datagram, sink);
        Ok(())
    }

    /// A whole TCP message from the station to the robot, without its size.
    pub fn to_robot(&mut self, now: Time, at: u64, body: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = (now, at, body, sink);
        Ok(())
    }

    /// A whole TCP message from the robot to the station, without its size.
    pub fn to_station(&mut self, now: Time, at: u64, body: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = (now, at, body, sink);
        Ok(())
    }

    /// Time has gone on: what waits for it is told, such as verdicts on lost packets and a robot that is gone.
    pub fn reach(&mut self, now: Time, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = (now, sink);
        Ok(())
    }

    /// No more will come.
    pub fn finish(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = sink;
        Ok(())
    }
}
