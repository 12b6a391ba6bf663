#!/usr/bin/env python3
"""Compares the stress that boundary elements find in a squeezed bunny with finite elements and with bonded elements at rest.

    python tools/compare_stress.py                      all comparisons
    python tools/compare_stress.py --only fem           boundary against finite elements alone
    python tools/compare_stress.py --only bdem          boundary against bonded elements alone
    python tools/compare_stress.py --tiny               coarse, in seconds; figures at this size mean nothing
    python tools/compare_stress.py --json               one JSON object a line instead of text

Needs numpy, scipy, pyarrow, scikit-fem, tetgen (`pip install numpy scipy pyarrow scikit-fem tetgen`).

The body is that of pipelines/bem_bunny_squeezed.toml. Two uniform forces in balance squeeze it, one on its back, one on its base, so that every method has
the same loads; the small remaining moment is balanced by inertia, in bonded elements by springs.

Finite elements: tetrahedra with quadratic displacement fill the surface that boundary elements used (stress/shapes/0.ply); tractions are the same
on every triangle. Both are compared at the centroids of these triangles and at the centres of the packing's elements. At the rim of a load its traction
jumps; there stress has a high gradient, and no mesh resolves it. So rms differences are also given away from the rims of loaded regions.

Bonded elements: implicit steps, unbreakable, until the body is at rest; soft springs on all elements keep it from rotating. The forces are distributed
over tiles of their regions in proportion to the surface in them, and to the outermost elements of each. Stress of the bonded elements is computed in two
ways: from the forces of their bonds, sum of force times lever over volume, averaged over neighbours; and from the gradient of displacement, fitted over
the same neighbours, by Hooke's law. The stress of boundary elements is averaged over the same neighbours before it is compared.

Columns: largest principal stress of both, its ratio, the distance between both maxima in radii of the packing's elements, the ratio at the maximum of the
second, rms of the difference of all components over rms of the second, and the position of the maximum of the first.
"""
import argparse, json, subprocess, sys, tempfile
from pathlib import Path

try:
    import numpy as np
    import pyarrow.parquet as pq
    import scipy.sparse as sparse
    from scipy.sparse.linalg import splu
    from scipy.spatial import cKDTree
    from scipy.spatial.transform import Rotation
    import skfem, tetgen
except ImportError as missing:
    print(f"skipped: no {missing.name} here")
    sys.exit(0)

ROOT = Path(__file__).resolve().parent.parent
SHOT = ROOT/"pipelines/bem_bunny_squeezed.toml"
FORCE = 300.0                                           # N
LIFT = 5.0     # times that on bonded elements, whose positions in frames have single precision: displacements are well above rounding; strains stay below 1e-3
HOLD = 1e6                                              # N/m, of soft springs on all elements together, against turning
# Region, m, and direction of each force. Their middles lie above each other, and the stress that they cause is largest between them.
REGIONS = {
    "plate": ([-0.010, 0.058, -1], [0.012, 0.066, 0.010], [0, -1, 0]),
    "base": ([-1, -1, -1], [1, 0.004, 0.018], [0, 1, 0]),
}
AXES = ("xx", "yy", "zz", "yz", "zx", "xy")


# ---------------------------------------------------------------- runs

def run(cullet, store, to, settings, shot=None):
    """Runs the shot with balanced loads, or another one with its own loads, up to a stage."""
    if shot is None:
        for name, (low, high, along) in REGIONS.items():
            settings = settings | {f"attach.{name}.region": f"{{ min = {low}, max = {high} }}",
                                   f"attach.{name}.action": f'{{ type = "force", force = {[FORCE*part for part in along]} }}'}
    command = [cullet, "run", shot or SHOT, "--to", to, "--force", "--quiet", "--out", store]
    for key, value in settings.items(): command += ["--set", f"{key}={value}"]
    subprocess.run(list(map(str, command)), check=True)
    return store


