//! What is recorded is what was said, in files that are whole at every instant. Time is simulated.

use std::path::{Path, PathBuf};

use logpose::frc::{Facts, Match};
use logpose::{ConvertOptions, Format, Log, OpenOptions, Quiet, convert};
use logpose_core::{Channel, Sample, Sink, Time, Value};
use logpose_live::recorder::{Epoch, RecordError, RecordOptions, RecordStats, Recorder, SplitBy};
use logpose_live::{Batch, Output};

use crate::source::{Contents, at, batch, contents, cycle, hello, joined, open, put, read, read_now, said};

/// Formats that say everything that a robot says.
const LOGS: [&str; 3] = ["match.wpilog", "match.rlog", "match.mcap"];
const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;

fn no_limit() -> RecordOptions {
    RecordOptions { keep_free: 0, ..RecordOptions::default() }
}

/// The robot's cycles, 20 ms each.
fn cycles(from_ms: i64, to_ms: i64) -> Vec<Batch> {
    let mut all = if from_ms == 0 { vec![hello(0)] } else { Vec::new() };
    all.extend((from_ms..to_ms).step_by(20).map(cycle));
    all
}

/// Records batches with a tick after each, and returns how it stood at the end.
fn record(path: &Path, options: RecordOptions, batches: &[Batch]) -> RecordStats {
    let mut recorder = Box::new(Recorder::create(path, options).unwrap());
    let watch = recorder.watch();
    for batch in batches {
        recorder.take(batch).unwrap();
        recorder.tick(batch.received).unwrap();
    }
    recorder.finish().unwrap();
    watch.stats()
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn names(stats: &RecordStats) -> Vec<String> {
    stats.files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The contents without what a file repeats at its beginning: the first sample of each channel.
fn without_first(contents: Contents) -> Contents {
    let rest = contents.into_iter().map(|(channel, samples)| (channel, samples[1..].to_vec()));
    rest.filter(|(_, samples)| !samples.is_empty()).collect()
}

#[test]
fn what_was_said_is_what_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let batches = cycles(0, 2000);
    for name in LOGS {
        let path = folder.path().join(name);
        let stats = record(&path, no_limit(), &batches);
        assert_eq!(read(&path), said(&batches), "{name}");
        assert_eq!((stats.samples, stats.channels, stats.late), (801, 10, 0));
        assert_eq!((stats.bytes, names(&stats)), (std::fs::metadata(&path).unwrap().len(), vec![name.to_owned()]));
        assert_eq!(stats.last_flush, Some(at(1980)));
        let silent = open(&path).channel("/Drive/Silent");
        assert_eq!(silent.is_some(), !name.ends_with("rlog"), "RLOG has no channels without samples");
    }
}

#[test]
fn rows_of_text_are_those_of_a_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let batches = cycles(0, 400);
    let log = folder.path().join("match.wpilog");
    record(&log, no_limit(), &batches);
    for (name, format) in [("match.csv", Format::CSV), ("match.ndjson", Format::NDJSON)] {
        let path = folder.path().join(name);
        let stats = record(&path, no_limit(), &batches);
        assert_eq!(stats.samples, 161);
        let mut converted = Vec::new();
        let to = logpose::Output::Stream(&mut converted);
        convert(&[open(&log)], Vec::new(), &format, to, &ConvertOptions::default(), &Quiet).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), String::from_utf8(converted).unwrap(), "{name}");
    }
}

#[test]
fn after_every_flush_the_file_is_whole_and_has_all_up_to_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in LOGS {
        let path = folder.path().join(name);
        let mut recorder = Box::new(Recorder::create(&path, no_limit()).unwrap());
        let watch = recorder.watch();
        assert_eq!(read_now(&path), Contents::new(), "{name}: before anything was said");
        let batches = cycles(0, 3000);
        let (mut flushes, mut unflushed) = (0, 0);
        for (count, batch) in batches.iter().enumerate() {
            let before = watch.stats().bytes;
            recorder.take(batch).unwrap();
            recorder.tick(batch.received).unwrap();
            let bytes = watch.stats().bytes;
            assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
            unflushed += 20;
            if bytes > before {
                assert_eq!(read_now(&path), said(&batches[..=count]), "{name}");
                (flushes, unflushed) = (flushes + 1, 0);
            }
            assert!(unflushed <= 250, "{name}: {unflushed} ms are not in the file");
        }
        assert!((12..=20).contains(&flushes), "{name}: {flushes} flushes in 3 s");
        recorder.finish().unwrap();
        assert_eq!(read(&path), said(&batches));
    }
}

