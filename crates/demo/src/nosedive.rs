use logpose_refloat::rfrec::{TimeRef, WriteError, Writer};
use logpose_refloat::wire::Header;
use logpose_sim::board::{BoardVersion, Scenario, simulate};

use super::EPOCH_US;

/// A board's recording of a nose-dive, as `refloat fetch` would have saved it half a minute later.
pub(super) fn nosedive() -> Result<Vec<u8>, WriteError> {
    let recorded = simulate(Scenario::Nosedive, BoardVersion::V1_3, 12);
    let header = Header::parse(&recorded.header).map_err(|_| WriteError::BadHeader)?;
    let (chunk, length) = (header.chunk(), header.sample_len());
    let meta = serde_json::json!({
        "captured_at": "2026-03-21T14:22:33Z",
        "tool": "logpose demo",
        "note": "simulated: the rider leans against the pushback",
    });
    let last = recorded.samples.rchunks_exact(length).next().and_then(|sample| sample.first_chunk());
    let mut out = Vec::new();
    let mut writer = Writer::begin(&mut out);
    meta.as_object().into_iter().for_each(|meta| writer.meta(meta, &mut out));
    writer.info(&recorded.info, &mut out);
    recorded.status.iter().for_each(|status| writer.status(status, &mut out));
    writer.header(&recorded.header, &mut out)?;
    for (index, samples) in (0_u32..).zip(recorded.samples.chunks(chunk * length)) {
        writer.samples(index * u32::try_from(chunk).unwrap_or(0), samples, &mut out)?;
    }
    let tick = last.map_or(0, |tick| u32::from_be_bytes(*tick)).wrapping_add(LATER_TICKS);
    writer.timeref(&TimeRef { tick, host_us: EPOCH_US.unsigned_abs(), uncertainty_us: 4_000 }, &mut out);
    writer.end(&mut out)?;
    Ok(out)
}

/// From the last sample to the download, in ticks of 100 µs.
const LATER_TICKS: u32 = 300_000;
