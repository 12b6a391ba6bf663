"""Reads exports/*.usdc with Pixar's library and checks every mesh at every frame."""

from common import need, run

np, _, trimesh = need("numpy", "pxr", "trimesh")
from pxr import Usd, UsdGeom, UsdShade, UsdValidation  # noqa: E402


def check_normals(primvar, code, triangles, where):
    """Each corner has a normal of length 1, on the outer side of its triangle unless the triangle is a sliver."""
    assert primvar.GetInterpolation() == UsdGeom.Tokens.faceVarying, f"{where}: normals are {primvar.GetInterpolation()}"
    normals = np.array(primvar.ComputeFlattened(code)).reshape(-1, 3)
    assert len(normals) == 3 * len(triangles), f"{where}: {len(normals)} normals, {len(triangles)} triangles"
    lengths = np.linalg.norm(normals, axis=1)
    # Between frames normals are interpolated.
    assert np.all(lengths < 1.0001) and (code % 1 or np.all(lengths > 0.9999)), f"{where}: normals from {lengths.min()} to {lengths.max()}"
    a, b, c = triangles.transpose(1, 0, 2).astype(float)
    faces = np.cross(b - a, c - a)
    areas = np.linalg.norm(faces, axis=1)
    edges = np.max([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)], axis=0)
    whole = areas > 0.05 * edges**2
    lean = np.einsum("ij,ikj->ik", faces[whole], normals.reshape(-1, 3, 3)[whole]) / areas[whole, None]
    # In a bending fragment, small triangles at a crack may fold over.
    assert np.count_nonzero(lean <= 0) <= max(3, 1e-3 * lean.size), f"{where}: of {lean.size} normals {np.count_nonzero(lean <= 0)} look inward"


def check_mesh(mesh, code):
    """World positions of the mesh at `code`, None where it is not visible; the lengths of all arrays must be
    consistent."""
    to_world = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(code))
    size = np.linalg.norm(to_world[0, :3])
    if UsdGeom.Imageable(mesh).ComputeVisibility(code) == UsdGeom.Tokens.invisible:
        assert size < 1e-6, f"{mesh.GetPath()} at {code}: not shown, but of size {size}"
        return np.zeros((0, 3))
    assert abs(size - 1) < 1e-6, f"{mesh.GetPath()} at {code}: scaled by {size}"
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
    if mesh.GetPointsAttr().GetNumTimeSamples():
        assert len(get(mesh.GetVelocitiesAttr())) == len(points), f"{where}: velocities do not fit the points"
    primvars = UsdGeom.PrimvarsAPI(mesh)
    check_normals(primvars.GetPrimvar("normals"), code, points[indices].reshape(-1, 3, 3), where)
    for name, expected in (("fragment", 1), ("inside", len(counts)), ("rest", len(points)), ("stress", len(points))):
        found = get(primvars.GetPrimvar(name).GetAttr()).reshape(-1).shape[0] // (3 if name == "rest" else 1)
        assert found == expected, f"{where}: primvars:{name} has {found} values, expected {expected}"
    low, high = get(mesh.GetExtentAttr())
    assert np.all(points >= low - 1e-6) and np.all(points <= high + 1e-6), f"{where}: points outside the extent"
    ok, why = UsdGeom.Subset.ValidateFamily(mesh, UsdGeom.Tokens.face, "materialBind")
    assert ok, f"{where}: {why}"
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        material = UsdShade.MaterialBindingAPI(subset).ComputeBoundMaterial()[0]
        assert material and material.GetPrim().GetName() == subset.GetPrim().GetName(), f"{where}: no material"
        flags = get(primvars.GetPrimvar("inside").GetAttr())[np.array(subset.GetIndicesAttr().Get())]
        assert np.all(flags == (subset.GetPrim().GetName() == "inside")), f"{where}: faces of another subset"
    return points @ to_world[:3, :3] + to_world[3, :3]


def compare(store, code, points):
    """If the frame was exported as PLY too, its points are the same, in some order."""
    files = list((store / "exports" / "ply").glob(f"*.{code:06}.ply"))
    if not files:
        return 0
    other = np.asarray(trimesh.load(files[0], process=False).vertices)
    assert len(other) == len(points), f"frame {code}: {len(points)} points in USD, {len(other)} in PLY"
    rows = [np.round(array * 1e6).astype(np.int64) for array in (points.astype(np.float64), other)]
    a, b = (array[np.lexsort(array.T)] for array in rows)
    off = np.abs(a.mean(axis=0) - b.mean(axis=0)).max() if len(a) else 0
    # The error of a rigid fragment may be 2e-4 of its size.
    allowed = 2e-4 * 1e6 * np.ptp(other, axis=0).max()
    assert off < allowed and np.abs(a.min(axis=0) - b.min(axis=0)).max() <= allowed, f"frame {code}: points of another frame"
    return 1


def check(store):
    files = sorted(file for file in (store / "exports").glob("*.usdc") if not file.name.endswith(".elements.usdc"))
    assert files, f"no USD file in {store / 'exports'}"
    frames = meshes = most = rigid = compared = 0
    for file in files:
        stage = Usd.Stage.Open(str(file))
        assert stage, f"{file}: not readable"
        assert stage.GetDefaultPrim().IsValid(), f"{file}: no default prim"
        assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y, f"{file}: y is not up"
        assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0, f"{file}: units are not metres"
        validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
        complaints = [error.GetMessage() for error in UsdValidation.ValidationContext(validators).Validate(stage)]
        assert validators and not complaints, f"{file}: {complaints[:3]}"
        found = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
        assert found, f"{file}: no mesh"
        meshes += len(found)
        first, last = int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode())
        for code in range(first, last + 1):
            points = np.concatenate([check_mesh(mesh, code).reshape(-1, 3) for mesh in found])
            most = max(most, len(points))
            compared += compare(store, code, points)
        # Between frames the points must still match the topology at that time.
        for code in range(first, last):
            for mesh in found:
                check_mesh(mesh, code + 0.5)
        frames += last + 1 - first
        rigid += sum(mesh.GetPointsAttr().GetNumTimeSamples() == 0 for mesh in found)
    assert rigid > 0, "nothing is rigid"
    return f"usd: {meshes} meshes, {rigid} of them rigid, {frames} frames, at most {most} points a frame, {compared} frames as in PLY"


run(check)
