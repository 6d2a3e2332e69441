"""One trial: a folder, a source of chance, the runs of logpose in it, and what was wrong with them."""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGPOSE = pathlib.Path(os.environ.get("LOGPOSE_BIN") or ROOT / "target/debug/logpose").absolute()
WORK = ROOT / "target/torture"
MB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one run may take. The numbers are for the dev profile, which is slow, on a machine that has other work."""

    cpu_s: int = 30
    wall_s: int = 120
    rss_mb: int = 700
    address_mb: int = 16_000
    file_mb: float | None = None

    def shell(self):
        """The part that the system enforces, so that the same line of a shell repeats a run."""
        file = "" if self.file_mb is None else f"ulimit -f {int(self.file_mb * MB / 512)}; "
        # 1024 open files are what most systems give a program.
        return f'ulimit -S -n 1024; ulimit -v {self.address_mb * 1024}; ulimit -S -t {self.cpu_s}; {file}exec "$@"'


@dataclasses.dataclass
class Run:
    command: str
    code: int
    out: str
    err: str

    @property
    def json(self):
        """The result, or the error, that a run with --json printed; empty if it printed none."""
        for text in (self.out, *reversed(self.err.splitlines())):
            with contextlib.suppress(ValueError):
                return json.loads(text)
        return {}


class Failed(Exception):
    """Ends a trial: what follows would only repeat the finding."""


class Trial:
    def __init__(self, campaign, kind, number):
        self.campaign, self.name = campaign, f"{kind}:{number}"
        self.number, self.rng = number, random.Random(f"{campaign.seed}/{kind}/{number}")
        self.folder = WORK / f"{kind}-{number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.programs = []

    def count(self, what, n=1):
        self.campaign.count(what, n)

    def found(self, what, detail="", command=""):
        """Something is wrong. `what` is the same each time that it happens."""
        self.campaign.found(self, what, detail, command)

    def check(self, holds, what, detail="", command=""):
        if not holds:
            self.found(what, detail, command)
            raise Failed

    def env(self):
        own = {"TMPDIR": self.temporary, "HOME": self.folder, "LOGPOSE_CACHE": self.folder / "cache", "NO_COLOR": 1}
        return os.environ | {name: str(value) for name, value in own.items()}

    def spawn(self, args, limits, **streams):
        args = [str(arg) for arg in args]
        command = ["sh", "-c", limits.shell(), "sh", str(LOGPOSE), *args]
        process = subprocess.Popen(command, cwd=self.folder, env=self.env(), **streams)
        return process, shlex.join(command)

    def run(self, *args, limits=Limits(), allowed=(0, 1, 3), stdin=None, binary=False):
        """Runs logpose to its end and checks what holds for every run."""
        with contextlib.ExitStack() as stack:
            out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            source = stack.enter_context(open(stdin, "rb")) if stdin else subprocess.DEVNULL
            process, command = self.spawn(args, limits, stdin=source, stdout=out, stderr=err)
            late = threading.Event()
            timer = threading.Timer(limits.wall_s, lambda: (late.set(), process.kill()))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = code = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            text = out.read() if binary else out.read().decode(errors="replace")
            run = Run(command, code, text, err.read().decode(errors="replace"))
        self.count("runs")
        what = subject(args)
        rss = usage.ru_maxrss // 1024
        self.check(not late.is_set(), f"{what} did not end", f"within {limits.wall_s} s", command)
        self.check_code(what, run, allowed)
        if rss > limits.rss_mb:
            self.found(f"{what} takes too much memory", f"{rss} MB, more than {limits.rss_mb} MB", command)
        if not self.programs and (left := os.listdir(self.temporary)):
            self.found(f"{what} leaves temporary files behind", f"{left}, exit code {code}", command)
            shutil.rmtree(self.temporary)
            self.temporary.mkdir()
        return run

    def check_code(self, what, run, allowed):
        last = run.err.strip().splitlines()[-1:] or [""]
        detail = f"{run.err[-2000:].strip()}" if "panicked" in run.err else last[0][:500]
        if run.code < 0:
            name = signal.Signals(-run.code).name
            name = "used too much processor time" if name == "SIGXCPU" else f"died of {name}"
            self.check(False, f"{what} {name}", detail, run.command)
        panicked = re.search(r"panicked at ([^\s]*)", run.err)
        self.check(not panicked, f"{what} panicked at {panicked and panicked[1]}", detail, run.command)
        self.check(run.code in allowed, f"{what} ends with exit code {run.code}", detail, run.command)

    @contextlib.contextmanager
    def start(self, *args, limits=Limits(cpu_s=120, rss_mb=1500)):
        """Runs logpose until the end of the block, and stops it as Ctrl-C does if it still runs then."""
        program = Program(self, args, limits)
        self.programs.append(program)
        try:
            yield program
            program.stop()
        finally:
            program.kill()
            self.programs.remove(program)


class Program:
    """logpose while it runs."""

    number = itertools.count()

    def __init__(self, trial, args, limits):
        self.trial, self.what, self.limits = trial, subject(args), limits
        self.log = trial.folder / f"program-{next(self.number)}.log"
        self.errors = self.log.with_suffix(".err")
        with open(self.log, "wb") as out, open(self.errors, "wb") as err:
            self.process, self.command = trial.spawn(args, limits, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def alive(self):
        return self.process.poll() is None

    def wait_for(self, pattern, seconds=30, count=1):
        """What the output says, in the order of the text, as soon as it says it so often."""
        until(lambda: len(self.find(pattern)) >= count or not self.alive(), seconds)
        found = self.find(pattern)
        self.trial.check(len(found) >= count, f"{self.what} did not start", self.errors.read_text()[-500:], self.command)
        return found

    def find(self, pattern):
        return re.findall(pattern, self.log.read_text(errors="replace"))

    def stat(self):
        return pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()

    def cpu_s(self):
        user, system = self.stat()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024

    def check(self):
        """It still runs, within its memory."""
        if not self.alive():
            self.end()
            self.trial.check(False, f"{self.what} ended by itself", self.errors.read_text()[-500:], self.command)
        self.trial.check("panicked" not in self.errors.read_text(), f"{self.what} panicked", self.errors.read_text()[-2000:])
        peak, limit = self.peak_mb(), self.limits.rss_mb
        self.trial.check(peak <= limit, f"{self.what} takes too much memory", f"{peak} MB, more than {limit} MB", self.command)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGINT)
            self.end(20)

    def end(self, seconds=60, allowed=(0, 1, 3, 130)):
        """Waits for its end, and checks how it ended."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.trial.check(False, f"{self.what} did not end", f"within {seconds} s", self.command)
        self.trial.count("runs")
        run = Run(self.command, code, "", self.errors.read_text(errors="replace"))
        self.trial.check_code(self.what, run, allowed)
        return run


def subject(args):
    """What a run is called in findings: the command, without the arguments that differ from trial to trial."""
    words = [str(arg) for arg in args]
    groups = {"carla", "ds", "refloat"}
    name = " ".join(words[:2] if words[0] in groups else words[:1])
    schemes = sorted({word.split("://")[0] for word in words if "://" in word})
    return " ".join([name, *schemes])


def until(is_so, seconds):
    """Whether it is so, within so many seconds."""
    end = time.monotonic() + seconds
    while not (so := is_so()) and time.monotonic() < end:
        time.sleep(0.02)
    return so
