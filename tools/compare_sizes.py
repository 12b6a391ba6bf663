#!/usr/bin/env python3
"""Breaks the same body in packings of several sizes: do the main cracks stay where they are?

Runs a shot once for each number of elements and prints the masses of the largest fragments of the last frame as
shares of the whole. With --sheet the previews of the last frames are drawn side by side.

  pip install pyarrow                (--sheet: matplotlib, too)
  python tools/compare_sizes.py --cullet target/release/cullet [--sizes 8000 30000 120000] [--sheet PNG]

The shot is `bunny_drop` at the scale `by_place` unless --shot and --set say otherwise; --body names the body whose
packing has `elements`.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import pyarrow.parquet as parquet

SHOTS = Path(__file__).resolve().parent.parent / "pipelines"
# Fragments that are printed and compared.
COMPARED = 3


def run(options, size, store):
    """Runs the shot with about `size` elements."""
    command = [options.cullet, "run", str(SHOTS / f"{options.shot}.toml"), "--quiet", "--to", "simulate", "--out", str(store)]
    for setting in [*options.settings, f"body.{options.body}.packing.elements={size}"]:
        command += ["--set", setting]
    subprocess.run(command, check=True)


def shares(store):
    """Number of elements, and shares of the whole mass of the largest fragments, in the last frame."""
    table = parquet.read_table(max((store / "fragments").glob("*.parquet"))).to_pydict()
    masses = sorted(table["mass"], reverse=True)
    return sum(table["elements"]), [mass / sum(masses) for mass in masses[:COMPARED]]


def picture(cullet, store):
    """Preview of the last frame, rows of pixels."""
    from matplotlib import image

    frame = max((store / "frames").glob("*.parquet")).stem
    for stage in ("reconstruct", "preview"):
        subprocess.run([cullet, stage, str(store), "--frames", str(int(frame)), "--quiet"], check=True)
    return image.imread(store / "preview" / f"{frame}.png")


def write_sheet(path, pictures):
    import numpy
    from matplotlib import image

    path.parent.mkdir(parents=True, exist_ok=True)
    image.imsave(path, numpy.concatenate(pictures, axis=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cullet", required=True, help="the program")
    parser.add_argument("--shot", default="bunny_drop")
    parser.add_argument("--body", default="bunny")
    parser.add_argument("--set", action="append", dest="settings", help="default: scale=by_place")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8000, 30000, 120000], help="numbers of elements")
    parser.add_argument("--sheet", type=Path, help="a PNG to write")
    options = parser.parse_args()
    options.cullet = str(Path(options.cullet).resolve())
    options.settings = options.settings or ["scale=by_place"]
    rows, pictures = [], []
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            run(options, size, store)
            count, row = shares(store)
            rows.append(row)
            print(f"{count} elements: " + ", ".join(f"{100 * share:.1f} %" for share in row), flush=True)
            if options.sheet:
                pictures.append(picture(options.cullet, store))
    for place, of_place in enumerate(zip(*rows), 1):
        middle = sum(of_place) / len(of_place)
        most = max(abs(share / middle - 1) for share in of_place)
        print(f"fragment {place}: {100 * middle:.1f} % on average, at most {100 * most:.0f} % from it")
    if options.sheet:
        write_sheet(options.sheet, pictures)


if __name__ == "__main__":
    main()
