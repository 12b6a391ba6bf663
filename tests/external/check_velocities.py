"""Velocities in USD files, as used by a renderer: times a part of a frame they are the displacement of the points, at any playback rate.

Elements and debris: from both ends of the interval between two frames UsdGeom moves each instance half-way, by its velocity and angular velocity; the
two halves together must be its displacement and its rotation. Bending meshes have velocities in addition to the motion of the prim; as elastic waves are
faster than frames, these are compared with the velocities in the PLY files, both less the nearest rigid motion.
"""

import tempfile
from pathlib import Path

from common import export, need, run, usd_file

np, _, _ = need("numpy", "pxr", "scipy")
from pxr import Usd, UsdGeom  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

# Allowed deviation of the median.
CLOSE = 0.02
# Allowed ratio, in the median, of velocities without rigid motion to the prim's own motion: the mean of
# vertices is not the centre of mass.
RIGID = 0.1
# The smallest rotation between frames that is checked, rad: orientations have 16 bits.
TURN = 0.05


def exported(store, target, *options):
    """Exports the store again and opens the stage."""
    export(store, target, *options)
    return opened(target)


def opened(file):
    """Opens a stage and checks that its rates are consistent."""
    stage = Usd.Stage.Open(str(file))
    metadata = stage.GetRootLayer().customLayerData
    rate, event = stage.GetTimeCodesPerSecond(), metadata["eventFramesPerSecond"]
    assert abs(metadata["slowMotion"] * rate - event) <= 1e-9 * event, f"{file}: {rate} time codes a second, {event} frames, {metadata['slowMotion']} times slower"
    return stage


def transforms(instancer, code, base):
    """Instances at a time, extrapolated from a frame by their velocities; the rows of each matrix are axes and
    position."""
    both = UsdGeom.PointInstancer.ExcludeProtoXform, UsdGeom.PointInstancer.IgnoreMask
    found = np.array(instancer.ComputeInstanceTransformsAtTime(code, base, *both))
    axes = found[:, :3, :3]
    return found[:, 3, :3], axes / np.maximum(np.linalg.norm(axes, axis=2, keepdims=True), 1e-30)


def turn(a, b):
    """Rotation vectors from one set of axes to another, rad."""
    between = Rotation.from_matrix(b.transpose(0, 2, 1)) * Rotation.from_matrix(a.transpose(0, 2, 1)).inv()
    return between.as_rotvec()


def projected_ratio(found, whole, least):
    """Component of vectors `found` along `whole` over the length of `whole`, where that is at least `least`."""
    square = np.einsum("ni,ni->n", whole, whole)
    far = square > least**2
    return np.einsum("ni,ni->n", found, whole)[far] / square[far]


def shown(instancer, code):
    count = len(instancer.GetIdsAttr().Get())
    mask = instancer.ComputeMaskAtTime(code)
    return np.array(mask, dtype=bool) if mask else np.ones(count, dtype=bool)


def check_instancer(instancer, frames, where):
    """Median ratio of displacements by velocities to actual displacements, and the same for rotations."""
    ways, turns = [], []
    for frame in frames:
        there = shown(instancer, frame) & shown(instancer, frame + 1)
        ends = [transforms(instancer, code, code) for code in (frame, frame + 1)]
        halves = [transforms(instancer, frame + 0.5, code) for code in (frame, frame + 1)]
        way = halves[0][0] - ends[0][0] + ends[1][0] - halves[1][0]
        ways.append(projected_ratio(way[there], (ends[1][0] - ends[0][0])[there], 0.0))
        turned = turn(ends[0][1], halves[0][1]) + turn(halves[1][1], ends[1][1])
        whole = turn(ends[0][1], ends[1][1])
        # The direction of rotations by half a turn or more is ambiguous.
        slow = np.linalg.norm(whole, axis=1) < 2.5
        turns.append(projected_ratio(turned[there & slow], whole[there & slow], TURN))
    ways, turns = np.concatenate(ways), np.concatenate(turns)
    assert len(ways) and len(turns), f"{where}: nothing moves, or nothing turns"
    middle = np.median(ways), np.median(turns)
    for name, found in zip(("velocities", "angularVelocities"), middle):
        assert abs(found - 1) < CLOSE, f"{where}: {name} make {found:.3f} of the way or turn in the median"
    return f"{middle[0]:.4f} of the way and {middle[1]:.4f} of the turn of {where}"


