//! The real logs of the shared corpus, which is not part of this repository: all that `expected.json` says of them.

use std::collections::{BTreeMap, BTreeSet};

use logpose_driverstation::pd::PowerDistribution;
use logpose_dslog::{Envelope, Half, Item, Reader, Record, Status, fuzzing, summary};
use serde_json::{Value as Json, json};

use logpose_testkit::corpus;

use crate::kit::index;

fn files(extension: &str) -> Vec<(String, Vec<u8>, Json)> {
    let folder = corpus("ds");
    let expected: Json = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let all = expected.as_object().unwrap().iter().filter(|(name, _)| name.ends_with(extension));
    let all: Vec<_> = all
        .map(|(name, expected)| (name.clone(), std::fs::read(folder.join(name)).unwrap(), expected.clone()))
        .collect();
    assert!(all.len() >= 13, "{extension}");
    all
}

/// Eighths and sixteenths of an ampere, as they stand in the block.
fn raw(pd: &PowerDistribution) -> Vec<u64> {
    pd.currents().enumerate().map(|(n, amps)| (amps * if n < 20 { 8.0 } else { 16.0 }) as u64).collect()
}

fn names(status: Status) -> Vec<&'static str> {
    let all = [
        (status.robot_disabled(), "robot_disabled"),
        (status.robot_autonomous(), "robot_auto"),
        (status.robot_teleop(), "robot_teleop"),
        (status.ds_disabled(), "ds_disabled"),
        (status.ds_autonomous(), "ds_auto"),
        (status.ds_teleop(), "ds_teleop"),
        (status.watchdog(), "watchdog"),
        (status.brownout(), "brownout"),
    ];
    all.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
}

fn panel(record: &Record<'_>) -> Option<PowerDistribution> {
    PowerDistribution::parse(record.pd)
}

