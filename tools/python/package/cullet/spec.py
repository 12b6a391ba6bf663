"""Pipelines as typed dataclasses: one a table of the pipeline file.

`tools/python/generate_spec.py` writes this file from `cullet schema`. Do not edit it. `None` leaves a key out, so that
its default holds. Quantities are numbers in SI units, or strings with a unit such as "2 GPa".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union

from ._table import SpecTable

Quantity = Union[float, str]
"""A number in SI units, or a string with a unit such as "2 GPa"."""


@dataclass
class ClampAction(SpecTable):
    """Holds its elements in place, or moves them as one rigid piece, exactly at every step."""

    keys: Sequence[Key] | None = None
    """Displacements and rotations in time from where the elements were packed, which replace `velocity` and `spin`, in
    ascending order of time: linear in between, constant before the first and after the last. From one key to the
    next the rotation takes the shortest way: for several turns use `spin`, or one key per third of a turn.
    """

    pivot: Sequence[Quantity] | None = None
    """Point that `spin` and `keys` turn about, given at rest, m; it moves along with the clamp, and loads report the
    torque about it. Absent: the middle of the elements held.
    """

    spin: Sequence[Quantity] | None = None
    """Constant angular velocity of the clamp about `pivot`, rad/s."""

    velocity: Sequence[Quantity] | None = None
    """Constant velocity of the clamp, m/s."""

    type: Literal["clamp"] = field(default="clamp", init=False)


@dataclass
class SpringAction(SpecTable):
    """Pulls each element by a spring of zero rest length towards where a clamp would have it. Elements can lag behind
    and rotate freely. Loads are reported as for a clamp, about the mean position of the elements. On the CPU only.
    """

    stiffness: Quantity
    """Stiffness of the spring at each element, N/m."""

    keys: Sequence[Key] | None = None
    """Displacements and rotations in time from where the elements were packed, which replace `velocity` and `spin`, as
    for a clamp.
    """

    pivot: Sequence[Quantity] | None = None
    """Point that `spin` and `keys` turn about, given at rest, m; it moves along. Absent: the middle of the elements.
    """

    spin: Sequence[Quantity] | None = None
    """Constant angular velocity of the positions that the springs pull to, about `pivot`, rad/s."""

    velocity: Sequence[Quantity] | None = None
    """Constant velocity of the positions that the springs pull to, m/s."""

    type: Literal["spring"] = field(default="spring", init=False)


@dataclass
class ForceAction(SpecTable):
    """Applies a force and a torque, shared evenly among the elements."""

    force: Sequence[Quantity] | None = None
    """Total force on the elements, N."""

    signal: Signal | None = None
    """Factor on force and torque that changes with time; absent: both are constant. For explicit steps on the CPU."""

    torque: Sequence[Quantity] | None = None
    """Total torque on the elements, N m, each about its own centre; for explicit steps on the CPU."""

    type: Literal["force"] = field(default="force", init=False)


@dataclass
class PressureAction(SpecTable):
    """Applies a pressure to the elements at the surface of the body, along the inward normal there, which follows from
    their missing bonds and turns with each element.
    """

    pressure: Quantity
    """Pressure on the surface, Pa; a negative one pulls."""

    type: Literal["pressure"] = field(default="pressure", init=False)


@dataclass
class GaugeAction(SpecTable):
    """Does nothing to the elements, but records their mean displacement in the table of loads."""

    type: Literal["gauge"] = field(default="gauge", init=False)


Action = Union[ClampAction, SpringAction, ForceAction, PressureAction, GaugeAction]
"""What an attachment does."""


@dataclass
class Attachment(SpecTable):
    """Holds, drives or loads the elements of a body whose rest positions lie in a region."""

    action: Action
    """What the attachment does to the selected elements."""

    body: str
    """Name of the `[[body]]` whose elements are attached."""

    name: str
    """Name of the attachment, for overrides and for the table of loads."""

    region: Region
    """Box that selects elements: those whose rest positions lie inside."""


Axis = Literal["x", "y", "z"]
"""Coordinate axis.

- `x`: The x axis.
- `y`: The y axis.
- `z`: The z axis.
"""


Backend = Literal["auto", "cpu", "gpu"]
"""Where the time integration runs.

- `auto`: A discrete or integrated graphics processor that can run the shot, if there is one, else all cores.
- `cpu`: All cores of the CPU.
- `gpu`: A graphics processor through Vulkan, Metal or Direct3D 12.
"""


@dataclass
class Body(SpecTable):
    """A body."""

    material: str
    """Name of the `[[material]]` that the body is made of."""

    name: str
    """Name of the body, by which attachments and overrides refer to it."""

    packing: PackingSpec
    """How the shape is filled with elements."""

    shape: BodyShape
    """Shape that the body fills."""

    bonded: bool | None = None
    """Whether neighbouring elements are bonded. With false they are loose, and those of a `random` packing lie wholly
    inside the shape. Elements of a `loose` packing are never bonded. Default: true.
    """

    cracks: Sequence[Crack] | None = None
    """Cracks that the body has from the start."""

    grains: Sequence[Grains] | None = None
    """Lumps of other materials within the body, such as the stones in concrete."""

    mass: MassModel | None = None
    """How the masses of elements follow from the density. Default: "bulk"."""

    position: Sequence[Quantity] | None = None
    """Position of the shape's origin in the world, m."""

    rigid: bool | None = None
    """Whether the body moves as one rigid piece with the mass and inertia of its elements. Its bonds carry no load and
    do not break, contacts and forces on its elements push and turn it, and it is one fragment. One clamp may hold it
    as a whole. Default: false.
    """

    rotation: Rotation | None = None
    """Rotation of the shape about its own origin."""

    spin: Sequence[Quantity] | None = None
    """Angular velocity at the start, rad/s, about the centre of mass, in world axes."""

    velocity: Sequence[Quantity] | None = None
    """Velocity at the start, m/s."""


@dataclass
class MeshBodyShape(SpecTable):
    """Triangle mesh from a GLB, glTF, OBJ, PLY, STL or USD text file."""

    file: str
    """Path of the GLB, glTF, OBJ, PLY, STL or USD text (`.usda`) file, relative to the pipeline file. Texture
    coordinates are kept: OBJ `vt`; PLY `s t`, `u v` or `texture_u texture_v` per vertex, or `texcoord` per face;
    glTF `TEXCOORD_0`; USD `primvars:st`; faces without any, among others with some, get 0.
    """

    each: bool | None = None
    """Whether this entry stands for one body per object of the file. Each is named BODY.OBJECT; the frame store has
    them one by one.
    """

    fill: Fill | None = None
    """How the mesh is closed, and what counts as its inside. Default: "auto"."""

    height: Quantity | None = None
    """Extent along y that the mesh is scaled to, m; absent: `scale` applies."""

    object: str | None = None
    """Name of one object of the file: a node of glTF, a mesh prim of USD, `o` of OBJ, or `g` where there is no `o`;
    absent: all objects together.
    """

    scale: Quantity | None = None
    """Factor on the file's coordinates: metres = scale × file units. Give this or `height`, not both; without either
    `unit` applies.
    """

    thickness: Quantity | None = None
    """Thickness of the wall of a sheet, m: an open surface, or a closed one that becomes hollow. Absent: the mesh
    bounds the body.
    """

    thickness_side: ThicknessSide | None = None
    """Side of the sheet on which the wall of `thickness` lies. Default: "both"."""

    unit: MeshUnit | None = None
    """Unit of the file's coordinates. Absent: as the file says (glTF: metres; USD: `metersPerUnit`), else metres. Not
    with `scale` or `height`.
    """

    up: Up | None = None
    """Axis that points up in the file; z is turned to y. Absent: as the file says (glTF, USD), else y."""

    type: Literal["mesh"] = field(default="mesh", init=False)


