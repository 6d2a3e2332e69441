"""Our MCAP files are sound, and Foxglove's packages find in them what WPILib's reader finds in the log."""

import collections
import json
import math
import struct

import pytest
from conftest import Log
from mcap.reader import NonSeekingReader, SeekingReader
from mcap_doctor import Doctor
from mcap_protobuf.decoder import DecoderFactory as Protobuf
from mcap_ros1.decoder import DecoderFactory as Ros1

COMPRESSIONS = ["zstd", "lz4", "none"]


def mcap(log, compression="zstd"):
    return log.convert(f"{compression}.mcap", "--compression", compression)


def doctor(log, compression="zstd"):
    return log.once(f"doctor {compression}", lambda: Doctor(mcap(log, compression)))


def offset_of(found):
    """What is added to times, which MCAP has no sign for."""
    [(_, name, metadata)] = found.metadata
    assert name == "logpose" and metadata["version"] == "1" and metadata["origin"] == "wpilog"
    return int(metadata["offset_ns"])


def role(channel):
    return channel.metadata["logpose.role"]


def test_the_file_is_sound(log):
    sound(log, "zstd")


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_the_file_is_sound_with(own_log, compression):
    sound(own_log, compression)


def sound(log, compression):
    found = doctor(log, compression)
    assert {chunk["compression"] for chunk in found.chunks} <= {"" if compression == "none" else compression}
    assert found.library.startswith("logpose ")
    for channel in found.channels.values():
        schema = found.schemas.get(channel.schema)
        # The pairs that the specification knows; without schema only what explains itself.
        pair = (channel.encoding, schema.encoding if schema else "")
        assert pair in [("ros1", "ros1msg"), ("protobuf", "protobuf"), ("json", ""), ("msgpack", "")], channel
    assert all(message.publish_time == message.log_time for message in found.messages)
    if log.truth.samples and min(one.time_ns for one in log.truth.samples) >= 0:
        assert offset_of(found) == 0, "times are those of the log where they can be"


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_compression_changes_nothing(own_log, compression):
    one, other = doctor(own_log), doctor(own_log, compression)
    assert one.messages == other.messages and one.channels == other.channels and one.schemas == other.schemas


def test_readers_agree(log):
    agree(log, "zstd")


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_readers_agree_with(own_log, compression):
    agree(own_log, compression)


def agree(log, compression):
    """Foxglove's readers, with and without the index, find the same messages, and all sums of bytes agree."""
    found = doctor(log, compression)
    with open(mcap(log, compression), "rb") as file:
        seeking = SeekingReader(file, validate_crcs=True)
        header, summary = seeking.get_header(), seeking.get_summary()
        assert header.library == found.library
        assert summary.statistics.message_count == len(found.messages)
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) == len(found.chunks)
        assert [metadata.name for metadata in seeking.iter_metadata()] == ["logpose"]
        as_written = list(seeking.iter_messages(log_time_order=False))
        by_time = list(seeking.iter_messages())
    plain = [(channel.id, message.log_time, message.data) for _, channel, message in as_written]
    assert plain == [(message.channel, message.log_time, message.data) for message in found.messages]
    with open(mcap(log, compression), "rb") as file:
        linear = list(NonSeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False))
    assert linear == as_written
    key = lambda one: one[2].log_time  # noqa: E731
    assert by_time == sorted(as_written, key=key)
    assert {channel.topic for _, channel, _ in by_time} <= {channel.topic for channel in found.channels.values()}


def test_the_index_finds_a_span(log):
    found = doctor(log)
    times = sorted(message.log_time for message in found.messages)
    if not times:
        pytest.skip("the log has no messages")
    first, last = times[len(times) // 3], times[2 * len(times) // 3] + 1
    busiest = collections.Counter(message.channel for message in found.messages).most_common(1)[0][0]
    with open(mcap(log), "rb") as file:
        reader = SeekingReader(file, validate_crcs=True)
        topic = found.channels[busiest].topic
        spanned = list(reader.iter_messages(topics=topic, starting_at=first, ending_before=last))
    topics = {number for number, channel in found.channels.items() if channel.topic == topic}
    expected = [m for m in found.messages if m.channel in topics and first <= m.log_time < last]
    assert [message.log_time for _, _, message in spanned] == sorted(message.log_time for message in expected)


COUNTED = {"string": 1, "structschema": 1, "photonstructschema": 1, "boolean[]": 1, "int64[]": 8, "int[]": 8}
COUNTED.update({"float[]": 4, "double[]": 8})


def test_every_sample_is_a_message(log):
    """Each payload is the data of its message, or stands there behind its count, in the order of the log."""
    found = doctor(log)
    offset, names = offset_of(found), log.truth.names()
    samples = [m for m in found.messages if role(found.channels[m.channel]) in ("values", "rest")]
    assert len(samples) == len(log.truth.samples)
    for message, one in zip(samples, log.truth.samples):
        channel = found.channels[message.channel]
        rest = role(channel) == "rest"
        assert channel.topic == names[one.channel] + (" (bytes)" if rest else "")
        assert message.log_time - offset == one.time_ns
        form = channel.metadata["logpose.form"]
        if rest:
            size = 1
        elif form == "counted":
            size = COUNTED.get(one.channel.type) or element_size(found, channel)
        else:
            size = None
        count = struct.pack("<I", len(one.payload) // size) if size else b""
        assert message.data == count + one.payload, one.channel


def element_size(found, channel):
    """Bytes of an element, by the text of the schema: of bytes 1, of structs those of their fields."""
    sections = found.schemas[channel.schema].data.decode().split("=" * 80 + "\nMSG: ")
    texts = {section.split("\n", 1)[0]: section.split("\n", 1)[1] for section in sections[1:]}
    scalars = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4}
    scalars.update({"int64": 8, "uint64": 8, "float32": 4, "float64": 8})

    def size(kind):
        base, _, count = kind.rstrip("]").partition("[")
        one = scalars.get(base) or sum(size(line.split()[0]) for line in texts[base].splitlines() if "=" not in line)
        return one * int(count or 1)

    return size(sections[0].split("[]")[0])


def bits(value):
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, (list, tuple)):
        return [bits(one) for one in value]
    return value


