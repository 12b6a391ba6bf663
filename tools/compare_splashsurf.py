#!/usr/bin/env python3
"""Times `cullet reconstruct` against splashsurf on the same elements, in one run, and its own time as a function of crack area.

    python3 -m venv venv && venv/bin/pip install pysplashsurf numpy pyarrow
    venv/bin/python tools/compare_splashsurf.py [--rows 96 32 32] [--rounds 5] [--voxels 1 0.8 0.5]
                                                  [--part speed|cracks] [--cullet PROGRAM] [--json]

cullet packs a hexagonal block; a store written next to its packing according to the documented schema holds three frames: whole, broken along
cracks, and the same once more. Fragments are a few radii apart, so that both programs have to draw the crack faces.

Speed: the cracks are the faces of Voronoi cells, with the number of cells chosen so that a tenth of the bonds break. Both programs use two threads and
the same voxel, splashsurf its usual smoothing length of two radii and threshold of 0.6. The numbers of triangles of both are reported, and must be similar
where the block is broken: of a whole block cullet keeps the skin as it was packed, with edges of an element's size.
For cullet the whole process is timed, for one frame alone: it reads packing and frame, computes all surfaces from scratch and writes them. For splashsurf
only the call is timed that takes positions in memory and returns a mesh in memory, in a process already warm. splashsurf has no
fragments, no skin and no crack faces; cullet's surfaces have them, with velocities and stress on each vertex.

Cracks: 1, 2, 4, 8, 16 parallel planes cut the block. Reported are the time of the broken frame over that of the whole one, both as whole
processes, and what a second frame without new cracks adds to a run. Differences of whole processes are noisy: take more rounds to compare them.

If a package is missing, prints a message and exits with 0.
"""

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RADIUS = 1e-3  # m
THREADS = 2
CRACKED = 0.1  # of the bonds, in the comparison with splashsurf
VOXEL = 0.8  # radii, where cracks are counted: cullet's default
GAP = 4.0  # radii between neighbouring fragments, about
PLANES = (1, 2, 4, 8, 16)
WHOLE, BROKEN = 0, 1  # frames of the store; the one after BROKEN is the same again
SMOOTHING = 2.0  # radii, and THRESHOLD: the values of splashsurf's own command line
THRESHOLD = 0.6

PIPELINE = """
[time]
end = "3 ms"
frames_per_second = "1 kHz"
[[material]]
name = "stone"
density = 2600
young = "1 GPa"
poisson = 0.2
tensile_strength = "1 MPa"
shear_strength = "1 MPa"
[[body]]
name = "block"
material = "stone"
shape = {{ type = "block", rows = {rows} }}
packing = {{ type = "hexagonal", radius = {radius} }}
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


def run(command):
    """Runs a command; returns its output and the seconds it took."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed ({done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout, seconds


def components(np, count, i, j):
    """For each of `count` elements the smallest element that it is connected to."""
    label = np.arange(count)
    while True:
        least = np.minimum(label[i], label[j])
        found = label.copy()
        np.minimum.at(found, i, least)
        np.minimum.at(found, j, least)
        found = found[found]
        if np.array_equal(found, label):
            return label
        label = found


