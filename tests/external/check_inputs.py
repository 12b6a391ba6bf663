"""Writes scenes of five objects with trimesh (GLB, glTF) and usd-core, packs each with `each = true`, and compares the
skins of the bodies with the objects."""

import os
import subprocess
import tempfile
from pathlib import Path

from common import need, run

np, trimesh, _ = need("numpy", "trimesh", "pxr")
from pxr import Gf, Usd, UsdGeom, Vt  # noqa: E402

PIPELINE = """
[time]
end = "1 ms"
frames_per_second = "1000 Hz"
[[material]]
name = "gypsum"
density = 1100
young = "1 GPa"
[[body]]
name = "scene"
material = "gypsum"
shape = {{ type = "mesh", file = "{file}", each = true }}
packing = {{ type = "hexagonal", elements = 60 }}
[body.egg]
packing = {{ elements = 200 }}
"""


def shapes():
    """Named meshes with their transforms, a metre apart: turned, mirrored, stretched, one of them twice."""
    mirrored, stretched = np.diag([-1.0, 1, 1, 1]), np.diag([2.0, 0.5, 1, 1])
    ball = trimesh.creation.icosphere(subdivisions=2, radius=0.15)
    parts = [
        ("crate", trimesh.creation.box((0.2, 0.3, 0.4)), trimesh.transformations.rotation_matrix(0.7, [1, 2, 3])),
        ("lamp", trimesh.creation.cone(0.1, 0.4, sections=20), mirrored),
        ("egg", ball, stretched),
        ("ball", ball, np.eye(4)),
        ("ring", trimesh.creation.annulus(0.1, 0.2, 0.1), np.eye(4)),
    ]
    for place, (_, _, matrix) in enumerate(parts):
        matrix[:3, 3] += [place, 0.1 * place, -0.2 * place]
    return parts


def write_usd(path, parts, up, unit):
    """The parts as a stage whose unit is `unit` metres, below a parent that turns them if z is up."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, unit)
    UsdGeom.SetStageUpAxis(stage, up)
    root = UsdGeom.Xform.Define(stage, "/World")
    if up == UsdGeom.Tokens.z:
        root.AddRotateXOp().Set(90)
    for name, mesh, matrix in parts:
        prim = UsdGeom.Mesh.Define(stage, f"/World/{name}")
        matrix = matrix.copy()
        matrix[:3, 3] /= unit
        prim.AddTransformOp().Set(Gf.Matrix4d(*matrix.T.ravel()))
        prim.CreatePointsAttr(Vt.Vec3fArray.FromNumpy((mesh.vertices / unit).astype(np.float32)))
        prim.CreateFaceVertexCountsAttr([3] * len(mesh.faces))
        prim.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(mesh.faces.astype(np.int32).ravel()))
    stage.Save()


def pack(folder, file):
    (folder / "scene.toml").write_text(PIPELINE.format(file=file))
    command = [os.environ.get("CULLET", "cullet"), "pack", "scene.toml", "--out", f"{file}.store", "--quiet"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def check(_):
    parts = shapes()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        scene = trimesh.Scene()
        for name, mesh, matrix in parts:
            scene.add_geometry(mesh, node_name=name, geom_name=f"{name} shape", transform=matrix)
        files = ["scene.glb", "scene.gltf", "centimetres.usda", "metres.usda"]
        for file in files[:2]:
            scene.export(str(folder / file))
        write_usd(folder / files[2], parts, UsdGeom.Tokens.z, 0.01)
        write_usd(folder / files[3], parts, UsdGeom.Tokens.y, 1.0)
        write_usd(folder / "binary.usdc", parts, UsdGeom.Tokens.y, 1.0)
        for file in files:
            done = pack(folder, file)
            assert done.returncode == 0, f"{file}: {done.stderr}"
            skins = sorted((folder / f"{file}.store/packing/shapes").glob("*.ply"), key=lambda path: int(path.stem))
            assert len(skins) == len(parts), f"{file}: {len(skins)} bodies"
            # glTF does not keep the order of the nodes.
            found = {tuple(np.round(skin.bounds.ravel(), 4)): skin.volume for skin in map(trimesh.load, skins)}
            for name, mesh, matrix in parts:
                placed = mesh.copy().apply_transform(matrix)
                volume = found.get(tuple(np.round(placed.bounds.ravel(), 4)))
                assert volume is not None, f"{file}: no body lies where {name} does"
                assert abs(volume / abs(placed.volume) - 1) < 1e-5, f"{file}: {name} has {volume} m^3"
        done = pack(folder, "binary.usdc")
        assert done.returncode == 2 and "usdcat --flatten binary.usdc" in done.stderr, done.stderr
    return f"{len(files)} scenes of {len(parts)} objects"


run(check)
