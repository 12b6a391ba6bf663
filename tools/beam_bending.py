#!/usr/bin/env python3
"""Three-point bending (pipelines/beam_bending.toml) against a static solution of the same bonds, supports and press.

    python3 -m venv venv && venv/bin/pip install numpy scipy pyarrow
    venv/bin/python tools/beam_bending.py [--rows 8 16] [--random] [--plane] [--cullet PROGRAM] [--json]

Each case runs the shot with its radius and rows changed, and reads in a slow run the load of the press and the displacement of the middle plane, half way
up and over the supports. The static solution uses the bonds of the packed store (linearised explicit bond: stretch, shear, bending, twist) and one-sided
springs to the supports and the press, whose active set is found by iteration; it is solved by conjugate gradients (hexagonal packing only). Slopes are of
load over the displacement of the middle, fitted over the same range. Then, with l, b, h the span, width and height (Lu et al. 2021, eq. 29):

    E_macro = l³ / (4 b h³) ΔF/Δδ        σ_macro = 3 l F_top / (2 b h²)

and E of Timoshenko's beam (shear subtracted, Cowper's coefficient), with the indentation at the supports subtracted too. F_top is the largest
load until the first bonds break. With --plane the beam is a single layer, as thick as its elements. Elasticity "bond" uses the papers' moduli for the bonds, "material" calibrates bonds to the specified modulus.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOT = ROOT / "pipelines/beam_bending.toml"
SPAN, LENGTH, SIDE = 0.2, 0.24, 20e-3  # m; SIDE / rows is the radius
PATCH, SUPPORT = 5e-3, 10e-3  # half width of the press and radius of the supports, m
WIDTH, HEIGHT = 3**0.5 * SIDE, 2 * 6**0.5 / 3 * SIDE  # whole rows and layers, m; a plane beam has its rows on top of each other
YOUNG, POISSON, SHEAR_RATIO = 1e8, 0.2, 0.5  # Pa; of the material; tangential over normal stiffness of contacts
FROM, TO = 0.2e-3, 1e-3  # displacement of the middle between which slopes are fitted, m
# The slow run for the slopes: the press moves by 1.2 mm, and oscillations of its start die away.
SLOW = {
    "time.end": 0.06,
    "time.frames_per_second": 1000,
    "world.gravity": "[0, 0, 0]",
    "simulate.drag": 200,
    "collider.press.velocity": "[0, -0.02, 0]",
}


def build_program():
    """Path of the program, built from this repository."""
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "cullet"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/cullet"


def body_settings(case):
    """Overrides of the shot's beam."""
    rows, random = case["rows"], case["random"]
    overrides = {"body.beam.packing": f'{{ type = "{"random" if random else "hexagonal"}", radius = {SIDE / rows} }}'}
    if case.get("plane"):
        overrides |= {"body.beam.shape.rows": f"[{6 * rows}, {rows}, 1]", "body.beam.rotation.angle": 0}
    elif random:
        overrides["body.beam.shape"] = f'{{ type = "box", size = [{LENGTH}, {WIDTH}, {HEIGHT}] }}'
    else:
        overrides["body.beam.shape.rows"] = f"[{6 * rows}, {rows}, {rows}]"
    if case["elasticity"] == "material":
        overrides |= {"material.stone.elasticity": '"material"', "material.stone.poisson": POISSON}
    return overrides


def section(case):
    """Width and height of the beam, m."""
    return (2 * SIDE / case["rows"], WIDTH) if case.get("plane") else (WIDTH, HEIGHT)


def guides(radius):
    """Two walls without friction between which a single layer of elements cannot tip over, as text of a shot."""
    wall = lambda name, side: (
        f'[[collider]]\nname = "{name}"\nshape = {{ type = "half_space", normal = [0, 0, {-side}] }}\n'
        f"position = [0, 0, {side * radius}]\nfriction = 0\n"
    )
    return wall("front", 1) + wall("back", -1)


def collider_settings(touch):
    """Overrides that move supports and press to where they touch the beam."""
    left, right, press = touch
    places = {"left": (-SPAN / 2, left - SUPPORT), "right": (SPAN / 2, right - SUPPORT), "press": (0, press + SUPPORT)}
    return {f"collider.{name}.position": f"[{x}, {y}, 0]" for name, (x, y) in places.items()}


