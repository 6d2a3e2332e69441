//! What the tests share.

use logpose_core::Value;
use logpose_driverstation::Mapper;
use logpose_testkit::{Literal, Show};
pub(crate) use logpose_testkit::{hex as bytes, ms};

/// Datagrams and messages of section 11: to the robot and to the station, by UDP and, without their sizes, by TCP.
pub(crate) struct Samples {
    pub(crate) control: Vec<Vec<u8>>,
    pub(crate) status: Vec<Vec<u8>>,
    pub(crate) to_robot: Vec<Vec<u8>>,
    pub(crate) to_station: Vec<Vec<u8>>,
}

pub(crate) fn samples() -> Samples {
    let list = |lines: &[&str]| lines.iter().map(|line| bytes(line)).collect();
    Samples {
        control: list(&[
            "00 01 01 00 00 00",
            "00 02 01 00 10 00 0b 0f 00 05 3f b6 10 01 14 11 07 7c 08 10 50 53 54 38 50 44 54",
            "0b db 01 00 11 04",
            "1c 6b 01 04 10 04 0e 0c 06 f9 ff 00 00 06 02 10 00 0a 01 ff ff",
            "00 33 01 04 10 00 0e 0c 06 16 a2 00 7f 80 ff 0a 00 32 01 00 b4 07 0c 02 32 ce 03 07 00 05 07 41 5f ff 80",
            "00 2f 01 04 10 00 0f 0c 05 80 ff 00 01 7f 0a 02 05 02 00 00 01 3b",
            "00 2f 01 04 10 00 01 0c 04 0c 00 00 00 03 77 01 02",
        ]),
        status: list(&[
            "00 01 01 00 11 25 60 01",
            "00 2c 01 00 31 09 12 00 22 05 02 41 1b 56 31 00 00 00 00 00 00 00 00 3f d0 e0 03 40 e5 f2 f2 \
             00 00 00 00 00 00 00 00 3f f0 0d e7 0f 0e 00 00 00 00 00 00 00 00 00 00 00 01 00 80",
            "00 31 01 00 31 09 19 00 09 04 00 00 00 00 c0 98 b0 00 09 06 00 00 00 00 0f 1e 60 00",
            "00 34 01 04 20 0c 00 00 01 01 01 01 09 01 80 00 00 05 3f ff ff ff 0a 09 00 01 02 03 04 05 06 07 08",
            "00 35 01 04 20 0c 00 00 1a 08 00 00 04 02 00 c0 40 14 00 60 1c 08 02 40 a0 2c 00 c0 34 0e 03 c0 ff a4 58",
            "00 36 01 04 20 0c 00 00 22 08 01 00 c8 40 06 96 20 a3 0f 2c 79 05 19 c2 d1 67 22 58 2a ca 2b ee \
             82 2c 35 84 db 0e 10 20 30 ff 00",
        ]),
        to_robot: list(&[
            "",
            "02 00 01 01 21 \"Controller (Xbox One For Windows)\" 06 00 01 02 03 04 05 10 01",
            "02 02 00 ff 00 00 00 00",
            "07 00 00 00 00 00",
            "0e 41 41 41",
            "0e",
            "55 01 02",
        ]),
        to_station: list(&[
            "00 \"Warning <Code> 44007 <secondsSinceReboot> 653.173\" 0a",
            "01 00 fe 00 \"V1K0N0C2\"",
            "04 00 01 00 02",
            "05 00 01 00 02 00 03",
            "0a 00 00 00 00 0d \"roboRIO Image\" 16 \"FRC_roboRIO2_2024_v2.2\"",
            "0a 00 00 00 00 00 00",
            "0b c4 21 35 25 00 6d 00 01 00 00 00 04 01 00 03 \"abc\" 00 01 \"d\" 00 02 \"ef\"",
            "0c c4 21 84 d5 00 01 \"*** Robot program starting ***\"",
            "0d 00 00 04 04 04",
        ]),
    }
}

/// What came, a line a sample: `12.345 name value`.
pub(crate) type Lines = logpose_testkit::Lines<Shown>;

/// Numbers as literals, texts as they are, bytes without blanks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown;

impl Show for Shown {
    fn show(value: &Value<'_>) -> String {
        match value {
            Value::String(text) => String::from_utf8_lossy(text).into_owned(),
            Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Value::BooleanArray(bytes) => format!("{bytes:?}"),
            value => Literal::show(value),
        }
    }
}

/// A link, its sink, and packets that need no bytes.
#[derive(Default)]
pub(crate) struct Play {
    pub(crate) mapper: Mapper,
    pub(crate) sink: Lines,
}

impl Play {
    /// A plain disabled control packet.
    pub(crate) fn send(&mut self, at_ms: i64, sequence: u16) {
        let [high, low] = sequence.to_be_bytes();
        self.mapper.control(ms(at_ms), 0, &[high, low, 1, 0, 0x10, 0], &mut self.sink).unwrap();
    }

    /// A plain reply.
    pub(crate) fn reply(&mut self, at_ms: i64, sequence: u16) {
        let [high, low] = sequence.to_be_bytes();
        self.mapper.status(ms(at_ms), 0, &[high, low, 1, 0, 0x31, 12, 0, 0], &mut self.sink).unwrap();
    }

    pub(crate) fn reach(&mut self, at_ms: i64) {
        self.mapper.reach(ms(at_ms), &mut self.sink).unwrap();
    }
}
