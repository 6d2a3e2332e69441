"""The logs that are converted: written by WPILib's own writer, made by `logpose demo`, and those of the corpus.

WPILib's writer puts a Start record where the caller says; the written logs have it right before the first value, with its
time. That is the form that logpose writes too, so what comes back must be the same file, byte for byte.
"""

import dataclasses
import math
import struct

from conftest import APPEND, DataLogWriter
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from wpimath.geometry import Pose2d, Pose3d, Quaternion, Rotation2d, Rotation3d, Transform2d, Translation3d
from wpiutil import wpistruct


class Writing:
    """A log under WPILib's pen. Each entry starts with its first value."""

    def __init__(self, path, extra=""):
        self.log = DataLogWriter(str(path), extra)
        self.entries = {}

    def append(self, time, name, kind, value, metadata=""):
        if name not in self.entries:
            self.entries[name] = self.log.start(name, kind, metadata, time)
        if kind == "json" and isinstance(value, str):
            value = value.encode()
        raw = isinstance(value, bytes) or kind not in APPEND
        getattr(self.log, "appendRaw" if raw else APPEND[kind])(self.entries[name], value, time)

    def struct(self, time, name, values, metadata=""):
        """A struct, or a list of some, after the schemas that explain it."""
        many = isinstance(values, list)
        ty = type(values[0] if many else values)
        wpistruct.forEachNested(ty, lambda inner, schema: self.schema(time, inner, "structschema", schema.encode()))
        payload = wpistruct.packArray(values) if many else wpistruct.pack(values)
        kind = "struct:" + wpistruct.getTypeName(ty) + ("[]" if many else "")
        self.append(time, name, kind, bytes(payload), metadata)

    def schema(self, time, name, kind, payload):
        if not name.startswith(("struct:", "proto:")):
            name = f"struct:{name}"
        if f"/.schema/{name}" not in self.entries:
            self.append(time, f"/.schema/{name}", kind, payload)

    def metadata(self, time, name, text):
        self.log.setMetadata(self.entries[name], text, time)

    def finish(self, time, name):
        self.log.finish(self.entries.pop(name), time)

    def flush(self):
        self.log.flush()

    def close(self):
        self.log.flush()
        self.log.stop()
        del self.log


NAN = struct.unpack("<d", bytes.fromhex("0100000000adf87f"))[0]
DOUBLES = [0.0, -0.0, 0.1, -1e300, 5e-324, math.inf, -math.inf, math.nan, NAN, -math.nan, 2.0**53 + 2, 1e16, 1e21, 1 / 3]
FLOATS = [0.0, -0.0, 0.1, 3.4028234663852886e38, 1e-45, math.inf, -math.inf, math.nan, -1.5]
INTEGERS = [0, -1, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 1234567890123456789]
TEXTS = ["", "plain", "a,b", 'say "hi"', "two\nlines", "cr\r\nlf", "\r", "\t", "héllo", "😀", "\u2028", "x" * 70_000, "\0", "null", " pad "]


def values(path):
    """Every plain type, with the values at its edges."""
    log = Writing(path, "made by WPILib")
    time = 1_000
    samples = {
        "boolean": [False, True, True],
        "int64": INTEGERS,
        "float": FLOATS,
        "double": DOUBLES,
        "string": TEXTS,
        "boolean[]": [[], [True, False, True], [False] * 300],
        "int64[]": [[], INTEGERS, [7]],
        "float[]": [[], FLOATS],
        "double[]": [[], DOUBLES, [math.nan]],
        "string[]": [[], TEXTS[:11], [""], [""] * 70, ["😀", "\n"]],
        "raw": [b"", bytes(range(256)), b"\0"],
        "json": ['{"a":[1,2.50,null],"b":"\\u00e9"}', "[]", '"text"', "17"],
        "msgpack": [b"\x81\xa1a\x01", b"\xc0"],
        "something else": [b"", b"abc"],
    }
    for turn in range(max(map(len, samples.values()))):
        for kind, all_values in samples.items():
            if turn < len(all_values):
                time += 17
                log.append(time, f"/values/{kind}", kind, all_values[turn], '{"source":"test"}' if turn == 0 else "")
    log.close()


@wpistruct.make_wpistruct(name="Mixed")
@dataclasses.dataclass
class Mixed:
    flag: bool
    tiny: wpistruct.int8
    small: wpistruct.uint16
    whole: wpistruct.int32
    large: wpistruct.uint64
    real: float
    exact: wpistruct.double
    where: Pose2d


def poses(n):
    """Poses that have not one number in common."""
    flat = Pose2d(1.5 + n, -2.25 * n, Rotation2d(0.1 * n))
    # WPILib rounds nothing of a quaternion that has the length 1 already.
    solid = Pose3d(Translation3d(n, 2.0 * n, -0.5), Rotation3d(Quaternion(0.5, -0.5, 0.5, -0.5)))
    return flat, solid