def contact_heights(elements):
    """Heights at which left support, right support and press touch the elements, m."""
    np, x, y, r = elements["np"], *(elements[key] for key in "xyr")
    out = []
    for at in (-SPAN / 2, SPAN / 2):
        # The middle of a cylinder under the beam: as high as the first element lets it move.
        reach = SUPPORT + r
        near = abs(x - at) < reach
        out.append(float((y[near] - np.sqrt(reach[near] ** 2 - (x[near] - at) ** 2)).min()) + SUPPORT)
    off = (abs(x) - PATCH).clip(0)
    near = off < r
    return [*out, float((y[near] + np.sqrt(r[near] ** 2 - off[near] ** 2)).max())]


def packed(store):
    """Columns of the elements that are used here."""
    import numpy as np
    import pyarrow.parquet as parquet

    table = parquet.read_table(store / "packing/elements.parquet", columns=["x", "y", "z", "r"])
    return {"np": np} | {name: column.to_numpy() for name, column in zip(table.column_names, table.columns)}


def simulate(cullet, case, store, more):
    """Runs the shot with these settings; returns the heights at which supports and press touch the beam."""
    text = SHOT.read_text()
    if case["elasticity"] == "material":
        text = text.replace('shear = "30 MPa"\n', "")
    if case.get("plane"):
        text = f"{text}\n{guides(SIDE / case['rows'])}"
    shot = store.parent / "beam_bending.toml"
    shot.write_text(text)

    def run(command, overrides):
        words = [word for key, value in overrides.items() for word in ("--set", f"{key}={value}")]
        subprocess.run([cullet, *command, *words, "--quiet"], check=True)

    # First with supports and press out of the way, to find where they touch.
    apart = store.parent / "apart"
    run(["pack", shot, "--out", apart], body_settings(case) | collider_settings((-1, -1, 1)))
    touch = contact_heights(packed(apart))
    shutil.rmtree(apart)
    run(["pack", shot, "--out", store], body_settings(case) | collider_settings(touch) | more)
    run(["simulate", store], {})
    return touch


def load_curve(store):
    """Load of the press (mean over a frame), and displacement of the middle, absolute and relative to the
    supports, midway in the frame: N, m, m."""
    import numpy as np
    import pyarrow.parquet as parquet

    table = parquet.read_table(store / "loads").to_pydict()
    column = lambda name, key: np.array([value for value, of in zip(table[key], table["name"]) if of == name])
    midway = lambda name: (lambda way: (way[1:] + way[:-1]) / 2)(-column(name, "dy"))
    middle = midway("middle")
    return column("press", "fy")[1:], middle, middle - (midway("over left") + midway("over right")) / 2


