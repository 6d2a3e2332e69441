"""Recordings of a process that is killed: every one opens, and lacks at most the flush interval."""

import random
import time

import pytest
from mcap.reader import make_reader

from conftest import logpose
from live import Running, free_port


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """A robot that counts: a log played for ever."""
    folder = tmp_path_factory.mktemp("robot")
    source = folder / "source.csv"
    with open(source, "w") as out:
        out.write("time,channel,value\n")
        for n in range(1, 30_001):
            out.write(f"{n / 500},/count,{n}\n")
    log = folder / "source.wpilog"
    assert logpose("convert", source, "-o", log).returncode == 0
    port = free_port()
    with Running("play", log, "--to", f"rlog://127.0.0.1:{port}", "--json", "--loop") as playing:
        playing.line("serving")
        yield port


@pytest.mark.parametrize("kind", ["wpilog", "rlog", "mcap"])
def test_every_file_of_a_killed_recorder_opens(robot, tmp_path, kind):
    chance = random.Random(7)
    kills, read = 0, 0
    for n in range(12):
        out = tmp_path / f"{n}.{kind}"
        with Running("record", f"rlog://127.0.0.1:{robot}", "-o", out, "--json", "--flush", "50ms") as recording:
            # The moment of the killing is the point of the test, and any moment will do.
            time.sleep(chance.uniform(0.05, 0.9))
            recording.process.kill()
            recording.process.wait()
        kills += 1
        if not out.exists() or out.stat().st_size == 0:
            continue
        if kind == "mcap":
            # Whatever the moment, the file has an end, and the package of the format reads it as any other.
            with open(out, "rb") as file:
                reader = make_reader(file)
                assert reader.get_header().library.startswith("logpose")
                read += sum(channel.topic == "/count" for _, channel, _ in reader.iter_messages())
        found = logpose("cat", out, "--format", "ndjson", "-y", "/count")
        assert found.returncode in (0, 3), found.stderr
        values = [line.split('"value":')[1].rstrip("}\n") for line in found.stdout.splitlines()]
        numbers = [float(value) for value in values]
        # Nothing is missing in between.
        assert all(b - a in (1, 1 - 30_000) for a, b in zip(numbers, numbers[1:])), numbers
    assert kills == 12 and (read > 0) == (kind == "mcap")
