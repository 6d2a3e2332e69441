"""The bytes of the files and links that the campaign makes itself."""

import base64
import binascii
import contextlib
import hashlib
import os
import socket
import struct
import threading
import time

REFUSED = (OSError, EOFError, struct.error)


def wpilog(channels, rows):
    """A WPILOG: the names and types of channels, and (channel, seconds, payload) for each sample."""
    text = lambda text: struct.pack("<I", len(text)) + text.encode()
    out = [b"WPILOG\x00\x01\x00\x00\x00\x00"]
    record = lambda entry, us, body: out.append(struct.pack("<BIIQ", 0x7F, entry, len(body), us) + body)
    for entry, (name, kind) in enumerate(channels, 1):
        record(0, 0, b"\0" + struct.pack("<I", entry) + text(name) + text(kind) + text(""))
    for channel, seconds, payload in rows:
        record(channel + 1, round(seconds * 1e6), payload)
    return b"".join(out)


class Robot:
    """An RLOG server that counts: /count is one higher in each cycle, /noise has bytes that cannot be compressed."""

    def __init__(self, rng, up_s=float("inf"), period_s=0.004):
        self.up_s, self.period_s, self.noise = up_s, period_s, rng.randbytes(1 << 16)
        self.sent, self.accepted, self.ended = [], [], []
        self.listener = listen(self.serve)
        self.port = self.listener.port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def cycle(self, n):
        start = n * 97 % 60_000
        fields = [(0, struct.pack(">q", n)), (1, self.noise[start : start + 200])]
        body = b"".join(struct.pack(">BHH", 2, key, len(value)) + value for key, value in fields)
        return struct.pack(">Bd", 0, n * self.period_s) + body

    def serve(self, link):
        key = lambda number, name, kind: struct.pack(">BHH", 1, number, len(name)) + name + struct.pack(">H", len(kind)) + kind
        head = b"\x02" + struct.pack(">Bd", 0, len(self.sent) * self.period_s)
        self.accepted.append(time.monotonic())
        end = self.accepted[-1] + self.up_s
        try:
            self.frame(link, head + key(0, b"/count", b"int64") + key(1, b"/noise", b"raw"))
            while time.monotonic() < end and not self.listener.closed:
                n = len(self.sent) + 1
                self.frame(link, self.cycle(n))
                self.sent.append(time.monotonic())
                time.sleep(self.period_s)
            # The last frame is cut, and the connection reset.
            link.sendall(struct.pack(">I", 500) + b"\0")
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        finally:
            self.ended.append(time.monotonic())

    @staticmethod
    def frame(link, body):
        link.sendall(struct.pack(">I", len(body)) + body)


class listen:  # noqa: N801
    """A server on localhost: each connection is given to `serve` on a thread of its own."""

    def __init__(self, serve):
        self.socket, self.serve, self.closed, self.links = socket.create_server(("127.0.0.1", 0), backlog=100), serve, False, []
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.socket.accept()
                link.settimeout(10)
                self.links.append(link)
                threading.Thread(target=self.one, args=[link], daemon=True).start()

    def one(self, link):
        with link, contextlib.suppress(*REFUSED):
            self.serve(link)

    def close(self):
        self.closed = True
        for link in [self.socket, *self.links]:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()


def connect(port, host="127.0.0.1", seconds=10):
    link = socket.create_connection((host, port), timeout=seconds)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def read_exactly(link, n):
    got = b""
    while len(got) < n:
        piece = link.recv(n - len(got))
        if not piece:
            raise EOFError
        got += piece
    return got


def read_head(link):
    got = b""
    while b"\r\n\r\n" not in got:
        piece = link.recv(4096)
        if not piece or len(got) > 100_000:
            raise EOFError
        got += piece
    head, _, rest = got.partition(b"\r\n\r\n")
    return head, rest


def vesc(payload):
    """A frame of a VESC."""
    head = struct.pack(">BB", 2, len(payload)) if len(payload) < 256 else struct.pack(">BH", 3, len(payload))
    return head + payload + struct.pack(">HB", binascii.crc_hqx(payload, 0), 3)


NT4 = ("/nt/torture", "v4.1.networktables.first.wpi.edu")
FOXGLOVE = ("/", "foxglove.websocket.v1, foxglove.sdk.v1")


class WebSocket:
    """A client that can also send what no client should."""

    def __init__(self, port, path, protocol, seconds=10, headers=""):
        self.link = connect(port, seconds=seconds)
        key = base64.b64encode(os.urandom(16)).decode()
        self.link.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{headers}"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n".encode()
        )
        head, self.rest = read_head(self.link)
        if not head.startswith(b"HTTP/1.1 101"):
            raise EOFError(head[:100])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.link.close()

    def send(self, payload, opcode=1, final=True):
        self.link.sendall(frame(payload, opcode, final, mask=True))

    def read(self):
        """Kind and content of the next frame; answers pings."""
        a, b = self.take(2)
        size = b & 127
        if size > 125:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        payload = self.take(size)
        if a & 15 == 9:
            self.send(payload, 10)
            return self.read()
        return a & 15, payload

    def take(self, n):
        if len(self.rest) < n:
            self.rest += read_exactly(self.link, n - len(self.rest))
        taken, self.rest = self.rest[:n], self.rest[n:]
        return taken


def frame(payload, opcode=1, final=True, mask=False, size=None):
    """A WebSocket frame; `size` is a lie about its length."""
    size = len(payload) if size is None else size
    bit = 128 if mask else 0
    length = (
        bytes([bit | size]) if size < 126 else struct.pack(">BH", bit | 126, size) if size < 65536 else struct.pack(">BQ", bit | 127, size)
    )
    # A mask of zeros changes nothing.
    return bytes([(128 if final else 0) | opcode]) + length + (bytes(4) if mask else b"") + payload


def accept_websocket(link, protocol):
    """The server's side of the handshake."""
    head, _ = read_head(link)
    key = next(line.split(b": ")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key"))
    answer = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
    link.sendall(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {answer}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n".encode()
    )
