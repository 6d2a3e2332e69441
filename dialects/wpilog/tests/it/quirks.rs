//! One test for each oddity of real logs and real readers.

use logpose_core::{Confidence, FileDialect, Limits, Problems, ReadOptions, StreamError, Time};
use logpose_wpilog::{Control, Error, ErrorKind, Reader, Record, Start, Wpilog};

use crate::fixtures::drive;
use crate::support::{
    Build, Event, channels, hex, index, index_with, places, replay, replayed, rewritten, salvage, streamed, us,
};

fn key(name: &str, type_name: &str) -> (String, String) {
    (name.into(), type_name.into())
}

#[test]
fn negative_timestamps_are_signed_numbers() {
    let log = Build::new().start(1, "a", "int64", "", 5).int(1, -33_226_000_000, 1).int(1, -1, 2).int(1, 7, 3).0;
    let (index, problems) = index(&log);
    assert_eq!(problems, []);
    assert_eq!(index.range(), Some((Time::from_micros(-33_226_000_000), Time::from_micros(7))));
    assert!(index.sorted);
    assert_eq!(
        replayed(&log)[&key("a", "int64")].iter().map(|(time, _)| *time).collect::<Vec<_>>(),
        [us(-33_226_000_000), us(-1), us(7)]
    );
}

#[test]
fn short_timestamp_fields_are_never_negative() {
    let bytes = hex("60 01 00 ff ff ff ff ff ff ff");
    let record = Record::parse(&mut logpose_core::Cursor::new(&bytes, 0)).unwrap();
    assert_eq!(record.timestamp, (1 << 56) - 1);
}

#[test]
fn times_may_step_back() {
    let log = Build::new()
        .start(1, "a", "int64", "", 50)
        .start(2, "b", "int64", "", 50)
        .int(1, 10, 1)
        .int(2, 9, 1)
        .int(1, 11, 2)
        .int(2, 8, 2)
        .0;
    let (index, problems) = index(&log);
    assert_eq!(problems, []);
    assert!(!index.sorted);
    assert_eq!(
        index.channels.iter().map(|c| (c.sorted, c.first, c.last)).collect::<Vec<_>>(),
        [(true, Time::from_micros(10), Time::from_micros(11)), (false, Time::from_micros(8), Time::from_micros(9)),]
    );
}

#[test]
fn data_before_their_start_belong_to_it() {
    let log = Build::new()
        .int(1, 10, 1)
        .int(2, 11, 2)
        .int(1, 12, 3)
        .start(2, "b", "int64", "", 20)
        .start(1, "a", "int64", "m", 21)
        .int(1, 22, 4);
    let (index, problems) = index(&log.0);
    assert_eq!(problems, [("late-start", 12), ("late-start", 24)]);
    assert_eq!(channels(&index), [("b", "int64", 1, ""), ("a", "int64", 3, "m")]);
    assert_eq!(replayed(&log.0), streamed(&log.0, 1).series());
}

#[test]
fn data_before_several_starts_belong_to_the_first() {
    let log = Build::new()
        .int(1, 10, 1)
        .start(1, "a", "int64", "", 20)
        .finish(1, 21)
        .start(1, "b", "int64", "", 22)
        .int(1, 23, 2);
    let (index, _) = index(&log.0);
    assert_eq!(channels(&index), [("a", "int64", 1, ""), ("b", "int64", 1, "")]);
}

#[test]
fn a_name_that_is_started_again_is_one_channel() {
    let log = Build::new()
        .start(1, "a", "int64", "old", 1)
        .int(1, 2, 1)
        .finish(1, 3)
        .start(1, "a", "int64", "new", 4)
        .int(1, 5, 2);
    let (index, problems) = index(&log.0);
    assert_eq!(problems, []);
    assert_eq!(channels(&index), [("a", "int64", 2, "new")]);
}

#[test]
fn a_name_with_another_type_is_another_channel() {
    let log = Build::new()
        .start(1, "a", "double", "", 1)
        .double(1, 2, 1.0)
        .finish(1, 3)
        .start(1, "a", "string", "", 4)
        .data(1, 5, b"text!!!!");
    let (index, problems) = index(&log.0);
    assert_eq!(problems, []);
    assert_eq!(channels(&index), [("a", "double", 1, ""), ("a", "string", 1, "")]);
}