@dataclass
class BoxBodyShape(SpecTable):
    """Box along the axes."""

    size: Sequence[Quantity]
    """Edge lengths along x, y and z, m."""

    type: Literal["box"] = field(default="box", init=False)


@dataclass
class SphereBodyShape(SpecTable):
    """Ball."""

    radius: Quantity
    """Radius of the ball, m."""

    type: Literal["sphere"] = field(default="sphere", init=False)


@dataclass
class CylinderBodyShape(SpecTable):
    """Cylinder along y."""

    height: Quantity
    """Length of the cylinder along y, m."""

    radius: Quantity
    """Radius of the cylinder, m."""

    type: Literal["cylinder"] = field(default="cylinder", init=False)


@dataclass
class PlateBodyShape(SpecTable):
    """Plate in the x-z plane of close-packed layers stacked along y. Its thickness follows from `layers` and the
    element radius.
    """

    layers: int
    """Number of layers of elements; of sheets in a `woven` packing."""

    size: Sequence[Quantity]
    """Extent of the plate along x and z, m."""

    hole: Quantity | None = None
    """Radius of a round hole through the middle, m, less than half the shorter side; absent: no hole."""

    type: Literal["plate"] = field(default="plate", init=False)


@dataclass
class RevolvedBodyShape(SpecTable):
    """Solid of revolution about y."""

    profile: Sequence[Sequence[Quantity]]
    """Points `[radius, y]` of the outline, from the bottom to the top of the y axis, m. Ends off the axis are closed by
    discs. The outline may turn back, as that of a bowl does, but must not cross itself.
    """

    segments: int | None = None
    """Number of sides of the surface mesh around the axis. Default: 96."""

    type: Literal["revolved"] = field(default="revolved", init=False)


@dataclass
class TubeBodyShape(SpecTable):
    """Round bar along the smooth curve (centripetal Catmull–Rom spline) through given points."""

    points: Sequence[Sequence[Quantity]]
    """Points `[x, y, z]` of the bar's axis, from one end to the other, m; two points make it straight."""

    radius: Quantity
    """Radius of the bar, m. The bar must not bend more sharply than this radius, nor meet itself."""

    type: Literal["tube"] = field(default="tube", init=False)


@dataclass
class CylinderShellBodyShape(SpecTable):
    """Wall of a hollow cylinder along y, or a part of it; for `cubic` packings."""

    height: Quantity
    """Length of the cylinder along y, m."""

    radius: Quantity
    """Radius of the middle surface of the wall, m."""

    thickness: Quantity
    """Thickness of the wall, m; less than twice the radius."""

    angle: Quantity | None = None
    """Angle that the wall covers, rad, from z towards x; absent: 360°."""

    type: Literal["cylinder_shell"] = field(default="cylinder_shell", init=False)


@dataclass
class SphereShellBodyShape(SpecTable):
    """Wall of a hollow ball between two angles from the y axis; for `cubic` packings."""

    radius: Quantity
    """Radius of the middle surface of the wall, m."""

    thickness: Quantity
    """Thickness of the wall, m; less than twice the radius."""

    from_: Quantity | None = None
    """Angle from the y axis at which the wall begins, rad; 0 is the top. Default: 0.0."""

    to: Quantity | None = None
    """Angle from the y axis at which the wall ends, rad, greater than `from`; 90° is the equator, 180° the bottom.
    Default: 3.141592653589793.
    """

    type: Literal["sphere_shell"] = field(default="sphere_shell", init=False)


@dataclass
class BlockBodyShape(SpecTable):
    """Block of rows of elements in hexagonal packing; its size follows from `radius` of its packing."""

    rows: Sequence[int]
    """Numbers of elements in a row (along x), of rows in a layer (along y) and of layers (along z)."""

    type: Literal["block"] = field(default="block", init=False)


BodyShape = Union[
    MeshBodyShape,
    BoxBodyShape,
    SphereBodyShape,
    CylinderBodyShape,
    PlateBodyShape,
    RevolvedBodyShape,
    TubeBodyShape,
    CylinderShellBodyShape,
    SphereShellBodyShape,
    BlockBodyShape,
]
"""Shape of a body. Shapes are centred on their origin; a mesh keeps the origin of its file."""


@dataclass
class Camera(SpecTable):
    """Camera of the preview pictures."""

    eye: Sequence[Quantity]
    """Position of the camera, m."""

    fov: Quantity
    """Vertical angle of view, rad."""

    target: Sequence[Quantity]
    """Point that the camera looks at, m."""


CellContact = Literal["polyhedra", "balls"]
"""Shape of cells in contacts.

- `polyhedra`: The convex polyhedra of the cells.
- `balls`: Balls of the cells' volumes: several times faster where there are many contacts.
"""


@dataclass
class Collider(SpecTable):
    """A solid that pushes elements and is not pushed itself."""

    name: str
    """Name of the collider, for overrides and for the table of loads."""

    shape: ColliderShape
    """Shape of the collider."""

    friction: Quantity | None = None
    """Friction coefficient of the collider. A contact takes the smaller coefficient of both partners. Default: 0.5.
    """

    keys: Sequence[Key] | None = None
    """Poses in time that replace `velocity` and `spin`, in ascending order of time: linear in between, constant before
    the first and after the last.
    """

    position: Sequence[Quantity] | None = None
    """Position of the shape's origin at the start, m."""

    rotation: Rotation | None = None
    """Rotation of the shape about its origin at the start."""

    spin: Sequence[Quantity] | None = None
    """Constant angular velocity of the collider about `position`, rad/s."""

    velocity: Sequence[Quantity] | None = None
    """Constant velocity of the collider, m/s."""

    young: Quantity | None = None
    """Young's modulus of the collider's contacts, Pa; absent: that of the element in contact."""


@dataclass
class HalfSpaceColliderShape(SpecTable):
    """Half-space bounded by the plane through `position`; solid on the side that `normal` points away from."""

    normal: Sequence[Quantity]
    """Outward normal of the plane; any length except zero."""

    type: Literal["half_space"] = field(default="half_space", init=False)


@dataclass
class BoxColliderShape(SpecTable):
    """Box along its axes."""

    size: Sequence[Quantity]
    """Edge lengths along x, y and z, m."""

    type: Literal["box"] = field(default="box", init=False)


@dataclass
class SphereColliderShape(SpecTable):
    """Ball."""

    radius: Quantity
    """Radius of the ball, m."""

    type: Literal["sphere"] = field(default="sphere", init=False)


@dataclass
class CylinderColliderShape(SpecTable):
    """Cylinder along its y axis."""

    height: Quantity
    """Length of the cylinder along y, m."""

    radius: Quantity
    """Radius of the cylinder, m."""

    type: Literal["cylinder"] = field(default="cylinder", init=False)


