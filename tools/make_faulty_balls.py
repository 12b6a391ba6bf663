"""Makes balls of many triangles that bound no solid, to time what closes them.

    python tools/make_faulty_balls.py DIR TRIANGLES [TRIANGLES ...]

Needs numpy. For each number of triangles (about; 20 n²) it writes two balls of radius 1 m. DIR/faults_TRIANGLES.obj has
50 faults that can be repaired: holes, turned triangles, double triangles, split vertices, and tetrahedra that cross the
surface. DIR/panels_TRIANGLES.obj consists of 20 panels that do not meet. Only a wrap closes it."""

import sys
from pathlib import Path

import numpy as np

FAULTS = 50
GAP = 0.005  # between panels, over their size


def icosahedron():
    g = (1 + 5**0.5) / 2
    low = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0)]
    points = np.array([*low, *((z, x, y) for x, y, z in low), *((y, z, x) for x, y, z in low)], float)
    points /= np.linalg.norm(points[0])
    edge = min(np.linalg.norm(points[0] - p) for p in points[1:])
    near = [[j for j in range(12) if j != i and np.linalg.norm(points[i] - points[j]) < 1.1 * edge] for i in range(12)]
    faces = [(a, b, c) for a in range(12) for b in near[a] for c in near[b] if a < b and a < c and c in near[a]]
    return [f for f in faces if np.linalg.det(points[list(f)]) > 0], points


def panels(n):
    """Points (m) and triangles of each face of an icosahedron on the sphere, in n rows."""
    faces, corners = icosahedron()
    grid = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    number = {place: k for k, place in enumerate(grid)}
    weights = np.array([(n - i - j, i, j) for i, j in grid]) / n
    up = [[number[i, j], number[i + 1, j], number[i, j + 1]] for i in range(n) for j in range(n - i)]
    down = [[number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]] for i in range(n) for j in range(n - i - 1)]
    for face in faces:
        points = weights @ corners[list(face)]
        yield points / np.linalg.norm(points, axis=1)[:, None], np.array(up + down)


def ball(n, gap=0.0):
    points, triangles, start = [], [], 0
    for own, rows in panels(n):
        middle = own.mean(axis=0)
        points.append(middle + (1 - gap) * (own - middle))
        triangles.append(rows + start)
        start += len(own)
    points, triangles = np.concatenate(points), np.concatenate(triangles)
    if gap:
        return points, triangles
    _, first, number = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    return points[first], number.reshape(-1)[triangles]


def faulty(points, triangles):
    """The ball with faults of five kinds, as many of each."""
    rng = np.random.default_rng(1)
    picked = rng.choice(len(triangles), FAULTS, replace=False).reshape(5, -1)
    holes, turned, double, split, crossed = picked
    triangles = triangles.copy()
    triangles[turned] = triangles[turned, ::-1]
    added = points[triangles[split, 0]]
    triangles[split, 0] = len(points) + np.arange(len(split))
    points = np.concatenate([points, added])
    extra = [triangles[double]]
    size = 0.05
    for face in crossed:
        corners = points[triangles[face, 1]] * 0.98 + size * (np.concatenate([np.zeros((1, 3)), np.eye(3)]) - 0.25)
        extra.append(np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]) + len(points))
        points = np.concatenate([points, corners])
    return points, np.concatenate([np.delete(triangles, holes, axis=0), *extra])


def write(file, mesh):
    points, triangles = mesh
    with file.open("w", encoding="utf-8") as out:
        np.savetxt(out, points, "v %.9g %.9g %.9g")
        np.savetxt(out, triangles + 1, "f %d %d %d")


def main():
    if len(sys.argv) < 3 or not all(text.isdigit() and int(text) >= 500 for text in sys.argv[2:]):
        sys.exit("usage: make_faulty_balls.py DIR TRIANGLES [TRIANGLES ...], at least 500 each")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for text in sys.argv[2:]:
        n = max(round((int(text) / 20) ** 0.5), 5)
        write(folder / f"faults_{text}.obj", faulty(*ball(n)))
        write(folder / f"panels_{text}.obj", ball(n, GAP))
        print(f"{20 * n * n} triangles: faults_{text}.obj, panels_{text}.obj")


main()
