use std::path::{Path, PathBuf};

use logpose_bridges::{RefloatRows, VescRows, csv, fuzzing, is_recording, ndjson};
use logpose_core::{
    Channel, ChannelId, Confidence, FileDialect, Limits, Lookup, Problem, Problems, ReadOptions, Sample, Severity,
    Sink, SinkError, Time, Value,
};

use logpose_files::Formats;

use crate::bridge;

fn fixtures(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rides").join(kind)
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures(name)).unwrap()
}

/// A replayed log: its channels with type and unit, and its samples by time.
#[derive(Debug, Default)]
struct Ride {
    channels: Vec<Channel>,
    lines: Vec<String>,
}

impl Ride {
    fn channels(&self) -> Vec<String> {
        let line = |c: &Channel| format!("{} {} {}", short(&c.name), c.type_name, c.unit.as_deref().unwrap_or("-"));
        self.channels.iter().map(line).collect()
    }
}

fn short(name: &str) -> &str {
    name.strip_prefix("/refloat/").unwrap_or(name)
}

impl Sink for Ride {
    fn channel(&mut self, _: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.channels.push(channel.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let value = match sample.value {
                Value::Float(value) => format!("{value:?}f"),
                Value::Double(value) => format!("{value:?}"),
                Value::Boolean(value) => value.to_string(),
                Value::Int64(value) => value.to_string(),
                Value::String(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            };
            let name = short(&self.channels[sample.channel as usize].name);
            self.lines.push(format!("{} {name} {value}", sample.time));
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

fn read(name: &str, file: &[u8]) -> (Ride, Option<i64>, Vec<String>) {
    let (mut store, mut problems) = (Vec::new(), Problems::default());
    let bridge = bridge(name);
    bridge.unpack(file, &ReadOptions::default(), &mut store, &mut problems).unwrap_or_else(|error| panic!("{error}"));
    let index = bridge.index(&store, &ReadOptions::default(), &mut problems).unwrap();
    let mut ride = Ride::default();
    bridge.replay(&store, &index, &Lookup::default(), &mut ride).unwrap();
    let header = bridge.header(&store, &ReadOptions::default()).unwrap();
    assert_eq!(header.origin, name);
    (ride, header.epoch_ns, problems.list().iter().map(ToString::to_string).collect())
}

fn check(name: &str, file: &str, channels: &[&str], lines: &[&str], problems: &[&str]) {
    let (ride, _, reported) = read(name, &fixture(file));
    assert_eq!(ride.channels(), channels, "{file}");
    assert_eq!(ride.lines, lines, "{file}");
    assert_eq!(reported, problems, "{file}");
}

#[test]
fn every_program_is_known_by_its_columns() {
    let detect = |head: &[u8]| Formats::default().detect(head, Path::new("ride")).map(|format| format.name());
    for (file, name) in [
        ("refloat.csv", "refloat-csv"),
        ("vesc-analysis.csv", "vesc-csv"),
        ("vesc-express.csv", "vesc-csv"),
        ("vesc-tool-live.csv", "vesc-tool"),
        ("vesc-tool-comma.csv", "vesc-tool"),
        ("float-control.csv", "float-control"),
        ("float-control-miles.csv", "float-control"),
        ("float-control.zip", "float-control"),
        ("floaty.json", "floaty"),
    ] {
        let bytes = fixture(&format!("valid/{file}"));
        assert_eq!(detect(&bytes), Some(name), "{file}");
        // Of a long first line only a part is seen.
        assert_eq!(detect(&bytes[..bytes.len().min(4096)]), Some(name), "{file}");
    }
    for other in
        ["time,channel,value\n", "t;a;b\n", "Time(s),State\n", "index,time_ticks\n", "{\"logs\":[]}", "a:b\n", ""]
    {
        let rides = ["refloat-csv", "vesc-csv", "vesc-tool", "float-control", "floaty"];
        assert!(detect(other.as_bytes()).is_none_or(|name| !rides.contains(&name)), "{other}");
    }
    assert_eq!(csv::sniff(b"time,channel,value\n"), Confidence::Perhaps);
    assert_eq!(ndjson::sniff(&fixture("valid/floaty.json")), Confidence::No);
}

#[test]
fn a_recording_is_read_to_the_bit_and_its_ticks_go_on() {
    // 2^32 - 3, - 1, - 1, + 9 ticks of 100 µs.
    let row = |time: &str, values: [&str; 10]| {
        let names = ["control.dt", "erpm", "duty_cycle", "batt_voltage", "pitch", "atr.transition_boost"];
        let names = names.into_iter().chain(["running", "wheelslip", "footpad", "adjustment"]);
        names.zip(values).map(|(name, value)| format!("{time} {name} {value}")).collect::<Vec<_>>()
    };
    let lines = [
        row(
            "429496.729300",
            ["1.2011719f", "4108.0f", "0.25f", "75.4375f", "0.099975586f", "1.0f", "true", "false", "both", "none"],
        ),
        row(
            "429496.729500",
            [
                "1.2011719f",
                "-4112.0f",
                "0.890625f",
                "70.0625f",
                "-0.0f",
                "1.0f",
                "true",
                "true",
                "both",
                "duty pushback",
            ],
        ),
        row(
            "429496.729500",
            [
                "1.2011719f",
                "131008.0f",
                "0.9003906f",
                "-131008.0f",
                "5.9604645e-8f",
                "1.5f",
                "true",
                "true",
                "left",
                "duty pushback",
            ],
        ),
        row(
            "429496.730500",
            ["1.2011719f", "0.0f", "0.0f", "75.5f", "2.5f", "1.0f", "false", "false", "none", "type 3"],
        ),
    ]
    .concat();
    check(
        "refloat-csv",
        "valid/refloat.csv",
        &[
            "control.dt float ms",
            "erpm float rpm",
            "duty_cycle float -",
            "batt_voltage float V",
            "pitch float deg",
            "atr.transition_boost float -",
            "running boolean -",
            "wheelslip boolean -",
            "footpad string -",
            "adjustment string -",
        ],
        &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        &[],
    );
}

#[test]
fn a_recording_that_was_read_is_written_to_the_same_bytes() {
    let file = fixture("valid/refloat.csv");
    let (out, _) = rewritten(&file, |channels, out| RefloatRows::new(channels, out).unwrap(), RefloatRows::finish);
    assert_eq!(String::from_utf8(out).unwrap(), String::from_utf8(file).unwrap());
}

#[test]
fn words_are_read_where_the_flags_are_words() {
    let words =
        "index,time_ticks,time_s,running,wheelslip,footpad,sat,erpm\n7,5,0.0000,true,false,right,reverse stop,8\n";
    let (ride, _, problems) = read("refloat-csv", words.as_bytes());
    let lines = ["erpm 8.0f", "running true", "wheelslip false", "footpad right", "adjustment reverse stop"];
    assert_eq!(ride.lines, lines.map(|line| format!("0.000500 {line}")));
    assert_eq!(problems, [""; 0]);
}

/// Reads a recording and writes what was read.
fn rewritten<S: Sink + Writes>(
    file: &[u8],
    make: impl FnOnce(&[Channel], Vec<u8>) -> S,
    finish: impl FnOnce(&mut S) -> Result<(), SinkError>,
) -> (Vec<u8>, Problems) {
    let name = "refloat-csv";
    let (mut store, mut problems) = (Vec::new(), Problems::default());
    bridge(name).unpack(file, &ReadOptions::default(), &mut store, &mut problems).unwrap();
    let index = bridge(name).index(&store, &ReadOptions::default(), &mut problems).unwrap();
    let channels: Vec<Channel> = index.channels.iter().map(|found| found.channel.clone()).collect();
    assert!(is_recording(index.channels.iter().map(|found| (&found.channel, found.samples))));
    let mut sink = make(&channels, Vec::new());
    bridge(name).replay(&store, &index, &Lookup::default(), &mut sink).unwrap();
    finish(&mut sink).unwrap();
    sink.into_parts()
}

trait Writes {
    fn into_parts(self) -> (Vec<u8>, Problems);
}

impl Writes for RefloatRows<Vec<u8>> {
    fn into_parts(self) -> (Vec<u8>, Problems) {
        let problems = self.problems.clone();
        (self.into_out(), problems)
    }
}

impl Writes for VescRows<Vec<u8>> {
    fn into_parts(self) -> (Vec<u8>, Problems) {
        let problems = self.problems.clone();
        (self.into_out(), problems)
    }
}

#[test]
fn a_recording_opens_in_vesc_tool() {
    let file = fixture("valid/refloat.csv");
    // The first sample is at 14:00 on some day.
    let epoch = 1_717_250_400_000_000_000 - 429_496_729_300_000;
    let make = |channels: &[Channel], out| VescRows::new(channels, Some(epoch), out).unwrap();
    let (out, problems) = rewritten(&file, make, VescRows::finish);
    assert!(problems.is_empty());
    let out = String::from_utf8(out).unwrap();
    assert_eq!(
        out.lines().collect::<Vec<_>>(),
        [
            "t_day:Time:s:4:0:1;control.dt:control.dt:ms:3:0:0;erpm:ERPM::0:0:0;duty:Duty:%:1:0:0;\
             v_in:Input Voltage:V:2:0:0;pitch:Pitch:rad:4:0:0;atr.transition_boost:atr.transition_boost::3:0:0;\
             running:running::0:0:0;wheelslip:wheelslip::0:0:0;footpad:footpad::0:0:0;adjustment:adjustment::0:0:0",
            "50400;1.201171875;4108;25;75.4375;0.001744903146219917;1;1;0;3;0",
            "50400.0002;1.201171875;-4112;89.0625;70.0625;-0;1;1;1;3;6",
            "50400.0002;1.201171875;131008;90.0390625;-131008;1.0402973008122024e-9;1.5;1;1;1;6",
            "50400.0012;1.201171875;0;0;75.5;0.04363323129985824;1;0;0;0;3",
        ]
    );
    // Back again all channels are there, with the same values; degrees became radians and were rounded on the way.
    let (ride, _, problems) = read("vesc-csv", out.as_bytes());
    assert_eq!(problems, [""; 0]);
    assert_eq!(
        ride.lines[..10],
        [
            "control.dt 1.201171875",
            "erpm 4108.0",
            "duty_cycle 0.25",
            "batt_voltage 75.4375",
            "pitch 0.0999755859375",
            "atr.transition_boost 1.0",
            "running true",
            "wheelslip false",
            "footpad both",
            "adjustment none",
        ]
        .map(|line| format!("50400.000 {line}"))
    );
    assert_eq!(ride.lines.last().unwrap(), "50400.001200 adjustment type 3");
}

#[test]
fn log_analysis_repeats_what_stands_above() {
    check(
        "vesc-csv",
        "valid/vesc-analysis.csv",
        &[
            "erpm double rpm",
            "batt_voltage double V",
            "duty_cycle double -",
            "vesc/duty double %",
            "pitch double deg",
            "mosfet_temp double degC",
            "speed double km/h",
            "gnss.latitude double deg",
            "gnss.longitude double deg",
            "vesc/iq double A",
            "vesc/trip_gnss int64 m",
        ],
        &[
            "86399.900 erpm 1200.0",
            "86399.900 batt_voltage 75.4",
            // A duty cycle below zero is kept as it is beside the model's, which has no sign.
            "86399.900 vesc/duty -12.5",
            "86399.900 duty_cycle 0.125",
            "86399.900 pitch 28.64788975654116",
            "86399.900 mosfet_temp 40.0",
            "86399.900 speed 10.25",
            "86399.900 gnss.latitude 57.70887",
            "86399.900 gnss.longitude 11.97456",
            "86399.900 vesc/iq 3.5",
            "86400.100 erpm 1200.0",
            "86400.100 batt_voltage 75.3",
            "86400.100 vesc/duty -12.5",
            "86400.100 duty_cycle 0.125",
            "86400.100 pitch 28.64788975654116",
            "86400.100 mosfet_temp 40.0",
            "86400.100 speed 10.25",
            "86400.100 gnss.latitude 57.70887",
            "86400.100 gnss.longitude 11.97456",
            "86400.100 vesc/iq -1.25",
            "86400.100 vesc/trip_gnss 2",
            "86400.200 erpm 1300.0",
            "86400.200 batt_voltage 75.3",
            "86400.200 vesc/duty 13.0",
            "86400.200 duty_cycle 0.13",
            "86400.200 pitch -14.32394487827058",
            "86400.200 mosfet_temp 41.0",
            "86400.200 speed 10.25",
            "86400.200 gnss.latitude 57.70888",
            "86400.200 gnss.longitude 11.97456",
            "86400.200 vesc/iq -1.25",
            "86400.200 vesc/trip_gnss 2",
        ],
        &[],
    );
    let (ride, _, _) = read("vesc-csv", &fixture("valid/vesc-analysis.csv"));
    assert_eq!(
        ride.channels[10].metadata,
        r#"{"program":"vesc","key":"trip_gnss","name":"Trip GNSS","unit":"m","precision":3,"relative":true,"timestamp":false}"#
    );
}

#[test]
fn logs_of_vesc_express_are_counted_where_they_have_no_time() {
    check(
        "vesc-csv",
        "valid/vesc-express.csv",
        &[
            "batt_voltage double V",
            "current double A",
            "duty_cycle double -",
            "erpm double rpm",
            "mosfet_temp double degC",
            "battery_level double -",
            "pitch double deg",
            "adc_left double V",
            "vesc/V11 Current int64 A",
        ],
        &[
            "0.000 batt_voltage 50.2",
            "0.000 current -3.5",
            "0.000 duty_cycle 0.31",
            "0.000 erpm 1200.0",
            "0.000 mosfet_temp 35.5",
            "0.000 battery_level 0.81",
            "0.000 pitch 5.729577951308233",
            "0.000 adc_left 3.1",
            "0.000 vesc/V11 Current 7",
            "1.000 batt_voltage 50.1",
            "1.000 current 2.0",
            "1.000 duty_cycle 0.31",
            "1.000 erpm 1210.0",
            "1.000 mosfet_temp 35.5",
            "1.000 battery_level 0.8",
            "1.000 pitch 5.729577951308233",
            "1.000 adc_left 3.1",
            "1.000 vesc/V11 Current 7",
        ],
        &["no column t_day; using one second per row"],
    );
}

#[test]
fn a_live_log_goes_by_places_and_waits_for_what_is_not_seen_yet() {
    let (ride, epoch, problems) = read("vesc-tool", &fixture("valid/vesc-tool-live.csv"));
    assert_eq!((epoch, problems.len()), (None, 0));
    // The first row, before midnight: values, but no setup, no angles and no place.
    let first: Vec<&str> = ride.lines.iter().filter_map(|line| line.strip_prefix("86399.950 ")).collect();
    assert_eq!(
        first,
        [
            "batt_voltage 75.4",
            "mosfet_temp 41.5",
            "vesc/temp_mos_1 41",
            "vesc/temp_mos_2 42",
            "vesc/temp_mos_3 41.5",
            "motor_temp 55.0",
            "current 12.5",
            "batt_current 3.25",
            "foc_d_current 0.5",
            "vesc/q_axis_current 12",
            "erpm 1234.0",
            "vesc/duty_cycle -0.125",
            "duty_cycle 0.125",
            "amp_hours.used 1.5",
            "amp_hours.charged 0.25",
            "watt_hours.used 110.0",
            "watt_hours.charged 18.0",
            "vesc/tachometer 1000",
            "vesc/tachometer_abs 2000",
            "vesc/encoder_position 0",
            "fault_code 0",
            "vesc/vesc_id 10",
            "vesc/d_axis_voltage -1.5",
            "vesc/q_axis_voltage 9.5",
        ]
    );
    // The second, 100 ms later on the next day.
    let second: Vec<&str> = ride.lines.iter().filter_map(|line| line.strip_prefix("86400.050 ")).collect();
    assert_eq!(ride.lines.len(), first.len() + second.len());
    assert_eq!(second[..4], ["batt_voltage 75.3", "mosfet_temp 41.6", "vesc/temp_mos_1 41", "vesc/temp_mos_2 42"]);
    assert_eq!(
        second[22..],
        [
            "vesc/d_axis_voltage -1.5",
            "vesc/q_axis_voltage 9.5",
            "vesc/ms_today_setup 45",
            "vesc/amp_hours_setup 1.5",
            "vesc/amp_hours_charged_setup 0.25",
            "vesc/watt_hours_setup 110",
            "vesc/watt_hours_charged_setup 18",
            "battery_level 0.75",
            "vesc/battery_wh_tot 500",
            "vesc/current_in_setup 3.25",
            "vesc/current_motor_setup 12.5",
            "speed 9.0",
            "vesc/tacho_meters 100.5",
            "distance 201.25",
            "vesc/num_vescs 1",
            "vesc/ms_today_imu 46",
            "roll 28.64788975654116",
            "pitch -14.32394487827058",
            "vesc/yaw 1",
            "vesc/accX 0.01",
            "vesc/accY -0.02",
            "vesc/accZ 0.98",
            "vesc/gyroX 1.5",
            "vesc/gyroY -2",
            "vesc/gyroZ 0.5",
            "vesc/gnss_posTime 47",
            "gnss.latitude 57.70887",
            "gnss.longitude 11.97456",
            "gnss.altitude 12.5",
            "gnss.speed 9.9",
            "vesc/gnss_vVel -0.1",
            "vesc/gnss_hAcc 3.5",
            "vesc/gnss_vAcc 4.25",
        ]
    );
    // With commas, and as old as the first 22 columns.
    let (comma, _, problems) = read("vesc-tool", &fixture("valid/vesc-tool-comma.csv"));
    assert_eq!((comma.lines.len(), problems.len()), (21, 0));
    assert_eq!(comma.lines[20], "0.050 vesc/vesc_id 10");
}

#[test]
fn float_control_is_read_in_both_systems_of_units() {
    let channels = [
        "float-control/State string -",
        "distance double m",
        "speed double km/h",
        "duty_cycle double -",
        "batt_voltage double V",
        "batt_current double A",
        "current double A",
        "foc_d_current double A",
        "balance_current double A",
        "balance_pitch double deg",
        "roll double deg",
        "setpoint double deg",
        "atr.setpoint double deg",
        "turn_tilt.setpoint double deg",
        "mosfet_temp double degC",
        "motor_temp double degC",
        "adc_left double V",
        "adc_right double V",
        "fault_code int64 -",
        "amp_hours.used double Ah",
        "amp_hours.charged double Ah",
        "watt_hours.used double Wh",
        "watt_hours.charged double Wh",
        "erpm double rpm",
        "gnss.altitude double m",
        "float-control/State(num) int64 -",
        "pitch double deg",
        "torque_tilt.setpoint double deg",
        "brake_tilt.setpoint double deg",
        "remote.setpoint double deg",
        "float-control/T-Batt double degC",
        "booster.current double A",
        "gnss.latitude double deg",
        "gnss.longitude double deg",
        "float-control/GPS-Accuracy double m",
    ];
    let names: Vec<&str> = channels.iter().map(|line| line.rsplitn(3, ' ').nth(2).unwrap()).collect();
    let rows = [
        "STARTUP 0.0 0.0 0.0 75.4 0.1 0.2 0.0 0.3 0.4 0.5 0.0 0.0 0.0 31.5 29.0 3.1 3.2 0 0.0 0.0 0.0 0.0 0.0 12.5 0 0.6 \
         0.0 0.0 0.0 0.0 0.0 57.70887 11.97456 4.7",
        "RIDING 1.5 12.3 0.45 74.9 5.5 21.7 1.5 22.1 -1.4 2.5 0.7 0.3 -0.2 32.5 29.5 3.0 3.3 0 0.01 0.002 0.7 0.1 2410.0 \
         12.6 1 -1.1 0.4 0.5 0.6 28.5 1.25 57.70888 11.97457 4.6",
    ];
    let lines: Vec<String> = ["0.000", "0.100"]
        .iter()
        .zip(rows)
        .flat_map(|(time, row)| {
            names.iter().zip(row.split(' ')).map(move |(name, cell)| format!("{time} {name} {cell}"))
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for file in ["valid/float-control.csv", "valid/float-control.zip"] {
        check("float-control", file, &channels, &lines, &[]);
    }
    let (miles, _, problems) = read("float-control", &fixture("valid/float-control-miles.csv"));
    assert_eq!(problems, [""; 0]);
    let has = |line: &str| assert!(miles.lines.iter().any(|found| found == line), "{line} in {:#?}", miles.lines);
    has("0.100 distance 2.414016");
    has("0.100 speed 19.794931200000004");
    has("0.100 duty_cycle 0.45");
    has("0.100 float-control/Duty% -45");
    has("0.100 float-control/T-BMS 27.5");
    has("0.100 float-control/T-Battery 26.5");
    has("0.100 float-control/BMS-Fault 0");
}

#[test]
fn floaty_has_the_wall_clock_and_null_is_no_sample() {
    let (ride, epoch, problems) = read("floaty", &fixture("valid/floaty.json"));
    assert_eq!(epoch, Some(1_717_243_200_000_000_000));
    assert_eq!(problems, [""; 0]);
    assert_eq!(
        ride.lines,
        [
            "0.000 floaty/ride {\"id\":\"ride-1\",\"name\":null,\"boardId\":\"board-7\",\"startTime\":1717243200000,\
             \"endTime\":1717243200300,\"stopReason\":1,\"polyline\":\"_p~iF~ps|U\",\"distance\":0.12}",
            "0.000 speed 10.5",
            "0.000 duty_cycle 0.25",
            "0.000 floaty/dutyCycle 0.25",
            "0.000 batt_voltage 75.4",
            "0.000 batt_current 3.25",
            "0.000 floaty/batteryPercent 81",
            "0.000 current 12.5",
            "0.000 motor_temp 29.0",
            "0.000 mosfet_temp 31.5",
            "0.000 floaty/tripDistance 0.1",
            "0.000 floaty/lifeDistance 1234.5",
            "0.000 floaty/remainingDistance 20",
            "0.000 roll 2.5",
            "0.000 balance_pitch -1.4",
            "0.000 pitch -1.1",
            "0.000 remote.setpoint 0.0",
            "0.000 floaty/throttle 0",
            "0.000 amp_hours.used 0.01",
            "0.000 watt_hours.used 0.7",
            "0.000 floaty/state 1",
            "0.000 floaty/switchState 2",
            "0.000 floaty/setpointAdjustmentType 2",
            "0.000 fault_code 0",
            "0.000 adc_left 3.1",
            "0.000 adc_right 3.2",
            "0.050 gnss.latitude 57.70887",
            "0.050 gnss.longitude 11.97456",
            "0.050 gnss.altitude 12.5",
            "0.050 floaty/locations/speed 2.75",
            "0.050 floaty/locations/accuracy 4.7",
            "0.100 duty_cycle 0.3",
            "0.100 floaty/dutyCycle -0.3",
            "0.100 batt_current 0.0",
            "0.100 floaty/state 1",
            "0.100 floaty/mode flow",
        ]
    );
}

#[test]
fn errors_are_reported_with_line_and_byte() {
    for (name, file, problems) in [
        (
            "refloat-csv",
            "refloat-cut.csv",
            &[
                "byte 0x55: line 3: erpm: \"fast\" is not a 32-bit number; skipped the row",
                "byte 0x6f: line 4: footpad: \"4\" is not a number up to 3 or a known word; skipped the row",
                "byte 0x89: line 5: time_ticks: \"4294967296\" is not a 32-bit tick; skipped the row",
                "byte 0xaa: line 6: time_ticks goes backwards from 100 to 90",
                "byte 0xaa: line 6: index 5 follows 0",
                "byte 0xaa: line 6: time_s is 0.900 but the ticks give -0.001; using the ticks",
                "byte 0xaa: line 6: erpm: 4108.5 is not a value that a board can record",
                "byte 0xc5: line 7: expected 8 cells as in the first line, found 5; skipped the row",
            ][..],
        ),
        (
            "vesc-csv",
            "vesc-analysis-rows.csv",
            &[
                "byte 0x3c: line 2: t_day: \"\" is not a timestamp; skipped the row",
                "byte 0x41: line 3: expected 3 cells as in the first line, found 4; skipped the row",
                "byte 0x55: line 5: expected 3 cells as in the first line, found 2; skipped the row",
                "byte 0x4b: line 4: erpm: \"x\" is not a number; skipped",
                "byte 0x4b: line 4: fault: \"0.5\" is not an integer; skipped",
            ][..],
        ),
        (
            "float-control",
            "float-control-cut.csv",
            &[
                "byte 0x1d5: line 3: expected 36 cells as in the first line, found 13; skipped the row",
                "byte 0x212: line 4: Time(s): \"later\" is not a timestamp; skipped the row",
            ][..],
        ),
        (
            "floaty",
            "floaty-entries.json",
            &[
                "\"locations\" is not a list; skipped",
                "logs[0] has no timestamp: \"1\"; skipped",
                "logs[1] has no timestamp: \"{\\\"speed\\\":1}\"; skipped",
                "\"speed\" of logs is not always a number; keeping it unchanged",
                "\"faultCode\" of logs is not always a number; keeping it unchanged",
            ][..],
        ),
    ] {
        let (_, _, reported) = read(name, &fixture(&format!("corrupt/{file}")));
        assert_eq!(reported, problems, "{file}");
    }
}

#[test]
fn what_cannot_be_read_at_all_gets_a_sentence() {
    let refused = |name: &str, file: &[u8]| {
        let (mut store, mut problems) = (Vec::new(), Problems::default());
        bridge(name).unpack(file, &ReadOptions::default(), &mut store, &mut problems).unwrap_err().to_string()
    };
    for (name, file, message) in [
        ("refloat-csv", "refloat-headless.csv", "refloat-csv: byte 0x0: line 1: duplicate column /refloat/erpm"),
        (
            "vesc-tool",
            "vesc-tool-short.csv",
            "vesc-tool: byte 0x2a5: line 2: found 4 cells, expected at least 22; skipped the row",
        ),
        (
            "float-control",
            "float-control-cut.zip",
            "float-control: byte 0x0: the zip file: invalid Zip archive: Could not find EOCD",
        ),
        (
            "float-control",
            "float-control-other.zip",
            "float-control: byte 0x0: notes.csv: line 1: expected Float Control columns, starting with \
             Time(s) and including Duty%",
        ),
        ("floaty", "floaty-cut.json", "floaty: byte 0x2bb: not JSON: EOF while parsing a string at line 4 column 410"),
        (
            "refloat-csv",
            "garbage.csv",
            "refloat-csv: byte 0x0: line 1: expected the columns to start with \
             index,time_ticks,time_s,running,wheelslip,footpad,sat",
        ),
        (
            "vesc-csv",
            "garbage.csv",
            "vesc-csv: byte 0x0: line 1: expected headings `key:name:unit:precision:relative:timestamp` separated \
             by `;`",
        ),
        (
            "vesc-tool",
            "garbage.csv",
            "vesc-tool: byte 0x0: line 1: found 1 cells, expected at least 22; skipped the row",
        ),
        ("floaty", "garbage.csv", "floaty: byte 0x0: not JSON: expected value at line 1 column 1"),
    ] {
        assert_eq!(refused(name, &fixture(&format!("corrupt/{file}"))), message, "{file}");
    }
    for name in ["refloat-csv", "vesc-csv", "float-control", "floaty"] {
        assert!(refused(name, b"").starts_with(&format!("{name}: byte 0x0: ")), "{name}");
    }
}

#[test]
fn sizes_that_are_too_large_are_refused() {
    let limits = Limits { channels: 3, ..Limits::default() };
    let how = ReadOptions { limits, ..ReadOptions::default() };
    for (name, file) in [
        ("refloat-csv", "valid/refloat.csv"),
        ("vesc-csv", "valid/vesc-analysis.csv"),
        ("float-control", "valid/float-control.csv"),
        ("floaty", "valid/floaty.json"),
    ] {
        let error = bridge(name).unpack(&fixture(file), &how, &mut Vec::new(), &mut Problems::default()).unwrap_err();
        assert!(error.to_string().contains("the limit is 3"), "{error}");
    }
}

/// Channels of a recording, and one more.
fn channels(more: &[(&str, &str)]) -> Vec<Channel> {
    let flags = [("running", "boolean"), ("wheelslip", "boolean"), ("footpad", "string"), ("adjustment", "string")];
    let all = flags.iter().chain([("erpm", "float")].iter()).chain(more);
    all.map(|(id, ty)| Channel::new(if id.starts_with('/') { (*id).into() } else { format!("/refloat/{id}") }, *ty))
        .collect()
}

/// A sample on each of the five channels.
fn samples(ns: i64, erpm: f32) -> Vec<Sample<'static>> {
    let values = [
        Value::Boolean(true),
        Value::Boolean(false),
        Value::String(b"both"),
        Value::String(b"none"),
        Value::Float(erpm),
    ];
    (0..).zip(values).map(|(channel, value)| Sample { channel, time: Time::from_nanos(ns), value }).collect()
}

#[test]
fn what_is_no_recording_is_refused_with_its_name() {
    let refused = |more: &[(&str, &str)]| RefloatRows::new(&channels(more), Vec::new()).unwrap_err().to_string();
    for (more, message) in [
        (
            ("/Drive/Speed", "double"),
            "\"/Drive/Speed\": is not part of a recording; exclude it with -n, or use --to csv",
        ),
        (("state", "string"), "\"/refloat/state\": is not part of a recording; exclude it with -n, or use --to csv"),
        (("a,b", "float"), "\"/refloat/a,b\": has a name that needs quotes, which this format does not support"),
        (("erpm", "double"), "\"/refloat/erpm\": occurs twice with different types"),
    ] {
        assert_eq!(refused(&[more]), format!("refloat-csv: channel {message}"));
    }
    let none = RefloatRows::new(&channels(&[])[1..], Vec::new()).unwrap_err().to_string();
    assert!(none.contains("\"/refloat/running\": is missing"), "{none}");

    let written = |calls: &[Vec<Sample<'_>>]| -> Result<Vec<u8>, SinkError> {
        let mut rows = RefloatRows::new(&channels(&[]), Vec::new())?;
        calls.iter().try_for_each(|samples| rows.samples(samples))?;
        rows.finish()?;
        Ok(rows.into_out())
    };
    for (calls, message) in [
        (vec![samples(50_000, 1.0)], "sample 0 at 0.000050 s is not a multiple of the 100 µs tick"),
        (vec![samples(-100_000, 1.0)], "is out of range for a first timestamp"),
        (
            vec![samples(0, 1.0), samples(300_000_000_000_000, 1.0)],
            "sample 1 at 300000.000 s is days after the sample before it",
        ),
        (vec![samples(0, f32::NAN)], "\"/refloat/erpm\": has a value at 0.000 s that a board cannot record"),
        (vec![samples(0, 1.0)[..4].to_vec()], "\"/refloat/running\": has 1 more samples than other channels"),
    ] {
        let error = written(&calls).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // A step back is one, as the board sent it.
    let back = written(&[samples(200_000, 1.0), samples(100_000, 1.0)]).unwrap();
    assert!(back.ends_with(b"\n0,2,0.0000,1,0,3,0,1\n1,1,-0.0001,1,0,3,0,1\n"));
    // Channel by channel is as good as sample by sample.
    let (first, second) = (samples(0, 1.0), samples(0, 2.0));
    let by_channel: Vec<Vec<Sample<'_>>> = first.iter().zip(&second).map(|(a, b)| vec![*a, *b]).collect();
    assert_eq!(written(&by_channel).unwrap(), written(&[first, second]).unwrap());
}

#[test]
fn only_whole_recordings_are_recordings() {
    let is = |more: &[(&str, &str)], count: u64| {
        let channels = channels(more);
        is_recording(channels.iter().map(|c| (c, if c.name == "/refloat/erpm" { count } else { 2 })))
    };
    assert!(is(&[], 2));
    assert!(is(&[("file/meta", "json"), ("file/info", "raw")], 2));
    assert!(!is(&[], 3));
    assert!(!is(&[("pitch", "double")], 2));
    assert!(!is(&[("state", "string")], 2));
    assert!(!is_recording(channels(&[])[1..].iter().map(|c| (c, 2))));
    assert!(!is_recording([]));
}

#[test]
fn texts_have_no_place_in_vesc_tool_and_are_named() {
    let more = [("file/meta", "json"), ("float-control/State", "string"), ("/Robot/Mode", "string")];
    let error = VescRows::new(&channels(&more), None, Vec::new()).unwrap_err().to_string();
    assert!(error.starts_with("vesc-csv: channel \"/refloat/float-control/State\": is not a number"), "{error}");
    assert!(error.contains("/Robot/Mode"), "{error}");
    let rows = VescRows::new(&channels(&more[..1]), None, Vec::new()).unwrap();
    let problem = rows.problems.list().first().unwrap();
    assert_eq!((problem.severity, problem.code), (Severity::Warning, "left-out"));
    // A cell without a value is empty, and NaN is reported.
    let mut rows = VescRows::new(&channels(&[]), None, Vec::new()).unwrap();
    rows.samples(&samples(0, 1.5)).unwrap();
    rows.samples(&samples(100_000, f32::NAN)[3..]).unwrap();
    rows.finish().unwrap();
    assert_eq!(rows.problems.list()[0].to_string(), "skipped 1 values that are not finite");
    let out = String::from_utf8(rows.into_out()).unwrap();
    assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), ["0;1;0;3;0;1.5", "0.0001;;;;0;"]);
}

#[test]
fn every_prefix_and_every_changed_byte_reads_without_panic() {
    let mut files = 0;
    for kind in ["valid", "corrupt"] {
        for entry in std::fs::read_dir(fixtures(kind)).unwrap() {
            let file = std::fs::read(entry.unwrap().path()).unwrap();
            files += 1;
            fuzzing::decode_rides(&file);
            for end in (0..file.len()).step_by(29) {
                fuzzing::decode_rides(&file[..end]);
            }
            for (place, byte) in (0..file.len()).step_by(31).zip(b";,:\n\"-0\xff".iter().cycle()) {
                let mut changed = file.clone();
                changed[place] = *byte;
                fuzzing::decode_rides(&changed);
            }
        }
    }
    assert!(files >= 18, "{files} files");
}