@dataclass
class MeshColliderShape(SpecTable):
    """Inside of a triangle mesh from a GLB, glTF, OBJ, PLY, STL or USD text file; on the CPU only."""

    file: str
    """Path of the GLB, glTF, OBJ, PLY, STL or USD text (`.usda`) file, relative to the pipeline file."""

    fill: Fill | None = None
    """How the mesh is closed, as of a body's mesh."""

    height: Quantity | None = None
    """Extent along y that the mesh is scaled to, m; absent: `scale` applies."""

    object: str | None = None
    """Name of one object of the file, as of a body's mesh; absent: all objects together."""

    scale: Quantity | None = None
    """Factor on the file's coordinates: metres = scale × file units. Give this or `height`, not both; without either
    `unit` applies.
    """

    thickness: Quantity | None = None
    """Thickness of the wall of a sheet, as of a body's mesh, m: a terrain, a bowl without walls."""

    thickness_side: ThicknessSide | None = None
    """Side of the sheet on which the wall of `thickness` lies."""

    unit: MeshUnit | None = None
    """Unit of the file's coordinates, as of a body's mesh. Not with `scale` or `height`."""

    up: Up | None = None
    """Axis that points up in the file, as of a body's mesh."""

    type: Literal["mesh"] = field(default="mesh", init=False)


ColliderShape = Union[
    HalfSpaceColliderShape, BoxColliderShape, SphereColliderShape, CylinderColliderShape, MeshColliderShape
]
"""Shape of a collider, centred on its position; a mesh keeps the origin of its file."""


Compression = Literal["zstd", "none"]
"""Compression of the pages of Parquet files.

- `zstd`: Zstandard, level 1.
- `none`: No compression: larger files, written faster.
"""


ContactLaw = Literal["penalty", "barrier"]
"""Law of the contact force between elements that no bond joins, and between elements and colliders.

- `penalty`: A force in proportion to the overlap (Lu et al. 2021).
- `barrier`: A logarithmic barrier (Zhang et al. 2024, eq. 30): soft at small overlap. In implicit steps without
  bound as centres approach, so that nothing passes through anything. In explicit steps, on the CPU, the force goes
  on by its tangent where the overlap exceeds a quarter of the distance at which contact begins.
"""


@dataclass
class Crack(SpecTable):
    """A crack that a body has from the start: a flat, convex polygon in the frame of the shape. Bonds between elements
    on either side of it are broken, so that it has no width and is sharp.
    """

    points: Sequence[Sequence[Quantity]]
    """Corners of the polygon, in order around it, m; at least three."""


CrackCriterion = Literal["energy", "stress"]
"""What makes a crack grow once it has begun, by boundary elements.

- `energy`: The stress ahead of its rim exceeds the strength, or the energy that it releases exceeds the energy that
  it takes (Griffith).
- `stress`: The stress ahead of its rim exceeds the strength (Rankine).
"""


Criterion = Literal["tension", "lu2021", "rod", "rankine"]
"""Criterion by which a bond breaks.

- `tension`: A bond breaks if its tensile or shear stress exceeds the strength, never by compression.
- `lu2021`: The criterion of Lu et al. 2021, which counts compression too.
- `rod`: The criterion of Zhang et al. 2024: as `tension`, with 4/3 of the mean shear stress, as in the middle of a
  round rod.
- `rankine`: A bond or face breaks if the largest principal stress of the solid around it exceeds the tensile
  strength, or its own shear stress the shear strength. Bonds of shells and yarns, and faces of walls of one layer,
  break as with `tension`.
"""


@dataclass
class Detail(SpecTable):
    """How detailed exported surfaces are. Absent keys limit nothing."""

    camera: Camera | None = None
    """Camera of that picture; absent: `preview.camera` where `pixels` needs one."""

    error: Quantity | None = None
    """Largest distance between the exported and the full surface of a fragment, m."""

    height: int | None = None
    """Height of that picture, pixels; needs `pixels`, or `triangles` with a `camera`. Default: 1080."""

    pixels: Quantity | None = None
    """The same distance in pixels of a picture, where the fragment is nearest to the camera."""

    triangles: int | None = None
    """Most triangles of all fragments in any frame. The largest error is the same for all fragments: in metres, or in
    pixels with a `camera`. With `error` or `pixels` as well, an export that needs more triangles is refused.
    """


Elasticity = Literal["material", "bond"]
"""What `young`, `poisson` and `shear` describe, the solid or its bonds: a packing has other moduli than its bonds.

- `material`: `young` and `poisson` describe the solid, and bonds are calibrated to give it these moduli.
- `bond`: `young` and `shear` describe the bonds themselves, as in the papers.
"""


@dataclass
class TensileStressElementColour(SpecTable):
    """Tensile stress of an element: `sigma` in the frames."""

    most: Quantity | None = None
    """Upper end of the colour bar, Pa; absent: the largest value, or below a few much larger ones."""

    type: Literal["tensile_stress"] = field(default="tensile_stress", init=False)


@dataclass
class ShearStressElementColour(SpecTable):
    """Shear stress of an element: `tau` in the frames."""

    most: Quantity | None = None
    """Upper end of the colour bar, Pa; absent: the largest value, or below a few much larger ones."""

    type: Literal["shear_stress"] = field(default="shear_stress", init=False)


@dataclass
class SpeedElementColour(SpecTable):
    """Speed of an element."""

    most: Quantity | None = None
    """Upper end of the colour bar, m/s; absent: the largest value, or below a few much larger ones."""

    type: Literal["speed"] = field(default="speed", init=False)


ElementColour = Union[TensileStressElementColour, ShearStressElementColour, SpeedElementColour]
"""Quantity by which elements are coloured in pictures."""


@dataclass
class Export(SpecTable):
    """Settings of exports to renderers."""

    compress: bool | None = None
    """Whether animated glTF is compressed (`EXT_meshopt_compression`, `KHR_mesh_quantization`). Without it, files are
    several times as large, and readers need no extension. Default: true.
    """

    debris_size: Quantity | None = None
    """Fragments whose bounding box at rest has a shorter diagonal than this, m, become debris in USD files: instances
    of a few shapes. Absent: there is no debris.
    """

    detail: Detail | None = None
    """How detailed surfaces are. Absent: they have all their triangles."""

    formats: Sequence[ExportFormat] | None = None
    """Formats that are written."""

    playback: Quantity | None = None
    """Rate at which hosts play the frames, 1/s; `"event"`: the rate of the simulated time, `time.frames_per_second`.
    Default: 24.0.
    """

    scale: Quantity | None = None
    """Length units of the files per metre: 100 for centimetres. VTK files are always in metres. Default: 1.0."""

    shutter: Sequence[Quantity] | None = None
    """Times, in frames relative to each frame, at which a shutter opens and closes, within ±0.5, such as [-0.25, 0.25].
    USD and Alembic files then hold the points of fragments that bend at those times too. Absent: at the frames only.
    """

    up: Up | None = None
    """Axis that points up in the files; absent: that of the shot, opposite to gravity. In glTF and Alembic it is always
    y, in VTK always that of the shot.
    """

    usd: UsdFile | None = None
    """Kind of USD files. Default: "usdc"."""


ExportFormat = Literal["usd", "usd_elements", "glb", "glb_animated", "alembic", "obj", "ply", "vtk"]
"""File format of an export.

- `usd`: Universal Scene Description: the surfaces of all frames.
- `usd_elements`: Universal Scene Description: the elements as spheres.
- `glb`: glTF 2.0, binary: the last frame.
- `glb_animated`: glTF 2.0, binary: all frames.
- `alembic`: Alembic: the surfaces of all frames.
- `obj`: Wavefront OBJ.
- `ply`: Stanford PLY.
- `vtk`: VTK XML files, for ParaView: elements, bonds, breaks and surfaces.
"""


