//! The real logs of the shared corpus, which is not part of this repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use logpose_core::{FileDialect, Limits, Link, Problems, ReadOptions, Session, Time};
use logpose_rlog::{ErrorKind, Kind, Message, Reader, Revision, Rlog, RlogClient, seconds_of, time_of};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::kit::{Lines, column_lines, decoded, index, replayed, salvaged};

fn corpus() -> (PathBuf, Json) {
    let folder = logpose_testkit::corpus("rlog");
    let text = std::fs::read(folder.join("expected.json")).unwrap();
    (folder, serde_json::from_slice(&text).unwrap())
}

fn files(extension: &str) -> Vec<(String, Vec<u8>, Json)> {
    let (folder, expected) = corpus();
    let all: Vec<_> = expected
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| name.ends_with(extension) && !name.starts_with('_'))
        .collect();
    assert!(!all.is_empty());
    all.into_iter()
        .map(|(name, expected)| (name.clone(), std::fs::read(folder.join(name)).unwrap(), expected.clone()))
        .collect()
}

fn file(name: &str) -> (Vec<u8>, Json) {
    let (_, log, expected) = files(".rlog").into_iter().find(|(found, ..)| found == name).expect(name);
    (log, expected)
}

/// What `expected.json` says of a strict walk.
#[derive(Default)]
struct Count {
    cycles: u64,
    keys: u64,
    fields: u64,
    unknown: u64,
    nulls: u64,
    redefined: u64,
    backwards: u64,
    repeated: u64,
    max_id: u16,
    first: Option<f64>,
    last: Option<f64>,
    types: BTreeMap<String, u64>,
    names: BTreeMap<u16, (Vec<u8>, Vec<u8>)>,
    hash: Sha256,
}

