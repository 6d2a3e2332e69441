//! Command, exit code and both streams, compared with `tests/transcripts/<name>.txt`.
//!
//! `make bless` accepts what is printed now; the difference is reviewed like code.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;

use regex::Regex;

use crate::run::{code, folder, stderr, stdout, typed};

/// A name, and what is typed one after the other in a fresh folder.
const CASES: &[(&str, &[&str])] = &[
    ("bare", &["logpose"]),
    ("help", &["logpose --help"]),
    ("help-convert", &["logpose convert --help"]),
    ("help-find", &["logpose find --help"]),
    (
        "follow-usage",
        &[
            "logpose cat --follow match.wpilog pit.wpilog",
            "logpose cat -f match.wpilog --order time",
            "logpose cat -f match.wpilog --wall",
            "logpose cat -f match.wpilog -S auto",
            "logpose cat -f match.wpilog -E -3s --json",
            "logpose grep -f warning match.wpilog --count",
            "logpose find -f 'x > 1' match.wpilog --show '*'",
            "logpose cat -f phone.zip",
            "logpose cat -f folder",
            "logpose cat -f match.wpilog -y '/Power/*' -N 2",
            "logpose open -f phone.zip --no-browser",
            "logpose open -f match.wpilog pit.wpilog --no-browser",
            "logpose open -f nt4://127.0.0.1 --no-browser",
            "logpose open -f - --no-browser",
        ],
    ),
    ("help-cat", &["logpose cat --help"]),
    ("help-open", &["logpose open --help"]),
    ("help-record", &["logpose record --help"]),
    ("help-play", &["logpose play --help"]),
    ("help-ds-robot", &["logpose ds robot --help"]),
    ("help-ds-station", &["logpose ds station --help"]),
    ("help-ds-proxy", &["logpose ds proxy --help"]),
    ("help-refloat", &["logpose refloat --help", "logpose refloat info --help"]),
    ("help-refloat-fetch", &["logpose refloat fetch --help"]),
    ("help-refloat-watch", &["logpose refloat watch --help"]),
    ("help-refloat-board", &["logpose refloat board --help"]),
    (
        "help-refloat-recorder",
        &["logpose refloat start -h", "logpose refloat autostart -h", "logpose refloat decimation -h"],
    ),
    (
        "refloat-usage",
        &[
            "logpose refloat info rlog://10.2.54.2",
            "logpose refloat info 254",
            "logpose refloat status 'a b'",
            "logpose refloat status refloat+serial:",
            "logpose refloat start 127.0.0.1:9",
            "logpose refloat start 127.0.0.1:9 --json",
            "logpose refloat autostart maybe 127.0.0.1:9",
            "logpose refloat decimation 0 127.0.0.1:9",
            "logpose refloat stop 127.0.0.1:9 --timeout 0s",
            "logpose refloat stop 127.0.0.1:9 --tries 0",
            "logpose refloat fetch 127.0.0.1:9 -o nowhere/x.rfrec",
            "logpose refloat fetch 127.0.0.1:9 -o match.wpilog",
            "logpose refloat watch 127.0.0.1:9 --every soon",
            "logpose refloat board --version 2.0",
            "logpose refloat board --scenario crash",
            "logpose refloat board --drop 2",
            "logpose refloat board --listen here",
            "logpose refloat board --pty x --udp",
            "logpose refloat board --file nowhere.rfrec",
            "logpose refloat board --file match.wpilog",
        ],
    ),
    (
        "ds-usage",
        &[
            "logpose ds station --robot 10.0.100.5",
            "logpose record ds://10.0.100.5 -o x.wpilog",
            "logpose ds station --robot 30000",
            "logpose ds station --enable-after 1s",
            "logpose ds station --match 'final 12'",
            "logpose ds station --alliance green1",
            "logpose ds station --script match.wpilog",
            "logpose ds station --joysticks pit.wpilog",
            "logpose ds station --duration soon",
            "logpose ds robot --script nowhere.txt",
            "logpose ds proxy",
            "logpose ds proxy --robot 127.0.0.1",
            "logpose ds proxy --robot 10.0.100.9",
        ],
    ),
    (
        "record-usage",
        &[
            "logpose record match.wpilog -o x.wpilog",
            "logpose record foxglove:// -o x.wpilog",
            "logpose record rlog://30000 -o x.wpilog",
            "logpose record rlog://127.0.0.1:9 -o x.parquet",
            "logpose record rlog://127.0.0.1:9 -o match.wpilog",
            "logpose record rlog://127.0.0.1:9 -o nowhere/x.wpilog",
            "logpose record rlog://127.0.0.1:9 -o x.wpilog --split often",
            "logpose record rlog://127.0.0.1:9 -o x.wpilog --trigger 'BatteryVoltage <'",
            "logpose record a=rlog://127.0.0.1:9 a=rlog://127.0.0.1:10 -o x.wpilog",
        ],
    ),
    (
        "play-usage",
        &[
            "logpose play match.wpilog",
            "logpose play match.wpilog --to out.mcap",
            "logpose play match.wpilog --to rlog://254",
            "logpose play match.wpilog rlog://127.0.0.1:9 --to rlog://:0",
            "logpose play nowhere.wpilog --to rlog://:0",
            "logpose play match.wpilog --to rlog://:0 --rate -1",
            "logpose play match.wpilog --to rlog://:0 --from soon",
            "logpose info rlog://10.2.54.2",
        ],
    ),
    ("version", &["logpose --version"]),
    ("info", &["logpose match.wpilog"]),
    ("info-json", &["logpose info match.wpilog --json"]),
    ("info-station", &["logpose station.wpilog", "logpose info station.wpilog --json"]),
    ("info-several", &["logpose pit.wpilog truncated.wpilog nowhere.wpilog"]),
    ("info-stdin", &["logpose info - < pit.wpilog"]),
    ("info-damaged", &["logpose garbage.wpilog", "logpose many.wpilog", "logpose -v many.wpilog"]),
    (
        "refloat-explain",
        &[
            "logpose demo -q",
            "logpose refloat explain demo/demo_nosedive.rfrec",
            "logpose info demo/demo_nosedive.rfrec",
            "logpose refloat explain demo/demo_nosedive.rfrec --seconds 0.5 -v --max-duty 96% --low-voltage 70",
            "logpose refloat explain demo/demo_nosedive.rfrec --seconds 0.3 --color always",
            "logpose refloat explain match.wpilog demo/demo_nosedive.rfrec --seconds 0.2",
            "logpose refloat explain match.wpilog",
            "logpose refloat explain match.wpilog --json",
            "logpose refloat explain demo/demo_nosedive.rfrec --max-duty 120%",
            "logpose refloat explain demo/demo_nosedive.rfrec --seconds 0",
        ],
    ),
    (
        "refloat-explain-json",
        &["logpose demo -q", "logpose refloat explain demo/demo_nosedive.rfrec --seconds 0.3 --json"],
    ),
    ("info-color", &["logpose match.wpilog --color always"]),
    ("list", &["logpose list match.wpilog", "logpose list match.wpilog --sort bytes -y '/Drive/*'"]),
    ("list-json", &["logpose list pit.wpilog --json", "logpose list pit.wpilog unsorted.wpilog --json -n '*Tilt'"]),
    (
        "list-schemas",
        &[
            "logpose list match.wpilog --schemas",
            "logpose list match.wpilog --schemas --json",
            "logpose list pit.wpilog --schemas",
        ],
    ),
    ("list-metadata", &["logpose list match.wpilog --metadata -y '*Battery*' -y system*"]),
    ("list-several", &["logpose list pit.wpilog truncated.wpilog -y '*Volt*'"]),
    ("cat", &["logpose cat match.wpilog -y '/Drive/*'", "logpose cat match.wpilog -N 3"]),
    ("cat-ndjson", &["logpose cat match.wpilog --json -y '/Drive/*' -N 6"]),
    ("cat-csv", &["logpose cat match.wpilog --format csv -y messages -N 3"]),
    ("cat-order", &["logpose cat unsorted.wpilog", "logpose cat unsorted.wpilog --order file"]),
    (
        "cat-times",
        &[
            "logpose cat match.wpilog -y '*Voltage' -S auto+3s..auto+5s",
            "logpose cat match.wpilog -y '*Voltage' -S -2s",
            "logpose cat match.wpilog -y '*Voltage' -S 28.5 -E 29.5",
            "logpose cat match.wpilog -y '*Voltage' -S 1..2 -E 3",
            "logpose cat match.wpilog -S soon",
        ],
    ),
    ("cat-wall", &["logpose cat match.wpilog --wall -y messages", "logpose cat pit.wpilog --wall"]),
    ("cat-merged", &["logpose cat pit.wpilog match.wpilog -y '*Voltage' -y '*Tilt' -E 2"]),
    (
        "cat-damaged",
        &[
            "logpose cat truncated.wpilog -S 30",
            "logpose cat many.wpilog",
            "logpose cat many.wpilog -q",
            "logpose cat many.wpilog --json",
        ],
    ),
    ("cat-escapes", &["logpose cat evil.wpilog", "logpose list evil.wpilog", "logpose grep red evil.wpilog"]),
    (
        "cat-no-channel",
        &[
            "logpose cat match.wpilog -y Voltage",
            "logpose cat match.wpilog -n '*'",
            "logpose cat match.wpilog -y re:Volt[",
            "logpose cat match.wpilog -y Voltage --json",
        ],
    ),
    (
        "dump",
        &[
            "logpose dump pit.wpilog",
            "logpose dump pit.wpilog --at 0xc -N 1",
            "logpose dump pit.wpilog --at 9999",
            "logpose dump pit.wpilog --at here",
        ],
    ),
    ("dump-json", &["logpose dump pit.wpilog --json -N 2"]),
    ("dump-damaged", &["logpose dump tail.wpilog"]),
    (
        "du",
        &[
            "logpose du match.wpilog",
            "logpose du match.wpilog --flat",
            "logpose du match.wpilog --depth 1 -y '/Drive/*'",
        ],
    ),
    ("du-json", &["logpose du pit.wpilog --json"]),
    ("du-damaged", &["logpose du truncated.wpilog --depth 1"]),
    (
        "stats",
        &[
            "logpose stats match.wpilog",
            "logpose stats match.wpilog -y '*Voltage' -S auto..auto --percentiles 1,50,99",
            "logpose stats pit.wpilog unsorted.wpilog",
            "logpose stats truncated.wpilog -y '*Count'",
            "logpose stats evil.wpilog",
            "logpose stats match.wpilog --percentiles 101",
            "logpose stats match.wpilog -y nothing",
        ],
    ),
    (
        "stats-json",
        &["logpose stats match.wpilog --json -y '/Drive/Count' -y 'DS:enabled' -y messages -y '/Drive/Speeds'"],
    ),
    (
        "stats-csv",
        &["logpose stats match.wpilog --format csv", "logpose stats pit.wpilog over-wide.wpilog --format csv"],
    ),
    (
        "find",
        &[
            "logpose find 'BatteryVoltage < 11.45' match.wpilog",
            "logpose find \"mode = 'auto' and BatteryVoltage <= 11.4\" match.wpilog --show '/Drive/*' --show '*Voltage'",
            "logpose find 'Pose.x > 2 and not enabled' match.wpilog --pad 1s",
            "logpose find 'age(Drive/Count) >= 4.5s' match.wpilog --merge 1s -N 1",
            "logpose find 'BatteryVoltage > 11' match.wpilog pit.wpilog",
            "logpose find 'Tilt > 1' match.wpilog pit.wpilog",
            "logpose find 'BatteryVoltage < 1' match.wpilog",
            "logpose find enabled truncated.wpilog --color always -S 10",
        ],
    ),
    (
        "find-json",
        &[
            "logpose find 'changed(messages)' match.wpilog --json --show messages",
            "logpose find 'BatteryVoltage > 12.2' match.wpilog pit.wpilog --json",
            "logpose find 'BatteryVoltage >' match.wpilog --json",
        ],
    ),
    (
        "find-usage",
        &[
            "logpose find 'BateryVoltage < 1' match.wpilog",
            "logpose find 'BatteryVoltage < ' match.wpilog",
            "logpose find 'BatteryVoltage' match.wpilog",
            "logpose find 'Pose > 1' match.wpilog",
            "logpose find 'messages > 1' match.wpilog",
            "logpose find 'BatteryVoltage < 1' match.wpilog --pad soon",
        ],
    ),
    (
        "diff",
        &[
            "logpose diff match.wpilog match.wpilog",
            "logpose convert match.wpilog -o part.wpilog -S ..20 -n '/Drive/*' -q",
            "logpose diff match.wpilog part.wpilog",
            "logpose diff match.wpilog part.wpilog --ignore-missing",
            "logpose diff match.wpilog pit.wpilog",
            "logpose diff match.wpilog pit.wpilog --align start --tolerance '/Power/*=0.6' --ignore-missing",
            "logpose diff pit.wpilog truncated.wpilog -y '*Voltage' --color always",
            "logpose diff match.wpilog headless.rlog --align noon",
            "logpose diff match.wpilog match.wpilog --tolerance 0.1",
        ],
    ),
    ("diff-json", &["logpose diff match.wpilog pit.wpilog --json -y '*Voltage' -y '*Tilt'"]),
    (
        "grep",
        &[
            "logpose grep -i warning match.wpilog",
            "logpose grep -c warning -i match.wpilog pit.wpilog",
            "logpose grep --invert a match.wpilog",
            "logpose grep -i 'slip|hot' match.wpilog --color always",
        ],
    ),
    (
        "grep-nothing",
        &["logpose grep zebra match.wpilog", "logpose grep zebra match.wpilog -c", "logpose grep 'a(' match.wpilog"],
    ),
    (
        "grep-json",
        &[
            "logpose grep -i warning match.wpilog --json",
            "logpose grep auto match.wpilog pit.wpilog --json",
            "logpose grep -c auto match.wpilog --json",
        ],
    ),
    (
        "grep-names",
        &["logpose grep --names Volt match.wpilog", "logpose grep --names Volt match.wpilog pit.wpilog --json"],
    ),
    (
        "doctor",
        &["logpose doctor match.wpilog", "logpose doctor garbage.wpilog", "logpose doctor pit.wpilog truncated.wpilog"],
    ),
    ("doctor-json", &["logpose doctor truncated.wpilog --json", "logpose doctor match.wpilog --json"]),
    (
        "recover",
        &[
            "logpose recover garbage.wpilog --map lost.json",
            "logpose doctor garbage.recovered.wpilog",
            "logpose recover garbage.wpilog",
            "logpose recover match.wpilog -o whole.wpilog",
            "logpose recover truncated.wpilog --json --force",
            "logpose recover garbage.wpilog -o ./garbage.wpilog --force",
        ],
    ),
    (
        "convert",
        &[
            "logpose convert match.wpilog -o match.csv -y messages",
            "logpose convert match.wpilog -o match.csv -y messages",
            "logpose convert match.wpilog -o match.csv -y messages --force -q",
            "logpose convert match.wpilog -o auto.wpilog -S auto..teleop --verify",
            "logpose list auto.wpilog -y '*Voltage'",
            "logpose convert pit.wpilog match.wpilog -o both.ndjson.gz",
            "logpose convert match.wpilog --to ndjson -o - -y messages -E 2",
        ],
    ),
    ("convert-wide", &["logpose convert match.wpilog -o - --to csv --wide --every 5s -y '*Voltage' -y '*Count'"]),
    (
        "convert-rides",
        &[
            "logpose convert ride.csv -o ride.rfrec",
            "logpose convert ride.rfrec -o again.csv --verify",
            "logpose convert again.csv -o -  --to refloat-csv",
            "logpose convert ride.rfrec -o vesc.csv --to vesc-csv --verify",
            "logpose cat vesc.csv -N 3",
            "logpose convert ride.rfrec -o part.csv -y '*erpm'",
            "logpose convert match.wpilog -o match.csv --to refloat-csv",
            "logpose convert phone.zip -o phone.csv --to vesc-csv",
            "logpose cat phone.zip -N 4",
        ],
    ),
    (
        "convert-rlog",
        &[
            "logpose convert match.wpilog -o match.rlog --verify",
            "logpose match.rlog",
            "logpose convert match.wpilog -o old.rlog --rlog-revision 1",
            "logpose dump match.rlog -N 5",
        ],
    ),
    ("convert-json", &["logpose convert pit.wpilog -o pit2.wpilog --json"]),
    (
        "convert-align",
        &[
            "logpose convert match.wpilog station.wpilog -o both.wpilog --align enabled --verify",
            "logpose cat both.wpilog -y '*enabled'",
            "logpose convert match.wpilog station.wpilog -o - --to csv --align enabled -y '*enabled' -S auto..auto",
            "logpose convert match.wpilog station.wpilog -o both.mcap --align enabled --json",
            "logpose convert match.wpilog pit.wpilog -o no.mcap --align enabled",
            "logpose convert match.wpilog -o no.mcap --align enabled",
            "logpose convert match.wpilog station.wpilog -o no/ --align enabled",
        ],
    ),
    (
        "convert-usage",
        &[
            "logpose convert match.wpilog",
            "logpose convert match.wpilog -o out.xlsx",
            "logpose convert match.wpilog -o -",
            "logpose convert match.wpilog -o out.wpilog --wide",
            "logpose convert match.wpilog -o out.csv --rlog-revision 2",
            "logpose convert match.wpilog -o out.csv --every 20ms",
            "logpose convert match.wpilog -o out.csv --wide --every fast",
            "logpose convert match.wpilog -o nowhere/out.csv",
        ],
    ),
    (
        "plot",
        &[
            "logpose plot match.wpilog -y '*Voltage' -y '*Count' -y DS:enabled --terminal --size 72x20",
            "logpose plot match.wpilog -y '*Speeds' --terminal --size 72x16 -S auto..auto --color always",
            "logpose plot match.wpilog --xy /Drive/Pose.x /Drive/Pose.y --terminal --size 60x16",
            "logpose plot match.wpilog -y '/Drive/Speeds[0]' -o one.svg",
            "logpose plot match.wpilog -y '/Drive/Speeds[0]' -o one.svg",
            "logpose plot match.wpilog -y '/Drive/Pose.*' -o one.svg --force -q",
        ],
    ),
    (
        "plot-usage",
        &[
            "logpose plot match.wpilog",
            "logpose plot match.wpilog -y '*Voltage'",
            "logpose plot match.wpilog -y Voltage --terminal",
            "logpose plot match.wpilog -y '/Drive/Pose.z' --terminal",
            "logpose plot match.wpilog -y '*Voltage' -o plot.pdf",
            "logpose plot match.wpilog -y '*Voltage' -o -",
            "logpose plot match.wpilog -y '*Voltage' -o plot.svg -S 500",
            "logpose plot match.wpilog -y '*Voltage' -o plot.svg --size 10x10",
            "logpose plot match.wpilog -y '*Voltage' -o plot.svg --size big",
            "logpose plot match.wpilog -y '*Voltage' -o nowhere/plot.svg",
            "logpose plot match.wpilog --xy '/Drive/Pose*' /Drive/Pose.y -o plot.svg",
            "logpose plot pit.wpilog -y '*' --align teleop -o plot.svg",
        ],
    ),
    ("help-plot", &["logpose plot --help"]),
    ("dialects", &["logpose dialects", "logpose dialects --markdown"]),
    ("help-sql", &["logpose sql --help"]),
    (
        "sql",
        &[
            "logpose sql 'SELECT channel, type, samples, first, last FROM channels ORDER BY channel' match.wpilog",
            "logpose sql 'SELECT time, value.x, value FROM \"/Drive/Pose\"' match.wpilog",
            "logpose sql 'SELECT mode, enabled, start, \"end\" FROM modes; SELECT * FROM matches' match.wpilog",
            "logpose sql 'SELECT * FROM wide($$10s$$, $$/Power/*$$, $$/Drive/*$$)' match.wpilog",
            "logpose sql 'SELECT * FROM asof($$/Drive/Count$$, $$/Power/BatteryVoltage$$, $$1s$$)' match.wpilog",
            "logpose sql 'SELECT channel, count(*), avg(number) FROM samples GROUP BY channel HAVING count(*) > 3 ORDER BY channel' match.wpilog",
            "logpose sql 'SELECT time, value FROM messages LIMIT 1' match.wpilog --wall",
            "logpose sql match.wpilog < query.sql",
            "logpose sql -f query.sql match.wpilog",
            "logpose sql 'SELECT channel, text FROM samples' evil.wpilog",
        ],
    ),
    (
        "sql-formats",
        &[
            "logpose sql 'SELECT * FROM \"/Drive/Count\" LIMIT 2' match.wpilog --json",
            "logpose sql 'SELECT * FROM \"/Drive/Speeds\" LIMIT 2' match.wpilog --format ndjson",
            "logpose sql 'SELECT time, value FROM messages' match.wpilog --format csv",
            "logpose sql 'SELECT * FROM samples' match.wpilog -o all.parquet",
            "logpose sql 'SELECT * FROM samples' match.wpilog -o all.parquet",
            "logpose sql 'SELECT * FROM samples' match.wpilog -o all.xlsx",
            "logpose sql 'SELECT 1; SELECT 2' match.wpilog --json",
        ],
    ),
    (
        "sql-several",
        &[
            "logpose sql 'SELECT log, count(*), max(time) FROM samples GROUP BY log ORDER BY log' 'p*.wpilog' match.wpilog",
            "logpose sql 'SELECT log, value FROM \"/Power/BatteryVoltage\" ORDER BY log, time LIMIT 2' pit.wpilog nowhere.wpilog",
            "logpose sql 'SELECT count(*) FROM samples' truncated.wpilog",
        ],
    ),
    (
        "sql-errors",
        &[
            "logpose sql 'SELECT * FROM \"/Drive/Speds\"' match.wpilog",
            "logpose sql 'SELECT valeu FROM \"/Drive/Speeds\"' match.wpilog",
            "logpose sql 'SELECT * FROM /Drive/Speeds' match.wpilog",
            "logpose sql 'SELECT * FROM samples WHERE channel = \"/Drive/Speeds\"' match.wpilog",
            "logpose sql 'SELECT avrg(number) FROM samples' match.wpilog --json",
            "logpose sql 'DROP TABLE samples' match.wpilog",
            "logpose sql 'SELECT 1'",
            "logpose sql",
            "logpose sql nowhere.wpilog",
            "logpose sql 'SELECT 1 AS one' match.wpilog --wall --limit-memory little",
        ],
    ),
    (
        "help-lake",
        &["logpose ingest --help", "logpose lake --help", "logpose lake get --help", "logpose lake compact --help"],
    ),
    (
        "lake",
        &[
            "logpose ingest season match.wpilog pit.wpilog truncated.wpilog --team 254 --collection 2026casf",
            "logpose ingest season match.wpilog truncated.wpilog nowhere.wpilog",
            "logpose ingest season match.wpilog pit.wpilog -v",
            "logpose ingest season many.wpilog --collection practice --label robot=old --json",
            "logpose lake ls season",
            "logpose sql --lake season 'SELECT log, channel, samples, min, max FROM channels WHERE channel LIKE $$%Voltage$$ ORDER BY log'",
            "logpose sql --lake season 'SELECT log, count(*), max(time) FROM samples GROUP BY log ORDER BY log'",
            "logpose sql --lake season 'SELECT valeu FROM samples'",
            "logpose sql --lake season 'SELECT 1' match.wpilog",
            "logpose lake compact season --dry-run",
            "logpose lake compact season",
            "logpose lake compact season",
            "logpose lake get season pit.wpilog -o back.wpilog",
            "logpose diff pit.wpilog back.wpilog",
            "logpose lake get season pit.wpilog -o back.wpilog",
            "logpose lake rm season pit.wpilog",
            "logpose lake rm season pit.wpilog",
            "logpose lake verify season --deep",
            "logpose lake clean season",
            "logpose lake clean season --older-than 0s",
            "logpose lake verify season --json",
        ],
    ),
    (
        "lake-usage",
        &[
            "logpose ingest",
            "logpose ingest match.wpilog pit.wpilog",
            "logpose ingest lake match.wpilog --shard 3/2",
            "logpose ingest lake match.wpilog --label robot",
            "logpose lake ls nowhere",
            "logpose lake ls folder",
            "logpose lake ls match.wpilog",
            "logpose lake ls ftp://robot/lake",
            "logpose sql --lake nowhere 'SELECT 1'",
        ],
    ),
    ("help-carla", &["logpose carla --help", "logpose carla collisions --help"]),
    ("help-carla-state", &["logpose carla state --help"]),
    (
        "carla-info",
        &[
            "logpose carla info traffic.log",
            "logpose carla info attached.log --all --time-zone +02:00",
            "logpose carla info traffic.log no-frames.log nowhere.log",
            "logpose carla info - < traffic.log",
        ],
    ),
    (
        "carla-info-facts",
        &[
            "logpose carla info traffic.log --json",
            "logpose carla info '[tu]*.log' --format table",
            "logpose carla info traffic.log no-frames.log --format csv --time-zone -05:30",
            "logpose carla info traffic.log no-frames.log --format ndjson",
        ],
    ),
    (
        "carla-collisions",
        &[
            "logpose carla collisions traffic.log",
            "logpose carla collisions traffic.log --types v v",
            "logpose carla collisions traffic.log --types hero w --format table",
            "logpose carla collisions traffic.log --json",
            "logpose carla collisions traffic.log --types v v --json",
            "logpose carla collisions traffic.log all-packets.log --format csv",
        ],
    ),
    (
        "carla-blocked",
        &[
            "logpose carla blocked traffic.log",
            "logpose carla blocked traffic.log --min-time 0.05 --min-distance 120",
            "logpose carla blocked traffic.log --min-time 0.05 --min-distance 120 --format table",
            "logpose carla blocked traffic.log --min-time 0.05 --min-distance 120 --format ndjson",
        ],
    ),
    (
        "carla-state",
        &[
            "logpose carla state traffic.log --time 0.22",
            "logpose carla state traffic.log --time 0.22 --mode carla --actor 24",
            "logpose carla state traffic.log --time -0.1s --actor class:traffic_light --actor role:hero --format csv",
            "logpose carla state traffic.log --time 9 --actor 'walker.*'",
            "logpose carla state traffic.log --time 0.22 --actor 'walker.*' --format ndjson",
            "logpose carla state traffic.log --time 2020-09-13T12:26:40.1Z --actor 24",
        ],
    ),
    ("carla-state-json", &["logpose carla state all-packets.log --time +0s --json"]),
    (
        "carla-replay",
        &[
            "logpose carla replay traffic.log --start 0.2 --duration 0.1",
            "logpose carla replay traffic.log --start -0.1 --factor 2 --follow 24 --ignore-hero --ignore-spectator --format csv",
            "logpose carla replay traffic.log --start 0.3 --duration 9 --delta 0.1 --json",
        ],
    ),
    (
        "carla-edit",
        &[
            "logpose carla crop traffic.log -o part.log -S 0.2..0.3",
            "logpose carla info part.log",
            "logpose carla drop traffic.log -o alone.log --actor class:walker --actor 25",
            "logpose carla info alone.log",
            "logpose carla rename traffic.log -o town.log --map Town05",
            "logpose carla concat traffic.log part.log part.log -o long.log --json",
            "logpose carla info long.log --format table",
            "logpose carla concat traffic.log town.log -o no.log",
            "logpose carla concat traffic.log -o no.log",
            "logpose carla crop traffic.log -o no.log",
            "logpose carla crop traffic.log -o no.log -S 7..8",
            "logpose carla drop traffic.log -o no.log --actor 'vehicle.bmw.*'",
            "logpose carla rename traffic.log -o part.log --map Town01",
        ],
    ),
    (
        "carla-damaged",
        &[
            "logpose carla info cut-in-packet.log",
            "logpose carla info traffic.log cut-in-packet.log --format csv",
            "logpose carla collisions cut-in-packet.log --json",
            "logpose carla state cut-in-packet.log --time 0.1 --actor 24",
            "logpose carla state elapsed-flipped.log --time 0.1 --actor 24",
            "logpose carla crop cut-in-packet.log -o part.log -E 0.1",
            "logpose carla info wrong-magic.log",
            "logpose carla info version-3.log --json",
            "logpose carla info match.wpilog",
            "logpose carla info folder",
            "logpose carla info empty.wpilog",
            "logpose carla blocked nowhere.log",
        ],
    ),
    (
        "carla-usage",
        &[
            "logpose carla inof traffic.log",
            "logpose carla collisions traffic.log --types v x",
            "logpose carla info traffic.log --time-zone CET",
            "logpose carla state traffic.log",
            "logpose carla state traffic.log --time soon",
            "logpose carla state traffic.log --time auto",
            "logpose carla state no-frames.log --time 1",
            "logpose carla state traffic.log --time -1",
            "logpose carla state traffic.log --time 0 --actor class:car",
            "logpose carla replay traffic.log --delta 0",
            "logpose carla replay traffic.log --factor -1",
            "logpose carla replay traffic.log --start nan",
        ],
    ),
    (
        "patterns",
        &[
            "logpose list 'p?t.*' -q",
            "logpose info 'nothing*.wpilog'",
            "logpose list 'nothing*.wpilog' 'p*.wpilog' -y '*Tilt' --json",
            "logpose dump 'nothing*.wpilog'",
        ],
    ),
    (
        "not-a-log",
        &[
            "logpose nowhere.wpilog",
            "logpose folder",
            "logpose empty.wpilog",
            "logpose notes.txt",
            "logpose cat rlog://10.2.54.2",
            "logpose notes.txt --json",
            "logpose empty.wpilog --json",
        ],
    ),
    (
        "usage",
        &[
            "logpose inof match.wpilog",
            "logpose list",
            "logpose list match.wpilog --nonsense",
            "logpose list --nonsense --json",
            "logpose info match.wpilog --from ulog",
            "logpose -q -v match.wpilog",
        ],
    ),
    (
        "from",
        &[
            "logpose info pit.wpilog --from wpilog",
            "logpose info pit.wpilog --from rlog:1",
            "logpose info headless.rlog",
            "logpose list headless.rlog --rlog-revision 2",
            "logpose list headless.rlog --from rlog:2 -q",
            "logpose convert headless.rlog -o old.rlog --from rlog:2 --rlog-revision 1",
            "logpose dump old.rlog -N 2",
        ],
    ),
];

