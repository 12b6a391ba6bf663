"""Closes the meshes that `tools/make_bad_meshes.py` makes, in the folder given, and reads the skins with trimesh: each is
watertight, without folds, wound outward, of the volume it should have, and near the mesh it was made of, except across
holes. Meshes that enclose nothing are refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

from common import need, run

np, trimesh = need("numpy", "trimesh")

TOOL = Path(__file__).resolve().parent.parent.parent / "tools/make_bad_meshes.py"
TOLERANCE = 0.01  # relative, of the volume
REACH = 0.1  # radii of elements that a skin may lie off its mesh
SAMPLES = 600  # points of a skin that are measured


def read_corners(file):
    """Corners of the triangles of an OBJ file; polygons as fans."""
    points, corners = [], []
    for line in file.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            face = [int(word.split("/")[0]) for word in words[1:]]
            face = [row - 1 if row > 0 else row + len(points) for row in face]
            corners += [[face[0], face[k], face[k + 1]] for k in range(1, len(face) - 1)]
    return np.array(points)[np.array(corners)]


def open_edges(corners, size):
    """Start and end of the edges of one triangle only, vertices at the same position being one."""
    _, which = np.unique(np.round(corners.reshape(-1, 3) / (1e-6 * size)), axis=0, return_inverse=True)
    which = which.reshape(-1, 3)
    edges = np.sort(which[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, first, count = np.unique(edges, axis=0, return_index=True, return_counts=True)
    ends = corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2, 3)[first[count == 1]]
    return ends[:, 0], ends[:, 1]


def nearest(corners, at):
    """For each point the nearest point of the triangles: the projection on the plane where that lies inside, else the
    nearest of the sides. Ericson 2005, Real-Time Collision Detection, section 5.1.5."""
    a, b, c = corners.swapaxes(0, 1)
    normal = np.cross(b - a, c - a)
    squared = np.einsum("ij,ij->i", normal, normal)
    is_flat = squared <= 0
    normal = normal / np.sqrt(np.where(is_flat, 1, squared))[:, None]
    out = []
    for p in at:
        off = np.einsum("ij,ij->i", p - a, normal)[:, None] * normal
        flat = p - off
        inside = ~is_flat
        for start, end in ((a, b), (b, c), (c, a)):
            inside &= np.einsum("ij,ij->i", np.cross(end - start, flat - start), normal) >= 0
        found = np.concatenate([flat[inside], *(on_edges(start, end, p) for start, end in ((a, b), (b, c), (c, a)))])
        out.append(found[np.argmin(np.linalg.norm(found - p, axis=1))])
    return np.array(out)


def on_edges(start, end, p):
    """The nearest point of each edge."""
    along = end - start
    length = np.einsum("ij,ij->i", along, along)
    t = np.einsum("ij,ij->i", p - start, along) / np.where(length > 0, length, 1)
    return start + np.clip(t, 0, 1)[:, None] * along


def off_mesh(row, skin, corners):
    """Largest distance of sampled points of the skin from the mesh, in radii, except across holes: points whose nearest
    point of the mesh is on an open edge."""
    # Vertices too: a crease may lie off where the middles of faces do not.
    rng = np.random.default_rng(0)
    faces = rng.choice(len(skin.faces), SAMPLES, p=skin.area_faces / skin.area)
    weights = rng.dirichlet([1, 1, 1], SAMPLES)
    at = np.einsum("ij,ijk->ik", weights, skin.triangles[faces])
    vertices = rng.permutation(len(skin.vertices))[:SAMPLES]
    at = np.concatenate([at, skin.vertices[vertices]])
    found = nearest(corners, at)
    start, end = open_edges(corners, row["size"])
    if len(start):
        gap = np.array([np.linalg.norm(on_edges(start, end, p) - p, axis=1).min() for p in found])
        kept = gap > 1e-6 * row["size"]
        at, found = at[kept], found[kept]
    return np.linalg.norm(at - found, axis=1).max(initial=0) / row["radius"]


def check_skin(row, file, mesh):
    """Volume off by, relative, and distance off by, radii."""
    skin = trimesh.load(file, process=False)
    # Vertices split at seams of textures are one.
    skin.merge_vertices(merge_tex=True, merge_norm=True, digits_vertex=None)
    # Where the skin touches itself, an edge then has four triangles, but equally many use it in each direction.
    edges = skin.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    ways = [np.sort(way @ [len(skin.vertices), 1]) for way in (edges, edges[:, ::-1])]
    assert np.array_equal(*ways), f"{row['name']}: the skin is not watertight, or wound both ways"
    same = np.unique(np.sort(skin.faces, axis=1), axis=0)
    assert len(same) == len(skin.faces), f"{row['name']}: two triangles of the skin have the same corners"
    # About its middle: far away, products of coordinates have no digits for it.
    middle = skin.bounds.mean(axis=0)
    a, b, c = (skin.triangles - middle).swapaxes(0, 1)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    off = volume / row["volume"] - 1
    assert volume > 0, f"{row['name']}: the skin has volume {volume:.3e}"
    assert abs(off) <= TOLERANCE, f"{row['name']}: volume {volume:.4e} m3, expected {row['volume']:.4e} ({off:+.2%})"
    far = off_mesh(row, trimesh.Trimesh(skin.vertices - middle, skin.faces, process=False), read_corners(mesh) - middle)
    assert far <= REACH, f"{row['name']}: the skin lies {far:.3f} radii off the mesh"
    return abs(off), far


def close(row, folder):
    """The skin of a mesh, wrapped as that of a body would be; None if it was refused, in one line."""
    mesh, skin = (folder / f"{row['name']}.{end}" for end in ("obj", "ply"))
    options = ["--winding"] if row["fill"] == "winding" else []
    command = [os.environ.get("CULLET", "cullet"), "check", "--mesh", mesh, "--out", skin, "--cell", str(min(row["radius"] / 2, row["size"] / 100)), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 2), f"{row['name']}: exit code {done.returncode}: {done.stderr}"
    assert (done.returncode == 0) == skin.exists(), f"{row['name']}: exit code {done.returncode}, {skin.exists()}"
    is_one_line = done.stderr.count("\n") <= 1 and mesh.name in done.stderr
    assert done.returncode == 0 or is_one_line, f"{row['name']}: refused with {done.stderr!r}"
    return skin if skin.exists() else None


def check(folder):
    subprocess.run([sys.executable, TOOL, folder], check=True, capture_output=True)
    wrong, worst, closed = [], [0.0, 0.0], 0
    rows = [json.loads(line) for line in (folder / "meshes.jsonl").read_text().splitlines()]
    for row in rows:
        try:
            skin = close(row, folder)
            assert bool(skin) == (row["expected"] == "skin"), (
                f"{row['name']}: {'a skin' if skin else 'refused'}, not as expected"
            )
            if skin:
                worst = np.maximum(worst, check_skin(row, skin, folder / f"{row['name']}.obj"))
                closed += 1
        except AssertionError as error:
            wrong.append(str(error))
    assert len(rows) > 40 and not wrong, "\n".join(wrong)
    return f"closed: {closed} skins of {len(rows)} meshes, volume within {worst[0]:.2%}, at most {worst[1]:.3f} radii off"


run(check)
