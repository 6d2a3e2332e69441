"""What all peer tests need: WPILib's reader and writer, our programs, and the logs to compare."""

import json
import os
import pathlib
import shutil
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


# How WPILib appends a value of a type; what is not here is appended raw.
APPEND = {
    "raw": "appendRaw",
    "boolean": "appendBoolean",
    "int64": "appendInteger",
    "float": "appendFloat",
    "double": "appendDouble",
    "string": "appendString",
    "boolean[]": "appendBooleanArray",
    "int64[]": "appendIntegerArray",
    "float[]": "appendFloatArray",
    "double[]": "appendDoubleArray",
    "string[]": "appendStringArray",
}


def corpus():
    """The logs of the shared corpus, by name; none where there is no corpus."""
    folder = pathlib.Path(os.environ.get("LOGPOSE_CORPUS", ROOT / "../shared/corpus")) / "wpilog"
    return sorted(folder.glob("*.wpilog"))


def logpose(*args):
    """Runs our program."""
    if not LOGPOSE.is_file():
        pytest.skip(f"{LOGPOSE} is missing; `make peers` builds it (LOGPOSE_BIN names another)")
    return subprocess.run([LOGPOSE, *map(str, args)], capture_output=True, text=True)


def pytest_generate_tests(metafunc):
    """A test that asks for `log` runs with every log there is, one that asks for `own_log` with those made here."""
    import logs

    own = [*(make.__name__ for make in logs.WRITTEN), *DEMOS]
    if "own_log" in metafunc.fixturenames:
        metafunc.parametrize("own_log", own, indirect=True)
    elif "log" in metafunc.fixturenames:
        # The damaged ones are those of the tests of the reader; one has names that the binding for Python cannot say.
        whole = [path for path in corpus() if not path.name.startswith("derived-") and path.stem != "made-features"]
        ids = [*own, *(path.stem for path in whole or [pathlib.Path("no-corpus")])]
        metafunc.parametrize("log", [*own, *(whole or [None])], ids=ids, indirect=True)


DEMOS = ["FRC_20260321_142233_DEMO_Q12", "akit_26-03-21_14-22-33_demo_q12"]


class Log:
    """A log, what WPILib's reader finds in it, and what was made of it."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.made = {}

    @property
    def truth(self):
        import truth

        return self.once("truth", lambda: truth.Truth(self.path))

    def once(self, name, make):
        """What `make` gives, made once for each name."""
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def convert(self, name, *options, source=None):
        """The log as a file, or as a folder if the name ends in `/`; made once for each name."""
        if name not in self.made:
            out = self.folder / name
            run = logpose("convert", source or self.path, "-o", f"{out}/" if name.endswith("/") else out, *options)
            assert run.returncode == 0, f"{name}: {run.stderr}"
            self.made[name] = out
        return self.made[name]


@pytest.fixture(scope="session")
def demos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demos") / "demo"
    run = logpose("demo", folder)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture(scope="module")
def log(request, tmp_path_factory, demos):
    if request.param is None:
        pytest.skip("no corpus: LOGPOSE_CORPUS names its folder, ../shared/corpus is the default")
    yield from prepared(request.param, tmp_path_factory.mktemp("log"), demos)


@pytest.fixture(scope="module")
def own_log(request, tmp_path_factory, demos):
    yield from prepared(request.param, tmp_path_factory.mktemp("log"), demos)


def prepared(which, folder, demos):
    import logs

    if isinstance(which, pathlib.Path):
        path = which
    elif which in DEMOS:
        path = demos / f"{which}.wpilog"
    else:
        path = folder / f"{which}.wpilog"
        getattr(logs, which)(path)
    yield Log(path, folder)
    shutil.rmtree(folder)


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
