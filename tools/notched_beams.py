#!/usr/bin/env python3
"""Fracture toughness of notched beams in three-point bending, for elements of several sizes (ASTM E399's bend specimen, a span of four heights).

    python3 -m venv venv && venv/bin/pip install numpy pyarrow matplotlib
    venv/bin/python tools/notched_beams.py [--rows 24 48 96] [--axis x y z] [--packing hexagonal] [--zone 1.05] [--cullet PROGRAM] [--plot FILE] [--json]

Beams that are long along an axis of their packing and six layers thick have a crack of half their height. All beams of an axis have the same height and the
same material; `--rows` rows of elements fit over it. `--zone` is the length of the softening zone, (K_IC/f_t)², in elements of the first size. A clamp at the top
bends the beam slowly. Its load and the opening of the crack's mouth give, by the functions of Tada for this specimen:

- Young's modulus, from the opening at 0.3 to 0.7 of the largest load. The gauges are half a coarse element above the mouth, which adds about 2 %;
- K at the largest load, for the initial crack (ASTM E399). The softening zone makes it smaller than K_IC, the smaller the beam;
- K at the effective crack, whose length follows from the ratio of opening to load (as in ASTM E561), mean over growth from 0.55 to 0.75 of the height;
- the energy dissipated per area of that growth;
- how far the curve of load over opening is from that of the smallest elements, the largest difference over the largest load.

All but the last are over the values entered. Beams of finer elements are thinner, and all are nearer to plane stress than to plane strain, where K would be
sqrt(1 - poisson^2) K_IC.
"""

import argparse
import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import beam_bending as beam

HEIGHT, SPAN, DENSITY = 20e-3, 4, 1200.0  # m; span over height; kg/m³
# By the axis along the beam: its axes along length, height and thickness, and the distances of lattice rows along the latter two over the distance of elements.
PLACES = {
    "x": ("xyz", math.sqrt(3) / 2, math.sqrt(2 / 3)),
    "y": ("yzx", math.sqrt(2 / 3), 1.0),
    "z": ("zxy", 1.0, math.sqrt(3) / 2),
}
LAYERS = 6
GROWTH = (0.55, 0.75)  # effective cracks over the height between which K and the energy are measured
FRAMES, SMOOTH = 300, 7  # frames of a run; frames over which curves are averaged

PIPELINE = """
[time]
end = {end}
frames_per_second = {rate}
[world]
gravity = [0, 0, 0]
[[material]]
name = "material"
density = {density}
young = {young}
poisson = {poisson}
tensile_strength = {strength}
shear_strength = {shear}
toughness = {toughness}
damping = 0.1
friction = 0
[[body]]
name = "beam"
material = "material"
shape = {{ type = "box", size = {size} }}
cracks = [{{ points = {crack} }}]
packing = {{ type = "{packing}", radius = {radius} }}
{supports}
[[attach]]
name = "press"
body = "beam"
region = {{ min = {press_min}, max = {press_max} }}
action = {{ type = "clamp", keys = [{keys}] }}
{gauges}
[simulate]
backend = "cpu"
drag = {drag}
"""


