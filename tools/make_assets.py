"""Makes meshes as artists have them: a robot of overlapping parts, a wine glass and a pane without walls, scenes of many
objects, a voussoir of an arch.

`python3 tools/make_assets.py [--out DIR]` writes DIR/*.obj and DIR/*.glb; the default is pipelines/meshes."""

import argparse
import json
import math
import pathlib
import struct

OUT = pathlib.Path(__file__).resolve().parent.parent / "pipelines" / "meshes"


def write_obj(name, comment, parts, material=None, digits=5):
    """Parts are (name, points, faces); a corner of a face is a point, or a point and its texture coordinates. `material`
    gives the material of a part by its name."""
    lines, start, places = [f"# {comment}"], 1, {}
    for part, points, faces in parts:
        lines += [f"o {part}"] + ["v " + " ".join(f"{c:.{digits}g}" for c in p) for p in points]
        rows = [f"usemtl {material(part)}"] if material else []
        for face in faces:
            corners = []
            for corner in face:
                if isinstance(corner, int):
                    corners.append(str(corner + start))
                    continue
                text = "vt " + " ".join(f"{c:.5g}" for c in corner[1])
                if text not in places:
                    places[text] = len(places) + 1
                    lines.append(text)
                corners.append(f"{corner[0] + start}/{places[text]}")
            rows.append("f " + " ".join(corners))
        lines += rows
        start += len(points)
    (OUT / f"{name}.obj").write_text("\n".join(lines) + "\n")
    print(name, len(parts), "parts", sum(len(faces) for _, _, faces in parts), "faces")


# ---- closed parts about the origin: points and faces of any number of corners, wound outward ----