# Fields that Python's structs do not have; some names are words of ROS and of Python.
STATE = b"enum {idle=0, run=1} int8 mode; uint8 low:3; uint8 high:5; char label[6]; float parts[3]; int32 from; bool okay"


def state(n):
    return struct.pack("<bB6s3fi?", n % 3, n % 256, f"s{n}".encode(), n, 0.5, -n, n * 1000, n % 2 == 0)


def structs(path):
    """Structs of WPILib's geometry, alone and in arrays, and one of every kind of field."""
    log = Writing(path)
    for n in range(60):
        time = 2_000_000 + 20_000 * n
        flat, solid = poses(n)
        log.struct(time, "/RealOutputs/Odometry/Robot", flat)
        log.struct(time, "/Vision/Camera", solid)
        log.struct(time, "/Vision/Targets", [poses(n + i)[1] for i in range(n % 4)] or [solid])
        log.struct(time, "/Path", [poses(i)[0] for i in range(1 + n % 5)])
        log.struct(time, "/Offset", Transform2d(0.5 * n, 1.0, Rotation2d(-0.5)))
        mixed = Mixed(n % 2 == 0, -n, 65535 - n, -(2**31) + n, 2**64 - 1 - n, 0.25 * n, 0.1 * n, flat)
        log.struct(time, "/Mixed", mixed)
        log.schema(time, "State", "structschema", STATE)
        log.append(time, "/State", "struct:State", state(n))
        log.append(time, "/States", "struct:State[]", state(n) * 2)
        log.append(time, "/Path/empty", "struct:Pose2d[]", b"")
        # Too short: it fits no schema and must still come back.
        log.append(time, "/Short", "struct:Pose2d", b"\0" * (n % 24))
        log.append(time, "/Unknown", "struct:NeverDeclared", bytes([n] * 5))
    log.close()


def protobuf_types():
    """WPILib's geometry in protobuf, spelled as its own files do."""
    label, kind = descriptor_pb2.FieldDescriptorProto, descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="geometry2d.proto", package="wpi.proto", syntax="proto3")

    def message(name, *fields):
        out = file.message_type.add(name=name)
        for number, (field, ty, repeated) in enumerate(fields, 1):
            one = out.field.add(name=field, number=number)
            one.label = label.LABEL_REPEATED if repeated else label.LABEL_OPTIONAL
            if isinstance(ty, str):
                one.type, one.type_name = kind.TYPE_MESSAGE, f".wpi.proto.{ty}"
            else:
                one.type = ty

    message("ProtobufTranslation2d", ("x", kind.TYPE_DOUBLE, False), ("y", kind.TYPE_DOUBLE, False))
    message("ProtobufRotation2d", ("value", kind.TYPE_DOUBLE, False))
    message(
        "ProtobufPose2d", ("translation", "ProtobufTranslation2d", False), ("rotation", "ProtobufRotation2d", False)
    )
    trail = [("name", kind.TYPE_STRING, False), ("ids", kind.TYPE_INT64, True), ("poses", "ProtobufPose2d", True)]
    message("Trail", *trail)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    get = lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"wpi.proto.{name}"))  # noqa: E731
    return file, get("ProtobufPose2d"), get("Trail")


def protobuf_messages(n):
    _, pose_type, trail_type = protobuf_types()
    poses = []
    for i in range(n % 3 + 1):
        pose = pose_type()
        pose.translation.x, pose.translation.y, pose.rotation.value = n + 0.5, -float(i), 0.25 * i
        poses.append(pose)
    return poses[0], trail_type(name=f"tréil {n}", ids=[n, -n, 2**62], poses=poses)


def protobuf(path):
    log = Writing(path)
    file, _, _ = protobuf_types()
    for n in range(20):
        time = 500_000 + n
        pose, trail = protobuf_messages(n)
        log.schema(time, "proto:geometry2d.proto", "proto:FileDescriptorProto", file.SerializeToString())
        log.append(time, "/Pose", f"proto:{pose.DESCRIPTOR.full_name}", pose.SerializeToString())
        log.append(time, "/Trail", f"proto:{trail.DESCRIPTOR.full_name}", trail.SerializeToString())
    log.close()


