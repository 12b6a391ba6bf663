"""Reads exports/*.usda with Pixar's library and checks every mesh at every frame."""

from common import need, run

np, _, trimesh = need("numpy", "pxr", "trimesh")
from pxr import Usd, UsdGeom  # noqa: E402


def check_mesh(mesh, code):
    """Points of the mesh at `code`; every array must fit every other."""
    where = f"{mesh.GetPath()} at {code}"

    def get(attribute):
        value = attribute.Get(code)
        assert value is not None, f"{where}: {attribute.GetName()} has no value"
        return np.array(value)

    points = get(mesh.GetPointsAttr())
    counts = get(mesh.GetFaceVertexCountsAttr())
    indices = get(mesh.GetFaceVertexIndicesAttr())
    assert counts.sum() == len(indices), f"{where}: counts add up to {counts.sum()}, {len(indices)} indices"
    if len(indices):
        assert indices.min() >= 0, f"{where}: negative index"
        highest = indices.max() + 1
        assert highest == len(points), f"{where}: {len(points)} points, highest index {highest - 1}"
    else:
        assert len(points) == 0, f"{where}: {len(points)} points and no faces"
    ok, why = UsdGeom.Mesh.ValidateTopology(
        mesh.GetFaceVertexIndicesAttr().Get(code), mesh.GetFaceVertexCountsAttr().Get(code), len(points)
    )
    assert ok, f"{where}: {why}"
    for attribute in (mesh.GetNormalsAttr(), mesh.GetVelocitiesAttr()):
        assert len(get(attribute)) == len(points), f"{where}: {attribute.GetName()} does not fit the points"
    normals = get(mesh.GetNormalsAttr())
    assert np.all(np.linalg.norm(normals, axis=1) < 1.001) if len(normals) else True, f"{where}: normals over 1"
    primvars = UsdGeom.PrimvarsAPI(mesh)
    for name, expected in (("fragment", len(counts)), ("inside", len(counts)), ("rest", len(points))):
        found = len(get(primvars.GetPrimvar(name).GetAttr()))
        assert found == expected, f"{where}: primvars:{name} has {found} values, expected {expected}"
    # Between frames the extent is blended, but points of changing number are held.
    if len(points) and code == int(code):
        low, high = get(mesh.GetExtentAttr())
        assert np.all(points >= low - 1e-6) and np.all(points <= high + 1e-6), f"{where}: points outside the extent"
    return points


def compare(store, code, points):
    """Whether the frame was exported as PLY too: then its points are the same, in some order."""
    files = list((store / "exports" / "ply").glob(f"*.{code:06}.ply"))
    if not files:
        return 0
    other = np.asarray(trimesh.load(files[0], process=False).vertices)
    assert len(other) == len(points), f"frame {code}: {len(points)} points in USD, {len(other)} in PLY"
    rows = [np.round(array * 1e6).astype(np.int64) for array in (points.astype(np.float64), other)]
    a, b = (array[np.lexsort(array.T)] for array in rows)
    off = np.abs(a.mean(axis=0) - b.mean(axis=0)).max() if len(a) else 0
    assert off < 1 and np.abs(a.min(axis=0) - b.min(axis=0)).max() <= 1, f"frame {code}: points of another frame"
    return 1


def check(store):
    files = sorted((store / "exports").glob("*.usda"))
    assert files, f"no USD file in {store / 'exports'}"
    frames = meshes = most = samples = compared = 0
    for file in files:
        stage = Usd.Stage.Open(str(file))
        assert stage, f"{file}: not readable"
        assert stage.GetDefaultPrim().IsValid(), f"{file}: no default prim"
        assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y, f"{file}: y is not up"
        assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0, f"{file}: units are not metres"
        found = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
        assert found, f"{file}: no mesh"
        meshes += len(found)
        first, last = int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode())
        for code in range(first, last + 1):
            points = np.concatenate([check_mesh(mesh, code).reshape(-1, 3) for mesh in found])
            most = max(most, len(points))
            compared += compare(store, code, points)
        # Between frames the points must still fit the topology that holds there.
        for code in range(first, last):
            for mesh in found:
                check_mesh(mesh, code + 0.5)
        frames += last + 1 - first
        samples += sum(mesh.GetFaceVertexIndicesAttr().GetNumTimeSamples() for mesh in found)
    return f"usd: {meshes} meshes, {frames} frames, {samples} topology samples, at most {most} points a frame, {compared} frames as in PLY"


run(check)
