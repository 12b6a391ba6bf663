"""Runs tools/write_store.py: stores that pyarrow writes with any codec are valid, reconstruct to closed fragments
and export to USD."""

import os
import subprocess
import sys
from pathlib import Path

from common import need, run

np, trimesh, pxr = need("numpy", "trimesh", "pxr.Usd")
need("pyarrow")

TOOL = Path(__file__).resolve().parents[2] / "tools" / "write_store.py"
# Number of fragments in each frame: one, then two halves; the slit separates nothing.
FRAGMENTS = [1, 2, 2, 2]
CELLS, RADIUS = (16, 10, 10), 1e-3


def cullet(*arguments, code=0):
    done = subprocess.run([os.environ["CULLET"], *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments}: {done.returncode}, not {code}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def written(store, *options):
    done = subprocess.run([sys.executable, str(TOOL), str(store), *options], capture_output=True, text=True)
    assert done.returncode == 0, f"{TOOL.name}: {done.stdout}{done.stderr}"
    return store


def check_surfaces(store):
    """Checks that every fragment is closed and no volume is lost; returns the number of crack faces in each frame."""
    cullet("export", store, "--format", "ply")
    files = sorted((store / "exports" / "ply").glob("*.ply"))
    assert len(files) == len(FRAGMENTS), files
    box = np.prod(CELLS) * (np.sqrt(2) * RADIUS) ** 3
    on_cracks = []
    for file, expected in zip(files, FRAGMENTS):
        whole = trimesh.load(file, process=False)
        faces = whole.metadata["_ply_raw"]["face"]["data"]
        labels = np.asarray(faces["fragment"]).reshape(-1)
        found = np.unique(labels)
        assert len(found) == expected, f"{file.name}: {len(found)} fragments, {expected} wanted"
        parts = [trimesh.Trimesh(whole.vertices, whole.faces[labels == label], process=False) for label in found]
        for label, part in zip(found, parts):
            assert part.is_watertight and part.is_winding_consistent, f"{file.name}: fragment {label} is not closed"
        volume = sum(part.volume for part in parts)
        assert abs(volume / box - 1) < 0.03, f"{file.name}: {volume:.4e} m3 of {box:.4e}"
        on_cracks.append(int(np.count_nonzero(np.asarray(faces["inside"]))))
    assert on_cracks[0] == 0 and 0 < on_cracks[1] < on_cracks[2], f"faces on cracks: {on_cracks}"
    return on_cracks


def check(scratch):
    store = written(scratch / "block")
    told = cullet("inspect", store, "--validate")
    assert told.startswith("valid: "), told
    cullet("inspect", store)
    cullet("reconstruct", store)
    on_cracks = check_surfaces(store)
    assert cullet("inspect", store, "--validate").startswith("valid: ")
    cullet("export", store, "--format", "usd")
    stage = pxr.Stage.Open(str(store / "exports" / "block.usdc"))
    meshes = [prim.GetPath().name for prim in stage.Traverse() if prim.GetTypeName() == "Mesh"]
    # The whole block, both halves, and the half with the slit again.
    assert {name[:10] for name in meshes} == {"fragment_0", "fragment_1"} and len(meshes) >= 4, meshes
    for form in ("usd-elements", "glb", "glb-animated", "obj", "vtk"):
        cullet("export", store, "--format", form)
    cullet("preview", store)
    for codec in ("zstd", "gzip", "lz4", "none"):
        other = written(scratch / codec, "--compression", codec, "--cells", "6", "4", "4")
        assert cullet("inspect", other, "--validate").startswith("valid: ")
        cullet("reconstruct", other)
    brotli = written(scratch / "brotli", "--compression", "brotli", "--cells", "4", "4", "4")
    refused = cullet("reconstruct", brotli, code=2)
    assert "BROTLI" in refused and ".parquet" in refused and "snappy" in refused, refused
    assert "BROTLI" in cullet("inspect", brotli, "--validate", code=1)
    return f"pyarrow's store: closed fragments {FRAGMENTS}, faces on cracks {on_cracks}, {len(meshes)} meshes in USD"


run(check)
