use std::borrow::Cow;

use logpose_carla::Carla;
use logpose_core::{Dialect, EncodeOptions, Encoding, Lookup, SinkError};

use crate::convert::sink_error;
use crate::{Error, Log, Order};

/// The bytes of the recording that a log is, or that it was made of: those of the file itself, or, of one that was
/// converted, the recording made again from its channels, in memory.
pub fn recorded(log: &Log) -> Result<Cow<'_, [u8]>, Error> {
    if log.dialect().info().name == Carla.info().name {
        return Ok(Cow::Borrowed(log.bytes()));
    }
    let mut out = Vec::new();
    if let Some(mut encoder) = Carla.encoder(&EncodeOptions::default()) {
        encoder.begin(&mut out);
        let ours = |name: &str| name.starts_with("/carla/");
        let channels = log.index.channels.iter().map(|found| ours(&found.channel.name)).collect();
        let lookup = Lookup { channels, ..Lookup::default() };
        match log.rows(Order::File, &lookup, &mut Encoding { encoder: &mut *encoder, out: &mut out }) {
            Ok(()) | Err(SinkError::Stopped) => {}
            Err(error) => return Err(sink_error(error, None)),
        }
        encoder.finish(&mut out);
    }
    Ok(Cow::Owned(out))
}
