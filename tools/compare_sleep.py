#!/usr/bin/env python3
"""Compares runs with and without sleep: does what sleeps break as what is stepped throughout?

Each shot runs several times with simulate.sleep = false and as often with true, its bodies shifted by
multiples of --shift. Prints means over the runs, with their standard deviations, of the number of broken
bonds, the share of the largest fragment in the mass, the number of fragments of ten elements and more, and
the largest distance between the mean paths of the centre of mass over the length of the way.

  pip install pyarrow
  python tools/compare_sleep.py --cullet target/release/cullet --set scale=smoke bunny_drop chocolate
"""

import argparse
import json
import math
import subprocess
import tempfile
import tomllib
from pathlib import Path

import pyarrow.parquet as parquet

SHOTS = Path(__file__).resolve().parent.parent / "pipelines"


UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6}


def metres(value):
    """A length of a pipeline file."""
    if not isinstance(value, str):
        return float(value)
    number, unit = value.split()
    return float(number) * UNITS[unit]


def last(store, folder):
    return sorted((store / folder).glob("*.parquet"))[-1]


def measure(store):
    """Measures of one run."""
    paths = sorted((store / "history").glob("*.parquet"))
    history = [parquet.read_table(path).to_pydict() for path in paths]
    fragments = parquet.read_table(last(store, "fragments")).to_pydict()
    whole = sum(fragments["mass"])
    centres = []
    for path in sorted((store / "fragments").glob("*.parquet")):
        table = parquet.read_table(path).to_pydict()
        mass = table["mass"]
        centres.append(
            [sum(m * x for m, x in zip(mass, table[axis])) / sum(mass) for axis in "xyz"]
        )
    return {
        "broken": history[-1]["broken"][0],
        "largest": max(fragments["mass"]) / whole,
        "fragments": sum(1 for count in fragments["elements"] if count >= 10),
        "seconds": sum(row["seconds"][0] for row in history),
        "path": centres,
    }


def run(cullet, shot, sleep, shift, settings):
    """Runs a shot with its bodies shifted by `shift`, m, and returns its measures."""
    text = (SHOTS / f"{shot}.toml").read_text()
    command = [cullet, "run", str(SHOTS / f"{shot}.toml"), "--to", "simulate", "--quiet"]
    # With sleep all steps are explicit, so those without must be.
    fixed = [f"simulate.sleep={json.dumps(sleep)}", "simulate.backend=cpu", "simulate.integrator=explicit"]
    for setting in [*settings, *fixed]:
        command += ["--set", setting]
    for body in tomllib.loads(text)["body"]:
        place = body.get("position", [0, 0, 0])
        place = [metres(value) + shift * (1 + axis) for axis, value in enumerate(place)]
        command += ["--set", f"body.{body['name']}.position={place}"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, "--out", folder + "/store"], check=True)
        return measure(Path(folder) / "store")


def mean(values):
    return sum(values) / len(values)


def spread(values):
    middle = mean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / max(1, len(values) - 1))


def mean_path(runs):
    """Mean centre of mass of several runs, frame by frame."""
    return [
        [mean([run["path"][frame][axis] for run in runs]) for axis in range(3)]
        for frame in range(len(runs[0]["path"]))
    ]


def compare(shot, awake, asleep):
    paths = mean_path(awake), mean_path(asleep)
    way = sum(math.dist(a, b) for a, b in zip(paths[0], paths[0][1:]))
    off = max(math.dist(a, b) for a, b in zip(*paths)) / way if way > 0 else 0.0
    print(f"{shot}: {len(awake)} runs each")
    for key in ["broken", "largest", "fragments"]:
        a, b = [run[key] for run in awake], [run[key] for run in asleep]
        change = mean(b) / mean(a) - 1 if mean(a) else 0.0
        print(
            f"  {key:10} {mean(a):9.3f} ±{spread(a):8.3f}   with sleep {mean(b):9.3f}"
            f" ±{spread(b):8.3f}   {100 * change:+6.1f} %"
        )
    print(f"  path off by {100 * off:.2f} % of the way")
    a, b = (mean([run["seconds"] for run in runs]) for runs in (awake, asleep))
    print(f"  {a:.2f} s, with sleep {b:.2f} s: {a / b:.2f} times as fast", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shots", nargs="+")
    parser.add_argument("--cullet", required=True, help="the program")
    parser.add_argument("--runs", type=int, default=8, help="runs of each kind (default 8)")
    parser.add_argument("--shift", type=float, default=1e-10, help="m (default 1e-10)")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    arguments = parser.parse_args()
    cullet = str(Path(arguments.cullet).resolve())
    for shot in arguments.shots:
        both = [
            [
                run(cullet, shot, sleep, arguments.shift * number, arguments.settings)
                for number in range(arguments.runs)
            ]
            for sleep in (False, True)
        ]
        compare(shot, *both)


if __name__ == "__main__":
    main()
