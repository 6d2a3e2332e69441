"""A question about the tables of a lake, as users of DuckDB ask it.

    lake_query.py LAKE SQL OUT

The time is that of the query alone; OUT gets its result as CSV. Nothing was removed from the lake, so its Parquet files
are its tables.
"""
import csv, sys, time

import duckdb

lake, sql, out = sys.argv[1:4]
for table in ("samples", "modes"):
    duckdb.sql(f"CREATE VIEW {table} AS SELECT * FROM '{lake}/{table}/*.parquet'")
duckdb.sql("SELECT 1").fetchall()
t0 = time.perf_counter_ns()
rows = duckdb.sql(sql).fetchall()
work = time.perf_counter_ns() - t0
with open(out, "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(("key", "value"))
    w.writerows(rows)
print(f"@records={len(rows)} work_ns={work}")