#[test]
fn the_last_start_of_a_live_id_counts() {
    let log = Build::new().start(1, "a", "int64", "", 1).int(1, 2, 1);
    let at = log.at();
    let log = log.start(1, "b", "int64", "", 3).int(1, 4, 2);
    let (index, problems) = index(&log.0);
    assert_eq!(problems, [("started-twice", at)]);
    assert_eq!(channels(&index), [("a", "int64", 1, ""), ("b", "int64", 1, "")]);
}

#[test]
fn metadata_are_replaced() {
    let log = Build::new()
        .start(1, "a", "int64", "one", 1)
        .int(1, 2, 1)
        .metadata(1, "two", 3)
        .int(1, 4, 2)
        .metadata(1, "", 5);
    let (index, problems) = index(&log.0);
    assert_eq!(problems, []);
    assert_eq!(channels(&index), [("a", "int64", 2, "")]);
    let events: Vec<Event> =
        replay(&log.0, &index).events.into_iter().filter(|event| !matches!(event, Event::Sample { .. })).collect();
    let metadata =
        |time, metadata: &str| Event::Metadata { key: key("a", "int64"), time: us(time), metadata: metadata.into() };
    let channel = Event::Channel { name: "a".into(), type_name: "int64".into(), metadata: "one".into() };
    assert_eq!(events, [channel, metadata(3, "two"), metadata(5, "")]);
}

#[test]
fn metadata_and_finish_of_ids_that_are_not_live_are_noted() {
    let log = Build::new().metadata(1, "x", 1);
    let second = log.at();
    let log = log.finish(2, 2).start(3, "a", "int64", "", 3).int(3, 4, 1);
    let (_, problems) = index(&log.0);
    assert_eq!(problems, [("metadata-unknown", 12), ("finish-unknown", second)]);
}

#[test]
fn metadata_in_a_data_record_of_2022_are_metadata() {
    let log = Build::new().start(1, "a", "double", "", 1).double(1, 2, 1.0);
    let at = log.at();
    let log = log.data(1, 3, &hex("02 01 00 00 00 04 00 00 00 6d 65 74 61")).double(1, 4, 2.0);
    let (index, problems) = index(&log.0);
    assert_eq!(problems, [("metadata-2022", at)]);
    assert_eq!(channels(&index), [("a", "double", 2, "meta")]);
    let events: Vec<Event> =
        replay(&log.0, &index).events.into_iter().filter(|event| matches!(event, Event::Metadata { .. })).collect();
    assert_eq!(events, [Event::Metadata { key: key("a", "double"), time: us(3), metadata: "meta".into() }]);
    let written = rewritten(&log.0);
    assert_eq!(channels(&crate::support::index(&written).0), [("a", "double", 2, "meta")], "a conversion keeps them");
}

#[test]
fn what_looks_like_metadata_of_2022_is_data_where_the_type_allows_it() {
    let payload = hex("02 01 00 00 00 04 00 00 00 6d 65 74 61");
    for type_name in ["raw", "string", "struct:Thing"] {
        let log = Build::new().start(1, "a", type_name, "", 1).data(1, 3, &payload);
        let (index, problems) = index(&log.0);
        assert_eq!((channels(&index), problems), (vec![("a", type_name, 1, "")], vec![]));
    }
}

#[test]
fn fields_may_be_wider_than_they_need_to_be() {
    let log = Build::new().start(1, "a", "int64", "", 1);
    let log = log.raw(&hex("7f 01 00 00 00 08 00 00 00 40 42 0f 00 00 00 00 00 03 00 00 00 00 00 00 00"));
    let (index, problems) = index(&log.0);
    assert_eq!((channels(&index), problems), (vec![("a", "int64", 1, "")], vec![]));
    assert_eq!(index.range(), Some((Time::from_millis(1000), Time::from_millis(1000))));
}

#[test]
fn the_spare_bit_is_ignored() {
    let log = Build::new().start(1, "a", "boolean", "", 1).raw(&hex("80 01 01 05 01"));
    let (index, problems) = index(&log.0);
    assert_eq!((channels(&index), problems), (vec![("a", "boolean", 1, "")], vec![]));
}

