#!/usr/bin/env python3
"""Compares runs of pipelines/hemisphere.toml, one a load, with the deflections of Sze, Liu and Lo 2004.

    python tools/hemisphere.py --simulate FOLDER        runs the shot at published loads, each into FOLDER/LOAD, and compares
    python tools/hemisphere.py STORE...                 compares these runs: outward and inward deflection at rest
    python tools/hemisphere.py STORE... --plot PNG      load over deflection

Needs numpy and pyarrow, --plot matplotlib too. The published shell is loaded and measured at its rim, this model in the middle of cells: the two cells
next to a point in the first row above the rim, and in the second. Both loads, 3/2 and -1/2 of the force, together act at the rim; the deflection of
the rim is 3/2 of that of the first row less 1/2 of that of the second. Both extrapolations are of second order in the height of a row.
"""
import argparse, json, subprocess, tomllib
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq

# Load (N) on each point of the whole shell; deflection outward, inward, m. Sze, Liu, Lo 2004, Finite Elem. Anal. Des. 40, 1551.
PUBLISHED = {100: (2.596, 3.833), 200: (3.406, 5.902), 300: (3.816, 7.234), 400: (4.067, 8.178)}
POINTS = {"right": (0, 1), "left": (0, -1), "front": (2, -1), "back": (2, 1)}   # axis and sign of the force


SHOT = Path(__file__).resolve().parents[1]/"pipelines/hemisphere.toml"


def simulate(folder, load, cullet, settings):
    """Runs the shot with another load; returns its store."""
    shot = tomllib.loads(SHOT.read_text())
    force = {one["name"]: np.array(one["action"]["force"], float) for one in shot["attach"]}
    factor = load/np.abs(force["right"] + force["right_above"]).max()
    store = Path(folder)/f"{load:g}"
    command = [cullet, "run", SHOT, "--to", "simulate", "--quiet", "--out", store]
    for setting in settings + [f"attach.{name}.action.force={(factor*at).tolist()}" for name, at in force.items()]:
        command += ["--set", setting]
    subprocess.run(list(map(str, command)), check=True)
    return store


def read(store):
    """Load (N), times, outward and inward deflection at these times."""
    store = Path(store)
    attached = json.loads((store/"store.json").read_text())["pipeline"]["attach"]
    force = {one["name"]: one["action"]["force"] for one in attached}
    rows = [row for path in sorted((store/"loads").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    moved, load = {}, {}
    for name, (axis, sign) in POINTS.items():
        own, above = ([row for row in rows if row["name"] == one] for one in (name, f"{name}_above"))
        times = np.array([row["time"] for row in own])
        load[name] = sign*(force[name][axis] + force[f"{name}_above"][axis])
        along = [np.array([row["d" + "xyz"[axis]] for row in part]) for part in (own, above)]
        moved[name] = sign*(1.5*along[0] - 0.5*along[1])
    if np.ptp(list(load.values())) > 1e-9*max(load.values()): raise ValueError(f"{store}: the four loads are not equal: {load}")
    return load["right"], times, 0.5*(moved["right"] + moved["left"]), 0.5*(moved["front"] + moved["back"])


def plot(runs, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axis = pyplot.subplots(figsize=(7, 5))
    loads = [0, *PUBLISHED]
    for part, colour, what in ((0, "tab:blue", "outward"), (1, "tab:red", "inward")):
        axis.plot([0, *(both[part] for both in PUBLISHED.values())], loads, "o", color=colour, markerfacecolor="none", markersize=9,
                  label=f"{what}, Sze et al. 2004")
        ends = sorted((load, found[part][-1]) for load, _, *found in runs)
        axis.plot([moved for _, moved in ends], [load for load, _ in ends], "x", color=colour, label=f"{what}, cells")
    axis.set(xlabel="deflection (m)", ylabel="load (N)")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("stores", nargs="*", help="stores of runs")
    options.add_argument("--simulate", metavar="FOLDER", help="runs the shot into this folder first")
    options.add_argument("--loads", type=float, nargs="+", default=list(PUBLISHED), help="loads of these runs, N")
    options.add_argument("--set", action="append", default=[], help="further settings of these runs; default: scale=paper")
    options.add_argument("--cullet", default="cullet", help="the program")
    options.add_argument("--plot", help="a PNG to write")
    o = options.parse_args()
    if o.simulate: o.stores += [simulate(o.simulate, load, o.cullet, o.set or ["scale=paper"]) for load in o.loads]
    runs = sorted((read(store) for store in o.stores), key=lambda run: run[0])
    for load, times, *found in runs:
        late = times >= 0.9*times[-1]
        for what, moved, part in zip(("outward", "inward"), found, (0, 1)):
            beside = "" if load not in PUBLISHED else f", published {PUBLISHED[load][part]:.3f} m: {moved[-1]/PUBLISHED[load][part] - 1:+.2%}"
            print(f"{load:g} N {what}: {moved[-1]:.4f} m{beside} (over the last tenth of the time by {np.ptp(moved[late]):.1e} m)")
    if o.plot: plot(runs, o.plot)


if __name__ == "__main__":
    main()
