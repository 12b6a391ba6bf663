"""Measurements of whole shots, packing, files and surfaces."""

import re

from .measurement import Figure, Group, clocks, column, path, paths, peaks, run

# ---------------------------------------------------------------- packing, frames, states

STAGES = run(
    4,
    "bench --only pack,reconstruct,export,store --json",
    "bench --only pack,reconstruct,export,store --stage-elements 1e4 --json",
)


def stages(*names):
    """Reads the best seconds of stages."""
    return lambda printed: [value for name in names for value in column("seconds", 1, "stages", stage=name)(printed)]


def noted(stage, pattern):
    """Reads numbers out of the note of a stage."""

    def read(printed):
        [row] = [row for row in printed[0].json["stages"] if row["stage"] == stage]
        return [float(found) for found in re.findall(pattern, row["note"])]

    return read


def cans(counts):
    lines = [f"cullet pack tools/figures/can.toml --set body.can.packing.elements={n} --out OUT/{n}" for n in counts]
    return "\n".join([*lines, *(f"cullet inspect OUT/{n} --json" for n in counts)])


CANS = run(2, cans((30000, 495000)), cans((1000, 2000)))
VORONOI = run(
    1,
    """
    cullet pack tools/figures/cells.toml --out OUT/box
    cullet pack pipelines/voronoi_bunny.toml --set body.bunny.packing.cells=100000 --out OUT/bunny
    cullet inspect OUT/box --json
    cullet inspect OUT/bunny --json
    """,
    """
    cullet pack tools/figures/cells.toml --set body.box.packing.cells=100 --out OUT/box
    cullet pack pipelines/voronoi_bunny.toml --set body.bunny.packing.cells=100 --out OUT/bunny
    cullet inspect OUT/box --json
    cullet inspect OUT/bunny --json
    """,
)


def of_both(read):
    """Reads both stores that the last two commands looked at."""
    return lambda printed: [read(one.json) for one in printed[2:]]


packed = of_both(lambda told: told["stages"]["pack"]["seconds"])
RANDOM = "pack, random in a box"
PACKING_GROUP = Group(
    "packing",
    "Packing, frames, states",
    "Seconds, the best of a few runs.",
    [
        Figure(
            "hexagonal",
            "packing the bunny hexagonally with 1 million elements",
            STAGES,
            stages("pack, hexagonal in the bunny"),
            "{:.2f}",
            "s",
        ),
        Figure(
            "random",
            "random close packing of 100 thousand equal spheres in a box",
            STAGES,
            stages(RANDOM),
            "{:.1f}",
            "s",
        ),
        Figure("filling", "how full that is", STAGES, noted(RANDOM, r"([\d.]+) % full"), "{:.2f}", "%"),
        Figure(
            "overlap", "the largest overlap in it, over the radius", STAGES, noted(RANDOM, r"overlap (\S+) r"), "{:.0e}"
        ),
        Figure("contacts", "contacts of an element in it", STAGES, noted(RANDOM, r"([\d.]+) contacts"), "{:.2f}"),
        Figure(
            "frame",
            "a frame of 1 million elements: captured; written; read",
            STAGES,
            stages("frame taken from a run", "frame written", "frame read"),
            "{:.2f}",
            "s",
        ),
        Figure(
            "frame_bytes",
            "the same on disk, an element",
            STAGES,
            noted("frame written", r"^([\d.]+) bytes"),
            unit="bytes",
        ),
        Figure(
            "state",
            "a state of 1 million elements: captured, with a frame; written; read",
            STAGES,
            stages("state taken, with a frame", "state written", "state read"),
            "{:.2f}",
            "s",
        ),
        Figure(
            "behind",
            "what frames cost that are written while steps go on, one every 100, 100 thousand elements: best; medians",
            STAGES,
            noted("3000 steps with 31 frames, 4 states", r"([+-][\d.]+) %"),
            "{:+.1f}",
            "%",
        ),
        Figure(
            "voronoi",
            "packing 100,000 Voronoi cells: in a box, 5 rounds of Lloyd; in the bunny, 10",
            VORONOI,
            packed,
            unit="s",
        ),
        Figure(
            "shell",
            "packing the shell of a can in three layers, about 30 and 495 thousand elements",
            CANS,
            packed,
            unit="s",
        ),
        Figure(
            "shell_bonds", "bonds of an element in it", CANS, of_both(lambda told: 2 * told["bonds"] / told["elements"])
        ),
        Figure(
            "shell_overlap",
            "the largest overlap in it, over the radius",
            CANS,
            of_both(lambda told: told["bodies"][0]["overlap"]),
            "{:.0e}",
        ),
    ],
)