#[test]
fn a_zero_tail_of_any_length_is_one_problem() {
    let log = Build::new().start(1, "a", "boolean", "", 1).data(1, 2, &[1]);
    for zeros in [1, 2, 3, 4, 5, 24, 25, 4096, 4099] {
        let mut tail = log.0.clone();
        tail.resize(tail.len() + zeros, 0);
        let (index, problems) = index_with(&tail, &ReadOptions::default());
        let found: Vec<_> = problems.list().iter().map(|problem| (problem.code, problem.at, problem.length)).collect();
        assert_eq!(found, [("zero-fill", Some(log.at()), zeros as u64)]);
        assert_eq!((index.records, index.samples()), (2, 1));
        assert_eq!(index.fact("zero_bytes"), Some(&*zeros.to_string()));
    }
}

#[test]
fn a_stream_reports_a_zero_tail_once() {
    let mut log = Build::new().start(1, "a", "boolean", "", 1).data(1, 2, &[1]).0;
    let at = log.len() as u64;
    log.resize(log.len() + 4096, 0);
    assert_eq!(streamed(&log, usize::MAX >> 1).problems(), [("zero-fill", at)]);
}

#[test]
fn records_behind_a_zero_hole_on_a_record_boundary_are_read() {
    let log = Build::new().start(1, "a", "boolean", "", 1).data(1, 2, &[1]);
    let at = log.at();
    let log = log.raw(&[0; 512]).data(1, 3, &[0]);
    let (index, problems) = index(&log.0);
    assert_eq!((channels(&index), problems), (vec![("a", "boolean", 2, "")], vec![("zero-fill", at)]));
}

#[test]
fn two_live_ids_with_one_name_are_one_channel_in_the_order_of_the_file() {
    let log = Build::new()
        .start(1, "a", "int64", "", 1)
        .start(2, "a", "int64", "", 2)
        .int(1, 3, 10)
        .int(2, 4, 20)
        .int(1, 5, 30)
        .int(2, 6, 40);
    let (index, problems) = index(&log.0);
    assert_eq!(problems, []);
    assert_eq!(channels(&index), [("a", "int64", 4, "")]);
    let values: Vec<_> = replayed(&log.0)[&key("a", "int64")].iter().map(|(time, _)| *time).collect();
    assert_eq!(values, [us(3), us(4), us(5), us(6)]);
    let columns = logpose_testkit::columns(&Wpilog, &log.0);
    assert_eq!(crate::support::in_columns(&columns), replayed(&log.0));
}

#[test]
fn a_second_header_begins_a_second_log() {
    let first = Build::new().start(1, "a", "int64", "", 1).int(1, 2, 1);
    let second = Build::with_extra("AdvantageKit").start(1, "b", "int64", "", 1).int(1, 2, 1);
    let both = [&first.0[..], &second.0].concat();
    let (index, problems) = index(&both);
    assert_eq!(problems[0], ("second-header", first.at()));
    assert_eq!(channels(&index), [("a", "int64", 1, ""), ("b", "int64", 1, "")]);
    assert_eq!(salvage(&both).1[0], ("second-header", first.at()));
    for piece in [1, 7, 1000] {
        assert_eq!(streamed(&both, piece).series(), replayed(&both), "in pieces of {piece} bytes");
    }
    let mut lines = Vec::new();
    let all = Wpilog.records(&both, &ReadOptions::default(), 0, &mut |line| {
        lines.push(line.text.to_string().split(' ').next().unwrap_or_default().to_owned());
        std::ops::ControlFlow::Continue(())
    });
    all.unwrap();
    assert_eq!(lines, ["Header", "Start", "Data", "Header", "Start", "Data"]);
}

#[test]
fn a_second_header_with_a_long_text_is_one_also_in_pieces() {
    let first = Build::new().start(1, "a", "int64", "", 1).int(1, 2, 1);
    let second = Build::with_extra(&"long text ".repeat(30)).start(1, "b", "int64", "", 1).int(1, 2, 1);
    let both = [&first.0[..], &second.0].concat();
    for piece in [1, 50, 100_000] {
        assert_eq!(streamed(&both, piece).series(), replayed(&both), "in pieces of {piece} bytes");
    }
}

