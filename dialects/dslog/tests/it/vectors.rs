//! The examples of the specification, byte for byte.

use logpose_dslog::{Event, HEADER, Half, Header, Item, Mode, Reader, Record, Version};

use crate::kit::{PDH, PDP, header, hex};

fn parsed(version: Version, bytes: &[u8]) -> Record<'_> {
    // A record alone, behind a header of its own.
    let file: &'static [u8] = Box::leak([header(version), bytes.to_vec()].concat().into_boxed_slice());
    let mut reader = Reader::new(file).unwrap();
    let Some(Ok((at, Item::Record(record)))) = reader.next() else { panic!("no record") };
    assert_eq!((at, reader.next()), (HEADER as u64, None));
    let mut again = Vec::new();
    record.emit(version, &mut again);
    assert_eq!(again, bytes);
    record
}

#[test]
fn a_header() {
    let bytes = hex("00 00 00 04 00 00 00 00 de 3f 40 23 da e1 60 00 00 00 00 00");
    let header = Header::of(&bytes).unwrap();
    assert_eq!((header.version, header.start.unix_ns()), (Version::V4, 1_645_842_339_855_001_449));
    assert_eq!(header.to_string(), "header version 4 2022-02-26T02:25:39.855001449Z");
    let mut again = Vec::new();
    header.emit(&mut again);
    assert_eq!(again, bytes);
}

#[test]
fn a_disabled_robot_with_a_pdp() {
    let bytes = hex(&format!("75 fd 0c 16 76 f6 7a 00 00 00 00 00 00 19 {PDP}"));
    let record = parsed(Version::V4, &bytes);
    assert_eq!((record.trip_time(), record.loss, record.packet_loss()), (Some(0.0585), -3, 0.0));
    assert_eq!((record.volts(), record.cpu, record.can), (Some(12.085_937_5), 118, 122));
    assert_eq!((record.mode(), record.status.robot_disabled()), (Mode::Disabled, true));
    let pd = record.power().unwrap();
    let expected = [1.5, 2.0, 2.125, 2.125, 2.75, 2.5, 3.5, 2.5, 2.5, 2.25, 2.5, 2.375, 2.5, 2.75, 2.125, 2.0];
    assert!(pd.currents().eq(expected));
    assert_eq!(pd.resistance(), None);
    assert!((pd.voltage().unwrap() - 12.2).abs() < 1e-9 && (pd.temperature().unwrap() - 23.0).abs() < 0.01);
}

#[test]
fn teleop_with_a_pdh() {
    let bytes = hex(&format!("34 fd 09 81 ae db 58 00 00 00 00 00 00 21 {PDH}"));
    let record = parsed(Version::V4, &bytes);
    assert_eq!((record.trip_time(), record.loss, record.volts()), (Some(0.026), -3, Some(9.503_906_25)));
    assert_eq!((record.cpu, record.can, record.mode()), (174, 88, Mode::Teleop));
    assert!(record.status.robot_teleop() && !record.status.brownout());
    let pd = record.power().unwrap();
    let expected = [
        23.375, 2.75, 0.0, 0.0, 0.0, 0.0, 0.0, 0.375, 41.625, 1.0, 8.75, 4.25, 0.0, 1.25, 0.375, 1.125, 0.875, 1.25,
        24.875, 0.25, 0.5, 0.75, 0.5, 1.375,
    ];
    assert!(pd.currents().eq(expected));
    // Breakers 2 to 6.
    assert_eq!((pd.id(), pd.faults()), (1, Some(0b111_1100)));
}

#[test]
fn no_robot() {
    let bytes = hex("ff 19 ff ff 00 f7 00 00 00 00 00 00 00 00");
    let record = parsed(Version::V4, &bytes);
    assert_eq!((record.trip_time(), record.packet_loss(), record.volts()), (None, 1.0, None));
    assert_eq!((record.mode(), record.power()), (Mode::Disabled, None));
    assert_eq!(record.to_string(), "no reply loss 25 no battery cpu 0 % can 0 % [ds-disabled]");
}

#[test]
fn version_3_in_autonomous() {
    let pd = "00 00 00 00 00 00 00 00 00 00 00 00 00 60 00 00 00 00 00 00 00 00 ff ab 5b";
    let bytes = hex(&format!("35 00 0c 6b 97 ed 79 00 00 00 {pd}"));
    let record = parsed(Version::V3, &bytes);
    assert_eq!((record.mode(), record.status.robot_autonomous()), (Mode::Autonomous, true));
    let pd = record.power().unwrap();
    let currents: Vec<f64> = pd.currents().collect();
    assert_eq!((currents[9], pd.total_current(), pd.id()), (12.0, 12.0, 0));
    assert!((pd.voltage().unwrap() - 12.55).abs() < 1e-9);
}

#[test]
fn an_event() {
    let text = "<TagVersion>1 <time> 04.803 <message> ********** Robot program starting ********** ";
    let mut bytes = hex("00 00 00 04 00 00 00 00 de 3f 40 23 da e1 60 00 00 00 00 00");
    bytes.extend(hex("00 00 00 00 de 3f 40 24 b7 be 60 00 00 00 00 00 00 00 00 53"));
    bytes.extend_from_slice(text.as_bytes());
    let mut reader = Reader::new(&bytes).unwrap();
    assert_eq!(reader.half(), Half::Events);
    let Some(Ok((20, Item::Event(event)))) = reader.next() else { panic!("no event") };
    assert_eq!((event.time.unix_ns(), event.text), (1_645_842_340_717_748_641, text.as_bytes()));
    let mut again = Vec::new();
    Event::emit(&event, &mut again);
    assert_eq!(again, bytes[20..]);
}

#[test]
fn test_mode_is_none_of_the_bits_while_there_is_a_robot() {
    let with = parsed(Version::V4, &hex("0c 00 0c 16 76 ff 7a 00 00 00 00 00 00 00")).mode();
    let without = parsed(Version::V4, &hex("ff 19 ff ff 00 ff 00 00 00 00 00 00 00 00")).mode();
    assert_eq!((with, without), (Mode::Test, Mode::Disabled));
}