# ---------------------------------------------------------------- meshes

SIZES = (25_000, 100_000, 400_000)


def closing(sizes):
    lines = [f"python tools/make_faulty_balls.py OUT/balls {' '.join(map(str, sizes))}"]
    kinds = ("faults", "panels")
    return "\n".join(lines + [f"cullet check --mesh OUT/balls/{kind}_{size}.obj" for kind in kinds for size in sizes])


CLOSING = run(1, closing(SIZES), closing((500, 2_000, 8_000)))
CLOSING_GROUP = Group(
    "closing",
    "Meshes that bound no solid",
    """
Balls of 25, 100 and 400 thousand triangles. Seconds are those of whole processes that read the file, find its faults
and close it. A wrap has 100 cells across the ball.
""",
    [
        Figure("repair", "50 faults repaired", CLOSING, clocks(1, 2, 3), "{:.2f}", "s"),
        Figure("repair_memory", "peak memory of it", CLOSING, peaks(1, 2, 3), "{:.0f}", "MB"),
        Figure("wrap", "20 panels that do not meet, wrapped", CLOSING, clocks(4, 5, 6), "{:.2f}", "s"),
        Figure("wrap_memory", "peak memory of it", CLOSING, peaks(4, 5, 6), "{:.0f}", "MB"),
    ],
)

# ---------------------------------------------------------------- surfaces


def world(sets):
    lines = [f"cullet run pipelines/bunny_drop.toml --set reconstruct.mode=world {sets} --to simulate --out OUT/bunny"]
    for threads in ("", " --threads 1"):
        lines += [f"cullet reconstruct OUT/bunny --frames {frames}{threads}" for frames in ("0..1", "1..2")]
    return "\n".join([*lines, "cullet inspect OUT/bunny --json"])


WORLD = run(
    2,
    world("--set body.bunny.packing.elements=100000 --set 'time.end=\"0.9 ms\"'"),
    world("--set body.bunny.packing.elements=500 --set 'time.end=\"0.9 ms\"'"),
)
SPLASH = run(
    6,
    "python tools/compare_splashsurf.py --json",
    "python tools/compare_splashsurf.py --rows 48 12 12 --rounds 1 --voxels 1 --json",
)
LARGE = run(
    6,
    "python tools/compare_splashsurf.py --rows 256 64 64 --rounds 1 --voxels 0.8 --part speed --json",
    "python tools/compare_splashsurf.py --rows 48 12 12 --rounds 1 --voxels 1 --part speed --json",
)


def speed(who, frame):
    return lambda printed: [row["seconds"][who] for row in printed[0].json["speed"] if row["frame"] == frame]


def rebuilt(printed):
    """A further frame over a whole rebuild, each number of planes, %"""
    return [100 * row["another_frame"] / row["seconds"]["broken"] for row in printed[0].json["cracks"]]


