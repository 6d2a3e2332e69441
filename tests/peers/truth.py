"""What is in a log, by WPILib's reader alone. Nothing of logpose has a part in it."""

import collections
import struct

from conftest import wpilog

# The column of the long table in which the values of a type stand, and WPILib's word for reading them.
PLAIN = {
    "boolean": ("boolean", "getBoolean"),
    "int64": ("integer", "getInteger"),
    "int": ("integer", "getInteger"),
    "float": ("number", "getFloat"),
    "double": ("number", "getDouble"),
    "string": ("text", "getString"),
    "json": ("text", "getString"),
    "structschema": ("text", "getString"),
    "photonstructschema": ("text", "getString"),
    "boolean[]": ("booleans", "getBooleanArray"),
    "int64[]": ("integers", "getIntegerArray"),
    "int[]": ("integers", "getIntegerArray"),
    "float[]": ("numbers", "getFloatArray"),
    "double[]": ("numbers", "getDoubleArray"),
    "string[]": ("texts", "getStringArray"),
}

Sample = collections.namedtuple("Sample", "channel time_ns column value payload")
Channel = collections.namedtuple("Channel", "name type")
Event = collections.namedtuple("Event", "what channel time metadata")


class Truth:
    """The samples of a log in the order of the file, and what happened to its entries."""

    def __init__(self, path):
        reader = wpilog.DataLogReader(str(path))
        self.extra_header = reader.getExtraHeader()
        self.samples, self.events, known = [], [], {}
        later = {}

        def note(event, channel=None):
            known.setdefault(channel or event.channel)
            if event:
                self.events.append((len(self.samples), event))

        for r in reader:
            if r.isStart():
                start = r.getStartData()
                later.setdefault(start.entry, Channel(start.name, start.type))
        live, ended = {}, set()
        for r in reader:
            if r.isStart():
                start = r.getStartData()
                live[start.entry] = Channel(start.name, start.type)
                ended.discard(start.entry)
                note(Event("start", live[start.entry], r.getTimestamp(), start.metadata))
            elif r.isFinish():
                entry = r.getFinishEntry()
                if entry in live and entry not in ended:
                    note(Event("finish", live[entry], r.getTimestamp(), None))
                    ended.add(entry)
            elif r.isSetMetadata():
                change = r.getSetMetadataData()
                if change.entry in live and change.entry not in ended:
                    note(Event("set", live[change.entry], r.getTimestamp(), change.metadata))
            elif not r.isControl():
                # Logs of 2024 have values in front of the Start record of their entry. Without any record at all
                # WPILib finds one of an entry that nobody started.
                channel = live.get(r.getEntry(), later.get(r.getEntry()))
                if channel:
                    note(None, channel)
                    self.samples.append(sample(channel, r))
        self.channels = list(known)

    def names(self):
        """What each channel is called in tables: its name, with its type behind it if two types share the name."""
        counts = collections.Counter(channel.name for channel in self.channels)
        taken = {name for name, count in counts.items() if count == 1}
        names = {}
        for channel in self.channels:
            free = name = channel.name
            if counts[name] > 1:
                free = name = f"{name} ({channel.type})"
                number = 2
                while free in taken:
                    free = f"{name} {number}"
                    number += 1
                taken.add(free)
            names[channel] = free
        return names

    def by_channel(self, sort=True):
        """Samples of each channel that has some, in the order of their times or in that of the file."""
        found = collections.defaultdict(list)
        for one in self.samples:
            found[one.channel].append(one)
        if sort:
            for samples in found.values():
                samples.sort(key=lambda one: one.time_ns)
        return found


def sample(channel, r):
    payload = bytes(r.getRaw())
    column, read = PLAIN.get(channel.type, ("bytes", None))
    value = payload
    if read:
        try:
            value = getattr(r, read)()
        except UnicodeDecodeError:
            column = "bytes"  # Python's binding cannot say it
        if column == "booleans" and any(byte > 1 for byte in payload):
            column, value = "bytes", payload
        if channel.type in ("float", "float[]") and signalling(payload):
            column, value = "bytes", payload
    return Sample(channel, r.getTimestamp() * 1000, column, value, payload)


def signalling(payload):
    """Whether there is a NaN of 32 bits that none of 64 bits stands for."""
    words = struct.unpack(f"<{len(payload) // 4}I", payload)
    return any(word & 0x7FC00000 == 0x7F800000 and word & 0x003FFFFF for word in words)