def stiffness(np, sparse, packing):
    """Stiffness matrix of all bonds about rest: six unknowns per element, displacement and rotation."""
    p, bonds = packing["p"], packing["bonds"]
    i, j, l0, r0 = (bonds[key] for key in ("i", "j", "l0", "radius"))
    n = np.stack([bonds["dx"], bonds["dy"], bonds["dz"]], 1)
    area, second = np.pi * r0**2, np.pi * r0**4 / 4
    stretch, shear = bonds["young"] * area / l0, bonds["shear"] * area / l0
    bend, twist = bonds["young"] * second / l0, 2 * bonds["shear"] * second / l0
    eye, count = np.eye(3), len(n)
    cross = np.zeros((count, 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -n[:, 2], n[:, 1], -n[:, 0]
    cross -= np.transpose(cross, (0, 2, 1))
    strain = np.zeros((count, 6, 12))
    strain[:, :3, 0:3], strain[:, :3, 6:9] = -eye, eye
    strain[:, :3, 3:6] = strain[:, :3, 9:12] = 0.5 * l0[:, None, None] * cross
    strain[:, 3:, 3:6], strain[:, 3:, 9:12] = -eye, eye
    along = n[:, :, None] * n[:, None, :]
    moduli = np.zeros((count, 6, 6))
    moduli[:, :3, :3] = stretch[:, None, None] * along + shear[:, None, None] * (eye - along)
    moduli[:, 3:, 3:] = twist[:, None, None] * along + bend[:, None, None] * (eye - along)
    block = np.einsum("bki,bkl,blj->bij", strain, moduli, strain)
    unknowns = np.concatenate([6 * i[:, None] + np.arange(6), 6 * j[:, None] + np.arange(6)], 1)
    rows, columns = np.repeat(unknowns, 12, axis=1).ravel(), np.tile(unknowns, (1, 12)).ravel()
    return sparse.csr_matrix((block.ravel(), (rows, columns)), shape=(6 * len(p), 6 * len(p)))


def possible_contacts(np, packing, touch):
    """Elements that may touch a support or the press: index, gap, outward normal, and whether it is the press
    (whose friction holds)."""
    p, r = packing["p"], packing["r"]
    out = []
    left, right, top = touch
    for x, y, press in ((-SPAN / 2, left - SUPPORT, False), (SPAN / 2, right - SUPPORT, False), (0.0, top, True)):
        off = p - [x, y, 0]
        if press:
            off -= np.stack([off[:, 0].clip(-PATCH, PATCH), off[:, 1].clip(0, None), off[:, 2]], 1)
        off[:, 2] = 0
        distance = np.linalg.norm(off, axis=1)
        gap = distance - r - (0 if press else SUPPORT)
        near = np.nonzero(gap < 2 * TO)[0]
        out.append((near, gap[near], off[near] / distance[near, None], np.full(len(near), press)))
    return [np.concatenate(parts) for parts in zip(*out)]


def statics(np, sparse, linalg, packing, touch, way, start):
    """Load of the press, N, and all displacements when the press has moved down by `way`, m."""
    at, gap, n, press = possible_contacts(np, packing, touch)
    r, modulus = packing["r"][at], YOUNG
    normal = modulus * np.pi * r / 2
    sunk = np.where(press, way, 0.0)  # the press moves along -y
    u = start.copy()
    active = None
    for _ in range(30):
        moved = u.reshape(-1, 6)[at, :3]
        distance = gap + (n * moved).sum(1) + n[:, 1] * sunk
        # Start with all elements near supports and press, so that the beam is held.
        found = distance < (FROM if active is None else 0)
        if active is not None and (found == active).all():
            return float((normal * -distance * -n[:, 1])[active & press].sum()), u
        active = found
        springs, force = contact_springs(np, sparse, at, n, r, normal, gap, sunk, press, active, len(u))
        matrix = packing["matrix"] + springs
        scale = sparse.diags(1 / matrix.diagonal())
        u, failed = linalg.cg(matrix, force, x0=u, rtol=1e-8, maxiter=40_000, M=scale)
        if failed:
            sys.exit("the static solution does not converge")
    sys.exit("contacts of the static solution do not settle")


def contact_springs(np, sparse, at, n, r, normal, gap, sunk, press, active, size):
    """Normal springs of all contacts, and tangential ones under the press, as a matrix and the forces at zero
    displacement."""
    rows, columns, values, force = [], [], [], np.zeros(size)
    for element, direction, radius, k, g, way, sticks in zip(*(part[active] for part in (at, n, r, normal, gap, sunk, press))):
        # Displacement of the point of contact: displacement plus rotation × (-r n).
        arm = -radius * direction
        point = np.zeros((3, 6))
        point[:, :3] = np.eye(3)
        point[:, 3:] = [[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]]
        across = np.outer(direction, direction)
        spring = k * across + (SHEAR_RATIO * k * (np.eye(3) - across) if sticks else 0)
        unknowns = 6 * element + np.arange(6)
        rows.append(np.repeat(unknowns, 6))
        columns.append(np.tile(unknowns, 6))
        values.append((point.T @ spring @ point).ravel())
        # At rest the point is off by the gap along the normal, and by the displacement of the press.
        off = -g * direction + np.array([0.0, -way, 0.0])
        force[unknowns] += point.T @ spring @ off
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_matrix(entries, shape=(size, size)), force


def static_slope(store, touch):
    """ΔF/Δδ between the two displacements of the press, with δ of the middle plane, N/m; and with δ relative to
    the supports."""
    import numpy as np
    import pyarrow.parquet as parquet
    import scipy.sparse as sparse
    import scipy.sparse.linalg as linalg

    elements = packed(store)
    bonds = parquet.read_table(store / "packing/bonds.parquet", columns=["i", "j", "l0", "dx", "dy", "dz", "radius", "young", "shear"])
    packing = {
        "p": np.stack([elements[axis] for axis in "xyz"], 1),
        "r": elements["r"],
        "bonds": {name: column.to_numpy() for name, column in zip(bonds.column_names, bonds.columns)},
    }
    packing["bonds"] |= {end: packing["bonds"][end].astype(int) for end in "ij"}
    packing["matrix"] = stiffness(np, sparse, packing)
    p = packing["p"]
    gauge = lambda x: np.nonzero((abs(p[:, 0] - x) <= 4e-3) & (abs(p[:, 1]) <= 3e-3) & (abs(p[:, 2]) <= 20e-3))[0]
    found, u = [], np.zeros(6 * len(p))
    for way in (FROM, TO):
        force, u = statics(np, sparse, linalg, packing, touch, way, u)
        fall = lambda x: -u.reshape(-1, 6)[gauge(x), 1].mean()
        middle = fall(0.0)
        found.append((force, middle, middle - (fall(-SPAN / 2) + fall(SPAN / 2)) / 2))
    (f0, m0, o0), (f1, m1, o1) = found
    return (f1 - f0) / (m1 - m0), (f1 - f0) / (o1 - o0)


def figures(cullet, case, breaks):
    import numpy as np
    import pyarrow.parquet as parquet

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "slow"
        touch = simulate(cullet, case, store, SLOW)
        load, middle, over = load_curve(store)
        count = parquet.read_metadata(store / "packing/elements.parquet").num_rows
        # A random beam touches its supports with a few changing elements: only its own curve is used.
        static = (None, None) if case["random"] else static_slope(store, touch)
        strength = load_at_first_break(np, cullet, case, Path(folder) / "broken") if breaks else {}
    width, height = section(case)
    fitted = (FROM <= middle) & (middle <= TO)
    slope, own = (np.polyfit(way[fitted], load[fitted], 1)[0] for way in (middle, over))
    second = width * height**3 / 12
    timoshenko = SPAN**3 / (48 * second) + SPAN * 2 * (1 + POISSON) / (4 * shear_coefficient() * width * height)
    return case | {
        "elements": count,
        "slope": slope,
        "static": static[0],
        "e_eq29": SPAN**3 / (4 * width * height**3) * slope,
        "e_timoshenko": own * timoshenko,
        "e_timoshenko_static": static[1] and static[1] * timoshenko,
    } | strength


def load_at_first_break(np, cullet, case, store):
    """Load when the first bonds break, N, in the unchanged shot; and the frame."""
    import pyarrow.parquet as parquet

    simulate(cullet, case, store, {})
    load = load_curve(store)[0]
    broken = np.array(parquet.read_table(store / "history").to_pydict()["broken"])
    if not broken[-1]:
        return {}
    frame = int(np.nonzero(broken)[0][0])
    top = float(load[:frame].max())
    width, height = section(case)
    return {"f_top": top, "sigma_eq29": 3 * SPAN * top / (2 * width * height**2), "break_frame": frame}


def shear_coefficient():
    """Cowper's shear coefficient of a rectangle."""
    return 10 * (1 + POISSON) / (12 + 11 * POISSON)


def main():
    parser = argparse.ArgumentParser(description="Three-point bending against a static solution.")
    parser.add_argument("--rows", type=int, nargs="+", default=[8, 16], help="rows and layers of the beam; 6 times as many along it")
    parser.add_argument("--elasticity", choices=["bond", "material"], nargs="+", default=["bond", "material"])
    parser.add_argument("--random", action="store_true", help="also random close packing, with bonds calibrated to the material")
    parser.add_argument("--plane", action="store_true", help="a single layer instead, with its rows on top of each other; hexagonal packing only")
    parser.add_argument("--break", action="store_true", dest="breaks", help="also run the whole shot: load and frame at which the beam breaks")
    parser.add_argument("--cullet", type=Path, help="the program; default: built from this repository")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    arguments = parser.parse_args()
    cullet = arguments.cullet or build_program()
    case = {"random": False, "plane": arguments.plane}
    cases = [case | {"rows": rows, "elasticity": kind} for kind in arguments.elasticity for rows in arguments.rows]
    if arguments.random:
        cases += [{"rows": rows, "random": True, "plane": False, "elasticity": "material"} for rows in arguments.rows]
    found = [figures(cullet, case, arguments.breaks) for case in cases]
    if arguments.json:
        print(json.dumps(found))
        return
    print("rows packing    moduli    elements  dF/dδ kN/m  static  ratio   E eq.29  E Timoshenko (static)  F_top N  σ eq.29   frame")
    for row in found:
        packing = "random" if row["random"] else "hexagonal"
        held = row["static"] is not None
        static = f"{row['static'] / 1e3:8.2f} {row['slope'] / row['static']:6.3f}" if held else " " * 15
        own = f"({row['e_timoshenko_static'] / YOUNG:.3f})" if held else " " * 7
        print(f"{row['rows']:4} {packing:10} {row['elasticity']:9} {row['elements']:8} {row['slope'] / 1e3:10.2f} {static}", end="")
        print(f" {row['e_eq29'] / YOUNG:9.3f} {row['e_timoshenko'] / YOUNG:11.3f} {own}", end="")
        if "f_top" not in row:
            print()
        else:
            print(f"  {row['f_top']:10.1f} {row['sigma_eq29'] / 8e6:8.3f} {row['break_frame']:5}")
    print(f"E over {YOUNG:g} Pa, σ over 8e6 Pa")


if __name__ == "__main__":
    main()
