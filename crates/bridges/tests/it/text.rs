use logpose_bridges::{Header, csv, ndjson};
use logpose_core::{
    Channel, ChannelId, Confidence, Limits, Problem, Problems, ReadOptions, Sample, Sink, SinkError, StreamError, Value,
};

/// Channels and samples as lines.
#[derive(Default)]
struct Lines(Vec<String>);

impl Sink for Lines {
    fn channel(&mut self, _: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.0.push(format!("{}: {}", channel.name, channel.type_name));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let value = match sample.value {
                Value::String(text) => format!("{:?}", String::from_utf8_lossy(text)),
                Value::Boolean(value) => value.to_string(),
                Value::Int64(value) => value.to_string(),
                Value::Double(value) => format!("{value:?}"),
                Value::BooleanArray(bytes) => format!("{bytes:?}"),
                Value::Int64Array(numbers) => format!("{:?}", numbers.iter().collect::<Vec<_>>()),
                Value::DoubleArray(numbers) => format!("{:?}", numbers.iter().collect::<Vec<_>>()),
                Value::StringArray(texts) => {
                    format!("{:?}", texts.iter().map(String::from_utf8_lossy).collect::<Vec<_>>())
                }
                other => format!("{other:?}"),
            };
            self.0.push(format!("{} {} {value}", sample.channel, sample.time.nanos()));
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

type Reader = fn(&[u8], &ReadOptions<'_>, &mut dyn Sink, &mut Problems) -> Result<Header, StreamError>;

fn check(read: Reader, file: &str, expected: &[&str], complaints: &[&str]) {
    let mut lines = Lines::default();
    let mut problems = Problems::default();
    let header = read(file.as_bytes(), &ReadOptions::default(), &mut lines, &mut problems).unwrap();
    assert_eq!(lines.0, expected);
    assert_eq!(problems.list().iter().map(ToString::to_string).collect::<Vec<_>>(), complaints);
    let names: Vec<_> =
        header.channels.iter().map(|channel| format!("{}: {}", channel.name, channel.type_name)).collect();
    assert_eq!(names, expected[..names.len()]);
}

#[test]
fn rows_of_time_channel_and_value_come_back() {
    check(
        csv::read,
        "time,channel,value\r\n-0.000001,/b,true\r\n0.000,\"/a,b\",1\r\n0.000,/s,\"two\r\n\"\"lines\"\"\"\r\n\
         0.500,/n,NaN\r\n0.500,/n,0.1\r\n1.000,/l,\"[1,2]\"\r\n1.000,/l,\"[0.5]\"\r\n2.000,/o,\"{\"\"x\"\":1}\"\r\n\
         2.000,/b,false\r\n2.000,/s,\r\n2.000,/m,1\r\n3.000,/m,x\r\n3.000,/e,[]\r\n3.000,/t,\"[\"\"a\"\"]\"\r\n",
        &[
            "/b: boolean",
            "/a,b: int64",
            "/s: string",
            "/n: double",
            "/l: double[]",
            "/o: json",
            "/m: string",
            "/e: double[]",
            "/t: string[]",
            "0 -1000 true",
            "1 0 1",
            "2 0 \"two\\r\\n\\\"lines\\\"\"",
            "3 500000000 NaN",
            "3 500000000 0.1",
            "4 1000000000 [1.0, 2.0]",
            "4 1000000000 [0.5]",
            "5 2000000000 \"{\\\"x\\\":1}\"",
            "0 2000000000 false",
            "2 2000000000 \"\"",
            "6 2000000000 \"1\"",
            "6 3000000000 \"x\"",
            "7 3000000000 []",
            "8 3000000000 [\"a\"]",
        ],
        &[],
    );
}

#[test]
fn tables_of_others_are_read_by_the_unit_of_their_time() {
    check(
        csv::read,
        "Time (ms);volts;volts;\n1.5;12.5;;a\n2;12;1;\n",
        &[
            "volts: double",
            "volts (2): int64",
            "column 4: string",
            "0 1500000 12.5",
            "2 1500000 \"a\"",
            "0 2000000 12.0",
            "1 2000000 1",
        ],
        &[],
    );
}

#[test]
fn bad_rows_are_named_by_their_line() {
    check(
        csv::read,
        "time,channel,value\n0.1,a,1\nlater,a,2\n0.2,a\n0.3,\"b\nb\",3\nx,a,4\n",
        &["a: int64", "b\nb: int64", "0 100000000 1", "1 300000000 3"],
        &[
            "byte 0x1b: line 3: \"later\" is not a timestamp; skipped the row",
            "byte 0x25: line 4: expected 3 cells as in the first line, found 2; skipped the row",
            "byte 0x37: line 7: \"x\" is not a timestamp; skipped the row",
        ],
    );
    let refused = |file: &str| {
        csv::read(file.as_bytes(), &ReadOptions::default(), &mut Lines::default(), &mut Problems::default())
            .unwrap_err()
            .to_string()
    };
    let nothing = format!("time,a\n{}", "\0".repeat(40 << 20));
    assert_eq!(refused(&nothing), "csv: byte 0x1000000: a line has more than 16 MiB; a table has a row on each line");
    let word = "x".repeat(1000);
    assert!(refused(&format!("time,a\n{word},1\n")).len() < 150);
    assert_eq!(
        refused("time,a\n2024-01-01,1\n"),
        "csv: byte 0x7: line 2: \"2024-01-01\" is not a timestamp; skipped the row"
    );
    assert!(refused("a,b\n1,2\n").contains("expected a header row whose first column is a timestamp"));
}

#[test]
fn lines_of_json_come_back() {
    check(
        ndjson::read,
        concat!(
            "{\"time_ns\":-1000,\"channel\":\"/n\",\"value\":0.30000000000000004}\n",
            "{\"time_ns\":\"9007199254740993\",\"channel\":\"/n\",\"value\":\"-Infinity\"}\n",
            "\n",
            "{\"time_ns\":1,\"channel\":\"/i\",\"value\":\"1152921504606846976\"}\n",
            "{\"time_ns\":2,\"channel\":\"/i\",\"value\":-1}\n",
            "{\"time_ns\":3,\"channel\":\"/s\",\"value\":\"é\\n\"}\n",
            "{\"time_ns\":3,\"channel\":\"/s\",\"value\":\"NaN\"}\n",
            "{\"time_ns\":4,\"channel\":\"/o\",\"value\":{\"b\":1,\"a\":[1,null]}}\n",
            "{\"time_ns\":5,\"channel\":\"/o\",\"value\":\"text\"}\n",
            "{\"time_ns\":6,\"channel\":\"/l\",\"value\":[1,\"1152921504606846976\"]}\n",
            "{\"time_ns\":7,\"channel\":\"/b\",\"value\":[true,false]}\n",
        ),
        &[
            "/n: double",
            "/i: int64",
            "/s: string",
            "/o: json",
            "/l: int64[]",
            "/b: boolean[]",
            "0 -1000 0.30000000000000004",
            "0 9007199254740993 -inf",
            "1 1 1152921504606846976",
            "1 2 -1",
            "2 3 \"é\\n\"",
            "2 3 \"NaN\"",
            "3 4 \"{\\\"b\\\":1,\\\"a\\\":[1,null]}\"",
            "3 5 \"\\\"text\\\"\"",
            "4 6 [1, 1152921504606846976]",
            "5 7 [1, 0]",
        ],
        &[],
    );
    check(
        ndjson::read,
        "{\"time_ns\":1,\"channel\":\"a\",\"value\":1}\n[]\n{\"time_ns\":1.5}\n{\"time_ns\":2,\"channel\":\"a\",\"val",
        &["a: int64", "0 1 1"],
        &[
            "byte 0x26: line 2: not an object; skipped",
            "byte 0x29: line 3: \"time_ns\" must be an integer number of nanoseconds; skipped",
            "byte 0x39: line 4: not JSON: EOF while parsing a string at line 1 column 31; skipped",
        ],
    );
}

#[test]
fn only_text_of_the_right_kind_is_claimed() {
    let csv_yes = ["time,channel,value\r\n", "t_ms\tx\n", "\u{feff}Timestamp;a\n1;2"];
    let csv_no =
        ["", "time\n", "x,y\n", "WPILOG\0\x01", "{\"time_ns\":1,\"channel\":\"a\",\"value\":1}\n", "time,\0\n"];
    assert!(csv_yes.iter().all(|head| csv::sniff(head.as_bytes()) == Confidence::Perhaps));
    assert!(csv_no.iter().all(|head| csv::sniff(head.as_bytes()) == Confidence::No));
    assert_eq!(ndjson::sniff(b"{\"time_ns\":1,\"channel\":\"a\",\"value\":1}\n"), Confidence::Perhaps);
    assert_eq!(ndjson::sniff(b"{\"time\":1}\n"), Confidence::No);
    assert_eq!(ndjson::sniff(b""), Confidence::No);
}

#[test]
fn every_prefix_reads_without_panic() {
    let few = ReadOptions { limits: Limits { channels: 2, ..Limits::default() }, ..ReadOptions::default() };
    let table = b"time,channel,value\r\n0.1,\"a\",\"[1,2]\"\r\n0.2,b,true\n0.3,c,\xff\n";
    let lines =
        b"{\"time_ns\":1,\"channel\":\"a\",\"value\":[1]}\n{\"time_ns\":2,\"channel\":\"b\",\"value\":\"\\ud800\"}\n";
    for read in [csv::read as Reader, ndjson::read] {
        for file in [&table[..], lines] {
            for end in 0..=file.len() {
                let _ = read(&file[..end], &few, &mut Lines::default(), &mut Problems::default());
            }
        }
    }
}
