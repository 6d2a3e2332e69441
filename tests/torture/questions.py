"""Questions about random data, to logpose and to DuckDB: both must say the same, for NaN, infinities and empty groups too."""

import json
import math
import struct

import duckdb

from trial import Limits
from wire import wpilog

HARD = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, 1e6 + 0.25, 0.1]
AGGREGATES = [
    "count(*)", "count({x})", "min({x})", "max({x})", "sum({x})", "avg({x})", "median({x})", "stddev({x})", "var_pop({x})",
    "count(DISTINCT {x} + 0)", "corr({x}, time)", "covar_pop({x}, time)", "min({x}) FILTER (WHERE time > {t})", "bool_and({x} > 0)",
    "sum({x}) FILTER (WHERE {x} < 0)", "max(abs({x}))", "sum(CASE WHEN {x} > {t} THEN 1 ELSE 0 END)", "max(text)",
]  # fmt: skip
WHERE = ["true", "time > {t}", "time BETWEEN {t} AND {t} + 1", "{x} > 0", "{x} IS NULL", "channel IN ('/a', '/nan', '/none')", "time > 1e9", "{x} = {x}", "NOT {x} <= {t}", "channel LIKE '/i%' OR time < {t}"]  # fmt: skip
SHAPES = [
    "SELECT channel, {a} AS p, {b} AS q FROM samples WHERE {w} GROUP BY channel",
    "SELECT {a} AS p, {b} AS q FROM samples WHERE {w}",
    "SELECT channel, {a} FROM samples WHERE {w} GROUP BY channel HAVING count(*) > 3 ORDER BY channel LIMIT 3",
    "SELECT channel, floor(time) AS t, {a} FROM samples WHERE {w} GROUP BY channel, floor(time)",
    "SELECT a.channel, count(*), max(b.{x}) FROM samples a JOIN samples b ON a.time = b.time AND a.channel < b.channel WHERE a.time > {t} GROUP BY 1",
    "SELECT a.channel, count(b.time) FROM samples a LEFT JOIN samples b ON a.time = b.time + 1 AND b.channel = '/inf' GROUP BY 1",
    "SELECT channel, time, sum({f}) OVER (PARTITION BY channel ORDER BY time ROWS 3 PRECEDING) AS s FROM samples WHERE ({w}) AND abs({f}) < 1e6",
    "SELECT DISTINCT channel, {x} FROM samples WHERE {w}",
    "SELECT channel, {x}, time FROM samples WHERE {w} ORDER BY time DESC, channel LIMIT 10",
    "SELECT channel, {a} FROM (SELECT * FROM samples WHERE {w} UNION ALL SELECT * FROM samples WHERE time < {t}) u GROUP BY channel",
    "SELECT {a} FROM samples WHERE time > (SELECT avg(time) FROM samples WHERE {w})",
    "SELECT channel FROM samples GROUP BY channel EXCEPT SELECT channel FROM samples WHERE {w}",
]
# Sums of squares overflow, which DuckDB refuses. Moving sums of infinities are left out above: DataFusion subtracts what
# leaves the window, and infinity minus infinity is NaN.
PLAIN = ("stddev", "var_", "covar", "corr", "median")


def trial(trial):
    rng = trial.rng
    rows = data(rng)
    types = {"number": "double", "integer": "int64", "text": "string"}
    names = sorted({(channel, column) for channel, _, column, _ in rows})
    places = {channel: place for place, (channel, _) in enumerate(names)}
    pack = {"number": lambda v: struct.pack("<d", v), "integer": lambda v: struct.pack("<q", v), "text": str.encode}
    log = [(places[channel], time, pack[column](value)) for channel, time, column, value in rows]
    (trial.folder / "data.wpilog").write_bytes(wpilog([(name, types[column]) for name, column in names], log))
    with duckdb.connect(config={"threads": 1}) as peer:
        peer.execute("CREATE TABLE samples (channel VARCHAR, time DOUBLE, number DOUBLE, integer BIGINT, text VARCHAR)")
        if rows:
            cells = [[channel, time, *(value if column == name else None for name in types)] for channel, time, column, value in rows]
            peer.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", cells)
        for _ in range(8):
            compare(trial, peer, question(rng))


