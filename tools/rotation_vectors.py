#!/usr/bin/env python3
"""Newton's method on the manifold against rotation vectors, in three-point bending (Lu et al. 2025, Figure 6).

    python3 -m venv venv && venv/bin/pip install pyarrow
    venv/bin/python tools/rotation_vectors.py [--step 1 4 16] [--young 1e7 1e8 1e9] [--cullet PROGRAM] [--json]

For each length of the step and each Young's modulus, `pipelines/beam_bending.toml` at smoke size (384 elements, unbreakable) is run by Euler steps, and some
of its steps, spread evenly, are solved by every method from the same state and guess (`output.convergence`). Reported are the mean iterations until the
residual is below the tolerance: on the manifold; in rotation vectors with exact second derivatives; in rotation vectors by Gauss–Newton, which the paper
says that ADD (Geilinger et al. 2020) needs. A method that does not get there counts with the iterations it took, and `failed` says in how many steps.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import beam_bending as beam

METHODS = ("newton", "rotation_vectors", "rotation_vectors_gauss_newton")
SHEAR = 0.3  # of Young's modulus, as in the shot


def compared(cullet, store, settings, step, number, tolerance):
    """Iterations of each method in the step of this number, and whether it got below the tolerance."""
    import pyarrow.parquet as parquet

    span = number * step
    settings = settings | {
        "time.step": step,
        "time.end": 1.0001 * span,
        "time.frames_per_second": 1 / span,
        "output.convergence": number,
        "simulate.implicit.tolerance": tolerance,
    }
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    # The packing of an earlier run is kept.
    run = [cullet, "run", beam.SHOT, "--set", "scale=smoke", *sets, "--to", "simulate", "--out", store, "--quiet"]
    subprocess.run(run, check=True)
    table = parquet.read_table(store / "convergence/000001.parquet").to_pydict()
    found = {}
    for method in METHODS:
        rows = [row for row, name in enumerate(table["method"]) if name == method]
        found[method] = table["iteration"][rows[-1]], table["residual"][rows[-1]] <= tolerance
    return found


def measure(cullet, store, step, young, end, samples, tolerance):
    """Mean iterations of each method over steps spread evenly up to `end`."""
    settings = {
        "simulate.integrator": "backward_euler",
        "simulate.backend": "cpu",
        "material.stone.young": young,
        "material.stone.shear": SHEAR * young,
        "material.stone.tensile_strength": 1e20,
        "material.stone.shear_strength": 1e20,
    }
    numbers = sorted({max(1, round(end * k / samples / step)) for k in range(1, samples + 1)})
    found = [compared(cullet, store, settings, step, number, tolerance) for number in numbers]
    mean = {method: sum(one[method][0] for one in found) / len(found) for method in METHODS}
    failed = {method: sum(not one[method][1] for one in found) for method in METHODS}
    return {"step": step, "young": young, "steps": numbers, "iterations": mean, "failed": failed} | mean


def main():
    parser = argparse.ArgumentParser(description="Newton's method on the manifold against rotation vectors.")
    parser.add_argument("--step", type=float, nargs="+", default=[1, 4, 16], help="lengths of the step, ms")
    parser.add_argument("--young", type=float, nargs="+", default=[1e7, 1e8, 1e9], help="Young's moduli of the bonds, Pa")
    parser.add_argument("--end", type=float, default=64, help="time of the last step that is compared, ms")
    parser.add_argument("--samples", type=int, default=4, help="steps that are compared")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="residual to reach")
    parser.add_argument("--cullet", type=Path, help="the program; default: built from this repository")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    given = parser.parse_args()
    cullet = given.cullet or beam.build_program()
    found = []
    if not given.json:
        print("step ms  Young Pa  manifold  rotation vectors  the same, Gauss-Newton  failed")
    with tempfile.TemporaryDirectory() as folder:
        for young in given.young:
            for step in given.step:
                row = measure(cullet, Path(folder) / "run", step * 1e-3, young, given.end * 1e-3, given.samples, given.tolerance)
                found.append(row)
                if not given.json:
                    newton, vectors, gauss = (row[method] for method in METHODS)
                    failed = "/".join(str(row["failed"][method]) for method in METHODS)
                    print(f"{step:7g}  {young:8.0e}  {newton:8.2f}  {vectors:16.2f}  {gauss:22.2f}  {failed:>6}", flush=True)
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
