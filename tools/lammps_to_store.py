#!/usr/bin/env python3
"""Makes a frame store of a LAMMPS run with bonds (BPM and others), for cullet to reconstruct, export, preview and inspect.

    python3 -m venv venv && venv/bin/pip install numpy pyarrow
    venv/bin/python tools/lammps_to_store.py run.dump --bonds bonds.dump --timestep 1e-7 --out store
    cullet inspect store --validate && cullet reconstruct store && cullet export store --format usd

In the input script of LAMMPS:

    compute pairs all property/local batom1 batom2
    compute turn all property/atom quatw quati quatj quatk
    dump run all custom 1000 run.dump id mol x y z diameter mass c_turn[*] vx vy vz omegax omegay omegaz
    dump_modify run colname c_turn[1] quatw colname c_turn[2] quati colname c_turn[3] quatj colname c_turn[4] quatk
    dump bonds all local 1000 bonds.dump c_pairs[1] c_pairs[2]
    dump_modify bonds colname c_pairs[1] batom1 colname c_pairs[2] batom2

Required in the dump: id, x y z (or xu yu zu), radius or diameter (else --radius), mass (else --density). Used if present: quatw quati quatj quatk
(without them elements do not rotate), vx vy vz, omegax omegay omegaz. Columns with other names: --column quatw=c_turn[1].
Atoms may come in any order, but the same ones in all snapshots. Bonds come from a `dump local` with a snapshot for each of the dump, or from the
Bonds section of a data file, and then none breaks. The first snapshot is the state at rest. A bond that is missing from a snapshot breaks there,
and is ignored afterwards. Atoms of one molecule (mol) are a body; without such a column all are one body.

LAMMPS may have z up, a frame store has y up: z is converted to y, unless --up y states that y was up. Units are metres, kilograms and seconds unless
--units or --length, --mass, --time specify those of the run. Files may be compressed by gzip (.gz).
"""

import argparse
import gzip
import math
import re
import sys
from pathlib import Path

from write_store import StoreWriter, np

# Length, mass and time in SI.
UNITS = {"si": (1, 1, 1), "cgs": (1e-2, 1e-3, 1), "micro": (1e-6, 1e-15, 1e-6), "nano": (1e-9, 1e-21, 1e-9), "lj": (1, 1, 1)}
QUATERNION = ("quati", "quatj", "quatk", "quatw")
# A bond longer than this many sums of its radii crosses a periodic boundary.
LONGEST = 3.0


def lines_of(path):
    try:
        with gzip.open(path, "rt") if Path(path).suffix == ".gz" else open(path) as file:
            yield from enumerate((line.rstrip("\n") for line in file), 1)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {error}")


def snapshots(path, renamed):
    """(step, time or None, {column: values}) of each snapshot of a dump, read lazily."""
    lines = lines_of(path)
    step = time = count = None

    def following():
        found = next(lines, None)
        if found is None:
            sys.exit(f"{path}: ends inside a snapshot")
        return found

    def number(kind):
        at, text = following()
        try:
            return kind(text)
        except ValueError:
            sys.exit(f"{path}:{at}: {text!r} is not a number")

    for at, line in lines:
        if line.startswith("ITEM: TIMESTEP"):
            step, time, count = number(int), None, None
        elif line.startswith("ITEM: TIME"):
            time = number(float)
        elif line.startswith("ITEM: NUMBER OF"):
            count = number(int)
        elif line.startswith("ITEM: BOX BOUNDS"):
            for _ in range(3):
                following()
        elif line.startswith("ITEM: UNITS"):
            following()
        elif line.startswith(("ITEM: ATOMS", "ITEM: ENTRIES", "ITEM: BONDS")):
            if step is None or count is None:
                sys.exit(f"{path}:{at}: no TIMESTEP and NUMBER before this snapshot")
            names = [renamed.get(name, name) for name in line.split()[2:]]
            rows = [following()[1].split() for _ in range(count)]
            if any(len(row) != len(names) for row in rows):
                short = next(k for k, row in enumerate(rows) if len(row) != len(names))
                sys.exit(f"{path}:{at + 1 + short}: {len(rows[short])} columns; {len(names)} are named")
            columns = dict(zip(names, zip(*rows) if rows else [()] * len(names)))
            yield step, time, columns
        elif line.strip():
            sys.exit(f"{path}:{at}: {line[:60]!r} is not a line of a dump")


