"""Imports exports/*.usdc, and exports/*.abc if there is one, with Blender: three frames have the number of fragments, bounds
and materials given by the tables.

Not part of the gate, because of its size:
python3.11 -m venv v && v/bin/pip install bpy==5.0.1 "pyarrow<21" && v/bin/python check_blender.py STORE
"""

from common import need, run, usd_file

bpy, mathutils, parquet = need("bpy", "mathutils", "pyarrow.parquet")


def shown(meshes, frame):
    """The meshes of non-zero size at a frame, and the corners of their common bounding box."""
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    found = [mesh.evaluated_get(graph) for mesh in meshes]
    found = [mesh for mesh in found if max(mesh.matrix_world.to_scale()) > 1e-6]
    corners = [mesh.matrix_world @ mathutils.Vector(corner) for mesh in found for corner in mesh.bound_box]
    return found, [pick(corner[axis] for corner in corners) for pick in (min, max) for axis in range(3)]


def check_file(store, file, read):
    """Checks the scene that `read` imports from a file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    read(filepath=str(file))
    meshes = [item for item in bpy.data.objects if item.type == "MESH"]
    scene = bpy.context.scene
    first, last = scene.frame_start, scene.frame_end
    reach = max(parquet.read_table(store / "packing" / "elements.parquet")["r"].to_pylist())
    most = 0
    for frame in sorted({first, (first + last) // 2, last}):
        table = parquet.read_table(store / "frames" / f"{frame:06}.parquet").to_pydict()
        found, bounds = shown(meshes, frame)
        fragments = len(set(table["fragment"]))
        assert len(found) == fragments, f"{file}, frame {frame}: {len(found)} meshes, {fragments} fragments"
        # Blender's importers turn y up into z up.
        x, y, z = table["x"], table["y"], table["z"]
        wanted = [min(x), -max(z), min(y), max(x), -min(z), max(y)]
        off = max(abs(a - b) for a, b in zip(bounds, wanted))
        assert off < 6 * reach, f"{file}, frame {frame}: bounds {bounds}, elements {wanted}"
        most = max(most, fragments)
    slots = {slot.material.name for mesh in meshes for slot in mesh.material_slots}
    assert slots == {"outside", "inside"}, slots
    return f"{file.name}: {len(meshes)} meshes, at most {most} shown at once, materials {sorted(slots)}"


def check(store):
    found = [check_file(store, usd_file(store), bpy.ops.wm.usd_import)]
    found += [check_file(store, file, bpy.ops.wm.alembic_import) for file in (store / "exports").glob("*.abc")]
    return f"blender {bpy.app.version_string}: " + "; ".join(found)


run(check)