#[test]
fn a_flush_waits_for_no_further_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let mut recorder = Recorder::create(&path, no_limit()).unwrap();
    recorder.take(&hello(0)).unwrap();
    let watch = recorder.watch();
    for ms in (0..200).step_by(50) {
        recorder.tick(at(ms)).unwrap();
        assert_eq!(watch.samples(), 0, "{ms}");
    }
    recorder.tick(at(249)).unwrap();
    assert_eq!(watch.samples(), 1);
}

#[test]
fn a_recorder_that_is_dropped_closes_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let batches = cycles(0, 100);
    let mut recorder = Recorder::create(&path, no_limit()).unwrap();
    batches.iter().for_each(|batch| recorder.take(batch).unwrap());
    drop(recorder);
    assert_eq!(read(&path), said(&batches));
}

#[test]
fn ends_and_metadata_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let mut batches = cycles(0, 100);
    let mut change = batch(100);
    change.metadata(0, at(100), "faster").unwrap();
    change.end(1, at(100)).unwrap();
    batches.push(change);
    batches.push(cycle(120));
    record(&path, no_limit(), &batches);
    let log = open(&path);
    assert_eq!(contents(&log), said(&batches));
    let speed = log.channel("/Drive/Speed").unwrap() as usize;
    assert_eq!(log.index.channels[speed].channel.metadata, "faster");
    let mut dump = String::new();
    let mut line = |record: logpose_core::RecordLine<'_>| {
        dump.push_str(&format!("{}\n", record.text));
        std::ops::ControlFlow::Continue(())
    };
    log.dialect().records(log.bytes(), log.how(), 0, &mut line).unwrap();
    assert_eq!(dump.matches("Finish").count() + dump.matches("finish").count(), 1, "{dump}");
}

#[test]
fn a_source_that_comes_back_is_the_same_channels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let batches = [hello(0), cycle(20), hello(1000), cycle(1020)];
    record(&path, no_limit(), &batches);
    let log = open(&path);
    assert_eq!(contents(&log), said(&batches));
    assert_eq!((log.index.channels.len(), log.problems.is_empty()), (10, true), "{:?}", log.problems);
}

#[test]
fn rlog_puts_a_flush_in_order_and_counts_what_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.rlog");
    let mut said = batch(0);
    said.channel(0, &Channel::new("/A", "int64")).unwrap();
    said.channel(1, &Channel::new("/B", "int64")).unwrap();
    // Two robots, of which the second one is 30 ms behind; then a step back of a second.
    let mut batches = vec![said];
    for ms in (1000..2000).step_by(20) {
        let mut said = batch(ms);
        put(&mut said, 0, ms, Value::Int64(ms));
        put(&mut said, 1, ms - 30, Value::Int64(ms));
        batches.push(said);
    }
    let mut back = batch(2500);
    put(&mut back, 0, 900, Value::Int64(-1));
    batches.push(back);
    let stats = record(&path, no_limit(), &batches);
    let log = open(&path);
    assert!(log.index.sorted);
    let found = contents(&log);
    let values = |name: &str| -> Vec<(i64, i64)> {
        let samples = &found[&(name.to_owned(), "int64".to_owned())];
        samples.iter().map(|(us, bytes)| (us / 1000, i64::from_le_bytes(bytes[..].try_into().unwrap()))).collect()
    };
    let (a, b) = (values("/A"), values("/B"));
    assert_eq!((a.len(), b.len()), (51, 50), "nothing is lost");
    assert_eq!(a[..49], (1000..1980).step_by(20).map(|ms| (ms, ms)).collect::<Vec<_>>());
    assert_eq!(a[49..], [(1960, -1), (1980, 1980)], "behind what was written before the flush that it came in");
    let late = b.iter().filter(|(time, value)| *time != value - 30).count() as u64;
    assert!((1..=10).contains(&late), "only around flushes: {late}");
    assert_eq!(stats.late, late + 1);
    let codes: Vec<_> = stats.problems.kinds().iter().map(|(code, ..)| *code).collect();
    assert!(codes.contains(&"late"), "{codes:?}");
}

