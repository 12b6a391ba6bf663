"""Motion of a file between frames, compared with the same shot recorded at a multiple of the rate."""

import numpy as np
import pyarrow.parquet as parquet
from pxr import Usd, UsdGeom
from scipy.spatial import cKDTree

from clip import Clip
from common import usd_file

# Quarters of a frame at which motion is checked.
PARTS = (0.25, 0.5, 0.75)


class Shot:
    """The meshes of a USD file."""

    def __init__(self, store):
        self.store = store
        file = usd_file(store)
        # The layer must outlive the prims.
        self.stage = Usd.Stage.Open(str(file))
        assert UsdGeom.GetStageUpAxis(self.stage) == UsdGeom.Tokens.y, f"{file}: y is not up"
        self.first, self.last = int(self.stage.GetStartTimeCode()), int(self.stage.GetEndTimeCode())
        self.event = self.stage.GetRootLayer().customLayerData["eventFramesPerSecond"]
        self.meshes = [UsdGeom.Mesh(prim) for prim in self.stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
        self.names = [(mesh.GetPrim().GetParent().GetName(), mesh.GetPrim().GetName()) for mesh in self.meshes]
        self.bends = [mesh.GetPointsAttr().GetNumTimeSamples() > 0 for mesh in self.meshes]
        self.rest = [words(places_at_rest(mesh)) for mesh in self.meshes]
        self.labels = [UsdGeom.PrimvarsAPI(mesh).GetPrimvar("fragment").Get() for mesh in self.meshes]

    def points(self, at, code):
        """World positions of a mesh as a renderer sees it at a time; None if it is hidden."""
        mesh = self.meshes[at]
        if UsdGeom.Imageable(mesh).ComputeVisibility(code) == UsdGeom.Tokens.invisible:
            return None
        to_world = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(code))
        return np.array(mesh.GetPointsAttr().Get(code), dtype=float) @ to_world[:3, :3] + to_world[3, :3]

    def shown(self, code):
        """Vertices at a time by label of their fragment: rest positions and world positions."""
        places = [self.points(at, code) for at in range(len(self.meshes))]
        return {self.labels[at]: (self.rest[at], found) for at, found in enumerate(places) if found is not None}

    def fragments(self, frame):
        """Fragment label of each element in a frame."""
        table = parquet.read_table(self.store / "frames" / f"{frame:06}.parquet", columns=["fragment"])
        return table["fragment"].to_numpy()


class ClipShot:
    """The meshes of an animated GLB file as played by three.js, with the vertices in the order of the USD file of
    the same store."""

    def __init__(self, file, usd):
        self.clip = Clip(file)
        self.first, self.last = self.clip.first, self.clip.last
        assert [self.first, self.last] == [usd.first, usd.last], f"{file}: frames {self.first} to {self.last}"
        assert set(self.clip.nodes) == set(usd.names), f"{file}: nodes are not the prims of the USD file"
        self.names, self.bends, self.rest, self.labels, self.event = usd.names, usd.bends, usd.rest, usd.labels, usd.event
        self.nodes = [self.clip.nodes[name] for name in usd.names]
        self.vertices = [self.matched(at, mesh) for at, mesh in enumerate(usd.meshes)]

    def matched(self, at, mesh):
        """For each point of the prim, the matching vertex of the node: both are the same set of positions about
        the centre of mass."""
        own, attribute = self.clip.lengths(self.nodes[at]), mesh.GetPointsAttr()
        # A bending fragment has its mean shape in the clip.
        times = [time for time in attribute.GetTimeSamples() if time == int(time)] if self.bends[at] else [0]
        wanted = np.mean([np.array(attribute.Get(time), dtype=float) for time in times], axis=0)
        off, vertices = cKDTree(own).query(wanted)
        back, _ = cKDTree(wanted).query(own)
        # Half a unit of 15 bits along each axis; the centre may be off by another half.
        allowed = 2 * np.sqrt(3) * 0.5 / 32767 * self.clip.reach[self.nodes[at]] + 1e-7 * np.abs(wanted).max()
        if self.bends[at]:
            # Points in USD stay while they are right to 2e-4 of the fragment's size.
            allowed += 2e-4 * np.linalg.norm(np.ptp(wanted, axis=0))
        farthest = max(off.max(), back.max())
        assert farthest < allowed, f"{self.names[at]}: vertices off by {farthest:.1e} from those of the USD file, {allowed:.1e} is allowed"
        return own[vertices]

    def points(self, at, code):
        """World positions of a mesh as shown by three.js at a time; None if it is hidden."""
        pose = self.clip.pose(self.nodes[at], code)
        if pose is None:
            return None
        return self.vertices[at] @ pose[0] + pose[1]


def places_at_rest(mesh):
    return np.array(UsdGeom.PrimvarsAPI(mesh).GetPrimvar("rest").Get(), dtype=np.float32)


def words(rest):
    """Rest positions, three 32-bit words each, as one comparable value."""
    return np.ascontiguousarray(rest).view("V12").reshape(-1)