@dataclass
class Specimen:
    """A beam; lengths in m, stresses in Pa."""

    axis: str
    rows: int
    coarsest: int
    zone: float
    young: float
    poisson: float
    strength: float
    packing: str

    def __post_init__(self):
        self.axes, row, layer = PLACES[self.axis]
        if self.packing != "hexagonal":
            row = layer = 1.0
        self.element = HEIGHT / (self.rows * row)
        self.coarse = HEIGHT / (self.coarsest * row)
        self.thickness = LAYERS * layer * self.element
        self.toughness = self.strength * math.sqrt(self.zone * self.coarse)
        self.span = SPAN * HEIGHT
        # Load at which the initial crack would grow in a beam much larger than its softening zone, N, and deflection that the crack adds there.
        self.load = self.toughness * self.thickness * HEIGHT**1.5 / self.span / shape_of_k(0.5)
        self.deflection = 37 * self.load / (self.young * self.thickness)
        # Period of the cracked beam on its supports, s, as measured.
        self.period = 15.2 * HEIGHT / math.sqrt(self.young / DENSITY)

    def place(self, along, up, across=0.0):
        """A vector as text: its components along the beam, up and across it."""
        parts = dict(zip(self.axes, (along, up, across)))
        return "[" + ", ".join(repr(float(parts[axis])) for axis in "xyz") + "]"

    def keys(self):
        """Poses of the press, which speeds up evenly at first, and the time of the last one. It bends the beam slowly against its period."""
        start = 6 * self.period
        speed = self.deflection / (10 * self.period - start / 2)
        poses = [(start * k / 12, speed * start / 2 * (k / 12) ** 2) for k in range(13)]
        poses.append((start / 2 + 3 * self.deflection / speed, 3 * self.deflection))
        return ", ".join(f"{{ time = {t!r}, position = {self.place(0, -way)} }}" for t, way in poses), poses[-1][0]

    def below(self, side, balls):
        """Height in m of the axis of a support that touches the beam. `balls`: places of its elements along it and up, and their radii, m."""
        import numpy

        along, up, radius = balls
        reach = radius + HEIGHT / 6
        aside = numpy.abs(along - side * self.span / 2)
        near = aside < reach
        return float((up[near] - numpy.sqrt(reach[near] ** 2 - aside[near] ** 2)).min()) - 1e-4 * self.element

    def pipeline(self, supports=(-HEIGHT, -HEIGHT)):
        """The pipeline file of the beam on supports whose axes are at these heights, m."""
        half, radius, keys = HEIGHT / 2, HEIGHT / 6, self.keys()
        turn = {"z": "axis = [1, 0, 0]", "x": "axis = [0, 0, 1]", "y": "axis = [0, 1, 0]"}[self.axes[2]]
        supports = [
            f'[[collider]]\nname = "{name}"\nshape = {{ type = "cylinder", radius = {radius}, height = {HEIGHT} }}\n'
            f"position = {self.place(side * self.span / 2, up)}\n"
            f"rotation = {{ {turn}, angle = {0.0 if self.axes[2] == 'y' else math.pi / 2} }}\nfriction = 0\n"
            for name, side, up in (("left", -1, supports[0]), ("right", 1, supports[1]))
        ]
        near, far = 2 * self.coarse, 10 * HEIGHT
        gauges = [
            f'[[attach]]\nname = "{name}"\nbody = "beam"\naction = {{ type = "gauge" }}\n'
            f"region = {{ min = {self.place(left, -far, -far)}, max = {self.place(left + near, self.coarse - half, far)} }}\n"
            for name, left in (("mouth_left", -near), ("mouth_right", 0))
        ]
        corners = [(0, -far, -far), (0, 0, -far), (0, 0, far), (0, -far, far)]
        return PIPELINE.format(
            end=keys[1],
            rate=FRAMES / keys[1],
            density=DENSITY,
            young=self.young,
            poisson=self.poisson,
            strength=self.strength,
            shear=20 * self.strength,
            toughness=self.toughness,
            size=self.place(self.span + HEIGHT / 2, HEIGHT, self.thickness),
            crack="[" + ", ".join(self.place(*corner) for corner in corners) + "]",
            packing=self.packing,
            radius=self.element / 2,
            supports="\n".join(supports),
            press_min=self.place(-HEIGHT / 12, half - 1.2 * self.element, -far),
            press_max=self.place(HEIGHT / 12, far, far),
            keys=keys[0],
            gauges="\n".join(gauges),
            drag=1 / self.period,  # about 0.08 of critical damping
        )


