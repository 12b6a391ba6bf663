#!/usr/bin/env python3
"""Twisting (pipelines/beam_twisting.toml, nothing breaks) against a static solution of the same bonds and against Saint-Venant's torsion.

    python3 -m venv venv && venv/bin/pip install numpy scipy pyarrow
    venv/bin/python tools/beam_twisting.py [--rows 6 8 12 16] [--simulate] [--endless] [--cullet PROGRAM] [--json]

Each case packs the shot with its rows and radius changed: the section stays about square. The static solution uses the linearised bonds of the packed
store (as in `beam_bending.py`); clamped elements are fixed, those of the other clamp rotate as one rigid piece, the others are found by conjugate gradients.
With `--simulate` a slow run gives the slope of torque over angle too.

The modulus is that of the packing's own bonds: two elements of the interior, one of each kind of layer, and their bonds are repeated in all directions
under a simple shear; positions and rotations of the two minimise the energy. A hexagonal packing has two moduli: along the layers, G_xy, and
across them, G_xz. Saint-Venant's torsion of a bar with different moduli is, after scaling coordinates, that of an isotropic bar
(S. G. Lekhnitskii, Theory of Elasticity of an Anisotropic Body, 1981): with G = √(G_xy G_xz), G J_t of the rectangle b √(G_xz / G) × h √(G_xy / G).
J_t is the series of S. P. Timoshenko and J. N. Goodier, Theory of Elasticity, 1970, §109. The free length is measured, row by row, from the last
clamped element to the first rotated one. "Endless" is the torque over the twist of the same section far from its ends, over G J_t: the skin, whose
elements lack three or more of twelve bonds, is softer than the interior, and torsion strains it most, so this approaches 1 as one over the rows.
Clamps, which keep the end sections plane, make a beam stiffer again.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from beam_bending import ROOT, build_program, packed, stiffness

SHOT = ROOT / "pipelines/beam_twisting.toml"
SIDE = 0.08  # m; SIDE / rows is the diameter
DENSITY = 2600  # kg/m³, of the shot
HELD = 4.4  # depth of the clamped elements from the end of the centres, over the radius: two or three elements of each row
ANGLE = 0.05  # rad, final angle of the slow run
NO_BREAK = {"material.stone.tensile_strength": 1e9, "material.stone.shear_strength": 1e9}


def settings(case):
    """Overrides of the shot: beam, and clamps that hold the outermost elements of all rows."""
    count, radius = case["rows"], SIDE / case["rows"] / 2
    along = case["along"] * count
    # Rows of odd and even layers are a radius apart, their centres are within this distance of 0.
    half = (along - 0.5) * radius
    face, far = half - HELD * radius, half + radius
    return NO_BREAK | {
        "body.beam.shape.rows": f"[{along}, {count}, {count}]",
        "body.beam.packing.radius": radius,
        "attach.held.region": f"{{ min = [{-far}, -1, -1], max = [{-face}, 1, 1] }}",
        "attach.turned.region": f"{{ min = [{face}, -1, -1], max = [{far}, 1, 1] }}",
        "material.stone.young": case["young"],
        "material.stone.shear": case["shear"],
    }


def run(cullet, case, store, more=()):
    """Packs the shot with these settings; also runs it if there are settings in `more`."""
    words = [word for key, value in (settings(case) | dict(more)).items() for word in ("--set", f"{key}={value}")]
    subprocess.run([cullet, "pack", SHOT, "--out", store, *words, "--quiet"], check=True)
    if more:
        subprocess.run([cullet, "simulate", store, "--quiet"], check=True)


def read(store):
    """Positions, radius and bonds of a packed store."""
    import pyarrow.parquet as parquet

    elements = packed(store)
    np = elements["np"]
    bonds = parquet.read_table(store / "packing/bonds.parquet", columns=["i", "j", "l0", "dx", "dy", "dz", "radius", "young", "shear"])
    bonds = {name: column.to_numpy() for name, column in zip(bonds.column_names, bonds.columns)}
    bonds |= {end: bonds[end].astype(int) for end in "ij"}
    return {"p": np.stack([elements[axis] for axis in "xyz"], 1), "r": float(elements["r"][0]), "bonds": bonds}


def clamped_and_rotated(np, case, p, r):
    """Indices of clamped and of rotated elements; and the free length, a mean over the rows, m."""
    half = (case["along"] * case["rows"] - 0.5) * r
    face = half - HELD * r
    held, turned = p[:, 0] <= -face, p[:, 0] >= face
    # A row consists of the elements with the same y and z.
    keys = np.unique(np.round(p[:, 1:] / r, 3), axis=0, return_inverse=True)[1].ravel()
    rows = keys.max() + 1
    last, first = np.full(rows, -np.inf), np.full(rows, np.inf)
    np.maximum.at(last, keys[held], p[held, 0])
    np.minimum.at(first, keys[turned], p[turned, 0])
    return held, turned, float((first - last).mean())


def static_slope(np, sparse, linalg, case, packing):
    """Torque over angle, N m, and free length, m."""
    p, r = packing["p"], packing["r"]
    held, turned, length = clamped_and_rotated(np, case, p, r)
    matrix = stiffness(np, sparse, packing)
    # In the linear problem, a rotation by 1 rad about the middle of the rotated elements.
    u = np.zeros((len(p), 6))
    arm = p[turned] - p[turned].mean(0)
    u[turned, 1], u[turned, 2], u[turned, 3] = -arm[:, 2], arm[:, 1], 1
    free = np.repeat(~(held | turned), 6)
    force = -(matrix @ u.ravel())[free]
    inner = matrix[free][:, free]
    found, failed = linalg.cg(inner, force, rtol=1e-9, maxiter=100_000, M=sparse.diags(1 / inner.diagonal()))
    if failed:
        sys.exit("the static solution does not converge")
    u = u.ravel()
    u[free] = found
    reaction = (matrix @ u).reshape(-1, 6)[turned]
    return float((reaction[:, 3] + arm[:, 1] * reaction[:, 2] - arm[:, 2] * reaction[:, 1]).sum()), length


def shear_moduli(np, sparse, packing):
    """G_xy and G_xz of two elements of the interior and their bonds, repeated in all directions, Pa."""
    p, bonds = packing["p"], packing["bonds"]
    degree = np.bincount(np.concatenate([bonds["i"], bonds["j"]]), minlength=len(p))
    ends = np.stack([bonds["i"], bonds["j"]])
    # A bond across layers, both ends of which have all twelve neighbours, nearest to the middle.
    across = (degree[ends] == 12).all(0) & (abs(bonds["dz"]) > 0.5)
    middle = np.where(across, np.linalg.norm(p[ends].mean(0), axis=1), np.inf).argmin()
    pair = ends[:, middle]
    # Half of each bond belongs to each of its ends.
    share = np.isin(ends, pair).sum(0) / 2
    kept = share > 0
    cell = {name: column[kept] for name, column in bonds.items()}
    cell |= {modulus: cell[modulus] * share[kept] for modulus in ("young", "shear")}
    matrix = stiffness(np, sparse, {"p": p, "bonds": cell})
    second = abs((p[:, 2] - p[pair[0], 2]) / (2 * 6**0.5 / 3 * packing["r"])).round().astype(int) % 2 == 1
    out = []
    for axis in (1, 2):
        # First the shear, then the unknowns: positions of the second kind, rotations of both.
        ways = np.zeros((10, len(p), 6))
        ways[0, :, 0] = p[:, axis]
        for k in range(3):
            ways[1 + k, second, k] = ways[4 + k, second, 3 + k] = ways[7 + k, ~second, 3 + k] = 1
        ways = ways.reshape(10, -1)
        energy = ways @ (matrix @ ways.T)
        free = np.linalg.solve(energy[1:, 1:], energy[1:, 0])
        volume = 2 * 4 * 2**0.5 * packing["r"] ** 3
        out.append(float(energy[0, 0] - energy[0, 1:] @ free) / volume)
    return out


def torsion_constant(b, h):
    """J_t of a rectangle, m⁴ (Timoshenko and Goodier, §109)."""
    b, h = max(b, h), min(b, h)
    series = sum(math.tanh(n * math.pi * b / (2 * h)) / n**5 for n in range(1, 100, 2))
    return b * h**3 / 3 * (1 - 192 * h / (math.pi**5 * b) * series)


def uniform_rigidity(np, sparse, linalg, packing):
    """Torque over twist of an infinite beam of this section, N m²: from one element to the next in its row only
    the rotation changes."""
    p, r, bonds = packing["p"], packing["r"], packing["bonds"]
    row = np.unique(np.round(p[:, 1:] / r, 3), axis=0, return_inverse=True)[1].ravel()
    # The element of each row nearest to the middle represents all; `along` is the offset of others in their
    # row.
    nearest = np.lexsort((abs(p[:, 0] + 1e-6 * r), row))
    cell = nearest[np.unique(row[nearest], return_index=True)[1]]
    along = np.round((p[:, 0] - p[cell[row], 0]) / (2 * r))
    share = np.isin(np.stack([bonds["i"], bonds["j"]]), cell).sum(0) / 2
    kept = share > 0
    shared = {name: column[kept] for name, column in bonds.items()}
    shared |= {modulus: shared[modulus] * share[kept] for modulus in ("young", "shear")}
    matrix = stiffness(np, sparse, {"p": p, "bonds": shared})
    turn = 2 * r * along
    twisted = np.zeros((len(p), 6))
    twisted[:, 1], twisted[:, 2], twisted[:, 3] = -turn * p[:, 2], turn * p[:, 1], turn
    unknowns = (6 * row[:, None] + np.arange(6)).ravel()
    spread = sparse.csr_matrix((np.ones(len(unknowns)), (np.arange(len(unknowns)), unknowns)), shape=(6 * len(p), 6 * len(cell)))
    inner, force = spread.T @ matrix @ spread, -(spread.T @ (matrix @ twisted.ravel()))
    found, failed = linalg.cg(inner, force, rtol=1e-9, maxiter=100_000, M=sparse.diags(1 / inner.diagonal()))
    if failed:
        sys.exit("the static solution does not converge")
    u = spread @ found + twisted.ravel()
    return float(u @ (matrix @ u)) / (2 * r)


def rigidity(case, moduli, r):
    """G J_t of Saint-Venant, N m²: the section consists of whole rows and layers."""
    b, h = 3**0.5 * r * case["rows"], 2 * 6**0.5 / 3 * r * case["rows"]
    xy, xz = moduli
    mean = (xy * xz) ** 0.5
    return mean * torsion_constant(b * (xz / mean) ** 0.5, h * (xy / mean) ** 0.5)


def slow_slope(np, cullet, case, store, length, modulus):
    """Torque over angle of a slow run, N m: mean of both clamps."""
    import pyarrow.parquet as parquet

    # Twenty times as long as a wave takes along the beam; drag that damps the first mode critically.
    speed = (modulus / DENSITY) ** 0.5
    end = 20 * length / speed
    overrides = {"time.end": end, "time.frames_per_second": 60 / end, "simulate.drag": 2 * math.pi * speed / length}
    run(cullet, case, store, overrides | {"attach.turned.action.spin": f"[{ANGLE / end}, 0, 0]"})
    table = parquet.read_table(store / "loads").to_pydict()
    column = lambda name, key: np.array([value for value, of in zip(table[key], table["name"]) if of == name])
    angle = column("turned", "angle")
    torque = (column("held", "tx") - column("turned", "tx"))[1:] / 2
    midway = (angle[1:] + angle[:-1]) / 2
    later = midway > 0.3 * ANGLE
    return float(np.polyfit(midway[later], torque[later], 1)[0])


def figures(cullet, case, simulate, endless):
    import numpy as np
    import scipy.sparse as sparse
    import scipy.sparse.linalg as linalg

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "packed"
        run(cullet, case, store)
        packing = read(store)
        moduli = shear_moduli(np, sparse, packing)
        whole = rigidity(case, moduli, packing["r"])
        found = {
            "elements": len(packing["p"]),
            "g_xy": moduli[0],
            "g_xz": moduli[1],
            "endless": uniform_rigidity(np, sparse, linalg, packing) / whole,
        }
        if not endless:
            static, length = static_slope(np, sparse, linalg, case, packing)
            found |= {"length": length, "saint_venant": whole / length, "static": static}
        if simulate:
            found["slope"] = slow_slope(np, cullet, case, Path(folder) / "slow", length, moduli[1])
    return case | found


def main():
    parser = argparse.ArgumentParser(description="Twisting against a static solution and Saint-Venant's torsion.")
    parser.add_argument("--rows", type=int, nargs="+", default=[6, 8, 12, 16], help="rows and layers of the section")
    parser.add_argument("--along", type=int, default=6, help="number of elements along the beam over the number of rows")
    parser.add_argument("--ratio", type=float, nargs="+", default=[4, 0.4], help="G over E = 1 MPa of the bonds")
    parser.add_argument("--simulate", action="store_true", help="also do a slow run")
    parser.add_argument("--endless", action="store_true", help="only the section far from its ends: allows many rows in little time")
    parser.add_argument("--cullet", type=Path, help="the program; default: built from this repository")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    arguments = parser.parse_args()
    cullet = arguments.cullet or build_program()
    cases = [
        {"rows": rows, "along": arguments.along, "young": 1e6, "shear": ratio * 1e6}
        for ratio in arguments.ratio
        for rows in arguments.rows
    ]
    if arguments.endless:
        # Rows as long as the section is wide are enough to find the interior.
        cases = [case | {"along": 1} for case in cases]
    found = [figures(cullet, case, arguments.simulate and not arguments.endless, arguments.endless) for case in cases]
    if arguments.json:
        print(json.dumps(found))
        return
    print("rows  G/E  elements  G_xy MPa  G_xz MPa  endless    L mm  GJ/L N m   static   ratio  slow run  over static")
    for row in found:
        line = f"{row['rows']:4} {row['shear'] / row['young']:4g} {row['elements']:9} {row['g_xy'] / 1e6:9.4f} {row['g_xz'] / 1e6:9.4f} {row['endless']:8.4f}"
        if "static" in row:
            line += f"  {row['length'] * 1e3:6.1f} {row['saint_venant']:9.4f} {row['static']:8.4f} {row['static'] / row['saint_venant']:7.4f}"
        if "slope" in row:
            line += f" {row['slope']:9.4f} {row['slope'] / row['static']:12.4f}"
        print(line)


if __name__ == "__main__":
    main()
