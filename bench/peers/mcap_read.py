"""Visits every message of an MCAP file with the PyPI package mcap and adds up the doubles.

    mcap_read.py FILE
"""
import struct, sys, time
from mcap.reader import make_reader

t0 = time.perf_counter_ns()
n, dsum, tsum, double = 0, 0.0, 0, struct.Struct("<d")
with open(sys.argv[1], "rb") as f:
    for _, _, message in make_reader(f).iter_messages(log_time_order=False):
        n += 1
        dsum += double.unpack(message.data)[0]
        tsum += message.log_time // 1000
print(f"@records={n} double_sum={dsum!r} tsum={tsum} work_ns={time.perf_counter_ns() - t0}")
