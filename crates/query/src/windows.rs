//! Which windows of a log can hold samples of a stretch of time.

use logpose::{Log, Order};
use logpose_core::{Channel, ChannelId, Lookup, Problem, Sample, Sink, SinkError, Span, Time};

use crate::push::Stretch;

/// The windows that can hold wanted samples. Only a log whose samples are all in the order of time can tell without
/// being read.
pub(crate) fn overlapping(log: &Log, windows: &[Span], span: Stretch) -> Vec<Span> {
    if span == Stretch::ALL || !log.index.sorted || windows.len() < 2 {
        return windows.to_vec();
    }
    let begins: Result<Vec<Option<Time>>, SinkError> = windows.iter().map(|window| first(log, *window)).collect();
    // A log that cannot be read is reported by the scan, which must not leave windows out then.
    let Ok(begins) = begins else { return windows.to_vec() };
    let wanted = windows.iter().enumerate().filter(|(i, _)| {
        // A window ends where the next one that has samples begins.
        let begin = begins.get(*i).copied().flatten();
        let end = begins.iter().skip(i + 1).flatten().next();
        begin.is_some_and(|begin| begin.nanos() <= span.end) && end.is_none_or(|end| end.nanos() >= span.start)
    });
    wanted.map(|(_, window)| *window).collect()
}

/// The time of the first sample in a window.
fn first(log: &Log, within: Span) -> Result<Option<Time>, SinkError> {
    let mut first = First(None);
    match log.rows(Order::File, &Lookup { within: Some(within), ..Lookup::default() }, &mut first) {
        Ok(()) | Err(SinkError::Stopped) => Ok(first.0),
        Err(error) => Err(error),
    }
}

struct First(Option<Time>);

impl Sink for First {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.0 = samples.first().map(|sample| sample.time);
        if self.0.is_some() { Err(SinkError::Stopped) } else { Ok(()) }
    }

    fn problem(&mut self, _: Problem) {
        // `FileDialect::index` has reported the problems of the log.
    }
}