def numbers(path, step, columns, name, kind=float):
    try:
        return np.array(columns[name], dtype=kind)
    except ValueError as error:
        sys.exit(f"{path}: step {step}, column {name}: {error}")


def required(path, step, columns, *choices):
    """The first of several groups of columns that is present, as an array."""
    for names in choices:
        if all(name in columns for name in names):
            return np.stack([numbers(path, step, columns, name) for name in names], axis=1)
    wanted = " or ".join(" ".join(names) for names in choices)
    sys.exit(f"{path}: step {step} has no columns {wanted}; it has {' '.join(columns)}")


def bonds_of_data(path):
    """Pairs of atom ids in the Bonds section of a data file."""
    pairs, inside = [], False
    for at, line in lines_of(path):
        words = line.split("#")[0].split()
        if words == ["Bonds"]:
            inside = True
        elif inside and words:
            if not re.fullmatch(r"\d+", words[0]):
                break
            if len(words) < 4:
                sys.exit(f"{path}:{at}: a bond is: id type atom atom")
            pairs.append([int(words[2]), int(words[3])])
    if not inside:
        sys.exit(f"{path}: neither a dump nor a data file with a section Bonds")
    return np.array(pairs, dtype=int).reshape(-1, 2)


def bonds_by_step(path, renamed):
    """A function that returns the pairs of atom ids at a step; steps must increase."""
    if not next(lines_of(path), (0, ""))[1].startswith("ITEM:"):
        pairs = bonds_of_data(path)
        return lambda step: pairs
    ahead = snapshots(path, renamed)

    def at(step):
        for found, _, columns in ahead:
            if found == step:
                return required(path, step, columns, ("batom1", "batom2")).astype(int)
            if found > step:
                break
        sys.exit(f"{path}: no bonds of step {step}; dump them as often as the atoms, and from the first on")

    return at


def components(count, pairs):
    """For each element the smallest one that it is connected to by bonds."""
    label = np.arange(count)
    while True:
        low = np.minimum(label[pairs[:, 0]], label[pairs[:, 1]])
        nearer = label.copy()
        np.minimum.at(nearer, pairs[:, 0], low)
        np.minimum.at(nearer, pairs[:, 1], low)
        nearer = nearer[nearer]
        if np.array_equal(nearer, label):
            return label
        label = nearer


def relabelled(labels, parts):
    """Labels after fragments have split: the largest part keeps the label; if sizes are equal, the one with the
    smallest id."""
    found, sizes = np.unique(parts, return_counts=True)
    keeper = {}
    for part, size in zip(found, sizes):
        old = labels[part]
        if old not in keeper or size > keeper[old][1]:
            keeper[old] = (part, size)
    label_of, free = np.zeros(len(parts), int), labels.max() + 1
    for part in found:
        old = labels[part]
        keeps = keeper[old][0] == part
        label_of[part] = old if keeps else free
        free += not keeps
    return label_of[parts]


def quaternion_product(p, q):
    """Product of quaternions (x, y, z, w)."""
    pv, pw, qv, qw = p[:, :3], p[:, 3:], q[:, :3], q[:, 3:]
    return np.hstack([pw * qv + qw * pv + np.cross(pv, qv), pw * qw - (pv * qv).sum(axis=1, keepdims=True)])


