"""CARLA's three queries, written from section 13 of the specification of its recorder and from nothing else.

    python tests/peers/carla_text.py RECORDING QUERY      prints the text of a query: info, info_all, collisions_aa, blocked_5_100
    python tests/peers/carla_text.py --write              writes fixtures/carla/texts anew

The texts beside our own recordings come from here, so that the Rust tests compare with a second reader of the format and
not with themselves. The blocks of physics of Unreal Engine 5 are left out: no recording whose text is kept has them.
"""

import datetime
import math
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures/carla"
# Which texts are kept of which recording.
KEPT = {
    "smallest": ["info", "info_all", "collisions_aa", "blocked_0.01_10"],
    "traffic": ["info", "info_all", "collisions_aa", "collisions_hw", "blocked_0.1_100"],
    "all-packets": ["info", "info_all", "collisions_aa", "blocked_0.01_10"],
    "0.9.13": ["info", "info_all", "collisions_ha", "blocked_0.01_10"],
    "attached": ["info", "info_all", "collisions_aa", "blocked_0.1_10"],
    "nan-boxes": ["info", "info_all"],
    "empty-frames": ["info", "info_all", "collisions_aa", "blocked_1_10"],
    "town-0.9.6": ["info", "info_all", "collisions_aa", "collisions_vw", "blocked_5_100", "blocked_1_10"],
    "town-0.9.16": ["info", "info_all", "collisions_aa", "collisions_hw", "blocked_5_100", "blocked_1_10"],
    "town-0.10": ["info", "info_all", "collisions_aa", "collisions_wo", "blocked_5_100", "blocked_1_10"],
}
DOORS = ["Front Left", "Front Right", "Rear Left", "Rear Right", "Hood", "Trunk", "All"]
LAMPS = "Position LowBeam HighBeam Brake RightBlinker LeftBlinker Reverse Interior Fog Special1 Special2".split()
WEATHER = (
    "Cloudiness Precipitation PrecipitationDeposits WindIntensity SunAzimuthAngle SunAltitudeAngle FogDensity FogDistance "
    "FogFalloff Wetness ScatteringIntensity MieScatteringScale RayleighScatteringScale DustStorm"
).split()


class Body:
    """The bytes of a packet, field by field."""

    def __init__(self, data, wide):
        self.data, self.at, self.wide = data, 0, wide

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def vector(self):
        return self.take("3d" if self.wide else "3f")

    def text(self):
        length = self.take("H")
        self.at += length
        return self.data[self.at - length : self.at]


def number(value):
    if math.isnan(value):
        return ("-" if math.copysign(1, value) < 0 else "") + "nan"
    return "%g" % value


def three(values):
    return "(" + ", ".join(number(value) for value in values) + ")"


class Recording:
    def __init__(self, data):
        body = Body(data, False)
        self.version = body.take("H")
        assert body.text() == b"CARLA_RECORDER"
        self.date, self.map = body.take("q"), body.text()
        self.packets = []
        while body.at < len(data):
            kind, size = body.take("BI")
            self.packets.append((kind, data[body.at : body.at + size]))
            body.at += size
        self.wide = self.find_width()
        self.doors = self.find_doors()

    def find_width(self):
        """Section 4.2."""
        for kind, data in self.packets:
            if kind in (6, 12, 13, 17) and data[:2] != b"\0\0":
                return (len(data) - 2) // int.from_bytes(data[:2], "little") == 52
        for kind, data in self.packets:
            if kind == 2 and data[:2] != b"\0\0":
                return not self.adds_fit(data, False)
        return False

    def adds_fit(self, data, wide):
        try:
            body = Body(data, wide)
            list(adds(body))
            return body.at == len(data)
        except (struct.error, IndexError):
            return False

    def find_doors(self):
        """The id of the packet of doors, section 4.1."""
        if self.version >= 2:
            return 23
        before_positions = []
        for kind, _ in self.packets:
            if kind == 0:
                before_positions = []
            elif kind == 6 and before_positions:
                return before_positions[0]
            elif kind in (21, 23):
                if kind == 21 and before_positions is None:
                    return 23
                if before_positions is not None:
                    before_positions.append(kind)
            if kind == 6:
                before_positions = None
        return 23

    def head(self):
        date = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=self.date)
        return b"Version: %d\nMap: %s\nDate: %s\n\n" % (self.version, self.map, date.strftime("%m/%d/%y %H:%M:%S").encode())