#[test]
fn what_a_format_cannot_hold_is_left_out_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.rlog");
    let mut said = batch(0);
    said.channel(0, &Channel::new("/Image", "raw")).unwrap();
    said.channel(1, &Channel::new("/Count", "int64")).unwrap();
    put(&mut said, 0, 10, Value::Bytes(&[1; 40_000]));
    put(&mut said, 1, 10, Value::Int64(7));
    put(&mut said, 5, 10, Value::Int64(7));
    let stats = record(&path, no_limit(), &[said]);
    assert_eq!(stats.samples, 1);
    let kinds: Vec<_> = stats.problems.kinds().iter().map(|(code, _, count)| (*code, *count)).collect();
    assert_eq!(kinds, [("undeclared", 1), ("refused", 1)]);
    assert_eq!(read(&path).len(), 1);
}

#[test]
fn a_batch_is_written_without_the_samples_that_its_format_refuses() {
    let folder = tempfile::tempdir().unwrap();
    for place in 0..=3 {
        let mut files = Vec::new();
        for (name, with_bad, one_by_one) in [("one", false, true), ("good", false, false), ("bad", true, false)] {
            let path = folder.path().join(format!("{name}-{place}.rlog"));
            let mut said = batch(0);
            said.channel(0, &Channel::new("/Image", "raw")).unwrap();
            said.channel(1, &Channel::new("/Count", "int64")).unwrap();
            let mut batches = vec![said];
            for nth in 0..=3 {
                if one_by_one {
                    batches.push(batch(nth));
                }
                let last = batches.last_mut().unwrap();
                if with_bad && nth == place {
                    put(last, 0, 10 + nth, Value::Bytes(&[1; 40_000]));
                }
                if nth < 3 {
                    put(last, 1, 10 + nth, Value::Int64(nth));
                }
            }
            let stats = record(&path, no_limit(), &batches);
            assert_eq!(stats.samples, 3);
            let refused = stats.problems.kinds().iter().find(|(code, ..)| *code == "refused").map(|(.., count)| *count);
            assert_eq!(refused, with_bad.then_some(1));
            files.push(std::fs::read(&path).unwrap());
        }
        assert!(files.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn files_split_by_size_stand_alone() {
    let folder = tempfile::tempdir().unwrap();
    for name in LOGS {
        let path = folder.path().join(name);
        let batches = cycles(0, 4000);
        // The summary of MCAP comes on top.
        let (size, most) = if name.ends_with("mcap") { (12_000, 30_000) } else { (6_000, 7_000) };
        let split = Some(SplitBy::Size(size));
        let stats = record(&path, RecordOptions { split, ..no_limit() }, &batches);
        assert_eq!(stats.samples, 1601);
        assert!((3..=6).contains(&stats.files.len()), "{:?}", stats.files);
        assert_eq!(names(&stats)[1], name.replace('.', "_002."));
        let sizes: Vec<u64> = stats.files.iter().map(|path| std::fs::metadata(path).unwrap().len()).collect();
        assert!(sizes.iter().all(|size| *size < most), "{sizes:?}");
        assert_eq!(stats.bytes, sizes.iter().sum::<u64>());
        let mut all = read(&path);
        for (before, further) in stats.files.iter().zip(&stats.files[1..]) {
            let (before, found) = (read(before), read(further));
            let start = before.values().filter_map(|samples| samples.last()).map(|(us, _)| *us).max().unwrap();
            for (channel, samples) in &found {
                let last = &before[channel].last().unwrap().1;
                assert_eq!(samples[0], (start, last.clone()), "{channel:?} begins with its last value");
            }
            assert_eq!(found.len(), before.len());
            all = joined(all, without_first(found));
        }
        assert_eq!(all, said(&batches), "{name}");
    }
}

#[test]
fn a_further_file_begins_with_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let split = Some(SplitBy::Time(SECOND));
    record(&path, RecordOptions { split, ..no_limit() }, &cycles(0, 1500));
    let log = open(&folder.path().join("match_002.wpilog"));
    let first = log.index.channels.iter().filter(|c| c.samples > 0).min_by_key(|c| c.positions.iter().next()).unwrap();
    assert_eq!(first.channel.name, "/.schema/struct:Point");
    let pose = log.channel("/Drive/Pose").unwrap();
    assert!(log.schemas().registry().decoder(&log.index.channels[pose as usize].channel.type_name).is_ok());
    assert!(log.channel("/Drive/Silent").is_some());
    assert_eq!(log.index.channels[log.channel("/Drive/Speed").unwrap() as usize].channel.metadata, r#"{"unit":"m/s"}"#);
}

#[test]
fn files_split_by_time_begin_when_something_comes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    std::fs::write(folder.path().join("match_003.wpilog"), "of another day").unwrap();
    let mut batches = cycles(0, 2500);
    batches.extend(cycles(60_000, 60_100));
    let split = Some(SplitBy::Time(SECOND));
    let stats = record(&path, RecordOptions { split, ..no_limit() }, &batches);
    let expected = ["match.wpilog", "match_002.wpilog", "match_004.wpilog", "match_005.wpilog"];
    assert_eq!(names(&stats), expected, "a minute of silence makes no files, and no file is touched");
    assert_eq!(std::fs::read(folder.path().join("match_003.wpilog")).unwrap(), b"of another day");
    let parts: Vec<Contents> = stats.files.iter().map(|path| read(path)).collect();
    let all = parts[1..].iter().fold(parts[0].clone(), |all, part| joined(all, without_first(part.clone())));
    assert_eq!(all, said(&batches));
}

#[test]
fn a_robot_that_was_switched_off_and_on_goes_on_in_another_file() {
    for name in LOGS {
        let folder = tempfile::tempdir().unwrap();
        // The second life is received later, at times that begin anew.
        let mut first = cycles(60_000, 62_000);
        first.insert(0, hello(60_000));
        let mut second = cycles(1_000, 3_000);
        second.insert(0, hello(1_000));
        second.iter_mut().for_each(|batch| batch.received = batch.received.plus(90_000_000_000));
        let all: Vec<Batch> = first.iter().chain(&second).cloned().collect();
        let stats = record(&folder.path().join(name), no_limit(), &all);
        assert_eq!((stats.files.len(), stats.late), (2, 0), "{name}: {:?}", stats.files);
        assert_eq!(read(&stats.files[0]), said(&first), "{name}");
        assert_eq!(read(&stats.files[1]), said(&second), "{name}");
    }
}

#[test]
fn old_values_of_a_robot_whose_clock_is_known_are_no_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut batches = cycles(60_000, 60_200);
    batches.insert(0, hello(60_000));
    batches.extend(cycles(1_000, 1_020));
    batches.extend(cycles(60_200, 60_400));
    batches.iter_mut().for_each(|batch| batch.clock_offset = Some(5_000_000_000));
    let stats = record(&folder.path().join("match.wpilog"), no_limit(), &batches);
    assert_eq!(stats.files.len(), 1);
}

#[test]
fn a_channel_that_has_ended_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let mut batches = cycles(0, 500);
    let mut end = batch(500);
    end.end(0, at(500)).unwrap();
    end.metadata(1, at(500), "counted").unwrap();
    batches.push(end);
    let mut last = batch(1500);
    put(&mut last, 1, 1500, Value::Int64(5));
    batches.push(last);
    record(&path, RecordOptions { split: Some(SplitBy::Time(SECOND)), ..no_limit() }, &batches);
    let log = open(&folder.path().join("match_002.wpilog"));
    let channel = |name: &str| &log.index.channels[log.channel(name).unwrap() as usize];
    assert_eq!(channel("/Drive/Speed").samples, 0);
    assert_eq!((channel("/Drive/Count").samples, &*channel("/Drive/Count").channel.metadata), (2, "counted"));
}

