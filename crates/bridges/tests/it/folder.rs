use logpose_bridges::{ChannelFile, FolderLayout, Header, read_folder};
use logpose_core::{Channel, Columns, FileDialect, Layout, Lookup, Problems, ReadOptions, Time, Value};
use logpose_model::{Memory, Shape};
use logpose_schema::Registry;

use crate::{Call, Recording, bridge, log_of_everything, long_log};

fn columns(header: &Header, calls: &[Call]) -> Columns {
    Columns::gather(
        header.channels.clone(),
        |_| {},
        |push| {
            for call in calls {
                if let Call::Sample(id, time, ty, payload) = call {
                    push(*id as usize, Time::from_nanos(*time), &Value::parse(*ty, payload, Layout::Little).unwrap());
                }
            }
            Ok(())
        },
    )
    .unwrap()
}

fn files(layout: FolderLayout, header: &Header, calls: &[Call]) -> (Vec<(String, Vec<u8>)>, usize) {
    let (columns, memory) = columns(header, calls).into_parts();
    let memory = Memory::from(memory);
    let registry = Registry::default();
    let mut problems = 0;
    let files = layout.paths(&header.channels).into_iter().zip(&columns).zip(0..).map(|((path, column), id)| {
        let mut out = Vec::new();
        let shape = Shape::of(&column.channel, &registry);
        let mut file = ChannelFile::new(&mut out, layout, header, id, &shape).unwrap();
        file.write(column, &memory).unwrap();
        problems += file.finish().unwrap().len();
        (path, out)
    });
    (files.collect(), problems)
}

fn folder(files: &[(String, Vec<u8>)]) -> (Header, Vec<Call>) {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
    let (mut store, mut problems) = (Vec::new(), Problems::default());
    read_folder(&files, &ReadOptions::default(), &mut store, &mut problems).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let index = bridge("parquet").index(&store, &ReadOptions::default(), &mut problems).unwrap();
    let mut calls = Recording::default();
    bridge("parquet").replay(&store, &index, &Lookup::default(), &mut calls).unwrap();
    (bridge("parquet").header(&store, &ReadOptions::default()).unwrap(), calls.0)
}

fn samples(calls: &[Call]) -> Vec<Call> {
    let mut samples: Vec<Call> = calls.iter().filter(|call| matches!(call, Call::Sample(..))).cloned().collect();
    samples.sort_by_key(|call| match call {
        // Samples of one time come in the order of the files.
        Call::Sample(id, time, ..) => (*time, *id),
        _ => (0, 0),
    });
    samples
}

#[test]
fn folders_give_back_all_samples_in_the_order_of_time() {
    let (header, calls) = log_of_everything();
    let (hive, problems) = files(FolderLayout::Hive, &header, &calls);
    assert_eq!(problems, 0);
    let (found, all) = folder(&hive);
    assert_eq!(found, header);
    assert_eq!(all[15..], samples(&calls));

    let (channels, problems) = files(FolderLayout::Channel, &header, &calls);
    // Texts that are no UTF-8, and booleans that are neither 0 nor 1.
    assert_eq!(problems, 3);
    let (found, all) = folder(&channels);
    assert_eq!(found, header);
    for (a, b) in all[15..].iter().zip(samples(&calls)) {
        let Call::Sample(id, ..) = b else { panic!("{b:?}") };
        assert!(*a == b || [4, 8, 12].contains(&id), "{a:?} {b:?}");
    }

    let (header, calls) = long_log(60_000);
    for layout in [FolderLayout::Hive, FolderLayout::Channel] {
        let (found, all) = folder(&files(layout, &header, &calls).0);
        assert_eq!(found, header);
        assert_eq!(all[3..], samples(&calls));
    }
}

#[test]
fn one_file_of_a_folder_is_a_log_of_its_own() {
    let (header, calls) = log_of_everything();
    for layout in [FolderLayout::Hive, FolderLayout::Channel] {
        let (files, _) = files(layout, &header, &calls);
        let (own, found) = crate::replay("parquet", &files[3].1);
        assert_eq!((own.channels, own.facts), (vec![header.channels[3].clone()], header.facts.clone()));
        assert_eq!(found.len(), 5);
    }
}

