#!/usr/bin/env python3
"""Run time of explicit and implicit steps over Young's modulus and over the number of elements, of a beam that sags (Lu et al. 2025, Figures 11 and 12).

    python3 -m venv venv && venv/bin/pip install pyarrow
    venv/bin/python tools/stiffness_sweep.py [--young 1e6 1e7 1e8 1e9] [--rows 4 6 8] [--cullet PROGRAM] [--json]

The beam is that of `pipelines/drape.toml`, 40 times as many rows along it as across. The first rows are run with every Young's modulus (Figure 11), the
other rows with the last one (Figure 12). Implicit Euler steps of 8.334 ms, half a frame, are timed over the first --span of the fall. Explicit steps of
0.6 critical ones, by the law `bdem` of Lu et al. 2021, are timed over --steps steps only and extrapolated: each costs the same. Both are reported per second
of simulated time, without packing and start-up. Run nothing else meanwhile.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import beam_bending as beam

SHOT = beam.ROOT / "pipelines/drape.toml"
SIDE, SHEAR = 78e-3, 0.4  # radius times rows, m; shear over Young's modulus, as in the shot
STEP = 8.334e-3  # of the shot, s
FRACTION = 0.6  # explicit step over the critical one, the default of `time.fraction`
EXPLICIT = {"simulate.integrator": "explicit", "simulate.law": "bdem"}
IMPLICIT = {"simulate.integrator": "backward_euler", "simulate.law": "manifold"}


def overrides(settings):
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def history(cullet, store, settings, step, steps, frames):
    """The history of a run of some frames of `steps` steps."""
    import pyarrow.parquet as parquet

    interval = steps * step
    timing = {"time.step": step, "time.end": 1.0001 * frames * interval, "time.frames_per_second": 1 / interval}
    # The packing of an earlier run is kept.
    run = [cullet, "run", SHOT, *overrides(settings | timing), "--to", "simulate", "--out", store, "--quiet"]
    subprocess.run(run, check=True)
    return parquet.read_table(store / "history").sort_by("frame").to_pydict()


def critical_step(cullet, settings):
    """Longest stable explicit step, s."""
    # The shot's own step is far beyond it.
    short = {"time.step": 1e-9, "time.end": 1e-6, "time.frames_per_second": 1e7}
    check = [cullet, "check", SHOT, *overrides(settings | short), "--json"]
    return json.loads(subprocess.run(check, check=True, capture_output=True, text=True).stdout)["critical_step"]


def measure(cullet, store, young, rows, span, steps):
    """Seconds per simulated second by explicit and by implicit steps."""
    import pyarrow.parquet as parquet

    settings = {
        "simulate.backend": "cpu",
        "material.rubber.young": young,
        "material.rubber.shear": SHEAR * young,
        "body.beam.shape.rows": f"[{40 * rows}, {rows}, {rows}]",
        "body.beam.packing.radius": SIDE / rows,
    }
    step = FRACTION * critical_step(cullet, settings | EXPLICIT)
    frames = history(cullet, store, settings | EXPLICIT, step, steps, 3)
    # The first frame is the state at the start.
    explicit = statistics.median(frames["seconds"][1:]) / (steps * step)
    frames = history(cullet, store, settings | IMPLICIT, STEP, 1, max(round(span / STEP), 1))
    implicit = sum(frames["seconds"][1:]) / ((len(frames["seconds"]) - 1) * STEP)
    return {
        "young": young,
        "rows": rows,
        "elements": parquet.read_metadata(store / "packing/elements.parquet").num_rows,
        "critical_steps": FRACTION * STEP / step,
        "explicit": explicit,
        "implicit": implicit,
        "ratio": implicit / explicit,
        "newton": frames["newton"][-1] / frames["solves"][-1],
    }


def main():
    parser = argparse.ArgumentParser(description="Run time of explicit and implicit steps over stiffness and size.")
    parser.add_argument("--young", type=float, nargs="+", default=[1e6, 1e7, 1e8, 1e9], help="Young's moduli of the bonds, Pa")
    parser.add_argument("--rows", type=int, nargs="+", default=[4, 6, 8], help="rows and layers of the beam; 40 times as many along it")
    parser.add_argument("--span", type=float, default=0.5, help="simulated time by implicit steps, s")
    parser.add_argument("--steps", type=int, default=300, help="explicit steps of each of three stretches; the median counts")
    parser.add_argument("--cullet", type=Path, help="the program; default: built from this repository")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    given = parser.parse_args()
    cullet = given.cullet or beam.build_program()
    cases = [(young, given.rows[0], "young") for young in given.young]
    cases += [(given.young[-1], rows, "rows") for rows in given.rows[1:]]
    found = []
    if not given.json:
        print("Young Pa  elements  critical steps  Newton a step  explicit s/s  implicit s/s  implicit/explicit")
    with tempfile.TemporaryDirectory() as folder:
        for young, rows, over in cases:
            row = measure(cullet, Path(folder) / f"rows{rows}", young, rows, given.span, given.steps) | {"over": over}
            found.append(row)
            if not given.json:
                print(
                    f"{young:8.0e}  {row['elements']:8}  {row['critical_steps']:14.0f}  {row['newton']:13.2f}  {row['explicit']:12.3g}  "
                    f"{row['implicit']:12.3g}  {row['ratio']:17.3g}",
                    flush=True,
                )
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
