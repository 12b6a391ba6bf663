"""Measurements of the speed of steps."""

from .machine import cores
from .measurement import MOST, Figure, Group, column, matching, over, paths, run

M = 1e-6

# ---------------------------------------------------------------- steps

STEPS = run(4, "bench --only simulate --json", "bench --only simulate --elements 1e3 --threads 1 --json")
SCENES = {"elastic": "elastic block", "breaking": "breaking impact", "heap": "granular heap"}


def rates(threads):
    """Reads for the scenes, element-steps a second."""
    return {
        name: column("element_steps_per_second", M, "simulate", scene=scene, threads=threads)
        for name, scene in SCENES.items()
    }


ONE, ALL = rates(1), rates(MOST)
elastic = lambda key, scale, threads: column(key, scale, "simulate", scene="elastic block", threads=threads)


def limit(unit):
    """Reads the best of the machine's limits in this unit, on one thread."""
    return lambda printed: [
        max(1e-9 * row["value"] for row in printed[0].json["machine"] if row["unit"] == unit and row["threads"] == 1)
    ]


STEPS_GROUP = Group(
    "steps",
    "Steps",
    """
Millions of element-steps a second, contacts and strengths watched, single precision: the best of several runs.
Sizes are about 10 thousand, 100 thousand and 1 million elements.
""",
    [
        Figure("elastic", "elastic bonded block, three sizes, all threads", STEPS, ALL["elastic"]),
        Figure("breaking", "bonded block that breaks on a floor, three sizes, all threads", STEPS, ALL["breaking"]),
        Figure("heap", "heap of loose grains, six contacts each, three sizes, all threads", STEPS, ALL["heap"]),
        Figure("elastic_one", "elastic block, 1 thread", STEPS, ONE["elastic"]),
        Figure("fma", "the same over the multiply-add peak", STEPS, elastic("part_of_fma_peak", 100, 1), "{:.0f}", "%"),
        Figure("triad", "the same over the memory's bandwidth", STEPS, elastic("part_of_triad", 100, 1), "{:.0f}", "%"),
        Figure("peak", "multiply-add peak of 1 thread", STEPS, limit("GFLOP/s"), "{:.0f}", "GFLOP/s"),
        Figure("bandwidth", "memory's bandwidth, 1 thread (triad)", STEPS, limit("GB/s"), "{:.0f}", "GB/s"),
        Figure(
            "flops", "operations of a step for an element", STEPS, elastic("flops_per_element_step", 1, 1), "{:,.0f}"
        ),
        Figure(
            "bytes",
            "memory that a step reads and writes for an element",
            STEPS,
            elastic("bytes_per_element_step", 1, 1),
            "{:,.0f}",
            "bytes",
        ),
    ],
)

# ---------------------------------------------------------------- LAMMPS

LAMMPS = run(
    4,
    "python tools/compare_lammps.py --json",
    "python tools/compare_lammps.py --rows 24 8 8 --steps 10 --rounds 1 --json",
)
RATE = "element_steps_per_second"
LAMMPS_GROUP = Group(
    "lammps",
    "Steps against LAMMPS",
    """
The same bonded block of 46³ elements, motion and bonds only, cullet in single and LAMMPS (`bpm/rotational`) in
double precision, both on two cores.
""",
    [
        Figure(
            "rates",
            "millions of element-steps a second: cullet; LAMMPS",
            LAMMPS,
            paths(f"{RATE}.cullet", f"{RATE}.lammps", scale=M),
            "{:.2f}",
        ),
        Figure("ratio", "cullet over LAMMPS: best; medians", LAMMPS, paths("ratio", "ratio_of_medians"), unit="times"),
        Figure(
            "sound",
            "speed of sound: cullet; LAMMPS",
            LAMMPS,
            paths("speed_of_sound.cullet", "speed_of_sound.lammps"),
            unit="m/s",
        ),
    ],
    level=3,
)

# ---------------------------------------------------------------- ranks

RANKS = run(12, "python tools/ranks.py --time 500000 --json", "python tools/ranks.py --time 20000 --json")
RANKS_GROUP = Group(
    "ranks",
    "Steps on several ranks",
    """
A bunny of half a million elements before it breaks: one process on two threads, and two ranks of one thread by MPI on
the same machine. The rows that a rank sends are those that the other needs.
""",
    [
        Figure("seconds", "a frame of 412 steps: one process; two ranks", RANKS, paths("alone", "ranks"), "{:.2f}", "s"),
        Figure("ratio", "two ranks over one process", RANKS, paths("ratio"), "{:.2f}", "times"),
        Figure("sent", "what rank 0 sends in a step: rows; bytes", RANKS, paths("rows", "bytes"), "{:,.0f}"),
    ],
    level=3,
)

