//! The blocks of a file as they are: as lines, and as a file again.

use std::fmt;
use std::ops::ControlFlow;

use logpose_core::{DecodeError, RecordLine};

use crate::rfrec::{Block, End, FRAME, HEAD, Head, Kind, Reader, Recording, TimeRef, Writer};
use crate::wire::{Header, Info, Samples, Status};

/// Gives every block as a line, and every sample of it as one more.
pub(crate) fn records(
    log: &[u8],
    from: u64,
    line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
) -> Result<(), DecodeError> {
    let reader = Reader::new(log)?;
    let head = reader.head();
    if from == 0 && line(RecordLine { at: 0, length: HEAD as u64, text: &head }).is_break() {
        return Ok(());
    }
    let mut values = None;
    for block in reader {
        let (at, block) = block.map_err(|damage| damage.error)?;
        let length = block.length();
        if at >= from && line(RecordLine { at, length, text: &Shown(&block) }).is_break() {
            return Ok(());
        }
        match block.kind {
            Kind::Header if values.is_none() => {
                values = Header::parse(block.payload).ok().map(|header| header.ids.len())
            }
            Kind::Samples => {
                let (Some(values), Some((_, bytes))) = (values, block.payload.split_first_chunk::<4>()) else {
                    continue;
                };
                let Ok(samples) = Samples::new(bytes, values) else { continue };
                let step = 5 + 2 * values;
                for (at, sample) in (at + 12..).step_by(step).zip(samples) {
                    if at >= from && line(RecordLine { at, length: step as u64, text: &sample }).is_break() {
                        return Ok(());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A block in one line.
struct Shown<'a>(&'a Block<'a>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Block { kind, payload } = *self.0;
        write!(f, "{kind} ")?;
        let shown: Option<String> = match kind {
            Kind::Meta => Some(String::from_utf8_lossy(payload).escape_debug().to_string().replace("\\\"", "\"")),
            Kind::Info => Info::parse(payload).ok().map(|info| info.to_string()),
            Kind::Header => Header::parse(payload).ok().map(|header| header.to_string()),
            Kind::Status => Status::parse(payload).ok().map(|status| status.to_string()),
            Kind::Samples => payload
                .first_chunk()
                .map(|index| format!("from {}, {} bytes", u32::from_be_bytes(*index), payload.len() - index.len())),
            Kind::TimeRef => TimeRef::parse(payload).map(|timeref| timeref.to_json()),
            Kind::End => End::parse(payload).map(|end| {
                let hash: String = end.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{} samples, sha256 {hash}", end.samples)
            }),
            Kind::Unknown(_) => None,
        };
        match shown {
            Some(text) => f.write_str(&text),
            None => write!(f, "{} bytes", payload.len()),
        }
    }
}

/// Appends what is whole of a file as a file: its blocks as they are, and an END that fits if all samples are there.
pub(crate) fn mend(log: &[u8], recording: &Recording<'_>, out: &mut Vec<u8>) {
    let Ok(reader) = Reader::new(log) else { return };
    Head::emit(out);
    for (at, block) in reader.flatten() {
        if block.kind == Kind::End && !recording.complete {
            continue;
        }
        let range = || {
            let start = usize::try_from(at).ok()?;
            Some(start..start.checked_add(block.payload.len() + FRAME)?)
        };
        out.extend_from_slice(range().and_then(|range| log.get(range)).unwrap_or_default());
    }
    if !recording.complete {
        // Where samples are missing there is nothing to close.
        let _ = Writer::resume(recording).end(out);
    }
}
