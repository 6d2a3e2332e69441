#!/usr/bin/env python3
"""Times logpose beside what users have today and prints one table. `make bench` calls it.

    bench/run.py [--quick] [--huge] [--only REGEX] [-n N] [--json FILE] [--instructions]

Standard library only. It writes only into target/bench: inputs, a virtual environment, built peers. See README.md
beside this file for what is measured and how to read the table. Exit code: 0 done, 1 something of ours was wrong.
"""
import argparse, csv, hashlib, json, math, os, re, shutil, struct, subprocess, sys, tempfile, threading, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
WORK = TARGET / "bench"
DATA, MADE, OUT, BIN, VENV, CACHE = (WORK / name for name in ("data", "made", "out", "bin", "venv", "cache"))
RELEASE = TARGET / "release"
# Python peers: the module to import, and what brings it.
PACKAGES = {
    "wpiutil.log": "robotpy-wpiutil==2026.2.2",
    "pyarrow": "pyarrow==26.0.1",
    "duckdb": "duckdb==2.0.0",
    "polars": "polars==2.1.0",
    "mcap": "mcap==1.6.0",
    "dpkt": "dpkt==1.9.8",
    # What dslogparser needs, in the last version that it works with.
    "bitstring": "bitstring==3.1.9",
    "dslogparser": "dslogparser==1.0.3",
}

INPUTS = ("wpilog-tiny", "wpilog-match", "rlog-match", "wpilog-big", "rlog-big", "carla-big", "pcap-link", "pcap-big")
# What `generate` compares its output with; an input that was made before its checksum changed is made again.
CHECKSUMS = (HERE / "checksums.txt").read_text()
# Pairs of station logs, and how many of them the peer reads, which takes long.
SEASON, SEASON_PEER = 10_000, 20
# How many messages the MCAP file has. A tenth is for those who take long.
MESSAGES = (5_000_000, 500_000)
HUGE = 5_000_000_000
HUGE_DISK = 12_000_000_000
MEANS = "SELECT channel, avg(number) AS mean FROM samples GROUP BY channel"

# Logs of the lake, and questions about it: a name, SQL for logpose and for DuckDB, and how many times DuckDB's time it may
# take. DuckDB has `time_ns` only, and no `channels` of its own that would answer the last two.
LAKE_LOGS = 100
VOLTS = "/SystemStats/BatteryVoltage"
LAKE = [
    ("one channel per log",
     f"SELECT log, avg(number) AS value FROM samples WHERE channel = '{VOLTS}' AND time_ns > 10000000000 GROUP BY log", None, 1.0),
    ("mean of all channels",
     "SELECT channel, avg(number) AS value FROM samples WHERE time_ns > 10000000000 GROUP BY channel", None, 1.3),
    ("join with modes",
     f"SELECT mode, min(number) AS value FROM samples s JOIN modes m ON s.log = m.log AND s.time_ns >= m.start_ns AND s.time_ns < m.end_ns WHERE channel = '{VOLTS}' GROUP BY mode",
     (("s.time_ns >= m.start_ns", "s.time >= m.start"), ("s.time_ns < m.end_ns", 's.time < m."end"')), 1.5),
    ("extremes per log",
     f"SELECT log, max(number) AS value FROM samples WHERE channel = '{VOLTS}' GROUP BY log", None, 0.1),
    ("mean of all channels, whole",
     "SELECT channel, avg(number) AS value FROM samples GROUP BY channel", None, 0.1),
]

# Measured once on another machine, where WPILib's C++ reader made the columns of wpilog-match in so many seconds.
# Here all of these are multiplied by how much longer or shorter that takes on this machine, and those of the walk over
# wpilog-big by how much longer or shorter the walk takes.
CPP_ELSEWHERE = 0.155
CPP_WALK_ELSEWHERE = 15.0
SCOPE, KIT, PYTHON = "AdvantageScope", "AdvantageKit", "WPILib Python"

failures = []


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- one run


class Run:
    """What one process did: its keys, its wall time, the most memory it held."""

    def __init__(self, keys, wall, rss, error=None):
        self.keys, self.wall, self.rss, self.error = keys, wall, rss, error