# ---------------------------------------------------------------- a device

DEVICE = run(
    4,
    "bench_device --adapter llvmpipe --elements 1e4,1e5",
    "bench_device --adapter llvmpipe --elements 1e3 --steps 20",
)
# A graphics processor has the same columns.
DEVICE_GROUP = Group(
    "device",
    "Steps by Vulkan",
    """
On a software adapter (lavapipe), 22³ and 46³ elements. `bench_device` without `--adapter` measures a graphics
processor.
""",
    [
        Figure(
            "elastic", "millions of element-steps a second, elastic block", DEVICE, column(RATE, M, scene="elastic")
        ),
        Figure("breaking", "the same, breaking on a floor", DEVICE, column(RATE, M, scene="breaking")),
        Figure(
            "bytes",
            "bytes that a step moves for an element, elastic block",
            DEVICE,
            column("bytes_per_element_step", scene="elastic"),
            "{:.0f}",
        ),
        Figure(
            "memory",
            "bytes of the device's memory for an element",
            DEVICE,
            over("device_bytes", "elements", scene="elastic"),
            "{:.0f}",
        ),
    ],
    level=3,
)

# ---------------------------------------------------------------- a data-centre card

CARD = run(2, "bench_device --elements 1e5,1e6,4e6")
LARGE_CARD = run(4, "bench_device --elements 16e6")
SHOTS = run(
    2,
    """
    bench_device --elements 1e3 --shot pipelines/bunny_drop.toml --set body.bunny.packing.elements=100000
    bench_device --elements 1e3 --shot pipelines/bunny_drop.toml --set body.bunny.packing.elements=1000000
    """,
)


def part(key):
    """Part of the device's time that a group of kernels takes in elastic blocks, percent."""
    return lambda printed: [100 * row["parts_of_device_time"][key] for row in matching(printed[-1].json, ELASTIC)]


def of_shots(read):
    """One value of each shot."""
    return lambda printed: [read(row) for one in printed for row in one.json if "shot" in row]


ELASTIC = {"scene": "elastic"}
CARD_GROUP = Group(
    "card",
    "Steps on an NVIDIA H200",
    """
97 thousand, 1 and 4 million elements through Vulkan. What bounds a step is neither memory nor arithmetic alone:
reading 40 % more bytes made it 1.8 % slower, and leaving the check of strengths out 9 % faster; a block of a
thousand elements takes 19 µs for its forces, the time of one element's twelve bonds one after another. A quarter of
an elastic step of half a million elements goes into fetching the motion of other ends; fetching it one bond ahead made
it 20 % slower, as more registers leave fewer elements in flight. A breaking block of 1 million elements spends a
third of its steps on contact lists. Gathering candidates first and testing them afterwards made the search for
partners 1.4 times as fast, as the invocations of a workgroup diverge less; a skin of 0.7 radii instead of 0.35 had
lists rebuilt half as often, each at hardly more cost. In one run with both changes, the blocks of 97 thousand and
1 million broke 1.4 times as fast; rates of machines with this card differ by up to a quarter. The table is for 0.7;
today's 0.5 makes 1 million break 7 % slower.
""",
    [
        Figure(
            "elastic",
            "millions of element-steps a second, elastic block",
            CARD,
            column(RATE, M, scene="elastic"),
            "{:.0f}",
        ),
        Figure(
            "breaking",
            "the same, breaking on a floor; faster than a sixteenth of the speed of sound, so that contact lists are"
            " rebuilt every ten steps; the largest has hardly begun to break",
            CARD,
            column(RATE, M, scene="breaking"),
            "{:.0f}",
        ),
        Figure(
            "bandwidth",
            "bytes that a step needs over what the memory copies meanwhile, elastic block",
            CARD,
            column("part_of_copy_bandwidth", 100, scene="elastic"),
            "{:.0f}",
            "%",
        ),
        Figure(
            "forces",
            "part of the device's time that forces and motion take, elastic block",
            CARD,
            part("forces and motion"),
            "{:.0f}",
            "%",
        ),
        Figure(
            "large",
            "16 million elements, at 9d8e36f with 0.35 radii: millions of element-steps a second, elastic; breaking",
            LARGE_CARD,
            column(RATE, M),
            "{:.0f}",
        ),
        Figure(
            "shot",
            "first four frames of `bunny_drop` with 100 thousand and 1 million elements: seconds a frame (3,989 and 8,622"
            " steps)",
            SHOTS,
            of_shots(lambda row: row["seconds_per_frame"]),
            "{:.2f}",
            "s",
        ),
        Figure(
            "lists",
            "part of the device's time that contact lists take there",
            SHOTS,
            of_shots(lambda row: 100 * row["parts_of_device_time"]["contact lists"]),
            "{:.0f}",
            "%",
        ),
    ],
    level=3,
    everywhere=True,
)

