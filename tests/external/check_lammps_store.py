"""Runs tools/lammps_to_store.py on the dump in lammps/: the store is valid, reconstructs to closed surfaces and exports to USD."""

import os
import subprocess
import sys
from pathlib import Path

from common import need, run

np, trimesh, pxr, parquet = need("numpy", "trimesh", "pxr.Usd", "pyarrow.parquet")

HERE = Path(__file__).resolve().parent
TOOL = HERE.parents[1] / "tools" / "lammps_to_store.py"
SCALES = ["--units", "lj", "--length", "1e-3", "--mass", "1e-6", "--time", "1e-3", "--timestep", "0.05"]


def cullet(*arguments):
    done = subprocess.run([os.environ["CULLET"], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def convert(out, *options):
    dump, bonds = HERE / "lammps" / "impact.dump", HERE / "lammps" / "impact.bonds"
    command = [sys.executable, TOOL, dump, "--bonds", bonds, "--out", out, *SCALES, *options]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def listed_bonds():
    """Number of bonds listed by LAMMPS in each snapshot."""
    lines = (HERE / "lammps" / "impact.bonds").read_text().splitlines()
    return [int(lines[at + 1]) for at, line in enumerate(lines) if line == "ITEM: NUMBER OF ENTRIES"]


def check_motion(store):
    """z has become y; for undeformed parts, rest positions follow from the positions in a frame by the rotations."""
    frames = [parquet.read_table(file) for file in sorted((store / "frames").glob("*"))]
    lines = (HERE / "lammps" / "impact.dump").read_text().splitlines()
    names = lines[8].split()[2:]
    first = np.array([line.split() for line in lines[9 : 9 + int(lines[3])]], float)
    first = dict(zip(names, first[np.argsort(first[:, 0])].T))
    for name, expected in (("x", first["x"]), ("y", first["z"]), ("z", -first["y"])):
        assert np.allclose(frames[0][name].to_numpy(), expected * 1e-3, atol=1e-9), f"{name} at rest"
    assert np.allclose(frames[0]["qw"].to_numpy(), 1), "rotations begin at rest"
    # The ball moved down along z.
    assert frames[0]["vy"].to_numpy().min() < -0.1, "velocities are turned and scaled"
    return len(frames)


def check(scratch):
    store = scratch / "impact"
    done = convert(store)
    assert done.returncode == 0, f"{TOOL.name}: {done.stdout}{done.stderr}"
    listed = listed_bonds()
    breaks = [parquet.read_metadata(file).num_rows for file in sorted((store / "breaks").glob("*"))]
    assert sum(breaks) == listed[0] - listed[-1] > 0, f"{breaks} of {listed}"
    frames = check_motion(store)
    assert cullet("inspect", store, "--validate").startswith("valid: ")
    cullet("reconstruct", store)
    cullet("export", store, "--format", "ply")
    count = 0
    for number, file in enumerate(sorted((store / "exports" / "ply").glob("*.ply"))):
        whole = trimesh.load(file, process=False)
        labels = np.asarray(whole.metadata["_ply_raw"]["face"]["data"]["fragment"]).reshape(-1)
        wanted = set(parquet.read_table(store / "frames" / f"{number:06}.parquet")["fragment"].to_pylist())
        assert set(labels.tolist()) == wanted, f"{file.name}: {set(labels.tolist())}, labels {wanted}"
        for label in wanted:
            part = trimesh.Trimesh(whole.vertices, whole.faces[labels == label], process=False)
            assert part.is_watertight and part.volume > 0, f"{file.name}: fragment {label} is not closed"
        count = len(wanted)
    assert count > 2, "the block and the ball stay whole"
    cullet("export", store, "--format", "usd")
    stage = pxr.Stage.Open(str(store / "exports" / "impact.usdc"))
    meshes = [prim for prim in stage.Traverse() if prim.GetTypeName() == "Mesh"]
    assert len(meshes) >= count, f"{len(meshes)} meshes of {count} fragments"
    cullet("export", store, "--format", "vtk")
    cullet("preview", store)
    again = convert(store)
    assert again.returncode != 0 and "not empty" in again.stderr, again.stderr
    return f"LAMMPS's run: {frames} frames, {sum(breaks)} of {listed[0]} bonds broken, {count} closed fragments, {len(meshes)} meshes in USD"


run(check)
