use std::collections::VecDeque;

use logpose_core::Time;

/// A reply that took longer came too late.
const LATE: i64 = 250_000_000;
/// The share of lost packets is told of so many.
const SHARE_OF: usize = 25;
/// Replies to packets before the last so many are not looked for: ten seconds.
const KEPT: usize = 512;

/// Which packets were sent, and which of them were answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Replies {
    /// Consecutive numbers.
    sent: VecDeque<Sent>,
    /// The newest number that was answered.
    newest: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    sequence: u16,
    at: Time,
    trip: Option<i64>,
    /// From the first packet with a reply on, a missing reply is a loss.
    counts: bool,
}

/// What a reply is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Answer {
    /// The first one to its packet, which was on its way for so long; `newest` if no later packet was answered before.
    First { trip: i64, newest: bool },
    /// Another one to the same packet.
    Again,
    /// To no packet of ours.
    Strange,
}

impl Replies {
    pub(super) fn sent(&mut self, sequence: u16, at: Time) {
        if self.sent.len() >= KEPT {
            self.sent.pop_front();
        }
        self.sent.push_back(Sent { sequence, at, trip: None, counts: self.newest.is_some() });
    }

    pub(super) fn answered(&mut self, sequence: u16, now: Time) -> Answer {
        let Some(front) = self.sent.front() else { return Answer::Strange };
        let place = usize::from(sequence.wrapping_sub(front.sequence));
        let Some(sent) = self.sent.get_mut(place) else { return Answer::Strange };
        if sent.trip.is_some() {
            return Answer::Again;
        }
        let trip = now.since(sent.at).max(0);
        sent.trip = Some(trip);
        let newest = self.newest.is_none_or(|newest| sequence.wrapping_sub(newest) < 0x8000);
        if self.newest.is_none() {
            self.sent.iter_mut().skip(place).for_each(|sent| sent.counts = true);
        }
        if newest {
            self.newest = Some(sequence);
        }
        Answer::First { trip, newest }
    }

    /// How many of the last 25 packets with a verdict were lost.
    pub(super) fn lost(&self, now: Time) -> usize {
        let verdicts = self.sent.iter().rev().filter(|sent| sent.counts).filter_map(|sent| match sent.trip {
            Some(trip) => Some(trip > LATE),
            None => (now.since(sent.at) >= LATE).then_some(true),
        });
        verdicts.take(SHARE_OF).filter(|lost| *lost).count()
    }
}
