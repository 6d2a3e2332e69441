"""pyarrow, polars and DuckDB find in our Parquet and Arrow files what WPILib's reader finds in the log."""

import collections
import json
import math

import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet
import pytest

VALUES = ["number", "integer", "boolean", "text", "bytes", "numbers", "integers", "booleans", "texts"]
TYPES = {
    "time_ns": pyarrow.int64(),
    "channel": pyarrow.dictionary(pyarrow.int32(), pyarrow.utf8()),
    "number": pyarrow.float64(),
    "integer": pyarrow.int64(),
    "boolean": pyarrow.bool_(),
    "text": pyarrow.utf8(),
    "bytes": pyarrow.binary(),
    "numbers": pyarrow.list_(pyarrow.float64()),
    "integers": pyarrow.list_(pyarrow.int64()),
    "booleans": pyarrow.list_(pyarrow.bool_()),
    "texts": pyarrow.list_(pyarrow.utf8()),
}


DUCKDB = duckdb.connect(config={"threads": 2})


def duck(query, *parameters):
    """The answer to a query, read by DuckDB."""
    return DUCKDB.sql(query, params=parameters).to_arrow_table()


def duck_rows(query, *parameters):
    """The same as tuples, as DuckDB gives them to Python."""
    return DUCKDB.execute(query, parameters).fetchall()


def parquet_by_pyarrow(path):
    return pyarrow.parquet.read_table(path)


def parquet_by_polars(path):
    return polars.read_parquet(path).to_arrow()


def parquet_by_duckdb(path):
    return duck("SELECT * FROM read_parquet(?)", str(path))


def arrow_by_pyarrow(path):
    with pyarrow.ipc.open_file(path) as file:
        table = file.read_all()
    table.validate(full=True)
    return table


def arrow_as_a_stream(path):
    """The messages of a file are those of a stream behind eight bytes."""
    with pyarrow.ipc.open_stream(pyarrow.py_buffer(path.read_bytes()[8:])) as stream:
        return stream.read_all()


def arrow_by_polars(path):
    return polars.read_ipc(path).to_arrow()


LONG = {
    "parquet-pyarrow": ("long.parquet", parquet_by_pyarrow),
    "parquet-polars": ("long.parquet", parquet_by_polars),
    "parquet-duckdb": ("long.parquet", parquet_by_duckdb),
    "arrow-pyarrow": ("long.arrow", arrow_by_pyarrow),
    "arrow-stream": ("long.arrow", arrow_as_a_stream),
    "arrow-polars": ("long.arrow", arrow_by_polars),
}


def column(values, kind):
    """A column in plain memory, whatever a program holds it in, with numbers as their bits: NaN is itself, 0 not -0.

    Of lists there are two parts, how long each is and what they hold."""
    if isinstance(values, pyarrow.ChunkedArray):
        values = values.cast(kind).combine_chunks()
    if isinstance(values, pyarrow.ChunkedArray):
        values = pyarrow.concat_arrays(values.chunks)
    if pyarrow.types.is_list(kind):
        lengths = pyarrow.compute.list_value_length(values)
        return lengths, *column(values.flatten(), kind.value_type)
    if pyarrow.types.is_floating(kind):
        values = values.view(pyarrow.int64() if kind == pyarrow.float64() else pyarrow.int32())
    return (values,)


def same(found, expected, kind, what):
    """Compares two columns and names the first row that differs."""
    for a, b in zip(column(found, kind), column(expected, kind), strict=True):
        if not a.equals(b):
            assert len(a) == len(b), what
            pairs = enumerate(zip(a.to_pylist(), b.to_pylist()))
            assert next((row, *pair) for row, pair in pairs if pair[0] != pair[1]) is None, what


def long_table(samples, names):
    """What the long table should be."""
    table = {
        "time_ns": pyarrow.array([one.time_ns for one in samples], pyarrow.int64()),
        "channel": pyarrow.array([names[one.channel] for one in samples], pyarrow.utf8()),
    }
    for name in VALUES:
        values = [one.value if one.column == name else None for one in samples]
        table[name] = pyarrow.array(values, TYPES[name])
    return table


def same_rows(found, expected):
    assert set(found.column_names) == set(expected)
    for name, values in expected.items():
        same(found[name], values, pyarrow.utf8() if name == "channel" else TYPES[name], name)


