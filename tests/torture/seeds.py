"""The files that are damaged: the fixtures and short logs in every format; and some that are hostile by design."""

import binascii
import gzip
import lzma
import struct
import zlib

from trial import ROOT, WORK, Limits
from wire import wpilog

FORMATS = ["wpilog", "rlog", "parquet", "arrow", "mcap", "csv", "ndjson"]
PACKED = ["gz", "zst", "xz", "lz4"]
SLOW = Limits(cpu_s=120)

by_format = {}


def prepare(trial):
    """Fills `by_format`: for each format the paths of sound files."""
    folder = WORK / "sound"
    demo = folder / "demo"
    made = lambda *args: trial.run(*args, "-q", limits=SLOW, allowed=(0, 3))
    made("demo", demo)
    log = demo / "FRC_20260321_142233_DEMO_Q12.wpilog"
    for name in FORMATS:
        made("convert", log, "-o", folder / f"short.{name}", "-S", "25..25.4")
    for extension in PACKED:
        made("convert", log, "-o", folder / f"packed.wpilog.{extension}", "-S", "25..25.2")
    made("convert", log, "-o", folder / "wide.csv", "-S", "25..25.5", "--wide", "--every", "20ms", "-y", "*Voltage")
    made("carla", "crop", demo / "demo_junction.log", "-o", folder / "short.log", "-S", "8..9")
    ride = demo / "demo_nosedive.rfrec"
    made("convert", ride, "-o", folder / "ride.csv", "-S", "-1s")
    made("convert", ride, "-o", folder / "ride.vesc.csv", "--to", "vesc-csv", "-S", "-1s")
    short = [path for path in folder.iterdir() if path.is_file()] + [ride, demo / "demo_q12.dslog"]
    fixtures = [path for path in ROOT.glob("fixtures/*/valid/*") if path.suffix != ".txt"]
    for path in sorted(short + fixtures):
        group = "packed" if path.suffix.removeprefix(".") in PACKED else path.suffix
        # They come as pairs.
        if group != ".dsevents":
            by_format.setdefault(group, []).append(path)


def mcap_string():
    return b"\x89MCAP0\r\n\x01\x06" + bytes(7) + b"\xf0\xff\xff\xffab"


def zstd_bomb(gigabytes=10):
    """Blocks that repeat one byte 128 KiB times, in four bytes each."""
    block = lambda last: struct.pack("<I", last | 1 << 1 | (1 << 17) << 3)[:3] + b"\0"
    return b"\x28\xb5\x2f\xfd\x00\x58" + block(0) * (gigabytes << 13) + block(1)


def gzip_bomb(megabytes=600):
    """Zeros, a piece at a time: the system counts the memory of who starts a program as the program's."""
    packer = zlib.compressobj(1, wbits=31)
    pieces = [packer.compress(b"time,channel,value\n"), *(packer.compress(bytes(1 << 20)) for _ in range(megabytes)), packer.flush()]
    return b"".join(pieces)


def xz_dictionary():
    """A block that asks for a dictionary of 4 GiB."""
    packed = bytearray(lzma.compress(b"WPILOG\0\1" + bytes(10_000)))
    size = (packed[12] + 1) * 4
    head = packed[12 : 12 + size - 4]
    head[head.index(0x21) + 2] = 40
    packed[12 : 12 + size] = head + struct.pack("<I", binascii.crc32(head))
    return bytes(packed)


def nested_gzip():
    packed = b"WPILOG"
    for _ in range(300):
        packed = gzip.compress(packed, 1)
    return packed


def many_channels(n=150_000):
    return wpilog([(f"/c{i}", "double") for i in range(n)], [(i, 1, bytes(8)) for i in range(0, n, 3)])


def recursive_schema():
    schemas = [(f"/.schema/struct:S{i}", "structschema") for i in range(40)]
    rows = [(i, 0, f"S{i + 1} a; S{i + 1} b".encode()) for i in range(39)] + [(39, 0, b"S0 a")]
    return wpilog([*schemas, ("/x", "struct:S0")], [*rows, (40, 1, bytes(64))])


HOSTILE = {
    "string.mcap": mcap_string,
    "bomb.wpilog.zst": zstd_bomb,
    "bomb.csv.gz": gzip_bomb,
    "dictionary.wpilog.xz": xz_dictionary,
    "nested.gz": nested_gzip,
    "zeros.wpilog": lambda: b"WPILOG\0\1\0\0\0\0" + bytes(96 << 20),
    "zeros.log": lambda: bytes(96 << 20),
    "channels.wpilog": many_channels,
    "schema.wpilog": recursive_schema,
    "footer.parquet": lambda: b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1",
    "message.arrow": lambda: b"ARROW1\0\0\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(100),
    "deep.ndjson": lambda: b'{"time":1,"channel":"a","value":' + b"[" * 200_000 + b"\n",
    "wide.csv": lambda: b"time" + b"".join(b",c%d" % i for i in range(100_000)) + b"\n1" + b",2" * 100_000 + b"\n",
    "line.csv": lambda: b"time,channel,value\n1,a," + b"x" * (20 << 20),
    "names.ndjson": lambda: b"".join(b'{"time":%d,"channel":"%s","value":1}\n' % pair for pair in enumerate(NAMES)),
}
NAMES = [b"..", b"...", b"a.", b"a..", b"a ", b"CON", b"aux.txt", b"A.", b"../../x", b"/x/..", b"", b"\\u0000", b"%2F", b"x" * 999]
