use crate::{Channel, ChannelId, Layout, Problem, Sample, Sink, SinkError, Time, Type, Value};

/// Things that happened, in their order, with bytes of their own: what goes from task to task, and what has to wait.
///
/// It is a [`Sink`] to be filled, and is played into another one.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    events: Vec<Event>,
    /// The payloads of the samples, numbers with the least significant byte first.
    bytes: Vec<u8>,
    /// When it was received, on the clock of the receiver.
    pub received: Time,
    /// What to add to its times to get times of that clock, in nanoseconds, if the session knows.
    pub clock_offset: Option<i64>,
}

#[derive(Clone, Debug)]
enum Event {
    Channel(ChannelId, Box<Channel>),
    Sample { channel: ChannelId, ty: Type, time: Time, end: usize },
    Metadata(ChannelId, Time, Box<str>),
    End(ChannelId, Time),
    Problem(Box<Problem>),
}

impl Batch {
    /// An empty one.
    #[must_use]
    pub fn new(received: Time) -> Self {
        Self { received, ..Self::default() }
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// How many samples it has.
    #[must_use]
    pub fn sample_count(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Sample { .. })).count()
    }

    /// The latest time of its samples.
    #[must_use]
    pub fn newest(&self) -> Option<Time> {
        let times = self.events.iter().filter_map(|event| match event {
            Event::Sample { time, .. } => Some(*time),
            _ => None,
        });
        times.max()
    }

    /// About how much memory it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len() + self.events.len() * size_of::<Event>()
    }

    /// Adds samples, all of them at one time.
    pub fn push_at(&mut self, time: Time, samples: &[Sample<'_>]) {
        self.events.reserve(samples.len());
        samples.iter().for_each(|sample| self.push(&Sample { time, ..*sample }));
    }

    fn push(&mut self, sample: &Sample<'_>) {
        sample.value.emit(Layout::Little, &mut self.bytes);
        let (channel, ty, time) = (sample.channel, sample.value.ty(), sample.time);
        self.events.push(Event::Sample { channel, ty, time, end: self.bytes.len() });
    }

    /// Adds what happened after this.
    pub fn append(&mut self, mut later: Self) {
        let start = self.bytes.len();
        for event in &mut later.events {
            if let Event::Sample { end, .. } = event {
                *end += start;
            }
        }
        self.events.append(&mut later.events);
        self.bytes.append(&mut later.bytes);
    }

    /// The channels that it declares.
    pub fn channels(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.events.iter().filter_map(|event| match event {
            Event::Channel(id, channel) => Some((*id, &**channel)),
            _ => None,
        })
    }

    /// What was lost or doubtful.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.events.iter().filter_map(|event| match event {
            Event::Problem(problem) => Some(&**problem),
            _ => None,
        })
    }

    /// Its samples, in the order in which they came.
    pub fn iter_samples(&self) -> impl Iterator<Item = Sample<'_>> {
        let mut start = 0;
        self.events.iter().filter_map(move |event| self.sample(event, &mut start))
    }

    /// The sample of an event, if it is one; its payload begins at `start`, which moves behind it.
    fn sample(&self, event: &Event, start: &mut usize) -> Option<Sample<'_>> {
        let Event::Sample { channel, ty, time, end } = event else { return None };
        let payload = self.bytes.get(*start..*end).unwrap_or_default();
        *start = *end;
        // It was emitted by a value of this type.
        let value = Value::parse(*ty, payload, Layout::Little).ok()?;
        Some(Sample { channel: *channel, time: *time, value })
    }

    /// Gives everything to a sink, in order; samples that follow each other in one call.
    pub fn play(&self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut samples = Vec::new();
        let mut start = 0;
        for event in &self.events {
            if let Event::Sample { .. } = event {
                samples.extend(self.sample(event, &mut start));
                continue;
            }
            if !samples.is_empty() {
                sink.samples(&samples)?;
                samples.clear();
            }
            match event {
                Event::Channel(id, channel) => sink.channel(*id, channel)?,
                Event::Metadata(id, time, text) => sink.metadata(*id, *time, text)?,
                Event::End(id, time) => sink.end(*id, *time)?,
                Event::Problem(problem) => sink.problem((**problem).clone()),
                Event::Sample { .. } => {}
            }
        }
        if samples.is_empty() { Ok(()) } else { sink.samples(&samples) }
    }
}

impl Sink for Batch {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.events.push(Event::Channel(id, Box::new(channel.clone())));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.events.reserve(samples.len());
        samples.iter().for_each(|sample| self.push(sample));
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.events.push(Event::Metadata(id, time, metadata.into()));
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.events.push(Event::End(id, time));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.events.push(Event::Problem(Box::new(problem)));
    }
}