class Block:
    """A packing, and a store with three frames of it: whole, broken, and the same once more."""

    def __init__(self, folder, cullet, rows):
        import numpy
        import pyarrow.parquet as parquet

        self.np, self.cullet, self.store = numpy, cullet, folder / "store"
        file = folder / "block.toml"
        file.write_text(PIPELINE.format(rows=rows, radius=RADIUS))
        run([cullet, "pack", file, "--out", self.store])
        elements = parquet.read_table(self.store / "packing/elements.parquet")
        self.rest = numpy.stack([elements[axis].to_numpy() for axis in "xyz"], axis=1)
        bonds = parquet.read_table(self.store / "packing/bonds.parquet")
        self.ends = numpy.stack([bonds[end].to_numpy() for end in "ij"], axis=1)
        self.directions = numpy.stack([bonds[axis].to_numpy() for axis in ("dx", "dy", "dz")], axis=1)
        self.size = numpy.ptp(self.rest, axis=0) + 2 * RADIUS
        none = numpy.zeros(len(self.ends), dtype=bool)
        self.write(WHOLE, none, none, numpy.zeros(len(self.rest), dtype=int), self.rest)

    def voronoi(self):
        """Index of the random Voronoi cell of each element; the number of cells breaks about CRACKED of the bonds."""
        np = self.np
        seeds = np.random.default_rng(1).uniform(self.rest.min(axis=0), self.rest.max(axis=0), (4096, 3))

        def cells(count):
            nearest, least = np.zeros(len(self.rest), dtype=int), np.full(len(self.rest), np.inf)
            for number, seed in enumerate(seeds[:count]):
                away = ((self.rest - seed) ** 2).sum(axis=1)
                nearest[away < least] = number
                np.minimum(least, away, out=least)
            return nearest

        few, many = 1, 2
        while self.crossing(cells(many)).mean() < CRACKED and many < len(seeds):
            few, many = many, 2 * many
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (middle, many) if self.crossing(cells(middle)).mean() < CRACKED else (few, middle)
        return cells(many)

    def slabs(self, planes):
        """Index of the slab of each element, when `planes` planes cut the block across its length."""
        part = (self.rest[:, 0] - self.rest[:, 0].min() + RADIUS) / self.size[0]
        return (part * (planes + 1)).astype(int)

    def crossing(self, cells):
        """Whether each bond joins elements of two cells."""
        return cells[self.ends[:, 0]] != cells[self.ends[:, 1]]

    def crack(self, cells):
        """Breaks the bonds between cells and moves the cells apart; returns figures and the positions of the
        elements."""
        np = self.np
        broken = self.crossing(cells)
        label = components(np, len(self.rest), *self.ends[~broken].T)
        # Cells move away from the middle so far that neighbours are separated by GAP.
        count = np.bincount(cells)
        centres = np.stack([np.bincount(cells, self.rest[:, axis]) for axis in range(3)], axis=1) / np.maximum(count, 1)[:, None]
        slabs = np.ptp(centres[count > 0], axis=0)[1:].max() < RADIUS
        spacing = self.size[0] / len(count) if slabs else (self.size.prod() / len(count)) ** (1 / 3)
        places = self.rest + (centres[cells] - self.rest.mean(axis=0)) * GAP * RADIUS / spacing
        none = np.zeros_like(broken)
        self.write(BROKEN, broken, broken, label, places)
        self.write(BROKEN + 1, none, broken, label, places)
        figures = {"bonds": len(broken), "broken": int(broken.sum()), "fragments": len(np.unique(label))}
        return figures, places.astype(np.float32)

    def write(self, frame, fresh, broken, label, places):
        """A frame in which the bonds `broken` are broken, `fresh` of them since the previous frame. Rotations and
        velocities are zero."""
        import pyarrow
        import pyarrow.parquet as parquet

        np, count, cut = self.np, len(self.rest), int(fresh.sum())

        def store(kind, rows, columns):
            columns = {"frame": np.full(rows, frame, np.uint32), "time": np.full(rows, frame * 1e-3), **columns}
            path = self.store / kind / f"{frame:06}.parquet"
            path.parent.mkdir(exist_ok=True)
            parquet.write_table(pyarrow.table(columns), path, compression="zstd")

        def vectors(names, values):
            return {name: np.asarray(values, np.float32)[:, axis] for axis, name in enumerate(names)}

        zeros = np.zeros((count, 3), np.float32)
        store(
            "frames",
            count,
            {"id": np.arange(count, dtype=np.uint32)}
            | vectors("xyz", places)
            | vectors(("qx", "qy", "qz"), zeros)
            | {"qw": np.ones(count, np.float32)}
            | vectors(("vx", "vy", "vz"), zeros)
            | vectors(("wx", "wy", "wz"), zeros)
            | {"fragment": label.astype(np.uint32)}
            | vectors(("sigma", "tau"), zeros)
            | {"broken": np.bincount(self.ends[broken].ravel(), minlength=count).astype(np.uint32)},
        )
        ends = self.ends[fresh]
        store(
            "breaks",
            cut,
            {"step": np.full(cut, frame, np.uint64), "bond": np.flatnonzero(fresh).astype(np.uint32)}
            | {"i": ends[:, 0].astype(np.uint32), "j": ends[:, 1].astype(np.uint32), "mode": ["tension"] * cut}
            | vectors(("sigma", "tau"), np.full((cut, 2), 1e6))
            | vectors("xyz", self.rest[ends].mean(axis=1))
            | vectors(("nix", "niy", "niz"), self.directions[fresh])
            | vectors(("njx", "njy", "njz"), -self.directions[fresh]),
        )

    def voxel(self, voxel):
        """Sets the edge of a grid cell, in radii, for the following runs."""
        file = self.store / "store.json"
        manifest = json.loads(file.read_text())
        manifest["pipeline"]["reconstruct"]["voxel"] = voxel
        # The checksum refers to the text as written by cullet.
        manifest.pop("checksum", None)
        file.write_text(json.dumps(manifest))

    def reconstruct(self, first, last):
        """Seconds of a process that makes the surfaces of frames `first` to `last`."""
        frames = f"{first}..{last + 1}"
        return run([self.cullet, "reconstruct", self.store, "--frames", frames, "--threads", THREADS, "--quiet"])[1]

    def triangles(self, frame):
        """Triangles of a frame's surfaces."""
        with tempfile.TemporaryDirectory() as folder:
            run([self.cullet, "export", self.store, "--format", "ply", "--frames", f"{frame}..{frame + 1}", "--to", folder, "--quiet"])
            [file] = Path(folder).glob("*.ply")
            with open(file, "rb") as lines:
                return next(int(line.split()[2]) for line in lines if line.startswith(b"element face"))


