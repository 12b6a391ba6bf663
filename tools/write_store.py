#!/usr/bin/env python3
"""Writes a frame store with pyarrow alone: a block of spheres that cracks. An example for programs whose results cullet is to draw.

    python3 -m venv venv && venv/bin/pip install numpy pyarrow
    venv/bin/python tools/write_store.py block [--cells 16 10 10] [--radius 1e-3] [--frames 4] [--compression snappy]
    cullet inspect block --validate && cullet reconstruct block && cullet export block --format usd

A box is packed face-centred cubic, each sphere bonded to the twelve that touch it. Frame 0 is at rest. In frame 1 the bonds across the middle of x
are broken and the halves move apart. In frame 2 the bonds across the middle of y are broken in one half, up to its middle: a slit, which
opens from then on, ends inside and separates nothing.

The store contains what reconstruct, export and preview need, and of the optional columns velocities and how bonds broke; the rest of the schema and
its units are in src/store/README.md and src/columns/tables.rs. Integers may be of any width and sign, floats of any precision, strings plain or in a
dictionary; pages plain or compressed by zstd, snappy, gzip or lz4. Leave out columns whose values are unknown.
"""

import argparse
import json
import math
import sys
from pathlib import Path

try:
    import numpy as np
    import pyarrow
    import pyarrow.parquet as parquet
except ImportError as missing:
    sys.exit(f"{missing.name} is missing; pip install numpy pyarrow")

SCHEMA_VERSION = 1
RATE = 100.0  # frames a second
SPEED = 0.1  # of each half, m/s
OPENING = 0.5  # of the slit a frame, radii


class StoreWriter:
    """A folder that becomes a store when it is finished."""

    def __init__(self, folder, compression="snappy"):
        self.folder = Path(folder)
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            sys.exit(f"{folder}: not empty; choose a new or empty folder")
        self.compression = compression

    def table(self, name, **columns):
        """Writes columns of one length, in the given order; a single value applies to all rows."""
        rows = max(np.size(values) for values in columns.values() if np.ndim(values))
        path = self.folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {key: values if np.ndim(values) else np.full(rows, values) for key, values in columns.items()}
        parquet.write_table(pyarrow.table(arrays), path, compression=self.compression)

    def elements(self, body, places, radii, masses):
        """The elements at rest; their ids are their row numbers."""
        x, y, z = np.asarray(places, float).T
        self.table("packing/elements", id=np.arange(len(x)), body=body, x=x, y=y, z=z, r=radii, mass=masses)

    def bonds(self, ends, places, radii):
        """The bonds at rest between pairs of element ids, the smaller id first; their own ids are their row numbers."""
        i, j = np.asarray(ends).reshape(-1, 2).T
        way = np.asarray(places, float)[j] - np.asarray(places, float)[i]
        length = np.linalg.norm(way, axis=1)
        dx, dy, dz = (way / length[:, None]).T
        # Only the sections of cracks follow from the radius; moduli and strengths are needed by `simulate`
        # alone.
        radius = np.minimum(radii[i], radii[j])
        self.table("packing/bonds", id=np.arange(len(i)), i=i, j=j, l0=length, dx=dx, dy=dy, dz=dz, radius=radius)

    def shape(self, body, vertices, triangles):
        """The closed skin of a body at rest, triangles counter-clockwise seen from outside. A body without a skin
        gets a surface from its elements."""
        path = self.folder / f"packing/shapes/{body}.ply"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ["ply", "format ascii 1.0", f"element vertex {len(vertices)}"]
        lines += [f"property double {axis}" for axis in "xyz"]
        lines += [f"element face {len(triangles)}", "property list uchar int vertex_indices", "end_header"]
        lines += [" ".join(map(repr, map(float, place))) for place in vertices]
        lines += ["3 " + " ".join(map(str, corners)) for corners in triangles]
        path.write_text("\n".join(lines) + "\n")

    def frame(self, number, time, places, turns, labels, velocities=None, spins=None):
        """All elements in a frame, in the order of the packing: positions (m), rotations since rest (x, y, z, w),
        fragments, m/s, rad/s."""
        columns = dict(zip(("x", "y", "z"), np.asarray(places).T))
        columns |= dict(zip(("qx", "qy", "qz", "qw"), np.asarray(turns).T))
        for names, vectors in ((("vx", "vy", "vz"), velocities), (("wx", "wy", "wz"), spins)):
            if vectors is not None:
                columns |= dict(zip(names, np.asarray(vectors).T))
        ids = np.arange(len(labels))
        self.table(f"frames/{number:06}", frame=number, time=time, id=ids, **columns, fragment=labels)

    def breaks(self, number, time, bonds, ends, places, modes=None):
        """The bonds that broke after the previous frame and up to this one. If none broke, no file is written."""
        if len(bonds) == 0:
            return
        i, j = ends[bonds].T
        x, y, z = ((places[i] + places[j]) / 2).T
        columns = {} if modes is None else {"mode": pyarrow.array(modes).dictionary_encode()}
        self.table(f"breaks/{number:06}", frame=number, time=time, bond=bonds, i=i, j=j, x=x, y=y, z=z, **columns)

    def finish(self):
        """Writes store.json; without it no stage takes the folder for a store."""
        manifest = {"schema_version": SCHEMA_VERSION, "units": "SI", "coordinates": "right-handed, y up, metres"}
        (self.folder / "store.json").write_text(json.dumps(manifest, indent=2) + "\n")


