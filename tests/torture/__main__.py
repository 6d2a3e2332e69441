"""Tortures logpose with damaged files, kills, full disks, hostile peers and hard questions: `make torture`.

Every trial has a name such as files:132. The same seed and name give the same trial: `make torture SEED=7 T=files:132`.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

import clients
import files
import questions
import seeds
import servers
import viewer
import writers
from trial import LOGPOSE, WORK, Failed, Trial

# Each kind with the number of its trials in a round.
KINDS = {
    "files": (files.trial, 24),
    "hostile": (files.hostile, 1),
    "writers": (writers.trial, 2),
    "clients": (clients.trial, 2),
    "servers": (servers.trial, 1),
    "viewer": (viewer.trial, 1),
    "questions": (questions.trial, 2),
}
UNITS = ["runs", "mutated files", "kills", "peers", "questions"]


class Campaign:
    def __init__(self, seed):
        self.seed = seed
        self.counts, self.findings = collections.Counter(), collections.Counter()
        self.lock = threading.Lock()

    def count(self, what, n=1):
        with self.lock:
            self.counts[what] += n

    def found(self, trial, what, detail, command):
        with self.lock:
            self.findings[what] += 1
            if self.findings[what] > 1:
                return
            print(f"\nFINDING {what}", f"  {detail}" if detail else "", sep="\n")
            print(f"  make torture SEED={self.seed} T={trial.name}    files: {trial.folder}")
            if command:
                print(f"  {command}", flush=True)

    def trial(self, kind, number):
        trial = Trial(self, kind, number)
        before = sum(self.findings.values())
        try:
            KINDS[kind][0](trial)
        except Failed:
            pass
        except Exception:
            # The means of the campaign must not hide anything either.
            self.found(trial, f"{kind} trials have a fault of their own", traceback.format_exc(), "")
        if sum(self.findings.values()) == before:
            shutil.rmtree(trial.folder, ignore_errors=True)

    def run(self, names, seconds, jobs):
        end = time.monotonic() + seconds
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            running = set()
            for kind, number in names:
                if time.monotonic() > end:
                    break
                running.add(pool.submit(self.trial, kind, number))
                if len(running) >= jobs:
                    done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
        parts = [f"{self.counts[unit]:,} {unit}" for unit in UNITS]
        found = f"{len(self.findings)} findings"
        if self.findings:
            found += f", {sum(self.findings.values())} times in all"
        print(f"\ntorture: seed {self.seed}, {', '.join(parts)}: {found}")
        for what, times in self.findings.most_common():
            print(f"  {times:4} × {what}")
        return 1 if self.findings else 0


def names_of(rounds, kinds):
    """The trials, kind by kind in each round, so that a short campaign has some of everything."""
    for n in itertools.count() if rounds is None else range(rounds):
        for kind, (_, times) in KINDS.items():
            if kind in kinds:
                yield from ((kind, n * times + i) for i in range(times))


def main():
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long to go on")
    parser.add_argument("--rounds", type=int, help="how many rounds, in place of a time")
    parser.add_argument("--seed", type=int, default=None, help="repeats a campaign")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("trials", nargs="*", help="a kind (files) or a trial (files:132); everything by default")
    args = parser.parse_args()
    if not LOGPOSE.is_file():
        parser.error(f"{LOGPOSE} is missing; `make torture` builds it (LOGPOSE_BIN names another)")
    in_own_mounts()
    # Peers open many sockets.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    shutil.rmtree(WORK, ignore_errors=True)
    campaign = Campaign(random.randrange(1 << 32) if args.seed is None else args.seed)
    print(f"torture: seed {campaign.seed}, {LOGPOSE}", flush=True)
    seeds.prepare(Trial(campaign, "seeds", 0))
    single = [tuple(name.split(":")) for name in args.trials if ":" in name]
    kinds = [name for name in args.trials if ":" not in name] or ([] if single else list(KINDS))
    names = itertools.chain(((kind, int(number)) for kind, number in single), names_of(args.rounds, kinds) if kinds else [])
    seconds = float("inf") if args.rounds else args.seconds
    return campaign.run(names, seconds, args.jobs)


def in_own_mounts():
    """Starts again where small disks can be mounted without anybody else seeing them, if the system allows it."""
    if os.environ.get("TORTURE_MOUNTS"):
        return
    unshare = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    if shutil.which("unshare") and subprocess.run([*unshare, "true"], capture_output=True).returncode == 0:
        os.environ["TORTURE_MOUNTS"] = "yes"
        os.execvp("unshare", [*unshare, sys.executable, *sys.argv])
    os.environ["TORTURE_MOUNTS"] = "no"


if __name__ == "__main__":
    sys.exit(main())