def time_splashsurf(places, voxel):
    """Seconds of splashsurf's call, and triangles."""
    import pysplashsurf

    # Lengths except the radius are in radii, although the documentation of 0.14 says otherwise.
    start = time.perf_counter()
    result = pysplashsurf.reconstruct_surface(
        places,
        particle_radius=RADIUS,
        smoothing_length=SMOOTHING,
        cube_size=voxel,
        iso_surface_threshold=THRESHOLD,
    )
    return time.perf_counter() - start, len(result.mesh.triangles)


def compare_splashsurf(block, places, voxels, rounds):
    """A row for each voxel and frame: medians of both programs, run in turn."""
    rows = []
    for voxel in voxels:
        block.voxel(voxel)
        for frame, name in ((WHOLE, "whole"), (BROKEN, "broken")):
            # Once before timing: files and memory pages are then warm for both.
            block.reconstruct(frame, frame)
            drawn = {"cullet": block.triangles(frame), "splashsurf": time_splashsurf(places[frame], voxel)[1]}
            # For a whole block cullet keeps the skin as it was packed; for a broken one both draw the same
            # faces.
            if frame == BROKEN and not 0.4 < drawn["splashsurf"] / drawn["cullet"] < 2.5:
                sys.exit(f"voxel {voxel}, {name} frame: {drawn} triangles: not the same work")
            seconds = {"cullet": [], "splashsurf": []}
            for _ in range(rounds):
                seconds["cullet"].append(block.reconstruct(frame, frame))
                seconds["splashsurf"].append(time_splashsurf(places[frame], voxel)[0])
            median = {name: statistics.median(found) for name, found in seconds.items()}
            rows.append(
                {"voxel": voxel, "frame": name, "seconds": median, "best": {name: min(found) for name, found in seconds.items()}}
                | {"ratio": median["splashsurf"] / median["cullet"], "triangles": drawn}
            )
    return rows


