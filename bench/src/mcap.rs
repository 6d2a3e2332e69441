//! What the crate `mcap` does by itself: the peer for MCAP files, and an independent reader of ours.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;

use logpose_core::{Layout, Time, Type, Value};
use mcap::records::MessageHeader;
use mcap::{Channel, Compression, MessageStream, WriteOptions};

use crate::meter;
use crate::read::{Line, Work};
use crate::sums::Sums;

/// What the messages of a channel are.
#[derive(Clone, Debug)]
enum Kind {
    /// No message was seen yet.
    Unseen,
    /// Messages that are no sample of the log: the same value once more for viewers, or the life of a channel.
    Other,
    /// One sample each.
    Values(Values),
}

#[derive(Clone, Debug)]
struct Values {
    type_name: String,
    ty: Type,
    /// Bytes before the payload: the number of its elements.
    front: usize,
}

impl Kind {
    fn of(channel: &Channel<'_>) -> Result<Self, String> {
        let about = |key: &str| channel.metadata.get(key).map(String::as_str);
        if about("logpose.role").is_some_and(|role| role != "values") {
            return Ok(Self::Other);
        }
        let schema = channel.schema.as_ref().map(|schema| schema.name.as_str());
        let type_name = match (about("logpose.type"), schema) {
            (Some(name), _) => name,
            (None, Some("std_msgs/Float64")) => "double",
            _ => return Err(format!("the type of {} is not known", channel.topic)),
        };
        let front = if about("logpose.form") == Some("counted") { 4 } else { 0 };
        Ok(Self::Values(Values { type_name: type_name.to_owned(), ty: Type::of(type_name), front }))
    }
}

/// Visits every message of an MCAP file and adds up the values.
pub fn sum(path: &Path) -> Line {
    let work = Work::begin();
    let file = meter::map(path)?;
    let (mut sums, mut messages, mut kinds) = (Sums::default(), 0_u64, Vec::new());
    for message in MessageStream::new(&file)? {
        let message = message?;
        messages += 1;
        let id = usize::from(message.channel.id);
        if kinds.len() <= id {
            kinds.resize(id + 1, Kind::Unseen);
        }
        let Some(kind) = kinds.get_mut(id) else { continue };
        if let Kind::Unseen = kind {
            *kind = Kind::of(&message.channel)?;
        }
        if let Kind::Values(Values { type_name, ty, front }) = kind {
            let payload = message.data.get(*front..).ok_or("a message is shorter than its count")?;
            let time = Time::from_nanos(message.log_time.cast_signed());
            sums.add(type_name, time, &Value::parse(*ty, payload, Layout::Little)?);
        }
    }
    let end = work.end();
    Ok(format!("{sums} messages={messages} {end}"))
}

/// Writes the messages of an MCAP file, which are in memory when the time begins, to another one.
pub fn write(source: &Path, out: &Path, compression: &str) -> Line {
    let compression = match compression {
        "none" => None,
        "lz4" => Some(Compression::Lz4),
        "zstd" => Some(Compression::Zstd),
        other => return Err(format!("there is no compression {other:?}: none, lz4 or zstd").into()),
    };
    let Messages { channels, mut headers, data } = Messages::read(source)?;
    let work = Work::begin();
    let file = BufWriter::with_capacity(1 << 20, File::create(out)?);
    let mut writer = WriteOptions::new().compression(compression).create(file)?;
    let mut ids = vec![0; 1 << 16];
    for channel in &channels {
        let schema = match &channel.schema {
            Some(schema) => writer.add_schema(&schema.name, &schema.encoding, &schema.data)?,
            None => 0,
        };
        let id = writer.add_channel(schema, &channel.topic, &channel.message_encoding, &channel.metadata)?;
        ids.get_mut(usize::from(channel.id)).into_iter().for_each(|place| *place = id);
    }
    for (header, range) in &mut headers {
        header.channel_id = ids.get(usize::from(header.channel_id)).copied().unwrap_or_default();
        writer.write_to_known_channel(header, data.get(range.clone()).unwrap_or_default())?;
    }
    writer.finish()?;
    drop(writer);
    let end = work.end();
    Ok(format!("messages={} {end}", headers.len()))
}

/// All messages of a file.
struct Messages {
    channels: Vec<Channel<'static>>,
    headers: Vec<(MessageHeader, Range<usize>)>,
    data: Vec<u8>,
}

impl Messages {
    fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = meter::map(path)?;
        let (mut channels, mut headers, mut data) = (Vec::<Channel<'static>>::new(), Vec::new(), Vec::new());
        let mut known = vec![false; 1 << 16];
        for message in MessageStream::new(&file)? {
            let message = message?;
            let id = message.channel.id;
            if known.get_mut(usize::from(id)).is_some_and(|known| !std::mem::replace(known, true)) {
                channels.push((*message.channel).clone());
            }
            let header = MessageHeader {
                channel_id: id,
                sequence: message.sequence,
                log_time: message.log_time,
                publish_time: message.publish_time,
            };
            let start = data.len();
            data.extend_from_slice(&message.data);
            headers.push((header, start..data.len()));
        }
        Ok(Self { channels, headers, data })
    }
}
