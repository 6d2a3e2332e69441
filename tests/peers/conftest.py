"""What all peer tests need: WPILib's reader and writer, our programs, and the logs to compare."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    import wpiutil.log as wpilog
    from wpiutil import DataLogWriter
except ImportError:
    pytest.exit("tests/peers: WPILib is not installed here; `make peers` makes .venv and runs these tests in it", 2)


def program(name, env, fallback):
    path = pathlib.Path(os.environ.get(env, "")) if os.environ.get(env) else fallback
    if not path.is_file():
        pytest.exit(f"tests/peers: {path} is missing; `make peers` builds it ({env} names another {name})", 2)
    return str(path)


LOGPOSE = pathlib.Path(os.environ.get("LOGPOSE_BIN", ROOT / "target/debug/logpose"))
PEER_RECORDS = program("example", "LOGPOSE_PEER_RECORDS", LOGPOSE.parent / "examples/peer_records")


def corpus():
    """The logs of the shared corpus, by name; none where there is no corpus."""
    folder = pathlib.Path(os.environ.get("LOGPOSE_CORPUS", ROOT / "../shared/corpus")) / "wpilog"
    return sorted(folder.glob("*.wpilog"))


def ours(log):
    """Our reader's header, its records and why it ended early, if it did."""
    run = subprocess.run([PEER_RECORDS, "read", log], capture_output=True, text=True)
    if run.returncode != 0:
        return None, [], run.stderr
    header, *records = [json.loads(line) for line in run.stdout.splitlines()]
    error = records.pop()["error"] if records and "error" in records[-1] else None
    return header, records, error


def theirs(log):
    """WPILib's header and records, in the words of ours."""
    reader = wpilog.DataLogReader(str(log))
    header = {"version": reader.getVersion(), "extra": reader.getExtraHeader()}
    return header, [record(r) for r in reader] if reader.isValid() else None


def record(r):
    payload = bytes(r.getRaw())
    assert len(payload) == r.getSize()
    return {
        # WPILib holds ids in signed numbers.
        "entry": r.getEntry() & 0xFFFFFFFF,
        "time": r.getTimestamp(),
        "payload": payload.hex(),
        "control": control(r, payload) if r.isControl() else None,
    }


def control(r, payload):
    try:
        if r.isStart():
            # Start of entry 0 means nothing; WPILib decodes it all the same.
            s = r.getStartData()
            texts = {"name": s.name, "type": s.type, "metadata": s.metadata}
            found = {"start": s.entry & 0xFFFFFFFF, **{key: text.encode().hex() for key, text in texts.items()}}
            return found if found["start"] else {"unknown": True}
        if r.isFinish():
            return {"finish": r.getFinishEntry() & 0xFFFFFFFF}
        if r.isSetMetadata():
            s = r.getSetMetadataData()
            return {"set": s.entry & 0xFFFFFFFF, "metadata": s.metadata.encode().hex()}
    except UnicodeDecodeError:
        return "not UTF-8: the binding for Python cannot say it"
    except TypeError:
        pass  # lengths that do not fit
    return {"unknown": True}


def same_records(found, expected):
    """Compares our records with WPILib's, apart from its known faults."""
    assert len(found) == len(expected)
    for i, (a, b) in enumerate(zip(found, expected)):
        if isinstance(b["control"], str):
            a, b = {**a, "control": None}, {**b, "control": None}
        assert a == b, f"record {i}"
