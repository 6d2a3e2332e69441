"""Refloat boards against a client, a board and a reader of files that were written once more, in Python, from the bytes
alone; numbers against numpy's float16 and Arrow."""

import os
import socket
import struct
import termios
import tty

import numpy
import pyarrow.parquet as parquet
import pytest
import wpiutil.log  # noqa: F401

from conftest import logpose
from live import Running, read_wpilog, wait_until
from refloat_peer import ADJUSTMENTS, FOOTPADS, IDS_1_2, PACKAGE, Board, Client, Recording, make_header, parse_samples, values_of, write


def samples_of(count, n=10, start=4_294_960_000, seed=7):
    """Samples with any codes at all, across the wrap of the ticks."""
    noise = numpy.random.default_rng(seed)
    codes = noise.integers(0, 65536, (count, n), dtype=numpy.uint16)
    flags = noise.integers(0, 256, count, dtype=numpy.uint8)
    ticks = (start + numpy.cumsum(noise.integers(1, 20, count, dtype=numpy.uint64))) % 2**32
    return b"".join(
        struct.pack(">IB", int(ticks[i]), int(flags[i])) + codes[i].astype(">u2").tobytes() for i in range(count)
    )


def board(*args):
    return Running("refloat", "board", "--json", *args)


def connect(address):
    host, port = address.removeprefix("refloat+tcp://").rsplit(":", 1)
    link = socket.create_connection((host, int(port)), timeout=10)
    return link, Client(link.sendall, lambda: link.recv(4096))


@pytest.mark.parametrize("version, ids", [("1.1", 10), ("1.2", 10), ("1.3", 13)])
def test_our_client_and_another_one_fetch_the_same_of_our_board(version, ids, tmp_path):
    file = tmp_path / "ride.rfrec"
    with board("--listen", "127.0.0.1:0", "--version", version, "--scenario", "nosedive") as running:
        address = running.line("started")["address"]
        link, client = connect(address)
        with link:
            info = client.info()
            assert info[4:11] == b"Refloat" and f"{info[24]}.{info[25]}" == version
            header, samples = client.fetch()
        fetched = logpose("refloat", "fetch", address, "-o", file)
        assert fetched.returncode == 0, fetched.stderr
    recording = Recording(file.read_bytes())
    assert recording.complete and recording.size > 100 and len(recording.ids) == ids
    assert (recording.header, recording.samples) == (header, samples)
    assert recording.of(2) == [info]


def test_a_board_at_a_pseudo_terminal_answers_another_client(tmp_path):
    with board("--pty", tmp_path / "board", "--version", "1.2", "--scenario", "ride") as running:
        running.line("started")
        port = os.open(tmp_path / "board", os.O_RDWR | os.O_NOCTTY)
        tty.setraw(port, termios.TCSANOW)
        client = Client(lambda b: os.write(port, b), lambda: os.read(port, 4096))
        header, samples = client.fetch()
        os.close(port)
        file = tmp_path / "ride.rfrec"
        fetched = logpose("refloat", "fetch", f"refloat+serial:{tmp_path / 'board'}", "-o", file)
        assert fetched.returncode == 0, fetched.stderr
    assert (Recording(file.read_bytes()).header, Recording(file.read_bytes()).samples) == (header, samples)


@pytest.mark.parametrize("count", [0, 1, 19, 20, 400, 2000])
def test_what_another_board_has_is_fetched_bit_by_bit(count, tmp_path):
    samples, file = samples_of(count), tmp_path / "ride.rfrec"
    peer = Board(samples)
    fetched = logpose("refloat", "fetch", f"refloat+tcp://127.0.0.1:{peer.port}", "-o", file)
    peer.close()
    assert fetched.returncode == 0, fetched.stderr
    assert ("the recording is empty" in fetched.stderr) == (count == 0), fetched.stderr
    recording = Recording(file.read_bytes())
    assert recording.complete and recording.samples == samples
    assert peer.autostart, "what was switched off for the download is on again"
    # Nothing but reading, and the one switch.
    allowed = {b"\x00", b"\x3e"}
    for payload in peer.asked:
        app = payload[1:]
        reads = payload[0] == 36 and app[0] == PACKAGE and app[1] in (0, 10, 31, 32, 33, 35)
        records = payload[0] == 36 and app[:2] == bytes([PACKAGE, 41]) and app[2:4] in (b"\x02\x01", b"\x02\x02", b"\x01\x02", b"\x01\x00")
        assert payload in allowed or reads or records, payload.hex()


