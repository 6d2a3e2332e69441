//! Generated recordings, written and read again.

use std::ops::Range;

use logpose_refloat::fuzzing;
use logpose_refloat::rfrec::{Block, Kind, Recording, TimeRef, Writer};
use logpose_refloat::wire::Header;
use proptest::prelude::*;

use super::kit::{Parts, again, info, sample};

fn recordings() -> impl Strategy<Value = Parts> {
    let ids = prop::collection::vec("[a-z][a-z._]{0,12}", 0..8);
    (ids, any::<u32>(), 0_usize..120).prop_flat_map(|(ids, tick, count)| {
        let sample = (0_u32..40, any::<u8>(), prop::collection::vec(any::<u16>(), ids.len()));
        prop::collection::vec(sample, count).prop_map(move |samples| {
            let mut tick = tick;
            let bytes = samples.into_iter().map(|(step, flags, codes)| {
                tick = tick.wrapping_add(step);
                let mut bytes = tick.to_be_bytes().to_vec();
                bytes.push(flags);
                bytes.extend(codes.into_iter().flat_map(u16::to_be_bytes));
                bytes
            });
            Parts { ids: ids.clone(), samples: bytes.collect(), ..Parts::default() }
        })
    })
}

/// Blocks whose checksums fit, and which mostly make sense alone.
fn blocks() -> impl Strategy<Value = (Kind, Vec<u8>)> {
    let bytes = |size| prop::collection::vec(any::<u8>(), size);
    let samples = (prop_oneof![0_u32..12, any::<u32>()], 0_usize..6, 0_u8..3).prop_map(|(index, count, change)| {
        let mut payload = index.to_be_bytes().to_vec();
        for n in index..index.saturating_add(count as u32) {
            // Mostly the same for the same number, so that blocks agree.
            payload.extend(sample(n.wrapping_mul(12), n as u8 ^ (change / 2), &[n as f32, 0.5]));
        }
        payload
    });
    let header = (prop_oneof![0_u32..12, Just(u32::MAX)], 0_usize..6).prop_map(|(size, ids)| {
        let mut payload = Vec::new();
        // Mostly two, as the samples have.
        let ids = if ids < 4 { &["erpm", "pitch"][..] } else { &["x", "x", "running"][..ids - 3] };
        Header::put(size, ids.iter().copied(), &mut payload);
        payload
    });
    let timeref = (any::<u32>(), any::<u64>(), any::<u32>()).prop_map(|(tick, host_us, uncertainty_us)| {
        let mut payload = Vec::new();
        TimeRef { tick, host_us, uncertainty_us }.emit(&mut payload);
        payload
    });
    let info = prop_oneof![Just(10_000), any::<u32>()].prop_map(|rate| {
        let mut payload = info(3, "beta2");
        payload[51..55].copy_from_slice(&u32::to_be_bytes(rate));
        payload
    });
    prop_oneof![
        6 => samples.prop_map(|payload| (Kind::Samples, payload)),
        2 => header.prop_map(|payload| (Kind::Header, payload)),
        1 => timeref.prop_map(|payload| (Kind::TimeRef, payload)),
        1 => info.prop_map(|payload| (Kind::Info, payload)),
        1 => prop_oneof![Just(b"{}".to_vec()), bytes(0..9)].prop_map(|payload| (Kind::Meta, payload)),
        1 => bytes(36..37).prop_map(|payload| (Kind::End, payload)),
        1 => (any::<u8>(), bytes(0..40)).prop_map(|(kind, payload)| (Kind::of(kind), payload)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(parts in recordings()) {
        let file = parts.file();
        let found = Recording::read(&file).unwrap();
        prop_assert!(found.complete, "{:?}", found.problems);
        let samples: Vec<_> = found.samples().map(|(_, bytes)| bytes.to_vec()).collect();
        prop_assert_eq!(&samples, &parts.samples);
        prop_assert_eq!(again(&file).unwrap().0, file);
    }

    #[test]
    fn blocks_may_come_in_any_order_and_twice(parts in recordings(), cuts in prop::collection::vec((any::<usize>(), any::<usize>()), 0..12)) {
        let (mut out, mut writer) = parts.begin();
        let count = parts.samples.len();
        let ranges = cuts.into_iter().map(|(a, b)| { let (a, b) = (a % (count + 1), b % (count + 1)); (a.min(b), a.max(b)) });
        for (from, to) in ranges.chain([(0, count)]) {
            writer.samples(from as u32, &parts.samples[from..to].concat(), &mut out).unwrap();
        }
        writer.end(&mut out).unwrap();
        let found = Recording::read(&out).unwrap();
        prop_assert!(found.complete, "{:?}", found.problems);
        let samples: Vec<_> = found.samples().map(|(_, bytes)| bytes.to_vec()).collect();
        prop_assert_eq!(&samples, &parts.samples);
        fuzzing::decode(&out);
    }

    #[test]
    fn a_partial_file_can_be_gone_on_with(parts in recordings(), cut in any::<prop::sample::Index>()) {
        let file = parts.file();
        let cut = 16 + cut.index(file.len() - 15);
        let (held, whole) = Recording::resumable(&file[..cut]).unwrap();
        let mut rest = file[..whole as usize].to_vec();
        let mut writer = Writer::resume(&held);
        if held.complete {
            return Ok(());
        }
        if held.header.is_none() {
            writer.header(&parts.header(), &mut rest).unwrap();
        }
        let size = Header::parse(&parts.header()).unwrap().size;
        let missing = if held.header.is_some() { held.missing() } else { vec![Range { start: 0, end: size }] };
        for gap in missing {
            let samples = &parts.samples[gap.start as usize..gap.end as usize];
            writer.samples(gap.start, &samples.concat(), &mut rest).unwrap();
        }
        writer.end(&mut rest).unwrap();
        let found = Recording::read(&rest).unwrap();
        prop_assert!(found.complete, "{:?}", found.problems);
        let samples: Vec<_> = found.samples().map(|(_, bytes)| bytes.to_vec()).collect();
        prop_assert_eq!(samples, parts.samples);
    }

    #[test]
    fn any_blocks_in_any_order_are_read_without_panic(
        all in prop::collection::vec(blocks(), 0..14),
        first in any::<bool>(),
        flip in prop::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
    ) {
        let mut out = Vec::new();
        Writer::begin(&mut out);
        if first {
            Block { kind: Kind::Header, payload: b"\x65\x2a\0\0\0\x09\x02\x04erpm\x05pitch" }.emit(&mut out);
        }
        all.iter().for_each(|(kind, payload)| Block { kind: *kind, payload }.emit(&mut out));
        if let Some((place, change)) = flip {
            let place = place.index(out.len());
            out[place] ^= change;
        }
        fuzzing::decode(&out);
        fuzzing::recover(&out);
    }

    #[test]
    fn any_bytes_behind_a_head_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), parts in recordings()) {
        let (mut out, _) = parts.begin();
        out.extend(bytes);
        fuzzing::decode(&out);
        fuzzing::recover(&out);
    }
}