def tiled_loads(points, faces, elements, side, radius):
    """A pipeline that distributes each force over tiles of its region, in proportion to the surface in them, and to the outermost elements of each.

    A force on bonded elements is distributed evenly, even if many are on top of each other; boundary elements spread it over the surface.
    """
    text = SHOT.read_text().replace("meshes/", f"{SHOT.parent}/meshes/")
    text = text[:text.index("[[attach]]")] + text[text.index("[simulate]"):]
    text += '[[attach]]\nname = "hold"\nbody = "bunny"\nregion = { min = [-1, -1, -1], max = [1, 1, 1] }\n'
    text += f'action = {{ type = "spring", stiffness = {HOLD/len(elements)} }}\n\n'
    corners = points[faces].reshape(-1, 3)
    for name, (low, high, along) in REGIONS.items():
        low, high = np.maximum(low, corners.min(0) - 1e-3), np.minimum(high, corners.max(0) + 1e-3)
        rows = np.maximum(1, np.round((high - low)/side)).astype(int)
        full, empty = [], []
        for i in range(rows[0]):
            for k in range(rows[2]):
                start, end = (low + (high - low)*[(i + d)/rows[0], d, (k + d)/rows[2]] for d in (0, 1))
                tile = {"middle": (start + end)/2, "area": loaded_areas(points, faces, start, end).sum()}
                held = elements[((elements >= start) & (elements <= end)).all(1)]
                (full if len(held) else empty).append(tile)
                if not len(held): continue
                if along[1] > 0: end[1] = held[:, 1].min() + 1.2*radius
                else: start[1] = held[:, 1].max() - 1.2*radius
                tile |= {"start": start, "end": end}
        for tile in empty: min(full, key=lambda other: np.linalg.norm(other["middle"] - tile["middle"]))["area"] += tile["area"]
        full = [tile for tile in full if tile["area"] > 0]
        whole = sum(tile["area"] for tile in full)
        for at, tile in enumerate(full):
            force = [float(LIFT*FORCE*part*tile["area"]/whole) for part in along]
            text += f'[[attach]]\nname = "{name}{at}"\nbody = "bunny"\nregion = {{ min = {tile["start"].tolist()}, max = {tile["end"].tolist()} }}\n'
            text += f'action = {{ type = "force", force = {force} }}\n\n'
    return text


def material(store):
    """Young's modulus (Pa), Poisson's ratio, density."""
    own = json.loads((Path(store)/"store.json").read_text())["pipeline"]["material"][0]
    return own["young"], own["poisson"], own["density"]


def tensors(rows):
    """Symmetric matrices, from six components each."""
    xx, yy, zz, yz, zx, xy = rows
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]).transpose(2, 0, 1)


def read_stress(store, frame=0):
    """Of triangles and of elements: id, position, area, stress."""
    table = pq.read_table(Path(store)/f"stress/{frame:06}.parquet")
    kind = np.array(table["kind"].to_pylist())
    column = lambda name: table[name].to_numpy()
    out = {}
    for name in ("triangle", "element"):
        rows = kind == name
        out[name] = {"id": column("id")[rows], "at": np.stack([column(axis)[rows] for axis in "xyz"], 1), "area": column("area")[rows],
                     "stress": tensors([column(axis)[rows] for axis in AXES])}
    return out


def read_ply(path):
    """Vertices and triangles of a binary PLY written by cullet."""
    data = Path(path).read_bytes()
    end = data.index(b"end_header\n") + len(b"end_header\n")
    head = data[:end].decode().split("\n")
    count = {line.split()[1]: int(line.split()[2]) for line in head if line.startswith("element")}
    sizes = {"float": "<f4", "double": "<f8", "float32": "<f4", "float64": "<f8", "uchar": "u1", "uint8": "u1"}
    kinds, element = {"vertex": [], "face": []}, None
    for line in head:
        words = line.split()
        if words[:1] == ["element"]: element = words[1]
        if words[:1] == ["property"]: kinds[element].append((words[-1], sizes[words[1]]) if words[1] != "list" else (words[-1], words[2:4]))
    vertex = np.dtype(kinds["vertex"])
    if len(kinds["face"]) != 1: raise ValueError(f"{path}: faces with more than their corners")
    face = np.dtype([("n", "u1"), ("v", "<i4", 3)])
    points = np.frombuffer(data, vertex, count["vertex"], end)
    faces = np.frombuffer(data, face, count["face"], end + points.nbytes)
    return np.stack([points[axis] for axis in "xyz"], 1).astype(float), faces["v"].astype(np.int32)


# ---------------------------------------------------------------- loads

