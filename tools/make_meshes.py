"""Makes the closed meshes of the shots: letters, a drill bit, a bar of chocolate, a spring with a weight, a notched plate, test pieces.

`python3 tools/make_meshes.py [--out DIR]` writes DIR/*.obj; the default is pipelines/meshes."""

import argparse
import math
import pathlib

OUT = pathlib.Path(__file__).resolve().parent.parent / "pipelines" / "meshes"


def write(name, points, triangles, comment):
    lines = [f"# {comment}"]
    lines += ["v " + " ".join(f"{c:.5g}" for c in p) for p in points]
    lines += ["f " + " ".join(str(i + 1) for i in t) for t in triangles]
    (OUT / f"{name}.obj").write_text("\n".join(lines) + "\n")
    print(name, len(points), "points", len(triangles), "triangles")


# ---- flat shapes: triangles in the x-y plane, extruded along z ----


class Flat:
    def __init__(self):
        self.points, self.index, self.triangles = [], {}, []

    def at(self, p):
        key = (round(p[0], 6), round(p[1], 6))
        if key not in self.index:
            self.index[key] = len(self.points)
            self.points.append(key)
        return self.index[key]

    def triangle(self, a, b, c):
        a, b, c = self.at(a), self.at(b), self.at(c)
        if len({a, b, c}) == 3:
            self.triangles.append((a, b, c))

    def ring(self, outer, inner):
        """Triangles between two closed lines with the same number of points, both counterclockwise."""
        for k in range(len(outer)):
            n = (k + 1) % len(outer)
            self.triangle(outer[k], outer[n], inner[n])
            self.triangle(outer[k], inner[n], inner[k])

    def polygon(self, line):
        """Triangulates a closed line without holes, counterclockwise, by ear clipping."""
        left = list(line)

        def cross(a, b, c):
            return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

        while len(left) > 3:
            for k in range(len(left)):
                a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
                inside = (
                    p
                    for p in left
                    if p not in (a, b, c) and min(cross(a, b, p), cross(b, c, p), cross(c, a, p)) >= 0
                )
                if cross(a, b, c) > 0 and next(inside, None) is None:
                    self.triangle(a, b, c)
                    del left[k]
                    break
            else:
                raise ValueError("the line crosses itself")
        self.triangle(*left)

    def extruded(self, depth):
        count = len(self.points)
        points = [(x, y, z) for z in (-depth / 2, depth / 2) for x, y in self.points]
        triangles = [(c, b, a) for a, b, c in self.triangles]
        triangles += [(a + count, b + count, c + count) for a, b, c in self.triangles]
        edges = {(t[k], t[(k + 1) % 3]) for t in self.triangles for k in range(3)}
        for a, b in sorted(edges):
            if (b, a) not in edges:
                triangles += [(a, b, b + count), (a, b + count, a + count)]
        return points, triangles


def bow(left, low, high, right, start, pieces=24):
    """A bar on the left closed by an arc from `start` to `right`: the outline of a D, counterclockwise; the arc
    has `pieces` pieces, the bar eight."""
    middle, half = (low + high) / 2, (high - low) / 2
    radius = right - start
    arc = [
        (start + radius * math.cos(t), middle + half * math.sin(t))
        for t in (math.pi * (k / pieces - 0.5) for k in range(pieces + 1))
    ]
    bar = [(left, high - (high - low) * k / 8) for k in range(9)]
    return arc + bar