def nearest(rest, points, parts):
    """For each vertex the distance to the nearest vertex of `parts` with the same rest position; infinite if there
    is none. On a crack there are several."""
    if not parts:
        return np.full(len(rest), np.inf)
    known, places = (np.concatenate(values) for values in zip(*parts))
    order = np.argsort(known, kind="stable")
    known, places = known[order], places[order]
    first, end = np.searchsorted(known, rest, "left"), np.searchsorted(known, rest, "right")
    found = np.full(len(rest), np.inf)
    for k in range(int((end - first).max(initial=0))):
        there = first + k < end
        distance = np.linalg.norm(places[first[there] + k] - points[there], axis=1)
        found[there] = np.minimum(found[there], distance)
    return found


class Errors:
    """Errors of a class of fragments over the allowed error: 5 % of a vertex's displacement in the frame plus a
    tenth of the elements' radius."""

    def __init__(self):
        self.ratios, self.whole, self.unmatched, self.worst = [], [], 0, (0.0, "")

    def add(self, ratio, off, way, where, whole):
        """Adds the vertices of a fragment; `whole` means that both frames contain it."""
        matched = np.isfinite(off)
        self.unmatched += np.count_nonzero(~matched)
        ratio, off, way = ratio[matched], off[matched], way[matched]
        self.ratios.append(ratio)
        self.whole.append(np.full(len(ratio), whole))
        if len(ratio) and ratio.max() > self.worst[0]:
            worst = ratio.argmax()
            self.worst = (ratio[worst], f"{where}, off by {off[worst]:.1e} m on a way of {way[worst]:.1e} m")

    def count(self):
        return self.unmatched + sum(len(ratios) for ratios in self.ratios)

    def percentile(self):
        """The 99th percentile; NaN where nothing was compared."""
        return np.percentile(np.concatenate(self.ratios), 99) if self.ratios else np.nan

    def __str__(self):
        if not self.ratios:
            return "none"
        ratios, whole = np.concatenate(self.ratios), np.concatenate(self.whole)
        parts = [f"{len(ratios)} vertices", f"99th percentile {self.percentile():.3f} of what is allowed"]
        for name, which in (("in both frames", whole), ("that come or go", ~whole)):
            if which.any():
                parts.append(f"{np.percentile(ratios[which], 99):.3f} of the {np.count_nonzero(which)} {name}")
        worst, where = self.worst
        return f"{', '.join(parts)}; worst {worst:.1f} ({where}), {self.unmatched} without a match"


def way_in(ends, points, part):
    """Displacement of vertices in a frame. If a fragment appears or disappears in the frame: displacement in the
    half in which it is visible."""
    begin, end = ends
    if begin is not None and end is not None:
        return np.linalg.norm(end - begin, axis=1)
    at_end, shown = (begin, part) if begin is not None else (end, 1 - part)
    return np.linalg.norm(points - at_end, axis=1) / shown


def check_shown(shot, code, members):
    """Each fragment is visible until half-way to the first frame that lacks it, and nothing else is."""
    there = [label for at, label in enumerate(shot.labels) if shot.points(at, code) is not None]
    wanted = np.unique(members[0 if code % 1 < 0.5 else 1])
    assert np.array_equal(np.sort(there), wanted), f"{code}: {len(there)} fragments are shown, {len(wanted)} are there"


def compare(shot, at, code, ends, parts, radius, errors):
    """Adds the errors of a fragment at a time between two frames; `parts` are the fragments of the finer recording
    that contain its elements."""
    points = shot.points(at, code)
    assert np.isfinite(points).all(), f"{'/'.join(shot.names[at])} at {code}: points that are not finite"
    way = way_in(ends, points, code % 1)
    off, allowed = nearest(shot.rest[at], points, parts), 0.05 * way + 0.1 * radius
    kind = errors["bending" if shot.bends[at] else "rigid"]
    kind.add(off / allowed, off, way, f"{'/'.join(shot.names[at])} at {code}", all(end is not None for end in ends))


def measure(shots, fine, radius, frames=None):
    """Errors between frames of the shots of one store: for each shot those of rigid and of bending fragments."""
    coarse = shots[0]
    times = round(fine.event / coarse.event)
    assert fine.event == times * coarse.event and times % 4 == 0, f"{coarse.event} frames a second against {fine.event}"
    first, last = frames or (coarse.first, coarse.last)
    assert fine.first <= first * times and last * times <= fine.last, f"frames to {last} against {fine.last}"
    errors = [{"rigid": Errors(), "bending": Errors()} for _ in shots]
    for frame in range(first, last):
        ends = [[[shot.points(at, code) for code in (frame, frame + 1)] for at in range(len(shot.rest))] for shot in shots]
        members = [coarse.fragments(frame), coarse.fragments(frame + 1)]
        for part in PARTS:
            code = round((frame + part) * times)
            truth, labels = fine.shown(code), fine.fragments(code)
            for shot, own, kinds in zip(shots, ends, errors):
                check_shown(shot, frame + part, members)
                for at, end in enumerate(own):
                    if shot.points(at, frame + part) is None:
                        continue
                    # The fragment's elements in the frame that shows it, and the fragments that contain them
                    # in the finer recording.
                    rows = members[end[0] is None] == shot.labels[at]
                    parts = [truth[label] for label in np.unique(labels[rows]) if label in truth]
                    compare(shot, at, frame + part, end, parts, radius, kinds)
    return errors