SURFACES_GROUP = Group(
    "surfaces",
    "Surfaces",
    """
A hundred thousand elements. Seconds are the best of a few runs, or of whole processes that read and write
files.
""",
    [
        Figure(
            "bunny",
            "in the bunny: first surface; cut in eight; a further frame",
            STAGES,
            stages("reconstruct, first frame", "reconstruct, cut in eight", "reconstruct, further frame"),
            "{:.2f}",
            "s",
        ),
        Figure(
            "exports",
            "three frames of it exported: USD; GLB; OBJ; PLY",
            STAGES,
            stages("export USD", "export GLB", "export OBJ", "export PLY"),
            "{:.2f}",
            "s",
        ),
        Figure("world", "in `world` mode, whole process: whole; in pieces", WORLD, clocks(1, 2), "{:.2f}", "s"),
        Figure("world_one", "the same on 1 thread", WORLD, clocks(3, 4), "{:.2f}", "s"),
        Figure(
            "world_memory", "the same on all threads, peak memory: whole; in pieces", WORLD, peaks(1, 2), "{:.0f}", "MB"
        ),
        Figure("world_pieces", "fragments in the second frame", WORLD, path("last", "fragments"), "{:,.0f}"),
    ],
)
SPLASH_GROUP = Group(
    "splashsurf",
    "Surfaces against splashsurf",
    """
A block of 96 × 32 × 32 elements, voxels of 1, 0.8, 0.5 radii, 2 threads, medians. Of cullet a whole process
with files is timed, of splashsurf a call in memory, which knows no fragments, skin or crack faces.
""",
    [
        Figure("whole", "whole block: cullet", SPLASH, speed("cullet", "whole"), "{:.2f}", "s"),
        Figure("whole_splashsurf", "whole block: splashsurf", SPLASH, speed("splashsurf", "whole"), "{:.2f}", "s"),
        Figure("broken", "a tenth of the bonds broken: cullet", SPLASH, speed("cullet", "broken"), "{:.2f}", "s"),
        Figure("broken_splashsurf", "the same: splashsurf", SPLASH, speed("splashsurf", "broken"), "{:.2f}", "s"),
        Figure("fragments", "fragments of it", SPLASH, path("fragments"), "{:,.0f}"),
        Figure(
            "cracks",
            "cut by 1, 2, 4, 8, 16 planes: time of the cracks",
            SPLASH,
            column("cracks", 1e3, "cracks"),
            "{:.0f}",
            "ms",
        ),
        Figure(
            "area",
            "the same over the area of the cracks",
            SPLASH,
            column("cracks_per_area", 0.1, "cracks"),
            "{:.1f}",
            "ms/cm²",
        ),
        Figure(
            "further",
            "a further frame of them without a break",
            SPLASH,
            column("another_frame", 1e3, "cracks"),
            "{:.0f}",
            "ms",
        ),
        Figure("rebuilt", "the same over a whole rebuild", SPLASH, rebuilt, "{:.0f}", "%"),
        Figure(
            "memory",
            "256 × 64 × 64 elements, broken: peak memory of the largest process",
            LARGE,
            peaks(0),
            "{:,.0f}",
            "MB",
        ),
    ],
    level=3,
)

# ---------------------------------------------------------------- whole shots


def all_stages(name, more=""):
    return f"""
    cullet pack pipelines/{name}.toml{more} --out OUT/{name}
    cullet simulate OUT/{name}
    cullet run pipelines/{name}.toml{more} --out OUT/{name}
    cullet inspect OUT/{name} --json
    """


TINY = " --set scale=smoke --set 'time.end=\"1 ms\"'"
BUNNY = run(6, all_stages("bunny_drop"), all_stages("bunny_drop", TINY + " --set body.bunny.packing.elements=300"))
TWIST = run(
    2, all_stages("beam_twisting"), all_stages("beam_twisting", " --set scale=smoke --set 'time.end=\"0.02 s\"'")
)


def paper(scale, more=""):
    return f"""
    cullet run pipelines/beam_twisting.toml --set scale={scale}{more} --to simulate --out OUT/twisting
    cullet inspect OUT/twisting --json
    """


PAPER = run(5, paper("paper"), paper("smoke", " --set 'time.end=\"0.02 s\"'"))


def block(more=""):
    return f"""
    cullet pack tools/figures/block.toml --out OUT/block{more}
    cullet simulate OUT/block
    """


BLOCK = run(0.5, block(), block(" --set 'body.block.shape.rows=[6, 6, 6]'"))


def spent(*names):
    """Reads the seconds of stages; all of them without a name."""

    def read(printed):
        told = printed[-1].json["stages"]
        return [told[name]["seconds"] for name in names] if names else [sum(one["seconds"] for one in told.values())]

    return read


