"""What was converted and converted back is the same log for WPILib's reader."""

import collections

import pytest
from truth import Truth

# What is made of a log, and with which options.
KEEPS_ALL = {
    "long.parquet": [],
    "long.arrow": [],
    "zstd.mcap": ["--compression", "zstd"],
    "lz4.mcap": ["--compression", "lz4"],
    "none.mcap": ["--compression", "none", "--no-poses"],
}
FOLDERS = {"hive/": [], "channels/": ["--layout", "channel"]}


def back(log, name, options):
    there = log.convert(name, *options)
    return log.convert(f"{name.strip('/')}.back.wpilog", source=there)


def same(found, expected):
    assert len(found) == len(expected)
    for place, (a, b) in enumerate(zip(found, expected)):
        assert a == b, f"sample {place}"


def plain(samples):
    return [(one.channel, one.time_ns, one.payload) for one in samples]


def lives(truth):
    """By channel: its starts with their metadata, the changes of these and the ends, with their times.

    A Start record is written with the time of the value that follows it, so its own is not compared."""
    found = collections.defaultdict(list)
    for _, event in truth.events:
        time = None if event.what == "start" else event.time
        found[event.channel].append((event.what, time, event.metadata))
    return found


@pytest.mark.parametrize("name", KEEPS_ALL)
def test_the_same_records(log, name):
    """Values in the same order, with the same times and payloads, and entries with the same lives."""
    found = Truth(back(log, name, KEEPS_ALL[name]))
    same(plain(found.samples), plain(log.truth.samples))
    assert lives(found) == lives(log.truth)
    assert found.extra_header == log.truth.extra_header


@pytest.mark.parametrize("name", KEEPS_ALL)
def test_the_same_bytes(own_log, name, request):
    """Logs that have each Start record right in front of the first value come back as the file they were."""
    if "shared" in request.node.name:
        pytest.skip("WPILib has one number for all types under a name, we have one for each")
    assert back(own_log, name, KEEPS_ALL[name]).read_bytes() == own_log.path.read_bytes()


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_keep_the_values(log, name, request):
    """Folders have no order of their own across channels, so the log comes back in the order of time."""
    if not log.truth.samples:
        pytest.skip("the log has no samples")
    if "odd" in request.node.name and name == "channels/":
        pytest.skip("values that their type cannot hold are reported and changed in this layout")
    found = Truth(back(log, name, FOLDERS[name]))
    times = [one.time_ns for one in found.samples]
    assert times == sorted(times)
    expected = log.truth.by_channel()
    found = found.by_channel()
    assert found.keys() == expected.keys()
    for channel, samples in expected.items():
        same(plain(found[channel]), plain(samples))