def check_instancers(stage, name):
    """Checks the later half of the shot, when most fragments are in free flight."""
    first, last = int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode())
    found = [UsdGeom.PointInstancer(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.PointInstancer)]
    assert found, f"{name}: no point instancer"
    frames = range((first + last) // 2, last)
    rate = stage.GetTimeCodesPerSecond()
    return [check_instancer(instancer, frames, f"{instancer.GetPrim().GetName()} at {rate:g}") for instancer in found]


def table(file):
    """Positions, velocities, rest positions and labels of the vertices of a PLY file; all its numbers have 4 bytes."""
    data = file.read_bytes()
    head, body = data.split(b"end_header\n", 1)
    lines = head.decode().split("element face")[0].split("\n")
    (count,) = [int(line.split()[2]) for line in lines if line.startswith("element vertex")]
    kinds = [(line.split()[2], {"float": "<f4", "int": "<i4"}[line.split()[1]]) for line in lines if line.startswith("property")]
    rows = np.frombuffer(body, dtype=kinds, count=count)

    def vectors(*names):
        return np.stack([rows[name] for name in names], axis=1)

    return vectors("x", "y", "z").astype(float), vectors("vx", "vy", "vz").astype(float), vectors("rest_x", "rest_y", "rest_z"), rows["fragment"]


def without_rigid_motion(places, velocities):
    """Velocities less the nearest rigid motion."""
    arms, own = places - places.mean(axis=0), velocities - velocities.mean(axis=0)
    inertia = np.eye(3) * np.sum(arms**2) - arms.T @ arms
    spin = np.linalg.solve(inertia, np.cross(arms, own).sum(axis=0))
    return own - np.cross(spin, arms)


def unique_rest_positions(rest):
    """Sorted rest positions that belong to one vertex only, and the index of that vertex."""
    words = np.ascontiguousarray(rest, dtype=np.float32).view("V12").reshape(-1)
    found, first, counts = np.unique(words, return_index=True, return_counts=True)
    return found[counts == 1], first[counts == 1]


def check_mesh(mesh, code, vertices, pace):
    """Difference between the velocities of a mesh and those of the PLY file's vertices, over their median length;
    `pace` is seconds of the event per second of playback."""
    places, velocities, rest, _ = vertices
    matrix = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(code))[:3, :3]
    own, at = unique_rest_positions(UsdGeom.PrimvarsAPI(mesh).GetPrimvar("rest").Get())
    other, of = unique_rest_positions(rest)
    _, a, b = np.intersect1d(own, other, return_indices=True)
    assert len(a) > 0.9 * len(own), f"{mesh.GetPath()} at {code}: {len(own)} vertices, {len(a)} of them in PLY"
    at, of = at[a], of[b]
    metadata = np.array(mesh.GetVelocitiesAttr().Get(code), dtype=float)[at] @ matrix
    found, expected = without_rigid_motion(places[of], metadata), without_rigid_motion(places[of], velocities[of]) * pace
    # They do not contain the motion of the prim a second time.
    rigid = velocities[of] * pace - expected
    speed = np.linalg.norm(rigid, axis=1).mean()
    twice = np.linalg.norm(metadata - found, axis=1).mean() / speed if speed > 0 else 0.0
    return np.linalg.norm(found - expected, axis=1) / np.median(np.linalg.norm(expected, axis=1)), twice


def check_meshes(stage, ply):
    """Velocities of bending meshes, in all frames that exist as PLY files."""
    pace = stage.GetTimeCodesPerSecond() / stage.GetRootLayer().customLayerData["eventFramesPerSecond"]
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    bending = [mesh for mesh in meshes if mesh.GetVelocitiesAttr().GetNumTimeSamples()]
    assert bending, "nothing bends"
    off, rigid, compared = [], [], 0
    for file in sorted(ply.glob("*.ply")):
        code, vertices = int(file.stem.split(".")[-1]), table(file)
        if not stage.GetStartTimeCode() <= code <= stage.GetEndTimeCode():
            continue
        for mesh in bending:
            if mesh.ComputeVisibility(code) == UsdGeom.Tokens.invisible:
                continue
            label = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("fragment").Get()
            rows = vertices[3] == label
            assert rows.any(), f"{mesh.GetPath()} at {code}: PLY has no fragment {label}"
            beside_it, twice = check_mesh(mesh, code, [column[rows] for column in vertices], pace)
            off.append(beside_it)
            rigid.append(twice)
            compared += 1
    assert compared, f"{ply}: no frame with a mesh that bends"
    middle = np.median(np.concatenate(off))
    assert np.median(rigid) < RIGID, f"velocities of meshes have {np.median(rigid):.2f} of the motion of their prims in them"
    assert middle < CLOSE, f"velocities of meshes are off by {middle:.2f} in the median at {stage.GetTimeCodesPerSecond():g} time codes a second"
    return f"meshes that bend off by {middle:.1e} of PLY's at {stage.GetTimeCodesPerSecond():g}, {compared} times"


def debris_size(stage):
    """A size, m, below which most fragments are debris."""
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    boxes = [np.array(mesh.GetExtentAttr().Get(Usd.TimeCode.EarliestTime()), float) for mesh in meshes]
    return 1.2 * np.median([np.linalg.norm(high - low) for low, high in boxes])


def check(store):
    stage = opened(usd_file(store))
    size, said = debris_size(stage), [check_meshes(stage, store / "exports" / "ply")]
    # A stage reads its values lazily.
    with tempfile.TemporaryDirectory() as folder:
        for rate in ("24", "event"):
            options = ("--playback", rate)
            elements = exported(store, Path(folder) / f"{rate}.elements.usdc", "--format", "usd-elements", *options)
            said += check_instancers(elements, "elements")
            debris = exported(store, Path(folder) / f"{rate}.debris.usdc", "--format", "usd", "--debris-size", f"{size} m", *options)
            said += check_instancers(debris, "debris")
        event = exported(store, Path(folder) / "event.usdc", "--format", "usd", "--playback", "event")
        said.append(check_meshes(event, store / "exports" / "ply"))
    return f"velocities: {'; '.join(said)}"


if __name__ == "__main__":
    run(check)
