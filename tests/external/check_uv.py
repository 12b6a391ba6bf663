"""Reads the exports of a cube with texture coordinates, colours and materials: in each format, the skin has those of
the input at its rest position, and crack faces are white and have the material `inside`."""

import json

from common import need, run

np, _, trimesh = need("numpy", "pxr", "trimesh")
from pxr import Usd, UsdGeom, UsdShade, UsdValidation  # noqa: E402

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


# Names of the materials of the sides across x, y and z, as in `cube_obj` in external.rs.
SIDES = ["wall-x", "inside_of_mesh", "outside"]


def check_colours(rest, colours, inside, cube_of, tolerance, where):
    """Colours of the skin are the coordinates plus 1/2, in the cube's frame; crack faces are white."""
    skin = np.asarray(inside) == 0
    off = np.abs(colours[skin] - cube_of(rest[skin].reshape(-1, 3)).reshape(-1, 3, 3) - 0.5).max(initial=0)
    assert off < tolerance, f"{where}: colours off by {off}"
    assert (colours[~skin] == 1).all(), f"{where}: crack faces are not white"


def materials(rest, inside, cube_of):
    """For each triangle the name of the material that it should have."""
    axis = np.abs(cube_of(rest.reshape(-1, 3)).reshape(-1, 3, 3).mean(axis=1)).argmax(axis=1)
    return np.where(np.asarray(inside) == 0, np.array(SIDES)[axis], "inside")


def check_usd_materials(mesh, rest, inside, cube_of, code):
    """Every face is in the subset of its material."""
    wanted = np.char.replace(materials(rest, inside, cube_of), "-", "_")
    found = np.full(len(rest), "", dtype=wanted.dtype)
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        material = UsdShade.MaterialBindingAPI(subset).ComputeBoundMaterial()[0]
        found[np.array(subset.GetIndicesAttr().Get(code))] = material.GetPrim().GetName()
    assert (found == wanted).all(), f"{mesh.GetPath()}: materials {set(found)}"
    return set(found)


def check_usd(store, cube_of):
    [file] = (file for file in (store / "exports").glob("*.usdc"))
    stage = Usd.Stage.Open(str(file))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    complaints = [error.GetMessage() for error in UsdValidation.ValidationContext(validators).Validate(stage)]
    assert validators and not complaints, f"{file.name}: {complaints[:3]}"
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    skin, names = 0, set()
    for mesh in meshes:
        primvars = UsdGeom.PrimvarsAPI(mesh)
        st, code = primvars.GetPrimvar("st"), stage.GetStartTimeCode()
        assert st.GetInterpolation() == UsdGeom.Tokens.faceVarying and st.IsIndexed(), f"{mesh.GetPath()}: {st.GetInterpolation()}"
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(code))
        uv = np.array(st.ComputeFlattened(code)).reshape(-1, 3, 2)
        assert 3 * len(uv) == len(corners), f"{mesh.GetPath()}: {len(uv)} triangles with texture coordinates"
        rest = np.array(primvars.GetPrimvar("rest").Get(code), dtype=float)[corners].reshape(-1, 3, 3)
        inside = np.array(primvars.GetPrimvar("inside").Get(code))
        colours = np.array(primvars.GetPrimvar("displayColor").ComputeFlattened(code), dtype=float).reshape(-1, 3, 3)
        check_colours(rest, colours, inside, cube_of, TOLERANCE, mesh.GetPath())
        names |= check_usd_materials(mesh, rest, inside, cube_of, code)
        if (inside == 0).any():
            skin += check_skin(rest, uv, inside, cube_of, mesh.GetPath())
    assert names == {"wall_x", "inside_of_mesh", "outside", "inside"}, f"{file.name}: {names}"
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
    colours = np.stack([vertex[name] for name in ("red", "green", "blue")], axis=1) / 255
    check_colours(rest[corners], colours[corners], faces["inside"], cube_of, 0.51 / 255, file.name)
    header = file.read_bytes().split(b"end_header")[0].decode().splitlines()
    names = np.array([line.removeprefix("comment material ") for line in header if line.startswith("comment material ")] + ["outside"])
    found = np.where(faces["inside"] == 0, names[faces["material"]], "crack")
    wanted = materials(rest[corners], faces["inside"], cube_of)
    wanted[wanted == "inside"] = "crack"
    wanted[wanted == "inside_of_mesh"] = "inside"
    assert (found == wanted).all(), f"{file.name}: materials {set(found)}"
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


def check_glb(file):
    """Materials have the names of the mesh, and every primitive has colours."""
    data = file.read_bytes()
    document = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    names = [material["name"] for material in document["materials"]]
    assert sorted(names) == sorted([*SIDES, "inside"]), f"{file.name}: {names}"
    primitives = [primitive for mesh in document["meshes"] for primitive in mesh["primitives"]]
    assert all("COLOR_0" in primitive["attributes"] for primitive in primitives), f"{file.name}: no colours"
    assert {primitive["material"] for primitive in primitives} == set(range(4)), f"{file.name}: materials unused"


def check_obj(file):
    words = [line.split(maxsplit=1) for line in file.read_text().splitlines()]
    names = {word[1] for word in words if word[0] == "usemtl"}
    assert names == {*SIDES, "inside"}, f"{file.name}: {names}"
    vertices = np.array([word[1].split() for word in words if word[0] == "v"], dtype=float)
    colours = vertices[:, 3:]
    assert colours.shape[1] == 3 and np.ptp(colours, axis=0).min() > 0.9, f"{file.name}: {colours.shape} colours"


def check_vtk(store):
    [file] = sorted((store / "exports" / "vtk" / "surfaces").glob("*.000000.vtp"))
    head = file.read_bytes()[:4000]
    assert b'Name="material"' in head and b'Name="colour"' in head, f"{file.name}: no materials or colours"


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
    [animated] = (store / "exports").glob("*.animated.glb")
    for file in (glb, animated):
        check_glb(file)
    check_obj(obj)
    check_vtk(store)
    for file in (obj, glb):
        found = rows(trimesh.load(file, process=False))
        assert len(found) == len(corners), f"{file.name}: {len(found)} corners, {len(corners)} in PLY"
        compare(found, corners, file.name)
    shape = trimesh.load(store / "packing" / "shapes" / "0.ply", process=False)
    inside = np.zeros(len(shape.faces))
    check_skin(np.asarray(shape.triangles), np.asarray(shape.visual.uv)[shape.faces], inside, cube_of, "packed shape")
    return f"uv: {usd} triangles of skin in USD ({meshes} meshes), {skin} in {len(files)} PLY files, {len(corners)} corners in OBJ and GLB"


run(check)
