"""Other programs read the tables of a lake: the same rows as `logpose sql --lake`, and none of a log that was removed."""

import csv
import io
import json
import math
import os
import pathlib
import shutil
import subprocess

import polars as pl
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.memory import InMemoryCatalog

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGPOSE = os.environ.get("LOGPOSE_BIN", ROOT / "target/debug/logpose")
REMOVED = "demo_q12.rlog"


def logpose(*args):
    """Runs our program; what is damaged in a log is no failure here."""
    done = subprocess.run([LOGPOSE, *map(str, args)], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    logpose("demo", folder / "logs", "-q")
    logpose("ingest", folder / "season", folder / "logs")
    return folder / "season"


def ours(lake, question):
    return [tuple(row) for row in csv.reader(io.StringIO(logpose("sql", "--lake", lake, question, "--format", "csv")))][1:]


def tables(lake):
    return sorted(path.name for path in lake.iterdir() if (path / "_delta_log").is_dir())


def delta(lake, table):
    return pl.scan_delta(str(lake / table))


def text(frame):
    return [tuple(str(value) for value in row) for row in frame.collect().rows()]


def test_every_table_has_the_same_rows(lake):
    assert {"logs", "channels", "samples", "modes"} <= set(tables(lake))
    for table in tables(lake):
        count = int(ours(lake, f'SELECT count(*) FROM "{table}"')[0][0])
        assert delta(lake, table).select(pl.len()).collect().item() == count, table
        assert DeltaTable(lake / table).to_pyarrow_table().num_rows == count, table


def test_questions_have_the_same_answers(lake):
    samples = delta(lake, "samples")
    assert text(samples.group_by("log").len().sort("log")) == ours(
        lake, "SELECT log, count(*) FROM samples GROUP BY log ORDER BY log")
    assert text(samples.group_by("channel").agg(pl.len(), pl.col("time_ns").max()).sort("channel")) == ours(
        lake, "SELECT channel, count(*), max(time_ns) FROM samples GROUP BY channel ORDER BY channel")

    voltage = samples.filter(pl.col("channel").str.ends_with("BatteryVoltage"))
    least = {row[0]: float(row[1]) for row in ours(
        lake, "SELECT log, min(number) FROM samples WHERE channel LIKE '%BatteryVoltage' GROUP BY log")}
    assert least and dict(voltage.group_by("log").agg(pl.col("number").min()).collect().rows()) == least

    kept = delta(lake, "channels").filter(pl.col("channel").str.ends_with("BatteryVoltage"))
    assert dict(kept.group_by("log").agg(pl.col("min").min()).collect().rows()) == least

    table = DeltaTable(lake / "channels").to_pyarrow_table(columns=["log", "samples"])
    total = int(ours(lake, "SELECT sum(samples) FROM logs")[0][0])
    assert pc.sum(table["samples"]).as_py() == total


# The recipe of docs/lake.md: Iceberg takes the files that a table of the lake has now, as they are.
def iceberg(lake, folder):
    catalog = InMemoryCatalog("lake", warehouse=folder.as_uri())
    catalog.create_namespace("season")
    files = json.loads(logpose("lake", "ls", lake, "--files", "--json"))
    for name in ICEBERG:
        paths = [str(lake / file["file"]) for file in files if file["table"] == name]
        catalog.create_table(f"season.{name}", schema=pq.read_schema(paths[0])).add_files(paths)
    return lambda name: catalog.load_table(f"season.{name}").scan()


ICEBERG = ["logs", "channels", "samples", "modes"]

# Each question in SQL, and over a frame that has the same columns whoever has read it.
FIVE = [
    ("SELECT log, count(*) FROM samples GROUP BY log", "samples",
     lambda rows: rows.group_by("log").len()),
    ("SELECT channel, max(time_ns) FROM samples GROUP BY channel", "samples",
     lambda rows: rows.group_by("channel").agg(pl.col("time_ns").max())),
    ("SELECT log, min(number) FROM samples WHERE channel LIKE '%BatteryVoltage' GROUP BY log", "samples",
     lambda rows: rows.filter(pl.col("channel").str.ends_with("BatteryVoltage")).group_by("log").agg(pl.col("number").min())),
    ("SELECT log, max(max) FROM channels WHERE type = 'double' AND channel LIKE '%Voltage%' GROUP BY log", "channels",
     lambda rows: rows.filter((pl.col("type") == "double") & pl.col("channel").str.contains("Voltage"))
        .group_by("log").agg(pl.col("max").max())),
    ("SELECT mode, count(*) FROM modes WHERE enabled GROUP BY mode", "modes",
     lambda rows: rows.filter(pl.col("enabled")).group_by("mode").len()),
]


def same(found, expected):
    def cell(text):
        try:
            return float(text)
        except ValueError:
            return text
    rows = sorted(tuple(cell(str(value)) for value in row) for row in found)
    wanted = sorted(tuple(cell(value) for value in row) for row in expected)
    assert wanted and len(rows) == len(wanted)
    for row, other in zip(rows, wanted):
        assert row == other or all(a == b or math.isnan(a) and math.isnan(b) for a, b in zip(row, other)), (row, other)


def test_five_questions_have_one_answer(lake, tmp_path):
    registered = iceberg(lake, tmp_path)
    for sql, table, ask in FIVE:
        expected = ours(lake, sql)
        readers = {
            "polars": delta(lake, table).collect(),
            "pyarrow": pl.from_arrow(DeltaTable(lake / table).to_pyarrow_table()),
            "pyiceberg": pl.from_arrow(registered(table).to_arrow()),
        }
        for name, rows in readers.items():
            print(name, sql)
            same(ask(rows).rows(), expected)


def test_structs_are_columns_everywhere(lake):
    poses = pl.from_arrow(DeltaTable(lake / "struct_Pose2d").to_pyarrow_table())
    expected = ours(lake, 'SELECT log, channel, time_ns, translation.x FROM "struct_Pose2d"')
    rows = poses.select("log", "channel", "time_ns", pl.col("translation").struct.field("x"))
    same(rows.rows(), expected)


def column_ids(schema, prefix=""):
    """The ids of columns and of their parts, by path."""
    found = {}
    for field in schema:
        path = prefix + field.name
        found[path] = (field.metadata or {}).get(b"PARQUET:field_id")
        if field.type.num_fields:
            found |= column_ids([field.type.field(part) for part in range(field.type.num_fields)], path + ".")
    return found


def test_compaction_keeps_the_rows_and_the_ids_of_columns(lake, tmp_path):
    compacted = tmp_path / "season"
    shutil.copytree(lake, compacted)
    logpose("lake", "compact", compacted)
    fewer = False
    for table in tables(lake):
        before, after = DeltaTable(lake / table), DeltaTable(compacted / table)
        assert after.to_pyarrow_table().num_rows == before.to_pyarrow_table().num_rows, table
        known = {}
        for path in before.file_uris():
            known |= column_ids(pq.read_schema(path))
        for path in after.file_uris():
            assert column_ids(pq.read_schema(path)) == known, table
        fewer |= len(after.file_uris()) < len(before.file_uris())
    assert fewer


def test_nobody_sees_a_log_that_was_removed(lake, tmp_path):
    assert REMOVED in delta(lake, "logs").collect()["log"].to_list()
    logpose("lake", "rm", lake, REMOVED)
    for table in tables(lake):
        assert REMOVED not in delta(lake, table).select("log").unique().collect()["log"].to_list(), table
        assert REMOVED not in DeltaTable(lake / table).to_pyarrow_table(columns=["log"])["log"].unique().to_pylist(), table
    registered = iceberg(lake, tmp_path)
    for table in ICEBERG:
        assert REMOVED not in registered(table).to_arrow()["log"].unique().to_pylist(), table
