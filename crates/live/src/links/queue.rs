use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

/// What waits to go out on a link, bounded in bytes. It never waits itself.
#[derive(Debug)]
pub(crate) struct Queue {
    sender: Option<mpsc::UnboundedSender<Outgoing>>,
    waiting: Arc<AtomicUsize>,
    room: usize,
    /// The largest piece so far: a newcomer's first frame may be larger than the room.
    largest: usize,
}

/// One piece of a stream, one datagram or one message.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) text: bool,
}

/// The other side does not take what is sent to it.
#[derive(Debug)]
pub(crate) struct Full;

/// The end of a queue from which a link sends.
#[derive(Debug)]
pub(crate) struct Pending {
    receiver: mpsc::UnboundedReceiver<Outgoing>,
    waiting: Arc<AtomicUsize>,
}

impl Queue {
    pub(crate) fn new(room: usize) -> (Self, Pending) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        (Self { sender: Some(sender), waiting: Arc::clone(&waiting), room, largest: 0 }, Pending { receiver, waiting })
    }

    /// Puts something in, if there is room.
    pub(crate) fn push(&mut self, outgoing: Outgoing) -> Result<(), Full> {
        let size = outgoing.bytes.len();
        self.largest = self.largest.max(size);
        if self.waiting.fetch_add(size, Ordering::AcqRel) > self.room.saturating_add(self.largest) {
            return Err(Full);
        }
        if let Some(sender) = &self.sender {
            // If the task is gone, its end is reported as an event.
            let _ = sender.send(outgoing);
        }
        Ok(())
    }

    /// Nothing more will be put in.
    pub(crate) fn close(&mut self) {
        self.sender = None;
    }
}

impl Pending {
    /// What waits: at least one, and what else is there already. Nothing means that nothing more will come.
    pub(crate) async fn next(&mut self, out: &mut Vec<Outgoing>) -> bool {
        self.receiver.recv_many(out, AT_ONCE).await > 0
    }

    /// So much has gone out.
    pub(crate) fn sent(&self, bytes: usize) {
        self.waiting.fetch_sub(bytes, Ordering::AcqRel);
    }
}

/// Pieces that are written with one call.
const AT_ONCE: usize = 64;
