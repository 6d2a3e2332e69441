//! Emit then parse gives the same.

use logpose_dslog::{Event, Item, Reader, Record, Stamp, Status, Version};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::kit::{START, events, header};

fn record() -> impl Strategy<Value = ([u8; 10], Vec<u8>)> {
    (any::<[u8; 10]>(), vec(any::<u8>(), 0..40))
}

fn build<'a>((fixed, pd): &'a ([u8; 10], Vec<u8>), version: Version) -> Record<'a> {
    let [trip, loss, b1, b0, cpu, status, can, wifi, w1, w0] = *fixed;
    // In version 3 the block has one length.
    let pd = match version {
        Version::V3 => &[9; 25][..],
        Version::V4 => pd,
    };
    Record {
        trip,
        loss: loss.cast_signed(),
        battery: u16::from_be_bytes([b1, b0]),
        cpu,
        status: Status(status),
        can,
        wifi,
        bandwidth: u16::from_be_bytes([w1, w0]),
        pd,
    }
}

proptest! {
    #[test]
    fn records_come_back(records in vec(record(), 0..20)) {
        for version in [Version::V3, Version::V4] {
            let expected: Vec<_> = records.iter().map(|record| build(record, version)).collect();
            let mut log = header(version);
            expected.iter().for_each(|record| record.emit(version, &mut log));
            let found: Vec<_> = Reader::new(&log).unwrap().map(|record| record.unwrap().1).collect();
            prop_assert_eq!(found, expected.into_iter().map(Item::Record).collect::<Vec<_>>());
        }
    }

    #[test]
    fn events_come_back(texts in vec((0_i64..1_000_000, vec(any::<u8>(), 0..80)), 1..20)) {
        let texts: Vec<(i64, &[u8])> = texts.iter().map(|(ms, text)| (*ms, &**text)).collect();
        let log = events(Version::V4, &texts);
        let found: Vec<_> = Reader::new(&log).unwrap().map(|event| event.unwrap().1).collect();
        let expected: Vec<_> = texts
            .iter()
            .map(|(ms, text)| Item::Event(Event { time: Stamp::from_unix_ns(START + ms * 1_000_000), text }))
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn nanoseconds_come_back(ns in any::<i64>()) {
        prop_assert_eq!(Stamp::from_unix_ns(ns).unix_ns(), ns);
    }
}