def test_ros_decodes_every_value(log, request):
    """Plain values and structs are messages of ROS 1 for Foxglove's package; it must understand every one."""
    samples = iter(log.truth.samples)
    factory = Ros1()
    with open(mcap(log), "rb") as file:
        for schema, channel, message in SeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False):
            if role(channel) not in ("values", "rest"):
                continue
            one = next(samples)
            decode = factory.decoder_for(channel.message_encoding, schema)
            if decode is None:
                assert channel.message_encoding in ("protobuf", "json", "msgpack")
                continue
            if "odd" in request.node.name and "text" in channel.topic:
                continue  # not UTF-8
            decoded = decode(message.data)
            if role(channel) == "rest" or one.column == "bytes" and not one.channel.type.startswith("struct:"):
                if one.channel.type not in ("float", "float[]", "boolean[]"):
                    assert bytes(decoded.data) == one.payload
            elif one.column != "bytes":
                assert bits(decoded.data) == bits(one.value), one.channel
    assert next(samples, None) is None


@pytest.fixture
def structs(tmp_path):
    import logs

    logs.structs(tmp_path / "structs.wpilog")
    return Log(tmp_path / "structs.wpilog", tmp_path)


def decoded(log, topic):
    with open(mcap(log), "rb") as file:
        reader = SeekingReader(file, validate_crcs=True, decoder_factories=[Ros1(), Protobuf()])
        return [(schema, message, value) for schema, _, message, value in reader.iter_decoded_messages(topics=[topic])]


def test_fields_of_structs(structs):
    """The fields of structs have their names and numbers; WPILib itself unpacks them to compare."""
    from logs import Mixed
    from wpimath.geometry import Pose2d, Pose3d
    from wpiutil import wpistruct

    truth = {channel.name: samples for channel, samples in structs.truth.by_channel().items()}
    flat = decoded(structs, "/RealOutputs/Odometry/Robot")
    for (schema, _, value), one in zip(flat, truth["/RealOutputs/Odometry/Robot"], strict=True):
        pose = wpistruct.unpack(Pose2d, one.payload)
        assert schema.name == "wpilib/Pose2d"
        assert (value.translation.x, value.translation.y) == (pose.x, pose.y)
        assert math.isclose(value.rotation.value, pose.rotation().radians(), abs_tol=1e-15)
    targets = decoded(structs, "/Vision/Targets")
    for (_, _, value), one in zip(targets, truth["/Vision/Targets"], strict=True):
        poses = wpistruct.unpackArray(Pose3d, one.payload)
        quaternions = [pose.rotation().getQuaternion() for pose in poses]
        assert [(p.translation.x, p.translation.z, p.rotation.q.w, p.rotation.q.y) for p in value.data] == [
            (pose.x, pose.z, q.W(), q.Y()) for pose, q in zip(poses, quaternions)
        ]
    mixed = decoded(structs, "/Mixed")
    for (_, _, value), one in zip(mixed, truth["/Mixed"], strict=True):
        expected = wpistruct.unpack(Mixed, one.payload)
        for name in ("flag", "tiny", "small", "whole", "large", "real", "exact"):
            assert getattr(value, name) == getattr(expected, name)
        assert value.where.translation.x == expected.where.x
    for n, (_, _, value) in enumerate(decoded(structs, "/State")):
        # Bit-fields share a number, texts are their bytes, and Python's own words have a stroke behind them.
        assert (value.mode, value.bits0, bytes(value.label)) == (n % 3, n, f"s{n}".encode().ljust(6, b"\0"))
        assert (list(value.parts), value.from_) == ([n, 0.5, -n], n * 1000)
    # What is too short for its schema stands beside it, as bytes.
    assert decoded(structs, "/Short") == []
    short = [bytes(value.data) for _, _, value in decoded(structs, "/Short (bytes)")]
    assert short == [one.payload for one in truth["/Short"]]