def compare_crack_areas(block, voxel, rounds):
    """A row for each number of planes: medians of the whole frame, of the broken one, and of a second broken one
    in the same run."""
    block.voxel(voxel)
    section = float(block.size[1] * block.size[2])
    rows = []
    for planes in PLANES:
        figures, _ = block.crack(block.slabs(planes))
        runs = {"whole": (WHOLE, WHOLE), "broken": (BROKEN, BROKEN), "twice": (BROKEN, BROKEN + 1)}
        seconds = {name: [] for name in runs}
        for _ in range(rounds):
            for name, frames in runs.items():
                seconds[name].append(block.reconstruct(*frames))
        median = {name: statistics.median(found) for name, found in seconds.items()}
        cost, area = median["broken"] - median["whole"], planes * section
        rows.append(
            {"planes": planes, "area": area, **figures, "seconds": median, "cracks": cost, "cracks_per_area": cost / area}
            | {"another_frame": median["twice"] - median["broken"]}
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description="Times cullet's surfaces against splashsurf's, and over the area of cracks.")
    parser.add_argument("--rows", type=int, nargs=3, default=[96, 32, 32], help="elements along x, y, z")
    parser.add_argument("--rounds", type=int, default=5, help="timings of each program, in turn")
    parser.add_argument("--voxels", type=float, nargs="+", default=[1.0, 0.8, 0.5], help="edges of a cell, in radii")
    parser.add_argument("--part", choices=["speed", "cracks"], help="only one of the two; default: both")
    parser.add_argument("--cullet", type=Path, help="the program; default: built from this repository")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    arguments = parser.parse_args()
    if min(arguments.rows) < 4 or arguments.rows[0] < 2 * (max(PLANES) + 1):
        parser.error(f"--rows: at least {2 * (max(PLANES) + 1)} along x and 4 along y and z, for the planes to have room")
    if arguments.rounds < 1 or not min(arguments.voxels) > 0:
        parser.error("--rounds: at least 1; --voxels: above 0")
    # This variable is read when the thread pool starts, at the first call.
    os.environ["RAYON_NUM_THREADS"] = str(THREADS)
    try:
        import numpy  # noqa: F401
        import pyarrow.parquet  # noqa: F401
        import pysplashsurf  # noqa: F401
    except ImportError as missing:
        skip(f"{missing.name} is missing; pip install pysplashsurf numpy pyarrow")
    cullet = arguments.cullet
    if cullet is None:
        subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "cullet"], cwd=ROOT, check=True)
        cullet = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/cullet"

    with tempfile.TemporaryDirectory() as folder:
        block = Block(Path(folder), cullet, arguments.rows)
        found = {"elements": len(block.rest)}
        if arguments.part != "cracks":
            figures, places = block.crack(block.voronoi())
            frames = {WHOLE: block.rest.astype("f4"), BROKEN: places}
            found |= figures | {"splashsurf": importlib.metadata.version("pysplashsurf")}
            found["speed"] = compare_splashsurf(block, frames, arguments.voxels, arguments.rounds)
        if arguments.part != "speed":
            found["cracks"] = compare_crack_areas(block, VOXEL, arguments.rounds)
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"{found['elements']} elements; medians of {arguments.rounds} rounds; {THREADS} threads")
    if "speed" in found:
        report_speed(found)
    if "cracks" in found:
        report_cracks(found["cracks"])


def report_speed(found):
    part = found["broken"] / found["bonds"]
    print(f"\n{found['bonds']} bonds, {found['broken']} of them broken ({part:.1%}), {found['fragments']} fragments")
    print(f"cullet: whole process, Parquet to meshes on disk; pysplashsurf {found['splashsurf']}: the call alone, memory to memory")
    print("voxel / r  frame     cullet, s  splashsurf, s   ratio   triangles")
    for row in found["speed"]:
        seconds, drawn = row["seconds"], row["triangles"]
        print(f"{row['voxel']:9.2f}  {row['frame']:8}  {seconds['cullet']:9.3f}  {seconds['splashsurf']:13.3f}", end="")
        print(f"  {row['ratio']:6.2f}   {drawn['cullet']} and {drawn['splashsurf']}")


def report_cracks(rows):
    print(f"\nparallel planes, voxel {VOXEL} r: cullet's whole process on the whole frame, on the broken one; what another frame adds")
    print("planes  area, cm2  bonds  whole, s  broken, s  cracks, ms  ms / cm2  another, ms")
    for row in rows:
        area, seconds = row["area"] * 1e4, row["seconds"]
        print(f"{row['planes']:6}  {area:9.1f}  {row['broken']:5}  {seconds['whole']:8.3f}  {seconds['broken']:9.3f}", end="")
        print(f"  {1e3 * row['cracks']:10.1f}  {1e3 * row['cracks'] / area:8.3f}  {1e3 * row['another_frame']:11.1f}")


if __name__ == "__main__":
    main()
