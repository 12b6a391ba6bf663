"""Reads frames/*.parquet with pyarrow: the columns are those listed in store.json, rounded as the metadata of the
files state."""

import json

from common import need, run

np, parquet = need("numpy", "pyarrow.parquet")

GROUPS = {
    "position": ["x", "y", "z"],
    "rotation": ["qx", "qy", "qz", "qw"],
    "velocity": ["vx", "vy", "vz"],
    "spin": ["wx", "wy", "wz"],
    "fragment": ["fragment"],
    "stress": ["sigma", "tau"],
    "broken": ["broken"],
}


def check(store):
    output = json.loads((store / "store.json").read_text())["pipeline"]["output"]
    expected = ["frame", "time", "id"] + [c for group in GROUPS if group in output["columns"] for c in GROUPS[group]]
    bits = {c: k for group, k in output["precision_bits"].items() if k is not None for c in GROUPS[group]}
    elements = parquet.ParquetFile(store / "packing" / "elements.parquet").metadata.num_rows
    files = sorted((store / "frames").glob("*.parquet"))
    assert files, f"no frames in {store}"
    for file in files:
        table = parquet.read_table(file)
        where = f"{file.name}: "
        assert table.column_names == expected, f"{where}columns {table.column_names}, expected {expected}"
        assert len(table) == elements, f"{where}{len(table)} rows, {elements} elements"
        stored = json.loads(parquet.read_metadata(file).metadata.get(b"cullet.precision_bits", b"{}"))
        assert stored == bits, f"{where}rounded to {stored}, expected {bits}"
        for name in expected[3:]:
            field = table.schema.field(name)
            values = table[name].to_numpy()
            assert np.all(np.isfinite(values)), f"{where}{name} is not finite"
            own = field.metadata.get(b"precision_bits")
            assert own == (str(bits[name]).encode() if name in bits else None), f"{where}{name} has precision {own}"
            if values.dtype != np.float32:
                continue
            low = values.view(np.uint32) & np.uint32((1 << (23 - bits.get(name, 23))) - 1)
            assert not low.any(), f"{where}{name} has more bits than {bits.get(name)}"
    return f"pyarrow: {len(files)} frames of {elements} rows, {len(expected)} columns, rounded: {bits or 'none'}"


run(check)