@pytest.mark.parametrize("peer", LONG)
def test_every_row_to_the_bit(log, peer):
    name, read = LONG[peer]
    expected = log.once("long table", lambda: long_table(log.truth.samples, log.truth.names()))
    same_rows(read(log.convert(name)), expected)


def sums(truth):
    """By channel: samples, the sum of whole numbers and that of numbers, the text in one piece."""
    names = truth.names()
    found = {}
    for channel, samples in truth.by_channel(sort=False).items():
        whole = [one.value for one in samples if one.column == "integer"]
        numbers = [one.value for one in samples if one.column == "number"]
        texts = [one.value for one in samples if one.column == "text"]
        found[names[channel]] = (len(samples), sum(whole) if whole else None, numbers, "".join(texts) if texts else None)
    return found


def same_sums(found, expected, wraps):
    assert found.keys() == expected.keys()
    for name, (count, whole, number, text) in found.items():
        their_count, their_whole, numbers, their_text = expected[name]
        assert count == their_count, name
        if their_whole is not None and wraps:
            their_whole = (their_whole + 2**63) % 2**64 - 2**63
        assert whole == their_whole, name
        assert text == their_text, name
        if not numbers:
            assert number is None, name
        elif all(map(math.isfinite, numbers)):
            scale = math.fsum(map(abs, numbers))
            assert math.isclose(number, math.fsum(numbers), rel_tol=1e-9, abs_tol=1e-12 * scale), name
        else:
            # Plain addition says what becomes of infinities and NaN.
            assert str(number) == str(sum(numbers)).replace("-nan", "nan"), name


def test_sums_by_pyarrow(log):
    table = pyarrow.parquet.read_table(log.convert("long.parquet"), columns=["channel", "integer", "number", "text"])
    # Each row group has a dictionary of its own; pyarrow groups by one.
    groups = table.unify_dictionaries().group_by("channel", use_threads=False)
    wanted = [("channel", "count"), ("integer", "sum"), ("number", "sum"), ("text", "list")]
    found = {
        row["channel"]: (row["channel_count"], row["integer_sum"], row["number_sum"], joined(row["text_list"]))
        for row in groups.aggregate(wanted).to_pylist()
    }
    same_sums(found, sums(log.truth), wraps=True)


def joined(texts):
    texts = [text for text in texts if text is not None]
    return "".join(texts) if texts else None


def test_sums_by_polars(log):
    # Without values polars says 0; only what has some is asked for its sum.
    frame = polars.scan_parquet(log.convert("long.parquet")).group_by("channel", maintain_order=True)
    some = lambda column, value: polars.when(polars.col(column).count() > 0).then(value)  # noqa: E731
    wanted = frame.agg(
        polars.len().alias("count"),
        some("integer", polars.col("integer").sum()).alias("integer"),
        some("number", polars.col("number").sum()).alias("number"),
        polars.col("text").drop_nulls(),
    )
    found = {
        name: (count, whole, number, "".join(texts) if texts else None)
        for name, count, whole, number, texts in wanted.collect().rows()
    }
    same_sums(found, sums(log.truth), wraps=True)


def test_sums_by_duckdb(log):
    query = """
        SELECT channel, count(*), sum(integer), sum(number), string_agg(text, '' ORDER BY file_row_number)
        FROM read_parquet(?, file_row_number = true) GROUP BY channel
    """
    found = duck_rows(query, str(log.convert("long.parquet")))
    same_sums({name: tuple(row) for name, *row in found}, sums(log.truth), wraps=False)


def test_the_schema_is_the_documented_one(log):
    for schema in [
        pyarrow.parquet.read_schema(log.convert("long.parquet")),
        pyarrow.ipc.open_file(log.convert("long.arrow")).schema,
    ]:
        assert {field.name: field.type for field in schema} == TYPES
        assert [field.name for field in schema if not field.nullable] == ["time_ns", "channel"]


def test_the_header_is_json(log):
    parquet = pyarrow.parquet.read_metadata(log.convert("long.parquet")).metadata[b"logpose"]
    with pyarrow.ipc.open_file(log.convert("long.arrow")) as file:
        arrow = file.metadata[b"logpose"]
    for header in map(json.loads, (parquet, arrow)):
        assert header["version"] == 1 and header["origin"] == "wpilog"
        found = [(channel["name"], channel["type"]) for channel in header["channels"]]
        assert sorted(found) == sorted(map(tuple, log.truth.channels))


