"""NetworkTables 4 against the real thing: pyntcore as the server that is recorded, and as the client that is served."""

import json
import socket
import struct
import time

import ntcore
from wpimath.geometry import Pose2d, Rotation2d

from conftest import DataLogWriter, logpose
from live import Running, free_port, read_wpilog, wait_until
from logs import Writing

TYPES = {
    "boolean": ("getBooleanTopic", [True, False, True]),
    "int": ("getIntegerTopic", [1, -(2**62), 7]),
    "float": ("getFloatTopic", [0.5, -1.25, 3.0]),
    "double": ("getDoubleTopic", [0.1, -2.5e300, 7.25]),
    "string": ("getStringTopic", ["a", "ü", "end"]),
    "raw": (None, [b"\x00\xff", b"", b"xyz"]),
    "boolean[]": ("getBooleanArrayTopic", [[True], [], [False, True]]),
    "int[]": ("getIntegerArrayTopic", [[1, 2], [], [-3]]),
    "float[]": ("getFloatArrayTopic", [[0.5], [], [1.5, -2.0]]),
    "double[]": ("getDoubleArrayTopic", [[0.1], [], [1e10, -2.0]]),
    "string[]": ("getStringArrayTopic", [["a", "b"], [], ["é"]]),
}


class Robot:
    """A NetworkTables server of WPILib on a port of its own, which logs itself."""

    def __init__(self, folder):
        self.port, self.own = free_port(), folder / "own.wpilog"
        self.inst = ntcore.NetworkTableInstance.create()
        self.log = DataLogWriter(str(self.own), "")
        self.logger = self.inst.startEntryDataLog(self.log, "", "NT:")
        self.inst.startServer(str(folder / "nt.json"), "127.0.0.1", free_port(), self.port)

    def stop(self):
        self.inst.stopEntryDataLog(self.logger)
        self.log.flush()
        self.log.stop()
        ntcore.NetworkTableInstance.destroy(self.inst)


def publishers(inst):
    out = {}
    for kind, (topic, _) in TYPES.items():
        name = f"/all/{kind}"
        out[kind] = inst.getRawTopic(name).publish("raw") if topic is None else getattr(inst, topic)(name).publish()
    return out


def test_a_recording_is_the_log_that_wpilib_writes(tmp_path):
    robot = Robot(tmp_path)
    server = robot.inst
    pubs = publishers(server)
    pose = server.getStructTopic("/all/pose", Pose2d).publish()
    out = tmp_path / "recorded.wpilog"
    with Running("record", f"nt4://127.0.0.1:{robot.port}", "-o", out, "--json") as recording:
        wait_until(lambda: server.getConnections(), "logpose connects")
        # Nothing on this side shows that its subscription has come.
        time.sleep(0.3)
        for step in range(3):
            for kind, pub in pubs.items():
                pub.set(TYPES[kind][1][step])
            pose.set(Pose2d(step, 2 * step, Rotation2d(0.5)))
            server.flush()
            # NetworkTables may leave out a value that is replaced before it is sent.
            time.sleep(0.15)
        server.getTopic("/all/double").setProperty("unit", "V")
        server.flush()
        # The server does not report that it has sent everything.
        time.sleep(0.5)
        done = recording.stop()
    assert done["samples"] > 0 and done["dropped"] == 0
    robot.stop()
    ours, theirs = read_wpilog(out), read_wpilog(robot.own)
    names = [name for name in theirs if "/all/" in name or ".schema" in name]
    assert len(names) >= len(TYPES) + 1
    for name in names:
        assert name in ours, f"{name} was not recorded; there are {sorted(ours)}"
        assert ours[name].type == theirs[name].type, name
        assert json.loads(ours[name].metadata or "{}") == json.loads(theirs[name].metadata or "{}"), name
        assert [value for _, value in ours[name].values] == [value for _, value in theirs[name].values], name