#[test]
fn names_are_safe_and_no_two_are_alike() {
    let names = [
        ("/Drive/Speed", "Drive.Speed.parquet", "channel=%2FDrive%2FSpeed/part-0.parquet"),
        ("/drive/speed", "drive.speed-2.parquet", "channel=%2Fdrive%2Fspeed/part-1.parquet"),
        ("../../etc", "_......etc.parquet", "channel=..%2F..%2Fetc/part-0.parquet"),
        ("", "_.parquet", "channel=/part-0.parquet"),
        ("/", "_..parquet", "channel=%2F/part-0.parquet"),
        ("con", "_con.parquet", "channel=con/part-0.parquet"),
        ("NUL.x", "_NUL.x.parquet", "channel=NUL.x/part-0.parquet"),
        ("a:b*c?\"<>|\\", "a_b_c______.parquet", "channel=a%3Ab%2Ac%3F%22%3C%3E%7C%5C/part-0.parquet"),
        ("é\u{0}\n", "é__.parquet", "channel=%C3%A9%00%0A/part-0.parquet"),
        (".hidden", "_.hidden.parquet", "channel=.hidden/part-0.parquet"),
        ("Arm.", "Arm..parquet", "channel=Arm%2E/part-0.parquet"),
        ("Arm ", "Arm .parquet", "channel=Arm%20/part-0.parquet"),
        ("COM1", "_COM1.parquet", "channel=COM1/part-0.parquet"),
        ("com10", "com10.parquet", "channel=com10/part-0.parquet"),
        ("σ", "σ.parquet", "channel=%CF%83/part-0.parquet"),
        ("ς", "ς-2.parquet", "channel=%CF%82/part-0.parquet"),
    ];
    let channels: Vec<Channel> = names.iter().map(|(name, ..)| Channel::new(*name, "double")).collect();
    let found = FolderLayout::Channel.paths(&channels).into_iter().zip(FolderLayout::Hive.paths(&channels));
    let expected: Vec<_> = names.iter().map(|(_, a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(found.collect::<Vec<_>>(), expected);

    let long = vec![Channel::new("ü".repeat(500), "double"), Channel::new("ü".repeat(501), "double")];
    for layout in [FolderLayout::Channel, FolderLayout::Hive] {
        let paths = layout.paths(&long);
        assert!(paths[0] != paths[1] && paths.iter().flat_map(|path| path.split('/')).all(|part| part.len() < 255));
    }
}

#[test]
fn folders_of_others_take_their_names_from_the_paths() {
    let table = |name| {
        let columns: Vec<(&str, arrow_array::ArrayRef)> = vec![
            ("time_ns", std::sync::Arc::new(arrow_array::Int64Array::from(vec![1, 2]))),
            (name, std::sync::Arc::new(arrow_array::Float64Array::from(vec![1.0, 2.0]))),
        ];
        crate::parquet::foreign(columns, logpose_bridges::TableFormat::Parquet)
    };
    let files = [
        ("channel=%2FDrive%2F%C3%A9/x.parquet".to_owned(), table("number")),
        ("sub/Arm.Tilt.parquet".to_owned(), table("value")),
        ("wide.parquet".to_owned(), table("column")),
    ];
    let (header, calls) = folder(&files);
    let names: Vec<_> = header.channels.iter().map(|c| (&*c.name, &*c.type_name)).collect();
    assert_eq!(names, [("/Drive/é", "double"), ("Arm.Tilt", "double"), ("column", "double")]);
    assert_eq!(samples(&calls).len(), 6);
}

#[test]
fn a_damaged_file_of_a_folder_is_named() {
    let (header, calls) = long_log(100);
    let (mut files, _) = files(FolderLayout::Channel, &header, &calls);
    files[1].1.truncate(50);
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
    let error = read_folder(&files, &ReadOptions::default(), &mut Vec::new(), &mut Problems::default()).unwrap_err();
    assert!(error.to_string().contains("b.parquet: missing footer"), "{error}");
    let error = read_folder(&[], &ReadOptions::default(), &mut Vec::new(), &mut Problems::default()).unwrap_err();
    assert_eq!(error.to_string(), "parquet: byte 0x0: the folder has no Parquet files");
}
