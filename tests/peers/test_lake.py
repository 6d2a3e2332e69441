"""Other programs read the tables of a lake: the same rows as `logpose sql --lake`, and none of a log that was removed."""

import csv
import io
import os
import pathlib
import subprocess

import polars as pl
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

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


def test_nobody_sees_a_log_that_was_removed(lake):
    assert REMOVED in delta(lake, "logs").collect()["log"].to_list()
    logpose("lake", "rm", lake, REMOVED)
    for table in tables(lake):
        assert REMOVED not in delta(lake, table).select("log").unique().collect()["log"].to_list(), table
        assert REMOVED not in DeltaTable(lake / table).to_pyarrow_table(columns=["log"])["log"].unique().to_pylist(), table
