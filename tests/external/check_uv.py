"""Reads the exports of a cube with texture coordinates: in each format, the skin has those of the input at its
rest position."""

import json

from common import need, run

np, _, trimesh = need("numpy", "pxr", "trimesh")
from pxr import Usd, UsdGeom, UsdValidation  # noqa: E402

TOLERANCE = 2e-5


def placed(store):
    """Map from rest positions to the cube of edge 1 about the origin."""
    body = json.loads((store / "store.json").read_text())["pipeline"]["body"][0]
    turn, shape = body["rotation"], body["shape"]
    matrix = trimesh.transformations.rotation_matrix(turn["angle"], turn["axis"])[:3, :3]
    return lambda rest: (rest - np.array(body["position"])) @ matrix / shape["scale"]


def expected(cube):
    """Texture coordinates of triangles on the sides of the cube, as in `cube_obj` in external.rs; `cube` is (n, 3,
    3)."""
    middle = cube.mean(axis=1)
    axis = np.abs(middle).argmax(axis=1)
    sign = np.sign(np.take_along_axis(middle, axis[:, None], axis=1))
    a, b = (np.take_along_axis(cube, ((axis + step) % 3)[:, None, None], axis=2)[:, :, 0] for step in (1, 2))
    side = 2 * axis[:, None] + (sign > 0)
    return np.stack([(side + sign * a + 0.5) / 6, b + 0.5], axis=2)


def check_skin(rest, uv, inside, cube_of, where):
    """Number of triangles of the skin; the corners are at `rest` and have texture coordinates `uv`."""
    skin = np.asarray(inside) == 0
    assert skin.any(), f"{where}: no skin"
    off = np.abs(uv[skin] - expected(cube_of(rest[skin].reshape(-1, 3)).reshape(-1, 3, 3))).max()
    assert off < TOLERANCE, f"{where}: texture coordinates off by {off}"
    return skin.sum()


def check_usd(store, cube_of):
    [file] = (file for file in (store / "exports").glob("*.usda"))
    stage = Usd.Stage.Open(str(file))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    complaints = [error.GetMessage() for error in UsdValidation.ValidationContext(validators).Validate(stage)]
    assert validators and not complaints, f"{file.name}: {complaints[:3]}"
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    skin = 0
    for mesh in meshes:
        primvars = UsdGeom.PrimvarsAPI(mesh)
        st, code = primvars.GetPrimvar("st"), stage.GetStartTimeCode()
        assert st.GetInterpolation() == UsdGeom.Tokens.faceVarying and st.IsIndexed(), f"{mesh.GetPath()}: {st.GetInterpolation()}"
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(code))
        uv = np.array(st.ComputeFlattened(code)).reshape(-1, 3, 2)
        assert 3 * len(uv) == len(corners), f"{mesh.GetPath()}: {len(uv)} triangles with texture coordinates"
        rest = np.array(primvars.GetPrimvar("rest").Get(code), dtype=float)[corners].reshape(-1, 3, 3)
        inside = np.array(primvars.GetPrimvar("inside").Get(code))
        if (inside == 0).any():
            skin += check_skin(rest, uv, inside, cube_of, mesh.GetPath())
    return len(meshes), skin


def closed(vertices, faces, where):
    """After merging vertices that seams split, every edge is used equally often in both directions."""
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    ways = [np.sort(way @ [len(vertices), 1]) for way in (edges, edges[:, ::-1])]
    assert np.array_equal(*ways), f"{where}: not closed"


def check_ply(file, cube_of):
    """Triangles of the skin, and a row of position and texture coordinates for each corner."""
    raw = trimesh.load(file, process=False).metadata["_ply_raw"]
    vertex, faces = raw["vertex"]["data"], raw["face"]["data"]
    rest, now, uv = (np.stack([vertex[name] for name in names], axis=1).astype(float) for names in (("rest_x", "rest_y", "rest_z"), "xyz", "st"))
    corners = faces["vertex_indices"]["f1"]
    skin = check_skin(rest[corners], uv[corners], faces["inside"], cube_of, file.name)
    _, which = np.unique(np.column_stack([rest, vertex["fragment"]]), axis=0, return_inverse=True)
    closed(rest, which.reshape(-1)[corners], file.name)
    return skin, np.column_stack([now, uv])[corners.reshape(-1)]


def rows(loaded):
    """A row of position and texture coordinates for each corner of a mesh loaded by trimesh."""
    if isinstance(loaded, trimesh.Trimesh):
        parts = [(loaded, loaded.vertices)]
    else:
        nodes = (loaded.graph.get(node) for node in loaded.graph.nodes_geometry)
        parts = [(loaded.geometry[name], trimesh.transform_points(loaded.geometry[name].vertices, matrix)) for matrix, name in nodes]
    return np.concatenate([np.column_stack([at, mesh.visual.uv])[mesh.faces.reshape(-1)] for mesh, at in parts])


def compare(found, wanted, where):
    """Whether two lists of corners are equal, in some order; of many corners only a sample is searched for."""
    found, wanted = (np.unique(np.round(array, 6), axis=0) for array in (found, wanted))
    for some, others in ((found, wanted), (wanted, found)):
        for part in np.array_split(some[:: 1 + len(some) // 1024], 8):
            off = np.abs(part[:, None] - others[None]).max(axis=2).min(axis=1).max()
            assert off < TOLERANCE, f"{where}: a corner is off by {off}"


def check(store):
    cube_of = placed(store)
    meshes, usd = check_usd(store, cube_of)
    files = sorted((store / "exports" / "ply").glob("*.ply"))
    skin = 0
    for file in files:
        own, corners = check_ply(file, cube_of)
        skin += own
    last = files[-1].name.split(".")[-2]
    [obj] = (store / "exports" / "obj").glob(f"*.{last}.obj")
    [glb] = (file for file in (store / "exports").glob("*.glb") if not file.name.endswith(".animated.glb"))
    for file in (obj, glb):
        found = rows(trimesh.load(file, process=False))
        assert len(found) == len(corners), f"{file.name}: {len(found)} corners, {len(corners)} in PLY"
        compare(found, corners, file.name)
    shape = trimesh.load(store / "packing" / "shapes" / "0.ply", process=False)
    inside = np.zeros(len(shape.faces))
    check_skin(np.asarray(shape.triangles), np.asarray(shape.visual.uv)[shape.faces], inside, cube_of, "packed shape")
    return f"uv: {usd} triangles of skin in USD ({meshes} meshes), {skin} in {len(files)} PLY files, {len(corners)} corners in OBJ and GLB"


run(check)
