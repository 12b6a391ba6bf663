"""Imports exports/*.usdc with Blender: three frames have the number of fragments, bounds and materials given by the tables.

Not part of the gate, because of its size: python3.11 -m venv v && v/bin/pip install bpy==4.2 pyarrow && v/bin/python check_blender.py STORE
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


def check(store):
    file = usd_file(store)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(file))
    meshes = [item for item in bpy.data.objects if item.type == "MESH"]
    scene = bpy.context.scene
    first, last = scene.frame_start, scene.frame_end
    reach = max(parquet.read_table(store / "packing" / "elements.parquet")["r"].to_pylist())
    most = 0
    for frame in sorted({first, (first + last) // 2, last}):
        table = parquet.read_table(store / "frames" / f"{frame:06}.parquet").to_pydict()
        found, bounds = shown(meshes, frame)
        fragments = len(set(table["fragment"]))
        assert len(found) == fragments, f"frame {frame}: {len(found)} meshes, {fragments} fragments"
        # Blender's importer turns y up into z up.
        x, y, z = table["x"], table["y"], table["z"]
        wanted = [min(x), -max(z), min(y), max(x), -min(z), max(y)]
        off = max(abs(a - b) for a, b in zip(bounds, wanted))
        assert off < 6 * reach, f"frame {frame}: bounds {bounds}, elements {wanted}"
        most = max(most, fragments)
    slots = {slot.material.name for mesh in meshes for slot in mesh.material_slots}
    assert slots == {"outside", "inside"}, slots
    return f"blender {bpy.app.version_string}: {len(meshes)} meshes, at most {most} shown at once, materials {sorted(slots)}"


run(check)
