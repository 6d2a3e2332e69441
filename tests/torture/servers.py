"""Hostile clients for every server: it answers a well-behaved client during and after each attack, and calms down."""

import contextlib
import json
import socket
import struct
import threading
import time

from mutate import mutate
from trial import until
from wire import FOXGLOVE, NT4, REFUSED, WebSocket, connect, frame, read_exactly, vesc, wpilog

PATIENCE_S = 5


def trial(trial):
    SERVERS[trial.number % len(SERVERS)](trial)


def play(trial):
    """A player that serves everything it can."""
    path = trial.folder / "played.wpilog"
    rows = [(n % 20, n / 2000, struct.pack("<d", n)) for n in range(20_000)]
    path.write_bytes(wpilog([(f"/speed/{i}", "double") for i in range(20)], rows))
    to = [part for kind in ("rlog", "nt4", "foxglove") for part in ("--to", f"{kind}://127.0.0.1:0")]
    with trial.start("play", path, *to, "--loop", "--json") as program:
        ports = {kind: int(port) for kind, port in program.wait_for(r'"serving","address":"(\w+)://127.0.0.1:(\d+)', count=3)}
        probes = {"rlog": (rlog_client, ports["rlog"]), "nt4": (nt4_client, ports["nt4"]), "foxglove": (foxglove_client, ports["foxglove"])}
        ways = [(way, kind) for kind in ports for way in (TCP if kind == "rlog" else [*TCP, *WEBSOCKET])]
        ways += [(nt4_subscriptions, "nt4"), (nt4_publishers, "nt4"), (foxglove_subscriptions, "foxglove")] * 3
        attack(trial, program, probes, [(way, kind, ports[kind]) for way, kind in trial.rng.sample(ways, 3)])


def board(trial):
    with trial.start("refloat", "board", "--listen", "127.0.0.1:0", "--json") as program:
        [port] = program.wait_for(r'"address":"refloat\+tcp://127.0.0.1:(\d+)')
        # It serves one client at a time, as boards do.
        attack(trial, program, {}, [(way, "board", int(port)) for way in trial.rng.sample([noise, resets, frames], 2)])
        run = trial.run("refloat", "info", f"127.0.0.1:{port}", "--json", allowed=(0, 1))
        trial.check(run.code == 0, "a board does not answer after an attack", run.err, run.command)


def robot(trial):
    """A simulated robot behind a proxy, both attacked; then a quiet round, of which nothing is lost."""
    at = addresses(trial)
    with trial.start("ds", "robot", "--bind", at, "--json") as program:
        program.wait_for('"started"')
        for output in ("attacked.wpilog", "calm.wpilog"):
            front = addresses(trial)
            args = ["ds", "proxy", "--robot", at, "--bind", front, "--answers", addresses(trial), "--json", "-o", output]
            with trial.start(*args) as proxy:
                proxy.wait_for('"started"')
                for host in [at, front] if output == "attacked.wpilog" else []:
                    attack(trial, program, {}, [(datagrams, "ds", host), (trial.rng.choice(TCP), "ds", (1740, host))])
                    proxy.check()
                station = trial.run("ds", "station", "--robot", front, "--duration", "4s", "--json", allowed=(0, 1))
                last = json.loads((station.out.splitlines() or ["{}"])[-1])
                answered = station.code == 0 and last.get("robot")
                trial.check(answered, "a robot does not answer after an attack", station.err, station.command)
    packets = trial.run("info", "--json", "calm.wpilog", allowed=(0, 3)).json["details"]["link"]["packets"]
    trial.check(packets["lost"] == 0, "ds proxy counts answered packets as lost", packets)


def addresses(trial):
    return f"127.{trial.rng.randrange(1, 255)}.{trial.rng.randrange(256)}.{trial.rng.randrange(1, 255)}"


