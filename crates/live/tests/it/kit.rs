//! What the tests share.

use std::sync::Arc;
use std::time::Duration;

use logpose::core::{Channel, ChannelId, Problem, Sample, Sink, SinkError, Time, Value};
use logpose_live::{Address, Batch, Clock, OutputThread, Server, ServerOptions, Source};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// What a sink heard, as lines.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) channels: Vec<String>,
    pub(crate) lines: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

impl Sink for Heard {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.channels.len(), "channels come in the order of their numbers, once");
        self.channels.push(format!("{} {}", channel.name, channel.type_name));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            self.lines.push(format!("{} {} {:?}", sample.time, self.channels[sample.channel as usize], sample.value));
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// A source that runs until this is dropped.
pub(crate) struct Listening {
    pub(crate) batches: mpsc::Receiver<(usize, Batch)>,
    pub(crate) stats: Arc<logpose_live::LinkStats>,
    pub(crate) stop: watch::Sender<bool>,
}

pub(crate) fn listen(address: &str) -> Listening {
    let source = Source::new(&Address::parse(address).unwrap(), "test").unwrap();
    let (sender, batches) = mpsc::channel(1024);
    let (stop, stopped) = watch::channel(false);
    let stats = source.stats();
    tokio::spawn(source.run(Clock::new(), 0, sender, stopped));
    Listening { batches, stats, stop }
}

impl Listening {
    /// Hears until there are so many samples, or fails.
    pub(crate) async fn hear(&mut self, heard: &mut Heard, samples: usize) {
        while heard.lines.len() < samples {
            let batch = timeout(Duration::from_secs(10), self.batches.recv()).await;
            let batch = batch.unwrap_or_else(|_| panic!("{} of {samples} came, {:?}", heard.lines.len(), self.stats));
            batch.expect("the source goes on").1.play(heard).unwrap();
        }
    }
}

/// A server on a port of its own, and the thread that feeds it.
pub(crate) async fn serve(
    scheme: &str,
    options: &ServerOptions,
) -> (String, OutputThread, Arc<logpose_live::LinkStats>) {
    let clock = Clock::new();
    let server = Server::start(&Address::parse(&format!("{scheme}://:0")).unwrap(), clock, options).await.unwrap();
    let (address, stats) = (format!("{scheme}://{}", server.address()), server.stats());
    (address, OutputThread::start("server", Box::new(server), clock).unwrap(), stats)
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), waiting).await.unwrap_or_else(|_| panic!("not so in 10 s: {what}"));
}

/// A batch that declares `channels` numbers and gives each a value at `ms`.
pub(crate) fn cycle(ms: i64, channels: u32, declare: bool) -> Arc<Batch> {
    let mut batch = Batch::new(Time::from_millis(ms));
    for id in 0..channels {
        if declare {
            batch.channel(id, &Channel::new(format!("/Field{id}"), "double")).unwrap();
        }
    }
    for id in 0..channels {
        let value = Value::Double(ms as f64 + f64::from(id) / 1000.0);
        batch.samples(&[Sample { channel: id, time: Time::from_millis(ms), value }]).unwrap();
    }
    Arc::new(batch)
}