def covered_area(corners, low, high):
    """Area of the part of a triangle inside a box."""
    polygon = list(corners)
    for axis in range(3):
        for sign, limit in ((1, high[axis]), (-1, -low[axis])):
            kept = []
            for a, b in zip(polygon, polygon[1:] + polygon[:1]):
                from_, to = limit - sign*a[axis], limit - sign*b[axis]
                if from_ >= 0: kept.append(a)
                if from_*to < 0: kept.append(a + (b - a)*from_/(from_ - to))
            polygon = kept
    if len(polygon) < 3: return 0.0
    own = [np.linalg.norm(np.cross(b - polygon[0], c - polygon[0]))/2 for b, c in zip(polygon[1:], polygon[2:])]
    return sum(own)


def loaded_areas(points, faces, low, high):
    """Area of each triangle inside a box."""
    corners, area = points[faces], np.zeros(len(faces))
    for t in np.nonzero(((corners.max(1) >= low) & (corners.min(1) <= high)).all(1))[0]: area[t] = covered_area(corners[t], low, high)
    return area


def tractions(points, faces):
    """Traction on each triangle (Pa), and distance of points from the rims of the loaded regions."""
    corners = points[faces]
    whole = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)/2
    total, rims = np.zeros((len(faces), 3)), []
    for low, high, along in REGIONS.values():
        area = loaded_areas(points, faces, low, high)
        total += FORCE*np.outer(area/whole, along)/area.sum()
        rims.append(corners[(area > 0) & (area < whole*(1 - 1e-9))].mean(1))
    rim = cKDTree(np.concatenate(rims))
    return total, lambda at: rim.query(at)[0]


# ---------------------------------------------------------------- finite elements

