"""The mean of every channel of a long Parquet file, as users of DuckDB and polars ask for it.

    parquet_means.py duckdb|polars FILE OUT

The time is that of the query alone; OUT gets its result as CSV.
"""
import csv, sys, time

tool, path, out = sys.argv[1:4]
if tool == "duckdb":
    import duckdb

    duckdb.sql("SELECT 1").fetchall()
    t0 = time.perf_counter_ns()
    rows = duckdb.sql(f"SELECT channel, avg(number) FROM '{path}' GROUP BY channel").fetchall()
else:
    import polars

    t0 = time.perf_counter_ns()
    rows = polars.scan_parquet(path).group_by("channel").agg(polars.col("number").mean()).collect().rows()
work = time.perf_counter_ns() - t0
with open(out, "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(("channel", "mean"))
    w.writerows((channel, "" if mean is None else repr(mean)) for channel, mean in rows)
print(f"@records={len(rows)} work_ns={work}")
