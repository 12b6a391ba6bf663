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


class Fragment:
    """A transform with a mesh."""

    def __init__(self, node):
        self.name = node.getName()
        self.transform = AbcGeom.IXform(node, Abc.WrapExistingFlag.kWrapExisting).getSchema()
        (child,) = node.children
        self.mesh = AbcGeom.IPolyMesh(child, Abc.WrapExistingFlag.kWrapExisting).getSchema()
        self.sets = [(one.getName(), AbcGeom.IFaceSet(one, Abc.WrapExistingFlag.kWrapExisting).getSchema()) for one in child.children]

    def pose(self, time):
        """Matrix at a time of a sample."""
        known = times(self.transform.getTimeSampling(), self.transform.getNumSamples())
        k = int(np.argmin(np.abs(np.array(known) - time)))
        assert abs(known[k] - time) < 1e-9, f"{self.name}: no pose at {time} s"
        return matrix(self.transform.getValue(at(known[k])).getMatrix())


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
    attribute = mesh.GetPointsAttr()
    codes = attribute.GetTimeSamples()
    if not codes:
        assert schema.getNumSamples() == 1, f"{fragment.name}: {schema.getNumSamples()} samples of a rigid mesh"
        assert np.array_equal(array(sample.getPositions(), 3).astype(np.float32), np.array(attribute.Get())), f"{fragment.name}: other points"
        return 0.0
    known = times(schema.getTimeSampling(), schema.getNumSamples())
    assert np.allclose(known, np.array(codes) / rate, atol=1e-9, rtol=0), f"{fragment.name}: samples at {known}, frames {codes}"
    worst = 0.0
    for k, code in enumerate(codes):
        sample = schema.getValue(at(known[k]))
        assert np.array_equal(array(sample.getPositions(), 3).astype(np.float32), np.array(attribute.Get(code))), f"{fragment.name}: other points at {code}"
        velocities = mesh.GetVelocitiesAttr()
        if code in velocities.GetTimeSamples():
            found, wanted = array(sample.getVelocities(), 3), np.array(velocities.Get(code))
            worst = max(worst, np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))
    return worst


def compare_poses(fragment, mesh, rate):
    """Compares the poses at the times at which the USD file has some."""
    xform = UsdGeom.Xformable(mesh.GetPrim())
    worst, compared = 0.0, 0
    for code in sorted(set(xform.GetTimeSamples())):
        wanted = np.array(xform.GetLocalTransformation(code))
        worst = max(worst, np.abs(fragment.pose(code / rate) - wanted).max())
        compared += 1
    return worst, compared


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
                worst, compared = compare_poses(fragment, mesh, rate)
                off, poses = max(off, worst), poses + compared
                found += 1
                bending += fragment.mesh.getNumSamples() > 1
        wanted = sum(prim.IsA(UsdGeom.Mesh) for prim in stage.Traverse())
        assert found == wanted > 0, f"{found} meshes, {wanted} in the USD file"
        assert speeds <= 1e-6, f"velocities are off by {speeds}"
        assert off <= 1e-5, f"poses are off by {off}"
        size = file.stat().st_size / 1e6
    return f"alembic: {found} meshes, {bending} of them bend, {poses} poses off by at most {off:.1e}, velocities by {speeds:.1e}, {size:.1f} MB"


run(check)
