"""Stores that several tests read, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

import cullet

REPOSITORY = Path(__file__).resolve().parents[3]
BUNNY = REPOSITORY / "pipelines" / "bunny_drop.toml"

BALL = {
    "time": {"end": "4 ms", "frames_per_second": "1000 Hz"},
    "material": [{"name": "gypsum", "density": 1100, "young": "1 GPa", "poisson": 0.2, "tensile_strength": "1 MPa"}],
    "body": [
        {
            "name": "ball",
            "material": "gypsum",
            "shape": {"type": "sphere", "radius": "2 cm"},
            "packing": {"type": "hexagonal", "elements": 300},
            "position": [0, "21 mm", 0],
            "velocity": [0, "-4 m/s", 0],
        }
    ],
    "collider": [{"name": "floor", "shape": {"type": "half_space", "normal": [0, 1, 0]}}],
    "export": {"formats": ["ply"]},
}


@pytest.fixture(scope="session")
def shot(tmp_path_factory: pytest.TempPathFactory) -> cullet.Store:
    """The bunny at smoke size: frames, surfaces. Its folder is called `shot`, as in the queries of the READMEs."""
    folder = tmp_path_factory.mktemp("shot") / "shot"
    return cullet.run(BUNNY, out=folder, set={"scale": "smoke"}, to="reconstruct")


@pytest.fixture
def ball() -> dict:
    """A pipeline of a ball that breaks, which a test may change."""
    import copy

    return copy.deepcopy(BALL)
