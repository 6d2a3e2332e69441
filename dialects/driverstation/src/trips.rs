//! Which control packets were answered, and how long that took.

use std::collections::VecDeque;

use logpose_core::Time;

/// How long a packet waits for its reply before it is lost, in nanoseconds.
const PATIENCE: i64 = 250_000_000;
/// Over how many packets the loss is reported.
const WINDOW: u32 = 25;
/// How many packets are remembered for late replies: ten seconds.
const KEPT: usize = 512;

/// The control packets of the last seconds.
#[derive(Debug, Default)]
pub(crate) struct Trips {
    sent: VecDeque<Sent>,
    /// How many of them, from the oldest on, no verdict is due for any more.
    done: usize,
    heard: bool,
    /// One bit a verdict, the last one lowest.
    window: u32,
    verdicts: u32,
}

#[derive(Debug)]
struct Sent {
    sequence: u16,
    time: Time,
    answered: bool,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// When it was sent.
    pub(crate) time: Time,
    pub(crate) lost: bool,
    /// The share of the last packets that were lost.
    pub(crate) loss: f64,
}

impl Trips {
    /// A packet was sent.
    pub(crate) fn sent(&mut self, sequence: u16, now: Time) {
        self.sent.push_back(Sent { sequence, time: now, answered: false });
        if !self.heard {
            // Nobody was there to lose it.
            self.done = self.sent.len();
        }
        while self.sent.len() > KEPT && self.done > 0 {
            self.sent.pop_front();
            self.done -= 1;
        }
    }

    /// A reply to a packet came; returns how many nanoseconds after the packet. `None` if the packet is not known, or was
    /// answered before.
    pub(crate) fn answered(&mut self, sequence: u16, now: Time) -> Option<i64> {
        // A station that begins anew counts anew: the newest packet of this number is meant. One that was sent twice
        // waits twice.
        let mut trip = None;
        let mut first = self.sent.len();
        for (place, sent) in self.sent.iter_mut().enumerate().rev() {
            if trip.is_some() && place < self.done {
                break;
            }
            if sent.sequence != sequence || sent.time > now {
                continue;
            }
            if sent.answered {
                break;
            }
            sent.answered = true;
            trip = trip.or(Some(now.since(sent.time)));
            first = place;
        }
        if !self.heard {
            self.heard = true;
            self.done = first;
        }
        trip
    }

    /// The next packet, in the order of sending, that was answered or waits no longer at `now`.
    pub(crate) fn verdict(&mut self, now: Time) -> Option<Verdict> {
        let sent = self.sent.get(self.done)?;
        let overdue = now.since(sent.time) >= PATIENCE || self.sent.len() - self.done > KEPT;
        if !sent.answered && !overdue {
            return None;
        }
        let (time, lost) = (sent.time, !sent.answered);
        self.done += 1;
        self.window = (self.window << 1 | u32::from(lost)) & ((1 << WINDOW) - 1);
        self.verdicts = (self.verdicts + 1).min(WINDOW);
        Some(Verdict { time, lost, loss: f64::from(self.window.count_ones()) / f64::from(self.verdicts) })
    }

    /// How many of the last 25 packets with a verdict were lost.
    pub(crate) fn lost(&self) -> u32 {
        self.window.count_ones()
    }

    /// No more replies will come. Packets that still had time are neither answered nor lost.
    pub(crate) fn close(&mut self) {
        self.sent.drain(..self.done);
        self.done = 0;
        self.sent.retain(|sent| sent.answered);
    }
}