class FiniteElements:
    """Linear elasticity on quadratic tetrahedra, loads balanced by inertia."""

    def __init__(self, mesh, young, poisson):
        self.lame = young*poisson/((1 + poisson)*(1 - 2*poisson)), young/(2*(1 + poisson))
        self.mesh, self.element = mesh, skfem.ElementTetP2()
        self.basis = skfem.Basis(mesh, self.element, intorder=2)
        self.trees = cKDTree(mesh.p[:, mesh.t].mean(1).T)

    def matrix(self):
        """Stiffness matrix, with the displacements of one axis after the other."""
        first, second = self.lame
        form = lambda a, b: skfem.asm(skfem.BilinearForm(lambda u, v, w: v.grad[a]*u.grad[b]), self.basis)
        products = {(a, b): form(a, b) for a in range(3) for b in range(a, 3)}
        of = lambda a, b: products[a, b] if a <= b else products[b, a].T
        trace = sum(products[a, a] for a in range(3))
        block = lambda a, b: first*of(a, b) + second*of(b, a) + (second*trace if a == b else 0*trace)
        return sparse.bmat([[block(a, b) for b in range(3)] for a in range(3)], format="csr")

    def load(self, facets, traction):
        """Load vector of a constant traction on each of these facets."""
        order = np.argsort(facets)
        facets, traction = facets[order], traction[order]
        basis = skfem.FacetBasis(self.mesh, self.element, facets=facets, intorder=2)
        return np.concatenate([skfem.asm(skfem.LinearForm(lambda v, w: v*w.t), basis, t=np.repeat(traction[:, a, None], basis.X.shape[1], 1))
                               for a in range(3)])

    def levels(self, stiffness, coarser):
        """Levels of a multigrid cycle, fine to coarse: matrix, inverse diagonal, largest eigenvalue of their
        product, prolongation to the finer level."""
        levels, before, along = [], stiffness, self
        if coarser:
            tets, _ = coarser.inside(self.basis.doflocs.T)
            local = coarser.mesh.mapping().invF(self.basis.doflocs.T.T[:, :, None], tind=tets)
            values = np.stack([coarser.element.gbasis(coarser.mesh.mapping(), local, i, tind=tets)[0].value[:, 0] for i in range(10)])
            entries = (values.ravel(), (np.tile(np.arange(len(tets)), 10), coarser.basis.element_dofs[:, tets].ravel()))
            chain = [sparse.csr_matrix(entries, shape=(len(tets), coarser.basis.N))]
            along = coarser
        else:
            chain = []
        # Linear displacement: a node in the middle of an edge takes the mean of both ends.
        linear = skfem.Basis(along.mesh, skfem.ElementTetP1())
        ends, edges = along.mesh.p.shape[1], along.mesh.edges
        nodal, edge = along.basis.nodal_dofs[0], along.basis.edge_dofs[0]
        rows, columns = np.concatenate([nodal, edge, edge]), np.concatenate([linear.nodal_dofs[0], edges[0], edges[1]])
        values = np.concatenate([np.ones(ends), np.full(2*len(edge), 0.5)])
        chain.append(sparse.csr_matrix((values, (rows, columns)), shape=(along.basis.N, ends)))
        for part in chain:
            up = sparse.block_diag([part]*3, format="csr")
            inverse = 1/before.diagonal()
            v = np.random.default_rng(1).normal(size=len(inverse))
            for _ in range(12): v = inverse*(before @ (v/np.linalg.norm(v)))
            levels.append((before, inverse, 1.1*np.linalg.norm(v), up))
            before = (up.T @ before @ up).tocsc()
        # Rigid motion has no energy: a little stiffness keeps the factors finite.
        return [*levels, splu((before + 1e-9*sparse.diags(before.diagonal())).tocsc())]

    def solve(self, facets, traction, coarser=None):
        """Displacement at the nodes, without rigid motion, by conjugate gradients."""
        stiffness, load = self.matrix(), self.load(facets, traction)
        mass = skfem.asm(skfem.BilinearForm(lambda u, v, w: u*v), skfem.Basis(self.mesh, self.element, intorder=4))
        x = self.basis.doflocs
        x = x - x.mean(1)[:, None]
        one, none = np.ones(x.shape[1]), np.zeros(x.shape[1])
        rigid = np.stack([np.concatenate(mode) for mode in ((one, none, none), (none, one, none), (none, none, one), (none, -x[2], x[1]),
                                                            (x[2], none, -x[0]), (-x[1], x[0], none))], 1)
        rigid[:, 3:] /= abs(x).max()
        weighted = np.concatenate([mass @ part for part in np.split(rigid, 3)])
        own = rigid.T @ weighted
        # Inertia: a body force that is a rigid motion times density, whose resultant is opposite to the load.
        load = load - weighted @ np.linalg.solve(own, rigid.T @ load)
        levels = self.levels(stiffness, coarser)
        u, r, steps, rho, p = np.zeros(len(load)), load.copy(), 0, None, None
        while np.linalg.norm(r) > 1e-7*np.linalg.norm(load):
            z = cycle(levels, r)
            new = r @ z
            p = z if p is None else z + new/rho*p
            q = stiffness @ p
            alpha = new/(p @ q)
            u += alpha*p
            r -= alpha*q
            rho, steps = new, steps + 1
            if steps > 2000: sys.exit("finite elements do not converge")
        u -= rigid @ np.linalg.solve(own, weighted.T @ u)
        self.u, self.steps = u.reshape(3, -1), steps
        return self

    def stress(self, at, tets):
        """Stress at positions in these tetrahedra."""
        mapping = self.mesh.mapping()
        local = mapping.invF(at.T[:, :, None], tind=tets)
        gradient = np.zeros((len(at), 3, 3))
        for i in range(10):
            field = self.element.gbasis(mapping, local, i, tind=tets)[0].grad[:, :, 0]
            gradient += np.einsum("an,bn->nab", self.u[:, self.basis.element_dofs[i, tets]], field)
        return hooke(gradient, self.lame)

    def inside(self, at):
        """Indices of the tetrahedra that contain these positions, and whether there is one."""
        best, depth = np.zeros(len(at), int), np.full(len(at), -np.inf)
        near = self.trees.query(at, 40)[1]
        for tets in near.T:
            local = self.mesh.mapping().invF(at.T[:, :, None], tind=tets)[:, :, 0]
            least = np.minimum(local.min(0), 1 - local.sum(0))
            better = least > depth
            best[better], depth[better] = tets[better], least[better]
        return best, depth > -1e-9


def cycle(levels, load):
    """A symmetric multigrid cycle with Chebyshev smoothing."""
    if len(levels) == 1: return levels[0].solve(load)
    matrix, inverse, top, up = levels[0]
    u = smooth(matrix, inverse, top, load, np.zeros(len(load)))
    u = u + up @ cycle(levels[1:], up.T @ (load - matrix @ u))
    return smooth(matrix, inverse, top, load, u)