def run(cmd, limit=600, stdout=None):
    """Runs a command. Lines that begin with @ hold key=value pairs, unless the output goes to a file."""
    with open(stdout, "w+b") if stdout else tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.perf_counter()
        try:
            process = subprocess.Popen([str(c) for c in cmd], stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        except OSError as error:
            return Run({}, 0, 0, str(error))
        timer = threading.Timer(limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        keys = {}
        for line in [] if stdout else out.read().decode(errors="replace").splitlines():
            if line.startswith("@"):
                keys.update(pair.split("=", 1) for pair in line[1:].split() if "=" in pair)
        error = None
        if process.returncode:
            last = err.read().decode(errors="replace").strip().splitlines()[-1:] or [""]
            error = f"exit {process.returncode}: {last[0]}"
        # Linux counts in KiB. A child starts with what this program holds, some 20 MB, as its minimum.
        return Run(keys, wall, usage.ru_maxrss * 1024, error)


def memory_of(cmd):
    """The most memory that is no mapped file, sampled while a command runs once, untimed."""
    process = subprocess.Popen([str(c) for c in cmd], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        found = re.search(r"RssAnon:\s+(\d+)", status)
        peak = max(peak, int(found[1]) * 1024 if found else 0)
        time.sleep(0.002)
    process.wait()
    return peak


# ---------------------------------------------------------------- what is needed


def build():
    # Both at once, so that their dependencies have the same features and are built once.
    done = subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "logpose-bench", "-p", "logpose"], cwd=ROOT)
    if done.returncode:
        sys.exit("bench: logpose does not build")


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def generate(kind, path, about, size=None):
    """Makes an input unless it is there; returns what a correct reader must find in it."""
    if path.exists() and about.exists():
        totals = json.loads(about.read_text())
        whole = path.is_dir() or totals["bytes"] == path.stat().st_size
        if whole and totals.get("sha256", "not known") in CHECKSUMS:
            return totals
    say(f"bench: making {path.name}")
    about.unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    made = subprocess.run([RELEASE / "generate", kind, path] + ([str(size)] if size else []), capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"bench: {made.stderr.strip()}")
    totals = json.loads(made.stdout) | {"kind": path.stem}
    about.write_text(json.dumps(totals))
    return totals


def make_input(kind, name=None, size=None):
    """Makes a file unless it is there; returns its path and what a correct reader must find in it."""
    path = DATA / f"{name or kind}.{kind.split('-')[0]}"
    return path, generate(kind, path, path.with_suffix(".json"), size)


def make_season(pairs):
    """Makes a folder of station logs unless it is there; returns it and what is in it."""
    folder = DATA / f"season-{pairs}"
    return folder, generate("dslog-season", folder, DATA / f"season-{pairs}.json", pairs)


def make_lake():
    """Makes a lake of many copies of a demo log, which differ in their headers; returns what went wrong."""
    lake, logs, demo = MADE / "lake", MADE / "lake-logs", MADE / "demo"
    if lake.exists():
        return None
    logs.mkdir(parents=True, exist_ok=True)
    done = run([RELEASE / "logpose", "--quiet", "demo", demo], stdout=OUT / "demo.txt")
    if done.error:
        return done.error
    log = next(demo.glob("akit*.wpilog")).read_bytes()
    (length,) = struct.unpack_from("<I", log, 8)
    for number in range(LAKE_LOGS):
        header = log[12 : 12 + length] + f" {number}".encode()
        (logs / f"{number:03}.wpilog").write_bytes(log[:8] + struct.pack("<I", len(header)) + header + log[12 + length :])
    return run([RELEASE / "logpose", "--quiet", "ingest", lake, logs]).error


def rows_of(path):
    """The rows of two columns of a CSV file, by the first."""
    with open(path, newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return {key: float(value) if value else None for key, value in rows}


def check_rows(path, expected):
    found, expected = rows_of(path), rows_of(expected)
    if not found or found.keys() != expected.keys():
        return f"{len(found)} rows, not {len(expected)}"
    for key, value in expected.items():
        other = found[key]
        if not (other is value or None not in (value, other) and math.isclose(other, value, rel_tol=1e-9)):
            return f"{key} is {other}, not {value}"
    return None


def peers(counting):
    """Installs and compiles the peers; returns which there are, with their commands."""
    found = {}
    python = VENV / "bin" / "python"
    ready = lambda module: python.exists() and not subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True)
    for module, package in PACKAGES.items():
        if ready(module):
            found[module] = python
            continue
        cmd = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        try:
            made = subprocess.run(cmd, capture_output=True, text=True)
            why = (made.stderr.strip() or made.stdout.strip() or "it cannot be imported").splitlines()[-1]
        except OSError as error:
            why = f"there is no Python with the module venv: {error}"
        if ready(module):
            found[module] = python
        else:
            say(f"bench: without {package}, which cannot be installed ({why[:160]})")
    if "wpiutil.log" not in found:
        return found
    compiler = shutil.which("g++")
    if not compiler:
        say("bench: without WPILib's C++ reader and writer: there is no g++")
        return found
    where = subprocess.run([python, "-c", "import native.wpiutil as m; print(list(m.__path__)[0])"], capture_output=True, text=True)
    native = Path(where.stdout.strip() or "/nonexistent")
    # valgrind does not know the newest instructions, so what it runs is made without them.
    builds = [("wpilib_read", "wpilib_read", "native"), ("wpilib_write", "wpilib_write", "native"), ("wpilib_read", "wpilib_read_plain", None)]
    for source, name, machine in builds if counting else builds[:2]:
        source, program = HERE / "peers" / f"{source}.cpp", BIN / name
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            cmd = [compiler, "-std=c++20", "-O3", *([f"-march={machine}"] if machine else []), f"-I{native}/include", "-o", program, source, f"-L{native}/lib", "-lwpiutil", f"-Wl,-rpath,{native}/lib"]
            done = subprocess.run(cmd, capture_output=True, text=True)
            if done.returncode:
                why = [line for line in done.stderr.splitlines() if "error" in line][:1] or ["it failed"]
                say(f"bench: without WPILib's C++ {name}: {why[0][:200]}")
                continue
        found[name] = program
    return found


# ---------------------------------------------------------------- right or wrong

EXACT = ("records", "control", "schema", "int_sum", "true", "string_bytes", "struct_bytes", "tsum")
agreed = {}  # sums of times, which `generate` does not print: all readers of an input must agree


def wrong(keys, totals):
    """What of the counts and sums a run printed is not as it must be; None if all is."""
    for key in EXACT:
        expected = agreed.setdefault(totals["kind"], int(keys[key])) if key == "tsum" and key in keys else totals.get(key)
        if key in keys and expected is not None and int(keys[key]) != expected:
            return f"{key} {keys[key]}, not {expected}"
    if "double_sum" in keys and "double_sum" in totals:
        # Readers add the numbers up in different orders.
        if not math.isclose(float(keys["double_sum"]), totals["double_sum"], rel_tol=1e-9, abs_tol=1e-6):
            return f"double_sum {keys['double_sum']}, not {totals['double_sum']}"
    return None if "records" in keys else "it printed no count"


def append_totals(n):
    """What `ours wpilog-append` writes: n records of each of four kinds."""
    return {"kind": f"append-{n}", "records": 4 * n, "control": 400, "schema": 0, "double_sum": 0.25 * n * (n - 1) + 36.0 * n, "int_sum": 0, "true": n // 2, "string_bytes": 23 * n, "struct_bytes": 0}


def types_of(path):
    """The type of every entry, from the Start records of a WPILOG."""
    with open(path, "rb") as file:
        log = file.read(1 << 20)
    at, types = 12 + struct.unpack_from("<I", log, 8)[0], {}
    while at + 16 < len(log):
        widths = log[at]
        fields, place = [], at + 1
        for width in (1 + (widths & 3), 1 + (widths >> 2 & 3), 1 + (widths >> 4 & 7)):
            fields.append(int.from_bytes(log[place:place + width], "little"))
            place += width
        entry, size, _ = fields
        payload = log[place:place + size]
        if entry == 0 and payload[:1] == b"\0" and len(payload) == size:
            texts, p = [], 5
            for _ in range(3):
                n = struct.unpack_from("<I", payload, p)[0]
                texts.append(payload[p + 4:p + 4 + n].decode())
                p += 4 + n
            types[texts[0]] = texts[1]
        at = place + size
    return types


def text_sums(rows, types):
    """Counts and sums over rows of channel and value as CSV or NDJSON show them. Structs are only counted."""
    keys = {"records": 0, "schema": 0, "double_sum": 0.0, "int_sum": 0, "true": 0, "string_bytes": 0}
    single = lambda x: struct.unpack("f", struct.pack("f", float(x)))[0]
    for name, value in rows:
        kind = types[name]
        if kind == "structschema":
            keys["schema"] += 1
            continue
        keys["records"] += 1
        if kind.startswith("struct:"):
            continue
        if kind.endswith("[]"):
            values, kind = json.loads(value) if isinstance(value, str) else value, kind[:-2]
        else:
            values = (value,)
        for x in values:
            if kind == "double":
                keys["double_sum"] += float(x)
            elif kind == "float":
                keys["double_sum"] += single(x)
            elif kind == "int64":
                keys["int_sum"] += int(x)
            elif kind == "boolean":
                keys["true"] += x is True or x == "true"
            else:
                # JSON texts are values in NDJSON: their length is that of the text they came from.
                keys["string_bytes"] += len(x if isinstance(x, str) else json.dumps(x, separators=(",", ":")))
    return keys


def check_csv(path, source, totals):
    with open(path, newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return wrong(text_sums(((row[1], row[2]) for row in rows), types_of(source)), totals)


def check_ndjson(path, source, totals):
    with open(path) as file:
        rows = map(json.loads, file)
        return wrong(text_sums(((row["channel"], row["value"]) for row in rows), types_of(source)), totals)


def check_parquet(have):
    """Reads a Parquet file back, with pyarrow if it is there."""
    def check(path, source, totals):
        python = have.get("pyarrow")
        done = run([python, HERE / "peers/parquet_sums.py", path] if python else [RELEASE / "ours", "open-sum", path])
        return done.error or wrong({k: v for k, v in done.keys.items() if k != "tsum"}, totals)
    return check


def check_mcap(path, source, totals):
    done = run([RELEASE / "theirs", "mcap-sum", path])
    messages[path] = int(done.keys.get("messages", 0))
    return done.error or wrong({k: v for k, v in done.keys.items() if k != "tsum"}, totals)


messages = {}  # how many there are in an MCAP file that was read back: more than samples


def means_of(path):
    with open(path, newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return {name: float(mean) if mean else None for name, mean in rows}


def check_means(path, expected):
    """Whether every channel has the mean that it must have, and those without numbers none."""
    found, expected = means_of(path), means_of(expected)
    if found.keys() != expected.keys():
        return f"{len(found)} channels, not {len(expected)}"
    for name, mean in expected.items():
        other = found[name]
        same = other is mean if mean is None or other is None else math.isclose(other, mean, rel_tol=1e-9, abs_tol=1e-12)
        if not same:
            return f"the mean of {name} is {other}, not {mean}"
    return None


def check_info(path, totals):
    about = json.loads(path.read_text())
    samples = int(about["samples"])
    if samples != totals["records"] + totals["schema"]:
        return f"{samples} samples, not {totals['records'] + totals['schema']}"
    return None if any(CACHE.rglob("*.lpx")) else "no index was kept"


def check_rlog(path, source, totals):
    done = run([RELEASE / "ours", "rlog-columns", path, "1"])
    # Keys take the place of Start records, and times are doubles.
    return done.error or wrong({k: v for k, v in done.keys.items() if k not in ("control", "tsum")}, totals)


# ---------------------------------------------------------------- jobs


class Side:
    """One program of a job, and its best figure over all runs.

    `output` is the file that it writes, or its standard output if `printed`; `check` reads it and says what is wrong.
    `before` is called before every run, untimed. A command with None in it is that of a peer which is not here."""

    def __init__(self, name, cmd, figure, runs=None, expect=None, output=None, check=None, printed=False, before=None):
        self.name, self.cmd, self.figure, self.runs, self.expect = name, cmd, figure, runs, expect
        self.output, self.check, self.printed, self.before = output, check, printed, before
        self.best, self.rss, self.keys, self.all, self.error = None, 0, {}, [], "not here" if None in cmd else None

    def take(self, done, totals):
        expected = self.expect or totals
        if done.error is None and expected:
            done.error = wrong(done.keys, expected)
        if done.error:
            self.error = done.error
            return
        value = self.figure(done, totals)
        self.all.append(value)
        self.rss = max(self.rss, int(done.keys.get("peak_bytes") or done.rss))
        if self.best is None or value < self.best:
            self.best, self.keys = value, done.keys


class Job:
    """A row: ours, the peers beside it, what others measured elsewhere, and the goals.

    `rival` is what a goal calls the first peer, `stable` whether all runs of ours must write the same bytes, `sampled`
    whether its memory without mapped files is of interest, `prepare` what must be done first, `runs` how often at most."""

    def __init__(self, name, ours, peers=(), kind=None, unit="ns/record", threads=0, elsewhere=None, goals=(), extra=None, rival="C++", stable=True, sampled=False, prepare=None, runs=None):
        self.name, self.ours, self.peers = name, ours, list(peers)
        self.kind, self.unit, self.threads, self.elsewhere = kind, unit, threads, elsewhere
        self.goals, self.extra, self.rival = goals, extra, rival
        self.stable, self.sampled, self.prepare, self.runs = stable, sampled, prepare, runs
        self.note = ""


def per_record(done, totals):
    return int(done.keys["work_ns"]) / totals["records"]


def key(name):
    return lambda done, _: float(done.keys[name])


def wall(done, _):
    return done.wall


def work(done, _):
    return int(done.keys["work_ns"]) / 1e9


def jobs(inputs, have, quick):
    """All jobs for the inputs and peers that there are."""
    ours = lambda *args: [RELEASE / "ours", *args]
    theirs = lambda *args: [RELEASE / "theirs", *args]
    python = lambda script, *args, also="wpiutil.log": [have.get("wpiutil.log" if script.startswith("robotpy") else also) and have.get(also), HERE / "peers" / script, *args]
    reader, writer = have.get("wpilib_read"), have.get("wpilib_write")
    cpp = lambda mode, kind, expect=None: Side("WPILib C++", [reader, mode, inputs[kind][0]], per_record, expect=expect)
    # Who does not look at types counts schemas as records.
    untyped = lambda kind: {"kind": f"{kind}-untyped", "records": inputs[kind][1]["records"] + inputs[kind][1]["schema"], "control": inputs[kind][1]["control"]}
    slow = lambda mode, kind: Side(PYTHON, python("robotpy_read.py", mode, inputs[kind][0]), per_record, runs=1 if quick else 3)
    here = [kind for kind in INPUTS if kind in inputs]
    list_ = []

    def reading(job, kind, threads, peers=(), elsewhere=None, goals=(), extra=None):
        path, totals = inputs[kind]
        if elsewhere:
            who, seconds, rss = elsewhere
            elsewhere = (who, seconds * 1e9 / totals["records"] if seconds > 1e-5 else seconds * 1e9, rss)
        name = f"{job.replace('-', ' ')}, {kind.split('-')[1]}, {threads} thread{'s' if threads > 1 else ''}"
        side = Side("logpose", ours(job, path, str(threads)), per_record)
        list_.append(Job(name, side, peers, kind, threads=threads, elsewhere=elsewhere, goals=goals, extra=extra))

    index_bytes = ("B/record of index", lambda keys, totals: int(keys["index_bytes"]) / totals["records"])
    ratio_held = ("× the decoded bytes held", lambda keys, _: int(keys["anonymous_bytes"]) / int(keys["decoded_bytes"]))
    for kind in here:
        size = kind.split("-")[1]
        for threads in (1, 2) if size != "tiny" else (1,):
            target = 4.5 if threads == 1 else 8
            if kind.startswith("wpilog"):
                peers = [cpp("sum", kind)] + ([slow("sum", kind)] if size == "match" and threads == 1 else [])
                reading("wpilog-sum", kind, threads, peers, (SCOPE, 1570e-9, 0) if size == "match" else None, [("peer", target)] if size == "big" else [])
                if size == "tiny":
                    continue
                # C++ only walks; it makes no index.
                reading("wpilog-index", kind, threads, [cpp("walk", kind, untyped(kind))], (SCOPE, 95e-9, 4.7e9) if size == "big" else None,
                        [("elsewhere", 12), ("extra", 8)] if size == "big" else [("extra", 8)], index_bytes)
                seconds, rss = (165, 6.9e9) if size == "big" else (10.2, 679e6)
                goals = [("peer", target), ("extra", 1.15)] if size == "big" else [("peer", 4), ("elsewhere", 250)]
                reading("wpilog-columns", kind, threads, [cpp("columns", kind)], (SCOPE, seconds, rss), goals, ratio_held)
            elif kind.startswith("carla"):
                reading("carla-index", kind, threads)
            elif kind.startswith("pcap"):
                slowly = Side("dpkt, Python", python("dpkt_read.py", inputs[kind][0], also="dpkt"), per_record, runs=1)
                reading("capture-open", kind, threads, [slowly] if threads == 1 else [])
            else:
                reading("rlog-index", kind, threads, extra=index_bytes)
                reading("rlog-columns", kind, threads, (), (SCOPE, 9.4, 695e6) if size == "match" else None, [("elsewhere", 300)] if size == "match" else [], ratio_held)

    if "carla-big" in inputs:
        path = inputs["carla-big"][0]
        list_.append(Job("carla frames and actors, big", Side("logpose", ours("carla-frames", path), per_record), kind="carla-big", threads=1))
        side = Side("logpose", ours("carla-states", path), key("state_median_us"))
        p99 = ("µs at the 99th percentile", lambda keys, _: float(keys["state_p99_us"]))
        list_.append(Job("carla state at a time, big, median", side, unit="µs", goals=[("extra", 1000)], extra=p99))

    folder, season = inputs["season"]

    def check_season(path):
        logs = json.loads(path.read_text())
        records = sum(log["records"] for log in logs)
        return None if records == season["records"] else f"{records} records, not {season['records']}"

    listing = Side("logpose", [RELEASE / "logpose", "--quiet", "ds", "list", folder, "--json"], wall, output=OUT / "season.json", check=check_season, printed=True)
    scaled = lambda done, _: int(done.keys["work_ns"]) / 1e9 * season["records"] / int(done.keys["records"])
    parser = Side(f"dslogparser, Python, reckoned from {SEASON_PEER} logs", python("dslogparser_read.py", folder, str(SEASON_PEER), also="dslogparser"), scaled, 1)
    gbs = ("GB/s", lambda keys, _: season["bytes"] / 1e9 / listing.best)
    list_.append(Job(f"ds list, a season of {SEASON // 10 if quick else SEASON:,} pairs", listing, [parser], unit="s", extra=gbs))

    n = 400_000 if quick else 2_000_000
    allocations = ("allocations", lambda keys, _: int(keys["double_allocations"]) + int(keys["bool_allocations"]))
    cpp_append = lambda mode, count, name: Side(name, [writer, mode, OUT / f"{mode}.wpilog", str(count)], key("double_median_ns"))
    list_.append(Job("wpilog append double, bytes dropped, median", Side("logpose", ours("wpilog-append", "-", str(n)), key("double_median_ns"), expect={"kind": "append", "records": 4 * n}),
                     [cpp_append("null", n, "WPILib C++")], unit="ns", goals=[("extra", 0)], extra=allocations))
    list_.append(Job("wpilog append double, to a file, mean", Side("logpose", ours("wpilog-append", OUT / "append.wpilog", str(n)), key("double_mean_ns"), expect=append_totals(n)),
                     [cpp_append("writer", n, "WPILib C++, writes not in it"), cpp_append("background", 100_000, "WPILib C++ background, writes not in it")], unit="ns",
                     elsewhere=(PYTHON, 366, 0), goals=[("most", 8), ("extra", 0)], extra=allocations))
    list_.append(Job("rlog encode, a cycle of 279 fields", Side("logpose", ours("rlog-encode", "2000" if quick else "20000"), key("cycle_median_us")), unit="µs",
                     elsewhere=(KIT, 33, 0), goals=[("most", 5), ("extra", 0)], extra=("allocations", lambda keys, _: int(keys["allocations"]))))

    convert = lambda source, out, *more: [RELEASE / "logpose", "--quiet", "convert", source, "-o", out, "--force", "--no-cache", *more]
    checking = lambda check, kind: lambda path: check(path, *inputs[kind])
    few = 1 if quick else 2
    sampled = ("MB of memory", lambda keys, _: keys["anonymous"] / 1e6)

    match = inputs["wpilog-match"][0]
    for to, check in (("csv", check_csv), ("ndjson", check_ndjson), ("rlog", check_rlog), ("parquet", check_parquet(have))):
        out = OUT / f"ours.{to}"
        side, beside, more = Side("logpose", convert(match, out), wall, output=out, check=checking(check, "wpilog-match")), [], {}
        if to == "csv":
            beside = [Side(f"{PYTHON} + csv", python("robotpy_convert.py", to, match, OUT / "peer.csv"), wall, few, untyped("wpilog-match"))]
            more = {"elsewhere": (SCOPE, 20.9, 0), "goals": [("most", 0.5), ("extra", 32)]}
        elif to == "parquet":
            out = OUT / "peer.parquet"
            beside = [Side(f"{PYTHON} + pyarrow", python("robotpy_convert.py", to, match, out, also="pyarrow"), wall, few, untyped("wpilog-match"), out, side.check)]
            more = {"rival": "pyarrow", "goals": [("most", 0.3), ("peer", 25), ("extra", 256)]}
        list_.append(Job(f"wpilog to {to}, match", side, beside, unit="s", extra=sampled, sampled=True, **more))

    # The crate writes the messages that ours wrote, and has them in memory when its time begins.
    def writing_mcap(how):
        out, other, check = OUT / f"ours-{how}.mcap", OUT / f"peer-{how}.mcap", checking(check_mcap, "wpilog-match")
        side = Side("logpose", convert(match, out, "--compression", how), wall, output=out, check=check)
        crate = Side("mcap crate, writing alone", theirs("mcap-write", out, other, how), work, output=other, check=check)
        each = ("ns/message", lambda keys, _: side.best * 1e9 / messages[out])
        list_.append(Job(f"wpilog to mcap, {how}, match", side, [crate], unit="s", rival="mcap crate", goals=[("within", 1.2)], extra=each, elsewhere=(SCOPE, 55, 0)))

    for how in ("none", "lz4", "zstd"):
        writing_mcap(how)

    path, totals = inputs["mcap-doubles"]
    tenth, tenth_totals = inputs["mcap-doubles-tenth"]
    for threads in (1, 2):
        beside = [Side("mcap crate", theirs("mcap-sum", path), per_record)]
        if threads == 1:
            beside.append(Side("mcap Python" + ("" if path == tenth else ", a tenth of it"), python("mcap_read.py", tenth, also="mcap"), lambda done, _: int(done.keys["work_ns"]) / tenth_totals["records"], 1, tenth_totals))
        name = f"mcap open and sum, {totals['records'] / 1e6:g} M messages, {threads} thread{'s' if threads > 1 else ''}"
        list_.append(Job(name, Side("logpose", ours("open-sum", path, str(threads)), per_record), beside, "mcap-doubles", unit="ns/message", threads=threads, rival="mcap crate", goals=[("peer", 1)]))

    # The Parquet file is ours, in one piece; the peers have it before their time begins, and their modules are loaded.
    kind = "wpilog-match" if quick else "wpilog-big"
    path, short_name = inputs[kind][0], kind.split("-")[1]
    parquet, expected = MADE / f"{kind}.parquet", MADE / f"{kind}-means.csv"
    check = lambda found: check_means(found, expected)

    def prepare_means():
        for cmd in (convert(path, parquet), ours("means", path, expected)):
            done = run(cmd)
            if done.error:
                return done.error
        return checking(check_parquet(have), kind)(parquet)

    scan = lambda name, module: Side(f"{name} on Parquet", python("parquet_means.py", module, parquet, OUT / f"{module}.csv", also=module), work, output=OUT / f"{module}.csv", check=check)
    # Once as if the log had never been seen, and once with the index that the first query left behind.
    ask = [RELEASE / "logpose", "--quiet", "sql", MEANS, path, "--format", "csv"]
    info = [RELEASE / "logpose", "--quiet", "info", path, "--json"]
    known = lambda: any(CACHE.rglob("*.lpx")) or run(info)
    for name, cmd, before in (("", [*ask, "--no-cache"], None), (", seen before", ask, known)):
        side = Side("logpose", cmd, wall, output=OUT / "means.csv", check=check, printed=True, before=before)
        list_.append(Job(f"sql mean per channel, {short_name}{name}", side, [scan("DuckDB", "duckdb"), scan("polars", "polars")], unit="s", rival="DuckDB", goals=[("peer", 1)], stable=False, prepare=prepare_means))

    for number, (name, theirs_sql, others, goal) in enumerate(LAKE):
        sql = theirs_sql
        for old, new in others or ():
            sql = sql.replace(old, new)
        lake, expected = MADE / "lake", MADE / f"lake-{number}.csv"
        duckdb = lambda out: python("lake_query.py", lake, theirs_sql, out, also="duckdb")

        def prepare(duckdb=duckdb(expected)):
            return make_lake() or (None if None in duckdb else run(duckdb).error)

        check = lambda found, expected=expected: check_rows(found, expected) if expected.exists() else None
        ask = [RELEASE / "logpose", "--quiet", "sql", "--lake", lake, sql, "--format", "csv"]
        side = Side("logpose", ask, wall, output=OUT / "lake.csv", check=check, printed=True)
        beside = Side("DuckDB on its files", duckdb(OUT / "duckdb.csv"), work, output=OUT / "duckdb.csv", check=check)
        list_.append(Job(f"lake of {LAKE_LOGS} logs, {name}", side, [beside], unit="s", rival="DuckDB", goals=[("within", goal)], stable=False, prepare=prepare))

    def forget():
        shutil.rmtree(CACHE, ignore_errors=True)

    check = lambda found: check_info(found, inputs[kind][1])
    opening = lambda name, before: Side(name, info, wall, output=OUT / "info.json", check=check, printed=True, before=before)
    list_.append(Job(f"second open, {short_name}", opening("logpose", known), [opening("logpose, the first", forget)], unit="s", rival="the first"))

    if "wpilog-huge" in inputs:
        huge = inputs["wpilog-huge"][0]
        held = ("GiB of memory at most", lambda keys, _: keys["rss"] / (1 << 30))
        for to, check in (("parquet", check_parquet(have)), ("mcap", check_mcap)):
            out = OUT / f"ours.{to}"
            side = Side("logpose", convert(huge, out), wall, output=out, check=checking(check, "wpilog-huge"))
            list_.append(Job(f"wpilog to {to}, 5 GB", side, unit="s", goals=[("extra", 1)], extra=held, runs=1))
    return list_


def warm_memory(totals):
    """Touches as much memory as the next run will, in a process of its own.

    A virtual machine's host takes free memory back after a while, and who touches it next waits for it. Neither side
    shall pay for that."""
    if totals:
        need = str(int(2.5 * totals["bytes"]))
        subprocess.run([str(RELEASE / "limits"), "touch", need], stderr=subprocess.DEVNULL)


def written(side, job, digests):
    """What is wrong with the output of a run. What must be the same every time is read back the first time."""
    if side is not job.ours or not job.stable:
        return side.check(side.output)
    found = sha256(side.output)
    if not digests:
        digests.append(found)
        return side.check(side.output)
    return None if found in digests else "another output than the first time"


def perform(job, inputs, n):
    """Runs a job: ours, peer, ours, peer …"""
    totals = inputs[job.kind][1] if job.kind else None
    digests = []
    if job.prepare:
        job.ours.error = job.prepare()
    for _ in range(n):
        for side in [job.ours] + job.peers:
            if len(side.all) >= (side.runs or n) or side.error:
                continue
            if side.before:
                side.before()
            warm_memory(totals)
            done = run(side.cmd, stdout=side.output if side.printed else None)
            if side.output and done.error is None:
                done.error = written(side, job, digests)
            side.take(done, totals)
        if job.ours.error:
            failures.append(f"{job.name}: {job.ours.error}")
            break
    if job.ours.error is None:
        job.ours.keys["rss"] = job.ours.rss
        if job.sampled:
            job.ours.keys["anonymous"] = memory_of(job.ours.cmd)
    # Every channel has lists that grow, and every block of memory comes from somewhere. Records must cost none.
    many = int(job.ours.keys.get("allocations", 0))
    if totals and many > 100 * totals["control"] + totals["records"] / 1000:
        failures.append(f"{job.name}: {many} allocations for {totals['records']} records")
        job.note = "ALLOCATES"
    for path in OUT.iterdir():
        path.unlink()


# ---------------------------------------------------------------- the table


def short(value, unit):
    if unit == "s":
        return f"{value:.3f} s"
    return f"{value:.2f} {unit}" if value < 100 else f"{value:,.0f} {unit}"


def size(n):
    return f"{n / 1e9:.2f} GB" if n >= 1e9 else f"{n / 1e6:.0f} MB"


def speed(job, inputs):
    if not job.kind or job.ours.best is None:
        return None
    totals = inputs[job.kind][1]
    return totals["bytes"] / (job.ours.best * totals["records"])


def own_scale(job, scale):
    """The scale of a row: of the walk where the same walk ran on both machines, else that of the columns."""
    peer = job.peers[0] if job.peers else None
    if job.name.startswith("wpilog index, big") and peer and peer.best:
        return peer.best / CPP_WALK_ELSEWHERE
    return scale


def judge(job, peer, scale, totals):
    """The goals in words, and whether they are reached."""
    words, reached = [], []
    ours = job.ours.best
    for goal, value in job.goals:
        if goal == "peer":
            words.append(f"≥ {value:g} × {job.rival}")
            reached.append(None if peer is None or peer.best is None else peer.best / ours >= value)
        elif goal == "within":
            words.append(f"≤ {value:g} × the time of {job.rival}")
            reached.append(None if peer is None or peer.best is None else ours <= value * peer.best)
        elif goal == "elsewhere":
            words.append(f"≥ {value:g} × {job.elsewhere[0]}")
            reached.append(job.elsewhere[1] * (scale or 1) / ours >= value if scale else None)
        elif goal == "most":
            words.append(f"≤ {value:g} {job.unit}")
            reached.append(ours <= value)
        else:
            name, figure = job.extra
            words.append(f"≤ {value:g} {name}" if value else f"no {name}")
            reached.append(figure(job.ours.keys, totals) <= value)
    if not words:
        return "", ""
    text = "no" if False in reached else "?" if None in reached else "yes"
    return ", ".join(words), text


def rows(list_, inputs, scale):
    for job in list_:
        totals = inputs[job.kind][1] if job.kind else None
        if job.ours.error:
            yield [job.name, f"WRONG: {job.ours.error[:60]}", "", "", "", "", "", "no"]
            continue
        if job.ours.best is None:
            continue
        ours = [short(job.ours.best, job.unit)]
        if job.kind:
            ours.append(f"{speed(job, inputs):.2f} GB/s")
        if job.kind or job.ours.output:
            ours.append(size(job.ours.rss))
        if job.extra:
            value = job.extra[1](job.ours.keys, totals)
            ours.append(f"{value:.2f} {job.extra[0]}" if value else f"no {job.extra[0]}")
        elsewhere = versus = ""
        row_scale = own_scale(job, scale)
        if job.elsewhere:
            who, value, rss = job.elsewhere
            scaled = value * (row_scale or 1)
            elsewhere = f"{who} {short(scaled, job.unit)}" + ("" if row_scale else " (not scaled)") + (f" {size(rss)}" if rss else "")
            versus = f"{scaled / job.ours.best:.1f} ×"
        goal, reached = judge(job, job.peers[0] if job.peers else None, row_scale, totals)
        for at, peer in enumerate(job.peers or [None]):
            beside = ratio = ""
            if peer and peer.error:
                beside = f"{peer.name}: {peer.error[:60]}"
            elif peer and peer.best is not None:
                beside = f"{peer.name} {short(peer.best, job.unit)}" + (f" {size(peer.rss)}" if job.unit != "ns" else "")
                ratio = f"{peer.best / job.ours.best:.1f} ×"
            if at == 0:
                yield [job.name, "  ".join(ours), beside, ratio, elsewhere, versus, goal, job.note or reached]
            else:
                yield ["", "", beside, ratio, "", "", "", ""]


def table(head, body):
    body = [head] + list(body)
    widths = [max(len(row[i]) for row in body) for i in range(len(head))]
    line = lambda row: "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
    print(line(head))
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in body[1:]:
        print(line(row))


LIMITS = [
    ("memory_read_1", "memory read, 1 thread, 1 GiB"),
    ("memory_read_2", "memory read, 2 threads, 1 GiB"),
    ("first_touch", "first touch of fresh pages, 4 KiB"),
    ("first_touch_huge", "first touch of fresh pages, huge"),
    ("cache_read", "page cache, read(2) and sum"),
    ("cache_map", "page cache, mapped and sum"),
    ("write", "write 512 MiB"),
    ("write_fdatasync", "write 512 MiB and fdatasync"),
]


def limits(list_, inputs, quick):
    done = run([RELEASE / "limits", OUT, inputs["wpilog-match" if quick else "wpilog-big"][0]])
    if done.error:
        failures.append(f"limits: {done.error}")
        return {}
    found = {name: float(value) for name, value in done.keys.items()}
    print("\nLimits of this machine\n")
    table(["what", "GB/s"], [[text, f"{found[name]:.2f}"] for name, text in LIMITS if name in found])
    shares = []
    for job in list_:
        memory = found.get(f"memory_read_{min(job.threads, 2)}")
        gbs = speed(job, inputs)
        if memory and gbs:
            each = int(job.ours.keys["allocations"]) / inputs[job.kind][1]["records"] * 1e6
            shares.append([job.name, f"{gbs:.2f}", f"{100 * gbs / memory:.0f} %", f"{each:,.0f}"])
    print("\nOurs as a share of what memory gives to as many threads, and allocations per million records\n")
    table(["job", "GB/s", "share", "allocations"], shares)
    return found


def instructions(have):
    """Instructions a record, counted by callgrind: repeatable, for comparing commits."""
    if not shutil.which("valgrind"):
        say("bench: no instructions: there is no valgrind")
        return {}
    found = {}
    for kind, name, bytes_ in (("wpilog-match", None, None), ("wpilog-big", "wpilog-big-20MB", 20_000_000)):
        path, totals = make_input(kind, name, bytes_)
        sides = [("logpose", [RELEASE / "ours", "wpilog-sum", path, "1"])]
        if "wpilib_read_plain" in have:
            sides.append(("WPILib C++", [have["wpilib_read_plain"], "sum", path]))
        for who, cmd in sides:
            done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={OUT / 'callgrind.out'}", *cmd], capture_output=True, text=True)
            count = re.search(r"Collected : (\d+)", done.stderr)
            if done.returncode or not count:
                say(f"bench: no instructions of {who}: {(done.stderr.strip().splitlines() or ['?'])[-1][:160]}")
                continue
            found[f"{who}, {path.stem}"] = int(count[1]) / totals["records"]
    print("\nInstructions a record, wpilog sum, one thread, start of the process included (goal on big: at most 90)\n")
    table(["who and what", "instructions"], [[name, f"{value:.1f}"] for name, value in found.items()])
    (OUT / "callgrind.out").unlink(missing_ok=True)
    return found


def scale_of(list_, inputs):
    """How much longer than elsewhere this machine takes, by the one program that ran on both."""
    job = next(job for job in list_ if job.name == "wpilog columns, match, 1 thread")
    peer = next((peer for peer in job.peers if peer.name == "WPILib C++"), None)
    if peer and not peer.all and not peer.error:
        for _ in range(3):
            peer.take(run(peer.cmd), inputs[job.kind][1])
    return peer.best * inputs[job.kind][1]["records"] / 1e9 / CPP_ELSEWHERE if peer and peer.best else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", default=bool(os.environ.get("QUICK")), help="without the inputs of 1 GB and 500 MB")
    parser.add_argument("--huge", action="store_true", default=bool(os.environ.get("FULL")), help=f"also convert a log of 5 GB, which takes {HUGE_DISK / 1e9:g} GB of disk for a while")
    parser.add_argument("--only", metavar="REGEX", help="only jobs whose name matches")
    parser.add_argument("-n", type=int, metavar="N", help="runs of each job [default: 7, on the large inputs 5]")
    parser.add_argument("--json", metavar="FILE", help="write all figures of all runs there")
    parser.add_argument("--instructions", action="store_true", help="also count instructions with valgrind")
    parser.add_argument("--no-limits", action="store_true", help="do not measure the machine")
    parser.add_argument("--no-build", action="store_true", help="take the programs in target/release as they are")
    options = parser.parse_args()
    for folder in (DATA, MADE, OUT, BIN):
        folder.mkdir(parents=True, exist_ok=True)
    # What logpose keeps of logs that it opened shall not land in the user's folder.
    os.environ["LOGPOSE_CACHE"] = str(CACHE)
    try:
        return bench(options)
    finally:
        for folder in (MADE, CACHE):
            shutil.rmtree(folder, ignore_errors=True)
        for path in DATA.glob("wpilog-huge.*"):
            path.unlink()


def bench(options):
    if not options.no_build:
        build()
    inputs = {kind: make_input(kind) for kind in INPUTS if not (options.quick and kind.endswith("big"))}
    whole, tenth = MESSAGES
    inputs["mcap-doubles-tenth"] = make_input("mcap-doubles", "mcap-doubles-tenth", tenth)
    inputs["mcap-doubles"] = inputs["mcap-doubles-tenth"] if options.quick else make_input("mcap-doubles", size=whole)
    inputs["season"] = make_season(SEASON // 10 if options.quick else SEASON)
    if options.huge:
        if shutil.disk_usage(DATA).free < HUGE_DISK:
            say(f"bench: without the log of 5 GB, which needs {HUGE_DISK / 1e9:g} GB of disk")
        else:
            inputs["wpilog-huge"] = make_input("wpilog-big", "wpilog-huge", HUGE)
    have = peers(options.instructions)
    list_ = jobs(inputs, have, options.quick)
    chosen = [job for job in list_ if not options.only or re.search(options.only, job.name)]
    for job in chosen:
        say(f"bench: {job.name}")
        perform(job, inputs, min(options.n or (5 if job.kind and job.kind.endswith("big") else 7), job.runs or 99))

    scale = scale_of(list_, inputs)
    head = ["job", "ours", "peer", "ratio", "elsewhere", "ratio", "goal", "reached?"]
    table(head, rows(chosen, inputs, scale))
    print("\nBest of several runs, ours and the peer in turns. GB/s is bytes of the log over time; GB and MB are the most memory held, mapped files in it.")
    if scale:
        print(f"Elsewhere: measured on another machine, and scaled by {scale:.2f}: WPILib C++ makes the columns of wpilog-match in {CPP_ELSEWHERE * scale:.3f} s here, in {CPP_ELSEWHERE:.3f} s there (the index of wpilog-big by the C++ walk, {CPP_WALK_ELSEWHERE:g} ns/record there). Memory is not scaled.")
    else:
        print("Elsewhere: measured on another machine, and not scaled: WPILib's C++ reader did not run here to compare the machines by.")
    found = {} if options.no_limits else limits(chosen, inputs, options.quick)
    counted = instructions(have) if options.instructions else {}
    for failure in failures:
        say(f"bench: WRONG: {failure}")
    if options.json:
        side = lambda s: {"name": s.name, "best": s.best, "runs": s.all, "rss": s.rss, "keys": s.keys, "error": s.error}
        report = {
            "scale": scale,
            "jobs": [{"name": j.name, "unit": j.unit, "gb_per_s": speed(j, inputs), "ours": side(j.ours), "peers": [side(p) for p in j.peers], "elsewhere": j.elsewhere} for j in chosen],
            "limits": found,
            "instructions": counted,
            "failures": failures,
        }
        Path(options.json).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
