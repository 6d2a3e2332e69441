use std::ops::ControlFlow;

use logpose::schema::Registry;
use logpose::wpilog::Wpilog;
use logpose::{Log, OpenOptions};
use logpose_core::{Channel, EncodeOptions, FileDialect, Lookup, Sample, Time};

use crate::cancel::CancelToken;
use crate::error::RequestError;
use crate::export::safe;
use crate::session::OpenLog;

/// What a live log has so far of the wanted channels, as a finished log in memory, and which of its channels those are.
pub(crate) fn snapshot(
    member: &OpenLog,
    lookup: &Lookup,
    stop: &CancelToken,
) -> Result<(Log, Vec<bool>), RequestError> {
    let catalog = member.store.catalog();
    let encoder = Wpilog.encoder(&EncodeOptions::default());
    let mut encoder =
        encoder.ok_or_else(|| RequestError::not_found("invalid-format", "live logs cannot be combined"))?;
    let mut out = Vec::new();
    encoder.begin(&mut out);
    let (start, end) = (lookup.start.unwrap_or(Time::MIN), lookup.end.unwrap_or(Time::MAX));
    for (id, entry) in (0..).zip(&catalog.channels) {
        let schema = Registry::is_schema(&entry.channel.name, &entry.channel.type_name);
        if !lookup.wants(id) && !schema {
            continue;
        }
        let declared = encoder.channel(id, &entry.channel, &mut out);
        declared.map_err(|error| RequestError::invalid("export-failed", error.to_string()))?;
        let (start, end) = if schema { (Time::MIN, Time::MAX) } else { (start, end) };
        let mut failed = None;
        member.store.read(id, start, end, &mut |time, value| {
            let done = encoder.samples(&[Sample { channel: id, time, value: *value }], &mut out);
            failed = done.err().map(|error| RequestError::invalid("export-failed", error.to_string()));
            if out.len() > SNAPSHOT {
                failed = Some(
                    RequestError::invalid("too-large", "the range of the live log is too large")
                        .with_help("export a shorter range or fewer series, or record it: `logpose record`"),
                );
            }
            if failed.is_some() || stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(refusal) = failed {
            return Err(refusal);
        }
    }
    encoder.finish(&mut out);
    let log = Log::from_bytes(&format!("{}.wpilog", safe(&member.store.about().name)), out, &OpenOptions::default())?;
    // Schemas come along, so that values can be read; whether they are written is up to the format.
    let wanted = |channel: &Channel| {
        let found = (0..)
            .zip(&catalog.channels)
            .find(|(_, entry)| entry.channel.name == channel.name && entry.channel.type_name == channel.type_name);
        found.is_some_and(|(id, _)| lookup.wants(id))
    };
    let channels = log.index.channels.iter().map(|found| wanted(&found.channel)).collect();
    Ok((log, channels))
}

/// The most bytes of a live log that are put together in memory.
const SNAPSHOT: usize = 512 << 20;