fn match_info(ms: i64, event: &str, kind: i64, number: i64) -> Batch {
    let mut said = batch(ms);
    put(&mut said, 0, ms, Value::String(event.as_bytes()));
    put(&mut said, 1, ms, Value::Int64(kind));
    put(&mut said, 2, ms, Value::Int64(number));
    said
}

#[test]
fn every_match_has_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day.wpilog");
    let mut first = batch(0);
    for (id, name) in (0..).zip(["EventName", "MatchType", "MatchNumber"]) {
        let type_name = if id == 0 { "string" } else { "int64" };
        first.channel(id, &Channel::new(format!("/FMSInfo/{name}"), type_name)).unwrap();
    }
    let mut halves = [batch(20_000), batch(20_060)];
    put(&mut halves[0], 1, 20_000, Value::Int64(2));
    put(&mut halves[1], 2, 20_060, Value::Int64(12));
    let [kind, number] = halves;
    let batches = [
        first,
        match_info(1_000, "", 0, 0),
        match_info(10_000, "DEMO", 1, 3),
        match_info(11_000, "DEMO", 1, 3),
        // The field lets go of the robot: that is no other match.
        match_info(15_000, "", 0, 0),
        match_info(16_000, "DEMO", 1, 3),
        // Another kind and another number, one after the other: that is one match.
        kind,
        number,
        match_info(21_000, "DEMO", 2, 12),
        match_info(30_000, "DEMO", 2, 13),
        match_info(31_000, "DEMO", 2, 13),
        match_info(40_000, "DEMO", 2, 12),
        match_info(41_000, "DEMO", 2, 12),
        match_info(50_000, "OTHER", 2, 12),
        match_info(51_000, "OTHER", 2, 12),
    ];
    let mut recorder =
        Box::new(Recorder::create(&path, RecordOptions { split: Some(SplitBy::Match), ..no_limit() }).unwrap());
    let watch = recorder.watch();
    let mut now = 0;
    for batch in &batches {
        while at(now) < batch.received {
            recorder.tick(at(now)).unwrap();
            now += 50;
        }
        recorder.take(batch).unwrap();
    }
    recorder.finish().unwrap();
    let expected =
        ["day.wpilog", "day_P3.wpilog", "day_Q12.wpilog", "day_Q13.wpilog", "day_Q12_002.wpilog", "day_Q12_003.wpilog"];
    let stats = watch.stats();
    assert_eq!(names(&stats), expected);
    let found = Match::of(&open(&stats.files[2])).unwrap();
    assert_eq!((found.event.as_deref(), found.number), (Some("DEMO"), Some(12)));
}

