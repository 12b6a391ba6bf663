"""Reads point instancers with Pixar's library: elements against the tables, debris against the file that has one
mesh per fragment."""

import os
import subprocess
import tempfile
from pathlib import Path

from common import need, run, usd_file

np, _, parquet = need("numpy", "pxr", "pyarrow.parquet")
from pxr import Usd, UsdGeom, UsdValidation  # noqa: E402


def opened(file):
    """Opens a stage; Pixar's validators must report nothing."""
    stage = Usd.Stage.Open(str(file))
    assert stage, f"{file}: not readable"
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    complaints = [error.GetMessage() for error in UsdValidation.ValidationContext(validators).Validate(stage)]
    assert validators and not complaints, f"{file}: {complaints[:3]}"
    return stage


def instancers(stage):
    return [UsdGeom.PointInstancer(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.PointInstancer)]


def primvar(prim, name, code):
    return np.array(UsdGeom.PrimvarsAPI(prim).GetPrimvar(name).Get(code))


def check_elements(store):
    """Every element of every frame has the position, size and values given by the tables."""
    [file] = (store / "exports").glob("*.elements.usdc")
    stage = opened(file)
    packing = parquet.read_table(store / "packing" / "elements.parquet").to_pydict()
    found = instancers(stage)
    assert len(found) == len(set(packing["body"])), f"{len(found)} instancers"
    rows = {instancer: np.array(instancer.GetIdsAttr().Get()) for instancer in found}
    assert sorted(np.concatenate(list(rows.values()))) == packing["id"], "ids are not those of the packing"
    pace = np.float32(stage.GetTimeCodesPerSecond() / stage.GetRootLayer().customLayerData["eventFramesPerSecond"])
    tables = sorted((store / "frames").glob("*.parquet"))
    for path in tables:
        code, table = int(path.stem), parquet.read_table(path).to_pydict()
        for instancer, ids in rows.items():
            where = f"{instancer.GetPath()} at {code}"

            def held(columns):
                return np.column_stack([table[name] for name in columns]).astype(np.float32)[ids]

            assert np.all(np.array(instancer.GetPositionsAttr().Get(code)) == held("xyz")), f"{where}: positions"
            # Per second of playback.
            moving = held(["vx", "vy", "vz"]) * pace
            assert np.all(np.array(instancer.GetVelocitiesAttr().Get(code)) == moving), f"{where}: velocities"
            radii = np.array(packing["r"], np.float32)[ids, None]
            assert np.all(np.array(instancer.GetScalesAttr().Get(code)) == radii), f"{where}: scales"
            turns = [(*q.GetImaginary(), q.GetReal()) for q in instancer.GetOrientationsAttr().Get(code)]
            same = np.abs(np.einsum("ij,ij->i", np.array(turns, float), held(["qx", "qy", "qz", "qw"])))
            assert np.all(np.abs(same - 1) < 2e-3), f"{where}: orientations"
            assert np.all(primvar(instancer, "fragment", code) == np.array(table["fragment"])[ids]), f"{where}: fragments"
            stress = held(["sigma"])[:, 0]
            off = np.abs(primvar(instancer, "stress", code) - stress)
            assert np.all(off <= 6e-3 * np.abs(stress)), f"{where}: stress"
            low, high = np.array(instancer.GetExtentAttr().Get(code))
            points = held("xyz")
            assert np.all(points - radii >= low - 1e-6) and np.all(points + radii <= high + 1e-6), f"{where}: extent"
    return f"{len(packing['id'])} elements in {len(tables)} frames as in the tables"


def corners(mesh):
    """Corners of the mesh's bounding box at rest, in homogeneous coordinates."""
    box = np.array(mesh.GetExtentAttr().Get(Usd.TimeCode.EarliestTime()), float)
    return np.array([(*(box[k >> axis & 1][axis] for axis in range(3)), 1.0) for k in range(8)])


def shown(stage, code):
    """The visible meshes that belong to no prototype, by label."""
    found = {}
    for prim in stage.Traverse():
        mesh = UsdGeom.Mesh(prim)
        if not mesh or "prototypes" in str(prim.GetPath()) or mesh.ComputeVisibility(code) == UsdGeom.Tokens.invisible:
            continue
        found[UsdGeom.PrimvarsAPI(mesh).GetPrimvar("fragment").Get()] = mesh
    return found


def check_debris(store):
    """Each fragment is either a mesh or an instance, and an instance fills a bounding box of the size of its fragment's, about its
    centre of mass."""
    whole = opened(usd_file(store))
    meshes = [UsdGeom.Mesh(prim) for prim in whole.Traverse() if prim.IsA(UsdGeom.Mesh)]
    limit = 1.2 * np.median([np.linalg.norm(corners(mesh)[7] - corners(mesh)[0]) for mesh in meshes])
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "debris.usdc"
        given = [os.environ.get("CULLET", "cullet"), "export", store, "--format", "usd", "--debris-size", f"{limit} m", "--to", to, "--quiet"]
        subprocess.run(given, check=True)
        stage = opened(to)
        found = instancers(stage)
        assert found, "no debris"
        compared, farthest, shapes = 0, 0.0, 0
        for instancer in found:
            prototypes = [UsdGeom.Mesh(stage.GetPrimAtPath(path.AppendChild("mesh"))) for path in instancer.GetPrototypesRel().GetTargets()]
            assert 0 < len(prototypes) <= 8 and all(prototypes), f"{len(prototypes)} prototypes"
            shapes += len(prototypes)
        for code in range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1):
            wanted, left = shown(whole, code), set(shown(stage, code))
            for instancer in found:
                ids = list(instancer.GetIdsAttr().Get())
                mask = list(instancer.ComputeMaskAtTime(code)) or [True] * len(ids)
                kinds = instancer.GetProtoIndicesAttr().Get(code)
                ways = instancer.ComputeInstanceTransformsAtTime(code, code, applyMask=UsdGeom.PointInstancer.IgnoreMask)
                targets = instancer.GetPrototypesRel().GetTargets()
                for label, there, kind, way in zip(ids, mask, kinds, ways):
                    if not there:
                        continue
                    assert label not in left, f"frame {code}: fragment {label} is there twice"
                    left.add(label)
                    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(targets[kind].AppendChild("mesh")))
                    own = mesh.GetLocalTransformation(code)
                    box = corners(mesh) @ np.array(own) @ np.array(way)
                    if wanted[label].GetPointsAttr().GetNumTimeSamples():
                        continue
                    to_world = np.array(wanted[label].ComputeLocalToWorldTransform(code))
                    other = corners(wanted[label]) @ to_world
                    size = np.linalg.norm(other[7] - other[0])
                    # The centre of mass of a prototype is at another place in its bounding box.
                    boxes = np.abs((box - box[0]) - (other - other[0])).max()
                    off = max(boxes, np.abs(np.array(way)[3] - to_world[3]).max()) / size
                    assert size < limit and off < 2e-3, f"frame {code}: fragment {label} is off by {off:.1e} of its size"
                    farthest, compared = max(farthest, off), compared + 1
            assert left == set(wanted), f"frame {code}: {len(left)} fragments, {len(wanted)} expected"
    assert compared > 0, "no instance was compared"
    return f"debris below {limit:.2g} m of {shapes} shapes, {compared} times as the meshes have it, off by up to {farthest:.0e} of its size"


def check(store):
    return f"usd: {check_elements(store)}; {check_debris(store)}"


run(check)