def test_a_log_that_is_played_is_what_a_client_of_wpilib_sees(tmp_path):
    port = free_port()
    source = tmp_path / "source.wpilog"
    log = Writing(source)
    for n in range(1, 101):
        time_us = n * 20_000
        log.append(time_us, "NT:/drive/speed", "double", n / 4)
        log.append(time_us, "/count", "int64", n)
        log.struct(time_us, "NT:/pose", Pose2d(n, 1, Rotation2d(0)))
        if n % 50 == 0:
            log.append(time_us, "NT:/names", "string[]", [str(n), "ü"])
    log.close()
    inst = ntcore.NetworkTableInstance.create()
    seen, counts = [], []
    options = ntcore.PubSubOptions(sendAll=True, periodic=0.01, keepDuplicates=True, pollStorage=1000)
    speed = inst.getDoubleTopic("/drive/speed").subscribe(0.0, options)
    count = inst.getIntegerTopic("/count").subscribe(0, options)
    names = inst.getStringArrayTopic("/names").subscribe([], options)
    pose = inst.getStructTopic("/pose", Pose2d).subscribe(Pose2d(), options)
    try:
        with Running("play", source, "--to", f"nt4://127.0.0.1:{port}", "--wait", "--stay", "--json") as playing:
            inst.setServer("127.0.0.1", port)
            inst.startClient4("peer")
            wait_until(lambda: inst.isConnected(), "pyntcore connects")
            wait_until(lambda: (seen.extend(speed.readQueue()), counts.extend(count.readQueue()), len(seen) >= 100)[-1], "all values")
            assert [value.value for value in seen][-100:] == [n / 4 for n in range(1, 101)]
            assert [value.value for value in counts][-100:] == list(range(1, 101))
            assert names.get() == ["100", "ü"]
            assert pose.get().X() == 100
            # The moments at which they come are those of the log: 20 ms apart.
            times = [value.serverTime for value in seen][-100:]
            assert abs((times[-1] - times[0]) / 1e6 - 99 * 0.02) < 0.5
            assert inst.getServerTimeOffset() is not None, "time is synchronized"
            playing.stop()
        wait_until(lambda: not inst.isConnected(), "the end is seen")
    finally:
        ntcore.NetworkTableInstance.destroy(inst)


def test_a_server_that_goes_and_comes_back_is_recorded_again(tmp_path):
    port = free_port()
    out = tmp_path / "recorded.wpilog"

    def serve(value):
        inst = ntcore.NetworkTableInstance.create()
        inst.startServer(str(tmp_path / "nt.json"), "127.0.0.1", free_port(), port)
        pub = inst.getDoubleTopic("/value").publish()
        pub.set(value)
        inst.flush()
        wait_until(lambda: inst.getConnections(), "logpose connects", 15)
        # Nothing on this side shows that the value has been sent.
        time.sleep(0.4)
        return inst

    with Running("record", f"nt4://127.0.0.1:{port}", "-o", out, "--json") as recording:
        for value in [1.5, 2.5]:
            ntcore.NetworkTableInstance.destroy(serve(value))
        recording.stop()
    values = [struct.unpack("<d", value)[0] for _, value in read_wpilog(out)["NT:/value"].values]
    assert values == [1.5, 2.5]


def test_where_nobody_listens_nothing_is_recorded_and_it_says_why(tmp_path):
    with Running("record", f"nt4://127.0.0.1:{free_port()}", "-o", tmp_path / "x.wpilog", "--duration", "1s") as recording:
        code, _, err = recording.wait(10)
    assert code == 1
    assert "no data received" in err and "refused" in err


def test_a_stranger_learns_what_is_spoken(tmp_path):
    port = free_port()
    source = tmp_path / "source.wpilog"
    log = Writing(source)
    log.append(1, "/x", "double", 1.0)
    log.close()
    with Running("play", source, "--to", f"nt4://127.0.0.1:{port}", "--stay", "--json") as playing:
        playing.line("serving")
        with socket.create_connection(("127.0.0.1", port), 5) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            assert b"400" in stranger.recv(1000)
        playing.stop()


def test_two_sources_are_on_one_clock(tmp_path):
    source = tmp_path / "source.wpilog"
    log = Writing(source)
    for n in range(1, 201):
        log.append(n * 20_000, "/count", "int64", n)
    log.close()
    out = tmp_path / "all.mcap"
    with Running("play", source, "--to", "rlog://:0", "--to", "nt4://:0", "--json", "--loop") as playing:
        rlog, nt4 = playing.line("serving")["address"], playing.line("serving")["address"]
        with Running("record", rlog, nt4, "-o", out, "--json", "--duration", "3s") as recording:
            code, _, err = recording.wait(20)
        assert code == 0, err
    rows = [json.loads(line) for line in logpose("cat", out, "--format", "ndjson", "-y", "*count", "-y", "*_time").stdout.splitlines()]
    seen = {}
    for row in rows:
        seen.setdefault(row["channel"], {})[row["value"]] = row["time_ns"]
    assert {"/rlog/count", "/nt4/NT:/count", "/logpose/rlog/source_time", "/logpose/nt4/receive_time"} <= seen.keys()
    both = seen["/rlog/count"].keys() & seen["/nt4/NT:/count"].keys()
    assert len(both) > 80
    apart = sorted(abs(seen["/rlog/count"][n] - seen["/nt4/NT:/count"][n]) for n in both)
    assert apart[len(apart) // 2] < 20e6, f"{apart[len(apart) // 2] / 1e6} ms apart"