COUNTS = paths("elements", "bonds", "last.step", "frames", "last.fragments")
PARTS = spent("pack", "simulate", "reconstruct", "export usd", "preview")
SHOTS_GROUP = Group(
    "shots",
    "Whole shots",
    "",
    [
        Figure("bunny", "`bunny_drop`, all stages", BUNNY, spent(), "{:.0f}", "s"),
        Figure("bunny_parts", "the same: packing; simulate; reconstruct; USD; preview", BUNNY, PARTS, unit="s"),
        Figure("bunny_counts", "the same: elements; bonds; steps; frames; fragments", BUNNY, COUNTS, "{:,.0f}"),
        Figure("bunny_memory", "peak memory of its simulate", BUNNY, peaks(1), "{:.0f}", "MB"),
        Figure("twisting", "`beam_twisting`, all stages", TWIST, spent(), "{:.0f}", "s"),
        Figure("twisting_parts", "the same: packing; simulate; reconstruct; USD; preview", TWIST, PARTS, unit="s"),
        Figure("twisting_counts", "the same: elements; bonds; steps; frames; fragments", TWIST, COUNTS, "{:,.0f}"),
        Figure("paper", "`beam_twisting` at `scale=paper`, simulate alone", PAPER, spent("simulate"), "{:.0f}", "s"),
        Figure(
            "paper_frame",
            "the same: a frame (published, GTX 1080 Ti, with a step a quarter as long: 9.3 s)",
            PAPER,
            path("frame_seconds", "mean"),
            unit="s",
        ),
        Figure(
            "paper_counts",
            "the same: elements; steps; bonds broken",
            PAPER,
            paths("elements", "last.step", "last.broken"),
            "{:,.0f}",
        ),
        Figure(
            "block_memory", "peak memory of simulate, a block of 1 million elements", BLOCK, peaks(1), "{:.0f}", "MB"
        ),
    ],
)

# ---------------------------------------------------------------- sleep


def with_and_without_sleep(more=""):
    shot = f"cullet run pipelines/bunny_drop.toml{more} --to simulate"
    return f"""
    {shot} --out OUT/awake
    {shot} --set simulate.sleep=true --out OUT/asleep
    """


SLEEP = run(4, with_and_without_sleep(), with_and_without_sleep(TINY + " --set body.bunny.packing.elements=300"))


def clocks(printed):
    return [one.seconds for one in printed]


def times_as_fast(printed):
    awake, asleep = clocks(printed)
    return [awake / asleep]


def two_seconds(size, awake):
    shot = f"cullet run pipelines/bunny_drop.toml --set scale=seconds --set body.bunny.packing.elements={size} --to simulate"
    return f"""
    {shot} --out OUT/asleep
    {shot} --set simulate.sleep=false --set time.frames_per_second=1000 --set 'time.end="{awake} ms"' --out OUT/awake
    """


# Time stepped without sleep, ms.
STEPPED = 3
SECONDS = run(2, two_seconds(8000, STEPPED), two_seconds(100, 1))


def two_clocks(printed):
    asleep, awake = clocks(printed)
    return [asleep, awake * 2000 / STEPPED]


def times_as_fast_for_seconds(printed):
    asleep, awake = two_clocks(printed)
    return [awake / asleep]


SLEEP_GROUP = Group(
    "sleep",
    "Shots with sleep",
    "The 30 ms of `bunny_drop` packed and simulated, fracture and all, with every element stepped at every step and with"
    " fragments that sleep. Then two seconds, until the pieces lie still, with a stiffer material and 8,000 elements;"
    f" without sleep these are extrapolated from the first {STEPPED} ms.",
    [
        Figure("clock", "without sleep; with sleep", SLEEP, clocks, "{:.0f}", "s"),
        Figure("ratio", "how many times as fast", SLEEP, times_as_fast),
        Figure("seconds_clock", "two seconds: with sleep; without", SECONDS, two_clocks, "{:,.0f}", "s"),
        Figure("seconds_ratio", "how many times as fast", SECONDS, times_as_fast_for_seconds, "{:.0f}"),
    ],
    level=3,
)

GROUPS = [PACKING_GROUP, CLOSING_GROUP, SURFACES_GROUP, SPLASH_GROUP, SHOTS_GROUP, SLEEP_GROUP]