Fill = Literal["auto", "closed", "winding"]
"""How a mesh is closed, and what counts as its inside.

- `auto`: A mesh that bounds a solid stays as it is. Others are repaired: double vertices, degenerate and double
  triangles, wrong winding, small holes; crossing surfaces are cut and inner walls dropped. What is still open is
  replaced by the surface where the winding number is one half. The program says what it did.
- `closed`: The enclosed volume; a mesh that is open or intersects itself is refused.
- `winding`: As `auto`, but by winding number from the start: a surface inside another, both wound outward, is
  dropped instead of bounding a cavity.
"""


@dataclass
class Fracture(SpecTable):
    """How cracks grow by boundary elements."""

    apart: Quantity | None = None
    """How far pieces are moved away from the centre of their body so that they can be distinguished, m. Default: 0.0.
    """

    cracks: int | None = None
    """Largest number of cracks of a body and its pieces; absent: 100. With 1 the load drops to zero once it has cracked
    the body, as that of a testing machine does.
    """

    criterion: CrackCriterion | None = None
    """What makes a crack grow once it has begun. Default: "energy"."""

    radius: Quantity | None = None
    """Radius of the elements of bodies whose packing is `none`: a hexagonal packing is made for them, whose bonds the
    cracks break, m; absent: about 5000 elements for each body.
    """

    step: Quantity | None = None
    """How far a crack's rim advances in one step at most, m; absent: the edge length of the triangles."""

    tears: bool | None = None
    """Whether a crack that comes to rest inside the body is made to run on, as its momentum would make it; static loads
    cannot decide that. Default: false.
    """


FrameGroup = Literal["position", "rotation", "velocity", "spin", "fragment", "stress", "broken"]
"""Group of columns that frame files hold or leave out together.

- `position`: Columns x, y, z: position, m.
- `rotation`: Columns qx, qy, qz, qw: rotation.
- `velocity`: Columns vx, vy, vz: velocity, m/s.
- `spin`: Columns wx, wy, wz: angular velocity, rad/s.
- `fragment`: Column fragment: label of the fragment.
- `stress`: Columns sigma, tau: normal and shear stress.
- `broken`: Column broken: broken bonds of the element.
"""


Friction = Literal["lagged", "projected"]
"""How friction of contacts is solved in implicit steps.

- `lagged`: Friction of explicit steps, a spring that slips, solved together with all other forces; the slip limit
  lags within an iteration.
- `projected`: Friction is subtracted from velocities and spins after each step (Lu et al. 2025, eq. 34, 35), by the
  sliding velocity of the centres: rolling bodies are braked as if they slid, nothing sticks at rest, and there is
  rolling friction. For Euler steps: in long midpoint steps elements ring, and one that is at rest for a moment is
  not braked.
"""


@dataclass
class Gpu(SpecTable):
    """Choice and limits of the graphics processor."""

    adapter: str | None = None
    """Part of the name of the adapter to use, as `cullet adapters` lists it; the only way to get a software adapter.
    Absent: the first discrete one, else an integrated one.
    """

    binding_limit: int | None = None
    """Size limit of one buffer binding, bytes: larger columns are split, results stay the same to the bit. Absent: the
    adapter's limit.
    """

    workgroup_limit: int | None = None
    """Limit of workgroups per dispatch: kernels then stride, results stay the same to the bit. Absent: the adapter's
    limit.
    """


@dataclass
class Grain(SpecTable):
    """Stiffness and strength that depend on the direction, as in wood. Those of bonds are multiplied by 1 + λ
    (d_g·d_b)⁴, with the directions d_g of the grain and d_b of the bond (Lu 2021, eq. 30). Bonds of hexagonal and
    random packings have the λ that the solid needs, unless `elasticity` and `strength` are `"bond"`.
    """

    direction: Sequence[Quantity]
    """Direction of the grain in the frame of the body's shape, with which it turns; any length except zero."""

    stiffness: Quantity
    """λ of the moduli: Young's modulus along the grain is 1 + λ times that across it. With `elasticity = "bond"`, and
    in shells, yarns and cells, bonds along the grain are 1 + λ times as stiff as bonds across it.
    """

    strength: Quantity | None = None
    """λ of both strengths: the tensile strength along the grain is 1 + λ times that across it. With `strength =
    "bond"`, and in shells, yarns and cells, bonds along the grain are 1 + λ times as strong as bonds across it.
    Absent: `stiffness`.
    """


@dataclass
class Grains(SpecTable):
    """Lumps of another material within a body. Points scattered through the body divide it into cells, some of which
    are of that material.
    """

    material: str
    """Name of the `[[material]]` of the lumps."""

    part: Quantity
    """Fraction of the body's volume that the lumps fill; the fractions of all entries add up to at most 1."""

    size: Quantity
    """Mean distance between the centres of neighbouring lumps, m."""


@dataclass
class Implicit(SpecTable):
    """Settings of implicit steps."""

    friction: Friction | None = None
    """How friction of contacts is solved. Default: "lagged"."""

    gradients_tolerance: Quantity | None = None
    """Finest tolerance of conjugate gradients: residual relative to the initial one. Default: 0.0001."""

    halvings: int | None = None
    """How often a step may be halved when bonds break or Newton's method fails; absent: until it is no longer than two
    critical steps of explicit integration.
    """

    iterations: int | None = None
    """Greatest number of Newton iterations in a step that cannot be halved any more; others are halved after 16.
    Default: 40.
    """

    periods: Quantity | None = None
    """Length of a step in critical steps of explicit integration, at most a frame; used if `time.step` is absent.
    Default: 100.0.
    """

    preconditioner: Preconditioner | None = None
    """Preconditioner of conjugate gradients. Default: "multigrid"."""

    tolerance: Quantity | None = None
    """Convergence tolerance of Newton's method: unbalanced forces at the end of a step relative to all acting forces,
    root mean squares. Default: 0.001.
    """


Integrator = Literal["explicit", "backward_euler", "midpoint", "linearly_implicit", "auto"]
"""Method of time integration.

- `explicit`: Velocity Verlet in steps below the critical one (Lu et al. 2021).
- `backward_euler`: Implicit Euler steps of any length, each of which minimises an energy by Newton's method (Lu et
  al. 2025). Stable and of first order. They damp fast motion strongly, so damage spreads diffusely where explicit
  or midpoint steps let cracks run.
- `midpoint`: Implicit midpoint steps, found in the same way: second order, conserves energy.
- `linearly_implicit`: Implicit steps of one Gauss–Newton iteration each (Zhang et al. 2024).
- `auto`: Whichever is estimated to be cheaper: `explicit`, or an implicit one, which is `midpoint` if anything can
  break and else `backward_euler`. `cullet check` prints the choice.
"""


@dataclass
class Key(SpecTable):
    """A pose of a collider or clamp at a time."""

    position: Sequence[Quantity]
    """Position of a collider's origin, m; for a clamp or spring, the displacement of its elements from where they were
    packed.
    """

    time: Quantity
    """Simulated time at which the pose is reached, s."""

    rotation: Rotation | None = None
    """Rotation of a collider; for a clamp or spring, the rotation of its elements from how they were packed. From one
    key to the next it takes the shortest way.
    """