def letters():
    """One unit high, 0.7 wide, 0.25 deep, strokes 0.2 wide."""
    stroke, depth = 0.2, 0.25
    b = Flat()
    # Both bows share the middle of the middle stroke, so that they form one piece.
    for low, high in ((0.0, 0.55), (0.55, 1.0)):
        narrow = 0.5 * stroke if low else stroke
        wide = stroke if low else 0.5 * stroke
        inner = bow(stroke, low + narrow, high - wide, 0.7 - stroke, 0.42)
        b.ring(bow(0.0, low, high, 0.7, 0.42), inner)
    d = Flat()
    d.ring(bow(0.0, 0.0, 1.0, 0.75, 0.3), bow(stroke, stroke, 1.0 - stroke, 0.75 - stroke, 0.3))
    e = Flat()
    e.polygon(
        [(0, 0), (0.65, 0), (0.65, 0.2), (0.2, 0.2), (0.2, 0.4), (0.55, 0.4), (0.55, 0.6), (0.2, 0.6), (0.2, 0.8), (0.65, 0.8), (0.65, 1), (0, 1)]
    )
    m = Flat()
    m.polygon([(0, 0), (0.2, 0), (0.2, 0.62), (0.45, 0.25), (0.7, 0.62), (0.7, 0), (0.9, 0), (0.9, 1), (0.72, 1), (0.45, 0.58), (0.18, 1), (0, 1)])
    for name, flat in {"b": b, "d": d, "e": e, "m": m}.items():
        points, triangles = flat.extruded(depth)
        width = max(p[0] for p in points)
        centred = [(x - width / 2, y, z) for x, y, z in points]
        write(f"letter_{name}", centred, triangles, f"the letter {name.upper()}, one unit high")


# ---- drill ----


def drill(radius=1.0, length=9.0, core=0.3, flutes=2, turns=1.6, around=48, along=72):
    """A twist drill along y, its tip at the origin: a round section with deep helical flutes, and a cone of 118
    degrees as tip."""
    tip = radius / math.tan(math.radians(59))

    def section(t):
        # Lands are round; flutes go down to the core.
        wave = 0.5 - 0.5 * math.cos(flutes * t)
        return core + (radius - core) * min(1.0, 2.2 * wave) ** 0.8

    points, triangles = [(0.0, 0.0, 0.0)], []
    heights = [tip * (k / 8) for k in range(1, 8)] + [tip + (length - tip) * k / along for k in range(along + 1)]
    for y in heights:
        reach = radius * min(1.0, y / tip)
        turn = 2 * math.pi * turns * y / length
        for k in range(around):
            t = 2 * math.pi * k / around
            r = min(section(t), reach)
            # At the shank the flutes end.
            out = max(0.0, (y - 0.85 * length) / (0.15 * length))
            r += (reach - r) * min(1.0, out)
            points.append((r * math.cos(t + turn), y, r * math.sin(t + turn)))
    for k in range(around):
        n = (k + 1) % around
        triangles.append((0, 1 + k, 1 + n))
    for row in range(len(heights) - 1):
        for k in range(around):
            n = (k + 1) % around
            a, b = 1 + row * around + k, 1 + row * around + n
            c, d = a + around, b + around
            triangles += [(a, c, d), (a, d, b)]
    points.append((0.0, length, 0.0))
    last = 1 + (len(heights) - 1) * around
    for k in range(around):
        triangles.append((len(points) - 1, last + (k + 1) % around, last + k))
    write("drill", points, triangles, "a twist drill of radius 1 along y, its tip at the origin")


# ---- chocolate ----


