#!/usr/bin/env python3
"""Renders a frame of a shot with Mitsuba 3: skin and crack faces in materials of their own, on a ground, lit from the side.

    python3 -m venv venv && venv/bin/pip install mitsuba numpy
    venv/bin/python tools/render_mitsuba.py out/bunny_drop --frame 34 --out bunny.png [--width 1280] [--samples 256] [--tint 0.2]

The frame comes from `cullet export --format ply`, whose faces carry the label of their fragment and whether they are crack faces;
colliders and gravity come from store.json. The camera frames nearly all of the volume, so that far-flung dust does not make
the picture small; the line printed at the end gives --target and --distance, which keep the camera fixed over the frames of a film.

The default variant, scalar_rgb, needs neither LLVM nor a graphics card. Exits with 2 if something it needs is missing or wrong.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILT = Path(__file__).resolve().parent.parent / "target/release/cullet"
SKIN = (0.80, 0.78, 0.73)  # plaster
CRACK = (0.47, 0.22, 0.11)  # terracotta
SQUARE = (0.05, 0.21, 0.30)  # the darker squares of --checker
STEEL = (0.30, 0.32, 0.35)  # colliders
SHOWN = 0.95  # fraction of the fragments' volume that the camera frames
ROOM = 1.3  # size of the picture over the size of what is framed
EDGE = 0.8  # cosine of the angle between a face and its vertices' normals below which the face is at an edge
SCALARS = {"float": "<f4", "int": "<i4", "uchar": "u1"}


def fail(what):
    print(f"render_mitsuba: {what}", file=sys.stderr)
    sys.exit(2)


try:
    import mitsuba as mi
    import numpy as np
except ImportError as missing:
    fail(f"{missing.name} is missing; pip install mitsuba numpy")


def pipeline_of(store):
    """The resolved pipeline in store.json; empty if another program wrote the store without one."""
    try:
        return json.loads((store / "store.json").read_text()).get("pipeline") or {}
    except (OSError, ValueError) as error:
        fail(f"{store} is no frame store: {error}")


def axis_up(pipeline):
    """The axis opposite to gravity, as in `cullet export`."""
    x, y, z = pipeline.get("world", {}).get("gravity", (0, -1, 0))
    return "z" if -z > max(abs(x), abs(y)) else "y"


def export(cullet, store, frame, up):
    """The frame in metres and in the axes of the shot, as `read_ply` returns it."""
    found = shutil.which(cullet or "cullet") or shutil.which(BUILT)
    if found is None:
        fail("no cullet program; build it with `cargo build --release` or name it with --cullet")
    with tempfile.TemporaryDirectory() as folder:
        choice = ["--frames", f"{frame}..{frame + 1}", "--up", up, "--scale", "1", "--to", folder, "--quiet"]
        done = subprocess.run([found, "export", store, "--format", "ply", *choice], capture_output=True, text=True)
        files = list(Path(folder).glob("*.ply"))
        if done.returncode != 0 or not files:
            fail(f"cullet export failed: {done.stderr.strip() or 'no file'}")
        return read_ply(files[0])


def read_ply(file):
    """Positions, normals, texture coordinates or None, faces as records by property, and the time, of a PLY file written by
    cullet."""
    data = file.read_bytes()
    head, mark, _ = data.partition(b"end_header\n")
    at, tables = len(head) + len(mark), {}
    head = head.decode("ascii", "replace")
    for element, count, properties in re.findall(r"element (\w+) (\d+)\n((?:property .*\n)*)", head):
        fields = []
        for kind, name in re.findall(r"property (.+) (\w+)", properties):
            # All faces are triangles, so a list has the same length in every row.
            fields += [("corners", "u1"), (name, "<i4", 3)] if kind == "list uchar int" else [(name, SCALARS[kind])]
        tables[element] = np.frombuffer(data, fields, int(count), at)
        at += tables[element].nbytes
    time = float(re.search(r"; frame \d+, (\S+) s\n", head)[1])
    positions, normals = (np.stack([tables["vertex"][name] for name in names], axis=1) for names in ("xyz", ("nx", "ny", "nz")))
    uv = np.stack([tables["vertex"]["s"], tables["vertex"]["t"]], axis=1) if "s" in tables["vertex"].dtype.names else None
    return positions.astype(float), normals.astype(float), uv, tables["face"], time


def surface_part(surface, inside, options):
    """The skin or the crack faces of all fragments as one mesh, with one colour per face; the skin with squares instead if
    they are asked for."""
    positions, normals, uv, faces, _ = surface
    chosen = faces["inside"] == inside
    corners = faces["vertex_indices"][chosen]
    place, smooth = positions[corners], normals[corners]
    flat = np.cross(place[:, 1] - place[:, 0], place[:, 2] - place[:, 0])[:, None]
    flat /= np.maximum(np.linalg.norm(flat, axis=2, keepdims=True), 1e-30)
    # At an edge, as between skin and crack, the normal of a vertex belongs to neither side: there a face has
    # its own.
    normal = np.where((smooth * flat).sum(axis=2, keepdims=True) > EDGE, smooth, flat)
    # Lighter or darker, warmer or cooler by the label alone; steps of irrational length set neighbouring labels far apart.
    label = faces["fragment"][chosen][:, None].astype(float)
    shade = label * 0.6180339887 % 1 - 0.5 + 0.3 * (label * 0.7548776662 % 1 - 0.5) * np.array([1, 0, -1])
    colour = np.clip((CRACK if inside else SKIN) * (1 + options.tint * shade), 0, 0.95)

    properties, painted = mi.Properties(), {"type": "mesh_attribute", "name": "face_color"}
    is_textured = bool(options.checker and not inside)
    if is_textured and uv is None:
        fail("--checker: the frame has no texture coordinates; the mesh of a body must have them")
    if is_textured:
        light, dark = ({"type": "rgb", "value": value} for value in (SKIN, SQUARE))
        # A repetition has two squares in each direction.
        repeat = mi.ScalarTransform4f().scale([options.checker / 2, options.checker / 2, 1])
        painted = {"type": "checkerboard", "color0": light, "color1": dark, "to_uv": repeat}
    properties["bsdf"] = mi.load_dict({"type": "principled", "roughness": 0.85 if inside else 0.45, "base_color": painted})
    mesh = mi.Mesh("surface", 3 * len(corners), len(corners), properties, has_vertex_normals=True, has_vertex_texcoords=is_textured)
    mesh.add_attribute("face_color", 3, colour.astype(np.float32).ravel())
    values = mi.traverse(mesh)
    values["faces"] = np.arange(3 * len(corners), dtype=np.uint32)
    values["vertex_positions"], values["vertex_normals"] = (array.astype(np.float32).ravel() for array in (place, normal))
    if is_textured:
        values["vertex_texcoords"] = uv[corners].astype(np.float32).ravel()
    values.update()
    return mesh


def solids(store, pipeline, time):
    """The colliders of finite size at their positions at `time`, except those that follow key frames."""
    turn, move, scale = (getattr(mi.ScalarTransform4f(), name) for name in ("rotate", "translate", "scale"))
    for number, collider in enumerate(pipeline.get("collider", [])):
        shape, spin = collider["shape"], np.array(collider["spin"])
        if collider["keys"] or shape["type"] == "half_space":
            continue
        place = move(np.array(collider["position"]) + time * np.array(collider["velocity"]))
        for axis, angle in ((spin, np.linalg.norm(spin) * time), (collider["rotation"]["axis"], collider["rotation"]["angle"])):
            place = place @ turn(axis, np.degrees(angle)) if angle else place
        if shape["type"] == "box":
            pieces = [{"type": "cube", "to_world": place @ scale(np.array(shape["size"]) / 2)}]
        elif shape["type"] == "sphere":
            pieces = [{"type": "sphere", "to_world": place @ scale(shape["radius"])}]
        elif shape["type"] == "mesh":
            # As stored by pack, in the collider's own frame.
            file = store / f"packing/colliders/{number:06}.ply"
            pieces = [{"type": "ply", "filename": str(file), "face_normals": True, "to_world": place}]
        elif shape["type"] == "cylinder":
            # A cylinder in Mitsuba is along z and open.
            place = place @ turn([1, 0, 0], 90) @ scale([shape["radius"], shape["radius"], shape["height"] / 2])
            pieces = [{"type": "cylinder", "p0": [0, 0, -1], "to_world": place}]
            pieces += [{"type": "disk", "to_world": place @ move([0, 0, end])} for end in (-1, 1)]
        else:
            fail(f"collider {collider['name']!r}: a shape {shape['type']!r} is not drawn here yet")
        look = {"type": "principled", "base_color": {"type": "rgb", "value": STEEL}, "roughness": 0.4}
        yield from (mi.load_dict(piece | {"bsdf": {"type": "twosided", "bsdf": look}}) for piece in pieces)


def ground(pipeline, lowest, up):
    """A point of the floor and its normal: the shot's highest half space that faces up, else a plane under
    everything."""
    floors = []
    for collider in pipeline.get("collider", []):
        normal = np.array(collider["shape"].get("normal", -up))
        if normal @ up > 0.7 * np.linalg.norm(normal):
            floors.append((np.array(collider["position"]), normal / np.linalg.norm(normal)))
    return max(floors or [(lowest * up, up)], key=lambda floor: floor[0] @ up)


def camera_view(positions, faces, up, options):
    """Target of the camera, direction from there to the camera, and a distance from which the picture contains the
    surface."""
    azimuth, elevation = np.radians([options.azimuth, options.elevation])
    level = np.cos(azimuth) * np.cross([1, 0, 0], up) + [np.sin(azimuth), 0, 0]
    back = np.cos(elevation) * level + np.sin(elevation) * up
    axes = np.stack([np.cross(up, level), np.cross(back, np.cross(up, level)), back])
    # Each face is weighted by its share of its fragment's volume: dust has much surface and hardly any
    # volume.
    a, b, c = (positions[faces["vertex_indices"][:, k]] for k in range(3))
    _, piece, count = np.unique(faces["fragment"], return_inverse=True, return_counts=True)
    volume = np.bincount(piece, np.einsum("ij,ij->i", a, np.cross(b, c)))
    weight = (np.maximum(volume, 0) / count)[piece]
    spans = []
    for values in axes @ (a + b + c).T / 3:
        order = np.argsort(values)
        share = np.cumsum(weight[order]) / weight.sum()
        spans.append(values[order][np.searchsorted(share, [(1 - SHOWN) / 2, (1 + SHOWN) / 2])])
    target = np.mean(spans, axis=1) @ axes if options.target is None else np.array(options.target)
    # The angle of view is horizontal; the vertical one is smaller by the aspect ratio.
    slopes = np.tan(np.radians(options.fov) / 2) * np.array([1, options.height / options.width])
    sizes = np.abs(spans - (axes @ target)[:, None]).max(axis=1)
    return target, back, float(options.distance or (sizes[:2] * ROOM / slopes).max() + sizes[2])


def scene(surface, pipeline, options):
    """The scene, and its camera's target and distance."""
    positions, _, _, faces, time = surface
    up = np.eye(3)["xyz".index(options.up or axis_up(pipeline))]
    target, back, distance = camera_view(positions, faces, up, options)
    shapes = {("outside", "inside")[flag]: surface_part(surface, flag, options) for flag in np.unique(faces["inside"])}
    shapes |= {f"collider{at}": shape for at, shape in enumerate(solids(options.store, pipeline, time))}
    point, normal = ground(pipeline, min(np.array(shape.bbox().min) @ up for shape in shapes.values()), up)
    look_at, scale = mi.ScalarTransform4f().look_at, mi.ScalarTransform4f().scale
    # A key light low at the left: grazing light shows the relief. It is far enough away to be uniform.
    key = look_at(target + distance * (2.5 * np.cross(back, up) + 0.5 * back + 1.5 * up), target, up)
    camera = {"type": "perspective", "fov": options.fov, "near_clip": distance / 100, "far_clip": distance * 1000}
    camera["to_world"] = look_at(target + distance * back, target, up)
    camera["film"] = {"type": "hdrfilm", "width": options.width, "height": options.height}
    camera["sampler"] = {"type": "multijitter", "sample_count": options.samples}
    warm = {"type": "rgb", "value": [19, 17, 14.5]}
    stone = {"type": "diffuse", "reflectance": {"type": "rgb", "value": [0.52, 0.51, 0.50]}}
    parts = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": 6},
        "camera": camera,
        "sky": {"type": "constant", "radiance": {"type": "rgb", "value": [0.34, 0.38, 0.44]}},
        "key": {"type": "rectangle", "to_world": key @ scale(0.55 * distance), "emitter": {"type": "area", "radiance": warm}},
        "ground": {"type": "disk", "to_world": look_at(point, point + normal, back) @ scale(60 * distance), "bsdf": stone},
    }
    return mi.load_dict(parts | shapes), target, distance


