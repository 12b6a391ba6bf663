"""Cost of a frame of each shot of the implicit papers at the published size: by implicit and explicit steps, and the choice of `auto`.

    cargo build --release && python3 tools/implicit_sizes.py [--list] [--steps N] [--scale SCALE] [--cullet PROGRAM] [ROW …]      (pip install duckdb)

For each row, prints a line of the table in pipelines/README.md: elements, length of the implicit step, seconds per frame by implicit steps (three frames;
where a published frame takes more than N steps, 12 by default, three stretches of N / 3 steps, extrapolated and marked "≈"), by explicit ones (extrapolated
from 200 steps), how many times faster implicit steps are, the choice of `integrator = "auto"`, and as published: elements, seconds per frame explicit and
implicit (Lu et al. 2025, Tables 1 and 2, Core i7-13700K; Zhang et al. 2024, Tables 1 and 2, GTX 1080 Ti). Frames are the published ones, regardless of the file's
own rate. Measured from the start of the shot, before most of it breaks, with steps not halved where bonds break (`simulate.implicit.halvings = 0`), as in
the papers. --scale smoke tests the tool on small shots."""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import duckdb

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = ROOT / "target/release/cullet"
LONG, SLOW = 1 / 60, 1 / 480
# Row: shot, scale, settings; implicit step and frame, s; as published: elements, seconds a frame explicit, implicit.
ROWS = {
    "stretch": ("stretch", "paper", {}, 0.016, 0.016, "19K", 34.6, 3.52),
    "twist": ("twist", "paper", {}, LONG / 11, LONG, "19K", 34.6, 14.76),
    "drape": ("drape", "paper", {}, LONG / 2, LONG, "64K", 2230.9, 711.7),
    "drape, soft": ("drape", "paper_soft", {}, LONG / 7, LONG, "124K", 255.2, 121.9),
    "chocolate": ("chocolate", "paper", {}, SLOW / 47, SLOW, "58K", 857.8, 343.8),
    "chocolate, soft": ("chocolate", "soft", {}, SLOW / 47, SLOW, "22K", None, 106.8),
    "plate": ("plate_drop", "paper", {}, SLOW / 60, SLOW, "219K", 4564.6, 1911.8),
    "cloth": ("textile_tear", "paper_stiff", {}, SLOW / 120, SLOW, "165K", 1299.6, 394.2),
    "spring": ("spring", None, {}, 5e-3, 0.02, "2.4K", 3.76, 0.50),
    "cantilever": ("cantilever", "paper", {}, 0.02, 0.02, "50.6K", 3.45, 0.93),
    "cantilever, stiff": ("cantilever", "paper_stiff", {}, 0.02, 0.02, "50.6K", 9.41, 1.16),
    "beam bending": ("beam_bending", "rod", {}, 2e-4, 0.01, "28.1K", 30.45, 15.62),
    "beam twisting": ("beam_twisting", "rod", {}, 2e-4, 0.01, "52.5K", None, 18.58),
    "bunny": ("bunny_wall", None, {}, 1e-4, 0.01, "25.8K", 28.19, 21.06),
    "thin plate": ("thin_plate", None, {}, 1e-4, 0.01, "24.2K", 58.40, 17.75),
    "thick plate": ("thick_plate", "paper", {}, 5e-5, 0.01, "129.5K", 5.90, 14.06),
    "Hertzian cone": ("hertzian_cone", None, {}, 3e-5, 1e-3, "62.7K", None, 11.30),
}
EXPLICIT_STEPS = 200
# Explicit steps over the critical one, the default of `time.fraction`.
FRACTION = 0.6


