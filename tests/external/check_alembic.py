"""Reads exports/*.abc with the reference library: the meshes, their poses and velocities are those of the USD file."""

import tempfile
from pathlib import Path

from common import export, need, run, usd_file

np, _, alembic, imath = need("numpy", "pxr", "alembic3d", "imath")
from alembic3d import Abc, AbcGeom  # noqa: E402
from pxr import Usd, UsdGeom  # noqa: E402


def array(values, width):
    """A NumPy array of an array of imath."""
    if width == 1:
        return np.array([values[k] for k in range(len(values))])
    return np.array([[values[k][axis] for axis in range(width)] for k in range(len(values))]).reshape(-1, width)


def matrix(values):
    return np.array([[values[row][column] for column in range(4)] for row in range(4)])


def at(time):
    """Selects the sample nearest to a time, s. A whole number alone would be taken for a time, too."""
    return Abc.ISampleSelector(float(time))


def times(sampling, count):
    return [sampling.getSampleTime(k) for k in range(count)]


def parameter(schema, name):
    """The values of a parameter of a mesh, at its first sample."""
    parameters = {"stress": AbcGeom.IFloatGeomParam, "rest": AbcGeom.IP3fGeomParam, "inside": AbcGeom.IInt32GeomParam, "fragment": AbcGeom.IInt32GeomParam}
    return parameters[name](schema.getArbGeomParams(), name).getExpandedValue().getVals()


class Fragment:
    """A transform with a mesh."""

    def __init__(self, node):
        self.name = node.getName()
        self.node = node
        self.transform = AbcGeom.IXform(node, Abc.WrapExistingFlag.kWrapExisting).getSchema()
        (child,) = node.children
        self.mesh = AbcGeom.IPolyMesh(child, Abc.WrapExistingFlag.kWrapExisting).getSchema()
        self.sets = [(one.getName(), AbcGeom.IFaceSet(one, Abc.WrapExistingFlag.kWrapExisting).getSchema()) for one in child.children]


def compare_mesh(fragment, mesh, rate):
    """Compares topology, points, velocities and sets of faces; returns the largest relative error of a velocity."""
    schema = fragment.mesh
    sample = schema.getValue(at(0))
    corners = array(sample.getFaceIndices(), 1).reshape(-1, 3)
    wanted = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    assert (corners[:, [0, 2, 1]] == wanted).all(), f"{fragment.name}: other triangles"
    assert (array(sample.getFaceCounts(), 1) == 3).all(), f"{fragment.name}: not triangles"
    sets = {name: array(one.getValue(at(0)).getFaces(), 1) for name, one in fragment.sets}
    for prim in mesh.GetPrim().GetChildren():
        subset = UsdGeom.Subset(prim)
        assert (sets[prim.GetName()] == np.array(subset.GetIndicesAttr().Get())).all(), f"{fragment.name}: other faces of {prim.GetName()}"
    primvars = UsdGeom.PrimvarsAPI(mesh.GetPrim())
    for name, width in (("rest", 3), ("inside", 1), ("fragment", 1)):
        wanted = np.array(primvars.GetPrimvar(name).Get()).reshape(-1, width)
        assert np.array_equal(array(parameter(schema, name), width).reshape(-1, width), wanted), f"{fragment.name}: another {name}"
    first = primvars.GetPrimvar("stress").GetTimeSamples()[0]
    wanted = np.array(primvars.GetPrimvar("stress").Get(first))
    assert np.allclose(array(parameter(schema, "stress"), 1), wanted, rtol=1e-6), f"{fragment.name}: another stress"
    normals = primvars.GetPrimvar("normals")
    first = (normals.GetTimeSamples() or [Usd.TimeCode.Default()])[0]
    wanted = np.array(normals.ComputeFlattened(first)).reshape(-1, 3, 3)
    found = array(schema.getNormalsParam().getExpandedValue(at(0)).getVals(), 3).reshape(-1, 3, 3)
    assert np.allclose(found[:, [0, 2, 1]], wanted, atol=1e-6), f"{fragment.name}: other normals"
    attribute = mesh.GetPointsAttr()
    codes = attribute.GetTimeSamples()
    if not codes:
        assert schema.getNumSamples() == 1, f"{fragment.name}: {schema.getNumSamples()} samples of a rigid mesh"
        assert np.array_equal(array(sample.getPositions(), 3).astype(np.float32), np.array(attribute.Get())), f"{fragment.name}: other points"
        return 0.0
    known = times(schema.getTimeSampling(), schema.getNumSamples())
    assert np.allclose(known, np.array(codes) / rate, atol=1e-9, rtol=0), f"{fragment.name}: samples at {known}, frames {codes}"
    worst, compared = 0.0, 0
    for k, code in enumerate(codes):
        sample = schema.getValue(at(known[k]))
        assert np.array_equal(array(sample.getPositions(), 3).astype(np.float32), np.array(attribute.Get(code))), f"{fragment.name}: other points at {code}"
        velocities = mesh.GetVelocitiesAttr()
        if code in velocities.GetTimeSamples():
            found, wanted = array(sample.getVelocities(), 3), np.array(velocities.Get(code))
            worst = max(worst, np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))
            compared += 1
    assert compared > 0, f"{fragment.name}: no velocities"
    return worst


