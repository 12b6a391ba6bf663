"""Renders the bunny and Suzanne with Mitsuba, whole and broken: a closed mesh and one that packing closes.

    pip install mitsuba numpy
    python tools/compare_suzanne.py out/bunny_drop out/suzanne_drop --out compare.png [--frames 0 9] [--checker 24]

The stores are of shots in which both fall alike; they need surfaces (`cullet run ... --to reconstruct`). Rows are
stores, columns are frames. Suzanne's skin has squares by her texture coordinates, which closing keeps; crack faces
have their own material. The camera of a row is that of its first frame. Other options go to render_mitsuba.py, as
--width and --cullet."""

import argparse
import sys
from pathlib import Path

import render_mitsuba
from render_mitsuba import axis_up, export, fail, mi, np, pipeline_of, scene


def rendered(store, frame, given, view):
    """The picture as an array of rows, and the camera's target and distance for the next frame."""
    fixed = ["--target", *map(str, view[0]), "--distance", str(view[1])] if view else []
    options = render_mitsuba.arguments([str(store), "--frame", str(frame), "--out", "unused.png", *given, *fixed])
    mi.set_variant(options.variant)
    mi.set_log_level(mi.LogLevel.Error)
    pipeline = pipeline_of(store)
    surface = export(options.cullet, store, frame, axis_up(pipeline))
    if surface[2] is None:
        options.checker = 0
    whole, target, distance = scene(surface, pipeline, options)
    return np.array(mi.render(whole))[:, :, :3], (target, distance)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "stores", type=Path, nargs=2, metavar="STORE", help="of the bunny and of Suzanne, with surfaces"
    )
    parser.add_argument("--out", type=Path, required=True, help="picture to write: .png or .exr")
    parser.add_argument("--frames", type=int, nargs="+", default=[0, 9], help="frame numbers; default: 0 9")
    parser.add_argument("--checker", default="24", help="squares per unit of the texture coordinates; default: 24")
    options, given = parser.parse_known_args()
    rows = []
    for store in options.stores:
        pictures, view = [], None
        for frame in options.frames:
            if not (store / f"meshes/{frame:06}.rkyv").exists():
                fail(f"{store} has no surface of frame {frame}")
            picture, view = rendered(store, frame, ["--checker", options.checker, *given], view)
            pictures.append(picture)
        rows.append(np.concatenate(pictures, axis=1))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    mi.util.write_bitmap(str(options.out), np.concatenate(rows, axis=0), write_async=False)
    print(f"{options.out}: frames {' '.join(map(str, options.frames))} of {', '.join(map(str, options.stores))}")


if __name__ == "__main__":
    sys.exit(main())