def runner(program):
    """Function that runs the program with some arguments and returns its output."""

    def cullet(*words):
        done = subprocess.run([program, *words], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout

    return cullet


def arguments(settings):
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def measure(cullet, file, settings, step, frames, steps, store):
    """Seconds per step, the median over frames of `steps` steps; and the number of elements."""
    interval = steps * step
    timing = {"time.end": frames * interval * 1.0001, "time.step": step, "time.frames_per_second": 1 / interval}
    # An existing packing is kept.
    cullet("run", file, *arguments(settings | timing), "--out", str(store), "--to", "simulate", "--quiet")
    rows = duckdb.sql(f"SELECT seconds FROM read_parquet('{store}/history/*.parquet') WHERE frame > 0 ORDER BY frame").fetchall()
    elements = json.loads(cullet("inspect", str(store), "--json"))["elements"]
    return statistics.median(row[0] for row in rows) / steps, elements


def row(cullet, name, folder, most, other):
    shot, scale, settings, step, frame, *published = ROWS[name]
    scale = other or scale
    file = str(ROOT / "pipelines" / f"{shot}.toml")
    settings = settings | {"simulate.backend": "cpu"} | ({"scale": scale} if scale else {})
    # The file's own step, if it is an implicit one.
    own = next((line.split('"')[1] for line in open(file) if line.startswith("integrator")), "auto")
    integrator = own if own not in ("auto", "explicit") else "midpoint"
    auto = {"simulate.integrator": "auto", "time.frames_per_second": 1 / frame, "time.end": 3.0001 * frame, "time.step": step}
    chosen = json.loads(cullet("check", file, *arguments(settings | auto), "--json"))["integrator"]
    store = folder / "store"
    explicit = settings | {"simulate.integrator": "explicit", "simulate.law": "bdem"}
    # The file's own step may be an implicit one, far beyond the critical one.
    short = {"time.end": 1e-6, "time.frames_per_second": 1e7, "time.step": 1e-8}
    dt = FRACTION * json.loads(cullet("check", file, *arguments(explicit | short), "--json"))["critical_step"]
    slow, elements = measure(cullet, file, explicit, dt, 1, EXPLICIT_STEPS, store)
    slow *= frame / dt
    steps = round(frame / step)
    # As in the papers: no step is repeated with halved length where bonds break.
    implicit = settings | {"simulate.integrator": integrator, "simulate.implicit.halvings": 0}
    if shot not in ("cantilever", "spring") and "simulate.law" not in settings:
        implicit["simulate.law"] = "cosserat" if name in list(ROWS)[7:] else "manifold"
    part = steps if steps <= most else max(most // 3, 1)
    try:
        fast, _ = measure(cullet, file, implicit, step, 3, part, store)
        fast *= steps
    except RuntimeError as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        fast = None
    shutil.rmtree(store)
    columns = [
        name,
        f"{elements / 1e3:.1f}K" if elements < 1e5 else f"{elements / 1e3:.0f}K",
        f"{step:.3g} s" if step >= 1e-3 else f"{step * 1e6:.3g} µs",
        "stops" if fast is None else f"{'≈ ' if part < steps else ''}{fast:.3g} s",
        f"≈ {slow:.3g} s",
        "" if fast is None else f"{slow / fast:.2g}",
        chosen,
        f"{published[0]}, {published[1] if published[1] else '–'}, {published[2]} s",
    ]
    print("| " + " | ".join(columns) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="list the names of the rows")
    parser.add_argument("--steps", type=int, default=12, help="number of implicit steps measured if a frame takes more")
    parser.add_argument("--scale", help="scale of the pipeline files; default: the published one")
    parser.add_argument("--cullet", default=str(BUILT), help="the program; default: target/release/cullet")
    parser.add_argument("rows", nargs="*", metavar="ROW")
    given = parser.parse_args()
    if given.list:
        print("\n".join(ROWS))
        return
    unknown = [name for name in given.rows if name not in ROWS]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; --list names them")
    for name in given.rows or ROWS:
        with tempfile.TemporaryDirectory() as folder:
            row(runner(given.cullet), name, pathlib.Path(folder), given.steps, given.scale)


if __name__ == "__main__":
    main()
