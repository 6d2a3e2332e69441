"""Hostile requests for the viewer: it answers everybody else, gives nothing away, and calms down."""

import concurrent.futures
import contextlib
import http.client
import json
import socket
import struct
import time

import servers
from mutate import mutate
from trial import WORK, Limits, until
from wire import REFUSED, WebSocket, connect, frame

STATUS = {
    200,
    204,
    206,
    301,
    302,
    303,
    304,
    308,
    400,
    401,
    403,
    404,
    405,
    406,
    408,
    409,
    411,
    413,
    414,
    415,
    416,
    422,
    429,
    431,
    501,
    503,
    505,
}


def trial(trial):
    log = WORK / "sound/demo/FRC_20260321_142233_DEMO_Q12.wpilog"
    with trial.start("open", log, "--no-browser", "--json", limits=Limits(cpu_s=600, rss_mb=2000)) as program:
        [port] = program.wait_for(r'"url":"http://127.0.0.1:(\d+)/"')
        viewer = Viewer(trial, program, int(port))
        before = servers.cpu_share(program)
        for way in [WAYS[trial.number % len(WAYS)], trial.rng.choice(WAYS)]:
            what = way.__name__.replace("_", " ")
            trial.count("peers")
            with contextlib.ExitStack() as held:
                way(viewer, held)
                viewer.answers(f"during {what}", 45 if way is half_requests else 20)
            viewer.answers(f"after {what}", 20)
            # What was given up is noticed, and nothing goes on for those who left.
            calm = until(lambda: servers.cpu_share(program) <= 2 * before + 0.25, 30)
            trial.check(calm, f"the viewer is still busy 30 s after {what}", f"{servers.cpu_share(program):.2f} of a core", program.command)