fn panel_name(record: &Record<'_>) -> &'static str {
    match record.pd.len() {
        0 => "none",
        25 => "ctre_pdp",
        33 => "rev_pdh",
        _ => "unknown",
    }
}

fn sample(number: u64, at: u64, record: &Record<'_>) -> Json {
    let mut pd = json!({"pd_type": panel_name(record)});
    if let Some(found) = panel(record) {
        pd["pd_id"] = json!(found.id());
        pd["raw"] = json!(raw(&found));
        pd["currents_a"] = json!(found.currents().collect::<Vec<_>>());
        match found {
            PowerDistribution::Pdp(pdp) => {
                pd["resistance_mohm"] = json!(pdp.resistance);
                pd["voltage_raw"] = json!(pdp.voltage);
                pd["temperature_raw"] = json!(pdp.temperature);
            }
            PowerDistribution::Pdh(pdh) => pd["breaker_faults"] = json!(pdh.faults),
        }
    }
    json!({
        "index": number,
        "offset": at,
        "t_ns": number * 20_000_000,
        "trip_ms": f64::from(record.trip) * 0.5,
        "packet_loss_raw": record.loss,
        "battery_raw": record.battery,
        "battery_v": f64::from(record.battery) / 256.0,
        "cpu_percent": f64::from(record.cpu) * 0.5,
        "status_raw": record.status.0,
        "status": names(record.status),
        "can_percent": f64::from(record.can) * 0.5,
        "wifi_raw": record.wifi,
        "bandwidth_raw": record.bandwidth,
        "pd": pd,
    })
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_log_is_what_an_independent_reader_found() {
    for (name, log, expected) in files(".dslog") {
        let mut reader = Reader::new(&log).unwrap();
        let header = reader.header();
        let mut status: BTreeMap<&str, u64> = names(Status(0)).into_iter().map(|name| (name, 0)).collect();
        let (mut records, mut battery, mut gone, mut trip, mut loss) = (0_u64, 0_u64, 0_u64, 0_u64, 0_i64);
        let mut panels: BTreeMap<&str, u64> = BTreeMap::new();
        let (mut sums, mut ids, mut samples) = (Vec::<u64>::new(), BTreeSet::new(), Vec::new());
        let wanted: Vec<u64> =
            expected["sample"].as_array().unwrap().iter().map(|sample| sample["index"].as_u64().unwrap()).collect();
        for record in reader.by_ref() {
            let (at, Item::Record(record)) = record.unwrap() else { panic!("{name} has events") };
            names(record.status).into_iter().for_each(|name| *status.get_mut(name).unwrap() += 1);
            battery += u64::from(record.battery);
            gone += u64::from(!record.is_connected());
            trip += u64::from(record.trip);
            loss += i64::from(record.loss);
            *panels.entry(panel_name(&record)).or_default() += 1;
            if let Some(found) = panel(&record) {
                ids.insert(found.id());
                let raw = raw(&found);
                sums.resize(sums.len().max(raw.len()), 0);
                sums.iter_mut().zip(raw).for_each(|(sum, raw)| *sum += raw);
            }
            if wanted.contains(&records) {
                samples.push(sample(records, at, &record));
            }
            records += 1;
        }
        let found = json!({
            "bytes": reader.offset(),
            "version": header.version.number(),
            "start_unix_ns": header.start.unix_ns(),
            "records": records,
            "problems": [],
            "status_counts": status,
            "battery_raw_sum": battery,
            "battery_ffff": gone,
            "trip_half_ms_sum": trip,
            "packet_loss_raw_sum": loss,
            "pd_counts": panels,
            "pd_raw_sums": sums,
            "pd_ids": ids,
            "sample": samples,
        });
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(found[key], *value, "{name}: {key}");
        }
        assert_eq!(found.as_object().unwrap().len(), expected.as_object().unwrap().len(), "{name}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_events_file_is_what_an_independent_reader_found() {
    for (name, log, expected) in files(".dsevents") {
        let mut reader = Reader::new(&log).unwrap();
        let header = reader.header();
        let (mut records, mut bytes, mut texts, mut samples) = (0_u64, 0_u64, Vec::new(), Vec::new());
        let wanted: Vec<u64> =
            expected["sample"].as_array().unwrap().iter().map(|sample| sample["index"].as_u64().unwrap()).collect();
        for record in reader.by_ref() {
            let (at, Item::Event(event)) = record.unwrap() else { panic!("{name} has records") };
            bytes += event.text.len() as u64;
            texts.push(event.text);
            if wanted.contains(&records) {
                let text = String::from_utf8_lossy(event.text);
                samples.push(json!({"index": records, "offset": at, "unix_ns": event.time.unix_ns(), "text": text}));
            }
            records += 1;
        }
        let mut found = json!({
            "bytes": reader.offset(),
            "version": header.version.number(),
            "start_unix_ns": header.start.unix_ns(),
            "records": records,
            "problems": [],
            "text_bytes_sum": bytes,
            "sample": samples,
        });
        for (key, value) in expected.as_object().unwrap() {
            if let Some(text) = key.strip_prefix("occurrences ") {
                let count = |all: &&[u8]| all.windows(text.len()).filter(|part| *part == text.as_bytes()).count();
                found[key] = json!(texts.iter().map(count).sum::<usize>());
            }
            assert_eq!(found[key], *value, "{name}: {key}");
        }
        assert_eq!(found.as_object().unwrap().len(), expected.as_object().unwrap().len(), "{name}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_way_of_reading_finds_the_same() {
    let events = files(".dsevents");
    for (name, log, expected) in files(".dslog") {
        let (found, problems) = index(&log);
        let padded = name.starts_with("2018_06_08");
        let codes: Vec<_> = problems.kinds().iter().map(|(code, ..)| *code).collect();
        assert_eq!(codes, if padded { vec!["padding"] } else { Vec::new() }, "{name}");
        assert_eq!(found.records, expected["records"].as_u64().unwrap() - u64::from(padded), "{name}");
        // The largest would take long without optimisation.
        let part = &log[..log.len().min(20_000)];
        fuzzing::decode(part);
        let stem = name.trim_end_matches(".dslog");
        if let Some((_, events, expected)) = events.iter().find(|(name, ..)| name.trim_end_matches(".dsevents") == stem)
        {
            fuzzing::decode(&events[..events.len().min(20_000)]);
            let mut pair = Vec::new();
            Envelope { named: Half::Log, companion: b"x", log: &log, events }.emit(&mut pair);
            let (both, _) = index(&pair);
            assert_eq!(both.records, found.records + expected["records"].as_u64().unwrap(), "{name}");
            let found = summary(Some(&log), Some(events));
            assert_eq!(found.events, expected["records"].as_u64().unwrap(), "{name}");
            // Tagged errors, and the warnings of the old kind.
            let tagged = expected["occurrences <details> "].as_u64().unwrap();
            let old = expected["occurrences <radioLostEvents>"].as_u64().unwrap();
            assert_eq!(found.errors + found.warnings, tagged + old, "{name}");
        }
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn matches_are_known() {
    let events = files(".dsevents");
    let played = |part: &str| {
        let (_, bytes, _) = events.iter().find(|(name, ..)| name.starts_with(part))?;
        let played = summary(None, Some(bytes)).played?;
        Some(format!("{} {} {}", played.event?, played.kind?, played.number?))
    };
    if !events.is_empty() {
        assert_eq!(played("2023_03_24").as_deref(), Some("TXHOU qualification 48"));
        assert_eq!(played("2019_03_02").as_deref(), Some("TXELP qualification 1"));
        assert_eq!(played("2019_03_03"), None);
    }
}
