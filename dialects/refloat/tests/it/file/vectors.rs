//! The specification byte for byte.

use logpose_core::{FileDialect, Time, Value};
use logpose_refloat::Refloat;
use logpose_refloat::rfrec::{Block, Kind, Reader, Recording, Writer};

use super::kit::{EXAMPLE, again, hex, index};

#[test]
fn the_example_of_the_specification_is_written_to_the_byte() {
    let mut out = Vec::new();
    let mut writer = Writer::begin(&mut out);
    writer.header(&hex("65 2A 00 00 00 01 01 04 65 72 70 6D"), &mut out).unwrap();
    writer.samples(0, &hex("00 00 00 01 0D 3C 00"), &mut out).unwrap();
    assert!(writer.is_whole());
    writer.end(&mut out).unwrap();
    assert_eq!(out.len(), 111);
    assert_eq!(out, hex(EXAMPLE));
}

#[test]
fn the_example_of_the_specification_is_read() {
    let file = hex(EXAMPLE);
    let recording = Recording::read(&file).unwrap();
    assert!(recording.complete && recording.problems.is_empty(), "{:?}", recording.problems);
    assert_eq!((recording.size(), recording.held(), recording.missing()), (1, 1, vec![]));
    assert_eq!(recording.samples().collect::<Vec<_>>(), [(0, &hex("00 00 00 01 0D 3C 00")[..])]);
    assert_eq!(recording.tick_rate(), 10_000);
    let (index, _) = index(&file);
    let names: Vec<_> = index.channels.iter().map(|c| &*c.channel.name).collect();
    let own = ["/refloat/erpm", "/refloat/running", "/refloat/wheelslip", "/refloat/footpad", "/refloat/adjustment"];
    assert_eq!(names, [&own[..], &["/refloat/file/header"]].concat());
    let columns = Refloat.gather(&file, &index, &[0, 1, 2, 3, 4], |_| {}).unwrap();
    let expected = [
        Value::Float(1.0),
        Value::Boolean(true),
        Value::Boolean(false),
        Value::String(b"both"),
        Value::String(b"none"),
    ];
    for (column, expected) in columns.columns.iter().zip(expected) {
        let found: Vec<_> = columns.samples(column).collect();
        assert!(found.len() == 1 && found[0].0 == Time::from_micros(100) && found[0].1.same(&expected), "{found:?}");
    }
}

#[test]
fn the_example_comes_back_through_its_channels() {
    let file = hex(EXAMPLE);
    let (made, problems) = again(&file).unwrap();
    assert_eq!(made, file);
    assert!(problems.is_empty());
}

#[test]
fn blocks_are_found_where_they_begin() {
    let file = hex(EXAMPLE);
    let found: Vec<_> = Reader::new(&file).unwrap().map(|block| block.map(|(at, block)| (at, block.kind))).collect();
    let expected = [(16, Kind::Header), (40, Kind::Samples), (63, Kind::End)];
    assert_eq!(found.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), expected);
    assert_eq!(Block::parse(&file, 40).unwrap().length(), 23);
}
