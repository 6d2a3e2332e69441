"""Finds the packets of a Driver Station's link in a capture with the PyPI package dpkt and reads their fixed parts.

    dpkt_read.py FILE
"""
import struct, sys, time
import dpkt

t0 = time.perf_counter_ns()
sent, replies, volts, control, status = 0, 0, 0.0, struct.Struct(">HBBBB"), struct.Struct(">HBBBHB")
with open(sys.argv[1], "rb") as f:
    for _, frame in dpkt.pcap.Reader(f):
        udp = dpkt.ethernet.Ethernet(frame).data.data
        if not isinstance(udp, dpkt.udp.UDP):
            continue
        if udp.dport == 1110:
            control.unpack_from(udp.data)
            sent += 1
        elif udp.dport == 1150:
            volts += status.unpack_from(udp.data)[4] / 256
            replies += 1
print(f"@records={sent + replies} work_ns={time.perf_counter_ns() - t0}")
