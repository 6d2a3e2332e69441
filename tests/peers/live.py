"""Our program while it runs."""

import json
import queue
import signal
import socket
import subprocess
import threading
import time

import wpiutil.log as wpilog

from conftest import LOGPOSE


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(is_so, what, seconds=10):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"not so in {seconds} s: {what}"
        time.sleep(0.02)


class Entry:
    """What WPILib's reader finds of one entry of a log."""

    def __init__(self, start):
        self.type, self.metadata, self.values = start.type, start.metadata, []


def read_wpilog(path):
    """The entries of a log by their names, with raw payloads."""
    entries, by_id = {}, {}
    for record in wpilog.DataLogReader(str(path)):
        if record.isStart():
            start = record.getStartData()
            by_id[start.entry] = entries.setdefault(start.name, Entry(start))
        elif record.isSetMetadata():
            change = record.getSetMetadataData()
            by_id[change.entry].metadata = change.metadata
        elif not record.isControl():
            by_id[record.getEntry()].values.append((record.getTimestamp(), bytes(record.getRaw())))
    return entries


class Running:
    """`logpose` with its lines of JSON. It is killed at the end of the block, if it still runs."""

    def __init__(self, *args):
        self.process = subprocess.Popen([LOGPOSE, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.err = []
        self.threads = [threading.Thread(target=self._out, daemon=True), threading.Thread(target=self._errors, daemon=True)]
        for thread in self.threads:
            thread.start()

    def _out(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def _errors(self):
        self.err.extend(self.process.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def line(self, event, seconds=20):
        """The next line of that event."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = json.loads(self.lines.get(timeout=max(0.01, end - time.monotonic())))
            except queue.Empty:
                raise AssertionError(f"no line {event!r}; {''.join(self.err)}") from None
            if line["event"] == event:
                return line

    def wait(self, seconds):
        """The exit code and both streams."""
        code = self.process.wait(seconds)
        for thread in self.threads:
            thread.join(5)
        return code, "".join(self.lines.queue), "".join(self.err)

    def stop(self):
        """Ends it as Ctrl-C does; its last line."""
        self.process.send_signal(signal.SIGINT)
        last = self.line("done")
        assert self.process.wait(20) == 0, "".join(self.err)
        return last