#[test]
fn a_ring_keeps_the_last_segments() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["wpilog", "rlog", "mcap"] {
        let path = folder.path().join(format!("match.{extension}"));
        let mut batches = cycles(0, 20);
        batches.extend((100..30_000).step_by(100).map(cycle));
        let stats = record(&path, RecordOptions { ring_ns: Some(10 * SECOND), ..no_limit() }, &batches);
        let kept = names(&stats);
        assert_eq!(kept.len(), 11, "{kept:?}");
        assert_eq!(kept[10], format!("match.ring-0030.{extension}"));
        assert!(!path.exists());
        assert_eq!(stats.samples, said(&batches).values().map(Vec::len).sum::<usize>() as u64);
        let sizes: u64 = stats.files.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
        assert_eq!(stats.bytes, sizes);
        for path in &stats.files {
            let found = read(path);
            assert_eq!(found.len(), 9, "each segment has all channels");
        }
        let speed = |path: &PathBuf| read(path).remove(&("/Drive/Speed".to_owned(), "double".to_owned())).unwrap();
        let oldest = speed(&stats.files[0])[1].0;
        assert!(oldest <= 20_000_000 && oldest > 18_000_000, "{oldest}");

        // Another recording of the same name leaves them alone.
        let again = record(&path, RecordOptions { ring_ns: Some(10 * SECOND), ..no_limit() }, &cycles(0, 100));
        assert_eq!(names(&again), [format!("match.ring-0031.{extension}")]);
        assert_eq!(again.problems.kinds()[0].0, "earlier-segments");
        assert!(stats.files.iter().all(|path| path.exists()));
    }
}