def test_names_that_ros_does_not_have(tmp_path):
    """A field of a struct may start with a stroke, one of a message may not; every message can be decoded."""
    import logs

    writing = logs.Writing(tmp_path / "stroke.wpilog")
    writing.append(1, "/.schema/struct:Stroke", "structschema", b"double _x; double y")
    writing.append(2, "/Stroke", "struct:Stroke", struct.pack("<2d", 1.5, 2.5))
    writing.close()
    [(_, _, value)] = decoded(Log(tmp_path / "stroke.wpilog", tmp_path), "/Stroke")
    assert value.y == 2.5


def near(value, expected):
    return all(math.isclose(a, b, abs_tol=1e-15) for a, b in zip(value, expected, strict=True))


def test_poses_for_foxglove(structs):
    from wpimath.geometry import Pose2d, Pose3d
    from wpiutil import wpistruct

    truth = {channel.name: samples for channel, samples in structs.truth.by_channel().items()}

    def point(pose):
        return pose.position.x, pose.position.y, pose.position.z

    def turn(q):
        return q.w, q.x, q.y, q.z

    def expected(pose):
        # WPILib's own way from the plane into space.
        solid = pose if isinstance(pose, Pose3d) else Pose3d(pose)
        q = solid.rotation().getQuaternion()
        return (solid.x, solid.y, solid.z), (q.W(), q.X(), q.Y(), q.Z())

    for name, ty in [("/RealOutputs/Odometry/Robot", Pose2d), ("/Vision/Camera", Pose3d)]:
        found = decoded(structs, f"{name}/foxglove")
        for (schema, message, value), one in zip(found, truth[name], strict=True):
            where, turned = expected(wpistruct.unpack(ty, one.payload))
            assert schema.name == "foxglove.PoseInFrame" and value.frame_id == "field"
            assert value.timestamp.seconds * 10**9 + value.timestamp.nanos == message.log_time == one.time_ns
            assert point(value.pose) == where and near(turn(value.pose.orientation), turned)
    for name, ty in [("/Path", Pose2d), ("/Vision/Targets", Pose3d)]:
        found = decoded(structs, f"{name}/foxglove")
        for (schema, _, value), one in zip(found, truth[name], strict=True):
            assert schema.name == "foxglove.PosesInFrame"
            poses = [expected(pose) for pose in wpistruct.unpackArray(ty, one.payload)]
            assert [point(pose) for pose in value.poses] == [where for where, _ in poses]
            assert all(near(turn(pose.orientation), turned) for pose, (_, turned) in zip(value.poses, poses))
    robot = decoded(structs, "/tf")
    for (schema, _, value), one in zip(robot, truth["/RealOutputs/Odometry/Robot"], strict=True):
        where, turned = expected(wpistruct.unpack(Pose2d, one.payload))
        assert schema.name == "foxglove.FrameTransform"
        assert (value.parent_frame_id, value.child_frame_id) == ("field", "robot")
        assert (value.translation.x, value.translation.y) == where[:2] and near(turn(value.rotation), turned)


def test_without_poses(structs):
    found = Doctor(structs.convert("bare.mcap", "--no-poses"))
    assert {role(channel) for channel in found.channels.values()} == {"values", "rest", "events"}


def test_protobuf_keeps_its_schema(tmp_path):
    import logs

    logs.protobuf(tmp_path / "protobuf.wpilog")
    log = Log(tmp_path / "protobuf.wpilog", tmp_path)
    messages = [logs.protobuf_messages(n) for n in range(20)]
    for place, topic, name in [(0, "/Pose", "wpi.proto.ProtobufPose2d"), (1, "/Trail", "wpi.proto.Trail")]:
        found = decoded(log, topic)
        assert [schema.name for schema, _, _ in found] == [name] * 20
        assert [schema.encoding for schema, _, _ in found] == ["protobuf"] * 20
        for (_, _, value), expected in zip(found, messages, strict=True):
            assert str(value) == str(expected[place])


def test_json_stays_json(tmp_path):
    import logs

    logs.values(tmp_path / "values.wpilog")
    log = Log(tmp_path / "values.wpilog", tmp_path)
    found = Doctor(mcap(log))
    [number] = [number for number, channel in found.channels.items() if channel.topic == "/values/json"]
    texts = [message.data for message in found.messages if message.channel == number]
    assert [json.loads(text) for text in texts] == [{"a": [1, 2.5, None], "b": "é"}, [], "text", 17]
