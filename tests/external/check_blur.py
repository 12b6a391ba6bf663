"""Motion blur in Blender: Cycles lights only pixels that the fragments sweep while the shutter is open, and all of them.

Usage: check_blur.py STORE [FINE] [--event FILE] [--frames 1 3 20] [--pictures FOLDER]. STORE and FINE are stores with exports/*.usdc, or USD files.
FINE is the same shot recorded at a multiple of the rate; it is rendered between its own frames without blur. FILE is STORE exported with
`--playback event`: played at that rate, all objects must be at the same positions, and velocities times the shutter time must equal the displacements
of the points.

Not part of the gate, because of its size: python3.11 -m venv v && v/bin/pip install bpy==5.0.1 && v/bin/python check_blur.py out/shot out/shot_fine
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from common import need, usd_file

bpy, mathutils, np = need("bpy", "mathutils", "numpy")
from masks import count, dilated  # noqa: E402

SHUTTER = 0.5  # frames, centred on the frame
TIMES = 17  # number of pictures without blur while the shutter is open
STEPS = 3  # motion steps of each object: 2^STEPS + 1 poses while the shutter is open
SIZE = (320, 240)
BLURRED, SHARP = 256, 16  # samples per pixel
# Fragments larger than this fraction of the whole are hidden where the blur of the others is compared.
LARGE = 0.2
# Pixels by which masks are dilated: for the samples, and because cracks of FINE open at other times within a
# frame.
GROWN, GROWN_FINE = 2, 3
# A pixel that is covered for this fraction of the time must be lit.
COVERED = 0.1
# Upper limits: mean difference of coverage over lit pixels; fraction of lit pixels outside those that FINE
# sweeps; error of velocities.
DIFFERENCE, OUTSIDE_FINE, VELOCITY = 0.02, 0.002, 0.02


def rate_of(file):
    """Frames per second of a USD text file."""
    with open(file) as text:
        return int(re.search(r"timeCodesPerSecond = (\d+)\n", text.read(4000))[1])


def load(file, rate=24):
    """Imports a file into an empty scene and returns its meshes. Blender leaves the frame rate of the scene
    unchanged."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = rate
    bpy.ops.wm.usd_import(filepath=str(file))
    return [item for item in bpy.data.objects if item.type == "MESH"]


def set_time(time):
    bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)


def coverage_material():
    """A material of which only the coverage is visible."""
    material = bpy.data.materials.new("glow")
    material.use_nodes = True
    nodes = material.node_tree.nodes
    nodes.clear()
    emission, output = nodes.new("ShaderNodeEmission"), nodes.new("ShaderNodeOutputMaterial")
    material.node_tree.links.new(emission.outputs[0], output.inputs[0])
    return material


def set_up(meshes, steps=STEPS, size=SIZE):
    """Settings for Cycles without anything that spreads light over pixels."""
    scene = bpy.context.scene
    render, cycles = scene.render, scene.cycles
    render.engine, cycles.device = "CYCLES", "CPU"
    cycles.use_denoising = cycles.use_adaptive_sampling = False
    cycles.pixel_filter_type, cycles.filter_width = "BOX", 0.01
    cycles.max_bounces = 0
    render.resolution_x, render.resolution_y = size
    render.film_transparent = True
    render.image_settings.file_format, render.image_settings.color_mode, render.image_settings.color_depth = "PNG", "RGBA", "16"
    render.motion_blur_shutter, render.motion_blur_position = SHUTTER, "CENTER"
    material = coverage_material()
    for mesh in meshes:
        mesh.cycles.use_motion_blur = mesh.cycles.use_deform_motion = True
        mesh.cycles.motion_steps = steps
        for slot in mesh.material_slots:
            slot.material = material


def size_of(mesh):
    corners = np.array(mesh.bound_box)
    return np.linalg.norm(corners.max(axis=0) - corners.min(axis=0))


def small_fragments(meshes):
    """The meshes of small fragments."""
    sizes = [size_of(mesh) for mesh in meshes]
    return [mesh for mesh, size in zip(meshes, sizes) if size < LARGE * max(sizes)]