/// Fires when `/Drive/Count` passes one of these times.
fn at_times(times_ms: &'static [i64]) -> Option<Box<dyn logpose_live::Trigger>> {
    let mut next = times_ms;
    Some(Box::new(move |batch: &Batch| {
        let (first, rest) = next.split_first()?;
        if batch.received < at(*first) {
            return None;
        }
        next = rest;
        Some(at(*first))
    }))
}

fn range_ms(contents: &Contents) -> (i64, i64) {
    let samples = &contents[&("/Drive/Speed".to_owned(), "double".to_owned())];
    (samples[0].0 / 1000, samples.last().unwrap().0 / 1000)
}

#[test]
fn an_event_has_what_was_before_and_after_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in LOGS {
        let path = folder.path().join(name);
        let batches = cycles(0, 20_000);
        let trigger = at_times(&[5_000, 10_000, 11_500, 12_400]);
        let options = RecordOptions { trigger, pre_ns: 2 * SECOND, post_ns: SECOND, ..no_limit() };
        let stats = record(&path, options, &batches);
        let of = |tail: &str| name.replace('.', &format!("_event-{tail}."));
        assert_eq!(names(&stats), [of("001"), of("002"), of("003")]);
        assert!(!path.exists());
        let expected = [(2_980, 6_000), (7_980, 11_000), (9_480, 13_400)];
        for (path, (first, last)) in stats.files.iter().zip(expected) {
            let found = read(path);
            assert_eq!(range_ms(&found), (first, last), "the state before, and all up to the end");
            let wanted = said(
                std::iter::once(&hello(0))
                    .chain(batches.iter().filter(|batch| batch.received > at(first) && batch.received <= at(last))),
            );
            let wanted: Contents = wanted.into_iter().filter(|((name, _), _)| !name.starts_with("/.schema")).collect();
            let mut rest = without_first(found.clone());
            rest.remove(&("/.schema/struct:Point".to_owned(), "structschema".to_owned()));
            assert_eq!(rest, wanted);
            assert_eq!(found.len(), 9, "with the schema, which came long before");
        }
    }
}

#[test]
fn an_event_before_there_was_enough_has_what_there_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let batches = cycles(0, 200);
    let stats = record(&path, RecordOptions { trigger: at_times(&[100]), ..no_limit() }, &batches);
    assert_eq!(read(&stats.files[0]), said(&batches), "and it ends with the recording");
}

#[test]
fn what_an_event_may_ask_for_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let options = RecordOptions { trigger: at_times(&[10_000]), memory: 20_000, ..no_limit() };
    let stats = record(&path, options, &cycles(0, 20_000));
    let (first, last) = range_ms(&read(&stats.files[0]));
    assert!(first > 8_000 && first < 10_000, "{first}");
    assert_eq!(last, 15_000);
    assert_eq!(stats.problems.kinds()[0].0, "event-cut");
}

#[test]
fn a_ring_and_events_go_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let options = RecordOptions { trigger: at_times(&[1_000]), ring_ns: Some(20 * SECOND), ..no_limit() };
    let stats = record(&path, options, &cycles(0, 3_000));
    assert_eq!(names(&stats), ["match.ring-0001.wpilog", "match_event-001.wpilog", "match.ring-0002.wpilog"]);
    stats.files.iter().for_each(|path| assert_eq!(read(path).len(), 9));
}