fn count(reader: &mut Reader<'_>) -> (Count, Option<ErrorKind>) {
    let mut c = Count::default();
    let mut stamp = [0; 8];
    for message in reader.by_ref() {
        match message {
            Ok(Message::Timestamp { seconds }) => {
                c.cycles += 1;
                c.backwards += u64::from(c.last.is_some_and(|last| seconds < last));
                c.repeated += u64::from(c.last == Some(seconds));
                c.first.get_or_insert(seconds);
                c.last = Some(seconds);
                stamp = seconds.to_be_bytes();
            }
            Ok(Message::Key { id, name, type_name }) => {
                c.keys += 1;
                c.max_id = c.max_id.max(id);
                c.redefined +=
                    u64::from(c.names.insert(id, (name.into(), type_name.unwrap_or_default().into())).is_some());
            }
            Ok(Message::Field { key, kind, value }) => {
                c.fields += 1;
                c.nulls += u64::from(kind == Some(Kind::Null));
                let known = c.names.get(&key);
                let tag = match (kind, known) {
                    (Some(kind), _) => vec![kind.byte()],
                    (None, Some((_, type_name))) => type_name.clone(),
                    (None, None) => b"?".to_vec(),
                };
                let label =
                    kind.map_or_else(|| String::from_utf8_lossy(&tag).into_owned(), |kind| kind.byte().to_string());
                *c.types.entry(label).or_default() += 1;
                let Some((name, _)) = known else {
                    c.unknown += 1;
                    continue;
                };
                c.hash.update(u16::try_from(name.len()).unwrap().to_be_bytes());
                c.hash.update(name);
                c.hash.update(stamp);
                c.hash.update(u16::try_from(tag.len()).unwrap().to_be_bytes());
                c.hash.update(&tag);
                c.hash.update(u32::try_from(value.len()).unwrap().to_be_bytes());
                c.hash.update(value);
            }
            Err(error) => {
                if let ErrorKind::UnknownValue { key, found } = error.kind {
                    c.unknown += u64::from(!c.names.contains_key(&key));
                    *c.types.entry(found.to_string()).or_default() += 1;
                }
                return (c, Some(error.kind));
            }
        }
    }
    (c, None)
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_strict_walk_counts_what_is_expected() {
    for (name, log, expected) in files(".rlog") {
        let number = |key: &str| expected[key].as_u64().unwrap_or_else(|| panic!("{name}: {key}"));
        let mut reader = match Reader::new(&log) {
            Ok(reader) => reader,
            Err(error) => {
                assert_eq!(expected["revision"], 0, "{name}: {error}");
                assert_eq!(
                    error.kind,
                    ErrorKind::MissingRevision { guess: if name.contains("r1") { Revision::R1 } else { Revision::R2 } },
                    "{name}"
                );
                continue;
            }
        };
        let (mut c, error) = count(&mut reader);
        if let (Some(ErrorKind::Truncated { .. }), Revision::R1) = (&error, reader.revision()) {
            // The counts include the type of the value that is not whole.
            let kind = log[usize::try_from(reader.offset()).unwrap() + 3];
            *c.types.entry(kind.to_string()).or_default() += 1;
        }
        assert_eq!(u64::from(reader.revision().byte()), number("revision"), "{name}");
        let found = [
            c.cycles,
            c.keys,
            c.fields,
            c.names.len() as u64,
            c.unknown,
            c.nulls,
            c.redefined,
            c.backwards,
            c.repeated,
            c.max_id.into(),
            reader.offset(),
        ];
        let keys = [
            "cycles",
            "key_messages",
            "field_messages",
            "distinct_keys",
            "fields_with_unknown_key",
            "null_fields",
            "redefined_keys",
            "timestamps_going_backwards",
            "repeated_timestamps",
            "max_key_id",
            "consumed_bytes",
        ];
        for (key, found) in keys.into_iter().zip(found) {
            assert_eq!(found, number(key), "{name}: {key}");
        }
        assert_eq!(error.is_some(), number("trailing_bytes") > 0, "{name}");
        assert_eq!(c.first, expected["first_timestamp_s"].as_f64(), "{name}");
        assert_eq!(c.last, expected["last_timestamp_s"].as_f64(), "{name}");
        let types: BTreeMap<String, u64> = expected["value_types"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(k, v)| (k.clone(), v.as_u64().unwrap()))
            .collect();
        assert_eq!(c.types, types, "{name}");
        let hash: String = c.hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hash, expected["data_sha256"], "{name}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn index_columns_replay_and_stream_agree() {
    for (name, log, expected) in files(".rlog") {
        if expected["revision"] == 0 {
            assert_eq!(
                Rlog.index(&log, &ReadOptions::default(), &mut Problems::default()).unwrap_err().code,
                "missing-revision",
                "{name}"
            );
            continue;
        }
        let (found, problems) = index(&log);
        let replay = replayed(&log, &found);
        let columns = logpose_testkit::columns(&Rlog, &log);
        let in_columns: usize = columns.columns.iter().map(|c| c.samples()).sum();
        assert_eq!((replay.samples, in_columns as u64), (found.samples(), found.samples()), "{name}");
        assert_eq!(found.fact("cycles").unwrap(), expected["cycles"].to_string(), "{name}");
        assert_eq!(found.fact("keys").unwrap(), expected["distinct_keys"].to_string(), "{name}");
        assert_eq!(found.spans.last().unwrap().end, expected["consumed_bytes"].as_u64().unwrap(), "{name}");
        if expected["trailing_bytes"] == 0 {
            let values = expected["field_messages"].as_u64().unwrap()
                - expected["null_fields"].as_u64().unwrap()
                - expected["fields_with_unknown_key"].as_u64().unwrap();
            assert_eq!(found.samples(), values, "{name}");
            assert_ne!(problems.worst(), Some(logpose_core::Severity::Damage), "{name}: {problems:?}");
            let whole = decoded(&log, log.len());
            let pieces = decoded(&log, 1009);
            assert_eq!(whole.lines, pieces.lines, "{name}");
            assert_eq!(whole.lines, replay.lines, "{name}");
        } else {
            assert_eq!(problems.worst(), Some(logpose_core::Severity::Damage), "{name}");
        }
        let accepted = expected["advantagescope_accepts"] == true;
        let noted = problems.kinds().iter().any(|(code, ..)| code.starts_with("advantagescope"));
        assert!(!accepted || !noted || name.contains("garbage"), "{name}: {problems:?}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn timestamps_come_back_to_the_bit() {
    for (name, log, _) in files(".rlog") {
        let Ok(reader) = Reader::new(&log) else { continue };
        if name.contains("garbage") {
            continue;
        }
        for message in reader.flatten() {
            if let Message::Timestamp { seconds } = message {
                let time = time_of(seconds).unwrap();
                assert_eq!(seconds_of(time).to_bits(), seconds.to_bits(), "{name}: {seconds}");
                assert!(
                    name.contains("psikit") || name.contains("r2-") || time.nanos() % 1000 == 0,
                    "{name}: {seconds}"
                );
            }
        }
    }
}

/// What a damaged log should give back: everything of the intact one but what the damage hit.
fn check_garbage(name: &str, source: &str) {
    let ((log, expected), (intact, _)) = (file(name), file(source));
    let next = expected["next_intact_timestamp_message_offset"].as_u64().unwrap();
    let damage = expected["damage_offset"].as_u64().unwrap();
    let (found, problems) = salvaged(&log);
    let (whole, _) = index(&intact);
    let lost = problems.list().iter().find(|p| p.code == "lost-bytes").unwrap();
    println!("{name}: {} of {} samples; lost {:?}+{}", found.samples(), whole.samples(), lost.at, lost.length);
    assert!(lost.at.unwrap() + lost.length <= next, "{name}: {lost}");
    assert_eq!(found.spans.last().unwrap().end, log.len() as u64);
    let outside = |index: &logpose_core::Index| -> Vec<Vec<u64>> {
        index
            .channels
            .iter()
            .map(|c| c.positions.iter().filter(|at| *at >= next || *at + 20_000 < damage).collect())
            .collect()
    };
    assert_eq!(outside(&found), outside(&whole), "{name}");
    let columns = logpose_testkit::columns_with(&Rlog, &log, &ReadOptions { salvage: true, ..ReadOptions::default() });
    assert_eq!(columns.columns.iter().map(|c| c.samples() as u64).sum::<u64>(), found.samples());
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn everything_behind_garbage_is_recovered() {
    check_garbage("derived-r1-garbage-middle.rlog", "akit-2021-r1-robotlog.rlog");
    check_garbage("derived-r2-garbage-middle.rlog", "psikit-2025-r2-ftc.rlog");
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn truncated_logs_keep_all_whole_messages() {
    for name in ["derived-r1-truncated.rlog", "derived-r2-truncated.rlog"] {
        let (log, expected) = file(name);
        for (found, problems) in [index(&log), salvaged(&log)] {
            let nulls = expected["null_fields"].as_u64().unwrap();
            println!("{name}: {} samples", found.samples());
            assert_eq!(found.samples() + nulls, expected["field_messages"].as_u64().unwrap(), "{name}");
            let problem = problems.list().iter().find(|p| p.code == "truncated").unwrap();
            assert_eq!(
                (problem.at, problem.length),
                (expected["consumed_bytes"].as_u64(), expected["trailing_bytes"].as_u64().unwrap()),
                "{name}"
            );
        }
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn logs_without_revision_byte_are_read_when_asked() {
    let pairs = [
        ("derived-r1-norevision.rlog", "akit-2021-r1-robotlog.rlog", 1),
        ("akit-2021-r1-robotlog-norevision.rlog", "akit-2021-r1-robotlog.rlog", 1),
        ("derived-r2-norevision.rlog", "psikit-2025-r2-ftc.rlog", 2),
    ];
    for (name, source, revision) in pairs {
        let ((log, _), (intact, _)) = (file(name), file(source));
        let (whole, _) = index(&intact);
        let expected = replayed(&intact, &whole).lines;
        for read in [
            ReadOptions { revision: Some(revision), ..ReadOptions::default() },
            ReadOptions { salvage: true, ..ReadOptions::default() },
        ] {
            let mut problems = Problems::default();
            let found = Rlog.index(&log, &read, &mut problems).unwrap();
            println!("{name}: {} samples of {}", found.samples(), whole.samples());
            assert_eq!(replayed(&log, &found).lines, expected, "{name}");
            assert_eq!(problems.kinds()[0].0, "missing-revision");
            let columns = logpose_testkit::columns_with(&Rlog, &log, &read);
            assert_eq!(column_lines(&columns), column_lines(&logpose_testkit::columns(&Rlog, &intact)));
        }
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_tail_without_keys_is_whole_behind_its_head() {
    let (folder, expected) = corpus();
    let head = std::fs::read(folder.join("tervay-2022-r1-head.rlog")).unwrap();
    let tail = std::fs::read(folder.join("tervay-2022-r1-tail-headerless.rlog")).unwrap();
    let expected = &expected["_pairs"]["tervay-2022-r1-head.rlog + tervay-2022-r1-tail-headerless.rlog"];

    let (found, problems) = salvaged(&tail);
    let unknown: u64 =
        problems.kinds().iter().filter(|(code, ..)| *code == "unknown-key").map(|(.., count)| count).sum();
    println!("tail alone: {} samples, {unknown} unknown keys, {} messages", found.samples(), found.records);
    assert_eq!((found.samples(), found.fact("revision")), (0, Some("1")));
    assert!(unknown > 0);

    let whole = [head, tail].concat();
    let (found, problems) = index(&whole);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(found.fact("cycles").unwrap(), expected["cycles"].to_string());
    assert_eq!(found.samples(), expected["field_messages"].as_u64().unwrap());
    assert_eq!(
        found.range().map(|(a, b)| (a.seconds(), b.seconds())),
        Some((expected["first_timestamp_s"].as_f64().unwrap(), expected["last_timestamp_s"].as_f64().unwrap()))
    );
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn intact_logs_are_salvaged_whole() {
    for (name, log, expected) in files(".rlog") {
        if expected["revision"] == 0 || expected["trailing_bytes"] != 0 {
            continue;
        }
        let (plain, _) = index(&log);
        let (salvage, problems) = salvaged(&log);
        assert_eq!(salvage.samples(), plain.samples(), "{name}: {problems:?}");
        assert_ne!(problems.worst(), Some(logpose_core::Severity::Damage), "{name}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn streams_are_decoded_by_the_client() {
    for (name, stream, expected) in files(".stream") {
        let mut all = Vec::new();
        for step in [stream.len(), 1, 977] {
            let mut client = RlogClient::new(Limits::default());
            let mut sink = Lines::default();
            client.handle_open(Time::ZERO, Link(0));
            for piece in stream.chunks(step) {
                client.handle_input(Time::ZERO, Link(0), piece, &mut sink).unwrap();
            }
            let stats = client.stats();
            assert!(client.is_connected(), "{name}: {:?}", sink.problems);
            assert_eq!(stats.frames, expected["frames"].as_u64().unwrap(), "{name}");
            assert_eq!(stats.keep_alives, expected["keepalive_frames"].as_u64().unwrap(), "{name}");
            assert_eq!(stats.cycles, expected["cycle_frames"].as_u64().unwrap() + 1, "{name}");
            assert!(sink.problems.is_empty(), "{name}: {:?}", sink.problems);
            all.push(sink.lines);
        }
        assert_eq!(all[0], all[1], "{name}");
        assert_eq!(all[0], all[2], "{name}");
        // The last values of the file are those of the stream.
        let (log, _) = file(&name.replace(".stream", ".rlog"));
        let (found, _) = index(&log);
        let whole = replayed(&log, &found).lines;
        assert_eq!(whole[whole.len() - 5000..], all[0][all[0].len() - 5000..], "{name}");
    }
}