class Viewer:
    def __init__(self, trial, program, port):
        self.trial, self.program, self.port, self.rng = trial, program, port, trial.rng

    def ask(self, method, path, body=None, headers=None, seconds=60):
        """Status and answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        with contextlib.closing(connection):
            body = json.dumps(body) if isinstance(body, (dict, list)) else body
            connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def ask_hostile(self, *args, **options):
        """An answer to a hostile request is one that the API knows, or there is none."""
        self.trial.count("runs")
        try:
            status, answer = self.ask(*args, **options)
        except (*REFUSED, http.client.HTTPException):
            status, answer = None, b""
        if not self.program.alive():
            self.program.check()
        subject = f"{args[0]} {args[1][:60]} {str(args[2:])[:200]}"
        self.trial.check(status in STATUS | {None}, f"the viewer answers with status {status}", f"{subject}: {answer[:300]}")
        self.trial.check(b"root:x:" not in answer, "the viewer gives a file away", subject)
        return status, answer

    def answers(self, when, seconds):
        """A client that behaves gets the session and an answer to a question."""
        self.program.check()
        error = ""
        for method, path, body in [
            ("GET", "/api/session", None),
            ("POST", "/api/sql", {"sql": "SELECT count(*) FROM samples", "limit": 10}),
        ]:
            end = time.monotonic() + seconds
            while True:
                try:
                    status, answer = self.ask(method, path, body, seconds=seconds)
                    error = f"status {status} {answer[:200]}"
                    if status == 200:
                        break
                except (*REFUSED, http.client.HTTPException) as failed:
                    error = f"{type(failed).__name__}: {failed}"
                self.program.check()
                self.trial.check(time.monotonic() < end, f"the viewer does not answer {path} {when}", error, self.program.command)
                time.sleep(0.2)


def deep_questions(viewer, held):
    """Questions that are deep without a bracket, or large, or both."""
    n = viewer.rng.choice([2000, 4000, 9000])
    hard = ["SELECT 1" + "+1" * n, "SELECT 1 WHERE 'a'='b'" + " OR 'a'='c'" * n, "SELECT 1" + " UNION ALL SELECT 1" * (n + 1000)]
    hard += [
        "SELECT " + "(" * n + "1" + ")" * n,
        "SELECT " + "-" * n + "1",
        "SELECT " + "NOT " * n + "true",
        "SELECT 1 FROM samples" + ", samples" * n,
    ]
    hard += ["WITH " + ", ".join(f"t{i + 1} AS (SELECT * FROM t{i}, t{i})" for i in range(60)) + " SELECT * FROM t60"]
    hard += [
        "SELECT " + "CASE WHEN true THEN " * 300 + "1" + " END" * 300,
        "SELECT a" + "[1]" * n,
        "SELECT " + ",".join("1" * 50 for _ in range(n)),
    ]
    for sql in viewer.rng.sample(hard, 5):
        status, answer = viewer.ask_hostile("POST", "/api/sql", {"sql": sql, "limit": 10})
        viewer.trial.count("questions")
        viewer.trial.check(status is not None, "the viewer does not answer a deep question", sql[:60])


def abandoned_questions(viewer, held):
    """Endless questions whose client leaves after a moment."""
    endless = ["SELECT sum(value) FROM generate_series(1, 9000000000000)", "SELECT count(*) FROM samples a, samples b, samples c"]
    endless += ["SELECT a.channel, count(*) FROM samples a JOIN samples b ON a.number < b.number GROUP BY 1"]
    for sql in viewer.rng.choices(endless, k=4):
        viewer.trial.count("questions")
        with contextlib.suppress(*REFUSED):
            viewer.ask("POST", "/api/sql", {"sql": sql, "limit": 10}, seconds=1)
    export = {"format": "csv"}
    with contextlib.suppress(*REFUSED):
        viewer.ask("POST", "/api/export", export, seconds=0.2)


def large_questions(viewer, held):
    """Questions whose answers would fill the memory."""
    large = ["SELECT repeat('x', 2000000000)", "SELECT lpad('x', 2000000000, 'y')", "SELECT length(repeat(repeat('x', 60000), 60000))"]
    large += ["SELECT string_agg(a.channel, b.channel) FROM samples a, samples b", "SELECT array_agg(a.time) FROM samples a, samples b"]
    large += [
        "SELECT repeat('x', 1000000) FROM samples",
        "SELECT range(0, 2000000000)",
        "SELECT array_repeat(array_repeat(1, 60000), 60000)",
    ]
    for sql in viewer.rng.sample(large, 3):
        viewer.trial.count("questions")
        viewer.ask_hostile("POST", "/api/sql", {"sql": sql, "limit": 10}, seconds=8)


def burst(viewer, held):
    """Many requests at once: they wait for their turn."""
    body = {"start": 0, "end": 90, "points": 2000, "series": [{"log": 0, "channel": 3}]}
    with concurrent.futures.ThreadPoolExecutor(500) as pool:
        answers = list(pool.map(lambda _: viewer.ask_hostile("POST", "/api/rows", body)[0], range(500)))
    refused = sum(status != 200 for status in answers)
    viewer.trial.check(refused == 0, "the viewer refuses requests of a burst", f"{refused} of {len(answers)}")


def half_requests(viewer, held):
    for n in range(1100):
        with contextlib.suppress(*REFUSED):
            link = held.enter_context(connect(viewer.port, seconds=1))
            link.sendall(
                [b"GET /api/ses", b"POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 100\r\n\r\n{" % viewer.port, b""][n % 3]
            )


def damaged_requests(viewer, held):
    """Requests of every kind, with damage."""
    series = [{"log": 0, "channel": 3, "path": ""}]
    posts = {
        "pixels": {"start": 0, "end": 15, "width": 800, "series": series},
        "states": {"start": 0, "end": 15, "width": 800, "series": series},
    }
    posts |= {"values": {"time": 1, "series": series}, "rows": {"start": 0, "end": 15, "points": 2000, "series": series}}
    posts |= {
        "table": {"series": series, "from": 1, "backward": False, "limit": 200},
        "console": {"limit": 200, "include": "/a+/", "from": 0},
    }
    posts |= {"stats": {"start": 0, "end": 15, "bins": 40, "series": series}, "sql": {"sql": "SELECT 1", "limit": 5}}
    posts |= {"export": {"format": "csv", "start": 0, "end": 1, "series": series, "wide": True}}
    odd = [None, -1, 1 << 53, 1e308, -1e308, "", "../../etc/passwd", [], {}, True, [series[0]] * 3000, ["x"] * 10, "(" * 5000, "/(a*)*$/"]
    for _ in range(60):
        path, body = viewer.rng.choice(list(posts.items()))
        if viewer.rng.random() < 0.6:
            body = {**body, viewer.rng.choice([*body, "series", "path"]): viewer.rng.choice(odd)}
            if viewer.rng.random() < 0.3:
                body["series"] = [
                    {
                        "log": viewer.rng.choice([0, -1, 99, 1 << 40]),
                        "channel": viewer.rng.choice([0, 5, 1 << 31]),
                        "path": viewer.rng.choice(["", ".x", "[99999999999]", "." * 9000]),
                    }
                ]
            viewer.ask_hostile("POST", f"/api/{path}", body)
        else:
            viewer.ask_hostile("POST", f"/api/{path}", mutate(viewer.rng, json.dumps(body).encode()))
    viewer.ask_hostile("POST", "/api/sql", b'{"sql":"' + b"x" * (3 << 20) + b'"}')


def other_places(viewer, held):
    """Paths, methods and heads that must lead nowhere."""
    paths = [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/assets/../../etc/passwd",
        "/api/logs/0/../../session",
    ]
    paths += [
        "/api/logs/99999999999999999999/channels",
        "/api/logs/-1/events",
        "/api/logs/0/carla/motion?start=nan&end=inf&step=0",
        "/api/logs/0/panes?preset=" + "x" * 5000,
        "/" + "a" * 60_000,
    ]
    for path in paths:
        viewer.ask_hostile(viewer.rng.choice(["GET", "GET", "HEAD", "PUT", "DELETE", "OPTIONS"]), path)
    for headers in [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Host": f"127.0.0.1.evil.example:{viewer.port}"}]:
        for method, path, body in [("GET", "/api/session", None), ("POST", "/api/sql", {"sql": "SELECT 1", "limit": 1})]:
            status, _ = viewer.ask_hostile(method, path, body, headers=headers)
            viewer.trial.check(status is None or status >= 400, "the viewer answers another site", f"{headers}: {status}")
    for sql in [
        "COPY samples TO '/tmp/torture.csv'",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
        "SELECT * FROM '/etc/passwd'",
        "INSERT INTO samples VALUES (1)",
        "SET datafusion.execution.batch_size = 1",
    ]:
        status, _ = viewer.ask_hostile("POST", "/api/sql", {"sql": sql, "limit": 5})
        viewer.trial.check(status != 200, "the viewer runs a statement that is no query", sql)
    for raw in [
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0" * 5000,
        b"GET /" + b"\r\n" * 9000,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 5000,
    ]:
        with contextlib.suppress(*REFUSED), connect(viewer.port, seconds=2) as link:
            link.sendall(raw)
            link.recv(1000)


def live_socket(viewer, held):
    """WebSockets that lie, ask for much, read nothing, and are many."""
    rng, host = viewer.rng, f"Origin: http://127.0.0.1:{viewer.port}\r\n"
    everything = json.dumps({"subscribe": [{"log": 0, "channel": n} for n in range(40)], "rate": 1000}).encode()
    for n in range(80):
        with contextlib.suppress(*REFUSED):
            link = WebSocket(viewer.port, "/api/live", "logpose", 2, host)
            if n % 2:
                held.enter_context(link).send(everything)
                continue
            with link:
                for _ in range(20):
                    link.send(mutate(rng, everything), rng.choice([1, 2]))
                    link.link.sendall(frame(rng.randbytes(30), rng.randrange(16), True, rng.random() < 0.8, rng.choice([None, 1 << 40])))
                link.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


WAYS = [deep_questions, abandoned_questions, large_questions, burst, half_requests, damaged_requests, other_places, live_socket]
