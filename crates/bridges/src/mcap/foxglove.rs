//! Poses as Foxglove's well-known messages, so that its 3D panel shows the robot.

use logpose_core::array_at;
use logpose_schema::wpistruct::{Layout, Scalar};

/// A struct that is a pose: where its numbers lie.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pose {
    /// x, y, angle.
    Flat,
    /// x, y, z and a quaternion with w first.
    Solid,
}

impl Pose {
    /// The pose that a struct is, by what its schema says.
    pub(crate) fn of(layout: &Layout) -> Option<Self> {
        if !["Pose2d", "Pose3d", "Transform2d", "Transform3d"].contains(&layout.name.as_str()) {
            return None;
        }
        let columns = layout.columns(8).ok()?;
        if columns.iter().any(|column| column.scalar != Scalar::Double || column.count.is_some()) {
            return None;
        }
        let paths: Vec<&str> = columns.iter().map(|column| column.path.as_str()).collect();
        [Self::Flat, Self::Solid].into_iter().find(|pose| pose.paths() == paths)
    }

    fn paths(self) -> &'static [&'static str] {
        match self {
            Self::Flat => &["translation/x", "translation/y", "rotation/value"],
            Self::Solid => &[
                "translation/x",
                "translation/y",
                "translation/z",
                "rotation/q/w",
                "rotation/q/x",
                "rotation/q/y",
                "rotation/q/z",
            ],
        }
    }

    /// Bytes of one.
    pub(crate) fn size(self) -> usize {
        self.paths().len() * 8
    }

    /// Position, then the quaternion with w last.
    fn numbers(self, bytes: &[u8]) -> Option<([f64; 3], [f64; 4])> {
        let number = |place: usize| array_at(bytes, place * 8).map(|b| f64::from_le_bytes(*b));
        Some(match self {
            Self::Flat => {
                let (sin, cos) = (number(2)? / 2.0).sin_cos();
                ([number(0)?, number(1)?, 0.0], [0.0, 0.0, sin, cos])
            }
            Self::Solid => ([number(0)?, number(1)?, number(2)?], [number(4)?, number(5)?, number(6)?, number(3)?]),
        })
    }
}

/// One of Foxglove's messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Message {
    /// `foxglove.PoseInFrame`
    Pose,
    /// `foxglove.PosesInFrame`
    Poses,
    /// `foxglove.FrameTransform`, from the field to the robot.
    Robot,
}

impl Message {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pose => "foxglove.PoseInFrame",
            Self::Poses => "foxglove.PosesInFrame",
            Self::Robot => "foxglove.FrameTransform",
        }
    }

    /// Appends the message for the poses in `payload`.
    pub(crate) fn emit(self, pose: Pose, time: u64, payload: &[u8], out: &mut Vec<u8>) {
        nested(out, 1, |out| {
            out.push(1 << 3);
            varint(out, time / 1_000_000_000);
            out.push(2 << 3);
            varint(out, time % 1_000_000_000);
        });
        nested(out, 2, |out| out.extend_from_slice(FIELD));
        if self == Self::Robot {
            nested(out, 3, |out| out.extend_from_slice(ROBOT));
        }
        for (position, orientation) in payload.chunks_exact(pose.size()).filter_map(|bytes| pose.numbers(bytes)) {
            let place = |out: &mut Vec<u8>, first: u8| {
                nested(out, first, |out| doubles(out, &position));
                nested(out, first + 1, |out| doubles(out, &orientation));
            };
            match self {
                Self::Robot => place(out, 4),
                _ => nested(out, 3, |out| place(out, 1)),
            }
        }
    }

    /// The descriptors that explain it: a `FileDescriptorSet`.
    pub(crate) fn descriptors(self) -> Vec<u8> {
        let vector = [("x", 1, DOUBLE), ("y", 2, DOUBLE), ("z", 3, DOUBLE)];
        let quaternion = [("x", 1, DOUBLE), ("y", 2, DOUBLE), ("z", 3, DOUBLE), ("w", 4, DOUBLE)];
        let timestamp = [("seconds", 1, INT64), ("nanos", 2, INT32)];
        let pose =
            [("position", 1, Field::One(".foxglove.Vector3")), ("orientation", 2, Field::One(".foxglove.Quaternion"))];
        let stamp = ("timestamp", 1, Field::One(".google.protobuf.Timestamp"));
        let mut set = Vec::new();
        file(&mut set, "google/protobuf/timestamp.proto", "google.protobuf", &[], "Timestamp", &timestamp);
        file(&mut set, "foxglove/Vector3.proto", "foxglove", &[], "Vector3", &vector);
        file(&mut set, "foxglove/Quaternion.proto", "foxglove", &[], "Quaternion", &quaternion);
        let parts = ["foxglove/Quaternion.proto", "foxglove/Vector3.proto"];
        let pose_parts = ["foxglove/Pose.proto", "google/protobuf/timestamp.proto"];
        if self != Self::Robot {
            file(&mut set, "foxglove/Pose.proto", "foxglove", &parts, "Pose", &pose);
        }
        match self {
            Self::Pose => {
                let fields = [stamp, ("frame_id", 2, STRING), ("pose", 3, Field::One(".foxglove.Pose"))];
                file(&mut set, "foxglove/PoseInFrame.proto", "foxglove", &pose_parts, "PoseInFrame", &fields);
            }
            Self::Poses => {
                let fields = [stamp, ("frame_id", 2, STRING), ("poses", 3, Field::Many(".foxglove.Pose"))];
                file(&mut set, "foxglove/PosesInFrame.proto", "foxglove", &pose_parts, "PosesInFrame", &fields);
            }
            Self::Robot => {
                let fields = [
                    stamp,
                    ("parent_frame_id", 2, STRING),
                    ("child_frame_id", 3, STRING),
                    ("translation", 4, Field::One(".foxglove.Vector3")),
                    ("rotation", 5, Field::One(".foxglove.Quaternion")),
                ];
                let parts = [parts[0], parts[1], "google/protobuf/timestamp.proto"];
                file(&mut set, "foxglove/FrameTransform.proto", "foxglove", &parts, "FrameTransform", &fields);
            }
        }
        set
    }
}