def attack(trial, program, probes, attacks):
    """Attacks while well-behaved clients listen; they and new ones must be served."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(Listener(*probe)) for probe in probes.values()]
        for name, listener in zip(probes, listeners):
            trial.check(until(lambda: listener.heard, 15), f"a {name} client is not served", listener.error)
        before = cpu_share(program)
        for way, kind, port in attacks:
            what = f"{kind}: {way.__name__.replace('_', ' ')}"
            trial.count("peers")
            for listener in listeners:
                listener.longest = 0
            with contextlib.ExitStack() as held, contextlib.suppress(*REFUSED):
                way(trial, kind, port, held)
                for name, (client, own) in probes.items():
                    # Whoever connects and says nothing is disconnected after some seconds.
                    error = refused(client, own, 45 if way is half_requests and kind == name else PATIENCE_S)
                    trial.check(error is None, f"{name} serves nobody else during {what}", error, program.command)
            program.check()
            for name, listener in zip(probes, listeners):
                longest = max(listener.longest, time.monotonic() - listener.last)
                trial.check(
                    longest < PATIENCE_S, f"{name} clients wait during {what}", f"{longest:.1f} s, {listener.error}", program.command
                )
            for name, (client, own) in probes.items():
                error = refused(client, own, 2 * PATIENCE_S)
                trial.check(error is None, f"{name} serves nobody after {what}", error, program.command)
            calm = until(lambda: cpu_share(program) <= 2 * before + 0.25, 30)
            trial.check(
                calm,
                f"the server is still busy 30 s after {what}",
                f"{cpu_share(program):.2f} of a core, {before:.2f} before",
                program.command,
            )


def refused(client, port, seconds):
    """Why a new client is not served within so many seconds; nothing if it is."""
    end = time.monotonic() + seconds
    while True:
        with Listener(client, port) as newcomer:
            if until(lambda: newcomer.heard or newcomer.error, PATIENCE_S) and newcomer.heard:
                return None
        if time.monotonic() > end:
            return newcomer.error or "it connects and hears nothing"
        time.sleep(0.2)


def cpu_share(program):
    began, used = time.monotonic(), program.cpu_s()
    time.sleep(1)
    return (program.cpu_s() - used) / (time.monotonic() - began)


class Listener:
    """A client that behaves, on a thread of its own."""

    def __init__(self, client, port):
        self.heard, self.longest, self.last, self.error, self.open = 0, 0, time.monotonic(), "", True
        self.client, self.port = client, port

    def __enter__(self):
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.open = False
        self.thread.join(15)

    def listen(self):
        try:
            for _ in self.client(self.port):
                now = time.monotonic()
                self.longest = max(self.longest, now - self.last) if self.heard else 0
                self.last, self.heard = now, self.heard + 1
                if not self.open:
                    return
        except REFUSED as error:
            self.error = f"{type(error).__name__}: {error}"


def rlog_client(port):
    with connect(port) as link:
        alive = 0
        while True:
            if time.monotonic() - alive > 0.5:
                link.sendall(b"\x06\x03\x02\x08")
                alive = time.monotonic()
            yield read_exactly(link, int.from_bytes(read_exactly(link, 4), "big"))


def nt4_client(port):
    with WebSocket(port, *NT4) as link:
        link.send(json.dumps([subscription([""], 1, {"prefix": True, "periodic": 0.05})]).encode())
        while True:
            yield link.read()


def foxglove_client(port):
    with WebSocket(port, *FOXGLOVE) as link:
        kind, text = link.read()
        assert kind == 1 and json.loads(text)["op"] == "serverInfo"
        channels = []
        while not channels:
            kind, text = link.read()
            channels = json.loads(text).get("channels", []) if kind == 1 else []
        wanted = [{"id": n, "channelId": channel["id"]} for n, channel in enumerate(channels)]
        link.send(json.dumps({"op": "subscribe", "subscriptions": wanted}).encode())
        while True:
            yield link.read()


def subscription(topics, number, options):
    return {"method": "subscribe", "params": {"topics": topics, "subuid": number, "options": options}}


def open_link(kind, port):
    """A connection on which the server of this kind listens to what comes."""
    if kind in ("nt4", "foxglove"):
        return WebSocket(port, *(NT4 if kind == "nt4" else FOXGLOVE))
    return connect(port) if isinstance(port, int) else connect(*port)


def noise(trial, kind, port, held):
    for _ in range(30):
        with contextlib.suppress(*REFUSED), tcp(port) as link:
            link.sendall(trial.rng.choice([trial.rng.randbytes(3000), bytes(100_000), b"\xff" * 3000, b"GET / HTTP/1.1\r\n" * 3000]))


def half_requests(trial, kind, port, held):
    """More connections than a server would take, none of which says anything whole."""
    for _ in range(1100):
        with contextlib.suppress(*REFUSED):
            held.enter_context(tcp(port, 1)).sendall(b"GET /nt/x HTTP/1.1\r\nHost: 127.0")


def resets(trial, kind, port, held):
    for _ in range(300):
        with contextlib.suppress(*REFUSED), tcp(port) as link:
            link.sendall(trial.rng.randbytes(trial.rng.randrange(50)))
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def deaf(trial, kind, port, held):
    """Clients that ask for everything and read nothing."""
    for _ in range(20):
        with contextlib.suppress(*REFUSED):
            link = open_link(kind, port)
            if kind == "nt4":
                held.enter_context(link).send(
                    json.dumps([subscription([""], 1, {"prefix": True, "all": True, "periodic": 0.001})]).encode()
                )
            else:
                held.enter_context(link)
    time.sleep(3)


def tcp(port, seconds=10):
    return connect(port, seconds=seconds) if isinstance(port, int) else connect(*port, seconds=seconds)


def frames(trial, kind, port, held):
    """Frames of a VESC, with contents by chance."""
    with tcp(port) as link, contextlib.suppress(*REFUSED):
        for _ in range(3000):
            packet = vesc(trial.rng.choice([b"\x24\x65", b"\x00", b"\x24"]) + trial.rng.randbytes(trial.rng.randrange(60)))
            link.sendall(packet if trial.rng.random() < 0.5 else mutate(trial.rng, packet))


def lies(trial, kind, port, held):
    """WebSocket frames that are not what their heads say."""
    for way in range(30):
        with contextlib.suppress(*REFUSED), open_link(kind, port) as link:
            rng = trial.rng
            for n in range(40):
                payload = [rng.randbytes(40), b"x" * 60_000, b"[" * 50_000, b'{"op":"' + b"a" * 9000, b"\xff\xfe", b""][rng.randrange(6)]
                size = rng.choice([None, None, 1 << 20, 1 << 31, (1 << 63) - 1])
                link.link.sendall(frame(payload, rng.randrange(16) if way % 2 else 1, rng.random() < 0.7, rng.random() < 0.9, size))


def endless_message(trial, kind, port, held):
    """One message in fragments that never ends."""
    with contextlib.suppress(*REFUSED), open_link(kind, port) as link:
        for n in range(5000):
            link.send(b"x" * 60_000, 0 if n else 2, final=False)


def nt4_subscriptions(trial, kind, port, held):
    """Three clients with a message of 3,000 subscriptions each, and topics for them to match."""
    for client in range(3):
        link = held.enter_context(open_link(kind, port))
        topics = [
            {"method": "publish", "params": {"name": f"/t/{client}/{n}", "pubuid": n, "type": "double", "properties": {}}}
            for n in range(1000)
        ]
        link.send(json.dumps(topics).encode())
        link.send(json.dumps([subscription([f"/t/{n % 7}", "", f"/{n}"], n, {"prefix": True}) for n in range(3000)]).encode())
        for n in range(200):
            link.send(b"".join(b"\x94" + struct.pack(">BHBBBd", 0xCD, m, 0, 1, 0xCB, n) for m in range(20)), 2)


def nt4_publishers(trial, kind, port, held):
    """Clients that publish, change and forget topics, with messages that are damaged."""
    for client in range(10):
        with contextlib.suppress(*REFUSED), open_link(kind, port) as link:
            for n in range(60):
                name = f"/p/{trial.rng.randrange(50)}"
                messages = [
                    {
                        "method": "publish",
                        "params": {
                            "name": name,
                            "pubuid": n,
                            "type": trial.rng.choice(["int", "x", "string[]"]),
                            "properties": {"retained": True},
                        },
                    }
                ]
                messages += [{"method": "setproperties", "params": {"name": name, "update": {str(n): [{}] * 50, "persistent": None}}}]
                messages += [{"method": "unpublish", "params": {"pubuid": trial.rng.randrange(60)}}]
                text = json.dumps(messages).encode()
                link.send(text if trial.rng.random() < 0.6 else mutate(trial.rng, text))
                link.send(mutate(trial.rng, b"\x94" + struct.pack(">BBBd", n, 0, 1, n)), 2)


def foxglove_subscriptions(trial, kind, port, held):
    for _ in range(5):
        with contextlib.suppress(*REFUSED):
            link = held.enter_context(open_link(kind, port))
            for n in range(50):
                wanted = [{"id": n * 100 + i, "channelId": trial.rng.randrange(30)} for i in range(100)]
                text = json.dumps(
                    {
                        "op": trial.rng.choice(["subscribe", "subscribe", "unsubscribe", "advertise"]),
                        "subscriptions": wanted,
                        "subscriptionIds": [n],
                    }
                ).encode()
                link.send(text if trial.rng.random() < 0.7 else mutate(trial.rng, text))
    time.sleep(1)


def datagrams(trial, kind, host, held):
    rng = trial.rng
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for n in range(3000):
            packet = struct.pack(">HBBBB", n % 65536, 1, rng.choice([0, 4, 0x10]), 0, 0) + rng.randbytes(rng.randrange(30))
            out.sendto(packet if rng.random() < 0.3 else mutate(rng, packet)[:1400], (host, 1110))


TCP = [noise, half_requests, resets, deaf]
WEBSOCKET = [lies, endless_message]
SERVERS = [play, board, play, robot]
