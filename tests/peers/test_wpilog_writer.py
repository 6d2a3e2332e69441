"""Our writer makes the bytes that WPILib's writer makes, and WPILib reads what we write."""

import json
import random
import struct
import subprocess

import pytest
from conftest import APPEND, PEER_RECORDS, DataLogWriter, logpose, ours, same_records, theirs


def write_theirs(path, extra, calls):
    log = DataLogWriter(str(path), extra)
    entries, types = {}, {}
    for call in calls:
        what, name, time = call[:3]
        if what == "start":
            entries[name] = log.start(name, call[3], call[4], time)
            types[name] = call[3]
        elif what == "finish":
            log.finish(entries[name], time)
        elif what == "set":
            log.setMetadata(entries[name], call[3], time)
        else:
            kind = types[name]
            value = bytes(call[3]) if kind not in APPEND or kind == "raw" else call[3]
            getattr(log, APPEND.get(kind, "appendRaw"))(entries[name], value, time)
    log.flush()
    log.stop()
    del log


def write_ours(path, extra, calls):
    lines = "\n".join(json.dumps(line) for line in [extra, *calls])
    subprocess.run([PEER_RECORDS, "write", path], input=lines, text=True, check=True)


def same_bytes(tmp_path, extra, calls):
    a, b = tmp_path / "theirs.wpilog", tmp_path / "ours.wpilog"
    write_theirs(a, extra, calls)
    write_ours(b, extra, calls)
    assert b.read_bytes() == a.read_bytes()
    header, expected = theirs(b)
    assert header == {"version": 0x0100, "extra": extra}
    if len([call for call in calls]):
        _, found, error = ours(b)
        assert error is None
        same_records(found, expected)


# WPILib takes a time of 0 for "now", so no call has it.
TIMES = [1, 255, 256, 65535, 65536, 2**24 - 1, 2**24, 2**32 - 1, 2**32, 2**40, 2**48, 2**56, 2**63 - 1, -1, -1_000_000, -(2**63)]
VALUES = {
    "raw": [[], [0, 1, 254, 255], [7] * 255, [7] * 256, [7] * 65535, [7] * 65536],
    "boolean": [False, True],
    "int64": [0, -2, 2**63 - 1, -(2**63)],
    "float": [0.0, 1.5, -2.25, struct.unpack("f", struct.pack("f", 0.1))[0]],
    "double": [0.0, -0.1, 1e300, 5e-324],
    "string": ["", "héllo", "two\nlines", "😀", "x" * 300],
    "boolean[]": [[], [True, False, True]],
    "int64[]": [[], [1, -1], [2**63 - 1] * 40],
    "float[]": [[], [1.5, -2.0]],
    "double[]": [[], [1.5, -0.1]],
    "string[]": [[], ["a", "", "é"], [""] * 100],
    "json": [list(b'{"a":1}')],
    "struct:Pose2d": [[0] * 24],
    "structschema": [list(b"double x;double y")],
}


def test_an_empty_log(tmp_path):
    same_bytes(tmp_path, "", [])
    same_bytes(tmp_path, "AdvantageKit", [])


@pytest.mark.parametrize("kind", VALUES)
def test_values(tmp_path, kind):
    calls = [["start", f"/{kind}", 5, kind, '{"source":"test"}']]
    calls += [["append", f"/{kind}", 1000 + i, value] for i, value in enumerate(VALUES[kind])]
    same_bytes(tmp_path, "", calls)


def test_times(tmp_path):
    calls = [["start", "/t", 1, "int64", ""], *(["append", "/t", time, time] for time in TIMES)]
    calls += [["start", f"/t/{time}", time, "boolean", ""] for time in TIMES]
    same_bytes(tmp_path, "", calls)


def test_lifecycle(tmp_path):
    same_bytes(
        tmp_path,
        "",
        [
            ["start", "a", 10, "double", ""],
            ["start", "b", 11, "int64", "m"],
            ["append", "a", 12, 1.5],
            ["set", "b", 13, '{"unit":"m"}'],
            ["finish", "a", 14],
            ["finish", "a", 15],
            ["start", "a", 16, "string", ""],
            ["append", "a", 17, "now text"],
            ["append", "b", 18, 5],
            ["finish", "b", 19],
        ],
    )


def test_many_entries(tmp_path):
    calls = []
    for i in range(1, 400):
        calls += [["start", f"/{i}", i, "int64", ""], ["append", f"/{i}", i + 1, i]]
    same_bytes(tmp_path, "", calls)


@pytest.mark.parametrize("seed", range(10))
def test_random_calls(tmp_path, seed):
    rng = random.Random(seed)
    live, calls = {}, []
    for _ in range(400):
        name, time = f"/{rng.randrange(30)}", rng.choice(TIMES + [rng.randrange(1, 10**9)] * 20)
        dice = rng.random()
        if name not in live:
            live[name] = rng.choice(list(VALUES))
            calls.append(["start", name, time, live[name], rng.choice(["", "{}", "free text"])])
        elif dice < 0.1:
            calls.append(["finish", name, time])
            del live[name]
        elif dice < 0.2:
            calls.append(["set", name, time, rng.choice(["", "other"])])
        else:
            small = [value for value in VALUES[live[name]] if not isinstance(value, list) or len(value) < 300]
            calls.append(["append", name, time, rng.choice(small)])
    same_bytes(tmp_path, f"seed {seed}", calls)


def test_demo_logs_and_conversions(tmp_path):
    """All that `logpose demo` writes and `logpose convert` makes of it, as WPILib reads it."""
    run = logpose("demo", tmp_path / "demo")
    assert run.returncode in (0, 3), run.stderr
    files = [path for path in (tmp_path / "demo").rglob("*") if path.is_file()]
    rlogs = [path for path in files if path.suffix == ".rlog"]
    wpilogs = [path for path in files if path.suffix == ".wpilog"]
    assert wpilogs, f"no WPILOG among {files}"
    for path in rlogs + wpilogs:
        converted = tmp_path / f"{path.name}.converted.wpilog"
        run = logpose("convert", path, "--output", converted)
        assert run.returncode in (0, 3), run.stderr
        wpilogs.append(converted)
    for path in wpilogs:
        header, found, error = ours(path)
        assert header["version"] == 0x0100
        _, expected = theirs(path)
        if error:
            expected = expected[:-1]  # a damaged demo log; WPILib repeats its last record
        same_records(found, expected)
        assert found, path