def chocolate(columns=6, rows=3, pitch=(0.03, 0.03), height=0.01, groove=0.006, slope=0.004):
    """A bar of columns by rows pieces in the x-z plane, bottom at y = 0, with grooves of half its height between
    them."""

    def profile(count, step):
        line = [0.0]
        for k in range(count):
            start = k * step
            inner = [start + slope, start + step / 2, start + step - slope]
            line += ([start + groove / 4] if k else []) + inner + [start + step - (groove / 4 if k + 1 < count else 0.0)]
        # Borders are slightly sloped too.
        return sorted(set(round(v, 6) for v in line))

    xs, zs = profile(columns, pitch[0]), profile(rows, pitch[1])
    low = height * 0.45

    def raised(v, step, size):
        off = min(v % step, step - v % step)
        if v < 1e-9 or v > size - 1e-9:
            off = 0.0
        return min(1.0, max(0.0, (off - groove / 4) / (slope - groove / 4)))

    size = (columns * pitch[0], rows * pitch[1])
    nx, nz = len(xs), len(zs)
    points = [(x, 0.0, z) for z in zs for x in xs]
    points += [
        (x, low + (height - low) * min(raised(x, pitch[0], size[0]), raised(z, pitch[1], size[1])), z)
        for z in zs
        for x in xs
    ]
    points = [(x - size[0] / 2, y, z - size[1] / 2) for x, y, z in points]
    triangles = []
    top = nx * nz
    for j in range(nz - 1):
        for i in range(nx - 1):
            a, b, c, d = j * nx + i, j * nx + i + 1, (j + 1) * nx + i, (j + 1) * nx + i + 1
            triangles += [(a, b, d), (a, d, c), (top + a, top + d, top + b), (top + a, top + c, top + d)]
    border = [i for i in range(nx - 1)] + [j * nx + nx - 1 for j in range(nz - 1)]
    border += [(nz - 1) * nx + i for i in range(nx - 1, 0, -1)] + [j * nx for j in range(nz - 1, 0, -1)]
    for k, a in enumerate(border):
        b = border[(k + 1) % len(border)]
        triangles += [(a, top + b, b), (a, top + a, top + b)]
    write("chocolate", points, triangles, "a bar of chocolate of 6 by 3 pieces, 18 by 9 cm, 1 cm high, in metres")


# ---- spring ----


def spring(turns=7, coil=0.010, pitch=0.008, wire=0.00275, weight=(0.011, 0.016), around=12, step=0.0016):
    """A helix along y whose lower end bends to the axis and down into a round weight: one skin, the weight's
    shoulder at y = 0."""
    low = 0.022
    line = [(coil * math.cos(2 * math.pi * t), low + pitch * t, coil * math.sin(2 * math.pi * t)) for t in (k / 64 for k in range(turns * 64, -1, -1))]
    # Half a turn more, inwards, then down the axis.
    for k in range(1, 25):
        a, left = -math.pi * k / 24, 1 - k / 24
        line.append((coil * left * math.cos(a), low - 0.004 * k / 24, coil * left * math.sin(a)))
    line += [(0.0, y, 0.0) for y in (low - 0.006 - 0.001 * k for k in range(int((low - 0.006) / 0.001) + 1))]

    def resampled(line, step):
        out, left = [line[0]], step
        for a, b in zip(line, line[1:]):
            length = math.dist(a, b)
            at = left
            while at < length:
                out.append(tuple(p + (q - p) * at / length for p, q in zip(a, b)))
                at += step
            left = at - length
        return out

    line = resampled(line, 0.0006)
    for _ in range(40):
        # Rounds the bend; the ends are fixed.
        line = [line[0]] + [tuple((a + 2 * b + c) / 4 for a, b, c in zip(*near)) for near in zip(line, line[1:], line[2:])] + [line[-1]]
    line = resampled(line, step)
    end = line[-1][1]
    sections = [(p, wire) for p in line]
    sections += [((0.0, end - 0.0008 - y, 0.0), r) for y, r in ((0.0, wire), (0.0008, 0.5 * weight[0]), (0.0012, weight[0] - 0.001), (0.0022, weight[0]), (weight[1], weight[0]), (weight[1] + 0.001, weight[0] - 0.001))]

    def unit(v):
        size = math.sqrt(sum(c * c for c in v))
        return tuple(c / size for c in v)

    def cross(a, b):
        return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

    points, triangles, side = [], [], (1.0, 0.0, 0.0)
    for k, (middle, radius) in enumerate(sections):
        before, after = sections[max(k - 1, 0)][0], sections[min(k + 1, len(sections) - 1)][0]
        along = unit(tuple(b - a for a, b in zip(before, after)))
        # Parallel transport, without twisting.
        off = sum(a * b for a, b in zip(side, along))
        side = unit(tuple(a - off * b for a, b in zip(side, along)))
        other = cross(along, side)
        for j in range(around):
            c, s = math.cos(2 * math.pi * j / around), math.sin(2 * math.pi * j / around)
            points.append(tuple(m + radius * (c * a + s * b) for m, a, b in zip(middle, side, other)))
    for k in range(len(sections) - 1):
        for j in range(around):
            a, b = k * around + j, k * around + (j + 1) % around
            triangles += [(a, b, b + around), (a, b + around, a + around)]
    last = (len(sections) - 1) * around
    points += [sections[0][0], sections[-1][0]]
    for j in range(around):
        n = (j + 1) % around
        triangles += [(len(points) - 2, n, j), (len(points) - 1, last + j, last + n)]
    write("spring", points, triangles, "a helical spring with a weight, in metres: 7 turns of 2 cm, wire 5.5 mm thick")


