"""A log that is played to Foxglove arrives at Foxglove's own client as it is in the log's MCAP file.

The client is `FoxgloveClient` of the package `@foxglove/ws-protocol`, which Lichtblick is built on, in Node.
"""

import base64
import collections
import json
import pathlib
import shutil
import socket
import struct
import subprocess

import pytest
from conftest import LOGPOSE, logpose
from logs import Writing
from mcap.reader import NonSeekingReader
from mcap.records import Schema
from mcap_protobuf.decoder import DecoderFactory as Protobuf
from mcap_ros1.decoder import DecoderFactory as Ros1
from wpimath.geometry import Pose2d, Rotation2d

HERE = pathlib.Path(__file__).parent / "foxglove"
CYCLES = 150  # of 20 ms, counted from 1: to WPILib's writer a time of 0 means now


@pytest.fixture(scope="module")
def client():
    """The command that runs the client. Its packages are those of the lock file."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("Node is not installed here: the client of Foxglove's protocol needs it")
    installed = HERE / "node_modules/.package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < (HERE / "package-lock.json").stat().st_mtime:
        subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=HERE, check=True, timeout=300)
    return [node, str(HERE / "client.mjs")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A log of three seconds, in which one channel has a single value at the front."""
    path = tmp_path_factory.mktemp("foxglove") / "played.wpilog"
    log = Writing(path)
    log.append(1, "/Once", "string", "kept for newcomers")
    for cycle in range(1, CYCLES + 1):
        time = cycle * 20_000
        log.append(time, "/Speed", "double", cycle / 7)
        log.append(time, "/Count", "int64", -cycle)
        log.append(time, "/Wheels", "double[]", [cycle / 3, 0.25])
        log.struct(time, "/RealOutputs/Odometry/Robot", Pose2d(cycle / 10, 2, Rotation2d(cycle / 100)))
        log.append(time, "/State", "json", json.dumps({"cycle": cycle}))
    log.close()
    return path


class Heard:
    """What a client wrote down."""

    def __init__(self, lines):
        self.events = collections.defaultdict(list)
        for line in lines:
            event = json.loads(line)
            self.events[event["event"]].append(event)
        self.channels = {event["channel"]["topic"]: event["channel"] for event in self.events["channel"]}
        self.messages = collections.defaultdict(list)
        for event in self.events["message"]:
            self.messages[event["topic"]].append((int(event["time"]), base64.b64decode(event["data"])))

    def decoded(self, topic):
        """The messages of a topic with their times, read by what the server says about it."""
        channel = self.channels[topic]
        text = channel["schema"]
        data = base64.b64decode(text) if channel["encoding"] == "protobuf" else text.encode()
        schema = Schema(id=1, name=channel["schemaName"], encoding=channel["schemaEncoding"], data=data)
        factory = {"ros1": Ros1, "protobuf": Protobuf}[channel["encoding"]]()
        decode = factory.decoder_for(channel["encoding"], schema)
        return [(time, decode(data)) for time, data in self.messages[topic]]