#[test]
fn an_existing_file_is_never_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    std::fs::write(&path, "precious").unwrap();
    let error = Recorder::create(&path, no_limit()).unwrap_err();
    assert!(matches!(error, RecordError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(files(folder.path()), ["match.wpilog"]);
}

#[test]
fn a_file_is_replaced_once_the_new_one_has_samples() {
    let folder = tempfile::tempdir().unwrap();
    for name in LOGS {
        let path = folder.path().join(name);
        std::fs::write(&path, "precious").unwrap();
        let mut recorder = Box::new(Recorder::create(&path, RecordOptions { force: true, ..no_limit() }).unwrap());
        let watch = recorder.watch();
        let batches = cycles(0, 1000);
        let mut replaced = 0;
        for batch in &batches {
            recorder.take(batch).unwrap();
            recorder.tick(batch.received).unwrap();
            if watch.samples() == 0 {
                assert_eq!(std::fs::read(&path).unwrap(), b"precious");
            } else {
                replaced += 1;
                assert!(!read_now(&path).is_empty());
                assert_eq!(names(&watch.stats()), [name]);
            }
        }
        assert!(replaced > 10);
        recorder.finish().unwrap();
        assert_eq!(read(&path), said(&batches));
    }
    assert_eq!(files(folder.path()), LOGS.iter().rev().copied().collect::<Vec<_>>());
}

#[test]
fn a_recording_of_nothing_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    std::fs::write(&path, "precious").unwrap();
    let stats = record(&path, RecordOptions { force: true, ..no_limit() }, &[]);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!((files(folder.path()), names(&stats)), (vec!["match.wpilog".to_owned()], vec![]));
    assert_eq!((stats.problems.kinds()[0].0, stats.bytes), ("not-replaced", 0));
    // With no file before, an empty recording is a recording.
    let path = folder.path().join("other.wpilog");
    record(&path, RecordOptions { force: true, ..no_limit() }, &[]);
    assert_eq!(read(&path), Contents::new());
}

#[test]
fn places_that_take_no_recording_say_why() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("dir.wpilog")).unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let check = |name: &str, sentence: &str| {
        let error = Recorder::create(&folder.path().join(name), no_limit()).unwrap_err();
        let text = format!("{error}; {}", error.help().unwrap_or_default());
        assert!(text.contains(sentence), "{name}: {text}");
    };
    check("dir.wpilog", "is a directory; use a file in it");
    check("no/match.wpilog", "no: no such folder; create it first");
    check("file/match.wpilog", "no such folder");
    check(
        "match.wpilog.gz",
        "a compressed file (gz) is incomplete until it is closed, so it cannot be recorded; record to .wpilog or .mcap",
    );
    check(
        "match.parquet",
        "parquet files are incomplete until they are closed, so they cannot be recorded; record to .wpilog or .mcap",
    );
    check("match.arrow", "arrow files are incomplete until they are closed");
    check("match.rec", "CARLA recordings contain traffic");
    check("match.docx", "unknown output format");
    check("match", "unknown output format");
    assert_eq!(files(folder.path()), ["dir.wpilog", "file"], "nothing is left behind");

    let huge = RecordOptions { keep_free: u64::MAX, ..RecordOptions::default() };
    let error = Recorder::create(&folder.path().join("match.wpilog"), huge).unwrap_err();
    assert!(matches!(error, RecordError::NoSpace { .. }), "{error}");
    let both = RecordOptions { split: Some(SplitBy::Match), ring_ns: Some(1), ..no_limit() };
    assert!(matches!(Recorder::create(&folder.path().join("match.wpilog"), both), Err(RecordError::Usage(_))));
    assert_eq!(files(folder.path()), ["dir.wpilog", "file"]);
}

