"""The texts that the Rust tests compare with are what the second reader of CARLA's recordings prints."""

import carla_text
import pytest


def test_no_text_is_left_over():
    assert {path for path, _ in carla_text.kept()} == set((carla_text.FIXTURES / "texts").glob("*.txt"))


@pytest.mark.parametrize("path, text", [pytest.param(path, text, id=path.stem) for path, text in carla_text.kept()])
def test_text(path, text):
    assert path.read_bytes() == text, "`python tests/peers/carla_text.py --write` writes it anew"
