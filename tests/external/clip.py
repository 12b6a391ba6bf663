"""The clip of an animated GLB file as three.js plays it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import SKIPPED

# Times of a frame at which a clip is sampled.
PARTS = 4


class Clip:
    """Matrices of its nodes at quarters of frames, and the decoded vertices of their meshes."""

    def __init__(self, file):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            play(file, folder)
            told = json.loads((folder / "clip.json").read_text())
            matrices = np.fromfile(folder / "matrices.f64")
            points = np.fromfile(folder / "points.f32", np.float32).astype(float).reshape(-1, 3)
        self.duration, self.extras = told["duration"], told["extras"]
        self.first, self.last = self.extras["frames"]
        self.rate, self.event = self.extras["framesPerSecond"], self.extras["eventFramesPerSecond"]
        # Nodes by body and name.
        self.nodes = {(node["body"], node["name"]): at for at, node in enumerate(told["nodes"])}
        assert len(self.nodes) == len(told["nodes"]), f"{file}: two nodes with one name"
        # Rows times matrix, as USD has it: the columns of three.js are the rows here.
        self.matrices = matrices.reshape(-1, len(told["nodes"]), 4, 4)
        self.scales = np.linalg.norm(self.matrices[:, :, :3, :3], axis=3).mean(axis=2)
        # The scale turns whole numbers into lengths; a node that is not shown has scale 0.
        self.reach = np.array([node["reach"] for node in told["nodes"]])
        ends = np.cumsum([node["vertices"] for node in told["nodes"]])[:-1]
        self.points = np.split(points, ends)

    def moment(self, code):
        """Number of the sample at a frame or a quarter of one."""
        at = (code - self.first) * PARTS
        assert at == int(at), f"{code} is not a quarter of a frame"
        return int(at)

    def shown(self, code):
        """Whether each node is shown."""
        return self.scales[self.moment(code)] > 0.5 * self.reach

    def pose(self, node, code):
        """Rotation, to be multiplied from the right, and translation; nothing where the node is not shown."""
        if not self.shown(code)[node]:
            return None
        matrix = self.matrices[self.moment(code), node]
        return matrix[:3, :3] / self.reach[node], matrix[3, :3]

    def lengths(self, node):
        """Vertices about the node's pivot."""
        return self.points[node] * self.reach[node]


def play(file, folder):
    """Has three.js write its samples into a folder."""
    packages = os.environ.get("NODE_PATH") or str(Path(sys.prefix).parent / "node_modules")
    script = Path(__file__).with_name("sample_clip.js")
    try:
        done = subprocess.run(["node", script, file, str(PARTS), folder], env={**os.environ, "NODE_PATH": packages}, capture_output=True, text=True)
    except FileNotFoundError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)
    if done.returncode == SKIPPED:
        print(done.stdout, end="")
        sys.exit(SKIPPED)
    assert done.returncode == 0, f"{file}: three.js: {done.stderr}"


def animated(store):
    """The animated GLB file of a store."""
    files = list((store / "exports").glob("*.animated.glb"))
    assert len(files) == 1, f"{len(files)} animated GLB files in {store / 'exports'}"
    return files[0]
