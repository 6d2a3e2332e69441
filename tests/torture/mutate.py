"""Damage, by chance."""

import struct

NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 1 << 20, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, 0xFFFF_FFFF, 1 << 32]
NUMBERS += [1 << 40, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
TEXTS = [b"NaN", b"-inf", b"1e999", b"-0", b"99999999999999999999", b'"', b"\\u0000", b"\xff", b"[[[[", b"}", b",,,", b"\r\n"]


def mutate(rng, data, other=b""):
    """The bytes with some damage: mostly in one place, sometimes in many."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8, 40])):
        rng.choice(WAYS)(rng, data, other)
    return bytes(data)


def place(rng, data):
    """Often near the front or the end, where headers and footers are."""
    near = min(len(data), rng.choice([16, 256, 4096]))
    from_end = rng.random() < 0.25
    at = rng.randrange(near + 1) if rng.random() < 0.6 else rng.randrange(len(data) + 1)
    return len(data) - at if from_end else at


def stretch(rng, data):
    at = place(rng, data)
    return at, min(len(data), at + rng.choice([1, 2, 4, 8, 64, 1000, 20_000]))


def flip(rng, data, _):
    at = place(rng, data)
    if at < len(data):
        data[at] ^= 1 << rng.randrange(8)


def byte(rng, data, _):
    at = place(rng, data)
    data[at : at + 1] = bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])])


def number(rng, data, _):
    width = rng.choice("BHIQ")
    size = struct.calcsize(width)
    value = rng.choice(NUMBERS) if rng.random() < 0.7 else len(data) + rng.randrange(-9, 9)
    at = place(rng, data)
    data[at : at + size] = struct.pack(rng.choice("<>") + width, value % (1 << 8 * size))


def cut(rng, data, _):
    del data[place(rng, data) :]


def remove(rng, data, _):
    start, end = stretch(rng, data)
    del data[start:end]


def repeat(rng, data, _):
    start, end = stretch(rng, data)
    data[end:end] = data[start:end] * rng.choice([1, 1, 3])


def blank(rng, data, _):
    start, end = stretch(rng, data)
    data[start:end] = rng.choice([b"\0", b"\xff"]) * (end - start)


def noise(rng, data, _):
    start, end = stretch(rng, data)
    data[start : rng.choice([start, end])] = rng.randbytes(max(1, end - start))


def splice(rng, data, other):
    start, end = stretch(rng, other)
    at = place(rng, data)
    data[at:at] = other[start:end]


def swap(rng, data, _):
    (a, b), at = stretch(rng, data), place(rng, data)
    moved = data[a:b]
    del data[a:b]
    data[at:at] = moved


def text(rng, data, _):
    at = place(rng, data)
    data[at : at + rng.choice([0, 1, 4])] = rng.choice(TEXTS) * rng.choice([1, 1, 1, 50])


WAYS = [flip, flip, byte, number, number, number, cut, remove, repeat, blank, noise, splice, swap, text]
