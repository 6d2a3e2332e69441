"""Refloat's wire format and recordings once more, in Python and with the checksums of its library: a client, a board and
a reader of files that share nothing with ours."""

import binascii
import hashlib
import socket
import struct
import threading
import time
import zlib

import numpy

PACKAGE = 0x65
IDS_1_2 = [
    "motor.erpm", "motor.dir_current", "motor.duty_cycle", "motor.batt_voltage", "imu.pitch",
    "imu.balance_pitch", "setpoint", "atr.setpoint", "torque_tilt.setpoint", "balance_current",
]  # fmt: skip
FOOTPADS = ["none", "left", "right", "both"]
ADJUSTMENTS = {
    0: "none", 1: "centering", 2: "reverse stop", 5: "speed pushback", 6: "duty pushback",
    7: "error pushback", 10: "high voltage", 11: "low voltage", 12: "temperature",
}  # fmt: skip


def frame(payload):
    n = len(payload)
    head = bytes([2, n]) if n < 256 else bytes([3]) + n.to_bytes(2, "big")
    return head + payload + binascii.crc_hqx(payload, 0).to_bytes(2, "big") + b"\x03"


class Deframer:
    """Payloads out of a stream. What is no frame is dropped byte by byte."""

    def __init__(self):
        self.bytes = b""

    def push(self, more):
        self.bytes += more
        while self.bytes:
            start = self.bytes[0]
            if start not in (2, 3):
                self.bytes = self.bytes[1:]
                continue
            head = start
            if len(self.bytes) < head:
                return
            n = int.from_bytes(self.bytes[1:head], "big")
            if n == 0 or n > 512 or (start == 3 and n < 255):
                self.bytes = self.bytes[1:]
                continue
            if len(self.bytes) < head + n + 3:
                return
            payload = self.bytes[head : head + n]
            tail = self.bytes[head + n : head + n + 3]
            if tail != binascii.crc_hqx(payload, 0).to_bytes(2, "big") + b"\x03":
                self.bytes = self.bytes[1:]
                continue
            self.bytes = self.bytes[head + n + 3 :]
            yield payload


def values_of(codes):
    """float16 as boards have it: where IEEE has infinities and NaNs, numbers go on."""
    codes = numpy.asarray(codes, dtype=numpy.uint16)
    usual = codes.view(numpy.float16).astype(numpy.float64)
    large = (1 + (codes & 0x3FF) / 1024) * 65536.0 * numpy.where(codes & 0x8000, -1, 1)
    return numpy.where((codes & 0x7C00) == 0x7C00, large, usual)


