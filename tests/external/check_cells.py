"""Packs Voronoi cells in a box and in a mesh, and recomputes every cell and face with SciPy.

The box: the generators follow from the faces, as each lies in the plane half-way between two of them. Their Voronoi diagram, with mirror images behind
the sides of the box, gives the cells. The mesh: each cell is the solid that the planes of its faces enclose.
"""

import os
import subprocess
from pathlib import Path

from common import need, run

np, sparse, linalg, spatial, parquet, trimesh = need(
    "numpy", "scipy.sparse", "scipy.sparse.linalg", "scipy.spatial", "pyarrow.parquet", "trimesh"
)

ROOT = Path(__file__).resolve().parents[2]
NONE = 2**32 - 1
DENSITY = 1800.0
SIZE = np.array([0.3, 0.2, 0.15])
BOX = """
[time]
end = 1
frames_per_second = 1
[[material]]
name = "slate"
density = 1800
young = "1 GPa"
poisson = 0.3
[[body]]
name = "block"
material = "slate"
shape = { type = "box", size = [0.3, 0.2, 0.15] }
packing = { type = "voronoi", cells = 700 }
"""


def packed(pipeline, store, *settings):
    command = [os.environ["CULLET"], "run", pipeline, "--to", "pack", "--out", store, "--quiet"]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(list(map(str, command)), check=True)
    read = lambda name: {key: np.array(value) for key, value in parquet.read_table(store / f"packing/{name}.parquet").to_pydict().items()}
    return read("elements"), read("cells"), read("faces")


def vectors(table, *names):
    return np.stack([table[name] for name in names], axis=1)


def square(table_axes, moments):
    """Sum of moment x axis axis^T over the axes of each row."""
    return np.einsum("nk,nka,nkb->nab", moments, table_axes, table_axes)


def stored_inertia(cells):
    """Tensors of inertia, kg m^2, from principal moments and the quaternion of their axes."""
    rotations = spatial.transform.Rotation.from_quat(vectors(cells, "qx", "qy", "qz", "qw")).as_matrix()
    return square(rotations.transpose(0, 2, 1), vectors(cells, "i1", "i2", "i3"))


def stored_sections(faces):
    """Integral of x x^T about the centre of each face, m^4."""
    s, normal = vectors(faces, "sx", "sy", "sz"), vectors(faces, "nx", "ny", "nz")
    return square(np.stack([s, np.cross(normal, s)], axis=1), vectors(faces, "second_s", "second_t"))


def solid(corners):
    """Of the convex body with these corners: volume, centre, inertia per density about it, and volume of the
    pyramid over each plane of the hull."""
    hull = spatial.ConvexHull(corners)
    middle = corners.mean(axis=0)
    tets = corners[hull.simplices] - middle
    volumes = np.abs(np.linalg.det(tets)) / 6
    volume = volumes.sum()
    centre = (volumes[:, None] * tets.sum(axis=1) / 4).sum(axis=0) / volume
    # Integral of x x^T over a tetrahedron with corners 0, a, b, c: V/20 (a a^T + b b^T + c c^T + (a+b+c)(a+b+c)^T).
    sums = tets.sum(axis=1)
    moment = np.einsum("n,nka,nkb->ab", volumes / 20, tets, tets) + np.einsum("n,na,nb->ab", volumes / 20, sums, sums)
    moment -= volume * np.outer(centre, centre)
    return volume, middle + centre, np.trace(moment) * np.eye(3) - moment


def polygon(corners, normal):
    """Of the convex polygon with these corners, in any order: area, centre, and integral of x x^T about it."""
    s = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    s /= np.linalg.norm(s)
    t = np.cross(normal, s)
    arms = corners - corners.mean(axis=0)
    arms = arms[np.argsort(np.arctan2(arms @ t, arms @ s))]
    a, b = arms, np.roll(arms, -1, axis=0)
    areas = 0.5 * np.cross(a, b) @ normal
    area = areas.sum()
    centre = (areas[:, None] * (a + b) / 3).sum(axis=0) / area
    c = a + b
    moment = sum(np.einsum("n,na,nb->ab", areas / 12, v, v) for v in (a, b, c)) - area * np.outer(centre, centre)
    return area, corners.mean(axis=0) + centre, moment


