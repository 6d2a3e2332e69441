use std::ops::ControlFlow;

use logpose_bridges::{Header, Pack};
use logpose_core::{
    Channel, FileDialect, Lookup, Problems, ReadOptions, Row, Sample, Sink, SinkError, Span, Time, Value,
};

use crate::{Call, Recording, bridge, log_of_everything, long_log, send};

fn packed(header: &Header, calls: &[Call]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut pack = Pack::new(&mut out);
    send(calls, &mut pack).unwrap();
    pack.finish(header.clone()).unwrap();
    out
}

fn replayed(store: &[u8], lookup: &Lookup) -> Vec<Call> {
    let index = bridge("parquet").index(store, &ReadOptions::default(), &mut Problems::default()).unwrap();
    let mut calls = Recording::default();
    bridge("parquet").replay(store, &index, lookup, &mut calls).unwrap();
    calls.0
}

#[test]
fn a_store_gives_back_every_call() {
    let (header, calls) = log_of_everything();
    let store = packed(&header, &calls);
    assert_eq!(replayed(&store, &Lookup::default()), calls);
    assert_eq!(bridge("arrow").header(&store, &ReadOptions::default()).unwrap(), header);
    let index = bridge("arrow").index(&store, &ReadOptions::default(), &mut Problems::default()).unwrap();
    assert_eq!(index.records, calls.len() as u64);
    assert_eq!((index.fact("origin"), index.fact("version")), (Some("wpilog"), Some("1.0")));
    assert!(index.sorted && index.channels.len() == header.channels.len());
}

#[test]
fn channels_that_the_header_lacks_are_as_they_were_declared() {
    let (_, calls) = log_of_everything();
    let store = packed(&Header::default(), &calls);
    let header = bridge("arrow").header(&store, &ReadOptions::default()).unwrap();
    assert_eq!(header.channels.len(), 15);
    // Metadata that came later are the ones that count.
    assert_eq!(header.channels[3].metadata, "{\"source\":\"other\"}");
}

#[test]
fn windows_on_two_threads_and_columns_say_the_same() {
    let (header, calls) = long_log(300_000);
    let store = packed(&header, &calls);
    let bridge = bridge("parquet");
    let index = bridge.index(&store, &ReadOptions::default(), &mut Problems::default()).unwrap();
    let two = ReadOptions { threads: 2, ..ReadOptions::default() };
    let joined = bridge.index(&store, &two, &mut Problems::default()).unwrap();
    assert!(!index.sorted && !joined.sorted && index.spans.len() > 4);
    for (a, b) in index.channels.iter().zip(&joined.channels) {
        assert_eq!((a.samples, a.bytes, a.first, a.last, a.sorted), (b.samples, b.bytes, b.first, b.last, b.sorted));
        assert!(a.positions.iter().eq(b.positions.iter()));
    }
    let whole = replayed(&store, &Lookup::default());
    assert_eq!(whole, calls);
    let windows = bridge.windows(&index, 2 << 20);
    assert!(windows.len() > 1 && windows.len() < index.spans.len());
    let mut parts = Recording::default();
    for window in windows {
        let lookup = Lookup { within: Some(window), ..Lookup::default() };
        bridge.replay(&store, &index, &lookup, &mut parts).unwrap();
    }
    let samples = |calls: Vec<Call>| calls.into_iter().filter(|c| matches!(c, Call::Sample(..))).collect::<Vec<_>>();
    assert_eq!(samples(parts.0), samples(whole));

    let some = Lookup {
        channels: vec![true, false, true],
        start: Some(Time::from_millis(1_000)),
        end: Some(Time::from_millis(2_000)),
        ..Lookup::default()
    };
    for lookup in [Lookup::default(), some] {
        let columns = bridge.scan(&store, &index, &lookup, |_| {}).unwrap();
        let calls = replayed(&store, &lookup);
        for (id, column) in (0..).zip(&columns.columns) {
            let found: Vec<(i64, &[u8])> = column
                .chunks
                .iter()
                .flat_map(|chunk| columns.times(chunk).map(Time::nanos).zip(columns.payloads(chunk)))
                .collect();
            let of_channel = calls.iter().filter_map(|call| match call {
                Call::Sample(channel, time, _, payload) if *channel == id => Some((*time, &**payload)),
                _ => None,
            });
            assert_eq!(found, of_channel.collect::<Vec<_>>());
        }
    }
}

#[test]
fn samples_are_found_by_their_places() {
    let (header, calls) = log_of_everything();
    let store = packed(&header, &calls);
    let bridge = bridge("parquet");
    let index = bridge.index(&store, &ReadOptions::default(), &mut Problems::default()).unwrap();
    let at: Vec<u64> = index.channels[3].positions.iter().collect();
    let mut times = Vec::new();
    bridge.times(&store, &index, &at, &mut times).unwrap();
    let rows: Vec<Row> = at.iter().zip(&times).map(|(at, time)| Row { time: *time, at: *at, channel: 3 }).collect();
    let take = &mut |samples: &[Sample<'_>]| {
        assert_eq!(samples.len(), 4);
        assert!(samples[0].value.same(&Value::Double(0.1)) && samples[2].value.same(&Value::Double(f64::NAN)));
        Ok(())
    };
    bridge.samples(&store, &index, &rows, take).unwrap();
}

