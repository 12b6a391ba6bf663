"""Reads exports/ply with trimesh: every fragment closed and wound outward, volumes as packed."""

import re

from common import need, run

np, trimesh, parquet = need("numpy", "trimesh", "pyarrow.parquet")

# Volume of a frame's fragments against the packed shapes, relative.
TOLERANCE = 0.03


def fragments(file):
    """(label, mesh) of each fragment of a file, vertices as they stand there."""
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
    against = f"volume within {worst:.2%} of the packed shapes" if packed > 0 else "no packed shapes to compare with"
    return f"meshes: {len(files)} frames, {pieces} closed fragments, {against}"


run(check)