#[test]
fn commands_print_what_their_transcripts_say() {
    let bless = logpose_testkit::bless();
    let transcripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut failed = Vec::new();
    // What SQL answers only a build with SQL can show, and a lake only a build with lakes.
    let shown = |name: &str| {
        (cfg!(feature = "sql") || !name.starts_with("sql")) && (cfg!(feature = "lake") || !name.starts_with("lake"))
    };
    let cases = CASES.iter().filter(|(name, _)| shown(name));
    for (name, lines) in cases {
        let dir = folder();
        let mut now = String::new();
        for line in *lines {
            let _ =
                write!(now, "{}{}", if now.is_empty() { "" } else { "\n" }, transcript(line, &typed(dir.path(), line)));
        }
        let path = transcripts.join(format!("{name}.txt"));
        if bless {
            fs::create_dir_all(&transcripts).unwrap();
            fs::write(&path, &now).unwrap();
            continue;
        }
        let before = fs::read_to_string(&path).unwrap_or_default();
        if before != now {
            failed.push(format!("{name}:\n{}", difference(&before, &now)));
        }
    }
    assert!(failed.is_empty(), "`make bless` accepts these:\n{}", failed.join("\n"));
}

#[test]
fn every_transcript_has_its_case() {
    let transcripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let files: BTreeSet<String> =
        fs::read_dir(transcripts).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let cases: BTreeSet<String> = CASES.iter().map(|(name, _)| format!("{name}.txt")).collect();
    assert_eq!(files, cases);
}