class LargestErrors:
    """Largest difference of each kind, relative to the mean cell or face."""

    def __init__(self, elements, faces):
        self.volume = elements["volume"].mean()
        self.length = self.volume ** (1 / 3)
        self.found = {}

    def record(self, name, difference, unit):
        difference = float(np.max(np.abs(difference))) / unit
        self.found[name] = max(self.found.get(name, 0.0), difference)

    def record_cell(self, row, wanted, stored):
        volume, centre, inertia = wanted
        elements, tensors = stored
        self.record("volume", volume - elements["volume"][row], self.volume)
        self.record("mass", DENSITY * volume - elements["mass"][row], DENSITY * self.volume)
        self.record("centre", centre - [elements[key][row] for key in "xyz"], self.length)
        self.record("inertia", DENSITY * inertia - tensors[row], DENSITY * self.volume * self.length**2)

    def record_face(self, row, wanted, faces, sections):
        area, centre, moment = wanted
        self.record("area", area - faces["area"][row], self.length**2)
        # The difference of centres is weighted by area, so that a sliver counts little.
        self.record("face centre", (centre - [faces[key][row] for key in "xyz"]) * area, self.length**3)
        self.record("section", moment - sections[row], self.length**4)

    def within(self, limit):
        for name, difference in self.found.items():
            assert difference < limit, f"{name} is off by {difference:.1e} of a cell"
        return ", ".join(f"{name} {difference:.0e}" for name, difference in self.found.items())


def generators(count, faces):
    """Points whose Voronoi cells have these faces, and the largest distance of a face from half-way between two of
    them."""
    inner = np.flatnonzero(faces["j"] != NONE)
    normal = vectors(faces, "nx", "ny", "nz")[inner]
    centre = vectors(faces, "x", "y", "z")[inner]
    i, j = faces["i"][inner], faces["j"][inner]
    # n (gi + gj) = 2 n.P along the normal, gj - gi = 0 across it: N N^T (gi + gj) + (1 - N N^T)(gj - gi) = 2 N N^T P.
    along = np.einsum("na,nb->nab", normal, normal)
    of_i, of_j = 2 * along - np.eye(3), np.broadcast_to(np.eye(3), along.shape)
    rows = np.arange(3 * len(inner)).reshape(-1, 3, 1)
    entries = []
    for blocks, cell in ((of_i, i), (of_j, j)):
        columns = 3 * cell.astype(int)[:, None, None] + np.arange(3)[None, None, :]
        full = np.broadcast_arrays(rows, columns, blocks)
        entries.append([part.ravel() for part in full])
    row, column, value = (np.concatenate(parts) for parts in zip(*entries))
    matrix = sparse.csr_matrix((value, (row, column)), shape=(3 * len(inner), 3 * count))
    right = 2 * np.einsum("nab,nb->na", along, centre).ravel()
    points = linalg.spsolve((matrix.T @ matrix).tocsc(), matrix.T @ right)
    return points.reshape(-1, 3), np.abs(matrix @ points - right).max()