def data(rng):
    """Some channels of plain numbers, some of hard ones, some of one hard number only."""
    rows = []
    for channel, column, values in [
        ("/a", "number", [rng.uniform(-100, 100) for _ in range(9)]),
        ("/far", "number", [1e6 + n / 4 for n in range(9)]),
        ("/hard", "number", HARD),
        ("/inf", "number", [math.inf]),
        ("/minus", "number", [-math.inf]),
        ("/nan", "number", [math.nan]),
        ("/zero", "number", [0.0, -0.0]),
        ("/int", "integer", [0, 1, -1, (1 << 53) + 1, -(1 << 52), rng.randrange(1 << 40)]),
        ("/text", "text", ["", "a", "NaN", "ä", "x" * 50]),
    ]:
        if rng.random() < 0.8:
            times = sorted(rng.sample(range(400), rng.choice([1, 2, 9, 60])))
            rows += [(channel, time / 64, column, rng.choice(values)) for time in times]
    return sorted(rows, key=lambda row: row[1])


def question(rng):
    a, b = (rng.choice(AGGREGATES) for _ in range(2))
    plain = any(word in a + b for word in PLAIN)
    shape = rng.choice(SHAPES[:4] if plain else SHAPES)
    x = rng.choice(["number", "number", "number", "integer"])
    where = rng.choice(WHERE)
    if plain:
        where = "channel IN ('/a', '/far')"
    fill = {"x": x, "t": f"{rng.randrange(400) / 64}", "f": "number"}
    return shape.format(a=a.format(**fill), b=b.format(**fill), w=where.format(**fill), **fill)


def compare(trial, peer, sql):
    trial.count("questions")
    try:
        expected = peer.execute(sql).fetchall()
    except duckdb.Error as error:
        expected = error
    limits = [] if trial.rng.random() < 0.7 else ["--limit-memory", trial.rng.choice(["20MB", "100MB"]), "-j", trial.rng.choice([1, 3])]
    run = trial.run("sql", sql, "data.wpilog", "--format", "json", *limits, limits=Limits(cpu_s=60, rss_mb=900), allowed=(0, 1))
    if isinstance(expected, duckdb.Error):
        # Out of range there is infinity here; anything else that one of them refuses is a fault of this campaign.
        trial.check("ange" in str(expected), "DuckDB refuses a question", expected, sql)
        return
    trial.check(run.code == 0, "SQL fails where DuckDB does not", run.err[-600:], run.command)
    found = sorted(([plain(cell) for cell in row.values()] for row in json.loads(run.out)), key=order)
    wanted = sorted(([plain(cell) for cell in row] for row in expected), key=order)
    differ = difference(found, wanted)
    shape = next(word for word in ("OVER", "JOIN", "DISTINCT", "UNION", "EXCEPT", "GROUP BY", "SELECT") if word in sql)
    trial.check(not differ, f"SQL and DuckDB differ ({shape})", f"{differ}\n  {sql}", run.command)


def plain(cell):
    if isinstance(cell, str) and cell in ("NaN", "Infinity", "-Infinity"):
        return float(cell)
    # Whole numbers beyond 2^53 are texts in JSON.
    if isinstance(cell, str) and cell.lstrip("-").isdigit():
        return int(cell)
    # Zero has a sign that does not count.
    return cell + 0 if isinstance(cell, float) else cell


def order(row):
    """Sorts rows of numbers that are nearly the same into the same order."""
    return [
        ("", "") if cell is None else (type(cell).__name__, cell) if isinstance(cell, (str, bool)) else ("number", f"{cell:.9e}")
        for cell in row
    ]


def alike(a, b):
    return len(a) == len(b) and all(map(alike_cells, a, b))


def alike_cells(a, b):
    # The correlation of a single row is NULL in SQL and NaN in DuckDB.
    if a is None and isinstance(b, float) and math.isnan(b):
        return True
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isnan(a) and math.isnan(b) if a != a or b != b else a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def difference(found, wanted):
    if len(found) != len(wanted):
        return f"{len(found)} rows and {len(wanted)}"
    return next((f"{a} and DuckDB {b}" for a, b in zip(found, wanted) if not alike(a, b)), "")
