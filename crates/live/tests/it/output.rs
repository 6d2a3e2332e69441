//! Outputs that are too slow.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use logpose::core::{Channel, Sample, Sink, Time, Value};
use logpose_live::{Batch, Clock, Output, OutputError, OutputThread};
use logpose_testkit::until_so;

use crate::kit::Heard;

/// Takes nothing before it is let go.
struct Slow {
    go: Option<Receiver<()>>,
    heard: Arc<Mutex<Heard>>,
}

impl Output for Slow {
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError> {
        if let Some(go) = self.go.take() {
            let _ = go.recv();
        }
        Ok(batch.play(&mut *self.heard.lock().unwrap())?)
    }

    fn tick(&mut self, _: Time) -> Result<(), OutputError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        Ok(())
    }
}

fn batch(channel: u32, declare: bool, ms: i64) -> Arc<Batch> {
    let mut batch = Batch::new(Time::ZERO);
    if declare {
        batch.channel(channel, &Channel::new(format!("/{channel}"), "int64")).unwrap();
    }
    batch.samples(&[Sample { channel, time: Time::from_millis(ms), value: Value::Int64(ms) }]).unwrap();
    Arc::new(batch)
}

#[test]
fn of_what_does_not_fit_only_samples_are_lost_and_they_are_counted() {
    let (let_go, go) = channel();
    let heard = Arc::new(Mutex::new(Heard::default()));
    let slow = Slow { go: Some(go), heard: Arc::clone(&heard) };
    let output = OutputThread::start("slow", Box::new(slow), Clock::new()).unwrap();
    output.offer(&batch(0, true, 0));
    let mut offered = 1;
    while output.dropped() == 0 {
        output.offer(&batch(0, false, offered));
        offered += 1;
        assert!(offered < 1_000_000, "its queue has no end");
    }
    // A channel that is declared now is known later, though its sample is lost.
    output.offer(&batch(1, true, offered));
    let dropped = output.dropped();
    assert_eq!(dropped, 2);
    let_go.send(()).unwrap();
    until_so("it catches up", || heard.lock().unwrap().lines.len() as i64 >= offered - 1);
    output.offer(&batch(1, false, -1));
    output.finish().unwrap();
    let heard = heard.lock().unwrap();
    assert_eq!(heard.channels, ["/0 int64", "/1 int64"]);
    assert_eq!(heard.lines.last().unwrap(), "-0.001 /1 int64 Int64(-1)");
}