Law = Literal["bdem", "manifold", "cosserat"]
"""The law of bonds.

- `bdem`: Explicit bonded DEM (Lu et al. 2021). It has no energy, so implicit steps cannot use it.
- `manifold`: Implicit bonded DEM with manifold optimisation (Lu et al. 2025).
- `cosserat`: Rod-BDEM (Zhang et al. 2024): a Cosserat rod.
"""


MassModel = Literal["bulk", "sphere"]
"""How the masses of elements follow from the density.

- `bulk`: The body weighs density × volume; each element gets its share of that by the volume it represents.
- `sphere`: Each element weighs 4/3 π r³ ρ, as in the papers; a close-packed body is then 26 % too light.
"""


@dataclass
class Material(SpecTable):
    """A material."""

    density: Quantity
    """Density of the material, kg/m³."""

    name: str
    """Name of the material, by which bodies refer to it."""

    young: Quantity
    """Young's modulus, Pa."""

    contact_damping: Quantity | None = None
    """Normal damping of contacts, as a ratio of critical damping. Default: 0.2."""

    contact_shear_ratio: Quantity | None = None
    """Ratio of tangential to normal stiffness of contacts. Default: 0.5."""

    contact_young: Quantity | None = None
    """Young's modulus of contacts, Pa; absent: `young`."""

    criterion: Criterion | None = None
    """Criterion by which bonds break. Default: "tension"."""

    damping: Quantity | None = None
    """Viscous damping of bonds, as a ratio of critical damping. Default: 0.02."""

    elasticity: Elasticity | None = None
    """Whether `young`, `poisson` and `shear` describe the solid or its bonds. Default: "material"."""

    friction: Quantity | None = None
    """Friction coefficient of contacts. Default: 0.5."""

    grain: Grain | None = None
    """Grain of the material, along which it is stiffest and strongest; moduli and strengths of the material are then
    those across it. Absent: all directions are alike.
    """

    hydrostatic_strength: Quantity | None = None
    """Hydrostatic strength, Pa: an element whose mean stress exceeds it loses all its bonds; absent: none does."""

    poisson: Quantity | None = None
    """Poisson's ratio, with `elasticity = "material"` only: at most 0.25, the largest that bonds can give; for bodies
    of cells above -1 and below 0.5. Absent: 0.2.
    """

    restitution: Quantity | None = None
    """Coefficient of restitution of contacts, rebound speed over approach speed of two single elements, from which
    their damping follows in place of `contact_damping`. Absent: `contact_damping` applies. Neither for barrier
    contacts nor for cells in contact as polyhedra.
    """

    rolling_friction: Quantity | None = None
    """Rolling friction coefficient μ_r: contacts resist rolling by moments of up to μ_r × radius × normal force.
    Default: 0.0.
    """

    shear: Quantity | None = None
    """Shear modulus of the bonds, Pa; required with `elasticity = "bond"`, not allowed otherwise."""

    shear_strength: Quantity | None = None
    """Shear strength, Pa; absent: bonds do not break by shear."""

    static_friction: Quantity | None = None
    """Coefficient of static friction, at least `friction`: a contact holds up to static_friction × normal force, then
    slides with `friction` until it sticks again. Absent: as `friction`.
    """

    strength: Strength | None = None
    """Whether `tensile_strength` and `shear_strength` are those of the solid or of its bonds; absent: the same as
    `elasticity`.
    """

    tensile_strength: Quantity | None = None
    """Tensile strength, Pa; absent: bonds do not break by tension."""

    toughness: Quantity | None = None
    """Fracture toughness K_IC, Pa √m: a bond that has reached its strength softens, so that the energy of a crack
    hardly depends on the size of the elements; bonded elements only. Absent: bonds break at once.
    """

    weibull_length: Quantity | None = None
    """Correlation length of the strengths, m, at least four elements wide: they are drawn by place in the body, tensile
    and shear strength each from a field of its own, so that packings of other elements have the same weak places.
    Absent: bonds are drawn one by one.
    """

    weibull_modulus: Quantity | None = None
    """Weibull modulus by which both strengths scatter from bond to bond: the smaller, the more; absent: no scatter.
    """

    weibull_size: Quantity | None = None
    """Edge of a cube, m: a body of its volume has the strength entered, on average; needs `weibull_length`. Larger
    bodies are weaker, smaller ones stronger. Absent: the strength is the mean at a point.
    """


@dataclass
class MaterialPair(SpecTable):
    """Properties of the contacts and bonds between two materials, in place of those that follow from the two. Without
    an entry, bonds between two materials have their moduli in series, the smaller strengths, the weaker criterion
    and the mean of both dampings.
    """

    materials: Sequence[str]
    """Names of two `[[material]]` entries, or the same name twice."""

    bond_stiffness: Quantity | None = None
    """Factor on the moduli of bonds between the two materials, which are otherwise in series. Default: 1.0."""

    bond_strength: Quantity | None = None
    """Factor on the strengths of bonds between the two materials, which are otherwise the smaller of both. Default:
    1.0.
    """

    contact_damping: Quantity | None = None
    """Normal damping of contacts, as a ratio of critical damping; absent: the larger of the two materials'."""

    contact_young: Quantity | None = None
    """Young's modulus of contacts, Pa; absent: the two materials' moduli in series."""

    friction: Quantity | None = None
    """Friction coefficient of contacts; absent: the smaller of the two materials'."""

    restitution: Quantity | None = None
    """Coefficient of restitution of contacts, in place of `contact_damping`. Neither for barrier contacts nor for cells
    in contact as polyhedra.
    """

    rolling_friction: Quantity | None = None
    """Rolling friction coefficient of contacts; absent: the smaller of the two materials'."""

    static_friction: Quantity | None = None
    """Coefficient of static friction of contacts, at least that of `friction`; absent: `friction` if it is given here,
    else the smaller of the two materials'.
    """


MeshUnit = Literal["m", "dm", "cm", "mm", "km", "inch", "foot"]
"""Unit of the coordinates of a mesh file.

- `m`: Metre.
- `dm`: Decimetre.
- `cm`: Centimetre.
- `mm`: Millimetre.
- `km`: Kilometre.
- `inch`: Inch, 25.4 mm.
- `foot`: Foot, 0.3048 m.
"""


MethodChoice = Literal["bonds", "voronoi", "bem"]
"""What transmits stress between elements.

- `bonds`: Bonds, whose law is `law`.
- `voronoi`: Faces of cells (Monasse and Mariotti 2012); all bodies must be packed with cells.
- `bem`: Nothing moves: boundary elements (Zhu et al. 2015) compute the stress under the loads, as `cullet stress`
  does; see `[stress]`.
"""


@dataclass
class Output(SpecTable):
    """Settings of what `simulate` writes."""

    columns: Sequence[FrameGroup] | None = None
    """Groups of columns in frame files, besides frame, time and id. `reconstruct` needs position, rotation and
    fragment, `preview` position.
    """

    compression: Compression | None = None
    """Compression of the Parquet tables. Default: "zstd"."""

    convergence: int | None = None
    """Number of a step, from 1, that every method for implicit steps solves, for the chart of their convergence (Lu et
    al. 2025, Figure 7); the run itself does not change. Absent: none.
    """

    precision_bits: PrecisionBits | None = None
    """Bits of the mantissa kept in columns of frame files, for smaller files. The metadata of the files names them;
    states are never rounded.
    """

    work: bool | None = None
    """Whether the history holds the energy dissipated by damping, friction and breaking, J. On the CPU only, where
    steps take up to a fifth longer. Default: false.
    """