@pytest.fixture(scope="module")
def heard(client, path):
    """What a client hears that comes while the log is played."""
    port = free_port()
    play = [LOGPOSE, "play", path, "--to", f"foxglove://127.0.0.1:{port}", "--json"]
    # It is there first, so that it comes as soon as it can.
    listening = subprocess.Popen([*client, f"ws://127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True)
    try:
        played = subprocess.run(play, capture_output=True, text=True, timeout=60)
        assert played.returncode == 0, played.stderr
        lines, _ = listening.communicate(timeout=30)
    finally:
        listening.kill()
    return Heard(lines.splitlines())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def converted(path):
    """The topics of the log's MCAP file: channel, schema and messages."""
    out = path.with_suffix(".mcap")
    run = logpose("convert", path, "-o", out, "--force")
    assert run.returncode == 0, run.stderr
    topics = {}
    with open(out, "rb") as file:
        for schema, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False):
            if channel.topic != "logpose/events":
                topics.setdefault(channel.topic, (channel, schema, []))[2].append((message.log_time, message.data))
    return topics


def test_the_client_is_let_in_and_learns_the_server(heard):
    assert [event["protocol"] for event in heard.events["open"]] == ["foxglove.sdk.v1"]
    [info] = [event["info"] for event in heard.events["info"]]
    assert info["name"] == "logpose" and info["capabilities"] == ["time"]
    assert heard.events["close"] and not heard.events["status"]


def test_channels_and_schemas_are_those_of_the_file(heard, path):
    topics = converted(path)
    assert set(heard.channels) == set(topics)
    for topic, (channel, schema, _) in topics.items():
        advertised = heard.channels[topic]
        assert advertised["encoding"] == channel.message_encoding, topic
        assert advertised["schemaName"] == (schema.name if schema else ""), topic
        text = advertised["schema"]
        if schema is None:
            assert text == "" and not advertised.get("schemaEncoding"), topic
        else:
            data = base64.b64decode(text) if schema.encoding == "protobuf" else text.encode()
            assert (advertised["schemaEncoding"], data) == (schema.encoding, schema.data), topic


def test_messages_are_those_of_the_file(heard, path):
    """From the moment on in which the client came, all of them, in their order; before that the last one."""
    for topic, (_, _, expected) in converted(path).items():
        found = heard.messages[topic]
        # The one that it came upon may come twice: as the last, and as it is sent.
        if found[:1] == found[1:2]:
            found = found[1:]
        assert found and found == expected[-len(found) :], topic
    assert len(heard.messages["/Speed"]) > CYCLES // 3, "the client came in time"
    assert [data for _, data in heard.messages["/Once"]] == [struct.pack("<I", 18) + b"kept for newcomers"]


def test_values_are_decoded_with_the_schemas_of_the_server(heard):
    for time, message in heard.decoded("/Speed"):
        assert message.data == time / 20_000_000 / 7
    for time, message in heard.decoded("/Wheels"):
        assert list(message.data) == [time / 20_000_000 / 3, 0.25]
    robot = "/RealOutputs/Odometry/Robot"
    for time, message in heard.decoded(robot):
        cycle = time / 20_000_000
        assert (message.translation.x, message.translation.y) == (cycle / 10, 2)
        assert message.rotation.value == pytest.approx(cycle / 100)
    for topic in [f"{robot}/foxglove", "/tf"]:
        assert heard.messages[topic]
    for time, message in heard.decoded(f"{robot}/foxglove"):
        assert message.timestamp.ToNanoseconds() == time and message.frame_id == "field"
        assert message.pose.position.x == time / 20_000_000 / 10
    for time, message in heard.decoded("/tf"):
        assert (message.parent_frame_id, message.child_frame_id) == ("field", "robot")
        assert message.translation.x == time / 20_000_000 / 10


def test_the_time_is_sent_and_goes_on(heard):
    times = [int(event["time"]) for event in heard.events["time"]]
    assert times == sorted(times) and times[-1] == CYCLES * 20_000_000
    assert len(times) > CYCLES // 3


def test_a_client_that_knows_only_the_old_name_is_turned_away(client, path):
    """Foxglove's library wants `foxglove.sdk.v1`; who asks for `foxglove.websocket.v1` alone gets a 400."""
    port = free_port()
    play = [LOGPOSE, "play", path, "--to", f"foxglove://127.0.0.1:{port}", "--json"]
    asking = [*client, f"ws://127.0.0.1:{port}", "foxglove.websocket.v1"]
    listening = subprocess.Popen(asking, stdout=subprocess.PIPE, text=True)
    try:
        assert subprocess.run(play, capture_output=True, timeout=60).returncode == 0
        lines, _ = listening.communicate(timeout=30)
    finally:
        listening.kill()
    assert Heard(lines.splitlines()).events["refused"] == [{"event": "refused", "code": 400}]
