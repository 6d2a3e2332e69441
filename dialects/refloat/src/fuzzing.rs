//! What the fuzz targets call. The ordinary tests run the same functions over fixtures and generated inputs.

mod file;

pub use file::{decode, recover};

use crate::float16;
use crate::vesc::{self, Deframer, FirmwareVersion};
use crate::wire::{Data, Info, Live, PackageError, Print, Reply, Request, Sample, Status};

/// What the pieces of a stream hold does not depend on where it is cut, is what a plain search finds, and takes bounded
/// memory.
pub fn deframe(data: &[u8]) {
    for limit in [vesc::MAX_PAYLOAD, vesc::LARGEST] {
        let (whole, skipped) = search(data, limit);
        for size in [1, 7, data.len().max(1)] {
            let mut deframer = Deframer::new(limit);
            let mut found = Vec::new();
            for piece in data.chunks(size) {
                deframer.push(piece);
                while let Some(payload) = deframer.next_payload() {
                    assert!(!payload.is_empty() && payload.len() <= limit);
                    found.push(payload.to_vec());
                }
                assert!(deframer.waiting() <= limit + 7, "{} bytes wait", deframer.waiting());
            }
            assert_eq!(found, whole);
            assert_eq!(deframer.skipped(), skipped);
            // Given up byte by byte, nothing waits in the end, and every byte is accounted for.
            while deframer.is_pending() {
                deframer.expire();
                while let Some(payload) = deframer.next_payload() {
                    found.push(payload.to_vec());
                }
            }
            let framed: usize = found.iter().map(|payload| frame_sizes(payload)).sum();
            let lost = data.len().saturating_sub(framed) as u64;
            assert!(deframer.skipped() <= data.len() as u64 && deframer.skipped() <= lost, "{lost} bytes lost");
        }
    }
}

/// The min size of a frame with this payload.
fn frame_sizes(payload: &[u8]) -> usize {
    vesc::framed(payload).len()
}

/// The payloads of a stream and the bytes that belong to none, by the rule and with no regard to time.
fn search(mut data: &[u8], limit: usize) -> (Vec<Vec<u8>>, u64) {
    let (mut found, mut skipped) = (Vec::new(), 0);
    while let Some(start) = data.first() {
        let head = match start {
            2..=4 => usize::from(*start),
            _ => {
                data = data.get(1..).unwrap_or_default();
                skipped += 1;
                continue;
            }
        };
        let Some(field) = data.get(1..head) else { break };
        let length = field.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let min = [1, 255, 65_535].get(head - 2).copied().unwrap_or(1);
        let end = head + length + 3;
        if (min..=limit).contains(&length) && data.len() < end {
            break;
        }
        let payload = data.get(head..head + length).unwrap_or_default();
        let tail = data.get(head + length..end).unwrap_or_default();
        let [high, low] = vesc::crc16(payload).to_be_bytes();
        if (min..=limit).contains(&length) && tail == [high, low, 3] {
            found.push(payload.to_vec());
            data = data.get(end..).unwrap_or_default();
        } else {
            data = data.get(1..).unwrap_or_default();
            skipped += 1;
        }
    }
    (found, skipped)
}

/// What can be read is written as it came, or, where bytes are ignored, as what reads as the same again.
pub fn roundtrip(data: &[u8]) {
    if let Ok(request) = Request::parse(data) {
        let mut out = Vec::new();
        request.emit(&mut out);
        assert_eq!(Request::parse(&out), Ok(request), "{request}");
        assert!(!request.to_string().contains('\n'));
    }
    if let Ok(reply) = Reply::parse(data) {
        roundtrip_reply(&reply, data);
    }
    if let Some(version) = FirmwareVersion::parse(data) {
        let mut out = Vec::new();
        version.emit(&mut out);
        assert_eq!(FirmwareVersion::parse(&out), Some(version.clone()), "{version}");
    }
    print(data);
    for code in data.as_chunks().0 {
        let code = u16::from_be_bytes(*code);
        assert_eq!(float16::encode(float16::decode(code)), code);
    }
}

fn roundtrip_reply(reply: &Reply<'_>, data: &[u8]) {
    let mut out = Vec::new();
    reply.emit(&mut out);
    assert!(!reply.to_string().contains('\n'));
    match reply {
        // These may be longer in a later version, and their flags and texts have more than one form.
        Reply::Info(info) => assert_eq!(Info::parse(&out).as_ref(), Ok(info)),
        Reply::Status(status) => assert_eq!(Status::parse(&out), Ok(*status)),
        // Numbers that are no numbers have many forms, and very small ones are sent as zero.
        Reply::Compact(_) => assert_eq!(out.len(), data.len(), "{reply}"),
        _ => assert_eq!(out, data, "{reply}"),
    }
    match reply {
        Reply::Data(data) => samples(data),
        Reply::Live(live) => live_values(live),
        Reply::LiveMask(live) => {
            let mut fields = Vec::new();
            live.fields().for_each(|(_, value)| value.emit(live.is_float32(), &mut fields));
            assert_eq!(fields.len(), live.bytes.len(), "{live}");
        }
        Reply::Header(header) => assert_eq!(header.ids.iter().count(), header.ids.len()),
        Reply::Alerts(alerts) => assert_eq!(alerts.records.iter().count(), alerts.records.len()),
        _ => {}
    }
}

fn samples(data: &Data<'_>) {
    for values in [0, 1, 10, 13] {
        let Ok(samples) = data.samples(values) else { continue };
        let mut out = Vec::new();
        for sample in samples {
            assert_eq!((sample.codes().len(), sample.values().len()), (values, values));
            sample.emit(&mut out);
            let mut again = Vec::new();
            Sample::put(sample.tick, sample.flags, sample.values().map(float16::encode), &mut again);
            assert!(out.ends_with(&again), "{sample}");
        }
        assert_eq!(out, data.bytes);
    }
}

fn live_values(live: &Live<'_>) {
    let count = live.codes().len();
    assert!(live.fits(count, 0).is_ok() && live.fits(count + 1, 0).is_err());
    assert_eq!(live.values().map(float16::encode).collect::<Vec<_>>(), live.codes().collect::<Vec<_>>());
}

fn print(data: &[u8]) {
    let text = Print::parse(data);
    let mut out = Vec::new();
    text.emit(&mut out);
    assert_eq!(Print::parse(&out).uptime_us, text.uptime_us);
    if let Some(error) = text.error() {
        assert_eq!(PackageError::parse(&error.to_string()), Some(error));
    }
}