# ---- a plate with two notches, by its outline in the x-y plane ----


def notched_plate(length=0.12, width=0.06, depth=0.01, radius=0.008, pieces=16):
    """A plate from whose long sides half circles are cut out in the middle."""
    left, right, half = -length / 2, length / 2, width / 2
    arc = [
        (radius * math.cos(math.pi * k / pieces), half - radius * math.sin(math.pi * k / pieces))
        for k in range(pieces + 1)
    ]
    bottom = [(-x, -y) for x, y in arc]
    flat = Flat()
    flat.polygon([(left, -half), *bottom, (right, -half), (right, half), *arc, (left, half)])
    points, triangles = flat.extruded(depth)
    write("notched_plate", points, triangles, "a plate of 12 by 6 cm with two notches of radius 8 mm, 1 cm thick, in metres")


# ---- test pieces with slots that stand for cracks ----


def test_piece(name, outline, depth, comment):
    flat = Flat()
    flat.polygon(outline)
    write(name, *flat.extruded(depth), comment)


def branching_plate(length=0.1, width=0.04, depth=0.002, slot=0.0006):
    """A plate with a slot from the middle of its left side to its centre."""
    x, y, h = length / 2, width / 2, slot / 2
    outline = [(-x, -y), (x, -y), (x, y), (-x, y), (-x, h), (0, h), (0, -h), (-x, -h)]
    test_piece("branching_plate", outline, depth, "a plate of 10 by 4 cm with a slot to its centre, 2 mm thick, in metres")


def kalthoff_plate(width=0.1, height=0.2, depth=0.004, slot=0.0015, at=0.025, long=0.05):
    """A plate with two parallel slots from its left side, `at` above and below the middle."""
    x, y, h = width / 2, height / 2, slot / 2
    end = long - x
    upper = [(-x, at + h), (end, at + h), (end, at - h), (-x, at - h)]
    lower = [(-x, h - at), (end, h - at), (end, -h - at), (-x, -h - at)]
    outline = [(-x, -y), (x, -y), (x, y), (-x, y), *upper, *lower]
    test_piece("kalthoff_plate", outline, depth, "a plate of 10 by 20 cm with two slots of 5 cm, 4 mm thick, in metres")


def holed_beam(length=0.24, height=0.033, depth=0.033, radius=0.008, pieces=48):
    """A beam with a round hole across its middle."""
    x, y = length / 2, height / 2
    corner = math.atan2(y, x)
    angles = {2 * math.pi * k / pieces for k in range(pieces)}
    angles |= {corner, math.pi - corner, math.pi + corner, 2 * math.pi - corner}
    rays = [(math.cos(angle), math.sin(angle)) for angle in sorted(angles)]
    reach = [min(x / max(abs(c), 1e-12), y / max(abs(s), 1e-12)) for c, s in rays]
    outer = [(c * r, s * r) for (c, s), r in zip(rays, reach)]
    flat = Flat()
    flat.ring(outer, [(radius * c, radius * s) for c, s in rays])
    write("holed_beam", *flat.extruded(depth), "a beam of 24 by 3.3 by 3.3 cm with a hole of 16 mm through its middle, in metres")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="folder; default: pipelines/meshes")
    OUT = parser.parse_args().out
    OUT.mkdir(parents=True, exist_ok=True)
    letters()
    drill()
    chocolate()
    spring()
    notched_plate()
    branching_plate()
    kalthoff_plate()
    holed_beam()
