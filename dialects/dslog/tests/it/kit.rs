//! What several tests need: sample logs, what a log holds as lines.

use std::collections::BTreeMap;

use logpose_core::{Index, Problems};
use logpose_dslog::{Dslog, Event, Header, Record, Stamp, Status, Version};
pub(crate) use logpose_testkit::hex;
use logpose_testkit::{Lines, Plain, replayed};

pub(crate) const PDP: &str = "00 03 01 00 44 11 05 81 40 07 01 40 50 12 05 01 30 05 01 60 44 10 ff a4 58";
pub(crate) const PDH: &str =
    "01 bb 58 00 00 00 00 00 c0 00 0c d0 d4 08 18 21 42 00 28 30 00 09 1c a0 00 c7 08 00 08 0c 08 16 00";

/// 2022-03-06T07:33:40.5Z
pub(crate) const START: i64 = 1_646_552_020_500_000_000;

pub(crate) fn header(version: Version) -> Vec<u8> {
    let mut out = Vec::new();
    Header { version, start: Stamp::from_unix_ns(START) }.emit(&mut out);
    out
}

pub(crate) const DISABLED: u8 = 0xf6;
pub(crate) const AUTONOMOUS: u8 = 0xed;
pub(crate) const TELEOP: u8 = 0xdb;
pub(crate) const NO_ROBOT: u8 = 0xf7;

/// A record of a robot that answers.
pub(crate) fn record(status: u8, pd: &[u8]) -> Record<'_> {
    let status = Status(status);
    Record { trip: 12, loss: -1, battery: 3221, cpu: 90, status, can: 120, wifi: 0, bandwidth: 0, pd }
}

/// A record without a robot.
pub(crate) fn gone(pd: &[u8]) -> Record<'_> {
    Record { trip: 255, loss: 25, battery: u16::MAX, cpu: 0, can: 0, ..record(NO_ROBOT, pd) }
}

pub(crate) fn log(version: Version, records: &[Record<'_>]) -> Vec<u8> {
    let mut out = header(version);
    records.iter().for_each(|record| record.emit(version, &mut out));
    out
}

/// A short run through the modes, with a brownout and a robot that is gone for a moment.
pub(crate) fn run<'a>(pd: &'a [u8], missing: &'a [u8]) -> Vec<Record<'a>> {
    vec![
        gone(missing),
        gone(missing),
        record(DISABLED, missing),
        record(DISABLED, pd),
        record(AUTONOMOUS, pd),
        Record { trip: 20, loss: 3, battery: 2433, ..record(AUTONOMOUS, pd) },
        record(DISABLED, pd),
        record(TELEOP, pd),
        Record { battery: 1700, ..record(TELEOP & 0x7f, pd) },
        gone(missing),
        gone(missing),
        record(TELEOP, pd),
        record(0xff, pd),
        record(DISABLED, pd),
        gone(pd),
    ]
}

pub(crate) fn events(version: Version, texts: &[(i64, &[u8])]) -> Vec<u8> {
    let mut out = header(version);
    for (ms, text) in texts {
        Event { time: Stamp::from_unix_ns(START + ms * 1_000_000), text }.emit(&mut out);
    }
    out
}

pub(crate) const TEXTS: &[(i64, &[u8])] = &[
    (0, b"Info 22.0Info FMS Event Name: TXPASInfo Joystick 0: (Controller (XBOX 360 For Windows))6 axes, 10 buttons, 1 POVs. Info Joystick 1: (Info Joystick 2: (x))3 axes, 12 buttons, 0 POVs. "),
    (20, b"FMS Connected:   Qualification - 35:1, Field Time: 22/3/6 1:33:48\n"),
    (40, b"Info Java 2022.4.1FRC_roboRIO_2022_v4.022.022.0.0.0"),
    (60, b"<TagVersion>1 <time> 04.803 <message> ********** Robot program starting ********** "),
    (80, b"Info roboRIO: Disk Free 141 MB, Memory Free 83 MB. DS Laptop: CPU 41% Batt 99%. <TagVersion>1 <time> 00.000 <count> 1 <flags> 2 <Code> 44003 <details> FRC:  No robot code is currently running. <location> Driver Station <stack> "),
    (100, b"<TagVersion>1 <time> -01:17.686 <message> <init> of <available>  <TagVersion>1 <time> 01:00:10.386 <count> 1 <flags> 1 <Code> -200 <details> CTR: \"no\" response <location> Talon SRX 20 <stack> \tat a\n\tat b\n"),
    (120, b"Info Communications Timeout: 2 Input Voltage Brownouts: 1. "),
    (140, b"Info Rail Faults: 12V - 3, 5V - 4, 3.3V - 5. "),
    (160, b"Warning <Code> 44008 <radioLostEvents>  95.040 <radioSeenEvents>  93.539\r<Description>FRC:  Robot radio detection times."),
    (180, b"Game Specific Data LRL"),
    (200, b"Code Start Notification. "),
    (220, b"DS requested code restart."),
    (240, b"<TagVersion>1 <time> soon <message> no time"),
    (260, b"caf\xe9, which is no UTF-8"),
];

pub(crate) fn index(log: &[u8]) -> (Index, Problems) {
    logpose_testkit::index(&Dslog, log)
}

/// The samples of a log by channel, as texts: time in seconds and value.
pub(crate) fn lines(log: &[u8]) -> BTreeMap<String, Vec<String>> {
    let all: Lines<Plain> = replayed(&Dslog, log, &index(log).0);
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in all.lines {
        let (time, rest) = line.split_once(' ').unwrap();
        let channel = all.channels.values().find(|channel| rest.starts_with(&format!("{} ", channel.name))).unwrap();
        let value = &rest[channel.name.len() + 1..];
        lines.entry(channel.name.clone()).or_default().push(format!("{time} {value}"));
    }
    lines
}