def adds(body):
    for _ in range(body.take("H")):
        actor, kind = body.take("IB")
        location, _ = body.vector(), body.vector()
        body.take("I")
        blueprint = body.text()
        attributes = []
        for _ in range(body.take("H")):
            body.take("B")
            attributes.append((body.text(), body.text()))
        yield actor, kind, location, blueprint, attributes


def info(recording, show_all):
    out = [recording.head()]
    frame, elapsed, printed = 0, 0.0, False

    def put(line):
        out.append(line.encode() if isinstance(line, str) else line)

    def frame_line():
        nonlocal printed
        if not printed:
            put(f"Frame {frame} at {number(elapsed)} seconds\n")
            printed = True

    for kind, data in recording.packets:
        body = Body(data, recording.wide)
        if kind == 0:
            frame, _, elapsed = body.take("Qdd")
            printed = False
            if show_all:
                frame_line()
        elif kind in (2, 3, 4, 5, 24):
            total = int.from_bytes(data[:2], "little")
            if total:
                frame_line()
            if kind == 2:
                for actor, actor_type, location, blueprint, attributes in adds(body):
                    put(b" Create %d: %s (%d) at %s\n" % (actor, blueprint, actor_type, three(location).encode()))
                    for name, value in attributes:
                        put(b"  %s = %s\n" % (name, value))
                continue
            body.take("H")
            if kind == 24 and total:
                put(f" Weathers: {total}\n")
            for _ in range(total):
                if kind == 3:
                    put(f" Destroy {body.take('I')}\n")
                elif kind == 4:
                    put(" Parenting %d with %d (parent)\n" % body.take("II"))
                elif kind == 5:
                    hit, one, two, hero1, hero2 = body.take("IIIBB")
                    heroes = [" (hero) " if hero else "" for hero in (hero1, hero2)]
                    put(f" Collision id {hit} between {one}{heroes[0]} with {two}{heroes[1]}\n")
                else:
                    pairs = zip(WEATHER, body.take("14f"))
                    put("  " + " ".join(f"{name}: {number(value)}" for name, value in pairs) + "\n")
        elif show_all:
            shown(kind, body, recording, put)
    last = max((struct.unpack("<Qdd", data)[::2] for kind, data in recording.packets if kind == 0), default=(0, 0.0))
    put(f"\nFrames: {last[0]}\nDuration: {number(last[1])} seconds\n")
    return b"".join(out)