class Client:
    """Asks a board over anything that can send and receive."""

    def __init__(self, send, receive):
        self.send, self.receive, self.deframer, self.waiting = send, receive, Deframer(), []

    def ask(self, app, reply, command=36):
        self.send(frame(bytes([command]) + app))
        while True:
            while self.waiting:
                payload = self.waiting.pop(0)
                if payload[0] == command and (command != 36 or payload[1:3] == bytes([PACKAGE, reply])):
                    return payload[1:]
            self.waiting.extend(self.deframer.push(self.receive()))

    def firmware(self):
        return self.ask(b"", None, command=0)

    def info(self):
        return self.ask(bytes([PACKAGE, 0, 2]), 0)

    def header(self):
        reply = self.ask(bytes([PACKAGE, 41, 2, 1]), 42)
        return reply, *parse_header(reply)

    def data(self, offset):
        reply = self.ask(bytes([PACKAGE, 41, 2, 2]) + offset.to_bytes(4, "big"), 43)
        assert reply[2:6] == offset.to_bytes(4, "big")
        return reply[6:]

    def fetch(self):
        header, size, ids = self.header()
        width, samples = 5 + 2 * len(ids), b""
        while len(samples) < size * width:
            samples += self.data(len(samples) // width)
        assert len(samples) == size * width
        return header, samples


def parse_header(reply):
    size, n = struct.unpack_from(">IB", reply, 2)
    ids, at = [], 7
    for _ in range(n):
        length = reply[at]
        ids.append(reply[at + 1 : at + 1 + length].decode())
        at += 1 + length
    assert at == len(reply)
    return size, ids


def make_header(size, ids):
    return bytes([PACKAGE, 42]) + struct.pack(">IB", size, len(ids)) + b"".join(bytes([len(i)]) + i.encode() for i in ids)


def parse_samples(samples, n):
    """Ticks, flags and codes of all samples."""
    table = numpy.frombuffer(samples, dtype=[("tick", ">u4"), ("flags", "u1"), ("codes", ">u2", (n,))])
    return table["tick"].astype(numpy.uint32), table["flags"], table["codes"].astype(numpy.uint16)


class Board(threading.Thread):
    """Refloat 1.2.3 with a recording, on loopback, for one client after the other. `cut` bytes of answers close a connection."""

    def __init__(self, samples, ids=IDS_1_2, cut=None, recorder=True):
        super().__init__(daemon=True)
        self.samples, self.ids, self.cut, self.recorder = samples, ids, cut, recorder
        self.width = 5 + 2 * len(ids)
        self.size = len(samples) // self.width
        self.autostart, self.asked, self.listener = True, [], socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                self.serve(connection)

    def serve(self, connection):
        deframer, left = Deframer(), self.cut
        try:
            while more := connection.recv(4096):
                for payload in deframer.push(more):
                    self.asked.append(payload)
                    answer = self.answer(payload)
                    if answer is None:
                        continue
                    answer = frame(answer)
                    if left is not None and left < len(answer):
                        connection.sendall(answer[:left])
                        return
                    left = left and left - len(answer)
                    connection.sendall(answer)
        except OSError:
            pass

    def answer(self, payload):
        if payload == b"\x00":
            return bytes([0, 6, 5]) + b"60\x00" + bytes(12) + bytes(8) + b"rflt-xtras-1\x00"
        if payload[:2] != bytes([36, PACKAGE]):
            return None
        app = payload[1:]
        if app[1] == 0:
            if len(app) == 2 or app[2] == 1:
                return bytes([36, PACKAGE, 0, 12, 1, 0])
            capabilities = 0x80000000 if self.recorder else 0
            version = b"Refloat".ljust(20, b"\0") + bytes([1, 2, 3]) + b"3".ljust(20, b"\0")
            return bytes([36, PACKAGE, 0, 2, 0]) + version + struct.pack(">IIIB", 0x5EB5A3CC, 10000, capabilities, 0)
        if app[1] == 31:
            flags = 4 | (2 if self.autostart else 0)
            now = int(time.monotonic() * 10_000) % 2**32
            return bytes([36, PACKAGE, 31, 4, flags]) + struct.pack(">II", now, 0x02C00000) + bytes(2 * 16) + bytes(9)
        if app[1] == 32:
            always = [f"v{i}" for i in range(16)]
            return bytes([36, PACKAGE, 32, 16]) + b"".join(bytes([len(i)]) + i.encode() for i in always) + b"\0"
        if app[1] != 41 or not self.recorder:
            return None
        if app[2:4] == b"\x01\x02":
            self.autostart = app[4] != 0
        if app[2:4] == b"\x02\x01":
            return b"\x24" + make_header(self.size, self.ids)
        if app[2:4] == b"\x02\x02" and self.size:
            offset = int.from_bytes(app[4:8], "big")
            k = 505 // self.width
            return bytes([36, PACKAGE, 43]) + app[4:8] + self.samples[offset * self.width :][: k * self.width]
        return None

    def close(self):
        self.listener.close()


class Recording:
    """A file, read with zlib's and hashlib's checksums. Anything odd fails."""

    def __init__(self, file):
        assert file[:12] == b"RFLTREC\n\x01\x00\x00\x00"
        assert zlib.crc32(file[:12]) == int.from_bytes(file[12:16], "big")
        self.blocks, at, held = [], 16, {}
        while at < len(file):
            kind, zero, zeros, length = struct.unpack_from(">BBHI", file, at)
            content = file[at + 8 : at + 8 + length]
            assert (zero, zeros, len(content)) == (0, 0, length)
            assert zlib.crc32(file[at : at + 8 + length]) == int.from_bytes(file[at + 8 + length : at + 12 + length], "big")
            self.blocks.append((kind, content))
            at += 12 + length
        assert at == len(file)
        (self.header,) = self.of(3)
        self.size, self.ids = parse_header(self.header)
        width = 5 + 2 * len(self.ids)
        for content in self.of(5):
            first = int.from_bytes(content[:4], "big")
            samples = content[4:]
            assert len(samples) % width == 0
            for i in range(len(samples) // width):
                one = samples[i * width : (i + 1) * width]
                assert held.setdefault(first + i, one) == one
        self.samples = b"".join(held[i] for i in sorted(held))
        self.held = sorted(held)
        ends = self.of(0x7F)
        self.complete = bool(ends)
        if ends:
            count, digest = int.from_bytes(ends[0][:4], "big"), ends[0][4:]
            assert self.blocks[-1][0] == 0x7F and len(ends) == 1
            assert self.held == list(range(count)) and count == self.size
            assert digest == hashlib.sha256(self.samples).digest()

    def of(self, kind):
        return [content for found, content in self.blocks if found == kind]


def write(header, samples, info=None):
    """A whole file."""

    def block(kind, content):
        body = struct.pack(">BBHI", kind, 0, 0, len(content)) + content
        return body + zlib.crc32(body).to_bytes(4, "big")

    head = b"RFLTREC\n\x01\x00\x00\x00"
    size, ids = parse_header(header)
    file = head + zlib.crc32(head).to_bytes(4, "big")
    file += block(2, info) if info else b""
    file += block(3, header) + block(5, bytes(4) + samples)
    return file + block(0x7F, size.to_bytes(4, "big") + hashlib.sha256(samples).digest())
