"""Plays the animated GLB file with three.js: the poses at given frames are the same at any playback rate, and
equal those of the USD file."""

import tempfile
from pathlib import Path

from common import export, need, run, usd_file

np, _, _ = need("numpy", "pxr", "scipy")
from pxr import Gf, Usd, UsdGeom  # noqa: E402

from clip import PARTS, Clip, animated  # noqa: E402

# Allowed deviation of a point, over the node's extent: rotations have 16-bit integer components, and three.js
# does not normalise them.
TURNS = 2e-4
# And over the distance from the origin: positions are in single precision.
PLACES = 3e-7


def moments(clip):
    """Frames and quarter frames of a clip."""
    count = (clip.last - clip.first) * PARTS
    return [clip.first + k / PARTS for k in range(count + 1)]


def check_duration(clip, file):
    expected = (clip.last - clip.first) / clip.rate
    assert abs(clip.duration - expected) <= 1e-6 * expected, f"{file}: {clip.duration} s, {clip.last - clip.first} frames at {clip.rate} a second"
    slow = clip.event / clip.rate
    assert abs(clip.extras["slowMotion"] - slow) <= 1e-9 * slow, f"{file}: slowMotion is {clip.extras['slowMotion']}, the rates say {slow}"


def farther(a, b, reach):
    """Largest distance between the corners of a box about the pivot in two poses, over the allowed one."""
    corners = reach * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    off = corners @ (a[0] - b[0]) + a[1] - b[1]
    return np.linalg.norm(off, axis=1).max() / (TURNS * reach + PLACES * np.abs(a[1]).max())


def check_rates(played, event):
    """Two clips of a store have the same poses at the same frames."""
    assert played.nodes == event.nodes and played.rate != event.rate, "clips of other stores, or of one rate"
    worst = 0.0
    for code in moments(played):
        shown = played.shown(code)
        assert np.array_equal(shown, event.shown(code)), f"frame {code}: another {np.count_nonzero(shown != event.shown(code))} nodes are shown at {event.rate}"
        for node in np.flatnonzero(shown):
            off = farther(played.pose(node, code), event.pose(node, code), played.reach[node])
            assert off < 1, f"frame {code}: node {node} is off by {off:.1f} of what is allowed at {event.rate} frames a second"
            worst = max(worst, off)
    return worst


def turned(mesh, code):
    """Rotation of a prim, for multiplication from the right. For two quaternions within half a degree USD takes their mean without normalising it, and
    then the angle from its real part; so here it is normalised."""
    found = mesh.GetPrim().GetAttribute("xformOp:orient").Get(code)
    return np.array(Gf.Matrix3d(Gf.Rotation(Gf.Quatd(found).GetNormalized())))


def check_usd(clip, file):
    """The clip and the USD file show the same fragments in the same poses."""
    stage = Usd.Stage.Open(str(file))
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y, f"{file}: y is not up"
    assert stage.GetTimeCodesPerSecond() == clip.rate, f"{file}: {stage.GetTimeCodesPerSecond()} time codes a second, the clip has {clip.rate}"
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    names = [(mesh.GetPrim().GetParent().GetName(), mesh.GetPrim().GetName()) for mesh in meshes]
    assert set(names) == set(clip.nodes), f"{file}: prims are not the nodes of the clip"
    worst = poses = 0
    for code in moments(clip):
        cache, shown = UsdGeom.XformCache(code), clip.shown(code)
        for mesh, name in zip(meshes, names):
            node = clip.nodes[name]
            there = mesh.ComputeVisibility(code) != UsdGeom.Tokens.invisible
            assert there == shown[node], f"{name} at {code}: only {'USD' if there else 'GLB'} shows it"
            if there:
                pose = turned(mesh, code), np.array(cache.GetLocalToWorldTransform(mesh.GetPrim()))[3, :3]
                off = farther(pose, clip.pose(node, code), clip.reach[node])
                assert off < 1, f"{name} at {code}: off by {off:.1f} of what is allowed"
                worst, poses = max(worst, off), poses + 1
    return worst, poses


def check(store):
    file = animated(store)
    played = Clip(file)
    check_duration(played, file)
    off_usd, poses = check_usd(played, usd_file(store))
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "event.animated.glb"
        export(store, other, "--format", "glb-animated", "--playback", "event")
        event = Clip(other)
    assert event.rate == event.event, f"{event.rate} frames a second, {event.event} were asked for"
    check_duration(event, "event")
    off_event = check_rates(played, event)
    return (
        f"clip: {len(played.nodes)} nodes, {poses} poses at quarters of frames as in USD, off by up to {off_usd:.2f} of what is allowed; "
        f"{played.duration:g} s at {played.rate:g} frames a second, {event.duration:g} s at {event.rate:g}, off by up to {off_event:.2f}"
    )


if __name__ == "__main__":
    run(check)
