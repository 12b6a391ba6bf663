"""The clip of an animated GLB file as played by three.js."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import SKIPPED

# Times within a frame at which a clip is sampled.
PARTS = 4


class Clip:
    """Matrices of its nodes at quarter frames, and the decoded vertices of their meshes."""

    def __init__(self, file):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            play(file, folder)
            info = json.loads((folder / "clip.json").read_text())
            matrices = np.fromfile(folder / "matrices.f64")
            points = np.fromfile(folder / "points.f32", np.float32).astype(float).reshape(-1, 3)
        self.duration, self.extras = info["duration"], info["extras"]
        self.first, self.last = self.extras["frames"]
        self.rate, self.event = self.extras["framesPerSecond"], self.extras["eventFramesPerSecond"]
        # Nodes by body and name.
        self.nodes = {(node["body"], node["name"]): at for at, node in enumerate(info["nodes"])}
        assert len(self.nodes) == len(info["nodes"]), f"{file}: two nodes with one name"
        # Row vectors times matrix, as in USD: the columns of three.js are the rows here.
        self.matrices = matrices.reshape(-1, len(info["nodes"]), 4, 4)
        self.scales = np.linalg.norm(self.matrices[:, :, :3, :3], axis=3).mean(axis=2)
        # The scale converts integers to lengths; a hidden node has scale 0.
        self.reach = np.array([node["reach"] for node in info["nodes"]])
        ends = np.cumsum([node["vertices"] for node in info["nodes"]])[:-1]
        self.points = np.split(points, ends)

    def moment(self, code):
        """Index of the sample at a frame or quarter frame."""
        at = (code - self.first) * PARTS
        assert at == int(at), f"{code} is not a quarter of a frame"
        return int(at)

    def shown(self, code):
        """Whether each node is visible."""
        return self.scales[self.moment(code)] > 0.5 * self.reach

    def pose(self, node, code):
        """Rotation, for multiplication from the right, and translation; None if the node is hidden."""
        if not self.shown(code)[node]:
            return None
        matrix = self.matrices[self.moment(code), node]
        return matrix[:3, :3] / self.reach[node], matrix[3, :3]

    def lengths(self, node):
        """Vertices relative to the node's pivot."""
        return self.points[node] * self.reach[node]


def play(file, folder):
    """Makes three.js write its samples into a folder."""
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
    """Path of the animated GLB file of a store."""
    files = list((store / "exports").glob("*.animated.glb"))
    assert len(files) == 1, f"{len(files)} animated GLB files in {store / 'exports'}"
    return files[0]
