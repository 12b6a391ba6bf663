"""Exports a store as binary and as text USD; Pixar's library must find the same in both."""

import sys
import tempfile
import zipfile
from pathlib import Path

from common import export, need, run

np, _ = need("numpy", "pxr")
from pxr import Sdf, Usd  # noqa: E402

# Unit vectors in text are rounded to five decimals, quaternions of instances in binary to half precision.
ROUNDED = {"primvars:normals": 1e-5, "orientations": 1e-3}


def same(name, a, b):
    """Whether two values of an attribute are equal but for rounding."""
    if a is None or b is None or isinstance(a, str):
        return a == b
    if hasattr(a, "imaginary") or (len(a) if hasattr(a, "__len__") else 0) and hasattr(a[0], "imaginary"):
        quaternions = [[(*q.imaginary, q.real) for q in (v if hasattr(v, "__len__") else [v])] for v in (a, b)]
        a, b = (np.asarray(v, dtype=float) for v in quaternions)
    a, b = np.asarray(a), np.asarray(b)
    if name.startswith("xformOp:"):
        # Poses have single precision, of which text shows as many digits as are needed.
        a, b = a.astype(np.float32), b.astype(np.float32)
    if a.dtype.kind not in "fiu":
        return bool((a == b).all())
    return a.shape == b.shape and a.dtype == b.dtype and bool((np.abs(a - b) <= ROUNDED.get(name, 0)).all())


def compare(binary, text):
    """Compares two layers; returns the numbers of specs and of values."""
    paths = [[], []]
    for layer, found in zip((binary, text), paths):
        layer.Traverse("/", found.append)
    assert sorted(map(str, paths[0])) == sorted(map(str, paths[1])), "other prims or attributes"
    values = 0
    for path in paths[1]:
        one, other = binary.GetObjectAtPath(path), text.GetObjectAtPath(path)
        if path.IsTargetPath() or one is None:
            continue
        keys = [sorted(set(spec.ListInfoKeys()) - {"default", "timeSamples"}) for spec in (one, other)]
        assert keys[0] == keys[1], f"{path}: metadata {keys}"
        for key in keys[1]:
            assert one.GetInfo(key) == other.GetInfo(key), f"{path}: {key} {one.GetInfo(key)} {other.GetInfo(key)}"
        if isinstance(one, Sdf.PrimSpec):
            names = [[child.name for child in spec.nameChildren] for spec in (one, other)]
            assert names[0] == names[1], f"{path}: children {names}"
        if not isinstance(one, Sdf.AttributeSpec):
            continue
        assert one.typeName == other.typeName, f"{path}: {one.typeName} {other.typeName}"
        assert same(one.name, one.default, other.default), f"{path}: {one.default} {other.default}"
        times = [layer.ListTimeSamplesForPath(path) for layer in (binary, text)]
        assert times[0] == times[1], f"{path}: times {times}"
        for time in times[1]:
            a, b = (layer.QueryTimeSample(path, time) for layer in (binary, text))
            assert same(one.name, a, b), f"{path} at {time}: {a} {b}"
        values += 1 + len(times[1])
    return len(paths[1]), values


def check_package(store, folder):
    """A package holds the binary layer, unpacked, at a multiple of 64 bytes."""
    file = Path(folder) / "p\u00fc.usdz"
    export(store, file, "--format", "usd")
    with zipfile.ZipFile(file) as package:
        assert package.testzip() is None, "a checksum is wrong"
        (entry,) = package.infolist()
        assert entry.filename == "p\u00fc.usdc" and entry.compress_type == zipfile.ZIP_STORED, entry
        layer = package.read(entry)
    assert file.read_bytes().index(layer) % 64 == 0, "the layer is not aligned"
    plain = Path(folder) / "plain.usdc"
    export(store, plain, "--format", "usd")
    assert plain.read_bytes() == layer, "another layer"
    stage = Usd.Stage.Open(str(file))
    assert stage and stage.GetDefaultPrim().GetChildren(), "not readable"


def check(store):
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, options in {
            "surfaces": ["--format", "usd"],
            "debris": ["--format", "usd", "--debris-size", "2 cm"],
            "elements": ["--format", "usd-elements"],
        }.items():
            files = [Path(folder) / f"{name}{'.elements' if name == 'elements' else ''}.{kind}" for kind in ("usdc", "usda")]
            for file in files:
                export(store, file, *options)
            assert files[0].read_bytes().startswith(b"PXR-USDC"), f"{files[0]} is not binary"
            layers = [Sdf.Layer.FindOrOpen(str(file)) for file in files]
            assert all(layers), f"{name}: not readable"
            specs, values = compare(*layers)
            sizes = [file.stat().st_size / 1e6 for file in files]
            figures.append(f"{name}: {specs} specs and {values} values alike, {sizes[0]:.1f} MB binary, {sizes[1]:.1f} MB text")
        check_package(store, folder)
    return "; ".join(figures)


if __name__ == "__main__":
    sys.exit(run(check))
