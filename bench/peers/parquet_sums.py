"""Reads a long Parquet file back with pyarrow, a row group at a time, and adds up what is in it.

    parquet_sums.py FILE
"""
import sys
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

n = schema = isum = trues = sbytes = stbytes = 0
dsum = 0.0
total = lambda values: pc.sum(values).as_py() or 0
file = pq.ParquetFile(sys.argv[1])
for group in range(file.num_row_groups):
    table = file.read_row_group(group)
    names = table["channel"].cast(pa.string())
    about = pc.starts_with(names, "/.schema/")
    schema += total(about)
    table = table.filter(pc.invert(about))
    n += len(table)
    flat = lambda name: pc.list_flatten(table[name])
    dsum += total(table["number"]) + total(flat("numbers"))
    isum += total(table["integer"]) + total(flat("integers"))
    trues += total(table["boolean"]) + total(flat("booleans"))
    sbytes += total(pc.binary_length(table["text"])) + total(pc.binary_length(flat("texts")))
    stbytes += total(pc.binary_length(table["bytes"]))
print(f"@records={n} schema={schema} double_sum={dsum!r} int_sum={isum} true={trues} string_bytes={sbytes} struct_bytes={stbytes}")
