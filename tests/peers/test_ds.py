"""The Driver Station against the real thing: WPILib's simulated robot (robotpy, halsim_ds_socket), driven by our station.

Robot code prints what it sees. Its ports are fixed, so one robot runs at a time."""

import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time

import pytest

from conftest import LOGPOSE, logpose
from live import Running, read_wpilog

ROBOT = pathlib.Path(__file__).with_name("ds_robot.py")

try:
    import halsim_ds_socket  # noqa: F401
    import wpilib  # noqa: F401
except ImportError as error:
    if os.environ.get("CI"):
        raise
    pytest.skip(f"WPILib's simulated robot cannot be installed here: {error}", allow_module_level=True)


class SimulatedRobot:
    """The robot program, and what it has seen so far."""

    def __init__(self, seconds=40):
        self.process = subprocess.Popen([sys.executable, ROBOT, str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.seen, self.times, self.other = queue.Queue(), [], [], []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            # The simulator prints lines of its own.
            if line.startswith("{"):
                self.lines.put((time.monotonic(), json.loads(line)))
            else:
                self.other.append(line)
        self.lines.put(None)

    def __enter__(self):
        self.until(lambda seen: seen.get("ready"), "the simulated robot starts")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def until(self, is_so, what, seconds=15):
        """The next state that is so, and when it came."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"not so in {seconds} s: {what}; last seen {self.seen[-1:]}") from None
            assert line is not None, f"the simulated robot ended: {self.process.stderr.read()}{''.join(self.other)}"
            when, state = line
            self.seen.append(state)
            if is_so(state):
                return when, state


def station(*args):
    return Running("ds", "station", "--team", "127.0.0.1", "--json", *args)


def test_robot_code_sees_what_the_station_says(tmp_path):
    script, out = tmp_path / "match.txt", tmp_path / "match.wpilog"
    script.write_text(
        """
        0.0  joystick 0 axes 0.1732 -0.7344 0 1 -1 -0.0078 buttons 2,5,6 of 10 pov 180
        0.0  joystick 1 axes 0.3937 -0.3906 buttons 1,2,3
        0.2  match qualification 48 TXPAS
        0.2  gamedata LRL
        0.4  mode auto
        0.6  enable
        1.2  disable
        1.4  mode teleop
        1.6  enable
        1.8  joystick 0 axes -1 1 pov 315
        2.2  disable
        2.4  mode test
        2.6  enable
        3.0  disable
        3.4  end
        """
    )
    with SimulatedRobot() as robot, station("--enable", "--alliance", "blue2", "--script", script, "-o", out) as ours:
        mode = lambda mode, enabled: lambda seen: seen["mode"] == mode and seen["enabled"] is enabled
        _, first = robot.until(lambda seen: seen["attached"], "a station is there")
        assert not first["enabled"] and not first["fms"]
        _, seen = robot.until(lambda seen: seen["game"] == "LRL", "match and game data")
        assert (seen["alliance"], seen["location"]) == ("blue", 2)
        assert (seen["event"], seen["match"]) == ("TXPAS", ["kQualification", 48, 0])
        assert seen["sticks"][0]["axes"] == [0.1732, -0.7344, 0.0, 1.0, -1.0, -0.0078]
        assert (seen["sticks"][0]["buttons"], seen["sticks"][0]["count"]) == (0b110010, 10)
        assert seen["sticks"][0]["povs"] == [180]
        assert seen["sticks"][1]["axes"] == [0.3937, -0.3906]
        assert (seen["sticks"][1]["buttons"], seen["sticks"][1]["povs"]) == (0b111, [])
        assert seen["sticks"][2]["axes"] == []
        for wanted in ("auto", "teleop", "test"):
            robot.until(mode(wanted, True), f"enabled in {wanted}")
            if wanted == "teleop":
                _, seen = robot.until(lambda seen: seen["sticks"][0]["povs"] == [315], "the stick moves")
                assert seen["sticks"][0]["axes"][:2] == [-1.0, 1.0]
            robot.until(mode(wanted, False), f"disabled in {wanted}")
        last = ours.line("done")
        assert ours.process.wait(20) == 0, "".join(ours.err)
    assert all(not seen.get("fms") for seen in robot.seen), "the station never plays the field"
    assert not any(a.get("enabled") and b.get("enabled") and a["mode"] != b["mode"] for a, b in zip(robot.seen, robot.seen[1:]))
    assert last["sent"] > 150 and last["received"] > 0.9 * last["sent"]
    recorded = read_wpilog(out)
    battery = {round(float_of(raw), 4) for _, raw in recorded["/ds/battery"].values}
    assert battery == {12.0}, "what the simulator always says"
    assert {raw for _, raw in recorded["/ds/status/enabled"].values} == {b"\0", b"\1"}
    # The simulator sends the rumble of the right side first.
    assert int.from_bytes(recorded["/ds/joystick/1/outputs"].values[-2][1], "little") == 5
    assert all(raw == b"\0" for _, raw in recorded["/ds/lost"].values[:-15])


def float_of(raw):
    import struct

    return struct.unpack("<d", raw)[0]


def test_an_emergency_stop_arrives_and_stays():
    with SimulatedRobot() as robot, station("--enable", "--script", write("1 enable\n1.5 estop\n2 enable\n3 end\n")) as ours:
        robot.until(lambda seen: seen["enabled"], "enabled")
        robot.until(lambda seen: seen["estop"], "stopped")
        ours.process.wait(20)
        assert not any(seen["enabled"] for seen in robot.seen[robot.seen.index(next(s for s in robot.seen if s.get("estop"))) :])


def test_nothing_enables_without_being_asked():
    refused = logpose("ds", "station", "--team", "127.0.0.1", "--script", write("1 enable\n2 end\n"))
    assert refused.returncode == 2 and "--enable" in refused.stderr
    with SimulatedRobot() as robot, station("--script", write("0 mode auto\n1.5 end\n")) as ours:
        robot.until(lambda seen: seen["attached"] and seen["mode"] == "auto", "a station is there")
        assert ours.process.wait(20) == 0
        assert not any(seen.get("enabled") for seen in robot.seen)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_station_that_ends_disables(how):
    with SimulatedRobot() as robot, station("--enable", "--enable-after", "500ms") as ours:
        robot.until(lambda seen: seen["enabled"], "enabled")
        begun = time.monotonic()
        ours.process.send_signal(how)
        when, _ = robot.until(lambda seen: not seen["enabled"], "disabled")
        assert when - begun < 0.5
        assert ours.process.wait(20) == 0


def test_the_proxy_changes_nothing(tmp_path):
    """The simulated robot has its ports at every address, so the proxy is found at others."""
    out = tmp_path / "link.mcap"
    script = write("0 joystick 0 axes 0.5 -0.5 buttons 1 of 4 pov 90\n0.5 enable\n1.5 disable\n2 end\n")
    with SimulatedRobot() as robot:
        with Running("ds", "proxy", "--robot", "127.0.0.1", "--bind", "127.0.0.2", "--ports", "21110,21150,21740", "--json", "-o", out) as proxy:
            proxy.line("started")
            with Running("ds", "station", "--team", "127.0.0.2", "--ports", "21110,21150,21740", "--enable", "--script", script, "--json") as ours:
                _, seen = robot.until(lambda seen: seen["enabled"], "enabled through the proxy")
                assert seen["sticks"][0]["axes"] == [0.5039, -0.5] and seen["sticks"][0]["povs"] == [90]
                robot.until(lambda seen: not seen["enabled"], "disabled through the proxy")
                assert ours.process.wait(20) == 0, "".join(ours.err)
            last = proxy.stop()
            assert last["to_robot"]["datagrams"] > 90 and last["to_station"]["datagrams"] > 90 and last["unrecorded"] == 0
    info = json.loads(logpose("info", out, "--json").stdout)
    assert [span["mode"] for span in info["details"]["modes"] if span["mode"] != "disabled"] == ["teleop"]


def write(text):
    """A script in a file of its own."""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write(text)
    return file.name
