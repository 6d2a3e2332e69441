"""Python's own modules read our CSV and JSON lines, and find what WPILib's reader finds in the log."""

import base64
import csv
import json
import math
import struct
from decimal import Decimal

import pytest

# What decodes to an object stands there decoded; of these only that it can be read is asked here.
DECODED = ("struct:", "proto:", "photonstruct:", "msgpack")


def rows(path):
    """The rows of a file by RFC 4180, which ends every line with CR LF."""
    text = path.read_bytes().decode()
    assert text.endswith("\r\n")
    with open(path, newline="", encoding="utf-8") as file:
        found = list(csv.reader(file, strict=True))
    # Line breaks outside of quotes: as many as there are rows, all of both characters.
    outside = "".join(text.split('"')[::2])
    assert outside.count("\r\n") == outside.count("\n") == outside.count("\r") == len(found)
    return found


def nanoseconds(text):
    exact = Decimal(text) * 10**9
    assert exact == int(exact)
    return int(exact)


def same_number(found, expected, kind):
    if math.isnan(expected):
        assert math.isnan(found)
    elif kind.startswith("float"):
        assert struct.pack("<f", found) == struct.pack("<f", expected)
    else:
        assert struct.pack("<d", found) == struct.pack("<d", expected)


def from_json(value):
    """A number that JSON has no word for is a text."""
    return float({"Infinity": "inf", "-Infinity": "-inf"}.get(value, value)) if isinstance(value, str) else float(value)


def whole(value):
    """A whole number; one that a double does not hold is a text, because many programs read numbers as doubles."""
    number = int(value)
    assert isinstance(value, str) == (abs(number) > 2**53 - 1), value
    return number


def same_list(found, one):
    if one.column == "integers":
        assert [whole(number) for number in found] == one.value
    elif one.column == "numbers":
        assert len(found) == len(one.value)
        for a, b in zip(found, one.value):
            same_number(from_json(a), b, one.channel.type)
    else:
        assert found == list(one.value)


def same_cell(cell, one):
    kind = one.channel.type
    if one.column == "number":
        same_number(float(cell), one.value, kind)
    elif one.column == "integer":
        assert int(cell) == one.value
    elif one.column == "boolean":
        assert cell == ("true" if one.value else "false")
    elif one.column == "text":
        assert cell == one.value
    elif one.column == "bytes":
        if not kind.startswith(DECODED):
            assert base64.b64decode(cell, validate=True) == one.payload
    else:
        same_list(json.loads(cell), one)


def same_json(value, one):
    kind = one.channel.type
    if one.column == "number":
        same_number(from_json(value), one.value, kind)
    elif one.column == "integer":
        assert whole(value) == one.value
    elif one.column == "boolean":
        assert value is one.value
    elif kind == "json":
        assert value == json.loads(one.value)
    elif one.column == "text":
        assert value == one.value
    elif one.column == "bytes":
        if not kind.startswith(DECODED):
            assert base64.b64decode(value, validate=True) == one.payload
    else:
        same_list(value, one)


@pytest.fixture(autouse=True)
def long_cells():
    csv.field_size_limit(1 << 30)


def skip_odd(request):
    if "odd" in request.node.name:
        pytest.skip("text cannot hold bytes that are not UTF-8")


def test_csv(log, request):
    skip_odd(request)
    header, *found = rows(log.convert("long.csv"))
    assert header == ["time", "channel", "value"]
    assert len(found) == len(log.truth.samples)
    for (time, channel, cell), one in zip(found, log.truth.samples):
        assert nanoseconds(time) == one.time_ns
        assert channel == one.channel.name
        same_cell(cell, one)


def test_ndjson(log, request):
    skip_odd(request)
    text = log.convert("long.ndjson").read_bytes().decode()
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(log.truth.samples)
    for line, one in zip(lines, log.truth.samples):
        found = json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert list(found) == ["time_ns", "channel", "value"]
        assert (whole(found["time_ns"]), found["channel"]) == (one.time_ns, one.channel.name)
        same_json(found["value"], one)


def test_wide_csv(own_log, request):
    """One column for each channel, a row for every time, the last value held."""
    skip_odd(request)
    if "large" in request.node.name:
        pytest.skip("a frame of the camera would stand in every row")
    header, *found = rows(own_log.convert("wide.csv", "--wide"))
    truth = own_log.truth
    names = truth.names()
    assert header[0] == "time" and sorted(header[1:]) == sorted(names.values())
    assert [nanoseconds(row[0]) for row in found] == sorted({one.time_ns for one in truth.samples})
    places = {channel: header.index(name, 1) for channel, name in names.items()}
    held, samples, at = {}, sorted(truth.samples, key=lambda one: one.time_ns), 0
    for row in found:
        time, changed = nanoseconds(row[0]), set()
        while at < len(samples) and samples[at].time_ns == time:
            held[samples[at].channel] = samples[at]
            changed.add(samples[at].channel)
            at += 1
        assert len(row) == len(header)
        for channel, place in places.items():
            if channel in changed:
                same_cell(row[place], held[channel])
                held[channel] = (held[channel], row[place])
            elif channel in held:
                assert row[place] == held[channel][1]
            else:
                assert row[place] == ""
    assert at == len(samples)