/// The frame in which poses stand, and that of the robot.
const FIELD: &[u8] = b"field";
const ROBOT: &[u8] = b"robot";

/// The type of a field in a descriptor.
#[derive(Clone, Copy)]
enum Field {
    Plain(u8),
    One(&'static str),
    Many(&'static str),
}

// Numbers of `google.protobuf.FieldDescriptorProto.Type`.
const DOUBLE: Field = Field::Plain(1);
const INT64: Field = Field::Plain(3);
const INT32: Field = Field::Plain(5);
const STRING: Field = Field::Plain(9);
const MESSAGE: u8 = 11;

/// Appends a file with one message to a `FileDescriptorSet`.
fn file(set: &mut Vec<u8>, path: &str, package: &str, imports: &[&str], message: &str, fields: &[(&str, u8, Field)]) {
    nested(set, 1, |out| {
        nested(out, 1, |out| out.extend_from_slice(path.as_bytes()));
        nested(out, 2, |out| out.extend_from_slice(package.as_bytes()));
        for import in imports {
            nested(out, 3, |out| out.extend_from_slice(import.as_bytes()));
        }
        nested(out, 4, |out| {
            nested(out, 1, |out| out.extend_from_slice(message.as_bytes()));
            for (name, number, field) in fields {
                let (label, ty, type_name) = match field {
                    Field::Plain(ty) => (1, *ty, None),
                    Field::One(name) => (1, MESSAGE, Some(name)),
                    Field::Many(name) => (3, MESSAGE, Some(name)),
                };
                nested(out, 2, |out| {
                    nested(out, 1, |out| out.extend_from_slice(name.as_bytes()));
                    out.extend_from_slice(&[3 << 3, *number, 4 << 3, label, 5 << 3, ty]);
                    if let Some(name) = type_name {
                        nested(out, 6, |out| out.extend_from_slice(name.as_bytes()));
                    }
                });
            }
        });
        nested(out, 12, |out| out.extend_from_slice(b"proto3"));
    });
}

/// Appends a field whose value is bytes with a length in front.
fn nested(out: &mut Vec<u8>, number: u8, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(number << 3 | 2);
    let start = out.len();
    write(out);
    let length = out.len() - start;
    // Nearly all are shorter than 128 bytes; then the length is one byte.
    let mut prefix = Vec::new();
    match u8::try_from(length) {
        Ok(short @ ..0x80) => out.insert(start, short),
        _ => {
            varint(&mut prefix, length as u64);
            out.splice(start..start, prefix);
        }
    }
}

fn doubles(out: &mut Vec<u8>, numbers: &[f64]) {
    for (number, tag) in numbers.iter().zip((1_u8..).map(|place| place << 3 | 1)) {
        out.push(tag);
        out.extend_from_slice(&number.to_le_bytes());
    }
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}
