"""What `mcap doctor` and the specification ask of a file, looked up byte by byte without any library for MCAP."""

import collections
import struct
import zlib

import lz4.frame
import zstandard

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
ATTACHMENT, ATTACHMENT_INDEX, STATISTICS, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END = range(9, 16)

Record = collections.namedtuple("Record", "opcode start body end")
Schema = collections.namedtuple("Schema", "name encoding data")
Channel = collections.namedtuple("Channel", "schema topic encoding metadata")
Message = collections.namedtuple("Message", "channel sequence log_time publish_time data")


class Body:
    """Fields of a record, one after the other."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def number(self, code):
        (value,) = struct.unpack_from(f"<{code}", self.body, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def bytes(self, length):
        assert self.at + length <= len(self.body), "a field ends behind its record"
        self.at += length
        return self.body[self.at - length : self.at]

    def block(self):
        return self.bytes(self.number("I"))

    def text(self):
        return self.block().decode()

    def pairs(self, read_key, read_value):
        inner = Body(self.block())
        pairs = []
        while inner.at < len(inner.body):
            pairs.append((read_key(inner), read_value(inner)))
        assert len(dict(pairs)) == len(pairs), "a map has a key twice"
        return dict(pairs)

    def done(self):
        assert self.at == len(self.body), "a record is longer than its fields"


def records(data, at, end):
    while at < end:
        opcode, length = struct.unpack_from("<BQ", data, at)
        assert at + 9 + length <= end, f"the record at {at} ends behind its section"
        yield Record(opcode, at, data[at + 9 : at + 9 + length], at + 9 + length)
        at += 9 + length


def parse_schema(record):
    body = Body(record.body)
    number = body.number("H")
    schema = Schema(body.text(), body.text(), bytes(body.block()))
    body.done()
    assert number != 0, "a schema has the id 0"
    assert schema.name, "a schema has no name"
    return number, schema


def parse_channel(record):
    body = Body(record.body)
    number = body.number("H")
    channel = Channel(body.number("H"), body.text(), body.text(), body.pairs(Body.text, Body.text))
    body.done()
    return number, channel


class Doctor:
    """Reads a whole file and asserts that it is sound; keeps what it found."""

    def __init__(self, path):
        self.data = data = path.read_bytes()
        self.schemas, self.channels, self.messages, self.chunks, self.metadata = {}, {}, [], [], []
        assert data.startswith(MAGIC) and data.endswith(MAGIC)
        # Nine bytes of frame and twenty of footer stand in front of the last magic.
        footer_at = len(data) - 8 - 29
        [footer] = records(data, footer_at, len(data) - 8)
        assert footer.opcode == FOOTER
        self.summary_start, self.offset_start, summary_crc = struct.unpack("<QQI", footer.body)
        assert summary_crc == zlib.crc32(data[self.summary_start : len(data) - 8 - 4])
        self.data_section(records(data, 8, self.summary_start))
        self.summary(list(records(data, self.summary_start, self.offset_start)))
        self.offsets(list(records(data, self.offset_start, footer_at)))

    def data_section(self, found):
        header = next(found)
        assert header.opcode == HEADER
        body = Body(header.body)
        self.profile, self.library = body.text(), body.text()
        body.done()
        ended = False
        for record in found:
            assert not ended, "a record stands behind the end of the data"
            if self.chunks and record.opcode != MESSAGE_INDEX:
                self.close_chunk()
            if record.opcode == SCHEMA:
                self.declare(self.schemas, *parse_schema(record))
            elif record.opcode == CHANNEL:
                self.channel(record)
            elif record.opcode == CHUNK:
                self.chunk(record)
            elif record.opcode == MESSAGE_INDEX:
                self.message_index(record)
            elif record.opcode == METADATA:
                body = Body(record.body)
                self.metadata.append((record, body.text(), body.pairs(Body.text, Body.text)))
                body.done()
            else:
                assert record.opcode == DATA_END, f"opcode {record.opcode} has no place here"
                (crc,) = struct.unpack("<I", record.body)
                assert crc == zlib.crc32(self.data[: record.start])
                ended = True
        assert ended

    @staticmethod
    def declare(known, number, what):
        assert known.setdefault(number, what) == what, f"id {number} means two things"

    def channel(self, record):
        number, channel = parse_channel(record)
        assert channel.schema == 0 or channel.schema in self.schemas, "a channel stands in front of its schema"
        self.declare(self.channels, number, channel)

    def chunk(self, record):
        body = Body(record.body)
        first, last, size, crc = body.number("Q"), body.number("Q"), body.number("Q"), body.number("I")
        compression = body.text()
        packed = body.bytes(body.number("Q"))
        body.done()
        raw = unpack(compression, packed, size)
        assert len(raw) == size and crc == zlib.crc32(raw)
        places = collections.defaultdict(list)
        times = []
        for inner in records(raw, 0, len(raw)):
            if inner.opcode == SCHEMA:
                self.declare(self.schemas, *parse_schema(inner))
            elif inner.opcode == CHANNEL:
                self.channel(inner)
            else:
                assert inner.opcode == MESSAGE, f"opcode {inner.opcode} has no place in a chunk"
                message = Message(*struct.unpack_from("<HIQQ", inner.body), bytes(inner.body[22:]))
                assert message.channel in self.channels, "a message stands in front of its channel"
                places[message.channel].append((message.log_time, inner.start))
                times.append(message.log_time)
                self.messages.append(message)
        assert (first, last) == ((min(times), max(times)) if times else (0, 0))
        chunk = {"record": record, "first": first, "last": last, "size": size, "packed": len(packed)}
        self.chunks.append({**chunk, "compression": compression, "places": places, "indexes": {}, "end": record.end})

    def message_index(self, record):
        assert self.chunks and self.chunks[-1]["end"] == record.start, "an index does not follow its chunk"
        body = Body(record.body)
        channel = body.number("H")
        entries = list(struct.iter_unpack("<QQ", body.block()))
        body.done()
        chunk = self.chunks[-1]
        assert channel not in chunk["indexes"]
        # Messages are indexed in the order in which they stand; that is the order of time where the log has it.
        assert entries == chunk["places"][channel]
        chunk["indexes"][channel] = record.start
        chunk["end"] = record.end

    def close_chunk(self):
        """Each channel of a chunk has its index."""
        assert self.chunks[-1]["indexes"].keys() == self.chunks[-1]["places"].keys()

    def summary(self, found):
        groups = [record.opcode for i, record in enumerate(found) if i == 0 or found[i - 1].opcode != record.opcode]
        assert len(set(groups)) == len(groups), "records of one kind do not stand together"
        by_kind = collections.defaultdict(list)
        for record in found:
            by_kind[record.opcode].append(record)
        assert by_kind.keys() <= {SCHEMA, CHANNEL, STATISTICS, CHUNK_INDEX, METADATA_INDEX}
        assert dict(map(parse_schema, by_kind[SCHEMA])) == self.schemas
        assert dict(map(parse_channel, by_kind[CHANNEL])) == self.channels
        [statistics] = by_kind[STATISTICS]
        self.statistics(Body(statistics.body))
        assert len(by_kind[CHUNK_INDEX]) == len(self.chunks)
        for record, chunk in zip(by_kind[CHUNK_INDEX], self.chunks):
            body = Body(record.body)
            start, length = chunk["record"].start, chunk["record"].end - chunk["record"].start
            assert [body.number("Q") for _ in range(4)] == [chunk["first"], chunk["last"], start, length]
            assert body.pairs(lambda b: b.number("H"), lambda b: b.number("Q")) == chunk["indexes"]
            assert body.number("Q") == chunk["end"] - chunk["record"].end
            assert body.text() == chunk["compression"]
            assert [body.number("Q") for _ in range(2)] == [chunk["packed"], chunk["size"]]
            body.done()
        assert len(by_kind[METADATA_INDEX]) == len(self.metadata)
        for record, (place, name, _) in zip(by_kind[METADATA_INDEX], self.metadata):
            body = Body(record.body)
            assert [body.number("Q"), body.number("Q")] == [place.start, place.end - place.start]
            assert body.text() == name
            body.done()

    def statistics(self, body):
        times = [message.log_time for message in self.messages]
        counts = collections.Counter(message.channel for message in self.messages)
        assert body.number("Q") == len(self.messages)
        assert body.number("H") == len(self.schemas)
        assert [body.number("I") for _ in range(4)] == [len(self.channels), 0, len(self.metadata), len(self.chunks)]
        assert [body.number("Q") for _ in range(2)] == ([min(times), max(times)] if times else [0, 0])
        found = body.pairs(lambda b: b.number("H"), lambda b: b.number("Q"))
        assert {channel: count for channel, count in found.items() if count} == counts
        body.done()

    def offsets(self, found):
        """Each group of the summary has an offset, and all of them together are the summary."""
        at = self.summary_start
        for record in found:
            assert record.opcode == SUMMARY_OFFSET
            opcode, start, length = struct.unpack("<BQQ", record.body)
            assert start == at and self.data[start] == opcode
            at += length
        assert at == self.offset_start


def unpack(compression, packed, size):
    if compression == "zstd":
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    if compression == "lz4":
        return lz4.frame.decompress(packed)
    assert compression == ""
    return packed