def test_statistics_of_times(log):
    """A reader that wants a span of time can leave out row groups and pages."""
    metadata = pyarrow.parquet.read_metadata(log.convert("long.parquet"))
    samples = log.truth.samples
    assert metadata.num_rows == len(samples)
    place = metadata.schema.names.index("time_ns")
    start = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        column = group.column(place)
        assert column.path_in_schema == "time_ns" and column.statistics is not None and column.statistics.has_min_max
        times = [one.time_ns for one in samples[start : start + group.num_rows]]
        assert (column.statistics.min, column.statistics.max) == (min(times), max(times))
        assert column.statistics.null_count in (0, None)
        assert column.has_offset_index and column.has_column_index
        start += group.num_rows
    assert start == len(samples)


def test_a_filter_by_time(log):
    times = sorted(one.time_ns for one in log.truth.samples)
    if not times:
        pytest.skip("the log has no samples")
    first, last = times[len(times) // 3], times[2 * len(times) // 3]
    path = log.convert("long.parquet")
    query = "SELECT channel, count(*) FROM read_parquet(?) WHERE time_ns BETWEEN ? AND ? GROUP BY channel"
    found = dict(duck_rows(query, str(path), first, last))
    names = log.truth.names()
    expected = collections.Counter(names[one.channel] for one in log.truth.samples if first <= one.time_ns <= last)
    assert found == expected
    frame = polars.scan_parquet(path).filter(polars.col("time_ns").is_between(first, last)).group_by("channel").len()
    assert dict(frame.collect().rows()) == expected
    field = pyarrow.dataset.field("time_ns")
    rows = pyarrow.parquet.read_table(path, columns=["channel"], filters=(field >= first) & (field <= last))
    assert collections.Counter(rows["channel"].to_pylist()) == expected


# Folders


def hive_by_duckdb(folder):
    # The type is named because DuckDB would take channels that are called 1 and 2 for numbers.
    source = "read_parquet(?, hive_partitioning = true, hive_types = {'channel': VARCHAR})"
    return duck(f"SELECT * FROM {source}", f"{folder}/**/*.parquet")


def hive_by_polars(folder):
    frame = polars.scan_parquet(folder, hive_partitioning=True, hive_schema={"channel": polars.String})
    return frame.collect().to_arrow()


def hive_by_pyarrow(folder):
    kind = pyarrow.dataset.partitioning(pyarrow.schema([("channel", pyarrow.utf8())]), flavor="hive")
    return pyarrow.dataset.dataset(folder, partitioning=kind).to_table()


HIVE = {"duckdb": hive_by_duckdb, "polars": hive_by_polars, "pyarrow": hive_by_pyarrow}


@pytest.mark.parametrize("peer", HIVE)
def test_a_folder_is_one_table(log, peer):
    """The rows of a channel come in the order of time; that of the channels is for each program to choose."""
    if not log.truth.samples:
        pytest.skip("the log has no samples")
    found = HIVE[peer](log.convert("hive/"))
    names = log.truth.names()
    by_channel = sorted(log.truth.by_channel().items(), key=lambda item: names[item[0]].encode())
    expected = long_table([one for _, samples in by_channel for one in samples], names)
    found = found.append_column("row", pyarrow.array(range(len(found)), pyarrow.int64()))
    channels = found["channel"].cast(pyarrow.utf8()).cast(pyarrow.binary())
    order = found.set_column(found.column_names.index("channel"), "channel", channels)
    order = pyarrow.compute.sort_indices(order, sort_keys=[("channel", "ascending"), ("row", "ascending")])
    same_rows(found.take(order).drop_columns("row"), expected)


VALUE_TYPES = {
    "boolean": pyarrow.bool_(),
    "int64": pyarrow.int64(),
    "int": pyarrow.int64(),
    "float": pyarrow.float32(),
    "double": pyarrow.float64(),
    "string": pyarrow.utf8(),
    "json": pyarrow.utf8(),
    "structschema": pyarrow.utf8(),
    "photonstructschema": pyarrow.utf8(),
    "raw": pyarrow.binary(),
    "boolean[]": pyarrow.list_(pyarrow.bool_()),
    "int64[]": pyarrow.list_(pyarrow.int64()),
    "int[]": pyarrow.list_(pyarrow.int64()),
    "float[]": pyarrow.list_(pyarrow.float32()),
    "double[]": pyarrow.list_(pyarrow.float64()),
    "string[]": pyarrow.list_(pyarrow.utf8()),
}


def channel_files(log):
    """By channel: its file in a folder with one for each."""
    options = ["--layout", "channel"]
    files = {}
    for path in log.convert("channels/", *options).glob("*.parquet"):
        header = json.loads(pyarrow.parquet.read_metadata(path).metadata[b"logpose"])
        [channel] = header["channels"]
        files[channel["name"], channel["type"]] = path
    return files


def test_a_file_for_each_channel(log, request):
    if "odd" in request.node.callspec.id:
        pytest.skip("values that their type cannot hold are reported and changed; the other layouts keep them")
    files = channel_files(log)
    assert files.keys() == {tuple(channel) for channel in log.truth.channels}
    by_channel = log.truth.by_channel()
    seen = set()
    for channel in log.truth.channels:
        samples = by_channel.get(channel, [])
        path = files[channel]
        kind = VALUE_TYPES.get(channel.type, pyarrow.binary())
        times = pyarrow.array([one.time_ns for one in samples], pyarrow.int64())
        peers = [parquet_by_pyarrow]
        # Real logs have hundreds of channels of the same types.
        if channel.type not in seen or not channel.name.replace("/", "").isalnum():
            peers += [parquet_by_polars, parquet_by_duckdb]
        seen.add(channel.type)
        for read in peers:
            peer = read(path)
            same(peer["time_ns"], times, pyarrow.int64(), channel)
            if "raw" in peer.column_names:
                payloads = pyarrow.array([one.payload for one in samples], pyarrow.binary())
                same(peer["raw"], payloads, pyarrow.binary(), channel)
            else:
                same(peer["value"], pyarrow.array([one.value for one in samples], kind), kind, channel)
        if "raw" not in peer.column_names:
            assert pyarrow.parquet.read_schema(path).field("value").type == kind, channel


def test_long_names_stay_apart(tmp_path):
    """Names that are too long for a path are cut, yet other programs read the folder and see two channels."""
    from conftest import Log
    from logs import Writing

    path = tmp_path / "long.wpilog"
    writing = Writing(path)
    for n, name in enumerate(["é" * 120, "é" * 120 + "!", "/" + "x" * 300 + "1", "/" + "x" * 300 + "2"]):
        writing.append(10 + n, name, "int64", n)
    writing.close()
    folder = Log(path, tmp_path).convert("hive/")
    for read in HIVE.values():
        found = read(folder)
        assert sorted(found["integer"].to_pylist()) == [0, 1, 2, 3]
        assert len(set(found["channel"].to_pylist())) == 4


def test_fields_of_structs(tmp_path):
    """Fields of WPILib's structs have names and numbers in every program; WPILib itself unpacks them to compare."""
    from conftest import Log
    from logs import Mixed, structs
    from wpimath.geometry import Pose2d, Pose3d
    from wpiutil import wpistruct

    path = tmp_path / "structs.wpilog"
    structs(path)
    log = Log(path, tmp_path)
    files = channel_files(log)
    truth = {channel.name: samples for channel, samples in log.truth.by_channel().items()}

    flat = [wpistruct.unpack(Pose2d, one.payload) for one in truth["/RealOutputs/Odometry/Robot"]]
    expected = [(pose.x, pose.y, pose.rotation().radians()) for pose in flat]
    path = files["/RealOutputs/Odometry/Robot", "struct:Pose2d"]
    query = "SELECT value.translation.x, value.translation.y, value.rotation.value FROM read_parquet(?)"
    found = duck_rows(query, str(path))
    assert [found_[:2] for found_ in found] == [pose[:2] for pose in expected]
    assert all(math.isclose(a[2], b[2], abs_tol=1e-15) for a, b in zip(found, expected))
    field = polars.col("value").struct.field
    translation = field("translation").struct.field
    frame = polars.scan_parquet(path).select(translation("x"), translation("y"))
    assert frame.collect().rows() == [pose[:2] for pose in expected]
    column = pyarrow.parquet.read_table(path)["value"]
    assert pyarrow.compute.struct_field(column, ["translation", "x"]).to_pylist() == [pose[0] for pose in expected]

    solid = [wpistruct.unpack(Pose3d, one.payload) for one in truth["/Vision/Camera"]]
    query = "SELECT value.translation.z, value.rotation.q.w, value.rotation.q.z FROM read_parquet(?)"
    found = duck_rows(query, str(files["/Vision/Camera", "struct:Pose3d"]))
    assert found == [(p.z, p.rotation().getQuaternion().W(), p.rotation().getQuaternion().Z()) for p in solid]

    many = [wpistruct.unpackArray(Pose2d, one.payload) for one in truth["/Path"]]
    query = "SELECT len(value), value[1].translation.x, value[len(value)].translation.y FROM read_parquet(?)"
    found = duck_rows(query, str(files["/Path", "struct:Pose2d[]"]))
    assert found == [(len(poses), poses[0].x, poses[-1].y) for poses in many]
    lists = polars.read_parquet(files["/Path", "struct:Pose2d[]"])["value"].to_list()
    assert [[pose["translation"]["x"] for pose in one] for one in lists] == [[pose.x for pose in one] for one in many]
    empty = pyarrow.parquet.read_table(files["/Path/empty", "struct:Pose2d[]"])["value"].to_pylist()
    assert empty == [[]] * len(empty)

    mixed = [wpistruct.unpack(Mixed, one.payload) for one in truth["/Mixed"]]
    table = pyarrow.parquet.read_table(files["/Mixed", "struct:Mixed"])
    kinds = {field.name: field.type for field in table.schema.field("value").type}
    assert [str(kinds[name]) for name in ("flag", "tiny", "small", "whole", "large", "real", "exact")] == [
        "bool",
        "int8",
        "uint16",
        "int32",
        "uint64",
        "float",
        "double",
    ]
    for found, one in zip(table["value"].to_pylist(), mixed, strict=True):
        assert found["where"]["translation"]["x"] == one.where.x
        assert all(found[name] == getattr(one, name) for name in kinds if name != "where")
    query = "SELECT value.flag, value.tiny, value.small, value.whole, value.large, value.real FROM read_parquet(?)"
    found = duck_rows(query, str(files["/Mixed", "struct:Mixed"]))
    assert found == [(m.flag, m.tiny, m.small, m.whole, m.large, m.real) for m in mixed]

    query = "SELECT value.mode, value.low, value.high, value.label, value.parts, value.from, value.okay FROM read_parquet(?)"
    found = duck_rows(query, str(files["/State", "struct:State"]))
    for n, (mode, low, high, label, parts, origin, okay) in enumerate(found):
        assert mode == ["idle", "run", "2"][n % 3]
        assert (low, high, label, list(parts)) == (n & 7, n >> 3, f"s{n}", [n, 0.5, -n])
        assert (origin, okay) == (n * 1000, n % 2 == 0)
    assert len(found) == 60

    short = pyarrow.parquet.read_table(files["/Short", "struct:Pose2d"]).to_pydict()
    assert short["value"] == [None] * 60 and short["raw"] == [one.payload for one in truth["/Short"]]


def test_fields_of_protobuf(tmp_path):
    from conftest import Log
    from logs import protobuf, protobuf_messages

    path = tmp_path / "protobuf.wpilog"
    protobuf(path)
    files = channel_files(Log(path, tmp_path))
    query = "SELECT value.name, value.ids, len(value.poses), value.poses[1].translation.x FROM read_parquet(?)"
    found = duck_rows(query, str(files["/Trail", "proto:wpi.proto.Trail"]))
    trails = [protobuf_messages(n)[1] for n in range(20)]
    assert found == [(t.name, list(t.ids), len(t.poses), t.poses[0].translation.x) for t in trails]
    column = pyarrow.parquet.read_table(files["/Pose", "proto:wpi.proto.ProtobufPose2d"])["value"]
    assert pyarrow.compute.struct_field(column, ["translation", "x"]).to_pylist() == [n + 0.5 for n in range(20)]