def smooth(matrix, inverse, top, load, u, degree=3):
    """Chebyshev iterations for the upper nine tenths of the eigenvalues of the matrix over its diagonal."""
    middle, half = 0.55*top, 0.45*top
    rho = half/middle
    step = inverse*(load - matrix @ u)/middle
    u = u + step
    for _ in range(degree - 1):
        new = 1/(2*middle/half - rho)
        step = new*rho*step + 2*new/half*inverse*(load - matrix @ u)
        u, rho = u + step, new
    return u


def hooke(gradient, lame):
    strain = (gradient + gradient.transpose(0, 2, 1))/2
    return lame[0]*np.einsum("nii->n", strain)[:, None, None]*np.eye(3) + 2*lame[1]*strain


def volume_mesh(points, faces, largest):
    """Tetrahedra inside a surface whose triangles are kept; `largest` is their largest volume, m³."""
    scale = 1/np.ptp(points, axis=0).max()
    made = tetgen.TetGen(points*scale, faces)
    nodes, tets = made.tetrahedralize(nobisect=True, minratio=1.3, mindihedral=12, fixedvolume=True, maxvolume=largest*scale**3)[:2]
    return skfem.MeshTet1((nodes/scale).T.copy(), tets.T.astype(np.int64).copy())


def boundary_facets(mesh, points, faces, refined):
    """Facets of the mesh's boundary, and the triangle of the surface that contains each."""
    facets = mesh.boundary_facets()
    at = mesh.p[:, mesh.facets[:, facets]].mean(1).T
    parts = points[faces]
    for _ in range(refined):
        a, b, c = parts[:, 0], parts[:, 1], parts[:, 2]
        d, e, f = (a + b)/2, (b + c)/2, (c + a)/2
        parts = np.stack([np.stack(part, 1) for part in ((a, d, f), (d, b, e), (f, e, c), (d, e, f))], 1).reshape(-1, 3, 3)
    distance, of = cKDTree(parts.mean(1)).query(at)
    size = np.ptp(points, axis=0).max()
    if distance.max() > 1e-6*size: raise ValueError(f"the mesh's boundary is not the surface: off by {distance.max()} m")
    return facets, of//4**refined, of


def finite_element_stress(store, refine, largest):
    """Stress at the triangles and inside, by finite elements, from coarse to fine meshes."""
    points, faces = read_ply(Path(store)/"stress/shapes/0.ply")
    loads, rim = tractions(points, faces)
    young, poisson, _ = material(store)
    mesh = volume_mesh(points, faces, largest)
    inside = read_stress(store)["element"]["at"]
    out, fem = [], None
    for refined in range(refine + 1):
        if refined: mesh = mesh.refined()
        facets, triangle, child = boundary_facets(mesh, points, faces, refined)
        fem = FiniteElements(mesh, young, poisson).solve(facets, loads[triangle], fem)
        # The facet that contains a triangle's centroid is the middle one of each refinement, with the same
        # centroid.
        middle = np.empty(len(faces), int)
        central = child % 4**refined == 4**refined - 1
        middle[triangle[central]] = facets[central]
        found = fem.stress(points[faces].mean(1), mesh.f2t[0, middle])
        tets, held = fem.inside(inside)
        out.append({"tets": mesh.nelements, "triangle": found, "element": fem.stress(inside, tets), "held": held, "steps": fem.steps})
    return out, rim


# ---------------------------------------------------------------- comparing

def largest_principal(stress):
    """Largest principal stress."""
    return np.linalg.eigvalsh(stress)[:, 2]


def rms(difference, weight=None):
    return np.sqrt(np.average((difference**2).sum((1, 2)), weights=weight))


def compare(at, ours, theirs, radius, rows=None, weight=None):
    """Largest principal stress of both, its ratio, distance between the maxima over the radius, and rms difference
    over rms."""
    rows = np.ones(len(at), bool) if rows is None else rows
    at, ours, theirs, weight = at[rows], ours[rows], theirs[rows], None if weight is None else weight[rows]
    a, b = largest_principal(ours), largest_principal(theirs)
    i, j = a.argmax(), b.argmax()
    return {"ours": a[i], "theirs": b[j], "ratio": a[i]/b[j], "apart": np.linalg.norm(at[i] - at[j])/radius, "there": a[j]/b[j],
            "rms": rms(ours - theirs, weight)/rms(theirs, weight), "place": at[i]}