def shown(kind, body, recording, put):
    """What only show_all shows."""
    if kind == recording.doors:
        total = body.take("H")
        put(f" Vehicle door animations: {total}\n")
        for _ in range(total):
            actor, door, _ = body.take("IBB")
            put(f"  Id: {actor}\n  Doors opened: ")
            if door < len(DOORS):
                put(f" {DOORS[door]} \n")
        return
    if kind == 14:
        put(f" Current platform time: {number(body.take('d'))}\n")
        return
    names = {
        6: "Positions",
        7: "State traffic lights",
        8: "Vehicle animations",
        9: "Walker animations",
        10: "Vehicle light animations",
        11: "Scene light changes",
        12: "Dynamic actors",
        13: "Actor bounding boxes",
        15: "Physics Control events",
        16: "Traffic Light time events",
        17: "Actor trigger volumes",
        19: "Walkers Bones",
    }
    if kind not in names:
        return
    total = body.take("H")
    put(f" {names[kind]}: {total}\n")
    for _ in range(total):
        actor = body.take("i" if kind == 11 else "I")
        if kind == 6:
            put(f"  Id: {actor} Location: {three(body.vector())} Rotation: {three(body.vector())}\n")
        elif kind == 7:
            frozen, elapsed, state = body.take("BfB")
            put(f"  Id: {actor} state: {chr(0x30 + state)} frozen: {int(frozen != 0)} elapsedTime: {number(elapsed)}\n")
        elif kind == 8:
            steering, throttle, brake, handbrake, gear = body.take("fffBi")
            put(
                f"  Id: {actor} Steering: {number(steering)} Throttle: {number(throttle)} Brake: {number(brake)} "
                f"Handbrake: {int(handbrake != 0)} Gear: {gear}\n"
            )
        elif kind == 9:
            put(f"  Id: {actor} speed: {number(body.take('f'))}\n")
        elif kind == 10:
            lamps = body.take("I")
            on = [name for bit, name in enumerate(LAMPS) if lamps >> bit & 1]
            put(f"  Id: {actor} {' '.join(on) or 'None'}\n")
        elif kind == 11:
            intensity, red, green, blue, _, on, _ = body.take("5fBB")
            color = three((red, green, blue))
            put(f"  Id: {actor} enabled: {bool(on)} intensity: {number(intensity)} RGB_color: {color}\n")
        elif kind == 12:
            put(f"  Id: {actor} linear_velocity: {three(body.vector())} angular_velocity: {three(body.vector())}\n")
        elif kind in (13, 17):
            put(f"  Id: {actor} origin: {three(body.vector())} extension: {three(body.vector())}\n")
        elif kind == 15:
            physics(actor, body, recording, put)
        elif kind == 16:
            green, yellow, red = (number(value) for value in body.take("3f"))
            put(f"  Id: {actor} green_time: {green} yellow_time: {yellow} red_time: {red}\n")
        else:
            put(f"  Id: {actor}\n")
            for _ in range(body.take("H")):
                name = body.text()
                location, rotation = three(body.vector()), three(body.vector())
                put(b'     Bone: "%s" relative: Loc%s Rot%s\n' % (name, location.encode(), rotation.encode()))
    if kind == 19:
        put("\n")


def physics(actor, body, recording, put):
    assert not recording.wide, "the block of Unreal Engine 5 is not written here"
    front = body.take("5f")
    auto = body.take("B")
    clutch = body.take("4f")
    # It passes through hundredths of a metre in binary32.
    single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
    mass = [single(single(value * 100) * single(0.01)) for value in body.take("3f")]
    torque = [body.take("2f") for _ in range(body.take("I"))]
    gears = [body.take("3f") for _ in range(body.take("I"))]
    steering = [body.take("2f") for _ in range(body.take("I"))]
    wheels = [body.take("12f") for _ in range(body.take("I"))]
    put(f"  Id: {actor}\n")
    names = "max_rpm MOI damping_rate_full_throttle damping_rate_zero_throttle_clutch_engaged".split()
    names.append("damping_rate_zero_throttle_clutch_disengaged")
    for name, value in zip(names, front):
        put(f"   {name} = {number(value)}\n")
    put(f"   use_gear_auto_box = {'true' if auto else 'false'}\n   gear_switch_time = 0.5\n")
    for name, value in zip("clutch_strength final_ratio mass drag_coefficient".split(), clutch):
        put(f"   {name} = {number(value)}\n")
    put(f"   center_of_mass = {three(mass)}\n")
    for name, curve in (("torque_curve", torque), ("steering_curve", steering)):
        put(f"   {name} =" + "".join(f" ({number(x)}, {number(y)})" for x, y in sorted(curve)) + "\n")
    put("   forward_gears:\n")
    for place, (ratio, down, up) in enumerate(gears):
        put(f"    gear {place}: ratio {number(ratio)} down_ratio {number(down)} up_ratio {number(up)}\n")
    put("   wheels:\n")
    for place, wheel in enumerate(wheels):
        names = "tire_friction damping_rate max_steer_angle radius max_brake_torque max_handbrake_torque".split()
        shown = " ".join(f"{name} {number(value)}" for name, value in zip(names, wheel))
        put(f"    wheel {place}: {shown} position {three(wheel[9:])}\n")