#[test]
fn the_wall_clock_time_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let epoch_ns = 1_773_000_000 * SECOND;
    let epochs = [("known", Epoch::Known(epoch_ns)), ("received", Epoch::Received)];
    let all = epochs.into_iter().flat_map(|(name, epoch)| ["wpilog", "mcap"].map(|ending| (name, ending, epoch)));
    for (name, ending, epoch) in all {
        let name = format!("{name}.{ending}");
        let path = folder.path().join(&name);
        let split = Some(SplitBy::Time(SECOND));
        let mut batches = cycles(0, 1500);
        // First come channels alone, which carry no time.
        let mut declared = batch(0);
        hello(0).channels().for_each(|(id, channel)| declared.channel(id, channel).unwrap());
        batches.insert(0, declared);
        batches.iter_mut().for_each(|batch| batch.received = batch.received.plus(epoch_ns));
        let stats = record(&path, RecordOptions { epoch, split, ..no_limit() }, &batches);
        assert_eq!((stats.files.len(), stats.samples), (2, 601));
        for path in &stats.files {
            let log = open(path);
            assert_eq!(log.epoch_ns(), Some(epoch_ns), "{name}");
            if ending == "wpilog" {
                assert_eq!(Facts::of(&log).writer.as_deref(), Some("logpose"));
                assert_eq!(log.index.channels[log.channel("systemTime").unwrap() as usize].samples, 1);
            }
        }
        let mut found = read(&path);
        found.remove(&("systemTime".to_owned(), "int64".to_owned()));
        assert_eq!(found, said(batches.iter().take(52)), "{name}");
    }
}

#[test]
fn a_source_with_the_wall_clock_time_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let system_time = |id: u32, ms: i64| {
        let mut said = batch(ms);
        said.channel(id, &Channel::new("systemTime", "int64")).unwrap();
        put(&mut said, id, ms, Value::Int64(1_700_000_000_000_000 + ms * 1000));
        said
    };
    // It comes before all else, or when ours is there already.
    let early = [hello(0), system_time(10, 10), cycle(20)];
    let late = [hello(0), cycle(20), system_time(10, 900), cycle(920)];
    for (name, batches, ours) in [("early.wpilog", &early[..], 1), ("late.wpilog", &late[..], 1)] {
        let path = folder.path().join(name);
        let stats = record(&path, RecordOptions { epoch: Epoch::Known(5 * SECOND), ..no_limit() }, batches);
        assert!(stats.problems.is_empty(), "{:?}", stats.problems);
        let log = open(&path);
        assert!(log.problems.is_empty(), "{:?}", log.problems);
        let samples = &contents(&log)[&("systemTime".to_owned(), "int64".to_owned())];
        assert_eq!(samples.len(), 1 + ours, "{name}");
    }
}

#[test]
fn times_finer_than_the_format_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let mut said = batch(0);
    said.channel(0, &Channel::new("/A", "int64")).unwrap();
    let sample = Sample { channel: 0, time: Time::from_nanos(1_001), value: Value::Int64(1) };
    Sink::samples(&mut said, &[sample]).unwrap();
    let stats = record(&path, no_limit(), &[said]);
    assert_eq!(stats.problems.kinds()[0].0, "times-rounded");
}

#[test]
fn bursts_do_not_wait_for_the_flush_interval() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.wpilog");
    let mut recorder = Recorder::create(&path, no_limit()).unwrap();
    let watch = recorder.watch();
    recorder.take(&hello(0)).unwrap();
    let text = vec![b'x'; 100_000];
    for _ in 0..30 {
        let mut said = batch(1);
        put(&mut said, 2, 1, Value::String(&text));
        recorder.take(&said).unwrap();
    }
    assert!(watch.samples() >= 20, "memory is bounded: {}", watch.samples());
}

#[test]
fn the_file_opens_under_any_name_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("match.rlog");
    let mut recorder = Recorder::create(&path, no_limit()).unwrap();
    for batch in cycles(0, 1000) {
        recorder.take(&batch).unwrap();
    }
    let log = Log::from_bytes("unnamed", std::fs::read(&path).unwrap(), &OpenOptions::default()).unwrap();
    assert_eq!(log.dialect().info().name, "rlog");
}