class Reporter:
    """Prints lines, as text or as JSON."""
    as_json = False
    of = {}


def print_heading(text, **of):
    """Prints a line of text about the following lines."""
    Reporter.of = of
    print(json.dumps(of) if Reporter.as_json else text)


def print_line(what, found):
    if Reporter.as_json:
        print(json.dumps(Reporter.of | {"what": what.strip()} | found, default=lambda value: value.tolist()))
        return
    place = ", ".join(f"{1000*part:.1f}" for part in found["place"])
    print(f"{what:<58} {found['ours']/1e3:8.1f} {found['theirs']/1e3:8.1f} {found['ratio']:7.3f} {found['apart']:7.2f} {found['there']:7.3f}"
          f" {found['rms']:7.2%}  ({place})")


def print_title(ours, theirs):
    if Reporter.as_json: return
    print(f"{'':<58} {'largest principal stress (kPa)':>30}\n{'':<58} {ours:>8} {theirs:>8} {'ratio':>7} {'apart':>7} {'there':>7} {'rms':>7}  at (mm)")


# ---------------------------------------------------------------- bonded elements

def read_rest(store, frame):
    """Elements, bonds, and displacements (m) and rotations of the elements under FORCE, less the body's rigid
    motion."""
    column = lambda table, name: table[name].to_numpy().astype(float)
    packed, bonds, moved = (pq.read_table(Path(store)/name) for name in
                            ("packing/elements.parquet", "packing/bonds.parquet", f"frames/{frame:06}.parquet"))
    x, now = (np.stack([column(table, axis) for axis in "xyz"], 1) for table in (packed, moved))
    label = moved["fragment"].to_numpy()
    whole = label == np.bincount(label).argmax()            # loose elements are left out
    off, to = x - x[whole].mean(0), now - now[whole].mean(0)
    # Displacement relative to the rigid motion of the body (Kabsch).
    left, _, right = np.linalg.svd(to[whole].T @ off[whole])
    back = Rotation.from_matrix((left*[1, 1, np.linalg.det(left @ right)]) @ right).inv()
    turn = (back*Rotation.from_quat(np.stack([column(moved, name) for name in ("qx", "qy", "qz", "qw")], 1))).as_rotvec()
    return {"x": x, "r": column(packed, "r"), "volume": column(packed, "volume"), "u": (back.apply(to) - off)/LIFT, "turn": turn/LIFT, "whole": whole,
            "bonds": {name: bonds[name].to_numpy() for name in ("i", "j", "l0", "dx", "dy", "dz", "radius", "young", "shear")}}


def neighbours(rest, reach):
    """Pairs of elements at most `reach` mean radii apart, each also with itself, and their weights."""
    limit = reach*rest["r"].mean()
    tree = cKDTree(rest["x"])
    pairs = tree.sparse_distance_matrix(tree, limit*(1 - 1e-9), output_type="coo_matrix")
    weight = (1 - (pairs.data/limit)**2)*rest["volume"][pairs.col]*rest["whole"][pairs.col]
    return sparse.csr_matrix((weight, (pairs.row, pairs.col)), shape=pairs.shape)


def averaged(near, field):
    """Weighted mean over neighbours."""
    flat = field.reshape(len(field), -1)
    return (near @ flat/np.maximum(np.asarray(near.sum(1)).reshape(-1, 1), 1e-30)).reshape(field.shape)


def by_gradient(rest, near, lame):
    """Stress from the gradient of displacement fitted to the neighbours, and whether these surround the element."""
    x, u = rest["x"], rest["u"]
    mean_x, mean_u = averaged(near, x), averaged(near, u)
    second = averaged(near, np.einsum("na,nb->nab", x, x)) - np.einsum("na,nb->nab", mean_x, mean_x)
    mixed = averaged(near, np.einsum("na,nb->nab", u, x)) - np.einsum("na,nb->nab", mean_u, mean_x)
    return hooke(mixed @ np.linalg.pinv(second, rcond=1e-6, hermitian=True), lame), np.linalg.eigvalsh(second)[:, 0] > (0.5*rest["r"].mean())**2