class Run:
    """Properties that are the same for all snapshots: the atoms, their order, units and axes."""

    def __init__(self, arguments, step, columns):
        self.path = arguments.dump
        scales = UNITS[arguments.units]
        given = (arguments.length, arguments.mass, arguments.time)
        self.length, self.mass, self.time = [known if own is None else own for own, known in zip(given, scales)]
        self.up = arguments.up
        self.ids = np.sort(required(self.path, step, columns, ("id",))[:, 0].astype(int))
        if len(self.ids) == 0 or len(np.unique(self.ids)) != len(self.ids):
            sys.exit(f"{self.path}: step {step}: no atoms, or an id twice")

    def turned(self, vectors):
        x, y, z = vectors.T
        return np.stack([x, z, -y] if self.up == "z" else [x, y, z], axis=1)

    def order(self, step, columns):
        ids = required(self.path, step, columns, ("id",))[:, 0].astype(int)
        order = np.argsort(ids)
        if not np.array_equal(ids[order], self.ids):
            other = sorted(set(ids) ^ set(self.ids))
            sys.exit(f"{self.path}: step {step} has other atoms than the first snapshot: {other[:5]}")
        return order

    def places(self, step, columns, order):
        found = required(self.path, step, columns, ("xu", "yu", "zu"), ("x", "y", "z"))
        return self.turned(found[order]) * self.length

    def motion(self, step, columns, order):
        """Quaternions as dumped, velocities, spins; None where missing."""
        turns = velocities = spins = None
        if all(name in columns for name in QUATERNION):
            turns = required(self.path, step, columns, QUATERNION)[order]
            turns = np.hstack([self.turned(turns[:, :3]), turns[:, 3:]])
            turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        if all(name in columns for name in ("vx", "vy", "vz")):
            velocities = self.turned(required(self.path, step, columns, ("vx", "vy", "vz"))[order]) * self.length / self.time
        if all(name in columns for name in ("omegax", "omegay", "omegaz")):
            spins = self.turned(required(self.path, step, columns, ("omegax", "omegay", "omegaz"))[order]) / self.time
        return turns, velocities, spins

    def rows(self, path, step, pairs):
        """Pairs of ids as sorted pairs of rows."""
        rows = np.searchsorted(self.ids, pairs)
        strange = (rows >= len(self.ids)) | (self.ids[np.minimum(rows, len(self.ids) - 1)] != pairs)
        if strange.any():
            sys.exit(f"{path}: step {step}: a bond ends at atom {pairs[strange][0]}, which is not in the dump")
        rows = np.unique(np.sort(rows, axis=1), axis=0)
        return rows


def main():
    parser = argparse.ArgumentParser(description="Makes a frame store of a LAMMPS dump and its bonds.")
    parser.add_argument("dump", help="dump custom, text; may end in .gz")
    parser.add_argument("--bonds", required=True, help="dump local of batom1 batom2, or a data file with a section Bonds")
    parser.add_argument("--out", required=True, help="folder of the store; new or empty")
    parser.add_argument("--timestep", type=float, help="time step of the run, in its unit of time; not needed if the dump has ITEM: TIME")
    parser.add_argument("--units", choices=UNITS, default="si", help="units of the run (lj: given by --length, --mass, --time)")
    parser.add_argument("--length", type=float, help="the run's unit of length, m")
    parser.add_argument("--mass", type=float, help="the run's unit of mass, kg")
    parser.add_argument("--time", type=float, help="the run's unit of time, s")
    parser.add_argument("--radius", type=float, help="radius of atoms without radius or diameter, in the run's unit of length")
    parser.add_argument("--density", type=float, help="density of atoms without mass, kg/m3")
    parser.add_argument("--up", choices=("y", "z"), default="z", help="axis that points up in the run (default: z)")
    parser.add_argument("--column", action="append", default=[], metavar="NAME=DUMPED", help="name of a column in the dump; may be repeated")
    arguments = parser.parse_args()
    if any("=" not in pair for pair in arguments.column):
        parser.error("--column: expected NAME=DUMPED, for example quatw=c_turn[1]")
    renamed = {dumped: name for name, dumped in (pair.split("=", 1) for pair in arguments.column)}
    for name in ("length", "mass", "time", "radius", "density", "timestep"):
        value = getattr(arguments, name)
        if value is not None and not (value > 0 and math.isfinite(value)):
            parser.error(f"--{name}: {value} must be above 0")
    convert(arguments, renamed)


