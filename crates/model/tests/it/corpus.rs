//! Real logs, which are no part of the repository.

use logpose_core::{ChannelId, FileDialect as _, Layout, Lookup, Problems, ReadOptions, Time, Value};
use logpose_model::long::{self, Reader};
use logpose_model::{Memory, Shape, binary};
use logpose_schema::Registry;
use logpose_testkit::corpus_logs;
use logpose_wpilog::Wpilog;

use crate::support::check_column;

/// The WPILOG files of the corpus.
fn logs() -> Vec<(String, Vec<u8>)> {
    // The largest say nothing more, and take a while without optimisation.
    corpus_logs("wpilog", &["wpilog"]).into_iter().filter(|(_, log)| log.len() < 8 << 20).collect()
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn real_logs_are_the_same_as_arrays() {
    let (mut decoded, mut rows) = (0, 0);
    for (name, log) in logs() {
        let Ok(index) = Wpilog.index(&log, &ReadOptions::default(), &mut Problems::default()) else { continue };
        let columns = Wpilog.scan(&log, &index, &Lookup::default(), |_| {}).unwrap();
        let (columns, memory) = columns.into_parts();
        let memory = Memory::from(memory);
        let mut registry = Registry::new();
        for column in &columns {
            let channel = &column.channel;
            if Registry::is_schema(&channel.name, &channel.type_name) {
                for chunk in &column.chunks {
                    binary(&memory, chunk).iter().flatten().for_each(|payload| {
                        let _ = registry.add(&channel.name, &channel.type_name, payload);
                    });
                }
            }
        }
        let channels: Vec<_> = columns.iter().map(|column| column.channel.clone()).collect();
        let names = long::dictionary(&channels);
        let mut scratch = Vec::new();
        for (id, column) in columns.iter().enumerate() {
            let ty = column.channel.ty();
            if Shape::of(&column.channel, &registry).is_decoded() {
                let nulls = check_column(column, &memory, &registry);
                decoded += column.samples() - nulls;
            }
            for chunk in &column.chunks {
                let batch = long::of_chunk(ChannelId::try_from(id).unwrap(), &names, &column.channel, &memory, chunk);
                let reader = Reader::new(&batch).unwrap();
                let raw = binary(&memory, chunk);
                for row in 0..reader.len() {
                    let value = Value::parse(ty, raw.value(row), Layout::Little).unwrap();
                    let found = reader.value(row, ty, &mut scratch).unwrap();
                    assert!(found.same(&value), "{name}: {}: {found:?} for {value:?}", column.channel.name);
                    assert!(reader.time(row) >= Time::MIN && reader.channel(row) == Some(id));
                    rows += 1;
                }
            }
        }
    }
    println!("{rows} samples, {decoded} of them decoded");
    assert!(rows > 0 && decoded > 0);
}
