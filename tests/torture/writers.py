"""What writes files is killed, runs out of disk, meets a size limit or loses its link: every writer with every fault."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import time

import seeds
from trial import WORK, Limits, until
from wire import Robot, wpilog

FLUSH_S = 0.05
# On a busy machine the recorder may be behind its link.
SLACK_S = 1.5


def trial(trial):
    pairs = list(itertools.product(WRITERS, FAULTS))
    write, fault = pairs[trial.number % len(pairs)]
    with small_disk(trial) if fault == "disk" else contextlib.nullcontext(trial.folder) as folder:
        write(trial, fault, folder)


@contextlib.contextmanager
def small_disk(trial):
    """A file system of a few pages; where none can be mounted, a size limit takes its place."""
    folder = trial.folder / "disk"
    folder.mkdir()
    if os.environ["TORTURE_MOUNTS"] == "yes":
        size = f"size={trial.rng.choice([32, 64, 128])}k"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        if os.path.ismount(folder):
            subprocess.run(["umount", "--lazy", folder], check=True)


def limits_of(trial, fault):
    limited = fault == "limit" or fault == "disk" and os.environ["TORTURE_MOUNTS"] != "yes"
    return Limits(cpu_s=120, rss_mb=1500, file_mb=trial.rng.choice([16, 64, 100]) / 1024 if limited else None)


def record(trial, fault, folder):
    rng = trial.rng
    output = folder / f"out.{rng.choice(['wpilog', 'wpilog', 'rlog', 'mcap', 'csv', 'ndjson'])}"
    keep_free = rng.choice(["0", "0", "16kB"])
    with Robot(rng, up_s=rng.uniform(0.3, 0.8) if fault == "link" else float("inf")) as robot:
        args = ["record", f"rlog://127.0.0.1:{robot.port}", "-o", output, "--flush", f"{FLUSH_S}s", "--keep-free", keep_free]
        killed = suffer(trial, fault, args, robot)
    recorded(trial, output, robot, killed)


def open_record(trial, fault, folder):
    output = folder / f"out.{trial.rng.choice(['wpilog', 'mcap'])}"
    with Robot(trial.rng, up_s=trial.rng.uniform(0.3, 0.8) if fault == "link" else float("inf")) as robot:
        address = f"rlog://127.0.0.1:{robot.port}"
        args = ["open", address, "--record", output, "--keep-free", "0", "--no-browser"]
        killed = suffer(trial, fault, args, robot)
    recorded(trial, output, robot, killed, flush_s=0.25)


def suffer(trial, fault, args, robot):
    """Runs a recorder under a fault; the time at which it was killed, if it was."""
    if fault != "kill":
        args = [*args, "--duration", "8s" if fault == "link" else "2s"]
    with trial.start(*args, limits=limits_of(trial, fault)) as program:
        if fault == "kill":
            until(lambda: robot.sent, 20)
            # Any moment will do, and the moment is the point.
            time.sleep(trial.rng.uniform(0.1, 2.5))
            program.kill()
            trial.count("kills")
            return time.monotonic()
        program.end(60)
    if fault == "link":
        pauses = [begin - end for end, begin in zip(robot.ended, robot.accepted[1:])]
        slow = [round(pause, 1) for pause in pauses if pause > 1.2]
        trial.check(not slow and pauses, "a source that comes back waits too long for its recorder", slow, program.command)
    return None


def recorded(trial, output, robot, killed, flush_s=FLUSH_S):
    """A recording opens, has everything up to its end, and ends when it should."""
    if not output.exists() or output.stat().st_size == 0:
        trial.check(not killed or not until_sent(robot, killed - flush_s - SLACK_S), "a killed recording is empty")
        return
    kind = output.suffix
    # A file that may be at its limit must be opened where there is room.
    copy = trial.folder / f"copy{kind}"
    if copy != output:
        shutil.copy(output, copy)
    run = trial.run("cat", copy, "--format", "ndjson", "--order", "file", "-y", "/count", allowed=(0, 3))
    counts = [int(json.loads(line)["value"]) for line in run.out.splitlines()]
    torn = [(a, b) for a, b in zip(counts, counts[1:]) if b <= a or len(robot.accepted) == 1 and b != a + 1]
    trial.check(not torn, f"a {kind} recording lacks samples in its middle", torn[:5], run.command)
    if killed:
        expected, last = until_sent(robot, killed - flush_s - SLACK_S), counts[-1] if counts else 0
        trial.check(
            last >= expected,
            f"a killed {kind} recording lacks more than the flush interval",
            f"ends at {last}, {expected} had come",
            run.command,
        )
    if kind in (".csv", ".ndjson"):
        return
    mended = trial.run("recover", copy, "-o", trial.folder / f"mended{kind}", allowed=(0, 3))
    doctor = trial.run("doctor", trial.folder / f"mended{kind}", allowed=(0, 1, 3))
    trial.check(doctor.code == 0, f"doctor finds damage in what recover wrote of a {kind} recording", doctor.out[-500:], mended.command)


def until_sent(robot, moment):
    return sum(sent < moment for sent in robot.sent)


def convert(trial, fault, folder):
    rng = trial.rng
    output = folder / f"out.{rng.choice(seeds.FORMATS)}"
    existing = fault != "disk" and rng.random() < 0.5
    if existing:
        output.write_text("written before")
    source = trial.folder / "source.wpilog"
    source.write_bytes(wpilog([("/noise", "raw")], [(0, n / 100, rng.randbytes(400)) for n in range(1000)]))
    args = ["convert", source, "-o", output, *(["--force"] if existing else [])]
    if fault in ("kill", "link"):
        with trial.start(*args) as program:
            time.sleep(rng.uniform(0, 0.3))
            program.kill()
            trial.count("kills")
        whole = not output.exists() or existing and output.read_text(errors="replace") == "written before"
        if not whole:
            trial.run("info", output, allowed=(0,))
        return
    run = trial.run(*args, limits=limits_of(trial, fault), allowed=(1,))
    kept = sorted(os.listdir(folder)) if folder != trial.folder else [name for name in os.listdir(folder) if "out" in name]
    trial.check(kept == ([output.name] if existing else []), "convert fails and leaves a file behind", kept, run.command)
    same = not existing or output.read_text() == "written before"
    trial.check(same, "convert fails and changes the file that was there", "", run.command)


def fetch(trial, fault, folder):
    """A download that is disturbed is continued until it is whole, and is then what the board has."""
    ride = WORK / "sound/demo/demo_nosedive.rfrec"
    output = folder / "ride.rfrec"
    drop = ["--close-after", str(trial.rng.randrange(8_000, 20_000))] if fault == "link" else []
    with trial.start("refloat", "board", "--listen", "127.0.0.1:0", "--json", "--file", ride, "--delay", "5ms", *drop) as board:
        [address] = board.wait_for(r'"started","address":"([^"]*)"')
        args = ["refloat", "fetch", address, "-o", output, "--stop", "--patience", "2s"]
        if fault == "kill":
            with trial.start(*args) as program:
                time.sleep(trial.rng.uniform(0.05, 1))
                program.kill()
                trial.count("kills")
        else:
            trial.run(*args, limits=limits_of(trial, fault))
        if os.path.ismount(folder):
            subprocess.run(["mount", "-o", "remount,size=8m", folder], check=True)
        for _ in range(12):
            # A board on which a download was broken off still has its recording.
            run = trial.run(*args)
            whole = run.code == 0 or "has a complete recording" in run.err
            if whole:
                break
        trial.check(whole, "a download that was disturbed cannot be continued", run.err[-500:], run.command)
    contents = [trial.run("cat", path, "--order", "file", "-y", "/refloat/*", "-n", "/refloat/file/*").out for path in (ride, output)]
    trial.check(contents[0] == contents[1], "a continued download is not what the board has", "", run.command)


WRITERS = [record, convert, open_record, fetch]
FAULTS = ["kill", "disk", "limit", "link"]