#[test]
fn a_log_that_ends_within_a_second_header_ends_there() {
    let first = Build::new().start(1, "a", "int64", "", 1).int(1, 2, 1);
    let second = Build::with_extra(&"long text ".repeat(30)).start(1, "b", "int64", "", 1).int(1, 2, 1);
    for end in [8, 12, 100, 300] {
        let log = [&first.0[..], &second.0[..end]].concat();
        let (index, problems) = index(&log);
        assert_eq!((index.samples(), problems), (1, vec![("truncated", first.at())]), "{end} bytes of it");
        assert_eq!(streamed(&log, 9).series(), replayed(&log));
        assert_eq!(salvage(&log).0.records, 2);
    }
}

#[test]
fn a_time_range_comes_from_data_only() {
    let log = Build::new()
        .start(1, "a", "int64", "", 1_739_210_000_000_000)
        .int(1, 10, 1)
        .int(1, 20, 2)
        .metadata(1, "m", 2_000_000_000_000_000)
        .finish(1, -5);
    assert_eq!(index(&log.0).0.range(), Some((Time::from_micros(10), Time::from_micros(20))));
}

#[test]
fn times_of_robotpy_may_all_be_zero() {
    let log = Build::new().start(1, "a", "int64", "", 0).int(1, 0, 1).int(1, 0, 2);
    let (index, problems) = index(&log.0);
    assert_eq!((index.range(), problems), (Some((Time::ZERO, Time::ZERO)), vec![]));
}

/// A claim of 4 GiB is refused before anything is allocated for it; a limit on the memory of the test would
/// show the contrary, and so does the time it would take.
#[test]
fn claims_of_4_gib_cost_nothing() {
    // The extra header.
    let mut log = Build::new().0;
    log[8..12].fill(0xff);
    let error =
        Error { at: 12, kind: ErrorKind::Truncated { what: "extra header", needed: u64::from(u32::MAX), left: 0 } };
    assert_eq!(Reader::new(&log).unwrap_err(), error);
    assert_eq!(Wpilog.index(&log, &ReadOptions::default(), &mut Problems::default()).unwrap_err().code, "truncated");
    let too_long =
        |log: &[u8]| match logpose_testkit::streamed::<logpose_testkit::Events>(&Wpilog, log, usize::MAX >> 1) {
            (events, Err(StreamError::Decode(error))) => (events, error.code, error.at),
            (_, end) => panic!("{end:?}"),
        };
    let (_, code, at) = too_long(&log);
    assert_eq!((code, at), ("too-long", 12));

    // A payload.
    let start = Build::new().start(1, "a", "string", "", 1);
    let log = start.clone().raw(&hex("0c 01 ff ff ff ff 05")).raw(b"little");
    let (found, problems) = index(&log.0);
    assert_eq!((found.records, problems), (1, vec![("truncated", start.at())]));
    let error = Reader::new(&log.0).unwrap().find_map(Result::err).unwrap();
    assert_eq!(
        error,
        Error {
            at: start.at() + 7,
            kind: ErrorKind::Truncated { what: "payload", needed: u64::from(u32::MAX), left: 6 }
        }
    );
    let (events, code, at) = too_long(&log.0);
    assert_eq!((events.events.len(), code, at), (1, "too-long", start.at()));

    // The count and the lengths of a string array.
    let log = Build::new().start(1, "a", "string[]", "", 1);
    let at = log.at();
    let log = log.data(1, 2, &hex("ff ff ff ff 00 00 00 00")).data(1, 3, &hex("01 00 00 00 ff ff ff ff"));
    let (found, problems) = index(&log.0);
    assert_eq!((found.samples(), problems.len(), problems[0]), (0, 2, ("bad-value", at)));

    // The lengths of a Start.
    for field in [5, 9 + 1, 9 + 1 + 4 + 6] {
        let mut payload = Vec::new();
        Control::Start(Start { entry: 1, name: b"a", type_name: b"double", metadata: b"", exact: true })
            .emit(&mut payload);
        payload[field..field + 4].fill(0xff);
        let log = Build::new().data(0, 1, &payload);
        let (found, problems) = index(&log.0);
        assert_eq!((channels(&found), problems), (vec![], vec![("unknown-control", 12)]));
    }
}