def by_forces(rest):
    """Stress of each element from the forces of its bonds, and the largest residual force relative to the force of
    a bond."""
    bonds, x = rest["bonds"], rest["x"]
    i, j = bonds["i"], bonds["j"]
    n = np.stack([bonds["dx"], bonds["dy"], bonds["dz"]], 1)
    over = np.pi*bonds["radius"]**2/bonds["l0"]
    mean = (rest["turn"][i] + rest["turn"][j])/2
    stretch = rest["u"][j] - rest["u"][i] - np.cross(mean, n*bonds["l0"][:, None])
    along = (stretch*n).sum(1)[:, None]*n
    force = (bonds["young"]*over)[:, None]*along + (bonds["shear"]*over)[:, None]*(stretch - along)
    virial = np.einsum("na,nb->nab", force, n*bonds["l0"][:, None]/2)
    stress, sum_ = np.zeros((len(x), 3, 3)), np.zeros((len(x), 3))
    for end, sign in ((i, 1), (j, -1)):
        np.add.at(stress, end, virial)
        np.add.at(sum_, end, sign*force)
    stress = (stress + stress.transpose(0, 2, 1))/2
    inner = np.linalg.norm(sum_, axis=1)
    return stress/rest["volume"][:, None, None], np.median(inner)/np.sqrt((force**2).sum(1).mean())


def compare_bonded(o, folder, packing, elements):
    """Compares the fields in a body of bonded elements."""
    store, bem_store = folder/f"{packing}{elements}", folder/f"{packing}{elements}_bem"
    own = f'{{ type = "{packing}", elements = {elements} }}'
    run(o.cullet, bem_store, "stress", {"body.bunny.packing": own, "stress.size": o.sizes[-1]})
    points, faces = read_ply(bem_store/"stress/shapes/0.ply")
    packed = pq.read_table(bem_store/"packing/elements.parquet")
    radius = packed["r"].to_numpy().mean()
    shot = store.with_suffix(".toml")
    shot.write_text(tiled_loads(points, faces, np.stack([packed[axis].to_numpy() for axis in "xyz"], 1), o.tile, radius))
    settings = {"body.bunny.packing": own, "simulate.method": '"bonds"', "simulate.integrator": '"backward_euler"', "time.step": '"1 ms"',
                "time.end": '"12 ms"', "time.frames_per_second": 250, "simulate.implicit.tolerance": 1e-5, "material.plaster.tensile_strength": 1e15}
    run(o.cullet, store, "simulate", settings, shot)
    rest = read_rest(store, 3)
    table = read_stress(bem_store)
    young, poisson, _ = material(store)
    lame = young*poisson/((1 + poisson)*(1 - 2*poisson)), young/(2*(1 + poisson))
    near = neighbours(rest, o.reach)
    fitted, fits = by_gradient(rest, near, lame)
    kept = (rest["whole"] & fits)[table["element"]["id"]]
    held = table["element"]["id"][kept]                     # elements within the surface
    bem = table["element"]["stress"][kept]
    smooth = averaged(near[held][:, held], bem)
    single, out_of_balance = by_forces(rest)
    fitted, forces = fitted[held], averaged(near, single)[held]
    x = rest["x"][held]
    away = tractions(points, faces)[1](x) > 3*radius
    depth = cKDTree(points[faces].mean(1)).query(x)[0]/radius
    # Stiffness of the packing: moduli that convert the fitted strains to the stress of the bonds' forces.
    inner = depth > 3
    stiff = (fitted[inner]*forces[inner]).sum()/(fitted[inner]**2).sum()
    print_heading(f"{packing}: {len(rest['x'])} elements of {1000*radius:.2f} mm, {near.getnnz()/len(rest['x']):.0f} neighbours; E within the packing over the E asked"
        f" for {stiff:.3f}; median force out of balance over that of a bond {out_of_balance:.1e}", packing=packing, elements=len(rest["x"]), stiffness=stiff)
    places = {"all": None, "3 radii from rims of loads": away} | {f"{least} radii inside": depth > least for least in (3, 5, 8)}
    for what, rows in places.items():
        print_line(f"  by forces of bonds, {what}", compare(x, forces, smooth, radius, rows))
        print_line(f"  by fitted gradient, {what}", compare(x, fitted, smooth, radius, rows))