def events(recording):
    """What collisions and standing still are found in, and the actors as CARLA knows them."""
    actors, last = {}, None
    frame = (0, 0.0, 0.0)
    for kind, data in recording.packets:
        body = Body(data, recording.wide)
        if kind == 0:
            frame = body.take("Qdd")
        elif kind == 2:
            for actor, actor_type, _, blueprint, _ in adds(body):
                actors[actor] = [actor_type, blueprint, (0.0, 0.0, 0.0), 0.0, 0.0]
                last = actor
        elif kind == 3:
            # The slip that CARLA keeps: each deletion erases the actor that was added last.
            for _ in range(body.take("H")):
                actors.pop(last, None)
        yield kind, body, frame, actors


def collisions(recording, first, second):
    out = [recording.head(), b"%8s %6s %6s %-35s %6s %-35s\n" % (b"Time", b"Types", b"Id", b"Actor 1", b"Id", b"Actor 2")]
    old, new, rows = set(), set(), 0
    frame = (0, 0.0, 0.0)
    for kind, body, frame, actors in events(recording):
        if kind == 0:
            old, new = new, set()
        if kind != 5:
            continue
        for _ in range(body.take("H")):
            _, one, two, hero1, hero2 = body.take("IIIBB")
            sides = []
            for actor, hero, wanted in ((one, hero1, first), (two, hero2, second)):
                if actor == 0xFFFFFFFF:
                    letter, name = "o", b""
                else:
                    known = actors.setdefault(actor, [0, b"", (0.0, 0.0, 0.0), 0.0, 0.0])
                    letter, name = "ovwtha"[known[0]] if known[0] < 6 else "o", known[1]
                sides.append((letter, name, wanted in ("a", letter) or wanted == "h" and hero))
            if all(passes for *_, passes in sides):
                if (one, two) not in old:
                    rows += 1
                    (a, name1, _), (b, name2, _) = sides
                    types = f"{a} {b}".encode()
                    out.append(b"%8.0f   %s  %6d %-35s %6d %-35s\n" % (frame[2], types, one, name1, two, name2))
                new.add((one, two))
    duration = "%.0f" % frame[2] if rows else number(frame[2])
    out.append(f"\nFrames: {frame[0]}\nDuration: {duration} seconds\n".encode())
    return b"".join(out)


def blocked(recording, min_time, min_distance):
    out = [recording.head(), b"%8s %6s %-35s %10s\n" % (b"Time", b"Id", b"Actor", b"Duration")]
    rows, actors, frame = [], {}, (0, 0.0, 0.0)
    for kind, body, frame, actors in events(recording):
        if kind != 6:
            continue
        for _ in range(body.take("H")):
            actor = body.take("I")
            location, _ = body.vector(), body.vector()
            known = actors.setdefault(actor, [0, b"", (0.0, 0.0, 0.0), 0.0, 0.0])
            if math.dist(known[2], location) < min_distance:
                if known[4] == 0:
                    known[3] = frame[2]
                known[4] += frame[1]
            else:
                if known[4] >= min_time:
                    rows.append((known[4], known[3], actor, known[1]))
                known[4] = 0.0
                known[2] = location
    rows += [(known[4], known[3], actor, known[1]) for actor, known in sorted(actors.items()) if known[4] >= min_time]
    for duration, time, actor, name in sorted(rows, key=lambda row: -row[0]):
        out.append(b"%8.0f %6d %-35s %10.0f\n" % (time, actor, name, duration))
    out.append(f"\nFrames: {frame[0]}\nDuration: {number(frame[2])} seconds\n".encode())
    return b"".join(out)


def text(data, query):
    recording = Recording(data)
    name, *words = query.split("_")
    if name == "info":
        return info(recording, bool(words))
    if name == "collisions":
        return collisions(recording, *words[0])
    return blocked(recording, *map(float, words))


def kept():
    """Every text that is kept: its path, and what it is to hold."""
    for name, queries in KEPT.items():
        data = (FIXTURES / "valid" / f"{name}.log").read_bytes()
        for query in queries:
            yield FIXTURES / "texts" / f"{name}.{query}.txt", text(data, query)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        (FIXTURES / "texts").mkdir(exist_ok=True)
        for path, content in kept():
            path.write_bytes(content)
    else:
        sys.stdout.buffer.write(text(pathlib.Path(sys.argv[1]).read_bytes(), sys.argv[2]))