#[test]
fn huge_ids_are_ids_like_any_other() {
    let log = Build::new()
        .start(u32::MAX, "a", "int64", "", 1)
        .int(u32::MAX, 2, 1)
        .start(1 << 31, "b", "int64", "", 3)
        .int(1 << 31, 4, 2)
        .finish(u32::MAX, 5);
    let (index, problems) = index(&log.0);
    assert_eq!((channels(&index), problems), (vec![("a", "int64", 1, ""), ("b", "int64", 1, "")], vec![]));
}

#[test]
fn more_entries_than_allowed_are_reported_and_skipped() {
    let mut log = Build::new();
    for id in 1..=10 {
        log = log.start(id, &format!("/{id}"), "int64", "", 1).int(id, 2, 3);
    }
    log = log.finish(1, 3).start(1, "/1", "int64", "", 4).int(1, 5, 6);
    let read = ReadOptions { limits: Limits { channels: 4, ..Limits::default() }, ..ReadOptions::default() };
    let (index, problems) = index_with(&log.0, &read);
    assert_eq!(index.channels.len(), 4);
    assert!(places(&problems).iter().all(|(code, _)| *code == "too-many-entries"), "{problems:?}");
    let mut decoder = Wpilog.decoder(&read).unwrap();
    let mut collect = crate::support::Events::default();
    decoder.decode(&log.0, &mut collect).unwrap();
    assert_eq!(collect.series().len(), 4);
    let first = &collect.series()[&key("/1", "int64")];
    assert_eq!(first.len(), 2);
    let restarted = collect.problems().iter().all(|(code, _)| ["too-many-entries", "unknown-entry"].contains(code));
    assert!(restarted, "a channel that is known already can be started again: {:?}", collect.problems());
}

#[test]
fn names_that_are_not_utf8_are_shown_with_replacements_and_noted() {
    let start = |name, metadata| Control::Start(Start { entry: 1, name, type_name: b"string", metadata, exact: true });
    let log = Build::new().control(&start(b"/x\xff", b"\xc3("), 1).data(1, 2, b"ok");
    let (index, problems) = index(&log.0);
    assert_eq!(channels(&index), [("/x\u{fffd}", "string", 1, "\u{fffd}(")]);
    assert_eq!(problems, [("bad-utf8", 12), ("bad-utf8", 12)]);
}

#[test]
fn bytes_of_texts_that_are_not_utf8_are_kept() {
    let log = Build::new().start(1, "a", "string", "", 1).data(1, 2, b"ok\xff\xfebad");
    assert_eq!(replayed(&log.0)[&key("a", "string")], [(us(2), b"ok\xff\xfebad".to_vec())]);
    assert_eq!(rewritten(&log.0), Build::new().start(1, "a", "string", "", 2).data(1, 2, b"ok\xff\xfebad").0);
}

#[test]
fn values_of_the_wrong_size_are_reported_and_skipped() {
    let sizes: [(&str, &[usize], &[usize]); 10] = [
        ("boolean", &[0, 2, 8], &[1]),
        ("int64", &[0, 4, 7, 9, 16], &[8]),
        ("float", &[0, 3, 8], &[4]),
        ("double", &[0, 4, 9], &[8]),
        ("int64[]", &[1, 9], &[0, 8, 16]),
        ("float[]", &[2, 6], &[0, 4, 12]),
        ("double[]", &[4, 12], &[0, 24]),
        ("boolean[]", &[], &[0, 1, 7]),
        ("string", &[], &[0, 5]),
        ("struct:Pose2d", &[], &[0, 24, 25]),
    ];
    for (type_name, bad, good) in sizes {
        let mut log = Build::new().start(1, "a", type_name, "", 1);
        let mut expected = Vec::new();
        for size in bad {
            expected.push(("bad-value", log.at()));
            log = log.data(1, 2, &vec![1; *size]);
        }
        for size in good {
            log = log.data(1, 3, &vec![1; *size]);
        }
        let (index, problems) = index(&log.0);
        assert_eq!((index.samples(), problems), (good.len() as u64, expected), "{type_name}");
        let columns = logpose_testkit::columns(&Wpilog, &log.0);
        assert_eq!(crate::support::in_columns(&columns), replayed(&log.0), "{type_name}");
        assert_eq!(streamed(&log.0, 5).series(), replayed(&log.0), "{type_name}");
    }
}