@dataclass
class NonePackingSpec(SpecTable):
    """No elements: the surface alone, for `simulate.method = "bem"`; for any shape except `plate` and `block`."""

    type: Literal["none"] = field(default="none", init=False)


@dataclass
class HexagonalPackingSpec(SpecTable):
    """Hexagonal close packing of balls, for any shape. Give either `radius` or `elements`."""

    elements: int | None = None
    """About how many elements there are; absent: it follows from `radius`."""

    radius: Quantity | None = None
    """Radius of the elements, m; absent: it follows from `elements`."""

    type: Literal["hexagonal"] = field(default="hexagonal", init=False)


@dataclass
class RandomPackingSpec(SpecTable):
    """Random close packing of balls, drawn by `simulate.seed`, for any shape except `plate` and `block`. Give either
    `radius` or `elements`.
    """

    elements: int | None = None
    """About how many elements there are; absent: it follows from `radius`."""

    neighbourhood: Quantity | None = None
    """Two elements are bonded if their distance is at most this many times the sum of their radii. Default: 1.1."""

    radius: Quantity | None = None
    """Mean radius of the elements, m; absent: it follows from `elements`."""

    spread: Quantity | None = None
    """Radii are distributed evenly between 1 − spread and 1 + spread times their mean; 0: all are equal. Default: 0.0.
    """

    type: Literal["random"] = field(default="random", init=False)


@dataclass
class LoosePackingSpec(SpecTable):
    """Loose balls with gaps between them, as poured, which settle when the run begins and are never bonded; drawn by
    `simulate.seed`, for any shape except `plate` and `block`. Give either `radius` or `elements`.
    """

    elements: int | None = None
    """About how many balls there are; absent: it follows from `radius`."""

    fraction: Quantity | None = None
    """Fraction of the volume that the balls fill, away from the skin of the shape. Default: 0.55."""

    radius: Quantity | None = None
    """Mean radius of the balls, m; absent: it follows from `elements`."""

    spread: Quantity | None = None
    """Radii are distributed evenly between 1 − spread and 1 + spread times their mean; 0: all are equal. Default: 0.0.
    """

    type: Literal["loose"] = field(default="loose", init=False)


@dataclass
class ShellPackingSpec(SpecTable):
    """Layers of balls under the skin of a shape, which is hollow inside; drawn by `simulate.seed`, for any closed shape
    except `plate` and `block`. Give either `radius` or `elements`.
    """

    layers: int
    """Number of layers of elements."""

    elements: int | None = None
    """About how many elements there are; absent: it follows from `radius`."""

    neighbourhood: Quantity | None = None
    """Two elements are bonded if their distance is at most this many times the sum of their radii. Default: 1.2."""

    radius: Quantity | None = None
    """Radius of the elements, m; absent: it follows from `elements`."""

    type: Literal["shell"] = field(default="shell", init=False)


@dataclass
class TwistedPackingSpec(SpecTable):
    """Rope in a cylinder or tube: strands wound about its axis, each a bundle of filaments. Bonds join elements of the
    same strand only. Give either `radius` or `elements`.
    """

    pitch: Quantity
    """Length along the axis of one turn of a strand, m."""

    strands: int
    """Number of strands."""

    elements: int | None = None
    """About how many elements there are; absent: it follows from `radius`."""

    filaments: int | None = None
    """Number of filaments in a strand: 1, 7, 19, 37 (full hexagons) or any other up to 127; absent: the hexagon of
    filaments that fits.
    """

    radius: Quantity | None = None
    """Radius of the elements, m; absent: it follows from `elements`."""

    type: Literal["twisted"] = field(default="twisted", init=False)


@dataclass
class WovenPackingSpec(SpecTable):
    """Cloth: sheets of yarns along x and z that pass over and under each other. Bonds join elements of the same yarn
    only. For any shape except `block`; the layers of a `plate` are the sheets. Give either `radius` or `elements`.
    """

    elements: int | None = None
    """About how many elements there are; absent: it follows from `radius`."""

    filaments: int | None = None
    """Number of filaments in a yarn. Default: 1."""

    radius: Quantity | None = None
    """Radius of the elements, m; absent: it follows from `elements`."""

    weave: Weave | None = None
    """How the yarns cross. Default: "plain"."""

    type: Literal["woven"] = field(default="woven", init=False)


@dataclass
class VoronoiPackingSpec(SpecTable):
    """Voronoi cells that fill the shape without gaps, for `simulate.method = "voronoi"` and any closed shape except
    `plate` and `block`. Give either `size` or `cells`.
    """

    cells: int | None = None
    """About how many cells there are; absent: it follows from `size`."""

    relax: int | None = None
    """Number of Lloyd iterations, each of which moves the cells' generating points to the cells' centroids. The more
    there are, the more even the cells. Default: 10.
    """

    seed: int | None = None
    """Seed of the generating points of the cells; absent: `simulate.seed`."""

    size: Quantity | None = None
    """Edge of a cube of the mean volume of the cells, m; absent: it follows from `cells`."""

    type: Literal["voronoi"] = field(default="voronoi", init=False)


@dataclass
class CubicPackingSpec(SpecTable):
    """Bricks in rows, for `simulate.method = "voronoi"`. They fill a box and the walls `cylinder_shell` and
    `sphere_shell` exactly; of other shapes except `plate` and `block`, those bricks are kept whose centre lies
    inside. Give either `size` or `rows`.
    """

    rows: Sequence[int] | None = None
    """Numbers of bricks along x, y and z of the bounding box of the shape, in a wall around, along and through it.
    Absent: they follow from `size`.
    """

    size: Sequence[Quantity] | None = None
    """Approximate edges of a brick, m, which are adjusted to fill the bounding box of the shape: along x, y and z, in a
    wall around, along and through it. Absent: they follow from `rows`.
    """

    type: Literal["cubic"] = field(default="cubic", init=False)


PackingSpec = Union[
    NonePackingSpec,
    HexagonalPackingSpec,
    RandomPackingSpec,
    LoosePackingSpec,
    ShellPackingSpec,
    TwistedPackingSpec,
    WovenPackingSpec,
    VoronoiPackingSpec,
    CubicPackingSpec,
]
"""How a shape is filled with elements."""


Precision = Literal["f32", "f64"]
"""Arithmetic of explicit steps; implicit steps always use double precision.

- `f32`: Single precision in vector lanes or on a graphics processor, with two words per coordinate.
- `f64`: Double precision: the reference, on the CPU only.
"""


@dataclass
class PrecisionBits(SpecTable):
    """Bits of the mantissa that are kept, of 23; numbers are rounded to nearest, ties to even. Absent: all.

    With k bits the relative error is at most 2^−(k+1).
    """

    position: int | None = None
    """Bits kept of x, y, z; absent: all 23."""

    rotation: int | None = None
    """Bits kept of qx, qy, qz, qw; absent: all 23."""

    spin: int | None = None
    """Bits kept of wx, wy, wz; absent: all 23."""

    stress: int | None = None
    """Bits kept of sigma, tau; absent: all 23."""

    velocity: int | None = None
    """Bits kept of vx, vy, vz; absent: all 23."""