# ---------------------------------------------------------------- all

def compare_finite(o, folder):
    """Compares boundary elements of several sizes with finite elements on the same surface."""
    print_title("BEM", "FEM")
    for size in o.sizes:
        store = run(o.cullet, folder/f"bem{1000*size:g}", "stress", {"stress.size": size, "body.bunny.packing.elements": o.points})
        refine = o.refine if size >= o.finest else o.refine - 1
        runs, rim = finite_element_stress(store, refine, o.volume*size**3)
        table = read_stress(store)
        triangles, elements = table["triangle"], table["element"]
        # ruler: radius of the elements at whose centres stress is compared
        radius = float(pq.read_table(Path(store)/"packing/elements.parquet")["r"].to_numpy().mean())
        fine = runs[-1]
        meshes = ", ".join(f"{one['tets']} ({one['steps']} iterations)" for one in runs)
        print_heading(f"triangles of {1000*size:g} mm: {len(triangles['at'])}, finite elements {meshes}", size=size, triangles=len(triangles["at"]), tets=fine["tets"])
        for before, after in zip(runs, runs[1:]):
            print_line(f"  {before['tets']} tetrahedra in place of BEM, at triangles", compare(triangles["at"], before["triangle"], after["triangle"], radius,
                                                                                         weight=triangles["area"]))
            print_line(f"  {before['tets']} tetrahedra in place of BEM, inside", compare(elements["at"], before["element"], after["element"], radius, after["held"]))
        away = rim(triangles["at"]) > o.away
        print_line("  at triangles", compare(triangles["at"], triangles["stress"], fine["triangle"], radius, weight=triangles["area"]))
        print_line(f"  at triangles {1000*o.away:g} mm from rims of loads", compare(triangles["at"], triangles["stress"], fine["triangle"], radius, away,
                                                                            triangles["area"]))
        held = fine["held"]
        print_line("  inside", compare(elements["at"], elements["stress"], fine["element"], radius, held))
        deep = held & (cKDTree(triangles["at"]).query(elements["at"])[0] > size)
        print_line("  inside, a triangle's edge from the surface", compare(elements["at"], elements["stress"], fine["element"], radius, deep))


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--only", choices=["fem", "bdem"])
    options.add_argument("--sizes", type=float, nargs="+", default=[0.004, 0.003, 0.002], help="sizes of the triangles, m, coarse to fine")
    options.add_argument("--volume", type=float, default=0.6, help="volume of the largest tetrahedron over the cube of the triangle size")
    options.add_argument("--refine", type=int, default=1, help="number of times that tetrahedra are cut in eight")
    options.add_argument("--finest", type=float, default=0.003, help="m; tetrahedra of meshes with smaller triangles are cut once less")
    options.add_argument("--points", type=int, default=4000, help="approximate number of interior points, for finite elements")
    options.add_argument("--elements", type=int, nargs="+", default=[20000], help="numbers of bonded elements")
    options.add_argument("--packings", nargs="+", default=["hexagonal", "random"], help="packings of the bonded elements")
    options.add_argument("--tile", type=float, default=0.004, help="size of the tiles over which loads on bonded elements are distributed, m")
    options.add_argument("--reach", type=float, default=3.0, help="radii over which gradients are fitted and forces averaged")
    options.add_argument("--away", type=float, default=0.006, help="distance from the rims of loads from which points count as away from them, m")
    options.add_argument("--cullet", type=Path, default="cullet", help="the program")
    options.add_argument("--store", type=Path, help="folder that keeps the runs")
    options.add_argument("--json", action="store_true", help="one JSON object per line instead of text")
    options.add_argument("--tiny", action="store_true", help="coarse, in seconds")
    o = options.parse_args()
    Reporter.as_json = o.json
    if o.tiny: o.sizes, o.refine, o.points, o.elements, o.reach, o.tile = [0.012], 1, 200, [1500], 3.5, 0.01
    with tempfile.TemporaryDirectory() as temporary:
        folder = o.store or Path(temporary)
        if o.only != "bdem": compare_finite(o, folder)
        if o.only != "fem":
            print_title("BDEM", "BEM")
            for elements in o.elements:
                for packing in o.packings: compare_bonded(o, folder, packing, elements)


if __name__ == "__main__":
    main()
