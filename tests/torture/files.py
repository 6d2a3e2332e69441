"""Damaged files of every format through every command."""

import contextlib
import hashlib
import os

import seeds
from mutate import mutate
from trial import Failed, Limits

OUTPUTS = [*seeds.FORMATS, "wpilog.gz", "csv.zst", "rfrec", "log"]
COMMANDS = [
    ["info"], ["info", "--json"], ["list"], ["list", "--schemas"], ["list", "--metadata", "--json"], ["dump"], ["du"],
    ["cat"], ["cat", "--order", "file", "--format", "ndjson"], ["cat", "-S", "+0.1s", "-E", "-0.1s", "--format", "csv"],
    ["grep", "-i", "e"], ["grep", "--names", "a"], ["stats"], ["stats", "--json"], ["find", "enabled or changed(x)"],
    ["doctor"], ["doctor", "--json"], ["plot", "-o", "plot.svg"], ["plot", "--terminal"],
    ["sql", "SELECT channel, count(*), min(time), max(number) FROM samples GROUP BY channel"],
    ["sql", "SELECT * FROM channels", "--format", "json"], ["sql", "SELECT * FROM wide('20ms', '*') LIMIT 100"],
    ["sql", "SELECT count(*) FROM modes, matches"], ["sql", "SELECT * FROM errors UNION ALL SELECT * FROM errors"],
]  # fmt: skip
BY_FORMAT = {
    ".log": [["carla", "info"], ["carla", "collisions"], ["carla", "blocked"], ["carla", "state", "--time", "1"]]
    + [["carla", "replay", "--duration", "1"], ["carla", "crop", "-o", "cropped.log", "-S", "+0..+1"]]
    + [["sql", "SELECT count(*) FROM carla_motion"], ["sql", "SELECT * FROM ttc, actors LIMIT 10"]],
    ".rfrec": [["refloat", "explain"], ["refloat", "explain", "--json"]],
    ".csv": [["refloat", "explain"]],
    ".dslog": [["ds", "list", "--matches"]],
}


def trial(trial):
    rng = trial.rng
    path, sound = damaged(trial)
    before = digest(path)
    commands = COMMANDS + BY_FORMAT.get(path.suffix, [])
    # What `grep` and `find` find is nobody's business here; an expression may name a channel that is not there.
    for command in rng.sample(commands, 4):
        with contextlib.suppress(Failed):
            trial.run(*command, *([trial.folder] if command[0] == "ds" else [path]), allowed=(0, 1, 2, 3, 4))
    with contextlib.suppress(Failed):
        trial.run("cat", "-N", 1000, "-", stdin=path)
    with contextlib.suppress(Failed):
        recover(trial, path, sound)
    with contextlib.suppress(Failed):
        convert(trial, path)
    trial.check(digest(path) == before, "an input file was changed")


def hostile(trial):
    """A file that is hostile by design: what it costs is bounded."""
    names = list(seeds.HOSTILE)
    path = trial.folder / names[trial.number % len(names)]
    path.write_bytes(seeds.HOSTILE[path.name]())
    trial.count("mutated files")
    limits = Limits(rss_mb=400, address_mb=4000, file_mb=3000)
    for command in ["info"], ["doctor"], ["cat", "-N", 10], ["recover", "-o", "out.wpilog"], ["convert", "-o", "folder/"]:
        with contextlib.suppress(Failed):
            trial.run(*command, path, limits=limits)
    folder = trial.folder / "folder"
    if folder.exists():
        portable(trial, folder)


def damaged(trial):
    rng = trial.rng
    group = rng.choice(sorted(seeds.by_format))
    source = rng.choice(seeds.by_format[group])
    path = trial.folder / f"damaged{''.join(source.suffixes[-2:])}"
    data, other = source.read_bytes(), rng.choice(seeds.by_format[rng.choice(sorted(seeds.by_format))]).read_bytes()
    sound = rng.random() < 0.1
    path.write_bytes(data if sound else mutate(rng, data, other))
    trial.count("mutated files", not sound)
    events = source.with_suffix(".dsevents")
    if group == ".dslog" and events.exists():
        data = events.read_bytes()
        path.with_suffix(".dsevents").write_bytes(data if sound else mutate(rng, data))
    return path, sound