def shape_of_k(crack):
    """K over load times span / (thickness height^1.5), of a crack of this part of the height."""
    x = crack
    return 3 * x**0.5 * (1.99 - x * (1 - x) * (2.15 - 3.93 * x + 2.7 * x * x)) / (2 * (1 + 2 * x) * (1 - x) ** 1.5)


def opening(crack):
    """Opening of the mouth times Young's modulus and thickness over the load, of a crack of this part of the height."""
    x = crack
    return 6 * SPAN * x * (0.76 - 2.28 * x + 3.87 * x * x - 2.04 * x**3 + 0.66 / (1 - x) ** 2)


def run(cullet, specimen, folder):
    """Simulates a beam."""
    import pyarrow.parquet as parquet

    file = folder / "beam.toml"
    store = folder / f"{specimen.axis}{specimen.rows}"

    def stages(last, *supports):
        file.write_text(specimen.pipeline(*supports))
        subprocess.run([cullet, "run", file, "--to", last, "--out", store, "--quiet"], check=True)
        return store

    elements = parquet.read_table(stages("pack") / "packing/elements.parquet")
    balls = [elements[name].to_numpy() for name in (*specimen.axes[:2], "r")]
    supports = [specimen.below(side, balls) for side in (-1, 1)]
    return stages("simulate", supports), elements.num_rows


def curve(store, specimen):
    """Opening of the mouth, load and deflection by frame, m and N."""
    import numpy
    import pyarrow.parquet as parquet

    table = parquet.read_table(store / "loads").sort_by("frame")
    names = numpy.array(table["name"])
    along, up = specimen.axes[:2]

    def column(name, key):
        return numpy.convolve(numpy.array(table[key])[names == name], numpy.ones(SMOOTH) / SMOOTH, "valid")

    below = -(column("left", f"f{up}") + column("right", f"f{up}"))
    # Drag and inertia act on the beam between press and supports; for halves that turn rigidly, a third of them bends the middle.
    load = below + (column("press", f"f{up}") - below) / 3
    return column("mouth_right", f"d{along}") - column("mouth_left", f"d{along}"), load, -column("press", f"d{up}")


