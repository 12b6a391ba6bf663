"""Times how fast a frame of many elements gets from the store into Polars, NumPy-free and without a copy.

python bench.py [ELEMENTS]: writes a store of a frame with a million elements (default) into a temporary folder, and
prints medians of several reads, ms. Needs polars and numpy beside cullet.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

import numpy as np
import polars

import cullet

REPEATS = 9


def write_store(folder: Path, elements: int) -> None:
    """A store of one frame of moving elements, as another program may write it."""
    numbers = np.random.default_rng(1)
    data: dict[str, np.ndarray] = {
        "frame": np.zeros(elements, dtype=np.uint32),
        "time": np.zeros(elements),
        "id": np.arange(elements, dtype=np.uint32),
    }
    for name in ("x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz", "sigma", "tau"):
        data[name] = numbers.normal(size=elements).astype(np.float32)
    data["fragment"] = (data["id"] // 3000).astype(np.uint32)
    data["broken"] = numbers.integers(0, 12, elements).astype(np.uint32)
    (folder / "frames").mkdir()
    manifest = {"schema_version": 1, "units": "SI", "coordinates": "right-handed, y up, metres"}
    (folder / "store.json").write_text(json.dumps(manifest))
    write_parquet(polars.DataFrame(data), folder / "frames" / "000000.parquet")


def write_parquet(table: polars.DataFrame, path: Path) -> None:
    """A file with the encodings and the compression that cullet writes."""
    import pyarrow.parquet

    floats = [name for name in table.columns if table[name].dtype.is_float() and name != "time"]
    integers = dict.fromkeys(("frame", "id", "broken"), "DELTA_BINARY_PACKED")
    pyarrow.parquet.write_table(
        table.to_arrow(),
        path,
        compression="zstd",
        use_dictionary=["time", "fragment"],
        column_encoding={**dict.fromkeys(floats, "BYTE_STREAM_SPLIT"), **integers},
        data_page_size=1 << 20,
    )


def median(work: Callable[[], object]) -> float:
    """Median wall time, ms; the first call, which fills caches, does not count."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def main() -> None:
    """Prints the figures."""
    elements = int(sys.argv[1]) if sys.argv[1:] else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        write_store(Path(folder), elements)
        store = cullet.Store(folder)
        path = Path(folder) / "frames" / "000000.parquet"
        position = ["x", "y", "z"]
        moving = ["id", *position, "vx", "vy", "vz", "fragment"]
        figures = {
            "x y z": median(lambda: polars.DataFrame(store.frames(0, columns=position))),
            "8 columns": median(lambda: polars.DataFrame(store.frames(0, columns=moving))),
            "all columns": median(lambda: polars.DataFrame(store.frames(0))),
            "all columns by polars.read_parquet": median(lambda: polars.read_parquet(path)),
        }
        print(f"{elements} elements, file of {path.stat().st_size / 1e6:.1f} MB")
        for what, milliseconds in figures.items():
            print(f"{what:<36} {milliseconds:8.1f} ms")


if __name__ == "__main__":
    main()
