"""Motion blur in Mitsuba, which has none of its own: the mean of pictures at times while the shutter is open, from the USD file.

Usage: check_blur_mitsuba.py STORE FINE [--frames 1 3 20] [--pictures FOLDER]. Both are stores with exports/*.usdc, or USD files; FINE is the same shot
recorded at a multiple of the rate. Only pixels that FINE sweeps may be lit, all that FINE covers for a fraction of the time must be lit, and the
blur must be the same from twice as many pictures.

    python3 -m venv v && v/bin/pip install mitsuba usd-core numpy && v/bin/python check_blur_mitsuba.py out/shot out/shot_fine
"""

import argparse
import sys
from pathlib import Path

from common import need, usd_file

np, mi, _ = need("numpy", "mitsuba", "pxr")
from pxr import Usd, UsdGeom  # noqa: E402

from masks import count, dilated  # noqa: E402

SHUTTER = 0.5  # frames, centred on the frame
TIMES = 16  # number of pictures averaged for a blurred one
SIZE = (320, 240)
SAMPLES = 16  # per pixel and picture
# Pixels by which masks are dilated: cracks of FINE open at other times within a frame.
GROWN = 3
# A pixel that is covered for this fraction of the time must be lit.
COVERED = 0.1
# Upper limits: fraction of lit pixels outside, and missed; mean change of coverage with twice as many
# pictures.
OUTSIDE, CHANGE = 0.002, 0.02


class Shot:
    """The fragments of a USD file."""

    def __init__(self, given):
        file = usd_file(given)
        # The layer must outlive the prims.
        self.stage = Usd.Stage.Open(str(file))
        self.last = int(self.stage.GetEndTimeCode())
        self.up = np.eye(3)["XYZ".index(UsdGeom.GetStageUpAxis(self.stage))]
        self.meshes = [UsdGeom.Mesh(prim) for prim in self.stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
        self.faces = [np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3) for mesh in self.meshes]

    def fragments(self, code):
        """World positions and triangles of each fragment visible at a time."""
        for mesh, faces in zip(self.meshes, self.faces):
            if UsdGeom.Imageable(mesh).ComputeVisibility(code) != UsdGeom.Tokens.invisible:
                to_world = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(code))
                points = np.array(mesh.GetPointsAttr().Get(code), dtype=float)
                yield points @ to_world[:3, :3] + to_world[3, :3], faces

    def surface(self, code):
        """All fragments at a time as one Mitsuba mesh."""
        points, faces, held = [], [], 0
        for own, triangles in self.fragments(code):
            points.append(own)
            faces.append(triangles + held)
            held += len(own)
        points, faces = np.concatenate(points), np.concatenate(faces)
        mesh = mi.Mesh("fragments", len(points), len(faces))
        values = mi.traverse(mesh)
        values["faces"], values["vertex_positions"] = faces.astype(np.uint32).ravel(), points.astype(np.float32).ravel()
        values.update()
        return mesh


def camera(shot, frame):
    """A camera at the side that sees most fragments."""
    middles = np.array([points.mean(axis=0) for points, _ in shot.fragments(frame)])
    low, high = np.percentile(middles, [2, 98], axis=0)
    target, reach, angle = (low + high) / 2, np.linalg.norm(high - low) / 2, 35
    level = np.cross(np.roll(shot.up, 1), shot.up)
    back = np.array([-0.55, 0, 0]) + 0.35 * shot.up + 0.75 * level
    origin = target + back / np.linalg.norm(back) * reach / np.tan(np.radians(angle) / 2)
    film = {"type": "hdrfilm", "width": SIZE[0], "height": SIZE[1], "pixel_format": "rgba", "rfilter": {"type": "box"}}
    to_world = mi.ScalarTransform4f().look_at(origin, target, shot.up)
    clip = {"near_clip": reach / 100, "far_clip": reach * 100}
    sampler = {"type": "independent", "sample_count": SAMPLES}
    return mi.load_dict({"type": "perspective", "fov": angle, "to_world": to_world, "film": film, "sampler": sampler, **clip})


def coverage(shot, code, sensor, seed):
    """Fraction of each pixel that fragments cover at a time."""
    scene = mi.load_dict({"type": "scene", "fragments": shot.surface(code)})
    return np.array(mi.render(scene, sensor=sensor, integrator=mi.load_dict({"type": "depth"}), seed=seed))[:, :, 3]


def sweep(shot, frame, sensor, times, rate=1):
    """Pictures at the midpoints of `times` equal parts of the time that the shutter of a frame is open."""
    parts = ((np.arange(times) + 0.5) / times - 0.5) * SHUTTER
    return np.array([coverage(shot, rate * (frame + part), sensor, at) for at, part in enumerate(parts)])


def check(shot, fine, frame, folder):
    sensor = camera(shot, frame)
    blurred = sweep(shot, frame, sensor, TIMES).mean(axis=0)
    twice = sweep(shot, frame, sensor, 2 * TIMES).mean(axis=0)
    truth = sweep(fine, frame, sensor, 2 * TIMES, fine.last // shot.last)
    if folder:
        mi.util.write_bitmap(str(folder / f"mitsuba_{frame}.png"), blurred, write_async=False)
    lit, swept = blurred > 0, truth.max(axis=0) > 0
    outside = [count(lit & ~dilated(swept, pixels)) for pixels in range(GROWN + 1)]
    missed = [count((truth.mean(axis=0) > COVERED) & ~dilated(lit, pixels)) for pixels in range(GROWN + 1)]
    edge = (twice > 0) & (twice < 1)
    change = np.abs(blurred - twice)[edge].mean()
    off = np.abs(twice - truth.mean(axis=0))[edge].mean()
    line = (
        f"frame {frame}: {count(lit)} pixels lit, {count(swept)} swept by FINE; outside by more than 0, 1, .. pixels {outside}, missed {missed}; "
        f"coverage of edges {change:.4f} from that of twice as many pictures, {off:.4f} from FINE"
    )
    print(line, flush=True)
    allowed = OUTSIDE * count(lit)
    assert outside[-1] <= allowed and missed[-1] <= allowed and change < CHANGE, line


def main():
    parser = argparse.ArgumentParser(description="Checks motion blur in Mitsuba.")
    parser.add_argument("store", type=Path, help="store with exports/*.usdc, or a USD file")
    parser.add_argument("fine", type=Path, help="the same shot at a multiple of the rate")
    parser.add_argument("--frames", type=int, nargs="+", default=[1, 3, 20], help="first impact, birth of many fragments, free flight")
    parser.add_argument("--pictures", type=Path, help="folder for the blurred pictures")
    options = parser.parse_args()
    mi.set_variant("scalar_rgb")
    mi.set_log_level(mi.LogLevel.Error)
    shot, fine = Shot(options.store), Shot(options.fine)
    for frame in options.frames:
        check(shot, fine, frame, options.pictures)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"failed: {error}")