#[test]
fn anything_but_zero_is_true() {
    let log = Build::new().start(1, "a", "boolean", "", 1).data(1, 2, &[0]).data(1, 3, &[2]);
    let (found, problems) = index(&log.0);
    assert_eq!((found.samples(), problems), (2, vec![]));
    assert_eq!(
        replayed(&log.0)[&key("a", "boolean")],
        [(us(2), vec![0]), (us(3), vec![1])],
        "written again it is 1, as writers write it"
    );
}

#[test]
fn names_and_types_may_be_empty() {
    let log = Build::new().start(1, "", "", "", 1).data(1, 2, b"x");
    let (index, problems) = index(&log.0);
    assert_eq!((channels(&index), problems), (vec![("", "", 1, "")], vec![]));
}

#[test]
fn old_spellings_of_integers_are_integers() {
    let log = Build::new().start(1, "a", "int", "", 1).int(1, 2, 7).start(2, "b", "int[]", "", 3).data(2, 4, &[0; 16]);
    let (index, _) = index(&log.0);
    assert_eq!(channels(&index), [("a", "int", 1, ""), ("b", "int[]", 1, "")], "the spelling is kept");
    assert_eq!(index.channels[0].channel.ty(), logpose_core::Type::Int64);
    assert_eq!(index.channels[1].channel.ty(), logpose_core::Type::Int64Array);
}

#[test]
fn bytes_behind_the_texts_of_a_start_are_ignored() {
    let mut payload = Vec::new();
    Control::Start(Start { entry: 1, name: b"a", type_name: b"int64", metadata: b"", exact: true }).emit(&mut payload);
    payload.extend(b"more");
    let log = Build::new().data(0, 1, &payload).int(1, 2, 3);
    let (index, problems) = index(&log.0);
    assert_eq!((channels(&index), problems), (vec![("a", "int64", 1, "")], vec![("start-too-long", 12)]));
}

#[test]
fn a_start_of_entry_0_is_no_start() {
    let log = Build::new().start(0, "a", "int64", "", 1);
    let (index, problems) = index(&log.0);
    assert_eq!((channels(&index), problems), (vec![], vec![("unknown-control", 12)]));
}

#[test]
fn a_cut_log_never_repeats_its_last_record() {
    let whole = Build::new().start(1, "a", "int64", "", 1).int(1, 2, 3);
    // With eleven bytes missing one zero byte is left, which is zero fill as far as the reader can know.
    for cut in 1..11 {
        let log = whole.clone().int(1, 4, 5).0;
        let (index, problems) = index(&log[..log.len() - cut]);
        assert_eq!((index.samples(), problems), (1, vec![("truncated", whole.at())]), "{cut} bytes are missing");
    }
}

#[test]
fn later_minor_versions_are_read_and_noted() {
    for (version, code) in [([1, 1], "version"), ([0, 2], "version"), ([0xff, 0xff], "version")] {
        let mut log = Build::new().start(1, "a", "int64", "", 1).int(1, 2, 3).0;
        log[6..8].copy_from_slice(&version);
        let (index, problems) = index(&log);
        assert_eq!((index.samples(), problems), (1, vec![(code, 6)]));
    }
}

#[test]
fn sniffing_knows_a_log_with_and_without_its_header() {
    let log = drive();
    assert_eq!(Wpilog.sniff(&log), Confidence::Yes);
    assert_eq!(Wpilog.sniff(&log[12..]), Confidence::Perhaps);
    for other in [&b""[..], b"WPILO", b"\0\0\0\0", b"MCAP0\r\n", &[0xff; 64], &[0; 64]] {
        assert_eq!(Wpilog.sniff(other), Confidence::No, "{other:02x?}");
    }
}
