//! Files for tests.

use logpose_core::{Channel, EncodeError, EncodeOptions, Encoding, FileDialect, Index, Lookup, Problem, Problems};
use logpose_refloat::rfrec::{TimeRef, Writer};
use logpose_refloat::wire::{Flags, Header, Info, InfoV2, Sample, Status, Version};
use logpose_refloat::{Refloat, float16, items};
use logpose_sim::board::{BoardVersion, Scenario, simulate};
pub(crate) use logpose_testkit::hex;
use serde_json::{Map, Value, json};

/// The example of the specification.
pub(crate) const EXAMPLE: &str = "
    52 46 4C 54 52 45 43 0A 01 00 00 00 44 A0 8F 67
    03 00 00 00 00 00 00 0C 65 2A 00 00 00 01 01 04 65 72 70 6D 31 1E 02 3A
    05 00 00 00 00 00 00 0B 00 00 00 00 00 00 00 01 0D 3C 00 56 87 6D 12
    7F 00 00 00 00 00 00 24 00 00 00 01 1A D6 7A 81 8B 99 17 7C FA 52 CD 7C
    B2 BF 01 57 82 EC 77 A8 1F 4D 94 E3 30 1B BA 7B 86 6A BF D6 AE 8E 7F BB";

/// What a file is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) meta: Option<Map<String, Value>>,
    pub(crate) info: Option<Vec<u8>>,
    pub(crate) status: Option<Vec<u8>>,
    pub(crate) ids: Vec<String>,
    pub(crate) samples: Vec<Vec<u8>>,
    pub(crate) timeref: Option<TimeRef>,
}

impl Parts {
    pub(crate) fn header(&self) -> Vec<u8> {
        let mut header = Vec::new();
        Header::put(self.samples.len() as u32, self.ids.iter().map(|id| &**id), &mut header);
        header
    }

    /// Everything up to the header, in the canonical order.
    pub(crate) fn begin(&self) -> (Vec<u8>, Writer) {
        let mut out = Vec::new();
        let mut writer = Writer::begin(&mut out);
        self.meta.iter().for_each(|meta| writer.meta(meta, &mut out));
        self.info.iter().for_each(|info| writer.info(info, &mut out));
        self.status.iter().for_each(|status| writer.status(status, &mut out));
        writer.header(&self.header(), &mut out).unwrap();
        (out, writer)
    }

    pub(crate) fn chunk(&self) -> usize {
        Header::parse(&self.header()).unwrap().chunk().max(1)
    }

    /// The file in its canonical form.
    pub(crate) fn file(&self) -> Vec<u8> {
        let (mut out, mut writer) = self.begin();
        for (group, samples) in self.samples.chunks(self.chunk()).enumerate() {
            let index = (group * self.chunk()) as u32;
            writer.samples(index, &samples.concat(), &mut out).unwrap();
        }
        self.timeref.iter().for_each(|timeref| writer.timeref(timeref, &mut out));
        writer.end(&mut out).unwrap();
        out
    }
}

pub(crate) fn sample(tick: u32, flags: u8, values: &[f32]) -> Vec<u8> {
    let mut out = Vec::new();
    Sample::put(tick, Flags(flags), values.iter().map(|x| float16::encode(*x)), &mut out);
    out
}

pub(crate) fn info(minor: u8, suffix: &str) -> Vec<u8> {
    let about = InfoV2 {
        name: "Refloat".into(),
        major: 1,
        minor,
        suffix: suffix.into(),
        commit: 0x9a16_b5c5,
        tick_rate: 10_000,
        capabilities: 1 << 31,
        ..InfoV2::default()
    };
    let mut out = Vec::new();
    Info::V2(about).emit(&mut out);
    out
}

/// A ride of `count` samples that ends with a pushback and a foot that leaves the board, as a version records it.
pub(crate) fn ride(minor: u8, count: u32) -> Parts {
    let suffix = if minor == 3 { "beta2" } else { "" };
    let ids = items::recorded(&Version::new(1, minor, 0, suffix)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let step = if minor == 3 { 12 } else { 14 };
    let samples = (0..count).map(|i| {
        let flags = match count - i {
            1 => 0x05,
            2..6 => 0x6d,
            _ => 0x0d,
        };
        let values: Vec<f32> = (0..ids.len()).map(|n| (n as f32 - 4.5) * 1.25 + i as f32 / 8.0).collect();
        sample(123_456 + i * step, flags, &values)
    });
    let samples = samples.collect();
    let status =
        Status { enabled: true, recording: false, autostart: true, autostop: true, decimation: 5, duration_cs: 183 };
    let mut status_bytes = Vec::new();
    status.emit(&mut status_bytes);
    let meta = json!({
        "captured_at": "2026-07-04T10:11:12Z",
        "tool": "logpose test",
        "transport": "tcp",
        "address": "127.0.0.1:65102",
        "firmware": "6.05 rflt-xtras-1",
        "hardware": "LITTLE_FOCER_V3_1",
    });
    Parts {
        meta: meta.as_object().cloned(),
        info: Some(info(minor, suffix)),
        status: (minor == 3).then_some(status_bytes),
        ids,
        samples,
        timeref: Some(TimeRef { tick: 223_456, host_us: 1_783_159_872_000_000, uncertainty_us: 1500 }),
    }
}

/// A ride that a board simulated.
pub(crate) fn ridden(scenario: Scenario, version: BoardVersion) -> Parts {
    let recorded = simulate(scenario, version, 7);
    let samples = recorded.samples.chunks_exact(recorded.sample_len()).map(<[u8]>::to_vec);
    let last = samples.clone().next_back().map(|sample| u32::from_be_bytes(*sample.first_chunk().unwrap()));
    Parts {
        info: Some(recorded.info.clone()),
        status: recorded.status.clone(),
        ids: recorded.ids().map(str::to_owned).collect(),
        timeref: last.map(|tick| TimeRef { tick: tick + 50_000, host_us: 1_783_159_872_000_000, uncertainty_us: 1500 }),
        samples: samples.collect(),
        ..ride(2, 0)
    }
}

pub(crate) fn index(log: &[u8]) -> (Index, Problems) {
    logpose_testkit::index(&Refloat, log)
}

/// All channels and samples of a file, through the encoder to a file again.
pub(crate) fn again(log: &[u8]) -> Result<(Vec<u8>, Vec<Problem>), EncodeError> {
    let (index, _) = index(log);
    let mut encoder = Refloat.encoder(&EncodeOptions::default()).unwrap();
    let mut out = Vec::new();
    encoder.begin(&mut out);
    let replayed = Refloat.replay(
        log,
        &index,
        &Lookup::default(),
        &mut Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut Problems::default() },
    );
    match replayed {
        Err(logpose_core::SinkError::Refused(error)) => return Err(error),
        replayed => replayed.unwrap(),
    }
    encoder.close()?;
    let problems = encoder.finish(&mut out);
    Ok((out, problems))
}

pub(crate) fn channel(name: &str, type_name: &str) -> Channel {
    Channel::new(name, type_name)
}