def compare_poses(fragment, mesh, last, rate):
    """Compares poses and visibility at the times at which the USD file has poses, and at whole frames; between samples,
    matrices are interpolated number by number, as the simplest readers do. Returns the largest difference of a number and
    how many poses were compared."""
    xform = UsdGeom.Xformable(mesh.GetPrim())
    known = np.array(times(fragment.transform.getTimeSampling(), fragment.transform.getNumSamples()))
    poses = np.array([matrix(fragment.transform.getValue(at(time)).getMatrix()) for time in known])
    codes = sorted(set(xform.GetTimeSamples()) | set(range(int(last) + 1)))
    visible = mesh.GetVisibilityAttr()
    worst = 0.0
    for code in codes:
        found = np.array([[np.interp(code / rate, known, poses[:, row, column]) for column in range(4)] for row in range(4)])
        worst = max(worst, np.abs(found - np.array(xform.GetLocalTransformation(code))).max())
        if visible.GetNumTimeSamples() and code == int(code):
            hidden = AbcGeom.GetVisibility(fragment.node, at(code / rate)) == AbcGeom.ObjectVisibility.kVisibilityHidden
            assert hidden == (visible.Get(code) == "invisible"), f"{fragment.name}: hidden at {code}: {hidden}"
    return worst, len(codes)


def check(store):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "shot.abc"
        export(store, file, "--format", "alembic")
        stage = Usd.Stage.Open(str(usd_file(store)))
        rate = stage.GetTimeCodesPerSecond()
        archive = Abc.IArchive(str(file))
        found = bending = poses = 0
        speeds = off = 0.0
        for body in archive.getTop().children:
            for node in body.children:
                fragment = Fragment(node)
                mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/World/{body.getName()}/{fragment.name}"))
                assert mesh, f"{fragment.name} is not in the USD file"
                speeds = max(speeds, compare_mesh(fragment, mesh, rate))
                worst, compared = compare_poses(fragment, mesh, stage.GetEndTimeCode(), rate)
                off, poses = max(off, worst), poses + compared
                found += 1
                bending += fragment.mesh.getNumSamples() > 1
        wanted = sum(prim.IsA(UsdGeom.Mesh) for prim in stage.Traverse())
        assert found == wanted > 0, f"{found} meshes, {wanted} in the USD file"
        assert bending > 0 and poses > 0, f"{bending} meshes that bend, {poses} poses"
        assert speeds <= 1e-6, f"velocities are off by {speeds}"
        assert off <= 4e-3, f"poses are off by {off}"
        size = file.stat().st_size / 1e6
    return f"alembic: {found} meshes, {bending} of them bend, {poses} poses off by at most {off:.1e}, velocities by {speeds:.1e}, {size:.1f} MB"


run(check)
