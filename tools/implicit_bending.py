#!/usr/bin/env python3
"""Three-point bending (pipelines/beam_bending.toml) by explicit and implicit steps.

    python3 -m venv venv && venv/bin/pip install numpy scipy pyarrow
    venv/bin/python tools/implicit_bending.py [--rows 7 11 24] [--step 0.2 0.1] [--cullet PROGRAM] [--json]

The unchanged shot is run until the beam breaks, by each integrator and law. Reported are E by eq. 29 of Lu et al. 2021 from the slope of load over the
displacement of the middle (fitted as in `tools/beam_bending.py`), the strength by the same equation from the largest load until the first bonds break, the
frame of that (Lu et al. 2025, Table 2), seconds per frame, and Newton iterations per solve. --step gives the lengths of implicit steps in milliseconds, 0.2
as in Zhang et al. 2024, Table 3.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import beam_bending as beam

METHODS = {
    "explicit": {},
    "manifold": {"simulate.integrator": "backward_euler", "simulate.law": "manifold"},
    "cosserat, kappa 1": {"simulate.integrator": "backward_euler", "simulate.law": "cosserat", "simulate.shear_correction": 1},
    "cosserat": {"simulate.integrator": "backward_euler", "simulate.law": "cosserat"},
}


def measure(cullet, rows, method, step, end):
    import numpy as np
    import pyarrow.parquet as parquet

    case = {"rows": rows, "random": False, "elasticity": "bond"}
    overrides = {"time.end": end, "simulate.backend": "cpu"} | METHODS[method]
    if step:
        overrides["time.step"] = step * 1e-3
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "run"
        clock = time.monotonic()
        beam.simulate(cullet, case, store, overrides)
        wall = time.monotonic() - clock
        load, middle, _ = beam.load_curve(store)
        history = parquet.read_table(store / "history").to_pydict()
        count = parquet.read_metadata(store / "packing/elements.parquet").num_rows
    broken = np.array(history["broken"])
    frame = int(np.nonzero(broken)[0][0]) if broken[-1] else None
    fitted = (0.5e-3 <= middle) & (middle <= 4e-3) & (np.arange(len(middle)) < (frame or len(middle)) - 1)
    slope = np.polyfit(middle[fitted], load[fitted], 1)[0]
    top = float(load[:frame].max())
    newton = history.get("newton")
    return {
        "elements": count,
        "rows": rows,
        "method": method,
        "step": step,
        "e": beam.SPAN**3 / (4 * beam.WIDTH * beam.HEIGHT**3) * slope / beam.YOUNG,
        "sigma": 3 * beam.SPAN * top / (2 * beam.WIDTH * beam.HEIGHT**2) / 8e6,
        "frame": frame,
        "seconds": wall / len(broken),
        "newton": newton[-1] / history["solves"][-1] if newton and newton[-1] is not None else None,
        "gradients": history["gradients"][-1] / newton[-1] if newton and newton[-1] is not None else None,
    }


def main():
    parser = argparse.ArgumentParser(description="Three-point bending by explicit and implicit steps.")
    parser.add_argument("--rows", type=int, nargs="+", default=[7, 11, 24], help="rows and layers of the beam; 6 times as many along it")
    parser.add_argument("--step", type=float, nargs="+", default=[0.2, 0.1], help="implicit steps, ms")
    parser.add_argument("--end", type=float, default=0.26, help="end of the run, s; steps get short and slow once the beam breaks")
    parser.add_argument("--method", choices=list(METHODS), nargs="+", default=list(METHODS))
    parser.add_argument("--cullet", type=Path, help="the program; default: built from this repository")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    arguments = parser.parse_args()
    cullet = arguments.cullet or beam.build_program()
    found = []
    if not arguments.json:
        print("elements  method             step ms  E/E_bond  sigma/8 MPa  frame  s/frame  Newton a step  CG a Newton")
    for rows in arguments.rows:
        for method in arguments.method:
            for step in [None] if method == "explicit" else arguments.step:
                row = measure(cullet, rows, method, step, arguments.end)
                found.append(row)
                if not arguments.json:
                    rest = f"{row['newton']:13.1f}  {row['gradients']:11.1f}" if row["newton"] else ""
                    print(
                        f"{row['elements']:8}  {method:17}  {step or 0:7}  {row['e']:8.3f}  {row['sigma']:11.3f}  {row['frame']!s:>5}  {row['seconds']:7.2f}  {rest}",
                        flush=True,
                    )
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