NAMES = [
    "/plain",
    "no slash",
    "/",
    "//",
    ".",
    "..",
    "/a.b",
    "/a/b",
    "/A/B",
    "/A/b",
    "/a b",
    "/percent%2Fsign%",
    "/équipe/😀",
    "CON",
    "/con",
    "/aux.parquet",
    "/quote\"'`",
    "/new\nline",
    "/tab\tback\\slash",
    "/comma,semi;colon:",
    "/glob*?[x]",
    "/eq=ual&hash#",
    "time",
    "time_ns",
    "channel",
    "value",
    "logpose/events",
    "/tf",
    "-n",
    "2026",
    "true",
    "null",
    "/plain (double)",
    "/plain (bytes)",
    "/plain/foxglove",
    " lead and trail ",
    "/trailing.",
    "/long/" + "x" * 190,
    "NT:/SmartDashboard/Field/Robot",
]


def names(path):
    """Names that are hard for files, for SQL and for tables; numbers only, each its own."""
    log = Writing(path)
    for turn in range(3):
        for n, name in enumerate(NAMES):
            log.append(10_000 * (turn + 1) + n, name, "int64", 100 * n + turn)
    log.close()


def shared(path):
    """Two channels under one name, and a third that has the name which the second gets."""
    log = Writing(path)
    log.append(100, "/both (int64)", "string", "mine")
    log.append(110, "/both", "double", 1.5)
    log.append(120, "/both", "double", 2.5)
    log.finish(130, "/both")
    log.append(140, "/both", "int64", 7)
    log.finish(150, "/both")
    log.append(160, "/both", "double", 3.5)
    log.finish(170, "/both")
    log.append(180, "/both", "string", "text")
    log.close()


def lifecycle(path):
    """Metadata that change, entries that end and begin again, in between and at the very end."""
    log = Writing(path)
    log.append(10, "/a", "double", 1.0, '{"unit":"m"}')
    log.append(20, "/b", "int64", 1, "free text, two\nlines")
    log.metadata(30, "/a", '{"unit":"m/s"}')
    log.append(40, "/a", "double", 2.0)
    log.metadata(41, "/a", "")
    log.metadata(42, "/a", "é 😀")
    log.finish(50, "/a")
    log.append(60, "/b", "int64", 2)
    log.append(70, "/a", "double", 3.0, '{"unit":"m"}')
    log.finish(80, "/b")
    log.append(90, "/b", "int64", 3, "another")
    log.append(91, "/c", "string", "only one")
    log.finish(92, "/c")
    log.metadata(99, "/a", "last")
    log.finish(100, "/a")
    log.finish(100, "/b")
    log.close()


def times(path):
    """Times that go back, stay, are negative, and lie years apart."""
    log = Writing(path)
    microseconds = [5_000_000, 1, 5_000_000, 4_999_999, -1, -1_000_000, -(10**12), 10**15, 3, 3, 3, 2**52, 2**32, 7]
    for turn, time in enumerate(microseconds):
        log.append(time, "/forth", "int64", turn)
        log.append(microseconds[-1 - turn], "/back", "double", turn / 7)
    log.close()


def odd(path):
    """Payloads that no value of their type is written as; they are kept all the same."""
    log = Writing(path)
    log.append(1, "/text", "string", b"bad \xff utf-8")
    log.append(2, "/text", "string", b"good")
    log.append(3, "/texts", "string[]", b"\x02\0\0\0\x01\0\0\0a\x02\0\0\0\xff\xfe")
    log.append(4, "/texts", "string[]", b"\0\0\0\0")
    log.append(5, "/flags", "boolean[]", b"\x01\x00\x05")
    log.append(6, "/flags", "boolean[]", b"\x01\x00")
    log.append(7, "/float", "float", bytes.fromhex("0100807f"))  # a signalling NaN
    log.append(8, "/float", "float", bytes.fromhex("0100c0ff"))
    log.append(9, "/floats", "float[]", bytes.fromhex("0100807f0000803f"))
    log.append(10, "/double", "double", bytes.fromhex("010000000000f07f"))
    log.append(11, "/doubles", "double[]", bytes.fromhex("010000000000f07f000000000000f03f"))
    log.append(12, "/json", "json", b"no json")
    log.close()


def large(path):
    """More than is converted at one go: some pieces, with changes of metadata in each."""
    log = Writing(path)
    for n in range(300):
        time = 1_000_000 + 1_000 * n
        log.append(time, "/Camera/Frame", "raw", struct.pack("<I", n) * 30_000)
        log.append(time + 1, "/Camera/Number", "int64", n * n)
        for i in range(40):
            log.append(time + 2 + i, "/Speed", "double", n + i / 40)
        if n % 90 == 45:
            log.metadata(time + 50, "/Speed", f'{{"turn":{n}}}')
        if n % 100 == 99:
            log.finish(time + 60, "/Camera/Number")
        log.flush()
    log.close()


def empty(path):
    Writing(path).close()


WRITTEN = [values, structs, protobuf, names, shared, lifecycle, times, odd, large, empty]
