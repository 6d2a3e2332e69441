"""Hostile servers for every client: whatever a peer sends, a client ends when it should, or goes on."""

import json
import socket
import struct
import threading
import time

from mutate import mutate
from trial import Limits
from wire import REFUSED, Robot, accept_websocket, frame, listen, vesc


def trial(trial):
    name = list(CLIENTS)[trial.number % len(CLIENTS)]
    args, genuine = CLIENTS[name]
    way = trial.rng.choice([way for way in WAYS if way is not websocket or name.startswith("nt4")])
    serve = lambda link: way(trial, link, genuine(trial.rng))
    servers = [listen(serve)]
    host, port = "127.0.0.1", servers[0].port
    if name == "ds":
        host = f"127.{trial.rng.randrange(1, 255)}.{trial.rng.randrange(256)}.{trial.rng.randrange(1, 255)}"
        servers, port = [Datagrams(trial, host)], 1110
    trial.count("peers")
    try:
        output = ["-o", "out.wpilog"] if args[0] == "record" or "fetch" in args else []
        command = [part.format(address=f"{host}:{port}") for part in args]
        # A board has two minutes to say something that makes sense.
        run = trial.run(*command, *output, limits=Limits(wall_s=140 if args[0] == "refloat" else 45))
    finally:
        for server in servers:
            server.close()
    written = trial.folder / "out.wpilog"
    if written.exists() and "record" in args:
        trial.run("info", written, allowed=(0, 3))
    trial.check(run.code != 0 or name != "board" or way is not silent, "a silent board is taken for one that answers", "", run.command)


def closes(trial, link, genuine):
    link.sendall(genuine[: trial.rng.randrange(2)])


def silent(trial, link, genuine):
    while link.recv(4096):
        pass


def noise(trial, link, genuine):
    block = trial.rng.choice([trial.rng.randbytes(20_000), bytes(20_000), b"\xff" * 20_000])
    for _ in range(4000):
        link.sendall(block)


def drips(trial, link, genuine):
    for i in range(1000):
        link.sendall(genuine[i % len(genuine) :][:1])
        time.sleep(0.02)


def damaged(trial, link, genuine):
    while True:
        link.sendall(mutate(trial.rng, genuine))
        time.sleep(0.01)


def answers(trial, link, genuine):
    """Frames that are whole, each time that it is asked, with contents that are not."""
    while link.recv(4096):
        link.sendall(genuine + vesc(bytes([trial.rng.choice([0, 36, 4]), *trial.rng.randbytes(trial.rng.randrange(90))])))


def head_without_end(trial, link, genuine):
    link.sendall(b"HTTP/1.1 101 Switching Protocols\r\n")
    while True:
        link.sendall(b"X-Torture: " + b"a" * 10_000 + b"\r\n")


def websocket(trial, link, genuine):
    """A NetworkTables server that makes sense up to some point."""
    rng = trial.rng
    accept_websocket(link, "v4.1.networktables.first.wpi.edu")
    topics = [{"method": "announce", "params": {"name": f"/{i}", "id": i, "type": "double", "properties": {}}} for i in range(500)]
    text = json.dumps(topics).encode()
    values = b"".join(b"\x94" + struct.pack(">BHBIBBd", 0xCD, rng.randrange(600), 0xCE, n, 1, 0xCB, n) for n in range(100))
    way = rng.randrange(7)
    for n in range(3000):
        if way == 0:
            link.sendall(frame(mutate(rng, text)) + frame(mutate(rng, values), 2))
        elif way == 1:
            link.sendall(frame(text) + frame(values, 2))
        elif way == 2:
            link.sendall(frame(b"x" * 100, 2, size=rng.choice([1 << 31, 1 << 40, (1 << 63) - 1])))
        elif way == 3:
            link.sendall(frame(b"x" * 60_000, 0 if n else 2, final=False))
        elif way == 4:
            link.sendall(frame(rng.randbytes(50), rng.randrange(16), rng.random() < 0.5, rng.random() < 0.5))
        elif way == 5:
            link.sendall(frame(b"ping", 9) + frame(b"[" * 60_000))
        else:
            more = [
                {"method": "announce", "params": {**topic["params"], "name": f"/{n}/{i}", "id": n * 500 + i}}
                for i, topic in enumerate(topics)
            ]
            link.sendall(frame(json.dumps(more).encode()))
            if n > 100:
                return
        time.sleep(0.002)


class Datagrams:
    """A robot that answers each packet of a station with what may be a reply."""

    def __init__(self, trial, host):
        self.rng = trial.rng
        self.inbox, self.outbox = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.inbox.bind((host, 1110))
        self.outbox.bind((host, 0))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            while True:
                packet, (host, _) = self.inbox.recvfrom(2000)
                reply = packet[:2] + b"\x01" + self.rng.randbytes(2) + b"\x0c\x80\x00" + self.rng.randbytes(self.rng.randrange(40))
                for _ in range(self.rng.choice([0, 1, 20])):
                    self.outbox.sendto(self.rng.choice([reply, mutate(self.rng, reply)])[:1400], (host, 1150))
        except REFUSED:
            pass

    def close(self):
        self.inbox.close()
        self.outbox.close()


def rlog(rng):
    robot = Robot.__new__(Robot)
    robot.period_s, robot.noise = 0.004, rng.randbytes(1 << 16)
    cycles = [robot.cycle(n) for n in range(1, 50)]
    key = struct.pack(">BHH", 1, 0, 6) + b"/count" + struct.pack(">H", 5) + b"int64"
    head = b"\x02" + struct.pack(">Bd", 0, 0) + key
    return b"".join(struct.pack(">I", len(body)) + body for body in [head, *cycles])


def board(rng):
    return b"".join(vesc(bytes([kind]) + rng.randbytes(rng.randrange(200))) for kind in (0, 36, 36, 4))


def nt4(rng):
    return b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n" + rng.randbytes(200)


WAYS = [closes, silent, noise, drips, damaged, answers, head_without_end, websocket, websocket, websocket]
RECORD = ["--duration", "3s", "--flush", "100ms"]
ASK = ["--timeout", "300ms", "--tries", "2", "--patience", "2s"]
CLIENTS = {
    "rlog": (["record", "rlog://{address}", *RECORD], rlog),
    "nt4": (["record", "nt4://{address}", *RECORD], nt4),
    "board": (["refloat", "info", "{address}", *ASK], board),
    "ds": (["record", "ds://{address}", *RECORD], rlog),
    "nt4 again": (["record", "nt4://{address}", "rlog://{address}", *RECORD], nt4),
    "status": (["refloat", "status", "{address}", *ASK], board),
    "fetch": (["refloat", "fetch", "{address}", "--stop", *ASK], board),
    "watch": (["refloat", "watch", "{address}", "--duration", "3s", "--patience", "2s"], board),
    "values": (["record", "refloat+tcp://{address}", *RECORD], board),
}
