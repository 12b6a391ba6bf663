"""Makes meshes that are each wrong in another way, as artists' files are: for tests of what closes them.

    python tools/make_bad_meshes.py DIR

Needs numpy. Writes DIR/NAME.obj and DIR/meshes.jsonl, a line for each mesh: `name`, `wrong` (what is), `expected`
("skin" or "refused"), `fill` (the setting it is meant for), `radius` (m, of elements that suit it), `size` (its
largest extent, m) and `volume` (m³, of what the skin bounds; null if refused). That is where the winding number of
the mesh exceeds one half, sampled, or exact where it is known: the volume before the damage if faces were turned or
taken away."""

import json
import math
import sys
from pathlib import Path

import numpy as np

SUZANNE = Path(__file__).resolve().parent.parent / "pipelines/meshes/suzanne.obj"
POINTS = 40_000  # sampled per volume
STEPS = np.array(
    [0.8191725133961644, 0.6710436067037893, 0.5497004779019702]
)  # Kronecker's sequence in three dimensions

CASES = {}


def case(wrong, expected="skin", volume=None, fill="auto"):
    """Registers a function that returns (points, faces) under its name. `volume`: the exact one, m³, or a function
    that makes the mesh before the damage; without it the mesh itself is sampled."""

    def register(make):
        CASES[make.__name__] = (make, wrong, expected, volume, fill)
        return make

    return register


# ---- parts: points as rows, faces as lists of any length ----