fn transcript(line: &str, output: &Output) -> String {
    let mut text = format!("$ {line}\nexit {}\n", code(output));
    for (stream, bytes) in [("stdout", stdout(output)), ("stderr", stderr(output))] {
        if !bytes.is_empty() {
            let end = if bytes.ends_with('\n') { "" } else { "\n(no line break at the end)\n" };
            let _ = write!(text, "--- {stream}\n{}{end}", visible(&bytes));
        }
    }
    text
}

/// Escape sequences as text, and what differs from run to run as a word.
fn visible(text: &str) -> String {
    let rate = Regex::new(r"in [0-9.]+ s \([0-9,]+ samples/s\)").unwrap();
    let compressed = Regex::new(r"(\.gz: .* channels), [0-9.]+ k?B").unwrap();
    let text = rate.replace_all(text, "in TIME (RATE)");
    let text = compressed.replace_all(&text, "$1, SIZE");
    let text = if cfg!(windows) { as_on_unix(&text) } else { text.into_owned() };
    text.replace('\x1b', "\\e").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// What Windows says otherwise: the names of files that a command makes in a folder, and that there is no file.
fn as_on_unix(text: &str) -> String {
    let absent = Regex::new(r": [^:\n]+ \(os error 2\)").unwrap();
    absent.replace_all(&text.replace(r"demo\", "demo/"), ": No such file or directory (os error 2)").into_owned()
}

/// The lines from the first that differs on.
fn difference(before: &str, now: &str) -> String {
    let same = before.lines().zip(now.lines()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| {
        text.lines().skip(same.saturating_sub(2)).take(12).map(|line| format!("    {line}\n")).collect::<String>()
    };
    format!("  expected from line {}:\n{}  now:\n{}", same + 1, part(before), part(now))
}
