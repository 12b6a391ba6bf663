#!/usr/bin/env python3
"""Reports how well a run of pipelines/pinched_cylinder.toml conserves its energy after the tube is released.

    python tools/pinched_cylinder.py STORE              spread and trend of the total energy, over the energy exchanged between kinetic and potential
    python tools/pinched_cylinder.py STORE --plot PNG   energies over time, and the total's difference from its mean

Needs numpy and pyarrow, --plot matplotlib too. The exchange is the largest less the smallest kinetic energy, translation and rotation; the trend is
that of the straight line through the total energies, over the whole time.
"""
import argparse, json
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq

SHOWN = 1.0   # s, of the energies in the first chart


def read(store):
    """Times (s) since the release; kinetic, potential and total energy (J) at them; steps since then."""
    store = Path(store)
    shot = json.loads((store/"store.json").read_text())["pipeline"]
    release = max(one["action"]["signal"]["time"] for one in shot["attach"])
    rows = [row for path in sorted((store/"history").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    rows = [row for row in rows if row["time"] > release]
    if len(rows) < 3: raise SystemExit(f"{store}: {len(rows)} frames after the tube is let go at {release:g} s; three are needed")
    column = lambda name: np.array([row[name] for row in rows])
    kinetic, potential = column("kinetic") + column("rotational"), column("bond")
    return column("time"), kinetic, potential, kinetic + potential, int(rows[-1]["step"] - rows[0]["step"])


def plot(times, kinetic, potential, total, exchange, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(9, 7))
    first = times <= times[0] + SHOWN
    for energy, name in ((kinetic, "kinetic"), (potential, "potential"), (total, "total")):
        above.plot(times[first], energy[first], label=name)
    above.set(xlabel="time (s)", ylabel="energy (J)", title="the first second")
    above.legend()
    below.plot(times, (total - total.mean())/exchange, linewidth=0.7)
    below.set(xlabel="time (s)", ylabel="(total - mean) / exchange", title="the whole run")
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("store", help="store of a run")
    options.add_argument("--plot", help="a PNG to write")
    o = options.parse_args()
    times, kinetic, potential, total, steps = read(o.store)
    exchange = np.ptp(kinetic)
    slope = np.polyfit(times - times[0], total, 1)[0]*(times[-1] - times[0])
    print(f"{len(times)} frames, {steps} steps, {times[-1] - times[0]:.3g} s: kinetic and potential energy exchange {exchange:.4g} J; "
          f"of it the total spreads {np.ptp(total)/exchange:.1e}, its trend over the whole time is {slope/exchange:+.1e}")
    if o.plot: plot(times, kinetic, potential, total, exchange, o.plot)


if __name__ == "__main__":
    main()