def box(x, y, z):
    points = [(i * x / 2, j * y / 2, k * z / 2) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    return points, [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def turned(profile, around, flat_ends=False):
    """A line of (radius, y), from bottom to top along the outside, turned about y. Ends on the axis are single points;
    other ends are closed by one polygon each if `flat_ends`, else open."""
    points, rows = [], []
    for radius, y in profile:
        count = 1 if radius == 0 else around
        rows.append([len(points) + k % count for k in range(around)])
        points += [
            (radius * math.cos(2 * math.pi * k / around), y, radius * math.sin(2 * math.pi * k / around))
            for k in range(count)
        ]
    faces = []
    for low, high in zip(rows, rows[1:]):
        for k in range(around):
            n = (k + 1) % around
            face = list(dict.fromkeys([low[k], high[k], high[n], low[n]]))
            faces.append(tuple(face))
    if flat_ends:
        faces += [tuple(rows[0]), tuple(reversed(rows[-1]))]
    return points, faces


def cylinder(radius, height, around=24, top=None):
    return turned([(radius, -height / 2), (radius if top is None else top, height / 2)], around, flat_ends=True)


def capsule(radius, length, around=20, rings=5):
    """A cylinder of this length between two half balls; a ball if the length is 0."""
    arc = [math.pi / 2 * k / rings for k in range(rings + 1)]
    low = [(radius * math.sin(a), -length / 2 - radius * math.cos(a)) for a in arc]
    high = [(radius * math.sin(a), length / 2 + radius * math.cos(a)) for a in reversed(arc)]
    return turned(low + high[0 if length else 1 :], around)


def placed(part, at, turns=()):
    """The part turned about axes (0: x, 1: y, 2: z) by degrees, one after the other, and moved."""
    points, faces = part
    for axis, degrees in turns:
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        u, v = (axis + 1) % 3, (axis + 2) % 3

        def turn(p):
            q = list(p)
            q[u], q[v] = c * p[u] - s * p[v], s * p[u] + c * p[v]
            return tuple(q)

        points = [turn(p) for p in points]
    return [tuple(a + b for a, b in zip(p, at)) for p in points], faces


# ---- robot ----


def robot():
    """A toy robot, 30 cm tall, of 40 closed parts that overlap where they meet; it waves its right hand."""
    parts = []

    def add(name, part, at, *turns):
        parts.append((name, *placed(part, at, turns)))

    for side, x in (("left", 0.034), ("right", -0.034)):
        add(f"{side}_foot", box(0.046, 0.022, 0.078), (1.05 * x, 0.011, 0.010), (1, 8 if x > 0 else -8))
        add(f"{side}_ankle", capsule(0.014, 0), (x, 0.027, 0))
        add(f"{side}_shin", box(0.030, 0.056, 0.034), (x, 0.057, 0))
        add(f"{side}_knee", cylinder(0.018, 0.038), (x, 0.089, 0.001), (2, 90))
        add(f"{side}_thigh", cylinder(0.014, 0.046, top=0.018), (x, 0.112, 0))
        add(f"{side}_hip", capsule(0.021, 0), (0.92 * x, 0.139, 0))
    add("pelvis", box(0.074, 0.032, 0.050), (0, 0.142, 0))
    add("waist", cylinder(0.027, 0.030, 28), (0, 0.163, 0))
    add("torso", box(0.104, 0.078, 0.066), (0, 0.209, 0))
    add("chest_plate", box(0.072, 0.044, 0.014), (0, 0.217, 0.035), (0, -6))
    add("lamp", cylinder(0.013, 0.012), (0.017, 0.218, 0.043), (0, 84))
    add("backpack", box(0.066, 0.060, 0.034), (0, 0.212, -0.045))
    for side, x in (("left", 0.020), ("right", -0.020)):
        add(f"{side}_exhaust", cylinder(0.009, 0.060, 16), (x, 0.241, -0.050), (0, -12))
    # The left arm hangs, the right one waves: forearm up and outward.
    hanging = {
        "upper": ((0.073, 0.200, 0.002), ((2, 10),)),
        "elbow": (0.079, 0.173, 0.003),
        "fore": ((0.083, 0.145, 0.013), ((0, 160), (2, 6))),
    }
    waving = {
        "upper": ((-0.085, 0.222, 0.002), ((2, 70),)),
        "elbow": (-0.112, 0.214, 0.003),
        "fore": ((-0.124, 0.242, 0.009), ((0, 12), (2, 22))),
    }
    hands = {"left": ((0.086, 0.110, 0.027), ((0, -20),)), "right": ((-0.138, 0.279, 0.017), ((0, 12), (2, 26)))}
    thumbs = {
        "left": ((0.074, 0.112, 0.035), ((0, 20), (2, 30))),
        "right": ((-0.122, 0.282, 0.021), ((0, 12), (2, -20))),
    }
    for side, x, arm in (("left", 0.062, hanging), ("right", -0.062, waving)):
        add(f"{side}_shoulder", capsule(0.021, 0), (x, 0.228, 0))
        add(f"{side}_pad", box(0.042, 0.014, 0.050), (1.13 * x, 0.246, 0), (2, -16 if x > 0 else 16))
        add(f"{side}_upper_arm", capsule(0.013, 0.034), *flat(arm["upper"]))
        add(f"{side}_elbow", capsule(0.0155, 0), arm["elbow"])
        add(f"{side}_forearm", cylinder(0.013, 0.048, top=0.018), *flat(arm["fore"]))
        add(f"{side}_hand", box(0.019, 0.034, 0.030), *flat(hands[side]))
        add(f"{side}_thumb", capsule(0.0065, 0.018, 16), *flat(thumbs[side]))
    add("neck", cylinder(0.016, 0.026), (0, 0.251, 0))
    add("head", box(0.068, 0.044, 0.054), (0, 0.278, 0.002), (1, -10))
    for side, x in (("left", 0.015), ("right", -0.019)):
        add(f"{side}_eye", cylinder(0.0095, 0.014, 20), (x, 0.281, 0.029), (0, 90), (1, -10))
    add("antenna", cylinder(0.0055, 0.026, 14), (0.018, 0.308, 0), (2, -8))
    add("antenna_ball", capsule(0.0105, 0), (0.020, 0.324, 0))


    def material(part):
        if any(word in part for word in ("eye", "lamp", "antenna", "exhaust")):
            return "metal"
        return "rubber" if any(word in part for word in ("knee", "hip", "elbow", "shoulder", "neck", "waist")) else "paint"

    write_obj("kitbash_robot", "a robot of 40 closed parts that overlap, in metres, 33 cm tall", parts, material)


def flat(pose):
    """Position and turns of a pose as one list of arguments."""
    return [pose[0], *pose[1]]


# ---- sheets ----


def with_texture(part, around, rows):
    """Texture coordinates for a turned part: u around, v along the line; a seam where it closes."""
    points, faces = part
    # The corner of a quad is the start of its side low or high, at k or k + 1.
    out = []
    for f, face in enumerate(faces):
        row, k = divmod(f, around)
        corners = [(k, row), (k, row + 1), (k + 1, row + 1), (k + 1, row)]
        if len(face) == 3:
            # One end is on the axis: the two corners there are one, halfway between them.
            at_low = face[0] < min(face[1:]) and row == 0
            corners = (
                [(k + 0.5, row), (k, row + 1), (k + 1, row + 1)]
                if at_low
                else [(k, row), (k + 0.5, row + 1), (k + 1, row)]
            )
        out.append(tuple((point, (u / around, v / rows)) for point, (u, v) in zip(face, corners)))
    return points, out


def wine_glass(around=48):
    """Bowl and foot of a wine glass as surfaces without walls, 17 cm tall. The stem ends in the bottom of the bowl, so
    that their solids overlap once they have a thickness of 2 mm."""

    def curve(t):
        """Bowl at t from 0, at its bottom, to 1, at the rim: widest at 40 % of its height."""
        wide = (
            0.038 * math.sin(math.pi / 2 * min(1.0, t / 0.4)) ** 0.62
            if t < 0.4
            else 0.038 - 0.009 * ((t - 0.4) / 0.6) ** 1.6
        )
        return (wide, 0.079 + 0.090 * t)

    steps = [0, 0.006, 0.02, 0.045, 0.08, 0.13, 0.19, 0.26, 0.33, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    bowl = [curve(t) for t in steps]
    foot = [
        (0.033, 0.002),
        (0.026, 0.0035),
        (0.018, 0.006),
        (0.011, 0.0105),
        (0.0065, 0.018),
        (0.0048, 0.030),
        (0.0042, 0.045),
        (0.0042, 0.062),
        (0.005, 0.073),
        (0.0062, 0.0793),
    ]
    parts = [
        (name, *with_texture(turned(line, around), around, len(line) - 1))
        for name, line in (("foot", foot), ("bowl", bowl))
    ]
    write_obj("wine_glass_sheet", "a wine glass as surfaces without thickness, in metres, 17 cm tall", parts)


def pane(width=0.2, height=0.15, columns=4, rows=3):
    """A rectangle in the x-y plane, its normal along z."""
    points = [
        (width * (i / columns - 0.5), height * j / rows, 0.0) for j in range(rows + 1) for i in range(columns + 1)
    ]
    faces = []
    for j in range(rows):
        for i in range(columns):
            quad = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            faces.append(tuple((b * (columns + 1) + a, (a / columns, b / rows)) for a, b in quad))
    write_obj("pane_sheet", "a rectangle of 20 by 15 cm without thickness, in metres", [("pane", points, faces)])


# ---- scene ----


def triangles_with_normals(part, round_edges):
    """Corners (position, normal, texture coordinates) of triangles. Edges are sharp unless `round_edges`."""
    points, faces = part
    corners = lambda face: [c if isinstance(c, tuple) else (c, (points[c][0] * 4, points[c][2] * 4)) for c in face]

    def normal(face):
        # Newell's formula.
        ring = [points[c[0]] for c in corners(face)]
        pairs = list(zip(ring, ring[1:] + ring[:1]))
        return [sum((a[u] - b[u]) * (a[v] + b[v]) for a, b in pairs) for u, v in ((1, 2), (2, 0), (0, 1))]

    sums = [[0.0] * 3 for _ in points]
    for face in faces:
        for corner, _ in corners(face):
            sums[corner] = [a + b for a, b in zip(sums[corner], normal(face))]
    for face in faces:
        own, ring = normal(face), corners(face)
        row = []
        for corner, uv in ring:
            n = sums[corner] if round_edges else own
            size = math.sqrt(sum(c * c for c in n)) or 1.0
            row.append((tuple(points[corner]), tuple(c / size for c in n), uv))
        yield from ((row[0], row[k], row[k + 1]) for k in range(1, len(row) - 1))


class Glb:
    """A binary glTF file: one node per object, below one root."""

    def __init__(self, root):
        self.bytes, self.views, self.accessors = bytearray(), [], []
        self.nodes, self.meshes, self.materials = [{"name": root, "children": []}], [], []

    def accessor(self, rows, kind, component, letter, bounds=False):
        data = b"".join(struct.pack(f"<{len(row)}{letter}", *row) for row in rows)
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        self.bytes += data
        entry = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(rows), "type": kind}
        if bounds:
            single = [struct.unpack(f"<{len(row)}f", struct.pack(f"<{len(row)}f", *row)) for row in rows]
            entry |= {"min": [min(c) for c in zip(*single)], "max": [max(c) for c in zip(*single)]}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def add(self, name, part, colour, round_edges=True, **place):
        index, rows = {}, []
        for triangle in triangles_with_normals(part, round_edges):
            for corner in triangle:
                # Rounded, so that the last bits of cosines do not matter.
                key = tuple(tuple(round(c, 6) + 0.0 for c in values) for values in corner)
                rows.append(index.setdefault(key, len(index)))
        position, normal, uv = zip(*index)
        attributes = {
            "POSITION": self.accessor(position, "VEC3", 5126, "f", bounds=True),
            "NORMAL": self.accessor(normal, "VEC3", 5126, "f"),
            "TEXCOORD_0": self.accessor([(u, round(1 - v, 6)) for u, v in uv], "VEC2", 5126, "f"),
        }
        indices = self.accessor([(row,) for row in rows], "SCALAR", 5123, "H")
        look = {"baseColorFactor": [*colour, 1], "metallicFactor": 0, "roughnessFactor": 0.6}
        self.materials.append({"name": f"{name}_skin", "pbrMetallicRoughness": look})
        material = len(self.materials) - 1
        self.meshes.append(
            {
                "name": f"{name}_mesh",
                "primitives": [{"attributes": attributes, "indices": indices, "material": material}],
            }
        )
        self.place(name, len(self.meshes) - 1, **place)
        print(name, len(index), "vertices", len(rows) // 3, "triangles")

    def place(self, name, mesh, **place):
        """A further object with a mesh that has been added."""
        self.nodes.append({"name": name, "mesh": mesh, **place})
        self.nodes[0]["children"].append(len(self.nodes) - 1)

    def write(self, file):
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        tree = {
            "asset": {"version": "2.0", "generator": "tools/make_assets.py"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.bytes)}],
        }
        text = json.dumps(tree, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + len(self.bytes)
        chunks = struct.pack("<4sIIII", b"glTF", 2, size, len(text), 0x4E4F534A) + text
        file.write_bytes(chunks + struct.pack("<II", len(self.bytes), 0x004E4942) + self.bytes)


def still_life():
    """Five closed objects on y = 0, in metres; the candle stands on the book."""
    around = 32

    def revolved(line):
        return with_texture(turned(line, around), around, len(line) - 1)

    outer = [
        (0.026, 0),
        (0.034, 0.012),
        (0.046, 0.045),
        (0.050, 0.075),
        (0.044, 0.108),
        (0.029, 0.138),
        (0.020, 0.158),
        (0.020, 0.172),
        (0.029, 0.190),
    ]
    inner = [
        (0.025, 0.190),
        (0.0155, 0.171),
        (0.0155, 0.158),
        (0.0245, 0.138),
        (0.0395, 0.108),
        (0.0455, 0.075),
        (0.0415, 0.045),
        (0.030, 0.016),
        (0.022, 0.006),
    ]
    vase = [(0, 0), *outer, *inner, (0, 0.006)]
    bowl = [
        (0, 0),
        (0.028, 0),
        (0.030, 0.006),
        (0.048, 0.018),
        (0.062, 0.038),
        (0.068, 0.058),
        (0.0635, 0.058),
        (0.0575, 0.040),
        (0.045, 0.0225),
        (0.027, 0.011),
        (0, 0.010),
    ]
    # An apple is a line r(a) about its middle that goes in at both ends.
    apple = []
    for k in range(17):
        a = math.pi * k / 16
        r = 0.036 * (1 - 0.24 * abs(math.cos(a)) ** 6)
        apple.append(
            (0 if k in (0, 16) else r * math.sin(a) * (1.04 + 0.1 * math.cos(math.pi - a)), 0.0285 - r * math.cos(a))
        )
    candle = [
        (0, 0),
        (0.0195, 0),
        (0.0205, 0.002),
        (0.0205, 0.088),
        (0.0185, 0.091),
        (0.009, 0.0885),
        (0.0035, 0.087),
        (0.003, 0.098),
        (0, 0.0985),
    ]
    scene = Glb("still_life")
    scene.add("vase", revolved(vase), (0.13, 0.24, 0.38), translation=[-0.075, 0, -0.045])
    half = math.radians(-35) / 2
    scene.add(
        "apple",
        revolved(apple),
        (0.55, 0.07, 0.05),
        translation=[0.013, 0.0005, 0.062],
        rotation=[0, round(math.sin(half), 6), 0, round(math.cos(half), 6)],
    )
    scene.add("candle", revolved(candle), (0.85, 0.79, 0.62), translation=[0.118, 0.0305, -0.040])
    scene.add("bowl", revolved(bowl), (0.72, 0.68, 0.60), translation=[-0.110, 0, 0.080], scale=[1.05, 1.05, 1.05])
    half = math.radians(24) / 2
    cover = placed(box(0.125, 0.030, 0.170), (0, 0.015, 0))
    scene.add(
        "book",
        cover,
        (0.16, 0.30, 0.17),
        False,
        translation=[0.118, 0, -0.030],
        rotation=[0, round(math.sin(half), 6), 0, round(math.cos(half), 6)],
    )
    scene.write(OUT / "still_life.glb")


# ---- stacks ----


def plates(count=10, pitch=0.01148):
    """A stack of equal dinner plates, 24 cm wide, in metres; the lowest stands on y = 0. If each is turned by 23 degrees
    from the one below, elements of 1.6 mm and of 2.1 mm in hexagonal packing are 6 to 15 µm short of contact."""
    line = [
        (0, 0.005),
        (0.050, 0.005),
        (0.051, 0),
        (0.057, 0),
        (0.059, 0.005),
        (0.074, 0.006),
        (0.116, 0.0145),
        (0.120, 0.017),
        (0.1195, 0.020),
        (0.115, 0.0205),
        (0.072, 0.012),
        (0, 0.011),
    ]
    around = 64
    scene = Glb("plates")
    for k in range(count):
        place = {"translation": [0, round(k * pitch, 6), 0]}
        if k == 0:
            scene.add("plate_1", with_texture(turned(line, around), around, len(line) - 1), (0.85, 0.84, 0.80), **place)
        else:
            scene.place(f"plate_{k + 1}", 0, **place)
    scene.write(OUT / "plates.glb")


def brick_wall(courses=20, bricks=10, radius=0.0165):
    """Bricks in running bond, in metres; every second course begins and ends with half a brick. The middle of the lowest
    course is at y = 0. The distances between bricks are multiples of the spacings of a hexagonal packing of this radius,
    so that elements of neighbours touch and do not overlap; half bricks are one radius shorter for that."""
    along, up, joint = 14 * radius, 3 * math.sqrt(3) * radius, 0.010
    colours = [(0.45, 0.13, 0.08), (0.52, 0.18, 0.10), (0.38, 0.12, 0.09)]
    scene = Glb("brick_wall")
    for course in range(courses):
        shifted = course % 2
        for k in range(bricks + shifted):
            x = (k - (bricks - 1) / 2 - shifted / 2) * along
            half = shifted and k in (0, bricks)
            if half:
                x += (1 if k == 0 else -1) * 4 * radius
            name, place = f"brick_{course + 1}_{k + 1}", {"translation": [round(x, 7), round(course * up, 7), 0]}
            if course == 0 and k < len(colours):
                scene.add(name, box(along - joint, up - joint, 0.126), colours[k], False, **place)
            elif course == 1 and k == 0:
                scene.add(name, box(6 * radius - joint, up - joint, 0.126), colours[0], False, **place)
            else:
                shade = len(colours) if half else (7 * course + 5 * k) % 11 % len(colours)
                scene.place(name, shade, **place)
    scene.write(OUT / "brick_wall.glb")


def voussoir(count=11, radius=0.008, height=0.19, depth=0.25):
    """The wedge at the crown of a semicircular arch about the origin, in metres; the others are the same, turned about
    z. The height of its middle makes the elements of a hexagonal packing of this radius touch their mirror images in the
    next wedge, 4 rows below and 4 rows above the middle. Its sides are about half a radius inside the joints."""
    half = math.pi / (2 * count)
    middle = radius * (1 + 12 * math.cos(half)) / math.sin(half) - 4 * math.sqrt(3) * radius + 1e-7
    points = []
    for y in (middle - height / 2, middle + height / 2):
        x = y * math.tan(half) - 0.49 * radius / math.cos(half)
        points += [(s * x, y, t * depth / 2) for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    faces = [(0, 1, 2, 3), (7, 6, 5, 4), (1, 0, 4, 5), (2, 1, 5, 6), (3, 2, 6, 7), (0, 3, 7, 4)]
    part = ("voussoir", [tuple(round(c, 7) for c in p) for p in points], faces)
    write_obj("voussoir", f"one of {count} voussoirs of an arch, in metres", [part], digits=8)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="folder; default: pipelines/meshes")
    OUT = parser.parse_args().out
    OUT.mkdir(parents=True, exist_ok=True)
    robot()
    wine_glass()
    pane()
    still_life()
    plates()
    brick_wall()
    voussoir()