Preconditioner = Literal["multigrid", "jacobi"]
"""Preconditioner of conjugate gradients.

- `multigrid`: Algebraic multigrid by smoothed aggregation: few iterations for any problem size.
- `jacobi`: Block Jacobi: the diagonal blocks only.
"""


@dataclass
class Preview(SpecTable):
    """Settings of preview pictures, which need no renderer."""

    camera: Camera | None = None
    """Position and view of the camera; absent: chosen from the bounds of the scene."""

    colour: ElementColour | None = None
    """Draws elements as balls, instead of surfaces, coloured by this quantity, with a colour bar. Absent: surfaces are
    drawn if there are any; elements drawn as balls get redder as their bonds break.
    """

    height: int | None = None
    """Height of the pictures, pixels. Default: 480."""

    section: Section | None = None
    """Plane that cuts the bodies open: elements behind it are drawn as balls, and colliders except half-spaces are left
    out. Pictures of stress show both the surface and the elements behind the plane. Absent: whole bodies are drawn.
    """

    width: int | None = None
    """Width of the pictures, pixels. Default: 640."""


@dataclass
class Reconstruct(SpecTable):
    """Settings of the surfaces of fragments."""

    mode: ReconstructMode | None = None
    """How the surfaces are constructed. Default: "auto"."""

    roughness: Quantity | None = None
    """Depth of the roughness of crack faces, in element radii, up to 0.5, the same on both faces; 0: smooth. Default:
    0.0.
    """

    simplify: Quantity | None = None
    """How far surfaces may move to save triangles, in element radii; 0 keeps all triangles. Default: 0.0."""

    voxel: Quantity | None = None
    """Cell edge of the grid on which cracks, and surfaces in mode `world`, are computed, in element radii. Default:
    0.8.
    """


ReconstructMode = Literal["auto", "material", "cells", "world"]
"""How the surfaces of fragments are constructed.

- `auto`: `material` for bodies with bonds whose skin is closed and does not intersect itself, `world` for other
  bodies with bonds; loose elements are drawn as balls.
- `material`: From the skin of the packed shape, cut along the cracks and moved with the elements.
- `cells`: From the cells of a `voronoi` or `cubic` packing, with exact planes where they separate; `voxel`,
  `roughness` and `simplify` have no effect.
- `world`: From positions and radii of the elements in each frame, for grains, yarns and cloth; `roughness` and
  `simplify` have no effect.
"""


@dataclass
class Region(SpecTable):
    """Axis-aligned box in world coordinates, m."""

    max: Sequence[Quantity]
    """Corner of greatest coordinates, m."""

    min: Sequence[Quantity]
    """Corner of least coordinates, m."""


@dataclass
class Rotation(SpecTable):
    """Rotation by an angle about an axis: `{ axis = [0, 1, 0], angle = "30 deg" }`."""

    angle: Quantity
    """Angle of the rotation, rad, right-handed about the axis."""

    axis: Sequence[Quantity]
    """Direction of the axis; any length except zero."""


@dataclass
class Section(SpecTable):
    """Plane along which pictures cut bodies open."""

    normal: Sequence[Quantity]
    """Normal of the plane, towards the side that is removed; any length except zero."""

    point: Sequence[Quantity]
    """A point of the plane, m."""


Side = Literal["-x", "+x", "-y", "+y", "-z", "+z"]
"""Side of a box.

- `-x`: Side of least x.
- `+x`: Side of greatest x.
- `-y`: Side of least y.
- `+y`: Side of greatest y.
- `-z`: Side of least z.
- `+z`: Side of greatest z.
"""


@dataclass
class RampSignal(SpecTable):
    """Rises linearly from 0 at the start to 1 at `time`, then stays 1."""

    time: Quantity
    """Time at which the factor reaches 1, s."""

    type: Literal["ramp"] = field(default="ramp", init=False)


@dataclass
class ReleaseSignal(SpecTable):
    """(1 − cos(π t/time))/2 up to `time`, then 0: the body is bent slowly and let go."""

    time: Quantity
    """Time at which the load is let go, s."""

    type: Literal["release"] = field(default="release", init=False)


@dataclass
class RickerSignal(SpecTable):
    """Ricker wavelet (1 − 2a) exp(−a), a = (π f (t − delay))²: 1 at the delay, decaying fast before and after."""

    delay: Quantity
    """Time of the middle of the wavelet, s."""

    frequency: Quantity
    """Frequency f at which the spectrum of the wavelet is largest, Hz."""

    type: Literal["ricker"] = field(default="ricker", init=False)


Signal = Union[RampSignal, ReleaseSignal, RickerSignal]
"""Factor on force and torque that changes with time."""


@dataclass
class Simulate(SpecTable):
    """Settings of the time integration."""

    backend: Backend | None = None
    """Where the time integration runs. Default: "auto"."""

    cell_contact: CellContact | None = None
    """Shape of cells in contacts. Default: "polyhedra"."""

    contact: ContactLaw | None = None
    """Law of the contact force. Default: "penalty"."""

    drag: Quantity | None = None
    """Drag on all elements, 1/s, for quasi-static tests: dv/dt = −drag v. Default: 0.0."""

    gpu: Gpu | None = None
    """Choice and limits of the graphics processor, if one is used."""

    implicit: Implicit | None = None
    """Settings of implicit steps."""

    integrator: Integrator | None = None
    """Method of time integration. Default: "explicit"."""

    keep_states: int | None = None
    """Number of states (snapshots for `--resume`) that are kept, the newest ones. Default: 2."""

    law: Law | None = None
    """Law of the bonds: `bdem` is for explicit steps only, `manifold` and `cosserat` for all steps and backends.
    Absent: `bdem` in explicit steps, `manifold` in implicit ones.
    """

    method: MethodChoice | None = None
    """What transmits stress between elements; absent: `voronoi` where a body is packed with cells, else `bonds`."""

    precision: Precision | None = None
    """Arithmetic of explicit steps; implicit steps always use double precision. Default: "f32"."""

    seed: int | None = None
    """Seed of all random numbers: packings, scatter of strengths. Default: 1."""

    shear_correction: Quantity | None = None
    """Timoshenko's shear correction factor κ of `law = "cosserat"`; with 1 it agrees with the other laws to first
    order. Default: 0.8333333333333334.
    """

    sleep: bool | None = None
    """Whether fragments that nothing strains are stepped as rigid bodies until a load could break them; for explicit
    steps of bonds on the CPU. Default: false.
    """

    sleep_limits: SleepLimits | None = None
    """Limits by which fragments fall asleep and wake."""

    state_every: int | None = None
    """Number of frames from one state to the next; absent: the smallest with at least 1000 steps in between."""


@dataclass
class SleepLimits(SpecTable):
    """Limits by which fragments fall asleep and wake with `simulate.sleep`."""

    calm: Quantity | None = None
    """Stress over strength of the bonds of a fragment, whatever causes it, from which on the fragment has to be calm
    for five times as long: bonds keep their stresses. Default: 0.8.
    """

    loss: Quantity | None = None
    """Energy that vibration may lose in all, over the largest kinetic energy that all elements had together so far. A
    fragment loses at most half of its share by mass of what is left, and holds a larger vibration until it wakes.
    Default: 0.02.
    """

    vibration: Quantity | None = None
    """Largest stress that the vibration of such a fragment may cause, over the strength that other stresses leave.
    Default: 0.3.
    """

    wake: Quantity | None = None
    """Stress that a load adds, over the strength that earlier stresses leave, from which it wakes a fragment. Default:
    0.5.
    """


