//! Generated recordings, written and read again.

use std::ops::Range;

use logpose_refloat::fuzzing;
use logpose_refloat::rfrec::{Recording, Writer};
use logpose_refloat::wire::Header;
use proptest::prelude::*;

use super::kit::{Parts, again};

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
    fn any_bytes_behind_a_head_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), parts in recordings()) {
        let (mut out, _) = parts.begin();
        out.extend(bytes);
        fuzzing::decode(&out);
        fuzzing::recover(&out);
    }
}