def box(low=(0, 0, 0), high=(1, 1, 1)):
    points = [[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    return np.array(points, float), [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def ball(level=2, radius=1.0, centre=(0, 0, 0)):
    g = (1 + 5**0.5) / 2
    points = [
        (-1, g, 0),
        (1, g, 0),
        (-1, -g, 0),
        (1, -g, 0),
        (0, -1, g),
        (0, 1, g),
        (0, -1, -g),
        (0, 1, -g),
        (g, 0, -1),
        (g, 0, 1),
        (-g, 0, -1),
        (-g, 0, 1),
    ]
    faces = [
        (0, 11, 5),
        (0, 5, 1),
        (0, 1, 7),
        (0, 7, 10),
        (0, 10, 11),
        (1, 5, 9),
        (5, 11, 4),
        (11, 10, 2),
        (10, 7, 6),
        (7, 1, 8),
    ]
    faces += [
        (3, 9, 4),
        (3, 4, 2),
        (3, 2, 6),
        (3, 6, 8),
        (3, 8, 9),
        (4, 9, 5),
        (2, 4, 11),
        (6, 2, 10),
        (8, 6, 7),
        (9, 8, 1),
    ]
    points = [np.array(p) / math.hypot(*p) for p in points]
    for _ in range(level):
        middles, finer = {}, []

        def middle(a, b):
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(points)
                p = points[a] + points[b]
                points.append(p / math.hypot(*p))
            return middles[key]

        for a, b, c in faces:
            d, e, f = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, d, f), (d, b, e), (f, e, c), (d, e, f)]
        faces = finer
    return np.array(points) * radius + np.array(centre, float), [list(f) for f in faces]


def torus(tube=0.4, around=24, across=12):
    points, faces = [], []
    for i in range(around):
        for j in range(across):
            u, v = 2 * math.pi * i / around, 2 * math.pi * j / across
            r = 1 + tube * math.cos(v)
            points.append((r * math.cos(u), r * math.sin(u), tube * math.sin(v)))
            n, m = (i + 1) % around, (j + 1) % across
            faces.append([i * across + j, n * across + j, n * across + m, i * across + m])
    return np.array(points), faces


def strip(turn, count=40, width=0.3):
    """A ring of quads that turns by this angle about its middle line."""
    points, faces = [], []
    for k in range(count):
        u, v = 2 * math.pi * k / count, turn * k / count
        for side in (-width, width):
            r = 1 + side * math.cos(v)
            points.append((r * math.cos(u), r * math.sin(u), side * math.sin(v)))
    for k in range(count):
        low = [2 * k, 2 * k + 1]
        high = [2 * k + 2, 2 * k + 3] if k + 1 < count else [1, 0]
        faces.append([low[0], low[1], high[1], high[0]])
    return np.array(points), faces


def merged(*parts):
    points, faces = [], []
    for part, rows in parts:
        start = sum(map(len, points))
        faces += [[corner + start for corner in face] for face in rows]
        points.append(part)
    return np.concatenate(points), faces


def inward(mesh):
    return mesh[0], [face[::-1] for face in mesh[1]]


def without(mesh, gone):
    return mesh[0], [face for f, face in enumerate(mesh[1]) if not gone(f)]


def moved(mesh, by):
    return mesh[0] + np.array(by, float), mesh[1]


def soup(mesh):
    """Every face with corners of its own."""
    faces, start = [], 0
    for face in mesh[1]:
        faces.append(list(range(start, start + len(face))))
        start += len(face)
    return mesh[0][[corner for face in mesh[1] for corner in face]], faces


def volume_of(mesh):
    """Exact for a solid."""
    a, b, c = triangles(mesh).swapaxes(0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


# ---- holes, turned and double faces ----


@case("a box without its lid", volume=1.0)
def open_box():
    return without(box(), lambda f: f == 3)


@case("one face turned over", volume=1.0)
def flipped_face():
    points, faces = box()
    return points, faces[:2] + [faces[2][::-1]] + faces[3:]


@case("one of two shells turned inside out", volume=2.0)
def flipped_shell():
    return merged(box(), inward(moved(box(), (2, 0, 0))))


@case("every third face turned over", volume=torus)
def mixed_winding():
    points, faces = torus()
    return points, [face[::-1] if f % 3 == 0 else face for f, face in enumerate(faces)]


@case("every fifth face twice", volume=ball)
def double_faces():
    points, faces = ball()
    return points, faces + faces[::5]


@case("a copy turned inside out on every face", volume=ball)
def two_sided():
    return merged(ball(), inward(ball()))


@case("single faces missing", volume=torus)
def missing_faces():
    return without(torus(), lambda f: f % 48 == 7)


@case("64 small holes", volume=lambda: ball(3))
def many_holes():
    return without(ball(3), lambda f: f % 20 == 3)


@case("a tube with one end open", volume=lambda: tube(True))
def open_tube():
    return tube(False)


def tube(is_closed, around=32):
    ring = [(0.4 * math.cos(2 * math.pi * k / around), 0.4 * math.sin(2 * math.pi * k / around)) for k in range(around)]
    points = [(x, y, z) for z in (0, 1.2) for x, y in ring]
    faces = [[k, (k + 1) % around, around + (k + 1) % around, around + k] for k in range(around)]
    faces.append(list(range(around - 1, -1, -1)))
    return np.array(points), faces + ([list(range(around, 2 * around))] if is_closed else [])


@case("a lid 0.01 mm above its box of 1 m", volume=1.0)
def hairline_gap():
    points, faces = box()
    lid = [face for face in faces if face == [2, 3, 7, 6]][0]
    return np.concatenate([points, points[lid] + [0, 1e-5, 0]]), [face for face in faces if face != lid] + [
        [8, 9, 10, 11]
    ]


@case("six panels that do not meet at the edges", volume=1.0)
def box_of_panels():
    points, faces = soup(box())
    for face in faces:
        middle = points[face].mean(axis=0)
        points[face] = middle + 0.99 * (points[face] - middle)
    return points, faces


@case("Suzanne: open round the eyes, which are shells that cross the head")
def suzanne():
    lines = [line.split() for line in SUZANNE.read_text().splitlines()]
    points = [[float(word) for word in line[1:]] for line in lines if line[0] == "v"]
    faces = [[int(word.split("/")[0]) - 1 for word in line[1:]] for line in lines if line[0] == "f"]
    return np.array(points), faces


# ---- vertices and edges ----


@case("corners not merged", volume=ball)
def unmerged_vertices():
    return soup(ball())


@case("corners not merged, 0.1 µm apart", volume=torus)
def unmerged_noise():
    points, faces = soup(torus())
    return points + 1e-7 * np.sin(np.arange(points.size).reshape(points.shape) * 1.7), faces


@case("vertices that no face uses", volume=1.0)
def isolated_vertices():
    points, faces = box()
    return np.concatenate([[[5, 5, 5]], points, [[-3, 0, 0]]]), [[corner + 1 for corner in face] for face in faces]


@case("an edge divided on one side only", volume=1.0)
def t_junction():
    points, faces = box()
    # Edges 2-3 and 0-1 get a vertex in the middle in one of their faces.
    points = np.concatenate([points, [(points[2] + points[3]) / 2, (points[0] + points[1]) / 2]])
    return points, [[0, 9, 1, 3, 8, 2] if face == [0, 1, 3, 2] else face for face in faces]


@case("two boxes that share an edge", volume=2.0)
def nonmanifold_edge():
    return welded(merged(box(), moved(box(), (1, 1, 0))))


@case("two boxes that share a corner", volume=2.0)
def touching_vertex():
    return welded(merged(box(), moved(box(), (1, 1, 1))))


def welded(mesh):
    points, which = np.unique(mesh[0], axis=0, return_inverse=True)
    which = which.reshape(-1)
    return points, [[int(which[corner]) for corner in face] for face in mesh[1]]


@case("triangles without area", volume=torus)
def zero_area():
    points, faces = torus()
    middle = len(points)
    points = np.concatenate([points, [(points[0] + points[1]) / 2]])
    return points, faces + [[0, 0, 1], [5, 5, 5], [0, middle, 1], [7, 8, 7]]


@case("triangles 10 000 times as long as wide", volume=1.0)
def needles():
    points, faces = box()
    points = np.concatenate([points, [points[2] + (points[3] - points[2]) * 1e-4]])
    return points, [[0, 1, 3, 8], [0, 8, 2], [2, 8, 7], [8, 3, 7], [2, 7, 6]] + [
        f for f in faces if f not in ([0, 1, 3, 2], [2, 3, 7, 6])
    ]


@case("a hexagon whose corners are in no plane")
def nonplanar_polygon():
    ring = [(math.cos(math.pi * k / 3), math.sin(math.pi * k / 3)) for k in range(6)]
    points = [(x, y, 0) for x, y in ring] + [(x, y, 1 + 0.01 * (-1) ** k) for k, (x, y) in enumerate(ring)]
    sides = [[k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6)]
    return np.array(points), sides + [[5, 4, 3, 2, 1, 0], [6, 7, 8, 9, 10, 11]]


@case("polygons that are not convex", volume=1.0)
def concave_polygon():
    # A U of unit area; its first corner does not see all others.
    line = [(0.25, 0.5), (0.25, 1.5), (0, 1.5), (0, 0), (1, 0), (1, 1.5), (0.75, 1.5), (0.75, 0.5)]
    count = len(line)
    points = [(x, y, z) for z in (0, 1) for x, y in line]
    faces = [[k, (k + 1) % count, count + (k + 1) % count, count + k] for k in range(count)]
    return np.array(points), faces + [list(range(count - 1, -1, -1)), list(range(count, 2 * count))]


# ---- walls, crossings ----


@case("a wall across the inside", volume=2.0)
def inner_wall():
    return welded(without(merged(box(), moved(box(), (1, 0, 0))), lambda f: f == 1))


@case("two bricks whose common face is there twice", volume=2.0)
def shared_faces():
    return welded(merged(box(), moved(box(), (1, 0, 0))))


@case("two bricks that share part of a face", volume=2.0)
def touching_faces():
    return merged(box(), moved(box(), (0.5, 0.5, 1)))


@case("two boxes that overlap", volume=2 - 0.7 * 0.6 * 0.8)
def overlapping_boxes():
    return merged(box(), moved(box(), (0.3, 0.4, 0.2)))


@case("two boxes that overlap, tops and fronts in one plane", volume=1.5)
def coplanar_overlap():
    return merged(box(), moved(box(), (0.5, 0, 0)))


@case("the same box twice", volume=1.0)
def twice():
    return merged(box(), box())


@case("two balls that cross")
def crossing_balls():
    return merged(ball(), ball(centre=(1.1, 0.03, 0.02)))


@case("a ball whose top is pushed out through its bottom")
def self_crossing():
    points, faces = ball()
    points = points.copy()
    points[points[:, 2] > 0.99] -= [0, 0, 2.5]
    return points, faces


@case("a box inside another, both wound outward", volume=1.0, fill="winding")
def nested_shells():
    return merged(box(), box((0.25, 0.25, 0.25), (0.75, 0.75, 0.75)))


@case("a fin without thickness on an edge", volume=1.0)
def fin():
    points, faces = box()
    return np.concatenate([points, [[0, 1.5, 0], [0, 1.5, 1]]]), faces + [[2, 3, 9, 8]]


@case("crumbs of a boolean operation: tiny shells and loose triangles", volume=1.0)
def boolean_debris():
    crumbs = [box((0.2 * k, 1.0, 0.3), (0.2 * k + 1e-5, 1.00001, 0.30001)) for k in range(1, 4)]
    loose = (np.array([[0.5, 1.00002, 0.5], [0.50001, 1.00002, 0.5], [0.5, 1.00002, 0.50001]]), [[0, 1, 2]])
    return merged(box(), *crumbs, loose)


@case("an open box pushed into a ball")
def open_box_in_ball():
    return merged(ball(), without(box((-0.5, -0.5, 0.2), (0.5, 0.5, 1.6)), lambda f: f == 4))


@case("a floating disc in the open end of a tube", volume=lambda: tube(True))
def loose_lid():
    points, faces = tube(False)
    disc = points[32:] * [0.9, 0.9, 1]
    return merged((points, faces), (disc, [list(range(32))]))


# ---- places and sizes ----


@case("1000 km from the origin, some faces twice", volume=1.0)
def far_away():
    points, faces = box()
    return points + [1e6, 0, -1e6], faces + faces[:2]


@case("so far away that coordinates have no digits left", expected="refused")
def too_far_away():
    return moved(double_faces(), (1e11, 0, 0))


@case("1 µm wide, without a lid", volume=1e-18)
def tiny():
    points, faces = open_box()
    return points * 1e-6, faces


@case("1000 km wide, without a lid", volume=1e18)
def huge():
    points, faces = open_box()
    return points * 1e6, faces


@case("of coordinates near the largest number", expected="refused")
def too_huge():
    points, faces = box()
    return points * 1e300, faces


# ---- no solid ----


@case("a flat sheet", expected="refused")
def sheet():
    return np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float), [[0, 1, 2, 3]]


@case("a Möbius strip", expected="refused")
def moebius_strip():
    return strip(math.pi)


@case("a Klein bottle", expected="refused")
def klein_bottle(around=32, across=16):
    points, faces = [], []
    for i in range(around):
        for j in range(across):
            # Halves: the tube crosses itself where v is 0 and where it is π, in no vertex.
            u, v = 2 * math.pi * i / around, 2 * math.pi * (j + 0.5) / across
            r = 2 + math.cos(u / 2) * math.sin(v) - math.sin(u / 2) * math.sin(2 * v)
            points.append(
                (r * math.cos(u), r * math.sin(u), math.sin(u / 2) * math.sin(v) + math.cos(u / 2) * math.sin(2 * v))
            )
            m = (j + 1) % across
            # Half a turn later the tube meets itself mirrored.
            n = (
                ((i + 1) * across + j, (i + 1) * across + m)
                if i + 1 < around
                else ((-j - 1) % across, (-m - 1) % across)
            )
            faces.append([i * across + j, n[0], n[1], i * across + m])
    return np.array(points), faces


@case("a ball pressed flat", expected="refused")
def flat():
    points, faces = ball()
    return points * [1, 1, 0], faces


@case("no faces", expected="refused")
def empty():
    return box()[0], []


# ---- damaged files ----


@case("a coordinate that is NaN", expected="refused")
def not_a_number():
    points, faces = box()
    points[3, 1] = math.nan
    return points, faces


@case("a face of a vertex that does not exist", expected="refused")
def missing_vertex():
    points, faces = box()
    return points, faces + [[0, 1, 99_998]]


# ---- volumes ----


def triangles(mesh):
    """Corners of the fans of all faces."""
    points, faces = mesh
    return points[[[face[0], face[k], face[k + 1]] for face in faces for k in range(1, len(face) - 1)]]


def winding(corners, at):
    """Winding number of points: the solid angles of all triangles over 4π. van Oosterom and Strackee 1983, eq. 8."""
    total = np.zeros(len(at))
    for start in range(0, len(at), 4000):
        a, b, c = (corners[:, k] - at[start : start + 4000, None] for k in range(3))
        p, q, r = (np.linalg.norm(v, axis=2) for v in (a, b, c))
        dot = lambda u, v: np.einsum("ijk,ijk->ij", u, v)
        below = p * q * r + dot(a, b) * r + dot(b, c) * p + dot(c, a) * q
        total[start : start + 4000] = np.arctan2(dot(a, np.cross(b, c)), below).sum(axis=1)
    return total / (2 * math.pi)


def sampled_volume(mesh):
    corners = triangles(mesh)
    low, high = mesh[0].min(axis=0), mesh[0].max(axis=0)
    at = low + (high - low) * (np.arange(1, POINTS + 1)[:, None] * STEPS % 1)
    return float((winding(corners, at) > 0.5).mean() * np.prod(high - low))


def write(folder, name):
    make, wrong, expected, volume, fill = CASES[name]
    mesh = make()
    lines = [f"# {wrong}"] + ["v " + " ".join(repr(float(c)) for c in p) for p in mesh[0]]
    lines += ["f " + " ".join(str(corner + 1) for corner in face) for face in mesh[1]]
    (folder / f"{name}.obj").write_text("\n".join(lines) + "\n")
    used = (
        mesh[0][sorted({corner for face in mesh[1] for corner in face if corner < len(mesh[0])})]
        if mesh[1]
        else mesh[0]
    )
    size = float(np.max(np.nanmax(used, axis=0) - np.nanmin(used, axis=0)))
    if expected == "refused":
        volume = None
    elif volume is None:
        volume = sampled_volume(mesh)
    elif callable(volume):
        volume = volume_of(volume())
    return {
        "name": name,
        "wrong": wrong,
        "expected": expected,
        "fill": fill,
        "radius": size / 25,
        "volume": volume,
        "size": size,
    }


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: make_bad_meshes.py DIR")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rows = [write(folder, name) for name in CASES]
    (folder / "meshes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = sum(row["expected"] == "refused" for row in rows)
    print(f"{len(rows)} meshes in {folder}, {refused} of them to be refused")


if __name__ == "__main__":
    main()