# ---------------------------------------------------------------- cells

NAMES = ("cells", "balls")
FEW = {"cells": " --set body.box.packing.cells=200", "balls": " --set body.box.packing.elements=200"}
SHORT, LONG = 4, 400  # steps


def shot(name, to, where, more=""):
    return f"cullet run tools/figures/{name}.toml --to {to} --out OUT/{where}{more}"


def whole(few):
    """Both boxes run and looked at."""
    return "\n".join(
        [shot(name, "simulate", name, few.get(name, "")) for name in NAMES]
        + [f"cullet inspect OUT/{name} --json" for name in NAMES]
    )


def twice(few):
    """Both boxes by a few steps and by many, packing apart."""
    lines = []
    for name in NAMES:
        for steps in (SHORT, LONG):
            where = f"{name}{steps}"
            end = f" --set time.end={steps}e-6 --set time.frames_per_second={1e6 / steps:g}"
            lines += [shot(name, "pack", where, end + few.get(name, "")), f"cullet simulate OUT/{where}"]
    return "\n".join([*lines, *(f"cullet inspect OUT/{name}{LONG} --json" for name in NAMES)])


def stepped(printed):
    """Element-steps a second of the whole stage, both boxes."""
    told = [one.json for one in printed[2:]]
    return [M * one["elements"] * one["last"]["step"] / one["stages"]["simulate"]["seconds"] for one in told]


def by_user_time(printed):
    """The same, by the time of the processor."""
    user = [one.user for one in printed]
    apart = [(user[3] - user[1]) / cores(), (user[7] - user[5]) / cores()]
    told = [one.json["elements"] for one in printed[8:]]
    # Runs of a tiny size take no time that could be told.
    return [M * elements * (LONG - SHORT) / max(seconds, 1e-3) for elements, seconds in zip(told, apart)]


def per_element(key, scale, table="simulate"):
    """Reads both boxes, on one thread."""
    return lambda printed: [value for at in (2, 3) for value in column(key, scale, table, at, threads=1)(printed)]


WHOLE = run(1, whole({}), whole(FEW))
TWICE = run(1, twice({}), twice(FEW))


def stored(few, steps):
    """Steps of both boxes, packed before."""
    lines = [shot(name, "pack", name, few.get(name, "")) for name in NAMES]
    return "\n".join([*lines, *(f"bench --store OUT/{name} --threads 1 --steps {steps} --json" for name in NAMES)])


PACKED = run(1, stored({}, 100), stored(FEW, 3))
CELLS_GROUP = Group(
    "cells",
    "Cells",
    """
A box of 100,000 Voronoi cells that turns, and the same box of about as many balls in a hexagonal packing;
nothing breakable, no damping, single precision, all threads.
""",
    [
        Figure("rate", "millions of element-steps a second: cells; balls; start-up included", WHOLE, stepped),
        Figure("user", "the same by user time, as if all threads had it alike; without start-up", TWICE, by_user_time),
        Figure(
            "bytes",
            "memory that a step reads and writes: a cell; a ball",
            PACKED,
            per_element("bytes_per_element_step", 1e-3),
            "{:.1f}",
            "kB",
        ),
        Figure(
            "bonds",
            "faces or bonds, each between two: a cell; a ball",
            PACKED,
            per_element("bonds_per_element", 2),
            "{:.1f}",
        ),
    ],
)

# ---------------------------------------------------------------- sliding

SLABS = ("box", "mesh", "coarse", "fine")


def sliding(slabs=SLABS, rows="", end=""):
    """A plate that slides on four slabs."""
    lines = [f"python tools/figures/slabs.py OUT{rows}"]
    lines += [f"cullet run OUT/{name}.toml --to simulate --out OUT/{name}{end}" for name in slabs]
    return "\n".join([*lines, *(f"cullet inspect OUT/{name} --json" for name in slabs)])


SLIDING = run(1, sliding(), sliding(SLABS[:2], " 8 6", " --set time.end=1e-5 --set time.frames_per_second=1e5"))
STEPS_GROUP.figures.append(
    Figure(
        "sliding",
        "a plate of 5,016 elements in one layer, all sliding on a box; on a mesh of that box; with its top in 3,200"
        " triangles; in 80,000, each as wide as a radius",
        SLIDING,
        lambda printed: [M * one.json["element_steps_per_second"] for one in printed if one.text.startswith("{")],
    )
)

GROUPS = [STEPS_GROUP, LAMMPS_GROUP, RANKS_GROUP, DEVICE_GROUP, CARD_GROUP, CELLS_GROUP]
