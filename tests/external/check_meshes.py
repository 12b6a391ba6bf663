"""Reads exports/ply with trimesh: every fragment is closed and wound outward, volumes are as packed; also a GLB
still, where there is one."""

import re

from common import need, run

np, trimesh, parquet = need("numpy", "trimesh", "pyarrow.parquet")

# Allowed relative difference between the volume of a frame's fragments and the packed shapes.
TOLERANCE = 0.03


def fragments(file):
    """(label, mesh) of each fragment of a file, with the vertices as stored."""
    whole = trimesh.load(file, process=False)
    labels = np.asarray(whole.metadata["_ply_raw"]["face"]["data"]["fragment"]).reshape(-1)
    assert len(labels) == len(whole.faces), f"{file.name}: {len(labels)} labels, {len(whole.faces)} faces"
    vertices = whole.metadata["_ply_raw"]["vertex"]["data"]
    of_vertices = np.asarray(vertices["fragment"]).reshape(-1)
    assert np.all(of_vertices[whole.faces] == labels[:, None]), f"{file.name}: vertices of another fragment than their faces"
    columns = [np.asarray(vertices[name]) for name in ("vx", "vy", "vz", "rest_x", "rest_y", "rest_z", "stress")]
    assert np.all(np.isfinite(columns)), f"{file.name}: a velocity, position at rest or stress is no number"
    order = np.argsort(labels, kind="stable")
    found, starts = np.unique(labels[order], return_index=True)
    for label, rows in zip(found, np.split(order, starts[1:])):
        vertices, faces = np.unique(whole.faces[rows], return_inverse=True)
        yield label, trimesh.Trimesh(whole.vertices[vertices], faces.reshape(-1, 3), process=False)


def check_still(store):
    """Number of fragments in a GLB still; all are closed after merging vertices that were split for normals and
    materials."""
    files = [file for file in (store / "exports").glob("*.glb") if not file.name.endswith(".animated.glb")]
    if not files:
        return 0
    scene = trimesh.load(files[0], process=False)
    above = scene.graph.transforms.parents
    parts = {}
    for node in scene.graph.nodes_geometry:
        _, geometry = scene.graph.get(node)
        # One node per fragment under the node of the shot; if it has two materials, there is a child node for
        # each.
        while above[node] != files[0].stem:
            node = above[node]
        parts.setdefault(node, []).append(scene.geometry[geometry])
    for node, meshes in parts.items():
        # RAW         # Vertices at the same position are merged, also those that the surface keeps apart
        # where it touches itself: an edge there has four
        #         # triangles, but equally many use it in each direction.
        vertices, which = np.unique(np.concatenate([mesh.vertices for mesh in meshes]), axis=0, return_inverse=True)
        starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
        faces = which.reshape(-1)[np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts)])]
        edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        ways = [np.sort(way @ [len(vertices), 1]) for way in (edges, edges[:, ::-1])]
        assert np.array_equal(*ways), f"{files[0].name}: {node} is not closed"
        volume = trimesh.Trimesh(vertices, faces, process=False).volume
        assert volume > 0, f"{files[0].name}: {node} has volume {volume:.3e}"
    return len(parts)


def check(store):
    files = sorted((store / "exports" / "ply").glob("*.ply"))
    assert files, f"no PLY files in {store / 'exports' / 'ply'}"
    shapes = [trimesh.load(file) for file in sorted((store / "packing" / "shapes").glob("*.ply"))]
    packed = sum(abs(shape.volume) for shape in shapes)
    pieces, worst = 0, 0.0
    for file in files:
        frame = re.search(r"\.(\d+)\.ply$", file.name).group(1)
        volume, labels = 0.0, []
        for label, mesh in fragments(file):
            where = f"{file.name}: fragment {label} ({len(mesh.faces)} faces)"
            assert mesh.is_watertight, f"{where} is not watertight"
            assert mesh.is_winding_consistent, f"{where} is wound both ways"
            assert mesh.volume > 0, f"{where} has volume {mesh.volume:.3e}"
            volume += mesh.volume
            pieces += 1
            labels.append(int(label))
        expected = parquet.read_table(store / "fragments" / f"{frame}.parquet")["fragment"].to_pylist()
        assert labels == sorted(expected), f"frame {frame}: {len(labels)} surfaces, {len(expected)} fragments"
        if packed > 0:
            off = volume / packed - 1
            worst = max(worst, abs(off))
            assert abs(off) <= TOLERANCE, f"frame {frame}: volume {volume:.6e} m3, packed {packed:.6e} ({off:+.2%})"
    still = check_still(store)
    assert still in (0, len(expected)), f"GLB has {still} fragments, the last frame {len(expected)}"
    against = f"volume within {worst:.2%} of the packed shapes" if packed > 0 else "no packed shapes to compare with"
    return f"meshes: {len(files)} frames, {pieces} closed fragments, {still} in GLB, {against}"


run(check)
