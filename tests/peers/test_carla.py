"""Foxglove's packages find in the MCAP files of CARLA recordings what the corpus says of the recordings."""

import json
import math
import os
import pathlib

import pytest
from conftest import ROOT, Log
from mcap.reader import make_reader
from mcap_doctor import Doctor
from mcap_protobuf.decoder import DecoderFactory

FOLDER = pathlib.Path(os.environ.get("LOGPOSE_CORPUS", ROOT / "../shared/corpus")) / "carla"
SUMMARIES = sorted(FOLDER.glob("*.summary.json"))


def cases():
    return [pytest.param(path, id=path.name.removesuffix(".summary.json")) for path in SUMMARIES] or [
        pytest.param(None, id="no-corpus")
    ]


@pytest.fixture(params=cases(), scope="module")
def recording(request, tmp_path_factory):
    if request.param is None:
        pytest.skip("no corpus: LOGPOSE_CORPUS names its folder, ../shared/corpus is the default")
    stem = request.param.name.removesuffix(".summary.json")
    [path] = [path for path in FOLDER.glob(f"{stem}.*") if path.suffix in (".log", ".rec")]
    log = Log(path, tmp_path_factory.mktemp("carla"))
    log.summary = json.loads(request.param.read_text())
    return log


def decoded(recording, *topics):
    with open(recording.convert("scene.mcap"), "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        return [(channel, message) for _, channel, _, message in reader.iter_decoded_messages(topics=topics)]


def test_the_file_is_sound(recording):
    assert Doctor(recording.convert("scene.mcap")).messages


def test_the_transforms_are_the_positions_in_a_mirror(recording):
    messages = decoded(recording, "/tf")
    # The first frame of some builds has no positions yet.
    assert recording.summary["complete_frames"] - len(messages) in (0, 1)
    last = {one.child_frame_id: one for _, message in messages for one in message.transforms}
    positions = recording.summary["last_position"]
    assert {f"actor/{actor}" for actor in positions} == set(last)
    for actor, position in positions.items():
        found = last[f"actor/{actor}"]
        x, y, z = (number / 100 for number in position["location"])
        roll, pitch, yaw = (math.radians(angle) for angle in position["rotation"])
        place = (found.translation.x, found.translation.y, found.translation.z)
        assert found.parent_frame_id == "map"
        assert place == pytest.approx((x, -y, z), abs=1e-9)
        q = found.rotation
        # Where the body's forward axis points, by the quaternion and by the angles.
        forward = (1 - 2 * (q.y**2 + q.z**2), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y))
        wanted = (math.cos(pitch) * math.cos(yaw), -math.cos(pitch) * math.sin(yaw), math.sin(pitch))
        assert forward == pytest.approx(wanted, abs=1e-9)


def test_the_scene_has_a_box_for_each_vehicle_and_walker(recording):
    messages = decoded(recording, "/carla/scene")
    assert messages and all(message.deletions[0].type == 1 for _, message in messages)
    drawn = {entity.id for _, message in messages for entity in message.entities if entity.cubes}
    moving = ("vehicle.", "walker.")
    actors = recording.summary["actors"]
    assert drawn == {actor for actor, about in actors.items() if about["blueprint"].startswith(moving)}
    for _, message in messages:
        for entity in message.entities:
            assert all(min(cube.size.x, cube.size.y, cube.size.z) > 0 for cube in entity.cubes)
            assert all(math.isfinite(cube.pose.position.x) for cube in entity.cubes)