def recover(trial, path, sound):
    """What `recover` writes is what it says, and `doctor` finds nothing wrong with it."""
    run = trial.run("recover", path, "--json")
    output = run.json.get("output")
    if run.code == 1:
        left = [name for name in os.listdir(trial.folder) if "recover" in name]
        trial.check(not left, "recover fails and leaves a file behind", left, run.command)
        return
    output = trial.folder / output
    info = trial.run("info", "--json", output, allowed=(0, 3))
    reported, found = (run.json.get("samples"), run.json.get("channels")), (info.json.get("samples"), info.json.get("channels"))
    trial.check(reported == found, "recover reports other counts than its output has", f"{reported} and {found}", run.command)
    named = "carla" if output.suffix in (".log", ".rec") else "refloat" if output.suffix == ".rfrec" else output.suffix[1:]
    dialect = info.json.get("dialect")
    trial.check(
        named in dialect or dialect.endswith("csv"),
        "recover writes another format than the name says",
        f"{output.name}: {dialect}",
        run.command,
    )
    doctor = trial.run("doctor", output)
    said = doctor.out[-800:]
    trial.check(doctor.code == 0, f"doctor finds damage in what recover wrote of {path.suffix}", said, run.command)
    if sound and trial.run("doctor", path).code == 0:
        # An empty channel that a format cannot state is not lost data.
        samples = trial.run("info", "--json", path, allowed=(0, 3)).json.get("samples")
        trial.check(samples == reported[0], "recover of a sound file changes the number of samples", f"{samples} and {reported[0]}", run.command)


def convert(trial, path):
    """A conversion is whole and verified, or it leaves everything as it was."""
    rng = trial.rng
    folder = trial.folder / "out"
    folder.mkdir()
    extension = rng.choice(OUTPUTS)
    output = folder / f"out.{extension}"
    options = ["--verify"] if rng.random() < 0.5 else []
    existing = rng.choice([None, None, "kept", "forced"])
    if rng.random() < 0.15:
        output, existing = folder / "channels/", None
        options = ["--layout", rng.choice(["channel", "hive"])]
    if existing:
        output.write_text("written before")
    if existing == "forced":
        options.append("--force")
    run = trial.run("convert", path, "-o", f"{output}/" if output.name == "channels" else output, *options, "--json")
    names = sorted(os.listdir(folder))
    if run.code == 1 or existing == "kept":
        trial.check(run.code == 1, "convert overwrites a file without --force", "", run.command)
        trial.check(names == ([output.name] if existing else []), "convert fails and leaves a file behind", names, run.command)
        same = not existing or output.read_text() == "written before"
        trial.check(same, "convert fails and changes the file that was there", "", run.command)
        error = run.json.get("error", {})
        trial.check(error.get("code") != "verify", f"convert --verify to {extension} fails", error, run.command)
        return
    trial.check(names == [output.name], "convert leaves something beside its output", names, run.command)
    if output.name == "channels":
        portable(trial, output)
    else:
        # Text without a single sample is an empty file, and a recording may be in no state to be one.
        empty = extension == "rfrec" or output.stat().st_size == 0
        trial.run("info", output, allowed=(0, 1, 3) if empty else (0, 3))


def portable(trial, folder):
    for _, folders, names in os.walk(folder):
        bad = [name for name in [*folders, *names] if name.endswith((".", " ")) or len(name.encode()) > 255]
        trial.check(not bad, "convert writes names that Windows cannot have", bad)


def digest(path):
    return hashlib.sha256(path.read_bytes()).digest()
