"""Renders the last frame with Mitsuba like tools/render_mitsuba.py: the object fills its part of the picture, skin
and cracks are visible."""

import os
import sys
from pathlib import Path

from common import need, run

np, mi = need("numpy", "mitsuba")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import render_mitsuba  # noqa: E402

# Fraction of the picture that fragments cover, smallest fraction that cracks cover, and ratio of redness of
# cracks over skin.
COVERED = (0.08, 0.7)
CRACKED = 2e-4
REDDER = 1.5


def check(store):
    mi.set_variant("scalar_rgb")
    mi.set_log_level(mi.LogLevel.Error)
    cullet = os.environ.get("CULLET")
    given = [str(store), "--out", "unused.png", "--width", "480", "--height", "360"]
    options = render_mitsuba.arguments(given + (["--cullet", cullet] if cullet else []))
    pipeline = render_mitsuba.pipeline_of(store)
    frame = max(int(file.stem) for file in (store / "meshes").glob("[0-9]*.rkyv"))
    surface = render_mitsuba.export(options.cullet, store, frame, render_mitsuba.axis_up(pipeline))
    scene, _, _ = render_mitsuba.scene(surface, pipeline, options)
    ids = [shape.id() for shape in scene.shapes()]
    assert {"outside", "inside"} <= set(ids), f"frame {frame}: shapes {ids}"

    # One path per pixel and no filter between pixels: each has the index, counted from 1, and the colour of
    # one shape.
    seen = scene.sensors()[0]
    film = {"type": "hdrfilm", "width": options.width, "height": options.height, "rfilter": {"type": "box"}}
    clip = {"near_clip": seen.near_clip(), "far_clip": seen.far_clip()}
    camera = mi.load_dict({"type": "perspective", "fov": options.fov, "to_world": seen.world_transform(), "film": film, **clip})
    integrator = mi.load_dict({"type": "aov", "aovs": "shape:shape_index", "image": {"type": "path", "max_depth": 6}})
    picture = np.array(mi.render(scene, sensor=camera, integrator=integrator, spp=1))
    colour, numbers = picture[:, :, :3], picture[:, :, -1]
    assert np.all(np.isfinite(colour)) and colour.min() >= 0, f"frame {frame}: light that is negative or no number"
    pure = {name: numbers == at for at, name in enumerate(ids, 1)}
    shares = {name: pure[name].mean() for name in ("outside", "inside")}
    covered = sum(shares.values())
    assert COVERED[0] < covered < COVERED[1], f"frame {frame}: fragments cover {covered:.1%} of the picture"
    assert shares["inside"] > CRACKED, f"frame {frame}: cracks cover {shares['inside']:.3%} of the picture"
    skin, crack = (colour[pure[name]].mean(axis=0) for name in ("outside", "inside"))
    redder = (crack[0] / crack[2]) / (skin[0] / skin[2])
    assert redder > REDDER, f"frame {frame}: cracks {crack}, skin {skin}"
    assert skin.sum() > crack.sum(), f"frame {frame}: the skin is darker than the cracks"
    rest = colour[~pure["outside"] & ~pure["inside"]].mean()
    return (
        f"mitsuba {mi.__version__}: frame {frame}, skin on {shares['outside']:.1%} of the picture, cracks on {shares['inside']:.2%}, "
        f"{redder:.1f} times redder; brightness of skin {skin.mean():.2f}, of the rest {rest:.2f}"
    )


run(check)
