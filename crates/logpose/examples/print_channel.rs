//! Prints the samples of one channel, in the order of time.
//!
//! ```text
//! cargo run --example print_channel -- match.wpilog /Drive/Pose
//! ```
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::path::Path;

use logpose::core::{Channel, ChannelId, Problem, Sample, Sink, SinkError};
use logpose::{Filter, Log, OpenOptions, Order, Quiet, Schemas};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(pattern)) = (arguments.next(), arguments.next()) else {
        return Err("give a log and the name of a channel".into());
    };
    let log = Log::open_with(Path::new(&file), &OpenOptions::default(), &Quiet)?;
    let lookup = log.lookup(&Filter::new(&[pattern], &[])?, None, None)?;
    log.rows(Order::Time, &lookup, &mut Print { schemas: log.schemas(), channels: Vec::new() })?;
    Ok(())
}

struct Print<'a> {
    schemas: &'a Schemas,
    channels: Vec<(ChannelId, Channel)>,
}

impl Sink for Print<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.channels.push((id, channel.clone()));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            if let Some((_, channel)) = self.channels.iter().find(|(id, _)| *id == sample.channel) {
                println!("{} {} {}", sample.time, channel.name, self.schemas.show(channel, &sample.value));
            }
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `log.problems` has those of the file.
    }
}