#[test]
fn records_are_shown_in_lines() {
    let (header, calls) = log_of_everything();
    let store = packed(&header, &calls);
    let mut lines = Vec::new();
    let bridge = bridge("parquet");
    let lines_from = |from, lines: &mut Vec<(u64, String)>| {
        bridge.records(&store, &ReadOptions::default(), from, &mut |line| {
            lines.push((line.at, line.text.to_string()));
            ControlFlow::Continue(())
        })
    };
    lines_from(0, &mut lines).unwrap();
    assert_eq!(lines.len(), calls.len());
    assert_eq!(lines[0].1, r#"Channel channel=0 name="/0" type="boolean" metadata="{\"source\":0}""#);
    assert_eq!(lines[15].1, "Sample channel=0 time=-4999000ns size=1 00");
    let (at, text) = lines.last().unwrap().clone();
    assert_eq!(text, "End channel=0 time=9223372036854775807ns");
    lines.clear();
    lines_from(at, &mut lines).unwrap();
    assert_eq!(lines, [(at, text)]);
}

#[test]
fn samples_that_do_not_fit_their_channel_are_refused() {
    let mut pack = Pack::new(Vec::new());
    pack.channel(0, &Channel::new("/a", "double")).unwrap();
    let sample = |channel, value| [Sample { channel, time: Time::ZERO, value }];
    let error = pack.samples(&sample(0, Value::Int64(1))).unwrap_err().to_string();
    assert_eq!(error, r#"store: channel "/a": the sample is a Int64, the channel is declared as Double"#);
    let error = pack.samples(&sample(1, Value::Int64(1))).unwrap_err().to_string();
    assert_eq!(error, r#"store: channel "number 1": sample of an undeclared channel"#);
    assert!(matches!(pack.channel(u32::MAX, &Channel::default()), Err(SinkError::Refused(_))));
}

#[test]
fn a_store_that_cannot_be_read_is_an_error_and_not_a_log_without_samples() {
    let (header, calls) = log_of_everything();
    let store = packed(&header, &calls);
    let bridge = bridge("parquet");
    let index = bridge.index(&store, &ReadOptions::default(), &mut Problems::default()).unwrap();
    let code = |error: SinkError| match error {
        SinkError::Source(error) => error.code,
        other => panic!("{other}"),
    };
    let at: Vec<u64> = index.channels[3].positions.iter().collect();
    let rows: Vec<Row> = at.iter().map(|at| Row { time: Time::ZERO, at: *at, channel: 3 }).collect();

    // Its end is gone, so nobody can open it; and no record is where the index says.
    let cut = &store[..20];
    let all = Lookup::default();
    assert_eq!(code(bridge.replay(cut, &index, &all, &mut Recording::default()).unwrap_err()), "store");
    assert_eq!(code(bridge.samples(cut, &index, &rows, &mut |_| Ok(())).unwrap_err()), "store");
    assert_eq!(bridge.times(cut, &index, &at, &mut Vec::new()).unwrap_err().code, "store");
    assert_eq!(bridge.gather(cut, &index, &[3], |_| {}).unwrap_err().code, "store");

    // A record in the middle claims more bytes than there are.
    let mut long = store.clone();
    let size = usize::try_from(at[1]).unwrap() + 4;
    long[size..size + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = bridge.index(&long, &ReadOptions::default(), &mut Problems::default()).unwrap_err();
    assert_eq!((error.code, error.at), ("store", at[1]));
    assert_eq!(code(bridge.replay(&long, &index, &all, &mut Recording::default()).unwrap_err()), "store");
    assert_eq!(bridge.scan(&long, &index, &all, |_| {}).unwrap_err().code, "store");
}

#[test]
fn a_store_that_is_damaged_anywhere_does_not_panic() {
    let (header, calls) = log_of_everything();
    let store = packed(&header, &calls);
    let bridge = bridge("parquet");
    let all = |store: &[u8]| {
        let read = ReadOptions::default();
        let _ = bridge.records(store, &read, 0, &mut |_| ControlFlow::Continue(()));
        let Ok(index) = bridge.index(store, &read, &mut Problems::default()) else { return false };
        let within = Lookup { within: Some(Span { start: 3, end: u64::MAX }), ..Lookup::default() };
        let _ = bridge.replay(store, &index, &within, &mut Recording::default());
        let _ = bridge.scan(store, &index, &Lookup::default(), |_| {});
        true
    };
    assert!(all(&store));
    for len in (0..store.len()).step_by(3) {
        assert!(!all(&store[..len]));
    }
    for at in (0..store.len()).step_by(2) {
        for byte in [0, 0x7f, 0xff] {
            let mut store = store.clone();
            store[at] = byte;
            all(&store);
        }
    }
}

#[test]
fn a_disk_that_is_full_is_an_error_of_writing() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (header, calls) = long_log(100_000);
    let mut file = Vec::new();
    crate::write(logpose_bridges::ParquetWriter::new(&mut file, header).unwrap(), &calls, usize::MAX);
    let error =
        bridge("parquet").unpack(&file, &ReadOptions::default(), &mut Full, &mut Problems::default()).unwrap_err();
    assert!(matches!(error, logpose_bridges::UnpackError::Write(e) if e.kind() == std::io::ErrorKind::StorageFull));
}

#[test]
fn no_bytes_make_a_bridge_panic() {
    let mut seed = 7_u64;
    let mut byte = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed.to_le_bytes()[7]
    };
    let fronts: [&[u8]; 6] = [b"PAR1", b"ARROW1\0\0", b"\x89MCAP0\r\n", b"time,channel,value\n", b"{\"time\":1,", b""];
    for bridge in crate::bridges() {
        for front in fronts {
            for len in [0, 1, 8, 64, 500] {
                let mut file = front.to_vec();
                file.extend((0..len).map(|_| byte()));
                file.extend_from_slice(front);
                for salvage in [false, true] {
                    let read = ReadOptions { salvage, ..ReadOptions::default() };
                    let _ = bridge.sniff(&file);
                    let _ = bridge.unpack(&file, &read, &mut Vec::new(), &mut Problems::default());
                }
            }
        }
    }
}