def check_box(scratch):
    pipeline = scratch / "box.toml"
    pipeline.write_text(BOX)
    elements, cells, faces = packed(pipeline, scratch / "box")
    count = len(elements["id"])
    assert abs(elements["volume"].sum() / SIZE.prod() - 1) < 1e-12, "the cells do not fill the box"
    points, off = generators(count, faces)
    worst = LargestErrors(elements, faces)
    worst.record("half way", off, worst.length)
    images = [points]
    for axis in range(3):
        for side in (-0.5, 0.5):
            image = points.copy()
            image[:, axis] = 2 * side * SIZE[axis] - image[:, axis]
            images.append(image)
    diagram = spatial.Voronoi(np.concatenate(images))
    tensors, sections = stored_inertia(cells), stored_sections(faces)
    for cell in range(count):
        corners = diagram.vertices[diagram.regions[diagram.point_region[cell]]]
        worst.record_cell(cell, solid(corners), (elements, tensors))
    # Faces by their two cells; boundary faces by cell and side of the box.
    normals = vectors(faces, "nx", "ny", "nz")
    side_of = lambda normal: 2 * int(np.argmax(np.abs(normal))) + int(normal[np.argmax(np.abs(normal))] > 0)
    numbers = {}
    for row, (i, j) in enumerate(zip(faces["i"], faces["j"])):
        numbers[(i, j) if j != NONE else (i, NONE, side_of(normals[row]))] = row
    assert len(numbers) == len(faces["id"]), "two faces between the same cells"
    left_out = 0.0
    for (a, b), ridge in zip(diagram.ridge_points, diagram.ridge_vertices):
        i, j = min(a, b), max(a, b)
        if i >= count:
            continue
        normal = diagram.points[j] - diagram.points[i]
        normal /= np.linalg.norm(normal)
        wanted = polygon(diagram.vertices[ridge], normal)
        row = numbers.pop((i, j) if j < count else (i, NONE, (j - count) // count), None)
        if row is None:
            left_out = max(left_out, wanted[0])
            continue
        worst.record_face(row, wanted, faces, sections)
        worst.record("normal", (normal - normals[row]) * wanted[0], worst.length**2)
    assert not numbers, f"{len(numbers)} faces that the diagram lacks"
    assert left_out < 6e-6 * worst.length**2, f"a face of {left_out:.1e} m2 is left out"
    return f"box, {count} cells, {len(faces['id'])} faces: {worst.within(1e-11)}"


def check_mesh(scratch):
    elements, cells, faces = packed(ROOT / "pipelines/voronoi_bunny.toml", scratch / "bunny", "body.bunny.packing.cells=1000")
    count = len(elements["id"])
    skin = trimesh.load(next((scratch / "bunny/packing/shapes").glob("*.ply")))
    filled = elements["volume"].sum() / skin.volume - 1
    assert abs(filled) < 0.005, f"the cells hold {filled:+.1%} of the mesh"
    normals, centres = vectors(faces, "nx", "ny", "nz"), vectors(faces, "x", "y", "z")
    planes = [[] for _ in range(count)]
    for row, (i, j) in enumerate(zip(faces["i"], faces["j"])):
        planes[i].append((row, 1))
        if j != NONE:
            planes[j].append((row, -1))
    worst = LargestErrors(elements, faces)
    tensors, sections = stored_inertia(cells), stored_sections(faces)
    pyramids = np.zeros(count)
    for cell, own in enumerate(planes):
        rows = np.array([row for row, _ in own])
        signs = np.array([sign for _, sign in own])
        outward = normals[rows] * signs[:, None]
        centre = np.array([elements[key][cell] for key in "xyz"])
        # In units of the cell size about its centre, where planes are accurate to a few ulps.
        offsets = np.einsum("na,na->n", outward, centres[rows] - centre) / worst.length
        corners = spatial.HalfspaceIntersection(np.column_stack([outward, -offsets]), np.zeros(3)).intersections
        corners = corners[np.isfinite(corners).all(axis=1)]
        volume, middle, inertia = solid(corners)
        wanted = volume * worst.length**3, centre + middle * worst.length, inertia * worst.length**5
        worst.record_cell(cell, wanted, (elements, tensors))
        for row, normal, offset in zip(rows, outward, offsets):
            on = corners[np.abs(corners @ normal - offset) < 1e-9]
            area, middle, moment = polygon(on, normal)
            if faces["j"][row] == NONE:
                pyramids[cell] += area * offset / 3 * worst.length**3
            scaled = area * worst.length**2, centre + middle * worst.length, moment * worst.length**4
            worst.record_face(row, scaled, faces, sections)
    worst.record("free volume", pyramids - cells["free"], worst.volume)
    return f"bunny, {count} cells, {len(faces['id'])} faces, {filled:+.2%} of the mesh: {worst.within(1e-7)}"


def check(scratch):
    return f"{check_box(scratch)}\n{check_mesh(scratch)}"


run(check)