def visible_matrices(meshes, time):
    """World matrices of the meshes of non-zero size at a time, by name."""
    set_time(time)
    graph = bpy.context.evaluated_depsgraph_get()
    matrices = {mesh.name: np.array(mesh.evaluated_get(graph).matrix_world) for mesh in meshes}
    return {name: matrix for name, matrix in matrices.items() if np.abs(matrix[:3, :3]).max() > 1e-6}


def place_camera(places):
    """A camera at the side that sees most of the positions."""
    low, high = np.percentile(places, [2, 98], axis=0)
    middle, reach = (low + high) / 2, np.linalg.norm(high - low) / 2
    back = np.array([-0.55, -0.75, 0.35]) / np.linalg.norm([-0.55, -0.75, 0.35])
    data = bpy.data.cameras.new("camera")
    camera = bpy.data.objects.new("camera", data)
    bpy.context.scene.collection.objects.link(camera)
    data.clip_start, data.clip_end, data.angle = reach / 100, reach * 100, 0.6
    camera.location = middle + back * reach / np.tan(data.angle / 2)
    camera.rotation_euler = mathutils.Vector(-back).to_track_quat("-Z", "Y").to_euler()
    bpy.context.scene.camera = camera


def coverage(time, blur, samples, keep=None):
    """Fraction of each pixel, and of the shutter time, that fragments cover."""
    scene = bpy.context.scene
    set_time(time)
    scene.render.use_motion_blur = blur
    scene.cycles.samples = samples
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = str(keep or Path(folder) / "picture.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        image.alpha_mode = "CHANNEL_PACKED"
        pixels = np.empty(len(image.pixels), dtype=np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
    return pixels.reshape(scene.render.resolution_y, scene.render.resolution_x, 4)[:, :, 3]


def sweep(frame, rate=1):
    """Pictures without blur while the shutter of a frame is open; the shot has `rate` frames per frame of the other."""
    return np.array([coverage(rate * (frame + part), False, SHARP) for part in np.linspace(-SHUTTER / 2, SHUTTER / 2, TIMES)])


def keep_only(meshes, kept):
    kept = set(kept)
    for mesh in meshes:
        mesh.hide_render = mesh not in kept


def compare_own(meshes, chips, frame, folder):
    """Compares the blur of small fragments with their pictures without blur."""
    keep_only(meshes, chips)
    sharp = sweep(frame)
    blurred = coverage(frame, True, BLURRED, folder and folder / f"chips_{frame}.png")
    lit, swept, part = blurred > 0, sharp.max(axis=0) > 0, sharp.mean(axis=0)
    outside = count(lit & ~dilated(swept, GROWN))
    missed = count((part > COVERED) & ~dilated(lit, GROWN))
    difference = np.abs(blurred - part)[lit | swept].mean()
    line = (
        f"frame {frame}: chips light {count(lit)} pixels of {count(swept)} swept ({count(sharp[TIMES // 2])} without blur), "
        f"{outside} outside, {missed} missed, coverage off by {difference:.4f}"
    )
    print(line, flush=True)
    assert count(lit) > 500, f"{line}: too little to see"
    assert outside == 0 and missed == 0 and difference < DIFFERENCE, line


def compare_fine(blurred, sharp, frame):
    """Compares the blur of all fragments with the shot at a finer rate."""
    lit, swept = blurred > 0, sharp.max(axis=0) > 0
    outside = [count(lit & ~dilated(swept, pixels)) for pixels in range(GROWN_FINE + 1)]
    missed = [count((sharp.mean(axis=0) > COVERED) & ~dilated(lit, pixels)) for pixels in range(GROWN_FINE + 1)]
    allowed = OUTSIDE_FINE * count(lit)
    line = f"frame {frame} against FINE: {count(lit)} lit, {count(swept)} swept; outside by more than 0, 1, .. pixels {outside}, missed {missed}"
    print(line, flush=True)
    assert outside[-1] <= allowed and missed[-1] <= allowed, line


def same_motion(file, rate, event, times):
    """Compares world matrices of two files at the same frames, each played at its own rate."""
    matrices = []
    for given, played in ((file, 24), (event, rate)):
        meshes = load(given, played)
        matrices.append([visible_matrices(meshes, time) for time in times])
    most, number = 0.0, 0
    for one, other, time in zip(*matrices, times):
        assert one.keys() == other.keys(), f"frame {time}: {len(one)} and {len(other)} fragments shown"
        most = max([most] + [np.abs(one[name] - other[name]).max() for name in one])
        number += len(one)
    assert most < 1e-6, f"world matrices differ by {most}"
    print(f"24 and {rate} frames a second: {number} world matrices at {len(times)} times differ by at most {most:.1e}", flush=True)


def bodies(meshes, time):
    """World matrix, points and velocities, in object coordinates, of each visible mesh with velocities."""
    placed = visible_matrices(meshes, time)
    graph, found = bpy.context.evaluated_depsgraph_get(), {}
    for mesh in meshes:
        data = mesh.evaluated_get(graph).data
        if mesh.name not in placed or "velocity" not in data.attributes:
            continue
        arrays = np.empty((2, 3 * len(data.vertices)), dtype=np.float32)
        data.vertices.foreach_get("co", arrays[0])
        data.attributes["velocity"].data.foreach_get("vector", arrays[1])
        found[mesh.name] = placed[mesh.name], *arrays.reshape(2, -1, 3).astype(float)
    return found


def velocities(meshes, frame, rate):
    """For bending fragments: displacement of a point in Cycles, from poses and velocity, compared with that
    between the ends of the shutter time."""
    before, now, after = (bodies(meshes, frame + part * SHUTTER) for part in (-0.5, 0, 0.5))
    errors, worst = [], (0.0, "")
    for name in before.keys() & now.keys() & after.keys():
        (pose_a, a, _), (pose, points, velocity), (pose_b, b, _) = before[name], now[name], after[name]
        place = lambda matrix, p: p @ matrix[:3, :3].T + matrix[:3, 3]  # noqa: E731
        half = velocity * SHUTTER / rate / 2
        way = place(pose_b, b) - place(pose_a, a)
        drawn = place(pose_b, points + half) - place(pose_a, points - half)
        length = np.linalg.norm(way, axis=1)
        error = np.linalg.norm(drawn - way, axis=1)[length > 1e-5] / length[length > 1e-5]
        if len(error):
            errors.append(error)
            worst = max(worst, (float(np.median(error)), name))
    if not errors:
        return
    middle = np.median(np.concatenate(errors))
    line = f"frame {frame}, {rate} frames a second: {len(errors)} fragments bend, way off by {middle:.2%} in the median, {worst[0]:.1%} in {worst[1]}"
    print(line, flush=True)
    assert middle < VELOCITY, line


def arguments():
    parser = argparse.ArgumentParser(description="Checks motion blur in Blender.")
    parser.add_argument("store", type=Path, help="store with exports/*.usdc, or a USD file")
    parser.add_argument("fine", type=Path, nargs="?", help="the same shot at a multiple of the rate")
    parser.add_argument("--event", type=Path, help="USD file of STORE exported with --playback event")
    parser.add_argument("--frames", type=int, nargs="+", default=[1, 3, 20], help="first impact, birth of many fragments, free flight")
    parser.add_argument("--pictures", type=Path, help="folder for the blurred pictures")
    return parser.parse_args()


def main():
    options = arguments()
    frames, file = options.frames, usd_file(options.store)
    meshes = load(file)
    last = bpy.context.scene.frame_end
    velocities(meshes, frames[-1], 24)
    blurred, seen = [], []
    for frame in frames:
        chips = small_fragments(meshes)
        seen.append(np.array([matrix[:3, 3] for matrix in visible_matrices(chips, frame).values()]))
        place_camera(seen[-1])
        set_up(meshes)
        compare_own(meshes, chips, frame, options.pictures)
        keep_only(meshes, meshes)
        blurred.append(coverage(frame, True, BLURRED, options.pictures and options.pictures / f"all_{frame}.png"))
    if options.event:
        rate = rate_of(options.event)
        meshes = load(options.event, rate)
        velocities(meshes, frames[-1], rate)
        same_motion(file, rate, options.event, [frame + part for frame in frames for part in (-0.25, 0, 0.25)])
    if options.fine:
        meshes = load(usd_file(options.fine))
        times = bpy.context.scene.frame_end // last
        set_up(meshes)
        for frame, places, picture in zip(frames, seen, blurred):
            place_camera(places)
            compare_fine(picture, sweep(frame, times), frame)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"failed: {error}")