def test_a_link_that_breaks_again_and_again_gives_the_whole_recording(tmp_path):
    samples, file = samples_of(600), tmp_path / "ride.rfrec"
    peer = Board(samples, cut=6000)
    fetched = logpose("refloat", "fetch", f"refloat+tcp://127.0.0.1:{peer.port}", "-o", file)
    peer.close()
    assert fetched.returncode == 0, fetched.stderr
    assert Recording(file.read_bytes()).samples == samples


def test_a_board_without_recording_gets_a_sentence(tmp_path):
    peer = Board(b"", recorder=False)
    fetched = logpose("refloat", "fetch", f"refloat+tcp://127.0.0.1:{peer.port}", "-o", tmp_path / "none.rfrec")
    peer.close()
    assert fetched.returncode == 1 and "firmware" in fetched.stderr, fetched.stderr
    assert not (tmp_path / "none.rfrec").exists()


def test_every_code_has_the_value_that_numpy_gives_it(tmp_path):
    """All 65,536 codes in one column, through our reader into Parquet, CSV and WPILOG, and back."""
    codes = numpy.arange(65536, dtype=numpy.uint16)
    flags = (numpy.arange(65536) % 256).astype(numpy.uint8)
    samples = b"".join(struct.pack(">IBH", i, flags[i], i) for i in range(65536))
    file = tmp_path / "all.rfrec"
    file.write_bytes(write(make_header(65536, ["erpm"]), samples))
    for name in ("all.parquet", "all.csv", "all.wpilog", "all.mcap"):
        done = logpose("convert", file, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        back = tmp_path / f"{name}.rfrec"
        done = logpose("convert", tmp_path / name, "-o", back)
        assert done.returncode == 0, done.stderr
        assert Recording(back.read_bytes()).samples == samples, name
    expected = values_of(codes)
    assert expected.max() == 131008 and numpy.isfinite(expected).all()
    rows = read_wpilog(tmp_path / "all.wpilog")["/refloat/erpm"]
    assert rows.type == "float"
    got = numpy.array([struct.unpack("<f", payload)[0] for _, payload in rows.values])
    assert numpy.array_equal(got, expected) and numpy.array_equal(numpy.signbit(got), numpy.signbit(expected))
    # The table of the specification: names, then a line a sample, numbers in their shortest form.
    lines = (tmp_path / "all.csv").read_text().split("\n")
    assert lines[0] == "index,time_ticks,time_s,running,wheelslip,footpad,sat,erpm" and lines[-1] == ""
    for index in (0, 1, 0x0D, 0x6F, 0x7C00, 0x8000, 0xFFFF):
        cells = lines[1 + index].split(",")
        bits = index % 256
        assert cells[:2] == [str(index)] * 2 and cells[2] == f"{index / 10000:.4f}"
        assert [int(cell) for cell in cells[3:7]] == [bits & 1, bits >> 1 & 1, bits >> 2 & 3, bits >> 4]
        assert float(cells[7]) == expected[index]


def test_a_converted_recording_says_what_its_flags_mean(tmp_path):
    samples, file = samples_of(500), tmp_path / "ride.rfrec"
    file.write_bytes(write(make_header(500, IDS_1_2), samples))
    ticks, flags, codes = parse_samples(samples, 10)
    done = logpose("convert", file, "-o", tmp_path / "ride.parquet")
    assert done.returncode == 0, done.stderr
    table = parquet.read_table(tmp_path / "ride.parquet").to_pylist()
    by = {}
    for row in table:
        by.setdefault(row["channel"], []).append(row)
    names = [row["text"] for row in by["/refloat/footpad"]]
    assert names == [FOOTPADS[f >> 2 & 3] for f in flags]
    kinds = [row["text"] for row in by["/refloat/adjustment"]]
    assert kinds == [ADJUSTMENTS.get(f >> 4, f"type {f >> 4}") for f in flags]
    voltages = [row["number"] for row in by["/refloat/motor.batt_voltage"]]
    assert numpy.array_equal(voltages, values_of(codes[:, 3]))


def test_live_values_are_recorded_like_any_source(tmp_path):
    file = tmp_path / "live.wpilog"
    with board("--listen", "127.0.0.1:0", "--version", "1.3", "--scenario", "ride") as running:
        address = running.line("started")["address"]
        with Running("record", address, "-o", file, "--json") as recording:
            wait_until(lambda: file.exists() and file.stat().st_size > 20_000, "something is recorded")
            recording.stop()
    entries = read_wpilog(file)
    voltages = [struct.unpack("<f", payload)[0] for _, payload in entries["/refloat/batt_voltage"].values]
    assert len(voltages) > 10 and all(20 < volts < 120 for volts in voltages)
    assert {"/refloat/pitch", "/refloat/duty_cycle", "/refloat/state", "/refloat/footpad"} <= entries.keys()