def packed(cells, edge):
    """Sites of a face-centred cubic lattice as integers, and the pairs that touch."""
    grid = np.stack(np.meshgrid(*map(np.arange, cells), indexing="ij"), axis=-1).reshape(-1, 3)
    sites = grid[grid.sum(axis=1) % 2 == 0]
    number = np.full(np.add(cells, 2), -1)
    number[tuple((sites + 1).T)] = np.arange(len(sites))
    ways = [(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)]
    pairs = [np.stack([np.arange(len(sites)), number[tuple((sites + 1 + way).T)]], axis=1) for way in ways]
    pairs = np.concatenate(pairs)
    pairs = np.sort(pairs[pairs[:, 1] >= 0], axis=1)
    return sites, pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def box(low, high):
    """Vertices and triangles of a box, counter-clockwise seen from outside."""
    vertices = [[(low, high)[at >> axis & 1][axis] for axis in range(3)] for at in range(8)]
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    return vertices, [corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))]


def main():
    parser = argparse.ArgumentParser(description="Writes a frame store of a block that cracks.")
    parser.add_argument("store", help="folder to write; new or empty")
    parser.add_argument("--cells", type=int, nargs=3, default=[16, 10, 10], help="lattice cells along x, y, z")
    parser.add_argument("--radius", type=float, default=1e-3, help="of each sphere, m")
    parser.add_argument("--density", type=float, default=2000.0, help="of the block, kg/m3")
    parser.add_argument("--frames", type=int, default=4, help="at least 3")
    parser.add_argument("--compression", default="snappy", help="snappy, zstd, gzip, lz4 or none")
    arguments = parser.parse_args()
    if min(arguments.cells) < 4 or arguments.frames < 3 or not arguments.radius > 0:
        parser.error("at least 4 cells each way, 3 frames, and a radius above 0")

    store = StoreWriter(arguments.store, arguments.compression)
    edge = math.sqrt(2) * arguments.radius
    sites, ends = packed(arguments.cells, edge)
    rest, radii = sites * edge, np.full(len(sites), arguments.radius)
    store.elements(np.zeros(len(sites), int), rest, radii, np.full(len(sites), 2 * edge**3 * arguments.density))
    store.bonds(ends, rest, radii)
    store.shape(0, *box([-edge / 2] * 3, (np.array(arguments.cells) - 0.5) * edge))

    middle = np.array(arguments.cells) // 2
    right, above = sites[:, 0] >= middle[0], sites[:, 1] >= middle[1]
    tip = (middle[0] + arguments.cells[0]) // 2
    lips = right & (sites[:, 0] < tip)
    across = right[ends[:, 0]] != right[ends[:, 1]]
    slit = lips[ends].all(axis=1) & (above[ends[:, 0]] != above[ends[:, 1]])
    broken_in = np.where(across, 1, np.where(slit, 2, arguments.frames))

    velocities = np.zeros_like(rest)
    velocities[:, 0] = np.where(right, SPEED, -SPEED)
    # Each lip bends about z: most at the face of the half, not at all at the tip.
    length = (tip - middle[0]) * edge
    depth = np.where(lips, (tip - sites[:, 0]) * edge / length, 0.0)
    opening = np.where(above, 1, -1) * OPENING * arguments.radius
    bend = np.zeros_like(rest)
    bend[:, 1] = opening * depth**2
    slope = -2 * opening * depth / length
    for number in range(arguments.frames):
        time, bent = number / RATE, max(number - 1, 0)
        places = rest + velocities * time + bend * bent
        half = np.arctan(slope * bent) / 2
        turns = np.stack([np.zeros_like(half), np.zeros_like(half), np.sin(half), np.cos(half)], axis=1)
        labels = np.where(right & (number > 0), 1, 0)
        store.frame(number, time, places, turns, labels, velocities + bend * RATE * (number > 1))
        bonds = np.flatnonzero(broken_in == number)
        store.breaks(number, time, bonds, ends, places, ["tension"] * len(bonds))
    store.finish()
    broken = np.count_nonzero(broken_in < arguments.frames)
    print(f"{arguments.store}: {len(sites)} elements, {len(ends)} bonds, {broken} broken in {arguments.frames} frames")


if __name__ == "__main__":
    main()
