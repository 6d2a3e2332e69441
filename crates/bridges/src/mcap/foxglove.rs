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
    /// `foxglove.FrameTransforms`, from the map to all actors.
    Frames,
    /// `foxglove.SceneUpdate`
    Scene,
}

impl Message {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pose => "foxglove.PoseInFrame",
            Self::Poses => "foxglove.PosesInFrame",
            Self::Robot => "foxglove.FrameTransform",
            Self::Frames => "foxglove.FrameTransforms",
            Self::Scene => "foxglove.SceneUpdate",
        }
    }

    /// Appends the message for the poses in `payload`.
    pub(crate) fn emit(self, pose: Pose, time: u64, payload: &[u8], out: &mut Vec<u8>) {
        stamp(out, 1, time);
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
        if !matches!(self, Self::Robot | Self::Frames) {
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
            Self::Scene => scene_files(&mut set),
            Self::Robot | Self::Frames => {
                let fields = [
                    stamp,
                    ("parent_frame_id", 2, STRING),
                    ("child_frame_id", 3, STRING),
                    ("translation", 4, Field::One(".foxglove.Vector3")),
                    ("rotation", 5, Field::One(".foxglove.Quaternion")),
                ];
                let parts = [parts[0], parts[1], "google/protobuf/timestamp.proto"];
                file(&mut set, "foxglove/FrameTransform.proto", "foxglove", &parts, "FrameTransform", &fields);
                if self == Self::Frames {
                    let fields = [("transforms", 1, Field::Many(".foxglove.FrameTransform"))];
                    let parts = ["foxglove/FrameTransform.proto"];
                    file(&mut set, "foxglove/FrameTransforms.proto", "foxglove", &parts, "FrameTransforms", &fields);
                }
            }
        }
        set
    }
}

/// The frame in which poses stand, and that of the robot.
const FIELD: &[u8] = b"field";
const ROBOT: &[u8] = b"robot";

/// Appends a `google.protobuf.Timestamp` as a field.
pub(super) fn stamp(out: &mut Vec<u8>, number: u8, time: u64) {
    nested(out, number, |out| {
        out.push(1 << 3);
        varint(out, time / 1_000_000_000);
        out.push(2 << 3);
        varint(out, time % 1_000_000_000);
    });
}

