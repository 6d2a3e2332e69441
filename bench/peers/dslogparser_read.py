"""Reads Driver Station logs with the PyPI package dslogparser, which knows version 3.

    dslogparser_read.py FOLDER COUNT     the first COUNT logs of that version
"""
import pathlib, sys, time
from dslogparser import DSLogParser

folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
logs = [path for path in sorted(folder.rglob("*.dslog")) if path.open("rb").read(4) == b"\0\0\0\3"][:count]
t0 = time.perf_counter_ns()
records, lowest = 0, 99.0
for path in logs:
    parser = DSLogParser(str(path))
    for record in parser.read_records():
        records += 1
        lowest = min(lowest, record["voltage"])
    parser.close()
print(f"@records={records} lowest={lowest} work_ns={time.perf_counter_ns() - t0}")
