use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;
use std::{io, thread};

use tokio::sync::Notify;

/// Wakes a task at a moment, to some 0.1 ms. Tokio's own timer counts in milliseconds and comes up to two of them late.
#[derive(Debug)]
pub(crate) struct Alarm {
    orders: Sender<Instant>,
    rung: Arc<Notify>,
    set: Option<Instant>,
}

impl Alarm {
    /// Starts the thread that waits.
    pub(crate) fn start() -> io::Result<Self> {
        let (orders, heeded) = channel();
        let rung: Arc<Notify> = Arc::default();
        let theirs = Arc::clone(&rung);
        thread::Builder::new().name("alarm".to_owned()).spawn(move || watch(&heeded, &theirs))?;
        Ok(Self { orders, rung, set: None })
    }

    /// Waits for a moment. Dropping the future loses nothing.
    pub(crate) async fn until(&mut self, due: Instant) {
        while Instant::now() < due {
            if self.set != Some(due) {
                self.set = Some(due);
                let _ = self.orders.send(due);
            }
            self.rung.notified().await;
        }
    }
}

fn watch(orders: &Receiver<Instant>, rung: &Notify) {
    let mut due = None;
    loop {
        let order = match due {
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => orders.recv_timeout(Instant::duration_since(&due, Instant::now())),
        };
        match order {
            Ok(at) => due = Some(at),
            Err(RecvTimeoutError::Timeout) => {
                due = None;
                rung.notify_one();
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
