"""Writes shots in which a plate of one layer slides on a box, and on meshes of that box.

python tools/figures/slabs.py FOLDER [ROWS ROWS]
"""

import sys
from pathlib import Path

SIDE, DEPTH = 0.2, 0.02  # m, of the box; its top is z = 0
RADIUS = 1e-3  # m
# Pressed so hard that all elements touch all the time, and in by as much as that takes.
GRAVITY, OVERLAP = 1000, 0.7e-6  # m/s², m
# Squares along each edge of the top.
SQUARES = {"mesh": 1, "coarse": 40, "fine": 200}

SHOT = """
[time]
end = "1 ms"
frames_per_second = "1 kHz"
step = "1 us"

[world]
gravity = [0, 0, {gravity}]

[[material]]
name = "m"
density = 2600
young = "10 MPa"
shear = "4 MPa"
elasticity = "bond"

[[body]]
name = "plate"
material = "m"
shape = {{ type = "block", rows = {rows} }}
packing = {{ type = "hexagonal", radius = {radius} }}
position = [0, 0, {height}]
velocity = [1, 0, 0]

[[collider]]
name = "slab"
shape = {shape}
position = {place}
"""


def mesh(squares):
    """The box as an OBJ, whose top has so many squares along each edge."""
    lines, numbers = [], {}

    def corner(*at):
        if at not in numbers:
            numbers[at] = len(numbers) + 1
            x, y = ((part / squares - 0.5) * SIDE for part in at[:2])
            lines.append(f"v {x} {y} {at[2] * -DEPTH}")
        return numbers[at]

    def face(*corners):
        corners = [corner(*at) for at in corners]
        faces.extend(f"f {corners[0]} {a} {b}" for a, b in zip(corners[1:], corners[2:]))

    faces, n = [], squares
    for x in range(n):
        for y in range(n):
            face((x, y, 0), (x + 1, y, 0), (x + 1, y + 1, 0), (x, y + 1, 0))
    face((0, 0, 1), (0, n, 1), (n, n, 1), (n, 0, 1))
    # A side is a fan from a corner below, over the whole upper edge.
    for start, way in (((0, 0), (1, 0)), ((n, 0), (0, 1)), ((n, n), (-1, 0)), ((0, n), (0, -1))):
        at = lambda k, low: (start[0] + k * way[0], start[1] + k * way[1], low)
        face(at(0, 1), at(n, 1), *(at(k, 0) for k in range(n, -1, -1)))
    return "\n".join(lines + faces) + "\n"


def main():
    folder = Path(sys.argv[1])
    rows = [int(word) for word in sys.argv[2:]] or [76, 66]
    shapes = {"box": (f'{{ type = "box", size = [{SIDE}, {SIDE}, {DEPTH}] }}', [0, 0, -DEPTH / 2])}
    for name, squares in SQUARES.items():
        (folder / f"{name}.obj").write_text(mesh(squares))
        shapes[name] = (f'{{ type = "mesh", file = "{name}.obj" }}', [0, 0, 0])
    for name, (shape, place) in shapes.items():
        told = {"gravity": -GRAVITY, "rows": [*rows, 1], "radius": RADIUS, "height": RADIUS - OVERLAP}
        (folder / f"{name}.toml").write_text(SHOT.format(**told, shape=shape, place=place))


if __name__ == "__main__":
    main()