Strength = Literal["material", "bond"]
"""What `tensile_strength` and `shear_strength` describe, the solid or its bonds: a packing has other strengths than its bonds.

- `material`: They are the solid's, and the bonds of `hexagonal` and `random` packings are calibrated so that a bar
  breaks at `tensile_strength`. Requires `elasticity = "material"`.
- `bond`: They are those of the bonds themselves, as in the papers.
"""


@dataclass
class Stress(SpecTable):
    """What `cullet stress` computes."""

    accuracy: Quantity | None = None
    """Relative error of the fast multipole method, which is used for bodies of many triangles: 1e-8 to 1e-3."""

    fracture: Fracture | None = None
    """Lets bodies crack; absent: they stay whole. Only with `simulate.method = "bem"`."""

    size: Quantity | None = None
    """Edge length of the triangles, m; absent: the surface as it is where its triangles are even, else about 3000
    triangles for each body.
    """

    time: Quantity | None = None
    """Time of the loads and of the prescribed motion of clamps, s; absent: the end of the shot."""


ThicknessSide = Literal["both", "inside", "outside"]
"""Side of a sheet on which its wall lies. Normals follow the winding: counter-clockwise seen from outside.

- `both`: Half of the thickness on each side.
- `inside`: Behind the sheet, opposite to its normals.
- `outside`: In front of the sheet.
"""


@dataclass
class Time(SpecTable):
    """Simulated time, its frames and steps."""

    end: Quantity
    """End of the simulated time, s; at least the time of one frame."""

    frames_per_second: Quantity
    """Number of frames per second of simulated time."""

    fraction: Quantity | None = None
    """Time step of explicit integration as a fraction of the critical step, if `step` is absent. Default: 0.6."""

    step: Quantity | None = None
    """Time step, s, at most a frame; absent: `fraction` of the critical step, which is found by Lanczos iteration."""


Up = Literal["y", "z"]
"""Axis that points up.

- `y`: The y axis.
- `z`: The z axis.
"""


UsdFile = Literal["usdc", "usda", "usdz"]
"""Kind of USD files.

- `usdc`: Binary: smaller, and faster to read.
- `usda`: Text.
- `usdz`: A package with a binary file, as phones show it.
"""


Weave = Literal["plain", "twill"]
"""How yarns of cloth cross.

- `plain`: Over one, under one.
- `twill`: Over two, under two, shifted by one from yarn to yarn.
"""


@dataclass
class World(SpecTable):
    """Gravity and bounds of the world."""

    absorbing: Sequence[Side] | None = None
    """Absorbing sides of the bounding box of all cells, through which waves leave; the bodies must be flat there and at
    right angles to the axis (Lysmer and Kuhlemeyer 1969).
    """

    bounds: Region | None = None
    """Box in which elements are expected to stay: the history counts those outside. Absent: none are counted."""

    gravity: Sequence[Quantity] | None = None
    """Acceleration of gravity, m/s²."""

    plane_strain: Axis | None = None
    """Axis of plane strain: bodies of one layer of cells across it are held on both sides by planes without friction.
    For bodies of cells only. Absent: no plane strain.
    """

    remove: bool | None = None
    """Whether fragments wholly outside the bounds, also at the start, freeze within a frame or 128 steps, whichever is
    longer: frames keep them, nothing touches them. Needs `bounds` and `simulate.sleep`; fragments that never sleep
    move on. Default: false.
    """


@dataclass
class Pipeline(SpecTable):
    """A shot: everything that a pipeline file describes."""

    time: Time
    """Simulated time, its frames and steps."""

    attach: Sequence[Attachment] | None = None
    """Attachments, which hold, drive or load elements of bodies."""

    body: Sequence[Body] | None = None
    """Bodies of the shot, at least one."""

    collider: Sequence[Collider] | None = None
    """Solids that push elements and are not pushed themselves."""

    export: Export | None = None
    """Settings of exports to renderers."""

    material: Sequence[Material] | None = None
    """Materials of the bodies."""

    output: Output | None = None
    """Settings of what `simulate` writes."""

    pair: Sequence[MaterialPair] | None = None
    """Properties of contacts and bonds between two materials."""

    preview: Preview | None = None
    """Settings of preview pictures, which need no renderer."""

    reconstruct: Reconstruct | None = None
    """Settings of the surfaces of fragments."""

    scale: str | None = None
    """Name of the entry of `scales` that is applied, unless `--set scale=NAME` gives another. Default: "default"."""

    scales: Mapping[str, Any] | None = None
    """Variants of the shot, such as sizes: each is a table of key paths, such as "body.bunny.packing.elements", and the
    values that they get.
    """

    simulate: Simulate | None = None
    """Settings of the time integration."""

    stress: Stress | None = None
    """Stress by boundary elements, which `run` computes after the simulation; absent: it is not computed."""

    world: World | None = None
    """Gravity and bounds of the world."""


__all__ = [
    "Action",
    "Attachment",
    "Axis",
    "Backend",
    "BlockBodyShape",
    "Body",
    "BodyShape",
    "BoxBodyShape",
    "BoxColliderShape",
    "Camera",
    "CellContact",
    "ClampAction",
    "Collider",
    "ColliderShape",
    "Compression",
    "ContactLaw",
    "Crack",
    "CrackCriterion",
    "Criterion",
    "CubicPackingSpec",
    "CylinderBodyShape",
    "CylinderColliderShape",
    "CylinderShellBodyShape",
    "Detail",
    "Elasticity",
    "ElementColour",
    "Export",
    "ExportFormat",
    "Fill",
    "ForceAction",
    "Fracture",
    "FrameGroup",
    "Friction",
    "GaugeAction",
    "Gpu",
    "Grain",
    "Grains",
    "HalfSpaceColliderShape",
    "HexagonalPackingSpec",
    "Implicit",
    "Integrator",
    "Key",
    "Law",
    "LoosePackingSpec",
    "MassModel",
    "Material",
    "MaterialPair",
    "MeshBodyShape",
    "MeshColliderShape",
    "MeshUnit",
    "MethodChoice",
    "NonePackingSpec",
    "Output",
    "PackingSpec",
    "Pipeline",
    "PlateBodyShape",
    "Precision",
    "PrecisionBits",
    "Preconditioner",
    "PressureAction",
    "Preview",
    "Quantity",
    "RampSignal",
    "RandomPackingSpec",
    "Reconstruct",
    "ReconstructMode",
    "Region",
    "ReleaseSignal",
    "RevolvedBodyShape",
    "RickerSignal",
    "Rotation",
    "Section",
    "ShearStressElementColour",
    "ShellPackingSpec",
    "Side",
    "Signal",
    "Simulate",
    "SleepLimits",
    "SpeedElementColour",
    "SphereBodyShape",
    "SphereColliderShape",
    "SphereShellBodyShape",
    "SpringAction",
    "Strength",
    "Stress",
    "TensileStressElementColour",
    "ThicknessSide",
    "Time",
    "TubeBodyShape",
    "TwistedPackingSpec",
    "Up",
    "UsdFile",
    "VoronoiPackingSpec",
    "Weave",
    "World",
    "WovenPackingSpec",
]