def arguments(given=None):
    parser = argparse.ArgumentParser(description="Renders a frame of a shot with Mitsuba 3.")
    parser.add_argument("store", type=Path, help="frame store with surfaces (cullet reconstruct)")
    parser.add_argument("--frame", type=int, help="frame number; default: the last that has surfaces")
    parser.add_argument("--out", type=Path, required=True, help="picture to write: .png, or .exr for linear light")
    for name, default, what in (("width", 960, "pixels"), ("height", 720, "pixels"), ("samples", 144, "paths a pixel")):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what}; default: {default}")
    angles = (("azimuth", -30, "of the camera about the up axis"), ("elevation", 20, "of the camera"), ("fov", 30, "of view across"))
    for name, default, what in angles:
        parser.add_argument(f"--{name}", type=float, default=default, help=f"angle {what}, degrees; default: {default}")
    parser.add_argument("--up", choices=["y", "z"], help="axis that points up in the picture; default: where gravity comes from")
    parser.add_argument("--target", type=float, nargs=3, metavar=("X", "Y", "Z"), help="point that the camera looks at, m")
    parser.add_argument("--distance", type=float, help="distance from the target to the camera, m")
    parser.add_argument("--tint", type=float, default=0, help="0 to 1: how much the colour differs from fragment to fragment")
    parser.add_argument("--checker", type=float, default=0, metavar="N", help="paints the skin with N squares per unit of its texture coordinates")
    parser.add_argument("--variant", default="scalar_rgb", help="variant of Mitsuba, such as llvm_ad_rgb or cuda_ad_rgb")
    parser.add_argument("--cullet", help="the program; default: on the PATH, else target/release/cullet")
    options = parser.parse_args(given)
    sizes = options.width, options.height, options.samples, options.distance or 1
    if not (min(sizes) > 0 and 0 < options.fov < 180 and abs(options.elevation) < 90 and 0 <= options.tint <= 1 and options.checker >= 0):
        parser.error("sizes, --samples and --distance: above 0; --fov: 0 to 180; --elevation: -90 to 90; --tint: 0 to 1; --checker: 0 or more")
    if options.out.suffix not in (".png", ".exr"):
        parser.error(f"--out {options.out}: ends neither with .png nor with .exr")
    return options


def main():
    options = arguments()
    try:
        mi.set_variant(options.variant)
        options.out.parent.mkdir(parents=True, exist_ok=True)
    except (ImportError, AttributeError, OSError) as error:
        fail(error)
    # Mitsuba warns that it rounds the number of samples.
    mi.set_log_level(mi.LogLevel.Error)
    pipeline = pipeline_of(options.store)
    frames = sorted((options.store / "meshes").glob("[0-9]*.rkyv"))
    if not frames:
        fail(f"{options.store} has no surfaces; run `cullet reconstruct` first")
    frame = int(frames[-1].stem) if options.frame is None else options.frame
    surface = export(options.cullet, options.store, frame, axis_up(pipeline))
    if not len(surface[3]):
        fail(f"frame {frame} has no faces")
    whole, target, distance = scene(surface, pipeline, options)
    mi.util.write_bitmap(str(options.out), mi.render(whole), write_async=False)
    place = " ".join(f"{value:.4g}" for value in target)
    print(f"{options.out}: frame {frame}, {len(surface[3])} triangles; --target {place} --distance {distance:.4g}")


if __name__ == "__main__":
    main()