/// The type of a field in a descriptor.
#[derive(Clone, Copy)]
enum Field {
    Plain(u8),
    /// Many plain ones.
    List(u8),
    One(&'static str),
    Many(&'static str),
    /// One of the names of an enumeration.
    Choice(&'static str),
}

/// Appends what `foxglove.SceneUpdate` is made of, behind vectors, quaternions, poses and timestamps. All of the
/// published messages are there, because viewers look for their fields.
fn scene_files(set: &mut Vec<u8>) {
    let pose = ("pose", 1, Field::One(".foxglove.Pose"));
    let color = |number| ("color", number, Field::One(".foxglove.Color"));
    let colors = |number| ("colors", number, Field::Many(".foxglove.Color"));
    let points = |number| ("points", number, Field::Many(".foxglove.Point3"));
    let indices = |number| ("indices", number, Field::List(FIXED32));
    let size = ("size", 2, Field::One(".foxglove.Vector3"));
    let number = |name: &'static str, place: u8| (name, place, DOUBLE);
    file(
        set,
        "google/protobuf/duration.proto",
        "google.protobuf",
        &[],
        "Duration",
        &[("seconds", 1, INT64), ("nanos", 2, INT32)],
    );
    let mut add = |name: &str, imports: &[&str], fields: &[(&str, u8, Field)], choices: Option<&[&str]>| {
        let imports: Vec<String> = imports.iter().map(|name| format!("{name}.proto")).collect();
        let imports: Vec<&str> = imports.iter().map(String::as_str).collect();
        file_with(set, &format!("foxglove/{name}.proto"), "foxglove", &imports, name, fields, choices);
    };
    const POSE: &str = "foxglove/Pose";
    const COLOR: &str = "foxglove/Color";
    const VECTOR: &str = "foxglove/Vector3";
    const POINT: &str = "foxglove/Point3";
    const STAMP: &str = "google/protobuf/timestamp";
    add("Color", &[], &[number("r", 1), number("g", 2), number("b", 3), number("a", 4)], None);
    add("Point3", &[], &[number("x", 1), number("y", 2), number("z", 3)], None);
    add("KeyValuePair", &[], &[("key", 1, STRING), ("value", 2, STRING)], None);
    let shaft = [pose, number("shaft_length", 2), number("shaft_diameter", 3), number("head_length", 4)];
    add("ArrowPrimitive", &[COLOR, POSE], &[&shaft[..], &[number("head_diameter", 5), color(6)]].concat(), None);
    add("CubePrimitive", &[COLOR, POSE, VECTOR], &[pose, size, color(3)], None);
    add("SpherePrimitive", &[COLOR, POSE, VECTOR], &[pose, size, color(3)], None);
    let cylinder = [pose, size, number("bottom_scale", 3), number("top_scale", 4), color(5)];
    add("CylinderPrimitive", &[COLOR, POSE, VECTOR], &cylinder, None);
    let line = [
        ("type", 1, Field::Choice(".foxglove.LinePrimitive.Type")),
        ("pose", 2, Field::One(".foxglove.Pose")),
        number("thickness", 3),
        ("scale_invariant", 4, BOOL),
        points(5),
        color(6),
        colors(7),
        indices(8),
    ];
    add("LinePrimitive", &[COLOR, POINT, POSE], &line, Some(&["LINE_STRIP", "LINE_LOOP", "LINE_LIST"]));
    add("TriangleListPrimitive", &[COLOR, POINT, POSE], &[pose, points(2), color(3), colors(4), indices(5)], None);
    let text = [
        pose,
        ("billboard", 2, BOOL),
        number("font_size", 3),
        ("scale_invariant", 4, BOOL),
        color(5),
        ("text", 6, STRING),
    ];
    add("TextPrimitive", &[COLOR, POSE], &text, None);
    let model = [
        pose,
        ("scale", 2, Field::One(".foxglove.Vector3")),
        color(3),
        ("override_color", 4, BOOL),
        ("url", 5, STRING),
        ("media_type", 6, STRING),
        ("data", 7, BYTES),
    ];
    add("ModelPrimitive", &[COLOR, POSE, VECTOR], &model, None);
    let stamp = ("timestamp", 1, Field::One(".google.protobuf.Timestamp"));
    let deletion = [stamp, ("type", 2, Field::Choice(".foxglove.SceneEntityDeletion.Type")), ("id", 3, STRING)];
    add("SceneEntityDeletion", &[STAMP], &deletion, Some(&["MATCHING_ID", "ALL"]));
    let many = |name: &'static str, place: u8, ty: &'static str| (name, place, Field::Many(ty));
    let entity = [
        stamp,
        ("frame_id", 2, STRING),
        ("id", 3, STRING),
        ("lifetime", 4, Field::One(".google.protobuf.Duration")),
        ("frame_locked", 5, BOOL),
        many("metadata", 6, ".foxglove.KeyValuePair"),
        many("arrows", 7, ".foxglove.ArrowPrimitive"),
        many("cubes", 8, ".foxglove.CubePrimitive"),
        many("spheres", 9, ".foxglove.SpherePrimitive"),
        many("cylinders", 10, ".foxglove.CylinderPrimitive"),
        many("lines", 11, ".foxglove.LinePrimitive"),
        many("triangles", 12, ".foxglove.TriangleListPrimitive"),
        many("texts", 13, ".foxglove.TextPrimitive"),
        many("models", 14, ".foxglove.ModelPrimitive"),
    ];
    let imports = [
        "foxglove/ArrowPrimitive",
        "foxglove/CubePrimitive",
        "foxglove/CylinderPrimitive",
        "foxglove/KeyValuePair",
        "foxglove/LinePrimitive",
        "foxglove/ModelPrimitive",
        "foxglove/SpherePrimitive",
        "foxglove/TextPrimitive",
        "foxglove/TriangleListPrimitive",
        "google/protobuf/duration",
        STAMP,
    ];
    add("SceneEntity", &imports, &entity, None);
    let update = [many("deletions", 1, ".foxglove.SceneEntityDeletion"), many("entities", 2, ".foxglove.SceneEntity")];
    add("SceneUpdate", &["foxglove/SceneEntity", "foxglove/SceneEntityDeletion"], &update, None);
}

// Numbers of `google.protobuf.FieldDescriptorProto.Type`.
const DOUBLE: Field = Field::Plain(1);
const INT64: Field = Field::Plain(3);
const INT32: Field = Field::Plain(5);
const FIXED32: u8 = 7;
const BOOL: Field = Field::Plain(8);
const STRING: Field = Field::Plain(9);
const MESSAGE: u8 = 11;
const BYTES: Field = Field::Plain(12);
const ENUM: u8 = 14;

/// Appends a file with one message to a `FileDescriptorSet`.
fn file(set: &mut Vec<u8>, path: &str, package: &str, imports: &[&str], message: &str, fields: &[(&str, u8, Field)]) {
    file_with(set, path, package, imports, message, fields, None);
}

/// The same, for a message that may have an enumeration `Type` with these names.
fn file_with(
    set: &mut Vec<u8>,
    path: &str,
    package: &str,
    imports: &[&str],
    message: &str,
    fields: &[(&str, u8, Field)],
    choices: Option<&[&str]>,
) {
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
                    Field::List(ty) => (3, *ty, None),
                    Field::One(name) => (1, MESSAGE, Some(name)),
                    Field::Many(name) => (3, MESSAGE, Some(name)),
                    Field::Choice(name) => (1, ENUM, Some(name)),
                };
                nested(out, 2, |out| {
                    nested(out, 1, |out| out.extend_from_slice(name.as_bytes()));
                    out.extend_from_slice(&[3 << 3, *number, 4 << 3, label, 5 << 3, ty]);
                    if let Some(name) = type_name {
                        nested(out, 6, |out| out.extend_from_slice(name.as_bytes()));
                    }
                });
            }
            if let Some(choices) = choices {
                nested(out, 4, |out| {
                    nested(out, 1, |out| out.extend_from_slice(b"Type"));
                    for (choice, number) in choices.iter().zip(0_u8..) {
                        nested(out, 2, |out| {
                            nested(out, 1, |out| out.extend_from_slice(choice.as_bytes()));
                            out.extend_from_slice(&[2 << 3, number]);
                        });
                    }
                });
            }
        });
        nested(out, 12, |out| out.extend_from_slice(b"proto3"));
    });
}

/// Appends a field whose value is bytes with a length in front.
pub(super) fn nested(out: &mut Vec<u8>, number: u8, write: impl FnOnce(&mut Vec<u8>)) {
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

pub(super) fn doubles(out: &mut Vec<u8>, numbers: &[f64]) {
    for (number, tag) in numbers.iter().zip((1_u8..).map(|place| place << 3 | 1)) {
        out.push(tag);
        out.extend_from_slice(&number.to_le_bytes());
    }
}

pub(super) fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}
