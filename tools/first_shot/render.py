"""Opens a cache of fragments in Blender as an artist would, and renders its middle frame: render.py CACHE PICTURE"""

import sys

import bpy
import mathutils

cache, picture = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.usd_import(filepath=cache)
scene = bpy.context.scene
scene.frame_set((scene.frame_start + scene.frame_end) // 2)
meshes = [item for item in scene.objects if item.type == "MESH"]
colours = {"outside": (0.8, 0.77, 0.72, 1), "inside": (0.75, 0.25, 0.15, 1)}
for name, colour in colours.items():
    material = bpy.data.materials[name]
    material.use_nodes = True
    nodes = material.node_tree.nodes
    shader = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    if shader is None:
        shader = nodes.new("ShaderNodeBsdfPrincipled")
        output = nodes.new("ShaderNodeOutputMaterial")
        material.node_tree.links.new(shader.outputs["BSDF"], output.inputs["Surface"])
    shader.inputs["Base Color"].default_value = colour

bpy.ops.mesh.primitive_plane_add(size=2)
bpy.ops.object.light_add(type="SUN", rotation=(0.6, 0.3, 0.4))
bpy.context.object.data.energy = 4
bpy.ops.object.camera_add(location=(0.16, -0.3, 0.16))
camera = bpy.context.object
target = mathutils.Vector((0, 0, 0.04))
camera.rotation_euler = (target - camera.location).to_track_quat("-Z", "Y").to_euler()
scene.camera = camera
scene.render.engine = "CYCLES"
scene.cycles.samples = 32
scene.render.resolution_x, scene.render.resolution_y = 960, 540
scene.render.filepath = picture
bpy.ops.render.render(write_still=True)
print(f"Blender {bpy.app.version_string}: {len(meshes)} fragments of frame {scene.frame_current} rendered")