def convert(arguments, renamed):
    store = StoreWriter(arguments.out)
    bonds_at = bonds_by_step(arguments.bonds, renamed)
    run, before = None, -math.inf
    for number, (step, time, columns) in enumerate(snapshots(arguments.dump, renamed)):
        if run is None:
            run = Run(arguments, step, columns)
        order = run.order(step, columns)
        places = run.places(step, columns, order)
        turns, velocities, spins = run.motion(step, columns, order)
        pairs = run.rows(arguments.bonds, step, bonds_at(step))
        if time is None and arguments.timestep is None:
            sys.exit(f"{arguments.dump}: has no ITEM: TIME; give --timestep")
        time = (step * arguments.timestep if time is None else time) * run.time
        if time <= before:
            sys.exit(f"{arguments.dump}: step {step} is at {time} s, not after the snapshot before ({before} s)")
        before = time
        if number == 0:
            radii = write_rest_state(store, run, arguments, step, columns, order, places, pairs)
            ends, first_turns = pairs, turns
            whole = np.ones(len(ends), bool)
            labels = relabelled(np.zeros(len(places), int), components(len(places), ends))
        names = len(places)
        there = np.isin(ends[:, 0] * names + ends[:, 1], pairs[:, 0] * names + pairs[:, 1])
        broken = np.flatnonzero(whole & ~there)
        whole &= there
        if len(broken):
            labels = relabelled(labels, components(len(places), ends[whole]))
        if turns is None or first_turns is None:
            turns = np.tile([0.0, 0.0, 0.0, 1.0], (len(places), 1))
        else:
            turns = quaternion_product(turns, first_turns * [-1, -1, -1, 1])
        store.frame(number, time, places, turns, labels, velocities, spins)
        store.breaks(number, time, broken, ends, places)
    if run is None:
        sys.exit(f"{arguments.dump}: holds no snapshot")
    store.finish()
    fragments = len(np.unique(labels))
    turning = "" if first_turns is not None else ", no quaternions: elements do not turn"
    print(f"{arguments.out}: {number + 1} frames, {len(radii)} elements, {len(ends)} bonds, {np.count_nonzero(~whole)} broken, {fragments} fragments{turning}")


def write_rest_state(store, run, arguments, step, columns, order, places, pairs):
    """Writes the state at rest; returns the radii of the elements, m."""
    if arguments.radius is not None and not {"radius", "diameter"} & columns.keys():
        radii = np.full(len(places), arguments.radius)
    else:
        found = required(run.path, step, columns, ("radius",), ("diameter",))[order, 0]
        radii = found if "radius" in columns else found / 2
    radii = radii * run.length
    if not (radii > 0).all():
        sys.exit(f"{run.path}: step {step}: atom {run.ids[np.argmin(radii)]} has no radius")
    if arguments.density is not None and "mass" not in columns:
        masses = 4 / 3 * math.pi * radii**3 * arguments.density
    else:
        masses = required(run.path, step, columns, ("mass",))[order, 0] * run.mass
    bodies = np.zeros(len(places), int)
    if "mol" in columns:
        molecules = numbers(run.path, step, columns, "mol", int)[order]
        bodies = np.unique(molecules, return_inverse=True)[1].reshape(-1)
    if len(pairs) == 0:
        sys.exit(f"{arguments.bonds}: no bonds in step {step}")
    length = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    far = length > LONGEST * radii[pairs].sum(axis=1)
    if far.any():
        i, j = run.ids[pairs[far][0]]
        sys.exit(f"{run.path}: the bond from {i} to {j} is {length[far][0]:.3g} m long; if it crosses a periodic boundary, dump xu yu zu")
    store.elements(bodies, places, radii, masses)
    store.bonds(pairs, places, radii)
    return radii


if __name__ == "__main__":
    main()