def judge(specimen, mouth, load, deflection):
    """What a curve says about the material, over what was entered; the curve from where its tangent at small loads starts."""
    import numpy

    peak = int(load.argmax())
    rising = (numpy.arange(len(load)) < peak) & (load > 0.3 * load[peak]) & (load < 0.7 * load[peak])
    stiffness, base = numpy.polyfit(mouth[rising], load[rising], 1)
    mouth = mouth + base / stiffness
    slope, base = numpy.polyfit(deflection[rising], load[rising], 1)
    deflection = deflection + base / slope
    cracks = numpy.linspace(0.3, 0.95, 2000)
    compliance = mouth / numpy.maximum(load, 1e-3 * load[peak])
    found = numpy.interp(compliance * stiffness * opening(0.5), opening(cracks), cracks)
    k = load * specimen.span / (specimen.thickness * HEIGHT**1.5) * shape_of_k(found) / specimen.toughness
    grown = [numpy.flatnonzero(found[peak:] > part) for part in GROWTH]
    if not len(grown[1]) or grown[0][0] == grown[1][0]:
        raise SystemExit(f"the crack of the beam along {specimen.axis} of {specimen.rows} rows does not grow slowly from {GROWTH[0]} to {GROWTH[1]} of the height")
    first, last = (peak + int(frames[0]) for frames in grown)
    work = numpy.concatenate([[0], numpy.cumsum(0.5 * (load[1:] + load[:-1]) * numpy.diff(deflection))])
    # A beam whose bonds softened is unloaded along a line to the origin.
    dissipated = work - 0.5 * load * deflection
    release = specimen.toughness**2 * (1 - specimen.poisson**2) / specimen.young
    area = specimen.thickness * HEIGHT * (found[last] - found[first])
    return {
        "young": stiffness * opening(0.5) / (specimen.young * specimen.thickness),
        "k_peak": load[peak] / specimen.load,
        "k": float(numpy.sum(0.5 * (k[first + 1 : last + 1] + k[first:last]) * numpy.diff(found[first : last + 1])) / (found[last] - found[first])),
        "energy": (dissipated[last] - dissipated[first]) / area / release,
        "curve": (mouth, load / specimen.load),
        "growth": (found[peak // 2 : last + 1], k[peak // 2 : last + 1]),
    }


def difference(curve, finest):
    """Largest difference of two curves of load over opening, over the largest load."""
    import numpy

    at = numpy.linspace(0, min(curve[0].max(), finest[0].max()), 400)
    # The opening grows but for small vibrations.
    values = [numpy.interp(at, numpy.maximum.accumulate(mouth), load) for mouth, load in (curve, finest)]
    return float(numpy.abs(values[0] - values[1]).max() / finest[1].max())


def plot(file, rows):
    """Draws loads over openings, and K over effective cracks."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for row in rows:
        label = f"along {row['axis']}, {row['rows']} rows"
        left.plot(1e6 * row["curve"][0], row["curve"][1], label=label)
        right.plot(*row["growth"], label=label)
    left.set(xlabel="opening of the mouth, µm", ylabel="load over that of ASTM E399", ylim=(0, 1.2))
    right.set(xlabel="effective crack over height", ylabel="K over K_IC", xlim=(0.45, 0.85), ylim=(0, 1.4))
    left.legend()
    figure.savefig(file, dpi=100)


def main():
    parser = argparse.ArgumentParser(description="Fracture toughness of notched beams, for elements of several sizes.")
    parser.add_argument("--rows", type=int, nargs="+", default=[24, 48, 96], help="rows of elements over the height, coarsest first")
    parser.add_argument("--axis", nargs="+", choices=PLACES, default=["x", "y", "z"], help="axes of the packing along the beam")
    parser.add_argument("--packing", default="hexagonal", help="type of the packing, hexagonal or random")
    parser.add_argument("--zone", type=float, default=1.05, help="length of the softening zone in elements of the first size")
    parser.add_argument("--young", type=float, default=1e9, help="Young's modulus, Pa")
    parser.add_argument("--poisson", type=float, default=0.2, help="Poisson's ratio")
    parser.add_argument("--strength", type=float, default=2.5e6, help="tensile strength, Pa")
    parser.add_argument("--cullet", type=Path, help="the program; default: built from this repository")
    parser.add_argument("--keep", type=Path, help="a folder for the stores; default: removed at the end")
    parser.add_argument("--plot", type=Path, help="draw the curves into this file")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    given = parser.parse_args()
    cullet = given.cullet or beam.build_program()
    found = []
    if not given.json:
        print("axis  rows  elements  Young's modulus  K at the peak      K  energy  off the finest's curve")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for axis in given.axis:
            found += beams(cullet, folder, axis, given)
    if given.plot:
        plot(given.plot, found)
    if given.json:
        print(json.dumps([{key: value for key, value in row.items() if key not in ("curve", "growth")} for row in found]))


def beams(cullet, folder, axis, given):
    """Results of all sizes along an axis, printed as they come; differences need the last one."""
    rows = []
    for size in reversed(given.rows):
        specimen = Specimen(axis, size, given.rows[0], given.zone, given.young, given.poisson, given.strength, given.packing)
        store, elements = run(cullet, specimen, folder)
        row = {"axis": axis, "rows": size, "elements": elements} | judge(specimen, *curve(store, specimen))
        row["difference"] = difference(row["curve"], (rows or [row])[0]["curve"])
        rows.append(row)
        if not given.json:
            print(
                f"{axis:>4}  {size:4}  {elements:8}  {row['young']:15.3f}  {row['k_peak']:13.3f}  {row['k']:5.3f}  {row['energy']:6.3f}  "
                f"{row['difference']:22.3f}",
                flush=True,
            )
    return rows


if __name__ == "__main__":
    main()
